//! The page at another moment: it is as it was when that moment was live, while the cluster goes on; and by the keyboard alone.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::{started, viewport, with_live_page};
use crate::shell::accessibility::finds_nothing;

const SOON: Duration = Duration::from_secs(20);

/// What the page shows, but for what grows older by itself and for what only another moment has: the digest, all rows, the rows in
/// the document, how many there are, and the sidebar's number.
const SHOWN: &str = "
    const OTHERS = ['AGE', 'Δ', 'RESTARTS', 'NEXT'];
    const rows = kubechurn.rows('pods').map(row => {
        for (const other of OTHERS) delete row.cells[other];
        return JSON.stringify(row);
    });
    const drawn = [...document.querySelectorAll('[data-testid=table-scroll] .row')]
        .filter(row => row.dataset.state !== 'deleted')
        .map(row => [row.dataset.key, row.dataset.uid,
            ...[...row.querySelectorAll('.cell')].filter(cell => !OTHERS.includes(cell.dataset.col)).map(cell => cell.textContent)].join(' '));
    return { digest: kubechurn.digest('pods'), rows, drawn: drawn.slice(0, 12),
        count: document.querySelector('[data-testid=row-count]').textContent,
        kind: document.querySelector('[data-testid=kind-pods] .num')?.textContent }";

async fn shown(page: &Page) -> Value {
    page.read(SHOWN, Vec::new()).await
}

/// What is other in the two of what is shown, in a line each.
fn different(now: &Value, then: &Value) -> String {
    let mut lines = Vec::new();
    for (name, then) in then.as_object().into_iter().flatten() {
        let now = &now[name];
        match (now.as_array(), then.as_array()) {
            (Some(now), Some(then)) => {
                lines.extend(now.iter().filter(|one| !then.contains(one)).map(|one| format!("{name}: {one}")));
                lines.extend(then.iter().filter(|one| !now.contains(one)).map(|one| format!("{name}, and was: {one}")));
            }
            _ if now != then => lines.push(format!("{name}: {now}, and was {then}")),
            _ => {}
        }
    }
    lines.join("\n")
}

/// Goes to a time of the page's clock by the address.
async fn rewind(page: &Page, at: f64) {
    let script = "
        const [at] = arguments;
        const moment = new Date(at).toISOString();
        location.hash = location.hash.replace(/[?&]at=[^&]*/, '') + (location.hash.replace(/[?&]at=[^&]*/, '').includes('?') ? '&' : '?') + 'at=' + moment;
        return moment";
    let moment: String = page.read(script, vec![at.into()]).await;
    let arrived =
        "return [document.querySelector('[data-testid=connection]').dataset.state, kubechurn.status()[0].moment]";
    page.becomes("the page shows the moment", arrived, json!(["rewound", moment])).await;
}

#[tokio::test]
async fn every_moment_is_as_it_was_while_the_cluster_goes_on_and_then_the_page_is_live_again() {
    let (_turn, cluster, proxy) = started(&Options { pods: 150, rate: 0, ..Options::default() }).await;
    let name = "every_moment_is_as_it_was_while_the_cluster_goes_on_and_then_the_page_is_live_again";
    with_page(name, &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", SOON).await;
        page.click("columns").await;
        page.click("linger-0").await;
        page.press("\u{e00c}").await;
        let mut moments: Vec<(f64, Value)> = Vec::new();
        for _ in 0..6 {
            let truth = cluster.quiet("/api/v1/pods").await;
            page.shows("pods", &truth, SOON).await;
            // The counts follow twice a second.
            let counted = "
                const count = document.querySelector('[data-testid=row-count]').textContent.split(' / ')[1];
                return count === String(kubechurn.rows('pods').length)
                    && document.querySelector('[data-testid=kind-pods] .num')?.textContent === count";
            page.becomes("the counts are those of the rows", counted, json!(true)).await;
            let at = page.read("return performance.timeOrigin + performance.now()", Vec::new()).await;
            moments.push((at, shown(page).await));
            cluster.rate(200).await;
            cluster.advance(120, 200).await;
            cluster.rate(0).await;
        }
        // Meanwhile the cluster goes on.
        cluster.rate(100).await;
        for (at, then) in moments.iter().rev().chain(&moments[1..]) {
            rewind(page, *at).await;
            let what = format!("what is shown of {at}");
            wait_until(&what, SOON, async || {
                let now = shown(page).await;
                holds(now == *then, || different(&now, then))
            })
            .await;
        }
        assert!(page.attribute("rewind", "hidden").await.is_none());
        let title: String = page.read("return document.title", Vec::new()).await;
        assert!(title.starts_with("⏪ "), "{title}");
        let icon = "return document.querySelector('link[rel=icon]').href !== document.querySelector('link[rel=icon]').dataset.live";
        assert!(page.read::<bool>(icon, Vec::new()).await, "the tab has another icon");
        cluster.rate(0).await;
        let truth = cluster.quiet("/api/v1/pods").await;
        page.press("L").await;
        page.shows("pods", &truth, SOON).await;
        page.becomes("the page is live", "return document.querySelector('[data-testid=connection]').dataset.state", json!("live")).await;
        page.is_balanced().await;
    })
    .await;
}

