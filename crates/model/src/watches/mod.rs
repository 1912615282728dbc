//! Everything that is watched, and which of it is in view: one kind, or several in one table.

pub mod account;
pub mod audit;
pub mod counters;
pub mod course;
pub mod drain;
pub mod listing;
pub mod memory;
pub mod missed;
pub mod notices;
pub mod rates;
pub mod resync;
mod view;
mod wanted;
pub mod watched;

pub use wanted::{Around, Rewatched, Wanted};

use std::ops::Deref;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::queue::Queue;
use kubechurn_client::cache::reflector::Health;
use kubechurn_client::cache::shared_informer::SharedInformer;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::kind_id::KindId;
use crate::table::view::{Retention, TableView};
use crate::timeline::lane::Lane;
use crate::timeline::marks::{self, Marks, NOT_WATCHED};
use crate::timeline::{Timeline, TimelineMut};
use crate::watches::account::Account;
use crate::watches::audit::AuditLog;
use crate::watches::missed::Absences;
use crate::watches::notices::{Announcer, subject};
use crate::watches::resync::Resyncs;
use crate::watches::view::View;
use crate::watches::watched::{Watched, worst};
use kubechurn_columns::kinds::Kind;

/// The watched kinds, those in view first, and their views.
#[derive(Debug, Default)]
pub struct Watches {
    /// The members of `main`, and then those of `others`, in the order of the views.
    watched: Vec<Watched>,
    /// The view of the kinds that the user looks at; `None` where there are none.
    main: Option<View>,
    /// A view of each kind that is pinned and not in view.
    others: Vec<View>,
    /// How many views were ever made.
    views_made: u64,
    /// What the cluster is called whose kinds name none.
    home: &'static str,
    /// The marks of kinds that are no longer watched, by the page's names for the kinds.
    past: FxHashMap<&'static str, Marks>,
    /// What happens to kinds while they are not watched.
    pub absences: Absences,
    /// How many bytes the marks of a kind may take, where that was limited.
    limit: Option<usize>,
    /// Whether what a first list brings from now on is not shown yet.
    paused: bool,
    audit: AuditLog,
}

/// A table that shows the objects of an informer, and which of its rows those are.
#[derive(Debug)]
pub struct TableOf<'a> {
    /// The rows.
    pub view: &'a TableView,
    /// The number of the informer's kind in the table.
    pub kind: KindId,
    /// The namespace that the informer watches; empty for all.
    pub namespace: &'a str,
    /// Every informer whose objects the table shows.
    pub informers: Vec<InformerId>,
}

impl Deref for Watches {
    type Target = [Watched];

    fn deref(&self) -> &[Watched] {
        &self.watched
    }
}

impl Watches {
    /// No watches yet. The cluster whose kinds name none is called `home`.
    pub fn at_home(home: &'static str) -> Watches {
        Watches { home, ..Watches::default() }
    }

    /// Each view with its members, the one that the user looks at first.
    fn parts(&self) -> impl Iterator<Item = (&View, &[Watched])> {
        let mut watched = &self.watched[..];
        self.main.iter().chain(&self.others).map(move |view| {
            let (members, rest) = watched.split_at(view.len());
            watched = rest;
            (view, members)
        })
    }

    fn parts_mut(&mut self) -> impl Iterator<Item = (&mut View, &mut [Watched])> {
        let mut watched = &mut self.watched[..];
        self.main.iter_mut().chain(&mut self.others).map(move |view| {
            let (members, rest) = std::mem::take(&mut watched).split_at_mut(view.len());
            watched = rest;
            (view, members)
        })
    }

    /// The kinds in view that are watched.
    pub fn members(&self) -> &[Watched] {
        &self.watched[..self.main.as_ref().map_or(0, View::len)]
    }

    /// The tables of the kinds that are watched and not in view.
    pub fn others_mut(&mut self) -> impl Iterator<Item = &mut TableView> {
        self.others.iter_mut().map(|view| &mut view.table)
    }

