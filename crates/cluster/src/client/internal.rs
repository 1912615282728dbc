//! How a request of the cluster's own components is recognised.

/// Marks a request of the cluster's own controllers. The mark is an extension of the request inside this process, which
/// no header and no body can set, so that no outside client can claim it.
#[derive(Debug, Clone, Copy)]
pub struct Internal(());

impl Internal {
    /// The mark. Only [`super::rest::Client`] attaches it to requests.
    pub(super) fn new() -> Self {
        Self(())
    }
}
