//! Requests that are forbidden, and that become allowed.

use kubechurn_client::cache::reflector::Options;
use kubechurn_client::testing::{Conversation, check};

const LIST: &str = "fail 403 Forbidden cannot list pods";

#[test]
fn watch_forbidden_and_list_allowed() {
    check(&[
        ("start", "stream unset"),
        ("close 1006", "probe stream unset"),
        ("fail 403 Forbidden cannot watch pods", "list 0 limit 500"),
        ("page 7 a@5", "watch 7"),
        ("drain", "Added a@5"),
        ("close 1006", "probe watch 7"),
        ("fail 403 Forbidden cannot watch pods", "wait 800"),
        ("health", "Forbidden"),
        ("words", "Forbidden: cannot watch pods"),
        ("synced", "true"),
        // The version that is held is still good: no list is taken.
        ("timer", "watch 7"),
        ("health", "Forbidden"),
        ("close 1006", "probe watch 7"),
        ("fail 403 Forbidden cannot watch pods", "wait 1600"),
        ("timer", "watch 7"),
        ("close 1006", "probe watch 7"),
        ("fail 403 Forbidden cannot watch pods", "wait 3200"),
        // After a minute a list brings what has changed in the meantime.
        ("+60000", ""),
        ("timer", "watch 7"),
        ("close 1006", "probe watch 7"),
        ("fail 403 Forbidden cannot watch pods", "wait 6400"),
        ("health", "Forbidden"),
        ("timer", "stream 7"),
        ("close 1006", "probe stream 7"),
        ("fail 403 Forbidden cannot watch pods", "list 7"),
        ("page 9 b@8", "watch 9"),
        ("drain", "Added b@8 Deleted a@5"),
        ("marks", "Replaced a@5 Replaced b@8 Deleted a@5"),
        ("close 1006", "probe watch 9"),
        ("fail 403 Forbidden cannot watch pods", "wait 12800"),
        ("health", "Forbidden"),
        // The next list is twice as far away.
        ("+60000", ""),
        ("timer", "watch 9"),
        ("close 1006", "probe watch 9"),
        ("fail 403 Forbidden cannot watch pods", "wait 25600"),
        ("timer", "watch 9"),
        ("open", ""),
        ("BOOKMARK 10", ""),
        ("health", "Live"),
    ]);
}

#[test]
fn a_watch_that_is_refused_for_a_moment_goes_on_from_its_version() {
    for (refusal, health) in [
        ("fail 401 Unauthorized Unauthorized", "Unauthorized"),
        ("fail 403 Forbidden cannot watch pods", "Forbidden"),
        ("fail 403 Forbidden pods is forbidden: not yet ready to handle request", "Stale"),
        ("fail 500 InternalError etcd", "Stale"),
        ("fail 503 ServiceUnavailable shutting down", "Stale"),
        ("fail 429 TooManyRequests later", "Stale"),
    ] {
        check(&[
            ("start", "stream unset"),
            ("ADDED a@5", ""),
            ("END 7", ""),
            ("close 1000", "wait 1000"),
            ("timer", "watch 7"),
            ("close 1006", "probe watch 7"),
            (refusal, "wait 800"),
            ("health", health),
            ("timer", "watch 7"),
            ("open", ""),
            ("MODIFIED a@8", ""),
            ("health", "Live"),
            ("version", "8"),
        ]);
    }
}

#[test]
fn a_list_that_fails_slowly_is_asked_for_seldom() {
    let mut talk = Conversation::new(Options { watch_list: false, ..Options::default() });
    talk.check(&[
        ("start", "list 0 limit 500"),
        ("+30000", ""),
        ("fail 500 InternalError conversion webhook failed", "wait 10000"),
        ("timer", "list 0 limit 500"),
        ("+30000", ""),
        ("fail 500 InternalError conversion webhook failed", "wait 20000"),
        ("timer", "list 0 limit 500"),
        ("+30000", ""),
        ("fail 500 InternalError conversion webhook failed", "wait 30000"),
        ("timer", "list 0 limit 500"),
        ("page 7", "watch 7"),
    ]);
}

#[test]
fn both_forbidden_then_allowed() {
    check(&[
        ("start", "stream unset"),
        ("close 1006", "probe stream unset"),
        ("text 403 ", "list 0 limit 500"),
        ("text 403 Forbidden by the proxy", "wait 800"),
        ("health", "Forbidden"),
        ("words", "Forbidden: not passed on to the server: Forbidden by the proxy"),
        ("store", ""),
        ("synced", "false"),
        ("timer", "stream unset"),
        // It is allowed now, and the reflector notices by itself.
        ("open", ""),
        ("ADDED a@5", ""),
        ("END 7", ""),
        ("health", "Live"),
        ("words", ""),
        ("drain", "Added a@5"),
        // There is no gap, for before this list nothing was known.
        (
            "notices",
            "Refused for now (watch (403): HTTP status 403, without a word) Refused for now (list (403): not passed on to the server: Forbidden by the proxy)",
        ),
    ]);
}

#[test]
fn forbidden_while_live() {
    check(&[
        ("start", "stream unset"),
        ("ADDED a@5", ""),
        ("END 7", ""),
        ("drain", "Added a@5"),
        ("+300000", ""),
        ("close 1000", "watch 7"),
        ("close 1006", "probe watch 7"),
        ("fail 401 Unauthorized the token has expired", "wait 800"),
        ("health", "Unauthorized"),
        ("words", "Unauthorized: the token has expired"),
        ("store", "a@5"),
        ("timer", "watch 7"),
        ("open", ""),
        ("BOOKMARK 9", ""),
        ("health", "Live"),
        // Everything was known up to the proper end of the watch.
        ("notices", "Refused for now (watch (401): the token has expired) Gap 300000-300800 (the token has expired)"),
    ]);
}

