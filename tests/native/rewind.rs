//! Rewind equals what was: while scenarios run and faults strike, the page's objects and its feed are written down at some
//! moments, and afterwards the page shows each of these moments. So does a page that has opened what that page has saved; and
//! a page that has opened what `kubechurn record` has written meanwhile shows the same as one that has opened what that page has saved.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::wait::{holds, wait_until};
use kubechurn_model::feed::span::SpanCommand;
use kubechurn_model::feed::wrong::row::WrongRow;
use kubechurn_model::feed::{FeedCommand, FeedRow};
use kubechurn_model::page::Page as Model;
use kubechurn_model::page::command::Command;
use kubechurn_model::page::environment::Environment;
use kubechurn_model::recording::Selected;
use kubechurn_model::rewind::banner::RewindCommand;
use kubechurn_model::timeline::scale::Window;
use kubechurn_recording::{Header, native};

use crate::page::{Page, with_page};
use crate::record::{Recorder, blocks};
use crate::recording::Opened;
use crate::shell::place::Place;

/// Eight of these tests run at a time, on a machine that may be busy otherwise.
const SOON: Duration = Duration::from_secs(120);
const KINDS: [&str; 5] = ["pods", "deployments", "replicasets", "nodes", "events"];
/// How many moments are gone to, of all that were written down.
const MOMENTS: usize = 20;
/// What grows older by itself, and by a server's clock that is known better later.
const AGES: [&str; 4] = ["AGE", "RESTARTS", "LAST SEEN", "FIRST SEEN"];

/// The scenarios, with the faults that strike meanwhile.
const RUNS: [(&str, &[&str]); 10] = [
    ("calm", &["fault?frame=duplicate&probability=0.2", "cut"]),
    ("rollout", &["fault?frame=reorder&probability=0.2", "fault?end=drop&times=3"]),
    ("crashloop", &["fault?frame=truncate&times=3", "fault?end=close&times=3"]),
    ("node-failure", &["fault?status=500&verb=watch&times=4", "cut"]),
    ("autoscaler-flap", &["fault?frame=not-json&times=3", "compact", "cut"]),
    ("hot-loop", &["fault?frame=unknown-type&times=3", "fault?frame=delay&delay-ms=200&probability=0.2"]),
    ("mixed", &["fault?frame=wrong-type&times=3", "restart?revision=900000"]),
    ("storm", &["fault?frame=lose&times=5", "compact", "cut"]),
    ("bad-config", &["fault?frame=duplicate&probability=0.2", "fault?end=close&times=3"]),
    ("node-repair", &["fault?frame=reorder&probability=0.2", "compact", "cut"]),
];

/// A test for each scenario.
macro_rules! runs {
    ($($name:ident: $run:literal;)*) => {
        $(#[tokio::test]
        async fn $name() {
            let (scenario, faults) = RUNS[$run];
            is_as_it_was(scenario, faults, 1).await;
        })*
    };
}

runs! {
    calm: 0;
    rollout: 1;
    crash_loop: 2;
    node_failure: 3;
    autoscaler_flap: 4;
    hot_loop: 5;
    mixed: 6;
    storm: 7;
    bad_config: 8;
    node_repair: 9;
}

/// Further seeds, each of one scenario with the faults of another one: as many as `KUBECHURN_SEEDS` says, from `KUBECHURN_FROM`.
#[tokio::test]
async fn seeds() {
    let number =
        |name: &str, default: u64| std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default);
    let from = number("KUBECHURN_FROM", 2);
    for seed in from..from + number("KUBECHURN_SEEDS", 2) {
        let ((scenario, own), (_, others)) =
            (RUNS[seed as usize % RUNS.len()], RUNS[(seed / RUNS.len() as u64 + seed) as usize % RUNS.len()]);
        let faults = if seed < RUNS.len() as u64 { own } else { others };
        println!("seed {seed}: {scenario}, {faults:?}");
        is_as_it_was(scenario, faults, seed).await;
    }
}

/// What a page holds: of each kind the digest, and its rows without what grows older; and its feed, unless changes wait to be shown.
type Held = (Vec<(Option<String>, Value)>, Option<Vec<FeedRow>>);

