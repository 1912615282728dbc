//! Deleted rows stay for as long as the user wants, and no longer.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::cluster::Cluster;
use kubechurn_harness::page::Page;
use kubechurn_harness::truth::pod;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::with_live_page;

const PODS: &str = "/api/v1/pods";
const SOON: Duration = Duration::from_secs(10);

/// Deletes a Pod, and waits until the page has received the deletion.
async fn delete(page: &Page, cluster: &Cluster, key: &str) {
    cluster.delete(&pod(key)).await;
    wait_until(&format!("the deletion of {key} is received"), SOON, async || {
        let marks = page.marks("pods").await;
        let heard = marks.iter().any(|mark| mark.kind == "Deleted" && mark.key.as_deref() == Some(key));
        holds(heard, || format!("{} marks", marks.len()))
    })
    .await;
}

/// Waits until exactly these rows are drawn as deleted.
async fn deleted_are(page: &Page, what: &str, keys: &[&str]) {
    let script =
        "return [...document.querySelectorAll('[role=row][data-state=deleted]')].map(row => row.dataset.key).sort()";
    page.becomes(what, script, json!(keys)).await;
}

/// Moves the page's clock forward by this many milliseconds at once.
async fn leap(page: &Page, milliseconds: u32) {
    let script = "const now = performance.now.bind(performance); performance.now = () => now() + arguments[0]";
    let script = script.replace("arguments[0]", &milliseconds.to_string());
    page.browser.run(&script, Vec::new()).await;
}

async fn choose(page: &Page, name: &str) {
    let open = "return document.querySelector('[data-testid=columns]').open";
    page.press("c").await;
    page.becomes("the menu is open", open, json!(true)).await;
    page.click(&format!("linger-{name}")).await;
    page.press("\u{e00c}").await; // Esc
    page.becomes("the menu is closed", open, json!(false)).await;
}

#[tokio::test]
async fn deleted_rows_stay_as_long_as_one_wants() {
    with_live_page("deleted_rows_stay_as_long_as_one_wants", "#/pods", async |page, cluster| {
        let truth = cluster.list(PODS).await;
        let keys = truth.in_order();

        // Ten seconds, if nothing was chosen.
        delete(page, cluster, keys[0]).await;
        deleted_are(page, "the row is marked", &keys[..1]).await;
        leap(page, 11_000).await;
        deleted_are(page, "and goes after ten seconds", &[]).await;

        // A new choice holds for rows that were deleted before it too.
        delete(page, cluster, keys[1]).await;
        deleted_are(page, "the row is marked", &keys[1..2]).await;
        choose(page, "dismissed").await;
        leap(page, 60_000).await;
        delete(page, cluster, keys[2]).await;
        deleted_are(page, "both stay", &keys[1..3]).await;
        page.becomes(
            "the deleted rows are counted",
            "return document.querySelector('[data-testid=deleted]')?.textContent",
            json!("✕ 2 deleted clear"),
        )
        .await;
        page.click("deleted").await;
        deleted_are(page, "they are cleared", &[]).await;
        page.becomes(
            "the page says that they are gone",
            "return document.querySelector('[data-testid=told]').textContent",
            json!("Cleared 2 deleted rows."),
        )
        .await;

        // The choice is remembered, and another choice takes effect at once.
        page.reload().await;
        page.reaches("pods", "live", SOON).await;
        let chosen = "return [...document.querySelectorAll('[name=linger]')].filter(one => one.checked).map(one => one.dataset.testid)";
        page.becomes("the choice is remembered", chosen, json!(["linger-dismissed"])).await;
        delete(page, cluster, keys[3]).await;
        leap(page, 60_000).await;
        deleted_are(page, "it stays", &keys[3..4]).await;
        page.press(":stay for 1 min\u{e007}").await;
        deleted_are(page, "a minute is over", &[]).await;
        page.becomes("the palette chooses too", chosen, json!(["linger-1m"])).await;

        choose(page, "10s").await;
        page.becomes(
            "the default choice is not stored",
            "return localStorage.getItem('kubechurn.linger')",
            Value::Null,
        )
        .await;
    })
    .await;
}

#[tokio::test]
async fn at_once_is_never_under_the_hand() {
    with_live_page("at_once_is_never_under_the_hand", "#/pods", async |page, cluster| {
        let truth = cluster.list(PODS).await;
        let keys = truth.in_order();
        choose(page, "0").await;
        // Records every row that is ever drawn as deleted.
        let watch = "
            window.__deleted = [];
            new MutationObserver(() => {
                for (const row of document.querySelectorAll('[role=row][data-state=deleted]'))
                    window.__deleted.push(row.dataset.key);
            }).observe(document.querySelector('.table-rows'), { subtree: true, childList: true, attributes: true });";
        page.browser.run(watch, Vec::new()).await;
        delete(page, cluster, keys[0]).await;
        page.counts(keys.len() - 1, keys.len() - 1).await;
        page.becomes(
            "the row is gone",
            "return document.querySelector('[role=row][data-key]').dataset.key",
            json!(keys[1]),
        )
        .await;
        assert_eq!(
            page.read::<Vec<String>>("return window.__deleted", Vec::new()).await,
            [""; 0],
            "the row was never marked"
        );

        // While keys are pressed on the table, a deleted row keeps its place.
        page.press("gj").await;
        let places = "return [...document.querySelectorAll('.table-rows [role=row]')].slice(0, 5)
            .map(row => [row.dataset.key, row.dataset.state, row.getBoundingClientRect().top])";
        let tops = |places: &Value| -> Vec<Value> { (0..5).map(|at| json!([places[at][0], places[at][2]])).collect() };
        let before = page.browser.run(places, Vec::new()).await;
        cluster.delete(&pod(keys[1])).await;
        wait_until("the row under the cursor is marked", SOON, async || {
            page.press("jk").await;
            let now = page.browser.run(places, Vec::new()).await;
            holds(now[0][1] == "deleted" && tops(&now) == tops(&before), || format!("{now}, before {before}"))
        })
        .await;
        wait_until("the row disappears when no key is pressed", SOON, async || {
            let now = page.browser.run(places, Vec::new()).await;
            holds(now[0][0] == keys[2], || now.to_string())
        })
        .await;
    })
    .await;
}
