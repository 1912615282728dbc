//! A kind that is watched: the informers that it looks at, one for each namespace asked for, and the table,
//! timeline and counters that are their handlers.

use std::sync::Arc;

use kubechurn_client::api::extra::Keep;
use kubechurn_client::api::object::Object;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::backlog::Backlog;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::factory::{InformerId, Registration, SharedInformerFactory};
use kubechurn_client::cache::handler::{Handled, HandlerOptions, ResourceEventHandler, Resynced};
use kubechurn_client::cache::index::by_owner;
use kubechurn_client::cache::ledger::Ledger;
use kubechurn_client::cache::reflector::{Health, Options};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
use kubechurn_client::cache::store::Change;

use crate::kind_id::KindId;
use crate::page::account::{Account, Marks, Rows, handled};
use crate::page::audit::AuditLog;
use crate::page::counters::Counters;
use crate::page::notices::{Announcer, Ear};
use crate::page::resync::Resyncs;
use crate::page::route::Route;
use crate::page::sheet::{Sheet, TableHandler, tone};
use crate::table::kinds::Kind;
use crate::table::view::TableView;
use crate::timeline::mark::Resync;
use crate::timeline::{NewMark, Timeline};

/// Of so many objects that are known already a table that comes later hears at once: some ten milliseconds of work.
pub(super) const AT_ONCE: usize = 4096;

/// A page that takes nothing for so long that this much waits is told no more, and lists anew once it does. It takes what
/// comes with each frame of the screen, so that only one that stands still, or is hidden, comes near.
const BACKLOG: Backlog = Backlog { changes: 100_000, bytes: 128_000_000 };

/// The index that tells what belongs to an object.
pub const OWNER: &str = "owner";

/// One kind, watched in one or several scopes.
#[derive(Debug)]
pub struct Watched {
    kind: &'static Kind,
    scopes: Vec<Scope>,
    /// One for each scope.
    sources: Vec<Source>,
    sheet: Sheet,
    counters: Counters,
    /// How many marks the timeline had when the handlers came.
    marks_before: u64,
    ear: Ear,
}

/// The handlers of one informer.
#[derive(Debug)]
struct Source {
    /// None while a table of several kinds has the rows.
    table: Option<Registration>,
    timeline: Registration,
    counters: Registration,
    /// Since when, in milliseconds.
    since: f64,
}

/// Shows what arrived as marks: of what has been watched since, in a namespace, or in all if that is empty.
struct TimelineHandler<'a> {
    sheet: &'a mut Sheet,
    since: f64,
    namespace: &'a str,
}

impl ResourceEventHandler for TimelineHandler<'_> {
    fn changed(&mut self, _now: f64, _change: &Change) -> Handled {
        Ok(())
    }

    fn received(&mut self, now: f64, delta_type: DeltaType, object: &Arc<Object>) -> Handled {
        let key = &object.key;
        self.sheet.recall(KindId::ONLY, key);
        self.sheet.timeline.push(now, NewMark::of(KindId::ONLY, delta_type.into(), object, tone(object)));
        Ok(())
    }

    fn resynced(&mut self, now: f64, resync: Resynced) -> Handled {
        self.sheet.timeline.resync(now, told_again(KindId::ONLY, self.namespace, self.since, resync));
        Ok(())
    }
}

/// A resync as a timeline has it: of which of its kinds, in which namespace, and watched since when.
pub(super) fn told_again(kind: KindId, namespace: &str, since: f64, Resynced { count, settled }: Resynced) -> Resync {
    Resync { kind, namespace: namespace.into(), count, since, settled }
}

/// Counts what the store took in, and writes it down where that is asked for.
struct Applied<'a> {
    counters: &'a mut Counters,
    audit: &'a AuditLog,
    of: (&'a ApiResource, &'a Scope),
}

impl ResourceEventHandler for Applied<'_> {
    fn changed(&mut self, now: f64, change: &Change) -> Handled {
        self.audit.applied(self.of, change, now);
        self.counters.changed(now, change)
    }
}

/// The worst of several healths; none of none.
pub fn worst(healths: impl Iterator<Item = Health>) -> Option<Health> {
    healths.max_by_key(|health| match health {
        Health::Live => 0,
        Health::Listing => 1,
        Health::Connecting => 2,
        Health::Stale => 3,
        Health::Stopped => 4,
        Health::Forbidden => 5,
    })
}

