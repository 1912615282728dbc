//! Frames of a watch that cannot be read, or cannot be true.

use kubechurn_client::cache::reflector::Options;

use kubechurn_client::testing::Conversation;

/// A live watch at version 7, with `a@5` and `b@6` in the store.
fn live() -> Conversation {
    let mut talk = Conversation::new(Options::default());
    talk.check(&[
        ("start", "stream unset"),
        ("open", ""),
        ("ADDED a@5", ""),
        ("ADDED b@6", ""),
        ("END 7", ""),
        ("drain", "Added a@5 Added b@6"),
        ("+10000", ""),
    ]);
    talk
}

/// A frame that is too long is not read, and may have been anything. A list has no such limit.
#[test]
fn a_frame_that_is_too_long_is_counted_and_listed() {
    let mut talk = live();
    talk.check(&[
        ("MODIFIED a@8", ""),
        ("long 64000001", "wait 800"),
        ("version", "8"),
        ("health", "Stale"),
        ("words", "Failing: a frame could not be read: a frame of 64.0 MB, and no more than 64 MB are read"),
        ("long 99000000", ""),
        ("timer", "stream 8"),
        // The same object, in the streaming list.
        ("ADDED b@6", ""),
        ("long 70000000", "list 8"),
        ("page 9 a@9 b@6", "watch 9"),
        ("open", ""),
        ("drain", "Updated a@5>9 Synced b@6"),
        ("BOOKMARK 10", ""),
        ("health", "Live"),
    ]);
    let ledger = talk.informer.ledger();
    assert_eq!((ledger.oversized, ledger.malformed, ledger.frames), (2, 0, 8));
}

/// Because of one version that is too high, the row would stay as it is until the next list, under "live".
#[test]
fn a_version_that_went_back_is_noticed_and_listed_anew() {
    const HUGE: &str = "99999999999999999999";
    let heal = |mut talk: Conversation, late: u64| {
        talk.check(&[
            ("health", "Stale"),
            // The list is not asked for at a version, which may be the wrong one.
            ("timer", "stream unset"),
            ("ADDED a@9", ""),
            ("ADDED b@10", ""),
            ("END 10", ""),
            ("health", "Live"),
            ("version", "10"),
        ]);
        talk.line("drain");
        talk.check(&[("store", "a@9 b@10"), ("MODIFIED a@11", ""), ("drain", "Updated a@9>11")]);
        assert_eq!(talk.informer.ledger().late, late);
    };
    // A watch brought the wrong version.
    let mut talk = live();
    talk.check(&[(&format!("MODIFIED a@{HUGE}"), ""), ("MODIFIED b@8", ""), ("MODIFIED a@9", "wait 800")]);
    talk.check(&[(
        "notices",
        "Malformed Stale (n/a came in version 9, which is new, and older than what is known of it)",
    )]);
    heal(talk, 1);
    // A list brought the wrong version.
    let mut talk = Conversation::new(Options::default());
    talk.check(&[("start", "stream unset"), (&format!("ADDED a@{HUGE}"), ""), ("END 7", ""), ("+2000", "")]);
    talk.check(&[("ADDED b@8", ""), ("MODIFIED a@9", "wait 800")]);
    heal(talk, 1);
    // A frame that comes again is no news. It is late, and leads to nothing.
    let mut talk = live();
    talk.check(&[
        ("MODIFIED a@8", ""),
        ("MODIFIED a@9", ""),
        ("MODIFIED a@8", ""),
        ("MODIFIED a@7", ""),
        ("ADDED a@5", ""),
    ]);
    talk.check(&[
        ("BOOKMARK 20", ""),
        ("MODIFIED a@30", ""),
        ("MODIFIED a@15", ""),
        ("health", "Live"),
        ("version", "30"),
    ]);
    assert_eq!(talk.informer.ledger().late, 4);
}
