//! Rows and columns of the table.

mod columns;
mod copies;
mod elements;
mod filter;
mod lingering;
mod listing;
mod several;
mod size;
