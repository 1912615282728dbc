//! Follows one field from a version of an object to the version before it.
//!
//! The field is named by a JSON pointer (RFC 6901). An item of a list is the same item in both versions if both have the
//! same name by the rule of [`diff`](crate::diff), wherever the item stands in each list. Items without names are matched
//! by their places, and items of equal names by their order, after the equal items at both ends of the list.

use crate::lists;
use kubechurn_client::json;

/// The most steps of a pointer that are followed: as deep as the page's JSON reader goes.
pub const MOST: usize = 128;

/// A field of a version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field<'a> {
    /// The JSON pointer that leads to the field in that version.
    pub pointer: String,
    /// The value, as JSON: a slice of the text.
    pub value: &'a str,
}

/// What a field is in two versions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Followed<'a> {
    /// The value in the newer version, as JSON: a slice of the text.
    pub new: &'a str,
    /// The field in the older version; `None` if the field is not there.
    pub old: Option<Field<'a>>,
}

/// Appends a step to a JSON pointer: the name of a member, or the place of an item.
pub fn push(pointer: &mut String, step: &str) {
    pointer.push('/');
    for letter in step.chars() {
        match letter {
            '~' => pointer.push_str("~0"),
            '/' => pointer.push_str("~1"),
            letter => pointer.push(letter),
        }
    }
}

fn steps(pointer: &str) -> Option<Vec<String>> {
    let steps = pointer.split('/').skip(1).take(MOST + 1).map(|step| step.replace("~1", "/").replace("~0", "~"));
    let steps: Vec<String> = steps.collect();
    (steps.len() <= MOST && (pointer.is_empty() || pointer.starts_with('/'))).then_some(steps)
}

/// Finds in `old` the field to which `pointer` leads in `new`. `None` if the pointer leads nowhere in `new`, or if a text
/// cannot be followed as far as that.
pub fn follow<'a>(pointer: &str, new: &'a str, old: &'a str) -> Option<Followed<'a>> {
    let (mut new, mut old) = (new.trim_ascii(), Some(old.trim_ascii()));
    let (mut at, mut list) = (String::with_capacity(pointer.len()), String::new());
    for step in steps(pointer)? {
        if new.starts_with('[') {
            let place: usize = step.parse().ok()?;
            let after = json::items(new)?;
            new = after.get(place)?;
            let before = match old.filter(|old| old.starts_with('[')) {
                Some(old) => json::items(old)?,
                None => json::Items::new(),
            };
            let found = same_item(&list, (&before, &after), place);
            old = found.and_then(|found| before.get(found).copied());
            push(&mut at, &found.unwrap_or(place).to_string());
        } else {
            new = member(new, &step)??;
            old = match old.filter(|old| old.starts_with('{')) {
                Some(old) => member(old, &step)?,
                None => None,
            };
            push(&mut at, &step);
            list = step;
        }
    }
    Some(Followed { new, old: old.map(|value| Field { pointer: at, value }) })
}

/// The member of an object. `None` if the object cannot be followed or has two members of that name, and `Some(None)` if it
/// has none.
fn member<'a>(object: &'a str, name: &str) -> Option<Option<&'a str>> {
    let members = json::members(object)?;
    let mut found = members.iter().filter(|member| member.name == name);
    match (found.next(), found.next()) {
        (found, None) => Some(found.map(|member| member.value)),
        (_, Some(_)) => None,
    }
}

/// The place in the older list of the item at a place of the newer one.
fn same_item(list: &str, (before, after): (&[&str], &[&str]), place: usize) -> Option<usize> {
    let start = before.iter().zip(after).take_while(|(old, new)| old == new).count();
    let (old, new) = (&before[start..], &after[start..]);
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    if place < start {
        Some(place)
    } else if place >= after.len() - end {
        Some(place + before.len() - after.len())
    } else if let Some((old, new)) = lists::names(list, before, after) {
        let name = new.get(place)?;
        old.iter().position(|old| old == name).filter(|at| (start..before.len() - end).contains(at))
    } else {
        (place < before.len() - end).then_some(place)
    }
}

