//! The choices of the user: how lanes are grouped, in which order they stand, and which groups are open. The address
//! contains all of it, so that a link shows the same rows.

use crate::timeline::store::mark::Counts;

/// What lanes stand together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LanesBy {
    /// Each object has a lane of its own.
    #[default]
    Object,
    /// Below the object that controls them: Pods below their ReplicaSet, which is below its Deployment. Events, which
    /// are many and have no owner, stand together.
    Owner,
    /// Pods of one node.
    Node,
    /// Objects of one namespace.
    Namespace,
    /// Objects of one kind.
    Kind,
    /// Below the field manager that seems to have written them, each object with the marks that this manager made: an
    /// object that several wrote stands in several groups.
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
    /// What is in the worst state now comes first, and what fails stays in sight while it is quiet. Of equal ones, that which
    /// changed last comes first.
    Worst,
    /// By namespace and name.
    Name,
}

impl LaneOrder {
    /// All choices, in the order of the menu.
    pub const ALL: [LaneOrder; 5] =
        [LaneOrder::LastChange, LaneOrder::Worst, LaneOrder::FirstChange, LaneOrder::Churn, LaneOrder::Name];

    /// The word in the address.
    pub fn name(self) -> &'static str {
        match self {
            LaneOrder::LastChange => "last",
            LaneOrder::FirstChange => "first",
            LaneOrder::Churn => "churn",
            LaneOrder::Worst => "worst",
            LaneOrder::Name => "name",
        }
    }

    /// The words in the menu.
    pub fn title(self) -> &'static str {
        match self {
            LaneOrder::LastChange => "last change",
            LaneOrder::FirstChange => "first change",
            LaneOrder::Churn => "most changes",
            LaneOrder::Worst => "worst first",
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
    pub(crate) at: u32,
    pub(crate) generation: u32,
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
    /// What the kind is called in words on a timeline of several kinds; empty where it is no object whose marks are
    /// known.
    pub long: &'static str,
    /// The name, as short as it may be below the group that it is in.
    pub name: Box<str>,
    /// How many frames of each type are in the window, of the object and all that is below it, as far as they are
    /// counted. Only of a closed group, and of an object below a manager.
    pub counts: Counts,
}

/// The open groups. A group has the words that [`LaneChoice::kept`] has for it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpenGroups {
    /// Whether groups are open unless they are named.
    pub all: bool,
    /// The groups that are open, or, where all are, those that are closed. The newest comes last.
    pub named: Vec<String>,
}

impl OpenGroups {
    /// How many groups are named at most.
    pub const MOST: usize = 64;

    /// All groups are open, or none.
    pub fn all(open: bool) -> OpenGroups {
        OpenGroups { all: open, named: Vec::new() }
    }

    /// Opens a group, or closes it. Where too many are named, the one that was named first is so no longer.
    pub fn turn(&mut self, words: &str) {
        match self.named.iter().position(|named| named == words) {
            Some(at) => drop(self.named.remove(at)),
            None => self.named.push(words.to_owned()),
        }
        self.named.drain(..self.named.len().saturating_sub(OpenGroups::MOST));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_is_turned_and_too_many_are_not_kept() {
        let mut open = OpenGroups::default();
        open.turn("a");
        open.turn("b");
        open.turn("a");
        assert_eq!(open.named, ["b"]);
        (0..OpenGroups::MOST).for_each(|at| open.turn(&at.to_string()));
        assert_eq!((open.named.len(), &*open.named[0]), (OpenGroups::MOST, "0"));
    }
}
