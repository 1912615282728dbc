//! An incident in a browser: the steps of docs/guide/why.md, by keyboard, without a fault for axe-core, and whole in a large window
//! and a small one.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::kubectl::Commands;
use kubechurn_harness::page::with_page;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::{started, viewport};
use crate::shell::accessibility::finds_nothing;

const STEPS: &str = include_str!("../../../docs/guide/why.md");
const SOON: Duration = Duration::from_secs(30);

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
async fn each_step_of_an_incident_in_five_minutes_is_seen() {
    let name = "each_step_of_an_incident_in_five_minutes_is_seen";
    let (_turn, cluster, proxy) = started(&Options { scenario: "calm", pods: 60, ..Options::default() }).await;
    with_page(name, &proxy.url(), "#/changes", async |page| {
        for kind in ["pods", "deployments", "replicasets"] {
            page.reaches(kind, "live", SOON).await;
        }
        let mut commands = Commands::of(STEPS, cluster.port());
        commands.run("create deployment shop").await;
        commands.run("rollout status").await;
        commands.run("patch deployment shop").await;

        // From the entry of Wrong now, by keyboard.
        let focuses = "const link = document.querySelector('[data-testid=wrong-why]'); link?.focus(); return link != null";
        wait_until("the incident opens", SOON, async || {
            if page.read(focuses, Vec::new()).await {
                page.press("\u{e007}").await;
            }
            let hash = page.hash().await;
            holds(hash.starts_with("#/why?"), || hash)
        })
        .await;
        let says = async |handle: &str, words: &[&str]| {
            wait_until(&format!("{handle} says {words:?}"), SOON, async || {
                let text = page.text(handle).await;
                holds(words.iter().all(|words| text.contains(words)), || text)
            })
            .await;
        };
        // A container without a probe is ready until it crashes, so that the rollout may go on for a while.
        says("why-title", &["Deployment default/shop", "of 3 Pods crash", "exit code 3"]).await;
        says("why-facts", &["since", "so far", "concerned", "waits for the kubelet"]).await;
        wait_until("the cause is first, and proven", SOON, async || {
            let words = page.text("why-causes").await;
            let is_first = words.starts_with("The command was changed");
            holds(is_first && ["proven", "✓", "exit 3"].iter().all(|word| words.contains(word)), || words)
        })
        .await;
        says("why-trail", &["ReplicaSet shop-", "Pod shop-"]).await;
        let solid = "return [...document.querySelectorAll('[data-testid=why-step]')].every(step => step.dataset.proven === 'true' && /\\d:\\d\\d:\\d\\d/.test(step.textContent))";
        page.becomes("each step is proven, and has its time", solid, json!(true)).await;
        says("why-unchanged", &["No node", "no quota"]).await;
        says("why-writers", &["kubectl-patch", "The command was changed", "inferred"]).await;
        page.click("why-log-open").await;
        says("why-log", &["previous run", "cannot go on, exit 3"]).await;
        let parts: Vec<String> = page.read("return [...document.querySelectorAll('[data-testid=why] section')].map(part => part.ariaLabel)", Vec::new()).await;
        let steps = STEPS.lines().take_while(|line| !line.starts_with("## "));
        let named = steps.filter_map(|line| line.split("**").nth(1)).filter(|words| *words != "Why?");
        assert_eq!(named.filter(|words| !parts.iter().any(|part| part == words)).collect::<Vec<_>>(), [""; 0], "{parts:?}");

        for (width, height) in [(1440, 900), (1024, 700)] {
            viewport(page, width, height).await;
            page.becomes("nothing is cut", FITS, json!(true)).await;
        }
        finds_nothing(page, "an incident").await;

        commands.run("rollout undo").await;
        says("why-facts", &["long; it is over"]).await;
        commands.end();
        page.press("\u{e00c}").await;
        page.becomes("the feed is back", "return document.querySelector('[data-view]').dataset.view", json!("changes"))
            .await;
    })
    .await;
}
