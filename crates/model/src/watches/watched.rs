//! A kind that is watched: its informers, one for each namespace asked for, and the marks and counters that are their
//! handlers.

use std::sync::Arc;

use kubechurn_client::api::cell::{CellRef, Tone};
use kubechurn_client::api::extra::Keep;
use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::status::Verdict;
use kubechurn_client::cache::backlog::Backlog;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::factory::{InformerId, Registration, SharedInformerFactory};
use kubechurn_client::cache::handler::{Handled, HandlerOptions, ResourceEventHandler, Resynced};
use kubechurn_client::cache::index::by_owner;
use kubechurn_client::cache::ledger::Ledger;
use kubechurn_client::cache::queue::Queue;
use kubechurn_client::cache::reflector::{Health, Notice, Options, Reflector};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
use kubechurn_client::cache::store::Change;

use crate::kind_id::KindId;
use crate::navigation::route::Route;
use crate::table::view::TableView;
use crate::timeline::mark::Resync;
use crate::timeline::marks::{Detail, Marks, NO_CONNECTION, NewMark};
use crate::timeline::store::state::NewState;
use crate::watches::account::{Account, MarkSums, handled};
use crate::watches::audit::AuditLog;
use crate::watches::counters::Counters;
use crate::watches::notices::{Announcer, NoticeKind, PageNotice, Subscription};
use crate::watches::resync::Resyncs;
use kubechurn_columns::column::{Column, StatePart};
use kubechurn_columns::kinds::Kind;
use kubechurn_columns::kinds::events::regarding;
use kubechurn_columns::state::write_state;

/// How much may wait for a handler. A handler for which more waits is notified of nothing further, and once it takes
/// something, the watch lists anew. The page takes what waits with each frame of the screen, so that so much waits only
/// for a page that stands still or is hidden.
const BACKLOG: Backlog = Backlog { changes: 100_000, bytes: 128_000_000 };

/// The word for an object that is being deleted.
const DELETING: &str = "Terminating";

/// The name of the index that finds the objects that an object owns.
pub const OWNER: &str = "owner";

/// One kind, watched in one or several scopes.
#[derive(Debug)]
pub struct Watched {
    kind: &'static Kind,
    scopes: Vec<Scope>,
    /// The handlers, by scope.
    sources: Vec<Source>,
    marks: Marks,
    counters: Counters,
    /// How many marks of objects and of resyncs there were when the handlers came.
    marks_before: u64,
    subscription: Subscription,
    /// Whether nobody asked for the kind, and the page does without where it may not be listed.
    pub(super) optional: bool,
}

/// The handlers of one informer.
#[derive(Debug)]
struct Source {
    marks: Registration,
    counters: Registration,
    /// Since when the informer is watched for this kind, in milliseconds.
    since: f64,
}

/// Marks what arrives from one informer.
struct MarksHandler<'a> {
    marks: &'a mut Marks,
    /// The table that has rows of the kind, and the kind's number there.
    rows: (&'a TableView, KindId),
    /// Where the kind's cells have the name of a node, if they have one.
    node: Option<usize>,
    /// Since when the informer is watched, in milliseconds.
    since: f64,
    /// The namespace that is watched; empty for all.
    namespace: &'a str,
    kind: &'static Kind,
    /// The word of the state that was looked at last.
    word: String,
}

impl ResourceEventHandler for MarksHandler<'_> {
    fn changed(&mut self, _now: f64, _change: &Change) -> Handled {
        Ok(())
    }

    fn received(&mut self, now: f64, delta_type: DeltaType, object: &Arc<Object>) -> Handled {
        // The last mark of the object may be evicted: the row shows in which state the object was.
        if let Some(row) = without_lane(self.marks, self.rows, &object.key) {
            let tone = write_state_of(self.kind, row, &mut self.word);
            self.marks.recall(&row.key, &row.uid, NewState { tone, word: &self.word });
        }
        let tone = write_state_of(self.kind, object, &mut self.word);
        let detail = Detail {
            word: &self.word,
            regarding: regarding(&self.kind.resource, &object.cells),
            regarding_uid: object.regarding(),
        };
        let lane = self.marks.push_with(now, NewMark::of(delta_type.into(), object, tone), detail);
        self.marks.put(lane, object.owners.as_ref(), node_name(object, self.node));
        Ok(())
    }

    fn resynced(&mut self, now: f64, Resynced { count, settled }: Resynced) -> Handled {
        self.marks.resync(now, Resync { namespace: self.namespace.into(), count, since: self.since, settled });
        Ok(())
    }
}

