//! Rates of the ledger's counters, and the counters' sums in words.

use std::collections::VecDeque;

use kubechurn_client::cache::ledger::Ledger;

/// The counters at one moment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    /// The moment, in milliseconds.
    pub at: f64,
    /// Text frames.
    pub frames: u64,
    /// The bytes of those frames.
    pub bytes: u64,
    /// Deltas that were queued.
    pub deltas: u64,
    /// How many of the queued deltas were applied to the store.
    pub applied: u64,
    /// Drains that changed the page.
    pub pages: u64,
}

/// The time over which rates are computed, in milliseconds.
const SPAN: f64 = 2_000.0;

/// The samples of the last seconds.
#[derive(Debug, Default)]
pub struct RateMeter {
    samples: VecDeque<Sample>,
    /// Drains that changed the page.
    pub pages: u64,
}

/// The growth of each counter per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rates {
    /// Text frames.
    pub frames: f64,
    /// The bytes of those frames.
    pub bytes: f64,
    /// Drains that changed the page.
    pub pages: f64,
    /// How many queued deltas there were for each applied one.
    pub folded: f64,
}

impl RateMeter {
    /// Adds a sample, and returns the rates since the oldest sample that is kept.
    pub fn take(&mut self, sample: Sample) -> Rates {
        // The counters of a kind that is no longer watched are gone: the samples begin anew.
        if self.samples.back().is_some_and(|last| last.frames > sample.frames || last.applied > sample.applied) {
            self.samples.clear();
        }
        self.samples.push_back(sample);
        while self.samples.len() > 2 && self.samples.front().is_some_and(|first| sample.at - first.at > SPAN) {
            self.samples.pop_front();
        }
        self.rates()
    }

    /// The rates since the oldest sample that is kept.
    pub fn rates(&self) -> Rates {
        let Some(sample) = self.samples.back() else { return Rates::default() };
        let Some(first) = self.samples.front().filter(|first| sample.at > first.at) else { return Rates::default() };
        let seconds = (sample.at - first.at) / 1000.0;
        let rate = |now: u64, then: u64| now.saturating_sub(then) as f64 / seconds;
        let applied = sample.applied.saturating_sub(first.applied);
        let deltas = sample.deltas.saturating_sub(first.deltas);
        Rates {
            frames: rate(sample.frames, first.frames),
            bytes: rate(sample.bytes, first.bytes),
            pages: rate(sample.pages, first.pages),
            folded: if applied == 0 { 1.0 } else { (deltas as f64 / applied as f64).max(1.0) },
        }
    }
}

/// The sums of the ledger, written out.
pub fn sums(ledger: &Ledger, queued: u64) -> String {
    format!(
        "frames {} = bookmarks {} + errors {} + malformed {} + oversized {} + events {}\n\
         events {} = watched {} + streamed {} + late {} + former {} + unknown {}\n\
         streamed {} + listed {} = replaced {} + merged {} + discarded {} + pending {} + malformed {}\n\
         watched {} + replaced {} + kept {} + tombstones {} + resyncs {} = deltas {} = applied {} + coalesced {} + queued {queued}\n\
         applied {} + twofold {} = changes {} + without effect {}\n\
         watched {} + unknown {} + streamed {} + listed {} + gone {} = received {} + repeated {} + malformed {}",
        ledger.frames,
        ledger.bookmarks,
        ledger.errors,
        ledger.malformed,
        ledger.oversized,
        ledger.events,
        ledger.events,
        ledger.watched,
        ledger.streamed,
        ledger.late,
        ledger.former,
        ledger.unknown,
        ledger.streamed,
        ledger.listed,
        ledger.replaced,
        ledger.merged,
        ledger.discarded,
        ledger.pending,
        ledger.malformed_items,
        ledger.watched,
        ledger.replaced,
        ledger.kept,
        ledger.tombstones,
        ledger.resyncs,
        ledger.deltas(),
        ledger.applied,
        ledger.coalesced,
        ledger.applied,
        ledger.twofold,
        ledger.changes,
        ledger.without_effect,
        ledger.watched,
        ledger.unknown,
        ledger.streamed,
        ledger.listed,
        ledger.gone,
        ledger.received,
        ledger.repeated,
        ledger.malformed_items,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_taken_over_the_last_two_seconds() {
        let mut meter = RateMeter::default();
        let sample = |at, frames| Sample { at, frames, deltas: 2 * frames, applied: frames, ..Sample::default() };
        assert_eq!(meter.take(sample(0.0, 100)).frames, 0.0, "one sample is no rate");
        assert_eq!(meter.take(sample(500.0, 150)).frames, 100.0);
        for at in 2..=8 {
            meter.take(sample(500.0 * f64::from(at), 150));
        }
        let rates = meter.take(sample(4_500.0, 150));
        assert_eq!((rates.frames, rates.folded), (0.0, 1.0), "what was before is forgotten");
        assert_eq!(meter.take(sample(5_000.0, 250)).folded, 2.0);
        assert_eq!(meter.take(sample(5_500.0, 3)), Rates::default(), "counters that fell are others");
        assert_eq!(meter.rates(), Rates::default());
    }
}
