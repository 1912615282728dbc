//! Several kinds in one table: the table shows what each of them has, and never confuses two of them.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::kubectl::Kubectl;
use kubechurn_harness::page::{COPIED, GIVEN, HEADS, Page, with_page};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::turn;
use kubechurn_harness::wait::{holds, wait_until};

const SOON: Duration = Duration::from_secs(15);
const KINDS: [(&str, &str); 3] = [
    ("deployments", "/apis/apps/v1/deployments"),
    ("replicasets", "/apis/apps/v1/replicasets"),
    ("pods", "/api/v1/pods"),
];

/// A page on a quiet cluster, with a kubectl for the cluster.
async fn with_several(name: &str, hash: &str, test: impl AsyncFnOnce(&Page, &Cluster, &Kubectl)) {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 60, ..Options::default() }).await;
    with_page_of(name, hash, cluster, test).await;
}

async fn with_page_of(name: &str, hash: &str, cluster: Cluster, test: impl AsyncFnOnce(&Page, &Cluster, &Kubectl)) {
    let proxy = KubectlProxy::start(cluster.port()).await;
    let kubectl = Kubectl::new(&format!("http://127.0.0.1:{}", cluster.port()));
    with_page(name, &proxy.url(), hash, async |page| test(page, &cluster, &kubectl).await).await;
}

async fn are_live(page: &Page) {
    for (name, _) in KINDS {
        page.reaches(name, "live", SOON).await;
    }
    wait_until("the table is live", SOON, async || {
        let state = page.attribute("connection", "data-state").await;
        holds(state.as_deref() == Some("live"), || format!("{state:?}"))
    })
    .await;
}

/// Each store equals an independent list, and the table counts all of them. Returns the counts.
async fn shows_all(page: &Page, cluster: &Cluster) -> [usize; 3] {
    // Controllers may still be working, so each attempt lists the cluster's objects again.
    wait_until("all kinds equal independent lists, and are counted", Duration::from_secs(60), async || {
        let mut counts = [0; 3];
        for ((name, path), count) in KINDS.into_iter().zip(&mut counts) {
            let truth = cluster.list(path).await;
            *count = truth.count();
            holds(page.digest(name).await == truth.digest(), || format!("{name} differ"))?;
        }
        let (total, text): (usize, String) = (counts.iter().sum(), page.text("row-count").await);
        holds(text == format!("{total} / {total}"), || format!("{text}, not {counts:?}"))?;
        Ok(counts)
    })
    .await
}

/// The kind, the key and KIND's cell of each live row in the document, from top to bottom.
async fn drawn(page: &Page) -> Vec<(String, String, String)> {
    let script = "return [...document.querySelectorAll('[role=row][data-state=live]')]
        .sort((one, two) => one.getBoundingClientRect().top - two.getBoundingClientRect().top)
        .map(row => [row.dataset.kind, row.dataset.key, row.querySelector('[data-col=KIND]')?.textContent ?? ''])";
    page.read(script, Vec::new()).await
}

/// The kinds of the drawn rows from top to bottom; rows of the same kind in a row count once.
async fn runs(page: &Page) -> Vec<String> {
    let mut kinds: Vec<String> = drawn(page).await.into_iter().map(|(kind, ..)| kind).collect();
    kinds.dedup();
    kinds
}

/// Waits until the first row is of this kind.
async fn begins_with(page: &Page, what: &str, kind: &str) {
    wait_until(what, SOON, async || {
        let runs = runs(page).await;
        holds(runs.first().is_some_and(|first| first == kind), || format!("{runs:?}"))
    })
    .await;
}

