//! A list that takes long shows what has arrived, how many objects that is, and of about how many.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

const SOON: Duration = Duration::from_secs(20);
/// The longest time that a list of all Pods takes with the fault below.
const LONG: Duration = Duration::from_secs(60);

/// Has the page itself look at each frame of the screen whether anything of a list that is not complete is taken for the truth,
/// whether a row is there twice, and whether the sums hold.
const WATCHMAN: &str = "
    const seen = window.__seen = { frames: 0, provisional: 0, doubled: 0, unbalanced: 0, wrong: [], moved: [] };
    let first = null;
    const look = () => {
        const rows = [...document.querySelectorAll('[role=row][data-kind=pods]')];
        const status = kubechurn.status().find(status => status.resource === 'pods');
        if (status) {
            const keys = rows.map(row => row.dataset.key);
            const listed = rows.filter(row => row.dataset.state === 'provisional');
            seen.frames++;
            seen.provisional = Math.max(seen.provisional, listed.length);
            if (new Set(keys).size < keys.length) seen.doubled++;
            if (!status.balanced) seen.unbalanced++;
            if (listed.some(row => row.dataset.provisional !== 'true')) seen.wrong.push('a row without its mark');
            if (status.items === 0 && listed.length < rows.length) seen.wrong.push('a row of nothing that is known');
            if (!status.synced && kubechurn.rows('pods').length > status.items) seen.wrong.push('an object too many');
            // The objects come in the order of their names, so that the first screen is full at once and stays as it is.
            const now = keys.slice(0, 12).join(' ');
            if (listed.length > 30) first ??= now;
            if (first !== null && now !== first) seen.moved.push(now);
        }
        requestAnimationFrame(look);
    };
    look();";

/// What it has seen.
#[derive(Debug, serde::Deserialize)]
struct Seen {
    frames: usize,
    provisional: usize,
    doubled: usize,
    unbalanced: usize,
    wrong: Vec<String>,
    moved: Vec<String>,
}

impl Seen {
    async fn of(page: &Page) -> Seen {
        page.read("return window.__seen", Vec::new()).await
    }

    #[track_caller]
    fn is_right(&self) {
        let Seen { frames, provisional, doubled, unbalanced, wrong, moved } = self;
        assert!(*frames > 10 && *provisional > 10, "{self:?}");
        assert!(*doubled == 0 && *unbalanced == 0 && wrong.is_empty() && moved.is_empty(), "{self:?}");
    }
}

/// The requests for the number of Pods that the page has sent since it was loaded.
async fn questions(page: &Page) -> Vec<String> {
    let script = "return performance.getEntriesByType('resource').map(entry => entry.name)
        .filter(name => new URL(name).searchParams.get('limit') === '1')
        .map(name => new URL(name).pathname).filter(path => path.endsWith('/pods'))";
    page.read(script, Vec::new()).await
}

/// A list that is fetched. `tests/native/listing.rs` has one that is streamed.
#[tokio::test]
async fn a_list_that_lasts_says_of_about_how_many() {
    let (_turn, cluster, proxy) = started(&Options { pods: 1_500, ..Options::default() }).await;
    with_page("a_list_that_lasts_says_of_about_how_many", &proxy.url(), "#/nodes", async |page| {
        page.reaches("nodes", "live", SOON).await;
        // The list is sent in small pieces.
        cluster.control("fault?drip=16384&pause-ms=15&resource=pods&verb=list&user-agent=Mozilla").await;
        let truth = cluster.list("/api/v1/pods").await;
        let count = truth.count();
        let about = format!("of about {},{:03}", count / 1000, count % 1000);
        page.open("#/pods").await;
        let bar = "
            const bar = document.querySelector('[data-testid=listing]');
            const number = name => Number(bar.getAttribute(name));
            const text = handle => document.querySelector(`[data-testid=${handle}]`)?.textContent.trim() ?? '';
            return bar ? [bar.role ?? bar.getAttribute('role'), number('aria-valuenow'), number('aria-valuemax'), bar.getAttribute('aria-valuetext'),
                bar.firstElementChild.getBoundingClientRect().width / bar.getBoundingClientRect().width,
                text('connection'), text('empty'), text('provisional')] : null";
        wait_until("the page shows how far the list has come", SOON, async || {
            let shown = page.browser.run(bar, Vec::new()).await;
            let (now, share) = (shown[1].as_u64().unwrap_or(0), shown[4].as_f64().unwrap_or(0.0));
            let is_so = shown[0] == "progressbar"
                && shown[2] == json!(count)
                && now > 0
                && now < count as u64
                && shown[3].as_str().is_some_and(|words| words.ends_with(&about))
                && (share - now as f64 / count as f64).abs() < 0.01
                && shown[5].as_str().is_some_and(|words| words.starts_with("listing") && words.ends_with(&about))
                && shown[6] == ""
                && shown[7].as_str().is_some_and(|words| words.ends_with(" provisional rows"));
            holds(is_so, || shown.to_string())
        })
        .await;
        page.reaches("pods", "live", LONG).await;
        page.shows("pods", &truth, SOON).await;
        wait_until("the bar is gone", SOON, async || {
            let shown = page.browser.run(bar, Vec::new()).await;
            holds(shown == Value::Null, || shown.to_string())
        })
        .await;
        assert_eq!(questions(page).await, ["/k8s/api/v1/pods"], "one request for one list");
        let ledger = page.status_of("pods").await.expect("Pods are watched").ledger;
        assert!(ledger["listed"].as_u64() >= Some(count as u64), "the list was fetched: {ledger}");
    })
    .await;
}

