//! The keys of lists: the fields by which their items are matched, the names of items in paths, and a search among names.
//!
//! The keys of known lists are those by which the API merges them (`patchMergeKey` and `x-kubernetes-list-map-keys` of
//! its types). Lists that the API replaces as a whole have a key here if their items have a field that names them.

use std::borrow::Cow;

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use kubechurn_client::api::sort::{sort, sort_by};
use kubechurn_client::json::{self, Cursor};

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

/// How many names are looked through one by one. More are sorted.
const FEW: usize = 16;

/// The names of the items of a list.
pub(crate) type Names<'a> = SmallVec<[Cow<'a, str>; 8]>;

/// The names of the items of both versions of a list, by the first key that fits. Where every key leaves items of equal names,
/// each of these has its number among them too: `Ready#1`, `Ready#2`. Both are the whole lists.
pub(crate) fn names<'a>(list: &str, old: &[&'a str], new: &[&'a str]) -> Option<(Names<'a>, Names<'a>)> {
    if !old.iter().chain(new).all(|item| item.starts_with('{')) {
        return None;
    }
    let keys = KNOWN.iter().find(|(known, _)| *known == list).map_or(OTHERS, |(_, keys)| keys);
    let mut equal = None;
    for key in keys {
        let Some((old, new)) = named(old, key).and_then(|names| Some((names, named(new, key)?))) else { continue };
        if are_different(&old) && are_different(&new) {
            return Some((old, new));
        }
        equal = equal.or(Some((old, new)));
    }
    let (old, new) = equal?;
    let twice: FxHashSet<Cow<'a, str>> = repeated(&old).chain(repeated(&new)).collect();
    let (old, new) = (numbered(old, &twice), numbered(new, &twice));
    // An item may itself be called `Ready#1`.
    (are_different(&old) && are_different(&new)).then_some((old, new))
}

fn named<'a>(items: &[&'a str], key: Key) -> Option<Names<'a>> {
    items.iter().map(|item| name(item, key)).collect()
}

/// The names that items of one list share.
fn repeated<'n, 'a>(names: &'n Names<'a>) -> impl Iterator<Item = Cow<'a, str>> + use<'n, 'a> {
    let mut seen = FxHashSet::default();
    names.iter().filter(move |name| !seen.insert(&***name)).cloned()
}

fn numbered<'a>(names: Names<'a>, twice: &FxHashSet<Cow<'a, str>>) -> Names<'a> {
    let mut counts: FxHashMap<&str, usize> = FxHashMap::default();
    let mut number = |name: Cow<'a, str>| match twice.get(&name) {
        Some(shared) => {
            let count = counts.entry(shared).or_default();
            *count += 1;
            Cow::Owned(format!("{name}#{count}"))
        }
        None => name,
    };
    names.into_iter().map(&mut number).collect()
}

fn name<'a>(item: &'a str, key: Key) -> Option<Cow<'a, str>> {
    let mut name = Cow::Borrowed("");
    for path in key {
        let value = path.iter().try_fold(item, |object, name| first_member(object, name))?;
        let part = match json::unescaped(value) {
            Some(text) => text,
            None if value.starts_with(['{', '[']) || value == "null" => return None,
            None => Cow::Borrowed(value),
        };
        name = if name.is_empty() { part } else { Cow::Owned(format!("{name}/{part}")) };
        if name.len() > LONGEST {
            return None;
        }
    }
    Some(name)
}

/// The value of an object's member. The rest is not read: an item that has two members of one name is refused when it is
/// compared.
fn first_member<'a>(object: &'a str, wanted: &str) -> Option<&'a str> {
    let mut cursor = Cursor::new(object);
    cursor.pass(b'{')?;
    let mut is_first = true;
    while let Some(name) = cursor.name(is_first)? {
        let value = cursor.skimmed()?;
        if name == wanted {
            return Some(value);
        }
        is_first = false;
    }
    None
}

/// Whether no two names are the same. Where there are few, that is mostly seen by six bits of each, and else by sorting them.
pub(crate) fn are_different(names: &[impl AsRef<str>]) -> bool {
    let mut seen = 0_u64;
    let is_new = |name: &str| {
        let byte = |at: usize| u32::from(name.as_bytes().get(at).copied().unwrap_or_default());
        let bit = (name.len() as u32 * 7 + byte(0) * 3 + byte(name.len() / 2)) % u64::BITS;
        let is_new = seen & (1 << bit) == 0;
        seen |= 1 << bit;
        is_new
    };
    if names.iter().map(AsRef::as_ref).all(is_new) {
        return true;
    }
    let mut names: SmallVec<[&str; 12]> = names.iter().map(AsRef::as_ref).collect();
    sort(&mut names);
    names.windows(2).all(|pair| pair[0] != pair[1])
}

