//! Errors as Kubernetes answers them: a `Status` object whose words are the real server's.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;

use super::resource::Resource;

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
    reason: &'static str,
    message: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    field: String,
}

fn is_zero(number: &u16) -> bool {
    *number == 0
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

    /// 403 in the words of the authorizer.
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

    /// 403 for a request that does not come from this machine's own pages and programs.
    pub fn not_local(header: &str, value: &str) -> Self {
        let message = format!("forbidden: this server answers the loopback interface only, and {header} is {value:?}");
        Self::failure(403, "Forbidden", message, None)
    }

    /// 404 for a path that is no resource.
    pub fn no_such_resource() -> Self {
        let message = "the server could not find the requested resource";
        Self::failure(404, "NotFound", message, Some(Details::default()))
    }

    /// 404 for an object.
    pub fn not_found(resource: &Resource, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", resource.qualified());
        Self::failure(404, "NotFound", message, Some(Details::of(resource, name)))
    }

    /// 405.
    pub fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        Self::failure(405, "MethodNotAllowed", message, Some(Details::default()))
    }

    /// 406.
    pub fn not_acceptable() -> Self {
        let message = "only the following media types are accepted: application/json";
        Self::failure(406, "NotAcceptable", message, None)
    }

    /// 409 for a name that is taken.
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

    /// 403 for a creation in a namespace that is on its way out.
    pub fn namespace_terminating(resource: &Resource, name: &str, namespace: &str) -> Self {
        let message = format!(
            "{} \"{name}\" is forbidden: unable to create new content in namespace {namespace} because it is being \
             terminated",
            resource.qualified()
        );
        Self::failure(403, "Forbidden", message, Some(Details::of(resource, name)))
    }

    /// 403 for the deletion of a Namespace that has to stay.
    pub fn immortal_namespace(name: &str) -> Self {
        let message = format!("namespaces \"{name}\" is forbidden: this namespace may not be deleted");
        Self::failure(403, "Forbidden", message, Some(Details::of(&super::builtin::NAMESPACES, name)))
    }

    /// 422 for a patch that cannot be applied.
    pub fn patch_failed(why: &str) -> Self {
        let message = format!("the server rejected our request due to an error in our request: {why}");
        Self::failure(422, "Invalid", message, Some(Details::default()))
    }

    /// 409 for a write from an old version.
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

    /// 422 for options that do not go together.
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

    /// 422 for an object whose field is wrong.
    pub fn invalid_object(resource: &Resource, name: &str, field: &str, why: &str) -> Self {
        let mut details = Details { kind: resource.kind.to_string(), ..Details::of(resource, name) };
        details.causes = vec![Cause { reason: "FieldValueInvalid", message: why.to_owned(), field: field.to_owned() }];
        let group = if resource.group().is_empty() { String::new() } else { format!(".{}", resource.group()) };
        let message = format!("{}{group} \"{name}\" is invalid: {field}: {why}", resource.kind);
        Self::failure(422, "Invalid", message, Some(details))
    }

    /// 500 for a resourceVersion that is no number. The real server, too, gives it no reason.
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

    /// The answer to a deletion.
    pub fn deleted(resource: &Resource, name: &str, uid: &str) -> Self {
        let mut status = Self::failure(0, "", "", Some(Details { uid: uid.to_owned(), ..Details::of(resource, name) }));
        status.status = "Success";
        status
    }

    /// Whether it says that an object does not exist.
    pub fn is_not_found(&self) -> bool {
        self.code == 404
    }

    /// As JSON, without a newline.
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
