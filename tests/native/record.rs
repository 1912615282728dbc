//! `kubechurn record` against the demo cluster, through a kubeconfig, and `kubechurn changes` on what it has written.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt, copy_bidirectional};
use tokio::net::{TcpListener, TcpStream};
use tokio::process::{Child, Command};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

use kubechurn_client::cache::delta::DeltaType;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::process::TemporaryFolder;
use kubechurn_harness::relay::{Direction, Relay};
use kubechurn_harness::tools;
use kubechurn_harness::wait::{holds, wait_until};
use kubechurn_recording::{Line, Step, Text, member, native};

use crate::recording::Opened;

pub const SOON: Duration = Duration::from_secs(20);
/// The kinds that the tests record, by kind, and where each is listed.
pub const KINDS: [(&str, &str); 4] = [
    ("Pod", "/api/v1/pods"),
    ("Node", "/api/v1/nodes"),
    ("Deployment", "/apis/apps/v1/deployments"),
    ("ReplicaSet", "/apis/apps/v1/replicasets"),
];
pub const NAMES: [&str; 4] = ["po", "nodes", "Deployment", "replicasets.apps"];

/// An object by kind, namespace and name.
pub type Key = (String, String, String);

/// What a file says, in its order.
#[derive(Debug, Default)]
pub struct Recorded {
    /// The newest version of each object that is not gone.
    pub newest: BTreeMap<Key, Value>,
    /// The steps of each kind.
    pub steps: Vec<(String, Step)>,
    /// How many versions came beside those of lists.
    pub changes: usize,
    header: String,
}

impl Recorded {
    /// Reads as much of a file as there is.
    pub fn read(file: &Path) -> Result<Recorded, String> {
        let bytes = fs::read(file).map_err(|error| error.to_string())?;
        let (mut recorded, mut kinds) = (Recorded::default(), BTreeMap::new());
        let read = native::read(&bytes, |_, line| match line {
            Line::Header(header) => recorded.header = format!("{header:?}"),
            Line::Watch(watch) => drop(kinds.insert(watch.number, watch.resource.kind)),
            Line::Step(watch, step) => recorded.steps.push((kinds[&watch].to_owned(), step)),
            Line::Version(version) => {
                let key =
                    (kinds[&version.watch].to_owned(), version.key.namespace.to_string(), version.key.name.to_string());
                recorded.changes += usize::from(version.delta_type != DeltaType::Replaced);
                match (version.delta_type, version.text) {
                    (DeltaType::Deleted, _) => drop(recorded.newest.remove(&key)),
                    (_, Text::Whole(text)) => drop(recorded.newest.insert(key, plain(text))),
                    (_, other) => panic!("{key:?} has no text: {other:?}"),
                }
            }
            Line::Definition(_) | Line::Note(_) | Line::Request(_) => {}
        });
        read.map(|()| recorded).map_err(|(block, refusal)| format!("block {block}, {refusal}"))
    }

    pub fn has(&self, kind: &str, is_it: impl Fn(&Step) -> bool) -> bool {
        self.steps.iter().any(|(of, step)| of == kind && is_it(step))
    }
}

/// The lines of each block of a file.
pub fn blocks(file: &Path) -> Vec<Vec<u8>> {
    let file = fs::read(file).expect("the file");
    member::members(&file)
        .into_iter()
        .map(|block| native::unpacked(&file[block]).expect("as it was written").into_bytes())
        .collect()
}

/// Without what the items of a list do not have.
fn plain(text: &str) -> Value {
    let mut object: Value = serde_json::from_str(text).expect("a text is JSON");
    let members = object.as_object_mut().expect("a text is an object");
    ["kind", "apiVersion"].iter().for_each(|name| drop(members.remove(*name)));
    object
}

