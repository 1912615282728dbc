//! The server of a recorded stream: what changed there when, and what it sends.

use std::sync::Arc;

use kubechurn_client::api::object::{Object, ObjectKey, ResourceVersion, decode_metadata};
use kubechurn_client::api::sort;
use kubechurn_client::cache::delta::DeltaType;
use rustc_hash::{FxHashMap, FxHashSet};

/// A frame of a recorded stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Frame {
    /// A complete list.
    List {
        /// The version of the list.
        version: ResourceVersion,
        /// The texts of its items.
        items: Vec<Arc<str>>,
    },
    /// ADDED, MODIFIED or DELETED.
    Event {
        /// `Added`, `Updated` or `Deleted`.
        delta_type: DeltaType,
        /// The text of the object.
        text: Arc<str>,
    },
    /// A bookmark.
    Bookmark(ResourceVersion),
    /// An ERROR event, whose object is this Status.
    Error(Arc<str>),
    /// The connection ended with this code: 1000 where the server ended it.
    Closed(u16),
}

/// Something of the server's log.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// When, in milliseconds.
    pub at: f64,
    /// What.
    pub what: Sent,
}

/// What the server sends to a watch that has come as far as this.
#[derive(Clone, Debug, PartialEq)]
pub enum Sent {
    /// A change of an object.
    Change {
        /// `Added`, `Updated` or `Deleted`.
        delta_type: DeltaType,
        /// The object.
        object: Arc<Object>,
        /// Its text.
        text: Arc<str>,
    },
    /// A bookmark.
    Bookmark(ResourceVersion),
    /// An ERROR event with this Status, which ends the watch.
    Error(Arc<str>),
    /// The end of the connection.
    Closed(u16),
}

/// An object, and the text that it was read from.
type Item = (Arc<Object>, Arc<str>);

/// What the server had, and everything that happened there since the first list of the stream. A later list of the stream shows
/// what had changed without an event.
#[derive(Clone, Debug, Default)]
pub struct Server {
    initial: Vec<Item>,
    initial_version: ResourceVersion,
    has_list: bool,
    entries: Vec<Entry>,
    newest: FxHashMap<ObjectKey, Item>,
    unreadable: usize,
}

impl Server {
    /// Adds a recorded frame. Times never run backwards: a frame with an earlier one happens when the last one did.
    pub fn push(&mut self, at: f64, frame: Frame) {
        let at = self.entries.last().map_or(at, |last| last.at.max(at));
        match frame {
            Frame::List { version, items } => self.list(at, version, items),
            Frame::Event { delta_type, text } => match decode_metadata(&text) {
                Ok(object) => self.change(at, delta_type, Arc::new(object), text),
                Err(_) => self.unreadable += 1,
            },
            Frame::Bookmark(version) => self.entries.push(Entry { at, what: Sent::Bookmark(version) }),
            Frame::Error(status) => self.entries.push(Entry { at, what: Sent::Error(status) }),
            Frame::Closed(code) => self.entries.push(Entry { at, what: Sent::Closed(code) }),
        }
    }

    /// The first list is the beginning. A later one is compared with what is known, and what differs has happened before it.
    fn list(&mut self, at: f64, version: ResourceVersion, texts: Vec<Arc<str>>) {
        let mut items: Vec<Item> = Vec::with_capacity(texts.len());
        for text in texts {
            match decode_metadata(&text) {
                Ok(object) => items.push((Arc::new(object), text)),
                Err(_) => self.unreadable += 1,
            }
        }
        if !std::mem::replace(&mut self.has_list, true) && self.entries.is_empty() {
            self.newest = items.iter().map(|item| (item.0.key.clone(), item.clone())).collect();
            (self.initial, self.initial_version) = (items, version);
            return;
        }
        let listed: FxHashSet<&ObjectKey> = items.iter().map(|(object, _)| &object.key).collect();
        let mut gone: Vec<Item> =
            self.newest.values().filter(|(object, _)| !listed.contains(&object.key)).cloned().collect();
        sort::sort_by(&mut gone, |a, b| a.0.key.cmp(&b.0.key));
        for (object, text) in gone {
            self.change(at, DeltaType::Deleted, object, text);
        }
        for (object, text) in items {
            let known = self.newest.get(&object.key).map(|(known, _)| known);
            let delta_type = match known {
                None => DeltaType::Added,
                Some(known) if known.resource_version == object.resource_version => continue,
                Some(_) => DeltaType::Updated,
            };
            self.change(at, delta_type, object, text);
        }
    }

    fn change(&mut self, at: f64, delta_type: DeltaType, object: Arc<Object>, text: Arc<str>) {
        match delta_type {
            DeltaType::Deleted => drop(self.newest.remove(&object.key)),
            _ => drop(self.newest.insert(object.key.clone(), (object.clone(), text.clone()))),
        }
        self.entries.push(Entry { at, what: Sent::Change { delta_type, object, text } });
    }

    /// Returns how many entries the log has.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether nothing has happened since the first list.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns how many frames and items could not be read, and are left out.
    pub fn unreadable(&self) -> usize {
        self.unreadable
    }

    /// An entry of the log.
    pub fn entry(&self, at: usize) -> Option<&Entry> {
        self.entries.get(at)
    }

    /// Returns how many entries have happened at a time, in milliseconds.
    pub fn happened(&self, now: f64) -> usize {
        self.entries.partition_point(|entry| entry.at <= now)
    }

    /// The list that the server answers with after so many entries: its version, and the objects with their texts.
    pub fn list_after(&self, count: usize) -> (ResourceVersion, Vec<Item>) {
        let mut version = self.initial_version.clone();
        let mut objects: FxHashMap<&ObjectKey, &Item> = self.initial.iter().map(|item| (&item.0.key, item)).collect();
        let mut changed: FxHashMap<&ObjectKey, Option<Item>> = FxHashMap::default();
        for entry in self.entries.iter().take(count) {
            match &entry.what {
                Sent::Change { delta_type, object, text } => {
                    let present = *delta_type != DeltaType::Deleted;
                    changed.insert(&object.key, present.then(|| (object.clone(), text.clone())));
                    raise(&mut version, &object.resource_version);
                }
                Sent::Bookmark(reached) => raise(&mut version, reached),
                Sent::Error(_) | Sent::Closed(_) => {}
            }
        }
        objects.retain(|key, _| !changed.contains_key(key));
        let mut items: Vec<Item> = objects.into_values().cloned().chain(changed.into_values().flatten()).collect();
        sort::sort_by(&mut items, |a, b| a.0.key.cmp(&b.0.key));
        (version, items)
    }
}

fn raise(version: &mut ResourceVersion, other: &ResourceVersion) {
    if version.is_unset() || version.is_older_than(other) {
        version.clone_from(other);
    }
}
