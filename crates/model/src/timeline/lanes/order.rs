//! The order of lanes without groups: the most recently changed ones are on the screen, and do not jump about.
//!
//! The set of visible lanes follows the changes, at most every two seconds, and a lane that stays in the set
//! stays in its row. Sorting strictly would swap busy rows on every frame, and nobody could read them.

use kubechurn_client::api::sort::sort_by;

use crate::kind_id::KindId;
use crate::timeline::lanes::ask::Ask;
use crate::timeline::scale::Window;
use crate::timeline::store::lane::Lane;
use crate::timeline::store::mark::{LaneId, LaneOf, SubjectRef};
use crate::timeline::store::marks::{Marks, made};
use crate::timeline::store::walk::newest_until;

/// How long an order stands, in milliseconds.
const SETTLE: f64 = 2_000.0;

/// How many rows can be scrolled through; what changed longer ago is only counted.
const MOST_ROWS: usize = 5_000;

/// In a window of the past at most so many marks for each lane are walked. Then the lanes are searched instead: about
/// so many marks are walked in the time of one search.
const WALKED: usize = 32;

/// A row: its lane, and the generation of the lane's number, so that a freed lane is not taken for its successor.
type Row = (LaneOf, u32);

/// The rows.
#[derive(Debug, Default)]
pub struct Order {
    rows: Vec<Row>,
    /// Whether the first row is the selected lane's.
    pinned: bool,
    active: usize,
    asked: Option<Ask>,
    /// The generation of the selected lane's number then.
    selected: u32,
    /// How many marks had been made when they were last looked at.
    seen: u64,
    recent: Vec<LaneOf>,
    next: Vec<Option<Row>>,
    stamps: Stamps,
    /// Whether the order is due even while rows are held.
    must: bool,
}

/// Which lanes were noted in the present round.
#[derive(Debug, Default)]
struct Stamps {
    /// Per lane, the round in which it was last noted: those of the first kind, then those of the next.
    rounds: Vec<u32>,
    /// Where each kind's lanes begin.
    begins: Vec<usize>,
    round: u32,
}

impl Stamps {
    /// Makes room for every lane of these kinds, and begins a round.
    fn fit(&mut self, marks: &[&Marks]) {
        self.begins.clear();
        let mut end = 0;
        for own in marks {
            self.begins.push(end);
            end += own.lanes.slots();
        }
        self.rounds.resize(end, 0);
        self.next_round();
    }

    fn next_round(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            // After four billion rounds old stamps would look new.
            self.rounds.fill(0);
            self.round = 1;
        }
    }

    fn stamp(&self, lane: LaneOf) -> Option<usize> {
        Some(self.begins.get(lane.kind.index())? + lane.lane.0 as usize)
    }

    /// Notes a lane. Whether that is news.
    fn note(&mut self, lane: LaneOf) -> bool {
        let stamp = self.stamp(lane).and_then(|at| self.rounds.get_mut(at));
        stamp.is_some_and(|stamp| std::mem::replace(stamp, self.round) != self.round)
    }

    fn is_noted(&self, lane: LaneOf) -> bool {
        self.stamp(lane).and_then(|at| self.rounds.get(at)) == Some(&self.round)
    }
}

/// The lanes of several kinds, each kind's with the newest first, as one sequence with the newest first.
struct Merged<I> {
    lists: Vec<(Option<(f64, LaneOf)>, I)>,
}

impl<I: Iterator<Item = (f64, LaneOf)>> Merged<I> {
    fn of(lists: impl Iterator<Item = I>) -> Merged<I> {
        Merged { lists: lists.map(|mut list| (list.next(), list)).collect() }
    }

    /// Calls `each` for all that is left, in any order.
    fn for_rest(self, mut each: impl FnMut(LaneOf)) {
        for (first, list) in self.lists {
            first.into_iter().chain(list).for_each(|(_, lane)| each(lane));
        }
    }
}

impl<I: Iterator<Item = (f64, LaneOf)>> Iterator for Merged<I> {
    type Item = LaneOf;

    fn next(&mut self) -> Option<LaneOf> {
        if let [(first, list)] = &mut self.lists[..] {
            let (_, lane) = std::mem::replace(first, list.next())?;
            return Some(lane);
        }
        let waiting = self.lists.iter_mut().filter(|(first, _)| first.is_some());
        let time = |first: &Option<(f64, LaneOf)>| first.map_or(f64::NEG_INFINITY, |(at, _)| at);
        let (first, list) = waiting.max_by(|(one, _), (other, _)| time(one).total_cmp(&time(other)))?;
        let lane = first.take().map(|(_, lane)| lane);
        *first = list.next();
        lane
    }
}

