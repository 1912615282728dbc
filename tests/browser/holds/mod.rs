//! What holds an object back, and who uses one, in a browser: without a fault for axe-core, and whole in a large window and a small one.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::with_page;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::{started, viewport};
use crate::shell::accessibility::finds_nothing;

const SOON: Duration = Duration::from_secs(60);

/// Whether no part lies beside the inspector.
const FITS: &str = "
    const panels = [...document.querySelectorAll('[data-testid=holds], [data-testid=uses]')].filter(one => one.offsetParent);
    const inside = part => part.getBoundingClientRect().right <= document.querySelector('.inspector').getBoundingClientRect().right + 1;
    return panels.length === 2 && panels.every(panel => panel.scrollWidth <= panel.clientWidth + 1
        && [...panel.querySelectorAll('h3, p, li, a, span')].every(inside))";

#[tokio::test]
async fn who_uses_an_object_and_what_holds_it_back_are_seen_in_each_window() {
    let name = "who_uses_an_object_and_what_holds_it_back_are_seen_in_each_window";
    let (_turn, cluster, proxy) = started(&Options { pods: 10, ..Options::default() }).await;
    let place = "#/configmaps?sel=shop/settings&pin=pods";
    with_page(name, &proxy.url(), place, async |page| {
        for kind in ["configmaps", "pods"] {
            page.reaches(kind, "live", SOON).await;
        }
        let mut settings = json!({"apiVersion": "v1", "kind": "ConfigMap", "data": {"LEVEL": "info"},
            "metadata": {"name": "settings", "namespace": "shop", "uid": "settings"}});
        cluster.put(&settings).await;
        let from = json!([{"configMapRef": {"name": "settings"}}]);
        let running = json!([{"name": "web", "state": {"running": {"startedAt": "2020-01-01T00:00:00Z"}}}]);
        cluster
            .put(&json!({"apiVersion": "v1", "kind": "Pod",
                "metadata": {"name": "a-pod-whose-name-is-as-long-as-they-are-7df54854d-h66tp", "namespace": "shop", "uid": "old"},
                "spec": {"containers": [{"name": "web", "image": "web", "envFrom": from}]},
                "status": {"phase": "Running", "containerStatuses": running}}))
            .await;
        wait_until("the Pod is found", SOON, async || {
            let words = page.text("uses-users").await;
            holds(words.contains("takes it when a container starts"), || words)
        })
        .await;
        settings["data"]["LEVEL"] = json!("debug");
        settings["metadata"]["deletionTimestamp"] = json!("2026-11-20T10:00:00Z");
        settings["metadata"]["finalizers"] = json!(["archive.example.com/keep-until-it-is-written-somewhere-else"]);
        cluster.put(&settings).await;
        wait_until("it is held, and the Pod has the old data", SOON, async || {
            let words = [page.text("holds-held").await, page.text("uses-users").await];
            let is_said = words[0].contains("archive.example.com/keep") && words[1].contains("runs with the old data");
            holds(is_said, || words.join("\n"))
        })
        .await;
        for (width, height) in [(1440, 900), (1024, 700)] {
            viewport(page, width, height).await;
            page.becomes("nothing is cut", FITS, json!(true)).await;
        }
        finds_nothing(page, "what holds an object back").await;
        page.browser.run("document.querySelector('[data-testid=uses-users] a').click()", Vec::new()).await;
        page.becomes("a user leads to itself", "return location.hash.includes('h66tp')", json!(true)).await;
    })
    .await;
}
