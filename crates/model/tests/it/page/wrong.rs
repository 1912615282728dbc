//! What is wrong now, as the page shows it above the feed.

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::Input;
use kubechurn_client::testing::bookmark;
use kubechurn_model::feed::FeedCommand;
use kubechurn_model::feed::wrong::row::WrongModel;
use kubechurn_model::history::Budget;
use kubechurn_model::page::command::Command;
use kubechurn_model::rewind::banner::RewindCommand;
use kubechurn_model::view::why::WhyModel;
use serde_json::{Value, json};

use super::Play;
use super::changes::{LISTED, listed, names};

const EXPIRED: &str = r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}"#;

impl Play {
    fn pod(&mut self, id: InformerId, delta: &str, of: (&str, u32), reason: &str) {
        self.pod_is_received(id, delta, of, reason);
        self.later(200.0);
    }

    fn pod_is_received(&mut self, id: InformerId, delta: &str, (name, version): (&str, u32), reason: &str) {
        let state = if reason.is_empty() { json!({"running": {}}) } else { json!({"waiting": {"reason": reason}}) };
        let frame = json!({"type": delta, "object": {"kind": "Pod", "apiVersion": "v1",
            "metadata": {"name": name, "namespace": "shop", "uid": name, "resourceVersion": version.to_string()},
            "spec": {"containers": [{"name": "c", "image": "example/cart:9-typo"}]},
            "status": {"phase": "Running", "conditions": [{"type": "Ready", "status": if reason.is_empty() { "True" } else { "False" }}],
                "containerStatuses": [{"name": "c", "ready": reason.is_empty(), "state": state}]}}});
        self.reflects(id, Input::Frame(&frame.to_string()));
    }

    fn later(&mut self, milliseconds: f64) {
        self.place.now.set(self.place.now.get() + milliseconds);
        self.frame();
    }

    fn why(&mut self, href: &str) -> WhyModel {
        self.place.url.borrow_mut().1 = href.to_owned();
        self.command(Command::Arrive(href.to_owned()));
        (0..10).for_each(|_| self.later(200.0));
        (*self.page.view().feed.why).clone().expect("an incident is shown")
    }

    fn wrong(&self) -> &WrongModel {
        &self.page.view().feed.wrong
    }

    /// What each entry means, its name and its sentence.
    fn entries(&self) -> Vec<(&'static str, String)> {
        let said = |words: &[(String, &str)]| words.iter().map(|(words, _)| &**words).collect::<Vec<_>>().join(" ");
        self.wrong()
            .rows
            .iter()
            .map(|row| (row.tone, format!("{} {}: {}", row.kind, row.name, said(&row.words))))
            .collect()
    }
}

#[test]
fn what_is_wrong_is_an_entry_with_its_place_and_stays_a_while_when_it_is_over() {
    let (mut play, id) = listed();
    play.pod(id, "ADDED", ("cart", 10), "ContainerCreating");
    assert_eq!((play.entries(), play.wrong().count), (vec![], 0));
    play.pod(id, "MODIFIED", ("cart", 11), "ErrImagePull");
    assert_eq!(play.entries(), [("bad", "Pod shop/cart: cannot pull example/cart:9-typo".into())]);
    let row = &play.wrong().rows[0];
    assert!(row.href.contains("cart") && row.href.contains("tab=changes"), "{}", row.href);
    assert!(
        row.fails && !row.is_card && row.began.iter().any(|(words, _)| words.contains("no change of its own")),
        "{row:?}"
    );
    // The sidebar shows it, whatever is in view.
    (0..10).for_each(|_| play.later(200.0));
    let changes = &play.page.view().sidebar.changes;
    assert_eq!((&*changes.wrong, changes.fails), ("1 wrong", true));
    play.pod(id, "MODIFIED", ("cart", 12), "");
    assert_eq!((play.entries()[0].0, play.wrong().count), ("over", 0));
    assert!(play.wrong().rows[0].since.starts_with("over, "), "{:?}", play.wrong().rows[0]);
    play.later(61_000.0);
    assert_eq!(play.entries(), []);
}

#[test]
fn what_is_over_is_shown_so_at_once_though_nothing_else_comes() {
    let (mut play, id) = listed();
    play.pod(id, "ADDED", ("cart", 10), "ContainerCreating");
    play.pod(id, "MODIFIED", ("cart", 11), "ErrImagePull");
    assert_eq!(play.entries()[0].0, "bad");
    play.wait(1_000.0);
    play.frame();
    play.wait(0.0);
    // It comes a moment after the entries were made.
    play.place.now.set(play.place.now.get() + 40.0);
    play.pod_is_received(id, "MODIFIED", ("cart", 12), "");
    play.page.frame(&play.place);
    play.settle();
    play.wait(0.0);
    let deadline = play.page.deadline(&play.place) - play.place.now.get();
    assert!(deadline <= 100.0, "{deadline}");
    play.frame();
    assert_eq!(play.entries()[0].0, "over");
}

