//! What every controller of one program is given (kube-controller-manager's `ControllerContext`).

use kubechurn_client::api::resource::ApiResource;

use super::events::{EventSink, Recorder};
use super::options::Options;
use crate::client::informers::Informers;
use crate::client::lister::Lister;
use crate::client::rest::Client;

/// A client, the informers and the Events of one program.
#[derive(Debug, Clone)]
pub struct Context {
    /// Sends requests as `kube-controller-manager`; [`Client::with_user_agent`] gives clients with another name.
    pub client: Client,
    /// The informers that all controllers share.
    pub informers: Informers,
    /// The sink of recorded Events.
    pub events: EventSink,
    /// The options that the program was started with.
    pub options: Options,
}

impl Context {
    /// A lister of a resource in all namespaces.
    pub fn lister(&self, resource: ApiResource) -> Lister {
        self.informers.lister(resource)
    }

    /// Records Events as a component, such as `replicaset-controller`.
    pub fn recorder(&self, component: &str) -> Recorder {
        self.events.recorder(component, "")
    }
}
