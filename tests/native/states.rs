//! What the page says while there is nothing to show.

use std::time::Duration;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::with_page;

const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn no_rows_have_a_reason() {
    let cluster = Cluster::start(&Options { pods: 30, ..Options::default() }).await;
    with_page(cluster.port(), "#/pods", async |page| {
        for (hash, words) in [
            ("#/pods?ns=nowhere", "There are no Pods in nowhere."),
            ("#/pods?ns=nowhere,void", "There are no Pods in nowhere, void."),
            ("#/pods?labels=app%3Dnothing", "No Pods in any namespace with labels app=nothing."),
            (
                "#/pods?labels=app%3Dnothing&fields=status.phase%3DFailed",
                "No Pods in any namespace with labels app=nothing and fields status.phase=Failed.",
            ),
            ("#/pods?q=zzzz", "No Pods in any namespace match “zzzz”."),
        ] {
            page.open(hash);
            wait_until(&format!("{hash} is explained"), PATIENCE, async || {
                let said = page.view(|view| view.rows.empty.clone());
                holds(said.as_deref() == Some(words), || format!("{said:?}"))
            })
            .await;
        }
    })
    .await;
}
