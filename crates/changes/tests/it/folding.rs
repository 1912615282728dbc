//! The feed: of the recorded rollout against an independent computation, and of made-up changes one by one.

use std::collections::{BTreeMap, BTreeSet};

use kubechurn_changes::feed::{Feed, Limits, Subject};
use kubechurn_changes::filter::Filter;
use kubechurn_changes::line::Line;
use kubechurn_changes::noise::{Mark, Marks};
use kubechurn_changes::part::{PartKind, sentence};
use serde_json::{Value, json};

use crate::play::Objects;
use crate::recording::{Step, steps};

/// The rows as `name: words`, indented, the first at the top.
fn rows(feed: &Feed) -> Vec<String> {
    let row = |row: &kubechurn_changes::feed::Entry| format!("{}{} {row}", "  ".repeat(row.depth.into()), row.name());
    feed.rows().map(|entry| row(entry).trim_end().to_owned()).collect()
}

/// The uids that an object names as what it belongs to or is about.
fn belongs_to(step: &Step) -> Vec<String> {
    let object: Value = serde_json::from_str(&step.new).unwrap();
    let owners = object["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
    let uids = owners.iter().map(|owner| &owner["uid"]).chain([&object["involvedObject"]["uid"]]);
    uids.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[test]
fn a_rollout_is_a_dozen_lines_and_the_first_names_what_began_it() {
    let (steps, marks) = (steps(), Marks::default());
    // Between a person's change of the image and the same person's next change, 6 s later.
    let first = steps.iter().position(|step| step.new.contains("cart:2.0") && step.kind == "Deployment").unwrap();
    let next = steps[first + 1..].iter().find(|step| {
        let object: Value = serde_json::from_str(&step.new).unwrap();
        step.uid == steps[first].uid && object["metadata"]["generation"] == 3
    });
    let (from, to) = (steps[first].ms, next.unwrap().ms);
    let mut feed = Feed::new(Limits::default());
    let during: Vec<&Step> = steps.iter().filter(|step| step.ms < to).collect();
    during.iter().for_each(|step| _ = feed.push(step.line(&marks)));

    // What belongs to the Deployment, by the objects' own words, and how many changes of it say something.
    let mut family = BTreeSet::from([steps[first].uid.clone()]);
    loop {
        let more: Vec<String> = during
            .iter()
            .filter(|step| !family.contains(&step.uid) && belongs_to(step).iter().any(|uid| family.contains(uid)))
            .map(|step| step.uid.clone())
            .collect();
        if more.is_empty() {
            break;
        }
        family.extend(more);
    }
    let steps = during.iter().filter(|step| step.ms >= from && family.contains(&step.uid));
    let steps = steps.filter(|step| step.line(&marks).noise.is_none()).count() as u64;

    let all: Vec<_> = feed.rows().collect();
    let root = all.iter().position(|row| row.first_at == from && row.depth == 0).unwrap();
    let block: Vec<_> = all[root..].iter().enumerate().take_while(|(at, row)| *at == 0 || row.depth > 0).collect();
    assert_eq!(block.iter().map(|(_, row)| row.count).sum::<u64>(), steps);
    let words: Vec<String> =
        block.iter().map(|(_, row)| format!("{} {}", "-".repeat(row.depth.into()), row.name())).collect();
    assert_eq!(
        words,
        [
            " Deployment shop/cart",
            "- ReplicaSet shop/cart-658c44c497",
            "-- 4 Pods of ReplicaSet cart-658c44c497",
            "- ReplicaSet shop/cart-5f5bc7984",
            "-- 4 Pods of ReplicaSet cart-5f5bc7984",
            "- 20 Events",
        ]
    );
    let began = block[0].1;
    assert!(began.to_string().starts_with(
        "spec.template.spec.containers[cart].image registry.example/cart:1.0 → registry.example/cart:2.0"
    ));
    assert_eq!(began.writers[0].to_string(), "kubectl-set, inferred");
    assert_eq!(block[2].1.to_string().split(", ").take(2).collect::<Vec<_>>(), ["added", "status Pending → Running"]);
    assert_eq!(block[4].1.to_string(), "status Running → Terminating, deleted");
    // Everything that happened meanwhile in the namespace, noise included, a Job of another owner left out.
    let meanwhile = all.iter().filter(|row| row.last_at >= from && !row.name().contains("migrate"));
    let meanwhile = meanwhile.filter(|row| !(row.kind.is_empty() || row.name() == "1 Event")).count();
    assert!((block.len()..=12).contains(&meanwhile), "{:#?}", rows(&feed));
}

#[test]
fn every_change_is_in_one_row() {
    let mut feed = Feed::new(Limits::default());
    let mut into: BTreeMap<u64, u64> = BTreeMap::new();
    for step in steps() {
        if let Some(id) = feed.push(step.line(&Marks::default())) {
            *into.entry(id).or_default() += 1;
        }
    }
    let counts = feed.counts();
    assert_eq!(counts.received, counts.listed + counts.noise + counts.significant);
    // Events that came before their cause may have been united when they were put under it.
    let rows: BTreeMap<_, _> = feed.rows().map(|row| (row.id, row.count)).collect();
    let is_united = |id: &u64| !rows.contains_key(id);
    assert!(into.keys().filter(|id| is_united(id)).count() <= 1, "{rows:?} of {into:?}");
    assert!(rows.iter().all(|(id, count)| into.get(id).is_some_and(|own| own <= count)), "{rows:?} of {into:?}");
    assert_eq!(rows.values().sum::<u64>(), into.values().sum::<u64>());
    assert_eq!(feed.rows().map(|row| row.count).sum::<u64>(), counts.noise + counts.significant);
    for row in feed.rows().filter(|row| !matches!(row.subject, Subject::Noise(_))) {
        for line in row.seqs.iter().map(|seq| feed.line(*seq).unwrap()) {
            assert!(line.kind == row.kind && (row.first_at..=row.last_at).contains(&line.at));
        }
    }
}

#[test]
fn what_is_evicted_is_counted() {
    let mut feed = Feed::new(Limits { rows: 7, lines: 20, bytes: 1 << 30 });
    for step in steps() {
        feed.push(step.line(&Marks::default()));
        let (counts, kept) = (feed.counts(), feed.rows().map(|row| row.count).sum::<u64>());
        assert!(feed.len() <= 7 && feed.lines().count() <= 20 && feed.rows().count() == feed.len());
        assert_eq!(counts.received, counts.listed + kept + counts.evicted);
        assert_eq!(feed.lines().count() as u64 + counts.lines_evicted, counts.noise + counts.significant);
    }
}

#[test]
fn a_filter_makes_the_rows_anew() {
    let mut feed = Feed::new(Limits { rows: 1_000, lines: 300, bytes: 1 << 30 });
    steps().iter().for_each(|step| _ = feed.push(step.line(&Marks::default())));
    let before = rows(&feed);
    let sums = |feed: &Feed| {
        let (counts, kept) = (feed.counts(), feed.rows().map(|row| row.count).sum::<u64>());
        assert_eq!(counts.received, counts.listed + kept + counts.evicted + counts.filtered);
        counts.filtered
    };
    assert_eq!(sums(&feed), 0);
    feed.set_filter(Filter::parse("by:kubectl path:spec").unwrap());
    assert!(sums(&feed) > 250);
    let found = rows(&feed);
    assert!(found.iter().any(|row| row.starts_with("Deployment shop/cart spec.replicas 4 → 7")), "{found:#?}");
    assert!(found.len() < 12 && feed.rows().all(|row| row.writers.iter().any(|by| by.manager.contains("kubectl"))));
    for step in steps() {
        let mut line = step.line(&Marks::default());
        (line.seq, line.at) = (line.seq + 10_000, line.at + 100_000.0);
        feed.push(line);
    }
    let filtered = sums(&feed);
    assert!(feed.rows().all(|row| row.writers.iter().any(|by| by.manager.contains("kubectl"))));
    // The same filter again costs nothing: rows stay whose changes are not kept whole any more.
    let there: Vec<_> = feed.rows().map(|row| row.id).collect();
    feed.set_filter(Filter::parse("by:kubectl path:spec").unwrap());
    assert_eq!((sums(&feed), feed.rows().map(|row| row.id).collect::<Vec<_>>()), (filtered, there));
    let mut again = Feed::new(Limits { rows: 1_000, lines: 10_000, bytes: 1 << 30 });
    steps().iter().for_each(|step| _ = again.push(step.line(&Marks::default())));
    again.set_filter(Filter::parse("path:nothing").unwrap());
    assert!(again.is_empty());
    again.set_filter(Filter::default());
    assert_eq!(rows(&again), before);
}

#[test]
fn the_text_that_is_kept_is_bounded() {
    let mut feed = Feed::new(Limits { rows: 100, lines: 100_000, bytes: 40_000 });
    for step in steps() {
        feed.push(step.line(&Marks::default()));
        assert!(feed.lines().map(Line::text_bytes).sum::<usize>() <= 40_000);
    }
    let (counts, lines) = (feed.counts(), feed.lines().count() as u64);
    assert!(
        lines > 20 && counts.lines_evicted > 100 && lines + counts.lines_evicted == counts.significant + counts.noise
    );
    assert!(feed.lines().last().is_some_and(|line| feed.line(line.seq) == Some(line)));
}

#[test]
fn what_the_user_marks_becomes_noise() {
    let mut feed = Feed::new(Limits::default());
    steps().iter().for_each(|step| _ = feed.push(step.line(&Marks::default())));
    let before = feed.counts();
    let mark = Mark { kind: "EndpointSlice".into(), object: None, path: "endpoints".into() };
    feed.mark(&mark);
    let after = feed.counts();
    assert_eq!((before.significant + before.noise, before.received), (after.significant + after.noise, after.received));
    // The same as if the mark had been there before, but for the annotations that change with the endpoints.
    let mut marks = Marks::default();
    marks.add(mark);
    let mut again = Feed::new(Limits::default());
    steps().iter().for_each(|step| _ = again.push(step.line(&marks)));
    assert_eq!((rows(&feed), feed.counts()), (rows(&again), again.counts()));
    assert!(after.noise > before.noise && rows(&feed)[..].iter().any(|row| row.contains("marked as noise")));
}

/// A feed of made-up changes.
struct Play {
    feed: Feed,
    objects: Objects,
}

impl Play {
    fn new() -> Play {
        Play { feed: Feed::new(Limits::default()), objects: Objects::default() }
    }

    fn set(&mut self, at: f64, kind: &str, name: &str, owner: &str, rest: Value) {
        let line = self.objects.set(at, (kind, name, owner), rest);
        self.feed.push(line);
    }

    #[track_caller]
    fn check(&self, expected: &[&str]) {
        assert_eq!(rows(&self.feed), expected);
    }
}

fn spec(generation: u64, replicas: u64) -> Value {
    json!({"generation": generation, "spec": {"replicas": replicas}})
}

#[test]
fn values_that_alternate_or_go_on_are_one_row() {
    let mut play = Play::new();
    play.objects.known.insert(
        "a".into(),
        json!({"metadata":{"ownerReferences":[],"generation":1},"spec":{"replicas":6}}).to_string(),
    );
    for turn in 0..41u32 {
        play.set(
            f64::from(turn) * 3_000.0,
            "Deployment",
            "a",
            "",
            spec(2 + u64::from(turn), if turn % 2 == 0 { 4 } else { 6 }),
        );
    }
    play.check(&["Deployment a spec.replicas 6 ⇄ 4"]);
    assert_eq!(play.feed.rows().next().unwrap().repetition(), "× 41 in 2 min");
    play.set(300_000.0, "Deployment", "a", "", spec(50, 7));
    play.check(&["Deployment a spec.replicas 4 → 7", "Deployment a spec.replicas 6 ⇄ 4"]);
}

#[test]
fn a_second_change_of_a_person_begins_anew() {
    let mut play = Play::new();
    play.set(0.0, "Deployment", "a", "", spec(1, 1));
    play.set(1.0, "ReplicaSet", "r", "a", spec(1, 1));
    play.set(2.0, "Deployment", "a", "", json!({"generation": 1, "spec": {"replicas": 1}, "status": {"replicas": 1}}));
    play.check(&[
        "Deployment a added, spec.replicas 1, status + {\"replicas\":1}",
        "  ReplicaSet r added, spec.replicas 1",
    ]);
    play.set(3.0, "Deployment", "a", "", spec(2, 3));
    play.set(4.0, "ReplicaSet", "r", "a", spec(2, 3));
    assert_eq!(
        rows(&play.feed)[..2],
        ["Deployment a spec.replicas 1 → 3, status − {\"replicas\":1}", "  ReplicaSet r spec.replicas 1 → 3"]
    );
    assert_eq!(play.feed.len(), 4);
}

#[test]
fn what_a_person_asks_for_again_stands_above_what_came_of_the_first_time() {
    let mut play = Play::new();
    let template = |generation: u64, image: &str| json!({"generation": generation, "spec": {"image": image}});
    play.set(0.0, "Deployment", "a", "", template(1, "one"));
    play.set(100_000.0, "Deployment", "a", "", template(2, "two"));
    play.set(100_001.0, "ReplicaSet", "two", "a", spec(1, 1));
    play.set(108_000.0, "Deployment", "a", "", template(3, "three"));
    play.set(108_001.0, "ReplicaSet", "three", "a", spec(1, 1));
    assert_eq!(
        rows(&play.feed)[..4],
        [
            "Deployment a spec.image two → three",
            "  ReplicaSet three added, spec.replicas 1",
            "Deployment a spec.image one → two",
            "  ReplicaSet two added, spec.replicas 1",
        ]
    );
    // Whoever asks for it again and again repeats himself.
    for turn in 4..24u32 {
        let at = 99_000.0 + f64::from(turn) * 3_000.0;
        let image = if turn % 2 == 0 { "two" } else { "three" };
        play.set(at, "Deployment", "a", "", template(turn.into(), image));
        play.set(at + 1.0, "ReplicaSet", image, "a", spec(turn.into(), turn.into()));
    }
    assert_eq!(rows(&play.feed).iter().filter(|row| row.starts_with("Deployment")).count(), 5);
    assert_eq!(play.feed.rows().next().unwrap().count, 19);
}

#[test]
fn what_another_asks_for_and_a_deletion_are_news_though_the_row_is_young() {
    let mut play = Play::new();
    let by = |manager: &str, generation: u64, replicas: u64| json!({"generation": generation, "manager": manager, "spec": {"replicas": replicas}});
    play.set(0.0, "Deployment", "a", "", by("autoscaler", 1, 2));
    play.set(100_000.0, "Deployment", "a", "", by("autoscaler", 2, 3));
    play.set(101_000.0, "Deployment", "a", "", by("autoscaler", 3, 4));
    play.set(102_000.0, "Deployment", "b", "", by("autoscaler", 1, 2));
    play.set(103_000.0, "Deployment", "a", "", by("kubectl", 4, 0));
    assert_eq!(
        rows(&play.feed)[..3],
        [
            "Deployment a spec.replicas 4 → 0",
            "Deployment b added, spec.replicas 2",
            "Deployment a spec.replicas 2 → 3 → 4"
        ]
    );
    // The same field of the same object again, half a minute later.
    play.set(150_000.0, "Deployment", "a", "", by("kubectl", 5, 1));
    assert_eq!(rows(&play.feed)[0], "Deployment a spec.replicas 0 → 1");
    let line = play.objects.delete(151_000.0, "Deployment", "a");
    play.feed.push(line);
    assert_eq!(rows(&play.feed)[..2], ["Deployment a deleted", "Deployment a spec.replicas 0 → 1"]);
    // A person is heard while a program repeats itself; two that fight are one row in the end.
    for turn in 0..40u32 {
        let manager = if turn == 20 { "kubectl" } else { "autoscaler" };
        play.set(200_000.0 + f64::from(turn) * 1_000.0, "Deployment", "c", "", by(manager, turn.into(), turn.into()));
        play.set(200_000.5 + f64::from(turn) * 1_000.0, "ReplicaSet", "cr", "c", spec(turn.into(), turn.into()));
        if turn == 20 {
            assert_eq!(
                rows(&play.feed)[..2],
                ["Deployment c spec.replicas 19 → 20", "  ReplicaSet cr spec.replicas 19 → 20"]
            );
        }
    }
    let begun = play.feed.len();
    for turn in 40..80u32 {
        let manager = if turn % 2 == 0 { "kubectl" } else { "autoscaler" };
        play.set(200_000.0 + f64::from(turn) * 1_000.0, "Deployment", "c", "", by(manager, turn.into(), turn.into()));
    }
    assert!(play.feed.len() <= begun + 6, "{:#?}", rows(&play.feed));
    // Whoever comes back after a while is heard anew.
    for (generation, at) in [(80, 500_000.0), (81, 540_000.0), (82, 580_000.0)] {
        play.set(at, "Deployment", "c", "", by("kubectl", generation, generation));
        let row = format!("Deployment c spec.replicas {} → {generation}", generation - 1);
        assert_eq!(rows(&play.feed)[0], row);
    }
}

#[test]
fn what_an_owner_hands_on_stands_under_it() {
    let mut play = Play::new();
    let annotated = |value: &str| json!({"generation": 1, "annotations": {"example.org/why": value}});
    play.set(0.0, "Deployment", "a", "", annotated("one"));
    play.set(1.0, "ReplicaSet", "r", "a", annotated("one"));
    play.set(200_000.0, "Deployment", "a", "", annotated("two"));
    play.set(200_001.0, "ReplicaSet", "r", "a", annotated("two"));
    play.set(200_002.0, "ReplicaSet", "s", "a", json!({"generation": 1}));
    assert_eq!(
        rows(&play.feed)[..3],
        [
            "ReplicaSet s added",
            "Deployment a metadata.annotations[\"example.org/why\"] one → two",
            "  ReplicaSet r metadata.annotations[\"example.org/why\"] one → two",
        ]
    );
}

#[test]
fn what_an_owner_hands_on_stands_under_it_though_it_is_received_first() {
    let mut play = Play::new();
    let annotated = |value: &str| json!({"generation": 1, "annotations": {"example.org/why": value}});
    play.set(0.0, "Deployment", "a", "", annotated("one"));
    play.set(1.0, "ReplicaSet", "r", "a", annotated("one"));
    play.set(200_000.0, "ReplicaSet", "r", "a", annotated("two"));
    play.set(200_001.0, "Deployment", "a", "", annotated("two"));
    assert_eq!(
        rows(&play.feed)[..2],
        [
            "Deployment a metadata.annotations[\"example.org/why\"] one → two",
            "  ReplicaSet r metadata.annotations[\"example.org/why\"] one → two",
        ]
    );
    // Another field is another matter, and so is what was long ago.
    let other = json!({"generation": 1, "annotations": {"example.org/why": "two", "example.org/who": "me"}});
    play.set(400_000.0, "ReplicaSet", "r", "a", annotated("three"));
    play.set(400_001.0, "Deployment", "a", "", other);
    assert!(rows(&play.feed)[..2].iter().all(|row| !row.starts_with(' ')), "{:#?}", rows(&play.feed));
}

#[test]
fn what_is_caused_long_after_stands_alone() {
    let mut play = Play::new();
    play.set(0.0, "ReplicaSet", "r", "", spec(1, 1));
    play.set(60_000.0, "Pod", "p", "r", json!({}));
    play.check(&["Pod p added", "ReplicaSet r added, spec.replicas 1"]);
}

#[test]
fn a_consequence_that_is_received_first_is_put_under_its_cause() {
    let mut play = Play::new();
    play.set(0.0, "ReplicaSet", "r", "a", spec(1, 1));
    play.set(1.0, "Pod", "p", "r", json!({}));
    play.set(2.0, "Deployment", "a", "", spec(1, 1));
    play.check(&["Deployment a added, spec.replicas 1", "  ReplicaSet r added, spec.replicas 1", "    Pod p added"]);
    assert_eq!(play.feed.rows().nth(1).unwrap().parent, Some(play.feed.rows().next().unwrap().id));
}

#[test]
fn the_same_for_many_of_one_owner_is_one_row() {
    let mut play = Play::new();
    for pod in 0..11 {
        let phase = json!({"metadata":{"ownerReferences":[{"kind":"Owner","name":"r","uid":"r","controller":true}],"generation":1},"status":{"phase":"Running"}});
        play.objects.known.insert(format!("p{pod}"), phase.to_string());
    }
    for pod in 0..11 {
        let going = json!({"generation": 2, "deletionTimestamp": format!("2026-01-01T00:00:{pod:02}Z"), "status": {"phase": "Running"}});
        play.set(f64::from(pod), "Pod", &format!("p{pod}"), "r", going);
    }
    play.check(&["11 Pods of Owner r status Running → Terminating"]);
    play.set(20_000.0, "Pod", "q", "r", json!({}));
    assert_eq!(rows(&play.feed)[0], "Pod q added");
}

#[test]
fn one_of_many_that_fares_otherwise_has_a_row_of_its_own() {
    let mut play = Play::new();
    play.set(0.0, "ReplicaSet", "r", "", spec(1, 3));
    let waiting = |reason: &str| json!({"status": {"phase": "Pending", "containerStatuses": [{"name": "c", "state": {"waiting": {"reason": reason}}}]}});
    for pod in ["p", "q", "s"] {
        play.set(1.0, "Pod", pod, "r", waiting("ContainerCreating"));
    }
    play.set(2.0, "Pod", "q", "r", waiting("ErrImagePull"));
    play.set(3.0, "Pod", "q", "r", waiting("ImagePullBackOff"));
    play.set(4.0, "Pod", "p", "r", json!({"status": {"phase": "Running"}}));
    let found = rows(&play.feed);
    assert_eq!(found[0], "ReplicaSet r added, spec.replicas 3");
    let group = "  3 Pods of Owner r added, status 2 ContainerCreating, 1 ContainerCreating → Running";
    assert!(found[1].starts_with(group), "{found:?}");
    assert!(found[2].starts_with("  Pod q status ContainerCreating → ErrImagePull → ImagePullBackOff"), "{found:?}");
}

#[test]
fn a_group_says_what_each_of_its_objects_did() {
    let mut play = Play::new();
    let phase = |phase: &str, node: &str| json!({"spec": {"nodeName": node}, "status": {"phase": phase}});
    play.set(0.0, "ReplicaSet", "r", "", spec(1, 9));
    for pod in 0..9 {
        play.set(1.0, "Pod", &format!("p{pod}"), "r", phase("Pending", "n"));
    }
    // Seven run, one of them after a detour that the others did not take, and two wait.
    for pod in 0..7 {
        play.set(2.0, "Pod", &format!("p{pod}"), "r", phase("Running", &format!("n{}", pod % 2)));
    }
    play.set(3.0, "Pod", "p0", "r", phase("Pending", "n0"));
    play.set(4.0, "Pod", "p0", "r", phase("Running", "n0"));
    let words = "9 Pods of Owner r added, status 7 Pending → Running, 2 Pending";
    assert!(rows(&play.feed)[1].trim().starts_with(words), "{:?}", rows(&play.feed));
    let row = play.feed.rows().nth(1).unwrap();
    let pairs: Vec<_> = row.progress[0].pairs().iter().map(|pair| (pair.count, pair.is_new)).collect();
    assert_eq!(pairs, [(7, true), (2, true)]);
    let nodes = row.progress.iter().find(|progress| progress.path == "spec.nodeName").unwrap();
    assert_eq!(nodes.to_string(), "spec.nodeName 4 n → n0, 3 n → n1");
    let kinds: Vec<PartKind> = nodes.parts().iter().map(|part| part.kind).collect();
    assert_eq!(kinds[..5], [PartKind::Path, PartKind::Count, PartKind::Old, PartKind::Arrow, PartKind::New]);
}

#[test]
fn counts_of_objects_are_told_from_their_numbers_and_left_out_where_each_did_something_else() {
    for (made, moved, words) in [
        (&["1", "1", "1"][..], &["2", "2", "3"][..], "spec.nodeName 2 went 1 → 2, 1 went 1 → 3"),
        (&["1", "1"], &["2", "3"], "spec.nodeName 1 → 2, 1 → 3"),
        (&["1", "1"], &["2", "2"], "spec.nodeName 1 → 2"),
    ] {
        let mut play = Play::new();
        play.set(0.0, "ReplicaSet", "r", "", spec(1, 3));
        for (at, nodes) in [(1.0, made), (2.0, moved)] {
            for (pod, node) in nodes.iter().enumerate() {
                play.set(at, "Pod", &format!("p{pod}"), "r", json!({"spec": {"nodeName": node}}));
            }
        }
        let row = play.feed.rows().nth(1).expect("the Pods");
        let nodes = row.progress.iter().find(|progress| progress.path == "spec.nodeName").expect("their nodes");
        assert_eq!([nodes.to_string(), nodes.title()], [words, words]);
    }
    let mut play = Play::new();
    play.set(0.0, "Deployment", "web", "", spec(1, 3));
    for (set, replicas) in [("a", 1), ("b", 1), ("c", 2)] {
        play.set(1.0, "ReplicaSet", set, "web", spec(1, replicas));
    }
    let group = rows(&play.feed).into_iter().nth(1).expect("the ReplicaSets");
    assert!(group.contains("added, spec.replicas 2 have 1, 1 have 2"), "{group}");
}

#[test]
fn several_events_have_counts_of_their_reasons() {
    let mut play = Play::new();
    let event = |reason: &str| json!({"involvedObject": {"kind": "Pod", "name": "p", "uid": "p"}, "reason": reason});
    play.set(0.0, "Pod", "p", "", json!({}));
    for (at, reason) in ["Pulling", "Pulled", "Pulling", "Started"].into_iter().enumerate() {
        play.set(at as f64, "Event", &format!("e{at}"), "", event(reason));
    }
    assert_eq!(rows(&play.feed)[1], "  4 Events added, reason 2 Pulling, 1 Pulled, 1 Started");
}

#[test]
fn an_event_that_was_listed_and_counts_on_says_why() {
    let event = |reason: &str, count: u64| {
        json!({"involvedObject": {"kind": "Pod", "name": "p", "uid": "p"}, "reason": reason, "message": "so it is",
               "type": "Warning", "count": count})
    };
    let mut play = Play::new();
    for (name, reason) in [("e1", "BackOff"), ("e2", "FailedMount")] {
        play.feed.push(play.objects.list(("Event", name, ""), event(reason, 4)));
    }
    for count in [5, 6] {
        play.set(count as f64 * 1_000.0, "Event", "e1", "", event("BackOff", count));
        play.check(&["Event e1 reason BackOff, message so it is"]);
    }
    assert_eq!(play.feed.rows().next().unwrap().repetition(), "× 2 in 1 s");
    // Beside others the feed shows what each of them says.
    play.set(7_000.0, "Pod", "p", "", json!({"generation": 1}));
    play.set(7_100.0, "Event", "e3", "", event("Failed", 1));
    play.set(8_000.0, "Event", "e2", "", event("FailedMount", 5));
    assert_eq!(rows(&play.feed)[1], "  3 Warnings added, reason BackOff, Failed, FailedMount, message so it is");
    // A new one that counts on has its reason once.
    let mut play = Play::new();
    (1..4).for_each(|count| play.set(count as f64 * 1_000.0, "Event", "e", "", event("BackOff", count)));
    play.check(&["Event e added, reason BackOff, message so it is"]);
}

#[test]
fn a_zero_is_no_absence_and_three_values_may_alternate() {
    let mut play = Play::new();
    let status = |status: Value| json!({"generation": 1, "status": status});
    play.set(0.0, "ReplicaSet", "r", "", status(json!({"replicas": 2})));
    play.set(1.0, "ReplicaSet", "r", "", status(json!({"replicas": 2, "readyReplicas": 2})));
    play.set(2.0, "ReplicaSet", "r", "", status(json!({"replicas": 2})));
    play.check(&["ReplicaSet r added, status.readyReplicas 0 ⇄ 2"]);
    let mut play = Play::new();
    for turn in 0..92_u64 {
        play.set(turn as f64 * 1_000.0, "HorizontalPodAutoscaler", "h", "", spec(turn, [1, 6, 2][turn as usize % 3]));
    }
    assert_eq!(rows(&play.feed)[0], "HorizontalPodAutoscaler h spec.replicas 1 ⇄ 6 ⇄ 2");
    // What came back once among many values does not alternate, and its newest value stands last.
    let mut play = Play::new();
    for (turn, replicas) in [1, 2, 3, 1].into_iter().enumerate() {
        play.set(turn as f64, "Scale", "s", "", json!({"generation": turn, "spec": {"size": replicas}}));
    }
    assert_eq!(rows(&play.feed)[0], "Scale s spec.size 1 → 2 → 3 → 1");
}

#[test]
fn a_row_shows_the_part_that_changed_and_keeps_the_whole() {
    let image = |tag: &str| {
        let container = json!({"name": "auth", "image": format!("registry.example/platform/auth:{tag}")});
        json!({"spec": {"template": {"spec": {"containers": [container]}}}})
    };
    let check = |name: &str, short: &str, words: &str| {
        let mut play = Play::new();
        play.set(0.0, "Deployment", name, "", image("1.14"));
        play.set(200_000.0, "Deployment", name, "", image("9-typo"));
        let row = play.feed.rows().next().unwrap();
        assert_eq!((&*row.progress[0].short_path(), &*sentence(&row.progress[0].parts())), (short, words));
        let whole = "registry.example/platform/auth:1.14 → registry.example/platform/auth:9-typo";
        assert_eq!(row.progress[0].title(), format!("spec.template.spec.containers[auth].image {whole}"));
        let line = play.feed.lines().last().unwrap();
        assert_eq!(sentence(&line.fields[0].parts(name)), words);
    };
    check("auth", "image", "image 1.14 → 9-typo");
    check("login", "image of auth", "image of auth 1.14 → 9-typo");
    let condition = |status: &str| json!({"status": {"conditions": [{"type": "Ready", "status": status}]}});
    let mut play = Play::new();
    play.set(0.0, "Node", "n", "", condition("True"));
    play.set(200_000.0, "Node", "n", "", condition("Unknown"));
    let row = play.feed.rows().next().unwrap();
    assert_eq!(sentence(&row.progress[0].parts()), "Ready True → Unknown");
    assert_eq!(row.progress[0].title(), "status.conditions[Ready].status True → Unknown");
}

#[test]
fn a_row_lends_nobody_the_change_of_another() {
    let mut objects = Objects::default();
    let mut feed = Feed::new(Limits::default());
    let (pod, status) = (
        ("Pod", "p", ""),
        |phase: &str, manager: &str| json!({"manager": manager, "spec": {"containers": [{}]}, "status": {"phase": phase}}),
    );
    let by = |feed: &Feed| feed.rows().next().map(|row| (row.writer_names(), row.unknown_writers())).unwrap();
    feed.push(objects.set(0.0, pod, status("Pending", "kubelet")));
    feed.push(objects.set(100.0, pod, status("Running", "kubelet (status)")));
    assert_eq!(by(&feed), ("kubelet, kubelet (status)".into(), ""));
    feed.push(objects.delete(200.0, "Pod", "p"));
    assert_eq!(by(&feed), ("kubelet, kubelet (status)".into(), "who deleted is not known"));
    // Who asked for a deletion is no better known before it is done.
    let other = ("Pod", "q", "");
    feed.push(objects.set(300.0, other, status("Running", "kubelet")));
    let mut asked = json!({"spec": {"containers": [{}]}, "status": {"phase": "Running"}});
    asked["deletionTimestamp"] = json!("2026-11-29T10:00:30Z");
    feed.push(objects.set(400.0, other, asked));
    assert_eq!(by(&feed).1, "who deleted is not known");
}

#[test]
fn a_row_of_several_writes_says_how_many_more_fields_it_has() {
    let mut objects = Objects::default();
    let mut feed = Feed::new(Limits::default());
    let mut status = json!({"a": 1, "b": 1, "c": 1});
    feed.push(objects.list(("Widget", "x", ""), json!({"status": status})));
    for (number, name) in ["a", "b", "c"].into_iter().enumerate() {
        status[name] = json!(2);
        feed.push(objects.set(100.0 * (number + 1) as f64, ("Widget", "x", ""), json!({"status": status})));
    }
    let rows: Vec<String> = feed.rows().map(|row| sentence(&row.parts())).collect();
    assert_eq!(rows, ["a 1 → 2, b 1 → 2 + 1 more field"]);
}
