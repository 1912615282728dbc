//! The rows one after the other, wherever they stand: for whoever compares them with what they come from.

use crate::table::view::TableView;
use crate::table::view::row::Row;

impl TableView {
    /// How many places rows have, those of rows that went included.
    pub fn places(&self) -> usize {
        self.rows.len()
    }

    /// The live rows among so many places from the `first` one on.
    pub fn live_among(&self, first: usize, count: usize) -> impl Iterator<Item = &Row> {
        let places = self.rows.iter().skip(first).take(count).flatten();
        places.filter(|row| row.deleted_at().is_none())
    }
}
