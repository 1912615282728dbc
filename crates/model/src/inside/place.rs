//! Where the user is inside of an informer, as the address writes it: what is played, what was set after which step, and the
//! step. The same text leads to the same state.

use form_urlencoded::{Serializer, parse};
use kubechurn_client::api::sort;

use crate::inside::breaks::{Break, BreakKind};
use crate::inside::handlers::HandlerOptions;
use crate::inside::machine::Settings;
use crate::inside::queues::Which;

/// The name of the handler that the user makes slow.
pub const SLOW: &str = "exporter";
/// The name of the handler that comes late.
pub const LATE: &str = "latecomer";

/// So many changes of the settings are kept at most.
const MOST: usize = 64;

/// Something that the user sets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change {
    /// The queue whose pops the handlers get.
    Queue(Which),
    /// Whether the RealFIFO takes a list in one piece. It holds from the beginning on.
    Atomic(bool),
    /// Whether a watch brings the list first. It holds from the beginning on.
    Streams(bool),
    /// How long a pop takes, in milliseconds; `None` is for ever.
    Pop(Option<f64>),
    /// How often to resync, in milliseconds; `None` is never.
    Resync(Option<f64>),
    /// How long a call of the slow handler takes, in milliseconds.
    Slow(f64),
    /// One more handler joins.
    Late,
    /// How many workers there are.
    Workers(usize),
    /// How long the work on a key takes, in milliseconds.
    Work(f64),
    /// Every so many attempts one fails; 0 is never.
    Fails(u64),
    /// Whether the limiter forgets a key that succeeded.
    Forgets(bool),
    /// Something breaks before an entry of the server's log.
    Break(Break),
    /// What has not broken yet does not break.
    Mend,
}

/// The word of each break in the address.
const BREAKS: [&str; 8] = ["cut", "410", "delay", "twice", "swap", "lose", "burst", "silence"];

impl Change {
    /// Reads it: `pop.400`, `queue.delta`, `cut.7`.
    pub fn parse(text: &str) -> Option<Change> {
        let (name, value) = text.split_once('.').unwrap_or((text, ""));
        let time = || value.parse().ok().filter(|time: &f64| (0.0..=86_400_000.0).contains(time));
        let time_or_never = || if value == "never" { Some(None) } else { time().map(Some) };
        Some(match name {
            "queue" => Change::Queue(Which::ALL.into_iter().find(|which| which.word() == value)?),
            "atomic" => Change::Atomic(value == "1"),
            "streams" => Change::Streams(value == "1"),
            "pop" => Change::Pop(time_or_never()?),
            // A resync at each moment would never come to an end.
            "resync" => Change::Resync(time_or_never()?.filter(|every| *every >= 1_000.0)),
            "slow" => Change::Slow(time()?),
            "late" => Change::Late,
            "workers" => Change::Workers(value.parse().ok().filter(|count| *count <= 16)?),
            "work" => Change::Work(time()?),
            "fails" => Change::Fails(value.parse().ok()?),
            "forgets" => Change::Forgets(value == "1"),
            "mend" => Change::Mend,
            name => {
                let at = BREAKS.iter().position(|word| *word == name)?;
                Change::Break(Break { entry: value.parse().ok()?, kind: BreakKind::ALL[at] })
            }
        })
    }

    /// Writes it.
    pub fn written(&self) -> String {
        let on = |is_on: bool| if is_on { "1" } else { "0" };
        let time = |time: Option<f64>| time.map_or_else(|| String::from("never"), |time| time.to_string());
        let (name, value) = match *self {
            Change::Queue(which) => ("queue", which.word().to_owned()),
            Change::Atomic(is_on) => ("atomic", on(is_on).to_owned()),
            Change::Streams(is_on) => ("streams", on(is_on).to_owned()),
            Change::Pop(takes) => ("pop", time(takes)),
            Change::Resync(every) => ("resync", time(every)),
            Change::Slow(takes) => ("slow", time(Some(takes))),
            Change::Late => return String::from("late"),
            Change::Workers(count) => ("workers", count.to_string()),
            Change::Work(takes) => ("work", time(Some(takes))),
            Change::Fails(every) => ("fails", every.to_string()),
            Change::Forgets(is_on) => ("forgets", on(is_on).to_owned()),
            Change::Mend => return String::from("mend"),
            Change::Break(Break { entry, kind }) => {
                let at = BreakKind::ALL.iter().position(|own| same_kind(*own, kind)).unwrap_or_default();
                (BREAKS[at], entry.to_string())
            }
        };
        format!("{name}.{value}")
    }

    /// Whether it holds from the beginning on, whenever it is set.
    pub fn is_of_beginning(self) -> bool {
        matches!(self, Change::Atomic(_) | Change::Streams(_))
    }

    /// The settings with this change, made at a time in milliseconds.
    pub fn apply(self, settings: &mut Settings, now: f64) {
        match self {
            Change::Queue(which) => settings.chosen = which,
            Change::Atomic(is_on) => settings.atomic = is_on,
            Change::Streams(is_on) => settings.streams = is_on,
            Change::Pop(takes) => settings.pop_takes = takes.unwrap_or(f64::INFINITY),
            Change::Resync(every) => settings.resync = every,
            Change::Slow(takes) => handler(SLOW, settings, now).takes = takes,
            Change::Late => handler(LATE, settings, now).takes = 0.0,
            Change::Workers(count) => settings.reconciler.workers = count,
            Change::Work(takes) => settings.reconciler.takes = takes,
            Change::Fails(every) => settings.reconciler.fails_every = every,
            Change::Forgets(is_on) => settings.reconciler.forgets = is_on,
            Change::Break(broken) => settings.breaks.push(broken),
            Change::Mend => settings.breaks.clear(),
        }
    }
}

