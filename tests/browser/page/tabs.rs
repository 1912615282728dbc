//! A browser that a test has left is to the next test as a new one.

use serde_json::json;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::turn;

/// What a page finds in its browser: other pages' scripts, whether the tab is seen and has the focus, how large it is.
const FOUND: &str = "return [window.mine ?? null, document.visibilityState, innerWidth, innerHeight,
    document.hasFocus(), devicePixelRatio]";

/// How long a loop takes, in milliseconds: the least of many times, for a busy machine interrupts some of them.
const BUSY: &str = "let least = Infinity;
    for (let round = 0; round < 20; round++) {
        const start = performance.now();
        for (let at = 0, sum = 0; at < 2e6; at++) sum += Math.sqrt(at);
        least = Math.min(least, performance.now() - start);
    }
    return least";

#[tokio::test]
async fn a_browser_that_was_left_is_as_a_new_one() {
    let _turn = turn::alone().await;
    let browser = Browser::start("window.mine = 'first'").await;
    browser.driver.goto("about:blank").await.expect("an empty page loads");
    let first = browser.run(FOUND, Vec::new()).await;
    let pid = browser.pid();
    assert_eq!(first[0], json!("first"));
    browser.run("console.error('a word'); history.pushState(null, '', '#there')", Vec::new()).await;
    browser.hide().await;
    browser.leave().await;

    let browser = Browser::start("window.mine = 'second'").await;
    assert_eq!(browser.pid(), pid, "it is the same browser");
    browser.driver.goto("about:blank").await.expect("an empty page loads");
    let mut second = browser.run(FOUND, Vec::new()).await;
    assert_eq!(second[0].take(), json!("second"));
    assert_eq!(second.as_array().map(|found| &found[1..]), first.as_array().map(|found| &found[1..]));
    assert!(browser.console().await.is_empty(), "nothing is left in the console");
    assert_eq!(browser.driver.windows().await.map(|windows| windows.len()).ok(), Some(1));

    // What was set for its tab ends with that tab, and its window gets its size back.
    browser.devtools("Emulation.setCPUThrottlingRate", json!({ "rate": 20 })).await;
    let metrics = json!({ "width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true });
    browser.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
    browser.driver.set_window_rect(0, 0, 700, 500).await.expect("a window can be resized");
    let throttled = browser.run(BUSY, Vec::new()).await.as_f64().expect("a time");
    browser.leave().await;
    let browser = Browser::start("window.mine = 'second'").await;
    assert_eq!(browser.pid(), pid, "it is the same browser");
    browser.driver.goto("about:blank").await.expect("an empty page loads");
    let mut third = browser.run(FOUND, Vec::new()).await;
    assert_eq!(third[0].take(), json!("second"));
    assert_eq!(third, second);
    let free = browser.run(BUSY, Vec::new()).await.as_f64().expect("a time");
    assert!(free * 5.0 < throttled, "{free} ms and, throttled, {throttled}");
    browser.leave().await;
}