impl Order {
    /// Brings the order up to date, if it is due. That costs at most one step for each lane that is active in the
    /// window; in a window of the past, one search for each lane and
    /// [`WALKED`] steps, or one step for each mark in it where that is less.
    pub fn arrange(&mut self, marks: &[&Marks], ask: Ask) {
        let selected = ask.selected.map_or(0, |lane| generation(marks, lane));
        let made = made(marks);
        let due = std::mem::take(&mut self.must) || (!ask.hold && (self.is_due(&ask) || selected != self.selected));
        let filled = self.rows.len() >= ask.scroll + ask.rows || self.seen == made;
        if !due && filled {
            return;
        }
        self.stamps.fit(marks);
        self.collect(marks, ask.window);
        if due {
            self.settle(marks, &ask);
            (self.asked, self.selected) = (Some(ask), selected);
        } else {
            self.fill(marks);
        }
        self.seen = made;
    }

    /// Has the order be made anew with the next scene, even if the pointer is over the rows.
    pub fn must_settle(&mut self) {
        self.must = true;
    }

    fn is_due(&self, ask: &Ask) -> bool {
        let Some(last) = &self.asked else {
            return true;
        };
        let moved = ask.window.to - last.window.to;
        // A window of milliseconds moves by parts of one.
        let least = (ask.window.span() / 1_000.0).min(1.0);
        if (ask.window.span() - last.window.span()).abs() > least || ask.selected != last.selected {
            return true;
        }
        // A window that stands still gets no new marks. In one that follows the time, the order stands for a while.
        let passed = ask.now - last.now;
        moved.abs() > least && (passed >= SETTLE || (moved - passed).abs() > least)
    }

    /// Fills `recent` with the lanes that are active in the window, those that changed last first.
    fn collect(&mut self, marks: &[&Marks], window: Window) {
        self.recent.clear();
        self.active = 0;
        let kinds = || (0..).map(KindId).zip(marks);
        if marks.iter().all(|own| window.to >= own.ring.last_at()) {
            let mut lanes = Merged::of(kinds().map(|(kind, own)| {
                changed_since(own, window.from)
                    .map(move |(lane, Lane { last_at, .. })| (*last_at, LaneOf { kind, lane }))
            }));
            self.recent.extend(lanes.by_ref().take(MOST_ROWS));
            self.active = self.recent.len();
            lanes.for_rest(|_| self.active += 1);
            return;
        }
        self.stamps.next_round();
        let candidates: usize = marks.iter().map(|own| changed_since(own, window.from).count()).sum();
        let mut lanes = Merged::of(kinds().map(|(kind, own)| {
            let is_shown = |lane| own.lanes.get(lane).is_some_and(|lane| !lane.hidden);
            own.ring.range(window.from, window.to).filter_map(move |mark| match mark.subject {
                SubjectRef::Object { lane, .. } if is_shown(lane) => Some((mark.at, LaneOf { kind, lane })),
                _ => None,
            })
        }));
        // The walk ends early where all lanes that may be there are found.
        let mut steps = WALKED * candidates;
        while self.active < candidates
            && let Some(lane) = lanes.next()
        {
            if self.stamps.note(lane) {
                self.active += 1;
                if self.recent.len() < MOST_ROWS {
                    self.recent.push(lane);
                }
            }
            steps -= 1;
            if steps == 0 {
                return self.search(marks, window);
            }
        }
    }

    /// Does the same for a window of the past, by a search in each lane that has changed since the window began.
    fn search(&mut self, marks: &[&Marks], window: Window) {
        self.recent.clear();
        let mut found = Vec::new();
        for (kind, own) in (0..).map(KindId).zip(marks) {
            for (id, lane) in changed_since(own, window.from) {
                let newest = newest_until(&own.ring, lane, window.to).filter(|mark| mark.at >= window.from);
                found.extend(newest.map(|mark| (mark.at, mark.seq, LaneOf { kind, lane: id })));
            }
        }
        sort_by(&mut found, |one, other| other.0.total_cmp(&one.0).then(other.1.cmp(&one.1)));
        self.active = found.len();
        self.recent.extend(found.iter().take(MOST_ROWS).map(|(.., lane)| *lane));
    }

