//! Feed, inspector, lanes by manager and the counts of a chosen time name the same writers and the same fields of every
//! change: of a recorded rollout, and of the scenarios. Table, bands, inspector and feed have the same word and meaning for each
//! state in them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use kubechurn_changes::diff::diff;
use kubechurn_changes::filter::Filter;
use kubechurn_changes::line::{self, Line};
use kubechurn_changes::noise::{Marks, classify};
use kubechurn_changes::writer::{InferredWriter, Writers};
use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::decode_metadata;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::shared_informer::ReceivedDelta;
use kubechurn_columns::column::StatePart;
use kubechurn_columns::kinds::{self, Kind};
use kubechurn_columns::state;
use kubechurn_model::feed::span::{self, Reading, SpanRow, SpanSection};
use kubechurn_model::history::History;
use kubechurn_model::inspector::diff::{Diff, FieldChange};
use kubechurn_model::inspector::last_write::{Outcome, Question, Search};
use kubechurn_model::inspector::summary::{FactValue, summary};
use kubechurn_model::inspector::versions::{Body, show};
use kubechurn_model::navigation::range;
use kubechurn_model::timeline::mark::MarkType;
use kubechurn_model::timeline::marks::MarkInfo;
use serde_json::Value;

use super::Scenario;
use super::findings::play;

const WIDGETS: ApiResource = ApiResource {
    group: "example.org",
    version: "v1",
    plural: "widgets",
    kind: "Widget",
    namespaced: true,
    cluster: "",
};

/// The path under which the feed has the state of a Pod, which several fields make.
const POD_STATUS: &str = "STATUS";

/// How many changes have a writer, how many fields were compared, and for how many changes the last write was found.
#[derive(Debug, Default)]
struct Compared {
    writers: usize,
    fields: usize,
    last_writes: usize,
}

fn names(writers: &Writers) -> Vec<String> {
    writers.iter().map(|writer| InferredWriter::name(writer).to_string()).collect()
}

fn paths(diff: &Diff) -> BTreeSet<&str> {
    diff.changes.iter().map(|change| &*change.path).collect()
}

/// What changed, what says little included, by path.
fn all(diff: &Diff) -> Vec<&FieldChange> {
    let mut all: Vec<&FieldChange> = diff.changes.iter().chain(&diff.noise).collect();
    all.sort_by(|one, other| one.path.cmp(&other.path));
    all
}

/// Compares what is named of each change that a history keeps.
fn compare_all(history: &History) -> Compared {
    let mut compared = Compared::default();
    (0..=history.received()).for_each(|sequence| compare(history, sequence, &mut compared));
    compared
}

