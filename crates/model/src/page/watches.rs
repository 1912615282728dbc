//! Everything that is watched, and what is in view of it: one kind, or several in one table.

mod view;
mod wanted;

pub use wanted::{Around, Rewatched, Wanted};

use std::ops::Deref;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::reflector::Health;
use kubechurn_client::cache::shared_informer::SharedInformer;
use rustc_hash::FxHashMap;

use crate::kind_id::KindId;
use crate::page::account::Account;
use crate::page::audit::AuditLog;
use crate::page::notices::Announcer;
use crate::page::resync::Resyncs;
use crate::page::watched::{Watched, worst};
use crate::page::watches::view::View;
use crate::table::kinds::Kind;
use crate::table::view::{Retention, TableView};
use crate::timeline::marks::Marks;
use crate::timeline::{Timeline, TimelineMut};

/// The watched kinds, those in view first.
#[derive(Debug, Default)]
pub struct Watches {
    watched: Vec<Watched>,
    in_view: usize,
    /// The view of those in view, if there are any, and then a view of each of the others.
    views: Vec<View>,
    /// What was seen of kinds that are no longer watched, by the page's names for them.
    past: FxHashMap<&'static str, Marks>,
    /// How many bytes the marks of a kind may take, where that was said.
    limit: Option<usize>,
    audit: AuditLog,
}

