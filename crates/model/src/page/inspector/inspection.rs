//! One look at an object: fetches it if its text was not kept, watches its Events, reads its versions, and shows all
//! this.

use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use serde_json::Value;

use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::reflector::Health;

use crate::history::Entry;
use crate::inspector::command_lines::command_lines;
use crate::inspector::deletion::deletion;
use crate::inspector::relatives::{Dependents, Watching, dependents, dependents_then};
use crate::inspector::summary::summary;
use crate::inspector::tab::Tab;
use crate::inspector::yaml;
use crate::navigation::route::{ChosenVersion, Route};
use crate::page::context::Context;
use crate::page::effect::Request;
use crate::page::inspector::comparison::Comparison;
use crate::page::inspector::event_watch::EventWatch;
use crate::page::inspector::full_text::FullText;
use crate::page::inspector::last_write_question::LastWriteQuestion;
use crate::page::inspector::object::{Difference, InspectedObject, ObjectState};
use crate::page::inspector::owners::Owners;
use crate::page::inspector::shown_versions::{ShownVersions, present_resynced};
use crate::page::links::kind_of;
use crate::page::requests::Purpose;
use crate::page::why::life::Lives;
use crate::rewind::Stores;
use crate::view::inspector::{Inspected, YamlModel};
use kubechurn_columns::kinds::Kind;

/// How often the inspector is renewed at most while its object changes, in milliseconds.
const PACE: f64 = 250.0;
/// How often the parts that depend on other objects are renewed, in milliseconds.
const SLOW: f64 = 1_000.0;

/// An object that the inspector shows, and everything that belongs to it.
#[derive(Debug)]
pub struct Inspection {
    pub object: InspectedObject,
    pub text: FullText,
    pub owners: Owners,
    pub events: EventWatch,
    pub versions: ShownVersions,
    pub comparison: Comparison,
    last_write: LastWriteQuestion,
    life: Lives,
    drawn: Drawn,
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
    /// The versions that the address named then.
    places: (Option<ChosenVersion>, Option<ChosenVersion>),
    /// The lines of YAML that were made last.
    lined: yaml::Lined,
    /// The lines of YAML that are wanted, and whether they are others than those that are shown.
    window: (Range<usize>, bool),
    /// What the last summary was made from.
    summed: Option<(Rc<Value>, Option<Arc<Object>>)>,
}

impl Inspection {
    /// Nothing is known of the object yet.
    pub fn new(kind: &'static Kind, key: ObjectKey, now: f64) -> Inspection {
        Inspection {
            object: InspectedObject::new(kind, key),
            text: FullText::default(),
            owners: Owners::default(),
            events: EventWatch::new(now),
            versions: ShownVersions::default(),
            comparison: Comparison::default(),
            last_write: LastWriteQuestion::default(),
            life: Lives::default(),
            drawn: Drawn {
                received: u64::MAX,
                at: f64::NEG_INFINITY,
                slow: f64::NEG_INFINITY,
                dirty: true,
                places: (None, None),
                lined: yaml::Lined::default(),
                window: (yaml::window(0.0, 0.0), false),
                summed: None,
            },
        }
    }

    /// Shows everything again at the next frame.
    pub fn show_again(&mut self) {
        self.drawn.dirty = true;
    }

    /// Shows other lines of the YAML at the next frame.
    pub fn scroll(&mut self, window: Range<usize>) {
        if self.drawn.window.0 != window {
            self.drawn.window = (window, true);
        }
    }

    /// Asks for the last write of a field, or closes the answer.
    pub fn ask_last_write(&mut self, pointer: Option<String>, cx: &Context<'_>) {
        self.last_write.ask(pointer, &self.object, self.text.full(), cx);
    }

    /// Copies the YAML to the clipboard.
    pub fn copy(&self, managed: bool, cx: &mut Context<'_>) {
        if let Some(full) = self.text.full() {
            cx.request(Purpose::CopyYaml, Request::Copy(yaml::text(&full.value, managed)));
        }
    }

    /// Copies what differs between the two that are compared, or else between the version that is marked, or the newest, and the
    /// one before it.
    pub fn copy_difference(&self, cx: &mut Context<'_>) {
        match self.versions.difference(&self.object, cx) {
            Some(text) => drop(cx.request(Purpose::Copy("the difference", text.clone()), Request::Copy(text))),
            None => cx.show_message("Of the two versions one is not kept, or both are the same."),
        }
    }

