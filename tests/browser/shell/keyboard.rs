//! The page without a pointer: rows, palette, help and columns.

use std::time::Duration;

use serde_json::{Value, json};
use thirtyfour::{By, Key};

use kubechurn_harness::page::{AT_ONCE, HEADS};
use kubechurn_harness::truth::pod;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::with_live_page;

const PODS: &str = "/api/v1/pods";
const SOON: Duration = Duration::from_secs(15);

/// The key of the row that the focused element declares active, and the column of the active cell.
const IN_HAND: &str = "
    const active = document.getElementById(document.activeElement.getAttribute('aria-activedescendant'));
    const row = active?.closest('[role=row]');
    return row ? [row.dataset.key, active.dataset.col ?? null] : null";

const FOCUS: &str = "return document.activeElement.dataset.testid ?? document.activeElement.tagName";

#[tokio::test]
async fn rows_are_gone_to_and_opened_by_keys() {
    with_live_page("rows_are_gone_to_and_opened_by_keys", "#/pods", async |page, cluster| {
        let truth = cluster.list(PODS).await;
        let keys = truth.in_order();
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
            page.press(pressed).await;
            page.becomes(&format!("after {pressed:?}"), IN_HAND, expected).await;
        }
        // The row under the cursor is visible.
        page.press("\u{e00f}\u{e00f}").await; // Page down, twice
        let in_sight = "
            const row = document.getElementById(document.activeElement.getAttribute('aria-activedescendant'));
            const table = document.activeElement.getBoundingClientRect(), box = row.getBoundingClientRect();
            return box.top >= table.top + 27 && box.bottom <= table.bottom + 1";
        page.becomes("the row is visible", in_sight, json!(true)).await;
        page.press("gj\u{e007}").await; // Enter
        let selected = "return document.querySelector('[aria-selected=true][role=row]')?.dataset.key ?? null";
        page.becomes("Enter opens the object", selected, json!(keys[1])).await;
        page.press("\u{e00c}").await;
        page.becomes("Esc closes the inspector", selected, Value::Null).await;
    })
    .await;
}

