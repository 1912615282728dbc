//! Marks and owners in, rows out.

mod clusters;
mod counts;
mod managers;
mod text;
mod worst;

use std::sync::Arc;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::api::owner::{Owner, Owners, share};
use kubechurn_client::api::uid::Uid;
use kubechurn_columns::kinds::kind;

use crate::kind_id::KindId;
use crate::timeline::lanes::{GroupRow, LaneChoice, LaneOrder, LanesBy, OpenGroups};
use crate::timeline::scale::Window;
use crate::timeline::scene::contents::{LaneRow, Scene};
use crate::timeline::scene::hit::{Hit, LanePart};
use crate::timeline::scene::layout::TimelineView;
use crate::timeline::scene::summary::summary;
use crate::timeline::store::mark::MarkType;
use crate::timeline::store::marks::{Marks, NewMark};
use crate::timeline::tests::groups::text::text;
use crate::timeline::{Chart, KindName, Timeline, TimelineMut};

const KINDS: [&str; 5] = ["deployments", "replicasets", "pods", "nodes", "events"];
const NAMES: [KindName; 5] = [
    KindName { short: "deploy", long: "Deployment", title: "Deployments" },
    KindName { short: "rs", long: "ReplicaSet", title: "ReplicaSets" },
    KindName { short: "po", long: "Pod", title: "Pods" },
    KindName { short: "no", long: "Node", title: "Nodes" },
    KindName { short: "ev", long: "Event", title: "Events" },
];
const DEPLOYMENT: usize = 0;
const REPLICA_SET: usize = 1;
const POD: usize = 2;
const NODE: usize = 3;
const EVENT: usize = 4;

/// A kind and a name in the namespace `shop`; nodes are in none.
type Object<'a> = (usize, &'a str);

fn key((kind, name): Object<'_>) -> ObjectKey {
    ObjectKey::new(if kind == NODE { "" } else { "shop" }, name)
}

fn uid((kind, name): Object<'_>) -> String {
    format!("{kind}-{name}")
}

