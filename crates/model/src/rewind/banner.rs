//! What is said of the moment that the page shows, and how the user moves it.

use kubechurn_client::api::request::Scope;

use crate::history::coverage::{Coverage, Known};
use crate::kind_id::{KindId, listed};
use crate::rewind::Rewound;

/// So many times as fast as it happened a recording can be played.
pub const SPEEDS: [f64; 7] = [0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0];

/// What the user asks of the moment.
#[derive(Clone, Debug, PartialEq)]
pub enum RewindCommand {
    /// Go to this time, in milliseconds.
    To(f64),
    /// Go to the mark under the pointer or the cursor, or else to the change that the inspector marks.
    ToPointed,
    /// Go so many milliseconds back.
    Back(f64),
    /// Go to this time of day, as the user typed it: the last one that has been.
    Typed(String),
    /// Show this time while the pointer is pressed.
    Drag(f64),
    /// Stay at the time that was dragged to.
    LetGo,
    /// Go so many changes on, or back if negative: of the selected object, or else of what is in view.
    Step(isize),
    /// Play on from the moment, or stop.
    Play,
    /// Play so fast: a place in [`SPEEDS`].
    Speed(usize),
    /// Leave out quiet stretches while playing, or not.
    SkipQuiet,
    /// Show what is now.
    Live,
}

/// What is said of the moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RewindModel {
    /// It, as a time of day.
    pub time: String,
    /// It, with its date and zone.
    pub whole: String,
    /// Its distance from now.
    pub ago: String,
    /// What the recording is called that is shown, if one is.
    pub recording: Option<String>,
    /// How many changes have come since, in words.
    pub since: String,
    /// The same, but empty where none has come.
    pub later: String,
    /// How far it is to the change before and to the next one, in words; empty where there is none.
    pub steps: [String; 2],
    /// Whether it moves on.
    pub plays: bool,
    /// How fast: a place in [`SPEEDS`].
    pub speed: usize,
    /// Whether quiet stretches are left out.
    pub skips_quiet: bool,
}

/// What is not known of the moment, in sentences: of kinds, and of names that were forgotten. `now` has what each kind's
/// watches select now.
pub fn unknown<'a>(
    rewound: &Rewound,
    coverage: &Coverage,
    now: impl Iterator<Item = &'a [Scope]> + Clone,
) -> Vec<String> {
    let of = |is_it: &dyn Fn(&Known) -> bool| {
        let kinds = rewound.known().iter().zip(0..).filter(|(known, _)| is_it(known));
        let titles: Vec<String> = kinds.map(|(_, kind)| rewound.table().schema().subject(KindId(kind))).collect();
        (!titles.is_empty()).then(|| listed(&titles.iter().map(String::as_str).collect::<Vec<_>>()))
    };
    let not_watched = of(&|known| known.is_nothing() && !known.is_listing);
    let listing = of(&|known| known.is_listing);
    let in_gap = of(&Known::is_in_gap);
    let forgotten = (!rewound.is_whole()).then(|| {
        String::from("Rows may be missing: what was received since has taken the place of what was known of them.")
    });
    let said = [
        not_watched.map(|kinds| format!("{kinds}: not watched at this moment.")),
        listing.map(|kinds| format!("{kinds}: the first list was not complete at this moment.")),
        in_gap.map(|kinds| format!("{kinds}: the server was not heard at this moment. This is what was known before.")),
        forgotten,
    ];
    let selected = rewound.known().iter().zip(now).zip(0..).filter_map(|((known, now), kind)| {
        let then: Vec<&Scope> = known.parts.iter().map(|part| coverage.scope(part)).collect();
        Some(format!("{}: {}", rewound.table().schema().subject(KindId(kind)), selected_then(&then, now)?))
    });
    said.into_iter().flatten().chain(selected).collect()
}

/// What the watches of a kind selected then, in a sentence, where they did not have all that is selected `now`, or more of it.
fn selected_then(then: &[&Scope], now: &[Scope]) -> Option<String> {
    let (first, first_now) = (then.first()?, now.first()?);
    let is_covered = |now: &Scope| then.iter().any(|then| then.namespace.is_empty() || then.namespace == now.namespace);
    if first.selectors() == first_now.selectors() && now.iter().all(is_covered) {
        return None;
    }
    let mut namespaces: Vec<&str> =
        then.iter().map(|scope| &*scope.namespace).filter(|name| !name.is_empty()).collect();
    namespaces.dedup();
    let places = if namespaces.is_empty() { String::new() } else { format!(" in {}", listed(&namespaces)) };
    let words = first.selectors().join(" ");
    let selected = if words.trim().is_empty() { String::new() } else { format!(" with {}", words.trim()) };
    Some(match (&*places, &*selected) {
        ("", "") => String::from("all were watched at this moment, not only those that are selected now."),
        _ => format!("only those{places}{selected} were watched at this moment."),
    })
}

/// A time of day that the user typed, in milliseconds since midnight: `14:02`, `14:02:11`, `14:02:11.408`.
pub fn time_of_day(text: &str) -> Option<f64> {
    // In universal time the page writes a Z.
    let mut parts = text.trim().trim_end_matches('Z').split(':');
    let (hours, minutes) = (parts.next()?, parts.next()?);
    let (seconds, is_end) = (parts.next().unwrap_or("0"), parts.next().is_none());
    let whole = |text: &str, most: f64| {
        let is_number = text.len() <= 2 && text.bytes().all(|digit| digit.is_ascii_digit());
        text.parse::<f64>().ok().filter(|number| is_number && *number < most)
    };
    let (second, fraction) = seconds.split_once('.').unwrap_or((seconds, "0"));
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|digit| digit.is_ascii_digit());
    let fraction: f64 = format!("0.{fraction}").parse().ok().filter(|_| is_fraction)?;
    let seconds = whole(hours, 24.0)? * 3_600.0 + whole(minutes, 60.0)? * 60.0 + whole(second, 60.0)? + fraction;
    is_end.then_some((seconds * 1_000.0).round())
}

/// The last time of day like this that has been. `local` is the local time now, in milliseconds, and the result is one too.
pub fn last_such(time_of_day: f64, local: f64) -> f64 {
    const DAY: f64 = 86_400_000.0;
    let today = (local / DAY).floor() * DAY + time_of_day;
    if today <= local { today } else { today - DAY }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typed_time_is_the_last_one_that_has_been() {
        const HOUR: f64 = 3_600_000.0;
        for (text, expected) in [
            ("14:02", Some(14.0 * HOUR + 120_000.0)),
            (" 14:02:11 ", Some(14.0 * HOUR + 131_000.0)),
            ("14:02:11.408", Some(14.0 * HOUR + 131_408.0)),
            ("14:02:11.408Z", Some(14.0 * HOUR + 131_408.0)),
            ("9:2", Some(9.0 * HOUR + 120_000.0)),
            ("24:00", None),
            ("12:60", None),
            ("12:00:00:00", None),
            ("12:00:00.", None),
            ("-1:00", None),
            ("1e1:00", None),
            ("14", None),
            ("", None),
        ] {
            assert_eq!(time_of_day(text), expected, "{text}");
        }
        let day = 100.0 * 24.0 * HOUR;
        assert_eq!(last_such(HOUR, day + 2.0 * HOUR), day + HOUR);
        assert_eq!(last_such(3.0 * HOUR, day + 2.0 * HOUR), day - 21.0 * HOUR);
    }
}
