//! When a CronJob is due: the five fields of cron, and the descriptors such as `@hourly`. The grammar is that of
//! robfig/cron's `ParseStandard`, which Kubernetes uses.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::super::duration;

const MONTHS: [&str; 12] = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: [&str; 7] = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/// A schedule without a time in this many seconds never has one, such as the 30th of February.
const SEARCH_LIMIT: i64 = 5 * 366 * 86_400;

/// A parsed schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Schedule {
    /// The minutes that match these fields.
    Fields(Fields),
    /// Every so many seconds after the last time.
    Every(i64),
}

/// Minutes of a wall clock: each field is a bit set of numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fields {
    minutes: Field,
    hours: Field,
    days: Field,
    months: Field,
    weekdays: Field,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Field {
    bits: u64,
    /// Whether the field is a star. If neither day field is a star, a day matches when one of them does.
    is_open: bool,
}

/// Why a schedule is not valid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// There are not exactly five fields.
    #[error("expected exactly 5 fields, found {found}: [{text}]")]
    Fields {
        /// The number of fields.
        found: usize,
        /// The schedule as it was given.
        text: String,
    },
    /// An unknown word that begins with `@`.
    #[error("unrecognized descriptor: {0}")]
    Descriptor(String),
    /// A number or name is unknown or out of its field's range, or a range runs backwards.
    #[error("failed to parse {0}")]
    Number(String),
}

impl Schedule {
    /// Parses a schedule such as `*/5 9-17 * * mon-fri`, `@hourly` or `@every 90s`.
    ///
    /// # Errors
    /// When it is not valid.
    pub fn parse(text: &str) -> Result<Self, ScheduleError> {
        let text = text.trim();
        let text = match text {
            "@yearly" | "@annually" => "0 0 1 1 *",
            "@monthly" => "0 0 1 * *",
            "@weekly" => "0 0 * * 0",
            "@daily" | "@midnight" => "0 0 * * *",
            "@hourly" => "0 * * * *",
            other => other,
        };
        if let Some(duration) = text.strip_prefix("@every ") {
            let seconds = duration::parse(duration.trim()).filter(|seconds| *seconds > 0.0);
            let seconds = seconds.ok_or_else(|| ScheduleError::Number(duration.to_owned()))?;
            return Ok(Self::Every((seconds as i64).max(1)));
        }
        if text.starts_with('@') {
            return Err(ScheduleError::Descriptor(text.to_owned()));
        }
        let fields: Vec<&str> = text.split_whitespace().collect();
        let [minutes, hours, days, months, weekdays] = fields[..] else {
            return Err(ScheduleError::Fields { found: fields.len(), text: text.to_owned() });
        };
        Ok(Self::Fields(Fields {
            minutes: field(minutes, 0, 59, &[])?,
            hours: field(hours, 0, 23, &[])?,
            days: field(days, 1, 31, &[])?,
            months: field(months, 1, 12, &MONTHS)?,
            weekdays: field(weekdays, 0, 6, &WEEKDAYS)?,
        }))
    }

    /// The first time after a moment, both in seconds since 1970; `None` if there is none within five years. Minutes
    /// that the zone's clocks skip are not found, and minutes that they repeat are found twice.
    pub fn next(&self, after: i64, zone: &TimeZone) -> Option<i64> {
        let fields = match self {
            Self::Every(seconds) => return after.checked_add(*seconds),
            Self::Fields(fields) => fields,
        };
        let mut time = after.checked_sub(after.rem_euclid(60))?.checked_add(60)?;
        let end = time.checked_add(SEARCH_LIMIT)?;
        while time < end {
            let clock = zone.to_datetime(Timestamp::from_second(time).ok()?);
            if !fields.has_hour(clock) {
                // In every zone, a new hour starts on a minute boundary.
                time += 60 * i64::from(60 - clock.minute());
            } else if !fields.minutes.has(clock.minute()) {
                time += 60;
            } else {
                return Some(time);
            }
        }
        None
    }