/// The reference to a controller.
fn owned_by(kind: &str, api_version: &str, name: &str, uid: &str) -> Option<Arc<Owners>> {
    let text =
        serde_json::json!([{ "kind": kind, "apiVersion": api_version, "name": name, "uid": uid, "controller": true }]);
    let text = text.to_string();
    share(&serde_json::from_str::<Vec<Owner<'_>>>(&text).unwrap())
}

struct Fixture {
    marks: [Marks; 5],
    chart: Chart,
    view: TimelineView,
    choice: LaneChoice,
    now: f64,
}

impl Fixture {
    fn new(by: LanesBy) -> Fixture {
        let view = TimelineView { width: 1_000.0, height: 600.0, ..TimelineView::default() };
        let kinds = KINDS.map(|name| kind(name).unwrap());
        let chart = Chart::of(NAMES.to_vec()).with_groups(&kinds);
        Fixture { marks: Default::default(), chart, view, choice: LaneChoice { by, ..LaneChoice::default() }, now: 0.0 }
    }

    fn push(&mut self, mark_type: MarkType, object: Object<'_>, owner: Option<Object<'_>>, node: &str) {
        let owners = owner.and_then(|owner| {
            let of = kind(KINDS[owner.0]).unwrap();
            owned_by(of.resource.kind, &of.resource.api_version(), owner.1, &uid(owner))
        });
        self.push_with(mark_type, object, owners, node);
    }

    fn push_with(&mut self, mark_type: MarkType, object: Object<'_>, owners: Option<Arc<Owners>>, node: &str) {
        let version = ResourceVersion::new("7");
        let (key, uid) = (&key(object), &Uid::new(&uid(object)));
        let mark = NewMark { key, uid, mark_type, resource_version: &version, folded: 1, tone: Tone::Good };
        let lane = self.marks[object.0].push(self.now, mark);
        self.marks[object.0].put(lane, owners.as_ref(), node);
    }

    /// The scene of the last minute; as many scenes as it takes until nothing is left to find or to count.
    fn scene(&mut self) -> &Scene {
        self.view.window = Window { from: self.now - 60_000.0, to: self.now };
        self.past_scene()
    }

    fn past_scene(&mut self) -> &Scene {
        let (view, choice, now) = (self.view.clone(), self.choice.clone(), self.now);
        for scenes in 0.. {
            let mut timeline = self.timeline();
            timeline.choose_lanes(&choice);
            timeline.scene(&view, now);
            if !self.chart.groups.is_behind {
                break;
            }
            assert!(scenes < 100, "a scene is never through");
        }
        &self.chart.scene
    }

    fn timeline(&mut self) -> TimelineMut<'_> {
        TimelineMut::new(self.marks.iter().collect(), &mut self.chart)
    }

    /// The rows as text: depth, triangle, name, and of a closed group its counts.
    fn rows(&mut self) -> Vec<String> {
        self.scene();
        self.shown()
    }

    fn shown(&self) -> Vec<String> {
        self.chart.scene.lanes.iter().flatten().map(text).collect()
    }

    fn row(&self, name: &str) -> &LaneRow {
        let mut rows = self.chart.scene.lanes.iter().flatten();
        rows.find(|row| &*row.key.name == name).unwrap_or_else(|| panic!("{name} has no row: {:?}", self.shown()))
    }

    fn turn(&mut self, name: &str) {
        let id = self.row(name).group.as_ref().unwrap().id;
        let words = Timeline::new(self.marks.iter().collect(), &self.chart).group_words(id).unwrap();
        self.choice.open.turn(&words);
    }

    fn hit(&self, x: f64, y: f64) -> Option<Hit> {
        Timeline::new(self.marks.iter().collect(), &self.chart).hit(x, y)
    }

    /// A Deployment with a ReplicaSet of two Pods, and another Pod.
    fn rollout(by: LanesBy) -> Fixture {
        let mut fixture = Fixture::new(by);
        fixture.now = 50_000.0;
        // Pods come first, so that their owners are not known yet.
        for (pod, node) in [("web-7c9d-x2x7p", "n-1"), ("web-7c9d-b81kq", "n-2")] {
            fixture.push(MarkType::Added, (POD, pod), Some((REPLICA_SET, "web-7c9d")), node);
            fixture.now += 1_000.0;
        }
        fixture.push(MarkType::Added, (REPLICA_SET, "web-7c9d"), Some((DEPLOYMENT, "web")), "");
        fixture.now += 1_000.0;
        fixture.push(MarkType::Updated, (DEPLOYMENT, "web"), None, "");
        fixture.now += 1_000.0;
        fixture.push(MarkType::Updated, (POD, "single"), None, "n-1");
        fixture.now += 1_000.0;
        fixture
    }
}

#[test]
fn pods_stand_below_their_replica_set_and_that_below_its_deployment() {
    let mut fixture = Fixture::rollout(LanesBy::Owner);
    assert_eq!(fixture.rows(), ["po shop/single", "▸ deploy shop/web 3 added, 1 updated"]);
    fixture.turn("web");
    assert_eq!(fixture.rows(), ["po shop/single", "▾ deploy shop/web", "  ▸ rs …-7c9d 3 added"]);
    fixture.turn("web-7c9d");
    let open = ["po shop/single", "▾ deploy shop/web", "  ▾ rs …-7c9d", "    po …-b81kq", "    po …-x2x7p"];
    assert_eq!(fixture.rows(), open);
    let text = summary(fixture.scene());
    assert!(
        text.contains("lanes by owner: Pod shop/single; Deployment shop/web, open, 3 objects; level 2 ReplicaSet"),
        "{text}"
    );
    fixture.turn("web");
    assert_eq!(fixture.rows().len(), 2);
}

