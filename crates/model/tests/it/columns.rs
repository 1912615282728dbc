//! Columns and decoders are compared with `tests/fixtures/tables`: what a real API server printed for the same objects.

use std::ops::Range;
use std::sync::LazyLock;

use proptest::prelude::*;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use kubechurn_client::api::cell::{CellRef, Tone};
use kubechurn_client::api::object::Object;
use kubechurn_client::api::release::Release;
use kubechurn_client::api::time::Timestamp;
use kubechurn_columns::kinds::{KINDS, Kind, kind, printed_by};

mod printed;

/// What the server answered, and when.
#[derive(Deserialize)]
struct Table<'a> {
    date: String,
    columns: Vec<Definition>,
    #[serde(borrow)]
    rows: Vec<Row<'a>>,
}

#[derive(Deserialize)]
struct Definition {
    name: String,
    priority: i64,
}

#[derive(Deserialize)]
struct Row<'a> {
    cells: Vec<Value>,
    #[serde(borrow)]
    object: &'a RawValue,
}

/// The resources and what a server printed for them: all of its resources except ComponentStatuses, which cannot be
/// watched, and custom resources.
macro_rules! tables {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../../tests/fixtures/tables/", $name, ".json")))),*]
    };
}

/// Each resource and its fixture.
const TABLES: &[(&str, &str)] = tables![
    "pods"
    "apiservices.apiregistration.k8s.io"
    "clusterrolebindings.rbac.authorization.k8s.io"
    "clusterroles.rbac.authorization.k8s.io"
    "configmaps"
    "controllerrevisions.apps"
    "cronjobs.batch"
    "customresourcedefinitions.apiextensions.k8s.io"
    "daemonsets.apps"
    "deployments.apps"
    "endpoints"
    "endpointslices.discovery.k8s.io"
    "events"
    "events.events.k8s.io"
    "flowschemas.flowcontrol.apiserver.k8s.io"
    "horizontalpodautoscalers.autoscaling"
    "ingresses.networking.k8s.io"
    "ipaddresses.networking.k8s.io"
    "jobs.batch"
    "leases.coordination.k8s.io"
    "namespaces"
    "networkpolicies.networking.k8s.io"
    "nodes"
    "persistentvolumeclaims"
    "persistentvolumes"
    "poddisruptionbudgets.policy"
    "priorityclasses.scheduling.k8s.io"
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io"
    "replicasets.apps"
    "resourcequotas"
    "rolebindings.rbac.authorization.k8s.io"
    "roles.rbac.authorization.k8s.io"
    "secrets"
    "serviceaccounts"
    "servicecidrs.networking.k8s.io"
    "services"
    "statefulsets.apps"
    "storageclasses.storage.k8s.io"
];

/// Reads `Sat, 21 Nov 2026 08:15:55 GMT`.
fn http_date(text: &str) -> Timestamp {
    let fields: Vec<&str> = text.split_whitespace().collect();
    let [_, day, month, year, time, "GMT"] = fields[..] else { panic!("{text} is not an HTTP date") };
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = months.iter().position(|&name| name == month).expect("a month") + 1;
    Timestamp::parse(&format!("{year}-{month:02}-{day}T{time}Z")).expect("a date")
}

fn printed(cell: CellRef<'_>, now: Timestamp) -> String {
    let mut out = String::new();
    cell.write(now, &mut out);
    out
}

/// The cells of one small object, printed at the start of 2026.
fn row(plural: &str, text: &str) -> Vec<String> {
    let kind = kind(plural).expect("a kind");
    let object = kind.decode.read(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    assert_eq!(object.cells.len(), kind.columns.len());
    let now = Timestamp::parse("2026-01-01T00:00:00Z").expect("a date");
    object.cells.iter().map(|cell| printed(cell, now)).collect()
}

/// How an Event begins to say when it happened, in millionths of a second.
const MICRO_TIME: &str = r#""eventTime":"2"#;

/// A kind as the recorded server printed it.
fn kind_of_then(plural: &str) -> &'static Kind {
    let release = Release { major: 1, minor: 36 };
    let resource = kind(plural).expect("a kind").resource;
    printed_by(Some(release)).find(|kind| kind.resource == resource).expect("a kind of that release")
}

/// The range of the server's cells that the page keeps: all of them except a leading NAME.
fn kept(kind: &Kind, server: &[Definition]) -> Range<usize> {
    usize::from(kind.leads_with_name())..server.len()
}

