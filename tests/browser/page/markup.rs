//! A person who can name an object in a cluster cannot thereby run a script in the page.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

/// No Kubernetes server accepts such a name. The page must not rely on that.
const MARKUP: &str = "<img src=x onerror=window.__pwned=1>";

#[tokio::test]
async fn markup_in_names_annotations_and_reasons_is_text() {
    let (_turn, cluster, proxy) = started(&Options { pods: 3, ..Options::default() }).await;
    with_page("markup_in_names_annotations_and_reasons_is_text", &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        cluster.put(&pod()).await;
        let text: String = wait_until("the row is drawn", Duration::from_secs(5), async || {
            let script = "return [...document.querySelectorAll('[role=row]')]
                .find(row => row.dataset.uid === 'markup')?.innerText ?? null";
            page.read::<Option<String>>(script, Vec::new()).await.ok_or_else(|| "no row".to_owned())
        })
        .await;
        assert_eq!(text.matches(MARKUP).count(), 2, "the name and the status, in: {text}");
        nothing_was_made_of_it(page).await;

        let hover = hover_over_marks(page).await;
        assert!(hover.contains(MARKUP), "the timeline says: {hover}");
        nothing_was_made_of_it(page).await;
    })
    .await;
}

#[tokio::test]
async fn markup_in_the_address_is_text() {
    let (_turn, _cluster, proxy) = started(&Options { pods: 3, ..Options::default() }).await;
    let encoded = "%3Cimg%20src%3Dx%20onerror%3Dwindow.__pwned%3D1%3E";
    let hash = format!("#/pods?q={encoded}&ns={encoded}&labels=app%3D{encoded}");
    with_page("markup_in_the_address_is_text", &proxy.url(), &hash, async |page| {
        wait_until("the filter is filled in", Duration::from_secs(10), async || {
            let script = "return document.querySelector('[data-testid=filter]')?.value ?? null";
            let value: Option<String> = page.read(script, Vec::new()).await;
            holds(value.as_deref() == Some(MARKUP), || format!("{value:?}"))
        })
        .await;
        nothing_was_made_of_it(page).await;
    })
    .await;
}

fn pod() -> Value {
    let waiting = json!({ "waiting": { "reason": MARKUP, "message": MARKUP } });
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": MARKUP,
            "namespace": "default",
            "uid": "markup",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": { "app": MARKUP },
            "annotations": { "note": MARKUP },
        },
        "spec": { "nodeName": MARKUP, "containers": [{ "name": MARKUP, "image": MARKUP }] },
        "status": {
            "phase": "Pending",
            "containerStatuses": [{
                "name": MARKUP, "image": MARKUP, "ready": false, "restartCount": 0, "state": waiting,
            }],
        },
    })
}

async fn nothing_was_made_of_it(page: &Page) {
    let script = "return [
        window.__pwned ?? null,
        document.querySelectorAll('img').length,
        document.querySelectorAll('[onerror]').length,
        document.querySelector('title').childElementCount,
        document.title]";
    let found: (Value, u32, u32, u32, String) = page.read(script, Vec::new()).await;
    let (ran, images, handlers, in_title, title) = found;
    assert!(ran.is_null(), "the markup ran");
    assert_eq!((images, handlers, in_title), (0, 0, 0), "elements were made of the markup");
    assert!(!title.is_empty(), "the page has a title");
}

/// Moves the pointer over what is painted on the timeline, newest first, until it says something about the object
/// with the markup.
async fn hover_over_marks(page: &Page) -> String {
    // Marks move to the left with time, unless the page is paused.
    page.click("pause").await;
    let script = "
        const canvas = document.querySelector('[data-testid=timeline]');
        const box = canvas.getBoundingClientRect();
        const scale = canvas.width / box.width;
        const pixels = new Uint32Array(
            canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.buffer);
        const counts = new Map();
        for (const pixel of pixels) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
        const [[background]] = [...counts].sort(([, few], [, many]) => many - few);
        const cells = new Map();
        pixels.forEach((pixel, index) => {
            if (pixel === background) return;
            const x = Math.floor(index % canvas.width / scale / 6) * 6 + 3;
            const y = Math.floor(index / canvas.width / scale / 6) * 6 + 3;
            cells.set(x * 10000 + y, [box.left + x, box.top + y]);
        });
        return [...cells.values()].sort(([left], [right]) => right - left)";
    let painted: Vec<(f64, f64)> = page.read(script, Vec::new()).await;
    let mut said = String::new();
    for (x, y) in &painted {
        page.browser.devtools("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y })).await;
        page.painted().await;
        let text = page.text("timeline-hover").await;
        if text.contains("img") {
            return text;
        }
        if !text.is_empty() {
            said = text;
        }
    }
    panic!("nothing on the timeline, {} places in all, says more than: {said}", painted.len())
}
