//! A page on a demo cluster of one size: the time until all rows are shown, the cost of load, of sorts and filters, and
//! of relists.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::measure::freshness;
use kubechurn_harness::measure::metrics::{self, LONG_TASKS, Metrics};
use kubechurn_harness::measure::quantile::Samples;
use kubechurn_harness::page::INSTRUMENTS;
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::wait::{holds, wait_until};

use crate::bare;

/// The requested writes per second.
pub const RATE: u32 = 5_000;
/// The seconds of load in one window.
pub const WINDOW: u64 = 20;
/// How often each filter and each sort is repeated. A machine with other load is interrupted now and then, by tens of
/// milliseconds, while the page's own time is the same each time.
pub const ROUNDS: usize = 5;

/// The resync period where resyncs are measured, in seconds.
pub const RESYNC: u32 = 5;

/// Reads the rows whenever the document changes.
const WATCHERS: &str = "
    window.__start = { first: null, all: null };
    window.__pods = () => window.kubechurn?.status?.().find(status => status.resource === 'pods') ?? {};
    const look = () => {
        if (document.querySelector('[role=row][data-key]') !== null) __start.first ??= performance.now();
        if (__pods().synced && __pods().ledger.queued === 0) __start.all = performance.now();
        else setTimeout(look, 20);
    };
    look();
    window.__answer = act => new Promise(resolve => {
        const rows = () => [...document.querySelectorAll('[role=row][data-key]')].slice(0, 20).map(row => row.dataset.key).join(' ');
        const steps = [];
        let last = rows();
        let done = null;
        __long.length = 0;
        const begin = performance.now();
        const observer = new MutationObserver(() => {
            const now = rows();
            if (now !== last) steps.push(performance.now() - begin);
            last = now;
            done = document.querySelector('[data-testid=progress]')?.textContent ? null : done ?? performance.now() - begin;
        });
        observer.observe(document.body, { childList: true, subtree: true, attributes: true, characterData: true });
        act();
        setTimeout(() => {
            observer.disconnect();
            const count = document.querySelector('[data-testid=row-count]').textContent;
            resolve({ first: steps[0] ?? null, right: steps.at(-1) ?? null, done, long: [...__long], count });
        }, 4000);
    });
    window.__filter = text => __answer(() => {
        const field = document.querySelector('[data-testid=filter]');
        field.value = text;
        field.dispatchEvent(new Event('input', { bubbles: true }));
    });
    window.__sort = title => __answer(() => document.querySelector(`[role=columnheader][data-col=\"${title}\"] button`).click());";

/// The page shows Pods, and all other kinds that a storm writes are pinned.
const EVERY_KIND: &str = "#/pods?pin=events,nodes,replicasets,deployments,jobs";
/// The same kinds, whose changes are in view.
const CHANGES: &str = "#/changes?pin=events,nodes,replicasets,deployments,jobs";
/// The same kinds, and ConfigMaps in view.
const CONFIG_MAPS: &str = "#/configmaps?pin=pods,events,nodes,replicasets,deployments,jobs";
/// The same, and who uses one of them.
const SETTINGS: &str = "#/configmaps?sel=default/settings&pin=pods,events,nodes,replicasets,deployments,jobs";
/// The writes a second while Pods fail, and how many of them do.
const BESIDE: u32 = 200;
const FAILING: usize = 50;

/// The page, its cluster and its proxy.
pub struct Session {
    cluster: Cluster,
    proxy: KubectlProxy,
    browser: Browser,
    /// The result of [`bare::watch`], in processor seconds per byte.
    bare: f64,
}

/// The times and the memory until all rows are shown.
pub struct Start {
    pub first: f64,
    pub all: f64,
    pub long: Samples,
    pub wasm: f64,
}

