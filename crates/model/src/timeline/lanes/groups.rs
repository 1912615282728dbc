//! Lanes in groups: by owner, by node, by namespace, by kind or by the manager who seems to have written; in one of
//! several orders; and those that are kept on top.
//!
//! A group is closed at first. Then its row shows the marks of everything below it, folded with their counts, and a
//! delete on top. An open group has its members below it.
//!
//! What a scene costs does not depend on how many objects or marks there are. The index finds the group of a few
//! thousand lanes with each scene, and then only that of lanes that have changed; the counts take a few ten thousand
//! marks with each scene, and then only those that are new. Until both are through, a scene is due at once.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_columns::kinds::Kind;

use crate::kind_id::KindId;
use crate::timeline::lanes::ask::Ask;
use crate::timeline::lanes::choice::{GroupId, LaneChoice, LaneOrder, LanesBy};
use crate::timeline::lanes::counts::GroupCounts;
use crate::timeline::lanes::counts::parts::Part;
use crate::timeline::lanes::index::Index;
use crate::timeline::lanes::index::entry::Entry;
use crate::timeline::lanes::index::managers::{FindWriter, KindMarks};
use crate::timeline::lanes::rows::{Known, Row, Rows, find, lane_of};
use crate::timeline::lanes::scan::Scan;
use crate::timeline::scale::{Scale, Window};
use crate::timeline::store::lane::Lane;
use crate::timeline::store::mark::{Counts, LaneOf};
use crate::timeline::store::marks::Marks;

/// How often rows are arranged while lanes are being found, in milliseconds.
const OFTEN: f64 = 200.0;

/// The entry of a row.
pub(crate) struct RowEntry<'a> {
    pub(crate) entry: &'a Entry,
    /// The lane that the row stands for, if it still exists.
    pub(crate) lane: Option<(LaneOf, &'a Lane)>,
    pub(crate) key: &'a ObjectKey,
    /// Whether the marks of the row are counted, because they are not those of one lane.
    pub(crate) is_counted: bool,
}

/// What a chart remembers of groups.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// The kinds, by their numbers.
    pub(crate) kinds: Vec<&'static Kind>,
    choice: LaneChoice,
    /// The number of what is known of who wrote.
    writers: u64,
    /// Whether there are Events beside other kinds.
    has_events: bool,
    /// The groups that the choice names as open or closed, as far as they are there.
    named: Vec<GroupId>,
    pub(crate) index: Index,
    scan: Scan,
    rows: Rows,
    counts: GroupCounts,
    /// Whether the last scene has left something to find or to count.
    pub(crate) is_behind: bool,
    /// Whether some lanes were never looked at.
    is_finding: bool,
    /// When the rows were last arranged, in milliseconds.
    settled: f64,
}

impl Groups {
    /// No groups yet, of lanes of these kinds.
    pub(crate) fn of(kinds: Vec<&'static Kind>) -> Groups {
        Groups { kinds, ..Groups::default() }
    }

    /// Whether rows are those of groups, and not those of [`crate::timeline::lanes::order`].
    pub(crate) fn is_in_use(&self) -> bool {
        self.has_events || !self.choice.is_usual()
    }

    /// Notes whether there are Events beside other kinds: those of objects that have no lane stand together.
    pub(crate) fn note_events(&mut self, marks: &[&Marks]) {
        let has_events = marks.len() > 1 && marks.iter().any(|own| !own.event_targets.is_empty());
        self.has_events = has_events && self.kinds.len() == marks.len();
    }

    /// Arranges lanes as the user chose. Returns whether the choice is another one.
    pub(crate) fn choose(&mut self, choice: &LaneChoice) -> bool {
        if self.choice == *choice {
            return false;
        }
        if self.choice.by != choice.by || !self.is_in_use() || choice.is_usual() {
            self.index = Index::new(choice.by);
            self.counts = GroupCounts::default();
        }
        if (self.choice.by, self.choice.order) != (choice.by, choice.order) {
            self.rows = Rows::default();
        }
        self.scan = Scan::default();
        self.choice = choice.clone();
        self.rows.must_settle();
        true
    }

    /// Forgets who wrote, if this number is another than before. Returns whether lanes stand by it.
    pub(crate) fn note_writers(&mut self, revision: u64) -> bool {
        if std::mem::replace(&mut self.writers, revision) == revision || !self.index.is_by_manager() {
            return false;
        }
        self.index = Index::new(self.choice.by);
        (self.counts, self.scan) = (GroupCounts::default(), Scan::default());
        self.rows.must_settle();
        true
    }

    /// Asks who wrote marks of which that is not known yet, at most `most` of them. Returns whether some are left.
    pub(crate) fn find_writers(&mut self, marks: &[&Marks], most: usize, find: &mut FindWriter<'_>) -> bool {
        let is_left =
            self.index.is_by_manager() && self.index.find_writers(KindMarks { marks, kinds: &self.kinds }, most, find);
        self.is_behind |= is_left;
        is_left
    }

    /// Has the rows arranged anew with the next scene, even if the pointer is over them.
    pub(crate) fn must_settle(&mut self) {
        self.rows.must_settle();
    }

    /// The bytes that all of it takes.
    pub(crate) fn bytes(&self) -> usize {
        self.index.bytes() + self.scan.bytes() + self.rows.bytes() + self.counts.bytes()
    }

    /// What lanes stand together.
    pub(crate) fn by(&self) -> LanesBy {
        self.choice.by
    }

