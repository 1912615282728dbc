//! Writes: create, replace and patch. A request that is refused changes nothing.

pub mod admission;
pub mod after_delete;
pub mod defaults;
pub mod delete;
pub mod event_ttl;
pub mod json_patch;
pub mod managed_fields;
pub mod patch;
pub mod qos;
pub mod strategic;
pub mod validate;

use std::sync::Arc;

use axum::body::Bytes;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::api::Api;
use crate::clock;
use crate::printers::form::Form;
use crate::printers::response::object_response;
use crate::random::{self, Random};
use crate::request::body;
use crate::request::options::WriteOptions;
use crate::request::target::{Part, Target};
use crate::resources::builtin::{DEFINITIONS, NAMESPACES};
use crate::resources::definition;
use crate::resources::object::{Draft, Object};
use crate::resources::resource::Resource;
use crate::status::Status;
use crate::store::{Fate, UpdateError};
use crate::write::managed_fields::Writer;
use crate::write::patch::Patch;

/// The metadata that a client cannot change.
const OWN: [&str; 9] = [
    "name",
    "namespace",
    "uid",
    "generation",
    "creationTimestamp",
    "resourceVersion",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "managedFields",
];

/// The fields of a request that all writes need: the apiserver's `RequestScope`.
#[derive(Debug, Clone, Copy)]
pub struct RequestScope<'a> {
    /// The state that the handlers share.
    pub api: &'a Api,
    /// The collection, object or subresource in the path.
    pub target: &'a Target,
    /// The options in the query and the headers.
    pub options: &'a WriteOptions,
    /// The form of the answer.
    pub form: Form,
}

/// Handles a POST.
pub async fn create(scope: RequestScope<'_>, body: &Bytes) -> Result<Response, Status> {
    let resource = &scope.target.resource;
    let object = body::object(resource, body)?;
    let created = create_object(scope, object, "Update").await?;
    Ok((StatusCode::CREATED, object_response(resource, &created, scope.form)).into_response())
}

async fn create_object(
    scope: RequestScope<'_>,
    mut object: Value,
    operation: &'static str,
) -> Result<Arc<Object>, Status> {
    let RequestScope { api, target, options, .. } = scope;
    let resource = &*target.resource;
    let text = |object: &Value, field: &str| object["metadata"][field].as_str().unwrap_or_default().to_owned();
    let mut name = text(&object, "name");
    if name.is_empty() && !text(&object, "generateName").is_empty() {
        let suffix = Random::new(api.store.revision() ^ (clock::time().0 as u64).rotate_left(32)).suffix(5);
        name = format!("{}{suffix}", text(&object, "generateName"));
    }
    validate::name(resource, &name)?;
    let named = text(&object, "namespace");
    let Value::Object(metadata) = &mut object["metadata"] else {
        return Err(Status::bad_request("metadata must be an object"));
    };
    OWN.iter().for_each(|field| drop(metadata.remove(*field)));
    metadata.insert("name".to_owned(), name.as_str().into());
    if resource.namespaced {
        let namespace = target.namespace.as_deref().ok_or_else(Status::method_not_allowed)?;
        if !["", namespace].contains(&&*named) {
            let message = "the namespace of the provided object does not match the namespace sent on the request";
            return Err(Status::bad_request(message));
        }
        metadata.insert("namespace".to_owned(), namespace.into());
        match api.store.get(&NAMESPACES, namespace).await? {
            None => return Err(Status::not_found(&NAMESPACES, namespace)),
            Some(found) if found.is_being_deleted() => {
                return Err(Status::namespace_terminating(resource, &name, namespace));
            }
            Some(_) => {}
        }
    }
    if resource.is_custom()
        && api
            .store
            .get(&DEFINITIONS, &resource.definition)
            .await?
            .is_some_and(|definition| definition.is_being_deleted())
    {
        return Err(Status::definition_terminating());
    }
    let now = clock::timestamp(clock::now());
    let revision = api.store.revision();
    metadata.insert("creationTimestamp".to_owned(), now.as_str().into());
    let seed = format!("{}/{}/{name}", resource.qualified(), target.namespace.as_deref().unwrap_or_default());
    metadata.insert("uid".to_owned(), random::uid(clock::time().0 as u64, &seed, revision).into());
    if resource.has_generation {
        metadata.insert("generation".to_owned(), 1.into());
    }
    if resource.has_status
        && let Some(fields) = object.as_object_mut()
    {
        fields.remove("status");
    }
    let writer =
        Writer { manager: &options.manager, operation, subresource: "", api_version: &resource.api_version, now: &now };
    managed_fields::stamp(&Value::Null, &mut object, writer);
    defaults::complete(resource, &mut object, revision);
    admission::admit(api, resource, &object).await?;
    let definition = (*resource == **DEFINITIONS).then(|| define(api, &mut object)).transpose()?;
    let exists = || Status::already_exists(resource, &name);
    let draft = Draft::from_value(object).ok_or_else(|| Status::bad_request("the object has no metadata"))?;
    if options.dry_run {
        let key = resource.key(draft.meta("namespace"), &name);
        return match api.store.get(resource, &key).await? {
            Some(_) => Err(exists()),
            None => Ok(Arc::new(draft.into_object(resource, revision))),
        };
    }
    let created = api.store.create(resource, draft).await?.ok_or_else(exists)?;
    if let Some(resources) = definition {
        serve(api, &created, resources);
    }
    Ok(created)
}

