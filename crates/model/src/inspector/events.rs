//! The Kubernetes Events of one object: which ones are watched, and how they are shown.

use std::sync::Arc;

use kubechurn_client::api::cell::{CellRef, Tone};
use kubechurn_client::api::object::{Object, ObjectKey};
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::sort::sort_by;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::api::uid::Uid;

use kubechurn_columns::kinds::Kind;

/// The most Events that are shown. The rest is only counted.
pub const MOST: usize = 200;

/// The most characters of a message in one line.
const LINE: usize = 160;

/// One Event.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Item {
    /// Its name.
    pub key: String,
    /// `Normal` or `Warning`.
    pub kind: String,
    /// How alarming the type is.
    pub tone: Tone,
    /// The reason, such as `Scheduled`.
    pub reason: String,
    /// What happened.
    pub message: String,
    /// The component that reports it.
    pub source: String,
    /// How often it was seen.
    pub count: i64,
    /// When it was seen last.
    pub last: Option<Timestamp>,
    /// When it was seen first.
    pub first: Option<Timestamp>,
}

/// The scope of an object's Events. Events of a Node are selected by its name, because they hold the name in place of
/// the uid (kubelet, `events`; `kubectl describe` does the same).
pub fn scope(kind: &Kind, key: &ObjectKey, uid: &Uid) -> Scope {
    let field_selector = match kind.resource.kind {
        "Node" => format!("involvedObject.kind=Node,involvedObject.name={}", key.name),
        _ => format!("involvedObject.uid={uid}"),
    };
    Scope { namespace: key.namespace.to_string(), field_selector, ..Scope::default() }
}

/// An Event in one line: `Warning BackOff: Back-off restarting failed container × 12`.
pub fn line(item: &Item) -> String {
    let message: String = item.message.chars().take(LINE).collect();
    let cut = if message.len() < item.message.len() { "…" } else { "" };
    let times = if item.count > 1 { format!(" × {}", item.count) } else { String::new() };
    format!("{} {}: {message}{cut}{times}", item.kind, item.reason)
}

/// When an Event was seen last, as it says itself.
pub fn last_seen(kind: &Kind, event: &Object) -> Option<Timestamp> {
    let place = kind.columns.iter().position(|column| column.title == "LAST SEEN")?;
    match event.cells.get(place) {
        Some(CellRef::Age(time)) => time,
        _ => None,
    }
}

/// The Events as they are shown, newest first, and how many more there are.
pub fn items<'a>(kind: &Kind, events: impl Iterator<Item = &'a Arc<Object>>) -> (Vec<Item>, usize) {
    let place = |title: &str| kind.columns.iter().position(|column| column.title == title);
    let [last, first, status, reason, message, source, count] =
        ["LAST SEEN", "FIRST SEEN", "TYPE", "REASON", "MESSAGE", "SOURCE", "COUNT"].map(place);
    let mut items: Vec<Item> = events
        .map(|event| {
            let cell = |at: Option<usize>| at.and_then(|at| event.cells.get(at));
            let text = |at| match cell(at) {
                Some(CellRef::Text(text) | CellRef::Status(text, _)) => text.to_owned(),
                _ => String::new(),
            };
            let time = |at| match cell(at) {
                Some(CellRef::Age(time)) => time,
                _ => None,
            };
            Item {
                key: event.key.to_string(),
                kind: text(status),
                tone: cell(status).map_or(Tone::Plain, CellRef::tone),
                reason: text(reason),
                message: text(message),
                source: text(source),
                count: match cell(count) {
                    Some(CellRef::Number(count)) => count,
                    _ => 1,
                },
                last: time(last),
                first: time(first),
            }
        })
        .collect();
    sort_by(&mut items, |a, b| b.last.cmp(&a.last).then_with(|| b.first.cmp(&a.first)).then_with(|| b.key.cmp(&a.key)));
    let more = items.len().saturating_sub(MOST);
    items.truncate(MOST);
    (items, more)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubechurn_columns::kinds::{events, nodes, pods};

    #[test]
    fn events_are_shown_newest_first() {
        let event = |name: &str, last: &str, count: u32| {
            let text = format!(
                r#"{{"metadata":{{"name":"{name}","namespace":"n"}},"type":"Warning","reason":"BackOff","message":"m",
                "lastTimestamp":"{last}","count":{count},"source":{{"component":"kubelet"}}}}"#
            );
            Arc::new(events::decode(&text).unwrap())
        };
        let all = [event("a", "2026-11-21T08:13:27Z", 1), event("b", "2026-11-21T09:13:27Z", 7), event("c", "", 0)];
        let (shown, more) = items(&events::KIND, all.iter());
        let names: Vec<(&str, i64)> = shown.iter().map(|item| (&*item.key, item.count)).collect();
        assert_eq!((names, more), (vec![("n/b", 7), ("n/a", 1), ("n/c", 1)], 0));
        let first = &shown[0];
        assert_eq!(
            (&*first.kind, first.tone, &*first.reason, &*first.source),
            ("Warning", Tone::Bad, "BackOff", "kubelet")
        );
        let many: Vec<_> = (0..MOST + 5).map(|at| event(&format!("e{at}"), "", 1)).collect();
        assert_eq!((items(&events::KIND, many.iter()).0.len(), items(&events::KIND, many.iter()).1), (MOST, 5));
    }

    #[test]
    fn a_node_s_events_name_it() {
        let selector =
            |kind: &Kind, namespace: &str| scope(kind, &ObjectKey::new(namespace, "x"), &"u".into()).field_selector;
        assert_eq!(selector(&pods::KIND, "n"), "involvedObject.uid=u");
        assert_eq!(selector(&nodes::KIND, ""), "involvedObject.kind=Node,involvedObject.name=x");
    }
}
