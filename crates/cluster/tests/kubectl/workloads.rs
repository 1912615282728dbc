//! Rollouts of StatefulSets and DaemonSets, and Jobs that CronJobs make.

use crate::session::Session;

const WORKLOADS: &str = include_str!("manifests/workloads.yaml");

#[tokio::test]
async fn stateful_sets_and_daemon_sets_roll_out_and_back() {
    let kubectl = Session::start_alive("workloads").await;
    kubectl.check_with("apply -f -", WORKLOADS, &["statefulset.apps/db created", "daemonset.apps/log created"]).await;
    for (line, expected) in [
        ("rollout status sts/db -n default --timeout=50s", &["roll out complete: 2 new pods"][..]),
        ("rollout status ds/log -n default --timeout=50s", &["daemon set \"log\" successfully rolled out"]),
        ("get pods db-0 db-1 -n default", &["db-0 1/1 Running 0", "db-1 1/1 Running 0"]),
        ("get pvc -n default", &["data-db-0 Bound pvc-", "data-db-1 Bound pvc-"]),
        ("set image sts/db ds/log -n default main=registry.example/main:2", &["db image updated", "log image updated"]),
        ("rollout status sts/db -n default --timeout=50s", &["roll out complete: 2 new pods"]),
        ("rollout status ds/log -n default --timeout=50s", &["successfully rolled out"]),
        ("rollout history sts/db -n default", &["1 <none>", "2 <none>"]),
        ("rollout history ds/log -n default --revision=1", &["registry.example/log:1"]),
        ("rollout undo sts/db -n default", &["statefulset.apps/db rolled back"]),
        ("rollout undo ds/log -n default", &["daemonset.apps/log rolled back"]),
        ("rollout status sts/db -n default --timeout=50s", &["roll out complete: 2 new pods"]),
        ("rollout status ds/log -n default --timeout=50s", &["successfully rolled out"]),
        ("get sts,ds -n default -o wide", &["registry.example/db:1", "registry.example/log:1"]),
        // After a rollback, an earlier revision is the newest again, under its own name.
        ("get controllerrevisions -n default -l app=db --sort-by=.revision", &["statefulset.apps/db 3"]),
        ("rollout restart sts/db ds/log -n default", &["db restarted", "log restarted"]),
        ("rollout status sts/db -n default --timeout=50s", &["roll out complete: 2 new pods"]),
        ("rollout status ds/log -n default --timeout=50s", &["successfully rolled out"]),
        ("get events -n default", &["create Pod db-1 in StatefulSet db successful", "daemonset/log Created pod: log-"]),
    ] {
        kubectl.check(line, expected).await;
    }
}

#[tokio::test]
async fn a_cron_job_makes_jobs() {
    let kubectl = Session::start_alive("cron").await;
    for (line, expected) in [
        (
            "create cronjob tick --image=x --schedule '*/1 * * * *' -n default -- sleep 1",
            &["cronjob.batch/tick created"][..],
        ),
        ("create job now --from=cronjob/tick -n default", &["job.batch/now created"]),
        ("wait --for=condition=Complete job/now -n default --timeout=50s", &["condition met"]),
        ("get job now -n default", &["now Complete 1/1"]),
        ("delete cronjob tick -n default --cascade=foreground --wait", &["\"tick\" deleted"]),
    ] {
        kubectl.check(line, expected).await;
    }
}
