//! How many tests may use the machine at once. A test that gives the page a time limit runs alone, so that no other test makes
//! the page slower.

use tokio::sync::{Semaphore, SemaphorePermit};

/// Three tests, each with a browser and a cluster: they wait more than they work, and so keep two cores busy.
const TURNS: u32 = 3;

static FREE: Semaphore = Semaphore::const_new(TURNS as usize);

/// Waits until a test may run at the same time as others.
pub async fn shared() -> SemaphorePermit<'static> {
    FREE.acquire().await.expect("the semaphore is never closed")
}

/// Waits until no other test runs. The others then wait for this one.
pub async fn alone() -> SemaphorePermit<'static> {
    FREE.acquire_many(TURNS).await.expect("the semaphore is never closed")
}
