//! The audit log: it records what was received, what became of it, what the stores applied and what the rows are then,
//! each with its time. Nothing is written unless the address asks for it, and nothing is left out silently.

use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::reflector::{Input, Notice};
use kubechurn_model::navigation::catalog::Catalog;
use kubechurn_model::navigation::definitions::Definitions;
use kubechurn_model::navigation::route::Route;
use kubechurn_model::table::view::Retention;
use kubechurn_model::watches::audit::{After, AuditLog};
use kubechurn_model::watches::notices::{Announcer, NoticeKind, PageNotice};
use kubechurn_model::watches::{Around, Wanted, Watches};
use serde_json::{Value, json};

use kubechurn_client::testing::{bookmark, event, page};

/// A page that watches the Pods of one namespace, and logs what happens.
struct Play {
    informers: SharedInformerFactory,
    watches: Watches,
    audit: AuditLog,
    id: InformerId,
}

impl Play {
    fn begin(audit: AuditLog) -> Play {
        let (mut informers, mut announcer, mut watches) =
            (SharedInformerFactory::default(), Announcer::default(), Watches::default());
        let (route, catalog) = (Route::parse("#/pods?ns=default"), Catalog::default());
        let wanted = Wanted::at(&route, &catalog, &Definitions::default());
        let mut around = Around { informers: &mut informers, announcer: &mut announcer, now: 0.0 };
        watches.watch(&wanted, &mut around);
        watches.write_down(&audit);
        let (id, ..) = informers.start()[0];
        Play { informers, watches, audit, id }
    }

    fn input(&mut self, now: f64, input: Input<'_>) {
        let (resource, scope) = self.informers.of(self.id).map(|(resource, scope)| (resource, scope.clone())).unwrap();
        let informer = self.informers.get_mut(self.id).unwrap();
        let before = self.audit.before(informer, &input);
        let moment = Moment { now, random: 0.0 };
        let action = informer.handle(input, moment);
        if let Some(before) = before {
            let action = action.as_ref();
            self.audit.handled(before, After { resource: &resource, scope: &scope, informer, action, moment });
        }
    }

    fn show(&mut self, now: f64) {
        self.informers.iter_mut().for_each(|(_, informer)| assert!(informer.drain(usize::MAX, now) < 9));
        self.watches.take(&mut self.informers, Retention::default(), false, now);
    }

    /// The entries with these words since the last call, without resource and scope, which are the same for all.
    fn wrote(&self, words: &[&str]) -> Vec<Value> {
        let text = self.audit.take(9.0).unwrap();
        let log: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!((&log["now"], &log["dropped"]), (&json!(9.0), &json!(0)));
        let entries = log["entries"].as_array().unwrap().iter().cloned();
        let meant = entries.filter(|entry| words.contains(&entry[1].as_str().unwrap()));
        let short = meant.map(|mut entry| {
            let of: Vec<Value> = entry.as_array_mut().unwrap().drain(2..4).collect();
            assert_eq!(of, [json!("pods"), json!("default")]);
            entry
        });
        short.collect()
    }
}

