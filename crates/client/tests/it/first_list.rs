//! What a handler is notified of while a first list comes: the contract of `HandlerOptions::listing`.

use kubechurn_client::cache::handler::HandlerOptions;
use kubechurn_client::cache::processor::HandlerId;
use kubechurn_client::cache::reflector::Options;
use kubechurn_client::testing::{Conversation, Log, joined, write_change, write_object};

const LISTING: HandlerOptions = HandlerOptions { changes: true, received: false, listing: true, resync: None };

/// What waits for a handler, at most `limit` of it where that counts, and whether some of it is left.
fn received(talk: &mut Conversation, id: HandlerId, limit: usize) -> (String, bool) {
    let mut log = Log::default();
    let left = talk.informer.deliver_some(id, &mut log, limit);
    let deltas = joined(log.marks, |(delta_type, object)| format!("{delta_type:?} {}", write_object(&object)));
    let changes = joined(log.changes, |change| write_change(&change));
    assert!(talk.informer.is_balanced(), "{:?}", talk.informer.handler_ledger(id));
    let words: Vec<String> = [deltas, changes].into_iter().filter(|words| !words.is_empty()).collect();
    (words.join(" | "), left)
}

#[test]
fn the_items_of_a_first_list_are_delivered_as_they_come_and_no_other_delta() {
    let mut talk = Conversation::new(Options::default());
    let id = talk.informer.add_event_handler(LISTING, 0.0);
    let received = |talk: &mut Conversation| received(talk, id, usize::MAX).0;
    talk.check(&[("start", "stream unset"), ("open", ""), ("ADDED a@1", ""), ("ADDED b@2", "")]);
    assert_eq!(received(&mut talk), "Replaced a@1 Replaced b@2");
    talk.check(&[("MODIFIED a@3", ""), ("DELETED b@4", ""), ("ADDED c@5", "")]);
    assert_eq!(received(&mut talk), "Updated a@3 Deleted b@4 Replaced c@5");
    talk.check(&[("END 5", "")]);
    assert!((received(&mut talk).is_empty()) && !talk.informer.handler_has_synced(id));
    talk.check(&[("drain", "Added a@3 Added c@5")]);
    assert_eq!(received(&mut talk), "Added a@3 Added c@5");
    assert!(talk.informer.handler_has_synced(id));
    // From then on it is notified of changes alone, and of a relist no more than any other handler.
    talk.check(&[("MODIFIED a@6", ""), ("drain", "Updated a@3>6")]);
    assert_eq!(received(&mut talk), "Updated a@3>6");
    talk.check(&[("+2000", ""), ("ERROR 410 Expired gone", "wait 800"), ("timer", "stream 6"), ("open", "")]);
    talk.check(&[("ADDED a@7", ""), ("ADDED d@8", "")]);
    assert_eq!(received(&mut talk), "");
    talk.check(&[("END 8", ""), ("drain", "Updated a@6>7 Added d@8 Deleted c@5")]);
    assert_eq!(received(&mut talk), "Updated a@6>7 Added d@8 Deleted c@5");
}

#[test]
fn a_list_that_breaks_is_delivered_again_by_the_next_one() {
    let mut talk = Conversation::new(Options { watch_list: false, ..Options::default() });
    let id = talk.informer.add_event_handler(LISTING, 0.0);
    let received = |talk: &mut Conversation| received(talk, id, usize::MAX).0;
    talk.check(&[("start", "list 0 limit 500"), ("page 9 +more a@1 b@2", "list 0 limit 500 continue more")]);
    assert_eq!(received(&mut talk), "Replaced a@1 Replaced b@2");
    talk.check(&[("unreachable", "wait 800")]);
    assert_eq!(received(&mut talk), "");
    talk.check(&[("timer", "list 0 limit 500"), ("page 12 b@2 c@10", "watch 12"), ("drain", "Added b@2 Added c@10")]);
    // The list was complete before the handler took its items: each of them is reported once, as what it is now.
    assert_eq!(received(&mut talk), "Added b@2 Added c@10");
    let ledger = talk.informer.handler_ledger(id).unwrap();
    assert_eq!((ledger.handled, ledger.passed_over, ledger.waiting, ledger.meant), (4, 2, 0, 6));
}

#[test]
fn who_comes_in_the_middle_of_a_list_receives_what_it_has_brought() {
    let mut talk = Conversation::new(Options::default());
    talk.check(&[("start", "stream unset"), ("open", ""), ("ADDED a@1", ""), ("ADDED b@2", ""), ("DELETED a@3", "")]);
    let (late, other) = (talk.informer.add_event_handler(LISTING, 0.0), HandlerOptions::default());
    let other = talk.informer.add_event_handler(other, 0.0);
    talk.check(&[("ADDED c@4", "")]);
    assert_eq!(received(&mut talk, late, usize::MAX).0, "Replaced b@2 Replaced c@4");
    assert_eq!(received(&mut talk, other, usize::MAX).0, "", "it did not ask for what is not certain");
    // What was not taken in time is passed over when the list is complete.
    let later = talk.informer.add_event_handler(LISTING, 0.0);
    talk.check(&[("ADDED d@5", ""), ("END 5", ""), ("drain", "Added b@2 Added c@4 Added d@5")]);
    for id in [late, other, later] {
        assert_eq!(received(&mut talk, id, usize::MAX).0, "Added b@2 Added c@4 Added d@5");
        assert!(talk.informer.handler_has_synced(id));
    }
    assert_eq!(talk.informer.handler_ledger(later).map(|ledger| ledger.passed_over), Some(3));
    let last = talk.informer.add_event_handler(LISTING, 0.0);
    assert_eq!(received(&mut talk, last, usize::MAX).0, "Added b@2 Added c@4 Added d@5", "as any other handler");
}

#[test]
fn very_many_items_are_delivered_some_at_a_time() {
    let mut talk = Conversation::new(Options::default());
    let id = talk.informer.add_event_handler(LISTING, 0.0);
    talk.check(&[("start", "stream unset"), ("open", ""), ("ADDED a@1", ""), ("ADDED b@2", ""), ("ADDED c@3", "")]);
    let late = talk.informer.add_event_handler(LISTING, 0.0);
    talk.check(&[("ADDED d@4", "")]);
    assert_eq!(received(&mut talk, id, 2), ("Replaced a@1 Replaced b@2".into(), true));
    assert_eq!(received(&mut talk, late, 2), ("Replaced a@1 Replaced b@2".into(), true));
    assert_eq!(received(&mut talk, late, 2), ("Replaced c@3 Replaced d@4".into(), false));
    assert_eq!(received(&mut talk, id, 1), ("Replaced c@3".into(), true));
    talk.check(&[("END 4", ""), ("drain", "Added a@1 Added b@2 Added c@3 Added d@4")]);
    // Changes are bounded by what is drained, and not by the limit.
    assert_eq!(received(&mut talk, id, 1), ("Added a@1 Added b@2 Added c@3 Added d@4".into(), false));
}
