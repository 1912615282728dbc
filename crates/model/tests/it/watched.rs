//! The page's handlers of shared informers: marks, counters and rows, and the notices about the watch.

use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::reflector::{Input, Notice};
use kubechurn_model::history::History;
use kubechurn_model::page::report;
use kubechurn_model::table::filter::Filter;
use kubechurn_model::verification::Verifier;
use kubechurn_model::watches::notices::{NoticeKind, PageNotice};
use kubechurn_model::watches::resync::{Resync, Resyncs};

use kubechurn_client::testing::{event, page};

use crate::play::Play;

#[test]
fn rows_marks_and_counters_are_handlers_of_one_informer() {
    let mut play = Play::at("#/pods");
    play.begin(&["a@1", "b@2"]);
    play.hears("pods", "MODIFIED", "a@101");
    play.hears("pods", "DELETED", "b@102");
    play.look();
    let watched = &play.watches[0];
    let counters = watched.counters();
    assert_eq!((counters.added, counters.updated, counters.deleted, counters.synced), (2, 1, 1, 0));
    assert_eq!((play.watches.view().unwrap().counts(), watched.marks().len()), ((1, 1), 4));
    assert_eq!(watched.items(&play.informers), 1);
}

/// The marks and the counters get a resync in the period that was chosen for this number of objects. A resync makes one
/// mark, and the table gets none.
#[test]
fn a_resync_is_one_mark_and_is_counted_object_by_object() {
    let mut play = Play::at("#/pods?ns=shop");
    play.now = 1_000.0;
    let mut resyncs = Resyncs::new(None, None);
    let ids = play.begin(&["a@1", "b@2"]);
    let keep = |play: &mut Play, resyncs: &Resyncs| {
        let changed = play.watches.resync(&mut play.informers, resyncs, 1_000.0);
        (changed.len(), play.watches[0].resync_period(&play.informers))
    };
    assert_eq!(keep(&mut play, &resyncs), (2, Some(600_000.0)));
    assert_eq!(keep(&mut play, &resyncs), (0, Some(600_000.0)), "nothing new was chosen");
    resyncs.choose(Resync::HalfMinute);
    assert_eq!(keep(&mut play, &resyncs), (2, Some(30_000.0)));
    let informer = play.informers.get_mut(ids[0]).unwrap();
    assert_eq!(informer.reflector().deadline(), Some(31_000.0));
    informer.handle(Input::Timer, Moment { now: 31_000.0, random: 0.0 });
    play.look();
    let watched = &play.watches[0];
    let (counters, ledger) = (watched.counters(), watched.ledger(&play.informers));
    assert_eq!((counters.added, counters.synced, ledger.resyncs, ledger.deltas()), (2, 2, 2, 4));
    let marks = report::marks(watched, &History::new(1 << 20, 0));
    let mark = serde_json::to_value(&marks[marks.len() - 1]).unwrap();
    assert_eq!((marks.len(), &mark["type"], &mark["key"], &mark["folded"]), (3, &"Sync".into(), &"".into(), &2.into()));
    assert_eq!(mark["note"], "resync: 2 objects in shop replayed");
    let status = report::status(&play.watches, 0, &play.informers, &Verifier::default(), (None, 31_000.0));
    let status = serde_json::to_value(status).unwrap();
    assert_eq!((&status["changes"]["synced"], &status["resync_ms"]), (&2.into(), &30_000.0.into()));
    resyncs.choose(Resync::Off);
    assert_eq!(keep(&mut play, &resyncs), (2, None));
}

