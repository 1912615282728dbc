//! What is recorded, in the order in which it came, and how much of it there is.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Stdout};
use std::path::{Path, PathBuf};
use std::time::Instant;

use kubechurn_changes::filter::Filter;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::reflector::Notice;
use kubechurn_client::cache::shared_informer::ReceivedDelta;
use kubechurn_model::history::secret;
use kubechurn_recording::{Line, Newest, Step, Text, Version, Watch, redact};

use super::output::Output;
use crate::audit::Followed;
use crate::changes::{self, Printer};

/// How much there is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counts {
    pub kinds: usize,
    /// Objects that exist now.
    pub objects: usize,
    /// Versions beside those of the first lists.
    pub changes: u64,
    /// Bytes of the files.
    pub bytes: u64,
    /// Times without news, of each watch.
    pub gaps: u64,
}

/// Where a recording goes.
pub enum Sink {
    Output(Box<Output>),
    /// Its changes to the terminal, and all else nowhere.
    Terminal(Box<Printer<Stdout>>),
}

/// A recording that goes on.
pub struct Tape {
    began: (Instant, f64),
    sink: Sink,
    /// The change at which the recording ends.
    until: Option<Filter>,
    /// Such a change, in words.
    reached: Option<String>,
    /// What is newest, where somebody asks for it.
    newest: Option<Newest>,
    /// Whether what looks like a credential is made unreadable.
    redacts: bool,
    /// The audit log of the API server.
    audit: Option<Followed>,
    /// What the marks of masked values are made with. It is in no file.
    salt: u64,
    random: RandomState,
    kinds: BTreeSet<(&'static str, &'static str)>,
    /// How many objects each watch holds.
    held: Vec<usize>,
    changes: u64,
    gaps: u64,
    /// The watches that are not heard.
    lost: BTreeSet<u32>,
    /// What is to be said to the user.
    said: Vec<String>,
}

impl Tape {
    /// A recording that began at this time, in milliseconds since 1970, goes there, and ends at a change that `until` lets through.
    /// What looks like a credential is made unreadable if it `redacts`.
    pub fn new(began: f64, sink: Sink, until: Option<Filter>, redacts: bool, audit: Option<Followed>) -> Tape {
        let must_know = until.is_some() || audit.is_some() || matches!(&sink, Sink::Output(_));
        Tape {
            began: (Instant::now(), began),
            sink,
            until,
            reached: None,
            newest: must_know.then(Newest::default),
            redacts,
            audit,
            salt: RandomState::new().hash_one(0),
            random: RandomState::new(),
            kinds: BTreeSet::new(),
            held: Vec::new(),
            changes: 0,
            gaps: 0,
            lost: BTreeSet::new(),
            said: Vec::new(),
        }
    }

    /// The time in milliseconds since 1970, by a clock that is never set.
    pub fn now(&self) -> f64 {
        let (began, wall) = self.began;
        wall + began.elapsed().as_secs_f64() * 1_000.0
    }

    /// The time, and a random number of its own.
    pub fn moment(&self) -> Moment {
        let now = self.now();
        let random = (self.random.hash_one(now.to_bits()) >> 11) as f64 / (1_u64 << 53) as f64;
        Moment { now, random }
    }

    /// A watch begins. Returns its number.
    pub fn watch(&mut self, resource: ApiResource, scope: Scope) -> u32 {
        let number = u32::try_from(self.held.len()).unwrap_or(u32::MAX);
        self.held.push(0);
        self.kinds.insert((resource.group, resource.plural));
        self.push(self.now(), &Line::Watch(Watch { number, resource, scope, is_repeated: false }));
        number
    }

    /// The definition of a resource that is recorded.
    pub fn definition(&mut self, text: &str) {
        self.push(self.now(), &Line::Definition(text));
    }

