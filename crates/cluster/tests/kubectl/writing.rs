//! Commands that create, change and delete objects.

use crate::session::Session;

const WEB: &str = include_str!("manifests/web.yaml");

#[tokio::test]
async fn a_deployment_s_life() {
    let kubectl = Session::start("life").await;
    for (line, expected) in [
        ("create deployment api --image=registry.example/api:1 -n default", &["deployment.apps/api created"][..]),
        ("get deployment api -n default", &["api 0/1 0 0"]),
        ("scale deployment api -n default --replicas=3", &["deployment.apps/api scaled"]),
        ("get deployment api -n default", &["api 0/3 0 0"]),
        ("scale deployment api -n default --current-replicas=3 --replicas=2", &["deployment.apps/api scaled"]),
        ("set image deployment/api -n default api=registry.example/api:2", &["deployment.apps/api image updated"]),
        (
            "get deployment api -n default -o jsonpath={.spec.template.spec.containers[*].image}",
            &["registry.example/api:2"],
        ),
        ("rollout restart deployment/api -n default", &["deployment.apps/api restarted"]),
        ("get deployment api -n default -o yaml", &["kubectl.kubernetes.io/restartedAt", "generation: 5"]),
        ("label deployment api -n default tier=back", &["deployment.apps/api labeled"]),
        ("label deployment api -n default tier=front --overwrite", &["deployment.apps/api labeled"]),
        ("get deployments -A -l tier=front -L tier", &["TIER", "default api"]),
        ("annotate deployment api -n default note=hello", &["deployment.apps/api annotated"]),
        ("label deployment api -n default tier-", &["deployment.apps/api unlabeled"]),
        (
            "get deployment api -n default --show-managed-fields -o yaml",
            &["manager: kubectl-create", "manager: kubectl-label", "manager: kubectl-annotate", "subresource: scale"],
        ),
        ("expose deployment api -n default --port=80", &["service/api exposed"]),
        ("get svc api -n default", &["api ClusterIP 10.97."]),
        ("set env deployment/api -n default A=b", &["deployment.apps/api env updated"]),
        ("delete deployment api -n default --wait", &["deployment.apps \"api\" deleted"]),
    ] {
        kubectl.check(line, expected).await;
    }
    kubectl.fails("get deployment api -n default", "", &["NotFound"]).await;
    kubectl.fails("create deployment api --image=x -n nowhere", "", &["namespaces \"nowhere\" not found"]).await;
}

#[tokio::test]
async fn apply_says_what_changes() {
    let kubectl = Session::start("apply").await;
    kubectl.check_with("apply -f -", WEB, &["deployment.apps/web created"]).await;
    kubectl.check_with("apply -f -", WEB, &["deployment.apps/web unchanged"]).await;
    let changed = WEB.replace("web:1", "web:2").replace("blue", "green").replace("replicas: 2", "replicas: 4");
    kubectl.check_with("diff -f -", WEB, &[]).await;
    kubectl
        .check_with("apply --dry-run=server -f -", &changed, &["deployment.apps/web configured (server dry run)"])
        .await;
    kubectl.check("get deployment web -n default", &["web 0/2"]).await;
    kubectl.check_with("apply -f -", &changed, &["deployment.apps/web configured"]).await;
    kubectl
        .check("get deployment web -n default -o wide", &["0/4", "registry.example/web:2,registry.example/sidecar:1"])
        .await;
    kubectl
        .check("get deployment web -n default -o yaml", &["value: green", "containerPort: 80", "generation: 2"])
        .await;
    // Without the sidecar: the list is merged by name, and an element that was applied before and is missing now is
    // deleted.
    let alone = changed.split("      - name: sidecar").next().unwrap_or_default();
    kubectl.check_with("apply -f -", alone, &["configured"]).await;
    let images = kubectl.check("get deployment web -n default -o wide", &["registry.example/web:2"]).await;
    assert!(!images.contains("sidecar"), "{images}");
    kubectl.check_with("replace -f -", WEB, &["deployment.apps/web replaced"]).await;
    kubectl.fails("create -f -", WEB, &["AlreadyExists"]).await;
    kubectl.fails("apply -f -", &WEB.replace("app: web", "app: other"), &["spec.selector", "field is immutable"]).await;
    kubectl.check_with("delete -f -", WEB, &["deployment.apps \"web\" deleted"]).await;
}

