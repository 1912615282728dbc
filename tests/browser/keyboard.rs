//! The page without a pointer: rows, palette, help and columns.

use std::time::Duration;

use serde_json::{Value, json};
use thirtyfour::Key;

use crate::harness::cluster::{Cluster, Options};
use crate::harness::page::{Page, with_page};
use crate::harness::proxy::KubectlProxy;
use crate::harness::turn;
use crate::harness::wait::{holds, wait_until};

const PODS: &str = "/api/v1/pods";
const AT_ONCE: Duration = Duration::from_secs(3);
const SOON: Duration = Duration::from_secs(15);

/// A page that is live on `hash`, on a small cluster that is quiet.
pub async fn with_live_page(name: &str, hash: &str, test: impl AsyncFnOnce(&Page, &Cluster)) {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 60, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    with_page(name, &proxy.url(), hash, async |page| {
        page.reaches("pods", "live", SOON).await;
        test(page, &cluster).await;
    })
    .await;
}

/// Presses keys as a user does: whatever has the focus gets them.
pub async fn press(page: &Page, keys: impl Into<thirtyfour::TypingData>) {
    page.browser.driver.action_chain().send_keys(keys).perform().await.expect("keys can be pressed");
}

/// Waits until a script returns what is expected.
pub async fn becomes(page: &Page, what: &str, script: &str, expected: Value) {
    wait_until(what, AT_ONCE, async || {
        let value = page.browser.run(script, Vec::new()).await;
        holds(value == expected, || format!("{value}, not {expected}"))
    })
    .await;
}

/// The key of the row that the focused element says is active, and the column of its cell.
const IN_HAND: &str = "
    const active = document.getElementById(document.activeElement.getAttribute('aria-activedescendant'));
    const row = active?.closest('[role=row]');
    return row ? [row.dataset.key, active.dataset.col ?? null] : null";

const FOCUS: &str = "return document.activeElement.dataset.testid ?? document.activeElement.tagName";

#[tokio::test]
async fn rows_are_gone_to_and_opened_by_keys() {
    with_live_page("rows_are_gone_to_and_opened_by_keys", "#/pods", async |page, cluster| {
        let truth = cluster.list(PODS).await;
        let mut keys: Vec<&str> = truth.items.keys().map(String::as_str).collect();
        keys.sort_by_key(|key| key.split_once('/'));
        let last = keys.len() - 1;
        let row = |at: usize| json!([keys[at], null]);
        for (pressed, expected) in [
            ("j", row(0)),
            ("jj", row(2)),
            ("k", row(1)),
            ("G", row(last)),
            ("k", row(last - 1)),
            ("g", row(0)),
            ("\u{e015}\u{e015}\u{e013}", row(1)), // down, down, up
            ("\u{e010}", row(last)),              // End
            ("\u{e011}", row(0)),                 // Home
            ("jl", json!([keys[1], "NAMESPACE"])),
            ("ll", json!([keys[1], "READY"])),
            ("j", json!([keys[2], "READY"])),
            ("\u{e012}", json!([keys[2], "NAME"])), // left
            ("\u{e00c}", row(2)),                   // Esc leaves the cell
        ] {
            press(page, pressed).await;
            becomes(page, &format!("after {pressed:?}"), IN_HAND, expected).await;
        }
        // What is in hand is in sight.
        press(page, "\u{e00f}\u{e00f}").await; // Page down, twice
        let in_sight = "
            const row = document.getElementById(document.activeElement.getAttribute('aria-activedescendant'));
            const table = document.activeElement.getBoundingClientRect(), box = row.getBoundingClientRect();
            return box.top >= table.top + 27 && box.bottom <= table.bottom + 1";
        becomes(page, "the row is in sight", in_sight, json!(true)).await;
        press(page, "gj\u{e007}").await; // Enter
        let selected = "return document.querySelector('[aria-selected=true][role=row]')?.dataset.key ?? null";
        becomes(page, "Enter opens the object", selected, json!(keys[1])).await;
        press(page, "\u{e00c}").await;
        becomes(page, "Esc leaves it", selected, Value::Null).await;
    })
    .await;
}

