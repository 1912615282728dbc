//! The model's server: one map, its history, one socket at a time, and lists in pages of two.

use std::collections::{BTreeMap, VecDeque};

use kubechurn::api::request::ListRequest;

use crate::talk::{bookmark, event, status};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];
const PAGE: usize = 2;

/// What was true of a name from a version on.
#[derive(Clone, Debug)]
pub struct State {
    pub name: &'static str,
    pub life: u32,
    pub version: u64,
    pub present: bool,
    word: &'static str,
}

pub struct Server {
    pub version: u64,
    /// Watches from below this are refused.
    pub compacted: u64,
    history: Vec<State>,
    /// Frames of the open socket that wait before the history does.
    first: VecDeque<(Option<State>, String)>,
    /// Up to which version the open socket has been told.
    cursor: u64,
    /// What the continue tokens stand for: a version, and the objects still to come.
    tokens: Vec<(u64, Vec<State>)>,
}

impl Default for Server {
    fn default() -> Server {
        let (history, tokens) = (Vec::new(), Vec::new());
        Server { version: 1, compacted: 0, history, first: VecDeque::new(), cursor: 0, tokens }
    }
}

impl State {
    fn written(&self) -> String {
        format!("{}#{}@{}", self.name, self.life, self.version)
    }

    fn known(&self) -> (String, String) {
        (format!("{}-{}", self.name, self.life), self.version.to_string())
    }
}

impl Server {
    pub fn write(&mut self, name: usize) {
        let (life, word) = match self.newest(NAMES[name]) {
            Some(State { life, present: true, .. }) => (*life, "MODIFIED"),
            Some(State { life, .. }) => (life + 1, "ADDED"),
            None => (1, "ADDED"),
        };
        self.push(NAMES[name], life, true, word);
    }

    pub fn delete(&mut self, name: usize) {
        if let Some(&State { life, present: true, .. }) = self.newest(NAMES[name]) {
            self.push(NAMES[name], life, false, "DELETED");
        }
    }

    fn push(&mut self, name: &'static str, life: u32, present: bool, word: &'static str) {
        self.version += 1;
        self.history.push(State { name, life, version: self.version, present, word });
    }

    fn newest(&self, name: &str) -> Option<&State> {
        self.history.iter().rev().find(|state| state.name == name)
    }

    fn objects(&self) -> Vec<State> {
        NAMES.iter().filter_map(|name| self.newest(name)).filter(|state| state.present).cloned().collect()
    }

    /// A socket opens: a streaming list, or a watch from `version`.
    pub fn open(&mut self, version: &str, streams: bool) {
        self.first.clear();
        self.cursor = self.version;
        if streams {
            for state in self.objects() {
                let text = event("ADDED", &state.written());
                self.first.push_back((Some(state), text));
            }
            let end = bookmark(&self.version.to_string(), r#"{"k8s.io/initial-events-end":"true"}"#);
            self.first.push_back((None, end));
        } else {
            self.cursor = version.parse().expect("a watch has a version");
            if self.cursor < self.compacted {
                let error = format!(r#"{{"type":"ERROR","object":{}}}"#, status("410 Expired too old"));
                self.first.push_back((None, error));
            }
        }
    }

    /// The next frame of the open socket.
    pub fn frame(&mut self) -> Option<(Option<State>, String)> {
        if let Some(frame) = self.first.pop_front() {
            return Some(frame);
        }
        let state = self.history.iter().find(|state| state.version > self.cursor)?.clone();
        self.cursor = state.version;
        let text = event(state.word, &state.written());
        Some((Some(state), text))
    }

    pub fn sent_all(&self) -> bool {
        self.first.is_empty() && self.cursor == self.version
    }

    /// A page in the words of the conversations; `None` where its token has expired.
    pub fn page(&mut self, request: &ListRequest) -> Option<String> {
        let (version, mut rest) = match &request.continue_token {
            Some(token) => self.tokens[token.parse::<usize>().unwrap()].clone(),
            None => (self.version, self.objects()),
        };
        if request.continue_token.is_some() && version < self.compacted {
            return None;
        }
        let more = if request.limit.is_some() && rest.len() > PAGE { rest.split_off(PAGE) } else { Vec::new() };
        let mut text = version.to_string();
        if !more.is_empty() {
            text.push_str(&format!(" +{}", self.tokens.len()));
            self.tokens.push((version, more));
        }
        rest.iter().for_each(|state| text.push_str(&format!(" {}", state.written())));
        Some(text)
    }

    pub fn names(&self) -> impl Iterator<Item = String> {
        NAMES.iter().map(|name| (*name).to_owned())
    }

    /// Name → uid and version.
    pub fn map(&self) -> BTreeMap<String, (String, String)> {
        self.objects().into_iter().map(|state| (state.name.to_owned(), state.known())).collect()
    }

    /// The states of one name, absence being `None`.
    pub fn history_of(&self, name: &str) -> Vec<Option<(String, String)>> {
        let own = self.history.iter().filter(|state| state.name == name);
        own.map(|state| state.present.then(|| state.known())).collect()
    }
}
