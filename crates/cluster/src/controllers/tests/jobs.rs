//! Jobs: Pods until enough of them have succeeded. The test plays the kubelet and the garbage collector.

use super::*;
use crate::clock::{now, timestamp};
use crate::controllers::garbage_collector::GarbageCollector;
use crate::controllers::job::Jobs;
use crate::controllers::ttl_after_finished::TtlAfterFinished;

const JOBS: &str = "/apis/batch/v1/namespaces/default/jobs";
const SUM: &str = "/apis/batch/v1/namespaces/default/jobs/sum";
const SUM_PODS: &str = "/api/v1/namespaces/default/pods?labelSelector=batch.kubernetes.io/job-name%3Dsum";

fn sum(more: &Value) -> Value {
    let container = json!({"name": "main", "image": "registry.example/sum:1"});
    let template = json!({"spec": {"restartPolicy": "Never", "containers": [container]}});
    let mut job = json!({"metadata": {"name": "sum"}, "spec": {"template": template}});
    for (field, value) in more.as_object().into_iter().flatten() {
        job["spec"][field] = value.clone();
    }
    job
}

async fn start() -> Cluster {
    Cluster::start(|manager| {
        manager.add::<Jobs>();
        manager.add::<TtlAfterFinished>();
        manager.add::<GarbageCollector>();
    })
    .await
}

/// Ends a Pod, `ago` seconds before now.
async fn end(cluster: &Cluster, pod: &Value, phase: &str, ago: i64) {
    let state = json!({"terminated": {"finishedAt": timestamp(now() - ago)}});
    let status = json!({"phase": phase, "containerStatuses": [{"name": "main", "state": state}]});
    let path = format!("{PODS}/{}/status", pod["metadata"]["name"].as_str().unwrap());
    cluster.patch(&path, &json!({"status": status})).await;
}

fn is_running(pod: &Value) -> bool {
    pod["status"]["phase"] == "Pending" && pod["metadata"]["deletionTimestamp"].is_null()
}

/// Waits until `count` Pods run, and returns them.
async fn running(cluster: &Cluster, count: usize) -> Vec<Value> {
    let number = |list: &Value| items(list).iter().filter(|pod| is_running(pod)).count();
    let list = cluster.eventually(SUM_PODS, "so many Pods run", |list| number(list) == count).await;
    items(&list).iter().filter(|pod| is_running(pod)).cloned().collect()
}

fn is(job: &Value, condition: &str) -> bool {
    let conditions = job["status"]["conditions"].as_array().into_iter().flatten();
    conditions.into_iter().any(|one| one["type"] == condition && one["status"] == "True")
}

/// The types of a Job's conditions, with their reasons.
fn conditions(job: &Value) -> Vec<String> {
    let all = job["status"]["conditions"].as_array().into_iter().flatten();
    all.map(|one| format!("{} {}", one["type"].as_str().unwrap(), one["reason"].as_str().unwrap())).collect()
}

/// Checks that no Pod has the tracking finalizer any more.
async fn nothing_is_held(cluster: &Cluster) {
    let free = |list: &Value| items(list).iter().all(|pod| pod["metadata"]["finalizers"].is_null());
    cluster.eventually(SUM_PODS, "no finalizer", free).await;
}

#[tokio::test]
async fn pods_run_until_enough_have_succeeded() {
    let cluster = start().await;
    let job = cluster.create(JOBS, &sum(&json!({"completions": 5, "parallelism": 2}))).await;
    let pods = running(&cluster, 2).await;
    let uid = job["metadata"]["uid"].as_str().unwrap();
    assert_eq!(pods[0]["metadata"]["finalizers"], json!(["batch.kubernetes.io/job-tracking"]));
    assert_eq!(
        pods[0]["metadata"]["labels"],
        json!({"batch.kubernetes.io/controller-uid": uid, "batch.kubernetes.io/job-name": "sum",
            "controller-uid": uid, "job-name": "sum"})
    );
    // A Pod that failed some time ago is replaced.
    end(&cluster, &pods[0], "Failed", 60).await;
    for left in [2, 2, 2, 2, 1] {
        let pods = running(&cluster, left).await;
        end(&cluster, &pods[0], "Succeeded", 1).await;
    }
    let job = cluster.eventually(SUM, "complete", |job| is(job, "Complete")).await;
    assert_eq!(conditions(&job), ["SuccessCriteriaMet CompletionsReached", "Complete CompletionsReached"]);
    let mut status = job["status"].clone();
    for field in ["conditions", "startTime", "completionTime"] {
        assert!(status.as_object_mut().unwrap().remove(field).is_some(), "{field}");
    }
    let expected = json!({"succeeded": 5, "failed": 1, "ready": 0, "terminating": 0, "uncountedTerminatedPods": {}});
    assert_eq!(status, expected);
    nothing_is_held(&cluster).await;
    let server = cluster.stop().await;
    assert_eq!(items(&server.get(SUM_PODS).await.1).len(), 6, "never one too many");
    assert_eq!(events(&server, "SuccessfulCreate", "sum").await.len(), 6);
    assert_eq!(events(&server, "Completed", "sum").await, ["Job completed"]);
}

