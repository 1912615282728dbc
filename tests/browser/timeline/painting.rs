//! The timeline's pixels in another theme, and in the first one again.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::page::{INSTRUMENTS, Page, with_page_in};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::turn;
use kubechurn_harness::wait::{holds, wait_until};

use crate::feed::span::{chosen, drag};

const SOON: Duration = Duration::from_secs(20);

/// How many Pods there are, and how often each of them changes.
const PODS: usize = 8;
const ROUNDS: usize = 24;

fn pod(number: usize, reason: &str) -> Value {
    let name = format!("cart-{number}");
    let waiting = json!({ "waiting": { "reason": reason } });
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": name, "namespace": "painting", "uid": name },
        "spec": { "containers": [{ "name": "cart", "image": "cart" }] },
        "status": { "phase": "Pending", "containerStatuses": [{ "name": "cart", "state": waiting }] },
    })
}

/// Changes the theme, waits until the canvas is painted, and keeps the lanes' pixels under a name. Above and below the lanes
/// the time moves on.
async fn change_theme(page: &Page, keep_as: &str) {
    page.press("t").await;
    page.painted().await;
    page.painted().await;
    let script = "
        const canvas = document.querySelector('[data-testid=timeline]');
        const scale = canvas.height / canvas.getBoundingClientRect().height;
        const [top, bottom] = [48 * scale, canvas.height - 19 * scale].map(Math.round);
        const { data } = canvas.getContext('2d').getImageData(0, top, canvas.width, bottom - top);
        (window.__pictures ??= {})[arguments[0]] = data;";
    page.read::<Value>(script, vec![keep_as.into()]).await;
}

/// How many pixels of two pictures differ to the eye, and how many there are.
async fn differ(page: &Page, one: &str, other: &str) -> (usize, usize) {
    let script = "
        const [one, other] = [...arguments].map(name => window.__pictures[name]);
        let count = 0;
        for (let at = 0; at < one.length; at += 4)
            if ([0, 1, 2].some(part => Math.abs(one[at + part] - other[at + part]) > 8)) count += 1;
        return [count, one.length / 4]";
    page.read(script, vec![one.into(), other.into()]).await
}

/// On a screen of so many pixels per CSS pixel, and with a chosen stretch of time or without one.
async fn themes_are_kept_apart(name: &str, ratio: &str, has_span: bool) {
    let cluster = Cluster::start(&Options { pods: 3, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    let browser = Browser::start_with(INSTRUMENTS, &[&format!("--force-device-scale-factor={ratio}")]).await;
    with_page_in(browser, name, &proxy.url(), "#/pods?ns=painting", async |page| {
        let own: f64 = page.read("return devicePixelRatio", Vec::new()).await;
        assert_eq!(own.to_string(), ratio);
        page.reaches("pods", "live", SOON).await;
        for round in 0..ROUNDS {
            for number in 0..PODS {
                cluster.put(&pod(number, ["ContainerCreating", "CrashLoopBackOff"][round % 2])).await;
            }
            wait_until("the marks of the round", SOON, async || {
                let marks = page.marks("pods").await;
                let own = marks.iter().filter(|mark| mark.key.as_ref().is_some_and(|key| key.starts_with("painting/")));
                let count = own.count();
                holds(count >= PODS * (round + 1), || format!("{count} in round {round}"))
            })
            .await;
        }
        page.click("pause").await;
        page.painted().await;
        if has_span {
            drag(page, (0.5, 80.0), (0.98, 90.0), true).await;
            chosen(page).await;
            page.painted().await;
        }
        change_theme(page, "other").await;
        change_theme(page, "first").await;
        // Nothing of one theme is seen in another one.
        let (changed, all) = differ(page, "other", "first").await;
        assert!(changed > all / 2, "{changed} of {all} pixels are of the theme");
        change_theme(page, "other again").await;
        change_theme(page, "first again").await;
        for (one, other) in [("first", "first again"), ("other", "other again")] {
            let (differ, all) = differ(page, one, other).await;
            assert_eq!(differ, 0, "of {all} pixels, {one} and {other}");
        }
        page.click("pause").await;
        page.is_balanced().await;
    })
    .await;
}

#[tokio::test]
async fn the_timeline_is_painted_anew_in_another_theme() {
    let _turn = turn::shared().await;
    themes_are_kept_apart("the_timeline_is_painted_anew_in_another_theme", "1", false).await;
}

#[tokio::test]
async fn a_timeline_of_small_pixels_is_painted_anew_in_another_theme() {
    let _turn = turn::shared().await;
    themes_are_kept_apart("a_timeline_of_small_pixels_is_painted_anew_in_another_theme", "1.5", true).await;
}
