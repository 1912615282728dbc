//! What is recorded, in the order in which it came, and how much of it there is.

use std::collections::BTreeSet;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Stdout};
use std::time::Instant;

use kubechurn_changes::filter::Filter;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::reflector::Notice;
use kubechurn_client::cache::shared_informer::ReceivedDelta;
use kubechurn_model::history::secret;
use kubechurn_recording::{Line, Newest, Step, Text, Version, Watch};

use super::output::Output;
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
    /// What the marks of masked values are made with. It is in no file.
    salt: u64,
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
    pub fn new(began: f64, sink: Sink, until: Option<Filter>) -> Tape {
        let must_know = until.is_some() || matches!(&sink, Sink::Output(output) if output.rolls());
        Tape {
            began: (Instant::now(), began),
            sink,
            until,
            reached: None,
            newest: must_know.then(Newest::default),
            salt: RandomState::new().hash_one(0),
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
        let masked = text.filter(|_| secret::is_secret(resource)).map(|text| secret::redact(text, self.salt));
        let text = match (text, &masked) {
            (None, _) => Text::None,
            (Some(text), None) => Text::Whole(text),
            (_, Some(masked)) => masked.as_deref().map_or(Text::NotKept, Text::Whole),
        };
        self.push(now, &Line::Version(Version { watch, delta_type, key: &object.key, uid: &object.uid, text }));
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
    pub fn tell(&mut self, resource: &ApiResource, notice: &Notice) {
        self.said.push(format!("{}: {}", resource.plural, notice.sentence()));
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
        match (&mut self.newest, &self.until) {
            (Some(newest), Some(until)) if self.reached.is_none() => {
                changes::told(newest, at, line, &mut |change, newest| {
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
        match &mut self.sink {
            Sink::Output(output) => output.flush(now, self.newest.as_ref(), &mut self.said),
            Sink::Terminal(printer) => printer.flush(),
        }
    }

    /// Ends all watches, and the files.
    ///
    /// # Errors
    /// When the rest cannot be written.
    pub fn end(&mut self) -> io::Result<()> {
        let now = self.now();
        for watch in 0..self.held.len() {
            self.push(now, &Line::Step(u32::try_from(watch).unwrap_or(u32::MAX), Step::Ended));
        }
        match &mut self.sink {
            Sink::Output(output) => output.end(),
            Sink::Terminal(printer) => printer.flush(),
        }
    }
}