#[test]
fn events_stand_together_and_do_not_hide_who_owns_whom() {
    let mut fixture = Fixture::rollout(LanesBy::Owner);
    for at in 0..200 {
        fixture.push(MarkType::Added, (EVENT, &format!("web.{at}")), None, "");
    }
    fixture.now += 1_000.0;
    let expected = ["▸ Events 200 added", "po shop/single", "▸ deploy shop/web 3 added, 1 updated"];
    assert_eq!(fixture.rows(), expected);
}

#[test]
fn what_is_deleted_keeps_its_place_and_a_delete_is_on_top() {
    let mut fixture = Fixture::rollout(LanesBy::Owner);
    fixture.rows();
    // The last word on an object may lack its owners.
    fixture.push_with(MarkType::Deleted, (POD, "web-7c9d-x2x7p"), None, "");
    fixture.now += 1_000.0;
    fixture.push(MarkType::Deleted, (REPLICA_SET, "web-7c9d"), Some((DEPLOYMENT, "web")), "");
    for _ in 0..20 {
        fixture.now += 1.0;
        fixture.push(MarkType::Updated, (POD, "web-7c9d-b81kq"), Some((REPLICA_SET, "web-7c9d")), "n-2");
    }
    fixture.now += 1_000.0;
    assert_eq!(fixture.rows()[1], "▸ deploy shop/web 3 added, 21 updated, 2 deleted");
    let scene = fixture.scene();
    let y = scene.lanes[1].as_ref().unwrap().y;
    let crosses = scene.glyphs.iter().filter(|glyph| glyph.y == y && glyph.mark_type == MarkType::Deleted);
    assert!(crosses.count() >= 1, "a delete is covered");
    let pills: u64 = scene.pills.iter().filter(|pill| pill.y == y).map(|pill| pill.counts.total()).sum();
    let single = scene.glyphs.iter().filter(|glyph| glyph.y == y && glyph.mark_type != MarkType::Deleted).count();
    assert_eq!(pills + single as u64, 25, "every mark but one delete is counted once");
    fixture.choice.open = OpenGroups::all(true);
    let rows = fixture.rows();
    assert_eq!(rows[2..5], ["  ▾ rs …-7c9d deleted", "    po …-b81kq", "    po …-x2x7p deleted"]);
}

#[test]
fn an_owner_that_is_not_known_is_a_name() {
    let mut fixture = Fixture::new(LanesBy::Owner);
    fixture.now = 10_000.0;
    fixture.push_with(MarkType::Added, (POD, "job-1"), owned_by("Job", "batch/v1", "nightly", "j"), "");
    fixture.push(MarkType::Added, (POD, "old-1"), Some((REPLICA_SET, "old")), "");
    // Another object has the owner's name, and is not the owner.
    fixture.push_with(MarkType::Added, (POD, "new-1"), owned_by("ReplicaSet", "apps/v1", "new", "another"), "");
    fixture.push(MarkType::Added, (REPLICA_SET, "new"), None, "");
    // And another kind has the kind's name.
    let other = owned_by("Deployment", "example.org/v1", "web", &uid((DEPLOYMENT, "web")));
    fixture.push_with(MarkType::Added, (POD, "web-1"), other, "");
    fixture.push(MarkType::Added, (DEPLOYMENT, "web"), None, "");
    fixture.choice.order = LaneOrder::Name;
    let rows = fixture.rows();
    let groups = ["▸ Job shop/nightly 1 added", "▸ ReplicaSet shop/old 1 added", "▸ ReplicaSet shop/new 1 added"];
    for group in groups.into_iter().chain(["rs shop/new", "▸ Deployment shop/web 1 added", "deploy shop/web"]) {
        assert!(rows.iter().any(|row| row == group), "{group} is not in {rows:?}");
    }
    let y = fixture.row("nightly").y;
    let hit = fixture.hit(60.0, y).unwrap();
    assert_eq!(hit.to_string(), "Job shop/nightly, 1 object: 1 added within 60 s");
    assert_eq!(hit.owner(), None);
}