#[test]
fn that_no_change_explains_it_is_said_when_every_change_before_it_was_looked_at() {
    let (mut play, id) = listed();
    let is_said = |play: &Play| {
        let [row] = &play.wrong().rows[..] else { panic!("{:?}", play.entries()) };
        row.began.iter().any(|(words, _)| words.contains("no change of its own"))
    };
    play.pod(id, "ADDED", ("cart", 10), "ContainerCreating");
    // A machine that is so slow that a frame's time is over after a few changes.
    play.place.step.set(20.0);
    for number in 0..40 {
        let frame = json!({"type": "ADDED", "object": {"metadata": {"name": format!("c{number}"), "namespace": "shop",
            "uid": format!("c{number}"), "resourceVersion": (100 + number).to_string()}}});
        play.reflects(id, Input::Frame(&frame.to_string()));
    }
    play.pod(id, "MODIFIED", ("cart", 200), "ErrImagePull");
    assert!(play.page.reports().unread() > 0 && !is_said(&play), "{:?}", play.wrong().rows);
    while play.page.reports().unread() > 0 {
        play.later(200.0);
    }
    (0..10).for_each(|_| play.later(200.0));
    assert!(is_said(&play), "{:?}", play.wrong());
}

#[test]
fn the_card_of_a_fight_is_one_and_leads_to_the_object_that_is_fought_over() {
    let mut play = Play::found("#/pods,deployments?view=changes");
    let of = |plural: &str| play.informers.iter().find(|(_, of)| *of == plural).expect("it is watched").0;
    let [pods, deployments] = ["pods", "deployments"].map(of);
    play.lists(pods, &[]);
    play.lists(deployments, &[]);
    for turn in 0..40 {
        let (side, manager, replicas) = [(0, "kubectl-scale", 1), (1, "autoscaler", 3)][turn % 2];
        let frame = json!({"type": if turn == 0 { "ADDED" } else { "MODIFIED" }, "object": {
            "metadata": {"name": "cart", "namespace": "shop", "uid": "cart", "generation": turn,
                "resourceVersion": (200 + 2 * turn).to_string(),
                "managedFields": [{"manager": manager, "operation": "Update", "time": turn.to_string()}]},
            "spec": {"replicas": replicas}, "status": {"replicas": replicas, "readyReplicas": replicas,
                // What follows from the fight has no card of its own.
                "conditions": [{"type": "Available", "status": (["True", "False"][side])}]}}});
        play.reflects(deployments, Input::Frame(&frame.to_string()));
        // What follows from it: a Pod that comes and goes.
        play.pod(pods, ["DELETED", "ADDED"][side], ("cart-1", 201 + 2 * turn as u32), "");
    }
    (0..10).for_each(|_| play.later(200.0));
    let rows = &play.wrong().rows;
    let [card] = &rows[..] else { panic!("{:#?}", play.entries()) };
    assert!(card.is_card && card.tone == "fight" && card.kind == "Deployment" && card.name == "shop/cart", "{card:?}");
    assert!(card.words.iter().any(|(words, _)| words.contains("replicas")), "{card:?}");
    assert_eq!(card.writer, "kubectl-scale, autoscaler");
    let changes = &play.page.view().sidebar.changes;
    assert_eq!((&*changes.wrong, changes.fails), ("1 wrong", false), "nothing is red where nothing fails");
    let href = card.href.clone();
    // While it goes on, it is said how often it did so in which time; later, how long ago the last time was, too.
    let last = |play: &Play| play.wrong().rows[0].words.iter().any(|(words, _)| words.starts_with("last "));
    assert!(!last(&play), "{:?}", play.wrong().rows);
    (0..60).for_each(|_| play.later(200.0));
    assert!(last(&play), "{:?}", play.wrong().rows);
    play.place.url.borrow_mut().1 = href.clone();
    play.command(Command::Arrive(href));
    play.frame();
    let selected = play.page.view().header.route.selected.clone();
    assert!(
        format!("{selected:?}").contains("deployments") && format!("{selected:?}").contains("cart"),
        "{selected:?}"
    );
}

