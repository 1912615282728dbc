//! The tables.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use futures::StreamExt;
use serde_json::{Value, json};

use kubechurn_harness::measure::quantile::Samples;

use crate::server::Server;
use crate::watchers::{Watcher, open};

/// The number of Pods that are listed and watched.
const PODS: usize = 150_000;
/// The requested writes per second.
const RATE: u64 = 5_000;
/// The number of watchers of all collections.
const WATCHERS: usize = 10;
/// The seconds of load that are measured.
const WINDOW: u64 = 20;
/// By what factor the delay of the others may grow when one watcher is blocked.
const MOST_DELAY: f64 = 2.0;

/// Measures memory, and lists of all Pods.
pub async fn lists() {
    let (small, large) = (Server::start(300).await, Server::start(PODS).await);
    let per_object = (large.memory() - small.memory()) as f64 / (PODS - 300) as f64;
    println!("\n## {PODS} Pods\n\n| what | figure |\n|---|---:|");
    println!("| memory of the server at rest, MB | {:.0} |", large.memory() as f64 / 1e6);
    println!("| memory per Pod, with its ReplicaSet, Deployment and Service, bytes | {per_object:.0} |");
    drop(small);
    for (what, query) in [("from the cache", "resourceVersion=0"), ("consistent", "")] {
        let started = Instant::now();
        let bytes = large.get(&format!("/api/v1/pods?{query}")).await.bytes().await.expect("a list").len();
        let seconds = started.elapsed().as_secs_f64();
        println!("| LIST {what}, s for {:.0} MB | {seconds:.2} |", bytes as f64 / 1e6);
    }
    let (started, mut token, mut pages) = (Instant::now(), String::new(), 0);
    loop {
        let page = large.get(&format!("/api/v1/pods?limit=500&continue={token}")).await;
        token = token_of(&page.text().await.expect("a list"));
        pages += 1;
        if token.is_empty() {
            break;
        }
    }
    println!("| LIST in {pages} pages of 500, s | {:.2} |", started.elapsed().as_secs_f64());
    let place =
        "/api/v1/pods?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    let (started, mut frames) = (Instant::now(), 0);
    let mut socket = open(&format!("{}{place}", large.address)).await.expect("the watch opens");
    while let Some(Ok(message)) = socket.next().await {
        frames += 1;
        if message.is_text() && message.into_data().starts_with(b"{\"type\":\"BOOKMARK\"") {
            break;
        }
    }
    println!("| streaming list over WebSocket, s for {frames} frames | {:.2} |", started.elapsed().as_secs_f64());
    println!("| memory of the server after all that, MB | {:.0} |", large.memory() as f64 / 1e6);
}

/// The continue token at the head of a page.
fn token_of(page: &str) -> String {
    let head = &page[..page.floor_char_boundary(600)];
    let token = head.split("\"continue\":\"").nth(1).and_then(|rest| rest.split('"').next());
    token.unwrap_or_default().to_owned()
}

/// Measures ten watchers of all collections under load, without and with a blocked one. Returns false if one missed a
/// write, or was delayed.
pub async fn load() -> bool {
    println!("\n## {PODS} Pods, {RATE} writes/s asked, {WATCHERS} watchers of six kinds, {WINDOW} s each\n");
    println!(
        "| blocked watchers | writes/s | frames/s to all | every write to each | the last came after, s | watches cut and resumed | write to frame p50 / p95 / p99, ms \
         | server CPU, cores |\n|---:|---:|---:|---|---:|---:|---:|---:|"
    );
    let server = Server::start(PODS).await;
    let without = round(&server, 0).await;
    let with = round(&server, 3).await;
    let ratio = with.1 / without.1;
    println!("\nThe median is {ratio:.2} times as long with blocked watchers; more than {MOST_DELAY} fails.");
    without.0 && with.0 && ratio <= MOST_DELAY
}

