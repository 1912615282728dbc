//! The control endpoints, `/_control/…`: how a test turns faults on and asks what was written. See `main.rs`.

use std::sync::Arc;

use axum::body::Body;
use axum::http::Method;
use axum::http::request::Parts;
use axum::response::Response;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::args::parse_rate;
use super::body;
use super::list::json_response;
use super::resource::Resource;
use super::scenario::Order;
use super::server::App;
use super::status::Status;
use super::write;

/// Answers one control request.
pub async fn handle(app: &App, order: &str, parts: &Parts, body: Body) -> Result<Response, Status> {
    let (method, query) = (&parts.method, parts.uri.query().unwrap_or_default());
    let parameter = |name: &str| {
        let mut all = form_urlencoded::parse(query.as_bytes());
        all.find(|(key, _)| key == name).map(|(_, value)| value.into_owned())
    };
    match (method, order) {
        (&Method::GET, "log") => {
            let resource = parameter("resource").map(|name| resource_of(app, &name)).transpose()?;
            let log = serde_json::to_string(&app.storage.log(resource.as_deref()));
            let log = log.map_err(|error| Status::bad_request(error.to_string()))?;
            Ok(json_response(Body::from(log + "\n")))
        }
        (&Method::POST, "rate") => {
            let rate = parameter("value").as_deref().and_then(parse_rate);
            let rate = rate.ok_or_else(|| Status::bad_request("value must be a number from 0 to 100000"))?;
            let (done, answer) = oneshot::channel();
            if app.scenario.send(Order::Rate { rate, done }).await.is_ok() {
                // The answer comes after the scenario's last write at the old rate.
                let _ = answer.await;
            }
            Ok(reply(json!({"rate": rate, "revision": app.storage.revision()})))
        }
        (&Method::POST, "compact") => Ok(reply(json!({"revision": app.storage.compact()}))),
        (&Method::POST, "forbid" | "allow") => {
            let verb = parameter("verb").filter(|verb| ["get", "list", "watch"].contains(&verb.as_str()));
            let verb = verb.ok_or_else(|| Status::bad_request("verb must be get, list or watch"))?;
            let resource = resource_of(app, &parameter("resource").unwrap_or_default())?;
            if order == "forbid" {
                app.faults.forbid(&verb, &resource)
            } else {
                app.faults.allow(&verb, &resource)
            }
            Ok(reply(json!({"verb": verb, "resource": resource.plural, "forbidden": order == "forbid"})))
        }
        (&Method::POST, "cut") => {
            match parameter("resource") {
                Some(name) => app.faults.cut(&*resource_of(app, &name)?),
                None => app.faults.cut_all(),
            }
            Ok(reply(json!({"revision": app.storage.revision()})))
        }
        (&Method::POST, "stall") => {
            let on = match parameter("on").as_deref() {
                Some("true") => true,
                Some("false") => false,
                _ => return Err(Status::bad_request("on must be true or false")),
            };
            app.faults.stall(on);
            Ok(reply(json!({"stalled": on})))
        }
        (&Method::POST, "backlog") => {
            let events = parameter("events").and_then(|text| text.parse().ok());
            let events = events.ok_or_else(|| Status::bad_request("events must be a number"))?;
            app.faults.set_backlog(events);
            Ok(reply(json!({"backlog": events})))
        }
        (&Method::POST, "put") => write::put_raw(app, &body::read(&parts.headers, body, body::OBJECT).await?),
        (_, "log" | "rate" | "compact" | "forbid" | "allow" | "cut" | "stall" | "backlog" | "put") => {
            Err(Status::method_not_allowed())
        }
        _ => Err(Status::no_such_resource()),
    }
}

fn resource_of(app: &App, name: &str) -> Result<Arc<Resource>, Status> {
    app.registry.by_name(name).ok_or_else(|| Status::bad_request(format!("no resource is called {name:?}")))
}

fn reply(value: Value) -> Response {
    json_response(Body::from(format!("{value}\n")))
}