    /// Makes the new order. Rows on the screen whose lanes stay on the screen keep their places.
    fn settle(&mut self, marks: &[&Marks], ask: &Ask) {
        let selected = ask.selected.filter(|lane| lane_of(marks, *lane).is_some());
        self.recent.retain(|id| Some(*id) != selected);
        let on_screen = (ask.scroll + ask.rows).saturating_sub(usize::from(selected.is_some()));
        let top = on_screen.min(self.recent.len());
        self.stamps.next_round();
        for index in 0..top {
            self.stamps.note(self.recent[index]);
        }
        let mut next = std::mem::take(&mut self.next);
        next.clear();
        for row in self.rows.iter().skip(usize::from(self.pinned)).take(top) {
            let stays = generation(marks, row.0) == row.1 && self.stamps.is_noted(row.0);
            next.push(stays.then_some(*row));
        }
        self.stamps.next_round();
        for (id, _) in next.iter().flatten() {
            self.stamps.note(*id);
        }
        let mut hole = 0;
        for index in 0..self.recent.len() {
            let id = self.recent[index];
            if !self.stamps.note(id) {
                continue;
            }
            let row = Some((id, generation(marks, id)));
            while next.get(hole).is_some_and(Option::is_some) {
                hole += 1;
            }
            match next.get_mut(hole) {
                Some(empty) => *empty = row,
                None => next.push(row),
            }
        }
        self.rows.clear();
        self.rows.extend(selected.map(|id| (id, generation(marks, id))));
        self.rows.extend(next.iter().flatten());
        self.pinned = selected.is_some();
        self.next = next;
    }

    /// Appends the lanes that are active and have no row yet.
    fn fill(&mut self, marks: &[&Marks]) {
        self.stamps.next_round();
        for index in 0..self.rows.len() {
            let (lane, number) = self.rows[index];
            if generation(marks, lane) == number {
                self.stamps.note(lane);
            }
        }
        for index in 0..self.recent.len() {
            let id = self.recent[index];
            if self.stamps.note(id) {
                self.rows.push((id, generation(marks, id)));
            }
        }
    }

    /// The rows on the screen; `None` where the lane was freed while its row was held. The selected lane's row
    /// stays when the others are scrolled.
    pub fn visible(&self, marks: &[&Marks], ask: &Ask) -> impl Iterator<Item = Option<LaneOf>> {
        let first = usize::from(self.pinned);
        let rest = self.rows.iter().skip(first + ask.scroll);
        let generations = self.rows.iter().take(first).chain(rest).take(ask.rows);
        generations.map(move |(lane, number)| (generation(marks, *lane) == *number).then_some(*lane))
    }

    /// How many lanes were active in the window when it was last looked at.
    pub fn active(&self) -> usize {
        self.active
    }

    /// How many rows there are to scroll through.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// The bytes that the order takes.
    pub fn bytes(&self) -> usize {
        self.rows.capacity() * size_of::<Row>()
            + self.recent.capacity() * size_of::<LaneOf>()
            + self.next.capacity() * size_of::<Option<Row>>()
            + self.stamps.rounds.capacity() * size_of::<u32>()
    }
}

/// The lanes of a kind that have changed since a time and that the filter shows, most recently changed first.
fn changed_since(own: &Marks, from: f64) -> impl Iterator<Item = (LaneId, &Lane)> {
    own.lanes.marked().take_while(move |(_, lane)| lane.last_at >= from).filter(|(_, lane)| !lane.hidden)
}

fn lane_of<'a>(marks: &[&'a Marks], LaneOf { kind, lane }: LaneOf) -> Option<&'a Lane> {
    marks.get(kind.index())?.lanes.get(lane)
}

