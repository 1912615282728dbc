//! An Event of the core group as data: what happened, to which object, and how often.

use std::str::FromStr;

use serde::Serialize;

use crate::record::time::Time;

/// How serious an Event is. The API has no other types (client-go `tools/record/util`, `ValidateEventType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
pub enum EventType {
    /// All is as it should be.
    Normal,
    /// Something is not as it should be.
    Warning,
}

/// A word that names no type of Event.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unsupported event type {0:?}: Normal or Warning")]
pub struct UnsupportedEventType(pub String);

impl FromStr for EventType {
    type Err = UnsupportedEventType;

    fn from_str(word: &str) -> Result<EventType, UnsupportedEventType> {
        match word {
            "Normal" => Ok(EventType::Normal),
            "Warning" => Ok(EventType::Warning),
            _ => Err(UnsupportedEventType(word.to_owned())),
        }
    }
}

impl EventType {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            EventType::Normal => "Normal",
            EventType::Warning => "Warning",
        }
    }
}

/// The object of an Event. Empty fields are left out of the JSON.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectReference {
    /// The object's kind, such as `Pod`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// Its namespace; empty at the cluster scope.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Its name.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Its uid.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// Group and version of its kind, such as `apps/v1`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub api_version: String,
    /// The part of the object, such as `spec.containers{web}`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field_path: String,
}

/// Which program recorded an Event, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EventSource {
    /// The program, such as `kubelet`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub component: String,
    /// The node that the program runs on; empty if that does not matter.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub host: String,
}

/// The Event (`core/v1`). Its JSON is what a POST takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(into = "Wire")]
pub struct Event {
    /// The namespace of the Event: that of the object, or `default` for an object at the cluster scope.
    pub namespace: String,
    /// The name of the Event.
    pub name: String,
    /// The object to which something happened.
    pub involved_object: ObjectReference,
    /// What happened, in one word.
    pub reason: String,
    /// What happened, in a sentence.
    pub message: String,
    /// Which program recorded it, and where.
    pub source: EventSource,
    /// When it happened first.
    pub first_timestamp: Time,
    /// When it happened last.
    pub last_timestamp: Time,
    /// How often it happened. An Event with a count of more than 1 is changed at the server, not created.
    pub count: u32,
    /// How serious the Event is.
    pub event_type: EventType,
    /// The program again, in a field of the newer API. Empty in an Event that combines others.
    pub reporting_controller: String,
    /// The node again, in a field of the newer API.
    pub reporting_instance: String,
}

/// The fields in the order and with the names that the API has for them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    kind: &'static str,
    api_version: &'static str,
    metadata: Metadata,
    involved_object: ObjectReference,
    reason: String,
    message: String,
    source: EventSource,
    first_timestamp: Time,
    last_timestamp: Time,
    count: u32,
    #[serde(rename = "type")]
    event_type: EventType,
    /// The time of the newer API, which is `null` here.
    event_time: Option<Time>,
    /// The newer API calls this field `reportingController`.
    reporting_component: String,
    reporting_instance: String,
}

#[derive(Serialize)]
struct Metadata {
    name: String,
    namespace: String,
}

impl From<Event> for Wire {
    fn from(event: Event) -> Wire {
        Wire {
            kind: "Event",
            api_version: "v1",
            metadata: Metadata { name: event.name, namespace: event.namespace },
            involved_object: event.involved_object,
            reason: event.reason,
            message: event.message,
            source: event.source,
            first_timestamp: event.first_timestamp,
            last_timestamp: event.last_timestamp,
            count: event.count,
            event_type: event.event_type,
            event_time: None,
            reporting_component: event.reporting_controller,
            reporting_instance: event.reporting_instance,
        }
    }
}

/// What changes in an Event that happened again. Its JSON is the body of a merge patch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EventPatch {
    /// Where the Event is kept.
    #[serde(skip)]
    pub namespace: String,
    /// The name of the Event.
    #[serde(skip)]
    pub name: String,
    /// How often it has happened now.
    pub count: u32,
    /// When it did last.
    pub last_timestamp: Time,
    /// What it says now: one that combines others says what the newest of them does.
    pub message: String,
}

/// The name of an Event that is recorded at a moment: the object's name, a dot, and the moment's nanoseconds in
/// hexadecimal (client-go `tools/record/util`, `GenerateEventName`). An object's name that is no name for an Event
/// is the caller's to replace; client-go takes a random UUID for the whole.
pub fn event_name(object: &str, time: Time) -> String {
    format!("{object}.{:x}", time.0)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An Event about container `box` of Pod `ns/pod`, as a kubelet records it.
    pub(crate) fn event(reason: &str, message: &str, at: Time) -> Event {
        let text = str::to_owned;
        let involved_object = ObjectReference {
            kind: text("Pod"),
            namespace: text("ns"),
            name: text("pod"),
            uid: text("u"),
            api_version: text("v1"),
            field_path: text("spec.containers{box}"),
        };
        Event {
            namespace: text("ns"),
            name: event_name("pod", at),
            involved_object,
            reason: text(reason),
            message: text(message),
            source: EventSource { component: text("kubelet"), host: text("node-1") },
            first_timestamp: at,
            last_timestamp: at,
            count: 1,
            event_type: EventType::Normal,
            reporting_controller: text("kubelet"),
            reporting_instance: text("node-1"),
        }
    }

    #[test]
    fn the_json_is_what_the_api_takes() {
        let event = event("Started", "Started container box", Time(1_795_248_864_000_000_255));
        let expected = concat!(
            r#"{"kind":"Event","apiVersion":"v1","metadata":{"name":"pod.18ea01548624c0ff","namespace":"ns"},"#,
            r#""involvedObject":{"kind":"Pod","namespace":"ns","name":"pod","uid":"u","apiVersion":"v1","#,
            r#""fieldPath":"spec.containers{box}"},"reason":"Started","message":"Started container box","#,
            r#""source":{"component":"kubelet","host":"node-1"},"firstTimestamp":"2026-11-21T08:14:24Z","#,
            r#""lastTimestamp":"2026-11-21T08:14:24Z","count":1,"type":"Normal","eventTime":null,"#,
            r#""reportingComponent":"kubelet","reportingInstance":"node-1"}"#
        );
        assert_eq!(serde_json::to_string(&event).unwrap(), expected);
        let patch = EventPatch {
            namespace: event.namespace,
            name: event.name,
            count: 2,
            last_timestamp: Time(0),
            message: event.message,
        };
        let expected = r#"{"count":2,"lastTimestamp":"1970-01-01T00:00:00Z","message":"Started container box"}"#;
        assert_eq!(serde_json::to_string(&patch).unwrap(), expected);
    }

    #[test]
    fn no_other_type_is_known() {
        for word in ["Normal", "Warning"] {
            assert_eq!(word.parse().map(EventType::as_str), Ok(word));
        }
        for word in ["", "normal", "Error", "Warning "] {
            assert_eq!(word.parse::<EventType>(), Err(UnsupportedEventType(word.to_owned())));
        }
    }
}
