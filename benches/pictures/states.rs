//! The states of the page, each with a demo cluster and a proxy of its own.

use std::fs;
use std::time::Duration;

use serde_json::json;
use thirtyfour::support::base64_decode;

use kubechurn_harness::browser::{Browser, MOUSE};
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::kubectl::Kubectl;
use kubechurn_harness::page::{GIVEN, INSTRUMENTS, Page, with_page_in};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::tools;
use kubechurn_harness::wait::{holds, wait_until};

/// The names of the states.
const STATES: [&str; 23] = [
    "changes",
    "why",
    "logs",
    "writers",
    "loop",
    "owners",
    "span",
    "net",
    "busy",
    "rewind",
    "rewound-feed",
    "playing",
    "inspector",
    "versions",
    "palette",
    "keys",
    "empty",
    "forbidden",
    "stale",
    "save",
    "recording",
    "inside",
    "lesson",
];
const THEMES: [&str; 2] = ["dark", "light"];
/// The suffix of the file name for each size of the window, in CSS pixels.
const SIZES: [(&str, u32, u32); 2] = [("", 1440, 900), ("-small", 1024, 700)];
/// The quality of WebP at which small letters are still sharp.
const QUALITY: u32 = 60;
/// The number of marks from which on a timeline looks typical.
const MARKS: usize = 400;
/// The link to why an image cannot be pulled, among those of all that is wrong.
const WHY_OF_THE_IMAGE: &str = "[...document.querySelectorAll('[data-testid=wrong-why]')]
    .find(link => link.closest('li').textContent.includes('typo'))";
/// How long a state may take to be reached.
const PATIENCE: Duration = Duration::from_secs(90);

/// Takes the pictures of the wanted states; of all, if none is named.
pub async fn take(wanted: &[String]) {
    if let Some(unknown) = wanted.iter().find(|name| !STATES.contains(&&***name)) {
        panic!("there is no state called {unknown}, but {}", STATES.join(", "));
    }
    let mut sum = 0;
    for name in STATES {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            let scenario = match name {
                "why" | "logs" => "calm",
                "loop" => "calm,hot-loop",
                "save" | "recording" => "rollout",
                _ => "mixed",
            };
            let cluster = Cluster::start(&Options { scenario, pods: 300, seed: 7, ..Options::default() }).await;
            let mut proxy = KubectlProxy::start(cluster.port()).await;
            let url = proxy.url();
            let browser = Browser::start_with(INSTRUMENTS, &[MOUSE]).await;
            with_page_in(browser, "pictures", &url, "#/nodes", async |page| {
                reach(name, page, &cluster, &mut proxy).await;
                sum += pictures(page, name).await;
            })
            .await;
        }
    }
    println!("{} KB together", sum / 1000);
}

/// Opens the feed, and waits until it has something to show, and a minute of it.
async fn settled(page: &Page, hash: &str) {
    page.open(hash).await;
    page.reaches("deployments", "live", PATIENCE).await;
    wait_until("the feed has a card and many rows", PATIENCE, async || {
        let script =
            "return [...['card', 'feed-row'].map(one => document.querySelectorAll(`[data-testid=${one}]`).length),
            Math.floor((Date.now() - kubechurn.marks('pods')[0].time) / 1000)]";
        let found: [usize; 3] = page.read(script, Vec::new()).await;
        holds(found[0] > 0 && found[1] >= 8 && found[2] >= 50, || format!("{found:?}"))
    })
    .await;
}

