//! Deletions: at once, after a grace period, or when the finalizers are removed.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::HeaderMap;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use crate::api::Api;
use crate::clock;
use crate::printers::form::Form;
use crate::printers::response::{json_response, object_response};
use crate::request::body;
use crate::request::options::{Options, parse_dry_run};
use crate::resources::builtin::{DEFINITIONS, NAMESPACES, PODS};
use crate::resources::definition;
use crate::resources::fields;
use crate::resources::object::{DELETE_DEPENDENTS, ORPHAN_DEPENDENTS, Object};
use crate::resources::resource::Resource;
use crate::resources::selector::Filter;
use crate::status::Status;
use crate::store::{Fate, ListQuery, UpdateError};
use crate::write::after_delete;
use crate::write::should_delete_during_update;

/// The namespaces that must not be deleted.
const IMMORTAL_NAMESPACES: [&str; 3] = ["default", "kube-public", "kube-system"];

/// `DeleteOptions`.
#[derive(Debug, Clone, Default)]
pub struct Deletion {
    /// The seconds until the object is removed; without a number, a Pod's own period.
    pub grace: Option<u64>,
    /// What becomes of the dependents.
    pub policy: Policy,
    /// The uid that the object must have.
    pub uid: Option<String>,
    /// The version that the object must have.
    pub version: Option<String>,
    /// Whether nothing is to be written.
    pub dry_run: bool,
}

/// `propagationPolicy`.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Policy {
    /// The dependents are deleted after the object.
    #[default]
    Background,
    /// The dependents are deleted before the object.
    Foreground,
    /// The dependents stay.
    Orphan,
}

impl Deletion {
    /// Parses the options in a query and in a body, which may be empty.
    pub async fn read(headers: &HeaderMap, query: &str, body: Body) -> Result<Self, Status> {
        let bytes = body::read(headers, body, body::OBJECT).await?;
        Self::parse(query, &bytes)
    }

    fn parse(query: &str, bytes: &Bytes) -> Result<Self, Status> {
        let mut options = Self::default();
        let mut policy = None;
        if !bytes.trim_ascii().is_empty() {
            let value = body::parse(bytes)?;
            if !value.is_object() && !value.is_null() {
                return Err(Status::bad_request("DeleteOptions must be an object"));
            }
            let text = |pointer: &str| value.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
            options.grace = value.get("gracePeriodSeconds").and_then(Value::as_u64);
            policy = text("/propagationPolicy");
            if value["orphanDependents"] == true {
                policy = Some("Orphan".to_owned());
            }
            (options.uid, options.version) = (text("/preconditions/uid"), text("/preconditions/resourceVersion"));
            options.dry_run = value.pointer("/dryRun/0").and_then(Value::as_str).map_or(Ok(false), parse_dry_run)?;
        }
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match &*name {
                "gracePeriodSeconds" => {
                    let seconds = value.parse();
                    options.grace = Some(seconds.map_err(|_| Status::bad_request("gracePeriodSeconds: no number"))?);
                }
                "propagationPolicy" => policy = Some(value.into_owned()),
                "dryRun" => options.dry_run = parse_dry_run(&value)?,
                _ => {}
            }
        }
        options.policy = match policy.as_deref() {
            None | Some("" | "Background") => Policy::Background,
            Some("Foreground") => Policy::Foreground,
            Some("Orphan") => Policy::Orphan,
            Some(other) => {
                let message = format!(
                    "propagationPolicy: Unsupported value: {other:?}: supported values: \"Foreground\", \"Background\", \
                     \"Orphan\""
                );
                return Err(Status::bad_request(message));
            }
        };
        Ok(options)
    }
}

/// Handles a DELETE of one object: returns its last state while something keeps it, and otherwise that it is deleted.
pub async fn one(
    api: &Api,
    resource: &Arc<Resource>,
    namespace: &str,
    name: &str,
    deletion: &Deletion,
) -> Result<Response, Status> {
    if **resource == **NAMESPACES && IMMORTAL_NAMESPACES.contains(&name) {
        return Err(Status::immortal_namespace(name));
    }
    let (object, fate) = remove(api, resource, &resource.key(namespace, name), deletion)
        .await?
        .ok_or_else(|| Status::not_found(resource, name))?;
    Ok(match fate {
        Fate::Removed => Status::deleted(resource, name, &object.uid).into_response(),
        Fate::Kept => object_response(resource, &object, Form::Whole),
    })
}

