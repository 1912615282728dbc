//! `kubechurn record` into an object store: a server that speaks S3, moto, which stands beside the test (`moto_server`, of Python's
//! package `moto[server]`; `MOTO_SERVER` names another place). Without it, this says so and tests nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use serde_json::json;
use tokio::process::{Child, Command};

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::tools;
use kubechurn_harness::wait::{holds, wait_until};

use crate::record::{NAMES, Recorded, Recorder, SOON, kubeconfig, listed, text};
use crate::rolling::files;

/// An object store, and who may use it.
struct Server {
    port: u16,
    child: Child,
}

fn program() -> Option<PathBuf> {
    let named = std::env::var_os("MOTO_SERVER").map(PathBuf::from);
    let paths = std::env::var_os("PATH").unwrap_or_default();
    named.or_else(|| std::env::split_paths(&paths).map(|folder| folder.join("moto_server")).find(|file| file.is_file()))
}

fn spawn(program: &PathBuf, port: u16) -> Child {
    let mut command = Command::new(program);
    command.args(["-H", "127.0.0.1", "-p", &port.to_string()]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    command.spawn().expect("the object store starts")
}

impl Server {
    async fn start(program: &PathBuf) -> Server {
        let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|one| one.local_addr()).expect("a port");
        let server = Server { port: free.port(), child: spawn(program, free.port()) };
        server.until_it_answers().await;
        server
    }

    async fn until_it_answers(&self) {
        wait_until("the object store answers", 3 * SOON, async || {
            let answer = reqwest::get(format!("http://127.0.0.1:{}/", self.port)).await;
            answer.map(drop).map_err(|error| error.to_string())
        })
        .await;
    }

    async fn make_bucket(&self) {
        // Whoever asks may read it, so that the test can.
        let policy = json!({"Version": "2012-10-17", "Statement": [
            {"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::bucket/*"}]});
        for (path, body) in [("bucket", String::new()), ("bucket?policy", policy.to_string())] {
            // A server that begins may refuse one of two requests that come at once: the recorder asks, too.
            wait_until(&format!("{path} is made"), SOON, async || {
                let url = format!("http://127.0.0.1:{}/{path}", self.port);
                let answer = reqwest::Client::new().put(url).body(body.clone()).send().await;
                let answer = answer.map_err(|error| error.to_string())?;
                let status = answer.status();
                let text = answer.text().await.map_err(|error| error.to_string())?;
                holds(status.is_success(), || format!("{status}: {text}"))
            })
            .await;
        }
    }

    /// The program with these words, and with the credentials that it takes from its environment.
    fn set(&self, command: &mut Command) {
        command.env("AWS_ACCESS_KEY_ID", "a-key").env("AWS_SECRET_ACCESS_KEY", "canary-of-the-secret-key");
        command.env("AWS_REGION", "us-east-1").env("AWS_ALLOW_HTTP", "true");
        command.env("AWS_ENDPOINT_URL", format!("http://127.0.0.1:{}", self.port));
    }

    /// The newest of all files of the bucket.
    async fn newest(&self) -> Vec<u8> {
        let place = format!("http://127.0.0.1:{}/bucket", self.port);
        let get = async |url: &str| reqwest::get(url).await.expect("an answer").bytes().await.expect("all of it");
        let list = text(&get(&format!("{place}?list-type=2")).await);
        let keys = list.split("<Key>").skip(1).filter_map(|rest| rest.split("</Key>").next());
        let newest = keys.max().unwrap_or_else(|| panic!("no file: {list}"));
        assert!(newest.starts_with("of/recordings/20") && newest.ends_with("Z.churn"), "{newest}");
        get(&format!("{place}/{newest}")).await.to_vec()
    }

    async fn changes(&self, words: &[&str]) -> Output {
        let mut command = Command::new(tools::binary());
        command.args(words).env_clear().stdin(Stdio::null()).kill_on_drop(true);
        self.set(&mut command);
        command.output().await.expect("the program starts")
    }
}

