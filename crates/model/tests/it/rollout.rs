//! Rollouts and lives of Pods, against the frames of a real cluster, which are read here in another way.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubechurn_client::api::object::{ObjectKey, decode_metadata};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::shared_informer::ReceivedDelta;
use kubechurn_columns::kinds::{self, pods};
use kubechurn_model::history::History;
use kubechurn_model::life::event::said;
use kubechurn_model::life::pod::{Life, life};
use kubechurn_model::life::seen::Known;
use kubechurn_model::rollout::bar::{Step, stretches};
use kubechurn_model::rollout::search::{Found, Good, Search};
use serde_json::{Value, json};

/// Until when frames say what had been before the watch, in milliseconds.
const BEFORE: f64 = 500.0;
/// From when on frames are made by hand, in milliseconds.
const AFTER: f64 = 60_000.0;
const DEPLOYMENTS: ApiResource = resource("apps", "deployments", "Deployment");
const SETS: ApiResource = resource("apps", "replicasets", "ReplicaSet");
const JOBS: ApiResource = resource("batch", "jobs", "Job");
const STATEFUL_SETS: ApiResource = resource("apps", "statefulsets", "StatefulSet");
const REVISIONS: ApiResource = resource("apps", "controllerrevisions", "ControllerRevision");

const fn resource(group: &'static str, plural: &'static str, kind: &'static str) -> ApiResource {
    ApiResource { group, version: "v1", plural, kind, namespaced: true, cluster: "" }
}

/// A frame of the recording.
#[derive(Clone)]
struct Frame {
    ms: f64,
    resource: ApiResource,
    kind: String,
    object: Value,
}

fn frames() -> Vec<Frame> {
    let read = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let frame: Value = serde_json::from_str(line["frame"].as_str()?).unwrap();
        let resource = match line["resource"].as_str()? {
            "pods" => pods::KIND.resource,
            "deployments.apps" => DEPLOYMENTS,
            "replicasets.apps" => SETS,
            "statefulsets.apps" => STATEFUL_SETS,
            "jobs.batch" => JOBS,
            "events" => kinds::events::KIND.resource,
            _ => return None,
        };
        let kind = frame["type"].as_str()?.to_owned();
        let is_object = matches!(&*kind, "ADDED" | "MODIFIED" | "DELETED");
        is_object.then(|| Frame { ms: line["ms"].as_f64().unwrap(), resource, kind, object: frame["object"].clone() })
    };
    include_str!("../../../../tests/fixtures/rollout.jsonl").lines().filter_map(read).collect()
}

fn push(history: &mut History, resource: ApiResource, (now, delta_type): (f64, DeltaType), object: &Value) {
    let mut object = object.clone();
    if now >= AFTER || object["metadata"]["resourceVersion"].is_null() {
        // What is made by hand has a version of its own.
        object["metadata"]["resourceVersion"] = json!((now * 10.0).to_string());
    }
    let text = object.to_string();
    let object = Arc::new(decode_metadata(&text).unwrap());
    let received = ReceivedDelta { now, delta_type, object: &object, text: Some(&text), was_known: false };
    history.push(resource, received);
}

fn history(frames: &[Frame]) -> History {
    let mut history = History::new(1 << 26, 0);
    for frame in frames {
        let delta_type = match &*frame.kind {
            "ADDED" if frame.ms < BEFORE => DeltaType::Replaced,
            "ADDED" => DeltaType::Added,
            "MODIFIED" => DeltaType::Updated,
            _ => DeltaType::Deleted,
        };
        push(&mut history, frame.resource, (frame.ms, delta_type), &frame.object);
    }
    history
}

/// What is to be added to a time of the cluster: a Deployment that came while it was watched says when it was created.
fn to_page(frames: &[Frame]) -> f64 {
    let made = frames.iter().find(|frame| frame.kind == "ADDED" && frame.ms > BEFORE && frame.resource == DEPLOYMENTS);
    let made = made.unwrap();
    let time = Timestamp::parse(made.object["metadata"]["creationTimestamp"].as_str().unwrap()).unwrap();
    made.ms - time.0 as f64 * 1_000.0
}

