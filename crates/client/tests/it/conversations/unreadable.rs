//! An API of another origin without CORS: a browser opens sockets to it, and keeps every other answer from the page.

use kubechurn_client::cache::reflector::Options;

use kubechurn_client::testing::Conversation;

/// Where no answer over HTTP can be read, nothing is fetched, whatever happens: neither a list nor the reason of a refusal.
#[test]
fn where_answers_cannot_be_read_nothing_is_fetched() {
    let talk = || Conversation::new(Options { watch_list: false, readable: false, ..Options::default() });
    talk().check(&[
        ("start", "stream unset"),
        ("open", ""),
        ("ADDED a@5", ""),
        ("END 9", ""),
        ("drain", "Added a@5"),
        ("health", "Live"),
        // A socket that the server refuses.
        ("+2000", ""),
        ("close 1000", "watch 9"),
        ("close 1006", "wait 800"),
        ("health", "Stale"),
        ("timer", "watch 9"),
        ("open", ""),
        ("MODIFIED a@12", ""),
        ("health", "Live"),
        // A version that is too old, and then a server that does not stream at once.
        ("ERROR 410 Expired too old", "wait 800"),
        ("timer", "stream 12"),
        ("open", ""),
        ("ERROR 500 Unknown not now", "wait 1600"),
        ("timer", "stream 12"),
        ("open", ""),
        ("close 1000", "wait 3200"),
        ("timer", "stream 12"),
        ("open", ""),
        ("END 14", ""),
        ("drain", "Updated a@5>12 Deleted a@12"),
        ("health", "Live"),
    ]);
    // The first list is refused, too, and no reason is known.
    talk().check(&[
        ("start", "stream unset"),
        ("close 1006", "wait 800"),
        ("health", "Connecting"),
        ("timer", "stream unset"),
        ("open", ""),
        ("ERROR 403 Forbidden no", "wait 800"),
        ("health", "Forbidden"),
    ]);
}