fn compare(history: &History, sequence: u64, compared: &mut Compared) {
    let Some(change) = history.change(sequence) else { return };
    let (old, new) = (change.old.as_deref(), change.new.as_deref());
    let received = line::ReceivedChange {
        seq: sequence,
        at: change.at,
        kind: change.resource.kind.into(),
        key: change.key.clone(),
        uid: change.uid.clone(),
        delta_type: change.delta_type,
        old,
        new,
    };
    let marks = Marks::default();
    let feed = Line::new(received, &marks);
    let writers = names(&feed.writers);
    compared.writers += usize::from(!writers.is_empty());

    if let (Some(kind), Some(new)) = (kinds::KINDS.iter().find(|kind| kind.resource == change.resource), new) {
        compare_states(kind, new, &feed);
    }
    let kept = history.of(&change.resource, &change.key);
    let at = kept.iter().position(|entry| entry.sequence == sequence).unwrap();
    let (newest, before) = (history.version(&kept[at]), at.checked_sub(1).map(|at| history.version(&kept[at])));
    let shown = show(change.resource.kind, &newest, before.as_ref());
    assert_eq!(shown.writers, writers, "inspector: {new:?}");

    let fields: BTreeSet<&str> = feed.fields.iter().map(|field| &*field.path).collect();
    let fields: BTreeSet<&str> = fields.into_iter().chain(feed.other_paths.iter().map(|path| &**path)).collect();
    let is_compared = change.delta_type == DeltaType::Updated;
    if let (true, Some(old), Some(new), Body::Diff(_, inspected)) = (is_compared, old, new, &shown.body) {
        let (inspected, found) = (paths(inspected), diff(old, new).unwrap());
        let is_field = |path: &&&str| **path != POD_STATUS;
        let unknown: Vec<_> = fields.iter().filter(is_field).filter(|path| !inspected.contains(*path)).collect();
        assert!(unknown.is_empty(), "the inspector lacks {unknown:?} of {inspected:?}");
        // The feed leaves out only what is noise, what its word for a Pod replaces, and what is too much for it.
        let reasons = classify(Some((&marks, &change.key)), change.resource.kind, &found, feed.generation);
        let says =
            found.changes.iter().zip(&reasons).filter(|(_, reason)| reason.is_none()).map(|(change, _)| &*change.path);
        let says: BTreeSet<&str> =
            says.filter(|path| *path != "status.phase" || !fields.contains(POD_STATUS)).collect();
        let left_out: Vec<_> = says.iter().filter(|path| !fields.contains(*path)).collect();
        assert!(left_out.len() <= feed.more || feed.noise.is_some(), "the feed lacks {left_out:?} of {inspected:?}");
        compared.fields += inspected.len();
    }

    let version = &kept[at].resource_version;
    let mark = MarkInfo {
        sequence,
        at: change.at,
        from: change.at,
        mark_type: MarkType::from(change.delta_type),
        key: Some(&change.key),
        uid: &change.uid,
        resource_version: version.clone(),
        folded: 1,
        tone: Tone::Plain,
        word: "",
        note: "",
        resync: None,
    };
    let lane = history.writer(change.resource, &mark);
    let manager = |name: &String| name.split(" (").next().unwrap_or_default().to_owned();
    assert_eq!(lane, writers.first().map(manager), "lane: {new:?}");

    if let Some(text) = new {
        let question = Question { pointer: "", text, uid: &change.uid, version, has_dropped: false };
        let search = Search::new(question, &kept[..=at]);
        let outcome = search.map(|mut search| search.step(1, |entry| history.version(entry).text));
        if let Some(Outcome::Written(written)) = outcome {
            assert_eq!(names(&written.writers), writers, "last write: {new:?}");
            if let Body::Diff(_, inspected) = &shown.body {
                // The list of changes folds what says little; of the field that was chosen all is shown.
                let count = |diff: &Diff| diff.changes.len() + diff.noise.len() + diff.more;
                assert_eq!(count(&written.changes), count(inspected), "last write: {new:?}");
                if written.changes.more == 0 && inspected.more == 0 {
                    assert_eq!(all(&written.changes), all(inspected), "last write: {new:?}");
                }
            }
            compared.last_writes += 1;
        }
    }

    if feed.noise.is_none() && !feed.is_listed {
        let mut received = span::ReceivedTimes::default();
        received.push(sequence, change.at);
        let mut reading = Reading::new(range::between(change.at, change.at), 0.0, &received, Filter::default());
        while let Some((_, is_own)) = reading.take_next(&received) {
            reading.read(Some(feed.clone()), is_own);
        }
        let sections = reading.model(&received, |_, _| String::new()).sections;
        let counted = |title: &str| sections.iter().find(|section: &&SpanSection| section.title == title);
        let rows = |title: &str| counted(title).map_or(&[][..], |section| &section.rows);
        let managers: BTreeSet<&str> = feed.writers.iter().map(|writer| &*writer.manager).collect();
        let is_manager = |row: &SpanRow| managers.contains(&*row.name);
        let more = counted("by, inferred").map_or(0, |section| section.more);
        assert!(rows("by, inferred").iter().all(is_manager), "span: {new:?}");
        assert_eq!(rows("by, inferred").len() + more, managers.len(), "span: {new:?}");
        // Fields of a status are counted as one up to the first list. Of an Event its reason is counted instead.
        let written = |path: &str| if path == POD_STATUS { "status".to_owned() } else { path.to_owned() };
        let is_field = |row: &SpanRow| fields.iter().any(|path| written(path).starts_with(&row.name));
        let is_event = feed.reason.is_some();
        assert!(is_event || rows("field").iter().all(is_field), "span: {new:?}");
        assert!(is_event || rows("field").is_empty() == fields.is_empty(), "span: {new:?}");
    }
}

