//! An object as YAML in kubectl's form: keys in order, lists indented as far as the key that they belong to. Either as
//! some of its lines, each of which can name its managers, or as the whole text, to be copied. The lines before those that are
//! asked for are counted and not written, so that an object of any length costs little each time that it changes.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::{Map, Value};

use kubechurn_changes::pointer;
use kubechurn_client::api::sort::sort_by;

use crate::history::secret;
use crate::inspector::diff::cut;
use crate::inspector::fields::Managers;

/// The height of a line, in pixels.
pub const LINE: f64 = 18.0;
/// The most lines that are shown at once.
pub const MOST: usize = 400;
/// How many lines are there above and below those in sight.
const AROUND: usize = 20;
/// The lines that are shown begin at multiples of this, so that most steps of scrolling change nothing.
const STEP: usize = 10;
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

/// Some of the lines of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Yaml {
    /// The lines that are shown.
    pub lines: Vec<Line>,
    /// How many lines are before them.
    pub first: usize,
    /// How many lines the object has.
    pub total: usize,
}

/// The lines to show, of a view that is scrolled down by `top` pixels and is `height` pixels high.
pub fn window(top: f64, height: f64) -> Range<usize> {
    // A number that is none becomes 0.
    let lines = |pixels: f64| (pixels / LINE) as usize;
    let first = lines(top).saturating_sub(AROUND) / STEP * STEP;
    first..first.saturating_add(lines(height).saturating_add(2 * AROUND + STEP).min(MOST))
}

/// The lines of the object that are in a range.
pub fn lines(object: &Value, options: Options, range: Range<usize>) -> Yaml {
    let total = count(object, Counted { is_keyed: false, path: "", managed: options.managed });
    let managers = if options.managers { Managers::of(object) } else { Managers::default() };
    // There is always something to see, also where an object has become shorter.
    let length = range.end.saturating_sub(range.start);
    let first = range.start.min(total.saturating_sub(length));
    let mut writer = Writer::new(options.managed, first..first.saturating_add(length));
    writer.bounded = true;
    writer.root(object, &managers);
    Yaml { lines: writer.lines, first, total }
}

/// The lines that were made last, reused while the same are asked for of the same object: an inspector that shows an unchanged
/// object asks for them again and again.
#[derive(Clone, Debug, Default)]
pub struct Lined {
    of: Option<(Rc<Value>, Options, Range<usize>)>,
    lines: Arc<Yaml>,
}

impl Lined {
    /// Some lines of the object. An object that was parsed again counts as another object, even if it is equal.
    pub fn of(&mut self, object: &Rc<Value>, options: Options, range: Range<usize>) -> Arc<Yaml> {
        let is_same = |(known, with, lines): &(Rc<Value>, Options, Range<usize>)| {
            Rc::ptr_eq(known, object) && *with == options && *lines == range
        };
        if !self.of.as_ref().is_some_and(is_same) {
            self.lines = Arc::new(lines(object, options, range.clone()));
            self.of = Some((object.clone(), options, range));
        }
        self.lines.clone()
    }
}