#[test]
fn owners_that_own_each_other_stay_in_sight() {
    let mut fixture = Fixture::new(LanesBy::Owner);
    fixture.now = 10_000.0;
    fixture.push(MarkType::Added, (POD, "itself"), Some((POD, "itself")), "");
    for (one, other) in [("a", "b"), ("b", "c"), ("c", "a")] {
        fixture.push(MarkType::Added, (POD, one), Some((POD, other)), "");
    }
    for at in 0..500 {
        fixture.push(MarkType::Added, (POD, &format!("deep-{at}")), Some((POD, &format!("deep-{}", at + 1))), "");
    }
    fixture.choice.order = LaneOrder::Name;
    fixture.view.height = 12_000.0;
    fixture.rows();
    fixture.choice.open = OpenGroups::all(true);
    let rows = fixture.rows();
    let names: std::collections::BTreeSet<&str> =
        fixture.chart.scene.lanes.iter().flatten().map(|row| &*row.key.name).collect();
    // Of the last one only the name in a reference is known.
    assert_eq!((rows.len(), names.len()), (505, 505));
    let deepest = fixture.chart.scene.lanes.iter().flatten().map(|row| row.group.as_ref().unwrap().depth).max();
    assert!(deepest <= Some(8), "{deepest:?}");
}

#[test]
fn pods_stand_in_their_node_and_everything_in_its_namespace_and_kind() {
    let mut fixture = Fixture::rollout(LanesBy::Node);
    fixture.push(MarkType::Updated, (NODE, "n-1"), None, "");
    fixture.choice.order = LaneOrder::Name;
    let expected = ["▸ no n-1 1 added, 2 updated", "▸ node n-2 1 added", "▸ on no node 1 added, 1 updated"];
    assert_eq!(fixture.rows(), expected);
    fixture.choice.open = OpenGroups::all(true);
    let open = ["▾ no n-1", "  po shop/single", "  po shop/web-7c9d-x2x7p", "▾ node n-2", "  po shop/web-7c9d-b81kq"];
    assert_eq!(fixture.rows()[..5], open);
    fixture.choice.open = OpenGroups::all(false);
    fixture.choice.by = LanesBy::Namespace;
    assert_eq!(fixture.rows(), ["▸ no namespace 1 updated", "▸ namespace shop 3 added, 2 updated"]);
    fixture.choice.by = LanesBy::Kind;
    let kinds = ["▸ Deployments 1 updated", "▸ Nodes 1 updated", "▸ Pods 2 added, 1 updated", "▸ ReplicaSets 1 added"];
    assert_eq!(fixture.rows(), kinds);
}

#[test]
fn lanes_stand_in_the_chosen_order() {
    let mut fixture = Fixture::new(LanesBy::Object);
    for (at, name) in [(1, "c"), (2, "a"), (3, "b"), (4, "a"), (5, "a"), (6, "b"), (7, "c")] {
        fixture.now = f64::from(at) * 1_000.0;
        fixture.push(MarkType::Updated, (POD, name), None, "");
    }
    for (order, expected) in [
        (LaneOrder::FirstChange, ["c", "a", "b"]),
        (LaneOrder::Churn, ["a", "b", "c"]),
        (LaneOrder::Name, ["a", "b", "c"]),
    ] {
        fixture.choice.order = order;
        if order == LaneOrder::Churn {
            // Two more, so that no two have the same number.
            fixture.push(MarkType::Updated, (POD, "a"), None, "");
            fixture.push(MarkType::Updated, (POD, "b"), None, "");
        }
        fixture.rows();
        let names: Vec<&str> = fixture.chart.scene.lanes.iter().flatten().map(|row| &*row.key.name).collect();
        assert_eq!(names, expected, "{order:?}");
    }
}

