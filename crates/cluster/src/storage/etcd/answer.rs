//! What etcd answers, in the words of the storage: keys, events, errors.

use std::error::Error;

use etcd_client::{Event, ResponseHeader};

use crate::storage::{Change, KeyValue, StorageError};

/// An answer that breaks etcd's own rules.
pub fn broken(what: &str) -> StorageError {
    StorageError::Unavailable(format!("etcd answered without {what}"))
}

/// The revision in an answer's header.
pub fn revision_of(header: Option<&ResponseHeader>) -> Result<u64, StorageError> {
    header.and_then(|header| u64::try_from(header.revision()).ok()).ok_or_else(|| broken("a revision"))
}

/// A key and its value. Whoever else writes there may write something that is no text: no object of ours either.
pub fn key_value(found: &etcd_client::KeyValue) -> KeyValue {
    KeyValue {
        key: String::from_utf8_lossy(found.key()).into(),
        value: String::from_utf8_lossy(found.value()).into(),
        revision: u64::try_from(found.mod_revision()).unwrap_or_default(),
    }
}

/// An event of a watch that asked for the values before. One whose former value is compacted is an error, as in the
/// real server: nobody could tell which object has gone.
pub fn change(event: &Event) -> Result<Change, StorageError> {
    let found = event.kv().ok_or_else(|| broken("an event's key"))?;
    let KeyValue { key, value, revision } = key_value(found);
    let previous = event.prev_kv().map(key_value);
    // Versions count the writes of one life of a key; a deletion is none.
    let (is_deletion, is_creation) = (found.version() == 0, found.version() == 1);
    if previous.is_none() && !is_creation {
        return Err(StorageError::Compacted(revision));
    }
    Ok(Change { key, revision, value: (!is_deletion).then_some(value), previous })
}

/// Why etcd did not do it. Its own errors are known by their words: etcd/api/v3rpc/rpctypes/error.go.
pub fn error(error: etcd_client::Error) -> StorageError {
    let etcd_client::Error::GRpcStatus(status) = &error else {
        return StorageError::Unavailable(error.to_string());
    };
    if status.message().starts_with("etcdserver: ") {
        return StorageError::Unavailable(status.message().to_owned());
    }
    // As Go's gRPC writes it, with what lies beneath.
    let mut words = format!("rpc error: code = {:?} desc = {}", status.code(), status.message());
    let mut source = status.source();
    while let Some(cause) = source {
        words += &format!(": {cause}");
        source = cause.source();
    }
    StorageError::Unavailable(words)
}

/// Whether etcd has compacted the revision that it was asked for.
pub fn is_compacted(error: &StorageError) -> bool {
    matches!(error, StorageError::Unavailable(words) if words.ends_with("required revision has been compacted"))
}

/// Whether the revision that etcd was asked for is still to come.
pub fn is_future(error: &StorageError) -> bool {
    matches!(error, StorageError::Unavailable(words) if words.ends_with("required revision is a future revision"))
}
