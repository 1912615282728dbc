//! An informer with another kind of queue than the one that is tested, which receives the same.

use kubechurn_client::api::object::Decode;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::handler::HandlerOptions;
use kubechurn_client::cache::processor::HandlerId;
use kubechurn_client::cache::queue::Queue;
use kubechurn_client::cache::reflector::{Action, Input, Reflector};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};

use kubechurn_client::testing::Log;

/// An informer with another kind of queue, and what its handler received.
pub struct Other<Q> {
    pub informer: SharedInformer<Q>,
    pub id: HandlerId,
    pub log: Log,
}

impl<Q: Queue> Other<Q> {
    pub fn new(options: InformerOptions) -> Other<Q> {
        let mut informer = SharedInformer::with_queue(Decode::METADATA, options);
        let id = informer.add_event_handler(wants(options), 0.0);
        Other { informer, id, log: Log::default() }
    }

    /// Hands over what the first informer was handed, which then asked for `action`: what is to be done next does not
    /// depend on the kind of the queue.
    pub fn handle(&mut self, input: Input<'_>, moment: Moment, action: Option<&Action>, first: &Reflector) {
        assert_eq!(self.informer.handle(input, moment).as_ref(), action);
        let state = |reflector: &Reflector| (reflector.deadline(), reflector.health(moment.now));
        assert_eq!(state(self.informer.reflector()), state(first));
        assert!(self.informer.is_balanced(), "{:?}", self.informer.ledger());
    }

    /// Takes up to so many keys from the queue. Whether there were any.
    pub fn drain(&mut self, keys: usize, now: f64) -> bool {
        let taken = self.informer.drain(keys, now);
        self.informer.deliver(self.id, &mut self.log);
        assert!(self.informer.is_balanced(), "{:?}", self.informer.ledger());
        taken > 0
    }
}

/// What the first handler of an informer is notified of: all of it.
pub fn wants(options: InformerOptions) -> HandlerOptions {
    HandlerOptions { received: true, resync: options.reflector.resync, ..HandlerOptions::default() }
}