/// A window of load, in which no script runs in the page.
pub struct Window {
    /// The writes per second that the cluster made.
    pub done: f64,
    /// The bytes that the page received, and events per second.
    pub bytes: f64,
    pub received: f64,
    pub busy: f64,
    /// The processor time of the page's process and of its main thread, in seconds.
    pub process: f64,
    pub thread: f64,
    pub long: Samples,
}

/// The figures of one measurement under load.
pub struct Load {
    pub window: Window,
    pub frames: Samples,
    pub freshness: Samples,
    /// The processor time, for as many bytes, of the process of a page that only parses its watch, and of `JSON.parse`
    /// alone, in seconds.
    pub bare: f64,
    pub parse: f64,
    pub wasm: f64,
    /// The bytes that the recorder may take for the texts of versions.
    pub budget: f64,
}

/// The answers to one keystroke or click, one per round.
pub struct Answers {
    pub what: String,
    pub count: String,
    /// The milliseconds until the rows first changed, until they were final, and until the order was complete.
    pub first: Samples,
    pub right: Samples,
    pub done: Samples,
    /// The number of tasks over 50 ms in each round, and their total time.
    pub tasks: Samples,
    pub long: Samples,
}

/// One answer.
struct Answer {
    what: String,
    times: [f64; 3],
    long: Vec<f64>,
    count: String,
}

impl Answers {
    /// Groups the answers of several rounds.
    fn of(rounds: &[Vec<Answer>]) -> Vec<Answers> {
        let Some(first) = rounds.first() else { return Vec::new() };
        let answers = first.iter().enumerate().map(|(at, answer)| {
            let rounds = || rounds.iter().filter_map(|round| round.get(at));
            let times = |which: usize| {
                Samples::new(rounds().map(|answer| answer.times[which]).filter(|time| time.is_finite()).collect())
            };
            Answers {
                what: answer.what.clone(),
                count: answer.count.clone(),
                first: times(0),
                right: times(1),
                done: times(2),
                tasks: Samples::new(rounds().map(|answer| answer.long.len() as f64).collect()),
                long: Samples::new(rounds().flat_map(|answer| answer.long.iter().copied()).collect()),
            }
        });
        answers.collect()
    }
}

impl Session {
    /// A cluster of `pods` Pods without load, and a page that has them all.
    pub async fn open(pods: u32) -> (Session, Start) {
        let cluster = Cluster::start(&Options { pods, ..Options::default() }).await;
        let proxy = KubectlProxy::start(cluster.port()).await;
        cluster.rate(RATE).await;
        let bare = bare::watch(&proxy.url(), WINDOW).await;
        cluster.rate(0).await;
        let browser = Browser::start(&format!("{INSTRUMENTS}{LONG_TASKS}{WATCHERS}")).await;
        browser.driver.goto(format!("{}#/pods", proxy.url())).await.expect("the page loads");
        browser.devtools("Performance.enable", json!({})).await;
        let start = wait_until("all rows are there", Duration::from_secs(180), async || {
            let start = browser.run("return { ...__start, state: __pods() }", Vec::new()).await;
            start["first"].as_f64().zip(start["all"].as_f64()).ok_or_else(|| start.to_string())
        })
        .await;
        let session = Session { cluster, proxy, browser, bare };
        let (first, all) = start;
        let start = Start {
            first,
            all,
            long: metrics::long_tasks(&session.browser).await,
            wasm: metrics::wasm(&session.browser).await,
        };
        (session, start)
    }

    /// Twenty seconds in which no script runs in the page, then frames, then freshness, all under load.
    pub async fn load(&self) -> Load {
        let window = self.window().await;
        let frames = metrics::frames(&self.browser, WINDOW).await;
        let freshness = freshness::probe(&self.browser, &self.cluster).await;
        self.cluster.rate(0).await;
        let (bare, parse) = (self.bare * window.bytes, self.parse().await * window.bytes);
        let wasm = metrics::wasm(&self.browser).await;
        let budget = self.browser.run("return kubechurn.recorder().budget", Vec::new()).await;
        let budget = budget.as_f64().expect("the recorder has a budget");
        Load { window, frames, freshness, bare, parse, wasm, budget }
    }

