//! A browser that a test has left is to the next test as a new one.

use serde_json::json;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::turn;

/// What a page finds in its browser: other pages' scripts, whether the tab is seen and has the focus, how large it is.
const FOUND: &str = "return [window.mine ?? null, document.visibilityState, innerWidth, innerHeight,
    document.hasFocus()]";

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

    // What a new tab does not undo ends with the browser.
    browser.devtools("Emulation.setCPUThrottlingRate", json!({ "rate": 2 })).await;
    browser.leave().await;
    let browser = Browser::start("").await;
    assert_ne!(browser.pid(), pid, "it is another browser");
    browser.driver.set_window_rect(0, 0, 700, 500).await.expect("a window can be resized");
    let pid = browser.pid();
    browser.leave().await;
    let browser = Browser::start("").await;
    assert_ne!(browser.pid(), pid, "it is another browser");
    browser.leave().await;
}
