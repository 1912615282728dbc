//! The heartbeat: asks the API server whether what is shown as live is.
//!
//! A browser cannot ping, and a quiet socket looks just like a dead one. While some watch has been silent for ten seconds
//! the API server is asked over HTTP for the watch that has been silent longest: the same path, from its last version on,
//! for one second. Its answer proves the API, and that this watch has missed nothing. Where none comes, whatever has been
//! silent since is stale. A watch that was lost, and whose next socket has not said anything yet, is asked for at once.

use rustc_hash::FxHashMap;

use crate::api::request::WatchRequest;
use crate::api::status::Failure;
use crate::cache::backoff::Moment;
use crate::cache::factory::{InformerId, SharedInformerFactory};
use crate::cache::reflector::{Input, Reflector};

/// A watch that has been silent for this long is asked for, and none sooner after the one before, in milliseconds.
pub const SILENT: f64 = 10_000.0;
/// A question that is not answered by then has no answer, in milliseconds. With [`SILENT`], and the quarter of a second
/// that may pass until someone looks, less than 15 s after its last proof no watch is live that has none.
pub const DEADLINE: u32 = 4_500;
/// A watch that is asked for over HTTP for one second is mostly answered by then, in milliseconds. Where it is not, or is
/// answered with what a proxy might say, the server is asked for its version, too: a single resource may be slow or out of
/// order (that of an aggregated API, say) while all others are well.
pub const SLOW: u32 = 1_750;
/// In a hidden page questions are this far apart.
const HIDDEN: f64 = 60_000.0;
/// At most so many questions at once about watches that were opened anew: a browser has six connections for each host.
const AT_ONCE: usize = 4;
/// While nothing answers, the shortest and the longest time between two questions, before jitter.
const OUTAGE: (f64, f64) = (1_500.0, 30_000.0);

/// How long to wait before asking again whoever has not answered for `lasted` milliseconds: a quarter of that time, from
/// 1.5 s to 30 s, give or take a quarter. Short outages so end within seconds of their end, and long ones cost little:
/// behind a credential plugin each question may open a log-in.
pub fn wait(lasted: f64, random: f64) -> f64 {
    (lasted / 4.0).clamp(OUTAGE.0, OUTAGE.1) * (0.75 + random / 2.0)
}

/// Something to ask the API server.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// For whose sake.
    pub informer: InformerId,
    /// When, in milliseconds.
    pub asked: f64,
    /// What.
    pub ask: Ask,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// This watch over HTTP. `check_version` asks beforehand whether the server has come as far as its version: one that was
    /// restored to an earlier state serves a watch from a version of the future, and stays silent. Once for each socket will
    /// do, for a server does not go back while it runs.
    Watch {
        /// The watch.
        request: WatchRequest,
        /// Whether to ask for the version, too.
        check_version: bool,
    },
    /// The version of the API server, for there is nothing to resume yet.
    Version,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The watch ended as it should, without an event.
    Quiet,
    /// There is an event that comes after the watch's version.
    Event,
    /// This instead, or no answer at all to this question; but the API server is there.
    Refused(Failure),
    /// Nothing in time, neither to this nor to the question for the server's version.
    Nothing(Failure),
}

/// Since when nothing answers, and when to ask again.
#[derive(Clone, Copy, Debug)]
struct Outage {
    since: f64,
    again: f64,
}

/// When a watch was last asked for, and last with its version.
#[derive(Clone, Copy, Debug)]
struct Asked {
    at: f64,
    checked: f64,
}

/// The one heartbeat of a page, for all its watches.
#[derive(Debug, Default)]
pub struct Heartbeat {
    /// Questions that have no answer yet.
    under_way: Vec<Question>,
    /// What is remembered of each informer's watch.
    asked: FxHashMap<InformerId, Asked>,
    /// When the last question was asked that was not about a watch opened anew.
    last: Option<f64>,
    outage: Option<Outage>,
    /// When an outage was last over: proofs that are older than this are asked for anew.
    over: f64,
}

/// An informer that might be asked for.
struct Candidate {
    informer: InformerId,
    ask: Ask,
    /// When it was last heard or asked for; of one that waits, when it was last asked for.
    silent_since: f64,
    /// It needs a proof, and has not been asked for since it does.
    urgent: bool,
    /// It waits, and not for its turn.
    waits: bool,
}

