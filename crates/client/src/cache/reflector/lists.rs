//! How a list comes in, page by page, and how a complete list is handed over.

use crate::api::list;
use crate::api::object::{DecodeError, ResourceVersion};
use crate::cache::delta::DeltaType;
use crate::cache::reflector::refusals::Verb;
use crate::cache::reflector::{
    Action, Failure, ListRequest, Moment, Notice, Objects, PAGE, Phase, Reflector, ReflectorStore, State, Unread,
    Verdict, kind, read,
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
    /// A page size that was set in the options holds for all of these.
    pub(super) fn list(&mut self, moment: Moment) -> Action {
        let resource_version = match self.last_sync.version().is_unset() && !self.last_sync.unavailable {
            true => ResourceVersion::new("0"),
            false => self.last_sync.for_list(),
        };
        let concrete = !resource_version.is_unset() && resource_version.as_str() != "0";
        let limit = match self.options.page_size {
            Some(size) => Some(size.get()),
            None => (!concrete || self.paged).then_some(PAGE),
        };
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
            remaining: None,
        };
        Action::List(request)
    }

    pub(super) fn page_bytes(
        &mut self,
        bytes: &[u8],
        moment: Moment,
        store: &mut dyn ReflectorStore,
    ) -> Option<Action> {
        match std::str::from_utf8(bytes) {
            Ok(text) => self.page(text, moment, store),
            Err(error) if matches!(self.state, State::List { .. }) => {
                store.ledger().bytes += bytes.len() as u64;
                self.no_list(&error.into(), moment, store)
            }
            Err(_) => None,
        }
    }

    /// An answer with status 200 could not be read.
    fn no_list(&mut self, error: &DecodeError, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let words = format!("the answer is no list: {error}");
        self.failed(Failure { verdict: Verdict::Failing, code: 200, words, retry_after: None }, moment, store)
    }

    pub(super) fn page(&mut self, text: &str, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let State::List { items, unread, version, request, requested, arrived, remaining } = &mut self.state else {
            return None;
        };
        store.ledger().bytes += text.len() as u64;
        let page = match list::page(text) {
            Ok(page) => page,
            Err(error) => return self.no_list(&error, moment, store),
        };
        self.heard = Some(moment.now);
        let before = items.len() + unread.len();
        for item in &page.items {
            store.ledger().listed += 1;
            let named = self.options.kind.map_or(Ok(()), |kind| kind::check_item(kind, item));
            let read = || read(self.decode, self.options.keep, item).map_err(|error| error.to_string());
            let object = match named.and_then(|()| read()) {
                Ok(object) => store.keep(object),
                Err(words) => {
                    store.ledger().malformed_items += 1;
                    if let Some(reason) = unread.push(item, &words) {
                        store.notice(Notice::Malformed { at: moment.now, reason });
                    }
                    continue;
                }
            };
            // Pages of an inconsistent token may repeat an object: a newer state counts, and an older one does not.
            let newer = items.get(&object.key).filter(|newer| newer.uid == object.uid);
            if newer.is_some_and(|newer| object.resource_version.is_older_than(&newer.resource_version)) {
                store.ledger().merged += 1;
                store.ledger().repeated += 1;
                continue;
            }
            store.streamed(moment.now, DeltaType::Replaced, &object, item);
            match items.insert(object) {
                None => store.ledger().pending += 1,
                Some(_) => store.ledger().merged += 1,
            }
        }
        if version.is_unset() {
            *version = page.resource_version;
        }
        if let Some(token) = page.continue_token {
            // Some servers never let a list end: they repeat their token or their items, or go on with new items.
            let count = items.len() + unread.len();
            let repeats = count == before || request.continue_token.as_ref() == Some(&token);
            if repeats || count > MOST {
                let words = match repeats {
                    true => String::from("the list does not end: the server repeats itself"),
                    false => format!("the list does not end: there are {count} items, and more to come"),
                };
                let failure = Failure { verdict: Verdict::Failing, code: 200, words, retry_after: None };
                return self.failed(failure, moment, store);
            }
            self.paged |= request.resource_version.as_str() == "0";
            request.continue_token = Some(token);
            (*requested, *arrived, *remaining) = (moment.now, None, page.remaining);
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
        let items = objects.into_sorted();
        let count = items.len();
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
        let doubt = store.replace(moment.now, items, unread);
        self.doubt_at = doubt.then_some(moment.now + DOUBT);
        if !first {
            store.notice(Notice::Relisted { at: moment.now, reason, items: count });
        }
    }
}
