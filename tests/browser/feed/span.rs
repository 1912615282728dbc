//! A chosen stretch of time: dragged on the timeline, counted, and shown by the feed.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use thirtyfour::Key;

use kubechurn_harness::cluster::Options;
use kubechurn_harness::history::revision;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

const SOON: Duration = Duration::from_secs(20);

/// A mark as the page reports it.
#[derive(Debug, Deserialize)]
struct Mark {
    time: f64,
    #[serde(rename = "type")]
    kind: String,
}

/// Presses the pointer on the canvas, moves it in steps and releases it: x in parts of the time axis's width, y from the
/// upper edge of the canvas, or from the lower one if negative.
pub async fn drag(page: &Page, from: (f64, f64), to: (f64, f64), shift: bool) {
    let script = "
        const canvas = document.getElementById('timeline-canvas');
        const [from, to, shift] = arguments;
        const box = canvas.getBoundingClientRect();
        const left = document.querySelector('.lane-labels').getBoundingClientRect().width;
        const at = ([part, y]) => ({
            clientX: box.left + left + part * (box.width - 12 - left), clientY: y < 0 ? box.bottom + y : box.top + y });
        const send = (type, place) => canvas.dispatchEvent(new PointerEvent(type,
            { ...at(place), pointerId: 1, button: 0, shiftKey: shift, bubbles: true, cancelable: true }));
        send('pointermove', from);
        send('pointerdown', from);
        for (let step = 1; step <= 8; step++)
            send('pointermove', [0, 1].map(axis => from[axis] + (to[axis] - from[axis]) * step / 8));
        send('pointerup', to);";
    let place = |(x, y): (f64, f64)| json!([x, y]);
    page.read::<Value>(script, vec![place(from), place(to), shift.into()]).await;
}

/// The chosen stretch, as the address has it.
pub async fn chosen(page: &Page) -> (f64, f64) {
    wait_until("the address has a stretch", SOON, async || {
        let hash = page.hash().await;
        let text = hash.split(['?', '&']).find_map(|pair| pair.strip_prefix("span="));
        let span = text.and_then(|text| text.split_once('-'));
        span.and_then(|(from, to)| Some((from.parse().ok()?, to.parse().ok()?))).ok_or(hash.clone())
    })
    .await
}

/// A count of the table, once everything is read: that of a row, or 0.
async fn count(page: &Page, name: &str) -> u64 {
    let script = "
        const panel = [...document.querySelectorAll('[data-testid=span]')].find(one => one.checkVisibility());
        if (!panel || panel.querySelector('[data-testid=span-reading]')) return null;
        const row = [...panel.querySelectorAll('[data-testid=span-row]')].find(row => row.dataset.name === arguments[0]);
        return Number((row?.querySelector('.num').textContent ?? '0').replaceAll(',', ''))";
    wait_until("the stretch is read", SOON, async || {
        page.read::<Option<u64>>(script, vec![name.into()]).await.ok_or_else(|| "not yet".to_owned())
    })
    .await
}

/// How many changes the table counts, those included that say nothing.
async fn all(page: &Page) -> u64 {
    let words = page.text("span-words").await;
    let numbers = words.split(' ').filter_map(|word| word.replace(',', "").parse::<u64>().ok());
    numbers.sum()
}

/// How many changes the page has marks of, from one time to another.
async fn marks(page: &Page, (from, to): (f64, f64)) -> u64 {
    let marks: Vec<Mark> = page.read("return kubechurn.marks('pods')", Vec::new()).await;
    let is_change = |mark: &&Mark| matches!(&*mark.kind, "Added" | "Updated" | "Deleted");
    marks.iter().filter(is_change).filter(|mark| from <= mark.time && mark.time < to).count() as u64
}

#[tokio::test]
async fn a_stretch_is_dragged_and_its_counts_are_those_of_the_marks_and_of_the_cluster_s_log() {
    let (_turn, cluster, proxy) = started(&Options { pods: 200, rate: 0, ..Options::default() }).await;
    let name = "a_stretch_is_dragged_and_its_counts_are_those_of_the_marks_and_of_the_cluster_s_log";
    with_page(name, &proxy.url(), "#/pods?view=changes", async |page| {
        let live = page.reaches("pods", "live", SOON).await;
        cluster.rate(100).await;
        cluster.advance(800, 100).await;
        cluster.rate(0).await;
        let truth = cluster.quiet("/api/v1/pods").await;
        page.shows("pods", &truth, SOON).await;

        // On the axis, below the lanes: a part of the last minute.
        drag(page, (0.85, -6.0), (0.97, -6.0), false).await;
        let span = chosen(page).await;
        assert!((span.1 - span.0 - 0.12 * 60_000.0).abs() < 600.0, "{span:?}");
        let pods = count(page, "Pod").await;
        let expected = marks(page, span).await;
        assert_eq!(all(page).await, expected, "in {span:?}");
        assert!(pods > 0 && pods <= expected, "{pods} of {expected}");
        page.becomes(
            "the feed says so",
            "return document.querySelector('[data-testid=feed-span]')?.textContent.startsWith('only ')",
            json!(true),
        )
        .await;
        let has_rows = "return [...document.querySelectorAll('[data-testid=feed-row]')].length > 0";
        page.becomes("the feed shows it", has_rows, json!(true)).await;

        // Over everything since the page is live, the cluster's own log counts the same.
        let writes = cluster.log("pods").await;
        let later = writes.iter().filter(|write| write.revision > revision(&live)).count() as u64;
        let whole =
            format!("location.hash = '#/pods?span={}-{}&view=changes'", span.0 as u64 - 60_000, span.1 as u64 + 60_000);
        page.read::<Value>(&whole, Vec::new()).await;
        wait_until("all writes are counted", SOON, async || {
            let _ = count(page, "Pod").await;
            let all = all(page).await;
            holds(all == later, || format!("{all}, not {later}"))
        })
        .await;

        // A row filters the feed, and a second click takes that back.
        page.click("span-row").await;
        page.becomes("the feed is filtered", "return document.getElementById('filter').value", json!("kind:Pod")).await;
        page.click("span-row").await;
        page.becomes("the feed is whole", "return document.getElementById('filter').value", json!("")).await;

        // A reload keeps the choice, and says that its data is gone.
        page.reload().await;
        page.reaches("pods", "live", SOON).await;
        wait_until("what is not known is said", SOON, async || {
            let words = page.text("span-left-out").await;
            holds(words.starts_with("nothing is known before"), || words.clone())
        })
        .await;
        page.press(Key::Escape).await;
        page.becomes("Esc gives it up", "return document.querySelector('[data-testid=span]')", Value::Null).await;
        assert_eq!(page.hash().await, "#/pods?view=changes");
        page.is_balanced().await;
    })
    .await;
}

