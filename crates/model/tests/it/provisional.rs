//! A first list on its way through informers, tables, marks and sums: what it brings is shown, and nothing of it counts.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::{Health, Input};
use kubechurn_client::testing::{bookmark, event, page};
use kubechurn_model::page::report;
use kubechurn_model::table::view::{ProvisionalSums, Retention};
use kubechurn_model::verification::Verifier;

use crate::play::{LISTED, Play};

impl Play {
    /// Starts the new informers, whose sockets open, and returns their ids.
    fn opens(&mut self) -> Vec<InformerId> {
        let started = self.informers.start().into_iter();
        let ids: Vec<InformerId> = started.map(|(id, ..)| id).collect();
        for id in &ids {
            self.input(*id, Input::Start);
            self.input(*id, Input::Opened);
        }
        ids
    }

    /// Frames of a list arrive.
    fn brings(&mut self, id: InformerId, objects: &[&str]) {
        objects.iter().for_each(|object| self.input(id, Input::Frame(&event("ADDED", object))));
        self.check_sums();
    }

    fn ends(&mut self, id: InformerId) {
        self.input(id, Input::Frame(&bookmark("100", LISTED)));
        self.check_sums();
    }

    /// What is under way ends with this, and is tried again when that is due.
    fn breaks(&mut self, id: InformerId, input: Input<'_>) {
        self.input(id, input);
        self.check_sums();
        self.look();
        self.now = self.informers.get(id).unwrap().reflector().deadline().unwrap();
        self.input(id, Input::Timer);
        self.input(id, Input::Opened);
    }

    /// Name of each row in view, in brackets while it is provisional.
    fn shown(&self) -> String {
        let view = self.watches.view().unwrap();
        let rows = view.window(0, 100).into_iter().filter_map(|id| view.row(id));
        let words = rows.map(|row| match (row.provisional, &*row.object.key.name) {
            (true, name) => format!("({name})"),
            (false, name) => name.to_owned(),
        });
        words.collect::<Vec<_>>().join(" ")
    }

    fn sums(&self) -> ProvisionalSums {
        self.watches.view().unwrap().sums().provisional
    }

    /// How many rows of deleted objects there are, and how many went before their time.
    fn retained(&self) -> (usize, usize) {
        let deleted = self.watches.view().unwrap().deleted();
        (deleted.len(), deleted.crowded_out())
    }

    /// A field of what `status()` says of the first kind.
    fn status(&self, pointer: &str) -> serde_json::Value {
        let status = report::status(&self.watches, 0, &self.informers, &Verifier::default(), (None, self.now)).unwrap();
        serde_json::to_value(&status).unwrap().pointer(pointer).unwrap().clone()
    }
}

#[test]
fn what_has_come_is_shown_at_once_and_is_taken_for_nothing() {
    let mut play = Play::at("#/pods");
    let id = play.opens()[0];
    play.brings(id, &["b@2", "a@1"]);
    play.look();
    assert_eq!((play.shown().as_str(), play.watches.items(&play.informers)), ("(a) (b)", 0));
    assert_eq!(play.watches.health(&play.informers, play.now), Some(Health::Listing));
    assert_eq!(
        (play.status("/items"), play.status("/provisional"), play.status("/synced")),
        (0.into(), 2.into(), false.into())
    );
    assert_eq!((play.status("/ledger/pending"), play.status("/account/rows/live")), (2.into(), 0.into()));
    assert_eq!(play.status("/account/rows/provisional"), 2);
    let watched = &play.watches[0];
    let objects = watched.objects(&play.informers).map(|object| &**object);
    let (rows, none) = (report::rows(watched.kind(), objects, export_time()), std::iter::empty());
    assert_eq!((rows.len(), watched.counters().added), (0, 0));
    let digest = report::digest(watched.objects(&play.informers).map(|object| &**object));
    assert_eq!(digest, report::digest(none));
    play.ends(id);
    play.look();
    assert_eq!((play.shown().as_str(), play.sums().rows, play.status("/provisional")), ("a b", 0, 0.into()));
    assert_eq!((play.status("/items"), play.status("/synced")), (2.into(), true.into()));
}

