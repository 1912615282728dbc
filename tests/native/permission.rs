//! What the server forbids is reported in the server's words, affects no other resource, and ends by itself.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::{Page, with_page};

/// A refused request is sent again after half a minute at the latest, of which the page's clock is moved on.
const SECOND_TRY: Duration = Duration::from_secs(30);

#[tokio::test]
async fn watching_pods_is_forbidden() {
    forbidden(&["watch"]).await;
}

#[tokio::test]
async fn listing_and_watching_pods_are_forbidden() {
    forbidden(&["list", "watch"]).await;
}

async fn forbidden(verbs: &[&str]) {
    let cluster = Cluster::start(&Options::default()).await;
    for verb in verbs {
        cluster.control(&format!("forbid?verb={verb}&resource=pods")).await;
    }
    with_page(cluster.port(), "#/pods?pin=deployments", async |page| {
        let status = page.reaches("pods", "forbidden", Duration::from_secs(15)).await;
        let message = status.message.unwrap_or_default();
        let refused = |text: &str| verbs.iter().any(|verb| text.contains(&format!("cannot {verb} resource \"pods\"")));
        assert!(refused(&message), "status: {message}");
        wait_until("the page says why", Duration::from_secs(2), async || {
            let notice = notice(page);
            holds(refused(&notice), || notice)
        })
        .await;
        assert_eq!(page.view(|view| view.header.connection.state), "forbidden");

        deployments_are_followed(page, &cluster).await;
        let status = page.status_of("pods");
        assert_eq!(status.map(|status| status.state).as_deref(), Some("forbidden"), "Pods are still forbidden");

        for verb in verbs {
            cluster.control(&format!("allow?verb={verb}&resource=pods")).await;
        }
        page.comes_to("pods", "live", SECOND_TRY).await;
        page.shows("pods", &cluster.list("/api/v1/pods").await, Duration::from_secs(5)).await;
        wait_until("the notice is gone", Duration::from_secs(2), async || {
            let notice = notice(page);
            holds(!refused(&notice), || notice)
        })
        .await;
    })
    .await;
}

/// A change of a Deployment reaches the page.
async fn deployments_are_followed(page: &Page, cluster: &Cluster) {
    page.reaches("deployments", "live", Duration::from_secs(10)).await;
    let path = "/apis/apps/v1/deployments";
    let key = cluster.list(path).await.last_key().to_owned();
    let (namespace, name) = key.split_once('/').expect("a Deployment has a namespace");
    let patch = json!({ "metadata": { "annotations": { "kubechurn.test/touched": "yes" } } });
    cluster.patch(&format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}"), &patch).await;
    page.shows("deployments", &cluster.list(path).await, Duration::from_secs(5)).await;
}

/// What the page says above the rows.
fn notice(page: &Page) -> String {
    page.view(|view| view.table.trouble.iter().map(|trouble| trouble.words.clone()).collect())
}

/// What the page says in bold above the rows.
fn what(page: &Page) -> Vec<String> {
    page.view(|view| view.table.trouble.iter().map(|trouble| trouble.what.clone()).collect())
}

/// List and watch are two permissions, and each namespace has its own: all that are refused are named, with what to ask for.
/// What may be listed and not watched is listed once, and not with every attempt to watch it.
#[tokio::test]
async fn each_refused_namespace_is_named_with_what_to_ask_for() {
    let cluster = Cluster::start(&Options::default()).await;
    let pods = cluster.list("/api/v1/pods").await;
    let mut namespaces: Vec<String> =
        pods.in_order().into_iter().filter_map(|key| Some(key.split_once('/')?.0.to_owned())).collect();
    namespaces.dedup();
    namespaces.truncate(3);
    let [one, two, three] = &namespaces[..] else { panic!("there are three namespaces: {namespaces:?}") };
    cluster.control(&format!("fault?status=403&verb=watch&resource=pods&namespace={one}")).await;
    for verb in ["list", "watch"] {
        cluster.control(&format!("fault?status=403&verb={verb}&resource=pods&namespace={three}")).await;
    }
    with_page(cluster.port(), &format!("#/pods?ns={one},{two},{three}"), async |page| {
        wait_until("both refused namespaces are named", Duration::from_secs(15), async || {
            let said = what(page);
            let of_three = format!("Pods in {three}: forbidden. Ask for list and watch of pods in namespace {three}");
            let of_one = |said: &String| {
                said.starts_with(&format!("Pods in {one}: as of "))
                    && said.ends_with(&format!("for they may not be watched. Ask for watch of pods in namespace {one}"))
            };
            holds(said.len() == 2 && said.contains(&of_three) && said.iter().any(of_one), || format!("{said:?}"))
        })
        .await;
        let lists = || {
            let place = page.place();
            let sent = place.sent.borrow();
            let is_it = |url: &str| url.contains(&format!("/namespaces/{one}/pods?")) && !url.contains("watch=true");
            sent.iter().filter(|(_, url)| is_it(url)).count()
        };
        let watches = || {
            let place = page.place();
            let sent = place.sent.borrow();
            let is_it = |url: &str| url.contains(&format!("/namespaces/{one}/pods?")) && url.contains("watch=true");
            sent.iter().filter(|(_, url)| is_it(url)).count()
        };
        page.in_time("the watch was asked for four times", Duration::from_secs(20), async || {
            holds(watches() >= 4, || watches().to_string())
        })
        .await;
        assert_eq!(lists(), 1, "one list serves until the next is worth it");
        let rows = page.rows("pods");
        assert!(rows.iter().any(|row| row.key.starts_with(&format!("{one}/"))), "what was listed is shown");
        assert_eq!(page.view(|view| view.header.connection.state), "forbidden");
    })
    .await;
}

/// A credential that is not taken is no missing permission.
#[tokio::test]
async fn a_credential_that_is_not_taken_is_said_so_and_the_watch_goes_on() {
    let cluster = Cluster::start(&Options::default()).await;
    with_page(cluster.port(), "#/pods", async |page| {
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        cluster.control("fault?status=401&resource=pods").await;
        cluster.control("cut").await;
        page.comes_to("pods", "unauthorized", SECOND_TRY).await;
        wait_until("the page says what to do", Duration::from_secs(5), async || {
            let said = what(page);
            let is_it = |said: &String| said.contains("the server does not take your credential");
            holds(said.iter().any(is_it) && !said.concat().contains("allowed"), || format!("{said:?}"))
        })
        .await;
    })
    .await;
}
