//! What filters match and where, and how they report what they cannot read.

use kubechurn_client::api::cell::{Cell, Tone};
use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::api::time::Timestamp;

use super::*;

const COLUMNS: &[Column] =
    &[Column::words("STATUS"), Column::figures("RESTARTS"), Column::figures("AGE"), Column::words("NOMINATED NODE")];

fn object() -> Object {
    let cells = [
        Cell::Status("CrashLoopBackOff".into(), Tone::Bad),
        Cell::Restarts(31, Some(Timestamp(0))),
        Cell::Age(Some(Timestamp(0))),
        Cell::Text("Ünder-7\nlost".into()),
    ];
    Object {
        key: ObjectKey::new("shop", "web-7f9-x2"),
        uid: "u".into(),
        resource_version: ResourceVersion::new("1"),
        owners: None,
        cells: (&cells[..]).into(),
        flaw: None,
        extra: None,
    }
}

#[test]
fn a_row_is_shown_if_every_word_says_so() {
    for (text, expected) in [
        ("", true),
        ("  WEB   shop ", true),
        ("web db", false),
        ("crashloop", true),
        ("!crash", false),
        ("!db web", true),
        ("!", true),
        ("status:Crash", true),
        ("STATUS:web", false),
        ("name:web", true),
        ("Namespace:web", false),
        ("STATUS:", true),
        ("ns:shop", true),
        ("status:!crash", false),
        ("!status:!crash", true),
        ("!STATUS:run", true),
        ("restarts:31", true),
        ("restarts:3x", false),
        ("!restarts:x", true),
        ("31", true),
        ("bLoopb", false),
        ("opbackoff", true),
        // The age changes by itself, and so does the time since a restart.
        ("ago", false),
        ("AGE:d", false),
        ("/^web-[0-9a-f]+-x2$/", true),
        ("/^WEB/ !/^db/", true),
        ("/^x2/", false),
        ("status:/^crash.*off$/", true),
        ("!name:/web/", false),
        ("/b-7|no such/ shop", true),
        ("ünder", true),
        ("nominated-node:ÜNDER", true),
        // What is not printed is not searched.
        ("lost", false),
        ("host:80", false),
    ] {
        let filter = Filter::parse(text, COLUMNS).unwrap();
        assert_eq!(
            filter.matches(&TableSchema::default(), KindId::ONLY, &object(), &mut String::new()),
            expected,
            "{text}"
        );
    }
}

#[test]
fn what_no_row_has_takes_none_away_and_is_named() {
    let schema = TableSchema::of(&[&kubechurn_columns::kinds::pods::KIND]);
    let read = |text: &str| Filter::among(text, &schema, &|title| (title == "VERSION").then_some("VERSION")).unwrap();
    for (text, elsewhere) in [
        ("path:spec !by:kubelet BY:x", &["path", "by"][..]),
        ("type:added reason:x VERSION:1.37 web", &["type", "reason", "VERSION"]),
        ("kind:pod status:run owner:x ns:shop cluster:x host:80 by:", &[]),
    ] {
        assert_eq!(read(text).elsewhere(), elsewhere, "{text}");
    }
    let matches = |text: &str| read(text).matches(&schema, KindId::ONLY, &object(), &mut String::new());
    assert!(matches("path:spec by:!kubelet web VERSION:1") && !matches("path:spec db"));
    assert!(matches("kind:pod") && !matches("kind:node") && !matches("!kind:pod"));
}