    /// Opens an address, and waits until all of its kinds are live.
    async fn watches(&self, address: &str) {
        self.browser.run("location.hash = arguments[0]", vec![address.into()]).await;
        let kinds = address.split(',').count() + 1;
        wait_until("every kind is live", Duration::from_secs(60), async || {
            let states = self.browser.run("return kubechurn.status().map(status => status.state)", Vec::new()).await;
            // What was watched for the page before may be watched still.
            let all = states.as_array().map(Vec::as_slice).unwrap_or_default();
            holds(all.len() >= kinds && all.iter().all(|state| state == "live"), || states.to_string())
        })
        .await;
    }

    /// Twenty seconds of load in which every write of the cluster reaches the page, then freshness.
    pub async fn wide(&self) -> (Window, Samples) {
        self.rests().await;
        self.watches(EVERY_KIND).await;
        let window = self.window().await;
        let freshness = freshness::probe(&self.browser, &self.cluster).await;
        self.cluster.rate(0).await;
        (window, freshness)
    }

    /// While the cluster goes on, the Pods of a Deployment fail after a change of its image: the milliseconds until that is an entry of
    /// *Wrong now*, and until the causes of the incident are shown once it is opened; and the tasks over 50 ms. Every kind is watched.
    pub async fn incident(&self) -> (f64, f64, Samples) {
        self.cluster.put(&deployment("example/ledger:1", 1)).await;
        self.browser.run("location.hash = arguments[0]", vec![CHANGES.into()]).await;
        self.cluster.rate(BESIDE).await;
        self.cluster.advance(u64::from(BESIDE) * 5, BESIDE).await;
        metrics::forget_long_tasks(&self.browser).await;
        let began = Instant::now();
        for object in failing() {
            self.cluster.put(&object).await;
        }
        let entry = "return [...document.querySelectorAll('[data-testid=wrong-why]')].map(one => one.getAttribute('href') ?? '').find(href => href.includes('ledger')) ?? null";
        let href = wait_until("it is an entry", Duration::from_secs(60), async || {
            let href = self.browser.run(entry, Vec::new()).await;
            href.as_str().map(str::to_owned).ok_or_else(|| String::from("it is none"))
        })
        .await;
        let (told, began) = (began.elapsed(), Instant::now());
        self.browser.run("location.hash = arguments[0]", vec![href.into()]).await;
        let first = "return document.querySelector('[data-testid=why-cause]')?.textContent ?? ''";
        wait_until("its cause is shown", Duration::from_secs(60), async || {
            let cause = self.browser.run(first, Vec::new()).await;
            holds(cause.as_str().is_some_and(|cause| cause.contains("image")), || cause.to_string())
        })
        .await;
        let opened = began.elapsed();
        // What goes on changes the incident.
        self.cluster.advance(u64::from(BESIDE) * 10, BESIDE).await;
        self.cluster.rate(0).await;
        let [told, opened] = [told, opened].map(|time| time.as_secs_f64() * 1_000.0);
        (told, opened, metrics::long_tasks(&self.browser).await)
    }