#[test]
fn the_fight_of_an_object_is_shown_and_not_the_trouble_that_it_had_before() {
    let mut play = Play::found("#/deployments?view=changes");
    let id = play.informers[0].0;
    play.lists(id, &[]);
    let mut version = 20;
    let mut comes = |play: &mut Play, manager: &str, replicas: u32, progresses: bool| {
        version += 1;
        let condition = if progresses { "NewReplicaSetAvailable" } else { "ProgressDeadlineExceeded" };
        let frame = json!({"type": if version == 21 { "ADDED" } else { "MODIFIED" }, "object": {
            "metadata": {"name": "cart", "namespace": "shop", "uid": "cart", "generation": version,
                "resourceVersion": version.to_string(),
                "managedFields": [{"manager": manager, "operation": "Update", "time": version.to_string()}]},
            "spec": {"replicas": replicas}, "status": {"replicas": replicas, "readyReplicas": replicas,
                "observedGeneration": version, "conditions": [{"type": "Progressing", "reason": condition,
                    "status": if progresses { "True" } else { "False" }}]}}});
        play.reflects(id, Input::Frame(&frame.to_string()));
        (0..25).for_each(|_| play.later(200.0));
    };
    comes(&mut play, "kubectl", 3, true);
    comes(&mut play, "kubectl", 3, false);
    let before = play.wrong().rows[0].why_href.clone();
    assert!(play.why(&before).words.iter().any(|(words, _)| words.contains("does not progress")));
    comes(&mut play, "kubectl", 3, true);
    for turn in 0..12 {
        let (manager, replicas) = [("kubectl", 1), ("autoscaler", 3)][turn % 2];
        comes(&mut play, manager, replicas, true);
    }
    let card = play.wrong().rows.iter().find(|row| row.is_card).expect("a card").why_href.clone();
    for (href, expected) in [(card, "spec.replicas"), (before, "does not progress")] {
        let why = play.why(&href);
        assert!(why.words.iter().any(|(words, _)| words.contains(expected)), "{href}: {:?}", why.words);
        let titles: Vec<&str> = why.causes.iter().map(|cause| &*cause.title).collect();
        if expected == "spec.replicas" {
            assert!(why.trail.is_empty(), "{:#?}", why.trail);
            assert!(
                titles.len() == 2 && titles.iter().all(|title| title.contains(" sets spec.replicas")),
                "{titles:?}"
            );
        }
    }
}

#[test]
fn four_entries_are_open_and_the_others_are_counted_and_one_click_away() {
    let (mut play, id) = listed();
    for number in 0..7 {
        play.pod(id, "ADDED", (&format!("p{number}"), 20 + number), "CrashLoopBackOff");
    }
    assert_eq!((play.wrong().rows.len(), play.wrong().count, play.wrong().more), (4, 7, 3));
    play.command(Command::Feed(FeedCommand::Wrong));
    play.later(1.0);
    assert_eq!((play.wrong().rows.len(), play.wrong().is_open), (7, true));
    play.command(Command::Feed(FeedCommand::Wrong));
    play.later(1.0);
    assert_eq!(play.wrong().rows.len(), 4);
}

#[test]
fn what_fails_is_found_by_its_state_and_not_by_old_words() {
    let (mut play, id) = listed();
    play.pod(id, "ADDED", ("bad", 10), "ContainerCreating");
    play.pod(id, "ADDED", ("well", 11), "ErrImagePull");
    play.pod(id, "MODIFIED", ("well", 12), "");
    play.later(70_000.0);
    play.pod(id, "MODIFIED", ("bad", 13), "CrashLoopBackOff");
    play.command(Command::Filter(String::from("status:failing")));
    play.frame();
    let rows = play.feed();
    assert_eq!(names(&rows), ["bad", "well"], "{rows:?}");
    assert!(rows[1].1.contains("ErrImagePull") && !rows[1].1.contains("Running"), "{rows:?}");
    // What it was has no colour, and what it is has that of its meaning.
    let bad = &play.page.view().feed.window.rows[0];
    let values: Vec<(&str, &str, Tone)> = bad
        .words
        .iter()
        .filter(|piece| !piece.what.is_empty())
        .map(|piece| (&*piece.text, piece.what, piece.tone))
        .collect();
    assert!(values.contains(&("ContainerCreating", "old", Tone::Plain)), "{values:?}");
    assert!(values.contains(&("CrashLoopBackOff", "new", Tone::Bad)), "{values:?}");
    assert_eq!(bad.tone, Tone::Bad);
}

/// An object with a uid of its own, and a controller.
fn owned(kind: &str, (name, uid): (&str, u32), owner: Option<(&str, &str, u32)>, version: u32, rest: &Value) -> Value {
    let long = |uid: u32| format!("00000000-0000-4000-8000-{uid:012}");
    let owners: Vec<Value> = owner
        .map(|(kind, name, uid)| json!({"kind": kind, "name": name, "uid": long(uid), "controller": true}))
        .into_iter()
        .collect();
    let mut object = json!({"kind": kind, "metadata": {"name": name, "namespace": "shop", "uid": long(uid),
        "resourceVersion": version.to_string(), "generation": version, "ownerReferences": owners}});
    for (name, value) in rest.as_object().expect("members") {
        object[name] = value.clone();
    }
    object
}

