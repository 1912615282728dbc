//! What the comparison finds, by example.

use super::*;

#[track_caller]
fn check(old: &str, new: &str, expected: &[(&str, Option<&str>, Option<&str>)]) {
    let diff = diff(old, new).unwrap();
    let found: Vec<_> = diff.changes.iter().map(|change| (&*change.path, change.old, change.new)).collect();
    assert_eq!(found, expected, "{old} {new}");
    assert!(diff.more == 0 && diff.changes.iter().all(|change| !change.reordered));
}

#[test]
fn fields_come_go_and_change() {
    check(
        r#"{"a":{"b":1,"c":2}}"#,
        r#"{ "a": {"c":3, "d":[]} }"#,
        &[("a.b", Some("1"), None), ("a.c", Some("2"), Some("3")), ("a.d", None, Some("[]"))],
    );
    check(r#"{"a":1,"b":{"x":1}}"#, r#"{"b":{"x":1},"a":1}"#, &[]);
    check(r#"{"a":"é"}"#, r#"{"a":"\u00e9"}"#, &[]);
    check(r#"{"a":"x\n"}"#, r#"{"a":"y\n"}"#, &[("a", Some(r#""x\n""#), Some(r#""y\n""#))]);
    check(r#"{"a":{}}"#, r#"{"a":[]}"#, &[("a", Some("{}"), Some("[]"))]);
    check("1", "2", &[("", Some("1"), Some("2"))]);
    check(
        r#"{"metadata":{"annotations":{}}}"#,
        r#"{"metadata":{"annotations":{"example.com/x":"1"}}}"#,
        &[(r#"metadata.annotations["example.com/x"]"#, None, Some("\"1\""))],
    );
    check(
        r#"{"metadata":{"managedFields":[{"a":1}]}}"#,
        r#"{"metadata":{"managedFields":[]}}"#,
        &[("metadata.managedFields", Some(r#"[{"a":1}]"#), Some("[]"))],
    );
}

#[test]
fn what_is_gone_comes_before_the_rest_also_where_the_first_members_have_the_same_names() {
    check(
        r#"{"a":1,"b":{"x":{"y":1},"z":2,"w":3},"c":7}"#,
        r#"{"a":2,"b":{"x":{"y":4},"w":3,"v":{}},"c":7}"#,
        &[
            ("a", Some("1"), Some("2")),
            ("b.z", Some("2"), None),
            ("b.x.y", Some("1"), Some("4")),
            ("b.v", None, Some("{}")),
        ],
    );
    // The one is a beginning of the other.
    check(r#"{"a":12,"b":[1]}"#, r#"{"a":1,"b":[1]}"#, &[("a", Some("12"), Some("1"))]);
    check(r#"{"a":"x","b":1 }"#, r#"{"a":"x" , "b":1}"#, &[]);
    assert_eq!(diff(r#"{"a":1,"b":{"x":1,"x":1}}"#, r#"{"a":1,"b":{"x":1,"x":2}}"#), Err(NotReadable));
}

#[test]
fn items_are_matched_by_name_or_else_by_place() {
    let containers = |names: &[(&str, u8)]| {
        let items: Vec<String> =
            names.iter().map(|(name, tag)| format!(r#"{{"name":"{name}","image":"{tag}"}}"#)).collect();
        format!(r#"{{"containers":[{}]}}"#, items.join(","))
    };
    check(
        &containers(&[("a", 1), ("b", 1), ("c", 1)]),
        &containers(&[("n", 0), ("b", 2), ("c", 1)]),
        &[
            ("containers[a]", Some(r#"{"name":"a","image":"1"}"#), None),
            ("containers[n]", None, Some(r#"{"name":"n","image":"0"}"#)),
            ("containers[b].image", Some("\"1\""), Some("\"2\"")),
        ],
    );
    let (one, two) = (containers(&[("a", 1), ("b", 2)]), containers(&[("b", 2), ("a", 1)]));
    let order = diff(&one, &two).unwrap();
    assert_eq!((order.changes.len(), &*order.changes[0].path, order.changes[0].reordered), (1, "containers", true));
    check(r#"{"x":[1,2,3,4]}"#, r#"{"x":[1,3,4]}"#, &[("x[1]", Some("2"), None)]);
    check(r#"{"x":[1,2]}"#, r#"{"x":[1,7,8,2]}"#, &[("x[1]", None, Some("7")), ("x[2]", None, Some("8"))]);
    check(r#"{"x":[{"name":"a"}]}"#, r#"{"x":[7]}"#, &[("x[0]", Some(r#"{"name":"a"}"#), Some("7"))]);
    check(r#"{"x":[1,1,1]}"#, r#"{"x":[1,1]}"#, &[("x[2]", Some("1"), None)]);
}

#[test]
fn items_of_equal_names_are_distinguished() {
    let conditions = |statuses: [&str; 3]| {
        let items = statuses.map(|status| format!(r#"{{"type":"Ready","status":"{status}"}}"#));
        format!(r#"{{"conditions":[{}]}}"#, items.join(","))
    };
    let all = conditions(["True", "True", "True"]);
    for (at, now) in
        [["False", "True", "True"], ["True", "False", "True"], ["True", "True", "False"]].iter().enumerate()
    {
        let (now, path) = (conditions(*now), format!("conditions[Ready#{}].status", at + 1));
        check(&all, &now, &[(&path, Some("\"True\""), Some("\"False\""))]);
        let pointer = format!("/conditions/{at}/status");
        assert_eq!(crate::pointer::path(&pointer, &now), Some(path), "the same path as in the YAML");
    }
    // One that goes is one that went, and not three that changed.
    let thrice = |items: &[&str]| {
        let item = |one: &&str| {
            let (status, reason) = one.split_once(' ').unwrap();
            format!(r#"{{"type":"Ready","status":"{status}","reason":"{reason}"}}"#)
        };
        format!(r#"{{"conditions":[{}]}}"#, items.iter().map(item).collect::<Vec<_>>().join(","))
    };
    let all = thrice(&["Unknown Pending", "True Created", "False IsReady"]);
    let first = r#"{"type":"Ready","status":"Unknown","reason":"Pending"}"#;
    check(&all, &thrice(&["True Created", "False IsReady"]), &[("conditions[Ready#1]", Some(first), None)]);
    // Ports whose names are equal, too.
    let ports = r#"{"ports":[{"name":"a","port":1,"x":1},{"name":"a","port":1,"x":2},{"name":"b","port":2}]}"#;
    let fewer = r#"{"ports":[{"name":"a","port":1,"x":2},{"name":"b","port":2}]}"#;
    check(ports, fewer, &[("ports[a#1]", Some(r#"{"name":"a","port":1,"x":1}"#), None)]);
    let metrics = r#"{"metrics":[{"type":"Resource","v":1},{"type":"Resource","v":2}]}"#;
    check(metrics, &metrics.replace("2", "3"), &[("metrics[Resource#2].v", Some("2"), Some("3"))]);
}

#[test]
fn what_cannot_be_followed_is_not_readable() {
    for text in
        ["", "x", "{", r#"{"a":1,"a":2}"#, r#"{"a":1 "b":2}"#, "[1,]", r#"{"a":1}}"#, r#"{"a":]}"#, "{\"a\":\"\\"]
    {
        let other = if text.starts_with('[') { "[2]" } else { r#"{"a":3}"# };
        assert_eq!(diff(text, other), Err(NotReadable), "{text}");
        assert_eq!(diff(other, text), Err(NotReadable), "{text}");
        assert!(diff(text, text).unwrap().is_empty());
    }
    assert_eq!(diff(r#"{"a":1,"b":1,"a":1}"#, r#"{"a":1,"b":2,"a":1}"#), Err(NotReadable));
}

#[test]
fn depth_and_number_are_bounded() {
    let nested = |depth: usize, leaf: &str| format!("{}{leaf}{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let (old, new) = (nested(10_000, "1"), nested(10_000, "2"));
    let deep = diff(&old, &new).unwrap();
    assert_eq!((deep.changes.len(), deep.changes[0].path.len()), (1, DEEPEST * 2 - 1));
    let many = |value: u8| {
        let members: Vec<String> = (0..1_000).map(|name| format!(r#""{name}":{value}"#)).collect();
        format!("{{{}}}", members.join(","))
    };
    let (old, new) = (many(1), many(2));
    let many = diff(&old, &new).unwrap();
    assert_eq!((many.changes.len(), many.more, many.len()), (MOST, 1_000 - MOST, 1_000));
    let name = "é".repeat(1_000);
    let (old, new) = (format!(r#"{{"{name}":1}}"#), format!(r#"{{"{name}":2}}"#));
    let long = diff(&old, &new).unwrap();
    assert!(long.changes[0].path.len() <= LONGEST_PATH + '…'.len_utf8() && long.changes[0].path.ends_with('…'));
}