/// The object with this key, as its row has it, if it has a row and no lane among the marks.
fn without_lane<'a>(marks: &Marks, (rows, kind): (&'a TableView, KindId), key: &ObjectKey) -> Option<&'a Object> {
    if marks.has_lane(key) {
        return None;
    }
    // A provisional row shows nothing that is known.
    rows.find(kind, key).and_then(|id| rows.row(id)).filter(|row| !row.provisional).map(|row| &*row.object)
}

/// Writes the state of an object as a band says it. Of what is being deleted most tables have no word.
fn write_state_of(kind: &Kind, object: &Object, word: &mut String) -> Tone {
    let tone = write_state(kind.columns, &object.cells, word);
    let has_word = |column: &Column| column.state == StatePart::Word && column.source.is_empty();
    if object.deletion().is_some() && !kind.columns.iter().any(has_word) {
        DELETING.clone_into(word);
        return Tone::Wait;
    }
    tone
}

/// Where the cells of a kind have the name of the node that an object is on: only Pods have one.
fn node_cell(kind: &Kind) -> Option<usize> {
    let is_pod = kind.resource.kind == "Pod" && kind.resource.group.is_empty();
    kind.columns.iter().position(|column| column.title == "NODE").filter(|_| is_pod)
}

/// The name of the node that an object is on, from the cell at this place; empty where there is none.
fn node_name(object: &Object, cell: Option<usize>) -> &str {
    match cell.and_then(|at| object.cells.get(at)) {
        // So kubectl prints that there is no node yet.
        Some(CellRef::Text("<none>")) => "",
        Some(CellRef::Text(name)) => name,
        _ => "",
    }
}

/// Counts what the store took in, and writes it down if there is an audit.
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

/// The worst of several healths; `None` where there is none.
pub fn worst(healths: impl Iterator<Item = Health>) -> Option<Health> {
    healths.max_by_key(|health| rank(*health))
}

/// How bad a health is: the greater, the worse.
pub fn rank(health: Health) -> u8 {
    match health {
        Health::Live => 0,
        Health::Listing => 1,
        Health::Connecting => 2,
        Health::Stale => 3,
        Health::Stopped => 4,
        Health::Forbidden => 5,
        Health::Unauthorized => 6,
    }
}

/// The scopes in which a route asks for a kind, which may be in view or only pinned.
pub fn scopes(kind: &Kind, route: &Route, in_view: bool) -> Vec<Scope> {
    // Selectors are of the kinds in view: a pinned kind is watched without them.
    let of_view = |selector: &String| if in_view { selector.clone() } else { String::new() };
    let (label_selector, field_selector) = (of_view(&route.labels), of_view(&route.fields));
    let scope = Scope { label_selector, field_selector, ..Scope::default() };
    if route.namespaces.is_empty() || !kind.resource.namespaced {
        return vec![scope];
    }
    route.namespaces.iter().map(|namespace| Scope { namespace: namespace.clone(), ..scope.clone() }).collect()
}

