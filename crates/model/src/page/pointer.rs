//! The pointer over rows: while it moves there, the rows stay in their places.

/// How long a pointer that has stopped moving still keeps the rows in place, in milliseconds.
const RESTS: f64 = 2_500.0;

/// Whether the user is acting on a row.
#[derive(Debug, Default)]
pub struct Pointer {
    busy_until: Option<f64>,
}

impl Pointer {
    /// The pointer moved over the rows, or left them.
    pub fn over_table(&mut self, over: bool, now: f64) {
        self.busy_until = over.then_some(now + RESTS);
    }

    /// When the rows may move again, in milliseconds, if they are kept in place.
    pub fn rests_at(&self) -> Option<f64> {
        self.busy_until
    }

    /// Whether the user is acting on a row.
    pub fn is_busy(&mut self, now: f64) -> bool {
        self.busy_until = self.busy_until.filter(|until| *until > now);
        self.busy_until.is_some()
    }
}