#[tokio::test]
async fn what_is_recorded_comes_into_an_object_store_and_nothing_is_lost_where_that_fails() {
    let Some(program) = program() else {
        eprintln!(
            "SKIPPED: there is no moto_server, so nothing is recorded into an object store (pip install 'moto[server]')"
        );
        return;
    };
    const ADDRESS: &str = "s3://bucket/of/recordings";
    let cluster = Cluster::start(&Options { pods: 20, rate: 50, ..Options::default() }).await;
    let mut server = Server::start(&program).await;
    let mut recorder = Recorder::new();
    recorder.config(&kubeconfig(&format!("http://127.0.0.1:{}", cluster.port()), None, &json!({})));
    let spool = recorder.path("spool");
    let place = spool.display().to_string();
    let words = [&["record", "-o", ADDRESS, "--spool", &place, "--every", "2s", "--upload", "1s"][..], &NAMES].concat();
    let start = |recorder: &mut Recorder, server: &Server| {
        let mut command = recorder.command(&tools::binary(), &words);
        server.set(&mut command);
        recorder.child = Some(command.spawn().expect("the program starts"));
    };
    let said = async |recorder: &Recorder, words: &str| {
        wait_until(words, 2 * SOON, async || holds(recorder.said().contains(words), || recorder.said())).await;
    };
    // There is no bucket yet: that is said, and what is recorded stays here.
    start(&mut recorder, &server);
    said(&recorder, "Nothing can be written into s3://bucket/of/recordings").await;
    assert!(recorder.said().contains("NoSuchBucket"), "{}", recorder.said());
    let kept = |least: usize| {
        let count = fs::read_dir(&spool).map_or(0, |entries| entries.filter_map(Result::ok).count());
        holds(count >= least, || format!("{count} files; it said: {}", recorder.said()))
    };
    wait_until("files are kept", SOON, async || kept(3)).await;
    server.make_bucket().await;
    said(&recorder, "s3://bucket/of/recordings has what was recorded.").await;
    // What was killed stays here, and is taken there by the next one. Meanwhile the store is not heard.
    recorder.signal("KILL");
    recorder.ended().await;
    let left: Vec<_> = fs::read_dir(&spool).expect("a folder").filter_map(Result::ok).collect();
    assert!(!left.is_empty(), "a file was being written");
    server.child.kill().await.expect("it ends");
    start(&mut recorder, &server);
    said(&recorder, "Nothing can be written into").await;
    server.child = spawn(&program, server.port);
    server.until_it_answers().await;
    server.make_bucket().await;
    said(&recorder, "has what was recorded.").await;
    cluster.rate(0).await;
    // With the end of the recording all of it is there, and nothing is here any more.
    let expected = listed(&cluster).await;
    let all = |file: &Path| {
        let found = Recorded::read(file)?.newest;
        holds(found == expected, || format!("{} objects of {}", found.len(), expected.len()))
    };
    wait_until("everything is recorded", SOON, async || all(&files(&spool).pop().ok_or("no file")?)).await;
    recorder.signal("INT");
    assert_eq!(recorder.ended().await, Some(0), "{}", recorder.said());
    assert!(!recorder.said().contains("canary"), "{}", recorder.said());
    let left: Vec<PathBuf> =
        fs::read_dir(&spool).expect("a folder").filter_map(Result::ok).map(|entry| entry.path()).collect();
    assert!(left.is_empty(), "{left:?} stayed; it said: {}", recorder.said());
    fs::write(recorder.file(), server.newest().await).expect("a file");
    assert_eq!(all(&recorder.file()), Ok(()));
    let printed = server.changes(&["changes", ADDRESS, "--json", "--all"]).await;
    assert!(printed.status.success(), "{}", text(&printed.stderr));
    let lines = text(&printed.stdout);
    let has_gap = lines.lines().any(|line| line.contains(r#""reason":"nothing was recorded""#));
    assert!(has_gap && lines.contains(r#""what":"changed""#), "{lines}");
    let none = server.changes(&["changes", "s3://bucket/other"]).await;
    assert_eq!(none.status.code(), Some(1));
    assert!(text(&none.stderr).contains("s3://bucket/other has no file of a recording"), "{}", text(&none.stderr));
}
