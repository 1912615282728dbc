//! Computes and sets the number of replicas of each ReplicaSet (`pkg/controller/deployment/util/deployment_util.go`,
//! `sync.go`).

use std::cmp::Reverse;

use serde_json::Value;

use super::super::object;
use super::replicas::{available, is_rolling, max_surge, total, wanted};
use super::{Rollout, Sets, annotations};
use crate::client::api_error::ApiError;
use crate::client::resources::REPLICA_SETS;

/// Whether the desired number differs from the number at the last scaling of the ReplicaSets (`isScalingEvent`).
pub fn is_scaling_event(deployment: &Value, sets: &Sets) -> bool {
    let mut active = sets.all().filter(|set| wanted(set) > 0);
    active.any(|set| {
        annotations::number(set, annotations::DESIRED_REPLICAS).is_some_and(|number| number != wanted(deployment))
    })
}

/// Whether the new ReplicaSet has all desired replicas, and all are available (`IsSaturated`).
fn is_saturated(deployment: &Value, new: Option<&Value>) -> bool {
    new.is_some_and(|new| {
        let replicas = wanted(deployment);
        annotations::number(new, annotations::DESIRED_REPLICAS) == Some(replicas)
            && wanted(new) == replicas
            && available(new) == replicas
    })
}

/// How many more replicas a ReplicaSet gets of the `to_add` that are spread over all ReplicaSets, of which `added` are
/// given away already (`GetReplicaSetProportion`).
fn proportion(deployment: &Value, set: &Value, to_add: i64, added: i64) -> i64 {
    let (has, left) = (wanted(set), to_add - added);
    if has == 0 || left == 0 {
        return 0;
    }
    let share = fraction(deployment, set);
    if to_add > 0 { share.min(left) } else { share.max(left) }
}

/// By how much a ReplicaSet must change to keep its share of the total (`getReplicaSetFraction`).
fn fraction(deployment: &Value, set: &Value) -> i64 {
    let (replicas, has) = (wanted(deployment), wanted(set));
    if replicas == 0 {
        return -has;
    }
    let before = annotations::number(set, annotations::MAX_REPLICAS).filter(|number| *number > 0);
    let before = before.unwrap_or_else(|| object::count(deployment, "/status/replicas"));
    if before <= 0 {
        return 0;
    }
    let share = has as f64 * (replicas + max_surge(deployment)) as f64 / before as f64;
    share.round() as i64 - has
}

impl Rollout<'_> {
    /// Follows the desired number. In the middle of a rollout every ReplicaSet keeps its share of the total, so that a
    /// template that does not work gets no larger share (`scale`).
    pub(super) async fn scale(&self, sets: &mut Sets) -> Result<(), ApiError> {
        let replicas = wanted(&self.deployment);
        let mut active: Vec<&mut Value> = sets.old.iter_mut().filter(|set| wanted(set) > 0).collect();
        let is_new_active = sets.new.as_ref().is_some_and(|new| wanted(new) > 0);
        match (active.len() + usize::from(is_new_active), &mut sets.new) {
            (0, Some(new)) => return self.scale_set(new, replicas).await.map(drop),
            (0, None) => {
                return match sets.old.last_mut() {
                    Some(newest) => self.scale_set(newest, replicas).await.map(drop),
                    None => Ok(()),
                };
            }
            (1, new) => {
                let only = if is_new_active { new.as_mut() } else { active.pop() };
                return match only {
                    // Called even if the size is right already: the annotations may be of another number, and would
                    // then count as a scaling forever.
                    Some(only) => self.scale_set(only, replicas).await.map(drop),
                    None => Ok(()),
                };
            }
            _ => {}
        }
        if is_saturated(&self.deployment, sets.new.as_ref()) {
            for old in active {
                self.scale_set(old, 0).await?;
            }
            return Ok(());
        }
        active.extend(sets.new.iter_mut().filter(|_| is_new_active));
        if is_rolling(&self.deployment) {
            return self.scale_in_proportion(active).await;
        }
        // With the strategy Recreate there are several only if the strategy was changed during a rollout; the next step
        // empties the old ones.
        for set in active {
            self.scale_set(set, wanted(set)).await?;
        }
        Ok(())
    }

    async fn scale_in_proportion(&self, mut sets: Vec<&mut Value>) -> Result<(), ApiError> {
        let replicas = wanted(&self.deployment);
        let allowed = if replicas > 0 { replicas + max_surge(&self.deployment) } else { 0 };
        let to_add = allowed - total(sets.iter().map(|set| &**set));
        // The largest comes first. Of equal ones the newest gains first, and the oldest loses first.
        let age = |set: &Value| object::time(set, "/metadata/creationTimestamp").map(|created| created.0);
        if to_add > 0 {
            sets.sort_by_key(|set| Reverse((wanted(set), age(set))));
        } else {
            sets.sort_by_key(|set| (Reverse(wanted(set)), age(set)));
        }
        let (mut added, mut sizes) = (0, Vec::new());
        for set in &sets {
            let share = proportion(&self.deployment, set, to_add, added);
            added += share;
            sizes.push(wanted(set) + share);
        }
        if let Some(first) = sizes.first_mut() {
            *first = (*first + to_add - added).max(0);
        }
        for (set, size) in sets.into_iter().zip(sizes) {
            self.scale_set(set, size).await?;
        }
        Ok(())
    }

    /// Sets the number of replicas of a ReplicaSet and records an Event; returns whether the number changed
    /// (`scaleReplicaSetAndRecordEvent`).
    pub(super) async fn scale_set(&self, set: &mut Value, replicas: i64) -> Result<bool, ApiError> {
        let had = wanted(set);
        let mut scaled = set.clone();
        object::set(&mut scaled, &["spec", "replicas"], replicas.into());
        let is_annotated = annotations::set_replicas(&self.deployment, &mut scaled);
        if replicas == had && !is_annotated {
            return Ok(false);
        }
        *set = self.controller.client.update(&REPLICA_SETS, &scaled).await?;
        self.controller.written_sets.note(set);
        if replicas == had {
            return Ok(false);
        }
        let direction = if replicas > had { "up" } else { "down" };
        let message = format!("Scaled {direction} replica set {} from {had} to {replicas}", object::name(set));
        self.controller.recorder.normal(&self.deployment, "ScalingReplicaSet", &message);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Checks how many replicas a ReplicaSet with `has` replicas gains of `to_add`, where 10 were desired and 13
    /// allowed before.
    fn check(replicas: i64, has: i64, to_add: i64, expected: i64) {
        let set = json!({"metadata": {"annotations": {annotations::MAX_REPLICAS: "13"}}, "spec": {"replicas": has}});
        let rolling = json!({"maxSurge": 3, "maxUnavailable": 2});
        let deployment = json!({"spec": {"replicas": replicas, "strategy": {"rollingUpdate": rolling}}});
        assert_eq!(proportion(&deployment, &set, to_add, 0), expected, "{replicas} {has} {to_add}");
    }

    #[test]
    fn a_part_of_the_whole_is_kept() {
        check(20, 8, 10, 6);
        check(20, 5, 10, 4);
        check(5, 8, -5, -3);
        check(0, 8, -13, -8);
        check(20, 0, 10, 0);
        check(20, 8, 2, 2);
    }
}
