//! A change that is kept, with what it was before.

use std::borrow::Cow;
use std::sync::Arc;

use kubechurn_changes::line::ReceivedChange;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;

/// A change, with what it was before.
#[derive(Clone, Debug)]
pub struct RecordedChange<'a> {
    /// When it was received, in milliseconds.
    pub at: f64,
    /// What happened.
    pub delta_type: DeltaType,
    /// The object's resource.
    pub resource: ApiResource,
    /// The object's key.
    pub key: ObjectKey,
    /// The object's uid.
    pub uid: Uid,
    /// The text before, as far as one is kept and the two are to be compared, or there is no other text.
    pub old: Option<Cow<'a, str>>,
    /// The text.
    pub new: Option<Cow<'a, str>>,
}

impl RecordedChange<'_> {
    /// The same as it was received, to be read as a line, with its number and the name of its kind.
    pub fn received(&self, seq: u64, kind: Arc<str>) -> ReceivedChange<'_> {
        ReceivedChange {
            seq,
            at: self.at,
            kind,
            key: self.key.clone(),
            uid: self.uid.clone(),
            delta_type: self.delta_type,
            old: self.old.as_deref(),
            new: self.new.as_deref(),
        }
    }
}