#[tokio::test]
async fn the_keyboard_alone_rewinds_plays_and_comes_back_and_nothing_covers_anything() {
    let name = "the_keyboard_alone_rewinds_plays_and_comes_back_and_nothing_covers_anything";
    with_live_page(name, "#/pods", async |page, cluster| {
        cluster.rate(100).await;
        cluster.advance(60, 100).await;
        let truth = cluster.quiet("/api/v1/pods").await;
        page.shows("pods", &truth, SOON).await;
        let time = async || {
            page.read::<String>("return document.querySelector('[data-testid=rewind-time]')?.value ?? ''", Vec::new())
                .await
        };
        page.press(",").await;
        let is_open = "return document.querySelector('[data-testid=rewind]')?.checkVisibility() ?? false";
        page.becomes("the banner is there", is_open, json!(true)).await;
        let last = time().await;
        page.press(",,").await;
        wait_until("it goes further back", SOON, async || {
            let now = time().await;
            holds(now < last, || format!("{now}, and {last} before"))
        })
        .await;
        finds_nothing(page, "rewound").await;
        for (width, height) in [(1440, 900), (1024, 700), (720, 450), (390, 844)] {
            viewport(page, width, height).await;
            crate::shell::layout::is_in_order(page, &format!("rewound at {width}×{height}")).await;
        }
        viewport(page, 1440, 900).await;
        // It plays to its end, and is live then.
        page.press(" ").await;
        page.becomes("it has come to now", is_open, json!(false)).await;
        // Esc leaves it, and what it was left for is where it was.
        page.press(",").await;
        page.becomes("the banner is there again", is_open, json!(true)).await;
        page.press("\u{e00c}").await;
        page.becomes("Esc leaves it", is_open, json!(false)).await;
        assert!(!page.hash().await.contains("at="));
    })
    .await;
}

#[tokio::test]
async fn what_is_different_between_two_moments_is_shown_opened_and_saved() {
    let name = "what_is_different_between_two_moments_is_shown_opened_and_saved";
    with_live_page(name, "#/pods", async |page, cluster| {
        let truth = cluster.quiet("/api/v1/pods").await;
        page.shows("pods", &truth, SOON).await;
        let versions = "return Object.fromEntries(kubechurn.rows('pods').map(row => [row.uid, row.resourceVersion]))";
        let before: Value = page.read(versions, Vec::new()).await;
        let from: f64 = page.read("return Math.ceil(performance.timeOrigin + performance.now())", Vec::new()).await;
        cluster.rate(200).await;
        cluster.advance(100, 200).await;
        cluster.rate(0).await;
        let truth = cluster.quiet("/api/v1/pods").await;
        page.shows("pods", &truth, SOON).await;
        let go = "location.hash = `#/pods?view=changes&span=${arguments[0]}-now&net=1`";
        page.read::<Value>(go, vec![from.into()]).await;
        let found = "return (kubechurn.differences() ?? [])";
        let after: Value = page.read(versions, Vec::new()).await;
        wait_until("the objects differ that have other versions", SOON, async || {
            let found: Vec<Value> = page.read(found, Vec::new()).await;
            let (before, after) = (before.as_object().expect("versions"), after.as_object().expect("versions"));
            let is_known = |one: &Value| one["uid"].as_str().is_some_and(|uid| before.get(uid) != after.get(uid));
            // What was changed back has another version, too.
            let others = before.keys().chain(after.keys()).filter(|uid| before.get(*uid) != after.get(*uid)).count();
            let is_found = !found.is_empty() && found.len() <= others && found.iter().all(is_known);
            holds(is_found, || format!("{} of {others}: {:?}", found.len(), found.first()))
        })
        .await;
        let words = page.text("span-words").await;
        assert!(words.contains("differ"), "{words}");
        finds_nothing(page, "two moments").await;
        for (width, height) in [(1024, 700), (720, 450), (390, 844), (1440, 900)] {
            viewport(page, width, height).await;
            crate::shell::layout::is_in_order(page, &format!("two moments at {width}×{height}")).await;
        }
        page.click("span-json").await;
        let is_exported = "return /^Exported \\d+ rows: differences-.*\\.ndjson$/.test(document.querySelector('[data-testid=told]').textContent)";
        page.becomes("it is saved", is_exported, json!(true)).await;
        // A changed object opens with both versions, and Esc comes back; `D` shows each change.
        let open = "[...document.querySelectorAll('.feed-name a')].find(link => link.href.includes('against=')).click()";
        page.read::<Value>(open, Vec::new()).await;
        let compared = "return document.querySelector('[data-testid=comparison]')?.checkVisibility() ?? false";
        page.becomes("both versions are shown", compared, json!(true)).await;
        page.press("\u{e00c}\u{e00c}").await;
        page.press("D").await;
        let is_net = "return document.querySelector('[data-testid=span]')?.dataset.net";
        page.becomes("each change is shown", is_net, json!("false")).await;
    })
    .await;
}
