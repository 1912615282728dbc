//! The program `kubechurn`, as its users have it: alone in a folder, with kubectl and a browser, and nothing else.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use reqwest::header::ACCEPT_ENCODING;
use reqwest::{Client, Method};
use serde_json::{Value, json};
use tokio::net::TcpListener;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::page::with_page;
use kubechurn_harness::process::{Process, TemporaryFolder, port_closed};
use kubechurn_harness::tools;
use kubechurn_harness::truth::Truth;
use kubechurn_harness::turn;
use kubechurn_harness::wait::{holds, wait_until};

use crate::program::guards::{UPGRADE, gives_strangers_nothing, port_of, reads, send, stranger, works};
use crate::program::plugin::{BEGINNINGS, WAYS_IN, add_context, kubeconfig, name_a_namespace, write_refused_kubectl};

const SOON: Duration = Duration::from_secs(20);

/// How long it may take from the command to the address of the page, on a busy machine: an idle one takes a second.
const START: Duration = Duration::from_secs(40);

/// The program in a folder of its own, with a kubeconfig of this cluster, and a kubectl.
struct Alone {
    folder: TemporaryFolder,
}

impl Alone {
    fn new(cluster: u16) -> Alone {
        let folder = TemporaryFolder::new("binary");
        for name in ["alone", "tmp", "bin"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        // Another program copies it: a file that this one has open for writing, a process that another test starts meanwhile
        // has open too, and then nobody can run it.
        let copied = Command::new("cp").arg(tools::binary()).arg(folder.path().join("alone/kubechurn")).status();
        assert!(copied.is_ok_and(|status| status.success()), "the program is copied");
        symlink(tools::kubectl(), folder.path().join("bin/kubectl")).expect("kubectl");
        fs::write(folder.path().join("config"), kubeconfig(cluster).to_string()).expect("a kubeconfig");
        Alone { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Starts the program with these words in its folder. It finds kubectl and no other program, and opens no browser.
    fn start(&self, words: &[&str]) -> Process {
        let set = [("PATH", "bin"), ("TMPDIR", "tmp"), ("HOME", "tmp")];
        let set = set.map(|(name, folder)| format!("{name}={}", self.path(folder).display()));
        let all = ["-i".to_owned()].into_iter().chain(set);
        let all = all.chain([self.path("alone/kubechurn").display().to_string(), "--no-open".to_owned()]);
        let all: Vec<String> = all.chain(words.iter().map(ToString::to_string)).collect();
        Process::start("kubechurn", Path::new("/usr/bin/env"), &self.path("alone"), &all)
    }

    /// The same, on the cluster of the kubeconfig.
    fn start_real(&self, words: &[&str]) -> Process {
        let config = format!("--kubeconfig={}", self.path("config").display());
        self.start(&[&[config.as_str()][..], words].concat())
    }

    /// The process ids of the programs that kubechurn has started: they have the name of a temporary file in their arguments.
    fn children(&self) -> Vec<String> {
        let tmp = self.path("tmp").display().to_string();
        let all = fs::read_dir("/proc").expect("the processes").filter_map(|entry| Some(entry.ok()?.path()));
        let ours = all.filter(|path| {
            let arguments = fs::read(path.join("cmdline")).unwrap_or_default();
            let words: Vec<_> = arguments.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
            words.iter().any(|word| word.starts_with("--unix-socket=") && word.contains(&tmp))
        });
        ours.filter_map(|path| Some(path.file_name()?.to_str()?.to_owned())).collect()
    }

    /// Waits until nothing is left of a program that has ended.
    async fn nothing_is_left(&self, port: u16) {
        port_closed(port).await;
        wait_until("kubectl has ended", SOON, async || {
            let children = self.children();
            holds(children.is_empty(), || format!("{children:?}"))
        })
        .await;
        let left: Vec<_> = fs::read_dir(self.path("tmp")).expect("the folder").collect();
        assert!(left.iter().flatten().all(|entry| entry.file_name() == ".kube"), "{left:?}");
        let alone: Vec<_> = fs::read_dir(self.path("alone")).expect("the folder").flatten().collect();
        assert_eq!(alone.len(), 1, "it writes nothing beside itself: {alone:?}");
    }
}

impl Drop for Alone {
    /// Of a program that is killed, and cannot end what it has started, nothing stays.
    fn drop(&mut self) {
        for child in self.children() {
            // It may have ended meanwhile.
            let _ = Command::new("kill").args(["-KILL", &child]).status();
        }
    }
}

/// The page's address in two parts, of which the second begins with `#`.
async fn address(process: &Process) -> (String, String) {
    let began = Instant::now();
    let url = process.line_after("Page     ").await;
    assert!(began.elapsed() < START, "the address came after {:?}", began.elapsed());
    let (base, hash) = url.split_once('#').expect("an address with a view");
    let secret = base.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    assert!(secret.len() == 32 && secret.bytes().all(|byte| byte.is_ascii_hexdigit()), "{url}");
    (base.to_owned(), format!("#{hash}"))
}

#[tokio::test]
async fn one_program_shows_the_demo_cluster() {
    let _turn = turn::shared().await;
    let alone = Alone::new(9);
    let process = alone.start(&["--demo", "--scenario", "calm,rollout", "--pods", "30", "pods"]);
    let (base, hash) = address(&process).await;
    assert_eq!(hash, "#/pods");
    let list = async || {
        let answer = reqwest::get(format!("{base}k8s/api/v1/pods")).await.expect("an answer");
        Truth::read(&answer.bytes().await.expect("a list"))
    };
    with_page("one_program_shows_the_demo_cluster", &base, &hash, async |page| {
        page.reaches("pods", "live", SOON).await;
        let begin = list().await;
        assert!(begin.count() > 10, "the cluster has Pods");
        // The cluster goes on, and rests between two changes.
        wait_until("after a change, rows equal LIST", Duration::from_secs(60), async || {
            let truth = list().await;
            let is_equal = page.digest("pods").await == truth.digest();
            let has_changed = truth.digest() != begin.digest();
            holds(is_equal && has_changed, || format!("equal: {is_equal}, changed: {has_changed}"))
        })
        .await;
        page.is_balanced().await;
        assert_eq!(page.text("cluster").await, "demo cluster");
    })
    .await;
    process.signal("INT");
    process.ended().await;
    alone.nothing_is_left(port_of(&base)).await;
}

#[tokio::test]
async fn the_page_begins_in_the_namespace_that_the_context_names() {
    let cluster = Cluster::start(&Options { pods: 20, ..Options::default() }).await;
    let alone = Alone::new(cluster.port());
    add_context(&alone.path("config"), "second", cluster.port());
    name_a_namespace(&alone.path("config"));
    for (words, expected) in BEGINNINGS {
        let process = alone.start_real(words);
        assert_eq!(address(&process).await.1, format!("#{expected}"), "{words:?}");
        process.terminate();
        process.ended().await;
    }
}

#[tokio::test]
async fn one_program_shows_a_cluster_that_kubectl_reaches() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 60, ..Options::default() }).await;
    let alone = Alone::new(cluster.port());
    let process = alone.start_real(&["--context", "first", "pods"]);
    let (base, hash) = address(&process).await;
    assert!(process.output().contains("Cluster  a <b>&\"c\" cluster (context first), read-only"), "{process:?}");
    with_page("one_program_shows_a_cluster", &base, &hash, async |page| {
        works(page, &cluster).await;
        assert_eq!(page.text("cluster").await, "a _b___c_ cluster");
        page.open("#/secrets").await;
        let status = page.reaches("secrets", "forbidden", SOON).await;
        assert!(status.message.as_deref().is_some_and(|words| words.contains("with --secrets")), "{status:?}");
    })
    .await;
    let folders: Vec<_> = fs::read_dir(alone.path("tmp")).expect("the folder").flatten().collect();
    let own = folders.iter().find(|entry| entry.file_name().to_string_lossy().starts_with("kubechurn-"));
    let mode = own.expect("a folder with the socket").metadata().expect("it is there").permissions().mode();
    assert_eq!(mode & 0o777, 0o700);
    assert_eq!(alone.children().len(), 1);
    process.terminate();
    process.ended().await;
    alone.nothing_is_left(port_of(&base)).await;
}

