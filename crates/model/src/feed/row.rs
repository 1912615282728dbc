//! What a row of the feed shows.

use kubechurn_changes::feed::{Entry, EntryId, Subject};
use kubechurn_changes::line::Line;
use kubechurn_changes::noise::Mark;
use kubechurn_client::cache::delta::DeltaType;

use crate::timeline::mark::MarkType;

/// A row as it is shown.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FeedRow {
    /// The row's number; that of the row above for one of its changes.
    pub id: EntryId,
    /// When the last of its changes was received: `13:04:05.678`.
    pub time: String,
    /// The same in milliseconds since 1970.
    pub at: f64,
    /// The type of the last change: name and sign.
    pub delta: (&'static str, &'static str),
    /// The kind in short: `po`.
    pub kind: String,
    /// The object: `shop/cart`, or several in words.
    pub name: String,
    /// What happened, in parts: text, and what it is (`path`, `arrow`, `value`, or nothing).
    pub words: Vec<(String, &'static str)>,
    /// How often, and in what time.
    pub repetition: String,
    /// Who seems to have written it.
    pub writers: String,
    /// How far it is indented.
    pub depth: u8,
    /// `change`, `noise`, `notice` or `line`.
    pub what: &'static str,
    /// Where a click leads; empty for nowhere.
    pub href: String,
    /// Whether it tells several changes, which can be shown.
    pub opens: bool,
    /// Whether they are shown.
    pub is_open: bool,
    /// The field that can be called noise; empty for none.
    pub noise: String,
}

/// The field of a row that the user may call noise: its first one.
pub(super) fn noise_of(entry: &Entry) -> Option<Mark> {
    let path = entry.progress.first()?.path.to_string();
    // What the page puts together from several fields is no field.
    path.contains('.').then(|| Mark { kind: entry.kind.to_string(), path })
}

/// The name and the sign of a type.
fn sign(delta_type: DeltaType) -> (&'static str, &'static str) {
    let mark = MarkType::from(delta_type);
    (mark.name(), mark.glyph())
}

/// What a row says, in parts: what stands before and after each arrow, and of which field it is.
fn parts(words: &str) -> Vec<(String, &'static str)> {
    let mut parts = Vec::new();
    let mut rest = words;
    while !rest.is_empty() {
        let end = next_field(rest).unwrap_or(rest.len());
        let (phrase, after) = rest.split_at(end);
        parts_of_field(phrase, &mut parts);
        rest = after;
        if let Some(after) = rest.strip_prefix(", ") {
            parts.push((String::from(", "), ""));
            rest = after;
        }
    }
    parts
}

/// Where the words of the next field begin: after a comma stands a path.
fn next_field(words: &str) -> Option<usize> {
    let mut commas = words.match_indices(", ").map(|(at, _)| at);
    commas.find(|at| {
        let name = words[at + 2..].split([' ', ',']).next().unwrap_or_default();
        let is_path = name.contains('.') && name.starts_with(|first: char| first.is_ascii_lowercase());
        words[..*at].ends_with("added") || is_path || matches!(name, "status" | "reason" | "message")
    })
}

fn parts_of_field(words: &str, parts: &mut Vec<(String, &'static str)>) {
    let mut arrows = words.match_indices([' ']).filter_map(|(at, _)| {
        let arrow = [" → ", " ⇄ "].into_iter().find(|arrow| words[at..].starts_with(arrow))?;
        Some((at, arrow))
    });
    let first = arrows.next();
    let mut rest = words;
    // A path stands before its value.
    if let Some((path, after)) = words.split_once(' ')
        && (first.is_some_and(|(at, _)| path.len() < at) || path.contains('.'))
    {
        parts.push((format!("{path} "), "path"));
        rest = after;
    }
    let mut before = words.len() - rest.len();
    let mut what = if first.is_some() { "old" } else { "" };
    for (at, arrow) in first.into_iter().chain(arrows) {
        parts.push((words[before..at].to_owned(), what));
        parts.push((arrow.to_owned(), "arrow"));
        (before, what) = (at + arrow.len(), "value");
    }
    parts.push((words[before..].to_owned(), what));
}

/// What a row of the feed shows. `time` is the time of day, `short` the kind's short name, `href` where a click leads.
pub fn row_of(entry: &Entry, is_open: bool, time: String, short: &str, href: String) -> FeedRow {
    let (what, name) = match &entry.subject {
        Subject::Noise(_) => ("noise", String::new()),
        Subject::Notice(_) => ("notice", String::new()),
        Subject::Object(key) => ("change", key.to_string()),
        Subject::Group { .. } | Subject::Events => ("change", entry.name()),
    };
    let is_object = matches!(entry.subject, Subject::Object(_));
    FeedRow {
        id: entry.id,
        time,
        at: entry.last_at,
        delta: if what == "change" {
            sign(entry.delta_type)
        } else {
            ("", if what == "noise" { "▸" } else { "◆" })
        },
        kind: if is_object { short.to_owned() } else { String::new() },
        name,
        words: parts(&entry.to_string()),
        repetition: if what == "change" { entry.repetition() } else { String::new() },
        writers: entry.by(),
        depth: entry.depth,
        what,
        href,
        opens: entry.count > 1 && what != "notice",
        is_open,
        noise: if what == "change" {
            noise_of(entry).map_or_else(String::new, |mark| mark.path)
        } else {
            String::new()
        },
    }
}

/// What one of the changes of an opened row shows.
pub fn line_of(id: EntryId, line: &Line, depth: u8, time: String, short: &str) -> FeedRow {
    let writers = line.writers.first().map_or_else(String::new, ToString::to_string);
    FeedRow {
        id,
        time,
        at: line.at,
        delta: sign(line.delta_type),
        kind: short.to_owned(),
        name: line.key.to_string(),
        words: parts(&line.to_string()),
        writers,
        depth: depth + 1,
        what: "line",
        ..FeedRow::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(words: &str) -> String {
        parts(words).iter().map(|(text, what)| format!("{what}<{text}>")).collect()
    }

    #[test]
    fn a_row_s_words_are_told_apart() {
        for (words, expected) in [
            ("spec.replicas 6 → 4", "path<spec.replicas >old<6>arrow< → >value<4>"),
            ("spec.x a ⇄ b", "path<spec.x >old<a>arrow< ⇄ >value<b>"),
            (
                "status Pending → Creating → Running",
                "path<status >old<Pending>arrow< → >value<Creating>arrow< → >value<Running>",
            ),
            ("added, status Pending → Running", "<added><, >path<status >old<Pending>arrow< → >value<Running>"),
            (
                "spec.a 1 → 2, status.b 3 → 4",
                "path<spec.a >old<1>arrow< → >value<2><, >path<status.b >old<3>arrow< → >value<4>",
            ),
            ("added, replicas 1", "<added><, ><replicas 1>"),
            ("spec.taints + unreachable:NoExecute", "path<spec.taints ><+ unreachable:NoExecute>"),
            ("deleted", "<deleted>"),
            ("", ""),
            (" → ", "<>arrow< → >value<>"),
            ("é, é → é", "path<é, >old<é>arrow< → >value<é>"),
        ] {
            let found = written(words);
            assert_eq!(found.replace("old<>", "<>"), expected, "{words}");
            let all: String = parts(words).into_iter().map(|(text, _)| text).collect();
            assert_eq!(all, words, "nothing is left out");
        }
    }
}
