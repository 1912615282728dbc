//! One value of a row, kept so that it can be printed, sorted and compared without the object.

use std::cmp::Ordering;
use std::fmt::Write;

use smol_str::SmolStr;

use crate::api::float;
use crate::api::meaning;
use crate::api::time::{Timestamp, write_human_duration};

/// How alarming a value is. A view shows it by a colour and a shape, never by a colour alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Tone {
    /// The value is neither good nor bad.
    #[default]
    Plain,
    /// All is as it should be: `Running`, `Ready`.
    Good,
    /// Something is on its way: `Pending`, `Terminating`.
    Wait,
    /// Something fails: `CrashLoopBackOff`, `Error`.
    Bad,
}

impl Tone {
    /// The name in the document's `data-tone`; empty for [`Tone::Plain`].
    pub fn name(self) -> &'static str {
        match self {
            Tone::Plain => "",
            Tone::Good => "good",
            Tone::Wait => "wait",
            Tone::Bad => "bad",
        }
    }
}

/// One cell of a row, apart from the namespace and the name, which are the row's key.
///
/// A value that prints an age keeps the time itself, so that the age grows without the object.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Printed as it is; sorts by what it means, as far as that can be seen ([`crate::api::meaning`]).
    Text(SmolStr),
    /// A text that needs no allocation.
    Static(&'static str),
    /// A whole number; sorts as one.
    Number(i64),
    /// Any other number, printed as Go prints it; sorts among the whole ones.
    Float(f64),
    /// `ready/total`, such as `1/2`; sorts by the first number, then the second.
    Ratio(i64, i64),
    /// A state in words with its tone, such as a Pod's STATUS.
    Status(SmolStr, Tone),
    /// The time since a point, as `kubectl` prints an age; `<unknown>` without one. Sorts youngest first.
    Age(Option<Timestamp>),
    /// A count, and when it last grew: `3 (5m ago)`. Sorts by the count.
    Restarts(i64, Option<Timestamp>),
    /// The time between two points, the second being now while it is not known. Empty without a first.
    Elapsed(Option<Timestamp>, Option<Timestamp>),
}

/// A [`Cell`] that is borrowed from where the cells of an object are packed ([`crate::api::cells::Cells`]).
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellRef<'a> {
    /// [`Cell::Text`] or [`Cell::Static`].
    Text(&'a str),
    /// [`Cell::Number`].
    Number(i64),
    /// [`Cell::Float`].
    Float(f64),
    /// [`Cell::Ratio`].
    Ratio(i64, i64),
    /// [`Cell::Status`].
    Status(&'a str, Tone),
    /// [`Cell::Age`].
    Age(Option<Timestamp>),
    /// [`Cell::Restarts`].
    Restarts(i64, Option<Timestamp>),
    /// [`Cell::Elapsed`].
    Elapsed(Option<Timestamp>, Option<Timestamp>),
}

impl Cell {
    /// The cell, borrowed.
    pub fn as_ref(&self) -> CellRef<'_> {
        match *self {
            Cell::Text(ref text) => CellRef::Text(text),
            Cell::Static(text) => CellRef::Text(text),
            Cell::Number(number) => CellRef::Number(number),
            Cell::Float(number) => CellRef::Float(number),
            Cell::Ratio(part, whole) => CellRef::Ratio(part, whole),
            Cell::Status(ref text, tone) => CellRef::Status(text, tone),
            Cell::Age(since) => CellRef::Age(since),
            Cell::Restarts(count, last) => CellRef::Restarts(count, last),
            Cell::Elapsed(from, to) => CellRef::Elapsed(from, to),
        }
    }

    /// [`CellRef::write`].
    pub fn write(&self, now: Timestamp, out: &mut String) {
        self.as_ref().write(now, out);
    }

    /// [`CellRef::tone`].
    pub fn tone(&self) -> Tone {
        self.as_ref().tone()
    }

    /// [`CellRef::text`].
    pub fn text(&self) -> Option<&str> {
        self.as_ref().text()
    }

    /// [`CellRef::changes_with_time`].
    pub fn changes_with_time(&self) -> bool {
        self.as_ref().changes_with_time()
    }

    /// [`CellRef::compare`].
    pub fn compare(&self, other: &Cell) -> Ordering {
        self.as_ref().compare(other.as_ref())
    }
}