pub async fn listed(cluster: &Cluster) -> BTreeMap<Key, Value> {
    let mut objects = BTreeMap::new();
    for (kind, path) in KINDS {
        let list = cluster.get(path).await;
        for item in list["items"].as_array().into_iter().flatten() {
            let word = |name: &str| item["metadata"][name].as_str().unwrap_or_default().to_owned();
            objects.insert((kind.to_owned(), word("namespace"), word("name")), plain(&item.to_string()));
        }
    }
    objects
}

/// The program with a folder of its own.
pub struct Recorder {
    pub folder: TemporaryFolder,
    pub child: Option<Child>,
}

/// A kubeconfig for this server, which names a namespace if there is one, and a user.
pub fn kubeconfig(server: &str, authority: Option<&str>, user: &Value) -> Value {
    let mut cluster = json!({"server": server});
    if let Some(authority) = authority {
        cluster["certificate-authority"] = json!(authority);
    }
    json!({
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "here",
        "contexts": [{"name": "here", "context": {"cluster": "one", "user": "me"}}],
        "clusters": [{"name": "one", "cluster": cluster}],
        "users": [{"name": "me", "user": user}],
    })
}

impl Recorder {
    pub fn new() -> Recorder {
        Recorder { folder: TemporaryFolder::new("record"), child: None }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn file(&self) -> PathBuf {
        self.path("run.churn")
    }

    pub fn config(&self, config: &Value) -> &Recorder {
        fs::write(self.path("config"), config.to_string()).expect("a kubeconfig");
        self
    }

    /// The program with these words after `record -o FILE`, and what it says in a file.
    pub fn command(&self, program: &Path, words: &[&str]) -> Command {
        let said = fs::File::create(self.path("said")).expect("a file for what is said");
        let mut command = Command::new(program);
        command.args(words).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("HOME", self.folder.path()).env("KUBECONFIG", self.path("config"));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(said).kill_on_drop(true);
        command
    }

    /// Begins to record the cluster at this port.
    pub fn start(&mut self, port: u16, words: &[&str]) {
        let file = self.file().display().to_string();
        self.run(port, &[&["record", "-o", &file][..], words].concat());
    }

    /// Runs the program with these words, and with the cluster at this port as the current one.
    pub fn run(&mut self, port: u16, words: &[&str]) {
        self.config(&kubeconfig(&format!("http://127.0.0.1:{port}"), None, &json!({})));
        self.child = Some(self.command(&tools::binary(), words).spawn().expect("the program starts"));
    }

    pub fn said(&self) -> String {
        fs::read_to_string(self.path("said")).unwrap_or_default()
    }

    pub fn signal(&self, name: &str) {
        let pid = self.child.as_ref().and_then(Child::id).expect("it runs");
        let sent =
            std::process::Command::new("sh").args(["-c", "kill -s \"$0\" \"$1\"", name, &pid.to_string()]).status();
        assert!(sent.is_ok_and(|status| status.success()), "it takes no {name}");
    }

    /// Waits until it ends, and returns its exit code.
    pub async fn ended(&mut self) -> Option<i32> {
        let mut child = self.child.take().expect("it was started");
        let ended = tokio::time::timeout(4 * SOON, child.wait()).await;
        ended.unwrap_or_else(|_| panic!("it does not end: {}", self.said())).expect("it ran").code()
    }

    /// Waits until the file is as wanted.
    pub async fn until(&self, what: &str, is_it: impl Fn(&Recorded) -> Result<(), String>) -> Recorded {
        wait_until(what, SOON, async || {
            let recorded = Recorded::read(&self.file())?;
            is_it(&recorded).map(|()| recorded).map_err(|seen| format!("{seen}; it said: {}", self.said()))
        })
        .await
    }

    pub async fn until_all_is_listed(&self) {
        self.until("everything is listed", |recorded| {
            let is_listed = |(kind, _): &(&str, &str)| recorded.has(kind, |step| *step == Step::Listed);
            holds(KINDS.iter().all(is_listed), || format!("{:?}", recorded.steps))
        })
        .await;
    }

    /// Waits until the file has what the cluster has, in the same words.
    pub async fn until_it_has_all_of(&self, cluster: &Cluster) {
        wait_until("the file has what the cluster has", SOON, async || {
            let expected = listed(cluster).await;
            let found = Recorded::read(&self.file())?.newest;
            let other = expected.iter().find(|(key, object)| found.get(*key) != Some(*object));
            let other = other.map(|(key, _)| key).or(found.keys().find(|key| !expected.contains_key(*key)));
            holds(other.is_none(), || format!("{other:?} is another one; it said: {}", self.said()))
        })
        .await;
    }
}

/// Runs `kubechurn changes` on a file.
pub async fn changes(file: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(tools::binary());
    command.arg("changes").arg(file).args(words).env_clear().stdin(Stdio::null()).kill_on_drop(true);
    command.output().await.expect("the program starts")
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[tokio::test]
async fn what_the_cluster_has_is_the_newest_in_the_file_in_the_same_words() {
    let cluster = Cluster::start(&Options { pods: 40, rate: 50, ..Options::default() }).await;
    let mut recorder = Recorder::new();
    recorder.start(cluster.port(), &NAMES);
    recorder.until("changes come", |found| holds(found.changes >= 100, || format!("{} changes", found.changes))).await;
    cluster.rate(0).await;
    recorder.until_it_has_all_of(&cluster).await;
    let opened = Opened::of(&blocks(&recorder.file()), "#/pods,nodes");
    for (kind, path) in [("pods", KINDS[0].1), ("nodes", KINDS[1].1)] {
        let digest = opened.look(|page, _| page.reports().digest_of(kind));
        assert_eq!(digest, Some(cluster.list(path).await.digest()), "{kind} in a page that has opened the file");
    }
    recorder.signal("INT");
    assert_eq!(recorder.ended().await, Some(0), "{}", recorder.said());
    let recorded = Recorded::read(&recorder.file()).expect("it is a recording");
    for (kind, _) in KINDS {
        assert!(recorded.has(kind, |step| *step == Step::Ended), "{kind} has not ended");
    }
    assert!(
        recorded.header.contains(&format!("server: \"http://127.0.0.1:{}\"", cluster.port())),
        "{}",
        recorded.header
    );
    assert!(recorder.said().lines().last().is_some_and(|line| line.contains(", 4 kinds, ")), "{}", recorder.said());
    // A second recording does not take the place of the first.
    let before = fs::read(recorder.file()).expect("the file");
    recorder.start(cluster.port(), &NAMES);
    assert_eq!(recorder.ended().await, Some(1));
    assert!(recorder.said().contains("is there already"), "{}", recorder.said());
    assert_eq!(fs::read(recorder.file()).expect("the file"), before);
}

#[tokio::test]
async fn a_watch_that_breaks_expires_or_is_refused_is_recorded_as_that_and_nothing_is_lost() {
    let cluster = Cluster::start(&Options { pods: 40, rate: 50, ..Options::default() }).await;
    let mut recorder = Recorder::new();
    recorder.start(cluster.port(), &NAMES);
    recorder.until_all_is_listed().await;
    // All connections break, and the Pods' version is gone when they come back: for the heartbeat, too, which may ask first.
    cluster.control("fault?status=410&verb=watch&resource=pods&times=3").await;
    cluster.control("cut").await;
    recorder
        .until("the Pods are listed anew", |found| {
            let is_why = found.has("Pod", |step| matches!(step, Step::Lists(reason) if reason.contains("410")));
            holds(is_why && found.has("Pod", |step| *step == Step::Relisted), || format!("{:?}", found.steps))
        })
        .await;
    recorder
        .until("all connections have broken", |found| {
            let is_why = |step: &Step| matches!(step, Step::Gap(_, reason) if reason.contains("the connection broke"));
            let has_gap = |kind: &&str| found.has(kind, is_why);
            holds(["Deployment", "ReplicaSet"].iter().all(has_gap), || format!("{:?}", found.steps))
        })
        .await;
    cluster.control("forbid?verb=watch&resource=nodes").await;
    recorder
        .until("the refusal is there", |found| {
            let is_refused = |step: &Step| matches!(step, Step::Refused(words) if words.contains("403"));
            holds(found.has("Node", is_refused), || format!("{:?}", found.steps))
        })
        .await;
    wait_until("the refusal is said", SOON, async || {
        let said = recorder.said();
        holds(said.matches("nodes: The server refused: watch (403)").count() == 1, || said.clone())
    })
    .await;
    cluster.control("allow?verb=watch&resource=nodes").await;
    cluster.rate(0).await;
    recorder.until_it_has_all_of(&cluster).await;
    recorder.signal("TERM");
    assert_eq!(recorder.ended().await, Some(0), "{}", recorder.said());
    let words = text(&changes(&recorder.file(), &[]).await.stdout);
    assert!(words.contains("Node: the server refused: watch (403)"), "{words}");
}

#[tokio::test]
async fn a_server_that_goes_away_is_a_gap_and_is_said() {
    let options = Options { pods: 20, ..Options::default() };
    let mut cluster = Cluster::start(&options).await;
    let mut recorder = Recorder::new();
    recorder.start(cluster.port(), &NAMES);
    recorder.until_all_is_listed().await;
    cluster.kill().await;
    wait_until("the loss is said", SOON, async || {
        let said = recorder.said();
        holds(said.contains("The API server is not heard"), || said.clone())
    })
    .await;
    cluster.start_again(&Options { first_revision: 1_000_000, seed: 2, ..options }).await;
    recorder
        .until("the gaps are there", |found| {
            let is_gap = |(kind, _): &(&str, &str)| found.has(kind, |step| matches!(step, Step::Gap(..)));
            holds(KINDS.iter().all(is_gap), || format!("{:?}", found.steps))
        })
        .await;
    recorder.until_it_has_all_of(&cluster).await;
    wait_until("the return is said", SOON, async || {
        let said = recorder.said();
        holds(said.contains("The API server is heard again"), || said.clone())
    })
    .await;
}

#[tokio::test]
async fn a_silent_server_is_asked_whether_it_is_there_and_silence_alone_is_no_gap() {
    let cluster = Cluster::start(&Options { pods: 5, bookmark_seconds: 600, ..Options::default() }).await;
    let mut relay = Relay::start(cluster.port()).await;
    let mut recorder = Recorder::new();
    recorder.start(relay.port(), &NAMES);
    recorder.until_all_is_listed().await;
    // Nothing changes. The server is asked, and answers that it has nothing.
    let asked = |line: &String| line.contains("watch=true") && line.contains("timeoutSeconds=1 ");
    wait_until("it is asked", 2 * SOON, async || {
        let requests = relay.requests();
        holds(requests.iter().any(asked), || format!("{requests:?}"))
    })
    .await;
    recorder
        .until("everything is heard", |found| {
            let is_heard = |(kind, _): &(&str, &str)| {
                let last = found.steps.iter().rfind(|(of, _)| of == kind);
                last.is_some_and(|(_, step)| matches!(step, Step::Listed | Step::Gap(..)))
            };
            holds(KINDS.iter().all(is_heard), || format!("{:?}", found.steps))
        })
        .await;
    let before = recorder.said().matches("not heard").count();
    // All connections stay open, and nothing comes through them any more.
    relay.hold(Direction::Both);
    wait_until("the silence is said", 3 * SOON, async || {
        holds(recorder.said().matches("not heard").count() > before, || recorder.said())
    })
    .await;
    relay.pass().await;
    recorder
        .until("the gaps are there", |found| {
            let is_gap = |(kind, _): &(&str, &str)| found.has(kind, |step| matches!(step, Step::Gap(..)));
            holds(KINDS.iter().all(is_gap), || format!("{:?}", found.steps))
        })
        .await;
    recorder.until_it_has_all_of(&cluster).await;
}

#[tokio::test]
async fn what_was_there_when_it_was_killed_can_be_read() {
    let cluster = Cluster::start(&Options { pods: 20, rate: 100, ..Options::default() }).await;
    for name in ["one", "two", "three"] {
        let mut recorder = Recorder::new();
        recorder.start(cluster.port(), &["configmaps"]);
        let listed = |found: &Recorded| holds(found.has("ConfigMap", |step| *step == Step::Listed), String::new);
        recorder.until("everything is listed", listed).await;
        let map = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "default", "name": name}});
        cluster.put(&map).await;
        let key = ("ConfigMap".to_owned(), "default".to_owned(), name.to_owned());
        // It is in the file while the recording goes on, and stays there.
        recorder.until("the object is there", |found| holds(found.newest.contains_key(&key), String::new)).await;
        recorder.signal("KILL");
        assert_eq!(recorder.ended().await, None);
        let recorded = Recorded::read(&recorder.file()).expect("it is a recording");
        assert!(recorded.newest.contains_key(&key), "{name}");
        let printed = changes(&recorder.file(), &[]).await;
        assert!(printed.status.success(), "{}", text(&printed.stderr));
        assert!(text(&printed.stdout).contains(&format!("▲ ConfigMap default/{name}: added")));
    }
}

