//! The API through the real `kubectl proxy`: what a browser learns about a refusal, and what the proxy refuses itself.

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use kubechurn_harness::process::Process;

use crate::session::Session;

/// A proxy with these arguments, and the address on which it listens. It is dropped when the test ends.
async fn proxy(session: &Session, arguments: &str) -> (Process, SocketAddr) {
    let process = session.follow(&format!("proxy --port=0 {arguments}"));
    let address = process.line_after("Starting to serve on").await;
    (process, address.parse().expect("an address"))
}

/// The status and the whole answer of a request, up to the end of the connection; for an accepted upgrade, everything
/// up to the first event.
async fn ask(address: SocketAddr, line: &str, host: &str, upgrade: bool) -> (u16, String) {
    let headers = if upgrade {
        "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://localhost\r\n"
    } else {
        "Connection: close\r\n"
    };
    let mut stream = TcpStream::connect(address).await.expect("the proxy listens");
    let request = format!("{line} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).await.expect("the proxy reads");
    let mut answer = Vec::new();
    let whole = async {
        while stream.read_buf(&mut answer).await.is_ok_and(|count| count > 0) {
            let text = String::from_utf8_lossy(&answer);
            let refused = text.contains("\r\n\r\n") && !text.starts_with("HTTP/1.1 101 ");
            if (upgrade && text.contains("\"type\":\"ADDED\"")) || (refused && is_whole(&text)) {
                break;
            }
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(30), whole).await.expect("an answer in time");
    let text = String::from_utf8_lossy(&answer).into_owned();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("{line}: no status in {text:?}")), text)
}

/// Whether the body of an answer has the announced length.
fn is_whole(text: &str) -> bool {
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    length.is_some_and(|length: usize| body.len() >= length)
}

/// Sends an upgrade and a plain request: both must get the same status, and the answer to the plain one must contain
/// the reason.
async fn check(address: SocketAddr, path: &str, code: u16, reason: &str) {
    let host = address.to_string();
    let line = format!("GET {path}");
    assert_eq!(ask(address, &line, &host, true).await.0, code, "{path}: the upgrade");
    let (status, text) = ask(address, &format!("{line}&timeoutSeconds=1"), &host, false).await;
    let (_, body) = text.split_once("\r\n\r\n").expect("a head");
    let answer: Value = serde_json::from_str(body).unwrap_or_default();
    assert_eq!((status, answer["reason"].as_str().unwrap_or_default()), (code, reason), "{path}: {text}");
}

/// 24. A browser sees only a close with 1006 and no status; the same query as a plain request shows the reason.
#[tokio::test]
async fn a_probe_through_the_proxy_names_the_reason_of_a_refused_upgrade() {
    let session = Session::start("proxy-probe").await;
    let (_process, address) = proxy(&session, "").await;
    let host = address.to_string();
    let (status, text) = ask(address, "GET /api/v1/pods?watch=true", &host, true).await;
    assert_eq!(status, 101, "{text}");
    session.order("forbid?verb=watch&resource=pods").await;
    session.order("fault?status=429&verb=watch&resource=secrets").await;
    check(address, "/api/v1/pods?watch=true", 403, "Forbidden").await;
    check(address, "/api/v1/secrets?watch=true", 429, "TooManyRequests").await;
    check(address, "/api/v1/nosuch?watch=true", 404, "NotFound").await;
    check(address, "/api/v1/nodes?watch=true&sendInitialEvents=true", 422, "Invalid").await;
}

/// 30. TestProxyUpgradeErrorResponse: the server's answer to an upgrade passes the proxy; without a server, the proxy
/// itself answers 500 or 502.
#[tokio::test]
async fn the_backend_s_errors_pass_the_proxy() {
    let session = Session::start("proxy-errors").await;
    let (_process, address) = proxy(&session, "").await;
    let host = address.to_string();
    let (status, text) = ask(address, "GET /api/v1/pods?watch=true&resourceVersion=abc", &host, true).await;
    assert!(status == 500 && text.contains("strconv.ParseUint: parsing"), "{text}");
    let (_process, address) = proxy(&session, "-s http://127.0.0.1:1").await;
    let (status, text) = ask(address, "GET /api/v1/pods?watch=true", &address.to_string(), true).await;
    assert!(matches!(status, 500 | 502) && !text.contains("\"kind\":\"Status\""), "{text}");
}

