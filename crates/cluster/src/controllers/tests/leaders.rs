//! Several managers, of which one runs the controllers.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use axum::extract::Request;
use axum::http::Method;
use axum::middleware::Next;
use tokio::task::LocalSet;
use tokio::time::Instant;

use super::*;
use crate::client::resources::LEASES;
use crate::client::rest::Client;
use crate::controllers::events::EventSink;
use crate::controllers::leader_election::{LeaderElector, Timing};
use crate::controllers::replica_set::ReplicaSets;
use crate::tests::serve_from_memory;

const LEASE: &str = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-controller-manager";

fn elector(client: &Client, identity: &str) -> LeaderElector {
    let recorder = EventSink::default().recorder("tester", "");
    LeaderElector::new(client.clone(), recorder, "kube-controller-manager", identity.to_owned(), Timing::default())
}

/// The holder of the Lease, and the number of transitions.
async fn lease(client: &Client) -> (String, u64) {
    let lease = client.get(&LEASES, "kube-system", "kube-controller-manager").await;
    let spec = lease.unwrap()["spec"].clone();
    (spec["holderIdentity"].as_str().unwrap().to_owned(), spec["leaseTransitions"].as_u64().unwrap())
}

#[tokio::test(start_paused = true)]
async fn who_does_not_renew_is_replaced_and_learns_of_it() {
    let server = serve_from_memory(quiet()).await;
    let client = Client::new(server::router(server.app.clone()), "kube-controller-manager");
    let check = async {
        let (mut one, mut two) = (elector(&client, "one"), elector(&client, "two"));
        one.acquire().await;
        assert_eq!(lease(&client).await, ("one".to_owned(), 0));
        // While the first candidate renews, the second one waits, however long that takes.
        let long = 4 * Timing::default().lease;
        tokio::select! {
            () = two.acquire() => unreachable!("there is a leader"),
            () = one.renew() => unreachable!("nobody took it"),
            () = tokio::time::sleep(long) => {}
        }
        let since = Instant::now();
        two.acquire().await;
        // The second leads only after the Lease has expired, at its next attempt.
        let waited = since.elapsed().as_secs_f64();
        assert!((15.0 - 2.0..15.0 + 2.0 * 2.2).contains(&waited), "{waited}");
        assert_eq!(lease(&client).await, ("two".to_owned(), 1));
        let since = Instant::now();
        tokio::select! {
            () = one.renew() => {}
            () = two.renew() => unreachable!("it renews"),
        }
        assert!(since.elapsed() <= Timing::default().renew + Duration::from_secs(1), "a leader that lost it knows");
        // After a release, another candidate leads at its next attempt.
        two.release().await;
        assert_eq!(lease(&client).await, (String::new(), 1));
        let since = Instant::now();
        one.acquire().await;
        assert!(since.elapsed() < Duration::from_secs(5));
        assert_eq!(lease(&client).await, ("one".to_owned(), 2));
    };
    LocalSet::new().run_until(check).await;
}

#[tokio::test(start_paused = true)]
async fn a_renewal_that_comes_late_does_not_keep_the_lease() {
    let server = serve_from_memory(quiet()).await;
    let router = server::router(server.app.clone());
    let client = Client::new(router.clone(), "kube-controller-manager");
    // Before each of the first three writes of the Lease, another renewal of the same leader is carried out.
    let left = Arc::new(AtomicUsize::new(3));
    let overtaken = {
        let (client, left) = (client.clone(), Arc::clone(&left));
        axum::middleware::from_fn(move |request: Request, next: Next| {
            let (client, left) = (client.clone(), Arc::clone(&left));
            async move {
                let before = left.load(SeqCst);
                if request.method() == Method::PUT && before > 0 {
                    left.store(before - 1, SeqCst);
                    let mut lease = client.get(&LEASES, "kube-system", "kube-controller-manager").await.unwrap();
                    lease["spec"]["renewTime"] = format!("2026-01-01T00:00:0{before}.000000Z").into();
                    client.update(&LEASES, &lease).await.unwrap();
                }
                next.run(request).await
            }
        })
    };
    let check = async {
        let mut one = elector(&Client::new(router.layer(overtaken), "kube-controller-manager"), "one");
        one.acquire().await;
        one.release().await;
        assert_eq!(lease(&client).await, (String::new(), 0));
        assert_eq!(left.load(SeqCst), 0, "it was overtaken");
    };
    LocalSet::new().run_until(check).await;
}

#[tokio::test]
async fn the_second_manager_takes_over_when_the_first_one_stops() {
    let server = serve(quiet()).await;
    let start = || {
        let retry = Duration::from_millis(20);
        let lease = Timing { lease: Duration::from_secs(60), renew: Duration::from_secs(30), retry };
        let options = Options { seed: 1, lease: Some(lease), ..Options::default() };
        let add = |manager: &mut Manager| manager.add::<ReplicaSets>();
        manager::start(server::router(server.app.clone()), options, add).unwrap()
    };
    let holder = |lease: &Value| lease["spec"]["holderIdentity"].as_str().unwrap_or_default().to_owned();
    let is_held = |lease: &Value| !holder(lease).is_empty();
    let first = start();
    let leader = holder(&eventually(&server, LEASE, "held", is_held).await);
    let second = start();
    let sets = |name: &str| json!({"metadata": {"name": name}, "spec": spec(name, 2)});
    let is_full = |set: &Value| set["status"]["replicas"] == 2;
    assert_eq!(server.post(REPLICA_SETS, &sets("one")).await.0, 201);
    eventually(&server, &format!("{REPLICA_SETS}/one"), "2 replicas", is_full).await;
    first.stop().await;
    let other = eventually(&server, LEASE, "another's", |lease| is_held(lease) && holder(lease) != leader).await;
    assert_eq!(other["spec"]["leaseTransitions"], 1);
    assert_eq!(server.post(REPLICA_SETS, &sets("two")).await.0, 201);
    eventually(&server, &format!("{REPLICA_SETS}/two"), "2 replicas", is_full).await;
    let (_, list) = server.get(&format!("{PODS}?labelSelector=app")).await;
    assert_eq!(items(&list).len(), 4, "nobody did it twice");
    second.stop().await;
    let (_, lease) = server.get(LEASE).await;
    assert_eq!(holder(&lease), "", "it is given back");
}
