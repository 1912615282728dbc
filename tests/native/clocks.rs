//! The clock of the page's machine is wrong: ages are by the server's clock, and the page says so once.

use std::time::{Duration, SystemTime};

use serde_json::json;

use kubechurn_client::record::time::Time;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::truth::pod;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::{Page, with_page};

const HOUR: f64 = 3_600.0;
const LIVE: Duration = Duration::from_secs(20);

/// What the page says of its clock, which is wrong by so many seconds, while it shows the ages that the server gives.
async fn said_of(off: f64) -> Vec<String> {
    let cluster = Cluster::start(&Options { pods: 10, ..Options::default() }).await;
    let mut said = Vec::new();
    with_page(cluster.port(), "#/pods", async |page| {
        page.place().off.set(off * 1_000.0);
        page.reaches("pods", "live", LIVE).await;
        let mut object = cluster.get(&pod(cluster.list("/api/v1/pods").await.last_key())).await;
        let created = seconds();
        let metadata = &mut object["metadata"];
        metadata["name"] = json!("fresh");
        metadata["uid"] = json!("fresh");
        metadata["creationTimestamp"] = json!(Time::from_seconds(created).to_string());
        let key = format!("{}/fresh", metadata["namespace"].as_str().unwrap_or_default());
        cluster.put(&object).await;
        wait_until("the ages are those of the server", Duration::from_secs(3), async || {
            let age = age(page, &key);
            let expected = seconds() - created;
            let seconds = age.strip_suffix('s').and_then(|seconds| seconds.parse::<i64>().ok());
            holds(seconds.is_some_and(|seconds| (seconds - expected).abs() <= 2), || format!("{age}, not {expected}s"))
        })
        .await;
        wait_until("the page has drawn", Duration::from_secs(3), async || {
            said = page.notices("clock");
            holds(off.abs() < 5.0 || !said.is_empty(), || page.view(|view| view.dialogs.message.to_string()))
        })
        .await;
    })
    .await;
    said
}

fn seconds() -> i64 {
    SystemTime::UNIX_EPOCH.elapsed().expect("it is past 1970").as_secs() as i64
}

fn age(page: &Page, key: &str) -> String {
    let rows = page.rows("pods");
    let row = rows.iter().find(|row| row.key == key);
    row.and_then(|row| row.cells.get("AGE")?.as_str().map(str::to_owned)).unwrap_or_default()
}

#[tokio::test]
async fn a_clock_that_is_hours_behind_or_ahead_changes_no_age() {
    let said = |by: &str| vec![format!("Your clock is {by} the server's: ages are by the server's clock.")];
    assert_eq!(said_of(-6.0 * HOUR).await, said("6h behind"));
    assert_eq!(said_of(72.0 * HOUR).await, said("3d ahead of"));
}

#[tokio::test]
async fn a_clock_that_is_seconds_off_changes_no_age() {
    assert_eq!(said_of(72.0).await, ["Your clock is 72s ahead of the server's: ages are by the server's clock."]);
    assert_eq!(said_of(-3.0).await, [""; 0]);
}
