//! What comes over a watch.

use kubechurn::cache::reflector::Options;

use crate::talk::{Talk, check};

fn live() -> Talk {
    let mut talk = Talk::new(Options::default());
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
fn history_gone_relists_from_the_last_version_and_missed_deletes_are_told() {
    live().check(&[
        ("MODIFIED a@9", ""),
        ("ERROR 410 Expired too old resource version", "wait 800"),
        ("health", "Stale"),
        ("words", "Expired: too old resource version"),
        // Not unset: the page must not go back behind what it has shown.
        ("timer", "stream 9"),
        ("open", ""),
        ("ADDED a@9", ""),
        ("ADDED c@11", ""),
        ("END 12", ""),
        ("drain", "Updated a@5>9 Added c@11 Deleted b@6"),
        ("marks", "Updated a@9 Replaced c@11 Deleted b@6"),
        ("notices", "Relisted 2 (410: too old resource version) Gap 10000-10800 (too old resource version)"),
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
            // Behind it may be anything; only a list tells.
            ("MODIFIED a@10", ""),
            ("version", "8"),
            ("health", "Stale"),
            ("notices", "Malformed"),
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

#[test]
fn unknown_type_is_counted_and_the_watch_goes_on() {
    let mut talk = live();
    talk.check(&[
        (r#"frame {"type":"PROGRESS","object":{"metadata":{"resourceVersion":"9"}}}"#, ""),
        ("version", "9"),
        ("health", "Live"),
        ("notices", "Malformed"),
        ("marks", ""),
        (r#"frame {"type":"WHAT","object":7}"#, ""),
        ("MODIFIED a@10", ""),
        ("drain", "Updated a@5>10"),
    ]);
    assert_eq!(talk.informer.ledger().malformed, 2);
    check(&[("start", "stream unset"), ("PROGRESS a@9", ""), ("ADDED b@6", ""), ("END 7", ""), ("drain", "Added b@6")]);
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
        // Late ones have no marks, but for the deletion of something unknown.
        ("marks", "Updated a@9 Deleted b@10 Deleted b@10 Deleted b@10 Added b#2@11"),
    ]);
    assert_eq!(talk.informer.ledger().late, 8);
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
    assert_eq!(talk.informer.ledger().late, 1);
}

#[test]
fn deletion_that_a_list_did_not_see() {
    // The last state and its version differ between the wire and the tombstone: one deletion, one row's end.
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

#[test]
fn list_without_a_version_begins_the_watch_with_what_exists() {
    let mut talk = Talk::new(Options { watch_list: false, ..Options::default() });
    talk.check(&[
        ("start", "list 0 limit 500"),
        ("page  a@5", "watch unset"),
        ("open", ""),
        // In the order of names: no version among them says that everything below has been sent.
        ("ADDED a@5", ""),
        ("ADDED b@9", ""),
        ("+2000", ""),
        ("close 1006", "list 0 limit 500"),
        ("page  a@5", "watch unset"),
        ("ADDED a@5", ""),
        ("ADDED b@9", ""),
        ("MODIFIED a@12", ""),
        ("version", "12"),
    ]);
}