    /// Fetches one value of the Secret for the screen. The value is kept nowhere else.
    pub fn reveal(&self, field: String, cx: &mut Context<'_>) {
        let (kind, key) = (self.object.kind, &self.object.key);
        cx.get(Purpose::Reveal(kind, key.clone(), field), kind, key);
    }

    /// Shows what is known about the object.
    pub fn present(&mut self, options: yaml::Options, copied: &'static str, cx: &mut Context<'_>) {
        let changed = self.look(cx);
        let received = cx.watching.history.received();
        let is_new = received != self.drawn.received;
        let Route { change, against, .. } = &cx.navigation.route;
        let is_followed = (&self.drawn.places.0, &self.drawn.places.1) == (change, against);
        let (dirty, rested) = (self.drawn.dirty || !is_followed, cx.now - self.drawn.at >= PACE);
        let is_due = changed || ((is_new || cx.now - self.drawn.slow >= SLOW) && rested);
        if dirty || (is_due && !cx.watching.paused) {
            cx.view.inspector.wall.put(cx.server_time(self.object.kind.resource.cluster));
            self.text.ensure(&mut self.object, cx);
            self.present_object(cx);
            self.present_summary(cx);
            let life = self.life.of(self.object.kind.resource, &self.object.key, cx);
            cx.view.inspector.life.put(life);
            self.present_yaml(options, copied, cx);
            if is_new || dirty || changed {
                self.drawn.received = received;
                let Route { change, against, .. } = &cx.navigation.route;
                self.drawn.places = (change.clone(), against.clone());
                self.versions.follow_address(&self.object, cx);
                self.versions.present(&self.object, cx);
                self.comparison.present(&self.object, cx);
            } else {
                present_resynced(cx);
            }
            self.owners.present(&self.object, self.text.full(), cx);
            self.present_dependents(cx);
            self.events.ensure(&self.object, cx);
            self.events.present(cx);
            (self.drawn.at, self.drawn.dirty) = (cx.now, false);
            if cx.now - self.drawn.slow >= SLOW {
                self.drawn.slow = cx.now;
            }
        }
        if self.drawn.window.1 {
            self.present_yaml(options, copied, cx);
        }
        self.last_write.present(&self.object, self.text.full(), cx);
    }

    /// Reads the present state of the object's row. Returns whether the row changed.
    fn look(&mut self, cx: &mut Context<'_>) -> bool {
        let Difference { changed, is_other } = self.object.look(self.text.is_missing(), cx);
        if is_other {
            // Nothing that was fetched for the last object is right for this one.
            self.owners.clear();
        }
        if changed && self.object.state == ObjectState::Live {
            self.text.forget_answers();
            // A value that the user revealed may have changed.
            cx.view.inspector.revealed.put(None);
        }
        changed
    }

    fn present_object(&self, cx: &mut Context<'_>) {
        let (kind, key) = (self.object.kind, &self.object.key);
        let watched = cx.watching.watches.member(kind);
        let health = watched.map(|watched| watched.health(&cx.watching.informers, cx.now));
        let schema = &cx.navigation.schema;
        let number = schema.number(kind).filter(|_| schema.has_clusters());
        cx.view.inspector.inspected.put(Some(Inspected {
            kind: number.map_or(kind.resource.kind, |number| schema.long(number)).to_owned(),
            api_kind: kind.resource.kind,
            resource: kind.name,
            key: key.to_string(),
            namespace: key.namespace.to_string(),
            name: key.name.to_string(),
            state: self.object.state.name(),
            words: self.words(health, cx),
            command_lines: command_lines(kind, key, self.text.full().map(|full| &*full.value)),
        }));
    }

    /// What the inspector says about the object's state.
    fn words(&self, health: Option<Health>, cx: &Context<'_>) -> String {
        let full = self.text.full();
        let words = match self.object.state {
            ObjectState::Deleted => return self.deleted(cx),
            ObjectState::Waiting if self.object.is_of_moment() => "Its version at this moment is not recorded.",
            ObjectState::Unknown if self.object.is_of_moment() => {
                return format!("No {} of this name is known at this moment.", self.object.kind.resource.kind);
            }
            ObjectState::Unknown => {
                return self.text.trouble().map_or_else(
                    || {
                        let kind = self.object.kind.resource.kind;
                        format!("The server has no {kind} of this name. It may have gone before this page looked.")
                    },
                    str::to_owned,
                );
            }
            ObjectState::Provisional => {
                "The list is not complete: this is what it has brought so far, and the next one may not have it."
            }
            ObjectState::Waiting if full.is_some_and(|full| full.is_fetched) => {
                "Not among the rows of the table: as fetched, and not watched."
            }
            ObjectState::Waiting if full.is_some() => {
                "Not among the rows of the table now: as this session received it last."
            }
            ObjectState::Waiting => "Waiting for the list …",
            ObjectState::Live if health == Some(Health::Stale) => "The connection is stale: what is shown may be old.",
            ObjectState::Live => {
                let deletion = full.and_then(|full| deletion(&full.value));
                return deletion.map_or_else(String::new, |deletion| {
                    // Both clocks are read at once: the ages are those of the page's time.
                    let ago = cx.server_time(self.object.kind.resource.cluster).seconds_since(deletion.asked) as f64
                        * 1_000.0;
                    deletion.sentence(&cx.words().date_and_second(cx.shown_at() - ago))
                });
            }
        };
        words.to_owned()
    }

