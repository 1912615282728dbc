//! Deadlines: what follows when nothing comes, and what the user is told of that.

use crate::cache::reflector::refusals::is_refusal;
use crate::cache::reflector::{
    Action, Continuity, Failure, Health, LATE, LISTING, Moment, Notice, OPENING, Phase, Reflector, ReflectorStore,
    STALLED, State,
};

impl Reflector {
    /// When what is under way has taken too long.
    pub(super) fn ends_at(&self) -> Option<f64> {
        match &self.state {
            State::Idle | State::Stopped | State::Refused => None,
            State::Waiting { until, .. } => Some(*until),
            State::List { requested, arrived, .. } => Some(arrived.map_or(requested + LISTING, |at| at + STALLED)),
            State::Probe { requested, .. } => Some(requested + OPENING),
            State::Stream { socket, .. } => Some(socket.list_deadline()),
            State::Watch { socket, .. } => Some(socket.deadline()),
        }
    }

    /// When the user is to be told that the end of a streaming list does not come.
    pub(super) fn late_at(&self) -> Option<f64> {
        match &self.state {
            State::Stream { socket, warned, .. } => socket.heard().map(|heard| heard.max(*warned) + LATE),
            _ => None,
        }
    }

    /// When a silence begins to count of which no failure has told.
    pub(super) fn stale_at(&self) -> Option<f64> {
        let opening = match &self.state {
            State::Watch { socket, .. } => socket.opened.is_none(),
            State::Waiting { phase, .. } => *phase == Phase::Watch,
            _ => false,
        };
        match self.continuity {
            Continuity::Silent(silence) if opening && self.synced && self.failure.is_none() => {
                Some(silence.counts_from())
            }
            _ => None,
        }
    }

    /// When a resync is due; never while a new list is on its way, for a list tells everything again.
    pub(super) fn resync_due(&self) -> Option<f64> {
        self.resync_at.filter(|_| self.is_past_its_list())
    }

    /// Whether a list is complete, and its watch is under way or comes next.
    pub(super) fn is_past_its_list(&self) -> bool {
        matches!(
            &self.state,
            State::Watch { .. } | State::Waiting { phase: Phase::Watch, .. } | State::Probe { phase: Phase::Watch, .. }
        )
    }

    pub(super) fn timer(&mut self, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let due = |deadline: Option<f64>| deadline.is_some_and(|deadline| moment.now >= deadline);
        if due(self.resync_due()) {
            self.resync_at = self.options.resync.map(|every| moment.now + every);
            store.resync(moment.now);
        }
        // Before the end of the watch: where the two fall together, the new list takes the place of the next watch.
        if due(self.doubt_due()) {
            return Some(self.resolve_doubt(moment));
        }
        if due(self.ends_at()) {
            return match &self.state {
                State::Waiting { phase, .. } => {
                    let phase = *phase;
                    Some(self.enter(phase, moment))
                }
                State::List { arrived: Some(_), .. } => {
                    self.failed(Failure::unreachable("the answer stopped in the middle"), moment, store)
                }
                State::List { .. } | State::Probe { .. } => {
                    self.failed(Failure::unreachable("no answer in time"), moment, store)
                }
                State::Stream { socket, .. } | State::Watch { socket, .. } => {
                    let opened = socket.opened.is_some();
                    self.lost(opened, moment, store)
                }
                State::Idle | State::Stopped | State::Refused => None,
            };
        }
        if due(self.owed_at()) {
            return self.dead(moment);
        }
        if due(self.late_at())
            && let State::Stream { socket, warned, .. } = &mut self.state
        {
            *warned = moment.now;
            let waited = moment.now - socket.heard().unwrap_or(socket.requested);
            store.notice(Notice::Late { at: moment.now, waited });
        }
        None
    }

    /// Tells that the watch is lost, once in an outage. A refusal is told as such instead, and nothing is told while a probe
    /// asks why a socket was refused.
    pub(super) fn tell_stale(&mut self, moment: Moment, store: &mut dyn ReflectorStore) {
        if self.continuity.is_told() || !self.synced || self.health(moment.now) != Health::Stale {
            return;
        }
        let reason = match (&self.failure, &self.state) {
            (Some(failure), _) if is_refusal(failure) => return,
            (Some(failure), _) => failure.words.clone(),
            (None, State::Probe { .. }) => return,
            (None, State::Watch { .. } | State::Waiting { phase: Phase::Watch, .. }) => {
                String::from("it ended, and the next one does not open")
            }
            (None, _) => self.reason.clone(),
        };
        self.continuity.tell();
        store.notice(Notice::Stale { at: moment.now, reason });
    }

    /// The deadline of a socket passed without a frame.
    fn lost(&mut self, opened: bool, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        if !opened {
            return self.failed(Failure::unreachable("the WebSocket did not open in time"), moment, store);
        }
        if matches!(&self.state, State::Stream { socket, .. } if socket.frames == 0) {
            return self.failed(Failure::unreachable("the list did not begin in time"), moment, store);
        }
        // A watch from a version that the server has never reached opens, and stays silent for ever. So a new list is taken
        // after two watches in a row that stayed silent.
        let silent = matches!(&self.state, State::Watch { socket, .. } if socket.frames == 0);
        self.quiet = if silent { self.quiet + 1 } else { 0 };
        let watch = matches!(self.state, State::Watch { .. }) && self.quiet < 2;
        self.silent(false, moment);
        self.discard(store);
        if self.quiet >= 2 {
            self.quiet = 0;
            self.reason = String::from("two silent watches");
            // Whatever these watches did not bring is a gap, although nothing was refused.
            self.failure = Some(Failure::unreachable(self.reason.clone()));
        }
        Some(self.enter(if watch { Phase::Watch } else { Phase::Start }, moment))
    }

    pub(super) fn woke(&mut self, moment: Moment, store: &mut dyn ReflectorStore) -> Option<Action> {
        let phase = match &self.state {
            State::Idle | State::Stopped | State::Refused => return None,
            State::Watch { .. } => Phase::Watch,
            State::Waiting { phase, .. } | State::Probe { phase, .. } => *phase,
            State::Stream { .. } | State::List { .. } => Phase::Start,
        };
        self.silent(false, moment);
        if self.failure.is_none() {
            self.failure = Some(Failure::unreachable("the page slept"));
        }
        self.discard(store);
        // A page may be told twice that it woke, once by its clock and once by the network.
        Some(self.enter_after(phase, moment))
    }
}