impl Watched {
    /// Watches `kind` in `scopes`. Informers that `informers` did not have yet want to be started. `now` is the time in
    /// milliseconds.
    pub fn new(
        kind: &'static Kind,
        scopes: Vec<Scope>,
        informers: &mut SharedInformerFactory,
        announcer: &mut Announcer,
        now: f64,
    ) -> Watched {
        // Owners cost little: they are read with the rest of the metadata, and objects with the same owners share them.
        let keep = Keep { owners: true, ..Keep::default() };
        let reflector = Options { keep, kind: Some(kind.resource.kind), ..informers.options_of(&kind.resource) };
        let options = InformerOptions { reflector, backlog: Some(BACKLOG) };
        let received = HandlerOptions { changes: false, received: true, ..HandlerOptions::default() };
        let sources = scopes.iter().filter_map(|scope| {
            let make = || {
                let mut informer = SharedInformer::new(kind.decode, options);
                // The informer is new: it has no index of that name.
                let _ = informer.add_index(OWNER, by_owner());
                informer
            };
            let informer = informers.informer_for(kind.resource, scope, make);
            Some(Source {
                marks: informers.add_event_handler(informer, received, now)?,
                counters: informers.add_event_handler(informer, HandlerOptions::default(), now)?,
                since: now,
            })
        });
        let sources = sources.collect();
        let (marks, counters, subscription) =
            (Marks::of_kind(kind.resource.kind), Counters::default(), announcer.subscribe());
        Watched { kind, scopes, sources, marks, counters, marks_before: 0, subscription, optional: false }
    }

    /// Adds to marks that were made when the kind was watched before. Nothing must have been taken yet.
    pub fn go_on_with(&mut self, marks: Marks) {
        self.marks_before = marks.pushed();
        self.marks = marks;
    }

    /// Lets go of the informers. Returns the marks, and the informers that ended because they have no handler any more.
    pub fn end(self, informers: &mut SharedInformerFactory, announcer: &mut Announcer) -> (Marks, Vec<InformerId>) {
        announcer.unsubscribe(self.subscription);
        let all = self.sources.iter().flat_map(|one| [one.marks, one.counters]);
        let ended = all.filter(|one| informers.remove_event_handler(*one)).map(|one| one.informer).collect();
        (self.marks, ended)
    }

    /// Has the marks and the counters take what the informers have for them. `rows` is the table that has the kind's
    /// rows, and the kind's number there.
    pub(super) fn take(&mut self, informers: &mut SharedInformerFactory, rows: (&TableView, KindId), audit: &AuditLog) {
        for (source, scope) in self.sources.iter().zip(&self.scopes) {
            let Some(informer) = informers.get_mut(source.marks.informer) else { continue };
            let (marks, since, namespace) = (&mut self.marks, source.since, &*scope.namespace);
            let (kind, word) = (self.kind, String::new());
            let node = node_cell(self.kind);
            let mut handler = MarksHandler { marks, rows, node, since, namespace, kind, word };
            informer.deliver(source.marks.handler, &mut handler);
            let (counters, of) = (&mut self.counters, (&self.kind.resource, scope));
            informer.deliver(source.counters.handler, &mut Applied { counters, audit, of });
        }
    }

    /// Gives an object that the user looks at a lane, if it has a row and no lane.
    pub(super) fn attend(&mut self, rows: (&TableView, KindId), key: &ObjectKey) {
        if let Some(row) = without_lane(&self.marks, rows, key) {
            let mut word = String::new();
            let tone = write_state_of(self.kind, row, &mut word);
            let lane = self.marks.attend(&row.key, &row.uid, NewState { tone, word: &word });
            if let Some(lane) = lane {
                self.marks.put(lane, row.owners.as_ref(), node_name(row, node_cell(self.kind)));
            }
        }
    }

    /// Has the marks and the counters be notified again of what is known, as often as that was chosen. A table is not:
    /// nothing changes in it. Informers that have another period now are added to `changed`.
    pub fn resync(
        &self,
        informers: &mut SharedInformerFactory,
        resyncs: &Resyncs,
        now: f64,
        changed: &mut Vec<InformerId>,
    ) {
        for source in &self.sources {
            keep_period([source.marks, source.counters], informers, resyncs, now, changed);
        }
    }

    /// How often they are notified again of what is known, in milliseconds; of several scopes the shortest period. `None` where it
    /// never is.
    pub fn resync_period(&self, informers: &SharedInformerFactory) -> Option<f64> {
        let periods = self
            .sources
            .iter()
            .filter_map(|source| informers.get(source.counters.informer)?.resync_period(source.counters.handler));
        periods.reduce(f64::min)
    }

