//! What stands under what, and where: causes above what they caused, and each row at its time.

use kubechurn_changes::feed::{Entry, Feed, Limits};
use kubechurn_changes::filter::Filter;
use kubechurn_changes::part::sentence;
use serde_json::{Value, json};

use crate::play::Objects;

/// A feed of made-up changes.
struct Play {
    feed: Feed,
    objects: Objects,
}

impl Play {
    fn new() -> Play {
        Play { feed: Feed::new(Limits::default()), objects: Objects::default() }
    }

    /// An object that was there before.
    fn list(&mut self, kind: &str, name: &str, owner: &str, rest: Value) {
        let line = self.objects.list((kind, name, owner), rest);
        self.feed.push(line);
    }

    fn set(&mut self, at: f64, kind: &str, name: &str, owner: &str, rest: Value) {
        let line = self.objects.set(at, (kind, name, owner), rest);
        self.feed.push(line);
        self.check_times();
    }

    fn event(&mut self, at: f64, name: &str, about: (&str, &str, &str), what: (&str, &str)) {
        let ((kind, object, uid), (event_type, reason)) = (about, what);
        let object = json!({"kind": kind, "name": object, "uid": uid});
        let message = format!("{reason} of {name}");
        let rest =
            json!({"involvedObject": object, "type": event_type, "reason": reason, "message": message, "count": at});
        self.set(at, "Event", name, "", rest);
    }

    /// The blocks stand by the times of their first rows.
    #[track_caller]
    fn check_times(&self) {
        let times: Vec<f64> = self.feed.rows().filter(|row| row.depth == 0).map(|row| row.first_at).collect();
        assert!(times.is_sorted_by(|one, two| one >= two), "{times:?}");
    }

    fn names(&self) -> Vec<String> {
        self.feed.rows().map(|row| format!("{}{}", "  ".repeat(row.depth.into()), row.name())).collect()
    }

    fn row(&self, name: &str) -> &Entry {
        self.feed.rows().find(|row| row.name() == name).unwrap()
    }
}

fn asks(generation: u64) -> Value {
    json!({"generation": generation, "spec": {"replicas": generation}})
}

fn pod(node: &str, ready: &str, waiting: &str) -> Value {
    let state = if waiting.is_empty() { json!({"running": {}}) } else { json!({"waiting": {"reason": waiting}}) };
    json!({"generation": 1, "spec": {"nodeName": node}, "status": {"phase": "Running",
        "conditions": [{"type": "Ready", "status": ready}], "containerStatuses": [{"name": "c", "state": state}]}})
}

fn node(ready: &str) -> Value {
    json!({"status": {"conditions": [{"type": "MemoryPressure", "status": if ready == "True" { "False" } else { ready }},
        {"type": "Ready", "status": ready}]}})
}

#[test]
fn an_event_that_came_before_its_object_is_put_under_it() {
    let mut play = Play::new();
    play.event(0.0, "e1", ("Pod", "p", "p"), ("Normal", "Scheduled"));
    play.event(1.0, "e2", ("Pod", "q", "q"), ("Normal", "Scheduled"));
    play.set(2.0, "ReplicaSet", "r", "", asks(1));
    play.set(3.0, "Pod", "p", "r", json!({}));
    play.event(4.0, "e3", ("Pod", "p", "p"), ("Normal", "Pulled"));
    assert_eq!(play.names(), ["ReplicaSet r", "  Pod p", "  2 Events", "Event e2"]);
    play.set(5.0, "Pod", "q", "r", json!({}));
    play.event(6.0, "e4", ("Pod", "q", "q"), ("Warning", "Failed"));
    assert_eq!(play.names(), ["ReplicaSet r", "  2 Pods of Owner r", "  1 Warning", "  3 Events"]);
    assert_eq!(text(play.row("3 Events")), "added, reason 2 Scheduled, 1 Pulled, message Pulled of e3");
    // An Event is united with others once, and goes on in their row.
    play.set(7.0, "Event", "e2", "", json!({"involvedObject": {"uid": "q"}, "reason": "Scheduled", "count": 2}));
    assert_eq!(play.row("3 Events").count, 4);
}

