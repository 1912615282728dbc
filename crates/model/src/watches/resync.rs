//! How often resyncs repeat what is known: chosen on the page, or with `?resync=SECONDS` in the address.

use kubechurn_client::cache::handler::MINIMUM_RESYNC;

/// The most objects for which resyncs happen without the user's choice. With more objects, resyncs happen only if the
/// user chooses a period.
pub const UP_TO: usize = 10_000;

/// How often to resync.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Resync {
    /// Every ten minutes where there are at most [`UP_TO`] objects, and never where there are more.
    #[default]
    Automatic,
    /// Never.
    Off,
    /// Every half minute.
    HalfMinute,
    /// Every minute.
    Minute,
    /// Every ten minutes.
    TenMinutes,
}

impl Resync {
    /// Every choice, in the order in which they are shown.
    pub const ALL: [Resync; 5] =
        [Resync::Automatic, Resync::Off, Resync::HalfMinute, Resync::Minute, Resync::TenMinutes];

    /// The name under which the choice is stored, and by which tests find it.
    pub fn name(self) -> &'static str {
        match self {
            Resync::Automatic => "auto",
            Resync::Off => "off",
            Resync::HalfMinute => "30s",
            Resync::Minute => "1m",
            Resync::TenMinutes => "10m",
        }
    }

    /// The choice with this name.
    pub fn named(name: &str) -> Option<Resync> {
        Resync::ALL.into_iter().find(|resync| resync.name() == name)
    }

    /// The period with this number of objects, in milliseconds; `None` for never.
    pub fn period(self, objects: usize) -> Option<f64> {
        match self {
            Resync::Automatic => (objects <= UP_TO).then_some(600_000.0),
            Resync::Off => None,
            Resync::HalfMinute => Some(30_000.0),
            Resync::Minute => Some(60_000.0),
            Resync::TenMinutes => Some(600_000.0),
        }
    }
}

/// What the address asks for.
#[derive(Clone, Debug, PartialEq)]
enum Asked {
    /// A period in milliseconds.
    Every(f64),
    /// A text that is no such number. It changes nothing.
    Unread(String),
}

/// The user's last choice, and the period that the address asks for, which counts until the user chooses on the page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Resyncs {
    chosen: Resync,
    asked: Option<Asked>,
}

impl Resyncs {
    /// `kept` is the name of the user's last choice, and `parameter` is what the address says: a number of seconds.
    /// Less than one second counts as one, as in client-go.
    pub fn new(kept: Option<&str>, parameter: Option<&str>) -> Resyncs {
        let asked = parameter.map(|text| match text.parse::<f64>() {
            Ok(seconds) if seconds > 0.0 && seconds.is_finite() => Asked::Every((seconds * 1000.0).max(MINIMUM_RESYNC)),
            _ => Asked::Unread(text.chars().take(12).collect()),
        });
        Resyncs { chosen: kept.and_then(Resync::named).unwrap_or_default(), asked }
    }

    /// Chooses on the page. What the address asks for no longer matters.
    pub fn choose(&mut self, resync: Resync) {
        *self = Resyncs { chosen: resync, asked: None };
    }

    /// The choice in force; `None` while the address says something else.
    pub fn chosen(&self) -> Option<Resync> {
        if let Some(Asked::Every(_)) = self.asked { None } else { Some(self.chosen) }
    }

    /// The period with this number of objects, in milliseconds; `None` for never.
    pub fn period(&self, objects: usize) -> Option<f64> {
        if let Some(Asked::Every(every)) = self.asked { Some(every) } else { self.chosen.period(objects) }
    }

    /// A remark beside the choice about what the address says; empty if the address says nothing.
    pub fn words(&self) -> String {
        match &self.asked {
            Some(Asked::Every(every)) => format!("Every {} s, as ?resync= in the address says.", every / 1000.0),
            Some(Asked::Unread(text)) => format!("resync={text} in the address is no number of seconds."),
            None => String::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_objects_are_resynced_only_where_that_was_chosen() {
        for (kept, few, many) in [
            (None, Some(600_000.0), None),
            (Some("auto"), Some(600_000.0), None),
            (Some("no such"), Some(600_000.0), None),
            (Some("off"), None, None),
            (Some("30s"), Some(30_000.0), Some(30_000.0)),
            (Some("1m"), Some(60_000.0), Some(60_000.0)),
            (Some("10m"), Some(600_000.0), Some(600_000.0)),
        ] {
            let resyncs = Resyncs::new(kept, None);
            assert_eq!((resyncs.period(UP_TO), resyncs.period(UP_TO + 1)), (few, many), "{kept:?}");
        }
        assert!(Resync::ALL.iter().all(|resync| Resync::named(resync.name()) == Some(*resync)));
    }

    #[test]
    fn the_address_asks_until_something_is_chosen() {
        for (parameter, period, chosen, words) in [
            ("2", Some(2_000.0), None, "Every 2 s, as ?resync= in the address says."),
            ("1.5", Some(1_500.0), None, "Every 1.5 s, as ?resync= in the address says."),
            ("0.01", Some(1_000.0), None, "Every 1 s, as ?resync= in the address says."),
            ("0", None, Some(Resync::Off), "resync=0 in the address is no number of seconds."),
            ("-3", None, Some(Resync::Off), "resync=-3 in the address is no number of seconds."),
            ("NaN", None, Some(Resync::Off), "resync=NaN in the address is no number of seconds."),
            ("inf", None, Some(Resync::Off), "resync=inf in the address is no number of seconds."),
            ("ä", None, Some(Resync::Off), "resync=ä in the address is no number of seconds."),
        ] {
            let mut resyncs = Resyncs::new(Some("off"), Some(parameter));
            assert_eq!((resyncs.period(5), resyncs.chosen(), &*resyncs.words()), (period, chosen, words));
            resyncs.choose(Resync::Minute);
            assert_eq!((resyncs.period(5), resyncs.chosen()), (Some(60_000.0), Some(Resync::Minute)), "{parameter}");
        }
    }
}
