//! The page's account of what it received, compared with the cluster's account of what it sent. `tests/native/sent.rs` has
//! frames that are malformed.

use std::collections::BTreeMap;
use std::time::Duration;

use kubechurn_harness::cluster::{Cluster, Options, Sent};
use kubechurn_harness::handles::Status;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

const RATE: u32 = 100;
/// How long a page may take to be live.
const RECOVERY: Duration = Duration::from_secs(20);

fn busy() -> Options {
    Options { pods: 300, rate: RATE, bookmark_seconds: 2, ..Options::default() }
}

#[tokio::test]
async fn every_frame_is_a_mark_or_a_bookmark() {
    let (_turn, cluster, proxy) = started(&busy()).await;
    with_page("every_frame_is_a_mark_or_a_bookmark", &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", RECOVERY).await;
        cluster.advance(5 * u64::from(RATE), RATE).await;
        cluster.rate(0).await;
        let (sent, status) = everything_arrived(page, &cluster).await;
        assert!(sent.iter().all(|one| one.connection == sent[0].connection), "one page has one connection");
        assert_eq!(counter(&status, "bookmarks"), of_type(&sent, &["BOOKMARK"]), "bookmarks");

        // The events of a streaming list get their marks when the list ends, like the items of a list.
        let events: Vec<&Sent> = sent.iter().filter(|one| one.kind != "BOOKMARK").collect();
        let streamed = counter(&status, "streamed") as usize;
        let mut balance = BTreeMap::<(String, String, String), i32>::new();
        for (index, one) in events.iter().enumerate() {
            let kind = match one.kind.as_str() {
                _ if index < streamed => "Replaced",
                "ADDED" => "Added",
                "MODIFIED" => "Updated",
                "DELETED" => "Deleted",
                other => panic!("a quiet connection sent {other}"),
            };
            let key = (kind.to_owned(), one.resource_version.clone(), one.uid.clone().unwrap_or_default());
            *balance.entry(key).or_default() += 1;
        }
        assert!(events.len() > streamed + 100, "{} events, {streamed} of them streamed: too little", events.len());
        // A frame is counted when it is received. Its mark follows with the next frame of the screen, when the timeline
        // is notified.
        wait_until("every frame has its mark", Duration::from_secs(10), async || {
            let (marks, mut balance) = (page.marks("pods").await, balance.clone());
            for mark in marks.iter().filter(|mark| !["Relist", "Gap"].contains(&mark.kind.as_str())) {
                // Without a streaming list, the first marks are those of a list's items, which are no frames.
                if streamed == 0 && mark.kind == "Replaced" {
                    continue;
                }
                let version = mark.resource_version.as_deref().unwrap_or_default();
                let key = (mark.kind.clone(), version.to_owned(), mark.uid.clone().unwrap_or_default());
                *balance.entry(key).or_default() -= 1;
            }
            balance.retain(|_, count| *count != 0);
            let some: Vec<_> = balance.iter().take(5).collect();
            holds(balance.is_empty(), || format!("{} frames (+) or marks (-) stand alone: {some:?}", balance.len()))
        })
        .await;
    })
    .await;
}

/// Waits until the page has counted every frame that was sent to it.
async fn everything_arrived(page: &Page, cluster: &Cluster) -> (Vec<Sent>, Status) {
    wait_until("every frame has arrived", Duration::from_secs(20), async || {
        // A bookmark may be sent between the two readings.
        let sent = cluster.frames("pods").await;
        let status = page.status_of("pods").await.ok_or_else(|| "no status".to_owned())?;
        let received = counter(&status, "frames");
        if received == sent.len() as u64 {
            return Ok((sent, status));
        }
        Err(format!("{received} of {} frames", sent.len()))
    })
    .await
}

fn counter(status: &Status, name: &str) -> u64 {
    status.ledger[name].as_u64().unwrap_or_else(|| panic!("no {name} in {}", status.ledger))
}

fn of_type(sent: &[Sent], types: &[&str]) -> u64 {
    sent.iter().filter(|one| types.contains(&one.kind.as_str())).count() as u64
}