/// Whether both break the same.
pub fn same_kind(one: BreakKind, other: BreakKind) -> bool {
    std::mem::discriminant(&one) == std::mem::discriminant(&other)
}

/// The handler of this name, which joins now where there is none.
fn handler<'a>(name: &str, settings: &'a mut Settings, now: f64) -> &'a mut HandlerOptions {
    let handlers = &mut settings.handlers;
    let at = handlers.iter().position(|handler| handler.name == name).unwrap_or_else(|| {
        handlers.push(HandlerOptions { name: name.to_owned(), takes: 0.0, joins: now, wants_resync: false });
        handlers.len() - 1
    });
    &mut handlers[at]
}

/// A place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// After how many steps.
    pub step: usize,
    /// What was set, and after which step; in the order of the steps.
    pub set: Vec<(usize, Change)>,
    /// The lesson that is played; empty for what the page has recorded.
    pub lesson: String,
    /// Its caption that is read, from 0; `None` where the user has gone to a step of his own.
    pub caption: Option<usize>,
    /// Which of the versions that were received are played: those from one number up to before another one.
    pub received: Option<(u64, u64)>,
    /// What came after those while steps were shown: of each piece from when on it happens, in milliseconds, and up to before
    /// which number it goes.
    pub grown: Vec<(u64, u64)>,
}

impl Place {
    /// Reads what the address says. What makes no sense is left out.
    pub fn parse(query: &str) -> Place {
        let mut place = Place::default();
        for (name, value) in parse(query.as_bytes()) {
            match &*name {
                "step" => place.step = value.parse().unwrap_or_default(),
                "set" => {
                    let set = value.split(',').filter_map(|set| {
                        let (step, change) = set.split_once('.')?;
                        Some((step.parse().ok()?, Change::parse(change)?))
                    });
                    place.set = set.take(MOST).collect();
                    sort::sort_by_key(&mut place.set, |(step, _)| *step);
                }
                "lesson" => place.lesson = value.into_owned(),
                "caption" => place.caption = value.parse().ok().and_then(|number: usize| number.checked_sub(1)),
                "received" => {
                    let numbers = value.split_once('-');
                    place.received = numbers.and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?)));
                }
                "grown" => {
                    let grown = value.split(',').filter_map(|piece| {
                        let (at, to) = piece.split_once('.')?;
                        Some((at.parse().ok()?, to.parse().ok()?))
                    });
                    place.grown = grown.take(MOST).collect();
                }
                _ => {}
            }
        }
        // A lesson begins with its first caption.
        if !place.lesson.is_empty() && place.step == 0 && place.set.is_empty() {
            place.caption = place.caption.or(Some(0));
        }
        place
    }

    /// What the address says of it.
    pub fn written(&self) -> String {
        let mut query = Serializer::new(String::new());
        if !self.lesson.is_empty() {
            query.append_pair("lesson", &self.lesson);
        }
        if let Some((from, to)) = self.received {
            query.append_pair("received", &format!("{from}-{to}"));
        }
        if !self.grown.is_empty() {
            let grown = self.grown.iter().map(|(at, to)| format!("{at}.{to}"));
            query.append_pair("grown", &grown.collect::<Vec<_>>().join(","));
        }
        if !self.set.is_empty() {
            let set = self.set.iter().map(|(step, change)| format!("{step}.{}", change.written()));
            query.append_pair("set", &set.collect::<Vec<_>>().join(","));
        }
        match self.caption {
            Some(caption) => {
                query.append_pair("caption", &(caption + 1).to_string());
            }
            None if self.step > 0 => {
                query.append_pair("step", &self.step.to_string());
            }
            None => {}
        }
        query.finish()
    }

    /// Whether what has grown here is all that has grown there, and perhaps more.
    pub fn has_grown_as(&self, other: &Place) -> bool {
        let is_as = |(own, other): (&(u64, u64), &(u64, u64))| own.0 == other.0 && own.1 >= other.1;
        other.grown.len() <= self.grown.len() && self.grown.iter().zip(&other.grown).all(is_as)
    }

    /// The pieces with what came up to before a number, which happens from this time on, in milliseconds; 0 is where it happens
    /// no earlier anyway. `None` if there are as many as the address takes.
    pub fn with_grown(&self, from: u64, to: u64) -> Option<Vec<(u64, u64)>> {
        let mut grown = self.grown.clone();
        let len = grown.len();
        match grown.last_mut() {
            Some(last) if from == 0 => last.1 = to,
            _ if len == MOST => return None,
            _ => grown.push((from, to)),
        }
        Some(grown)
    }

    /// Whether both play the same in the same way, at whatever step.
    pub fn plays_the_same(&self, other: &Place) -> bool {
        (&self.set, &self.lesson, self.received) == (&other.set, &other.lesson, other.received)
    }

    /// Sets something after the present step. What was set after later steps is forgotten.
    pub fn change(&mut self, change: Change) {
        let step = if change.is_of_beginning() { 0 } else { self.step };
        if step == self.step {
            self.set.retain(|(at, _)| *at <= step);
        }
        // What stands at the same step and is set anew is set once.
        let is_same = |own: &Change| match (own, change) {
            (Change::Break(own), Change::Break(new)) => own.entry == new.entry,
            (own, new) => std::mem::discriminant(own) == std::mem::discriminant(&new),
        };
        self.set.retain(|(at, own)| *at != step || !is_same(own));
        let at = self.set.partition_point(|(at, _)| *at <= step);
        self.set.insert(at, (step, change));
        if self.set.len() > MOST {
            self.set.remove(0);
        }
    }
}
