//! Which changes say nothing: fields that change with every write, with every heartbeat, or because another field did.

use std::fmt;

use smallvec::SmallVec;

use crate::diff::{self, Diff, FieldChange};
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::json;

/// Why a change of a field is noise. The reason of a whole change is the greatest among those of its fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Noise {
    /// Nothing changed: the same version came again.
    Unchanged,
    /// `metadata.resourceVersion` and `metadata.generation`, which change with every write; and `kind` and `apiVersion`,
    /// which only the objects of a watch have.
    Version,
    /// `metadata.managedFields`: who owns which field since when.
    ManagedFields,
    /// The time of a condition, which moves with the condition.
    TransitionTime,
    /// `observedGeneration`: a controller has seen the spec that is there.
    ObservedGeneration,
    /// A time by which something shows that it lives.
    Heartbeat,
    /// The user called the field noise.
    Marked,
}

impl Mark {
    /// Whether a field of an object of a kind is meant.
    pub fn covers(&self, kind: &str, key: &ObjectKey, path: &str) -> bool {
        (self.kind.is_empty() || self.kind == kind)
            && self.object.as_ref().is_none_or(|object| object == key)
            && covers(&self.path, path)
    }

    /// The mark as it is stored, in one line: `Pod status.phase`, `Pod=shop/web status.phase`.
    pub fn line(&self) -> String {
        let object = self.object.as_ref().map(|object| format!("={object}")).unwrap_or_default();
        format!("{}{object} {}", self.kind, self.path)
    }

    /// Reads what [`Mark::line`] wrote; `None` if it is no mark.
    pub fn read(line: &str) -> Option<Mark> {
        let (subject, path) = line.split_once(' ').filter(|(_, path)| !path.is_empty())?;
        let (kind, object) = subject.split_once('=').map_or((subject, None), |(kind, object)| (kind, Some(object)));
        let key = |object: &str| match object.split_once('/') {
            Some((namespace, name)) => ObjectKey::new(namespace, name),
            None => ObjectKey::new("", object),
        };
        Some(Mark { kind: kind.to_owned(), object: object.map(key), path: path.to_owned() })
    }
}

/// What is meant, in words: `status.phase of every Pod`, `status.phase of Pod shop/web alone`.
impl fmt::Display for Mark {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = if self.kind.is_empty() { "object" } else { &self.kind };
        match &self.object {
            None => write!(formatter, "{} of every {kind}", self.path),
            Some(object) => write!(formatter, "{} of {kind} {object} alone", self.path),
        }
    }
}

impl Noise {
    /// All reasons.
    pub const ALL: [Noise; 7] = [
        Noise::Unchanged,
        Noise::Version,
        Noise::ManagedFields,
        Noise::TransitionTime,
        Noise::ObservedGeneration,
        Noise::Heartbeat,
        Noise::Marked,
    ];

    /// The reason in words, to stand before a count.
    pub fn words(self) -> &'static str {
        match self {
            Noise::Unchanged => "unchanged",
            Noise::Version => "versions",
            Noise::ManagedFields => "managed fields",
            Noise::TransitionTime => "times",
            Noise::ObservedGeneration => "observedGeneration",
            Noise::Heartbeat => "heartbeats",
            Noise::Marked => "marked as noise",
        }
    }
}

/// A field that the user called noise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// The kind whose field is meant, such as `Pod`; empty for all kinds.
    pub kind: String,
    /// The object whose field is meant; `None` for all objects of the kind.
    pub object: Option<ObjectKey>,
    /// The path. `*` stands for any text within one step. What is below the path is meant too.
    pub path: String,
}

/// The fields that the user called noise.
#[derive(Clone, Debug, Default)]
pub struct Marks {
    marks: Vec<Mark>,
}

/// The most marks that are kept.
const MOST_MARKS: usize = 200;

impl Marks {
    /// Adds a mark. False if it is there already, or if there are as many as are kept.
    pub fn add(&mut self, mark: Mark) -> bool {
        let is_new = !self.marks.contains(&mark) && self.marks.len() < MOST_MARKS;
        if is_new {
            self.marks.push(mark);
        }
        is_new
    }

    /// Removes a mark. Whether it was there.
    pub fn remove(&mut self, mark: &Mark) -> bool {
        let before = self.marks.len();
        self.marks.retain(|known| known != mark);
        self.marks.len() < before
    }

    /// The marks in the order in which they were made.
    pub fn list(&self) -> &[Mark] {
        &self.marks
    }

    fn cover(&self, kind: &str, key: &ObjectKey, path: &str) -> bool {
        self.marks.iter().any(|mark| mark.covers(kind, key, path))
    }
}

