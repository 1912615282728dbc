//! The cells of the document are what `kubectl get -A -o wide` prints. All other cells are compared in
//! `tests/native/columns.rs`.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::Options;
use kubechurn_harness::kubectl::Kubectl;
use kubechurn_harness::page::{INSTRUMENTS, with_page_in};

use crate::page::live::started;

/// Makes the server claim to be another release.
const NEWER: &str = r#"
    const ask = window.fetch;
    window.fetch = async (...asked) => {
        const answer = await ask.apply(window, asked);
        if (!(asked[0].url ?? String(asked[0])).endsWith('/version')) return answer;
        const text = (await answer.text()).replace('"minor":"35"', '"minor":"36"');
        return new Response(text, { status: answer.status, headers: answer.headers });
    };"#;

/// The demo cluster says that it is a 1.35, whose printers do not say which IngressClass is the default. Later
/// printers do.
#[tokio::test]
async fn cells_follow_the_server_s_release() {
    let (_turn, cluster, proxy) = started(&Options { pods: 0, ..Options::default() }).await;
    cluster
        .put(&json!({
            "apiVersion": "networking.k8s.io/v1",
            "kind": "IngressClass",
            "metadata": {"name": "nginx", "annotations": {"ingressclass.kubernetes.io/is-default-class": "true"}},
            "spec": {"controller": "example.org/nginx"},
        }))
        .await;
    let kubectl = Kubectl::new(&format!("{}k8s", proxy.url()));
    for (script, name) in [("", "nginx"), (NEWER, "nginx (default)")] {
        let browser = Browser::start(&format!("{INSTRUMENTS}{script}")).await;
        let test = "cells_follow_the_server_s_release";
        with_page_in(browser, test, &proxy.url(), "#/ingressclasses?wide=1", async |page| {
            page.reaches("ingressclasses", "live", Duration::from_secs(20)).await;
            page.has_rows().await;
            let cells = "return [...document.querySelectorAll('[role=row][data-key] [data-col]')]
                .filter(cell => ['NAME', 'CONTROLLER'].includes(cell.dataset.col)).map(cell => cell.textContent.trim())";
            page.becomes("the page shows what the server prints", cells, json!([name, "example.org/nginx"])).await;
        })
        .await;
    }
    let printed = kubectl.table("ingressclasses").await;
    assert_eq!(
        printed.iter().map(|line| &*line["NAME"]).collect::<Vec<_>>(),
        ["nginx"],
        "the cluster prints like the release that it names"
    );
}
