//! The server of a play: one map and its history. It serves one socket at a time, and lists in pages of two.

use std::collections::VecDeque;

use kubechurn_client::api::object::{Object, ResourceVersion};
use kubechurn_client::api::request::{ListRequest, WatchRequest};
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::delta::DeltaType;

/// Namespace and name of every object that there may be, in the order of their keys.
pub const KEYS: [(&str, &str); COUNT] = [("", "d"), ("m", "a"), ("m", "c"), ("n", "a"), ("n", "b")];
/// How many objects there may be.
pub const COUNT: usize = 5;
const PAGE: usize = 2;

/// The numbers from which on revisions are written: a small one, one at which a digit is added, one at which 64-bit floats can
/// no longer tell neighbours apart, and one beyond 64 bits.
pub const BASES: [u128; 4] = [0, 95, (1 << 53) - 2, 99_999_999_999_999_999_980];

/// What happened to a name at a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State {
    pub seen: Seen,
    pub revision: u64,
    pub delta_type: DeltaType,
}

/// What can be seen of a state: the key, the number of the object among those of this name, and the revision that it carries
/// as its version; 0 is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub key: usize,
    pub life: u32,
    pub version: u64,
}

/// The objects that there are, by key.
pub type Map = [Option<Seen>; COUNT];

/// A frame on its way.
#[derive(Clone, Copy, Debug)]
pub enum Frame {
    Event(State),
    Bookmark(u64),
    /// A bookmark annotated as the end of the initial events.
    End(u64),
    Expired,
}

/// What the informer has open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Socket {
    Closed,
    /// A streaming list whose end has not come.
    Streaming,
    Watching,
}

/// One page of a list.
pub struct Page {
    pub revision: u64,
    pub items: Vec<Seen>,
    pub token: Option<usize>,
}

pub struct Server {
    pub revision: u64,
    /// Watches from a revision below this one are refused.
    pub compacted: u64,
    pub history: Vec<State>,
    base: u128,
    /// Frames that the open socket brings before those of the history.
    first: VecDeque<Frame>,
    /// The revision up to which the open socket has brought the history.
    cursor: u64,
    /// The newest revision without a version that was sent. No list may be older, for that could not be noticed.
    unversioned: u64,
    /// What the continue tokens stand for: a revision, and the objects still to come.
    tokens: Vec<(u64, Vec<Seen>)>,
}

impl State {
    pub fn is_present(&self) -> bool {
        self.delta_type != DeltaType::Deleted
    }
}

impl Server {
    /// A server whose revisions are written from `base` on.
    pub fn new(base: u128) -> Server {
        let (history, tokens) = (Vec::new(), Vec::new());
        Server { revision: 1, compacted: 0, history, base, first: VecDeque::new(), cursor: 0, unversioned: 0, tokens }
    }

    /// Creates an object, or changes it if it exists; some states carry no version.
    pub fn write(&mut self, key: usize, versioned: bool) {
        let (life, delta_type) = match self.newest(key) {
            Some(state) if state.is_present() => (state.seen.life, DeltaType::Updated),
            Some(state) => (state.seen.life + 1, DeltaType::Added),
            None => (1, DeltaType::Added),
        };
        self.push(key, life, versioned, delta_type);
    }

    /// Deletes an object, if it exists.
    pub fn delete(&mut self, key: usize) {
        if let Some(state) = self.newest(key).filter(|state| state.is_present()) {
            self.push(key, state.seen.life, true, DeltaType::Deleted);
        }
    }

    fn push(&mut self, key: usize, life: u32, versioned: bool, delta_type: DeltaType) {
        self.revision += 1;
        let seen = Seen { key, life, version: if versioned { self.revision } else { 0 } };
        self.history.push(State { seen, revision: self.revision, delta_type });
    }

    fn newest(&self, key: usize) -> Option<State> {
        self.history.iter().rev().find(|state| state.seen.key == key).copied()
    }

    /// The map as it was at a revision.
    pub fn map(&self, revision: u64) -> Map {
        let mut map = Map::default();
        for state in self.history.iter().take_while(|state| state.revision <= revision) {
            map[state.seen.key] = state.is_present().then_some(state.seen);
        }
        map
    }

    fn items(&self, revision: u64) -> Vec<Seen> {
        self.map(revision).into_iter().flatten().collect()
    }

    /// A revision as of which the server may answer a request for at least `version`: up to `lag` revisions old. Unset asks for
    /// the newest.
    fn at_least(&self, version: &ResourceVersion, lag: u64) -> u64 {
        let lagging = self.revision.saturating_sub(lag).max(1).max(self.compacted).max(self.unversioned);
        match version.as_str() {
            "" => self.revision,
            "0" => lagging,
            _ => lagging.max(self.parse(version)),
        }
    }

    /// A socket opens: a watch, or a streaming list whose state is up to `lag` revisions old. What happened since
    /// comes before its end, or after it.
    pub fn open(&mut self, request: &WatchRequest, lag: u64, end_last: bool) {
        self.first.clear();
        if !request.initial_events {
            self.cursor = self.parse(&request.resource_version);
            if self.cursor < self.compacted {
                self.first.push_back(Frame::Expired);
            }
            return;
        }
        self.cursor = self.at_least(&request.resource_version, lag);
        for seen in self.items(self.cursor) {
            self.first.push_back(Frame::Event(State { seen, revision: self.cursor, delta_type: DeltaType::Added }));
        }
        if end_last {
            let since = self.history.iter().filter(|state| state.revision > self.cursor);
            self.first.extend(since.map(|state| Frame::Event(*state)));
            self.cursor = self.revision;
        }
        self.first.push_back(Frame::End(self.cursor));
    }

