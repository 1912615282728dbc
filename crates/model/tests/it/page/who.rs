//! Who made the requests, by an audit log that the user opens beside a cluster or a recording.

use kubechurn_client::cache::reflector::Input;
use kubechurn_model::feed::FeedCommand;
use kubechurn_model::feed::span::SpanCommand;
use kubechurn_model::history::who::LogPiece;
use kubechurn_model::page::Page;
use kubechurn_model::page::command::{Command, TimelineCommand};
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
    let unknown = |play: &Play| -> Vec<&'static str> {
        play.page.view().feed.window.rows.iter().map(|row| row.unknown).filter(|words| !words.is_empty()).collect()
    };
    let (writers, how) = rows(&play.page);
    assert!(writers.contains("kubectl-label") && !how.contains("alice"), "{writers}");
    assert!(!writers.contains("inferred"), "this stands in the head alone: {writers}");
    assert_eq!(unknown(&play), ["who deleted is not known"]);
    play.page.audit_log(LogPiece::Begin, &play.place);
    play.page.audit_log(LogPiece::Lines(&log), &play.place);
    play.page.audit_log(LogPiece::End, &play.place);
    for _ in 0..20 {
        play.frame();
    }
    let (writers, how) = rows(&play.page);
    assert!(writers.contains("alice as bob"), "{writers}");
    assert!(how.contains("alice: kubectl/v1.36.2, from 10.0.0.7"), "{how}");
    assert!(how.contains("asked for by alice as bob"), "{how}");
    assert!(!how.contains("system:node"), "{how}");
    assert!(!unknown(&play).contains(&"who deleted is not known"), "the log says who did: {how}");
    let words =
        "of 3 writes in the audit log 2 match a change, 0 fit several, 1 none (1 pods); not readable: 1 of its lines";
    assert_eq!(play.message(), format!("{words}."));
    let frame = &play.page.view().feed.frame;
    assert!(frame.is_known && frame.log == words);
}