fn generation(marks: &[&Marks], LaneOf { kind, lane }: LaneOf) -> u32 {
    marks.get(kind.index()).map_or(0, |own| own.lanes.generation(lane))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::store::mark::MarkType;
    use crate::timeline::store::marks::NewMark;
    use kubechurn_client::api::cell::Tone;
    use kubechurn_client::api::object::{ObjectKey, ResourceVersion};

    #[derive(Default)]
    struct Fixture {
        /// The marks of two kinds. Most tests use the first alone.
        marks: [Marks; 2],
        order: Order,
    }

    impl Fixture {
        /// Marks objects by their names: small letters are of the first kind, capitals of the second.
        fn mark(&mut self, at: f64, names: &str) {
            for name in names.chars() {
                let (key, uid) = (&ObjectKey::new("", &name.to_string()), &"u".into());
                let (mark_type, resource_version, tone) = (MarkType::Updated, &ResourceVersion::default(), Tone::Plain);
                let marks = &mut self.marks[usize::from(name.is_uppercase())];
                marks.push(at, NewMark { key, uid, mark_type, resource_version, folded: 1, tone });
            }
        }

        fn find(&self, name: &str) -> Option<LaneOf> {
            let lane = self.marks[0].lanes.find(&ObjectKey::new("", name))?;
            Some(LaneOf { kind: KindId(0), lane })
        }

        fn rows(&mut self, ask: Ask) -> String {
            let [one, two] = &self.marks;
            let marks = [one, two];
            self.order.arrange(&marks, ask);
            let name = |lane: Option<LaneOf>| {
                lane.and_then(|lane| lane_of(&marks, lane)).map_or("-".into(), |lane| lane.key.name.to_string())
            };
            self.order.visible(&marks, &ask).map(name).collect()
        }
    }

    fn ask(now: f64) -> Ask {
        Ask { now, window: Window { from: now - 60_000.0, to: now }, rows: 3, scroll: 0, hold: false, selected: None }
    }

    #[test]
    fn the_most_recently_changed_come_first_and_then_keep_their_rows() {
        let mut fixture = Fixture::default();
        fixture.mark(100_000.0, "abcde");
        assert_eq!(fixture.rows(ask(100_001.0)), "edc");
        fixture.mark(100_100.0, "c");
        assert_eq!(fixture.rows(ask(100_101.0)), "edc", "an order stands for a while");
        fixture.mark(100_200.0, "ad");
        assert_eq!(fixture.rows(ask(102_500.0)), "adc", "`e` makes room for `a`, the others stay");
        assert_eq!(fixture.rows(Ask { scroll: 2, ..ask(102_600.0) }), "ceb");
    }

    #[test]
    fn nothing_moves_while_held_but_empty_rows_fill() {
        let mut fixture = Fixture::default();
        fixture.mark(100_000.0, "ab");
        assert_eq!(fixture.rows(ask(100_001.0)), "ba");
        fixture.mark(200_000.0, "cdea");
        let held = Ask { hold: true, ..ask(200_001.0) };
        let rows = fixture.rows(held);
        assert!(rows.starts_with("ba") && rows.len() == 3, "{rows}");
        fixture.mark(300_000.0, "xyz");
        assert_eq!(fixture.rows(Ask { hold: true, ..ask(300_001.0) }), rows);
        assert_eq!(fixture.rows(ask(300_002.0)), "zyx");
    }

    #[test]
    fn the_selected_lane_comes_first_even_if_it_is_quiet() {
        let mut fixture = Fixture::default();
        fixture.mark(1_000.0, "q");
        fixture.mark(100_000.0, "abcde");
        let selected = fixture.find("q");
        assert_eq!(fixture.rows(Ask { selected, ..ask(100_001.0) }), "qed");
        assert_eq!(fixture.rows(Ask { selected, scroll: 2, ..ask(100_002.0) }), "qcb");
        assert_eq!(fixture.rows(ask(100_003.0)), "edc");
    }

    #[test]
    fn a_lane_without_marks_comes_first_and_hides_no_other() {
        let mut fixture = Fixture::default();
        fixture.mark(100_000.0, "abc");
        fixture.marks[0].attend(&ObjectKey::new("", "q"), &"u".into(), Tone::Plain);
        let selected = fixture.find("q");
        assert_eq!(fixture.rows(Ask { selected, ..ask(100_001.0) }), "qcb");
        assert_eq!(fixture.rows(ask(100_002.0)), "cba");
    }

    #[test]
    fn a_window_of_the_past_shows_who_changed_then() {
        let mut fixture = Fixture::default();
        fixture.mark(1_000.0, "abc");
        fixture.mark(2_000.0, "b");
        fixture.mark(100_000.0, "xya");
        let window = Window { from: 500.0, to: 3_000.0 };
        assert_eq!(fixture.rows(Ask { window, ..ask(100_001.0) }), "bca");
        assert_eq!(fixture.order.active(), 3);
    }

    #[test]
    fn lanes_of_several_kinds_stand_among_each_other_by_their_last_change() {
        let mut fixture = Fixture::default();
        for (at, names) in [(1_000.0, "aX"), (2_000.0, "b"), (3_000.0, "YZ"), (4_000.0, "a")] {
            fixture.mark(at, names);
        }
        assert_eq!(fixture.rows(Ask { rows: 9, ..ask(4_001.0) }), "aZYbX");
        fixture.mark(5_000.0, "X");
        // The first kind has more lanes than before, so that the stamps of the second are at other places.
        fixture.mark(5_500.0, "cdefgh");
        assert_eq!(fixture.rows(Ask { rows: 9, ..ask(7_000.0) }), "aZhgXfedc", "those that stay keep their rows");
        assert_eq!(fixture.order.active(), 11);
        let window = Window { from: 1_500.0, to: 3_500.0 };
        assert_eq!(fixture.rows(Ask { rows: 9, window, ..ask(7_001.0) }), "YZb", "in a window of the past, too");
        assert_eq!(fixture.order.active(), 3);
    }
}
