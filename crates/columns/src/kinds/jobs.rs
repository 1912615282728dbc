//! Jobs: the columns of `printJob` (kubernetes `pkg/printers/internalversion/printers.go`).

use serde_json::Result;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::Decode;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::time::Timestamp;

use super::Kind;
use super::conditions::conditions;
use super::printed::{AGE, Fields, Printed, columns, figures, read, words};
use super::selector;
use super::template::{images, names};
use super::workloads::TEMPLATE;
use crate::column::StatePart;
use crate::state;

/// Jobs, in the sidebar under Workloads. kubectl has no short name for them.
pub const KIND: Kind = Kind {
    resource: ApiResource { group: "batch", version: "v1", plural: "jobs", kind: "Job", namespaced: true, cluster: "" },
    name: "jobs",
    short_names: &[],
    heading: "Workloads",
    title: "Jobs",
    columns: &columns(&JOB),
    decode: Decode(&|text| read(text, &JOB)),
};

/// Jobs before 1.34: STATUS did not show that the success was decided.
pub const BEFORE_1_34: Kind =
    Kind { columns: &columns(&UNDECIDED_JOB), decode: Decode(&|text| read(text, &UNDECIDED_JOB)), ..KIND };

const JOB: [Printed; 7] = [
    words("STATUS", CONDITIONS, |fields| status(fields, true)).of_state(StatePart::Word),
    COMPLETIONS,
    DURATION,
    AGE,
    words("CONTAINERS", TEMPLATE, names).on_demand(),
    words("IMAGES", TEMPLATE, images).on_demand(),
    words("SELECTOR", &["spec selector"], selector::cell).on_demand(),
];

const UNDECIDED_JOB: [Printed; 7] = [
    words("STATUS", CONDITIONS, |fields| status(fields, false)).of_state(StatePart::Word),
    JOB[1],
    JOB[2],
    JOB[3],
    JOB[4],
    JOB[5],
    JOB[6],
];

const CONDITIONS: &[&str] = &["status conditions"];

/// COMPLETIONS. A Job without `completions` is complete with one success, however many Pods run in parallel.
const COMPLETIONS: Printed =
    words("COMPLETIONS", &["spec completions", "spec parallelism", "status succeeded"], |fields| {
        let (wanted, parallelism, succeeded) = (fields.value(0)?, fields.value::<i64>(1)?, fields.value::<i64>(2)?);
        Ok(match wanted {
            Some(wanted) => Cell::Ratio(succeeded, wanted),
            None if parallelism > 1 => Cell::Text(format!("{succeeded}/1 of {parallelism}").into()),
            None => Cell::Ratio(succeeded, 1),
        })
    });

const DURATION: Printed = figures("DURATION", &["status startTime", "status completionTime"], |fields| {
    Ok(Cell::Elapsed(Timestamp::parse_set(&fields.words(0)?), Timestamp::parse_set(&fields.words(1)?)))
});

/// STATUS. A finished Job shows how it finished, even while it is being deleted; otherwise the deletion goes before what is
/// about to happen. SuccessCriteriaMet was added later than the others, and only counts if `decided` is true.
fn status(fields: &Fields<'_, '_>, decided: bool) -> Result<Cell> {
    let conditions = conditions(fields, 0)?;
    let holds = |kind: &str| {
        conditions.iter().find(|condition| *condition.kind == *kind).is_some_and(|found| &*found.status == "True")
    };
    let word = if holds("Complete") {
        "Complete"
    } else if holds("Failed") {
        "Failed"
    } else if fields.is_deleting() {
        "Terminating"
    } else if holds("Suspended") {
        "Suspended"
    } else if holds("FailureTarget") {
        "FailureTarget"
    } else if decided && holds("SuccessCriteriaMet") {
        "SuccessCriteriaMet"
    } else {
        "Running"
    };
    Ok(Cell::Status(word.into(), state::status("Job", word)))
}
