//! What the inspector asks the server for, and what it hands to the clipboard.

use std::rc::Rc;

use leptos::prelude::Set;
use wasm_bindgen_futures::spawn_local;

use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::api::owner::OwnerReference;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::status::Failure;
use kubechurn_client::api::uid::Uid;
use kubechurn_model::page::inspector::{secret, summary};
use kubechurn_model::table::kinds::Kind;

use crate::app::Page;
use crate::app::inspector::Full;
use crate::browser::clock;
use crate::browser::lister_watcher::ListerWatcher;

impl Page {
    fn getter(&self, kind: &Kind, key: &ObjectKey) -> Option<ListerWatcher> {
        let scope = Scope { namespace: key.namespace.to_string(), ..Scope::default() };
        Some(ListerWatcher { base: self.base.clone()?, resource: kind.resource, scope })
    }

    /// Asks for the whole object.
    pub(super) fn fetch(&self, kind: &'static Kind, key: ObjectKey) {
        let (Some(getter), page) = (self.getter(kind, &key), self.this.clone()) else { return };
        let salt = self.history.salt();
        spawn_local(async move {
            let answer = getter.get(&key.name).await;
            let Some(page) = page.upgrade() else { return };
            let mut page = page.borrow_mut();
            let Some(open) = page.inspection.as_mut().filter(|open| open.kind == kind && open.key == key) else {
                return;
            };
            (open.fetching, open.dirty) = (false, true);
            match answer.and_then(|text| read(kind, text, salt)) {
                Ok(full) => (open.full, open.trouble) = (Some(Rc::new(full)), None),
                Err(failure) if failure.code == 404 => open.missing = true,
                Err(failure) => {
                    open.trouble = Some(format!("It could not be fetched: {}.", failure.words.trim_end_matches('.')))
                }
            }
            page.frames.request();
        });
    }

    /// Asks what an owner that is not watched belongs to.
    pub(super) fn fetch_owner(&self, kind: &'static Kind, key: ObjectKey, uid: Uid) {
        let (Some(getter), page) = (self.getter(kind, &key), self.this.clone()) else { return };
        let salt = self.history.salt();
        spawn_local(async move {
            let answer = getter.get(&key.name).await.and_then(|text| read(kind, text, salt));
            let Some(page) = page.upgrade() else { return };
            let mut page = page.borrow_mut();
            let Some(open) = &mut page.inspection else { return };
            let owners: Option<Vec<OwnerReference>> = match answer {
                Ok(full) if full.uid == uid => Some(summary::owners(&full.value)),
                // Another object of that name, or none.
                Ok(_) => None,
                Err(failure) if failure.code == 404 => None,
                // Not known; the link tells as much as the reference does.
                Err(_) => Some(Vec::new()),
            };
            open.owners.insert(uid, owners);
            open.dirty = true;
            page.frames.request();
        });
    }

    /// Fetches one value of the Secret, and puts it on the screen: it is kept nowhere else.
    pub(super) fn reveal(&self, field: String) {
        let Some(open) = &self.inspection else { return };
        let (kind, key) = (open.kind, open.key.clone());
        let (Some(getter), page) = (self.getter(kind, &key), self.this.clone()) else { return };
        spawn_local(async move {
            let answer = getter.get(&key.name).await;
            let Some(page) = page.upgrade() else { return };
            let mut page = page.borrow_mut();
            let signals = page.screen.inspector;
            let on_yaml = page.route.tab == crate::ui::inspector::signals::Tab::Yaml.name();
            let Some(open) = page.inspection.as_mut().filter(|open| open.kind == kind && open.key == key && on_yaml)
            else {
                return;
            };
            match answer {
                Ok(text) => match secret::value(&text, &field) {
                    Some(value) => signals.revealed.set(Some((field, value))),
                    None => open.trouble = Some(format!("The Secret has no value {field} any more.")),
                },
                Err(failure) => open.trouble = Some(format!("The value could not be fetched: {}.", failure.words)),
            }
            open.dirty = true;
            page.frames.request();
        });
    }
}

/// Reads a whole object; of a Secret, all but its values.
fn read(kind: &Kind, text: String, salt: u64) -> Result<Full, Failure> {
    let unread = || Failure::unreachable("what the server answers is no object");
    let text = match secret::is_secret(&kind.resource) {
        true => secret::redact(&text, salt).ok_or_else(unread)?,
        false => text,
    };
    let value: Rc<serde_json::Value> = Rc::new(serde_json::from_str(&text).map_err(|_| unread())?);
    let metadata = |name: &str| {
        let value = value.get("metadata").and_then(|metadata| metadata.get(name));
        value.and_then(|value| value.as_str()).unwrap_or_default().to_owned()
    };
    let (uid, version) = (Uid::new(&metadata("uid")), ResourceVersion::new(&metadata("resourceVersion")));
    Ok(Full { uid, version, value, fetched: Some(clock::now()) })
}
