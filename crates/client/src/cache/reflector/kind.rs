//! Checks, without reading an object, that it is of the kind that was asked for.

use crate::api::object::DecodeError;
use crate::json::{self, Text};

/// Checks that an object does not name another kind than `expected`. One that names none passes: the items of
/// built-in kinds' lists do not, and of a Table or a Status that does not say what it is, the decoder finds no name.
///
/// A look at the beginning decides for whatever servers print: Go writes `kind` first, or second after
/// `apiVersion`. Only what begins otherwise is read for it.
///
/// # Errors
///
/// What is wrong, in words.
pub(super) fn check(expected: &str, object: &str) -> Result<(), String> {
    if beginning(object).and_then(|rest| rest.strip_prefix(expected)).is_some_and(|rest| rest.starts_with('"')) {
        return Ok(());
    }
    let named = json::pick(object, &["kind"]).and_then(|[kind, ..]| Text::read(kind));
    match named {
        Ok(kind) if kind.is_empty() || &*kind == expected => Ok(()),
        Ok(kind) => {
            // The name is a stranger's: enough of it to recognise.
            let kind: String = kind.chars().take(60).collect();
            Err(format!("an object of kind {kind:?} where {expected:?} was asked for"))
        }
        Err(error) => Err(DecodeError::Json(error).to_string()),
    }
}

/// [`check`] for an item of a list. One that begins with its metadata names no kind, for both of Go's orders of
/// members have it before: tens of thousands of items are not read twice.
pub(super) fn check_item(expected: &str, item: &str) -> Result<(), String> {
    if item.starts_with("{\"metadata\":") { Ok(()) } else { check(expected, item) }
}

/// What follows `"kind":"` at the beginning of an object.
fn beginning(object: &str) -> Option<&str> {
    let first = object.strip_prefix("{\"kind\":\"");
    first.or_else(|| {
        let (_, rest) = object.strip_prefix("{\"apiVersion\":\"")?.split_once('"')?;
        rest.strip_prefix(",\"kind\":\"")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_that_name_another_kind_are_found_however_they_are_written() {
        for object in [
            r#"{"kind":"Pod","apiVersion":"v1"}"#,
            r#"{"apiVersion":"v1","kind":"Pod"}"#,
            r#"{"apiVersion":"apps/v1","kind":"Pod","x":{"kind":"Table"}}"#,
            r#" { "metadata" : {}, "kind" : "P\u006fd" }"#,
            r#"{"metadata":{"kind":"Table"}}"#,
            r#"{"kind":null}"#,
            "{}",
        ] {
            assert_eq!(check("Pod", object), Ok(()), "{object}");
            assert_eq!(check_item("Pod", object), Ok(()), "{object}");
        }
        for object in [
            r#"{"kind":"Pods"}"#,
            r#"{"kind":"Po"}"#,
            r#"{"kind":"Table","apiVersion":"meta.k8s.io/v1"}"#,
            r#"{"apiVersion":"v1","kind":"Status"}"#,
            r#"{"apiVersion":"kind","metadata":{},"kind":"PodList"}"#,
            r#"{"kind":"Pods","kind":"Pod"}"#,
            r#"{"kind":7}"#,
            "7",
            "[]",
            "",
        ] {
            assert!(check("Pod", object).is_err(), "{object}");
        }
        assert!(check("Pod", r#"{"metadata":{},"kind":"Table"}"#).is_err());
    }
}
