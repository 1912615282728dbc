//! The audit log: a file with lines of JSON, as kube-apiserver writes them at the level `RequestResponse`. It has every request
//! that may write, with its user, agent and address. What is written past the API, as the load of a storm, has no line.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use axum::body::{Body, Bytes, to_bytes};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, header};
use axum::response::Response;
use kubechurn_client::record::time::Time;
use serde_json::{Value, json};

use crate::client::internal::Internal;
use crate::client::rest::ADMINISTRATOR;
use crate::clock;
use crate::random;
use crate::request::body;
use crate::request::target::{Part, Target};
use crate::resources::registry::Registry;

/// The largest body that is kept in a line. The server refuses requests of a quarter of it.
const LARGEST: usize = 64 << 20;
/// The people among the users, who have addresses of their own.
const PEOPLE: [&str; 3] = ["alice", "bob", "carol"];

/// Where lines are written, if they are.
#[derive(Debug, Default)]
pub struct AuditLog(Option<Mutex<Lines>>);

#[derive(Debug)]
struct Lines {
    file: File,
    count: u64,
}

/// A request whose answer is awaited.
#[derive(Debug)]
pub struct Pending {
    line: Value,
    received: Time,
}

impl AuditLog {
    /// Creates or empties a file.
    ///
    /// # Errors
    /// When the file cannot be created.
    pub fn create(path: &Path) -> std::io::Result<Self> {
        Ok(Self(Some(Mutex::new(Lines { file: File::create(path)?, count: 0 }))))
    }

    /// Writes that a request came; `None` if its end is not to be written. The body is read, and returned.
    pub async fn begin(&self, registry: &Registry, parts: &Parts, body: Body) -> (Option<Pending>, Body) {
        let Some(lines) = &self.0 else { return (None, body) };
        let Some(target) = Target::parse(registry, parts.uri.path()) else { return (None, body) };
        let Some(verb) = verb(&parts.method, &target) else { return (None, body) };
        let received = clock::time();
        // What is larger is refused for that.
        let Ok(bytes) = to_bytes(body, LARGEST).await else { return (None, Body::empty()) };
        let id = {
            let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
            lines.count += 1;
            random::uid(received.0 as u64, "audit", lines.count)
        };
        let line = line(&id, verb, &target, parts, asked(&bytes), received);
        self.write(&line, "RequestReceived", received);
        (Some(Pending { line, received }), Body::from(bytes))
    }

    /// Writes what a request was answered, and returns that answer.
    pub async fn end(&self, pending: Option<Pending>, response: Response) -> Response {
        let Some(Pending { mut line, received }) = pending else { return response };
        let (parts, body) = response.into_parts();
        let Ok(bytes) = to_bytes(body, LARGEST).await else { return Response::from_parts(parts, Body::empty()) };
        line["responseStatus"] = json!({"metadata": {}, "code": parts.status.as_u16()});
        if let Ok(answer) = serde_json::from_slice(&bytes) {
            line["responseObject"] = answer;
        }
        line["annotations"] = json!({"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""});
        self.write(&line, "ResponseComplete", clock::time().max(received));
        Response::from_parts(parts, Body::from(bytes))
    }

    fn write(&self, line: &Value, stage: &str, at: Time) {
        let Some(lines) = &self.0 else { return };
        let mut line = line.clone();
        line["stage"] = stage.into();
        line["stageTimestamp"] = clock::micro_time(at).into();
        if stage == "RequestReceived"
            && let Some(members) = line.as_object_mut()
        {
            members.remove("requestObject");
        }
        let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
        if let Err(error) = lines.file.write_all(format!("{line}\n").as_bytes()) {
            eprintln!("cluster: the audit log cannot be written: {error}");
        }
    }
}

fn asked(bytes: &Bytes) -> Value {
    if bytes.trim_ascii().is_empty() { Value::Null } else { body::parse(bytes).unwrap_or_default() }
}

/// The verb of a request that may write.
fn verb(method: &Method, target: &Target) -> Option<&'static str> {
    Some(match (method, &target.name) {
        (&Method::POST, _) => "create",
        (&Method::PUT, _) => "update",
        (&Method::PATCH, _) => "patch",
        (&Method::DELETE, Some(_)) => "delete",
        (&Method::DELETE, None) => "deletecollection",
        _ => return None,
    })
}

fn line(id: &str, verb: &str, target: &Target, parts: &Parts, asked: Value, received: Time) -> Value {
    let resource = &target.resource;
    let mut of = json!({"resource": resource.plural, "apiVersion": resource.version()});
    let metadata = |name: &str| {
        if asked["kind"] == "DeleteOptions" { "" } else { asked["metadata"][name].as_str().unwrap_or_default() }
    };
    // As `LogRequestObject` of the real server completes it.
    let named = |own: Option<&str>, name: &str| {
        own.unwrap_or_else(|| if verb == "patch" { "" } else { metadata(name) }).to_owned()
    };
    let subresource = match target.part {
        Part::Whole => "",
        Part::Status => "status",
        Part::Scale => "scale",
        Part::Finalize => "finalize",
        Part::Binding => "binding",
        Part::Eviction => "eviction",
        Part::Log => "log",
    };
    for (name, value) in [
        ("apiGroup", resource.group().to_owned()),
        ("namespace", named(target.namespace.as_deref(), "namespace")),
        ("name", named(target.name.as_deref(), "name")),
        ("uid", named(None, "uid")),
        ("resourceVersion", named(None, "resourceVersion")),
        ("subresource", subresource.to_owned()),
    ] {
        if !value.is_empty() {
            of[name] = value.into();
        }
    }
    let (user, impersonated) = user(parts);
    let mut line = json!({
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "RequestResponse",
        "auditID": id,
        "requestURI": parts.uri.path_and_query().map(|uri| uri.as_str()),
        "verb": verb,
        "user": {"username": user, "groups": ["system:authenticated"]},
        "sourceIPs": [address(&user, parts)],
        "userAgent": header(&parts.headers, header::USER_AGENT.as_str()),
        "objectRef": of,
        "requestReceivedTimestamp": clock::micro_time(received),
    });
    if !impersonated.is_empty() {
        line["impersonatedUser"] = json!({"username": impersonated, "groups": ["system:authenticated"]});
    }
    if !asked.is_null() {
        line["requestObject"] = asked;
    }
    line
}

/// Whose request it is, and as whom it is made.
fn user(parts: &Parts) -> (String, String) {
    match parts.extensions.get::<Internal>() {
        Some(internal) => (internal.user.to_string(), internal.impersonated.to_string()),
        None => (ADMINISTRATOR.to_owned(), header(&parts.headers, "impersonate-user").to_owned()),
    }
}

fn header<'a>(headers: &'a HeaderMap, name: &str) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

/// From where a user makes requests: people from desks, kubelets from their nodes, and the rest from the control plane.
fn address(user: &str, parts: &Parts) -> String {
    if parts.extensions.get::<Internal>().is_none() {
        return "127.0.0.1".to_owned();
    }
    let person = PEOPLE.iter().position(|person| *person == user);
    match (person, user.strip_prefix("system:node:")) {
        (Some(at), _) => format!("192.0.2.{}", 11 + at),
        (None, Some(node)) => {
            let number: u32 = node.bytes().fold(0, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
            format!("10.0.{}.{}", 1 + number / 250 % 250, 1 + number % 250)
        }
        (None, None) => "10.0.0.2".to_owned(),
    }
}