    /// Marks what was announced since the last call, as far as it is about the kind's informers or about the whole
    /// page.
    pub fn receive_notices(&mut self, announcer: &mut Announcer) {
        for PageNotice { kind, .. } in announcer.receive(self.subscription) {
            match kind {
                NoticeKind::Overload { from, to, .. } => {
                    self.marks.gap_of_all(from, to, "overload: the table was behind")
                }
                NoticeKind::Watch(id, notice) if self.informer_ids().any(|own| own == id) => match notice {
                    Notice::Relisted { at, reason, .. } => self.marks.relist(at, &format!("relist: {reason}")),
                    Notice::Gap { from, to, reason } => self.marks.gap(from, to, &reason),
                    // For a stale or refused watch, `Watched::look` begins a gap.
                    _ => {}
                },
                // A difference is healed by a list, which is announced, too.
                NoticeKind::Watch(..)
                | NoticeKind::Difference { .. }
                | NoticeKind::Memory { .. }
                | NoticeKind::Clock { .. }
                | NoticeKind::Kept { .. }
                | NoticeKind::Unbalanced { .. } => {}
            }
        }
    }

    /// Begins a gap when the server is not heard any more, and ends it when it is heard again: to be called a few times
    /// a second.
    pub fn look(&mut self, informers: &SharedInformerFactory, now: f64) {
        match self.health(informers, now) {
            Health::Live => self.marks.close_gap(now),
            Health::Stale if !self.marks.has_open_gap() => {
                let since = now - self.age(informers, now).unwrap_or(0.0);
                self.marks.open_gap(since, NO_CONNECTION);
            }
            _ => {}
        }
    }