fn key(name: &str) -> ObjectKey {
    let (namespace, name) = name.split_once('/').unwrap();
    ObjectKey::new(namespace, name)
}

fn found(resource: ApiResource, name: &str, when: f64, known: &Known<'_>) -> Option<Found> {
    let mut search = Search::begin(resource, &key(name), when, known);
    // A share of work may be as small as it likes.
    while search.work(known.history, || false) {}
    search.found().cloned()
}

fn is(object: &Value, condition: &str) -> bool {
    let all = object["status"]["conditions"].as_array();
    all.is_some_and(|all| all.iter().any(|one| one["type"] == condition && one["status"] == "True"))
}

/// When the frames show each step of the rollout of a Deployment that was asked for at a time.
fn expected(frames: &[Frame], name: &str, asked: f64) -> BTreeMap<Step, f64> {
    let key = key(name);
    let (namespace, name) = (&*key.namespace, &*key.name);
    let of = |frame: &&Frame, resource: ApiResource| {
        frame.resource == resource && frame.object["metadata"]["namespace"] == *namespace && frame.ms >= asked
    };
    let own = |frame: &&Frame| of(frame, DEPLOYMENTS) && frame.object["metadata"]["name"] == *name;
    let first = |is_it: &dyn Fn(&&Frame) -> bool| frames.iter().find(|frame| is_it(frame)).map(|frame| frame.ms);
    let begun = frames.iter().find(own).unwrap();
    let generation = begun.object["metadata"]["generation"].as_i64();
    let set = frames.iter().find(|frame| of(frame, SETS) && frame.kind == "ADDED").unwrap();
    let set_name = set.object["metadata"]["name"].as_str().unwrap();
    let pod = |frame: &&Frame| {
        of(frame, pods::KIND.resource) && frame.object["metadata"]["ownerReferences"][0]["name"] == *set_name
    };
    let event = |frame: &&Frame, reason: &str| {
        let about = frame.object["involvedObject"]["name"].as_str().unwrap_or_default();
        of(frame, kinds::events::KIND.resource) && frame.object["reason"] == *reason && about.starts_with(set_name)
    };
    let desired = begun.object["spec"]["replicas"].as_u64().unwrap();
    let mut ready: Vec<(String, f64)> = Vec::new();
    for frame in frames.iter().filter(pod).filter(|frame| is(&frame.object, "Ready")) {
        let name = frame.object["metadata"]["name"].to_string();
        if !ready.iter().any(|(known, _)| *known == name) {
            ready.push((name, frame.ms));
        }
    }
    let started = |frame: &&Frame| {
        let statuses = frame.object["status"]["containerStatuses"].as_array();
        pod(frame) && statuses.is_some_and(|all| all.iter().all(|one| one["state"]["running"].is_object()))
    };
    let steps = [
        (Step::Seen, first(&|frame| own(frame) && frame.object["status"]["observedGeneration"].as_i64() == generation)),
        (Step::Made, Some(set.ms)),
        (Step::Created, first(&pod)),
        (Step::Scheduled, first(&|frame| pod(frame) && frame.object["spec"]["nodeName"].is_string())),
        (Step::Pulled, first(&|frame| event(frame, "Pulled"))),
        (Step::Started, first(&started)),
        (Step::Ready, ready.first().map(|(_, at)| *at)),
        (Step::All, ready.get(desired as usize - 1).map(|(_, at)| *at)),
        (
            Step::Done,
            first(&|frame| {
                let count = |name: &str| frame.object["status"][name].as_u64();
                own(frame)
                    && frame.object["status"]["observedGeneration"].as_i64() == generation
                    && ["replicas", "updatedReplicas", "availableReplicas"]
                        .iter()
                        .all(|name| count(name) == Some(desired))
            }),
        ),
    ];
    let mut steps: Vec<(Step, f64)> = steps.into_iter().filter_map(|(step, at)| Some((step, at?))).collect();
    // What is written later than what came of it was so by then.
    for at in (1..steps.len()).rev() {
        steps[at - 1].1 = steps[at - 1].1.min(steps[at].1);
    }
    steps.into_iter().collect()
}

