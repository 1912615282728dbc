//! What a row of the feed shows: above, what was changed and by whom; below, what came of it.

use kubechurn_changes::feed::{Entry, EntryId, Feed, Outcome, Progress, Subject};
use kubechurn_changes::field::Field;
use kubechurn_changes::line::Line;
use kubechurn_changes::noise::Mark;
use kubechurn_changes::part::{Part, PartKind};
use kubechurn_changes::value::Value;
use kubechurn_client::api::cell::Tone;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_columns::state::tone_of;

use crate::timeline::mark::MarkType;

/// The sign of a note.
const NOTE: &str = "✎";
/// How many letters of the end of a name are always shown. The random part of a Pod's name has five, its ReplicaSet's ten.
const NAME_END: usize = 6;
/// The width of a letter of a field, in CSS pixels.
const LETTER: f64 = 7.3;
/// What a row of a field needs beside its words, in CSS pixels.
const BESIDE: f64 = 120.0;
/// The most lines of one field.
const MOST_LINES: f64 = 8.0;

/// A piece of a row's words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Piece {
    /// The text.
    pub text: String,
    /// `path`, `old`, `arrow` or `new`; empty for plain words.
    pub what: &'static str,
    /// What the state means that the text says.
    pub tone: Tone,
}

impl Piece {
    fn new(text: impl Into<String>, what: &'static str) -> Piece {
        Piece { text: text.into(), what, tone: Tone::Plain }
    }

    /// Words that are no value.
    pub fn plain(text: impl Into<String>) -> Piece {
        Piece::new(text, "")
    }
}

/// A row as it is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeedRow {
    /// The row's number; that of the row above for one of its changes.
    pub id: EntryId,
    /// The number of the change that it shows; of a row that shows several, that of the last one.
    pub seq: Option<u64>,
    /// When the first of its changes was received, which is where the row stands: `13:04:05.678`.
    pub time: String,
    /// The same in milliseconds since 1970.
    pub at: f64,
    /// How long ago that is: `37s`.
    pub age: String,
    /// The type of the last change: name and sign.
    pub delta: (&'static str, &'static str),
    /// What the state means to which the object came.
    pub tone: Tone,
    /// Whether it is ordinary life, which needs nobody.
    pub is_ordinary: bool,
    /// The kind; of several objects, how many of which kind.
    pub kind: String,
    /// The object's name without its end: `shop/cart-7c9d5b6f4-x`.
    pub name: String,
    /// The end of the name, which is shown whole however narrow the row is.
    pub name_end: String,
    /// What was changed.
    pub words: Vec<Piece>,
    /// What came of it, or else what was changed besides.
    pub below: Vec<Piece>,
    /// How many fields more were changed, in words.
    pub more: String,
    /// How often, and in what time.
    pub repetition: String,
    /// Who seems to have written it; or who made the request, where that is certain.
    pub writers: String,
    /// With which program and from where that was, where it is certain.
    pub how: String,
    /// Of which changes nobody is known to have written them, in words.
    pub unknown: &'static str,
    /// How far it is indented.
    pub depth: u8,
    /// `change`, `noise`, `notice`, `note`, `line`, or `field` for a field of a line; `past` for what an object says of its past, and
    /// `past-head` for the row above those.
    pub what: &'static str,
    /// Where a click leads; empty for nowhere.
    pub href: String,
    /// Where the rollout is looked at that it began; empty for none.
    pub rollout: String,
    /// Whether there is more of it to be shown.
    pub opens: bool,
    /// Whether that is shown.
    pub is_open: bool,
    /// The field that can be called noise; empty for none.
    pub noise: String,
    /// The number of the note that it shows.
    pub note: Option<u64>,
    /// All of its words, with whole paths and values, for those who point at it.
    pub whole: String,
}

/// What stands in one place of the feed, as far as its height depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Height {
    /// What was changed, and below it what came of it.
    Change,
    /// Noise, a notice, or one of the changes of an opened row.
    Line,
    /// A field with so many letters.
    Field(usize),
}

impl Height {
    pub(super) fn of_entry(entry: &Entry) -> Height {
        match entry.subject {
            Subject::Noise(_) | Subject::Notice(_) | Subject::Note(_) => Height::Line,
            _ => Height::Change,
        }
    }

    /// In CSS pixels, in a feed of this width.
    pub(super) fn pixels(self, width: f64) -> f64 {
        let is_narrow = width < super::NARROW;
        match self {
            Height::Change if is_narrow => 58.0,
            Height::Change => 41.0,
            Height::Line if is_narrow => 42.0,
            Height::Line => 25.0,
            Height::Field(letters) => {
                let in_line = ((width - BESIDE) / LETTER).max(20.0);
                8.0 + 17.0 * (letters as f64 / in_line).ceil().clamp(1.0, MOST_LINES)
            }
        }
    }
}

