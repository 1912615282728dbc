//! What is kept is read back to the byte, whatever was dropped around it, and everything is counted.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

use std::borrow::Cow;
use std::collections::HashMap;

use kubechurn_client::api::object::{Object, decode_metadata};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_recorder::{Interest, NewVersion, Pushed, Recorder};
use proptest::prelude::*;
use serde_json::Value;

const PODS: ApiResource = resource("pods", "Pod");

const fn resource(plural: &'static str, kind: &'static str) -> ApiResource {
    ApiResource { group: "", version: "v1", plural, kind, namespaced: true, cluster: "" }
}

fn text(name: &str, version: u64, filling: &str) -> String {
    format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"shop","uid":"u-{name}","resourceVersion":"{version}"}},"spec":"{filling}"}}"#
    )
}

fn push(recorder: &mut Recorder, interest: Interest, delta_type: DeltaType, text: &str) -> Pushed {
    push_of(PODS, recorder, interest, delta_type, text)
}

fn push_of(
    resource: ApiResource,
    recorder: &mut Recorder,
    interest: Interest,
    delta_type: DeltaType,
    text: &str,
) -> Pushed {
    let object = decode_metadata(text).unwrap();
    recorder.push(NewVersion {
        at: 0.0,
        delta_type,
        resource,
        object: &object,
        text: Some(text),
        interest,
        was_known: true,
    })
}

fn number(pushed: Pushed) -> u64 {
    match pushed {
        Pushed::Kept(sequence) => sequence,
        other => panic!("{other:?}"),
    }
}

fn versions(recorder: &Recorder, name: &str) -> Vec<u64> {
    let object = decode_metadata(&text(name, 1, "")).unwrap();
    recorder.versions(PODS, &object.key).iter().map(|stored| stored.record.version).collect()
}

#[test]
fn a_version_costs_what_differs_and_is_read_back() {
    let mut recorder = Recorder::new(1 << 20);
    let long: String = (0..500).map(|at| format!("{} ", at * 7919)).collect();
    let texts: Vec<String> = (1..=100).map(|version| text("a", version, &long)).collect();
    let numbers: Vec<u64> =
        texts.iter().map(|text| number(push(&mut recorder, Interest::Change, DeltaType::Updated, text))).collect();
    for (text, number) in texts.iter().zip(&numbers) {
        assert_eq!(recorder.read(*number).as_deref(), Some(&**text));
    }
    let raw: usize = texts.iter().map(String::len).sum();
    assert!(recorder.bytes().0 * 10 < raw, "{} of {raw}", recorder.bytes().0);
    assert_eq!(versions(&recorder, "a"), (1..=100).collect::<Vec<u64>>());
    assert_eq!(recorder.read(100), None);
}

#[test]
fn the_same_version_is_kept_once() {
    let mut recorder = Recorder::new(1 << 20);
    let first = push(&mut recorder, Interest::Listed, DeltaType::Replaced, &text("a", 1, ""));
    let again = push(&mut recorder, Interest::Change, DeltaType::Updated, &text("a", 1, ""));
    assert_eq!((first, again), (Pushed::Kept(0), Pushed::Again(0)));
    let gone = push(&mut recorder, Interest::Change, DeltaType::Deleted, &text("a", 1, ""));
    assert_eq!(gone, Pushed::Kept(2), "a deletion may have the version of the last change");
    let totals = recorder.totals();
    assert_eq!((totals.received, totals.kept, totals.again, totals.dropped), (3, 2, 1, 0));
}

