//! Kinds that appear and disappear with their CustomResourceDefinitions, as `kubectl` shows them; and servers that
//! support only the old form of discovery.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::handles::Row;
use kubechurn_harness::kubectl::{Kubectl, Line};
use kubechurn_harness::wait::{holds, wait_until};
use kubechurn_model::feed::wrong::row::WrongRow;
use kubechurn_model::page::Page as Model;
use kubechurn_model::page::command::{Command, List};
use kubechurn_model::page::environment::Environment;
use kubechurn_model::recording::Selected;
use kubechurn_model::table::layout::NEXT;
use kubechurn_recording::Header;

use crate::page::{Page, with_page};
use crate::recording::Opened;
use crate::shell::server::Faults;

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
/// Long enough on a busy machine. The page's clock is moved on until the next round of discovery.
const SOME_SECONDS: Duration = Duration::from_secs(15);

/// A page on a small cluster, opened after `before` is done, and a kubectl for the same proxy.
async fn with_widgets(
    hash: &str,
    before: impl AsyncFnOnce(&Cluster, &Kubectl),
    test: impl AsyncFnOnce(&Page, &Cluster, &Kubectl),
) {
    let cluster = Cluster::start(&Options { pods: 5, ..Options::default() }).await;
    let kubectl = Kubectl::new(&format!("http://127.0.0.1:{}", cluster.port()));
    before(&cluster, &kubectl).await;
    with_page(cluster.port(), hash, async |page| test(page, &cluster, &kubectl).await).await;
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
        let rows = page.rows(WIDGETS).into_iter().map(|row| row.cells.into_iter().map(text).collect());
        let rows: Vec<Line> = rows.collect();
        holds(rows == printed && rows.len() == count, || format!("{rows:#?}\nnot {printed:#?}"))
    })
    .await;
}

/// Waits until the page says this above its rows, or in place of them.
async fn says(page: &Page, words: &str) {
    page.in_time(&format!("the page says {words:?}"), SOME_SECONDS, async || {
        let text = page.view(|view| {
            let troubles = view.table.trouble.iter().flat_map(|trouble| [&trouble.what, &trouble.words, &trouble.next]);
            troubles.chain(view.rows.empty.as_ref()).map(|words| format!("{words} ")).collect::<String>()
        });
        holds(text.contains(words), || text)
    })
    .await;
}

async fn sidebar_has(page: &Page, kind: &str, expected: bool) {
    page.in_time(&format!("{kind} in the sidebar: {expected}"), SOME_SECONDS, async || {
        let found = page.in_the_sidebar(kind);
        holds(found.is_some() == expected, || format!("{found:?}"))
    })
    .await;
}

