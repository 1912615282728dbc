//! Objects of unexpected shapes: whatever a client writes, only that object may suffer, not its controller.

use super::kubelet::Kubelet;
use super::*;
use crate::controllers::cron_job::CronJobs;
use crate::controllers::daemon_set::DaemonSets;
use crate::controllers::job::Jobs;
use crate::controllers::namespace::Namespaces;
use crate::controllers::object;
use crate::controllers::stateful_set::StatefulSets;

/// The collections, each with a valid spec.
fn collections() -> Vec<(&'static str, Value)> {
    let template = json!({"metadata": {"labels": {"app": "odd"}},
        "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "registry.example/odd:1"}]}});
    let selector = json!({"matchLabels": {"app": "odd"}});
    let claim = json!({"metadata": {"name": "data"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}});
    vec![
        ("/apis/apps/v1/namespaces/odd/daemonsets", json!({"selector": selector, "template": template})),
        (
            "/apis/apps/v1/namespaces/odd/statefulsets",
            json!({"selector": selector, "template": template, "replicas": 1, "serviceName": "odd",
                "volumeClaimTemplates": [claim],
                "updateStrategy": {"rollingUpdate": {"maxUnavailable": "9999999999999999999%"}}}),
        ),
        (
            "/apis/batch/v1/namespaces/odd/jobs",
            json!({"template": template, "completionMode": "Indexed", "completions": 1, "selector": selector,
                "manualSelector": true}),
        ),
        (
            "/apis/batch/v1/namespaces/odd/cronjobs",
            json!({"schedule": "* * * * *", "jobTemplate": {"spec": {"template": template}}}),
        ),
    ]
}

const PATHS: [&[&str]; 9] = [
    &["spec"],
    &["spec", "selector"],
    &["spec", "template"],
    &["spec", "template", "metadata"],
    &["spec", "template", "metadata", "labels"],
    &["spec", "template", "metadata", "annotations"],
    &["spec", "template", "spec"],
    &["spec", "template", "spec", "affinity"],
    &["spec", "volumeClaimTemplates"],
];

#[tokio::test]
async fn odd_shapes_cost_no_controller_anything() {
    let cluster = Cluster::start(|manager| {
        manager.add::<DaemonSets>();
        manager.add::<StatefulSets>();
        manager.add::<Jobs>();
        manager.add::<CronJobs>();
        manager.add::<Namespaces>();
        manager.add::<Kubelet>();
    })
    .await;
    cluster.create("/api/v1/nodes", &json!({"metadata": {"name": "n-0"}, "spec": {}})).await;
    cluster.create("/api/v1/namespaces", &json!({"metadata": {"name": "odd"}})).await;
    for (collection, sound) in collections() {
        let mut number = 0;
        for shape in [json!("x"), json!(7), json!([]), json!({})] {
            for path in PATHS {
                number += 1;
                let name = format!("odd-{number}");
                let mut object = json!({"metadata": {"name": name}, "spec": sound});
                object::set(&mut object, path, shape.clone());
                // The server may refuse the object, and then no controller sees it.
                let (status, created) = cluster.server.post(collection, &object).await;
                assert!([201, 400, 422].contains(&status), "{collection} {created}");
                cluster.server.patch(&format!("{collection}/{name}/status"), &json!({"status": shape})).await;
            }
        }
        let sound = json!({"metadata": {"name": "sound"}, "spec": sound});
        cluster.create(collection, &sound).await;
    }
    let of_sound = |list: &Value, kind: &str| {
        let is_its = |pod: &Value| {
            let owner = &pod["metadata"]["ownerReferences"][0];
            owner["kind"] == kind && owner["name"] == "sound"
        };
        items(list).iter().any(is_its)
    };
    let pods = "/api/v1/namespaces/odd/pods";
    for kind in ["DaemonSet", "StatefulSet", "Job"] {
        cluster.eventually(pods, &format!("a Pod of the sound {kind}"), |list| of_sound(list, kind)).await;
    }
    cluster.server.patch("/api/v1/namespaces/odd/status", &json!({"status": "x"})).await;
    assert_eq!(cluster.server.delete("/api/v1/namespaces/odd").await.0, 200);
    cluster.stop().await;
}