#[test]
fn heartbeats_are_evicted_first_and_leave_no_hole_in_what_is_shown() {
    let mut recorder = Recorder::new(64 << 10);
    let filling = |at: u64| {
        (0..40).map(|part| format!("{:x}", (at * 40 + part).wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect::<String>()
    };
    push(&mut recorder, Interest::Change, DeltaType::Added, &text("node", 1, "the first change"));
    for version in 2..300 {
        push(&mut recorder, Interest::Dull, DeltaType::Updated, &text("node", version, &filling(version)));
    }
    push(&mut recorder, Interest::Change, DeltaType::Updated, &text("node", 300, "the last change"));
    let kept = versions(&recorder, "node");
    assert!(kept.len() < 200 && kept[0] == 1 && kept[kept.len() - 1] == 300, "{kept:?}");
    assert_eq!(recorder.totals().dropped, 300 - kept.len() as u64);
}

#[test]
fn lists_fill_half_and_replace_nothing() {
    let mut recorder = Recorder::new(64 << 10);
    push(&mut recorder, Interest::Change, DeltaType::Added, &text("a", 1, ""));
    let filling = |at: u64| format!("{:x}", at.wrapping_mul(0x9E37_79B9_7F4A_7C15)).repeat(20);
    for at in 0..2_000 {
        push(&mut recorder, Interest::Listed, DeltaType::Replaced, &text(&format!("n{at}"), 2, &filling(at)));
    }
    assert!(recorder.bytes().0 <= (64 << 10) * 3 / 4);
    assert_eq!(
        (versions(&recorder, "a"), versions(&recorder, "n1"), versions(&recorder, "n1999")),
        (vec![1], vec![2], vec![])
    );
    let object = decode_metadata(&text("n1999", 1, "")).unwrap();
    assert_eq!(recorder.dropped(&object.uid, PODS, &object.key).0, 1);
}

/// Whoever opens a kind after an hour of changes sees its objects, and what becomes of them.
#[test]
fn a_list_of_few_objects_is_kept_whatever_else_there_is() {
    const BUDGET: usize = 1 << 20;
    let mut recorder = Recorder::new(BUDGET);
    let filling = |at: u64| format!("{:x}", at.wrapping_mul(0x9E37_79B9_7F4A_7C15)).repeat(20);
    let mut version = 0;
    while recorder.totals().dropped == 0 {
        version += 1;
        push(&mut recorder, Interest::Change, DeltaType::Updated, &text("a", version, &filling(version)));
    }
    let few = BUDGET as u64 / 64_000;
    let list = |recorder: &mut Recorder, plural: &'static str, count: u64| {
        let object = |at: u64| text(&format!("{plural}{at}"), version + at, &filling(at));
        let pushed = (0..count)
            .map(|at| push_of(resource(plural, "Any"), recorder, Interest::Listed, DeltaType::Replaced, &object(at)));
        pushed.filter(|pushed| matches!(pushed, Pushed::Kept(_))).count() as u64
    };
    assert_eq!(list(&mut recorder, "configmaps", few), few);
    assert_eq!(list(&mut recorder, "secrets", 10 * few), few, "the first are kept, and the others replace nothing");
    assert!(recorder.bytes().0 <= BUDGET);
    let kinds = ["roles", "jobs", "nodes", "leases", "claims", "services", "events", "quotas"];
    let sum: u64 = kinds.into_iter().map(|plural| list(&mut recorder, plural, few)).sum();
    assert_eq!(sum, few * kinds.len() as u64);
    assert!(recorder.bytes().0 <= BUDGET && versions(&recorder, "a").len() > 100);
}

#[test]
fn a_text_that_is_too_large_costs_nothing_else() {
    let mut recorder = Recorder::new(64 << 10);
    push(&mut recorder, Interest::Change, DeltaType::Added, &text("a", 1, ""));
    let huge = push(&mut recorder, Interest::Change, DeltaType::Updated, &text("a", 2, &"x".repeat(64 << 10)));
    assert_eq!((huge, versions(&recorder, "a")), (Pushed::Dropped, vec![1]));
    let object = decode_metadata(&text("a", 1, "")).unwrap();
    assert_eq!(recorder.dropped(&object.uid, PODS, &object.key), (1, false));
}

#[test]
fn without_a_budget_nothing_is_kept_everything_is_counted_and_it_can_begin_again() {
    let mut recorder = Recorder::new(1 << 20);
    let object = |version: u64| decode_metadata(&text("a", version, "")).unwrap();
    let at = |recorder: &mut Recorder, at: f64, interest: Interest| {
        let (object, text) = (object(at as u64), text("a", at as u64, ""));
        let (delta_type, text) = (DeltaType::Updated, Some(&*text));
        recorder.push(NewVersion { at, delta_type, resource: PODS, object: &object, text, interest, was_known: true })
    };
    assert!(matches!(at(&mut recorder, 1.0, Interest::Change), Pushed::Kept(_)));
    assert_eq!(recorder.whole_since(), None);
    recorder.limit(0);
    assert_eq!(
        (recorder.whole_since(), recorder.totals().kept),
        (Some(1.0), 0),
        "what was kept is gone, and that is reported"
    );
    for (time, interest) in [(2.0, Interest::Change), (3.0, Interest::Dull), (4.0, Interest::Listed)] {
        assert_eq!(at(&mut recorder, time, interest), Pushed::Dropped);
    }
    assert_eq!((recorder.whole_since(), versions(&recorder, "a")), (Some(2.0), vec![]));
    assert_eq!(recorder.dropped(&object(1).uid, PODS, &object(1).key), (4, false));
    recorder.limit(1 << 20);
    assert_eq!(at(&mut recorder, 5.0, Interest::Change), Pushed::Kept(4));
    assert_eq!((recorder.whole_since(), versions(&recorder, "a")), (Some(5.0), vec![5]));
    let totals = recorder.totals();
    assert_eq!((totals.received, totals.kept, totals.again, totals.dropped), (5, 1, 0, 4));
}

#[test]
fn what_is_remembered_of_those_that_are_gone_is_bounded_and_says_so() {
    let mut recorder = Recorder::new(64 << 10);
    let filling: String = (0..200).map(|at| format!("{:x}", at * at * 7919)).collect();
    for at in 0..5_000 {
        push(&mut recorder, Interest::Change, DeltaType::Added, &text(&format!("n{at}"), 1, &filling[at % 300..]));
    }
    let dropped = |at: u64| {
        let object = decode_metadata(&text(&format!("n{at}"), 1, "")).unwrap();
        recorder.dropped(&object.uid, PODS, &object.key)
    };
    // The names of the first few are remembered, because nothing was said of their end.
    assert_eq!([dropped(0), dropped(99), dropped(4_999)], [(1, true), (0, true), (0, true)], "one was forgotten");
    assert!(recorder.bytes().0 <= 64 << 10);
}

/// The objects of the frames of a recording, with their resources.
fn rollout() -> Vec<(ApiResource, Object, String)> {
    let recording = include_str!("../../../tests/fixtures/rollout.jsonl");
    let mut names: HashMap<String, ApiResource> = HashMap::new();
    let frames = recording.lines().filter_map(|line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let frame = line.get("frame")?.as_str()?;
        let event: HashMap<String, Box<serde_json::value::RawValue>> = serde_json::from_str(frame).unwrap();
        if !["\"ADDED\"", "\"MODIFIED\"", "\"DELETED\""].contains(&event["type"].get()) {
            return None;
        }
        let name = line["resource"].as_str().unwrap().to_owned();
        let resource = *names.entry(name.clone()).or_insert_with(|| resource(name.leak(), "Any"));
        let text = event["object"].get();
        Some((resource, decode_metadata(text).unwrap(), text.to_owned()))
    });
    frames.collect()
}