/// How the change of a Deployment comes.
#[derive(Clone, Copy, PartialEq)]
enum Comes {
    /// With the watch, before what comes of it.
    First,
    /// With the watch, after what comes of it by other watches.
    Late,
    /// With the list after the watch had expired.
    ByList,
}

/// A Deployment gets an image that cannot be pulled.
fn with_another_image(how: Comes) -> Play {
    let by_list = how == Comes::ByList;
    let mut play = Play::found("#/pods,replicasets,deployments?view=changes");
    play.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 270.0, width: 900.0 }));
    let of = |plural: &str| play.informers.iter().find(|(_, of)| *of == plural).expect("it is watched").0;
    let [pods, sets, deployments] = ["pods", "replicasets", "deployments"].map(of);
    let template = |image: &str| json!({"spec": {"containers": [{"name": "c", "image": image}]}});
    let deployment = |version: u32, image: &str| {
        let rest =
            json!({"spec": {"replicas": 1, "template": template(image)}, "status": {"observedGeneration": version}});
        owned("Deployment", ("cart", 1), None, version, &rest)
    };
    let set = |name: &str, uid: u32, version: u32, replicas: u32, image: &str| {
        let rest = json!({"spec": {"replicas": replicas, "template": template(image)}, "status": {}});
        owned("ReplicaSet", (name, uid), Some(("Deployment", "cart", 1)), version, &rest)
    };
    play.lists(pods, &[]);
    for (id, objects) in [(sets, [set("old", 2, 2, 1, "cart:1")]), (deployments, [deployment(1, "cart:1")])] {
        play.reflects(id, Input::Start);
        play.reflects(id, Input::Opened);
        for object in objects {
            play.reflects(id, Input::Frame(&json!({"type": "ADDED", "object": object}).to_string()));
        }
        play.reflects(id, Input::Frame(&bookmark("9", LISTED)));
    }
    play.later(200.0);
    if by_list {
        play.reflects(deployments, Input::Frame(EXPIRED));
        play.later(30_000.0);
        play.reflects(deployments, Input::Timer);
        play.reflects(deployments, Input::Opened);
    }
    let comes = |play: &mut Play, id: InformerId, what: &str, object: &Value| {
        play.reflects(id, Input::Frame(&json!({"type": what, "object": object}).to_string()));
        play.later(200.0);
    };
    if how != Comes::Late {
        comes(&mut play, deployments, if by_list { "ADDED" } else { "MODIFIED" }, &deployment(10, "cart:2"));
    }
    if by_list {
        play.reflects(deployments, Input::Frame(&bookmark("10", LISTED)));
        play.later(200.0);
    }
    comes(&mut play, sets, "ADDED", &set("new", 3, 11, 1, "cart:2"));
    for (version, what, reason) in [(12, "ADDED", "ContainerCreating"), (13, "MODIFIED", "ErrImagePull")] {
        if how == Comes::Late && what == "MODIFIED" {
            comes(&mut play, deployments, what, &deployment(10, "cart:2"));
        }
        let state = json!({"waiting": {"reason": reason}});
        let rest = json!({"spec": {"containers": [{"name": "c", "image": "cart:2"}]}, "status": {"phase": "Pending",
            "containerStatuses": [{"name": "c", "image": "cart:2", "state": state}]}});
        comes(&mut play, pods, what, &owned("Pod", ("new-1", 4), Some(("ReplicaSet", "new", 3)), version, &rest));
    }
    (0..10).for_each(|_| play.later(200.0));
    play
}

#[test]
fn the_change_with_which_failing_began_is_failing_too_and_both_lead_to_it() {
    let mut play = with_another_image(Comes::First);
    let [entry] = &play.wrong().rows[..] else { panic!("{:?}", play.entries()) };
    assert_eq!((&*entry.kind, &*entry.name), ("Deployment", "shop/cart"), "{entry:?}");
    assert!(entry.began.iter().any(|(words, _)| words.contains("image")), "{entry:?}");
    let href = entry.href.clone();
    play.command(Command::Filter(String::from("status:failing")));
    (0..10).for_each(|_| play.later(200.0));
    let rows = play.feed();
    assert_eq!(names(&rows), ["new-1", "cart"], "the newest first, for what is between them does not fail: {rows:?}");
    assert!(rows[1].1.contains("image"), "{rows:?}");
    play.place.url.borrow_mut().1 = href.clone();
    play.command(Command::Arrive(href));
    play.frame();
    let selected = format!("{:?}", play.page.view().header.route.selected);
    assert!(selected.contains("deployments") && selected.contains("cart"), "{selected}");
}

