//! The page checks itself: when it does so, in which order, what each answer means, and how a difference is repaired.

use std::cell::RefCell;

use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::consistency::{Difference, Differences};
use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::reflector::Input;
use kubechurn_client::cache::store::Change;
use kubechurn_model::navigation::catalog::Catalog;
use kubechurn_model::navigation::definitions::Definitions;
use kubechurn_model::navigation::route::Route;
use kubechurn_model::page::report;
use kubechurn_model::table::view::Retention;
use kubechurn_model::verification::found;
use kubechurn_model::verification::{AFTER_OUTAGE, BY_ITSELF, EVERY, FIRST, Now, Step, Verifier};
use kubechurn_model::watches::notices::Announcer;
use kubechurn_model::watches::{Around, Wanted, Watches};
use serde_json::Value;

use kubechurn_client::testing::{bookmark, event, page, status};

/// The page without a browser, and the steps that the verifier asked for, in words.
#[derive(Default)]
struct Play {
    informers: SharedInformerFactory,
    announcer: Announcer,
    watches: Watches,
    verifier: Verifier,
    now: f64,
    hidden: bool,
    paused: bool,
    /// Rows whose elements do not show what the rows say.
    misdrawn: Differences,
    /// The number of the last request.
    asked: u64,
    steps: RefCell<Vec<String>>,
}

impl Play {
    /// A page at a place, where each watch has listed these objects at version 100.
    fn at(fragment: &str, objects: &[&str]) -> Play {
        let mut play = Play::default();
        play.go(fragment);
        for (id, ..) in play.informers.start() {
            play.input(id, Input::Start);
            play.list(id, "100", objects);
        }
        play.look();
        play
    }

    fn go(&mut self, fragment: &str) {
        let (route, catalog) = (Route::parse(fragment), Catalog::default());
        let wanted = Wanted::at(&route, &catalog, &Definitions::default());
        let mut around = Around { informers: &mut self.informers, announcer: &mut self.announcer, now: 0.0 };
        self.watches.watch(&wanted, &mut around);
    }

