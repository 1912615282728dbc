//! Local times: milliseconds in words of clock and calendar. How far a zone is ahead of UTC is asked of the surroundings.

use kubechurn_client::record::time::Time;

/// A second, a minute, an hour and a day, in milliseconds.
pub const SECOND: i64 = 1_000;
pub const MINUTE: i64 = 60 * SECOND;
pub const HOUR: i64 = 60 * MINUTE;
pub const DAY: i64 = 24 * HOUR;

/// The days of the week, from the day on which the count of milliseconds began.
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];
/// The names of the months, of three letters each.
const MONTHS: &str = "JanFebMarAprMayJunJulAugSepOctNovDec";

/// What must be added to the times of a stretch to get local ones, in milliseconds. Within a stretch as long as the timeline's
/// longest window, a clock is put forward or back once at most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Offsets {
    before: f64,
    after: f64,
    /// The first time that has the other offset.
    changed: f64,
}

impl Offsets {
    /// The same offset at all times.
    pub fn fixed(offset: f64) -> Offsets {
        Offsets { before: offset, after: offset, changed: f64::NEG_INFINITY }
    }

    /// The offsets of a stretch. `offset` returns that of a time.
    pub fn within((from, to): (f64, f64), offset: impl Fn(f64) -> f64) -> Offsets {
        let (before, after) = (offset(from), offset(to));
        if before == after {
            return Offsets::fixed(after);
        }
        // Clocks are changed at whole seconds.
        let (mut early, mut late) = (from, to);
        while late - early > 500.0 {
            let middle = (early + late) / 2.0;
            if offset(middle) == before { early = middle } else { late = middle }
        }
        Offsets { before, after, changed: (late / 1_000.0).round() * 1_000.0 }
    }

    /// The offset of a time.
    pub fn at(&self, time: f64) -> f64 {
        if time < self.changed { self.before } else { self.after }
    }

    /// The local time of a time.
    pub fn local(&self, time: f64) -> i64 {
        (time + self.at(time)).floor() as i64
    }

    /// The two parts of all times that have one offset each, the later one first: where it begins, and its offset.
    pub fn parts(&self) -> [(f64, f64); 2] {
        [(self.changed, self.after), (f64::NEG_INFINITY, self.before)]
    }
}

/// The time of day of a local time, to the second: `13:04:05`.
pub fn to_second(local: i64) -> String {
    let part = |unit: i64, of: i64| local.rem_euclid(of) / unit;
    format!("{:02}:{:02}:{:02}", part(HOUR, DAY), part(MINUTE, HOUR), part(SECOND, MINUTE))
}

/// The same to the millisecond: `13:04:05.678`.
pub fn to_millisecond(local: i64) -> String {
    format!("{}.{:03}", to_second(local), local.rem_euclid(SECOND))
}

/// The day of the week of a local time: `Wed`.
pub fn weekday(local: i64) -> &'static str {
    DAYS[local.div_euclid(DAY).rem_euclid(7) as usize]
}

/// The date of a local time, in ISO 8601: `2026-11-25`.
pub fn date(local: i64) -> String {
    let mut date = Time::from_seconds(local.div_euclid(SECOND)).to_string();
    date.truncate(date.find('T').unwrap_or_default());
    date
}

/// Day and month of a local time: `25 Nov`.
pub fn day(local: i64) -> String {
    let date = date(local);
    let number = |at| date.rsplit('-').nth(at).and_then(|digits| digits.parse().ok()).unwrap_or(1_usize);
    let month = MONTHS.get(3 * number(1).clamp(1, 12) - 3..).and_then(|months| months.get(..3)).unwrap_or_default();
    format!("{} {month}", number(0))
}

/// Whether two local times are of one day.
pub fn is_same_day(one: i64, other: i64) -> bool {
    one.div_euclid(DAY) == other.div_euclid(DAY)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_local_time_is_written_by_clock_and_calendar() {
        let at = 1_795_423_272_402;
        assert_eq!((&*to_second(at), &*to_millisecond(at)), ("08:41:12", "08:41:12.402"));
        assert_eq!((weekday(at), &*date(at), &*day(at)), ("Mon", "2026-11-23", "23 Nov"));
        assert_eq!((weekday(-1), &*date(-1), &*to_millisecond(-1)), ("Wed", "1969-12-31", "23:59:59.999"));
        assert_eq!((&*day(0), &*day(951_782_400_000)), ("1 Jan", "29 Feb"));
        assert!(is_same_day(0, DAY - 1) && !is_same_day(-1, 0) && !is_same_day(DAY - 1, DAY));
    }

    #[test]
    fn where_a_clock_is_put_back_is_found() {
        // Berlin, 25 October 2026: at 01:00 UTC 03:00 becomes 02:00.
        let changed = 1_792_890_000_000.0;
        let hour = 3_600_000.0;
        let berlin = |at: f64| if at < changed { 2.0 * hour } else { hour };
        for stretch in
            [(changed - 168.0 * hour, changed), (changed - 1.0, changed + 1.0), (changed - 7.3 * hour, changed + hour)]
        {
            let offsets = Offsets::within(stretch, berlin);
            assert_eq!([-1.0, 0.0].map(|by| offsets.at(changed + by)), [2.0 * hour, hour], "{stretch:?}");
            assert_eq!(
                [-1.0, 0.0].map(|by| to_millisecond(offsets.local(changed + by))),
                ["02:59:59.999", "02:00:00.000"]
            );
        }
        assert_eq!(Offsets::within((changed, changed + hour), berlin), Offsets::fixed(hour));
    }
}
