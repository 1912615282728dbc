//! An incident in a browser: by keyboard alone, without a fault for axe-core, and whole in a large window and a small one.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::page::with_page;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::{started, viewport};
use crate::shell::accessibility::finds_nothing;

const SOON: Duration = Duration::from_secs(20);

/// Whether nothing of the incident is cut or lies beside the window.
const FITS: &str = "
    const why = document.querySelector('[data-testid=why]');
    // What is in a bar is written out below it.
    const parts = [...why.querySelectorAll('h1, h3, li, p, button')].filter(one => one.offsetParent && !one.closest('[data-testid=rollout-bar]'));
    return why.scrollWidth <= why.clientWidth
        && parts.every(one => one.getBoundingClientRect().right <= innerWidth && one.scrollWidth <= one.clientWidth + 1)";

/// Gives a Deployment an image that cannot be pulled. Returns its namespace and its name.
pub async fn give_a_wrong_image(cluster: &Cluster) -> [String; 2] {
    let all = cluster.get("/apis/apps/v1/deployments").await;
    let first = &all["items"][0];
    let [namespace, name] = ["namespace", "name"].map(|of| first["metadata"][of].as_str().expect("a name"));
    let container = &first["spec"]["template"]["spec"]["containers"][0]["name"];
    let containers = json!([{"name": container, "image": "registry.example/web:2-typo"}]);
    let template = json!({"spec": {"template": {"spec": {"containers": containers}}}});
    cluster.patch(&format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}"), &template).await;
    [namespace, name].map(str::to_owned)
}

#[tokio::test]
async fn an_incident_is_read_by_keyboard_in_each_window() {
    let name = "an_incident_is_read_by_keyboard_in_each_window";
    let (_turn, cluster, proxy) = started(&Options { scenario: "calm", pods: 40, ..Options::default() }).await;
    with_page(name, &proxy.url(), "#/changes", async |page| {
        for kind in ["pods", "deployments", "replicasets"] {
            page.reaches(kind, "live", SOON).await;
        }
        give_a_wrong_image(&cluster).await;
        page.element("wrong-why").await;
        page.browser.run("document.querySelector('[data-testid=wrong-why]').focus()", Vec::new()).await;
        page.press("\u{e007}").await;
        wait_until("the cause is first, and proven", SOON, async || {
            let words = page.text("why-causes").await;
            holds(words.starts_with("The image was changed") && words.contains("proven"), || words)
        })
        .await;
        for (width, height) in [(1440, 900), (1024, 700)] {
            viewport(page, width, height).await;
            page.becomes("nothing is cut", FITS, json!(true)).await;
        }
        finds_nothing(page, "an incident").await;
        // The address comes back after a reload; what was received before it does not.
        let title = page.text("why-title").await;
        assert!(title.contains("cannot pull") && title.contains("web:2-typo"), "{title}");
        page.press("\u{e00c}").await;
        page.element("wrong-why").await;
        page.becomes("the feed is back", "return document.querySelector('[data-view]').dataset.view", json!("changes"))
            .await;
    })
    .await;
}
