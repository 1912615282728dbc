//! Errors as Kubernetes answers them: a `Status` object with the messages of the real server.

use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use crate::resources::resource::Resource;
use crate::storage::StorageError;

/// A `Status`, of failure or of success.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    kind: &'static str,
    api_version: &'static str,
    metadata: Metadata,
    status: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    message: String,
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<Box<Details>>,
    #[serde(skip_serializing_if = "is_zero")]
    code: u16,
}

#[derive(Debug, Clone, Default, Serialize)]
struct Metadata {
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    continue_token: Option<Box<str>>,
}

#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Details {
    #[serde(skip_serializing_if = "String::is_empty")]
    name: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    group: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    kind: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    uid: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    causes: Vec<Cause>,
    #[serde(skip_serializing_if = "is_zero")]
    retry_after_seconds: u16,
}

#[derive(Debug, Clone, Serialize)]
struct Cause {
    #[serde(skip_serializing_if = "str::is_empty")]
    reason: &'static str,
    message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    field: String,
}

fn is_zero(number: &u16) -> bool {
    *number == 0
}

impl From<StorageError> for Status {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Compacted(_) => Self::list_too_old(),
            StorageError::Future(newest) => Self::too_large(newest.saturating_add(1), newest),
            // The message is etcd's, and the real server gives no reason either.
            StorageError::Unavailable(why) => Self::failure(500, "", why, None),
        }
    }
}

impl Status {
    fn failure(code: u16, reason: &'static str, message: impl Into<String>, details: Option<Details>) -> Self {
        Self {
            kind: "Status",
            api_version: "v1",
            metadata: Metadata::default(),
            status: "Failure",
            message: message.into(),
            reason,
            details: details.map(Box::new),
            code,
        }
    }

