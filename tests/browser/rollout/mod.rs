//! A rollout and the life of a Pod in a browser: without a fault for axe-core, and whole in a large window and a small one.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::with_page;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::{started, viewport};
use crate::shell::accessibility::finds_nothing;
use crate::why::give_a_wrong_image;

const SOON: Duration = Duration::from_secs(60);

/// Whether no part lies beside its panel, and no two stretches of a bar lie on each other.
const FITS: &str = "
    const inside = (part, panel) => part.getBoundingClientRect().right <= panel.getBoundingClientRect().right + 1;
    const all = (one, what) => [...one.querySelectorAll(what)].filter(part => part.offsetParent);
    const panels = [...document.querySelectorAll('[data-testid=rollout], [data-testid=life]')].filter(one => one.offsetParent);
    return panels.length > 0 && panels.every(panel => panel.scrollWidth <= panel.clientWidth + 1
        && all(panel, 'h2, h3, p, li, dd, a').every(part => inside(part, panel)))
        && all(document, '[data-testid=rollout-bar] ol').every(bar => {
            const stretches = all(bar, 'li').map(one => one.getBoundingClientRect());
            return stretches.every((one, at) => at === 0 || stretches[at - 1].right <= one.left + 1);
        })";

/// Whether whoever points at a time of these panels sees all of it.
const DATED: &str = "
    const times = [...document.querySelectorAll('[data-testid=rollout] [data-at], [data-testid=life] [data-at]')];
    times.forEach(one => one.dispatchEvent(new PointerEvent('pointerover', { bubbles: true })));
    return times.length > 3 && times.every(one => /^\\w{3} \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d/.test(one.title))";

#[tokio::test]
async fn a_rollout_and_a_life_are_seen_in_each_window() {
    let name = "a_rollout_and_a_life_are_seen_in_each_window";
    let (_turn, cluster, proxy) = started(&Options { scenario: "calm", pods: 40, ..Options::default() }).await;
    with_page(name, &proxy.url(), "#/changes", async |page| {
        for kind in ["pods", "deployments", "replicasets"] {
            page.reaches(kind, "live", SOON).await;
        }
        let [namespace, name] = give_a_wrong_image(&cluster).await;
        // Jobs have rollouts, too.
        let opens = format!(
            "const rollout = document.querySelector('[data-testid=feed-rollout][aria-label*=\"{namespace}/{name}\"]');
            rollout?.click();
            return rollout !== null"
        );
        page.becomes("the rollout is opened", &opens, json!(true)).await;
        wait_until("the rollout says what fails", SOON, async || {
            let words = page.text("rollout-facts").await;
            holds(words.contains("Image") && words.contains("given up in"), || words)
        })
        .await;
        for (width, height) in [(1440, 900), (1024, 700)] {
            viewport(page, width, height).await;
            page.becomes("nothing is cut", FITS, json!(true)).await;
        }
        page.becomes("each time of the rollout has its date and zone", DATED, json!(true)).await;
        finds_nothing(page, "a rollout").await;
        // The life of one of its Pods, beside the feed.
        let pods = cluster.get(&format!("/api/v1/namespaces/{namespace}/pods")).await;
        let pods = pods["items"].as_array().expect("Pods");
        let image = |pod: &&serde_json::Value| pod["spec"]["containers"][0]["image"] == "registry.example/web:2-typo";
        let pod =
            pods.iter().find(image).and_then(|pod| pod["metadata"]["name"].as_str()).expect("a Pod of the rollout");
        page.browser.run(&format!("location.hash = '#/pods?sel={namespace}/{pod}'"), Vec::new()).await;
        wait_until("the life is there", SOON, async || {
            let words = page.text("life").await;
            holds(words.contains("ImagePull"), || words)
        })
        .await;
        for (width, height) in [(1440, 900), (1024, 700)] {
            viewport(page, width, height).await;
            page.becomes("nothing is cut", FITS, json!(true)).await;
        }
        page.becomes("each time of the life has its date and zone", DATED, json!(true)).await;
        finds_nothing(page, "a life").await;
    })
    .await;
}