#[test]
fn what_stays_in_sight_stays_in_its_row() {
    let mut fixture = Fixture::rollout(LanesBy::Owner);
    let before = fixture.rows();
    fixture.push(MarkType::Updated, (POD, "web-7c9d-x2x7p"), Some((REPLICA_SET, "web-7c9d")), "n-1");
    fixture.now += 10_000.0;
    assert_eq!(fixture.rows().len(), before.len());
    assert!(fixture.shown()[1].starts_with("▸ deploy shop/web 3 added, 2 updated"), "{:?}", fixture.shown());
    // While the pointer is over the rows, opening a group moves only what is below it.
    fixture.view.hold = true;
    fixture.push(MarkType::Updated, (POD, "another"), None, "");
    fixture.now += 10_000.0;
    fixture.turn("web");
    let rows = fixture.rows();
    assert_eq!(rows[..3], ["po shop/single", "▾ deploy shop/web", "  ▸ rs …-7c9d 3 added, 1 updated"]);
}

#[test]
fn what_is_kept_is_on_top_also_while_it_is_quiet() {
    let mut fixture = Fixture::rollout(LanesBy::Owner);
    fixture.rows();
    fixture.now += 3_600_000.0;
    fixture.push(MarkType::Updated, (POD, "loud"), None, "");
    assert_eq!(fixture.rows(), ["po shop/loud"]);
    fixture.choice.kept = ["pods/shop/single", "deployments/shop/web", "pods/shop/nobody", "x", "a/b/c/d", "node:"]
        .map(String::from)
        .to_vec();
    assert_eq!(fixture.rows(), ["★ po shop/single", "★ ▸ deploy shop/web", "po shop/loud"]);
    fixture.choice.open = OpenGroups::all(true);
    let rows = fixture.rows();
    assert_eq!(rows[1..5], ["★ ▾ deploy shop/web", "  ▾ rs …-7c9d", "    po …-b81kq", "    po …-x2x7p"]);
    // Without groups, too.
    fixture.choice.by = LanesBy::Object;
    fixture.choice.kept = vec![String::from("pods/shop/single")];
    assert_eq!(fixture.rows(), ["★ po shop/single", "po shop/loud"]);
    // A name may have a colon.
    fixture.push(MarkType::Updated, (NODE, "system:a"), None, "");
    fixture.choice.kept = vec![String::from("nodes/system:a")];
    assert_eq!(fixture.rows()[0], "★ no system:a");
    fixture.choice = LaneChoice { by: LanesBy::Node, kept: vec![String::from("node:n-2")], ..LaneChoice::default() };
    assert_eq!(fixture.rows()[0], "★ ▸ node n-2");
}

#[test]
fn groups_that_come_later_are_open_as_they_were_chosen() {
    let open = |all, named: &[&str]| OpenGroups { all, named: named.iter().map(ToString::to_string).collect() };
    // As the address has it, before anything is known. Of the ReplicaSet only the name in a reference is known at
    // first.
    let mut fixture = Fixture::new(LanesBy::Owner);
    fixture.choice.open = open(false, &["replicasets/shop/web-7c9d", "pods/shop/nobody", "x", "node:n-9", "a/b/c/d"]);
    fixture.push(MarkType::Added, (POD, "web-7c9d-x2x7p"), Some((REPLICA_SET, "web-7c9d")), "n-1");
    assert_eq!(fixture.rows(), ["▾ ReplicaSet shop/web-7c9d", "  po …-x2x7p"]);
    fixture.choice.open = open(false, &["ReplicaSet:shop/web-7c9d"]);
    fixture.now += 10_000.0;
    fixture.push(MarkType::Added, (REPLICA_SET, "web-7c9d"), None, "");
    assert_eq!(fixture.rows(), ["▾ rs shop/web-7c9d", "  po …-x2x7p"]);
    // What is no longer named is closed, and all but what is named is open.
    fixture.choice.open = open(false, &[]);
    assert_eq!(fixture.rows(), ["▸ rs shop/web-7c9d 2 added"]);
    fixture.choice.open = open(true, &["replicasets/shop/web-7c9d"]);
    fixture.push(MarkType::Added, (POD, "other-1"), Some((REPLICA_SET, "other")), "n-1");
    fixture.now += 10_000.0;
    assert_eq!(fixture.rows(), ["▸ rs shop/web-7c9d 2 added", "▾ ReplicaSet shop/other", "  po …-1"]);
    // A group that is no object is found by its name, also while its object has a lane.
    fixture.push(MarkType::Updated, (NODE, "n-1"), None, "");
    for words in ["node:n-1", "nodes/n-1"] {
        fixture.choice = LaneChoice { by: LanesBy::Node, open: open(false, &[words]), ..LaneChoice::default() };
        assert_eq!(fixture.rows()[0], "▾ no n-1");
    }
}

