//! The whole text of the selected object: from what was kept, or from the server.

use std::rc::Rc;

use kubechurn_client::api::object::{Object, ObjectKey, ResourceVersion};
use kubechurn_client::api::owner::OwnerReference;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::status::Failure;
use kubechurn_client::api::uid::Uid;

use crate::page::effect::Request;
use crate::page::history::Entry;
use crate::page::inspector::tab::Tab;
use crate::page::inspector::{secret, summary};
use crate::page::state::Page;
use crate::page::state::inspector::{Full, Inspection, Text};
use crate::page::state::requests::Purpose;
use kubechurn_columns::kinds::Kind;

/// The shortest time between two fetches of one object, in milliseconds.
const FETCHES: f64 = 2_000.0;
/// The HTTP status of an object that does not exist.
const NOT_FOUND: u16 = 404;

impl Full {
    /// Whether it is this version of this object.
    pub(super) fn is(&self, uid: &Uid, version: &ResourceVersion) -> bool {
        self.uid == *uid && self.version == *version
    }
}

impl Text {
    /// Where the text comes from, or why there is none.
    pub(super) fn words(&self, state: &str, row: Option<&Object>) -> String {
        match (&self.trouble, self.full.as_deref()) {
            (Some(trouble), _) => trouble.clone(),
            (None, None) if state == "deleted" => String::from("Its text was not kept."),
            (None, None) => String::from("Fetching it …"),
            (None, Some(full)) => {
                let from = if full.fetched { "fetched" } else { "as received" };
                let newest = row.is_none_or(|row| full.version == row.resource_version);
                let late = if newest { "" } else { "; a newer one is on its way" };
                format!("resourceVersion {}, {from}{late}", full.version)
            }
        }
    }
}

impl Page {
    /// Makes sure that the whole object is known: from what was kept, or from the server.
    pub(super) fn need_text(&mut self, open: &mut Inspection, now: f64) {
        let wanted = open.row.as_ref().map(|row| (&row.uid, &row.resource_version));
        if let ("live", Some((uid, version)), Some(full)) = (open.state, wanted, &open.text.full)
            && full.is(uid, version)
        {
            return;
        }
        // The whole history is searched once, and again only after more was received.
        let history = &self.watching.history;
        let looked = (history.received(), open.state, wanted.map(|(_, version)| version.clone()));
        if open.text.looked.as_ref() == Some(&looked) {
            return self.need_fetch(open, now);
        }
        let kept = history.of(&open.kind.resource, &open.key);
        // For a deleted object, the last state is shown.
        let newest = match (open.state, wanted) {
            ("live", Some((uid, version))) => {
                kept.iter().rev().find(|one| one.uid == *uid && one.resource_version == *version)
            }
            _ => kept.last(),
        };
        let newest = newest
            .filter(|one| one.has_text)
            .or_else(|| kept.iter().rev().find(|one| open.state != "live" && one.has_text));
        if let Some(entry) = newest {
            let Entry { uid, resource_version, .. } = entry;
            if open.text.full.as_ref().is_some_and(|full| full.is(uid, resource_version)) {
                open.text.looked = Some(looked);
                return;
            }
            match history.version(entry).text.as_deref().map(serde_json::from_str) {
                Some(Ok(value)) => {
                    let (uid, version) = (uid.clone(), resource_version.clone());
                    open.text.full = Some(Rc::new(Full { uid, version, value: Rc::new(value), fetched: false }));
                    open.text.trouble = None;
                    // An object that is not among the rows is gone, unless the list is still on its way.
                    if (open.state == "waiting" || open.state == "unknown") && self.has_listed(open.kind) {
                        open.state = "deleted";
                    }
                    return;
                }
                Some(Err(error)) => open.text.trouble = Some(format!("What was received cannot be read: {error}.")),
                None => {}
            }
        }
        open.text.looked = Some(looked);
        self.need_fetch(open, now);
    }