#[tokio::test]
async fn a_file_that_is_broken_is_said_to_be_so_and_read_as_far_as_it_goes() {
    let cluster = Cluster::start(&Options { pods: 20, ..Options::default() }).await;
    let mut recorder = Recorder::new();
    recorder.start(cluster.port(), &["configmaps", "--for", "1s"]);
    assert_eq!(recorder.ended().await, Some(0), "{}", recorder.said());
    let whole = fs::read(recorder.file()).expect("the file");
    let garbled = [&whole[..whole.len() / 2], &[0xff; 40], &whole[whole.len() / 2..]].concat();
    let file = recorder.path("other.churn");
    let is_one_sentence = |output: &Output, words: &str| {
        let said = text(&output.stderr);
        assert!(said.starts_with("kubechurn: ") && said.lines().count() == 1 && said.contains(words), "{said}");
    };
    for (bytes, words) in [
        (&b""[..], "not compressed by gzip"),
        (b"PK\x03\x04", "not compressed by gzip"),
        (b"\x1f\x8b\x08", "breaks off before its first line"),
        (&whole[..30], "breaks off before its first line"),
    ] {
        fs::write(&file, bytes).expect("a file");
        let printed = changes(&file, &[]).await;
        assert_eq!(printed.status.code(), Some(1));
        is_one_sentence(&printed, words);
    }
    for bytes in [&garbled, &whole[..whole.len() - 9], &whole[..whole.len() / 2]] {
        fs::write(&file, bytes).expect("a file");
        let printed = changes(&file, &["--json", "--all"]).await;
        if !printed.status.success() {
            is_one_sentence(&printed, "can be read to its end");
        }
    }
    is_one_sentence(&changes(&recorder.path("none.churn"), &[]).await, "cannot be read: No such file");
}

