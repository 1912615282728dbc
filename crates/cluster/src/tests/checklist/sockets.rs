//! Rules about the transports: messages, closes, parameters, headers.

use serde_json::json;

use super::*;

/// 14. TestWatchWebsocket: an event is one message, or one line over HTTP, and events come in the order of the writes.
#[tokio::test]
async fn events_arrive_one_per_message_in_order() {
    let server = serve(quiet()).await;
    let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion={}", newest(&server).await);
    let mut watches = [watch(&server, BOTH[0], &path).await, watch(&server, BOTH[1], &path).await];
    let mut expected = Vec::new();
    for index in 0..5 {
        let name = format!("c{index}");
        let path = format!("{CONFIG_MAPS}/{name}");
        expected.push(("ADDED", name.clone(), server.config_map(&name, "web").await));
        let (_, changed) = server.patch(&path, &json!({"data": {"a": "c"}})).await;
        expected.push(("MODIFIED", name.clone(), revision(&changed)));
        server.delete(&path).await;
        expected.push(("DELETED", name, revision(&changed) + 1));
    }
    for watch in &mut watches {
        for (event_type, name, revision) in &expected {
            assert_eq!(watch.summary().await, ((*event_type).to_owned(), name.clone(), *revision));
        }
    }
}

/// 15. TestWatchWebsocketClientClose: the watch of a client that leaves ends, and a close frame is answered.
#[tokio::test]
async fn a_client_that_leaves_ends_its_watch() {
    let server = serve(quiet()).await;
    let watches = async || server.get("/_control/watches?resource=configmaps").await.1["watches"].as_u64().unwrap();
    let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion={}", newest(&server).await);
    for (transport, goodbye) in [(BOTH[0], false), (BOTH[1], false), (BOTH[1], true)] {
        let mut leaving = watch(&server, transport, &path).await;
        // The watch has begun once it has sent an event.
        let name = format!("{transport:?}-{goodbye}").to_lowercase();
        server.config_map(&name, "web").await;
        while leaving.summary().await.1 != name {}
        assert_eq!(watches().await, 1, "{transport:?}");
        if goodbye && let Watch::WebSocket(socket) = &mut leaving {
            socket.say_goodbye().await;
            assert!(matches!(socket.next().await, Frame::Close(..)), "a close is answered with one");
            assert_eq!(socket.next().await, Frame::Gone);
        }
        drop(leaving);
        within(async {
            while watches().await > 0 {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }
}

/// 16. TestWatchParamParsing: the parameters of the query reach the watch.
#[tokio::test]
async fn parameters_are_parsed_and_passed_on() {
    let server = serve(quiet()).await;
    server.config_map("one", "web").await;
    let then = server.config_map("two", "db").await;
    server.config_map("three", "web").await;
    let all = ["ADDED kube-root-ca.crt", "ADDED one", "ADDED three", "ADDED two"].as_slice();
    let namespaced = "namespaces/default/configmaps";
    let check = async |transport, path: String, expected: &[&str]| {
        let path = format!("/api/v1/{path}&timeoutSeconds=1");
        let events = watch(&server, transport, &path).await.rest().await;
        assert_eq!(summary(&events), expected, "{transport:?} {path}");
    };
    for transport in BOTH {
        futures::join!(
            check(transport, format!("{namespaced}?watch=true"), all),
            check(transport, format!("{namespaced}?watch=1&resourceVersion=0"), all),
            check(transport, format!("watch/{namespaced}?x=y"), all),
            check(transport, format!("{namespaced}?watch=true&limit=1"), all),
            check(transport, format!("{namespaced}?watch=true&resourceVersion={then}"), &["ADDED three"]),
            check(transport, format!("{namespaced}?watch=true&labelSelector=app%3Dweb"), &["ADDED one", "ADDED three"]),
            check(transport, format!("{namespaced}?watch=true&fieldSelector=metadata.name%3Dtwo"), &["ADDED two"]),
            check(
                transport,
                "configmaps?watch=true&fieldSelector=metadata.namespace%3Ddefault,metadata.name!%3Done".to_owned(),
                &["ADDED kube-root-ca.crt", "ADDED three", "ADDED two"]
            ),
            check(
                transport,
                format!("{namespaced}?watch=true&allowWatchBookmarks=true&labelSelector=none"),
                &["BOOKMARK "]
            ),
        );
        // Neither of these is a watch, so there is no upgrade.
        for path in [format!("{CONFIG_MAPS}?watch=false"), format!("{CONFIG_MAPS}/one?watch=true")] {
            let (status, answer) = server.get(&path).await;
            assert_eq!((status, answer["metadata"].is_object()), (200, true), "{path}");
            if transport == Transport::WebSocket {
                assert_eq!(
                    open(&server, transport, &path).await.err().map(|refused| refused.status),
                    Some(200),
                    "{path}"
                );
            }
        }
    }
}

/// 17. TestWatchProtocolSelection: a WebSocket is asked for by the header Upgrade.
#[tokio::test]
async fn an_upgrade_is_asked_for_by_its_headers() {
    let server = serve(quiet()).await;
    let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion=0");
    // The client of these tests sends `Connection: keep-alive, Upgrade`, as browsers do.
    let mut socket = watch(&server, Transport::WebSocket, &path).await;
    assert_eq!(socket.summary().await.1, "kube-root-ca.crt");
    let response = within(server.client.get(server.url(&path)).send()).await.unwrap();
    assert_eq!(
        (response.status().as_u16(), &response.headers()["content-type"]),
        (200, &"application/json".parse().unwrap())
    );
    assert_eq!(response.headers()["transfer-encoding"], "chunked");
}

/// 18. x/net/websocket: an upgrade must have an Origin; a plain request need not.
#[tokio::test]
async fn a_missing_or_null_origin_is_403() {
    let server = serve(quiet()).await;
    let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion=0");
    for headers in [&[][..], &[("origin", "null")]] {
        let refused = open_with(&server, Transport::WebSocket, &path, headers).await.err();
        assert_eq!(refused, Some(Refused { status: 403, body: String::new() }), "{headers:?}");
    }
    assert!(open_with(&server, Transport::Http, &path, &[]).await.is_ok());
}

/// 19. x/net/websocket does not check the value of Origin. Here any page from this machine may watch, from any port;
/// pages from elsewhere are refused, which the real server leaves to a proxy.
#[tokio::test]
async fn a_foreign_origin_is_accepted_from_this_machine() {
    let server = serve(quiet()).await;
    let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion=0");
    for transport in BOTH {
        for (origin, status) in [
            ("http://localhost:8001", 200),
            ("https://127.0.0.1", 200),
            ("http://[::1]:3000", 200),
            ("https://evil.example", 403),
            ("http://localhost.evil.example", 403),
        ] {
            let answer = open_with(&server, transport, &path, &[("origin", origin)]).await;
            let found = answer.err().map_or(200, |refused| refused.status);
            assert_eq!(found, status, "{transport:?} {origin}");
        }
    }
}

const TOKEN: &str = "base64url.bearer.authorization.k8s.io.c2VjcmV0";

/// Offers subprotocols; returns the selected one, or the code of the refusal.
async fn offer(server: &Server, offers: &str) -> Result<Option<String>, u16> {
    let headers = format!("Origin: http://localhost\r\nSec-WebSocket-Protocol: {offers}\r\n");
    let path = format!("{CONFIG_MAPS}?watch=true&resourceVersion=0");
    match socket::open_with(server, &path, &headers).await {
        Ok((mut socket, head)) => {
            assert_eq!(socket.summary().await.1, "kube-root-ca.crt");
            let line = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("sec-websocket-protocol: ").map(str::to_owned));
            Ok(line)
        }
        Err(response) => Err(response.split(' ').nth(1).unwrap().parse().unwrap()),
    }
}

/// 20. x/net/websocket's `hybi.go`: with several subprotocols, the selection is not defined.
#[tokio::test]
async fn two_subprotocols_are_400() {
    let server = serve(quiet()).await;
    assert_eq!(offer(&server, "any").await, Ok(Some("any".to_owned())));
    assert_eq!(offer(&server, "one, two").await, Err(400));
    assert_eq!(offer(&server, &format!("{TOKEN}, one, two")).await, Err(400));
}

/// 21. TestBearerToken: a token must come with exactly one other name, which is then selected.
#[tokio::test]
async fn a_token_s_subprotocol_needs_a_companion() {
    let server = serve(quiet()).await;
    assert_eq!(offer(&server, &format!("{TOKEN}, any")).await, Ok(Some("any".to_owned())));
    assert_eq!(offer(&server, &format!("any, {TOKEN}")).await, Ok(Some("any".to_owned())));
    assert_eq!(offer(&server, TOKEN).await, Err(401));
}
