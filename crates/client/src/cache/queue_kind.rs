//! The choice between the kinds of queue. The module names every kind, and each kind names what they have in common
//! ([`crate::cache::queue`]), so that no module names itself in a circle.

use crate::cache::delta_fifo::DeltaFifo;
use crate::cache::queue::Queue;
use crate::cache::real_fifo::RealFifo;

/// Which queue an informer has.
///
/// A controller whose work follows from the newest state alone takes the default. One that has to see every event that
/// the server sent takes a queue that does not fold:
///
/// ```
/// use std::sync::Arc;
///
/// use kubechurn_client::api::object::decode_metadata;
/// use kubechurn_client::cache::delta::DeltaType;
/// use kubechurn_client::cache::pipeline::Pipeline;
/// use kubechurn_client::cache::queue_kind::QueueKind;
///
/// for (kind, changes) in [(QueueKind::DeltaFifo, 1), (QueueKind::RealFifo, 2), (QueueKind::AtomicFifo, 2)] {
///     let mut pipeline = Pipeline::new(kind);
///     for version in ["1", "2"] {
///         let text = format!(r#"{{"metadata":{{"name":"web","uid":"u","resourceVersion":"{version}"}}}}"#);
///         let object = Arc::new(decode_metadata(&text)?);
///         pipeline.event(if version == "1" { DeltaType::Added } else { DeltaType::Updated }, object);
///     }
///     let mut told = 0;
///     while pipeline.pop(|_| told += 1) {}
///     assert_eq!((told, pipeline.store().len()), (changes, 1), "{kind:?}");
/// }
/// # Ok::<(), kubechurn_client::api::object::DecodeError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QueueKind {
    /// The changes of one object that wait are folded into one: [`DeltaFifo`].
    #[default]
    DeltaFifo,
    /// Every delta waits by itself, in the order of arrival: [`RealFifo`].
    RealFifo,
    /// A [`RealFifo`] in which a complete list is one entry, which is compared with the store when its turn comes:
    /// client-go's `AtomicFIFO`. To queue a list then costs no look at the store.
    AtomicFifo,
}

impl QueueKind {
    /// An empty queue of this kind.
    pub fn make(self) -> Box<dyn Queue> {
        match self {
            QueueKind::DeltaFifo => Box::new(DeltaFifo::default()),
            QueueKind::RealFifo => Box::new(RealFifo::default()),
            QueueKind::AtomicFifo => Box::new(RealFifo::atomic()),
        }
    }
}