/// Brings the page into the state with this name.
async fn reach(name: &str, page: &Page, cluster: &Cluster, proxy: &mut KubectlProxy) {
    let busy = "#/pods?pin=deployments,jobs,events";
    match name {
        "changes" => settled(page, "#/changes").await,
        "why" => {
            break_an_image(page, cluster).await;
            page.browser.run(&format!("{WHY_OF_THE_IMAGE}.click()"), Vec::new()).await;
            let proven = "return document.querySelector('[data-testid=why-cause][data-proof=proven]') !== null";
            wait_until("the cause is known", PATIENCE, async || {
                holds(page.read(proven, Vec::new()).await, || String::from("no cause is proven"))
            })
            .await;
        }
        "logs" => {
            page.open("#/pods").await;
            lively_in(page, 10).await;
            let key = most_changed(page).await.replace('/', "%2F");
            page.open(&format!("#/pods?sel={key}&tab=logs")).await;
            let lines = "return document.querySelectorAll('[data-testid=log-row]').length > 8";
            page.becomes("lines came", lines, json!(true)).await;
        }
        "writers" => {
            settled(page, "#/changes").await;
            page.press("M").await;
            page.click("writer-name").await;
            page.element("writers-writes").await;
        }
        "inside" => {
            settled(page, "#/changes").await;
            page.open("#/inside?kind=pods").await;
            page.element("inside-sentence").await;
            for _ in 0..40 {
                page.click("inside-forward").await;
            }
        }
        "loop" => {
            settled(page, "#/changes").await;
            let fights = "return [...document.querySelectorAll('[data-testid=card]')]
                .some(card => card.textContent.includes('by two managers'))";
            page.becomes("the fight has a card", fights, json!(true)).await;
        }
        "owners" => {
            settled(page, "#/deployments,replicasets,pods?view=changes&lanes=owner").await;
            page.click("lanes-open").await;
            page.click("timeline-fill").await;
        }
        "span" => {
            settled(page, "#/changes?lanes=owner").await;
            let now: f64 = page.read("return Date.now()", Vec::new()).await;
            page.open(&format!("#/changes?lanes=owner&span={:.0}-{:.0}", now - 22_000.0, now - 4_000.0)).await;
            page.element("span-row").await;
        }
        "net" => {
            settled(page, "#/changes").await;
            let now: f64 = page.read("return Date.now()", Vec::new()).await;
            page.open(&format!("#/changes?span={:.0}-now&net=1", now - 30_000.0)).await;
            page.element("span-row").await;
        }
        "rewind" | "playing" => {
            page.open(busy).await;
            lively(page).await;
            page.open(&format!("{busy}&q=shop&at={}", ago(page).await)).await;
            page.element("rewind-time").await;
            if name == "playing" {
                page.click("rewind-play").await;
            }
        }
        "rewound-feed" => {
            settled(page, "#/changes").await;
            page.open(&format!("#/changes?at={}", ago(page).await)).await;
            page.element("feed-later").await;
        }
        "inspector" | "versions" => {
            page.open("#/pods?pin=replicasets,deployments").await;
            lively(page).await;
            let key = most_changed(page).await.replace('/', "%2F");
            page.open(&format!("#/pods?pin=replicasets,deployments&sel={key}&tab=changes")).await;
            page.element("inspector-versions").await;
            if name == "versions" {
                page.press("v").await;
                page.element("comparison").await;
            }
        }
        "palette" => {
            page.open(busy).await;
            lively(page).await;
            page.press(":se").await;
            is_open(page, "palette").await;
        }
        "keys" => {
            page.open(busy).await;
            lively(page).await;
            page.press("?").await;
            is_open(page, "help").await;
        }
        "empty" => {
            page.open("#/pods?ns=nowhere&labels=app%3Dweb").await;
            page.reaches("pods", "live", PATIENCE).await;
            page.element("empty").await;
        }
        "forbidden" => {
            for verb in ["list", "watch"] {
                cluster.control(&format!("forbid?verb={verb}&resource=pods")).await;
            }
            page.open("#/pods").await;
            page.reaches("pods", "forbidden", PATIENCE).await;
        }
        "lesson" => {
            page.open("#/inside?kind=pods&lesson=tombstone&caption=4").await;
            let place = "return document.querySelector('[data-testid=inside-caption-place]')?.textContent";
            page.becomes("the caption is read", place, json!("4 of 5, Queue")).await;
        }
        "stale" => {
            page.open("#/pods").await;
            lively(page).await;
            proxy.kill().await;
            page.reaches("pods", "stale", PATIENCE).await;
        }
        "save" | "recording" => {
            page.browser.run(GIVEN, Vec::new()).await;
            page.open("#/changes").await;
            let wrong =
                "return document.querySelector('[data-testid=wrong]')?.textContent.includes('cannot pull') ?? false";
            wait_until("the rollout goes wrong", PATIENCE, async || {
                holds(page.read(wrong, Vec::new()).await, || String::from("not yet"))
            })
            .await;
            page.press(":save the recording\u{e007}").await;
            page.element("save-Pods").await;
            page.press("The gateway's new image").await;
            if name == "recording" {
                page.click("save-write").await;
                let written = "return window.__file?.endsWith('.churn') ?? false";
                page.becomes("the file is written", written, json!(true)).await;
                page.drop_file(None).await;
                let ago = "return document.querySelector('[data-testid=rewind-ago]')?.textContent";
                page.becomes("the recording is shown", ago, json!("the end")).await;
            }
        }
        _ => {
            page.open(busy).await;
            lively(page).await;
        }
    }
}

