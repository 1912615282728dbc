//! The current objects of one resource, in the order of their keys and by the value of the trigger.

use std::collections::{BTreeMap, HashMap};
use std::ops::Bound;
use std::sync::Arc;

use super::trigger::{Trigger, required};
use crate::resources::object::Object;
use crate::resources::resource::Resource;
use crate::resources::selector::Filter;

/// The objects.
#[derive(Debug)]
pub struct Objects {
    namespaced: bool,
    trigger: Option<Trigger>,
    by_key: BTreeMap<Arc<str>, Entry>,
    /// Filled only where the trigger is an index.
    by_value: HashMap<Arc<str>, BTreeMap<Arc<str>, Arc<Object>>>,
}

/// An object, and its value of the trigger.
#[derive(Debug, Clone)]
pub struct Entry {
    pub object: Arc<Object>,
    /// `None` where the resource has no trigger.
    pub value: Option<Arc<str>>,
}

impl Objects {
    /// An empty set of objects.
    pub fn new(resource: &Resource) -> Self {
        Self {
            namespaced: resource.namespaced,
            trigger: Trigger::of(resource),
            by_key: BTreeMap::new(),
            by_value: HashMap::new(),
        }
    }

    /// Removes all objects.
    pub fn clear(&mut self) {
        self.by_key.clear();
        self.by_value.clear();
    }

    /// Stores an object; returns its entry, and the entry that it replaces.
    pub fn insert(&mut self, object: Arc<Object>) -> (Entry, Option<Entry>) {
        let value = self.trigger.map(|trigger| self.known(trigger.value(&object)));
        let entry = Entry { object, value };
        let key = Arc::clone(&entry.object.key);
        let previous = self.by_key.insert(Arc::clone(&key), entry.clone());
        if let Some(previous) = &previous
            && previous.value != entry.value
        {
            self.take_from_index(previous);
        }
        if let (Some(value), true) = (&entry.value, self.trigger.is_some_and(Trigger::is_index)) {
            self.by_value.entry(Arc::clone(value)).or_default().insert(key, Arc::clone(&entry.object));
        }
        (entry, previous)
    }

    /// Removes an object; returns its entry.
    pub fn remove(&mut self, key: &str) -> Option<Entry> {
        let entry = self.by_key.remove(key)?;
        self.take_from_index(&entry);
        Some(entry)
    }

    /// The objects that may match a filter, in key order. The caller applies the filter itself, and need not hold a
    /// lock for that.
    pub fn candidates(&self, filter: &Filter) -> Vec<Arc<Object>> {
        let namespace = filter.namespace.as_deref().filter(|_| self.namespaced);
        if let Some(name) = required(filter, "metadata.name")
            && (!self.namespaced || namespace.is_some())
        {
            let key = namespace.map_or_else(|| name.to_owned(), |namespace| format!("{namespace}/{name}"));
            return self.by_key.get(&*key).map(|entry| Arc::clone(&entry.object)).into_iter().collect();
        }
        if let Some(value) = self.trigger.filter(|trigger| trigger.is_index()).and_then(|one| one.asked(filter)) {
            return self.by_value.get(value).map(|found| found.values().cloned().collect()).unwrap_or_default();
        }
        let Some(namespace) = namespace else {
            return self.by_key.values().map(|entry| Arc::clone(&entry.object)).collect();
        };
        // Every key of a namespace lies between `namespace/` and `namespace0`, the next byte after the slash.
        let (from, until) = (format!("{namespace}/"), format!("{namespace}0"));
        let range = self.by_key.range::<str, _>((Bound::Included(&*from), Bound::Excluded(&*until)));
        range.map(|(_, entry)| Arc::clone(&entry.object)).collect()
    }

    /// The same value, as the text that the index holds already.
    fn known(&self, value: Arc<str>) -> Arc<str> {
        self.by_value.get_key_value(&*value).map_or(value, |(known, _)| Arc::clone(known))
    }

    fn take_from_index(&mut self, entry: &Entry) {
        let Some(value) = &entry.value else { return };
        if let Some(found) = self.by_value.get_mut(&**value) {
            found.remove(&entry.object.key);
            if found.is_empty() {
                self.by_value.remove(&**value);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cacher::tests::{filter, pod};
    use crate::resources::builtin::PODS;

    #[test]
    fn objects_are_found_by_namespace_name_and_node() {
        let mut objects = Objects::new(&PODS);
        for (name, node) in [("a", "n1"), ("b", "n2"), ("c", "n1"), ("d", "")] {
            objects.insert(pod(name, node, 1));
        }
        let check = |objects: &Objects, fields: &str, namespace: Option<&str>, expected: &[&str]| {
            let filter = Filter { namespace: namespace.map(str::to_owned), ..filter("", fields) };
            let found: Vec<String> = objects.candidates(&filter).iter().map(|one| one.name.to_string()).collect();
            assert_eq!(found, expected, "{fields} {namespace:?}");
        };
        check(&objects, "", None, &["a", "b", "c", "d"]);
        check(&objects, "", Some("shop"), &["a", "b", "c", "d"]);
        check(&objects, "", Some("sho"), &[]);
        check(&objects, "metadata.name=b", Some("shop"), &["b"]);
        check(&objects, "metadata.name=x", Some("shop"), &[]);
        check(&objects, "spec.nodeName=n1", None, &["a", "c"]);
        check(&objects, "spec.nodeName=", None, &["d"]);
        check(&objects, "spec.nodeName!=n1", None, &["a", "b", "c", "d"]);
        let (_, previous) = objects.insert(pod("c", "n2", 2));
        assert_eq!(previous.and_then(|previous| previous.value).as_deref(), Some("n1"));
        objects.remove("shop/a");
        check(&objects, "spec.nodeName=n1", None, &[]);
        check(&objects, "spec.nodeName=n2", None, &["b", "c"]);
        assert_eq!(objects.by_value.len(), 2, "values without objects are gone");
    }
}
