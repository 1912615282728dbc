//! The audit log of a cluster on which scenarios run, as the witness of who wrote: each change that was received gets the user of
//! the request that made it, and none another one, whatever is missing in the log, is twice in it, or is of another cluster.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::http::Method;
use futures::FutureExt;
use kubechurn_changes::audit::{Counts, Requests, Version};
use kubechurn_client::api::request::Scope;
use kubechurn_client::cache::delta::DeltaType;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::findings::{Page, play_with};
use crate::args::Args;
use crate::client::resources::{CONFIG_MAPS, PODS};
use crate::client::rest::{Client, Patch, object_path};
use crate::clock;
use crate::random::Random;
use crate::scenario::Scenario;
use crate::tests::quiet;

/// What was received of a cluster, and its log.
struct Played {
    page: Rc<Page>,
    log: Vec<Value>,
    /// What is to be added to a time of the page for one of the server, in milliseconds.
    to_server: f64,
}

async fn play(scenarios: &[Scenario], seed: u64, seconds: u64) -> Played {
    static PLAYED: AtomicUsize = AtomicUsize::new(0);
    let name = format!("kubechurn-audit-{}-{}", std::process::id(), PLAYED.fetch_add(1, Ordering::Relaxed));
    let path: PathBuf = std::env::temp_dir().join(name);
    let args = Args { pods: 40, seed, scenarios: scenarios.to_vec(), audit: Some(path.clone()), ..quiet() };
    let page =
        play_with(args, Some(Box::new(|client, _| act(client).boxed_local())), Duration::from_secs(seconds)).await;
    let to_server = clock::time().0 as f64 / 1e6 - page.now();
    let text = fs::read_to_string(&path).unwrap();
    fs::remove_file(path).unwrap();
    Played { page, log: text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), to_server }
}

/// What else somebody does: evictions, deletions of many, of what has a finalizer, for show alone, and what changes nothing or is
/// refused.
async fn act(client: Client) {
    sleep(Duration::from_millis(7_300)).await;
    let carol = client.person("carol", "kubectl").impersonating("on-call");
    let list = client.list(&PODS, &Scope { namespace: "shop".to_owned(), ..Scope::default() }).await.unwrap();
    let names: Vec<&str> = list["items"].as_array().unwrap().iter().map(|pod| text(pod, "/metadata/name")).collect();
    let eviction = json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": names[0]}});
    let path = object_path(&PODS, "shop", names[0], "eviction");
    carol.request(Method::POST, &path, "application/json", eviction.to_string()).await.unwrap();
    let path = format!("{}?dryRun=All", object_path(&PODS, "shop", names[1], ""));
    carol.request(Method::DELETE, &path, "application/json", String::new()).await.unwrap();
    let map = |name: &str| json!({"metadata": {"name": name}, "data": {"a": "1"}});
    for name in ["one", "two"] {
        client.with_user("dave").create(&CONFIG_MAPS, "shop", &map(name)).await.unwrap();
    }
    let kept = json!({"metadata": {"name": "kept", "finalizers": ["example.com/wait"]}, "data": {"a": "1"}});
    client.with_user("dave").create(&CONFIG_MAPS, "shop", &kept).await.unwrap();
    sleep(Duration::from_millis(1_500)).await;
    let same = json!({"data": {"a": "1"}});
    client.with_user("erin").patch(&CONFIG_MAPS, "shop", "one", Patch::Merge(&same)).await.unwrap();
    client.with_user("erin").create(&CONFIG_MAPS, "shop", &map("one")).await.unwrap_err();
    sleep(Duration::from_millis(1_500)).await;
    carol.delete_collection(&CONFIG_MAPS, "shop").await.unwrap();
    sleep(Duration::from_millis(3_500)).await;
    let released = json!({"metadata": {"finalizers": null}});
    client.with_user("frank").patch(&CONFIG_MAPS, "shop", "kept", Patch::Merge(&released)).await.unwrap();
}

fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

fn who(line: &Value) -> String {
    match text(line, "/impersonatedUser/username") {
        "" => text(line, "/user/username").to_owned(),
        other => format!("{} as {other}", text(line, "/user/username")),
    }
}

/// Who wrote, as plain JSON has it in a log with all answers.
#[derive(Default)]
struct Truth {
    /// By uid and resourceVersion.
    wrote: BTreeMap<(String, String), String>,
    /// Who asked for the deletion of what has a uid.
    asked: BTreeMap<String, String>,
    /// Who evicted the Pod of a namespace and name.
    evicted: BTreeMap<(String, String), String>,
}

