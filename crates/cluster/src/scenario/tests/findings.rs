//! What the page finds in each scenario, and that it finds nothing in those in which nothing goes wrong.
//!
//! Everything runs on one thread, on tokio's paused clock, so that minutes pass in moments: the server, the controllers, the
//! users, and for each kind an informer as the page has it. What the informers receive goes the way that it goes in the page:
//! through the recorder, the telling and the detectors.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{self, LocalBoxStream};
use kubechurn_changes::findings::Card;
use kubechurn_changes::line::{Line, ReceivedChange};
use kubechurn_client::api::extra::Keep;
use kubechurn_client::api::object::Decode;
use kubechurn_client::api::request::Scope;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::reflector::{Action, Input, Options};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
use kubechurn_columns::kinds::{KINDS, Kind};
use kubechurn_model::feed::Changes;
use kubechurn_model::history::{Budget, History};
use serde_json::{Value, json};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Duration, Instant, sleep, sleep_until};

use super::Scenario;
use crate::args::Args;
use crate::client::lister_watcher::{ListerWatcher, Outcome};
use crate::client::resources::{CONFIG_MAPS, DEPLOYMENTS};
use crate::client::rest::{Client, DeleteOptions, Patch};
use crate::controllers::options;
use crate::tests::{quiet, serve_from_memory};
use crate::{clock, controllers, server};

/// The seeds with which each scenario is played.
const SEEDS: [u64; 3] = [1, 7, 23];
/// How soon a detector must fire.
const SOON: f64 = 10_000.0;

/// What the page has received, and what it has found in that.
pub(super) struct Page {
    began: Instant,
    pub(super) history: RefCell<History>,
    changes: RefCell<Changes>,
    /// Each finding as it was found first, by its object and its title, and when.
    found: RefCell<BTreeMap<String, (f64, Card)>>,
    /// How many changes were told.
    told: RefCell<usize>,
    /// When a Pod first came into a state in which something is wrong.
    trouble: Cell<Option<f64>>,
}

impl Page {
    fn now(&self) -> f64 {
        self.began.elapsed().as_secs_f64() * 1000.0
    }

    /// Tells what was received, as the page does with each frame of the screen; and looks for findings if something was told,
    /// or `looks`.
    fn tell(&self, looks: bool) {
        let (mut changes, history) = (self.changes.borrow_mut(), self.history.borrow());
        if changes.waiting() == 0 && !looks {
            return;
        }
        while let Some(sequence) = changes.take_next() {
            let told = history.change(sequence).expect("a change that was just received is kept");
            let received = ReceivedChange {
                seq: sequence,
                at: told.at,
                kind: Arc::from(told.resource.kind),
                key: told.key,
                uid: told.uid,
                delta_type: told.delta_type,
                old: told.old.as_deref(),
                new: told.new.as_deref(),
            };
            let line = Line::new(received, &changes.marks);
            if &*line.kind == "Pod" && line.trouble().is_some() && self.trouble.get().is_none() {
                self.trouble.set(Some(line.at));
            }
            changes.tell(line);
            *self.told.borrow_mut() += 1;
        }
        let now = self.now();
        for (card, _) in changes.cards(now) {
            let name = format!("{} {}: {}", card.kind, card.key, card.title());
            self.found.borrow_mut().entry(name).or_insert((now, card));
        }
    }

