//! Workloads with running controllers and kubelets: the state that users wait for is reached.

use crate::session::Session;

const WEB: &str = include_str!("manifests/web.yaml");

#[tokio::test]
async fn a_deployment_rolls_out() {
    let kubectl = Session::start_alive("rolls").await;
    for (line, expected) in [
        ("create deployment api --image=registry.example/api:1 --replicas=3 -n default", &["created"][..]),
        ("rollout status deployment/api -n default --timeout=50s", &["deployment \"api\" successfully rolled out"]),
        ("wait --for=condition=Available deployment/api -n default --timeout=50s", &["condition met"]),
        ("get deployment api -n default", &["api 3/3 3 3"]),
        ("get pods -n default -l app=api -o wide", &["1/1 Running 0"]),
        ("scale deployment api -n default --replicas=5", &["scaled"]),
        ("rollout status deployment/api -n default --timeout=50s", &["successfully rolled out"]),
        ("set image deployment/api -n default api=registry.example/api:2", &["image updated"]),
        ("rollout status deployment/api -n default --timeout=50s", &["successfully rolled out"]),
        ("rollout restart deployment/api -n default", &["restarted"]),
        ("rollout status deployment/api -n default --timeout=50s", &["successfully rolled out"]),
        ("rollout history deployment/api -n default", &["REVISION CHANGE-CAUSE", "1 <none>", "2 <none>", "3 <none>"]),
        ("rollout undo deployment/api -n default --to-revision=1", &["deployment.apps/api rolled back"]),
        ("rollout status deployment/api -n default --timeout=50s", &["successfully rolled out"]),
        ("get deployment api -n default -o wide", &["api 5/5 5 5", "registry.example/api:1"]),
        ("get rs -n default -l app=api -o wide", &["registry.example/api:1", "registry.example/api:2"]),
        ("get events -n default", &["ScalingReplicaSet", "SuccessfulCreate", "Scheduled", "Started", "Killing"]),
        ("describe deployment api -n default", &["Available True MinimumReplicasAvailable", "NewReplicaSet: api-"]),
        ("expose deployment api -n default --port=80", &["exposed"]),
        ("delete deployment api -n default --wait", &["deleted"]),
        ("wait --for=delete pods -l app=api -n default --timeout=50s", &[]),
        ("get rs,pods -n default -l app=api", &["No resources found"]),
    ] {
        kubectl.check(line, expected).await;
    }
}

#[tokio::test]
async fn what_is_applied_runs_and_what_is_broken_says_so() {
    let kubectl = Session::start_alive("runs").await;
    kubectl.check_with("apply -f -", WEB, &["deployment.apps/web created"]).await;
    kubectl.check("rollout status deployment/web -n default --timeout=50s", &["successfully rolled out"]).await;
    kubectl.check_with("apply -f -", WEB, &["deployment.apps/web unchanged"]).await;
    for (line, expected) in [
        ("run bad --image=registry.example/bad:1-nosuch -n default", &["pod/bad created"][..]),
        (
            "wait --for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=ErrImagePull pod/bad -n default --timeout=50s",
            &["condition met"],
        ),
        ("run crash --image=x -n default --command -- sh -c 'exit 1'", &["pod/crash created"]),
        (
            "wait --for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=CrashLoopBackOff pod/crash -n default --timeout=50s",
            &["condition met"],
        ),
        ("run once --image=x --restart=Never -n default --command -- sleep 1", &["pod/once created"]),
        ("wait --for=jsonpath={.status.phase}=Succeeded pod/once -n default --timeout=50s", &["condition met"]),
        ("get pod once -n default", &["once 0/1 Completed 0"]),
        ("create job j --image=x -n default -- sleep 1", &["job.batch/j created"]),
        ("wait --for=condition=Complete job/j -n default --timeout=50s", &["condition met"]),
        ("get job j -n default", &["j Complete 1/1"]),
        ("delete pod bad crash once -n default --wait", &["\"bad\" deleted", "\"crash\" deleted", "\"once\" deleted"]),
        ("delete job j -n default --wait", &["deleted"]),
    ] {
        kubectl.check(line, expected).await;
    }
}

#[tokio::test]
async fn namespaces_and_owners_go_with_what_they_have() {
    let kubectl = Session::start_alive("goes").await;
    let pod = kubectl.check("get pods -n shop -o name", &[]).await.lines().next().unwrap_or_default().to_owned();
    for (line, expected) in [
        (&*format!("delete {pod} -n shop --wait --timeout=50s"), &["deleted"][..]),
        ("create namespace tmp", &["namespace/tmp created"]),
        (
            "wait --for=jsonpath={.metadata.name}=default serviceaccount/default -n tmp --timeout=50s",
            &["condition met"],
        ),
        ("create deployment one --image=x --replicas=2 -n tmp", &["created"]),
        ("rollout status deployment/one -n tmp --timeout=50s", &["successfully rolled out"]),
        ("delete namespace tmp --wait --timeout=50s", &["namespace \"tmp\" deleted"]),
        ("get all -n tmp", &["No resources found"]),
        ("cordon -l node-role.kubernetes.io/worker", &["cordoned"]),
        ("run waits --image=x -n default", &["created"]),
        ("wait --for=condition=PodScheduled=False pod/waits -n default --timeout=50s", &["condition met"]),
        ("uncordon -l node-role.kubernetes.io/worker", &["uncordoned"]),
        ("wait --for=condition=Ready pod/waits -n default --timeout=50s", &["condition met"]),
    ] {
        kubectl.check(line, expected).await;
    }
    let node = kubectl.check("get pods waits -n default -o jsonpath={.spec.nodeName}", &[]).await;
    kubectl.check(&format!("drain {} --force --ignore-daemonsets --timeout=50s", node.trim()), &["drained"]).await;
}
