//! The changes with which something that is wrong may have begun, as they are kept of each workload.

use std::hash::{Hash, Hasher};

use kubechurn_changes::line::Line;
use kubechurn_changes::part::{Part, PartKind};
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::json;
use rustc_hash::FxHasher;

use super::Subject;

/// A change of what is asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Its number.
    pub seq: u64,
    /// When it was received, in milliseconds.
    pub at: f64,
    /// What changed.
    pub what: What,
    /// The field and its values, in the words of the feed.
    parts: Vec<Part>,
    /// Who seems to have written it; empty if that is not known.
    pub writer: String,
    /// The object's generation after it.
    pub generation: i64,
    /// The revision that the object's annotation named then: a Deployment's is that of the version before, a DaemonSet's its own.
    pub revision: i64,
    /// The template after it: see [`template`].
    pub template: u64,
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
    /// Its own state, or what else was seen first of the trouble.
    State,
}

impl Change {
    /// Whether it is a cause, and not what was seen first of the trouble itself.
    pub fn explains(&self) -> bool {
        self.what != What::State
    }

    /// A change of this object as the beginning of trouble with what has made it. That it was made explains nothing.
    pub(super) fn of_made(self, Subject { kind, key, .. }: &Subject) -> Change {
        if self.what != What::Created {
            return self;
        }
        let words = Part { text: format!("the creation of {kind} {}", key.name), kind: PartKind::Plain };
        Change { what: What::State, parts: vec![words], ..self }
    }

    /// The change in parts: the words, and which part each is.
    pub fn words(&self) -> Vec<(String, &'static str)> {
        match self.what {
            What::Created => return vec![(String::from("its creation"), "")],
            What::Deletion => return vec![(String::from("its deletion was asked for, by whom is not known"), "")],
            _ => {}
        }
        let is_state = self.what == What::State;
        let word = |part: &Part| match part.kind {
            PartKind::Path => "path",
            PartKind::Old => "old",
            PartKind::Arrow => "arrow",
            PartKind::New if is_state => "bad",
            PartKind::New => "value",
            PartKind::Count | PartKind::More | PartKind::Plain => "",
        };
        self.parts.iter().map(|part| (part.text.trim().to_owned(), word(part))).collect()
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
    let (what, parts) = match (line.delta_type, found) {
        (DeltaType::Added, _) => (What::Created, Vec::new()),
        (DeltaType::Deleted, _) | (_, None) => return None,
        (_, Some(((_, what), field))) => (what, field.parts(&line.key.name)),
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
        parts,
        writer: line.writers.first().map(|writer| writer.manager.to_string()).unwrap_or_default(),
        generation: line.generation.unwrap_or(0),
        revision: number(revision),
        template: text.and_then(|text| json::member(text, "spec")).map_or(0, template),
    })
}

/// A hash of the Pod template in the `spec` of a workload, without the labels, to which a Deployment adds one in its ReplicaSets;
/// 0 where there is none.
pub fn template(spec: &str) -> u64 {
    let Some(template) = json::member(spec, "template") else { return 0 };
    let parts = [json::member(template, "spec"), json::value_at(template, &["metadata", "annotations"])];
    let mut hasher = FxHasher::default();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// The number that a text in JSON is; 0 where there is none.
pub fn number(json: Option<&str>) -> i64 {
    json.and_then(json::unescaped).and_then(|text| text.parse().ok()).unwrap_or(0)
}