impl Truth {
    fn of(log: &[Value]) -> Truth {
        let mut truth = Truth::default();
        for line in log {
            let code = line.pointer("/responseStatus/code").and_then(Value::as_u64).unwrap_or(0);
            if !(200..300).contains(&code) || text(line, "/requestURI").contains("dryRun=All") {
                continue;
            }
            let verb = text(line, "/verb");
            if text(line, "/objectRef/subresource") == "eviction" {
                let of = (text(line, "/objectRef/namespace").to_owned(), text(line, "/objectRef/name").to_owned());
                truth.evicted.entry(of).or_insert_with(|| who(line));
                continue;
            }
            let items = line.pointer("/responseObject/items").and_then(Value::as_array);
            let answer = &line["responseObject"];
            for object in items.map_or(std::slice::from_ref(answer), Vec::as_slice) {
                let uid = match text(object, "/kind") {
                    "Status" => text(object, "/details/uid"),
                    _ => text(object, "/metadata/uid"),
                };
                if verb.starts_with("delete") {
                    truth.asked.entry(uid.to_owned()).or_insert_with(|| who(line));
                }
                let of = (uid.to_owned(), text(object, "/metadata/resourceVersion").to_owned());
                truth.wrote.entry(of).or_insert_with(|| who(line));
            }
        }
        truth
    }

    /// Who is known to have made a change; several where the log does not have the version that it wrote.
    fn who(&self, change: &Change) -> Option<&String> {
        let Change { new, uid, is_gone, .. } = change;
        let of = (text(new, "/metadata/namespace").to_owned(), text(new, "/metadata/name").to_owned());
        let is_marked = new.pointer("/metadata/deletionTimestamp").is_some();
        if *is_gone {
            return self.evicted.get(&of).filter(|_| is_marked).or(self.asked.get(uid));
        }
        let wrote = self.wrote.get(&(uid.clone(), text(new, "/metadata/resourceVersion").to_owned()));
        wrote.or(self.evicted.get(&of).filter(|_| is_marked || new.to_string().contains("EvictionByEvictionAPI")))
    }
}

struct Change {
    id: u64,
    kind: &'static str,
    uid: String,
    is_gone: bool,
    /// Whether the scheduler bound it, of which the answer has no version.
    is_bound: bool,
    new: Value,
}

impl Played {
    fn changes(&self) -> Vec<Change> {
        let history = self.page.history.borrow();
        let ids = (0..history.received()).filter_map(|id| Some((id, history.change(id)?)));
        let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        let changes = ids.filter(|(_, change)| change.delta_type != DeltaType::Replaced);
        let changes = changes.filter_map(|(id, change)| {
            let (new, old) = (json(change.new.as_deref()?), change.old.as_deref().map(json));
            let node = "/spec/nodeName";
            Some(Change {
                id,
                kind: change.resource.kind,
                uid: change.uid.to_string(),
                is_gone: change.delta_type == DeltaType::Deleted,
                is_bound: old.is_some_and(|old| old.pointer(node).is_none()) && new.pointer(node).is_some(),
                new,
            })
        });
        changes.collect()
    }

