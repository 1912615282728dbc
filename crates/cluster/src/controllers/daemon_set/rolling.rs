//! Which Pods of an old template are replaced next (`rollingUpdate` in `pkg/controller/daemon/update.go`).

use serde_json::Value;

use super::super::int_or_percent::scaled;
use super::super::object;
use super::node::Fitness;
use super::{DaemonSetSync, Work};

/// How many Nodes a rolling update may affect at a time; one of the two numbers is 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The number of Nodes that may lack an available Pod.
    pub unavailable: usize,
    /// The number of Nodes that may have a second Pod.
    pub surge: usize,
}

/// The running Pods of a Node, as one of the newest template and one of older templates; `None` if there are two of
/// either.
fn divide<'a>(sync: &DaemonSetSync<'_>, pods: &'a [Value]) -> Option<(Option<&'a Value>, Option<&'a Value>)> {
    let staying = pods.iter().filter(|pod| !object::is_being_deleted(pod));
    let (new, old): (Vec<&Value>, Vec<&Value>) = staying.partition(|pod| sync.is_updated(pod));
    (new.len() < 2 && old.len() < 2).then(|| (new.first().copied(), old.first().copied()))
}

impl DaemonSetSync<'_> {
    fn fit_nodes(&self) -> impl Iterator<Item = &String> {
        self.nodes.iter().filter(|(_, fitness)| *fitness == Fitness::Runs).map(|(name, _)| name)
    }

    /// The limits of this update, in Nodes (`updatedDesiredNodeCounts`).
    pub(super) fn limits(&self) -> Limits {
        let nodes = self.fit_nodes().count();
        let number = |field: &str, otherwise: usize| match self
            .set
            .pointer(&format!("/spec/updateStrategy/rollingUpdate/{field}"))
        {
            Some(value @ (Value::String(_) | Value::Number(_))) => {
                let nodes = i64::try_from(nodes).unwrap_or(i64::MAX);
                usize::try_from(scaled(value, nodes, true)).unwrap_or_default()
            }
            _ => otherwise,
        };
        let limits = Limits { unavailable: number("maxUnavailable", 1), surge: number("maxSurge", 0) };
        // A percentage of few Nodes may round down to 0, which would block every update.
        if limits.unavailable == 0 && limits.surge == 0 { Limits { unavailable: 1, ..limits } } else { limits }
    }

    /// The next step of the update.
    pub(super) fn rolling_update(&self) -> Work {
        let limits = self.limits();
        if limits.surge > 0 { self.surge(limits.surge) } else { self.replace(limits.unavailable) }
    }

    /// Deletes old Pods, which the next sync replaces. Old Pods that are not available are deleted at once.
    fn replace(&self, limit: usize) -> Work {
        let (mut unavailable, mut work, mut candidates) = (0, Work::default(), Vec::new());
        for node in self.fit_nodes() {
            match divide(self, self.pods_on(node)) {
                Some((Some(new), _)) => unavailable += usize::from(!self.is_available(new)),
                Some((None, Some(old))) if self.is_available(old) => candidates.push(old.clone()),
                Some((None, Some(old))) => {
                    unavailable += 1;
                    work.delete.push(old.clone());
                }
                Some((None, None)) | None => unavailable += 1,
            }
        }
        candidates.truncate(limit.saturating_sub(unavailable));
        work.delete.extend(candidates);
        work
    }

    /// Creates new Pods beside the old ones, and deletes the old ones once the new ones are available.
    fn surge(&self, limit: usize) -> Work {
        let (mut surging, mut work, mut candidates) = (0, Work::default(), Vec::new());
        for node in self.fit_nodes() {
            match divide(self, self.pods_on(node)) {
                Some((_, None)) => {}
                Some((None, Some(old))) if self.is_available(old) => candidates.push(node.clone()),
                // An old Pod that is not available serves nobody, so replacing it is not a surge.
                Some((None, Some(_))) => work.create.push(node.clone()),
                Some((Some(new), Some(old))) if self.is_available(new) => work.delete.push(old.clone()),
                Some((Some(_), Some(_))) | None => surging += 1,
            }
        }
        candidates.truncate(limit.saturating_sub(surging));
        work.create.extend(candidates);
        work
    }
}
