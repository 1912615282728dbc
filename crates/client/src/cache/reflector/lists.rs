//! How a list comes in, page by page and item by item, and how a complete list is handed over.

use crate::api::list::{LONGEST_ITEM, ListItem};
use crate::api::object::{Decode, DecodeError, Object, ObjectKey, ResourceVersion, key_of};
use crate::cache::delta::DeltaType;
use crate::cache::reflector::refusals::Verb;
use crate::cache::reflector::{
    Action, Failure, Fetches, ListRequest, Moment, Notice, Objects, Options, PAGE, Phase, Reflector, ReflectorStore,
    State, Unread, Verdict, kind, read,
};

/// A list of more items than this counts as one that never ends: the largest clusters have 150,000 Pods (kubernetes,
/// "Considerations for large clusters").
const MOST: usize = 1_000_000;
/// A list that had items without a name leaves it open whether some known objects still exist. Another list is taken after
/// this time, in milliseconds. The time is long, for an item that is broken on the server will most often be so then, too.
const DOUBT: f64 = 300_000.0;

impl Reflector {
    /// Asks for the first page of a list:
    ///
    /// - the first time at `0`, which is any state that the server has cached, and comes as a whole;
    /// - later at the version that was seen last, or a newer one, and without pages, so that the server's cache can answer;
    /// - where the server cannot serve from that version, without a version, which asks for the newest state.
    ///
    /// Where no answer over HTTP can be read, a streaming list is tried again after a wait.
    pub(super) fn list(&mut self, moment: Moment) -> Action {
        if !self.options.readable {
            return self.wait(Phase::Start, None, moment);
        }
        let resource_version = match self.last_sync.version().is_unset() && !self.last_sync.unavailable {
            true => ResourceVersion::new("0"),
            false => self.last_sync.for_list(),
        };
        let concrete = !resource_version.is_unset() && resource_version.as_str() != "0";
        let limit = (!concrete || self.paged).then_some(PAGE);
        self.request(ListRequest { resource_version, limit, continue_token: None }, moment)
    }

    /// Ends an open watch, and begins a new list of the server's newest state. Until that list ends, what is held is known
    /// to be wrong, and counts as stale.
    pub(super) fn relist(&mut self, reason: &str, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        if !matches!(self.state, State::Watch { .. }) {
            return None;
        }
        self.discard(store);
        self.reason = reason.to_owned();
        // A server whose versions went back does not know the version that is held.
        self.last_sync.unavailable = true;
        // Whoever found the held objects to be wrong tells the user why.
        self.continuity.tell();
        Some(self.enter(Phase::Start, moment))
    }

    pub(super) fn request(&mut self, request: ListRequest, moment: Moment) -> Action {
        self.state = State::List {
            items: Objects::default(),
            unread: Unread::default(),
            version: ResourceVersion::default(),
            request: request.clone(),
            requested: moment.now,
            arrived: None,
            reader: Box::default(),
            before: 0,
            remaining: None,
        };
        Action::List(request)
    }

    /// A page that is there as a whole.
    pub(super) fn page(&mut self, bytes: &[u8], moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        match self.piece(bytes, moment, store) {
            None => self.page_end(moment, store),
            failed => failed,
        }
    }

    /// Reads the items that are complete with these bytes. They are shown to the store, and are not part of what is known
    /// before their list is complete.
    pub(super) fn piece(&mut self, bytes: &[u8], moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let State::List { items, unread, arrived, reader, .. } = &mut self.state else { return None };
        self.fetches = Fetches::Readable;
        if bytes.is_empty() {
            return None;
        }
        *arrived = Some(moment.now);
        store.ledger().bytes += bytes.len() as u64;
        let mut rest = bytes;
        let failed = loop {
            let item = match reader.next(&mut rest) {
                Ok(Some(item)) => item,
                Ok(None) => return None,
                Err(error) => break not_a_list(&error),
            };
            store.ledger().listed += 1;
            match read_item(self.decode, &self.options, item) {
                Ok((object, text)) => receive(items, object, text, moment, store),
                Err((key, words)) => {
                    store.ledger().malformed_items += 1;
                    if let Some(reason) = unread.push(key, &words) {
                        store.notice(Notice::Malformed { at: moment.now, reason });
                    }
                }
            }
            let count = items.len() + unread.len();
            if count > MOST {
                break without_end(&format!("there are more than {MOST} items"));
            }
        };
        self.failed(failed, moment, store)
    }

