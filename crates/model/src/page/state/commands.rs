//! What each command does.

use kubechurn_client::cache::reflector::Input;

use crate::page::command::Command;
use crate::page::cursor::Step;
use crate::page::effect::{Effect, Focused, Request};
use crate::page::environment::Environment;
use crate::page::namespaces::Namespaces;
use crate::page::palette::Known;
use crate::page::route::Route;
use crate::page::state::Page;
use crate::page::state::requests::Purpose;

/// The name under which the browser stores the theme.
pub(super) const THEME: &str = "kubechurn.theme";
/// The name under which the browser stores whether keys of a single letter are off.
pub(super) const LETTERS: &str = "kubechurn.letters";

impl Page {
    /// Carries out a command of the user's.
    pub fn command(&mut self, command: Command, env: &dyn Environment) {
        self.saw_alerts(env);
        self.carry_out(command, env);
        self.watching.news = env.now();
        self.hurry();
    }

    fn carry_out(&mut self, command: Command, env: &dyn Environment) {
        let now = env.now();
        match command {
            Command::Go(route) => self.push(&route),
            Command::Arrive(fragment) => self.arrive(Route::parse(&fragment), env),
            Command::Filter(text) => self.filter_by(text, env),
            Command::Labels(labels) => self.push(&Route { labels, ..self.place.route.clone() }),
            Command::Fields(fields) => self.push(&Route { fields, ..self.place.route.clone() }),
            Command::Namespace(name) => self.push(&self.place.route.choosing(&name)),
            Command::AllNamespaces => self.push(&Route { namespaces: Vec::new(), ..self.place.route.clone() }),
            Command::SortBy(title) => self.push(&self.place.route.sorted_by(title)),
            Command::SortNext => self.sort_next(),
            Command::TurnOrder => self.push(&self.place.route.turned(self.columns.layout.schema())),
            Command::ToggleWide => self.push(&Route { wide: !self.place.route.wide, ..self.place.route.clone() }),
            Command::Join(name) => self.push(&self.place.route.joining(name)),
            Command::Pin(name) => self.push(&self.place.route.pinning(name)),
            Command::PinInView => self.pin_in_view(),
            Command::Select(object) => {
                let object = object.filter(|(kind, key)| !self.has_selected(kind, key));
                self.select(object);
            }
            Command::Visit(kind, key) => self.visit(kind, key, env),
            Command::Scroll { top, height } => self.rows.scroll(top, height),
            Command::PointerOverTable(over) => self.rows.pointer.over_table(over, now),
            Command::Row(step) => self.step(step, now),
            Command::RowPage(by) => self.step(Step::By(by * self.rows.page()), now),
            Command::Cell(by) => self.step_aside(by, now),
            Command::OpenRow => self.open_row(),
            Command::Columns(change) => self.rearrange(change),
            Command::Retention(retention) => self.retain(retention, now),
            Command::ClearDeleted => self.clear_deleted(now),
            Command::TogglePause => self.pause(!self.watching.paused, now),
            Command::Retry => self.retry(env),
            Command::Verify => self.verify_now(now),
            Command::Resync(resync) => self.resync(resync, now),
            Command::Recorder(budget) => self.give_recorder(budget, now),
            Command::Connect(allowed) => self.connect(allowed, env),
            Command::Copy(copied) => self.copy(copied, env),
            Command::Export(format) => self.export(format, env),
            Command::WhatChanged => self.push(&self.place.route.what_changed()),
            Command::ToggleChanges => {
                let route = &self.place.route;
                self.push(&Route { changes: !route.changes, text: String::new(), ..route.clone() });
            }
            Command::Feed(command) => self.command_feed(command, now),
            Command::Span(command) => self.command_span(command, env),
            Command::Alerts(command) => self.command_alerts(command, env),
            Command::Timeline(command) => self.command_timeline(command, now),
            Command::Inspector(command) => self.command_inspector(command, env),
            Command::Panel(command) => self.command_panel(command, env),
            Command::Palette(command) => {
                if let Some(taken) = self.command_palette(command) {
                    self.carry_out(taken, env);
                }
            }
            Command::Fold(heading, open) => self.fold(heading, open, now),
            Command::List(list, open) => self.open_list(list, open, now, env),
            Command::ToggleHelp => self.show_help(!self.dialogs.help),
            Command::CloseHelp => self.show_help(false),
            Command::ToggleLetters => self.toggle_letters(now),
            Command::Cluster(page) => {
                // What is selected there, and when something happened there, is another matter.
                let mut route = Route { selected: String::new(), span: None, ..self.place.route.clone() };
                // There the cluster that is shown beside this one is shown first, and this one beside it.
                let name = self.place.clusters.iter().find(|cluster| cluster.page == page).map(|cluster| &cluster.name);
                for cluster in route.clusters.iter_mut().filter(|cluster| Some(&**cluster) == name) {
                    self.place.home.clone_into(cluster);
                }
                self.out.effects.push(Effect::Load(format!("{page}{}", route.fragment())));
            }
            Command::ToggleTheme => self.toggle_theme(),
            Command::FocusFilter => self.focus(Focused::Field("filter")),
            Command::OpenNamespaces => self.focus(Focused::Menu("namespaces")),
            Command::OpenColumns => self.focus(Focused::Menu("columns")),
            Command::LoadNamespaces => self.load_namespaces(),
            Command::Leave => self.leave_innermost(env),
        }
    }

    pub(super) fn focus(&mut self, focused: Focused) {
        self.out.effects.push(Effect::Focus(focused));
    }

    /// Has everything that waits try again at once.
    fn retry(&mut self, env: &dyn Environment) {
        self.tell_all(&Input::Start);
        self.hurry_heartbeat(env);
    }

    /// Asks once for the names of the namespaces. A menu is no reason to keep a watch open.
    pub(super) fn load_namespaces(&mut self) {
        if self.place.found {
            let known = Namespaces::clone(&self.out.view.header.namespaces);
            self.request(Purpose::Namespaces, Request::Namespaces(known));
        }
    }

    fn toggle_theme(&mut self) {
        let theme = self.out.view.header.theme.other();
        self.out.view.header.theme.put(theme);
        self.out.effects.push(Effect::Theme(theme));
        self.store(THEME, Some(theme.name()));
        self.timeline.repaint();
    }

    fn toggle_letters(&mut self, now: f64) {
        let letters = !self.dialogs.letters;
        self.dialogs.letters = letters;
        self.store(LETTERS, (!letters).then_some("off"));
        self.out.view.dialogs.letters.put(letters);
        self.tell(if letters { "Keys of one letter are on." } else { "Keys of one letter are off." }, now);
    }

    pub(super) fn show_help(&mut self, help: bool) {
        self.dialogs.help = help;
        self.out.view.dialogs.help.put(help);
    }

    /// Stores something for the next visit, or, for `None`, removes it from the store.
    pub(super) fn store(&mut self, name: &str, value: Option<&str>) {
        self.out.effects.push(Effect::Store(name.to_owned(), value.map(str::to_owned)));
    }

    /// Tells the user for a moment what came of a command.
    pub(super) fn tell(&mut self, words: &str, now: f64) {
        self.out.view.dialogs.told.put(words.to_owned());
        self.dialogs.told_at = Some(now);
    }

    /// What the palette searches.
    pub(super) fn known(&self) -> Known<'_> {
        Known {
            route: &self.place.route,
            catalog: &self.place.catalog,
            namespaces: &self.out.view.header.namespaces.names,
            recent: &self.dialogs.recent,
            clusters: &self.place.clusters,
        }
    }
}
