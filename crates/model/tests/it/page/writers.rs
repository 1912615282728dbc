//! Who writes what: how often, what that changed, which change it answers, and how long it takes until what is asked for is there.

use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::Input;
use kubechurn_client::testing::bookmark;
use kubechurn_model::page::command::Command;
use kubechurn_model::rewind::banner::RewindCommand;
use kubechurn_model::view::writers::WritersModel;
use serde_json::{Value, json};

use super::Play;
use super::changes::LISTED;

const PLACE: &str = "#/deployments,replicasets,pods?view=changes";

/// A write: when, what is said of the object, its kind, name, owner, generation and status, and who wrote it.
struct Written {
    at: f64,
    word: &'static str,
    of: [&'static str; 3],
    generation: u32,
    status: Value,
    by: (&'static str, &'static str),
}

impl Written {
    fn object(&self, version: u32) -> Value {
        let [kind, name, owner] = self.of;
        let owners = match owner.split_once('/') {
            Some((kind, name)) => json!([{"kind": kind, "name": name, "uid": name, "controller": true}]),
            None => Value::Null,
        };
        let (manager, subresource) = self.by;
        // The entries of one manager move with the time of its last write, in whole seconds.
        let fields = if subresource.is_empty() { json!({"f:spec": {}}) } else { json!({"f:status": {}}) };
        let entry = json!({"manager": manager, "operation": "Update", "subresource": subresource, "fieldsV1": fields,
            "time": format!("2026-11-26T17:00:{:02}Z", version)});
        // Somebody else has written it, too, and does not now.
        let other = json!({"manager": "helm", "operation": "Update", "fieldsV1": {"f:metadata": {}}, "time": "2026-11-26T17:00:59Z"});
        json!({"kind": kind, "apiVersion": "v1", "status": self.status, "spec": {"containers": [{"name": "c"}], "replicas": self.generation},
            "metadata": {"name": name, "namespace": "shop", "uid": name, "generation": self.generation,
                "resourceVersion": version.to_string(), "ownerReferences": owners, "managedFields": [entry, other]}})
    }
}

fn write(
    at: f64,
    (word, of): (&'static str, [&'static str; 3]),
    generation: u32,
    status: Value,
    by: (&'static str, &'static str),
) -> Written {
    Written { at, word, of, generation, status, by }
}

impl Play {
    fn informer(&self, kind: &str) -> InformerId {
        let resource = format!("{}s", kind.to_lowercase());
        self.informers.iter().find(|(_, of)| *of == resource).expect("it is watched").0
    }

    fn survey(&self) -> WritersModel {
        (*self.page.view().dialogs.writers).clone().expect("the writers are shown")
    }

    fn looks_at(&mut self, name: &str) {
        self.command(Command::Writers(Some(name.to_owned())));
        self.arrive();
        self.frame();
    }
}

const WEB: [&str; 3] = ["Deployment", "web", ""];
const SET: [&str; 3] = ["ReplicaSet", "web-2", "Deployment/web"];
const POD: [&str; 3] = ["Pod", "web-2-a", "ReplicaSet/web-2"];
const MANAGER: (&str, &str) = ("kube-controller-manager", "");
const STATUS: (&str, &str) = ("kube-controller-manager", "status");
const KUBELET: (&str, &str) = ("kubelet", "status");

/// A rollout from 20 s on, and somebody who scales at 40 s; it is 60 s then. All is listed at 10 s.
fn played() -> Play {
    let mut play = Play::found(PLACE);
    play.place.now.set(10_000.0);
    for (kind, listed) in [("Deployment", true), ("ReplicaSet", false), ("Pod", false)] {
        let id = play.informer(kind);
        play.reflects(id, Input::Start);
        play.reflects(id, Input::Opened);
        if listed {
            let web = write(0.0, ("ADDED", WEB), 1, json!({"observedGeneration": 1}), MANAGER).object(1);
            play.reflects(id, Input::Frame(&json!({"type": "ADDED", "object": web}).to_string()));
        }
        play.reflects(id, Input::Frame(&bookmark("9", LISTED)));
    }
    play.frame();
    let available = json!({"observedGeneration": 2, "conditions": [{"type": "Available", "status": "True"}]});
    let running = json!({"phase": "Running"});
    let writes = [
        write(20_000.0, ("MODIFIED", WEB), 2, json!({"observedGeneration": 1}), ("kubectl-set", "")),
        write(20_100.0, ("ADDED", SET), 1, json!({}), MANAGER),
        write(20_200.0, ("MODIFIED", WEB), 2, json!({"observedGeneration": 2}), STATUS),
        write(20_300.0, ("ADDED", POD), 1, json!({"phase": "Pending"}), MANAGER),
        write(20_500.0, ("MODIFIED", POD), 1, running.clone(), KUBELET),
        write(21_000.0, ("MODIFIED", POD), 1, running, KUBELET),
        write(22_000.0, ("MODIFIED", SET), 1, json!({"readyReplicas": 1}), STATUS),
        write(22_100.0, ("MODIFIED", WEB), 2, available, STATUS),
        write(40_000.0, ("MODIFIED", WEB), 3, json!({"observedGeneration": 2}), ("kubectl-scale", "")),
    ];
    for (written, version) in writes.iter().zip(10..) {
        play.place.now.set(written.at);
        let frame = json!({"type": written.word, "object": written.object(version)}).to_string();
        play.reflects(play.informer(written.of[0]), Input::Frame(&frame));
        play.frame();
    }
    play.place.now.set(60_000.0);
    play.frame();
    play
}

