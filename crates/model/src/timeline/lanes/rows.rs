//! Which lanes and groups stand in which rows.
//!
//! The order follows the changes every two seconds, as it does without groups, and what stays in sight stays in its
//! place. While the pointer is over the rows, none of them moves.

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::object::KeyRef;
use kubechurn_client::api::sort::sort_by;
use kubechurn_columns::kinds::Kind;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::kind_id::KindId;
use crate::timeline::lanes::ask::Ask;
use crate::timeline::lanes::choice::{GroupId, LaneChoice, LaneOrder};
use crate::timeline::lanes::index::Index;
use crate::timeline::lanes::index::entry::{Anchor, Entry, NONE, ROOT};
use crate::timeline::lanes::scan::Scan;
use crate::timeline::scale::Window;
use crate::timeline::store::mark::LaneOf;
use crate::timeline::store::marks::{Marks, made};

/// How long an order stands, in milliseconds; and how long at least, where rows are empty.
const SETTLE: f64 = 2_000.0;
const SETTLE_EMPTY: f64 = 250.0;

/// How many rows can be scrolled through.
const MOST_ROWS: usize = 5_000;

/// A row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Row {
    pub(crate) id: GroupId,
    parent: u32,
    pub(crate) depth: u8,
    /// Whether it, or what it is in, is kept on top.
    pub(crate) kept: bool,
    /// Whether there is something below it.
    pub(crate) has_members: bool,
}

/// What is looked at to arrange rows.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) marks: &'a [&'a Marks],
    pub(crate) kinds: &'a [&'static Kind],
    pub(crate) index: &'a Index,
    pub(crate) scan: &'a Scan,
    pub(crate) choice: &'a LaneChoice,
}

/// The rows.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    rows: Vec<Row>,
    /// How many of the first rows stay when the others are scrolled.
    fixed: usize,
    /// How many lanes and groups that stand at the left are active.
    active: usize,
    asked: Option<(f64, Window)>,
    selected: Option<LaneOf>,
    seen: u64,
    must: bool,
}

impl Rows {
    pub(crate) fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<Row>()
    }

    /// Has the rows arranged anew with the next scene, even if the pointer is over them.
    pub(crate) fn must_settle(&mut self) {
        self.must = true;
    }

    pub(crate) fn active(&self) -> usize {
        self.active
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The rows on the screen.
    pub(crate) fn visible(&self, ask: &Ask) -> impl Iterator<Item = Row> {
        let fixed = self.fixed.min(ask.rows / 2);
        let rest = self.rows.iter().skip(fixed + ask.scroll);
        self.rows.iter().take(fixed).chain(rest).take(ask.rows).copied()
    }

    /// Whether rows are to be arranged anew.
    pub(crate) fn is_due(&self, known: Known<'_>, ask: &Ask) -> bool {
        let Some((then, window)) = self.asked.filter(|_| !self.must) else { return true };
        if ask.hold {
            return false;
        }
        let passed = ask.now - then;
        let moved = ask.window.to - window.to;
        let least = (ask.window.span() / 1_000.0).min(1.0);
        let is_other = (ask.window.span() - window.span()).abs() > least || ask.selected != self.selected;
        let jumped = moved.abs() > least && (moved - passed).abs() > least;
        let is_short = self.rows.len() < ask.scroll + ask.rows;
        let news = self.seen != made(known.marks);
        is_other
            || jumped
            || (passed >= SETTLE && (news || moved > 0.0))
            || (passed >= SETTLE_EMPTY && news && is_short)
    }

    /// Arranges the rows. `is_past` says that the window does not reach the newest marks.
    pub(crate) fn settle(&mut self, known: Known<'_>, ask: &Ask, is_past: bool) {
        let Known { marks, kinds, index, choice, .. } = known;
        let mut before: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for row in &self.rows {
            if let Some((at, entry)) = index.tree.of(row.id).filter(|(_, entry)| entry.parent == row.parent) {
                before.entry(entry.parent).or_default().push(at);
            }
        }
        let stays = if ask.hold { before.values().flatten().copied().collect() } else { FxHashSet::default() };
        let (kept, shown) = (FxHashSet::default(), FxHashMap::default());
        let mut next = Next {
            known,
            ask,
            is_past,
            before,
            stays,
            kept,
            passing: passing(known),
            shown,
            worst: FxHashMap::default(),
            rows: Vec::new(),
        };
        let kept: Vec<u32> = choice.kept.iter().filter_map(|words| find(words, marks, kinds, index)).collect();
        next.kept.extend(&kept);
        next.find_worst();
        next.find_shown();
        for at in &kept {
            next.add(*at, 0, true);
            next.below(*at, 1, true);
        }
        self.fixed = next.rows.len();
        self.active = self.fixed + next.below(ROOT, 0, false);
        let mut rows = next.rows;
        let selected = ask.selected.and_then(|lane| index.of_lane(lane));
        if let Some(at) = selected.filter(|at| rows.iter().all(|row| row.id != index.tree.id(*at))) {
            let parent = index.tree.get(at).map_or(NONE, |entry| entry.parent);
            rows.insert(0, Row { id: index.tree.id(at), parent, depth: 0, kept: false, has_members: false });
            self.fixed += 1;
        }
        self.rows = rows;
        (self.asked, self.selected, self.must) = (Some((ask.now, ask.window)), ask.selected, false);
        self.seen = made(marks);
    }
}