#[test]
fn the_steps_of_a_rollout_are_those_that_the_frames_show() {
    let frames = frames();
    let history = history(&frames);
    let known = Known { history: &history, received: history.received(), at: 50_000.0, to_page: to_page(&frames) };
    for (name, asked, fields) in
        [("shop/cart", 3_858.0, "image"), ("default/web", 14_974.0, ""), ("temp/t", 19_287.0, "")]
    {
        let found = found(DEPLOYMENTS, name, asked + 1.0, &known).unwrap();
        let rollout = &found.rollout;
        assert_eq!(rollout.begun.asked.map(|seen| (seen.at, seen.is_from_object)), Some((asked, false)), "{name}");
        let steps: BTreeMap<Step, f64> = rollout.steps.iter().map(|one| (one.step, one.seen.at)).collect();
        assert_eq!(steps, expected(&frames, name, asked), "{name}");
        assert!(rollout.steps.iter().all(|one| one.seen.seq.is_some()), "each step leads to its version");
        // The one before was there before the watch: only its fields are known.
        match name {
            "temp/t" => assert!(found.good.is_none() && found.compared.is_none() && rollout.begun.is_new),
            _ => {
                assert!(matches!(&found.good, Some(Good::Before { .. })), "{name}: {:?}", found.good);
                let compared = found.compared.as_ref().unwrap();
                assert!(compared.differ.iter().any(|one| one.short.contains(fields)), "{name}: {compared:?}");
                assert!(compared.sentence().starts_with("Of ") && found.pair.is_some());
            }
        }
        let all = stretches(asked, &rollout.steps);
        assert!(all.windows(2).all(|two| two[0].to == two[1].from && two[0].to > two[0].from), "{all:?}");
    }
}

#[test]
fn what_was_known_then_is_what_was_received_by_then() {
    let frames = frames();
    let history = history(&frames);
    let to_page = to_page(&frames);
    for (at, ready) in [(3_900.0, 0), (5_000.0, 1), (5_700.0, 2), (6_290.0, 3)] {
        let known = Known { history: &history, received: history.moment(at).received, at, to_page };
        let found = found(DEPLOYMENTS, "shop/cart", at, &known).unwrap();
        assert!(found.rollout.begun.done.is_none());
        assert!(found.rollout.steps.iter().all(|one| one.seen.at <= at), "{at}: {:?}", found.rollout.steps);
        assert_eq!(found.rollout.ready(), (ready, 4), "{at}");
        let deadline = found.rollout.waits.iter().find(|wait| wait.then == "given up");
        // The controller has written no progress of this generation at first.
        assert!(deadline.is_some_and(|wait| wait.until.is_some_and(|until| until > at)) || at < 4_000.0, "{at}");
    }
    // A workload that is not known has no rollout, and odd versions do no harm.
    let known = Known { history: &history, received: history.received(), at: 50_000.0, to_page };
    assert_eq!(found(DEPLOYMENTS, "shop/nothing", 50_000.0, &known), None);
}