/// Handles a PUT.
pub async fn replace(scope: RequestScope<'_>, body: &Bytes) -> Result<Response, Status> {
    let resource = &scope.target.resource;
    let new = body::object(resource, body)?;
    let updated = update(scope, "Update", |current, value| {
        check_version(resource, current, new["metadata"]["resourceVersion"].as_str())?;
        value.clone_from(&new);
        Ok(())
    })
    .await?;
    Ok(object_response(resource, &updated, scope.form))
}

/// Handles a PATCH.
pub async fn patch(scope: RequestScope<'_>, patch: Patch) -> Result<Response, Status> {
    let RequestScope { target, form, .. } = scope;
    let resource = &target.resource;
    let operation = if matches!(patch, Patch::Apply(_)) { "Apply" } else { "Update" };
    let updated = update(scope, operation, |current, value| {
        check_version(resource, current, patch.version())?;
        patch.apply(resource.is_custom(), value)
    })
    .await;
    match (updated, patch) {
        (Err(missing), Patch::Apply(mut object)) if missing.is_not_found() && target.part == Part::Whole => {
            if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
                metadata.insert("name".to_owned(), target.name().into());
            }
            let object = body::object(resource, object.to_string().as_bytes())?;
            let created = create_object(scope, object, operation).await?;
            Ok((StatusCode::CREATED, object_response(resource, &created, form)).into_response())
        }
        (updated, _) => {
            let updated = updated?;
            Ok(object_response(resource, &updated, form))
        }
    }
}

/// Writes an object of any known kind without the rules for clients, for `/_control/put`.
pub async fn put_raw(api: &Api, bytes: &Bytes) -> Result<Response, Status> {
    let value = body::parse(bytes)?;
    let text = |field: &str| value.get(field).and_then(Value::as_str).unwrap_or_default();
    let (api_version, kind) = (text("apiVersion"), text("kind"));
    let resource = api
        .registry
        .by_kind(api_version, kind)
        .ok_or_else(|| Status::bad_request(format!("no resource has the kind {kind:?} in {api_version:?}")))?;
    let mut object = body::object(&resource, bytes)?;
    if *resource == **DEFINITIONS && !object["metadata"]["uid"].is_string() {
        // The resources need the uid of their definition before the storage would generate one.
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        let known = api.store.get(&resource, name).await?.map(|known| known.uid.to_string());
        object["metadata"]["uid"] = known.unwrap_or_else(|| random::uid(clock::time().0 as u64, name, 0)).into();
    }
    let definition = (*resource == **DEFINITIONS).then(|| define(api, &mut object)).transpose()?;
    let mut draft = Draft::from_value(object).ok_or_else(|| Status::bad_request("metadata must be an object"))?;
    let name = draft.meta("name").to_owned();
    if name.is_empty() {
        return Err(Status::bad_request("metadata.name is required"));
    }
    if !resource.namespaced {
        draft.metadata.remove("namespace");
    } else if draft.meta("namespace").is_empty() {
        draft.metadata.insert("namespace".to_owned(), "default".into());
    }
    draft.metadata.entry("creationTimestamp").or_insert_with(|| clock::timestamp(clock::now()).into());
    let written = api.store.upsert(&resource, draft).await?;
    if let Some(resources) = definition {
        serve(api, &written, resources);
    }
    Ok(object_response(&resource, &written, Form::Whole))
}