#[tokio::test]
async fn a_rollout_is_printed_with_its_new_image_and_who_set_it() {
    let cluster = Cluster::start(&Options { scenario: "rollout", pods: 40, ..Options::default() }).await;
    let mut recorder = Recorder::new();
    recorder.start(cluster.port(), &[]);
    let line = wait_until("the rollout is printed", SOON, async || {
        let printed = text(&changes(&recorder.file(), &["--json"]).await.stdout);
        let lines = printed.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let is_it = |line: &Value| {
            let path = line["fields"][0]["path"].as_str().unwrap_or_default();
            line["kind"] == "Deployment" && path.ends_with(".image")
        };
        lines.into_iter().find(is_it).ok_or_else(|| format!("{printed}; it said: {}", recorder.said()))
    })
    .await;
    let field = &line["fields"][0];
    let tag = |value: &Value| value.as_str().and_then(|image| image.rsplit(':').next()).unwrap_or_default().to_owned();
    assert_ne!(field["old"], field["new"]);
    assert_eq!(line["byInferred"], json!(["kubectl-set"]));
    let words = text(&changes(&recorder.file(), &[]).await.stdout);
    let (namespace, name) = (line["namespace"].as_str().unwrap_or_default(), line["name"].as_str().unwrap_or_default());
    let expected = format!("● Deployment {namespace}/{name}: image {} → {}", tag(&field["old"]), tag(&field["new"]));
    assert!(words.contains(&expected) && words.contains("(kubectl-set, inferred)"), "{expected}: {words}");
    assert!(!words.contains('\x1b'), "colours are for terminals");
}