#[tokio::test]
async fn a_rollout_is_followed_in_all_of_its_kinds_at_once() {
    let name = "a_rollout_is_followed_in_all_of_its_kinds_at_once";
    let _turn = turn::shared().await;
    // A cluster with controllers and busy users.
    let cluster = Cluster::start(&Options { scenario: "mixed", seed: 7, ..Options::default() }).await;
    with_page_of(name, "#/deploy,rs,po", cluster, async |page, cluster, kubectl| {
        are_live(page).await;
        wait_until("something happens in each kind", Duration::from_secs(60), async || {
            let changes = "return kubechurn.status().map(one => one.changes.updated)";
            let changes: Vec<u64> = page.read(changes, Vec::new()).await;
            holds(changes.len() == 3 && changes.iter().all(|count| *count > 5), || format!("{changes:?}"))
        })
        .await;
        // The users stop. The controllers finish what was begun.
        cluster.rate(0).await;
        let before = shows_all(page, cluster).await;
        assert!(before.iter().all(|count| *count > 0), "{before:?}");
        let expected = "KIND NAMESPACE NAME DESIRED CURRENT READY UP-TO-DATE AVAILABLE STATUS RESTARTS AGE Δ";
        page.becomes("the table has the columns of all kinds", HEADS, json!(expected.split(' ').collect::<Vec<_>>()))
            .await;
        page.is_balanced().await;

        // A rollout: the controllers create the rest.
        kubectl.run("create deployment rolled -n default --image=example/web:1 --replicas=2", "").await;
        page.click("filter").await;
        page.press("rolled").await;
        let is_there = async |least: usize| {
            wait_until("rows of all three kinds", Duration::from_secs(30), async || {
                let rows = drawn(page).await;
                let count = |wanted: &str| rows.iter().filter(|(kind, ..)| kind == wanted).count();
                let found = [count("deployments"), count("replicasets"), count("pods")];
                holds(found[0] == 1 && found[1] >= least && found[2] >= 2, || format!("{found:?} in {rows:?}"))
            })
            .await;
        };
        is_there(1).await;
        kubectl.run("set image deployment/rolled -n default web=example/web:2", "").await;
        is_there(2).await;
        let rows = drawn(page).await;
        let label = |kind: &str| match kind {
            "deployments" => "Deployment",
            "replicasets" => "ReplicaSet",
            _ => "Pod",
        };
        assert!(rows.iter().all(|(kind, key, cell)| cell == label(kind) && key.contains("rolled")), "{rows:?}");
        // Each kind's cells stand under their titles. Where a kind lacks the column, the cell is empty.
        let cells = "const cell = (kind, col) => document.querySelector(
                `[data-kind=${kind}][data-state=live] [data-col=\"${col}\"]`)?.textContent;
            return [cell('deployments', 'STATUS'), cell('deployments', 'READY'), cell('pods', 'UP-TO-DATE'),
                cell('replicasets', 'AVAILABLE'), cell('pods', 'STATUS')]";
        page.becomes("cells stand under their titles", cells, json!(["", "2/2", "", "", "Running"])).await;
        let marks: Vec<usize> = page
            .read("return ['deployments', 'replicasets', 'pods'].map(kind => kubechurn.marks(kind).length)", vec![])
            .await;
        assert!(marks.iter().all(|count| *count > 0), "{marks:?}");
        page.is_balanced().await;
    })
    .await;
}

#[tokio::test]
async fn rows_of_several_kinds_are_filtered_sorted_and_found_again() {
    let name = "rows_of_several_kinds_are_filtered_sorted_and_found_again";
    with_several(name, "#/pods", async |page, cluster, _| {
        page.reaches("pods", "live", SOON).await;
        // Through the sidebar, with the keyboard alone.
        for name in ["deployments", "replicasets"] {
            let focus = "const join = document.querySelector(`[data-testid=join-${arguments[0]}]`); join.focus();
                return document.activeElement === join && join.title";
            assert_eq!(page.read::<Value>(focus, vec![name.into()]).await, json!("add to the table in view"));
            page.press(" ").await;
            page.reaches(name, "live", SOON).await;
        }
        assert_eq!(page.hash().await, "#/pods,deployments,replicasets");
        let [deployments, replica_sets, pods] = shows_all(page, cluster).await;
        let total = deployments + replica_sets + pods;
        let in_view = "return [...document.querySelectorAll('.sidebar [aria-current]')].map(one => one.dataset.testid)";
        page.becomes(
            "the sidebar marks all kinds in view",
            in_view,
            json!(["kind-pods", "kind-deployments", "kind-replicasets"]),
        )
        .await;

        page.press("/KIND:pod").await;
        page.counts(pods, total).await;
        page.press(" !KIND:pod").await;
        page.counts(0, total).await;
        page.press("\u{e00c}").await;
        page.counts(total, total).await;

        let sort = "document.querySelector('[role=columnheader][data-col=KIND] button').click()";
        page.browser.run(sort, Vec::new()).await;
        wait_until("the rows are sorted by KIND", SOON, async || {
            let runs = runs(page).await;
            holds(runs.first().is_some_and(|kind| kind == "deployments") && runs.len() <= 3, || format!("{runs:?}"))
        })
        .await;
        page.browser.run(sort, Vec::new()).await;
        begins_with(page, "and turned around", "replicasets").await;
        assert_eq!(page.hash().await, "#/pods,deployments,replicasets?sort=-KIND");

        // The view is the same after a reload, after going back, and after removing a kind.
        page.reload().await;
        are_live(page).await;
        page.counts(total, total).await;
        begins_with(page, "the order is kept", "replicasets").await;
        page.click("join-replicasets").await;
        page.counts(pods + deployments, pods + deployments).await;
        page.browser.driver.back().await.expect("there is a way back");
        page.counts(total, total).await;
        page.click("kind-pods").await;
        page.counts(pods, pods).await;
        page.becomes(
            "a single kind has no column KIND",
            HEADS,
            json!(["NAMESPACE", "NAME", "READY", "STATUS", "RESTARTS", "AGE", "Δ"]),
        )
        .await;

        page.press(":po,rs,deploy shop\u{e007}").await;
        wait_until("the palette leads to several kinds", SOON, async || {
            let hash = page.hash().await;
            holds(hash == "#/pods,replicasets,deployments?ns=shop", || hash)
        })
        .await;
        let of_namespace = cluster.list("/api/v1/namespaces/shop/pods").await.count()
            + cluster.list("/apis/apps/v1/namespaces/shop/deployments").await.count()
            + cluster.list("/apis/apps/v1/namespaces/shop/replicasets").await.count();
        page.counts(of_namespace, of_namespace).await;
    })
    .await;
}