/// Finds names among others that are all different.
pub(crate) struct Places<'a, N> {
    names: &'a [N],
    /// The places in the order of the names, where they are many.
    sorted: Vec<usize>,
    /// Where the next name is expected: two versions mostly have theirs in one order.
    next: usize,
}

impl<'a, N: AsRef<str>> Places<'a, N> {
    /// The places of these names; `None` if two are the same.
    pub(crate) fn of(names: &'a [N]) -> Option<Places<'a, N>> {
        let mut sorted = Vec::new();
        if names.len() > FEW {
            sorted.extend(0..names.len());
            sort_by(&mut sorted, |&one: &usize, &two| names[one].as_ref().cmp(names[two].as_ref()));
        }
        are_different(names).then_some(Places { names, sorted, next: 0 })
    }

    /// The place of a name.
    pub(crate) fn find(&mut self, wanted: &str) -> Option<usize> {
        let name = |at: usize| self.names.get(at).map(AsRef::as_ref);
        let found = match () {
            () if name(self.next) == Some(wanted) => Some(self.next),
            () if self.names.len() <= FEW => self.names.iter().position(|name| name.as_ref() == wanted),
            () => {
                let found = self.sorted.binary_search_by(|&at| name(at).cmp(&Some(wanted)));
                found.ok().map(|found| self.sorted[found])
            }
        };
        self.next = found.map_or(self.next, |found| found + 1);
        found
    }
}

/// Appends the step of a path that leads to a member: `.name`, or `["example.com/x"]` for a name with other characters.
pub(crate) fn push_member(path: &mut String, name: &str) {
    if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'$')) {
        if !path.is_empty() {
            path.push('.');
        }
        path.push_str(name);
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
            assert_eq!(found, expected.map(|names| names.iter().map(|&name| name.into()).collect()), "{list}");
        };
        check("conditions", &[r#"{"type":"Ready","name":"x"}"#], Some(&["Ready"]));
        check("containers", &[r#"{"name":"a"}"#, r#"{"name":"b"}"#], Some(&["a", "b"]));
        check("containers", &[r#"{"name":"a"}"#, r#"{"name":"a"}"#], Some(&["a#1", "a#2"]));
        check("conditions", &[r#"{"type":"A"}"#, r#"{"type":"B"}"#, r#"{"type":"A"}"#], Some(&["A#1", "B", "A#2"]));
        check("containers", &[r#"{"name":"a"}"#, r#"{"name":"a"}"#, r#"{"name":"a#1"}"#], None);
        // Another key may distinguish them.
        let ports = [r#"{"containerPort":80,"name":"a"}"#, r#"{"containerPort":80,"name":"b"}"#];
        check("ports", &ports, Some(&["a", "b"]));
        check("ports", &[r#"{"containerPort":80,"protocol":"TCP"}"#], Some(&["80/TCP"]));
        check("ports", &[r#"{"containerPort":80}"#], Some(&["80"]));
        check("ports", &[r#"{"name":"web","port":80}"#], Some(&["web"]));
        check("endpoints", &[r#"{"targetRef":{"name":"p"}}"#], Some(&["p"]));
        check("anything", &[r#"{"key":"k"}"#, "7"], None);
        check("anything", &[r#"{"name":{}}"#], None);
    }

    #[test]
    fn names_are_found_in_any_order_whether_few_or_many() {
        for count in [0, 1, FEW, FEW + 1, 500] {
            let names: Vec<String> = (0..count).map(|at| format!("n{}", at * 7919 % 1_000)).collect();
            let mut places = Places::of(&names).unwrap();
            for at in (0..count).chain((0..count).rev()).chain((0..count).step_by(3)) {
                assert_eq!(places.find(&names[at]), Some(at), "{at} of {count}");
                assert_eq!(places.find("n"), None);
            }
            let twice: Vec<&str> = names.iter().chain(names.first()).map(String::as_str).collect();
            assert!(count == 0 || Places::of(&twice).is_none(), "{count}");
        }
    }

    #[test]
    fn a_path_is_written_as_it_is_read() {
        let mut path = String::new();
        push_member(&mut path, "metadata");
        push_member(&mut path, "annotations");
        push_member(&mut path, "example.com/x\"");
        push_item(&mut path, "Ready");
        push_item(&mut path, "a]b");
        assert_eq!(path, r#"metadata.annotations["example.com/x\""][Ready]["a]b"]"#);
    }
}
