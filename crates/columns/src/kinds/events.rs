//! Events of both groups: the columns of `printEvent` (kubernetes `pkg/printers/internalversion/printers.go`).

use serde::Deserialize;

use kubechurn_client::api::cell::{Cell, CellRef};
use kubechurn_client::api::cells::Cells;
use kubechurn_client::api::object::{Decode, DecodeError, Meta, Object};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::json::Text;

use super::Kind;
use super::parts::{optional, or_default, parse, structure};
use crate::column::Column;
use crate::state;

/// Events, in the sidebar under Cluster. Their rows do not begin with their names.
pub const KIND: Kind = Kind {
    resource: ApiResource { group: "", version: "v1", plural: "events", kind: "Event", namespaced: true, cluster: "" },
    name: "events",
    short_names: &["ev"],
    heading: "Cluster",
    title: "Events",
    columns: COLUMNS,
    decode: Decode(&decode),
};

/// Events as the group `events.k8s.io` serves them, with newer names for some fields; in the sidebar under Cluster.
pub const EVENTS_K8S_IO: Kind = Kind {
    resource: ApiResource {
        group: "events.k8s.io",
        version: "v1",
        plural: "events",
        kind: "Event",
        namespaced: true,
        cluster: "",
    },
    name: "events.events.k8s.io",
    title: "Events (events.k8s.io)",
    ..KIND
};

const COLUMNS: &[Column] = &[
    Column::figures("LAST SEEN"),
    Column::words("TYPE"),
    Column::words("REASON"),
    Column::words("OBJECT"),
    Column::words("SUBOBJECT").on_demand(),
    Column::words("SOURCE").on_demand(),
    Column::words("MESSAGE"),
    Column::figures("FIRST SEEN").on_demand(),
    Column::figures("COUNT").on_demand(),
    Column::words("NAME").on_demand(),
];

/// An Event in either form. The older form counts occurrences in `count`, the newer one in `series`. The newer group
/// also renames fields that both groups have (kubernetes `pkg/apis/events/v1/conversion.go`).
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Event<'a> {
    #[serde(borrow, deserialize_with = "structure")]
    metadata: Meta<'a>,
    #[serde(borrow, alias = "regarding", deserialize_with = "structure")]
    involved_object: Reference<'a>,
    #[serde(borrow)]
    reason: Text<'a>,
    #[serde(borrow, alias = "note")]
    message: Text<'a>,
    #[serde(borrow, alias = "deprecatedSource", deserialize_with = "structure")]
    source: Source<'a>,
    #[serde(borrow, alias = "deprecatedFirstTimestamp")]
    first_timestamp: Text<'a>,
    #[serde(borrow, alias = "deprecatedLastTimestamp")]
    last_timestamp: Text<'a>,
    #[serde(alias = "deprecatedCount", deserialize_with = "or_default")]
    count: i64,
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    event_time: Text<'a>,
    #[serde(borrow, deserialize_with = "optional")]
    series: Option<Series<'a>>,
    #[serde(borrow, alias = "reportingController")]
    reporting_component: Text<'a>,
    #[serde(borrow)]
    reporting_instance: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Reference<'a> {
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(borrow)]
    uid: Text<'a>,
    #[serde(borrow)]
    field_path: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Source<'a> {
    #[serde(borrow)]
    component: Text<'a>,
    #[serde(borrow)]
    host: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Series<'a> {
    #[serde(deserialize_with = "or_default")]
    count: i64,
    #[serde(borrow)]
    last_observed_time: Text<'a>,
}

impl Event<'_> {
    fn first_seen(&self) -> Option<Timestamp> {
        Timestamp::parse_set(&self.first_timestamp).or_else(|| Timestamp::parse_set(&self.event_time))
    }

    fn last_seen(&self) -> Option<Timestamp> {
        match &self.series {
            Some(series) => Timestamp::parse_set(&series.last_observed_time),
            None => Timestamp::parse_set(&self.last_timestamp).or_else(|| self.first_seen()),
        }
    }

    /// How often the Event occurred. An Event of the newer form that occurred once has no count.
    fn count(&self) -> i64 {
        match &self.series {
            Some(series) => series.count,
            None if self.count == 0 => 1,
            None => self.count,
        }
    }

    /// OBJECT, such as `pod/web-1`.
    fn object(&self) -> String {
        let mut target = self.involved_object.kind.to_lowercase();
        if !self.involved_object.name.is_empty() {
            target.push('/');
            target.push_str(&self.involved_object.name);
        }
        target
    }

    /// SOURCE: `component, host`. Where the older fields are empty, the newer fields are used (`formatEventSource`).
    fn source(&self) -> Cell {
        let component = first_set(&self.source.component, &self.reporting_component);
        match first_set(&self.source.host, &self.reporting_instance) {
            "" => Cell::Text(component.into()),
            host => Cell::Text([component, host].join(", ").into()),
        }
    }
}

fn first_set<'t>(one: &'t str, two: &'t str) -> &'t str {
    if one.is_empty() { two } else { one }
}

/// The object that an Event of either group is about, of whose row these are the cells: `pod/web-1`. Empty for any other kind,
/// and for an Event that names no object.
pub fn regarding<'a>(resource: &ApiResource, cells: &'a Cells) -> &'a str {
    if ![KIND, EVENTS_K8S_IO].iter().any(|kind| kind.resource == *resource) {
        return "";
    }
    let place = COLUMNS.iter().position(|column| column.title == "OBJECT");
    place.and_then(|place| cells.get(place)?.text()).unwrap_or("")
}

/// What an Event says.
#[derive(Clone, Copy, Debug)]
pub struct Said<'a> {
    /// Whether it is a Warning.
    pub is_warning: bool,
    /// Its reason.
    pub reason: &'a str,
    /// The part of the object, such as `spec.containers{web}`.
    pub part: &'a str,
    /// Its message.
    pub message: &'a str,
    /// When it occurred first and last.
    pub seen: [Option<Timestamp>; 2],
}

/// What an Event says, of whose row these are the cells.
pub fn said(cells: &Cells) -> Said<'_> {
    let cell = |title: &str| cells.get(COLUMNS.iter().position(|column| column.title == title)?);
    let text = |title: &str| match cell(title) {
        Some(CellRef::Text(text) | CellRef::Status(text, _)) => text,
        _ => "",
    };
    let age = |title: &str| if let Some(CellRef::Age(at)) = cell(title) { at } else { None };
    Said {
        is_warning: text("TYPE") == "Warning",
        reason: text("REASON"),
        part: text("SUBOBJECT"),
        message: text("MESSAGE"),
        seen: ["FIRST SEEN", "LAST SEEN"].map(age),
    }
}

/// Reads an Event.
///
/// # Errors
///
/// When the text is not an Event's or has no name.
pub fn decode(text: &str) -> Result<Object, DecodeError> {
    let event: Event<'_> = parse(text)?;
    let cells = [
        Cell::Age(event.last_seen()),
        Cell::Status((&*event.kind).into(), state::event_type(&event.kind)),
        Cell::Text((&*event.reason).into()),
        Cell::Text(event.object().into()),
        Cell::Text((&*event.involved_object.field_path).into()),
        event.source(),
        Cell::Text(event.message.trim().into()),
        Cell::Age(event.first_seen()),
        Cell::Number(event.count()),
        Cell::Text((&*event.metadata.name).into()),
    ];
    let mut object = event.metadata.into_object(&cells).ok_or(DecodeError::NoName)?;
    object.set_regarding(&event.involved_object.uid);
    Ok(object)
}
