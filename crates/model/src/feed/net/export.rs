//! What is different between two moments, for what leaves the page: plain text, Markdown for a report, or a line of JSON for
//! each object.

use kubechurn_changes::feed::{Entry, EntryId, Subject};
use kubechurn_changes::field::Field;
use kubechurn_changes::line::Line;
use kubechurn_changes::noise::Noise;
use kubechurn_changes::value::Value;
use kubechurn_changes::writer::NamedWriter;
use kubechurn_client::cache::delta::DeltaType;
use rustc_hash::FxHashMap;
use serde_json::json;

use crate::feed::net::Net;
use crate::timeline::mark::MarkType;

/// How it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NetFormat {
    /// For people.
    Text,
    /// For a report or an issue.
    Markdown,
    /// For programs: an object on each line.
    JsonLines,
}

impl NetFormat {
    /// What was copied, in words.
    pub fn words(self) -> &'static str {
        match self {
            NetFormat::Text => "the differences",
            NetFormat::Markdown => "the differences as Markdown",
            NetFormat::JsonLines => "the differences as lines of JSON",
        }
    }
}

/// What the file says of itself.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a> {
    /// The two times, whole, with date and zone.
    pub ends: [&'a str; 2],
    /// Of which namespaces, in words.
    pub place: &'a str,
    /// The filter; empty for none.
    pub filter: &'a str,
}

/// Writes the rows that pass the filter, with each of their objects and fields. `time` writes when the last change came.
pub fn write(net: &Net, format: NetFormat, head: Head<'_>, time: &dyn Fn(f64) -> String) -> String {
    match format {
        NetFormat::JsonLines => json_lines(net, head, time),
        format => Writer { net, is_markdown: format == NetFormat::Markdown, time, text: String::new() }.write(head),
    }
}

/// Writes for people.
struct Writer<'a> {
    net: &'a Net,
    is_markdown: bool,
    time: &'a dyn Fn(f64) -> String,
    text: String,
}

impl Writer<'_> {
    /// Words in which nothing of an object is markup.
    fn plain(&self, text: &str) -> String {
        if self.is_markdown { escaped(text) } else { in_line(text) }
    }

    /// A name, a path or a value.
    fn code(&self, text: &str) -> String {
        if self.is_markdown { code(text) } else { in_line(text) }
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    /// Some words by themselves.
    fn paragraph(&mut self, text: &str) {
        self.line(text);
        if self.is_markdown {
            self.line("");
        }
    }

    fn write(mut self, head: Head<'_>) -> String {
        let [from, to] = head.ends.map(|end| self.plain(end));
        let sign = if self.is_markdown { "## " } else { "" };
        self.paragraph(&format!("{sign}What is different from {from} to {to}"));
        self.paragraph(&format!("{}, {}.", self.net.words(), self.plain(head.place)));
        let filter =
            (!head.filter.is_empty()).then(|| format!("Only what passes the filter is listed: {}", head.filter));
        for said in self.net.left_out().into_iter().chain(filter) {
            self.paragraph(&self.plain(&said));
        }
        if self.is_markdown {
            self.table();
        } else {
            self.line("");
        }
        // An entry names its newest changes alone, and a group may have more.
        let (mut feed, mut lines) = (self.net.empty_feed(), FxHashMap::<EntryId, Vec<&Line>>::default());
        for line in self.net.feed.lines() {
            if let Some(id) = feed.push(line.clone()) {
                lines.entry(id).or_default().push(line);
            }
        }
        // What says nothing is counted above.
        for entry in feed
            .rows()
            .filter(|entry| !matches!(entry.subject, Subject::Noise(_) | Subject::Notice(_) | Subject::Note(_)))
        {
            self.entry(entry, lines.get(&entry.id).map_or(&[], Vec::as_slice));
        }
        self.text
    }

    /// How many objects of each kind differ.
    fn table(&mut self) {
        let kinds = self.net.by_kind();
        if !kinds.is_empty() {
            self.line("| kind | added | changed | gone | replaced | not kept |\n|---|--:|--:|--:|--:|--:|");
            for (kind, of) in kinds {
                let counts = [of.added, of.changed, of.gone, of.replaced, of.unknown].map(|count| count.to_string());
                self.line(&format!("| {} | {} |", self.plain(kind), counts.join(" | ")));
            }
            self.line("");
        }
    }

    fn entry(&mut self, entry: &Entry, lines: &[&Line]) {
        let [bullet, bold] = if self.is_markdown { ["- ", "**"] } else { ["", ""] };
        let mut indent = "  ".repeat(usize::from(entry.depth));
        let glyph = MarkType::from(entry.delta_type).glyph();
        if let ([line], Subject::Object(key)) = (lines, &entry.subject) {
            let name = format!("{bold}{} {}{bold}", self.plain(&entry.kind), self.code(&key.to_string()));
            return self.object(&format!("{indent}{bullet}{glyph} {name}"), &indent, line);
        }
        self.line(&format!("{indent}{bullet}{glyph} {bold}{}{bold}", self.plain(&entry.name())));
        indent.push_str("  ");
        for line in lines {
            self.object(&format!("{indent}{bullet}{}", self.code(&line.key.to_string())), &indent, line);
        }
    }

    fn object(&mut self, name: &str, indent: &str, line: &Line) {
        let writers = line.named_writers().map(|writer| writer.words()).collect::<Vec<_>>().join(", ");
        let by = if writers.is_empty() { String::new() } else { format!(" by {}", self.plain(&writers)) };
        let at = (self.time)(self.net.pair(line.seq).unwrap_or_default().at);
        self.line(&format!("{name}: {}{by} at {at}", what(line)));
        let below = if self.is_markdown { "  - " } else { "    " };
        for field in &line.fields {
            let value = |value: &Option<Value>| {
                value.as_ref().map_or_else(|| String::from("none"), |value| self.code(&value.whole()))
            };
            let words = format!("{} {} → {}", self.code(&field.path), value(&field.old), value(&field.new));
            self.line(&format!("{indent}{below}{words}"));
        }
        if line.more > 0 {
            self.line(&format!("{indent}{below}{}", self.plain(&more(line))));
        }
        for course in self.net.back_of(line.seq) {
            let values = course.whole().iter().map(|value| self.code(value)).collect::<Vec<_>>().join(" → ");
            self.line(&format!("{indent}{below}there and back: {} {values}", self.code(&course.path)));
        }
    }
}