#[tokio::test]
async fn a_kind_comes_and_goes_with_its_definition() {
    let before = async |_: &Cluster, _: &Kubectl| {};
    with_widgets("#/pods", before, async |page, _, kubectl| {
        page.comes_to("pods", "live", SOME_SECONDS).await;
        sidebar_has(page, "resourceclaims", false).await;
        sidebar_has(page, WIDGETS, false).await;

        define(kubectl, DEFINITION).await;
        create_widgets(kubectl).await;
        sidebar_has(page, WIDGETS, true).await;
        // A kind that exists is not watched for that reason alone.
        assert_eq!(page.status().len(), 1);

        for name in ["wd", "Widget.example.org", "widgets.v1.example.org", "widgets"] {
            page.open(&format!("#/{name}"));
            page.comes_to(WIDGETS, "live", SOME_SECONDS).await;
            page.open("#/pods");
            page.comes_to("pods", "live", SOME_SECONDS).await;
        }
        page.open("#/wd?wide=1");
        page.comes_to(WIDGETS, "live", SOME_SECONDS).await;
        shows_what_kubectl_prints(page, kubectl, 3).await;
        wait_until("the group of the kind in view is open", SOME_SECONDS, async || {
            page.view(|view| holds(view.sidebar.open.contains(&"example.org"), || format!("{:?}", *view.sidebar.open)))
        })
        .await;

        kubectl.run("patch widget plain -n default --type=merge -p {\"spec\":{\"size\":40}}", "").await;
        kubectl.run("delete widget odd -n default", "").await;
        shows_what_kubectl_prints(page, kubectl, 2).await;
        // A file of it has the columns as well.
        let blocks = page.look(|page, _| page.reports().recording(Header::default(), Selected::default()));
        let opened = Opened::of(&blocks, &format!("#/{WIDGETS}?wide=1"));
        // A recording has a column more: what happens next.
        let heads = |page: &Model| {
            let titles = page.view().table.heads.iter().map(|head| head.title);
            titles.filter(|title| *title != NEXT).collect::<Vec<_>>()
        };
        let shown = page.look(|page, _| heads(page));
        assert!(shown.len() > 3, "{shown:?}");
        assert_eq!(opened.look(|page, _| heads(page)), shown);

        page.command(Command::List(List::Watches, true));
        wait_until("the watch and its cost are listed", SOME_SECONDS, async || {
            page.view(|view| {
                let (words, watches) = (&view.footer.pipeline.watches, &view.footer.watches);
                let titles: Vec<&str> =
                    watches.iter().filter(|one| !one.frames.is_empty()).map(|one| one.title).collect();
                holds(words == "1 watch" && titles == ["Widget"], || format!("{words}: {watches:?}"))
            })
        })
        .await;

        page.open("#/nosuch");
        says(page, "has no kind “nosuch”").await;
        page.open(&format!("#/{WIDGETS}"));
        page.comes_to(WIDGETS, "live", SOME_SECONDS).await;

        kubectl.run("delete crd widgets.example.org --wait", "").await;
        says(page, "no longer").await;
        wait_until("the kind's watch has ended", SOME_SECONDS, async || {
            let state = page.view(|view| view.header.connection.state);
            holds(state == "stopped", || state.to_owned())
        })
        .await;

        // The kind comes back with another column, and without the old objects.
        define(kubectl, &DEFINITION.replace("name: Size", "name: Girth")).await;
        create_widgets(kubectl).await;
        page.comes_to(WIDGETS, "live", SOME_SECONDS).await;
        shows_what_kubectl_prints(page, kubectl, 3).await;
        wait_until("the kind's columns are the new ones", SOME_SECONDS, async || {
            let heads: Vec<&str> = page.view(|view| view.table.heads.iter().map(|head| head.title).collect());
            let has = |title: &str| heads.iter().any(|head| head.contains(title));
            holds(has("GIRTH") && !has("SIZE"), || format!("{heads:?}"))
        })
        .await;

        page.open("#/pods");
        page.comes_to("pods", "live", SOME_SECONDS).await;
        kubectl.run("delete crd widgets.example.org --wait", "").await;
        sidebar_has(page, WIDGETS, false).await;
    })
    .await;
}

