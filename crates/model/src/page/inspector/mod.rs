//! The inspector as a part of the page: follows the selection, and carries out the user's commands.

mod comparison;
mod event_watch;
mod full_text;
mod inspection;
mod last_write_question;
mod object;
mod owners;
mod shown_versions;

use std::rc::Rc;

use serde_json::Value;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::status::Failure;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::factory::InformerId;

use crate::history::secret;
use crate::inspector::tab::Tab;
use crate::inspector::yaml;
use crate::page::command::InspectorCommand;
use crate::page::context::Context;
use crate::page::effect::{Effect, Request};
use crate::page::inspector::inspection::Inspection;
use crate::page::requests::Purpose;
use kubechurn_columns::kinds::Kind;

/// The object that the inspector shows, and the user's choices for every object.
#[derive(Debug, Default)]
pub struct Inspector {
    open: Option<Inspection>,
    yaml: yaml::Options,
    /// The outcome of the last copy.
    copied: &'static str,
}

impl Inspector {
    /// Carries out a command. Returns the time of the change to which it went, if it went to one.
    pub fn handle(&mut self, command: InspectorCommand, cx: &mut Context<'_>) -> Option<f64> {
        if let InspectorCommand::Scroll { top, height } = command {
            if let Some(open) = &mut self.open {
                open.scroll(yaml::window(top, height));
            }
            return None;
        }
        self.copied = "";
        let mut change_at = None;
        let open = self.open.as_mut();
        match command {
            InspectorCommand::Tab(tab) => go_to_tab(tab, cx),
            InspectorCommand::Managed(managed) => self.yaml.managed = managed,
            InspectorCommand::Managers(managers) => self.yaml.managers = managers,
            InspectorCommand::Conceal => cx.view.inspector.revealed.put(None),
            InspectorCommand::Scroll { .. } => {}
            // The others are about the open object.
            InspectorCommand::LastWrite(pointer) => open?.ask_last_write(pointer, cx),
            InspectorCommand::Reveal(field) => open?.reveal(field, cx),
            InspectorCommand::Copy => open?.copy(self.yaml.managed, cx),
            InspectorCommand::CopyLine(text) => {
                cx.request(Purpose::Copy("the command line", text.clone()), Request::Copy(text));
            }
            InspectorCommand::CopyDifference => open?.copy_difference(cx),
            InspectorCommand::Refresh => open?.text.retry(),
            InspectorCommand::Compare(command) => {
                let Inspection { versions, comparison, object, .. } = open?;
                if comparison.handle(command, versions.marked(), object, cx) {
                    versions.follow_address(object, cx);
                    go_to_tab(Tab::Changes, cx);
                }
            }
            InspectorCommand::Newest => open?.versions.show_newest(),
            InspectorCommand::Older => open?.versions.show_older(),
            InspectorCommand::Change(sequence) => {
                let Inspection { versions, object, .. } = open?;
                change_at = versions.go_to(sequence, object, cx);
            }
            InspectorCommand::Step(by) => {
                let Inspection { versions, object, .. } = open?;
                versions.follow_address(object, cx);
                change_at = versions.step(by, object, cx);
            }
        }
        if change_at.is_some() {
            let Inspection { versions, object, .. } = self.open.as_mut()?;
            cx.navigation.route.change = versions.named(object, cx);
            go_to_tab(Tab::Changes, cx);
        }
        if let Some(open) = &mut self.open {
            open.show_again();
        }
        change_at
    }

    /// Shows the selected object.
    pub fn present(&mut self, cx: &mut Context<'_>) {
        self.follow_selection(cx);
        if let Some(open) = &mut self.open {
            let kind = open.object.kind.resource.kind;
            cx.view
                .inspector
                .tab
                .put(Some(Tab::named(&cx.navigation.route.tab)).filter(|tab| tab.is_of(kind)).unwrap_or_default());
            open.present(self.yaml, self.copied, cx);
        }
    }

    /// Has times be shown by another clock.
    pub fn renew_times(&mut self) {
        if let Some(open) = &mut self.open {
            open.versions.read_again();
            open.show_again();
        }
    }

