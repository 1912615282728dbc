//! What the page gives out: effects, view and scene for the browser. `report.rs` has what tests and tools read.

use kubechurn_client::cache::reflector::Health;

use crate::feed::FeedCommand;
use crate::history::who::LogPiece;
use crate::navigation::recorded;
use crate::page::command::{Command, Rows, TimelineCommand};
use crate::page::context::Shared;
use crate::page::effect::{Effect, Effects, RequestId};
use crate::page::environment::Environment;
use crate::page::keys::{self, Focus, Press};
use crate::page::report::{self, Reports};
use crate::page::ticks::{AFTER_NEWS, HIDDEN, QUIET, SECOND, TICK};
use crate::page::time_words::TimeWords;
use crate::page::{LogInput, Page};
use crate::timeline::scene::Scene;
use crate::view::panels::View;
use crate::view::until_next_proof_age;

/// How large the panels are, in pixels.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    table: f64,
    /// Width and height.
    feed: (f64, f64),
    /// Width and height.
    timeline: (f64, f64),
}

impl Page {
    /// Takes what came of a log that was asked for.
    pub fn logged(&mut self, id: RequestId, input: &LogInput<'_>, env: &dyn Environment) {
        self.logs.came(id, input, &mut self.shared.context(env));
    }

    /// Stops draining, or resumes. While draining is stopped, the queues go on receiving, and fold the changes of each
    /// object.
    pub(super) fn pause(&mut self, paused: bool, env: &dyn Environment) {
        let cx = &mut self.shared.context(env);
        if cx.watching.paused != paused {
            cx.watching.paused = paused;
            cx.watching.watches.pause(paused);
            cx.view.header.paused.put(paused);
            self.timeline.pause(paused, cx.now);
            self.feed.pause(paused);
        }
    }

    /// The effects since the last call.
    pub fn take_effects(&mut self) -> Effects {
        let mut effects = std::mem::take(&mut self.shared.effects);
        // The place that the address has is one of the recording.
        if let Some(recorded) = &self.shared.navigation.recorded {
            for effect in &mut effects.list {
                if let Effect::Push(fragment) | Effect::Replace(fragment) = effect {
                    *fragment = recorded::with(fragment, &recorded.url);
                }
            }
        }
        effects
    }

    /// What is shown.
    pub fn view(&self) -> &View {
        &self.shared.view
    }

    /// What is shown, from which the caller draws the values that have changed.
    pub fn view_mut(&mut self) -> &mut View {
        &mut self.shared.view
    }

    /// When [`Page::tick`] must be called next, in milliseconds. It may be called earlier.
    pub fn deadline(&self, env: &dyn Environment) -> f64 {
        let (ticked, hidden, watching) = (self.ticked, env.is_hidden(), &self.shared.watching);
        let turn = if hidden {
            ticked + HIDDEN
        } else if watching.is_listing(ticked) {
            ticked + TICK
        } else if self.changes_each_second(ticked) {
            // At a whole second, so that no second is shown twice or left out.
            (ticked / SECOND).floor() * SECOND + SECOND
        } else {
            (ticked / QUIET).floor() * QUIET + QUIET
        };
        let heartbeat = self.connection.heartbeat.deadline(&watching.informers, hidden);
        let shown = if hidden { None } else { self.presents_again(env.now()) };
        let kept = self.keeping.due_at(&watching.history);
        let others = [heartbeat, self.connection.asks_again(), shown, self.notifications.deadline(), kept];
        others.into_iter().flatten().fold(turn, f64::min).max(ticked + TICK)
    }

    /// Whether something on a visible page changes each second at this time.
    fn changes_each_second(&self, now: f64) -> bool {
        let Shared { navigation, watching, open_lists, .. } = &self.shared;
        let health = watching.health(navigation, now);
        now - self.news < AFTER_NEWS
            || self.table.rows.has_young
            || !matches!(health, None | Some(Health::Live | Health::Unauthorized | Health::Forbidden | Health::Stopped))
            || navigation.selected.is_some()
            || watching.moment.is_some()
            || !open_lists.is_empty()
            || self.verification.verifier.is_under_way()
            || watching.watches.timeline().is_some_and(|timeline| timeline.last_scene().moves())
    }