    /// Fetches an object that was not kept, if its text is needed, and not too often.
    fn need_fetch(&mut self, open: &mut Inspection, now: f64) {
        let (synced, text) = (self.has_listed(open.kind), &mut open.text);
        let is_unknown = synced && !text.missing && text.full.is_none() && open.state == "waiting";
        let is_provisional = open.state == "provisional" && !text.missing && text.full.is_none();
        if (open.state == "live" || is_unknown || is_provisional) && !text.fetching && now - text.fetched_at >= FETCHES
        {
            (text.fetching, text.fetched_at) = (true, now);
            self.get(Purpose::Inspect(open.kind, open.key.clone()), open.kind, &open.key);
        }
    }

    /// Asks for an object.
    pub(super) fn get(&mut self, purpose: Purpose, kind: &Kind, key: &ObjectKey) {
        let scope = Scope { namespace: key.namespace.to_string(), ..Scope::default() };
        self.request(purpose, Request::Get(kind.resource, scope, key.name.to_string()));
    }

    /// Handles the whole object, or the reason why it could not be fetched.
    pub(in crate::page::state) fn fetched(
        &mut self,
        kind: &'static Kind,
        key: &ObjectKey,
        answer: Result<String, Failure>,
    ) {
        let salt = self.watching.history.salt();
        let Some(open) = self.inspector.of(kind, key) else { return };
        (open.text.fetching, open.drawn.dirty) = (false, true);
        match answer.and_then(|text| read(kind, text, salt)) {
            Ok(full) => (open.text.full, open.text.trouble) = (Some(Rc::new(full)), None),
            Err(failure) if failure.code == NOT_FOUND => open.text.missing = true,
            Err(failure) => {
                let words = failure.words.trim_end_matches('.');
                open.text.trouble = Some(format!("It could not be fetched: {words}."));
            }
        }
    }

    /// Handles the owners of an owner that is not watched.
    pub(in crate::page::state) fn fetched_owner(
        &mut self,
        kind: &'static Kind,
        uid: Uid,
        answer: Result<String, Failure>,
    ) {
        let salt = self.watching.history.salt();
        let Some(open) = &mut self.inspector.open else { return };
        let owners: Option<Vec<OwnerReference>> = match answer.and_then(|text| read(kind, text, salt)) {
            Ok(full) if full.uid == uid => Some(summary::owners(&full.value)),
            // There is another object of that name, or none.
            Ok(_) => None,
            Err(failure) if failure.code == NOT_FOUND => None,
            // Its owners are not known. The link says as much as the owner reference does.
            Err(_) => Some(Vec::new()),
        };
        open.owners.insert(uid, owners);
        open.drawn.dirty = true;
    }

    /// Fetches one value of the Secret for the screen. The value is kept nowhere else.
    pub(super) fn reveal(&mut self, field: String) {
        let Some(open) = &self.inspector.open else { return };
        let (kind, key) = (open.kind, open.key.clone());
        self.get(Purpose::Reveal(kind, key.clone(), field), kind, &key);
    }

    /// Handles the Secret, or the reason why it could not be fetched.
    pub(in crate::page::state) fn revealed(
        &mut self,
        (kind, key): (&'static Kind, &ObjectKey),
        field: String,
        answer: Result<String, Failure>,
    ) {
        let on_yaml = Tab::named(&self.place.route.tab) == Tab::Yaml;
        let Some(open) = self.inspector.of(kind, key).filter(|_| on_yaml) else { return };
        match answer {
            Ok(text) => match secret::value(&text, &field) {
                Some(value) => self.out.view.inspector.revealed.put(Some((field, value))),
                None => open.text.trouble = Some(format!("The Secret has no value {field} any more.")),
            },
            Err(failure) => open.text.trouble = Some(format!("The value could not be fetched: {}.", failure.words)),
        }
        if let Some(open) = &mut self.inspector.open {
            open.drawn.dirty = true;
        }
    }
}

/// Reads a whole object. The values of a Secret are masked.
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
    Ok(Full { uid, version, value, fetched: true })
}
