//! The state at a moment, against a fold of the frames that were sent, which shares nothing with the page.

use std::collections::BTreeMap;
use std::sync::Arc;

use kubechurn_client::api::object::{Object, ObjectKey, decode_or_flag};
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::backoff::Moment as Instant;
use kubechurn_client::cache::factory::{InformerId, Registration, SharedInformerFactory};
use kubechurn_client::cache::handler::HandlerOptions;
use kubechurn_client::cache::reflector::{Action, Input, Options};
use kubechurn_client::cache::shared_informer::{InformerOptions, SharedInformer};
use kubechurn_columns::kinds::{Kind, config, pods};
use kubechurn_model::history::History;
use kubechurn_model::history::coverage::{Before, Moment};
use kubechurn_model::rewind::{NOT_RECORDED, Present, Rewound};
use kubechurn_model::table::schema::TableSchema;
use proptest::prelude::*;

/// The kinds of two clusters.
fn kinds() -> [&'static Kind; 3] {
    static WEST: std::sync::OnceLock<Kind> = std::sync::OnceLock::new();
    let west = WEST.get_or_init(|| Kind {
        resource: ApiResource { cluster: "west", ..pods::KIND.resource },
        name: "pods@west",
        ..pods::KIND
    });
    [&pods::KIND, &config::CONFIG_MAPS, west]
}

const NAMESPACES: [&str; 2] = ["cart", "shop"];

