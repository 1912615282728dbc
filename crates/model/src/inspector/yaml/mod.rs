//! An object as YAML in kubectl's form: keys in order, lists indented as far as the key that they belong to. Either as
//! a bounded number of lines, each of which can name its managers, or as the whole text, to be copied.

use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value};

use kubechurn_changes::pointer;
use kubechurn_client::api::sort::sort_by;

use crate::history::secret;
use crate::inspector::diff::cut;
use crate::inspector::fields::Managers;

/// The most lines that are shown. The rest is only counted.
pub const MOST: usize = 3_000;
/// The length limit of each part of a line, in bytes.
pub const LONGEST: usize = 1_000;

/// What to show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Whether to show `metadata.managedFields`, which kubectl leaves out.
    pub managed: bool,
    /// Whether to show each field's managers.
    pub managers: bool,
}

/// One line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Spaces, and the dashes of list elements.
    pub lead: String,
    /// The key, without its colon; empty within a list and within a text of several lines.
    pub key: String,
    /// The value, if it is in this line.
    pub value: String,
    /// Whether the value is a string.
    pub is_text: bool,
    /// The managers of the field.
    pub managers: String,
    /// The name of the Secret's field, if the value is masked.
    pub secret: Option<String>,
    /// The JSON pointer of the line's field; `None` in the whole text, and for a pointer longer than [`LONGEST`].
    pub pointer: Option<String>,
}

/// The lines of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Yaml {
    /// The first lines.
    pub lines: Vec<Line>,
    /// How many more lines there are.
    pub more: usize,
}

/// The object in lines.
pub fn lines(object: &Value, options: Options) -> Yaml {
    let managers = if options.managers { Managers::of(object) } else { Managers::default() };
    let mut writer = Writer { managed: options.managed, bounded: true, pointer: String::new(), yaml: Yaml::default() };
    writer.root(object, &managers);
    writer.yaml
}

/// The lines that were made last, reused while the same options are asked for of the same object: an inspector that
/// shows an unchanged object asks for them again and again.
#[derive(Clone, Debug, Default)]
pub struct Lined {
    of: Option<(Rc<Value>, Options)>,
    lines: Arc<Yaml>,
}

impl Lined {
    /// The object in lines. An object that was parsed again counts as another object, even if it is equal.
    pub fn of(&mut self, object: &Rc<Value>, options: Options) -> Arc<Yaml> {
        let is_same = |(known, with): &(Rc<Value>, Options)| Rc::ptr_eq(known, object) && *with == options;
        if !self.of.as_ref().is_some_and(is_same) {
            self.lines = Arc::new(lines(object, options));
            self.of = Some((object.clone(), options));
        }
        self.lines.clone()
    }
}

/// The whole object as one text.
pub fn text(object: &Value, managed: bool) -> String {
    let mut writer = Writer { managed, bounded: false, pointer: String::new(), yaml: Yaml::default() };
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

/// Where a value stands in the object, and who manages the value.
#[derive(Clone, Copy)]
struct LinePlace<'p> {
    /// The indentation of the value's members.
    indent: usize,
    /// The name of the field if the value is in the object itself, empty for the object, and `-` for any other value.
    path: &'p str,
    managers: &'p Managers<'p>,
}

