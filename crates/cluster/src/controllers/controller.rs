//! What a controller is, and the workers that run it.

use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::rc::Rc;

use super::context::Context;
use super::queue::Queue;
use crate::client::api_error::ApiError;

/// Makes the actual state match the desired state, one key at a time.
pub trait Controller: Sized + 'static {
    /// What the queue holds, most often an `ObjectKey`.
    type Key: Clone + Debug + Display + Eq + Hash + 'static;

    /// The name in kube-controller-manager's list of controllers, such as `replicaset-controller`.
    const NAME: &'static str;

    /// How many keys are worked on at the same time (`--concurrent-…-syncs`).
    const WORKERS: usize = 5;

    /// Gets listers, a client and a recorder from the context, and has the listers' changes add keys to the queue. It
    /// is called before any informer starts; `sync` is called only after all of them have synced.
    fn new(context: &Context, queue: Queue<Self::Key>) -> Self;

    /// Compares the desired state with the actual one and takes the missing steps. An object that has been deleted is
    /// not an error. After an error the key is queued again, with a delay that grows with the number of failures.
    fn sync(&self, key: &Self::Key) -> impl Future<Output = Result<(), SyncError>>;
}

/// Why a key is queued again.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SyncError {
    /// The server refused a request. A conflict only means that the informers are behind; it is retried without a
    /// message.
    #[error(transparent)]
    Api(#[from] ApiError),
    /// Any other error.
    #[error("{0}")]
    Other(String),
}

impl SyncError {
    /// Whether time alone will solve it, so that it need not be logged.
    fn is_quiet(&self) -> bool {
        matches!(self, Self::Api(error) if error.is_conflict() || error.is_not_found() || error.is_namespace_terminating())
    }
}

/// Processes keys until the queue is shut down (`runWorker`, `processNextWorkItem`).
pub async fn work<C: Controller>(controller: Rc<C>, queue: Queue<C::Key>) {
    while let Some(key) = queue.get().await {
        let sync = controller.sync(&key);
        #[cfg(test)]
        let sync = super::answered::work(queue.number(), &key, sync);
        match sync.await {
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