/// The field of a row that the user may call noise: its first one.
pub(super) fn noise_of(entry: &Entry) -> Option<Mark> {
    let path = entry.progress.first()?.path.to_string();
    // What the page puts together from several fields is no field.
    path.contains('.').then(|| Mark { kind: entry.kind.to_string(), object: None, path })
}

/// The name and the sign of a type.
fn sign(delta_type: DeltaType) -> (&'static str, &'static str) {
    let mark = MarkType::from(delta_type);
    (mark.name(), mark.glyph())
}

/// A name in two parts, of which the first may be shortened.
pub(super) fn split(name: &str) -> (String, String) {
    let at = name.char_indices().rev().nth(NAME_END - 1).map_or(0, |(at, _)| at);
    (name[..at].to_owned(), name[at..].to_owned())
}

/// What a row of the feed shows, without its time and age. `outcome` is what came of it, and `href` where a click leads.
pub fn row_of(entry: &Entry, outcome: &[Outcome], is_open: bool, href: String) -> FeedRow {
    let what = match &entry.subject {
        Subject::Noise(_) => "noise",
        Subject::Notice(_) => "notice",
        Subject::Note(_) => "note",
        Subject::Object(_) | Subject::Group { .. } | Subject::Events => "change",
    };
    let row = FeedRow {
        id: entry.id,
        seq: entry.seqs.last().copied(),
        at: entry.first_at,
        depth: entry.depth,
        what,
        href,
        is_open,
        ..FeedRow::default()
    };
    if what != "change" {
        let glyph = match what {
            "noise" => "▸",
            "note" => NOTE,
            _ => MarkType::Gap.glyph(),
        };
        let text = entry.to_string();
        let whole = if what == "note" { text.clone() } else { String::new() };
        let note = Feed::note_of(entry.id);
        return FeedRow { delta: ("", glyph), words: vec![Piece::plain(text)], note, whole, ..row };
    }
    let (kind, name) = match &entry.subject {
        Subject::Object(key) => (entry.kind.to_string(), key.to_string()),
        Subject::Group { owner: Some(owner), .. } => {
            let count = entry.name();
            (
                count.split(" of ").next().unwrap_or_default().to_owned() + " of",
                format!("{} {}", owner.kind, owner.name),
            )
        }
        _ => (String::new(), entry.name()),
    };
    let (name, name_end) = split(&name);
    let mut fields = entry.fields();
    let mut words = Vec::new();
    if entry.has_added && &*entry.kind != "Event" {
        words.push(Piece::plain("added"));
    }
    if let Some(first) = fields.next() {
        separate(&mut words);
        words.extend(pieces(&entry.kind, &first.path, first.parts()));
    }
    if let Some(unknown) = entry.unknown {
        separate(&mut words);
        words.push(Piece::plain(unknown.words()));
    }
    let all = if let Subject::Group { objects, .. } = entry.subject { objects } else { 1 };
    if entry.deleted > 0 {
        separate(&mut words);
        words.push(Piece::plain(if entry.deleted < all {
            format!("{} deleted", entry.deleted)
        } else {
            "deleted".into()
        }));
    }
    let mut below = pieces_of_outcome(outcome);
    if below.is_empty() {
        below = match entry.message() {
            Some(message) => vec![Piece::plain(message.whole())],
            None => fields.next().map(|field| pieces(&entry.kind, &field.path, field.parts())).unwrap_or_default(),
        };
    }
    let left = fields.count() + entry.unlisted();
    let last = words.iter().rev().find(|piece| piece.what == "new");
    FeedRow {
        delta: sign(entry.delta_type),
        tone: last.map_or(Tone::Plain, |piece| piece.tone),
        is_ordinary: entry.is_ordinary(),
        kind,
        name,
        name_end,
        words,
        below,
        more: if left > 0 { format!("+ {left} more field{}", if left == 1 { "" } else { "s" }) } else { String::new() },
        repetition: entry.repetition(),
        writers: entry.writer_names(),
        unknown: entry.unknown_writers(),
        opens: entry.count > 1 || left > 0,
        noise: noise_of(entry).map_or_else(String::new, |mark| mark.path),
        whole: entry.progress.iter().map(Progress::title).collect::<Vec<_>>().join("\n"),
        ..row
    }
}

/// Puts a comma after what is there.
fn separate(words: &mut Vec<Piece>) {
    if !words.is_empty() {
        words.push(Piece::plain(", "));
    }
}

/// An Event is known by the object that it is about: its own name says nothing.
pub fn name_by_its_object(row: &mut FeedRow, line: &Line) {
    if let Some(about) = line.controller().filter(|_| &*line.kind == "Event") {
        row.kind = format!("Event of {}", about.kind);
        (row.name, row.name_end) = split(&about.name);
    }
}

