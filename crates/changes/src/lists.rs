//! By which of their fields the items of a list are told apart, and how a path names them.
//!
//! The keys of known lists are those by which the API merges them (`patchMergeKey` and `x-kubernetes-list-map-keys` of
//! its types). Lists that the API replaces as a whole have a key here if their items have a field that names them.

use smallvec::SmallVec;

use crate::raw;

/// A key: the fields whose values together name an item. A field may be a path of two names.
type Key = &'static [&'static [&'static str]];

/// Each list, by the name of its field, and its keys. The first key is used that all items have, each with another
/// value.
const KNOWN: &[(&str, &[Key])] = &[
    ("addresses", &[&[&["type"]], &[&["ip"]]]),
    ("conditions", &[&[&["type"]]]),
    ("endpoints", &[&[&["targetRef", "name"]]]),
    ("hostAliases", &[&[&["ip"]]]),
    ("hostIPs", &[&[&["ip"]]]),
    ("ownerReferences", &[&[&["uid"]]]),
    ("podIPs", &[&[&["ip"]]]),
    (
        "ports",
        &[
            &[&["containerPort"], &["protocol"]],
            &[&["containerPort"]],
            &[&["port"], &["protocol"]],
            &[&["name"]],
            &[&["port"]],
        ],
    ),
    ("taints", &[&[&["key"], &["effect"]]]),
    ("tolerations", &[&[&["key"], &["effect"]], &[&["key"]]]),
    ("topologySpreadConstraints", &[&[&["topologyKey"], &["whenUnsatisfiable"]]]),
    ("volumeDevices", &[&[&["devicePath"]]]),
    ("volumeMounts", &[&[&["mountPath"]]]),
];

/// The keys of every other list: containers, volumes, variables, statuses of containers, and lists of custom resources.
const OTHERS: &[Key] = &[&[&["name"]], &[&["type"]], &[&["uid"]], &[&["ip"]], &[&["key"]], &[&["port"]]];

/// The longest name of an item, in bytes.
const LONGEST: usize = 200;

/// The names of the items of both versions of a list, by the first key that fits.
pub(crate) fn names(list: &str, old: &[&str], new: &[&str]) -> Option<(Vec<String>, Vec<String>)> {
    if !old.iter().chain(new).all(|item| item.starts_with('{')) {
        return None;
    }
    let keys = KNOWN.iter().find(|(known, _)| *known == list).map_or(OTHERS, |(_, keys)| keys);
    keys.iter().find_map(|key| Some((distinct(old, key)?, distinct(new, key)?)))
}

fn distinct(items: &[&str], key: Key) -> Option<Vec<String>> {
    let names: Option<Vec<String>> = items.iter().map(|item| name(item, key)).collect();
    let names = names?;
    let mut sorted: SmallVec<[&String; 8]> = names.iter().collect();
    sorted.sort_unstable();
    let is_distinct = sorted.windows(2).all(|pair| pair[0] != pair[1]);
    drop(sorted);
    is_distinct.then_some(names)
}

fn name(item: &str, key: Key) -> Option<String> {
    let mut name = String::new();
    for path in key {
        let value = raw::value_at(item, path)?;
        if !name.is_empty() {
            name.push('/');
        }
        match raw::string(value) {
            Some(text) => name.push_str(&text),
            None if value.starts_with(['{', '[']) || value == "null" => return None,
            None => name.push_str(value),
        }
        if name.len() > LONGEST {
            return None;
        }
    }
    Some(name)
}

/// Appends the step of a path that leads to a member: `.name`, or `["example.com/x"]` for a name with other characters.
pub(crate) fn push_member(path: &mut String, name: &str) {
    let name = raw::unescaped(name);
    if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$')) {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(&name);
    } else {
        path.push_str(&format!("[{name:?}]"));
    }
}

/// Appends the step of a path that leads to a named item: `[Ready]`, in quotes if the name has quotes or brackets itself.
pub(crate) fn push_item(path: &mut String, name: &str) {
    path.push('[');
    if name.is_empty() || name.contains(|letter: char| matches!(letter, '"' | '[' | ']') || letter.is_control()) {
        path.push_str(&format!("{name:?}"));
    } else {
        path.push_str(name);
    }
    path.push(']');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_named_by_the_first_key_that_fits() {
        let check = |list: &str, items: &[&str], expected: Option<&[&str]>| {
            let found = names(list, items, &[]).map(|(names, _)| names);
            assert_eq!(found, expected.map(|names| names.iter().map(|&name| name.to_owned()).collect()), "{list}");
        };
        check("conditions", &[r#"{"type":"Ready","name":"x"}"#], Some(&["Ready"]));
        check("containers", &[r#"{"name":"a"}"#, r#"{"name":"b"}"#], Some(&["a", "b"]));
        check("containers", &[r#"{"name":"a"}"#, r#"{"name":"a"}"#], None);
        check("ports", &[r#"{"containerPort":80,"protocol":"TCP"}"#], Some(&["80/TCP"]));
        check("ports", &[r#"{"containerPort":80}"#], Some(&["80"]));
        check("ports", &[r#"{"name":"web","port":80}"#], Some(&["web"]));
        check("endpoints", &[r#"{"targetRef":{"name":"p"}}"#], Some(&["p"]));
        check("anything", &[r#"{"key":"k"}"#, "7"], None);
        check("anything", &[r#"{"name":{}}"#], None);
    }

    #[test]
    fn a_path_is_written_as_it_is_read() {
        let mut path = String::new();
        push_member(&mut path, "metadata");
        push_member(&mut path, "annotations");
        push_member(&mut path, "example.com/x\\\"");
        push_item(&mut path, "Ready");
        push_item(&mut path, "a]b");
        assert_eq!(path, r#"metadata.annotations["example.com/x\""][Ready]["a]b"]"#);
    }
}
