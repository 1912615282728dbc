//! The columns of custom resources and their cells, as in the API server's own tables (apiextensions-apiserver
//! `pkg/registry/customresource/tableconvertor`) and as `kubectl` prints those.

mod go_json;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::definition::{PrinterColumn, STATE};
use kubechurn_client::api::object::{DecodeError, Meta, Object, map};
use kubechurn_client::api::resource::intern;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::json;

use crate::column::{Align, Column, StatePart};
use crate::jsonpath::{Found, JsonPath, Scalar};
use crate::kinds::parts::parse;
use crate::state;

/// The type of a column's values, as a definition names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueType {
    Text,
    Integer,
    Number,
    Boolean,
    Date,
    /// The state that a status says.
    State,
    /// Any other type: the server never shows such a value.
    Unknown,
}

/// How a column's cells are made.
#[derive(Clone, Debug, PartialEq)]
pub struct Printer {
    path: JsonPath,
    value_type: ValueType,
}

/// The columns of a kind, and how their cells are made.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Printers {
    printers: Vec<Printer>,
    /// The members of objects at which the columns' paths begin, without repetition.
    roots: Vec<Box<str>>,
    /// For each column, the index of its member in `roots`.
    begins: Vec<Option<usize>>,
    /// The column that has the object's state, and the type of the condition that it shows; empty for a phase.
    state: Option<(usize, Box<str>)>,
}

/// The members that have a word for an object's state.
const PHASES: [[&str; 2]; 2] = [["status", "phase"], ["status", "state"]];

/// How well a column says in which state an object is, the best first; `None` if it does not.
fn telling(printer: &Printer) -> Option<usize> {
    match printer.value_type {
        ValueType::Text => {}
        ValueType::State => return Some(usize::MAX),
        _ => return None,
    }
    match printer.path.condition() {
        Some(name) => state::WHOLE.iter().position(|known| *known == name),
        None => PHASES.iter().position(|names| printer.path.is_members(names)).map(|at| state::WHOLE.len() + at),
    }
}

/// The columns that a definition asks for. The one that shows a condition which says whether an object is as it should be, or
/// else its phase, is the object's state; where there is none, a column [`STATE`] is. A definition without columns gets AGE. After
/// the first column whose path the server cannot parse there are no further columns, as in the server's own table.
pub fn columns(definition: &[PrinterColumn]) -> (Vec<Column>, Printers) {
    let age = [PrinterColumn {
        name: String::from("Age"),
        value_type: String::from("date"),
        json_path: String::from(".metadata.creationTimestamp"),
        ..PrinterColumn::default()
    }];
    let (own, state) = match definition {
        [own @ .., last] if last.value_type == STATE => (own, Some(last)),
        own => (own, None),
    };
    let own = if own.is_empty() { &age } else { own };
    let printers: Vec<_> = own.iter().map_while(|column| Some((column, Printer::of(column)?))).collect();
    let tells = printers.iter().any(|(column, printer)| {
        telling(printer).is_some() || state.is_some_and(|state| column.name.eq_ignore_ascii_case(&state.name))
    });
    let state = state.filter(|_| !tells).and_then(|column| Some((column, Printer::of(column)?)));
    let mut columns = Vec::new();
    let mut all = Printers::default();
    for (column, printer) in printers.into_iter().chain(state) {
        columns.push(Column {
            title: intern(&in_capitals(&column.name)),
            wide: column.priority != 0,
            align: match printer.value_type {
                ValueType::Integer | ValueType::Number | ValueType::Date => Align::End,
                _ => Align::Start,
            },
            source: intern(&format!("{} {}", column.value_type, column.json_path)),
            state: StatePart::None,
        });
        let root = printer.path.root().map(|root| {
            all.roots.iter().position(|known| **known == *root).unwrap_or_else(|| {
                all.roots.push(root.into());
                all.roots.len() - 1
            })
        });
        all.begins.push(root);
        all.printers.push(printer);
    }
    let ranks = all.printers.iter().map(telling).enumerate().filter_map(|(at, rank)| Some((rank?, at)));
    if let Some((_, at)) = ranks.min() {
        columns[at].state = StatePart::Word;
        all.state = Some((at, all.printers[at].path.condition().unwrap_or_default().into()));
    }
    (columns, all)
}

/// A title in upper case as Go's `strings.ToUpper` writes it: letter by letter.
fn in_capitals(title: &str) -> String {
    let capital = |letter: char| {
        let mut capitals = letter.to_uppercase();
        match (capitals.next(), capitals.next()) {
            (Some(one), None) => one,
            _ => letter,
        }
    };
    title.chars().map(capital).collect()
}

impl Printer {
    /// Reads a column of a definition; `None` if the server cannot parse its path.
    pub fn of(column: &PrinterColumn) -> Option<Printer> {
        let value_type = match &*column.value_type {
            "string" => ValueType::Text,
            "integer" => ValueType::Integer,
            "number" => ValueType::Number,
            "boolean" => ValueType::Boolean,
            "date" => ValueType::Date,
            STATE => ValueType::State,
            _ => ValueType::Unknown,
        };
        Some(Printer { path: JsonPath::parse(&column.json_path)?, value_type })
    }

    /// The cell of an object, whose text must be well-formed; `None` where the server's table has `null`, which
    /// `kubectl` prints as nothing.
    pub fn cell(&self, object: &str) -> Option<Cell> {
        self.value_type.cell(self.path.first(object)?)
    }
}

