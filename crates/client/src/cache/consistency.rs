//! Whether the store holds what the server holds: client-go's `util/consistencydetector`.
//!
//! The server is asked which objects exist at exactly the version that the watch has come to, and the answer is compared with
//! the store as it was at that version. The store goes on changing in the meantime: for each object that changes, a
//! [`Journal`] keeps what it was before, so that the store need not be copied when a comparison begins. Pages are compared as
//! they come. Objects that the server did not name are then looked for, a slice of the store at a time.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use hashbrown::HashSet;

use crate::api::list;
use crate::api::object::{DecodeError, KeyRef, Object, ObjectKey, ResourceVersion};
use crate::api::request::ExactListRequest;
use crate::api::uid::Uid;
use crate::cache::journal::{Identity, JOURNAL, Journal};
use crate::cache::queue::Queue;
use crate::cache::reflector::{Health, PAGE};
use crate::cache::shared_informer::SharedInformer;
use crate::cache::store::Store;
use crate::json::{self, Text};

/// How many differences are kept for inspection. The number of all is counted.
pub const KEPT: usize = 100;
/// How many objects are looked at in one slice: a few milliseconds of work.
const SLICE: usize = 4096;

/// An object that is not the same in the store and at the server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The key of the object.
    pub key: ObjectKey,
    /// What the store holds; `None` if it does not hold the object.
    pub ours: Option<Identity>,
    /// What the server holds; `None` if it does not hold the object.
    pub theirs: Option<Identity>,
}

/// The differences: their number, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// How many.
    pub total: u64,
    /// The first of them, at most [`KEPT`].
    pub kept: Vec<Difference>,
}

impl Differences {
    /// Counts a difference, and keeps it if there is room.
    pub fn push(&mut self, difference: Difference) {
        self.total += 1;
        if self.kept.len() < KEPT {
            self.kept.push(difference);
        }
    }
}

/// Why a comparison cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotYet {
    /// The watch is not live, so that what is held is not known to be true.
    NotLive(Health),
    /// Something that was received still waits to be applied.
    Queued,
    /// The server gives no version that a list could be asked for.
    NoVersion,
}

/// Why an answer cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CannotCompare {
    /// The answer is no list.
    #[error("the answer is no list: {0}")]
    NoList(DecodeError),
    /// The answer is a list as of another version.
    #[error("it answered as of version {answered} where version {asked} was asked for")]
    OtherVersion {
        /// The version that was asked for.
        asked: ResourceVersion,
        /// The version of the answer.
        answered: ResourceVersion,
    },
    /// An item of the answer says nothing that could be compared.
    #[error("an item of the answer could not be read: {0}")]
    Item(DecodeError),
    /// The list names an object twice, or goes on after a page without items: such a list may never end.
    #[error("its list repeats itself")]
    Repeats,
    /// More objects changed in the meantime than a journal keeps.
    #[error("more than {JOURNAL} objects changed while it answered")]
    TooMuchChanged,
}

/// What comes next in a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask the server for another page.
    Ask(ExactListRequest),
    /// The answer is complete: [`Comparison::work`] looks for what it did not name.
    Work,
    /// Nothing: the comparison is done.
    Done,
}

/// The keys that a server has named, as hashes of 64 bits. The hasher is not the one of the other tables, because that has
/// only 32 bits in wasm, where two of 150,000 keys would have the same hash too often.
type Seen = HashSet<u64, BuildHasherDefault<DefaultHasher>>;

/// A comparison of one informer's store with the server.
#[derive(Debug)]
pub struct Comparison {
    version: ResourceVersion,
    /// How many objects the store held at that version.
    held: usize,
    /// How many of them the server has named.
    named: usize,
    token: Option<String>,
    seen: Seen,
    same: u64,
    differences: Differences,
    /// The objects that are still to be looked for among the named ones, and what changed of them.
    left: Option<(std::vec::IntoIter<Arc<Object>>, Journal)>,
}

/// What a comparison found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compared {
    /// As of which version.
    pub version: ResourceVersion,
    /// How many objects were the same.
    pub same: u64,
    /// What was not.
    pub differences: Differences,
}

impl Compared {
    /// How many objects were compared: those that the store or the server held.
    pub fn of(&self) -> u64 {
        self.same + self.differences.total
    }
}

impl Comparison {
    /// Begins a comparison at the version that an informer's watch has come to. It is to be called after a drain, for the
    /// store is at that version only while nothing waits in the queue.
    ///
    /// # Errors
    ///
    /// Why there is nothing to compare at this moment.
    pub fn begin(informer: &mut SharedInformer, now: f64) -> Result<Comparison, NotYet> {
        let health = informer.health(now);
        if health != Health::Live {
            return Err(NotYet::NotLive(health));
        }
        if !informer.has_synced() || !informer.queue().is_empty() {
            return Err(NotYet::Queued);
        }
        let version = informer.reflector().resource_version().clone();
        if !version.is_comparable() {
            return Err(NotYet::NoVersion);
        }
        informer.keep_journal(true);
        Ok(Comparison {
            version,
            held: informer.store().len(),
            named: 0,
            token: None,
            seen: Seen::default(),
            same: 0,
            differences: Differences::default(),
            left: None,
        })
    }

