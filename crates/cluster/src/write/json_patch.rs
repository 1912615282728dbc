//! JSON patch (RFC 6902), as the crate json-patch applies it, within the bounds of this server. A patch is applied to a
//! copy, so that a patch that fails changes nothing.

use std::slice;

use json_patch::jsonptr::Pointer;
use json_patch::{PatchErrorKind, PatchOperation};
use serde_json::Value;

use crate::request::body::{DEEPEST, depth};

/// How much all `copy` operations may add, in bytes: repeated copies double the value each time.
const MAX_COPIED: usize = 3 << 20;

/// Why a patch cannot be applied.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum PatchError {
    /// The path does not exist, its parent is neither object nor list, or its index is not valid.
    #[error("the path {0:?} does not exist")]
    Missing(String),
    /// A test failed.
    #[error("testing value {0:?} failed")]
    Differs(String),
    /// A value would become a part of itself.
    #[error("{0:?} cannot be moved into itself")]
    IntoItself(String),
    /// The copies add more than the server allows.
    #[error("the copies are larger than 3 MiB")]
    TooLarge,
    /// The value would be nested too deep to be read again.
    #[error("{0:?} is too deep")]
    TooDeep(String),
}

/// Applies a patch; returns the new value.
pub fn patch(value: &Value, operations: &[PatchOperation]) -> Result<Value, PatchError> {
    let mut value = value.clone();
    let mut copied = 0;
    for operation in operations {
        check(&value, operation, &mut copied)?;
        // A failed operation may leave the value half changed, which does not matter for a copy.
        json_patch::patch_unsafe(&mut value, slice::from_ref(operation))
            .map_err(|error| patch_error(&error.kind, operation))?;
    }
    Ok(value)
}

/// The first path in a patch that is not a JSON pointer. The crate then refuses to parse the patch, while the real
/// server answers that the path does not exist.
pub fn malformed_path(patch: &[u8]) -> Option<PatchError> {
    let operations: Vec<Value> = serde_json::from_slice(patch).ok()?;
    let mut paths = operations.iter().flat_map(|one| [one.get("from"), one.get("path")]).flatten();
    let path = paths.find_map(|path| path.as_str().filter(|path| Pointer::parse(path).is_err()))?;
    Some(PatchError::Missing(path.to_owned()))
}

/// Refuses an operation whose result would be too large or too deep. An operation on a missing path is refused later.
fn check(value: &Value, operation: &PatchOperation, copied: &mut usize) -> Result<(), PatchError> {
    let added = match operation {
        PatchOperation::Add(one) => Some(&one.value),
        PatchOperation::Replace(one) => Some(&one.value),
        PatchOperation::Move(one) => value.pointer(one.from.as_str()),
        PatchOperation::Copy(one) => {
            let found = value.pointer(one.from.as_str());
            *copied += found.map_or(0, |found| found.to_string().len());
            if *copied > MAX_COPIED {
                return Err(PatchError::TooLarge);
            }
            found
        }
        PatchOperation::Remove(_) | PatchOperation::Test(_) => None,
    };
    let path = operation.path();
    match added {
        Some(added) if path.count() + depth(added) > DEEPEST => Err(PatchError::TooDeep(path.to_string())),
        _ => Ok(()),
    }
}

/// The error for an operation that could not be applied.
fn patch_error(kind: &PatchErrorKind, operation: &PatchOperation) -> PatchError {
    let path = operation.path().to_string();
    match (kind, operation) {
        (PatchErrorKind::TestFailed, _) => PatchError::Differs(path),
        (PatchErrorKind::CannotMoveInsideItself, PatchOperation::Move(one)) => {
            PatchError::IntoItself(one.from.to_string())
        }
        (PatchErrorKind::InvalidFromPointer, PatchOperation::Move(one)) => PatchError::Missing(one.from.to_string()),
        (PatchErrorKind::InvalidFromPointer, PatchOperation::Copy(one)) => PatchError::Missing(one.from.to_string()),
        _ => PatchError::Missing(path),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(operations: Value, expected: Result<Value, PatchError>) {
        let operations: Vec<PatchOperation> = serde_json::from_value(operations).unwrap();
        assert_eq!(patch(&json!({"a": {"b": "c", "x/y~": 1}, "list": [1, 2]}), &operations), expected);
    }

    #[test]
    fn operations_follow_each_other() {
        check(
            json!([{"op": "test", "path": "/a/b", "value": "c"}, {"op": "replace", "path": "/a/b", "value": 1},
                {"op": "add", "path": "/list/-", "value": 3}, {"op": "add", "path": "/list/0", "value": 0},
                {"op": "remove", "path": "/a/x~1y~0"}, {"op": "copy", "from": "/list/1", "path": "/one"}]),
            Ok(json!({"a": {"b": 1}, "list": [0, 1, 2, 3], "one": 1})),
        );
        check(
            json!([{"op": "move", "from": "/a", "path": "/list/1"}]),
            Ok(json!({"list": [1, {"b": "c", "x/y~": 1}, 2]})),
        );
        check(json!([{"op": "replace", "path": "", "value": 7}]), Ok(json!(7)));
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let odd = |path: &str| malformed_path(json!([{"op": "remove", "path": path}]).to_string().as_bytes());
        assert_eq!(odd("a/b"), Some(PatchError::Missing("a/b".to_owned())));
        assert_eq!(odd("/a/b"), None);
        for (operation, path) in [
            (json!({"op": "remove", "path": "/nothing"}), "/nothing"),
            (json!({"op": "remove", "path": ""}), ""),
            (json!({"op": "replace", "path": "/nothing", "value": 1}), "/nothing"),
            (json!({"op": "add", "path": "/list/3", "value": 1}), "/list/3"),
            (json!({"op": "add", "path": "/list/01", "value": 1}), "/list/01"),
            (json!({"op": "remove", "path": "/list/-"}), "/list/-"),
            (json!({"op": "add", "path": "/a/b/c", "value": 1}), "/a/b/c"),
            (json!({"op": "copy", "from": "/nothing", "path": "/a"}), "/nothing"),
        ] {
            check(json!([operation]), Err(PatchError::Missing(path.to_owned())));
        }
        check(json!([{"op": "test", "path": "/a/b", "value": "d"}]), Err(PatchError::Differs("/a/b".to_owned())));
        check(json!([{"op": "move", "from": "/a", "path": "/a/b"}]), Err(PatchError::IntoItself("/a".to_owned())));
        let double = |at: usize| json!({"op": "copy", "from": "/a", "path": format!("/a/{at}")});
        check((0..64).map(double).collect(), Err(PatchError::TooLarge));
        check(
            vec![json!({"op": "copy", "from": "/a", "path": "/a/x"}); 200].into(),
            Err(PatchError::TooDeep("/a/x".to_owned())),
        );
    }
}
