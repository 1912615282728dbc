//! A folder that any web server serves: the page, and recordings that it plays without a cluster.

use std::fs;

use serde_json::json;

use kubechurn_harness::page::with_page;
use kubechurn_harness::process::{Process, TemporaryFolder};
use kubechurn_harness::{tools, turn};

const STATE: &str = "return document.querySelector('[data-testid=connection]')?.dataset.state";

const END: &str = "return document.querySelector('[data-testid=rewind-ago]')?.textContent";

#[tokio::test]
async fn a_recording_beside_the_page_plays_without_an_api() {
    let _turn = turn::shared().await;
    let folder = TemporaryFolder::new("site");
    let run = async |words: &[&str]| {
        Process::start("kubechurn", &tools::binary(), folder.path(), words).ended().await;
    };
    let record = ["record", "--scenario", "rollout", "--pods", "40", "--for", "2s", "-o", "run.churn"];
    run(&[&record[..], &["--title", "A <b>rollout</b>"]].concat()).await;
    // This one is spoilt later.
    run(&["record", "nodes", "--demo", "--for", "1s", "-o", "other.churn"]).await;
    fs::create_dir_all(folder.path().join("www/below")).expect("the folder can be written");
    run(&["site", "www/below/it", "run.churn", "other.churn"]).await;
    fs::write(folder.path().join("www/below/it/recordings/other.churn"), "hello").expect("the folder can be written");
    let (_server, url) = Process::web_server(&folder.path().join("www")).await;
    let url = format!("{url}below/it/");
    let name = "a_recording_beside_the_page_plays_without_an_api";
    with_page(name, &url, "", async |page| {
        let offered = "[...document.querySelectorAll('[data-testid=splash-recordings] a')]";
        page.becomes(
            "what is offered",
            &format!("return {offered}.map(link => link.textContent)"),
            json!(["A <b>rollout</b>", "other.churn"]),
        )
        .await;
        page.browser.run(&format!("{offered}[1].click()"), Vec::new()).await;
        page.becomes(
            "why it was not opened",
            "return document.querySelector('[data-testid=told]').textContent",
            json!("recordings/other.churn was not opened: it is not compressed by gzip, as a recording is."),
        )
        .await;
        page.browser.run(&format!("{offered}[0].click()"), Vec::new()).await;
        page.becomes("the recording is shown", STATE, json!("recording")).await;
        page.becomes("its end", END, json!("the end")).await;
        assert!(page.text("rewind-sign").await.contains("A <b>rollout</b>"));
        page.open("#/pods").await;
        let pods = "return kubechurn.rows('pods')?.length";
        page.becomes("its Pods", &format!("{pods} >= 35"), json!(true)).await;
        let count = page.read::<usize>(pods, Vec::new()).await;
        page.becomes("the address", "return location.hash", json!("#/pods?url=recordings/run.churn")).await;
        // Whoever has the link comes to the same place.
        page.reload().await;
        page.becomes("its end again", END, json!("the end")).await;
        page.becomes("the same Pods", pods, json!(count)).await;
        page.becomes("the recording", STATE, json!("recording")).await;
        assert_eq!(page.hash().await, "#/pods?url=recordings/run.churn");
        let elsewhere = "return performance.getEntriesByType('resource').map(one => one.name)
            .filter(name => !name.startsWith(location.origin + '/'))";
        page.becomes("nothing is asked of others", elsewhere, json!([])).await;
        page.press("L").await;
        page.becomes("no API again", "return document.querySelector('[data-testid=splash]') !== null", json!(true))
            .await;
        assert_eq!(page.hash().await, "#/changes");
    })
    .await;
}