/// A table, and what of it is an informer's.
#[derive(Debug)]
pub struct TableOf<'a> {
    /// The rows.
    pub view: &'a TableView,
    /// The number that the informer's kind has there.
    pub kind: KindId,
    /// The namespace that the informer is of; empty for all.
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
    /// Each view with its members.
    fn parts(&self) -> impl Iterator<Item = (&View, &[Watched])> {
        let mut watched = &self.watched[..];
        self.views.iter().map(move |view| {
            let (members, rest) = watched.split_at(view.len());
            watched = rest;
            (view, members)
        })
    }

    fn parts_mut(&mut self) -> impl Iterator<Item = (&mut View, &mut [Watched])> {
        let mut watched = &mut self.watched[..];
        self.views.iter_mut().map(move |view| {
            let (members, rest) = std::mem::take(&mut watched).split_at_mut(view.len());
            watched = rest;
            (view, members)
        })
    }

    /// The view of what is in view.
    fn main(&self) -> Option<&View> {
        self.views.first().filter(|_| self.in_view > 0)
    }

    /// The kinds in view that are watched.
    pub fn members(&self) -> &[Watched] {
        &self.watched[..self.in_view]
    }

    /// The tables of the kinds that are watched and not in view.
    pub fn others_mut(&mut self) -> impl Iterator<Item = &mut TableView> {
        let others = self.views.iter_mut().skip(usize::from(self.in_view > 0));
        others.map(|view| &mut view.table)
    }

    /// The table that shows what an informer holds; `None` where it is none of the watched ones.
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

    /// A kind in view.
    pub fn member(&self, kind: &Kind) -> Option<&Watched> {
        self.members().iter().find(|member| member.kind().resource == kind.resource)
    }

    /// The rows in view; `None` where nothing in view is watched.
    pub fn view(&self) -> Option<&TableView> {
        self.main().map(|view| &view.table)
    }

    /// The rows in view, to be sorted, filtered or held.
    pub fn view_mut(&mut self) -> Option<&mut TableView> {
        let view = self.views.first_mut().filter(|_| self.in_view > 0);
        view.map(|view| &mut view.table)
    }

    /// The timeline of what is in view; `None` where nothing in view is watched.
    pub fn timeline(&self) -> Option<Timeline<'_>> {
        let marks = self.members().iter().map(Watched::marks);
        Some(Timeline::new(marks.collect(), &self.main()?.chart))
    }

    /// The timeline of what is in view, to be drawn.
    pub fn timeline_mut(&mut self) -> Option<TimelineMut<'_>> {
        let marks = self.watched[..self.in_view].iter().map(Watched::marks);
        let view = self.views.first_mut().filter(|_| self.in_view > 0)?;
        Some(TimelineMut::new(marks.collect(), &mut view.chart))
    }

    /// Gives an object in view a lane on the timeline, if it is there and has none; `kind` is its kind's number.
    pub fn attend(&mut self, kind: KindId, key: &ObjectKey) {
        let view = self.views.first().filter(|_| self.in_view > 0);
        let member = self.watched[..self.in_view].get_mut(kind.index());
        if let (Some(view), Some(member)) = (view, member) {
            member.attend((&view.table, kind), key);
        }
    }

    /// Whether every ledger balances, and whatever the tables, marks and counters were told is in one place. It takes no
    /// longer where there are more rows.
    pub fn is_balanced(&self, informers: &SharedInformerFactory) -> bool {
        let mut all = self.iter().flat_map(|watched| watched.informers(informers));
        all.all(SharedInformer::is_balanced)
            && self.iter().all(|watched| watched.account(informers).is_balanced())
            && self.parts().all(|(view, members)| view.account(members, informers).is_balanced())
    }

    /// Where everything is that was told to what is in view; `None` where nothing in view is watched.
    pub fn account(&self, informers: &SharedInformerFactory) -> Option<Account> {
        Some(self.main()?.account(self.members(), informers))
    }

    /// Where everything is that was told to the watched kind at this place, its table included where no other kind shares
    /// it; `None` where there is no such place.
    pub fn account_of(&self, at: usize, informers: &SharedInformerFactory) -> Option<Account> {
        let watched = self.watched.get(at)?;
        let is_its = |(_, members): &(&View, &[Watched])| members.first().is_some_and(|one| std::ptr::eq(one, watched));
        let alone = self.parts().find(is_its).filter(|(view, _)| view.len() == 1);
        Some(alone.map_or_else(|| watched.account(informers), |(view, members)| view.account(members, informers)))
    }

    /// The watch that holds the most objects, and how many those are.
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

    /// From now on the marks of each kind take at most so many bytes.
    pub fn limit_timelines(&mut self, budget: usize) {
        self.limit = Some(budget);
        let all = self.watched.iter_mut().map(Watched::marks_mut).chain(self.past.values_mut());
        all.for_each(|marks| marks.limit(budget));
    }

    /// What the marks of all watched kinds take, in bytes, with what is remembered of their drawing.
    pub fn timeline_bytes(&self) -> usize {
        let charts: usize = self.views.iter().map(|view| view.chart.bytes()).sum();
        charts + self.iter().map(|watched| watched.marks().bytes()).sum::<usize>()
    }

    /// Has every table and all marks and counters take what the informers have for them, and lets rows of deleted objects go
    /// that have stayed for so long; none of the table in view while the user is `busy` on it. Whether a table has still to
    /// hear of what was there when it came.
    pub fn take(&mut self, informers: &mut SharedInformerFactory, retention: Retention, busy: bool, now: f64) -> bool {
        let (audit, has_main) = (self.audit.clone(), self.in_view > 0);
        let mut left = false;
        for (at, (view, members)) in self.parts_mut().enumerate() {
            left |= view.take(members, informers, &audit);
            let (table, in_view) = (&mut view.table, has_main && at == 0);
            table.retain_for(retention);
            if !(in_view && busy) || table.overflows() {
                table.expire(now);
            }
        }
        left
    }

    /// Has every table and store write down from now on what happens to it.
    pub fn write_down(&mut self, audit: &AuditLog) {
        self.audit = audit.clone();
    }

    /// Has all marks and counters be told again what is known, as often as that was chosen. Which informers do so at
    /// another time from now on.
    pub fn resync(&self, informers: &mut SharedInformerFactory, resyncs: &Resyncs, now: f64) -> Vec<InformerId> {
        let mut changed = Vec::new();
        self.watched.iter().for_each(|watched| watched.resync(informers, resyncs, now, &mut changed));
        changed
    }

    /// Has every kind mark what the page has to say.
    pub fn hear(&mut self, announcer: &mut Announcer) {
        self.watched.iter_mut().for_each(|watched| watched.hear(announcer));
    }

    /// Begins and ends the times without knowledge: to be called a few times a second.
    pub fn look(&mut self, informers: &SharedInformerFactory, now: f64) {
        self.watched.iter_mut().for_each(|watched| watched.look(informers, now));
    }

    /// The worst of the healths in view; `None` where nothing in view is watched.
    pub fn health(&self, informers: &SharedInformerFactory, now: f64) -> Option<Health> {
        worst(self.members().iter().map(|member| member.health(informers, now)))
    }

    /// How many objects are known of what is in view.
    pub fn items(&self, informers: &SharedInformerFactory) -> usize {
        self.members().iter().map(|member| member.items(informers)).sum()
    }

    /// How long ago the server was last heard of each, in milliseconds: the longest of the silences.
    pub fn age(&self, informers: &SharedInformerFactory, now: f64) -> Option<f64> {
        let ages = self.members().iter().map(|member| member.age(informers, now));
        ages.collect::<Option<Vec<f64>>>()?.into_iter().reduce(f64::max)
    }
}
