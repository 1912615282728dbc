//! A page on which nothing happens is woken seldom, and draws only what is new.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::measure::wakes::{WAKES, Wakes};
use kubechurn_harness::page::{INSTRUMENTS, Page, with_page_in};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::turn;
use kubechurn_harness::wait::{holds, wait_until};

/// Waits until this many more timers have fired. Returns how long that took, in seconds, and what happened meanwhile.
async fn timers(page: &Page, count: u32) -> (f64, Wakes) {
    let now = async || page.read::<f64>("return performance.now() / 1000", Vec::new()).await;
    let (before, began) = (Wakes::read(&page.browser).await, now().await);
    wait_until(&format!("{count} timers"), Duration::from_secs(45 * u64::from(count)), async || {
        let wakes = Wakes::read(&page.browser).await.since(before);
        holds(wakes.timers >= count, || format!("{wakes:?}"))
    })
    .await;
    (now().await - began, Wakes::read(&page.browser).await.since(before))
}

#[tokio::test]
async fn a_quiet_page_wakes_a_few_times_in_ten_seconds_and_a_hidden_one_less() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 60, bookmark_seconds: 60, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    let browser = Browser::start(&format!("{INSTRUMENTS}{WAKES}")).await;
    let name = "a_quiet_page_wakes_a_few_times_in_ten_seconds_and_a_hidden_one_less";
    with_page_in(browser, name, &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        // While the marks of the list move over the timeline, and while ages are young, it is once a second.
        timers(page, 8).await;
        let (seconds, wakes) = timers(page, 12).await;
        println!("after the list: {wakes:?} in {seconds:.1} s");
        assert!(seconds >= 7.0, "{wakes:?} in {seconds} s");
        assert!(f64::from(wakes.frames) <= seconds * 1.3 + 2.0, "{wakes:?} in {seconds} s");
        let now = "return performance.now() / 1000";
        wait_until("the list is two minutes ago", Duration::from_secs(150), async || {
            let now: f64 = page.read(now, Vec::new()).await;
            holds(now > 130.0, || format!("{now} s"))
        })
        .await;
        let (seconds, wakes) = timers(page, 8).await;
        println!("in sight: {wakes:?} in {seconds:.1} s");
        assert!(seconds >= 12.0, "{wakes:?} in {seconds} s");
        assert!(wakes.frames <= wakes.timers + 6, "{wakes:?} in {seconds} s");
        assert!(wakes.changes > 0, "the age of the last proof is shown");
        assert_eq!(page.status_of("pods").await.map(|status| status.state).as_deref(), Some("live"));

        page.browser.hide().await;
        page.becomes("hidden", "return document.visibilityState", json!("hidden")).await;
        // The tick and the frame that were asked for before still come, and the question about the watch that hiding asks.
        timers(page, 4).await;
        // The server is asked about the watch each ten seconds.
        let (seconds, wakes) = timers(page, 4).await;
        println!("hidden: {wakes:?} in {seconds:.1} s");
        assert!(seconds >= 29.0, "{wakes:?} in {seconds} s");
        assert!(wakes.frames == 0 && wakes.changes == 0, "nobody sees it: {wakes:?}");
        page.browser.show().await;
        page.becomes("shown", "return document.visibilityState", json!("visible")).await;
        let (seconds, wakes) = timers(page, 5).await;
        assert!(seconds <= 25.0 && wakes.changes > 0, "{wakes:?} in {seconds} s");
        assert_eq!(page.status_of("pods").await.map(|status| status.state).as_deref(), Some("live"));
    })
    .await;
}
