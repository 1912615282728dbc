//! The watches at work: hands inputs to the reflectors, drains the queues, and has tables and timelines take what was
//! drained.

use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::backoff::Moment as Instant;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::factory::{InformerId, Registration, SharedInformerFactory};
use kubechurn_client::cache::ledger::Ledger;
use kubechurn_client::cache::queue::Queue;
use kubechurn_client::cache::reflector::{Action, Health, Input, Notice, Options};
use kubechurn_client::cache::shared_informer::{ReceivedDelta, SharedInformer};
use kubechurn_columns::kinds::Kind;

use crate::history::History;
use crate::history::coverage::{Before, Moment};
use crate::navigation::Navigation;
use crate::page::effect::{Effect, Effects, ReflectorInput};
use crate::page::environment::Environment;
use crate::rewind::Rewound;
use crate::table::filter::Filter;
use crate::table::view::{Retention, TableView};
use crate::watches::audit::{After, AuditLog};
use crate::watches::course::{Courses, Relist};
use crate::watches::drain::Drain;
use crate::watches::notices::{Announcer, NoticeKind, PageNotice, subject};
use crate::watches::rates::sums;
use crate::watches::resync::Resyncs;
use crate::watches::watched::worst;
use crate::watches::{Around, Rewatched, Wanted, Watches};

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
/// The same for a recording, which is read at full speed: to drain more takes longer than a task should.
const UNDRAINED_RECORDING: usize = 256;

/// What is watched, and where received changes go.
#[derive(Debug)]
pub struct Watching {
    pub informers: SharedInformerFactory,
    pub watches: Watches,
    /// What is remembered of each watch.
    pub courses: Courses,
    /// The texts of received objects, while there is room for the texts.
    pub history: History,
    /// The moment that is shown; `None` for now.
    pub moment: Option<Moment>,
    /// The rows at that moment; `None` for now, and where nothing in view is watched.
    pub rewound: Option<Rewound>,
    /// Whether the queues are not drained.
    pub paused: bool,
    /// How many keys a frame may take from each queue.
    pub drain: Drain,
    /// How many frames were received since the queues were drained last.
    undrained: usize,
    /// Whether every table has received everything that its stores hold.
    pub whole: bool,
    /// How long deleted rows stay.
    pub retention: Retention,
    /// How often resyncs repeat what is known.
    pub resyncs: Resyncs,
}

/// Who receives what a reflector's input brings.
pub struct Receivers<'a> {
    pub audit: &'a AuditLog,
    pub announcer: &'a mut Announcer,
    /// Whether what is received belongs to what the session saw of a kind. The Events that only the inspector watches do
    /// not.
    pub records: bool,
    /// Gets all that is received of a kind.
    pub recorded: &'a mut dyn FnMut(Recorded, ApiResource, ReceivedDelta<'_>),
}

/// The recorder's number of what was received.
#[derive(Clone, Copy, Debug)]
pub struct Recorded {
    /// If it is a change that is recorded.
    pub change: Option<u64>,
    /// If a first list brought it, which is recorded, too, as long as there is room.
    pub listed: Option<u64>,
}

/// What a reflector's input led to.
#[derive(Debug)]
pub struct Reflected {
    /// What the reflector wants done next.
    pub action: Option<Action>,
    /// When it must be woken, in milliseconds.
    pub deadline: Option<f64>,
    /// Whether notices were published.
    pub has_notices: bool,
}

impl Watching {
    /// Nothing is watched yet.
    pub fn new(informers: SharedInformerFactory, home: &'static str, history: History) -> Watching {
        Watching {
            informers,
            watches: Watches::at_home(home),
            courses: Courses::default(),
            history,
            moment: None,
            rewound: None,
            paused: false,
            drain: Drain::default(),
            undrained: 0,
            whole: false,
            retention: Retention::default(),
            resyncs: Resyncs::default(),
        }
    }

    /// The rows that are shown: those of the moment, or those of now.
    pub fn view(&self) -> Option<&TableView> {
        self.rewound.as_ref().map(Rewound::table).or_else(|| self.watches.view())
    }

    /// The rows that are shown, to be held.
    pub fn view_mut(&mut self) -> Option<&mut TableView> {
        match &mut self.rewound {
            Some(rewound) => Some(rewound.table_mut()),
            None => self.watches.view_mut(),
        }
    }

    /// The rows of the moment, if one is shown, and those of now, to be sorted and filtered.
    pub fn views_mut(&mut self) -> impl Iterator<Item = &mut TableView> {
        self.rewound.as_mut().map(Rewound::table_mut).into_iter().chain(self.watches.view_mut())
    }

