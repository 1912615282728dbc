//! `kubectl churn`, as its users have it: the script with the page beside it, kubectl, and nothing else.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use reqwest::{Client, Method};
use serde_json::{Value, json};

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::process::{Process, TemporaryFolder};
use kubechurn_harness::tools;
use kubechurn_harness::turn;
use kubechurn_harness::wait::{holds, wait_until};

use crate::program::guards::{gives_strangers_nothing, port_of, stranger};

const SOON: Duration = Duration::from_secs(20);

/// How long it may take from the command to the address of the page, on a busy machine: an idle one takes a second.
const START: Duration = Duration::from_secs(40);

/// Paths below the API that lead into a container, or on to what the cluster runs. Each is asked as kubectl asks it.
pub const WAYS_IN: &[&str] = &[
    "api/v1/namespaces/shop/pods/x/exec?command=sh",
    "api/v1/namespaces/shop/pods/x/attach",
    "api/v1/namespaces/shop/pods/x/portforward",
    "api/v1/namespaces/shop/pods/x/proxy/",
    "api/v1/namespaces/shop/pods/x:8080/proxy/metrics",
    "api/v1/namespaces/shop/pods/x/%65xec",
    "api/v1/namespaces/shop/services/x/proxy/",
    "api/v1/namespaces/shop/services/https:x:443/proxy",
    "api/v1/nodes/node-1/proxy/pods",
    "api/v1/proxy/namespaces/shop/pods/x",
];

/// A kubeconfig with two contexts: `first`, the cluster at this port, whose name is markup, and `down`, at which nothing is.
pub fn kubeconfig(cluster: u16) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "first",
        "clusters": [
            {"name": "a <b>&\"c\" cluster", "cluster": {"server": format!("http://127.0.0.1:{cluster}")}},
            {"name": "nobody", "cluster": {"server": "http://127.0.0.1:9"}},
        ],
        "contexts": [
            {"name": "first", "context": {"cluster": "a <b>&\"c\" cluster", "user": "me"}},
            {"name": "down", "context": {"cluster": "nobody", "user": "me"}},
        ],
        "users": [{"name": "me", "user": {}}],
    })
}

/// Writes into a kubeconfig which namespace its first context names.
pub fn name_a_namespace(path: &Path) {
    let mut config: Value = serde_json::from_slice(&fs::read(path).expect("a kubeconfig")).expect("a kubeconfig");
    config["contexts"][0]["context"]["namespace"] = json!("shop");
    fs::write(path, config.to_string()).expect("a kubeconfig");
}

/// What a user writes whose context names a namespace, and where the page begins.
pub const BEGINNINGS: [(&[&str], &str); 5] = [
    (&["--context", "first"], "/changes?ns=shop"),
    (&["pods"], "/pods?ns=shop"),
    (&["pods", "-A"], "/pods"),
    (&["-n", "default"], "/changes?ns=default"),
    (&["--context", "first", "--context", "second"], "/changes"),
];

/// Adds a context of this name to a kubeconfig, for a cluster on this port.
pub fn add_context(kubeconfig: &Path, name: &str, cluster: u16) {
    let text = fs::read(kubeconfig).expect("a kubeconfig");
    let mut config: Value = serde_json::from_slice(&text).expect("a kubeconfig");
    let server = json!({"name": name, "cluster": {"server": format!("http://127.0.0.1:{cluster}")}});
    let context = json!({"name": name, "context": {"cluster": name, "user": "me"}});
    for (list, one) in [("clusters", server), ("contexts", context)] {
        config[list].as_array_mut().expect("a list").push(one);
    }
    fs::write(kubeconfig, config.to_string()).expect("a kubeconfig");
}

/// Writes a kubectl whose credentials are not taken.
pub fn write_refused_kubectl(path: &Path) {
    let refused = "#!/bin/sh\ncase $* in *version*) echo 'error: You must be logged in to the server (Unauthorized)' >&2; exit 1;; esac\necho first\n";
    fs::write(path, refused).expect("a program");
    fs::set_permissions(path, fs::Permissions::from_mode(0o700)).expect("it may be run");
}

/// The unpacked archive, in a folder of its own, and a kubeconfig of this cluster.
struct Unpacked {
    folder: TemporaryFolder,
}

