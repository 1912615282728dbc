//! Deletes Jobs whose end is longer ago than their `ttlSecondsAfterFinished` (`pkg/controller/ttlafterfinished`).

use kubechurn_client::api::object::ObjectKey;
use serde_json::Value;
use tokio::time::Duration;

use super::context::Context;
use super::controller::{Controller, SyncError};
use super::job::status::finish_time;
use super::object;
use super::queue::Queue;
use crate::client::lister::Lister;
use crate::client::resources::JOBS;
use crate::client::rest::{Client, DeleteOptions};
use crate::clock;

/// The controller.
#[derive(Debug)]
pub struct TtlAfterFinished {
    client: Client,
    jobs: Lister,
    queue: Queue<ObjectKey>,
}

impl Controller for TtlAfterFinished {
    type Key = ObjectKey;
    const NAME: &'static str = "ttl-after-finished-controller";

    fn new(context: &Context, queue: Queue<ObjectKey>) -> Self {
        let jobs = context.lister(JOBS);
        let (waiting, known) = (queue.clone(), jobs.clone());
        jobs.on_change(move |change| {
            let job = change.object();
            if known.parse(job).is_some_and(|job| expires_in(&job, clock::now()).is_some()) {
                waiting.add(job.key.clone());
            }
        });
        Self { client: context.client.clone(), jobs, queue }
    }

    async fn sync(&self, key: &ObjectKey) -> Result<(), SyncError> {
        let Some(known) = self.jobs.value(key) else { return Ok(()) };
        match expires_in(&known, clock::now()) {
            None => return Ok(()),
            Some(0) => {}
            Some(seconds) => {
                self.queue.add_after(key.clone(), Duration::from_secs(seconds.unsigned_abs()));
                return Ok(());
            }
        }
        // The period may have been extended, which the informer may not show yet.
        let fresh = match self.client.get(&JOBS, &key.namespace, &key.name).await {
            Err(error) if error.is_not_found() => return Ok(()),
            fresh => fresh?,
        };
        if expires_in(&fresh, clock::now()) != Some(0) {
            return Ok(());
        }
        let options = DeleteOptions {
            propagation_policy: Some("Foreground"),
            uid: Some(object::uid(&fresh)),
            ..DeleteOptions::default()
        };
        match self.client.delete(&JOBS, &key.namespace, &key.name, options).await {
            Err(error) if error.is_not_found() => Ok(()),
            answer => Ok(answer.map(drop)?),
        }
    }
}

/// After how many seconds a Job is to be deleted, 0 if at once; `None` if it still runs, has no limit, or is already
/// being deleted.
fn expires_in(job: &Value, now: i64) -> Option<i64> {
    let ttl = object::number(job, "/spec/ttlSecondsAfterFinished")?;
    let finished = finish_time(job).filter(|_| !object::is_being_deleted(job))?;
    Some((finished.saturating_add(ttl) - now).max(0))
}
