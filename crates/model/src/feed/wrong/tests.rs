//! What is wrong, from the states of objects: each fault, and what is none.

use kubechurn_changes::line::{Line, ReceivedChange};
use kubechurn_changes::noise::Marks;
use kubechurn_client::api::object::decode_or_flag;
use kubechurn_columns::kinds::kind;
use serde_json::{Value, json};

use super::*;

/// 2026-11-25T10:00:00Z, at 1,000,000 ms.
const WALL: &str = "2026-11-25T10:00:00Z";
const BEGAN: f64 = 1_000_000.0;

/// A uid for each name. Only a UUID is the uid of what an Event is about.
fn uid(name: &str) -> String {
    let number = name.bytes().fold(0_u64, |number, byte| number.wrapping_mul(131) + u64::from(byte));
    format!("00000000-0000-4000-8000-{:012x}", number & 0xffff_ffff_ffff)
}

#[derive(Default)]
struct Play {
    wrong: WrongNow,
    texts: FxHashMap<String, String>,
    seq: u64,
    pods_on: Option<usize>,
}

impl Play {
    fn receive(&mut self, at: f64, delta_type: DeltaType, name: &str, rest: Value) {
        let kind = kind(name).unwrap();
        let mut object = json!({"metadata": {"namespace": "shop", "resourceVersion": "1"}});
        for (member, value) in rest.as_object().unwrap() {
            match (member.as_str(), object.get_mut(member)) {
                ("metadata", Some(Value::Object(metadata))) => metadata.extend(value.as_object().unwrap().clone()),
                _ => object[member] = value.clone(),
            }
        }
        object["metadata"]["uid"] = uid(object["metadata"]["name"].as_str().unwrap()).into();
        let text = object.to_string();
        let decoded = decode_or_flag(kind.decode, &text).unwrap();
        let wall = Timestamp(Timestamp::parse(WALL).unwrap().0 + ((at - BEGAN) / 1_000.0) as i64);
        let received =
            Received { resource: kind.resource, now: at, wall, delta_type, object: &decoded, text: Some(&text) };
        self.wrong.received(received);
        self.seq += 1;
        let old = self.texts.insert(decoded.uid.to_string(), text.clone());
        let change = ReceivedChange {
            seq: self.seq,
            at,
            kind: kind.resource.kind.into(),
            key: decoded.key.clone(),
            uid: decoded.uid.clone(),
            delta_type,
            old: old.as_deref(),
            new: Some(&text),
        };
        self.wrong.changed(&Line::new(change, &Marks::default()), Some(&text));
    }

    fn list(&mut self, name: &str, rest: Value) {
        self.receive(BEGAN, DeltaType::Replaced, name, rest);
    }

    fn set(&mut self, at: f64, name: &str, rest: Value) {
        self.receive(BEGAN + at, DeltaType::Updated, name, rest);
    }

    fn entries(&mut self, at: f64) -> Vec<Entry> {
        let pods_on = self.pods_on;
        self.wrong.look(BEGAN + at, &mut |_| pods_on);
        self.wrong.entries().to_vec()
    }

    fn sentences(&mut self, at: f64) -> Vec<String> {
        let now = |entry: &Entry| entry.ended_at.is_none();
        self.entries(at).iter().filter(|entry| now(entry)).map(Entry::sentence).collect()
    }
}

fn owned(name: &str, kind: &str, owner: &str) -> Value {
    json!({"name": name, "ownerReferences":
        [{"apiVersion": "apps/v1", "kind": kind, "name": owner, "uid": uid(owner), "controller": true}]})
}

fn deployment(image: &str, generation: u32, revision: u32, replicas: u32) -> Value {
    json!({"metadata": {"name": "checkout", "generation": generation,
            "annotations": {"deployment.kubernetes.io/revision": revision.to_string()},
            "managedFields": [{"manager": "kubectl-set", "operation": "Update", "time": format!("2026-11-25T10:00:0{generation}Z"),
                "fieldsType": "FieldsV1", "fieldsV1": {"f:spec": {"f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"c\"}": {"f:image": {}}}}}}}}]},
        "spec": {"replicas": replicas, "template": {"spec": {"containers": [{"name": "c", "image": image}]}}}, "status": {}})
}

fn set(name: &str, revision: u32, replicas: u32) -> Value {
    let mut metadata = owned(name, "Deployment", "checkout");
    metadata["annotations"] = json!({"deployment.kubernetes.io/revision": revision.to_string()});
    json!({"metadata": metadata, "spec": {"replicas": replicas}, "status": {}})
}

fn pod(name: &str, owner: &str, container: Value) -> Value {
    json!({"metadata": owned(name, "ReplicaSet", owner),
        "spec": {"containers": [{"name": "c", "image": "example/checkout:9-typo"}]},
        "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "False", "lastTransitionTime": "2026-11-25T09:58:00Z"}],
            "containerStatuses": [container]}})
}