    /// Sends the stream of a list that was begun.
    fn list(&mut self, id: InformerId, version: &str, objects: &[&str]) {
        self.input(id, Input::Opened);
        for object in objects {
            self.input(id, Input::Frame(&event("ADDED", object)));
        }
        self.input(id, Input::Frame(&bookmark(version, r#"{"k8s.io/initial-events-end":"true"}"#)));
    }

    fn id(&self, at: usize) -> InformerId {
        self.informers.iter().nth(at).unwrap().0
    }

    fn input(&mut self, id: InformerId, input: Input<'_>) {
        self.informers.get_mut(id).unwrap().handle(input, Moment { now: self.now, random: 0.0 });
    }

    fn hears(&mut self, word: &str, object: &str) {
        self.input(self.id(0), Input::Frame(&event(word, object)));
    }

    /// One frame of the screen.
    fn look(&mut self) {
        if !self.paused {
            for (_, informer) in self.informers.iter_mut() {
                informer.drain(usize::MAX, self.now);
            }
        }
        let left = self.watches.take(&mut self.informers, Retention::default(), false, self.now);
        let now = Now { at: self.now, hidden: self.hidden, paused: self.paused, whole: !left };
        let steps = self.verifier.look(now, &self.watches, &mut self.informers);
        self.note(steps);
    }

    fn note(&mut self, steps: Vec<Step>) {
        for step in steps {
            let words = match step {
                Step::Ask(id, number, request) => {
                    self.asked = number;
                    let (resource, scope) = self.informers.of(id).unwrap();
                    let token = request.continue_token.map(|token| format!(" +{token}")).unwrap_or_default();
                    let place =
                        if scope.namespace.is_empty() { String::new() } else { format!(" in {}", scope.namespace) };
                    format!("ask {}{place}@{}{token}", resource.plural, request.resource_version)
                }
                Step::GiveUp => continue,
                Step::Draw(_) => {
                    let differences = std::mem::take(&mut self.misdrawn);
                    let steps = self.verifier.drawn(self.now, 7, differences, &self.informers);
                    self.note(steps);
                    continue;
                }
                Step::Relist(id, _) => {
                    self.input(id, Input::Relist("why"));
                    String::from("relist")
                }
                Step::Rebuild => String::from("rebuild"),
                Step::Publish(said) => format!("{}: {}", said.word(), said.sentence()),
            };
            self.steps.borrow_mut().push(words);
        }
    }

    /// The steps since the last call, after as many frames as all slices need.
    fn wants(&mut self) -> String {
        for _ in 0..5 {
            self.look();
        }
        self.steps.borrow_mut().drain(..).collect::<Vec<_>>().join("; ")
    }

    fn ask(&mut self) -> String {
        self.verifier.ask(self.now, &self.watches);
        self.wants()
    }

    fn answer(&mut self, text: &str) -> String {
        let text = page(text);
        let steps = self.verifier.answered(self.now, self.asked, Ok(text.as_bytes()), &mut self.informers);
        self.note(steps);
        self.wants()
    }

    fn fails(&mut self, text: &str) -> String {
        let code = text.split(' ').next().unwrap().parse().unwrap();
        let failure = Failure::from_response(code, None, &status(text));
        let steps = self.verifier.answered(self.now, self.asked, Err(failure), &mut self.informers);
        self.note(steps);
        self.wants()
    }

    fn later(&mut self, by: f64) -> String {
        self.now += by;
        self.wants()
    }

    /// What `status()` has about the first kind.
    fn report(&self) -> Value {
        let status = report::status(&self.watches, 0, &self.informers, &self.verifier, (None, self.now));
        serde_json::to_value(status).unwrap()["verified"].clone()
    }

    fn summary(&self) -> String {
        let summary = found::summary(&self.verifier, self.watches.members());
        format!("{} {}", summary.state, summary.words).trim().to_owned()
    }
}

const TWO: &[&str] = &["a@1", "b@2"];

#[test]
fn what_is_the_same_is_reported_with_its_time_and_its_numbers() {
    let mut play = Play::at("#/pods", TWO);
    assert_eq!((play.summary(), play.report()["at"].clone()), (String::from("unknown"), Value::Null));
    assert_eq!(play.ask(), "ask pods@100");
    assert_eq!(play.summary(), "checking 0 of 2");
    assert_eq!(play.answer("100 +t a@1"), "ask pods@100 +t");
    play.now = 50.0;
    assert_eq!(play.answer("100 b@2"), "");
    let report = play.report();
    assert_eq!(
        (&report["at"], &report["same"], &report["of"], &report["rows"], &report["differed"]),
        (&50.0.into(), &2.into(), &2.into(), &2.into(), &0.into())
    );
    assert_eq!(play.summary(), "same");
    let items = found::items(&play.verifier, &play.watches);
    assert_eq!(items[0].words, "2 of 2 the same at version 100, and 2 rows");
}

#[test]
fn a_difference_is_reported_kept_and_healed_by_a_list_and_looked_at_again() {
    let mut play = Play::at("#/pods", TWO);
    play.ask();
    let wants = play.answer("100 a@1 b@3");
    let expected = "difference: The page checked itself: 1 of 2 objects is not as the server has them at version 100 (n/b); \
                everything is listed again.; relist";
    assert_eq!(wants, expected);
    assert_eq!(play.summary(), "differs 1");
    // It begins only when the list has come and is applied.
    assert_eq!(play.later(1000.0), "");
    play.list(play.id(0), "110", &["a@1", "b@3"]);
    assert_eq!(play.wants(), "ask pods@110");
    assert_eq!(play.answer("110 a@1 b@3"), "");
    assert_eq!(play.summary(), "same");
    let report = play.report();
    assert_eq!(
        (&report["same"], &report["of"], &report["checks"], &report["differed"]),
        (&2.into(), &2.into(), &2.into(), &1.into())
    );
    let kept = &report["differences"][0];
    assert_eq!((&kept["in"], &kept["key"]), (&"store".into(), &"n/b".into()));
    let versions = (&kept["ours"]["resourceVersion"], &kept["theirs"]["resourceVersion"]);
    assert_eq!(versions, (&"2".into(), &"3".into()));
    let items = found::items(&play.verifier, &play.watches);
    assert_eq!(items[0].differences, ["n/b: here version 2, server version 3"]);
}

/// A difference that a new list does not repair is announced, and no further list is requested.
#[test]
fn what_a_list_does_not_heal_is_left_for_the_next_time() {
    let mut play = Play::at("#/pods", TWO);
    play.ask();
    assert!(play.answer("100 a@1").ends_with("; relist"));
    play.list(play.id(0), "110", TWO);
    assert_eq!(play.wants(), "ask pods@110");
    let wants = play.answer("110 a@1");
    assert!(wants.contains("that has not changed by having it anew") && !wants.contains("relist"), "{wants}");
    assert_eq!(play.later(EVERY), "ask pods@110");
    // When no difference is left, a list may be requested again for a later one.
    assert_eq!(play.answer("110 a@1 b@2"), "");
    play.ask();
    assert!(play.answer("110 a@1").ends_with("; relist"));
}

/// A list that arrived while the server answered has repaired the difference.
#[test]
fn a_list_that_came_meanwhile_is_not_asked_for_again() {
    let mut play = Play::at("#/pods", TWO);
    play.ask();
    let id = play.id(0);
    play.input(id, Input::Relist("another reason"));
    play.list(id, "110", &["a@1", "b@3"]);
    play.wants();
    let wants = play.answer("100 a@1 b@3");
    assert!(wants.contains("a new list has come meanwhile.; ask pods@110"), "{wants}");
    assert_eq!(play.answer("110 a@1 b@3"), "");
    assert_eq!(play.summary(), "same");
}

#[test]
fn changes_while_the_server_answers_are_no_differences() {
    let mut play = Play::at("#/pods", TWO);
    play.ask();
    play.hears("MODIFIED", "a@101");
    play.hears("DELETED", "b@102");
    play.hears("ADDED", "b#2@103");
    assert_eq!(play.answer("100 +t a@1"), "ask pods@100 +t");
    play.hears("ADDED", "c@104");
    assert_eq!(play.answer("100 b@2"), "");
    let report = play.report();
    assert_eq!((&report["same"], &report["of"], &report["rows"]), (&2.into(), &2.into(), &3.into()));
}

/// A server that does not know a version that it sent may lag behind, which is temporary. Or its storage was restored
/// to an older state, which is permanent.
#[test]
fn a_server_that_is_behind_is_given_time_and_then_listed_anew() {
    for answer in [
        "504 Timeout Too large resource version: 100, current: 7",
        "500 x etcdserver: mvcc: required revision is a future revision",
    ] {
        let mut play = Play::at("#/pods", TWO);
        play.ask();
        assert_eq!((play.fails(answer), play.later(2_900.0)), (String::new(), String::new()));
        assert_eq!(play.summary(), "checking waits for the server");
        assert_eq!(play.later(200.0), "ask pods@100");
        play.fails(answer);
        assert_eq!(play.later(3_100.0), "ask pods@100");
        let wants = play.fails(answer);
        assert!(wants.contains("does not have version 100") && wants.contains("restored from a backup"), "{wants}");
        assert!(wants.ends_with("; relist"), "{wants}");
        play.list(play.id(0), "7", &["a@5"]);
        assert_eq!(play.wants(), "ask pods@7");
        assert_eq!(play.answer("7 a@5"), "");
        assert_eq!((play.summary(), &play.report()["of"]), (String::from("same"), &1.into()));
    }
    // A server that lagged behind answers the second time.
    let mut play = Play::at("#/pods", TWO);
    play.ask();
    play.answer("90 a@1");
    assert_eq!(play.later(3_100.0), "ask pods@100");
    assert_eq!(play.answer("100 a@1 b@2"), "");
    assert_eq!(play.summary(), "same");
}

#[test]
fn a_version_that_is_forgotten_is_asked_for_again_at_a_newer_one() {
    let gone = "410 Expired too old";
    let mut play = Play::at("#/pods", TWO);
    play.ask();
    assert_eq!((play.fails(gone), play.later(10_000.0)), (String::new(), String::new()));
    assert_eq!(play.summary(), "checking waits for a newer version");
    play.input(play.id(0), Input::Frame(&bookmark("120", "{}")));
    assert_eq!(play.wants(), "ask pods@120");
    assert_eq!(play.answer("120 a@1 b@2"), "");
    assert_eq!(play.summary(), "same");
    // The server must know the version that it sent just now.
    play.ask();
    for version in ["130", "140"] {
        play.fails(gone);
        play.input(play.id(0), Input::Frame(&bookmark(version, "{}")));
        assert_eq!(play.wants(), format!("ask pods@{version}"));
    }
    let wants = play.fails(gone);
    assert!(wants.contains("has forgotten version 140") && wants.ends_with("; relist"), "{wants}");
    // A server that sends no bookmarks may have forgotten a version that it sent long ago: that is no fault.
    let mut play = Play::at("#/pods", TWO);
    play.now = 100_000.0;
    play.ask();
    play.fails(gone);
    assert_eq!(play.later(75_000.0), "ask pods@100");
    play.fails(gone);
    assert_eq!(play.later(75_000.0), "ask pods@100");
    assert_eq!(play.fails(gone), "");
    assert_eq!(play.summary(), "unknown the server keeps no history back to version 100 (410: too old)");
}

#[test]
fn what_cannot_be_verified_says_why() {
    for (answer, words) in [
        ("403 Forbidden no", "this may be watched, and not listed (403: no)"),
        ("400 BadRequest no", "the server does not list as of an exact version (400: no)"),
        ("503 Unavailable no", "the server did not answer (503: no)"),
    ] {
        let mut play = Play::at("#/pods", TWO);
        play.ask();
        assert_eq!((play.fails(answer), play.summary()), (String::new(), format!("unknown {words}")));
        assert_eq!(play.report()["trouble"], words);
        // The next comparison that is finished clears the message.
        play.ask();
        play.answer("100 a@1 b@2");
        assert_eq!((play.summary(), &play.report()["trouble"]), (String::from("same"), &Value::Null));
    }
    let mut play = Play::at("#/pods", TWO);
    play.ask();
    play.answer("130 a@1 b@2");
    assert!(play.summary().starts_with("unknown the server does not list as of an exact version: it answered"));
    play.ask();
    assert_eq!((play.later(30_000.0), play.summary()), (String::new(), String::from("unknown no answer within 30 s")));
    // An answer that comes too late is not taken for the answer to the next request.
    let late = play.asked;
    play.ask();
    play.asked = late;
    assert_eq!((play.answer("100 a@1"), play.summary()), (String::new(), String::from("checking 0 of 2")));
}

#[test]
fn what_is_not_known_to_be_true_is_not_compared() {
    let mut play = Play::at("#/pods", TWO);
    play.paused = true;
    assert_eq!(play.ask(), "");
    assert_eq!(play.summary(), "unknown paused: what was received is not applied");
    play.paused = false;
    play.input(play.id(0), Input::Closed(1006));
    assert_eq!(play.ask(), "");
    assert_eq!(play.summary(), "unknown stale: what is shown is not known to be true");
}

/// As docs/guide/states.md has it: while the page is visible, a live watch in view of at most 5,000 objects is compared
/// every five minutes, one watch at a time.
#[test]
fn by_itself_it_looks_at_what_is_in_view_one_after_the_other() {
    let mut play = Play::at("#/pods,services?pin=nodes", TWO);
    assert_eq!(play.later(FIRST - 1.0), "");
    play.hidden = true;
    assert_eq!(play.later(1.0), "");
    play.hidden = false;
    assert_eq!(play.later(0.0), "ask pods@100");
    assert_eq!((play.summary(), play.later(1_000.0)), (String::from("unknown"), String::new()));
    // The other watch waits until this one is done. A kind that is only pinned is not compared by itself.
    assert_eq!(play.answer("100 a@1 b@2"), "ask services@100");
    assert_eq!(play.answer("100 a@1 b@2"), "");
    assert_eq!(play.summary(), "same");
    assert_eq!(play.later(EVERY - 1.0), "");
    assert_eq!(play.later(1.0), "ask pods@100");
    // A user who asks for it gets everything compared, pinned kinds too.
    play.answer("100 a@1 b@2");
    play.answer("100 a@1 b@2");
    assert_eq!(play.ask(), "ask pods@100");
    assert_eq!(play.answer("100 a@1 b@2"), "ask services@100");
    assert_eq!(play.answer("100 a@1 b@2"), "ask nodes@100");
}

#[test]
fn many_objects_are_compared_only_on_demand() {
    let objects: Vec<String> = (0..=BY_ITSELF).map(|number| format!("o{number}@1")).collect();
    let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
    let mut play = Play::at("#/pods", &objects);
    assert_eq!(play.later(FIRST), "");
    assert_eq!(play.ask(), "ask pods@100");
}

/// A watch that was resumed without a list may now be served by another server.
#[test]
fn after_an_outage_it_looks_soon() {
    let mut play = Play::at("#/pods", TWO);
    play.later(FIRST);
    play.answer("100 a@1 b@2");
    play.now += 2_000.0;
    play.input(play.id(0), Input::Closed(1006));
    assert_eq!(play.wants(), "");
    play.input(play.id(0), Input::Opened);
    play.hears("MODIFIED", "a@101");
    assert_eq!(play.wants(), "");
    assert_eq!(play.later(AFTER_OUTAGE - 1.0), "");
    assert_eq!(play.later(1.0), "ask pods@101");
}

#[test]
fn each_namespace_is_compared_with_its_own_rows() {
    let mut play = Play::at("#/pods?ns=n,m", &[]);
    play.list(play.id(0), "100", &[]);
    play.hears("ADDED", "a@101");
    assert_eq!(play.ask(), "ask pods in n@101");
    assert_eq!(play.answer("101 a@101"), "ask pods in m@100");
    assert_eq!(play.answer("100"), "");
    let report = play.report();
    assert_eq!((&report["same"], &report["of"], &report["rows"]), (&1.into(), &1.into(), &1.into()));
}

/// Rows that differ from the store are found and rebuilt, without a new list.
#[test]
fn rows_that_differ_from_the_store_are_found() {
    for fragment in ["#/pods", "#/pods,services"] {
        let mut play = Play::at(fragment, &["a@1", "b@2", "c@3"]);
        let (store, view) = (play.informers.get(play.id(0)).unwrap().store().list(), play.watches.view_mut().unwrap());
        // A row of an old version, a row of an object that does not exist, and two objects without a row.
        let old = kubechurn_client::api::object::Object {
            resource_version: kubechurn_client::api::object::ResourceVersion::new("0"),
            ..(*store[0]).clone()
        };
        view.apply(&Change::Updated { old: store[0].clone(), new: old.into(), folded: 1 }, 0.0);
        view.apply(&Change::Deleted { last: store[1].clone(), folded: 1, final_state_unknown: false }, 0.0);
        let other = kubechurn_client::api::object::Object {
            key: kubechurn_client::api::object::ObjectKey::new("n", "d"),
            ..(*store[2]).clone()
        };
        view.apply(&Change::Added { new: other.into(), listed: false, folded: 1 }, 0.0);
        view.apply(&Change::Deleted { last: store[2].clone(), folded: 1, final_state_unknown: false }, 0.0);
        play.ask();
        let wants = play.answer("100 a@1 b@2 c@3");
        assert!(wants.contains("4 of 4 rows are not as the store has them"), "{wants}");
        assert!(wants.contains("the rows are made anew.; rebuild") && !wants.contains("relist"), "{wants}");
        let report = play.report();
        let mut keys: Vec<&str> =
            report["differences"].as_array().unwrap().iter().map(|one| one["key"].as_str().unwrap()).collect();
        keys.sort_unstable();
        assert_eq!(keys, ["n/a", "n/b", "n/c", "n/d"]);
        assert!(report["differences"].as_array().unwrap().iter().all(|one| one["in"] == "row"));
    }
}

/// A row whose element shows something else is drawn again.
#[test]
fn rows_that_are_drawn_otherwise_are_found() {
    let mut play = Play::at("#/pods", TWO);
    let key = kubechurn_client::api::object::ObjectKey::new("n", "a");
    play.misdrawn.push(Difference { key, ours: None, theirs: None });
    play.ask();
    let wants = play.answer("100 a@1 b@2");
    assert!(
        wants.contains("1 of 8 rows in sight is drawn otherwise (n/a); the rows are made anew.; rebuild"),
        "{wants}"
    );
    assert!(wants.ends_with("; ask pods@100"), "{wants}");
    assert_eq!(play.answer("100 a@1 b@2"), "");
    let report = play.report();
    assert_eq!((&report["drawn"], &report["differences"][0]["in"]), (&7.into(), &"screen".into()));
    assert_eq!(play.summary(), "same");
}

/// When the user goes to another place, the request is dropped.
#[test]
fn a_watch_that_ends_ends_its_check() {
    let mut play = Play::at("#/pods", TWO);
    play.ask();
    play.go("#/nodes");
    assert_eq!((play.wants(), play.answer("100 a@1 b@2")), (String::new(), String::new()));
}