    /// Lists and watches a kind.
    async fn watch(self: Rc<Self>, kind: &'static Kind, client: Client) {
        let lister_watcher = ListerWatcher { client, resource: kind.resource, scope: Scope::default() };
        let keep = Keep { owners: true, ..Keep::default() };
        let reflector = Options { keep, kind: Some(kind.resource.kind), ..Options::default() };
        let options = InformerOptions { reflector, ..InformerOptions::default() };
        let mut informer = SharedInformer::new(Decode::METADATA, options);
        let mut under_way: LocalBoxStream<'static, Outcome> = stream::pending().boxed_local();
        let mut action = self.input(&mut informer, kind, Input::Start);
        loop {
            if let Some(action) = action.take() {
                under_way = lister_watcher.perform(action);
            }
            let deadline = informer.reflector().deadline();
            let timer = async {
                match deadline {
                    Some(deadline) => sleep_until(self.began + Duration::from_secs_f64(deadline / 1000.0)).await,
                    None => std::future::pending().await,
                }
            };
            let outcome = tokio::select! {
                outcome = under_way.next() => outcome,
                () = timer => {
                    action = self.input(&mut informer, kind, Input::Timer);
                    continue;
                }
            };
            action = match outcome {
                None => {
                    under_way = stream::pending().boxed_local();
                    None
                }
                Some(Outcome::Frames(lines)) => {
                    let mut frames = lines.split_inclusive(|byte| *byte == b'\n');
                    frames.find_map(|frame| self.input(&mut informer, kind, Input::Bytes(frame)))
                }
                Some(Outcome::Opened) => self.input(&mut informer, kind, Input::Opened),
                Some(Outcome::Closed(code)) => self.input(&mut informer, kind, Input::Closed(code)),
                Some(Outcome::Page(page)) => self.input(&mut informer, kind, Input::PageBytes(&page)),
                Some(Outcome::Failed(failure)) => self.input(&mut informer, kind, Input::Failed(failure)),
                Some(Outcome::ProbePassed) => self.input(&mut informer, kind, Input::ProbePassed),
            };
            informer.drain(usize::MAX, self.now());
        }
    }

    fn input(&self, informer: &mut SharedInformer, kind: &Kind, input: Input<'_>) -> Option<Action> {
        let moment = Moment { now: self.now(), random: 0.5 };
        informer.handle_tapped(input, moment, &mut |received| {
            let at = received.now;
            if let Some(sequence) = self.history.borrow_mut().push(kind.resource, received) {
                self.changes.borrow_mut().received(sequence, at);
            }
        })
    }
}

/// Something that a user does to the cluster while the page watches.
pub(super) type Act = fn(Client) -> std::pin::Pin<Box<dyn Future<Output = ()>>>;

/// Plays scenarios, and what a user does besides, for some time, and returns what the page found.
pub(super) async fn play(scenarios: &[Scenario], seed: u64, act: Option<Act>, time: Duration) -> Rc<Page> {
    clock::moved::follow();
    let args = Args { pods: 60, seed, scenarios: scenarios.to_vec(), ..quiet() };
    let server = serve_from_memory(args).await;
    let router = || server::router(Arc::clone(&server.app));
    let page = Rc::new(Page {
        began: Instant::now(),
        history: RefCell::new(History::new(Budget::Usual.bytes(), seed)),
        changes: RefCell::default(),
        found: RefCell::default(),
        told: RefCell::default(),
        trouble: Cell::default(),
    });
    let run = async {
        let options = options::Options {
            seed,
            failed_nodes: server.app.control.failed_nodes.clone(),
            pace: controllers::pace::Pace::DEMO,
        };
        spawn_local(controllers::run_here(router(), options));
        for kind in KINDS.iter().filter(|kind| server.app.api.registry.by_name(&qualified(kind)).is_some()) {
            spawn_local(Rc::clone(&page).watch(kind, Client::new(router(), "page")));
        }
        server.app.control.runner.begin(Client::new(router(), "kubectl"), scenarios);
        if let Some(act) = act {
            spawn_local(act(Client::new(router(), "kubectl")));
        }
        let end = page.began + time;
        for turn in 0.. {
            if Instant::now() >= end {
                break;
            }
            sleep(Duration::from_millis(100)).await;
            page.tell(turn % 10 == 0);
        }
    };
    LocalSet::new().run_until(run).await;
    page
}

/// The name by which a resource is found, such as `deployments.apps`.
fn qualified(kind: &Kind) -> String {
    let resource = kind.resource;
    if resource.group.is_empty() {
        resource.plural.to_owned()
    } else {
        format!("{}.{}", resource.plural, resource.group)
    }
}

