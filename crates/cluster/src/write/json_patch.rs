//! JSON patch (RFC 6902). A patch is applied to a copy, so that one that fails changes nothing.

use serde::Deserialize;
use serde_json::Value;

use crate::request::body::{DEEPEST, depth};

/// What `copy` may add in all, in bytes: repeated, it doubles whatever it copies.
const MOST_COPIED: usize = 3 << 20;

/// One step of a patch.
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub enum Operation {
    /// Puts a value into an object or a list.
    Add {
        /// Where.
        path: String,
        /// What.
        value: Value,
    },
    /// Takes a value away.
    Remove {
        /// Where.
        path: String,
    },
    /// Puts a value where one is.
    Replace {
        /// Where.
        path: String,
        /// What.
        value: Value,
    },
    /// Takes a value away and puts it elsewhere.
    Move {
        /// Where it is.
        from: String,
        /// Where it shall be.
        path: String,
    },
    /// Puts a value elsewhere too.
    Copy {
        /// Where it is.
        from: String,
        /// Where it shall be too.
        path: String,
    },
    /// Goes on only if a value is there.
    Test {
        /// Where.
        path: String,
        /// What.
        value: Value,
    },
}

/// Why a patch was not applied.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum PatchError {
    /// Nothing is there, or its parent is neither object nor list, or the index is none.
    #[error("the path {0:?} does not exist")]
    Missing(String),
    /// A test failed.
    #[error("testing value {0:?} failed")]
    Differs(String),
    /// A value would become a part of itself.
    #[error("{0:?} cannot be moved into itself")]
    IntoItself(String),
    /// Copies add more than the server takes.
    #[error("the copies are larger than 3 MiB")]
    TooLarge,
    /// The value would be nested deeper than what could be read again.
    #[error("{0:?} is too deep")]
    TooDeep(String),
}

/// The value after a patch.
pub fn patch(value: &Value, operations: &[Operation]) -> Result<Value, PatchError> {
    let mut value = value.clone();
    let mut copied = 0;
    for operation in operations {
        match operation {
            Operation::Add { path, value: new } => add(&mut value, path, new.clone())?,
            Operation::Remove { path } => drop(remove(&mut value, path)?),
            Operation::Replace { path, value: new } => {
                check_depth(path, new)?;
                *find(&mut value, path)? = new.clone();
            }
            Operation::Move { from, path } if path.starts_with(&format!("{from}/")) => {
                return Err(PatchError::IntoItself(from.clone()));
            }
            Operation::Move { from, path } => {
                let moved = remove(&mut value, from)?;
                add(&mut value, path, moved)?;
            }
            Operation::Copy { from, path } => {
                let found = find(&mut value, from)?.clone();
                copied += found.to_string().len();
                if copied > MOST_COPIED {
                    return Err(PatchError::TooLarge);
                }
                add(&mut value, path, found)?;
            }
            Operation::Test { path, value: expected } => {
                if find(&mut value, path)? != expected {
                    return Err(PatchError::Differs(path.clone()));
                }
            }
        }
    }
    Ok(value)
}

fn missing(path: &str) -> PatchError {
    PatchError::Missing(path.to_owned())
}

fn find<'a>(value: &'a mut Value, path: &str) -> Result<&'a mut Value, PatchError> {
    value.pointer_mut(path).ok_or_else(|| missing(path))
}

/// The parent of a path, and the last step to it.
fn parent<'a>(value: &'a mut Value, path: &str) -> Result<(&'a mut Value, String), PatchError> {
    let (parent, last) = path.rsplit_once('/').ok_or_else(|| missing(path))?;
    Ok((find(value, parent)?, last.replace("~1", "/").replace("~0", "~")))
}

/// An index as the standard writes it: no sign, no leading zero.
fn index(text: &str) -> Option<usize> {
    let plain = text == "0" || (!text.starts_with('0') && text.bytes().all(|byte| byte.is_ascii_digit()));
    plain.then(|| text.parse().ok()).flatten()
}

fn check_depth(path: &str, new: &Value) -> Result<(), PatchError> {
    let deep = path.matches('/').count() + depth(new) > DEEPEST;
    if deep { Err(PatchError::TooDeep(path.to_owned())) } else { Ok(()) }
}

fn add(value: &mut Value, path: &str, new: Value) -> Result<(), PatchError> {
    check_depth(path, &new)?;
    if path.is_empty() {
        *value = new;
        return Ok(());
    }
    match parent(value, path)? {
        (Value::Object(fields), last) => drop(fields.insert(last, new)),
        (Value::Array(list), last) if last == "-" => list.push(new),
        (Value::Array(list), last) => {
            let at = index(&last).filter(|at| *at <= list.len()).ok_or_else(|| missing(path))?;
            list.insert(at, new);
        }
        _ => return Err(missing(path)),
    }
    Ok(())
}

fn remove(value: &mut Value, path: &str) -> Result<Value, PatchError> {
    match parent(value, path)? {
        (Value::Object(fields), last) => fields.remove(&last).ok_or_else(|| missing(path)),
        (Value::Array(list), last) => {
            let at = index(&last).filter(|at| *at < list.len()).ok_or_else(|| missing(path))?;
            Ok(list.remove(at))
        }
        _ => Err(missing(path)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(operations: Value, expected: Result<Value, PatchError>) {
        let operations: Vec<Operation> = serde_json::from_value(operations).unwrap();
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
            check(json!([operation]), Err(missing(path)));
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