    /// All bytes of a page have come: either more pages follow, or the list is complete.
    pub(super) fn page_end(&mut self, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let State::List { items, unread, version, request, requested, arrived, reader, before, remaining } =
            &mut self.state
        else {
            return None;
        };
        let meta = match std::mem::take(reader).finish() {
            Ok(meta) => meta,
            Err(error) => return self.failed(not_a_list(&error), moment, store),
        };
        self.fetches = Fetches::Readable;
        self.heard = Some(moment.now);
        if version.is_unset() {
            *version = meta.resource_version;
        }
        if let Some(token) = meta.continue_token {
            // Some servers never let a list end: they repeat their token or their items.
            let count = items.len() + unread.len();
            if count == *before || request.continue_token.as_ref() == Some(&token) {
                return self.failed(without_end("the server repeats itself"), moment, store);
            }
            self.paged |= request.resource_version.as_str() == "0";
            request.continue_token = Some(token);
            (*requested, *arrived, *before, *remaining) = (moment.now, None, count, meta.remaining);
            return Some(Action::List(request.clone()));
        }
        let State::List { items, mut unread, version, .. } = std::mem::replace(&mut self.state, State::Idle) else {
            return None;
        };
        self.last_sync.reached(version);
        self.refusals.allowed(Verb::List);
        if let Some(reason) = unread.rest() {
            store.notice(Notice::Malformed { at: moment.now, reason });
        }
        unread.forget(|key| items.get(key).is_some());
        self.replace(items, &unread, moment, store);
        Some(self.open(moment, false))
    }

    /// When another list is to be taken because the last one had items without a name; never while one is on its way.
    pub(super) fn doubt_due(&self) -> Option<f64> {
        self.doubt_at.filter(|_| matches!(self.state, State::Watch { .. }))
    }

    /// Takes another list, of which perhaps every item can be read.
    pub(super) fn resolve_doubt(&mut self, moment: Moment) -> Action {
        self.doubt_at = None;
        self.reason = String::from("the last list had items without a name");
        self.silent(false, moment);
        // Whatever happens until that list is complete is a gap, although nothing was refused.
        self.failure = Some(Failure::unreachable(self.reason.clone()));
        self.enter(Phase::Start, moment)
    }

    /// Hands a complete list over, without the items that could not be read.
    pub(super) fn replace(
        &mut self,
        objects: Objects,
        unread: &Unread,
        moment: Moment,
        store: &mut dyn ReflectorStore,
    ) {
        let list = objects.into_sorted();
        let count = list.len();
        store.ledger().pending -= count as u64;
        store.ledger().replaced += count as u64;
        store.ledger().lists += 1;
        self.last_sync.unavailable = false;
        self.resync_at = self.options.resync.map(|every| moment.now + every);
        self.heard = Some(moment.now);
        let reason = std::mem::replace(&mut self.reason, String::from("relist"));
        let first = !self.synced;
        self.synced = true;
        if first {
            self.continuity.begin_at(moment.now);
        }
        let doubt = store.replace(moment.now, list, unread);
        self.doubt_at = doubt.then_some(moment.now + DOUBT);
        if !first {
            store.notice(Notice::Relisted { at: moment.now, reason, items: count });
        }
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

/// Reads an item and returns it with its text. For an item that cannot be read: its key, where that can be read, and what
/// is wrong.
fn read_item<'a>(
    decode: Decode,
    options: &Options,
    item: ListItem<'a>,
) -> Result<(Object, &'a str), (Option<ObjectKey>, String)> {
    match item {
        ListItem::Text(text) => {
            let named = options.kind.map_or(Ok(()), |kind| kind::check_item(kind, text));
            let object = named.and_then(|()| read(decode, options.keep, text).map_err(|error| error.to_string()));
            object.map(|object| (object, text)).map_err(|words| (key_of(text), words))
        }
        // The bytes that are no UTF-8 may be anywhere, and are mostly not in the name. No name has the character that stands
        // for them.
        ListItem::NotText(bytes) => {
            let text = String::from_utf8_lossy(bytes);
            let is_whole = |key: &ObjectKey| !key.to_string().contains(char::REPLACEMENT_CHARACTER);
            let words = std::str::from_utf8(bytes).err().map(|error| DecodeError::from(error).to_string());
            Err((key_of(&text).filter(is_whole), words.unwrap_or_default()))
        }
        ListItem::TooLong(bytes) => {
            let megabytes = |bytes: usize| bytes as f64 / 1e6;
            let (long, most) = (megabytes(bytes), megabytes(LONGEST_ITEM));
            Err((None, format!("it has {long:.1} MB, and no more than {most:.0} MB are read")))
        }
    }
}

/// Takes an item into a list that has not ended, and shows it to the store.
fn receive(items: &mut Objects, object: Object, text: &str, moment: Moment, store: &mut dyn ReflectorStore) {
    let object = store.keep(object);
    // Pages of an inconsistent token may repeat an object: a newer state counts, and an older one does not.
    let newer = items.get(&object.key).filter(|newer| newer.uid == object.uid);
    if newer.is_some_and(|newer| object.resource_version.is_older_than(&newer.resource_version)) {
        store.ledger().merged += 1;
        store.ledger().repeated += 1;
        return;
    }
    store.streamed(moment.now, DeltaType::Replaced, &object, text);
    match items.insert(object) {
        None => store.ledger().pending += 1,
        Some(_) => store.ledger().merged += 1,
    }
}
