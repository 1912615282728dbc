//! Fills the inspector with what the page knows about the selected object: fetches an object whose text was not kept,
//! watches its Events, and reads its versions when the user looks at them.

mod around;
mod last_write;
mod steps;
mod text;
mod versions;

use std::rc::Rc;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde_json::Value;

use kubechurn_client::api::object::{Object, ObjectKey, ResourceVersion};
use kubechurn_client::api::owner::OwnerReference;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::factory::{InformerId, Registration};
use kubechurn_client::cache::reflector::Health;
use kubechurn_client::cache::shared_informer::SharedInformer;

use crate::page::command::InspectorCommand;
use crate::page::effect::{Effect, Request};
use crate::page::environment::Environment;
use crate::page::inspector::relatives;
use crate::page::inspector::tab::Tab;
use crate::page::inspector::versions::ShownVersion;
use crate::page::inspector::yaml;
use crate::page::route::Route;
use crate::page::state::Page;
use crate::page::state::inspector::last_write::Asked;
use crate::page::state::requests::Purpose;
use crate::page::view::inspector::{Inspected, YamlModel};
use kubechurn_columns::kinds::Kind;

/// How often the inspector is renewed at most while its object changes, in milliseconds.
const PACE: f64 = 250.0;
/// How often the parts that depend on other objects are renewed, in milliseconds.
const SLOW: f64 = 1_000.0;
/// How many versions are read at first. More are read on demand.
const VERSIONS: usize = 40;

/// The object that the inspector shows, and the user's choices for every object.
#[derive(Debug, Default)]
pub(super) struct Inspector {
    open: Option<Inspection>,
    yaml: yaml::Options,
    /// The outcome of the last copy.
    copied: &'static str,
}

/// An object that the inspector shows.
#[derive(Debug)]
struct Inspection {
    kind: &'static Kind,
    key: ObjectKey,
    since: f64,
    /// The newest row of the object.
    row: Option<Arc<Object>>,
    /// `live`, `deleted`, `unknown`, `waiting`, or `provisional` where a list that is not complete has brought the object.
    state: &'static str,
    text: Text,
    /// The owners of owners that are not watched, by uid; `None` for an owner that does not exist.
    owners: FxHashMap<Uid, Option<Vec<OwnerReference>>>,
    events: Option<Registration>,
    /// The versions that were read, by sequence number.
    read: FxHashMap<u64, Arc<ShownVersion>>,
    /// How many versions are shown.
    most: usize,
    /// The number of the newest version that is shown; `None` for the newest that is kept.
    newest: Option<u64>,
    /// The number of the version that is marked.
    marked: Option<u64>,
    /// The field whose last write the user asks for.
    asked: Option<Asked>,
    drawn: Drawn,
}

/// The whole object, and how the page gets it.
#[derive(Debug)]
struct Text {
    full: Option<Rc<Full>>,
    /// Whether a fetch is under way.
    fetching: bool,
    /// When the last fetch began.
    fetched_at: f64,
    /// Why the last fetch failed.
    trouble: Option<String>,
    /// Whether the server says that the object does not exist.
    missing: bool,
    /// What the last search of the history looked for without success, and how much had been received by then.
    looked: Option<(u64, &'static str, Option<ResourceVersion>)>,
}

/// The whole object, read from a text.
#[derive(Debug)]
struct Full {
    uid: Uid,
    version: ResourceVersion,
    value: Rc<Value>,
    /// Whether the text was fetched, rather than received from a watch or a list.
    fetched: bool,
}

/// What was shown last, and when.
#[derive(Debug)]
struct Drawn {
    /// How much had been received by then.
    received: u64,
    at: f64,
    slow: f64,
    /// Whether everything must be shown again in any case.
    dirty: bool,
    /// The lines of YAML that were made last.
    lined: yaml::Lined,
    /// What the last summary was made from.
    summed: Option<(Rc<Value>, Option<Arc<Object>>)>,
}

impl Inspection {
    fn new(kind: &'static Kind, key: ObjectKey, now: f64) -> Inspection {
        Inspection {
            kind,
            key,
            since: now,
            row: None,
            state: "waiting",
            text: Text {
                full: None,
                fetching: false,
                fetched_at: f64::NEG_INFINITY,
                trouble: None,
                missing: false,
                looked: None,
            },
            owners: FxHashMap::default(),
            events: None,
            read: FxHashMap::default(),
            most: VERSIONS,
            newest: None,
            marked: None,
            asked: None,
            drawn: Drawn {
                received: u64::MAX,
                at: f64::NEG_INFINITY,
                slow: f64::NEG_INFINITY,
                dirty: true,
                lined: yaml::Lined::default(),
                summed: None,
            },
        }
    }

    fn is_of(&self, kind: &Kind, key: &ObjectKey) -> bool {
        self.kind == kind && self.key == *key
    }
}

impl Inspector {
    /// Whether the inspector watches Events through this informer.
    pub(super) fn watches(&self, id: InformerId) -> bool {
        let events = self.open.as_ref().and_then(|open| open.events);
        events.is_some_and(|registration| registration.informer == id)
    }