#[tokio::test]
async fn two_objects_of_one_name_are_never_confused() {
    let name = "two_objects_of_one_name_are_never_confused";
    with_several(name, "#/deployments,services,nosuch?ns=default", async |page, cluster, kubectl| {
        kubectl.run("create deployment twin -n default --image=example/web:1", "").await;
        kubectl.run("create service clusterip twin -n default --tcp=80", "").await;
        // A name that matches no kind is reported; the other kinds are shown.
        wait_until("the unknown name is reported", SOON, async || {
            let words = page.text("notice").await;
            holds(words.contains("nosuch"), || words)
        })
        .await;
        page.browser.run(GIVEN, Vec::new()).await;
        for (kind, word) in [("services", "service"), ("deployments", "deployment")] {
            wait_until(&format!("the row among {kind}"), SOON, async || {
                let script = "
                    const row = document.querySelector(
                        `[data-state=live][data-kind=${arguments[0]}][data-key=\"default/twin\"]`);
                    if (row && row.dataset.selected !== 'true') row.click();
                    return row != null";
                holds(page.read::<bool>(script, vec![kind.into()]).await, || String::from("none"))
            })
            .await;
            let open = "const one = document.querySelector('[data-testid=inspector]');
                return [one?.dataset.kind, one?.dataset.key,
                    [...document.querySelectorAll('[data-selected=true]')].map(row => row.dataset.kind).join()]";
            page.becomes("the inspector shows this object alone", open, json!([kind, "default/twin", kind])).await;
            assert!(page.hash().await.contains(&format!("sel={kind}/default/twin")), "{}", page.hash().await);
            let base = if kind == "services" { "/api/v1" } else { "/apis/apps/v1" };
            let object = cluster.get(&format!("{base}/namespaces/default/{kind}/twin")).await;
            let uid = object["metadata"]["uid"].as_str().unwrap_or_default().to_owned();
            wait_until("the inspector shows the object's own facts", SOON, async || {
                let facts = page.text("inspector-facts").await;
                holds(facts.contains(&uid), || facts)
            })
            .await;
            page.press(":copy kubectl get object\u{e007}").await;
            let line = format!("kubectl get {word} twin -n default -o yaml");
            page.becomes("the command line gets this object", COPIED, json!(line)).await;
        }
        // After a reload it is the same object.
        page.reload().await;
        wait_until("the inspector is back", SOON, async || {
            let kind = page.attribute("inspector", "data-kind").await;
            holds(kind.as_deref() == Some("deployments"), || format!("{kind:?}"))
        })
        .await;
        let states = "return ['deployments', 'services'].map(kind => document.querySelector(
            `[data-kind=${kind}][data-key=\"default/twin\"]`)?.dataset.state)";
        page.reaches("services", "live", SOON).await;
        page.becomes("both are there", states, json!(["live", "live"])).await;
        // One of the two is deleted, and the other stays.
        kubectl.run("delete service twin -n default", "").await;
        page.becomes("one of them is gone", states, json!(["live", "deleted"])).await;
        assert_eq!(page.attribute("inspector", "data-kind").await.as_deref(), Some("deployments"));
    })
    .await;
}

