//! Paths, the values that they lead to, and an evaluation over parsed values to compare with.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// Its members stand in the order of their names: whether a map keeps another order depends on what else is built.
fn object() -> Value {
    json!({
        "spec": {"half": 0.5, "hosts": ["a", "b", "c"], "none": null, "on": true, "size": 3, "word": "hé"},
        "metadata": {"labels": {"a.b/c": "x", "a": {"b": "y"}}},
        "status": {"conditions": [
            {"type": "Old", "status": "False", "n": 5},
            {"type": "Ready", "status": "True", "n": 7},
            {"status": "Unknown"},
        ]},
    })
}

/// All values that a path leads to, as JSON.
fn found(path: &str, object: &str) -> Value {
    let path = JsonPath::parse(path).unwrap_or_else(|| panic!("{path}"));
    path.all(object).into_iter().map(written).collect()
}

fn written(found: Found<'_>) -> Value {
    match found {
        Found::Json(text) => serde_json::from_str(text).unwrap(),
        Found::Text(text) => text.into(),
        Found::Int(number) => number.into(),
        Found::Float(number) => number.into(),
        Found::Bool(truth) => truth.into(),
        Found::Byte(byte) => byte.into(),
    }
}

#[test]
fn paths_lead_where_the_server_finds_values() {
    let object = object();
    let text = object.to_string();
    for (path, expected) in [
        (".spec.size", json!([3])),
        (" .spec.size ", json!([3])),
        ("$.spec.size", json!([3])),
        ("@.spec.size", json!([3])),
        (".spec.hosts", json!([["a", "b", "c"]])),
        (".spec.hosts[*]", json!(["a", "b", "c"])),
        (".spec.hosts.*", json!(["a", "b", "c"])),
        (".spec.hosts[1]", json!(["b"])),
        (".spec.hosts[-1]", json!(["c"])),
        (".spec.hosts[-3]", json!(["a"])),
        (".spec.hosts[-4]", json!([])),
        (".spec.hosts[3]", json!([])),
        (".spec.hosts[]", json!(["a"])),
        (".spec.hosts[1:]", json!(["b", "c"])),
        (".spec.hosts[:2]", json!(["a", "b"])),
        (".spec.hosts[:-1]", json!(["a", "b"])),
        (".spec.hosts[::2]", json!(["a", "c"])),
        (".spec.hosts[0:3:2]", json!(["a", "c"])),
        (".spec.hosts[::0]", json!([])),
        (".spec.hosts[1:1]", json!([])),
        (".spec.hosts[2:1]", json!([])),
        (".spec.hosts[:4]", json!([])),
        (".spec.hosts[0,2]", json!(["a", "c"])),
        (".spec['size','half']", json!([3, 0.5])),
        (".spec['size']", json!([3])),
        (".spec.size[0]", json!([])),
        (".spec.none", json!([null])),
        (".spec.none.deeper", json!([])),
        (".spec.none[0]", json!([])),
        (".spec.nothing[0]", json!([])),
        (r".metadata.labels.a\.b/c", json!(["x"])),
        (r".metadata.labels['a\.b/c']", json!(["x"])),
        // The name between the quotes is parsed as a path again.
        (".metadata.labels['a.b']", json!(["y"])),
        (r#".status.conditions[?(@.type=="Ready")].status"#, json!(["True"])),
        (".status.conditions[?(@.type == 'Ready')].status", json!(["True"])),
        (".status.conditions[?(@.type!='Ready')].status", json!(["False"])),
        (".status.conditions[?(@.n==7)].type", json!(["Ready"])),
        (".status.conditions[?(@.n>5)].type", json!(["Ready"])),
        (".status.conditions[?(@.n>=5)].type", json!(["Old", "Ready"])),
        (".status.conditions[?(@.n<7)].type", json!(["Old"])),
        (".status.conditions[?(@.n<=4)].type", json!([])),
        (".status.conditions[?(@.type)].n", json!([5, 7])),
        (".status.conditions[?(@.type[0])].n", json!([5, 7])),
        // Values that cannot be compared make the evaluation fail.
        (".status.conditions[?(@.n==7.5)].type", json!([])),
        (".status.conditions[?(@.n=='7')].type", json!([])),
        (".status.conditions[?(@.type=~'R.*')].type", json!([])),
        (".status.conditions[?(@.*=='Ready')].type", json!([])),
        (".status[?(@.type=='Ready')].status", json!([])),
        (".spec.on", json!([true])),
        ("..n", json!([5, 7])),
        // The text has its members sorted by name, like the reference's map.
        (".spec...*", json!([0.5, ["a", "b", "c"], null, true, 3, "hé", "a", "b", "c", 97, 98, 99, 104, 195, 169])),
        (".spec.word.*", json!([104, 195, 169])),
        (".", json!([])),
        (".nothing.here", json!([])),
        (".spec.size.deeper", json!([])),
        (".spec.size word", json!([])),
        (".spec 'a text'", json!(["a text"])),
        (".spec.hosts[*] 7", json!([7, 7, 7])),
        (".spec.size}and{.spec.half", json!([3])),
        (".spec.size}and{.spec.size[0]", json!([])),
    ] {
        assert_eq!(found(path, &text), expected, "{path}");
        let path = JsonPath::parse(path).unwrap();
        assert_eq!(Value::from_iter(reference::all(&path, &object)), expected, "the reference");
    }
}

#[test]
fn what_the_server_cannot_parse_is_no_path() {
    let long = ".a".repeat(2_000);
    for text in [
        ".a[",
        ".a[b]",
        ".a[\"b\"]",
        ".a[1:2:3:4]",
        ".a[-]",
        ".a[99999999999999999999]",
        ".a[?(@.b==)",
        ".a[?(@.b=='x]",
        ".a[?(@.b=='x')",
        ".a[?(@.b==#)]",
        ".a....b",
        ".a]",
        "..*",
        ".a 'b",
        ".a '\\q'",
        ".a{",
        ".a\n.b",
        "\t.a",
        ".a -",
        "(.a)",
        &long,
    ] {
        assert_eq!(JsonPath::parse(text), None, "{text:?}");
    }
}

#[test]
fn quoted_texts_are_unquoted_as_go_does_it() {
    for (path, expected) in
        [(r#""a\tb\"\x41\u00e4\U0001f600\101""#, "a\tb\"Aä😀A"), (r"'it\'s'", "it's"), ("'plain'", "plain")]
    {
        assert_eq!(found(path, "{}"), json!([expected]), "{path}");
    }
}

#[test]
fn a_path_that_would_never_end_finds_nothing() {
    let deep = "[".repeat(200) + &"]".repeat(200);
    let object = format!("{{\"a\":[{}]}}", [&*deep; 60].join(","));
    assert_eq!(found("...*...*...*...*", &object), json!([]));
}

/// The same evaluation over parsed values, step by step, with which the evaluation over text is compared.
mod reference {
    use super::*;

    pub fn all(path: &JsonPath, object: &Value) -> Vec<Value> {
        let found = list(vec![object.clone()], &path.path);
        let others = path.others.iter().all(|other| list(vec![object.clone()], other).is_ok());
        found.ok().filter(|_| others).unwrap_or_default()
    }

    fn list(from: Vec<Value>, nodes: &[Node]) -> Result<Vec<Value>, Vec<Value>> {
        nodes.iter().try_fold(from, step)
    }

    fn content(value: &Value) -> Vec<Value> {
        match value {
            Value::Object(map) => map.values().cloned().collect(),
            Value::Array(list) => list.clone(),
            Value::String(text) => text.bytes().map(Value::from).collect(),
            _ => Vec::new(),
        }
    }

    fn deep(value: &Value) -> Vec<Value> {
        let inside = content(value);
        let own = (!inside.is_empty()).then(|| value.clone());
        own.into_iter().chain(inside.iter().flat_map(deep)).collect()
    }

    fn step(from: Vec<Value>, node: &Node) -> Result<Vec<Value>, Vec<Value>> {
        let constant = |value: Value| Ok(vec![value; from.len()]);
        match node {
            Node::Field(name) => Ok(from.iter().filter_map(|value| value.as_object()?.get(&**name).cloned()).collect()),
            Node::Wildcard => Ok(from.iter().flat_map(content).collect()),
            Node::Recursive => Ok(from.iter().flat_map(deep).collect()),
            Node::Text(text) => Ok(vec![Value::from(&**text)]),
            Node::Int(number) => constant((*number).into()),
            Node::Float(number) => constant((*number).into()),
            Node::Bool(truth) => constant((*truth).into()),
            Node::Word => Err(from),
            Node::Union(paths) => {
                let all: Result<Vec<_>, _> = paths.iter().map(|path| list(from.clone(), path)).collect();
                all.map(|all| all.concat()).map_err(|_| from)
            }
            Node::Slice(slice) => {
                let mut found = Vec::new();
                for value in &from {
                    match value {
                        Value::Null => {}
                        Value::Array(list) => match slice_of(*slice, list) {
                            Some(part) if part.is_empty() => return Ok(found),
                            Some(part) => found.extend(part),
                            None => return Err(from),
                        },
                        _ => return Err(from),
                    }
                }
                Ok(found)
            }
            Node::Filter(filter) => {
                let mut found = Vec::new();
                for value in &from {
                    let Value::Array(elements) = value else { return Err(from) };
                    for element in elements {
                        let left = list(vec![element.clone()], &filter.left);
                        if filter.operator == Operator::Exists {
                            let left = left.unwrap_or_else(|reached| reached);
                            found.extend((!left.is_empty()).then(|| element.clone()));
                            continue;
                        }
                        let Ok(left) = left else { return Err(from) };
                        if left.is_empty() {
                            continue;
                        }
                        let Ok(right) = list(vec![element.clone()], &filter.right) else { return Err(from) };
                        if left.len() > 1 || right.len() > 1 {
                            return Err(from);
                        }
                        let Some(right) = right.first() else { continue };
                        match passes(&left[0], filter.operator, right) {
                            Some(true) => found.push(element.clone()),
                            Some(false) => {}
                            None => return Err(found),
                        }
                    }
                }
                Ok(found)
            }
        }
    }

    fn slice_of(slice: Slice, list: &[Value]) -> Option<Vec<Value>> {
        let length = list.len() as i64;
        let around = |at: i64| if at < 0 { at + length } else { at };
        let from = around(slice.from.unwrap_or(0));
        let to = slice.to.map_or(length, |to| if to == 0 && slice.derived { length } else { around(to) });
        if from == to {
            return Some(Vec::new());
        }
        let step = slice.step.unwrap_or(1);
        if from < 0 || to < 0 || from >= length || to > length || from > to || step <= 0 {
            return None;
        }
        Some(list[from as usize..to as usize].iter().step_by(step as usize).cloned().collect())
    }

    fn passes(left: &Value, operator: Operator, right: &Value) -> Option<bool> {
        let order = match (left, right) {
            (Value::String(left), Value::String(right)) => left.partial_cmp(right),
            (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
                (Some(left), Some(right)) => left.partial_cmp(&right),
                (None, None) => left.as_f64().partial_cmp(&right.as_f64()),
                _ => return None,
            },
            (Value::Bool(left), Value::Bool(right)) if matches!(operator, Operator::Equal | Operator::NotEqual) => {
                left.partial_cmp(right)
            }
            _ => return None,
        }?;
        Some(match operator {
            Operator::Equal => order.is_eq(),
            Operator::NotEqual => order.is_ne(),
            Operator::Less => order.is_lt(),
            Operator::LessOrEqual => order.is_le(),
            Operator::Greater => order.is_gt(),
            Operator::GreaterOrEqual => order.is_ge(),
            Operator::Exists | Operator::Unknown => return None,
        })
    }
}

/// Values with few different names, so that paths often lead somewhere.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2..3i64).prop_map(Value::from),
        prop_oneof![Just(0.5), Just(1e300), Just(-2.25)].prop_map(Value::from),
        prop_oneof![Just("a"), Just("b"), Just("é\"\\\n")].prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((prop_oneof![Just("a"), Just("b"), Just("c.d")], inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().map(|(k, v)| (k.to_owned(), v)).collect())),
        ]
    })
}