    /// When something must be shown, or must go, that does not wait for the next tick; in milliseconds.
    fn presents_again(&self, now: f64) -> Option<f64> {
        let Shared { navigation, watching, message, .. } = &self.shared;
        let is_live = watching.health(navigation, now) == Some(Health::Live);
        let age = watching.watches.age(&watching.informers, now).filter(|_| is_live);
        let age = age.map(|age| now + until_next_proof_age(age));
        [
            self.status.due_at(),
            age,
            self.table.rows.pointer.rests_at(),
            self.feed.rests_at(),
            message.ends_at(),
            self.feed.wrong().due_at(),
            self.inside.due_at(),
            self.why.due_at(),
            self.logs.due_at(),
        ]
        .into_iter()
        .flatten()
        .reduce(f64::min)
    }

    /// The fragment of where the user is.
    pub fn place(&self) -> String {
        self.shared.navigation.route.fragment()
    }

    /// How large the panels are.
    pub fn sizes(&self) -> Sizes {
        Sizes { table: self.table.rows.height(), feed: self.feed.size(), timeline: self.timeline.size() }
    }

    /// Takes the place of another page on the screen: everything is drawn again, in panels of the sizes that they had there.
    pub fn show_again(&mut self, sizes: Sizes, env: &dyn Environment) {
        let Sizes { table, feed: (width, height), timeline } = sizes;
        let cx = &mut self.shared.context(env);
        self.table.rows.scroll(0.0, table);
        self.feed.handle(FeedCommand::Scroll { top: 0.0, height, width }, cx);
        self.timeline.handle(TimelineCommand::Resize(timeline.0, timeline.1), cx);
        cx.effects.push(Effect::ScrollTable(0.0));
        cx.effects.push(Effect::ScrollFeed(0.0));
        self.shared.view.draw_again();
        self.shared.repaints = true;
        self.make_tables_anew(env);
    }

    /// Shows the user for a moment what came of something.
    pub fn show_message(&mut self, words: &str, env: &dyn Environment) {
        self.shared.context(env).show_message(words);
    }

    /// Takes a piece of an audit log. What came of it is said when all of it is joined.
    pub fn audit_log(&mut self, piece: LogPiece<'_>, env: &dyn Environment) {
        self.shared.watching.history.who.take(piece);
        self.shared.context(env).hurry();
    }

    /// What the page reports about itself to other programs.
    pub fn reports(&self) -> Reports<'_> {
        Reports { page: self }
    }

    /// What the timeline shows; `None` where nothing in view is watched.
    pub fn scene(&self) -> Option<&Scene> {
        Some(self.shared.watching.watches.timeline()?.last_scene())
    }

    /// All that is known of a time in milliseconds, by the clock that the user chose: for whoever points at it.
    pub fn full_time(&self, at: f64, env: &dyn Environment) -> String {
        TimeWords { env, zone: self.shared.zone }.full(at)
    }

    /// What a key does where the focus is; `None` for most keys, and for those of what is hidden.
    pub fn command_of(&self, press: Press<'_>, focus: Focus) -> Option<Command> {
        let has_dialog = self.dialogs.has_help() || self.dialogs.has_palette() || self.saving.is_open();
        let has_dialog = has_dialog || self.keeping.is_open();
        let rows = match () {
            () if self.shared.navigation.route.inside.is_some() => Rows::Inside,
            () if *self.shared.view.timeline.fills => Rows::Lanes,
            () if self.shared.navigation.route.changes => Rows::Feed,
            () => Rows::Table,
        };
        // Space is the browser's own key, and plays only what is rewound, or the steps inside of an informer.
        let is_taken = press.key != " " || rows == Rows::Inside || self.shared.watching.moment.is_some();
        let focus = if has_dialog { Focus::Dialog } else { focus };
        keys::command(press, focus, rows, self.settings.has_letters()).filter(|_| is_taken)
    }

    /// Gives the sign of life that a watchdog outside the program waits for, with the resource versions of what is
    /// watched, and says when the next sign comes.
    pub(super) fn beat(&mut self, env: &dyn Environment) {
        let informers = &self.shared.watching.informers;
        let versions = self.shared.watching.watches.iter().flat_map(|watched| {
            let title = watched.kind().title;
            watched.sources().filter_map(move |(id, scope)| {
                let informer = informers.get(id)?;
                Some((title, &*scope.namespace, informer.reflector().resource_version().as_str()))
            })
        });
        let versions = report::versions(versions);
        let next = (self.deadline(env) - env.now()).max(0.0);
        self.shared.effects.push(Effect::Beat { versions, next });
    }
}
