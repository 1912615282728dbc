//! The watches at work: inputs of the reflectors, drains of the queues, and the user's settings for all watches.

use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::queue::Queue;
use kubechurn_client::cache::reflector::{Action, Input};
use kubechurn_client::cache::shared_informer::Received;

use crate::page::audit::After;
use crate::page::command::Command;
use crate::page::effect::{Effect, Told};
use crate::page::environment::Environment;
use crate::page::first_list;
use crate::page::history::Budget;
use crate::page::notices::{NoticeKind, PageNotice, subject};
use crate::page::resync::{Resync, Resyncs};
use crate::page::state::{Page, fragment};
use crate::page::view::{ResyncModel, RetentionModel};
use crate::table::view::{Retention, TableView};

/// How long one drain may take in a frame, in milliseconds: half of the frame, so that the other half is left for
/// painting.
const SHARE: f64 = 8.0;
/// How long one drain of a hidden page may take, in milliseconds.
const HIDDEN_SHARE: f64 = 40.0;
/// How many keys are drained between two readings of the clock.
const BATCH: usize = 64;
/// The most frames that are received before the queues are drained, with or without an animation frame or a timer. A
/// browser delays the timers of a hidden page by a minute, and those of a covered page by any time.
const UNDRAINED: usize = 4_096;

/// The name under which the browser stores how long deleted rows stay.
const RETENTION: &str = "kubechurn.linger";
/// The name under which the browser stores how often to resync.
const RESYNC: &str = "kubechurn.resync";

/// The name under which the browser stores how much memory the recorder may take.
const RECORDER: &str = "kubechurn.recorder";

/// How much memory the user gave the recorder last.
pub(super) fn stored_budget(env: &dyn Environment) -> Budget {
    env.stored(RECORDER).and_then(|name| Budget::named(&name)).unwrap_or_default()
}

/// The retention that the user chose last.
pub(super) fn stored_retention(env: &dyn Environment) -> Retention {
    env.stored(RETENTION).and_then(|name| Retention::named(&name)).unwrap_or_default()
}

/// The resync period that the user chose last, and the one that the address names.
pub(super) fn stored_resyncs(env: &dyn Environment) -> Resyncs {
    Resyncs::new(env.stored(RESYNC).as_deref(), env.parameter("resync").as_deref())
}

impl Page {
    /// Hands an input to an informer's reflector. Returns the reflector's next action, and when it must be woken.
    pub fn reflect(
        &mut self,
        id: InformerId,
        input: Input<'_>,
        env: &dyn Environment,
    ) -> (Option<Action>, Option<f64>) {
        let moment = env.moment();
        let reflected = self.handle(id, input, moment);
        if let Some(action) = &reflected.0 {
            self.write_down_first(id, action, env);
        }
        if self.watching.undrained >= UNDRAINED {
            self.watching.undrained = 0;
            self.drain(true, env);
            self.take(env);
        }
        self.tell_hidden(env);
        // What a hidden page shows is renewed when it is in sight again: until then only what is queued has to be drained.
        let informer = self.watching.informers.get(id);
        if !env.is_hidden() || informer.is_some_and(|informer| informer.queue().queued() > 0) {
            self.request_frame();
        }
        reflected
    }

    /// Writes down which list the page asks first at this place, for its next start.
    fn write_down_first(&mut self, id: InformerId, action: &Action, env: &dyn Environment) {
        let is_own = self.watching.informers.of(id).is_some_and(|(resource, _)| resource.cluster.is_empty());
        if !is_own || std::mem::replace(&mut self.requests.has_begun, true) {
            return;
        }
        let list = match (action, self.watching.informers.of(id)) {
            // Elsewhere than below the page nothing is asked early.
            (Action::List(request), Some((resource, scope))) if self.place.search.is_below_page(env) => {
                Some(request.url(&resource, scope))
            }
            _ => None,
        };
        let before = env.stored(first_list::KEY).unwrap_or_default();
        let text = first_list::written(&before, &first_list::place(&fragment(&env.url())), list.as_deref());
        if text != before {
            self.store(first_list::KEY, Some(&text).filter(|text| !text.is_empty()).map(String::as_str));
        }
    }

