//! Fills a scene with the rows of groups.

use kubechurn_client::api::object::ObjectKey;

use crate::kind_id::KindId;
use crate::timeline::Chart;
use crate::timeline::draw::{RowStart, Scratch};
use crate::timeline::draw_lane::{add_fold, fill_lane, fill_states};
use crate::timeline::events::fill_events;
use crate::timeline::fold::{Spot, fold};
use crate::timeline::groups::index::{Entry, Index};
use crate::timeline::groups::rows::{Known, Row, lane_of};
use crate::timeline::groups::{GroupId, GroupRow, Groups, LaneOrder};
use crate::timeline::mark::{Counts, LaneId, LaneOf, MarkType};
use crate::timeline::marks::Marks;
use crate::timeline::order::Ask;
use crate::timeline::scale::Window;
use crate::timeline::scene::{Glyph, LaneRow, Scene};

/// The lane of a row that has none.
const NO_LANE: LaneOf = LaneOf { kind: KindId(u8::MAX), lane: LaneId(u32::MAX) };

/// How often rows are arranged while lanes are being found, in milliseconds.
const OFTEN: f64 = 200.0;

impl Groups {
    /// The owners in sight whose lanes were freed: their names are gone with them.
    fn freed_owners(&self, marks: &[&Marks], ask: &Ask) -> Vec<LaneOf> {
        let Groups { index, rows, .. } = self;
        let is_freed =
            |entry: &&Entry| entry.members > 0 && entry.label.is_none() && index.lane(marks, entry).is_none();
        let entries = rows.visible(ask).filter_map(|row| index.of(row.id)).map(|(_, entry)| entry);
        entries.filter(is_freed).filter_map(|entry| Some(entry.lane?.0)).collect()
    }

    /// Has what stands below an owner whose lane was freed find another place.
    fn forget_owners(&mut self, marks: &[&Marks], ask: &Ask) {
        for lane in self.freed_owners(marks, ask) {
            self.index.forget(lane);
            self.rows.must_settle();
        }
    }

    /// Finds what stands in which row.
    fn arrange(&mut self, marks: &[&Marks], ask: &Ask) {
        if !self.index.is_by_manager() {
            self.forget_owners(marks, ask);
        }
        self.is_finding = self.index.look(marks, &self.kinds, ask.now);
        self.is_behind = self.is_finding;
        let newest = marks.iter().map(|own| own.ring.last_at()).fold(f64::NEG_INFINITY, f64::max);
        let is_past = ask.window.to < newest;
        let needs_scan = is_past || self.choice.order == LaneOrder::Churn;
        let known = Known { marks, kinds: &self.kinds, index: &self.index, scan: &self.scan, choice: &self.choice };
        let is_due = self.rows.is_due(known, ask) || (self.is_finding && !ask.hold);
        let to = ask.window.to.min(newest.max(ask.window.from));
        let wanted = Window { to, ..ask.window };
        if needs_scan && (is_due || (is_past && self.scan.window() != Some(wanted))) {
            self.scan.begin(wanted);
        }
        let is_looking = needs_scan && self.scan.go_on(marks, &self.index);
        self.is_behind |= is_looking;
        // While lanes are being found or looked at, rows are arranged now and then, and once more at the end.
        let is_soon = self.is_behind && (0.0..OFTEN).contains(&(ask.now - self.settled)) && self.rows.len() > 0;
        if is_due && is_soon {
            self.rows.must_settle();
        } else if is_due {
            self.settled = ask.now;
            if self.index.is_by_manager() {
                let kept = self.choice.kept.iter().filter_map(|words| lane_of(words, marks, &self.kinds));
                let whole: Vec<LaneOf> = kept.chain(ask.selected).collect();
                self.index.stand_whole(marks, &whole);
            }
            self.open_chosen(marks);
            let known = Known { marks, kinds: &self.kinds, index: &self.index, scan: &self.scan, choice: &self.choice };
            self.rows.settle(known, ask, is_past);
            // One that has come in sight only now finds its place with the next scene.
            self.is_behind |= !self.index.is_by_manager() && !self.freed_owners(marks, ask).is_empty();
            if self.is_behind {
                self.rows.must_settle();
            }
        }
    }

    fn is_closed(row: &Row, entry: &Entry) -> bool {
        row.has_members && !entry.open
    }

    /// Whether the marks of a row are counted here, because they are not those of one lane.
    fn is_counted(&self, row: &Row, (at, entry): (u32, &Entry)) -> bool {
        Groups::is_closed(row, entry) || self.index.is_part(at)
    }

    /// The name of a row: without what stands above it already.
    fn name(entry: &Entry, index: &Index, marks: &[&Marks], key: &ObjectKey, depth: u8) -> String {
        // The name of a manager says nothing about the names of what it wrote.
        if depth == 0 || index.is_by_manager() {
            return key.to_string();
        }
        let parent = index.get(entry.parent);
        let parent_key = parent.and_then(|parent| {
            let lane = index.lane(marks, parent).map(|(_, lane)| &lane.key);
            lane.or_else(|| parent.label.as_deref().map(|label| &label.key))
        });
        let is_same_place =
            parent_key.is_some_and(|parent| parent.namespace == key.namespace || *parent.name == *key.namespace);
        let rest =
            parent_key.and_then(|parent| key.name.strip_prefix(&*parent.name)).filter(|rest| rest.starts_with('-'));
        match rest {
            Some(rest) if rest.len() > 1 && is_same_place => format!("…{rest}"),
            _ if is_same_place => key.name.to_string(),
            _ => key.to_string(),
        }
    }
}

