//! What the browser keeps in the private file system of the page's origin.

use serde_json::{Value, json};

use kubechurn_harness::page::Page;
use kubechurn_harness::wait::{holds, wait_until};

use super::{SOON, STATE};
use crate::page::live::{viewport, with_live_page};
use crate::shell::accessibility::finds_nothing;
use crate::shell::layout::is_in_order;

/// A value of a Secret in base64 and as it is, and a token in an annotation.
const CANARIES: [&str; 3] = ["Y2FuYXJ5LW9uLXRoZS1kaXNr", "canary-on-the-disk", "canary-of-a-token"];

/// Everything that is in the private file system: the name of each file, and what is in it.
const FILES: &str = "(async () => {
    const read = async (folder, path) => {
        const files = [];
        for await (const one of folder.values()) {
            const own = path + '/' + one.name;
            files.push(...(one.kind === 'file' ? [[own, await (await one.getFile()).text()]] : [[own, ''], ...await read(one, own)]));
        }
        return files;
    };
    const root = await navigator.storage.getDirectory();
    // A file that is written between its finding and its reading cannot be read.
    for (let left = 100; ; left--) {
        try { return await read(root, ''); } catch (error) { if (!left) throw error; }
    }
})()";

async fn files(page: &Page) -> Vec<(String, String)> {
    serde_json::from_value(page.browser.resolve(FILES).await).expect("a list of names and texts")
}

async fn opens_list(page: &Page, items: usize) {
    page.press(":kept in this browser\u{e007}").await;
    let count = "return document.querySelector('[data-testid=kept]')?.open &&
        document.querySelectorAll('[data-testid=kept-item]').length";
    page.becomes("what is kept", count, json!(items)).await;
}

#[tokio::test]
async fn what_is_kept_is_there_after_the_tab_was_left_and_nothing_of_it_when_it_is_deleted() {
    let name = "what_is_kept_is_there_after_the_tab_was_left_and_nothing_of_it_when_it_is_deleted";
    with_live_page(name, "#/pods,secrets", async |page, cluster| {
        let [encoded, _, token] = CANARIES;
        let metadata = json!({"namespace": "default", "name": "canary", "annotations": {"ci/access-token": token}});
        let secret = json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "metadata": metadata,
            "data": {"password": encoded}});
        cluster.put(&secret).await;
        assert!(files(page).await.is_empty(), "nothing is kept by itself");
        page.press(":keep in this browser, or\u{e007}").await;
        page.becomes("it is kept", "return !!document.querySelector('[data-testid=keeps]')", json!(true)).await;

        let pods = cluster.list("/api/v1/pods").await;
        let (gone, _) = pods.items.iter().next().expect("there are Pods");
        let (namespace, pod) = gone.split_once('/').expect("a Pod has a namespace");
        cluster.delete(&format!("/api/v1/namespaces/{namespace}/pods/{pod}")).await;
        let truth = cluster.quiet("/api/v1/pods").await;
        page.shows("pods", &truth, SOON).await;
        let digest: Value = page.read("return kubechurn.digest('pods')", Vec::new()).await;
        // What comes before a note is written before it.
        page.press("N").await;
        page.becomes("the field", "return document.querySelector('[data-testid=note]')?.open", json!(true)).await;
        page.press("the very last\u{e007}").await;
        wait_until("the note is on the disk", SOON, async || {
            let files = files(page).await;
            let is_there = files.iter().any(|(_, text)| text.contains("the very last"));
            holds(is_there, || format!("{:?}", files.iter().map(|(name, _)| name).collect::<Vec<_>>()))
        })
        .await;
        let kept = files(page).await;
        let all: String = kept.iter().map(|(_, text)| &**text).collect();
        assert!(all.contains("default") && all.contains("canary") && all.contains("redacted"), "the Secret is there");
        let left: Vec<_> = CANARIES.iter().filter(|canary| all.contains(**canary)).collect();
        assert!(left.is_empty(), "{left:?}");
        opens_list(page, 1).await;
        let words = "return document.querySelector('[data-testid=kept-item] .kept-in-use')?.textContent";
        page.becomes("it is in use", words, json!("being written")).await;

        // The tab is left without a word to the page.
        page.browser.driver.goto("about:blank").await.expect("an empty page loads");
        page.open("#/pods").await;
        page.reaches("pods", "live", SOON).await;
        page.becomes("nothing is kept now", "return !document.querySelector('[data-testid=keeps]')", json!(true)).await;
        opens_list(page, 1).await;
        finds_nothing(page, "what is kept").await;
        for (width, height) in [(390, 844), (1024, 700), (1440, 900)] {
            viewport(page, width, height).await;
            is_in_order(page, &format!("what is kept, at {width}×{height}")).await;
        }
        page.click("kept-open").await;
        page.becomes("the recording is shown", STATE, json!("recording")).await;
        page.becomes(
            "its end",
            "return document.querySelector('[data-testid=rewind-ago]')?.textContent",
            json!("the end"),
        )
        .await;
        page.open("#/pods").await;
        page.becomes("the Pods of then", "return kubechurn.digest('pods')", digest).await;
        page.press("L").await;
        page.becomes("the cluster is shown again", STATE, json!("live")).await;

        opens_list(page, 1).await;
        page.click("kept-delete").await;
        page.becomes(
            "it is asked",
            "return document.querySelector('[data-testid=kept-delete]').textContent",
            json!("Delete for ever"),
        )
        .await;
        page.click("kept-delete").await;
        page.becomes(
            "it is gone",
            "return document.querySelector('[data-testid=kept-total]').textContent",
            json!("Nothing is kept."),
        )
        .await;
        let names: Vec<String> = files(page).await.into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["/kubechurn"], "nothing but the empty folder of all");
    })
    .await;
}
