//! The first list and later ones, in pages.

use kubechurn_client::cache::reflector::Options;

use kubechurn_client::testing::{Conversation, joined};

use crate::conversations::streams::relisting;

/// Lists in pages from the first.
fn paged() -> Conversation {
    Conversation::new(Options { watch_list: false, ..Options::default() })
}

/// 1. TestListPager_List: the pages are one list, at the version of the first.
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
    ]);
}

/// 6. TestReflectorPaginatingNonConsistentReadsIfWatchCacheDisabled: where the list at `0` came in pages, the server has no
///    cache, so that later lists come in pages, too.
#[test]
fn a_first_list_in_pages_keeps_later_ones_paged() {
    paged().check(&[
        ("start", "list 0 limit 500"),
        ("page 7 +t a@5", "list 0 limit 500 continue t"),
        ("page 7 b@6", "watch 7"),
        ("ERROR 410 Expired too old", "wait 800"),
        ("timer", "list 7 limit 500"),
        ("page 9 +u a@5", "list 7 limit 500 continue u"),
        ("page 9 b@6", "watch 9"),
        ("drain", "Added a@5 Added b@6"),
    ]);
}

/// 34. TestReflectorResyncWithResourceVersion.
///
/// The first list may be of any state. Later ones must not be older than the newest version that a list, an event or a bookmark
/// has reported.
#[test]
fn first_list_at_0_and_later_ones_at_the_last_version() {
    paged().check(&[
        ("start", "list 0 limit 500"),
        ("page 7 a@5", "watch 7"),
        ("ERROR 410 Expired x", "wait 800"),
        ("timer", "list 7"),
        ("page 8 a@5", "watch 8"),
        ("MODIFIED a@9", ""),
        ("ERROR 410 Expired x", "wait 1600"),
        ("timer", "list 9"),
        ("page 10 a@9", "watch 10"),
        ("BOOKMARK 30", ""),
        ("ERROR 410 Expired x", "wait 3200"),
        ("timer", "list 30"),
    ]);
}

/// 4. TestComputeListLimit: a server's cache answers `0` with the whole list, which does not count as a list in pages.
#[test]
fn a_list_at_0_may_hold_more_than_its_limit() {
    let items = joined(1..=501, |number| format!("a{number}@{number}"));
    let mut talk = paged();
    talk.check(&[
        ("start", "list 0 limit 500"),
        (&format!("page 600 {items}"), "watch 600"),
        ("ERROR 410 Expired x", "wait 800"),
        ("timer", "list 600"),
    ]);
    assert_eq!(talk.informer.ledger().replaced, 501);
}

/// 5. TestReflectorNotPaginatingNotConsistentReads: the server's cache answers a list at a version only as a whole.
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

/// 2. TestListPager_List: the token of page two has expired.
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

/// 3. TestListPager_List: a 410 on page one does not lead to the same list without pages, but to a list without a version.
#[test]
fn page_one_410_is_not_asked_again_without_pages() {
    paged().check(&[
        ("start", "list 0 limit 500"),
        ("page 7 +t a@5", "list 0 limit 500 continue t"),
        ("page 7 b@5", "watch 7"),
        ("ERROR 500 InternalError x", "wait 800"),
        ("timer", "list 7 limit 500"),
        ("fail 410 Expired too old", "list unset limit 500"),
    ]);
}

/// 35. TestReflectorExpiredExactResourceVersion, TestReflectorFullListIfExpired.
#[test]
fn expired_lists_the_newest_at_once_and_once() {
    // The whole list that page two's expiry led to may have expired as well.
    paged().check(&[
        ("start", "list 0 limit 500"),
        ("page 7 +t a@5", "list 0 limit 500 continue t"),
        ("fail 410 Expired the continue token is too old", "list 0"),
        ("fail 410 Expired too old", "list unset limit 500"),
        ("page 9 +u a@5", "list unset limit 500 continue u"),
        ("page 9 b@5", "watch 9"),
        ("drain", "Added a@5 Added b@5"),
    ]);
    paged().check(&[
        ("start", "list 0 limit 500"),
        ("fail 410 Expired too old", "list unset limit 500"),
        // This happens once. A server that refuses that list, too, is asked again after a wait.
        ("fail 410 Expired too old", "wait 800"),
        ("timer", "list unset limit 500"),
        ("page 7 a@5", "watch 7"),
        ("ERROR 500 InternalError x", "wait 1600"),
        // After a list that succeeded, the next one is asked for at a version again.
        ("timer", "list 7"),
    ]);
}

/// 36. TestReflectorFullListIfTooLarge: servers of different releases say it in three ways.
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