#[test]
fn warnings_of_one_reason_about_the_pods_of_one_owner_are_one_row_where_nothing_else_is_shown() {
    let mut play = Play::new();
    for pod in ["p", "q", "r"] {
        play.list("Pod", pod, "web", pod_of_now());
    }
    play.list("Pod", "x", "other", pod_of_now());
    play.feed.set_filter(Filter::parse("kind:event").unwrap());
    for (at, pod) in ["p", "q", "x", "r"].into_iter().enumerate() {
        play.event(at as f64 * 6_000.0, &format!("{pod}.1"), ("Pod", pod, pod), ("Warning", "FailedMount"));
        play.event(at as f64 * 6_000.0 + 1.0, &format!("{pod}.2"), ("Pod", pod, pod), ("Warning", "BackOff"));
    }
    let mut names = play.names();
    names.sort();
    assert_eq!(names, ["3 Events", "3 Events", "Event x.1", "Event x.2"]);
    let texts: Vec<String> = play.feed.rows().map(text).collect();
    assert!(texts.iter().any(|text| text.contains("FailedMount of r.1")), "{texts:?}");
    // Of one object it is said which.
    play.event(40_000.0, "x.3", ("Pod", "x", "x"), ("Warning", "BackOff"));
    assert!(play.names().contains(&"2 Events about Pod x".to_owned()), "{:?}", play.names());
}

fn pod_of_now() -> Value {
    pod("n1", "True", "")
}

fn text(row: &Entry) -> String {
    sentence(&row.parts())
}

#[test]
fn the_events_of_a_node_are_found_by_its_name_too() {
    let mut play = Play::new();
    play.list("Node", "n1", "", node("True"));
    play.set(0.0, "Node", "n1", "", node("Unknown"));
    // The kubelet puts the name where the uid should be.
    play.event(1.0, "e1", ("Node", "n1", "n1"), ("Normal", "NodeNotReady"));
    let mut other = play.objects.set(2.0, ("Node", "n2", ""), node("True"));
    other.uid = kubechurn_client::api::uid::Uid::new("uid-of-n2");
    other.is_listed = true;
    play.feed.push(other);
    play.event(3.0, "e2", ("Node", "n2", "n2"), ("Warning", "Rebooted"));
    assert_eq!(play.names(), ["Event e2", "Node n1", "  1 Event"]);
    let mut lost = play.objects.set(4.0, ("Node", "n2", ""), node("Unknown"));
    lost.uid = kubechurn_client::api::uid::Uid::new("uid-of-n2");
    play.feed.push(lost);
    assert_eq!(play.names(), ["Node n2", "  1 Warning", "Node n1", "  1 Event"]);
}