impl Unpacked {
    fn new(cluster: u16) -> Unpacked {
        let folder = TemporaryFolder::new("plugin");
        let at = folder.path().join("kubechurn");
        fs::create_dir_all(folder.path().join("tmp")).expect("a folder for temporary files");
        fs::create_dir(&at).expect("a folder for the archive");
        fs::copy(tools::project_file("plugin/kubectl-churn"), at.join("kubectl-churn")).expect("the script");
        symlink(tools::dist(), at.join("page")).expect("the page");
        // As krew calls it: by a link from another folder.
        symlink(at.join("kubectl-churn"), folder.path().join("kubectl-churn")).expect("a link");
        let config = kubeconfig(cluster);
        fs::write(folder.path().join("config"), config.to_string()).expect("a kubeconfig");
        Unpacked { folder }
    }

    /// Adds a context of this name to the kubeconfig, for a cluster on this port.
    fn add(&self, name: &str, cluster: u16) {
        add_context(&self.path("config"), name, cluster);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts the script with these arguments, in a folder elsewhere, and opens no browser.
    fn start(&self, arguments: &[&str]) -> Process {
        let kubectl = tools::kubectl();
        self.start_where(
            &format!("{}:/usr/bin:/bin", kubectl.parent().expect("kubectl is in a folder").display()),
            arguments,
        )
    }

    /// The same, with these folders of programs.
    fn start_where(&self, path: &str, arguments: &[&str]) -> Process {
        let set = [format!("PATH={path}"), format!("TMPDIR={}", self.path("tmp").display())];
        let script = [self.path("kubectl-churn").display().to_string(), "--no-open".to_owned()];
        let config = format!("--kubeconfig={}", self.path("config").display());
        let all = set.into_iter().chain(script).chain([config]).chain(arguments.iter().map(ToString::to_string));
        Process::start(
            "kubectl churn",
            &PathBuf::from("/usr/bin/env"),
            std::env::temp_dir().as_path(),
            &all.collect::<Vec<_>>(),
        )
    }
}

#[tokio::test]
async fn two_commands_show_the_cluster_and_leave_nothing_behind() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 60, ..Options::default() }).await;
    let unpacked = Unpacked::new(cluster.port());
    let began = Instant::now();
    let process = unpacked.start(&["pods", "-n", "shop"]);
    let url = process.line_after("Page     ").await;
    assert!(began.elapsed() < START, "the address came after {:?}", began.elapsed());
    let (base, hash) = url.split_once('#').expect("an address with a view");
    let secret = base.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    assert!(secret.len() == 32 && hash == "/pods?ns=shop", "{url}");
    with_page("two_commands_show_the_cluster", base, &format!("#{hash}"), async |page| {
        page.reaches("pods", "live", SOON).await;
        let truth = cluster.quiet("/api/v1/namespaces/shop/pods").await;
        page.shows("pods", &truth, SOON).await;
        page.is_balanced().await;
        let shown: String = page.read("return document.querySelector('header').textContent", Vec::new()).await;
        assert!(shown.contains("a _b___c_ cluster"), "{shown}");
    })
    .await;
    process.terminate();
    process.ended().await;
    let left = fs::read_dir(unpacked.path("tmp")).expect("the folder").count();
    assert_eq!(left, 0, "temporary files are left");
    wait_until("the proxy has ended", SOON, async || {
        let answer = reqwest::get(base).await;
        holds(answer.is_err(), || format!("{answer:?}"))
    })
    .await;
}

#[tokio::test]
async fn the_plugin_s_proxy_passes_on_reads_alone_and_strangers_get_nothing() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 20, ..Options::default() }).await;
    let unpacked = Unpacked::new(cluster.port());
    let process = unpacked.start(&[]);
    let url = process.line_after("Page     ").await;
    let base = url.split('#').next().expect("an address");
    let browser = stranger().await;
    gives_strangers_nothing(&browser, port_of(base)).await;
    browser.quit().await;
    let client = Client::new();
    let status = async |method: Method, path: &str| {
        let answer = client.request(method, format!("{base}k8s/{path}")).send().await;
        answer.unwrap_or_else(|error| panic!("{path}: {error}")).status().as_u16()
    };
    assert_eq!(status(Method::GET, "api/v1/pods?limit=1").await, 200);
    for path in WAYS_IN {
        assert_eq!(status(Method::GET, path).await, 403, "GET {path}");
    }
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
        assert_eq!(status(method.clone(), "api/v1/namespaces/shop/pods/x").await, 403, "{method}");
    }
}