/// Paths made of pieces that mostly make sense.
fn paths() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => prop_oneof![Just(".a"), Just(".b"), Just(r".c\.d"), Just("['a']")],
        3 => prop_oneof![Just("[*]"), Just("[0]"), Just("[-1]"), Just("[1:]"), Just("[0,1]"), Just("[::2]"), Just("[]")],
        2 => prop_oneof![Just("..a"), Just(".."), Just("...*"), Just(".*")],
        2 => prop_oneof![
            Just("[?(@.a)]"), Just("[?(@.a==1)]"), Just("[?(@.b!='a')]"), Just("[?(@.a>=@.b)]"), Just("[?(@.b<0.5)]"),
            Just("[?(@[0])]"), Just("[?(@.a==true)]"),
        ],
        1 => prop_oneof![Just("'a'"), Just("7"), Just("word"), Just("}{"), Just(" "), Just("]"), Just("[")],
    ];
    proptest::collection::vec(piece, 1..6).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn over_text_and_over_values_it_is_the_same(path in paths(), value in values()) {
        if let Some(parsed) = JsonPath::parse(&path) {
            let text = value.to_string();
            let ours: Vec<Value> = parsed.all(&text).into_iter().map(written).collect();
            prop_assert_eq!(&ours, &reference::all(&parsed, &value), "{} in {}", path, text);
            let below = parsed.root().map(|root| {
                let below = value.as_object().and_then(|map| map.get(root)).map(Value::to_string);
                below.and_then(|below| parsed.first_below(&below).map(written))
            });
            prop_assert_eq!(below.unwrap_or_else(|| ours.first().cloned()), ours.first().cloned(), "{} in {}", path, text);
        }
    }

    #[test]
    fn nothing_that_is_written_as_a_path_or_an_object_panics(path in "[ .@$\\[\\]?()'\"*:,=!<>~{}\\\\a-c0-9é-]{0,24}", text in "\\PC*") {
        if let Some(path) = JsonPath::parse(&path) {
            path.all(&text);
            path.all(r#"{"a":[{"b":1},{"b":"c"}],"b":{"c":null}}"#);
            path.first_below(&text);
        }
    }
}