/// The entry that has these words, if it is there: `deployments/shop/web`, `node:n-1`. An owner of whom no lane is
/// known is a group named `Deployment:shop/web`, and is found by either.
pub(crate) fn find(words: &str, marks: &[&Marks], kinds: &[&'static Kind], index: &Index) -> Option<u32> {
    let entry = || lane_of(words, marks, kinds).and_then(|lane| index.of_lane(lane));
    let (kind, key) = words.split_once('/').unwrap_or((words, ""));
    if let Some(kind) = kinds.iter().find(|own| own.name == kind) {
        return entry().or_else(|| index.tree.of_words(kind.resource.kind, key));
    }
    let (word, key) = words.split_once(':')?;
    index.tree.of_words(word, key).or_else(entry)
}

/// The lane of the object that has these words: `deployments/shop/web`, or `Deployment:shop/web`.
pub(crate) fn lane_of(words: &str, marks: &[&Marks], kinds: &[&'static Kind]) -> Option<LaneOf> {
    let numbered = |is_it: &dyn Fn(&Kind) -> bool| (0..).map(KindId).zip(kinds).find(|(_, own)| is_it(own));
    let (kind, key) = words.split_once('/').unwrap_or((words, ""));
    let (number, key) = match numbered(&|own| own.name == kind) {
        Some((number, _)) => (number, key),
        None => {
            let (word, key) = words.split_once(':')?;
            (numbered(&|own| own.resource.kind == word)?.0, key)
        }
    };
    let (namespace, name) = key.split_once('/').unwrap_or(("", key));
    let lane = marks.get(number.index())?.lanes.find(&KeyRef { namespace, name })?;
    Some(LaneOf { kind: number, lane })
}

/// What the filter of the page lets through, with all that is around it; `None` where it hides no lane.
fn passing(Known { marks, index, .. }: Known<'_>) -> Option<FxHashSet<u32>> {
    let (mut passing, mut hides) = (FxHashSet::default(), false);
    for (at, entry) in index.tree.all() {
        match index.tree.lane(marks, entry) {
            Some((_, lane)) if lane.hidden => hides = true,
            Some(_) => passing.extend([at].into_iter().chain(index.tree.around(at))),
            None => {}
        }
    }
    hides.then_some(passing)
}

/// Rows that are being arranged.
struct Next<'a> {
    known: Known<'a>,
    ask: &'a Ask,
    is_past: bool,
    /// The rows below each entry, as they stand.
    before: FxHashMap<u32, Vec<u32>>,
    /// What must stay.
    stays: FxHashSet<u32>,
    kept: FxHashSet<u32>,
    /// What the filter of the page lets through, and what that is in; `None` where it takes nothing away.
    passing: Option<FxHashSet<u32>>,
    /// What is shown below each open entry, with its rank, unless it is kept.
    shown: FxHashMap<u32, Vec<(f64, u32)>>,
    /// The worst tone of each entry of which something fails or waits, with what is below it, if that decides the order.
    worst: FxHashMap<u32, u8>,
    rows: Vec<Row>,
}

impl Next<'_> {
    fn add(&mut self, at: u32, depth: u8, kept: bool) {
        let index = self.known.index;
        let Some(entry) = index.tree.get(at) else { return };
        let (id, parent, has_members) = (index.tree.id(at), entry.parent, entry.members > 0);
        self.rows.push(Row { id, parent, depth, kept, has_members });
    }

    /// Adds what is below an entry, if that is open. Returns how many there are directly below.
    fn below(&mut self, at: u32, depth: u8, kept: bool) -> usize {
        if self.known.index.tree.get(at).is_none_or(|entry| !entry.open && at != ROOT) {
            return 0;
        }
        let (children, count) = self.sorted(at, kept);
        for child in children {
            if self.rows.len() >= MOST_ROWS {
                break;
            }
            self.add(child, depth, kept);
            self.below(child, depth + 1, kept);
        }
        count
    }

    /// When something last happened in the window to an entry, or to what is below it.
    fn last_at(&self, at: u32, entry: &Entry) -> f64 {
        if self.is_past { self.known.scan.of(at).last_at } else { entry.last_at }
    }

    fn is_shown(&self, at: u32, entry: &Entry, kept: bool) -> bool {
        let lane = || self.known.index.tree.lane(self.known.marks, entry);
        let lives = || lane().is_some_and(|(_, lane)| lane.live);
        // The lane may be freed, and the entry not be forgotten yet.
        let is_there = || entry.members > 0 || entry.label.is_some() || lane().is_some();
        let is_wanted = self.last_at(at, entry) >= self.ask.window.from
            || self.stays.contains(&at)
            || (!self.is_past && self.worst.get(&at) == Some(&(Tone::Bad as u8)))
            || (kept && (entry.members > 0 || lives()));
        let passes = kept || self.passing.as_ref().is_none_or(|passing| passing.contains(&at));
        let is_drawn = || entry.label.as_ref().is_some_and(|label| label.anchor == Anchor::Drawn);
        is_wanted && passes && !self.kept.contains(&at) && is_there() && !is_drawn()
    }

    /// What comes first has the lowest rank.
    fn rank(&self, at: u32, entry: &Entry) -> f64 {
        match self.known.choice.order {
            LaneOrder::LastChange | LaneOrder::Worst => -self.last_at(at, entry),
            LaneOrder::FirstChange => entry.first_at,
            LaneOrder::Churn => -(self.known.scan.of(at).frames as f64),
            LaneOrder::Name => 0.0,
        }
    }

    fn find_worst(&mut self) {
        let Known { marks, index, choice, .. } = self.known;
        if choice.order != LaneOrder::Worst {
            return;
        }
        for (at, entry) in index.tree.all().filter(|(_, entry)| entry.lane.is_some()) {
            let tone = index.tone(marks, entry) as u8;
            if tone >= Tone::Wait as u8 {
                for at in std::iter::once(at).chain(index.tree.around(at)) {
                    let worst = self.worst.entry(at).or_default();
                    *worst = tone.max(*worst);
                }
            }
        }
    }

    /// Finds what is shown below each open entry: entries one after the other are read several times as fast as in the
    /// order of a list.
    fn find_shown(&mut self) {
        let index = self.known.index;
        let is_open = |at: u32| at == ROOT || index.tree.get(at).is_some_and(|entry| entry.open);
        let mut shown: FxHashMap<u32, Vec<(f64, u32)>> = FxHashMap::default();
        for (at, entry) in index.tree.all() {
            if entry.parent != NONE && self.is_shown(at, entry, false) && is_open(entry.parent) {
                shown.entry(entry.parent).or_default().push((self.rank(at, entry), at));
            }
        }
        self.shown = shown;
    }

    /// What is shown directly below an entry, in order; and how many there are.
    fn sorted(&self, at: u32, kept: bool) -> (Vec<u32>, usize) {
        let Known { marks, index, choice, .. } = self.known;
        let mut shown: Vec<(f64, u32)> = if kept {
            let shown = index.tree.children(at).filter(|(at, entry)| self.is_shown(*at, entry, kept));
            shown.map(|(at, entry)| (self.rank(at, entry), at)).collect()
        } else {
            self.shown.get(&at).cloned().unwrap_or_default()
        };
        let count = shown.len();
        let name = |at: u32| {
            let entry = index.tree.get(at);
            let label = entry.and_then(|entry| entry.label.as_deref()).map(|label| &label.key);
            let lane = || entry.and_then(|entry| index.tree.lane(marks, entry));
            label.map(|key| (KindId(0), key)).or_else(|| lane().map(|(of, lane)| (of.kind, &lane.key)))
        };
        let compare = |one: &(f64, u32), other: &(f64, u32)| {
            let by_name = || match (name(one.1), name(other.1)) {
                (Some((one_kind, one)), Some((other_kind, other))) => one.cmp(other).then(one_kind.cmp(&other_kind)),
                (one, other) => one.is_some().cmp(&other.is_some()),
            };
            let worst = |at| self.worst.get(at).copied().unwrap_or_default();
            worst(&other.1)
                .cmp(&worst(&one.1))
                .then(one.0.total_cmp(&other.0))
                .then_with(|| if choice.order == LaneOrder::Name { by_name() } else { one.1.cmp(&other.1) })
        };
        if shown.len() > MOST_ROWS {
            shown.select_nth_unstable_by(MOST_ROWS, compare);
            shown.truncate(MOST_ROWS);
        }
        sort_by(&mut shown, compare);
        let sorted: Vec<u32> = shown.into_iter().map(|(_, at)| at).collect();
        let follows = matches!(choice.order, LaneOrder::LastChange | LaneOrder::Churn | LaneOrder::Worst);
        let before = self.before.get(&at).filter(|_| follows || self.ask.hold);
        let top = if self.ask.hold { usize::MAX } else { self.ask.scroll + self.ask.rows };
        let Some(before) = before else { return (sorted, count) };
        if self.ask.hold || self.worst.is_empty() {
            return (in_place(before, &sorted, top), count);
        }
        // What is in a worse state stands above, and among its like it stays where it is.
        let worst = |at: &u32| self.worst.get(at);
        let classes = sorted.chunk_by(|one, other| worst(one) == worst(other)).flat_map(|class| {
            let own: Vec<u32> = before.iter().copied().filter(|at| worst(at) == worst(&class[0])).collect();
            in_place(&own, class, top)
        });
        (classes.collect(), count)
    }
}

/// The first `top` of a list, of which each that was there before stays in its place; and then the rest.
fn in_place(before: &[u32], sorted: &[u32], top: usize) -> Vec<u32> {
    let head: FxHashSet<u32> = sorted.iter().take(top).copied().collect();
    let mut places: Vec<Option<u32>> = before.iter().take(top).map(|at| head.contains(at).then_some(*at)).collect();
    let stays: FxHashSet<u32> = places.iter().flatten().copied().collect();
    let mut hole = 0;
    for at in sorted.iter().filter(|at| !stays.contains(at)) {
        while places.get(hole).is_some_and(Option::is_some) {
            hole += 1;
        }
        match places.get_mut(hole) {
            Some(place) => *place = Some(*at),
            None => places.push(Some(*at)),
        }
    }
    places.into_iter().flatten().collect()
}
