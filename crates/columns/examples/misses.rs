//! Events in queue and store, for a count of the memory accesses that no cache answers:
//!
//! ```sh
//! cargo build --release -p kubechurn-columns --example misses
//! valgrind --tool=cachegrind --cache-sim=yes target/release/examples/misses 100000 20000 apply
//! ```
//!
//! The arguments are the number of known Pods, the number of events, and what becomes of an event: `apply` queues it and
//! drains after 256, `bare` puts it into a hash map by its key and drops the object that was there, which is the least that
//! any store does, and `drop` only reads its object. The difference of two such runs, divided by the events, is what queue
//! and store cost, or the bare map; a run with 0 events is what it takes to fill them.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::BuildHasherDefault;
use std::mem::{forget, replace};
use std::sync::Arc;

use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::pipeline::Pipeline;
use kubechurn_columns::kinds::pods;

/// How many events wait before the queue is drained.
const BATCH: usize = 256;

fn pod(at: usize, version: usize) -> Arc<Object> {
    let text = format!(
        r#"{{"metadata":{{"name":"web-{at:06}-5d9c7b8f6d-x2x7p","namespace":"shop-{}","uid":"{at:08x}-8f6a-4b1d-9c2e-7a60f1b2c3d4",
            "resourceVersion":"{version}","creationTimestamp":"2026-11-23T08:00:00Z"}},"spec":{{"nodeName":"node-{}",
            "containers":[{{}}]}},"status":{{"phase":"Running","podIP":"10.0.{}.{}","containerStatuses":[{{"ready":true}}]}}}}"#,
        at % 50,
        at % 100,
        at / 256 % 256,
        at % 256,
    );
    Arc::new(pods::decode(&text).expect("a Pod"))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [known, events, what] = &arguments[..] else { panic!("misses KNOWN EVENTS apply|bare|drop") };
    let (known, events): (usize, usize) = (known.parse().expect("a number"), events.parse().expect("a number"));
    let mut pipeline = Pipeline::new();
    // Without a random seed, so that two runs do the same.
    let mut bare: HashMap<ObjectKey, Arc<Object>, BuildHasherDefault<DefaultHasher>> = HashMap::default();
    let objects = (0..known).map(|at| pod(at, 1));
    if what == "bare" {
        bare.extend(objects.map(|object| (object.key.clone(), object)));
    } else {
        pipeline.replace(objects.collect::<Vec<_>>());
        while pipeline.pop(drop) {}
    }
    let mut state = 1_u64;
    for first in (0..events).step_by(BATCH) {
        for event in first..events.min(first + BATCH) {
            // Zipf's law with s = 1: the logarithm of the Pod's number is spread evenly.
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let share = (state >> 11) as f64 / (1_u64 << 53) as f64;
            let rank = (known as f64).powf(share) as usize;
            // Popular Pods do not lie side by side.
            let object = pod(rank * 7_919 % known, event + 2);
            match &**what {
                "apply" => drop(pipeline.event(DeltaType::Updated, object)),
                // The key stays the one that the map has.
                "bare" => drop(bare.get_mut(&object.key).map(|known| replace(known, object))),
                _ => drop(object),
            }
        }
        while pipeline.pop(drop) {}
    }
    println!("{} Pods", pipeline.store().len() + bare.len());
    // To drop what is known would be counted with the events.
    forget((pipeline, bare));
}
