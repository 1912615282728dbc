//! The control endpoints, `/_control/…`: how a test turns faults on and asks what was written. `lib.rs` lists them.

pub mod orders;

use std::sync::Arc;

use axum::body::Body;
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::Response;
use serde_json::{Value, json};

use crate::api::Api;
use crate::controllers::failed_nodes::FailedNodes;
use crate::printers::response::json_response;
use crate::request::body;
use crate::resources::resource::Resource;
use crate::scenario::runner::Runner;
use crate::scenario::{Scenario, parse_rate};
use crate::status::Status;
use crate::write;

/// The parts of the cluster that only the control endpoints steer.
#[derive(Debug)]
pub struct Control {
    /// The nodes that are made to fail.
    pub failed_nodes: FailedNodes,
    /// Chooses the scenarios that run.
    pub runner: Runner,
}

/// Answers one control request.
pub async fn handle(api: &Api, control: &Control, order: &str, parts: &Parts, body: Body) -> Result<Response, Status> {
    let (method, query) = (&parts.method, parts.uri.query().unwrap_or_default());
    let parameter = |name: &str| {
        let mut all = form_urlencoded::parse(query.as_bytes());
        all.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    };
    match (method, order) {
        (_, order) if orders::WORDS.contains(&order) => orders::handle(api, method, order, query).await,
        (&Method::GET, "log") => {
            let resource = parameter("resource").map(|name| resource_of(api, &name)).transpose()?;
            let log = serde_json::to_string(&api.ledger.writes(resource.as_deref(), api.store.revision()).await);
            let log = log.map_err(|error| Status::bad_request(error.to_string()))?;
            Ok(json_response(Body::from(log + "\n")))
        }
        (&Method::POST, "rate") => {
            let rate = parameter("value").as_deref().and_then(parse_rate);
            let rate = rate.ok_or_else(|| Status::bad_request("value must be a number from 0 to 100000"))?;
            control.runner.rate(rate).await;
            Ok(reply(json!({"rate": rate, "revision": api.store.revision()})))
        }
        (&Method::GET, "scenario") => Ok(reply(json!({"playing": control.runner.playing()}))),
        (&Method::POST, "scenario") => {
            let scenario = parameter("name").and_then(|name| Scenario::named(&name)).filter(|one| !one.is_load());
            let scenario = scenario.ok_or_else(|| Status::bad_request("name must be a scenario that users play"))?;
            match parameter("on").as_deref() {
                Some("true") if control.runner.start(scenario) => {}
                Some("true") => return Err(Status::bad_request("this cluster has no users")),
                Some("false") => drop(control.runner.end(scenario)),
                _ => return Err(Status::bad_request("on must be true or false")),
            }
            Ok(reply(json!({"playing": control.runner.playing()})))
        }
        (&Method::POST, "compact") => {
            api.faults.rules().count("compact");
            Ok(reply(json!({"revision": api.store.compact().await?})))
        }
        (&Method::POST, "forbid" | "allow") if parameter("resource").as_deref() == Some("pods/log") => {
            api.faults.forbid_logs(order == "forbid");
            Ok(reply(json!({"verb": "get", "resource": "pods/log", "forbidden": order == "forbid"})))
        }
        (&Method::POST, "forbid" | "allow") => {
            let verb = parameter("verb").filter(|verb| ["get", "list", "watch"].contains(&verb.as_str()));
            let verb = verb.ok_or_else(|| Status::bad_request("verb must be get, list or watch"))?;
            let resource = resource_of(api, &parameter("resource").unwrap_or_default())?;
            if order == "forbid" {
                api.faults.forbid(&verb, &resource)
            } else {
                api.faults.allow(&verb, &resource)
            }
            Ok(reply(json!({"verb": verb, "resource": resource.plural, "forbidden": order == "forbid"})))
        }
        (&Method::POST, "cut") => {
            match parameter("resource") {
                Some(name) => api.faults.switches().cut(&*resource_of(api, &name)?),
                None => api.faults.switches().cut_all(),
            }
            Ok(reply(json!({"revision": api.store.revision()})))
        }
        (&Method::POST, "stall" | "watchlist") => {
            let on = match parameter("on").as_deref() {
                Some("true") => true,
                Some("false") => false,
                _ => return Err(Status::bad_request("on must be true or false")),
            };
            if order == "watchlist" {
                api.faults.set_watch_list(on);
                return Ok(reply(json!({"watchlist": on})));
            }
            if on {
                api.faults.rules().count("stall");
            }
            api.faults.switches().stall(on);
            Ok(reply(json!({"stalled": on})))
        }
        (&Method::POST, "node") => {
            let name = parameter("name").filter(|name| !name.is_empty());
            let name = name.ok_or_else(|| Status::bad_request("name must be a node's name"))?;
            match parameter("down").as_deref() {
                Some("true") => control.failed_nodes.fail(&name),
                Some("false") => control.failed_nodes.recover(&name),
                _ => return Err(Status::bad_request("down must be true or false")),
            }
            Ok(reply(json!({"name": name, "down": control.failed_nodes.is_down(&name)})))
        }
        (&Method::GET, "watches") => {
            let resource = resource_of(api, &parameter("resource").unwrap_or_default())?;
            Ok(reply(json!({"resource": resource.plural, "watches": api.faults.switches().watches(&resource)})))
        }
        (&Method::POST, "put") => write::put_raw(api, &body::read(&parts.headers, body, body::OBJECT).await?).await,
        (
            _,
            "log" | "rate" | "scenario" | "compact" | "forbid" | "allow" | "cut" | "stall" | "watchlist" | "watches"
            | "node" | "put",
        ) => Err(Status::method_not_allowed()),
        _ => Err(Status::no_such_resource()),
    }
}

fn resource_of(api: &Api, name: &str) -> Result<Arc<Resource>, Status> {
    api.registry.by_name(name).ok_or_else(|| Status::bad_request(format!("no resource is called {name:?}")))
}

fn reply(value: Value) -> Response {
    json_response(Body::from(format!("{value}\n")))
}
