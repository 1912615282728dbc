//! The whole text of the inspected object: from what was kept, or from the server.

use std::rc::Rc;

use serde_json::Value;

use kubechurn_client::api::object::ResourceVersion;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::status::Failure;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;

use crate::history::Entry;
use crate::history::secret;
use crate::page::context::Context;
use crate::page::inspector::object::{InspectedObject, ObjectState};
use crate::page::requests::Purpose;
use kubechurn_columns::kinds::Kind;

/// The shortest time between two fetches of one object, in milliseconds.
const FETCHES: f64 = 2_000.0;
/// The HTTP status of an object that does not exist.
pub const NOT_FOUND: u16 = 404;

/// The whole object, and how the page gets it.
#[derive(Debug, Default)]
pub struct FullText {
    full: Option<FullObject>,
    /// Whether a fetch is under way.
    is_fetching: bool,
    /// When the last fetch began.
    fetched_at: Option<f64>,
    /// Why the last fetch failed.
    trouble: Option<String>,
    /// Whether the server says that the object does not exist.
    is_missing: bool,
    /// The last search of the history that found nothing new.
    searched: Option<Searched>,
}

/// The whole object, read from a text.
#[derive(Debug)]
pub struct FullObject {
    pub uid: Uid,
    pub version: ResourceVersion,
    pub value: Rc<Value>,
    /// Whether the text was fetched, rather than received from a watch or a list.
    pub is_fetched: bool,
}

/// A search of the history.
#[derive(Debug, PartialEq)]
struct Searched {
    /// How much had been received by then.
    received: u64,
    state: ObjectState,
    version: Option<ResourceVersion>,
}

impl FullObject {
    /// Reads a fetched object. The values of a Secret are masked.
    pub fn read(kind: &Kind, text: String, salt: u64) -> Result<FullObject, Failure> {
        let unread = || Failure::unreachable("what the server answers is no object");
        let text = match secret::is_secret(&kind.resource) {
            true => secret::redact(&text, salt).ok_or_else(unread)?,
            false => text,
        };
        let value: Value = serde_json::from_str(&text).map_err(|_| unread())?;
        let value = with_type(kind, value);
        let metadata = |name: &str| {
            let value = value.get("metadata").and_then(|metadata| metadata.get(name));
            value.and_then(|value| value.as_str()).unwrap_or_default().to_owned()
        };
        let (uid, version) = (Uid::new(&metadata("uid")), ResourceVersion::new(&metadata("resourceVersion")));
        Ok(FullObject { uid, version, value: Rc::new(value), is_fetched: true })
    }

    /// Whether it is this version of this object.
    pub fn is(&self, uid: &Uid, version: &ResourceVersion) -> bool {
        self.uid == *uid && self.version == *version
    }

    /// How many entries `managedFields` has.
    pub fn managed_fields(&self) -> usize {
        let entries = self.value.get("metadata").and_then(|metadata| metadata.get("managedFields"));
        entries.and_then(Value::as_array).map_or(0, Vec::len)
    }
}

/// The object with `apiVersion` and `kind`, which the items of a list lack.
pub fn with_type(kind: &Kind, mut value: Value) -> Value {
    let ApiResource { group, version, kind, .. } = kind.resource;
    if let Some(object) = value.as_object_mut() {
        let api_version = if group.is_empty() { String::from(version) } else { format!("{group}/{version}") };
        object.entry("apiVersion").or_insert_with(|| Value::from(api_version));
        object.entry("kind").or_insert_with(|| Value::from(kind));
    }
    value
}

impl FullText {
    /// The whole object, if it is known.
    pub fn full(&self) -> Option<&FullObject> {
        self.full.as_ref()
    }

    /// Whether the server says that the object does not exist.
    pub fn is_missing(&self) -> bool {
        self.is_missing
    }

    /// Why the last fetch failed.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Shows this trouble until the next text is known.
    pub fn fail(&mut self, trouble: String) {
        self.trouble = Some(trouble);
    }

    /// The object is live: answers that came before say nothing about it any more.
    pub fn forget_answers(&mut self) {
        (self.is_missing, self.trouble) = (false, None);
    }

    /// Lets the next fetch begin at once.
    pub fn retry(&mut self) {
        (self.fetched_at, self.trouble) = (None, None);
    }