    /// How many lanes and groups that stand at the left are active.
    pub(crate) fn active(&self) -> usize {
        self.rows.active()
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// The rows on the screen.
    pub(crate) fn visible(&self, ask: &Ask) -> Vec<Row> {
        self.rows.visible(ask).collect()
    }

    /// The entry of a row, unless it is gone.
    pub(crate) fn entry<'a>(&'a self, marks: &[&'a Marks], row: &Row) -> Option<RowEntry<'a>> {
        let (at, entry) = self.index.tree.of(row.id)?;
        let lane = self.index.tree.lane(marks, entry);
        let label = entry.label.as_deref();
        let key = lane.map(|(_, lane)| &lane.key).or_else(|| label.map(|label| &label.key))?;
        Some(RowEntry { entry, lane, key, is_counted: self.is_counted(row, at, entry) })
    }

    fn is_counted(&self, row: &Row, at: u32, entry: &Entry) -> bool {
        (row.has_members && !entry.open) || self.index.is_part(at)
    }

    /// Counts the marks of these rows that are not those of one lane.
    pub(crate) fn count(&mut self, rows: &[Row], marks: &[&Marks], scale: &Scale) {
        let counted = rows.iter().filter_map(|row| {
            let (at, entry) = self.index.tree.of(row.id)?;
            self.is_counted(row, at, entry).then_some((row.id, entry.revision))
        });
        let counted: Vec<(GroupId, u32)> = counted.collect();
        // While lanes are being found, counting would begin anew with each scene. Marks whose managers are being found
        // stay where they are.
        if !self.is_finding || self.index.is_by_manager() {
            self.is_behind |= self.counts.count(&counted, scale, marks, &self.index);
        }
    }

    /// The marks of a group in the window that were counted, in parts.
    pub(crate) fn parts(&self, id: GroupId, scale: &Scale) -> impl Iterator<Item = Part> {
        self.counts.of(id, scale)
    }

    /// How many frames of each type a group has in the window, as far as they are counted.
    pub(crate) fn counts(&self, id: GroupId, scale: &Scale) -> Counts {
        self.counts.counts(id, scale)
    }

    /// The owners in sight whose lanes were freed: their names are gone with them.
    fn freed_owners(&self, marks: &[&Marks], ask: &Ask) -> Vec<LaneOf> {
        let Groups { index, rows, .. } = self;
        let is_freed =
            |entry: &&Entry| entry.members > 0 && entry.label.is_none() && index.tree.lane(marks, entry).is_none();
        let entries = rows.visible(ask).filter_map(|row| index.tree.of(row.id)).map(|(_, entry)| entry);
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
    pub(crate) fn arrange(&mut self, marks: &[&Marks], ask: &Ask) {
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
            self.index.gather_events(KindMarks { marks, kinds: &self.kinds });
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

    /// Opens and closes groups as the user chose. A group that is not there yet is opened when it is.
    fn open_chosen(&mut self, marks: &[&Marks]) {
        let open = &self.choice.open;
        let found = open.named.iter().filter_map(|words| find(words, marks, &self.kinds, &self.index));
        let named: Vec<GroupId> = found.map(|at| self.index.tree.id(at)).collect();
        self.index.tree.open_all(open.all);
        for id in self.named.iter().filter(|id| !named.contains(id)) {
            self.index.tree.set_open(*id, open.all);
        }
        for id in &named {
            self.index.tree.set_open(*id, !open.all);
        }
        self.named = named;
    }

    /// The words of a group.
    pub(crate) fn words(&self, marks: &[&Marks], id: GroupId) -> Option<String> {
        let (_, entry) = self.index.tree.of(id)?;
        // The name of a group that is no object stays when the lane of the object of this name goes.
        if let Some(label) = &entry.label {
            return Some(format!("{}:{}", label.word, label.key));
        }
        let (of, lane) = self.index.tree.lane(marks, entry)?;
        Some(format!("{}/{}", self.kinds.get(of.kind.index())?.name, lane.key))
    }

    /// The words of the group of an object; of one that has nothing below it, of the group that it is in.
    pub(crate) fn words_around(&self, marks: &[&Marks], kind: KindId, key: &ObjectKey) -> Option<String> {
        let lane = marks.get(kind.index()).and_then(|own| own.lanes.find(key))?;
        let of = LaneOf { kind, lane };
        let at = if self.index.is_by_manager() { self.index.of_newest_manager(of) } else { self.index.of_lane(of) }?;
        let is_group = self.index.tree.get(at).is_some_and(|entry| entry.members > 0);
        let at = if is_group { at } else { self.index.tree.around(at).next()? };
        self.words(marks, self.index.tree.id(at))
    }

    /// The name of a row: without the words that stand above it already.
    pub(crate) fn name(&self, marks: &[&Marks], row: &RowEntry<'_>, depth: u8) -> String {
        let key = row.key;
        // The name of a manager says nothing about the names of what it wrote.
        if depth == 0 || self.index.is_by_manager() {
            return key.to_string();
        }
        let parent = self.index.tree.get(row.entry.parent);
        let parent_key = parent.and_then(|parent| {
            let lane = self.index.tree.lane(marks, parent).map(|(_, lane)| &lane.key);
            lane.or_else(|| parent.label.as_deref().map(|label| &label.key))
        });
        let is_same_namespace =
            parent_key.is_some_and(|parent| parent.namespace == key.namespace || *parent.name == *key.namespace);
        let rest =
            parent_key.and_then(|parent| key.name.strip_prefix(&*parent.name)).filter(|rest| rest.starts_with('-'));
        match rest {
            Some(rest) if rest.len() > 1 && is_same_namespace => format!("…{rest}"),
            _ if is_same_namespace => key.name.to_string(),
            _ => key.to_string(),
        }
    }
}
