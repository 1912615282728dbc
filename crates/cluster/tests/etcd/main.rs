//! A demo cluster over an etcd that is killed in the middle of writes and started again: acknowledged writes must not
//! be lost.
//!
//! `ETCD` is the path of etcd; without it, etcd is searched for in `PATH`.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::Semaphore;

use kubechurn_harness::ports::free_port;
use kubechurn_harness::process::{Process, TemporaryFolder};
use kubechurn_harness::tools;

const CONFIG_MAPS: &str = "/api/v1/namespaces/default/configmaps";
/// The number of clients that write at the same time.
const CLIENTS: usize = 8;
/// How often the server is killed.
const ROUNDS: usize = 5;
/// The number of acknowledged writes before each kill.
const WRITES: u32 = 120;
/// Longer than anything here takes, on the slowest machine.
const DEADLINE: Duration = Duration::from_secs(60);

async fn etcd(folder: &Path) -> (Process, String) {
    let (url, peers) = (format!("http://127.0.0.1:{}", free_port()), format!("http://127.0.0.1:{}", free_port()));
    let data = folder.join("data");
    let data = data.to_str().expect("a path that is text");
    let arguments = ["--data-dir", data, "--listen-client-urls", &url, "--advertise-client-urls", &url]
        .into_iter()
        .chain(["--listen-peer-urls", &peers, "--heartbeat-interval", "20", "--election-timeout", "200"])
        .collect::<Vec<_>>();
    let etcd = Process::start("etcd", &tools::etcd(), folder, &arguments);
    etcd.answers(&format!("{url}/health")).await;
    (etcd, url)
}

async fn serve(etcd: &str) -> (Process, String) {
    let arguments = ["--etcd", etcd, "--pods", "5", "--rate", "0", "--port", "0"];
    let server =
        Process::start("the demo cluster", Path::new(env!("CARGO_BIN_EXE_cluster")), Path::new("."), &arguments);
    let url = server.line_after("listening on").await;
    (server, url)
}

/// What a client knows about its object: the newest number that was acknowledged, and a number that it has sent without
/// an answer, which may or may not have been written.
#[derive(Debug, Clone, Copy, Default)]
struct Written {
    acknowledged: Option<u64>,
    unanswered: Option<u64>,
}

/// Writes numbers into objects of its own, in turn, until the server is killed.
async fn write(
    url: String,
    client: usize,
    acknowledged: Arc<Semaphore>,
    mut written: BTreeMap<String, Written>,
) -> BTreeMap<String, Written> {
    let http = reqwest::Client::new();
    let first = written.values().filter_map(|one| one.acknowledged).max().unwrap_or_default() + 1;
    for number in first.. {
        let name = format!("client-{client}-{}", number % 7);
        let body = json!({"metadata": {"name": name}, "data": {"number": number.to_string()}}).to_string();
        let one = written.entry(name.clone()).or_default();
        let request = match one.acknowledged {
            Some(_) => http.put(format!("{url}{CONFIG_MAPS}/{name}")),
            None => http.post(format!("{url}{CONFIG_MAPS}")),
        };
        one.unanswered = Some(number);
        let Ok(answer) = request.body(body).send().await else { return written };
        assert!(answer.status().is_success(), "{name}: {}", answer.status());
        *one = Written { acknowledged: Some(number), unanswered: None };
        acknowledged.add_permits(1);
    }
    written
}

/// The numbers in the storage.
async fn numbers(url: &str) -> BTreeMap<String, u64> {
    let answer = reqwest::get(format!("{url}{CONFIG_MAPS}")).await.expect("the server answers");
    let list: Value = answer.json().await.expect("it answers in JSON");
    let number = |item: &Value| {
        Some((item["metadata"]["name"].as_str()?.to_owned(), item["data"]["number"].as_str()?.parse().ok()?))
    };
    list["items"].as_array().expect("a list has items").iter().filter_map(number).collect()
}

#[tokio::test]
async fn no_acknowledged_write_is_lost_when_the_server_is_killed() {
    let folder = TemporaryFolder::new("etcd");
    let (_etcd, etcd) = etcd(folder.path()).await;
    let mut written = vec![BTreeMap::new(); CLIENTS];
    let (mut server, mut url) = serve(&etcd).await;
    for round in 0..ROUNDS {
        let acknowledged = Arc::new(Semaphore::new(0));
        let clients = std::mem::take(&mut written).into_iter().enumerate();
        let writers: Vec<_> = clients
            .map(|(client, written)| tokio::spawn(write(url.clone(), client, Arc::clone(&acknowledged), written)))
            .collect();
        let enough = tokio::time::timeout(DEADLINE, acknowledged.acquire_many(WRITES)).await;
        enough.expect("they are written in time").expect("nobody closes it").forget();
        // Dropping a process kills it with SIGKILL, while all clients are writing.
        drop(server);
        for writer in writers {
            written.push(tokio::time::timeout(DEADLINE, writer).await.expect("it ends in time").expect("it ends well"));
        }
        (server, url) = serve(&etcd).await;
        let numbers = numbers(&url).await;
        for (name, one) in written.iter_mut().flatten() {
            let found = numbers.get(name).copied();
            let holds = found == one.acknowledged || (found.is_some() && found == one.unanswered);
            assert!(holds, "round {round}: {name} is {found:?}, after {one:?}");
            *one = Written { acknowledged: found, unanswered: None };
        }
    }
}
