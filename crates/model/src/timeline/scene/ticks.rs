//! The ticks of the time axis, and what is written at them: from milliseconds to days.

use crate::local_time::{DAY, HOUR, MINUTE, Offsets, SECOND, day, is_same_day, to_second, weekday};
use crate::timeline::scale::Scale;

/// What is written at a tick.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Label {
    /// So many seconds before now.
    Ago(u32),
    /// A local time, in milliseconds since 1970, to this precision.
    Local(i64, Precision),
}

/// How much of a time is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// The second of the minute, with its milliseconds: `12.402 s`.
    Millisecond,
    /// `09:41:20`.
    Second,
    /// `09:41`.
    Minute,
    /// `Mon 09:00`.
    Day,
    /// `23 Nov`, where a day begins.
    Date,
    /// `23 Nov 09:41`, where another day than today is shown for the first time.
    DateAndTime,
}

/// A tick on the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tick {
    /// The x coordinate.
    pub x: f64,
    /// What is written there.
    pub label: Label,
}

impl Tick {
    /// What is written at the tick: `now`, `-60s`, `-1m30s`, `12.402 s`, `09:41:20`, `09:41`, `Mon 09:00`, `23 Nov`.
    pub fn label(&self) -> String {
        match self.label {
            Label::Ago(0) => "now".into(),
            Label::Ago(ago) if ago <= 60 => format!("-{ago}s"),
            Label::Ago(ago) => match (ago / 60, ago % 60) {
                (minutes, 0) => format!("-{minutes}m"),
                (minutes, seconds) => format!("-{minutes}m{seconds}s"),
            },
            Label::Local(time, precision) => {
                let clock = to_second(time);
                let minute = clock.get(.."09:41".len()).unwrap_or_default();
                match precision {
                    Precision::Millisecond => {
                        format!("{}.{:03} s", time.rem_euclid(MINUTE) / SECOND, time.rem_euclid(SECOND))
                    }
                    Precision::Second => clock,
                    Precision::Minute => minute.to_owned(),
                    Precision::Day => format!("{} {minute}", weekday(time)),
                    Precision::Date => day(time),
                    Precision::DateAndTime if time % MINUTE == 0 => format!("{} {minute}", day(time)),
                    Precision::DateAndTime => format!("{} {clock}", day(time)),
                }
            }
        }
    }
}

/// The possible steps between ticks, in milliseconds.
const STEPS: [i64; 28] = [
    1,
    2,
    5,
    10,
    20,
    50,
    100,
    200,
    500,
    SECOND,
    2 * SECOND,
    5 * SECOND,
    10 * SECOND,
    15 * SECOND,
    30 * SECOND,
    MINUTE,
    2 * MINUTE,
    5 * MINUTE,
    10 * MINUTE,
    20 * MINUTE,
    30 * MINUTE,
    HOUR,
    2 * HOUR,
    4 * HOUR,
    6 * HOUR,
    12 * HOUR,
    DAY,
    2 * DAY,
];

/// The least room between two ticks, in pixels.
const TICK_ROOM: f64 = 64.0;

/// So many ticks are there at most: it only matters for windows that are far longer than the longest step.
const MOST: usize = 64;

/// Up to so many milliseconds before now a tick says how long ago it is. What is longer ago has a time of day.
const RECENT: f64 = 600_000.0;

/// In recent windows from this length on, in milliseconds, ticks stand at whole seconds.
const WHOLE: f64 = 2_000.0;

/// The least room of a tick that has a date and a time, in pixels.
const DATED_ROOM: f64 = 110.0;

