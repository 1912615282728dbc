//! A browser that a test has left is to the next test as a new one.

use serde_json::json;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::turn;

/// What a page finds in its browser: other pages' scripts, whether the tab is seen and has the focus, how large it is, in which time
/// zone, and whether it is dark.
const FOUND: &str = "return [window.mine ?? null, document.visibilityState, innerWidth, innerHeight,
    document.hasFocus(), devicePixelRatio, Intl.DateTimeFormat().resolvedOptions().timeZone,
    matchMedia('(prefers-color-scheme: dark)').matches]";

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
    let dark = second[7] == json!(true);
    let colors =
        json!({ "features": [{ "name": "prefers-color-scheme", "value": if dark { "light" } else { "dark" } }] });
    browser.devtools("Emulation.setEmulatedMedia", colors).await;
    browser.devtools("Emulation.setTimezoneOverride", json!({ "timezoneId": "Asia/Tokyo" })).await;
    let metrics = json!({ "width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true });
    browser.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
    browser.driver.set_window_rect(0, 0, 700, 500).await.expect("a window can be resized");
    let set = browser.run(FOUND, Vec::new()).await;
    assert_eq!((&set[5], &set[6], &set[7]), (&json!(2), &json!("Asia/Tokyo"), &json!(!dark)));
    browser.leave().await;
    let browser = Browser::start("window.mine = 'second'").await;
    assert_eq!(browser.pid(), pid, "it is the same browser");
    browser.driver.goto("about:blank").await.expect("an empty page loads");
    let mut third = browser.run(FOUND, Vec::new()).await;
    assert_eq!(third[0].take(), json!("second"));
    assert_eq!(third, second);
    browser.leave().await;
}
