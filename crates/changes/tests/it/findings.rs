//! The detectors: each on what it is to find, and on what it is not.

use kubechurn_changes::findings::{Card, Finding, Findings, MOST_SEQS, REPORTED_FOR};
use kubechurn_changes::line::Line;
use kubechurn_changes::noise::Marks;
use serde_json::{Value, json};

use crate::play::Objects;
use crate::recording::steps;

#[derive(Default)]
struct Play {
    objects: Objects,
    findings: Findings,
    /// In which cluster everything happens from now on.
    cluster: &'static str,
}

impl Play {
    fn set(&mut self, at: f64, object: (&str, &str, &str), rest: Value) {
        let line = self.objects.set(at, object, rest);
        self.findings.push(&Line { cluster: self.cluster, ..line });
    }

    fn delete(&mut self, at: f64, kind: &str, name: &str) {
        let line = self.objects.delete(at, kind, name);
        self.findings.push(&Line { cluster: self.cluster, ..line });
    }

    #[track_caller]
    fn only(&self, now: f64) -> Card {
        let mut cards = self.findings.cards(now);
        assert_eq!(cards.len(), 1, "{cards:#?}");
        cards.remove(0)
    }

    #[track_caller]
    fn silent(&self, now: f64) {
        assert_eq!(self.findings.cards(now), []);
    }
}

const DEPLOYMENT: (&str, &str, &str) = ("Deployment", "web", "");

fn replicas(generation: u32, replicas: u32, manager: &str) -> Value {
    json!({"generation": generation, "spec": {"replicas": replicas, "paused": true}, "manager": manager})
}

#[test]
fn a_field_that_one_manager_sets_to_and_fro_flaps() {
    let mut play = Play::default();
    for turn in 0..8u32 {
        play.set(f64::from(turn) * 10_000.0, DEPLOYMENT, replicas(turn, 4 + turn % 2 * 2, "autoscaler"));
        // From 4 to 6, and back three times to a value that it had.
        assert_eq!(play.findings.cards(f64::from(turn) * 10_000.0).is_empty(), turn < 4, "{turn}");
    }
    let card = play.only(70_000.0);
    let values = ["4".to_owned(), "6".to_owned()];
    let manager = "autoscaler".to_owned();
    assert_eq!(card.finding, Finding::Flapping { path: "spec.replicas".into(), values, manager });
    assert_eq!((card.count, &card.seqs[..]), (7, &[2, 3, 4, 5, 6, 7, 8][..]));
    assert_eq!(
        card.sentence(),
        "Deployment web: spec.replicas goes to and fro 7 times in 60 s by autoscaler: `4` ⇄ `6`"
    );
    assert_eq!(card.title(), "A field flaps");
    play.silent(70_001.0 + REPORTED_FOR);
}

#[test]
fn who_sets_what_nobody_is_known_to_have_removed_does_not_flap_alone() {
    let mut play = Play::default();
    for turn in 0..8u32 {
        let is_set = turn % 2 == 0;
        let annotations = if is_set { json!({"x": "a", "keep": "1"}) } else { json!({"keep": "1"}) };
        let mut rest = json!({"generation": 1, "annotations": annotations});
        if is_set {
            rest["manager"] = "operator".into();
        }
        play.set(f64::from(turn) * 5_000.0, DEPLOYMENT, rest);
    }
    let card = play.only(35_000.0);
    let values = ["a".to_owned(), "none".to_owned()];
    assert_eq!(
        card.finding,
        Finding::Flapping { path: "metadata.annotations.x".into(), values, manager: String::new() }
    );
    assert!(!card.sentence().contains("operator"), "{}", card.sentence());
}

#[test]
fn two_managers_that_undo_each_other_fight() {
    let mut play = Play::default();
    let sides = ["kubectl-annotate", "controller-y"];
    for turn in 0..60u32 {
        let annotations = json!({"x": if turn % 2 == 0 { "a" } else { "b" }});
        let rest = json!({"generation": turn, "annotations": annotations, "manager": sides[turn as usize % 2]});
        play.set(f64::from(turn) * 150.0, DEPLOYMENT, rest);
    }
    let card = play.only(9_000.0);
    assert!(card.seqs.len() <= MOST_SEQS && card.title() == "Two managers fight over a field");
    assert_eq!(
        card.sentence(),
        "Deployment web: metadata.annotations.x is fought over by two managers, 59 writes in 9 s: `a` ⇄ `b`, kubectl-annotate and controller-y"
    );
}

