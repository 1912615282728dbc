//! The objects of which versions are kept, or were.

use std::num::NonZero;

use hashbrown::HashMap;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use rustc_hash::FxBuildHasher;

use crate::log::Record;

/// For how many objects the number of dropped versions is remembered, of which none is kept.
const REMEMBERED: usize = 4096;
/// The memory of one life, in bytes: its entry, its places in the indexes, and what the allocator adds. An upper estimate.
const LIFE: usize = 288;

/// The number of a version. Where there may be none, it takes no more room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number(NonZero<u64>);

impl Number {
    pub(crate) fn of(sequence: u64) -> Option<Number> {
        NonZero::new(sequence.wrapping_add(1)).map(Number)
    }

    pub(crate) fn get(self) -> u64 {
        self.0.get() - 1
    }
}

/// One object, from its creation to its deletion.
#[derive(Clone, Debug)]
pub struct Life {
    /// Its number: see [`Record::life`].
    pub number: u32,
    /// The number of its resource: see [`Lives::resource`].
    pub resource: u16,
    /// Its key.
    pub key: ObjectKey,
    /// Its uid.
    pub uid: Uid,
    /// The number of its newest version in each log.
    pub(crate) newest: [Option<Number>; 3],
    /// The greatest of the marks that stand for its versions: see [`Record::version`].
    pub(crate) greatest: u64,
    /// How many of its versions are kept.
    pub kept: u32,
    /// How many of its versions were dropped.
    pub dropped: u64,
    /// The number of the first version that was received of it; 0 where there may have been one before.
    pub(crate) first: u64,
    /// The number of the newest version that was received of it, kept or not; or of what took over its name.
    pub(crate) last: u64,
    /// Whether that is its end.
    pub(crate) is_gone: bool,
    /// The number of the newest of its deletions that is not kept any more. Of an object that comes and goes in what a selector
    /// picks there may be several.
    pub(crate) dropped_end: Option<Number>,
}

impl Life {
    /// The number of its newest version in each log.
    pub(crate) fn newest(&self) -> [Option<u64>; 3] {
        self.newest.map(|newest| newest.map(Number::get))
    }
}

/// Lives by their numbers and names.
#[derive(Debug, Default)]
pub struct Lives {
    lives: HashMap<u32, Life, FxBuildHasher>,
    /// For each resource the lives that had a name, the oldest first. Mostly it is one.
    by_name: Vec<HashMap<ObjectKey, Vec<u32>, FxBuildHasher>>,
    resources: Vec<ApiResource>,
    next: u32,
    /// How many lives there are of which no version is kept.
    empty: usize,
    /// How many of these there may be.
    most_empty: usize,
    /// After so many versions had been received, nothing came of a life that was forgotten later.
    whole_from: u64,
    /// Whether a life was forgotten that was not over.
    has_lost: bool,
    /// How many versions were dropped of objects of which none is kept.
    dropped: HashMap<Uid, u64, FxBuildHasher>,
    /// Whether some of these numbers were forgotten.
    forgot: bool,
}

impl Lives {
    /// The memory that is taken, in bytes.
    pub fn memory(&self) -> usize {
        self.lives.len() * LIFE
    }

    /// The number of a resource. Resources are few, and their names are never freed.
    fn resource_number(&mut self, resource: ApiResource) -> u16 {
        self.known_resource(resource).unwrap_or_else(|| {
            self.resources.push(resource);
            self.by_name.push(HashMap::default());
            (self.resources.len() - 1) as u16
        })
    }

    fn known_resource(&self, resource: ApiResource) -> Option<u16> {
        // What differs most comes first: groups and versions are mostly the same.
        let is_it = |known: &ApiResource| known.plural == resource.plural && *known == resource;
        self.resources.iter().position(is_it).map(|number| number as u16)
    }

    /// The resource with this number.
    pub fn resource(&self, number: u16) -> Option<ApiResource> {
        self.resources.get(usize::from(number)).copied()
    }

    /// The resources of which something was received.
    pub fn resources(&self) -> impl Iterator<Item = ApiResource> {
        self.resources.iter().copied()
    }

    /// The number of a life, which begins with this version if it is not known. `was_known` says whether whoever received the
    /// version has known the object before.
    pub fn number(
        &mut self,
        (resource, key, uid): (ApiResource, &ObjectKey, &Uid),
        sequence: u64,
        was_known: bool,
    ) -> u32 {
        let resource = self.resource_number(resource);
        let numbers = self.by_name[usize::from(resource)].entry(key.clone()).or_default();
        let known = numbers.iter().rev().find(|number| self.lives.get(*number).is_some_and(|life| life.uid == *uid));
        if let Some(number) = known {
            return *number;
        }
        // Numbers come again after four billion lives, when those that had them are long gone.
        while self.lives.contains_key(&self.next) {
            self.next = self.next.wrapping_add(1);
        }
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        // What takes over a name ends what had it, whether a deletion was seen or not.
        let mut ended = None;
        for other in numbers.iter() {
            if let Some(life) = self.lives.get_mut(other).filter(|life| !life.is_gone) {
                (life.last, life.is_gone, ended) = (sequence, true, Some(*other));
            }
        }
        numbers.push(number);
        let dropped = self.dropped.remove(uid).unwrap_or(0);
        // Of a life that was forgotten it is not known when it began.
        let first = if was_known && self.whole_from > 0 { 0 } else { sequence };
        let (key, uid, newest, is_gone) = (key.clone(), uid.clone(), [None; 3], false);
        let (greatest, kept, last, dropped_end) = (0, 0, sequence, None);
        let life =
            Life { number, resource, key, uid, newest, greatest, kept, dropped, first, last, is_gone, dropped_end };
        self.lives.insert(number, life);
        self.empty += 1;
        if let Some(ended) = ended {
            self.forget_if_empty(ended);
        }
        number
    }

