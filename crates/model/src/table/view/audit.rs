//! The rows one after the other in the order of their numbers, to be compared with the store that they come from.

use crate::table::view::TableView;
use crate::table::view::row::Row;

impl TableView {
    /// One more than the largest number that a row may have.
    pub fn places(&self) -> usize {
        self.rows.len()
    }

    /// The rows of live objects among `count` numbers from `first` on.
    pub fn live_among(&self, first: usize, count: usize) -> impl Iterator<Item = &Row> {
        let places = self.rows.iter().skip(first).take(count).flatten();
        places.filter(|row| row.lives())
    }
}
