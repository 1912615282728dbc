//! Up to which version of the server everything is known: what client-go's Reflector keeps as `lastSyncResourceVersion`
//! and `isLastSyncResourceVersionUnavailable`.

use crate::api::object::ResourceVersion;

/// The newest version that was seen.
#[derive(Clone, Debug, Default)]
pub(super) struct LastSync {
    /// Unset before the first list.
    version: ResourceVersion,
    /// The newest that was seen before `version`: the server never sent anything that lies between the two.
    before: ResourceVersion,
    /// The server can no longer serve from `version`, or not yet: it is to be asked for its newest.
    pub(super) unavailable: bool,
}

impl LastSync {
    /// The newest version that was seen, from which a watch goes on.
    pub(super) fn version(&self) -> &ResourceVersion {
        &self.version
    }

    /// The version to ask a new list for: at least the newest that was seen, or unset, which asks for the server's
    /// newest.
    pub(super) fn for_list(&self) -> ResourceVersion {
        if self.unavailable { ResourceVersion::default() } else { self.version.clone() }
    }

    /// The version to ask a list by fetch for: the first time `0`, which is any state that the server has cached.
    pub(super) fn for_fetched_list(&self) -> ResourceVersion {
        match self.version.is_unset() && !self.unavailable {
            true => ResourceVersion::new("0"),
            false => self.for_list(),
        }
    }

    /// A watch brought this version, from which it would go on. Empty and smaller versions are ignored, for a watch
    /// never goes back. So is a version that cannot be compared, where the last one could: at `0` a server says what
    /// exists, and not what is gone.
    pub(super) fn seen(&mut self, version: &ResourceVersion) {
        let follows = version.is_comparable() || !(version.is_unset() || self.version.is_comparable());
        if follows && !version.is_older_than(&self.version) && *version != self.version {
            self.before = std::mem::replace(&mut self.version, version.clone());
        }
    }

    /// A bookmark of a watch brought this version: nothing below it is still to come.
    pub(super) fn passed(&mut self, version: &ResourceVersion) {
        self.seen(version);
        self.before = self.version.clone();
    }

    /// A list, or the end of a streaming one, says that everything up to this version is known. It may be lower than
    /// the last one: a server that was restored from a backup has gone back.
    pub(super) fn reached(&mut self, version: ResourceVersion) {
        (self.version, self.before) = (version.clone(), version);
    }

    /// Returns whether the server has not sent anything past this version: it is above all versions that were seen, the
    /// newest one left out. A frame that comes again is no news.
    pub(super) fn is_news(&self, version: &ResourceVersion) -> bool {
        self.before.is_older_than(version) && *version != self.version
    }

    /// Returns whether a watch from here begins with what exists: from no version, or from `0`.
    pub(super) fn is_any(&self) -> bool {
        self.version.is_unset() || self.version.as_str() == "0"
    }
}