#[test]
fn what_goes_on_or_is_taken_back_once_does_not_flap() {
    let mut play = Play::default();
    for turn in 0..100u32 {
        play.set(f64::from(turn) * 100.0, DEPLOYMENT, replicas(turn, turn, "autoscaler"));
    }
    for (turn, count) in [5, 6, 5, 6].into_iter().enumerate() {
        play.set(20_000.0 + turn as f64, ("Deployment", "other", ""), replicas(turn as u32, count, "kubectl"));
    }
    for turn in 0..20u32 {
        let status = json!({"status": {"replicas": turn % 2, "readyReplicas": turn % 2}});
        play.set(30_000.0 + f64::from(turn), ("ReplicaSet", "r", ""), status);
        play.set(30_000.0 + f64::from(turn) * 200_000.0, ("ConfigMap", "slow", ""), json!({"data": {"x": turn % 2}}));
        play.silent(30_000.0 + f64::from(turn));
    }
    play.silent(30_020.0);
    // Rollouts that are taken back and begun anew, half a minute each.
    for turn in 0..20u32 {
        let at = 5_000_000.0 + f64::from(turn) * 30_000.0;
        play.set(
            at,
            ("Deployment", "to-and-fro", ""),
            json!({"generation": turn, "spec": {"template": {"image": (turn % 2).to_string()}}}),
        );
        play.silent(at);
    }
}

#[test]
fn a_pod_template_may_be_taken_back_and_forth_a_few_times_by_one_manager() {
    let mut play = Play::default();
    let template = |generation: u32, manager: &str| {
        let image = (generation % 2).to_string();
        json!({"generation": generation, "spec": {"template": {"image": image}}, "manager": manager})
    };
    // Every 15 s, which is three returns in 50 s.
    for turn in 0..20u32 {
        let at = f64::from(turn) * 15_000.0;
        play.set(at, ("Deployment", "by-hand", ""), template(turn, "kubectl-set"));
        play.silent(at);
    }
    // Every 8 s: nobody works like that.
    let mut play = Play::default();
    for turn in 0..8u32 {
        play.set(f64::from(turn) * 8_000.0, DEPLOYMENT, template(turn, "controller"));
    }
    assert_eq!(play.only(56_000.0).title(), "A field flaps");
    // Two managers that undo each other are reported as soon as for any other field.
    let mut play = Play::default();
    for turn in 0..5u32 {
        let manager = ["argocd", "kubectl-set"][turn as usize % 2];
        play.set(f64::from(turn) * 15_000.0, DEPLOYMENT, template(turn, manager));
    }
    assert_eq!(play.only(60_000.0).title(), "Two managers fight over a field");
}

#[test]
fn pods_that_are_deleted_or_scaled_make_no_budget_flap_unless_that_goes_on() {
    let mut play = Play::default();
    let budget = ("PodDisruptionBudget", "web", "");
    let allowed = |turn: u32| {
        let status = ["True", "False"][turn as usize % 2];
        json!({"generation": 1, "status": {"conditions": [{"type": "DisruptionAllowed", "status": status}]}})
    };
    // Every 13 s, which is four returns in 50 s.
    for turn in 0..20u32 {
        let at = f64::from(turn) * 13_000.0;
        play.set(at, budget, allowed(turn));
        play.silent(at);
    }
    for turn in 0..8u32 {
        play.set(300_000.0 + f64::from(turn) * 5_000.0, budget, allowed(turn));
    }
    assert_eq!(play.only(335_000.0).title(), "A field flaps");
}

