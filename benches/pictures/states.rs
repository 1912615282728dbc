//! The states, each on a demo cluster and a proxy of its own.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::cluster::Cluster;
use crate::harness::page::{Page, with_page};
use crate::harness::proxy::KubectlProxy;
use crate::harness::tools;
use crate::harness::wait::{holds, wait_until};

/// A window, as wide and high as this, in CSS pixels.
const SIZES: [(u32, u32); 2] = [(1440, 900), (1024, 700)];
const THEMES: [&str; 2] = ["dark", "light"];
/// So many marks make a timeline that shows what it is for.
const MARKS: usize = 400;
/// How long a state may take to be reached.
const PATIENCE: Duration = Duration::from_secs(90);

/// Takes the pictures of the wanted states; of all, if none is named.
pub async fn take(wanted: &[String]) {
    let is_wanted = |state: &str| wanted.is_empty() || wanted.iter().any(|name| name == state);
    if is_wanted("busy") {
        on_a_page("#/pods?pin=deployments,jobs,events", async |page, _, _| {
            lively(page).await;
            pictures(page, "busy", "").await;
        })
        .await;
    }
    if is_wanted("inspector") {
        on_a_page("#/pods?pin=replicasets,deployments", async |page, _, _| {
            lively(page).await;
            let key = most_changed(page).await;
            page.open(&format!("#/pods?pin=replicasets,deployments&sel={}", key.replace('/', "%2F"))).await;
            page.element("inspector").await;
            pictures(page, "inspector", "").await;
        })
        .await;
    }
    if is_wanted("empty") {
        on_a_page("#/pods?ns=nowhere&labels=app%3Dweb", async |page, _, _| {
            page.reaches("pods", "live", PATIENCE).await;
            page.element("empty").await;
            pictures(page, "empty", "live").await;
        })
        .await;
    }
    if is_wanted("forbidden") {
        on_a_page("#/nodes", async |page, cluster, _| {
            for verb in ["list", "watch"] {
                cluster.control(&format!("forbid?verb={verb}&resource=pods")).await;
            }
            page.open("#/pods").await;
            page.reaches("pods", "forbidden", PATIENCE).await;
            pictures(page, "forbidden", "forbidden").await;
        })
        .await;
    }
    if is_wanted("stale") {
        on_a_page("#/pods", async |page, _, proxy| {
            lively(page).await;
            // The page has to be there already: nobody serves it any more.
            proxy.kill().await;
            page.reaches("pods", "stale", PATIENCE).await;
            shoot_here(page, "stale").await;
        })
        .await;
    }
}

async fn on_a_page(hash: &str, take: impl AsyncFnOnce(&Page, &Cluster, &mut KubectlProxy)) {
    let cluster = Cluster::start_mixed(7).await;
    let mut proxy = KubectlProxy::start(cluster.port()).await;
    let url = proxy.url();
    with_page("pictures", &url, hash, async |page| take(page, &cluster, &mut proxy).await).await;
}

/// Waits until there is something to see.
async fn lively(page: &Page) {
    page.reaches("pods", "live", PATIENCE).await;
    wait_until("the timeline has marks", PATIENCE, async || {
        let marks = page.marks("pods").await.iter().filter(|mark| mark.kind != "Replaced").count();
        holds(marks >= MARKS, || format!("{marks} marks"))
    })
    .await;
}

/// The object of which the most was seen, and that is still there.
async fn most_changed(page: &Page) -> String {
    let rows = page.rows("pods").await;
    let marks = page.marks("pods").await;
    let seen = |key: &str| marks.iter().filter(|mark| mark.key.as_deref() == Some(key)).count();
    rows.into_iter().map(|row| row.key).max_by_key(|key| seen(key)).expect("there are Pods")
}

/// A picture for each theme and size. The theme is chosen before the page begins; `state` is what it must be in again.
async fn pictures(page: &Page, name: &str, state: &str) {
    for theme in THEMES {
        choose(page, theme).await;
        page.browser.driver.refresh().await.expect("the page reloads");
        page.reaches("pods", if state.is_empty() { "live" } else { state }, PATIENCE).await;
        if name == "busy" || name == "inspector" {
            lively(page).await;
        }
        for size in SIZES {
            shoot(page, name, theme, size).await;
        }
    }
}

/// The same without loading the page again: the theme's button changes it.
async fn shoot_here(page: &Page, name: &str) {
    for theme in THEMES {
        let script = "return document.documentElement.dataset.theme";
        if page.browser.run(script, Vec::new()).await != theme {
            page.click("theme").await;
        }
        for size in SIZES {
            shoot(page, name, theme, size).await;
        }
    }
}

async fn choose(page: &Page, theme: &str) {
    let script = "localStorage.setItem('kubechurn.theme', arguments[0])";
    page.browser.run(script, vec![theme.into()]).await;
}

async fn shoot(page: &Page, name: &str, theme: &str, (width, height): (u32, u32)) {
    let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
    page.browser.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
    // Two frames: one takes in the size, the next one shows what was made of it.
    let settled = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(innerWidth))))";
    let inner: Value = page.browser.resolve(settled).await;
    assert_eq!(inner, width, "the window has its size");
    let picture = page.browser.driver.screenshot_as_png().await.expect("the browser takes a picture");
    let folder = tools::package_file("docs").join("pictures");
    fs::create_dir_all(&folder).expect("the folder can be made");
    let path = folder.join(format!("{name}-{theme}-{width}.png"));
    fs::write(&path, picture).expect("the picture can be kept");
    println!("{}", path.display());
}
