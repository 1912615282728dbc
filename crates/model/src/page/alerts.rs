//! Watches filters of the feed, and has the shell notify.

use kubechurn_changes::filter::Filter;
use kubechurn_changes::line::Line;
use kubechurn_client::cache::delta::DeltaType;

use crate::feed::alerts::{Alert, AlertCommand, Alerts, MOST};
use crate::page::context::Context;
use crate::page::effect::Effect;

/// Watches filters of the feed for the user.
#[derive(Debug, Default)]
pub(super) struct Notifications {
    alerts: Alerts,
}

impl Notifications {
    pub(super) fn is_watching(&self) -> bool {
        self.alerts.is_watching()
    }

    /// When a notification is due, in milliseconds.
    pub(super) fn deadline(&self) -> Option<f64> {
        self.alerts.deadline()
    }

    pub(super) fn handle(&mut self, command: AlertCommand, cx: &mut Context<'_>) {
        match command {
            AlertCommand::Watch => self.watch_filter(cx),
            AlertCommand::End(id) => self.alerts.end(id),
            AlertCommand::EndAll => {
                self.alerts.end_all();
                cx.show_message("You are notified of nothing any more.");
            }
            AlertCommand::Sound(sound) => self.alerts.set_sound(sound),
        }
        self.present(cx);
    }

    /// Watches the feed's filter. In a table the kinds in view are watched: its filter knows cells, and not changes.
    fn watch_filter(&mut self, cx: &mut Context<'_>) {
        let text = if cx.navigation.route.changes {
            cx.navigation.route.text.trim().to_owned()
        } else {
            let kinds: Vec<&str> = cx.navigation.kinds().iter().map(|kind| kind.resource.kind).collect();
            format!("kind:/^({})$/", kinds.join("|"))
        };
        let words = match Filter::parse(&text) {
            Err(error) => format!("Nothing is watched: {error}"),
            Ok(filter) => {
                let from = cx.watching.history.received();
                cx.effects.push(Effect::Alert(Alert::Ask));
                match self.alerts.watch(&text, filter, from) {
                    true if text.is_empty() => String::from("You are notified of every change from now on."),
                    true => format!("You are notified of what passes {text} from now on."),
                    false => format!("No filter is added: this one is watched already, or {MOST} are."),
                }
            }
        };
        cx.show_message(&words);
    }

    /// Has the watched filters look at a change.
    pub(super) fn look(&mut self, line: &Line, cx: &Context<'_>) {
        if self.alerts.is_watching() {
            // No frame reported a deletion that has no text: only a list shows that the object is gone.
            let is_heard = line.delta_type != DeltaType::Deleted || cx.watching.history.has_text(line.seq);
            self.alerts.look(line, is_heard);
        }
    }

    /// Has the shell notify, if that is due.
    pub(super) fn notify(&mut self, cx: &mut Context<'_>) {
        if let Some(notification) = self.alerts.take_due(cx.env.now()) {
            cx.effects.push(Effect::Alert(Alert::Notify(notification)));
            cx.effects.push(Effect::Alert(Alert::Mark(self.alerts.unseen())));
            self.present(cx);
        }
    }

    /// The user is there, unless the page is hidden: takes the mark off the tab.
    pub(super) fn saw(&mut self, cx: &mut Context<'_>) {
        if !cx.env.is_hidden() && self.alerts.seen() {
            cx.effects.push(Effect::Alert(Alert::Mark(0)));
        }
    }

    fn present(&self, cx: &mut Context<'_>) {
        cx.view.dialogs.alerts.put(self.alerts.model());
    }
}