    /// Opens the inspector on the object that the place selects, or closes it.
    fn follow_selection(&mut self, cx: &mut Context<'_>) {
        let is_same = match (&self.open, &cx.navigation.selected) {
            (Some(open), Some((kind, key))) => open.object.is(kind, key),
            (None, None) => true,
            _ => false,
        };
        if is_same {
            return;
        }
        if let Some(mut closed) = self.open.take() {
            closed.events.end(cx);
        }
        self.copied = "";
        cx.view.inspector.clear();
        self.open = cx.navigation.selected.clone().map(|(kind, key)| Inspection::new(kind, key, cx.now));
        if self.open.is_none() {
            cx.view.inspector.inspected.put(None);
        }
    }

    /// Whether two versions are compared in sight.
    pub fn compares(&self, cx: &Context<'_>) -> bool {
        self.open.is_some() && cx.view.inspector.comparison.is_some() && *cx.view.inspector.tab == Tab::Changes
    }

    /// Whether the inspector watches Events through this informer.
    pub fn watches(&self, id: InformerId) -> bool {
        self.open.as_ref().is_some_and(|open| open.events.is_through(id))
    }

    /// The time of the change that the inspector marks or shows first.
    pub fn shown_at(&self, cx: &Context<'_>) -> Option<f64> {
        let versions = &cx.view.inspector.versions;
        let marked = versions.shown.iter().find(|version| Some(version.sequence) == versions.marked);
        marked.or(versions.shown.first()).map(|version| version.at)
    }

    /// The text of an object that it shows, as far as it is known.
    pub fn value(&self, kind: &Kind, key: &ObjectKey) -> Option<Rc<Value>> {
        let open = self.open.as_ref().filter(|open| open.object.is(kind, key))?;
        open.text.full().map(|full| full.value.clone())
    }

    /// Shows whether the YAML was copied.
    pub fn copied(&mut self, done: bool, cx: &mut Context<'_>) {
        self.copied = if done { "copied" } else { "the browser did not allow it" };
        if let Some(open) = &mut self.open {
            open.show_again();
        }
        cx.hurry();
    }

    /// Handles the whole object, or the reason why it could not be fetched.
    pub fn fetched(&mut self, kind: &Kind, key: &ObjectKey, answer: Result<String, Failure>, cx: &mut Context<'_>) {
        cx.request_frame();
        if let Some(open) = self.of(kind, key) {
            open.text.fetched(kind, answer, cx.watching.history.salt());
            open.show_again();
        }
    }

    /// Handles an owner that is not watched, or the reason why it could not be fetched.
    pub fn fetched_owner(&mut self, kind: &Kind, uid: Uid, answer: Result<String, Failure>, cx: &mut Context<'_>) {
        cx.request_frame();
        if let Some(open) = &mut self.open {
            open.owners.fetched(kind, uid, answer, cx.watching.history.salt());
            open.show_again();
        }
    }

    /// Handles the Secret of which the user wants to see a value, or the reason why it could not be fetched.
    pub fn revealed(
        &mut self,
        kind: &Kind,
        key: &ObjectKey,
        field: String,
        answer: Result<String, Failure>,
        cx: &mut Context<'_>,
    ) {
        cx.request_frame();
        let on_yaml = Tab::named(&cx.navigation.route.tab) == Tab::Yaml;
        let Some(open) = self.of(kind, key).filter(|_| on_yaml) else { return };
        match answer {
            Ok(text) => match secret::value(&text, &field) {
                Some(value) => cx.view.inspector.revealed.put(Some((field, value))),
                None => open.text.fail(format!("The Secret has no value {field} any more.")),
            },
            Err(failure) => open.text.fail(format!("The value could not be fetched: {}.", failure.words)),
        }
        open.show_again();
    }

    /// The inspection of this object, if the inspector shows it.
    fn of(&mut self, kind: &Kind, key: &ObjectKey) -> Option<&mut Inspection> {
        self.open.as_mut().filter(|open| open.object.is(kind, key))
    }
}

fn go_to_tab(tab: Tab, cx: &mut Context<'_>) {
    // A value that the user revealed is hidden again as soon as the tab changes.
    cx.view.inspector.revealed.put(None);
    let name = if tab == Tab::default() { "" } else { tab.name() };
    name.clone_into(&mut cx.navigation.route.tab);
    cx.effects.push(Effect::Replace(cx.navigation.route.fragment()));
    cx.view.header.route.put(cx.navigation.route.clone());
}
