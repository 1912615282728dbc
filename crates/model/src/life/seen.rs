//! When something was, and from what that is known.

use kubechurn_client::api::time::Timestamp;
use kubechurn_client::cache::delta::DeltaType;

use crate::history::{Entry, History};
use crate::why::references::text;

/// What was received, as far as it counts.
#[derive(Clone, Copy, Debug)]
pub struct Known<'a> {
    /// The versions.
    pub history: &'a History,
    /// How many versions had been received at the time that is shown.
    pub received: u64,
    /// The time that is shown, in milliseconds.
    pub at: f64,
    /// What is to be added to a time of the server for one of the page, in milliseconds.
    pub to_page: f64,
}

/// A time, and from what it is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seen {
    /// In milliseconds.
    pub at: f64,
    /// The number of the version that shows it.
    pub seq: Option<u64>,
    /// Whether the object itself says the time, in whole seconds: it was not seen as it happened.
    pub is_from_object: bool,
}

impl Known<'_> {
    /// A time that an object says, as one of the page, in milliseconds.
    pub fn time(&self, object: &str, path: &[&str]) -> Option<f64> {
        let time = Timestamp::parse_set(&text(object, path)?)?;
        Some(time.0 as f64 * 1_000.0 + self.to_page)
    }

    /// When what a version shows for the first time was. A version that came as a change shows it as it happened. What a list
    /// brought had been before, and then only the object's own words have the time. `is_first` is whether no version before
    /// it is kept.
    pub fn seen(&self, entry: &Entry, is_first: bool, own: Option<f64>) -> Option<Seen> {
        let came = match entry.delta_type {
            DeltaType::Added => true,
            DeltaType::Updated | DeltaType::Deleted => !is_first,
            DeltaType::Replaced | DeltaType::Sync => false,
        };
        let at = if came { Some(entry.at) } else { own };
        at.map(|at| Seen { at, seq: Some(entry.sequence), is_from_object: !came })
    }
}
