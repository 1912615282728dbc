//! Keeps the inspector what the page knows of the selected object: fetches what was not kept, watches its Events,
//! and reads its versions when someone looks.

mod around;
mod fetch;
pub(super) mod width;

use std::rc::Rc;
use std::sync::Arc;

use leptos::prelude::{Set, WithUntracked};
use rustc_hash::FxHashMap;
use serde_json::Value;
use wasm_bindgen_futures::spawn_local;

use kubechurn_client::api::object::{Object, ObjectKey, ResourceVersion};
use kubechurn_client::api::owner::OwnerReference;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::factory::{InformerId, Registration};
use kubechurn_client::cache::reflector::Health;
use kubechurn_client::cache::shared_informer::SharedInformer;
use kubechurn_model::page::inspector::relatives;
use kubechurn_model::page::inspector::summary::summary;
use kubechurn_model::page::inspector::versions::{self, Shown};
use kubechurn_model::page::inspector::yaml;
use kubechurn_model::page::route::Route;
use kubechurn_model::table::kinds::Kind;

use crate::app::{Page, export, travel};
use crate::browser::clock;
use crate::ui::inspector::signals::{Inspect, Inspected, Tab, VersionsModel, YamlModel};
use crate::ui::screen::put;

/// How often the inspector is renewed while its object changes, in milliseconds.
const PACE: f64 = 250.0;
/// How often what depends on other objects is renewed.
const SLOW: f64 = 1_000.0;
/// Between two fetches of one object.
const FETCHES: f64 = 2_000.0;
/// A row that is looked at for so long is worth a watch of its Events.
const LINGERS: f64 = 350.0;
/// So many versions are read at first, and more on demand.
const VERSIONS: usize = 40;

/// The whole object, as read from a text.
struct Full {
    uid: Uid,
    version: ResourceVersion,
    value: Rc<Value>,
    /// The second in which it was fetched; `None` where a watch or a list brought it.
    fetched: Option<f64>,
}

/// One object that is looked at.
pub(super) struct Inspection {
    kind: &'static Kind,
    key: ObjectKey,
    since: f64,
    /// Its newest row that was seen.
    row: Option<Arc<Object>>,
    state: &'static str,
    full: Option<Rc<Full>>,
    /// Whether a fetch is on its way, and when the last one began.
    fetching: bool,
    fetched_at: f64,
    /// Why the last fetch brought nothing.
    trouble: Option<String>,
    missing: bool,
    /// What owners that are not watched belong to, by uid; `None` while that is being asked.
    owners: FxHashMap<Uid, Option<Vec<OwnerReference>>>,
    events: Option<Registration>,
    /// Versions that were read, by their sequence.
    read: FxHashMap<u64, Arc<Shown>>,
    most: usize,
    /// Its YAML, as it was last made.
    lined: yaml::Lined,
    /// What its summary was last made of.
    summed: Option<(Rc<Value>, Option<Arc<Object>>)>,
    /// For what the history was last looked through in vain, and how much had been received then.
    looked: Option<(u64, &'static str, Option<ResourceVersion>)>,
    /// What was shown last.
    received: u64,
    drawn: f64,
    slow: f64,
    dirty: bool,
}

/// What the user chose, for every object.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Choices {
    yaml: yaml::Options,
}

impl Inspection {
    fn new(kind: &'static Kind, key: ObjectKey, now: f64) -> Inspection {
        Inspection {
            kind,
            key,
            since: now,
            row: None,
            state: "waiting",
            full: None,
            fetching: false,
            fetched_at: f64::NEG_INFINITY,
            trouble: None,
            missing: false,
            owners: FxHashMap::default(),
            events: None,
            read: FxHashMap::default(),
            most: VERSIONS,
            lined: yaml::Lined::default(),
            summed: None,
            looked: None,
            received: u64::MAX,
            drawn: f64::NEG_INFINITY,
            slow: f64::NEG_INFINITY,
            dirty: true,
        }
    }

    /// Whether the informer is the inspector's own.
    pub(super) fn watches(&self, id: InformerId) -> bool {
        self.events.is_some_and(|registration| registration.informer == id)
    }
}

