//! Nobody who does not know the secret path reaches the page or the API, through either proxy: not another page in the
//! same browser, and not through a name that was made to resolve to this machine. A user who knows the path has access
//! to everything, and the page shows the path to nobody.

use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::page::{COPIED, GIVEN, Page, with_page};
use kubechurn_harness::proxy::{KubectlProxy, TrunkServe};
use kubechurn_harness::turn;
use kubechurn_harness::wait::{holds, wait_until};

const SECRET: &str = "5f1d0c3e9b7a42868d1e6c0f7a3b9d24";
/// The secret of the proxy behind Trunk.
const INNER: &str = "c0ffee00c0ffee00c0ffee00c0ffee00";
const PODS: &str = "/api/v1/pods";
const SOON: Duration = Duration::from_secs(20);

/// What a stranger may try who knows the usual names, and a secret of the right length.
const PATHS: &[&str] = &[
    "/",
    "/index.html",
    "/licences.txt",
    "/static/",
    "/version",
    "/k8s/version",
    "/k8s/api/v1/secrets",
    "/k8s/api/v1/pods?watch=true",
    "/k8s-ws/api/v1/pods?watch=true",
    "/api/v1/pods?watch=true",
    "/.well-known/trunk/ws",
    "/00000000000000000000000000000000/",
    "/00000000000000000000000000000000/k8s/version",
    "/00000000000000000000000000000000/k8s-ws/api/v1/pods?watch=true",
];

/// A page of another origin. Returns the port of its server, which serves nothing else until the test ends.
async fn foreign_page() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let body = "<!doctype html><title>another page</title>";
                let head = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n", body.len());
                // The client may have closed the connection.
                let _ = stream.read(&mut [0; 4096]).await;
                let _ = stream.write_all(format!("{head}Connection: close\r\n\r\n{body}").as_bytes()).await;
            });
        }
    });
    port
}

/// What the page in view can read at these addresses, by fetch and over a socket: a list of nulls means nothing.
pub async fn reads(browser: &Browser, port: u16, paths: &[&str]) -> Vec<Value> {
    let attempts = json!(paths);
    let script = format!(
        "Promise.all({attempts}.flatMap(path => [
            fetch('http://127.0.0.1:{port}' + path).then(answer => answer.text(), () => null),
            fetch('http://127.0.0.1:{port}' + path, {{ mode: 'no-cors' }})
                .then(answer => answer.text().then(text => text || null), () => null),
            new Promise(done => {{
                const socket = new WebSocket('ws://127.0.0.1:{port}' + path);
                socket.onmessage = ({{ data }}) => done(typeof data === 'string' ? data : 'bytes');
                socket.onclose = socket.onerror = () => done(null);
            }}),
        ]))"
    );
    let read = browser.resolve(&script).await;
    read.as_array().expect("an answer for each attempt").clone()
}

/// Asks for a path under a name of the server, without a browser, as a page of that name does. Returns the status, and the
/// answer.
async fn ask(port: u16, path: &str, host: &str, upgrade: bool) -> (u16, String) {
    let mut request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\n");
    let headers = if upgrade { UPGRADE } else { "Connection: close\r\n" };
    request.write_str(headers).expect("a string takes what is written");
    send(port, &request).await
}

/// The headers of a request for a WebSocket.
pub const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                           Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// Sends a request, of which this is the head as it is written, without the empty line at its end. Returns the status, and the
/// answer: up to the end of the connection, or, on a kept connection, head and body.
pub async fn send(port: u16, request: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.expect("it listens");
    stream.write_all(format!("{request}\r\n").as_bytes()).await.expect("it reads");
    let mut answer = Vec::new();
    let whole = async {
        while stream.read_buf(&mut answer).await.is_ok_and(|count| count > 0) {
            let text = String::from_utf8_lossy(&answer);
            let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
            let head = head.to_ascii_lowercase();
            let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            if text.starts_with("HTTP/1.1 101 ") || length.is_some_and(|length| body.len() >= length) {
                break;
            }
        }
    };
    timeout(SOON, whole).await.unwrap_or_else(|_| panic!("no answer to {request}"));
    let text = String::from_utf8_lossy(&answer).into_owned();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("no status in {text:?}, to {request}")), text)
}

/// A client that does not know the secret gets nothing at this port, under any name.
pub async fn gives_strangers_nothing(browser: &Browser, port: u16) {
    let read = reads(browser, port, PATHS).await;
    assert!(read.len() == 3 * PATHS.len() && read.iter().all(Value::is_null), "a foreign page reads {read:?}");
    for host in ["evil.example", &format!("evil.example:{port}"), "localhost", &format!("127.0.0.1:{port}")] {
        for path in PATHS {
            for upgrade in [false, true] {
                let (status, text) = ask(port, path, host, upgrade).await;
                assert!(matches!(status, 403 | 404), "{path} at {host}: {text}");
                let (_, body) = text.split_once("\r\n\r\n").expect("a head");
                assert!(body.len() < 100 && !text.contains(SECRET), "{path} at {host}: {text}");
            }
        }
    }
}

/// A browser that shows a page of another origin.
pub async fn stranger() -> Browser {
    let browser = Browser::start("").await;
    let url = format!("http://127.0.0.1:{}/", foreign_page().await);
    browser.driver.goto(&url).await.expect("the other page loads");
    browser
}

