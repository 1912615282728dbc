//! Sockets that open, end or stay silent.

use kubechurn_client::api::object::Decode;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::reflector::{Action, Input, Options};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};

use kubechurn_client::testing::{Conversation, bookmark, check};

/// A live watch at version 7, with `a@5` in the store; it is 10,000 ms since the start.
const LIVE: &[(&str, &str)] = &[
    ("start", "stream unset"),
    ("open", ""),
    ("ADDED a@5", ""),
    ("END 7", ""),
    ("drain", "Added a@5"),
    ("marks", "Replaced a@5"),
    ("+10000", ""),
];

fn live() -> Conversation {
    let mut talk = Conversation::new(Options::default());
    talk.check(LIVE);
    talk
}

#[test]
fn clean_end_reopens_at_once_at_the_last_version() {
    live().check(&[
        ("MODIFIED a@9", ""),
        ("close 1000", "watch 9"),
        ("health", "Live"),
        ("open", ""),
        // The watch ended properly, so that everything was sent, and the heartbeat asks only when its turn comes.
        ("deadline", "90000"),
        ("+10000", ""),
        ("health", "Live"),
        ("notices", ""),
    ]);
}

#[test]
fn no_two_openings_within_a_second() {
    live().check(&[
        ("close 1000", "watch 7"),
        ("open", ""),
        ("MODIFIED a@9", ""),
        ("+300", ""),
        ("close 1000", "wait 700"),
        ("health", "Live"),
        ("reachable", ""),
        ("timer", "watch 9"),
    ]);
}

/// 41. TestReflectorHandleWatchResultChanClosedBefore: the watch ended at once, and brought nothing.
#[test]
fn very_short_watch() {
    live().check(&[
        ("close 1000", "watch 7"),
        ("open", ""),
        ("+999", ""),
        ("close 1000", "wait 800"),
        ("health", "Stale"),
        ("words", "Failing: the watch ended within a second, without an event"),
        ("timer", "stream 7"),
    ]);
    // A watch that brought a bookmark, or lasted a second, is no very short one.
    live().check(&[
        ("close 1000", "watch 7"),
        ("open", ""),
        ("BOOKMARK 8", ""),
        ("+999", ""),
        ("close 1000", "wait 1"),
    ]);
    live().check(&[("close 1000", "watch 7"), ("open", ""), ("+1000", ""), ("close 1000", "watch 7")]);
}

#[test]
fn broken_connection_is_a_gap() {
    live().check(&[
        ("MODIFIED a@8", ""),
        ("+2000", ""),
        ("close 1006", "watch 8"),
        ("health", "Stale"),
        ("words", "Unreachable: the connection broke (close code 1006)"),
        ("+100", ""),
        ("open", ""),
        ("health", "Stale"),
        ("MODIFIED a@9", ""),
        ("health", "Live"),
        ("words", ""),
        // The gap is from the last proof to the next.
        (
            "notices",
            "Stale (the connection broke (close code 1006)) Gap 10000-12100 (the connection broke (close code 1006))",
        ),
    ]);
}

/// 38. TestReflectorListAndWatchInitConnBackoff: the same request comes again after longer and longer waits. A watch that cannot
///     be opened does not lead to a list.
#[test]
fn refused_backs_off_exponentially() {
    const REFUSED: (&str, &str) = ("close 1006", "probe stream unset");
    let mut first = Conversation::new(Options::default());
    first.check(&[("start", "stream unset")]);
    for wait in ["800", "1600", "3200", "6400", "12800", "25600", "30000", "30000"] {
        let wait = format!("wait {wait}");
        first.check(&[REFUSED, ("unreachable", &wait), ("health", "Connecting"), ("timer", "stream unset")]);
    }
    // The waits begin short again two minutes after they last did.
    first.check(&[("+10000", ""), REFUSED, ("unreachable", "wait 800")]);
    let mut watch = live();
    watch.check(&[("close 1000", "watch 7")]);
    for wait in ["wait 800", "wait 1600", "wait 3200"] {
        watch.check(&[("close 1006", "probe watch 7"), ("unreachable", wait), ("timer", "watch 7")]);
    }
}