/// Handles a DELETE of a collection: returns the objects.
pub async fn collection(
    api: &Api,
    resource: &Arc<Resource>,
    namespace: Option<&str>,
    options: Options,
    deletion: &Deletion,
) -> Result<Response, Status> {
    if (resource.namespaced && namespace.is_none()) || **resource == **NAMESPACES {
        return Err(Status::method_not_allowed());
    }
    let filter = Filter { namespace: namespace.map(str::to_owned), labels: options.labels, fields: options.fields };
    let query = ListQuery { filter, ..ListQuery::default() };
    let page = api.store.list(resource, &query).await?;
    let mut items = String::new();
    for object in &page.objects {
        // An object that was deleted meanwhile needs no deletion.
        if let Some((object, _)) = remove(api, resource, &object.key, deletion).await? {
            if !items.is_empty() {
                items.push(',');
            }
            Form::Whole.push_item(resource, &object, &mut items);
        }
    }
    let metadata = json!({"resourceVersion": api.store.revision().to_string()}).to_string();
    let (head, tail) = Form::Whole.list_ends(resource, &metadata);
    Ok(json_response(Body::from([head, items, tail, String::from("\n")].concat())))
}

/// Deletes an object, or begins to; `None` if it does not exist.
pub async fn remove(
    api: &Api,
    resource: &Arc<Resource>,
    key: &str,
    deletion: &Deletion,
) -> Result<Option<(Arc<Object>, Fate)>, Status> {
    let mark = |current: &Object, value: &mut Value| {
        let version = current.revision.to_string();
        for (what, asked, found) in
            [("UID", &deletion.uid, &*current.uid), ("ResourceVersion", &deletion.version, &version)]
        {
            if let Some(asked) = asked
                && asked != found
            {
                return Err(Status::precondition(resource, &current.name, what, asked, found));
            }
        }
        let mut marked = value.clone();
        begin(resource, &mut marked, deletion);
        // An object that is deleted at once is returned in its last state, without marks.
        if should_delete_during_update(resource, &marked) {
            return Ok(Fate::Removed);
        }
        *value = marked;
        Ok(Fate::Kept)
    };
    let (object, fate) = match api.store.change(resource, key, deletion.dry_run, mark).await {
        Ok(changed) => changed,
        Err(UpdateError::NotFound) => return Ok(None),
        Err(UpdateError::Refused(status)) => return Err(status),
        Err(UpdateError::Storage(error)) => return Err(error.into()),
    };
    if fate == Fate::Removed && !deletion.dry_run {
        after_delete::after_delete(api, resource, &object);
    }
    Ok(Some((object, fate)))
}

/// Marks an object as being deleted; of several grace periods, the shortest applies.
fn begin(resource: &Resource, value: &mut Value, deletion: &Deletion) {
    let mut grace = 0;
    if *resource == **PODS {
        let own = value.pointer("/spec/terminationGracePeriodSeconds").and_then(Value::as_u64).unwrap_or(30);
        let phase = value.pointer("/status/phase").and_then(Value::as_str).unwrap_or_default();
        // A Pod that no kubelet runs has nothing to wait for.
        let runs =
            value.pointer("/spec/nodeName").is_some_and(|node| node.as_str().is_some_and(|name| !name.is_empty()));
        grace = if runs && !["Succeeded", "Failed"].contains(&phase) { deletion.grace.unwrap_or(own) } else { 0 };
    }
    let is_namespace = *resource == **NAMESPACES;
    let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) else { return };
    let marked = metadata.get("deletionTimestamp").is_some_and(Value::is_string);
    let known = metadata.get("deletionGracePeriodSeconds").and_then(Value::as_u64);
    // A Namespace has no grace period: its deletion takes as long as it takes.
    if !marked || (!is_namespace && known.is_none_or(|known| grace < known)) {
        let at = clock::now().saturating_add(i64::try_from(grace.min(86_400 * 365)).unwrap_or_default());
        metadata.insert("deletionTimestamp".to_owned(), clock::timestamp(at).into());
        if !is_namespace {
            metadata.insert("deletionGracePeriodSeconds".to_owned(), grace.into());
        }
    }
    if marked {
        return;
    }
    let finalizer = match deletion.policy {
        Policy::Background => None,
        Policy::Foreground => Some(DELETE_DEPENDENTS),
        Policy::Orphan => Some(ORPHAN_DEPENDENTS),
    };
    if let Some(finalizer) = finalizer {
        let mut all = metadata.get("finalizers").and_then(Value::as_array).cloned().unwrap_or_default();
        all.retain(|one| one != DELETE_DEPENDENTS && one != ORPHAN_DEPENDENTS);
        all.push(finalizer.into());
        metadata.insert("finalizers".to_owned(), all.into());
    }
    if let Some(generation) = metadata.get_mut("generation")
        && let Some(number) = generation.as_u64()
        && resource.has_generation
    {
        *generation = number.saturating_add(1).into();
    }
    if is_namespace {
        fields::set(value, &["status", "phase"], "Terminating".into());
    } else if *resource == **DEFINITIONS {
        definition::begin_deletion(value, &clock::timestamp(clock::now()));
    }
}
