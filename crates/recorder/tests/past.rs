//! How each object was at a moment, against a plain list of everything that was received.

#![allow(clippy::unwrap_used, reason = "a test fails where something is missing")]

use std::collections::{HashMap, HashSet};

use kubechurn_client::api::object::{Object, ObjectKey, decode_metadata};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_recorder::{Interest, NewVersion, Pushed, Recorder, Then};
use proptest::prelude::*;

const PODS: ApiResource = resource("pods");
const LEASES: ApiResource = resource("leases");

const fn resource(plural: &'static str) -> ApiResource {
    ApiResource { group: "", version: "v1", plural, kind: "Any", namespaced: true, cluster: "" }
}

/// Something that was received.
#[derive(Clone, Debug)]
struct Received {
    at: f64,
    resource: ApiResource,
    delta_type: DeltaType,
    interest: Interest,
    key: ObjectKey,
    uid: String,
    version: u64,
    text: String,
    was_known: bool,
}

fn received(resource: ApiResource, (name, uid): (&str, &str), version: u64, at: f64) -> Received {
    let filling: String =
        (0..40).map(|part| format!("{:x}", (version * 40 + part).wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
    Received {
        at,
        resource,
        delta_type: DeltaType::Updated,
        interest: Interest::Change,
        key: ObjectKey::new("shop", name),
        uid: uid.to_owned(),
        version,
        text: format!(
            r#"{{"metadata":{{"name":"{name}","namespace":"shop","uid":"{uid}","resourceVersion":"{version}"}},"spec":"{filling}"}}"#
        ),
        was_known: false,
    }
}

impl Received {
    fn push(&self, recorder: &mut Recorder) -> Pushed {
        let object: Object = decode_metadata(&self.text).unwrap();
        let Received { at, resource, delta_type, interest, was_known, .. } = *self;
        let text = Some(&*self.text);
        recorder.push(NewVersion { at, delta_type, resource, object: &object, text, interest, was_known })
    }
}

/// The version in which an object of this name is known to have been.
fn version_at(recorder: &Recorder, name: &str, moment: u64) -> Option<(u64, bool)> {
    let (_, past) = recorder.past_of(PODS, &ObjectKey::new("shop", name), moment)?;
    match past.then {
        Then::Version(sequence) => Some((recorder.get(sequence)?.record.version, past.is_newest)),
        Then::Absent | Then::Evicted => None,
    }
}

#[test]
fn an_object_is_absent_before_it_came_and_after_it_went_and_in_its_version_between() {
    let mut recorder = Recorder::new(1 << 20);
    let mut push = |version: u64, delta_type, at| {
        Received { delta_type, ..received(PODS, ("a", "u1"), version, at) }.push(&mut recorder)
    };
    push(1, DeltaType::Added, 10.0);
    push(2, DeltaType::Updated, 20.0);
    push(3, DeltaType::Deleted, 30.0);
    let other = Received { delta_type: DeltaType::Added, ..received(PODS, ("a", "u2"), 4, 40.0) };
    other.push(&mut recorder);
    received(LEASES, ("a", "u3"), 5, 50.0).push(&mut recorder);
    let at = |at: f64| version_at(&recorder, "a", recorder.received_by(at).1);
    assert_eq!(at(9.9), None);
    assert_eq!([at(10.0), at(19.9), at(20.0)], [Some((1, false)), Some((1, false)), Some((2, false))]);
    assert_eq!([at(30.0), at(39.0)], [None, None]);
    assert_eq!([at(40.0), at(60.0)], [Some((4, true)), Some((4, true))], "another object of the same name");
    assert_eq!(recorder.past(PODS, 5, |_| Some(5)).count(), 1, "of one name there is one object at a time");
    assert_eq!(recorder.past(LEASES, 5, |_| Some(5)).count(), 1);
}

#[test]
fn what_took_over_a_name_ends_what_had_it_although_no_deletion_was_seen() {
    let mut recorder = Recorder::new(1 << 20);
    received(PODS, ("a", "u1"), 1, 1.0).push(&mut recorder);
    received(PODS, ("a", "u2"), 2, 2.0).push(&mut recorder);
    Received { delta_type: DeltaType::Deleted, ..received(PODS, ("a", "u2"), 3, 3.0) }.push(&mut recorder);
    let seen: Vec<_> = (0..=3).map(|moment| version_at(&recorder, "a", moment).map(|(version, _)| version)).collect();
    assert_eq!(seen, [None, Some(1), Some(2), None]);
}

#[test]
fn an_object_that_comes_back_in_the_version_in_which_it_went_is_there_again() {
    let mut recorder = Recorder::new(1 << 20);
    let one = received(PODS, ("a", "u1"), 7, 1.0);
    one.push(&mut recorder);
    Received { delta_type: DeltaType::Deleted, ..one.clone() }.push(&mut recorder);
    assert!(matches!(one.push(&mut recorder), Pushed::Kept(2)));
    assert_eq!(version_at(&recorder, "a", 2), None);
    assert_eq!(version_at(&recorder, "a", 3), Some((7, true)));
    assert_eq!(one.push(&mut recorder), Pushed::Again(2));
}

#[test]
fn a_clock_that_was_set_back_does_not_change_the_order() {
    let mut recorder = Recorder::new(1 << 20);
    for (version, at) in [(1, 100.0), (2, 200.0), (3, 50.0), (4, 60.0), (5, 250.0)] {
        received(PODS, ("a", "u1"), version, at).push(&mut recorder);
    }
    let seen = [40.0, 50.0, 59.0, 60.0, 100.0, 200.0, 250.0].map(|at| recorder.received_by(at));
    assert_eq!(
        seen,
        [0, 3, 3, 4, 4, 4, 5].map(|count| (count, count)),
        "the last that came when the clock said this time or an earlier one"
    );
}

#[test]
fn an_object_whose_version_was_dropped_keeps_its_name_and_nothing_older_stands_for_it() {
    let mut recorder = Recorder::new(64 << 10);
    received(PODS, ("still", "u0"), 1, 0.0).push(&mut recorder);
    Received { delta_type: DeltaType::Added, ..received(PODS, ("a", "u1"), 2, 1.0) }.push(&mut recorder);
    // What is dull goes first, so that an older version is kept than the newest that was dropped.
    for version in 3..200 {
        Received { interest: Interest::Dull, ..received(PODS, ("a", "u1"), version, version as f64) }
            .push(&mut recorder);
    }
    let (life, past) = recorder.past_of(PODS, &ObjectKey::new("shop", "a"), 50).unwrap();
    assert_eq!((&*life.key.name, past.then, past.is_newest), ("a", Then::Evicted, false));
    assert_eq!(version_at(&recorder, "a", 199), Some((199, true)));
    for version in 200..800 {
        received(PODS, ("b", "u2"), version, version as f64).push(&mut recorder);
    }
    let (life, past) = recorder.past_of(PODS, &ObjectKey::new("shop", "still"), 500).unwrap();
    assert_eq!(
        (&*life.key.name, past.then, past.is_newest),
        ("still", Then::Evicted, true),
        "it has not changed since"
    );
    assert_eq!(recorder.past_of(PODS, &ObjectKey::new("shop", "still"), 0).map(|(_, past)| past.then), None);
    assert_eq!(recorder.whole_from(), (0, false), "no name was forgotten");
}

#[test]
fn a_version_that_a_list_brought_and_that_had_no_room_is_missing_and_the_one_before_is_not_taken_for_it() {
    let mut recorder = Recorder::new(64 << 10);
    received(PODS, ("a", "u1"), 1, 0.0).push(&mut recorder);
    for version in 2..60 {
        received(PODS, ("b", "u2"), version, 0.0).push(&mut recorder);
    }
    let listed = Received { interest: Interest::Listed, was_known: true, ..received(PODS, ("a", "u1"), 60, 1.0) };
    let sequence = recorder.totals().received;
    assert_eq!(listed.push(&mut recorder), Pushed::Dropped);
    received(PODS, ("a", "u1"), 61, 2.0).push(&mut recorder);
    let then = |moment| recorder.past_of(PODS, &ObjectKey::new("shop", "a"), moment).map(|(_, past)| past.then);
    assert_eq!(
        [then(sequence), then(sequence + 1), then(sequence + 2)],
        [Some(Then::Version(0)), Some(Then::Evicted), Some(Then::Version(sequence + 1))]
    );
    let totals = recorder.totals();
    assert_eq!((totals.received, totals.kept, totals.dropped), (61, 60, 1));
    assert_eq!(recorder.versions(PODS, &ObjectKey::new("shop", "a")).len(), 2, "a version that is missing is none");
    assert!(recorder.get(sequence).is_none());
}

#[test]
fn without_a_budget_nothing_is_known_before_it_begins_again() {
    let mut recorder = Recorder::new(0);
    received(PODS, ("a", "u1"), 1, 1.0).push(&mut recorder);
    received(PODS, ("b", "u2"), 2, 1.0).push(&mut recorder);
    assert_eq!((recorder.past(PODS, 2, |_| Some(2)).count(), recorder.whole_from()), (0, (2, true)));
    recorder.limit(1 << 20);
    Received { was_known: true, ..received(PODS, ("a", "u1"), 3, 2.0) }.push(&mut recorder);
    let then = |moment| recorder.past_of(PODS, &ObjectKey::new("shop", "a"), moment).map(|(_, past)| past.then);
    assert_eq!([then(2), then(3)], [Some(Then::Evicted), Some(Then::Version(2))], "it was there before");
    assert_eq!(recorder.whole_from(), (2, true));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn each_object_is_as_in_the_newest_that_was_received_of_its_name(
        budget in prop_oneof![Just(1_usize << 22), 12_000_usize..120_000],
        pushes in proptest::collection::vec((0_u64..9, 0_u8..12, 0_u8..5, any::<bool>()), 1..200),
    ) {
        let mut recorder = Recorder::new(budget);
        let mut all: Vec<Received> = Vec::new();
        let mut kept: Vec<u64> = Vec::new();
        let mut uids: HashMap<u64, u64> = HashMap::new();
        let mut clock = 1_000.0;
        for (at, (name, what, step, of_pods)) in pushes.into_iter().enumerate() {
            clock += f64::from(step) - if what == 11 { 9.0 } else { 0.0 };
            let resource = if of_pods { PODS } else { LEASES };
            let life = uids.entry(name * 2 + u64::from(of_pods)).or_default();
            let old = format!("u{name}-{life}-{of_pods}");
            let last = all.iter().rfind(|one| one.uid == old);
            let was_known = last.is_some();
            // What is gone comes back as a new object, or in what a selector picks.
            let is_gone = last.is_some_and(|last| last.delta_type == DeltaType::Deleted);
            let what = if is_gone { 10 } else { what };
            if what == 10 && !(is_gone && step == 0) {
                *life += 1;
            }
            let uid = format!("u{name}-{life}-{of_pods}");
            let mut new = received(resource, (&format!("p{name}"), &uid), at as u64 + 1, clock);
            (new.delta_type, new.interest) = match what {
                0..=1 => (DeltaType::Deleted, Interest::Change),
                2..=3 => (DeltaType::Updated, Interest::Dull),
                4..=5 => (DeltaType::Replaced, Interest::Listed),
                10 => (DeltaType::Added, Interest::Change),
                _ => (DeltaType::Updated, Interest::Change),
            };
            new.was_known = was_known && what != 10;
            if let Pushed::Kept(_) = new.push(&mut recorder) {
                kept.push(at as u64);
            }
            all.push(new);
        }
        let (end, (whole_from, has_lost)) = (all.len() as u64, recorder.whole_from());
        for moment in (0..=end).step_by(1 + end as usize / 70) {
            for resource in [PODS, LEASES] {
                let before = &all[..moment as usize];
                let mut expected: HashMap<&ObjectKey, (u64, &Received)> = HashMap::new();
                let own = before.iter().enumerate().filter(|(_, one)| one.resource == resource);
                expected.extend(own.map(|(at, one)| (&one.key, (at as u64, one))));
                expected.retain(|_, (_, one)| one.delta_type != DeltaType::Deleted);
                let mut names = HashSet::new();
                for (life, past) in recorder.past(resource, moment, |_| Some(moment)) {
                    let alone = recorder.past_of(resource, &life.key, moment).map(|(_, past)| past);
                    prop_assert_eq!(Some(past), alone, "whichever way leads there");
                    prop_assert!(names.insert(life.key.clone()), "two objects of one name");
                    let Some((sequence, one)) = expected.get(&life.key) else {
                        // Of a life whose beginning was forgotten it is not known when it began.
                        prop_assert!(moment < whole_from && past.then == Then::Evicted, "{} at {moment} of {end}: {past:?}", life.key);
                        continue;
                    };
                    if moment >= whole_from {
                        prop_assert_eq!(life.uid.to_string(), one.uid.clone());
                    }
                    let is_its = |other: &Received| other.key == one.key && other.resource == resource;
                    let is_newest = all.iter().rposition(is_its) == Some(*sequence as usize);
                    if moment >= whole_from {
                        prop_assert_eq!(past.is_newest, is_newest);
                    }
                    match past.then {
                        Then::Version(number) => {
                            prop_assert_eq!(number, *sequence);
                            prop_assert!(recorder.read(number).is_some_and(|text| text == one.text));
                        }
                        Then::Evicted => {
                            let dropped = recorder.dropped(&life.uid, resource, &life.key);
                            prop_assert!(dropped.0 > 0 || dropped.1 || whole_from > 0);
                        }
                        Then::Absent => prop_assert!(false, "what is absent is not reported"),
                    }
                    prop_assert!(budget < 1 << 22 || matches!(past.then, Then::Version(_)));
                }
                if moment >= whole_from {
                    // What exists and was forgotten has not changed since.
                    let lost = expected.iter().filter(|(key, _)| !names.contains(**key));
                    for (key, (_, one)) in lost {
                        let newest = all.iter().rfind(|other| other.uid == one.uid).unwrap();
                        prop_assert_eq!(newest.version, one.version, "{} is missing at {}", key, moment);
                        prop_assert!(has_lost && budget < 1 << 22);
                    }
                }
            }
        }
        for (from, to) in [(0, end), (end / 3, end / 2), (end / 2, end / 2), (end / 2, end)] {
            let there: Vec<u64> =
                kept.iter().copied().filter(|at| (from..to).contains(at) && recorder.get(*at).is_some()).collect();
            let is_kept = |at: &u64| recorder.get(*at).is_some();
            let forward: Vec<u64> = recorder.between(from, to).map(|one| one.sequence).filter(is_kept).collect();
            let mut back: Vec<u64> = recorder.between(from, to).rev().map(|one| one.sequence).filter(is_kept).collect();
            back.reverse();
            prop_assert_eq!(&forward, &there);
            prop_assert_eq!(&back, &there);
            let mut ends = recorder.between(from, to);
            let mut both: Vec<u64> = Vec::new();
            while let Some(one) = ends.next() {
                both.push(one.sequence);
                both.extend(ends.next_back().map(|one| one.sequence));
            }
            both.sort_unstable();
            both.retain(is_kept);
            prop_assert_eq!(&both, &there);
        }
        let times: Vec<f64> = kept.iter().filter(|at| recorder.get(**at).is_some()).map(|at| all[*at as usize].at).collect();
        for at in times {
            let there = || kept.iter().copied().filter(|one| recorder.get(*one).is_some());
            let last = there().rfind(|one| all[*one as usize].at <= at).unwrap();
            let (least, most) = recorder.received_by(at);
            // One that was dropped may be known to have come, too.
            prop_assert!(least > last && all[least as usize - 1].at <= at);
            prop_assert!(least <= most && !there().any(|one| (least..most).contains(&one)));
        }
    }
}
