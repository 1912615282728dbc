//! A row that enters the window takes over the element of one that left, and nothing of the old row stays in the
//! element.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::page::Page;
use kubechurn_harness::truth::pod;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::with_live_page;

/// Everything in the document about the rows except one, without the elements' names, the cursor, and what changes with
/// time.
const DRAWN: &str = "
    const attributes = element => [...element.attributes]
        .filter(attribute => !['id', 'data-hand'].includes(attribute.name))
        .map(attribute => `${attribute.name}=${attribute.value}`)
        .sort();
    const rows = [...document.querySelectorAll('[role=row][data-key]')].filter(row => row.dataset.key !== arguments[0]);
    return rows.map(row => [
        attributes(row),
        [...row.children]
            .filter(cell => !['AGE', 'RESTARTS', 'Δ'].includes(cell.dataset.col))
            .map(cell => [attributes(cell), cell.innerHTML]),
    ])";

/// The keys of the rows with the cursor on them or on one of their cells.
const HAND: &str = "return [...new Set([...document.querySelectorAll('[data-hand]')].map(it => it.closest('[role=row]').dataset.key))]";

/// The key of the uppermost row.
const FIRST: &str = "return document.querySelector('[role=row][data-key]')?.dataset.key ?? null";

#[tokio::test]
async fn rows_take_over_the_elements_of_rows_that_left() {
    with_live_page("rows_take_over_the_elements_of_rows_that_left", "#/pods?q=a", async |page, cluster| {
        // The old window has marked words, a cursor on a cell, a selected row, and a cell that changed.
        let keys = page.drawn().await;
        page.press("jj\u{e007}").await;
        page.becomes("a row is selected", "return document.querySelectorAll('[data-selected]').length", json!(1)).await;
        page.press("\u{e00c}jl").await;
        page.becomes(
            "the cursor is on a cell",
            "return document.querySelectorAll('.cell[data-hand]').length",
            json!(1),
        )
        .await;
        let hand: Vec<String> = page.read(HAND, Vec::new()).await;
        let evicted = json!({ "status": { "phase": "Failed", "reason": "Evicted" } });
        cluster.patch(&pod(&keys[0]), &evicted).await;
        let changed = "return document.querySelector('.cell[data-changed]')?.closest('[role=row]').dataset.key ?? null";
        page.becomes("a cell is marked as changed", changed, json!(keys[0])).await;
        let elements = "
            const rows = [...document.querySelectorAll('[role=row][data-key]')];
            rows.forEach(row => row.__known = true);
            return rows.length";
        let elements: usize = page.read(elements, Vec::new()).await;

        let truth = cluster.list("/api/v1/pods").await;
        let name = |key: &&str| key.split_once('/').map(|(_, name)| (*name).to_owned());
        let last = truth.items.keys().map(String::as_str).max_by_key(name).expect("there are Pods").to_owned();
        page.open("#/pods?sort=-NAME").await;
        page.becomes("the new order is drawn", FIRST, json!(last)).await;
        let known = "return [...document.querySelectorAll('[role=row][data-key]')].filter(row => row.__known).length";
        page.becomes("all elements are still there", known, json!(elements)).await;
        let now: Vec<String> = page.read(HAND, Vec::new()).await;
        assert!(hand.len() == 1 && now.iter().all(|key| *key == hand[0]), "the cursor moved from {hand:?} to {now:?}");
        let passed_on = settled(page, &keys[0]).await;

        page.reload().await;
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        page.becomes("the page is as before", FIRST, json!(last)).await;
        assert_eq!(passed_on, settled(page, &keys[0]).await);
    })
    .await;
}

/// What is drawn when no cell is marked as changed and no row as new. The row that changed is left out, because a page
/// that was loaded again does not know about the change.
async fn settled(page: &Page, changed: &str) -> Value {
    let marked = "return document.querySelectorAll('[data-changed], [data-fresh]').length";
    wait_until("the marks of changes disappear", Duration::from_secs(10), async || {
        let marked = page.browser.run(marked, Vec::new()).await;
        holds(marked == 0, || format!("{marked} are there"))
    })
    .await;
    page.browser.run(DRAWN, vec![changed.into()]).await
}
