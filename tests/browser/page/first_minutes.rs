//! The page of the first five minutes, docs/guide/first-minutes.md: its own commands are run, and what it says is seen.

use std::time::Duration;

use kubechurn_harness::cluster::Options;
use kubechurn_harness::kubectl::Commands;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::wait::{holds, wait_until};
use serde_json::{Value, json};

use crate::page::live::started;

const STEPS: &str = include_str!("../../../docs/guide/first-minutes.md");
const SOON: Duration = Duration::from_secs(30);

/// Waits until a row of the feed has all these words.
async fn row(page: &Page, words: &[&str]) {
    let script = "return [...document.querySelectorAll('[data-testid=feed-row]')].map(row => row.textContent)";
    wait_until(&format!("a row has {words:?}"), SOON, async || {
        let rows: Vec<String> = page.read(script, Vec::new()).await;
        let is_there = rows.iter().any(|row| words.iter().all(|words| row.contains(words)));
        holds(is_there, || format!("{rows:#?}"))
    })
    .await;
}

#[tokio::test]
async fn each_step_of_the_first_five_minutes_is_seen() {
    let (_turn, cluster, proxy) = started(&Options { scenario: "calm", pods: 60, ..Options::default() }).await;
    with_page("each_step_of_the_first_five_minutes_is_seen", &proxy.url(), "", async |page| {
        let mut commands = Commands::of(STEPS, cluster.port());
        page.reaches("pods", "live", SOON).await;

        // A rollout.
        page.click("what-changed").await;
        page.reaches("deployments", "live", SOON).await;
        commands.run("create deployment web").await;
        commands.run("rollout status").await;
        commands.run("set image").await;
        row(page, &["default/web", "image 1 → 2", "kubectl-set"]).await;
        let below = "const rows = [...document.querySelectorAll('[data-testid=feed-row]')].map(row => [row.dataset.depth, row.textContent]);
            const own = rows.findIndex(([depth, words]) => depth === '0' && words.includes('image 1 → 2'));
            const end = rows.findIndex(([depth], at) => at > own && depth === '0');
            const further = own < 0 ? [] : rows.slice(own + 1, end < 0 ? undefined : end).map(([, words]) => words);
            return [/ReplicaSet/, /Pod/].map(kind => further.some(words => kind.test(words) && words.includes('web')))";
        wait_until("a ReplicaSet and Pods are shown below it", SOON, async || {
            let found: Vec<bool> = page.read(below, Vec::new()).await;
            holds(found == [true, true], || format!("{found:?}"))
        })
        .await;
        page.read::<Value>(
            "const by = document.querySelector('[data-testid=lanes-by]'); by.value = 'owner'; by.dispatchEvent(new Event('change', { bubbles: true }))",
            Vec::new(),
        )
        .await;
        wait_until("web is a row of the timeline", SOON, async || {
            let summary = page.attribute("timeline", "aria-label").await.unwrap_or_default();
            holds(summary.contains("default/web"), || summary)
        })
        .await;

        // A crash loop.
        commands.run("create deployment sick").await;
        page.click("feed-failing").await;
        row(page, &["sick", "CrashLoopBackOff"]).await;
        let wrong = "return [...document.querySelectorAll('[data-testid=wrong-entry]')].map(entry => entry.textContent)";
        wait_until("an entry says what is wrong now", SOON, async || {
            let entries: Vec<String> = page.read(wrong, Vec::new()).await;
            let says = ["default/sick", "crash", "exit code", "restart"];
            let is_said = entries.iter().any(|entry| says.iter().all(|word| entry.contains(word)));
            holds(is_said, || format!("{entries:#?}"))
        })
        .await;
        commands.run("delete deployment sick").await;

        // Who changed it? The demo cluster's own users may have scaled it meanwhile, from 3 to 2 or 4.
        commands.run("scale deployment/web").await;
        let filter = page.element("filter").await;
        page.read::<Value>("document.querySelector('[data-testid=filter]').select()", Vec::new()).await;
        filter.send_keys("path:spec.replicas").await.expect("the filter takes words");
        row(page, &["default/web", "replicas", "→ 5"]).await;
        let first = "const link = [...document.querySelectorAll('[data-testid=feed-row] a')].find(link => link.textContent === 'default/web'); link.click()";
        page.read::<Value>(first, Vec::new()).await;
        page.click("inspector-tab-yaml").await;
        let line = "const line = [...document.querySelectorAll('[data-testid=yaml] .line')].find(line => line.textContent.trim() === 'replicas: 5'); line?.click(); return line != null";
        page.becomes("the YAML has the line", line, json!(true)).await;
        wait_until("the last write is written", SOON, async || {
            let written = page.text("last-write").await;
            holds(["spec.replicas", "→ 5", "kubectl"].iter().all(|words| written.contains(words)), || written)
        })
        .await;
        commands.end();
    })
    .await;
}