#[test]
fn every_recorded_table_is_compared() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/tables");
    let files = std::fs::read_dir(folder).expect("the fixtures").map(|file| file.expect("a file").file_name());
    let names = files.map(|name| name.to_string_lossy().trim_end_matches(".json").to_owned());
    let left: Vec<String> = names.filter(|name| TABLES.iter().all(|(known, _)| known != name)).collect();
    assert!(left.iter().all(|name| ["componentstatuses", "widgets.example.org"].contains(&&**name)), "{left:?}");
}

#[test]
fn columns_are_the_server_s_in_its_order() {
    for &(plural, text) in TABLES {
        let kind = kind_of_then(plural);
        let table: Table<'_> = serde_json::from_str(text).expect("a table");
        if kind.leads_with_name() {
            assert_eq!(table.columns[0].name, "Name");
        }
        let theirs: Vec<(String, bool)> = table.columns[kept(kind, &table.columns)]
            .iter()
            .map(|column| (column.name.to_uppercase(), column.priority > 0))
            .collect();
        let ours: Vec<(String, bool)> =
            kind.columns.iter().map(|column| (column.title.to_owned(), column.wide)).collect();
        assert_eq!(ours, theirs, "{plural}");
    }
}

#[test]
fn every_cell_is_what_the_server_printed() {
    let mut differences = Vec::new();
    for &(plural, text) in TABLES {
        let kind = kind_of_then(plural);
        let table: Table<'_> = serde_json::from_str(text).expect("a table");
        let now = http_date(&table.date);
        let mut differs = vec![false; kind.columns.len()];
        for row in &table.rows {
            let object = kind.decode.read(row.object.get()).unwrap_or_else(|error| panic!("{plural}: {error}"));
            assert_eq!(object.cells.len(), kind.columns.len(), "{plural}");
            let theirs = &row.cells[kept(kind, &table.columns)];
            for (at, (cell, theirs)) in object.cells.iter().zip(theirs).enumerate() {
                let mut ours = printed(cell, now);
                let theirs = theirs.as_str().map_or_else(|| theirs.to_string(), str::to_owned);
                // The server computes ages with fractions of a second, but the date in its answer has none. An age of a
                // time with fractions may therefore differ by a second.
                if ours != theirs && cell.changes_with_time() && row.object.get().contains(MICRO_TIME) {
                    ours = printed(cell, Timestamp(now.0 - 1));
                }
                if ours != theirs && !differs[at] {
                    differs[at] = true;
                    let title = kind.columns[at].title;
                    differences.push(format!("{plural} {}: {title}: ours {ours:?}, theirs {theirs:?}", object.key));
                }
            }
        }
        assert!(!table.rows.is_empty(), "{plural}");
    }
    assert!(differences.is_empty(), "the first of each column:\n{}", differences.join("\n"));
}

#[test]
fn objects_keep_who_they_are() {
    for &(plural, text) in TABLES {
        let kind = kind_of_then(plural);
        let table: Table<'_> = serde_json::from_str(text).expect("a table");
        for row in &table.rows {
            let object: Object = kind.decode.read(row.object.get()).expect("an object");
            let theirs: Value = serde_json::from_str(row.object.get()).expect("JSON");
            let metadata = &theirs["metadata"];
            assert_eq!(*object.key.name, *metadata["name"].as_str().expect("a name"));
            assert_eq!(*object.key.namespace, *metadata["namespace"].as_str().unwrap_or_default());
            assert_eq!(object.key.namespace.is_empty(), !kind.resource.namespaced, "{plural}");
            assert_eq!(object.uid, *metadata["uid"].as_str().expect("a uid"));
            assert_eq!(object.resource_version.as_str(), metadata["resourceVersion"].as_str().expect("a version"));
            assert!(object.flaw.is_none());
        }
    }
}

