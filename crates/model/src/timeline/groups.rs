//! Lanes in groups: by owner, by node, by namespace, by kind or by the manager who seems to have written; in one of several
//! orders; and those that are kept on top.
//!
//! A group is closed at first. Then its row shows the marks of everything below it, folded with their counts, and a
//! delete on top. An open group has its members below it.
//!
//! What a scene costs does not depend on how many objects or marks there are. The index finds the group of a few
//! thousand lanes with each scene, and then only that of lanes that have changed; the marks' part counts a few ten thousand
//! marks with each scene, and then only those that are new. Until both are through, a scene is due at once.

mod draw;
mod hit;
mod index;
mod marks;
mod open;
mod rows;
mod scan;
pub(crate) mod words;

pub use hit::{GroupHit, LanePart};
pub use open::OpenGroups;

use kubechurn_columns::kinds::Kind;

use crate::kind_id::KindId;
pub(in crate::timeline) use crate::timeline::groups::index::FindWriter;
use crate::timeline::groups::index::Index;
use crate::timeline::groups::marks::GroupMarks;
use crate::timeline::groups::rows::Rows;
use crate::timeline::groups::scan::Scan;
use crate::timeline::mark::Counts;
use crate::timeline::marks::Marks;

/// What lanes stand together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LanesBy {
    /// Each object has a lane of its own.
    #[default]
    Object,
    /// Below the object that controls them: Pods below their ReplicaSet, which is below its Deployment. Events, which are
    /// many and have no owner, stand together.
    Owner,
    /// Pods of one node.
    Node,
    /// Objects of one namespace.
    Namespace,
    /// Objects of one kind.
    Kind,
    /// Below the field manager that seems to have written them, each object with the marks that this manager made: an object
    /// that several wrote stands in several groups.
    Manager,
}

impl LanesBy {
    /// All choices, in the order of the menu.
    pub const ALL: [LanesBy; 6] =
        [LanesBy::Object, LanesBy::Owner, LanesBy::Node, LanesBy::Namespace, LanesBy::Kind, LanesBy::Manager];

    /// The word in the address and in the menu, after "by".
    pub fn name(self) -> &'static str {
        match self {
            LanesBy::Object => "object",
            LanesBy::Owner => "owner",
            LanesBy::Node => "node",
            LanesBy::Namespace => "namespace",
            LanesBy::Kind => "kind",
            LanesBy::Manager => "manager",
        }
    }

    /// The choice of this name; the first one for any other word.
    pub fn of(name: &str) -> LanesBy {
        LanesBy::ALL.into_iter().find(|by| by.name() == name).unwrap_or_default()
    }
}

/// In which order lanes and groups stand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LaneOrder {
    /// What changed last comes first.
    #[default]
    LastChange,
    /// What changed first comes first.
    FirstChange,
    /// What has most changes in the window comes first.
    Churn,
    /// By namespace and name.
    Name,
}

impl LaneOrder {
    /// All choices, in the order of the menu.
    pub const ALL: [LaneOrder; 4] = [LaneOrder::LastChange, LaneOrder::FirstChange, LaneOrder::Churn, LaneOrder::Name];

    /// The word in the address.
    pub fn name(self) -> &'static str {
        match self {
            LaneOrder::LastChange => "last",
            LaneOrder::FirstChange => "first",
            LaneOrder::Churn => "churn",
            LaneOrder::Name => "name",
        }
    }

    /// The words in the menu.
    pub fn title(self) -> &'static str {
        match self {
            LaneOrder::LastChange => "last change",
            LaneOrder::FirstChange => "first change",
            LaneOrder::Churn => "most changes",
            LaneOrder::Name => "name",
        }
    }

    /// The choice of this name; the first one for any other word.
    pub fn of(name: &str) -> LaneOrder {
        LaneOrder::ALL.into_iter().find(|order| order.name() == name).unwrap_or_default()
    }
}