/// Writes the ticks of a scale into `ticks`, the latest first. `offsets` are what must be added to the times of the window to
/// get local ones.
pub fn ticks(scale: &Scale, (now, offsets): (f64, Offsets), ticks: &mut Vec<Tick>) {
    ticks.clear();
    if scale.width < 1.0 {
        return;
    }
    let is_near = now - scale.window.from <= RECENT + 1.0;
    // What is shown in seconds before now has no fractions of them.
    let least = if is_near && scale.window.span() >= WHOLE { SECOND } else { 1 };
    let room = |step: &&i64| **step >= least && **step as f64 / scale.ms_per_pixel() >= TICK_ROOM;
    let step = STEPS.iter().find(room).copied().unwrap_or(STEPS[STEPS.len() - 1]);
    let is_recent = is_near && step >= SECOND;
    let newest = scale.window.to.min(now);
    // Recent ticks stand at whole steps before now, and all others at whole steps of the local time.
    if is_recent {
        let first = ((now - newest) / step as f64 - 1e-9).ceil().max(0.0) as i64;
        for at in first.. {
            let x = scale.x(now - (at * step) as f64);
            if x < scale.left - 0.5 || ticks.len() >= MOST {
                return;
            }
            ticks.push(Tick { x, label: Label::Ago((at * step / SECOND) as u32) });
        }
    }
    let precision = match () {
        () if step < SECOND => Precision::Millisecond,
        () if step < MINUTE => Precision::Second,
        () if scale.window.span() <= DAY as f64 => Precision::Minute,
        () => Precision::Day,
    };
    let mut end = newest;
    for (begin, offset) in offsets.parts() {
        let mut index = ((end + offset) / step as f64 + 1e-9).floor() as i64;
        loop {
            let at = (index * step) as f64 - offset;
            let x = scale.x(at);
            if at < begin || x < scale.left - 0.5 || ticks.len() >= MOST {
                break;
            }
            // Where the clock was put forward or back, steps of two offsets meet.
            if ticks.last().is_none_or(|later| later.x - x >= TICK_ROOM - 0.5) {
                let is_midnight = step >= SECOND && (index * step).rem_euclid(DAY) == 0;
                let precision = if is_midnight { Precision::Date } else { precision };
                ticks.push(Tick { x, label: Label::Local(index * step, precision) });
            }
            index -= 1;
        }
        // What is before this part has the other offset, if it is in sight.
        end = end.min(begin - 1.0);
        if end < scale.window.from {
            break;
        }
    }
    // The first tick says which day it is, unless that is today: all later ones count from there, or from a midnight. Its words
    // are long, so that the next one gives way.
    let is_today = |tick: &Tick| matches!(tick.label, Label::Local(time, _) if is_same_day(time, offsets.local(now)));
    let is_clock = |tick: &Tick| matches!(tick.label, Label::Local(_, Precision::Second | Precision::Minute));
    let Some(mut first) = ticks.pop_if(|first| is_clock(first) && !is_today(first)) else { return };
    ticks.pop_if(|next| is_clock(next) && next.x - first.x < DATED_ROOM);
    if let (Label::Local(_, precision), true) =
        (&mut first.label, ticks.last().is_none_or(|next| next.x - first.x >= DATED_ROOM))
    {
        *precision = Precision::DateAndTime;
    }
    ticks.push(first);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::scale::{HISTORY, MIN_SPAN, Window};

    fn labels_at(now: f64, zone: f64, (span, behind): (f64, f64), width: f64) -> Vec<String> {
        let window = Window { from: now - behind - span, to: now - behind };
        let mut found = Vec::new();
        ticks(&Scale { window, left: 236.0, width }, (now, Offsets::fixed(zone)), &mut found);
        assert!(found.windows(2).all(|pair| pair[0].x > pair[1].x), "{found:?}");
        assert!(found.iter().all(|tick| tick.x <= 236.0 + width + 0.5), "{found:?}");
        found.iter().rev().map(Tick::label).collect()
    }

    fn labels(span: f64, width: f64, behind: f64) -> Vec<String> {
        labels_at(1_000_000.0, 0.0, (span, behind), width)
    }

    #[test]
    fn a_minute_has_a_tick_every_ten_seconds() {
        assert_eq!(labels(60_000.0, 600.0, 0.0), ["-60s", "-50s", "-40s", "-30s", "-20s", "-10s", "now"]);
    }

    #[test]
    fn zoomed_windows_have_nice_steps() {
        assert_eq!(labels(4_000.0, 600.0, 0.0), ["-4s", "-3s", "-2s", "-1s", "now"]);
        assert_eq!(labels(600_000.0, 600.0, 0.0), ["-10m", "-8m", "-6m", "-4m", "-2m", "now"]);
        assert_eq!(labels(60_000.0, 200.0, 120_000.0), ["-3m", "-2m30s", "-2m"]);
        assert_eq!(labels(60_000.0, 0.0, 0.0), Vec::<String>::new());
    }

    #[test]
    fn from_milliseconds_to_days_a_time_has_the_words_that_fit_it() {
        // Monday, 23 November 2026, 09:41:12.402 in a place an hour east of Greenwich.
        let (now, zone) = (1_795_423_272_402.0, 3_600_000.0);
        let labels = |span: f64, behind: f64, width: f64| labels_at(now, zone, (span, behind), width);
        assert_eq!(labels(5.0, 0.0, 200.0), ["12.398 s", "12.400 s", "12.402 s"]);
        assert_eq!(labels(900.0, 0.0, 200.0), ["11.500 s", "12.000 s"]);
        assert_eq!(labels(60_000.0, 3_600_000.0, 200.0), ["08:40:30", "08:41:00"]);
        assert_eq!(labels(3_600_000.0, 0.0, 300.0), ["09:00", "09:20", "09:40"]);
        assert_eq!(labels(24.0 * 3_600_000.0, 0.0, 300.0), ["22 Nov 12:00", "23 Nov", "06:00"]);
        assert_eq!(labels(48.0 * 3_600_000.0, 0.0, 300.0), ["Sat 12:00", "22 Nov", "Sun 12:00", "23 Nov"]);
        assert_eq!(labels(HISTORY, 0.0, 300.0), ["17 Nov", "19 Nov", "21 Nov", "23 Nov"]);
    }

    #[test]
    fn where_the_clock_is_put_back_or_forward_each_tick_has_the_time_of_its_own() {
        let hour = 3_600_000.0;
        // Berlin: on 25 October 2026 03:00 becomes 02:00, and on 28 March 2027 02:00 becomes 03:00.
        for (changed, before, after, expected) in [
            (1_792_890_000_000.0, 2.0, 1.0, ["24 Oct 23:00", "25 Oct", "01:00", "02:00", "02:00", "03:00", "04:00"]),
            (1_806_195_600_000.0, 1.0, 2.0, ["27 Mar 22:00", "23:00", "28 Mar", "01:00", "03:00", "04:00", "05:00"]),
        ] {
            let offset = |at: f64| if at < changed { before * hour } else { after * hour };
            let window = Window { from: changed - 4.1 * hour, to: changed + 2.5 * hour };
            let (now, mut found) = (changed + 200.0 * hour, Vec::new());
            let offsets = Offsets::within((now - HISTORY - 100.0 * hour, now), offset);
            ticks(&Scale { window, left: 0.0, width: 790.0 }, (now, offsets), &mut found);
            let labels: Vec<String> = found.iter().rev().map(Tick::label).collect();
            assert_eq!(labels, expected);
            let steps: Vec<f64> = found.windows(2).map(|pair| (pair[0].x - pair[1].x).round()).collect();
            assert!(steps.iter().all(|step| *step == steps[0]), "an hour is an hour: {steps:?}");
        }
    }

    #[test]
    fn another_day_than_today_is_named_once() {
        // Monday, 23 November 2026, 00:10 at Greenwich.
        let (now, minute) = (1_795_392_600_000.0, 60_000.0);
        let labels = |span: f64, behind: f64, width: f64| labels_at(now, 0.0, (span, behind), width);
        assert_eq!(labels(30.0 * minute, 0.0, 400.0), ["22 Nov 23:40", "23:50", "23:55", "23 Nov", "00:05", "00:10"]);
        assert_eq!(
            labels(3.0 * minute, 11.0 * minute, 400.0),
            ["22 Nov 23:56", "23:57:00", "23:57:30", "23:58:00", "23:58:30", "23:59:00"]
        );
    }

    #[test]
    fn labels_never_stand_in_each_others_place() {
        let (now, zone) = (1_795_423_272_402.5, -12_600_000.0);
        let mut span = MIN_SPAN;
        while span <= HISTORY {
            for behind in [0.0, 250.0, 599_000.0, 86_400_000.0] {
                for width in [1.0, 63.0, 700.0, 3_000.0] {
                    let found = labels_at(now, zone, (span, behind), width);
                    let most = width / TICK_ROOM + 1.5;
                    assert!(found.len() as f64 <= most.max(5.0), "{} of {span} ms", found.len());
                    let mut different = found.clone();
                    different.dedup();
                    assert_eq!(different, found, "{span} ms");
                }
            }
            span *= 1.7;
        }
    }
}
