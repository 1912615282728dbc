//! What a change says in parts, so that a view can show each part by what it is.

use kubechurn_client::json;

use crate::paths;
use crate::value::Value;

/// Which values are cut to what differs: those longer than this, in bytes, and images of any length.
const SHORT: usize = 24;
/// Where a value may be cut.
const SEPARATORS: [char; 5] = ['/', ':', '@', ',', ' '];

/// What a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PartKind {
    /// The path of a field.
    Path,
    /// How many objects did what follows.
    Count,
    /// A value that is no more.
    Old,
    /// A value that is there now.
    New,
    /// What stands between two values.
    Arrow,
    /// How many more fields there are.
    More,
    /// Any other word.
    Plain,
}

/// A part. All parts one after the other are the sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Its text, with the spaces around it.
    pub text: String,
    /// What it is.
    pub kind: PartKind,
}

impl Part {
    pub(crate) fn new(text: impl Into<String>, kind: PartKind) -> Part {
        Part { text: text.into(), kind }
    }
}

/// How many more fields there are, if there are any: ` + 3 more fields`.
pub(crate) fn more(count: usize) -> Option<Part> {
    let plural = if count == 1 { "" } else { "s" };
    (count > 0).then(|| Part::new(format!(" + {count} more field{plural}"), PartKind::More))
}

/// All parts one after the other.
pub fn sentence(parts: &[Part]) -> String {
    parts.iter().map(|part| part.text.as_str()).collect()
}

/// The words for the values of a field, one by one. Where `is_cut` says so, only what differs of long ones.
pub fn words(path: &str, values: &[Option<&Value>], is_cut: bool) -> Vec<String> {
    let known: Vec<&Value> = values.iter().flatten().copied().collect();
    let texts: Vec<&str> = known.iter().map(|value| value.kept()).collect();
    let is_long = path.ends_with(".image") || texts.iter().any(|text| text.len() > SHORT);
    let mut parts = if is_cut && is_long { differing(&texts) } else { texts.clone() }.into_iter();
    // Values of which the same letters are kept are distinguished by their lengths.
    let is_alike =
        is_cut && texts.windows(2).all(|pair| pair[0] == pair[1]) && known.windows(2).any(|pair| pair[0] != pair[1]);
    let word = |value: &Option<&Value>| match (value, value.and_then(|_| parts.next())) {
        (Some(value), _) if let Some(words) = condition(path, value) => words,
        (Some(value), Some(_)) if is_alike => format!("{} bytes", value.bytes),
        (Some(value), Some(part)) if part.len() < value.kept().len() => Value::plain(part).to_string(),
        (Some(value), _) => value.to_string(),
        (None, _) => "none".into(),
    };
    values.iter().map(word).collect()
}

/// What a whole condition says, where this path leads to one: `True (PreemptionByScheduler)`.
fn condition(path: &str, value: &Value) -> Option<String> {
    paths::condition(path).filter(|(_, member)| member.is_empty())?;
    let text = |name| json::unescaped(json::member(value.kept(), name)?).map(|text| Value::plain(&text));
    let status = text("status")?;
    let reason = text("reason").filter(|reason| reason.bytes > 0);
    Some(reason.map_or_else(|| status.to_string(), |reason| format!("{status} ({reason})")))
}

