//! One kind or several in one table and on one timeline, and what happens to rows and marks when kinds join or leave.

use std::collections::BTreeMap;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::status::Failure;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::{Health, Input};
use kubechurn_columns::kinds::Kind;
use kubechurn_model::kind_id::KindId;
use kubechurn_model::table::filter::Filter;
use kubechurn_model::timeline::mark::MarkType;
use kubechurn_model::watches::notices::{NoticeKind, PageNotice};
use kubechurn_model::watches::resync::Resyncs;
use proptest::prelude::*;

use kubechurn_client::testing::{bookmark, event, page};

use crate::play::{LISTED, Play};

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
    assert_eq!(play.drawn()[2..], ["web1 Updated", "web0 Deleted", "api1 Added"]);
    let view = play.watches.view().unwrap();
    let key = view.row(view.window(1, 1)[0]).unwrap().object.key.clone();
    assert_eq!((view.counts(), view.find(KindId(0), &key), view.find(KindId(1), &key).is_some()), ((2, 2), None, true));
    assert_eq!(view.find(KindId(1), &ObjectKey::new("none", "web")), None);
    // Each kind has its own marks.
    assert_eq!((play.marks(0).len(), play.marks(1).len(), play.watches.items(&play.informers)), (2, 3, 2));
    let filter = Filter::over("KIND:service", view.schema()).unwrap();
    play.watches.view_mut().unwrap().filter_by(filter);
    assert_eq!(play.rows(), "api1Added web1Updated");
}

/// Marks are drawn in the order of their times, not of their kinds, however many are delivered at once.
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
    assert_eq!(play.drawn(), ["j1 Added", "p0 Added", "j1 Updated", "p0 Deleted"]);
    let times = |at: usize| play.watches[at].marks().iter().map(|mark| mark.at).collect::<Vec<_>>();
    assert_eq!((times(0), times(1)), (vec![20.0, 40.0], vec![10.0, 30.0]));
}

/// A resync of one kind makes a mark of that kind among the marks of the others. The mark is still there when the kinds
/// are shown apart and together again.
#[test]
fn a_resync_is_of_one_kind_and_of_its_lanes_alone() {
    let mut play = Play::default();
    play.go("#/deployments,services");
    play.begin(&["web@1"]);
    let resyncs = Resyncs::new(None, Some("2"));
    let changed = play.watches.resync(&mut play.informers, &resyncs, play.now);
    assert_eq!(changed.len(), 4, "the marks and the counters of each kind");
    play.now = 2_000.0;
    play.hears("deployments", "MODIFIED", "web@101");
    play.input(play.id("services"), Input::Timer);
    play.look();
    let note = "resync: 1 object replayed";
    let resync = |play: &Play| {
        let kinds = play.watches.members().iter().enumerate();
        let marks = kinds.flat_map(|(kind, member)| member.marks().iter().map(move |mark| (kind, mark)));
        marks.filter_map(|(kind, mark)| Some((kind, mark.resync?.note()))).collect::<Vec<_>>()
    };
    assert_eq!(resync(&play), [(1, note.to_owned())]);
    let key = ObjectKey::new("default", "web");
    let key =
        play.watches.view().and_then(|view| view.row(view.window(0, 1)[0])).map_or(key, |row| row.object.key.clone());
    let resyncs = |play: &Play, kind| play.watches.timeline().unwrap().resyncs_since_change(KindId(kind), &key);
    assert_eq!((resyncs(&play, 0), resyncs(&play, 1)), (None, Some((1, 2_010.0))));
    play.go("#/services");
    assert_eq!((resync(&play), resyncs(&play, 0)), (vec![(0, note.to_owned())], Some((1, 2_010.0))));
    play.go("#/configmaps,services");
    play.look();
    assert_eq!((resync(&play), resyncs(&play, 1)), (vec![(1, note.to_owned())], Some((1, 2_010.0))));
}