/// The rows of the feed, without their ages and where they lead. What the objects say of their past is of no moment.
fn feed(page: &Model) -> Vec<FeedRow> {
    let rows = page.view().feed.window.rows.iter().filter(|row| !row.what.starts_with("past"));
    rows.map(|row| FeedRow { id: 0, age: String::new(), href: String::new(), rollout: String::new(), ..row.clone() })
        .collect()
}

/// The rows of the feed in a line each.
fn listed(rows: &[FeedRow]) -> String {
    let words = |row: &FeedRow| row.words.iter().map(|piece| &*piece.text).collect::<String>();
    let rows = rows.iter().map(|row| format!("{} {}{}: {}", row.time, row.name, row.name_end, words(row)));
    rows.collect::<Vec<_>>().join("\n")
}

fn held(page: &Model, place: &dyn Environment) -> Held {
    let rows = |kind: &str| {
        let rows = page.reports().rows_of(kind, place).unwrap_or_default();
        let mut rows: Value = serde_json::from_str(&rows).unwrap_or_default();
        for cells in rows.as_array_mut().into_iter().flatten().filter_map(|row| row["cells"].as_object_mut()) {
            AGES.iter().for_each(|age| drop(cells.remove(*age)));
        }
        rows
    };
    let feed = (page.reports().unread() == 0).then(|| feed(page));
    (KINDS.iter().map(|kind| (page.reports().digest_of(kind), rows(kind))).collect(), feed)
}

/// A moment, what the page held then, and what was wrong.
type Seen = (f64, Held, Vec<WrongRow>);

/// How far from a moment nothing else may be wrong for it to be compared, in milliseconds: the list is made anew ten times a second.
const AROUND: f64 = 400.0;
/// By how much a time may differ that a server's clock gives in whole seconds, in milliseconds.
const ABOUT: f64 = 2_000.0;

/// What is wrong by its state, in the order of the names. How many Pods there are on a node is counted from time to time while it
/// is live. What is over is not shown at another moment.
fn wrong(page: &Model) -> Vec<WrongRow> {
    let rows = page.view().feed.wrong.rows.iter().filter(|row| !row.is_card && row.tone != "over");
    let mut rows: Vec<WrongRow> = rows.cloned().collect();
    for row in &mut rows {
        row.words.retain(|(words, _)| !words.ends_with(" on it"));
        (row.since, row.href) = (String::new(), String::new());
        // Addresses have the moment and the time at which it began, too.
        let part = |address: &str, name: &str| {
            address.split(['?', '&']).find(|part| part.starts_with(name)).unwrap_or_default().to_owned()
        };
        row.why_href = part(&row.why_href, "of=");
        row.began_href = part(&row.began_href, "change=");
    }
    rows.sort_by(|one, other| (&one.name, &one.words).cmp(&(&other.name, &other.words)));
    rows
}

/// Whether the same is wrong since about the same times.
fn are_alike(one: &[WrongRow], other: &[WrongRow]) -> bool {
    let bare = |row: &WrongRow| WrongRow { at: 0.0, time: String::new(), ..row.clone() };
    one.len() == other.len()
        && one.iter().zip(other).all(|(one, other)| bare(one) == bare(other) && (one.at - other.at).abs() <= ABOUT)
}

/// The places of the moments around which nothing else was wrong for a while, and at which every change was looked at: before that
/// it is not known with which of them something began.
fn steady(seen: &[Seen]) -> Vec<usize> {
    let around = |place: usize| {
        let at = seen[place].0;
        let is_far = |(_, seen): &(usize, &Seen)| (seen.0 - at).abs() >= AROUND;
        let (before, after) = seen.split_at(place);
        let before = before.iter().enumerate().rev().find(is_far).map(|(first, _)| first)?;
        let after = after.iter().enumerate().find(is_far).map(|(last, _)| place + last)?;
        Some((before, after))
    };
    let is_steady = |place: &usize| {
        around(*place)
            .is_some_and(|(first, last)| seen[first..=last].iter().all(|one| are_alike(&one.2, &seen[*place].2)))
    };
    (0..seen.len()).filter(|place| seen[*place].1.1.is_some()).filter(is_steady).collect()
}