#[test]
fn every_version_of_a_real_rollout_is_read_back_and_costs_a_seventh_at_most() {
    let frames = rollout();
    let mut recorder = Recorder::new(1 << 26);
    let mut kept = HashMap::new();
    for (resource, object, text) in &frames {
        let interest = Interest::Change;
        let new = NewVersion {
            at: 0.0,
            delta_type: DeltaType::Updated,
            resource: *resource,
            object,
            text: Some(text),
            interest,
            was_known: true,
        };
        if let Pushed::Kept(sequence) = recorder.push(new) {
            kept.insert(sequence, text);
        }
    }
    assert!(kept.len() > 400, "{}", kept.len());
    for (sequence, text) in &kept {
        assert_eq!(recorder.read(*sequence).as_deref(), Some(&***text));
    }
    let written = recorder.written_bytes();
    let raw: usize = kept.values().map(|text| text.len()).sum();
    println!(
        "{} versions, {raw} bytes, written as {written}: {:.1} %",
        kept.len(),
        written as f64 * 100.0 / raw as f64
    );
    assert!(written * 100 <= raw * 15, "{written} of {raw}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whatever_is_dropped_the_rest_is_read_back_and_all_is_counted(
        budget in 20_000_usize..200_000,
        pushes in proptest::collection::vec((0_u64..12, 0_u8..3, 0_u64..400, 0_usize..600), 1..600),
    ) {
        let mut recorder = Recorder::new(budget);
        let mut kept: HashMap<u64, String> = HashMap::new();
        let mut received = 0;
        for (at, (name, interest, version, filling)) in pushes.iter().enumerate() {
            let interest = [Interest::Change, Interest::Dull, Interest::Listed][usize::from(*interest)];
            let filling: String = (0..*filling as u64).map(|part| ((part * (version + 1)) % 96 + 32) as u8 as char).filter(|one| !"\"\\\u{7f}".contains(*one)).collect();
            let text = text(&format!("p{name}"), *version, &filling);
            let delta_type = if at % 9 == 0 { DeltaType::Deleted } else { DeltaType::Updated };
            received += 1;
            if let Pushed::Kept(sequence) = push(&mut recorder, interest, delta_type, &text) {
                kept.insert(sequence, text);
            }
            prop_assert!(recorder.bytes().0 <= budget);
        }
        let totals = recorder.totals();
        prop_assert_eq!(totals.received, received);
        prop_assert_eq!(totals.received, totals.kept + totals.again + totals.dropped);
        let mut listed = 0;
        for name in 0..12 {
            let object = decode_metadata(&text(&format!("p{name}"), 1, "")).unwrap();
            for stored in recorder.versions(PODS, &object.key) {
                listed += 1;
                let sequence = stored.record.sequence;
                prop_assert_eq!(recorder.read(sequence).map(Cow::into_owned), kept.get(&sequence).cloned());
            }
        }
        prop_assert_eq!(listed, totals.kept, "whatever is kept is found by its name");
        let half = budget / 2;
        recorder.limit(half);
        prop_assert!(recorder.bytes().0 <= half);
    }
}

