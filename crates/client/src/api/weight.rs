//! The weight of a cell: a number that orders most cells as [`CellRef::compare`] does, so that a sort of 150,000 rows reads
//! each cell once.

use crate::api::cell::{CellRef, elapsed_rank};
use crate::api::meaning::Meaning;

/// Weights are below 2^62: 3 bits for the cell's kind, then 57 bits for a value, and the lowest two bits say how that value
/// stands for the cell.
const BITS: u32 = 62;
const VALUE: u32 = 57;

/// The value is the whole of the cell: cells of the same weight are equal.
const EXACT: u64 = 1;
/// The cell is equal to its value or greater: cells of the same weight must be compared.
const MORE: u64 = 2;
/// The cell is less than the cell that is exactly its value.
const LESS: u64 = 0;

/// The weight of a cell in the reverse order.
pub fn turned(weight: u64) -> u64 {
    weight ^ ((1 << BITS) - 1)
}

/// Whether two cells of this weight are equal; `turned` if it comes from [`turned`]. Otherwise they must be compared.
pub fn is_exact(weight: u64, turned: bool) -> bool {
    weight & 3 == if turned { EXACT ^ 3 } else { EXACT }
}

impl CellRef<'_> {
    /// Of two cells whose weights differ, the one with the lower weight is less by [`CellRef::compare`]. Below 2^62.
    pub fn weight(self) -> u64 {
        let (value, how) = match self {
            CellRef::Text(words) | CellRef::Status(words, _) => text(words),
            CellRef::Number(number) => {
                let is_exact = (0..1 << 45).contains(&number);
                (float(number as f64), if is_exact { EXACT } else { MORE })
            }
            CellRef::Float(number) => (float(number), MORE),
            CellRef::Ratio(part, whole) => ratio(part, whole),
            CellRef::Restarts(count, last) => {
                let (value, how) = whole(count, VALUE);
                // Of equal counts, the one whose last restart is known is less.
                (value, if how == EXACT && last.is_some() { LESS } else { how })
            }
            // The later point is the younger age; an unset one stands behind all others.
            CellRef::Age(Some(since)) => whole(since.0.saturating_neg(), VALUE - 1),
            CellRef::Age(None) => ((1 << VALUE) - 1, EXACT),
            CellRef::Elapsed(from, to) => {
                let (rank, length) = elapsed_rank(from, to);
                let (value, how) = whole(length, VALUE - 2);
                (u64::from(rank) << (VALUE - 2) | value, how)
            }
        };
        u64::from(self.rank()) << (BITS - 3) | value << 2 | how
    }
}

/// The weight of a text whose order is that of its bytes, such as a name.
pub fn of_bytes(text: &str) -> u64 {
    let (value, how) = words(text);
    value << 2 | how
}

/// By what the text means. Words stand behind all that means something.
fn text(text: &str) -> (u64, u64) {
    const WORDS: u64 = 1 << (VALUE - 1);
    let meaning = Meaning::of(text);
    let group = |value: u64| u64::from(meaning.rank()) << (VALUE - 3) | value >> 3;
    match meaning {
        Meaning::Words => {
            let (value, how) = words(text);
            (WORDS | value, how)
        }
        Meaning::Numbered => (group(0), MORE),
        _ => (group(float(meaning.numbers().0)), MORE),
    }
}

/// The first seven bytes.
fn words(text: &str) -> (u64, u64) {
    let mut first = [0; 8];
    let known = text.len().min(7);
    first[1..=known].copy_from_slice(&text.as_bytes()[..known]);
    // A text that was filled up with zeros could as well end in zeros of its own.
    let is_exact = text.len() <= 7 && !text.as_bytes().contains(&0);
    (u64::from_be_bytes(first), if is_exact { EXACT } else { MORE })
}

/// The upper bits of a number's place in the total order.
fn float(number: f64) -> u64 {
    let bits = number.to_bits();
    let place = if bits >> 63 == 0 { bits | 1 << 63 } else { !bits };
    place >> (64 - VALUE)
}

/// A number that is held to so many bits. Those at the edges are not told apart.
fn whole(number: i64, bits: u32) -> (u64, u64) {
    let edge = 1_i64 << (bits - 1);
    let held = number.clamp(-edge, edge - 1);
    let is_exact = -edge < held && held < edge - 1;
    ((held + edge) as u64, if is_exact { EXACT } else { MORE })
}

fn ratio(part: i64, of: i64) -> (u64, u64) {
    let ((part, how), (of, of_how)) = (whole(part, 29), whole(of, 28));
    if how == EXACT { (part << 28 | of, of_how) } else { (part << 28, MORE) }
}

#[cfg(test)]
mod tests {
    use std::cmp::Ordering;

    use proptest::prelude::*;

    use super::*;
    use crate::api::cell::{Cell, Tone};
    use crate::api::time::Timestamp;

    /// Cells that are often equal, often near each other, and often at an edge.
    fn any_cell() -> impl Strategy<Value = Cell> {
        let edges = [0, 1, 2, -1, 1 << 27, 1 << 28, 1 << 45, 1 << 54, 1 << 55, 1 << 56, i64::MAX, i64::MIN];
        let near = (0..edges.len(), -2..3_i64).prop_map(move |(at, by)| edges[at].saturating_add(by));
        let number = prop_oneof![near, any::<i64>()];
        let float = prop_oneof![number.clone().prop_map(|number| number as f64), any::<f64>()];
        let time = proptest::option::of(number.clone().prop_map(Timestamp));
        let text = prop_oneof![
            "[ab\0]{0,3}",
            "Runnin[fgh][a\0]{0,2}",
            "v?[0-9]{1,3}[.]?[0-9]{0,2}(|m|s|h|d|Mi|Gi|k|%|/[0-9]|[.][0-9])",
            any::<String>()
        ];
        prop_oneof![
            text.clone().prop_map(|text| Cell::Text(text.into())),
            text.prop_map(|text| Cell::Status(text.into(), Tone::Good)),
            number.clone().prop_map(Cell::Number),
            float.prop_map(Cell::Float),
            (number.clone(), number.clone()).prop_map(|(part, whole)| Cell::Ratio(part, whole)),
            time.clone().prop_map(Cell::Age),
            (number, time.clone()).prop_map(|(count, last)| Cell::Restarts(count, last)),
            (time.clone(), time).prop_map(|(from, to)| Cell::Elapsed(from, to)),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]
        #[test]
        fn weights_stand_as_their_cells_do(one in any_cell(), two in any_cell()) {
            let (a, b) = (one.as_ref().weight(), two.as_ref().weight());
            prop_assert!(a < 1 << BITS && b < 1 << BITS);
            prop_assert_eq!(turned(a).cmp(&turned(b)), b.cmp(&a));
            let order = one.compare(&two);
            if a != b {
                prop_assert_eq!(a.cmp(&b), order, "{:?} {:?}", one, two);
            } else if is_exact(a, false) {
                prop_assert_eq!(order, Ordering::Equal, "{:?} {:?}", one, two);
            }
            prop_assert_eq!(is_exact(a, false), is_exact(turned(a), true));
        }
    }

    #[test]
    fn what_is_usual_is_exact() {
        let since = Some(Timestamp(1_763_700_000));
        let usual = [
            Cell::Text("Running".into()),
            Cell::Number(3),
            Cell::Ratio(1, 2),
            Cell::Restarts(0, None),
            Cell::Age(since),
            Cell::Age(None),
            Cell::Elapsed(since, since),
        ];
        for cell in usual {
            assert!(is_exact(cell.as_ref().weight(), false), "{cell:?}");
        }
    }
}
