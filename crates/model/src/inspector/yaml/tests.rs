//! Objects go in, YAML comes out, and another implementation reads it back.

use proptest::prelude::*;
use serde_json::json;

use super::*;

const ALL: Range<usize> = 0..usize::MAX;

fn check(object: Value, expected: &str) {
    assert_eq!(text(&object, false), expected);
    let read: Value = serde_saphyr::from_str(expected).unwrap();
    assert_eq!(read, object);
}

#[test]
fn it_is_written_as_kubectl_writes_it() {
    check(
        json!({"kind": "Pod", "apiVersion": "v1", "spec": {"containers": [
            {"name": "a", "args": ["-c", "x", "637157a1-0213-444b"], "env": [], "resources": {}}, {"name": "b"}], "m": null, "on": true}}),
        "apiVersion: v1\nkind: Pod\nspec:\n  containers:\n  - args:\n    - -c\n    - x\n    - 637157a1-0213-444b\n    env: []\n    name: a\n    \
         resources: {}\n  - name: b\n  m: null\n  \"on\": true\n",
    );
    check(json!({"ip": "10.0.0.1", "v": "1.29.3", "w": "1.29"}), "ip: 10.0.0.1\nv: 1.29.3\nw: \"1.29\"\n");
    check(json!({"a": [[1, 2], [{"b": 1}]]}), "a:\n- - 1\n  - 2\n- - b: 1\n");
    check(json!({"a": "x\ny\n", "b": ["p\n\nq"]}), "a: |\n  x\n  y\nb:\n- |-\n  p\n\n  q\n");
}

#[test]
fn managed_fields_are_left_out_unless_asked_for() {
    let object = json!({"metadata": {"managedFields": [{"manager": "m"}], "name": "a"}, "spec": {"managedFields": 1}});
    assert_eq!(text(&object, false), "metadata:\n  name: a\nspec:\n  managedFields: 1\n");
    let read: Value = serde_saphyr::from_str(&text(&object, true)).unwrap();
    assert_eq!(read, object);
}

#[test]
fn whatever_a_text_holds_it_stays_that_text() {
    let texts = [
        "",
        " ",
        " x",
        "x ",
        "yes",
        "No",
        "on",
        "~",
        "null",
        "Null",
        "true",
        "False",
        "1",
        "1.5",
        "1e3",
        "0x1f",
        "0o7",
        "1_000",
        "12:30:45",
        "2001-01-01",
        "2001-01-01T00:00:00Z",
        ".inf",
        ".nan",
        "=",
        "<<",
        "-",
        "- a",
        "-a",
        "?",
        "? a",
        ":",
        ": a",
        "a: b",
        "a:",
        "a #b",
        "#",
        "*a",
        "&a",
        "!t",
        "%d",
        "@x",
        "`y",
        "{",
        "}",
        "[",
        "]",
        ",",
        "'",
        "\"",
        "it's",
        "\\",
        "|",
        ">",
        "a\tb",
        "\t",
        "\n",
        "\n\n",
        "a\n",
        "a\n\n",
        "\na",
        " a\nb",
        "a\n b",
        "a\r\nb",
        "\u{0}",
        "\u{7f}",
        "\u{85}",
        "\u{2028}",
        "a\u{ffff}",
        "\u{fffe}",
        "10.0.0.1",
        "1..2",
        "1.2.3e4",
        "\u{feff}",
        "é",
        "😀",
        "---",
        "...",
        "--- a",
        "a\n---\nb",
        "•••• x",
        "#a\n#b",
        "a \nb",
    ];
    // A key of more than 1024 characters would need a form that kubectl does not write either.
    let long = format!("{} {}", "long words ".repeat(60), "x".repeat(500));
    for text_ in texts.into_iter().chain([&*long]) {
        let object = json!({"a": text_, "l": [text_, {"b": text_}], "m": {&text_[..text_.floor_char_boundary(900)]: 1}, "z": {"y": {"x": [[text_]]}}});
        let written = text(&object, false);
        let read: Value =
            serde_saphyr::from_str(&written).unwrap_or_else(|error| panic!("{text_:?}: {error}: {written}"));
        assert_eq!(read, object, "{written}");
    }
    for word in ["yes", "No", "on", "1_000", "12:30:45", "2001-01-01", "0x1f", "1e3", "true", "~", "null"] {
        let written = text(&json!({ "a": word }), false);
        assert!(written.starts_with("a: \"") || written.starts_with("a: '"), "{written}");
    }
}

