//! Owners that are known to be deleted, so that a thousand dependents of one owner do not cause a thousand requests
//! (`uid_cache.go`, `ReferenceCache`).

use std::collections::VecDeque;

use rustc_hash::FxHashSet;

use super::graph::Kind;

/// How many owners are remembered (`NewReferenceCache(500)`).
const SIZE: usize = 500;

/// The owners that were looked for most recently and not found.
#[derive(Debug, Default)]
pub struct AbsentOwners {
    known: FxHashSet<Absent>,
    oldest_first: VecDeque<Absent>,
}

/// An owner, and where it was looked for: the same reference in another namespace means another owner.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Absent {
    pub uid: Box<str>,
    /// Group and version.
    pub api_version: Box<str>,
    pub kind: Box<str>,
    /// The namespace of the dependent.
    pub namespace: Box<str>,
    pub name: Box<str>,
}

impl AbsentOwners {
    /// Remembers an owner, and drops the one that was added first if there are too many.
    pub fn add(&mut self, owner: Absent) {
        if !self.known.insert(owner.clone()) {
            return;
        }
        self.oldest_first.push_back(owner);
        if self.oldest_first.len() > SIZE
            && let Some(oldest) = self.oldest_first.pop_front()
        {
            self.known.remove(&oldest);
        }
    }

    /// Whether an owner is known to be deleted.
    pub fn has(&self, owner: &Absent) -> bool {
        self.known.contains(owner)
    }
}

/// An owner of this kind, as a dependent in a namespace refers to it.
pub fn absent(uid: &str, kind: &Kind, namespace: &str, name: &str) -> Absent {
    let (api_version, kind) = (kind.api_version.clone(), kind.kind.clone());
    Absent { uid: uid.into(), api_version, kind, namespace: namespace.into(), name: name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_is_forgotten_first() {
        let owner = |number: usize| Absent {
            uid: number.to_string().into(),
            api_version: "v1".into(),
            kind: "Pod".into(),
            namespace: "default".into(),
            name: "one".into(),
        };
        let mut absent = AbsentOwners::default();
        (0..=SIZE).for_each(|number| absent.add(owner(number)));
        assert!(!absent.has(&owner(0)) && absent.has(&owner(1)) && absent.has(&owner(SIZE)));
        assert!(!absent.has(&Absent { namespace: "".into(), ..owner(1) }));
    }
}