/// Whether the page has everything in its stores that it has received.
fn is_drained(page: &Model, place: &Place) -> bool {
    let status: Value = serde_json::from_str(&page.reports().status(place)).unwrap_or_default();
    let all = status.as_array().into_iter().flatten();
    all.clone().count() == KINDS.len() && all.clone().all(|one| one["ledger"]["queued"] == 0 && one["synced"] == true)
}

/// A moment, and the digest of the Pods then.
type Digest = (f64, Option<String>);

#[tokio::test]
async fn a_drag_while_much_comes_in_shows_what_was_and_loses_nothing() {
    let cluster = Cluster::start(&Options { pods: 2_000, rate: 200, ..Options::default() }).await;
    let proxy = KubectlProxy::start_plain(cluster.port()).await;
    with_page(proxy.port(), "#/pods", async |page| {
        page.reaches("pods", "live", SOON).await;
        let received = |page: &Model| {
            let report: Value = serde_json::from_str(&page.reports().recorder()).unwrap_or_default();
            report["received"].as_u64().unwrap_or_default()
        };
        let digest = |page: &Model| page.reports().digest_of("pods");
        let seen: Rc<RefCell<Vec<Digest>>> = Rc::default();
        let (written, mut last) = (Rc::clone(&seen), 0);
        page.watch(move |page, place| {
            let status: Value = serde_json::from_str(&page.reports().status(place)).unwrap_or_default();
            let (now, came) = (place.now(), received(page));
            if came > last + 20 && status[0]["ledger"]["queued"] == 0 {
                last = came;
                written.borrow_mut().push((now.ceil(), digest(page)));
                place.skip(now.ceil() + 0.1 - now);
            }
        });
        wait_until("a recording", SOON, async || {
            let seen = seen.borrow().len();
            holds(seen >= MOMENTS, || format!("{seen} moments"))
        })
        .await;
        page.watch(|_, _| {});
        let seen = seen.take();
        let began = page.look(|page, _| received(page));
        // Back and forth; between two steps frames of the server are received.
        for (at, then) in seen.iter().rev().chain(&seen).step_by(2) {
            let before = page.look(|page, _| received(page));
            page.command(Command::Rewind(RewindCommand::Drag(*at)));
            assert_eq!(page.look(|page, _| digest(page)), *then, "at {at}");
            wait_until("something more is received", SOON, async || {
                let now = page.look(|page, _| received(page));
                holds(now > before, || format!("{now} of {began}"))
            })
            .await;
        }
        page.command(Command::Rewind(RewindCommand::LetGo));
        assert_eq!(page.view(|view| view.header.connection.state), "rewound");
        page.command(Command::Rewind(RewindCommand::Live));
        let truth = cluster.quiet("/api/v1/pods").await;
        page.shows("pods", &truth, SOON).await;
        page.is_balanced().await;
    })
    .await;
}

/// A file of the middle third of the time has at each moment in it what the page held then.
fn is_the_same_in_a_file_of_a_part(scenario: &str, page: &Page, seen: &[Seen]) {
    let part = &seen[seen.len() / 3..seen.len() * 2 / 3];
    let [(from, ..), .., (to, ..)] = part else { panic!("{} moments", seen.len()) };
    let time = Some(Window { from: *from, to: *to });
    let selected = Selected { time, ..Selected::default() };
    let saved = page.look(|page, _| page.reports().recording(Header::default(), selected));
    let mut opened = Opened::of(&saved, "#/pods,deployments,replicasets,nodes,events");
    for (at, (then, _), _) in part.iter().step_by((part.len() / MOMENTS).max(1)) {
        opened.command(Command::Rewind(RewindCommand::To(*at)));
        for ((kind, then), now) in KINDS.iter().zip(then).zip(opened.look(held).0) {
            assert_eq!(now.0, then.0, "{scenario}, a part: the digest of {kind} at {at}");
            assert_eq!(now.1, then.1, "{scenario}, a part: the rows of {kind} at {at}");
        }
    }
}

/// The marks of a page up to a time, each with its times. Those of a list are received a piece of it after the other, and stand where the
/// list was complete.
type Marks = BTreeMap<String, BTreeSet<String>>;

