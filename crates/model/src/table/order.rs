//! A sorted sequence that stays cheap to change and to index, however long it is.

use std::cmp::Ordering;

/// The number of a row. When the row is gone, another row may have its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowId(pub u32);

/// A row for as long as it exists: its number, and which of the rows that had this number it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RowKey {
    /// The number of the row.
    pub id: RowId,
    /// The version of the table in which the row came, which differs between rows that had the same number.
    pub born: u32,
}

/// The most rows of one chunk before it is split in two.
const CHUNK: usize = 512;

/// Rows in order, in chunks: an insertion moves at most one chunk, and finding the row at a position walks over
/// the chunks' lengths. With 150,000 rows that is some 300 chunks.
#[derive(Debug, Default)]
pub struct Order {
    chunks: Vec<Vec<RowId>>,
    len: usize,
}

impl Order {
    /// Appends a row, which must belong at the end.
    pub fn push(&mut self, row: RowId) {
        match self.chunks.last_mut() {
            Some(chunk) if chunk.len() < CHUNK / 2 => chunk.push(row),
            _ => self.chunks.push(vec![row]),
        }
        self.len += 1;
    }

    /// The last row.
    pub fn last(&self) -> Option<RowId> {
        self.chunks.last().and_then(|chunk| chunk.last()).copied()
    }

    /// Takes out the last row.
    pub fn pop(&mut self) -> Option<RowId> {
        let row = self.chunks.last_mut()?.pop()?;
        self.len -= 1;
        if self.chunks.last().is_some_and(Vec::is_empty) {
            self.chunks.pop();
        }
        Some(row)
    }

    /// Inserts a row where it belongs. `compare` must be a strict order of all rows.
    pub fn insert(&mut self, row: RowId, mut compare: impl FnMut(RowId, RowId) -> Ordering) {
        let at = self.chunk(row, &mut compare);
        if self.chunks.is_empty() {
            self.chunks.push(Vec::new());
        }
        let at = at.min(self.chunks.len() - 1);
        let chunk = &mut self.chunks[at];
        let place = chunk.partition_point(|&other| compare(other, row) == Ordering::Less);
        chunk.insert(place, row);
        self.len += 1;
        if chunk.len() > CHUNK {
            let rest = chunk.split_off(CHUNK / 2);
            self.chunks.insert(at + 1, rest);
        }
    }

    /// Removes a row. `compare` must order the row as when it was inserted. Returns whether the row was there.
    pub fn remove(&mut self, row: RowId, mut compare: impl FnMut(RowId, RowId) -> Ordering) -> bool {
        let at = self.chunk(row, &mut compare);
        let Some(chunk) = self.chunks.get_mut(at) else { return false };
        let place = chunk.partition_point(|&other| compare(other, row) == Ordering::Less);
        if chunk.get(place) != Some(&row) {
            return false;
        }
        chunk.remove(place);
        self.len -= 1;
        if chunk.is_empty() {
            self.chunks.remove(at);
        }
        true
    }

    /// The first chunk whose last row is not before `row`.
    fn chunk(&self, row: RowId, compare: &mut impl FnMut(RowId, RowId) -> Ordering) -> usize {
        self.chunks.partition_point(|chunk| chunk.last().is_some_and(|&last| compare(last, row) == Ordering::Less))
    }

    /// The position of a row; `None` if the row is not there.
    pub fn position(&self, row: RowId, mut compare: impl FnMut(RowId, RowId) -> Ordering) -> Option<usize> {
        let at = self.chunk(row, &mut compare);
        let chunk = self.chunks.get(at)?;
        let place = chunk.partition_point(|&other| compare(other, row) == Ordering::Less);
        let before: usize = self.chunks[..at].iter().map(Vec::len).sum();
        (chunk.get(place) == Some(&row)).then_some(before + place)
    }

    /// The rows from a position on.
    pub fn iter_from(&self, mut position: usize) -> impl Iterator<Item = RowId> {
        let mut first = 0;
        while let Some(chunk) = self.chunks.get(first).filter(|chunk| chunk.len() <= position) {
            position -= chunk.len();
            first += 1;
        }
        self.chunks[first.min(self.chunks.len())..].iter().flatten().skip(position).copied()
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_equals_a_sorted_vector_after_any_changes(steps in proptest::collection::vec((any::<bool>(), 0_u32..3000), 0..3000)) {
            let mut order = Order::default();
            let mut plain = std::collections::BTreeSet::new();
            for (insert, row) in steps {
                if insert && plain.insert(row) {
                    order.insert(RowId(row), |a, b| a.cmp(&b));
                } else if !insert {
                    prop_assert_eq!(order.remove(RowId(row), |a, b| a.cmp(&b)), plain.remove(&row));
                }
            }
            prop_assert_eq!(order.len(), plain.len());
            let rows: Vec<u32> = order.iter_from(0).map(|row| row.0).collect();
            let expected: Vec<u32> = plain.into_iter().collect();
            for position in [0, 1, 255, 256, 257, expected.len()] {
                let from: Vec<u32> = order.iter_from(position).map(|row| row.0).collect();
                prop_assert_eq!(&from[..], expected.get(position..).unwrap_or_default());
            }
            for (place, row) in expected.iter().enumerate() {
                prop_assert_eq!(order.position(RowId(*row), |a, b| a.cmp(&b)), Some(place));
            }
            prop_assert_eq!(order.position(RowId(3000), |a, b| a.cmp(&b)), None);
            prop_assert_eq!(rows, expected);
        }
    }

    #[test]
    fn an_order_takes_changes_at_its_end_and_within() {
        let mut order = Order::default();
        (0..2002).map(RowId).for_each(|row| order.push(row));
        assert_eq!(
            (order.pop(), order.pop(), order.last(), order.len()),
            (Some(RowId(2001)), Some(RowId(2000)), Some(RowId(1999)), 2000)
        );
        assert!(order.remove(RowId(700), |a, b| a.cmp(&b)));
        order.insert(RowId(700), |a, b| a.cmp(&b));
        assert!(order.iter_from(0).map(|row| row.0).eq(0..2000));
    }
}