/// Refuses a write that is based on an old version.
pub fn check_version(resource: &Resource, current: &Object, version: Option<&str>) -> Result<(), Status> {
    match version {
        Some(version) if !version.is_empty() && version != current.revision.to_string() => {
            Err(Status::conflict(resource, &current.name))
        }
        _ => Ok(()),
    }
}

/// Changes an object or one subresource of it; returns the new state. An object that is being deleted and loses its
/// last finalizer is removed.
pub async fn update(
    scope: RequestScope<'_>,
    operation: &'static str,
    mut change: impl FnMut(&Object, &mut Value) -> Result<(), Status>,
) -> Result<Arc<Object>, Status> {
    let RequestScope { api, target, options, .. } = scope;
    let resource = &*target.resource;
    let mut definition = None;
    let attempt = |current: &Object, value: &mut Value| {
        let before = value.clone();
        value["apiVersion"] = Value::from(&*resource.api_version);
        change(current, value)?;
        prepare_for_update(resource, target.part, current, &before, value)?;
        validate::change(resource, &before, value)?;
        if *resource == **DEFINITIONS {
            definition = Some(define(api, value)?);
        }
        // An unchanged spec gets no defaults: the objects of the scenario have none.
        if value.get("spec") != before.get("spec") || value.get("stringData").is_some() {
            defaults::complete_spec(resource, value);
        }
        if without_kind(value) == without_kind(&before) {
            return Ok(Fate::Kept);
        }
        if resource.has_generation && is_new_generation(resource, &before, value) {
            let generation = before["metadata"]["generation"].as_u64().unwrap_or_default();
            value["metadata"]["generation"] = generation.saturating_add(1).into();
        }
        let subresource = match target.part {
            Part::Whole => "",
            Part::Status => "status",
            Part::Scale => "scale",
            Part::Finalize => "finalize",
            // These write by themselves, or not at all.
            Part::Binding | Part::Eviction | Part::Log => "",
        };
        let now = clock::timestamp(clock::now());
        let api_version = &resource.api_version;
        let writer = Writer { manager: &options.manager, operation, subresource, api_version, now: &now };
        managed_fields::stamp(&before, value, writer);
        Ok(if should_delete_during_update(resource, value) { Fate::Removed } else { Fate::Kept })
    };
    let (object, fate) = match api.store.change(resource, &target.key(), options.dry_run, attempt).await {
        Ok(changed) => changed,
        Err(UpdateError::NotFound) => return Err(Status::not_found(resource, target.name())),
        Err(UpdateError::Refused(status)) => return Err(status),
        Err(UpdateError::Storage(error)) => return Err(error.into()),
    };
    if !options.dry_run {
        match (fate, definition) {
            (Fate::Removed, _) => after_delete::after_delete(api, &target.resource, &object),
            (Fate::Kept, Some(resources)) => serve(api, &object, resources),
            (Fate::Kept, None) => {}
        }
    }
    Ok(object)
}

/// Whether an object that is being deleted can be removed.
pub fn should_delete_during_update(resource: &Resource, object: &Value) -> bool {
    let metadata = &object["metadata"];
    metadata["deletionTimestamp"].is_string()
        && metadata["finalizers"].as_array().is_none_or(Vec::is_empty)
        && metadata["deletionGracePeriodSeconds"].as_u64().unwrap_or_default() == 0
        // The finalizers in a Namespace's spec stand for its contents.
        && (*resource != **NAMESPACES || object["spec"]["finalizers"].as_array().is_none_or(Vec::is_empty))
}

