//! The garbage collector: deletes what the deleted owned, what a Namespace held, a definition's objects, and Pods
//! whose grace period is over. One task does it in the order in which it hears of it.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::mpsc;

use super::builtin::{DEFINITIONS, NAMESPACES, PODS};
use super::definition::CLEANUP;
use super::delete::{Deletion, FOREGROUND, ORPHAN, Policy, remove};
use super::object::Object;
use super::resource::Resource;
use super::scenario::Order;
use super::selector::Filter;
use super::server::App;
use super::storage::{Fate, UpdateError};
use super::write::may_go;

/// No Pod takes longer to stop: there is nothing in it.
const LONGEST_GRACE: Duration = Duration::from_secs(1);
/// How often a Namespace or a definition looks whether it is empty.
const PATIENCE: Duration = Duration::from_millis(100);

/// What the collector is told.
#[derive(Debug)]
pub struct Work {
    resource: Arc<Resource>,
    object: Arc<Object>,
    news: News,
}

/// What has become of an object.
#[derive(Debug, Clone, Copy)]
enum News {
    /// It is new, and names owners.
    Owned,
    /// It is on its way out.
    Leaving,
    /// It is gone.
    Gone,
}

/// Tells that an object is gone, by whoever's request.
pub fn gone(app: &App, resource: &Arc<Resource>, object: &Arc<Object>) {
    if **resource == **PODS {
        let gone = Order::PodGone { namespace: object.namespace.to_string(), name: object.name.to_string() };
        // A scenario too busy to hear it finds out by itself.
        let _ = app.scenario.try_send(gone);
    }
    if **resource == **DEFINITIONS
        && let Some(id) = app.registry.undefine(&object.uid)
    {
        app.storage.close(id);
    }
    tell(app, resource, object, News::Gone);
}

/// Tells that an object is on its way out.
pub fn leaving(app: &App, resource: &Arc<Resource>, object: &Arc<Object>) {
    tell(app, resource, object, News::Leaving);
}

/// Tells that an object is new; only one that names owners is of interest.
pub fn created(app: &App, resource: &Arc<Resource>, object: &Arc<Object>) {
    if !object.owners.is_empty() {
        tell(app, resource, object, News::Owned);
    }
}

fn tell(app: &App, resource: &Arc<Resource>, object: &Arc<Object>, news: News) {
    let work = Work { resource: Arc::clone(resource), object: Arc::clone(object), news };
    // The collector ends with the process.
    let _ = app.collector.send(work);
}

/// Works until the process ends.
pub async fn run(app: Arc<App>, mut work: mpsc::UnboundedReceiver<Work>) {
    while let Some(Work { resource, object, news }) = work.recv().await {
        match news {
            News::Owned => disowned(&app, &resource, &object),
            News::Gone => removed(&app, &object),
            News::Leaving => {
                hold(&app, &resource, &object);
                wait(&app, resource, object);
            }
        }
    }
}

/// Starts what has to wait for a while.
fn wait(app: &Arc<App>, resource: Arc<Resource>, object: Arc<Object>) {
    let app = Arc::clone(app);
    if *resource == **PODS {
        let grace = object.to_value()["metadata"]["deletionGracePeriodSeconds"].as_u64().unwrap_or_default();
        tokio::spawn(async move {
            tokio::time::sleep(LONGEST_GRACE.min(Duration::from_secs(grace))).await;
            let now = Deletion { grace: Some(0), uid: Some(object.uid.to_string()), ..Deletion::default() };
            // One that is another's by now stays.
            let _ = remove(&app, &resource, &object.key, &now);
        });
    } else if *resource == **NAMESPACES {
        tokio::spawn(async move {
            while !(is_emptied(&app, &object.name) && leaves(&app, &resource, &object)) {
                tokio::time::sleep(PATIENCE).await;
            }
        });
    } else if *resource == **DEFINITIONS {
        tokio::spawn(async move {
            let id = app.registry.id_of(&object.uid);
            while app.registry.by_id(id).is_some_and(|one| delete_all(&app, &one, None) > 0) {
                tokio::time::sleep(PATIENCE).await;
            }
            release(&app, &resource, &object, CLEANUP);
        });
    }
}

/// Deletes what is in a Namespace; tells whether nothing is.
fn is_emptied(app: &App, namespace: &str) -> bool {
    let namespaced = app.registry.all().into_iter().filter(|resource| resource.namespaced);
    namespaced.map(|resource| delete_all(app, &resource, Some(namespace))).sum::<usize>() == 0
}

/// Deletes a Namespace that is empty; tells whether it is gone.
fn leaves(app: &App, resource: &Arc<Resource>, namespace: &Object) -> bool {
    let changed = app.storage.change(resource, &namespace.key, false, |current, value| {
        let held = value["metadata"]["finalizers"].as_array().is_some_and(|all| !all.is_empty());
        if held || current.uid != namespace.uid { Err(current.uid != namespace.uid) } else { Ok(Fate::Removed) }
    });
    match changed {
        Ok((object, _)) => {
            gone(app, resource, &object);
            true
        }
        Err(UpdateError::NotFound) => true,
        Err(UpdateError::Refused(another)) => another,
    }
}

