//! Everything that is watched, and what is in view of it: one kind, or several in one table.

mod wanted;

pub use wanted::{Around, Rewatched, Wanted};

use std::ops::{Deref, DerefMut};

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::reflector::Health;
use rustc_hash::FxHashMap;

use crate::kind_id::KindId;
use crate::page::account::Account;
use crate::page::audit::AuditLog;
use crate::page::joint::Joint;
use crate::page::notices::Announcer;
use crate::page::resync::Resyncs;
use crate::page::sheet::Sheet;
use crate::page::watched::{Watched, worst};
use crate::table::kinds::Kind;
use crate::table::view::{Retention, TableView};
use crate::timeline::Timeline;

/// The watched kinds, those in view first.
#[derive(Debug, Default)]
pub struct Watches {
    watched: Vec<Watched>,
    in_view: usize,
    /// The table of those in view, where they are several.
    joint: Option<Joint>,
    /// What was seen of kinds that are no longer watched, by the page's names for them.
    past: FxHashMap<&'static str, Timeline>,
    /// How many bytes a timeline may take, where that was said.
    limit: Option<usize>,
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

impl DerefMut for Watches {
    fn deref_mut(&mut self) -> &mut [Watched] {
        &mut self.watched
    }
}

impl Watches {
    /// Takes the watched kinds out, to be given back with [`Watches::put`].
    fn take_out(&mut self) -> Vec<Watched> {
        self.in_view = 0;
        std::mem::take(&mut self.watched)
    }

    /// Puts kinds there, the first `in_view` of them in view, and says which informers ended by what is let go.
    /// Whether the table of several is another one than before is told, too.
    fn put(
        &mut self,
        watched: Vec<Watched>,
        in_view: usize,
        informers: &mut SharedInformerFactory,
        announcer: &mut Announcer,
        now: f64,
    ) -> (Vec<InformerId>, bool) {
        (self.watched, self.in_view) = (watched, in_view);
        let joins = in_view > 1;
        for (at, member) in self.watched.iter_mut().enumerate() {
            member.keep_table(!joins || at >= in_view, informers, now);
        }
        let members = &mut self.watched[..in_view];
        if joins == self.joint.is_some() && self.joint.as_ref().is_none_or(|joint| joint.is_of(members)) {
            return (Vec::new(), false);
        }
        // The new one comes before the old one goes: an informer that both look at goes on.
        let new = joins.then(|| Joint::new(members, informers, announcer, now));
        let old = std::mem::replace(&mut self.joint, new);
        (old.map_or_else(Vec::new, |old| old.end(informers, announcer)), true)
    }

    /// Lets go of the table of several, and says which informers ended by that.
    fn part(&mut self, informers: &mut SharedInformerFactory, announcer: &mut Announcer) -> Vec<InformerId> {
        self.joint.take().map_or_else(Vec::new, |joint| joint.end(informers, announcer))
    }

    /// The kinds in view that are watched.
    pub fn members(&self) -> &[Watched] {
        &self.watched[..self.in_view]
    }

    /// The kinds that are watched and not in view.
    pub fn others_mut(&mut self) -> &mut [Watched] {
        &mut self.watched[self.in_view..]
    }

    /// The table that shows what an informer holds; `None` where it is none of the watched ones.
    pub fn table_of(&self, id: InformerId) -> Option<TableOf<'_>> {
        let is_of = |watched: &Watched| watched.informer_ids().any(|own| own == id);
        let at = self.watched.iter().position(is_of)?;
        let watched = &self.watched[at];
        let namespace = watched.sources().find(|(own, _)| *own == id).map(|(_, scope)| &*scope.namespace)?;
        Some(match self.joint.as_ref().filter(|_| at < self.in_view) {
            Some(joint) => TableOf {
                view: &joint.sheet().view,
                kind: KindId(at as u8),
                namespace,
                informers: self.members().iter().flat_map(Watched::informer_ids).collect(),
            },
            None => TableOf {
                view: watched.view(),
                kind: KindId::ONLY,
                namespace,
                informers: watched.informer_ids().collect(),
            },
        })
    }

    /// A kind in view.
    pub fn member(&self, kind: &Kind) -> Option<&Watched> {
        self.members().iter().find(|member| member.kind().resource == kind.resource)
    }

    /// The rows and marks in view; `None` where nothing in view is watched.
    fn sheet(&self) -> Option<&Sheet> {
        self.joint.as_ref().map(Joint::sheet).or_else(|| self.members().first().map(Watched::sheet))
    }

    fn sheet_mut(&mut self) -> Option<&mut Sheet> {
        let alone = self.watched[..self.in_view].first_mut().map(Watched::sheet_mut);
        self.joint.as_mut().map(Joint::sheet_mut).or(alone)
    }

    /// The rows in view; `None` where nothing in view is watched.
    pub fn view(&self) -> Option<&TableView> {
        self.sheet().map(|sheet| &sheet.view)
    }

