//! Events, errors and frames of a watch.

use kubechurn_client::cache::reflector::Options;

use kubechurn_client::testing::{Conversation, check};

fn live() -> Conversation {
    live_with(Options::default())
}

/// A live watch at version 7, with `a@5` and `b@6` in the store; it is 10,000 ms since the start.
fn live_with(options: Options) -> Conversation {
    let mut talk = Conversation::new(options);
    talk.check(&[
        ("start", "stream unset"),
        ("open", ""),
        ("ADDED a@5", ""),
        ("ADDED b@6", ""),
        ("END 7", ""),
        ("drain", "Added a@5 Added b@6"),
        ("marks", "Replaced a@5 Replaced b@6"),
        ("+10000", ""),
    ]);
    talk
}

#[test]
fn history_gone_relists_from_the_last_version_and_missed_deletes_are_reported() {
    live().check(&[
        ("MODIFIED a@9", ""),
        ("ERROR 410 Expired too old resource version", "wait 800"),
        ("health", "Stale"),
        ("words", "Expired: too old resource version"),
        // The version is not unset: what is held must not go back to an older state.
        ("timer", "stream 9"),
        ("open", ""),
        ("ADDED a@9", ""),
        ("ADDED c@11", ""),
        ("END 12", ""),
        ("drain", "Updated a@5>9 Added c@11 Deleted b@6"),
        ("marks", "Updated a@9 Replaced c@11 Deleted b@6"),
        (
            "notices",
            "Stale (too old resource version) Relisted 2 (410: too old resource version) \
             Gap 10000-10800 (too old resource version)",
        ),
        ("health", "Live"),
    ]);
}

#[test]
fn bookmark_then_410() {
    live().check(&[
        ("BOOKMARK 20", ""),
        ("version", "20"),
        ("marks", ""),
        ("ERROR 410 Gone gone", "wait 800"),
        ("timer", "stream 20"),
    ]);
}

/// 37. TestBackoffOnTooManyRequests, TestNoRelistOnTooManyRequests: a watch that is refused with 429, or ends with it.
#[test]
fn too_many_requests_resumes_without_a_list() {
    live().check(&[
        ("close 1000", "watch 7"),
        ("close 1006", "probe watch 7"),
        ("text 429 Too many requests, please try again later.", "wait 800"),
        ("health", "Stale"),
        ("timer", "watch 7"),
        ("open", ""),
        ("ERROR 429 TooManyRequests wait", "wait 1600"),
        ("timer", "watch 7"),
        ("open", ""),
        ("MODIFIED a@8", ""),
        ("health", "Live"),
    ]);
}

#[test]
fn a_wait_that_the_server_asks_for_is_kept() {
    let asks = r#"text 429 {"kind":"Status","code":429,"details":{"retryAfterSeconds":7}}"#;
    live().check(&[("close 1000", "watch 7"), ("close 1006", "probe watch 7"), (asks, "wait 7000")]);
}

#[test]
fn internal_errors_relist() {
    live().check(&[("ERROR 500 InternalError etcd", "wait 800"), ("health", "Stale"), ("timer", "stream 7")]);
    // A watch that is refused with one has missed nothing: it is asked for again, from its version.
    live().check(&[
        ("close 1000", "watch 7"),
        ("close 1006", "probe watch 7"),
        ("fail 500 InternalError etcd", "wait 800"),
        ("timer", "watch 7"),
    ]);
}

/// 51. TestReflectorReplacesStoreOnUnsafeDelete.
///
/// A server has no event for an object that it cannot read, so that only a list says what is gone.
#[test]
fn unreadable_store_replaces_what_is_known() {
    for reason in ["StorageReadError", "InternalError"] {
        let error = format!("ERROR 500 {reason} saw a DELETED event, but object data is corrupt");
        live().check(&[
            (&*error, "wait 800"),
            ("store", "a@5 b@6"),
            ("timer", "stream 7"),
            ("open", ""),
            ("ADDED a@5", ""),
            ("END 9", ""),
            ("drain", "Synced a@5 Deleted b@6"),
            ("marks", "Deleted b@6"),
            ("store", "a@5"),
        ]);
    }
}