#[tokio::test]
async fn the_page_begins_in_the_namespace_that_the_context_names() {
    let cluster = Cluster::start(&Options { pods: 20, ..Options::default() }).await;
    let unpacked = Unpacked::new(cluster.port());
    unpacked.add("second", cluster.port());
    name_a_namespace(&unpacked.path("config"));
    for (arguments, expected) in BEGINNINGS {
        let process = unpacked.start(arguments);
        let url = process.line_after("Page     ").await;
        assert_eq!(url.split_once('#').map(|(_, hash)| hash), Some(expected), "{arguments:?}");
        process.terminate();
        process.ended().await;
    }
}

#[tokio::test]
async fn what_is_missing_is_named_with_what_to_do() {
    let unpacked = Unpacked::new(9);
    for (arguments, words) in [
        (&["--context", "other"][..], "kubectl knows no context other. Those that it knows: down first"),
        (&["--context=down"], "the API server of context down does not answer. kubectl said: "),
        (&["--port", "none"], "--port wants a number"),
        (&["--kubeconfig=/dev/null"], "kubectl has no current context. Choose one: kubectl config use-context NAME"),
        (&["pods", "nodes"], "one view is shown at first, not both pods and nodes"),
        (&["pods?x=<y>"], "a view and a namespace are names"),
        (&["--watch"], "there is no flag --watch: see --help"),
    ] {
        let said = unpacked.start(arguments).ended().await;
        assert!(said.starts_with("kubectl churn: ") && said.contains(words), "{arguments:?}: {said}");
    }
    // A kubectl whose credentials are not taken.
    fs::create_dir(unpacked.path("bin")).expect("a folder for programs");
    write_refused_kubectl(&unpacked.path("bin/kubectl"));
    let said = unpacked.start_where(&format!("{}:/usr/bin:/bin", unpacked.path("bin").display()), &[]).ended().await;
    assert!(
        said.contains("does not take the credentials of context first. Log in again. It said: error: You must"),
        "{said}"
    );
    let said = unpacked.start_where("/nowhere", &[]).ended().await;
    assert!(said.contains("there is no kubectl here. Install it: "), "{said}");
    fs::remove_file(unpacked.path("kubechurn/page")).expect("the page was there");
    let said = unpacked.start(&[]).ended().await;
    assert!(said.contains("the page is not beside this script") && said.contains("unpack the whole archive"), "{said}");
}

/// Chooses a cluster in the menu of this part of the page, as a user does.
async fn choose(page: &Page, within: &str, cluster: &str) {
    let script = "const menu = document.querySelector(`${arguments[0]} [data-testid=clusters]`);
        const option = [...menu?.options ?? []].find(option => option.textContent === arguments[1]);
        if (!option) return false;
        menu.value = option.value;
        menu.dispatchEvent(new Event('change', { bubbles: true }));
        return true";
    wait_until(&format!("{cluster} can be chosen"), SOON, async || {
        let is_chosen = page.read::<bool>(script, vec![within.into(), cluster.into()]).await;
        holds(is_chosen, || "no such choice".to_owned())
    })
    .await;
}

/// Changes a Pod of a cluster.
async fn label_a_pod(cluster: &Cluster) {
    let pod = cluster.get("/api/v1/pods").await["items"][0]["metadata"].clone();
    let text = |name: &str| pod[name].as_str().expect("a Pod has it").to_owned();
    let path = format!("/api/v1/namespaces/{}/pods/{}", text("namespace"), text("name"));
    cluster.patch(&path, &json!({ "metadata": { "labels": { "seen": "yes" } } })).await;
}