/// The part of each text in which it differs from the others: without what all begin or end with, cut where a part of a name,
/// of an address or of a sentence ends. Nothing is cut from JSON and from times.
pub fn differing<'a>(texts: &[&'a str]) -> Vec<&'a str> {
    let is_whole = |text: &&str| {
        let bytes = text.as_bytes();
        text.starts_with(['{', '[']) || (bytes.get(4) == Some(&b'-') && bytes.get(10) == Some(&b'T'))
    };
    let Some((first, others)) = texts.split_first() else { return Vec::new() };
    if others.is_empty() || texts.iter().any(is_whole) {
        return texts.to_vec();
    }
    let same = |other: &&str| first.bytes().zip(other.bytes()).take_while(|(one, two)| one == two).count();
    let mut head = first.floor_char_boundary(others.iter().map(same).min().unwrap_or_default());
    let shortest = |texts: &[&str]| texts.iter().map(|text| text.len()).min().unwrap_or_default();
    // Something is left of each.
    while head > 0 && (head >= shortest(texts) || !first[..head].ends_with(SEPARATORS)) {
        head = first[..head - 1].rfind(SEPARATORS).map_or(0, |at| at + 1);
    }
    let rests: Vec<&str> = texts.iter().map(|text| &text[head..]).collect();
    let Some((first, others)) = rests.split_first() else { return rests };
    let same = |other: &&str| first.bytes().rev().zip(other.bytes().rev()).take_while(|(one, two)| one == two).count();
    let most = others.iter().map(same).min().unwrap_or_default().min(shortest(&rests).saturating_sub(1));
    let start = first.ceil_char_boundary(first.len() - most);
    let tail = first[start..].find(SEPARATORS).map_or(0, |at| first.len() - start - at);
    rests.iter().map(|text| &text[..text.len() - tail]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_condition_is_its_status_and_its_reason() {
        let value = |text: &str| words("status.conditions[DisruptionTarget]", &[None, Some(&Value::new(text))], true);
        let full = r#"{"type":"DisruptionTarget","status":"True","reason":"EvictionByEvictionAPI","message":"m"}"#;
        assert_eq!(value(full), ["none", "True (EvictionByEvictionAPI)"]);
        assert_eq!(value(r#"{"status":"False","reason":""}"#), ["none", "False"]);
        // What is no condition, or is cut, is shown as it is.
        assert_eq!(value(r#"{"type":"a"}"#), ["none", r#"{"type":"a"}"#]);
        assert_eq!(value("7"), ["none", "7"]);
        let other = Value::new(r#"{"status":"True"}"#);
        assert_eq!(words("status.conditions[Ready].message", &[Some(&other)], true), [r#"{"status":"True"}"#]);
    }

    #[test]
    fn what_differs_alone_is_shown() {
        let check = |texts: &[&str], expected: &[&str]| assert_eq!(differing(texts), expected);
        check(&["registry.example/platform/auth:1.14", "registry.example/platform/auth:9-typo"], &["1.14", "9-typo"]);
        check(&["a/web:1", "b/web:1"], &["a", "b"]);
        check(&["http://a.b/c", "https://a.b/c"], &["http", "https"]);
        check(&["r/a@sha256:12", "r/a@sha256:13", "r/a:1"], &["a@sha256:12", "a@sha256:13", "a:1"]);
        check(&["--a --b=1 --c", "--a --b=2 --c"], &["--b=1", "--b=2"]);
        check(&["a,c", "a,b,c"], &["c", "b,c"]);
        check(&["a/", "a/b"], &["a/", "a/b"]);
        check(&["", "a/b"], &["", "a/b"]);
        check(&["x/é:1", "x/è:1"], &["é", "è"]);
        check(&["a/b", "a/b"], &["b", "b"]);
        check(&["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"], &["2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z"]);
        check(&[r#"{"a":1,"b":2}"#, r#"{"a":1,"b":3}"#], &[r#"{"a":1,"b":2}"#, r#"{"a":1,"b":3}"#]);
        check(&["one"], &["one"]);
        check(&[], &[]);
    }

    #[test]
    fn short_values_are_whole_and_images_are_not() {
        let check = |path: &str, texts: [&str; 2], expected: [&str; 2]| {
            let values = texts.map(Value::plain);
            let values: Vec<_> = values.iter().map(Some).collect();
            assert_eq!(words(path, &values, true), expected, "{path}");
        };
        check("x.image", ["web:1", "web:2-typo"], ["1", "2-typo"]);
        check("STATUS", ["Init:0/2", "Init:1/2"], ["Init:0/2", "Init:1/2"]);
        check("spec.x", ["", "y"], ["\"\"", "y"]);
        // Beyond what is kept they differ, and so their lengths are shown.
        let long = "x".repeat(crate::value::KEPT);
        check("spec.x", [&format!("{long}a"), &format!("{long}bc")], ["1001 bytes", "1002 bytes"]);
        // What is the same is no length, and neither is what is there alone.
        check("reason", ["Killing", "Killing"], ["Killing", "Killing"]);
        let value = Value::plain("on");
        assert_eq!(words("spec.x", &[None, Some(&value)], true), ["none", "on"]);
        assert_eq!(words("spec.x", &[Some(&value), None, Some(&value)], true), ["on", "none", "on"]);
        // The tag of an image with a long name is in sight.
        let name = format!("registry.example/{}", "x".repeat(100));
        check("x.image", [&format!("{name}:1.14"), &format!("{name}:9-typo")], ["1.14", "9-typo"]);
    }
}
