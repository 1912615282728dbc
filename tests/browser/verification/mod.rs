//! The page checks itself: it finds what it missed while it was live, says so, and repairs it.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use thirtyfour::Key;

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::truth::pod;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

const PODS: &str = "/api/v1/pods";
const PATIENCE: Duration = Duration::from_secs(20);

/// What `status()` says about the checks.
#[derive(Debug, Deserialize)]
struct Verified {
    at: Option<f64>,
    same: u64,
    of: u64,
    rows: u64,
    drawn: u64,
    checks: u64,
    differed: u64,
    checking: bool,
    trouble: Option<String>,
    differences: Vec<Value>,
}

async fn verified(page: &Page) -> Verified {
    page.read("return kubechurn.status().find(one => one.resource === 'pods').verified", Vec::new()).await
}

/// Waits until this many checks have ended, the last of them without a difference.
async fn all_the_same(page: &Page, checks: u64, count: u64) -> Verified {
    wait_until("the checks find no difference", PATIENCE, async || {
        let found = verified(page).await;
        let is_so = found.checks == checks && !found.checking && [found.same, found.of, found.rows] == [count; 3];
        if is_so { Ok(found) } else { Err(format!("{found:?}")) }
    })
    .await
}

/// The words of the notices of one type.
async fn notices(page: &Page, word: &str) -> Vec<String> {
    let script = "return kubechurn.notices().filter(said => said.type === arguments[0]).map(said => said.words)";
    page.read(script, vec![word.into()]).await
}

fn calm() -> Options {
    Options { pods: 1_200, rate: 0, bookmark_seconds: 1, ..Options::default() }
}

#[tokio::test]
async fn an_event_that_got_lost_is_found_reported_and_healed() {
    let (_turn, cluster, proxy) = started(&calm()).await;
    let name = "an_event_that_got_lost_is_found_reported_and_healed";
    with_page(name, &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", PATIENCE).await;
        page.has_rows().await;
        assert_eq!(page.attribute("verified", "data-state").await.as_deref(), Some("unknown"));

        // From the palette, by name. The check needs three pages, because there are 1,200 Pods.
        page.press(":").await;
        page.element("palette-input").await;
        page.press("verify against").await;
        page.press(Key::Enter + "").await;
        let found = all_the_same(page, 1, 1_200).await;
        assert!(found.at.is_some() && found.trouble.is_none(), "{found:?}");
        wait_until("the footer says that everything is the same", PATIENCE, async || {
            let text = page.text("verified").await;
            let is_so = text.starts_with("verified ") && text.chars().filter(|letter| *letter == ':').count() >= 2;
            holds(is_so, || text)
        })
        .await;

        // One deletion and one change get lost, and bookmarks move the watch past them: nothing shows the loss.
        let before = cluster.list(PODS).await;
        let [gone, changed] = [3, 700].map(|at| before.items.keys().nth(at).expect("there are so many").clone());
        cluster.control("fault?frame=lose&resource=pods&event=DELETED&times=1").await;
        cluster.control("fault?frame=lose&resource=pods&event=MODIFIED&times=1").await;
        cluster.delete(&pod(&gone)).await;
        cluster.patch(&pod(&changed), &json!({"metadata": {"labels": {"lost": "yes"}}})).await;
        let truth = cluster.list(PODS).await;
        wait_until("the watch is past what it missed", PATIENCE, async || {
            let status = page.status_of("pods").await.expect("it is watched");
            let version = status.resource_version.unwrap_or_default();
            holds(version.parse().is_ok_and(|version: u64| version >= truth.revision), || version)
        })
        .await;
        let status = page.reaches("pods", "live", PATIENCE).await;
        assert_eq!((status.items, truth.count()), (1_200, 1_199));
        assert_ne!(page.digest("pods").await, truth.digest(), "the page is live, and wrong");

        // From the footer, with the keyboard alone.
        let _: Value =
            page.read("document.querySelector('[data-testid=verified] > summary').focus()", Vec::new()).await;
        page.press(Key::Enter + "").await;
        page.press(Key::Tab + "").await;
        page.press(Key::Enter + "").await;
        let found = all_the_same(page, 3, 1_199).await;
        assert_eq!(found.differed, 1);
        let version = |items: &std::collections::BTreeMap<_, kubechurn_harness::truth::Item>, key: &String| {
            items.get(key).map(|item| item.resource_version.clone())
        };
        let mut found: Vec<(String, Option<String>, Option<String>)> = found
            .differences
            .iter()
            .map(|one| {
                let version = |side: &str| one[side]["resourceVersion"].as_str().map(str::to_owned);
                (one["key"].as_str().unwrap_or_default().to_owned(), version("ours"), version("theirs"))
            })
            .collect();
        found.sort();
        let mut expected =
            [&gone, &changed].map(|key| (key.clone(), version(&before.items, key), version(&truth.items, key)));
        expected.sort();
        assert_eq!(found, expected);
        page.shows("pods", &truth, PATIENCE).await;
        page.counts(1_199, 1_199).await;
        page.reaches("pods", "live", PATIENCE).await;
        page.is_balanced().await;
        let said = notices(page, "difference").await;
        assert!(said.len() == 1 && said[0].contains("2 of 1,200 objects are not as the server has them"), "{said:?}");
        assert!(notices(page, "relist").await.iter().any(|words| words.contains("the page checked itself")));
        wait_until("the list names the differences", PATIENCE, async || {
            let text = page.text("verified").await;
            let is_so = text.contains("1,199 of 1,199 the same") && text.contains(&gone) && text.contains(&changed);
            holds(is_so, || text)
        })
        .await;
    })
    .await;
}

/// An element that shows something else than its row says is found too, and drawn again.
#[tokio::test]
async fn a_row_that_is_drawn_otherwise_is_found_and_drawn_anew() {
    let (_turn, _cluster, proxy) = started(&Options { pods: 60, ..calm() }).await;
    let name = "a_row_that_is_drawn_otherwise_is_found_and_drawn_anew";
    with_page(name, &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", PATIENCE).await;
        page.has_rows().await;
        let rows = "document.querySelectorAll('[role=row][data-key]')";
        let script = format!("const row = {rows}[3]; row.querySelector('[data-col=NAME]').lastChild.nodeValue = 'other'; return row.dataset.key");
        let key: String = page.read(&script, Vec::new()).await;
        page.click("verified").await;
        page.click("verify").await;
        wait_until("the difference is found", PATIENCE, async || {
            let found = verified(page).await;
            let is_so = found.checks == 2 && found.differed == 1 && found.drawn > 3;
            holds(is_so && found.differences[0]["in"] == "screen" && found.differences[0]["key"] == *key, || format!("{found:?}"))
        })
        .await;
        let names = format!("return [...{rows}].every(row => row.dataset.key.endsWith('/' + row.querySelector('[data-col=NAME]').textContent))");
        page.becomes("every row has its name", &names, json!(true)).await;
        assert!(notices(page, "relist").await.is_empty());
    })
    .await;
}
