//! How the first list and every relist come to their end, streamed and paged.

use kubechurn::cache::reflector::Options;

use crate::talk::{Talk, check};

/// The lines that lead to a streaming relist from version 7, with `a@5` and `b@6` in the store.
const RELIST: &[(&str, &str)] = &[
    ("start", "stream unset"),
    ("open", ""),
    ("ADDED a@5", ""),
    ("ADDED b@6", ""),
    ("END 7", ""),
    ("drain", "Added a@5 Added b@6"),
    ("marks", "Replaced a@5 Replaced b@6"),
    ("ERROR 410 Expired too old", "wait 800"),
    ("timer", "stream 7"),
    ("open", ""),
];

/// Lists in pages from the first.
fn paged() -> Talk {
    Talk::new(Options { watch_list: false, ..Options::default() })
}

fn relisting() -> Talk {
    let mut talk = Talk::new(Options::default());
    talk.check(RELIST);
    talk
}

#[test]
fn first_list_streamed() {
    check(&[
        ("health", "Connecting"),
        ("start", "stream unset"),
        ("health", "Connecting"),
        ("open", ""),
        ("health", "Listing"),
        ("ADDED a@5", ""),
        ("ADDED b@3", ""),
        ("synced", "false"),
        ("queued", "0"),
        ("END 7", ""),
        ("health", "Live"),
        ("version", "7"),
        ("synced", "false"),
        ("drain 1", "Added a@5"),
        ("synced", "false"),
        ("drain", "Added b@3"),
        ("synced", "true"),
        ("marks", "Replaced a@5 Replaced b@3"),
        ("notices", ""),
        // The socket goes on as the watch.
        ("MODIFIED a@8", ""),
        ("drain", "Updated a@5>8"),
        ("marks", "Updated a@8"),
    ]);
}

#[test]
fn an_empty_first_list_is_a_list() {
    check(&[("start", "stream unset"), ("END 7", ""), ("synced", "true"), ("health", "Live"), ("drain", "")]);
}

#[test]
fn no_streaming_list_falls_to_pages_for_this_cycle_only() {
    check(&[
        ("start", "stream unset"),
        ("close 1006", "probe stream unset"),
        ("fail 422 Invalid sendInitialEvents: Forbidden", "list 0 limit 500"),
        ("health", "Listing"),
        ("words", ""),
        ("page 7 a@5", "watch 7"),
        ("open", ""),
        ("health", "Live"),
        ("drain", "Added a@5"),
        ("marks", "Replaced a@5"),
        ("+1000", ""),
        ("ERROR 500 InternalError etcd", "wait 800"),
        ("timer", "stream 7"),
    ]);
}

#[test]
fn an_unsupported_stream_that_opens_and_says_500_falls_to_pages() {
    check(&[
        ("start", "stream unset"),
        ("open", ""),
        ("ERROR 500 InternalError etcd is too old", "list 0 limit 500"),
        ("page 7", "watch 7"),
    ]);
}

#[test]
fn pages_concatenate_and_the_version_is_the_first_ones() {
    paged().check(&[
        ("start", "list 0 limit 500"),
        ("page 7 +t a@5", "list 0 limit 500 continue t"),
        ("queued", "0"),
        ("page 9 +u b@6", "list 0 limit 500 continue u"),
        ("page 9 a@8", "watch 7"),
        ("version", "7"),
        ("drain", "Added a@8 Added b@6"),
        // It was not whole at `0`, so that the next will not be either.
        ("close 1006", "probe watch 7"),
        ("fail 500 InternalError x", "wait 800"),
        ("timer", "list 7 limit 500"),
    ]);
}

#[test]
fn a_relist_at_a_concrete_version_is_unpaged() {
    paged().check(&[
        ("start", "list 0 limit 500"),
        ("page 7 a@5 b@6", "watch 7"),
        ("open", ""),
        ("drain", "Added a@5 Added b@6"),
        ("ERROR 410 Expired too old", "wait 800"),
        ("timer", "list 7"),
        ("page 9 b@6 c@8", "watch 9"),
        ("drain", "Synced b@6 Added c@8 Deleted a@5"),
        ("marks", "Replaced a@5 Replaced b@6 Replaced c@8 Deleted a@5"),
    ]);
}