    /// While the cluster goes on, somebody looks at a ConfigMap that is to go and that some Pods use: the milliseconds until all of
    /// them and what holds it are shown, and until it is said which have the old data after a change; and the tasks over 50 ms.
    pub async fn users(&self) -> (f64, f64, Samples) {
        self.watches(CONFIG_MAPS).await;
        self.cluster.put(&settings("info")).await;
        for number in 0..FAILING {
            self.cluster.put(&user(number)).await;
        }
        self.cluster.rate(BESIDE).await;
        metrics::forget_long_tasks(&self.browser).await;
        let began = Instant::now();
        self.browser.run("location.hash = arguments[0]", vec![SETTINGS.into()]).await;
        let words = "return ['holds-held', 'uses-words'].map(id => document.querySelector(`[data-testid=inspector] [data-testid=${id}]`)?.textContent ?? '').join(' ')";
        let says = async |what: &str, wanted: &[&str]| {
            wait_until(what, Duration::from_secs(60), async || {
                let found = self.browser.run(words, Vec::new()).await;
                let found = found.as_str().unwrap_or_default().to_owned();
                holds(wanted.iter().all(|wanted| found.contains(wanted)), || found)
            })
            .await;
        };
        says("what holds it and who uses it is shown", &["archive.example.com/keep", &FAILING.to_string()]).await;
        let (shown, began) = (began.elapsed(), Instant::now());
        self.cluster.put(&settings("debug")).await;
        says("it is said that they have the old data", &["old data"]).await;
        let changed = began.elapsed();
        self.cluster.advance(u64::from(BESIDE) * 10, BESIDE).await;
        self.cluster.rate(0).await;
        let [shown, changed] = [shown, changed].map(|time| time.as_secs_f64() * 1_000.0);
        (shown, changed, metrics::long_tasks(&self.browser).await)
    }

    /// Measures a window of load; the load continues afterwards.
    async fn window(&self) -> Window {
        self.cluster.rate(RATE).await;
        tokio::time::sleep(Duration::from_secs(2)).await;
        metrics::forget_long_tasks(&self.browser).await;
        let (revision, started) = (self.cluster.revision().await, Instant::now());
        let before = (Metrics::read(&self.browser).await, self.counter("bytes").await, self.counter("frames").await);
        tokio::time::sleep(Duration::from_secs(WINDOW)).await;
        let after = (Metrics::read(&self.browser).await, self.counter("bytes").await, self.counter("frames").await);
        let elapsed = started.elapsed().as_secs_f64();
        Window {
            done: (self.cluster.revision().await - revision) as f64 / elapsed,
            bytes: after.1 - before.1,
            received: (after.2 - before.2) / elapsed,
            busy: (after.0.task - before.0.task) / (after.0.timestamp - before.0.timestamp),
            process: after.0.process - before.0.process,
            thread: after.0.thread - before.0.thread,
            long: metrics::long_tasks(&self.browser).await,
        }
    }