impl Page {
    /// Opens the inspector on what the place selects, or closes it.
    fn follow_selection(&mut self, now: f64) {
        let wanted = self.selected.clone();
        let same = match (&self.inspection, &wanted) {
            (Some(open), Some((kind, key))) => open.kind == *kind && open.key == *key,
            (None, None) => true,
            _ => false,
        };
        if same {
            return;
        }
        if let Some(registration) = self.inspection.take().and_then(|closed| closed.events) {
            self.unwatch(registration);
        }
        self.screen.inspector.clear();
        self.inspection = wanted.map(|(kind, key)| Inspection::new(kind, key, now));
        if self.inspection.is_none() {
            put(self.screen.inspector.inspected, None);
        }
    }

    fn unwatch(&mut self, registration: Registration) {
        if self.informers.remove_event_handler(registration) {
            self.drivers.remove(&registration.informer);
        }
    }

    /// Does what the user asks of the inspector.
    pub(super) fn obey_inspector(&mut self, command: Inspect) {
        let signals = self.screen.inspector;
        put(signals.copied, "");
        match command {
            Inspect::Widen(width) => return self.widen_inspector(width),
            Inspect::KeepWidth => return self.keep_inspector_width(),
            Inspect::Tab(tab) => {
                // What was shown on purpose is shown where that was, and no longer.
                signals.revealed.set(None);
                let name = if tab == Tab::default() { "" } else { tab.name() };
                self.route = Route { tab: name.to_owned(), ..self.route.clone() };
                travel::replace(&self.route);
                put(self.screen.route, self.route.clone());
            }
            Inspect::Managed(managed) => self.choices.yaml.managed = managed,
            Inspect::Managers(managers) => self.choices.yaml.managers = managers,
            Inspect::Reveal(field) => self.reveal(field),
            Inspect::Conceal => signals.revealed.set(None),
            Inspect::Copy => self.copy_yaml(),
            Inspect::Older => {
                if let Some(open) = &mut self.inspection {
                    open.most += 5 * VERSIONS;
                }
            }
            Inspect::Refresh => {
                if let Some(open) = &mut self.inspection {
                    (open.fetched_at, open.trouble) = (f64::NEG_INFINITY, None);
                }
            }
        }
        if let Some(open) = &mut self.inspection {
            open.dirty = true;
        }
    }

    fn copy_yaml(&self) {
        let Some(full) = self.inspection.as_ref().and_then(|open| open.full.clone()) else { return };
        let text = yaml::text(&full.value, self.choices.yaml.managed);
        let copied = self.screen.inspector.copied;
        spawn_local(async move {
            copied.set(if export::copy(&text).await { "copied" } else { "the browser did not allow it" });
        });
    }

    /// Shows what is known of the selected object.
    pub(super) fn present_inspector(&mut self, now: f64) {
        self.follow_selection(now);
        let signals = self.screen.inspector;
        let Some(mut open) = self.inspection.take() else { return };
        put(signals.tab, Tab::named(&self.route.tab));
        let changed = self.look_at_row(&mut open);
        let received = self.history.received() != open.received;
        let paused = self.paused && !open.dirty;
        if !paused && (open.dirty || changed || ((received || now - open.slow >= SLOW) && now - open.drawn >= PACE)) {
            put(signals.wall, clock::wall());
            self.need_text(&mut open, now);
            self.present_object(&mut open);
            put(signals.resynced, self.resynced());
            if received || open.dirty {
                open.received = self.history.received();
                self.present_versions(&mut open);
            }
            self.present_owners(&mut open);
            put(signals.dependents, self.dependents_of(&open));
            self.watch_events(&mut open, now);
            self.present_events(&open, now);
            (open.drawn, open.dirty) = (now, false);
            if now - open.slow >= SLOW {
                open.slow = now;
            }
        }
        self.inspection = Some(open);
    }

