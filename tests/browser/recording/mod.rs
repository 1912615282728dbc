//! A recording that is saved, opened in place of the cluster, and closed again; and files that are none.

// What the browser keeps.
mod kept;
// A folder of the page and recordings.
mod site;

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::page::GIVEN;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::with_live_page;
use crate::shell::accessibility::finds_nothing;

const SOON: Duration = Duration::from_secs(20);

const STATE: &str = "return document.querySelector('[data-testid=connection]').dataset.state";

#[tokio::test]
async fn what_is_saved_is_opened_beside_the_cluster_and_is_what_it_was() {
    let name = "what_is_saved_is_opened_beside_the_cluster_and_is_what_it_was";
    with_live_page(name, "#/pods", async |page, cluster| {
        page.browser.run(GIVEN, Vec::new()).await;
        page.press("N").await;
        page.becomes("the field for a note", "return document.querySelector('[data-testid=note]')?.open", json!(true))
            .await;
        finds_nothing(page, "the field for a note").await;
        page.press("<b>look here</b>\u{e007}").await;
        page.becomes("it is closed", "return document.querySelector('[data-testid=note]').open", json!(false)).await;

        // Something is written, deleted and made while it is recorded.
        let pods = cluster.list("/api/v1/pods").await;
        let (gone, _) = pods.items.iter().next().expect("there are Pods");
        let (namespace, pod) = gone.split_once('/').expect("a Pod has a namespace");
        cluster.delete(&format!("/api/v1/namespaces/{namespace}/pods/{pod}")).await;
        let truth = cluster.quiet("/api/v1/pods").await;
        page.shows("pods", &truth, SOON).await;

        page.press(":save the recording\u{e007}").await;
        page.becomes(
            "what will be in it",
            "return document.querySelector('[data-testid=save-Pods]')?.checked",
            json!(true),
        )
        .await;
        page.click("save-names").await;
        page.becomes(
            "what is replaced",
            "return document.querySelector('[data-testid=save-replaced]').textContent.includes('name-1')",
            json!(true),
        )
        .await;
        page.click("save-names").await;
        finds_nothing(page, "before it is saved").await;
        page.click("save-title").await;
        page.press("A deleted Pod").await;
        page.click("save-write").await;
        wait_until("the file is written", SOON, async || {
            let name: Option<String> = page.read("return window.__file ?? null", Vec::new()).await;
            holds(name.as_deref() == Some("A-deleted-Pod.churn"), || format!("{name:?}"))
        })
        .await;

        page.drop_file(None).await;
        page.becomes("the recording is shown", STATE, json!("recording")).await;
        page.becomes(
            "its end",
            "return [document.querySelector('[data-testid=rewind-ago]')?.textContent, kubechurn.status()[0]?.state]",
            json!(["the end", "recording"]),
        )
        .await;
        assert!(page.text("rewind-sign").await.contains("A deleted Pod"));
        // It begins with what changed, and the note is there as it was written; the table is that of the Pods.
        page.becomes(
            "the note",
            "return document.querySelector('[data-testid=feed-row][data-what=note] .feed-words')?.textContent",
            json!("<b>look here</b>"),
        )
        .await;
        page.open("#/pods").await;
        page.becomes("the Pods of then", "return kubechurn.rows('pods')?.length", json!(truth.count())).await;
        let digest: Value = page.read("return kubechurn.digest('pods')", Vec::new()).await;
        finds_nothing(page, "recording").await;
        // The deletion came last. A millisecond earlier the Pod is a row.
        let before = "const at = new Date(kubechurn.status()[0].moment); return new Date(at - 1).toISOString()";
        let before: String = page.read(before, Vec::new()).await;
        page.open(&format!("#/pods?at={before}")).await;
        let is_there = format!("return kubechurn.rows('pods').some(row => row.key === '{gone}')");
        page.becomes("the Pod that is gone", &is_there, json!(true)).await;
        page.press("L").await;
        page.becomes("the cluster is shown again", STATE, json!("live")).await;
        assert_eq!(page.hash().await, "#/pods");
        page.shows("pods", &truth, SOON).await;
        page.becomes("the same objects", "return kubechurn.digest('pods')", digest).await;
        page.is_balanced().await;

        // What is none changes nothing.
        page.drop_file(Some("hello")).await;
        page.becomes(
            "why it was not opened",
            "return document.querySelector('[data-testid=told]').textContent",
            json!("run.churn was not opened: it is not compressed by gzip, as a recording is."),
        )
        .await;
        page.becomes("the cluster is shown", STATE, json!("live")).await;
    })
    .await;
}