#[tokio::test]
async fn what_was_started_ends_with_the_program_and_the_program_with_kubectl() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 5, ..Options::default() }).await;
    let alone = Alone::new(cluster.port());
    for signal in ["INT", "TERM", "HUP"] {
        let process = alone.start_real(&[]);
        let (base, hash) = address(&process).await;
        assert_eq!(hash, "#/changes");
        process.signal(signal);
        process.ended().await;
        alone.nothing_is_left(port_of(&base)).await;
    }
    let process = alone.start_real(&[]);
    let (base, _) = address(&process).await;
    let children = alone.children();
    let [kubectl] = &children[..] else { panic!("one kubectl: {children:?}") };
    Command::new("kill").arg(kubectl).status().expect("kill is there");
    let said = process.ended().await;
    assert!(said.contains("kubechurn: kubectl proxy ended: "), "{said}");
    alone.nothing_is_left(port_of(&base)).await;
}

/// Paths below the API that are refused in every spelling, beside [`WAYS_IN`]. Each is sent as it is written here.
const SPELLINGS: &[&str] = &[
    "api/v1/namespaces/shop/pods/x/EXEC",
    "api/v1/namespaces/shop/pods/x%2Fexec",
    "api/v1/namespaces/shop/pods/x%252fexec",
    "api/v1/namespaces/shop/pods/x//exec",
    "api/v1/namespaces/shop/pods//x/exec",
    "api/v1/namespaces/shop/pods/./x/exec",
    "api/v1/namespaces/shop/pods/y/../x/exec",
    "api/v1/namespaces/shop/pods/x/port%66orward",
    "api/v1/namespaces/shop/pods/x/log",
    "api/v1/nodes/x/%70roxy/",
    "api/v1/watch/secrets",
    "api/v1/secrets",
    "api/v1/secrets?watch=true",
    "api/v1/namespaces/shop/secrets/token",
    "api/v1/%73ecrets",
    "api/v1//secrets",
    "api/v1/pods/../secrets",
    "api/v1/pods/%2e%2e/secrets",
    "api/v1/SECRETS",
    "API/v1/pods",
    "/api/v1/pods",
    "_control/log",
    "metrics",
    "",
];