    /// The next frame of the open socket. A bookmark follows each state without a version, so that no watch begins before that
    /// state again when later ones were seen.
    pub fn frame(&mut self) -> Option<Frame> {
        if let Some(frame) = self.first.pop_front() {
            return Some(frame);
        }
        // Each revision after the first was made by one write.
        let state = *self.history.get(self.cursor.max(1) as usize - 1)?;
        self.cursor = state.revision;
        if state.seen.version == 0 {
            self.first.push_back(Frame::Bookmark(state.revision));
            self.unversioned = state.revision;
        }
        Some(Frame::Event(state))
    }

    pub fn sent_all(&self) -> bool {
        self.first.is_empty() && self.cursor == self.revision
    }

    /// A page; `None` where its token has expired.
    pub fn page(&mut self, request: &ListRequest, lag: u64) -> Option<Page> {
        let (revision, mut items) = match &request.continue_token {
            Some(token) => self.tokens[token.parse::<usize>().unwrap()].clone(),
            None => {
                let revision = self.at_least(&request.resource_version, lag);
                (revision, self.items(revision))
            }
        };
        if request.continue_token.is_some() && revision < self.compacted {
            return None;
        }
        let more = if request.limit.is_some() && items.len() > PAGE { items.split_off(PAGE) } else { Vec::new() };
        let token = (!more.is_empty()).then_some(self.tokens.len());
        if token.is_some() {
            self.tokens.push((revision, more));
        }
        Some(Page { revision, items, token })
    }

    /// The text of a revision.
    pub fn version(&self, revision: u64) -> String {
        (self.base + u128::from(revision)).to_string()
    }

    fn parse(&self, version: &ResourceVersion) -> u64 {
        (version.as_str().parse::<u128>().expect("a version that the server gave") - self.base) as u64
    }

    /// The revision of this text; 0 is none.
    pub fn revision_of(&self, version: &ResourceVersion) -> u64 {
        if version.is_unset() { 0 } else { self.parse(version) }
    }

    /// What is seen in an object of the informer.
    pub fn seen(&self, object: &Object) -> Seen {
        let of = |&(namespace, name): &(&str, &str)| *object.key.namespace == *namespace && *object.key.name == *name;
        let life = object.uid.text().rsplit('-').next().and_then(|life| life.parse().ok());
        Seen {
            key: KEYS.iter().position(of).expect("an object of the server's"),
            life: life.expect("a uid of the server's"),
            version: self.revision_of(&object.resource_version),
        }
    }

    /// The JSON of an object.
    pub fn object(&self, seen: Seen) -> String {
        let (namespace, name) = KEYS[seen.key];
        let version = if seen.version == 0 { String::new() } else { self.version(seen.version) };
        let life = seen.life;
        format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"{namespace}","uid":"{namespace}-{name}-{life}","resourceVersion":"{version}"}}}}"#
        )
    }

    /// The JSON of a frame.
    pub fn text(&self, frame: &Frame) -> String {
        let bookmark = |revision, annotations| {
            let version = self.version(revision);
            let metadata = format!(r#"{{"resourceVersion":"{version}","annotations":{annotations}}}"#);
            format!(r#"{{"type":"BOOKMARK","object":{{"kind":"Pod","metadata":{metadata}}}}}"#)
        };
        match frame {
            Frame::Event(state) => {
                let word = match state.delta_type {
                    DeltaType::Added => "ADDED",
                    DeltaType::Updated => "MODIFIED",
                    DeltaType::Deleted => "DELETED",
                    DeltaType::Replaced | DeltaType::Sync => unreachable!("no event of a watch"),
                };
                format!("{{\"type\":\"{word}\",\"object\":{}}}\n", self.object(state.seen))
            }
            Frame::Bookmark(revision) => bookmark(*revision, "{}"),
            Frame::End(revision) => bookmark(*revision, r#"{"k8s.io/initial-events-end":"true"}"#),
            Frame::Expired => {
                format!(r#"{{"type":"ERROR","object":{}}}"#, kubechurn_client::testing::status("410 Expired too old"))
            }
        }
    }

    /// The JSON of a page; a flawed one has an item that cannot be read.
    pub fn page_text(&self, page: &Page, flawed: bool) -> String {
        let token = page.token.map(|token| token.to_string()).unwrap_or_default();
        let flaw = flawed.then(|| String::from(r#"{"metadata":{"uid":"x"}}"#));
        let items: Vec<String> = flaw.into_iter().chain(page.items.iter().map(|seen| self.object(*seen))).collect();
        let version = self.version(page.revision);
        let metadata = format!(r#"{{"resourceVersion":"{version}","continue":"{token}"}}"#);
        format!(r#"{{"kind":"PodList","metadata":{metadata},"items":[{}]}}"#, items.join(","))
    }
}

/// A Status of this code; 1 is a version beyond the server's.
pub fn words(code: u16) -> String {
    match code {
        1 => kubechurn_client::testing::status("504 Timeout Too large resource version"),
        _ => kubechurn_client::testing::status(&format!("{code} x y")),
    }
}

/// The failure with this code; 0 is that no answer came.
pub fn failure(code: u16) -> Failure {
    match code {
        0 => Failure::unreachable("no answer"),
        1 => Failure::from_response(504, None, &words(1)),
        _ => Failure::from_response(code, None, &words(code)),
    }
}