#[test]
fn a_second_rollout_stands_beside_the_one_that_went_well() {
    let frames = frames();
    let mut history = history(&frames);
    let newest = |name: &str| {
        let is_it = |frame: &&Frame| frame.resource == DEPLOYMENTS && frame.object["metadata"]["name"] == *name;
        frames.iter().rev().find(is_it).unwrap().object.clone()
    };
    // The image of a Deployment that had rolled well is changed to one that cannot be pulled.
    let mut web = newest("web");
    web["spec"]["template"]["spec"]["containers"][0]["image"] = json!("nginx:typo");
    web["metadata"]["generation"] = json!(11);
    web["spec"]["progressDeadlineSeconds"] = json!(600);
    push(&mut history, DEPLOYMENTS, (60_000.0, DeltaType::Updated), &web);
    let owner = json!([{"kind": "Deployment", "name": "web", "uid": web["metadata"]["uid"], "controller": true}]);
    let set = json!({"metadata": {"name": "web-9", "namespace": "default", "uid": "s9", "ownerReferences": owner,
        "annotations": {"deployment.kubernetes.io/revision": "3"}}, "spec": {"replicas": 1, "template": web["spec"]["template"]}});
    push(&mut history, SETS, (60_100.0, DeltaType::Added), &set);
    let owner = json!([{"kind": "ReplicaSet", "name": "web-9", "uid": "s9", "controller": true}]);
    let pod = |node: &str, waiting: &str, message: &str| {
        json!({"metadata": {"name": "web-9-a", "namespace": "default", "uid": "p9", "ownerReferences": owner},
            "spec": {"nodeName": node, "containers": [{"name": "nginx", "image": "nginx:typo"}]},
            "status": {"phase": "Pending", "containerStatuses": [{"name": "nginx", "restartCount": 0,
            "state": {"waiting": {"reason": waiting, "message": message}}}]}})
    };
    for (at, delta_type, waiting, message) in [
        (60_200.0, DeltaType::Added, "ContainerCreating", ""),
        (63_000.0, DeltaType::Updated, "ErrImagePull", "not found"),
        (64_000.0, DeltaType::Updated, "ImagePullBackOff", "Back-off pulling image"),
    ] {
        push(&mut history, pods::KIND.resource, (at, delta_type), &pod("node-1", waiting, message));
    }
    let at = 120_000.0;
    let known = Known { history: &history, received: history.received(), at, to_page: to_page(&frames) };
    let found = found(DEPLOYMENTS, "default/web", at, &known).unwrap();
    let Some(Good::Received(good)) = &found.good else { panic!("{:?}", found.good) };
    assert_eq!(good.begun.asked.map(|seen| seen.at), Some(14_974.0));
    assert!(good.steps.iter().any(|one| one.step == Step::Done), "{:?}", good.steps);
    // Each has the steps and the Pods of its own revision alone.
    let names = |lives: &[(String, Life)]| lives.iter().map(|(name, _)| name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&found.rollout.lives), ["web-9-a"]);
    assert!(found.rollout.steps.iter().all(|one| one.seen.at >= 60_000.0), "{:?}", found.rollout.steps);
    assert!(!good.lives.is_empty() && good.steps.iter().all(|one| one.seen.at < 60_000.0), "{good:?}");
    let compared = found.compared.as_ref().unwrap();
    let differ: Vec<(&str, &str)> = compared.differ.iter().map(|one| (&*one.old, &*one.new)).collect();
    assert!(differ.contains(&("nginx", "nginx:typo")), "{compared:?}");
    let (count, name, trouble) = found.rollout.trouble.as_ref().unwrap();
    // The trouble goes on since it began, whatever word the kubelet has for it now, and says why.
    assert_eq!((*count, &**name, &*trouble.word, &*trouble.message), (1, "web-9-a", "ImagePullBackOff", "not found"));
    assert_eq!(trouble.since.map(|seen| seen.at), Some(63_000.0));
    let slowest = found.rollout.slowest(at).unwrap();
    assert_eq!((&*slowest.name, slowest.took, slowest.is_ready, slowest.most.0), ("web-9-a", 59_800.0, false, "fails"));
}

/// The lives of all Pods that the frames have, read with and without Events.
fn lives(frames: &[Frame], history: &History) -> Vec<(String, Life)> {
    lives_at(frames, history, 50_000.0)
}

