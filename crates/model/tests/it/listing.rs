//! The progress of a first list: when the server is asked for the number of objects, and the effect of its answers.

use std::slice;

use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::reflector::Input;
use kubechurn_model::navigation::catalog::Catalog;
use kubechurn_model::navigation::route::Route;
use kubechurn_model::watches::listing::{Counts, LASTS};
use kubechurn_model::watches::notices::Announcer;
use kubechurn_model::watches::watched::{Watched, scopes};

use kubechurn_client::testing::{bookmark, event};

const NONE: [usize; 0] = [];

/// A table, its informers, and what is known about their lists.
struct Play {
    informers: SharedInformerFactory,
    watched: Watched,
    ids: Vec<InformerId>,
    counts: Counts,
}

impl Play {
    /// Watches what an address asks for. Every socket has been open since time 0, and has sent a bookmark.
    fn begin(fragment: &str) -> Play {
        let (mut informers, mut announcer) = (SharedInformerFactory::default(), Announcer::default());
        let route = Route::parse(fragment);
        let kind = route.kinds(&Catalog::default())[0];
        let scopes = scopes(kind, &route, true);
        let watched = Watched::new(kind, scopes, &mut informers, &mut announcer, 0.0);
        let ids: Vec<InformerId> = informers.start().into_iter().map(|(id, ..)| id).collect();
        let mut play = Play { informers, watched, ids, counts: Counts::default() };
        for at in 0..play.ids.len() {
            play.input(at, Input::Start);
            play.input(at, Input::Opened);
            play.input(at, Input::Frame(&bookmark("1", "{}")));
        }
        play
    }

    fn input(&mut self, at: usize, input: Input<'_>) {
        let informer = self.informers.get_mut(self.ids[at]).unwrap();
        informer.handle(input, Moment { now: 0.0, random: 0.0 });
    }

    fn adds(&mut self, at: usize, objects: &[&str]) {
        objects.iter().for_each(|object| self.input(at, Input::Frame(&event("ADDED", object))));
    }

    fn ends(&mut self, at: usize) {
        self.input(at, Input::Frame(&bookmark("100", r#"{"k8s.io/initial-events-end":"true"}"#)));
        self.informers.iter_mut().for_each(|(_, informer)| assert!(informer.drain(usize::MAX, 0.0) < 9));
    }

    /// The informers whose number of objects is requested now.
    fn asks(&mut self, now: f64) -> Vec<usize> {
        let asked = self.counts.look(now, slice::from_ref(&self.watched), &self.informers);
        asked.into_iter().filter_map(|id| self.ids.iter().position(|own| *own == id)).collect()
    }

    fn answered(&mut self, at: usize, total: Option<u64>) {
        self.counts.answered(self.ids[at], total);
    }

    fn words(&self) -> Option<String> {
        self.counts.progress(slice::from_ref(&self.watched), &self.informers).map(|progress| progress.words())
    }

    #[track_caller]
    fn says(&self, words: &str) {
        assert_eq!(self.words().as_deref(), Some(words));
    }
}

#[test]
fn a_list_that_lasts_is_worth_one_question() {
    let mut play = Play::begin("#/pods?ns=shop,billing");
    assert_eq!((play.asks(0.0), play.asks(LASTS - 1.0)), (vec![], vec![]));
    play.says("");
    play.adds(0, &["a@1", "b@2"]);
    play.says("2 so far");
    assert_eq!((play.asks(LASTS), play.asks(10.0 * LASTS)), (vec![0, 1], vec![]), "once for each list");
    play.answered(0, Some(149_990));
    play.says("2 so far");
    play.answered(1, Some(10));
    play.says("2 of about 150,000");
    play.answered(0, None);
    play.says("2 of about 150,000");
    // Objects may have been created since the server counted.
    play.answered(0, Some(1));
    play.adds(1, &["c@3"]);
    play.says("3 of about 12");
    play.ends(0);
    play.says("1 of about 10");
    play.ends(1);
    assert_eq!((play.words(), play.asks(1e9)), (None, vec![]));
}

#[test]
fn short_lists_and_selections_are_worth_none() {
    let mut play = Play::begin("#/pods");
    assert_eq!(play.asks(0.0), NONE);
    play.adds(0, &["a@1"]);
    play.ends(0);
    assert_eq!((play.asks(LASTS), play.asks(1e9)), (vec![], vec![]));
    for selection in ["labels=app%3Dweb", "fields=status.phase%3DRunning"] {
        let mut play = Play::begin(&format!("#/pods?{selection}"));
        assert_eq!((play.asks(0.0), play.asks(1e9)), (vec![], vec![]), "{selection}");
        play.adds(0, &["a@1"]);
        play.says("1 so far");
    }
}

#[test]
fn a_question_that_brought_nothing_is_asked_again_with_the_next_list_alone() {
    let mut play = Play::begin("#/pods");
    assert_eq!((play.asks(0.0), play.asks(LASTS)), (vec![], vec![0]));
    play.answered(0, None);
    assert_eq!(play.asks(5.0 * LASTS), NONE);
    play.input(0, Input::Closed(1006));
    play.input(0, Input::Failed(Failure::from_response(503, None, "")));
    assert_eq!(play.asks(6.0 * LASTS), NONE, "nothing is being listed");
    let deadline = play.informers.get(play.ids[0]).unwrap().reflector().deadline().unwrap();
    play.informers.get_mut(play.ids[0]).unwrap().handle(Input::Timer, Moment { now: deadline, random: 0.0 });
    play.adds(0, &["a@1"]);
    assert_eq!((play.asks(7.0 * LASTS), play.asks(8.0 * LASTS)), (vec![], vec![0]));
    play.answered(0, Some(7));
    play.says("1 of about 7");
}

#[test]
fn pages_say_themselves_what_remains() {
    let mut play = Play::begin("#/pods");
    play.input(0, Input::Frame(r#"{"type":"ERROR","object":{"kind":"Status","code":422}}"#));
    assert_eq!(play.asks(0.0), NONE);
    // A list in pages may take long and fail: no second question is asked beside it.
    assert_eq!(play.asks(1e8), NONE);
    let page = r#"{"metadata":{"resourceVersion":"9","continue":"x","remainingItemCount":1999},
        "items":[{"metadata":{"name":"a","namespace":"shop","uid":"u","resourceVersion":"1"}}]}"#;
    play.input(0, Input::Page(page));
    assert_eq!(play.asks(1e9), NONE);
    play.says("1 of about 2,000");
}

#[test]
fn a_relist_expects_what_the_last_list_brought() {
    let mut play = Play::begin("#/pods");
    play.adds(0, &["a@1", "b@2", "c@3"]);
    play.ends(0);
    play.input(0, Input::Frame(r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}"#));
    let deadline = play.informers.get(play.ids[0]).unwrap().reflector().deadline().unwrap();
    play.informers.get_mut(play.ids[0]).unwrap().handle(Input::Timer, Moment { now: deadline, random: 0.0 });
    play.adds(0, &["a@101"]);
    assert_eq!((play.asks(1e6), play.asks(1e9)), (vec![], vec![]), "the server is not asked");
    play.says("1 of about 3");
}
