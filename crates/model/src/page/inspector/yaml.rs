//! An object as YAML, in kubectl's form: keys in order, lists as far out as what they belong to. In lines, so that
//! each can say who manages it, and bounded; or whole, to be copied.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value};

use kubechurn_client::api::sort::sort_by;

use crate::page::inspector::diff::cut;
use crate::page::inspector::fields::Managers;
use crate::page::inspector::secret;

/// So many lines are shown; more are counted.
pub const MOST: usize = 3_000;
/// The longest part of a line, in bytes.
pub const LONGEST: usize = 1_000;

/// What is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// `metadata.managedFields` as well, which kubectl leaves out.
    pub managed: bool,
    /// Each field's managers.
    pub managers: bool,
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Spaces, and the dashes of list elements.
    pub lead: String,
    /// The key, without its colon; empty in a list and within a text.
    pub key: String,
    /// The value, where it stands in this line.
    pub value: String,
    /// Whether the value is a text.
    pub is_text: bool,
    /// Who manages it.
    pub managers: String,
    /// The name of a Secret's masked value.
    pub secret: Option<String>,
}

/// Lines of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Yaml {
    /// The first lines.
    pub lines: Vec<Line>,
    /// How many more there are.
    pub more: usize,
}

/// The object in lines.
pub fn lines(object: &Value, options: Options) -> Yaml {
    let managers = if options.managers { Managers::of(object) } else { Managers::default() };
    let mut writer = Writer { managed: options.managed, bounded: true, yaml: Yaml::default() };
    writer.root(object, &managers);
    writer.yaml
}

/// Lines that were made, for as long as the same is asked for of the same text: whoever looks at an object that does
/// not change looks at it many times.
#[derive(Clone, Debug, Default)]
pub struct Lined {
    of: Option<(Rc<Value>, Options)>,
    lines: Arc<Yaml>,
}

impl Lined {
    /// The object in lines. Another reading of it is another object, even where it says the same.
    pub fn of(&mut self, object: &Rc<Value>, options: Options) -> Arc<Yaml> {
        let is_same = |(known, with): &(Rc<Value>, Options)| Rc::ptr_eq(known, object) && *with == options;
        if !self.of.as_ref().is_some_and(is_same) {
            self.lines = Arc::new(lines(object, options));
            self.of = Some((object.clone(), options));
        }
        self.lines.clone()
    }
}

/// All of the object.
pub fn text(object: &Value, managed: bool) -> String {
    let mut writer = Writer { managed, bounded: false, yaml: Yaml::default() };
    writer.root(object, &Managers::default());
    let mut text = String::new();
    for Line { lead, key, value, .. } in writer.yaml.lines {
        text.push_str(&lead);
        text.push_str(&key);
        text.push_str(match (key.is_empty(), value.is_empty()) {
            (true, _) => "",
            (false, true) => ":",
            (false, false) => ": ",
        });
        text.push_str(&value);
        text.push('\n');
    }
    text
}

struct Writer {
    managed: bool,
    bounded: bool,
    yaml: Yaml,
}

impl Writer {
    fn push(&mut self, line: Line) {
        if !self.bounded {
            return self.yaml.lines.push(line);
        }
        if self.yaml.lines.len() >= MOST {
            self.yaml.more += 1;
            return;
        }
        self.yaml.lines.push(Line { key: cut(&line.key, LONGEST), value: cut(&line.value, LONGEST), ..line });
    }

    fn root(&mut self, object: &Value, managers: &Managers<'_>) {
        self.node(Line::default(), object, 0, "", managers);
    }

    /// Writes a value behind what has been begun of its line; `indent` is where its members stand.
    fn node(&mut self, begun: Line, value: &Value, indent: usize, path: &str, managers: &Managers<'_>) {
        match value {
            Value::Object(map) if !map.is_empty() => {
                let lead = self.open(begun, managers);
                self.map(lead, map, indent, path, managers);
            }
            Value::Array(list) if !list.is_empty() => {
                // A list belongs to its key, and its dashes stand right below it.
                let outer = if begun.key.is_empty() { indent } else { indent.saturating_sub(2) };
                let lead = self.open(begun, managers);
                self.list(lead, list, outer, managers);
            }
            Value::String(text) => self.text(begun, text, indent, managers),
            plain => {
                let value = match plain {
                    Value::Object(_) => String::from("{}"),
                    Value::Array(_) => String::from("[]"),
                    plain => plain.to_string(),
                };
                self.push(Line { value, managers: managers.names(true), ..begun });
            }
        }
    }

    /// A key has its line for itself; a dash shares it with what comes first, and is handed back.
    fn open(&mut self, begun: Line, managers: &Managers<'_>) -> Option<String> {
        if begun.key.is_empty() {
            return Some(begun.lead);
        }
        self.push(Line { managers: managers.names(false), ..begun });
        None
    }

    fn map(
        &mut self,
        mut lead: Option<String>,
        map: &Map<String, Value>,
        indent: usize,
        path: &str,
        managers: &Managers<'_>,
    ) {
        let mut members: Vec<_> = map.iter().collect();
        sort_by(&mut members, |(one, _), (two, _)| one.cmp(two));
        for (name, value) in members {
            if path == "metadata" && name == "managedFields" && !self.managed {
                continue;
            }
            let lead = lead.take().unwrap_or_else(|| " ".repeat(indent));
            let begun = Line { lead, key: key(name), ..Line::default() };
            let masked = value.as_str().is_some_and(|text| secret::mask(text).is_some());
            let begun = Line { secret: masked.then(|| name.clone()), ..begun };
            // Only the place of `managedFields` is asked for.
            let below = if path.is_empty() { name } else { "-" };
            self.node(begun, value, indent + 2, below, &managers.field(name));
        }
    }

