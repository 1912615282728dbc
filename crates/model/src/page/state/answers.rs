//! Hands each answer to the part of the page that sent the request.

use kubechurn_client::cache::heartbeat::{self, Question};

use crate::page::effect::{Answer, Effect, RequestId, Told};
use crate::page::environment::Environment;
use crate::page::state::Page;
use crate::page::state::requests::Purpose;

impl Page {
    /// Handles the answer to a request. An answer that is no longer wanted changes nothing.
    pub fn answer(&mut self, id: RequestId, answer: Answer, env: &dyn Environment) {
        let Some(purpose) = self.purpose(id) else { return };
        match (purpose, answer) {
            (Purpose::Find, Answer::Find(found)) => self.found(found, env),
            (Purpose::Discovery, Answer::Discovery(cached)) => self.discovered(cached, env),
            (Purpose::Definition(resource), Answer::Definition(answer)) => {
                self.defined(&resource, answer.as_deref(), env);
            }
            (Purpose::Heartbeat(question), Answer::Heartbeat(answer)) => self.heard_heartbeat(&question, answer, env),
            (Purpose::Count(id), Answer::Count(total)) => self.requests.counts.answered(id, total),
            (Purpose::Verify(number), Answer::ListExactly(answer)) => {
                self.listed_exactly(number, answer.as_deref().map_err(Clone::clone), env);
                self.request_frame();
            }
            (Purpose::Inspect(kind, key), Answer::Get(answer)) => {
                self.fetched(kind, &key, answer);
                self.request_frame();
            }
            (Purpose::Owner(kind, uid), Answer::Get(answer)) => {
                self.fetched_owner(kind, uid, answer);
                self.request_frame();
            }
            (Purpose::Reveal(kind, key, field), Answer::Get(answer)) => {
                self.revealed((kind, &key), field, answer);
                self.request_frame();
            }
            (Purpose::Namespaces, Answer::Namespaces(namespaces)) => self.out.view.header.namespaces.put(namespaces),
            (Purpose::Copy(what, text), Answer::Copy(done)) => self.copied(what, &text, done, env.now()),
            (Purpose::CopyYaml, Answer::Copy(done)) => self.copied_yaml(done),
            (Purpose::Save(name), Answer::Save(rows)) => self.saved(&name, rows, env.now()),
            // An answer of another type than its request is the caller's mistake, and changes nothing here.
            _ => {}
        }
    }

    fn heard_heartbeat(&mut self, question: &Question, answer: heartbeat::Answer, env: &dyn Environment) {
        let informers = &self.watching.informers;
        for (informer, input) in self.requests.heartbeat.answered(question, answer, informers, env.moment()) {
            self.out.effects.push(Effect::Tell(informer, Told::Input(input)));
        }
    }
}
