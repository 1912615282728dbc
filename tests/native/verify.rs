//! The page says why something cannot be verified.

use std::time::Duration;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::wait::{holds, wait_until};
use kubechurn_model::page::command::{Command, List};

use crate::page::with_page;

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn what_is_stale_or_may_not_be_listed_is_not_verified() {
    let mut cluster = Cluster::start(&Options { pods: 60, bookmark_seconds: 1, ..Options::default() }).await;
    with_page(cluster.port(), "#/pods", async |page| {
        page.reaches("pods", "live", PATIENCE).await;
        page.command(Command::List(List::Verified, true));
        let says = async |words: &str| {
            page.command(Command::Verify);
            wait_until(words, PATIENCE, async || {
                let told = page.view(|view| view.footer.verified.clone());
                let items: String = told.items.iter().map(|item| item.words.as_str()).collect();
                holds(told.label.starts_with("not verified") && items.contains(words), || format!("{told:?}"))
            })
            .await;
        };
        cluster.control("fault?status=403&verb=list&resource=pods").await;
        says("this may be watched, and not listed").await;
        cluster.control("clear").await;
        page.command(Command::TogglePause);
        says("paused: what was received is not applied").await;
        page.command(Command::TogglePause);
        cluster.kill().await;
        page.is_left_with("pods", PATIENCE).await;
        says("stale: what is shown is not known to be true").await;
        assert_eq!(page.field("pods", "verified")["checks"], 0);
    })
    .await;
}
