//! The inspector as a panel: its width is remembered and stays within the window, and it rests while nothing changes.

use std::time::Duration;

use serde_json::{Value, json};
use thirtyfour::Key;

use crate::harness::page::Page;
use crate::harness::wait::{holds, wait_until};
use crate::live::with_live_page;

const PODS: &str = "/api/v1/pods";
const SOON: Duration = Duration::from_secs(10);

const WIDTH: &str = "return Math.round(document.querySelector('aside.inspector')?.getBoundingClientRect().width ?? 0)";

async fn width(page: &Page) -> i64 {
    page.read(WIDTH, Vec::new()).await
}

/// Makes the window so large.
async fn window(page: &Page, width: u32, height: u32) {
    page.browser.driver.set_window_rect(0, 0, width, height).await.expect("the window can be resized");
}

#[tokio::test]
async fn the_panel_keeps_its_width_within_the_window() {
    with_live_page("the_panel_keeps_its_width_within_the_window", "#/pods", async |page, _| {
        page.press("j\u{e007}").await; // Enter
        page.becomes("it is as wide as at first", WIDTH, json!(400)).await;
        let edge = page.element("inspector-edge").await;
        let drag = page.browser.driver.action_chain().move_to_element_center(&edge).click_and_hold();
        drag.move_by_offset(-150, 0).release().perform().await.expect("the edge can be dragged");
        wait_until("it is wider", SOON, async || {
            let width = width(page).await;
            holds((545..=555).contains(&width), || width.to_string())
        })
        .await;
        let chosen = width(page).await;
        assert_eq!(page.attribute("inspector-edge", "aria-valuenow").await, Some(chosen.to_string()));
        page.browser.driver.refresh().await.expect("the page reloads");
        page.reaches("pods", "live", SOON).await;
        page.becomes("it is remembered", WIDTH, json!(chosen)).await;

        // Never beyond the window, however it is asked for.
        let inner: i64 = page.read("return innerWidth", Vec::new()).await;
        page.element("inspector-edge").await.send_keys(Key::End + "").await.expect("the edge takes keys");
        page.becomes("it leaves room for the table", WIDTH, json!(inner - 420)).await;
        window(page, 1100, 800).await;
        let inner: i64 = page.read("return innerWidth", Vec::new()).await;
        page.becomes("it follows the window", WIDTH, json!(inner - 420)).await;
        page.browser.run("localStorage.setItem('kubechurn.inspector', '99999')", Vec::new()).await;
        page.browser.driver.refresh().await.expect("the page reloads");
        page.reaches("pods", "live", SOON).await;
        page.becomes("what is restored fits as well", WIDTH, json!(inner - 420)).await;
        window(page, 1500, 900).await;
        let inner: i64 = page.read("return innerWidth", Vec::new()).await;
        page.becomes("a larger window has more room", WIDTH, json!(inner - 420)).await;

        page.element("inspector-edge").await.send_keys(Key::Home + "").await.expect("the edge takes keys");
        page.becomes("as narrow as it gets", WIDTH, json!(320)).await;
        let edge = page.element("inspector-edge").await;
        let twice = page.browser.driver.action_chain().double_click_element(&edge);
        twice.perform().await.expect("the edge can be clicked");
        page.becomes("as at first", WIDTH, json!(400)).await;
        assert_eq!(page.browser.run("return localStorage.getItem('kubechurn.inspector')", vec![]).await, Value::Null);
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
        // Others change all the while.
        let path = cluster.list(PODS).await.last_key().to_owned();
        let (namespace, name) = path.split_once('/').expect("a Pod has a namespace");
        for number in 0..8 {
            let patch = json!({ "metadata": { "annotations": { "kubechurn.test/number": number.to_string() } } });
            let changed = cluster.patch(&format!("/api/v1/namespaces/{namespace}/pods/{name}"), &patch).await;
            let version = changed["metadata"]["resourceVersion"].as_str().expect("it has a version").to_owned();
            wait_until("the page knows of it", SOON, async || {
                let known = page.status_of("pods").await.and_then(|status| status.resource_version);
                holds(known.as_deref() == Some(&version), || format!("{known:?}, not {version}"))
            })
            .await;
        }
        assert_eq!(page.read::<u32>("return window.__changes", Vec::new()).await, 0, "nothing was drawn anew");
        let patch = json!({ "metadata": { "annotations": { "kubechurn.test/seen": "at-last" } } });
        cluster.patch(&format!("/api/v1/nodes/{key}"), &patch).await;
        wait_until("its own change is shown", SOON, async || {
            let shown = page.text("yaml").await;
            holds(shown.contains("at-last"), || shown)
        })
        .await;
        assert!(page.read::<u32>("return window.__changes", Vec::new()).await > 0, "the observer sees changes");
    })
    .await;
}