    /// As of which version it compares.
    pub fn version(&self) -> &ResourceVersion {
        &self.version
    }

    /// How many objects the server has named, and about how many there are.
    pub fn progress(&self) -> (usize, usize) {
        (self.seen.len(), self.held.max(self.seen.len()))
    }

    /// The request for the next page.
    pub fn request(&self) -> ExactListRequest {
        ExactListRequest { resource_version: self.version.clone(), limit: PAGE, continue_token: self.token.clone() }
    }

    /// Compares a page of the answer.
    ///
    /// # Errors
    ///
    /// Why the answer cannot be compared. Then the comparison is over.
    pub fn page(&mut self, bytes: &[u8], informer: &mut SharedInformer) -> Result<Next, CannotCompare> {
        let text = std::str::from_utf8(bytes).map_err(|error| CannotCompare::NoList(error.into()))?;
        let page = list::page(text).map_err(CannotCompare::NoList)?;
        if page.meta.resource_version != self.version {
            let (asked, answered) = (self.version.clone(), page.meta.resource_version);
            return Err(CannotCompare::OtherVersion { asked, answered });
        }
        let store = informer.store();
        if store.journal().is_none_or(Journal::is_full) {
            return Err(CannotCompare::TooMuchChanged);
        }
        let before = self.seen.len();
        for item in &page.items {
            let item = identity(item).map_err(CannotCompare::Item)?;
            if !self.seen.insert(hash(&item.namespace, &item.name)) {
                return Err(CannotCompare::Repeats);
            }
            let (uid, resource_version) = (Uid::new(&item.uid), ResourceVersion::new(&item.resource_version));
            self.compare(item.key(), Identity { uid, resource_version }, store);
        }
        if page.meta.continue_token.is_some() && self.seen.len() == before {
            return Err(CannotCompare::Repeats);
        }
        self.token = page.meta.continue_token;
        if self.token.is_some() {
            return Ok(Next::Ask(self.request()));
        }
        if self.named == self.held {
            return Ok(Next::Done);
        }
        self.collect(informer);
        Ok(Next::Work)
    }

    fn compare(&mut self, key: KeyRef<'_>, theirs: Identity, store: &Store) {
        let journal = store.journal().and_then(|journal| journal.before.get(&key));
        let ours = match journal {
            Some(before) => before.clone(),
            None => store.find(key).map(|object| Identity::from(&**object)),
        };
        self.named += usize::from(ours.is_some());
        if ours.as_ref() == Some(&theirs) {
            self.same += 1;
        } else {
            let key = ObjectKey::new(key.namespace, key.name);
            self.differences.push(Difference { key, ours, theirs: Some(theirs) });
        }
    }

    /// Keeps what the store holds now, and the journal: the server has not named some of these objects.
    fn collect(&mut self, informer: &mut SharedInformer) {
        let journal = informer.keep_journal(false).unwrap_or_default();
        let held: Vec<Arc<Object>> = informer.store().iter().cloned().collect();
        self.left = Some((held.into_iter(), journal));
    }

    fn is_seen(&self, key: &ObjectKey) -> bool {
        self.seen.contains(&hash(&key.namespace, &key.name))
    }

    fn unnamed(&mut self, key: &ObjectKey, ours: Identity) {
        if !self.is_seen(key) {
            self.differences.push(Difference { key: key.clone(), ours: Some(ours), theirs: None });
        }
    }

    /// Looks at a slice of the objects for those that the server has not named. Returns whether that was the last slice.
    pub fn work(&mut self) -> bool {
        let Some((mut held, mut journal)) = self.left.take() else { return true };
        for object in held.by_ref().take(SLICE) {
            if !journal.before.contains_key(&object.key) {
                self.unnamed(&object.key, Identity::from(&*object));
            }
        }
        if held.len() > 0 {
            self.left = Some((held, journal));
            return false;
        }
        // An object that changed in the meantime counts as it was before.
        for (key, before) in journal.before.drain() {
            if let Some(ours) = before {
                self.unnamed(&key, ours);
            }
        }
        true
    }

    /// Ends the comparison, and returns what it found.
    pub fn end(self, informer: &mut SharedInformer) -> Compared {
        informer.keep_journal(false);
        Compared { version: self.version, same: self.same, differences: self.differences }
    }
}

fn hash(namespace: &str, name: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one((namespace, name))
}

/// What identifies an item, and its version.
struct Metadata<'a> {
    name: Text<'a>,
    namespace: Text<'a>,
    uid: Text<'a>,
    resource_version: Text<'a>,
}

impl Metadata<'_> {
    fn key(&self) -> KeyRef<'_> {
        KeyRef { namespace: &self.namespace, name: &self.name }
    }
}

/// Reads what identifies an item, and its version, and nothing else of it.
fn identity(item: &str) -> Result<Metadata<'_>, DecodeError> {
    let paths = ["metadata name", "metadata namespace", "metadata uid", "metadata resourceVersion"];
    let [name, namespace, uid, version, ..] = json::pick(item, &paths)?;
    let metadata = Metadata {
        name: Text::read(name)?,
        namespace: Text::read(namespace)?,
        uid: Text::read(uid)?,
        resource_version: Text::read(version)?,
    };
    if metadata.name.is_empty() { Err(DecodeError::NoName) } else { Ok(metadata) }
}