/// The scopes that a place in the page asks for, of a kind in view or a pinned one.
pub fn scopes(kind: &Kind, route: &Route, in_view: bool) -> Vec<Scope> {
    // Selectors belong to the kinds in view: pinned ones are watched whole.
    let of_view = |selector: &String| if in_view { selector.clone() } else { String::new() };
    let (label_selector, field_selector) = (of_view(&route.labels), of_view(&route.fields));
    let scope = Scope { label_selector, field_selector, ..Scope::default() };
    if route.namespaces.is_empty() || !kind.resource.namespaced {
        return vec![scope];
    }
    route.namespaces.iter().map(|namespace| Scope { namespace: namespace.clone(), ..scope.clone() }).collect()
}

impl Watched {
    /// Watches `kind` in `scopes`. `timeline` holds what was seen of the kind before, if anything. Informers that
    /// `informers` did not have yet want to be started.
    pub fn new(
        kind: &'static Kind,
        scopes: Vec<Scope>,
        timeline: Timeline,
        informers: &mut SharedInformerFactory,
        announcer: &mut Announcer,
        now: f64,
    ) -> Watched {
        // Owners cost little: they are read with the rest of the metadata, and kept once for all that have the same.
        let keep = Keep { owners: true, ..Keep::default() };
        let reflector = Options { keep, kind: Some(kind.resource.kind), ..Options::default() };
        let options = InformerOptions { reflector, backlog: Some(BACKLOG), ..InformerOptions::default() };
        let received = HandlerOptions { changes: false, received: true, resync: None };
        let sources = scopes.iter().filter_map(|scope| {
            let make = || {
                let mut informer = SharedInformer::new(kind.decode, options);
                // It is new: there is no index of that name.
                let _ = informer.add_index(OWNER, by_owner());
                informer
            };
            let informer = informers.informer_for(kind.resource, scope, make);
            Some(Source {
                table: Some(informers.add_event_handler(informer, HandlerOptions::default(), now)?),
                timeline: informers.add_event_handler(informer, received, now)?,
                counters: informers.add_event_handler(informer, HandlerOptions::default(), now)?,
                since: now,
            })
        });
        let sources = sources.collect();
        let marks_before = timeline.pushed();
        let sheet = Sheet { timeline, ..Sheet::default() };
        Watched { kind, scopes, sources, sheet, counters: Counters::default(), marks_before, ear: announcer.listen() }
    }

    /// Goes on with a timeline that holds what was seen of the kind before. Nothing must have been taken yet.
    pub fn go_on_with(&mut self, timeline: Timeline) {
        self.marks_before = timeline.pushed();
        self.sheet.timeline = timeline;
    }

    /// Lets go of the informers, and says which ended by that. What is left is the timeline.
    pub fn end(self, informers: &mut SharedInformerFactory, announcer: &mut Announcer) -> (Timeline, Vec<InformerId>) {
        announcer.leave(self.ear);
        let all = self.sources.iter().flat_map(|one| one.table.into_iter().chain([one.timeline, one.counters]));
        let ended = all.filter(|one| informers.remove_event_handler(*one)).map(|one| one.informer).collect();
        (self.sheet.timeline, ended)
    }

    /// Has a table of its own from here on, or none, because one of several kinds has its rows. A table that comes
    /// begins with what is known.
    pub fn keep_table(&mut self, keeps: bool, informers: &mut SharedInformerFactory, now: f64) {
        for source in &mut self.sources {
            match source.table {
                None if keeps => {
                    source.table =
                        informers.add_event_handler(source.timeline.informer, HandlerOptions::default(), now);
                }
                Some(table) if !keeps => {
                    // The informer goes on: the timeline looks at it too.
                    informers.remove_event_handler(table);
                    source.table = None;
                }
                _ => continue,
            }
            self.sheet.view = TableView::default();
        }
    }

