//! Several watched kinds in one table and on one timeline: two more handlers of each informer.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::backoff::Moment;
use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::reflector::{Health, Input};
use kubechurn_model::kind_id::KindId;
use kubechurn_model::page::catalog::Catalog;
use kubechurn_model::page::definitions::Definitions;
use kubechurn_model::page::notices::{Announcer, News, Said};
use kubechurn_model::page::resync::Resyncs;
use kubechurn_model::page::route::Route;
use kubechurn_model::page::watches::{Around, Rewatched, Wanted, Watches};
use kubechurn_model::table::filter::Filter;
use kubechurn_model::table::kinds::Kind;
use kubechurn_model::table::view::Retention;

use kubechurn_talk::{bookmark, event, page};

/// The page as far as it is pure: what is watched, by whom, and in which view.
#[derive(Default)]
struct Play {
    informers: SharedInformerFactory,
    announcer: Announcer,
    watches: Watches,
    catalog: Catalog,
    definitions: Definitions,
    now: f64,
}

impl Play {
    /// Goes to a place; says how many informers ended, and whether the table is another one.
    fn go(&mut self, fragment: &str) -> (usize, bool) {
        let route = Route::parse(fragment).resolved(&self.catalog);
        let wanted = Wanted::at(&route, &self.catalog, &self.definitions);
        let mut around = Around { informers: &mut self.informers, announcer: &mut self.announcer, now: self.now };
        let Rewatched { ended, is_other } = self.watches.watch(&wanted, &mut around);
        (ended.len(), is_other)
    }