    /// The last time after `earliest` and not after `now`, and whether there were more than a hundred
    /// (`mostRecentScheduleTime`); `None` if there was none.
    pub fn most_recent(&self, earliest: i64, now: i64, zone: &TimeZone) -> Option<(i64, bool)> {
        let due = |after: i64| self.next(after, zone).filter(|time| *time <= now);
        let mut last = due(earliest)?;
        for _ in 0..100 {
            match due(last) {
                Some(time) => last = time,
                None => return Some((last, false)),
            }
        }
        // There are too many to step through one by one, so the search starts closer to now.
        if let Self::Every(seconds) = self {
            return Some((now - (now - last).rem_euclid(*seconds), true));
        }
        for days in [0, 1, 31, 366, 5 * 366] {
            let closer = now - 3600 - days * 86_400;
            if closer > last
                && let Some(time) = due(closer)
            {
                last = time;
                break;
            }
        }
        while let Some(time) = due(last) {
            last = time;
        }
        Some((last, true))
    }
}

impl Fields {
    fn has_hour(&self, clock: DateTime) -> bool {
        self.months.has(clock.month()) && self.has_day(clock) && self.hours.has(clock.hour())
    }

    fn has_day(&self, clock: DateTime) -> bool {
        let day = self.days.has(clock.day());
        let weekday = self.weekdays.has(clock.weekday().to_sunday_zero_offset());
        if self.days.is_open || self.weekdays.is_open { day && weekday } else { day || weekday }
    }
}

impl Field {
    fn has(self, number: i8) -> bool {
        u32::try_from(number).is_ok_and(|number| self.bits >> number & 1 == 1)
    }
}

/// Parses a field: ranges separated by commas.
fn field(text: &str, low: u32, high: u32, names: &[&str]) -> Result<Field, ScheduleError> {
    let mut field = Field { bits: 0, is_open: false };
    for part in text.split(',') {
        let (bits, is_open) = range(part, low, high, names).ok_or_else(|| ScheduleError::Number(part.to_owned()))?;
        field.bits |= bits;
        field.is_open |= is_open;
    }
    Ok(field)
}

