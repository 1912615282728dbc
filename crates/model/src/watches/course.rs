//! The course of each watch: what came in the last minutes, why everything was listed again, and what else was asked about it.
//! It costs a few numbers for each watch, and is looked at while the page shows the health of the watches.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};

/// How long one bar of a chart is, in milliseconds, and how many there are.
pub const STEP: f64 = 15_000.0;
pub const BARS: usize = 40;

/// How many relists of a watch are kept.
const RELISTS: usize = 8;

/// Why everything was listed again.
#[derive(Clone, Debug, PartialEq)]
pub struct Relist {
    /// When, in milliseconds.
    pub at: f64,
    /// Why.
    pub reason: String,
    /// How many objects came.
    pub items: usize,
}

/// What a watch had received at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Received {
    /// In milliseconds.
    pub at: f64,
    /// Events, without bookmarks.
    pub events: u64,
    /// Bytes.
    pub bytes: u64,
}

/// What is remembered of one watch.
#[derive(Clone, Debug, Default)]
pub struct Course {
    /// What had come at the end of each bar, oldest first: one more than there are bars.
    samples: VecDeque<Received>,
    /// The newest relists, oldest first.
    relists: VecDeque<Relist>,
    /// How many relists there were.
    pub relisted: u64,
    /// How often the server was asked whether the watch is alive.
    pub proofs: u64,
    /// How many pages were asked for to compare.
    pub compared: u64,
}

impl Course {
    /// The newest relists, newest first.
    pub fn relists(&self) -> impl Iterator<Item = &Relist> {
        self.relists.iter().rev()
    }

    /// Events and bytes a second since the last sample but one, which is at most two bars ago.
    pub fn rates(&self, now: Received) -> (f64, f64) {
        let Some(from) = self.samples.len().checked_sub(2).and_then(|at| self.samples.get(at)).or(self.samples.front())
        else {
            return (0.0, 0.0);
        };
        let seconds = (now.at - from.at) / 1000.0;
        if seconds < 1.0 {
            return (0.0, 0.0);
        }
        let rate = |now: u64, then: u64| now.saturating_sub(then) as f64 / seconds;
        (rate(now.events, from.events), rate(now.bytes, from.bytes))
    }

    /// Events and bytes of each bar, and how many relists there were in it. The last bar is the newest that is complete.
    pub fn bars(&self) -> [[u64; BARS]; 3] {
        let mut bars = [[0; BARS]; 3];
        let Some(end) = self.samples.back().map(|sample| sample.at) else { return bars };
        // Of a page that did not look for a while several bars are one sample: what came then is shared between them.
        for (from, to) in self.samples.iter().zip(self.samples.iter().skip(1)) {
            let (first, last) = (place(from.at, end), place(to.at, end));
            let (Some(last), first) = (last.and_then(|last| last.checked_sub(1)), first.unwrap_or(0)) else { continue };
            let count = (last + 1).saturating_sub(first).max(1) as u64;
            let place = first.min(last)..=last;
            let [events, bytes, _] = &mut bars;
            events[place.clone()].iter_mut().for_each(|bar| *bar += to.events.saturating_sub(from.events) / count);
            bytes[place].iter_mut().for_each(|bar| *bar += to.bytes.saturating_sub(from.bytes) / count);
        }
        for relist in &self.relists {
            if let Some(at) = place(relist.at, end) {
                bars[2][at.min(BARS - 1)] += 1;
            }
        }
        bars
    }
}

/// In which bar a time is, if the last one ends at `end`; `BARS` for the end itself, and `None` before the first.
fn place(at: f64, end: f64) -> Option<usize> {
    let ago = ((end - at) / STEP).round().max(0.0) as usize;
    BARS.checked_sub(ago)
}

/// The courses of all watches.
#[derive(Debug, Default)]
pub struct Courses {
    of: FxHashMap<InformerId, Course>,
    /// When a bar last ended, in milliseconds.
    looked: Option<f64>,
}

impl Courses {
    /// What is remembered of a watch.
    pub fn of(&self, id: InformerId) -> Option<&Course> {
        self.of.get(&id)
    }

    /// The same, to be added to.
    pub fn of_mut(&mut self, id: InformerId) -> &mut Course {
        self.of.entry(id).or_default()
    }