    fn list(&mut self, mut lead: Option<String>, list: &[Value], indent: usize, managers: &Managers<'_>) {
        for (at, element) in list.iter().enumerate() {
            let lead = lead.take().unwrap_or_else(|| " ".repeat(indent));
            let begun = Line { lead: format!("{lead}- "), ..Line::default() };
            self.node(begun, element, indent + 2, "-", &managers.element(at, element, list.len()));
        }
    }

    fn text(&mut self, begun: Line, text: &str, indent: usize, managers: &Managers<'_>) {
        let managers = managers.names(true);
        let written = scalar(secret::mask(text).unwrap_or(text));
        let mut lines = written.split('\n');
        let value = lines.next().unwrap_or_default().to_owned();
        // The root itself is no text in any object; else the lines of a text stand further in than its key.
        let outer = indent.saturating_sub(2);
        self.push(Line { value, is_text: true, managers, ..begun });
        for line in lines {
            let lead = if line.is_empty() { String::new() } else { " ".repeat(outer) };
            self.push(Line { lead, value: line.to_owned(), is_text: true, ..Line::default() });
        }
    }
}

/// A text as YAML, without the line break at its end: in several lines where it has some. Which form it has is for the
/// same reasons as in kubectl (go-yaml's `emitterc.go` and `encode.go`).
fn scalar(text: &str) -> String {
    if is_misread(text) {
        quoted(text)
    } else if text.contains('\n') {
        literal(text).unwrap_or_else(|| quoted(text))
    } else if is_plain(text) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "''"))
    }
}

/// The lines as they are, behind a bar that says how many breaks end them. Its first line tells how far in the lines
/// stand, so that it must not begin with a space; and spaces at a line's end would not be seen.
fn literal(text: &str) -> Option<String> {
    if text.starts_with([' ', '\n']) || text.split('\n').any(|line| line.ends_with(' ')) {
        return None;
    }
    let (lines, bar) = match text.strip_suffix('\n') {
        None => (text, "|-"),
        Some(lines) if lines.ends_with('\n') => (lines, "|+"),
        Some(lines) => (lines, "|"),
    };
    let mut written = String::from(bar);
    for line in lines.split('\n') {
        written.push_str(if line.is_empty() { "\n" } else { "\n  " });
        written.push_str(line);
    }
    Some(written)
}

/// Whether a line needs no quotes: it neither begins nor goes on like anything but a text.
fn is_plain(text: &str) -> bool {
    let mut letters = text.chars();
    let begins = match letters.next() {
        None | Some(' ') => false,
        Some('-' | '?' | ':') => letters.next().is_some_and(|next| next != ' '),
        Some(first) => !",[]{}#&*!|>'\"%@`".contains(first),
    };
    let marks = ["---", "..."].iter().any(|mark| text.starts_with(mark));
    begins && !marks && !text.ends_with([' ', ':']) && !text.contains(": ") && !text.contains(" #")
}

/// What YAML 1.1, which kubectl reads, or YAML 1.2 takes for something else than a text: nothing, the words for yes and
/// no, numbers (with underscores and in base 60, too), times, and merge keys. And what a line cannot hold.
fn is_misread(text: &str) -> bool {
    let words = ["", "~", "null", "true", "false", "y", "n", "yes", "no", "on", "off", "=", "<<"];
    let figures = text.starts_with(|letter: char| letter.is_ascii_digit() || "+-.".contains(letter))
        && text.chars().all(|letter| letter.is_ascii_digit() || "+-.:_eETtZz ".contains(letter));
    let number = text.strip_prefix(['+', '-']).unwrap_or(text);
    // In base 16, 8 or 2.
    let based = number.strip_prefix('0').is_some_and(|rest| rest.starts_with(['x', 'X', 'o', 'O', 'b', 'B']))
        && number.chars().all(|letter| letter.is_ascii_hexdigit() || "xXoO_".contains(letter));
    based
        // An address or a version has more dots than a number or a time.
        || (figures && text.matches('.').count() < 2 && text.contains(|letter: char| letter.is_ascii_digit()))
        || [".inf", ".nan"].iter().any(|word| number.eq_ignore_ascii_case(word))
        || words.iter().any(|word| text.eq_ignore_ascii_case(word))
        || text.contains(|letter| letter != '\n' && is_odd(letter))
}

/// What has no place in YAML but as an escape.
fn is_odd(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// The text in quotes: JSON's are YAML's, but for what JSON lets stand.
fn quoted(text: &str) -> String {
    let json = serde_json::to_string(text).unwrap_or_default();
    if !json.contains(is_odd) {
        return json;
    }
    let mut quoted = String::with_capacity(json.len());
    for letter in json.chars() {
        match is_odd(letter) {
            true => quoted.push_str(&format!("\\u{:04x}", u32::from(letter))),
            false => quoted.push(letter),
        }
    }
    quoted
}

fn key(name: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "._/-".contains(letter);
    let starts = name.starts_with(|letter: char| letter.is_ascii_alphabetic());
    let written = if starts && name.chars().all(plain) { scalar(name) } else { String::new() };
    if !written.is_empty() && written == name { written } else { quoted(name) }
}

#[cfg(test)]
mod tests;