    /// The cost of `JSON.parse` of watch frames in this browser: processor seconds per byte.
    async fn parse(&self) -> f64 {
        let script = "fetch('/k8s/api/v1/pods?limit=500').then(answer => answer.json()).then(list => {
            window.__frames = list.items.map(object => JSON.stringify({ type: 'MODIFIED', object }));
            return __frames.reduce((sum, frame) => sum + frame.length, 0);
        })";
        let bytes = self.browser.resolve(script).await.as_f64().unwrap_or(f64::NAN);
        let rounds = (60e6 / bytes).ceil();
        let before = Metrics::read(&self.browser).await;
        // In slices, because otherwise the page would have one task of a second.
        let script = format!(
            "(async () => {{
                for (let round = 0; round < {rounds}; round += 1) {{
                    for (const frame of __frames) if (JSON.parse(frame).type !== 'MODIFIED') throw 'no frame';
                    await new Promise(resolve => setTimeout(resolve));
                }}
            }})()"
        );
        self.browser.resolve(&script).await;
        let after = Metrics::read(&self.browser).await;
        (after.process - before.process) / (bytes * rounds)
    }

    /// Types a filter letter by letter, removes it, and sorts by a few columns; repeats that for each round.
    pub async fn answers(&self) -> Vec<Answers> {
        self.rests().await;
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            let mut answers = Vec::new();
            for text in ["w", "we", "web", "", "running", "STATUS:Running !web", "/-[a-f]+[0-9]/", ""] {
                let what = if text.is_empty() { String::from("filter taken back") } else { format!("filter `{text}`") };
                answers.push(self.answer(what, format!("__filter({})", json!(text))).await);
            }
            for title in ["NAME", "NAME", "STATUS", "RESTARTS", "RESTARTS", "AGE", "Δ"] {
                answers.push(self.answer(format!("sort by {title}"), format!("__sort({})", json!(title))).await);
            }
            rounds.push(answers);
            // Sorted by the last change, rows would leave the window as fast as others change; and each round must
            // begin alike.
            self.browser.run("location.hash = '#/pods'", Vec::new()).await;
            wait_until("the order is the first again", Duration::from_secs(10), async || {
                let script = "return document.querySelector('[data-testid=progress]')?.textContent ?? ''";
                let progress = self.browser.run(script, Vec::new()).await;
                holds(progress == "", || progress.to_string())
            })
            .await;
        }
        Answers::of(&rounds)
    }

    async fn answer(&self, what: String, script: String) -> Answer {
        let found = self.browser.resolve(&script).await;
        let times = ["first", "right", "done"].map(|name| found[name].as_f64().unwrap_or(f64::NAN));
        let long = found["long"].as_array().into_iter().flatten().filter_map(serde_json::Value::as_f64).collect();
        let count = found["count"].as_str().unwrap_or_default().to_owned();
        eprintln!("{what}: {} ms, tasks over 50 ms: {long:?}", times.map(metrics::milliseconds).join(" / "));
        Answer { what, times, long, count }
    }

    /// Makes the page list everything again, `times` times. Returns the memory after each relist, and the longest
    /// tasks.
    pub async fn relists(&mut self, times: usize) -> (Vec<f64>, Samples) {
        self.rests().await;
        metrics::forget_long_tasks(&self.browser).await;
        let mut memory = vec![metrics::wasm(&self.browser).await];
        for _ in 0..times {
            let lists = self.counter("lists").await;
            // The page's version must be older than the oldest event that the server keeps.
            self.proxy.kill().await;
            self.cluster.rate(100).await;
            self.cluster.advance(100, 100).await;
            self.cluster.rate(0).await;
            self.cluster.control("compact").await;
            self.proxy.start_again().await;
            wait_until("the page has listed again", Duration::from_secs(180), async || {
                let state = self.browser.run("return __pods()", Vec::new()).await;
                let again = state["ledger"]["lists"].as_f64() > Some(lists);
                holds(again && state["state"] == "live" && state["ledger"]["queued"] == 0, || state.to_string())
            })
            .await;
            memory.push(metrics::wasm(&self.browser).await);
        }
        (memory, metrics::long_tasks(&self.browser).await)
    }

    /// A page with a short resync period, over `times` resyncs: the tasks over 50 ms, and the milliseconds of each
    /// resync until all handlers were called.
    pub async fn resyncs(&self, times: usize) -> (Samples, Samples) {
        let page = format!("{}?resync={RESYNC}#/pods", self.proxy.url());
        self.browser.driver.goto(page).await.expect("the page loads");
        wait_until("all rows are there again", Duration::from_secs(180), async || {
            let start = self.browser.run("return { ...__start, state: __pods() }", Vec::new()).await;
            holds(start["all"].is_number(), || start.to_string())
        })
        .await;
        metrics::forget_long_tasks(&self.browser).await;
        let script = format!(
            "new Promise(resolve => {{
                const took = [];
                let [known, began] = [__pods().ledger.resyncs, null];
                const look = () => {{
                    const {{ resyncs, queued }} = __pods().ledger;
                    if (resyncs !== known) [known, began] = [resyncs, performance.now()];
                    if (began !== null && queued === 0) {{ took.push(performance.now() - began); began = null; }}
                    if (took.length === {times}) resolve(took);
                    else setTimeout(look, 5);
                }};
                look();
            }})"
        );
        let took = metrics::samples(&self.browser.resolve(&script).await);
        (metrics::long_tasks(&self.browser).await, took)
    }

    /// Waits until the page has processed everything that was sent.
    async fn rests(&self) {
        wait_until("the page rests", Duration::from_secs(60), async || {
            let before = self.counter("frames").await;
            tokio::time::sleep(Duration::from_millis(1500)).await;
            let state = self.browser.run("return __pods()", Vec::new()).await;
            let frames = state["ledger"]["frames"].as_f64();
            holds(frames == Some(before) && state["ledger"]["queued"] == 0, || state.to_string())
        })
        .await;
    }

    /// Ends the session.
    pub async fn end(self) {
        self.browser.quit().await;
    }

    async fn counter(&self, name: &str) -> f64 {
        let script = "return kubechurn.status().reduce((sum, status) => sum + status.ledger[arguments[0]], 0)";
        let value = self.browser.run(script, vec![name.into()]).await;
        value.as_f64().unwrap_or(f64::NAN)
    }
}