/// Measures one window of load; returns whether every watcher got every write, and the median delay in milliseconds.
async fn round(server: &Server, blocked: usize) -> (bool, f64) {
    let start = server.control("rate?value=0").await;
    let mut watchers = Vec::new();
    for index in 0..WATCHERS {
        watchers.push(Watcher::start(&server.address, start, index % 2 == 0).await);
    }
    let mut sleepers = Vec::new();
    for _ in 0..blocked {
        let place = format!("{}/api/v1/pods?watch=1&resourceVersion={start}", server.address);
        sleepers.push(open(&place).await.expect("the watch opens"));
    }
    server.control(&format!("rate?value={RATE}")).await;
    let (cpu, begun, first) = (server.cpu(), Instant::now(), server.revision().await);
    let mut delays = Vec::new();
    while begun.elapsed() < Duration::from_secs(WINDOW) {
        delays.extend(probe(server, &mut watchers).await);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    let (seconds, cpu) = (begun.elapsed().as_secs_f64(), server.cpu() - cpu);
    let writes = server.revision().await - first;
    let count = |watchers: &[Watcher]| watchers.iter().map(|it| it.frames.load(Ordering::Relaxed)).sum::<u64>();
    let in_time = count(&watchers);
    let (last, ended) = (server.control("rate?value=0").await, Instant::now());
    // Each revision is one write of one object in one of the collections.
    let expected = last - start;
    let behind = |watchers: &[Watcher]| watchers.iter().any(|it| it.frames.load(Ordering::Relaxed) < expected);
    while behind(&watchers) && ended.elapsed() < Duration::from_secs(60) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let tail = ended.elapsed().as_secs_f64();
    let frames = count(&watchers);
    let complete = watchers.iter().all(|it| it.frames.load(Ordering::Relaxed) == expected);
    let cuts: u64 = watchers.iter().map(|it| it.cuts.load(Ordering::Relaxed)).sum();
    let delays = Samples::new(delays);
    println!(
        "| {blocked} | {:.0} | {:.0} | {} | {tail:.1} | {cuts} | {:.1} / {:.1} / {:.1} | {:.2} |",
        writes as f64 / seconds,
        in_time as f64 / seconds,
        if complete { "yes".to_owned() } else { format!("**no**: {frames} of {}", expected * WATCHERS as u64) },
        delays.at(0.5),
        delays.at(0.95),
        delays.at(0.99),
        cpu.as_secs_f64() / seconds,
    );
    for error in watchers.iter().flat_map(|it| it.errors.lock().expect("nobody panics with it").clone()) {
        println!("\na watch ended for good: {error}\n");
    }
    (complete, delays.at(0.5))
}

/// Writes to one Pod; returns how long after the request each watcher received the change, in milliseconds.
async fn probe(server: &Server, watchers: &mut [Watcher]) -> Vec<f64> {
    let list: Value = server.get("/api/v1/pods?limit=1").await.json().await.expect("a list");
    let metadata = &list["items"][0]["metadata"];
    let text = |field: &str| metadata[field].as_str().unwrap_or_default();
    let url = format!("http://{}/api/v1/namespaces/{}/pods/{}", server.address, text("namespace"), text("name"));
    let stamp = Instant::now();
    let patch = json!({"metadata": {"annotations": {"probe": format!("{stamp:?}")}}});
    let request = server.http.patch(url).header("content-type", "application/merge-patch+json");
    let answer = request.body(patch.to_string()).send().await.expect("it answers");
    let object: Value = answer.json().await.expect("an object");
    let revision = object["metadata"]["resourceVersion"].as_str().and_then(|text| text.parse::<u64>().ok());
    // The storm may have deleted the Pod in between.
    let Some(revision) = revision else { return Vec::new() };
    let waits = watchers.iter_mut().map(|watcher| {
        let wait = watcher.pods.wait_for(move |newest| *newest >= revision);
        async move {
            let arrived = tokio::time::timeout(Duration::from_secs(10), wait).await;
            arrived.is_ok().then(|| stamp.elapsed().as_secs_f64() * 1000.0)
        }
    });
    // A watcher that does not get it counts with the longest wait.
    futures::future::join_all(waits).await.into_iter().map(|delay| delay.unwrap_or(10_000.0)).collect()
}