/// Parts of a sentence about a field of a kind, each state with what it means.
fn pieces(kind: &str, path: &str, parts: Vec<Part>) -> Vec<Piece> {
    // The reason and the message of an Event are known for what they are.
    let is_known = kind == "Event" && matches!(path, "type" | "reason" | "message" | "note");
    let is_said = |part: &Part| !is_known || part.kind != PartKind::Path;
    let piece = |part: Part| {
        let what = match part.kind {
            PartKind::Path => "path",
            PartKind::Old => "old",
            PartKind::New => "new",
            PartKind::Arrow => "arrow",
            PartKind::Count | PartKind::Plain | PartKind::More => "",
        };
        let tone = if part.kind == PartKind::New { tone_of(kind, path, &part.text) } else { Tone::Plain };
        Piece { text: part.text, what, tone }
    };
    parts.into_iter().filter(is_said).map(piece).collect()
}

/// How the objects fare that a change was for.
fn pieces_of_outcome(outcomes: &[Outcome]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for outcome in outcomes {
        separate(&mut pieces);
        let words = outcome.to_string();
        let before = words.strip_suffix(&*outcome.word).unwrap_or_default();
        pieces.push(Piece::plain(before));
        pieces.push(Piece { text: outcome.word.to_string(), what: "state", tone: outcome.tone });
    }
    pieces
}

/// What one of the changes of an opened row shows, without its time and age: its first field.
pub fn line_of(id: EntryId, line: &Line, depth: u8) -> FeedRow {
    let (name, name_end) = split(&line.key.to_string());
    let mut words = Vec::new();
    if line.delta_type == DeltaType::Added && &*line.kind != "Event" {
        words.push(Piece::plain("added"));
    }
    if let Some(first) = line.fields.first() {
        // An Event that counts on says why all the same.
        if let Some(reason) = line.reason.as_ref().filter(|_| first.path != "reason") {
            words.push(Piece::plain(reason.word.as_str()));
        }
        separate(&mut words);
        words.extend(pieces(&line.kind, &first.path, first.parts(&line.key.name)));
    }
    if let Some(unknown) = line.unknown {
        separate(&mut words);
        words.push(Piece::plain(unknown.words()));
    }
    if line.delta_type == DeltaType::Deleted {
        separate(&mut words);
        words.push(Piece::plain("deleted"));
    }
    let tone = words.iter().rev().find(|piece| piece.what == "new").map_or(Tone::Plain, |piece| piece.tone);
    FeedRow {
        id,
        seq: Some(line.seq),
        at: line.at,
        delta: sign(line.delta_type),
        tone,
        kind: line.kind.to_string(),
        name,
        name_end,
        words,
        writers: line.writers.first().map_or_else(String::new, |writer| writer.name().to_string()),
        depth: depth + 1,
        what: "line",
        whole: line.to_string(),
        ..FeedRow::default()
    }
}

/// How many fields of a change have a row of their own when the row above is opened, beside the first: those that are
/// kept, and one for the paths of all others.
pub(super) fn further_fields(line: &Line) -> usize {
    line.fields.len().saturating_sub(1) + usize::from(line.more > 0)
}

/// How many letters one of these rows has.
pub(super) fn letters(line: &Line, number: usize) -> usize {
    let of = |value: &Option<Value>| value.as_ref().map_or(0, |value| value.kept().chars().count());
    match line.fields.get(number + 1) {
        Some(field) => field.path.len() + of(&field.old) + of(&field.new) + 4,
        None => line.other_paths.iter().map(|path| path.len() + 2).sum::<usize>() + 10,
    }
}

/// What one of these rows shows.
pub fn field_of(id: EntryId, line: &Line, number: usize, depth: u8) -> FeedRow {
    let words = match line.fields.get(number + 1) {
        Some(field) => whole(&line.kind, field),
        None => vec![
            Piece::plain(format!("+ {} more: ", line.more)),
            Piece::new(line.other_paths.iter().map(|path| &**path).collect::<Vec<_>>().join(", "), "path"),
        ],
    };
    FeedRow { id, seq: Some(line.seq), at: line.at, words, depth: depth + 2, what: "field", ..FeedRow::default() }
}

/// A field with all that is kept of its values.
fn whole(kind: &str, field: &Field) -> Vec<Piece> {
    let kept = |value: &Value| -> String {
        value.kept().chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
    };
    let mut pieces = vec![Piece::new(format!("{} ", field.path), "path")];
    if let Some(old) = &field.old {
        pieces.push(Piece::new(kept(old), "old"));
        pieces.push(Piece::new(" → ", "arrow"));
    }
    let new = field.new.as_ref().map_or_else(|| String::from("none"), kept);
    pieces.push(Piece { tone: tone_of(kind, &field.path, &new), text: new, what: "new" });
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_keeps_its_end() {
        for (name, expected) in
            [("shop/cart-7c9d5b6f4-x2k4p", ("shop/cart-7c9d5b6f4", "-x2k4p")), ("a", ("", "a")), ("", ("", ""))]
        {
            let (head, end) = split(name);
            assert_eq!((&*head, &*end), expected);
        }
        assert_eq!(split("é".repeat(9).as_str()).1, "é".repeat(NAME_END), "a letter is never cut");
    }
}
