//! Requests that are forbidden, and that become allowed.

use kubechurn_client::testing::check;

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
        // Every attempt brings at least a list, with what has changed in the meantime.
        ("timer", "stream 7"),
        ("health", "Forbidden"),
        ("close 1006", "probe stream 7"),
        ("fail 403 Forbidden cannot watch pods", "list 7"),
        ("page 9 b@8", "watch 9"),
        ("drain", "Added b@8 Deleted a@5"),
        ("marks", "Replaced a@5 Replaced b@8 Deleted a@5"),
        ("close 1006", "probe watch 9"),
        ("fail 403 Forbidden cannot watch pods", "wait 1600"),
        ("health", "Forbidden"),
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
        ("words", "Forbidden: Forbidden by the proxy"),
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
            "Refused for now (watch (403): HTTP status 403, without a word) Refused for now (list (403): Forbidden by the proxy)",
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
        ("health", "Forbidden"),
        ("words", "Forbidden: the token has expired"),
        ("store", "a@5"),
        ("timer", "stream 7"),
        ("open", ""),
        ("ADDED a@5", ""),
        ("END 9", ""),
        ("health", "Live"),
        // Everything was known up to the proper end of the watch.
        (
            "notices",
            "Refused for now (watch (401): the token has expired) Relisted 1 (401: the token has expired) Gap 300000-300800 (the token has expired)",
        ),
    ]);
}

#[test]
fn a_refusal_is_told_when_it_changes_and_not_with_every_attempt() {
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
        ("timer", "stream 7"),
        ("open", ""),
        ("END 9", ""),
        ("notices", "Relisted 0 (401: who are you) Gap 2400-5600 (who are you)"),
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
        // A server that only cannot stream a list would not be told of.
        ("notices", "Refused for good (list (404): 404 page not found)"),
        ("deadline", ""),
        ("reachable", ""),
        ("start", "stream unset"),
    ]);
}