#[tokio::test]
async fn each_index_succeeds_once() {
    let cluster = start().await;
    let indexed = json!({"completions": 4, "parallelism": 3, "completionMode": "Indexed"});
    cluster.create(JOBS, &sum(&indexed)).await;
    let index = |pod: &Value| {
        pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"].as_str().unwrap().to_owned()
    };
    let of = |pods: &[Value], wanted: &str| pods.iter().find(|pod| index(pod) == wanted).unwrap().clone();
    let pods = running(&cluster, 3).await;
    let zero = of(&pods, "0");
    assert!(zero["metadata"]["name"].as_str().unwrap().starts_with("sum-0-"));
    assert_eq!(zero["spec"]["hostname"], "sum-0");
    assert_eq!(zero["spec"]["containers"][0]["env"][0]["name"], "JOB_COMPLETION_INDEX");
    end(&cluster, &of(&pods, "1"), "Failed", 60).await;
    end(&cluster, &of(&pods, "2"), "Succeeded", 30).await;
    let again = |list: &Value| {
        let mut all: Vec<String> = items(list).iter().filter(|pod| is_running(pod)).map(index).collect();
        all.sort();
        all == ["0", "1", "3"]
    };
    let pods = cluster.eventually(SUM_PODS, "the failed one again, and the last", again).await;
    let pods: Vec<Value> = items(&pods).iter().filter(|pod| is_running(pod)).cloned().collect();
    end(&cluster, &of(&pods, "3"), "Succeeded", 10).await;
    cluster.eventually(SUM, "2 of 4", |job| job["status"]["completedIndexes"] == "2,3").await;
    for pod in ["0", "1"] {
        end(&cluster, &of(&pods, pod), "Succeeded", 1).await;
    }
    let job = cluster.eventually(SUM, "complete", |job| is(job, "Complete")).await;
    assert_eq!(job["status"]["completedIndexes"], "0-3");
    assert_eq!((&job["status"]["succeeded"], &job["status"]["failed"]), (&json!(4), &json!(1)));
    nothing_is_held(&cluster).await;
    cluster.stop().await;
}

#[tokio::test]
async fn too_many_failures_end_it_and_its_pods() {
    let cluster = start().await;
    cluster.create(JOBS, &sum(&json!({"backoffLimit": 1, "parallelism": 2, "completions": 4}))).await;
    for _ in 0..2 {
        let pods = running(&cluster, 2).await;
        end(&cluster, &pods[0], "Failed", 60).await;
    }
    let job = cluster.eventually(SUM, "failed", |job| is(job, "Failed")).await;
    assert_eq!(conditions(&job), ["FailureTarget BackoffLimitExceeded", "Failed BackoffLimitExceeded"]);
    assert_eq!((&job["status"]["failed"], &job["status"]["completionTime"]), (&json!(3), &Value::Null));
    running(&cluster, 0).await;
    nothing_is_held(&cluster).await;
    let server = cluster.stop().await;
    assert_eq!(events(&server, "BackoffLimitExceeded", "sum").await, ["Job has reached the specified backoff limit"]);
}

#[tokio::test]
async fn its_time_is_limited_and_so_is_what_is_left_of_it() {
    let cluster = start().await;
    cluster.create(JOBS, &sum(&json!({"activeDeadlineSeconds": 1, "ttlSecondsAfterFinished": 1}))).await;
    running(&cluster, 1).await;
    let job = cluster.eventually(SUM, "failed", |job| is(job, "Failed")).await;
    assert_eq!(conditions(&job)[1], "Failed DeadlineExceeded");
    cluster.eventually(SUM, "gone", |job| job["code"] == 404 || job["metadata"]["deletionTimestamp"].is_string()).await;
    cluster.stop().await;
}

#[tokio::test]
async fn a_suspended_one_has_no_pods_and_loses_no_count() {
    let cluster = start().await;
    cluster.create(JOBS, &sum(&json!({"completions": 3, "parallelism": 2}))).await;
    let pods = running(&cluster, 2).await;
    end(&cluster, &pods[0], "Succeeded", 1).await;
    cluster.eventually(SUM, "1 of 3", |job| job["status"]["succeeded"] == 1).await;
    running(&cluster, 2).await;
    cluster.patch(SUM, &json!({"spec": {"suspend": true}})).await;
    let job =
        cluster.eventually(SUM, "suspended", |job| is(job, "Suspended") && job["status"]["active"].is_null()).await;
    assert_eq!((&job["status"]["succeeded"], &job["status"]["failed"]), (&json!(1), &Value::Null));
    running(&cluster, 0).await;
    cluster.patch(SUM, &json!({"spec": {"suspend": false}})).await;
    for _ in 0..2 {
        let pods = cluster.eventually(SUM_PODS, "one runs", |list| items(list).iter().any(is_running)).await;
        let pod = items(&pods).iter().find(|pod| is_running(pod)).unwrap();
        end(&cluster, pod, "Succeeded", 0).await;
    }
    let job = cluster.eventually(SUM, "complete", |job| is(job, "Complete")).await;
    assert_eq!(conditions(&job)[0], "Suspended JobResumed");
    assert_eq!(job["status"]["succeeded"], 3);
    let server = cluster.stop().await;
    assert_eq!(events(&server, "Suspended", "sum").await, ["Job suspended"]);
    assert_eq!(events(&server, "Resumed", "sum").await, ["Job resumed"]);
}

#[tokio::test]
async fn pods_are_not_held_for_a_job_that_is_gone() {
    let cluster = start().await;
    cluster.create(JOBS, &sum(&Value::Null)).await;
    running(&cluster, 1).await;
    cluster.server.delete(&format!("{SUM}?propagationPolicy=Background")).await;
    cluster.eventually(SUM, "gone", |job| job["code"] == 404).await;
    let gone = |list: &Value| items(list).is_empty();
    cluster.eventually(SUM_PODS, "none", gone).await;
    cluster.stop().await;
}