/// The whole object as one text.
pub fn text(object: &Value, managed: bool) -> String {
    let mut writer = Writer::new(managed, 0..usize::MAX);
    writer.root(object, &Managers::default());
    let mut text = String::new();
    for Line { lead, key, value, .. } in writer.lines {
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

/// What decides how many lines a value takes, besides the value.
#[derive(Clone, Copy)]
struct Counted<'p> {
    /// Whether it is the value of a key, whose line is counted with it.
    is_keyed: bool,
    /// As in [`LinePlace`].
    path: &'p str,
    managed: bool,
}

/// How many lines a value takes, with that of its key.
fn count(value: &Value, place: Counted<'_>) -> usize {
    let Counted { is_keyed, path, managed } = place;
    match value {
        Value::Object(map) if !map.is_empty() => {
            let members = map.iter().filter(|(name, _)| !is_left_out(path, name, managed));
            let below = |name| if path.is_empty() { name } else { "-" };
            let lines =
                members.map(|(name, value)| count(value, Counted { is_keyed: true, path: below(name), managed }));
            usize::from(is_keyed) + lines.sum::<usize>()
        }
        Value::Array(list) if !list.is_empty() => {
            let lines = list.iter().map(|one| count(one, Counted { is_keyed: false, path: "-", managed }));
            usize::from(is_keyed) + lines.sum::<usize>()
        }
        // A text without line breaks takes one line, in whichever form.
        Value::String(text) if text.contains('\n') => {
            let text = secret::mask(text).unwrap_or(text);
            if is_misread(text) { 1 } else { literal_lines(text).unwrap_or(1) }
        }
        _ => 1,
    }
}

/// Whether a member is left out.
fn is_left_out(path: &str, name: &str, managed: bool) -> bool {
    path == "metadata" && name == "managedFields" && !managed
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
    /// Whether long lines are cut, and have the pointers of their fields.
    bounded: bool,
    /// The lines that are written. Those before are only counted.
    range: Range<usize>,
    /// How many lines are before the next one.
    at: usize,
    /// The JSON pointer of the value that is being written.
    pointer: String,
    lines: Vec<Line>,
}

impl Writer {
    fn new(managed: bool, range: Range<usize>) -> Writer {
        Writer { managed, bounded: false, range, at: 0, pointer: String::new(), lines: Vec::new() }
    }

    fn push(&mut self, line: Line) {
        let is_wanted = self.range.contains(&self.at);
        self.at += 1;
        if !is_wanted {
            return;
        }
        if !self.bounded {
            return self.lines.push(line);
        }
        let pointer = (self.pointer.len() <= LONGEST).then(|| self.pointer.clone());
        self.lines.push(Line { key: cut(&line.key, LONGEST), value: cut(&line.value, LONGEST), pointer, ..line });
    }

    /// Whether all lines that are wanted are written.
    fn is_done(&self) -> bool {
        self.at >= self.range.end
    }

    /// Passes over a value whose lines all come before those that are wanted. False if some of them are wanted.
    fn pass(&mut self, value: &Value, is_keyed: bool, path: &str) -> bool {
        if self.at >= self.range.start {
            return false;
        }
        let lines = count(value, Counted { is_keyed, path, managed: self.managed });
        let passes = self.at + lines <= self.range.start;
        self.at += if passes { lines } else { 0 };
        passes
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
            if is_left_out(path, name, self.managed) {
                continue;
            }
            // Only the path of `managedFields` matters.
            let below = if path.is_empty() { name } else { "-" };
            if self.is_done() {
                return;
            }
            if self.pass(value, true, below) {
                lead = None;
                continue;
            }
            let lead = lead.take().unwrap_or_else(|| " ".repeat(indent));
            let begun = Line { lead, key: key(name), ..Line::default() };
            let masked = value.as_str().is_some_and(|text| secret::mask(text).is_some());
            let begun = Line { secret: masked.then(|| name.clone()), ..begun };
            let managers = &managers.field(name);
            let place = LinePlace { indent: indent + 2, path: below, managers };
            self.below(name, |writer| writer.node(begun, value, place));
        }
    }

    fn list(&mut self, mut lead: Option<String>, list: &[Value], indent: usize, managers: &Managers<'_>) {
        for (at, element) in list.iter().enumerate() {
            if self.is_done() {
                return;
            }
            if self.pass(element, false, "-") {
                lead = None;
                continue;
            }
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
            if self.is_done() {
                return;
            }
            if self.at < self.range.start {
                self.at += 1;
                continue;
            }
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
/// begins with a space, because that line sets the indentation, and for a line that ends with a space, because the
/// space would not be seen.
fn literal(text: &str) -> Option<String> {
    let (lines, bar) = literal_parts(text)?;
    let mut written = String::from(bar);
    for line in lines.split('\n') {
        written.push_str(if line.is_empty() { "\n" } else { "\n  " });
        written.push_str(line);
    }
    Some(written)
}

/// How many lines [`literal`] takes.
fn literal_lines(text: &str) -> Option<usize> {
    Some(1 + literal_parts(text)?.0.split('\n').count())
}

fn literal_parts(text: &str) -> Option<(&str, &'static str)> {
    if text.starts_with([' ', '\n']) || text.split('\n').any(|line| line.ends_with(' ')) {
        return None;
    }
    Some(match text.strip_suffix('\n') {
        None => (text, "|-"),
        Some(lines) if lines.ends_with('\n') => (lines, "|+"),
        Some(lines) => (lines, "|"),
    })
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