    /// Starts what is new: each lists these objects.
    fn begin(&mut self, objects: &[&str]) {
        let new: Vec<InformerId> = self.informers.start().into_iter().map(|(id, ..)| id).collect();
        for id in new {
            self.input(id, Input::Start);
            self.input(id, Input::Opened);
            for object in objects {
                self.input(id, Input::Frame(&event("ADDED", object)));
            }
            self.input(id, Input::Frame(&bookmark("100", r#"{"k8s.io/initial-events-end":"true"}"#)));
        }
        self.look();
    }

    fn id(&self, plural: &str) -> InformerId {
        let mut all = self.informers.iter();
        all.find(|(id, _)| self.informers.of(*id).is_some_and(|(resource, _)| resource.plural == plural)).unwrap().0
    }

    fn input(&mut self, id: InformerId, input: Input<'_>) {
        let (resource, _) = self.informers.of(id).unwrap();
        let informer = self.informers.get_mut(id).unwrap();
        informer.handle(input, Moment { now: self.now, random: 0.0 });
        for notice in informer.take_notices() {
            let news = News::Watch(id, notice);
            self.announcer.say(Said { resource: resource.plural, namespace: String::new(), news });
        }
    }

    fn hears(&mut self, plural: &str, word: &str, object: &str) {
        self.now += 10.0;
        self.input(self.id(plural), Input::Frame(&event(word, object)));
        self.check_sums();
    }

    #[track_caller]
    fn check_sums(&self) {
        let words = || self.watches.account(&self.informers).map(|account| account.words());
        assert!(self.watches.is_balanced(&self.informers), "{:?}", words());
    }

    /// One frame of the screen.
    fn look(&mut self) {
        for (_, informer) in self.informers.iter_mut() {
            informer.drain(usize::MAX, self.now);
        }
        self.watches.take(&mut self.informers, Retention::default(), false, self.now);
        self.check_sums();
        self.watches.hear(&mut self.announcer);
        self.watches.look(&self.informers, self.now);
    }

    /// Kind, name and state of each row, as they stand.
    fn rows(&self) -> String {
        let view = self.watches.view().unwrap();
        let rows = view.window(0, 100).into_iter().filter_map(|id| view.row(id));
        let words = rows.map(|row| format!("{}{}{:?}", row.object.key.name, row.kind.0, row.delta));
        words.collect::<Vec<_>>().join(" ")
    }

    /// Type, kind and name of each mark, as they came; of a gap or a relist its words.
    fn marks(&self) -> Vec<String> {
        let marks = self.watches.timeline().unwrap().marks();
        let words = marks.map(|mark| match mark.key {
            Some(key) => format!("{}{} {}", key.name, mark.kind.0, mark.mark_type.name()),
            None => mark.note.to_owned(),
        });
        words.collect()
    }
}

#[test]
fn two_objects_of_one_name_are_two_rows_and_two_lanes() {
    let mut play = Play::default();
    play.go("#/deployments,services");
    play.begin(&["web@1"]);
    assert_eq!(play.rows(), "web0Replaced web1Replaced");
    play.hears("services", "MODIFIED", "web@101");
    play.hears("deployments", "DELETED", "web@102");
    play.hears("services", "ADDED", "api@103");
    play.look();
    assert_eq!(play.rows(), "api1Added web0Deleted web1Updated");
    assert_eq!(play.marks()[2..], ["web1 Updated", "web0 Deleted", "api1 Added"]);
    let view = play.watches.view().unwrap();
    let key = view.row(view.window(1, 1)[0]).unwrap().object.key.clone();
    assert_eq!((view.counts(), view.find(KindId(0), &key), view.find(KindId(1), &key).is_some()), ((2, 2), None, true));
    assert_eq!(view.find(KindId(1), &ObjectKey::new("none", "web")), None);
    // What a kind's own handle tells stays its own.
    let own = |at: usize| play.watches[at].timeline().marks().filter(|mark| mark.key.is_some()).count();
    assert_eq!((own(0), own(1), play.watches.items(&play.informers)), (2, 3, 2));
    let filter = Filter::over("KIND:service", view.schema()).unwrap();
    play.watches.view_mut().unwrap().filter_by(filter);
    assert_eq!(play.rows(), "api1Added web1Updated");
}

/// In the order of their time, not of their kinds, however many are delivered at once.
#[test]
fn marks_of_all_kinds_keep_their_order_and_their_times() {
    let mut play = Play::default();
    play.go("#/pods,jobs");
    play.begin(&[]);
    for (plural, word, object) in [
        ("jobs", "ADDED", "j@101"),
        ("pods", "ADDED", "p@102"),
        ("jobs", "MODIFIED", "j@103"),
        ("pods", "DELETED", "p@104"),
    ] {
        play.hears(plural, word, object);
    }
    play.look();
    assert_eq!(play.marks(), ["j1 Added", "p0 Added", "j1 Updated", "p0 Deleted"]);
    let times: Vec<f64> = play.watches.timeline().unwrap().marks().map(|mark| mark.at).collect();
    assert_eq!(times, [10.0, 20.0, 30.0, 40.0]);
}

/// A resync of one kind is a mark of that kind, among those of the others; and it is there still where they are parted
/// and joined anew.
#[test]
fn a_resync_is_of_one_kind_and_of_its_lanes_alone() {
    let mut play = Play::default();
    play.go("#/deployments,services");
    play.begin(&["web@1"]);
    let resyncs = Resyncs::new(None, Some("2"));
    let changed = play.watches.resync(&mut play.informers, &resyncs, play.now);
    assert_eq!(changed.len(), 6, "two timelines and the counters of each kind");
    play.now = 2_000.0;
    play.hears("deployments", "MODIFIED", "web@101");
    play.input(play.id("services"), Input::Timer);
    play.look();
    let note = "resync: 1 object told again";
    let resync = |play: &Play| {
        let marks = play.watches.timeline().unwrap().marks();
        marks.filter_map(|mark| mark.resync.map(|resync| (resync.kind.0, resync.note()))).collect::<Vec<_>>()
    };
    assert_eq!(resync(&play), [(1, note.to_owned())]);
    let key = ObjectKey::new("default", "web");
    let key =
        play.watches.view().and_then(|view| view.row(view.window(0, 1)[0])).map_or(key, |row| row.object.key.clone());
    let told = |play: &Play, kind| play.watches.timeline().unwrap().resyncs_since_change(KindId(kind), &key);
    assert_eq!((told(&play, 0), told(&play, 1)), (None, Some((1, 2_010.0))));
    play.go("#/services");
    assert_eq!((resync(&play), told(&play, 0)), (vec![(0, note.to_owned())], Some((1, 2_010.0))));
    play.go("#/configmaps,services");
    play.look();
    assert_eq!((resync(&play), told(&play, 1)), (vec![(1, note.to_owned())], Some((1, 2_010.0))));
}

#[test]
fn a_kind_comes_into_the_table_and_goes_and_its_past_stays() {
    let mut play = Play::default();
    assert_eq!(play.go("#/pods"), (0, false));
    play.begin(&["a@1"]);
    play.hears("pods", "MODIFIED", "a@101");
    // It has arrived, and no one has taken it yet.
    assert_eq!(play.go("#/pods,jobs"), (0, true));
    play.begin(&["b@2"]);
    assert_eq!((play.rows().as_str(), play.watches.members().len()), ("a0Updated b1Replaced", 2));
    assert_eq!(play.marks(), ["a0 Replaced", "a0 Updated", "b1 Replaced"]);
    let timeline = play.watches.timeline().unwrap().marks().map(|mark| mark.resource_version.to_owned());
    assert_eq!(timeline.collect::<Vec<_>>(), ["1", "101", "2"]);
    assert!(play.watches.members().iter().all(|member| member.view().is_empty()), "rows are kept once");
    // Something else that is pinned, or the same place again, makes no other table.
    assert_eq!(play.go("#/pods,jobs?pin=nodes"), (0, false));
    play.begin(&["n@3"]);
    assert_eq!((play.rows().as_str(), play.watches.len()), ("a0Updated b1Replaced", 3));
    assert_eq!(play.watches[2].view().counts(), (1, 1));
    // The other order is another table of the same watches.
    assert_eq!(play.go("#/jobs,pods"), (1, true));
    play.look();
    assert_eq!(play.rows(), "a1Replaced b0Replaced");
    // Alone again, at once, and nothing else is watched.
    assert_eq!(play.go("#/pods"), (1, true));
    play.look();
    assert_eq!((play.rows().as_str(), play.informers.len()), ("a0Replaced", 1));
    assert_eq!(play.marks(), ["a0 Replaced", "a0 Updated"]);
    assert_eq!(play.go("#/nodes"), (1, false));
    assert_eq!(play.go("#/nodes,pods,jobs?ns=shop"), (0, true));
    assert_eq!(play.informers.len(), 3);
    assert_eq!(play.go("#/nodes,pods"), (2, true), "another namespace is another watch");
}

#[test]
fn what_befalls_one_kind_is_said_of_it_and_the_others_go_on() {
    let mut play = Play::default();
    play.go("#/pods,jobs");
    let jobs = play.informers.start().into_iter().find(|(_, resource, _)| resource.plural == "jobs").unwrap().0;
    let pods = play.id("pods");
    for input in [Input::Start, Input::Opened, Input::Frame(&event("ADDED", "a@1"))] {
        play.input(pods, input);
    }
    play.input(pods, Input::Frame(&bookmark("100", r#"{"k8s.io/initial-events-end":"true"}"#)));
    play.input(jobs, Input::Start);
    assert_eq!(play.watches.health(&play.informers, play.now), Some(Health::Connecting));
    play.input(jobs, Input::Failed(Failure::from_response(403, None, "jobs are not for you")));
    play.hears("pods", "ADDED", "b@101");
    play.look();
    assert_eq!(play.watches.health(&play.informers, play.now), Some(Health::Forbidden));
    let complaints = play.watches.members().iter().map(|member| member.complaint(&play.informers));
    let complaints: Vec<bool> = complaints.map(|complaint| complaint.is_some()).collect();
    assert_eq!((complaints, play.rows().as_str()), (vec![false, true], "a0Replaced b0Added"));

    play.input(pods, Input::Frame(r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}"#));
    let deadline = play.informers.get(pods).unwrap().reflector().deadline().unwrap();
    play.now = deadline;
    play.input(pods, Input::Timer);
    play.input(pods, Input::Closed(1006));
    play.input(pods, Input::Failed(Failure::from_response(422, None, "")));
    play.input(pods, Input::Page(&page("200 a@150")));
    play.look();
    let notes: Vec<String> = play.marks().into_iter().filter(|mark| mark.contains(": ")).collect();
    assert!(notes.iter().any(|note| note.starts_with("Pods: ")), "{notes:?}");
    assert!(notes.iter().all(|note| !note.starts_with("Jobs: relist")), "{notes:?}");
}

/// Who was lost and is refused since is not known either; who was never seen has no part in it.
#[test]
fn the_gap_of_several_lasts_until_all_that_were_lost_are_live() {
    const LISTED: &str = r#"{"k8s.io/initial-events-end":"true"}"#;
    let mut play = Play::default();
    play.go("#/pods,jobs,nodes");
    for (id, resource, _) in play.informers.start() {
        play.input(id, Input::Start);
        match resource.plural {
            "nodes" => play.input(id, Input::Failed(Failure::from_response(403, None, "nodes are not for you"))),
            _ => {
                play.input(id, Input::Opened);
                play.input(id, Input::Frame(&bookmark("100", LISTED)));
            }
        }
    }
    let (pods, jobs) = (play.id("pods"), play.id("jobs"));
    let is_open = |play: &mut Play| {
        play.now += 10.0;
        play.look();
        play.watches.timeline().unwrap().has_open_gap()
    };
    assert!(!is_open(&mut play));
    let retry = |play: &mut Play, id: InformerId| {
        play.now = play.informers.get(id).unwrap().reflector().deadline().unwrap().max(play.now);
        play.input(id, Input::Timer);
    };
    for id in [pods, jobs] {
        play.input(id, Input::Frame(r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}"#));
    }
    assert!(is_open(&mut play));
    retry(&mut play, pods);
    for _ in 0..2 {
        // Neither the stream nor the list.
        play.input(pods, Input::Failed(Failure::from_response(403, None, "no longer")));
    }
    retry(&mut play, jobs);
    play.input(jobs, Input::Opened);
    play.input(jobs, Input::Frame(&bookmark("200", LISTED)));
    let healths: Vec<Health> =
        play.watches.members().iter().map(|member| member.health(&play.informers, play.now)).collect();
    assert_eq!(healths, [Health::Forbidden, Health::Live, Health::Forbidden]);
    assert!(is_open(&mut play), "the Pods are not known");
    retry(&mut play, pods);
    play.input(pods, Input::Opened);
    play.input(pods, Input::Frame(&bookmark("200", LISTED)));
    let healths: Vec<Health> =
        play.watches.members().iter().map(|member| member.health(&play.informers, play.now)).collect();
    assert_eq!(healths, [Health::Live, Health::Live, Health::Forbidden]);
    assert!(!is_open(&mut play), "nodes were never known");
}

/// Nothing of what the old columns showed is left, though the kind is part of a table of several.
#[test]
fn a_kind_of_other_columns_is_watched_anew() {
    let mut play = Play::default();
    play.go("#/pods,jobs");
    play.begin(&["a@1"]);
    let pods = play.id("pods");
    let old = play.catalog.find("pods").unwrap();
    play.catalog.replace(Box::leak(Box::new(Kind { columns: &[], ..*old })));
    assert_eq!(play.go("#/pods,jobs"), (1, true), "the Pods' informer ends, and so does the table");
    assert!(play.informers.get(pods).is_none());
    play.begin(&[]);
    assert_eq!((play.rows().as_str(), play.informers.len()), ("a1Replaced", 2));
}
