//! HorizontalPodAutoscalers: the columns of `printHorizontalPodAutoscaler` (kubernetes
//! `pkg/printers/internalversion/printers.go`).

use std::fmt::Write;

use serde_json::Result;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::Decode;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::json::Text;

use super::Kind;
use super::parts::{NONE, Scalar};
use super::printed::{AGE, Fields, Printed, columns, figures, number, read, words};

/// HorizontalPodAutoscalers, in the sidebar under Workloads.
pub const KIND: Kind = Kind {
    resource: ApiResource {
        group: "autoscaling",
        version: "v2",
        plural: "horizontalpodautoscalers",
        kind: "HorizontalPodAutoscaler",
        namespaced: true,
        cluster: "",
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
        Ok(targets(&metrics(fields, 0)?, &metrics(fields, 1)?))
    }),
    figures("MINPODS", &["spec minReplicas"], |fields| fields.number_or("<unset>")),
    figures("MAXPODS", &["spec maxReplicas"], number),
    figures("REPLICAS", &["status currentReplicas"], number),
    AGE,
];

/// A metric: its target or its measurement.
struct Metric<'a> {
    /// The type.
    kind: Text<'a>,
    /// What is measured.
    name: Text<'a>,
    target: Values,
    /// The measurement; `None` if the metric has no member that is named after its type.
    current: Option<Values>,
}

#[derive(Default)]
struct Values {
    average_utilization: Option<i64>,
    average_value: Option<Scalar>,
    value: Option<Scalar>,
}

/// The members in one of which stands what a metric is about: that which is named after its type.
const SOURCES: &[&str] = &["type", "resource", "containerResource", "pods", "object", "external"];

/// The metrics that a value is.
fn metrics<'de>(fields: &Fields<'_, 'de>, at: usize) -> Result<Vec<Metric<'de>>> {
    let mut metrics = Vec::new();
    fields.each(at, SOURCES, &mut |metric| {
        let mut read =
            Metric { kind: metric.words(0)?, name: Text::default(), target: Values::default(), current: None };
        let mut sources = (1..SOURCES.len()).filter(|source| metric.is_set(*source));
        if let Some(source) = sources.next() {
            metric.map(source, &["name", "target", "current"], &mut |source| {
                read.name = source.words(0)?;
                read.target = values(source, 1)?;
                read.current = Some(values(source, 2)?);
                Ok(())
            })?;
        }
        metrics.push(read);
        Ok(())
    })?;
    Ok(metrics)
}

fn values(fields: &Fields<'_, '_>, at: usize) -> Result<Values> {
    let mut read = Values::default();
    fields.map(at, &["averageUtilization", "averageValue", "value"], &mut |values| {
        read.average_utilization = values.value(0)?;
        read.average_value = values.value(1)?;
        read.value = values.value(2)?;
        Ok(())
    })?;
    Ok(read)
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
    let mut text = String::new();
    for (at, spec) in specs.iter().enumerate().take(SHOWN) {
        if at > 0 {
            text.push_str(", ");
        }
        let current = statuses.get(at).and_then(|status| status.current.as_ref());
        target(&mut text, spec, current);
    }
    if specs.len() > SHOWN {
        // Writing to a String cannot fail.
        let _ = write!(text, " + {} more...", specs.len() - SHOWN);
    }
    Cell::Text(text.into())
}

/// Appends one metric: its measurement and its target.
fn target(text: &mut String, spec: &Metric<'_>, current: Option<&Values>) {
    let wanted = &spec.target;
    // A measurement of another type than the target's counts as missing.
    let measured =
        |value: fn(&Values) -> Option<&Scalar>| current.and_then(value).map_or(UNKNOWN, |Scalar(value)| value.as_str());
    // Writing to a String cannot fail.
    let _ = match (&*spec.kind, &wanted.average_value) {
        ("Resource" | "ContainerResource", Some(Scalar(value))) => {
            write!(text, "{}: {}/{value}", &*spec.name, measured(average))
        }
        ("Resource" | "ContainerResource", None) => {
            let percent = |share: Option<i64>, otherwise: &str| {
                share.map_or_else(|| otherwise.to_owned(), |share| format!("{share}%"))
            };
            let current = percent(current.and_then(|values| values.average_utilization), UNKNOWN);
            write!(text, "{}: {current}/{}", &*spec.name, percent(wanted.average_utilization, "<auto>"))
        }
        ("Pods", Some(Scalar(value))) => write!(text, "{}/{value}", measured(average)),
        ("Object" | "External", Some(Scalar(value))) => write!(text, "{}/{value} (avg)", measured(average)),
        ("Object" | "External", None) => {
            // Go prints a missing number as `<nil>`.
            let value = plain(wanted).map_or("<nil>", |Scalar(value)| value.as_str());
            write!(text, "{}/{value}", measured(plain))
        }
        ("Pods", None) => write!(text, "{}/<nil>", measured(average)),
        _ => write!(text, "<unknown type>"),
    };
}
