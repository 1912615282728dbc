//! The memory of the queue: none for an event whose key is queued already, memory in proportion to the queued keys, and
//! none when no key is queued. Exits with 1 if that does not hold.

mod gate;
#[allow(dead_code, reason = "the other benchmark reads the same JSON")]
mod pods;
#[allow(dead_code, reason = "here every key has its events in turn")]
mod stream;

use std::process::ExitCode;
use std::sync::Arc;

use allocation_counter::measure;
use kubechurn_client::api::object::Object;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::pipeline::Pipeline;

use crate::gate::Gates;
use crate::pods::Pods;
use crate::stream::Pod;

fn main() -> ExitCode {
    let mut gates = Gates::default();
    println!("\n## The queue's memory\n");
    println!("| keys | bytes per key after 1 event each | after 10 | after 100 | drained | allocations of the 99 |");
    println!("|---:|---:|---:|---:|---:|---:|");
    let figures = [10_000, 100_000].map(|keys| (keys, queue(keys)));
    for (keys, Figures { after, drained, allocations }) in &figures {
        let [one, ten, hundred] = after.map(|bytes| bytes as f64 / f64::from(*keys));
        println!("| {keys} | {one:.1} | {ten:.1} | {hundred:.1} | {drained} bytes | {allocations} |");
    }
    println!();
    let queue = &figures[0].1;
    gates.at_most("allocations for updates of keys that wait", queue.allocations as f64, 0.0);
    gates.at_most("bytes after 100 events per key / after 1", queue.after[2] as f64 / queue.after[0] as f64, 1.0);
    let per_key = |at: usize| figures[at].1.after[2] as f64 / f64::from(figures[at].0);
    gates.at_most("bytes per key, 100,000 keys / 10,000 keys", per_key(1) / per_key(0), 2.0);
    gates.at_most("bytes left after a drain / before", queue.drained as f64 / queue.after[2] as f64, 0.05);
    gates.verdict()
}

/// The measured numbers of bytes, without those of the objects.
struct Figures {
    /// The bytes after 1, 10 and 100 events for each key.
    after: [i64; 3],
    drained: i64,
    /// The number of allocations by all events except the first of each key.
    allocations: u64,
}

fn queue(keys: u32) -> Figures {
    let pods = Pods::new();
    // All objects have the same length, so that a newer one takes the memory that an older one frees.
    let objects = |round: u64| -> Vec<Arc<Object>> {
        (0..keys).map(|name| pods.ours(Pod { name, life: 1, version: 1_000_000_000 + round })).collect()
    };
    let mut first = Vec::new();
    let held = measure(|| first = objects(0));
    let bytes_of_objects = held.bytes_current - (first.capacity() * size_of::<Arc<Object>>()) as i64;

    let mut pipeline = Pipeline::new();
    pipeline.replace(first);
    while pipeline.pop(drop) {}
    let (mut bytes, mut allocations) = (0, 0);
    let after = [0..1, 1..10, 10..100].map(|rounds| {
        for round in rounds {
            let newer = objects(1 + round);
            let list = newer.capacity() * size_of::<Arc<Object>>();
            let info = measure(|| {
                for object in newer {
                    pipeline.event(DeltaType::Updated, object);
                }
            });
            // The list itself was freed; and from the second round on, so was the previous version of each object.
            bytes += info.bytes_current + list as i64 + if round == 0 { 0 } else { bytes_of_objects };
            allocations += if round == 0 { 0 } else { info.count_total };
        }
        bytes
    });
    // The store frees its older versions.
    let info = measure(|| while pipeline.pop(drop) {});
    Figures { after, drained: bytes + info.bytes_current + bytes_of_objects, allocations }
}
