//! A resource that the API server serves: its names and its path.

use std::cell::RefCell;

use hashbrown::HashSet;
use rustc_hash::FxBuildHasher;

/// A resource as discovery describes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ApiResource {
    /// Empty for the core group.
    pub group: &'static str,
    /// `v1`.
    pub version: &'static str,
    /// `pods`, as in the path.
    pub plural: &'static str,
    /// `Pod`.
    pub kind: &'static str,
    /// Whether objects live in namespaces.
    pub namespaced: bool,
    /// Which API server has it, for a program that speaks with several: a name of the program's own. Empty for the only one,
    /// or the first.
    pub cluster: &'static str,
}

impl ApiResource {
    /// `v1`, `apps/v1`: as objects name it in their `apiVersion`.
    pub fn api_version(&self) -> String {
        match self.group {
            "" => self.version.to_owned(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// The same resource at the API server of this name.
    pub fn at(self, cluster: &'static str) -> ApiResource {
        ApiResource { cluster, ..self }
    }
}

/// Makes a text live as long as the program, so that the names of resources can be copied and compared cheaply. Each text is
/// kept once for a thread. It is never freed: the names of a cluster's resources are few.
pub fn intern(text: &str) -> &'static str {
    thread_local! {
        static KNOWN: RefCell<HashSet<&'static str, FxBuildHasher>> = const { RefCell::new(HashSet::with_hasher(FxBuildHasher)) };
    }
    KNOWN.with_borrow_mut(|known| match known.get(text) {
        Some(known) => known,
        None => {
            let new: &'static str = Box::leak(text.into());
            known.insert(new);
            new
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_kept_once() {
        let one = intern("widgets");
        assert_eq!(one, "widgets");
        assert!(std::ptr::eq(one, intern(&String::from("widgets"))));
    }
}
