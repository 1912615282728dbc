//! The connection to the API server: the search for it, what it has, whether it answers, and how many objects it counts.

use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::heartbeat::{Answer, Heartbeats, Question};
use kubechurn_client::cache::reflector::{Action, Health};

use crate::navigation::first_list;
use crate::navigation::namespaces::Namespaces;
use crate::page::context::Context;
use crate::page::discovery::Discovery;
use crate::page::effect::{Effect, ReflectorInput, Request};
use crate::page::environment::fragment;
use crate::page::requests::Purpose;
use crate::page::search::Search;
use crate::page::verification::Verification;
use crate::watches::listing::{Counts, Progress};
use kubechurn_client::cache::reflector::Input;

/// The connection to the API server.
#[derive(Debug, Default)]
pub(super) struct Connection {
    pub(super) search: Search,
    pub(super) discovery: Discovery,
    pub(super) heartbeat: Heartbeats,
    pub(super) counts: Counts,
    /// Whether an informer has asked for anything.
    has_begun: bool,
}

impl Connection {
    /// Sends the request that the heartbeat asks for.
    pub(super) fn ask_heartbeat(&mut self, cx: &mut Context<'_>) {
        let informers = &cx.watching.informers;
        let questions = self.heartbeat.questions(informers, cx.env.moment(), cx.env.is_hidden());
        for question in questions {
            match cx.watching.informers.of(question.informer) {
                Some((resource, scope)) => {
                    let request = Request::Heartbeat(resource, scope.clone(), question.ask.clone());
                    cx.watching.courses.of_mut(question.informer).proofs += 1;
                    cx.request(Purpose::Heartbeat(question), request);
                }
                None => self.heartbeat.forget(&question),
            }
        }
    }

    /// Handles an answer of the heartbeat.
    pub(super) fn heard(&mut self, question: &Question, answer: Answer, cx: &mut Context<'_>) {
        let informers = &cx.watching.informers;
        for (informer, input) in self.heartbeat.answered(question, answer, informers, cx.env.moment()) {
            cx.effects.push(Effect::Reflect(informer, ReflectorInput::Input(input)));
        }
    }

    /// Has everything that waits try again at once.
    pub(super) fn retry(&mut self, cx: &mut Context<'_>) {
        cx.hand_all(&Input::Start);
        self.heartbeat.hurry(cx.now);
    }

    /// Looks whether a watch takes too much memory, a list takes long, or a gap begins or ends.
    pub(super) fn look(&mut self, verification: &mut Verification, cx: &mut Context<'_>) {
        verification.keep_to_memory(cx);
        self.count_lists(cx);
        cx.watching.watches.look(&cx.watching.informers, cx.now);
        cx.watching.courses.look(&cx.watching.informers, cx.now);
        cx.watching.audit_states(cx.audit, cx.now);
    }

    /// Asks for the numbers of objects for lists that take long, and drops the requests that are no longer useful.
    fn count_lists(&mut self, cx: &mut Context<'_>) {
        let (informers, now) = (&cx.watching.informers, cx.now);
        let is_over = |purpose: &Purpose| match purpose {
            Purpose::Count(id) => informers.get(*id).is_none_or(|informer| informer.health(now) != Health::Listing),
            _ => false,
        };
        let over = cx.requests.pending().filter(|(_, purpose)| is_over(purpose)).map(|(id, _)| id);
        over.collect::<Vec<_>>().into_iter().for_each(|id| cx.abort(id));
        if !cx.navigation.found {
            return;
        }
        let members = cx.watching.watches.members();
        for id in self.counts.look(now, members, &cx.watching.informers) {
            let Some((resource, scope)) = cx.watching.informers.of(id) else { continue };
            let request = Request::Count(resource, scope.clone());
            cx.request(Purpose::Count(id), request);
        }
    }

    /// How far the first list of the kinds in view has come, if the server has reported the number of objects.
    pub(super) fn progress(&self, cx: &Context<'_>) -> Option<Progress> {
        self.counts.progress(cx.watching.watches.members(), &cx.watching.informers)
    }

    /// When a request that was put off is due, in milliseconds. Discovery waits for the next tick.
    pub(super) fn asks_again(&self) -> Option<f64> {
        [self.search.again(), self.discovery.definitions_at()].into_iter().flatten().reduce(f64::min)
    }

    /// Sends the requests that were put off and are due now.
    pub(super) fn ask_again(&mut self, cx: &mut Context<'_>) {
        self.search.again_if_due(cx);
        self.discovery.discover_again(&self.heartbeat, cx);
        self.discovery.define_again(cx);
    }

    /// Stores which list the page asks for first at this place, for its next start.
    pub(super) fn store_first_list(&mut self, id: InformerId, action: &Action, cx: &mut Context<'_>) {
        let is_own = cx.watching.informers.of(id).is_some_and(|(resource, _)| resource.cluster.is_empty());
        if !is_own || std::mem::replace(&mut self.has_begun, true) {
            return;
        }
        let list = match (action, cx.watching.informers.of(id)) {
            // Elsewhere than below the page nothing is asked early.
            (Action::List(request), Some((resource, scope))) if self.search.is_below_page(cx.env) => {
                Some(request.url(&resource, scope))
            }
            _ => None,
        };
        let before = cx.env.stored(first_list::KEY).unwrap_or_default();
        let text = first_list::written(&before, &first_list::place(&fragment(&cx.env.url())), list.as_deref());
        if text != before {
            cx.store(first_list::KEY, Some(&text).filter(|text| !text.is_empty()).map(String::as_str));
        }
    }
}

/// Asks once for the names of the namespaces. A menu is no reason to keep a watch open.
pub(super) fn load_namespaces(cx: &mut Context<'_>) {
    if cx.navigation.found {
        let known = Namespaces::clone(&cx.view.header.namespaces);
        cx.request(Purpose::Namespaces, Request::Namespaces(known));
    }
}