    /// Looks what has become of the row. Whether anything has.
    fn look_at_row(&self, open: &mut Inspection) -> bool {
        let row = relatives::find(&self.watches, &self.informers, open.kind, &open.key).cloned();
        let synced = self.has_listed(open.kind);
        let state = match (&row, &open.row, open.missing) {
            (Some(_), ..) => "live",
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
                // Another life of the name: nothing fetched for the last one holds.
                open.owners.clear();
                self.screen.inspector.revealed.set(None);
            }
            open.row = row;
        }
        if changed && state == "live" {
            (open.missing, open.trouble) = (false, None);
            // A value that was shown on purpose may be another one now.
            self.screen.inspector.revealed.set(None);
        }
        open.state = state;
        changed
    }

    /// Sees to it that the whole object is there: from what was kept, or from the server.
    fn need_text(&mut self, open: &mut Inspection, now: f64) {
        let wanted = open.row.as_ref().map(|row| (&row.uid, &row.resource_version));
        let has = |full: &Full, (uid, version): (&Uid, &ResourceVersion)| full.uid == *uid && full.version == *version;
        if let ("live", Some(wanted), Some(full)) = (open.state, wanted, &open.full)
            && has(full, wanted)
        {
            return;
        }
        // All that was received is looked through once, and then again when more has come.
        let looked = (self.history.received(), open.state, wanted.map(|(_, version)| version.clone()));
        if open.looked.as_ref() == Some(&looked) {
            return self.need_fetch(open, now);
        }
        let kept = self.history.of(&open.kind.resource, &open.key);
        // Of one that is gone, the last state is the one to know.
        let newest = match (open.state, wanted) {
            ("live", Some((uid, version))) => {
                kept.iter().rev().find(|one| one.uid == *uid && one.resource_version == *version)
            }
            _ => kept.last(),
        };
        let newest = newest
            .filter(|one| one.text.is_some())
            .or_else(|| kept.iter().rev().find(|one| open.state != "live" && one.text.is_some()));
        let known = |full: &Rc<Full>, version: &kubechurn_model::page::history::Version| {
            has(full, (&version.uid, &version.resource_version))
        };
        if let Some(version) = newest {
            if open.full.as_ref().is_some_and(|full| known(full, version)) {
                open.looked = Some(looked);
                return;
            }
            match version.text.as_deref().map(serde_json::from_str) {
                Some(Ok(value)) => {
                    let value = Rc::new(value);
                    let (uid, version) = (version.uid.clone(), version.resource_version.clone());
                    open.full = Some(Rc::new(Full { uid, version, value, fetched: None }));
                    open.trouble = None;
                    if open.state == "waiting" || open.state == "unknown" {
                        open.state = "deleted";
                    }
                    return;
                }
                Some(Err(error)) => open.trouble = Some(format!("What was received cannot be read: {error}.")),
                None => {}
            }
        }
        open.looked = Some(looked);
        self.need_fetch(open, now);
    }

    /// Fetches what was not kept, if it is needed, and now and then.
    fn need_fetch(&self, open: &mut Inspection, now: f64) {
        let synced = self.has_listed(open.kind);
        let asks = open.state == "live" || (synced && !open.missing && open.full.is_none() && open.state == "waiting");
        if asks && !open.fetching && now - open.fetched_at >= FETCHES {
            (open.fetching, open.fetched_at) = (true, now);
            self.fetch(open.kind, open.key.clone());
        }
    }

    fn present_object(&self, open: &mut Inspection) {
        let signals = self.screen.inspector;
        let health = self.watches.member(open.kind).map(|watched| watched.health(&self.informers, clock::now()));
        let words = match (open.state, health) {
            ("deleted", _) => match open.full {
                Some(_) => String::from("Deleted. This is the last state that this session received."),
                None => String::from("Deleted. Its last state was not kept; the row is all there is."),
            },
            ("unknown", _) => open.trouble.clone().unwrap_or_else(|| {
                format!(
                    "The server has no {} of this name. It may have gone before this page looked.",
                    open.kind.resource.kind
                )
            }),
            ("waiting", _) if open.full.is_some() => {
                String::from("Not among the rows of the table: as fetched, and not watched.")
            }
            ("waiting", _) => String::from("Waiting for the list …"),
            (_, Some(Health::Stale)) => String::from("The connection is stale: what is shown may be old."),
            _ => String::new(),
        };
        put(
            signals.inspected,
            Some(Inspected {
                kind: open.kind.resource.kind.to_owned(),
                resource: open.kind.name,
                key: open.key.to_string(),
                namespace: open.key.namespace.to_string(),
                name: open.key.name.to_string(),
                state: open.state,
                words,
            }),
        );
        let full = open.full.as_deref();
        let is_summed = match (full, &open.summed) {
            (Some(full), Some((value, row))) => {
                Rc::ptr_eq(&full.value, value) && row.as_ref().map(Arc::as_ptr) == open.row.as_ref().map(Arc::as_ptr)
            }
            (full, summed) => full.is_none() && summed.is_none(),
        };
        if !is_summed {
            put(signals.summary, full.map(|full| summary(open.kind, open.row.as_deref(), &full.value)));
            open.summed = full.map(|full| (full.value.clone(), open.row.clone()));
        }
        let newest = match (full, &open.row) {
            (Some(full), Some(row)) => full.version == row.resource_version,
            _ => true,
        };
        let words = match (&open.trouble, full) {
            (Some(trouble), _) => trouble.clone(),
            (None, None) if open.state == "deleted" => String::from("Its text was not kept."),
            (None, None) => String::from("Fetching it …"),
            (None, Some(full)) => {
                let from = match full.fetched {
                    Some(_) => "fetched",
                    None => "as received",
                };
                let late = if newest { "" } else { "; a newer one is on its way" };
                format!("resourceVersion {}, {from}{late}", full.version)
            }
        };
        // Lines are made only while they are looked at.
        let before = signals.yaml.with_untracked(Clone::clone);
        let yaml = match full.filter(|_| Tab::named(&self.route.tab) == Tab::Yaml) {
            Some(full) => open.lined.of(&full.value, self.choices.yaml),
            None => before.yaml,
        };
        let entries =
            full.and_then(|full| full.value.get("metadata")?.get("managedFields")?.as_array()).map_or(0, Vec::len);
        let failed = open.trouble.is_some();
        let yaml::Options { managed, managers } = self.choices.yaml;
        put(signals.yaml, YamlModel { yaml, words, failed, entries, managed, managers });
    }

    /// Whether all objects of a kind in view are known.
    fn has_listed(&self, kind: &Kind) -> bool {
        let watched = self.watches.member(kind);
        watched.is_some_and(|watched| watched.informers(&self.informers).all(SharedInformer::has_synced))
    }

    fn present_versions(&self, open: &mut Inspection) {
        let kept = self.history.of(&open.kind.resource, &open.key);
        let older = kept.len().saturating_sub(open.most);
        let mut shown = Vec::with_capacity(kept.len() - older);
        for (at, version) in kept.iter().enumerate().skip(older) {
            let before = at.checked_sub(1).map(|before| kept[before]);
            let read = open.read.entry(version.sequence).or_insert_with(|| Arc::new(versions::show(version, before)));
            shown.push(read.clone());
        }
        // What is no longer kept shall not be shown from memory either.
        let oldest = kept.first().map_or(u64::MAX, |version| version.sequence);
        open.read.retain(|sequence, _| *sequence >= oldest);
        shown.reverse();
        let uid = open.row.as_ref().map(|row| row.uid.clone()).or_else(|| Some(kept.last()?.uid.clone()));
        let (count, perhaps) = uid.map_or((0, false), |uid| self.history.let_go(&uid));
        let budget = self.history.bytes().1 / 1_000_000;
        let began = kept.first().is_some_and(|first| first.delta_type == DeltaType::Added);
        let let_go = match (count, perhaps && !began) {
            (0, false) => String::new(),
            (0, true) => format!("Older versions may have been let go: the history keeps {budget} MB."),
            (1, _) => format!("1 older version was let go: the history keeps {budget} MB."),
            (count, _) => format!("{count} older versions were let go: the history keeps {budget} MB."),
        };
        put(self.screen.inspector.versions, VersionsModel { shown, older, let_go });
    }
}