/// Deletes the objects of a resource, or begins to; answers how many there were.
fn delete_all(app: &App, resource: &Arc<Resource>, namespace: Option<&str>) -> usize {
    let filter = Filter { namespace: namespace.map(str::to_owned), ..Filter::default() };
    let (_, objects) = app.storage.snapshot(resource, &filter);
    for object in &objects {
        if !object.is_leaving() {
            // Refusals are of preconditions, and there are none.
            let _ = remove(app, resource, &object.key, &Deletion::default());
        }
    }
    objects.len()
}

/// Takes care of what an object owns that is held by its finalizers for that.
fn hold(app: &App, resource: &Arc<Resource>, object: &Object) {
    let value = object.to_value();
    let has = |finalizer: &str| {
        value["metadata"]["finalizers"].as_array().is_some_and(|all| all.iter().any(|one| one == finalizer))
    };
    if has(ORPHAN) {
        for (dependent, key) in owned(app, &object.uid) {
            disown(app, &dependent, &key, &object.uid);
        }
        release(app, resource, object, ORPHAN);
    } else if has(FOREGROUND) {
        let foreground = Deletion { policy: Policy::Foreground, ..Deletion::default() };
        let dependents = owned(app, &object.uid);
        for (dependent, key) in &dependents {
            let _ = remove(app, dependent, key, &foreground);
        }
        if dependents.is_empty() {
            release(app, resource, object, FOREGROUND);
        }
    }
}

/// Deletes an object whose owners are all gone: it was created too late.
fn disowned(app: &App, resource: &Arc<Resource>, object: &Object) {
    if owners(app, object).iter().all(|owner| matches!(owner, Owner::Absent)) {
        let life = Deletion { uid: Some(object.uid.to_string()), ..Deletion::default() };
        let _ = remove(app, resource, &object.key, &life);
    }
}

/// Follows up on an object that is gone: what it alone owned goes too, and its owners may have waited for it.
fn removed(app: &App, object: &Object) {
    for (dependent, key) in owned(app, &object.uid) {
        let Some(found) = app.storage.get(&dependent, &key) else { continue };
        if owners(app, &found).iter().any(|owner| !matches!(owner, Owner::Absent)) {
            disown(app, &dependent, &key, &object.uid);
        } else {
            let _ = remove(app, &dependent, &key, &Deletion::default());
        }
    }
    for owner in owners(app, object) {
        if let Owner::Present(resource, owner) = owner
            && app.storage.dependents(&owner.uid).is_empty()
        {
            release(app, &resource, &owner, FOREGROUND);
        }
    }
}

fn owned(app: &App, uid: &str) -> Vec<(Arc<Resource>, Arc<str>)> {
    let all = app.storage.dependents(uid).into_iter();
    all.filter_map(|(id, key)| Some((app.registry.by_id(id)?, key))).collect()
}

/// An owner that an object names.
enum Owner {
    /// Nobody serves its kind, so that nobody can tell.
    Unknown,
    /// There is none of that name and uid.
    Absent,
    /// It is there.
    Present(Arc<Resource>, Arc<Object>),
}

/// The owners that an object names.
fn owners(app: &App, object: &Object) -> Vec<Owner> {
    let value = object.to_value();
    let all = value["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
    let find = |owner: Value| {
        let text = |field: &str| owner[field].as_str().unwrap_or_default();
        let Some(resource) = app.registry.by_kind(text("apiVersion"), text("kind")) else { return Owner::Unknown };
        match app.storage.get(&resource, &resource.key(&object.namespace, text("name"))) {
            Some(found) if *found.uid == *text("uid") => Owner::Present(resource, found),
            _ => Owner::Absent,
        }
    };
    all.into_iter().map(find).collect()
}

fn disown(app: &App, resource: &Resource, key: &str, uid: &str) {
    let _ = app.storage.update(resource, key, |_, value| -> Result<(), ()> {
        if let Some(all) = value.pointer_mut("/metadata/ownerReferences").and_then(Value::as_array_mut) {
            all.retain(|owner| owner["uid"] != uid);
        }
        Ok(())
    });
}

/// Takes a finalizer off an object, which goes if it was the last.
fn release(app: &App, resource: &Arc<Resource>, object: &Object, finalizer: &str) {
    let changed = app.storage.change(resource, &object.key, false, |current, value| {
        if current.uid != object.uid {
            return Err(());
        }
        let all = value.pointer_mut("/metadata/finalizers").and_then(Value::as_array_mut).ok_or(())?;
        let before = all.len();
        all.retain(|one| one != finalizer);
        if all.len() == before {
            return Err(());
        }
        Ok(if may_go(resource, value) { Fate::Removed } else { Fate::Kept })
    });
    if let Ok((last, Fate::Removed)) = changed {
        gone(app, resource, &last);
    }
}
