//! The requests that have no answer yet, and the purpose of each.

use rustc_hash::FxHashMap;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::heartbeat::Question;
use kubechurn_columns::kinds::Kind;

use crate::page::effect::RequestId;

/// The requests that have no answer yet.
#[derive(Debug, Default)]
pub struct Requests {
    made: u64,
    pending: FxHashMap<RequestId, Purpose>,
}

/// The purpose of a request.
#[derive(Clone, Debug)]
pub enum Purpose {
    /// The page looks for the API.
    Find,
    /// The page learns which kinds the server has.
    Discovery,
    /// The page learns the columns of a kind.
    Definition(ApiResource),
    /// The page finds out whether a watch is alive.
    Heartbeat(Question),
    /// The page shows how far a list has come.
    Count(InformerId),
    /// The page compares what it holds with what the server has. The number is the comparison's own.
    Verify(u64),
    /// The page shows the selected object.
    Inspect(&'static Kind, ObjectKey),
    /// The page shows the owners of an owner.
    Owner(&'static Kind, Uid),
    /// The page shows one value of the selected Secret.
    Reveal(&'static Kind, ObjectKey, String),
    /// The user chooses namespaces.
    Namespaces,
    /// The user copies something: what it is, in words, and the text.
    Copy(&'static str, String),
    /// The user copies the inspector's YAML.
    CopyYaml,
    /// The user looks at a log.
    Log,
    /// A block of a recording is compressed.
    Pack,
    /// The page keeps what it receives.
    Keep,
    /// The user looks at what is kept, or changes it.
    Kept,
    /// What is kept is handed to the browser as a file of this name.
    HandOver(String),
    /// The user saves the table as a file of this name.
    Save(String),
}

impl Requests {
    /// Adds a request, and numbers it.
    pub fn add(&mut self, purpose: Purpose) -> RequestId {
        self.made += 1;
        let id = RequestId(self.made);
        self.pending.insert(id, purpose);
        id
    }

    /// The purpose of a request, if its answer is still wanted. A second answer to the same request is not wanted.
    pub fn take(&mut self, id: RequestId) -> Option<Purpose> {
        self.pending.remove(&id)
    }

    /// The requests that have no answer yet.
    pub fn pending(&self) -> impl Iterator<Item = (RequestId, &Purpose)> {
        self.pending.iter().map(|(id, purpose)| (*id, purpose))
    }
}