#[tokio::test]
async fn a_disk_that_is_full_is_said_and_what_was_written_can_be_read() {
    let cluster = Cluster::start(&Options { pods: 40, rate: 200, ..Options::default() }).await;
    let mut recorder = Recorder::new();
    recorder.start(cluster.port(), &["-o", "/dev/full"]);
    assert_eq!(recorder.ended().await, Some(1));
    assert!(recorder.said().contains("No space left on device"), "{}", recorder.said());
    // A file that may have 16 KB, or 8 where a shell counts in blocks of 512 bytes.
    let file = recorder.file().display().to_string();
    let limited = "trap '' XFSZ; ulimit -f 16; exec \"$0\" record -o \"$1\" pods";
    let binary = tools::binary().display().to_string();
    let mut command = recorder.command(Path::new("sh"), &["-c", limited, &binary, &file]);
    recorder.child = Some(command.spawn().expect("the program starts"));
    assert_eq!(recorder.ended().await, Some(1), "{}", recorder.said());
    assert!(recorder.said().contains("what was written before can be read"), "{}", recorder.said());
    let recorded = Recorded::read(&recorder.file()).expect("it is a recording");
    assert!(!recorded.newest.is_empty(), "nothing can be read");
}

#[tokio::test]
async fn secrets_are_recorded_on_demand_alone_and_without_their_values() {
    let cluster = Cluster::start(&Options { pods: 5, ..Options::default() }).await;
    let canary = "Y2FuYXJ5LTQ3MTE=";
    let metadata = json!({"namespace": "default", "name": "canary"});
    cluster.put(&json!({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"token": canary}})).await;
    let mut recorder = Recorder::new();
    recorder.start(cluster.port(), &["secret"]);
    assert_eq!(recorder.ended().await, Some(1));
    assert!(recorder.said().contains("Secrets are recorded with --secrets alone"), "{}", recorder.said());
    assert!(!recorder.file().exists());
    recorder.start(cluster.port(), &["--secrets", "configmaps"]);
    let key = ("Secret".to_owned(), "default".to_owned(), "canary".to_owned());
    let recorded =
        recorder.until("the Secret is there", |found| holds(found.newest.contains_key(&key), String::new)).await;
    let token = recorded.newest[&key]["data"]["token"].as_str().unwrap_or_default().to_owned();
    assert!(token.starts_with("•••• 11 bytes"), "{token}");
    let lines = text(&blocks(&recorder.file()).concat());
    assert!(lines.contains("canary") && !lines.contains(canary) && !lines.contains("canary-4711"));
}

