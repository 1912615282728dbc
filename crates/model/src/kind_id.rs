//! Which of several kinds something is of.

/// The number of a kind in a table or on a timeline: its place among the kinds in view, from 0. Another view may give the
/// same kind another number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId(pub u8);

impl KindId {
    /// The kind of a view that has one kind only.
    pub const ONLY: KindId = KindId(0);

    /// The place among the kinds, to look it up in a list.
    pub fn index(self) -> usize {
        usize::from(self.0)
    }
}

/// The page's name for a kind without the cluster: `pods` of `pods@west`.
pub fn plain(name: &str) -> &str {
    name.split_once('@').map_or(name, |(name, _)| name)
}

/// Names in words: `Deployments, ReplicaSets and Pods`.
pub fn listed(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        names => names.concat(),
    }
}