    /// When the object was deleted, and what is known of it.
    fn deleted(&self, cx: &Context<'_>) -> String {
        let kept = cx.versions_of(self.object.kind, &self.object.key);
        let last = kept.last().filter(|last| last.delta_type == DeltaType::Deleted);
        let when = match last {
            Some(Entry { at, has_text: true, .. }) => format!("Deleted at {}.", cx.words().date_and_second(*at)),
            // No frame reported it.
            Some(Entry { at, .. }) => {
                format!("Deleted before {}, when a list no longer had it.", cx.words().date_and_second(*at))
            }
            None => String::from("Deleted."),
        };
        let what = match (self.text.full(), &self.object.row) {
            (Some(_), _) => "This is the last state that this session received.",
            (None, Some(_)) => "Its last state was not kept; the row is all there is.",
            (None, None) => "Its last state was not kept.",
        };
        format!("{when} {what}")
    }

    fn present_summary(&mut self, cx: &mut Context<'_>) {
        let (full, row) = (self.text.full(), &self.object.row);
        let is_summed = match (full, &self.drawn.summed) {
            (Some(full), Some((value, of))) => {
                Rc::ptr_eq(&full.value, value) && of.as_ref().map(Arc::as_ptr) == row.as_ref().map(Arc::as_ptr)
            }
            (full, summed) => full.is_none() && summed.is_none(),
        };
        if !is_summed {
            let model = full.map(|full| summary(self.object.kind, row.as_deref(), &full.value));
            cx.view.inspector.summary.put(model);
            self.drawn.summed = full.map(|full| (full.value.clone(), row.clone()));
        }
    }

    fn present_yaml(&mut self, options: yaml::Options, copied: &'static str, cx: &mut Context<'_>) {
        self.drawn.window.1 = false;
        let full = self.text.full();
        let shown = &mut cx.view.inspector.yaml;
        // The lines are made only while the tab is in view.
        let yaml = match full.filter(|_| Tab::named(&cx.navigation.route.tab) == Tab::Yaml) {
            Some(full) => self.drawn.lined.of(&full.value, options, self.drawn.window.0.clone()),
            None => shown.yaml.clone(),
        };
        let yaml::Options { managed, managers } = options;
        shown.put(YamlModel {
            yaml,
            words: self.text.words(&self.object),
            failed: self.text.trouble().is_some(),
            entries: full.map_or(0, |full| full.managed_fields()),
            managed,
            managers,
            copied,
        });
    }

    fn present_dependents(&self, cx: &mut Context<'_>) {
        let uid = self.object.row.as_ref().map(|row| row.uid.clone());
        let uid = uid.or_else(|| self.text.full().map(|full| full.uid.clone()));
        let found = uid.map_or_else(Dependents::default, |uid| self.dependents(&uid, cx));
        cx.view.inspector.dependents.put(found);
    }

    fn dependents(&self, uid: &Uid, cx: &Context<'_>) -> Dependents {
        let (watches, informers) = (&cx.watching.watches, &cx.watching.informers);
        let (cluster, route) = (self.object.kind.resource.cluster, &cx.navigation.route);
        let watching = Watching { watches, informers, cluster };
        let Some(moment) = cx.watching.moment.filter(|_| self.object.is_of_moment()) else {
            return dependents(watching, route, uid);
        };
        let history = &cx.watching.history;
        let was_known = |kind: &&Kind| {
            kind.resource.cluster == cluster && !history.coverage.known(kind.resource, moment).is_nothing()
        };
        let kinds: Vec<_> =
            history.resources().filter_map(|resource| kind_of(resource, cx)).filter(was_known).collect();
        let stores = Stores { watches, informers };
        dependents_then((&kinds, watching), route, (&self.object.key, uid), moment, (history, &stores))
    }
}
