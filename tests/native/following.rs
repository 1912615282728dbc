//! `kubechurn record --until`, and `kubechurn changes` of a cluster, as its changes happen.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::tools;
use kubechurn_harness::wait::{holds, wait_until};

use crate::record::{Recorded, Recorder, SOON, changes, kubeconfig, text};

fn map(name: &str, value: &str) -> Value {
    let metadata = json!({"namespace": "default", "name": name});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"key": value}})
}

#[tokio::test]
async fn a_recording_ends_at_the_change_that_was_waited_for() {
    let cluster = Cluster::start(&Options { pods: 20, ..Options::default() }).await;
    cluster.put(&map("flag", "first")).await;
    let mut recorder = Recorder::new();
    // What is so from the beginning is no change.
    recorder.start(cluster.port(), &["configmaps", "--until", "kind:ConfigMap name:flag ready"]);
    recorder.until_is_listed("ConfigMap").await;
    for (name, value) in [("another", "ready"), ("flag", "ready")] {
        cluster.put(&map(name, value)).await;
    }
    assert_eq!(recorder.ended().await, Some(0), "{}", recorder.said());
    let said = recorder.said();
    let last = said.lines().last().unwrap_or_default();
    assert!(last.starts_with("Ended by --until: ConfigMap default/flag: data.key first → ready"), "{last}");
    // The change is in the file.
    let words = text(&changes(&recorder.file(), &["name:flag", "ready"]).await.stdout);
    assert!(words.lines().count() == 1 && words.contains("data.key first → ready"), "{words}");
    let words = text(&changes(&recorder.file(), &["name:flag", "!ready"]).await.stdout);
    assert!(words.is_empty(), "{words}");
}

#[tokio::test]
async fn a_recording_that_ends_before_the_change_says_so_and_has_another_exit_code() {
    let cluster = Cluster::start(&Options { pods: 20, ..Options::default() }).await;
    for (words, signal, last) in [
        (&["--for", "1s"][..], None, "Ended by --for, and no change was as --until has it."),
        (&[], Some("TERM"), "Ended by a signal, and no change was as --until has it."),
    ] {
        let mut recorder = Recorder::new();
        recorder.start(cluster.port(), &[&["configmaps", "--until", "name:none"], words].concat());
        recorder.until_is_listed("ConfigMap").await;
        signal.iter().for_each(|signal| recorder.signal(signal));
        assert_eq!(recorder.ended().await, Some(2), "{}", recorder.said());
        assert_eq!(recorder.said().lines().last(), Some(last));
    }
}

/// `kubechurn changes` of a cluster, and what it prints.
struct Follower {
    recorder: Recorder,
    printed: PathBuf,
}

impl Follower {
    fn start(cluster: &Cluster, words: &[&str]) -> Follower {
        let mut recorder = Recorder::new();
        recorder.config(&kubeconfig(&format!("http://127.0.0.1:{}", cluster.port()), None, &json!({})));
        let printed = recorder.path("printed");
        let mut command = recorder.command(&tools::binary(), &[&["changes"], words].concat());
        command.stdout(fs::File::create(&printed).expect("a file"));
        recorder.child = Some(command.spawn().expect("the program starts"));
        Follower { recorder, printed }
    }

    fn printed(&self) -> String {
        fs::read_to_string(&self.printed).unwrap_or_default()
    }
}

#[tokio::test]
async fn changes_of_a_cluster_are_printed_as_they_happen() {
    let cluster = Cluster::start(&Options { pods: 20, ..Options::default() }).await;
    cluster.put(&map("flag", "one")).await;
    let mut plain = Follower::start(&cluster, &["kind:ConfigMap", "!name:dull"]);
    let mut lines = Follower::start(&cluster, &["--json", "-n", "default", "kind:ConfigMap"]);
    // Until the lists are complete, nothing is a change.
    let mut round = 0;
    for follower in [&plain, &lines] {
        wait_until("a change is printed", SOON, async || {
            round += 1;
            cluster.put(&map("dull", &round.to_string())).await;
            cluster.put(&map("flag", &round.to_string())).await;
            let printed = follower.printed();
            holds(printed.contains("flag"), || format!("{printed}; it said: {}", follower.recorder.said()))
        })
        .await;
    }
    cluster.delete("/api/v1/namespaces/default/configmaps/flag").await;
    for follower in [&plain, &lines] {
        wait_until("the deletion is printed", SOON, async || {
            let printed = follower.printed();
            holds(printed.contains("deleted"), || printed.clone())
        })
        .await;
    }
    for follower in [&mut plain, &mut lines] {
        follower.recorder.signal("INT");
        assert_eq!(follower.recorder.ended().await, Some(0), "{}", follower.recorder.said());
        assert!(follower.recorder.said().starts_with("Watching http://127.0.0.1:"), "{}", follower.recorder.said());
    }
    let printed = plain.printed();
    assert!(
        printed.contains("● ConfigMap default/flag: data.key ")
            && printed.contains("✕ ConfigMap default/flag: deleted")
    );
    assert!(!printed.contains("dull") && !printed.contains('\x1b'), "{printed}");
    let last: Value = lines.printed().lines().last().and_then(|line| serde_json::from_str(line).ok()).expect("JSON");
    assert_eq!((&last["what"], &last["name"], &last["apiVersion"]), (&json!("deleted"), &json!("flag"), &json!("v1")));
}

#[tokio::test]
async fn whoever_closes_the_output_ends_it() {
    let cluster = Cluster::start(&Options { pods: 20, rate: 50, ..Options::default() }).await;
    let mut recorder = Recorder::new();
    recorder.config(&kubeconfig(&format!("http://127.0.0.1:{}", cluster.port()), None, &json!({})));
    let script = "\"$0\" changes --all | head -n 1 >/dev/null";
    let binary = tools::binary().display().to_string();
    let mut command = recorder.command(std::path::Path::new("sh"), &["-c", script, &binary]);
    recorder.child = Some(command.spawn().expect("the program starts"));
    assert_eq!(recorder.ended().await, Some(0), "{}", recorder.said());
    assert!(!recorder.said().contains("cannot be"), "{}", recorder.said());
}

impl Recorder {
    /// Waits until the file has the first list of a kind.
    async fn until_is_listed(&self, kind: &str) {
        self.until("everything is listed", |found: &Recorded| {
            let is_listed = |step: &kubechurn_recording::Step| *step == kubechurn_recording::Step::Listed;
            holds(found.has(kind, is_listed), || format!("{:?}", found.steps))
        })
        .await;
    }
}
