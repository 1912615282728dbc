//! Resyncs happen as often as the user wants: each makes one mark, is counted object by object, and never looks like a
//! change.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::truth::pod;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::{started, with_live_page};

const SOON: Duration = Duration::from_secs(20);
const PODS: &str = "/api/v1/pods";

/// The resync period, in milliseconds.
const PERIOD: &str = "return kubechurn.status().find(one => one.resource === 'pods').resync_ms";
/// The choice in the table's menu.
const CHOSEN: &str =
    "return [...document.querySelectorAll('[name=resync]')].filter(one => one.checked).map(one => one.dataset.testid)";
const MENU: &str = "return document.querySelector('[data-testid=columns]').open";

/// The marks of resyncs that the timeline has.
async fn resyncs(page: &Page) -> Vec<Value> {
    let script = "return kubechurn.marks('pods').filter(mark => mark.type === 'Sync')";
    page.browser.run(script, Vec::new()).await.as_array().cloned().unwrap_or_default()
}

/// How many objects resyncs have queued, and how many of them the counters have received.
async fn counts(page: &Page) -> (u64, u64) {
    let script = "const own = kubechurn.status().find(one => one.resource === 'pods');
        return [own.ledger.resyncs, own.changes.synced]";
    let counts = page.browser.run(script, Vec::new()).await;
    (counts[0].as_u64().unwrap_or(0), counts[1].as_u64().unwrap_or(0))
}

async fn choose(page: &Page, name: &str) {
    page.press("c").await;
    page.becomes("the menu is open", MENU, json!(true)).await;
    page.click(&format!("resync-{name}")).await;
    page.press("\u{e00c}").await; // Esc
    page.becomes("the menu is closed", MENU, json!(false)).await;
}

#[tokio::test]
async fn a_resync_is_one_mark_and_counts_every_object() {
    let (_turn, cluster, proxy) = started(&Options { pods: 60, ..Options::default() }).await;
    with_page("a_resync_is_one_mark_and_counts_every_object", &proxy.url(), "?resync=1#/pods", async |page| {
        page.reaches("pods", "live", SOON).await;
        let truth = cluster.list(PODS).await;
        let count = truth.count() as u64;
        wait_until("two resyncs repeated everything", SOON, async || {
            let (queued, synced) = counts(page).await;
            holds(queued >= 2 * count && synced >= 2 * count, || format!("{synced} of {queued}, {count} a time"))
        })
        .await;
        page.is_balanced().await;
        let marks = resyncs(page).await;
        let words = format!("resync: {count} objects replayed");
        for mark in &marks {
            assert_eq!((&mark["key"], &mark["folded"], &mark["note"]), (&json!(""), &json!(count), &json!(words)));
        }
        assert!(marks.len() >= 2 && page.marks("pods").await.len() < 3 * truth.count(), "{} marks", marks.len());
        let changes =
            "const { added, updated, deleted } = kubechurn.status()[0].changes; return [added, updated, deleted]";
        page.becomes("nothing changed", changes, json!([count, 0, 0])).await;
        page.counts(truth.count(), truth.count()).await;
        page.becomes(
            "the page says what the address asks for",
            "return document.querySelector('[data-testid=resync-words]').textContent",
            json!("Every 1 s, as ?resync= in the address says."),
        )
        .await;
        page.becomes("no choice is marked", CHOSEN, json!([])).await;

        // The selected object's inspector shows the resync. A later update is shown like any other.
        let key = truth.in_order()[0].to_owned();
        page.open(&format!("?resync=1#/pods?sel={key}&tab=changes")).await;
        page.reaches("pods", "live", SOON).await;
        wait_until("the inspector shows the resync", SOON, async || {
            let words = page.text("inspector-resynced").await;
            holds(words.contains("◇ Sync") && words.contains("replayed by"), || words)
        })
        .await;
        let summary = "return document.querySelector('[data-testid=timeline]').ariaLabel.includes('resync')";
        page.becomes("the timeline says in words that there was a resync", summary, json!(true)).await;
        cluster.delete(&pod(&key)).await;
        let truth = cluster.list(PODS).await;
        page.shows("pods", &truth, SOON).await;
        page.is_balanced().await;

        // The user turns resyncs off while the watch runs.
        choose(page, "off").await;
        page.becomes("no resync happens", PERIOD, Value::Null).await;
        let before = counts(page).await.0;
        page.press(":every 1 min\u{e007}").await;
        page.becomes("the palette chooses too", PERIOD, json!(60_000)).await;
        assert_eq!(counts(page).await.0, before, "the choice alone causes no resync");
    })
    .await;
}

#[tokio::test]
async fn the_choice_of_a_resync_is_remembered() {
    with_live_page("the_choice_of_a_resync_is_remembered", "#/pods", async |page, _| {
        page.becomes("few objects are resynced", PERIOD, json!(600_000)).await;
        page.becomes("a choice is not needed", CHOSEN, json!(["resync-auto"])).await;
        choose(page, "30s").await;
        page.becomes("the running watch has the new period", PERIOD, json!(30_000)).await;
        page.becomes(
            "that is said",
            "return document.querySelector('[data-testid=told]').textContent",
            json!("Resync every 30 s."),
        )
        .await;
        page.reload().await;
        page.reaches("pods", "live", SOON).await;
        page.becomes("the choice is remembered", PERIOD, json!(30_000)).await;
        page.becomes("the choice is marked", CHOSEN, json!(["resync-30s"])).await;
        choose(page, "auto").await;
        page.becomes(
            "the default choice is not stored",
            "return localStorage.getItem('kubechurn.resync')",
            Value::Null,
        )
        .await;
    })
    .await;
}