    /// The rows in view, to be sorted, filtered or held.
    pub fn view_mut(&mut self) -> Option<&mut TableView> {
        self.sheet_mut().map(|sheet| &mut sheet.view)
    }

    /// The marks of what is in view.
    pub fn timeline(&self) -> Option<&Timeline> {
        self.sheet().map(|sheet| &sheet.timeline)
    }

    /// The marks of what is in view, to be looked at from another place.
    pub fn timeline_mut(&mut self) -> Option<&mut Timeline> {
        self.sheet_mut().map(|sheet| &mut sheet.timeline)
    }

    /// Gives an object in view a lane on the timeline, if it is there and has none; `kind` is its kind's number.
    pub fn attend(&mut self, kind: KindId, key: &ObjectKey) {
        if let Some(sheet) = self.sheet_mut() {
            sheet.attend(kind, key);
        }
    }

    /// Whether every ledger balances, and whatever the tables and timelines were told is in one place. It takes no longer
    /// where there are more rows.
    pub fn is_balanced(&self, informers: &SharedInformerFactory) -> bool {
        let joint = self.joint.as_ref().map(|joint| joint.account(self.members(), informers));
        self.iter().all(|watched| watched.is_balanced(informers)) && joint.is_none_or(|joint| joint.is_balanced())
    }

    /// Where everything is that was told to what is in view; `None` where nothing in view is watched.
    pub fn account(&self, informers: &SharedInformerFactory) -> Option<Account> {
        let joint = self.joint.as_ref().map(|joint| joint.account(self.members(), informers));
        joint.or_else(|| self.members().first().map(|member| member.account(informers)))
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

    /// From now on every timeline takes at most so many bytes.
    pub fn limit_timelines(&mut self, budget: usize) {
        self.limit = Some(budget);
        let joint = self.joint.iter_mut().map(|joint| &mut joint.sheet_mut().timeline);
        let all = self.watched.iter_mut().map(Watched::timeline_mut).chain(joint).chain(self.past.values_mut());
        all.for_each(|timeline| timeline.limit(budget));
    }

    /// What all marks take.
    pub fn timeline_bytes(&self) -> usize {
        let joint = self.joint.as_ref().map_or(0, |joint| joint.sheet().timeline.bytes());
        joint + self.iter().map(|watched| watched.timeline().bytes()).sum::<usize>()
    }

    /// Has every table and timeline take what the informers have for it, and lets rows of deleted objects go that have stayed for so long;
    /// none of the table in view while the user is `busy` on it. Whether a table has still to hear of what was there when
    /// it came.
    pub fn take(&mut self, informers: &mut SharedInformerFactory, retention: Retention, busy: bool, now: f64) -> bool {
        let mut left = false;
        for watched in &mut self.watched {
            left |= watched.take(informers);
        }
        if let Some(joint) = &mut self.joint {
            left |= joint.take(informers);
        }
        let alone = self.joint.is_none();
        let views = self.watched.iter_mut().map(Watched::view_mut).enumerate();
        let views = views.map(|(at, view)| (alone && at < self.in_view, view));
        for (in_view, view) in views.chain(self.joint.iter_mut().map(|joint| (true, &mut joint.sheet_mut().view))) {
            view.retain_for(retention);
            if !(in_view && busy) || view.overflows() {
                view.expire(now);
            }
        }
        left
    }

    /// Has every table and store write down from now on what happens to it.
    pub fn write_down(&mut self, audit: &AuditLog) {
        self.watched.iter_mut().for_each(|watched| watched.sheet_mut().audit = audit.clone());
        if let Some(joint) = &mut self.joint {
            joint.sheet_mut().audit = audit.clone();
        }
    }

    /// Has every timeline and counter be told again what is known, as often as that was chosen. Which informers do so at
    /// another time from now on.
    pub fn resync(&self, informers: &mut SharedInformerFactory, resyncs: &Resyncs, now: f64) -> Vec<InformerId> {
        let mut changed = Vec::new();
        self.watched.iter().for_each(|watched| watched.resync(informers, resyncs, now, &mut changed));
        if let Some(joint) = &self.joint {
            joint.resync(informers, resyncs, now, &mut changed);
        }
        changed
    }

    /// Has every timeline hear what the page has to say.
    pub fn hear(&mut self, announcer: &mut Announcer) {
        self.watched.iter_mut().for_each(|watched| watched.hear(announcer));
        if let Some(joint) = &mut self.joint {
            joint.hear(announcer);
        }
    }

    /// Draws the time without knowledge while it lasts: to be called a few times a second.
    pub fn look(&mut self, informers: &SharedInformerFactory, now: f64) {
        self.watched.iter_mut().for_each(|watched| watched.look(informers, now));
        if let Some(joint) = &mut self.joint {
            joint.look(&self.watched[..self.in_view], informers, now);
        }
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
