//! Jobs: the columns of `printJob` (kubernetes `pkg/printers/internalversion/printers.go`).

use serde::Deserialize;

use kubechurn_client::api::cell::{Cell, Tone};
use kubechurn_client::api::object::{Decode, DecodeError, Meta, Object};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::text::Text;
use kubechurn_client::api::time::Timestamp;

use super::Kind;
use super::parts::{optional, or_default, parse, structure, structures};
use super::selector::{self, LabelSelector};
use super::template::Template;
use crate::table::column::Column;

/// Jobs, in the sidebar under Workloads. kubectl has no short name for them.
pub const KIND: Kind = Kind {
    resource: ApiResource { group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true },
    name: "jobs",
    short_names: &[],
    heading: "Workloads",
    title: "Jobs",
    columns: &[
        Column::words("STATUS"),
        Column::words("COMPLETIONS"),
        Column::figures("DURATION"),
        Column::figures("AGE"),
        Column::words("CONTAINERS").on_demand(),
        Column::words("IMAGES").on_demand(),
        Column::words("SELECTOR").on_demand(),
    ],
    decode: Decode(&decode),
};

/// Jobs before 1.34: STATUS did not show that the success was decided.
pub const BEFORE_1_34: Kind = Kind { decode: Decode(&|text| decode_as(text, false)), ..KIND };

#[derive(Default, Deserialize)]
#[serde(default)]
struct Job<'a> {
    #[serde(borrow, deserialize_with = "structure")]
    metadata: Meta<'a>,
    #[serde(borrow, deserialize_with = "structure")]
    spec: Spec<'a>,
    #[serde(borrow, deserialize_with = "structure")]
    status: Status<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Spec<'a> {
    completions: Option<i64>,
    #[serde(deserialize_with = "or_default")]
    parallelism: i64,
    #[serde(borrow, deserialize_with = "optional")]
    selector: Option<LabelSelector<'a>>,
    #[serde(deserialize_with = "structure")]
    template: Template,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status<'a> {
    #[serde(borrow, deserialize_with = "structures")]
    conditions: Vec<Condition<'a>>,
    #[serde(borrow)]
    start_time: Text<'a>,
    #[serde(borrow)]
    completion_time: Text<'a>,
    #[serde(deserialize_with = "or_default")]
    succeeded: i64,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Condition<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow)]
    status: Text<'a>,
}

impl Status<'_> {
    fn condition(&self, kind: &str) -> bool {
        self.conditions.iter().find(|condition| *condition.kind == *kind).is_some_and(|found| &*found.status == "True")
    }

    /// STATUS. A finished Job shows how it finished, even while it is being deleted; otherwise the deletion goes before
    /// what is about to happen. SuccessCriteriaMet was added later than the others, and only counts if `decided` is
    /// true.
    fn word(&self, deleting: bool, decided: bool) -> &'static str {
        if self.condition("Complete") {
            "Complete"
        } else if self.condition("Failed") {
            "Failed"
        } else if deleting {
            "Terminating"
        } else if self.condition("Suspended") {
            "Suspended"
        } else if self.condition("FailureTarget") {
            "FailureTarget"
        } else if decided && self.condition("SuccessCriteriaMet") {
            "SuccessCriteriaMet"
        } else {
            "Running"
        }
    }
}

/// COMPLETIONS. A Job without `completions` is complete with one success, however many Pods run in parallel.
fn completions(spec: &Spec<'_>, succeeded: i64) -> Cell {
    match spec.completions {
        Some(wanted) => Cell::Ratio(succeeded, wanted),
        None if spec.parallelism > 1 => Cell::Text(format!("{succeeded}/1 of {}", spec.parallelism).into()),
        None => Cell::Ratio(succeeded, 1),
    }
}

/// How alarming a Job's STATUS is.
pub fn tone(status: &str) -> Tone {
    match status {
        "Complete" | "Running" | "SuccessCriteriaMet" => Tone::Good,
        "Terminating" | "Suspended" => Tone::Wait,
        "Failed" | "FailureTarget" => Tone::Bad,
        _ => Tone::Plain,
    }
}

/// Reads a Job.
///
/// # Errors
///
/// When the text is not a Job's or has no name.
pub fn decode(text: &str) -> Result<Object, DecodeError> {
    decode_as(text, true)
}

fn decode_as(text: &str, decided: bool) -> Result<Object, DecodeError> {
    let Job { metadata, spec, status } = parse(text)?;
    let word = status.word(!metadata.deletion_timestamp.is_empty(), decided);
    let completions = completions(&spec, status.succeeded);
    let [containers, images] = spec.template.into_cells();
    let cells = [
        Cell::Status(word.into(), tone(word)),
        completions,
        Cell::Elapsed(Timestamp::parse_set(&status.start_time), Timestamp::parse_set(&status.completion_time)),
        Cell::Age(Timestamp::parse_set(&metadata.creation_timestamp)),
        containers,
        images,
        selector::cell(spec.selector.as_ref()),
    ];
    metadata.into_object(&cells).ok_or(DecodeError::NoName)
}
