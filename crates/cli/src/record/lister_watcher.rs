//! The ListerWatcher: carries out the actions of a reflector over HTTP, and reports what came of each.
//!
//! Watches are streams of lines and no WebSockets, which only a browser needs. A watch that does not open has the reason in its
//! answer, so that the probe that follows is answered with it.

use hyper::body::Bytes;
use kubechurn_client::api::request::{ListRequest, Scope, WatchRequest};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::reflector::Action;
use tokio::sync::mpsc::Sender;

use super::api::{Api, next};

/// What asks for a list or a watch in whichever form the server prefers to give it.
pub const ANY: &str = "application/json";

/// What came of an action.
#[derive(Debug)]
pub enum Outcome {
    /// The answer to a watch has begun.
    Opened,
    /// Bytes of a watch.
    Bytes(Bytes),
    /// The watch has ended: as it should, or not.
    Ended(bool),
    /// A watch did not open.
    Refused(Failure),
    /// The answer to a list has begun.
    Listing,
    /// Bytes of a page.
    Piece(Bytes),
    /// A page is complete.
    PageEnd,
    /// A page did not come.
    Failed(Failure),
}

/// One resource in one scope.
#[derive(Clone)]
pub struct ListerWatcher {
    pub api: Api,
    pub resource: ApiResource,
    pub scope: Scope,
}

impl ListerWatcher {
    /// Carries out an action, and sends what comes of it until it is over or nobody listens any more.
    pub async fn perform(self, action: Action, outcomes: Sender<Outcome>) {
        // Nobody listens once another action has taken the place of this one.
        let _ = match action {
            Action::List(request) => self.list(&request, &outcomes).await,
            Action::Watch(request) | Action::WatchOverHttp(request) => self.watch(&request, &outcomes).await,
            Action::Probe(_) | Action::Wait => Some(()),
        };
    }

    async fn list(&self, request: &ListRequest, outcomes: &Sender<Outcome>) -> Option<()> {
        let mut body = match self.api.get(&request.url(&self.resource, &self.scope), ANY).await {
            Ok(response) => response.into_body(),
            Err(failure) => return outcomes.send(Outcome::Failed(failure)).await.ok(),
        };
        outcomes.send(Outcome::Listing).await.ok()?;
        loop {
            let outcome = match next(&mut body).await {
                Some(Ok(bytes)) => Outcome::Piece(bytes),
                Some(Err(failure)) => return outcomes.send(Outcome::Failed(failure)).await.ok(),
                None => return outcomes.send(Outcome::PageEnd).await.ok(),
            };
            outcomes.send(outcome).await.ok()?;
        }
    }

    async fn watch(&self, request: &WatchRequest, outcomes: &Sender<Outcome>) -> Option<()> {
        let mut body = match self.api.get(&request.url(&self.resource, &self.scope), ANY).await {
            Ok(response) => response.into_body(),
            Err(failure) => return outcomes.send(Outcome::Refused(failure)).await.ok(),
        };
        outcomes.send(Outcome::Opened).await.ok()?;
        loop {
            let outcome = match next(&mut body).await {
                Some(Ok(bytes)) => Outcome::Bytes(bytes),
                end => return outcomes.send(Outcome::Ended(end.is_none())).await.ok(),
            };
            outcomes.send(outcome).await.ok()?;
        }
    }
}