#[test]
fn an_observation_elsewhere_shortens_the_wait() {
    live().check(&[
        ("close 1006", "watch 7"),
        ("close 1006", "probe watch 7"),
        ("unreachable", "wait 800"),
        ("timer", "watch 7"),
        ("close 1006", "probe watch 7"),
        ("text 500 dial tcp: connection refused", "wait 1600"),
        ("words", "Unreachable: dial tcp: connection refused"),
        ("timer", "watch 7"),
        ("close 1006", "probe watch 7"),
        ("unreachable", "wait 3200"),
        ("health", "Stale"),
        ("+1500", ""),
        ("reachable", "watch 7"),
        ("open", ""),
        ("+60000", ""),
        ("health", "Stale"),
        ("ask", ""),
        ("quiet checked", ""),
        ("health", "Live"),
        ("store", "a@5"),
    ]);
}

#[test]
fn compacted_during_an_outage_waits_as_if_for_the_first_time() {
    live().check(&[
        ("close 1006", "watch 7"),
        ("close 1006", "probe watch 7"),
        ("unreachable", "wait 800"),
        ("timer", "watch 7"),
        ("close 1006", "probe watch 7"),
        ("unreachable", "wait 1600"),
        ("timer", "watch 7"),
        ("open", ""),
        ("ERROR 410 Expired too old", "wait 800"),
        ("timer", "stream 7"),
        ("open", ""),
        // The waits go on growing, because the trouble is the same.
        ("END 20", ""),
        ("ERROR 410 Expired too old", "wait 1600"),
    ]);
}

#[test]
fn observations_elsewhere_do_not_open_twice_a_second() {
    live().check(&[
        ("close 1006", "watch 7"),
        ("close 1006", "probe watch 7"),
        ("unreachable", "wait 800"),
        ("reachable", "wait 1000"),
        ("reachable", "wait 1000"),
        ("timer", "watch 7"),
    ]);
}

#[test]
fn trunk_accepts_before_it_dials() {
    live().check(&[
        ("close 1000", "watch 7"),
        ("open", ""),
        ("+20", ""),
        ("close 1006", "probe watch 7"),
        ("text 500 cannot connect", "wait 800"),
        ("health", "Stale"),
    ]);
    check(&[
        ("start", "stream unset"),
        ("open", ""),
        ("+20", ""),
        ("close 1006", "probe stream unset"),
        ("unreachable", "wait 800"),
        ("health", "Connecting"),
    ]);
}

#[test]
fn an_outage_is_reported_once() {
    live().check(&[
        ("close 1000", "watch 7"),
        ("close 1006", "probe watch 7"),
        // The reason is not known yet.
        ("notices", ""),
        ("unreachable", "wait 800"),
        ("notices", "Stale (no answer)"),
        ("timer", "watch 7"),
        ("open", ""),
        ("close 1006", "probe watch 7"),
        ("text 429 wait", "wait 1600"),
        ("timer", "watch 7"),
        ("open", ""),
        ("ERROR 410 Expired gone", "wait 3200"),
        ("timer", "stream 7"),
        ("notices", ""),
        ("END 9", ""),
        ("notices", "Relisted 0 (410: gone) Gap 10000-15600 (gone)"),
        // A second outage is reported again. An outage before the first list is not reported.
        ("+2000", ""),
        ("close 1006", "watch 9"),
        ("notices", "Stale (the connection broke (close code 1006))"),
    ]);
    check(&[
        ("start", "stream unset"),
        ("close 1006", "probe stream unset"),
        ("unreachable", "wait 800"),
        ("notices", ""),
    ]);
}

#[test]
fn probe_finds_nothing_wrong() {
    check(&[
        ("start", "stream unset"),
        ("close 1006", "probe stream unset"),
        ("pass", "wait 800"),
        ("words", "Unreachable: the server answers over HTTP, but the WebSocket could not be opened"),
        ("timer", "stream unset"),
    ]);
}

#[test]
fn probe_that_is_never_answered() {
    live().check(&[
        ("close 1006", "watch 7"),
        ("close 1006", "probe watch 7"),
        ("deadline", "15000"),
        ("timer", "wait 800"),
        ("timer", "watch 7"),
    ]);
}

#[test]
fn open_never_comes() {
    live().check(&[
        ("close 1000", "watch 7"),
        ("deadline", "2000"),
        ("timer", ""),
        ("deadline", "13000"),
        ("timer", "wait 800"),
        ("words", "Unreachable: the WebSocket did not open in time"),
        ("timer", "watch 7"),
        // A frame shows that the socket is open, even if no one reported it.
        ("MODIFIED a@8", ""),
        ("health", "Live"),
        ("deadline", "90000"),
    ]);
}

