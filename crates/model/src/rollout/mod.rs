//! A rollout as one thing: what was asked for, the steps on which it came about with their times, what it waits for, and the last
//! one that went well, with which it is compared.

pub mod bar;
pub mod fields;
pub mod own;
pub mod pods;
pub mod search;
pub mod waits;