#[test]
fn a_change_that_a_list_has_shown_is_a_cause_now_and_at_another_moment() {
    let mut play = with_another_image(Comes::ByList);
    let began = |play: &Play| {
        let [entry] = &play.wrong().rows[..] else { panic!("{:?}", play.entries()) };
        (entry.began.clone(), entry.began_href.clone(), entry.why_href.clone())
    };
    let (words, href, why) = began(&play);
    assert!(words.iter().any(|(words, _)| words.contains("image")), "{words:?}");
    let at = play.place.now.get();
    play.later(300.0);
    play.rewind(RewindCommand::To(at));
    (0..10).for_each(|_| play.later(200.0));
    let then = began(&play);
    assert_eq!((&then.0, play.wrong().title.starts_with("Wrong at ")), (&words, true));
    assert_eq!(then.1.split('&').next(), href.split('&').next());
    play.rewind(RewindCommand::Live);
    let WhyModel { causes, has_pods, .. } = play.why(&why);
    assert!(has_pods, "their log can be read");
    let first = causes.first().map(|cause| (cause.title.as_str(), cause.proof));
    assert_eq!(first, Some(("The image was changed", "proven")), "{causes:#?}");
}

#[test]
fn the_steps_of_a_trail_are_the_same_where_one_watch_is_behind_another() {
    let steps = |how: Comes| {
        let mut play = with_another_image(how);
        let href = play.wrong().rows[0].why_href.clone();
        let trail = play.why(&href).trail;
        trail.into_iter().map(|step| (step.what, step.words, step.is_proven)).collect::<Vec<_>>()
    };
    let first = steps(Comes::First);
    let words: Vec<&str> = first.iter().map(|(_, words, _)| &**words).collect();
    assert_eq!(words[words.len() - 3..words.len() - 1], ["is to have 1 Pod", "created"], "{first:#?}");
    assert_eq!(steps(Comes::Late), first);
}

#[test]
fn a_pod_that_a_list_brought_is_not_said_to_be_created_and_follows_from_nothing() {
    let mut play = Play::found("#/pods,replicasets,deployments?view=changes");
    let template = json!({"spec": {"containers": [{"name": "c", "image": "cart:2"}]}});
    let rest = json!({"spec": {"replicas": 1, "template": template}, "status": {"observedGeneration": 1}});
    let state = json!({"waiting": {"reason": "ErrImagePull"}});
    let pod = json!({"spec": {"containers": [{"name": "c", "image": "cart:2"}]}, "status": {"phase": "Pending",
        "containerStatuses": [{"name": "c", "image": "cart:2", "state": state}]}});
    let objects = [
        ("deployments", owned("Deployment", ("cart", 1), None, 1, &rest)),
        ("replicasets", owned("ReplicaSet", ("new", 3), Some(("Deployment", "cart", 1)), 2, &rest)),
        ("pods", owned("Pod", ("new-1", 4), Some(("ReplicaSet", "new", 3)), 3, &pod)),
    ];
    for (plural, object) in objects {
        let id = play.informers.iter().find(|(_, of)| *of == plural).expect("it is watched").0;
        play.reflects(id, Input::Start);
        play.reflects(id, Input::Opened);
        play.reflects(id, Input::Frame(&json!({"type": "ADDED", "object": object}).to_string()));
        play.reflects(id, Input::Frame(&bookmark("9", LISTED)));
    }
    (0..10).for_each(|_| play.later(200.0));
    let href = play.wrong().rows[0].why_href.clone();
    let why = play.why(&href);
    assert!(why.causes.is_empty(), "{:#?}", why.causes);
    let steps: Vec<(&str, &str)> = why.trail.iter().map(|step| (&*step.words, &*step.link)).collect();
    assert_eq!(steps.first(), Some(&("first seen, in a list", "")), "{steps:#?}");
}