/// 43. TestReflectorListAndWatchWithErrors: whatever is missed through a failure comes later.
#[test]
fn errors_between_cycles_converge() {
    live().check(&[
        // A change is lost with the socket.
        ("close 1006", "watch 7"),
        ("open", ""),
        ("MODIFIED a@8", ""),
        // A list fails after its first page.
        ("ERROR 500 InternalError etcd", "wait 800"),
        ("timer", "stream 8"),
        ("open", ""),
        ("ADDED a@8", ""),
        ("ERROR 500 InternalError etcd", "list 8"),
        ("fail 500 InternalError etcd", "wait 1600"),
        ("store", "a@5 b@6"),
        ("timer", "stream 8"),
        ("close 1006", "probe stream 8"),
        ("unreachable", "wait 3200"),
        ("timer", "stream 8"),
        ("open", ""),
        ("ADDED a@8", ""),
        ("ADDED c@9", ""),
        ("END 10", ""),
        // The watch fails again, after a deletion and a new object of that name.
        ("DELETED a@11", ""),
        ("frame {", "wait 800"),
        ("timer", "stream 11"),
        ("open", ""),
        ("ADDED a#2@12", ""),
        ("ADDED c@9", ""),
        ("END 12", ""),
        ("health", "Live"),
        ("drain", "Updated a@5>8 Deleted a@11 Added a#2@12 Added c@9 Deleted b@6"),
        ("store", "a#2@12 c@9"),
    ]);
}

