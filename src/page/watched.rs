//! A kind that is watched: its informers, one for each namespace asked for, and the table and timeline that
//! they feed.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::api::cell::{Cell, Tone};
use crate::api::object::Object;
use crate::api::request::Scope;
use crate::cache::backoff::Moment;
use crate::cache::delta::DeltaType;
use crate::cache::informer::{Handler, Informer};
use crate::cache::ledger::Ledger;
use crate::cache::reflector::{Action, Health, Input, Notice, Options};
use crate::cache::store::Change;
use crate::page::route::Route;
use crate::table::kinds::Kind;
use crate::table::view::TableView;
use crate::timeline::Timeline;
use crate::timeline::mark::MarkType;

/// How many notices are kept.
const NOTICES: usize = 50;

/// One kind, watched in one or several scopes.
#[derive(Debug)]
pub struct Watched {
    kind: &'static Kind,
    scopes: Vec<Scope>,
    informers: Vec<Informer>,
    view: TableView,
    timeline: Timeline,
    notices: VecDeque<Notice>,
}

/// What the driver of an informer shall do next.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The next action, if what is under way shall be replaced.
    pub action: Option<Action>,
    /// When [`Input::Timer`] is due.
    pub deadline: Option<f64>,
}

/// Feeds the table and the timeline.
struct Feed<'a> {
    view: &'a mut TableView,
    timeline: &'a mut Timeline,
    notices: &'a mut VecDeque<Notice>,
}

impl Handler for Feed<'_> {
    fn received(&mut self, now: f64, delta_type: DeltaType, object: &Arc<Object>) {
        let mark_type = match delta_type {
            DeltaType::Added => MarkType::Added,
            DeltaType::Updated => MarkType::Updated,
            DeltaType::Deleted => MarkType::Deleted,
            DeltaType::Replaced => MarkType::Replaced,
            DeltaType::Sync => MarkType::Sync,
        };
        self.timeline.push(now, mark_type, &object.key, &object.uid, &object.resource_version, 1, tone(object));
    }

    fn changed(&mut self, now: f64, change: &Change) {
        self.view.apply(change, now);
    }

    fn noticed(&mut self, notice: &Notice) {
        match notice {
            Notice::Relisted { at, reason, .. } => self.timeline.relist(*at, &format!("relist: {reason}")),
            Notice::Gap { from, to, reason } => self.timeline.gap(*from, *to, reason),
            Notice::Malformed { .. } | Notice::Stale { .. } | Notice::Refused { .. } | Notice::Late { .. } => {}
        }
        if self.notices.len() == NOTICES {
            self.notices.pop_front();
        }
        self.notices.push_back(notice.clone());
    }
}

/// The most alarming thing that an object says of itself.
fn tone(object: &Object) -> Tone {
    object.cells.iter().find(|cell| matches!(cell, Cell::Status(..))).map_or(Tone::Plain, Cell::tone)
}

/// The scopes that a place in the page asks for, of one kind.
pub fn scopes(kind: &Kind, route: &Route) -> Vec<Scope> {
    // A label selector belongs to the kind in view: pinned ones are watched whole.
    let in_view = kind.resource == route.kind().resource;
    let label_selector = if in_view { route.labels.clone() } else { String::new() };
    let scope = Scope { label_selector, ..Scope::default() };
    if route.namespaces.is_empty() || !kind.resource.namespaced {
        return vec![scope];
    }
    route.namespaces.iter().map(|namespace| Scope { namespace: namespace.clone(), ..scope.clone() }).collect()
}

impl Watched {
    /// Watches `kind` in `scopes`. `timeline` holds what was seen of the kind before, if anything.
    pub fn new(kind: &'static Kind, scopes: Vec<Scope>, timeline: Timeline) -> Watched {
        let options = Options { kind: Some(kind.resource.kind), ..Options::default() };
        let informers = scopes.iter().map(|_| Informer::new(kind.decode, options)).collect();
        Watched { kind, scopes, informers, view: TableView::default(), timeline, notices: VecDeque::new() }
    }

    /// Hands an input to one informer.
    pub fn handle(&mut self, informer: usize, input: Input<'_>, moment: Moment) -> Outcome {
        let Some(informer) = self.informers.get_mut(informer) else { return Outcome::default() };
        let mut feed = Feed { view: &mut self.view, timeline: &mut self.timeline, notices: &mut self.notices };
        let action = informer.handle(input, moment, &mut feed);
        Outcome { action, deadline: informer.reflector().deadline() }
    }