    fn handle(&mut self, id: InformerId, input: Input<'_>, moment: Moment) -> (Option<Action>, Option<f64>) {
        // The Events that only the inspector watches are not part of what the session saw of a kind.
        let is_own = self.inspector.watches(id);
        let watching = &mut self.watching;
        let resource = watching.informers.of(id).filter(|_| !is_own).map(|(resource, _)| resource);
        let (history, changes) = (&mut watching.history, &mut self.changes.feed);
        let Some(informer) = watching.informers.get_mut(id) else { return (None, None) };
        let mut keep = |received: Received<'_>| {
            let at = received.now;
            if let Some(sequence) = resource.and_then(|resource| history.push(resource, received)) {
                changes.received(sequence, at);
            }
        };
        let audit = &self.checks.audit;
        let frames = informer.ledger().frames;
        let before = audit.before(informer, &input);
        let action = informer.handle_tapped(input, moment, &mut keep);
        watching.undrained += (informer.ledger().frames - frames) as usize;
        let (deadline, notices) = (informer.reflector().deadline(), informer.take_notices());
        let informers = &watching.informers;
        if let Some(before) = before
            && let Some((resource, scope)) = informers.of(id)
            && let Some(informer) = informers.get(id)
        {
            audit.handled(before, After { resource: &resource, scope, informer, action: action.as_ref(), moment });
        }
        if !notices.is_empty()
            && let Some((resource, scope)) = informers.of(id)
        {
            for notice in notices {
                let namespace = scope.namespace.clone();
                let notice =
                    PageNotice { resource: subject(&resource), namespace, kind: NoticeKind::Watch(id, notice) };
                audit.notice(Some((&resource, scope)), &notice);
                self.notices.announcer.publish(notice);
            }
            self.deliver_notices();
        }
        (action, deadline)
    }

    /// Drains the queues within this frame's share of time. Returns whether anything is left.
    pub(super) fn drain(&mut self, hidden: bool, env: &dyn Environment) -> bool {
        if self.watching.paused {
            return false;
        }
        let began = env.now();
        let share = if hidden { HIDDEN_SHARE } else { SHARE };
        let mut most = self.watching.drain.most();
        loop {
            let mut left = false;
            for (_, informer) in self.watching.informers.iter_mut() {
                informer.drain(BATCH.min(most), began);
                left |= !informer.queue().is_empty();
            }
            most = most.saturating_sub(BATCH);
            if !left || most == 0 || env.now() - began >= share {
                return left;
            }
        }
    }

    /// Has the tables and timelines receive what the informers hold for them.
    pub(super) fn take(&mut self, env: &dyn Environment) {
        let now = env.now();
        // Rows that the user is acting on are held in place from the next picture on, and must be in the table then.
        let busy = self.rows.pointer.is_busy(now);
        self.keep_resync(now);
        let watching = &mut self.watching;
        let left = watching.watches.take(&mut watching.informers, watching.retention, busy, now);
        watching.whole = !left;
        if left {
            self.hurry();
        }
        if self.watching.paused {
            return self.notices.overload.forgive();
        }
        // Objects that a resync repeats bring nothing new: they cannot put the table behind.
        let news = |queue: &dyn Queue| queue.queued() - queue.resyncing();
        let left = self.watching.informers.iter().map(|(_, informer)| news(informer.queue())).sum();
        if let Some(notice) = self.notices.overload.look(now, left) {
            self.publish_audited(notice);
        }
    }

    /// Stops draining, or resumes. While draining is stopped, the queues go on receiving, and fold the changes of each
    /// object.
    pub(super) fn pause(&mut self, paused: bool, now: f64) {
        if self.watching.paused != paused {
            self.watching.paused = paused;
            self.watching.watches.pause(paused);
            self.out.view.header.paused.put(paused);
            self.timeline.pause(paused, now);
        }
    }

    /// Keeps deleted rows this long from now on, including rows that are deleted already.
    pub(super) fn retain(&mut self, retention: Retention, now: f64) {
        self.watching.retention = retention;
        self.store(RETENTION, (retention != Retention::default()).then_some(retention.name()));
        // The user asked for it, and so no row needs to be held any longer.
        self.rows.pointer.over_table(false, now);
        if let Some(view) = self.watching.watches.view_mut() {
            view.unfreeze();
        }
        self.tell(&format!("{}.", Command::Retention(retention).title()), now);
        self.present_retention();
    }

    /// Removes the deleted rows of the table in view.
    pub(super) fn clear_deleted(&mut self, now: f64) {
        let Some(view) = self.watching.watches.view_mut() else { return };
        let count = view.deleted().len();
        view.dismiss();
        self.rows.pointer.over_table(false, now);
        let words = match count {
            0 => String::from("There are no deleted rows."),
            1 => String::from("Cleared 1 deleted row."),
            count => format!("Cleared {count} deleted rows."),
        };
        self.tell(&words, now);
        self.present_retention();
    }

    /// Shows how long deleted rows stay, and how many there are.
    pub(super) fn present_retention(&mut self) {
        let deleted = self.watching.watches.view().map(TableView::deleted);
        let (count, crowded_out) = deleted.map_or((0, 0), |deleted| (deleted.len(), deleted.crowded_out()));
        let model = RetentionModel { chosen: self.watching.retention, count, crowded_out };
        self.out.view.table.retention.put(model);
    }

    /// Resyncs this often from now on.
    pub(super) fn resync(&mut self, resync: Resync, now: f64) {
        self.watching.resyncs.choose(resync);
        self.store(RESYNC, (resync != Resync::default()).then_some(resync.name()));
        self.keep_resync(now);
        self.tell(&format!("{}.", Command::Resync(resync).title()), now);
        self.present_resync();
    }

    /// Gives the recorder this much memory from now on.
    pub(super) fn give_recorder(&mut self, budget: Budget, now: f64) {
        self.watching.history.choose(budget.bytes());
        self.store(RECORDER, (budget != Budget::default()).then_some(budget.name()));
        self.tell(&format!("{}.", Command::Recorder(budget).title()), now);
        self.out.view.table.recorder.put(budget);
    }

    /// Sets the resync period of each informer, which depends on the user's choice and on its number of objects.
    fn keep_resync(&mut self, now: f64) {
        let watching = &mut self.watching;
        for id in watching.watches.resync(&mut watching.informers, &watching.resyncs, now) {
            // The informer has a new deadline.
            self.out.effects.push(Effect::Tell(id, Told::Input(Input::Timer)));
        }
    }

    /// Shows how often the page resyncs.
    pub(super) fn present_resync(&mut self) {
        let resyncs = &self.watching.resyncs;
        let model = ResyncModel { chosen: resyncs.chosen(), words: resyncs.words() };
        self.out.view.table.resync.put(model);
    }

    /// Logs the changes of state that only the passing of time has caused.
    pub(super) fn audit_look(&self, now: f64) {
        let informers = &self.watching.informers;
        for (id, informer) in informers.iter().filter(|_| self.checks.audit.is_on()) {
            if let Some((resource, scope)) = informers.of(id) {
                self.checks.audit.look((&resource, scope), informer, now);
            }
        }
    }
}
