//! Who belongs to the cluster itself.

use std::sync::Arc;

use axum::http::Extensions;

use crate::faults::Faults;

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

/// The faults that a request with these extensions meets: those that are switched on, or none for an insider. Faults
/// are made for whoever watches the cluster; a cluster whose own controllers were cut off would stand still.
pub fn faults_for(faults: &Arc<Faults>, extensions: &Extensions) -> Arc<Faults> {
    if extensions.get::<Insider>().is_some() { Arc::default() } else { Arc::clone(faults) }
}
