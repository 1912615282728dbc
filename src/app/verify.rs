//! The page's checks of itself: asks the server, hands over what it answers, and has healed what they find.

use futures::future::{AbortHandle, abortable};
use leptos::prelude::GetUntracked;
use wasm_bindgen_futures::spawn_local;
use web_sys::Element;

use kubechurn_client::api::object::ResourceVersion;
use kubechurn_client::api::request::ExactListRequest;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::consistency::{Difference, Differences};
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::journal::Identity;
use kubechurn_client::cache::reflector::Input;
use kubechurn_model::page::cursor::Cursor;
use kubechurn_model::page::verify::{Item, Now, Step, Verifier};
use kubechurn_model::page::watched::Watched;
use kubechurn_model::page::watches::Around;

use kubechurn_model::page::view::{RowModel, VerifiedItem, VerifiedModel};

use crate::app::timeline::time_of_day;
use crate::app::{Page, document};
use crate::browser::clock;
use crate::browser::lister_watcher::ListerWatcher;
use crate::ui::hands::row_id;
use crate::ui::screen::put;

/// The checks, and the question that is under way.
#[derive(Default)]
pub(super) struct Checks {
    pub(super) verifier: Verifier,
    /// Whether every table has heard of all that its stores hold.
    pub(super) whole: bool,
    /// Whether it was told that the sums do not balance.
    pub(super) unbalanced: bool,
    asked: Option<AbortHandle>,
}

impl Page {
    /// Goes on with the check under way, or begins one: to be called after each drain.
    pub(super) fn verify(&mut self, hidden: bool, now: f64) {
        let at = Now { at: now, hidden, paused: self.paused, whole: self.checks.whole };
        let steps = self.checks.verifier.look(at, &self.watches, &mut self.informers);
        self.carry_out(steps, now);
        if self.checks.verifier.is_busy() {
            self.frames.hurry();
        }
    }

    /// The user wants to know whether what is shown is what the server has.
    pub(super) fn verify_now(&mut self, now: f64) {
        self.checks.verifier.ask(now, &self.watches);
        self.frames.hurry();
    }

    fn carry_out(&mut self, steps: Vec<Step>, now: f64) {
        for step in steps {
            match step {
                Step::Ask(id, number, request) => self.ask_exactly(id, number, request),
                Step::GiveUp => {
                    if let Some(asked) = self.checks.asked.take() {
                        asked.abort();
                    }
                }
                Step::Draw(id) => {
                    let (same, differences) = self.compare_drawn(id);
                    let steps = self.checks.verifier.drawn(now, same, differences, &self.informers);
                    self.carry_out(steps, now);
                }
                Step::Relist(id, reason) => {
                    let Some(driver) = self.drivers.get(&id).cloned() else { continue };
                    // The drivers speak to the page, which is being borrowed now.
                    spawn_local(async move { driver.input(Input::Relist(&reason)) });
                }
                Step::Rebuild => self.make_tables_anew(now),
                Step::Say(said) => {
                    self.audit.said(None, &said);
                    self.announcer.say(said);
                    self.announce();
                }
            }
        }
    }

    fn ask_exactly(&mut self, id: InformerId, number: u64, request: ExactListRequest) {
        let (Some(base), Some((resource, scope))) = (self.base.clone(), self.informers.of(id)) else { return };
        let lister_watcher = ListerWatcher { base, resource, scope: scope.clone() };
        let page = self.this.clone();
        let (work, handle) = abortable(async move {
            let answer = lister_watcher.list_exactly(&request).await;
            let Some(page) = page.upgrade() else { return };
            let (mut page, now) = (page.borrow_mut(), clock::now());
            let page = &mut *page;
            let answer = answer.as_deref().map_err(Clone::clone);
            let steps = page.checks.verifier.answered(now, number, answer, &mut page.informers);
            page.carry_out(steps, now);
            page.frames.request();
        });
        self.checks.asked = Some(handle);
        spawn_local(async move {
            // What was given up has nothing more to say.
            let _ = work.await;
        });
    }

