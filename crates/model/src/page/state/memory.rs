//! Keeps the page within its memory budget, and checks the sums.

use kubechurn_client::cache::ledger::Ledger;
use kubechurn_client::cache::shared_informer::SharedInformer;

use crate::page::effect::{Effect, Told};
use crate::page::environment::Environment;
use crate::page::memory::Step;
use crate::page::notices::{NoticeKind, PageNotice};
use crate::page::rates::sums;
use crate::page::state::Page;

/// The memory of a timeline's marks after memory has become short, in bytes.
const MARKS: usize = 512 << 10;
/// The memory of the texts of versions after memory has become short, in bytes.
const TEXTS: usize = 4 << 20;

impl Page {
    /// Gives up what must be given up, if anything, and publishes a notice about it.
    pub(super) fn keep_to_memory(&mut self, env: &dyn Environment) {
        let (now, taken) = (env.now(), env.memory());
        let largest = self.watching.watches.largest(&self.watching.informers);
        match (self.checks.memory.look(taken, largest.is_some()), largest) {
            (None, _) | (Some(Step::Stop), None) => {}
            (Some(Step::Shed), _) => self.shed(now, taken),
            (Some(Step::Stop), Some((id, kind, count))) => {
                let words = format!(
                    "{}, the largest watch with {count} objects, is no longer watched, and stays as it is now. Narrow it down \
                     by a namespace or a selector, or try again.",
                    kind.title
                );
                self.out.effects.push(Effect::Tell(id, Told::GiveUp(words.clone())));
                self.tell_memory(now, taken, words);
            }
        }
    }

    /// Gives up texts and marks. They go first, because they are about the past: what is shown now stays right without
    /// them.
    fn shed(&mut self, now: f64, taken: usize) {
        let watching = &mut self.watching;
        let before = watching.history.bytes().0 + watching.watches.timeline_bytes();
        watching.history.limit(TEXTS);
        watching.watches.limit_timelines(MARKS);
        let after = watching.history.bytes().0 + watching.watches.timeline_bytes();
        let freed = before.saturating_sub(after) as f64 / 1e6;
        let words = format!(
            "the oldest texts of versions and marks of the timeline were given up ({freed:.1} MB), and fewer are kept from \
             now on. If it goes on growing, the largest watch will be given up."
        );
        self.tell_memory(now, taken, words);
    }

    fn tell_memory(&mut self, at: f64, taken: usize, words: String) {
        let kind = NoticeKind::Memory { at, taken, budget: self.checks.memory.budget(), words };
        self.publish(PageNotice { resource: "", namespace: String::new(), kind });
        self.request_frame();
    }

    /// Whether the sums of every informer balance, those of the inspector's informer included, the sums of all handlers,
    /// and those of the recorder.
    pub(super) fn is_balanced(&self) -> bool {
        let informers = &self.watching.informers;
        let watching = &self.watching;
        informers.iter().all(|(_, informer)| informer.is_balanced())
            && watching.watches.is_balanced(informers)
            && watching.history.is_balanced()
    }

    /// The sums in words: those of all informers, and those of the kinds in view.
    pub(super) fn sums(&self) -> String {
        let informers = self.watching.informers.iter().map(|(_, informer)| informer);
        let ledger = informers.clone().fold(Ledger::default(), |sum, informer| sum.plus(informer.ledger()));
        let queued = informers.map(|informer: &SharedInformer| informer.queue().queued()).sum();
        let account = self.watching.watches.account(&self.watching.informers);
        format!("{}\n{}", sums(&ledger, queued), account.map_or_else(String::new, |account| account.words()))
    }

    /// Must be called after each frame. Publishes a notice, once, if the sums do not balance.
    pub(super) fn check_sums(&mut self, now: f64) {
        if self.checks.unbalanced || self.is_balanced() {
            return;
        }
        self.checks.unbalanced = true;
        let kind = NoticeKind::Unbalanced { at: now, words: self.sums() };
        self.publish(PageNotice { resource: "", namespace: String::new(), kind });
    }
}
