//! How much memory the queue, the objects and the table take, counted byte by byte. `./dev bench cache` and `./dev
//! bench scale` print the figures.

use std::sync::Arc;

use allocation_counter::measure;
use kubechurn_client::api::object::{Object, decode_metadata};
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::pipeline::Pipeline;
use kubechurn_client::cache::store::Change;
use kubechurn_columns::kinds::pods;
use kubechurn_model::table::filter::Filter;
use kubechurn_model::table::view::{Sort, SortKey, TableView};

const KEYS: usize = 10_000;

/// A version of every object. In every round an object has the same size.
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

/// Queues an update of every key. Returns how many allocations that took, and by how many bytes the memory grew.
fn update(pipeline: &mut Pipeline, round: usize) -> (u64, i64) {
    let objects = objects(round);
    let list = objects.capacity() * size_of::<Arc<Object>>();
    let info = measure(|| {
        for object in objects {
            pipeline.event(DeltaType::Updated, object);
        }
    });
    // The list was allocated before, and is freed here.
    (info.count_total, info.bytes_current + list as i64)
}

#[test]
fn an_update_of_a_key_that_waits_allocates_nothing_and_the_queue_follows_the_keys() {
    let mut pipeline = Pipeline::new();
    let mut first = Vec::new();
    let held = measure(|| first = objects(0)).bytes_current - (KEYS * size_of::<Arc<Object>>()) as i64;
    pipeline.replace(first);
    while pipeline.pop(drop) {}

    let (allocations, queue) = update(&mut pipeline, 1);
    assert!(allocations > 0 && queue > 0, "{allocations} allocations, {queue} bytes: they are counted");
    for round in 2..12 {
        // Each update frees the version before it, and takes no further memory.
        assert_eq!(update(&mut pipeline, round), (0, -held), "round {round}");
    }
    let drained = measure(|| while pipeline.pop(drop) {}).bytes_current;
    // The store frees the versions that it held before.
    assert_eq!(drained, -held - queue, "and the queue all that it took");
}

fn pod(at: usize) -> Arc<Object> {
    let text = format!(
        r#"{{"metadata":{{"name":"web-7f9c4d8b6-{at:05}","namespace":"shop","uid":"5d1d7b2e-0000-4000-8000-{at:012}",
        "resourceVersion":"{at:08}","creationTimestamp":"2026-11-21T10:00:00Z"}},
        "spec":{{"nodeName":"node-{:03}","containers":[{{"name":"web"}}]}},
        "status":{{"phase":"Running","podIP":"10.0.{}.{}","containerStatuses":[{{"name":"web","ready":true,"restartCount":{},
        "state":{{"running":{{}}}}}}]}}}}"#,
        at % 100,
        at / 250 % 250,
        at % 250,
        at % 3,
    );
    Arc::new(pods::decode(&text).expect("a Pod"))
}

/// Pointers are twice as large here as in the page, which therefore takes less memory.
#[test]
fn a_pod_takes_few_bytes_of_a_store_and_of_a_table() {
    let mut kept = Vec::with_capacity(KEYS);
    let objects = measure(|| kept.extend((0..KEYS).map(pod))).bytes_current as usize / KEYS;
    // The object with its two counters, its namespace (which the objects of an informer share), name, uid and cells.
    assert!((200..=330).contains(&objects), "{objects} bytes for an object");

    let mut view = TableView::default();
    let added = |new: &Arc<Object>| Change::Added { new: new.clone(), listed: true, folded: 1 };
    let rows = measure(|| kept.iter().for_each(|new| view.apply(&added(new), 0.0))).bytes_current as usize / KEYS;
    assert!((40..=80).contains(&rows), "{rows} bytes for a row");
}

#[test]
fn an_event_allocates_nothing_in_the_table_and_a_hold_little() {
    let mut view = TableView::default();
    for at in 0..KEYS {
        view.apply(&Change::Added { new: pod(at), listed: true, folded: 1 }, 0.0);
    }
    view.filter_by(Filter::parse("web status:running", pods::KIND.columns).expect("a filter"));
    view.sort_by(Sort { key: SortKey::Column(2), descending: true });
    while view.work(|| true) {}
    let changes: Vec<Change> = (0..200).map(|at| Change::Updated { old: pod(at), new: pod(at), folded: 1 }).collect();
    let update = measure(|| changes.iter().for_each(|change| view.apply(change, 1.0)));
    assert_eq!(update.count_total, 0, "updates that do not move their rows");
    let hold = measure(|| view.freeze(5_000, 40));
    assert!(hold.bytes_max < 8_192, "{} bytes for a hold, which does not copy the whole order", hold.bytes_max);
}

/// The memory that sorting takes for a moment is proportional to the rows, and all of it is freed.
#[test]
fn sorting_and_filtering_over_and_over_takes_no_more_than_once() {
    let mut view = TableView::default();
    for at in 0..KEYS {
        view.apply(&Change::Added { new: pod(at), listed: true, folded: 1 }, 0.0);
    }
    let mut round = |descending| {
        view.sort_by(Sort { key: SortKey::Name, descending });
        while view.work(|| true) {}
        view.filter_by(Filter::parse("web", pods::KIND.columns).expect("a filter"));
        while view.work(|| true) {}
        view.filter_by(Filter::default());
    };
    round(true);
    round(false);
    let grown = measure(|| (0..5).for_each(|_| [true, false].into_iter().for_each(&mut round))).bytes_current;
    assert!(grown.abs() < KEYS as i64, "{grown} bytes more after ten rounds");
}
