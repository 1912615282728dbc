//! Everything that is shown is in the address: a reload restores it, and back and forward go through it.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::page::{AT_ONCE, Page};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::with_live_page;

const SOON: Duration = Duration::from_secs(15);

/// What the page shows of each part of its address.
const SHOWN: &str = "
    const find = handle => document.querySelector(`[data-testid=\"${handle}\"]`);
    const sorted = [...document.querySelectorAll('[role=columnheader]')]
        .find(head => ['ascending', 'descending'].includes(head.getAttribute('aria-sort')));
    return {
        kind: document.querySelector('[aria-current=page]')?.dataset.testid ?? null,
        namespaces: find('namespaces').querySelector('summary b').textContent,
        filter: find('filter').value,
        sort: sorted ? `${sorted.dataset.col} ${sorted.getAttribute('aria-sort')}` : null,
        selected: find('inspector')?.dataset.key ?? null,
        row: document.querySelector('[role=row][aria-selected=true]')?.dataset.key ?? null,
        tab: document.querySelector('[role=tab][aria-selected=true]')?.id ?? null,
    }";

async fn shows(page: &Page, what: &str, expected: &Value) {
    wait_until(what, SOON, async || {
        let shown = page.browser.run(SHOWN, Vec::new()).await;
        // A page that begins without an order shows none, and a page that had another order shows the default one.
        let differs = expected.as_object().into_iter().flatten().find(|(part, value)| shown[part.as_str()] != **value);
        holds(differs.is_none(), || format!("{differs:?}, and the page has {shown}"))
    })
    .await;
}

#[tokio::test]
async fn every_part_of_the_address_survives_a_reload_and_is_gone_back_to() {
    let name = "every_part_of_the_address_survives_a_reload_and_is_gone_back_to";
    with_live_page(name, "#/pods", async |page, cluster| {
        let truth = cluster.list("/api/v1/pods").await;
        let key = truth.last_key().to_owned();
        let (namespace, name) = key.split_once('/').expect("a Pod has a namespace");
        let mut steps = vec![json!({ "kind": "kind-pods", "namespaces": "all", "selected": null, "filter": "" })];

        page.click("namespaces").await;
        page.click(&format!("namespace-{namespace}")).await;
        page.press("\u{e00c}").await;
        steps.push(json!({ "kind": "kind-pods", "namespaces": namespace, "selected": null, "filter": "" }));
        shows(page, "a namespace is chosen", &steps[1]).await;

        let script = "document.querySelector('[role=columnheader][data-col=NAME] button').click()";
        for order in ["NAME ascending", "NAME descending"] {
            page.browser.run(script, Vec::new()).await;
            steps.push(json!({ "namespaces": namespace, "sort": order, "selected": null, "filter": "" }));
            shows(page, order, &steps[steps.len() - 1]).await;
        }

        // Typed text makes no history entry of its own: it belongs to the place where it was typed.
        page.element("filter").await.send_keys(name).await.expect("the field takes text");
        steps[3]["filter"] = json!(name);
        shows(page, "the filter is typed", &steps[3]).await;
        let total = truth.items.keys().filter(|key| key.starts_with(&format!("{namespace}/"))).count();
        page.shows_only("what it finds", &BTreeSet::from([&*key]), total, Duration::from_secs(5)).await;
        wait_until("the address has the filter", AT_ONCE, async || {
            let hash = page.hash().await;
            holds(hash.contains(&format!("q={name}")), || hash)
        })
        .await;

        let script = "document.querySelector('[role=row][data-key]').click()";
        page.browser.run(script, Vec::new()).await;
        page.click("inspector-tab-yaml").await;
        let inspected = json!({ "kind": "kind-pods", "namespaces": namespace, "sort": "NAME descending", "filter": name,
            "selected": key, "row": key, "tab": "inspector-yaml" });
        steps.push(inspected.clone());
        shows(page, "the inspector is open on a tab", &inspected).await;
        let hash = page.hash().await;
        for part in [format!("ns={namespace}"), "sort=-NAME".into(), format!("sel={key}"), "tab=yaml".into()] {
            assert!(hash.contains(&part), "{hash} has no {part}");
        }

        page.reload().await;
        page.reaches("pods", "live", SOON).await;
        shows(page, "a reload brings it back", &inspected).await;
        assert_eq!(page.hash().await, hash);

        page.click("kind-deployments").await;
        page.reaches("deployments", "live", SOON).await;
        steps.push(json!({ "kind": "kind-deployments", "namespaces": namespace, "selected": null }));
        shows(page, "another kind", &steps[5]).await;

        for (at, step) in steps.iter().enumerate().rev().skip(1) {
            page.browser.driver.back().await.expect("the browser goes back");
            shows(page, &format!("back to step {at}"), step).await;
        }
        for (at, step) in steps.iter().enumerate().skip(1) {
            page.browser.driver.forward().await.expect("the browser goes forward");
            shows(page, &format!("forward to step {at}"), step).await;
        }
    })
    .await;
}