/// What is watched: a kind, and a namespace or all of them.
type Of = (usize, &'static str);

/// An object as it is on the server.
#[derive(Clone, Debug, PartialEq)]
struct Stored {
    uid: u64,
    version: u64,
    text: String,
}

type Objects = BTreeMap<(&'static str, u64), Stored>;

#[derive(Debug)]
struct Watch {
    of: Of,
    id: InformerId,
    registration: Registration,
    /// What the frames have said; `None` before the first list is complete.
    objects: Option<Objects>,
    is_open: bool,
    is_over: bool,
    /// Since when nothing is heard.
    missed: Vec<(String, &'static str, u64, Option<Stored>)>,
}

/// What frames had said at a time: of each kind that was watched its objects.
type Snapshot = (f64, BTreeMap<usize, Objects>);

/// A server, what watches it, and what the frames said.
struct World {
    informers: SharedInformerFactory,
    history: History,
    now: f64,
    version: u64,
    objects: [Objects; 3],
    watches: Vec<Watch>,
    snapshots: Vec<Snapshot>,
    noted: (u64, Vec<bool>),
}

fn text(kind: usize, namespace: &str, name: u64, uid: u64, version: u64) -> String {
    let word = ["Pod", "ConfigMap", "Pod"][kind];
    let filling: String =
        (0..8).map(|part| format!("{:x}", (version * 8 + part).wrapping_mul(0x9E37_79B9_7F4A_7C15))).collect();
    format!(
        r#"{{"kind":"{word}","apiVersion":"v1","metadata":{{"name":"n{name}","namespace":"{namespace}","uid":"uid-{kind}-{uid}","resourceVersion":"{version}","creationTimestamp":"2026-11-25T08:00:00Z","annotations":{{"filling":"{filling}"}}}},"data":{{"a":"{version}"}},"spec":{{"nodeName":"node-{}","containers":[{{"name":"c"}}]}},"status":{{"phase":"{}"}}}}"#,
        version % 3,
        ["Pending", "Running", "Failed"][version as usize % 3],
    )
}

impl World {
    fn new(budget: usize) -> World {
        World {
            informers: SharedInformerFactory::default(),
            history: History::new(budget, 0),
            now: 1_000.0,
            version: 100,
            objects: Default::default(),
            watches: Vec::new(),
            snapshots: vec![(0.0, BTreeMap::new())],
            noted: (0, Vec::new()),
        }
    }

    /// Hands an input to an informer, and does what it then asks for, but for the opening of a watch. Returns that request.
    fn input(&mut self, at: usize, input: Input<'_>) -> Option<Action> {
        let (id, (kind, namespace)) = (self.watches[at].id, self.watches[at].of);
        let resource = kinds()[kind].resource;
        let informer = self.informers.get_mut(id).unwrap();
        let before = Before::of(informer, &input, self.history.received());
        let history = &mut self.history;
        let moment = Instant { now: self.now, random: 0.0 };
        let action = informer.handle_tapped(input, moment, &mut |received| {
            history.push(resource, received);
        });
        informer.drain(usize::MAX, self.now);
        let notices = informer.take_notices();
        let now = (self.now, self.history.received());
        let scope = Scope { namespace: namespace.into(), ..Scope::default() };
        self.history.coverage.handled(id, (resource, &scope), (before, informer, &notices), now);
        action
    }

    /// Watches a kind, from its first list on.
    fn watch(&mut self, of: Of) {
        let resource = kinds()[of.0].resource;
        let scope = Scope { namespace: of.1.into(), ..Scope::default() };
        let id = self.informers.informer_for(resource, &scope, || {
            let reflector = Options { watch_list: false, kind: Some(resource.kind), ..Options::default() };
            SharedInformer::new(kinds()[of.0].decode, InformerOptions { reflector, backlog: None })
        });
        self.informers.start();
        let registration = self.informers.add_event_handler(id, HandlerOptions::default(), self.now).unwrap();
        self.watches.push(Watch {
            of,
            id,
            registration,
            objects: None,
            is_open: false,
            is_over: false,
            missed: Vec::new(),
        });
        let at = self.watches.len() - 1;
        let action = self.input(at, Input::Start);
        self.go_on(at, action);
    }

    fn listed(&self, (kind, namespace): Of) -> Objects {
        let own = |(name, _): &(&(&'static str, u64), &Stored)| namespace.is_empty() || name.0 == namespace;
        self.objects[kind].iter().filter(own).map(|(name, stored)| (*name, stored.clone())).collect()
    }

    /// Answers what an informer asks for, until its watch is open.
    fn go_on(&mut self, at: usize, mut action: Option<Action>) {
        for _ in 0..20 {
            action = match action {
                Some(Action::List(_)) => {
                    let listed = self.listed(self.watches[at].of);
                    let items: Vec<&str> = listed.values().map(|stored| &*stored.text).collect();
                    let page = format!(
                        r#"{{"kind":"List","metadata":{{"resourceVersion":"{}"}},"items":[{}]}}"#,
                        self.version,
                        items.join(",")
                    );
                    // In pieces: what a list brings counts when it is complete.
                    let (first, rest) = page.split_at(page.len() / 2);
                    self.input(at, Input::Piece(first.as_bytes()));
                    self.note();
                    self.now += 1.0;
                    self.input(at, Input::Piece(rest.as_bytes()));
                    let action = self.input(at, Input::PageEnd);
                    let watch = &mut self.watches[at];
                    (watch.objects, watch.missed) = (Some(listed), Vec::new());
                    self.note();
                    self.now += 1.0;
                    action
                }
                Some(Action::Watch(_) | Action::WatchOverHttp(_)) => {
                    self.watches[at].is_open = true;
                    self.input(at, Input::Opened);
                    for (frame, namespace, name, stored) in std::mem::take(&mut self.watches[at].missed) {
                        self.apply(at, &frame, (namespace, name), stored);
                    }
                    self.note();
                    return;
                }
                Some(Action::Probe(_)) => self.input(at, Input::ProbePassed),
                Some(Action::Wait) | None => {
                    let deadline = self.informers.get(self.watches[at].id).unwrap().reflector().deadline();
                    self.now = self.now.max(deadline.unwrap_or(self.now));
                    self.input(at, Input::Timer)
                }
            };
        }
        panic!("the watch does not open");
    }

    fn apply(&mut self, at: usize, frame: &str, name: (&'static str, u64), stored: Option<Stored>) {
        self.input(at, Input::Frame(frame));
        let objects = self.watches[at].objects.as_mut().unwrap();
        match stored {
            Some(stored) => drop(objects.insert(name, stored)),
            None => drop(objects.remove(&name)),
        }
    }

    /// Something happens to an object, of which each watch hears that is open, and the others when they go on.
    fn write(&mut self, kind: usize, name: (&'static str, u64), goes: bool) {
        self.version += 1;
        let version = self.version;
        let old = self.objects[kind].get(&name).cloned();
        let uid = old.as_ref().map_or(version, |old| old.uid);
        let text = text(kind, name.0, name.1, uid, version);
        let new = Stored { uid, version, text };
        let word = match (&old, goes) {
            (None, true) => return,
            (Some(_), true) => "DELETED",
            (None, false) => "ADDED",
            (Some(_), false) => "MODIFIED",
        };
        let frame = format!(r#"{{"type":"{word}","object":{}}}"#, new.text);
        match goes {
            true => drop(self.objects[kind].remove(&name)),
            false => drop(self.objects[kind].insert(name, new.clone())),
        }
        let stored = (!goes).then_some(new);
        for at in 0..self.watches.len() {
            let Watch { of, is_over, is_open, .. } = self.watches[at];
            if is_over || of.0 != kind || !(of.1.is_empty() || of.1 == name.0) {
                continue;
            }
            match is_open {
                true => self.apply(at, &frame, name, stored.clone()),
                false => self.watches[at].missed.push((frame.clone(), name.0, name.1, stored.clone())),
            }
        }
        self.note();
    }

    fn close(&mut self, at: usize) {
        if self.watches[at].is_open && !self.watches[at].is_over {
            self.watches[at].is_open = false;
            self.input(at, Input::Closed(1006));
        }
    }

    /// A watch that is closed goes on from its version.
    fn reopen(&mut self, at: usize) {
        if !self.watches[at].is_open && !self.watches[at].is_over {
            self.go_on(at, None);
        }
    }

    fn relist(&mut self, at: usize) {
        if self.watches[at].is_open && !self.watches[at].is_over {
            self.watches[at].is_open = false;
            let action = self.input(at, Input::Relist("a test"));
            self.go_on(at, action);
        }
    }

    fn let_go(&mut self, at: usize) {
        let watch = &mut self.watches[at];
        if !watch.is_over {
            watch.is_over = true;
            let (registration, received) = (watch.registration, self.history.received());
            self.history.coverage.ended(watch.id, (self.now, received));
            assert!(self.informers.remove_event_handler(registration));
            self.note();
        }
    }

    /// Remembers what the frames have said so far, if they have said something since.
    fn note(&mut self) {
        let known = self.watches.iter().map(|watch| watch.objects.is_some() && !watch.is_over).collect();
        let noted = (self.history.received(), known);
        if self.noted == noted {
            return;
        }
        self.noted = noted;
        let mut all: BTreeMap<usize, Objects> = BTreeMap::new();
        for watch in self.watches.iter().filter(|watch| !watch.is_over) {
            if let Some(objects) = &watch.objects {
                all.entry(watch.of.0).or_default().extend(objects.clone());
            }
        }
        self.snapshots.push((self.now, all));
    }
}

impl Present for World {
    fn find(&self, kind: &'static Kind, key: &ObjectKey) -> Option<&Arc<Object>> {
        let mut own = self.watches.iter().filter(|watch| !watch.is_over && kinds()[watch.of.0] == kind);
        own.find_map(|watch| self.informers.get(watch.id)?.store().get(key))
    }

    fn each(&self, kind: &'static Kind, each: &mut dyn FnMut(&Arc<Object>)) {
        let own = self.watches.iter().filter(|watch| !watch.is_over && kinds()[watch.of.0] == kind);
        own.filter_map(|watch| self.informers.get(watch.id))
            .flat_map(|informer| informer.store().iter())
            .for_each(each);
    }
}

impl World {
    fn at(&self, moment: Moment) -> Rewound {
        let schema = Arc::new(TableSchema::of(&kinds()));
        let mut rewound = Rewound::at(moment, schema, &[], (&self.history, self));
        rewound.work(&self.history, || true);
        rewound.table_mut().work(|| true);
        rewound
    }
}

/// Each row: kind, key, uid and version, and the cells; of a version that is not kept the words for it.
fn rows(rewound: &Rewound) -> BTreeMap<(u8, String), (String, String, String)> {
    let table = rewound.table();
    assert!(table.is_balanced(), "{:?}", table.sums());
    let rows = table.window(0, usize::MAX).into_iter().filter_map(|id| table.row(id));
    rows.map(|row| ((row.kind.0, row.object.key.to_string()), said(&row.object))).collect()
}

fn said(object: &Object) -> (String, String, String) {
    let rest = object.flaw.as_deref().map_or_else(|| format!("{:?}", object.cells), str::to_owned);
    (object.uid.to_string(), object.resource_version.to_string(), rest)
}

fn expected(snapshot: &Snapshot) -> BTreeMap<(u8, String), (String, String, String)> {
    let mut all = BTreeMap::new();
    for (kind, objects) in &snapshot.1 {
        for ((namespace, name), stored) in objects {
            let object = decode_or_flag(kinds()[*kind].decode, &stored.text).unwrap();
            all.insert((*kind as u8, format!("{namespace}/n{name}")), said(&object));
        }
    }
    all
}

fn play(world: &mut World, ops: &[(u8, usize, u64, u8)], sets_back: bool) {
    for &(op, which, name, step) in ops {
        world.now += f64::from(step) + 1.0;
        let (kind, namespace) = (which % 3, NAMESPACES[which / 3 % 2]);
        let count = world.watches.len().max(1);
        let at = which % count;
        let is_watch = !world.watches.is_empty();
        match op {
            0..=9 => world.write(kind, (namespace, name), false),
            10..=12 => world.write(kind, (namespace, name), true),
            13 => {
                world.write(kind, (namespace, name), true);
                world.write(kind, (namespace, name), false);
            }
            14 if is_watch => world.close(at),
            15 | 16 if is_watch => world.reopen(at),
            17 if is_watch => world.relist(at),
            18 if is_watch && name < 2 => world.let_go(at),
            19 if name < 2 && sets_back => {
                // That the clock was set back is known by what comes then.
                let open = world.watches.iter().find(|watch| watch.is_open && !watch.is_over).map(|watch| watch.of);
                if let Some((kind, namespace)) = open {
                    world.now -= 40.0;
                    world.write(kind, (if namespace.is_empty() { "shop" } else { namespace }, 9), false);
                }
            }
            _ => {
                let of = (kind, if kind == 1 { "" } else { namespace });
                if !world.watches.iter().any(|watch| !watch.is_over && watch.of == of) {
                    world.watch(of);
                }
            }
        }
    }
}

/// What is shown at a time, in the words of a failure.
fn check(world: &World, at: f64, rewound: &Rewound, is_roomy: bool) -> Result<(), TestCaseError> {
    let snapshot = world.snapshots.iter().rfind(|snapshot| snapshot.0 <= at).unwrap();
    let (shown, expected) = (rows(rewound), expected(snapshot));
    for (kind, known) in rewound.known().iter().enumerate() {
        prop_assert_eq!(known.is_nothing(), !snapshot.1.contains_key(&kind), "kind {} at {}: {:?}", kind, at, known);
    }
    prop_assert!(!is_roomy || rewound.is_whole());
    if is_roomy {
        prop_assert_eq!(&shown, &expected, "at {}", at);
    }
    if rewound.is_whole() {
        let names = |rows: &BTreeMap<(u8, String), (String, String, String)>| {
            rows.iter().map(|(name, said)| (name.clone(), said.0.clone())).collect::<Vec<_>>()
        };
        prop_assert_eq!(names(&shown), names(&expected), "at {}", at);
        for (name, said) in &shown {
            prop_assert!(
                said.2 == NOT_RECORDED || expected.get(name) == Some(said),
                "{:?}: {:?} at {}",
                name,
                said,
                at
            );
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn each_moment_is_as_the_frames_had_it_and_going_there_from_another_is_the_same(
        first in proptest::collection::vec((20u8..21, 0usize..6, 0u64..5, 0u8..9), 1..5),
        ops in proptest::collection::vec((0u8..22, 0usize..6, 0u64..5, 0u8..9), 1..80),
        budget in prop_oneof![Just(1usize << 24), Just(1usize << 24), 20_000usize..60_000],
        jumps in proptest::collection::vec(0.0f64..1.0, 3..6),
    ) {
        let mut world = World::new(budget);
        // Where the record that the clock was set back is dropped, nothing shows it.
        let is_roomy = budget >= 1 << 24;
        play(&mut world, &first, is_roomy);
        play(&mut world, &ops, is_roomy);
        let times: Vec<f64> = world.snapshots.iter().map(|snapshot| snapshot.0).collect();
        for at in times.iter().rev().step_by(1 + times.len() / 9) {
            let rewound = world.at(world.history.moment(*at));
            check(&world, *at, &rewound, is_roomy)?;
        }
        let end = times.iter().copied().fold(0.0, f64::max);
        let mut stepped = world.at(world.history.moment(end / 2.0));
        for jump in jumps {
            let moment = world.history.moment(999.0 + (end - 998.0) * jump);
            stepped.step(moment, &world.history, &world);
            stepped.work(&world.history, || true);
            stepped.table_mut().work(|| true);
            let anew = world.at(moment);
            prop_assert_eq!(rows(&stepped), rows(&anew));
            prop_assert_eq!(stepped.known(), anew.known());
        }
    }
}

#[test]
fn before_the_first_list_nothing_is_known_and_a_kind_that_was_watched_later_was_not_known() {
    let mut world = World::new(1 << 20);
    world.write(0, ("shop", 1), false);
    world.write(1, ("shop", 2), false);
    world.now = 2_000.0;
    world.watch((0, ""));
    world.now = 3_000.0;
    world.watch((1, ""));
    let at = |at| world.at(world.history.moment(at));
    let known = |rewound: &Rewound| rewound.known().iter().map(|known| !known.is_nothing()).collect::<Vec<_>>();
    assert_eq!((known(&at(1_999.0)), rows(&at(1_999.0)).len()), (vec![false; 3], 0));
    let listing = at(2_000.5);
    assert_eq!((known(&listing), listing.known()[0].is_listing, rows(&listing).len()), (vec![false; 3], true, 0));
    assert_eq!((known(&at(2_500.0)), rows(&at(2_500.0)).len()), (vec![true, false, false], 1));
    assert_eq!((known(&at(3_500.0)), rows(&at(3_500.0)).len()), (vec![true, true, false], 2));
}

#[test]
fn in_a_gap_is_the_state_before_it_and_that_is_said() {
    let mut world = World::new(1 << 20);
    world.write(0, ("shop", 1), false);
    world.watch((0, ""));
    world.now = 10_000.0;
    world.write(0, ("shop", 1), false);
    let before = world.version;
    world.close(0);
    world.now = 20_000.0;
    world.write(0, ("shop", 1), false);
    world.now = 60_000.0;
    world.reopen(0);
    let end = world.now + 10.0;
    let seen = |at| {
        let rewound = world.at(world.history.moment(at));
        (rows(&rewound).into_values().next().map(|row| row.1), rewound.known()[0].is_in_gap())
    };
    assert_eq!(seen(10_000.0).0, Some(before.to_string()));
    assert_eq!(seen(30_000.0), (Some(before.to_string()), true));
    assert_eq!(seen(end), (Some((before + 1).to_string()), false));
}

#[test]
fn a_gap_that_is_not_over_begins_with_what_was_heard_last() {
    let mut world = World::new(1 << 20);
    world.watch((0, ""));
    world.now = 10_000.0;
    world.write(0, ("shop", 1), false);
    world.now = 11_000.0;
    let is_in_gap = |world: &World, at| world.at(world.history.moment(at)).known()[0].is_in_gap();
    let before = is_in_gap(&world, 10_500.0);
    // No watch opens again.
    world.close(0);
    assert_eq!((before, is_in_gap(&world, 10_500.0), is_in_gap(&world, 9_999.0)), (false, true, false));
}

#[test]
fn an_evicted_object_is_a_row_with_its_name_and_one_that_has_not_changed_since_is_as_it_is_now() {
    let mut world = World::new(30_000);
    world.write(0, ("cart", 7), false);
    world.write(0, ("shop", 1), false);
    world.watch((0, ""));
    world.now = 2_000.0;
    world.write(0, ("shop", 1), false);
    let then = world.now;
    for _ in 0..300 {
        world.now += 10.0;
        world.write(0, ("shop", 1), false);
        world.write(0, ("shop", 2), false);
    }
    let shown = rows(&world.at(world.history.moment(then)));
    assert_eq!(shown[&(0, "shop/n1".to_owned())].2, NOT_RECORDED);
    let unchanged = (0, "cart/n7".to_owned());
    assert_eq!(shown[&unchanged], expected(world.snapshots.last().unwrap())[&unchanged]);
    let now = world.at(world.history.moment(world.now));
    assert!(now.is_whole() && rows(&now) == expected(world.snapshots.last().unwrap()));
}

#[test]
fn without_a_recorder_only_the_present_is_known() {
    let mut world = World::new(0);
    world.write(0, ("shop", 1), false);
    world.watch((0, ""));
    world.now = 2_000.0;
    world.write(0, ("shop", 1), false);
    world.now = 3_000.0;
    world.write(0, ("shop", 2), false);
    let now = world.at(world.history.moment(world.now));
    assert!(now.is_whole(), "what is not recorded has not changed since");
    assert_eq!(rows(&now), expected(world.snapshots.last().unwrap()));
    let before = world.at(world.history.moment(1_500.0));
    assert!(!before.is_whole() && rows(&before).is_empty());
}

#[test]
fn where_the_clock_was_set_back_the_order_in_which_things_came_holds() {
    let mut world = World::new(1 << 20);
    world.watch((0, ""));
    for now in [5_000.0, 6_000.0, 4_000.0, 4_500.0, 7_000.0] {
        world.now = now;
        world.write(0, ("shop", 1), false);
    }
    let version = |at| rows(&world.at(world.history.moment(at))).into_values().next().map(|row| row.1);
    let seen = [3_999.0, 4_000.0, 4_499.0, 5_500.0, 6_500.0, 7_000.0].map(version);
    let expected = [None, Some("103"), Some("103"), Some("104"), Some("104"), Some("105")];
    assert_eq!(seen.each_ref().map(|one| one.as_deref()), expected);
}
