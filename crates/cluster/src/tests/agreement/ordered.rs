//! JSON with the order of its keys, and the differences between two such texts.

use std::collections::BTreeSet;
use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};

/// A JSON value whose objects keep the order of the text.
#[derive(Debug, Clone, PartialEq)]
pub enum Ordered {
    Scalar(&'static str, String),
    List(Vec<Ordered>),
    Object(Vec<(String, Ordered)>),
}

impl<'de> Deserialize<'de> for Ordered {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Ordered;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Ordered, E> {
        Ok(Ordered::Scalar("null", "null".to_owned()))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Ordered, E> {
        Ok(Ordered::Scalar("boolean", value.to_string()))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Ordered, E> {
        Ok(Ordered::Scalar("number", value.to_string()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Ordered, E> {
        Ok(Ordered::Scalar("number", value.to_string()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Ordered, E> {
        Ok(Ordered::Scalar("number", value.to_string()))
    }

    fn visit_str<E>(self, value: &str) -> Result<Ordered, E> {
        Ok(Ordered::Scalar("string", value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Ordered, A::Error> {
        let mut all = Vec::new();
        while let Some(one) = list.next_element()? {
            all.push(one);
        }
        Ok(Ordered::List(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Ordered, A::Error> {
        let mut all = Vec::new();
        while let Some(member) = map.next_entry()? {
            all.push(member);
        }
        Ok(Ordered::Object(all))
    }
}

impl Ordered {
    /// Parses a text; numbers that each server counts for itself are left out.
    pub fn parse(text: &str) -> Self {
        let mut value: Self = serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        value.forget_numbers("");
        value
    }

    fn forget_numbers(&mut self, key: &str) {
        match self {
            Self::Scalar(_, text) if key == "resourceVersion" && text.bytes().all(|byte| byte.is_ascii_digit()) => {
                *text = "N".to_owned();
            }
            Self::Scalar(_, text) if key == "remainingItemCount" || (key == "continue" && !text.is_empty()) => {
                *text = "N".to_owned();
            }
            Self::Scalar(_, text) if key == "message" => *text = without_revisions(text),
            Self::Scalar(..) => {}
            Self::List(all) => all.iter_mut().for_each(|one| one.forget_numbers("")),
            Self::Object(all) => all.iter_mut().for_each(|(key, one)| one.forget_numbers(key)),
        }
    }

    /// A member of an object.
    pub fn get(&self, key: &str) -> Option<&Self> {
        let Self::Object(all) = self else { return None };
        all.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// A member of an object, mutable.
    pub fn get_mut(&mut self, key: &str) -> Option<&mut Self> {
        let Self::Object(all) = self else { return None };
        all.iter_mut().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The text of a string member; empty if there is none.
    pub fn text(&self, key: &str) -> &str {
        match self.get(key) {
            Some(Self::Scalar("string", text)) => text,
            _ => "",
        }
    }

    /// The elements of a list.
    pub fn elements(&self) -> &[Self] {
        if let Self::List(all) = self { all } else { &[] }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Scalar(kind, _) => kind,
            Self::List(_) => "list",
            Self::Object(_) => "object",
        }
    }
}

/// Removes the server's own revision from messages such as `too old resource version: 1 (754)` and `current: 1902`.
fn without_revisions(message: &str) -> String {
    let head = ["current: ", " ("].iter().filter_map(|mark| Some(message.find(mark)? + mark.len())).min();
    let Some(at) = head else { return message.to_owned() };
    let rest = message[at..].trim_start_matches(|letter: char| letter.is_ascii_digit());
    format!("{}N{rest}", &message[..at])
}

/// Finds the differences, as lines that begin with the path: members that only one side has, the order of common
/// members, types and values.
pub fn compare(path: &str, theirs: &Ordered, ours: &Ordered, found: &mut BTreeSet<String>) {
    match (theirs, ours) {
        (Ordered::Object(left), Ordered::Object(right)) => {
            let (mut of_left, mut of_right) = (Vec::new(), Vec::new());
            for (key, value) in left {
                match ours.get(key) {
                    Some(other) => {
                        of_left.push(key);
                        compare(&format!("{path}.{key}"), value, other, found);
                    }
                    None => drop(found.insert(format!("{path}.{key}: missing"))),
                }
            }
            for (key, _) in right {
                if theirs.get(key).is_some() {
                    of_right.push(key);
                } else {
                    found.insert(format!("{path}.{key}: ours alone"));
                }
            }
            if of_left != of_right {
                found.insert(format!("{path}: keys in another order"));
            }
        }
        (Ordered::List(left), Ordered::List(right)) => {
            if left.len() != right.len() {
                found.insert(format!("{path}: {} elements for {}", right.len(), left.len()));
            }
            for (one, other) in left.iter().zip(right) {
                compare(&format!("{path}[]"), one, other, found);
            }
        }
        _ if theirs.kind() != ours.kind() => {
            found.insert(format!("{path}: {} for {}", ours.kind(), theirs.kind()));
        }
        (Ordered::Scalar(_, left), Ordered::Scalar(_, right)) if left != right => {
            found.insert(format!("{path}: {right:?} for {left:?}"));
        }
        _ => {}
    }
}

#[test]
fn differences_are_found_where_they_are() {
    let check = |theirs: &str, ours: &str, expected: &[&str]| {
        let mut found = BTreeSet::new();
        compare("", &Ordered::parse(theirs), &Ordered::parse(ours), &mut found);
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{theirs} {ours}");
    };
    check(r#"{"a":1,"b":[{"c":null}]}"#, r#"{"a":1,"b":[{"c":null}]}"#, &[]);
    check(r#"{"a":1,"b":2}"#, r#"{"b":2,"a":1}"#, &[": keys in another order"]);
    check(r#"{"a":1}"#, r#"{"b":1}"#, &[".a: missing", ".b: ours alone"]);
    check(r#"[{"a":1},{"a":2}]"#, r#"[{"a":"1"},{"a":3}]"#, &["[].a: \"3\" for \"2\"", "[].a: string for number"]);
    check("[1]", "[]", &[": 0 elements for 1"]);
    check(r#"{"resourceVersion":"5"}"#, r#"{"resourceVersion":"6"}"#, &[]);
    check(r#"{"message":"x: 1 (5)"}"#, r#"{"message":"x: 1 (6)"}"#, &[]);
    check(r#"{"message":"x: 1 (5)"}"#, r#"{"message":"x: 2 (5)"}"#, &[".message: \"x: 2 (N)\" for \"x: 1 (N)\""]);
}