    /// Hands an input to an informer's reflector.
    pub fn handle(
        &mut self,
        id: InformerId,
        input: Input<'_>,
        moment: Instant,
        receivers: Receivers<'_>,
    ) -> Option<Reflected> {
        let Receivers { audit, announcer, records, recorded } = receivers;
        let resource = self.informers.of(id).filter(|_| records).map(|(resource, _)| resource);
        let (history, absences) = (&mut self.history, &mut self.watches.absences);
        let informer = self.informers.get_mut(id)?;
        let is_first = !informer.reflector().has_listed();
        let covered = Before::of(informer, &input, history.received());
        let mut keep = |received: ReceivedDelta<'_>| {
            if let Some(resource) = resource {
                absences.received(id, resource, is_first, &received);
                let is_listed = is_first && received.delta_type == DeltaType::Replaced;
                let listed = is_listed.then(|| history.received());
                let change = history.push(resource, received);
                recorded(Recorded { change, listed }, resource, received);
            }
        };
        let frames = informer.ledger().frames;
        let before = audit.before(informer, &input);
        let action = informer.handle_tapped(input, moment, &mut keep);
        self.undrained += (informer.ledger().frames - frames) as usize;
        let (deadline, notices) = (informer.reflector().deadline(), informer.take_notices());
        let has_notices = !notices.is_empty();
        for notice in &notices {
            if let Notice::Relisted { at, reason, items } = notice {
                self.courses.relisted(id, Relist { at: *at, reason: reason.clone(), items: *items });
            }
        }
        if let Some(resource) = resource {
            if is_first && informer.reflector().has_listed() {
                absences.listed(resource, moment.now);
            }
            for notice in &notices {
                match notice {
                    Notice::Relisted { at, .. } => absences.relisted(id, *at),
                    Notice::Gap { from, to, .. } => absences.gap(id, subject(&resource), *from, *to),
                    _ => {}
                }
            }
        }
        if let Some((resource, scope)) = self.informers.of(id) {
            if let Some(informer) = self.informers.get(id).filter(|_| records) {
                let (of, now) = ((resource, scope), (moment.now, self.history.received()));
                self.history.coverage.handled(id, of, (covered, informer, &notices), now);
            }
            if let Some((before, informer)) = before.zip(self.informers.get(id)) {
                audit.handled(before, After { resource: &resource, scope, informer, action: action.as_ref(), moment });
            }
            // Where the page does without a kind that it may not list, that is no news.
            let is_optional = self.watches.is_optional(id);
            for notice in notices {
                let is_silent = is_optional && matches!(notice, Notice::Refused { .. });
                let namespace = scope.namespace.clone();
                let kind = NoticeKind::Watch(id, notice);
                let notice = PageNotice { resource: subject(&resource), namespace, kind };
                audit.notice(Some((&resource, scope)), &notice);
                if !is_silent {
                    announcer.publish(notice);
                }
            }
        }
        Some(Reflected { action, deadline, has_notices })
    }

    /// Whether so much was received since the last drain that the next one may not wait for a frame.
    pub fn must_drain(&self) -> bool {
        self.undrained >= UNDRAINED
    }

    /// Whether so much of a recording was read since the last drain that it is to be drained.
    pub fn must_drain_recording(&self) -> bool {
        self.undrained >= UNDRAINED_RECORDING
    }

    /// Whether something was received since the last call.
    pub fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.undrained) > 0
    }

    /// Drains the queues within this frame's share of time. Returns whether anything is left.
    pub fn drain(&mut self, hidden: bool, env: &dyn Environment) -> bool {
        if self.paused {
            return false;
        }
        let (now, began) = (env.now(), env.work_clock());
        let share = if hidden { HIDDEN_SHARE } else { SHARE };
        let mut most = self.drain.most();
        loop {
            let mut left = false;
            for (_, informer) in self.informers.iter_mut() {
                informer.drain(BATCH.min(most), now);
                left |= !informer.queue().is_empty();
            }
            most = most.saturating_sub(BATCH);
            if !left || most == 0 || env.work_clock() - began >= share {
                return left;
            }
        }
    }

    /// Has the tables and timelines receive what the informers hold for them. While the user is `busy` with the rows of
    /// the table in view, none goes. Returns whether something is left.
    pub fn take(&mut self, busy: bool, now: f64) -> bool {
        let left = self.watches.take(&mut self.informers, self.retention, busy, now);
        self.whole = !left;
        left
    }

    /// How many received changes wait in the queues. Objects that a resync repeats bring nothing new.
    pub fn waiting(&self) -> u64 {
        let queues = self.informers.iter().map(|(_, informer)| informer.queue());
        queues.map(|queue| queue.queued() - queue.resyncing()).sum()
    }

    /// Watches exactly what the route asks for, or what a recording has. Returns whether another table is in view than before.
    pub fn watch(
        &mut self,
        navigation: &mut Navigation,
        announcer: &mut Announcer,
        effects: &mut Effects,
        (audit, now): (&AuditLog, f64),
    ) -> bool {
        let kept = navigation.kept();
        let wanted = Wanted::at(&navigation.route, &navigation.catalog, &navigation.definitions);
        let recorded = navigation.recorded.as_ref().map(|recorded| &recorded.watches[..]);
        let wanted = wanted.and(&kept, &navigation.definitions).recorded(recorded);
        let mut around = Around { informers: &mut self.informers, announcer, now };
        let Rewatched { ended, is_other } = self.watches.watch(&wanted, &mut around);
        self.watches.write_down(audit);
        // A table that comes into view again starts without its old filter.
        self.watches.others_mut().for_each(|table| table.filter_by(Filter::default()));
        for id in ended {
            self.history.coverage.ended(id, (now, self.history.received()));
            effects.push(Effect::Stop(id));
        }
        self.start(effects);
        is_other
    }

    /// Starts the informers that are new.
    pub fn start(&mut self, effects: &mut Effects) {
        for (id, resource, scope) in self.informers.start() {
            effects.push(Effect::Start(id, resource, scope));
        }
    }

    /// Ends a registration, and its informer if nothing else needs that.
    pub fn unwatch(&mut self, registration: Registration, effects: &mut Effects) {
        if self.informers.remove_event_handler(registration) {
            effects.push(Effect::Stop(registration.informer));
        }
    }

    /// Sets the resync period of each informer, which depends on the user's choice and on its number of objects.
    pub fn set_resync_periods(&mut self, now: f64, effects: &mut Effects) {
        for id in self.watches.resync(&mut self.informers, &self.resyncs, now) {
            // The informer has a new deadline.
            effects.push(Effect::Reflect(id, ReflectorInput::Input(Input::Timer)));
        }
    }

    /// The worst health of the kinds in view. A kind that waits for its columns counts as connecting.
    pub fn health(&self, navigation: &Navigation, now: f64) -> Option<Health> {
        let waits = navigation.definitions.awaits_in_view();
        let known = self.watches.health(&self.informers, now)?;
        worst([known].into_iter().chain(waits.then_some(Health::Connecting)))
    }

    /// Whether a list is on its way.
    pub fn is_listing(&self, now: f64) -> bool {
        self.informers.iter().any(|(_, informer)| informer.health(now) == Health::Listing)
    }

    /// Whether the page knows all objects of a kind in view.
    pub fn has_listed(&self, kind: &Kind) -> bool {
        let watched = self.watches.member(kind);
        watched.is_some_and(|watched| watched.informers(&self.informers).all(SharedInformer::has_synced))
    }

    /// What all informers have received and done.
    pub fn ledger(&self) -> Ledger {
        self.informers.iter().fold(Ledger::default(), |sum, (_, informer)| sum.plus(informer.ledger()))
    }

    /// Whether the sums of every informer balance, those of the inspector's informer included, the sums of all handlers,
    /// and those of the recorder.
    pub fn is_balanced(&self) -> bool {
        self.informers.iter().all(|(_, informer)| informer.is_balanced())
            && self.watches.is_balanced(&self.informers)
            && self.history.is_balanced()
    }

    /// The sums in words: those of all informers, and those of the kinds in view.
    pub fn sums(&self) -> String {
        let queued = self.informers.iter().map(|(_, informer)| informer.queue().queued()).sum();
        let account = self.watches.account(&self.informers);
        format!("{}\n{}", sums(&self.ledger(), queued), account.map_or_else(String::new, |account| account.words()))
    }

    /// Writes the changes of state into the audit log that only the passing of time has caused.
    pub fn audit_states(&self, audit: &AuditLog, now: f64) {
        for (id, informer) in self.informers.iter().filter(|_| audit.is_on()) {
            if let Some((resource, scope)) = self.informers.of(id) {
                audit.look((&resource, scope), informer, now);
            }
        }
    }
}

/// How lists are asked for, by the parameter `list` of the address: `stream` is for streaming lists. A browser reads a
/// fetched list in a third of the time, because a socket brings each object in a message of its own.
pub fn lists(parameter: Option<&str>) -> Options {
    Options { watch_list: parameter == Some("stream"), ..Options::default() }
}
