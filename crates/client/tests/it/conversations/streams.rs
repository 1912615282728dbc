//! The first list and later ones, streamed.

use kubechurn_client::cache::reflector::Options;

use kubechurn_client::testing::{Conversation, check};

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

/// A streaming relist whose initial events are to come.
pub fn relisting() -> Conversation {
    let mut talk = Conversation::new(Options::default());
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
        // A proxy may have accepted the socket.
        ("health", "Connecting"),
        ("ADDED a@5", ""),
        ("health", "Listing"),
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
    ]);
}

/// 49. TestWatchList: the socket of a complete streaming list is the watch, and the one after it is plain.
#[test]
fn a_streams_socket_goes_on_as_the_watch_and_the_next_one_is_plain() {
    check(&[
        ("start", "stream unset"),
        ("open", ""),
        ("ADDED a@5", ""),
        // The end of the list asks for no new action: the socket stays.
        ("END 7", ""),
        ("MODIFIED a@8", ""),
        ("drain", "Added a@8"),
        ("marks", "Replaced a@5 Updated a@8"),
        ("+300000", ""),
        ("close 1000", "watch 8"),
        ("open", ""),
        ("ADDED b@9", ""),
        ("drain", "Added b@9"),
        ("version", "9"),
    ]);
}

/// 50. TestInitialEventsEndBookmarkTicker: a streaming list that brings nothing for ten seconds is reported, and again every
///     ten seconds.
#[test]
fn missing_end_is_reported_while_nothing_comes() {
    check(&[
        ("start", "stream unset"),
        // Before it opens, the socket's own deadline holds.
        ("deadline", "15000"),
        ("open", ""),
        ("deadline", "10000"),
        ("+4000", ""),
        ("ADDED a@5", ""),
        // As long as events come there is nothing to report.
        ("deadline", "10000"),
        ("timer", ""),
        ("notices", "Late 10000"),
        ("deadline", "10000"),
        ("+3000", ""),
        ("notices", ""),
        ("timer", ""),
        ("notices", "Late 20000"),
        ("ADDED b@6", ""),
        ("timer", ""),
        ("notices", "Late 10000"),
        ("health", "Listing"),
        ("END 7", ""),
        // After the list comes the watch, which may be silent.
        ("deadline", "90000"),
        ("drain", "Added a@5 Added b@6"),
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

/// 48. TestWatchList: a stream that ends early is begun again, and nothing of it is kept.
#[test]
fn stream_ends_before_its_bookmark() {
    let mut talk = relisting();
    talk.check(&[
        // A stream with events is discarded and begun again, no sooner than a second after the last socket was asked for.
        ("ADDED a@9", ""),
        ("close 1000", "wait 1000"),
        ("store", "a@5 b@6"),
        ("drain", ""),
        ("timer", "stream 7"),
        ("open", ""),
        // A stream without events that lasted a second is begun again at once.
        ("+1500", ""),
        ("close 1000", "stream 7"),
        // After a very short stream without events the list comes in pages.
        ("open", ""),
        ("close 1000", "list 7"),
        ("page 9 a@9", "watch 9"),
        ("drain", "Updated a@5>9 Deleted b@6"),
        ("store", "a@9"),
    ]);
    assert_eq!(talk.informer.ledger().discarded, 1);
}

/// 47. TestWatchList: the list is not complete before a bookmark is annotated with `true`.
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
        // Such a bookmark also gives no version from which a stream could resume.
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
        // An object that is known already has no second mark, and each new state has a mark, in order.
        ("marks", "Replaced c@8 Updated a@9 Deleted b@10 Deleted z@10"),
        ("notices", "Stale (too old) Relisted 2 (410: too old) Gap 0-800 (too old)"),
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
fn stream_that_stalls() {
    check(&[
        ("start", "stream unset"),
        ("open", ""),
        ("ADDED a@5", ""),
        ("+20000", ""),
        ("timer", ""),
        ("notices", "Late 20000"),
        ("ADDED b@6", ""),
        ("+30000", ""),
        ("timer", "stream unset"),
        // The list is asked for again at once, so that there is nothing to report.
        ("notices", ""),
        ("health", "Connecting"),
        ("open", ""),
        ("ADDED a@5", ""),
        ("END 7", ""),
        ("drain", "Added a@5"),
    ]);
}