fn waiting(reason: &str) -> Value {
    json!({"name": "c", "restartCount": 4, "state": {"waiting": {"reason": reason, "message": "it says why"}},
        "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}})
}

fn running() -> Value {
    json!({"name": "c", "ready": true, "restartCount": 4, "state": {"running": {}}})
}

/// A Deployment of six Pods, and a new version whose image does not exist.
fn bad_image() -> Play {
    let mut play = Play::default();
    play.list("deployments", deployment("example/checkout:1.14", 1, 1, 6));
    play.list("replicasets", set("old", 1, 6));
    play.set(100.0, "deployments", deployment("example/checkout:9-typo", 2, 1, 6));
    play.receive(BEGAN + 120.0, DeltaType::Added, "replicasets", set("new", 2, 3));
    for name in ["a", "b", "c"] {
        play.set(200.0, "pods", pod(name, "new", waiting("ContainerCreating")));
    }
    assert!(play.sentences(300.0).is_empty(), "a Pod that starts waits");
    for name in ["a", "b", "c"] {
        play.set(1_000.0, "pods", pod(name, "new", waiting("ErrImagePull")));
    }
    play
}

#[test]
fn pods_that_cannot_pull_are_one_entry_of_their_deployment_that_began_with_its_change() {
    let mut play = bad_image();
    let entries = play.entries(1_000.0);
    let sentences: Vec<String> = entries.iter().map(Entry::sentence).collect();
    assert_eq!(sentences, ["Deployment shop/checkout: 3 of 6 Pods cannot pull example/checkout:9-typo"]);
    assert_eq!(
        (entries[0].since, entries[0].subject.resource.map(|one| one.kind)),
        (BEGAN + 1_000.0, Some("Deployment"))
    );
    let began = entries[0].began.as_ref().unwrap();
    let words: Vec<String> = began.words().into_iter().map(|(words, _)| words).collect();
    assert_eq!((words.join(" "), &*began.writer, began.seq), ("image of c 1.14 → 9-typo".into(), "kubectl-set", 3));
    // The back-off is the same fault.
    play.set(5_000.0, "pods", pod("a", "new", waiting("ImagePullBackOff")));
    assert_eq!(play.entries(5_000.0)[0].since, BEGAN + 1_000.0);
    // It is taken back, and the Pods go with their ReplicaSet.
    play.set(9_000.0, "replicasets", set("new", 2, 0));
    let over = play.entries(9_000.0);
    assert_eq!((over.len(), over[0].ended_at), (1, Some(BEGAN + 9_000.0)), "{over:#?}");
    assert!(play.entries(9_001.0 + OVER_FOR).is_empty());
}

#[test]
fn of_two_changes_within_a_moment_that_one_is_named_whose_template_the_pods_have() {
    let mut play = Play::default();
    let with = |name: &str, revision: u32, image: &str| {
        let mut made = set(name, revision, 1);
        made["spec"]["template"] = json!({"metadata": {"labels": {"pod-template-hash": name}}, "spec": {"containers": [{"name": "c", "image": image}]}});
        made
    };
    play.list("deployments", deployment("example/checkout:1", 1, 1, 2));
    play.list("replicasets", with("old", 1, "example/checkout:1"));
    // The controller has numbered no ReplicaSet when the second change comes.
    play.set(100.0, "deployments", deployment("example/checkout:2", 2, 1, 2));
    play.set(1_100.0, "deployments", deployment("example/checkout:3", 3, 1, 2));
    play.receive(BEGAN + 1_200.0, DeltaType::Added, "replicasets", with("two", 2, "example/checkout:2"));
    play.receive(BEGAN + 1_300.0, DeltaType::Added, "replicasets", with("three", 3, "example/checkout:3"));
    play.set(2_000.0, "pods", pod("a", "two", waiting("CrashLoopBackOff")));
    play.set(2_000.0, "pods", pod("b", "three", waiting("CrashLoopBackOff")));
    let mut began: Vec<String> = play
        .entries(3_000.0)
        .iter()
        .map(|entry| {
            let words = entry.began.as_ref().map(Change::words).unwrap_or_default();
            words.into_iter().map(|(words, _)| words).collect::<Vec<_>>().join(" ")
        })
        .collect();
    began.sort();
    assert_eq!(began, ["image of c 1 → 2", "image of c 2 → 3"]);
}

#[test]
fn another_version_s_pods_did_not_begin_with_a_change_that_made_none_of_them() {
    let mut play = bad_image();
    play.set(2_000.0, "pods", pod("older", "old", waiting("CrashLoopBackOff")));
    let entries = play.entries(2_000.0);
    let crash = entries.iter().find(|entry| matches!(entry.fault, Fault::Crash { .. })).unwrap();
    assert_eq!(crash.sentence(), "Deployment shop/checkout: 1 of 6 Pods crashes: OOMKilled, exit code 137, 4 restarts");
    assert_eq!(crash.began, None, "no change of its own explains it");
}

#[test]
fn that_a_pod_was_created_is_the_beginning_of_its_own_trouble_and_explains_none_of_what_made_it() {
    let mut play = Play::default();
    // Its ReplicaSet is not received.
    play.receive(BEGAN, DeltaType::Added, "pods", pod("one-x2v", "one", waiting("CrashLoopBackOff")));
    let mut alone = pod("alone", "", waiting("CrashLoopBackOff"));
    alone["metadata"].as_object_mut().unwrap().remove("ownerReferences");
    play.receive(BEGAN, DeltaType::Added, "pods", alone);
    let words = |entry: &Entry| {
        let words = row::of_entry(entry, true).began.into_iter().map(|(words, _)| words);
        (entry.subject.key.name.to_string(), words.collect::<Vec<_>>().join(" "))
    };
    let mut began: Vec<(String, String)> = play.entries(2_000.0).iter().map(words).collect();
    began.sort();
    let expected = [
        ("alone", "began with its creation"),
        ("one", "began with the creation of Pod one-x2v and no change of its own explains it"),
    ];
    assert_eq!(began, expected.map(|(name, words)| (name.to_owned(), words.to_owned())));
}

#[test]
fn a_crash_loop_is_one_entry_while_its_container_runs_for_a_moment() {
    let mut play = Play::default();
    play.list("deployments", deployment("a:1", 1, 1, 3));
    play.list("replicasets", set("one", 1, 3));
    for turn in 0..5 {
        let at = f64::from(turn) * 10_000.0;
        play.set(
            at,
            "pods",
            pod("a", "one", json!({"name": "c", "restartCount": turn, "state": {"terminated": {"exitCode": 1}}})),
        );
        assert_eq!(play.sentences(at).len(), 1, "{turn}");
        play.set(at + 2_000.0, "pods", pod("a", "one", running()));
        assert_eq!((play.sentences(at + 9_000.0).len(), play.wrong.entries()[0].since), (1, BEGAN), "{turn}");
    }
    assert!(play.sentences(58_000.0).is_empty() && play.wrong.entries()[0].ended_at.is_some());
    play.receive(BEGAN + 59_000.0, DeltaType::Deleted, "pods", pod("a", "one", running()));
    assert!(play.entries(130_000.0).is_empty() && play.wrong.held.is_empty());
}

#[test]
fn what_was_there_before_the_page_is_wrong_at_once_and_since_it_began() {
    let mut play = Play::default();
    play.list("pods", pod("a", "one", waiting("ImagePullBackOff")));
    let entries = play.entries(0.0);
    // Its owner was not received: its name is known from the Pod.
    assert_eq!(entries[0].sentence(), "ReplicaSet shop/one: 1 Pod cannot pull example/checkout:9-typo");
    assert_eq!(entries[0].since, BEGAN - 120_000.0);
    play.list("replicasets", set("one", 1, 2));
    play.list("deployments", deployment("a:1", 1, 1, 2));
    assert_eq!(play.sentences(200.0), ["Deployment shop/checkout: 1 of 2 Pods cannot pull example/checkout:9-typo"]);
}

#[test]
fn an_entry_is_found_by_what_it_is_about_and_by_each_object_of_it() {
    let mut play = bad_image();
    let entries = play.entries(1_200.0);
    let found = |name: &str| play.wrong.entry_of(&Uid::new(&uid(name)), 0.0).map(Entry::sentence);
    for name in ["checkout", "new", "a", "b", "c"] {
        assert_eq!(found(name), Some(entries[0].sentence()), "{name}");
    }
    for name in ["old", "another", ""] {
        assert_eq!(found(name), None, "{name}");
    }
    assert!(play.wrong.entry_of(&Uid::default(), 0.0).is_none());
    let (subject, resource) = (&entries[0].subject, kind("deployments").unwrap().resource);
    assert!(subject.is(&resource, &subject.key));
    assert!(
        !subject.is(&resource.at("west"), &subject.key),
        "the Deployment of this name in another cluster is another"
    );
}

#[test]
fn what_starts_goes_or_waits_a_moment_is_not_wrong() {
    let mut play = Play::default();
    let unscheduled = |name: &str| {
        json!({"metadata": owned(name, "ReplicaSet", "one"), "spec": {}, "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled",
            "status": "False", "reason": "Unschedulable", "message": "0/5 nodes are available", "lastTransitionTime": WALL}]}})
    };
    play.list("replicasets", set("one", 1, 3));
    play.set(0.0, "pods", unscheduled("a"));
    let mut going = pod("b", "one", waiting("CrashLoopBackOff"));
    going["metadata"]["deletionTimestamp"] = json!("2026-11-25T10:00:30Z");
    play.set(0.0, "pods", going);
    play.set(0.0, "pods", pod("c", "one", waiting("PodInitializing")));
    play.set(
        0.0,
        "persistentvolumeclaims",
        json!({"metadata": {"name": "d", "creationTimestamp": WALL}, "status": {"phase": "Pending"}}),
    );
    assert!(play.sentences(4_000.0).is_empty(), "{:?}", play.wrong.entries());
    assert_eq!(
        play.sentences(6_000.0),
        ["Deployment shop/checkout: 1 Pod cannot be scheduled: 0/5 nodes are available"]
    );
    play.set(6_500.0, "pods", pod("a", "one", running()));
    assert_eq!(play.sentences(11_000.0), ["PersistentVolumeClaim shop/d: waits for a volume"]);
    // The Pod that was to end half a minute ago is still there.
    let late = play.sentences(61_000.0);
    assert!(late.contains(&"Pod shop/b: is being deleted: it should be gone by now".into()), "{late:?}");
}