fn export_time() -> kubechurn_client::api::time::Timestamp {
    kubechurn_client::api::time::Timestamp(0)
}

#[test]
fn the_complete_list_makes_rows_of_what_was_provisional_and_concludes_no_deletion() {
    let mut play = Play::at("#/pods");
    let id = play.opens()[0];
    play.brings(id, &["a@1", "b@2", "c@3"]);
    play.look();
    let keys = |play: &Play| {
        let view = play.watches.view().unwrap();
        view.window(0, 9).into_iter().filter_map(|id| view.rows().key_of(id)).collect::<Vec<_>>()
    };
    let before = keys(&play);
    // The list takes an object back before it ends.
    play.input(id, Input::Frame(&event("DELETED", "b@4")));
    play.take();
    assert_eq!(play.shown(), "(a) (c)");
    play.ends(id);
    // One object at a time reaches the store.
    play.informers.get_mut(id).unwrap().drain(1, play.now);
    play.take();
    play.check_sums();
    assert_eq!(
        (play.shown().as_str(), play.status("/items"), play.status("/provisional")),
        ("a (c)", 1.into(), 1.into())
    );
    play.look();
    assert_eq!((play.shown().as_str(), keys(&play)), ("a c", vec![before[0], before[2]]), "the same rows, in place");
    assert_eq!(play.sums(), ProvisionalSums { made: 3, confirmed: 2, dropped: 1, rows: 0, leaving: false });
    assert_eq!((play.watches[0].counters().deleted, play.retained()), (0, (0, 0)));
    assert_eq!(play.rows(), "a0Replaced c0Replaced");
}

