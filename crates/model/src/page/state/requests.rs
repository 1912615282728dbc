//! The requests to the server and to the browser, and the purpose of each.

use rustc_hash::FxHashMap;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::heartbeat::{Heartbeats, Question};
use kubechurn_client::cache::reflector::Health;

use crate::page::effect::{Effect, Request, RequestId};
use crate::page::environment::Environment;
use crate::page::listing::Counts;
use crate::page::state::Page;
use kubechurn_columns::kinds::Kind;

/// The requests without an answer, and the parts that decide when the server is asked.
#[derive(Debug, Default)]
pub(super) struct Requests {
    made: u64,
    pending: FxHashMap<RequestId, Purpose>,
    /// Whether an informer has asked for anything.
    pub(super) has_begun: bool,
    pub(super) heartbeat: Heartbeats,
    pub(super) counts: Counts,
}

/// The purpose of a request.
#[derive(Clone, Debug)]
pub(super) enum Purpose {
    /// The page looks for the API.
    Find,
    /// The page learns which kinds the server has.
    Discovery,
    /// The page learns the columns of a kind.
    Definition(ApiResource),
    /// The page finds out whether a watch is alive.
    Heartbeat(Question),
    /// The page shows how far a list has come.
    Count(InformerId),
    /// The page compares what it holds with what the server has. The number is the comparison's own.
    Verify(u64),
    /// The page shows the selected object.
    Inspect(&'static Kind, ObjectKey),
    /// The page shows the owners of an owner.
    Owner(&'static Kind, Uid),
    /// The page shows one value of the selected Secret.
    Reveal(&'static Kind, ObjectKey, String),
    /// The user chooses namespaces.
    Namespaces,
    /// The user copies something: what it is, in words, and the text.
    Copy(&'static str, String),
    /// The user copies the inspector's YAML.
    CopyYaml,
    /// The user saves the table as a file of this name.
    Save(String),
}

impl Page {
    /// Sends a request.
    pub(super) fn request(&mut self, purpose: Purpose, request: Request) -> RequestId {
        self.requests.made += 1;
        let id = RequestId(self.requests.made);
        self.requests.pending.insert(id, purpose);
        self.out.effects.push(Effect::Request(id, request));
        id
    }

    /// The purpose of a request, if its answer is still wanted. A second answer to the same request is not wanted.
    pub(super) fn purpose(&mut self, id: RequestId) -> Option<Purpose> {
        self.requests.pending.remove(&id)
    }

    /// Drops a request: its answer is no longer wanted.
    pub(super) fn abort(&mut self, id: RequestId) {
        if self.requests.pending.remove(&id).is_some() {
            self.out.effects.push(Effect::Abort(id));
        }
    }

    /// Requests the numbers of objects for lists that take long, and drops the requests that are no longer useful.
    pub(super) fn count_lists(&mut self, now: f64) {
        let informers = &self.watching.informers;
        let is_over = |purpose: &Purpose| match purpose {
            Purpose::Count(id) => informers.get(*id).is_none_or(|informer| informer.health(now) != Health::Listing),
            _ => false,
        };
        let over = self.requests.pending.iter().filter(|(_, purpose)| is_over(purpose)).map(|(id, _)| *id);
        over.collect::<Vec<_>>().into_iter().for_each(|id| self.abort(id));
        if !self.place.found {
            return;
        }
        let members = self.watching.watches.members();
        for id in self.requests.counts.look(now, members, &self.watching.informers) {
            let Some((resource, scope)) = self.watching.informers.of(id) else { continue };
            let request = Request::Count(resource, scope.clone());
            self.request(Purpose::Count(id), request);
        }
    }

    /// Sends the request that the heartbeat asks for.
    pub(super) fn ask_heartbeat(&mut self, env: &dyn Environment) {
        let informers = &self.watching.informers;
        let questions = self.requests.heartbeat.questions(informers, env.moment(), env.is_hidden());
        for question in questions {
            match self.watching.informers.of(question.informer) {
                Some((resource, scope)) => {
                    let request = Request::Heartbeat(resource, scope.clone(), question.ask.clone());
                    self.request(Purpose::Heartbeat(question), request);
                }
                None => self.requests.heartbeat.forget(&question),
            }
        }
    }

    /// When a request that was put off is due, in milliseconds. Discovery waits for the next tick.
    pub(super) fn asks_again(&self) -> Option<f64> {
        let definitions = self.place.discovery.definitions_at();
        [self.place.search.again(), definitions].into_iter().flatten().reduce(f64::min)
    }

    /// Sends the requests that were put off and are due now.
    pub(super) fn ask_again(&mut self, env: &dyn Environment) {
        self.search_again(env);
        self.discover_again(env);
        self.define_again(env.now());
    }
}
