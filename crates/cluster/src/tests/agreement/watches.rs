//! The recorded watches that fail or end, over both transports.

use std::collections::BTreeSet;

use serde_json::Value;

use super::ordered::{Ordered, compare};
use super::socket::{Frame, open};
use super::*;

/// The answers of this server to a query, in the form of the recording.
struct Answers {
    upgrade: u16,
    frames: Vec<String>,
    body: String,
    close: (u16, String),
    probe: (u16, String, String),
}

async fn ask(server: &Server, path: &str) -> Answers {
    let over_socket = async {
        let mut said = (101, Vec::new(), String::new(), (0, String::new()));
        match open(server, path, Some("http://localhost:8001")).await {
            Ok(mut socket) => loop {
                match socket.next().await {
                    Frame::Text(text) => said.1.push(text),
                    Frame::Close(code, reason) => break said.3 = (code, reason),
                    Frame::Gone => break said.3 = (1006, String::new()),
                }
            },
            Err(response) => {
                let (head, body) = response.split_once("\r\n\r\n").unwrap();
                said.0 = head.split(' ').nth(1).unwrap().parse().unwrap();
                said.2 = body.to_owned();
            }
        }
        said
    };
    let over_http = async {
        let response = within(server.client.get(server.url(path)).send()).await.unwrap();
        let content_type = response.headers()["content-type"].to_str().unwrap().to_owned();
        (response.status().as_u16(), content_type, within(response.text()).await.unwrap())
    };
    let ((upgrade, frames, body, close), probe) = tokio::join!(over_socket, over_http);
    Answers { upgrade, frames, body, close, probe }
}

/// Compares lines of JSON, of which either side may have more.
fn compare_lines(path: &str, theirs: &str, ours: &str, found: &mut BTreeSet<String>) {
    let [theirs, ours] = [theirs, ours].map(|text| Ordered::List(text.lines().map(Ordered::parse).collect()));
    compare(path, &theirs, &ours, found);
}

/// 90. The queries that a real API server was asked: the status of the upgrade, the frames, the close, and the status,
/// the type and the body of a plain request are the same.
#[tokio::test]
async fn watches_that_fail_or_end_do_so_as_recorded() {
    let server = serve(bare()).await;
    let recorded: Vec<Value> = serde_json::from_str(fixture!("watch-errors.json")).unwrap();
    // The objects in the recorded frames existed on the recorded server.
    for frame in recorded.iter().flat_map(|case| case["frames"].as_array().into_iter().flatten()) {
        let event: Value = serde_json::from_str(frame.as_str().unwrap()).unwrap();
        if event["type"] == "ADDED" {
            put(&server, &event["object"]).await;
        }
    }
    let answers =
        futures::future::join_all(recorded.iter().map(|case| ask(&server, case["path"].as_str().unwrap()))).await;
    let mut found = BTreeSet::new();
    for (case, ours) in recorded.iter().zip(answers) {
        let name = case["case"].as_str().unwrap();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let mut same = |what: &str, theirs: String, ours: String| {
            if theirs != ours {
                found.insert(format!("{name}: {what}: {ours} for {theirs}"));
            }
        };
        let number = |value: &Value| value.as_u64().unwrap_or_default().to_string();
        same("upgrade", number(&case["upgrade"]), ours.upgrade.to_string());
        same("close", number(&case["close"]), ours.close.0.to_string());
        same("reason", text(&case["reason"]), ours.close.1);
        same("probe.status", number(&case["probe"]["status"]), ours.probe.0.to_string());
        same("probe.type", text(&case["probe"]["type"]), ours.probe.1);
        let frames: Vec<String> = case["frames"].as_array().into_iter().flatten().map(text).collect();
        compare_lines(&format!("{name}: frames"), &frames.join("\n"), &ours.frames.concat(), &mut found);
        compare_lines(&format!("{name}: body"), &text(&case["body"]), &ours.body, &mut found);
        // The recording has 600 bytes of a body; the frames contain the same events in full.
        let body = text(&case["probe"]["body"]);
        let body = if body.ends_with('\n') { body } else { frames.join("\n") };
        compare_lines(&format!("{name}: probe.body"), &body, &ours.probe.2, &mut found);
    }
    check("Watches", &found);
}
