//! Complete lists: of N Pods into an empty store, of none into a store with N Pods, and of N Pods into a store with
//! almost the same ones. The last is compared with kube-runtime's Init, InitApply and InitDone.

use std::hint::black_box;
use std::time::Duration;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion, SamplingMode, Throughput};
use kube_runtime::reflector::store::Writer;
use kube_runtime::watcher;
use kubechurn_client::cache::pipeline::Pipeline;

use crate::clock::timed;
use crate::events::{BATCH, pipeline};
use crate::kube::{Kube, KubePods, MetadataPod, TypedPod};
use crate::pods::Pods;
use crate::stream::{Pod, Stream};

/// The numbers of Pods in the lists and the stores.
pub const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

pub fn run(criterion: &mut Criterion) {
    let pods = Pods::new();
    let mut group = criterion.benchmark_group("relist");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).warm_up_time(Duration::from_millis(1));
    for size in SIZES {
        group.throughput(Throughput::Elements(size as u64));
        items(&mut group, &pods, size);
        known(&mut group, &pods, size);
        ours(&mut group, &pods, size);
        // A million of kube's typed Pods do not fit into memory twice, and the other types take minutes.
        if size < 1_000_000 {
            kube::<TypedPod>(&mut group, size, "kube-pod");
            kube::<MetadataPod>(&mut group, size, "kube-metadata");
        }
    }
    group.finish();
}

fn drain(pipeline: &mut Pipeline) {
    while pipeline.pop(|change| drop(black_box(change))) {}
}

/// A list of all Pods into an empty store.
fn items(group: &mut BenchmarkGroup<'_, WallTime>, pods: &Pods, size: usize) {
    group.bench_function(BenchmarkId::new("kubechurn-items", size), |bencher| {
        bencher.iter_custom(|lists| {
            let mut sum = Duration::ZERO;
            for _ in 0..lists {
                let items: Vec<_> = Stream::new(size).living().map(|pod| pods.ours(pod)).collect();
                let mut pipeline = Pipeline::new();
                sum += timed(|| {
                    pipeline.replace(items);
                    drain(&mut pipeline);
                })
                .0;
            }
            sum
        });
    });
}

/// An empty list into a full store.
fn known(group: &mut BenchmarkGroup<'_, WallTime>, pods: &Pods, size: usize) {
    group.bench_function(BenchmarkId::new("kubechurn-known", size), |bencher| {
        bencher.iter_custom(|lists| {
            let mut sum = Duration::ZERO;
            for _ in 0..lists {
                let mut pipeline = pipeline(pods, &Stream::new(size));
                sum += timed(|| {
                    pipeline.replace(Vec::new());
                    drain(&mut pipeline);
                })
                .0;
                assert!(pipeline.store().is_empty(), "all are gone");
            }
            sum
        });
    });
}

/// The Pods of the n-th list: one in a hundred is missing and returns in the next list, and another one has changed.
fn listed(stream: &Stream, round: u64) -> impl Iterator<Item = Pod> {
    stream.living().filter(move |pod| u64::from(pod.name) % 100 != round % 100).map(move |mut pod| {
        let changed = (u64::from(pod.name) / 100).abs_diff(round) % 100 == 0;
        pod.version += 1 + u64::from(changed) * (1 + round);
        pod
    })
}

fn ours(group: &mut BenchmarkGroup<'_, WallTime>, pods: &Pods, size: usize) {
    let mut prepared = None;
    group.bench_function(BenchmarkId::new("kubechurn", size), |bencher| {
        let (stream, pipeline, round) = prepared.get_or_insert_with(|| {
            let stream = Stream::new(size);
            let pipeline = pipeline(pods, &stream);
            (stream, pipeline, 0)
        });
        bencher.iter_custom(|lists| {
            let mut sum = Duration::ZERO;
            for _ in 0..lists {
                *round += 1;
                let items: Vec<_> = listed(stream, *round).map(|pod| pods.ours(pod)).collect();
                sum += timed(|| {
                    black_box(pipeline.replace(items));
                    drain(pipeline);
                })
                .0;
            }
            sum
        });
    });
}

fn kube<K: Kube>(group: &mut BenchmarkGroup<'_, WallTime>, size: usize, name: &str) {
    let pods = KubePods::<K>::new();
    let mut prepared = None;
    group.bench_function(BenchmarkId::new(name, size), |bencher| {
        let (stream, writer, round) = prepared.get_or_insert_with(|| {
            let stream = Stream::new(size);
            let mut writer = Writer::<K>::default();
            for pod in stream.living() {
                writer.apply_watcher_event(&watcher::Event::Apply(pods.make(pod)));
            }
            (stream, writer, 0)
        });
        bencher.iter_custom(|lists| {
            let mut sum = Duration::ZERO;
            for _ in 0..lists {
                *round += 1;
                sum += timed(|| writer.apply_watcher_event(&watcher::Event::Init)).0;
                let mut items = listed(stream, *round).map(|pod| watcher::Event::InitApply(pods.make(pod)));
                loop {
                    let some: Vec<_> = items.by_ref().take(BATCH).collect();
                    if some.is_empty() {
                        break;
                    }
                    sum += timed(|| some.iter().for_each(|item| writer.apply_watcher_event(black_box(item)))).0;
                }
                sum += timed(|| writer.apply_watcher_event(&watcher::Event::InitDone)).0;
            }
            sum
        });
        assert!(!writer.as_reader().is_empty(), "it knows Pods");
    });
}
