//! `?audit=1` in the address: the page writes down what it received, what it applied to its stores and what its tables
//! then showed, each with its time, so that a judge can hold it against the server's own account.
//!
//! An entry is a JSON array: milliseconds on the page's clock, a word, the resource as `deployments.apps`, the scope
//! (the namespace and the selectors, where there are any), and what the word has to say:
//!
//! | word | what follows |
//! |---|---|
//! | `watch`, `list`, `probe` | path and query of what is asked for next; whatever was under way before is over |
//! | `opened`, `closed`, `failed` | nothing; the code; the code and the words |
//! | `frame` | the type as it was sent, key, uid, version, and what became of it: `queued`, `streamed`, `late`, `bookmark`, `error`, `malformed`, `unknown`, or `ignored` where no socket was open that it could have come from |
//! | `answered`, `unanswered` | when the heartbeat asked for a watch, and whether there was an event; when, and why there was no answer |
//! | `page`, `item` | version, number of items, whether more follow; of each item key, uid and version |
//! | `replaced` | a complete list was handed over: the version before and the list's |
//! | `applied` | what it was to the store (`listed`, `added`, `updated`, `synced`, `deleted`, `absent` for a deletion of which no event came), key, uid, version, the version that it replaced, how many received changes it stands for |
//! | `shown` | what the row is now (`listed`, `added`, `updated`, `synced`, `gone`, or `missing` or `provisional` where it should be there), key, uid, version as the row has them |
//! | `state` | `live`, `stale` and so on, when it becomes so |
//! | `notice` | its word, from, to, its sentence |
//!
//! Without the parameter nothing is written: it costs a branch for each input and each change.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

use rustc_hash::FxHashMap;
use serde::Serialize;

use kubechurn_client::api::event::{self, EventType};
use kubechurn_client::api::list::{ListItem, ListReader};
use kubechurn_client::api::object::{Object, decode_metadata};
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::ledger::Ledger;
use kubechurn_client::cache::reflector::{Action, Input, Notice};
use kubechurn_client::cache::shared_informer::SharedInformer;
use kubechurn_client::cache::store::Change;

use crate::kind_id::KindId;
use crate::table::view::TableView;
use crate::watches::notices::{NoticeKind, PageNotice};

/// How many bytes of entries are kept until they are asked for. Further entries are dropped, and counted.
pub const MOST: usize = 32 << 20;

/// What the page writes down, if the address asks for it. Clones write into the same log.
#[derive(Clone, Debug, Default)]
pub struct AuditLog(Option<Rc<RefCell<Log>>>);

struct Log {
    /// The entries as JSON, with commas between.
    text: Vec<u8>,
    most: usize,
    dropped: u64,
    /// The state that was written last, by resource and scope.
    states: FxHashMap<(String, String), &'static str>,
    /// The pages that are on their way, by resource and scope.
    pages: FxHashMap<(String, String), PageLog>,
}

/// What has come of a page.
#[derive(Default)]
struct PageLog {
    reader: ListReader,
    items: usize,
}

impl fmt::Debug for Log {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} bytes", self.text.len())
    }
}

/// What an informer was like before an input, and the input.
#[derive(Debug)]
pub struct Before<'a> {
    input: Input<'a>,
    ledger: Ledger,
    version: String,
}

/// An informer after it has handled an input.
#[derive(Clone, Copy, Debug)]
pub struct After<'a> {
    /// The resource that the informer watches.
    pub resource: &'a ApiResource,
    /// The part of the resource that the informer watches.
    pub scope: &'a Scope,
    pub informer: &'a SharedInformer,
    /// What the informer's reflector does next, if anything.
    pub action: Option<&'a Action>,
    /// When the input was handled.
    pub moment: Moment,
}

impl AuditLog {
    /// A log, if the parameter is `1`; for any other parameter nothing is written down.
    pub fn parse(parameter: Option<&str>) -> AuditLog {
        AuditLog::of((parameter == Some("1")).then_some(MOST))
    }

