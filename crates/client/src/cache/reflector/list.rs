//! A list in pages that is under way: its items so far, and how far its page has come.

use crate::api::list::{ListMeta, ListReader};
use crate::api::object::{DecodeError, Object, ResourceVersion};
use crate::api::request::ListRequest;
use crate::api::status::{Failure, Verdict};
use crate::cache::delta::DeltaType;
use crate::cache::reflector::notice::Notice;
use crate::cache::reflector::objects::Objects;
use crate::cache::reflector::reader::ObjectReader;
use crate::cache::reflector::socket::STALLED;
use crate::cache::reflector::store::ReflectorStore;
use crate::cache::reflector::unread::Unread;

/// A list of more items than this counts as one that never ends: the largest clusters have 150,000 Pods (kubernetes,
/// "Considerations for large clusters").
const MOST: usize = 1_000_000;
/// A page of which nothing has arrived within this time, in milliseconds, counts as failed; servers and proxies may
/// need a minute to begin with a large one.
const LISTING: f64 = 120_000.0;

/// A list that comes by fetch. All times are milliseconds.
#[derive(Clone, Debug)]
pub(super) struct List {
    /// The items so far.
    pub(super) items: Objects,
    /// The items that could not be read.
    unread: Unread,
    /// The version of the first page, which is that of the list.
    version: ResourceVersion,
    /// The request for the page that is under way.
    pub(super) request: ListRequest,
    /// When that page was asked for.
    pub(super) requested: f64,
    /// When something of the page last arrived, once something has.
    pub(super) arrived: Option<f64>,
    /// What of the page is not complete.
    reader: Box<ListReader>,
    /// How many items had come before the page.
    before: usize,
    /// How many items will still come, where the last page said so.
    pub(super) remaining: Option<u64>,
}

impl List {
    /// A list whose first page is asked for now.
    pub(super) fn new(request: ListRequest, now: f64) -> List {
        List {
            items: Objects::default(),
            unread: Unread::default(),
            version: ResourceVersion::default(),
            request,
            requested: now,
            arrived: None,
            reader: Box::default(),
            before: 0,
            remaining: None,
        }
    }

    /// When the page has taken too long.
    pub(super) fn deadline(&self) -> f64 {
        self.arrived.map_or(self.requested + LISTING, |at| at + STALLED)
    }

    /// Reads the items that are complete with these bytes. They are shown to the store, and are not part of what is
    /// known before their list is complete.
    ///
    /// # Errors
    ///
    /// Why the list cannot go on.
    pub(super) fn piece(
        &mut self,
        mut bytes: &[u8],
        reader: &ObjectReader,
        now: f64,
        store: &mut dyn ReflectorStore,
    ) -> Result<(), Failure> {
        self.arrived = Some(now);
        store.ledger().bytes += bytes.len() as u64;
        while let Some(item) = self.reader.next(&mut bytes).map_err(|error| not_a_list(&error))? {
            store.ledger().listed += 1;
            match reader.item(item) {
                Ok((object, text)) => receive(&mut self.items, object, text, now, store),
                Err(item) => {
                    store.ledger().malformed_items += 1;
                    if let Some(reason) = self.unread.push(item.key, &item.words) {
                        store.notice(Notice::Malformed { at: now, reason });
                    }
                }
            }
            if self.count() > MOST {
                return Err(without_end(&format!("there are more than {MOST} items")));
            }
        }
        Ok(())
    }

    /// All bytes of the page have come.
    ///
    /// # Errors
    ///
    /// The page broke off, or is no list.
    pub(super) fn end_page(&mut self) -> Result<ListMeta, Failure> {
        std::mem::take(&mut self.reader).finish().map_err(|error| not_a_list(&error))
    }

    /// Goes on to the next page, and returns the request for it; `None` where the list is complete.
    ///
    /// # Errors
    ///
    /// The list never ends: some servers repeat their token or their items.
    pub(super) fn next_page(&mut self, meta: ListMeta, now: f64) -> Result<Option<ListRequest>, Failure> {
        if self.version.is_unset() {
            self.version = meta.resource_version;
        }
        let Some(token) = meta.continue_token else { return Ok(None) };
        let count = self.count();
        if count == self.before || self.request.continue_token.as_ref() == Some(&token) {
            return Err(without_end("the server repeats itself"));
        }
        self.request.continue_token = Some(token);
        self.requested = now;
        self.arrived = None;
        self.before = count;
        self.remaining = meta.remaining;
        Ok(Some(self.request.clone()))
    }

    /// Takes the complete list apart: its items, those that could not be read, and its version.
    pub(super) fn into_parts(mut self) -> (Objects, Unread, ResourceVersion) {
        self.unread.forget(|key| self.items.get(key).is_some());
        (self.items, self.unread, self.version)
    }

    /// The notice of the items that could not be read and have none of their own.
    pub(super) fn rest_of_unread(&self) -> Option<String> {
        self.unread.rest()
    }

    fn count(&self) -> usize {
        self.items.len() + self.unread.len()
    }
}

/// An answer with status 200 could not be read.
fn not_a_list(error: &DecodeError) -> Failure {
    failing(format!("the answer is no list: {error}"))
}

/// A list does not come to its end, for this reason.
fn without_end(reason: &str) -> Failure {
    failing(format!("the list does not end: {reason}"))
}

fn failing(words: String) -> Failure {
    Failure { verdict: Verdict::Failing, code: 200, words, retry_after: None }
}

/// Takes an item into a list that has not ended, and shows it to the store.
fn receive(items: &mut Objects, object: Object, text: &str, now: f64, store: &mut dyn ReflectorStore) {
    let object = store.keep(object);
    // Pages of an inconsistent token may repeat an object: a newer state counts, and an older one does not.
    let newer = items.get(&object.key).filter(|newer| newer.uid == object.uid);
    if newer.is_some_and(|newer| object.resource_version.is_older_than(&newer.resource_version)) {
        store.ledger().merged += 1;
        store.ledger().repeated += 1;
        return;
    }
    store.streamed(now, DeltaType::Replaced, &object, text);
    match items.insert(object) {
        None => store.ledger().pending += 1,
        Some(_) => store.ledger().merged += 1,
    }
}
