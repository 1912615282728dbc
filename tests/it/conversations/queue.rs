//! Events against a queue that is drained late, twice or in the middle.

use kubechurn::cache::reflector::Options;

use crate::talk::Talk;

const LIVE: &[(&str, &str)] = &[
    ("start", "stream unset"),
    ("open", ""),
    ("ADDED a@5", ""),
    ("ADDED b@6", ""),
    ("END 7", ""),
    ("drain", "Added a@5 Added b@6"),
    ("+2000", ""),
];

fn live(resync: Option<f64>) -> Talk {
    let mut talk = Talk::new(Options { resync, ..Options::default() });
    talk.check(LIVE);
    talk
}

#[test]
fn burst_folds_and_is_counted() {
    let mut talk = live(None);
    talk.check(&[
        ("MODIFIED a@8", ""),
        ("MODIFIED b@9", ""),
        ("MODIFIED a@10", ""),
        ("MODIFIED a@11", ""),
        ("queued", "4"),
        ("drain", "Updated a@5>11 Updated b@6>9"),
        ("queued", "0"),
    ]);
    assert_eq!(talk.informer.ledger().coalesced, 2);
}

#[test]
fn delete_and_recreate_within_one_drain_shows_both_lives() {
    live(None).check(&[
        ("DELETED a@8", ""),
        ("ADDED a#2@9", ""),
        ("MODIFIED a#2@10", ""),
        ("drain", "Deleted a@8 Added a#2@10"),
    ]);
}

#[test]
fn life_that_begins_and_ends_between_two_drains() {
    live(None).check(&[("ADDED c@8", ""), ("DELETED c@9", ""), ("drain", "Added c@8 Deleted c@9")]);
}

#[test]
fn deletion_that_was_never_seen() {
    // The relist shows another uid under the same name.
    live(None).check(&[
        ("ERROR 410 Expired x", "wait 800"),
        ("timer", "stream 7"),
        ("ADDED a#2@9", ""),
        ("ADDED b@6", ""),
        ("END 10", ""),
        ("drain", "Deleted a@5 Added a#2@9 Synced b@6"),
    ]);
    // And so does a life that waits in the queue.
    live(None).check(&[
        ("ADDED c@8", ""),
        ("ERROR 410 Expired x", "wait 800"),
        ("timer", "stream 8"),
        ("ADDED a@5", ""),
        ("ADDED b@6", ""),
        ("ADDED c#2@9", ""),
        ("END 10", ""),
        ("drain", "Added c@8 Deleted c@8 Added c#2@9 Synced a@5 Synced b@6"),
    ]);
}

#[test]
fn relist_during_a_burst() {
    live(None).check(&[
        ("MODIFIED a@8", ""),
        ("ADDED c@9", ""),
        ("ADDED d@10", ""),
        ("DELETED b@11", ""),
        ("ERROR 410 Expired x", "wait 800"),
        ("timer", "stream 11"),
        ("ADDED a@12", ""),
        ("ADDED c@9", ""),
        ("drain 1", "Updated a@5>8"),
        ("END 13", ""),
        ("MODIFIED c@14", ""),
        ("DELETED a@15", ""),
        ("drain", "Added c@14 Added d@10 Deleted d@10 Deleted b@11 Updated a@8>12 Deleted a@15"),
        ("store", "c@14"),
    ]);
}

#[test]
fn relist_that_knows_no_news() {
    live(None).check(&[
        ("marks", "Replaced a@5 Replaced b@6"),
        ("ERROR 410 Expired x", "wait 800"),
        ("timer", "stream 7"),
        ("ADDED a@5", ""),
        ("ADDED b@6", ""),
        ("END 9", ""),
        ("marks", ""),
        ("drain", "Synced a@5 Synced b@6"),
    ]);
}

#[test]
fn resync_tells_everything_again() {
    let mut talk = live(Some(30_000.0));
    talk.check(&[("deadline", "28000"), ("timer", ""), ("queued", "2"), ("BOOKMARK 8", ""), ("deadline", "30000")]);
    let mut told = talk.line("drain").split(" Synced ").map(String::from).collect::<Vec<_>>();
    told.sort();
    assert_eq!(told, ["Synced a@5", "b@6"].map(String::from));
    assert_eq!(talk.informer.ledger().resyncs, 2);
}

#[test]
fn update_racing_resync() {
    let mut talk = live(Some(30_000.0));
    talk.check(&[
        ("MODIFIED a@8", ""),
        ("timer", ""),
        // The update was there first, and the resync left it alone.
        ("MODIFIED b@9", ""),
        ("queued", "3"),
        ("drain", "Updated a@5>8 Updated b@6>9"),
        ("DELETED a@10", ""),
        ("BOOKMARK 11", ""),
        ("timer", ""),
        ("drain", "Deleted a@10 Synced b@9"),
        ("store", "b@9"),
    ]);
}

#[test]
fn resync_is_due_before_the_socket_opens() {
    live(Some(2_000.0)).check(&[
        ("timer", ""),
        ("deadline", "2000"),
        ("close 1000", "watch 7"),
        // A deadline that has passed must not come back.
        ("timer", ""),
        ("deadline", "2000"),
        ("open", ""),
        ("timer", ""),
        ("deadline", "2000"),
    ]);
}
