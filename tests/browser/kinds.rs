//! Kinds that come and go with their CustomResourceDefinitions, as `kubectl` shows them; and servers that describe
//! themselves in the old way.

use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use crate::harness::cluster::{Cluster, Options};
use crate::harness::page::{Page, with_page};
use crate::harness::process::TemporaryFolder;
use crate::harness::proxy::KubectlProxy;
use crate::harness::tools;
use crate::harness::turn;
use crate::harness::wait::{holds, wait_until};

const DEFINITION: &str = include_str!("../kubectl/manifests/widgets.yaml");
const WIDGETS: &str = "widgets.example.org";
/// A widget with all that its columns look for, one with odd values, and one with nothing.
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
/// What their controller would say of two of them.
const STATUS: [(&str, &str); 2] = [
    (
        "one",
        r#"{"phase":"Spinning","conditions":[{"type":"Other","status":"False"},{"type":"Ready","status":"True"}]}"#,
    ),
    ("odd", r#"{"phase":{"b":[true,"<"],"a":1},"conditions":[{"status":"True"}]}"#),
];
/// Longer than the page waits between two looks at what the server has.
const SOME_SECONDS: Duration = Duration::from_secs(15);

/// kubectl, before the same proxy as the page.
struct Kubectl {
    server: String,
    home: TemporaryFolder,
}

impl Kubectl {
    fn new(server: &str) -> Self {
        Self { server: server.to_owned(), home: TemporaryFolder::new("kinds") }
    }

    /// Runs a command, and gives it something to read.
    async fn run(&self, line: &str, stdin: &str) -> String {
        let mut child = Command::new(tools::kubectl())
            .args(["-s", &self.server])
            .args(line.split_whitespace())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.home.path())
            .env("KUBECONFIG", "/dev/null")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("kubectl does not start: {error}"));
        let mut input = child.stdin.take().expect("standard input is piped");
        let _ = input.write_all(stdin.as_bytes()).await;
        drop(input);
        let ended = tokio::time::timeout(Duration::from_secs(60), child.wait_with_output()).await;
        let ended = ended.expect("kubectl ends").expect("kubectl can be waited for");
        assert!(ended.status.success(), "kubectl {line}: {}", String::from_utf8_lossy(&ended.stderr));
        String::from_utf8_lossy(&ended.stdout).into_owned()
    }

    async fn define(&self, definition: &str) {
        self.run("create -f -", definition).await;
        self.run("wait --for=condition=Established crd/widgets.example.org --timeout=20s", "").await;
    }

    async fn create_widgets(&self) {
        self.run("create -f -", OBJECTS).await;
        for (name, status) in STATUS {
            let patch = format!("{{\"status\":{status}}}");
            self.run(&format!("patch widget {name} -n default --subresource=status --type=merge -p {patch}"), "").await;
        }
    }

    /// What `kubectl get` prints of a resource everywhere: each row by column.
    async fn table(&self, resource: &str) -> Vec<Value> {
        let text = self.run(&format!("get {resource} -A -o wide"), "").await;
        let mut lines = text.lines();
        let head = lines.next().unwrap_or_default();
        // Columns begin where their titles do; what stands between may be empty.
        let titles: Vec<&str> = head.split("   ").map(str::trim).filter(|title| !title.is_empty()).collect();
        let mut end = 0;
        let starts = titles.iter().map(|title| {
            let start = end + head[end..].find(title).expect("it was found there");
            end = start + title.len();
            start
        });
        let starts: Vec<usize> = starts.collect();
        let cells = |line: &str| {
            let cell = |at: usize| {
                let end = starts.get(at + 1).copied().unwrap_or(line.len()).min(line.len());
                line.get(starts[at].min(line.len())..end).unwrap_or_default().trim().to_owned()
            };
            Value::Object(titles.iter().enumerate().map(|(at, title)| ((*title).to_owned(), cell(at).into())).collect())
        };
        lines.map(cells).collect()
    }
}

