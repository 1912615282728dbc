//! Which of the fields that are asked for differ between two rollouts.

use kubechurn_changes::diff;
use kubechurn_changes::short_path::short;
use kubechurn_changes::value::Value;
use kubechurn_client::json;

/// The most fields that are named.
const MOST: usize = 8;
/// What nobody asks for: the label by which a ReplicaSet's Pods are found, and what a ControllerRevision has for its own use.
const UNASKED: [&str; 2] = ["metadata.labels.pod-template-hash", "$patch"];
/// How deep fields are counted.
const DEEPEST: usize = 60;

/// A field that differs.
#[derive(Clone, Debug, PartialEq)]
pub struct Differs {
    /// The path in short, and whole.
    pub short: String,
    pub path: String,
    /// The values.
    pub old: String,
    pub new: String,
}

/// What was compared.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compared {
    /// How many fields are asked for.
    pub all: usize,
    /// Those that differ, and how many more do.
    pub differ: Vec<Differs>,
    pub more: usize,
}

/// How many values stand at the ends of a JSON text.
fn leaves(value: &str, depth: usize) -> usize {
    let below: Vec<&str> = match json::first(value) {
        b'{' => json::members(value).unwrap_or_default().iter().map(|member| member.value).collect(),
        b'[' => json::items(value).unwrap_or_default().into_iter().collect(),
        _ => Vec::new(),
    };
    if below.is_empty() || depth == 0 {
        return 1;
    }
    below.into_iter().map(|value| leaves(value, depth - 1)).sum()
}

/// Compares what two versions ask for at a path. `None` where one of them cannot be read. `name` is that of the object.
pub fn compare((at, old, new): (&str, &str, &str), name: &str) -> Option<Compared> {
    let found = diff::diff(old, new).ok()?;
    let mut compared = Compared { all: leaves(new, DEEPEST), ..Compared::default() };
    for change in found.changes.iter().filter(|change| !UNASKED.contains(&&*change.path)) {
        let of = |value: Option<&str>| value.map_or(String::from("none"), |value| Value::new(value).to_string());
        if change.new.is_none() {
            compared.all += leaves(change.old.unwrap_or("0"), DEEPEST);
        }
        if compared.differ.len() == MOST {
            compared.more += 1;
            continue;
        }
        compared.differ.push(Differs {
            short: short(&format!("{at}{}", change.path), name),
            path: format!("{at}{}", change.path),
            old: of(change.old),
            new: of(change.new),
        });
    }
    compared.more += found.more;
    Some(compared)
}

/// Whether two templates are the same but for the label by which Pods are found.
pub fn are_same(one: &str, other: &str) -> bool {
    one == other
        || compare(("", one, other), "").is_some_and(|compared| compared.differ.is_empty() && compared.more == 0)
}

impl Compared {
    /// How many fields differ.
    pub fn count(&self) -> usize {
        self.differ.len() + self.more
    }

    /// The same in a sentence.
    pub fn sentence(&self) -> String {
        let all = match self.all {
            1 => String::from("Of 1 field that is asked for"),
            all => format!("Of {all} fields that are asked for"),
        };
        let names: Vec<&str> = self.differ.iter().take(3).map(|one| &*one.short).collect();
        let more = self.count().saturating_sub(names.len());
        let names = names.join(", ") + &if more > 0 { format!(" and {more} more") } else { String::new() };
        match self.count() {
            0 => format!("{all}, none differs."),
            1 => format!("{all}, 1 differs: {names}."),
            count => format!("{all}, {count} differ: {names}."),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_at_their_ends() {
        for (text, expected) in [("1", 1), ("{}", 1), (r#"{"a":1,"b":{"c":2,"d":[3,4]}}"#, 4), ("[", 1)] {
            assert_eq!(leaves(text, DEEPEST), expected, "{text}");
        }
        let (old, new) = (r#"{"image":"a:1","port":80,"old":{"x":1,"y":2}}"#, r#"{"image":"a:2","port":80}"#);
        let compared = compare(("", old, new), "a").unwrap_or_default();
        assert_eq!((compared.all, compared.count()), (4, 2), "{compared:?}");
        let one = compare(("", r#"{"image":"a:1","port":80}"#, new), "a").unwrap_or_default();
        assert_eq!(one.sentence(), "Of 2 fields that are asked for, 1 differs: image.");
        assert_eq!((&*one.differ[0].old, &*one.differ[0].new), ("a:1", "a:2"));
    }

    #[test]
    fn the_hash_of_a_template_is_nobody_s_wish() {
        let with = r#"{"metadata":{"labels":{"app":"a","pod-template-hash":"7"}},"spec":{}}"#;
        let without = r#"{"metadata":{"labels":{"app":"a"}},"spec":{}}"#;
        assert!(are_same(without, with) && are_same(with, without));
        assert!(!are_same(without, r#"{"metadata":{"labels":{"app":"b"}},"spec":{}}"#));
    }
}
