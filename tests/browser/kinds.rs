//! Kinds that appear and disappear with their CustomResourceDefinitions, as `kubectl` shows them; and servers that
//! support only the old form of discovery.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::kubectl::{Kubectl, Line};
use kubechurn_harness::page::{HEADS, Page, with_page};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::turn;
use kubechurn_harness::wait::{holds, wait_until};

const DEFINITION: &str = include_str!("../../crates/cluster/tests/kubectl/manifests/widgets.yaml");
const WIDGETS: &str = "widgets.example.org";
/// A widget with every field that its columns show, one with unusual values, and one without any of the fields.
const OBJECTS: &str = r#"
apiVersion: example.org/v1
kind: Widget
metadata: {name: one, namespace: default}
spec: {size: 3, hosts: [a.example, b.example]}
---
apiVersion: example.org/v1
kind: Widget
metadata: {name: odd, namespace: default}
spec: {size: 12.75, hosts: []}
---
apiVersion: example.org/v1
kind: Widget
metadata: {name: plain, namespace: default}
spec: {size: large}
"#;
/// The status that a controller would give two of them.
const STATUS: [(&str, &str); 2] = [
    (
        "one",
        r#"{"phase":"Spinning","conditions":[{"type":"Other","status":"False"},{"type":"Ready","status":"True"}]}"#,
    ),
    ("odd", r#"{"phase":{"b":[true,"<"],"a":1},"conditions":[{"status":"True"}]}"#),
];
/// Longer than the page waits between two rounds of discovery.
const SOME_SECONDS: Duration = Duration::from_secs(15);

/// A page on a small cluster, opened after `before` is done, and a kubectl for the same proxy.
async fn with_widgets(
    name: &str,
    hash: &str,
    before: impl AsyncFnOnce(&Cluster, &Kubectl),
    test: impl AsyncFnOnce(&Page, &Cluster, &Kubectl),
) {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 5, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    let kubectl = Kubectl::new(&format!("{}k8s", proxy.url()));
    before(&cluster, &kubectl).await;
    with_page(name, &proxy.url(), hash, async |page| test(page, &cluster, &kubectl).await).await;
}

async fn define(kubectl: &Kubectl, definition: &str) {
    kubectl.run("create -f -", definition).await;
    kubectl.run("wait --for=condition=Established crd/widgets.example.org --timeout=20s", "").await;
}

async fn create_widgets(kubectl: &Kubectl) {
    kubectl.run("create -f -", OBJECTS).await;
    for (name, status) in STATUS {
        let patch = format!("{{\"status\":{status}}}");
        kubectl.run(&format!("patch widget {name} -n default --subresource=status --type=merge -p {patch}"), "").await;
    }
}

/// Waits until the page has what kubectl prints, cell by cell.
async fn shows_what_kubectl_prints(page: &Page, kubectl: &Kubectl, count: usize) {
    wait_until("the cells that kubectl prints", Duration::from_secs(15), async || {
        // Ages change, so both are read again until they agree.
        let printed = kubectl.table(WIDGETS).await;
        let text = |(title, cell): (String, Value)| (title, cell.as_str().unwrap_or_default().to_owned());
        let rows = page.rows(WIDGETS).await.into_iter().map(|row| row.cells.into_iter().map(text).collect());
        let rows: Vec<Line> = rows.collect();
        holds(rows == printed && rows.len() == count, || format!("{rows:#?}\nnot {printed:#?}"))
    })
    .await;
}

async fn says(page: &Page, words: &str) {
    wait_until(&format!("the page says {words:?}"), SOME_SECONDS, async || {
        let text: String = page.read("return document.querySelector('main')?.textContent ?? ''", Vec::new()).await;
        holds(text.contains(words), || text)
    })
    .await;
}

async fn rail_has(page: &Page, kind: &str, expected: bool) {
    rail_has_within(page, kind, expected, SOME_SECONDS).await;
}

async fn rail_has_within(page: &Page, kind: &str, expected: bool, within: Duration) {
    wait_until(&format!("{kind} in the sidebar: {expected}"), within, async || {
        let found = page.attribute(&format!("kind-{kind}"), "href").await;
        holds(found.is_some() == expected, || format!("{found:?}"))
    })
    .await;
}

#[tokio::test]
async fn a_kind_comes_and_goes_with_its_definition() {
    let name = "a_kind_comes_and_goes_with_its_definition";
    let before = async |_: &Cluster, _: &Kubectl| {};
    with_widgets(name, "#/pods", before, async |page, _, kubectl| {
        page.reaches("pods", "live", SOME_SECONDS).await;
        rail_has(page, "resourceclaims", false).await;
        rail_has(page, WIDGETS, false).await;

        define(kubectl, DEFINITION).await;
        create_widgets(kubectl).await;
        rail_has(page, WIDGETS, true).await;
        // A kind that exists is not watched for that reason alone.
        assert_eq!(page.status().await.len(), 1);

        for name in ["wd", "Widget.example.org", "widgets.v1.example.org", "widgets"] {
            page.open(&format!("#/{name}")).await;
            page.reaches(WIDGETS, "live", SOME_SECONDS).await;
            page.open("#/pods").await;
            page.reaches("pods", "live", SOME_SECONDS).await;
        }
        page.open("#/wd?wide=1").await;
        page.reaches(WIDGETS, "live", SOME_SECONDS).await;
        shows_what_kubectl_prints(page, kubectl, 3).await;
        let open = "return document.querySelector('[data-testid=\"group-example.org\"]')?.open ?? null";
        page.becomes("the group of the kind in view is open", open, json!(true)).await;

        kubectl.run("patch widget plain -n default --type=merge -p {\"spec\":{\"size\":40}}", "").await;
        kubectl.run("delete widget odd -n default", "").await;
        shows_what_kubectl_prints(page, kubectl, 2).await;

        page.browser.run("document.querySelector('[data-testid=watches]').open = true", Vec::new()).await;
        wait_until("the watch and its cost are listed", SOME_SECONDS, async || {
            let text = page.text("watches").await;
            holds(text.contains("1 watch") && text.contains("Widget") && text.contains("frames/s"), || text)
        })
        .await;

        page.open("#/nosuch").await;
        says(page, "has no kind “nosuch”").await;
        page.open(&format!("#/{WIDGETS}")).await;
        page.reaches(WIDGETS, "live", SOME_SECONDS).await;

        kubectl.run("delete crd widgets.example.org --wait", "").await;
        says(page, "no longer").await;
        let state = "return document.querySelector('[data-testid=connection]')?.dataset.state ?? null";
        page.becomes("the kind's watch has ended", state, json!("stopped")).await;

        // The kind comes back with another column, and without the old objects.
        define(kubectl, &DEFINITION.replace("name: Size", "name: Girth")).await;
        create_widgets(kubectl).await;
        page.reaches(WIDGETS, "live", SOME_SECONDS).await;
        shows_what_kubectl_prints(page, kubectl, 3).await;
        wait_until("the kind's columns are the new ones", SOME_SECONDS, async || {
            let heads: Vec<String> = page.read(HEADS, Vec::new()).await;
            let has = |title: &str| heads.iter().any(|head| head.contains(title));
            holds(has("GIRTH") && !has("SIZE"), || format!("{heads:?}"))
        })
        .await;

        page.open("#/pods").await;
        page.reaches("pods", "live", SOME_SECONDS).await;
        kubectl.run("delete crd widgets.example.org --wait", "").await;
        rail_has(page, WIDGETS, false).await;
    })
    .await;
}

#[tokio::test]
async fn a_pinned_kind_goes_and_comes_back_with_its_definition() {
    let name = "a_pinned_kind_goes_and_comes_back_with_its_definition";
    let hash = format!("#/pods?pin={WIDGETS}");
    let before = async |_: &Cluster, kubectl: &Kubectl| {
        define(kubectl, DEFINITION).await;
        create_widgets(kubectl).await;
    };
    with_widgets(name, &hash, before, async |page, _, kubectl| {
        let in_the_rail = "
            const item = document.querySelector('[data-testid=\"kind-widgets.example.org\"]');
            return [item?.parentElement.dataset.gone ?? null, item?.querySelector('.state').dataset.state ?? null,
                item?.title.includes('this server has it no longer') ?? null]";
        let is = async |what: &str, expected: Value| {
            wait_until(what, SOME_SECONDS, async || {
                let found = page.browser.run(in_the_rail, Vec::new()).await;
                holds(found == expected, || format!("{found}, not {expected}"))
            })
            .await;
        };
        page.reaches("pods", "live", SOME_SECONDS).await;
        page.reaches(WIDGETS, "live", SOME_SECONDS).await;
        is("it is pinned and live", json!(["false", "live", false])).await;

        kubectl.run("delete crd widgets.example.org --wait", "").await;
        is("it is gone, and the sidebar says so", json!(["true", "stopped", true])).await;
        wait_until("the kind is not watched", SOME_SECONDS, async || {
            let status = page.status_of(WIDGETS).await;
            holds(status.is_none(), || format!("{status:?}"))
        })
        .await;
        assert!(page.hash().await.contains(&format!("pin={WIDGETS}")), "the kind is still pinned");
        page.reaches("pods", "live", SOME_SECONDS).await;

        define(kubectl, DEFINITION).await;
        create_widgets(kubectl).await;
        is("it is back", json!(["false", "live", false])).await;
        page.reaches(WIDGETS, "live", SOME_SECONDS).await;
        // The watch is open: the page receives what happens from now on.
        shows_what_kubectl_prints(page, kubectl, 3).await;
        kubectl.run("delete widget odd -n default", "").await;
        shows_what_kubectl_prints(page, kubectl, 2).await;

        // A kind that the user unpins while the server does not have it leaves the sidebar.
        kubectl.run("delete crd widgets.example.org --wait", "").await;
        is("it is gone again", json!(["true", "stopped", true])).await;
        page.browser.run("document.querySelector('[data-testid=\"group-example.org\"]').open = true", Vec::new()).await;
        page.click(&format!("pin-{WIDGETS}")).await;
        rail_has(page, WIDGETS, false).await;
    })
    .await;
}

#[tokio::test]
async fn without_its_definition_a_kind_shows_its_age() {
    let before = async |cluster: &Cluster, kubectl: &Kubectl| {
        define(kubectl, DEFINITION).await;
        create_widgets(kubectl).await;
        cluster.control("forbid?verb=get&resource=customresourcedefinitions").await;
    };
    with_widgets("without_its_definition_a_kind_shows_its_age", "#/wd", before, async |page, cluster, kubectl| {
        page.reaches(WIDGETS, "live", SOME_SECONDS).await;
        let columns: Vec<Vec<String>> = page
            .rows(WIDGETS)
            .await
            .into_iter()
            .map(|row| row.cells.into_iter().map(|(name, _)| name).collect())
            .collect();
        assert_eq!(columns, vec![["AGE", "NAME", "NAMESPACE"]; 3]);
        wait_until("the sidebar says why", SOME_SECONDS, async || {
            let note = page.attribute(&format!("kind-{WIDGETS}"), "title").await.unwrap_or_default();
            holds(note.contains("cannot get resource"), || note)
        })
        .await;

        // After reading is allowed again, the next visit shows the columns.
        cluster.control("allow?verb=get&resource=customresourcedefinitions").await;
        page.open("#/pods").await;
        page.reaches("pods", "live", SOME_SECONDS).await;
        page.open("#/wd").await;
        page.reaches(WIDGETS, "live", SOME_SECONDS).await;
        shows_what_kubectl_prints(page, kubectl, 3).await;
    })
    .await;
}

/// Runs before the page: the server no longer offers aggregated discovery, and the server of one group is down.
const OLD_SERVER: &str = "
    const real = window.fetch;
    window.fetch = async (...asked) => {
        const request = new Request(...asked);
        if (localStorage.down && request.url.includes(localStorage.down)) {
            return new Response('the server is down', { status: 503 });
        }
        const headers = new Headers(request.headers);
        headers.set('Accept', 'application/json');
        return real(new Request(request, { headers }));
    };";

#[tokio::test]
async fn a_server_that_does_not_aggregate_is_read_group_by_group() {
    let name = "a_server_that_does_not_aggregate_is_read_group_by_group";
    let before = async |_: &Cluster, kubectl: &Kubectl| define(kubectl, DEFINITION).await;
    with_widgets(name, "#/pods", before, async |page, _, _| {
        page.browser.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": OLD_SERVER })).await;
        page.browser.run("localStorage.down = '/apis/batch/'", Vec::new()).await;
        page.reload().await;
        page.reaches("pods", "live", SOME_SECONDS).await;
        for kind in [WIDGETS, "leases", "deployments"] {
            rail_has(page, kind, true).await;
        }
        rail_has(page, "jobs", false).await;
        wait_until("the sidebar says what is missing", SOME_SECONDS, async || {
            let text = page.text("rail-trouble").await;
            holds(text.contains("batch") && text.contains("the server is down"), || text)
        })
        .await;
        page.browser.run("delete localStorage.down", Vec::new()).await;
        rail_has_within(page, "jobs", true, Duration::from_secs(45)).await;
        wait_until("the sidebar shows no trouble any more", SOME_SECONDS, async || {
            let text = page.text("rail-trouble").await;
            holds(text.is_empty(), || text)
        })
        .await;
    })
    .await;
}
