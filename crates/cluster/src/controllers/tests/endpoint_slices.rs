//! EndpointSlices and Endpoints: the addresses of a Service's Pods. The test plays the kubelet.

use std::collections::BTreeSet;
use std::time::Instant;

use super::*;
use crate::controllers::endpoint_slice::EndpointSlices;
use crate::controllers::endpoints::EndpointsController;
use crate::controllers::garbage_collector::GarbageCollector;
use crate::controllers::options::BatchPeriod;

const SERVICES: &str = "/api/v1/namespaces/default/services";
const ENDPOINTS: &str = "/api/v1/namespaces/default/endpoints";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";

async fn start() -> Cluster {
    start_with(Duration::from_millis(20)).await
}

async fn start_with(batch: Duration) -> Cluster {
    let options = Options { seed: 1, endpoint_updates_batch_period: BatchPeriod(batch), ..Options::default() };
    Cluster::start_with(options, |manager| {
        manager.add::<EndpointSlices>();
        manager.add::<EndpointsController>();
        manager.add::<GarbageCollector>();
    })
    .await
}

/// A Service for the Pods with the label `app: web`, on port 80, with further fields.
fn service(spec: Value) -> Value {
    let mut service = json!({"metadata": {"name": "web", "labels": {"team": "front"}},
        "spec": {"selector": {"app": "web"}, "ports": [{"port": 80, "targetPort": "http"}]}});
    for (field, value) in spec.as_object().into_iter().flatten() {
        service["spec"][field] = value.clone();
    }
    service
}

impl Cluster {
    /// Creates a Pod of the Service on a node, without an address yet.
    async fn web(&self, name: &str) {
        let container = json!({"name": "main", "image": "web:1", "ports": [{"name": "http", "containerPort": 8080}]});
        let pod = json!({"metadata": {"name": name, "labels": {"app": "web"}},
            "spec": {"nodeName": "rack-1", "containers": [container]}});
        self.create(PODS, &pod).await;
    }

    /// Sets the address of a Pod, and whether the Pod is ready.
    async fn report(&self, name: &str, ip: &str, ready: bool) {
        let ready = json!({"type": "Ready", "status": if ready { "True" } else { "False" },
            "lastTransitionTime": "2026-11-21T08:14:24Z"});
        let status = json!({"phase": "Running", "podIP": ip, "podIPs": [{"ip": ip}], "conditions": [ready]});
        self.patch(&format!("{PODS}/{name}/status"), &json!({"status": status})).await;
    }

    async fn node(&self) {
        let labels = json!({"topology.kubernetes.io/zone": "north"});
        self.create("/api/v1/nodes", &json!({"metadata": {"name": "rack-1", "labels": labels}})).await;
    }

    /// Waits until the slices of the Service `web`, taken together, have these endpoints.
    async fn slices(&self, expected: &[&str]) -> Value {
        let is_so = |list: &Value| !items(list).is_empty() && summary(list) == expected;
        self.eventually(SLICES, &format!("{expected:?}"), is_so).await
    }
}

/// The endpoints of a list of slices: the names of their Pods, with a mark for each condition that is true.
fn summary(slices: &Value) -> Vec<String> {
    let endpoints = items(slices).iter().flat_map(|slice| slice["endpoints"].as_array().into_iter().flatten());
    let mut told: Vec<String> = endpoints
        .map(|endpoint| {
            let marks = ["ready", "serving", "terminating"].iter().filter(|one| endpoint["conditions"][*one] == true);
            let marks: Vec<&str> = marks.copied().collect();
            format!("{} {}", endpoint["targetRef"]["name"].as_str().unwrap(), marks.join(","))
        })
        .collect();
    told.sort();
    told
}

#[tokio::test]
async fn a_slice_says_which_pods_are_behind_a_service() {
    let cluster = start().await;
    cluster.node().await;
    let web = cluster.create(SERVICES, &service(json!({}))).await;
    // Without Pods there is one empty slice.
    let list = cluster.slices(&[]).await;
    assert_eq!((&list["items"][0]["endpoints"], &list["items"][0]["ports"]), (&Value::Null, &Value::Null));
    cluster.web("a").await;
    cluster.web("b").await;
    cluster.report("a", "10.9.0.1", true).await;
    cluster.report("b", "10.9.0.2", false).await;
    let list = cluster.slices(&["a ready,serving", "b "]).await;
    assert_eq!(items(&list).len(), 1, "{list:#}");
    let slice = &list["items"][0];
    let metadata = &slice["metadata"];
    assert_eq!(metadata["generateName"], "web-");
    assert_eq!(
        metadata["labels"],
        json!({"team": "front", "kubernetes.io/service-name": "web",
            "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io"})
    );
    assert_eq!(
        metadata["ownerReferences"],
        json!([{"apiVersion": "v1", "kind": "Service", "name": "web", "uid": web["metadata"]["uid"],
            "controller": true, "blockOwnerDeletion": true}])
    );
    assert_eq!(slice["addressType"], "IPv4");
    assert_eq!(slice["ports"], json!([{"name": "", "port": 8080, "protocol": "TCP"}]));
    let endpoints = slice["endpoints"].as_array().unwrap();
    let first = endpoints.iter().find(|endpoint| endpoint["targetRef"]["name"] == "a").unwrap();
    let (_, pod) = cluster.server.get(&format!("{PODS}/a")).await;
    assert_eq!(
        *first,
        json!({"addresses": ["10.9.0.1"], "conditions": {"ready": true, "serving": true, "terminating": false},
            "nodeName": "rack-1", "zone": "north",
            "targetRef": {"kind": "Pod", "namespace": "default", "name": "a", "uid": pod["metadata"]["uid"]}})
    );
    let of_endpoints = |one: &Value| one["subsets"][0]["addresses"][0]["targetRef"]["name"] == "a";
    let old = cluster.eventually(&format!("{ENDPOINTS}/web"), "a", of_endpoints).await;
    assert_eq!(old["subsets"][0]["ports"], json!([{"port": 8080, "protocol": "TCP"}]));
    // The Pod is being deleted, and still serves.
    let _ = cluster.server.delete(&format!("{PODS}/a")).await;
    cluster.slices(&["a serving,terminating", "b "]).await;
    cluster.report("b", "10.9.0.2", true).await;
    let list = cluster.slices(&["a serving,terminating", "b ready,serving"]).await;
    let told = &list["items"][0]["metadata"]["annotations"]["endpoints.kubernetes.io/last-change-trigger-time"];
    assert_eq!(*told, "2026-11-21T08:14:24Z");
    // The Pod is deleted.
    cluster.server.delete_with(&format!("{PODS}/a"), json!({"gracePeriodSeconds": 0})).await;
    cluster.slices(&["b ready,serving"]).await;
    // The deletion of the Service also deletes its slices.
    let _ = cluster.server.delete(&format!("{SERVICES}/web")).await;
    cluster.eventually(SLICES, "no slice", are(&[])).await;
    cluster.eventually(ENDPOINTS, "no Endpoints of it", |list| !names(list).contains(&"web")).await;
    cluster.stop().await;
}