#[test]
fn what_is_refused_for_another_reason_after_it_was_over_began_anew() {
    let mut play = Play::default();
    let refused = |message: &str| {
        let mut refused = set("new", 1, 6);
        refused["status"]["conditions"] =
            json!([{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}]);
        refused
    };
    let quota = |used: u32| {
        refused(&format!("pods \"x-1\" is forbidden: exceeded quota: pods, requested: pods=1, used: pods={used}"))
    };
    play.list("deployments", deployment("a:1", 1, 1, 6));
    play.list("replicasets", set("new", 1, 6));
    let mut since = |at: f64, object: Value| {
        play.set(at, "replicasets", object);
        let entries = play.entries(at + 5_000.0);
        let open = entries.iter().find(|entry| entry.ended_at.is_none());
        open.map(|entry| entry.since - BEGAN)
    };
    assert_eq!(since(0.0, quota(2)), Some(0.0));
    assert_eq!(since(10_000.0, set("new", 1, 6)), None);
    assert_eq!(since(20_000.0, quota(3)), Some(0.0), "the same trouble goes on");
    assert_eq!(since(30_000.0, set("new", 1, 6)), None);
    assert_eq!(since(40_000.0, refused("serviceaccount \"runner\" not found")), Some(40_000.0));
}

#[test]
fn each_other_kind_s_failure_is_an_entry() {
    let mut play = Play { pods_on: Some(14), ..Play::default() };
    let condition = |name: &str, status: &str, reason: &str, message: &str| json!([{"type": name, "status": status, "reason": reason, "message": message, "lastTransitionTime": "2026-11-25T09:59:00Z"}]);
    let node = |status: &str| json!({"metadata": {"name": "node-4"}, "status": {"conditions": condition("Ready", status, "", "")}});
    play.list("nodes", node("True"));
    play.set(10.0, "nodes", node("Unknown"));
    let quota = "pods \"x-1\" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=2, limited: pods=2";
    let mut refused = set("new", 1, 6);
    refused["status"]["conditions"] = condition("ReplicaFailure", "True", "FailedCreate", quota);
    play.list("deployments", deployment("a:1", 1, 1, 2));
    play.set(20.0, "deployments", deployment("a:1", 2, 1, 6));
    play.set(30.0, "replicasets", refused);
    let failed = condition("Failed", "True", "BackoffLimitExceeded", "Job has reached the specified backoff limit");
    play.list("jobs", json!({"metadata": {"name": "report"}, "status": {"conditions": failed}}));
    let mut late = deployment("a:1", 1, 1, 2);
    late["metadata"]["name"] = json!("late");
    late["status"]["conditions"] = condition("Progressing", "False", "ProgressDeadlineExceeded", "");
    play.list("deployments", late);
    let held = json!({"metadata": {"name": "stays", "deletionTimestamp": "2026-11-25T09:00:00Z", "finalizers": ["example.org/keep"]}});
    play.list("configmaps", held);
    play.list("namespaces", json!({"metadata": {"name": "leaving", "deletionTimestamp": "2026-11-25T09:00:00Z"}, "spec": {"finalizers": ["kubernetes"]},
        "status": {"phase": "Terminating", "conditions": condition("NamespaceContentRemaining", "True", "SomeResourcesRemain", "1 machine remains")}}));
    let mut sentences = play.sentences(100.0);
    sentences.sort();
    assert_eq!(
        sentences,
        [
            "ConfigMap shop/stays: is being deleted: held by example.org/keep",
            "Deployment shop/checkout: may not create Pods: exceeded quota: pods, requested: pods=1, used: pods=2, limited: pods=2",
            "Deployment shop/late: does not progress: its rollout is past its deadline",
            "Job shop/report: failed: Job has reached the specified backoff limit",
            "Namespace shop/leaving: is being deleted: held by 1 machine remains",
            "Node shop/node-4: not ready, 14 Pods on it",
        ]
    );
    let began = |name: &str| {
        let entry = play.wrong.entries().iter().find(|entry| &*entry.subject.key.name == name);
        let words = entry.and_then(|entry| entry.began.as_ref()).map(Change::words).unwrap_or_default();
        words.into_iter().map(|(words, _)| words).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(["checkout", "node-4", "report"].map(began), ["replicas 2 → 6", "Ready True → Unknown", ""]);
}

impl Play {
    /// An Event about the object of this name, which occurred at this moment.
    fn event(&mut self, at: f64, delta_type: DeltaType, object: &str, warning: (&str, &str)) {
        let (reason, message) = warning;
        let kind = if reason.starts_with("Successful") { "Normal" } else { "Warning" };
        let seconds = Timestamp::parse(WALL).unwrap().0 + (at / 1_000.0) as i64;
        let seen = kubechurn_client::record::time::Time::from_seconds(seconds).to_string();
        let event = json!({"metadata": {"name": format!("{object}.{reason}")}, "type": kind, "reason": reason, "message": message,
            "involvedObject": {"uid": uid(object), "name": object, "fieldPath": "spec.containers{c}"}, "firstTimestamp": seen, "lastTimestamp": seen});
        self.receive(BEGAN + at.max(0.0), delta_type, "events", event);
    }
}

const REFUSED: &str =
    "pods \"x-1\" is forbidden: exceeded quota: pods, requested: pods=1, used: pods=2, limited: pods=2";

#[test]
fn workloads_without_a_condition_for_it_may_not_create_pods_as_their_events_say_until_they_have_them() {
    let quota = ": may not create Pods: exceeded quota: pods, requested: pods=1, used: pods=2, limited: pods=2";
    let refused = |lead: &str| format!("{lead}{REFUSED}");
    let stateful = |asks: u32, has: u32| json!({"metadata": {"name": "db"}, "spec": {"replicas": asks}, "status": {"replicas": has}});
    let daemon = |has: u32| json!({"metadata": {"name": "agent"}, "status": {"desiredNumberScheduled": 3, "currentNumberScheduled": has}});
    let job = |status: Value| json!({"metadata": owned("report", "CronJob", "reports"), "spec": {"parallelism": 2, "completions": 4}, "status": status});
    for (kind, name, short, well, lead) in [
        (
            "statefulsets",
            "StatefulSet shop/db",
            stateful(4, 2),
            stateful(4, 4),
            "create Pod db-2 in StatefulSet db failed error: ",
        ),
        ("daemonsets", "DaemonSet shop/agent", daemon(1), daemon(3), "Error creating: "),
        ("jobs", "Job shop/report", job(json!({"active": 1})), job(json!({"active": 2})), "Error creating: "),
        ("jobs", "Job shop/report", job(json!({"active": 1})), job(json!({"succeeded": 4})), "Error creating: "),
    ] {
        let own = short["metadata"]["name"].as_str().unwrap().to_owned();
        // What comes first is not the same each time.
        for is_event_first in [true, false] {
            let mut play = Play::default();
            if is_event_first {
                play.event(1_000.0, DeltaType::Added, &own, ("FailedCreate", &refused(lead)));
            }
            play.set(1_100.0, kind, short.clone());
            if !is_event_first {
                assert_eq!(play.sentences(60_000.0), [""; 0], "{kind}: what has fewer Pods may be on its way");
                play = Play::default();
                play.set(1_100.0, kind, short.clone());
                play.event(2_000.0, DeltaType::Added, &own, ("FailedCreate", &refused(lead)));
            }
            let sentences = play.sentences(4_500.0);
            assert_eq!(sentences, [format!("{name}{quota}")], "{kind}");
            play.set(9_000.0, kind, well.clone());
            assert_eq!(play.sentences(9_200.0), [""; 0], "{kind}");
            // An old Event says nothing of what is short now.
            play.set(60_000.0, kind, short.clone());
            assert_eq!(play.sentences(120_000.0), [""; 0], "{kind}");
        }
    }
    // Pods are created again, and are not ready one after another.
    let mut play = Play::default();
    play.set(1_000.0, "statefulsets", stateful(4, 2));
    play.event(1_000.0, DeltaType::Added, "db", ("FailedCreate", REFUSED));
    assert_eq!(play.sentences(4_000.0).len(), 1);
    play.event(20_000.0, DeltaType::Added, "db", ("SuccessfulCreate", "create Pod db-2 in StatefulSet db successful"));
    play.set(20_100.0, "statefulsets", stateful(4, 3));
    assert_eq!(play.sentences(20_200.0), [""; 0]);
}

#[test]
fn a_cron_job_that_may_not_create_jobs_is_an_entry_until_it_creates_one_or_is_suspended() {
    let cron_job = |suspend: bool| json!({"metadata": {"name": "reports"}, "spec": {"schedule": "* * * * *", "suspend": suspend}, "status": {}});
    let refused = "Error creating job: jobs.batch \"reports-1\" is forbidden: exceeded quota: jobs, requested: \
                   count/jobs.batch=1, used: count/jobs.batch=2, limited: count/jobs.batch=2";
    let sentence = "CronJob shop/reports: may not create Jobs: exceeded quota: jobs, requested: count/jobs.batch=1, used: \
                    count/jobs.batch=2, limited: count/jobs.batch=2";
    // The object and the Event come in any order, before the page began or after.
    for delta_type in [DeltaType::Added, DeltaType::Replaced] {
        for is_event_first in [true, false] {
            let play = || {
                let mut play = Play::default();
                for is_event in [is_event_first, !is_event_first] {
                    match is_event {
                        true => play.event(0.0, delta_type, "reports", ("FailedCreate", refused)),
                        false => play.receive(BEGAN, delta_type, "cronjobs", cron_job(false)),
                    }
                }
                assert_eq!(play.sentences(3_000.0), [sentence], "{delta_type:?} {is_event_first}");
                // What else is written of it changes nothing.
                play.set(4_000.0, "cronjobs", cron_job(false));
                assert_eq!(play.sentences(5_000.0), [sentence]);
                play
            };
            let mut creates = play();
            creates.event(20_000.0, DeltaType::Added, "reports", ("SuccessfulCreate", "Created job reports-1"));
            assert_eq!(creates.sentences(20_200.0), [""; 0]);
            creates.sentences(20_200.0 + OVER_FOR);
            creates.sentences(21_400.0 + OVER_FOR);
            assert!(creates.wrong.is_quiet(), "nothing is kept of it");
            let mut suspended = play();
            suspended.set(20_000.0, "cronjobs", cron_job(true));
            assert_eq!(suspended.sentences(20_200.0), [""; 0]);
            let mut gone = play();
            gone.receive(BEGAN + 20_000.0, DeltaType::Deleted, "cronjobs", cron_job(false));
            assert_eq!(gone.sentences(20_200.0), [""; 0]);
        }
    }
    // Of one that is suspended, or of which no Event complains, nothing is held.
    let mut well = Play::default();
    well.list("cronjobs", cron_job(false));
    assert!(well.wrong.is_quiet());
    well.set(1_000.0, "cronjobs", cron_job(true));
    well.event(2_000.0, DeltaType::Added, "reports", ("FailedCreate", refused));
    assert!(well.sentences(5_000.0).is_empty() && well.wrong.is_quiet());
}

#[test]
fn what_was_refused_before_the_page_is_known_by_the_event_in_the_list() {
    let mut play = Play::default();
    play.event(-400_000.0, DeltaType::Replaced, "db", ("FailedCreate", REFUSED));
    play.list("statefulsets", json!({"metadata": {"name": "db"}, "spec": {"replicas": 4}, "status": {"replicas": 2}}));
    play.event(-2_000_000.0, DeltaType::Replaced, "old", ("FailedCreate", REFUSED));
    play.list("statefulsets", json!({"metadata": {"name": "old"}, "spec": {}, "status": {}}));
    assert_eq!(play.sentences(100.0).len(), 1);
    assert_eq!(play.wrong.entries()[0].since, BEGAN - 400_000.0);
}

/// A Pod that has a node and whose container is in this state; it is ready or not since this second of the minute.
fn on_node(state: Value, ready: &str, since: u32, more: Value) -> Value {
    let mut container = json!({"name": "c", "ready": ready == "True", "started": true, "state": state});
    container.as_object_mut().unwrap().extend(more["status"].as_object().cloned().unwrap_or_default());
    let mut spec = json!({"name": "c", "readinessProbe": {"periodSeconds": 5}});
    spec.as_object_mut().unwrap().extend(more["spec"].as_object().cloned().unwrap_or_default());
    let is_running = container["state"].get("running").is_some();
    json!({"metadata": owned("a", "ReplicaSet", "one"), "spec": {"nodeName": "node-1", "containers": [spec]},
        "status": {"phase": if is_running { "Running" } else { "Pending" }, "containerStatuses": [container], "conditions": [
            {"type": "PodScheduled", "status": "True", "lastTransitionTime": WALL},
            {"type": "Ready", "status": ready, "lastTransitionTime": format!("2026-11-25T10:00:{since:02}Z")}]}})
}

fn runs(since: u32) -> Value {
    json!({"running": {"startedAt": format!("2026-11-25T10:00:{since:02}Z")}})
}

#[test]
fn a_pod_that_runs_and_is_not_ready_for_longer_than_its_probes_need_is_an_entry() {
    let play = || {
        let mut play = Play::default();
        play.list("deployments", deployment("a:1", 1, 1, 3));
        play.list("replicasets", set("one", 1, 3));
        play
    };
    let sentence = |why: &str| format!("Deployment shop/checkout: 1 of 3 Pods not ready: c: {why}");
    // In its first start: since it runs, one period of its probe and half a minute.
    let mut first = play();
    first.set(2_000.0, "pods", on_node(runs(2), "False", 0, Value::Null));
    assert_eq!(first.sentences(36_000.0), [""; 0]);
    assert_eq!(first.sentences(38_000.0), [sentence("its readiness probe fails")]);
    first.event(
        39_000.0,
        DeltaType::Added,
        "a",
        ("Unhealthy", "Readiness probe failed: HTTP probe failed with statuscode: 503"),
    );
    assert_eq!(first.sentences(39_500.0), [sentence("Readiness probe failed: HTTP probe failed with statuscode: 503")]);
    first.set(40_000.0, "pods", on_node(runs(2), "True", 40, Value::Null));
    assert_eq!(first.sentences(40_500.0), [""; 0]);
    // Lost while it runs: half a minute after that, and not before its probe has begun.
    let mut lost = play();
    let slow = json!({"spec": {"readinessProbe": {"initialDelaySeconds": 40}}});
    lost.set(20_000.0, "pods", on_node(runs(2), "False", 20, slow.clone()));
    assert_eq!(lost.sentences(49_000.0), [""; 0]);
    assert_eq!(lost.sentences(83_000.0), [sentence("its readiness probe fails")]);
    assert_eq!(lost.wrong.entries()[0].began, None, "its version was ready");
    let mut long = play();
    long.set(55_000.0, "pods", on_node(runs(2), "False", 55, slow));
    assert_eq!((long.sentences(84_000.0).len(), long.sentences(86_000.0).len()), (0, 1));
    // A startup probe has its time.
    let mut starts = play();
    let startup =
        json!({"spec": {"startupProbe": {"periodSeconds": 1, "failureThreshold": 60}}, "status": {"started": false}});
    starts.set(2_000.0, "pods", on_node(runs(2), "False", 0, startup));
    assert_eq!(starts.sentences(96_000.0), [""; 0]);
    assert_eq!(starts.sentences(98_000.0), [sentence("its startup probe has not succeeded")]);
}

#[test]
fn a_container_that_crashed_and_runs_unready_goes_from_one_entry_to_the_other() {
    let mut play = Play::default();
    play.list("deployments", deployment("a:1", 1, 1, 3));
    play.list("replicasets", set("one", 1, 3));
    play.set(1_000.0, "pods", pod("a", "one", waiting("CrashLoopBackOff")));
    play.set(5_000.0, "pods", on_node(runs(5), "False", 0, Value::Null));
    assert!(play.sentences(19_000.0)[0].contains(" crash"), "{:?}", play.wrong.entries());
    assert_eq!(play.sentences(21_000.0), [""; 0]);
    assert_eq!(
        play.sentences(41_000.0),
        ["Deployment shop/checkout: 1 of 3 Pods not ready: c: its readiness probe fails"]
    );
}

#[test]
fn a_pod_that_hangs_before_its_containers_run_is_an_entry_with_the_event_s_reason() {
    let creating = || json!({"waiting": {"reason": "ContainerCreating"}});
    let mut play = Play::default();
    play.set(0.0, "pods", on_node(creating(), "False", 0, Value::Null));
    assert_eq!(play.sentences(59_000.0), [""; 0]);
    assert!(!play.wrong.concerns(&Uid::from(uid("a").as_str())), "it starts");
    assert_eq!(play.sentences(61_000.0), ["ReplicaSet shop/one: 1 Pod does not start: ContainerCreating"]);
    let mut play = Play::default();
    play.set(0.0, "pods", on_node(creating(), "False", 0, Value::Null));
    let missing = "MountVolume.SetUp failed for volume \"settings\" : configmap \"flags\" not found";
    play.event(1_000.0, DeltaType::Added, "a", ("FailedMount", missing));
    // What is tried again at once may succeed.
    assert_eq!(play.sentences(2_000.0), [""; 0]);
    assert_eq!(play.sentences(3_500.0), [format!("ReplicaSet shop/one: 1 Pod does not start: {missing}")]);
    play.set(5_000.0, "pods", on_node(runs(5), "True", 5, Value::Null));
    assert_eq!(play.sentences(5_500.0), [""; 0]);
    assert!(play.wrong.held.is_empty());
    // An image that could not be pulled is pulled once more.
    let mut pulls = Play::default();
    let refused = json!({"waiting": {"reason": "ErrImagePull"}});
    for (at, state) in [(0.0, refused.clone()), (70_000.0, creating()), (75_000.0, refused), (90_000.0, creating())] {
        pulls.set(at, "pods", on_node(state, "False", 0, Value::Null));
        assert!(pulls.sentences(at + 500.0)[0].contains("cannot pull"), "{at}: {:?}", pulls.wrong.entries());
    }
    assert!(pulls.sentences(106_000.0)[0].contains("does not start"), "{:?}", pulls.wrong.entries());
    // On a node that is lost nobody starts anything: that is the node's entry.
    let mut lost = Play { pods_on: Some(1), ..Play::default() };
    lost.set(0.0, "pods", on_node(creating(), "False", 0, Value::Null));
    lost.set(
        100.0,
        "nodes",
        json!({"metadata": {"name": "node-1"}, "status": {"conditions": [{"type": "Ready", "status": "Unknown"}]}}),
    );
    assert_eq!(lost.sentences(70_000.0), ["Node shop/node-1: not ready, 1 Pod on it"]);
}

#[test]
fn of_what_is_well_or_no_longer_watched_nothing_is_kept() {
    let mut play = Play::default();
    for name in ["a", "b"] {
        play.list("pods", pod(name, "one", running()));
        play.list("configmaps", json!({"metadata": {"name": name}}));
    }
    play.list("replicasets", set("old", 1, 0));
    assert!(play.wrong.held.is_empty() && play.wrong.workloads.is_empty());
    play.list("pods", pod("c", "one", waiting("ErrImagePull")));
    assert_eq!(play.sentences(0.0).len(), 1);
    play.wrong.keep(&|resource, _| resource.kind != "Pod");
    assert!(play.wrong.held.is_empty());
}

#[test]
fn whatever_comes_is_no_panic() {
    let mut play = Play::default();
    for rest in [
        json!({"metadata": {"name": "a"}, "status": {"containerStatuses": [7, {"state": 7}], "conditions": "x"}}),
        json!({"metadata": {"name": "a", "deletionTimestamp": "soon", "ownerReferences": []}, "status": 7}),
    ] {
        for kind in ["pods", "deployments", "nodes", "jobs", "replicasets", "persistentvolumeclaims"] {
            play.set(1.0, kind, rest.clone());
        }
    }
    assert!(play.sentences(200.0).is_empty(), "{:?}", play.wrong.entries());
}

#[test]
fn an_object_of_another_kind_is_wrong_when_its_condition_says_so() {
    let object = |name: &str, status: &str, reason: &str, message: &str| {
        json!({"metadata": {"name": "one"}, "spec": {}, "status": {"conditions": [{"type": "Other", "status": "True"},
            {"type": name, "status": status, "reason": reason, "message": message}]}})
    };
    // What is not there yet is waited for.
    let mut play = Play::default();
    play.set(0.0, "apiservices", object("Available", "False", "FailedDiscoveryCheck", "no answer"));
    assert!(play.sentences(59_000.0).is_empty());
    let expected = ["APIService shop/one: not available: FailedDiscoveryCheck: no answer"];
    assert_eq!(play.sentences(61_000.0), expected);
    assert_eq!(play.entries(61_000.0)[0].fault.tone(), Tone::Bad, "an API that does not answer is broken");
    play.set(62_000.0, "apiservices", object("Available", "True", "Passed", ""));
    assert!(play.sentences(63_000.0).is_empty(), "it is well again");
    // What says that it failed is wrong at once.
    for (name, status, words) in [
        ("Stalled", "True", "ServiceCIDR shop/one: does not progress: why"),
        ("Degraded", "True", "ServiceCIDR shop/one: degraded: why"),
        ("Degraded", "False", ""),
        ("Ready", "Unknown", ""),
        ("Ready", "True", ""),
        ("Odd", "False", ""),
    ] {
        let mut play = Play::default();
        play.set(0.0, "servicecidrs", object(name, status, "why", "why"));
        let expected: Vec<&str> = Some(words).filter(|words| !words.is_empty()).into_iter().collect();
        assert_eq!(play.sentences(1_000.0), expected, "{name} {status}");
    }
    // A kind of others that is called as one of Kubernetes' own is looked at as any other.
    let node = ApiResource { group: "storage.example.com", ..kind("nodes").unwrap().resource };
    let text = object("Ready", "False", "why", "why").to_string();
    let parts = fault::Parts::of(&text).unwrap();
    let found = fault::read(&node, &parts).unwrap();
    assert!(matches!(found.fault, Fault::Condition { words: "not ready", .. }), "{found:?}");
    assert_eq!(fault::read(&kind("nodes").unwrap().resource, &parts).unwrap().fault, Fault::NotReady);
    // Kinds of Kubernetes have states of their own, and no object is wrong for what is no condition.
    let mut play = Play::default();
    play.set(0.0, "services", object("Ready", "False", "", ""));
    play.set(0.0, "servicecidrs", json!({"metadata": {"name": "two"}, "status": {"conditions": {"Ready": "False"}}}));
    assert!(play.sentences(100_000.0).is_empty());
}
