//! Events that come while the queue is drained late, twice or in part.

use kubechurn_client::api::object::Decode;
use kubechurn_client::cache::backlog::Backlog;
use kubechurn_client::cache::handler::HandlerOptions;
use kubechurn_client::cache::reflector::Options;
use kubechurn_client::cache::shared_informer::InformerOptions;

use kubechurn_client::testing::{Conversation, Log};

const LIVE: &[(&str, &str)] = &[
    ("start", "stream unset"),
    ("open", ""),
    ("ADDED a@5", ""),
    ("ADDED b@6", ""),
    ("END 7", ""),
    ("drain", "Added a@5 Added b@6"),
    ("+2000", ""),
];

fn live(resync: Option<f64>) -> Conversation {
    let mut talk = Conversation::new(Options { resync, ..Options::default() });
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
    // The same holds for an object that waits in the queue.
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
fn resync_delivers_everything_again() {
    let mut talk = live(Some(30_000.0));
    talk.check(&[("deadline", "28000"), ("timer", ""), ("queued", "2"), ("BOOKMARK 8", ""), ("deadline", "30000")]);
    let mut synced = talk.line("drain").split(" Synced ").map(String::from).collect::<Vec<_>>();
    synced.sort();
    assert_eq!(synced, ["Synced a@5", "b@6"].map(String::from));
    assert_eq!(talk.informer.ledger().resyncs, 2);
}

#[test]
fn update_racing_resync() {
    let mut talk = live(Some(30_000.0));
    talk.check(&[
        ("MODIFIED a@8", ""),
        ("timer", ""),
        // The update waited first, so that the resync did not queue the object.
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
        // A deadline that has passed must not be the next one again.
        ("timer", ""),
        ("deadline", "2000"),
        ("open", ""),
        ("timer", ""),
        ("deadline", "2000"),
    ]);
}

/// A list brings no more than there are objects, and all of it may wait. A watch may bring more and more: where no handler takes
/// it, the watch ends, and a list follows.
#[test]
fn a_backlog_ends_the_watch_and_a_list_follows() {
    for (backlog, words) in [
        (Backlog { changes: 3, bytes: 1 << 20 }, "Failing: more came than was taken: 4 changes in 0.0 MB waited"),
        (Backlog { changes: 1 << 20, bytes: 350 }, "Failing: more came than was taken: 4 changes in 0.0 MB waited"),
    ] {
        let options = InformerOptions { backlog: Some(backlog), ..InformerOptions::default() };
        let mut talk = Conversation::of(Decode::METADATA, options);
        talk.check(&[("start", "stream unset"), ("open", "")]);
        // The handler of the conversation takes everything at once; this one does not.
        let sloth =
            talk.informer.add_event_handler(HandlerOptions { received: true, ..HandlerOptions::default() }, 0.0);
        for object in ["a@1", "b@2", "c@3", "d@4", "e@5", "f@6"] {
            talk.check(&[(&format!("ADDED {object}"), "")]);
        }
        talk.check(&[("END 7", ""), ("+2000", ""), ("MODIFIED a@8", ""), ("MODIFIED b@9", "")]);
        // The handler takes everything, so that nothing waits any more.
        talk.informer.deliver(sloth, &mut Log::default());
        talk.check(&[("MODIFIED a@10", ""), ("MODIFIED a@11", ""), ("MODIFIED a@12", ""), ("health", "Live")]);
        talk.check(&[("MODIFIED a@13", "wait 800"), ("health", "Stale"), ("words", words), ("MODIFIED a@14", "")]);
        talk.check(&[("timer", "stream 13"), ("ADDED a@20", ""), ("END 20", ""), ("health", "Live")]);
        talk.check(&[("notices", &format!("Stale ({0}) Relisted 1 ({0}) Gap 2000-2800 ({0})", &words[9..]))]);
        talk.line("drain");
        talk.check(&[("store", "a@20"), ("MODIFIED a@21", ""), ("health", "Live")]);
    }
}
