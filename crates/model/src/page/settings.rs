//! What the user sets for every visit: the theme, the keys, the sizes of panels, and how the page resyncs and records.

use crate::history::Budget;
use crate::navigation::namespaces::Namespaces;
use crate::page::command::{Command, PanelCommand};
use crate::page::context::Context;
use crate::page::effect::Effect;
use crate::page::environment::Environment;
use crate::page::time_words::Zone;
use crate::shell::panel::ChosenSizes;
use crate::view::{ResyncModel, Theme};
use crate::watches::resync::{Resync, Resyncs};

/// The name under which the browser stores the theme.
const THEME: &str = "kubechurn.theme";
/// The name under which the browser stores the clock by which times are shown.
const ZONE: &str = "kubechurn.zone";
/// The name under which the browser stores whether keys of a single letter are off.
const LETTERS: &str = "kubechurn.letters";
/// The name under which the browser stores whether what changed is watched only while it is in view.
const KEPT: &str = "kubechurn.kept";
/// The name under which the browser stores the names of namespaces that the user typed.
const NAMESPACES: &str = "kubechurn.namespaces";
/// The name under which the browser stores how often to resync.
const RESYNC: &str = "kubechurn.resync";
/// The name under which the browser stores how much memory the recorder may take.
const RECORDER: &str = "kubechurn.recorder";

/// How much memory the user gave the recorder last.
pub(super) fn stored_budget(env: &dyn Environment) -> Budget {
    env.stored(RECORDER).and_then(|name| Budget::named(&name)).unwrap_or_default()
}

/// What the user sets for every visit.
#[derive(Debug)]
pub(super) struct Settings {
    sizes: ChosenSizes,
    /// Whether keys of a single letter do anything.
    letters: bool,
}

impl Settings {
    /// The settings of the last visit.
    pub(super) fn stored(env: &dyn Environment) -> Settings {
        let letters = env.stored(LETTERS).as_deref() != Some("off");
        Settings { sizes: ChosenSizes::stored(|name| env.stored(name)), letters }
    }

    /// Shows the settings of the last visit, and has the watches follow them.
    pub(super) fn begin(&mut self, cx: &mut Context<'_>) {
        let is_light = cx.env.stored(THEME).as_deref() == Some(Theme::Light.name());
        let theme = if is_light { Theme::Light } else { Theme::Dark };
        cx.effects.push(Effect::Theme(theme));
        cx.view.header.theme.put(theme);
        *cx.zone = cx.env.stored(ZONE).and_then(|name| Zone::named(&name)).unwrap_or_default();
        cx.view.footer.clock.put(cx.words().clock());
        cx.view.dialogs.letters.put(self.letters);
        cx.navigation.keeps_changes = cx.env.stored(KEPT).as_deref() != Some("off");
        cx.view.footer.keeps_changes.put(cx.navigation.keeps_changes);
        cx.view.table.recorder.put(stored_budget(cx.env));
        cx.watching.resyncs = Resyncs::new(cx.env.stored(RESYNC).as_deref(), cx.env.parameter("resync").as_deref());
        present_resync(cx);
        let typed = list(&cx.env.stored(NAMESPACES).unwrap_or_default()).collect();
        cx.view.header.namespaces.put(Namespaces { typed, ..Namespaces::default() });
        self.fit_panels(cx);
    }

    pub(super) fn has_letters(&self) -> bool {
        self.letters
    }

    pub(super) fn toggle_letters(&mut self, cx: &mut Context<'_>) {
        let letters = !self.letters;
        self.letters = letters;
        cx.store(LETTERS, (!letters).then_some("off"));
        cx.view.dialogs.letters.put(letters);
        cx.show_message(if letters { "Keys of one letter are on." } else { "Keys of one letter are off." });
    }

    pub(super) fn toggle_kept(&mut self, cx: &mut Context<'_>) {
        let keeps = !cx.navigation.keeps_changes;
        cx.navigation.keeps_changes = keeps;
        cx.store(KEPT, (!keeps).then_some("off"));
        cx.view.footer.keeps_changes.put(keeps);
        cx.show_message(if keeps {
            "What changed stays watched in other views."
        } else {
            "What changed is watched only while it is in view: what happens meanwhile is missed."
        });
    }