proptest! {
    /// However many were received at one time: a version is found by its object, its resourceVersion and its time as long as
    /// it is kept.
    #[test]
    fn a_version_is_found_by_when_it_was_received(
        pushed in proptest::collection::vec((0usize..3, 0usize..3, 0u8..3), 1..200),
        budget in prop_oneof![Just(40_000usize), Just(1 << 20)],
    ) {
        let mut recorder = Recorder::new(budget);
        let (mut at, mut known) = (0.0, Vec::new());
        let filling: String = (0..60).map(|at| format!("{} ", at * 7919)).collect();
        for (version, (name, interest, step)) in pushed.iter().enumerate() {
            at += f64::from(*step / 2);
            let text = text(["a", "b", "c"][*name], version as u64 + 1, &filling[version % 7..]);
            let object = decode_metadata(&text).unwrap();
            let interest = [Interest::Change, Interest::Dull, Interest::Listed][*interest];
            let delta_type = if version % 9 == 0 { DeltaType::Deleted } else { DeltaType::Updated };
            let new = NewVersion { at, delta_type, resource: PODS, object: &object, text: Some(&text), interest, was_known: true };
            if let Pushed::Kept(sequence) = recorder.push(new) {
                known.push((sequence, object.clone(), at, delta_type));
            }
        }
        for (sequence, object, at, delta_type) in &known {
            let is_there = recorder.get(*sequence).is_some() && *delta_type != DeltaType::Deleted;
            let found = recorder.find(PODS, (&object.key, &object.uid), (&object.resource_version, *at));
            prop_assert_eq!(found, is_there.then_some(*sequence));
            let another = recorder.find(PODS, (&object.key, &object.uid), (&object.resource_version, at + 0.5));
            prop_assert_eq!(another, None);
        }
    }

    /// Over all three logs, and with what is oldest dropped: the version before each one is the next smaller number that is
    /// kept of the same object.
    #[test]
    fn the_version_before_another_is_the_next_older_one_that_is_kept(
        pushed in proptest::collection::vec((0usize..3, 0usize..3), 1..150),
    ) {
        let mut recorder = Recorder::new(40_000);
        let mut known: HashMap<u64, usize> = HashMap::new();
        let filling: String = (0..60).map(|at| format!("{} ", at * 7919)).collect();
        for (version, (name, interest)) in pushed.iter().enumerate() {
            let interest = [Interest::Change, Interest::Dull, Interest::Listed][*interest];
            let text = text(["a", "b", "c"][*name], version as u64 + 1, &filling[version % 7..]);
            if let Pushed::Kept(sequence) = push(&mut recorder, interest, DeltaType::Updated, &text) {
                known.insert(sequence, *name);
            }
        }
        known.retain(|sequence, _| recorder.get(*sequence).is_some());
        for (sequence, name) in &known {
            let of_object = known.iter().filter(|(_, other)| *other == name).map(|(number, _)| *number);
            let expected = of_object.filter(|number| number < sequence).max();
            prop_assert_eq!(recorder.previous(*sequence), expected, "before {}", sequence);
        }
    }
}