#[tokio::test]
async fn the_row_in_hand_stays_what_and_where_it_is() {
    with_live_page("the_row_in_hand_stays_what_and_where_it_is", "#/pods", async |page, cluster| {
        let truth = cluster.list(PODS).await;
        let keys = truth.in_order();
        page.press("jjj").await;
        page.becomes("the cursor is on the third row", IN_HAND, json!([keys[2], null])).await;
        let place = "return document.querySelector('[data-hand=row]').getBoundingClientRect().top";
        let before: f64 = page.read(place, Vec::new()).await;
        // Another Pod is sorted before all others.
        let mut another = cluster.get(&pod(keys[0])).await;
        another["metadata"]["name"] = json!("a");
        for field in ["uid", "resourceVersion", "creationTimestamp", "ownerReferences", "managedFields"] {
            another["metadata"].as_object_mut().expect("metadata").remove(field);
        }
        // Keys are pressed all the while, by the page's own clock: a driver on a busy machine may pause for longer than the page
        // takes for the end of the typing. Nothing may move under the cursor.
        let presses = "
            window.__presses = setInterval(() => {
                for (const key of 'jk') {
                    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
                }
            }, 100)";
        page.browser.run(presses, Vec::new()).await;
        cluster.put(&another).await;
        wait_until("the new row waits, and is counted", SOON, async || {
            let waiting: String =
                page.read("return document.querySelector('.waiting')?.textContent ?? ''", vec![]).await;
            holds(waiting.contains("1 new row held"), || format!("{waiting:?}"))
        })
        .await;
        assert_eq!(page.read::<f64>(place, Vec::new()).await, before, "nothing moved under the cursor");
        page.browser.run("clearInterval(window.__presses)", Vec::new()).await;
        // When no key is pressed any more, the row appears, and the cursor is on the same row, in the same place.
        let rank = "return document.querySelector('[data-hand=row]').getAttribute('aria-rowindex')";
        wait_until("the new row appears", SOON, async || {
            let rank: String = page.read(rank, Vec::new()).await;
            holds(rank == "5", || rank)
        })
        .await;
        page.becomes("the row is the same", IN_HAND, json!([keys[2], null])).await;
        assert_eq!(
            page.read::<f64>(place, Vec::new()).await,
            before,
            "the table scrolled to keep the row in its place"
        );
        // After the deletion the row stays for a while. Then the cursor is on the next row.
        cluster.delete(&pod(keys[2])).await;
        wait_until("the cursor moves to the next row", Duration::from_secs(20), async || {
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
        page.press(":").await;
        page.becomes("the palette is open", open, json!(true)).await;
        page.becomes("its field has the focus", FOCUS, json!("palette-input")).await;
        page.press(Key::Escape + "").await;
        page.becomes("the palette is closed", open, json!(false)).await;
        page.becomes("the focus is where it was", FOCUS, json!("pause")).await;

        page.browser
            .driver
            .action_chain()
            .key_down(Key::Control)
            .send_keys("k")
            .key_up(Key::Control)
            .perform()
            .await
            .expect("keys can be pressed");
        page.becomes("Ctrl-K opens it too", open, json!(true)).await;
        page.press("deploy").await;
        let active = "
            const field = document.querySelector('[data-testid=palette-input]');
            const option = document.getElementById(field.getAttribute('aria-activedescendant'));
            return [option?.querySelector('.title').textContent, option?.getAttribute('aria-selected'),
                    option?.getAttribute('role'), document.getElementById(field.getAttribute('aria-controls')).role]";
        page.becomes("the best entry is chosen", active, json!(["Deployments", "true", "option", "listbox"])).await;
        page.press("\u{e007}").await;
        page.reaches("deployments", "live", SOON).await;
        page.becomes("the palette is closed again", open, json!(false)).await;

        let namespace = cluster.list(PODS).await.last_key().split_once('/').expect("a namespace").0.to_owned();
        page.press(format!(":po {namespace}\u{e007}").as_str()).await;
        wait_until("the palette leads to a kind in a namespace", SOON, async || {
            let hash = page.hash().await;
            holds(hash.starts_with(&format!("#/pods?ns={namespace}")), || hash)
        })
        .await;
        page.reaches("pods", "live", SOON).await;
        page.press(":pause\u{e007}").await;
        let paused = "return document.querySelector('[data-testid=pause]').getAttribute('aria-pressed')";
        page.becomes("the palette pauses the page", paused, json!("true")).await;
        page.press("p").await;
        page.becomes("the key p does the same", paused, json!("false")).await;
        page.press("j\u{e007}").await;
        let selected = wait_until("the object's inspector is open", SOON, async || {
            page.attribute("inspector", "data-key").await.ok_or_else(|| String::from("it is not"))
        })
        .await;
        page.press("\u{e00c}:").await;
        let first = "return document.querySelector('[role=option] .title')?.textContent";
        page.becomes("the objects that were looked at come first", first, json!(selected)).await;

        // An object of another kind that is watched, by a part of its name.
        let other = cluster.list(PODS).await;
        let other = other.in_order().into_iter().find(|key| **key != selected).expect("another Pod").to_owned();
        let name = other.split_once('/').expect("a namespace").1;
        page.press(name).await;
        let objects = "return [...document.querySelectorAll('#palette-list [data-group=object] .title')].map(one => one.textContent)";
        wait_until("the palette finds a Pod", SOON, async || {
            let found: Vec<String> = page.read(objects, Vec::new()).await;
            holds(found.contains(&other) || !other.starts_with(&namespace), || format!("{found:?}, not {other}"))
        })
        .await;
        // A key that comes before the browser has closed the dialog would be the dialog's.
        page.press("\u{e00c}").await;
        page.becomes("Esc closes the palette", open, json!(false)).await;
        page.press("/").await;
        page.becomes("the filter has the focus", FOCUS, json!("filter")).await;
        page.press("ki").await;
        // The filter's words are offered below its field, with the values that are known.
        let list = "return [...document.querySelectorAll('[data-testid=filter-list] [role=option]')].map(one => one.firstElementChild.textContent)";
        page.becomes("a word is offered", list, json!(["kind:"])).await;
        page.press("\u{e004}").await; // Tab
        page.becomes("then its values", list, json!(["kind:Pod"])).await;
        let chosen = "
            const field = document.querySelector('[data-testid=filter]');
            const option = document.getElementById(field.getAttribute('aria-activedescendant'));
            return [option?.getAttribute('aria-selected') ?? null, field.getAttribute('aria-expanded'), field.value]";
        page.press("\u{e015}").await; // down
        page.becomes("an arrow chooses one", chosen, json!(["true", "true", "kind:"])).await;
        page.press("\u{e007}").await;
        page.becomes("Enter takes it", chosen, json!([null, "false", "kind:Pod "])).await;
        page.becomes("the focus stays in the field", FOCUS, json!("filter")).await;
    })
    .await;
}

#[tokio::test]
async fn keys_are_for_the_page_only_where_they_may_be() {
    with_live_page("keys_are_for_the_page_only_where_they_may_be", "#/pods", async |page, _| {
        let help = "return document.querySelector('[data-testid=help]').open";
        page.press("?").await;
        page.becomes("? shows the keys", help, json!(true)).await;
        let shown = "return [...document.querySelectorAll('[data-testid=help] kbd')].map(key => key.textContent)";
        let keys: Vec<String> = page.read(shown, Vec::new()).await;
        assert!(["j", "↓", "Esc", "Ctrl K", "?"].iter().all(|key| keys.iter().any(|other| other == key)), "{keys:?}");
        page.press("W").await;
        page.press("\u{e00c}").await;
        page.becomes("Esc hides the keys", help, json!(false)).await;
        assert!(!page.hash().await.contains("wide"), "a dialog has its own keys");

        page.press("/").await;
        page.becomes("/ moves the focus to the filter", FOCUS, json!("filter")).await;
        page.press("pw?:nsy").await;
        let state = "return [document.querySelector('[data-testid=filter]').value,
            document.querySelector('[data-testid=pause]').getAttribute('aria-pressed'),
            document.querySelectorAll('dialog[open]').length]";
        page.becomes("in a field, keys type text", state, json!(["pw?:nsy", "false", 0])).await;
        page.press("\u{e00c}").await;
        page.becomes("Esc clears the filter", "return document.querySelector('[data-testid=filter]').value", json!(""))
            .await;
        page.becomes("Esc moves the focus to the rows", FOCUS, json!("table-scroll")).await;
        page.press("W").await;
        wait_until("w shows all columns", AT_ONCE, async || {
            let hash = page.hash().await;
            holds(hash.contains("wide=1"), || hash)
        })
        .await;
        page.press("s").await;
        wait_until("s sorts", AT_ONCE, async || {
            let hash = page.hash().await;
            holds(hash.contains("sort=NAMESPACE"), || hash)
        })
        .await;
        page.press("n").await;
        page.becomes(
            "n opens the namespaces",
            "return document.querySelector('[data-testid=namespaces]').open",
            json!(true),
        )
        .await;
        page.press("\u{e00c}").await;
        page.becomes(
            "Esc closes the namespaces",
            "return document.querySelector('[data-testid=namespaces]').open",
            json!(false),
        )
        .await;

        // A menu that the mouse opens takes the keys, too.
        let summary = page.browser.driver.find(By::Css("[data-testid=namespaces] summary")).await.expect("a menu");
        summary.click().await.expect("it can be clicked");
        let names = "return [...document.querySelectorAll('[data-testid=namespaces] .namespace label')].map(name => name.textContent)";
        let all: Vec<String> = wait_until("the namespaces are there", AT_ONCE, async || {
            let all: Vec<String> = page.read(names, Vec::new()).await;
            if all.len() > 1 { Ok(all) } else { Err(format!("{all:?}")) }
        })
        .await;
        let field = "return document.activeElement.getAttribute('aria-label')";
        page.becomes("the field has the focus", field, json!("add a namespace by name")).await;
        page.press(&all[0]).await;
        page.becomes("what is typed narrows the names", names, json!([all[0]])).await;
        page.becomes("it is no shortcut", state, json!(["", "false", 0])).await;
        page.press("\u{e007}").await; // Enter
        wait_until("the namespace is chosen", AT_ONCE, async || {
            let hash = page.hash().await;
            holds(hash.contains(&format!("ns={}", all[0])), || hash)
        })
        .await;
        page.becomes("the field is empty again", "return document.activeElement.value", json!("")).await;
        page.press("\u{e00c}").await;

        // A user who dictates turns the letters off. The page remembers the choice.
        page.press("?").await;
        page.becomes("the keys are shown", help, json!(true)).await;
        page.click("letters").await;
        page.press("\u{e00c}").await;
        page.reload().await;
        page.reaches("pods", "live", SOON).await;
        page.press("p?:").await;
        page.press("\u{e015}").await;
        page.becomes("the arrows still work", FOCUS, json!("table-scroll")).await;
        page.becomes("letters do nothing", state, json!(["", "false", 0])).await;
    })
    .await;
}

#[tokio::test]
async fn columns_are_arranged_and_remembered() {
    with_live_page("columns_are_arranged_and_remembered", "#/pods", async |page, _| {
        let usual = json!(["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "Δ"]);
        page.becomes("the columns are kubectl's", HEADS, usual.clone()).await;
        page.press("c").await;
        page.becomes("c opens the menu on its first field", FOCUS, json!("column-NAMESPACE")).await;
        page.press(" ").await; // unchecked
        page.becomes("a column is hidden", HEADS, json!(["NAME", "READY", "STATUS", "RESTARTS", "AGE", "Δ"])).await;
        // Focus on Label, up, down: NAME is the second column of the menu, and moves down by two places.
        page.browser.run("document.getElementById('column-1-down').focus()", Vec::new()).await;
        page.press("\u{e007}").await;
        page.becomes("the column moves", HEADS, json!(["READY", "NAME", "STATUS", "RESTARTS", "AGE", "Δ"])).await;
        page.press("\u{e007}").await;
        let arranged = json!(["READY", "STATUS", "NAME", "RESTARTS", "AGE", "Δ"]);
        page.becomes("the column moves again, because the focus moved with it", HEADS, arranged.clone()).await;
        page.press("\u{e00c}").await;

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

        page.reload().await;
        page.reaches("pods", "live", SOON).await;
        page.becomes("the columns are remembered", HEADS, arranged).await;
        wait_until("the columns' widths are remembered", AT_ONCE, async || {
            let restored: f64 = page.read(width, Vec::new()).await;
            holds((restored - after).abs() < 1.0, || format!("{restored}, not {after}"))
        })
        .await;
        page.open("#/deployments").await;
        page.becomes(
            "other kinds have their own",
            "return document.querySelector('[role=columnheader]')?.dataset.col",
            json!("NAMESPACE"),
        )
        .await;
        page.open("#/pods").await;
        page.reaches("pods", "live", SOON).await;
        page.press(":reset columns\u{e007}").await;
        page.becomes("the columns have their default arrangement", HEADS, usual).await;
        page.becomes("the default is not stored", "return localStorage.getItem('kubechurn.columns.pods')", Value::Null)
            .await;
    })
    .await;
}

#[tokio::test]
async fn the_feed_and_the_lanes_are_used_by_keys_alone() {
    let name = "the_feed_and_the_lanes_are_used_by_keys_alone";
    with_live_page(name, "#/pods", async |page, cluster| {
        page.open("#/pods?view=changes").await;
        let pods = cluster.list(PODS).await;
        let keys = pods.in_order();
        // The same change of several Pods would be one row.
        for (key, label) in keys.iter().zip(["a", "b", "c"]) {
            cluster.patch(&pod(key), &json!({ "metadata": { "labels": { label: "one" } } })).await;
        }
        let rows = "return [...document.querySelectorAll('[data-testid=feed-row][data-what=change]')].length >= 3";
        page.becomes("the changes are shown", rows, json!(true)).await;
        let links = "return [document.activeElement.textContent, document.activeElement.getBoundingClientRect().width > 60]";
        page.press("\u{e004}").await; // Tab
        page.becomes("the first Tab comes to a way past all else", links, json!(["Skip to the changes", true])).await;
        page.press("\u{e007}").await;
        page.becomes("it leads to the changes", FOCUS, json!("feed-scroll")).await;
        let in_hand = "
            const row = document.getElementById(document.activeElement.getAttribute('aria-activedescendant'));
            return row && [row.matches('[data-testid=feed-row][data-hand]'), Number(row.id.split('-').pop())]";
        page.press("\u{e015}").await; // down
        page.becomes("the first row is in hand", in_hand, json!([true, 0])).await;
        page.press("jk\u{e015}").await;
        page.becomes("then the second", in_hand, json!([true, 1])).await;
        page.press("\u{e007}").await;
        let inspected = "return document.querySelector('aside.inspector')?.dataset.key ?? null";
        let opened: String = wait_until("Enter looks at its object", SOON, async || {
            let key: Option<String> = page.read(inspected, Vec::new()).await;
            key.ok_or_else(|| String::from("nothing is"))
        })
        .await;
        assert!(keys[..3].contains(&&*opened), "{opened}");
        page.becomes("at that change", "return document.querySelector('[data-testid=inspector-versions] > [aria-current]') !== null", json!(true)).await;
        page.press("\u{e00c}").await;
        page.becomes("Esc closes it", inspected, Value::Null).await;
        page.becomes("the feed has the focus", FOCUS, json!("feed-scroll")).await;

        // The menu of noise is in the window, and has the focus until it closes.
        page.press("m").await;
        page.becomes("the menu is open", FOCUS, json!("noise-choice")).await;
        let within = "
            const box = document.querySelector('[data-testid=noise-offer]').getBoundingClientRect();
            return box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight && box.width > 100";
        page.becomes("the menu is in the window", within, json!(true)).await;
        let menu = "return document.querySelector('[data-testid=noise-offer]') === null";
        page.press("\u{e00c}").await;
        page.becomes("Esc closes the menu", menu, json!(true)).await;
        page.press("m").await;
        page.becomes("the menu is open again", FOCUS, json!("noise-choice")).await;
        page.click("feed-counts").await;
        page.becomes("a click elsewhere closes the menu", menu, json!(true)).await;

        page.browser.run("document.activeElement.blur(); document.querySelector('[data-testid=timeline]').focus()", Vec::new()).await;
        page.press("\u{e015}\u{e014}").await; // down, right
        let said = "return [document.querySelector('[data-testid=lane-said]').textContent !== '',
            document.querySelector('.lane-hand').checkVisibility(), document.querySelector('[data-testid=timeline-hover]').checkVisibility()]";
        page.becomes("a mark is in hand, seen and said", said, json!([true, true, true])).await;
        page.press("\u{e007}").await;
        wait_until("Enter opens what is in hand", SOON, async || {
            let key: Option<String> = page.read(inspected, Vec::new()).await;
            key.ok_or_else(|| String::from("nothing is"))
        })
        .await;
    })
    .await;
}