#[tokio::test]
async fn what_is_not_ready_is_published_if_the_service_says_so() {
    let cluster = start().await;
    cluster.node().await;
    cluster.web("a").await;
    cluster.report("a", "10.9.0.1", false).await;
    cluster.create(SERVICES, &service(json!({"publishNotReadyAddresses": true, "clusterIP": "None"}))).await;
    let list = cluster.slices(&["a ready"]).await;
    assert_eq!(list["items"][0]["metadata"]["labels"]["service.kubernetes.io/headless"], "");
    cluster.stop().await;
}

#[tokio::test]
async fn a_service_without_a_selector_is_left_alone() {
    let cluster = start().await;
    for (name, spec) in [
        ("plain", json!({"ports": [{"port": 80}]})),
        ("outside", json!({"type": "ExternalName", "externalName": "example.org", "selector": {"app": "web"}})),
    ] {
        cluster.create(SERVICES, &json!({"metadata": {"name": name}, "spec": spec})).await;
    }
    // Later changes are handled after these, which shows that these were handled.
    cluster.create(SERVICES, &service(json!({}))).await;
    let list = cluster.slices(&[]).await;
    assert_eq!(items(&list).len(), 1, "{list:#}");
    let list = cluster.eventually(ENDPOINTS, "web", |list| names(list).contains(&"web")).await;
    assert!(!names(&list).iter().any(|name| ["plain", "outside"].contains(name)), "{list:#}");
    cluster.stop().await;
}

#[tokio::test]
async fn a_slice_that_somebody_deletes_or_changes_is_made_good() {
    let cluster = start().await;
    cluster.node().await;
    cluster.web("a").await;
    cluster.report("a", "10.9.0.1", true).await;
    cluster.create(SERVICES, &service(json!({}))).await;
    let list = cluster.slices(&["a ready,serving"]).await;
    let first = names(&list)[0].to_owned();
    let _ = cluster.server.delete(&format!("{SLICES}/{first}")).await;
    let is_new = |list: &Value| summary(list) == ["a ready,serving"] && names(list)[0] != first;
    let list = cluster.eventually(SLICES, "another slice", is_new).await;
    cluster.patch(&format!("{SLICES}/{}", names(&list)[0]), &json!({"endpoints": []})).await;
    cluster.slices(&["a ready,serving"]).await;
    cluster.stop().await;
}

#[tokio::test]
async fn many_pods_take_few_slices_and_few_writes() {
    let batch = Duration::from_millis(500);
    let cluster = start_with(batch).await;
    cluster.node().await;
    let since = Instant::now();
    cluster.create(SERVICES, &service(json!({}))).await;
    cluster.slices(&[]).await;
    for number in 0..130 {
        let name = format!("web-{number:03}");
        cluster.web(&name).await;
        cluster.report(&name, &format!("10.9.0.{number}"), true).await;
    }
    let is_full = |list: &Value| summary(list).len() == 130;
    let list = cluster.eventually(SLICES, "130 endpoints", is_full).await;
    let distinct: BTreeSet<String> = summary(&list).into_iter().collect();
    assert_eq!(distinct.len(), 130);
    let most = items(&list).iter().map(|slice| slice["endpoints"].as_array().unwrap().len()).max();
    assert!(most.is_some_and(|most| most <= 100), "{most:?}");
    assert_eq!(items(&list).len(), 2, "{:?}", names(&list));
    let listed: Vec<&Value> = items(&list).iter().collect();
    assert!(listed.iter().all(|slice| slice["metadata"]["generation"].is_i64()), "{listed:#?}");
    // Each write of a slice increments its generation. A batch writes each of the two slices at most once; how many batches
    // there are is a matter of how long the machine takes for the Pods.
    let batches = i64::try_from(since.elapsed().as_millis() / batch.as_millis()).unwrap() + 2;
    let writes: i64 = items(&list).iter().filter_map(|slice| slice["metadata"]["generation"].as_i64()).sum();
    assert!((2..=2 * batches).contains(&writes), "{writes} writes in {batches} batches for 260 changes of Pods");
    cluster.stop().await;
}