/// Whether a path is `pattern` or below it. `*` in the pattern stands for letters other than `.`, `[` and `]`, or for the
/// whole text between two brackets.
fn covers(pattern: &str, path: &str) -> bool {
    let (pattern, path) = (pattern.as_bytes(), path.as_bytes());
    // The places to go back to: of the last `*`, and of the letter that it takes next.
    let (mut at, mut from, mut last) = (0, 0, None);
    loop {
        if at == pattern.len() && (from == path.len() || matches!(path[from], b'.' | b'[')) {
            return true;
        }
        if pattern.get(at) == Some(&b'*') {
            at += 1;
            last = Some((at, from));
        } else if at < pattern.len() && pattern.get(at) == path.get(from) {
            at += 1;
            from += 1;
        } else {
            let Some((star, taken)) = last else { return false };
            let in_brackets = star >= 2 && pattern[star - 2] == b'[';
            match path.get(taken) {
                Some(b']') | None => return false,
                Some(b'.' | b'[') if !in_brackets => return false,
                Some(_) => {}
            }
            (at, from, last) = (star, taken + 1, Some((star, taken + 1)));
        }
    }
}

/// For each change of a diff why it is noise.
pub type Reasons = SmallVec<[Option<Noise>; 32]>;

/// What the user called noise, and the object that is looked at; `None` where that does not count.
pub type Covering<'a> = Option<(&'a Marks, &'a ObjectKey)>;

/// Why each change of a diff is noise; `None` for one that says something. `generation` is the object's own, as it is now.
pub fn classify(marks: Covering<'_>, kind: &str, diff: &Diff<'_>, generation: Option<i64>) -> Reasons {
    let reason = |change: &FieldChange<'_>| {
        let is_marked = marks.is_some_and(|(marks, key)| marks.cover(kind, key, &change.path));
        if is_marked { Some(Noise::Marked) } else { of_field(kind, change, diff, generation) }
    };
    diff.changes.iter().map(reason).collect()
}

/// Whether an object of a kind only shows that it lives: nothing differs between two texts but times that say so, and what
/// changes with every write.
pub fn is_heartbeat(kind: &str, old: &str, new: &str) -> bool {
    diff::diff(old, new).is_ok_and(|diff| {
        let reasons = classify(None, kind, &diff, None);
        whole(&diff, &reasons) == Some(Noise::Heartbeat)
    })
}

/// Why a whole change is noise: all its fields are.
pub fn whole(diff: &Diff<'_>, reasons: &[Option<Noise>]) -> Option<Noise> {
    if diff.is_empty() {
        return Some(Noise::Unchanged);
    }
    let all = diff.more == 0 && reasons.iter().all(Option::is_some);
    all.then(|| reasons.iter().flatten().copied().max()).flatten()
}

