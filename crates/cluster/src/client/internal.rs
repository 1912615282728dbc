//! How a request of the cluster's own components and users is recognised.

use std::sync::Arc;

/// Marks a request of the cluster's own controllers and users, and says whose it is. The mark is an extension of the request
/// inside this process, which no header and no body can set, so that no outside client can claim it.
#[derive(Debug, Clone)]
pub struct Internal {
    /// The user, such as `system:kube-scheduler`.
    pub user: Arc<str>,
    /// As whom the user makes the request; empty for nobody else.
    pub impersonated: Arc<str>,
    _private: (),
}

impl Internal {
    /// The mark. Only [`super::rest::Client`] attaches it to requests.
    pub(super) fn new(user: Arc<str>, impersonated: Arc<str>) -> Self {
        Self { user, impersonated, _private: () }
    }
}