/// The findings whose sentences begin so, each with the milliseconds in which it was found after it had begun, the first one
/// first. Times stand as `T` in the sentences.
fn found(page: &Page, begins: &str) -> Vec<(f64, String)> {
    let found = page.found.borrow();
    let mut sentences: Vec<(f64, f64, String)> = found
        .values()
        .map(|(at, card)| (*at, at - card.since, card.sentence("T")))
        .filter(|(.., sentence)| sentence.starts_with(begins))
        .collect();
    sentences.sort_by(|one, other| one.0.total_cmp(&other.0));
    sentences.into_iter().map(|(_, after, sentence)| (after, sentence)).collect()
}

/// The first finding whose sentence begins so must be told soon, and its sentence must end so, after the number of times.
#[track_caller]
fn check(page: &Page, begins: &str, ends: &str) {
    let found = found(page, begins);
    let all = || page.found.borrow().values().map(|(_, card)| card.sentence("T")).collect::<Vec<_>>();
    let Some((after, sentence)) = found.first() else { panic!("{begins} is not found in {:#?}", all()) };
    assert!(*after < SOON, "{after} ms: {sentence}");
    assert!(sentence.ends_with(ends), "{sentence} does not end with {ends}");
}

async fn is_silent(scenario: Scenario, seed: u64) {
    let page = play(&[scenario], seed, None, Duration::from_secs(600)).await;
    let found = page.found.borrow();
    assert!(found.is_empty(), "{} with the seed {seed}: {found:#?}", scenario.name());
    // There was much to be silent about.
    assert!(*page.told.borrow() > 1_000, "{}", page.told.borrow());
}

// Each seed is a test of its own: they last longest of all tests here, and so run at once.

#[tokio::test(start_paused = true)]
async fn ten_minutes_of_a_calm_day_with_seed_1_are_no_finding() {
    is_silent(Scenario::Calm, 1).await;
}

#[tokio::test(start_paused = true)]
async fn ten_minutes_of_a_calm_day_with_seed_23_are_no_finding() {
    is_silent(Scenario::Calm, 23).await;
}

#[tokio::test(start_paused = true)]
async fn ten_minutes_of_rollouts_with_seed_1_are_no_finding() {
    is_silent(Scenario::Rollout, 1).await;
}

#[tokio::test(start_paused = true)]
async fn ten_minutes_of_rollouts_with_seed_7_are_no_finding() {
    is_silent(Scenario::Rollout, 7).await;
}

#[tokio::test(start_paused = true)]
async fn a_hot_loop_is_a_fight_and_its_replica_set_is_written_over_and_over() {
    for seed in SEEDS {
        let page = play(&[Scenario::HotLoop], seed, None, Duration::from_secs(10)).await;
        let field = "`metadata.annotations[\"mesh.example/tier\"]` of";
        let (fight, [fields, flaps, writes]) = (
            "`gold` ⇄ `silver`, mesh-operator and policy-operator, ",
            [format!("{field} Deployment "), format!("{field} ReplicaSet "), String::from("ReplicaSet ")],
        );
        check(&page, &fields, " times a minute since T");
        check(&page, &flaps, " times a minute since T");
        check(&page, &writes, " times a minute since T");
        assert!(found(&page, &fields)[0].1.contains(fight), "{:?}", found(&page, &fields));
        let words = " is written without a change of what is asked for, kube-controller-manager, ";
        assert!(found(&page, &writes)[0].1.contains(words), "{:?}", found(&page, &writes));
    }
}

