//! `kubectl logs`, as it is typed.

use crate::session::Session;

#[tokio::test]
async fn logs_are_read_followed_and_refused() {
    let kubectl = Session::start_alive("logs").await;
    for (line, expected) in [
        ("run web --image=registry.example/web:1 -n default", &["created"][..]),
        ("wait --for=condition=Ready pod/web -n default --timeout=50s", &["condition met"]),
        ("logs web -n default", &["web starts, image", "listening on :8080"]),
        ("logs web -n default --limit-bytes=10", &["web starts"]),
        ("logs web -n default --timestamps --since=1h", &["Z web starts"]),
        ("run crash --image=x -n default --command -- sh -c 'exit 3'", &["created"]),
        (
            "wait --for=jsonpath={.status.containerStatuses[0].state.waiting.reason}=CrashLoopBackOff pod/crash -n default --timeout=50s",
            &["condition met"],
        ),
        ("logs crash -n default --previous", &["fatal: cannot go on, exit 3"]),
        ("logs crash -n default", &["fatal: cannot go on, exit 3"]),
        ("run once --image=x --restart=Never -n default --command -- sleep 1", &["created"]),
        ("wait --for=jsonpath={.status.phase}=Running pod/once -n default --timeout=50s", &["condition met"]),
        ("logs once -n default --follow", &["drained, exit 0"]),
    ] {
        kubectl.check(line, expected).await;
    }
    let none = &["previous terminated container \"web\" in pod \"web\" not found"];
    kubectl.fails("logs web -n default --previous", "", none).await;
    kubectl.fails("logs web -n default -c nosuch", "", &["container nosuch is not valid for pod web"]).await;
    kubectl.order("forbid?resource=pods/log").await;
    kubectl.fails("logs web -n default", "", &["cannot get resource \"pods/log\""]).await;
}