/// The sums hold from what was received to the rows that are shown, at every moment: while changes wait in the queue
/// and in the log, and while a filter hides some of the rows.
#[test]
fn the_sums_run_to_the_rows_that_are_shown() {
    let mut play = Play::at("#/pods");
    // Marks from before the kind was watched again are not among those of the new handlers.
    play.begin(&["z@1"]);
    play.go("#/nodes");
    play.begin(&[]);
    play.go("#/pods");
    let sums = |play: &Play| {
        play.check_sums();
        let account = play.watches.account_of(0, &play.informers).unwrap();
        assert!(account.is_balanced(), "{}", account.words());
        let (table, rows) = account.table.unwrap();
        (table.meant, table.waiting, rows.sums.live, rows.sums.shown, rows.sums.hidden, account.objects)
    };
    let id = play.id("pods");
    play.informers.start();
    play.input(id, Input::Start);
    play.input(id, Input::Opened);
    for object in ["a@1", "b@2", "web@3"] {
        play.input(id, Input::Frame(&event("ADDED", object)));
    }
    // The table is notified of what the list brings before it is complete, and no row of it counts.
    assert_eq!(sums(&play), (3, 3, 0, 0, 0, 0));
    play.take();
    assert_eq!(sums(&play), (3, 0, 0, 0, 0, 0));
    play.input(id, Input::Frame(&kubechurn_client::testing::bookmark("100", crate::play::LISTED)));
    assert_eq!(sums(&play), (3, 0, 0, 0, 0, 0));
    play.drain();
    assert_eq!(sums(&play), (6, 3, 0, 0, 0, 3));
    play.take();
    assert_eq!(sums(&play), (6, 0, 3, 3, 0, 3));
    play.watches.view_mut().unwrap().filter_by(Filter::parse("web", &[]).unwrap());
    assert_eq!(sums(&play), (6, 0, 3, 1, 2, 3));
    for (word, object) in [("MODIFIED", "a@101"), ("DELETED", "b@102"), ("ADDED", "web-2@103"), ("DELETED", "z@104")] {
        play.input(id, Input::Frame(&event(word, object)));
        sums(&play);
    }
    play.drain();
    assert_eq!(sums(&play), (9, 3, 3, 1, 2, 3));
    play.take();
    assert_eq!(sums(&play), (9, 0, 3, 2, 1, 3));
    // With another kind in view, the kind shares a table with it. The new table begins with the objects in the store.
    play.go("#/pods,nodes");
    assert!(play.watches.account_of(0, &play.informers).unwrap().table.is_none());
    play.check_sums();
    play.go("#/pods");
    assert_eq!(sums(&play), (3, 3, 0, 0, 0, 3));
    play.take();
    assert_eq!(sums(&play), (3, 0, 3, 3, 0, 3));
    let account = play.watches.account(&play.informers).unwrap();
    let (timeline, marks) = account.timeline;
    // Three marks of the list and four of the watch; before them the mark of the first list, and the gap in which
    // nothing was watched.
    assert_eq!((timeline.handled, marks.pushed, marks.made), (7, 7, 9));
    let ledger = play.watches[0].ledger(&play.informers);
    assert_eq!((ledger.received, ledger.changes, ledger.unknown), (7, 6, 1));
}

/// A place that shows the same objects as the one before takes over its informer, and shows the rows at once.
#[test]
fn one_informer_for_each_scope_however_many_look_at_it() {
    let mut play = Play::at("#/pods?ns=shop");
    assert_eq!(play.begin(&["a@1"]).len(), 1);
    assert_eq!(play.go("#/pods?ns=shop,billing"), (0, true), "someone else looks at the informer");
    play.take();
    let counts = |play: &Play| play.watches.view().unwrap().counts();
    assert_eq!(counts(&play), (1, 1), "before anything more has come");
    assert_eq!(play.begin(&["b@2"]).len(), 1, "only the other namespace is new");
    assert_eq!((counts(&play), play.informers.len()), ((2, 2), 2));
    assert_eq!(play.go("#/pods?ns=shop&labels=app%3Dx"), (2, true), "a watch ends with the last who looks");
    assert_eq!(play.begin(&[]).len(), 1, "a selector is another watch");
    assert_eq!((play.watches[0].items(&play.informers), play.informers.len()), (0, 1));
}

#[test]
fn what_is_said_of_a_watch_reaches_those_who_look_at_it_and_the_list() {
    let mut play = Play::at("#/pods?pin=nodes");
    let list = play.announcer.subscribe();
    play.begin(&["a@1"]);
    let pods = play.id("pods");
    // The history is gone: after a wait, the watch begins with a list.
    play.input(pods, Input::Frame(r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}"#));
    play.now = play.informers.get(pods).unwrap().reflector().deadline().unwrap();
    play.input(pods, Input::Timer);
    play.input(pods, Input::Closed(1006));
    play.input(pods, Input::Failed(kubechurn_client::api::status::Failure::from_response(422, None, "")));
    play.input(pods, Input::Page(&page("200 a@150")));
    let notices = play.announcer.receive(list);
    assert!(
        notices.iter().any(|notice| matches!(notice.kind, NoticeKind::Watch(_, Notice::Relisted { .. }))),
        "{notices:?}"
    );
    let overload = NoticeKind::Overload { from: 1.0, to: 2.0, most: 9 };
    play.announcer.publish(PageNotice { resource: "", namespace: String::new(), kind: overload });
    play.watches.receive_notices(&mut play.announcer);
    let words = |at: usize| {
        let marks = play.watches[at].marks().iter().filter(|mark| mark.key.is_none());
        marks.map(|mark| format!("{:?}", mark.mark_type)).collect::<Vec<_>>().join(" ")
    };
    assert_eq!((words(0).as_str(), words(1).as_str()), ("Relist Gap", "Gap"));
}