    /// Has the table, the timeline and the counters take what waits for them. Whether the table has still to hear of what
    /// was there when it came: of very many objects it takes some at a time, so that the page does not stand still.
    pub fn take(&mut self, informers: &mut SharedInformerFactory) -> bool {
        let mut left = false;
        for (source, scope) in self.sources.iter().zip(&self.scopes) {
            let Some(informer) = informers.get_mut(source.timeline.informer) else { continue };
            let of = (&self.kind.resource, scope);
            let (since, namespace) = (source.since, &*scope.namespace);
            let mut marks = TimelineHandler { sheet: &mut self.sheet, since, namespace };
            informer.deliver(source.timeline.handler, &mut marks);
            let counters = &mut self.counters;
            informer.deliver(source.counters.handler, &mut Applied { counters, audit: &self.sheet.audit, of });
            if let Some(table) = source.table {
                left |= informer.deliver_some(
                    table.handler,
                    &mut TableHandler { kind: KindId::ONLY, of, sheet: &mut self.sheet },
                    AT_ONCE,
                );
            }
        }
        left
    }

    /// Has the timeline and the counters be told again what is known, as often as that was chosen; a table has no use for
    /// it. Whose period is another one now is added to `changed`.
    pub fn resync(
        &self,
        informers: &mut SharedInformerFactory,
        resyncs: &Resyncs,
        now: f64,
        changed: &mut Vec<InformerId>,
    ) {
        for source in &self.sources {
            keep_period([source.timeline, source.counters], informers, resyncs, now, changed);
        }
    }

    /// How often what is known is told again, in milliseconds, if ever.
    pub fn resync_period(&self, informers: &SharedInformerFactory) -> Option<f64> {
        let periods = self
            .sources
            .iter()
            .filter_map(|source| informers.get(source.counters.informer)?.resync_period(source.counters.handler));
        periods.reduce(f64::min)
    }

    /// Hears what the page has to say, and marks what concerns its informers, or all, on the timeline.
    pub fn hear(&mut self, announcer: &mut Announcer) {
        let is_own = |id| self.sources.iter().any(|source| source.timeline.informer == id);
        self.sheet.hear(announcer.hear(self.ear), |id| is_own(id).then(String::new));
    }

    /// Draws the time without knowledge while it lasts: to be called a few times a second.
    pub fn look(&mut self, informers: &SharedInformerFactory, now: f64) {
        match self.health(informers, now) {
            Health::Live => self.sheet.timeline.close_gap(now),
            Health::Stale if !self.sheet.timeline.has_open_gap() => {
                let since = now - self.age(informers, now).unwrap_or(0.0);
                self.sheet.timeline.open_gap(since, "no connection");
            }
            _ => {}
        }
    }