/// Its Pods had a node before that took no more, and a Warning about something else came first.
#[test]
fn a_version_whose_pods_had_a_node_is_not_proven_to_be_why_no_node_takes_the_next_one() {
    let mut play = Play::found("#/pods,replicasets,deployments,events?view=changes");
    let of = |plural: &str| play.informers.iter().find(|(_, of)| *of == plural).expect("it is watched").0;
    let [pods, sets, deployments, events] = ["pods", "replicasets", "deployments", "events"].map(of);
    let template = |node: &Value| json!({"spec": {"nodeSelector": node, "containers": [{"name": "c", "image": "c"}]}});
    let (any, one) = (json!({"disk": "any"}), json!({"disk": "one"}));
    let deployment = |version: u32, node: &Value| {
        let status = json!({"observedGeneration": version});
        let rest = json!({"spec": {"replicas": 1, "template": template(node)}, "status": status});
        owned("Deployment", ("cart", 1), None, version, &rest)
    };
    let set = |version: u32, ready: u32| {
        let rest = json!({"spec": {"replicas": 1, "template": template(&one)}, "status": {"readyReplicas": ready}});
        owned("ReplicaSet", ("new", 3), Some(("Deployment", "cart", 1)), version, &rest)
    };
    let message =
        "0/2 nodes are available: 1 node(s) didn't match Pod's node affinity/selector, 1 node(s) were unschedulable.";
    let waits = json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message}]);
    let pod = |name: &str, uid: u32, version: u32, status: Value| {
        let rest =
            json!({"spec": {"nodeSelector": one, "containers": [{"name": "c", "image": "c"}]}, "status": status});
        owned("Pod", (name, uid), Some(("ReplicaSet", "new", 3)), version, &rest)
    };
    let event = |name: &str, reason: &str, version: u32| {
        json!({"kind": "Event", "metadata": {"name": format!("new-2.{name}"), "namespace": "shop", "uid": name,
            "resourceVersion": version.to_string()}, "type": "Warning", "reason": reason, "message": message,
            "involvedObject": {"kind": "Pod", "namespace": "shop", "name": "new-2"}})
    };
    play.lists(pods, &[]);
    play.lists(events, &[]);
    play.lists(sets, &[]);
    play.reflects(deployments, Input::Start);
    play.reflects(deployments, Input::Opened);
    play.reflects(deployments, Input::Frame(&json!({"type": "ADDED", "object": deployment(1, &any)}).to_string()));
    play.reflects(deployments, Input::Frame(&bookmark("9", LISTED)));
    let running = json!({"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]});
    for (id, what, object, after) in [
        (deployments, "MODIFIED", deployment(10, &one), 200.0),
        (sets, "ADDED", set(11, 0), 200.0),
        (pods, "ADDED", pod("new-1", 4, 12, running), 200.0),
        (sets, "MODIFIED", set(13, 1), 6_000.0),
        (pods, "DELETED", pod("new-1", 4, 14, json!({})), 200.0),
        (pods, "ADDED", pod("new-2", 5, 15, json!({"phase": "Pending", "conditions": waits})), 200.0),
        (events, "ADDED", event("a", "MissingClusterDNS", 16), 200.0),
        (events, "ADDED", event("b", "FailedScheduling", 17), 200.0),
    ] {
        play.reflects(id, Input::Frame(&json!({"type": what, "object": object}).to_string()));
        play.later(after);
    }
    (0..100).for_each(|_| play.later(200.0));
    let href = play.wrong().rows[0].why_href.clone();
    let why = play.why(&href);
    let cause = &why.causes[0];
    assert_eq!((&*cause.title, cause.proof), ("The node selector was changed", "possible"), "{:#?}", why.causes);
    let checks: Vec<(bool, &str)> = cause.checks.iter().map(|(holds, words, _)| (*holds, &**words)).collect();
    assert!(checks.contains(&(false, "Pods of this version were ready before")), "{checks:?}");
    assert_eq!(why.trail.last().map(|step| &*step.words), Some("FailedScheduling"), "{:#?}", why.trail);
}

#[test]
fn a_version_whose_pods_were_created_is_not_proven_to_be_why_further_ones_are_refused() {
    let causes = |was_ready: u32| {
        let mut play = Play::found("#/replicasets,deployments,serviceaccounts?view=changes");
        let of = |plural: &str| play.informers.iter().find(|(_, of)| *of == plural).expect("it is watched").0;
        let [sets, deployments, accounts] = ["replicasets", "deployments", "serviceaccounts"].map(of);
        let account = |version: u32| owned("ServiceAccount", ("runner", 5), None, version, &json!({}));
        let template = |account: &str| json!({"spec": {"serviceAccountName": account, "containers": [{"name": "c"}]}});
        let deployment = |version: u32, account: &str| {
            let status = json!({"observedGeneration": version});
            let rest = json!({"spec": {"replicas": 2, "template": template(account)}, "status": status});
            owned("Deployment", ("cart", 1), None, version, &rest)
        };
        let set = |version: u32, status: Value| {
            let rest = json!({"spec": {"replicas": 2, "template": template("runner")}, "status": status});
            owned("ReplicaSet", ("new", 3), Some(("Deployment", "cart", 1)), version, &rest)
        };
        play.lists(sets, &[]);
        play.lists(accounts, &[]);
        play.reflects(deployments, Input::Start);
        play.reflects(deployments, Input::Opened);
        let before = owned("Deployment", ("cart", 9), None, 1, &json!({}));
        play.reflects(deployments, Input::Frame(&json!({"type": "ADDED", "object": before}).to_string()));
        play.reflects(deployments, Input::Frame(&bookmark("2", LISTED)));
        let message = "error looking up service account shop/runner: serviceaccount \"runner\" not found";
        let refused =
            json!([{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message}]);
        for (id, what, object, after) in [
            // What had its name before is not looked for.
            (deployments, "DELETED", before.clone(), 200.0),
            (deployments, "ADDED", deployment(9, "walker"), 200.0),
            (accounts, "ADDED", account(9), 200.0),
            (deployments, "MODIFIED", deployment(10, "runner"), 200.0),
            (sets, "ADDED", set(11, json!({"readyReplicas": was_ready})), 6_000.0),
            (accounts, "DELETED", account(12), 200.0),
            (sets, "MODIFIED", set(13, json!({"readyReplicas": was_ready, "conditions": refused})), 200.0),
        ] {
            play.reflects(id, Input::Frame(&json!({"type": what, "object": object}).to_string()));
            play.later(after);
        }
        (0..50).for_each(|_| play.later(200.0));
        let href = play.wrong().rows[0].why_href.clone();
        let causes = play.why(&href).causes;
        causes.into_iter().map(|cause| (cause.title, cause.proof)).collect::<Vec<_>>()
    };
    let title = String::from("The ServiceAccount was changed");
    // That it was created, and that it was deleted, are two changes, and each is one.
    let account = |what: &str, proof: &'static str| (format!("ServiceAccount runner was {what}"), proof);
    let created = (String::from("Deployment cart was created"), "time");
    for (was_ready, proof) in [(2, "possible"), (0, "proven")] {
        let causes = causes(was_ready);
        for expected in [account("deleted", "proven"), (title.clone(), proof), created.clone()] {
            assert!(causes.contains(&expected), "{expected:?} in {causes:#?}");
        }
        assert_eq!((&causes[0], causes.len()), (&account("deleted", "proven"), 4), "{causes:#?}");
    }
}

#[test]
fn of_a_rollout_whose_pods_are_not_read_it_is_not_said_that_there_is_none() {
    let deployment = |version: u32| {
        let template = json!({"spec": {"containers": [{"name": "c", "image": format!("cart:{version}")}]}});
        let rest = json!({"spec": {"replicas": 1, "template": template}, "status": {"observedGeneration": version}});
        owned("Deployment", ("cart", 1), None, version, &rest)
    };
    let begun = || {
        let mut play = Play::found("#/deployments,pods?view=changes");
        let of = |plural: &str| play.informers.iter().find(|(_, of)| *of == plural).expect("it is watched").0;
        let [pods, deployments] = ["pods", "deployments"].map(of);
        play.reflects(deployments, Input::Start);
        play.reflects(deployments, Input::Opened);
        for (what, version) in [("ADDED", 2), ("MODIFIED", 10)] {
            play.reflects(deployments, Input::Frame(&json!({"type": what, "object": deployment(version)}).to_string()));
            if what == "ADDED" {
                play.reflects(deployments, Input::Frame(&bookmark("9", LISTED)));
            }
            play.later(200.0);
        }
        (play, pods)
    };
    let words = |play: &mut Play| {
        let why = play.why("#/why?of=deployments/shop/cart&since=1970-01-01T00:00:01.000Z");
        let [bar] = &why.rollout.as_ref().expect("a rollout").bars[..] else { panic!("{why:?}") };
        bar.stretches.last().and_then(|one| Some(one.words.split_once(", ")?.0.to_owned())).unwrap_or_default()
    };
    let (mut play, pods) = begun();
    assert_eq!(words(&mut play), "its Pods are not known");
    play.lists(pods, &[]);
    assert_eq!(words(&mut play), "no Pod yet");
    let (mut play, pods) = begun();
    let refused = r#"{"kind":"Status","status":"Failure","code":403,"message":"no"}"#;
    play.reflects(pods, Input::Start);
    play.reflects(pods, Input::Failed(Failure::from_response(403, None, refused)));
    assert_eq!(words(&mut play), "its Pods may not be read");
}

#[test]
fn who_scales_without_a_time_has_the_name_on_the_card() {
    let mut play = Play::found("#/deployments?view=changes");
    let id = play.informers[0].0;
    play.lists(id, &[]);
    for turn in 0..8_u32 {
        let frame = json!({"type": if turn == 0 { "ADDED" } else { "MODIFIED" }, "object": {
            "metadata": {"name": "cart", "namespace": "shop", "uid": "cart", "generation": turn,
                "resourceVersion": (20 + turn).to_string(),
                "managedFields": [{"manager": "kubectl", "operation": "Update", "subresource": "scale",
                    "fieldsV1": {"f:spec": {"f:replicas": {}}}}]},
            "spec": {"replicas": 1 + turn % 2 * 2}}});
        play.reflects(id, Input::Frame(&frame.to_string()));
        play.later(5_000.0);
    }
    let [card] = &play.wrong().rows[..] else { panic!("{:#?}", play.entries()) };
    assert!(card.is_card && card.writer.starts_with("kubectl"), "{card:?}");
    let href = card.why_href.clone();
    assert!(!play.why(&href).has_pods, "a fight over a Deployment has no log");
}

#[test]
fn what_was_wrong_at_a_moment_is_what_was_shown_then_and_nothing_of_later() {
    let (mut play, id) = listed();
    // What was there, and how it was shown, without what is over.
    let shown = |play: &Play| {
        let rows = play.wrong().rows.iter().filter(|row| row.tone != "over");
        rows.map(|row| (row.name.clone(), row.words.clone(), row.began.clone(), row.time.clone(), row.since.clone()))
            .collect::<Vec<_>>()
    };
    let mut seen = Vec::new();
    for (version, (name, reason)) in (10..).zip([
        ("cart", "ContainerCreating"),
        ("cart", "ErrImagePull"),
        ("shop", "CrashLoopBackOff"),
        ("cart", ""),
        ("shop", ""),
        ("cart", "CrashLoopBackOff"),
        ("shop", "ErrImagePull"),
    ]) {
        let delta = if version == 10 || version == 12 { "ADDED" } else { "MODIFIED" };
        // What comes at a time belongs to its moment.
        play.later(10.0);
        play.pod(id, delta, (name, version), reason);
        // A crash is shown for a while after the container runs again.
        for wait in [500.0, 20_000.0] {
            play.later(wait);
            seen.push((play.place.now.get(), shown(&play)));
        }
    }
    let counts: Vec<usize> = seen.iter().map(|(_, rows)| rows.len()).collect();
    assert_eq!(counts, [0, 0, 1, 1, 2, 2, 1, 1, 1, 0, 1, 1, 2, 2]);
    for (at, then) in seen.into_iter().rev() {
        // A moment that is dragged must rest first.
        play.later(300.0);
        play.rewind(RewindCommand::To(at));
        assert_eq!(shown(&play), then, "at {at}");
        assert_eq!(play.wrong().count, then.len(), "at {at}");
    }
    play.rewind(RewindCommand::Live);
    assert_eq!((play.wrong().count, &*play.wrong().title), (2, "Wrong now"));
}

#[test]
fn what_was_wrong_when_the_server_was_last_heard_is_not_called_now() {
    let (mut play, id) = listed();
    play.pod(id, "ADDED", ("cart", 10), "ErrImagePull");
    play.later(1_000.0);
    assert_eq!((&*play.wrong().title, play.wrong().count), ("Wrong now", 1));
    play.reflects(id, Input::Closed(1006));
    play.reflects(id, Input::Failed(Failure::unreachable("connection refused")));
    (0..3).for_each(|_| play.later(1_000.0));
    assert_eq!((&*play.wrong().title, play.wrong().count), ("Wrong when last heard", 1));
}

#[test]
fn what_crashed_a_moment_before_is_found_behind_the_versions_in_which_it_runs() {
    let (mut play, id) = listed();
    play.pod(id, "ADDED", ("cart", 10), "CrashLoopBackOff");
    for version in 11..15 {
        play.pod(id, "MODIFIED", ("cart", version), "");
    }
    let at = play.place.now.get();
    play.later(20_000.0);
    let calm = play.place.now.get();
    play.pod(id, "MODIFIED", ("cart", 15), "");
    for (at, count) in [(at, 1), (calm, 0)] {
        play.later(300.0);
        play.rewind(RewindCommand::To(at));
        assert_eq!(play.wrong().count, count, "{:?}", play.entries());
    }
}

#[test]
fn of_states_that_are_not_kept_it_is_not_guessed_what_was_wrong() {
    let (mut play, id) = listed();
    play.pod(id, "ADDED", ("cart", 10), "ErrImagePull");
    play.later(1_000.0);
    let at = play.place.now.get();
    play.command(Command::Recorder(Budget::Off));
    play.command(Command::Recorder(Budget::Small));
    play.later(1_000.0);
    play.pod(id, "MODIFIED", ("cart", 11), "CrashLoopBackOff");
    play.rewind(RewindCommand::To(at));
    let WrongModel { rows, is_shown, note, .. } = play.wrong();
    assert!(rows.is_empty() && *is_shown && note.starts_with("not known of "), "{:?}", play.wrong());
}
