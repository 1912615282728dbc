//! Single events into a store with N Pods: our queue and store against kube-runtime's store, which has no queue, and against a
//! bare hash map.

use std::collections::HashMap;
use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, Throughput};
use kube_runtime::reflector::store::Writer;
use kube_runtime::watcher;
use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::pipeline::Pipeline;
use kubechurn_client::cache::queue::Queue;

use crate::clock::timed;
use crate::kube::{Kube, KubePods, MetadataPod, TypedPod};
use crate::pods::Pods;
use crate::stream::{Stream, What};

/// How many events are made at a time, which is not measured, and then handed over, which is measured.
pub const BATCH: usize = 256;

/// The numbers of Pods in the stores.
pub const SIZES: [usize; 4] = [1_000, 10_000, 100_000, 1_000_000];

pub fn run(criterion: &mut Criterion) {
    let pods = Pods::new();
    let mut group = criterion.benchmark_group("events");
    group.throughput(Throughput::Elements(BATCH as u64));
    for size in SIZES {
        group.sample_size(if size < 1_000_000 { 30 } else { 10 });
        ours(&mut group, &pods, size, BATCH);
        kube::<TypedPod>(&mut group, size, "kube-pod");
        kube::<MetadataPod>(&mut group, size, "kube-metadata");
        ours(&mut group, &pods, size, 1);
        bare(&mut group, &pods, size);
    }
    group.finish();
}

/// A pipeline whose store has all living Pods.
pub fn pipeline(pods: &Pods, stream: &Stream) -> Pipeline {
    let mut pipeline = Pipeline::new();
    pipeline.replace(stream.living().map(|pod| pods.ours(pod)).collect::<Vec<_>>());
    while pipeline.pop(drop) {}
    pipeline
}

/// Adds single events to the queue, and drains it into the store after each `every` events.
fn ours(group: &mut BenchmarkGroup<'_, WallTime>, pods: &Pods, size: usize, every: usize) {
    let mut prepared = None;
    group.bench_function(BenchmarkId::new(format!("kubechurn-{every}"), size), |bencher| {
        let (stream, pipeline) = prepared.get_or_insert_with(|| {
            let stream = Stream::new(size);
            let pipeline = pipeline(pods, &stream);
            (stream, pipeline)
        });
        bencher.iter_custom(|batches| {
            let mut sum = Duration::ZERO;
            let mut events = Vec::with_capacity(BATCH);
            for _ in 0..batches {
                events.extend(stream.take(BATCH).map(|event| {
                    let delta_type = match event.what {
                        What::Added => DeltaType::Added,
                        What::Modified => DeltaType::Updated,
                        What::Deleted => DeltaType::Deleted,
                    };
                    (delta_type, pods.ours(event.pod))
                }));
                sum += timed(|| {
                    let mut waiting = 0;
                    for (delta_type, object) in events.drain(..) {
                        pipeline.event(delta_type, object);
                        waiting += 1;
                        if waiting == every {
                            waiting = 0;
                            while pipeline.pop(|change| drop(black_box(change))) {}
                        }
                    }
                })
                .0;
            }
            sum
        });
        assert!(pipeline.is_balanced() && pipeline.queue().is_empty(), "nothing was lost");
    });
}

/// Puts each object into a hash map by its key, and drops the one that was there: the least that any store does.
fn bare(group: &mut BenchmarkGroup<'_, WallTime>, pods: &Pods, size: usize) {
    let mut prepared = None;
    group.bench_function(BenchmarkId::new("bare", size), |bencher| {
        let (stream, known) = prepared.get_or_insert_with(|| {
            let stream = Stream::new(size);
            let objects = stream.living().map(|pod| pods.ours(pod));
            let known: HashMap<ObjectKey, Arc<Object>> = objects.map(|object| (object.key.clone(), object)).collect();
            (stream, known)
        });
        bencher.iter_custom(|batches| {
            let mut sum = Duration::ZERO;
            let mut events = Vec::with_capacity(BATCH);
            for _ in 0..batches {
                events.extend(stream.take(BATCH).map(|event| (event.what, pods.ours(event.pod))));
                sum += timed(|| {
                    for (what, object) in events.drain(..) {
                        drop(black_box(match what {
                            What::Added | What::Modified => known.insert(object.key.clone(), object),
                            What::Deleted => known.remove(&object.key),
                        }));
                    }
                })
                .0;
            }
            sum
        });
        assert!(!known.is_empty(), "it knows Pods");
    });
}

fn kube<K: Kube>(group: &mut BenchmarkGroup<'_, WallTime>, size: usize, name: &str) {
    let pods = KubePods::<K>::new();
    let mut prepared = None;
    group.bench_function(BenchmarkId::new(name, size), |bencher| {
        let (stream, writer) = prepared.get_or_insert_with(|| {
            let stream = Stream::new(size);
            let mut writer = Writer::<K>::default();
            for pod in stream.living() {
                writer.apply_watcher_event(&watcher::Event::Apply(pods.make(pod)));
            }
            (stream, writer)
        });
        bencher.iter_custom(|batches| {
            let mut sum = Duration::ZERO;
            let mut events = Vec::with_capacity(BATCH);
            for _ in 0..batches {
                events.extend(stream.take(BATCH).map(|event| match event.what {
                    What::Added | What::Modified => watcher::Event::Apply(pods.make(event.pod)),
                    What::Deleted => watcher::Event::Delete(pods.make(event.pod)),
                }));
                sum += timed(|| events.iter().for_each(|event| writer.apply_watcher_event(black_box(event)))).0;
                events.clear();
            }
            sum
        });
        assert!(!writer.as_reader().is_empty(), "it knows Pods");
    });
}