#[test]
fn page_two_410_lists_all_at_once_at_the_version_asked_for_first() {
    let mut talk = paged();
    talk.check(&[
        ("start", "list 0 limit 500"),
        ("page 7 +t a@5", "list 0 limit 500 continue t"),
        ("fail 410 Expired the continue token is too old", "list 0"),
        ("health", "Listing"),
        ("page 9 a@5 b@8", "watch 9"),
        ("health", "Live"),
        ("drain", "Added a@5 Added b@8"),
        ("notices", ""),
    ]);
    assert_eq!(talk.informer.ledger().discarded, 1);
}

#[test]
fn page_one_410_lists_unset_at_once() {
    paged().check(&[
        ("start", "list 0 limit 500"),
        ("fail 410 Expired too old", "list unset limit 500"),
        // Once. A server that has nothing newer to offer is left alone for a while.
        ("fail 410 Expired too old", "wait 800"),
        ("timer", "list unset limit 500"),
        ("page 7 a@5", "watch 7"),
        ("ERROR 500 InternalError x", "wait 1600"),
        // The mark that made it unset went with the success.
        ("timer", "list 7"),
    ]);
}

#[test]
fn too_large_in_any_spelling_asks_for_the_newest_at_once() {
    let spellings = [
        r#"{"kind":"Status","reason":"Timeout","code":504,"message":"x","details":{"causes":[{"reason":"ResourceVersionTooLarge","message":"y"}]}}"#,
        r#"{"kind":"Status","reason":"Timeout","code":504,"message":"x","details":{"causes":[{"message":"Too large resource version"}]}}"#,
        r#"{"kind":"Status","reason":"Timeout","code":504,"message":"Timeout: Too large resource version: 9, current: 5"}"#,
    ];
    for status in spellings {
        let failed = format!("text 504 {status}");
        let event = format!(r#"frame {{"type":"ERROR","object":{status}}}"#);
        relisting().check(&[(&*event, "stream unset")]);
        paged().check(&[
            ("start", "list 0 limit 500"),
            ("page 7", "watch 7"),
            ("ERROR 500 InternalError x", "wait 800"),
            ("timer", "list 7"),
            (&*failed, "list unset limit 500"),
        ]);
    }
}

#[test]
fn expired_in_a_stream_streams_unset_at_once_and_once() {
    relisting().check(&[
        ("ERROR 410 Expired too old", "stream unset"),
        ("open", ""),
        ("ERROR 410 Expired too old", "list unset limit 500"),
        ("page 3 a@2", "watch 3"),
    ]);
}

#[test]
fn stream_refused_with_429_backs_off_and_streams() {
    check(&[
        ("start", "stream unset"),
        ("close 1006", "probe stream unset"),
        ("text 429 Too many requests, please try again later.", "wait 800"),
        ("health", "Connecting"),
        ("words", "TooManyRequests: Too many requests, please try again later."),
        ("timer", "stream unset"),
    ]);
}

#[test]
fn stream_ends_before_its_bookmark() {
    let mut talk = relisting();
    talk.check(&[
        // With events: discarded, streamed again, no sooner than a second after the last opening.
        ("ADDED a@9", ""),
        ("close 1000", "wait 1000"),
        ("store", "a@5 b@6"),
        ("drain", ""),
        ("timer", "stream 7"),
        ("open", ""),
        // After a second without: streamed again at once.
        ("+1500", ""),
        ("close 1000", "stream 7"),
        // Very short and without: pages.
        ("open", ""),
        ("close 1000", "list 7"),
        ("page 9 a@9", "watch 9"),
        ("drain", "Updated a@5>9 Deleted b@6"),
        ("store", "a@9"),
    ]);
    assert_eq!(talk.informer.ledger().discarded, 1);
}

#[test]
fn bookmark_without_the_annotation_or_with_false_does_not_sync() {
    check(&[
        ("start", "stream unset"),
        ("ADDED a@5", ""),
        ("BOOKMARK 6", ""),
        (
            r#"frame {"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"6","annotations":{"k8s.io/initial-events-end":"false"}}}}"#,
            "",
        ),
        ("drain", ""),
        ("health", "Listing"),
        ("synced", "false"),
        // Nor does it say where a stream could resume.
        ("version", ""),
        ("END 7", ""),
        ("drain", "Added a@5"),
        ("synced", "true"),
    ]);
}

#[test]
fn changes_before_the_end_bookmark() {
    let mut talk = relisting();
    talk.check(&[
        ("ADDED a@5", ""),
        ("ADDED b@6", ""),
        ("ADDED c@8", ""),
        ("MODIFIED a@9", ""),
        ("DELETED b@10", ""),
        ("DELETED z@10", ""),
        ("END 11", ""),
        ("drain", "Updated a@5>9 Added c@8 Deleted b@6"),
        // What is known already has no second mark; what is new has its own, in order.
        ("marks", "Replaced c@8 Updated a@9 Deleted b@10 Deleted z@10"),
        ("notices", "Relisted 2 (410: too old) Gap 0-800 (too old)"),
    ]);
}

#[test]
fn late_frames_in_a_stream() {
    let mut talk = relisting();
    talk.check(&[
        ("ADDED a@9", ""),
        ("ADDED a@5", ""),
        ("DELETED a@8", ""),
        ("END 11", ""),
        ("drain", "Updated a@5>9 Deleted b@6"),
        ("marks", "Replaced a@9 Deleted b@6"),
    ]);
    assert_eq!(talk.informer.ledger().late, 2);
}

#[test]
fn malformed_frame_in_a_stream_falls_to_pages() {
    let mut talk = relisting();
    talk.check(&[("ADDED a@9", ""), ("frame {", "list 7"), ("page 9 a@9", "watch 9"), ("store", "a@5 b@6")]);
    let ledger = talk.informer.ledger();
    assert_eq!((ledger.malformed, ledger.discarded), (1, 1));
}

#[test]
fn list_item_without_a_name_costs_only_itself() {
    let mut talk = paged();
    talk.check(&[
        ("start", "list 0 limit 500"),
        ("page 7 a@5 ? b@6", "watch 7"),
        ("drain", "Added a@5 Added b@6"),
        ("notices", "Malformed"),
    ]);
    assert_eq!(talk.informer.ledger().malformed_items, 1);
}

#[test]
fn duplicate_item_counts_once() {
    let mut talk = paged();
    talk.check(&[
        ("start", "list 0 limit 500"),
        ("page 7 a@5 a@6", "watch 7"),
        ("drain", "Added a@6"),
        ("synced", "true"),
    ]);
    assert_eq!(talk.informer.ledger().merged, 1);
}

#[test]
fn continue_token_that_never_ends() {
    for again in ["page 7 +t b@6", "page 7 +u", "page 7 +u a@5"] {
        let mut talk = paged();
        talk.check(&[
            ("start", "list 0 limit 500"),
            ("page 7 +t a@5", "list 0 limit 500 continue t"),
            (again, "wait 800"),
            ("words", "Failing: the list does not end: the server repeats itself"),
            ("store", ""),
            ("timer", "list 0 limit 500"),
        ]);
    }
}

#[test]
fn answer_that_is_no_list() {
    for answer in
        ["answer <html>", "answer {}", r#"answer {"kind":"Table","metadata":{"resourceVersion":"9"},"rows":[]}"#]
    {
        let mut talk = relisting();
        talk.check(&[
            ("open", ""),
            ("close 1000", "list 7"),
            (answer, "wait 1600"),
            ("health", "Stale"),
            ("store", "a@5 b@6"),
        ]);
    }
}

#[test]
fn list_that_never_arrives() {
    paged().check(&[
        ("start", "list 0 limit 500"),
        ("deadline", "120000"),
        ("timer", "wait 800"),
        ("words", "Unreachable: no answer in time"),
        ("page 7 a@5", ""),
        ("store", ""),
    ]);
}

#[test]
fn server_restored_with_lower_versions() {
    relisting().check(&[
        ("ERROR 504 Timeout Timeout: Too large resource version: 7, current: 4", "stream unset"),
        ("open", ""),
        ("ADDED b@3", ""),
        ("END 4", ""),
        ("version", "4"),
        ("drain", "Updated b@6>3 Deleted a@5"),
        // What is new has lower versions than what is gone.
        ("ADDED a#2@5", ""),
        ("MODIFIED b@6", ""),
        ("drain", "Added a#2@5 Updated b@3>6"),
        ("version", "6"),
    ]);
}

#[test]
fn restored_before_the_queue_was_drained() {
    let mut talk = Talk::new(Options::default());
    talk.check(&[
        ("start", "stream unset"),
        ("ADDED a@5", ""),
        ("END 7", ""),
        ("ADDED b@8", ""),
        ("DELETED a@9", ""),
        ("ERROR 410 Expired too old", "wait 800"),
        ("timer", "stream 9"),
        ("ERROR 504 Timeout Too large resource version", "stream unset"),
        ("END 4", ""),
        ("ADDED a#2@5", ""),
        ("ADDED b#2@6", ""),
        ("drain", "Added a@5 Deleted a@9 Added a#2@5 Added b@8 Deleted b@8 Added b#2@6"),
    ]);
}
