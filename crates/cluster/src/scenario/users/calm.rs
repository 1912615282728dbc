//! An ordinary day: small changes, at a low rate.

use serde_json::{Value, json};

use super::{Environment, text};
use crate::client::resources::{CONFIG_MAPS, JOBS, PODS};
use crate::client::rest::{DeleteOptions, Patch};
use crate::scenario::population::names;

/// Makes small changes until it is dropped.
pub async fn play(mut environment: Environment) {
    environment.rest(2500, 4000).await;
    let mut turn = 0;
    loop {
        match turn {
            0 => run_job(&mut environment).await,
            1 => delete_pod(&mut environment).await,
            2 => edit_settings(&mut environment).await,
            3 => resize(&mut environment).await,
            _ => annotate(&mut environment).await,
        }
        turn = (turn + 1) % 5;
        environment.rest(3000, 8000).await;
    }
}

/// Creates a Job of a few Pods, which take some seconds; the Job is deleted a minute after its end.
async fn run_job(environment: &mut Environment) {
    let (namespace, name) = *environment.random.pick(&names::JOBS);
    let name = format!("{name}-{}", environment.random.suffix(5));
    let (seconds, completions) = (environment.random.between(4, 12), environment.random.between(1, 3));
    let fails = environment.random.chance(15);
    let script = format!("sleep {seconds}; exit {}", u8::from(fails));
    let job = json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name, "namespace": namespace},
        "spec": {"completions": completions, "parallelism": completions, "backoffLimit": 1,
            "ttlSecondsAfterFinished": 60, "template": {"spec": {"restartPolicy": "Never", "containers": [
                {"name": "task", "image": "registry.example/tools/task:3.2", "command": ["sh", "-c", script]}]}}}});
    let _ = environment
        .client
        .with_user("system:serviceaccount:ops:cron-runner")
        .with_user_agent("cron-runner")
        .create(&JOBS, namespace, &job)
        .await;
}

/// Deletes a Pod, which its controller replaces.
async fn delete_pod(environment: &mut Environment) {
    let runs = |pod: &Value| {
        text(pod, "/metadata/ownerReferences/0/kind") == "ReplicaSet" && text(pod, "/status/phase") == "Running"
    };
    if let Some(pod) = environment.one_of(&PODS, runs).await {
        let (namespace, name) = (text(&pod, "/metadata/namespace"), text(&pod, "/metadata/name"));
        let client = environment.client.person("bob", "kubectl");
        let _ = client.delete(&PODS, namespace, name, DeleteOptions::default()).await;
    }
}

/// Edits a ConfigMap, as a program that saves its settings.
async fn edit_settings(environment: &mut Environment) {
    let (namespace, ..) = *environment.random.pick(&names::NAMESPACES);
    let client =
        environment.client.with_user("system:serviceaccount:ops:config-operator").with_user_agent("config-operator");
    let data = json!({"threshold": environment.random.between(10, 99).to_string(), "region": "demo-1"});
    let patch = json!({"data": data});
    let edited = client.patch(&CONFIG_MAPS, namespace, "settings", Patch::Merge(&patch)).await;
    if edited.is_err_and(|error| error.is_not_found()) {
        let settings = json!({"metadata": {"name": "settings", "namespace": namespace}, "data": data});
        let _ = client.create(&CONFIG_MAPS, namespace, &settings).await;
    }
}

/// Scales a Deployment by one, up or down.
async fn resize(environment: &mut Environment) {
    let Some(deployment) = environment.reserve_deployment().await else { return };
    let now = deployment.replicas();
    let replicas = if environment.random.chance(50) && now > 1 { now - 1 } else { now + 1 };
    let _ = deployment.scale(&environment.client.person("alice", "kubectl"), replicas.min(12)).await;
}

/// Annotates a Deployment, as a delivery tool.
async fn annotate(environment: &mut Environment) {
    let Some(deployment) = environment.reserve_deployment().await else { return };
    let commit = environment.random.suffix(7);
    let patch = json!({"metadata": {"annotations": {"delivery.example/commit": commit}}});
    let user = "system:serviceaccount:delivery:delivery-controller";
    let client = environment.client.with_user(user).with_user_agent("delivery-controller");
    let resource = crate::client::resources::DEPLOYMENTS;
    let _ = client.patch(&resource, deployment.namespace(), deployment.name(), Patch::Merge(&patch)).await;
}
