//! What came of a change: how the Pods of a workload and of a Node are, in counts.

use kubechurn_changes::feed::{Feed, Limits};
use kubechurn_changes::filter::Filter;
use kubechurn_client::api::cell::Tone;
use serde_json::{Value, json};

use crate::play::Objects;

/// A Deployment `a` of six Pods, whose ReplicaSet `old` has them all: listed before the page began.
struct Play {
    feed: Feed,
    objects: Objects,
}

fn deployment(generation: u64, replicas: u64, counts: [u64; 3]) -> Value {
    let [all, updated, available] = counts;
    json!({"generation": generation, "spec": {"replicas": replicas}, "status": {"observedGeneration": generation,
        "replicas": all, "updatedReplicas": updated, "availableReplicas": available}})
}

fn set(revision: u64, replicas: u64) -> Value {
    json!({"generation": replicas, "annotations": {"deployment.kubernetes.io/revision": revision.to_string()},
        "spec": {"replicas": replicas}})
}

fn pod(node: &str, phase: &str, waiting: &str) -> Value {
    let state = if waiting.is_empty() { json!({"running": {}}) } else { json!({"waiting": {"reason": waiting}}) };
    let ready = if phase == "Running" { "True" } else { "False" };
    json!({"spec": {"nodeName": node}, "status": {"phase": phase, "conditions": [{"type": "Ready", "status": ready}],
        "containerStatuses": [{"name": "c", "state": state}]}})
}

impl Play {
    fn new() -> Play {
        let mut play = Play { feed: Feed::new(Limits::default()), objects: Objects::default() };
        play.list("Deployment", "a", "", deployment(1, 6, [6, 6, 6]));
        play.list("ReplicaSet", "old", "a", set(1, 6));
        for at in 0..6 {
            play.list("Pod", &format!("old-{at}"), "old", pod("n1", "Running", ""));
        }
        play
    }

    fn list(&mut self, kind: &str, name: &str, owner: &str, rest: Value) {
        let line = self.objects.list((kind, name, owner), rest);
        self.feed.push(line);
    }

    fn set(&mut self, at: f64, kind: &str, name: &str, owner: &str, rest: Value) {
        let line = self.objects.set(at, (kind, name, owner), rest);
        self.feed.push(line);
    }

    fn outcome(&self, name: &str) -> String {
        let row = self.feed.rows().find(|row| row.name() == name).unwrap();
        self.feed.outcome(row).iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
    }

    /// A rollout whose image cannot be pulled.
    fn bad_rollout(&mut self) {
        self.set(1_000.0, "Deployment", "a", "", deployment(2, 6, [6, 0, 6]));
        self.set(1_010.0, "ReplicaSet", "new", "a", set(2, 4));
        for at in 0..4 {
            self.set(1_020.0, "Pod", &format!("new-{at}"), "new", pod("n1", "Pending", "ContainerCreating"));
        }
        self.set(1_030.0, "ReplicaSet", "old", "a", set(1, 2));
        for at in 0..4 {
            let line = self.objects.delete(1_040.0, "Pod", &format!("old-{at}"));
            self.feed.push(line);
        }
        self.set(1_050.0, "Deployment", "a", "", deployment(2, 6, [6, 4, 2]));
        for at in 0..3 {
            self.set(2_000.0, "Pod", &format!("new-{at}"), "new", pod("n1", "Pending", "ImagePullBackOff"));
        }
    }
}

#[test]
fn a_rollout_says_how_its_pods_are_worst_first() {
    let mut play = Play::new();
    play.bad_rollout();
    assert_eq!(play.outcome("Deployment a"), "3 of 6 Pods: ImagePullBackOff, 1 ContainerCreating, 2 still old");
    assert_eq!(play.outcome("ReplicaSet new"), "4 Pods made, 0 ready");
    let row = play.feed.rows().find(|row| row.name() == "Deployment a").unwrap();
    let tones: Vec<Tone> = play.feed.outcome(row).iter().map(|outcome| outcome.tone).collect();
    assert_eq!(tones, [Tone::Bad, Tone::Wait, Tone::Plain]);
    // The ReplicaSet that is scaled down.
    let old = play.feed.rows().find(|row| row.name().contains("old") && &*row.kind == "ReplicaSet").unwrap();
    let words: Vec<String> = play.feed.outcome(old).iter().map(ToString::to_string).collect();
    assert_eq!(words, ["4 Pods ended", "2 of 2 Pods: ready"]);
}