struct Writer {
    managed: bool,
    bounded: bool,
    /// The JSON pointer of the value that is being written.
    pointer: String,
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
        let pointer = (self.pointer.len() <= LONGEST).then(|| self.pointer.clone());
        self.yaml.lines.push(Line { key: cut(&line.key, LONGEST), value: cut(&line.value, LONGEST), pointer, ..line });
    }

    /// Writes what is below a step of the pointer.
    fn below(&mut self, step: &str, write: impl FnOnce(&mut Writer)) {
        let length = self.pointer.len();
        pointer::push(&mut self.pointer, step);
        write(self);
        self.pointer.truncate(length);
    }

    fn root(&mut self, object: &Value, managers: &Managers<'_>) {
        self.node(Line::default(), object, LinePlace { indent: 0, path: "", managers });
    }

    /// Writes a value after the begun part of its line.
    fn node(&mut self, begun: Line, value: &Value, place: LinePlace<'_>) {
        let LinePlace { indent, managers, .. } = place;
        match value {
            Value::Object(map) if !map.is_empty() => {
                let lead = self.open(begun, managers);
                self.map(lead, map, place);
            }
            Value::Array(list) if !list.is_empty() => {
                // A list belongs to its key: the dashes stand directly below the key.
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

    /// Ends the line of a key. A dash is handed back instead, because it shares its line with the first member.
    fn open(&mut self, begun: Line, managers: &Managers<'_>) -> Option<String> {
        if begun.key.is_empty() {
            return Some(begun.lead);
        }
        self.push(Line { managers: managers.names(false), ..begun });
        None
    }

    fn map(&mut self, mut lead: Option<String>, map: &Map<String, Value>, place: LinePlace<'_>) {
        let LinePlace { indent, path, managers } = place;
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
            // Only the path of `managedFields` matters.
            let below = if path.is_empty() { name } else { "-" };
            let managers = &managers.field(name);
            let place = LinePlace { indent: indent + 2, path: below, managers };
            self.below(name, |writer| writer.node(begun, value, place));
        }
    }

    fn list(&mut self, mut lead: Option<String>, list: &[Value], indent: usize, managers: &Managers<'_>) {
        for (at, element) in list.iter().enumerate() {
            let lead = lead.take().unwrap_or_else(|| " ".repeat(indent));
            let begun = Line { lead: format!("{lead}- "), ..Line::default() };
            let managers = &managers.element(at, element, list.len());
            let place = LinePlace { indent: indent + 2, path: "-", managers };
            self.below(&at.to_string(), |writer| writer.node(begun, element, place));
        }
    }

    fn text(&mut self, begun: Line, text: &str, indent: usize, managers: &Managers<'_>) {
        let managers = managers.names(true);
        let written = scalar(secret::mask(text).unwrap_or(text));
        let mut lines = written.split('\n');
        let value = lines.next().unwrap_or_default().to_owned();
        // Lines of a text are indented further than their key. The root of an object is never a text.
        let outer = indent.saturating_sub(2);
        self.push(Line { value, is_text: true, managers, ..begun });
        for line in lines {
            let lead = if line.is_empty() { String::new() } else { " ".repeat(outer) };
            self.push(Line { lead, value: line.to_owned(), is_text: true, ..Line::default() });
        }
    }
}

/// A text as YAML, without the final line break; on several lines if the text has several. The form is chosen by the
/// same rules as in kubectl (go-yaml's `emitterc.go` and `encode.go`).
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

/// The lines of a text unchanged, after a `|` with a sign for the line breaks at the end. `None` for a first line that
/// begins with a space, because that line tells the indentation, and for a line that ends with a space, because the
/// space would not be seen.
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

/// Whether a line needs no quotes: nothing in it could be read as another part of YAML's grammar.
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

/// Whether YAML 1.1, which kubectl reads, or YAML 1.2 would read the text as something else: null, a boolean word, a
/// number (also with underscores or in base 60), a time, or a merge key. Also true for a text with characters that a
/// line cannot hold.
fn is_misread(text: &str) -> bool {
    let words = ["", "~", "null", "true", "false", "y", "n", "yes", "no", "on", "off", "=", "<<"];
    let figures = text.starts_with(|letter: char| letter.is_ascii_digit() || "+-.".contains(letter))
        && text.chars().all(|letter| letter.is_ascii_digit() || "+-.:_eETtZz ".contains(letter));
    let number = text.strip_prefix(['+', '-']).unwrap_or(text);
    // A number in base 16, 8 or 2.
    let based = number.strip_prefix('0').is_some_and(|rest| rest.starts_with(['x', 'X', 'o', 'O', 'b', 'B']))
        && number.chars().all(|letter| letter.is_ascii_hexdigit() || "xXoO_".contains(letter));
    based
        // A text with more dots than a number or a time has, such as an IP address or a version, is not misread.
        || (figures && text.matches('.').count() < 2 && text.contains(|letter: char| letter.is_ascii_digit()))
        || [".inf", ".nan"].iter().any(|word| number.eq_ignore_ascii_case(word))
        || words.iter().any(|word| text.eq_ignore_ascii_case(word))
        || text.contains(|letter| letter != '\n' && is_odd(letter))
}

/// Whether a character can stand in YAML only as an escape.
fn is_odd(letter: char) -> bool {
    letter.is_control() || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}')
}

/// The text in double quotes. A JSON string is a YAML string too, except that JSON allows some characters unescaped.
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
