//! The sidebar without a pointer, and what the page remembers of it.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::truth::pod;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::with_live_page;

/// What has the focus: a kind's link, or a group's heading.
const FOCUS: &str = "
    const focused = document.activeElement;
    return focused.tagName === 'SUMMARY' ? focused.parentElement.dataset.testid : focused.dataset.testid ?? null";

#[tokio::test]
async fn the_arrows_walk_the_rail_and_enter_opens_a_kind() {
    with_live_page("the_arrows_walk_the_rail_and_enter_opens_a_kind", "#/pods", async |page, _| {
        page.browser.run("document.querySelector('[data-testid=kind-pods]').focus()", Vec::new()).await;
        for (key, expected) in [
            ("\u{e015}", "kind-deployments"), // down
            ("\u{e015}", "kind-replicasets"),
            ("\u{e013}", "kind-deployments"), // up
            ("\u{e011}", "group-Workloads"),  // Home
            ("\u{e015}", "kind-pods"),
            ("\u{e015}", "kind-deployments"),
        ] {
            page.press(key).await;
            page.becomes(&format!("after {key:?}"), FOCUS, json!(expected)).await;
        }
        page.press("\u{e007}").await; // Enter
        page.reaches("deployments", "live", Duration::from_secs(10)).await;
        assert!(page.hash().await.starts_with("#/deployments"), "{}", page.hash().await);
        page.becomes("the focus stays", FOCUS, json!("kind-deployments")).await;

        // A folded kind cannot get the focus.
        let folded = "return document.querySelector('.sidebar-group:not([open])') != null";
        page.becomes("some groups are folded", folded, json!(true)).await;
        let last = "
            const places = [...document.querySelectorAll('.sidebar summary, .sidebar-group a')];
            return document.activeElement === places.filter(place => place.checkVisibility()).at(-1)";
        page.press("\u{e010}").await; // End
        page.becomes("the last visible place has the focus", last, json!(true)).await;
        page.press("\u{e015}").await;
        page.becomes("there is no place below it", last, json!(true)).await;
        page.press("\u{e013}").await;
        page.becomes("there is a place above it", last, json!(false)).await;
        // Every element with the focus on the way is visible.
        let seen =
            "return document.activeElement.closest('.sidebar') != null && document.activeElement.checkVisibility()";
        for _ in 0..25 {
            page.press("\u{e013}").await;
            page.becomes("the focused place is visible", seen, json!(true)).await;
        }
    })
    .await;
}

#[tokio::test]
async fn groups_stay_as_they_were_left() {
    with_live_page("groups_stay_as_they_were_left", "#/pods", async |page, _| {
        let open = "return ['Workloads', 'Network', 'Config', 'Storage']
            .map(group => document.querySelector(`[data-testid=group-${group}]`).open)";
        page.becomes("the groups are in their default state", open, json!([true, true, false, false])).await;
        for group in ["Network", "Config"] {
            let script = "document.querySelector(`[data-testid=group-${arguments[0]}] summary`).focus()";
            page.browser.run(script, vec![group.into()]).await;
            page.press("\u{e007}").await;
        }
        page.becomes("one is folded, one unfolded", open, json!([true, false, true, false])).await;
        let kept = "return (localStorage.getItem('kubechurn.rail') ?? '').split('\\n').filter(line => line).sort()";
        page.becomes("the groups' state is stored", kept, json!(["+Config", "-Network"])).await;
        page.reload().await;
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        page.becomes("the groups' state is restored", open, json!([true, false, true, false])).await;
        // A kind in view must be visible in the sidebar.
        page.open("#/services").await;
        page.reaches("services", "live", Duration::from_secs(20)).await;
        page.becomes("the kind's group opens", open, json!([true, true, true, false])).await;
    })
    .await;
}

#[tokio::test]
async fn a_watched_kind_has_its_count_its_state_and_the_churn_of_a_minute() {
    let name = "a_watched_kind_has_its_count_its_state_and_the_churn_of_a_minute";
    with_live_page(name, "#/pods", async |page, cluster| {
        let script = "
            return ['pods', 'deployments'].map(name => document.querySelector(`[data-testid=kind-${name}]`)).map(kind =>
                [kind.querySelector('.num').textContent, kind.querySelector('.state').dataset.state, kind.querySelector('path').getAttribute('d')])";
        let truth = cluster.list("/api/v1/pods").await;
        // Listed objects are not changes, and a kind that is not watched shows nothing.
        page.becomes("at first", script, json!([[truth.count().to_string(), "live", ""], ["", "", ""]])).await;
        cluster.patch(&pod(truth.last_key()), &json!({ "metadata": { "labels": { "kubechurn.test/churn": "yes" } } })).await;
        wait_until("the change has a bar", Duration::from_secs(15), async || {
            let [pods, _]: [[String; 3]; 2] = page.read(script, Vec::new()).await;
            holds(pods[2].matches('z').count() == 1, || format!("{pods:?}"))
        })
        .await;
    })
    .await;
}
