//! The cells of an object, packed into one piece of memory: a Pod's eight cells take about sixty bytes instead of two
//! hundred and fifty. With 150,000 Pods the cells are most of what the objects take.

use std::fmt;

use crate::api::cell::{Cell, CellRef, Tone};
use crate::api::time::Timestamp;

/// The cells of one object, in the order of its kind's columns. They are read, and never changed.
///
/// A cell is one byte that says its kind, and then its value: numbers as in LEB128, texts as they are, and texts of
/// `KNOWN` as one byte.
#[derive(Clone, Default, PartialEq)]
pub struct Cells(Box<[u8]>);

/// Words that stand in many rows of most tables.
const KNOWN: [&str; 16] = [
    "",
    "<none>",
    "<unknown>",
    "<invalid>",
    "Running",
    "Pending",
    "Completed",
    "Error",
    "CrashLoopBackOff",
    "ContainerCreating",
    "Terminating",
    "ImagePullBackOff",
    "Ready",
    "Active",
    "Bound",
    "Normal",
];

const TEXT: u8 = 0;
const KNOWN_TEXT: u8 = 1;
const STATUS: u8 = 2;
const KNOWN_STATUS: u8 = 3;
const NUMBER: u8 = 4;
const RATIO: u8 = 5;
const AGE: u8 = 6;
const RESTARTS: u8 = 7;
const ELAPSED: u8 = 8;
const FLOAT: u8 = 9;
/// The low bits of a cell's first byte are its kind. The other bits are its tone, or say which of its times are set.
const KIND: u8 = 0x0f;

impl Cells {
    /// The cell of a column; `None` where the object has fewer.
    pub fn get(&self, at: usize) -> Option<CellRef<'_>> {
        self.iter().nth(at)
    }

    /// All cells, in order.
    pub fn iter(&self) -> Iter<'_> {
        Iter(&self.0)
    }

    /// The first byte of their memory, if there is any.
    pub fn first_byte(&self) -> Option<u8> {
        self.0.first().copied()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.iter().count()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<&[Cell]> for Cells {
    fn from(cells: &[Cell]) -> Cells {
        let mut bytes = Bytes::new();
        for cell in cells {
            pack(cell.as_ref(), &mut bytes);
        }
        Cells(bytes.as_slice().into())
    }
}

impl<const N: usize> From<[Cell; N]> for Cells {
    fn from(cells: [Cell; N]) -> Cells {
        cells.as_slice().into()
    }
}

impl<'a> IntoIterator for &'a Cells {
    type Item = CellRef<'a>;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl fmt::Debug for Cells {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_list().entries(self.iter()).finish()
    }
}

type Bytes = smallvec::SmallVec<[u8; 256]>;

fn pack(cell: CellRef<'_>, out: &mut Bytes) {
    let text = |text: &str, (plain, known): (u8, u8), flags: u8, out: &mut Bytes| {
        match KNOWN.iter().position(|word| *word == text) {
            Some(at) => out.extend([known | flags, at as u8]),
            None => {
                out.push(plain | flags);
                pack_number(text.len() as u64, out);
                out.extend_from_slice(text.as_bytes());
            }
        };
    };
    let times = |times: [Option<Timestamp>; 2], out: &mut Bytes| {
        times.into_iter().flatten().for_each(|time| pack_signed(time.0, out));
    };
    let set = |times: [Option<Timestamp>; 2]| (u8::from(times[0].is_some()) | u8::from(times[1].is_some()) << 1) << 4;
    match cell {
        CellRef::Text(words) => text(words, (TEXT, KNOWN_TEXT), 0, out),
        CellRef::Status(words, tone) => text(words, (STATUS, KNOWN_STATUS), (tone as u8) << 4, out),
        CellRef::Number(number) => {
            out.push(NUMBER);
            pack_signed(number, out);
        }
        CellRef::Float(number) => {
            out.push(FLOAT);
            pack_number(number.to_bits(), out);
        }
        CellRef::Ratio(part, whole) => {
            out.push(RATIO);
            pack_signed(part, out);
            pack_signed(whole, out);
        }
        CellRef::Age(since) => {
            out.push(AGE | set([since, None]));
            times([since, None], out);
        }
        CellRef::Restarts(count, last) => {
            out.push(RESTARTS | set([last, None]));
            pack_signed(count, out);
            times([last, None], out);
        }
        CellRef::Elapsed(from, to) => {
            out.push(ELAPSED | set([from, to]));
            times([from, to], out);
        }
    }
}

/// The sign is in the lowest bit, so that small negative numbers are short, too.
fn pack_signed(number: i64, out: &mut Bytes) {
    pack_number(((number << 1) ^ (number >> 63)) as u64, out);
}

fn pack_number(mut number: u64, out: &mut Bytes) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads packed cells, up to the end or the first byte that begins no cell.
#[derive(Clone, Debug)]
pub struct Iter<'a>(&'a [u8]);

impl<'a> Iterator for Iter<'a> {
    type Item = CellRef<'a>;

