//! Whether what is held is what the server holds: client-go's `util/consistencydetector`, for whoever looks at it.
//!
//! The server is asked for who exists at exactly the version that the watch has come to, and its answer is compared
//! with the store as it was at that version. The store goes on changing meanwhile: a [`Journal`] keeps, of each object
//! that changes, how it was before, so that nothing is copied when a comparison begins, and none takes longer for what
//! has not changed. Pages are compared as they come, and what the server did not name is looked for in slices.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;

use hashbrown::HashSet;
use serde::Deserialize;

use crate::api::list;
use crate::api::object::{DecodeError, KeyRef, Object, ObjectKey, ResourceVersion, map};
use crate::api::request::ExactListRequest;
use crate::api::text::Text;
use crate::api::uid::Uid;
use crate::cache::journal::{Identity, JOURNAL, Journal};
use crate::cache::reflector::{Health, PAGE};
use crate::cache::shared_informer::SharedInformer;
use crate::cache::store::Store;

/// How many differences are kept for inspection. All are counted.
pub const KEPT: usize = 100;
/// How many objects are looked at in one slice: a few milliseconds of work.
const SLICE: usize = 4096;

/// An object that is not the same here and there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Which.
    pub key: ObjectKey,
    /// As it is held here; `None` if it is not.
    pub ours: Option<Identity>,
    /// As the server, or whoever is asked, has it; `None` if it does not.
    pub theirs: Option<Identity>,
}

/// What differs: all counted, the first ones kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Differences {
    /// How many.
    pub total: u64,
    /// The first of them, at most [`KEPT`].
    pub kept: Vec<Difference>,
}

impl Differences {
    /// Takes one in.
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
    /// What is held is not known to be true.
    NotLive(Health),
    /// What was received waits to be applied.
    Queued,
    /// The server gives no versions that can be asked for.
    NoVersion,
}

/// Why an answer cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum CannotCompare {
    /// It is no list.
    #[error("the answer is no list: {0}")]
    NoList(DecodeError),
    /// It is a list as of another version.
    #[error("it answered as of version {answered} where version {asked} was asked for")]
    OtherVersion {
        /// The version that was asked for.
        asked: ResourceVersion,
        /// The one that was answered.
        answered: ResourceVersion,
    },
    /// One of its items says nothing that could be compared.
    #[error("an item of the answer could not be read: {0}")]
    Item(DecodeError),
    /// It names an object twice, or goes on without an item: such a list may never end.
    #[error("its list repeats itself")]
    Repeats,
    /// More changed in the meantime than can be kept in mind.
    #[error("more than {JOURNAL} objects changed while it answered")]
    TooMuchChanged,
}

/// What comes next in a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Ask the server for another page.
    Ask(ExactListRequest),
    /// Everything was answered: [`Comparison::work`] finds what the answer did not name.
    Work,
    /// It is done.
    Done,
}

/// The names that a server has told, as hashes of 64 bits, in the page too, where the usual hasher has 32.
type Seen = HashSet<u64, BuildHasherDefault<DefaultHasher>>;

/// A comparison of one informer's store with the server.
#[derive(Debug)]
pub struct Comparison {
    version: ResourceVersion,
    /// How many objects were held at that version.
    held: usize,
    /// How many of them the server has named.
    named: usize,
    token: Option<String>,
    seen: Seen,
    same: u64,
    differences: Differences,
    /// What is still to be looked for among the names.
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
    /// How many objects were compared: those that either side has.
    pub fn of(&self) -> u64 {
        self.same + self.differences.total
    }
}

impl Comparison {
    /// Begins at the version that an informer's watch has come to. What is held is of that version only while nothing waits
    /// in the queue: it is to be called after a drain.
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

    /// How many objects the server has named, and how many there are about.
    pub fn progress(&self) -> (usize, usize) {
        (self.seen.len(), self.held.max(self.seen.len()))
    }

    /// The page that is to be asked for.
    pub fn request(&self) -> ExactListRequest {
        ExactListRequest { resource_version: self.version.clone(), limit: PAGE, continue_token: self.token.clone() }
    }

    /// Compares a page of the answer.
    ///
    /// # Errors
    ///
    /// Why the answer cannot be compared; nothing more comes of this comparison then.
    pub fn page(&mut self, bytes: &[u8], informer: &mut SharedInformer) -> Result<Next, CannotCompare> {
        let text = std::str::from_utf8(bytes).map_err(|error| CannotCompare::NoList(error.into()))?;
        let page = list::page(text).map_err(CannotCompare::NoList)?;
        if page.resource_version != self.version {
            let (asked, answered) = (self.version.clone(), page.resource_version);
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
        if page.continue_token.is_some() && self.seen.len() == before {
            return Err(CannotCompare::Repeats);
        }
        self.token = page.continue_token;
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

    /// Some of what was held has not been named. All that is held now is kept, to be looked through beside the journal.
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

    /// Looks through a slice of what the server has not named. Whether it is done.
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
        // What changed in the meantime counts as it was.
        for (key, before) in journal.before.drain() {
            if let Some(ours) = before {
                self.unnamed(&key, ours);
            }
        }
        true
    }

    /// What it found, once it is done.
    pub fn end(self, informer: &mut SharedInformer) -> Compared {
        informer.keep_journal(false);
        Compared { version: self.version, same: self.same, differences: self.differences }
    }
}

fn hash(namespace: &str, name: &str) -> u64 {
    BuildHasherDefault::<DefaultHasher>::default().hash_one((namespace, name))
}

/// Who an item is.
#[derive(Deserialize, Default)]
#[serde(rename_all = "camelCase", default)]
struct Metadata<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    namespace: Text<'a>,
    #[serde(borrow)]
    uid: Text<'a>,
    #[serde(borrow)]
    resource_version: Text<'a>,
}

impl Metadata<'_> {
    fn key(&self) -> KeyRef<'_> {
        KeyRef { namespace: &self.namespace, name: &self.name }
    }
}

/// Reads who an item is, and nothing else of it.
fn identity(item: &str) -> Result<Metadata<'_>, DecodeError> {
    #[derive(Deserialize)]
    struct Item<'a> {
        #[serde(borrow)]
        metadata: Metadata<'a>,
    }
    let item: Item<'_> = serde_json::from_str(map(item)?)?;
    if item.metadata.name.is_empty() { Err(DecodeError::NoName) } else { Ok(item.metadata) }
}
