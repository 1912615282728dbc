//! The filter of the feed and of notifications: what the terms of its [`grammar`] match in a change.
//!
//! A term without a part is looked for in kind, namespace, name, and in the paths and values of the fields. A term about a
//! table's column takes no change away, because a change has no columns.

pub mod grammar;
pub mod pattern;

use crate::filter::grammar::{Part, Term};
use crate::filter::pattern::FilterError;
use crate::line::Line;
use crate::writer::{InferredWriter, NamedWriter};

/// The kind by which notes are found.
const NOTE: &str = "Note";

/// A filter of changes.
#[derive(Clone, Default, PartialEq)]
pub struct Filter {
    terms: Vec<Term>,
    elsewhere: Vec<&'static str>,
    /// The kinds whose changes are let through, each with the name of its cluster; `None` is all.
    kinds: Option<Vec<(&'static str, &'static str)>>,
}

impl Filter {
    /// Reads what the user wrote.
    ///
    /// # Errors
    ///
    /// When a regular expression cannot be read.
    pub fn parse(text: &str) -> Result<Filter, FilterError> {
        Filter::among(text, &|_| None)
    }

    /// Reads what the user wrote, where `column` knows the titles of tables' columns.
    ///
    /// # Errors
    ///
    /// When a regular expression cannot be read.
    pub fn among(text: &str, column: &dyn Fn(&str) -> Option<&'static str>) -> Result<Filter, FilterError> {
        let part_of = |title: &str| Part::named(title).or_else(|| column(title).map(Part::Elsewhere));
        let mut terms = grammar::parse(text, &part_of)?;
        let elsewhere = grammar::take_elsewhere(&mut terms);
        Ok(Filter { terms, elsewhere, kinds: None })
    }

    /// The same filter, which lets only changes of these kinds through, each with the name of its cluster. Notes are of all kinds.
    pub fn of_kinds(self, kinds: Vec<(&'static str, &'static str)>) -> Filter {
        Filter { kinds: Some(kinds), ..self }
    }

    /// Whether it lets only changes of some kinds through.
    pub fn is_of_kinds(&self) -> bool {
        self.kinds.is_some()
    }

    /// The columns that the user wrote about, none of which a change has.
    pub fn elsewhere(&self) -> &[&'static str] {
        &self.elsewhere
    }

    /// Whether the user wrote nothing. Kinds may be left out all the same.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether the filter asks for states.
    pub fn asks_for_status(&self) -> bool {
        self.terms.iter().any(|term| term.part == Some(Part::Status))
    }

    /// Whether the filter asks for who wrote.
    pub fn asks_for_writers(&self) -> bool {
        self.terms.iter().any(|term| term.part == Some(Part::By))
    }

    /// Whether the filter asks for what only a change has, and no object.
    pub fn asks_for_changes(&self) -> bool {
        let is_of_change = |part| matches!(part, Part::Path | Part::By | Part::Type | Part::Reason);
        self.terms.iter().any(|term| term.part.is_some_and(is_of_change))
    }

    /// Whether a note is let through: by its words, or as one of the kind `Note`.
    pub fn matches_note(&self, text: &str) -> bool {
        let is_found = |term: &Term| match term.part {
            None => term.pattern.is_in(NOTE) || term.pattern.is_in(text),
            Some(Part::Kind) => term.pattern.is_in(NOTE),
            Some(_) => false,
        };
        self.terms.iter().all(|term| is_found(term) != term.excludes)
    }

    /// Whether a change is let through. Of the fields of a change only those are searched that are no noise.
    pub fn matches(&self, line: &Line) -> bool {
        let is_its = |(kind, cluster): &(&str, &str)| *kind == &*line.kind && *cluster == line.cluster;
        if self.kinds.as_ref().is_some_and(|kinds| !kinds.iter().any(is_its)) {
            return false;
        }
        self.terms.iter().all(|term| is_found(term, line) != term.excludes)
    }
}

impl std::fmt::Debug for Filter {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Filter of {} terms", self.terms.len())
    }
}