#[tokio::test]
async fn the_program_passes_on_reads_alone() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 20, ..Options::default() }).await;
    let alone = Alone::new(cluster.port());
    let process = alone.start_real(&[]);
    let (base, _) = address(&process).await;
    let (port, client) = (port_of(&base), Client::new());
    let path = base.strip_prefix(&format!("http://127.0.0.1:{port}")).expect("an address on this machine");
    let ask = async |target: &str, headers: &str| {
        send(port, &format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{headers}")).await
    };
    let pods = format!("{path}k8s/api/v1/pods");
    // What is refused below is answered here.
    let own = format!("Origin: http://127.0.0.1:{port}\r\n");
    assert_eq!(ask(&format!("{pods}?limit=1"), "Connection: close\r\n").await.0, 200);
    assert_eq!(ask(&format!("{pods}?watch=true"), &format!("{own}{UPGRADE}")).await.0, 101);
    // A watch ends with its reader, over a socket as over HTTP.
    let watches = async |expected: u64| {
        wait_until("watches of Pods", SOON, async || {
            let number = cluster.get("/_control/watches?resource=pods").await;
            holds(number["watches"] == expected, || number.to_string())
        })
        .await;
    };
    watches(0).await;
    let mut watch = client.get(format!("{base}k8s/api/v1/pods?watch=true")).send().await.expect("an answer");
    let first = watch.chunk().await.expect("it goes on").expect("a frame");
    assert!(first.starts_with(b"{\"type\":\"ADDED\""), "{first:?}");
    watches(1).await;
    drop(watch);
    watches(0).await;
    for one in WAYS_IN.iter().chain(SPELLINGS) {
        for headers in ["Connection: close\r\n", &format!("{own}{UPGRADE}")] {
            let (status, text) = ask(&format!("{path}k8s/{one}"), headers).await;
            assert_eq!(status, 403, "{one}: {text}");
            let (_, body) = text.split_once("\r\n\r\n").expect("a head");
            let words: Value = serde_json::from_str(body).unwrap_or_else(|error| panic!("{one}: {error}: {body}"));
            assert!(words["message"].as_str().is_some_and(|words| words.starts_with("kubechurn passes")), "{words}");
        }
    }
    for method in [Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS] {
        let request = client.request(method.clone(), format!("{base}k8s/api/v1/namespaces/shop/pods/x"));
        assert_eq!(request.send().await.expect("an answer").status().as_u16(), 405, "{method}");
    }
    assert_eq!(cluster.get("/api/v1/secrets").await["kind"], "SecretList");
    process.terminate();
    process.ended().await;
    let process = alone.start_real(&["--secrets"]);
    let (base, _) = address(&process).await;
    let answer = client.get(format!("{base}k8s/api/v1/secrets")).send().await.expect("an answer");
    assert_eq!(answer.status().as_u16(), 200);
}

