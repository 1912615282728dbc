//! Serves the page of a benchmark that is a program of its own, and not the built page.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use axum::Router;
use axum::http::HeaderName;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use tokio::net::TcpListener;

use crate::tools;

/// A page that is isolated by these headers gets a more precise clock.
const OPENER: (HeaderName, &str) = (HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
const EMBEDDER: (HeaderName, &str) = (HeaderName::from_static("cross-origin-embedder-policy"), "require-corp");

/// Serves the page of the benchmark `name` until the process ends, and returns its address. The page imports the program as
/// `./NAME.js`. `./dev bench NAME` builds it, and says in `KUBECHURN_BENCH_PAGE` in which folder it is.
pub async fn serve(name: &str, page: &'static str) -> String {
    let folder = std::env::var("KUBECHURN_BENCH_PAGE").unwrap_or_else(|_| format!("target/{name}"));
    let folder = tools::project_file("").join(PathBuf::from(folder));
    let file = |name: &str, end: &str| {
        let path = folder.join(format!("{name}{end}"));
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}: `./dev bench {name}`", path.display()))
    };
    let (script, wasm) = (file(name, ".js"), file(name, "_bg.wasm"));
    let app = Router::new()
        .route("/", get(async move || ([(CONTENT_TYPE, "text/html"), OPENER, EMBEDDER], page)))
        .route(&format!("/{name}.js"), get(async || ([(CONTENT_TYPE, "text/javascript")], script)))
        .route(&format!("/{name}_bg.wasm"), get(async || ([(CONTENT_TYPE, "application/wasm")], wasm)));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.expect("a loopback port can be bound");
    let address = listener.local_addr().expect("a bound listener has an address");
    tokio::spawn(async { axum::serve(listener, app).await });
    format!("http://{address}/")
}

/// Resolves when the page has set `window.ready`.
pub const READY: &str = "new Promise(resolve => {
    const look = () => window.ready ? resolve(true) : setTimeout(look, 10);
    look();
})";
