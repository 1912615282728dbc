//! The page's handlers of shared informers: table, timeline, counters, and what is said of the watch.

use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::reflector::{Input, Notice};
use kubechurn_model::page::catalog::Catalog;
use kubechurn_model::page::notices::{Announcer, News, Said};
use kubechurn_model::page::report;
use kubechurn_model::page::resync::{Resync, Resyncs};
use kubechurn_model::page::route::Route;
use kubechurn_model::page::verify::Verifier;
use kubechurn_model::page::watched::{Watched, scopes};
use kubechurn_model::table::filter::Filter;
use kubechurn_model::timeline::Timeline;

use kubechurn_talk::{bookmark, event, page};

/// The informers, and who looks at them.
#[derive(Default)]
struct Play {
    informers: SharedInformerFactory,
    announcer: Announcer,
}

impl Play {
    fn watch(&mut self, fragment: &str, timeline: Timeline) -> Watched {
        let route = Route::parse(fragment);
        let kind = route.kinds(&Catalog::default())[0];
        Watched::new(kind, scopes(kind, &route, true), timeline, &mut self.informers, &mut self.announcer, 0.0)
    }

    /// Starts what is new, and has each list these objects.
    fn begin(&mut self, objects: &[&str]) -> Vec<InformerId> {
        let new: Vec<InformerId> = self.informers.start().into_iter().map(|(id, ..)| id).collect();
        for id in &new {
            self.input(*id, Input::Start);
            self.input(*id, Input::Opened);
            for object in objects {
                self.input(*id, Input::Frame(&event("ADDED", object)));
            }
            self.input(*id, Input::Frame(&bookmark("100", r#"{"k8s.io/initial-events-end":"true"}"#)));
        }
        new
    }

    fn input(&mut self, id: InformerId, input: Input<'_>) {
        let informer = self.informers.get_mut(id).unwrap();
        informer.handle(input, Moment { now: 1000.0, random: 0.0 });
        let notices = informer.take_notices();
        for notice in notices {
            let said = Said { resource: "pods", namespace: String::new(), news: News::Watch(id, notice) };
            self.announcer.say(said);
        }
    }

    fn drain(&mut self) {
        self.informers.iter_mut().for_each(|(_, informer)| assert!(informer.drain(usize::MAX, 1000.0) < 9));
    }
}

#[test]
fn table_timeline_and_counters_are_handlers_of_one_informer() {
    let mut play = Play::default();
    let mut watched = play.watch("#/pods", Timeline::default());
    let ids = play.begin(&["a@1", "b@2"]);
    play.input(ids[0], Input::Frame(&event("MODIFIED", "a@101")));
    play.input(ids[0], Input::Frame(&event("DELETED", "b@102")));
    play.drain();
    watched.take(&mut play.informers);
    let counters = watched.counters();
    assert_eq!((counters.added, counters.updated, counters.deleted, counters.synced), (2, 0, 1, 0));
    assert_eq!((watched.view().counts(), watched.timeline().marks().count()), ((1, 1), 4));
    assert_eq!(watched.items(&play.informers), 1);
}

/// The timeline and the counters are told again what is known, in the period that was chosen for so many objects; as one
/// mark, and without a word to the table.
#[test]
fn a_resync_is_one_mark_and_is_counted_object_by_object() {
    let mut play = Play::default();
    let mut watched = play.watch("#/pods?ns=shop", Timeline::default());
    let mut resyncs = Resyncs::new(None, None);
    let ids = play.begin(&["a@1", "b@2"]);
    play.drain();
    let keep = |play: &mut Play, watched: &Watched, resyncs: &Resyncs| {
        let mut changed = Vec::new();
        watched.resync(&mut play.informers, resyncs, 1000.0, &mut changed);
        (changed.len(), watched.resync_period(&play.informers))
    };
    assert_eq!(keep(&mut play, &watched, &resyncs), (2, Some(600_000.0)));
    assert_eq!(keep(&mut play, &watched, &resyncs), (0, Some(600_000.0)), "nothing new was chosen");
    resyncs.choose(Resync::HalfMinute);
    assert_eq!(keep(&mut play, &watched, &resyncs), (2, Some(30_000.0)));
    let informer = play.informers.get_mut(ids[0]).unwrap();
    assert_eq!(informer.reflector().deadline(), Some(31_000.0));
    informer.handle(Input::Timer, Moment { now: 31_000.0, random: 0.0 });
    play.drain();
    watched.take(&mut play.informers);
    let (counters, ledger) = (watched.counters(), watched.ledger(&play.informers));
    assert_eq!((counters.added, counters.synced, ledger.resyncs, ledger.deltas()), (2, 2, 2, 4));
    let marks = report::marks(&watched);
    let mark = serde_json::to_value(&marks[marks.len() - 1]).unwrap();
    assert_eq!((marks.len(), &mark["type"], &mark["key"], &mark["folded"]), (3, &"Sync".into(), &"".into(), &2.into()));
    assert_eq!(mark["note"], "resync: 2 objects in shop told again");
    let status =
        serde_json::to_value(report::status(&watched, &play.informers, &Verifier::default(), 31_000.0)).unwrap();
    assert_eq!((&status["changes"]["synced"], &status["resync_ms"]), (&2.into(), &30_000.0.into()));
    resyncs.choose(Resync::Off);
    assert_eq!(keep(&mut play, &watched, &resyncs), (2, None));
}

/// From what was received to the rows that are shown, at every moment: while changes wait in the queue and in the log, and
/// while a filter hides some of the rows.
#[test]
fn the_sums_run_to_the_rows_that_are_shown() {
    let mut play = Play::default();
    let mut past = Timeline::default();
    past.relist(0.0, "before");
    let mut watched = play.watch("#/pods", past);
    let sums = |watched: &Watched, play: &Play| {
        let account = watched.account(&play.informers);
        assert!(watched.is_balanced(&play.informers), "{}", account.words());
        let (table, rows) = account.table.unwrap();
        (table.meant, table.waiting, rows.sums.live, rows.sums.shown, rows.sums.hidden, account.objects)
    };
    let ids = play.begin(&["a@1", "b@2", "web@3"]);
    assert_eq!(sums(&watched, &play), (0, 0, 0, 0, 0, 0));
    play.drain();
    assert_eq!(sums(&watched, &play), (3, 3, 0, 0, 0, 3));
    watched.take(&mut play.informers);
    assert_eq!(sums(&watched, &play), (3, 0, 3, 3, 0, 3));
    watched.view_mut().filter_by(Filter::parse("web", &[]).unwrap());
    assert_eq!(sums(&watched, &play), (3, 0, 3, 1, 2, 3));
    for (word, object) in [("MODIFIED", "a@101"), ("DELETED", "b@102"), ("ADDED", "web-2@103"), ("DELETED", "z@104")] {
        play.input(ids[0], Input::Frame(&event(word, object)));
        sums(&watched, &play);
    }
    play.drain();
    assert_eq!(sums(&watched, &play), (6, 3, 3, 1, 2, 3));
    watched.take(&mut play.informers);
    assert_eq!(sums(&watched, &play), (6, 0, 3, 2, 1, 3));
    // A second table, of several kinds or of one, is told of what there is when it comes.
    watched.keep_table(false, &mut play.informers, 0.0);
    assert!(watched.is_balanced(&play.informers) && watched.account(&play.informers).table.is_none());
    watched.keep_table(true, &mut play.informers, 0.0);
    assert_eq!(sums(&watched, &play), (3, 3, 0, 0, 0, 3));
    watched.take(&mut play.informers);
    assert_eq!(sums(&watched, &play), (3, 0, 3, 3, 0, 3));
    let account = watched.account(&play.informers);
    let (timeline, marks) = account.timeline;
    // Three of the list, four of the watch; and the one that was there before.
    assert_eq!((timeline.handled, marks.pushed, marks.made), (7, 7, 8));
    let ledger = watched.ledger(&play.informers);
    assert_eq!((ledger.received, ledger.changes, ledger.unknown), (7, 6, 1));
}

/// A place that is left for one that looks at the same things takes over their watch, and shows its rows at once.
#[test]
fn one_informer_for_each_scope_however_many_look_at_it() {
    let mut play = Play::default();
    let mut shop = play.watch("#/pods?ns=shop", Timeline::default());
    assert_eq!(play.begin(&["a@1"]).len(), 1);
    play.drain();
    shop.take(&mut play.informers);

    let mut both = play.watch("#/pods?ns=shop,billing", Timeline::default());
    let (_, ended) = shop.end(&mut play.informers, &mut play.announcer);
    assert!(ended.is_empty(), "someone else looks at it");
    both.take(&mut play.informers);
    assert_eq!(both.view().counts(), (1, 1), "before anything more has come");
    assert_eq!(play.begin(&["b@2"]).len(), 1, "only the other namespace is new");
    play.drain();
    both.take(&mut play.informers);
    assert_eq!((both.view().counts(), play.informers.len()), ((2, 2), 2));

    let mut labelled = play.watch("#/pods?ns=shop&labels=app%3Dx", Timeline::default());
    assert_eq!(play.begin(&[]).len(), 1, "a selector is another watch");
    labelled.take(&mut play.informers);
    assert_eq!(labelled.items(&play.informers), 0);
    let (_, ended) = both.end(&mut play.informers, &mut play.announcer);
    assert_eq!((ended.len(), play.informers.len()), (2, 1), "a watch ends with the last who looks");
}

#[test]
fn what_is_said_of_a_watch_reaches_those_who_look_at_it_and_the_list() {
    let mut play = Play::default();
    let list = play.announcer.listen();
    let mut pods = play.watch("#/pods", Timeline::default());
    let mut nodes = play.watch("#/nodes", Timeline::default());
    let ids = play.begin(&["a@1"]);
    // The history is gone: after a wait, the watch begins with a list.
    play.input(ids[0], Input::Frame(r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}"#));
    let deadline = play.informers.get(ids[0]).unwrap().reflector().deadline().unwrap();
    play.informers.get_mut(ids[0]).unwrap().handle(Input::Timer, Moment { now: deadline, random: 0.0 });
    play.input(ids[0], Input::Closed(1006));
    play.input(ids[0], Input::Failed(kubechurn_client::api::status::Failure::from_response(422, None, "")));
    play.input(ids[0], Input::Page(&page("200 a@150")));
    let said = play.announcer.hear(list);
    assert!(said.iter().any(|said| matches!(said.news, News::Watch(_, Notice::Relisted { .. }))), "{said:?}");
    let overload = News::Overload { from: 1.0, to: 2.0, most: 9 };
    play.announcer.say(Said { resource: "", namespace: String::new(), news: overload });
    let words = |watched: &Watched| {
        let marks = watched.timeline().marks().map(|mark| format!("{:?}", mark.mark_type));
        marks.collect::<Vec<_>>().join(" ")
    };
    pods.hear(&mut play.announcer);
    nodes.hear(&mut play.announcer);
    assert_eq!((words(&pods).as_str(), words(&nodes).as_str()), ("Relist Gap", "Gap"));
}