#[test]
fn a_kind_comes_into_the_table_and_goes_and_its_past_stays() {
    let mut play = Play::default();
    assert_eq!(play.go("#/pods"), (0, true));
    play.begin(&["a@1"]);
    play.hears("pods", "MODIFIED", "a@101");
    // The update has arrived, and no handler has taken it yet.
    assert_eq!(play.go("#/pods,jobs"), (0, true));
    play.begin(&["b@2"]);
    assert_eq!((play.rows().as_str(), play.watches.members().len()), ("a0Updated b1Replaced", 2));
    assert_eq!(play.drawn(), ["a0 Replaced", "a0 Updated", "b1 Replaced"]);
    let versions = |at: usize| {
        let marks = play.watches[at].marks().iter();
        marks.map(|mark| mark.resource_version.as_str().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((versions(0), versions(1)), (vec!["1".to_owned(), "101".to_owned()], vec!["2".to_owned()]));
    // Another pinned kind, or the same place again, makes no other table.
    assert_eq!(play.go("#/pods,jobs?pin=nodes"), (0, false));
    play.begin(&["n@3"]);
    assert_eq!((play.rows().as_str(), play.watches.len()), ("a0Updated b1Replaced", 3));
    assert_eq!(play.watches.others_mut().map(|table| table.counts()).collect::<Vec<_>>(), [(1, 1)]);
    // Another order of the kinds is another table of the same watches.
    assert_eq!(play.go("#/jobs,pods"), (1, true));
    play.look();
    assert_eq!(play.rows(), "a1Updated b0Replaced");
    // When the kind is alone again, its rows are there at once, and nothing else is watched.
    assert_eq!(play.go("#/pods"), (1, true));
    play.look();
    assert_eq!((play.rows().as_str(), play.informers.len()), ("a0Updated", 1));
    assert_eq!(play.drawn(), ["a0 Replaced", "a0 Updated"]);
    assert_eq!(play.go("#/nodes"), (1, true));
    assert_eq!(play.go("#/nodes,pods,jobs?ns=shop"), (0, true));
    assert_eq!(play.informers.len(), 3);
    assert_eq!(play.go("#/nodes,pods"), (2, true), "another namespace is another watch");
}

/// A table whose kind was pinned is still the same table when the kind comes back into view.
#[test]
fn a_pinned_kind_keeps_its_table() {
    let mut play = Play::default();
    play.go("#/pods?pin=pods");
    play.begin(&["a@1"]);
    play.hears("pods", "MODIFIED", "a@101");
    play.look();
    assert_eq!(play.go("#/nodes?pin=pods"), (0, true));
    play.begin(&[]);
    play.hears("pods", "ADDED", "b@102");
    assert_eq!(play.go("#/pods?pin=pods"), (1, true));
    // A new table would have begun with the objects in the store, and every row would count as listed.
    play.look();
    assert_eq!(play.rows(), "a0Updated b0Added");
    assert_eq!(play.go("#/pods"), (0, false));
}

/// A limit that was set when memory ran short holds for kinds that come into view later, too.
#[test]
fn marks_of_kinds_that_come_later_keep_to_the_limit() {
    const LIMIT: usize = 3_000;
    let mut play = Play::default();
    play.go("#/pods");
    play.begin(&["a@1"]);
    play.watches.limit_timelines(LIMIT);
    play.go("#/pods,jobs");
    play.begin(&["b@2"]);
    for version in 101..301 {
        play.hears("pods", "MODIFIED", &format!("a@{version}"));
        play.hears("jobs", "MODIFIED", &format!("b@{version}"));
    }
    play.look();
    let evicted =
        |play: &Play| play.watches.members().iter().map(|one| one.marks().evicted().total()).collect::<Vec<_>>();
    assert!(evicted(&play).iter().all(|evicted| *evicted > 100), "{:?}", evicted(&play));
    let before = play.watches.timeline_bytes();
    play.go("#/jobs,pods");
    play.look();
    assert!(play.watches.timeline_bytes() <= before, "another view takes no marks");
    let account = play.watches.account(&play.informers).unwrap();
    let (_, marks) = account.timeline;
    assert_eq!((marks.made, marks.held + marks.dropped), (402, 402));
    let drawn = play.drawn();
    for (at, title) in [(0, "Jobs"), (1, "Pods")] {
        let (begin, end) =
            (format!("{title}: nothing is kept before "), format!(", {} older marks dropped", evicted(&play)[at]));
        assert!(drawn.iter().any(|words| words.starts_with(&begin) && words.ends_with(&end)), "{drawn:?}");
    }
}

/// A gap of the whole page is among the marks of every kind, and is drawn only once.
#[test]
fn what_befalls_the_page_is_one_gap() {
    let mut play = Play::default();
    play.go("#/pods,jobs,nodes");
    play.begin(&[]);
    play.now = 5_000.0;
    let overload = NoticeKind::Overload { from: 2_000.0, to: 3_000.0, most: 9 };
    play.announcer.publish(PageNotice { resource: "", namespace: String::new(), kind: overload });
    play.watches.receive_notices(&mut play.announcer);
    play.hears("pods", "ADDED", "a@101");
    play.look();
    assert!((0..3).all(|at| play.marks(at).iter().any(|mark| mark.starts_with("overload"))));
    let scene = play.scene(0.0, 6_000.0);
    let gaps: Vec<(f64, f64, &str)> = scene.gaps.iter().map(|gap| (gap.from, gap.to, &*gap.note)).collect();
    assert_eq!(gaps, [(2_000.0, 3_000.0, "overload: the table was behind")]);
    assert_eq!((scene.counts.of(MarkType::Gap), scene.counts.of(MarkType::Added)), (1, 1));
    assert_eq!(scene.columns.iter().map(|column| column.counts.of(MarkType::Gap)).sum::<u64>(), 0);
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
    play.input(pods, Input::Frame(&bookmark("100", LISTED)));
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
    let notes: Vec<String> = play.drawn().into_iter().filter(|mark| mark.contains(": ")).collect();
    assert!(notes.iter().any(|note| note.starts_with("Pods: ")), "{notes:?}");
    assert!(notes.iter().all(|note| !note.starts_with("Jobs: relist")), "{notes:?}");
}

/// The gap lasts while a kind that was lost is refused. A kind that was never live has no part in the gap.
#[test]
fn the_gap_of_several_lasts_until_all_that_were_lost_are_live() {
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
        play.watches.members().iter().any(|member| member.marks().has_open_gap())
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
    let scene = play.scene(0.0, play.now + 1.0);
    let gaps: Vec<&str> = scene.gaps.iter().map(|gap| &*gap.note).collect();
    assert_eq!(gaps, ["no connection: Pods and Jobs"], "one gap for all who are lost");
    retry(&mut play, pods);
    for _ in 0..2 {
        // Neither the stream nor the list is allowed.
        play.input(
            pods,
            Input::Failed(Failure::from_response(403, None, r#"{"kind":"Status","message":"no longer"}"#)),
        );
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
    let scene = play.scene(0.0, play.now + 1.0);
    let gaps: Vec<&str> = scene.gaps.iter().map(|gap| &*gap.note).collect();
    let lost = r#"{"kind":"Status","code":410,"reason":"Expired"}"#;
    assert_eq!(gaps, [format!("Jobs: {lost}"), "Pods: no longer".into()], "what each watch said of it");
}

/// Nothing that the old columns showed is left, even if the kind is one of several in a table.
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

/// What the page received, to compare a view with: for each kind the live objects and the marks.
#[derive(Default)]
struct Expected {
    live: BTreeMap<&'static str, BTreeMap<usize, u64>>,
    marks: BTreeMap<&'static str, Vec<String>>,
    version: u64,
}

const KINDS: [&str; 3] = ["pods", "jobs", "services"];
const PLACES: [&str; 8] = [
    "#/pods",
    "#/jobs",
    "#/pods,jobs",
    "#/jobs,pods",
    "#/services,pods,jobs",
    "#/services?pin=jobs",
    "#/pods?pin=services,jobs",
    "#/jobs,services?pin=pods",
];

#[derive(Clone, Copy, Debug)]
enum Step {
    Go(usize),
    /// An object of a kind appears, changes or disappears.
    Change(usize, usize, bool),
    Look,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        2 => (0..PLACES.len()).prop_map(Step::Go),
        6 => (0..KINDS.len(), 0..4_usize, any::<bool>()).prop_map(|(kind, name, goes)| Step::Change(kind, name, goes)),
        1 => Just(Step::Look),
    ];
    proptest::collection::vec(step, 0..80)
}

impl Expected {
    fn begin(&mut self, play: &mut Play) {
        let new: Vec<&'static str> = play
            .begin_with(|plural| {
                let live = self.live.get(plural).into_iter().flatten();
                live.map(|(name, version)| format!("n{name}@{version}")).collect()
            })
            .into_iter()
            .filter_map(|id| Some(play.informers.of(id)?.0.plural))
            .collect();
        for plural in new {
            for name in self.live.entry(plural).or_default().keys() {
                self.marks.entry(plural).or_default().push(format!("n{name} Replaced"));
            }
        }
    }

    fn change(&mut self, play: &mut Play, (kind, name, goes): (usize, usize, bool)) {
        let plural = KINDS[kind];
        if !play.watches.iter().any(|watched| watched.kind().name == plural) {
            return;
        }
        self.version += 1;
        let version = 100 + self.version;
        let live = self.live.entry(plural).or_default();
        let (word, mark) = match (live.contains_key(&name), goes) {
            (true, true) => ("DELETED", "Deleted"),
            (true, false) => ("MODIFIED", "Updated"),
            (false, _) => ("ADDED", "Added"),
        };
        if word == "DELETED" {
            live.remove(&name);
        } else {
            live.insert(name, version);
        }
        self.marks.entry(plural).or_default().push(format!("n{name} {mark}"));
        play.hears(plural, word, &format!("n{name}@{version}"));
    }

    /// Each mark is there once and in its order, each row is there, and everything is drawn.
    fn check(&self, play: &mut Play) {
        play.look();
        let mut expected_rows = Vec::new();
        let (mut of_objects, mut alone) = (0, 0);
        for (at, watched) in play.watches.iter().enumerate() {
            let plural = watched.kind().name;
            let own: Vec<String> =
                play.marks(at).into_iter().filter(|mark| mark.starts_with('n') && mark != "not watched").collect();
            let marks = self.marks.get(plural).cloned().unwrap_or_default();
            assert_eq!(own, marks, "{plural}");
            alone += watched.marks().bytes();
            if at < play.watches.members().len() {
                of_objects += own.len() as u64;
                let live = self.live.get(plural).into_iter().flatten();
                expected_rows.extend(live.map(|(name, version)| (at as u8, format!("n{name}"), version.to_string())));
            }
        }
        let view = play.watches.view().unwrap();
        let rows =
            view.window(0, 100).into_iter().filter_map(|id| view.row(id)).filter(|row| row.deleted_at().is_none());
        let mut rows: Vec<_> = rows
            .map(|row| {
                let object = &row.object;
                (row.kind.0, object.key.name.to_string(), object.resource_version.as_str().to_owned())
            })
            .collect();
        rows.sort();
        expected_rows.sort();
        assert_eq!(rows, expected_rows);
        // A chart keeps little, and no copies of marks.
        assert!(play.watches.timeline_bytes() < alone + 4_000, "{} {alone}", play.watches.timeline_bytes());
        let scene = play.scene(-1_000.0, play.now + 1_000.0);
        let pills: u64 = scene.pills.iter().map(|pill| pill.counts.total()).sum();
        let is_single = |glyph: &&kubechurn_model::timeline::scene::Glyph| {
            !scene.pills.iter().any(|pill| pill.y == glyph.y && (pill.first..=pill.last).contains(&glyph.seq))
        };
        assert_eq!(pills + scene.glyphs.iter().filter(is_single).count() as u64, of_objects);
        let counted = [MarkType::Added, MarkType::Updated, MarkType::Deleted, MarkType::Replaced];
        assert_eq!(counted.map(|mark_type| scene.counts.of(mark_type)).iter().sum::<u64>(), of_objects);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// In whatever order kinds join a view and leave it, no mark and no row is lost, doubled or out of order.
    #[test]
    fn every_mark_and_row_is_there_once_however_kinds_come_and_go(steps in steps()) {
        let (mut play, mut expected) = (Play::default(), Expected::default());
        play.go(PLACES[0]);
        expected.begin(&mut play);
        for step in steps {
            match step {
                Step::Go(place) => {
                    play.now += 5.0;
                    play.go(PLACES[place]);
                    play.check_sums();
                    expected.begin(&mut play);
                }
                Step::Change(kind, name, goes) => expected.change(&mut play, (kind, name, goes)),
                Step::Look => expected.check(&mut play),
            }
        }
        expected.check(&mut play);
    }
}
