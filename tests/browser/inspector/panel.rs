//! The inspector as a panel: its width is remembered and stays within the window, and it does nothing while nothing
//! changes.

use std::time::Duration;

use serde_json::{Value, json};
use thirtyfour::Key;

use kubechurn_harness::page::Page;
use kubechurn_harness::truth::pod;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::with_live_page;

const PODS: &str = "/api/v1/pods";
const SOON: Duration = Duration::from_secs(10);

const WIDTH: &str = "return Math.round(document.querySelector('aside.inspector')?.getBoundingClientRect().width ?? 0)";

async fn inner_width(page: &Page) -> i64 {
    page.read("return innerWidth", Vec::new()).await
}

/// Gives the window this size, with another width than before. Returns the width that is left for the page.
async fn window(page: &Page, width: u32, height: u32) -> i64 {
    let before = inner_width(page).await;
    page.browser.driver.set_window_rect(0, 0, width, height).await.expect("the window can be resized");
    wait_until("the window has another width", SOON, async || {
        let inner = inner_width(page).await;
        if inner == before { Err(inner.to_string()) } else { Ok(inner) }
    })
    .await
}

#[tokio::test]
async fn the_panel_keeps_its_width_within_the_window() {
    with_live_page("the_panel_keeps_its_width_within_the_window", "#/pods", async |page, _| {
        page.press("j\u{e007}").await; // Enter
        page.becomes("the panel has its default width", WIDTH, json!(400)).await;
        let edge = page.element("inspector-edge").await;
        let drag = page.browser.driver.action_chain().move_to_element_center(&edge).click_and_hold();
        drag.move_by_offset(-150, 0).release().perform().await.expect("the edge can be dragged");
        let chosen = wait_until("the panel is wider, and says so", SOON, async || {
            let width: i64 = page.read(WIDTH, Vec::new()).await;
            let said = page.attribute("inspector-edge", "aria-valuenow").await;
            let is_so = (545..=555).contains(&width) && said == Some(width.to_string());
            if is_so { Ok(width) } else { Err(format!("{width}, and says {said:?}")) }
        })
        .await;
        page.reload().await;
        page.reaches("pods", "live", SOON).await;
        page.becomes("the width is remembered", WIDTH, json!(chosen)).await;

        // The panel never exceeds the window, whichever way the user widens it.
        let inner = inner_width(page).await;
        page.element("inspector-edge").await.send_keys(Key::End + "").await.expect("the edge takes keys");
        page.becomes("the panel leaves room for the table", WIDTH, json!(inner - 420)).await;
        let inner = window(page, 1100, 800).await;
        page.becomes("the panel follows the window", WIDTH, json!(inner - 420)).await;
        page.browser.run("localStorage.setItem('kubechurn.inspector', '99999')", Vec::new()).await;
        page.reload().await;
        page.reaches("pods", "live", SOON).await;
        page.becomes("the restored width fits into the window too", WIDTH, json!(inner - 420)).await;
        let inner = window(page, 1500, 900).await;
        page.becomes("a larger window has more room", WIDTH, json!(inner - 420)).await;

        page.element("inspector-edge").await.send_keys(Key::Home + "").await.expect("the edge takes keys");
        page.becomes("the panel has its least width", WIDTH, json!(320)).await;
        let edge = page.element("inspector-edge").await;
        let twice = page.browser.driver.action_chain().double_click_element(&edge);
        twice.perform().await.expect("the edge can be clicked");
        page.becomes("the panel has its default width again", WIDTH, json!(400)).await;
        page.becomes("the default is not stored", "return localStorage.getItem('kubechurn.inspector')", Value::Null)
            .await;
    })
    .await;
}

#[tokio::test]
async fn the_yaml_rests_while_its_object_does() {
    with_live_page("the_yaml_rests_while_its_object_does", "#/pods", async |page, cluster| {
        let key = cluster.list("/api/v1/nodes").await.last_key().to_owned();
        page.open(&format!("#/nodes?pin=pods&sel={key}&tab=yaml")).await;
        page.reaches("nodes", "live", SOON).await;
        page.reaches("pods", "live", SOON).await;
        let lines = "return document.querySelectorAll('[data-testid=yaml] .line').length > 10";
        page.becomes("the YAML is there", lines, json!(true)).await;
        let watch = "
            window.__changes = 0;
            new MutationObserver(changes => window.__changes += changes.length)
                .observe(document.querySelector('[data-testid=yaml]'), { subtree: true, childList: true, characterData: true });";
        page.browser.run(watch, Vec::new()).await;
        // Other objects change all the while.
        let path = pod(cluster.list(PODS).await.last_key());
        for number in 0..8 {
            let patch = json!({ "metadata": { "annotations": { "kubechurn.test/number": number.to_string() } } });
            let changed = cluster.patch(&path, &patch).await;
            let version = changed["metadata"]["resourceVersion"].as_str().expect("it has a version").to_owned();
            wait_until("the page has received the change", SOON, async || {
                let known = page.status_of("pods").await.and_then(|status| status.resource_version);
                holds(known.as_deref() == Some(&version), || format!("{known:?}, not {version}"))
            })
            .await;
        }
        assert_eq!(page.read::<u32>("return window.__changes", Vec::new()).await, 0, "nothing was drawn again");
        let patch = json!({ "metadata": { "annotations": { "kubechurn.test/seen": "at-last" } } });
        cluster.patch(&format!("/api/v1/nodes/{key}"), &patch).await;
        wait_until("a change of the selected object is shown", SOON, async || {
            let shown = page.text("yaml").await;
            holds(shown.contains("at-last"), || shown)
        })
        .await;
        assert!(page.read::<u32>("return window.__changes", Vec::new()).await > 0, "the observer sees changes");
    })
    .await;
}
