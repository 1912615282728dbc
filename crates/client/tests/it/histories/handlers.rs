//! The handlers: one that is there from the beginning, and others that are added later and removed.

use std::sync::Arc;

use kubechurn_client::api::object::Object;
use kubechurn_client::cache::handler::{Handled, HandlerError, HandlerOptions, ResourceEventHandler};
use kubechurn_client::cache::processor::HandlerId;
use kubechurn_client::cache::queue::Queue;
use kubechurn_client::cache::shared_informer::SharedInformer;
use kubechurn_client::cache::store::Change;

/// A handler that was added late.
pub struct LateHandler {
    pub id: HandlerId,
    /// What the store held when this handler was added, and how many changes the first handler had received by then.
    held: Vec<Arc<Object>>,
    from: usize,
    received: Vec<Change>,
    failed: u64,
}

impl ResourceEventHandler for LateHandler {
    /// Answers every deletion with an error, and is notified of the next change all the same.
    fn changed(&mut self, _now: f64, change: &Change) -> Handled {
        self.received.push(change.clone());
        if matches!(change, Change::Deleted { .. }) {
            self.failed += 1;
            return Err(HandlerError(String::from("gone")));
        }
        Ok(())
    }
}

impl LateHandler {
    /// Adds a handler when the first one had received `from` changes.
    pub fn new<Q: Queue>(informer: &mut SharedInformer<Q>, from: usize, now: f64) -> LateHandler {
        let held = informer.store().list();
        let id = informer.add_event_handler(HandlerOptions::default(), now);
        LateHandler { id, held, from, received: Vec::new(), failed: 0 }
    }

    /// Takes what waits. The handler must have received what the store held when it was added, and then what the first
    /// handler received (`log`); changes that changed nothing may be missing.
    pub fn take<Q: Queue>(&mut self, informer: &mut SharedInformer<Q>, log: &[Change]) {
        let waiting = informer.handler_ledger(self.id).expect("it is there").waiting;
        assert_eq!(informer.deliver(self.id, self) as u64, waiting);
        let ledger = informer.handler_ledger(self.id).expect("it is there");
        let heard = (self.received.len() as u64 - self.failed, self.failed, 0);
        assert_eq!((ledger.handled, ledger.failed, ledger.waiting), heard, "its ledger");
        let held = self.held.iter().map(|new| Change::Added { new: new.clone(), listed: true, folded: 1 });
        let mut received = self.received.iter();
        assert!(held.eq(received.by_ref().take(self.held.len()).cloned()), "it first hears of what the store holds");
        let news = |change: &&Change| !matches!(change, Change::Synced { .. });
        assert!(received.filter(news).eq(log[self.from..].iter().filter(news)), "it missed something");
        assert!(!informer.handler_has_synced(self.id) || informer.has_synced());
    }
}