#[tokio::test(start_paused = true)]
async fn an_autoscaler_that_cannot_make_up_its_mind_is_a_field_that_flaps() {
    for seed in SEEDS {
        let page = play(&[Scenario::AutoscalerFlap], seed, None, Duration::from_secs(30)).await;
        let begins = "`spec.replicas` of Deployment ";
        check(&page, begins, " times a minute since T");
        let found = found(&page, begins);
        assert!(found[0].1.contains("`, horizontal-pod-autoscaler, "), "{found:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_crash_loop_is_a_pod_that_is_ready_and_not_ready() {
    for seed in SEEDS {
        let page = play(&[Scenario::CrashLoop], seed, None, Duration::from_secs(60)).await;
        let found = page.found.borrow();
        let of_pods = found.values().filter(|(_, card)| &*card.kind == "Pod");
        let (at, card) = of_pods.min_by(|one, other| one.0.total_cmp(&other.0)).expect("a finding about a Pod");
        // Of the fields that say so, all of which change together, one is told.
        let sentence = card.sentence("T");
        let fields = ["`status.conditions[Ready].status`", "`status.conditions[ContainersReady].status`"];
        let is_told = fields.iter().any(|field| sentence.starts_with(field))
            || (sentence.starts_with("`status.containerStatuses[") && !sentence.contains("restartCount"));
        let says = is_told && sentence.to_lowercase().contains(": `false` ⇄ `true`, ");
        assert!(says && sentence.ends_with(" times a minute since T"), "{sentence}");
        // The first change was that the Pod became ready. What is wrong began when its container ended.
        let after = at - page.trouble.get().expect("a container ends");
        assert!((0.0..SOON).contains(&after), "{after} ms after the first crash: {sentence}");
    }
}

/// A version that ends at once, so that its Pods are never all available.
fn breaks(client: Client) -> std::pin::Pin<Box<dyn Future<Output = ()>>> {
    Box::pin(async move {
        sleep(Duration::from_secs(3)).await;
        let deployments = client.list(&DEPLOYMENTS, &Scope::default()).await.unwrap_or_default();
        let of = |deployment: &Value| deployment["metadata"]["namespace"] == "shop";
        let deployment = deployments["items"].as_array().and_then(|all| all.iter().find(|one| of(one))).unwrap();
        let container = &deployment["spec"]["template"]["spec"]["containers"][0]["name"];
        let containers = json!([{"name": container, "command": ["false"]}]);
        let patch = json!({"spec": {"template": {"spec": {"containers": containers}}}});
        let name = deployment["metadata"]["name"].as_str().unwrap();
        client.patch(&DEPLOYMENTS, "shop", name, Patch::Strategic(&patch)).await.unwrap();
    })
}

#[tokio::test(start_paused = true)]
async fn a_version_that_ends_at_once_is_a_rollout_that_does_not_progress() {
    for seed in SEEDS {
        let page = play(&[], seed, Some(breaks), Duration::from_secs(30)).await;
        check(&page, "Deployment shop/", "");
        let sentence = found(&page, "Deployment shop/").swap_remove(0).1;
        // A container that has ended is in one of these two states.
        let words = ["Error", "CrashLoopBackOff"].map(|word| format!(", no progress since T; its newest Pods: {word}"));
        assert!(words.iter().any(|words| sentence.ends_with(words)), "{sentence}");
    }
}

/// A program that deletes an object and makes it again, every second.
fn makes_again(client: Client) -> std::pin::Pin<Box<dyn Future<Output = ()>>> {
    Box::pin(async move {
        let client = client.with_user_agent("config-operator");
        loop {
            sleep(Duration::from_secs(1)).await;
            let settings = json!({"metadata": {"name": "flags", "namespace": "shop"}, "data": {"on": "true"}});
            client.create(&CONFIG_MAPS, "shop", &settings).await.unwrap();
            sleep(Duration::from_secs(1)).await;
            client.delete(&CONFIG_MAPS, "shop", "flags", DeleteOptions::default()).await.unwrap();
        }
    })
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_made_again_and_again_is_found() {
    let page = play(&[], 1, Some(makes_again), Duration::from_secs(20)).await;
    check(&page, "ConfigMap shop/flags was deleted and made again ", " 3 times since T");
}