#[tokio::test]
async fn several_clusters_are_one_choice_apart_and_one_that_is_down_stops_no_other() {
    let _turn = turn::shared().await;
    let mut cluster = Cluster::start(&Options { pods: 20, ..Options::default() }).await;
    let second = Cluster::start(&Options { pods: 30, ..Options::default() }).await;
    let unpacked = Unpacked::new(cluster.port());
    unpacked.add("second", second.port());
    let process = unpacked.start(&["pods", "--context", "first", "--context", "second", "--context=down"]);
    let url = process.line_after("Page     ").await;
    let (base, hash) = url.split_once('#').expect("an address with a view");
    with_page("several_clusters_are_one_choice_apart", base, &format!("#{hash}"), async |page| {
        page.reaches("pods", "live", SOON).await;
        page.shows("pods", &cluster.quiet("/api/v1/pods").await, SOON).await;
        let choices = "const menu = document.querySelector('header [data-testid=clusters]');
            return menu && [menu.selectedOptions[0].textContent, [...menu.options].map(option => option.textContent)]";
        page.becomes("the clusters are there", choices, json!(["first", ["first", "second", "down"]])).await;

        choose(page, "header", "second").await;
        page.becomes("the same place is shown", "return location.hash", json!(format!("#{hash}"))).await;
        page.becomes("the other one is chosen", choices, json!(["second", ["first", "second", "down"]])).await;
        page.reaches("pods", "live", SOON).await;
        page.shows("pods", &second.quiet("/api/v1/pods").await, SOON).await;
        cluster.kill().await;
        label_a_pod(&second).await;
        page.shows("pods", &second.quiet("/api/v1/pods").await, SOON).await;
        page.is_balanced().await;

        choose(page, "header", "down").await;
        page.becomes("nobody answers there", "return document.querySelector('[data-testid=splash]') !== null", json!(true)).await;
        choose(page, "[data-testid=splash]", "second").await;
        page.reaches("pods", "live", SOON).await;
        page.click("open-palette").await;
        page.element("palette-input").await.send_keys("cluster down").await.expect("the palette takes words");
        let first = "return document.querySelector('[data-testid=palette] [aria-selected=true]')?.textContent.includes('down') ?? false";
        page.becomes("the palette knows the clusters", first, json!(true)).await;
    })
    .await;
    process.terminate();
    process.ended().await;
    assert_eq!(fs::read_dir(unpacked.path("tmp")).expect("the folder").count(), 0, "temporary files are left");
}

/// The table's heads, and how many rows of each cluster are drawn.
const CLUSTERS: &str =
    "const heads = [...document.querySelectorAll('[role=columnheader]')].map(head => head.textContent.trim());
    const rows = [...document.querySelectorAll('[role=row][data-key]')];
    const names = rows.map(row => row.children[0].textContent);
    return [heads[0].startsWith('CLUSTER'), [...new Set(names)].sort()]";

#[tokio::test]
async fn two_clusters_are_one_table_and_one_that_is_cut_stops_no_other() {
    let _turn = turn::shared().await;
    let storm = |seed| Options { pods: 30, rate: 40, seed, ..Options::default() };
    let mut first = Cluster::start(&storm(1)).await;
    let second = Cluster::start(&storm(2)).await;
    let unpacked = Unpacked::new(first.port());
    unpacked.add("second", second.port());
    let process = unpacked.start(&["pods", "--context", "first", "--context", "second", "--context=down"]);
    let url = process.line_after("Page     ").await;
    let (base, hash) = url.split_once('#').expect("an address with a view");
    with_page("two_clusters_are_one_table", base, &format!("#{hash}"), async |page| {
        page.reaches("pods", "live", SOON).await;
        page.click("beside").await;
        page.click("beside-second").await;
        page.becomes("the address says so", "return location.hash", json!("#/pods?cluster=second")).await;
        page.reaches("pods@second", "live", SOON).await;
        let (of_first, of_second) = (first.quiet("/api/v1/pods").await, second.quiet("/api/v1/pods").await);
        page.shows("pods", &of_first, SOON).await;
        page.shows("pods@second", &of_second, SOON).await;
        let all = of_first.items.len() + of_second.items.len();
        page.counts(all, all).await;
        page.becomes("a column says which", CLUSTERS, json!([true, ["first", "second"]])).await;
        page.element("filter").await.send_keys("cluster:second").await.expect("the filter takes words");
        page.counts(of_second.items.len(), all).await;
        page.becomes("the filter knows clusters", CLUSTERS, json!([true, ["second"]])).await;

        // One is cut: it is named, and the other goes on.
        first.kill().await;
        page.reaches("pods", "stale", SOON).await;
        let named = "return [...document.querySelectorAll('[data-testid=notice]')].some(one => one.textContent.includes('Pods of first'))";
        page.becomes("the one that is cut is named", named, json!(true)).await;
        label_a_pod(&second).await;
        page.shows("pods@second", &second.quiet("/api/v1/pods").await, SOON).await;
        page.reaches("pods@second", "live", SOON).await;
        page.shows("pods", &of_first, SOON).await;
        page.is_balanced().await;
    })
    .await;
    process.terminate();
    process.ended().await;
}
