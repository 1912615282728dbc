//! Watches filters of the feed, and has the shell notify.

use kubechurn_changes::filter::Filter;
use kubechurn_changes::line::Line;
use kubechurn_client::cache::delta::DeltaType;

use crate::page::alerts::{Alert, AlertCommand, MOST};
use crate::page::effect::Effect;
use crate::page::environment::Environment;
use crate::page::state::Page;

impl Page {
    pub(super) fn command_alerts(&mut self, command: AlertCommand, env: &dyn Environment) {
        let now = env.now();
        match command {
            AlertCommand::Watch => self.watch_filter(now),
            AlertCommand::End(id) => self.alerts.end(id),
            AlertCommand::EndAll => {
                self.alerts.end_all();
                self.tell("You are notified of nothing any more.", now);
            }
            AlertCommand::Sound(sound) => self.alerts.set_sound(sound),
        }
        self.present_alerts();
    }

    /// Watches the feed's filter. In a table the kinds in view are watched: its filter knows cells, and not changes.
    fn watch_filter(&mut self, now: f64) {
        let text = if self.place.route.changes {
            self.place.route.text.trim().to_owned()
        } else {
            let kinds: Vec<&str> = self.kinds().iter().map(|kind| kind.resource.kind).collect();
            format!("kind:/^({})$/", kinds.join("|"))
        };
        let words = match Filter::parse(&text) {
            Err(error) => format!("Nothing is watched: {error}"),
            Ok(filter) => {
                let from = self.watching.history.received();
                self.out.effects.push(Effect::Alert(Alert::Ask));
                match self.alerts.watch(&text, filter, from) {
                    true if text.is_empty() => String::from("You are notified of every change from now on."),
                    true => format!("You are notified of what passes {text} from now on."),
                    false => format!("No filter is added: this one is watched already, or {MOST} are."),
                }
            }
        };
        self.tell(&words, now);
    }

    /// Has the watched filters look at a change that is told.
    pub(super) fn alert_of(&mut self, line: &Line) {
        if self.alerts.is_watching() {
            // No frame reported a deletion that has no text: only a list shows that the object is gone.
            let is_heard = line.delta_type != DeltaType::Deleted || self.watching.history.has_text(line.seq);
            self.alerts.look(line, is_heard);
        }
    }

    /// Has the shell notify, if that is due.
    pub(super) fn notify(&mut self, env: &dyn Environment) {
        if let Some(notification) = self.alerts.take_due(env.now()) {
            self.out.effects.push(Effect::Alert(Alert::Tell(notification)));
            self.out.effects.push(Effect::Alert(Alert::Mark(self.alerts.unseen())));
            self.present_alerts();
        }
    }

    /// In a hidden page there are no frames, and its timers may be a minute late: what a socket brings is told at once.
    pub(super) fn tell_hidden(&mut self, env: &dyn Environment) {
        if env.is_hidden() && self.alerts.is_watching() {
            let is_left = self.tell_changes(env);
            if is_left || self.alerts.deadline().is_some() {
                self.request_frame();
            }
        }
    }

    /// The user is there, unless the page is hidden: takes the mark off the tab.
    pub(super) fn saw_alerts(&mut self, env: &dyn Environment) {
        if !env.is_hidden() && self.alerts.seen() {
            self.out.effects.push(Effect::Alert(Alert::Mark(0)));
        }
    }

    fn present_alerts(&mut self) {
        self.out.view.dialogs.alerts.put(self.alerts.model());
    }
}
