//! How many tests may use the machine at once. A test that gives the page a time limit runs alone, so that no other test makes
//! the page slower.

use tokio::sync::{Semaphore, SemaphorePermit};

/// Two tests, each with a browser and a cluster: a small machine runs them without delays.
const TURNS: u32 = 2;

static FREE: Semaphore = Semaphore::const_new(TURNS as usize);

/// Waits until a test may run at the same time as others.
pub async fn shared() -> SemaphorePermit<'static> {
    FREE.acquire().await.expect("the semaphore is never closed")
}

/// Waits until no other test runs. The others then wait for this one.
pub async fn alone() -> SemaphorePermit<'static> {
    FREE.acquire_many(TURNS).await.expect("the semaphore is never closed")
}