/// 31. TestAccept: rejected paths, methods, accepted paths, and hosts.
#[tokio::test]
async fn the_proxy_s_filters() {
    let session = Session::start("proxy-filters").await;
    let (_one, usual) = proxy(&session, "").await;
    let (_other, strict) =
        proxy(&session, "'--reject-methods=^(POST|PUT|PATCH|DELETE)$' '--accept-paths=^/api/.*'").await;
    let pods = "/api/v1/pods?limit=1";
    for (address, line, host, expected) in [
        (usual, format!("GET {pods}"), "localhost", 200),
        (usual, format!("GET {pods}"), "127.0.0.1:1", 200),
        (usual, format!("GET {pods}"), "evil.example", 403),
        (usual, "GET /api/v1/namespaces/shop/pods/x/exec".to_owned(), "localhost", 403),
        (usual, "GET /api/v1/namespaces/shop/pods/x/attach".to_owned(), "localhost", 403),
        (usual, "DELETE /api/v1/namespaces/shop/pods/x".to_owned(), "localhost", 404),
        (strict, format!("GET {pods}"), "localhost", 200),
        (strict, "DELETE /api/v1/namespaces/shop/pods/x".to_owned(), "localhost", 403),
        (strict, "GET /apis/apps/v1/deployments".to_owned(), "localhost", 403),
    ] {
        let (status, text) = ask(address, &line, host, false).await;
        assert_eq!(status, expected, "{line} at {host}: {text}");
        // The proxy's own refusals are plain text.
        assert!(status != 403 || !text.contains("\"kind\":\"Status\""), "{text}");
    }
}

/// What `./dev serve` reports about an existing proxy: the methods that write and that the proxy passes on. The check
/// itself writes nothing.
#[tokio::test]
async fn what_a_proxy_passes_on_is_found_without_a_write() {
    let session = Session::start("proxy-writes").await;
    let writes = async |arguments: &str, prefix: &str| {
        let (_process, address) = proxy(&session, arguments).await;
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../dev");
        let url = format!("http://{address}{prefix}");
        let output = tokio::process::Command::new("sh").args([script, "writes", &url]).output().await;
        let output = output.expect("./dev runs");
        assert!(output.status.success(), "{output:?}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let before = session.writes().await;
    assert_eq!(writes("", "").await, " POST PUT PATCH DELETE");
    assert_eq!(writes("'--reject-methods=^(POST|PUT|PATCH|DELETE)$' --api-prefix=/below/", "/below").await, "");
    assert_eq!(writes("--reject-methods=POST,PUT", "").await, " PATCH DELETE");
    // The API server's own refusal passes the proxy.
    session.order("fault?status=403").await;
    assert_eq!(writes("", "").await, " POST PUT PATCH DELETE");
    assert_eq!(session.writes().await, before);
}

/// A relay to a server whose API is below a path, as behind a fleet's proxy: what is asked for elsewhere gets 404. Returns the
/// port on which it listens.
async fn below(path: &'static str, backend: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a loopback port can be bound");
    let port = listener.local_addr().expect("it has an address").port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut head = Vec::new();
                while !head.windows(4).any(|end| end == b"\r\n\r\n") {
                    if client.read_buf(&mut head).await.unwrap_or(0) == 0 {
                        return;
                    }
                }
                let head = String::from_utf8_lossy(&head).into_owned();
                let Some(rest) = head.strip_prefix(&format!("GET {path}")) else {
                    let answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                    return drop(client.write_all(answer).await);
                };
                // One request for each connection, so that each is seen.
                let is_socket = rest.to_ascii_lowercase().contains("upgrade: websocket");
                let once = if is_socket { "" } else { "\r\nConnection: close" };
                let passed = format!("GET {}", rest.replacen("\r\n", &format!("{once}\r\n"), 1));
                let mut server = TcpStream::connect(("127.0.0.1", backend)).await.expect("the cluster listens");
                server.write_all(passed.as_bytes()).await.expect("the cluster reads");
                let _ = tokio::io::copy_bidirectional(&mut client, &mut server).await;
            });
        }
    });
    port
}

