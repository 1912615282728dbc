//! What the page finds in each scenario, and that it finds nothing in those in which nothing goes wrong.
//!
//! Everything runs on one thread, on tokio's paused clock, so that minutes pass in moments: the server, the controllers, the
//! users, and for each kind an informer as the page has it. What the informers receive goes the way that it goes in the page:
//! it is recorded, read as a line of the feed, and looked at by the detectors.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::sync::Arc;

use futures::future::LocalBoxFuture;
use futures::stream::{self, LocalBoxStream};
use futures::{FutureExt, StreamExt};
use kubechurn_changes::findings::Card;
use kubechurn_changes::line::{Line, ReceivedChange};
use kubechurn_client::api::extra::Keep;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::reflector::{Action, Input, Options};
use kubechurn_client::cache::shared_informer::{InformerOptions, ReceivedDelta, SharedInformer};
use kubechurn_columns::kinds::{Kind, kind};
use kubechurn_model::feed::wrong::{Entry, Fault, Received, WrongNow};
use kubechurn_model::feed::{Changes, row_of};
use kubechurn_model::history::{Budget, History};
use kubechurn_model::navigation::catalog::MATTERS;
use serde_json::{Value, json};
use tokio::task::{LocalSet, spawn_local};
use tokio::time::{Duration, Instant, sleep, sleep_until};

use super::Scenario;
use super::truth::Truth;
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
/// How many entries of what is wrong now are open, as in the page.
const OPEN: usize = 4;
/// How many rows of the feed are on the first screen of 1440 by 900 pixels.
const FIRST_ROWS: usize = 15;
/// How soon what is wrong must be named, in milliseconds.
const NAMED_IN: f64 = 3_000.0;

/// The Deployment that no scenario changes: what a test does to it is the only cause of what becomes of it.
pub(super) const PLANTED: &str = "why/ledger";

/// What the page has received, and what it has found in that.
pub(super) struct Page {
    began: Instant,
    pub(super) history: RefCell<History>,
    pub(super) changes: RefCell<Changes>,
    /// Each finding as it was found first, by its object and its title, and when.
    pub(super) found: RefCell<BTreeMap<String, (f64, Card)>>,
    /// How many changes were pushed into the feed.
    pushed: RefCell<usize>,
    /// When a Pod first came into a state in which something is wrong.
    trouble: Cell<Option<f64>>,
    /// When each Pod, and each node, first came into such a state: kind and name.
    pub(super) failed: RefCell<BTreeMap<(String, String), f64>>,
    pub(super) wrong: RefCell<WrongNow>,
    /// Set where there is nothing more to wait for.
    pub(super) is_over: Cell<bool>,
    /// Each entry of what is wrong now as it was found first, by its subject and what is wrong, and when.
    pub(super) entries: RefCell<BTreeMap<(String, u8), (f64, Entry)>>,
    truth: RefCell<Truth>,
    /// The entries that were not so when they were looked at last.
    doubted: RefCell<BTreeSet<String>>,
    /// Those that were not so twice in a row, and when.
    false_entries: RefCell<Vec<(f64, String)>>,
}

impl Page {
    pub(super) fn now(&self) -> f64 {
        self.began.elapsed().as_secs_f64() * 1000.0
    }

