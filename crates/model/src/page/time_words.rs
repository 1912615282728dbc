//! Times in words, by the clock that the user chose: the one place where the page turns milliseconds into words.

use crate::local_time::{DAY, MINUTE, Offsets, SECOND, date, day, to_millisecond, to_second, weekday};
use crate::page::environment::Environment;
use crate::timeline::scale::HISTORY;

/// The clock by which times are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Zone {
    /// The clock of the user's machine.
    #[default]
    Local,
    /// Universal time. Its times end in a `Z`.
    Utc,
    /// The clock of the user's machine, and whoever reads a time sees the name of its zone: in another place it is another.
    Named,
}

impl Zone {
    /// The name under which the browser stores it.
    pub fn name(self) -> &'static str {
        match self {
            Zone::Local => "local",
            Zone::Utc => "utc",
            Zone::Named => "named",
        }
    }

    /// The clock of this name.
    pub fn named(name: &str) -> Option<Zone> {
        [Zone::Local, Zone::Utc, Zone::Named].into_iter().find(|zone| zone.name() == name)
    }

    /// The one that comes next at the switch.
    pub fn next(self) -> Zone {
        match self {
            Zone::Local => Zone::Utc,
            Zone::Utc => Zone::Named,
            Zone::Named => Zone::Local,
        }
    }
}

/// The time that an object has, which knows whole seconds, where the page's clock differs by less than that.
pub fn whole_second(at: f64) -> f64 {
    (at / 1_000.0).round() * 1_000.0
}

/// Writes times of [`Environment::now`].
#[derive(Clone, Copy)]
pub struct TimeWords<'a> {
    pub env: &'a dyn Environment,
    pub zone: Zone,
}

impl TimeWords<'_> {
    /// What must be added to a time to get the one that is shown, in milliseconds.
    pub fn offset(&self, at: f64) -> f64 {
        let to_wall = self.env.to_wall();
        to_wall + if self.zone == Zone::Utc { 0.0 } else { self.env.ahead(at + to_wall) }
    }

    fn local(&self, at: f64) -> i64 {
        (at + self.offset(at)).floor() as i64
    }

    /// The offsets of all times that the timeline shows.
    pub fn offsets(&self) -> Offsets {
        let now = self.env.now();
        Offsets::within((now - HISTORY, now), |at| self.offset(at))
    }

    fn mark(&self) -> &'static str {
        if self.zone == Zone::Utc { "Z" } else { "" }
    }

    /// A time of day, to the millisecond: `13:04:05.678`, in universal time `13:04:05.678Z`.
    pub fn time_of_day(&self, at: f64) -> String {
        to_millisecond(self.local(at)) + self.mark()
    }

    /// The same to the second.
    pub fn to_second(&self, at: f64) -> String {
        to_second(self.local(at)) + self.mark()
    }

    /// A time of day for a time that may be long ago: with the date and without the seconds where it is more than a day ago, and
    /// the date alone where it is a year or so: `25 Nov 13:04`, `25 Nov 2025`.
    pub fn date_and_time(&self, at: f64) -> String {
        self.long_ago(at).unwrap_or_else(|| self.time_of_day(at))
    }

    /// The same, to the second where it is not long ago.
    pub fn date_and_second(&self, at: f64) -> String {
        self.long_ago(at).unwrap_or_else(|| self.to_second(at))
    }

    fn long_ago(&self, at: f64) -> Option<String> {
        let (local, days) = (self.local(at), (self.env.now() - at) / DAY as f64);
        let (clock, date) = (to_second(local), date(local));
        match days {
            days if days < 1.0 => None,
            days if days < 300.0 => Some(format!("{} {}{}", day(local), clock.get(..5)?, self.mark())),
            _ => Some(format!("{} {}", day(local), date.get(..4)?)),
        }
    }

    /// All that is known of a time, for whoever points at it: `Wed 2026-11-25 13:04:05.678 +01:00 Europe/Berlin`. Times of
    /// objects, which know whole seconds, have no more.
    pub fn full(&self, at: f64) -> String {
        let local = self.local(at);
        let clock = if at.rem_euclid(SECOND as f64) == 0.0 { to_second(local) } else { to_millisecond(local) };
        let zone = match self.zone {
            Zone::Utc => String::from("UTC"),
            _ => format!("{} {}", self.ahead(at), self.env.zone_name()),
        };
        format!("{} {} {clock} {}", weekday(local), date(local), zone.trim_end())
    }

    /// A time in RFC 3339, for what leaves the page: `2026-11-25T13:04:05.678+01:00`, and by name as RFC 9557 adds it,
    /// `[Europe/Berlin]`.
    pub fn rfc3339(&self, at: f64) -> String {
        let local = self.local(at);
        let name = match self.zone {
            Zone::Named => Some(self.env.zone_name()).filter(|name| !name.is_empty()).map(|name| format!("[{name}]")),
            _ => None,
        };
        let ahead = if self.zone == Zone::Utc { String::from("Z") } else { self.ahead(at) };
        format!("{}T{}{ahead}{}", date(local), to_millisecond(local), name.unwrap_or_default())
    }

    /// A time as file names have it: `20261122T130405`, in universal time `20261122T130405Z`.
    pub fn for_file(&self, at: f64) -> String {
        let local = self.local(at);
        format!("{}T{}{}", date(local), to_second(local), self.mark()).replace(['-', ':'], "")
    }

    /// How far the user's clock is ahead of UTC: `+01:00`.
    fn ahead(&self, at: f64) -> String {
        let minutes = (self.env.ahead(at + self.env.to_wall()) / MINUTE as f64) as i64;
        let sign = if minutes < 0 { '-' } else { '+' };
        format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
    }

    /// Which clock this is: `local time`, `UTC`, `Europe/Berlin`.
    pub fn clock(&self) -> String {
        match self.zone {
            Zone::Local => String::from("local time"),
            Zone::Utc => String::from("UTC"),
            // A browser that does not know where it is knows how far ahead it is.
            Zone::Named => Some(self.env.zone_name())
                .filter(|name| !name.is_empty())
                .unwrap_or_else(|| format!("UTC{}", self.ahead(self.env.now()))),
        }
    }
}