#[tokio::test]
async fn the_row_in_hand_stays_what_and_where_it_is() {
    with_live_page("the_row_in_hand_stays_what_and_where_it_is", "#/pods", async |page, cluster| {
        let truth = cluster.list(PODS).await;
        let mut keys: Vec<&str> = truth.items.keys().map(String::as_str).collect();
        keys.sort_by_key(|key| key.split_once('/'));
        press(page, "jjj").await;
        becomes(page, "the third row", IN_HAND, json!([keys[2], null])).await;
        let place = "return document.querySelector('[data-hand=row]').getBoundingClientRect().top";
        let before: f64 = page.read(place, Vec::new()).await;
        // Another Pod comes before all others.
        let (namespace, name) = keys[0].split_once('/').expect("a Pod has a namespace");
        let mut pod = cluster.get(&format!("/api/v1/namespaces/{namespace}/pods/{name}")).await;
        pod["metadata"]["name"] = json!("a");
        for field in ["uid", "resourceVersion", "creationTimestamp", "ownerReferences", "managedFields"] {
            pod["metadata"].as_object_mut().expect("metadata").remove(field);
        }
        pod["metadata"]["namespace"] = json!(namespace);
        // Keys go on all the while: nothing may move under them.
        for _ in 0..4 {
            press(page, "jk").await;
        }
        cluster.put(&pod).await;
        wait_until("the new row waits, and is counted", AT_ONCE, async || {
            press(page, "jk").await;
            let waiting: String =
                page.read("return document.querySelector('.waiting')?.textContent ?? ''", vec![]).await;
            holds(waiting.contains("1 more"), || format!("{waiting:?}"))
        })
        .await;
        assert_eq!(page.read::<f64>(place, Vec::new()).await, before, "nothing moved under the hand");
        // When the hands rest the row comes, and the one in hand is the same, in its place.
        let rank = "return document.querySelector('[data-hand=row]').getAttribute('aria-rowindex')";
        wait_until("the new row comes", SOON, async || {
            let rank: String = page.read(rank, Vec::new()).await;
            holds(rank == "5", || rank)
        })
        .await;
        becomes(page, "the row is the same", IN_HAND, json!([keys[2], null])).await;
        assert_eq!(page.read::<f64>(place, Vec::new()).await, before, "the table scrolled for it");
        // Deleted, it lingers, and then the next one is taken.
        let (namespace, name) = keys[2].split_once('/').expect("a Pod has a namespace");
        cluster.delete(&format!("/api/v1/namespaces/{namespace}/pods/{name}")).await;
        wait_until("the next row is taken", Duration::from_secs(20), async || {
            let hand = page.browser.run(IN_HAND, Vec::new()).await;
            holds(hand != json!([keys[2], null]) && hand.is_array(), || hand.to_string())
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn the_palette_goes_and_does() {
    with_live_page("the_palette_goes_and_does", "#/pods", async |page, cluster| {
        let open = "return document.querySelector('[data-testid=palette]').open";
        page.browser.run("document.querySelector('[data-testid=pause]').focus()", Vec::new()).await;
        press(page, ":").await;
        becomes(page, "the palette is open", open, json!(true)).await;
        becomes(page, "its field has the focus", FOCUS, json!("palette-input")).await;
        press(page, Key::Escape + "").await;
        becomes(page, "the palette is closed", open, json!(false)).await;
        becomes(page, "the focus is where it was", FOCUS, json!("pause")).await;

        page.browser
            .driver
            .action_chain()
            .key_down(Key::Control)
            .send_keys("k")
            .key_up(Key::Control)
            .perform()
            .await
            .expect("keys can be pressed");
        becomes(page, "Ctrl-K opens it too", open, json!(true)).await;
        press(page, "deploy").await;
        let active = "
            const field = document.querySelector('[data-testid=palette-input]');
            const option = document.getElementById(field.getAttribute('aria-activedescendant'));
            return [option?.querySelector('.title').textContent, option?.getAttribute('aria-selected'),
                    option?.getAttribute('role'), document.getElementById(field.getAttribute('aria-controls')).role]";
        becomes(page, "the best is chosen", active, json!(["Deployments", "true", "option", "listbox"])).await;
        press(page, "\u{e007}").await;
        page.reaches("deployments", "live", SOON).await;
        becomes(page, "and it is closed", open, json!(false)).await;

        let namespace = cluster.list(PODS).await.last_key().split_once('/').expect("a namespace").0.to_owned();
        press(page, format!(":po {namespace}\u{e007}").as_str()).await;
        wait_until("a kind in a namespace", SOON, async || {
            let hash = page.hash().await;
            holds(hash.starts_with(&format!("#/pods?ns={namespace}")), || hash)
        })
        .await;
        page.reaches("pods", "live", SOON).await;
        press(page, ":pause\u{e007}").await;
        let paused = "return document.querySelector('[data-testid=pause]').getAttribute('aria-pressed')";
        becomes(page, "an action", paused, json!("true")).await;
        press(page, "p").await;
        becomes(page, "and by its key", paused, json!("false")).await;
        press(page, "j\u{e007}").await;
        let selected = page.browser.run(IN_HAND, Vec::new()).await[0].clone();
        press(page, "\u{e00c}:").await;
        let first = "return document.querySelector('[role=option] .title')?.textContent";
        becomes(page, "what was looked at comes first", first, selected).await;
    })
    .await;
}

#[tokio::test]
async fn keys_are_for_the_page_only_where_they_may_be() {
    with_live_page("keys_are_for_the_page_only_where_they_may_be", "#/pods", async |page, _| {
        let help = "return document.querySelector('[data-testid=help]').open";
        press(page, "?").await;
        becomes(page, "? shows the keys", help, json!(true)).await;
        let shown = "return [...document.querySelectorAll('[data-testid=help] kbd')].map(key => key.textContent)";
        let keys: Vec<String> = page.read(shown, Vec::new()).await;
        assert!(["j", "↓", "Esc", "Ctrl K", "?"].iter().all(|key| keys.iter().any(|other| other == key)), "{keys:?}");
        press(page, "w").await;
        press(page, "\u{e00c}").await;
        becomes(page, "Esc hides them", help, json!(false)).await;
        assert!(!page.hash().await.contains("wide"), "a dialog has its own keys");

        press(page, "/").await;
        becomes(page, "/ leads to the filter", FOCUS, json!("filter")).await;
        press(page, "pw?:nsy").await;
        let state = "return [document.querySelector('[data-testid=filter]').value,
            document.querySelector('[data-testid=pause]').getAttribute('aria-pressed'),
            document.querySelectorAll('dialog[open]').length]";
        becomes(page, "in a field keys write", state, json!(["pw?:nsy", "false", 0])).await;
        press(page, "\u{e00c}").await;
        becomes(
            page,
            "Esc clears the filter",
            "return document.querySelector('[data-testid=filter]').value",
            json!(""),
        )
        .await;
        becomes(page, "and leads to the rows", FOCUS, json!("table-scroll")).await;
        press(page, "w").await;
        wait_until("w shows all columns", AT_ONCE, async || {
            let hash = page.hash().await;
            holds(hash.contains("wide=1"), || hash)
        })
        .await;
        press(page, "s").await;
        wait_until("s sorts", AT_ONCE, async || {
            let hash = page.hash().await;
            holds(hash.contains("sort=NAMESPACE"), || hash)
        })
        .await;
        press(page, "n").await;
        becomes(
            page,
            "n opens the namespaces",
            "return document.querySelector('[data-testid=namespaces]').open",
            json!(true),
        )
        .await;
        press(page, "\u{e00c}").await;
        becomes(
            page,
            "Esc closes them",
            "return document.querySelector('[data-testid=namespaces]').open",
            json!(false),
        )
        .await;

        // Who dictates turns the letters off; it is remembered.
        press(page, "?").await;
        page.click("letters").await;
        press(page, "\u{e00c}").await;
        page.browser.driver.refresh().await.expect("the page reloads");
        page.reaches("pods", "live", SOON).await;
        press(page, "p?:").await;
        press(page, "\u{e015}").await;
        becomes(page, "the arrows stay", FOCUS, json!("table-scroll")).await;
        becomes(page, "and letters do nothing", state, json!(["", "false", 0])).await;
    })
    .await;
}

#[tokio::test]
async fn columns_are_arranged_and_remembered() {
    with_live_page("columns_are_arranged_and_remembered", "#/pods", async |page, _| {
        let titles = "return [...document.querySelectorAll('[role=columnheader]')].map(head => head.dataset.col)";
        let usual = json!(["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "Δ"]);
        becomes(page, "the columns are kubectl's", titles, usual.clone()).await;
        press(page, "c").await;
        becomes(page, "c opens the menu on its first field", FOCUS, json!("column-NAMESPACE")).await;
        press(page, " ").await; // unchecked
        becomes(page, "a column is hidden", titles, json!(["NAME", "READY", "STATUS", "RESTARTS", "AGE", "Δ"])).await;
        // Label, up, down: NAME is the second column of the menu, and goes down by two.
        page.browser.run("document.getElementById('column-1-down').focus()", Vec::new()).await;
        press(page, "\u{e007}").await;
        becomes(page, "it moves", titles, json!(["READY", "NAME", "STATUS", "RESTARTS", "AGE", "Δ"])).await;
        press(page, "\u{e007}").await;
        let arranged = json!(["READY", "STATUS", "NAME", "RESTARTS", "AGE", "Δ"]);
        becomes(page, "and again, for the focus went with it", titles, arranged.clone()).await;
        press(page, "\u{e00c}").await;

        let width =
            "return document.querySelector('[role=columnheader][data-col=STATUS]').getBoundingClientRect().width";
        let before: f64 = page.read(width, Vec::new()).await;
        let grip = page.element("grip-STATUS").await;
        let drag = page.browser.driver.action_chain().move_to_element_center(&grip).click_and_hold();
        drag.move_by_offset(90, 0).release().perform().await.expect("a handle can be dragged");
        let mut after = 0.0;
        wait_until("the column is wider", AT_ONCE, async || {
            after = page.read(width, Vec::new()).await;
            holds((after - before - 90.0).abs() < 8.0, || format!("{before} and then {after}"))
        })
        .await;

        page.browser.driver.refresh().await.expect("the page reloads");
        page.reaches("pods", "live", SOON).await;
        becomes(page, "the columns are remembered", titles, arranged).await;
        assert!((page.read::<f64>(width, Vec::new()).await - after).abs() < 1.0, "and their widths");
        page.open("#/deployments").await;
        becomes(
            page,
            "other kinds have their own",
            "return document.querySelector('[role=columnheader]')?.dataset.col",
            json!("NAMESPACE"),
        )
        .await;
        page.open("#/pods").await;
        page.reaches("pods", "live", SOON).await;
        press(page, ":reset columns\u{e007}").await;
        becomes(page, "they are as at first", titles, usual).await;
        assert_eq!(
            page.read::<Value>("return localStorage.getItem('kubechurn.columns.pods')", vec![]).await,
            Value::Null
        );
    })
    .await;
}
