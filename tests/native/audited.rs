//! `kubechurn record --audit`, and `kubechurn changes --audit`: who really made the requests, by the demo cluster's own log.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::wait::{holds, wait_until};

use crate::record::{NAMES, Recorder, SOON, changes, text};

/// The changes that a file and a log show, as they are printed.
async fn printed(file: &Path, words: &[&str]) -> Vec<Value> {
    let words = [&["--json", "--all"], words].concat();
    let lines = text(&changes(file, &words).await.stdout);
    let lines = lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
    lines.filter(|line| line["uid"].is_string()).collect()
}

fn is_named(change: &Value) -> bool {
    change["by"].is_object()
}

#[tokio::test]
async fn who_made_the_requests_is_recorded_and_joined_afterwards() {
    let mut recorder = Recorder::new();
    let log = recorder.path("audit.log");
    let options = Options { scenario: "rollout", pods: 30, audit: Some(log.clone()), ..Options::default() };
    let cluster = Cluster::start(&options).await;
    let named = log.display().to_string();
    recorder.start(cluster.port(), &[&NAMES[..], &["--audit", &named]].concat());
    let by_people = |all: &[Value]| {
        let is_it =
            |change: &&Value| change["kind"] == "Deployment" && change["by"]["agent"].to_string().contains("kubectl");
        all.iter().filter(is_it).count()
    };
    wait_until("people have changed Deployments", 3 * SOON, async || {
        let all = printed(&recorder.file(), &[]).await;
        let (people, named) = (by_people(&all), all.iter().filter(|change| is_named(change)).count());
        holds(people >= 2 && named >= 50, || format!("{people} of {named} of {}; {}", all.len(), recorder.said()))
    })
    .await;
    recorder.signal("INT");
    assert_eq!(recorder.ended().await, Some(0), "{}", recorder.said());
    let logged = fs::read_to_string(&log).expect("the log");
    let logged = logged.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    let ids: HashMap<String, Value> = logged
        .filter(|line| line["stage"] == "ResponseComplete")
        .map(|line| (line["auditID"].as_str().unwrap_or_default().to_owned(), line))
        .collect();
    let all = printed(&recorder.file(), &[]).await;
    for change in all.iter().filter(|change| is_named(change)) {
        let by = &change["by"];
        let Some(line) = by["auditID"].as_str().and_then(|id| ids.get(id)) else {
            assert_eq!(by["auditID"], "", "{change}");
            continue;
        };
        assert_eq!((&by["user"], &by["agent"]), (&line["user"]["username"], &line["userAgent"]), "{change}");
        let answer = &line["responseObject"];
        let uid = answer["metadata"]["uid"].as_str().or(answer["details"]["uid"].as_str());
        assert!(uid.is_none() || uid == change["uid"].as_str(), "{change} by {line}");
    }
    // The end of the recording may come before the line of the last request.
    let of_requests: Vec<&Value> = all.iter().filter(|change| change["what"] != "found changed").collect();
    let missing = of_requests.iter().filter(|change| !is_named(change)).count();
    assert!(missing * 20 <= of_requests.len(), "{missing} of {} have no user", of_requests.len());

    // The same, by a log that is joined to the file afterwards.
    let later = printed(&recorder.file(), &["--audit", &named]).await;
    let user = |change: &Value| change["by"]["user"].clone();
    assert_eq!(all.len(), later.len());
    for (then, now) in all.iter().zip(&later).filter(|(then, _)| is_named(then)) {
        assert_eq!(user(then), user(now), "{then}");
    }
    let words = text(&changes(&recorder.file(), &["kind:Deployment"]).await.stdout);
    assert!(words.contains("(by alice)"), "{words}");
}
