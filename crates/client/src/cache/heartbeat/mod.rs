//! The heartbeat: asks the API server whether the watches that are called live are.
//!
//! A browser cannot ping, and a socket on which nothing happens looks just like a dead one. While some watch has been silent
//! for ten seconds, the API server is asked over HTTP for the watch that has been silent longest: for the same path, from its
//! last version on, for one second. An answer proves that the API server is there, and that this watch has missed nothing.
//! Where no answer comes, every watch that has been silent since then is stale. For a watch that was lost, and whose next
//! socket has not brought anything yet, the server is asked at once.
//!
//! Where a browser lets the page read no answer over HTTP, the same is asked by a socket of its own ([`SocketAnswer`]): a
//! server that sends nothing and ends that watch properly has nothing for it.

mod answers;
mod clusters;

use rustc_hash::FxHashMap;

use crate::api::request::WatchRequest;
use crate::api::sort::sort_by;
use crate::api::status::Failure;
use crate::cache::backoff::Moment;
use crate::cache::factory::{InformerId, SharedInformerFactory};
use crate::cache::reflector::{Input, Reflector};

pub use crate::cache::heartbeat::answers::{SocketAnswer, read_watch};
pub use crate::cache::heartbeat::clusters::Heartbeats;

/// A question is asked about a watch that has been silent for this long, in milliseconds, and not sooner than this after the
/// question before.
pub const SILENT: f64 = 10_000.0;
/// A question that is not answered within this time, in milliseconds, counts as unanswered. With [`SILENT`], and the quarter
/// of a second by which a call of [`Heartbeat::questions`] may be late, no watch is called live for 15 s after its last
/// proof.
pub const DEADLINE: u32 = 4_500;
/// A request for a watch of one second is mostly answered within this time, in milliseconds. Where it is not, or the answer
/// may be a proxy's, the server is also asked for its version: a single resource may be slow or out of order (that of an
/// aggregated API, say) while the server and all other resources are well.
pub const SLOW: u32 = 1_750;
/// How far apart questions are in a hidden page, in milliseconds.
const HIDDEN: f64 = 60_000.0;
/// The most questions at once about watches that were opened anew: a browser has six connections for each host.
const AT_ONCE: usize = 4;
/// While nothing answers, the shortest and the longest time between two questions, in milliseconds, before jitter.
const OUTAGE: (f64, f64) = (1_500.0, 30_000.0);

/// How long to wait, in milliseconds, before asking again a server that has not answered for `lasted` milliseconds: a quarter
/// of that time, from 1.5 s to 30 s, more or less by up to a quarter (`random`, in [0, 1)). So the end of a short outage is
/// noticed within seconds, and a long outage costs few questions: behind a credential plugin each question may open a log-in.
pub fn wait(lasted: f64, random: f64) -> f64 {
    (lasted / 4.0).clamp(OUTAGE.0, OUTAGE.1) * (0.75 + random / 2.0)
}

/// How far apart questions are about watches that are silent, in milliseconds.
fn pace(hidden: bool) -> f64 {
    if hidden { HIDDEN } else { SILENT }
}

/// Something to ask the API server.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The informer about whose watch it is asked.
    pub informer: InformerId,
    /// When it is asked, in milliseconds.
    pub asked: f64,
    /// What is asked.
    pub ask: Ask,
}

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub enum Ask {
    /// This watch, over HTTP.
    Watch {
        /// The watch.
        request: WatchRequest,
        /// Whether to ask first if the server has come as far as the watch's version. A server that was restored to an
        /// earlier state serves a watch from a version that it has not reached, and stays silent. One such question for each
        /// socket is enough, for a server does not go back while it runs.
        check_version: bool,
    },
    /// The version of the API server, because there is no watch to resume yet.
    Version,
}

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The watch ended properly, without an event.
    Quiet,
    /// There is an event that comes after the watch's version.
    Event,
    /// The question failed with this, which may be that no answer came; but the API server is there.
    Refused(Failure),
    /// No answer came in time, neither to this question nor to the one for the server's version.
    Nothing(Failure),
}

/// Since when nothing answers, and when to ask again, in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Outage {
    since: f64,
    again: f64,
}

/// When a question about a watch was last asked, and when last with the check of its version, in milliseconds.
#[derive(Clone, Copy, Debug)]
struct Asked {
    at: f64,
    checked: f64,
}

/// The heartbeat of all watches of a factory that go to one API server.
#[derive(Debug, Default)]
pub struct Heartbeat {
    /// Which API server: [`crate::api::resource::ApiResource::cluster`].
    cluster: &'static str,
    /// Questions that have no answer yet.
    under_way: Vec<Question>,
    /// When each informer's watch was last asked for.
    asked: FxHashMap<InformerId, Asked>,
    /// When the last question was asked that was not about a watch that was opened anew.
    last: Option<f64>,
    outage: Option<Outage>,
    /// When the last outage was over, in milliseconds: watches whose last question is older than this are asked for anew.
    over: f64,
}

/// An informer whose watch may be asked for.
struct Candidate {
    informer: InformerId,
    ask: Ask,
    /// When the last proof of the watch came or the last question about it was asked; of an informer that waits, when the
    /// last question was asked.
    silent_since: f64,
    /// Whether the watch needs a proof, and no question was asked since it needs one.
    urgent: bool,
    /// Whether the informer waits because nothing answers. Its questions do not wait for their turn.
    waits: bool,
}