impl Chart {
    /// Fills the scene with the rows of groups and lanes.
    pub(crate) fn fill_groups(
        &mut self,
        marks: &[&Marks],
        ask: &Ask,
        hovered: Option<usize>,
        scene: &mut Scene,
        scratch: &mut Scratch,
    ) {
        let groups = &mut self.groups;
        groups.arrange(marks, ask);
        let rows: Vec<Row> = groups.rows.visible(ask).collect();
        let is_counted = |row: &&Row| groups.index.of(row.id).is_some_and(|known| groups.is_counted(row, known));
        let counted = rows.iter().filter(is_counted);
        let counted: Vec<(GroupId, u32)> =
            counted.filter_map(|row| Some((row.id, groups.index.of(row.id)?.1.revision))).collect();
        // While lanes are being found, counting would begin anew with each scene. Marks whose managers are being found stay
        // where they are.
        let counts = !groups.is_finding || groups.index.is_by_manager();
        groups.is_behind |= counts && groups.marks.count(&counted, &scene.scale, (marks, &groups.index));
        scene.active = groups.rows.active();
        scene.scrollable = groups.rows.len();
        scene.lanes_by = groups.choice.by;
        for (number, row) in rows.iter().enumerate() {
            let y = scene.layout.row_y(number);
            let Some((row, of)) = self.row(marks, row, ask, (y, hovered == Some(number)), scene) else {
                scene.lanes.push(None);
                continue;
            };
            let id = row.group.as_ref().map(|group| group.id);
            let entry = id.and_then(|id| self.groups.index.of(id));
            let is_counted = row.group.as_ref().is_some_and(|group| group.open == Some(false))
                || entry.is_some_and(|(at, _)| self.groups.index.is_part(at));
            scene.lanes.push(Some(row));
            let first = RowStart::of(scene, scratch);
            match (id, of) {
                (Some(id), of) if is_counted => {
                    let own = of.and_then(|of| Some((of, *marks.get(of.kind.index())?)));
                    if let Some((of, own)) = own {
                        fill_states(own, (of, y), scene, scratch);
                    }
                    self.fill_closed((id, y), scene, scratch);
                }
                (_, Some(of)) => {
                    if let Some(own) = marks.get(of.kind.index()) {
                        fill_lane(own, (of, y), scene, scratch);
                        if let Some(lane) = own.lanes.get(of.lane).filter(|_| marks.len() > 1) {
                            fill_events(marks, (own.kind, lane), y, scene, &mut scratch.found);
                        }
                    }
                }
                _ => {}
            }
            first.fill_labels(scene, scratch);
        }
    }

    /// What stands beside a row, and its lane, if it is one.
    fn row(
        &self,
        marks: &[&Marks],
        row: &Row,
        ask: &Ask,
        (y, hovered): (f64, bool),
        scene: &Scene,
    ) -> Option<(LaneRow, Option<LaneOf>)> {
        let index = &self.groups.index;
        let (at, entry) = index.of(row.id)?;
        let found = index.lane(marks, entry);
        let label = entry.label.as_deref();
        let key = found.map(|(_, lane)| &lane.key).or_else(|| label.map(|label| &label.key))?;
        let of = found.map(|(of, _)| of);
        let is_counted = self.groups.is_counted(row, (at, entry));
        let LaneOf { kind, lane } = of.unwrap_or(NO_LANE);
        let names = self.names.get(kind.index());
        let group = GroupRow {
            id: row.id,
            depth: row.depth,
            open: row.has_members.then_some(entry.open),
            members: entry.members,
            kept: row.kept && row.depth == 0,
            word: label.filter(|_| found.is_none()).map_or_else(Box::default, |label| label.word.clone()),
            long: names.map_or("", |name| name.long),
            name: Groups::name(entry, index, marks, key, row.depth).into(),
            counts: if is_counted { self.groups.marks.counts(row.id, &scene.scale) } else { Counts::default() },
        };
        let own = found.and_then(|(of, lane)| Some((*marks.get(of.kind.index())?, lane)));
        let row = LaneRow {
            y,
            lane,
            kind,
            kind_name: names.map_or("", |name| name.short),
            key: key.clone(),
            word: own.and_then(|(own, lane)| Some(own.words.get(own.state_of(lane)?))).unwrap_or_default(),
            live: found.is_none_or(|(_, lane)| lane.live),
            selected: of.is_some() && of == ask.selected,
            hovered,
            group: Some(Box::new(group)),
        };
        Some((row, of))
    }

    /// Adds the marks of a closed group, or of an object below a manager.
    fn fill_closed(&self, (id, y): (GroupId, f64), scene: &mut Scene, scratch: &mut Scratch) {
        let marks = &self.groups.marks;
        let scale = scene.scale;
        scratch.spots.clear();
        scratch.spots.extend(marks.of(id, &scale).map(|part| Spot::of(part.block, &scale)));
        let delete_of = |spot: &Spot| {
            let mut parts = marks.of(id, &scale);
            let part = parts.find(|part| part.block.first_at == spot.block.first_at && part.delete.is_some())?;
            part.delete.map(|(at, seq, _)| (at, seq))
        };
        fold(&scratch.spots, scale.ms_per_pixel(), |fold| {
            if fold.is_pill() {
                return add_fold(&fold, y, scene, &mut scratch.crosses, delete_of);
            }
            for Spot { x, block, .. } in fold.spots {
                for (mark_type, _) in MarkType::ALL.into_iter().zip(block.counts).filter(|(_, count)| *count > 0) {
                    let glyph = Glyph { x: *x, y, mark_type, seq: block.last_seq };
                    if mark_type == MarkType::Deleted { scratch.crosses.push(glyph) } else { scene.glyphs.push(glyph) }
                }
            }
        });
    }
}
