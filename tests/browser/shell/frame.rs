//! The frame around the table: panels that are dragged to size, and words that are shown whole.

use std::time::Duration;

use serde_json::{Value, json};
use thirtyfour::Key;

use kubechurn_harness::page::Page;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::{viewport, with_live_page};

const SOON: Duration = Duration::from_secs(10);

const SIDEBAR: &str = "return Math.round(document.querySelector('.sidebar').getBoundingClientRect().width)";
const TIMELINE: &str = "return Math.round(document.querySelector('.timeline').getBoundingClientRect().height)";

async fn pixels(page: &Page, script: &str) -> i64 {
    page.read(script, Vec::new()).await
}

/// Drags the edge of a panel, and returns the size that the panel then has and says it has.
async fn drag(page: &Page, edge: &str, by: (i64, i64), size: &str) -> i64 {
    let before = pixels(page, size).await;
    let element = page.element(edge).await;
    let chain = page.browser.driver.action_chain().move_to_element_center(&element).click_and_hold();
    chain.move_by_offset(by.0, by.1).release().perform().await.expect("the edge can be dragged");
    let expected = before + by.0.abs() + by.1.abs();
    wait_until("the panel is larger, and says so", SOON, async || {
        let now = pixels(page, size).await;
        let said = page.attribute(edge, "aria-valuenow").await;
        let is_so = (expected - 5..=expected + 5).contains(&now) && said == Some(now.to_string());
        if is_so { Ok(now) } else { Err(format!("{now}, and says {said:?}, from {before}")) }
    })
    .await
}

#[tokio::test]
async fn sidebar_and_timeline_are_dragged_to_size_and_remembered() {
    with_live_page("sidebar_and_timeline_are_dragged_to_size_and_remembered", "#/pods", async |page, _| {
        viewport(page, 1440, 900).await;
        for (edge, key, script, by, (larger, smaller), (least, most)) in [
            ("sidebar-edge", "sidebar-width", SIDEBAR, (60, 0), (Key::Right, Key::Left), (150, 576)),
            ("timeline-edge", "timeline-height", TIMELINE, (0, -90), (Key::Up, Key::Down), (110, 640)),
        ] {
            let default = pixels(page, script).await;
            let chosen = drag(page, edge, by, script).await;
            page.reload().await;
            page.reaches("pods", "live", SOON).await;
            page.becomes("the size is remembered", script, json!(chosen)).await;
            let element = page.element(edge).await;
            for (key, expected) in [
                (larger.clone(), chosen + 24),
                (smaller.clone(), chosen),
                (Key::Home, least),
                (smaller.clone(), least),
                (Key::End, most),
                (larger.clone(), most),
            ] {
                element.send_keys(key.clone() + "").await.expect("the edge takes keys");
                page.becomes("the key moves the edge", script, json!(expected)).await;
            }
            let twice = page.browser.driver.action_chain().double_click_element(&element);
            twice.perform().await.expect("the edge can be clicked");
            page.becomes("the panel has its default size again", script, json!(default)).await;
            let stored = format!("return localStorage.getItem('kubechurn.{key}')");
            page.becomes("the default is not stored", &stored, Value::Null).await;
        }
        // What was stored is limited to a smaller window too, whose own defaults do not win over it.
        let store = "
            localStorage.setItem('kubechurn.sidebar-width', '9999');
            localStorage.setItem('kubechurn.timeline-height', '9999')";
        page.browser.run(store, Vec::new()).await;
        page.reload().await;
        page.reaches("pods", "live", SOON).await;
        viewport(page, 1000, 700).await;
        page.becomes("the sidebar fits", SIDEBAR, json!(400)).await;
        page.becomes("the timeline fits", TIMELINE, json!(440)).await;
    })
    .await;
}

#[tokio::test]
async fn the_timeline_fills_the_page_and_goes_back() {
    with_live_page("the_timeline_fills_the_page_and_goes_back", "#/pods", async |page, _| {
        viewport(page, 1440, 900).await;
        let before = pixels(page, TIMELINE).await;
        let canvas = "return document.querySelector('[data-testid=timeline]').height";
        let drawn = pixels(page, canvas).await;
        let table =
            "return document.querySelector('[data-testid=table-scroll]').checkVisibility({ visibilityProperty: true })";
        let back = [None, Some("\u{e00c}")];
        for key in back {
            page.element("timeline-fill").await.click().await.expect("there is a button");
            page.becomes("the timeline has the page's height", TIMELINE, json!(900 - 44 - 28)).await;
            page.becomes("the table is not there", table, json!(false)).await;
            wait_until("the canvas has the room", SOON, async || {
                let now = pixels(page, canvas).await;
                holds(now > drawn + 400, || format!("{now} after {drawn}"))
            })
            .await;
            match key {
                None => page.element("timeline-fill").await.click().await.expect("there is a button"),
                Some(key) => page.press(key).await,
            }
            page.becomes("the timeline is as before", TIMELINE, json!(before)).await;
            page.becomes("the table is back", table, json!(true)).await;
        }
    })
    .await;
}