#[test]
fn texts_have_the_form_that_kubectl_gives_them() {
    for (text, expected) in [
        ("", r#""""#),
        ("true", r#""true""#),
        ("-.INF", r#""-.INF""#),
        ("0b10", r#""0b10""#),
        ("0b10-47", "0b10-47"),
        ("{\"a\":1}", r#"'{"a":1}'"#),
        ("it's: so", "'it''s: so'"),
        ("it's so", "it's so"),
        (" x", "' x'"),
        ("a: b", "'a: b'"),
        ("*", "'*'"),
        ("-c", "-c"),
        ("--flag=x", "--flag=x"),
        ("a:b,c", "a:b,c"),
        ("a\tb", r#""a\tb""#),
        ("a \nb", r#""a \nb""#),
        ("a\n b\n", "|\n  a\n   b"),
        ("a\n\n", "|+\n  a\n"),
    ] {
        assert_eq!(scalar(text), expected);
    }
}

proptest! {
    #[test]
    fn any_text_is_read_as_it_was(text_ in "[-a-z0-9 \n:#'\"\\[\\]{},&*!|>%@`?.+_~=xoeE]{0,12}|\\PC{0,12}|.{0,12}") {
        let object = json!({"a": text_, "l": [text_, {"b": text_}], "z": {"y": {"x": [[text_]]}}});
        let written = text(&object, false);
        let read: Result<Value, _> = serde_saphyr::from_str(&written);
        prop_assert_eq!(read.ok(), Some(object), "{}", written);
    }
}

#[test]
fn each_line_can_say_who_manages_it() {
    let object = json!({
        "metadata": {"managedFields": [{"manager": "helm", "fieldsV1": {"f:spec": {"f:list": {"k:{\"name\":\"a\"}": {
            ".": {}, "f:image": {}}}}}}]},
        "spec": {"list": [{"name": "a", "image": "x"}]},
    });
    let shown = lines(&object, Options { managers: true, ..Options::default() }, ALL);
    let managed: Vec<(&str, &str)> =
        shown.lines.iter().filter(|line| !line.managers.is_empty()).map(|line| (&*line.key, &*line.managers)).collect();
    assert_eq!(managed, [("image", "helm")]);
    assert!(lines(&object, Options::default(), ALL).lines.iter().all(|line| line.managers.is_empty()));
}

#[test]
fn a_masked_value_is_a_line_of_its_own() {
    let redacted = secret::redact(r#"{"data":{"p":"YWI="},"kind":"Secret"}"#, 1).unwrap();
    let secret: Value = serde_json::from_str(&redacted).unwrap();
    let shown = lines(&secret, Options::default(), ALL);
    assert_eq!(shown.lines[1].secret.as_deref(), Some("p"));
    assert_eq!(text(&secret, false), "data:\n  p: •••• 2 bytes\nkind: Secret\n");
}

#[test]
fn whatever_comes_what_is_shown_is_bounded() {
    let object = json!({"a": "x\n".repeat(100_000), "b": "y".repeat(1_000_000), "z": vec![1; 10_000]});
    let end = window(0.0, f64::MAX);
    let shown = lines(&object, Options { managed: true, managers: true }, 50..50 + end.len());
    assert_eq!((shown.first, shown.lines.len(), shown.total), (50, MOST, 110_003));
    assert!(shown.lines.iter().all(|line| line.value.len() < 2 * LONGEST));
    assert!(text(&object, false).len() > 1_200_000);
}

#[test]
fn lines_are_made_once_for_the_same_text_and_options() {
    let (one, other) = (Rc::new(json!({"a": 1})), Rc::new(json!({"a": 1})));
    let mut lined = Lined::default();
    let first = lined.of(&one, Options::default(), ALL);
    assert!(Arc::ptr_eq(&first, &lined.of(&one, Options::default(), ALL)), "nothing changed, so nothing is done");
    let managed = Options { managed: true, ..Options::default() };
    assert!(!Arc::ptr_eq(&first, &lined.of(&one, managed, ALL)), "asked for in another way");
    let again = lined.of(&other, managed, ALL);
    assert!(!Arc::ptr_eq(&again, &lined.of(&one, managed, ALL)), "read anew");
    assert_eq!(*again, *first);
}

#[test]
fn any_part_of_an_object_is_as_in_the_whole() {
    let object = json!({
        "metadata": {"managedFields": [{"manager": "m"}], "name": "a", "labels": {"b": "c", "d": "e"}},
        "list": [{"a": 1, "b": [1, [2, 3], {}]}, "x\ny\n", [], {"c": "p\n\nq"}, " x\ny"],
        "text": "one\ntwo\nthree", "empty": {}, "z": {"y": {"x": null}},
    });
    for managed in [false, true] {
        let options = Options { managed, managers: false };
        let whole = lines(&object, options, ALL);
        assert_eq!((whole.lines.len(), whole.first), (whole.total, 0));
        for length in [1, 3, 7] {
            for first in 0..=whole.total - length {
                let part = lines(&object, options, first..first + length);
                assert_eq!((part.first, part.total), (first, whole.total));
                assert_eq!(part.lines[..], whole.lines[first..first + length], "{first}");
            }
        }
        // Beyond the end are the last lines.
        let last = lines(&object, options, 900..903);
        assert_eq!((last.first, &last.lines[..]), (whole.total - 3, &whole.lines[whole.total - 3..]));
    }
    assert_eq!(lines(&json!({}), Options::default(), ALL).total, 1);
}

#[test]
fn of_a_long_object_only_what_is_in_sight_is_written_and_all_is_in_reach() {
    let data: Map<String, Value> = (0..5_500).map(|at| (format!("key-{at:04}"), json!("v".repeat(200)))).collect();
    let object = json!({"apiVersion": "v1", "data": data, "kind": "ConfigMap", "metadata": {"name": "big"}});
    assert!(object.to_string().len() > 1_150_000);
    let height = 700.0;
    let mut seen = 0;
    for first in (0..5_500).step_by(35) {
        let shown = lines(&object, Options::default(), window(first as f64 * LINE, height));
        assert_eq!(shown.total, 5_505);
        assert!(shown.lines.len() <= 100, "{} lines", shown.lines.len());
        let in_sight = first..first + (height / LINE) as usize;
        assert!(shown.first <= in_sight.start, "the first line in sight is there");
        assert!(shown.first + shown.lines.len() >= in_sight.end.min(shown.total), "and the last one");
        seen = seen.max(shown.first + shown.lines.len());
    }
    assert_eq!(seen, 5_505, "the last line is in reach");
    let end = lines(&object, Options::default(), window(5_505.0 * LINE - height, height));
    assert_eq!(end.lines.last().map(|line| (&*line.key, &*line.value)), Some(("name", "big")));
    for odd in [f64::NAN, f64::INFINITY, -1.0] {
        assert!(window(odd, odd).len() <= MOST);
    }
}

#[test]
fn each_line_has_the_pointer_of_its_field() {
    let object = json!({"a/b": {"list": [{"name": "x", "v": 1}, 7]}, "text": "x\ny", "z": "k".repeat(2_000)});
    let pointers = |object: &Value| {
        let yaml = lines(object, Options::default(), ALL);
        yaml.lines.iter().map(|line| line.pointer.clone()).collect::<Vec<_>>()
    };
    let expected =
        ["/a~1b", "/a~1b/list", "/a~1b/list/0/name", "/a~1b/list/0/v", "/a~1b/list/1", "/text", "/text", "/text", "/z"];
    assert_eq!(pointers(&object), expected.map(|pointer| Some(pointer.to_owned())));
    let long = json!({"k".repeat(LONGEST): {"v": 1}, "v": 1});
    assert_eq!(pointers(&long), [None, None, Some(String::from("/v"))], "a huge name is in no pointer");
    for pointer in expected {
        assert!(object.pointer(pointer).is_some(), "{pointer}");
    }
}
