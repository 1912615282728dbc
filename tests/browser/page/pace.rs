//! A stream of changes is shown eight times a second, whatever the user has done before.

use std::time::Duration;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::Options;
use kubechurn_harness::measure::wakes::{WAKES, Wakes};
use kubechurn_harness::page::{INSTRUMENTS, with_page_in};

use crate::page::live::started;

const RATE: u32 = 300;
/// The seconds of the stream in which frames are counted.
const SECONDS: u64 = 5;

#[tokio::test]
async fn what_the_user_does_has_its_frame_and_leaves_the_pace_as_it_was() {
    let (_turn, cluster, proxy) = started(&Options { pods: 300, rate: RATE, ..Options::default() }).await;
    let browser = Browser::start(&format!("{INSTRUMENTS}{WAKES}")).await;
    let name = "what_the_user_does_has_its_frame_and_leaves_the_pace_as_it_was";
    with_page_in(browser, name, &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        cluster.advance(u64::from(RATE), RATE).await;
        // Each key is answered by a frame at once, which takes the place of one that was asked for with a timer.
        for key in "jkjkjkjkjkjkjkjkjkjk".chars() {
            let before = Wakes::read(&page.browser).await.frames;
            page.press(&key.to_string()).await;
            page.becomes("the key has its frame", &format!("return __wakes.frames > {before}"), true.into()).await;
        }
        let now = async || page.read::<f64>("return performance.now() / 1000", Vec::new()).await;
        let (before, began) = (Wakes::read(&page.browser).await, now().await);
        cluster.advance(SECONDS * u64::from(RATE), RATE).await;
        let (wakes, seconds) = (Wakes::read(&page.browser).await.since(before), now().await - began);
        println!("{wakes:?} in {seconds:.1} s");
        assert!(wakes.frames >= 5, "the stream is shown: {wakes:?} in {seconds:.1} s");
        assert!(f64::from(wakes.frames) <= seconds * 10.5 + 5.0, "{wakes:?} in {seconds:.1} s");
    })
    .await;
}
