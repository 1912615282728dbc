//! Several watched kinds in one table and on one timeline: two more handlers of each of their informers.

use std::sync::Arc;

use kubechurn_client::api::object::{Object, ResourceVersion};
use kubechurn_client::api::request::Scope;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::factory::{InformerId, Registration, SharedInformerFactory};
use kubechurn_client::cache::handler::{Handled, HandlerOptions, ResourceEventHandler, Resynced};
use kubechurn_client::cache::store::Change;

use crate::kind_id::KindId;
use crate::page::account::{Account, Marks, Rows, handled};
use crate::page::notices::{Announcer, Ear};
use crate::page::resync::Resyncs;
use crate::page::sheet::{Sheet, TableHandler, tone};
use crate::page::watched::{AT_ONCE, Watched, keep_period, told_again};
use crate::table::kinds::Kind;
use crate::table::schema::TableSchema;
use crate::table::view::TableView;
use crate::timeline::mark::{MarkType, Resync, grouped};
use crate::timeline::{KindName, MarkInfo, NewMark, Timeline};

/// The table and the timeline of several kinds.
#[derive(Debug)]
pub struct Joint {
    schema: Arc<TableSchema>,
    /// Where each kind is watched.
    scopes: Vec<Vec<Scope>>,
    sources: Vec<Source>,
    sheet: Sheet,
    /// How many marks the timeline had when the handlers came.
    marks_before: u64,
    ear: Ear,
    /// What arrived since the last look, of one kind after the other.
    arrived: Vec<Arrival>,
}

/// The handlers of one informer.
#[derive(Debug)]
struct Source {
    kind: KindId,
    table: Registration,
    timeline: Registration,
    /// Where it is looked at, and since when.
    namespace: String,
    since: f64,
}

#[derive(Debug)]
struct Arrival {
    at: f64,
    what: Arrived,
}

#[derive(Debug)]
enum Arrived {
    Object(KindId, MarkType, Arc<Object>),
    Resync(Resync),
}

struct ArrivalHandler<'a>(&'a Source, &'a mut Vec<Arrival>);

impl ResourceEventHandler for ArrivalHandler<'_> {
    fn changed(&mut self, _now: f64, _change: &Change) -> Handled {
        Ok(())
    }

    fn received(&mut self, now: f64, delta_type: DeltaType, object: &Arc<Object>) -> Handled {
        self.1.push(Arrival { at: now, what: Arrived::Object(self.0.kind, delta_type.into(), object.clone()) });
        Ok(())
    }

    fn resynced(&mut self, now: f64, resync: Resynced) -> Handled {
        let Source { kind, namespace, since, .. } = self.0;
        self.1.push(Arrival { at: now, what: Arrived::Resync(told_again(*kind, namespace, *since, resync)) });
        Ok(())
    }
}

impl Joint {
    /// One table of these kinds, and one timeline, which begins with what is on theirs.
    pub fn new(
        members: &mut [Watched],
        informers: &mut SharedInformerFactory,
        announcer: &mut Announcer,
        now: f64,
    ) -> Joint {
        // What waits for a member's timeline is on no one else's.
        for member in members.iter_mut() {
            member.take(informers);
        }
        let kinds: Vec<&'static Kind> = members.iter().map(Watched::kind).collect();
        let schema = Arc::new(TableSchema::of(&kinds));
        let received = HandlerOptions { changes: false, received: true, resync: None };
        let mut sources = Vec::new();
        for (kind, member) in (0..).map(KindId).zip(&*members) {
            for (informer, scope, since) in member.begun() {
                let table = informers.add_event_handler(informer, HandlerOptions::default(), now);
                let timeline = informers.add_event_handler(informer, received, now);
                let both = table.zip(timeline);
                let namespace = scope.namespace.clone();
                sources.extend(both.map(|(table, timeline)| Source { kind, table, timeline, namespace, since }));
            }
        }
        let numbers = (0..kinds.len() as u8).map(KindId);
        let names = numbers.map(|kind| KindName { short: schema.short(kind), long: schema.label(kind) });
        let mut timeline = Timeline::of(names.collect());
        replay(members, &mut timeline);
        Joint {
            marks_before: timeline.pushed(),
            scopes: members.iter().map(|member| member.scopes().to_vec()).collect(),
            sources,
            sheet: Sheet { view: TableView::of(schema.clone()), timeline, ..Sheet::default() },
            ear: announcer.listen(),
            arrived: Vec::new(),
            schema,
        }
    }

    /// Whether it is of these, as they are watched.
    pub fn is_of(&self, members: &[Watched]) -> bool {
        let own = self.schema.kinds().iter().zip(&self.scopes);
        own.len() == members.len()
            && own.zip(members).all(|((kind, scopes), member)| *kind == member.kind() && *scopes == member.scopes())
    }

    /// Lets go of the informers, and says which ended by that.
    pub fn end(self, informers: &mut SharedInformerFactory, announcer: &mut Announcer) -> Vec<InformerId> {
        announcer.leave(self.ear);
        let all = self.sources.iter().flat_map(|source| [source.table, source.timeline]);
        all.filter(|one| informers.remove_event_handler(*one)).map(|one| one.informer).collect()
    }

