//! Fifty thousand Pods need no more elements in the document than fifty. While many rows are being sorted, the page
//! says so.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::page::with_page;
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::turn;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

const NODES: u32 = 3_000;

#[tokio::test]
async fn fifty_thousand_pods() {
    let _turn = turn::alone().await;
    let cluster = Cluster::start(&Options { pods: 50_000, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    let truth = cluster.list("/api/v1/pods").await;
    assert!(truth.count() >= 50_000, "the cluster has only {} Pods", truth.count());
    with_page("fifty_thousand_pods", &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", Duration::from_secs(120)).await;
        page.shows("pods", &truth, Duration::from_secs(30)).await;
        page.counts(truth.count(), truth.count()).await;
        let script = "
            const [table, first] = ['[aria-rowcount]', '[role=row][data-key]'].map(it => document.querySelector(it));
            return [table.getAttribute('aria-rowcount'), first.getAttribute('aria-rowindex')]";
        page.becomes("a screen reader can count all the rows", script, json!([(truth.count() + 1).to_string(), "2"]))
            .await;
        let nodes = async || page.read::<u32>("return document.querySelectorAll('*').length", Vec::new()).await;
        let at_the_top = nodes().await;
        assert!(at_the_top <= NODES, "{at_the_top} elements at the top");

        let last = truth.last_key();
        wait_until("the last Pod is drawn at the end", Duration::from_secs(10), async || {
            let script = "
                const scroller = document.querySelector('[data-testid=table-scroll]');
                scroller.scrollTop = scroller.scrollHeight;
                const box = scroller.getBoundingClientRect();
                return [...scroller.querySelectorAll('[role=row][data-key]')]
                    .filter(row => row.getBoundingClientRect().bottom <= box.bottom + 1)
                    .map(row => row.dataset.key)";
            let keys: Vec<String> = page.read(script, Vec::new()).await;
            holds(keys.iter().any(|key| key == last), || format!("no {last} in {keys:?}"))
        })
        .await;
        let at_the_end = nodes().await;
        assert!(at_the_end <= NODES, "{at_the_end} elements at the end");
    })
    .await;
}

#[tokio::test]
async fn rows_that_are_being_sorted_are_no_blank() {
    let (_turn, cluster, proxy) = started(&Options { pods: 20_000, ..Options::default() }).await;
    with_page("rows_that_are_being_sorted_are_no_blank", &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", Duration::from_secs(60)).await;
        let count = cluster.list("/api/v1/pods").await.count();
        page.counts(count, count).await;
        // Records the row that stands for unsorted rows, whenever it is shown: its text, whether it begins where the
        // known rows end, and whether its text is visible.
        let watch = "
            const scroller = document.querySelector('[data-testid=table-scroll]');
            scroller.scrollTop = 10_000 * 25;
            window.__seen = [];
            new MutationObserver(() => {
                const unplaced = document.querySelector('[data-testid=unplaced]');
                if (!unplaced) return;
                const [words, frame] = [unplaced.firstElementChild.getBoundingClientRect(), scroller.getBoundingClientRect()];
                window.__seen.push([unplaced.textContent, parseFloat(unplaced.style.top) / 25, words.top >= frame.top && words.bottom <= frame.bottom]);
            }).observe(scroller, { subtree: true, childList: true, characterData: true });";
        page.browser.run(watch, Vec::new()).await;
        // On a fast machine, sorting ends within a frame, and the page has nothing to say.
        page.browser.devtools("Emulation.setCPUThrottlingRate", json!({ "rate": 6 })).await;
        page.open("#/pods?sort=-NAME").await;
        wait_until("the page says that rows are being sorted", Duration::from_secs(20), async || {
            let seen: Vec<(String, f64, bool)> = page.read("return window.__seen", Vec::new()).await;
            let is_sorting = |(words, first, in_sight): &(String, f64, bool)| {
                let of = words.starts_with("sorting, ") && words.contains(&format!(" of {},{:03}", count / 1000, count % 1000));
                of && *first <= 1024.0 && *in_sight
            };
            holds(seen.iter().any(is_sorting), || format!("{seen:?}"))
        })
        .await;
        page.browser.devtools("Emulation.setCPUThrottlingRate", json!({ "rate": 1 })).await;
        wait_until("rows are drawn there again", Duration::from_secs(20), async || {
            let script = "
                const rows = [...document.querySelectorAll('[role=row][data-key]')].map(row => Number(row.getAttribute('aria-rowindex')));
                return [document.querySelector('[data-testid=unplaced]') === null, rows.length > 10 && rows.every(row => row > 9_000)]";
            let there: (bool, bool) = page.read(script, Vec::new()).await;
            holds(there == (true, true), || format!("{there:?}"))
        })
        .await;
    })
    .await;
}
