//! What a request's headers say of a WebSocket.

use axum::http::{HeaderMap, header};

use crate::status::Status;

/// Whether the client asks for a WebSocket.
pub fn is_upgrade(headers: &HeaderMap) -> bool {
    headers.get(header::UPGRADE).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

/// Whether it says which page it comes from; an opaque origin says nothing.
pub fn has_origin(headers: &HeaderMap) -> bool {
    headers.get(header::ORIGIN).is_some_and(|origin| !origin.is_empty() && origin != "null")
}

/// The subprotocols to choose from. One is echoed, whatever its name; two are one too many. A bearer token is taken out
/// first, and needs a companion: the server must select what the client offered, and it will not repeat a secret.
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
