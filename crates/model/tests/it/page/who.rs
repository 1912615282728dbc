//! Who made the requests, by an audit log that the user opens beside a cluster or a recording.

use kubechurn_client::cache::reflector::Input;
use kubechurn_model::feed::FeedCommand;
use kubechurn_model::page::Page;
use kubechurn_model::page::command::Command;
use kubechurn_model::page::environment::Recorded;
use kubechurn_model::recording::{Rules, Selected};
use kubechurn_recording::Header;
use serde_json::{Value, json};

use super::Play;
use super::changes::listed;
use super::saving::read;

/// A Pod of this version, with the label and the mark for deletion.
fn pod(version: u32, label: &str, is_marked: bool) -> Value {
    let entry = json!({"manager": "kubectl-label", "operation": "Update", "time": "2026-11-26T17:00:05Z",
        "fieldsV1": {"f:metadata": {"f:labels": {"f:tier": {}}}}});
    let mut metadata = json!({"name": "web", "namespace": "shop", "uid": "u", "resourceVersion": version.to_string(),
        "labels": {"tier": label}, "managedFields": [entry]});
    if is_marked {
        metadata["deletionTimestamp"] = "2026-11-26T17:00:37Z".into();
        metadata["deletionGracePeriodSeconds"] = 30.into();
    }
    json!({"metadata": metadata})
}

fn line(id: u32, verb: &str, (user, other): (&str, &str), second: u32, answer: &Value) -> String {
    let time = |part: u32| format!("2026-11-26T17:00:{second:02}.{part}00000Z");
    json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "stage": "ResponseComplete", "auditID": id.to_string(),
        "requestURI": "/x?fieldManager=kubectl-label", "verb": verb, "user": {"username": user},
        "impersonatedUser": {"username": other}, "sourceIPs": ["10.0.0.7"], "userAgent": "kubectl/v1.36.2",
        "objectRef": {"resource": "pods", "namespace": "shop", "name": "web"}, "responseStatus": {"code": 200},
        "responseObject": answer, "requestReceivedTimestamp": time(1), "stageTimestamp": time(2)})
    .to_string()
}

/// A Pod that is labelled and deleted, and the log of that.
fn played() -> (Play, String) {
    let (mut play, id) = listed();
    for (word, object) in [
        ("ADDED", pod(10, "one", false)),
        ("MODIFIED", pod(11, "two", false)),
        ("MODIFIED", pod(12, "two", true)),
        ("DELETED", pod(13, "two", true)),
    ] {
        play.reflects(id, Input::Frame(&json!({"type": word, "object": object}).to_string()));
        play.frame();
    }
    let log = [
        line(1, "patch", ("alice", ""), 5, &pod(11, "two", false)),
        line(2, "delete", ("alice", "bob"), 7, &pod(12, "two", true)),
        line(3, "delete", ("system:node:n", ""), 9, &json!({"kind": "Status", "details": {"uid": "u"}})),
        String::from("no line"),
    ];
    (play, log.join("\n"))
}

/// Who is named by the rows of the Pod, and how.
fn rows(page: &Page) -> (String, String) {
    let rows = page.view().feed.window.rows.iter().filter(|row| row.name.clone() + &row.name_end == "shop/web");
    rows.map(|row| (row.writers.clone() + "; ", row.how.clone() + "; ")).collect()
}

#[test]
fn rows_name_users_in_place_of_managers_and_a_sentence_says_how_many_lines_match() {
    let (mut play, log) = played();
    let (writers, how) = rows(&play.page);
    assert!(writers.contains("kubectl-label") && !how.contains("alice"), "{writers}");
    play.page.begin_log();
    play.page.take_log(&log, &play.place);
    play.page.end_log(&play.place);
    for _ in 0..20 {
        play.frame();
    }
    let (writers, how) = rows(&play.page);
    assert!(writers.contains("alice as bob"), "{writers}");
    assert!(how.contains("alice: kubectl/v1.36.2, from 10.0.0.7"), "{how}");
    assert!(how.contains("asked for by alice as bob"), "{how}");
    assert!(!how.contains("system:node"), "{how}");
    let words = "of 3 writes in the audit log 2 match a change, 0 fit several, 1 none; not readable: 1 of its lines";
    assert_eq!(play.message(), format!("{words}."));
    let frame = &play.page.view().feed.frame;
    assert!(frame.is_known && frame.log == words);
}

#[test]
fn a_saved_recording_shows_the_users_too_and_others_where_names_are_replaced() {
    let (mut play, log) = played();
    play.page.begin_log();
    play.page.take_log(&log, &play.place);
    play.page.end_log(&play.place);
    for _ in 0..20 {
        play.frame();
    }
    let shown = |selected: Selected| {
        let blocks = play.page.recording(Header::default(), selected);
        *play.place.url.borrow_mut() = (String::from("http://127.0.0.1:8080/"), String::from("#/pods?view=changes"));
        let mut page = read(blocks.clone(), &play.place);
        let env = |now| Recorded { around: &play.place, now, ahead: 0.0 };
        page.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 270.0, width: 900.0 }), &env(1e6));
        for frame in 0..20 {
            page.frame(&env(1e6 + f64::from(frame)));
        }
        let how = page.view().feed.window.rows.iter().map(|row| row.how.clone()).collect::<String>();
        (how, blocks.concat())
    };
    let (how, _) = shown(Selected::default());
    assert!(how.contains("asked for by alice as bob: kubectl/v1.36.2, from 10.0.0.7"), "{how}");
    let rules = Rules { names: true, addresses: true, ..Rules::default() };
    let (how, file) = shown(Selected { rules, ..Selected::default() });
    assert!(how.contains("asked for by ") && how.contains("kubectl/v1.36.2"), "{how}");
    for secret in ["alice", "bob", "10.0.0.7"] {
        assert!(!String::from_utf8_lossy(&file).contains(secret), "{secret}");
    }
}
