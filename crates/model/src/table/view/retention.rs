//! The choice of how long the rows of deleted objects stay.

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
    TwoSeconds,
    /// Ten seconds.
    #[default]
    TenSeconds,
    Minute,
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_choice_has_a_name_and_fades_as_it_lasts() {
        for (retention, since, expected) in [
            (Retention::TenSeconds, 2_499.0, 0),
            (Retention::TenSeconds, 7_500.0, 3),
            (Retention::TenSeconds, 1e9, 3),
            (Retention::TwoSeconds, 1_000.0, 2),
            (Retention::FiveMinutes, 100_000.0, 1),
            (Retention::UntilDismissed, 1e12, 0),
            (Retention::AtOnce, 5.0, 0),
            (Retention::Minute, -1.0, 0),
        ] {
            assert_eq!(retention.fading(since), expected, "{retention:?} after {since}");
        }
        assert!(Retention::ALL.iter().all(|retention| Retention::named(retention.name()) == Some(*retention)));
        assert_eq!((Retention::named("7s"), Retention::default()), (None, Retention::TenSeconds));
        assert!(Retention::ALL.is_sorted_by_key(|retention| retention.milliseconds()));
    }
}