#[tokio::test]
async fn patches_of_each_kind() {
    let kubectl = Session::start("patch").await;
    kubectl.check_with("apply -f -", WEB, &["created"]).await;
    let patch = |kind: &str, patch: &str| format!("patch deployment web -n default --type={kind} -p '{patch}'");
    let containers = "get deployment web -n default -o jsonpath={.spec.template.spec.containers[*].name}";
    for (kind, text, after) in [
        ("merge", r#"{"spec":{"replicas":5,"paused":true}}"#, "web sidecar"),
        (
            "json",
            r#"[{"op":"replace","path":"/spec/replicas","value":6},{"op":"remove","path":"/spec/paused"}]"#,
            "web sidecar",
        ),
        ("strategic", r#"{"spec":{"template":{"spec":{"containers":[{"name":"web","image":"new"}]}}}}"#, "web sidecar"),
        ("strategic", r#"{"spec":{"template":{"spec":{"containers":[{"name":"sidecar","$patch":"delete"}]}}}}"#, "web"),
        ("merge", r#"{"spec":{"template":{"spec":{"containers":[{"name":"only","image":"x"}]}}}}"#, "only"),
    ] {
        kubectl.check(&patch(kind, text), &["deployment.apps/web patched"]).await;
        assert_eq!(kubectl.check(containers, &[]).await, after, "{kind} {text}");
    }
    kubectl.check("get deployment web -n default", &["0/6"]).await;
    kubectl.check(&patch("merge", r#"{"spec":{"replicas":6}}"#), &["deployment.apps/web patched (no change)"]).await;
    kubectl.fails(&patch("json", r#"[{"op":"test","path":"/spec/replicas","value":7}]"#), "", &["testing value"]).await;
    kubectl
        .fails(&patch("merge", r#"{"metadata":{"resourceVersion":"1"}}"#), "", &["the object has been modified"])
        .await;
}

#[tokio::test]
async fn deletions_wait_and_cascade() {
    let kubectl = Session::start_alive("delete").await;
    let pod = kubectl.check("get pods -n shop -o name", &[]).await.lines().next().unwrap_or_default().to_owned();
    kubectl.check(&format!("delete {pod} -n shop --wait=false"), &["deleted"]).await;
    kubectl.check("get pods -n shop", &["Terminating"]).await;
    kubectl.check(&format!("wait --for=delete {pod} -n shop --timeout=20s"), &[]).await;
    kubectl.fails(&format!("get {pod} -n shop"), "", &["NotFound"]).await;
    // The deletion also deletes what the Deployment owned, through its ReplicaSet to its Pods.
    kubectl.check("delete deployment gateway -n payments --wait", &["deployment.apps \"gateway\" deleted"]).await;
    kubectl.check("wait --for=delete pods -l app=gateway -n payments --timeout=20s", &[]).await;
    kubectl.check("get rs,pods -n payments -l app=gateway", &["No resources found"]).await;
    // With `--cascade=orphan` the dependents stay.
    kubectl.check("delete deployment cart -n shop --cascade=orphan", &["deleted"]).await;
    kubectl.check("get rs -n shop -l app=cart", &["cart-"]).await;
    kubectl.check("delete rs -n shop -l app=cart --cascade=foreground --wait", &["deleted"]).await;
    kubectl.check("get pods -n shop -l app=cart", &["No resources found"]).await;
    kubectl.check("delete pods --all -n platform --grace-period=0 --force", &["force deleted"]).await;
    kubectl.check("create namespace tmp", &["namespace/tmp created"]).await;
    kubectl.check("create configmap one -n tmp", &["created"]).await;
    kubectl.check("create configmap two -n tmp", &["created"]).await;
    kubectl.check("delete configmaps --all -n tmp", &["\"one\" deleted", "\"two\" deleted"]).await;
    kubectl.check("create secret generic three --from-literal=a=b -n tmp", &["secret/three created"]).await;
    kubectl.check("get secrets -n tmp", &["NAME TYPE DATA AGE", "three Opaque 1"]).await;
    kubectl.check("delete namespace tmp --wait", &["namespace \"tmp\" deleted"]).await;
    kubectl.check("get secrets -A", &["No resources found"]).await;
}

#[tokio::test]
async fn what_else_kubectl_creates() {
    let kubectl = Session::start_alive("create").await;
    for (line, expected) in [
        ("run one --image=registry.example/one -n default", &["pod/one created"][..]),
        ("wait --for=condition=Ready pod/one -n default --timeout=50s", &["condition met"]),
        ("get pod one -n default", &["one 1/1 Running 0"]),
        ("get pod one -n default -o jsonpath={.spec.serviceAccountName}", &["default"]),
        ("create job j --image=x -n default -- echo hello", &["job.batch/j created"]),
        ("create cronjob c --image=x --schedule '0 0 1 1 *' -n default", &["cronjob.batch/c created"]),
        ("get cronjobs -n default", &["c 0 0 1 1 * <none> False 0 <none>"]),
        ("create serviceaccount bot -n default", &["serviceaccount/bot created"]),
        ("create role r --verb=get,list --resource=pods -n default", &["role.rbac.authorization.k8s.io/r created"]),
        (
            "create rolebinding b --role=r --serviceaccount=default:bot -n default",
            &["rolebinding.rbac.authorization.k8s.io/b created"],
        ),
        ("get rolebindings -n default -o wide", &["b Role/r", "default/bot"]),
        ("create service clusterip s --tcp=80:8080 -n default", &["service/s created"]),
        ("get svc s -n default", &["80/TCP"]),
        ("create pdb p --selector=a=b --min-available=1 -n default", &["poddisruptionbudget.policy/p created"]),
        ("create priorityclass high --value=5", &["priorityclass.scheduling.k8s.io/high created"]),
        ("apply --server-side -f -", &["configmap/ssa serverside-applied"]),
        ("cordon -l node-role.kubernetes.io/worker", &["cordoned"]),
        ("get nodes", &["Ready,SchedulingDisabled"]),
        ("drain -l node-role.kubernetes.io/worker --force --timeout=40s", &["drained"]),
        // The Deployments have created other Pods, which no node can run.
        ("get pods -n shop --field-selector=status.phase=Running", &["No resources found"]),
        ("get pods -n shop", &["0/1 Pending 0"]),
        ("rollout history deployment/cart -n shop", &["REVISION CHANGE-CAUSE"]),
        ("events -n default", &["Normal Scheduled Pod/one", "Normal Started Pod/one", "Normal Killing Pod/one"]),
    ] {
        let map = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ssa, namespace: default}\ndata: {a: b}\n";
        kubectl.check_with(line, map, expected).await;
    }
}

#[tokio::test]
async fn a_finalizer_holds_its_object() {
    let kubectl = Session::start("finalizer").await;
    let held = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"held-","namespace":"default","finalizers":["example.org/hold"]}}"#;
    let name = kubectl.check_with("create -f - -o name", held, &["configmap/held-"]).await.trim().to_owned();
    kubectl.check(&format!("delete {name} -n default --wait=false"), &["deleted"]).await;
    kubectl.check(&format!("get {name} -n default -o yaml"), &["deletionTimestamp:"]).await;
    let more = r#"{"metadata":{"finalizers":["example.org/hold","example.org/more"]}}"#;
    kubectl
        .fails(&format!("patch {name} -n default --type=merge -p '{more}'"), "", &["no new finalizers can be added"])
        .await;
    kubectl
        .check(&format!("patch {name} -n default --type=merge -p '{{\"metadata\":{{\"finalizers\":null}}}}'"), &[])
        .await;
    kubectl.fails(&format!("get {name} -n default"), "", &["NotFound"]).await;
}