#[test]
fn what_follows_another_field_is_not_reported_beside_it() {
    let mut play = Play::default();
    for turn in 0..20u32 {
        let at = f64::from(turn) * 1_000.0;
        let annotation = json!({"deployment.kubernetes.io/desired-replicas": (turn % 2).to_string()});
        let rest =
            json!({"generation": turn, "spec": {"replicas": turn % 2}, "annotations": annotation, "manager": "m"});
        play.set(at, ("ReplicaSet", "owned", "deployment"), rest);
        let status = ["False", "True"][turn as usize % 2];
        let sandbox = json!({"type": "PodReadyToStartContainers", "status": status});
        play.set(at, ("Pod", "pulls", "owned"), json!({"status": {"conditions": [sandbox]}}));
        play.silent(at);
        let words = ["ContainersNotReady", "PodFailed"][turn as usize % 2];
        let ready = json!({"type": "Ready", "status": "False", "reason": words, "message": words});
        play.set(at, ("Pod", "fails", "owned"), json!({"status": {"conditions": [ready]}}));
        play.silent(at);
    }
    for turn in 0..5u32 {
        let status = ["False", "True"][turn as usize % 2];
        let ready = json!({"type": "Ready", "status": status, "message": turn.to_string()});
        play.set(20_000.0 + f64::from(turn), ("Pod", "flaps", "owned"), json!({"status": {"conditions": [ready]}}));
    }
    let Finding::Flapping { path, .. } = play.only(20_010.0).finding else { panic!("it flaps") };
    assert_eq!(path, "status.conditions[Ready].status");
}

#[test]
fn what_does_not_exist_any_more_does_not_flap() {
    let mut play = Play::default();
    let ready = |turn: u32| json!({"type": "Ready", "status": if turn.is_multiple_of(2) { "False" } else { "True" }});
    for turn in 0..6u32 {
        play.set(f64::from(turn), ("Pod", "p", "r"), json!({"status": {"conditions": [ready(turn)]}}));
    }
    assert_eq!(play.only(10.0).title(), "A field flaps");
    play.delete(20.0, "Pod", "p");
    play.silent(20.0);
}

#[test]
fn what_a_pod_that_crashes_says_of_itself_is_not_reported_beside_it() {
    for statuses in ["containerStatuses", "initContainerStatuses"] {
        let mut play = Play::default();
        for turn in 0..20u32 {
            let (status, runs) = (["False", "True"][turn as usize % 2], turn % 2 == 1);
            let state = if runs { json!({"running": {}}) } else { json!({"terminated": {"exitCode": 1}}) };
            let container = json!({"name": "c", "ready": runs, "restartCount": turn / 2, "state": state});
            let ready = json!({"type": "ContainersReady", "status": status});
            let mut status = json!({"conditions": [ready]});
            status[statuses] = json!([container]);
            play.set(f64::from(turn) * 1_000.0, ("Pod", "crashes", "r"), json!({"status": status}));
            play.silent(f64::from(turn) * 1_000.0);
        }
    }
}

#[test]
fn an_object_that_is_written_over_and_over_is_found() {
    let mut play = Play::default();
    let write = |play: &mut Play, turn: u32, at: f64, object: (&str, &str, &str)| {
        let annotations = json!({"seen": turn.to_string()});
        play.set(at, object, json!({"generation": 1, "annotations": annotations, "manager": "busy"}));
    };
    for turn in 0..30u32 {
        write(&mut play, turn, f64::from(turn) * 2_000.0, ("Widget", "usual", ""));
    }
    play.silent(60_000.0);
    for turn in 0..12u32 {
        write(&mut play, turn, 60_000.0 + f64::from(turn) * 500.0, ("Widget", "w", ""));
    }
    let card = play.only(66_000.0);
    assert_eq!((&card.finding, card.count), (&Finding::Rewriting { manager: "busy".into() }, 11));
    assert!(card.sentence().starts_with(
        "Widget w: is written over and over without a change of what is asked for, 11 times in 5 s by busy"
    ));
    // A change of what is asked for, and a status that says something, are no rewrites.
    let mut play = Play::default();
    for turn in 0..100u32 {
        play.set(
            f64::from(turn),
            ("Widget", "w", ""),
            json!({"generation": turn, "annotations": {"seen": turn.to_string()}}),
        );
        play.set(f64::from(turn), ("Widget", "v", ""), json!({"generation": 1, "status": {"done": turn}}));
    }
    play.silent(100.0);
}