#[test]
fn what_came_is_written_down_with_what_became_of_it() {
    let mut play = Play::begin(AuditLog::parse(Some("1")));
    play.input(1.0, Input::Start);
    let asked = play.wrote(&["watch", "state"]);
    assert_eq!(asked[1], json!([1.0, "state", "connecting"]));
    let url = asked[0][2].as_str().unwrap();
    assert!(url.starts_with("api/v1/namespaces/default/pods?watch=true") && url.contains("sendInitialEvents"), "{url}");

    play.input(2.0, Input::Opened);
    play.input(3.0, Input::Frame(&event("ADDED", "a@1")));
    play.input(4.0, Input::Frame(&bookmark("100", r#"{"k8s.io/initial-events-end":"true"}"#)));
    play.input(5.0, Input::Frame(&event("MODIFIED", "a@101")));
    play.input(6.0, Input::Bytes(event("MODIFIED", "a@50").as_bytes()));
    play.input(7.0, Input::Frame("{"));
    play.input(8.0, Input::Frame(&event("MODIFIED", "a@102")));
    let (key, uid) = ("n/a", "a-1");
    assert_eq!(
        play.wrote(&["opened", "frame", "replaced", "state"]),
        [
            json!([2.0, "opened"]),
            json!([3.0, "frame", "ADDED", key, uid, "1", "streamed"]),
            json!([3.0, "state", "listing"]),
            json!([4.0, "frame", "BOOKMARK", "", "", "100", "bookmark"]),
            json!([4.0, "replaced", "", "100"]),
            json!([4.0, "state", "live"]),
            json!([5.0, "frame", "MODIFIED", key, uid, "101", "queued"]),
            json!([6.0, "frame", "MODIFIED", key, uid, "50", "late"]),
            json!([7.0, "frame", "", "", "", "", "malformed"]),
            json!([7.0, "state", "stale"]),
            json!([8.0, "frame", "MODIFIED", key, uid, "102", "ignored"]),
        ]
    );
}

#[test]
fn what_a_list_brought_is_written_down_item_by_item() {
    let mut play = Play::begin(AuditLog::parse(Some("1")));
    play.input(1.0, Input::Start);
    play.input(2.0, Input::Closed(1006));
    play.input(3.0, Input::Failed(Failure::from_response(422, None, "")));
    play.input(4.0, Input::PageBytes(page("200 a@150").as_bytes()));
    let wrote = play.wrote(&["closed", "probe", "failed", "list", "page", "item", "replaced"]);
    let words: Vec<&str> = wrote.iter().map(|entry| entry[1].as_str().unwrap()).collect();
    assert_eq!(words, ["closed", "probe", "failed", "list", "item", "page", "replaced"], "{wrote:#?}");
    assert_eq!((&wrote[0][2], &wrote[2][2]), (&json!(1006), &json!(422)));
    assert_eq!(wrote[4], json!([4.0, "item", "n/a", "a-1", "150"]));
    assert_eq!(wrote[5], json!([4.0, "page", "200", 1, false]));
    assert_eq!(wrote[6], json!([4.0, "replaced", "", "200"]));
}

/// What came of a page that never ends is written down, too, and does not count for the next page.
#[test]
fn items_are_written_down_as_they_come() {
    let mut play = Play::begin(AuditLog::parse(Some("1")));
    play.input(1.0, Input::Start);
    play.input(2.0, Input::Closed(1006));
    play.input(3.0, Input::Failed(Failure::from_response(422, None, "")));
    let text = page("200 a@150 b@160");
    let (beginning, rest) = text.split_at(text.len() - 20);
    play.input(4.0, Input::Piece(beginning.as_bytes()));
    assert_eq!(play.wrote(&["item", "page"]), [json!([4.0, "item", "n/a", "a-1", "150"])]);
    play.input(5.0, Input::Failed(Failure::unreachable("the answer broke off")));
    play.input(6.0, Input::Piece(rest.as_bytes()));
    assert!(play.wrote(&["item", "page"]).is_empty(), "a piece of no list");
    play.input(7.0, Input::Start);
    play.input(8.0, Input::Closed(1006));
    play.input(9.0, Input::Failed(Failure::from_response(422, None, "")));
    for piece in text.as_bytes().chunks(9) {
        play.input(10.0, Input::Piece(piece));
    }
    play.input(11.0, Input::PageEnd);
    let items = [["n/a", "a-1", "150"], ["n/b", "b-1", "160"]]
        .map(|[key, uid, version]| json!([10.0, "item", key, uid, version]));
    assert_eq!(
        play.wrote(&["item", "page"]),
        [&items[0], &items[1], &json!([11.0, "page", "200", 2, false])].map(Clone::clone)
    );
}

#[test]
fn each_change_of_the_store_has_its_fold_and_each_row_its_version() {
    let mut play = Play::begin(AuditLog::parse(Some("1")));
    play.input(1.0, Input::Start);
    for object in ["a@1", "b@2", "c@3"] {
        play.input(2.0, Input::Frame(&event("ADDED", object)));
    }
    play.input(2.0, Input::Frame(&bookmark("100", r#"{"k8s.io/initial-events-end":"true"}"#)));
    play.show(3.0);
    let listed = play.wrote(&["applied", "shown"]);
    assert_eq!(listed.len(), 6, "{listed:#?}");
    assert!(listed.contains(&json!([3.0, "applied", "listed", "n/a", "a-1", "1", "", 1])), "{listed:#?}");
    assert!(listed.contains(&json!([3.0, "shown", "listed", "n/a", "a-1", "1"])), "{listed:#?}");

    for (word, object) in [("MODIFIED", "a@101"), ("MODIFIED", "a@102"), ("DELETED", "b@103"), ("ADDED", "c#2@104")] {
        play.input(4.0, Input::Frame(&event(word, object)));
    }
    play.show(5.0);
    assert_eq!(
        play.wrote(&["applied"]),
        [
            json!([5.0, "applied", "updated", "n/a", "a-1", "102", "1", 2]),
            json!([5.0, "applied", "deleted", "n/b", "b-1", "103", "", 1]),
            json!([5.0, "applied", "absent", "n/c", "c-1", "3", "", 1]),
            json!([5.0, "applied", "added", "n/c", "c-2", "104", "", 1]),
        ]
    );
    for object in ["a@105", "c#2@106"] {
        play.input(6.0, Input::Frame(&event("DELETED", object)));
    }
    play.show(7.0);
    let gone = [json!([7.0, "shown", "gone", "n/a", "a-1", "105"]), json!([7.0, "shown", "gone", "n/c", "c-2", "106"])];
    assert_eq!(play.wrote(&["shown"]), gone);
}

#[test]
fn what_the_page_said_is_written_down_with_its_time() {
    let play = Play::begin(AuditLog::parse(Some("1")));
    let (resource, scope) = play.informers.of(play.id).unwrap();
    let notice = Notice::Gap { from: 1.0, to: 4.0, reason: String::from("why") };
    let said =
        PageNotice { resource: "pods", namespace: String::from("default"), kind: NoticeKind::Watch(play.id, notice) };
    play.audit.notice(Some((&resource, scope)), &said);
    assert_eq!(
        play.wrote(&["notice"])[0].as_array().unwrap()[..5],
        [json!(4.0), json!("notice"), json!("gap"), json!(1.0), json!(4.0)]
    );
}

#[test]
fn a_full_log_counts_what_it_drops() {
    let mut play = Play::begin(AuditLog::of(Some(400)));
    play.input(1.0, Input::Start);
    for number in 0..100 {
        play.input(2.0, Input::Frame(&event("ADDED", &format!("a{number}@1"))));
    }
    let log: Value = serde_json::from_str(&play.audit.take(3.0).unwrap()).unwrap();
    let kept = log["entries"].as_array().unwrap().len() as u64;
    let all = kept + log["dropped"].as_u64().unwrap();
    // The request, two states, and the frames.
    assert!(kept >= 3 && all == 103, "{kept} of {all}");
    let after: Value = serde_json::from_str(&play.audit.take(4.0).unwrap()).unwrap();
    assert_eq!(after, json!({ "now": 4.0, "dropped": 0, "entries": [] }), "what was handed over is forgotten");
}

#[test]
fn without_the_word_nothing_is_written() {
    for parameter in [None, Some(""), Some("0"), Some("yes")] {
        let mut play = Play::begin(AuditLog::parse(parameter));
        play.input(1.0, Input::Start);
        play.input(2.0, Input::Frame(&event("ADDED", "a@1")));
        play.show(3.0);
        assert!(!play.audit.is_on() && play.audit.take(4.0).is_none(), "{parameter:?}");
    }
}
