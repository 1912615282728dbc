//! Keeps to the memory's budget, and looks after the sums.

use kubechurn_client::cache::ledger::Ledger;
use kubechurn_client::cache::reflector::Input;
use kubechurn_client::cache::shared_informer::SharedInformer;
use kubechurn_model::page::history::BUDGET;
use kubechurn_model::page::memory::Step;
use kubechurn_model::page::notices::{News, Said};

use crate::app::{Page, Shared};
use crate::browser::clock;
use kubechurn_model::page::rates::sums;

/// What a timeline may take once memory is short, in bytes.
const MARKS: usize = 512 << 10;
/// What the texts of versions may take by then.
const TEXTS: usize = BUDGET / 16;

/// The program's memory in bytes; it never shrinks.
pub(super) fn taken() -> usize {
    core::arch::wasm32::memory_size(0) * 65_536
}

/// Gives up what must be given up, if anything, and says so. The page must not be borrowed.
pub(super) fn look(page: &Shared) {
    let now = clock::now();
    let (step, largest) = {
        let mut page = page.borrow_mut();
        let largest = page.watches.largest(&page.informers);
        (page.memory.look(taken(), largest.is_some()), largest)
    };
    match (step, largest) {
        (None, _) | (Some(Step::Stop), None) => {}
        (Some(Step::Shed), _) => page.borrow_mut().shed(now),
        (Some(Step::Stop), Some((id, kind, count))) => {
            let words = format!(
                "{}, the largest watch with {count} objects, is no longer watched, and stays as it is now. Narrow it down \
                 by a namespace or a selector, or try again.",
                kind.title
            );
            let driver = page.borrow().drivers.get(&id).cloned();
            if let Some(driver) = driver {
                driver.input(Input::GiveUp(&words));
            }
            page.borrow_mut().tell_memory(now, words);
        }
    }
}

impl Page {
    /// Texts and marks go first: they are of the past, and what is shown now stays true without them.
    fn shed(&mut self, now: f64) {
        let before = self.history.bytes().0 + self.watches.timeline_bytes();
        self.history.limit(TEXTS);
        self.watches.limit_timelines(MARKS);
        let freed = before.saturating_sub(self.history.bytes().0 + self.watches.timeline_bytes()) as f64 / 1e6;
        let words = format!(
            "the oldest texts of versions and marks of the timeline were given up ({freed:.1} MB), and fewer are kept from \
             now on. If it goes on growing, the largest watch will be given up."
        );
        self.tell_memory(now, words);
    }

    fn tell_memory(&mut self, at: f64, words: String) {
        let news = News::Memory { at, taken: taken(), budget: self.memory.budget(), words };
        self.announcer.say(Said { resource: "", namespace: String::new(), news });
        self.announce();
        self.frames.request();
    }

    /// Whether the sums of every informer balance, those of the inspector's included, and those of all that they tell.
    pub(super) fn is_balanced(&self) -> bool {
        let informers = self.informers.iter().map(|(_, informer)| informer);
        informers.clone().all(SharedInformer::is_balanced) && self.watches.is_balanced(&self.informers)
    }

    /// The sums, written out: of all informers, and of what is in view.
    pub(super) fn sums(&self) -> String {
        let informers = self.informers.iter().map(|(_, informer)| informer);
        let ledger = informers.clone().fold(Ledger::default(), |sum, informer| sum.plus(informer.ledger()));
        let queued = informers.map(|informer| informer.queue().queued()).sum();
        let account = self.watches.account(&self.informers);
        format!("{}\n{}", sums(&ledger, queued), account.map_or_else(String::new, |account| account.words()))
    }

    /// After each frame: says so, once, if the sums do not balance.
    pub(super) fn check_sums(&mut self, now: f64) {
        if self.checks.unbalanced || self.is_balanced() {
            return;
        }
        self.checks.unbalanced = true;
        let news = News::Unbalanced { at: now, words: self.sums() };
        self.announcer.say(Said { resource: "", namespace: String::new(), news });
        self.announce();
    }
}