#[tokio::test]
async fn names_that_say_nothing_and_servers_that_do_not_answer_are_refused_in_a_sentence() {
    let cluster = Cluster::start(&Options { pods: 5, ..Options::default() }).await;
    let mut recorder = Recorder::new();
    for (port, words, expected) in [
        (cluster.port(), &["pods", "gadgets"][..], "the server has no kind gadgets that can be watched"),
        (cluster.port(), &["--context", "there"], "the kubeconfig cannot be used"),
        (cluster.port(), &["--kubeconfig", "/none"], "the kubeconfig cannot be used"),
        (1, &[], "cannot be asked"),
    ] {
        recorder.start(port, words);
        assert_eq!(recorder.ended().await, Some(1), "{words:?}");
        let said = recorder.said();
        assert!(said.contains(expected) && said.lines().count() == 1, "{words:?}: {said}");
        assert!(!recorder.file().exists(), "{words:?}");
    }
}

#[tokio::test]
async fn it_ends_at_once_while_the_server_has_not_answered() {
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let mut recorder = Recorder::new();
    recorder.start(silent.local_addr().expect("a port").port(), &[]);
    let _asked = silent.accept().await.expect("it asks");
    recorder.signal("INT");
    assert_eq!(recorder.ended().await, Some(1));
    assert!(recorder.said().contains("nothing was recorded"), "{}", recorder.said());
    assert!(!recorder.file().exists());
}