    /// The inspection of this object, if the inspector shows it.
    fn of(&mut self, kind: &Kind, key: &ObjectKey) -> Option<&mut Inspection> {
        self.open.as_mut().filter(|open| open.is_of(kind, key))
    }
}

impl Page {
    /// Carries out a command for the inspector.
    pub(super) fn command_inspector(&mut self, command: InspectorCommand, env: &dyn Environment) {
        self.inspector.copied = "";
        match command {
            InspectorCommand::Tab(tab) => self.go_to_tab(tab),
            InspectorCommand::LastWrite(pointer) => self.ask_last_write(pointer),
            InspectorCommand::Change(sequence) => self.show_change(sequence, env),
            InspectorCommand::Step(by) => self.step_change(by, env),
            InspectorCommand::Newest => {
                if let Some(open) = &mut self.inspector.open {
                    (open.newest, open.most) = (None, VERSIONS);
                }
            }
            InspectorCommand::Managed(managed) => self.inspector.yaml.managed = managed,
            InspectorCommand::Managers(managers) => self.inspector.yaml.managers = managers,
            InspectorCommand::Reveal(field) => self.reveal(field),
            InspectorCommand::Conceal => self.out.view.inspector.revealed.put(None),
            InspectorCommand::Copy => {
                let full = self.inspector.open.as_ref().and_then(|open| open.text.full.clone());
                if let Some(full) = full {
                    let text = yaml::text(&full.value, self.inspector.yaml.managed);
                    self.request(Purpose::CopyYaml, Request::Copy(text));
                }
            }
            InspectorCommand::Older => {
                if let Some(open) = &mut self.inspector.open {
                    open.most += 5 * VERSIONS;
                }
            }
            InspectorCommand::Refresh => {
                if let Some(open) = &mut self.inspector.open {
                    (open.text.fetched_at, open.text.trouble) = (f64::NEG_INFINITY, None);
                }
            }
        }
        if let Some(open) = &mut self.inspector.open {
            open.drawn.dirty = true;
        }
    }

    fn go_to_tab(&mut self, tab: Tab) {
        // A value that the user revealed is hidden again as soon as the tab changes.
        self.out.view.inspector.revealed.put(None);
        let name = if tab == Tab::default() { "" } else { tab.name() };
        self.place.route = Route { tab: name.to_owned(), ..self.place.route.clone() };
        self.out.effects.push(Effect::Replace(self.place.route.fragment()));
        self.present_route();
    }

    /// Tells whether the YAML was copied.
    pub(super) fn copied_yaml(&mut self, done: bool) {
        self.inspector.copied = if done { "copied" } else { "the browser did not allow it" };
        if let Some(open) = &mut self.inspector.open {
            open.drawn.dirty = true;
        }
        self.hurry();
    }

    /// Opens the inspector on the object that the place selects, or closes it.
    fn follow_selection(&mut self, now: f64) {
        let same = match (&self.inspector.open, &self.place.selected) {
            (Some(open), Some((kind, key))) => open.is_of(kind, key),
            (None, None) => true,
            _ => false,
        };
        if same {
            return;
        }
        if let Some(registration) = self.inspector.open.take().and_then(|closed| closed.events) {
            self.unwatch(registration);
        }
        self.inspector.copied = "";
        self.out.view.inspector.clear();
        let selected = self.place.selected.clone();
        self.inspector.open = selected.map(|(kind, key)| Inspection::new(kind, key, now));
        if self.inspector.open.is_none() {
            self.out.view.inspector.inspected.put(None);
        }
    }

    fn unwatch(&mut self, registration: Registration) {
        if self.watching.informers.remove_event_handler(registration) {
            self.out.effects.push(Effect::Stop(registration.informer));
        }
    }

    /// Shows what is known about the selected object.
    pub(super) fn present_inspector(&mut self, now: f64, env: &dyn Environment) {
        self.follow_selection(now);
        let Some(mut open) = self.inspector.open.take() else { return };
        self.out.view.inspector.tab.put(Tab::named(&self.place.route.tab));
        let changed = self.look_at_row(&mut open);
        let received = self.watching.history.received();
        let is_new = received != open.drawn.received;
        let (dirty, rested) = (open.drawn.dirty, now - open.drawn.at >= PACE);
        let is_due = changed || ((is_new || now - open.drawn.slow >= SLOW) && rested);
        if dirty || (is_due && !self.watching.paused) {
            self.out.view.inspector.wall.put(env.wall());
            self.need_text(&mut open, now);
            self.present_object(&mut open, now);
            if is_new || dirty {
                open.drawn.received = received;
                self.present_versions(&mut open);
            } else {
                self.present_resynced();
            }
            self.present_owners(&mut open);
            let dependents = self.dependents_of(&open);
            self.out.view.inspector.dependents.put(dependents);
            self.watch_events(&mut open, now);
            self.present_events(&open, now);
            (open.drawn.at, open.drawn.dirty) = (now, false);
            if now - open.drawn.slow >= SLOW {
                open.drawn.slow = now;
            }
        }
        self.present_last_write(&mut open);
        self.inspector.open = Some(open);
    }