#[test]
fn the_recorded_states_have_the_tones_that_they_deserve() {
    let table: Table<'_> = serde_json::from_str(TABLES[0].1).expect("a table");
    for row in &table.rows {
        let object = KINDS[0].decode.read(row.object.get()).expect("a Pod");
        let expected = match object.cells.get(1).and_then(CellRef::text).expect("a status") {
            "Running" => Tone::Good,
            "Completed" => Tone::Plain,
            "ContainerCreating" | "SchedulingGated" | "Pending" | "Terminating" | "Init:0/2" => Tone::Wait,
            _ => Tone::Bad,
        };
        assert_eq!(object.cells.get(1).map_or(Tone::Plain, CellRef::tone), expected, "{}", object.key);
    }
    let tone = |plural, text, at: usize| {
        kind(plural).expect("a kind").decode.read(text).expect("an object").cells.get(at).map(CellRef::tone)
    };
    assert_eq!(tone("events", r#"{"metadata":{"name":"e"},"type":"Warning"}"#, 1), Some(Tone::Bad));
    assert_eq!(tone("events", r#"{"metadata":{"name":"e"},"type":"Normal"}"#, 1), Some(Tone::Plain));
    assert_eq!(
        tone("namespaces", r#"{"metadata":{"name":"n"},"status":{"phase":"Terminating"}}"#, 0),
        Some(Tone::Wait)
    );
    assert_eq!(tone("services", r#"{"metadata":{"name":"s"},"spec":{"type":"LoadBalancer"}}"#, 2), Some(Tone::Wait));
}

#[test]
fn nodes_show_cordons_roles_and_what_they_do_not_know() {
    let node = |meta: &str, rest: &str| row("nodes", &format!(r#"{{"metadata":{{"name":"n"{meta}}}{rest}}}"#));
    let bare = ["Unknown", "<none>", "<unknown>", "", "<none>", "<none>", "<unknown>", "<unknown>", "<unknown>"];
    assert_eq!(node("", ""), bare);
    let ready = |status| format!(r#","status":{{"conditions":[{{"type":"Ready","status":"{status}"}}]}}"#);
    assert_eq!(node("", &ready("True"))[0], "Ready");
    assert_eq!(node("", &ready("Unknown"))[0], "NotReady");
    let cordoned = |status| format!(r#","spec":{{"unschedulable":true}}{}"#, ready(status));
    assert_eq!(node("", &cordoned("True"))[0], "Ready,SchedulingDisabled");
    assert_eq!(node("", &cordoned("False"))[0], "NotReady,SchedulingDisabled");
    assert_eq!(node("", r#","spec":{"unschedulable":true}"#)[0], "Unknown,SchedulingDisabled");
    let labels = r#","labels":{"node-role.kubernetes.io/worker":"","node-role.kubernetes.io/":"x","a":"b",
        "kubernetes.io/role":"edge","node-role.kubernetes.io/edge":"yes"}"#;
    assert_eq!(node(labels, "")[1], "edge,worker");
    assert_eq!(node("", r#","status":{"nodeInfo":{"kernelVersion":"6.1"}}"#)[7], "6.1");
}

#[test]
fn services_show_addresses_by_type() {
    let service = |rest: &str| row("services", &format!(r#"{{"metadata":{{"name":"s"}},{rest}}}"#));
    let balancer = r#""status":{"loadBalancer":{"ingress":[{"hostname":"b.example"},{"ip":"192.0.2.2"},
        {"ip":"192.0.2.2","hostname":"no"},{}]}}"#;
    assert_eq!(service(&format!(r#""spec":{{"type":"LoadBalancer"}},{balancer}"#))[2], "192.0.2.2,b.example");
    let both = format!(r#""spec":{{"type":"LoadBalancer","externalIPs":["192.0.2.9"]}},{balancer}"#);
    assert_eq!(service(&both)[2], "192.0.2.2,b.example,192.0.2.9");
    assert_eq!(
        service(r#""spec":{"type":"NodePort","externalIPs":["192.0.2.9","192.0.2.1"]}"#)[2],
        "192.0.2.9,192.0.2.1"
    );
    assert_eq!(service(r#""spec":{"type":"Other"}"#)[2], "<unknown>");
    assert_eq!(service(r#""spec":{"clusterIP":"10.0.0.1"}"#)[1], "10.0.0.1");
    let ports = r#""spec":{"ports":[{"port":80,"protocol":"TCP"},{"port":53,"nodePort":30053,"protocol":"UDP"}]}"#;
    assert_eq!(service(ports)[3], "80/TCP,53:30053/UDP");
}

#[test]
fn jobs_show_what_they_want_and_how_it_ends() {
    let job = |rest: &str| row("jobs", &format!(r#"{{"metadata":{{"name":"j"}},{rest}}}"#));
    assert_eq!(job(r#""spec":{}"#), ["Running", "0/1", "", "<unknown>", "", "", "<none>"]);
    assert_eq!(job(r#""spec":{"parallelism":3},"status":{"succeeded":2}"#)[1], "2/1 of 3");
    assert_eq!(job(r#""spec":{"parallelism":1}"#)[1], "0/1");
    assert_eq!(job(r#""spec":{"completions":5,"parallelism":3},"status":{"succeeded":2}"#)[1], "2/5");
    let status = |kinds: &[&str]| {
        let conditions: Vec<String> =
            kinds.iter().map(|kind| format!(r#"{{"type":"{kind}","status":"True"}}"#)).collect();
        job(&format!(r#""status":{{"conditions":[{}]}}"#, conditions.join(",")))[0].clone()
    };
    assert_eq!(status(&["SuccessCriteriaMet", "Complete"]), "Complete");
    assert_eq!(status(&["SuccessCriteriaMet"]), "SuccessCriteriaMet");
    assert_eq!(status(&["FailureTarget", "Failed"]), "Failed");
    assert_eq!(status(&["FailureTarget"]), "FailureTarget");
    assert_eq!(status(&["Suspended"]), "Suspended");
    assert_eq!(job(r#""status":{"conditions":[{"type":"Suspended","status":"False"}]}"#)[0], "Running");
    let times = r#""status":{"startTime":"2025-12-31T23:00:00Z","completionTime":"2025-12-31T23:02:05Z"}"#;
    assert_eq!(job(times)[2], "2m5s");
    let deleting = r#"{"metadata":{"name":"j","deletionTimestamp":"2026-01-01T00:00:00Z"}}"#;
    assert_eq!(row("jobs", deleting)[0], "Terminating");
}

#[test]
fn events_of_both_forms_say_when_and_how_often() {
    let event = |rest: &str| row("events", &format!(r#"{{"metadata":{{"name":"e.1"}},{rest}}}"#));
    assert_eq!(event(r#""type":"Normal""#), ["<unknown>", "Normal", "", "", "", "", "", "<unknown>", "1", "e.1"]);
    let older = event(
        r#""involvedObject":{"kind":"Pod","name":"p","fieldPath":"spec.containers{c}"},"message":" two\nlines\n",
        "source":{"component":"kubelet","host":"n"},"count":4,
        "firstTimestamp":"2025-12-31T23:58:00Z","lastTimestamp":"2025-12-31T23:59:00Z""#,
    );
    assert_eq!(older, ["60s", "", "", "pod/p", "spec.containers{c}", "kubelet, n", "two...", "2m", "4", "e.1"]);
    let newer = event(
        r#""involvedObject":{"kind":"Node"},"eventTime":"2025-12-31T23:58:00.5Z","count":9,
        "series":{"count":3,"lastObservedTime":"2025-12-31T23:59:30.000001Z"},
        "reportingComponent":"sched","reportingInstance":"""#,
    );
    assert_eq!(newer, ["30s", "", "", "node", "", "sched", "", "2m", "3", "e.1"]);
    assert_eq!(event(r#""eventTime":"2025-12-31T23:58:00Z","series":{}"#)[0], "<unknown>");
}

/// Some objects of each kind.
static OBJECTS: LazyLock<Vec<(&'static Kind, String)>> = LazyLock::new(|| {
    let mut objects = Vec::new();
    for &(plural, text) in TABLES {
        let table: Table<'static> = serde_json::from_str(text).expect("a table");
        objects.extend(table.rows.iter().rev().take(6).map(|row| (plural, row.object.get().to_owned())));
    }
    objects.extend(printed::unrecorded());
    objects.into_iter().map(|(plural, object)| (kind(plural).expect("a kind"), object)).collect()
});

/// Calls `visitor` with each value of a tree, the root last, until it returns true.
fn visit(value: &mut Value, visitor: &mut dyn FnMut(&mut Value) -> bool) -> bool {
    let found = match value {
        Value::Array(list) => list.iter_mut().any(|value| visit(value, visitor)),
        Value::Object(map) => map.iter_mut().any(|(key, value)| key != "metadata" && visit(value, visitor)),
        _ => false,
    };
    found || visitor(value)
}

/// The object with the value at index `at` replaced. Values are counted in the order of [`visit`].
fn replaced(object: &str, at: usize, with: &Value) -> Option<String> {
    let mut tree: Value = serde_json::from_str(object).expect("JSON");
    let mut left = at;
    let found = visit(&mut tree, &mut |value| {
        if left == 0 {
            *value = with.clone();
            return true;
        }
        left -= 1;
        false
    });
    found.then(|| tree.to_string())
}

#[test]
fn null_stands_for_any_field_or_struct_or_list() {
    for (kind, object) in OBJECTS.iter() {
        for at in 0.. {
            let Some(text) = replaced(object, at, &Value::Null) else { break };
            match kind.decode.read(&text) {
                Ok(object) => assert_eq!(object.cells.len(), kind.columns.len()),
                Err(error) => assert!(text == "null", "{} with null at {at}: {error}", kind.title),
            }
        }
    }
}

#[test]
fn wrong_types_are_errors_where_a_column_looks() {
    for (plural, text) in [
        ("pods", r#"{"metadata":{"name":7}}"#),
        ("pods", r#"{"metadata":{"name":"p"},"status":{"phase":7}}"#),
        ("pods", r#"{"metadata":{"name":"p"},"spec":{"containers":{}}}"#),
        ("pods", r#"{"metadata":{"name":"p"},"spec":[]}"#),
        ("pods", r#"{"metadata":["p"]}"#),
        ("pods", r#"[{"name":"p"}]"#),
        ("pods", r#"{"metadata":{"name":"p"},"status":{"containerStatuses":[["c"]]}}"#),
        ("pods", r#"{"metadata":{"name":"p"},"status":{"containerStatuses":[{"state":{"waiting":["w"]}}]}}"#),
        ("pods", r#"{"metadata":{"name":"p"},"status":{"containerStatuses":[{"restartCount":"1"}]}}"#),
        ("pods", r#"{"metadata":{"name":"p"},"status":{"containerStatuses":[{"restartCount":1.5}]}}"#),
        ("pods", r#"{"metadata":{"name":"p"},"status":{"containerStatuses":[{"ready":"true"}]}}"#),
        ("deployments", r#"{"metadata":{"name":"d"},"spec":{"replicas":"3"}}"#),
        ("deployments", r#"{"metadata":{"name":"d"},"spec":{"selector":"app=d"}}"#),
        ("replicasets", r#"{"metadata":{"name":"d"},"spec":{"template":{"spec":{"containers":"c"}}}}"#),
        ("jobs", r#"{"metadata":{"name":"j"},"status":{"startTime":12}}"#),
        ("services", r#"{"metadata":{"name":"s"},"spec":{"selector":{"a":1}}}"#),
        ("services", r#"{"metadata":{"name":"s"},"spec":{"ports":[{"port":"80"}]}}"#),
        ("nodes", r#"{"metadata":{"name":"n","labels":[]}}"#),
        ("nodes", r#"{"metadata":{"name":"n"},"spec":{"unschedulable":"yes"}}"#),
        ("events", r#"{"metadata":{"name":"e"},"count":"many"}"#),
        ("namespaces", r#"{"metadata":{"name":"n"},"status":"Active"}"#),
        ("namespaces", r#"{"metadata":{}}"#),
        ("namespaces", r#"{}"#),
        ("namespaces", r#"{"metadata":{"name":"n"}} "#.trim_end_matches("} ")),
    ] {
        let kind = kind(plural).expect("a kind");
        assert!(kind.decode.read(text).is_err(), "{plural}: {text}");
    }
    // A count that is too large to be added up causes neither a panic nor an overflow.
    let huge = r#"{"metadata":{"name":"p"},"status":{"phase":"Running","containerStatuses":[
        {"restartCount":9223372036854775807},{"restartCount":9223372036854775807}]}}"#;
    assert_eq!(row("pods", huge)[2], i64::MAX.to_string());
    // A field that no column shows may have any type.
    let odd = r#"{"metadata":{"name":"n","annotations":7,"managedFields":{}},"spec":[1],"status":{"phase":"Active"}}"#;
    assert_eq!(row("namespaces", odd), ["Active", "<unknown>"]);
}

fn any_value() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,8}".prop_map(Value::from),
        Just(serde_json::json!([])),
        Just(serde_json::json!([null])),
        Just(serde_json::json!({})),
        Just(serde_json::json!({"a": [1]})),
    ]
}

/// Decodes, and prints and sorts if that succeeds. None of these may panic.
fn exercise(kind: &Kind, text: &str) {
    if let Ok(object) = kind.decode.read(text) {
        assert_eq!(object.cells.len(), kind.columns.len());
        for cell in &object.cells {
            printed(cell, Timestamp(i64::MAX));
            printed(cell, Timestamp(i64::MIN));
            assert!(cell.compare(cell).is_eq());
        }
    }
}

proptest! {
    #[test]
    fn damaged_text_never_panics(
        which in any::<prop::sample::Index>(),
        from in any::<prop::sample::Index>(),
        length in 0..40_usize,
        patch in "[\\x00-\\x7f]{0,6}|\\PC{0,4}",
    ) {
        let (kind, object) = &OBJECTS[which.index(OBJECTS.len())];
        // The fixtures are ASCII, so that every cut lies between characters.
        let from = from.index(object.len());
        let to = (from + length).min(object.len());
        let text = format!("{}{patch}{}", &object[..from], &object[to..]);
        exercise(kind, &text);
        exercise(kind, &text[..text.floor_char_boundary(to)]);
    }

    #[test]
    fn odd_values_never_panic(which in any::<prop::sample::Index>(), at in 0..400_usize, value in any_value()) {
        let (kind, object) = &OBJECTS[which.index(OBJECTS.len())];
        if let Some(text) = replaced(object, at, &value) {
            exercise(kind, &text);
        }
    }
}