pub fn port_of(url: &str) -> u16 {
    let host = url.strip_prefix("http://").and_then(|rest| rest.split('/').next());
    host.and_then(|host| host.rsplit_once(':')?.1.parse().ok()).expect("the address has a port")
}

async fn calm() -> Cluster {
    Cluster::start(&Options { pods: 60, ..Options::default() }).await
}

/// Everything works for a user who knows the address.
pub async fn works(page: &Page, cluster: &Cluster) {
    page.reaches("pods", "live", SOON).await;
    page.shows("pods", &cluster.list(PODS).await, SOON).await;
    cluster.rate(100).await;
    cluster.advance(200, 100).await;
    page.shows("pods", &cluster.quiet(PODS).await, SOON).await;
    page.is_balanced().await;
}

#[tokio::test]
async fn behind_kubectl_proxy_a_stranger_gets_nothing() {
    let _turn = turn::shared().await;
    let cluster = calm().await;
    let proxy = KubectlProxy::start_below(cluster.port(), SECRET).await;
    let browser = stranger().await;
    gives_strangers_nothing(&browser, proxy.port()).await;
    // The same attempts without a secret: only kubectl's own check of host names protects, and sockets are open to all.
    let open = KubectlProxy::start(cluster.port()).await;
    let read = reads(&browser, open.port(), &["/k8s/api/v1/pods?watch=true"]).await;
    assert!(read[2].as_str().is_some_and(|frame| frame.contains("ADDED")), "{read:?}");
    assert_eq!(ask(open.port(), "/k8s/version", "evil.example", false).await.0, 403);
    browser.quit().await;
    with_page("behind_kubectl_proxy_a_stranger_gets_nothing", &proxy.url(), "#/pods", async |page| {
        works(page, &cluster).await;
    })
    .await;
}

#[tokio::test]
async fn behind_trunk_a_stranger_gets_nothing() {
    let _turn = turn::shared().await;
    let cluster = calm().await;
    let proxy = KubectlProxy::start_plain_below(cluster.port(), INNER).await;
    let trunk = TrunkServe::start_below(proxy.port(), INNER, SECRET).await;
    let browser = stranger().await;
    gives_strangers_nothing(&browser, port_of(&trunk.url())).await;
    gives_strangers_nothing(&browser, proxy.port()).await;
    // The same attempts without a secret: Trunk answers under any name, and opens sockets to all.
    let open_proxy = KubectlProxy::start_plain(cluster.port()).await;
    let open = TrunkServe::start(open_proxy.port()).await;
    let read = reads(&browser, port_of(&open.url()), &["/k8s-ws/api/v1/pods?watch=true"]).await;
    assert!(read[2].as_str().is_some_and(|frame| frame.contains("ADDED")), "{read:?}");
    browser.quit().await;
    with_page("behind_trunk_a_stranger_gets_nothing", &trunk.url(), "#/pods", async |page| {
        works(page, &cluster).await;
    })
    .await;
}

/// All that the page says: what is visible, what tests and tools can read, and what is in the console.
const SAYS: &str = "return [document.title, document.body.innerText, JSON.stringify(kubechurn.status()),
    JSON.stringify(kubechurn.notices()), ...window.logged].join('\\n')";

/// Records what the page says to the console from now on, and what goes to the clipboard and into files.
const LISTEN: &str = "window.logged = []; for (const level of ['log', 'info', 'warn', 'error']) {
    const original = console[level];
    console[level] = (...words) => { window.logged.push(words.join(' ')); original.apply(console, words) } }";

#[tokio::test]
async fn the_page_shows_its_secret_to_nobody() {
    let _turn = turn::shared().await;
    let mut cluster = calm().await;
    let mut proxy = KubectlProxy::start_below(cluster.port(), SECRET).await;
    with_page("the_page_shows_its_secret_to_nobody", &proxy.url(), "#/pods?sort=-NAME", async |page| {
        page.reaches("pods", "live", SOON).await;
        page.has_rows().await;
        page.browser.run(LISTEN, Vec::new()).await;
        page.browser.run(GIVEN, Vec::new()).await;
        page.press(":copy link\u{e007}").await;
        page.becomes("the link is copied", COPIED, json!("#/pods?sort=-NAME")).await;
        wait_until("the page says what was copied", SOON, async || {
            let words = page.text("told").await;
            holds(words.contains("without the page's address, which is secret"), || words)
        })
        .await;
        for (wanted, ends) in [("csv", ".csv"), ("ndjson", ".ndjson")] {
            page.press(format!(":{wanted}\u{e007}").as_str()).await;
            let text = page.gives(|file| file.ends_with(ends) && !file.contains(SECRET), SOON).await;
            assert!(!text.contains(SECRET), "{wanted}: {text}");
        }
        proxy.kill().await;
        page.is_left_with("pods", SOON).await;
        wait_until("the page says which address does not answer", SOON, async || {
            let message = page.status_of("pods").await.and_then(|status| status.message).unwrap_or_default();
            holds(message.contains("/…/k8s/api/v1/pods"), || message)
        })
        .await;
        let says: String = page.read(SAYS, Vec::new()).await;
        assert!(says.contains("pods: stale: ") && !says.contains(SECRET), "{says}");
        // A page that finds no API lists the places where it looked.
        cluster.kill().await;
        proxy.start_again().await;
        page.reload().await;
        wait_until("the page says where it looked", SOON, async || {
            let splash = page.text("splash").await;
            holds(splash.contains("/…/k8s/") && !splash.contains(SECRET), || splash)
        })
        .await;
    })
    .await;
}