    /// Carries out a command for the size of a panel.
    pub(super) fn handle_panel(&mut self, command: PanelCommand, cx: &mut Context<'_>) {
        match command {
            PanelCommand::Resize(panel, wanted) => {
                self.sizes.choose(panel, wanted, cx.env.window());
                self.fit_panels(cx);
            }
            PanelCommand::Keep(panel) => cx.store(panel.key(), self.sizes.text(panel).as_deref()),
            PanelCommand::Fit => self.fit_panels(cx),
        }
    }

    /// Fits the panels into the window. The sizes that the user chose are kept, because a larger window may have room for
    /// them.
    fn fit_panels(&self, cx: &mut Context<'_>) {
        cx.view.header.sizes.put(self.sizes.fitted(cx.env.window()));
    }
}

pub(super) fn toggle_theme(cx: &mut Context<'_>) {
    let theme = cx.view.header.theme.other();
    cx.view.header.theme.put(theme);
    cx.effects.push(Effect::Theme(theme));
    cx.store(THEME, Some(theme.name()));
    *cx.repaints = true;
}

/// Shows times by the next clock from now on.
pub(super) fn toggle_zone(cx: &mut Context<'_>) {
    let zone = cx.zone.next();
    *cx.zone = zone;
    cx.store(ZONE, (zone != Zone::default()).then_some(zone.name()));
    let clock = cx.words().clock();
    cx.show_message(&format!("Times are shown in {clock}."));
    cx.view.footer.clock.put(clock);
    *cx.repaints = true;
}

/// The names in a list with commas.
fn list(text: &str) -> impl Iterator<Item = String> {
    text.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned)
}

/// Chooses these namespaces, or no longer, and remembers those that the server did not report: `a,b`.
pub(super) fn choose_namespaces(names: &str, cx: &mut Context<'_>) {
    let chosen = &cx.navigation.route.namespaces;
    let new: Vec<String> = list(names).filter(|name| !chosen.contains(name)).collect();
    change_typed(cx, |known| new.iter().for_each(|name| known.remember(name)));
    cx.change_route(|route| list(names).fold(route, |route, name| route.choosing(&name)));
}

/// Forgets a namespace that was typed.
pub(super) fn forget_namespace(name: &str, cx: &mut Context<'_>) {
    change_typed(cx, |known| known.forget(name));
}

fn change_typed(cx: &mut Context<'_>, change: impl FnOnce(&mut Namespaces)) {
    let mut known = Namespaces::clone(&cx.view.header.namespaces);
    change(&mut known);
    if known != *cx.view.header.namespaces {
        cx.store(NAMESPACES, (!known.typed.is_empty()).then(|| known.typed.join(",")).as_deref());
        cx.view.header.namespaces.put(known);
    }
}

/// Resyncs this often from now on.
pub(super) fn resync(resync: Resync, cx: &mut Context<'_>) {
    cx.watching.resyncs.choose(resync);
    cx.store(RESYNC, (resync != Resync::default()).then_some(resync.name()));
    cx.watching.set_resync_periods(cx.now, cx.effects);
    cx.show_message(&format!("{}.", Command::Resync(resync).title()));
    present_resync(cx);
}

/// Shows how often the page resyncs.
fn present_resync(cx: &mut Context<'_>) {
    let resyncs = &cx.watching.resyncs;
    let model = ResyncModel { chosen: resyncs.chosen(), words: resyncs.words() };
    cx.view.table.resync.put(model);
}

/// Gives the recorder this much memory from now on.
pub(super) fn give_recorder(budget: Budget, cx: &mut Context<'_>) {
    cx.watching.history.choose(budget.bytes());
    cx.store(RECORDER, (budget != Budget::default()).then_some(budget.name()));
    cx.show_message(&format!("{}.", Command::Recorder(budget).title()));
    cx.view.table.recorder.put(budget);
}
