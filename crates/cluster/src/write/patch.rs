//! Patches: parses the patch of a request, and applies it to an object.

use ::json_patch::PatchOperation;
use axum::body::Body;
use axum::http::HeaderMap;
use serde_json::Value;

use crate::request::body;
use crate::resources::resource::Resource;
use crate::status::Status;
use crate::write::json_patch;
use crate::write::strategic;

const JSON: &str = "application/json-patch+json";
const MERGE: &str = "application/merge-patch+json";
const STRATEGIC: &str = "application/strategic-merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";

/// The largest number of operations, as in the real server.
const MAX_OPERATIONS: usize = 10_000;

/// A patch.
#[derive(Debug)]
pub enum Patch {
    /// RFC 6902.
    Json(Vec<PatchOperation>),
    /// RFC 7386.
    Merge(Value),
    /// Kubernetes' own type.
    Strategic(Value),
    /// Server-side apply, handled as a strategic merge that creates a missing object: fields have no owners here.
    Apply(Value),
}

impl Patch {
    /// Parses the patch in the body of a request.
    pub async fn read(resource: &Resource, headers: &HeaderMap, body: Body) -> Result<Self, Status> {
        let accepted = [JSON, MERGE, STRATEGIC, APPLY, "application/json"];
        let media_type = body::media_type(headers);
        if resource.is_custom() && media_type == STRATEGIC {
            return Err(Status::unsupported_media_type("application/json-patch+json, application/merge-patch+json"));
        }
        let bytes = body::read(headers, body, &accepted).await?;
        if media_type == JSON {
            let patch: Vec<PatchOperation> =
                serde_json::from_slice(&bytes).map_err(|error| match json_patch::malformed_path(&bytes) {
                    Some(path) => Status::patch_failed(&path.to_string()),
                    None => Status::bad_request(format!("the request's body is no JSON patch: {error}")),
                })?;
            if patch.len() > MAX_OPERATIONS {
                return Err(Status::bad_request(format!(
                    "the allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {}",
                    patch.len()
                )));
            }
            return Ok(Self::Json(patch));
        }
        let patch = body::parse(&bytes)?;
        if !patch.is_object() {
            return Err(Status::bad_request("a merge patch is a JSON object"));
        }
        Ok(match media_type {
            STRATEGIC => Self::Strategic(patch),
            APPLY => Self::Apply(patch),
            _ => Self::Merge(patch),
        })
    }

    /// The resourceVersion that the patch requires, if it has one.
    pub fn version(&self) -> Option<&str> {
        match self {
            Self::Json(_) => None,
            Self::Merge(patch) | Self::Strategic(patch) | Self::Apply(patch) => {
                patch.pointer("/metadata/resourceVersion").and_then(Value::as_str).filter(|version| !version.is_empty())
            }
        }
    }

    /// Applies the patch to `value`; `custom` says whether that is a custom resource.
    pub fn apply(&self, custom: bool, value: &mut Value) -> Result<(), Status> {
        match self {
            Self::Json(operations) => {
                *value =
                    json_patch::patch(value, operations).map_err(|error| Status::patch_failed(&error.to_string()))?;
                Ok(())
            }
            Self::Merge(patch) => {
                ::json_patch::merge(value, patch);
                Ok(())
            }
            // The merge keys of lists in custom resources are not known.
            Self::Apply(patch) if custom => {
                ::json_patch::merge(value, patch);
                Ok(())
            }
            Self::Strategic(patch) | Self::Apply(patch) => {
                strategic::patch(value, patch.clone()).map_err(Status::bad_request)
            }
        }
    }
}