    /// A version came.
    pub fn received(&mut self, watch: u32, resource: &ApiResource, received: ReceivedDelta<'_>) {
        let ReceivedDelta { now, delta_type, object, text, was_known } = received;
        self.changes += u64::from(was_known || delta_type != DeltaType::Replaced);
        let text = text.map(|text| self.readable(resource, text));
        let text = match &text {
            None => Text::None,
            Some(Some(text)) => Text::Whole(text),
            Some(None) => Text::NotKept,
        };
        self.push(now, &Line::Version(Version { watch, delta_type, key: &object.key, uid: &object.uid, text }));
    }

    /// A text without what is not to be read; `None` for a Secret that is no JSON object.
    fn readable<'a>(&self, resource: &ApiResource, text: &'a str) -> Option<Cow<'a, str>> {
        let is_secret = secret::is_secret(resource);
        let text = if is_secret { Cow::Owned(secret::redact(text, self.salt)?) } else { Cow::Borrowed(text) };
        let redacted = self.redacts.then(|| redact::redact(&text, is_secret)).flatten();
        Some(redacted.map_or(text, |redacted| Cow::Owned(redacted.text)))
    }

    /// Something happened to a watch.
    pub fn step(&mut self, watch: u32, at: f64, step: Step) {
        match &step {
            Step::Gap(..) => {
                self.gaps += 1;
                if self.lost.remove(&watch) && self.lost.is_empty() {
                    self.said.push("The API server is heard again.".to_owned());
                }
            }
            Step::Lost(_, reason) => {
                if self.lost.is_empty() {
                    self.said.push(format!(
                        "The API server is not heard ({reason}); it is asked again and again, and what is missing will be a gap."
                    ));
                }
                self.lost.insert(watch);
            }
            _ => {}
        }
        self.push(at, &Line::Step(watch, step));
    }

    /// The user is to know of something that happened to a watch.
    pub fn report(&mut self, resource: &ApiResource, notice: &Notice) {
        self.said.push(format!("{}: {}", resource.plural, notice.sentence()));
    }

    /// The user is to know something.
    pub fn say(&mut self, words: String) {
        self.said.push(words);
    }

    /// The file that is being written.
    pub fn file(&self) -> Option<PathBuf> {
        if let Sink::Output(output) = &self.sink { output.path().map(Path::to_owned) } else { None }
    }

    /// What is to be said to the user since the last call.
    pub fn take_said(&mut self) -> Vec<String> {
        std::mem::take(&mut self.said)
    }

    /// A watch holds so many objects.
    pub fn holds(&mut self, watch: u32, objects: usize) {
        if let Some(held) = self.held.get_mut(watch as usize) {
            *held = objects;
        }
    }

    pub fn counts(&self) -> Counts {
        let (kinds, objects) = (self.kinds.len(), self.held.iter().sum());
        let bytes = if let Sink::Output(output) = &self.sink { output.bytes() } else { 0 };
        Counts { kinds, objects, changes: self.changes, bytes, gaps: self.gaps }
    }

    /// The change that ends the recording, in words, once it has come.
    pub fn reached(&self) -> Option<&str> {
        self.reached.as_deref()
    }

    fn push(&mut self, at: f64, line: &Line<'_>) {
        if let (Some(audit), Some(newest), Line::Version(version)) = (&mut self.audit, &self.newest, line) {
            audit.version(newest, version, at);
        }
        match (&mut self.newest, &self.until) {
            (Some(newest), Some(until)) if self.reached.is_none() => {
                changes::take(newest, at, line, &mut |change, newest| {
                    if self.reached.is_none() && change.noise.is_none() && until.matches(change) {
                        self.reached = Some(changes::words(change, newest));
                    }
                });
            }
            (Some(newest), _) => newest.take(line),
            (None, _) => {}
        }
        match &mut self.sink {
            Sink::Output(output) => output.push(at, line),
            Sink::Terminal(printer) => printer.line(at, line),
        }
    }

    /// Hands all that came to the system, from which nothing gets lost when this program is killed.
    ///
    /// # Errors
    /// When something cannot be written, for good. Nothing more is written then.
    pub fn flush(&mut self) -> io::Result<()> {
        let now = self.now();
        self.turn_audit(now, false);
        match &mut self.sink {
            Sink::Output(output) => output.flush(now, self.newest.as_ref(), &mut self.said),
            Sink::Terminal(printer) => printer.flush(),
        }
    }

    /// Writes more of the beginning of another file, where one is being begun. Returns whether there is more to do.
    pub fn advance(&mut self) -> bool {
        let now = self.now();
        if let Sink::Output(output) = &mut self.sink { output.advance(now, &mut self.said) } else { false }
    }

    /// Reads what has come of the audit log, and writes who made the requests.
    fn turn_audit(&mut self, now: f64, ends: bool) {
        let Tape { audit: Some(audit), sink: Sink::Output(output), .. } = self else { return };
        audit.turn(now, ends, &mut |request| output.push(now, &Line::Request(request.clone())));
        if ends {
            self.said.push(format!("{}.", audit.counts()));
        }
    }

    /// Ends all watches, and the files.
    ///
    /// # Errors
    /// When the rest cannot be written.
    pub fn end(&mut self) -> io::Result<()> {
        let now = self.now();
        self.turn_audit(now, true);
        for watch in 0..self.held.len() {
            self.push(now, &Line::Step(u32::try_from(watch).unwrap_or(u32::MAX), Step::Ended));
        }
        match &mut self.sink {
            Sink::Output(output) => output.end(),
            Sink::Terminal(printer) => printer.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubechurn_client::api::object::decode_metadata;
    use kubechurn_columns::kinds::config::{CONFIG_MAPS, SECRETS};
    use kubechurn_recording::{Header, native};

    use super::*;

    #[test]
    fn what_looks_like_a_credential_is_in_no_file_unless_the_user_says_so_and_secrets_never_are() {
        const CANARIES: [&str; 3] = ["canary-of-the-annotation", "canary-of-the-map", "Y2FuYXJ5LW9mLXRoZS1zZWNyZXQ="];
        let metadata =
            format!(r#"{{"name":"a","uid":"u","resourceVersion":"1","annotations":{{"token":"{}"}}}}"#, CANARIES[0]);
        let map = format!(r#"{{"metadata":{metadata},"data":{{"password":"{}","colour":"green"}}}}"#, CANARIES[1]);
        let secret = format!(r#"{{"metadata":{metadata},"data":{{"value":"{}"}}}}"#, CANARIES[2]);
        for (rules, expected) in
            [(vec![redact::RULE.to_owned()], [false, false, false]), (Vec::new(), [true, true, false])]
        {
            let path = std::env::temp_dir().join(format!("kubechurn-tape-{}-{}", std::process::id(), rules.len()));
            let redacts = !rules.is_empty();
            let header = Header { redaction: rules, ..Header::default() };
            let output = Output::file(&path, header, 0.0).expect("a file");
            let mut tape = Tape::new(0.0, Sink::Output(Box::new(output)), None, redacts, None);
            for (resource, text) in [(CONFIG_MAPS.resource, &map), (SECRETS.resource, &secret)] {
                let watch = tape.watch(resource, Scope::default());
                let object = Arc::new(decode_metadata(text).expect("an object"));
                let (now, delta_type, was_known) = (tape.now(), DeltaType::Added, false);
                let text = Some(text.as_str());
                tape.received(watch, &resource, ReceivedDelta { now, delta_type, object: &object, text, was_known });
            }
            tape.end().expect("it is written");
            let file = std::fs::read(&path).expect("it is there");
            std::fs::remove_file(&path).expect("it goes");
            let mut all = String::new();
            native::read(&file, |_, line| all += &format!("{line:?}")).expect("it is a recording");
            assert_eq!(CANARIES.map(|canary| all.contains(canary)), expected, "{all}");
            assert!(all.contains("green"), "{all}");
        }
    }
}
