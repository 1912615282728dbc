//! Logs: what of them is asked for, and what the server says where there is none.

use super::*;
use crate::clock;

const PATH: &str = "/api/v1/namespaces/default/pods";

fn pod(name: &str, statuses: Value) -> Value {
    json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "namespace": "default", "uid": name},
        "spec": {"nodeName": "n", "containers": [{"name": "web", "image": "example/web:1"}, {"name": "side", "image": "example/side:1"}],
            "initContainers": [{"name": "first", "image": "example/first:1"}]},
        "status": {"containerStatuses": statuses}})
}

fn state(state: Value, last: Value) -> Value {
    json!([{"name": "web", "image": "example/web:1", "state": state, "lastState": last}])
}

fn ended() -> Value {
    json!({"terminated": {"startedAt": "2026-11-21T08:13:27Z", "finishedAt": "2026-11-21T08:13:37Z", "exitCode": 1, "reason": "Error"}})
}

impl Server {
    async fn log(&self, name: &str, query: &str) -> (u16, String) {
        let request = self.client.get(self.url(&format!("{PATH}/{name}/log?{query}")));
        let (status, text) = self.send(request).await;
        let words = |status: &Value| status["message"].as_str().unwrap_or_default().to_owned();
        (status, text.as_str().map_or_else(|| words(&text), str::to_owned))
    }

    async fn place(&self, object: &Value) {
        let (status, answer) = self.post("/_control/put", object).await;
        assert_eq!(status, 200, "{answer}");
    }
}

#[tokio::test]
async fn a_log_is_sent_as_far_as_it_is_asked_for() {
    let server = serve(quiet()).await;
    server.place(&pod("a", state(ended(), json!({})))).await;
    let (status, all) = server.log("a", "container=web&timestamps=true").await;
    let lines: Vec<&str> = all.lines().collect();
    assert_eq!(status, 200);
    assert!(lines[0].starts_with("2026-11-21T08:13:27.000000000Z web starts, image example/web:1"), "{all}");
    assert!(lines.last().is_some_and(|last| last.ends_with("fatal: cannot go on, exit 1")), "{all}");
    assert!(lines.is_sorted_by_key(|line| line.split(' ').next().map(str::to_owned)), "{all}");
    let ask = async |query: &str| server.log("a", &format!("container=web&timestamps=true{query}")).await.1;
    let from = |at: usize| lines[at..].iter().map(|line| format!("{line}\n")).collect::<String>();
    assert_eq!(ask("").await, all, "the same run has the same lines");
    assert_eq!(ask("&follow=true").await, all, "a run that has ended is not waited for");
    assert_eq!(ask("&tailLines=2").await, from(lines.len() - 2));
    assert_eq!(ask("&tailLines=0").await, "");
    assert_eq!(ask("&limitBytes=10").await, "2026-11-21");
    let since = ask("&sinceTime=2026-11-21T08:13:31Z").await;
    let first = lines.iter().position(|line| *line >= "2026-11-21T08:13:31").expect("it went on");
    assert_eq!(since, from(first));
    assert_eq!(ask("&sinceSeconds=1").await, "");
    assert!(server.log("a", "container=web").await.1.starts_with("web starts, image"));
}