/// The word for an object's state and its meaning are the same in table, bands, inspector and feed.
fn compare_states(kind: &Kind, text: &str, line: &Line) {
    let (object, value) = ((kind.decode.0)(text).unwrap(), serde_json::from_str(text).unwrap());
    let (mut band, name) = (String::new(), kind.resource.kind);
    let tone = state::write_state(kind.columns, &object.cells, &mut band);
    let summary = summary(kind, Some(&object), &value);
    if !band.is_empty() {
        let fact = summary.facts.iter().find(|(label, _)| *label == "status").map(|(_, fact)| fact);
        assert_eq!(fact, Some(&FactValue::Words(band.clone(), tone)), "inspector: {text}");
        assert_eq!(state::tone_of(name, "STATUS", &band), tone, "feed: {text}");
    }
    let at = kind.columns.iter().position(|column| column.state == StatePart::Word);
    if let Some((at, cell)) = at.and_then(|at| Some((at, object.cells.get(at)?))) {
        let mut word = String::new();
        cell.write(Timestamp(0), &mut word);
        assert_eq!((word, state::tone_of_cell(kind.columns, &object.cells, at)), (band.clone(), tone), "table: {text}");
    }
    for condition in &summary.conditions {
        let path = format!("status.conditions[{}].status", condition.name);
        assert_eq!(state::tone_of(name, &path, &condition.status), condition.tone, "conditions: {text}");
    }
    let status = line.fields.iter().find(|field| field.path == POD_STATUS).and_then(|field| field.new.as_ref());
    assert!(name != "Pod" || status.is_none_or(|word| word.kept() == band), "feed: {text}");
}

#[test]
fn the_same_writers_and_fields_are_named_of_every_change_of_a_recorded_rollout() {
    let mut history = History::new(64_000_000, 0);
    for recorded in include_str!("../../../../../tests/fixtures/rollout.jsonl").lines() {
        let recorded: Value = serde_json::from_str(recorded).unwrap();
        let Some(frame) = recorded["frame"].as_str() else { continue };
        let frame: Value = serde_json::from_str(frame).unwrap();
        let delta_type = match frame["type"].as_str().unwrap() {
            "ADDED" => DeltaType::Added,
            "MODIFIED" => DeltaType::Updated,
            "DELETED" => DeltaType::Deleted,
            _ => continue,
        };
        let (now, text) = (recorded["ms"].as_f64().unwrap(), frame["object"].to_string());
        let resource = kinds::kind(recorded["resource"].as_str().unwrap()).map_or(WIDGETS, |kind| kind.resource);
        let object = Arc::new(decode_metadata(&text).unwrap());
        history.push(resource, ReceivedDelta { now, delta_type, object: &object, text: Some(&text), was_known: false });
    }
    let compared = compare_all(&history);
    assert!(compared.writers > 300 && compared.last_writes > 300 && compared.fields > 500, "{compared:?}");
}

#[tokio::test(start_paused = true)]
async fn the_same_writers_and_fields_are_named_of_every_change_of_the_scenarios() {
    for scenario in Scenario::ALL.into_iter().filter(|scenario| !scenario.is_load()) {
        let page = play(&[scenario], 7, None, Duration::from_secs(60)).await;
        let compared = compare_all(&page.history.borrow());
        assert!(compared.writers > 30 && compared.fields > 30, "{}: {compared:?}", scenario.name());
    }
}
