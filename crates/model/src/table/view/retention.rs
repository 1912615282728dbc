//! How long the rows of deleted objects stay, and how many of them.

use crate::table::order::RowId;
use crate::table::view::TableView;

/// How many rows of deleted objects stay at most, whatever was chosen; the oldest go first. Only the rows keep these
/// objects in memory, which is bounded by this number.
pub const MOST: usize = if cfg!(test) { 6 } else { 10_000 };

/// In how many steps the row of a deleted object fades.
const STEPS: f64 = 4.0;

/// How long the rows of deleted objects stay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Retention {
    /// Not at all.
    AtOnce,
    /// Two seconds.
    TwoSeconds,
    /// Ten seconds.
    #[default]
    TenSeconds,
    /// A minute.
    Minute,
    /// Five minutes.
    FiveMinutes,
    /// Until the user clears them.
    UntilDismissed,
}

impl Retention {
    /// All choices, the shortest first.
    pub const ALL: [Retention; 6] = [
        Retention::AtOnce,
        Retention::TwoSeconds,
        Retention::TenSeconds,
        Retention::Minute,
        Retention::FiveMinutes,
        Retention::UntilDismissed,
    ];

    /// How long the rows stay, in milliseconds.
    pub fn milliseconds(self) -> f64 {
        match self {
            Retention::AtOnce => 0.0,
            Retention::TwoSeconds => 2_000.0,
            Retention::TenSeconds => 10_000.0,
            Retention::Minute => 60_000.0,
            Retention::FiveMinutes => 300_000.0,
            Retention::UntilDismissed => f64::INFINITY,
        }
    }

    /// The word under which the browser stores the choice, and by which a test finds it.
    pub fn name(self) -> &'static str {
        match self {
            Retention::AtOnce => "0",
            Retention::TwoSeconds => "2s",
            Retention::TenSeconds => "10s",
            Retention::Minute => "1m",
            Retention::FiveMinutes => "5m",
            Retention::UntilDismissed => "dismissed",
        }
    }

    /// The choice with this word; `None` if there is none.
    pub fn named(name: &str) -> Option<Retention> {
        Retention::ALL.into_iter().find(|retention| retention.name() == name)
    }

    /// How far a row has faded whose object was deleted `since` milliseconds ago, in steps. A row that stays until it
    /// is cleared does not fade.
    pub fn fading(self, since: f64) -> u8 {
        let stays = self.milliseconds();
        if stays > 0.0 { ((STEPS * since / stays).max(0.0) as u8).min(STEPS as u8 - 1) } else { 0 }
    }
}

impl TableView {
    /// Sets how long the rows of deleted objects stay, also of those that are deleted already. [`TableView::expire`]
    /// acts on it.
    pub fn retain_for(&mut self, retention: Retention) {
        if self.retention != retention {
            (self.retention, self.crowded_out) = (retention, 0);
        }
    }

    /// How long the rows of deleted objects stay.
    pub fn retention(&self) -> Retention {
        self.retention
    }

    /// How many rows of deleted objects there are, those that the filter hides included; and how many went before their
    /// time, because there were too many, since the last choice or since the user cleared them last.
    pub fn retained(&self) -> (usize, usize) {
        (self.gone.len(), self.crowded_out)
    }

    /// Whether so many objects were deleted while the table was held that it cannot be held any longer.
    pub fn overflows(&self) -> bool {
        self.gone.len() > 2 * MOST
    }

    /// Lets the rows of deleted objects go that have stayed long enough, and the oldest if there are too many; and the
    /// provisional rows that a complete list did not have. While the table is held, no row goes, unless it overflows.
    pub fn expire(&mut self, now: f64) {
        if self.overflows() {
            self.release();
        }
        if self.held.is_some() {
            return;
        }
        self.let_unlisted_go();
        let stays = self.retention.milliseconds();
        while let Some(&id) = self.gone.front() {
            let deleted_at = self.row(id).and_then(|row| row.deleted_at());
            let is_due = deleted_at.is_none_or(|deleted_at| now - deleted_at >= stays);
            if !is_due && self.gone.len() <= MOST {
                break;
            }
            self.crowded_out += usize::from(!is_due);
            self.let_go();
        }
        if self.gone.is_empty() {
            self.crowded_out = 0;
        }
    }

    /// Lets all rows of deleted objects go, because the user cleared them. Therefore the table is no longer held.
    pub fn dismiss(&mut self) {
        self.release();
        while !self.gone.is_empty() {
            self.let_go();
        }
        self.crowded_out = 0;
    }

    /// Lets the row go whose object was deleted first.
    fn let_go(&mut self) {
        if let Some(id) = self.gone.pop_front() {
            self.discard(id);
        }
    }

    /// Takes a row out of the table.
    pub(super) fn discard(&mut self, id: RowId) {
        self.leave(id);
        self.unjudge(id);
        self.rows[id.0 as usize] = None;
        self.free.push(id);
    }
}
