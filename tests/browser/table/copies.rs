//! What the user takes out of the page: to the clipboard, and as files.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::page::{COPIED, GIVEN};

use crate::page::live::with_live_page;

const PODS: &str = "/api/v1/pods";
const SOON: Duration = Duration::from_secs(15);

#[tokio::test]
async fn what_is_shown_is_copied_and_exported() {
    with_live_page("what_is_shown_is_copied_and_exported", "#/pods?sort=-NAME", async |page, cluster| {
        page.browser.run(GIVEN, Vec::new()).await;
        let keys = page.has_rows().await;
        let (namespace, name) = keys[1].split_once('/').expect("a Pod has a namespace");
        page.press("jjy").await;
        page.becomes("y copies the name of the object", COPIED, json!(name)).await;
        let rows = page.rows("pods").await;
        let cells = &rows.iter().find(|row| row.key == keys[1]).expect("the row").cells;
        for (wanted, expected) in [
            ("copy kubectl get object", format!("kubectl get pod {name} -n {namespace} -o yaml")),
            ("copy kubectl table", "kubectl get pods -A".to_owned()),
            ("copy link", page.browser.driver.current_url().await.expect("an address").to_string()),
        ] {
            page.press(format!(":{wanted}\u{e007}").as_str()).await;
            page.becomes(wanted, COPIED, json!(expected)).await;
        }
        page.press("lll").await;
        page.press("Ycell\u{e007}").await;
        page.becomes("a cell", COPIED, cells["READY"].clone()).await;
        page.press(":copy row\u{e007}").await;
        page.becomes("a row", "return window.__copied.split('\\t').length", json!(6)).await;
        let row: String = page.read(COPIED, Vec::new()).await;
        assert!(
            row.starts_with(&format!("{namespace}\t{name}\t{}\t", cells["READY"].as_str().unwrap_or_default())),
            "{row}"
        );

        let truth = cluster.list(PODS).await;
        let mut expected: Vec<&str> =
            truth.items.keys().map(|key| key.split_once('/').map_or("", |(_, name)| name)).collect();
        expected.sort_unstable();
        expected.reverse();
        page.press(":csv\u{e007}").await;
        let text = page.gives(|file| file.starts_with("pods-") && file.ends_with(".csv"), SOON).await;
        let mut lines = text.split("\r\n");
        assert_eq!(lines.next(), Some("NAMESPACE,NAME,READY,STATUS,RESTARTS,AGE"));
        let names: Vec<&str> = lines.filter_map(|line| line.split(',').nth(1)).collect();
        assert_eq!(names, expected, "every row, in the table's order");

        page.press("\u{e00c}").await;
        page.press(format!("/{name}\u{e007}").as_str()).await;
        page.counts(1, truth.count()).await;
        page.press(":ndjson\u{e007}").await;
        let text = page.gives(|file| file.ends_with(".ndjson"), SOON).await;
        let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let row = rows.iter().find(|row| row.key == keys[1]).expect("the row");
        assert_eq!(lines.len(), 1, "{lines:?}");
        assert_eq!((&lines[0]["key"], &lines[0]["uid"]), (&json!(row.key), &json!(row.uid)));
        assert_eq!(lines[0]["cells"]["NAME"], json!(name));
    })
    .await;
}