    /// A log that keeps so many bytes; with `None` nothing is written down.
    pub fn of(most: Option<usize>) -> AuditLog {
        let log = |most| Log {
            text: Vec::new(),
            most,
            dropped: 0,
            states: FxHashMap::default(),
            pages: FxHashMap::default(),
        };
        AuditLog(most.map(|most| Rc::new(RefCell::new(log(most)))))
    }

    /// Whether anything is written down.
    pub fn is_on(&self) -> bool {
        self.0.is_some()
    }

    /// What was written since the last call, as `{"now": …, "dropped": …, "entries": […]}`, and forgets it. `now` is
    /// the page's clock; `dropped` counts the entries for which there was no room. `None` where nothing is written
    /// down.
    pub fn take(&self, now: f64) -> Option<String> {
        let mut log = self.0.as_ref()?.borrow_mut();
        let (text, dropped) = (std::mem::take(&mut log.text), std::mem::take(&mut log.dropped));
        let entries = String::from_utf8_lossy(&text);
        Some(format!("{{\"now\":{now:?},\"dropped\":{dropped},\"entries\":[{entries}]}}"))
    }

    /// To be called before an informer handles an input.
    pub fn before<'a>(&self, informer: &SharedInformer, input: &Input<'a>) -> Option<Before<'a>> {
        self.0.as_ref()?;
        let version = informer.reflector().resource_version().as_str().to_owned();
        Some(Before { input: input.clone(), ledger: *informer.ledger(), version })
    }

    /// To be called after an informer has handled an input: writes down what came, and what it led to.
    pub fn handled(&self, before: Before<'_>, after: After<'_>) {
        let After { resource, scope, informer, action, moment } = after;
        let of = &(name(resource), words(scope));
        let Before { input, ledger, version } = before;
        let lossy;
        match input {
            Input::Opened => self.write(moment.now, "opened", of, ()),
            Input::Closed(code) => self.write(moment.now, "closed", of, (code,)),
            Input::Failed(failure) => self.write(moment.now, "failed", of, (failure.code, &failure.words)),
            Input::Frame(text) => self.frame(text, (&ledger, informer.ledger()), of, moment.now),
            Input::Bytes(bytes) => {
                lossy = String::from_utf8_lossy(bytes);
                self.frame(&lossy, (&ledger, informer.ledger()), of, moment.now);
            }
            // A message that is too long was not read.
            Input::TooLong(_) => self.frame("", (&ledger, informer.ledger()), of, moment.now),
            Input::HeartbeatAnswered { asked, event, .. } => {
                self.write(moment.now, "answered", of, (asked, event));
            }
            Input::HeartbeatFailed { asked, failure } => {
                self.write(moment.now, "unanswered", of, (asked, &failure.words));
            }
            // What the informer did not take in belongs to no list.
            Input::Piece(_) | Input::Page(_) | Input::PageBytes(_) if informer.ledger().bytes == ledger.bytes => {}
            Input::Piece(bytes) => self.piece(bytes, of, moment.now),
            Input::PageEnd => self.page_end(of, moment.now),
            Input::Page(text) => self.page(text.as_bytes(), of, moment.now),
            Input::PageBytes(bytes) => self.page(bytes, of, moment.now),
            _ => {}
        }
        if action.is_some() {
            self.forget_page(of);
        }
        if informer.ledger().lists > ledger.lists {
            let newest = informer.reflector().resource_version().as_str();
            self.write(moment.now, "replaced", of, (version, newest));
        }
        match action {
            Some(Action::List(request)) => self.write(moment.now, "list", of, (request.url(resource, scope),)),
            Some(Action::Watch(request) | Action::WatchOverHttp(request)) => {
                self.write(moment.now, "watch", of, (request.url(resource, scope),))
            }
            Some(Action::Probe(request)) => {
                self.write(moment.now, "probe", of, (request.probe().url(resource, scope),))
            }
            _ => {}
        }
        self.state(of, informer, moment.now);
    }

    /// To be called when time has passed: writes down the state of an informer, if it is another one than before.
    pub fn look(&self, of: (&ApiResource, &Scope), informer: &SharedInformer, now: f64) {
        if self.is_on() {
            self.state(&(name(of.0), words(of.1)), informer, now);
        }
    }

    fn state(&self, of: &(String, String), informer: &SharedInformer, now: f64) {
        let state = informer.health(now).word();
        let Some(log) = &self.0 else { return };
        if log.borrow_mut().states.insert(of.clone(), state) != Some(state) {
            self.write(now, "state", of, (state,));
        }
    }

    fn frame(&self, text: &str, (before, after): (&Ledger, &Ledger), of: &(String, String), now: f64) {
        let fate = match () {
            () if after.frames == before.frames => "ignored",
            () if after.malformed > before.malformed || after.oversized > before.oversized => "malformed",
            () if after.errors > before.errors => "error",
            () if after.bookmarks > before.bookmarks => "bookmark",
            () if after.watched > before.watched => "queued",
            () if after.streamed > before.streamed => "streamed",
            () if after.late > before.late || after.former > before.former => "late",
            () => "unknown",
        };
        let frame = event::split(text).ok();
        let word = match frame.as_ref().map(|frame| &frame.event_type) {
            None => "",
            Some(EventType::Added) => "ADDED",
            Some(EventType::Modified) => "MODIFIED",
            Some(EventType::Deleted) => "DELETED",
            Some(EventType::Bookmark) => "BOOKMARK",
            Some(EventType::Error) => "ERROR",
            Some(EventType::Unknown(word)) => word,
        };
        let (key, uid, version) = frame.as_ref().map(|frame| identity(frame.object)).unwrap_or_default();
        self.write(now, "frame", of, (word, key, uid, version, fate));
    }

    fn page(&self, bytes: &[u8], of: &(String, String), now: f64) {
        self.piece(bytes, of, now);
        self.page_end(of, now);
    }

    /// Writes down the items that are complete with this piece of a page.
    fn piece(&self, bytes: &[u8], of: &(String, String), now: f64) {
        let Some(mut page) = self.take_page(of) else { return };
        let mut rest = bytes;
        while let Ok(Some(item)) = page.reader.next(&mut rest) {
            page.items += 1;
            match item {
                ListItem::Text(text) => self.write(now, "item", of, identity(text)),
                ListItem::NotText(_) | ListItem::TooLong(_) => self.write(now, "item", of, identity("")),
            }
        }
        self.keep_page(of, page);
    }

    fn page_end(&self, of: &(String, String), now: f64) {
        let Some(mut page) = self.take_page(of) else { return };
        if let Ok(meta) = page.reader.finish() {
            let more = meta.continue_token.is_some();
            self.write(now, "page", of, (meta.resource_version.as_str(), page.items, more));
        }
    }

    fn take_page(&self, of: &(String, String)) -> Option<PageLog> {
        Some(self.0.as_ref()?.borrow_mut().pages.remove(of).unwrap_or_default())
    }

    fn keep_page(&self, of: &(String, String), page: PageLog) {
        if let Some(log) = &self.0 {
            log.borrow_mut().pages.insert(of.clone(), page);
        }
    }

    fn forget_page(&self, of: &(String, String)) {
        if let Some(log) = &self.0 {
            log.borrow_mut().pages.remove(of);
        }
    }

    /// Writes down a change that a store has taken in.
    pub fn applied(&self, (resource, scope): (&ApiResource, &Scope), change: &Change, now: f64) {
        if !self.is_on() {
            return;
        }
        let (old, folded) = match change {
            Change::Updated { old, folded, .. } => (old.resource_version.as_str(), *folded),
            Change::Added { folded, .. } | Change::Synced { folded, .. } | Change::Deleted { folded, .. } => {
                ("", *folded)
            }
        };
        let (word, Object { key, uid, resource_version, .. }) = described(change);
        let said = (word, key.to_string(), uid, resource_version.as_str(), old, folded);
        self.write(now, "applied", &(name(resource), words(scope)), said);
    }

    /// Writes down a change that a table has taken in: what the row of the object is then.
    pub fn shown(
        &self,
        (resource, scope): (&ApiResource, &Scope),
        (view, kind): (&TableView, KindId),
        change: &Change,
        now: f64,
    ) {
        if !self.is_on() {
            return;
        }
        let (word, Object { key, uid, resource_version, .. }) = described(change);
        let is_there = !matches!(change, Change::Deleted { .. });
        let row = view.find(kind, key).and_then(|id| view.row(id));
        let is_provisional = row.is_some_and(|row| row.provisional);
        let said = match row.map(|row| &*row.object) {
            Some(row) => {
                let word = match () {
                    () if is_provisional => "provisional",
                    () if is_there => word,
                    () => "left",
                };
                (word, row.key.to_string(), &row.uid, row.resource_version.as_str())
            }
            None => {
                let word = if is_there { "missing" } else { "gone" };
                (word, key.to_string(), uid, resource_version.as_str())
            }
        };
        self.write(now, "shown", &(name(resource), words(scope)), said);
    }

    /// Writes down something that the page announced.
    pub fn notice(&self, of: Option<(&ApiResource, &Scope)>, notice: &PageNotice) {
        if !self.is_on() {
            return;
        }
        let (from, to) = match &notice.kind {
            NoticeKind::Overload { from, to, .. } | NoticeKind::Watch(_, Notice::Gap { from, to, .. }) => (*from, *to),
            NoticeKind::Watch(..)
            | NoticeKind::Difference { .. }
            | NoticeKind::Memory { .. }
            | NoticeKind::Clock { .. }
            | NoticeKind::Kept { .. }
            | NoticeKind::Unbalanced { .. } => (notice.at(), notice.at()),
        };
        let of = of.map(|(resource, scope)| (name(resource), words(scope))).unwrap_or_default();
        self.write(notice.at(), "notice", &of, (notice.word(), from, to, notice.sentence()));
    }

    fn write(&self, now: f64, word: &str, (resource, scope): &(String, String), said: impl Serialize) {
        let Some(log) = &self.0 else { return };
        let log = &mut *log.borrow_mut();
        let begin = log.text.len();
        if begin > 0 {
            log.text.push(b',');
        }
        let head = serde_json::to_writer(&mut log.text, &(now, word, resource, scope));
        // The entry goes on in place of the bracket that ends the head.
        log.text.pop();
        let rest = log.text.len();
        let written = head.and_then(|()| serde_json::to_writer(&mut log.text, &said));
        match log.text.get_mut(rest) {
            Some(bracket) if *bracket == b'[' => *bracket = b',',
            // The unit type has no fields.
            _ => {
                log.text.truncate(rest);
                log.text.push(b']');
            }
        }
        if written.is_err() || log.text.len() > log.most {
            log.text.truncate(begin);
            log.dropped += 1;
        }
    }
}

