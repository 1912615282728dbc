//! The headers of a request that concern WebSockets.

use axum::http::{HeaderMap, header};

use crate::status::Status;

/// Whether the client asks for a WebSocket.
pub fn is_upgrade(headers: &HeaderMap) -> bool {
    headers.get(header::UPGRADE).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

/// Whether the client names its origin; the opaque origin `null` does not count.
pub fn has_origin(headers: &HeaderMap) -> bool {
    headers.get(header::ORIGIN).is_some_and(|origin| !origin.is_empty() && origin != "null")
}

/// The subprotocols that the client offers. A single one is accepted, whatever its name; more than one is refused. A
/// bearer token is removed first and must be accompanied by another name, because the server has to select one of the
/// offers, and must not repeat a secret.
pub fn offered_protocols(headers: &HeaderMap) -> Result<Vec<String>, Status> {
    let offers = headers.get_all(header::SEC_WEBSOCKET_PROTOCOL).iter().filter_map(|value| value.to_str().ok());
    let offers = offers.flat_map(|value| value.split(',')).map(|name| name.trim().to_owned());
    let (tokens, names): (Vec<String>, Vec<String>) =
        offers.partition(|name| name.starts_with("base64url.bearer.authorization.k8s.io."));
    match names.len() {
        0 if !tokens.is_empty() => Err(Status::unauthorized()),
        0 | 1 => Ok(names),
        _ => Err(Status::bad_request("more than one subprotocol is offered")),
    }
}