/// 45. TestReflectorResync: the time begins with a list, and runs on through the watches and waits that follow it.
#[test]
fn resync_is_due_since_the_list() {
    let mut talk = live_with(Options { resync: Some(200_000.0), ..Options::default() });
    talk.check(&[
        ("+100000", ""),
        ("close 1000", "watch 7"),
        ("open", ""),
        // If each watch began the time anew, a period that is longer than a watch would never end.
        ("+81000", ""),
        ("BOOKMARK 8", ""),
        ("deadline", "9000"),
        ("close 1000", "watch 8"),
        ("close 1006", "probe watch 8"),
        (r#"text 429 {"kind":"Status","code":429,"details":{"retryAfterSeconds":30}}"#, "wait 9000"),
        ("queued", "0"),
        ("timer", ""),
        ("queued", "2"),
        ("deadline", "21000"),
        ("timer", "watch 8"),
        ("ERROR 410 Expired x", "wait 1600"),
        ("timer", "stream 8"),
        ("open", ""),
        ("+5000", ""),
        ("ADDED a@5", ""),
        ("END 9", ""),
        ("+80000", ""),
        ("BOOKMARK 9", ""),
        ("+80000", ""),
        ("BOOKMARK 9", ""),
        ("deadline", "40000"),
    ]);
    talk.line("drain");
    talk.check(&[("timer", ""), ("drain", "Synced a@5"), ("deadline", "50000")]);
    assert_eq!(talk.informer.ledger().resyncs, 3);
}

#[test]
fn other_errors_relist() {
    for error in [
        "ERROR 400 BadRequest no",
        "ERROR 500 InternalError etcd",
        "ERROR 504 Timeout slow",
        "ERROR 403 Forbidden no",
        "ERROR 503 x y",
    ] {
        live().check(&[(error, "wait 800"), ("timer", "stream 7")]);
    }
    live().check(&[(r#"frame {"type":"ERROR","object":{}}"#, "wait 800"), ("timer", "stream 7")]);
}

/// 33. TestStreamWatcherError: a frame that cannot be read ends the watch.
#[test]
fn malformed_frame_holds_the_version_and_relists_once() {
    for frame in [
        "frame ",
        "frame {\"type\":\"ADDED\"",
        "frame <html>",
        "frame {\"type\":\"MODIFIED\",\"object\":{\"metadata\":{\"name\":\"a\",\"resourceVersion\":\"9\"}",
        "frame {\"type\":\"ADDED\",\"object\":{\"metadata\":{\"resourceVersion\":\"9\"}}}",
        "frame {\"type\":\"ADDED\",\"object\":{\"kind\":\"Status\"}}",
        "frame {\"type\":\"ADDED\",\"object\":{\"kind\":\"Table\",\"metadata\":{\"resourceVersion\":\"9\"},\"rows\":[]}}",
        "frame {\"type\":\"ADDED\",\"object\":7}",
        "frame {\"type\":\"BOOKMARK\",\"object\":{\"kind\":\"Pod\"}}",
    ] {
        let mut talk = live();
        talk.check(&[
            ("MODIFIED a@8", ""),
            (frame, "wait 800"),
            // The frame may have been anything, so that only a list says what is true.
            ("MODIFIED a@10", ""),
            ("version", "8"),
            ("health", "Stale"),
            ("timer", "stream 8"),
            ("open", ""),
            ("ADDED a@10", ""),
            ("ADDED b@6", ""),
            ("END 10", ""),
            ("health", "Live"),
            ("drain", "Updated a@5>10 Synced b@6"),
        ]);
        assert_eq!(talk.informer.ledger().malformed, 1);
    }
}

/// client-go logs such an event and takes its version as seen, so that what it said is unknown until the next list.
#[test]
fn unknown_type_holds_the_version_and_relists() {
    let mut talk = live();
    talk.check(&[
        (r#"frame {"type":"PROGRESS","object":{"metadata":{"resourceVersion":"9"}}}"#, "wait 800"),
        ("version", "7"),
        ("health", "Stale"),
        ("notices", r#"Malformed Stale (a frame could not be read: an event of the unknown type "PROGRESS")"#),
        ("marks", ""),
        ("timer", "stream 7"),
        ("ADDED a@9", ""),
        ("ADDED b@6", ""),
        ("END 9", ""),
        ("drain", "Updated a@5>9 Synced b@6"),
        ("health", "Live"),
    ]);
    assert_eq!(talk.informer.ledger().malformed, 1);
    check(&[("start", "stream unset"), ("PROGRESS a@9", "list 0 limit 500"), ("page 9 a@9", "watch 9")]);
}

/// 40. TestReflectorWatchHandler.
///
/// Events are applied. A frame whose object is of another kind is no row, and its version does not count as seen. In client-go
/// the watch goes on then; here a list follows, because the frame may have stood for a change.
#[test]
fn other_kinds_are_no_rows_hold_the_version_and_relist() {
    const OBJECT: &str = r#""metadata":{"name":"z","namespace":"n","uid":"z-1","resourceVersion":"9"}}}"#;
    let picky = || live_with(Options { kind: Some("Pod"), ..Options::default() });
    picky().check(&[
        (&format!(r#"frame {{"type":"ADDED","object":{{"kind":"Pod","apiVersion":"v1",{OBJECT}"#), ""),
        ("drain", "Added z@9"),
        ("MODIFIED a@10", ""),
        ("DELETED b@11", ""),
        ("drain", "Updated a@5>10 Deleted b@11"),
        ("version", "11"),
    ]);
    for kind in ["Table", "Status", "PartialObjectMetadata", "PodList", "pod"] {
        let mut talk = picky();
        let frame =
            |event| format!(r#"frame {{"type":"{event}","object":{{"kind":"{kind}","apiVersion":"v1",{OBJECT}"#);
        talk.check(&[
            ("MODIFIED a@8", ""),
            (&frame("MODIFIED"), "wait 800"),
            ("version", "8"),
            ("notices", &format!("Malformed Stale (a frame could not be read: an object of kind {kind:?} where \"Pod\" was asked for)")),
            ("timer", "stream 8"),
            ("open", ""),
            (&frame("ADDED"), "list 8"),
            ("page 12 a@8", "watch 12"),
            ("drain", "Updated a@5>8 Deleted b@6"),
        ]);
        assert_eq!(talk.informer.ledger().malformed, 2);
    }
}

/// Versions are decimal strings of any length. These are too long for any number type.
#[test]
fn versions_of_forty_digits_go_forward_only() {
    const LOW: &str = "1000000000000000000000000000000000000001";
    const HIGH: &str = "1000000000000000000000000000000000000002";
    let line = |word: &str, version: &str| format!("{word}@{version}");
    let bookmark = |version: &str| format!("BOOKMARK {version}");
    let mut talk = live();
    talk.check(&[
        (&line("MODIFIED a", LOW), ""),
        (&line("MODIFIED a", HIGH), ""),
        ("version", HIGH),
        (&line("MODIFIED a", LOW), ""),
        (&bookmark(LOW), ""),
        ("version", HIGH),
        ("drain", &format!("Updated a@5>{HIGH}")),
        (&line("MODIFIED a", LOW), ""),
        ("drain", ""),
        ("+2000", ""),
        ("close 1000", &format!("watch {HIGH}")),
        ("ERROR 410 Expired x", "wait 800"),
        ("timer", &format!("stream {HIGH}")),
        (&line("ADDED a", HIGH), ""),
        (&line("ADDED a", LOW), ""),
        (&line("DELETED a", LOW), ""),
        (&format!("END {HIGH}"), ""),
        ("drain", &format!("Synced a@{HIGH} Deleted b@6")),
        ("store", &format!("a@{HIGH}")),
    ]);
    assert_eq!(talk.informer.ledger().late, 4);
}

#[test]
fn version_never_goes_back() {
    live().check(&[
        ("MODIFIED a@90", ""),
        ("BOOKMARK 9", ""),
        ("BOOKMARK ", ""),
        ("version", "90"),
        ("MODIFIED b@100", ""),
        ("version", "100"),
    ]);
}

#[test]
fn late_and_doubled_frames_never_go_back() {
    let mut talk = live();
    talk.check(&[
        ("MODIFIED a@8", ""),
        ("MODIFIED a@9", ""),
        ("MODIFIED a@8", ""),
        ("ADDED a@5", ""),
        ("drain", "Updated a@5>9"),
        ("MODIFIED a@8", ""),
        ("DELETED b@10", ""),
        ("DELETED b@10", ""),
        ("MODIFIED b@6", ""),
        ("drain", "Deleted b@10"),
        ("DELETED b@10", ""),
        ("ADDED b#2@11", ""),
        ("DELETED b@10", ""),
        ("MODIFIED b@9", ""),
        ("drain", "Added b#2@11"),
        ("DELETED b@10", ""),
        ("store", "a@9 b#2@11"),
        // Late events have no marks, and the deletion of an unknown object has one.
        ("marks", "Updated a@8 Updated a@9 Deleted b@10 Deleted b@10 Deleted b@10 Added b#2@11"),
    ]);
    let ledger = talk.informer.ledger();
    assert_eq!((ledger.late, ledger.former, ledger.unknown), (4, 3, 1));
}

#[test]
fn late_frame_of_an_object_that_is_gone_and_forgotten() {
    // Known to be wrong: nothing is kept of an object whose deletion was drained, so that a server that sends one
    // of its frames again brings it back until the next list. Servers do not, and to refuse every version below
    // the watch's would lose objects of servers whose versions do not grow across objects.
    live().check(&[("DELETED b@8", ""), ("drain", "Deleted b@8"), ("MODIFIED b@6", ""), ("drain", "Added b@6")]);
}

#[test]
fn deletion_of_the_unknown() {
    let mut talk = live();
    talk.check(&[("DELETED z@8", ""), ("queued", "0"), ("drain", ""), ("marks", "Deleted z@8"), ("version", "8")]);
    assert_eq!((talk.informer.ledger().late, talk.informer.ledger().unknown), (0, 1));
}

#[test]
fn deletion_that_a_list_did_not_see() {
    // The DELETED and the tombstone differ in the last state and its version. They are one deletion, reported once.
    live().check(&[
        ("DELETED b@8", ""),
        ("ERROR 410 Expired x", "wait 800"),
        ("timer", "stream 8"),
        ("ADDED a@5", ""),
        ("END 9", ""),
        ("drain", "Deleted b@8 Synced a@5"),
        ("marks", "Deleted b@8"),
    ]);
}

/// 44. TestReflectorResourceVersionUpdate: what exists comes in the order of names, so that no version is known from it.
#[test]
fn list_without_a_version_begins_the_watch_with_what_exists() {
    let mut talk = Conversation::new(Options { watch_list: false, ..Options::default() });
    talk.check(&[
        ("start", "list 0 limit 500"),
        ("page  a@5", "watch unset"),
        ("open", ""),
        // These come in the order of names, so that none of their versions says that everything below it has been sent.
        ("ADDED a@5", ""),
        ("ADDED b@9", ""),
        ("+2000", ""),
        ("close 1006", "list 0 limit 500"),
        ("page  a@5", "watch unset"),
        ("ADDED a@5", ""),
        ("ADDED b@9", ""),
        ("version", ""),
        ("MODIFIED a@12", ""),
        ("version", "12"),
        ("ADDED c@13", ""),
        ("version", "13"),
    ]);
    let mut talk = Conversation::new(Options { watch_list: false, ..Options::default() });
    talk.check(&[
        ("start", "list 0 limit 500"),
        ("page 0 a@5", "watch 0"),
        ("ADDED b@9", ""),
        ("version", "0"),
        ("DELETED a@12", ""),
        ("version", "12"),
    ]);
}

#[test]
fn what_was_asked_for_and_how_the_watches_ended_is_counted() {
    let mut talk = Conversation::new(Options { watch_list: false, ..Options::default() });
    talk.check(&[
        ("start", "list 0 limit 500"),
        ("page 7 +t a@5", "list 0 limit 500 continue t"),
        ("page 7 b@6", "watch 7"),
        ("traffic", "2 lists 1 watches 0 probes, bookmark None, []"),
        ("open", ""),
        ("+10000", ""),
        ("BOOKMARK 8", ""),
        ("close 1006", "watch 8"),
        ("open", ""),
        ("+2000", ""),
        ("MODIFIED a@9", ""),
        ("close 1006", "watch 9"),
        // A socket that was refused ends as well.
        ("close 1006", "probe watch 9"),
        ("pass", "wait 800"),
        ("timer", "watch 9"),
        ("open", ""),
        ("ERROR 410 Expired too old", "wait 800"),
        ("timer", "list 9 limit 500"),
        ("page 20 a@9", "watch 20"),
        ("open", ""),
        ("+2000", ""),
        ("woke", "watch 20"),
        (
            "traffic",
            "3 lists 6 watches 1 probes, bookmark Some(10000.0), [(Closed(1006), 3), (Error(410), 1), (GivenUp, 1)]",
        ),
    ]);
}
