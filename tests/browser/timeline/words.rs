//! What the lanes of the timeline say: the states of objects, in the words of the table, and the Events about them.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

const SOON: Duration = Duration::from_secs(20);

/// A Pod whose only container waits for this reason.
fn pod(reason: &str) -> Value {
    let waiting = json!({ "waiting": { "reason": reason } });
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": "cart", "namespace": "words", "uid": "cart" },
        "spec": { "containers": [{ "name": "cart", "image": "cart" }] },
        "status": { "phase": "Pending", "containerStatuses": [{ "name": "cart", "state": waiting }] },
    })
}

fn deployment(ready: u32) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": "shop", "namespace": "words", "uid": "shop" },
        "spec": { "replicas": 3 },
        "status": { "readyReplicas": ready },
    })
}

fn event(count: u32) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": { "name": "cart.17a", "namespace": "words", "uid": "cart-17a" },
        "involvedObject": { "kind": "Pod", "namespace": "words", "name": "cart", "uid": "cart" },
        "type": "Warning",
        "reason": "BackOff",
        "message": "the container <b>waits</b>",
        "count": count,
    })
}

/// What the page says about a place of the canvas.
async fn said_at(page: &Page, (x, y): (f64, f64)) -> String {
    page.browser.devtools("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y })).await;
    page.painted().await;
    page.text("timeline-hover").await
}

#[tokio::test]
async fn lanes_say_the_words_of_the_table_and_hold_the_events() {
    let (_turn, cluster, proxy) = started(&Options { pods: 3, ..Options::default() }).await;
    let name = "lanes_say_the_words_of_the_table_and_hold_the_events";
    with_page(name, &proxy.url(), "#/pods,deployments,events?ns=words", async |page| {
        for resource in ["pods", "deployments", "events"] {
            page.reaches(resource, "live", SOON).await;
        }
        for object in
            [pod("ContainerCreating"), deployment(3), deployment(2), pod("CrashLoopBackOff"), event(1), event(5)]
        {
            cluster.put(&object).await;
        }
        // A screen reader reads out the lanes. The Event has none of its own.
        let label = "return document.querySelector('[data-testid=timeline]').ariaLabel";
        let words: String = wait_until("the words of the lanes", SOON, async || {
            let words: String = page.read(label, Vec::new()).await;
            let is_so = words.contains("po words/cart CrashLoopBackOff") && words.contains("deploy words/shop 2/3");
            if is_so { Ok(words) } else { Err(words) }
        })
        .await;
        assert!(!words.contains("ev words/"), "{words}");
        let rows = page.rows("pods").await;
        let row = rows.iter().find(|row| row.key == "words/cart").expect("the Pod's row");
        assert_eq!(row.cells["STATUS"], "CrashLoopBackOff");

        // Marks move to the left with time, unless the page is paused.
        page.click("pause").await;
        let script = "const box = document.querySelector('[data-testid=timeline]').getBoundingClientRect();
            return [box.left, box.top, box.right, box.bottom]";
        let [left, top, right, bottom]: [f64; 4] = page.read(script, Vec::new()).await;
        let mut lane = None;
        let mut y = top + 50.0;
        while y < bottom && lane.is_none() {
            let said = said_at(page, (left + 60.0, y)).await;
            lane = said.starts_with("Pod words/cart ").then_some((y, said));
            y += 6.0;
        }
        let (y, said) = lane.expect("the Pod's lane");
        assert!(said.ends_with(", CrashLoopBackOff"), "{said}");
        let (mut x, mut event, mut all) = (right - 14.0, None, Vec::new());
        while x > left + 240.0 && event.is_none() {
            for below in [2.0, 7.0, 12.0] {
                let said = said_at(page, (x, y + below)).await;
                event = event.or(said.contains("Warning").then(|| said.clone()));
                all.push(said);
            }
            x -= 4.0;
        }
        let event = event.unwrap_or_else(|| panic!("no Event on the lane: {all:#?}"));
        assert!(event.contains("Warning BackOff: the container <b>waits</b> × 5; "), "{event}");
        assert!(event.contains("about Pod words/cart"), "{event}");
        // Its marks are those of the Events' kind, and are counted there alone.
        let of_event =
            page.marks("events").await.iter().filter(|mark| mark.key.as_deref() == Some("words/cart.17a")).count();
        assert_eq!(of_event, 2);
        page.click("pause").await;
        page.is_balanced().await;
    })
    .await;
}

/// More is written than the recorder holds: the time of which only marks are left is shown.
#[tokio::test]
async fn what_the_recorder_dropped_is_shown_on_the_timeline() {
    let (_turn, cluster, proxy) = started(&Options { pods: 50, ..Options::default() }).await;
    let name = "what_the_recorder_dropped_is_shown_on_the_timeline";
    with_page(name, &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", SOON).await;
        let script = "return window.kubechurn.recorder()";
        // Text in which nothing repeats fills the budget.
        let noise = |seed: u64| {
            let mut number = seed;
            let signs = (0..400_000).map(|_| {
                number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                char::from(b'#' + ((number >> 33) % 57) as u8)
            });
            signs.collect::<String>()
        };
        let mut seed = 0;
        wait_until("the recorder drops something", Duration::from_secs(60), async || {
            for _ in 0..20 {
                seed += 1;
                let mut object = pod("ContainerCreating");
                object["metadata"]["annotations"] = json!({ "noise": noise(seed) });
                cluster.put(&object).await;
            }
            let words: Value = page.read(script, Vec::new()).await;
            holds(words["whole_since"].is_number(), || words.to_string())
        })
        .await;
        page.click("pause").await;
        let script = "const box = document.querySelector('[data-testid=timeline]').getBoundingClientRect();
            return [box.left, box.top, box.right, box.bottom]";
        let [left, top, right, _]: [f64; 4] = page.read(script, Vec::new()).await;
        let mut said = Vec::new();
        let mut x = right - 14.0;
        while x > left + 240.0 {
            said.push(said_at(page, (x, top + 16.0)).await);
            // All of it may have happened within two seconds, which are twenty pixels.
            x -= if x > right - 120.0 { 1.0 } else { 6.0 };
        }
        let at = said.iter().position(|said| said.contains("only marks before "));
        assert!(at.is_some_and(|at| at > 0), "said in the strip, but not of now: {said:#?}");
    })
    .await;
}