#[test]
fn an_object_that_is_made_again_is_found() {
    let mut play = Play::default();
    for turn in 0..4u32 {
        let (at, name) = (f64::from(turn) * 1_000.0, format!("db-0#{turn}"));
        play.silent(at);
        play.set(at, ("Pod", &name, ""), json!({}));
        if turn < 3 {
            play.delete(at + 500.0, "Pod", &name);
        }
    }
    let card = play.only(5_000.0);
    assert_eq!((card.finding.clone(), card.uid.to_string()), (Finding::Recreated, "db-0#3".to_owned()));
    assert_eq!(card.sentence(), "Pod db-0: is deleted and made again 3 times in 2 s");
}

#[test]
fn what_a_drain_and_two_rollouts_make_again_is_no_loop() {
    // A StatefulSet makes its Pods again under their names, and so does nobody to whom a Pod belongs alone.
    for (owner, times) in [("db", 6), ("", 3)] {
        let mut play = Play::default();
        for turn in 0..=times {
            let (at, name) = (f64::from(turn) * 40_000.0, format!("db-0#{turn}"));
            play.set(at, ("Pod", &name, owner), json!({}));
            match turn == times {
                true => assert_eq!(play.only(at).finding, Finding::Recreated, "{times} times"),
                false => play.silent(at),
            }
            play.delete(at + 500.0, "Pod", &name);
        }
    }
}

#[test]
fn objects_of_one_name_in_two_clusters_are_two() {
    let mut play = Play::default();
    for turn in 0..4u32 {
        let (at, name) = (f64::from(turn) * 1_000.0, format!("db-0#{turn}"));
        play.cluster = if turn % 2 == 0 { "east" } else { "west" };
        play.set(at, ("Pod", &name, ""), json!({}));
        play.delete(at + 500.0, "Pod", &name);
    }
    play.silent(5_000.0);
}

fn rollout(generation: u32, desired: u32, [all, updated, available]: [u32; 3]) -> Value {
    let status = json!({"observedGeneration": generation, "replicas": all, "updatedReplicas": updated, "availableReplicas": available});
    json!({"generation": generation, "spec": {"replicas": desired, "template": {"image": generation}}, "status": status})
}

fn waiting(reason: &str) -> Value {
    json!({"status": {"phase": "Pending", "containerStatuses": [{"name": "c", "state": {"waiting": {"reason": reason}}}]}})
}

#[test]
fn a_rollout_without_progress_is_found_and_why() {
    let mut play = Play::default();
    play.set(1.0, DEPLOYMENT, rollout(1, 3, [3, 3, 3]));
    play.silent(1_000_000.0);
    play.set(1_000_000.0, DEPLOYMENT, rollout(2, 3, [4, 1, 3]));
    play.silent(1_119_000.0);
    let card = play.only(1_120_000.0);
    assert_eq!(card.sentence(), "Deployment web: does not progress 1 of 3 updated");
    assert_eq!(card.since, 1_000_000.0);
    play.set(1_120_000.0, ("ReplicaSet", "r", "web"), json!({}));
    play.set(1_120_000.0, ("Pod", "p", "r"), waiting("ContainerCreating"));
    play.set(1_120_000.0, DEPLOYMENT, rollout(2, 3, [4, 2, 2]));
    play.silent(1_120_001.0);
    play.set(1_121_000.0, ("Pod", "p", "r"), waiting("ImagePullBackOff"));
    play.silent(1_160_000.0);
    let card = play.only(1_166_000.0);
    assert_eq!(card.sentence(), "Deployment web: does not progress 2 of 3 updated; its newest Pods: ImagePullBackOff");
    play.set(1_166_000.0, ("Pod", "p", "r"), waiting("CrashLoopBackOff"));
    // A Pod that crashes is available for a moment, which is no progress.
    play.set(1_166_000.0, DEPLOYMENT, rollout(2, 3, [4, 2, 2]));
    play.set(1_167_000.0, DEPLOYMENT, rollout(2, 3, [4, 2, 3]));
    assert_eq!(play.only(1_167_000.0).seqs, [5, 6, 7, 8, 9]);
    play.set(1_168_000.0, DEPLOYMENT, rollout(2, 3, [3, 3, 3]));
    play.silent(2_000_000.0);
    // A Pod that is lost later is no rollout.
    play.set(2_000_000.0, DEPLOYMENT, rollout(2, 3, [3, 3, 2]));
    play.silent(2_500_000.0);
    play.delete(2_500_000.0, "Deployment", "web");
}