    /// The kind.
    pub fn kind(&self) -> &'static Kind {
        self.kind
    }

    /// Where it is watched.
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// The informers by name, one for each scope, each with its scope and the time since when it is looked at.
    pub(super) fn begun(&self) -> impl Iterator<Item = (InformerId, &Scope, f64)> {
        let sources = self.sources.iter().map(|source| (source.timeline.informer, source.since));
        sources.zip(&self.scopes).map(|((informer, since), scope)| (informer, scope, since))
    }

    /// The informers by name, one for each scope.
    pub(super) fn informer_ids(&self) -> impl Iterator<Item = InformerId> {
        self.sources.iter().map(|source| source.timeline.informer)
    }

    /// One for each scope.
    pub fn informers<'a>(
        &'a self,
        informers: &'a SharedInformerFactory,
    ) -> impl Iterator<Item = &'a SharedInformer> + Clone {
        self.sources.iter().filter_map(|source| informers.get(source.timeline.informer))
    }

    /// Each informer, and of which scope it is.
    pub fn sources(&self) -> impl Iterator<Item = (InformerId, &Scope)> {
        self.sources.iter().map(|source| source.timeline.informer).zip(&self.scopes)
    }

    /// What became of the changes.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The rows and marks.
    pub fn sheet(&self) -> &Sheet {
        &self.sheet
    }

    /// The rows and marks, to be sorted, filtered, held, or looked at from another place.
    pub fn sheet_mut(&mut self) -> &mut Sheet {
        &mut self.sheet
    }

    /// The rows.
    pub fn view(&self) -> &TableView {
        &self.sheet.view
    }

    /// The rows, to be sorted, filtered or held.
    pub fn view_mut(&mut self) -> &mut TableView {
        &mut self.sheet.view
    }

    /// The marks.
    pub fn timeline(&self) -> &Timeline {
        &self.sheet.timeline
    }

    /// The marks, to be looked at from another place.
    pub fn timeline_mut(&mut self) -> &mut Timeline {
        &mut self.sheet.timeline
    }

    /// Every known object, in any order.
    pub fn objects<'a>(&'a self, informers: &'a SharedInformerFactory) -> impl Iterator<Item = &'a Arc<Object>> {
        self.informers(informers).flat_map(|informer| informer.store().iter())
    }

    /// How many objects are known.
    pub fn items(&self, informers: &SharedInformerFactory) -> usize {
        self.informers(informers).map(|informer| informer.store().len()).sum()
    }

    /// The sum of the ledgers.
    pub fn ledger(&self, informers: &SharedInformerFactory) -> Ledger {
        self.informers(informers).fold(Ledger::default(), |sum, informer| sum.plus(informer.ledger()))
    }

    /// Where everything is that the informers told the handlers.
    pub fn account(&self, informers: &SharedInformerFactory) -> Account {
        let sources = || self.sources.iter();
        let has_table = sources().all(|source| source.table.is_some());
        let table = has_table.then(|| handled(sources().filter_map(|source| source.table), informers));
        Account {
            table: table.map(|handlers| (handlers, Rows::of(&self.sheet.view))),
            timeline: (
                handled(sources().map(|source| source.timeline), informers),
                Marks::of(&self.sheet.timeline, self.marks_before),
            ),
            counters: Some((handled(sources().map(|source| source.counters), informers), self.counters)),
            objects: self.items(informers),
        }
    }

    /// Whether every ledger balances, and whatever the handlers were told is in one place.
    pub fn is_balanced(&self, informers: &SharedInformerFactory) -> bool {
        self.informers(informers).all(SharedInformer::is_balanced) && self.account(informers).is_balanced()
    }

    /// Keys and received deltas that wait.
    pub fn queued(&self, informers: &SharedInformerFactory) -> (usize, u64) {
        let queues = self.informers(informers).map(SharedInformer::queue);
        queues.fold((0, 0), |(keys, deltas), queue| (keys + queue.len(), deltas + queue.queued()))
    }

    /// The worst of the informers' healths.
    pub fn health(&self, informers: &SharedInformerFactory, now: f64) -> Health {
        let healths = self.informers(informers).map(|informer| informer.health(now));
        worst(healths).unwrap_or(Health::Connecting)
    }

    /// How long ago the server was last heard, in milliseconds: the longest of the informers' silences.
    pub fn age(&self, informers: &SharedInformerFactory, now: f64) -> Option<f64> {
        let heard = self.informers(informers).map(|informer| informer.reflector().heard());
        heard.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::min).map(|heard| (now - heard).max(0.0))
    }

    /// Why what is shown may not be true, in the server's words, and in which namespace.
    pub fn complaint<'a>(&'a self, informers: &'a SharedInformerFactory) -> Option<Complaint<'a>> {
        self.informers(informers).zip(&self.scopes).find_map(|(informer, scope)| {
            let failure = informer.reflector().failure()?;
            Some(Complaint {
                words: &failure.words,
                code: failure.code,
                namespace: &scope.namespace,
                retry_at: informer.reflector().retry_at(),
            })
        })
    }
}

/// Has handlers be told again what is known, as often as was chosen for as many objects as there are.
pub(super) fn keep_period<const COUNT: usize>(
    handlers: [Registration; COUNT],
    informers: &mut SharedInformerFactory,
    resyncs: &Resyncs,
    now: f64,
    changed: &mut Vec<InformerId>,
) {
    for Registration { informer: id, handler } in handlers {
        let Some(informer) = informers.get_mut(id) else { continue };
        let period = resyncs.period(informer.store().len());
        if informer.resync_period(handler) != period {
            informer.set_resync_period(handler, period, now);
            changed.push(id);
        }
    }
}

/// Why a kind cannot be believed.
#[derive(Clone, Copy, Debug)]
pub struct Complaint<'a> {
    /// The server's words.
    pub words: &'a str,
    /// The HTTP status, or 0.
    pub code: u16,
    /// The namespace; empty for all.
    pub namespace: &'a str,
    /// When the next attempt is due.
    pub retry_at: Option<f64>,
}