fn is_found(term: &Term, line: &Line) -> bool {
    let Term { part, pattern, .. } = term;
    let mut paths = line.fields.iter().map(|field| &field.path).chain(&line.other_paths);
    match part {
        Some(Part::Path) => paths.any(|path| pattern.is_in_path(path)),
        Some(Part::By) => line.named_writers().any(|writer| match writer {
            NamedWriter::User(_) => pattern.is_in(&writer.name()) || pattern.is_in(&writer.words()),
            NamedWriter::Manager(InferredWriter { manager, subresource, .. }) => {
                pattern.is_in(manager) || (!subresource.is_empty() && pattern.is_in(subresource))
            }
        }),
        Some(Part::Type) => {
            let is_warning = line.reason.as_ref().is_some_and(|reason| reason.is_warning);
            pattern.is_in(&format!("{:?}", line.delta_type)) || (is_warning && pattern.is_in("Warning"))
        }
        Some(Part::Kind) => pattern.is_in(&line.kind),
        Some(Part::Cluster) => pattern.is_in(line.cluster),
        Some(Part::Namespace) => pattern.is_in(&line.key.namespace),
        Some(Part::Name) => pattern.is_in(&line.key.name),
        Some(Part::Owner) => line.owners.iter().any(|owner| pattern.is_in(&format!("{}/{}", owner.kind, owner.name))),
        Some(Part::Reason) => line.reason.as_ref().is_some_and(|reason| pattern.is_in(&reason.word)),
        Some(Part::Status) => {
            (line.is_failing && pattern.is_in("failing")) || line.states().any(|(_, word)| pattern.is_in(word))
        }
        Some(Part::Column(_) | Part::Elsewhere(_)) => false,
        None => {
            let values = || line.fields.iter().flat_map(|field| [&field.old, &field.new]).flatten();
            pattern.is_in(&line.kind)
                || pattern.is_in_key(&line.key)
                || paths.any(|path| pattern.is_in(path))
                || values().any(|value| pattern.is_in(value.kept()))
        }
    }
}

#[cfg(test)]
mod tests {
    use kubechurn_client::api::object::ObjectKey;
    use kubechurn_client::api::uid::Uid;
    use kubechurn_client::cache::delta::DeltaType;

    use crate::line::ReceivedChange;
    use crate::noise::Marks;

    use super::*;

