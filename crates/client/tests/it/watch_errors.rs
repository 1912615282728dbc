//! Recorded watches that fail or end. Each is played to a reflector that has just asked for such a watch, and must lead to what
//! the protocol says.

use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::reflector::{Input, Options};
use serde_json::Value;

use kubechurn_client::testing::Conversation;

/// One recorded case and what follows from it.
struct Case {
    name: &'static str,
    /// What happened before, so that the reflector asks for such a watch.
    before: &'static [(&'static str, &'static str)],
    /// The actions that the frames and the close, or the probe's answer, lead to.
    actions: &'static str,
    /// What must be seen then.
    after: &'static [(&'static str, &'static str)],
}

const STREAM: &[(&str, &str)] = &[("start", "stream unset")];
const WATCH: &[(&str, &str)] =
    &[("start", "stream unset"), ("open", ""), ("END 5", ""), ("+9000", ""), ("close 1000", "watch 5")];
const RELIST: &[(&str, &str)] = &[
    ("start", "stream unset"),
    ("open", ""),
    ("END 5", ""),
    ("ERROR 500 InternalError etcd", "wait 800"),
    ("timer", "stream 5"),
];
const LISTED: &[(&str, &str)] =
    &[("start", "stream unset"), ("open", ""), ("close 1000", "list 0 limit 500"), ("page 5 a@4", "watch 5")];

const CASES: &[Case] = &[
    Case {
        name: "watch from an expired resourceVersion",
        before: WATCH,
        actions: "wait 800",
        after: &[("words", "Expired: too old resource version: 1 (754)"), ("health", "Stale"), ("timer", "stream 5")],
    },
    Case {
        name: "streaming list from a resourceVersion ahead of the server",
        before: RELIST,
        actions: "stream unset",
        after: &[("health", "Stale"), ("END 3", ""), ("health", "Live"), ("version", "3")],
    },
    Case {
        name: "plain watch from a resourceVersion ahead of the server",
        before: WATCH,
        actions: "watch 5",
        after: &[
            ("open", ""),
            // Such a watch looks like one of a cluster in which nothing happens. The heartbeat notices, because it also asks
            // for the version.
            ("ask", ""),
            (r#"unproven 504 {"kind":"Status","message":"Too large resource version: 5, current: 3"}"#, "wait 800"),
            ("health", "Stale"),
            ("timer", "stream 5"),
            ("open", ""),
            (
                r#"frame {"type":"ERROR","object":{"kind":"Status","code":504,"message":"Too large resource version"}}"#,
                "stream unset",
            ),
        ],
    },
    Case {
        name: "sendInitialEvents without resourceVersionMatch",
        before: STREAM,
        actions: "list 0 limit 500",
        after: &[("health", "Listing"), ("words", ""), ("page 5 a@4", "watch 5")],
    },
    Case {
        name: "malformed resourceVersion",
        before: WATCH,
        actions: "wait 800",
        after: &[
            (
                "words",
                "Expired: resourceVersion: Invalid value: \"abc\": strconv.ParseUint: parsing \"abc\": invalid syntax",
            ),
            ("health", "Stale"),
            ("timer", "stream 5"),
            ("close 1006", "probe stream 5"),
            ("fail 410 Expired gone", "stream unset"),
        ],
    },
    Case {
        name: "unknown resource",
        before: STREAM,
        actions: "list 0 limit 500",
        after: &[
            ("fail 404 NotFound the server could not find the requested resource", "wait"),
            ("health", "Stopped"),
            ("words", "Refused: the server could not find the requested resource"),
            ("start", "stream unset"),
        ],
    },
    Case {
        name: "watch a collection that has no watch verb",
        before: LISTED,
        actions: "wait 800",
        after: &[
            ("health", "Stale"),
            ("words", "Refused: watch is not supported on resources of kind \"componentstatuses\""),
            ("drain", "Added a@4"),
            // The objects are listed again and again instead.
            ("timer", "stream 5"),
            ("close 1006", "probe stream 5"),
            ("text 405 no", "list 5"),
            ("page 9 a@8", "watch 9"),
            ("health", "Stale"),
            ("drain", "Updated a@4>8"),
        ],
    },
    Case {
        name: "one object by fieldSelector",
        before: WATCH,
        actions: "watch 364",
        after: &[("drain", "Added shop@364"), ("health", "Live"), ("words", "")],
    },
    Case {
        name: "bad fieldSelector",
        before: STREAM,
        actions: "list 0 limit 500",
        after: &[
            ("fail 400 BadRequest no such label", "wait"),
            ("health", "Stopped"),
            ("words", "Refused: no such label"),
        ],
    },
    Case {
        name: "bad labelSelector",
        before: STREAM,
        actions: "list 0 limit 500",
        after: &[("text 400 no", "wait"), ("health", "Stopped"), ("words", "Refused: no")],
    },
    Case {
        name: "idle watch that times out, with bookmarks",
        before: STREAM,
        actions: "watch 1918",
        after: &[
            ("drain", "Added lr@1580"),
            ("synced", "true"),
            ("health", "Live"),
            ("timer", ""),
            ("health", "Stale"),
            ("open", ""),
            ("health", "Stale"),
            ("ask", ""),
            ("+1000", ""),
            ("quiet checked", ""),
            ("health", "Live"),
        ],
    },
];

#[test]
fn each_recorded_failure_ends_where_the_protocol_says() {
    let recorded: Vec<Value> =
        serde_json::from_str(include_str!("../../../../tests/fixtures/watch-errors.json")).unwrap();
    let names: Vec<&str> = recorded.iter().map(|case| case["case"].as_str().unwrap()).collect();
    assert_eq!(names, CASES.iter().map(|case| case.name).collect::<Vec<_>>());
    for (recorded, case) in recorded.iter().zip(CASES) {
        println!("{}", case.name);
        let mut talk = Conversation::new(Options::default());
        talk.check(case.before);
        assert_eq!(play(&mut talk, recorded), case.actions, "{}", case.name);
        talk.check(case.after);
    }
}

/// Plays the recording up to the first action, and returns that. The rest is not played, because with an action the socket is
/// closed.
fn play(talk: &mut Conversation, recorded: &Value) -> String {
    if recorded["upgrade"] == 101 {
        talk.line("open");
        for frame in recorded["frames"].as_array().unwrap() {
            let action = talk.input(Input::Frame(frame.as_str().unwrap()));
            if !action.is_empty() {
                return action;
            }
        }
        talk.line("+2000");
        return talk.input(Input::Closed(recorded["close"].as_u64().unwrap() as u16));
    }
    assert!(talk.line("close 1006").starts_with("probe "), "a refused upgrade says nothing, so that a probe asks");
    let probe = &recorded["probe"];
    let (status, body) = (probe["status"].as_u64().unwrap() as u16, probe["body"].as_str().unwrap());
    talk.input(Input::Failed(Failure::from_response(status, None, body)))
}
