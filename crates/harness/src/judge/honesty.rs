//! Whether "live" was true, by samples of what the page said, and whether the gaps that the page drew cover the times in which
//! nothing could come.

use serde_json::Value;

use crate::judge::log::PageLog;

/// What the page said at one moment. It counts until the next sample.
#[derive(Debug, Clone)]
pub struct Sample {
    /// When, by the machine's clock, in milliseconds.
    pub at: f64,
    /// What the header said; `None` while the tab was hidden.
    pub header: Option<String>,
    /// What `status()` said of each resource, by the page's name for it.
    pub states: Vec<(String, String)>,
}

impl Sample {
    /// Reads `[at, header, {resource: state}]`.
    pub fn read(value: &Value) -> Option<Self> {
        let states = value[2].as_object()?.iter();
        let states = states.map(|(name, state)| (name.clone(), state.as_str().unwrap_or_default().to_owned()));
        Some(Self { at: value[0].as_f64()?, header: value[1].as_str().map(str::to_owned), states: states.collect() })
    }

    fn says_live(&self, what: &str) -> bool {
        match what {
            HEADER => self.header.as_deref() == Some("live"),
            _ => self.states.iter().any(|(name, state)| name == what && state == "live"),
        }
    }
}

/// The name under which the header itself is judged.
pub const HEADER: &str = "the header";

/// A time in which nothing could come.
#[derive(Debug, Clone)]
pub struct Outage {
    /// The fault that caused it.
    pub fault: &'static str,
    /// On the machine's clock, in milliseconds.
    pub from: f64,
    /// When it ended.
    pub to: f64,
    /// Which resource it was of; empty for all of them.
    pub resource: &'static str,
    /// How long "live" may go on, in milliseconds.
    pub bound: f64,
    /// By how much the page may be late with anything, in milliseconds: [`SLACK`], and what a busy machine adds to it.
    pub slack: f64,
}

/// The longest time for which the page may say "live" without an API: the longest silence and the deadline of an answer.
pub const API: f64 = 15_000.0;

/// What the distance of the samples may add to that.
pub const SLACK: f64 = 1_500.0;

/// How long something was called live in an outage, in milliseconds.
pub fn false_live(samples: &[Sample], what: &str, outage: &Outage) -> f64 {
    let ends = samples.iter().skip(1).map(|sample| sample.at).chain([f64::INFINITY]);
    let times = samples.iter().zip(ends).filter(|(sample, _)| sample.says_live(what));
    times.map(|(sample, end)| (end.min(outage.to) - sample.at.max(outage.from)).max(0.0)).sum()
}

/// Judges the samples against the outages: the longest false "live", and every complaint.
pub fn honesty(samples: &[Sample], names: &[&str], outages: &[Outage]) -> (f64, Vec<String>) {
    let (mut longest, mut complaints) = (0.0_f64, Vec::new());
    for outage in outages {
        let meant = names.iter().copied().chain([HEADER]).filter(|name| match outage.resource {
            "" => true,
            resource => *name == resource,
        });
        for name in meant {
            let live = false_live(samples, name, outage);
            longest = longest.max(live);
            if live > outage.bound + outage.slack {
                complaints.push(format!(
                    "{}: {name} was called live for {:.1} s while nothing could come, {:.0} s at most are allowed",
                    outage.fault,
                    live / 1000.0,
                    outage.bound / 1000.0
                ));
            }
        }
    }
    (longest, complaints)
}

/// Every outage in which the page did not call a resource live must lie in gaps that the page drew of it. `name` is the page's
/// name of the resource, and `resource` is the log's.
pub fn gaps(log: &PageLog, samples: &[Sample], (name, resource): (&str, &str), outages: &[Outage]) -> Vec<String> {
    let notices = log.of("notice", resource).filter(|entry| entry.text(0) == "gap");
    let mut gaps: Vec<(f64, f64)> =
        notices.map(|entry| (log.real(entry.number(1)), log.real(entry.number(2)))).collect();
    gaps.sort_by(|one, other| one.0.total_cmp(&other.0));
    let mut complaints = Vec::new();
    for outage in outages.iter().filter(|outage| outage.resource.is_empty() || outage.resource == name) {
        let within = |sample: &&Sample| sample.at >= outage.from && sample.at <= outage.to;
        let was_shown = samples.iter().filter(within).any(|sample| !sample.says_live(name));
        if !was_shown && outage.to - outage.from < outage.bound + outage.slack {
            continue;
        }
        let (mut covered, end) = (outage.from + outage.slack, outage.to - outage.slack);
        for (from, to) in &gaps {
            if *from <= covered {
                covered = covered.max(*to);
            }
        }
        if covered < end {
            complaints.push(format!(
                "{}: the gaps of {name} do not cover the silence of {:.1} s: {:?}",
                outage.fault,
                (outage.to - outage.from) / 1000.0,
                gaps.iter().map(|(from, to)| (from - outage.from, to - outage.from)).collect::<Vec<_>>()
            ));
        }
    }
    complaints
}