#[test]
fn watch_without_a_word_is_opened_anew_and_two_ask_for_a_list() {
    live().check(&[
        // The first socket had the frames of the list.
        ("deadline", "80000"),
        ("timer", "watch 7"),
        ("open", ""),
        ("deadline", "90000"),
        ("timer", "watch 7"),
        ("open", ""),
        // Without the check of the version an answer is not enough: a server that was restored to an earlier state has no
        // event over HTTP, either.
        ("ask", ""),
        ("quiet", ""),
        ("timer", "stream 7"),
        ("open", ""),
        ("ADDED a@5", ""),
        ("END 9", ""),
    ]);
}

#[test]
fn a_list_that_the_user_asks_for_between_two_watches_ends_a_gap() {
    live().check(&[
        ("close 1000", "watch 7"),
        ("open", ""),
        ("MODIFIED a@8", ""),
        ("close 1000", "wait 1000"),
        ("+10", ""),
        ("start", "stream 8"),
        ("open", ""),
        ("END 9", ""),
        ("notices", "Stale (a new list was asked for) Relisted 0 (relist) Gap 10000-10010 (a new list was asked for)"),
    ]);
}

/// The watch was reported as lost, although nothing was refused. So it is reported when it is back, too.
#[test]
fn what_two_silent_watches_kept_back_is_a_gap() {
    live().check(&[
        ("timer", "watch 7"),
        ("open", ""),
        ("timer", "watch 7"),
        ("open", ""),
        ("notices", ""),
        ("timer", "stream 7"),
        ("words", "Unreachable: two silent watches"),
        ("notices", "Stale (two silent watches)"),
        ("open", ""),
        ("END 9", ""),
        ("health", "Live"),
        // The gap begins with the last proof, which was the list.
        ("notices", "Relisted 0 (two silent watches) Gap 0-270000 (two silent watches)"),
    ]);
}

#[test]
fn silences_with_words_between_them_ask_for_no_list() {
    live().check(&[
        ("close 1000", "watch 7"),
        ("open", ""),
        ("timer", "watch 7"),
        ("open", ""),
        ("MODIFIED a@8", ""),
        ("+5000", ""),
        ("close 1000", "watch 8"),
        ("open", ""),
        ("timer", "watch 8"),
    ]);
}

#[test]
fn half_open_socket_is_a_gap_from_its_last_word() {
    live().check(&[
        ("MODIFIED a@8", ""),
        ("timer", "watch 8"),
        ("health", "Live"),
        ("notices", ""),
        // The silence begins to count as an outage.
        ("timer", ""),
        ("health", "Stale"),
        ("notices", "Stale (it ended, and the next one does not open)"),
        ("timer", "wait 800"),
        ("health", "Stale"),
        ("timer", "watch 8"),
        ("open", ""),
        ("BOOKMARK 9", ""),
        ("notices", "Gap 10000-115800 (the WebSocket did not open in time)"),
    ]);
}

#[test]
fn server_that_forgets_its_own_timeout() {
    let mut talk = live();
    // Frames come, but the watch has not ended 5 s after its 300 s.
    for _ in 0..5 {
        talk.check(&[("+50000", ""), ("BOOKMARK 8", "")]);
    }
    talk.check(&[("deadline", "45000"), ("timer", "watch 8")]);
}

#[test]
fn sleep_replaces_every_socket() {
    live().check(&[
        ("+600000", ""),
        ("woke", "watch 7"),
        ("health", "Stale"),
        ("words", "Unreachable: the page slept"),
        ("open", ""),
        ("MODIFIED a@8", ""),
        ("health", "Live"),
        ("notices", "Stale (the page slept) Gap 0-610000 (the page slept)"),
    ]);
    // The same holds in every other state.
    check(&[("woke", ""), ("start", "stream unset"), ("+2000", ""), ("woke", "stream unset"), ("woke", "wait 1000")]);
    live().check(&[("close 1006", "watch 7"), ("close 1006", "probe watch 7"), ("+2000", ""), ("woke", "watch 7")]);
    live().check(&[("ERROR 500 x y", "wait 800"), ("woke", "stream 7")]);
}