    #[test]
    fn an_event_is_found_by_its_reason_its_type_and_its_object() {
        let event = r#"{"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","name":"cart-1","uid":"p"},
            "type":"Warning","reason":"BackOff","message":"again"}"#;
        let normal = event.replace("Warning", "Normal");
        let check = |event: &str, text: &str, expected: bool| {
            let (key, uid) = (ObjectKey::new("shop", "e"), Uid::new("u"));
            let (old, new) = (None, Some(event));
            let delta_type = DeltaType::Added;
            let received = ReceivedChange { seq: 1, at: 0.0, kind: "Event".into(), key, uid, delta_type, old, new };
            let line = Line::new(received, &Marks::default());
            assert_eq!(Filter::parse(text).unwrap().matches(&line), expected, "{text}");
        };
        check(event, "reason:backoff type:warning owner:pod/cart-1 kind:event", true);
        check(event, r"owner:/^Pod\/cart-1$/ reason:/^BackOff$/", true);
        check(event, "reason:Killing", false);
        check(event, "cluster:west", false);
        check(event, "!cluster:west", true);
        check(event, "owner:ReplicaSet", false);
        check(&normal, "type:warning", false);
        check(&normal, "type:added reason:Back", true);
        // That a container is ended is ordinary life.
        check(event, "status:failing", true);
        check(&normal.replace("BackOff", "Killing"), "status:failing", false);
    }

    #[test]
    fn a_column_takes_no_change_away_and_is_named() {
        let column = |title: &str| grammar::is_same_title("RESTARTS", title).then_some("RESTARTS");
        let filter = |text: &str| Filter::among(text, &column).unwrap();
        let (key, uid, delta_type) = (ObjectKey::new("shop", "cart"), Uid::new("u"), DeltaType::Added);
        let (old, new, kind) = (None, Some(r#"{"spec":{}}"#), "Pod".into());
        let received = ReceivedChange { seq: 1, at: 0.0, kind, key, uid, delta_type, old, new };
        let line = Line::new(received, &Marks::default());
        assert!(filter("restarts:3 cart").matches(&line) && !filter("restarts:3 web").matches(&line));
        assert_eq!(filter("restarts:3 ns:shop RESTARTS:!4").elsewhere(), ["RESTARTS"]);
        assert!(filter("by:x").asks_for_changes() && !filter("kind:x status:y").asks_for_changes());
    }

    #[test]
    fn what_fails_is_found_by_the_state_that_a_change_brings() {
        let node = |status: &str| {
            format!(
                r#"{{"metadata":{{"name":"n"}},"status":{{"conditions":[{{"type":"Ready","status":"{status}"}}]}}}}"#
            )
        };
        let line = |old: &str, new: &str| {
            let (key, uid, delta_type) = (ObjectKey::new("", "n"), Uid::new("u"), DeltaType::Updated);
            let (old, new, kind) = (node(old), node(new), "Node".into());
            let (old, new) = (Some(&*old), Some(&*new));
            Line::new(ReceivedChange { seq: 1, at: 0.0, kind, key, uid, delta_type, old, new }, &Marks::default())
        };
        let (lost, back) = (line("True", "Unknown"), line("Unknown", "True"));
        let filter = |text: &str| Filter::parse(text).unwrap();
        assert!(filter("status:failing").matches(&lost) && !filter("status:failing").matches(&back));
        assert!(filter("status:unknown").matches(&lost) && !filter("status:unknown").matches(&back));
        assert!(filter("status:!failing").matches(&back) && filter("status:x").asks_for_status());
        // Something else began with it.
        assert!(filter("status:failing").matches(&Line { is_failing: true, ..back }));
    }

    #[test]
    fn a_change_is_found_by_its_words() {
        let object = |replicas: u8, time: u8| {
            let entry =
                format!(r#"{{"manager":"kubectl-scale","operation":"Update","subresource":"scale","time":"{time}"}}"#);
            let managed = format!(r#"{{"generation":{time},"managedFields":[{entry}]}}"#);
            format!(r#"{{"metadata":{managed},"spec":{{"replicas":{replicas}}},"status":{{"phase":"Ready"}}}}"#)
        };
        let (old, new) = (object(6, 1), object(4, 2));
        let key = ObjectKey::new("shop", "cart");
        let (uid, delta_type) = (Uid::new("u"), DeltaType::Updated);
        let received = ReceivedChange {
            seq: 1,
            at: 0.0,
            kind: "Deployment".into(),
            key,
            uid,
            delta_type,
            old: Some(&old),
            new: Some(&new),
        };
        let line = Line::new(received, &Marks::default());
        for (text, expected) in [
            ("", true),
            ("  ! path: by:! ", true),
            ("shop/cart", true),
            ("op/CA", true),
            ("cart/shop", false),
            ("path:spec.replicas", true),
            ("path:spec", true),
            ("path:status", false),
            ("path:metadata", false),
            ("!path:spec", false),
            ("by:kubectl", true),
            ("by:scale", true),
            ("by:/^scale/", true),
            ("by:kubelet", false),
            ("!by:kubelet", true),
            ("by:!kubelet", true),
            ("!by:!kubelet", false),
            ("by:!kubectl", false),
            ("type:updated", true),
            ("type:deleted", false),
            ("kind:deploy", true),
            ("kind:/^deploy$/", false),
            ("ns:shop NAME:CART", true),
            ("ns:cart", false),
            ("cart replicas 6", true),
            ("cart ready", false),
            ("a:b", false),
            ("!a:b", true),
            ("path:spec by:kubectl ns:shop type:upd", true),
            ("path:spec by:kubectl ns:shop type:del", false),
        ] {
            assert_eq!(Filter::parse(text).unwrap().matches(&line), expected, "{text}");
        }
        assert!(Filter::parse(" by: ").unwrap().is_empty() && !Filter::parse("x").unwrap().is_empty());
        let open = Filter::parse("x !by:/kube let").unwrap_err().to_string();
        assert_eq!(open, "the regular expression !by:/kube let has no end: close it with a /");
    }
}