/// 11. Proxies, priority and fairness, and a server that never knew the resource answer in plain text.
#[test]
fn answers_without_json_are_understood() {
    for (answer, action, words) in [
        ("text 500 dial tcp: connection refused", "wait 800", "Unreachable: dial tcp: connection refused"),
        ("text 502 <html>Bad Gateway</html>", "wait 800", "Unreachable: <html>Bad Gateway</html>"),
        ("text 503 ", "wait 800", "Unreachable: HTTP status 503, without a word"),
        (
            "text 429 Too many requests, please try again later.",
            "wait 800",
            "TooManyRequests: Too many requests, please try again later.",
        ),
        ("text 403 for members alone", "wait 800", "Forbidden: not passed on to the server: for members alone"),
        ("text 401 ", "wait 800", "Unauthorized: HTTP status 401, without a word"),
        ("text 404 404 page not found", "wait", "Refused: 404 page not found"),
        ("text 410 gone", "list unset limit 500", ""),
        ("text 504 too slow", "wait 800", "Failing: too slow"),
        ("text 418 [1]", "wait", "Refused: [1]"),
    ] {
        paged().check(&[("start", "list 0 limit 500"), (answer, action), ("words", words)]);
    }
}

/// 12. The items of built-in kinds name no kind, and those of custom resources do. An item that names another kind is no row.
#[test]
fn items_without_a_kind_are_rows() {
    let page = r#"answer {"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[
        {"metadata":{"name":"a","uid":"a-1","resourceVersion":"5"}},
        {"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","uid":"b-1","resourceVersion":"6"}},
        {"apiVersion":"v1","kind":"Pod","metadata":{"name":"c","uid":"c-1","resourceVersion":"7"}},
        {"kind":"Node","apiVersion":"v1","metadata":{"name":"d","uid":"d-1","resourceVersion":"8"}}]}"#;
    let mut talk = Conversation::new(Options { watch_list: false, kind: Some("Pod"), ..Options::default() });
    talk.check(&[
        ("start", "list 0 limit 500"),
        (page, "watch 9"),
        ("drain", "Added a@5 Added b@6 Added c@7"),
        ("notices", "Malformed"),
    ]);
    assert_eq!(talk.informer.ledger().malformed_items, 1);
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

