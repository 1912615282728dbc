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
    /// Sends requests as `kube-controller-manager`; [`Client::with_user_agent`] makes others of it.
    pub client: Client,
    /// The informers that all share.
    pub informers: Informers,
    /// Where recorded Events go.
    pub events: EventSink,
    /// How the program was started.
    pub options: Options,
}

impl Context {
    /// What is known of a resource in all namespaces.
    pub fn lister(&self, resource: ApiResource) -> Lister {
        self.informers.lister(resource)
    }

    /// Records Events as a component, such as `replicaset-controller`.
    pub fn recorder(&self, component: &str) -> Recorder {
        self.events.recorder(component, "")
    }
}
