//! `kubechurn record` in a Pod: without a kubeconfig it takes the service account.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::tools;

use crate::record::{NAMES, Recorder, with_tls};

/// Where a Pod finds its service account.
const ACCOUNT: &str = "/var/run/secrets/kubernetes.io/serviceaccount";
/// Puts the files of the folder `$1` there, for the program that is run then, and for no other.
const AS_POD: &str = "mount -t tmpfs none /run && mkdir -p \"$0\" && cp \"$1\"/ca.crt \"$1\"/token \"$1\"/namespace \"$0\" \
                      && shift && exec \"$@\"";

#[tokio::test]
async fn without_a_service_account_it_says_that_there_is_none() {
    let mut recorder = Recorder::new();
    let file = recorder.file().display().to_string();
    let mut command = recorder.command(&tools::binary(), &["record", "-o", &file]);
    command.env("KUBERNETES_SERVICE_HOST", "127.0.0.1").env("KUBERNETES_SERVICE_PORT", "1");
    recorder.child = Some(command.spawn().expect("the program starts"));
    assert_eq!(recorder.ended().await, Some(1));
    let expected = match Path::new(ACCOUNT).exists() {
        true => "the API server at https://127.0.0.1:1 cannot be asked",
        false => "there is no kubeconfig, and the service account of this Pod cannot be used",
    };
    assert!(recorder.said().contains(expected), "{}", recorder.said());
}

#[tokio::test]
async fn the_service_account_of_the_pod_is_taken() {
    // A name space of its own for its files, where the system lets everybody have one.
    let own = ["-Urm", "sh", "-c", "mount -t tmpfs none /run"];
    let is_possible = Command::new("unshare").args(own).stderr(Stdio::null()).status();
    if !is_possible.is_ok_and(|status| status.success()) {
        return;
    }
    let cluster = Cluster::start(&Options { pods: 20, ..Options::default() }).await;
    let (port, authority) = with_tls(cluster.port(), "a-token-of-the-pod").await;
    let mut recorder = Recorder::new();
    for (name, content) in [("ca.crt", &*authority), ("token", "a-token-of-the-pod"), ("namespace", "kubechurn")] {
        fs::write(recorder.path(name), content).expect("a file");
    }
    let (folder, file) = (recorder.path("").display().to_string(), recorder.file().display().to_string());
    let binary = tools::binary().display().to_string();
    let words = ["-Urm", "sh", "-c", AS_POD, ACCOUNT, &folder, &binary, "record", "-A", "-o", &file];
    let mut command = recorder.command(Path::new("unshare"), &[&words[..], &NAMES].concat());
    command.env("KUBERNETES_SERVICE_HOST", "127.0.0.1").env("KUBERNETES_SERVICE_PORT", port.to_string());
    recorder.child = Some(command.spawn().expect("the program starts"));
    recorder.until_all_is_listed().await;
    recorder.until_it_has_all_of(&cluster).await;
    recorder.signal("TERM");
    assert_eq!(recorder.ended().await, Some(0), "{}", recorder.said());
}