#[test]
fn a_list_that_breaks_keeps_its_rows_and_the_next_one_replaces_them() {
    let mut play = Play::at("#/pods");
    let id = play.opens()[0];
    play.brings(id, &["a@1", "b@2", "c@3"]);
    play.look();
    play.breaks(id, Input::Closed(1006));
    assert_eq!((play.shown().as_str(), play.status("/ledger/pending")), ("(a) (b) (c)", 0.into()));
    play.brings(id, &["a@1", "c@8"]);
    play.look();
    assert_eq!(
        (play.shown().as_str(), play.status("/provisional")),
        ("(a) (b) (c)", 3.into()),
        "nothing is there twice"
    );
    // After this, a list in pages is asked for at once.
    play.input(id, Input::Frame(r#"{"type":"ERROR","object":{"kind":"Status","code":500,"reason":"InternalError"}}"#));
    play.look();
    assert_eq!((play.shown().as_str(), play.status("/provisional")), ("(a) (b) (c)", 3.into()));
    play.input(id, Input::Page(&page("9 a@1 c@8 d@9")));
    play.check_sums();
    play.look();
    assert_eq!((play.shown().as_str(), play.status("/provisional")), ("a c d", 0.into()));
    assert_eq!((play.watches[0].counters().deleted, play.retained()), (0, (0, 0)));
    assert_eq!(play.status("/ledger/discarded"), 5, "the items of the lists that broke");
}

#[test]
fn a_relist_shows_nothing_twice_and_nothing_provisional() {
    let mut play = Play::at("#/pods");
    play.begin(&["a@1", "b@2"]);
    let id = play.id("pods");
    let made = play.sums().made;
    play.now += 5_000.0;
    play.breaks(id, Input::Frame(r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}"#));
    play.brings(id, &["a@1", "c@101"]);
    play.look();
    assert_eq!((play.shown().as_str(), play.sums().made), ("a b", made));
    play.breaks(id, Input::Closed(1006));
    play.brings(id, &["a@1", "c@101"]);
    play.ends(id);
    play.look();
    assert_eq!((play.rows().as_str(), play.sums().rows), ("a0Replaced b0Deleted c0Replaced", 0));
}

/// A frame takes in some thousands of items, and no more: the page must not stand still however many have come.
#[test]
fn very_many_items_are_taken_in_over_several_frames() {
    let mut play = Play::at("#/pods");
    let id = play.opens()[0];
    let objects: Vec<String> = (0..5_000).map(|at| format!("p{at:04}@{}", at + 1)).collect();
    objects.iter().for_each(|object| play.input(id, Input::Frame(&event("ADDED", object))));
    let mut frames = Vec::new();
    loop {
        let left = play.watches.take(&mut play.informers, Retention::default(), false, play.now);
        play.check_sums();
        frames.push(play.sums().rows);
        if !left {
            break;
        }
    }
    assert_eq!(frames, [4_096, 5_000]);
    // The complete list passes over what was not taken yet, and makes no row anew.
    play.ends(id);
    play.look();
    let expected = ProvisionalSums { made: 5_000, confirmed: 5_000, dropped: 0, rows: 0, leaving: false };
    assert_eq!((play.sums(), play.watches.view().unwrap().counts()), (expected, (5_000, 5_000)));
}

/// A second view, and a pinned kind that comes into view, receive what the list has brought so far.
#[test]
fn a_table_that_comes_in_the_middle_of_a_list_has_its_rows() {
    let mut play = Play::at("#/nodes?pin=pods");
    let ids = play.opens();
    let pods = play.id("pods");
    assert_eq!(ids.len(), 2);
    play.brings(pods, &["a@1", "b@2"]);
    play.look();
    play.go("#/nodes,pods?pin=pods");
    play.look();
    assert_eq!(play.shown(), "(a) (b)");
    play.brings(pods, &["c@3"]);
    play.look();
    assert_eq!(play.shown(), "(a) (b) (c)");
    play.ends(pods);
    play.look();
    assert_eq!((play.shown().as_str(), play.watches.view().unwrap().counts()), ("a b c", (3, 3)));
    play.check_sums();
}

#[test]
fn of_several_namespaces_each_list_ends_by_itself() {
    let mut play = Play::at("#/pods?ns=n,other");
    let ids = play.opens();
    play.brings(ids[0], &["a@1", "b@2"]);
    let other = event("ADDED", "z@3").replace("\"n\"", "\"other\"");
    play.input(ids[1], Input::Frame(&other));
    play.look();
    assert_eq!(play.shown(), "(a) (b) (z)");
    play.ends(ids[0]);
    play.look();
    assert_eq!((play.shown().as_str(), play.status("/provisional")), ("a b (z)", 1.into()));
    play.input(ids[1], Input::Closed(1006));
    play.look();
    assert_eq!(play.shown(), "a b (z)");
}

/// The lane of an object begins with what is known of the object, and a provisional row is not known.
#[test]
fn a_provisional_row_begins_no_lane() {
    let mut play = Play::at("#/pods");
    let id = play.opens()[0];
    play.watches.limit_timelines(0);
    play.brings(id, &["a@1"]);
    play.look();
    let marks = play.marks(0);
    play.watches.attend(kubechurn_model::kind_id::KindId(0), &ObjectKey::new("n", "a"));
    assert_eq!(play.marks(0), marks);
}

/// The pointer keeps what would go where it is; the sums hold all the while.
#[test]
fn under_the_pointer_what_the_list_did_not_have_goes_later() {
    let mut play = Play::at("#/pods");
    let id = play.opens()[0];
    play.brings(id, &["a@1", "b@2", "c@3"]);
    play.look();
    play.watches.view_mut().unwrap().freeze(0, 10);
    play.breaks(id, Input::Closed(1006));
    play.brings(id, &["b@2"]);
    play.ends(id);
    play.drain();
    play.watches.take(&mut play.informers, Retention::default(), true, play.now);
    play.check_sums();
    assert_eq!((play.shown().as_str(), play.sums().leaving), ("(a) b (c)", true));
    play.watches.view_mut().unwrap().unfreeze();
    play.look();
    assert_eq!(play.shown(), "b");
}
