//! Who belongs to the cluster itself.

/// Marks a request of the cluster's own controllers. It is an extension of the request inside this process, which
/// no header and no body can bring, so that nobody outside can claim it.
#[derive(Debug, Clone, Copy)]
pub struct Insider(());

impl Insider {
    /// The mark. Only [`super::rest::Client`] sets it.
    pub(super) fn new() -> Self {
        Self(())
    }
}
