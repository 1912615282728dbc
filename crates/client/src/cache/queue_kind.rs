//! The choice between the queues. It stands above them, and they above what they have in common ([`crate::cache::queue`]).

use crate::cache::delta_fifo::DeltaFifo;
use crate::cache::queue::{Queue, Transform};
use crate::cache::real_fifo::RealFifo;

/// Which queue an informer has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueKind {
    /// Folds what happened to one object: [`DeltaFifo`].
    #[default]
    DeltaFifo,
    /// Every delta in order of arrival: [`RealFifo`].
    RealFifo,
    /// The same, with a complete list as one entry that is compared with the store when its turn comes:
    /// client-go's `AtomicFIFO`.
    AtomicFifo,
}

impl QueueKind {
    /// An empty queue of this kind.
    pub fn make(self, transform: Option<Transform>) -> Box<dyn Queue> {
        match self {
            QueueKind::DeltaFifo => Box::new(DeltaFifo::new(transform)),
            QueueKind::RealFifo => Box::new(RealFifo::new(transform)),
            QueueKind::AtomicFifo => Box::new(RealFifo::atomic(transform)),
        }
    }
}
