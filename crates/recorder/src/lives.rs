//! The objects of which versions are kept, or were.

use hashbrown::HashMap;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use rustc_hash::FxBuildHasher;

/// For how many objects the number of dropped versions is remembered, of which none is kept.
const REMEMBERED: usize = 4096;
/// The memory of one life, in bytes: its entry, its places in the indexes, and what the allocator adds. An upper estimate.
const LIFE: usize = 288;

/// One object, from its creation to its deletion.
#[derive(Clone, Debug)]
pub struct Life {
    /// The number of its resource: see [`Lives::resource`].
    pub resource: u16,
    /// Its key.
    pub key: ObjectKey,
    /// Its uid.
    pub uid: Uid,
    /// The number of its newest version in each log.
    pub(crate) newest: [Option<u64>; 3],
    /// The greatest of the marks that stand for its versions: see [`Record::version`](crate::log::Record::version).
    pub(crate) greatest: u64,
    /// How many of its versions are kept.
    pub kept: u32,
    /// How many of its versions were dropped.
    pub dropped: u64,
}

/// Lives by their numbers and names.
#[derive(Debug, Default)]
pub struct Lives {
    lives: HashMap<u32, Life, FxBuildHasher>,
    /// The lives that had a name, the oldest first. Mostly it is one.
    by_name: HashMap<(u16, ObjectKey), Vec<u32>, FxBuildHasher>,
    resources: Vec<ApiResource>,
    next: u32,
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

    /// The number of a life, which begins if it is not known.
    pub fn number(&mut self, resource: ApiResource, key: &ObjectKey, uid: &Uid) -> u32 {
        let resource = self.resource_number(resource);
        let numbers = self.by_name.entry((resource, key.clone())).or_default();
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
        numbers.push(number);
        let dropped = self.dropped.remove(uid).unwrap_or(0);
        self.lives.insert(
            number,
            Life { resource, key: key.clone(), uid: uid.clone(), newest: [None; 3], greatest: 0, kept: 0, dropped },
        );
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
        let resource = self.known_resource(resource);
        let numbers = resource.and_then(|number| self.by_name.get(&(number, key.clone())));
        numbers.into_iter().flatten().filter_map(|number| self.lives.get(number))
    }

    /// A version of a life was dropped. When none is left, the life is forgotten, but for how many there were.
    pub fn dropped_one(&mut self, number: u32) {
        let Some(life) = self.lives.get_mut(&number) else { return };
        life.kept = life.kept.saturating_sub(1);
        life.dropped += 1;
        self.forget_if_empty(number);
    }

    /// Counts versions of an object, of which nothing is kept, as dropped.
    pub fn remember_dropped(&mut self, uid: Uid, count: u64) {
        if self.dropped.len() >= REMEMBERED {
            self.dropped.clear();
            self.forgot = true;
        }
        *self.dropped.entry(uid).or_default() += count;
    }

    /// Forgets a life of which nothing is kept.
    pub fn forget_if_empty(&mut self, number: u32) {
        if self.lives.get(&number).is_none_or(|life| life.kept > 0) {
            return;
        }
        let Some(life) = self.lives.remove(&number) else { return };
        let name = (life.resource, life.key);
        if let Some(numbers) = self.by_name.get_mut(&name) {
            numbers.retain(|known| *known != number);
            if numbers.is_empty() {
                self.by_name.remove(&name);
            }
        }
        self.remember_dropped(life.uid, life.dropped);
    }

    /// The number of an object that is known.
    pub fn find(&self, resource: ApiResource, key: &ObjectKey, uid: &Uid) -> Option<u32> {
        let numbers = self.by_name.get(&(self.known_resource(resource)?, key.clone()))?;
        numbers.iter().rev().copied().find(|number| self.lives.get(number).is_some_and(|life| life.uid == *uid))
    }

    /// How many versions of an object were dropped, and whether there may have been more.
    pub fn dropped(&self, uid: &Uid, resource: ApiResource, key: &ObjectKey) -> (u64, bool) {
        let known = self.named(resource, key).find(|life| life.uid == *uid);
        let dropped = known.map_or_else(|| self.dropped.get(uid).copied().unwrap_or(0), |life| life.dropped);
        (dropped, self.forgot)
    }
}