fn of_field(kind: &str, change: &FieldChange<'_>, diff: &Diff<'_>, generation: Option<i64>) -> Option<Noise> {
    let path = &*change.path;
    match path {
        "metadata.resourceVersion" | "metadata.generation" => return Some(Noise::Version),
        // The items of a list come without them, and the objects of a watch with them.
        "kind" | "apiVersion" if change.old.is_none() || change.new.is_none() => return Some(Noise::Version),
        "metadata.managedFields" => return Some(Noise::ManagedFields),
        "spec.renewTime" if kind == "Lease" => return Some(Noise::Heartbeat),
        _ => {}
    }
    let (parent, name) = path.rsplit_once('.')?;
    let is_condition = parent.starts_with("status.conditions[");
    let moves_with = |wanted: &dyn Fn(&str) -> bool| {
        let fields = diff.changes.iter().filter_map(|other| other.path.strip_prefix(parent)?.strip_prefix('.'));
        fields.into_iter().any(wanted)
    };
    match name {
        "lastHeartbeatTime" if kind == "Node" && is_condition => Some(Noise::Heartbeat),
        "lastTransitionTime" if is_condition && moves_with(&|field| field == "status") => Some(Noise::TransitionTime),
        // Deployments and Jobs have these two. They move at each look at the condition.
        "lastUpdateTime" | "lastProbeTime" if is_condition => {
            let says = moves_with(&|field| matches!(field, "status" | "reason" | "message"));
            Some(if says { Noise::TransitionTime } else { Noise::Heartbeat })
        }
        "observedGeneration" if is_condition || parent == "status" => {
            let (now, before) = (change.new.and_then(json::integer)?, change.old.and_then(json::integer));
            let follows = before.is_none_or(|before| before < now) && generation.is_some_and(|own| now <= own);
            follows.then_some(Noise::ObservedGeneration)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::diff::diff;

    use super::*;

    #[track_caller]
    fn check(kind: &str, old: &str, new: &str, expected: &[(&str, Option<Noise>)], all: Option<Noise>) {
        let diff = diff(old, new).unwrap();
        let reasons = classify(None, kind, &diff, Some(3));
        let found: Vec<_> =
            diff.changes.iter().zip(&reasons).map(|(change, reason)| (&*change.path, *reason)).collect();
        assert_eq!(found, expected);
        assert_eq!(whole(&diff, &reasons), all);
    }

    #[test]
    fn a_watch_names_the_kind_and_a_list_does_not() {
        let (listed, watched) = (r#"{"a":1}"#, r#"{"kind":"Pod","apiVersion":"v1","a":1}"#);
        let version = Some(Noise::Version);
        check("Pod", listed, watched, &[("kind", version), ("apiVersion", version)], version);
        check("Pod", watched, listed, &[("kind", version), ("apiVersion", version)], version);
        check("Any", r#"{"kind":"A"}"#, r#"{"kind":"B"}"#, &[("kind", None)], None);
    }

    #[test]
    fn each_field_has_its_reason() {
        check("Pod", "{}", "{}", &[], Some(Noise::Unchanged));
        let version = ("metadata.resourceVersion", Some(Noise::Version));
        let (old, new) = (r#"{"metadata":{"resourceVersion":"1"}"#, r#"{"metadata":{"resourceVersion":"2"}"#);
        let check = |kind, one: &str, two: &str, field: (&str, Option<Noise>), all| {
            check(kind, &format!("{old},{one}}}"), &format!("{new},{two}}}"), &[version, field], all);
        };
        let (heartbeat, seen) = (Some(Noise::Heartbeat), Some(Noise::ObservedGeneration));
        check(
            "Lease",
            r#""spec":{"renewTime":"1"}"#,
            r#""spec":{"renewTime":"2"}"#,
            ("spec.renewTime", heartbeat),
            heartbeat,
        );
        check("Other", r#""spec":{"renewTime":"1"}"#, r#""spec":{"renewTime":"2"}"#, ("spec.renewTime", None), None);
        let node = |time| format!(r#""status":{{"conditions":[{{"type":"Ready","lastHeartbeatTime":"{time}"}}]}}"#);
        check("Node", &node(1), &node(2), ("status.conditions[Ready].lastHeartbeatTime", heartbeat), heartbeat);
        check("Pod", &node(1), &node(2), ("status.conditions[Ready].lastHeartbeatTime", None), None);
        let status = |seen: u8| format!(r#""status":{{"observedGeneration":{seen}}}"#);
        check("X", &status(2), &status(3), ("status.observedGeneration", seen), seen);
        check("X", &status(3), &status(4), ("status.observedGeneration", None), None);
        check("X", &status(3), &status(2), ("status.observedGeneration", None), None);
        check("Node", r#""status":{"images":[1]}"#, r#""status":{"images":[2]}"#, ("status.images[0]", None), None);
    }

    #[test]
    fn a_transition_time_is_noise_only_with_its_condition() {
        let condition = |status: &str, transition: u8| {
            format!(
                r#"{{"status":{{"conditions":[{{"type":"A","status":"{status}","lastTransitionTime":"{transition}"}}]}}}}"#
            )
        };
        let (status, time) = ("status.conditions[A].status", "status.conditions[A].lastTransitionTime");
        check(
            "X",
            &condition("True", 1),
            &condition("False", 2),
            &[(status, None), (time, Some(Noise::TransitionTime))],
            None,
        );
        check("X", &condition("True", 1), &condition("True", 2), &[(time, None)], None);
    }

    #[test]
    fn the_user_marks_a_path() {
        for (pattern, path, expected) in [
            ("status", "status.phase", true),
            ("status", "statusText", false),
            ("status.phase", "status", false),
            ("status.conditions[*].message", "status.conditions[a.b/c].message", true),
            ("status.conditions[*].message", "status.conditions[Ready].reason", false),
            ("spec.*.image", "spec.web.image", true),
            ("spec.*.image", "spec.web.other.image", false),
            ("*", "spec.x", true),
            ("***", "", true),
            ("a*b*c", "axbxbxc", true),
        ] {
            assert_eq!(covers(pattern, path), expected, "{pattern} {path}");
        }
        let (web, other) = (ObjectKey::new("shop", "web"), ObjectKey::new("shop", "cart"));
        let mut marks = Marks::default();
        let mark = Mark { kind: "Pod".into(), object: None, path: "status.phase".into() };
        assert!(marks.add(mark.clone()) && !marks.add(mark.clone()));
        let diff = diff(r#"{"status":{"phase":1}}"#, r#"{"status":{"phase":2}}"#).unwrap();
        let reason = |marks: &Marks, kind: &str, key: &ObjectKey| classify(Some((marks, key)), kind, &diff, None)[0];
        assert_eq!(reason(&marks, "Pod", &web), Some(Noise::Marked));
        assert_eq!(reason(&marks, "Node", &web), None);
        assert!(marks.remove(&mark) && !marks.remove(&mark) && marks.list().is_empty());
        // Of one object alone.
        let alone = Mark { object: Some(web.clone()), ..mark.clone() };
        assert!(marks.add(alone.clone()));
        assert_eq!((reason(&marks, "Pod", &web), reason(&marks, "Pod", &other)), (Some(Noise::Marked), None));
        for (mark, line, words) in [
            (mark.clone(), "Pod status.phase", "status.phase of every Pod"),
            (alone, "Pod=shop/web status.phase", "status.phase of Pod shop/web alone"),
            (
                Mark { kind: "Node".into(), object: Some(ObjectKey::new("", "n-1")), path: "status.x[a b]".into() },
                "Node=n-1 status.x[a b]",
                "status.x[a b] of Node n-1 alone",
            ),
        ] {
            assert_eq!((&*mark.line(), &*mark.to_string(), Mark::read(line)), (line, words, Some(mark.clone())));
        }
        assert_eq!((Mark::read("broken"), Mark::read("Pod ")), (None, None));
    }
}
