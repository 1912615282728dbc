//! How lists come in: page by page, until one is complete; and how a complete one is handed over.

use crate::api::list;
use crate::api::object::{DecodeError, ResourceVersion};
use crate::cache::delta::DeltaType;
use crate::cache::reflector::refusals::Verb;
use crate::cache::reflector::{
    Action, Failure, ListRequest, Moment, Notice, Objects, PAGE, Phase, Reflector, ReflectorStore, State, Unread,
    Verdict, kind, read,
};

/// A list of more items than this does not end: the largest clusters have 150,000 Pods (kubernetes, "Considerations
/// for large clusters").
const MOST: usize = 1_000_000;
/// Where a list had items without a name, and so left it open whether something is still there, it is taken anew after so
/// long, in milliseconds: seldom, for an item that is spoilt on the server will be the same then.
const DOUBT: f64 = 300_000.0;

impl Reflector {
    /// Asks for the first page. Unset asks for the newest; `0`, the first time, for any cached state, which
    /// comes whole; a version seen before for at least that, unpaged. A page size that was set holds for all.
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

    /// Begins a new list beside an open watch, from the server's newest. What is held is known to be wrong meanwhile:
    /// it is stale, and the list's end tells why.
    pub(super) fn relist(&mut self, reason: &str, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        if !matches!(self.state, State::Watch { .. }) {
            return None;
        }
        self.discard(store);
        self.reason = reason.to_owned();
        // A server whose versions went back has never heard of the one that is held.
        self.last_sync.unavailable = true;
        // Why it is stale is said by whoever found out.
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

    /// An answer with a good status that cannot be read.
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
            // Pages that repeat an object, as those of an inconsistent token may, bring it forward and never back.
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
            // A server that continues for ever would never let the list end: it repeats its token or its items, or
            // makes up new ones.
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

    /// When a list is to be taken anew because of what the last one could not name; not while one is on its way.
    pub(super) fn doubt_due(&self) -> Option<f64> {
        self.doubt_at.filter(|_| matches!(self.state, State::Watch { .. }))
    }

    /// Takes a list anew: perhaps every item of this one can be read.
    pub(super) fn resolve_doubt(&mut self, moment: Moment) -> Action {
        self.doubt_at = None;
        self.reason = String::from("the last list had items without a name");
        self.silent(false, moment);
        // What comes until that list is complete is a gap, though nobody refused anything.
        self.failure = Some(Failure::unreachable(self.reason.clone()));
        self.enter(Phase::Start, moment)
    }

    /// Hands a complete list over, but for what could not be read of it.
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
