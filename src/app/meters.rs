//! Rates of the counters that only grow, and their sums in words.

use std::collections::VecDeque;

use kubechurn_client::cache::ledger::Ledger;

/// What is counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sample {
    pub(super) at: f64,
    pub(super) frames: u64,
    pub(super) bytes: u64,
    pub(super) deltas: u64,
    pub(super) applied: u64,
    pub(super) pages: u64,
}

/// Over how long a rate is taken, in milliseconds.
const SPAN: f64 = 2_000.0;

/// Samples of the last seconds.
#[derive(Debug, Default)]
pub(super) struct Meters {
    samples: VecDeque<Sample>,
    /// Drains that changed the page.
    pub(super) pages: u64,
    /// Whether it was told that the sums do not balance.
    pub(super) unbalanced: bool,
}

/// A second's worth of each counter.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Rates {
    pub(super) frames: f64,
    pub(super) bytes: f64,
    pub(super) pages: f64,
    /// Deltas for each that was applied.
    pub(super) folded: f64,
}

impl Meters {
    /// Takes a sample, and says how fast the counters grew since the oldest one that is kept.
    pub(super) fn take(&mut self, sample: Sample) -> Rates {
        // Counters of a kind that is no longer watched are gone: begin anew.
        if self.samples.back().is_some_and(|last| last.frames > sample.frames || last.applied > sample.applied) {
            self.samples.clear();
        }
        self.samples.push_back(sample);
        while self.samples.len() > 2 && self.samples.front().is_some_and(|first| sample.at - first.at > SPAN) {
            self.samples.pop_front();
        }
        self.rates()
    }

    /// How fast the counters grew since the oldest sample that is kept.
    pub(super) fn rates(&self) -> Rates {
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
pub(super) fn sums(ledger: &Ledger, queued: u64) -> String {
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