/// The same as far as they were known at a moment.
fn lives_at(frames: &[Frame], history: &History, at: f64) -> Vec<(String, Life)> {
    let known = Known { history, received: history.moment(at).received, at, to_page: to_page(frames) };
    let mut names: Vec<(String, String)> = Vec::new();
    for frame in frames.iter().filter(|frame| frame.resource == pods::KIND.resource) {
        let metadata = &frame.object["metadata"];
        let name = (metadata["namespace"].as_str().unwrap().to_owned(), metadata["name"].as_str().unwrap().to_owned());
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let of = |(namespace, name): (String, String)| {
        let said = said(&known, ("", &namespace), &name);
        let key = ObjectKey::new(&namespace, &name);
        Some((format!("{namespace}/{name}"), life(&known, pods::KIND.resource, &key, None, &said)?))
    };
    names.into_iter().filter_map(of).collect()
}

#[test]
fn a_life_has_the_times_that_the_frames_show() {
    let frames = frames();
    let history = history(&frames);
    let all = lives(&frames, &history);
    assert!(all.len() > 20, "{}", all.len());
    let (mut seen, mut from_objects, mut gone) = (0, 0, 0);
    for (name, life) in &all {
        let own: Vec<&Frame> = frames
            .iter()
            .filter(|frame| {
                frame.resource == pods::KIND.resource && frame.object["metadata"]["uid"] == *life.uid.to_string()
            })
            .collect();
        let first = own.first().unwrap();
        let is_listed = first.ms < BEFORE;
        assert_eq!(life.began_before, is_listed, "{name}");
        let when = |is_it: &dyn Fn(&Value) -> bool| own.iter().find(|frame| is_it(&frame.object)).map(|frame| frame.ms);
        let check = |what: &str, found: Option<kubechurn_model::life::seen::Seen>, expected: Option<f64>| {
            // What the first list brought has its times from the object.
            match found.filter(|seen| !seen.is_from_object) {
                Some(found) => assert_eq!(Some(found.at), expected, "{name} {what}"),
                None => assert!(is_listed || expected.is_none(), "{name} {what}: {found:?} {expected:?}"),
            }
        };
        check("created", life.created, Some(first.ms));
        check("scheduled", life.scheduled, when(&|pod| pod["spec"]["nodeName"].is_string()));
        check("ready", life.ready, when(&|pod| is(pod, "Ready")));
        check("asked", life.end.asked, when(&|pod| pod["metadata"]["deletionTimestamp"].is_string()));
        let deleted = own.iter().find(|frame| frame.kind == "DELETED").map(|frame| frame.ms);
        check("gone", life.end.gone, deleted);
        gone += usize::from(deleted.is_some());
        for line in &life.lines {
            for stretch in &line.stretches {
                let times = stretch.from.zip(stretch.to);
                assert!(times.is_none_or(|(from, to)| from.at <= to.at), "{name} {}: {stretch:?}", line.name);
                seen += usize::from(stretch.from.is_some_and(|from| !from.is_from_object));
                from_objects += usize::from(stretch.from.is_some_and(|from| from.is_from_object));
            }
        }
        let containers = first.object["spec"]["containers"].as_array().map_or(0, Vec::len);
        let apps = life.lines.iter().filter(|line| line.kind == "app").count();
        assert!(apps <= containers && life.lines[0].kind == "pod", "{name}");
    }
    assert!(seen > 50 && from_objects > 20 && gone > 5, "{seen} {from_objects} {gone}");
}

#[test]
fn a_life_at_a_moment_is_that_of_a_history_that_ends_there() {
    let frames = frames();
    let whole = history(&frames);
    let mut others = 0;
    for at in [3_900.0, 5_000.0, 6_290.0, 20_000.0] {
        let until: Vec<Frame> = frames.iter().filter(|frame| frame.ms <= at).cloned().collect();
        let (then, expected) = (lives_at(&frames, &whole, at), lives_at(&frames, &history(&until), at));
        assert!(then.len() > 5, "{at}: {}", then.len());
        assert_eq!(then, expected, "{at}");
        let now = lives(&frames, &whole);
        others += then.iter().filter(|one| !now.contains(one)).count();
    }
    assert!(others > 10, "what came later is something else: {others}");
}

/// A Pod that is made by hand, in some versions.
fn by_hand(versions: &[(f64, DeltaType, Value)], events: &[(f64, Value)]) -> Life {
    let mut history = History::new(1 << 24, 0);
    for (at, delta_type, pod) in versions {
        let mut object = json!({"metadata": {"name": "a", "namespace": "n", "uid": "u",
            "creationTimestamp": "1970-01-01T00:00:01Z"}});
        for (name, value) in pod.as_object().unwrap() {
            match name.as_str() {
                "metadata" => {
                    value.as_object().unwrap().iter().for_each(|(name, value)| object["metadata"][name] = value.clone())
                }
                name => object[name] = value.clone(),
            }
        }
        push(&mut history, pods::KIND.resource, (*at, *delta_type), &object);
    }
    for (number, (at, event)) in events.iter().enumerate() {
        let mut event = event.clone();
        event["metadata"] = json!({"name": format!("a.{number}"), "namespace": "n", "uid": format!("e{number}")});
        event["involvedObject"] = json!({"kind": "Pod", "name": "a", "uid": "u", "fieldPath": event["fieldPath"]});
        push(&mut history, kinds::events::KIND.resource, (*at, DeltaType::Added), &event);
    }
    let known = Known { history: &history, received: history.received(), at: 90_000.0, to_page: 0.0 };
    let said = said(&known, ("", "n"), "a");
    life(&known, pods::KIND.resource, &key("n/a"), None, &said).unwrap()
}

fn words(line: &kubechurn_model::life::container::Line) -> Vec<(&'static str, &str)> {
    line.stretches.iter().map(|one| (one.what, &*one.words)).collect()
}

#[test]
fn containers_start_in_turn_end_and_start_again() {
    let spec = json!({"nodeName": "n1", "initContainers": [{"name": "migrate"}, {"name": "proxy", "restartPolicy": "Always"}],
        "containers": [{"name": "web"}]});
    let running = |at: &str| json!({"running": {"startedAt": at}});
    let killed = json!({"terminated": {"exitCode": 137, "reason": "OOMKilled", "startedAt": "1970-01-01T00:00:20Z",
        "finishedAt": "1970-01-01T00:00:30Z"}});
    let status = |init: Value, web: Value| json!({"initContainerStatuses": init, "containerStatuses": [web]});
    let done = json!({"name": "migrate", "restartCount": 0, "state": {"terminated": {"exitCode": 0, "reason": "Completed",
        "startedAt": "1970-01-01T00:00:05Z", "finishedAt": "1970-01-01T00:00:09Z"}}});
    let proxy = json!({"name": "proxy", "restartCount": 0, "ready": true, "state": running("1970-01-01T00:00:10Z")});
    let web = |state: Value, last: Value, restarts: u32, ready: bool| json!({"name": "web", "restartCount": restarts, "ready": ready, "state": state, "lastState": last});
    let waiting = |reason: &str, message: &str| json!({"waiting": {"reason": reason, "message": message}});
    let life = by_hand(
        &[
            (1_500.0, DeltaType::Added, json!({"spec": {"containers": [{"name": "web"}]}})),
            (
                2_000.0,
                DeltaType::Updated,
                json!({"spec": spec, "status": status(json!([{"name": "migrate", "restartCount": 0,
                "state": running("1970-01-01T00:00:05Z")}]), web(waiting("PodInitializing", ""), json!({}), 0, false))}),
            ),
            (
                10_000.0,
                DeltaType::Updated,
                json!({"spec": spec, "status": status(json!([done, proxy]),
                web(waiting("PodInitializing", ""), json!({}), 0, false))}),
            ),
            (
                20_000.0,
                DeltaType::Updated,
                json!({"spec": spec, "status": status(json!([done, proxy]),
                web(running("1970-01-01T00:00:20Z"), json!({}), 0, true))}),
            ),
            (
                30_500.0,
                DeltaType::Updated,
                json!({"spec": spec, "status": status(json!([done, proxy]),
                web(waiting("CrashLoopBackOff", "back-off 1m20s restarting failed container"), killed, 3, false))}),
            ),
        ],
        &[
            (
                12_000.0,
                json!({"reason": "Pulling", "fieldPath": "spec.containers{web}", "message": "Pulling image \"web\""}),
            ),
            (
                14_000.0,
                json!({"reason": "Pulled", "fieldPath": "spec.containers{web}",
                "message": "Successfully pulled image \"web\" in 2s (2s including waiting)."}),
            ),
            (
                28_000.0,
                json!({"reason": "Unhealthy", "type": "Warning", "count": 4, "fieldPath": "spec.containers{web}",
                "message": "Liveness probe failed: 500"}),
            ),
        ],
    );
    let kinds: Vec<(&str, &str)> = life.lines.iter().map(|line| (&*line.name, line.kind)).collect();
    assert_eq!(kinds, [("", "pod"), ("migrate", "init"), ("web", "app"), ("proxy", "sidecar")]);
    assert_eq!(words(&life.lines[1]), [("runs", "runs"), ("ended", "Completed, exit code 0")]);
    assert_eq!(
        words(&life.lines[2]),
        [
            ("waits", "PodInitializing"),
            ("pulls", "pulled in 2s"),
            ("waits", "PodInitializing"),
            ("ready", "runs, ready"),
            ("failed", "CrashLoopBackOff"),
        ]
    );
    let points: Vec<(&str, Option<f64>)> =
        life.lines[2].points.iter().map(|one| (&*one.words, one.seen.map(|seen| seen.at))).collect();
    assert_eq!(
        points,
        [
            ("OOMKilled, exit code 137 (128 + signal 9)", Some(30_500.0)),
            ("Liveness probe failed: 500, 4 times", Some(28_000.0)),
        ]
    );
    assert_eq!(life.lines[2].unseen, 2, "two restarts came between two versions");
    let trouble = life.trouble.unwrap();
    assert_eq!((&*trouble.word, trouble.again), ("CrashLoopBackOff", Some(110_000.0)), "its end, and the pause");
}

#[test]
fn who_took_a_pod_away_is_said_as_far_as_it_is_known() {
    let going = json!({"deletionTimestamp": "1970-01-01T00:00:40Z", "deletionGracePeriodSeconds": 30});
    let disrupted = json!({"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting"}]});
    let life = by_hand(
        &[
            (5_000.0, DeltaType::Replaced, json!({"spec": {"nodeName": "n1"}})),
            (10_000.0, DeltaType::Updated, json!({"metadata": going, "status": disrupted, "spec": {"nodeName": "n1"}})),
            (41_000.0, DeltaType::Deleted, json!({"metadata": going, "status": disrupted, "spec": {"nodeName": "n1"}})),
        ],
        &[(
            10_500.0,
            json!({"reason": "TaintManagerEviction", "message": "Marking for deletion Pod n/a",
            "source": {"component": "taint-eviction-controller"}}),
        )],
    );
    assert_eq!(life.created.map(|seen| (seen.at, seen.is_from_object)), Some((1_000.0, true)));
    assert_eq!(life.scheduled, None, "the object does not say when, and so it is not known");
    assert_eq!(life.end.asked.map(|seen| seen.at), Some(10_000.0));
    assert_eq!(life.end.gone.map(|seen| seen.at), Some(41_000.0));
    assert_eq!(
        life.end.reasons,
        [
            "TaintManagerEviction: Marking for deletion Pod n/a (an Event of taint-eviction-controller)",
            "EvictionByEvictionAPI: Eviction API: evicting (its condition DisruptionTarget)",
        ]
    );
    // A Pod that was listed while it went says itself when that was asked for.
    let life = by_hand(&[(20_000.0, DeltaType::Replaced, json!({"metadata": going}))], &[]);
    assert_eq!(life.end.asked.map(|seen| (seen.at, seen.is_from_object)), Some((10_000.0, true)));
}