/// The object exists; only its newest state is not known, and the object says so until a newer state can be read.
#[test]
fn known_object_whose_item_cannot_be_read_stays_and_says_so() {
    let mut talk = relisting();
    let item = r#"{"metadata":{"name":"a","namespace":"n","uid":"a-1","resourceVersion":9}}"#;
    let other = r#"{"metadata":{"name":"new","namespace":"n","uid":{}}}"#;
    talk.check(&[
        ("fail 422 Invalid no", "list 7"),
        (&format!(r#"answer {{"metadata":{{"resourceVersion":"9"}},"items":[{item},{other}]}}"#), "watch 9"),
        ("drain", "Updated a@5>5 Deleted b@6"),
        ("store", "a@5"),
        ("marks", "Deleted b@6"),
    ]);
    let flaw = |talk: &Conversation| talk.informer.store().iter().next().and_then(|object| object.flaw.clone());
    assert!(flaw(&talk).is_some_and(|words| words.starts_with("its newest state could not be read")));
    let ledger = talk.informer.ledger();
    assert_eq!((ledger.malformed_items, ledger.kept, ledger.tombstones), (2, 1, 1));
    talk.check(&[("open", ""), ("MODIFIED a@10", ""), ("drain", "Updated a@5>10"), ("health", "Live")]);
    assert_eq!(flaw(&talk), None);
}

/// An object that a list does not name may be the item without a name. Another list is taken after some minutes.
#[test]
fn nothing_is_called_deleted_by_a_list_with_an_item_without_a_name() {
    let mut talk = relisting();
    talk.check(&[
        ("fail 422 Invalid no", "list 7"),
        ("page 9 ? a@8", "watch 9"),
        ("open", ""),
        ("BOOKMARK 9", ""),
        ("drain", "Updated a@5>8 Updated b@6>6"),
        ("marks", "Replaced a@8"),
        ("store", "a@8 b@6"),
        ("health", "Live"),
    ]);
    let flaws = |talk: &Conversation| talk.informer.store().iter().filter(|object| object.flaw.is_some()).count();
    assert_eq!(flaws(&talk), 1);
    // The next list has such an item, too, and calls nothing deleted.
    talk.check(&[
        ("+60000", ""),
        ("BOOKMARK 9", ""),
        ("+60000", ""),
        ("BOOKMARK 9", ""),
        ("+60000", ""),
        ("BOOKMARK 9", ""),
    ]);
    talk.check(&[("+60000", ""), ("BOOKMARK 9", ""), ("+59999", ""), ("BOOKMARK 9", ""), ("timer", "stream 9")]);
    talk.check(&[("fail 422 Invalid no", "list 9"), ("page 10 ? a@8", "watch 10"), ("open", ""), ("BOOKMARK 10", "")]);
    talk.check(&[("drain", "Synced a@8 Synced b@6")]);
    assert_eq!((flaws(&talk), talk.informer.ledger().kept), (1, 2));
    // A list of which every item can be read shows which objects are gone.
    talk.check(&[
        ("stop", "wait"),
        ("start", "stream 10"),
        ("fail 422 Invalid no", "list 10"),
        ("page 11 a@8", "watch 11"),
    ]);
    talk.check(&[("drain", "Synced a@8 Deleted b@6"), ("store", "a@8"), ("deadline", "15000")]);
}

/// Of very many such items the user is shown how many there were.
#[test]
fn many_items_without_a_name_are_reported_together() {
    let mut talk = paged();
    let items = ["?"; 5000].join(" ");
    talk.check(&[("start", "list 0 limit 500"), (&format!("page 7 {items}"), "watch 7")]);
    assert_eq!((talk.log.notices.len(), talk.informer.ledger().malformed_items), (11, 5000));
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
fn page_that_repeats_an_object_in_an_older_version() {
    let mut talk = paged();
    talk.check(&[
        ("start", "list 0 limit 500"),
        ("page 7 +t a@5 b#2@10", "list 0 limit 500 continue t"),
        // Another uid is another object, whatever its version.
        ("page 7 c@6 a@4 b#1@9", "watch 7"),
        ("drain", "Added a@5 Added b@9 Added c@6"),
        ("marks", "Replaced a@5 Replaced b#2@10 Replaced c@6 Replaced b@9"),
    ]);
    assert_eq!(talk.informer.ledger().merged, 2);
}

/// The new list takes the place of the watch that would have been opened: one deadline asks for one thing.
#[test]
fn list_that_left_a_doubt_is_taken_anew_when_its_watch_ends_too() {
    relisting().check(&[
        ("fail 422 Invalid no", "list 7"),
        ("page 9 ? a@8", "watch 9"),
        ("open", ""),
        ("+80000", ""),
        ("BOOKMARK 9", ""),
        ("+80000", ""),
        ("BOOKMARK 9", ""),
        ("+50000", ""),
        ("BOOKMARK 9", ""),
        // The list is 300 s old then, and the socket has been silent for 90 s.
        ("deadline", "90000"),
        ("timer", "stream 9"),
        ("deadline", "15000"),
    ]);
}

/// The new list takes the place of the watch that the wait was for.
#[test]
fn list_that_left_a_doubt_is_taken_anew_after_a_wait_in_which_it_was_due() {
    relisting().check(&[
        ("fail 422 Invalid no", "list 7"),
        ("page 9 ? a@8", "watch 9"),
        ("open", ""),
        ("+80000", ""),
        ("BOOKMARK 9", ""),
        ("+80000", ""),
        ("BOOKMARK 9", ""),
        ("+80000", ""),
        ("BOOKMARK 9", ""),
        ("+59500", ""),
        ("ERROR 429 TooManyRequests too many", "wait 800"),
        ("deadline", "800"),
        ("timer", "stream 9"),
        ("deadline", "15000"),
    ]);
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

/// A list has no time limit as long as something of it comes: 200 MB on a slow line take a quarter of an hour.
#[test]
fn list_that_is_slow_and_list_that_stops() {
    let mut talk = paged();
    talk.check(&[("start", "list 0 limit 500"), ("+119999", ""), ("bytes 65536", ""), ("deadline", "30000")]);
    for _ in 0..100 {
        talk.check(&[("+29999", ""), ("bytes 65536", ""), ("deadline", "30000"), ("health", "Listing")]);
    }
    talk.check(&[
        ("page 7 +token a@5", "list 0 limit 500 continue token"),
        // Each page has the whole time again.
        ("deadline", "120000"),
        ("bytes 1", ""),
        ("timer", "wait 800"),
        ("words", "Unreachable: the answer stopped in the middle"),
        ("bytes 1", ""),
        ("timer", "list 0 limit 500"),
        ("page 8 a@5 b@6", "watch 8"),
        ("bytes 1", ""),
        ("drain", "Added a@5 Added b@6"),
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
        // New objects have lower versions than those that are gone.
        ("ADDED a#2@5", ""),
        ("MODIFIED b@6", ""),
        ("drain", "Added a#2@5 Updated b@3>6"),
        ("version", "6"),
    ]);
}

#[test]
fn restored_before_the_queue_was_drained() {
    let mut talk = Conversation::new(Options::default());
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