/// How the user wants to see lanes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LaneChoice {
    /// What stands together.
    pub by: LanesBy,
    /// In which order.
    pub order: LaneOrder,
    /// What is kept on top, also while it is quiet: objects as `deployments/shop/web`, other groups as `node:node-4`.
    pub kept: Vec<String>,
    /// Which groups are open.
    pub open: OpenGroups,
}

impl LaneChoice {
    /// Whether lanes stand as they do without any choice.
    pub fn is_usual(&self) -> bool {
        (self.by, self.order) == Default::default() && self.kept.is_empty()
    }
}

/// The number of a group or lane among those that were found, and how often the number was used before.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GroupId {
    at: u32,
    generation: u32,
}

/// What the row of a lane shows where lanes stand in groups, or are kept on top.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupRow {
    /// The number.
    pub id: GroupId,
    /// How many groups are around it.
    pub depth: u8,
    /// Whether the group is open; `None` for a lane that has nothing below it.
    pub open: Option<bool>,
    /// How many objects are below it.
    pub members: u32,
    /// Whether it is kept on top.
    pub kept: bool,
    /// What the group is, where it is no object whose marks are known: `ReplicaSet`, `node`.
    pub word: Box<str>,
    /// What the kind is called in words on a timeline of several kinds; empty where it is no object whose marks are known.
    pub long: &'static str,
    /// The name, as short as it may be below the group that it is in.
    pub name: Box<str>,
    /// How many frames of each type are in the window, of the object and all that is below it, as far as they are
    /// counted. Only of a closed group, and of an object below a manager.
    pub counts: Counts,
}

/// What a chart remembers of groups.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    /// The kinds, by their numbers.
    pub(super) kinds: Vec<&'static Kind>,
    choice: LaneChoice,
    /// The groups that the choice names as open or closed, as far as they are there.
    named: Vec<GroupId>,
    index: Index,
    scan: Scan,
    rows: Rows,
    marks: GroupMarks,
    /// Whether the last scene has left something to find or to count.
    pub(super) is_behind: bool,
    /// Whether some lanes were never looked at.
    is_finding: bool,
    /// When the rows were last arranged, in milliseconds.
    settled: f64,
}

impl Groups {
    /// No groups yet, of lanes of these kinds.
    pub(super) fn of(kinds: Vec<&'static Kind>) -> Groups {
        Groups { kinds, ..Groups::default() }
    }

    /// Whether rows are those of groups, and not those of [`crate::timeline::order`].
    pub(super) fn is_in_use(&self) -> bool {
        !self.choice.is_usual()
    }

    /// Arranges lanes as the user chose. Returns whether that is news.
    pub(super) fn choose(&mut self, choice: &LaneChoice) -> bool {
        if self.choice == *choice {
            return false;
        }
        if self.choice.by != choice.by || !self.is_in_use() || choice.is_usual() {
            self.index = Index::new(choice.by);
            self.marks = GroupMarks::default();
        }
        if (self.choice.by, self.choice.order) != (choice.by, choice.order) {
            self.rows = Rows::default();
        }
        (self.scan, self.choice) = (Scan::default(), choice.clone());
        self.rows.must_settle();
        true
    }

    /// Asks who wrote marks of which that is not known yet, at most `most` of them. Returns whether some are left.
    pub(super) fn find_writers(&mut self, marks: &[&Marks], most: usize, find: &mut FindWriter<'_>) -> bool {
        let is_left = self.index.is_by_manager() && self.index.find_writers((marks, &self.kinds), most, find);
        self.is_behind |= is_left;
        is_left
    }

    /// The bytes that all of it takes.
    pub(super) fn bytes(&self) -> usize {
        self.index.bytes() + self.scan.bytes() + self.rows.bytes() + self.marks.bytes()
    }
}

/// Whether a kind is the one of this name that Kubernetes itself has.
fn is_core(kinds: &[&'static Kind], kind: KindId, word: &str) -> bool {
    let groups = ["", "events.k8s.io"];
    kinds.get(kind.index()).is_some_and(|own| own.resource.kind == word && groups.contains(&own.resource.group))
}

#[cfg(test)]
mod tests;