#[tokio::test]
async fn a_stranger_gets_nothing_from_the_program_even_with_its_address() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 20, ..Options::default() }).await;
    let alone = Alone::new(cluster.port());
    let real = alone.start_real(&[]);
    let demo = alone.start(&["--scenario", "storm", "--rate", "0", "--pods", "20"]);
    for process in [&real, &demo] {
        let (base, _) = address(process).await;
        let port = port_of(&base);
        let browser = stranger().await;
        gives_strangers_nothing(&browser, port).await;
        let path = base.strip_prefix(&format!("http://127.0.0.1:{port}")).expect("an address on this machine");
        let paths = ["", "k8s/version", "k8s/api/v1/pods", "k8s/api/v1/pods?watch=true"];
        let paths = paths.map(|one| format!("{path}{one}"));
        let read = reads(&browser, port, &paths.each_ref().map(String::as_str)).await;
        assert!(read.len() == 3 * paths.len() && read.iter().all(Value::is_null), "another page reads {read:?}");
        // A page of the same origin reads what that page does not.
        browser.driver.goto(&format!("{base}none")).await.expect("an answer");
        let read = reads(&browser, port, &[&paths[2]]).await;
        let lists = read.iter().filter(|text| text.as_str().is_some_and(|text| text.contains("PodList")));
        assert_eq!(lists.count(), 2, "{read:?}");
        browser.quit().await;
        for (host, origin, expected) in [
            ("127.0.0.1:PORT", "", 200),
            ("localhost:PORT", "http://localhost:PORT", 200),
            ("127.0.0.1:PORT", "http://evil.example", 403),
            ("127.0.0.1:PORT", "http://127.0.0.1:9", 403),
            ("127.0.0.1:PORT", "https://127.0.0.1:PORT", 403),
            ("127.0.0.1:PORT", "null", 403),
            ("127.0.0.1", "", 403),
            ("evil.example", "", 403),
            ("evil.example:PORT", "http://evil.example:PORT", 403),
            ("127.0.0.1.evil.example:PORT", "", 403),
        ] {
            let origin = if origin.is_empty() { String::new() } else { format!("Origin: {origin}\r\n") };
            let head = format!("Host: {host}\r\n{origin}Connection: close\r\n").replace("PORT", &port.to_string());
            let (status, text) = send(port, &format!("GET {path}k8s/version HTTP/1.1\r\n{head}")).await;
            assert_eq!(status, expected, "{head}: {text}");
        }
        // A name that was made to resolve to this machine.
        let rebound = ["--host-resolver-rules=MAP evil.example 127.0.0.1"];
        let browser = Browser::start_with("", &rebound).await;
        browser.driver.goto(&format!("http://evil.example:{port}{path}")).await.expect("an answer");
        let shown = browser.run("return document.body.textContent.trim()", Vec::new()).await;
        assert_eq!(shown, "not for other pages");
        browser.quit().await;
    }
}

#[tokio::test]
async fn the_page_s_files_are_sent_as_they_are_compressed_and_name_nobody() {
    let alone = Alone::new(9);
    let process = alone.start(&["--scenario", "storm", "--rate", "0", "--pods", "1"]);
    let (base, _) = address(&process).await;
    let client = Client::new();
    let get = async |name: &str, accepted: &str| {
        let request = client.get(format!("{base}{name}")).header(ACCEPT_ENCODING, accepted);
        request.send().await.expect("an answer").error_for_status().expect("it is there")
    };
    let index = get("", "gzip").await;
    let policy = index.headers()["content-security-policy"].to_str().expect("a policy").to_owned();
    assert!(policy.starts_with("default-src 'none'; ") && policy.ends_with("frame-ancestors 'none'"), "{policy}");
    for entry in fs::read_dir(tools::dist()).expect("the page").flatten() {
        let name = entry.file_name().into_string().expect("a name");
        if name == "index.html" || name.starts_with('.') {
            continue;
        }
        let whole = get(&name, "identity").await;
        assert_eq!(whole.headers()["x-content-type-options"], "nosniff", "{name}");
        assert_eq!(whole.headers()["referrer-policy"], "no-referrer", "{name}");
        assert!(whole.headers().get("content-encoding").is_none(), "{name}");
        let text = fs::read(entry.path()).expect("a file");
        assert_eq!(whole.bytes().await.expect("a body"), text, "{name} is the one of the build that is tested");
        let small = get(&name, "gzip, br").await;
        assert_eq!(small.headers()["content-encoding"], "gzip", "{name}");
        assert!(small.bytes().await.expect("a body").len() < text.len(), "{name}");
    }
    let other = client.get(format!("{base}Cargo.toml")).send().await.expect("an answer");
    assert_eq!(other.status().as_u16(), 404);
}

