//! Whether the pointer is busy over the table, so that rows must not move under it.

/// How long a pointer that no longer moves keeps the rows in their place, in milliseconds.
const RESTS: f64 = 2_500.0;

/// The pointer over the table.
#[derive(Debug, Default)]
pub(super) struct Pointer {
    busy_until: Option<f64>,
}

impl Pointer {
    /// It moved over the table, or left it.
    pub(super) fn over_table(&mut self, over: bool, now: f64) {
        self.busy_until = over.then_some(now + RESTS);
    }

    /// Whether the user is acting on a row.
    pub(super) fn is_busy(&mut self, now: f64) -> bool {
        self.busy_until = self.busy_until.filter(|until| *until > now);
        self.busy_until.is_some()
    }
}