/// Waits until the page has what kubectl prints, cell by cell.
async fn shows_what_kubectl_prints(page: &Page, kubectl: &Kubectl, count: usize) {
    wait_until("the cells that kubectl prints", Duration::from_secs(15), async || {
        // Ages tick, so both are asked again until they agree.
        let printed = kubectl.table(WIDGETS).await;
        let rows: Vec<Value> = page.rows(WIDGETS).await.into_iter().map(|row| row.cells.into()).collect();
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
    wait_until(&format!("{kind} in the rail: {expected}"), SOME_SECONDS, async || {
        let found = page.attribute(&format!("kind-{kind}"), "href").await;
        holds(found.is_some() == expected, || format!("{found:?}"))
    })
    .await;
}

async fn heads(page: &Page) -> Vec<String> {
    page.read("return [...document.querySelectorAll('[role=columnheader]')].map(head => head.dataset.col ?? head.textContent.trim())", Vec::new()).await
}

#[tokio::test]
async fn a_kind_comes_and_goes_with_its_definition() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 5, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    let kubectl = Kubectl::new(&format!("{}k8s", proxy.url()));
    with_page("a_kind_comes_and_goes_with_its_definition", &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", SOME_SECONDS).await;
        rail_has(page, "resourceclaims", false).await;
        rail_has(page, WIDGETS, false).await;

        kubectl.define(DEFINITION).await;
        kubectl.create_widgets().await;
        rail_has(page, WIDGETS, true).await;
        // Nothing is watched because it is there.
        assert_eq!(page.status().await.len(), 1);

        for name in ["wd", "Widget.example.org", "widgets.v1.example.org", "widgets"] {
            page.open(&format!("#/{name}")).await;
            page.reaches(WIDGETS, "live", SOME_SECONDS).await;
            page.open("#/pods").await;
            page.reaches("pods", "live", SOME_SECONDS).await;
        }
        page.open("#/wd?wide=1").await;
        page.reaches(WIDGETS, "live", SOME_SECONDS).await;
        shows_what_kubectl_prints(page, &kubectl, 3).await;
        let open = page.attribute("group-example.org", "open").await;
        assert!(open.is_some(), "the group of the kind in view is open");

        kubectl.run("patch widget plain -n default --type=merge -p {\"spec\":{\"size\":40}}", "").await;
        kubectl.run("delete widget odd -n default", "").await;
        shows_what_kubectl_prints(page, &kubectl, 2).await;

        page.read::<Value>("document.querySelector('[data-testid=watches]').open = true; return null", Vec::new())
            .await;
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
        let state = page.attribute("connection", "data-state").await;
        assert_eq!(state.as_deref(), Some("stopped"));

        // It comes back with another column, and none of the old objects.
        kubectl.define(&DEFINITION.replace("name: Size", "name: Girth")).await;
        kubectl.create_widgets().await;
        page.reaches(WIDGETS, "live", SOME_SECONDS).await;
        shows_what_kubectl_prints(page, &kubectl, 3).await;
        let heads = heads(page).await;
        assert!(
            heads.iter().any(|head| head.contains("GIRTH")) && !heads.iter().any(|head| head.contains("SIZE")),
            "{heads:?}"
        );

        page.open("#/pods").await;
        page.reaches("pods", "live", SOME_SECONDS).await;
        kubectl.run("delete crd widgets.example.org --wait", "").await;
        rail_has(page, WIDGETS, false).await;
    })
    .await;
}

#[tokio::test]
async fn without_its_definition_a_kind_shows_its_age() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 5, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    let kubectl = Kubectl::new(&format!("{}k8s", proxy.url()));
    kubectl.define(DEFINITION).await;
    kubectl.create_widgets().await;
    cluster.control("forbid?verb=get&resource=customresourcedefinitions").await;
    with_page("without_its_definition_a_kind_shows_its_age", &proxy.url(), "#/wd", async |page| {
        page.reaches(WIDGETS, "live", SOME_SECONDS).await;
        let columns: Vec<Vec<String>> = page
            .rows(WIDGETS)
            .await
            .into_iter()
            .map(|row| row.cells.into_iter().map(|(name, _)| name).collect())
            .collect();
        assert_eq!(columns, vec![["AGE", "NAME", "NAMESPACE"]; 3]);
        let note = page.attribute(&format!("kind-{WIDGETS}"), "title").await.unwrap_or_default();
        assert!(note.contains("cannot get resource"), "{note}");

        // Allowed again, the next visit has its columns.
        cluster.control("allow?verb=get&resource=customresourcedefinitions").await;
        page.open("#/pods").await;
        page.reaches("pods", "live", SOME_SECONDS).await;
        page.open("#/wd").await;
        page.reaches(WIDGETS, "live", SOME_SECONDS).await;
        shows_what_kubectl_prints(page, &kubectl, 3).await;
    })
    .await;
}

/// What runs before the page: its server no longer aggregates, and one group's own server is down.
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
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 5, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    Kubectl::new(&format!("{}k8s", proxy.url())).define(DEFINITION).await;
    with_page("a_server_that_does_not_aggregate_is_read_group_by_group", &proxy.url(), "#/pods", async |page| {
        page.browser.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": OLD_SERVER })).await;
        page.browser.run("localStorage.down = '/apis/batch/'", Vec::new()).await;
        page.browser.driver.refresh().await.expect("the page can be loaded again");
        page.reaches("pods", "live", SOME_SECONDS).await;
        for kind in [WIDGETS, "leases", "deployments"] {
            rail_has(page, kind, true).await;
        }
        rail_has(page, "jobs", false).await;
        wait_until("the rail says what is missing", SOME_SECONDS, async || {
            let text = page.text("rail-trouble").await;
            holds(text.contains("batch") && text.contains("the server is down"), || text)
        })
        .await;
        page.browser.run("delete localStorage.down", Vec::new()).await;
        rail_has_within(page, "jobs", Duration::from_secs(45)).await;
        wait_until("the rail has no more to say", SOME_SECONDS, async || {
            let text = page.text("rail-trouble").await;
            holds(text.is_empty(), || text)
        })
        .await;
    })
    .await;
}

async fn rail_has_within(page: &Page, kind: &str, within: Duration) {
    wait_until(&format!("{kind} in the rail"), within, async || {
        let found = page.attribute(&format!("kind-{kind}"), "href").await;
        holds(found.is_some(), || format!("{found:?}"))
    })
    .await;
}
