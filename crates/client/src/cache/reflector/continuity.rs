//! The break in a watch, and whether a notice has reported it.

/// For this long, in milliseconds, after the end of a watch what is held counts as live although the next watch is not
/// open.
const PAUSE: f64 = 2_000.0;

/// A time without a proven socket. All times are milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Silence {
    /// Up to when everything is known.
    pub(super) from: f64,
    /// When the socket ended.
    pub(super) since: f64,
}

impl Silence {
    /// When the silence begins to count: what is held is stale from then on.
    pub(super) fn counts_from(&self) -> f64 {
        self.since + PAUSE
    }

    /// Returns whether the server had sent everything when the socket ended.
    pub(super) fn is_clean(&self) -> bool {
        self.from == self.since
    }
}

/// The time since the newest proof of a watch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) enum Continuity {
    /// Nothing: the watch is proven.
    #[default]
    Unbroken,
    /// A silence that no notice has reported. The next socket may end it before it counts.
    Silent(Silence),
    /// A notice has reported that the watch is lost, or none is needed: the user asked for the stop, or whoever found
    /// the held objects to be wrong reports that. In the last case nothing was silent, and no gap follows.
    Outage(Option<Silence>),
}

impl Continuity {
    /// The silence, reported or not.
    pub(super) fn silence(&self) -> Option<Silence> {
        match *self {
            Continuity::Unbroken => None,
            Continuity::Silent(silence) => Some(silence),
            Continuity::Outage(silence) => silence,
        }
    }

    /// Returns whether the loss of the watch has been reported.
    pub(super) fn is_reported(&self) -> bool {
        matches!(self, Continuity::Outage(_))
    }

    /// The socket is gone, or nothing proves it. Where no notice has reported that, the pause between two sockets
    /// begins anew.
    pub(super) fn fall_silent(&mut self, new: Silence) {
        match self {
            Continuity::Unbroken => *self = Continuity::Silent(new),
            Continuity::Silent(silence) => silence.since = new.since,
            Continuity::Outage(silence) => *silence = silence.or(Some(new)),
        }
    }

    /// The loss of the watch is reported.
    pub(super) fn report(&mut self) {
        *self = Continuity::Outage(self.silence());
    }

    /// Before the first list nothing was known, so that nothing was missed: a silence begins with that list.
    pub(super) fn begin_at(&mut self, now: f64) {
        if let Continuity::Silent(silence) | Continuity::Outage(Some(silence)) = self {
            *silence = Silence { from: now, since: now };
        }
    }
}