#[tokio::test]
async fn where_there_is_no_log_the_server_says_why() {
    let server = serve(quiet()).await;
    let waits = |reason: &str| state(json!({"waiting": {"reason": reason}}), json!({}));
    server.place(&pod("a", waits("ContainerCreating"))).await;
    server.place(&pod("pulls", waits("ImagePullBackOff"))).await;
    server.place(&pod("fails", waits("ErrImagePull"))).await;
    server.place(&pod("back", state(json!({"waiting": {"reason": "CrashLoopBackOff"}}), ended()))).await;
    let mut unscheduled = pod("unscheduled", json!([]));
    unscheduled["spec"]["nodeName"] = Value::Null;
    server.place(&unscheduled).await;
    for (name, query, code, words) in [
        ("none", "", 404, "pods \"none\" not found"),
        (
            "a",
            "",
            400,
            "a container name must be specified for pod a, choose one of: [web side] or one of the init containers: [first]",
        ),
        ("a", "container=nosuch", 400, "container nosuch is not valid for pod a"),
        ("a", "container=web", 400, "container \"web\" in pod \"a\" is waiting to start: ContainerCreating"),
        (
            "pulls",
            "container=web",
            400,
            "container \"web\" in pod \"pulls\" is waiting to start: trying and failing to pull image",
        ),
        (
            "fails",
            "container=web",
            400,
            "container \"web\" in pod \"fails\" is waiting to start: image can't be pulled",
        ),
        ("a", "container=web&previous=true", 400, "previous terminated container \"web\" in pod \"a\" not found"),
        ("unscheduled", "container=web", 200, ""),
        (
            "a",
            "container=web&tailLines=-1",
            422,
            "PodLogOptions \"\" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            "a",
            "container=web&limitBytes=0",
            422,
            "PodLogOptions \"\" is invalid: limitBytes: Invalid value: 0: must be greater than 0",
        ),
        ("a", "container=web&tailLines=x", 400, "strconv.ParseInt: parsing \"x\": invalid syntax"),
    ] {
        assert_eq!(server.log(name, query).await, (code, words.to_owned()), "{name} {query}");
    }
    // A container that waits to be started anew has the log of the run that ended.
    let (status, text) = server.log("back", "container=web").await;
    assert!(status == 200 && text.ends_with("exit 1\n"), "{text}");
    assert_eq!(server.log("back", "container=web&previous=true").await, (status, text));
    assert_eq!(server.log("a", "container=web&sinceSeconds=1&sinceTime=2026-11-21T08:13:31Z").await.0, 422);
    server.control("forbid?resource=pods/log").await;
    let (status, words) = server.log("back", "container=web").await;
    assert!(status == 403 && words.contains("cannot get resource \"pods/log\""), "{status} {words}");
    server.control("allow?resource=pods/log").await;
    assert_eq!(server.log("back", "container=web").await.0, 200);
    assert_eq!(server.post(&format!("{PATH}/a/log"), &json!({})).await.0, 405);
}

#[tokio::test]
async fn a_followed_log_goes_on_until_its_container_ends_and_breaks_off_when_it_is_cut() {
    let server = serve(quiet()).await;
    let now = clock::timestamp(clock::now());
    let mut fast = pod("a", state(json!({"running": {"startedAt": now}}), json!({})));
    fast["metadata"]["annotations"] = json!({"demo.kubechurn.dev/log-rate": "2000"});
    server.place(&fast).await;
    let url = server.url(&format!("{PATH}/a/log?container=web&follow=true"));
    let open = async || within(server.client.get(&url).send()).await.unwrap();
    let (mut cut, mut follows) = (open().await, open().await);
    let mut lines = 0;
    while lines < 5_000 {
        let piece = within(follows.chunk()).await.expect("it is whole").expect("it goes on");
        lines += piece.iter().filter(|byte| **byte == b'\n').count();
    }
    server.control("cut?resource=pods").await;
    let broken = loop {
        match within(cut.chunk()).await {
            Ok(Some(_)) => {}
            Ok(None) => break false,
            Err(_) => break true,
        }
    };
    assert!(broken, "a log that is cut has no end");
    let mut follows = open().await;
    fast["status"]["containerStatuses"] = state(
        json!({"terminated": {"startedAt": now, "finishedAt": clock::timestamp(clock::now()), "exitCode": 0, "reason": "Completed"}}),
        json!({}),
    );
    server.place(&fast).await;
    let mut text = Vec::new();
    while let Some(piece) = within(follows.chunk()).await.expect("it ends whole") {
        text.extend(piece);
    }
    assert!(
        text.ends_with(b"drained, exit 0\n"),
        "{}",
        String::from_utf8_lossy(&text[text.len().saturating_sub(200)..])
    );
}