    /// Reads what was received, as the page does with each frame of the screen; and looks for findings if something was read,
    /// or `looks`.
    fn read(&self, looks: bool) {
        let (mut changes, history) = (self.changes.borrow_mut(), self.history.borrow());
        if changes.waiting() == 0 && !looks {
            return;
        }
        while let Some(sequence) = changes.take_next() {
            let change = history.change(sequence).expect("a change that was just received is kept");
            let received = ReceivedChange {
                seq: sequence,
                at: change.at,
                kind: Arc::from(change.resource.kind),
                key: change.key,
                uid: change.uid,
                delta_type: change.delta_type,
                old: change.old.as_deref(),
                new: change.new.as_deref(),
            };
            let line = Line::new(received, &changes.marks);
            if &*line.kind == "Pod" && line.trouble().is_some() && self.trouble.get().is_none() {
                self.trouble.set(Some(line.at));
            }
            let is_lost = |(path, word): (&str, &str)| path == "status.conditions[Ready].status" && word != "True";
            if line.trouble().is_some() || (&*line.kind == "Node" && line.states().any(is_lost)) {
                let of = (line.kind.to_string(), line.key.to_string());
                self.failed.borrow_mut().entry(of).or_insert(line.at);
            }
            let text = history.change(sequence).and_then(|change| change.new);
            self.wrong.borrow_mut().changed(&line, text.as_deref());
            changes.push(line);
            *self.pushed.borrow_mut() += 1;
        }
        let now = self.now();
        let mut wrong = self.wrong.borrow_mut();
        wrong.look(now, &mut |_| Some(7));
        for entry in wrong.entries() {
            let of = (format!("{} {}", entry.subject.kind, entry.subject.key), entry.fault.number());
            self.entries.borrow_mut().entry(of).or_insert((now, entry.clone()));
        }
        if looks {
            self.doubt(&wrong, now);
        }
        for (card, _) in changes.cards(now) {
            let name = format!("{} {}: {}", card.kind, card.key, card.title());
            self.found.borrow_mut().entry(name).or_insert((now, card));
        }
    }

    /// Compares each entry with the objects. What changed a moment ago may not be looked at yet.
    fn doubt(&self, wrong: &WrongNow, now: f64) {
        let (truth, wall) = (self.truth.borrow(), Timestamp(clock::now()));
        let open = wrong.entries().iter().filter(|entry| entry.ended_at.is_none());
        let not_so: BTreeSet<String> = open.filter(|entry| !truth.is_so(entry, wall)).map(Entry::sentence).collect();
        let before = self.doubted.replace(not_so.clone());
        self.false_entries.borrow_mut().extend(before.intersection(&not_so).map(|sentence| (now, sentence.clone())));
    }

    /// What stands first: the open entries of what is wrong, and the first rows of the feed, each in words.
    pub(super) fn first_lines(&self) -> Vec<String> {
        let (changes, wrong) = (self.changes.borrow(), self.wrong.borrow());
        let entries = wrong.entries().iter().filter(|entry| entry.ended_at.is_none()).take(OPEN).map(|entry| {
            let began = entry.began.as_ref().map(|began| began.words().into_iter().map(|(words, _)| words));
            let began: Vec<String> = began.into_iter().flatten().collect();
            format!("{}, began with {}", entry.sentence(), began.join(" "))
        });
        let feed = changes.shown();
        let rows = feed.rows().take(FIRST_ROWS).map(|entry| {
            let row = row_of(entry, &feed.outcome(entry), false, String::new());
            let words: Vec<&str> = row.words.iter().map(|piece| &*piece.text).collect();
            format!("{} {}{}: {}", row.kind, row.name, row.name_end, words.join(" "))
        });
        entries.chain(rows).collect()
    }

    /// Lists and watches a kind.
    async fn watch(self: Rc<Self>, kind: &'static Kind, client: Client) {
        let lister_watcher = ListerWatcher { client, resource: kind.resource, scope: Scope::default() };
        let keep = Keep { owners: true, ..Keep::default() };
        let reflector = Options { keep, kind: Some(kind.resource.kind), ..Options::default() };
        let options = InformerOptions { reflector, ..InformerOptions::default() };
        let mut informer = SharedInformer::new(kind.decode, options);
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
            let ReceivedDelta { delta_type, object, text, .. } = received;
            let wall = Timestamp(clock::now());
            let resource = kind.resource;
            self.truth.borrow_mut().received((resource.kind, object.key.to_string()), delta_type, text);
            self.wrong.borrow_mut().received(Received { resource, now: at, wall, delta_type, object, text });
            if let Some(sequence) = self.history.borrow_mut().push(kind.resource, received) {
                self.changes.borrow_mut().received(sequence, at);
            }
        })
    }
}

/// Something that a user does to the cluster while the page watches.
pub(super) type Act = Box<dyn FnOnce(Client, Rc<Page>) -> LocalBoxFuture<'static, ()>>;