#[test]
fn a_saved_recording_shows_the_users_too_and_others_where_names_are_replaced() {
    let (mut play, log) = played();
    play.page.audit_log(LogPiece::Begin, &play.place);
    play.page.audit_log(LogPiece::Lines(&log), &play.place);
    play.page.audit_log(LogPiece::End, &play.place);
    for _ in 0..20 {
        play.frame();
    }
    let shown = |selected: Selected| {
        let blocks = play.page.reports().recording(Header::default(), selected);
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

impl Play {
    fn opens_log(&mut self, log: &str) {
        self.page.audit_log(LogPiece::Begin, &self.place);
        self.page.audit_log(LogPiece::Lines(log), &self.place);
        self.page.audit_log(LogPiece::End, &self.place);
        (0..20).for_each(|_| self.frame());
    }

    /// The writers of the Pod's rows in sight.
    fn writers(&self) -> Vec<String> {
        self.page.view().feed.window.rows.iter().map(|row| row.writers.clone()).collect()
    }

    fn filters(&mut self, text: &str) {
        self.command(Command::Span(SpanCommand::Filter(text.into())));
        self.arrive();
        (0..3).for_each(|_| self.frame());
    }

    /// The names and the filters of what is counted by writer.
    fn counted(&self) -> (&'static str, Vec<(String, String)>) {
        let span = (*self.page.view().feed.span).clone().expect("a time is chosen");
        let section =
            span.sections.iter().find(|section| section.title.starts_with("by")).unwrap_or_else(|| panic!("{span:?}"));
        (section.title, section.rows.iter().map(|row| (row.label.clone(), row.filter.clone())).collect())
    }

    /// The groups of lanes, and what each has.
    fn groups(&mut self) -> Vec<String> {
        let route = "#/pods?view=changes&lanes=manager&order=name&open=*";
        self.place.url.borrow_mut().1 = route.into();
        self.command(Command::Arrive(route.into()));
        self.command(Command::Timeline(TimelineCommand::Resize(1_000.0, 400.0)));
        (0..5).for_each(|_| self.frame());
        let rows = self.page.scene().expect("a scene").lanes.iter().flatten();
        let groups = rows.filter_map(|row| row.group.as_ref());
        groups.filter(|group| group.depth == 0).map(|group| group.name.to_string()).collect()
    }
}

#[test]
fn rows_filter_differences_lanes_and_counts_name_the_same_user() {
    let (mut play, log) = played();
    assert_eq!(play.groups(), ["kubectl-label", "not known"]);
    play.opens_log(&log);
    assert_eq!(play.groups(), ["alice", "alice as bob", "kubectl-label", "not known"]);
    assert!(play.writers().concat().contains("alice as bob"), "{:?}", play.writers());
    for (filter, is_found) in [
        ("by:alice", true),
        ("by:/^alice as bob$/", true),
        ("by:system:node", false),
        ("by:kubectl-label by:alice", false),
        ("by:nobody", false),
    ] {
        play.filters(filter);
        assert_eq!(play.writers().iter().any(|writers| writers.contains("alice")), is_found, "{filter}");
        assert_eq!(play.page.view().feed.window.rows.is_empty(), !is_found, "{filter}");
        play.filters(filter);
    }
    // While the Pod is there: it is labelled by alice and deleted by alice as bob, and nobody knows who made it.
    let from = play.page.view().feed.window.rows.iter().map(|row| row.at).fold(f64::INFINITY, f64::min) - 50.0;
    for (is_net, expected) in [(false, "by, partly inferred"), (true, "by, partly inferred")] {
        play.command(Command::Span(SpanCommand::Compare(from, from + 300.0)));
        play.arrive();
        play.command(Command::Span(SpanCommand::Net(is_net)));
        play.arrive();
        (0..20).for_each(|_| play.frame());
        let (title, mut counted) = play.counted();
        counted.sort();
        let expected_rows = [
            ("alice", "by:/^alice$/"),
            ("alice as bob", "by:/^alice\\sas\\sbob$/"),
            ("kubectl-label", "by:kubectl-label"),
        ];
        assert_eq!(title, expected);
        let counted: Vec<_> = counted.iter().map(|(label, filter)| (&**label, &**filter)).collect();
        assert_eq!(counted, expected_rows, "{is_net}");
        let writers = play.writers().concat();
        assert!(
            ["alice", "alice as bob", "kubectl-label inferred"].iter().all(|one| writers.contains(one)),
            "{writers}"
        );
        for (filter, is_found) in [("by:/^alice$/", true), ("by:/bob$/", true), ("by:system:node", false)] {
            play.filters(filter);
            assert_eq!(!play.writers().is_empty(), is_found, "{filter} {is_net}");
            play.filters(filter);
        }
    }
}

#[test]
fn what_is_wrong_began_with_a_change_of_the_user() {
    let (mut play, id) = listed();
    let pod = |version: u32, manager: &str, reason: Option<&str>| {
        let state = reason.map_or(json!({"running": {}}), |reason| json!({"waiting": {"reason": reason}}));
        json!({"metadata": {"name": "web", "namespace": "shop", "uid": "u", "resourceVersion": version.to_string(),
                "managedFields": [{"manager": manager, "operation": "Update", "time": format!("2026-11-26T17:00:{version:02}Z"),
                    "subresource": if manager == "kubelet" { "status" } else { "" }}]},
            "spec": {"containers": [{"name": "c", "image": "example/web:9-typo"}]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "False"}],
                "containerStatuses": [{"name": "c", "ready": false, "state": state}]}})
    };
    let created = pod(10, "kubectl-label", None);
    for (word, object) in [("ADDED", &created), ("MODIFIED", &pod(11, "kubelet", Some("ErrImagePull")))] {
        play.reflects(id, Input::Frame(&json!({"type": word, "object": object}).to_string()));
        (0..10).for_each(|_| play.frame());
    }
    let writers = |play: &Play| -> Vec<String> {
        play.page.view().feed.wrong.rows.iter().map(|row| row.writer.clone()).collect()
    };
    assert_eq!(writers(&play), ["kubectl-label"]);
    play.opens_log(&line(1, "create", ("alice", ""), 10, &created));
    assert_eq!(writers(&play), ["alice"]);
}