#[tokio::test]
async fn a_kind_that_is_forbidden_is_named_and_the_others_stay_live() {
    let name = "a_kind_that_is_forbidden_is_named_and_the_others_stay_live";
    with_several(name, "#/nodes", async |page, cluster, kubectl| {
        page.reaches("nodes", "live", SOON).await;
        for verb in ["list", "watch"] {
            cluster.control(&format!("forbid?verb={verb}&resource=replicasets")).await;
        }
        page.open("#/deployments,replicasets,pods").await;
        page.reaches("replicasets", "forbidden", SOON).await;
        page.reaches("pods", "live", SOON).await;
        wait_until("the refused kind is named", SOON, async || {
            let (words, state) = (page.text("notice").await, page.attribute("connection", "data-state").await);
            let is_said = words.starts_with("ReplicaSets") && words.contains("replicasets");
            holds(is_said && state.as_deref() == Some("forbidden"), || format!("{state:?}: {words}"))
        })
        .await;
        kubectl.run("create deployment others -n default --image=example/web:1", "").await;
        wait_until("the others are followed", SOON, async || {
            let truth =
                cluster.list("/apis/apps/v1/deployments").await.count() + cluster.list("/api/v1/pods").await.count();
            let count = page.text("row-count").await;
            holds(count == format!("{truth} / {truth}"), || format!("{count}, not {truth}"))
        })
        .await;
        page.shows("deployments", &cluster.list("/apis/apps/v1/deployments").await, SOON).await;
    })
    .await;
}

#[tokio::test]
async fn what_is_shown_of_several_kinds_is_copied_and_exported() {
    let name = "what_is_shown_of_several_kinds_is_copied_and_exported";
    with_several(name, "#/deployments,replicasets,pods?ns=shop&sort=KIND", async |page, cluster, kubectl| {
        are_live(page).await;
        shows_in(page, cluster, "shop").await;
        page.browser.run(GIVEN, Vec::new()).await;
        page.press(":copy kubectl table\u{e007}").await;
        let line = "kubectl get deployments,replicasets,pods -n shop";
        page.becomes("the command line is copied", COPIED, json!(line)).await;
        // The command line runs, and prints what the page shows.
        let printed = kubectl.run(&format!("{} --no-headers", &line["kubectl ".len()..]), "").await;
        let mut printed: Vec<&str> = printed.lines().filter_map(|line| line.split_whitespace().next()).collect();
        page.press(":csv\u{e007}").await;
        let is_it = |file: &str| file.starts_with("deployments-replicasets-pods-shop-") && file.ends_with(".csv");
        let text = page.gives(is_it, SOON).await;
        let mut lines = text.lines();
        assert!(lines.next().is_some_and(|titles| titles.starts_with("KIND,NAMESPACE,NAME,")));
        let mut exported: Vec<String> = lines
            .filter_map(|line| {
                let mut cells = line.split(',');
                let (kind, _, name) = (cells.next()?, cells.next()?, cells.next()?);
                let group = if kind == "Pod" { "" } else { ".apps" };
                Some(format!("{}{group}/{name}", kind.to_lowercase()))
            })
            .collect();
        let kinds: Vec<&str> = exported.iter().filter_map(|name| name.split(['.', '/']).next()).collect();
        assert!(kinds.is_sorted(), "in the table's order: {kinds:?}");
        exported.sort_unstable();
        printed.sort_unstable();
        assert_eq!(exported, printed);
    })
    .await;
}

/// The table counts the objects of all kinds in a namespace.
async fn shows_in(page: &Page, cluster: &Cluster, namespace: &str) {
    let mut total = 0;
    for (_, path) in KINDS {
        let (base, plural) = path.rsplit_once('/').expect("a path");
        total += cluster.list(&format!("{base}/namespaces/{namespace}/{plural}")).await.count();
    }
    assert!(total > 0, "nothing in {namespace}");
    page.counts(total, total).await;
}