#[test]
fn a_refusal_is_reported_when_it_changes_and_not_with_every_attempt() {
    const WATCH: &str = "fail 403 Forbidden cannot watch pods";
    check(&[
        ("start", "stream unset"),
        ("close 1006", "probe stream unset"),
        (WATCH, "list 0 limit 500"),
        (LIST, "wait 800"),
        // The permissions to list and to watch are separate ones.
        (
            "notices",
            "Refused for now (watch (403): cannot watch pods) \
             Refused for now (list (403): cannot list pods)",
        ),
        ("timer", "stream unset"),
        ("close 1006", "probe stream unset"),
        (WATCH, "list 0 limit 500"),
        (LIST, "wait 1600"),
        ("notices", ""),
        ("timer", "stream unset"),
        ("close 1006", "probe stream unset"),
        ("text 401 who are you", "list 0 limit 500"),
        ("page 7", "watch 7"),
        ("notices", "Refused for now (watch (401): who are you)"),
        ("close 1006", "probe watch 7"),
        ("text 401 who are you", "wait 3200"),
        ("notices", ""),
        ("timer", "watch 7"),
        ("open", ""),
        ("BOOKMARK 9", ""),
        ("notices", "Gap 2400-5600 (who are you)"),
        // It was allowed in the meantime.
        ("+2000", ""),
        ("close 1000", "watch 9"),
        ("close 1006", "probe watch 9"),
        ("text 401 who are you", "wait 6400"),
        ("notices", "Refused for now (watch (401): who are you)"),
    ]);
}

#[test]
fn an_observation_elsewhere_does_not_shorten_a_refusal() {
    check(&[
        ("start", "stream unset"),
        ("close 1006", "probe stream unset"),
        (LIST, "list 0 limit 500"),
        (LIST, "wait 800"),
        ("reachable", ""),
        ("deadline", "800"),
    ]);
}

#[test]
fn not_served_stops_until_someone_asks_again() {
    check(&[
        ("start", "stream unset"),
        ("close 1006", "probe stream unset"),
        ("text 404 404 page not found", "list 0 limit 500"),
        ("text 404 404 page not found", "wait"),
        ("health", "Stopped"),
        ("words", "Refused: 404 page not found"),
        // A server that only cannot stream a list would not be reported.
        ("notices", "Refused for good (list (404): 404 page not found)"),
        ("deadline", ""),
        ("reachable", ""),
        ("start", "stream unset"),
    ]);
}

/// A proxy refuses each WebSocket, and lets all else through: the watch goes over HTTP, from the same versions.
#[test]
fn where_no_socket_is_let_through_the_watch_goes_over_http() {
    let mut talk = Conversation::new(Options { watch_list: false, ..Options::default() });
    talk.check(&[
        ("start", "list 0 limit 500"),
        ("page 7 a@5", "watch 7"),
        ("close 1006", "probe watch 7"),
        ("pass", "wait 800"),
        ("health", "Stale"),
        ("timer", "watch 7"),
        ("close 1006", "probe watch 7"),
        ("pass", "http 7"),
        ("open", ""),
        ("MODIFIED a@8", ""),
        ("health", "Live"),
        ("+1000", ""),
        ("close 1000", "wait 1000"),
        ("health", "Live"),
        ("timer", "http 8"),
        ("open", ""),
        ("+1000", ""),
        ("close 1000", "wait 1000"),
        ("health", "Live"),
        ("timer", "http 8"),
        ("open", ""),
        ("BOOKMARK 9", ""),
        // It breaks off, and goes on from what had come.
        ("close 1006", "wait 800"),
        ("health", "Stale"),
        ("timer", "http 9"),
        ("fail 403 Forbidden cannot watch pods", "wait 1600"),
        ("health", "Forbidden"),
        ("timer", "http 9"),
        ("open", ""),
        ("ERROR 410 Expired too old", "wait 3200"),
        ("timer", "list 9"),
        ("page 12 a@8", "http 12"),
        ("open", ""),
        ("close 1000", "wait 1000"),
        ("health", "Live"),
        // From time to time a socket is tried.
        ("+300000", ""),
        ("timer", "watch 12"),
        ("close 1006", "probe watch 12"),
        ("pass", "http 12"),
        ("open", ""),
        ("close 1000", "wait 1000"),
        ("+300000", ""),
        ("timer", "watch 12"),
        ("open", ""),
        ("BOOKMARK 13", ""),
        ("+60000", ""),
        ("close 1000", "watch 13"),
    ]);
}

#[test]
fn waits_do_not_begin_short_again_while_a_credential_is_refused() {
    let mut steps = vec![
        ("start", "stream unset"),
        ("ADDED a@5", ""),
        ("END 7", ""),
        ("drain", "Added a@5"),
        ("+300000", ""),
        ("close 1000", "watch 7"),
    ];
    let waits = ["wait 800", "wait 1600", "wait 3200", "wait 6400", "wait 12800", "wait 25600"];
    for wait in waits.into_iter().chain(["wait 30000"; 15]) {
        steps.extend([("close 1006", "probe watch 7"), ("fail 401 Unauthorized the token has expired", wait)]);
        steps.push(("timer", "watch 7"));
    }
    check(&steps);
}