/// The rows are there while the list comes, and nothing of them is taken for the truth before the list is complete.
#[tokio::test]
async fn what_a_list_has_brought_is_shown_and_is_not_yet_true() {
    let (_turn, cluster, proxy) = started(&Options { pods: 600, ..Options::default() }).await;
    let name = "what_a_list_has_brought_is_shown_and_is_not_yet_true";
    with_page(name, &proxy.url(), "?list=stream#/nodes", async |page| {
        page.reaches("nodes", "live", SOON).await;
        page.browser.run(WATCHMAN, Vec::new()).await;
        cluster.control("fault?frame=delay&delay-ms=6&resource=pods&verb=watch&user-agent=Mozilla").await;
        let truth = cluster.list("/api/v1/pods").await;
        page.open("?list=stream#/pods").await;
        let script = "
            const status = kubechurn.status().find(status => status.resource === 'pods');
            const rows = [...document.querySelectorAll('[role=row][data-kind=pods]')];
            return status && [status.state, status.synced, status.items, status.provisional, status.ledger.pending,
                status.account.rows?.live, status.account.rows?.provisional, kubechurn.rows('pods').length,
                rows.length, rows.filter(row => row.dataset.state === 'provisional').length,
                document.querySelector('[data-testid=row-count]').textContent.trim()]";
        wait_until("rows are there, and count as nothing", SOON, async || {
            let shown = page.browser.run(script, Vec::new()).await;
            let number = |at: usize| shown[at].as_u64().unwrap_or(0);
            let is_so = shown[0] == "listing"
                && shown[1] == json!(false)
                && (number(2), number(5), number(7)) == (0, 0, 0)
                && number(3) > 50
                && number(6) == number(3)
                && number(4) >= number(3)
                && number(9) > 10
                && number(8) == number(9)
                && shown[10] == "0 / 0";
            holds(is_so, || shown.to_string())
        })
        .await;
        page.reaches("pods", "live", LONG).await;
        page.shows("pods", &truth, SOON).await;
        page.counts(truth.count(), truth.count()).await;
        wait_until("no row is provisional any more", SOON, async || {
            let shown = page.browser.run(script, Vec::new()).await;
            let is_so = [3, 4, 6, 9].into_iter().all(|at| shown[at] == 0) && page.text("provisional").await.is_empty();
            holds(is_so, || shown.to_string())
        })
        .await;
        page.is_balanced().await;
        Seen::of(page).await.is_right();
    })
    .await;
}

/// A list that breaks in the middle keeps its rows, and the next one shows none of them twice.
#[tokio::test]
async fn a_list_that_breaks_keeps_what_it_has_brought() {
    let (_turn, cluster, proxy) = started(&Options { pods: 600, ..Options::default() }).await;
    let name = "a_list_that_breaks_keeps_what_it_has_brought";
    with_page(name, &proxy.url(), "?list=stream#/nodes", async |page| {
        page.reaches("nodes", "live", SOON).await;
        page.browser.run(WATCHMAN, Vec::new()).await;
        // The streaming list breaks after 300 objects, and the list that follows comes slowly.
        cluster.control("fault?frame=not-json&after=300&times=1&resource=pods&verb=watch&user-agent=Mozilla").await;
        cluster.control("fault?drip=40000&pause-ms=50&verb=list&resource=pods&user-agent=Mozilla").await;
        let truth = cluster.list("/api/v1/pods").await;
        page.open("?list=stream#/pods").await;
        let script = "
            const status = kubechurn.status().find(status => status.resource === 'pods');
            return status && [status.synced, status.items, status.provisional, status.ledger.discarded,
                document.querySelectorAll('[role=row][data-provisional=true]').length,
                document.querySelector('[data-testid=notice]')?.textContent ?? '']";
        wait_until("the rows stay, and the page says what failed", SOON, async || {
            let shown = page.browser.run(script, Vec::new()).await;
            let words = shown[5].as_str().unwrap_or_default();
            let is_so = shown[0] == json!(false)
                && shown[1] == 0
                && shown[2].as_u64().is_some_and(|rows| rows >= 300)
                && shown[3].as_u64().is_some_and(|discarded| discarded >= 300)
                && shown[4].as_u64().is_some_and(|rows| rows > 10)
                && words.contains("the list broke off, and its rows are provisional")
                && words.contains("could not be read");
            holds(is_so, || shown.to_string())
        })
        .await;
        page.reaches("pods", "live", LONG).await;
        page.shows("pods", &truth, SOON).await;
        page.counts(truth.count(), truth.count()).await;
        page.is_balanced().await;
        Seen::of(page).await.is_right();
        wait_until("the failure is over", SOON, async || {
            let notice = page.text("notice").await;
            holds(notice.is_empty(), || notice)
        })
        .await;
    })
    .await;
}