fn marks(page: &Model, end: f64) -> Marks {
    let mut all = Marks::new();
    let of_kind = |kind: &&str| {
        let marks: Vec<Value> = serde_json::from_str(&page.reports().marks_of(kind)?).ok()?;
        let is_of_object = |mark: &Value| !["Sync", "Relist", "Gap"].iter().any(|one| mark["type"] == *one);
        let words = |mark: &Value| {
            let of = ["type", "key", "uid", "resourceVersion"].map(|name| mark[name].to_string());
            let time = if mark["type"] == "Replaced" { String::new() } else { mark["time"].to_string() };
            (format!("{kind} {}", of.join(" ")), time)
        };
        let is_then = |mark: &&Value| is_of_object(mark) && mark["time"].as_f64().is_some_and(|at| at <= end);
        Some(marks.iter().filter(is_then).map(words).collect::<Vec<_>>())
    };
    for (mark, at) in KINDS.iter().filter_map(of_kind).flatten() {
        all.entry(mark).or_default().insert(at);
    }
    all
}

/// The first marks that are of one page alone, or of another time. What was received twice is in a file once.
fn other_marks(one: &Marks, other: &Marks) -> Vec<String> {
    let missing = |one: &Marks, other: &Marks| {
        let is_other = |(mark, times): &(&String, &BTreeSet<String>)| {
            other.get(*mark).is_none_or(|others| others.is_disjoint(times))
        };
        one.iter().filter(is_other).take(5).map(|(mark, times)| format!("{mark} {times:?}")).collect::<Vec<_>>()
    };
    [missing(one, other), missing(other, one)].concat()
}

/// What differs in a page between two times, line by line. A recording has ended when its last line came, and so it is not compared
/// with a later time.
fn differences(page: &Model, place: &dyn Environment) -> Option<BTreeSet<String>> {
    let mut lines: Vec<Value> = serde_json::from_str(&page.reports().differences(place)?).ok()?;
    let without = |line: &mut Value| line.as_object_mut().and_then(|line| line.remove("to"));
    lines.iter_mut().for_each(|line| _ = without(line));
    Some(lines.iter().map(Value::to_string).collect())
}

/// What `kubechurn record` has written of a run: a page that opens it shows at some moments the same as one that opens what that
/// page saves.
fn is_the_same_saved_again(scenario: &str, file: &std::path::Path) {
    const FRAGMENT: &str = "#/pods,deployments,replicasets,nodes,events?view=changes";
    let (mut from, mut to) = (f64::INFINITY, f64::NEG_INFINITY);
    let bytes = std::fs::read(file).expect("the file");
    native::read(&bytes, |at, _| (from, to) = (from.min(at), to.max(at))).expect("it is a recording");
    let mut one = Opened::of(&blocks(file), FRAGMENT);
    let saved = one.look(|page, _| page.reports().recording(Header::default(), Selected::default()));
    let mut other = Opened::of(&saved, FRAGMENT);
    let (first, second) = (one.look(|page, _| marks(page, to)), other.look(|page, _| marks(page, to)));
    assert!(first.len() > 60, "{scenario}, recorded: {} marks", first.len());
    let different = other_marks(&first, &second);
    assert!(different.is_empty(), "{scenario}, recorded: marks differ: {different:#?}");
    for number in 1..=MOMENTS {
        let at = (from + (to - from) * number as f64 / (MOMENTS + 1) as f64).ceil();
        for opened in [&mut one, &mut other] {
            opened.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 1e6, width: 900.0 }));
            opened.command(Command::Rewind(RewindCommand::To(at)));
        }
        let (one, other) = (one.look(held), other.look(held));
        for ((kind, one), other) in KINDS.iter().zip(one.0).zip(other.0) {
            assert_eq!(one, other, "{scenario}, recorded: {kind} at {at}");
        }
        let rows = |rows: Option<Vec<FeedRow>>| rows.map(|rows| listed(&rows));
        assert_eq!(rows(one.1), rows(other.1), "{scenario}, recorded: the feed at {at}");
    }
}

/// Some writes of a storm: how many there are does not depend on how fast the machine is.
async fn write_some(cluster: &Cluster) {
    cluster.rate(150).await;
    cluster.advance(30, 150).await;
    cluster.rate(0).await;
}

