//! Objects and JSON as the bodies of answers.

use axum::body::Body;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};

use super::form::Form;
use crate::resources::object::Object;
use crate::resources::resource::Resource;

/// An answer with one object.
pub fn object_response(resource: &Resource, object: &Object, form: Form) -> Response {
    json_response(Body::from(form.object(resource, object, true) + "\n"))
}

/// An answer with a JSON body.
pub fn json_response(body: Body) -> Response {
    let mut response = body.into_response();
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}