    /// Compares the rows in the document with what they were given to show: how many are the same, and which are not.
    fn compare_drawn(&self, id: InformerId) -> (u64, Differences) {
        let (mut same, mut differences) = (0, Differences::default());
        let Some(document) = document() else { return (same, differences) };
        let is_of = |member: &&Watched| member.sources().any(|(own, _)| own == id);
        let kind = self.watches.members().iter().find(is_of).map(Watched::kind);
        let Some((kind, (_, scope))) = kind.zip(self.informers.of(id)) else { return (same, differences) };
        for model in self.shown.models() {
            let is_own = scope.namespace.is_empty() || *model.key.namespace == *scope.namespace;
            if model.kind != kind.name || !is_own {
                continue;
            }
            let element = document.get_element_by_id(&row_id(model.id));
            if element.as_ref().is_some_and(|element| is_drawn(element, &model)) {
                same += 1;
                continue;
            }
            let uid = element.and_then(|element| element.get_attribute("data-uid"));
            let identity = |uid| Identity { uid, resource_version: ResourceVersion::default() };
            let (ours, theirs) = (uid.map(|uid| identity(Uid::new(&uid))), Some(identity(model.uid.clone())));
            differences.push(Difference { key: model.key.clone(), ours, theirs });
        }
        (same, differences)
    }

    /// Makes every table anew from what the stores hold.
    fn make_tables_anew(&mut self, now: f64) {
        let mut around = Around { informers: &mut self.informers, announcer: &mut self.announcer, now };
        let ended = self.watches.let_go_of_tables(&mut around);
        ended.iter().for_each(|id| drop(self.drivers.remove(id)));
        // Rows of another table have the same numbers.
        self.layout.generation += 1;
        self.hands.cursor = Cursor::default();
        let route = self.route.clone();
        self.go(route);
    }

    /// Shows what the checks found. The list is written only while someone reads it.
    pub(super) fn present_verified(&self) {
        let verifier = &self.checks.verifier;
        let summary = verifier.summary(self.watches.members());
        let open = self.screen.verified_open.get_untracked();
        let item = |item: Item| VerifiedItem {
            subject: item.subject,
            state: item.state,
            at: item.at.map(short_time).unwrap_or_default(),
            words: item.words,
            found_at: item.found_at.map(short_time),
            differences: item.differences,
        };
        let items = if open { verifier.items(&self.watches) } else { Vec::new() };
        let (state, at) = (summary.state, summary.at.map(short_time));
        let label = match (state, &at) {
            ("checking", _) if summary.words.is_empty() => String::from("verifying …"),
            ("checking", _) => format!("verifying, {}", summary.words),
            ("same", Some(at)) => format!("verified {at}"),
            ("differs", Some(at)) => format!("{} differ {at}", summary.words),
            _ => String::from("not verified"),
        };
        let model = VerifiedModel { state, label, words: summary.words, items: items.into_iter().map(item).collect() };
        put(self.screen.verified, model);
    }
}

/// Whether an element says what its row was given to show.
fn is_drawn(element: &Element, model: &RowModel) -> bool {
    let says = |name: &str, value: &str| element.get_attribute(name).is_some_and(|own| own == value);
    let cells = element.children();
    says("data-key", &model.key.to_string())
        && says("data-uid", &model.uid.to_string())
        && says("data-state", model.state)
        && cells.length() as usize == model.cells.len()
        && model.cells.iter().zip(0..).all(|(cell, at)| {
            let text = cells.item(at).and_then(|cell| cell.text_content()).unwrap_or_default();
            // The last column has a glyph before its words.
            text.ends_with(&cell.text)
        })
}

/// The time of day by the browser's clock, to the second.
fn short_time(at: f64) -> String {
    time_of_day(at).chars().take(8).collect()
}