/// Each writer: its name, how often it wrote, which of that changed nothing, and after what it came.
fn rows(model: &WritersModel) -> Vec<String> {
    let row = |row: &kubechurn_model::view::writers::WriterRow| {
        [&row.name, &row.writes, &row.nothing, &row.after].map(String::as_str).join("|")
    };
    model.rows.iter().map(row).collect()
}

#[test]
fn each_writer_is_counted_and_each_write_answers_the_last_change_that_it_has_to_do_with() {
    let mut play = played();
    play.looks_at("");
    let model = play.survey();
    assert_eq!(
        rows(&model),
        [
            "kube-controller-manager|5||0.2 s, at most 1.5 s",
            "kubelet|2|1|0.7 s, at most 0.7 s",
            "kubectl-scale|1||1 answer nothing",
            "kubectl-set|1||1 answer nothing",
        ],
        "{model:#?}"
    );
    assert_eq!((&*model.chosen, model.writes.len()), ("", 0), "nobody is looked at");
    // It is looked at from 10 s to 60 s.
    assert_eq!((&*model.rows[0].a_minute, &*model.rows[0].busiest), ("6.0", "Deployment shop/web: 2.4"), "{model:#?}");
    play.looks_at("kube-controller-manager");
    let writes: Vec<String> =
        play.survey().writes.iter().map(|write| format!("{}: {}", write.what, write.answer)).collect();
    assert_eq!(
        writes,
        [
            "Deployment shop/web: 0.1 s after a change of what it owns: ReplicaSet shop/web-2",
            "ReplicaSet shop/web-2: 1.5 s after a change of what it owns: Pod shop/web-2-a",
            "Pod shop/web-2-a: 0.2 s after a change of its owner: ReplicaSet shop/web-2",
            // Its controller has made the ReplicaSet itself, because of this change.
            "Deployment shop/web: 0.2 s after a change of the object itself: Deployment shop/web",
            "ReplicaSet shop/web-2: 0.1 s after a change of its owner: Deployment shop/web",
        ]
    );
    assert!(
        play.survey()
            .writes
            .iter()
            .all(|write| write.href.contains("change=") && write.answer_href.contains("change="))
    );
    let words: Vec<String> = play.survey().writes.iter().map(|write| write.words.clone()).collect();
    assert_eq!(
        words,
        [
            r#"status.conditions + [{"status":"True","type":"Available"}]"#,
            "status.readyReplicas 0 → 1",
            "added, status Pending, replicas 1",
            "observedGeneration",
            "added, replicas 1"
        ]
    );
    play.looks_at("kubectl-set");
    assert_eq!(play.survey().writes[0].answer, "nothing that is known", "a person answers nothing");
}

#[test]
fn from_what_is_asked_for_to_what_is_there_is_measured_and_what_is_not_there_waits() {
    let mut play = played();
    play.looks_at("");
    let kinds = play.survey().kinds;
    let kinds: Vec<String> =
        kinds.iter().map(|row| [&*row.kind, &row.asked, &row.seen, &row.ready, &row.waits].join("|")).collect();
    assert_eq!(kinds, ["Deployment|2|0.2 s, at most 0.2 s|2.1 s, at most 2.1 s|1 to be seen"]);
}

#[test]
fn at_another_moment_nothing_later_counts_and_what_comes_now_is_added() {
    let mut play = played();
    play.looks_at("kubelet");
    assert_eq!(play.survey().writes.len(), 2);
    let late = write(61_000.0, ("MODIFIED", POD), 1, json!({"phase": "Failed"}), KUBELET).object(30);
    play.place.now.set(61_000.0);
    play.reflects(play.informer("Pod"), Input::Frame(&json!({"type": "MODIFIED", "object": late}).to_string()));
    play.wait(2_000.0);
    play.frame();
    assert_eq!(play.survey().writes.len(), 3);
    play.command(Command::Rewind(RewindCommand::To(20_400.0)));
    play.arrive();
    (0..5).for_each(|_| play.frame());
    assert_eq!(
        rows(&play.survey()),
        ["kube-controller-manager|3||0.2 s, at most 0.2 s", "kubectl-set|1||1 answer nothing"]
    );
    play.command(Command::Writers(None));
    play.arrive();
    play.frame();
    assert!(play.page.view().dialogs.writers.is_none());
}