    /// The table that shows what an informer holds; `None` where the informer is of no watched kind.
    pub fn table_of(&self, id: InformerId) -> Option<TableOf<'_>> {
        self.parts().find_map(|(view, members)| {
            let sources = (0..)
                .map(KindId)
                .zip(members)
                .flat_map(|(kind, member)| member.sources().map(move |(own, scope)| (own, kind, scope)));
            let (_, kind, scope) = sources.into_iter().find(|(own, ..)| *own == id)?;
            let informers = members.iter().flat_map(Watched::informer_ids).collect();
            Some(TableOf { view: &view.table, kind, namespace: &scope.namespace, informers })
        })
    }

    /// Every kind that is watched, with the table that has its rows and its number there.
    fn tables(&self) -> impl Iterator<Item = (&Watched, &TableView, KindId)> {
        self.parts().flat_map(|(view, members)| {
            (0..).map(KindId).zip(members).map(move |(kind, member)| (member, &view.table, kind))
        })
    }

    /// How many rows of the watched kind at this place are provisional.
    pub fn provisional(&self, at: usize) -> usize {
        self.tables().nth(at).map_or(0, |(_, table, kind)| table.provisional_of(kind))
    }

    /// Whether the row of an object is provisional: a list that is not complete has brought the object.
    pub fn is_provisional(&self, kind: &Kind, key: &ObjectKey) -> bool {
        let row = self
            .tables()
            .find(|(member, ..)| member.kind() == kind)
            .and_then(|(_, table, kind)| table.row(table.find(kind, key)?));
        row.is_some_and(|row| row.provisional)
    }

    /// The watch of a kind in view.
    pub fn member(&self, kind: &Kind) -> Option<&Watched> {
        self.members().iter().find(|member| member.kind().resource == kind.resource)
    }

    /// All tables, that in view first.
    pub fn all_tables(&self) -> impl Iterator<Item = &TableView> {
        self.parts().map(|(view, _)| &view.table)
    }

    /// The rows in view; `None` where nothing in view is watched.
    pub fn view(&self) -> Option<&TableView> {
        self.main.as_ref().map(|view| &view.table)
    }

    /// The rows in view, to be sorted, filtered or held.
    pub fn view_mut(&mut self) -> Option<&mut TableView> {
        self.main.as_mut().map(|view| &mut view.table)
    }

    /// The timeline of the kinds in view; `None` where nothing in view is watched.
    pub fn timeline(&self) -> Option<Timeline<'_>> {
        let (view, members) = self.parts().next().filter(|_| self.main.is_some())?;
        Some(Timeline::new(members.iter().map(Watched::marks).collect(), &view.chart))
    }

    /// The timeline of the kinds in view, to be drawn.
    pub fn timeline_mut(&mut self) -> Option<TimelineMut<'_>> {
        let view = self.main.as_mut()?;
        let members = &self.watched[..view.len()];
        Some(TimelineMut::new(members.iter().map(Watched::marks).collect(), &mut view.chart))
    }

    /// The number of the view that the user looks at, another one for each; 0 where there is none.
    pub fn view_number(&self) -> u64 {
        self.main.as_ref().map_or(0, |view| view.number)
    }

    /// Hides the lanes of objects that the filter takes away, as far as they have changed since a time. `found` are the
    /// objects of which the feed shows a change, and whether they alone pass; `then` are the rows of another moment, if that is
    /// shown.
    pub fn hide_lanes(&mut self, since: f64, found: Option<(&FxHashSet<&Uid>, bool)>, then: Option<&TableView>) {
        let Some(view) = &mut self.main else { return };
        let mut is_news = false;
        let (table, members) = (then.unwrap_or(&view.table), &mut self.watched[..view.len()]);
        for (kind, member) in (0..).map(KindId).zip(members) {
            let mut passes = |lane: &Lane| {
                let is_found = found.is_some_and(|(uids, _)| lane.uids().any(|uid| uids.contains(uid)));
                is_found || (!found.is_some_and(|(_, alone)| alone) && table.passes(kind, &lane.key))
            };
            is_news |= member.marks_mut().hide_lanes(since, &mut passes);
        }
        if is_news && since == f64::NEG_INFINITY {
            view.chart.must_settle();
        }
    }

    /// Gives an object in view a lane on the timeline, if the object has a row and no lane. `kind` is the number of its
    /// kind.
    pub fn attend(&mut self, kind: KindId, key: &ObjectKey) {
        let Some(view) = &self.main else { return };
        if let Some(member) = self.watched[..view.len()].get_mut(kind.index()) {
            member.attend((&view.table, kind), key);
        }
    }

    /// Whether every ledger balances, and everything of which the tables, marks and counters were notified is in one place. The
    /// number of rows does not matter for how long this takes.
    pub fn is_balanced(&self, informers: &SharedInformerFactory) -> bool {
        let mut all = self.iter().flat_map(|watched| watched.informers(informers));
        all.all(SharedInformer::is_balanced)
            && self.iter().all(|watched| watched.account(informers).is_balanced())
            && self.parts().all(|(view, members)| view.account(members, informers).is_balanced())
    }

    /// Where everything is of which the table, the marks and the counters of the kinds in view were notified; `None` where
    /// nothing in view is watched.
    pub fn account(&self, informers: &SharedInformerFactory) -> Option<Account> {
        Some(self.main.as_ref()?.account(self.members(), informers))
    }

    /// The account of one watched kind, by its place among them. It includes the table, unless several kinds share
    /// that. `None` where there is no such place.
    pub fn account_of(&self, at: usize, informers: &SharedInformerFactory) -> Option<Account> {
        let watched = self.watched.get(at)?;
        let is_alone = |members: &[Watched]| matches!(members, [one] if std::ptr::eq(one, watched));
        let alone = self.parts().find(|(_, members)| is_alone(members));
        Some(alone.map_or_else(|| watched.account(informers), |(view, members)| view.account(members, informers)))
    }

    /// The informer that holds the most objects, those queued and listed included, with its kind and their number.
    /// `None` where all have stopped.
    pub fn largest(&self, informers: &SharedInformerFactory) -> Option<(InformerId, &'static Kind, usize)> {
        let all = self.iter().flat_map(|watched| watched.sources().map(move |(id, _)| (id, watched.kind())));
        let held = all.filter_map(|(id, kind)| {
            let informer = informers.get(id)?;
            let reflector = informer.reflector();
            let count = informer.store().len() + reflector.listing().unwrap_or(0) + informer.queue().len();
            (reflector.health(0.0) != Health::Stopped).then_some((id, kind, count))
        });
        held.max_by_key(|(.., count)| *count)
    }

    /// From now on the marks of each kind take at most so many bytes, also those of kinds that are watched later.
    pub fn limit_timelines(&mut self, budget: usize) {
        self.limit = Some(budget);
        let all = self.watched.iter_mut().map(Watched::marks_mut).chain(self.past.values_mut());
        all.for_each(|marks| marks.limit(budget));
    }

    /// How many bytes the marks of all watched kinds take, together with what is remembered of how they are drawn.
    pub fn timeline_bytes(&self) -> usize {
        let charts: usize = self.parts().map(|(view, _)| view.chart.bytes()).sum();
        charts + self.iter().map(|watched| watched.marks().bytes()).sum::<usize>()
    }

    /// Has every table, all marks and all counters take what the informers have for them. Then the rows of deleted
    /// objects go that have stayed for as long as `retention` says; from the table in view no row goes while the user
    /// is `busy` there. Returns whether a table has still to hear of objects that were known before the table was made,
    /// or that a first list has brought.
    pub fn take(&mut self, informers: &mut SharedInformerFactory, retention: Retention, busy: bool, now: f64) -> bool {
        let (audit, has_main, paused) = (self.audit.clone(), self.main.is_some(), self.paused);
        let mut left = false;
        for (at, (view, members)) in self.parts_mut().enumerate() {
            left |= view.take(members, informers, &audit, paused);
            let (table, in_view) = (&mut view.table, has_main && at == 0);
            table.retain_for(retention);
            if !(in_view && busy) || table.deleted().overflow() {
                table.expire(now);
            }
            left |= table.has_leaving();
        }
        let all = self.watched.iter_mut().map(Watched::marks_mut).chain(self.past.values_mut());
        marks::keep_within(marks::BUDGET, all);
        left
    }

    /// While the page is paused the queues are not drained, and no table shows more of a first list.
    pub fn pause(&mut self, paused: bool) {
        self.paused = paused;
    }

    /// From now on it is written down what every store takes in and every table shows.
    pub fn write_down(&mut self, audit: &AuditLog) {
        self.audit = audit.clone();
    }

    /// Has all marks and counters be notified again of what is known, as often as that was chosen. Returns the informers that
    /// have another period from now on.
    pub fn resync(&self, informers: &mut SharedInformerFactory, resyncs: &Resyncs, now: f64) -> Vec<InformerId> {
        let mut changed = Vec::new();
        self.watched.iter().for_each(|watched| watched.resync(informers, resyncs, now, &mut changed));
        changed
    }

    /// Has every kind mark what was announced since the last call.
    pub fn receive_notices(&mut self, announcer: &mut Announcer) {
        self.watched.iter_mut().for_each(|watched| watched.receive_notices(announcer));
    }

    /// Begins a gap for each kind that is not heard any more, and ends the gaps of those that are heard again: to be
    /// called a few times a second.
    pub fn look(&mut self, informers: &SharedInformerFactory, now: f64) {
        self.watched.iter_mut().for_each(|watched| watched.look(informers, now));
    }

    /// The kinds in view that count for what is said of all of them: not those without which the page does.
    fn needed<'a>(&'a self, informers: &'a SharedInformerFactory, now: f64) -> impl Iterator<Item = &'a Watched> {
        self.members().iter().filter(move |member| !member.is_done_without(informers, now))
    }

    /// Whether an informer is of a kind for which nobody asked.
    pub fn is_optional(&self, id: InformerId) -> bool {
        self.iter().any(|watched| watched.optional && watched.informer_ids().any(|own| own == id))
    }

    /// The worst health of the kinds in view; `None` where nothing in view is watched.
    pub fn health(&self, informers: &SharedInformerFactory, now: f64) -> Option<Health> {
        worst(self.needed(informers, now).map(|member| member.health(informers, now)))
    }

    /// How many objects of the kinds in view are known.
    pub fn items(&self, informers: &SharedInformerFactory) -> usize {
        self.members().iter().map(|member| member.items(informers)).sum()
    }

    /// How long ago the server was last heard, in milliseconds; of several kinds in view the longest time. `None` where
    /// one of them was never heard.
    pub fn age(&self, informers: &SharedInformerFactory, now: f64) -> Option<f64> {
        let ages = self.needed(informers, now).map(|member| member.age(informers, now));
        ages.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
    }

    /// Watches what is wanted, in its order. What is no longer wanted is let go last, so that an informer that gets a
    /// new handler goes on, and the rows of its objects are there at once.
    pub fn watch(&mut self, wanted: &Wanted<'_>, around: &mut Around<'_>) -> Rewatched {
        let mut ended = Vec::new();
        let main_before = self.main.as_ref().map(|view| view.number);
        // What has arrived is marked while the rows are there that it is about.
        self.take_marks(around.informers);
        // A kind whose columns are others now is let go first: its informer decodes objects into the old columns.
        let is_other =
            |old: &Watched| wanted.kinds.iter().any(|kind| kind.resource == old.kind().resource && *kind != old.kind());
        let before = std::mem::take(&mut self.watched);
        let (others, mut before): (Vec<_>, Vec<_>) = before.into_iter().partition(is_other);
        let has_other = |view: &View| others.iter().any(|other| view.schema().kinds().contains(&other.kind()));
        let (end, mut views): (Vec<_>, Vec<_>) = self.take_views().partition(has_other);
        ended.extend(end.into_iter().flat_map(|view| view.end(around.informers)));
        for watched in others {
            ended.extend(self.leave(watched, around));
        }
        let mut after = Vec::new();
        for kind in &wanted.kinds {
            let scopes = wanted.scopes(kind);
            let same = before.iter().position(|watched| watched.kind() == *kind && watched.scopes() == scopes);
            after.push(match same {
                Some(at) => before.remove(at),
                None => {
                    self.absences.return_to(kind.resource, &scopes);
                    let Around { informers, announcer, now } = around;
                    Watched::new(kind, scopes, informers, announcer, *now)
                }
            });
        }
        for watched in before {
            ended.extend(self.leave(watched, around));
        }
        for watched in &mut after {
            watched.optional = wanted.is_optional(watched.kind());
            // Marks that the kind had in other scopes, or before it was let go, stay.
            if let Some(mut past) = self.past.remove(watched.kind().name) {
                past.close_gap(around.now);
                watched.go_on_with(past);
            }
            if let Some(limit) = self.limit {
                watched.marks_mut().limit(limit);
            }
        }
        // New views come before the old ones go, so that an informer that both look at goes on.
        let count = after.iter().filter(|watched| wanted.is_in_view(watched.kind())).count();
        let (in_view, others) = after.split_at(count);
        self.main = (!in_view.is_empty()).then(|| self.view_of(in_view, &mut views, around));
        self.others = others.chunks(1).map(|alone| self.view_of(alone, &mut views, around)).collect();
        self.watched = after;
        ended.extend(views.into_iter().flat_map(|view| view.end(around.informers)));
        Rewatched { ended, is_other: self.main.as_ref().map(|view| view.number) != main_before }
    }

    /// The view of these members: one of `views`, if it is of them, or a new one.
    fn view_of(&mut self, members: &[Watched], views: &mut Vec<View>, around: &mut Around<'_>) -> View {
        if let Some(at) = views.iter().position(|view| view.is_of(members)) {
            return views.swap_remove(at);
        }
        self.views_made += 1;
        View::new(self.views_made, members, self.home, around.informers, around.now)
    }

    /// Takes all views out.
    fn take_views(&mut self) -> impl Iterator<Item = View> + use<> {
        self.main.take().into_iter().chain(std::mem::take(&mut self.others))
    }

    /// Has all marks and counters take what the informers have for them.
    fn take_marks(&mut self, informers: &mut SharedInformerFactory) {
        let audit = self.audit.clone();
        for (view, members) in self.parts_mut() {
            view.take_marks(members, informers, &audit);
        }
    }

    /// Lets go of every view, so that the next call of [`Watches::watch`] makes the tables anew from what the stores
    /// hold. Returns the informers that ended because they have no handler any more.
    pub fn let_go_of_tables(&mut self, around: &mut Around<'_>) -> Vec<InformerId> {
        self.take_marks(around.informers);
        self.take_views().flat_map(|view| view.end(around.informers)).collect()
    }

    /// Lets go of a kind, and keeps its marks. Returns the informers that ended because they have no handler any more.
    fn leave(&mut self, watched: Watched, around: &mut Around<'_>) -> Vec<InformerId> {
        let (kind, informers) = (watched.kind(), &*around.informers);
        if watched.informers(informers).all(|informer| informer.has_synced()) {
            let objects = watched.objects(informers).map(|object| &**object);
            self.absences.leave((kind.resource, subject(&kind.resource)), watched.scopes(), objects, around.now);
        }
        let name = kind.name;
        let (mut marks, ended) = watched.end(around.informers, around.announcer);
        marks.open_gap(around.now, NOT_WATCHED);
        self.past.insert(name, marks);
        ended
    }
}
