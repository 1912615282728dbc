//! Which lanes are on the screen, and in which rows: the most recently changed ones, without jumping about.
//!
//! The set of visible lanes follows the changes, at most every two seconds, and a lane that stays in the set
//! stays in its row. Sorting strictly would swap busy rows on every frame, and nobody could read them.

use crate::timeline::lanes::Lanes;
use crate::timeline::mark::LaneId;
use crate::timeline::mark::Subject;
use crate::timeline::ring::Ring;
use crate::timeline::scale::Window;

/// How long an order stands, in milliseconds.
const SETTLE: f64 = 2_000.0;

/// How many rows can be scrolled through; what changed longer ago is only counted.
const MOST_ROWS: usize = 5_000;

/// What is asked of [`Order::arrange`].
#[derive(Clone, Copy, Debug)]
pub struct Ask {
    /// The time.
    pub now: f64,
    /// The time on the screen.
    pub window: Window,
    /// How many rows fit.
    pub rows: usize,
    /// How many rows are scrolled past.
    pub scroll: usize,
    /// Whether every row must stay where it is; only empty rows may be filled.
    pub hold: bool,
    /// The lane that comes first, changed or not.
    pub selected: Option<LaneId>,
}

/// The rows.
#[derive(Debug, Default)]
pub struct Order {
    /// With the generation of each number, so that a freed lane is not taken for its successor.
    rows: Vec<(LaneId, u32)>,
    /// Whether the first row is the selected lane's.
    pinned: bool,
    active: usize,
    asked: Option<Ask>,
    /// The generation of the selected lane's number then.
    selected: u32,
    /// The sequence number after the newest mark that was looked at.
    seen: u64,
    recent: Vec<LaneId>,
    next: Vec<Option<(LaneId, u32)>>,
    /// Per lane, the round in which it was last noted.
    stamps: Vec<u32>,
    round: u32,
}

impl Order {
    /// Brings the order up to date, unless it may still stand. Costs at most one step per lane that is active in
    /// the window; in a window of the past, one step per mark in it.
    pub fn arrange(&mut self, lanes: &Lanes, ring: &Ring, ask: Ask) {
        let selected = ask.selected.map_or(0, |id| lanes.generation(id));
        let due = !ask.hold && (self.is_due(&ask) || selected != self.selected);
        let filled = self.rows.len() >= ask.scroll + ask.rows || self.seen == ring.next_seq();
        if !due && filled {
            return;
        }
        self.stamps.resize(lanes.slots(), 0);
        self.collect(lanes, ring, ask.window);
        if due {
            self.settle(lanes, &ask);
            (self.asked, self.selected) = (Some(ask), selected);
        } else {
            self.fill(lanes);
        }
        self.seen = ring.next_seq();
    }

    fn is_due(&self, ask: &Ask) -> bool {
        let Some(last) = &self.asked else {
            return true;
        };
        let moved = ask.window.to - last.window.to;
        if (ask.window.span() - last.window.span()).abs() > 1.0 || ask.selected != last.selected {
            return true;
        }
        // A window that stands still gets no new marks; one that goes with the time waits for its turn.
        let passed = ask.now - last.now;
        moved.abs() > 1.0 && (passed >= SETTLE || (moved - passed).abs() > 1.0)
    }

    fn note(&mut self, id: LaneId) -> bool {
        match self.stamps.get_mut(id.0 as usize) {
            Some(stamp) => std::mem::replace(stamp, self.round) != self.round,
            None => false,
        }
    }

    fn is_noted(&self, id: LaneId) -> bool {
        self.stamps.get(id.0 as usize) == Some(&self.round)
    }

