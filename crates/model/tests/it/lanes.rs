//! Lanes in groups, from the server's frames: who owns an object, and on which node it is, is read from them.

use kubechurn_client::cache::reflector::Input;
use kubechurn_model::timeline::lanes::{LaneChoice, LanesBy, OpenGroups};
use kubechurn_model::timeline::scene::summary::summary;

use crate::play::Play;

/// Has the page hear of an object.
fn hear(play: &mut Play, plural: &str, word: &str, object: &str) {
    play.now += 10.0;
    play.input(play.id(plural), Input::Frame(&format!(r#"{{"type":"{word}","object":{object}}}"#)));
}

/// An object with these members beside its name, a member of its metadata, and members of its own.
fn object(name: &str, owner: Option<(&str, &str)>, rest: &str) -> String {
    let owners = owner.map(|(kind, name)| {
        format!(r#","ownerReferences":[{{"apiVersion":"v1","kind":"Other","name":"x","uid":"x"}},{{"apiVersion":"apps/v1","kind":"{kind}","name":"{name}","uid":"{name}","controller":true}}]"#)
    });
    let owners = owners.unwrap_or_default();
    format!(
        r#"{{"metadata":{{"name":"{name}","namespace":"shop","uid":"{name}","resourceVersion":"7"{owners}}}{rest}}}"#
    )
}

/// The rows of the last minute, with all groups open: an indent for each level, the kind's number and the name.
fn rows(play: &mut Play, by: LanesBy) -> Vec<String> {
    let mut timeline = play.watches.timeline_mut().unwrap();
    timeline.choose_lanes(&LaneChoice { by, open: OpenGroups::all(true), ..LaneChoice::default() });
    let scene = play.scene(-1_000.0, play.now.max(1_000.0));
    let rows = scene.lanes.iter().flatten().map(|row| {
        let group = row.group.as_ref().expect("a row among groups");
        format!("{}{}{}", "  ".repeat(group.depth.into()), group.word, row.key.name)
    });
    rows.collect()
}

#[test]
fn owners_and_nodes_are_read_from_the_frames_and_stay_when_the_object_is_gone() {
    let mut play = Play::at("#/deployments,replicasets,pods");
    let pod = |name: &str| object(name, Some(("ReplicaSet", "web-1")), r#","spec":{"nodeName":"n-1"}"#);
    play.begin(&[]);
    hear(&mut play, "pods", "ADDED", &pod("web-1-a"));
    hear(&mut play, "pods", "ADDED", &object("alone", None, ""));
    hear(&mut play, "replicasets", "ADDED", &object("web-1", Some(("Deployment", "web")), ""));
    hear(&mut play, "deployments", "ADDED", &object("web", None, ""));
    play.look();
    let mut owned = rows(&mut play, LanesBy::Owner);
    let at = owned.iter().position(|row| row == "web").unwrap();
    assert_eq!(owned.drain(at..at + 3).collect::<Vec<_>>(), ["web", "  web-1", "    web-1-a"]);
    assert_eq!(owned, ["alone"]);
    let on_nodes = rows(&mut play, LanesBy::Node);
    let at = on_nodes.iter().position(|row| row == "noden-1").unwrap();
    assert_eq!(on_nodes[at + 1], "  web-1-a");
    // A tombstone of a proxy may have nothing but the name.
    hear(
        &mut play,
        "pods",
        "DELETED",
        r#"{"metadata":{"name":"web-1-a","namespace":"shop","uid":"web-1-a","resourceVersion":"8"}}"#,
    );
    hear(&mut play, "pods", "ADDED", &pod("web-1-b"));
    play.look();
    let owned = rows(&mut play, LanesBy::Owner);
    for pod in ["    web-1-a", "    web-1-b"] {
        assert!(owned.iter().any(|row| row == pod), "{owned:?}");
    }
}

#[test]
fn nonsense_about_owners_does_no_harm() {
    let mut play = Play::at("#/deployments,pods");
    let long = "x".repeat(70_000);
    let owners = [
        r#"[{"uid":"u","controller":true}]"#.to_owned(),
        r#"[{"apiVersion":"///","kind":"","name":"","uid":"v","controller":true},{"uid":"u","controller":true}]"#
            .to_owned(),
        format!(r#"[{{"apiVersion":"{long}","kind":"{long}","name":"{long}","uid":"{long}","controller":true}}]"#),
        r#"[{"apiVersion":"v1","kind":"Pod","name":"p-3","uid":"p-3","controller":true}]"#.to_owned(),
        r#"[{"apiVersion":"v1","kind":"\u202e<b>","name":"\u0000\n;","uid":"w","controller":true}]"#.to_owned(),
    ];
    play.begin(&[]);
    for (at, owners) in owners.iter().enumerate() {
        let pod = format!(
            r#"{{"metadata":{{"name":"p-{at}","namespace":"shop","uid":"p-{at}","resourceVersion":"7","ownerReferences":{owners}}}}}"#
        );
        hear(&mut play, "pods", "ADDED", &pod);
    }
    play.look();
    let rows = rows(&mut play, LanesBy::Owner);
    for at in 0..owners.len() {
        assert!(rows.iter().any(|row| row.trim_start() == format!("p-{at}")), "{at} of {rows:?}");
    }
    let words = summary(&play.scene(-1_000.0, 1_000.0));
    assert!(words.len() < 4_000 && !words.contains('\u{202e}'), "{words}");
}
