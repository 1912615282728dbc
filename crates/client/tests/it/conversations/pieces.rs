//! Lists that are read as they come: what a part of a list is worth, and what becomes of it where the rest does not come.

use kubechurn_client::cache::reflector::{Input, Options};

use kubechurn_client::testing::{Conversation, joined, object, page};

/// Lists by fetch.
fn fetching() -> Conversation {
    Conversation::new(Options { watch_list: false, ..Options::default() })
}

/// A list that is under way again, at version 7, with `a@5` and `b@6` in the store.
fn relisting() -> Conversation {
    let mut talk = fetching();
    talk.check(&[
        ("start", "list 0 limit 500"),
        ("page 7 a@5 b@6", "watch 7"),
        ("open", ""),
        ("drain", "Added a@5 Added b@6"),
        ("marks", "Replaced a@5 Replaced b@6"),
        ("ERROR 410 Expired too old", "wait 800"),
        ("timer", "list 7"),
        ("notices", "Stale (too old)"),
    ]);
    talk
}

/// The beginning of a list that holds these objects, up to a place in the middle of the last one.
fn beginning(objects: &[&str]) -> String {
    let items: Vec<String> = objects.iter().map(|text| object(text)).collect();
    let text = format!(r#"piece {{"metadata":{{"resourceVersion":"9"}},"items":[{}"#, items.join(","));
    text[..text.len() - 10].to_owned()
}

/// A list whose every byte comes by itself is the list that comes at once.
#[test]
fn a_list_in_single_bytes_is_the_list() {
    let text = page("9 b@8 c@7 ? a@9");
    let mut talk = relisting();
    talk.check(&[("health", "Stale")]);
    for byte in text.as_bytes().chunks(1) {
        assert_eq!(talk.input(Input::Piece(byte)), "");
        assert!(talk.informer.is_balanced(), "{:?}", talk.informer.ledger());
        assert_eq!(talk.line("queued"), "0");
    }
    talk.check(&[
        ("version", "7"),
        ("end", "watch 9"),
        ("drain", "Updated a@5>9 Updated b@6>8 Added c@7"),
        ("marks", "Replaced b@8 Replaced c@7 Replaced a@9"),
        ("version", "9"),
        ("health", "Stale"),
        ("open", ""),
        ("BOOKMARK 9", ""),
        ("health", "Live"),
    ]);
}

/// Each item is reported as soon as it is complete, and is no part of what is known before its list is.
#[test]
fn items_are_delivered_before_the_list_ends() {
    let mut talk = fetching();
    talk.check(&[
        ("start", "list 0 limit 500"),
        ("health", "Listing"),
        (&beginning(&["a@5", "b@6", "c@7"]), ""),
        ("marks", "Replaced a@5 Replaced b@6"),
        ("health", "Listing"),
        ("queued", "0"),
        ("drain", ""),
        ("store", ""),
        ("synced", "false"),
        ("version", ""),
    ]);
    assert_eq!((talk.informer.reflector().listing(), talk.informer.ledger().pending), (Some(2), 2));
}

/// Of a list that breaks nothing is concluded: not that what it named is there, and not that what it did not name is gone.
#[test]
fn a_list_that_breaks_in_the_middle_changes_nothing() {
    for end in ["unreachable", "timer", "woke", "stop", "text 500 x", "end", "piece \"}}}", "piece \"}} {"] {
        let mut talk = relisting();
        talk.check(&[("+1000", ""), (&beginning(&["b@8", "c@9", "d@9"]), ""), ("marks", "Replaced b@8 Replaced c@9")]);
        let before = *talk.informer.ledger();
        assert_eq!((before.pending, before.discarded), (2, 0), "{end}");
        let next = talk.line(end);
        let ledger = *talk.informer.ledger();
        assert!(talk.informer.is_balanced(), "{end}: {ledger:?}");
        assert_eq!((ledger.pending, ledger.lists, ledger.tombstones), (0, 1, 0), "{end}");
        assert_eq!(ledger.discarded, ledger.listed - ledger.malformed_items - 2, "{end}");
        talk.check(&[("drain", ""), ("store", "a@5 b@6"), ("version", "7"), ("synced", "true")]);
        assert!(matches!(&*talk.line("health"), "Stale" | "Stopped"), "{end}");
        if next != "list 7" {
            // What comes late of the broken list is no part of the next one.
            let late = page("9 x@8");
            assert_eq!(talk.input(Input::Piece(late.as_bytes())), "", "{end}");
            talk.check(&[("end", ""), ("store", "a@5 b@6")]);
            let next = if end == "stop" { talk.line("start") } else { talk.line("timer") };
            assert_eq!(next, "list 7", "{end}");
        }
        talk.check(&[("page 10 b@8 c@9", "watch 10"), ("drain", "Updated b@6>8 Added c@9 Deleted a@5")]);
    }
}

/// The first list, too: what came of it is not known when it breaks, and is reported again with the next list.
#[test]
fn a_first_list_that_breaks_leaves_nothing_known() {
    let mut talk = fetching();
    talk.check(&[
        ("start", "list 0 limit 500"),
        (&beginning(&["a@5", "b@6", "c@7"]), ""),
        ("unreachable", "wait 800"),
        ("words", "Unreachable: no answer"),
        ("store", ""),
        ("synced", "false"),
        ("health", "Connecting"),
        ("timer", "list 0 limit 500"),
        ("page 9 a@5", "watch 9"),
        ("drain", "Added a@5"),
        ("synced", "true"),
    ]);
    assert_eq!(talk.informer.ledger().discarded, 2);
}

/// A proxy that cuts an answer short need not say so.
#[test]
fn a_body_that_ends_early_is_no_list() {
    let mut talk = relisting();
    talk.check(&[
        (&beginning(&["b@8", "c@9"]), ""),
        ("end", "wait 1600"),
        ("store", "a@5 b@6"),
        ("timer", "list 7"),
        // No byte at all is no list either.
        ("end", "wait 3200"),
        ("timer", "list 7"),
        ("piece {", ""),
        ("end", "wait 6400"),
    ]);
    assert!(talk.line("words").starts_with("Failing: the answer is no list"));
}

/// The rules of pages hold in pieces: the token of page two has expired, and what had come is dropped.
#[test]
fn a_token_that_expires_after_pages_that_came_in_pieces() {
    let mut talk = fetching();
    let (one, two) = (page("7 +t a@5 b@6"), page("7 c@7"));
    talk.check(&[("start", "list 0 limit 500")]);
    for piece in one.as_bytes().chunks(7) {
        assert_eq!(talk.input(Input::Piece(piece)), "");
    }
    talk.check(&[
        ("end", "list 0 limit 500 continue t"),
        ("deadline", "120000"),
        ("fail 410 Expired the continue token is too old", "list 0"),
        ("fail 429 TooManyRequests busy", "wait 800"),
        ("timer", "list 0 limit 500"),
    ]);
    for piece in two.as_bytes().chunks(7) {
        assert_eq!(talk.input(Input::Piece(piece)), "");
    }
    talk.check(&[("end", "watch 7"), ("drain", "Added c@7"), ("marks", "Replaced a@5 Replaced b@6 Replaced c@7")]);
    assert_eq!(talk.informer.ledger().discarded, 2);
}

/// A server that is overloaded says how long to wait, after some pages, too.
#[test]
fn too_many_requests_waits_as_long_as_the_server_asks() {
    let mut talk = relisting();
    talk.check(&[
        (r#"text 429 {"kind":"Status","details":{"retryAfterSeconds":7}}"#, "wait 7000"),
        ("timer", "list 7"),
    ]);
    talk.check(&[(&beginning(&["b@8", "c@9"]), ""), ("store", "a@5 b@6")]);
}

/// A page that begins must go on. The answer's first line is no sign of that: servers send it before they have the list.
#[test]
fn a_list_ends_by_its_progress_and_not_by_its_time() {
    let mut talk = fetching();
    talk.check(&[("start", "list 0 limit 500"), ("+100000", ""), ("piece ", ""), ("deadline", "20000")]);
    talk.check(&[(r#"piece {"items":["#, ""), ("deadline", "30000")]);
    for number in 1..100 {
        talk.check(&[
            ("+29000", ""),
            (&format!("piece {},", object(&format!("a{number}@5"))), ""),
            ("deadline", "30000"),
        ]);
    }
    assert_eq!(talk.informer.reflector().listing(), Some(99));
    talk.check(&[
        ("timer", "wait 800"),
        ("words", "Unreachable: the answer stopped in the middle"),
        ("deadline", "800"),
        ("drain", ""),
    ]);
}

/// Custom resources have their metadata after their items.
#[test]
fn a_list_whose_version_comes_last() {
    let mut talk = fetching();
    talk.check(&[
        ("start", "list 0 limit 500"),
        (&format!(r#"piece {{"apiVersion":"x/v1","items":[{},"#, object("a@5")), ""),
        (&format!(r#"piece {}],"kind":"XList","metadata":{{"continue":"t","#, object("b@6")), ""),
        (r#"piece "resourceVersion":"7","remainingItemCount":1}}"#, ""),
        ("end", "list 0 limit 500 continue t"),
        ("page 7 c@7", "watch 7"),
        ("drain", "Added a@5 Added b@6 Added c@7"),
    ]);
}

/// An item whose bytes are no UTF-8 exists, and its name can be read where the bytes are elsewhere.
#[test]
fn an_item_that_is_no_utf_8_is_not_called_deleted() {
    let mut talk = relisting();
    let mut bytes = page("9 a@8 b@9 c@9").into_bytes();
    let uid = bytes.windows(3).rposition(|three| three == b"b-1").unwrap();
    bytes[uid] = 0xff;
    assert_eq!(talk.input(Input::PageBytes(&bytes)), "watch 9");
    talk.check(&[
        ("drain", "Updated a@5>8 Updated b@6>6 Added c@9"),
        ("notices", "Malformed Relisted 2 (410: too old)"),
        ("open", ""),
        ("BOOKMARK 9", ""),
        ("health", "Live"),
    ]);
    assert_eq!(talk.informer.ledger().malformed_items, 1);
    // Where the name cannot be read, any object that the list does not name may be that item.
    let mut talk = relisting();
    let mut bytes = page("9 a@8 b@9").into_bytes();
    let name = bytes.windows(9).rposition(|nine| nine == br#""name":"b"#.get(..9).unwrap()).unwrap();
    bytes[name + 8] = 0xff;
    assert_eq!(talk.input(Input::PageBytes(&bytes)), "watch 9");
    talk.check(&[("drain", "Updated a@5>8 Updated b@6>6"), ("marks", "Replaced a@8")]);
}

/// An answer that never ends is given up, however it goes on.
#[test]
fn a_list_with_items_without_end_is_given_up() {
    let mut talk = relisting();
    assert_eq!(talk.input(Input::Piece(br#"{"metadata":{},"items":["#)), "");
    let piece = "7,".repeat(100_000);
    for _ in 0..10 {
        assert_eq!(talk.input(Input::Piece(piece.as_bytes())), "");
    }
    assert_eq!(talk.input(Input::Piece(piece.as_bytes())), "wait 1600");
    talk.check(&[("words", "Failing: the list does not end: there are more than 1000000 items"), ("store", "a@5 b@6")]);
}

/// A list whose items come in the middle of a page of 500 is the same as one that comes at once, in any order of names.
#[test]
fn large_lists_in_pieces_are_sorted_and_compared() {
    let names: Vec<u32> = (0..2000).map(|number| number * 7919 % 2000).collect();
    let text = page(&format!("900 {}", joined(&names, |number| format!("n{number:04}@{}", number + 1))));
    let mut talk = relisting();
    for piece in text.as_bytes().chunks(1000) {
        assert_eq!(talk.input(Input::Piece(piece)), "");
    }
    assert_eq!(talk.line("end"), "watch 900");
    let expected = joined(0..2000, |number| format!("Added n{number:04}@{}", number + 1));
    assert_eq!(talk.line("drain"), format!("{expected} Deleted a@5 Deleted b@6"));
}

/// An API that fetch may not read, because it is of another origin, still brings a streaming list over a socket.
#[test]
fn a_first_list_without_an_answer_is_tried_as_a_stream_and_stays_one() {
    let mut talk = fetching();
    talk.check(&[
        ("start", "list 0 limit 500"),
        ("unreachable", "stream unset"),
        ("health", "Connecting"),
        ("open", ""),
        ("ADDED a@5", ""),
        ("health", "Listing"),
        ("END 7", ""),
        ("drain", "Added a@5"),
        ("health", "Live"),
        ("ERROR 410 Expired too old", "wait 800"),
        // Lists are streamed from now on.
        ("timer", "stream 7"),
        ("open", ""),
        ("END 9", ""),
        ("drain", "Deleted a@5"),
    ]);
}

/// Where nothing answers at all, each attempt begins with a list by fetch, and there is a wait after each.
#[test]
fn a_server_that_is_gone_is_asked_over_http_again() {
    let mut talk = fetching();
    talk.check(&[
        ("start", "list 0 limit 500"),
        ("unreachable", "stream unset"),
        ("close 1006", "probe stream unset"),
        ("unreachable", "wait 800"),
        ("words", "Unreachable: no answer"),
        ("timer", "list 0 limit 500"),
        ("unreachable", "stream unset"),
        ("close 1006", "probe stream unset"),
        ("unreachable", "wait 1600"),
        ("timer", "list 0 limit 500"),
        ("page 7 a@5", "watch 7"),
        ("open", ""),
        ("drain", "Added a@5"),
        // An answer came once, so that nothing but a fault keeps the next one away.
        ("ERROR 500 InternalError x", "wait 800"),
        ("timer", "list 7"),
        ("unreachable", "wait 1600"),
        ("timer", "list 7"),
    ]);
}

/// Any answer shows that answers can be read: a refusal, the first line of a list, the answer to a probe.
#[test]
fn a_list_is_tried_as_a_stream_only_where_no_answer_ever_came() {
    for (answer, action) in
        [("text 500 dial tcp: connection refused", "wait 800"), ("text 429 x", "wait 800"), ("text 403 x", "wait 800")]
    {
        let mut talk = fetching();
        talk.check(&[("start", "list 0 limit 500"), (answer, action), ("timer", "list 0 limit 500")]);
        talk.check(&[("unreachable", "wait 1600")]);
    }
    fetching().check(&[("start", "list 0 limit 500"), ("piece ", ""), ("unreachable", "wait 800")]);
    fetching().check(&[
        ("start", "list 0 limit 500"),
        ("unreachable", "stream unset"),
        ("close 1006", "probe stream unset"),
        ("text 500 x", "wait 800"),
        ("timer", "list 0 limit 500"),
        ("unreachable", "wait 1600"),
    ]);
    // That no answer came in time is another matter.
    fetching().check(&[("start", "list 0 limit 500"), ("timer", "wait 800"), ("timer", "list 0 limit 500")]);
}
