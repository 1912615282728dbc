//! The kinds that can be watched: those that the page has columns for, and whatever else the server has.

use crate::api::cell::Cell;
use crate::api::discovery::Discovered;
use crate::api::object::{Decode, DecodeError, Object, decode_metadata};
use crate::api::resource::intern;
use crate::table::column::Column;
use crate::table::kinds::{KINDS, Kind};

/// What a kind is watched with; what has not all of these is no kind of the page's.
const VERBS: [&str; 2] = ["list", "watch"];

/// The kinds that there are, in the rail's order.
#[derive(Clone, Debug, PartialEq)]
pub struct Catalog {
    kinds: Vec<&'static Kind>,
    /// Whether the server has said what it has.
    is_discovered: bool,
}

impl Default for Catalog {
    /// Before the server is heard, the kinds that the page has columns for are taken to be there.
    fn default() -> Catalog {
        Catalog { kinds: KINDS.iter().collect(), is_discovered: false }
    }
}

impl Catalog {
    /// What a server has. Kinds with columns of their own come first, then others by group; a kind that was known
    /// to `before` stays the very same.
    pub fn of(discovered: &[Discovered], before: &Catalog) -> Catalog {
        let watchable = || discovered.iter().filter(|one| one.supports(&VERBS));
        let serves = |kind: &&Kind| watchable().any(|one| one.resource == kind.resource);
        let mut kinds: Vec<&'static Kind> = KINDS.iter().filter(serves).collect();
        let own = kinds.clone();
        let is_known = |one: &Discovered| own.iter().any(|kind| same(kind, one));
        let mut others: Vec<&'static Kind> = watchable()
            .filter(|one| one.preferred && !is_known(one))
            .map(|one| {
                before.kinds.iter().find(|kind| kind.resource == one.resource).copied().unwrap_or_else(|| new(one))
            })
            .collect();
        others.sort_by_key(|kind| (kind.heading, kind.title));
        kinds.extend(others);
        Catalog { kinds, is_discovered: true }
    }

    /// Every kind.
    pub fn kinds(&self) -> impl Iterator<Item = &'static Kind> + Clone + use<'_> {
        self.kinds.iter().copied()
    }

    /// Whether the server has said what it has; until then kinds may be missing, or too many.
    pub fn is_discovered(&self) -> bool {
        self.is_discovered
    }

    /// The kind that is called so: by the page's own name for it, or in any way that kubectl understands.
    pub fn find(&self, name: &str) -> Option<&'static Kind> {
        self.kinds().find(|kind| kind.name == name).or_else(|| self.kinds().find(|kind| kind.is_called(name)))
    }

    /// Puts another description of a kind in the place of the one before: its columns have become known.
    pub fn replace(&mut self, kind: &'static Kind) {
        if let Some(known) = self.kinds.iter_mut().find(|known| known.resource == kind.resource) {
            *known = kind;
        }
    }
}

/// Whether a known kind is the discovered one in any of its versions.
fn same(kind: &Kind, one: &Discovered) -> bool {
    (kind.resource.group, kind.resource.plural) == (one.resource.group, one.resource.plural)
}

/// A kind that the page knows nothing of but its name.
fn new(one: &Discovered) -> &'static Kind {
    let resource = one.resource;
    let names = one.short_names.iter().copied().chain([one.singular]);
    let (name, heading) = match resource.group {
        "" => (resource.plural, "Cluster"),
        group => (intern(&format!("{}.{group}", resource.plural)), group),
    };
    // A cluster's kinds are few, and each is made once.
    Box::leak(Box::new(Kind {
        resource,
        name,
        short_names: Vec::leak(names.collect()),
        heading,
        title: resource.kind,
        columns: &[AGE],
        decode: Decode(&decode),
    }))
}

/// The column that every kind has.
const AGE: Column = Column::figures("AGE");

/// Reads an object of which only the age is shown.
fn decode(text: &str) -> Result<Object, DecodeError> {
    let object = decode_metadata(text)?;
    let cells = [Cell::Age(object.created)].into();
    Ok(Object { cells, ..object })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::discovery;

    fn real() -> Vec<Discovered> {
        let documents = [
            include_str!("../../tests/fixtures/discovery/discovery-api.json"),
            include_str!("../../tests/fixtures/discovery/discovery-apis.json"),
        ];
        documents.into_iter().flat_map(|text| discovery::read(text).unwrap()).collect()
    }

    #[test]
    fn every_kind_that_can_be_watched_is_there_once() {
        let catalog = Catalog::of(&real(), &Catalog::default());
        let expected = real().iter().filter(|one| one.supports(&VERBS) && one.preferred).count();
        assert_eq!(catalog.kinds().count(), expected);
        for (at, kind) in catalog.kinds().enumerate() {
            assert_eq!(catalog.find(kind.name), Some(kind), "{}", kind.name);
            assert!(catalog.kinds().skip(at + 1).all(|other| other.name != kind.name), "{}", kind.name);
        }
    }

    #[test]
    fn names_are_understood_as_kubectl_understands_them() {
        let catalog = Catalog::of(&real(), &Catalog::default());
        for (name, expected) in [
            ("po", "pods"),
            ("wd", "widgets.example.org"),
            ("widget", "widgets.example.org"),
            ("Widget.example.org", "widgets.example.org"),
            ("widgets.v1.example.org", "widgets.example.org"),
            ("events", "events"),
            ("deploy.apps", "deployments"),
        ] {
            assert_eq!(catalog.find(name).map(|kind| kind.name), Some(expected), "{name}");
        }
        // What can only be created, or only be listed, is nothing to watch.
        for name in ["bindings", "componentstatuses", "tokenreviews", "nothing", "widgets.apps", ""] {
            assert!(catalog.find(name).is_none(), "{name}");
        }
    }

    #[test]
    fn kinds_come_and_go_and_the_rest_stays_as_it_is() {
        let (all, first) = (real(), Catalog::default());
        assert!(!first.is_discovered() && first.find("pods").is_some());
        let with = Catalog::of(&all, &first);
        let less: Vec<Discovered> = all.iter().filter(|one| one.resource.plural != "widgets").cloned().collect();
        let without = Catalog::of(&less, &with);
        assert!(without.find("widgets").is_none() && without.is_discovered());
        let again = Catalog::of(&all, &with);
        let widgets = |catalog: &Catalog| std::ptr::from_ref(catalog.find("widgets").unwrap());
        assert_eq!(widgets(&with), widgets(&again));
    }
}