/// The page does not know the Pods of a first list one by one.
#[test]
fn what_is_not_known_of_a_list_is_not_counted_as_all_there_is() {
    let mut play = Play { feed: Feed::new(Limits::default()), objects: Objects::default() };
    let counted = |ready: u64| {
        let mut set = set(1, 6);
        set["status"] = json!({"replicas": 6, "readyReplicas": ready, "availableReplicas": 2});
        set
    };
    play.list("ReplicaSet", "rs", "", counted(6));
    play.set(1_000.0, "Pod", "rs-1", "rs", pod("n1", "Running", ""));
    play.set(1_010.0, "ReplicaSet", "rs", "", counted(5));
    assert_eq!(play.outcome("ReplicaSet rs"), "5 of 6 Pods: ready");
    // A Job does not count them in the way that a ReplicaSet does.
    let job = |active: u64| json!({"status": {"active": active}});
    play.list("Job", "listed", "", job(3));
    play.set(2_000.0, "Pod", "listed-1", "listed", pod("n1", "Running", ""));
    play.set(2_010.0, "Job", "listed", "", job(2));
    assert_eq!(play.outcome("Job listed"), "1 Pod: ready");
    play.set(3_000.0, "Job", "new", "", job(0));
    play.set(3_010.0, "Pod", "new-1", "new", pod("n1", "Running", ""));
    assert_eq!(play.outcome("Job new"), "1 of 1 Pods: ready");
}

/// A Pod that is being deleted is none of those that its owner counts.
#[test]
fn what_is_scaled_away_is_not_one_of_those_that_there_should_be() {
    let going = || {
        let mut going = pod("n1", "Running", "");
        going["deletionTimestamp"] = json!("2026-11-28T10:00:00Z");
        going
    };
    // Its Pods came with a list, or are known one by one.
    for known in [0, 4] {
        let mut play = Play { feed: Feed::new(Limits::default()), objects: Objects::default() };
        play.list("Deployment", "a", "", deployment(1, 5, [5, 5, 5]));
        play.list("ReplicaSet", "rs", "a", set(1, 5));
        for at in 0..known {
            play.set(900.0, "Pod", &format!("rs-{at}"), "rs", pod("n1", "Running", ""));
        }
        play.set(1_000.0, "Deployment", "a", "", deployment(2, 4, [4, 4, 4]));
        play.set(1_010.0, "ReplicaSet", "rs", "a", set(1, 4));
        play.set(1_020.0, "Pod", "rs-4", "rs", going());
        let word = if known == 0 { "available" } else { "ready" };
        assert_eq!(play.outcome("Deployment a"), format!("4 of 4 Pods: {word}, 1 Terminating"));
    }
}

#[test]
fn an_older_row_keeps_what_came_of_it() {
    let mut play = Play::new();
    play.bad_rollout();
    play.set(9_000.0, "Deployment", "a", "", deployment(3, 0, [0, 0, 0]));
    let rows: Vec<_> = play.feed.rows().filter(|row| row.name() == "Deployment a").collect();
    let words = |row| play.feed.outcome(row).iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    assert_eq!(words(rows[0]), "0 Pods left");
    assert_eq!(words(rows[1]), "3 of 6 Pods: ImagePullBackOff, 1 ContainerCreating, 2 still old");
    // Under a filter the Pods are counted all the same.
    play.feed.set_filter(Filter::parse("kind:Deployment").unwrap());
    play.set(10_000.0, "Deployment", "a", "", deployment(4, 6, [6, 4, 2]));
    assert_eq!(play.outcome("Deployment a"), "3 of 6 Pods: ImagePullBackOff, 1 ContainerCreating, 2 still old");
}

#[test]
fn what_a_controller_has_not_seen_yet_has_no_outcome() {
    let mut play = Play::new();
    let mut unseen = deployment(2, 8, [6, 6, 6]);
    unseen["status"]["observedGeneration"] = json!(1);
    play.set(1_000.0, "Deployment", "a", "", unseen);
    assert_eq!(play.outcome("Deployment a"), "");
    play.set(2_000.0, "Deployment", "a", "", deployment(2, 8, [6, 6, 6]));
    assert_eq!(play.outcome("Deployment a"), "2 of 8 Pods: not made, 6 ready");
}

#[test]
fn a_node_says_how_the_pods_on_it_are() {
    let node = |ready: &str| json!({"status": {"conditions": [{"type": "Ready", "status": ready}]}});
    let mut play = Play::new();
    play.list("Node", "n1", "", node("True"));
    play.list("Pod", "elsewhere", "", pod("n2", "Running", ""));
    play.set(1_000.0, "Node", "n1", "", node("Unknown"));
    assert_eq!(
        play.outcome("Node n1"),
        "",
        "what is ready is not counted: a page does not know all Pods of a list one by one"
    );
    for at in 0..6 {
        let mut lost = pod("n1", "Running", "");
        lost["status"]["conditions"][0]["status"] = json!("False");
        play.set(1_100.0, "Pod", &format!("old-{at}"), "old", lost);
    }
    assert_eq!(play.outcome("Node n1"), "6 Pods on it: not ready");
    let row = play.feed.rows().find(|row| row.name() == "Node n1").unwrap();
    assert_eq!(play.feed.outcome(row)[0].tone, Tone::Bad);
    let line = play.objects.delete(1_200.0, "Pod", "old-0");
    play.feed.push(line);
    play.set(1_300.0, "Pod", "old-1", "old", pod("n1", "Running", ""));
    assert_eq!(play.outcome("Node n1"), "4 Pods on it: not ready");
}
