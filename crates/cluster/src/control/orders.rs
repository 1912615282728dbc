//! The control endpoints for faults in the syntax of [`grammar`], for restarts, and for the ledger.

use axum::body::Body;
use axum::http::Method;
use axum::response::Response;
use serde_json::{Value, json};

use crate::api::Api;
use crate::faults::grammar;
use crate::faults::rule::Rule;
use crate::printers::response::json_response;
use crate::status::Status;

/// The names of the endpoints that are handled here.
pub const WORDS: [&str; 6] = ["fault", "faults", "clear", "restart", "frames", "connections"];

/// Handles a request for one of [`WORDS`].
pub async fn handle(api: &Api, method: &Method, order: &str, query: &str) -> Result<Response, Status> {
    let pairs = || form_urlencoded::parse(query.as_bytes()).into_owned();
    let parameter = |name: &str| pairs().find(|(key, _)| key == name).map(|(_, value)| value);
    let number = |name: &str| -> Result<Option<u64>, Status> {
        let wrong = |_| Status::bad_request(format!("{name} must be a whole number"));
        parameter(name).map(|text| text.parse().map_err(wrong)).transpose()
    };
    match (method, order) {
        (&Method::POST, "fault") => {
            let is_resource = |name: &str| api.registry.by_name(name).is_some();
            let spec = grammar::parse(pairs(), &is_resource).map_err(|error| Status::bad_request(error.to_string()))?;
            reply(&describe(&api.faults.add(spec)))
        }
        (&Method::GET, "faults") => {
            let rules: Vec<Value> = api.faults.rules().all().iter().map(|rule| describe(rule)).collect();
            reply(&json!({"rules": rules, "orders": api.faults.rules().orders()}))
        }
        (&Method::DELETE, "faults") | (&Method::POST, "clear") => {
            reply(&json!({"cleared": api.faults.clear(number("id")?)}))
        }
        (&Method::POST, "restart") => {
            let revision = number("revision")?.filter(|revision| (1..=u64::MAX / 2).contains(revision));
            let revision = revision.ok_or_else(|| Status::bad_request("revision must be a whole number from 1"))?;
            reply(&json!({"revision": restart(api, revision)?}))
        }
        (&Method::GET, "frames" | "connections") => {
            let resource = match parameter("resource") {
                Some(name) => match api.registry.by_name(&name) {
                    Some(resource) => Some(resource.qualified()),
                    None => return Err(Status::bad_request(format!("no resource is called {name:?}"))),
                },
                None => None,
            };
            let (connection, resource) = (number("connection")?, resource.as_deref());
            match order {
                "frames" => reply(&api.ledger.frames(connection, resource)),
                _ => reply(&api.ledger.connections(connection, resource)),
            }
        }
        _ => Err(Status::method_not_allowed()),
    }
}

/// Lets the whole server begin anew at lower revisions: connections drop and caches are emptied; the objects stay.
fn restart(api: &Api, revision: u64) -> Result<u64, Status> {
    let storage = api.faults.restartable().ok_or_else(|| Status::bad_request("only memory can begin anew"))?;
    let all = api.registry.all();
    api.faults.rules().count("restart");
    api.faults.switches().cut_all();
    // The cut notifies the watches before they find their cache closed.
    all.iter().for_each(|resource| api.store.close(resource.id));
    let newest = storage.restart(revision)?;
    for resource in &all {
        // A request may have started a new cache meanwhile, from the storage as it was.
        api.store.close(resource.id);
        api.store.cacher(resource);
    }
    Ok(newest)
}

fn describe(rule: &Rule) -> Value {
    let (matched, struck) = rule.tally();
    json!({"id": rule.id, "fault": rule.spec.text, "matched": matched, "struck": struck, "over": rule.is_over()})
}

fn reply(value: &impl serde::Serialize) -> Result<Response, Status> {
    let text = serde_json::to_string(value).map_err(|error| Status::bad_request(error.to_string()))?;
    Ok(json_response(Body::from(text + "\n")))
}