impl<'a> CellRef<'a> {
    /// Appends what `kubectl get` would print at `now`.
    ///
    /// Texts are cut at their first line break, and lose their escape characters, as kubectl's table printer
    /// does it (cli-runtime `printers/tableprinter.go`, `printers/terminal.go`); [`CellRef::text`] has all of it.
    pub fn write(self, now: Timestamp, out: &mut String) {
        // Writing to a String cannot fail.
        match self {
            CellRef::Text(text) | CellRef::Status(text, _) => write_first_line(text, out),
            CellRef::Number(number) => drop(write!(out, "{number}")),
            CellRef::Float(number) => float::write(number, out),
            CellRef::Ratio(part, whole) => drop(write!(out, "{part}/{whole}")),
            CellRef::Age(None) => out.push_str("<unknown>"),
            CellRef::Age(Some(since)) => write_human_duration(now.seconds_since(since), out),
            CellRef::Restarts(count, last) => {
                let _ = write!(out, "{count}");
                if let Some(last) = last.filter(|_| count != 0) {
                    out.push_str(" (");
                    write_human_duration(now.seconds_since(last), out);
                    out.push_str(" ago)");
                }
            }
            CellRef::Elapsed(None, _) => {}
            CellRef::Elapsed(Some(from), to) => write_human_duration(to.unwrap_or(now).seconds_since(from), out),
        }
    }

    /// How alarming the value is.
    pub fn tone(self) -> Tone {
        match self {
            CellRef::Status(_, tone) => tone,
            _ => Tone::Plain,
        }
    }

    /// The whole text of a cell that holds a text.
    pub fn text(self) -> Option<&'a str> {
        match self {
            CellRef::Text(text) | CellRef::Status(text, _) => Some(text),
            _ => None,
        }
    }

    /// Whether [`CellRef::write`] may write something else a second later.
    pub fn changes_with_time(self) -> bool {
        self.since().is_some()
    }

    /// The time since which the age runs that [`CellRef::write`] writes; `None` where it writes the same at any time.
    pub fn since(self) -> Option<Timestamp> {
        match self {
            CellRef::Age(since) => since,
            CellRef::Restarts(count, last) => last.filter(|_| count != 0),
            CellRef::Elapsed(from, to) => from.filter(|_| to.is_none()),
            _ => None,
        }
    }

    /// Whether this stands for no value: an order puts it behind all others, whichever way it goes.
    pub fn is_filler(self) -> bool {
        match self {
            CellRef::Text(text) | CellRef::Status(text, _) => {
                matches!(text, "" | "<none>" | "<unset>" | "<unknown>" | "<nil>" | "<no value>")
            }
            CellRef::Age(since) | CellRef::Elapsed(since, _) => since.is_none(),
            _ => false,
        }
    }

    /// A total order by which a column is sorted. It does not change as time passes.
    ///
    /// Where a column holds both, texts stand before numbers (`<none>` before `0/1`). Ages are sorted youngest first, unknown
    /// ones last. Durations are sorted in three groups: those that have not begun; those that are over, by length; and those
    /// that run, the latest begun first. A running duration is not compared with a finished one by length, or rows would move
    /// by themselves.
    pub fn compare(self, other: CellRef<'_>) -> Ordering {
        match (self, other) {
            (CellRef::Number(one), CellRef::Number(two)) => one.cmp(&two),
            (CellRef::Float(one), CellRef::Float(two)) => one.total_cmp(&two),
            // A whole number stands before a float of the same value, so that the order is total.
            (CellRef::Number(one), CellRef::Float(two)) => (one as f64).total_cmp(&two).then(Ordering::Less),
            (CellRef::Float(one), CellRef::Number(two)) => one.total_cmp(&(two as f64)).then(Ordering::Greater),
            (CellRef::Ratio(part, whole), CellRef::Ratio(other_part, other_whole)) => {
                (part, whole).cmp(&(other_part, other_whole))
            }
            // The later time is the younger age. An unset time is less than any other, so that it comes last.
            (CellRef::Age(one), CellRef::Age(two)) => two.cmp(&one),
            (CellRef::Restarts(one, last), CellRef::Restarts(two, other_last)) => {
                one.cmp(&two).then_with(|| other_last.cmp(&last))
            }
            (CellRef::Elapsed(from, to), CellRef::Elapsed(other_from, other_to)) => {
                elapsed_rank(from, to).cmp(&elapsed_rank(other_from, other_to))
            }
            _ => match (self.text(), other.text()) {
                (Some(one), Some(two)) => meaning::compare(one, two),
                _ => self.rank().cmp(&other.rank()),
            },
        }
    }

    /// The place of a variant among cells of other variants.
    pub(super) fn rank(self) -> u8 {
        match self {
            CellRef::Text(_) | CellRef::Status(..) => 0,
            CellRef::Number(_) | CellRef::Float(_) => 1,
            CellRef::Ratio(..) => 2,
            CellRef::Restarts(..) => 3,
            CellRef::Age(_) => 4,
            CellRef::Elapsed(..) => 5,
        }
    }
}