    /// 400.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::failure(400, "BadRequest", message, None)
    }

    /// 401.
    pub fn unauthorized() -> Self {
        Self::failure(401, "Unauthorized", "Unauthorized", None)
    }

    /// 403 with the message of the authorizer.
    pub fn forbidden(resource: &Resource, verb: &str, namespace: Option<&str>) -> Self {
        let place = match namespace {
            Some(namespace) => format!("in the namespace \"{namespace}\""),
            None => "at the cluster scope".to_owned(),
        };
        let message = format!(
            "{} is forbidden: User \"demo\" cannot {verb} resource \"{}\" in API group \"{}\" {place}",
            resource.qualified(),
            resource.plural,
            resource.group()
        );
        Self::failure(403, "Forbidden", message, Some(Details::of(resource, "")))
    }

    /// 403 for the log of a Pod.
    pub fn forbidden_log(name: &str, namespace: &str) -> Self {
        let message = format!(
            "pods \"{name}\" is forbidden: User \"demo\" cannot get resource \"pods/log\" in API group \"\" in the namespace \
             \"{namespace}\""
        );
        let details = Details { name: name.to_owned(), kind: "pods".to_owned(), ..Details::default() };
        Self::failure(403, "Forbidden", message, Some(details))
    }

    /// 422 for an option of a log with this value.
    pub fn invalid_log_options(field: &'static str, value: i64, why: &str) -> Self {
        Self::log_options("FieldValueInvalid", field, format!("Invalid value: {value}: {why}"))
    }

    /// 422 for options of a log that exclude each other.
    pub fn forbidden_log_options(why: &str) -> Self {
        Self::log_options("FieldValueForbidden", "", format!("Forbidden: {why}"))
    }

    fn log_options(reason: &'static str, field: &'static str, why: String) -> Self {
        let message = format!("PodLogOptions \"\" is invalid: {field}: {why}");
        let causes = vec![Cause { reason, message: why, field: field.to_owned() }];
        let details = Details { kind: "PodLogOptions".to_owned(), causes, ..Details::default() };
        Self::failure(422, "Invalid", message, Some(details))
    }

    /// 403 for a request that does not come from a page or program of this machine.
    pub fn not_local(header: &str, value: &str) -> Self {
        let message = format!("forbidden: this server answers the loopback interface only, and {header} is {value:?}");
        Self::failure(403, "Forbidden", message, None)
    }

    /// 404 for a path that names no resource.
    pub fn no_such_resource() -> Self {
        let message = "the server could not find the requested resource";
        Self::failure(404, "NotFound", message, Some(Details::default()))
    }

    /// 404 for an object.
    pub fn not_found(resource: &Resource, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", resource.qualified());
        Self::failure(404, "NotFound", message, Some(Details::of(resource, name)))
    }

    /// Whether the code is 410.
    pub fn is_expired(&self) -> bool {
        self.code == 410
    }

    /// 429 of a cache that has not been ready for `downtime`. The longer that is, the longer the client is asked to
    /// wait: from 1 to 30 s (`calculateRetryAfterForUnreadyCache`).
    pub fn not_ready(resource: &Resource, downtime: Duration) -> Self {
        let message = format!("storage is (re)initializing for {}", resource.qualified());
        let seconds = (0.06 * downtime.as_secs_f64()).powi(2).clamp(1.0, 30.0);
        let details = Details { retry_after_seconds: seconds as u16, ..Details::of(resource, "") };
        Self::failure(429, "TooManyRequests", message, Some(details))
    }

    /// 405.
    pub fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::failure(405, "MethodNotAllowed", message, Some(Details::default()))
    }

    /// 405 for a watch of a resource that can only be listed.
    pub fn not_watchable(resource: &Resource) -> Self {
        let message = format!("watch is not supported on resources of kind {:?}", resource.qualified());
        Self::failure(405, "MethodNotAllowed", message, Some(Details::of(resource, "")))
    }

    /// 405 for a creation while the definition is being deleted.
    pub fn definition_terminating() -> Self {
        let message = "create not allowed while custom resource definition is terminating";
        Self::failure(405, "MethodNotAllowed", message, Some(Details::default()))
    }

    /// 406.
    pub fn not_acceptable() -> Self {
        let message = "only the following media types are accepted: application/json";
        Self::failure(406, "NotAcceptable", message, None)
    }

    /// 409 for a name that exists.
    pub fn already_exists(resource: &Resource, name: &str) -> Self {
        let message = format!("{} \"{name}\" already exists", resource.qualified());
        Self::failure(409, "AlreadyExists", message, Some(Details::of(resource, name)))
    }

    /// 409 for a precondition of a deletion that does not hold.
    pub fn precondition(resource: &Resource, name: &str, what: &str, asked: &str, found: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} \"{name}\": the {what} in the precondition ({asked}) does not match \
             the {what} in record ({found}). The object might have been deleted and then recreated",
            resource.qualified()
        );
        Self::failure(409, "Conflict", message, Some(Details::of(resource, name)))
    }

    /// 409 with its own message, about a subresource such as `pods/binding`.
    pub fn conflict_of(resource: &Resource, part: &str, name: &str, why: &str) -> Self {
        let message = format!("Operation cannot be fulfilled on {}/{part} \"{name}\": {why}", resource.plural);
        let details = Details { kind: format!("{}/{part}", resource.plural), ..Details::of(resource, name) };
        Self::failure(409, "Conflict", message, Some(details))
    }

    /// 201 for a creation without an object of its own.
    pub fn created() -> Self {
        let mut status = Self::failure(201, "", "", None);
        status.status = "Success";
        status
    }

    /// 403 for a creation in a namespace that is being deleted.
    pub fn namespace_terminating(resource: &Resource, name: &str, namespace: &str) -> Self {
        let message = format!(
            "{} \"{name}\" is forbidden: unable to create new content in namespace {namespace} because it is being \
             terminated",
            resource.qualified()
        );
        Self::failure(403, "Forbidden", message, Some(Details::of(resource, name)))
    }

    /// 403 for an object that an admission plugin refuses.
    pub fn refused(resource: &Resource, name: &str, why: &str) -> Self {
        let message = format!("{} \"{name}\" is forbidden: {why}", resource.qualified());
        Self::failure(403, "Forbidden", message, Some(Details::of(resource, name)))
    }

    /// 500 for something that is asked before an object is stored, and cannot be.
    pub fn webhook_failed(webhook: &str, why: &str) -> Self {
        let why = format!("failed calling webhook \"{webhook}\": failed to call webhook: {why}");
        let cause = Cause { reason: "", message: why.clone(), field: String::new() };
        let details = Details { causes: vec![cause], ..Details::default() };
        Self::failure(500, "InternalError", format!("Internal error occurred: {why}"), Some(details))
    }

    /// 403 for the deletion of a Namespace that must not be deleted.
    pub fn immortal_namespace(name: &str) -> Self {
        let message = format!("namespaces \"{name}\" is forbidden: this namespace may not be deleted");
        Self::failure(403, "Forbidden", message, Some(Details::of(&crate::resources::builtin::NAMESPACES, name)))
    }

    /// 422 for a patch that cannot be applied.
    pub fn patch_failed(why: &str) -> Self {
        let message = format!("the server rejected our request due to an error in our request: {why}");
        Self::failure(422, "Invalid", message, Some(Details::default()))
    }

    /// 409 for a write that is based on an old version.
    pub fn conflict(resource: &Resource, name: &str) -> Self {
        let message = format!(
            "Operation cannot be fulfilled on {} \"{name}\": the object has been modified; \
             please apply your changes to the latest version and try again",
            resource.qualified()
        );
        Self::failure(409, "Conflict", message, Some(Details::of(resource, name)))
    }

    /// 410 for a watch that starts before the oldest event that is kept.
    pub fn too_old(asked: u64, oldest: u64) -> Self {
        Self::failure(410, "Expired", format!("too old resource version: {asked} ({oldest})"), None)
    }

    /// 410 for a list at a revision that is compacted.
    pub fn list_too_old() -> Self {
        Self::failure(410, "Expired", "The resourceVersion for the provided list is too old.", None)
    }

    /// 410 for a page whose revision is compacted; `token` continues at the newest revision instead.
    pub fn continue_too_old(token: String) -> Self {
        let message = "The provided continue parameter is too old to display a consistent list result. You can start \
                       a new list without the continue parameter, or use the continue token in this response to \
                       retrieve the remainder of the results. Continuing with the provided token results in an \
                       inconsistent list - objects that were created, modified, or deleted between the time the \
                       first chunk was returned and now may show up in the list.";
        let mut status = Self::failure(410, "Expired", message, None);
        status.metadata.continue_token = Some(token.into());
        status
    }

    /// 413.
    pub fn body_too_large() -> Self {
        Self::failure(413, "RequestEntityTooLarge", "Request entity too large: limit is 3145728", None)
    }

    /// 415.
    pub fn unsupported_media_type(accepted: &str) -> Self {
        let message =
            format!("the body of the request was in an unknown format - accepted media types include: {accepted}");
        Self::failure(415, "UnsupportedMediaType", message, None)
    }

    /// 422 for options that cannot be combined.
    pub fn invalid_options(field: &str, why: &str) -> Self {
        let reason = if why.starts_with("Unsupported") { "FieldValueNotSupported" } else { "FieldValueForbidden" };
        let details = Details {
            group: "meta.k8s.io".to_owned(),
            kind: "ListOptions".to_owned(),
            causes: vec![Cause { reason, message: why.to_owned(), field: field.to_owned() }],
            ..Details::default()
        };
        let message = format!("ListOptions.meta.k8s.io \"\" is invalid: {field}: {why}");
        Self::failure(422, "Invalid", message, Some(details))
    }

    /// 422 for an object with an invalid field.
    pub fn invalid_object(resource: &Resource, name: &str, field: &str, why: &str) -> Self {
        let mut details = Details { kind: resource.kind.to_string(), ..Details::of(resource, name) };
        details.causes = vec![Cause { reason: "FieldValueInvalid", message: why.to_owned(), field: field.to_owned() }];
        let group = if resource.group().is_empty() { String::new() } else { format!(".{}", resource.group()) };
        let message = format!("{}{group} \"{name}\" is invalid: {field}: {why}", resource.kind);
        Self::failure(422, "Invalid", message, Some(details))
    }

    /// 500 for a resourceVersion that is not a number. The real server gives no reason either.
    pub fn malformed_version(text: &str) -> Self {
        let message =
            format!("resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax");
        Self::failure(500, "", message, None)
    }

    /// 504 for a resourceVersion that the server has not reached after its wait of 3 s.
    pub fn too_large(asked: u64, current: u64) -> Self {
        let details = Details {
            causes: vec![Cause {
                reason: "ResourceVersionTooLarge",
                message: "Too large resource version".to_owned(),
                field: String::new(),
            }],
            retry_after_seconds: 1,
            ..Details::default()
        };
        let message = format!("Timeout: Too large resource version: {asked}, current: {current}");
        Self::failure(504, "Timeout", message, Some(details))
    }

    /// A `Status` with any code, without a cause in the request, with the reason and the message of the real server
    /// where it has them. `retry_after` is in seconds.
    pub fn of_code(code: u16, retry_after: Option<u16>) -> Self {
        let (reason, message) = match code {
            400 => ("BadRequest", "the server rejected our request for an unknown reason"),
            401 => ("Unauthorized", "Unauthorized"),
            403 => ("Forbidden", "the server does not allow this"),
            404 => ("NotFound", "the server could not find the requested resource"),
            409 => ("Conflict", "the server reported a conflict"),
            410 => ("Expired", "The resourceVersion for the provided list is too old."),
            429 => ("TooManyRequests", "Too many requests, please try again later."),
            500 => ("InternalError", "Internal error occurred: a fault was asked for"),
            503 => ("ServiceUnavailable", "the server is currently unable to handle the request"),
            504 => ("Timeout", "the server was unable to return a response in the time allotted"),
            _ => ("", "a fault was asked for"),
        };
        let retry_after_seconds = retry_after.unwrap_or_default();
        Self::failure(code, reason, message, Some(Details { retry_after_seconds, ..Details::default() }))
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    /// The answer to a deletion that is complete.
    pub fn deleted(resource: &Resource, name: &str, uid: &str) -> Self {
        let mut status = Self::failure(0, "", "", Some(Details { uid: uid.to_owned(), ..Details::of(resource, name) }));
        status.status = "Success";
        status
    }

    /// Whether the reason is that an object does not exist.
    pub fn is_not_found(&self) -> bool {
        self.code == 404
    }

    /// The JSON, without a newline.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a Status is strings and numbers, which always serialise")
    }
}

impl Details {
    fn of(resource: &Resource, name: &str) -> Self {
        let (group, kind) = (resource.group().to_owned(), resource.plural.to_string());
        Self { name: name.to_owned(), group, kind, ..Self::default() }
    }
}

impl IntoResponse for Status {
    fn into_response(self) -> Response {
        let code = if self.code == 0 { StatusCode::OK } else { StatusCode::from_u16(self.code).unwrap_or_default() };
        let mut response = (code, self.to_json() + "\n").into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.details.map(|details| details.retry_after_seconds).filter(|seconds| *seconds > 0) {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}