#[test]
fn a_state_is_looked_for_as_in_the_feed() {
    let schema = TableSchema::of(&[&kubechurn_columns::kinds::pods::KIND, &kubechurn_columns::kinds::nodes::KIND]);
    let pod = |phase: &str| {
        let pod = format!(r#"{{"metadata":{{"name":"a"}},"status":{{"phase":"{phase}"}}}}"#);
        (kubechurn_columns::kinds::pods::KIND.decode.0)(&pod).unwrap()
    };
    let is_found = |text: &str, phase: &str| {
        let filter = Filter::over(text, &schema).unwrap();
        filter.matches(&schema, KindId(0), &pod(phase), &mut String::new())
    };
    assert!(is_found("status:failing", "Failed") && !is_found("status:failing", "Running"));
    assert!(is_found("STATUS:!failing run", "Running") && is_found("status:fail", "Failed"));
    let owned = r#"{"metadata":{"name":"a","ownerReferences":[{"apiVersion":"apps/v1","kind":"ReplicaSet","name":"web-1","uid":"u"}]}}"#;
    let owned = (kubechurn_columns::kinds::pods::KIND.decode.0)(owned).unwrap();
    let has_owner =
        |text: &str| Filter::over(text, &schema).unwrap().matches(&schema, KindId(0), &owned, &mut String::new());
    // What owners an object has is kept where its reader is asked for them.
    assert_eq!(has_owner("owner:replicaset/web"), owned.owners.is_some());
    assert!(!has_owner("owner:job"));
    // An object of which only the key is left passes by the key.
    let key = ObjectKey::new("shop", "web-1");
    let by_key = |text: &str| Filter::over(text, &schema).unwrap().matches_key(&schema, KindId(1), &key);
    assert!(by_key("web ns:shop kind:node !status:x") && !by_key("status:x") && !by_key("READY:1"));
}

#[test]
fn what_cannot_be_read_is_said() {
    for (text, expected) in [
        ("/", "the regular expression / has no end"),
        ("web status:/a", "the regular expression status:/a has no end"),
        ("/a\\/", "has no end"),
        ("/(/", "/(/ is no regular expression: "),
        ("!/[/ web", "/[/ is no regular expression: "),
    ] {
        let error = Filter::parse(text, COLUMNS).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn marks_say_where_it_matched() {
    for (text, part, cell, expected) in [
        ("e", Part::Name, "wEbe", &[(1, 2), (3, 4)][..]),
        ("we eb", Part::Name, "web-web", &[(0, 3), (4, 7)]),
        ("!web", Part::Name, "web", &[]),
        ("status:o", Part::Name, "o", &[]),
        ("status:o", Part::Column(0), "oxo", &[(0, 1), (2, 3)]),
        ("/[0-9]+/", Part::Namespace, "a12b3", &[(1, 3), (4, 5)]),
        ("/x*/", Part::Namespace, "ab", &[]),
        ("ü", Part::Name, "aÜb", &[(1, 3)]),
        ("i", Part::Name, "İx", &[(0, 2)]),
        ("aa", Part::Name, "aaaaa", &[(0, 4)]),
    ] {
        let marks = Filter::parse(text, COLUMNS).unwrap().marks(part, cell);
        let marks: Vec<(usize, usize)> = marks.into_iter().map(|mark| (mark.start, mark.end)).collect();
        assert_eq!(marks, expected, "{text} in {cell}");
    }
}

#[test]
fn a_filter_that_is_typed_further_lets_through_no_more() {
    let narrows = |before: &str, after: &str| {
        Filter::parse(after, COLUMNS).unwrap().narrows(&Filter::parse(before, COLUMNS).unwrap())
    };
    for (before, after) in [("", "w"), ("w", "we"), ("w", "we db"), ("b", "web"), ("!web", "!we"), ("/a/", "/a/ b")] {
        assert!(narrows(before, after), "{before} > {after}");
    }
    for (before, after) in [("we", "w"), ("w", "db"), ("!w", "!we"), ("w", "!w"), ("w", "name:w"), ("/a/", "/ab/")] {
        assert!(!narrows(before, after), "{before} > {after}");
    }
}

#[test]
fn a_filter_means_the_same_in_the_table_and_in_the_feed() {
    let (pods, nodes) = (&kubechurn_columns::kinds::pods::KIND, &kubechurn_columns::kinds::nodes::KIND);
    let mut elsewhere = *nodes;
    elsewhere.resource.cluster = "west";
    let schema = TableSchema::of(&[pods, Box::leak(Box::new(elsewhere))]);
    for text in [
        "",
        "  WEB   shop ",
        "! !web !",
        "ns:shop Namespace:shop NAME-SPACE:!shop !ns:!shop",
        "kind:pod !KIND:node cluster:!west",
        "name:/^web-[0-9a-f]+ x$/ !/a b/ name:",
        "10.0.0.1:80 a:b !a:!b :x a\u{a0}b",
        "ns: shop",
    ] {
        let feed = grammar::parse(text, &Part::named).unwrap();
        assert!(*Filter::over(text, &schema).unwrap().terms == *feed, "{text}");
    }
    for text in ["/", "x !ns:/kube let", "name:/(/"] {
        let feed = kubechurn_changes::filter::Filter::parse(text).unwrap_err();
        assert_eq!(Filter::over(text, &schema).unwrap_err(), feed, "{text}");
    }
}
