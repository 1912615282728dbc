//! Counts of made-up changes, and the texts around them.

use crate::navigation::range::between;
use kubechurn_changes::line::ReceivedChange as NewChange;
use kubechurn_changes::noise::Marks;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use proptest::prelude::*;

use super::*;

/// A change of an object of a kind by a manager: `spec.a` gets another value, or nothing that says anything changes.
fn line(seq: u64, at: f64, kind: &str, manager: &str, says: bool) -> Line {
    let text = |version: u64| {
        let value = if says { version } else { 0 };
        let managed = format!(r#"[{{"manager":"{manager}","operation":"Update","time":"{version}"}}]"#);
        format!(r#"{{"metadata":{{"resourceVersion":"{version}","managedFields":{managed}}},"spec":{{"a":{value}}}}}"#)
    };
    let (old, new) = (text(seq + 1), text(seq + 2));
    let (key, uid, delta_type) = (ObjectKey::new("shop", "x"), Uid::new("u"), DeltaType::Updated);
    let kind = kind.into();
    let received = NewChange { seq, at, kind, key, uid, delta_type, old: Some(&old), new: Some(&new) };
    Line::new(received, &Marks::default())
}

/// Reads everything, of changes that are kept if `kept` says so.
fn read(reading: &mut Reading, received: &ReceivedTimes, change: impl Fn(u64) -> Option<Line>) {
    while let Some((sequence, is_own)) = reading.take_next(received) {
        reading.read(change(sequence), is_own);
    }
}

fn rows(model: &SpanModel, title: &str) -> Vec<(String, String, String)> {
    let section = model.sections.iter().find(|section| section.title == title);
    let rows = section.into_iter().flat_map(|section| &section.rows);
    rows.map(|row| (row.name.clone(), row.count.clone(), row.note.clone())).collect()
}

fn row(name: &str, count: &str, note: &str) -> (String, String, String) {
    (name.into(), count.into(), note.into())
}

#[test]
fn a_stretch_is_counted_against_the_one_before_it() {
    let mut received = ReceivedTimes::default();
    // A change each second: Pods by the kubelet, and from 70 s on nine more of them, and a Deployment.
    let mut changes = Vec::new();
    for second in 0..100 {
        let many = if (70..100).contains(&second) { 10 } else { 1 };
        for _ in 0..many {
            changes.push((f64::from(second) * 1_000.0, "Pod", "kubelet"));
        }
        if second == 80 {
            changes.push((80_000.0, "Deployment", "kubectl-edit"));
        }
    }
    for (sequence, (at, ..)) in changes.iter().enumerate() {
        received.push(sequence as u64, *at);
    }
    let change = |sequence: u64| {
        let (at, kind, manager) = changes.get(sequence as usize)?;
        Some(line(sequence, *at, kind, manager, true))
    };
    let mut reading = Reading::new(Window { from: 70_000.0, to: 100_000.0 }, 0.0, &received, Filter::default());
    assert_eq!(reading.model(&received, |_, _| String::new()).reading, "reading 0 of 331");
    read(&mut reading, &received, change);
    let model = reading.model(&received, |at, _| format!("00:00:{:02}", (at / 1_000.0).min(99.0)));
    assert_eq!((&*model.words, &*model.reading, &*model.left_out), ("301 changes", "", ""));
    assert_eq!((&*model.times, &*model.against), ("00:00:70 – 00:00:99", "against the 30 s before"));
    assert_eq!(rows(&model, "kind"), [row("Pod", "300", "× 10"), row("Deployment", "1", "new here")]);
    assert_eq!(rows(&model, "by, inferred"), [row("kubelet", "300", "× 10"), row("kubectl-edit", "1", "new here")]);
    assert_eq!(rows(&model, "field"), [row("spec.a", "301", "× 10")]);
    assert_eq!(reading.feed.counts().significant, 301);

    // The page began 5 s before the stretch: too little to compare with. 10 s are enough, and a third of them is counted.
    let mut reading = Reading::new(Window { from: 70_000.0, to: 100_000.0 }, 65_000.0, &received, Filter::default());
    read(&mut reading, &received, change);
    let model = reading.model(&received, |_, _| String::new());
    assert_eq!(model.against, "too little is known of the time before to compare with");
    assert_eq!(rows(&model, "kind"), [row("Pod", "300", ""), row("Deployment", "1", "")]);
    let mut reading = Reading::new(Window { from: 70_000.0, to: 100_000.0 }, 60_000.0, &received, Filter::default());
    read(&mut reading, &received, change);
    let model = reading.model(&received, |_, _| String::new());
    assert_eq!(model.against, "against the 10 s before, of which no more is known");
    assert_eq!(rows(&model, "kind")[0], row("Pod", "300", "× 10"));
    // A stretch from before the page began, as after a reload.
    let reading = Reading::new(Window { from: 10.0, to: 20.0 }, 60_000.0, &ReceivedTimes::default(), Filter::default());
    let model = reading.model(&received, |at, _| at.to_string());
    assert!(model.left_out.starts_with("nothing is known before 60000"), "{model:?}");
}

#[test]
fn what_says_nothing_is_counted_apart_and_what_is_not_kept_is_said() {
    let mut received = ReceivedTimes::default();
    (0..3_000).for_each(|sequence| received.push(sequence, 1_000.0 + sequence as f64));
    let mut reading = Reading::new(Window { from: 0.0, to: 10_000.0 }, 0.0, &received, Filter::default());
    let change = |sequence: u64| {
        let kept = sequence >= 412;
        kept.then(|| line(sequence, 1_000.0 + sequence as f64, "Pod", "kubelet", sequence.is_multiple_of(2)))
    };
    read(&mut reading, &received, change);
    let model = reading.model(&received, |_, _| String::new());
    assert_eq!(model.words, "1,294 changes, and 1,294 that say nothing");
    assert_eq!(model.left_out, "412 of 3,000 changes are no longer kept");
    // A change that comes while the stretch is shown is read, too.
    received.push(3_000, 9_999.0);
    received.push(3_001, 10_000.0);
    assert_eq!(reading.take_next(&received), Some((3_000, true)));
    assert_eq!(reading.take_next(&received), None);
}

#[test]
fn reading_is_bounded_and_so_is_what_is_known() {
    let mut received = ReceivedTimes::default();
    let all = MOST_KNOWN as u64 + 500;
    (0..all).for_each(|sequence| received.push(2 * sequence, sequence as f64));
    assert_eq!((received.changes.len(), received.forgotten), (MOST_KNOWN, 500));
    let from = all as f64 - MOST_READ as f64 - 10.0;
    let mut reading = Reading::new(Window { from, to: all as f64 }, 0.0, &received, Filter::default());
    read(&mut reading, &received, |_| None);
    let model = reading.model(&received, |_, _| String::new());
    assert!(model.left_out.contains("the first 50,000 of 50,010 changes are counted"), "{}", model.left_out);
    let reading = Reading::new(Window { from: 100.0, to: 1_000.0 }, 0.0, &received, Filter::default());
    let model = reading.model(&received, |_, _| String::new());
    assert!(model.left_out.contains("forgotten"), "{model:?}");
}

proptest! {
    /// The counts, however the changes lie, against a count that looks at each change on its own.
    #[test]
    fn counts_are_those_of_an_independent_count(
        times in proptest::collection::vec((0.0f64..1_000.0, 0usize..3, 0usize..3, any::<bool>()), 0..120),
        from in 0.0f64..900.0,
        length in 1.0f64..400.0,
    ) {
        const KINDS: [&str; 3] = ["Pod", "Node", "Deployment"];
        const MANAGERS: [&str; 3] = ["kubelet", "kubectl", "kube-controller-manager"];
        let mut times = times;
        times.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut received = ReceivedTimes::default();
        times.iter().enumerate().for_each(|(sequence, change)| received.push(sequence as u64, change.0));
        let window = between(from, from + length);
        let mut reading = Reading::new(window, 0.0, &received, Filter::default());
        read(&mut reading, &received, |sequence| {
            let (at, kind, manager, says) = times[sequence as usize];
            Some(line(sequence, at, KINDS[kind], MANAGERS[manager], says))
        });
        let model = reading.model(&received, |_, _| String::new());
        let is_in = |at: f64| window.from <= at && at < window.to;
        for (title, names, part) in [("kind", KINDS, 1), ("by, inferred", MANAGERS, 2)] {
            for (number, name) in names.into_iter().enumerate() {
                let of = |change: &&(f64, usize, usize, bool)| {
                    is_in(change.0) && change.3 && number == if part == 1 { change.1 } else { change.2 }
                };
                let expected = times.iter().filter(of).count();
                let shown = rows(&model, title).into_iter().find(|row| row.0 == name);
                prop_assert_eq!(shown.map_or(0, |row| row.1.parse::<usize>().unwrap()), expected, "{}", name);
            }
        }
        let expected = times.iter().filter(|change| is_in(change.0) && change.3).count();
        prop_assert_eq!(reading.feed.counts().significant, expected as u64);
    }
}
