//! The records of the ledger, and how each is written as JSON.

use std::hash::Hasher;
use std::sync::Arc;

use rustc_hash::FxHasher;
use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::ledger::connection::{Connection, Shared};
use crate::ledger::stamp::Stamp;

/// One record, which becomes one line of the ledger.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "record", rename_all = "lowercase")]
pub enum Record {
    /// An object was written to the storage.
    Write(Write),
    /// A watch was accepted.
    Open(Shared),
    /// A frame was sent.
    Frame(Sent),
    /// A watch has ended.
    Close(Shared),
    /// A list was answered.
    List(Listed),
    /// The storage was restarted.
    Restart {
        /// The newest revision after the restart.
        revision: u64,
    },
}

/// One write.
#[derive(Debug, Clone, Serialize)]
pub struct Write {
    /// The revision of the write.
    pub revision: u64,
    /// ADDED, MODIFIED or DELETED.
    #[serde(rename = "type")]
    pub event_type: &'static str,
    /// The key of the object among those of its resource.
    pub key: String,
    /// The uid of the object.
    pub uid: String,
    /// The resource with its group: `deployments.apps`.
    pub resource: String,
    /// `create`, `update` or `delete`: the storage knows no other verbs.
    pub verb: &'static str,
    /// The hash of the stored text; for a deletion, of the last stored text. See [`hash`].
    pub hash: Hash,
    /// The key in the storage.
    #[serde(skip)]
    pub path: Arc<str>,
}

/// One frame that was sent.
#[derive(Debug, Clone)]
pub struct Sent {
    /// When it was sent.
    pub time: Stamp,
    /// The connection that it was sent on.
    pub connection: Arc<Connection>,
    /// Its number on that connection, from 1.
    pub frame: u64,
    /// The type of the event, before any change by a fault.
    pub event_type: &'static str,
    /// The key and the uid of the object.
    pub about: Option<(Arc<str>, Arc<str>)>,
    /// The object's or the bookmark's revision; 0 for an error.
    pub revision: u64,
    /// The number of bytes.
    pub bytes: usize,
    /// The hash of the bytes that were sent.
    pub hash: Hash,
    /// The name of the fault that changed it; empty if none did.
    pub fault: &'static str,
}

impl Serialize for Sent {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (key, uid) = self.about.as_ref().map(|(key, uid)| (&**key, &**uid)).unzip();
        let mut line = serializer.serialize_struct("Sent", 13)?;
        line.serialize_field("time", &self.time)?;
        line.serialize_field("connection", &self.connection.number)?;
        line.serialize_field("transport", self.connection.transport)?;
        line.serialize_field("resource", &self.connection.resource)?;
        line.serialize_field("path", &self.connection.path)?;
        line.serialize_field("frame", &self.frame)?;
        line.serialize_field("type", self.event_type)?;
        line.serialize_field("key", &key)?;
        line.serialize_field("uid", &uid)?;
        line.serialize_field("resourceVersion", &self.revision.to_string())?;
        line.serialize_field("bytes", &self.bytes)?;
        line.serialize_field("hash", &self.hash)?;
        line.serialize_field("fault", self.fault)?;
        line.end()
    }
}

/// One list that was sent.
#[derive(Debug, Clone, Serialize)]
pub struct Listed {
    /// When it was sent.
    pub time: Stamp,
    pub resource: String,
    /// The namespace of the list; `None` for all namespaces.
    pub namespace: Option<String>,
    /// The revision of the list.
    pub revision: u64,
    /// The number of objects in it.
    pub items: usize,
    /// The number of objects on further pages.
    pub remaining: usize,
}

/// A hash, written as sixteen hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hash(pub u64);

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

/// The hash of some bytes: the result of `FxHasher` of the crate rustc-hash 2 for one `write` of them on a 64-bit
/// machine. It takes a fraction of a nanosecond per byte, and nobody here has a reason to construct collisions.
pub fn hash(bytes: &[u8]) -> Hash {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    Hash(hasher.finish())
}
