//! What a controller is, and the workers that run it.

use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::rc::Rc;

use super::context::Context;
use super::queue::Queue;
use crate::client::api_error::ApiError;

/// Brings the cluster to where an object says that it should be, one key at a time.
pub trait Controller: Sized + 'static {
    /// What the queue holds, most often an `ObjectKey`.
    type Key: Clone + Debug + Display + Eq + Hash + 'static;

    /// What it is called where kube-controller-manager lists its controllers, such as `replicaset-controller`.
    const NAME: &'static str;

    /// How many keys are worked on at once (`--concurrent-…-syncs`).
    const WORKERS: usize = 5;

    /// Asks the context for listers, a client and a recorder, and has the listers' changes add keys to the queue. It is
    /// called before any informer has started; nothing is synced before all of them have.
    fn new(context: &Context, queue: Queue<Self::Key>) -> Self;

    /// Compares what is wanted with what is there, and does what is missing. An object that is gone is no error. An
    /// error has the key come back, the later the more often it fails.
    fn sync(&self, key: &Self::Key) -> impl Future<Output = Result<(), SyncError>>;
}

/// Why a key comes back.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SyncError {
    /// The server said no. A conflict only means that the informers are behind, and comes back without a word.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// Something else is not as it should be.
    #[error("{0}")]
    Other(String),
}

impl SyncError {
    /// Whether time alone will mend it, so that nobody needs to be told.
    fn is_quiet(&self) -> bool {
        matches!(self, Self::Api(error) if error.is_conflict() || error.is_not_found() || error.is_namespace_terminating())
    }
}

/// Works on keys until the queue is shut down (`runWorker`, `processNextWorkItem`).
pub async fn work<C: Controller>(controller: Rc<C>, queue: Queue<C::Key>) {
    while let Some(key) = queue.get().await {
        match controller.sync(&key).await {
            Ok(()) => queue.forget(&key),
            Err(error) => {
                if !error.is_quiet() {
                    eprintln!("cluster: {}: {key}: {error}", C::NAME);
                }
                queue.add_rate_limited(key.clone());
            }
        }
        queue.done(&key);
    }
}
