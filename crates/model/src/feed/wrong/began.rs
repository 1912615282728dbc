//! The changes with which something that is wrong may have begun, as they are kept of each workload.

use kubechurn_changes::line::Line;
use kubechurn_changes::value::Value;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::json;

/// A change of what is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its number.
    pub seq: u64,
    /// When it was received, in milliseconds.
    pub at: f64,
    /// What changed.
    pub what: What,
    /// The value before, and the one after; empty where there is none.
    pub values: [String; 2],
    /// The field in short.
    pub field: String,
    /// Who seems to have written it; empty if that is not known.
    pub writer: String,
    /// The object's generation after it.
    pub generation: i64,
    /// The revision that the object's annotation named then: a Deployment's is that of the version before, a DaemonSet's its own.
    pub revision: i64,
}

/// What changed of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// It was created.
    Created,
    /// Its Pod template.
    Template,
    /// How many Pods it is to have.
    Replicas,
    /// It is to be deleted.
    Deletion,
    /// Its own state.
    State,
}

impl Change {
    /// Whether it is a cause, and not what was seen first of the trouble itself.
    pub fn explains(&self) -> bool {
        self.what != What::State
    }

    /// The change in parts: the words, and which part each is.
    pub fn words(&self) -> Vec<(String, &'static str)> {
        match self.what {
            What::Created => return vec![(String::from("it was created"), "")],
            What::Deletion => return vec![(String::from("its deletion was asked for, by whom is not known"), "")],
            _ => {}
        }
        let value = |text: &String| if text.is_empty() { String::from("none") } else { text.clone() };
        let [old, new] = &self.values;
        vec![
            (self.field.clone(), "path"),
            (value(old), "old"),
            (String::from("→"), "arrow"),
            (value(new), if self.what == What::State { "bad" } else { "value" }),
        ]
    }
}

/// The change of an object that a line is, if one may begin with it. `text` is the object after it.
pub fn change(line: &Line, text: Option<&str>) -> Option<Change> {
    if line.is_listed || line.noise.is_some() {
        return None;
    }
    let rank = |path: &str| match (&*line.kind, path) {
        (_, path) if path.starts_with("spec.template.") => Some((0, What::Template)),
        (_, "spec.replicas") => Some((1, What::Replicas)),
        (_, "metadata.deletionTimestamp") => Some((2, What::Deletion)),
        ("Node", "status.conditions[Ready].status") => Some((3, What::State)),
        _ => None,
    };
    let found = line.fields.iter().filter_map(|field| Some((rank(&field.path)?, field))).min_by_key(|(rank, _)| rank.0);
    let (what, field, values) = match (line.delta_type, found) {
        (DeltaType::Added, _) => (What::Created, String::new(), [String::new(), String::new()]),
        (DeltaType::Deleted, _) | (_, None) => return None,
        (_, Some(((_, what), field))) => (what, short(&field.path), parts(&field.old, &field.new)),
    };
    let annotation = match &*line.kind {
        "Deployment" => "deployment.kubernetes.io/revision",
        _ => "deprecated.daemonset.template.generation",
    };
    let revision = text.and_then(|text| json::value_at(text, &["metadata", "annotations", annotation]));
    Some(Change {
        seq: line.seq,
        at: line.at,
        what,
        values,
        field,
        writer: line.writers.first().map(|writer| writer.manager.to_string()).unwrap_or_default(),
        generation: line.generation.unwrap_or(0),
        revision: number(revision),
    })
}

/// The number that a text in JSON is; 0 where there is none.
pub fn number(json: Option<&str>) -> i64 {
    json.and_then(json::unescaped).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// A field as people name it: its last steps.
fn short(path: &str) -> String {
    let path = path.strip_prefix("spec.template.").unwrap_or(path);
    let path = path.strip_prefix("spec.").or_else(|| path.strip_prefix("status.")).unwrap_or(path);
    let path = match path.strip_prefix("conditions[").and_then(|rest| rest.split_once(']')) {
        Some((name, ".status")) => name,
        _ => path,
    };
    match path.strip_prefix("containers[").and_then(|rest| rest.split_once("].")) {
        Some((_, rest)) => rest.to_owned(),
        None => path.to_owned(),
    }
}

/// Both values, without what an image has in common before its tag.
fn parts(old: &Option<Value>, new: &Option<Value>) -> [String; 2] {
    let kept = |value: &Option<Value>| value.as_ref().map_or("", Value::kept).to_owned();
    let whole = |value: &Option<Value>| value.as_ref().map(Value::to_string).unwrap_or_default();
    // The repository may be longer than what is shown of a value, and the tag after it is what changed.
    match (kept(old).rsplit_once(':'), kept(new).rsplit_once(':')) {
        (Some((one, old)), Some((other, new))) if one == other && !one.is_empty() && !old.contains('/') => {
            [old, new].map(|tag| Value::plain(tag).to_string())
        }
        _ => [whole(old), whole(new)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_whole_however_long_its_repository_is() {
        let image = |tag: &str| Some(Value::plain(&format!("registry.example/{}:{tag}", "a".repeat(80))));
        let long = "3-typo-0123456789abcdefghijklmnopqrstuvw";
        assert_eq!(parts(&image("1.14"), &image(long)), ["1.14", long]);
        assert_eq!(parts(&None, &Some(Value::plain("4"))), ["", "4"]);
    }
}