/// 46. TestReflectorWatchStoppedBefore, TestReflectorHandleWatchStoppedAfter.
///
/// A stop before, during and after the watch, and in every wait and probe.
#[test]
fn stop_in_every_state() {
    let states: &[&[(&str, &str)]] = &[
        &[],
        &[("start", "stream unset"), ("ADDED a@5", "")],
        &[("start", "stream unset"), ("close 1006", "probe stream unset")],
        &[("start", "stream unset"), ("frame {", "list 0 limit 500"), ("page 7 +t a@5", "list 0 limit 500 continue t")],
        &[("start", "stream unset"), ("END 7", "")],
        &[("start", "stream unset"), ("END 7", ""), ("+2000", ""), ("close 1000", "watch 7")],
        &[("start", "stream unset"), ("END 7", ""), ("+2000", ""), ("close 1000", "watch 7"), ("open", "")],
        &[
            ("start", "stream unset"),
            ("END 7", ""),
            ("+2000", ""),
            ("close 1000", "watch 7"),
            ("close 1006", "probe watch 7"),
        ],
        &[("start", "stream unset"), ("END 7", ""), ("close 1000", "wait 1000")],
        &[("start", "stream unset"), ("END 7", ""), ("ERROR 429 TooManyRequests x", "wait 800")],
        &[("start", "stream unset"), ("END 7", ""), ("ERROR 500 x y", "wait 800")],
        &[("start", "stream unset"), ("frame {", "list 0 limit 500"), ("text 404 no", "wait")],
    ];
    for state in states {
        let mut talk = Conversation::new(Options::default());
        talk.check(state);
        talk.line("drain");
        talk.line("notices");
        talk.check(&[
            ("stop", "wait"),
            ("health", "Stopped"),
            ("deadline", ""),
            // What was on its way comes too late.
            ("open", ""),
            ("ADDED z@9", ""),
            ("END 9", ""),
            ("page 9 z@9", ""),
            ("close 1006", ""),
            ("fail 410 Expired x", ""),
            ("pass", ""),
            ("reachable", ""),
            ("woke", ""),
            ("drain", ""),
            ("notices", ""),
            ("health", "Stopped"),
        ]);
        assert!(talk.line("start").starts_with("stream "));
    }
}

#[test]
fn stopped_and_started_is_a_gap() {
    live().check(&[
        ("stop", "wait"),
        ("+5000", ""),
        ("start", "stream 7"),
        ("health", "Stale"),
        ("END 9", ""),
        ("health", "Live"),
        ("notices", "Relisted 0 (relist) Gap 0-15000 (the watch was stopped)"),
    ]);
}

/// 42. TestWatchTimeout: timeouts are uniform between five and ten minutes, for streaming lists and for watches.
#[test]
fn timeouts_lie_between_five_and_ten_minutes() {
    for (random, seconds) in [(0.0, 300), (0.5, 450), (0.999, 599)] {
        let mut informer = SharedInformer::new(Decode::METADATA, InformerOptions::default());
        let end = bookmark("7", r#"{"k8s.io/initial-events-end":"true"}"#);
        for (now, input) in [(0.0, Input::Start), (0.0, Input::Frame(&end)), (5000.0, Input::Closed(1000))] {
            let action = informer.handle(input, Moment { now, random });
            let Some(action) = action else { continue };
            let Action::Watch(request) = action else { panic!("{action:?}") };
            assert_eq!(request.timeout_seconds, seconds, "{request:?}");
        }
        assert_eq!(informer.reflector().resource_version().as_str(), "7");
    }
}

#[test]
fn binary_frames_count_as_their_text_and_a_name_that_is_no_text_names_nothing() {
    let frame = |name: &[u8]| {
        let mut bytes = Vec::from(br#"{"type":"ADDED","object":{"metadata":{"name":""#);
        bytes.extend(name);
        bytes.extend(br#"","namespace":"n","uid":"c-1","resourceVersion":"8"}}}"#);
        bytes
    };
    let mut talk = Conversation::new(Options::default());
    talk.check(&[("start", "stream unset"), ("open", ""), ("ADDED a@5", ""), ("END 7", "")]);
    assert_eq!(talk.input(Input::Bytes(&frame(b"c"))), "");
    talk.check(&[("drain", "Added a@5 Added c@8")]);
    assert_eq!(talk.input(Input::Bytes(&frame(b"c\xff"))), "wait 800");
    talk.check(&[("drain", ""), ("store", "a@5 c@8"), ("version", "8"), ("timer", "stream 8")]);
    talk.check(&[("text 422 no", "list 8")]);
    assert_eq!(talk.input(Input::PageBytes(b"{\"metadata\":{},\"items\":[]}\xff")), "wait 1600");
    talk.check(&[("words", "Failing: the answer is no list: not the JSON that was expected: 0xff at byte 26")]);
}
