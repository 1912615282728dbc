//! An entry of *wrong now*, and a loop or a fight, as they are shown.

use kubechurn_changes::findings::Card;
use kubechurn_changes::findings::Finding;
use kubechurn_client::api::cell::Tone;

use crate::feed::wrong::{Change, Entry};

/// Words, and which part of a sentence they are: `bad`, `wait`, `value`, `path`, `old`, `arrow`, or nothing.
pub type Words = Vec<(String, &'static str)>;

/// An entry as it is shown: two lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WrongRow {
    /// What it means: `bad`, `wait`, `fight` or `over`.
    pub tone: &'static str,
    /// The same as a sign.
    pub sign: &'static str,
    /// The subject's kind.
    pub kind: String,
    /// The subject's namespace and name.
    pub name: String,
    /// Where the subject is looked at; empty where it was not received.
    pub href: String,
    /// Where it is looked at why; empty where the subject was not received.
    pub why_href: String,
    /// What is wrong.
    pub words: Words,
    /// With which change it began, in words.
    pub began: Words,
    /// Where that change is looked at; empty where there is none.
    pub began_href: String,
    /// Who seems to have written that change.
    pub writer: String,
    /// How long it lasts, or since when it is over.
    pub since: String,
    /// The time of day at which it began.
    pub time: String,
    /// The same in milliseconds since 1970.
    pub at: f64,
    /// Whether it is a loop or a fight.
    pub is_card: bool,
    /// Whether something fails, and does not only repeat itself.
    pub fails: bool,
}

/// The section.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WrongModel {
    /// The entries that are open.
    pub rows: Vec<WrongRow>,
    /// How many things are wrong now, those that are not shown included.
    pub count: usize,
    /// How many entries there are beside the first ones.
    pub more: usize,
    /// Whether these are shown, too.
    pub is_open: bool,
    /// What it is called: what is wrong, and when.
    pub title: String,
    /// From what it is known, and what is not known.
    pub note: String,
    /// Whether there is something to be shown.
    pub is_shown: bool,
}

/// Said where no change is proven to be the beginning.
pub const UNEXPLAINED: &str = "no change of its own explains it";

/// An entry, without its links and times. `is_read` says whether every change before it was looked at: only then is it known that
/// none explains it. What other objects have to do with it, *Why?* finds out.
pub fn of_entry(entry: &Entry, is_read: bool) -> WrongRow {
    let (tone, sign) = match (entry.ended_at, entry.fault.tone()) {
        (Some(_), _) => ("over", "✓"),
        (None, Tone::Wait) => ("wait", "■"),
        _ => ("bad", "■"),
    };
    let began = entry.began.as_ref();
    let mut words = began.map(|began| lead(began.words())).unwrap_or_default();
    if is_read && began.is_none_or(|began| !began.explains()) {
        let lead = if words.is_empty() { "" } else { "and " };
        words.push((format!("{lead}{UNEXPLAINED}"), "old"));
    }
    WrongRow {
        tone,
        sign,
        kind: entry.subject.kind.clone(),
        name: entry.subject.key.to_string(),
        words: entry.words(),
        began: if entry.ended_at.is_some() { Vec::new() } else { words },
        writer: began.map(|change: &Change| change.writer.clone()).unwrap_or_default(),
        fails: tone == "bad",
        ..WrongRow::default()
    }
}

/// A loop or a fight, without its links and times. `same` is how many more objects there are of which the same is to be said.
pub fn of_card(card: &Card, same: usize) -> WrongRow {
    let fails = matches!(card.finding, Finding::Stuck { .. });
    let mut words = card.words();
    if same > 0 {
        words.push((format!("the same of {same} more"), "old"));
    }
    let (began, writer) = match &card.finding {
        Finding::Fight { values: [one, two], managers: [first, second], .. } => {
            let between = format!("{first} sets the one, {second} the other");
            let values = vec![(one.clone(), "value"), ("⇄".into(), "arrow"), (two.clone(), "value"), (between, "old")];
            (values, format!("{first}, {second}"))
        }
        Finding::Flapping { values: [one, two], manager, .. } => {
            (vec![(one.clone(), "value"), ("⇄".into(), "arrow"), (two.clone(), "value")], manager.clone())
        }
        Finding::Rewriting { manager } => (Vec::new(), manager.clone()),
        Finding::Recreated => (Vec::new(), String::new()),
        Finding::Stuck { .. } => (vec![(UNEXPLAINED.into(), "old")], String::new()),
    };
    WrongRow {
        tone: if fails { "bad" } else { "fight" },
        sign: if fails { "■" } else { "⇄" },
        kind: card.kind.to_string(),
        name: card.key.to_string(),
        words,
        began,
        writer,
        is_card: true,
        fails,
        ..WrongRow::default()
    }
}

fn lead(words: Words) -> Words {
    std::iter::once((String::from("began with"), "old")).chain(words).collect()
}