    /// Where the text comes from, or why there is none.
    pub fn words(&self, object: &InspectedObject) -> String {
        match (&self.trouble, &self.full) {
            (Some(trouble), _) => trouble.clone(),
            (None, None) if object.state == ObjectState::Deleted || object.is_of_moment() => {
                String::from("Its text was not kept.")
            }
            (None, None) => String::from("Fetching it …"),
            (None, Some(full)) => {
                let from = if full.is_fetched { "fetched" } else { "as received" };
                let is_newest = object.row.as_ref().is_none_or(|row| full.version == row.resource_version);
                let late = if is_newest { "" } else { "; a newer one is on its way" };
                format!("resourceVersion {}, {from}{late}", full.version)
            }
        }
    }

    /// Makes sure that the whole object is known: from what was kept, or from the server. An object that turns out to
    /// be gone becomes a deleted one.
    pub fn ensure(&mut self, object: &mut InspectedObject, cx: &mut Context<'_>) {
        let is_live = object.state == ObjectState::Live;
        let row = object.row.as_ref();
        let is_of_row = |full: &FullObject| row.is_some_and(|row| full.is(&row.uid, &row.resource_version));
        if is_live && self.full.as_ref().is_some_and(is_of_row) {
            return;
        }
        // The whole history is searched once, and again only after more was received.
        let history = &cx.watching.history;
        let version = row.map(|row| row.resource_version.clone());
        let searched = Searched { received: history.received(), state: object.state, version };
        if self.searched.as_ref() == Some(&searched) {
            return self.fetch(object, cx);
        }
        let kept = cx.versions_of(object.kind, &object.key);
        let is_absent = matches!(object.state, ObjectState::Waiting | ObjectState::Unknown);
        let is_gone = kept.last().is_some_and(|last| last.delta_type == DeltaType::Deleted);
        // An object that is not among the rows is gone if its deletion came last, or if all of its kind are listed.
        let is_gone = is_absent && (is_gone || (!kept.is_empty() && cx.watching.has_listed(object.kind)));
        // For a deleted object, the last state is shown.
        let newest = match row.filter(|_| is_live) {
            Some(row) => {
                kept.iter().rev().find(|one| one.uid == row.uid && one.resource_version == row.resource_version)
            }
            None => kept.last(),
        };
        let newest =
            newest.filter(|one| one.has_text).or_else(|| kept.iter().rev().find(|one| !is_live && one.has_text));
        if let Some(entry) = newest {
            let Entry { uid, resource_version, .. } = entry;
            if is_gone {
                object.state = ObjectState::Deleted;
            }
            if self.full.as_ref().is_some_and(|full| full.is(uid, resource_version)) {
                self.searched = Some(searched);
                return;
            }
            match history.version(entry).text.as_deref().map(serde_json::from_str) {
                Some(Ok(value)) => {
                    let value = with_type(object.kind, value);
                    let (uid, version) = (uid.clone(), resource_version.clone());
                    self.full = Some(FullObject { uid, version, value: Rc::new(value), is_fetched: false });
                    self.trouble = None;
                    return;
                }
                Some(Err(error)) => self.trouble = Some(format!("What was received cannot be read: {error}.")),
                None => {}
            }
        }
        if is_gone {
            object.state = ObjectState::Deleted;
        }
        self.searched = Some(searched);
        self.fetch(object, cx);
    }

    /// Fetches an object that was not kept, if its text is needed, and not too often.
    fn fetch(&mut self, object: &InspectedObject, cx: &mut Context<'_>) {
        let is_unanswered = !self.is_missing && self.full.is_none();
        if object.is_of_moment() {
            // The server has what is now.
            self.full = None;
            return;
        }
        let is_needed = match object.state {
            ObjectState::Live => true,
            ObjectState::Waiting => is_unanswered && cx.watching.has_listed(object.kind),
            ObjectState::Provisional => is_unanswered,
            ObjectState::Deleted | ObjectState::Unknown => false,
        };
        if is_needed && !self.is_fetching && self.fetched_at.is_none_or(|at| cx.now - at >= FETCHES) {
            (self.is_fetching, self.fetched_at) = (true, Some(cx.now));
            cx.get(Purpose::Inspect(object.kind, object.key.clone()), object.kind, &object.key);
        }
    }

    /// Handles the whole object, or the reason why it could not be fetched.
    pub fn fetched(&mut self, kind: &Kind, answer: Result<String, Failure>, salt: u64) {
        self.is_fetching = false;
        match answer.and_then(|text| FullObject::read(kind, text, salt)) {
            Ok(full) => (self.full, self.trouble) = (Some(full), None),
            Err(failure) if failure.code == NOT_FOUND => self.is_missing = true,
            Err(failure) => {
                let words = failure.words.trim_end_matches('.');
                self.trouble = Some(format!("It could not be fetched: {words}."));
            }
        }
    }
}