    /// One life.
    pub fn get(&self, number: u32) -> Option<&Life> {
        self.lives.get(&number)
    }

    /// One life, to be changed.
    pub fn get_mut(&mut self, number: u32) -> Option<&mut Life> {
        self.lives.get_mut(&number)
    }

    /// The lives that had a name, the oldest first.
    pub fn named(&self, resource: ApiResource, key: &ObjectKey) -> impl Iterator<Item = &Life> {
        self.of_name(resource, key).into_iter().flatten().filter_map(|number| self.lives.get(number))
    }

    /// The names of the objects of a resource, each with the numbers of the lives that had it, the oldest first.
    pub fn names(&self, resource: ApiResource) -> impl Iterator<Item = (&ObjectKey, &[u32])> {
        let names = self.known_resource(resource).and_then(|number| self.by_name.get(usize::from(number)));
        names.into_iter().flatten().map(|(key, numbers)| (key, numbers.as_slice()))
    }

    /// How many names there are of objects of a resource.
    pub fn count(&self, resource: ApiResource) -> usize {
        self.known_resource(resource).map_or(0, |number| self.by_name[usize::from(number)].len())
    }

    /// The numbers of the lives that had a name, the oldest first.
    pub fn of_name(&self, resource: ApiResource, key: &ObjectKey) -> Option<&[u32]> {
        Some(self.by_name.get(usize::from(self.known_resource(resource)?))?.get(key)?)
    }

    /// A version of a life is kept.
    pub fn kept_one(&mut self, number: u32) {
        let Some(life) = self.lives.get_mut(&number) else { return };
        life.kept += 1;
        self.empty -= usize::from(life.kept == 1);
    }

    /// A kept version of a life was dropped.
    pub fn dropped_one(&mut self, record: &Record) {
        let Some(life) = self.lives.get_mut(&record.life).filter(|life| life.kept > 0) else { return };
        life.kept -= 1;
        life.dropped += 1;
        self.empty += usize::from(life.kept == 0);
        // Of the moments before the end, or before what came after it, it is not known any more whether the object was there.
        let end = life.dropped_end.filter(|end| end.get() > record.sequence);
        if record.delta_type == DeltaType::Deleted {
            life.dropped_end = end.or(Number::of(record.sequence));
            self.lose(record.sequence, true);
        } else if life.dropped_end.is_some() && end.is_none() {
            life.dropped_end = None;
            self.lose(record.sequence, true);
        }
        self.forget_if_empty(record.life);
    }

    /// After so many versions had been received, nothing came of a life that was forgotten later; and whether a life was
    /// forgotten that was not over.
    pub fn whole_from(&self) -> (u64, bool) {
        (self.whole_from, self.has_lost)
    }

    /// This version is the last that is remembered of its object.
    pub fn lose(&mut self, sequence: u64, is_gone: bool) {
        self.whole_from = self.whole_from.max(sequence + 1);
        self.has_lost |= !is_gone;
    }

    /// From now on lives of which nothing is kept take at most so many bytes.
    pub fn limit(&mut self, budget: usize) {
        self.most_empty = budget / LIFE;
        if self.empty > self.most_empty {
            let empty: Vec<u32> =
                self.lives.iter().filter(|(_, life)| life.kept == 0).map(|(number, _)| *number).collect();
            empty.into_iter().for_each(|number| self.forget_if_empty(number));
        }
    }

    /// Counts versions of an object, of which nothing is kept, as dropped.
    pub fn remember_dropped(&mut self, uid: Uid, count: u64) {
        if self.dropped.len() >= REMEMBERED {
            self.dropped.clear();
            self.forgot = true;
        }
        *self.dropped.entry(uid).or_default() += count;
    }

    /// Forgets a life of which nothing is kept, but for how many versions there were, if the life is over. Of the others as
    /// many are remembered as there is room for: they are objects that exist.
    pub fn forget_if_empty(&mut self, number: u32) {
        let is_full = self.empty > self.most_empty;
        if self.lives.get(&number).is_none_or(|life| life.kept > 0 || !(life.is_gone || is_full)) {
            return;
        }
        let Some(life) = self.lives.remove(&number) else { return };
        self.empty -= 1;
        self.lose(life.last, life.is_gone);
        if let Some(names) = self.by_name.get_mut(usize::from(life.resource))
            && let Some(numbers) = names.get_mut(&life.key)
        {
            numbers.retain(|known| *known != number);
            if numbers.is_empty() {
                names.remove(&life.key);
            }
        }
        self.remember_dropped(life.uid, life.dropped);
    }

    /// The number of an object that is known.
    pub fn find(&self, resource: ApiResource, key: &ObjectKey, uid: &Uid) -> Option<u32> {
        let numbers = self.of_name(resource, key)?;
        numbers.iter().rev().copied().find(|number| self.lives.get(number).is_some_and(|life| life.uid == *uid))
    }

    /// How many versions of an object were dropped, and whether there may have been more.
    pub fn dropped(&self, uid: &Uid, resource: ApiResource, key: &ObjectKey) -> (u64, bool) {
        let known = self.named(resource, key).find(|life| life.uid == *uid);
        let dropped = known.map_or_else(|| self.dropped.get(uid).copied().unwrap_or(0), |life| life.dropped);
        (dropped, self.forgot)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_life_is_as_small_as_its_estimate_says() {
        let by_name = size_of::<ObjectKey>() + size_of::<Vec<u32>>() + 4 * size_of::<u32>();
        assert!(size_of::<Life>() + size_of::<u32>() + by_name <= LIFE * 3 / 4, "{}", size_of::<Life>());
    }
}
