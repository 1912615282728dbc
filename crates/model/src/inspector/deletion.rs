//! What an object says of its own deletion: when somebody asked for it, and what it waits for.

use serde_json::Value;

use kubechurn_client::api::time::Timestamp;

use crate::inspector::diff::cut;

/// The most finalizers that are named.
const MOST: usize = 20;
/// The length limit of a finalizer's name, in bytes.
const LONGEST: usize = 200;

/// The deletion of an object that is still there.
#[derive(Clone, Debug, PartialEq)]
pub struct Deletion {
    /// When the deletion was asked for.
    pub asked: Timestamp,
    /// How long the object may take to end, in seconds; 0 for none.
    pub grace: i64,
    /// The finalizers, without which it would be gone when it has ended.
    pub finalizers: Vec<String>,
}

/// The deletion that an object is in, if any.
pub fn deletion(object: &Value) -> Option<Deletion> {
    let metadata = object.get("metadata")?;
    let end = Timestamp::parse_set(metadata.get("deletionTimestamp")?.as_str()?)?;
    // The server adds the grace period to the time of the request.
    let grace = metadata.get("deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or(0).max(0);
    // Those of a namespace's spec hold it, too.
    let lists = [Some(metadata), object.get("spec")].into_iter().flatten();
    let lists = lists.filter_map(|part| part.get("finalizers")?.as_array());
    let names = lists.flatten().filter_map(Value::as_str).take(MOST);
    Some(Deletion {
        asked: Timestamp(end.0.saturating_sub(grace)),
        grace,
        finalizers: names.map(|name| cut(name, LONGEST)).collect(),
    })
}

impl Deletion {
    /// The time that the object has to end, in words; empty for none.
    pub fn grace(&self) -> String {
        match self.grace {
            0 => String::new(),
            1 => String::from("with a grace period of 1 second"),
            grace => format!("with a grace period of {grace} seconds"),
        }
    }

    /// What holds the object, in words; empty for nothing.
    pub fn held(&self) -> String {
        match &*self.finalizers {
            [] => String::new(),
            [one] => format!("the finalizer {one}"),
            several => format!("the finalizers {}", several.join(", ")),
        }
    }

    /// All of it in one sentence. `since` is the time of day at which it was asked for.
    pub fn sentence(&self, since: &str) -> String {
        let mut words = format!("Deleting since {since}");
        for (before, part) in [(", ", self.grace()), ("; held by ", self.held())] {
            if !part.is_empty() {
                words.push_str(before);
                words.push_str(&part);
            }
        }
        words + "."
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_deletion_has_its_time_its_grace_and_what_holds_it() {
        let asked = Timestamp::parse("2026-11-25T10:00:00Z").unwrap();
        let pod = json!({"metadata": {"deletionTimestamp": "2026-11-25T10:00:30Z", "deletionGracePeriodSeconds": 30}});
        let found = deletion(&pod).unwrap();
        assert_eq!((found.asked, &*found.grace()), (asked, "with a grace period of 30 seconds"));
        assert_eq!(found.sentence("10:00:00"), "Deleting since 10:00:00, with a grace period of 30 seconds.");
        let held = json!({"metadata": {"deletionTimestamp": "2026-11-25T10:00:00Z", "deletionGracePeriodSeconds": 0,
            "finalizers": ["example.com/a", 7]}});
        let found = deletion(&held).unwrap();
        assert_eq!(found.sentence("10:00:00"), "Deleting since 10:00:00; held by the finalizer example.com/a.");
        let namespace =
            json!({"metadata": {"deletionTimestamp": "2026-11-25T10:00:00Z"}, "spec": {"finalizers": ["kubernetes"]}});
        assert_eq!(deletion(&namespace).unwrap().held(), "the finalizer kubernetes");
    }

    #[test]
    fn what_is_not_asked_to_go_or_cannot_be_read_is_in_none() {
        for odd in [
            json!(null),
            json!({"metadata": {"finalizers": ["a"]}}),
            json!({"metadata": {"deletionTimestamp": null}}),
            json!({"metadata": {"deletionTimestamp": "soon"}}),
            json!({"metadata": {"deletionTimestamp": "0001-01-01T00:00:00Z"}}),
        ] {
            assert_eq!(deletion(&odd), None, "{odd}");
        }
        let odd = json!({"metadata": {"deletionTimestamp": "2026-11-25T10:00:00Z", "deletionGracePeriodSeconds": i64::MAX, "finalizers": 7}});
        assert!(deletion(&odd).unwrap().finalizers.is_empty());
    }
}
