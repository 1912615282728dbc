//! The heartbeats of several API servers: an answer of one of them proves nothing about another one.

use crate::cache::backoff::Moment;
use crate::cache::factory::{InformerId, SharedInformerFactory};
use crate::cache::heartbeat::{Answer, Heartbeat, Question};
use crate::cache::reflector::Input;

/// One [`Heartbeat`] for each API server that a factory's informers watch.
#[derive(Debug, Default)]
pub struct Heartbeats(Vec<Heartbeat>);

impl Heartbeats {
    /// What to ask now of each API server: [`Heartbeat::questions`].
    pub fn questions(&mut self, informers: &SharedInformerFactory, moment: Moment, hidden: bool) -> Vec<Question> {
        for cluster in informers.clusters() {
            if self.0.iter().all(|one| one.cluster != cluster) {
                self.0.push(Heartbeat::of(cluster));
            }
        }
        let mut questions = Vec::new();
        self.0.iter_mut().for_each(|one| questions.extend(one.questions(informers, moment, hidden)));
        questions
    }

    /// When [`Heartbeats::questions`] has something to ask: the earliest [`Heartbeat::deadline`].
    pub fn deadline(&self, informers: &SharedInformerFactory, hidden: bool) -> Option<f64> {
        let new = informers.clusters().filter(|cluster| self.0.iter().all(|one| one.cluster != *cluster));
        let new = new.filter_map(|cluster| Heartbeat::of(cluster).deadline(informers, hidden));
        let all = self.0.iter().filter_map(|one| one.deadline(informers, hidden));
        all.chain(new).reduce(f64::min)
    }

    /// Takes the answer to a question: [`Heartbeat::answered`].
    pub fn answered(
        &mut self,
        question: &Question,
        answer: Answer,
        informers: &SharedInformerFactory,
        moment: Moment,
    ) -> Vec<(InformerId, Input<'static>)> {
        let asked = self.0.iter_mut().find(|one| one.under_way.contains(question));
        asked.map_or_else(Vec::new, |one| one.answered(question, answer, informers, moment))
    }

    /// Whether the first API server, whose name is empty, does not answer.
    pub fn has_outage(&self) -> bool {
        self.0.iter().any(|one| one.cluster.is_empty() && one.has_outage())
    }

    /// A question will not be asked after all: [`Heartbeat::forget`].
    pub fn forget(&mut self, question: &Question) {
        self.0.iter_mut().for_each(|one| one.forget(question));
    }

    /// The next question to each API server does not wait for its turn: [`Heartbeat::hurry`].
    pub fn hurry(&mut self, now: f64) {
        self.0.iter_mut().for_each(|one| one.hurry(now));
    }
}
