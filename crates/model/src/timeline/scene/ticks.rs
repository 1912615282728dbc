//! The ticks of the time axis, and what is written at them: from milliseconds to days.

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
}

/// A tick on the axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tick {
    /// The x coordinate.
    pub x: f64,
    /// What is written there.
    pub label: Label,
}

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// The days of the week, from the day on which the count of milliseconds began.
const DAYS: [&str; 7] = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"];

impl Tick {
    /// What is written at the tick: `now`, `-60s`, `-1m30s`, `12.402 s`, `09:41:20`, `09:41`, `Mon 09:00`.
    pub fn label(&self) -> String {
        match self.label {
            Label::Ago(0) => "now".into(),
            Label::Ago(ago) if ago <= 60 => format!("-{ago}s"),
            Label::Ago(ago) => match (ago / 60, ago % 60) {
                (minutes, 0) => format!("-{minutes}m"),
                (minutes, seconds) => format!("-{minutes}m{seconds}s"),
            },
            Label::Local(time, precision) => {
                let part = |unit: i64, of: i64| time.rem_euclid(of) / unit;
                let (hour, minute, second) = (part(HOUR, DAY), part(MINUTE, HOUR), part(SECOND, MINUTE));
                match precision {
                    Precision::Millisecond => format!("{second}.{:03} s", time.rem_euclid(SECOND)),
                    Precision::Second => format!("{hour:02}:{minute:02}:{second:02}"),
                    Precision::Minute => format!("{hour:02}:{minute:02}"),
                    Precision::Day => {
                        let day = DAYS[time.div_euclid(DAY).rem_euclid(7) as usize];
                        format!("{day} {hour:02}:{minute:02}")
                    }
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

/// Up to so many milliseconds before now a tick says how long ago it is. What is longer ago has a time of day.
const RECENT: f64 = 600_000.0;

/// In recent windows from this length on, in milliseconds, ticks stand at whole seconds.
const WHOLE: f64 = 2_000.0;

/// Writes the ticks of a scale into `ticks`, the latest first. `zone` is what must be added to a time to get the local
/// one, in milliseconds.
pub fn ticks(scale: &Scale, (now, zone): (f64, f64), ticks: &mut Vec<Tick>) {
    ticks.clear();
    if scale.width < 1.0 {
        return;
    }
    let is_near = now - scale.window.from <= RECENT + 1.0;
    // What is told in seconds before now has no fractions of them.
    let least = if is_near && scale.window.span() >= WHOLE { SECOND } else { 1 };
    let room = |step: &&i64| **step >= least && **step as f64 / scale.ms_per_pixel() >= TICK_ROOM;
    let step = STEPS.iter().find(room).copied().unwrap_or(STEPS[STEPS.len() - 1]);
    let step_ms = step as f64;
    let is_recent = is_near && step >= SECOND;
    let precision = match () {
        () if step < SECOND => Precision::Millisecond,
        () if step < MINUTE => Precision::Second,
        () if scale.window.span() <= DAY as f64 => Precision::Minute,
        () => Precision::Day,
    };
    // Recent ticks stand at whole steps before now, and all others at whole steps of the local time.
    let newest = scale.window.to.min(now);
    let mut index = if is_recent {
        -((now - newest) / step_ms - 1e-9).ceil().max(0.0)
    } else {
        ((newest + zone) / step_ms + 1e-9).floor()
    };
    // The limit only matters for windows that are far longer than the longest step.
    while ticks.len() < 64 {
        let at = if is_recent { now + index * step_ms } else { index * step_ms - zone };
        let x = scale.x(at);
        if x < scale.left - 0.5 {
            break;
        }
        let label = if is_recent {
            Label::Ago((-index * step_ms / 1_000.0) as u32)
        } else {
            Label::Local((index * step_ms) as i64, precision)
        };
        ticks.push(Tick { x, label });
        index -= 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::scale::{HISTORY, MIN_SPAN, Window};

    fn labels_at(now: f64, zone: f64, (span, behind): (f64, f64), width: f64) -> Vec<String> {
        let window = Window { from: now - behind - span, to: now - behind };
        let mut found = Vec::new();
        ticks(&Scale { window, left: 236.0, width }, (now, zone), &mut found);
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
        assert_eq!(labels(24.0 * 3_600_000.0, 0.0, 300.0), ["12:00", "18:00", "00:00", "06:00"]);
        assert_eq!(labels(48.0 * 3_600_000.0, 0.0, 300.0), ["Sat 12:00", "Sun 00:00", "Sun 12:00", "Mon 00:00"]);
        assert_eq!(labels(HISTORY, 0.0, 300.0), ["Tue 00:00", "Thu 00:00", "Sat 00:00", "Mon 00:00"]);
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
