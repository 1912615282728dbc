//! What was asked of the server or the browser, and for what purpose.

use rustc_hash::FxHashMap;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::heartbeat::{Heartbeat, Question};
use kubechurn_client::cache::reflector::Health;

use crate::page::effect::{Effect, Request, RequestId};
use crate::page::environment::Environment;
use crate::page::listing::Counts;
use crate::page::state::Page;
use crate::table::kinds::Kind;

/// The requests that have no answer yet, and who decides that the server is asked.
#[derive(Debug, Default)]
pub(super) struct Requests {
    made: u64,
    pending: FxHashMap<RequestId, Purpose>,
    pub(super) heartbeat: Heartbeat,
    pub(super) counts: Counts,
}

/// For what an answer is.
#[derive(Clone, Debug)]
pub(super) enum Purpose {
    /// The page looks for the API.
    Find,
    /// The page learns what kinds there are.
    Discovery,
    /// It learns the columns of one.
    Definition(ApiResource),
    /// It wants to know whether a watch is alive.
    Heartbeat(Question),
    /// It tells how far a list has come.
    Count(InformerId),
    /// It compares what it holds with what the server has: the comparison's own number.
    Verify(u64),
    /// It shows the object that is looked at.
    Inspect(&'static Kind, ObjectKey),
    /// It shows what an owner of that belongs to.
    Owner(&'static Kind, Uid),
    /// It shows one value of the Secret that is looked at.
    Reveal(&'static Kind, ObjectKey, String),
    /// The user chooses namespaces.
    Namespaces,
    /// The user copies something: what it is, and its text.
    Copy(&'static str, String),
    /// The user copies the inspector's YAML.
    CopyYaml,
    /// The user keeps the table as a file of this name.
    Save(String),
}

impl Page {
    /// Asks for something.
    pub(super) fn request(&mut self, purpose: Purpose, request: Request) -> RequestId {
        self.requests.made += 1;
        let id = RequestId(self.requests.made);
        self.requests.pending.insert(id, purpose);
        self.out.effects.push(Effect::Request(id, request));
        id
    }

    /// What a request was for, if its answer is still wanted. No second answer is.
    pub(super) fn purpose(&mut self, id: RequestId) -> Option<Purpose> {
        self.requests.pending.remove(&id)
    }

    /// The answer to a request is not wanted any longer.
    pub(super) fn abort(&mut self, id: RequestId) {
        if self.requests.pending.remove(&id).is_some() {
            self.out.effects.push(Effect::Abort(id));
        }
    }

    /// Asks the server for the numbers of objects that are worth it, and gives up asking for those that are not any longer.
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

    /// Asks what the heartbeat wants to know.
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

    /// Asks for what was to be asked later, and is due now.
    pub(super) fn ask_again(&mut self, env: &dyn Environment) {
        self.search_again(env);
        self.discover_again(env);
        self.define_again(env.now());
    }
}