/// Restores what a client must not change, and everything outside the subresource that the request is about.
fn prepare_for_update(
    resource: &Resource,
    part: Part,
    current: &Object,
    before: &Value,
    value: &mut Value,
) -> Result<(), Status> {
    let Some(fields) = value.as_object_mut() else { return Err(Status::bad_request("the object is no object")) };
    match fields.get("metadata") {
        Some(Value::Object(metadata)) => validate::same_identity(current, metadata)?,
        _ => return Err(Status::bad_request("metadata must be an object")),
    }
    for (field, expected) in [("kind", &*resource.kind), ("apiVersion", &*resource.api_version)] {
        if fields.get(field).is_some_and(|found| found != expected) {
            return Err(Status::bad_request(format!("the {field} of the object must stay {expected}")));
        }
    }
    // A subresource covers one field, and the rest stays as it was. Finalizers are the only field in a Namespace's
    // spec.
    let alone = match part {
        Part::Status => Some("status"),
        Part::Finalize => Some("spec"),
        Part::Whole | Part::Scale | Part::Binding | Part::Eviction | Part::Log => None,
    };
    if let Some(field) = alone {
        let written = fields.remove(field);
        *value = before.clone();
        if let (Some(fields), Some(written)) = (value.as_object_mut(), written) {
            fields.insert(field.to_owned(), written);
        }
        return Ok(());
    }
    // An update of a Namespace must not remove its finalizers (`namespaceStrategy.PrepareForUpdate`).
    if *resource == **NAMESPACES
        && let Some(spec) = before.get("spec")
    {
        fields.insert("spec".to_owned(), spec.clone());
    }
    if resource.has_status {
        match before.get("status") {
            Some(status) => fields.insert("status".to_owned(), status.clone()),
            None => fields.remove("status"),
        };
    }
    if let Some(metadata) = fields.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.retain(|_, field| !field.is_null());
        // Empty lists and maps are omitted, as in Go.
        metadata.retain(|_, field| *field != json!([]) && *field != json!({}));
        for field in OWN {
            match before["metadata"].get(field) {
                Some(own) => metadata.insert(field.to_owned(), own.clone()),
                None => metadata.remove(field),
            };
        }
    }
    Ok(())
}

/// Whether a change increments the generation, which controllers compare with observedGeneration. Usually that is a
/// change of the spec. For a custom resource every change counts, except those of the metadata and of a status that is
/// a subresource. An EndpointSlice has no spec, and its labels count as well
/// (`endpointSliceStrategy.PrepareForUpdate`).
fn is_new_generation(resource: &Resource, before: &Value, after: &Value) -> bool {
    let is_slice = !resource.is_custom() && resource.kind == "EndpointSlice";
    if is_slice && before["metadata"]["labels"] != after["metadata"]["labels"] {
        return true;
    }
    if !resource.is_custom() && !is_slice {
        return before.get("spec") != after.get("spec");
    }
    let counted = |object: &Value| {
        let mut fields = object.as_object().cloned().unwrap_or_default();
        fields.retain(|field, _| !["kind", "apiVersion", "metadata"].contains(&field.as_str()));
        if resource.has_status {
            fields.remove("status");
        }
        fields
    };
    counted(before) != counted(after)
}

/// The object without its apiVersion and kind: another version of the resource is not a change.
fn without_kind(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(fields) = object.as_object_mut() {
        fields.remove("kind");
        fields.remove("apiVersion");
    }
    object
}

/// Checks and completes a definition; returns the resources that it defines.
fn define(api: &Api, object: &mut Value) -> Result<Vec<Resource>, Status> {
    let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
    let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
    let resources = definition::resources(object, api.registry.id_of(uid))
        .map_err(|(field, why)| Status::invalid_object(&DEFINITIONS, &name, field, &why))?;
    if !object["metadata"]["deletionTimestamp"].is_string() {
        definition::complete(object, &clock::timestamp(clock::now()));
    }
    Ok(resources)
}

fn serve(api: &Api, definition: &Object, resources: Vec<Resource>) {
    if let Some(replaced) = api.registry.define(&definition.name, definition.revision, resources) {
        api.store.close(replaced);
    }
}
