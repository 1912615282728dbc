//! Every change of the recorded rollout: its fields, its writer and its noise, against independent computations.

use std::collections::BTreeMap;

use kubechurn_changes::diff::diff;
use kubechurn_changes::noise::{Marks, Noise};
use kubechurn_changes::writer::of_change;
use kubechurn_client::cache::delta::DeltaType;
use serde_json::Value;

use crate::independent;
use crate::recording::steps;

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_diff_is_that_of_the_values() {
    let mut compared = 0;
    for step in steps() {
        let Some(old) = &step.old else { continue };
        let found = diff(old, &step.new).unwrap();
        let count = found.changes.len();
        let fields: independent::Fields = found
            .changes
            .into_iter()
            .map(|change| (change.path.to_string(), (change.old.map(value), change.new.map(value))))
            .collect();
        assert_eq!(fields.len(), count, "a path is reported twice");
        assert_eq!(fields, independent::diff(&value(old), &value(&step.new)), "{} {}", step.seq, step.key);
        compared += count;
    }
    assert!(compared > 1_000, "{compared}");
}

#[test]
fn every_writer_is_that_of_the_values() {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    for step in steps() {
        let Some(old) = &step.old else { continue };
        let found: Vec<_> = of_change(DeltaType::Updated, Some(old), Some(&step.new))
            .into_iter()
            .map(|writer| {
                *known.entry(writer.manager.to_string()).or_default() += 1;
                (writer.manager.to_string(), writer.subresource.to_string())
            })
            .collect();
        assert_eq!(found, independent::writers(&value(old), &value(&step.new)), "{} {}", step.seq, step.key);
        assert_eq!(
            step.line(&Marks::default()).writers.len(),
            if step.frame_type == "MODIFIED" { found.len() } else { 0 }
        );
    }
    assert!(known.contains_key("kubectl-set") && known["kube-controller-manager"] > 50, "{known:?}");
}

#[test]
fn noise_is_what_changes_nothing_but_noise() {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for step in steps() {
        let Some(old) = step.old.as_ref().filter(|_| step.frame_type == "MODIFIED") else { continue };
        let (old, new) = (value(old), value(&step.new));
        let fields = independent::diff(&old, &new);
        let is_noise = fields.keys().all(|path| {
            let in_condition = |name: &str| path.starts_with("status.conditions[") && path.ends_with(name);
            let status = path.rsplit_once('.').map(|(condition, _)| format!("{condition}.status"));
            ["metadata.resourceVersion", "metadata.generation", "metadata.managedFields"].contains(&path.as_str())
                || path == "status.observedGeneration"
                || (in_condition(".lastHeartbeatTime") && step.kind == "Node")
                || in_condition(".lastUpdateTime")
                || in_condition(".lastProbeTime")
                || (in_condition(".lastTransitionTime") && status.is_some_and(|path| fields.contains_key(&path)))
        });
        let line = step.line(&Marks::default());
        assert_eq!(line.noise.is_some(), is_noise, "{} {} {fields:?}", step.seq, step.key);
        *counts.entry(line.noise.map_or("no noise", Noise::words)).or_default() += 1;
    }
    assert!(counts["heartbeats"] >= 20 && counts["observedGeneration"] > 3, "{counts:?}");
}