impl Heartbeat {
    /// What to ask now, if anything; to be called a few times a second.
    pub fn questions(&mut self, informers: &SharedInformerFactory, moment: Moment, hidden: bool) -> Vec<Question> {
        self.asked.retain(|informer, _| informers.get(*informer).is_some());
        let now = moment.now;
        let mut candidates: Vec<Candidate> =
            informers.iter().filter_map(|(id, informer)| self.candidate(id, informer.reflector())).collect();
        if informers.is_empty() {
            // Nobody waits for its end.
            self.outage = None;
        }
        candidates.retain(|one| !self.under_way.iter().any(|question| question.informer == one.informer));
        candidates.sort_by(|a, b| a.silent_since.total_cmp(&b.silent_since));
        let chosen: Vec<Candidate> = match self.outage {
            // One at a time, whoever it is, to learn when the outage is over.
            Some(outage) if now < outage.again || !self.under_way.is_empty() => Vec::new(),
            Some(_) => candidates.into_iter().take(1).collect(),
            None => {
                let pace = if hidden { HIDDEN } else { SILENT };
                let rested = self.last.is_none_or(|last| now - last >= pace);
                let (mut chosen, others): (Vec<_>, Vec<_>) = candidates.into_iter().partition(|one| one.urgent);
                chosen.truncate(AT_ONCE.saturating_sub(self.under_way.len()));
                let due = |one: &Candidate| (rested || one.waits) && now - one.silent_since >= SILENT;
                if self.under_way.is_empty()
                    && chosen.is_empty()
                    && let Some(one) = others.into_iter().find(due)
                {
                    self.last = Some(now);
                    chosen.push(one);
                }
                chosen
            }
        };
        let questions = chosen.into_iter().map(|one| Question { informer: one.informer, asked: now, ask: one.ask });
        let questions: Vec<Question> = questions.collect();
        for question in &questions {
            let checks = matches!(question.ask, Ask::Watch { check_version: true, .. });
            let asked = self.asked.entry(question.informer).or_insert(Asked { at: now, checked: f64::NEG_INFINITY });
            *asked = Asked { at: now, checked: if checks { now } else { asked.checked } };
            self.under_way.push(question.clone());
        }
        questions
    }

    fn candidate(&self, informer: InformerId, reflector: &Reflector) -> Option<Candidate> {
        let never = Asked { at: f64::NEG_INFINITY, checked: f64::NEG_INFINITY };
        let asked = self.asked.get(&informer).copied().unwrap_or(never);
        if let Some(open) = reflector.open_watch() {
            let urgent = open.unproven && asked.at < open.opened.max(self.over);
            let silent_since = open.heard.max(asked.at);
            let ask = Ask::Watch { request: open.request, check_version: asked.checked < open.opened };
            return Some(Candidate { informer, ask, silent_since, urgent, waits: false });
        }
        // It waits because nothing answered. Whether anything does again is asked with what it waits for.
        let ask = match reflector.resumed() {
            _ if !reflector.is_unreachable() => return None,
            request if request.resource_version.is_unset() => Ask::Version,
            request => Ask::Watch { request, check_version: false },
        };
        Some(Candidate { informer, ask, silent_since: asked.at, urgent: false, waits: true })
    }

    /// Takes the answer to a question, and says what to hand to which informers.
    pub fn answered(
        &mut self,
        question: &Question,
        answer: Answer,
        informers: &SharedInformerFactory,
        moment: Moment,
    ) -> Vec<(InformerId, Input<'static>)> {
        self.under_way.retain(|other| other != question);
        let (informer, asked) = (question.informer, question.asked);
        let all = || informers.iter().map(|(id, _)| id);
        let checked = matches!(question.ask, Ask::Watch { check_version: true, .. });
        let event = match answer {
            Answer::Nothing(failure) => {
                // It counts from when it was noticed: a machine may have slept for hours since the question was asked.
                let since = self.outage.map_or(moment.now, |outage| outage.since);
                let again = moment.now + wait(moment.now - since, moment.random);
                self.outage = Some(Outage { since, again });
                let input = |id| (id, Input::HeartbeatFailed { asked, failure: failure.clone() });
                return all().map(input).collect();
            }
            Answer::Refused(failure) => Err(failure),
            Answer::Quiet => Ok(false),
            Answer::Event => Ok(true),
        };
        let mut inputs = Vec::new();
        if self.outage.take().is_some() {
            self.over = moment.now;
            inputs.extend(all().map(|id| (id, Input::Reachable)));
        }
        if let Ask::Watch { .. } = question.ask {
            inputs.push(match event {
                Ok(event) => (informer, Input::HeartbeatAnswered { asked, event, checked }),
                Err(failure) => (informer, Input::HeartbeatFailed { asked, failure }),
            });
        }
        inputs
    }

    /// Whether nothing answers: whatever else would be asked had better wait.
    pub fn has_outage(&self) -> bool {
        self.outage.is_some()
    }

    /// A question will not be asked after all: nobody is left to whom it matters.
    pub fn forget(&mut self, question: &Question) {
        self.under_way.retain(|other| other != question);
    }

    /// The user asks, the page is looked at again, or the machine woke up: the next question does not wait for its turn,
    /// and an outage counts as one that has only begun.
    pub fn hurry(&mut self, now: f64) {
        self.last = None;
        if let Some(outage) = &mut self.outage {
            *outage = Outage { since: now, again: now };
        }
    }
}