#[tokio::test]
async fn the_overview_s_brush_sets_the_window_and_shift_chooses_beside_the_table() {
    let (_turn, cluster, proxy) = started(&Options { pods: 100, rate: 0, ..Options::default() }).await;
    let name = "the_overview_s_brush_sets_the_window_and_shift_chooses_beside_the_table";
    with_page(name, &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", SOON).await;
        cluster.rate(100).await;
        cluster.advance(300, 100).await;
        cluster.rate(0).await;
        let truth = cluster.quiet("/api/v1/pods").await;
        page.shows("pods", &truth, SOON).await;
        // The overview is two minutes long: a quarter of it is half a minute.
        drag(page, (0.5, 17.0), (0.75, 17.0), false).await;
        let script = "return document.querySelector('.timeline-bar > .num').textContent";
        page.becomes("the window is what was brushed", script, json!("30 s")).await;
        assert_eq!(page.hash().await, "#/pods");
        page.becomes("it does not follow", "return document.querySelector('[data-testid=follow]') !== null", json!(true)).await;
        page.click("follow").await;
        // On the lanes, with Shift. The table stands beside the lanes.
        drag(page, (0.3, 80.0), (0.99, 90.0), true).await;
        let span = chosen(page).await;
        count(page, "Pod").await;
        assert_eq!(all(page).await, marks(page, span).await);
        let place = "const [panel, canvas] = ['[data-testid=span]', '#timeline-canvas'].map(one => document.querySelector(`.timeline ${one}`).getBoundingClientRect());
            return panel.left >= canvas.right - 1 && panel.width > 200";
        page.becomes("the table is beside the lanes", place, json!(true)).await;
        let double = "const canvas = document.getElementById('timeline-canvas'), box = canvas.getBoundingClientRect();
            canvas.dispatchEvent(new MouseEvent('dblclick', { clientX: box.left + 400, clientY: box.bottom - 5, bubbles: true }))";
        page.read::<Value>(double, Vec::new()).await;
        page.becomes("a double click gives it up", "return location.hash", json!("#/pods")).await;
    })
    .await;
}

#[tokio::test]
async fn what_else_changed_around_a_change_is_one_click_or_key_away() {
    let (_turn, cluster, proxy) = started(&Options { pods: 40, ..Options::default() }).await;
    let name = "what_else_changed_around_a_change_is_one_click_or_key_away";
    with_page(name, &proxy.url(), "#/pods?view=changes", async |page| {
        page.reaches("pods", "live", SOON).await;
        let pods = cluster.get("/api/v1/pods").await;
        let pod = &pods["items"][0]["metadata"];
        let (namespace, own) = (pod["namespace"].as_str().unwrap(), pod["name"].as_str().unwrap());
        let patch = json!({ "metadata": { "labels": { "example.org-a": "one" } } });
        cluster.patch(&format!("/api/v1/namespaces/{namespace}/pods/{own}"), &patch).await;
        page.becomes(
            "the change is shown",
            "return [...document.querySelectorAll('[data-testid=feed-row]')].some(row => row.textContent.includes('example.org-a'))",
            json!(true),
        )
        .await;
        let time: Value = page.read("return kubechurn.marks('pods').at(-1).time", Vec::new()).await;
        let is_around = async |what: &str| {
            let (from, to) = chosen(page).await;
            let at = time.as_f64().expect("a time");
            assert!(from <= at && at < to && (4_000.0..4_003.0).contains(&(to - from)), "{what}: {from} {at} {to}");
            assert!(page.hash().await.contains("view=changes"));
            assert_eq!(all(page).await, marks(page, (from, to)).await, "{what}");
        };
        page.read::<Value>("document.querySelector('[data-testid=feed-around]').click()", Vec::new()).await;
        count(page, "Pod").await;
        is_around("from a row of the feed").await;
        page.click("feed-span-clear").await;
        page.becomes("it is given up", "return location.hash", json!("#/pods?view=changes")).await;

        // From the inspector, and by its key.
        let changes = format!("location.hash = '#/pods?sel={namespace}/{own}&tab=changes'");
        page.read::<Value>(&changes, Vec::new()).await;
        page.element("inspector-around").await;
        page.read::<Value>("document.querySelector('[data-testid=inspector-around]').click()", Vec::new()).await;
        count(page, "Pod").await;
        is_around("from the inspector").await;
        page.read::<Value>(&changes, Vec::new()).await;
        page.element("inspector-around").await;
        page.press("e").await;
        count(page, "Pod").await;
        is_around("by its key").await;
    })
    .await;
}