/// Plays scenarios, and what a user does besides, for some time, and returns what the page found.
pub(super) async fn play(scenarios: &[Scenario], seed: u64, act: Option<Act>, time: Duration) -> Rc<Page> {
    play_with(Args { pods: 60, seed, scenarios: scenarios.to_vec(), ..quiet() }, act, time).await
}

/// Plays a cluster with these options.
pub(super) async fn play_with(args: Args, act: Option<Act>, time: Duration) -> Rc<Page> {
    clock::moved::follow();
    let (seed, scenarios) = (args.seed, args.scenarios.clone());
    let server = serve_from_memory(args).await;
    let router = || server::router(Arc::clone(&server.app));
    let page = Rc::new(Page {
        began: Instant::now(),
        history: RefCell::new(History::new(Budget::Usual.bytes(), seed)),
        changes: RefCell::default(),
        found: RefCell::default(),
        pushed: RefCell::default(),
        trouble: Cell::default(),
        failed: RefCell::default(),
        wrong: RefCell::default(),
        is_over: Cell::default(),
        entries: RefCell::default(),
        truth: RefCell::default(),
        doubted: RefCell::default(),
        false_entries: RefCell::default(),
    });
    let run = async {
        let options = options::Options {
            seed,
            failed_nodes: server.app.control.failed_nodes.clone(),
            pace: controllers::pace::Pace::DEMO,
        };
        spawn_local(controllers::run_here(router(), options));
        // What the page watches by itself, and nothing more.
        let kinds = MATTERS.split(',').filter_map(kind);
        for kind in kinds.filter(|kind| server.app.api.registry.by_name(&qualified(kind)).is_some()) {
            spawn_local(Rc::clone(&page).watch(kind, Client::new(router(), "page")));
        }
        server.app.control.runner.begin(Client::new(router(), "kubectl"), &scenarios);
        server.app.control.runner.reserve(PLANTED);
        if let Some(act) = act {
            spawn_local(act(Client::new(router(), "kubectl"), Rc::clone(&page)));
        }
        let end = page.began + time;
        for turn in 0.. {
            if Instant::now() >= end || page.is_over.get() {
                break;
            }
            sleep(Duration::from_millis(100)).await;
            page.read(turn % 10 == 0);
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
/// first.
fn found(page: &Page, begins: &str) -> Vec<(f64, String)> {
    let found = page.found.borrow();
    let mut sentences: Vec<(f64, f64, String)> = found
        .values()
        .map(|(at, card)| (*at, at - card.since, card.sentence()))
        .filter(|(.., sentence)| sentence.starts_with(begins))
        .collect();
    sentences.sort_by(|one, other| one.0.total_cmp(&other.0));
    sentences.into_iter().map(|(_, after, sentence)| (after, sentence)).collect()
}

/// The first finding whose sentence begins so must be reported soon, and its sentence must end so, after the number of times.
#[track_caller]
fn check(page: &Page, begins: &str, ends: &str) {
    let found = found(page, begins);
    let all = || page.found.borrow().values().map(|(_, card)| card.sentence()).collect::<Vec<_>>();
    let Some((after, sentence)) = found.first() else { panic!("{begins} is not found in {:#?}", all()) };
    assert!(*after < SOON, "{after} ms: {sentence}");
    assert!(sentence.ends_with(ends), "{sentence} does not end with {ends}");
}

async fn is_silent(scenario: Scenario, seed: u64) {
    let page = play(&[scenario], seed, None, Duration::from_secs(600)).await;
    let found = page.found.borrow();
    assert!(found.is_empty(), "{} with the seed {seed}: {found:#?}", scenario.name());
    assert_eq!(*page.false_entries.borrow(), []);
    let entries = page.entries.borrow();
    if scenario == Scenario::Calm {
        // A Job that fails is part of such a day.
        let is_job = |entry: &Entry| matches!(entry.fault, Fault::Job { .. }) && entry.subject.kind == "Job";
        assert!(entries.values().all(|(_, entry)| is_job(entry)), "{entries:#?}");
    }
    // There was much to be silent about.
    assert!(*page.pushed.borrow() > 1_000, "{}", page.pushed.borrow());
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

/// The mixed scenario has crashes, images that do not exist and lost nodes: each of its entries must be one of those, and so
/// for as long as it stands there.
async fn says_what_is_so(seed: u64) {
    let page = play(&Scenario::MIXED, seed, None, Duration::from_secs(600)).await;
    assert_eq!(*page.false_entries.borrow(), [], "the seed {seed}");
    let entries = page.entries.borrow();
    let kinds: BTreeSet<u8> = entries.keys().map(|(_, fault)| *fault).collect();
    assert!(entries.len() > 3 && kinds.len() > 2, "there was enough to be wrong about: {entries:#?}");
}

#[tokio::test(start_paused = true)]
async fn ten_minutes_of_the_mixed_day_with_seed_7_have_no_false_entry() {
    says_what_is_so(7).await;
}

#[tokio::test(start_paused = true)]
async fn ten_minutes_of_the_mixed_day_with_seed_23_have_no_false_entry() {
    says_what_is_so(23).await;
}

/// Each object of a kind that came into a state in which something is wrong must be an entry soon after the state was received:
/// its own, or that of the workload whose name its own begins with.
#[track_caller]
fn are_named(page: &Page, kind: &str) {
    let (failed, entries) = (page.failed.borrow(), page.entries.borrow());
    let states = failed.iter().filter(|((of, _), at)| of == kind && **at + NAMED_IN < page.now());
    let mut named = 0;
    for ((_, name), state) in states {
        let is_of = |(at, entry): &(f64, Entry)| {
            let is_own = (entry.subject.kind == "Node") == (kind == "Node");
            is_own && name.starts_with(&entry.subject.key.to_string()) && *at <= state + NAMED_IN
        };
        assert!(entries.values().any(is_of), "{kind} {name}, {state} ms: {entries:#?}");
        named += 1;
    }
    assert!(named > 0, "{failed:#?}");
}

#[tokio::test(start_paused = true)]
async fn pods_that_crash_are_named_at_once_with_how_they_ended() {
    for seed in SEEDS {
        let page = play(&[Scenario::CrashLoop], seed, None, Duration::from_secs(90)).await;
        are_named(&page, "Pod");
        let entries = page.entries.borrow();
        let crash = entries.values().find(|(_, entry)| matches!(entry.fault, Fault::Crash { .. }));
        let (_, entry) = crash.expect("an entry about a crash");
        let sentence = entry.sentence();
        assert!(entry.subject.kind == "Deployment" && entry.subject.resource.is_some(), "{sentence}");
        assert!(
            sentence.contains(" Pod") && sentence.contains(" crash") && sentence.contains("exit code"),
            "{sentence}"
        );
        // The version that crashes was rolled out before the eyes of the page.
        let began = entry.began.as_ref().expect("the change is proven by the revision");
        assert!(!began.writer.is_empty() && began.at <= entry.since, "{began:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_image_that_does_not_exist_is_named_with_the_change_that_brought_it() {
    let mut pulls = 0;
    for seed in [1, 7] {
        let page = play(&[Scenario::Rollout], seed, None, Duration::from_secs(240)).await;
        for (at, entry) in page.entries.borrow().values().filter(|(_, entry)| matches!(entry.fault, Fault::Pull { .. }))
        {
            let began = entry.began.as_ref().expect("the change is proven by the revision");
            let words: String = began.words().into_iter().map(|(words, _)| words).collect::<Vec<_>>().join(" ");
            assert!(entry.subject.kind == "Deployment" && words.starts_with("image "), "{}: {words}", entry.sentence());
            assert!(at - entry.since < NAMED_IN, "{} after {} ms", entry.sentence(), at - entry.since);
            pulls += 1;
        }
    }
    assert!(pulls > 0, "no image that does not exist was rolled out");
}

#[tokio::test(start_paused = true)]
async fn a_node_that_fails_is_named_with_its_pods() {
    for seed in SEEDS {
        let page = play(&[Scenario::NodeFailure], seed, None, Duration::from_secs(120)).await;
        are_named(&page, "Node");
        let entries = page.entries.borrow();
        let lost: Vec<&Entry> =
            entries.values().map(|(_, entry)| entry).filter(|entry| entry.fault == Fault::NotReady).collect();
        assert_eq!(lost.len(), 1, "{entries:#?}");
        assert!(lost[0].sentence().ends_with(": not ready, 7 Pods on it"), "{}", lost[0].sentence());
        assert_eq!(lost[0].began.as_ref().map(|began| began.words()[0].0.clone()).as_deref(), Some("Ready"));
    }
}

#[tokio::test(start_paused = true)]
async fn a_hot_loop_is_one_fight_and_what_follows_from_it_is_none() {
    for seed in SEEDS {
        let page = play(&[Scenario::HotLoop], seed, None, Duration::from_secs(10)).await;
        check(&page, "Deployment ", ": `gold` ⇄ `silver`, mesh-operator and policy-operator");
        let fights = found(&page, "Deployment ");
        let field = ": metadata.annotations[\"mesh.example/tier\"] is fought over by two managers, ";
        assert!(fights[0].1.contains(field), "{fights:?}");
        // The Deployment copies the annotation to its ReplicaSet, which is written as often.
        assert_eq!(found(&page, "ReplicaSet "), []);
    }
}

#[tokio::test(start_paused = true)]
async fn an_autoscaler_that_cannot_make_up_its_mind_is_a_field_that_flaps() {
    for seed in SEEDS {
        let page = play(&[Scenario::AutoscalerFlap], seed, None, Duration::from_secs(30)).await;
        check(&page, "Deployment ", "");
        let found = found(&page, "Deployment ");
        let says = [": spec.replicas goes to and fro ", " by horizontal-pod-autoscaler: "];
        assert!(says.iter().all(|words| found[0].1.contains(words)), "{found:?}");
    }
}

/// A version that ends at once, so that its Pods are never all available.
fn breaks() -> Act {
    Box::new(|client, _| {
        async move {
            sleep(Duration::from_secs(3)).await;
            let deployments = client.list(&DEPLOYMENTS, &Scope::default()).await.unwrap_or_default();
            let of = |deployment: &Value| deployment["metadata"]["namespace"] == "shop";
            let deployment = deployments["items"].as_array().and_then(|all| all.iter().find(|one| of(one))).unwrap();
            let container = &deployment["spec"]["template"]["spec"]["containers"][0]["name"];
            let containers = json!([{"name": container, "command": ["false"]}]);
            let patch = json!({"spec": {"template": {"spec": {"containers": containers}}}});
            let name = deployment["metadata"]["name"].as_str().unwrap();
            client.patch(&DEPLOYMENTS, "shop", name, Patch::Strategic(&patch)).await.unwrap();
        }
        .boxed_local()
    })
}

#[tokio::test(start_paused = true)]
async fn a_version_that_ends_at_once_is_a_rollout_that_does_not_progress() {
    for seed in SEEDS {
        let page = play(&[], seed, Some(breaks()), Duration::from_secs(30)).await;
        check(&page, "Deployment shop/", "");
        let sentence = found(&page, "Deployment shop/").swap_remove(0).1;
        // A container that has ended is in one of these two states.
        let words = ["Error", "CrashLoopBackOff"].map(|word| format!("updated; its newest Pods: {word}"));
        assert!(words.iter().any(|words| sentence.ends_with(words)), "{sentence}");
    }
}

/// A program that deletes an object and makes it again, every second.
fn makes_again() -> Act {
    Box::new(|client, _| {
        async move {
            let client = client.with_user_agent("config-operator");
            loop {
                sleep(Duration::from_secs(1)).await;
                let settings = json!({"metadata": {"name": "flags", "namespace": "shop"}, "data": {"on": "true"}});
                client.create(&CONFIG_MAPS, "shop", &settings).await.unwrap();
                sleep(Duration::from_secs(1)).await;
                client.delete(&CONFIG_MAPS, "shop", "flags", DeleteOptions::default()).await.unwrap();
            }
        }
        .boxed_local()
    })
}

#[tokio::test(start_paused = true)]
async fn an_object_that_is_made_again_and_again_is_found() {
    let page = play(&[], 1, Some(makes_again()), Duration::from_secs(20)).await;
    check(&page, "ConfigMap shop/flags: is deleted and made again 3 times in ", "");
}