#[tokio::test]
async fn a_pinned_kind_goes_and_comes_back_with_its_definition() {
    let hash = format!("#/pods?pin={WIDGETS}");
    let before = async |_: &Cluster, kubectl: &Kubectl| {
        define(kubectl, DEFINITION).await;
        create_widgets(kubectl).await;
    };
    with_widgets(&hash, before, async |page, _, kubectl| {
        let is = async |what: &str, expected: (bool, &str, bool)| {
            page.in_time(what, SOME_SECONDS, async || {
                let item = page.in_the_sidebar(WIDGETS).ok_or("it is not in the sidebar")?;
                let found = (item.gone, item.state, item.note.contains("this server has it no longer"));
                holds(found == expected, || format!("{found:?}, not {expected:?}"))
            })
            .await;
        };
        page.comes_to("pods", "live", SOME_SECONDS).await;
        page.comes_to(WIDGETS, "live", SOME_SECONDS).await;
        is("it is pinned and live", (false, "live", false)).await;

        kubectl.run("delete crd widgets.example.org --wait", "").await;
        is("it is gone, and the sidebar says so", (true, "stopped", true)).await;
        wait_until("the kind is not watched", SOME_SECONDS, async || {
            let status = page.status_of(WIDGETS);
            holds(status.is_none(), || format!("{status:?}"))
        })
        .await;
        assert!(page.place().url().contains(&format!("pin={WIDGETS}")), "the kind is still pinned");
        page.comes_to("pods", "live", SOME_SECONDS).await;

        define(kubectl, DEFINITION).await;
        create_widgets(kubectl).await;
        is("it is back", (false, "live", false)).await;
        page.comes_to(WIDGETS, "live", SOME_SECONDS).await;
        // The watch is open: the page receives what happens from now on.
        shows_what_kubectl_prints(page, kubectl, 3).await;
        kubectl.run("delete widget odd -n default", "").await;
        shows_what_kubectl_prints(page, kubectl, 2).await;

        // A kind that the user unpins while the server does not have it leaves the sidebar.
        kubectl.run("delete crd widgets.example.org --wait", "").await;
        is("it is gone again", (true, "stopped", true)).await;
        page.command(Command::Pin(WIDGETS));
        sidebar_has(page, WIDGETS, false).await;
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
    with_widgets("#/wd", before, async |page, cluster, kubectl| {
        page.comes_to(WIDGETS, "live", SOME_SECONDS).await;
        let columns = |row: Row| row.cells.into_iter().map(|(title, _)| title).collect();
        let columns: Vec<BTreeSet<String>> = page.rows(WIDGETS).into_iter().map(columns).collect();
        assert_eq!(columns, vec![BTreeSet::from(["AGE", "NAME", "NAMESPACE"].map(str::to_owned)); 3]);
        wait_until("the sidebar says why", SOME_SECONDS, async || {
            let note = page.in_the_sidebar(WIDGETS).map(|item| item.note).unwrap_or_default();
            holds(note.contains("cannot get resource"), || note)
        })
        .await;

        // After reading is allowed again, the next visit shows the columns.
        cluster.control("allow?verb=get&resource=customresourcedefinitions").await;
        page.open("#/pods");
        page.comes_to("pods", "live", SOME_SECONDS).await;
        page.open("#/wd");
        page.comes_to(WIDGETS, "live", SOME_SECONDS).await;
        shows_what_kubectl_prints(page, kubectl, 3).await;
    })
    .await;
}

#[tokio::test]
async fn a_server_that_does_not_aggregate_is_read_group_by_group() {
    let before = async |_: &Cluster, kubectl: &Kubectl| define(kubectl, DEFINITION).await;
    with_widgets("#/pods", before, async |page, _, _| {
        *page.faults.borrow_mut() = Faults { is_old: true, down: Some("/apis/batch/") };
        page.reload();
        page.comes_to("pods", "live", SOME_SECONDS).await;
        for kind in [WIDGETS, "leases", "deployments"] {
            sidebar_has(page, kind, true).await;
        }
        sidebar_has(page, "jobs", false).await;
        wait_until("the sidebar says what is missing", SOME_SECONDS, async || {
            let text = page.view(|view| view.sidebar.trouble.as_deref().unwrap_or_default().to_owned());
            holds(text.contains("batch") && text.contains("the server is down"), || text)
        })
        .await;
        page.faults.borrow_mut().down = None;
        sidebar_has(page, "jobs", true).await;
        wait_until("the sidebar shows no trouble any more", SOME_SECONDS, async || {
            let text = page.view(|view| view.sidebar.trouble.as_deref().unwrap_or_default().to_owned());
            holds(text.is_empty(), || text)
        })
        .await;
    })
    .await;
}

/// The definition of a kind in view changes: its columns are the new ones within a minute.
#[tokio::test]
async fn the_columns_of_a_kind_in_view_change_with_its_definition() {
    let before = async |_: &Cluster, kubectl: &Kubectl| {
        define(kubectl, DEFINITION).await;
        create_widgets(kubectl).await;
    };
    with_widgets("#/widgets?wide=1", before, async |page, _, kubectl| {
        page.comes_to(WIDGETS, "live", SOME_SECONDS).await;
        let begin = page.place().now();
        let at = "/spec/versions/0/additionalPrinterColumns";
        let patch = format!(
            r#"[{{"op":"replace","path":"{at}/0/name","value":"Girth"}},{{"op":"add","path":"{at}/-","value":{{"name":"More","type":"string","jsonPath":".spec.more"}}}}]"#
        );
        kubectl.run(&format!("patch crd widgets.example.org --type=json -p {patch}"), "").await;
        page.in_time("the kind's columns are the new ones", SOME_SECONDS, async || {
            let heads: Vec<&str> = page.view(|view| view.table.heads.iter().map(|head| head.title).collect());
            let has = |title: &str| heads.iter().any(|head| head.contains(title));
            holds(has("GIRTH") && has("MORE") && !has("SIZE"), || format!("{heads:?}"))
        })
        .await;
        let took = page.place().now() - begin;
        assert!(took < 60_000.0, "it took {took} ms");
        page.comes_to(WIDGETS, "live", SOME_SECONDS).await;
        shows_what_kubectl_prints(page, kubectl, 3).await;
        page.is_balanced().await;
    })
    .await;
}

/// A condition that says that something is missing, after what it names was deleted: it is an incident, whose cause that is.
#[tokio::test]
async fn a_custom_object_that_is_not_ready_is_an_incident() {
    let before = async |_: &Cluster, kubectl: &Kubectl| {
        define(kubectl, DEFINITION).await;
        kubectl.run("create secret generic credentials -n default --from-literal=key=value", "").await;
        let widget =
            OBJECTS.split("---").next().unwrap_or_default().replace("size: 3", "size: 3, secretName: credentials");
        kubectl.run("create -f -", &widget).await;
    };
    with_widgets("#/widgets?pin=secrets", before, async |page, _, kubectl| {
        page.comes_to(WIDGETS, "live", SOME_SECONDS).await;
        page.comes_to("secrets", "live", SOME_SECONDS).await;
        let set = async |condition: &str| {
            let patch = format!(r#"{{"status":{{"conditions":[{{"type":"Ready",{condition}}}]}}}}"#);
            kubectl.run(&format!("patch widget one -n default --subresource=status --type=merge -p {patch}"), "").await;
        };
        let ready = async |word: &str| {
            page.in_time("the row has the condition", SOME_SECONDS, async || {
                let cell = page.rows(WIDGETS).into_iter().next().map(|row| row.cells["READY"].clone());
                holds(cell.as_ref().is_some_and(|cell| cell == word), || format!("{cell:?}"))
            })
            .await;
        };
        set(r#""status":"True""#).await;
        ready("True").await;
        kubectl.run("delete secret credentials -n default", "").await;
        page.in_time("the Secret is gone", SOME_SECONDS, async || {
            holds(page.rows("secrets").iter().all(|row| row.key != "default/credentials"), || String::from("it is not"))
        })
        .await;
        set(r#""status":"False","reason":"Missing","message":"Secret\u0020credentials\u0020not\u0020found""#).await;
        ready("False").await;
        let href = page
            .in_time("it is wrong", SOME_SECONDS, async || {
                let rows = page.view(|view| view.feed.wrong.rows.clone());
                let found = rows.iter().find(|row| (row.kind.as_str(), row.name.as_str()) == ("Widget", "default/one"));
                let said = |row: &WrongRow| row.words.iter().map(|(words, _)| format!("{words} ")).collect::<String>();
                let is_it = |row: &&WrongRow| {
                    said(row) == "not ready: Missing: Secret credentials not found " && row.tone == "wait"
                };
                found.filter(is_it).map(|row| row.why_href.clone()).ok_or_else(|| format!("{rows:?}"))
            })
            .await;
        page.open(&href);
        let first = page
            .in_time("its cause is known", SOME_SECONDS, async || {
                let why = page.view(|view| (*view.feed.why).clone());
                let first = why.as_ref().filter(|why| !why.is_searching).and_then(|why| why.causes.first().cloned());
                first.ok_or_else(|| format!("{why:?}"))
            })
            .await;
        assert_eq!((&*first.title, first.proof), ("Secret credentials was deleted", "proven"), "{:?}", first.checks);
        set(r#""status":"True""#).await;
        page.in_time("it is over", SOME_SECONDS, async || {
            let count = page.view(|view| view.feed.wrong.count);
            holds(count == 0, || format!("{count} are wrong"))
        })
        .await;
    })
    .await;
}