/// An object of the namespace `default`, with its controller.
fn object_of(kind: &str, name: &str, owner: Option<(&str, &str)>, rest: &Value) -> Value {
    let owners = owner.map(
        |(kind, name)| json!({"kind": kind, "apiVersion": "apps/v1", "name": name, "uid": name, "controller": true}),
    );
    let group = if ["Pod", "ConfigMap"].contains(&kind) { "v1" } else { "apps/v1" };
    let mut object = json!({"kind": kind, "apiVersion": group,
        "metadata": {"name": name, "namespace": "default", "uid": name, "ownerReferences": owners.into_iter().collect::<Vec<_>>()}});
    rest.as_object().into_iter().flatten().for_each(|(name, value)| object[name] = value.clone());
    object
}

/// The Deployment whose Pods fail.
fn deployment(image: &str, generation: u32) -> Value {
    let containers = json!([{"name": "main", "image": image}]);
    let spec = json!({"replicas": FAILING, "template": {"spec": {"containers": containers}}});
    let mut object =
        object_of("Deployment", "ledger", None, &json!({"spec": spec, "status": {"observedGeneration": generation}}));
    object["metadata"]["generation"] = generation.into();
    object
}

/// The ConfigMap that some Pods use. It is to go, and a finalizer holds it.
fn settings(level: &str) -> Value {
    let mut object = object_of("ConfigMap", "settings", None, &json!({"data": {"LEVEL": level}}));
    object["metadata"]["deletionTimestamp"] = json!("2026-11-20T10:00:00Z");
    object["metadata"]["finalizers"] = json!(["archive.example.com/keep"]);
    object
}

/// A Pod that has run for long, and took the ConfigMap when it started.
fn user(number: usize) -> Value {
    let from = json!([{"configMapRef": {"name": "settings"}}]);
    let running = json!([{"name": "main", "ready": true, "state": {"running": {"startedAt": "2020-01-01T00:00:00Z"}}}]);
    let spec = json!({"containers": [{"name": "main", "image": "example/ledger:1", "envFrom": from}]});
    let rest = json!({"spec": spec, "status": {"phase": "Running", "containerStatuses": running}});
    object_of("Pod", &format!("ledger-1-{number}"), None, &rest)
}

/// What comes of another image.
fn failing() -> Vec<Value> {
    let image = "example/ledger:2-typo";
    let containers = json!([{"name": "main", "image": image}]);
    let spec = json!({"replicas": FAILING, "template": {"spec": {"containers": containers}}});
    let set = object_of("ReplicaSet", "ledger-2", Some(("Deployment", "ledger")), &json!({"spec": spec, "status": {}}));
    let state = json!([{"name": "main", "image": image, "ready": false, "restartCount": 0,
        "state": {"waiting": {"reason": "ErrImagePull", "message": format!("{image}: not found")}}}]);
    let rest = json!({"spec": {"containers": containers}, "status": {"phase": "Pending", "containerStatuses": state}});
    let pod = |number| object_of("Pod", &format!("ledger-2-{number}"), Some(("ReplicaSet", "ledger-2")), &rest);
    [deployment(image, 2), set].into_iter().chain((0..FAILING).map(pod)).collect()
}
