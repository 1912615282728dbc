//! Two versions of an object side by side, chosen by the keyboard alone; and times, by another clock and in full.

use std::time::Duration;

use serde_json::{Value, json};
use thirtyfour::Key;

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;
use crate::shell::accessibility::finds_nothing;

const SOON: Duration = Duration::from_secs(20);

/// Waits until an element says all of these.
async fn says(page: &Page, handle: &str, words: &[&str]) {
    wait_until(&format!("{handle} says {words:?}"), SOON, async || {
        let said = page.text(handle).await;
        holds(words.iter().all(|words| said.contains(words)), || said)
    })
    .await;
}

/// Waits until the focus is on an element.
async fn has_focus(page: &Page, handle: &str) {
    let script = "return document.activeElement?.dataset.testid ?? document.activeElement?.id";
    page.becomes(&format!("{handle} has the focus"), script, json!(handle)).await;
}

#[tokio::test]
async fn two_versions_are_chosen_by_keyboard_and_stand_side_by_side() {
    let (_turn, cluster, proxy) = started(&Options { pods: 20, ..Options::default() }).await;
    let all = cluster.get("/api/v1/namespaces").await;
    let namespace = all["items"][0]["metadata"]["name"].as_str().expect("it has a name").to_owned();
    let path = format!("/api/v1/namespaces/{namespace}");
    let label = async |value: &str| -> Value {
        cluster.patch(&path, &json!({ "metadata": { "labels": { "looked-at": value } } })).await
    };
    let name = "two_versions_are_chosen_by_keyboard_and_stand_side_by_side";
    with_page(name, &proxy.url(), &format!("#/namespaces?sel={namespace}&tab=changes"), async |page| {
        page.reaches("namespaces", "live", SOON).await;
        for value in ["one", "two", "three"] {
            label(value).await;
            let count = "return document.querySelectorAll('[data-testid=inspector-versions] > li').length";
            let wanted = ["one", "two", "three"].iter().position(|other| *other == value).map_or(0, |at| at + 2);
            page.becomes("the version is there", count, json!(wanted)).await;
        }
        page.press("v").await;
        has_focus(page, "compare-old").await;
        says(page, "compare-rows", &["looked-at: two", "looked-at: three"]).await;
        let marked =
            "return [...document.querySelectorAll('[data-testid=compare-rows] mark')].map(mark => mark.textContent)";
        let words: Vec<String> = page.read(marked, Vec::new()).await;
        assert!(words.contains(&String::from("two")) && words.contains(&String::from("three")), "{words:?}");
        finds_nothing(page, "two versions").await;

        // An older one, by the arrow; the focus stays.
        page.press(Key::Down + "").await;
        says(page, "compare-rows", &["looked-at: one", "looked-at: three"]).await;
        has_focus(page, "compare-old").await;
        assert!(page.hash().await.contains("against="), "{}", page.hash().await);

        // Wide, the two stand in columns.
        page.browser.run("document.querySelector('[data-testid=compare-wide]').focus()", Vec::new()).await;
        page.press(Key::Enter + "").await;
        let beside = "
            const pair = document.querySelector('[data-testid=compare-rows] [data-what=changed]');
            const [before, now] = ['del', 'ins'].map(side => pair.querySelector(side).getBoundingClientRect());
            return before.top == now.top && before.right <= now.left";
        page.becomes("they stand side by side", beside, json!(true)).await;
        finds_nothing(page, "two versions side by side").await;
        page.press(Key::Enter + "").await;
        page.becomes("they stand one below the other", beside, json!(false)).await;

        page.browser.run("document.querySelector('[data-testid=compare-fields]').focus()", Vec::new()).await;
        page.press(Key::Enter + "").await;
        says(page, "compare-field-list", &["metadata.labels.looked-at", "one", "three"]).await;
        finds_nothing(page, "the fields of two versions").await;

        page.press(Key::Escape + "").await;
        has_focus(page, "inspector-tab-changes").await;
        page.element("inspector-versions").await;
        assert!(!page.hash().await.contains("against="), "{}", page.hash().await);

        // After a reload the old one is not kept, which is said.
        page.press("v").await;
        has_focus(page, "compare-old").await;
        page.reload().await;
        says(page, "compare-words", &["is not kept: it was evicted, or another visit had it."]).await;
    })
    .await;
}

#[tokio::test]
async fn whoever_points_at_a_time_sees_its_date_and_zone() {
    let (_turn, _cluster, proxy) = started(&Options { pods: 20, rate: 5, ..Options::default() }).await;
    let name = "whoever_points_at_a_time_sees_its_date_and_zone";
    with_page(name, &proxy.url(), "#/pods?view=changes", async |page| {
        page.reaches("pods", "live", SOON).await;
        // A Z at the end in UTC, and in full after a pointer has come.
        let script = "
            const time = document.querySelector('[data-testid=feed-row] time');
            time?.dispatchEvent(new PointerEvent('pointerover', { bubbles: true }));
            return [time?.textContent ?? '', time?.title ?? '']";
        page.press("z").await;
        says(page, "clock", &["UTC"]).await;
        wait_until("a time is shown", SOON, async || {
            let [time, full]: [String; 2] = page.read(script, Vec::new()).await;
            let clock = time.strip_suffix('Z').unwrap_or("none");
            holds(full.contains(&format!(" {clock} UTC")) && full.len() > clock.len() + 18, || {
                format!("{time}: {full}")
            })
        })
        .await;
        page.reload().await;
        says(page, "clock", &["UTC"]).await;
        page.press("zz").await;
        says(page, "clock", &["local time"]).await;
    })
    .await;
}