    fn nth(&mut self, at: usize) -> Option<CellRef<'a>> {
        for _ in 0..at {
            self.skip()?;
        }
        self.next()
    }

    fn next(&mut self) -> Option<CellRef<'a>> {
        let first = self.byte()?;
        let set = first >> 4;
        Some(match first & KIND {
            TEXT => CellRef::Text(self.text()?),
            KNOWN_TEXT => CellRef::Text(self.known()?),
            STATUS => CellRef::Status(self.text()?, tone(set)),
            KNOWN_STATUS => CellRef::Status(self.known()?, tone(set)),
            NUMBER => CellRef::Number(self.signed()?),
            FLOAT => CellRef::Float(f64::from_bits(self.number()?)),
            RATIO => CellRef::Ratio(self.signed()?, self.signed()?),
            AGE => CellRef::Age(self.time(set & 1)?),
            RESTARTS => CellRef::Restarts(self.signed()?, self.time(set & 1)?),
            ELAPSED => CellRef::Elapsed(self.time(set & 1)?, self.time(set & 2)?),
            _ => return None,
        })
    }
}

impl<'a> Iter<'a> {
    /// Passes over a cell, without looking at its text.
    fn skip(&mut self) -> Option<()> {
        let first = self.byte()?;
        let mut numbers = match first & KIND {
            TEXT | STATUS => {
                let length = usize::try_from(self.number()?).ok()?;
                self.0 = self.0.get(length..)?;
                0
            }
            KNOWN_TEXT | KNOWN_STATUS | NUMBER | FLOAT => 1,
            RATIO => 2,
            RESTARTS => 1 + (first >> 4 & 1),
            AGE | ELAPSED => (first >> 4 & 1) + (first >> 5 & 1),
            _ => return None,
        };
        while numbers > 0 {
            self.number()?;
            numbers -= 1;
        }
        Some(())
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                break;
            }
        }
        Some(number)
    }

    fn signed(&mut self) -> Option<i64> {
        let number = self.number()?;
        Some((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn time(&mut self, set: u8) -> Option<Option<Timestamp>> {
        if set == 0 { Some(None) } else { self.signed().map(|time| Some(Timestamp(time))) }
    }

    fn text(&mut self) -> Option<&'a str> {
        let length = usize::try_from(self.number()?).ok()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        // It was copied from a text.
        std::str::from_utf8(text).ok()
    }

    fn known(&mut self) -> Option<&'static str> {
        KNOWN.get(usize::from(self.byte()?)).copied()
    }
}

fn tone(number: u8) -> Tone {
    match number {
        1 => Tone::Good,
        2 => Tone::Wait,
        3 => Tone::Bad,
        _ => Tone::Plain,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn any_cell() -> impl Strategy<Value = Cell> {
        let time = proptest::option::of(any::<i64>().prop_map(Timestamp));
        let tone = prop_oneof![Just(Tone::Plain), Just(Tone::Good), Just(Tone::Wait), Just(Tone::Bad)];
        let known = (0..KNOWN.len()).prop_map(|at| KNOWN[at].to_owned());
        let text = prop_oneof![known, any::<String>(), "[a-z]{200}"];
        prop_oneof![
            text.clone().prop_map(|text| Cell::Text(text.into())),
            Just(Cell::Static("<none>")),
            (text, tone).prop_map(|(text, tone)| Cell::Status(text.into(), tone)),
            any::<i64>().prop_map(Cell::Number),
            proptest::num::f64::ANY.prop_filter("a number", |number| !number.is_nan()).prop_map(Cell::Float),
            (any::<i64>(), any::<i64>()).prop_map(|(part, whole)| Cell::Ratio(part, whole)),
            time.clone().prop_map(Cell::Age),
            (any::<i64>(), time.clone()).prop_map(|(count, last)| Cell::Restarts(count, last)),
            (time.clone(), time).prop_map(|(from, to)| Cell::Elapsed(from, to)),
        ]
    }

    proptest! {
        #[test]
        fn cells_come_out_as_they_went_in(cells in proptest::collection::vec(any_cell(), 0..12)) {
            let packed = Cells::from(&cells[..]);
            prop_assert!(packed.iter().eq(cells.iter().map(Cell::as_ref)), "{:?} {:?}", packed, cells);
            prop_assert_eq!((packed.len(), packed.is_empty()), (cells.len(), cells.is_empty()));
            for (at, cell) in cells.iter().enumerate() {
                prop_assert_eq!(packed.get(at), Some(cell.as_ref()));
            }
            prop_assert_eq!(packed.get(cells.len()), None);
        }
    }

    #[test]
    fn a_pod_takes_little() {
        let since = Some(Timestamp(1_763_700_000));
        let cells = [
            Cell::Ratio(1, 1),
            Cell::Status("Running".into(), Tone::Good),
            Cell::Restarts(3, since),
            Cell::Age(since),
            Cell::Text("10.244.13.7".into()),
            Cell::Text("node-0137".into()),
            Cell::Static("<none>"),
            Cell::Static("<none>"),
        ];
        assert_eq!(Cells::from(cells).0.len(), 3 + 2 + 7 + 6 + 13 + 11 + 2 + 2);
    }
}