/// A rollout that is stuck since 10 s: one new Pod crashes, and five old ones are left.
fn stuck() -> Play {
    let mut play = Play::default();
    play.set(1.0, DEPLOYMENT, rollout(1, 6, [6, 6, 6]));
    play.set(10_000.0, DEPLOYMENT, rollout(2, 6, [6, 1, 5]));
    play.set(10_000.0, ("ReplicaSet", "r", "web"), json!({}));
    play
}

#[test]
fn a_scale_is_no_rollout_and_begins_no_clock_anew() {
    let mut play = Play::default();
    let scaled = |generation: u32, desired: u32, counts: [u32; 3]| {
        let mut object = rollout(generation, desired, counts);
        object["spec"]["template"]["image"] = json!(if desired < 100 { 1 } else { 2 });
        object
    };
    play.set(1.0, DEPLOYMENT, scaled(1, 3, [3, 3, 3]));
    play.set(1_000.0, DEPLOYMENT, scaled(2, 6, [3, 3, 3]));
    play.set(2_000.0, DEPLOYMENT, scaled(2, 6, [6, 6, 3]));
    play.silent(1_000_000.0);

    let mut play = stuck();
    play.set(12_000.0, ("Pod", "p", "r"), waiting("CrashLoopBackOff"));
    let mut scaled = rollout(3, 8, [6, 1, 5]);
    scaled["spec"]["template"]["image"] = json!(2);
    play.set(15_000.0, DEPLOYMENT, scaled.clone());
    scaled["status"]["replicas"] = json!(8);
    scaled["status"]["updatedReplicas"] = json!(2);
    play.set(16_000.0, DEPLOYMENT, scaled);
    assert_eq!(play.only(18_100.0).since, 10_000.0);
}

#[test]
fn old_pods_that_are_drained_and_made_again_are_no_progress() {
    let mut play = stuck();
    play.set(12_000.0, ("Pod", "p", "r"), waiting("CrashLoopBackOff"));
    play.set(15_000.0, DEPLOYMENT, rollout(2, 6, [5, 1, 4]));
    play.set(15_200.0, DEPLOYMENT, rollout(2, 6, [6, 1, 4]));
    assert_eq!(play.only(19_000.0).since, 10_000.0);
    // Old ones that stay away are progress.
    play.set(20_000.0, DEPLOYMENT, rollout(2, 6, [5, 1, 4]));
    play.silent(24_000.0);
}

#[test]
fn a_pod_that_is_to_go_is_not_why_a_rollout_does_not_progress() {
    let mut play = stuck();
    play.set(11_000.0, ("Pod", "q", "r"), json!({"status": {"phase": "Running"}}));
    play.set(
        12_000.0,
        ("Pod", "q", "r"),
        json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "status": {"phase": "Running"}}),
    );
    play.set(
        13_000.0,
        ("Pod", "q", "r"),
        json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "status": {"phase": "Failed"}}),
    );
    play.silent(60_000.0);
    assert!(!play.only(130_000.0).sentence().contains("newest Pods"));
}

#[test]
fn a_fight_may_be_slow() {
    let mut play = Play::default();
    for turn in 0..5u32 {
        let annotations = json!({"x": if turn % 2 == 0 { "a" } else { "b" }});
        let manager = ["argocd", "operator"][turn as usize % 2];
        play.silent(f64::from(turn) * 40_000.0);
        play.set(
            f64::from(turn) * 40_000.0,
            ("Widget", "w", ""),
            json!({"generation": turn, "annotations": annotations, "manager": manager}),
        );
    }
    let card = play.only(160_000.0);
    assert_eq!((card.title(), card.count), ("Two managers fight over a field", 4));
}