impl Heartbeat {
    /// The heartbeat of the watches that go to the API server of this name.
    pub fn of(cluster: &'static str) -> Heartbeat {
        Heartbeat { cluster, ..Heartbeat::default() }
    }

    /// What to ask now, if anything. To be called at [`Heartbeat::deadline`] at the latest. `hidden` is whether the page is
    /// hidden.
    pub fn questions(&mut self, informers: &SharedInformerFactory, moment: Moment, hidden: bool) -> Vec<Question> {
        self.asked.retain(|informer, _| informers.get(*informer).is_some());
        let now = moment.now;
        let mut candidates: Vec<Candidate> =
            informers.of_cluster(self.cluster).filter_map(|(id, one)| self.candidate(id, one.reflector())).collect();
        if informers.of_cluster(self.cluster).next().is_none() {
            // No one is left who waits for the end of the outage.
            self.outage = None;
        }
        candidates.retain(|one| !self.under_way.iter().any(|question| question.informer == one.informer));
        sort_by(&mut candidates, |a, b| a.silent_since.total_cmp(&b.silent_since));
        let chosen: Vec<Candidate> = match self.outage {
            // One question at a time, about any of them, shows when the outage is over.
            Some(outage) if now < outage.again || !self.under_way.is_empty() => Vec::new(),
            Some(_) => candidates.into_iter().take(1).collect(),
            None => {
                let rested = self.last.is_none_or(|last| now - last >= pace(hidden));
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

    /// When [`Heartbeat::questions`] has something to ask, in milliseconds, if nothing else happens until then; a time that
    /// has passed means now. `None` where it waits for an answer, or has nobody to ask about.
    pub fn deadline(&self, informers: &SharedInformerFactory, hidden: bool) -> Option<f64> {
        let is_asked = |informer: InformerId| self.under_way.iter().any(|question| question.informer == informer);
        let others = informers.of_cluster(self.cluster).filter(|(id, _)| !is_asked(*id));
        let mut candidates = others.filter_map(|(id, informer)| self.candidate(id, informer.reflector()));
        if let Some(outage) = self.outage {
            return candidates.next().filter(|_| self.under_way.is_empty()).map(|_| outage.again);
        }
        let turn = self.last.map_or(f64::NEG_INFINITY, |last| last + pace(hidden));
        let due = |one: Candidate| match one.urgent {
            true => (self.under_way.len() < AT_ONCE).then_some(f64::NEG_INFINITY),
            false if !self.under_way.is_empty() => None,
            false => Some((one.silent_since + SILENT).max(if one.waits { f64::NEG_INFINITY } else { turn })),
        };
        candidates.filter_map(due).reduce(f64::min)
    }

    fn candidate(&self, informer: InformerId, reflector: &Reflector) -> Option<Candidate> {
        let never = Asked { at: f64::NEG_INFINITY, checked: f64::NEG_INFINITY };
        let asked = self.asked.get(&informer).copied().unwrap_or(never);
        if let Some(open) = reflector.open_watch() {
            let urgent = open.unproven && asked.at < open.opened.max(self.over);
            let silent_since = open.heard.max(asked.at);
            let ask = Ask::Watch { request: open.request, check_version: open.readable && asked.checked < open.opened };
            return Some(Candidate { informer, ask, silent_since, urgent, waits: false });
        }
        // The informer may wait because nothing answered. Then the question is the request that it waits for.
        let ask = match reflector.resumed() {
            _ if !reflector.is_unreachable() => return None,
            request if request.resource_version.is_unset() => Ask::Version,
            request => Ask::Watch { request, check_version: false },
        };
        Some(Candidate { informer, ask, silent_since: asked.at, urgent: false, waits: true })
    }

    /// Takes the answer to a question, and returns what to hand to which informers.
    pub fn answered(
        &mut self,
        question: &Question,
        answer: Answer,
        informers: &SharedInformerFactory,
        moment: Moment,
    ) -> Vec<(InformerId, Input<'static>)> {
        self.under_way.retain(|other| other != question);
        let (informer, asked) = (question.informer, question.asked);
        let all = || informers.of_cluster(self.cluster).map(|(id, _)| id);
        let checked = matches!(question.ask, Ask::Watch { check_version: true, .. });
        let event = match answer {
            Answer::Nothing(failure) => {
                // The outage counts from now: the machine may have slept for hours since the question was asked.
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

    /// Whether nothing answers. Other requests to the server had better wait then.
    pub fn has_outage(&self) -> bool {
        self.outage.is_some()
    }

    /// A question will not be asked after all, because no one is left to whom it matters.
    pub fn forget(&mut self, question: &Question) {
        self.under_way.retain(|other| other != question);
    }

    /// The user asks, the page is visible again, or the machine woke up: the next question does not wait for its turn, and an
    /// outage counts as one that has only begun.
    pub fn hurry(&mut self, now: f64) {
        self.last = None;
        if let Some(outage) = &mut self.outage {
            *outage = Outage { since: now, again: now };
        }
    }
}