    /// Joins the changes to these lines. The versions come first or last.
    fn join(&self, lines: &[String], versions_first: bool) -> Requests {
        let mut requests = Requests::default();
        let take_lines = |requests: &mut Requests| lines.iter().for_each(|line| requests.line(line));
        if !versions_first {
            take_lines(&mut requests);
        }
        let history = self.page.history.borrow();
        for id in 0..history.received() {
            let Some(change) = history.change(id) else { continue };
            let (delta_type, uid, at) = (change.delta_type, &change.uid, change.at + self.to_server);
            let (old, new) = (change.old.as_deref(), change.new.as_deref());
            requests.version(&change.resource, &change.key, Version { id, delta_type, uid, old, new, at });
        }
        if versions_first {
            take_lines(&mut requests);
        }
        while requests.settle(7) {}
        requests
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Level {
    Metadata,
    Request,
    RequestResponse,
}

fn lines(log: &[Value], level: Level) -> Vec<String> {
    let line = |line: &Value| {
        let mut line = line.clone();
        let members = line.as_object_mut().unwrap();
        if level != Level::RequestResponse {
            members.remove("responseObject");
        }
        if level == Level::Metadata {
            members.remove("requestObject");
        }
        line.to_string()
    };
    log.iter().map(line).collect()
}

/// How many changes have a user whom the log has, how many of them got one, and the kinds of those that did not. Nobody gets another
/// one than the right one.
fn check(played: &Played, truth: &Truth, requests: &Requests, what: &str) -> (usize, usize, BTreeMap<String, usize>) {
    let (mut all, mut found, mut missing) = (0, 0, BTreeMap::new());
    for change in played.changes() {
        let got = requests.of(change.id).map(|request| request.who());
        let scheduler = String::from("system:kube-scheduler");
        let right = truth.who(&change).or(change.is_bound.then_some(&scheduler));
        if let Some(got) = &got {
            assert_eq!(Some(got), right, "{what}: {} {}", change.kind, change.new);
        }
        all += usize::from(right.is_some());
        found += usize::from(got.is_some());
        if got.is_none()
            && let Some(right) = right
        {
            *missing.entry(format!("{} by {right}", change.kind)).or_default() += 1;
        }
    }
    (all, found, missing)
}

#[tokio::test(start_paused = true)]
async fn every_change_gets_its_right_user_and_none_another_one() {
    for (scenarios, seconds) in [(&[Scenario::Rollout][..], 20), (&Scenario::MIXED[..], 30)] {
        let played = play(scenarios, 7, seconds).await;
        let truth = Truth::of(&played.log);
        for (level, least) in [(Level::RequestResponse, 100), (Level::Request, 98), (Level::Metadata, 98)] {
            let log = lines(&played.log, level);
            let requests = played.join(&log, level == Level::Request);
            let (all, found, missing) = check(&played, &truth, &requests, &format!("{level:?}"));
            let counts = requests.counts();
            assert!(all > 100 && found * 100 >= all * least, "{level:?}: {found} of {all}: {missing:?}");
            let Counts { writes, matched, several, none, .. } = counts;
            assert_eq!(writes, matched + several + none);
            let named = |kind: &str, name: &str, is_gone: bool| -> Vec<Option<String>> {
                let is_it = |change: &&Change| {
                    (change.kind, change.is_gone) == (kind, is_gone) && text(&change.new, "/metadata/name") == name
                };
                let changes = played.changes();
                changes.iter().filter(is_it).map(|change| requests.of(change.id).map(|by| by.who())).collect()
            };
            let [dave, carol] = ["dave", "carol as on-call"].map(|who| Some(who.to_owned()));
            for name in ["one", "two", "kept"] {
                assert_eq!(named("ConfigMap", name, true), std::slice::from_ref(&carol), "{name} at {level:?}");
            }
            assert_eq!(named("ConfigMap", "one", false), std::slice::from_ref(&dave), "{level:?}");
            assert_eq!(named("ConfigMap", "kept", false), [dave, carol], "{level:?}");
        }
        let users: BTreeSet<String> = played.log.iter().map(who).collect();
        let controller = "system:serviceaccount:kube-system:";
        for user in ["alice", "system:kube-scheduler", "system:node:", &format!("{controller}deployment-controller")] {
            assert!(users.iter().any(|known| known.starts_with(user)), "{user} is not among {users:?}");
        }
        let of_alice = played.log.iter().find(|line| text(line, "/user/username") == "alice").unwrap();
        assert!(
            text(of_alice, "/userAgent").starts_with("kubectl/v") && text(of_alice, "/sourceIPs/0") == "192.0.2.11"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn with_holes_doubles_and_the_lines_of_another_cluster_nothing_is_false() {
    let played = play(&Scenario::MIXED, 3, 16).await;
    // This cluster begins seven seconds later: what has the same name in both, as ServiceAccounts have, is not written in the same
    // second. If it were, no line without a uid could say of which cluster it is.
    clock::set_skew(7);
    let other = play(&Scenario::MIXED, 4, 16).await;
    // A cluster of the same seed that begins in the same second is the same cluster, and no other one: uids and times agree.
    clock::set_skew(3_600);
    let same = play(&Scenario::MIXED, 3, 16).await;
    clock::set_skew(0);
    let truth = Truth::of(&played.log);
    for level in [Level::RequestResponse, Level::Metadata] {
        let whole = lines(&played.log, level);
        let (_, most, _) = check(&played, &truth, &played.join(&whole, false), "whole");
        let mut random = Random::new(5);
        for share in [10, 50, 90] {
            let kept: Vec<String> = whole.iter().filter(|_| random.chance(share)).cloned().collect();
            let requests = played.join(&kept, random.chance(50));
            let (_, found, _) = check(&played, &truth, &requests, &format!("{share} % at {level:?}"));
            assert!(found > 0 && found < most, "{share} % at {level:?}: {found} of {most}");
        }
        let doubled: Vec<String> = whole.iter().chain(&whole).cloned().collect();
        let (_, found, _) = check(&played, &truth, &played.join(&doubled, true), "doubled");
        assert_eq!(found, most, "{level:?}");
        for foreign in [&other, &same] {
            let foreign = lines(&foreign.log, level);
            let alone = played.join(&foreign, false);
            let (_, found, _) = check(&played, &Truth::default(), &alone, "another cluster's");
            assert_eq!(found, 0, "{level:?}");
            let mut mixed: Vec<String> = whole.iter().chain(&foreign).cloned().collect();
            let from = mixed.len() / 3;
            mixed.rotate_left(from);
            let requests = played.join(&mixed, false);
            // Where lines of both fit, none is taken.
            let (_, found, _) = check(&played, &truth, &requests, "mixed");
            assert!(level != Level::RequestResponse || found * 100 >= most * 95, "{found} of {most}");
        }
    }
}
