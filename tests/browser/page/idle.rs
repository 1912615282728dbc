//! A page on which nothing happens draws only what is new. How often it wakes is a matter of `crates/model/tests/it/page/idle.rs`,
//! where the test moves the time, and of `./dev bench page idle`.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::Options;
use kubechurn_harness::measure::wakes::{WAKES, Wakes};
use kubechurn_harness::page::{INSTRUMENTS, Page, with_page_in};
use kubechurn_harness::wait::wait_until;

use crate::page::live::started;

/// Runs before the page does. After `hasten(n)` the page's clocks run n times as fast, and its timers fire as soon.
const HASTE: &str = "{
    let rate = 1;
    const clocks = [performance, Date].map(owner => {
        const clock = { read: owner.now.bind(owner), from: 0, at: 0 };
        owner.now = () => clock.at + (clock.read() - clock.from) * rate;
        return clock;
    });
    for (const name of ['setTimeout', 'setInterval']) {
        const original = window[name];
        window[name] = (call, delay, ...more) => original.call(window, call, delay / rate, ...more);
    }
    window.hasten = times => {
        for (const clock of clocks) {
            const now = clock.read();
            clock.at += (now - clock.from) * rate;
            clock.from = now;
        }
        rate = times;
        return rate;
    };
}";

/// Waits until this many more timers have fired. Returns what happened meanwhile.
async fn timers(page: &Page, count: u32) -> Wakes {
    let before = Wakes::read(&page.browser).await;
    wait_until(&format!("{count} timers"), Duration::from_secs(45 * u64::from(count)), async || {
        let wakes = Wakes::read(&page.browser).await.since(before);
        if wakes.timers >= count { Ok(wakes) } else { Err(format!("{wakes:?}")) }
    })
    .await
}

/// Waits until something new was drawn: what shows an age says another one sooner or later, and not with every timer.
async fn draws(page: &Page) {
    let before = Wakes::read(&page.browser).await;
    wait_until("something new is drawn", Duration::from_secs(60), async || {
        let wakes = Wakes::read(&page.browser).await.since(before);
        if wakes.changes > 0 { Ok(()) } else { Err(format!("{wakes:?}")) }
    })
    .await;
}

#[tokio::test]
async fn a_quiet_page_draws_what_is_new_and_a_hidden_one_nothing() {
    let (_turn, _cluster, proxy) = started(&Options { pods: 60, bookmark_seconds: 60, ..Options::default() }).await;
    let browser = Browser::start(&format!("{INSTRUMENTS}{HASTE}{WAKES}")).await;
    let name = "a_quiet_page_draws_what_is_new_and_a_hidden_one_nothing";
    with_page_in(browser, name, &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        // While the marks of the list move over the timeline, and while ages are young, it is once a second.
        timers(page, 8).await;
        let wakes = timers(page, 12).await;
        assert!(wakes.frames <= wakes.timers + 6, "{wakes:?}");
        draws(page).await;
        assert_eq!(page.status_of("pods").await.map(|status| status.state).as_deref(), Some("live"));

        page.browser.hide().await;
        page.becomes("hidden", "return document.visibilityState", json!("hidden")).await;
        // The tick and the frame that were asked for before still come, and the question about the watch that hiding asks.
        // A hidden page that is quiet wakes every ten seconds, which go by faster here.
        page.becomes("hastened", "return hasten(5)", json!(5)).await;
        timers(page, 4).await;
        let wakes = timers(page, 2).await;
        assert!(wakes.frames == 0 && wakes.changes == 0, "nobody sees it: {wakes:?}");
        page.becomes("as fast as others", "return hasten(1)", json!(1)).await;
        page.browser.show().await;
        page.becomes("shown", "return document.visibilityState", json!("visible")).await;
        // On a busy machine, no answer may have come within a fifth of the time that an answer has.
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        draws(page).await;
        assert_eq!(page.status_of("pods").await.map(|status| status.state).as_deref(), Some("live"));
    })
    .await;
}
