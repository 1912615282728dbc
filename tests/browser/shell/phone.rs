//! A window as narrow as a phone's: the state, the feed, the first columns and one object can be read.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::page::Page;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::with_live_page;

const SOON: Duration = Duration::from_secs(10);
const WIDTH: u32 = 390;
const HEIGHT: u32 = 844;

/// What is not wholly in the window, of the elements of a selector; and whether there is none at all.
const OUTSIDE: &str = "const all = [...document.querySelectorAll(arguments[0])];
    const boxes = all.map(one => [one.textContent || one.ariaLabel, one.getBoundingClientRect()]);
    const out = ([_, box]) => box.width === 0 || box.left < 0 || box.right > innerWidth || box.top < 0
        || box.bottom > innerHeight || document.elementFromPoint(box.left + box.width / 2, box.top + box.height / 2) === null;
    return all.length === 0 ? ['nothing'] : boxes.filter(out).map(([words, box]) => `${words} ${JSON.stringify(box)}`)";

/// Makes the window that of a phone.
async fn hold_upright(page: &Page) {
    let window = json!({ "width": WIDTH, "height": HEIGHT, "deviceScaleFactor": 2, "mobile": true });
    page.browser.devtools("Emulation.setDeviceMetricsOverride", window).await;
    page.becomes("the window is narrow", "return innerWidth", json!(WIDTH)).await;
}

async fn is_within(page: &Page, selectors: &[&str]) {
    for selector in selectors {
        wait_until(&format!("{selector} is in the window"), SOON, async || {
            let outside: Vec<String> = page.read(OUTSIDE, vec![(*selector).into()]).await;
            holds(outside.is_empty(), || format!("{outside:#?}"))
        })
        .await;
    }
    page.becomes(
        "nothing is wider than the window",
        "return document.documentElement.scrollWidth <= innerWidth",
        json!(true),
    )
    .await;
}

#[tokio::test]
async fn table_kinds_and_one_object_are_readable_on_a_phone() {
    with_live_page("table_kinds_and_one_object_are_readable_on_a_phone", "#/pods", async |page, _| {
        hold_upright(page).await;
        let state = "[data-testid=connection]";
        let own = ["[data-testid=kinds]", state, "[data-testid=pause]", "[data-testid=filter]", "[data-testid=timeline]"];
        is_within(page, &own).await;
        assert!(page.text("connection").await.contains("live"));
        let columns = ["NAMESPACE", "NAME"].map(|name| format!(".row:nth-child(-n+5) .cell[data-col={name}]"));
        is_within(page, &columns.each_ref().map(|selector| &**selector)).await;
        let cut = "return [...document.querySelectorAll('.row .cell[data-col=NAME]')].filter(c => c.scrollWidth > c.clientWidth).length";
        page.becomes("no name is cut", cut, json!(0)).await;

        // The kinds cover what is behind until one is chosen.
        let kinds = "return getComputedStyle(document.querySelector('#kinds')).visibility";
        page.becomes("the kinds are not in the way", kinds, json!("hidden")).await;
        page.click("kinds").await;
        page.becomes("the kinds are there", kinds, json!("visible")).await;
        is_within(page, &["[data-testid=what-changed]", "[data-testid=kind-deployments]"]).await;
        page.click("kind-deployments").await;
        page.becomes("they go when one is chosen", kinds, json!("hidden")).await;
        page.reaches("deployments", "live", SOON).await;

        // An object has the window to itself, below the header.
        page.press("j\u{e007}").await; // Enter
        let width = "return Math.round(document.querySelector('aside.inspector')?.getBoundingClientRect().width ?? 0)";
        page.becomes("the object is as wide as the window", width, json!(WIDTH)).await;
        is_within(page, &[state, ".inspector h2", "[data-testid=inspector-close]", ".inspector-tabs .tab"]).await;
        page.click("inspector-close").await;
        page.becomes("the table is back", width, json!(0)).await;
    })
    .await;
}

#[tokio::test]
async fn a_change_has_two_lines_on_a_phone() {
    with_live_page("a_change_has_two_lines_on_a_phone", "#/pods", async |page, cluster| {
        hold_upright(page).await;
        page.open("#/pods?view=changes").await;
        let pods = cluster.get("/api/v1/pods").await;
        let metadata = &pods["items"][0]["metadata"];
        let (namespace, name) = (metadata["namespace"].as_str().unwrap(), metadata["name"].as_str().unwrap());
        let patch = json!({ "metadata": { "annotations": { "example.org/asked-by": "a-person" } } });
        cluster.patch(&format!("/api/v1/namespaces/{namespace}/pods/{name}"), &patch).await;
        is_within(page, &["[data-testid=feed-row] time", "[data-testid=feed-row] .feed-subject", "[data-testid=feed-row] .feed-line:first-child > .feed-words"]).await;
        let two = "const row = document.querySelector('[data-testid=feed-row]'); const words = row.querySelector('.feed-words').getBoundingClientRect();
            return [words.top >= row.querySelector('.feed-subject').getBoundingClientRect().bottom,
                words.width > innerWidth * 0.9, row.getBoundingClientRect().bottom > words.bottom]";
        page.becomes("what changed stands below its object, over the whole width", two, json!([true, true, true])).await;
        // In a wide window it stands beside its object.
        page.browser.devtools("Emulation.clearDeviceMetricsOverride", json!({})).await;
        let one = "return document.querySelector('.feed-words').getBoundingClientRect().top < document.querySelector('.feed-subject').getBoundingClientRect().bottom";
        page.becomes("a wide window has one line", one, json!(true)).await;
    })
    .await;
}