/// The server of a kubeconfig may be below a path, in every way of serving.
#[tokio::test]
async fn a_server_below_a_path_is_reached_with_what_every_way_of_serving_gives_the_proxy() {
    let session = Session::start("proxy-path").await;
    let port = below("/k8s/clusters/c-1", session.port()).await;
    let (_process, address) = proxy(
        &session,
        &format!("-s http://127.0.0.1:{port}/k8s/clusters/c-1 --api-prefix=/secret/k8s/ --append-server-path"),
    )
    .await;
    let host = address.to_string();
    let (status, text) = ask(address, "GET /secret/k8s/version", &host, false).await;
    assert!(status == 200 && text.contains("gitVersion"), "{text}");
    let (status, text) = ask(address, "GET /secret/k8s/api/v1/pods?watch=true", &host, true).await;
    assert_eq!(status, 101, "{text}");
    for (file, proxies) in [
        ("plugin/kubectl-churn", 1),
        ("crates/cli/src/serve/kubectl.rs", 1),
        ("dev", 2),
        ("docs/guide/start.md", 1),
        ("SECURITY.md", 1),
    ] {
        let text = project_file(file);
        let prefixes = text.matches("--api-prefix=").count();
        assert!(prefixes >= proxies && text.matches("--append-server-path").count() >= proxies, "{file}");
    }
}

/// What the proxy refuses is known by the parts of a path: objects may be called `exec`, and namespaces `pods`.
#[tokio::test]
async fn an_object_of_an_unusual_name_is_no_way_into_a_pod() {
    let plugin = project_file("plugin/kubectl-churn");
    let refused = plugin.split("refused='").nth(1).and_then(|rest| rest.split('\'').next()).expect("it refuses paths");
    for file in ["crates/cli/src/serve/kubectl.rs", "dev"] {
        assert!(project_file(file).contains(refused), "{file} refuses other paths");
    }
    let session = Session::start("proxy-names").await;
    let (_process, address) = proxy(&session, &format!("'--reject-paths={refused}'")).await;
    for path in [
        "/api/v1/namespaces/shop/pods/x/exec",
        "/api/v1/namespaces/shop/pods/x/attach",
        "/api/v1/namespaces/shop/pods/x/portforward",
        "/api/v1/namespaces/shop/pods/x:8080/proxy/metrics",
        "/api/v1/namespaces/shop/pods/x%2Fexec",
        "/api/v1/namespaces/shop/services/https:x:443/proxy/",
        "/api/v1/namespaces/pods/pods/x/exec",
        "/api/v1/nodes/node-1/proxy/pods",
        "/api/v1/proxy/nodes/node-1",
    ] {
        let (status, text) = ask(address, &format!("GET {path}"), "localhost", false).await;
        assert!(status == 403 && !text.contains("\"kind\":\"Status\""), "{path}: {text}");
    }
    for path in [
        "/api/v1/namespaces/services/pods/proxy",
        "/api/v1/namespaces/nodes/configmaps/exec",
        "/api/v1/namespaces/pods/services/attach",
        "/api/v1/namespaces/shop/pods/exec",
        "/api/v1/namespaces/proxy",
    ] {
        let (status, text) = ask(address, &format!("GET {path}"), "localhost", false).await;
        assert!(matches!(status, 200 | 404) && text.contains("\"kind\""), "{path}: {text}");
    }
}

fn project_file(name: &str) -> String {
    let path = format!("{}/../../{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
