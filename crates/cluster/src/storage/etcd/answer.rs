//! Converts the answers of etcd into the types of the storage: keys, events, errors.

use std::error::Error;

use etcd_client::{Event, ResponseHeader};

use crate::storage::{Change, KeyValue, StorageError};

/// The error for an answer that violates etcd's protocol.
pub fn broken(what: &str) -> StorageError {
    StorageError::Unavailable(format!("etcd answered without {what}"))
}

/// The revision in the header of an answer.
pub fn revision_of(header: Option<&ResponseHeader>) -> Result<u64, StorageError> {
    header.and_then(|header| u64::try_from(header.revision()).ok()).ok_or_else(|| broken("a revision"))
}

/// A key and its value. Another program may write a value that is not UTF-8; such a value is not an object of this
/// program.
pub fn key_value(found: &etcd_client::KeyValue) -> KeyValue {
    KeyValue {
        key: String::from_utf8_lossy(found.key()).into(),
        value: String::from_utf8_lossy(found.value()).into(),
        revision: u64::try_from(found.mod_revision()).unwrap_or_default(),
    }
}

/// An event of a watch that also asked for the previous values. An event whose previous value is compacted is an error,
/// as in the real server, because the deleted object would be unknown.
pub fn change(event: &Event) -> Result<Change, StorageError> {
    let found = event.kv().ok_or_else(|| broken("an event's key"))?;
    let KeyValue { key, value, revision } = key_value(found);
    let previous = event.prev_kv().map(key_value);
    // The version of a key counts the writes since its creation, and is 0 for a deletion.
    let (is_deletion, is_creation) = (found.version() == 0, found.version() == 1);
    if previous.is_none() && !is_creation {
        return Err(StorageError::Compacted(revision));
    }
    Ok(Change { key, revision, value: (!is_deletion).then_some(value), previous })
}

/// Converts an error. etcd's own errors are recognised by their messages: etcd/api/v3rpc/rpctypes/error.go.
pub fn error(error: etcd_client::Error) -> StorageError {
    let etcd_client::Error::GRpcStatus(status) = &error else {
        return StorageError::Unavailable(error.to_string());
    };
    if status.message().starts_with("etcdserver: ") {
        return StorageError::Unavailable(status.message().to_owned());
    }
    // The format is that of gRPC for Go, followed by the causes.
    let mut words = format!("rpc error: code = {:?} desc = {}", status.code(), status.message());
    let mut source = status.source();
    while let Some(cause) = source {
        words += &format!(": {cause}");
        source = cause.source();
    }
    StorageError::Unavailable(words)
}

/// Whether etcd has compacted the requested revision.
pub fn is_compacted(error: &StorageError) -> bool {
    matches!(error, StorageError::Unavailable(words) if words.ends_with("required revision has been compacted"))
}

/// Whether the requested revision is in the future.
pub fn is_future(error: &StorageError) -> bool {
    matches!(error, StorageError::Unavailable(words) if words.ends_with("required revision is a future revision"))
}