/// The moments that are compared with what the page shows later: some of all, and some at which no change waited to be shown.
fn compared(seen: &[Seen]) -> BTreeSet<usize> {
    let some = |all: Vec<usize>, most: usize| {
        let step = (all.len() / most).max(1);
        all.into_iter().step_by(step).take(most)
    };
    let has_feed = |place: &usize| seen[*place].1.1.is_some();
    let fed = (0..seen.len()).filter(has_feed).collect();
    some((0..seen.len()).collect(), MOMENTS).chain(some(fed, MOMENTS / 4)).collect()
}

/// Writes down what the page holds while a scenario runs and faults strike, and compares that with the moments.
async fn is_as_it_was(scenario: &'static str, faults: &[&str], seed: u64) {
    let is_storm = scenario == "storm";
    let options = Options { scenario, pods: 60, rate: 0, seed, bookmark_seconds: 1, ..Options::default() };
    let cluster = Cluster::start(&options).await;
    let mut recorder = Recorder::new();
    recorder.start(cluster.port(), &["po", "deploy", "rs", "no", "ev"]);
    let proxy = KubectlProxy::start_plain(cluster.port()).await;
    with_page(proxy.port(), "#/pods,deployments,replicasets,nodes,events?view=changes", async |page| {
        page.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 1e6, width: 900.0 }));
        page.command(Command::Feed(FeedCommand::Wrong));
        page.reaches("pods", "live", SOON).await;
        page.reaches("events", "live", SOON).await;
        let seen: Rc<RefCell<Vec<Seen>>> = Rc::default();
        let (written, mut next) = (Rc::clone(&seen), 0.0);
        page.watch(move |page, place| {
            let now = place.now();
            if now > next && is_drained(page, place) {
                written.borrow_mut().push((now.ceil(), held(page, place), wrong(page)));
                // On a busy machine this must not be all that is done.
                next = now + (2.0 * (place.now() - now)).max(40.0);
                // What comes next comes after the whole millisecond, at which the address can be.
                place.skip(now.ceil() + 0.1 - now);
            }
        });
        for (number, fault) in [""].iter().chain(faults).enumerate() {
            if !fault.is_empty() {
                cluster.control(fault).await;
            }
            wait_until("things have happened", SOON, async || {
                if is_storm {
                    write_some(&cluster).await;
                }
                let (moments, different, feeds) = {
                    let seen = seen.borrow();
                    let different = seen.windows(2).filter(|two| two[0].1 != two[1].1).count();
                    (seen.len(), different, seen.iter().filter(|one| one.1.1.is_some()).count())
                };
                let is_enough = moments >= MOMENTS / 2 * (number + 1) && different >= 2 * (number + 1);
                // A storm is shown only after it.
                let is_shown = number < faults.len() || feeds > 0 || is_storm;
                if is_enough && !is_shown {
                    // On a busy machine a change always waits to be shown while users write: they pause.
                    cluster.rate(0).await;
                }
                holds(is_enough && is_shown, || format!("{moments} moments, {different} others, {feeds} feeds"))
            })
            .await;
        }
        let of_trouble = ["crashloop", "node-failure"].contains(&scenario);
        wait_until("something is wrong for a while", SOON, async || {
            let (is_there, last) = {
                let seen = seen.borrow();
                let is_there = !of_trouble || steady(&seen).iter().any(|place| !seen[*place].2.is_empty());
                (is_there, seen.last().map(|last| last.2.clone()).unwrap_or_default())
            };
            if !is_there {
                cluster.rate(if last.is_empty() { 20 } else { 0 }).await;
            }
            holds(is_there, || format!("{last:#?}"))
        })
        .await;
        page.watch(|_, _| {});
        recorder.signal("INT");
        assert_eq!(recorder.ended().await, Some(0), "{scenario}: {}", recorder.said());
        is_the_same_saved_again(scenario, &recorder.file());
        let seen = seen.take();
        // The cluster goes on while the page is at another moment.
        cluster.rate(20).await;
        let saved = page.look(|page, _| page.reports().recording(Header::default(), Selected::default()));
        is_the_same_in_a_file_of_a_part(scenario, page, &seen);
        let mut opened = Opened::of(&saved, "#/pods,deployments,replicasets,nodes,events?view=changes");
        opened.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 1e6, width: 900.0 }));
        opened.command(Command::Feed(FeedCommand::Wrong));
        let at = |number: usize| seen[seen.len() * number / 6].0;
        let pairs = [(at(0), at(5)), (at(2), at(4)), (at(3), at(5))];
        // In a storm states and images change several times within a second, at random: with which of them trouble began is
        // shown by what of it came first.
        let steady = if is_storm { Vec::new() } else { steady(&seen) };
        for place in steady.iter().step_by((steady.len() / MOMENTS).max(1)) {
            let (at, _, then) = &seen[*place];
            let title = || page.view(|view| view.feed.wrong.title.clone());
            let before = title();
            page.command(Command::Rewind(RewindCommand::To(*at)));
            wait_until(&format!("{scenario}: what was wrong at {at}"), SOON, async || {
                let (now, of) = (page.look(|page, _| wrong(page)), title());
                holds(of != before && are_alike(&now, then), || format!("{of}: {now:#?}\nand was\n{then:#?}"))
            })
            .await;
            opened.command(Command::Rewind(RewindCommand::To(*at)));
            let now = opened.look(|page, _| wrong(page));
            assert!(are_alike(&now, then), "{scenario}, opened: what was wrong at {at}: {now:#?}\nand was\n{then:#?}");
        }
        let mut feeds = 0;
        for place in compared(&seen) {
            let (at, then, _) = seen[place].clone();
            opened.command(Command::Rewind(RewindCommand::To(at)));
            let now = opened.look(held);
            for ((kind, then), now) in KINDS.iter().zip(&then.0).zip(now.0) {
                assert_eq!(now.0, then.0, "{scenario}, opened: the digest of {kind} at {at}");
                assert_eq!(now.1, then.1, "{scenario}, opened: the rows of {kind} at {at}");
            }
            if let Some(then) = &then.1 {
                // What came of a gap is shown a frame or more after the gap has ended: a file does not say which frame.
                // And what was received twice is in it once, so that the numbers are others.
                let plain = |rows: Vec<FeedRow>| -> Vec<FeedRow> {
                    let rows = rows.into_iter().filter(|row| row.what != "notice");
                    rows.map(|row| FeedRow { seq: None, ..row }).collect()
                };
                let (now, then) = (plain(opened.look(|page, _| feed(page))), &plain(then.clone()));
                assert_eq!(listed(&now), listed(then), "{scenario}, opened: the feed at {at}");
                let different = now.iter().zip(then).find(|(now, then)| now != then);
                assert!(different.is_none(), "{scenario}, opened: the feed at {at}: {different:#?}");
            }
            page.command(Command::Rewind(RewindCommand::To(at)));
            let now = page.look(|page, place| held(page, place));
            for ((kind, then), now) in KINDS.iter().zip(then.0).zip(now.0) {
                assert_eq!(now.0, then.0, "{scenario}: the digest of {kind} at {at}");
                assert_eq!(now.1, then.1, "{scenario}: the rows of {kind} at {at}");
            }
            let Some(then) = then.1 else { continue };
            feeds += 1;
            wait_until(&format!("{scenario}: the feed is that of {at}"), SOON, async || {
                let now = page.look(|page, _| feed(page));
                let same = now.iter().zip(&then).take_while(|(now, then)| now == then).count();
                let different = now.get(same).zip(then.get(same));
                holds(now == then, || {
                    format!("{}\nand was\n{}\nin row {same} {different:#?}", listed(&now), listed(&then))
                })
            })
            .await;
        }
        assert!(feeds > 0 || is_storm, "{scenario}: no feed was compared");
        page.command(Command::Rewind(RewindCommand::Live));
        opened.command(Command::Rewind(RewindCommand::Live));
        for (from, to) in pairs {
            let compare = || Command::Span(SpanCommand::Compare(from, to));
            page.command(compare());
            opened.command(compare());
            let now = opened.look(differences);
            wait_until(&format!("{scenario}: what differs between {from} and {to}"), SOON, async || {
                let then = page.look(|page, place| differences(page, place));
                holds(then.is_some() && then == now, || format!("{then:#?}\nand opened\n{now:#?}"))
            })
            .await;
        }
        page.is_balanced().await;
    })
    .await;
}
