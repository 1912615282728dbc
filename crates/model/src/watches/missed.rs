//! What happened while a kind was not watched: the difference between what was known before and what the next list brings.

use kubechurn_client::api::object::{Object, ObjectKey, ResourceVersion};
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::shared_informer::ReceivedDelta;
use rustc_hash::FxHashMap;

use crate::timeline::mark::grouped;
use crate::timeline::scene::duration;

/// Of a kind with more objects it is not remembered how each was.
const MOST_OBJECTS: usize = 50_000;
/// How many objects that are gone are named.
const MOST_NAMES: usize = 3;
/// How many kinds are named.
const MOST_KINDS: usize = 3;
/// How long after a gap another kind's gap may end and still be shown with it, in milliseconds.
const TOGETHER: f64 = 1_000.0;

/// A time in which kinds were not watched, and what came of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Missed {
    /// Since when, in milliseconds.
    pub from: f64,
    /// Until when.
    pub to: f64,
    kinds: Vec<&'static str>,
    new: u64,
    changed: u64,
    gone: u64,
    /// The first of those that are gone.
    names: Vec<ObjectKey>,
}

impl Missed {
    fn is_nothing(&self) -> bool {
        self.new + self.changed + self.gone == 0
    }

    fn lost(&mut self, key: &ObjectKey) {
        self.gone += 1;
        if self.names.len() < MOST_NAMES {
            self.names.push(key.clone());
        }
    }

    /// What came of it, for the user: `Pods not watched for 7 s: 1 gone (shop/a), 2 changed`.
    pub fn words(&self) -> String {
        let kinds = match self.kinds.len() {
            0..=MOST_KINDS => self.kinds.join(", "),
            count => format!("{count} kinds"),
        };
        let mut parts = Vec::new();
        if self.gone > 0 {
            let names = self.names.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let more = if self.gone > self.names.len() as u64 { ", …" } else { "" };
            parts.push(format!("{} gone ({names}{more})", grouped(self.gone)));
        }
        for (count, word) in [(self.changed, "changed"), (self.new, "new")] {
            if count > 0 {
                parts.push(format!("{} {word}", grouped(count)));
            }
        }
        let what = if parts.is_empty() { "nothing changed".into() } else { parts.join(", ") };
        let whole_seconds = ((self.to - self.from) / 1_000.0).round() * 1_000.0;
        format!("{kinds} not watched for {}: {what}", duration(whole_seconds))
    }
}

/// A kind that was let go.
#[derive(Debug)]
struct Left {
    resource: ApiResource,
    scopes: Vec<Scope>,
    objects: FxHashMap<Uid, (ObjectKey, ResourceVersion)>,
    missed: Missed,
    /// How many first lists are not complete, once the kind is watched again.
    waits: Option<usize>,
}

/// The kinds that are not watched for a time, or whose watch broke.
#[derive(Debug, Default)]
pub struct Absences {
    left: Vec<Left>,
    /// What lists have brought so far that follow a break.
    relists: FxHashMap<InformerId, Missed>,
    /// What is to be shown.
    found: Vec<Missed>,
}

impl Absences {
    /// A kind is let go, of which these objects are known.
    pub fn leave<'a>(
        &mut self,
        (resource, title): (ApiResource, &'static str),
        scopes: &[Scope],
        objects: impl Iterator<Item = &'a Object>,
        now: f64,
    ) {
        self.left.retain(|left| left.resource != resource);
        let objects: FxHashMap<_, _> = objects
            .take(MOST_OBJECTS + 1)
            .map(|object| (object.uid.clone(), (object.key.clone(), object.resource_version.clone())))
            .collect();
        if objects.len() <= MOST_OBJECTS {
            let missed = Missed { from: now, kinds: vec![title], ..Missed::default() };
            self.left.push(Left { resource, scopes: scopes.to_vec(), objects, missed, waits: None });
        }
    }

    /// A kind is watched in these scopes, by new informers.
    pub fn return_to(&mut self, resource: ApiResource, scopes: &[Scope]) {
        // In other scopes other objects are listed.
        self.left.retain(|left| left.resource != resource || left.scopes == scopes);
        let left = self.left.iter_mut().find(|left| left.resource == resource);
        left.into_iter().for_each(|left| left.waits = Some(scopes.len()));
    }

    /// Something was received; `is_first` says whether before the end of a first list.
    pub fn received(&mut self, id: InformerId, resource: ApiResource, is_first: bool, received: &ReceivedDelta<'_>) {
        let object = received.object;
        if is_first {
            let left = self.left.iter_mut().find(|left| left.resource == resource && left.waits.is_some());
            let Some(left) = left.filter(|_| received.delta_type == DeltaType::Replaced) else { return };
            match left.objects.remove(&object.uid) {
                None => left.missed.new += 1,
                Some((_, version)) => left.missed.changed += u64::from(version != object.resource_version),
            }
            return;
        }
        match (received.delta_type, received.text) {
            (DeltaType::Replaced, _) => {
                let missed = self.relists.entry(id).or_default();
                if missed.to > 0.0 {
                    // The list before followed no gap.
                    *missed = Missed::default();
                }
                *(if received.was_known { &mut missed.changed } else { &mut missed.new }) += 1;
            }
            (DeltaType::Deleted, None) => self.relists.entry(id).or_default().lost(&object.key),
            _ => {}
        }
    }

    /// The first list of one of a kind's informers is complete.
    pub fn listed(&mut self, resource: ApiResource, now: f64) {
        let Some(at) = self.left.iter().position(|left| left.resource == resource) else { return };
        let Some(waits) = &mut self.left[at].waits else { return };
        *waits -= 1;
        if *waits > 0 {
            return;
        }
        let Left { objects, missed, .. } = self.left.swap_remove(at);
        let mut missed = Missed { to: now, ..missed };
        objects.values().for_each(|(key, _)| missed.lost(key));
        // Who comes back to a kind in which nothing happened need not hear of it.
        if !missed.is_nothing() {
            self.add(missed);
        }
    }

    /// An informer's watch is whole again after a gap.
    pub fn gap(&mut self, id: InformerId, title: &'static str, from: f64, to: f64) {
        // A watch that goes on from its version has missed nothing.
        if let Some(missed) = self.relists.remove(&id).filter(|missed| from <= missed.to) {
            self.add(Missed { from, to, kinds: vec![title], ..missed });
        }
    }

    /// An informer has listed everything again, whatever that has brought.
    pub fn relisted(&mut self, id: InformerId, at: f64) {
        self.relists.entry(id).or_default().to = at;
    }

    /// Joins gaps of one time.
    fn add(&mut self, missed: Missed) {
        let same = self.found.iter_mut().find(|known| known.from < missed.to && missed.from < known.to + TOGETHER);
        let Some(known) = same else { return self.found.push(missed) };
        (known.from, known.to) = (known.from.min(missed.from), known.to.max(missed.to));
        (known.new, known.changed, known.gone) =
            (known.new + missed.new, known.changed + missed.changed, known.gone + missed.gone);
        if !known.kinds.contains(&missed.kinds[0]) {
            known.kinds.extend(missed.kinds);
        }
        known.names.extend(missed.names);
        known.names.truncate(MOST_NAMES);
    }

    /// The next of what is to be shown until a time, once no other kind's is to be shown with it.
    pub fn take(&mut self, until: f64) -> Option<Missed> {
        let at = self.found.iter().position(|missed| missed.to + TOGETHER <= until)?;
        Some(self.found.remove(at))
    }
}