    /// Has the table and the timeline take what waits for them. Whether the table has still to hear of what was there when
    /// it came.
    pub fn take(&mut self, informers: &mut SharedInformerFactory) -> bool {
        for source in &self.sources {
            let Some(informer) = informers.get_mut(source.timeline.informer) else { continue };
            informer.deliver(source.timeline.handler, &mut ArrivalHandler(source, &mut self.arrived));
        }
        // A timeline's times never run backwards, and each kind's arrivals come in one piece.
        self.arrived.sort_by(|one, other| one.at.total_cmp(&other.at));
        for Arrival { at, what } in self.arrived.drain(..) {
            match what {
                Arrived::Object(kind, mark_type, object) => {
                    // Its row is still what it was before.
                    self.sheet.recall(kind, &object.key);
                    self.sheet.timeline.push(at, NewMark::of(kind, mark_type, &object, tone(&object)));
                }
                Arrived::Resync(resync) => self.sheet.timeline.resync(at, resync),
            }
        }
        let mut left = false;
        for (source, scope) in self.sources.iter().zip(self.scopes.iter().flatten()) {
            let Some(informer) = informers.get_mut(source.timeline.informer) else { continue };
            let Some(kind) = self.schema.kind(source.kind) else { continue };
            let (kind, of) = (source.kind, (&kind.resource, scope));
            left |= informer.deliver_some(
                source.table.handler,
                &mut TableHandler { kind, of, sheet: &mut self.sheet },
                AT_ONCE,
            );
        }
        left
    }

    /// Has the timeline be told again what is known, as often as that was chosen. Whose period is another one now is added to
    /// `changed`.
    pub fn resync(
        &self,
        informers: &mut SharedInformerFactory,
        resyncs: &Resyncs,
        now: f64,
        changed: &mut Vec<InformerId>,
    ) {
        for source in &self.sources {
            keep_period([source.timeline], informers, resyncs, now, changed);
        }
    }

    /// Hears what the page has to say, and marks what concerns its informers, or all, on the timeline.
    pub fn hear(&mut self, announcer: &mut Announcer) {
        let source = |id| self.sources.iter().find(|source| source.timeline.informer == id);
        let kind = |id| source(id).and_then(|source| self.schema.kind(source.kind));
        self.sheet.hear(announcer.hear(self.ear), |id| kind(id).map(|kind| format!("{}: ", kind.title)));
    }

    /// Draws the time without knowledge of any kind while it lasts: to be called a few times a second, after the
    /// members have looked.
    pub fn look(&mut self, members: &[Watched], informers: &SharedInformerFactory, now: f64) {
        // A member's own gap lasts until it is live again; one that never was has none.
        let lost: Vec<&Watched> = members.iter().filter(|member| member.timeline().has_open_gap()).collect();
        if lost.is_empty() {
            self.sheet.timeline.close_gap(now);
        } else if !self.sheet.timeline.has_open_gap() {
            let silent = lost.iter().filter_map(|member| member.age(informers, now)).fold(0.0, f64::max);
            let kinds: Vec<&'static Kind> = lost.iter().map(|member| member.kind()).collect();
            self.sheet.timeline.open_gap(now - silent, &format!("no connection: {}", TableSchema::of(&kinds).title()));
        }
    }

    /// Where everything is that the informers told the handlers.
    pub fn account(&self, members: &[Watched], informers: &SharedInformerFactory) -> Account {
        let sources = || self.sources.iter();
        let table = handled(sources().map(|source| source.table), informers);
        let timeline = handled(sources().map(|source| source.timeline), informers);
        Account {
            table: Some((table, Rows::of(&self.sheet.view))),
            timeline: (timeline, Marks::of(&self.sheet.timeline, self.marks_before)),
            counters: None,
            objects: members.iter().map(|member| member.items(informers)).sum(),
        }
    }

    /// The kinds and their columns.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }

    /// The rows and marks.
    pub fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    /// The rows and marks, to be sorted, filtered, held, or looked at from another place.
    pub fn sheet_mut(&mut self) -> &mut Sheet {
        &mut self.sheet
    }
}

/// Puts what is on each kind's timeline on one of all, in the order of its time.
fn replay(members: &[Watched], timeline: &mut Timeline) {
    let marks = (0..)
        .map(KindId)
        .zip(members)
        .flat_map(|(kind, member)| member.timeline().marks().map(move |mark| (kind, mark)));
    let mut marks: Vec<_> = marks.collect();
    marks.sort_by(|(_, one), (_, other)| one.at.total_cmp(&other.at));
    let mut begun = vec![false; members.len()];
    for (kind, mark) in marks {
        let Some((member, begun)) = members.get(kind.index()).zip(begun.get_mut(kind.index())) else {
            continue;
        };
        let (title, dropped) = (member.kind().title, member.timeline().evicted().total());
        if !std::mem::replace(begun, true) && dropped > 0 {
            // Marks of the others are known from before that, and this is said of it.
            timeline.gap(0.0, mark.at, &format!("{title}: {} older marks dropped", grouped(dropped)));
        }
        if let Some(resync) = mark.resync {
            timeline.resync(mark.at, Resync { kind, ..resync.clone() });
            continue;
        }
        match mark.key {
            Some(key) => {
                let version = ResourceVersion::new(mark.resource_version);
                let MarkInfo { mark_type, uid, folded, tone, .. } = mark;
                timeline.push(mark.at, NewMark { kind, key, uid, mark_type, resource_version: &version, folded, tone });
            }
            None if mark.mark_type == MarkType::Gap => {
                timeline.gap(mark.from, mark.at, &format!("{title}: {}", mark.note));
            }
            None => timeline.relist(mark.at, &format!("{title}: {}", mark.note)),
        }
    }
}
