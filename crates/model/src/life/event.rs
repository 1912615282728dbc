//! The Events about a Pod, or about several, as far as they were received.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort::sort_by;
use rustc_hash::FxHashSet;

use crate::life::seen::{Known, Seen};
use crate::why::references::{is_of, text};

/// The most Events that are read.
const MOST: usize = 2_000;

/// What an Event says.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// Its own uid.
    pub uid: String,
    /// The name of the object that it is about, and its uid.
    pub about: (String, String),
    /// The container; empty where it is about the whole Pod.
    pub container: String,
    /// The reason, in one word.
    pub reason: String,
    /// The words.
    pub message: String,
    /// Whether it is a Warning.
    pub is_warning: bool,
    /// Who says it.
    pub source: String,
    /// When it was said first and last.
    pub first: Option<Seen>,
    pub last: Option<Seen>,
    /// How often.
    pub times: i64,
}

/// The Events in a namespace whose names are made of this one. Each recorder names an Event by the object that it is about, and
/// so no other ones need to be read.
pub fn events(known: &Known<'_>, (cluster, namespace): (&str, &str), name: &str) -> Vec<(ApiResource, ObjectKey)> {
    let resources = known.history.resources().filter(|of| of.kind == "Event" && of.cluster == cluster);
    let is_it = |key: &&ObjectKey| *key.namespace == *namespace && is_of(&key.name, name);
    let mut found: Vec<(ApiResource, ObjectKey)> = Vec::new();
    for resource in resources.collect::<Vec<_>>() {
        found.extend(known.history.names(resource).filter(is_it).take(MOST).map(|key| (resource, key.clone())));
    }
    found
}

/// Reads an Event, if it was received by then.
pub fn read_event(known: &Known<'_>, resource: ApiResource, key: &ObjectKey) -> Option<Said> {
    let entries = known.history.of(&resource, key);
    let mut entries = entries.iter().filter(|entry| entry.sequence < known.received && entry.has_text);
    let first = entries.next()?;
    let last = entries.next_back();
    let event = known.history.text(last.unwrap_or(first).sequence)?;
    let own = |names: &[&[&str]]| names.iter().find_map(|path| known.time(&event, path));
    let began = own(&[&["firstTimestamp"], &["deprecatedFirstTimestamp"], &["eventTime"]]);
    let ended = own(&[&["series", "lastObservedTime"], &["lastTimestamp"], &["deprecatedLastTimestamp"]]);
    let first_seen = known.seen(first, true, began);
    let last_seen = match last {
        Some(last) => known.seen(last, false, ended.or(began)),
        None if first_seen.is_some_and(|seen| seen.is_from_object) => known.seen(first, true, ended.or(began)),
        None => first_seen,
    };
    Some(read(&event, first_seen, last_seen))
}

/// Puts Events in the order of their times, each once: two groups serve the same ones.
pub fn in_order(all: &mut Vec<Said>) {
    let mut had: FxHashSet<String> = FxHashSet::default();
    all.retain(|said| said.uid.is_empty() || had.insert(said.uid.clone()));
    sort_by(all, |one, other| {
        let at = |said: &Said| said.first.map_or(f64::NEG_INFINITY, |seen| seen.at);
        at(one).total_cmp(&at(other))
    });
}

/// All of them that are about one object.
pub fn said(known: &Known<'_>, of: (&str, &str), name: &str) -> Vec<Said> {
    let all = events(known, of, name);
    let mut all: Vec<Said> = all.iter().filter_map(|(resource, key)| read_event(known, *resource, key)).collect();
    in_order(&mut all);
    all
}

fn read(event: &str, first: Option<Seen>, last: Option<Seen>) -> Said {
    let word = |paths: &[&[&str]]| {
        let mut found = paths.iter().filter_map(|path| text(event, path)).filter(|word| !word.is_empty());
        found.next().unwrap_or_default().into_owned()
    };
    let field = word(&[&["involvedObject", "fieldPath"], &["regarding", "fieldPath"]]);
    let container = field.split_once('{').map(|(_, name)| name.trim_end_matches('}')).unwrap_or_default();
    let number = |path: &[&str]| {
        kubechurn_client::json::value_at(event, path)
            .and_then(kubechurn_client::json::integer)
            .filter(|count| *count > 0)
    };
    Said {
        uid: word(&[&["metadata", "uid"]]),
        about: (
            word(&[&["involvedObject", "name"], &["regarding", "name"]]),
            word(&[&["involvedObject", "uid"], &["regarding", "uid"]]),
        ),
        container: container.to_owned(),
        reason: word(&[&["reason"]]),
        message: word(&[&["message"], &["note"]]),
        is_warning: word(&[&["type"]]) == "Warning",
        source: word(&[
            &["source", "component"],
            &["deprecatedSource", "component"],
            &["reportingComponent"],
            &["reportingController"],
        ]),
        first,
        last,
        times: number(&["series", "count"]).or(number(&["count"])).or(number(&["deprecatedCount"])).unwrap_or(1),
    }
}

/// How long a pull took, as the kubelet says it: `Successfully pulled image "web:2" in 1.2s (1.2s including waiting)`.
pub fn pull_time(message: &str) -> Option<&str> {
    let (_, after) = message.strip_prefix("Successfully pulled image")?.split_once("\" in ")?;
    Some(after.split(' ').next().unwrap_or(after).trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pull_says_how_long_it_took() {
        let words = "Successfully pulled image \"a:1\" in 1.2s (1.2s including waiting). Image size: 5 bytes.";
        assert_eq!(pull_time(words), Some("1.2s"));
        assert_eq!(pull_time("Successfully pulled image \"a:1\" in 912ms"), Some("912ms"));
        for other in ["Container image \"a\" already present on machine", "", "Successfully pulled image \"a:1\""] {
            assert_eq!(pull_time(other), None);
        }
    }
}
