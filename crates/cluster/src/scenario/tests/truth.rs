//! Whether what is said to be wrong now is so, judged by the objects as they are: read as plain JSON, and by the words of
//! Kubernetes' own documentation, and not as the page reads them.

use std::collections::BTreeMap;

use kubechurn_client::api::time::Timestamp;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_model::feed::wrong::{Entry, Fault};
use serde_json::Value;

/// How long a container that crashed must run before it counts as well, in seconds, with a second for what is rounded.
const CALM: i64 = 16;

/// The objects that were received, by kind and key.
#[derive(Debug, Default)]
pub(super) struct Truth(BTreeMap<(String, String), Value>);

impl Truth {
    pub(super) fn received(&mut self, (kind, key): (&str, String), delta_type: DeltaType, text: Option<&str>) {
        match text.filter(|_| delta_type != DeltaType::Deleted) {
            Some(text) => {
                self.0.insert((kind.to_owned(), key), serde_json::from_str(text).expect("the server sends JSON"))
            }
            None => self.0.remove(&(kind.to_owned(), key)),
        };
    }

    fn of(&self, kind: &str) -> impl Iterator<Item = &Value> {
        self.0.iter().filter(move |((of, _), _)| of == kind).map(|(_, object)| object)
    }

    /// The Pods of a workload, or the one that the entry is about.
    fn pods(&self, entry: &Entry) -> impl Iterator<Item = &Value> {
        let subject = entry.subject.uid.to_string();
        let owner = |object: &Value| -> String {
            let owners = object["metadata"]["ownerReferences"].as_array();
            let owner = owners.and_then(|all| all.iter().find(|one| one["controller"] == true));
            owner.map_or_else(String::new, |owner| text(owner, "uid").to_owned())
        };
        self.of("Pod").filter(move |pod| {
            let set = owner(pod);
            let above = self.of("ReplicaSet").find(|one| text(&one["metadata"], "uid") == set).map(owner);
            text(&pod["metadata"], "uid") == subject || set == subject || above.is_some_and(|above| above == subject)
        })
    }

    /// Whether all that an entry says is so at this moment.
    pub(super) fn is_so(&self, entry: &Entry, Timestamp(now): Timestamp) -> bool {
        let Entry { subject, count, fault, .. } = entry;
        let Some(object) = self.0.get(&(subject.kind.clone(), subject.key.to_string())) else { return false };
        let condition = |object: &Value, name: &str, status: &str| {
            let all = object["status"]["conditions"].as_array();
            all.is_some_and(|all| all.iter().any(|one| one["type"] == name && one["status"] == status))
        };
        let since = |value: &Value| value.as_str().and_then(Timestamp::parse_set).map_or(i64::MAX, |at| now - at.0);
        let of_pods = |is_so: &dyn Fn(&Value) -> bool| self.pods(entry).filter(|pod| is_so(pod)).count() >= count.0;
        let of_containers = |is_so: &dyn Fn(&Value, &Value) -> bool| {
            of_pods(&|pod| {
                let lists = ["initContainerStatuses", "containerStatuses"].map(|list| pod["status"][list].as_array());
                lists.into_iter().flatten().flatten().any(|status| is_so(pod, status))
            })
        };
        let ended_badly =
            |one: &Value| one["exitCode"].as_i64().is_some_and(|code| code != 0) || one["signal"].is_i64();
        match fault {
            Fault::NotReady => !condition(object, "Ready", "True"),
            Fault::Pull { image } => of_containers(&|pod, status| {
                let waiting = text(&status["state"]["waiting"], "reason");
                let asks = pod["spec"]["containers"]
                    .as_array()
                    .is_some_and(|all| all.iter().any(|one| one["image"] == **image));
                // It is tried once more, and the container is being created for a moment.
                asks && (waiting.contains("Image") || waiting == "ContainerCreating") && status["ready"] == false
            }),
            Fault::Crash { .. } => of_containers(&|_, status| {
                let [state, last] = [&status["state"], &status["lastState"]["terminated"]];
                let loops = state["waiting"]["reason"] == "CrashLoopBackOff" || ended_badly(&state["terminated"]);
                // It is started anew, or was a moment ago.
                let tries = state["waiting"].is_object() || since(&state["running"]["startedAt"]) <= CALM;
                loops || (ended_badly(last) && tries)
            }),
            Fault::Schedule { .. } => of_pods(&|pod| condition(pod, "PodScheduled", "False")),
            Fault::Unready { .. } => {
                of_pods(&|pod| pod["status"]["phase"] == "Running" && condition(pod, "Ready", "False"))
            }
            Fault::Hang { .. } | Fault::Start { .. } => of_pods(&|pod| {
                let all = pod["status"]["containerStatuses"].as_array();
                !text(&pod["spec"], "nodeName").is_empty()
                    && !all.is_some_and(|all| all.iter().any(|status| status["state"]["running"].is_object()))
            }),
            Fault::Ended { .. } => of_pods(&|pod| pod["status"]["phase"] == "Failed"),
            Fault::Create { .. } => {
                let status = |name: &str| object["status"][name].as_i64().unwrap_or(0);
                let asks = object["spec"]["replicas"].as_i64().unwrap_or_else(|| status("desiredNumberScheduled"));
                condition(object, "ReplicaFailure", "True")
                    || status("replicas") + status("currentNumberScheduled") < asks
            }
            Fault::Job { .. } => condition(object, "Failed", "True"),
            Fault::Deadline => condition(object, "Progressing", "False"),
            Fault::Unbound => object["status"]["phase"] == "Pending",
            Fault::Condition { message, .. } => {
                let all = object["status"]["conditions"].as_array();
                all.is_some_and(|all| all.iter().any(|one| message.contains(text(one, "reason"))))
            }
            Fault::Deleting { .. } => since(&object["metadata"]["deletionTimestamp"]) > 0,
        }
    }
}

fn text<'a>(object: &'a Value, field: &str) -> &'a str {
    object[field].as_str().unwrap_or_default()
}