    pub fn kind(&self) -> &'static Kind {
        self.kind
    }

    /// The scopes in which the kind is watched.
    pub fn scopes(&self) -> &[Scope] {
        &self.scopes
    }

    /// The ids of the informers, by scope.
    pub(super) fn informer_ids(&self) -> impl Iterator<Item = InformerId> {
        self.sources.iter().map(|source| source.marks.informer)
    }

    /// The informers, by scope.
    pub fn informers<'a>(
        &'a self,
        informers: &'a SharedInformerFactory,
    ) -> impl Iterator<Item = &'a SharedInformer> + Clone {
        self.sources.iter().filter_map(|source| informers.get(source.marks.informer))
    }

    /// The id of each informer, and its scope.
    pub fn sources(&self) -> impl Iterator<Item = (InformerId, &Scope)> {
        self.sources.iter().map(|source| source.marks.informer).zip(&self.scopes)
    }

    /// How many changes of each type the stores have seen.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    pub fn marks(&self) -> &Marks {
        &self.marks
    }

    /// The marks, to be limited.
    pub(super) fn marks_mut(&mut self) -> &mut Marks {
        &mut self.marks
    }

    /// Every known object, in any order.
    pub fn objects<'a>(&'a self, informers: &'a SharedInformerFactory) -> impl Iterator<Item = &'a Arc<Object>> {
        self.informers(informers).flat_map(|informer| informer.store().iter())
    }

    /// How many objects are known.
    pub fn items(&self, informers: &SharedInformerFactory) -> usize {
        self.informers(informers).map(|informer| informer.store().len()).sum()
    }

    /// How many objects the first lists have brought that are not complete.
    pub fn listed(&self, informers: &SharedInformerFactory) -> usize {
        let first =
            self.informers(informers).map(SharedInformer::reflector).filter(|reflector| !reflector.has_listed());
        first.filter_map(Reflector::listing).sum()
    }

    /// The sum of the informers' ledgers.
    pub fn ledger(&self, informers: &SharedInformerFactory) -> Ledger {
        self.informers(informers).fold(Ledger::default(), |sum, informer| sum.plus(informer.ledger()))
    }

    /// Where everything is of which the informers notified the marks and the counters. The table belongs to the view, whose
    /// account has it.
    pub fn account(&self, informers: &SharedInformerFactory) -> Account {
        let handled = |of: fn(&Source) -> Registration| handled(self.sources.iter().map(of), informers);
        Account {
            table: None,
            timeline: (handled(|source| source.marks), MarkSums::of(&self.marks, self.marks_before)),
            counters: (handled(|source| source.counters), self.counters),
            objects: self.items(informers),
            listed: self.listed(informers),
        }
    }

    /// How many keys are queued, and how many received deltas they stand for.
    pub fn queued(&self, informers: &SharedInformerFactory) -> (usize, u64) {
        let queues = self.informers(informers).map(SharedInformer::queue);
        queues.fold((0, 0), |(keys, deltas), queue| (keys + queue.len(), deltas + queue.queued()))
    }

    /// Whether the page does without: nobody asked for the kind, and it may not be listed, or the server does not have it.
    pub fn is_done_without(&self, informers: &SharedInformerFactory, now: f64) -> bool {
        self.optional && matches!(self.health(informers, now), Health::Forbidden | Health::Stopped)
    }

    /// The worst of the informers' healths.
    pub fn health(&self, informers: &SharedInformerFactory, now: f64) -> Health {
        let healths = self.informers(informers).map(|informer| informer.health(now));
        worst(healths).unwrap_or(Health::Connecting)
    }

    /// The namespaces whose objects are held and not followed any more; an empty one stands for all.
    pub fn stale<'a>(&'a self, informers: &'a SharedInformerFactory, now: f64) -> impl Iterator<Item = &'a str> {
        let is_stale = move |id| {
            let health = informers.get(id).map(|informer: &SharedInformer| informer.health(now));
            matches!(health, Some(Health::Stale | Health::Unauthorized | Health::Forbidden | Health::Stopped))
        };
        self.sources().filter(move |(id, _)| is_stale(*id)).map(|(_, scope)| &*scope.namespace)
    }

    /// How long ago the server was last heard, in milliseconds: the longest of the informers' silences.
    pub fn age(&self, informers: &SharedInformerFactory, now: f64) -> Option<f64> {
        let heard = self.informers(informers).map(|informer| informer.reflector().heard());
        heard.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::min).map(|heard| (now - heard).max(0.0))
    }

    /// The first failure of an informer: why what is shown may not be true. `None` where no informer has failed.
    pub fn complaint<'a>(&'a self, informers: &'a SharedInformerFactory) -> Option<Complaint<'a>> {
        self.complaints(informers).next()
    }

    /// The failure of each informer that has failed.
    pub fn complaints<'a>(&'a self, informers: &'a SharedInformerFactory) -> impl Iterator<Item = Complaint<'a>> {
        self.informers(informers).zip(&self.scopes).filter_map(|(informer, scope)| {
            let reflector = informer.reflector();
            let failure = reflector.failure()?;
            Some(Complaint {
                words: &failure.words,
                code: failure.code,
                verdict: failure.verdict,
                namespace: &scope.namespace,
                retry_at: reflector.retry_at(),
                has_listed: reflector.has_listed(),
                heard: reflector.heard(),
                informer,
            })
        })
    }
}

/// Sets how often handlers are notified again of what is known, as was chosen for as many objects as there are. Informers
/// whose period is another one now are added to `changed`.
fn keep_period(
    handlers: [Registration; 2],
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

/// Why what is shown of a kind may not be true.
#[derive(Clone, Copy, Debug)]
pub struct Complaint<'a> {
    /// Whose failure it is.
    pub informer: &'a SharedInformer,
    /// What follows from it.
    pub verdict: Verdict,
    /// Whether a complete list has come.
    pub has_listed: bool,
    /// When the last proof came that what is held is true, in milliseconds.
    pub heard: Option<f64>,
    /// The server's words.
    pub words: &'a str,
    /// The HTTP status; 0 where there was no answer.
    pub code: u16,
    /// The namespace; empty for all.
    pub namespace: &'a str,
    /// When the next attempt is due, in milliseconds; `None` where none is.
    pub retry_at: Option<f64>,
}