#[test]
fn the_taints_of_a_lost_node_are_shown_with_its_loss() {
    let mut play = Play::new();
    let with = |ready: &str, spec: Value| {
        let mut node = node(ready);
        node["spec"] = spec;
        node
    };
    let taints = json!([{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]);
    play.list("Node", "n1", "", with("True", json!({"podCIDR": "10.0.0.0/24"})));
    play.list("Pod", "p", "r", pod("n1", "True", ""));
    play.set(0.0, "Node", "n1", "", with("Unknown", json!({"podCIDR": "10.0.0.0/24"})));
    play.set(10.0, "Node", "n1", "", with("Unknown", json!({"podCIDR": "10.0.0.0/24", "taints": taints})));
    let mut lost = pod("n1", "False", "");
    lost["manager"] = json!("kube-controller-manager");
    play.set(20.0, "Pod", "p", "r", lost);
    assert_eq!(play.names(), ["Node n1", "  Pod p"]);
    // That somebody drains it is another matter.
    let spec = json!({"podCIDR": "10.0.0.0/24", "taints": taints, "unschedulable": true});
    play.set(30.0, "Node", "n1", "", with("Unknown", spec));
    assert_eq!(play.names(), ["Node n1", "Node n1", "  Pod p"]);
}

#[test]
fn an_event_that_blames_a_node_stands_under_it_where_its_pod_has_no_row() {
    let mut play = Play::new();
    play.list("Node", "n1", "", node("True"));
    for name in ["p", "q", "r"] {
        play.list("Pod", name, "s", pod("n1", "True", ""));
    }
    // One is received before the Node.
    play.event(0.0, "e1", ("Pod", "p", "p"), ("Warning", "NodeNotReady"));
    play.set(10.0, "Node", "n1", "", node("Unknown"));
    play.event(20.0, "e2", ("Pod", "q", "q"), ("Warning", "NodeNotReady"));
    // What else befalls a Pod there is not the Node's doing.
    play.event(30.0, "e3", ("Pod", "r", "r"), ("Warning", "Unhealthy"));
    assert_eq!(play.names(), ["Event e3", "Node n1", "  2 Warnings"]);
}

#[test]
fn what_a_drain_does_to_pods_stands_under_the_node_that_is_drained() {
    let mut play = Play::new();
    let with = |spec: Value| {
        let mut node = node("True");
        node["spec"] = spec;
        node
    };
    let taints = json!([{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]);
    let evicted = |node: &str, reason: &str| {
        let mut pod = pod(node, "True", "");
        pod["deletionTimestamp"] = json!("2026-11-29T10:00:30Z");
        let why = json!({"type": "DisruptionTarget", "status": "True", "reason": reason, "message": "Eviction API: evicting"});
        pod["status"]["conditions"].as_array_mut().unwrap().push(why);
        pod
    };
    for name in ["n1", "n2"] {
        play.list("Node", name, "", with(json!({"podCIDR": "10.0.0.0/24"})));
    }
    for set in ["r1", "r2"] {
        play.list("ReplicaSet", set, "", json!({"generation": 1, "status": {"readyReplicas": 2}}));
        play.list("Pod", &format!("{set}-0"), set, pod("n1", "True", ""));
        play.list("Pod", &format!("{set}-1"), set, pod("n2", "True", ""));
    }
    play.list("Pod", "other", "r3", pod("n1", "True", ""));
    play.set(0.0, "Node", "n1", "", with(json!({"podCIDR": "10.0.0.0/24", "unschedulable": true})));
    play.set(10.0, "Node", "n1", "", with(json!({"podCIDR": "10.0.0.0/24", "unschedulable": true, "taints": taints})));
    for (number, set) in ["r1", "r2"].into_iter().enumerate() {
        let at = 100.0 * (number + 1) as f64;
        play.set(at, "Pod", &format!("{set}-0"), set, evicted("n1", "EvictionByEvictionAPI"));
        play.set(at + 1.0, "ReplicaSet", set, "", json!({"generation": 1, "status": {"readyReplicas": 1}}));
        play.set(at + 2.0, "Pod", &format!("{set}-2"), set, json!({"status": {"phase": "Pending"}}));
    }
    for set in ["r1", "r2"] {
        play.set(3_000.0, "Pod", &format!("{set}-2"), set, pod("n2", "True", ""));
        let line = play.objects.delete(4_000.0, "Pod", &format!("{set}-0"));
        play.feed.push(line);
    }
    let below = ["  2 Pods", "  2 ReplicaSets", "  2 Pods"];
    assert_eq!(play.names(), [&["Node n1"], &below[..]].concat());
    assert!(text(play.row("Node n1")).starts_with("unschedulable + true"), "{}", text(play.row("Node n1")));
    let pods: Vec<String> = play.feed.rows().filter(|row| row.name() == "2 Pods").map(text).collect();
    assert!(pods[0].contains("Terminating") && pods[0].contains("deleted"), "{pods:?}");
    assert!(pods[1].contains("added") && !pods[1].contains("deleted"), "{pods:?}");
    // A Pod on a Node that nobody drains is taken away for another reason, as is one that nobody evicts.
    play.set(5_000.0, "Pod", "r1-1", "r1", evicted("n2", "EvictionByEvictionAPI"));
    play.set(5_001.0, "Pod", "other", "r3", evicted("n1", "PreemptionByScheduler"));
    assert_eq!(play.names()[..3], ["Pod other", "Pod r1-1", "Node n1"]);
}

#[test]
fn what_a_lost_node_does_to_its_pods_stands_under_it() {
    let mut play = Play::new();
    play.list("Node", "n1", "", node("True"));
    for (set, deployment) in [("r1", "d1"), ("r2", "d2")] {
        play.list("Deployment", deployment, "", json!({"generation": 1, "status": {"readyReplicas": 2}}));
        play.list("ReplicaSet", set, deployment, json!({"generation": 1, "status": {"readyReplicas": 2}}));
        for number in 0..2 {
            play.list("Pod", &format!("{set}-{number}"), set, pod("n1", "True", ""));
        }
    }
    let lost = |manager: &str| {
        let mut lost = pod("n1", "False", "");
        lost["manager"] = json!(manager);
        lost
    };
    // One is received before the Node.
    play.set(0.0, "Pod", "r1-0", "r1", lost("kube-controller-manager"));
    play.set(10.0, "Node", "n1", "", node("Unknown"));
    play.set(20.0, "Pod", "r1-1", "r1", lost("kube-controller-manager"));
    play.set(21.0, "Pod", "r2-0", "r2", lost("kube-controller-manager"));
    // A probe that fails is not the Node's doing.
    play.set(22.0, "Pod", "r2-1", "r2", lost("kubelet"));
    for (set, deployment) in [("r1", "d1"), ("r2", "d2")] {
        play.set(30.0, "ReplicaSet", set, deployment, json!({"generation": 1, "status": {"readyReplicas": 1}}));
        play.set(31.0, "Deployment", deployment, "", json!({"generation": 1, "status": {"readyReplicas": 1}}));
    }
    let names = ["Pod r2-1", "Node n1", "  Pod r1-0", "  2 Pods", "  2 ReplicaSets", "  2 Deployments"];
    assert_eq!(play.names(), names);
    assert_eq!(text(play.row("Node n1")), "Ready True → Unknown, MemoryPressure False → Unknown");
    assert_eq!(text(play.row("2 ReplicaSets")), "readyReplicas 2 → 1");
    // What is asked of a workload meanwhile is another matter, and so is its deletion.
    play.set(
        40.0,
        "Deployment",
        "d1",
        "",
        json!({"generation": 2, "spec": {"replicas": 0}, "status": {"readyReplicas": 1}}),
    );
    play.set(
        41.0,
        "ReplicaSet",
        "r1",
        "d1",
        json!({"generation": 2, "spec": {"replicas": 0}, "status": {"readyReplicas": 1}}),
    );
    assert_eq!(play.names()[..3], ["Deployment d1", "  ReplicaSet r1", "Pod r2-1"]);
    let line = play.objects.delete(50.0, "Deployment", "d2");
    play.feed.push(line);
    assert_eq!(play.names()[..2], ["Deployment d2", "Deployment d1"]);
}

#[test]
fn a_job_stands_under_the_cron_job_that_made_it() {
    let mut play = Play::new();
    let scheduled = |minute: u64| json!({"generation": 1, "status": {"lastScheduleTime": minute}});
    play.list("CronJob", "c", "", scheduled(0));
    for minute in 1..3 {
        let (at, job) = (minute as f64 * 60_000.0, format!("c-{minute}"));
        play.set(at, "Job", &job, "c", json!({}));
        play.set(at + 1.0, "Pod", &format!("{job}-p"), &job, json!({}));
        play.set(at + 20.0, "CronJob", "c", "", scheduled(minute));
    }
    let names = ["CronJob c", "  Job c-2", "    Pod c-2-p", "CronJob c", "  Job c-1", "    Pod c-1-p"];
    assert_eq!(play.names(), names);
}

#[test]
fn a_consequence_is_put_under_a_cause_that_has_a_cause_itself() {
    let mut play = Play::new();
    play.set(0.0, "Pod", "p", "r", json!({}));
    play.event(1.0, "e", ("Pod", "p", "p"), ("Normal", "Scheduled"));
    play.set(2.0, "Deployment", "a", "", asks(1));
    play.set(500.0, "ReplicaSet", "r", "a", asks(1));
    assert_eq!(play.names(), ["Deployment a", "  ReplicaSet r", "    Pod p", "  1 Event"]);
    // Later it is not known any more whether it was the cause.
    play.set(10_000.0, "Pod", "q", "s", json!({}));
    play.set(12_000.0, "ReplicaSet", "s", "", asks(1));
    assert_eq!(play.names()[..2], ["ReplicaSet s", "Pod q"]);
}

#[test]
fn a_row_stands_at_its_time_whatever_happens_in_it() {
    let mut play = Play::new();
    play.list("ConfigMap", "a", "", json!({"data": {"x": "7"}}));
    play.set(0.0, "ConfigMap", "a", "", json!({"data": {"x": "0"}}));
    play.set(1.0, "ConfigMap", "b", "", json!({}));
    for (at, value) in [(9_000.0, "1"), (11_000.0, "2"), (35_000.0, "3")] {
        play.set(at, "ConfigMap", "a", "", json!({"data": {"x": value}}));
        assert_eq!(play.names(), ["ConfigMap b", "ConfigMap a"]);
    }
    assert_eq!((play.row("ConfigMap a").first_at, play.row("ConfigMap a").last_at), (0.0, 35_000.0));
    play.feed.notice(36_000.0, "relist of events (410)");
    assert_eq!(play.feed.rows().next().unwrap().to_string(), "relist of events (410)");
    // A filter hides it, and without one it stands at its time again.
    for (filter, names) in [("b", vec!["ConfigMap b"]), ("", vec!["", "ConfigMap b", "ConfigMap a"])] {
        play.feed.set_filter(Filter::parse(filter).unwrap());
        assert_eq!(play.names(), names);
    }
    // What repeats itself for long begins anew, so that it is seen.
    let mut at = 40_000.0;
    while at < 700_000.0 {
        play.set(at, "ConfigMap", "a", "", json!({"data": {"x": at.to_string()}}));
        at += 20_000.0;
    }
    assert_eq!(play.names(), ["ConfigMap a", "", "ConfigMap b", "ConfigMap a"]);
}

#[test]
fn pods_that_go_on_failing_have_one_row_at_its_place() {
    let mut play = Play::new();
    play.set(0.0, "Deployment", "a", "", asks(1));
    play.set(1.0, "ReplicaSet", "r", "a", asks(3));
    let waits = |reason: &str| {
        let mut pod = pod("n", "False", reason);
        pod["status"]["phase"] = json!("Pending");
        pod
    };
    for number in 0..3 {
        play.set(2.0, "Pod", &format!("p{number}"), "r", waits("ContainerCreating"));
    }
    let mut at = 1_000.0;
    for wait in [10_000.0, 20_000.0, 40_000.0, 80_000.0, 160_000.0, 300_000.0] {
        for number in 0..3 {
            let name = format!("p{number}");
            play.set(at, "Pod", &name, "r", waits("ErrImagePull"));
            play.event(at + 1.0, &format!("e{number}"), ("Pod", &name, &name), ("Warning", "Failed"));
            play.set(at + 2.0, "Pod", &name, "r", waits("ImagePullBackOff"));
            at += 10.0;
        }
        play.set(at, "ConfigMap", &format!("c{at}"), "", json!({}));
        at += wait;
    }
    let names = play.names();
    assert_eq!(names.len(), 6 + 5, "{names:#?}");
    assert!(names[..6].iter().all(|name| name.starts_with("ConfigMap")), "{names:#?}");
    let block = ["Deployment a", "  ReplicaSet r", "    3 Pods of Owner r", "    3 Pods of Owner r", "  3 Warnings"];
    assert_eq!(names[6..], block);
    let failing = play.feed.rows().filter(|row| row.name() == "3 Pods of Owner r" && row.fails).collect::<Vec<_>>();
    assert_eq!((failing.len(), failing[0].count), (1, 36));
    assert!(text(failing[0]).starts_with("status ContainerCreating → ImagePullBackOff"));
}

#[test]
fn a_pod_that_crashes_again_after_minutes_has_one_row() {
    let mut play = Play::new();
    play.list("Pod", "p", "r", pod("n", "True", ""));
    let mut at = 0.0;
    for wait in [20_000.0, 40_000.0, 80_000.0, 160_000.0, 300_000.0, 300_000.0] {
        play.set(at, "Pod", "p", "r", pod("n", "False", "CrashLoopBackOff"));
        play.event(at + 1.0, "e", ("Pod", "p", "p"), ("Warning", "BackOff"));
        play.set(at + wait, "Pod", "p", "r", pod("n", "True", ""));
        at += wait + 5_000.0;
    }
    assert_eq!(play.names(), ["Pod p", "  1 Warning"]);
}

#[test]
fn warnings_are_distinguished_from_other_events_and_keep_their_message() {
    let mut play = Play::new();
    play.set(0.0, "Pod", "p", "", json!({}));
    for number in 0..10 {
        let what = if number % 3 == 0 { ("Warning", "Failed") } else { ("Normal", "Pulling") };
        play.event(number as f64, &format!("e{number}"), ("Pod", "p", "p"), what);
    }
    let long = "quota ".repeat(100);
    let rest = json!({"involvedObject": {"uid": "p"}, "type": "Warning", "reason": "FailedCreate", "message": long});
    play.set(20.0, "Event", "last", "", rest);
    assert_eq!(play.names(), ["Pod p", "  5 Warnings", "  6 Events"]);
    let warnings = play.row("5 Warnings");
    assert_eq!(warnings.message.as_ref().unwrap().kept(), long);
    assert!(warnings.is_warning && !play.row("6 Events").is_warning);
    assert_eq!(text(warnings), format!("added, reason 4 Failed, 1 FailedCreate, message {long}"));
    // In the opened row the message is whole, too.
    let line = play.feed.lines().last().unwrap();
    assert_eq!(line.to_string(), format!("added, type Warning, reason FailedCreate, message {long}"));
    let cut = json!({"involvedObject": {"uid": "p"}, "reason": "X", "message": "x".repeat(2_000)});
    play.set(21.0, "Event", "cut", "", cut);
    assert!(play.feed.lines().last().unwrap().to_string().ends_with(&format!("{}…", "x".repeat(1_000))));
}

#[test]
fn the_reason_is_not_hidden_by_an_event_that_names_the_state_alone() {
    let mut play = Play::new();
    play.set(0.0, "Pod", "p", "", json!({}));
    let why = "Failed to pull image \"web:2-typo\": not found";
    let mut at = 1.0;
    for name in ["first", "again"] {
        for (number, message) in
            ["Error: ErrImagePull", why, "Error: ErrImagePull", "Error: ImagePullBackOff"].iter().enumerate()
        {
            let rest =
                json!({"involvedObject": {"uid": "p"}, "type": "Warning", "reason": "Failed", "message": message});
            play.set(at, "Event", &format!("{name}-{number}"), "", rest);
            at += 1.0;
            let shown = play.feed.rows().find(|row| row.is_warning).unwrap().message.clone().unwrap();
            // Where nothing better is known, the state is shown.
            let expected = if name == "first" && number == 0 { *message } else { why };
            assert_eq!(shown.kept(), expected);
        }
    }
    let rest = json!({"involvedObject": {"uid": "p"}, "type": "Warning", "reason": "Failed", "message": "Error: no such file"});
    play.set(at, "Event", "other", "", rest);
    let shown = play.feed.rows().find(|row| row.is_warning).unwrap().message.clone().unwrap();
    assert_eq!(shown.kept(), "Error: no such file");
}

#[test]
fn an_opened_row_names_what_says_as_much_and_how_much_more_there_is() {
    let mut play = Play::new();
    let images = |tag: &str| {
        let containers = ["a", "b"].map(|name| json!({"name": name, "image": format!("{name}:{tag}"), "args": [tag]}));
        json!({"generation": 1, "spec": {"containers": containers}})
    };
    play.list("Pod", "p", "", images("1"));
    play.set(0.0, "Pod", "p", "", images("2"));
    let line = play.feed.lines().last().unwrap();
    let words = "spec.containers[a].image a:1 → a:2, spec.containers[b].image b:1 → b:2 + 2 more fields";
    assert_eq!(line.to_string(), words);
    let words = "image of a 1 → 2, image of b 1 → 2 + 2 more fields";
    assert_eq!(text(play.row("Pod p")), words);
}

#[test]
fn ordinary_life_is_distinguished_from_what_needs_somebody() {
    let check = |expected: bool, steps: &dyn Fn(&mut Play), name: &str| {
        let mut play = Play::new();
        steps(&mut play);
        assert_eq!(play.row(name).is_ordinary(), expected, "{name}: {}", play.row(name));
    };
    let phase = |phase: &str| json!({"generation": 1, "spec": {}, "status": {"phase": phase}});
    let going = |state: Value| {
        json!({"generation": 1, "spec": {"nodeName": "n"}, "deletionTimestamp": "2026-01-01T00:00:00Z", "status": {"phase": "Running",
            "conditions": [{"type": "Ready", "status": "False"}], "containerStatuses": [{"name": "c", "state": state}]}})
    };
    let comes_up = |play: &mut Play| {
        play.set(0.0, "Pod", "p", "r", phase("Pending"));
        play.set(1.0, "Pod", "p", "r", pod("n", "False", "ContainerCreating"));
        play.set(2.0, "Pod", "p", "r", pod("n", "True", ""));
    };
    check(true, &comes_up, "Pod p");
    let fails = |play: &mut Play| {
        comes_up(play);
        play.set(3.0, "Pod", "p", "r", pod("n", "True", "CrashLoopBackOff"));
        play.set(4.0, "Pod", "p", "r", pod("n", "True", ""));
    };
    check(false, &fails, "Pod p");
    let scaled_down = |play: &mut Play| {
        play.list("ReplicaSet", "r", "a", asks(3));
        play.list("Pod", "p", "r", pod("n", "True", ""));
        play.set(0.0, "Deployment", "a", "", asks(2));
        play.set(1.0, "ReplicaSet", "r", "a", asks(2));
        play.set(2.0, "Pod", "p", "r", going(json!({"running": {}})));
        play.set(3.0, "Pod", "p", "r", going(json!({"terminated": {"exitCode": 143, "reason": "Error"}})));
        let line = play.objects.delete(4.0, "Pod", "p");
        play.feed.push(line);
    };
    check(true, &scaled_down, "Pod p");
    check(true, &scaled_down, "ReplicaSet r");
    check(false, &scaled_down, "Deployment a");
    let deleted = |play: &mut Play| {
        play.list("Pod", "p", "r", pod("n", "True", ""));
        play.set(2.0, "Pod", "p", "r", going(json!({"running": {}})));
    };
    check(false, &deleted, "Pod p");
    let probe = |ends: &'static str| {
        move |play: &mut Play| {
            play.list("Pod", "p", "r", pod("n", "True", ""));
            play.set(0.0, "Pod", "p", "r", pod("n", "False", ""));
            play.set(1.0, "Pod", "p", "r", pod("n", ends, ""));
        }
    };
    check(true, &probe("True"), "Pod p");
    check(false, &probe("False"), "Pod p");
    let completes = |play: &mut Play| {
        play.list("Pod", "p", "j", pod("n", "True", ""));
        play.set(0.0, "Pod", "p", "j", phase("Succeeded"));
        let line = play.objects.delete(1.0, "Pod", "p");
        play.feed.push(line);
    };
    check(true, &completes, "Pod p");
    let events = |kind: &'static str| move |play: &mut Play| play.event(0.0, "e", ("Pod", "p", "p"), (kind, "X"));
    check(true, &events("Normal"), "Event e");
    check(false, &events("Warning"), "Event e");
    let status = |from: u64, to: u64| {
        move |play: &mut Play| {
            let status = |ready: u64| json!({"generation": 1, "status": {"readyReplicas": ready}});
            play.list("Deployment", "a", "", status(from));
            play.set(0.0, "Deployment", "a", "", status(to));
        }
    };
    check(true, &status(1, 2), "Deployment a");
    check(false, &status(2, 1), "Deployment a");
    let labelled = |play: &mut Play| {
        play.list("Deployment", "a", "", json!({"generation": 1}));
        play.set(0.0, "Deployment", "a", "", json!({"generation": 1, "annotations": {"x": "y"}}));
    };
    check(false, &labelled, "Deployment a");
}
