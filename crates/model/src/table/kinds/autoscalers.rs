//! HorizontalPodAutoscalers: the columns of `printHorizontalPodAutoscaler` (kubernetes
//! `pkg/printers/internalversion/printers.go`).

use std::fmt::Write;

use serde::Deserialize;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::Decode;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::text::Text;

use super::Kind;
use super::parts::{List, NONE, Scalar, optional, structure};
use super::printed::{AGE, Printed, columns, figures, number, read, words};

/// HorizontalPodAutoscalers, in the sidebar under Workloads.
pub const KIND: Kind = Kind {
    resource: ApiResource {
        group: "autoscaling",
        version: "v2",
        plural: "horizontalpodautoscalers",
        kind: "HorizontalPodAutoscaler",
        namespaced: true,
    },
    name: "horizontalpodautoscalers",
    short_names: &["hpa"],
    heading: "Workloads",
    title: "HorizontalPodAutoscalers",
    columns: &columns(&AUTOSCALER),
    decode: Decode(&|text| read(text, &AUTOSCALER)),
};

const AUTOSCALER: [Printed; 6] = [
    words("REFERENCE", &["spec scaleTargetRef kind", "spec scaleTargetRef name"], |fields| {
        let [kind, name]: [Text<'_>; 2] = [fields.value(0)?, fields.value(1)?];
        Ok(Cell::Text([&kind, "/", &name].concat().into()))
    }),
    words("TARGETS", &["spec metrics", "status currentMetrics"], |fields| {
        let (List(specs), List(statuses)) = (fields.value(0)?, fields.value(1)?);
        Ok(targets(&specs, &statuses))
    }),
    figures("MINPODS", &["spec minReplicas"], |fields| fields.number_or("<unset>")),
    figures("MAXPODS", &["spec maxReplicas"], number),
    figures("REPLICAS", &["status currentReplicas"], number),
    AGE,
];

/// A metric: its target or its measurement. What the metric is about stands in a member that is named after the
/// metric's type.
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Metric<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(
        borrow,
        alias = "containerResource",
        alias = "pods",
        alias = "object",
        alias = "external",
        deserialize_with = "optional"
    )]
    resource: Option<Source<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Source<'a> {
    #[serde(borrow)]
    name: Text<'a>,
    #[serde(deserialize_with = "structure")]
    target: Values,
    #[serde(deserialize_with = "structure")]
    current: Values,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Values {
    average_utilization: Option<i64>,
    average_value: Option<Scalar>,
    value: Option<Scalar>,
}

fn average(values: &Values) -> Option<&Scalar> {
    values.average_value.as_ref()
}

fn plain(values: &Values) -> Option<&Scalar> {
    values.value.as_ref()
}

const UNKNOWN: &str = "<unknown>";

/// TARGETS: the first two metrics, and how many more there are (`formatHPAMetrics`).
fn targets(specs: &[Metric<'_>], statuses: &[Metric<'_>]) -> Cell {
    const SHOWN: usize = 2;
    if specs.is_empty() {
        return NONE;
    }
    let mut told = String::new();
    for (at, spec) in specs.iter().enumerate().take(SHOWN) {
        if at > 0 {
            told.push_str(", ");
        }
        let current = statuses.get(at).and_then(|status| status.resource.as_ref()).map(|source| &source.current);
        target(&mut told, spec, current);
    }
    if specs.len() > SHOWN {
        // Writing to a String cannot fail.
        let _ = write!(told, " + {} more...", specs.len() - SHOWN);
    }
    Cell::Text(told.into())
}

/// Appends one metric: its measurement and its target.
fn target(told: &mut String, spec: &Metric<'_>, current: Option<&Values>) {
    let nothing = Source::default();
    let source = spec.resource.as_ref().unwrap_or(&nothing);
    let wanted = &source.target;
    // A measurement of another type than the target's counts as missing.
    let measured =
        |value: fn(&Values) -> Option<&Scalar>| current.and_then(value).map_or(UNKNOWN, |Scalar(value)| value.as_str());
    // Writing to a String cannot fail.
    let _ = match (&*spec.kind, &wanted.average_value) {
        ("Resource" | "ContainerResource", Some(Scalar(value))) => {
            write!(told, "{}: {}/{value}", &*source.name, measured(average))
        }
        ("Resource" | "ContainerResource", None) => {
            let percent = |share: Option<i64>, otherwise: &str| {
                share.map_or_else(|| otherwise.to_owned(), |share| format!("{share}%"))
            };
            let current = percent(current.and_then(|values| values.average_utilization), UNKNOWN);
            write!(told, "{}: {current}/{}", &*source.name, percent(wanted.average_utilization, "<auto>"))
        }
        ("Pods", Some(Scalar(value))) => write!(told, "{}/{value}", measured(average)),
        ("Object" | "External", Some(Scalar(value))) => write!(told, "{}/{value} (avg)", measured(average)),
        ("Object" | "External", None) => {
            // Go prints a missing number as `<nil>`.
            let value = plain(wanted).map_or("<nil>", |Scalar(value)| value.as_str());
            write!(told, "{}/{value}", measured(plain))
        }
        ("Pods", None) => write!(told, "{}/<nil>", measured(average)),
        _ => write!(told, "<unknown type>"),
    };
}
