//! The steps of a rollout, and the same as a bar: one stretch for each step, on an axis that has room for the first tenths of a
//! second and for ten minutes.

use crate::life::seen::Seen;

/// What is still the same time, in milliseconds, where two rollouts are compared.
const SAME: f64 = 1.0;
/// The time up to which the axis is nearly even, in milliseconds.
const EVEN: f64 = 300.0;

/// A step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    /// The controller has seen what is asked for.
    Seen,
    /// The ReplicaSet or ControllerRevision is made.
    Made,
    /// The first Pod is created.
    Created,
    /// The first Pod has a node.
    Scheduled,
    /// The first Pod has its images.
    Pulled,
    /// The containers of the first Pod have started.
    Started,
    /// The first Pod is ready.
    Ready,
    /// All Pods are ready.
    All,
    /// The old ones are gone, and it is complete.
    Done,
}

impl Step {
    /// All steps, in order.
    pub const ALL: [Step; 9] = [
        Step::Seen,
        Step::Made,
        Step::Created,
        Step::Scheduled,
        Step::Pulled,
        Step::Started,
        Step::Ready,
        Step::All,
        Step::Done,
    ];

    /// What was reached, in a few words.
    pub fn word(self) -> &'static str {
        match self {
            Step::Seen => "seen",
            Step::Made => "revision",
            Step::Created => "first Pod",
            Step::Scheduled => "scheduled",
            Step::Pulled => "pulled",
            Step::Started => "started",
            Step::Ready => "first ready",
            Step::All => "all ready",
            Step::Done => "done",
        }
    }

    /// The same in a sentence.
    pub fn words(self) -> &'static str {
        match self {
            Step::Seen => "its controller has seen it",
            Step::Made => "its revision is made",
            Step::Created => "the first Pod is created",
            Step::Scheduled => "the first Pod has a node",
            Step::Pulled => "the first Pod has its images",
            Step::Started => "the first Pod has started",
            Step::Ready => "the first Pod is ready",
            Step::All => "all Pods are ready",
            Step::Done => "it is complete, and the old ones are gone",
        }
    }

    /// What is waited for, where it is not reached.
    pub fn waiting(self) -> &'static str {
        match self {
            Step::Seen => "its controller has not seen it",
            Step::Made | Step::Created => "no Pod yet",
            Step::Scheduled => "no Pod has a node",
            Step::Pulled => "pulls",
            Step::Started => "no Pod has started",
            Step::Ready => "no Pod is ready",
            Step::All => "not all are ready",
            Step::Done => "old ones are left",
        }
    }

    /// What it is, for its colour.
    pub fn what(self) -> &'static str {
        match self {
            Step::Seen | Step::Made | Step::Created | Step::Scheduled => "begins",
            Step::Pulled => "pulls",
            Step::Started | Step::Ready | Step::All | Step::Done => "ready",
        }
    }
}

/// A step that was reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Reached {
    /// Which.
    pub step: Step,
    /// When.
    pub seen: Seen,
    /// What more is known of it: the name of what was made, how long the kubelet says that the pull took.
    pub more: String,
}

/// A stretch of a bar.
#[derive(Clone, Debug, PartialEq)]
pub struct Stretch {
    /// From when to when, in milliseconds after the beginning.
    pub from: f64,
    pub to: f64,
    /// What it is: `begins`, `pulls`, `ready`, `bad`, `waits`, `left`.
    pub what: &'static str,
    /// What is reached at its end, in a few words.
    pub words: String,
    /// The version that shows the end.
    pub seq: Option<u64>,
    /// Whether its end is from an object's own words.
    pub is_from_object: bool,
}

/// Puts steps in order. One that is said later than what comes of it was there by then: a controller writes its status, and an
/// Event arrives, after what they are about.
pub fn in_order(mut steps: Vec<Reached>) -> Vec<Reached> {
    let mut next = f64::INFINITY;
    for step in steps.iter_mut().rev() {
        step.seen.at = step.seen.at.min(next);
        next = step.seen.at;
    }
    steps
}

/// The stretches from the beginning, at this time in milliseconds, over the steps that were reached.
pub fn stretches(begin: f64, steps: &[Reached]) -> Vec<Stretch> {
    let mut all: Vec<Stretch> = Vec::new();
    for reached in steps {
        let at = (reached.seen.at - begin).max(0.0);
        let word = reached.step.word();
        let words = if reached.more.is_empty() { word.to_owned() } else { format!("{word}, {}", reached.more) };
        let from = all.last().map_or(0.0, |last| last.to);
        match all.last_mut() {
            // What takes no time has no room of its own.
            Some(last) if at - last.to < SAME => {
                last.words = format!("{}, {words}", last.words);
                last.what = reached.step.what();
            }
            _ => all.push(Stretch {
                from,
                to: at.max(from),
                what: reached.step.what(),
                words,
                seq: reached.seen.seq,
                is_from_object: reached.seen.is_from_object,
            }),
        }
    }
    all
}

/// Where a time after the beginning stands on an axis that ends at `end`: from 0 to 1.
pub fn place(after: f64, end: f64) -> f64 {
    let of = |time: f64| (1.0 + time.max(0.0) / EVEN).ln();
    (of(after) / of(end.max(1_000.0))).clamp(0.0, 1.0)
}

/// The times that stand on an axis that ends there, in milliseconds, each with its words.
pub fn ticks(end: f64) -> Vec<(f64, &'static str)> {
    const ALL: [(f64, &str); 10] = [
        (100.0, "+0.1 s"),
        (400.0, "+0.4 s"),
        (1_000.0, "+1 s"),
        (3_000.0, "+3 s"),
        (10_000.0, "+10 s"),
        (30_000.0, "+30 s"),
        (60_000.0, "+1 min"),
        (300_000.0, "+5 min"),
        (3_600_000.0, "+1 h"),
        (86_400_000.0, "+1 d"),
    ];
    let mut shown: Vec<(f64, &str)> = Vec::new();
    for (at, words) in ALL.into_iter().filter(|(at, _)| *at <= end) {
        // Two words need so much room between them.
        let last = shown.last().map_or(0.0, |(last, _)| place(*last, end));
        if place(at, end) - last >= 0.09 && place(at, end) <= 0.93 {
            shown.push((at, words));
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reached(step: Step, at: f64) -> Reached {
        Reached { step, seen: Seen { at, seq: None, is_from_object: false }, more: String::new() }
    }

    #[test]
    fn a_step_that_is_said_late_was_there_before_what_came_of_it() {
        let steps =
            in_order(vec![reached(Step::Seen, 900.0), reached(Step::Made, 300.0), reached(Step::Created, 400.0)]);
        let times: Vec<f64> = steps.iter().map(|one| one.seen.at).collect();
        assert_eq!(times, [300.0, 300.0, 400.0]);
        let all = stretches(200.0, &steps);
        let words: Vec<(f64, f64, &str)> = all.iter().map(|one| (one.from, one.to, &*one.words)).collect();
        assert_eq!(words, [(0.0, 100.0, "seen, revision"), (100.0, 200.0, "first Pod")]);
    }

    #[test]
    fn the_axis_goes_up_and_has_room_for_its_words() {
        for end in [500.0, 5_000.0, 60_000.0, 600_000.0, 1e9] {
            let places: Vec<f64> = ticks(end).iter().map(|(at, _)| place(*at, end)).collect();
            assert!(places.is_sorted() && places.windows(2).all(|two| two[1] - two[0] >= 0.09), "{end}: {places:?}");
            assert!((place(end.max(1_000.0), end) - 1.0).abs() < 1e-9 && place(0.0, end) == 0.0);
        }
    }
}