#[tokio::test]
async fn what_the_program_lacks_is_named_with_what_to_do() {
    let alone = Alone::new(9);
    let taken = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let port = taken.local_addr().expect("an address").port();
    for (words, expected) in [
        (&["--context", "other"][..], "kubectl knows no context other. Those that it knows: down first".to_owned()),
        (&["--context=down"], "the API server of context down does not answer. kubectl said: ".to_owned()),
        (&["--kubeconfig=/dev/null"], "kubectl has no current context. Choose one: ".to_owned()),
        (&["--port", &port.to_string()], format!("port {port} is taken: choose another one with --port")),
    ] {
        let said = alone.start_real(words).ended().await;
        assert!(said.starts_with("kubechurn: ") && said.contains(&expected), "{words:?}: {said}");
    }
    for (words, expected) in [
        (&["--scenario", "nothing"][..], "--scenario \"nothing\": names of --help"),
        (&["--demo", "--context", "first"], "--demo is for the demo cluster, and --context for a cluster of yours"),
        (&["pods?x=<y>"], "a view and a namespace are names"),
    ] {
        let said = alone.start(words).ended().await;
        assert!(said.starts_with("kubechurn: ") && said.contains(expected), "{words:?}: {said}");
    }
    // A kubectl whose credentials are not taken, and none.
    fs::remove_file(alone.path("bin/kubectl")).expect("it was there");
    write_refused_kubectl(&alone.path("bin/kubectl"));
    let said = alone.start_real(&[]).ended().await;
    assert!(
        said.contains("does not take the credentials of context first. Log in again. It said: error: You must"),
        "{said}"
    );
    fs::remove_file(alone.path("bin/kubectl")).expect("it was there");
    let said = alone.start_real(&[]).ended().await;
    assert!(said.contains("there is no kubectl here. Install it: "), "{said}");
    let said = alone.start(&["--help"]).ended().await;
    assert!(said.starts_with("kubechurn [VIEW] [flags]"), "{said}");
}

/// Of one origin, and so read in full: each list is fetched, and compared with its server.
#[tokio::test]
async fn several_contexts_are_one_table_and_one_that_is_down_is_named() {
    let _turn = turn::shared().await;
    let storm = |seed| Options { pods: 30, rate: 40, seed, ..Options::default() };
    let (first, mut second) = (Cluster::start(&storm(1)).await, Cluster::start(&storm(2)).await);
    let alone = Alone::new(first.port());
    add_context(&alone.path("config"), "team/second@home", second.port());
    let process =
        alone.start_real(&["pods", "--context", "first", "--context", "team/second@home", "--context", "down"]);
    let (base, _) = address(&process).await;
    with_page("several_contexts_are_one_table", &base, "#/pods?cluster=team/second@home,down", async |page| {
        let name = "pods@team%2Fsecond@home";
        page.reaches("pods", "live", SOON).await;
        page.reaches(name, "live", SOON).await;
        let (of_first, of_second) = (first.quiet("/api/v1/pods").await, second.quiet("/api/v1/pods").await);
        page.shows("pods", &of_first, SOON).await;
        page.shows(name, &of_second, SOON).await;
        let all = of_first.items.len() + of_second.items.len();
        page.counts(all, all).await;
        let named = "return [...document.querySelectorAll('[data-testid=notice]')].some(one => one.textContent.includes('Pods of down'))";
        page.becomes("the one that is down is named", named, json!(true)).await;

        // The menu of clusters has its place on a phone, too.
        let window = json!({ "width": 390, "height": 844, "deviceScaleFactor": 2, "mobile": true });
        page.browser.devtools("Emulation.setDeviceMetricsOverride", window).await;
        let apart = "const box = of => document.querySelector(of).getBoundingClientRect();
            const [brand, state, menu] = ['.brand', '[data-testid=connection]', '[data-testid=beside]'].map(box);
            return [brand.right <= state.left, menu.top >= state.bottom, menu.right <= innerWidth]";
        page.becomes("nothing lies over anything", apart, json!([true, true, true])).await;

        second.kill().await;
        page.reaches(name, "stale", SOON).await;
        page.reaches("pods", "live", SOON).await;
        page.shows(name, &of_second, SOON).await;
        page.is_balanced().await;
    })
    .await;
    process.terminate();
    process.ended().await;
}
