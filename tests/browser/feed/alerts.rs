//! Filters that are watched: the browser's notifications, the tab's title and icon.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::page::{INSTRUMENTS, Page, with_page_in};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

const SOON: Duration = Duration::from_secs(20);

/// Takes the place of the browser's notifications, and writes down what is asked of it: `notified.asked` times it was
/// asked for the permission, and `notified.shown` are title and body of each.
const NOTIFICATIONS: &str = "
    window.notified = { asked: 0, shown: [], answer: 'granted' };
    window.Notification = class {
        static permission = 'default';
        static async requestPermission() {
            notified.asked += 1;
            return window.Notification.permission = notified.answer;
        }
        constructor(title, options) { notified.shown.push([title, options.body]); }
    };";

async fn shown(page: &Page) -> Vec<(String, String)> {
    page.read("return notified.shown", Vec::new()).await
}

/// Waits until so many notifications were shown.
async fn are_shown(page: &Page, many: usize, within: Duration) -> Vec<(String, String)> {
    wait_until(&format!("{many} notifications"), within, async || {
        let shown = shown(page).await;
        if shown.len() == many { Ok(shown) } else { Err(format!("{shown:?}")) }
    })
    .await
}

async fn label(cluster: &Cluster, pod: &Value, value: &str) {
    let [namespace, name] =
        ["namespace", "name"].map(|part| pod["metadata"][part].as_str().expect("a Pod has a namespace and a name"));
    let patch = json!({ "metadata": { "labels": { "example.org-a": value } } });
    cluster.patch(&format!("/api/v1/namespaces/{namespace}/pods/{name}"), &patch).await;
}

#[tokio::test]
async fn a_watched_filter_notifies_in_a_hidden_tab_and_at_most_once_in_ten_seconds() {
    let (_turn, cluster, proxy) = started(&Options { pods: 30, ..Options::default() }).await;
    let browser = Browser::start(&format!("{INSTRUMENTS}\n{NOTIFICATIONS}")).await;
    let name = "a_watched_filter_notifies_in_a_hidden_tab_and_at_most_once_in_ten_seconds";
    with_page_in(browser, name, &proxy.url(), "#/pods?view=changes", async |page| {
        page.reaches("pods", "live", SOON).await;
        let pods = cluster.get("/api/v1/pods").await;
        let (first, second) = (&pods["items"][0], &pods["items"][1]);
        label(&cluster, first, "before").await;
        let is_counted =
            "return document.querySelector('[data-testid=feed-row] .feed-words')?.textContent.includes(arguments[0])";
        wait_until("it is shown in the feed", SOON, async || {
            holds(page.read::<Option<bool>>(is_counted, vec!["before".into()]).await == Some(true), || "not yet".to_owned())
        })
        .await;
        assert_eq!(
            page.read::<u64>("return notified.asked", Vec::new()).await,
            0,
            "the permission is asked for only then"
        );
        page.read::<Value>(
            "const field = document.getElementById('filter');
            field.value = 'path:metadata.labels'; field.dispatchEvent(new Event('input', { bubbles: true }))",
            Vec::new(),
        )
        .await;
        page.click("tell-me").await;
        page.becomes("the permission is asked for", "return notified.asked", json!(1)).await;
        page.becomes(
            "it is listed",
            "return document.querySelector('[data-testid=tell-me-item] code')?.textContent",
            json!("path:metadata.labels"),
        )
        .await;
        let title: String = page.read("return document.title", Vec::new()).await;
        let icon: String = page.read("return document.querySelector('link[rel=icon]').href", Vec::new()).await;

        page.browser.hide().await;
        page.becomes("it is hidden", "return document.visibilityState", json!("hidden")).await;
        label(&cluster, first, "one").await;
        let notified = are_shown(page, 1, SOON).await;
        assert_eq!(notified[0].0, "1 change: path:metadata.labels");
        assert!(notified[0].1.contains(first["metadata"]["name"].as_str().unwrap()), "{notified:?}");
        label(&cluster, first, "two").await;
        label(&cluster, second, "three").await;
        let notified = are_shown(page, 2, SOON).await;
        assert_eq!(notified[1].0, "2 changes: path:metadata.labels");
        page.becomes("the title counts", "return document.title", json!(format!("(3) {title}"))).await;
        let marked: String = page.read("return document.querySelector('link[rel=icon]').href", Vec::new()).await;
        assert!(marked != icon && marked.starts_with("data:image/svg+xml"), "{marked}");

        page.browser.show().await;
        page.becomes("the mark goes when the user is there", "return document.title", json!(title)).await;
        page.becomes("and that of the icon", "return document.querySelector('link[rel=icon]').href", json!(icon)).await;
        page.read::<Value>("document.querySelector('[data-testid=tell-me-end]').click()", Vec::new()).await;
        page.becomes("nothing is watched", "return document.querySelector('[data-testid=tell-me-menu]')", Value::Null)
            .await;
        label(&cluster, first, "four").await;
        wait_until("it is shown in the feed alone", SOON, async || {
            let rows = "return [...document.querySelectorAll('[data-testid=feed-row]')].map(row => row.textContent).join('\\n')";
            let words: String = page.read(rows, Vec::new()).await;
            holds(words.contains("four"), || words.clone())
        })
        .await;
        assert_eq!(shown(page).await.len(), 2);
    })
    .await;
}

#[tokio::test]
async fn where_notifications_are_refused_the_title_and_the_icon_show_it_and_a_tone_if_wanted() {
    let (_turn, cluster, proxy) = started(&Options { pods: 30, ..Options::default() }).await;
    let tones = "window.tones = 0; const start = OscillatorNode.prototype.start;
        OscillatorNode.prototype.start = function (...when) { window.tones += 1; return start.apply(this, when); };";
    let browser =
        Browser::start(&format!("{INSTRUMENTS}\n{NOTIFICATIONS}\nnotified.answer = 'denied';\n{tones}")).await;
    let name = "where_notifications_are_refused_the_title_and_the_icon_show_it_and_a_tone_if_wanted";
    with_page_in(browser, name, &proxy.url(), "#/pods?view=changes", async |page| {
        page.reaches("pods", "live", SOON).await;
        let pods = cluster.get("/api/v1/pods").await;
        page.click("tell-me").await;
        page.click("tell-me-menu").await;
        wait_until("the refusal is said", SOON, async || {
            let words = page.text("tell-me-menu").await;
            holds(words.contains("shows no notifications"), || words.clone())
        })
        .await;
        page.click("tell-me-sound").await;
        label(&cluster, &pods["items"][0], "one").await;
        page.becomes("the title says so", "return document.title.startsWith('(1) ')", json!(true)).await;
        page.becomes("a tone sounds", "return tones", json!(1)).await;
        assert_eq!(shown(page).await, []);
    })
    .await;
}