    /// Reads the present state of the object's row. Returns whether the row changed.
    fn look_at_row(&mut self, open: &mut Inspection) -> bool {
        let (watches, informers) = (&self.watching.watches, &self.watching.informers);
        let row = relatives::find(watches, informers, open.kind, &open.key).cloned();
        let synced = self.has_listed(open.kind);
        let provisional = row.is_none() && watches.is_provisional(open.kind, &open.key);
        let state = match (&row, &open.row, open.text.missing) {
            (Some(_), ..) => "live",
            _ if provisional => "provisional",
            (None, Some(_), _) if synced => "deleted",
            (None, Some(_), _) => open.state,
            (None, None, true) => "unknown",
            (None, None, false) => "waiting",
        };
        let same = match (&row, &open.row) {
            (Some(new), Some(old)) => Arc::ptr_eq(new, old),
            (new, _) => new.is_none(),
        };
        let changed = state != open.state || !same;
        if row.is_some() {
            if !same && open.row.as_ref().is_some_and(|old| row.as_ref().is_some_and(|new| new.uid != old.uid)) {
                // Another object has the name now: nothing that was fetched for the last one is right for it.
                open.owners.clear();
                self.out.view.inspector.revealed.put(None);
            }
            open.row = row;
        }
        if changed && state == "live" {
            (open.text.missing, open.text.trouble) = (false, None);
            // A value that the user revealed may have changed.
            self.out.view.inspector.revealed.put(None);
        }
        open.state = state;
        changed
    }

    /// Whether the page knows all objects of a kind in view.
    fn has_listed(&self, kind: &Kind) -> bool {
        let watched = self.watching.watches.member(kind);
        watched.is_some_and(|watched| watched.informers(&self.watching.informers).all(SharedInformer::has_synced))
    }

    fn present_object(&mut self, open: &mut Inspection, now: f64) {
        let health = self.watching.watches.member(open.kind);
        let health = health.map(|watched| watched.health(&self.watching.informers, now));
        let words = state_words(open, health);
        let schema = self.columns.layout.schema();
        let number = schema.number(open.kind).filter(|_| schema.has_clusters());
        let kind = number.map_or(open.kind.resource.kind, |number| schema.long(number)).to_owned();
        let shown = &mut self.out.view.inspector;
        shown.inspected.put(Some(Inspected {
            kind,
            resource: open.kind.name,
            key: open.key.to_string(),
            namespace: open.key.namespace.to_string(),
            name: open.key.name.to_string(),
            state: open.state,
            words,
        }));
        let full = open.text.full.as_deref();
        let is_summed = match (full, &open.drawn.summed) {
            (Some(full), Some((value, row))) => {
                Rc::ptr_eq(&full.value, value) && row.as_ref().map(Arc::as_ptr) == open.row.as_ref().map(Arc::as_ptr)
            }
            (full, summed) => full.is_none() && summed.is_none(),
        };
        if !is_summed {
            let summary = crate::page::inspector::summary::summary;
            shown.summary.put(full.map(|full| summary(open.kind, open.row.as_deref(), &full.value)));
            open.drawn.summed = full.map(|full| (full.value.clone(), open.row.clone()));
        }
        let words = open.text.words(open.state, open.row.as_deref());
        // The lines are made only while the tab is in view.
        let yaml = match full.filter(|_| Tab::named(&self.place.route.tab) == Tab::Yaml) {
            Some(full) => open.drawn.lined.of(&full.value, self.inspector.yaml),
            None => shown.yaml.yaml.clone(),
        };
        let managed_fields = |full: &Full| full.value.get("metadata")?.get("managedFields")?.as_array().map(Vec::len);
        let entries = full.and_then(managed_fields).unwrap_or(0);
        let failed = open.text.trouble.is_some();
        let yaml::Options { managed, managers } = self.inspector.yaml;
        let copied = self.inspector.copied;
        shown.yaml.put(YamlModel { yaml, words, failed, entries, managed, managers, copied });
    }
}

/// What the inspector says about the object's state.
fn state_words(open: &Inspection, health: Option<Health>) -> String {
    match (open.state, health) {
        ("deleted", _) => match open.text.full {
            Some(_) => String::from("Deleted. This is the last state that this session received."),
            None => String::from("Deleted. Its last state was not kept; the row is all there is."),
        },
        ("unknown", _) => open.text.trouble.clone().unwrap_or_else(|| {
            format!(
                "The server has no {} of this name. It may have gone before this page looked.",
                open.kind.resource.kind
            )
        }),
        ("provisional", _) => String::from(
            "The list is not complete: this is what it has brought so far, and the next one may not have it.",
        ),
        ("waiting", _) if open.text.full.is_some() => {
            String::from("Not among the rows of the table: as fetched, and not watched.")
        }
        ("waiting", _) => String::from("Waiting for the list …"),
        (_, Some(Health::Stale)) => String::from("The connection is stale: what is shown may be old."),
        _ => String::new(),
    }
}