impl ValueType {
    fn cell(self, found: Found<'_>) -> Option<Cell> {
        match (self, found.scalar()) {
            (ValueType::Text, scalar) => Some(text(found, scalar)),
            (ValueType::Integer, Some(Scalar::Int(number))) if !is_foreign(found) => Some(Cell::Number(number)),
            (ValueType::Integer, Some(Scalar::Float(number))) => Some(Cell::Number(whole(number))),
            (ValueType::Number, Some(Scalar::Int(number))) if !is_foreign(found) => Some(number_cell(number as f64)),
            (ValueType::Number, Some(Scalar::Float(number))) => Some(number_cell(number)),
            (ValueType::Boolean, Some(Scalar::Bool(truth))) => Some(Cell::Static(if truth { "true" } else { "false" })),
            (ValueType::Date, Some(Scalar::Text(text))) => Some(date(&text)),
            (ValueType::State, None) => {
                let Found::Json(status) = found else { return None };
                let (word, tone) = state::of_status(status)?;
                Some(Cell::Status(word.into(), tone))
            }
            _ => None,
        }
    }
}

/// Whether a number is whole, but Go has decoded it into another type than its integer type.
fn is_foreign(found: Found<'_>) -> bool {
    matches!(found, Found::Byte(_) | Found::Int(_))
}

/// What Go prints for a value: strings as they are, maps and lists as JSON.
fn text(found: Found<'_>, scalar: Option<Scalar<'_>>) -> Cell {
    match scalar {
        Some(Scalar::Text(text)) => Cell::Text((&*text).into()),
        Some(Scalar::Int(number)) => Cell::Text(number.to_string().into()),
        Some(Scalar::Bool(truth)) => Cell::Static(if truth { "true" } else { "false" }),
        Some(Scalar::Float(number)) => {
            let mut text = String::new();
            kubechurn_client::api::float::write(number, &mut text);
            Cell::Text(text.into())
        }
        None => match found {
            Found::Json(value) if !found.is_null() => Cell::Text(go_json::of(value).into()),
            _ => Cell::Static("<no value>"),
        },
    }
}

/// Go's `int64(number)` on the machines that servers run on.
fn whole(number: f64) -> i64 {
    const BEYOND: f64 = 9_223_372_036_854_775_808.0;
    if (-BEYOND..BEYOND).contains(&number) { number as i64 } else { i64::MIN }
}

/// A number as it is after a round trip through the JSON of the server's table, where whole numbers have no fraction.
fn number_cell(number: f64) -> Cell {
    let is_whole = number.fract() == 0.0 && number.abs() < 1e21 && whole(number) as f64 == number;
    if is_whole { Cell::Number(whole(number)) } else { Cell::Float(number) }
}

/// An age. The cell keeps the time, so that the age goes on. An empty time or `null` is shown as unknown, and a time
/// that is invalid by RFC 3339 as invalid.
fn date(text: &str) -> Cell {
    if matches!(text, "" | "null") {
        return Cell::Age(None);
    }
    // Go accepts only capital letters, no leap second, and no day that the month does not have.
    let strict = !text.contains(['t', 'z', ' ']) && text.get(17..19) != Some("60") && has_day(text);
    match Timestamp::parse(text).filter(|_| strict) {
        Some(_) => Cell::Age(Timestamp::parse_set(text)),
        None => Cell::Static("<invalid>"),
    }
}

/// Whether the month of a date has its day.
fn has_day(text: &str) -> bool {
    let number = |from: usize, to: usize| text.get(from..to).and_then(|digits| digits.parse::<u16>().ok());
    let (Some(year), Some(month), Some(day)) = (number(0, 4), number(5, 7), number(8, 10)) else { return false };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 31,
    };
    (1..=days).contains(&day)
}

impl Printers {
    /// Reads an object: metadata and cells. One pass goes over the text, and another over the members in which columns
    /// look.
    ///
    /// # Errors
    ///
    /// When the text is no JSON object, or has no name. A value that a column cannot show is an empty cell, and no
    /// error.
    pub fn decode(&self, text: &str) -> Result<Object, DecodeError> {
        let text = map(text)?;
        let mut metadata = None;
        let mut below = vec![None; self.roots.len()];
        json::each_member(text, &mut |name, value| {
            if name == "metadata" {
                metadata = Some(value);
            }
            if let Some(at) = self.roots.iter().position(|root| **root == *name) {
                below[at] = Some(value);
            }
        })?;
        let cell = |(printer, begins): (&Printer, &Option<usize>)| {
            let found = match begins {
                Some(root) => below[*root].and_then(|value| printer.path.first_below(value)),
                None => printer.path.first(text),
            };
            found.and_then(|found| printer.value_type.cell(found)).unwrap_or(Cell::Static(""))
        };
        let mut cells: Box<[Cell]> = self.printers.iter().zip(&self.begins).map(cell).collect();
        if let Some((at, condition)) = &self.state
            && let Some(Cell::Text(word)) = cells.get(*at)
        {
            let tone =
                if condition.is_empty() { state::status("", word) } else { state::condition("", condition, word) };
            cells[*at] = Cell::Status(word.clone(), tone);
        }
        let metadata: Meta<'_> = parse(metadata.unwrap_or("null"))?;
        metadata.into_object(&cells).ok_or(DecodeError::NoName)
    }
}

#[cfg(test)]
mod tests;
