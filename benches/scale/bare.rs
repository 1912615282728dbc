//! The least that a page with a watch could cost: it opens the same watch, parses each frame with `JSON.parse`, and
//! drops the result. The figure includes what the browser needs to bring a frame from the socket to the page.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::measure::metrics::Metrics;
use kubechurn_harness::wait::{holds, wait_until};

/// The processor seconds per byte of such a page's process, over `seconds` of load. `url` is the proxy's.
pub async fn watch(url: &str, seconds: u64) -> f64 {
    let browser = Browser::start("").await;
    browser.driver.goto(format!("{url}k8s/version")).await.expect("the server says its version");
    browser.devtools("Performance.enable", json!({})).await;
    let open = "fetch('/k8s/api/v1/pods?limit=1').then(answer => answer.json()).then(list => {
        window.bytes = 0;
        const version = list.metadata.resourceVersion;
        const address = location.origin.replace('http', 'ws') + '/k8s/api/v1/pods?watch=true&resourceVersion=' + version;
        new WebSocket(address).onmessage = message => {
            if (JSON.parse(message.data).type === 'ERROR') throw message.data;
            window.bytes += message.data.length;
        };
    })";
    browser.resolve(open).await;
    let received = async || browser.run("return window.bytes", Vec::new()).await.as_f64().unwrap_or(f64::NAN);
    wait_until("frames come", Duration::from_secs(10), async || {
        let bytes = received().await;
        holds(bytes > 1e6, || format!("{bytes} bytes"))
    })
    .await;
    let (before, bytes) = (Metrics::read(&browser).await, received().await);
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let (after, received) = (Metrics::read(&browser).await, received().await - bytes);
    browser.quit().await;
    (after.process - before.process) / received
}
