//! The log of a Pod that crashed, in a browser: the run before it is read, a line leads to its moment, and both windows show all.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::with_page;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::{started, viewport};
use crate::shell::accessibility::finds_nothing;

const SOON: Duration = Duration::from_secs(20);

/// Whether everything around the lines lies within the inspector, and the lines have room.
const FITS: &str = "
    const log = document.querySelector('[data-testid=log]'), lines = document.querySelector('[data-testid=log-scroll]');
    const panel = log.closest('.inspector').getBoundingClientRect();
    const parts = [...log.querySelectorAll('.log-bar > *, .log-sources > *, .log-notes > *')].filter(one => one.offsetParent);
    return lines.clientHeight > 200 && lines.getBoundingClientRect().bottom <= innerHeight
        && parts.every(one => one.getBoundingClientRect().right <= panel.right + 1)";
const COUNT: &str = "return document.querySelectorAll('[data-testid=log-row]').length";
const LAST: &str = "
    const scroll = document.querySelector('[data-testid=log-scroll]');
    return scroll.scrollTop + scroll.clientHeight >= scroll.scrollHeight - 20";

#[tokio::test]
async fn a_crash_is_read_in_its_log_and_a_line_leads_to_its_moment() {
    let name = "a_crash_is_read_in_its_log_and_a_line_leads_to_its_moment";
    let (_turn, cluster, proxy) = started(&Options { pods: 40, ..Options::default() }).await;
    let ended = json!({"terminated": {"startedAt": "2026-11-21T08:10:00Z", "finishedAt": "2026-11-21T08:10:09Z",
        "exitCode": 1, "reason": "Error"}});
    let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": {"name": "web", "namespace": "shop", "uid": "w",
            "annotations": {"demo.kubechurn.dev/log-rate": "200"}},
        "spec": {"nodeName": "nowhere", "containers": [{"name": "web", "image": "example/web:1"}]},
        "status": {"phase": "Running", "containerStatuses": [{"name": "web", "image": "example/web:1", "ready": true,
            "restartCount": 1, "state": {"running": {"startedAt": "2026-11-21T08:10:20Z"}}, "lastState": ended}]}});
    cluster.put(&pod).await;
    with_page(name, &proxy.url(), "#/pods?sel=shop/web", async |page| {
        page.reaches("pods", "live", SOON).await;
        page.click("inspector-tab-logs").await;
        wait_until("both runs are read", SOON, async || {
            let words = page.text("log").await;
            holds(words.contains("web: previous run") && words.contains("GET /"), || words)
        })
        .await;
        page.becomes("the last line is in sight", LAST, json!(true)).await;
        for (width, height) in [(1024, 700), (1440, 900)] {
            viewport(page, width, height).await;
            page.becomes("nothing is cut", FITS, json!(true)).await;
            page.becomes("the last line stays in sight", LAST, json!(true)).await;
        }
        let rows: i64 = page.read(COUNT, Vec::new()).await;
        assert!((10..120).contains(&rows), "{rows} rows are in the document");
        finds_nothing(page, "a followed log").await;
        page.element("log-filter-field").await.send_keys("fatal").await.expect("the field takes text");
        wait_until("the last words of the crash are found", SOON, async || {
            let words = page.text("log-rows").await;
            holds(words.contains("fatal: cannot go on, exit 1") && !words.contains("GET /"), || words)
        })
        .await;
        page.browser.run("document.querySelector('[data-what=line] [data-testid=log-time]').click()", Vec::new()).await;
        page.becomes("the page shows that moment", "return 'rewound' in document.documentElement.dataset", json!(true))
            .await;
        assert!(page.hash().await.contains("at=2026-11-21T08:10:09"), "{}", page.hash().await);
        finds_nothing(page, "a log at another moment").await;
    })
    .await;
}