/// Each kind's name in the sidebar, with the width that it has and the width that it needs beside a count of three digits.
const NAMES: &str = "
    return [...document.querySelectorAll('.sidebar-group .sidebar-item')].map(item => {
        const name = item.querySelector('a > span:nth-child(2)');
        const count = item.querySelector('.num').firstChild;
        if (count?.data && count.data.length < 3) count.data = '999';
        return [name.textContent, name.clientWidth, name.scrollWidth, item.querySelector('a').title];
    })";

#[tokio::test]
async fn no_name_of_a_kind_is_cut_in_the_sidebar() {
    with_live_page("no_name_of_a_kind_is_cut_in_the_sidebar", "#/pods", async |page, _| {
        viewport(page, 1440, 900).await;
        // The kinds of custom resources are called as their definitions like.
        let open = "
            document.querySelectorAll('.sidebar-group').forEach(group => group.open = true);
            return [...document.querySelectorAll('.sidebar-group:not([data-testid=group-Custom]) .pin')]
                .map(pin => pin.dataset.testid.slice('pin-'.length))";
        let kinds: Vec<String> = page.read(open, Vec::new()).await;
        assert!(kinds.len() >= 20 && kinds.iter().any(|kind| kind == "horizontalpodautoscalers"), "{kinds:?}");
        for pinned in [Vec::new(), kinds] {
            if !pinned.is_empty() {
                page.open(&format!("#/pods?pin={}", pinned.join(","))).await;
                let live = "return kubechurn.status().filter(kind => kind.state === 'live').length";
                wait_until("the pinned kinds are watched", SOON, async || {
                    let live = pixels(page, live).await;
                    holds(live >= 20, || format!("{live} kinds"))
                })
                .await;
            }
            let names: Vec<(String, i64, i64, String)> = page.read(NAMES, Vec::new()).await;
            let builtin = names.iter().filter(|(_, width, ..)| *width > 0);
            let cut: Vec<_> = builtin.clone().filter(|(_, width, needed, _)| needed > width).collect();
            assert!(builtin.count() >= 20, "{names:?}");
            assert!(cut.is_empty(), "these are cut: {cut:?}");
            assert!(names.iter().all(|(name, _, _, title)| title.starts_with(name)), "{names:?}");
        }
    })
    .await;
}

/// The fields of the footer, from left to right: the name of each, whether it is cut, and where it begins and ends.
const FIELDS: &str = "
    const footer = document.querySelector('.footer');
    const bottom = footer.getBoundingClientRect().bottom;
    const names = new Set(['verified', 'ledger', 'notices', 'watches', 'figures']);
    return [...footer.querySelectorAll('[data-testid]')].filter(field => names.has(field.dataset.testid)).map(field => {
        const box = (field.querySelector('summary') ?? field).getBoundingClientRect();
        const cut = box.width === 0 || field.scrollWidth > field.clientWidth && field.clientWidth > 0
            || box.right > innerWidth || box.bottom > bottom;
        return [field.dataset.testid, cut, box.left, box.right];
    })";

#[tokio::test]
async fn the_footer_says_all_in_one_line_and_its_figures_open() {
    let name = "the_footer_says_all_in_one_line_and_its_figures_open";
    with_live_page(name, "#/pods?pin=deployments,events,replicasets", async |page, cluster| {
        cluster.rate(20).await;
        for width in [1440, 1024, 720] {
            viewport(page, width, 700).await;
            let fields: Vec<(String, bool, f64, f64)> = page.read(FIELDS, Vec::new()).await;
            let names: Vec<&str> = fields.iter().map(|(name, ..)| &**name).collect();
            assert_eq!(names, ["verified", "ledger", "notices", "watches", "figures"]);
            assert!(fields.iter().all(|(_, cut, ..)| !cut), "at {width} pixels: {fields:?}");
            assert!(fields.is_sorted_by(|one, next| one.3 <= next.2), "at {width} pixels: {fields:?}");
        }
        page.read::<Value>("document.querySelector('[data-testid=figures] summary').click()", Vec::new()).await;
        let rows = "return [...document.querySelectorAll('[data-testid=figures] tr')].map(row => row.dataset.field)
            .filter((field, at, all) => all.indexOf(field) === at)";
        let fields = json!(["list", "watch", "queue", "pop", "page", "rv", "memory"]);
        page.becomes("each figure has its row", rows, fields).await;
        // In words, each number with its unit.
        let heads = "return [...document.querySelectorAll('[data-testid=figures] th')].map(head => head.textContent)
            .filter((head, at, all) => all.indexOf(head) === at)";
        let words = json!(["listed", "received", "waiting", "folded", "drawn", "version", "memory"]);
        page.becomes("each figure is named in words", heads, words).await;
        page.open("#/pods,deployments").await;
        page.reaches("deployments", "live", SOON).await;
        let version = "return document.querySelector('[data-testid=figures] tr[data-field=rv] td.num')?.textContent";
        page.becomes("several kinds have several versions", version, json!("each watch has its own")).await;
    })
    .await;
}
