//! How many tests may use the machine at once. A test that holds the page to a time limit runs alone, so that
//! the limit judges the page and not its neighbour.

use tokio::sync::{Semaphore, SemaphorePermit};

/// Two browsers, two clusters: what a small machine carries without making anything late.
const TURNS: u32 = 2;

static FREE: Semaphore = Semaphore::const_new(TURNS as usize);

/// Waits for room beside others.
pub async fn shared() -> SemaphorePermit<'static> {
    FREE.acquire().await.expect("the semaphore is never closed")
}

/// Waits until no other test runs, and keeps others waiting.
pub async fn alone() -> SemaphorePermit<'static> {
    FREE.acquire_many(TURNS).await.expect("the semaphore is never closed")
}