/// Parses `*`, `N` or `N-M`, each optionally followed by a slash and a step.
fn range(text: &str, low: u32, high: u32, names: &[&str]) -> Option<(u64, bool)> {
    let number = |text: &str| {
        let name = names.iter().position(|name| text.eq_ignore_ascii_case(name));
        let number = match name {
            Some(at) => u32::try_from(at).ok()? + low,
            None if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok()?,
            None => return None,
        };
        (low..=high).contains(&number).then_some(number)
    };
    let (text, step) = match text.split_once('/') {
        Some((text, step)) => (text, Some(step.parse::<u32>().ok().filter(|step| *step > 0)?)),
        None => (text, None),
    };
    let is_all = matches!(text, "*" | "?");
    let (first, last) = match text.split_once('-') {
        _ if is_all => (low, high),
        Some((first, last)) => (number(first)?, number(last)?),
        // A single number with a step means a range from there to the end.
        None if step.is_some() => (number(text)?, high),
        None => (number(text)?, number(text)?),
    };
    if first > last {
        return None;
    }
    let step = step.unwrap_or(1);
    let bits = (first..=last).step_by(step as usize).fold(0, |bits, number| bits | 1 << number);
    Some((bits, is_all && step == 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_second()
    }

    /// Checks the first times after a moment, in a zone.
    fn check_in(zone: &str, schedule: &str, after: &str, expected: &[&str]) {
        let zone = TimeZone::get(zone).unwrap();
        let parsed = Schedule::parse(schedule).unwrap();
        let mut time = moment(after);
        for expected in expected {
            let next = parsed.next(time, &zone).unwrap_or_else(|| panic!("{schedule}: none after {after}"));
            assert_eq!(Timestamp::from_second(next).unwrap().to_string(), *expected, "{schedule} after {after}");
            time = next;
        }
    }

    fn check(schedule: &str, after: &str, expected: &[&str]) {
        check_in("UTC", schedule, after, expected);
    }

    #[test]
    fn fields_ranges_steps_and_names() {
        let monday = "2026-11-16T10:20:30Z";
        check("* * * * *", monday, &["2026-11-16T10:21:00Z", "2026-11-16T10:22:00Z"]);
        check("*/15 * * * *", monday, &["2026-11-16T10:30:00Z", "2026-11-16T10:45:00Z", "2026-11-16T11:00:00Z"]);
        check("7-59/20 * * * *", monday, &["2026-11-16T10:27:00Z", "2026-11-16T10:47:00Z", "2026-11-16T11:07:00Z"]);
        check("50/5 10 * * *", monday, &["2026-11-16T10:50:00Z", "2026-11-16T10:55:00Z", "2026-11-17T10:50:00Z"]);
        check("0 9-10,12 * * *", monday, &["2026-11-16T12:00:00Z", "2026-11-17T09:00:00Z"]);
        check("0 0 * * MON-fri", "2026-11-20T10:00:00Z", &["2026-11-23T00:00:00Z"]);
        check("0 0 1 jan,Jul ?", monday, &["2027-01-01T00:00:00Z", "2027-07-01T00:00:00Z"]);
        // With both day fields given, either suffices; if one is a star, both must match.
        check("0 0 13 * fri", monday, &["2026-11-20T00:00:00Z", "2026-11-27T00:00:00Z"]);
        check("0 0 20 * *", monday, &["2026-11-20T00:00:00Z", "2026-12-20T00:00:00Z"]);
        check("0 0 29 2 *", monday, &["2028-02-29T00:00:00Z"]);
        check("@hourly", monday, &["2026-11-16T11:00:00Z"]);
        check("@daily", monday, &["2026-11-17T00:00:00Z"]);
        check("@weekly", monday, &["2026-11-22T00:00:00Z"]);
        check("@monthly", monday, &["2026-12-01T00:00:00Z"]);
        check("@yearly", monday, &["2027-01-01T00:00:00Z"]);
        check("@every 2.5s", monday, &["2026-11-16T10:20:32Z", "2026-11-16T10:20:34Z"]);
        check("@every 1m30s", monday, &["2026-11-16T10:22:00Z", "2026-11-16T10:23:30Z"]);
        assert_eq!(Schedule::parse("0 0 30 2 *").unwrap().next(moment(monday), &TimeZone::UTC), None);
    }

    #[test]
    fn what_is_no_schedule() {
        for text in [
            "",
            "* * * *",
            "* * * * * *",
            "60 * * * *",
            "* 24 * * *",
            "* * 0 * *",
            "* * * 13 *",
            "* * * * 7",
            "a * * * *",
            "5-1 * * * *",
            "*/0 * * * *",
            "1-2-3 * * * *",
            "* * * mon *",
            "@often",
            "@every 5",
            "@every 0s",
            "@every x",
            "+1 * * * *",
        ] {
            assert!(Schedule::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn clocks_that_are_put_forward_and_back() {
        let zone = "Europe/Berlin";
        check_in(zone, "30 8 * * *", "2026-11-16T00:00:00Z", &["2026-11-16T07:30:00Z"]);
        // 2:30 is skipped on the 29th of March.
        check_in(zone, "30 2 * * *", "2026-03-28T00:00:00Z", &["2026-03-28T01:30:00Z", "2026-03-30T00:30:00Z"]);
        // 2:30 is repeated on the 25th of October.
        check_in(zone, "30 2 * * *", "2026-10-24T23:00:00Z", &["2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z"]);
    }

    /// Checks the last time at or before a moment, and whether there were many.
    fn check_missed(schedule: &str, earliest: &str, expected: Option<(&str, bool)>) {
        let now = moment("2026-11-21T10:20:30Z");
        let found = Schedule::parse(schedule).unwrap().most_recent(moment(earliest), now, &TimeZone::UTC);
        assert_eq!(found, expected.map(|(time, many)| (moment(time), many)), "{schedule} {earliest}");
    }

    #[test]
    fn of_what_was_missed_the_last_counts() {
        check_missed("0 * * * *", "2026-11-21T10:00:00Z", None);
        check_missed("0 * * * *", "2026-11-21T09:59:59Z", Some(("2026-11-21T10:00:00Z", false)));
        check_missed("* * * * *", "2026-11-21T10:00:00Z", Some(("2026-11-21T10:20:00Z", false)));
        check_missed("* * * * *", "2025-01-01T00:00:00Z", Some(("2026-11-21T10:20:00Z", true)));
        check_missed("0 3 * * *", "2025-01-01T00:00:00Z", Some(("2026-11-21T03:00:00Z", true)));
        check_missed("0 0 1 * *", "1990-01-01T00:00:00Z", Some(("2026-11-01T00:00:00Z", true)));
        check_missed("@every 7s", "2026-11-21T10:00:00Z", Some(("2026-11-21T10:20:25Z", true)));
    }
}
