//! What the queue takes of memory, counted: `./dev bench cache` has the figures.

use std::sync::Arc;

use allocation_counter::measure;
use kubechurn::api::object::{Object, decode_metadata};
use kubechurn::cache::delta::DeltaType;
use kubechurn::cache::pipeline::Pipeline;
use kubechurn::cache::queue::QueueKind;

const KEYS: usize = 10_000;

/// A version of every object, each as large as in any other round.
fn objects(round: usize) -> Vec<Arc<Object>> {
    let object = |at: usize| {
        let version = 1000 + round;
        let text = format!(
            r#"{{"metadata":{{"name":"p{at:05}","namespace":"n","uid":"u{at:05}","resourceVersion":"{version}"}}}}"#
        );
        Arc::new(decode_metadata(&text).unwrap())
    };
    (0..KEYS).map(object).collect()
}

/// Queues an update of every key. How many allocations that took, and how many bytes are held more than before.
fn update(pipeline: &mut Pipeline, round: usize) -> (u64, i64) {
    let objects = objects(round);
    let list = objects.capacity() * size_of::<Arc<Object>>();
    let info = measure(|| {
        for object in objects {
            pipeline.event(DeltaType::Updated, object);
        }
    });
    // The list was made before, and is given back.
    (info.count_total, info.bytes_current + list as i64)
}

#[test]
fn an_update_of_a_key_that_waits_allocates_nothing_and_the_queue_follows_the_keys() {
    let mut pipeline = Pipeline::new(QueueKind::DeltaFifo, None);
    let mut first = Vec::new();
    let held = measure(|| first = objects(0)).bytes_current - (KEYS * size_of::<Arc<Object>>()) as i64;
    pipeline.replace(first);
    while pipeline.pop(drop) {}

    let (allocations, queue) = update(&mut pipeline, 1);
    assert!(allocations > 0 && queue > 0, "{allocations} allocations, {queue} bytes: they are counted");
    for round in 2..12 {
        // Each gives back the version before it, and takes nothing else.
        assert_eq!(update(&mut pipeline, round), (0, -held), "round {round}");
    }
    let drained = measure(|| while pipeline.pop(drop) {}).bytes_current;
    // The store gives back what it knew before.
    assert_eq!(drained, -held - queue, "and the queue all that it took");
}
