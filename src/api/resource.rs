//! A resource that the API server serves: its names and its path.

/// A resource as discovery describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ApiResource {
    /// Empty for the core group.
    pub group: &'static str,
    /// `v1`.
    pub version: &'static str,
    /// `pods`: the word in the path.
    pub plural: &'static str,
    /// `Pod`.
    pub kind: &'static str,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
}