    fn next_round(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            // After four billion rounds old stamps would look new.
            self.stamps.fill(0);
            self.round = 1;
        }
    }

    /// Fills `recent` with the lanes active in the window, most recently changed first.
    fn collect(&mut self, lanes: &Lanes, ring: &Ring, window: Window) {
        self.recent.clear();
        self.active = 0;
        if window.to >= ring.last_at() {
            // A lane that was recalled has no time yet.
            let marked = lanes.newest_first().filter(|(_, lane)| lane.marks > 0);
            for (id, _) in marked.take_while(|(_, lane)| lane.last_at >= window.from) {
                self.active += 1;
                if self.recent.len() < MOST_ROWS {
                    self.recent.push(id);
                }
            }
            return;
        }
        self.next_round();
        for mark in ring.range(window.from, window.to) {
            if let Subject::Object { lane, .. } = mark.subject
                && self.note(lane)
            {
                self.active += 1;
                if self.recent.len() < MOST_ROWS {
                    self.recent.push(lane);
                }
            }
        }
    }

    /// Makes the new order: of the rows on the screen, those that stay in the set keep their places.
    fn settle(&mut self, lanes: &Lanes, ask: &Ask) {
        let selected = ask.selected.filter(|id| lanes.get(*id).is_some());
        self.recent.retain(|id| Some(*id) != selected);
        let on_screen = (ask.scroll + ask.rows).saturating_sub(usize::from(selected.is_some()));
        let top = on_screen.min(self.recent.len());
        self.next_round();
        for index in 0..top {
            self.note(self.recent[index]);
        }
        let mut next = std::mem::take(&mut self.next);
        next.clear();
        for row in self.rows.iter().skip(usize::from(self.pinned)).take(top) {
            let stays = lanes.generation(row.0) == row.1 && self.is_noted(row.0);
            next.push(stays.then_some(*row));
        }
        self.next_round();
        for (id, _) in next.iter().flatten() {
            self.note(*id);
        }
        let mut hole = 0;
        for index in 0..self.recent.len() {
            let id = self.recent[index];
            if !self.note(id) {
                continue;
            }
            let row = Some((id, lanes.generation(id)));
            while next.get(hole).is_some_and(Option::is_some) {
                hole += 1;
            }
            match next.get_mut(hole) {
                Some(empty) => *empty = row,
                None => next.push(row),
            }
        }
        self.rows.clear();
        self.rows.extend(selected.map(|id| (id, lanes.generation(id))));
        self.rows.extend(next.iter().flatten());
        self.pinned = selected.is_some();
        self.next = next;
    }

    /// Appends what is active and has no row yet.
    fn fill(&mut self, lanes: &Lanes) {
        self.next_round();
        for index in 0..self.rows.len() {
            let (id, generation) = self.rows[index];
            if lanes.generation(id) == generation {
                self.note(id);
            }
        }
        for index in 0..self.recent.len() {
            let id = self.recent[index];
            if self.note(id) {
                self.rows.push((id, lanes.generation(id)));
            }
        }
    }

    /// The rows on the screen; `None` where the lane was freed while its row was held. The selected lane's row
    /// stays when the others are scrolled.
    pub fn visible(&self, lanes: &Lanes, ask: &Ask) -> impl Iterator<Item = Option<LaneId>> {
        let first = usize::from(self.pinned);
        let rest = self.rows.iter().skip(first + ask.scroll);
        let generations = self.rows.iter().take(first).chain(rest).take(ask.rows);
        generations.map(move |(id, generation)| (lanes.generation(*id) == *generation).then_some(*id))
    }

    /// How many lanes were active in the window when it was last looked at.
    pub fn active(&self) -> usize {
        self.active
    }

    /// How many rows there are to scroll through.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Its size.
    pub fn bytes(&self) -> usize {
        (self.rows.capacity() + self.recent.capacity() + self.next.capacity()) * 8 + self.stamps.capacity() * 4
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind_id::KindId;
    use crate::timeline::lanes::Change;
    use crate::timeline::mark::MarkType;
    use kubechurn_client::api::cell::Tone;
    use kubechurn_client::api::object::{ObjectKey, ResourceVersion};

    struct Fixture {
        lanes: Lanes,
        ring: Ring,
        order: Order,
    }

    impl Fixture {
        fn new() -> Fixture {
            Fixture { lanes: Lanes::default(), ring: Ring::new(1 << 20), order: Order::default() }
        }

        fn mark(&mut self, at: f64, names: &str) {
            for name in names.chars() {
                let key = ObjectKey::new("", &name.to_string());
                let change = Change { kind: KindId::ONLY, key: &key, uid: &"u".into(), mark_type: MarkType::Updated };
                let touch = self.lanes.touch(change, self.ring.next_seq(), at);
                let resource_version = ResourceVersion::default();
                let subject = Subject::Object { lane: touch.lane, life: touch.life, resource_version, folded: 1 };
                self.ring.push(at, MarkType::Updated, Tone::Plain, touch.before, subject);
            }
        }

        fn rows(&mut self, ask: Ask) -> String {
            self.order.arrange(&self.lanes, &self.ring, ask);
            let name = |id: Option<LaneId>| {
                id.and_then(|id| self.lanes.get(id)).map_or("-".into(), |l| l.key.name.to_string())
            };
            self.order.visible(&self.lanes, &ask).map(name).collect()
        }
    }

    fn ask(now: f64) -> Ask {
        Ask { now, window: Window { from: now - 60_000.0, to: now }, rows: 3, scroll: 0, hold: false, selected: None }
    }

    #[test]
    fn the_most_recently_changed_come_first_and_then_keep_their_rows() {
        let mut fixture = Fixture::new();
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
        let mut fixture = Fixture::new();
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
        let mut fixture = Fixture::new();
        fixture.mark(1_000.0, "q");
        fixture.mark(100_000.0, "abcde");
        let selected = fixture.lanes.find(KindId::ONLY, &ObjectKey::new("", "q"));
        assert_eq!(fixture.rows(Ask { selected, ..ask(100_001.0) }), "qed");
        assert_eq!(fixture.rows(Ask { selected, scroll: 2, ..ask(100_002.0) }), "qcb");
        assert_eq!(fixture.rows(ask(100_003.0)), "edc");
    }

    #[test]
    fn a_lane_without_marks_comes_first_and_hides_no_other() {
        let mut fixture = Fixture::new();
        fixture.mark(100_000.0, "abc");
        let selected = fixture.lanes.attend((KindId::ONLY, &ObjectKey::new("", "q")), &"u".into(), Tone::Plain);
        assert_eq!(fixture.rows(Ask { selected: Some(selected), ..ask(100_001.0) }), "qcb");
        assert_eq!(fixture.rows(ask(100_002.0)), "cba");
    }

    #[test]
    fn a_window_of_the_past_shows_who_changed_then() {
        let mut fixture = Fixture::new();
        fixture.mark(1_000.0, "abc");
        fixture.mark(2_000.0, "b");
        fixture.mark(100_000.0, "xya");
        let window = Window { from: 500.0, to: 3_000.0 };
        assert_eq!(fixture.rows(Ask { window, ..ask(100_001.0) }), "bca");
        assert_eq!(fixture.order.active(), 3);
    }
}