/// The path of a field as a [`diff`](crate::diff) writes it, such as `spec.template.spec.containers[web].image`. `None` if
/// the pointer leads nowhere in `text`.
pub fn path(pointer: &str, text: &str) -> Option<String> {
    let (mut text, mut path, mut list) = (text.trim_ascii(), String::new(), String::new());
    for step in steps(pointer)? {
        if text.starts_with('[') {
            let place: usize = step.parse().ok()?;
            let items = json::items(text)?;
            let names = lists::names(&list, &[], &items).map(|(_, names)| names);
            let name = names.and_then(|mut names| (place < names.len()).then(|| names.swap_remove(place)));
            lists::push_item(&mut path, &name.unwrap_or(step.into()));
            text = items.get(place)?;
        } else {
            let members = json::members(text)?;
            let member = members.iter().find(|member| member.name == step)?;
            lists::push_member(&mut path, &member.name);
            text = member.value;
            list = member.name.clone().into_owned();
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_followed_to_where_it_stood_before() {
        let check = |pointer: &str, new: &str, old: &str, expected: Option<(&str, Option<(&str, &str)>)>| {
            let found = follow(pointer, new, old);
            let found = found
                .as_ref()
                .map(|found| (found.new, found.old.as_ref().map(|old| (old.pointer.as_str(), old.value))));
            assert_eq!(found, expected, "{pointer} from {new} to {old}");
        };
        check("/a/b", r#"{"a":{"b":1}}"#, r#"{ "a" : {"x":0,"b":2}}"#, Some(("1", Some(("/a/b", "2")))));
        check("/a/b", r#"{"a":{"b":1}}"#, r#"{"a":{}}"#, Some(("1", None)));
        check("/a/b", r#"{"a":{"b":1}}"#, r#"{"a":[7]}"#, Some(("1", None)));
        check("/a/b", r#"{"a":{"b":1}}"#, r#"{"c":7}"#, Some(("1", None)));
        check("", "7", "8", Some(("7", Some(("", "8")))));
        // An item is found by its key, wherever it stands.
        let (new, old) = (r#"{"list":[{"name":"a","v":1},{"name":"b","v":2}]}"#, r#"{"list":[{"name":"b","v":3}]}"#);
        check("/list/1/v", new, old, Some(("2", Some(("/list/0/v", "3")))));
        check("/list/0/v", new, old, Some(("1", None)));
        // Without keys, items are found by their places, after what is equal at both ends.
        check("/l/2", r#"{"l":["x","a","b"]}"#, r#"{"l":["a","b"]}"#, Some((r#""b""#, Some(("/l/1", r#""b""#)))));
        check("/l/0", r#"{"l":["x","a","b"]}"#, r#"{"l":["a","b"]}"#, Some((r#""x""#, None)));
        check("/l/0", r#"{"l":["x","a"]}"#, r#"{"l":["y","a"]}"#, Some((r#""x""#, Some(("/l/0", r#""y""#)))));
        // Names with the letters of a pointer, and names with escapes.
        let name = r#"{"a/b~c":{"é\"":1}}"#;
        check("/a~1b~0c/é\"", name, r#"{"a/b~c":{"\u00e9\"":2}}"#, Some(("1", Some(("/a~1b~0c/é\"", "2")))));
        // What leads nowhere, and what cannot be followed.
        for pointer in ["/x", "/list/2", "/list/-1", "/list/x", "/list/0/v/w", "x", &"/a".repeat(MOST + 1)] {
            check(pointer, new, old, None);
        }
        check("/a", "{", "{}", None);
        check("/a", r#"{"a":1,"a":2}"#, "{}", None);
        check("/a", r#"{"a":1}"#, r#"{"a"}"#, None);
    }

    #[test]
    fn a_pointer_is_read_as_it_is_pushed_and_shown_as_a_path() {
        let mut pointer = String::new();
        ["metadata", "annotations", "example.com/~1"].iter().for_each(|step| push(&mut pointer, step));
        assert_eq!(pointer, "/metadata/annotations/example.com~1~01");
        let text = r#"{"metadata":{"annotations":{"example.com/~1":"x"}},"containers":[{"name":"web","args":["-v"]}]}"#;
        assert_eq!(path(&pointer, text).as_deref(), Some(r#"metadata.annotations["example.com/~1"]"#));
        assert_eq!(path("/containers/0/args/0", text).as_deref(), Some("containers[web].args[0]"));
        assert_eq!(path("/containers/1", text), None);
        assert_eq!(follow(&pointer, text, text).map(|found| found.new), Some("\"x\""));
    }
}