fn json_lines(net: &Net, head: Head<'_>, time: &dyn Fn(f64) -> String) -> String {
    let mut text = String::new();
    let kept = |value: &Option<Value>| value.as_ref().map(Value::kept).map(str::to_owned);
    let is_cut = |value: &Option<Value>| value.as_ref().is_some_and(|value| !value.is_whole());
    for line in net.feed.lines().filter(|line| net.feed.filter().matches(line)) {
        let fields = line.fields.iter().map(|Field { path, old, new, .. }| {
            json!({"path": &**path, "old": kept(old), "new": kept(new), "cut": is_cut(old) || is_cut(new)})
        });
        let back = net.back_of(line.seq).iter().map(|course| {
            let (values, has_more) = course.kept();
            json!({"path": &*course.path, "values": values, "more": has_more})
        });
        let object = json!({
            "what": what(line),
            "kind": &*line.kind,
            "namespace": &*line.key.namespace,
            "name": &*line.key.name,
            "uid": line.uid.to_string(),
            "cluster": line.cluster,
            "fields": fields.collect::<Vec<_>>(),
            "otherPaths": line.other_paths.iter().map(|path| &**path).collect::<Vec<_>>(),
            "moreFields": line.more,
            "thereAndBack": back.collect::<Vec<_>>(),
            "noise": line.noise.map(Noise::words),
            "by": line.named_writers().map(|writer| written(writer)).collect::<Vec<_>>(),
            "lastChange": time(net.pair(line.seq).unwrap_or_default().at),
            "from": head.ends[0],
            "to": head.ends[1],
        });
        text.push_str(&object.to_string());
        text.push('\n');
    }
    text
}

/// A user in full, or a manager with its subresource.
fn written(writer: NamedWriter<'_>) -> String {
    if let NamedWriter::User(request) = writer { request.who() } else { writer.words().to_string() }
}

/// What became of an object.
fn what(line: &Line) -> &'static str {
    match line.delta_type {
        _ if let Some(unknown) = line.unknown => unknown.words(),
        DeltaType::Added => "added",
        DeltaType::Deleted => "gone",
        DeltaType::Replaced => "replaced by another object of the same name",
        DeltaType::Updated | DeltaType::Sync => "changed",
    }
}

/// The fields that are named by their paths alone.
fn more(line: &Line) -> String {
    let named = line.other_paths.iter().map(|path| &**path).collect::<Vec<_>>().join(", ");
    let unnamed = line.more.saturating_sub(line.other_paths.len());
    let beyond = if unnamed > 0 { format!(" and {unnamed} more") } else { String::new() };
    format!("{} more field{}: {named}{beyond}", line.more, if line.more == 1 { "" } else { "s" })
}

/// Text of an object in one line.
fn in_line(text: &str) -> String {
    text.chars().map(|letter| if letter.is_control() { ' ' } else { letter }).collect()
}

/// Text that Markdown shows as it is.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for letter in in_line(text).chars() {
        if "\\`*_{}[]<>#|~!&@".contains(letter) {
            escaped.push('\\');
        }
        escaped.push(letter);
    }
    escaped
}

/// Text as code, whatever backticks it has.
fn code(text: &str) -> String {
    let text = in_line(text);
    let longest = text.split(|letter| letter != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest + 1);
    let space = if text.starts_with('`') || text.ends_with('`') || text.trim().is_empty() { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}
