//! Faults that affect requests.

use std::time::{Duration, Instant};

use super::*;
use crate::args::Args;
use crate::client::rest::Client;
use crate::faults::grammar::parse_flag;
use crate::server::router;

#[tokio::test]
async fn refused_once_and_then_no_more() {
    let server = serve(quiet()).await;
    let status = |reason: &str| format!("\"reason\":\"{reason}\"");
    for (words, code, retry_after, media_type, body) in [
        ("status=429,retry-after=2", 429, Some("2"), "application/json", status("TooManyRequests")),
        ("status=429,body=text", 429, Some("1"), "text/plain; charset=utf-8", "Too many requests".to_owned()),
        ("status=500", 500, None, "application/json", status("InternalError")),
        ("status=503", 503, Some("1"), "application/json", status("ServiceUnavailable")),
        ("status=401", 401, None, "application/json", status("Unauthorized")),
        ("status=403", 403, None, "application/json", "User \\\"demo\\\" cannot list resource".to_owned()),
        ("status=410", 410, None, "application/json", status("Expired")),
    ] {
        let id = server.fault(&format!("{words},times=1,verb=list,resource=pods")).await;
        let get = || server.client.get(server.url("/api/v1/pods")).send();
        let response = within(get()).await.unwrap();
        let header = |name: &str| response.headers().get(name).map(|value| value.to_str().unwrap().to_owned());
        assert_eq!(response.status(), code, "{words}");
        assert_eq!(header("retry-after").as_deref(), retry_after, "{words}");
        assert_eq!(header("content-type").as_deref(), Some(media_type), "{words}");
        let text = within(response.text()).await.unwrap();
        assert!(text.contains(&body), "{words}: {text}");
        assert_eq!(server.struck(id).await, (1, true), "{words}");
        assert_eq!(within(get()).await.unwrap().status(), 200, "{words} is over");
    }
}

#[tokio::test]
async fn a_refused_upgrade() {
    let server = serve(quiet()).await;
    server.fault("status=429,verb=watch,times=1").await;
    let path = server.path_from_now().await;
    let response = socket::open(&server, &path, Some("http://localhost")).await.err().unwrap();
    assert!(response.starts_with("HTTP/1.1 429 ") && response.contains("retry-after: 1"), "{response}");
    Watch::open(&server, "websocket", &path).await;
}

#[tokio::test]
async fn each_word_narrows() {
    let server = serve(quiet()).await;
    let pods = "/api/v1/namespaces/shop/pods";
    for (words, struck, spared) in [
        ("resource=pods", vec![("GET", pods), ("GET", "/api/v1/pods?watch=1")], vec![("GET", "/api/v1/nodes")]),
        ("resource=deployments.apps", vec![("GET", "/apis/apps/v1/deployments")], vec![("GET", pods)]),
        ("verb=list", vec![("GET", pods)], vec![("GET", "/api/v1/namespaces/shop"), ("GET", "/version")]),
        ("verb=watch", vec![("GET", "/api/v1/pods?watch=1"), ("GET", "/api/v1/watch/pods")], vec![("GET", pods)]),
        ("verb=get", vec![("GET", "/api/v1/namespaces/shop"), ("GET", "/version")], vec![("GET", pods)]),
        ("verb=create", vec![("POST", CONFIG_MAPS)], vec![("GET", CONFIG_MAPS)]),
        ("verb=deletecollection", vec![("DELETE", CONFIG_MAPS)], vec![("GET", CONFIG_MAPS)]),
        ("namespace=shop", vec![("GET", pods)], vec![("GET", "/api/v1/pods"), ("GET", CONFIG_MAPS)]),
        ("user-agent=tester", vec![("GET", pods)], vec![]),
        ("user-agent=kubectl", vec![], vec![("GET", pods)]),
    ] {
        let id = server.fault(&format!("status=418,{words}")).await;
        for (requests, is_struck) in [(struck, true), (spared, false)] {
            for (method, path) in requests {
                let request = server.client.request(method.parse().unwrap(), server.url(path));
                let response = within(request.header("user-agent", "the tester").send()).await.unwrap();
                assert_eq!(response.status() == 418, is_struck, "{words}: {method} {path}");
            }
        }
        let cleared = server.control(&format!("clear?id={id}")).await;
        assert_eq!(cleared["cleared"], 1);
    }
}

