//! A streaming list that takes long shows what has arrived, how many objects that is, and of about how many.
//! `tests/browser/table/listing.rs` has one that is fetched, the width of the bar, and the rows in the document.

use std::time::Duration;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::{Page, with_page};

const SOON: Duration = Duration::from_secs(20);
/// The longest time that a list of all Pods takes with the fault below.
const LONG: Duration = Duration::from_secs(60);
/// What makes a streaming list of Pods last: each object arrives by itself, a little later than the one before.
const TRICKLES: &str = "fault?frame=delay&delay-ms=4&resource=pods&verb=watch&user-agent=Mozilla";

/// How many requests for the number of Pods the page has sent.
fn questions(page: &Page) -> usize {
    let place = page.place();
    let sent = place.sent.borrow();
    sent.iter().filter(|(_, url)| url.contains("/api/v1/pods?") && url.ends_with("limit=1")).count()
}

#[tokio::test]
async fn a_streaming_list_that_lasts_says_of_about_how_many() {
    let cluster = Cluster::start(&Options { pods: 1_500, ..Options::default() }).await;
    let proxy = KubectlProxy::start_plain(cluster.port()).await;
    with_page(proxy.port(), "?list=stream#/nodes", async |page| {
        page.reaches("nodes", "live", SOON).await;
        cluster.control(TRICKLES).await;
        let truth = cluster.list("/api/v1/pods").await;
        let count = truth.count();
        let about = format!("of about {},{:03}", count / 1000, count % 1000);
        page.open("#/pods");
        wait_until("the page shows how far the list has come", SOON, async || {
            page.view(|view| {
                let connection = &view.header.connection;
                let is_so = view.table.listing.as_ref().is_some_and(|listing| {
                    (1..count as u64).contains(&listing.listed)
                        && listing.about == count as u64
                        && listing.words.ends_with(&about)
                }) && connection.state == "listing"
                    && connection.detail.ends_with(&about)
                    && view.rows.empty.is_none()
                    && view.table.provisional.ends_with(" provisional rows");
                holds(is_so, || format!("{:?}, {:?}", *view.table.listing, **connection))
            })
        })
        .await;
        page.reaches("pods", "live", LONG).await;
        page.shows("pods", &truth, SOON).await;
        wait_until("the bar is gone", SOON, async || {
            page.view(|view| holds(view.table.listing.is_none(), || format!("{:?}", *view.table.listing)))
        })
        .await;
        assert_eq!(questions(page), 1, "one request for one list: {:?}", page.place().sent.borrow());
        let ledger = page.status_of("pods").expect("Pods are watched").ledger;
        assert!(ledger["streamed"].as_u64() >= Some(count as u64), "the list was streamed: {ledger}");

        // A user who may not ask for the number sees how many have arrived, and nothing else is different.
        cluster.control("forbid?verb=list&resource=pods").await;
        page.reload();
        wait_until("the page shows how many objects have arrived", SOON, async || {
            let (detail, asked) = (page.view(|view| view.header.connection.detail.clone()), questions(page));
            holds(detail.ends_with("so far") && asked == 2, || format!("{detail}, {asked}"))
        })
        .await;
        assert!(page.view(|view| view.table.listing.is_none()), "the page does not know of how many");
        page.reaches("pods", "live", LONG).await;
        page.shows("pods", &truth, SOON).await;
        page.is_balanced().await;
        assert_eq!(questions(page), 2, "the number is not requested again");
    })
    .await;
}