    /// Drains up to `limit` keys from each queue. Returns whether anything is left.
    pub fn drain(&mut self, limit: usize, now: f64) -> bool {
        let mut feed = Feed { view: &mut self.view, timeline: &mut self.timeline, notices: &mut self.notices };
        let mut left = false;
        for informer in &mut self.informers {
            informer.drain(limit, now, &mut feed);
            left |= !informer.queue().is_empty();
        }
        left
    }

    /// Draws the time without knowledge while it lasts: to be called a few times a second.
    pub fn look(&mut self, now: f64) {
        match self.health(now) {
            Health::Live => self.timeline.close_gap(now),
            Health::Stale if !self.timeline.has_open_gap() => {
                let since = now - self.age(now).unwrap_or(0.0);
                self.timeline.open_gap(since, "no connection");
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

    /// One for each scope.
    pub fn informers(&self) -> &[Informer] {
        &self.informers
    }

    /// The rows.
    pub fn view(&self) -> &TableView {
        &self.view
    }

    /// The rows, to be sorted, filtered or held.
    pub fn view_mut(&mut self) -> &mut TableView {
        &mut self.view
    }

    /// The marks.
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The marks, to be looked at from another place.
    pub fn timeline_mut(&mut self) -> &mut Timeline {
        &mut self.timeline
    }

    /// What is left when the kind is no longer watched.
    pub fn into_timeline(self) -> Timeline {
        self.timeline
    }

    /// What the watches had to say, oldest first.
    pub fn notices(&self) -> impl DoubleEndedIterator<Item = &Notice> {
        self.notices.iter()
    }

    /// Every known object, in any order.
    pub fn objects(&self) -> impl Iterator<Item = &Arc<Object>> {
        self.informers.iter().flat_map(|informer| informer.store().iter())
    }

    /// How many objects are known.
    pub fn items(&self) -> usize {
        self.informers.iter().map(|informer| informer.store().len()).sum()
    }

    /// The sum of the ledgers.
    pub fn ledger(&self) -> Ledger {
        self.informers.iter().fold(Ledger::default(), |sum, informer| sum.plus(informer.ledger()))
    }

    /// Whether every ledger balances.
    pub fn is_balanced(&self) -> bool {
        self.informers.iter().all(Informer::is_balanced)
    }

    /// Keys and received deltas that wait.
    pub fn queued(&self) -> (usize, u64) {
        let queues = self.informers.iter().map(Informer::queue);
        queues.fold((0, 0), |(keys, deltas), queue| (keys + queue.len(), deltas + queue.queued()))
    }

    /// The worst of the informers' healths.
    pub fn health(&self, now: f64) -> Health {
        let worst = |health: &Health| match health {
            Health::Live => 0,
            Health::Listing => 1,
            Health::Connecting => 2,
            Health::Stale => 3,
            Health::Stopped => 4,
            Health::Forbidden => 5,
        };
        self.informers.iter().map(|informer| informer.health(now)).max_by_key(worst).unwrap_or(Health::Connecting)
    }

    /// How many objects the lists under way have brought so far; `None` while nothing is being listed.
    pub fn listing(&self) -> Option<usize> {
        let counts: Vec<usize> = self.informers.iter().filter_map(|informer| informer.reflector().listing()).collect();
        (!counts.is_empty()).then(|| counts.iter().sum())
    }

    /// How long ago the server was last heard, in milliseconds: the longest of the informers' silences.
    pub fn age(&self, now: f64) -> Option<f64> {
        let heard = self.informers.iter().map(|informer| informer.reflector().heard());
        heard.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::min).map(|heard| (now - heard).max(0.0))
    }

    /// Why what is shown may not be true, in the server's words, and in which namespace.
    pub fn complaint(&self) -> Option<Complaint<'_>> {
        self.informers.iter().zip(&self.scopes).find_map(|(informer, scope)| {
            let failure = informer.reflector().failure()?;
            Some(Complaint {
                words: &failure.words,
                code: failure.code,
                namespace: &scope.namespace,
                retry_at: informer.reflector().retry_at(),
            })
        })
    }

    /// Whether everything waits because nothing answers.
    pub fn is_unreachable(&self) -> bool {
        self.informers.iter().any(|informer| informer.reflector().is_unreachable())
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