#[test]
fn what_follows_from_a_fight_or_says_nothing_has_no_card() {
    let mut play = Play::default();
    for turn in 0..60u32 {
        let at = f64::from(turn) * 200.0;
        let annotations = json!({"tier": turn % 2, "deployment.kubernetes.io/revision": "1"});
        play.set(
            at,
            ("ReplicaSet", "web-1", "web"),
            json!({"generation": 1, "annotations": annotations, "manager": "controller"}),
        );
        let resources = if turn % 2 == 0 { json!({"resources": {}}) } else { json!({}) };
        play.set(at, ("Widget", "w", ""), resources);
        play.silent(at);
    }
    // A StatefulSet makes its Pods again in each rollout, and when a node is drained.
    for turn in 0..4u32 {
        let name = format!("db-0#{turn}");
        play.set(20_000.0 + f64::from(turn) * 1_000.0, ("Pod", &name, "db"), json!({}));
        play.delete(20_500.0 + f64::from(turn) * 1_000.0, "Pod", &name);
    }
    play.silent(25_000.0);
}

#[test]
fn a_crash_is_reported_soon() {
    let mut play = Play::default();
    play.set(1.0, DEPLOYMENT, rollout(1, 3, [3, 3, 3]));
    play.set(10.0, DEPLOYMENT, rollout(2, 3, [4, 1, 3]));
    play.set(20.0, ("ReplicaSet", "r", "web"), json!({}));
    play.set(30.0, ("Pod", "p", "r"), waiting("CrashLoopBackOff"));
    play.set(5_000.0, ("Pod", "p", "r"), waiting("CrashLoopBackOff"));
    play.silent(7_000.0);
    assert_eq!(play.only(9_000.0).title(), "A rollout does not progress");
}

#[test]
fn the_recorded_rollouts_show_only_what_flaps_in_them() {
    let mut findings = Findings::default();
    let mut found = std::collections::BTreeMap::new();
    for step in steps() {
        findings.push(&step.line(&Marks::default()));
        for card in findings.cards(step.ms) {
            found.insert(format!("{} {}: {}", card.kind, card.key, card.title()), card);
        }
    }
    // An annotation that was set to and fro, which the Deployment's controller copied to the ReplicaSet; and a node's taint,
    // which its controller set as often as the simulated kubelet took it away.
    assert_eq!(
        found.keys().collect::<Vec<_>>(),
        ["Deployment default/web: A field flaps", "Node node-3: A field flaps",]
    );
    let card = &found["Deployment default/web: A field flaps"];
    assert!(matches!(&card.finding, Finding::Flapping { path, values: [one, two], .. }
        if path == "metadata.annotations.flap" && one == "0" && two == "1"));
    let lines: Vec<_> =
        steps().iter().map(|step| step.line(&Marks::default())).filter(|line| card.seqs.contains(&line.seq)).collect();
    assert!(lines.len() as u64 == card.count && lines.iter().all(|line| line.key == card.key && line.uid == card.uid));
}

#[test]
fn a_card_stays_in_its_place_while_more_evidence_comes() {
    let mut play = Play::default();
    let sides = ["kubectl-annotate", "controller-y"];
    let mut orders = Vec::new();
    for turn in 0..80u32 {
        let at = f64::from(turn) * 150.0;
        // Two managers fight over a Deployment, and what one of them does to another object follows.
        let annotations = json!({"x": if turn % 2 == 0 { "a" } else { "b" }});
        let rest = json!({"generation": turn, "annotations": annotations, "manager": sides[turn as usize % 2]});
        play.set(at, DEPLOYMENT, rest);
        play.set(at + 10.0, ("ReplicaSet", "web-1", ""), replicas(turn, 4 + turn % 2 * 2, "deployment-controller"));
        let cards = play.findings.cards(at + 20.0);
        if cards.len() == 2 {
            orders.push(cards.iter().map(Card::title).collect::<Vec<_>>());
        }
    }
    assert!(orders.len() > 40, "{orders:?}");
    orders.dedup();
    assert_eq!(orders, [["Two managers fight over a field", "A field flaps"]]);
}
