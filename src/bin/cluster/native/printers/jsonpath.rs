//! The JSONPath of printer columns, as much of it as CustomResourceDefinitions use: `.spec.size`, `.a['b.c']`,
//! `.list[0]`, `.list[*]`, and `.list[?(@.type=="Ready")].status`.

use serde_json::Value;

/// A parsed path.
#[derive(Debug, Clone, PartialEq)]
pub struct JsonPath(Vec<Step>);

#[derive(Debug, Clone, PartialEq)]
enum Step {
    /// A member of an object.
    Field(String),
    /// An element of a list; negative ones count from its end.
    Index(i64),
    /// All elements, or all members.
    All,
    /// The elements in which a path leads to a value that compares so.
    Where(JsonPath, bool, Value),
}

/// More steps than any column needs; the bound keeps the parser's recursion short.
const LONGEST: usize = 512;

impl JsonPath {
    /// Parses a path; `None` if it is none, or beyond what this evaluator knows.
    pub fn parse(text: &str) -> Option<Self> {
        if text.len() > LONGEST {
            return None;
        }
        let text = text.trim();
        let text = text.strip_prefix('{').and_then(|inner| inner.strip_suffix('}')).unwrap_or(text);
        let mut rest = text.strip_prefix('$').unwrap_or(text);
        let mut steps = Vec::new();
        while !rest.is_empty() {
            let (step, after) = match rest.strip_prefix('.') {
                Some(after) if after.starts_with('[') => {
                    rest = after;
                    continue;
                }
                Some(after) => field(after)?,
                None => {
                    let (inner, after) = bracketed(rest.strip_prefix('[')?)?;
                    (selector(inner)?, after)
                }
            };
            steps.push(step);
            rest = after;
        }
        (!steps.is_empty()).then_some(Self(steps))
    }

    /// The values that it leads to, in order; none where something on the way is missing.
    pub fn find<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        let mut found = vec![value];
        for step in &self.0 {
            found = found.into_iter().flat_map(|value| step.take(value)).collect();
        }
        found
    }
}

impl Step {
    fn take<'a>(&self, value: &'a Value) -> Vec<&'a Value> {
        match (self, value) {
            (Self::Field(name), Value::Object(map)) => map.get(name).into_iter().collect(),
            (Self::Index(index), Value::Array(list)) => {
                let index = if *index < 0 { *index + list.len() as i64 } else { *index };
                usize::try_from(index).ok().and_then(|index| list.get(index)).into_iter().collect()
            }
            (Self::All, Value::Array(list)) => list.iter().collect(),
            (Self::All, Value::Object(map)) => map.values().collect(),
            (Self::Where(path, equal, wanted), Value::Array(list)) => list
                .iter()
                .filter(|one| path.find(one).first().is_some_and(|found| (*found == wanted) == *equal))
                .collect(),
            _ => Vec::new(),
        }
    }
}

/// The name at the start, in which a backslash takes the next character as it is: `.metadata.labels.a\.b`.
fn field(text: &str) -> Option<(Step, &str)> {
    let mut name = String::new();
    let mut letters = text.char_indices();
    let mut end = text.len();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => name.push(letters.next()?.1),
            '.' | '[' => {
                end = at;
                break;
            }
            ']' | '{' | '}' | '(' | ')' => return None,
            _ => name.push(letter),
        }
    }
    let step = if name == "*" { Step::All } else { Step::Field(name.clone()) };
    (!name.is_empty()).then_some((step, &text[end..]))
}

/// What stands before the bracket that closes, which a quoted one does not.
fn bracketed(text: &str) -> Option<(&str, &str)> {
    let (mut quote, mut depth) = (None, 0);
    for (at, letter) in text.char_indices() {
        match (quote, letter) {
            (Some(open), _) if open == letter => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(letter),
            (None, '[') => depth += 1,
            (None, ']') if depth == 0 => return Some((&text[..at], &text[at + 1..])),
            (None, ']') => depth -= 1,
            _ => {}
        }
    }
    None
}

fn selector(text: &str) -> Option<Step> {
    let text = text.trim();
    if text == "*" {
        return Some(Step::All);
    }
    if let Some(filter) = text.strip_prefix("?(").and_then(|inner| inner.strip_suffix(')')) {
        let (path, equal, literal) = match filter.split_once("==") {
            Some((path, literal)) => (path, true, literal),
            None => filter.split_once("!=").map(|(path, literal)| (path, false, literal))?,
        };
        let path = JsonPath::parse(path.trim().strip_prefix('@')?)?;
        return Some(Step::Where(path, equal, literal_of(literal.trim())?));
    }
    if let Some(name) = unquoted(text) {
        return Some(Step::Field(name.to_owned()));
    }
    text.parse().ok().map(Step::Index)
}

fn unquoted(text: &str) -> Option<&str> {
    ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
}

fn literal_of(text: &str) -> Option<Value> {
    unquoted(text).map(Value::from).or_else(|| serde_json::from_str(text).ok())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(path: &str, expected: Value) {
        let object = json!({
            "spec": {"size": 3, "hosts": ["a", "b"]},
            "metadata": {"labels": {"a.b/c": "x"}},
            "status": {"conditions": [{"type": "Old", "status": "False"}, {"type": "Ready", "status": "True", "n": 7}]}});
        let path = JsonPath::parse(path).unwrap_or_else(|| panic!("{path}"));
        assert_eq!(Value::from_iter(path.find(&object).into_iter().cloned()), expected);
    }

    #[test]
    fn paths_lead_to_values() {
        check(".spec.size", json!([3]));
        check("{.spec.size}", json!([3]));
        check(".spec.hosts", json!([["a", "b"]]));
        check(".spec.hosts[*]", json!(["a", "b"]));
        check(".spec.hosts[1]", json!(["b"]));
        check(".spec.hosts[-1]", json!(["b"]));
        check(".spec.hosts[7]", json!([]));
        check(".spec['size']", json!([3]));
        check(r".metadata.labels.a\.b/c", json!(["x"]));
        check(".metadata.labels['a.b/c']", json!(["x"]));
        check(r#".status.conditions[?(@.type=="Ready")].status"#, json!(["True"]));
        check(".status.conditions[?(@.type == 'Ready')].status", json!(["True"]));
        check(".status.conditions[?(@.type!='Ready')].status", json!(["False"]));
        check(".status.conditions[?(@.n==7)].type", json!(["Ready"]));
        check(".spec.nothing.here", json!([]));
        check(".spec.size.deeper", json!([]));
    }

    #[test]
    fn what_is_no_path_is_refused() {
        let long = ".a".repeat(LONGEST);
        for text in
            ["", "spec", ".", ".a[", ".a[b]", ".a[?(@.b)]", ".a[?(b==1)]", ".a[?(@.b==x)]", ".a..b", r".a\", &long]
        {
            assert_eq!(JsonPath::parse(text), None, "{text}");
        }
    }
}