    /// Everything was listed again.
    pub fn relisted(&mut self, id: InformerId, relist: Relist) {
        let course = self.of_mut(id);
        course.relisted += 1;
        if course.relists.len() == RELISTS {
            course.relists.pop_front();
        }
        course.relists.push_back(relist);
    }

    /// Ends a bar where it is time: to be called a few times a second, or less often.
    pub fn look(&mut self, informers: &SharedInformerFactory, now: f64) {
        if self.looked.is_some_and(|looked| now - looked < STEP) {
            return;
        }
        self.looked = Some(now);
        self.of.retain(|id, _| informers.get(*id).is_some());
        for (id, informer) in informers.iter() {
            let samples = &mut self.of_mut(id).samples;
            samples.push_back(received(informer.ledger(), now));
            while samples.len() > BARS + 1 {
                samples.pop_front();
            }
        }
    }
}

/// What a watch has received until now.
pub fn received(ledger: &kubechurn_client::cache::ledger::Ledger, now: f64) -> Received {
    Received { at: now, events: ledger.events, bytes: ledger.bytes }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn course(samples: &[(f64, u64, u64)]) -> Course {
        let samples = samples.iter().map(|&(at, events, bytes)| Received { at: at * 1000.0, events, bytes });
        Course { samples: samples.collect(), ..Course::default() }
    }

    #[test]
    fn a_bar_is_what_came_in_a_quarter_of_a_minute() {
        let mut course = course(&[(0.0, 5, 500), (15.0, 10, 900), (30.0, 10, 900), (45.2, 40, 1500)]);
        course.relists.push_back(Relist { at: 29_000.0, reason: String::from("410"), items: 3 });
        let [events, bytes, relists] = course.bars();
        assert_eq!((&events[BARS - 4..], &bytes[BARS - 4..]), (&[0, 5, 0, 30][..], &[0, 400, 0, 600][..]));
        assert_eq!(&relists[BARS - 4..], [0, 0, 0, 1]);
        assert_eq!(events.iter().sum::<u64>(), 35, "what came before the first sample has no bar");
        assert_eq!(Course::default().bars(), [[0; BARS]; 3]);
    }

    /// A hidden page may look once in a while.
    #[test]
    fn what_came_while_nobody_looked_is_shared_between_the_bars() {
        let [events, ..] = course(&[(0.0, 0, 0), (60.0, 40, 0), (75.0, 41, 0)]).bars();
        assert_eq!(&events[BARS - 6..], [0, 10, 10, 10, 10, 1]);
        let [events, ..] = course(&[(0.0, 0, 0), (9000.0, 400, 0)]).bars();
        assert_eq!(events, [10; BARS], "nothing is left out, and nothing is before the first bar");
    }

    #[test]
    fn a_rate_is_that_of_the_last_two_bars() {
        let course = course(&[(0.0, 0, 0), (15.0, 1000, 0), (30.0, 1000, 3000)]);
        let now = |seconds: f64, events| Received { at: seconds * 1000.0, events, bytes: 5000 };
        assert_eq!(course.rates(now(35.0, 1100)), (5.0, 250.0));
        assert_eq!(Course::default().rates(now(35.0, 1100)), (0.0, 0.0));
        let first = super::Course { samples: [Received::default()].into(), ..Course::default() };
        assert_eq!(first.rates(now(10.0, 100)), (10.0, 500.0));
        assert_eq!(first.rates(now(0.5, 100)), (0.0, 0.0), "of half a second nothing is known");
    }

    #[test]
    fn the_newest_relists_are_kept_and_all_are_counted() {
        let mut courses = Courses::default();
        let id = InformerId::default();
        for at in 0..12 {
            courses.relisted(id, Relist { at: f64::from(at), reason: at.to_string(), items: 1 });
        }
        let course = courses.of(id).unwrap();
        let kept: Vec<&str> = course.relists().map(|relist| &*relist.reason).collect();
        assert_eq!((course.relisted, kept), (12, vec!["11", "10", "9", "8", "7", "6", "5", "4"]));
        courses.look(&SharedInformerFactory::default(), 0.0);
        assert!(courses.of(id).is_none(), "a watch that has ended is forgotten");
    }
}
