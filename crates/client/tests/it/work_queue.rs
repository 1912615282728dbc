//! Random work on a work queue, compared with a simple model: no item is lost, no item is in work twice at once, and a shutdown
//! drains the queue. `PROPTEST_CASES` asks for another number of cases.

use std::collections::{BTreeMap, BTreeSet};

use kubechurn_client::workqueue::delaying::DelayingQueue;
use kubechurn_client::workqueue::queue::Got;
use proptest::prelude::*;

/// What producers and workers may do next.
#[derive(Clone, Debug)]
enum Step {
    Add(u8),
    AddAfter(u8, u16),
    /// Time passes.
    Time(u16),
    Get,
    /// The n-th of the items in work is done.
    Done(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..5_u8).prop_map(Step::Add),
        3 => (0..5_u8, 0..100_u16).prop_map(|(item, delay)| Step::AddAfter(item, delay)),
        3 => (0..60_u16).prop_map(Step::Time),
        5 => Just(Step::Get),
        4 => (0..3_usize).prop_map(Step::Done),
    ]
}

/// What the queue should hold, kept without any order.
#[derive(Default)]
struct Model {
    now: f64,
    needed: BTreeSet<u8>,
    later: BTreeMap<u8, f64>,
    in_work: Vec<u8>,
}

impl Model {
    fn play(&mut self, queue: &mut DelayingQueue<u8>, step: &Step) {
        match *step {
            Step::Add(item) => {
                assert!(queue.add(item));
                self.needed.insert(item);
            }
            Step::AddAfter(item, delay) => {
                assert!(queue.add_after(item, f64::from(delay), self.now));
                let at = self.now + f64::from(delay);
                if delay == 0 {
                    self.needed.insert(item);
                } else {
                    self.later.entry(item).and_modify(|known| *known = known.min(at)).or_insert(at);
                }
            }
            Step::Time(passed) => {
                self.now += f64::from(passed);
                let due: Vec<u8> =
                    self.later.iter().filter(|(_, at)| **at <= self.now).map(|(item, _)| *item).collect();
                assert_eq!(queue.tick(self.now), due.len());
                self.later.retain(|item, _| !due.contains(item));
                self.needed.extend(due);
            }
            Step::Get => drop(self.get(queue)),
            Step::Done(at) if at < self.in_work.len() => queue.done(&self.in_work.remove(at)),
            Step::Done(_) => {}
        }
        assert_eq!(queue.waiting(), self.later.len());
        assert_eq!(queue.deadline(), self.later.values().copied().min_by(f64::total_cmp));
        let in_work = |item: &&u8| self.in_work.contains(item);
        assert_eq!(queue.len(), self.needed.len() - self.needed.iter().filter(in_work).count());
    }

    /// An item that a worker gets must need work, and must not be in work; and a worker gets an item if there is such a one.
    fn get(&mut self, queue: &mut DelayingQueue<u8>) -> Got<u8> {
        let got = queue.get();
        match got {
            Got::Item(item) => {
                assert!(!self.in_work.contains(&item), "{item} is worked on twice at once");
                assert!(self.needed.remove(&item), "{item} needed no work");
                self.in_work.push(item);
            }
            Got::Empty | Got::ShutDown => {
                assert!(self.needed.iter().all(|item| self.in_work.contains(item)), "{:?} is lost", self.needed);
            }
        }
        got
    }
}

fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(256)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_item_is_lost_or_worked_on_twice_at_once_and_shutdown_drains(
        steps in prop::collection::vec(step(), 1..80),
        with_drain in any::<bool>(),
    ) {
        let (mut queue, mut model) = (DelayingQueue::default(), Model::default());
        steps.iter().for_each(|step| model.play(&mut queue, step));

        let dropped = if with_drain { queue.shut_down_with_drain() } else { queue.shut_down() };
        assert_eq!(dropped, model.later.len());
        assert!(!queue.add(9) && !queue.add_after(9, 1.0, model.now));
        let mut waited = 0;
        loop {
            match model.get(&mut queue) {
                Got::Item(_) => {}
                Got::Empty => {
                    assert!(!queue.is_drained());
                    queue.done(&model.in_work.remove(0));
                }
                Got::ShutDown => break,
            }
            waited += 1;
            assert!(waited < 100, "the shutdown never ends");
        }
        assert!(model.needed.is_empty() && queue.is_drained());
        assert!(!with_drain || model.in_work.is_empty());
    }
}