/// A server with TLS before this port, whose certificate an authority has signed that is returned in PEM. Each connection
/// begins with a request that has this token.
pub async fn with_tls(port: u16, token: &'static str) -> (u16, String) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("an authority");
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(vec!["127.0.0.1".to_owned()]).expect("a name");
    let certificate = params.signed_by(&key, &authority).expect("a certificate");
    let secret = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate.der().clone()], secret)
        .expect("a certificate with its key");
    let (acceptor, listener) =
        (TlsAcceptor::from(Arc::new(config)), TcpListener::bind("127.0.0.1:0").await.expect("a port"));
    let own = listener.local_addr().expect("a port").port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                let Ok(mut client) = acceptor.accept(stream).await else { return };
                let mut first = vec![0; 4_096];
                let Ok(length) = client.read(&mut first).await else { return };
                first.truncate(length);
                let has_token = text(&first).contains(&format!("authorization: Bearer {token}\r\n"));
                let Ok(mut server) = TcpStream::connect(("127.0.0.1", port)).await else { return };
                if has_token && server.write_all(&first).await.is_ok() {
                    // Either side may end without a word.
                    let _ = copy_bidirectional(&mut client, &mut server).await;
                }
            });
        }
    });
    (own, authority.pem())
}

#[tokio::test]
async fn a_server_with_tls_is_asked_with_the_token_of_a_plugin() {
    let cluster = Cluster::start(&Options { pods: 20, ..Options::default() }).await;
    let (port, authority) = with_tls(cluster.port(), "a-token").await;
    let mut recorder = Recorder::new();
    fs::write(recorder.path("ca.pem"), authority).expect("the authority");
    let credential = json!({
        "apiVersion": "client.authentication.k8s.io/v1",
        "kind": "ExecCredential",
        "status": {"token": "a-token"},
    });
    let plugin = json!({"exec": {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "echo",
        "args": [credential.to_string()],
        "interactiveMode": "Never",
    }});
    let server = format!("https://127.0.0.1:{port}");
    let file = recorder.file().display().to_string();
    let words = [&["record", "-o", &file][..], &NAMES].concat();
    // A server that nobody vouches for is not asked.
    recorder.config(&kubeconfig(&server, None, &plugin));
    recorder.child = Some(recorder.command(&tools::binary(), &words).spawn().expect("the program starts"));
    assert_eq!(recorder.ended().await, Some(1));
    assert!(recorder.said().to_lowercase().contains("certificate"), "{}", recorder.said());
    recorder.config(&kubeconfig(&server, Some("ca.pem"), &plugin));
    recorder.child = Some(recorder.command(&tools::binary(), &words).spawn().expect("the program starts"));
    recorder.until_all_is_listed().await;
    recorder.until_it_has_all_of(&cluster).await;
    assert!(fs::read(recorder.file()).is_ok_and(|file| !text(&file).contains("a-token")));
}