#[tokio::test]
async fn after_and_times_count_requests() {
    let server = serve(quiet()).await;
    server.fault("status=500,verb=list,resource=pods,after=1,times=2").await;
    for expected in [200, 500, 500, 200] {
        assert_eq!(server.get("/api/v1/pods").await.0, expected);
    }
    let (_, faults) = server.get("/_control/faults").await;
    let rule = &faults["rules"][0];
    assert_eq!((&rule["matched"], &rule["struck"], &rule["over"]), (&4.into(), &2.into(), &true.into()));
    assert_eq!(rule["fault"], "after=1,resource=pods,status=500,times=2,verb=list");
    let deleted = server.delete("/_control/faults").await;
    assert_eq!((deleted.1["cleared"].as_u64(), server.rules().await), (Some(1), 0));
}

#[tokio::test]
async fn slow_answers() {
    let server = serve(quiet()).await;
    let whole = within(server.client.get(server.url("/api/v1/pods")).send()).await.unwrap();
    let whole = within(whole.bytes()).await.unwrap();
    server.fault("delay-ms=150,drip=1000,pause-ms=1,verb=list,times=1").await;
    let began = Instant::now();
    let mut response = within(server.client.get(server.url("/api/v1/pods")).send()).await.unwrap();
    assert!(began.elapsed() >= Duration::from_millis(150));
    let mut dripped = Vec::new();
    while let Some(piece) = within(response.chunk()).await.unwrap() {
        assert!(piece.len() <= 1000, "{} bytes at once", piece.len());
        dripped.extend_from_slice(&piece);
    }
    assert_eq!(dripped, whole);
}

#[tokio::test]
async fn one_resource_is_not_answered_until_the_fault_is_taken_back() {
    let server = serve(quiet()).await;
    let id = server.fault("stall=true,resource=pods").await;
    let client = server.client.clone();
    let held = tokio::spawn(client.get(server.url("/api/v1/pods")).send());
    server.has_struck(id, 1).await;
    assert_eq!(server.get("/api/v1/nodes").await.0, 200);
    assert!(!held.is_finished());
    server.control("clear").await;
    assert_eq!(within(held).await.unwrap().unwrap().status(), 200);
}

#[tokio::test]
async fn initial_events_are_unknown() {
    let server = serve(quiet()).await;
    let id = server.fault("watch-list=off,resource=configmaps,times=2").await;
    let path = "/api/v1/configmaps?watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan";
    let (status, answer) = server.get(path).await;
    assert_eq!((status, &answer["reason"]), (422, &"Invalid".into()), "{answer}");
    let response = socket::open(&server, path, Some("http://localhost")).await.err().unwrap();
    assert!(response.starts_with("HTTP/1.1 422 "), "{response}");
    assert_eq!(server.struck(id).await, (2, true));
    Watch::open(&server, "websocket", path).await;
}

#[tokio::test]
async fn the_cluster_s_own_are_spared() {
    let server = serve(quiet()).await;
    let id = server.fault("status=500").await;
    let client = Client::new(router(std::sync::Arc::clone(&server.app)), "kube-controller-manager");
    let answer = client.send(axum::http::Method::GET, "/api/v1/pods", "", String::new()).await.unwrap();
    assert_eq!((answer.status().as_u16(), server.struck(id).await.0), (200, 0));
    assert_eq!(server.get("/api/v1/pods").await.0, 500);
}

#[tokio::test]
async fn asked_for_on_the_command_line() {
    let fault = parse_flag("status=503,verb=list,times=1", &|_| true).unwrap();
    let server = serve(Args { faults: vec![fault], ..quiet() }).await;
    assert_eq!((server.get("/api/v1/pods").await.0, server.get("/api/v1/pods").await.0), (503, 200));
}

#[tokio::test]
async fn words_that_ask_for_nothing() {
    let server = serve(quiet()).await;
    for words in ["", "status=200", "status=500&resource=nosuch", "frame=red", "status=500&colour=red", "skew=x"] {
        let (status, answer) = server.post(&format!("/_control/fault?{words}"), &Value::Null).await;
        assert_eq!((status, &answer["kind"]), (400, &"Status".into()), "{words}");
    }
    assert_eq!(server.rules().await, 0);
    assert_eq!(server.get("/_control/fault").await.0, 405);
}

impl Server {
    /// The number of faults that are on.
    async fn rules(&self) -> usize {
        self.get("/_control/faults").await.1["rules"].as_array().unwrap().len()
    }
}