pub(super) fn elapsed_rank(from: Option<Timestamp>, to: Option<Timestamp>) -> (u8, i64) {
    match (from, to) {
        (None, _) => (0, 0),
        (Some(from), Some(to)) => (1, to.seconds_since(from)),
        (Some(from), None) => (2, from.0.saturating_neg()),
    }
}

fn write_first_line(text: &str, out: &mut String) {
    let line = text.split(['\n', '\r', '\x0c']).next().unwrap_or_default();
    for (index, piece) in line.split('\x1b').enumerate() {
        if index > 0 {
            out.push_str("^[");
        }
        out.push_str(piece);
    }
    if line.len() < text.len() {
        out.push_str("...");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);

    fn ago(seconds: i64) -> Option<Timestamp> {
        Some(Timestamp(NOW.0 - seconds))
    }

    fn printed(cell: &Cell) -> String {
        let mut out = String::new();
        cell.write(NOW, &mut out);
        out
    }

    #[test]
    fn cells_print_as_kubectl_prints_them() {
        let cases = [
            (Cell::Text("a b".into()), "a b"),
            (Cell::Text("".into()), ""),
            (Cell::Text("first\nsecond".into()), "first..."),
            (Cell::Text("first\r\n".into()), "first..."),
            (Cell::Text("\x1b[31mred".into()), "^[[31mred"),
            (Cell::Static("<none>"), "<none>"),
            (Cell::Number(-7), "-7"),
            (Cell::Float(2.5e7), "2.5e+07"),
            (Cell::Ratio(1, 2), "1/2"),
            (Cell::Status("Running".into(), Tone::Good), "Running"),
            (Cell::Age(None), "<unknown>"),
            (Cell::Age(ago(-2)), "<invalid>"),
            (Cell::Age(ago(-1)), "0s"),
            (Cell::Age(ago(148)), "2m28s"),
            (Cell::Restarts(0, ago(5)), "0"),
            (Cell::Restarts(3, None), "3"),
            (Cell::Restarts(3, ago(300)), "3 (5m ago)"),
            (Cell::Elapsed(None, None), ""),
            (Cell::Elapsed(None, ago(3)), ""),
            (Cell::Elapsed(ago(92), None), "92s"),
            (Cell::Elapsed(ago(92), ago(2)), "90s"),
            (Cell::Elapsed(ago(2), ago(92)), "<invalid>"),
        ];
        for (cell, expected) in &cases {
            assert_eq!(printed(cell), *expected, "{cell:?}");
        }
    }

    #[test]
    fn only_running_times_tick() {
        for cell in [Cell::Age(ago(1)), Cell::Restarts(1, ago(1)), Cell::Elapsed(ago(1), None)] {
            assert!(cell.changes_with_time(), "{cell:?}");
        }
        for cell in [
            Cell::Age(None),
            Cell::Restarts(0, ago(1)),
            Cell::Restarts(1, None),
            Cell::Elapsed(None, None),
            Cell::Elapsed(ago(2), ago(1)),
            Cell::Number(1),
        ] {
            assert!(!cell.changes_with_time(), "{cell:?}");
        }
    }

    /// One cell per step of the order, so that every pair can be compared.
    fn ascending() -> Vec<Cell> {
        vec![
            Cell::Text("".into()),
            Cell::Static("<none>"),
            Cell::Text("Completed".into()),
            Cell::Status("Running".into(), Tone::Good),
            Cell::Number(-1),
            Cell::Float(-0.5),
            Cell::Number(9),
            Cell::Float(9.5),
            Cell::Number(10),
            Cell::Number(i64::MAX - 1),
            Cell::Number(i64::MAX),
            Cell::Float(i64::MAX as f64),
            Cell::Float(1e300),
            Cell::Ratio(0, 1),
            Cell::Ratio(0, 2),
            Cell::Ratio(2, 2),
            Cell::Ratio(10, 1),
            Cell::Restarts(0, None),
            Cell::Restarts(2, ago(60)),
            Cell::Restarts(2, ago(61)),
            Cell::Restarts(10, ago(1)),
            Cell::Age(ago(1)),
            Cell::Age(ago(100)),
            Cell::Age(None),
            Cell::Elapsed(None, ago(1)),
            Cell::Elapsed(ago(100), ago(99)),
            Cell::Elapsed(ago(100), ago(90)),
            Cell::Elapsed(ago(2), None),
            Cell::Elapsed(ago(3), None),
        ]
    }

    #[test]
    fn sorting_has_one_answer_for_every_pair() {
        let cells = ascending();
        for (i, one) in cells.iter().enumerate() {
            for (j, two) in cells.iter().enumerate() {
                assert_eq!(one.compare(two), i.cmp(&j), "{one:?} {two:?}");
            }
        }
        assert_eq!(Cell::Text("a".into()).compare(&Cell::Static("a")), Ordering::Equal);
    }
}