#[test]
fn a_stateful_set_knows_its_revision_and_what_it_waits_for() {
    let mut history = History::new(1 << 24, 0);
    let set = |image: &str, generation: u32, observed: u32, updated: u32, revision: &str| {
        json!({"metadata": {"name": "db", "namespace": "n", "uid": "d", "generation": generation},
            "spec": {"replicas": 3, "template": {"spec": {"containers": [{"name": "db", "image": image}]}},
                "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 2}}},
            "status": {"observedGeneration": observed, "replicas": 3, "readyReplicas": 3, "availableReplicas": 3,
                "updatedReplicas": updated, "updateRevision": revision}})
    };
    push(&mut history, STATEFUL_SETS, (100.0, DeltaType::Replaced), &set("db:1", 1, 1, 3, "db-aaa"));
    push(&mut history, STATEFUL_SETS, (10_000.0, DeltaType::Updated), &set("db:2", 2, 1, 3, "db-aaa"));
    let owner = json!([{"kind": "StatefulSet", "name": "db", "uid": "d", "controller": true}]);
    let revision = json!({"metadata": {"name": "db-bbb", "namespace": "n", "uid": "r", "ownerReferences": owner}, "revision": 2,
        "data": {"spec": {"template": {"$patch": "replace", "spec": {"containers": [{"name": "db", "image": "db:2"}]}}}}});
    push(&mut history, REVISIONS, (10_100.0, DeltaType::Added), &revision);
    push(&mut history, STATEFUL_SETS, (10_200.0, DeltaType::Updated), &set("db:2", 2, 2, 0, "db-bbb"));
    for (at, name, hash) in [(10_300.0, "db-2", "db-bbb"), (10_400.0, "db-1", "db-aaa")] {
        let pod = json!({"metadata": {"name": name, "namespace": "n", "uid": name, "ownerReferences": owner,
            "labels": {"controller-revision-hash": hash}}, "spec": {}});
        push(&mut history, pods::KIND.resource, (at, DeltaType::Added), &pod);
    }
    let known = Known { history: &history, received: history.received(), at: 20_000.0, to_page: 0.0 };
    let found = found(STATEFUL_SETS, "n/db", 20_000.0, &known).unwrap();
    let steps: Vec<(Step, f64)> = found.rollout.steps.iter().map(|one| (one.step, one.seen.at)).collect();
    assert_eq!(steps, [(Step::Seen, 10_100.0), (Step::Made, 10_100.0), (Step::Created, 10_300.0)]);
    let names: Vec<&str> = found.rollout.lives.iter().map(|(name, _)| &**name).collect();
    assert_eq!(names, ["db-2"], "the other one came, but is of the old revision");
    let waits: Vec<&str> = found.rollout.waits.iter().map(|wait| &*wait.words).collect();
    assert_eq!(waits, ["Pods with a number below 2 stay as they are (partition)"]);
    assert!(matches!(&found.good, Some(Good::Before { revision, .. }) if revision == "db-aaa"), "{:?}", found.good);
}

#[test]
fn an_older_revision_is_known_by_its_fields_alone() {
    let mut history = History::new(1 << 24, 0);
    let template = |image: &str| json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": image}], "restartPolicy": "Always"}});
    let web = json!({"metadata": {"name": "web", "namespace": "n", "uid": "d", "generation": 5,
        "annotations": {"deployment.kubernetes.io/revision": "2"}}, "spec": {"replicas": 3, "template": template("web:2")},
        "status": {"observedGeneration": 5, "replicas": 4, "updatedReplicas": 1, "availableReplicas": 3}});
    push(&mut history, DEPLOYMENTS, (100.0, DeltaType::Replaced), &web);
    let owner = json!([{"kind": "Deployment", "name": "web", "uid": "d", "controller": true}]);
    for (name, image, revision, ready) in [("web-1", "web:1", "1", 3), ("web-2", "web:2", "2", 0)] {
        let mut template = template(image);
        template["metadata"]["labels"]["pod-template-hash"] = json!(name);
        let set = json!({"metadata": {"name": name, "namespace": "n", "uid": name, "ownerReferences": owner,
            "creationTimestamp": "1970-01-01T00:00:00Z", "annotations": {"deployment.kubernetes.io/revision": revision}},
            "spec": {"template": template}, "status": {"readyReplicas": ready}});
        push(&mut history, SETS, (200.0, DeltaType::Replaced), &set);
    }
    let known = Known { history: &history, received: history.received(), at: 20_000.0, to_page: 0.0 };
    let found = found(DEPLOYMENTS, "n/web", 20_000.0, &known).unwrap();
    assert_eq!(found.rollout.begun.asked, None, "when it was asked for is not known");
    let expected = Good::Revision { name: String::from("ReplicaSet web-1"), number: 1, ready: Some(3) };
    assert_eq!((found.good, found.pair), (Some(expected), None));
    let compared = found.compared.unwrap();
    assert_eq!(compared.sentence(), "Of 4 fields that are asked for, 1 differs: image.");
    let steps: Vec<(Step, bool)> = found.rollout.steps.iter().map(|one| (one.step, one.seen.is_from_object)).collect();
    assert_eq!(steps, [(Step::Made, true)], "nothing was seen as it happened");
}
