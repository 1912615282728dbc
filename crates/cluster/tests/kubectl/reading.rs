//! `get` in its forms, and discovery.

use crate::session::Session;

#[tokio::test]
async fn get_prints_the_page_s_columns() {
    let kubectl = Session::start("get").await;
    for (line, expected) in [
        ("get pods -n shop", &["NAME READY STATUS RESTARTS AGE\n", "1/1 Running 0"][..]),
        ("get pods -A", &["NAMESPACE NAME READY STATUS RESTARTS AGE\n", "shop cart-", "payments gateway-"]),
        (
            "get pods -n shop -o wide",
            &["READY STATUS RESTARTS AGE IP NODE NOMINATED NODE READINESS GATES", "<none> <none>"],
        ),
        ("get pods -n shop -o yaml", &["apiVersion: v1\nitems:", "kind: Pod\n", "kind: List"]),
        ("get pods -n shop -o json", &["\"kind\": \"Pod\""]),
        ("get pods -n shop -o name", &["pod/cart-"]),
        ("get pods -A -l app=cart", &["shop cart-"]),
        ("get pods -A --field-selector metadata.namespace=payments", &["payments gateway-"]),
        ("get pods -A --field-selector status.phase=Failed", &["No resources found"]),
        ("get pods -n shop --show-labels", &["LABELS", "app=cart"]),
        ("get pods -A --sort-by=.metadata.name", &["NAMESPACE NAME READY"]),
        (
            "get deployments -n shop -o wide",
            &["NAME READY UP-TO-DATE AVAILABLE AGE CONTAINERS IMAGES SELECTOR", "app=cart"],
        ),
        ("get rs,svc -n shop", &["NAME DESIRED CURRENT READY AGE", "NAME TYPE CLUSTER-IP EXTERNAL-IP PORT(S) AGE"]),
        ("get nodes", &["NAME STATUS ROLES AGE VERSION", "Ready worker"]),
        ("get ns default", &["NAME STATUS AGE", "default Active"]),
        ("get cm -n default", &["NAME DATA AGE", "kube-root-ca.crt 1"]),
        ("get all -n shop", &["pod/cart-", "service/cart", "deployment.apps/cart", "replicaset.apps/cart-"]),
        ("get statefulsets,daemonsets,cronjobs,secrets -A", &["No resources found"]),
        ("get --raw /readyz", &["ok"]),
        ("describe deployment cart -n shop", &["Name: cart", "Selector: app=cart"]),
        ("version", &["Server Version: v1.35.0"]),
        ("api-versions", &["apps/v1\n", "apiextensions.k8s.io/v1"]),
        ("cluster-info", &["is running at"]),
    ] {
        kubectl.check(line, expected).await;
    }
    let cut = kubectl.check("get pods -A -l app=cart", &[]).await;
    assert!(!cut.contains("gateway"), "{cut}");
    kubectl.fails("get pod nothing -n shop", "", &["Error from server (NotFound): pods \"nothing\" not found"]).await;
    kubectl.fails("get widgets", "", &["the server doesn't have a resource type \"widgets\""]).await;
    kubectl.fails("get pods --field-selector a=b", "", &["field label not supported: a"]).await;
}

#[tokio::test]
async fn api_resources_names_what_is_served() {
    let kubectl = Session::start("api-resources").await;
    kubectl
        .check(
            "api-resources",
            &[
                "NAME SHORTNAMES APIVERSION NAMESPACED KIND\n",
                "pods po v1 true Pod\n",
                "nodes no v1 false Node\n",
                "statefulsets sts apps/v1 true StatefulSet\n",
                "daemonsets ds apps/v1 true DaemonSet\n",
                "cronjobs cj batch/v1 true CronJob\n",
                "endpointslices discovery.k8s.io/v1 true EndpointSlice\n",
                "secrets v1 true Secret\n",
                "serviceaccounts sa v1 true ServiceAccount\n",
                "leases coordination.k8s.io/v1 true Lease\n",
                "persistentvolumeclaims pvc v1 true PersistentVolumeClaim\n",
                "customresourcedefinitions crd,crds apiextensions.k8s.io/v1 false CustomResourceDefinition\n",
            ],
        )
        .await;
    kubectl.check("api-resources --categories=all -o name", &["deployments.apps\n", "cronjobs.batch\n"]).await;
}

#[tokio::test]
async fn get_watches_and_names_the_columns_once() {
    let kubectl = Session::start("watch").await;
    let watch = kubectl.follow("get configmaps -n default -w");
    watch.line_after("kube-root-ca.crt").await;
    kubectl.check("create configmap one -n default --from-literal=a=b", &["configmap/one created"]).await;
    watch.line_after("one ").await;
    kubectl.check("delete configmap one -n default", &["configmap \"one\" deleted"]).await;
    let events = kubectl.follow("get configmaps -n default -w --output-watch-events");
    events.line_after("ADDED").await;
    kubectl.check("create configmap two -n default", &[]).await;
    events.line_after("ADDED      two ").await;
    let headings = watch.output().matches("NAME").count();
    assert_eq!(headings, 1, "{}", watch.output());
}