#[test]
fn the_selected_object_has_a_row_although_its_group_is_closed() {
    let mut fixture = Fixture::rollout(LanesBy::Owner);
    fixture.view.selected = Some((KindId(POD as u8), key((POD, "web-7c9d-x2x7p"))));
    assert_eq!(fixture.rows()[0], "po shop/web-7c9d-x2x7p");
    assert!(fixture.row("web-7c9d-x2x7p").selected);
    let (kind, key) = fixture.view.selected.clone().unwrap();
    for _ in 0..2 {
        // The group around it, and then the one around that.
        let timeline = Timeline::new(fixture.marks.iter().collect(), &fixture.chart);
        let words = timeline.group_words_of(kind, &key).unwrap();
        fixture.choice.open.turn(&words);
        fixture.rows();
    }
    fixture.choice.open = OpenGroups::all(true);
    let rows = fixture.rows();
    assert_eq!(rows.iter().filter(|row| row.contains("x2x7p")).count(), 1, "{rows:?}");
}

#[test]
fn the_parts_of_a_row_and_what_a_group_says() {
    let mut fixture = Fixture::rollout(LanesBy::Owner);
    fixture.rows();
    let row = fixture.row("web").clone();
    let id = row.group.as_ref().unwrap().id;
    let part = |fixture: &Fixture, x: f64| {
        Timeline::new(fixture.marks.iter().collect(), &fixture.chart).part_at(x, row.y).unwrap().1
    };
    assert_eq!(part(&fixture, 4.0), LanePart::Star);
    assert_eq!(part(&fixture, row.name_x() - 5.0), LanePart::Triangle(id));
    assert_eq!(part(&fixture, row.name_x() + 5.0), LanePart::Rest);
    let hit = fixture.hit(row.name_x() + 5.0, row.y).unwrap();
    assert_eq!(hit.to_string(), "Deployment shop/web, 3 objects: 3 added, 1 updated within 60 s");
    assert_eq!(hit.owner().unwrap().key, row.key);
    // A mark in the group's row is that of its own object.
    let glyph = fixture.chart.scene.glyphs.iter().filter(|glyph| glyph.y == row.y).min_by(|a, b| a.x.total_cmp(&b.x));
    let hit = fixture.hit(glyph.unwrap().x, row.y).unwrap();
    assert!(hit.to_string().starts_with("▲ Added Pod shop/web-7c9d-x2x7p (uid 2-web-7c"), "{hit}");
}

#[test]
fn a_freed_lane_leaves_no_group_behind() {
    let mut fixture = Fixture::new(LanesBy::Owner);
    fixture.marks[POD] = Marks::new(3_000);
    for at in 0..2_000 {
        fixture.now += 100.0;
        let owner = format!("rs-{}", at / 10);
        fixture.push(MarkType::Updated, (POD, &format!("pod-{at}")), Some((REPLICA_SET, &owner)), "");
        if at % 7 == 0 {
            fixture.scene();
        }
    }
    fixture.now += 1_000.0;
    let rows = fixture.rows();
    let lanes = fixture.marks[POD].lanes.len();
    assert!(lanes < 60, "{lanes}");
    assert!(rows.len() <= lanes / 10 + 2, "{rows:?}");
    let counted: u64 =
        fixture.chart.scene.lanes.iter().flatten().map(|row| row.group.as_ref().unwrap().counts.total()).sum();
    assert!(counted >= lanes as u64, "{counted} of {lanes}");
    assert!(fixture.chart.groups.index.tree.slots() < 400, "{}", fixture.chart.groups.index.tree.slots());
}