/// The word for a change, and the object that the change brings or takes away.
fn described(change: &Change) -> (&'static str, &Object) {
    match change {
        Change::Added { new, listed: true, .. } => ("listed", new),
        Change::Added { new, .. } => ("added", new),
        Change::Updated { new, .. } => ("updated", new),
        Change::Synced { new, .. } => ("synced", new),
        Change::Deleted { last, final_state_unknown: true, .. } => ("absent", last),
        Change::Deleted { last, .. } => ("deleted", last),
    }
}

/// Key, uid and version in an object's text. A bookmark has a version only; a text that cannot be read has none of
/// them.
fn identity(text: &str) -> (String, String, String) {
    let read =
        |object: Object| (object.key.to_string(), object.uid.to_string(), object.resource_version.as_str().to_owned());
    let bookmark = || {
        let version = event::bookmark(text).map(|bookmark| bookmark.resource_version.into_owned());
        (String::new(), String::new(), version.unwrap_or_default())
    };
    decode_metadata(text).map_or_else(|_| bookmark(), read)
}

/// The name of a resource as `kubectl` writes it: `pods`, `deployments.apps`.
fn name(resource: &ApiResource) -> String {
    let name = match resource.group {
        "" => resource.plural.to_owned(),
        group => format!("{}.{group}", resource.plural),
    };
    if resource.cluster.is_empty() { name } else { format!("{name}@{}", resource.cluster) }
}

/// Namespace and selectors of a scope, those that are not empty.
fn words(scope: &Scope) -> String {
    let words = [&*scope.namespace, &*scope.label_selector, &*scope.field_selector];
    words.into_iter().filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