/// Gives a Deployment of the demo cluster an image that cannot be pulled, and waits until that is seen.
async fn break_an_image(page: &Page, cluster: &Cluster) {
    page.open("#/changes").await;
    for kind in ["deployments", "replicasets", "pods"] {
        page.reaches(kind, "live", PATIENCE).await;
    }
    let all = cluster.get("/apis/apps/v1/deployments").await;
    let of = |one: &&serde_json::Value| one["spec"]["replicas"].as_u64().is_some_and(|count| count == 5);
    let one = all["items"].as_array().and_then(|all| all.iter().find(of)).unwrap_or(&all["items"][0]);
    let [namespace, name] = ["namespace", "name"].map(|of| one["metadata"][of].as_str().expect("a name"));
    let container = &one["spec"]["template"]["spec"]["containers"][0];
    let [container, image] = ["name", "image"].map(|of| container[of].as_str().expect("a word"));
    let image = image.rsplit_once(':').map_or(image, |(image, _)| image);
    let words = format!("-n {namespace} set image deployment/{name} {container}={image}:1.4.2-typo");
    Kubectl::new(&format!("http://127.0.0.1:{}", cluster.port())).run(&words, "").await;
    page.becomes("it is wrong", &format!("return {WHY_OF_THE_IMAGE} != null"), json!(true)).await;
}

/// The moment twenty seconds ago, as the address has it.
async fn ago(page: &Page) -> String {
    page.read("return new Date(Date.now() - 20_000).toISOString()", Vec::new()).await
}

async fn is_open(page: &Page, dialog: &str) {
    let script = format!("return document.querySelector('[data-testid={dialog}]').open");
    page.becomes(&format!("the {dialog} is open"), &script, json!(true)).await;
}

/// Waits until the timeline has enough marks.
async fn lively(page: &Page) {
    lively_in(page, MARKS).await;
}

/// Waits until the timeline has so many marks.
async fn lively_in(page: &Page, least: usize) {
    page.reaches("pods", "live", PATIENCE).await;
    wait_until("the timeline has marks", PATIENCE, async || {
        let marks = page.marks("pods").await.iter().filter(|mark| mark.kind != "Replaced").count();
        holds(marks >= least, || format!("{marks} marks"))
    })
    .await;
}

/// The object with the most versions that still exists.
async fn most_changed(page: &Page) -> String {
    let rows = page.rows("pods").await;
    let marks = page.marks("pods").await;
    let seen = |key: &str| marks.iter().filter(|mark| mark.key.as_deref() == Some(key)).count();
    rows.into_iter().map(|row| row.key).max_by_key(|key| seen(key)).expect("there are Pods")
}

/// Takes a picture for each theme and size; returns their total size in bytes. A script clicks the theme's button, because
/// a dialog may cover it; and the page is not loaded again, because it may no longer be served.
async fn pictures(page: &Page, name: &str) -> usize {
    let mut sum = 0;
    for theme in THEMES {
        let script = "
            if (document.documentElement.dataset.theme !== arguments[0]) document.querySelector('[data-testid=theme]').click()";
        page.browser.run(script, vec![theme.into()]).await;
        page.becomes("the theme", "return document.documentElement.dataset.theme", json!(theme)).await;
        for (size, width, height) in SIZES {
            sum += shoot(page, &format!("{name}-{theme}{size}"), width, height).await;
        }
    }
    sum
}

async fn shoot(page: &Page, name: &str, width: u32, height: u32) -> usize {
    let metrics = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
    page.browser.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
    page.painted().await;
    let inner: u32 = page.read("return innerWidth", Vec::new()).await;
    assert_eq!(inner, width, "the window has its size");
    let taken = page.browser.devtools("Page.captureScreenshot", json!({"format": "webp", "quality": QUALITY})).await;
    let picture =
        taken["data"].as_str().and_then(|data| base64_decode(data).ok()).expect("the browser takes a picture");
    let folder = tools::project_file("docs").join("pictures");
    fs::create_dir_all(&folder).expect("the folder can be made");
    let path = folder.join(format!("{name}.webp"));
    fs::write(&path, &picture).expect("the picture can be kept");
    println!("{} ({} KB)", path.display(), picture.len() / 1000);
    picture.len()
}
