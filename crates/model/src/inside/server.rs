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

/// A version that has come since a stream was made.
#[derive(Clone, Debug)]
pub struct Grown {
    /// When, in milliseconds.
    pub at: f64,
    /// `Added`, `Updated` or `Deleted`.
    pub delta_type: DeltaType,
    /// What is played of it.
    pub text: Arc<str>,
    /// How many bytes its text has.
    pub bytes: Option<u32>,
}

impl Grown {
    /// Adds it to a server's log.
    pub fn push(&self, server: &mut Server) {
        server.push(self.at, Frame::Event { delta_type: self.delta_type, text: self.text.clone() });
        if let (Some(bytes), Some(Sent::Change { object, .. })) =
            (self.bytes, server.entries.last().map(|entry| entry.what.clone()))
        {
            server.weigh(&object.key, &object.resource_version, bytes);
        }
    }
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

/// So many entries lie between two states of the server that are kept.
const EVERY: usize = 64;

/// What the server had, and everything that happened there since the first list of the stream. A later list of the stream shows
/// what had changed without an event.
#[derive(Clone, Debug, Default)]
pub struct Server {
    /// In the order of their keys.
    initial: Vec<Item>,
    initial_version: ResourceVersion,
    has_list: bool,
    entries: Vec<Entry>,
    newest: FxHashMap<ObjectKey, Item>,
    /// The version and the objects after each [`EVERY`] entries, so that a list need not begin with the first one.
    kept: Vec<(ResourceVersion, Vec<Item>)>,
    /// What came while it was played: of each piece its first entry, and from when on it is there, in milliseconds.
    pieces: Vec<(usize, f64)>,
    /// How many bytes the text of each version has.
    sizes: FxHashMap<(ObjectKey, ResourceVersion), u32>,
    unreadable: usize,
}

impl Server {
    /// Adds a recorded frame. Times never run backwards: a frame with an earlier one happens when the last one did.
    pub fn push(&mut self, at: f64, frame: Frame) {
        let at = self.entries.last().map_or(at, |last| last.at.max(at));
        match frame {
            Frame::List { version, items } => self.list(at, version, items),
            Frame::Event { delta_type, text } => match decode_metadata(&text) {
                Ok(object) => {
                    self.weigh(&object.key, &object.resource_version, text.len() as u32);
                    self.change(at, delta_type, Arc::new(object), text);
                }
                Err(_) => self.unreadable += 1,
            },
            Frame::Bookmark(version) => self.add(at, Sent::Bookmark(version)),
            Frame::Error(status) => self.add(at, Sent::Error(status)),
            Frame::Closed(code) => self.add(at, Sent::Closed(code)),
        }
    }

    fn add(&mut self, at: f64, what: Sent) {
        self.entries.push(Entry { at, what });
        if self.entries.len().is_multiple_of(EVERY) {
            let state = self.list_after(self.entries.len());
            self.kept.push(state);
        }
    }

    /// The first list is the beginning. A later one is compared with what is known, and what differs has happened before it.
    fn list(&mut self, at: f64, version: ResourceVersion, texts: Vec<Arc<str>>) {
        let mut items: Vec<Item> = Vec::with_capacity(texts.len());
        for text in texts {
            match decode_metadata(&text) {
                Ok(object) => {
                    self.weigh(&object.key, &object.resource_version, text.len() as u32);
                    items.push((Arc::new(object), text));
                }
                Err(_) => self.unreadable += 1,
            }
        }
        if !std::mem::replace(&mut self.has_list, true) && self.entries.is_empty() {
            self.newest = items.iter().map(|item| (item.0.key.clone(), item.clone())).collect();
            // Of a key that comes twice the last one holds.
            let mut items: Vec<Item> = self.newest.values().cloned().collect();
            sort::sort_by(&mut items, |a, b| a.0.key.cmp(&b.0.key));
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
        self.add(at, Sent::Change { delta_type, object, text });
    }

    /// Adds what has come since. It happens from a time on, in milliseconds, and until then the server is as if it came to its end.
    pub fn grow(&mut self, from: u64, frames: &[Grown]) {
        if from > 0 {
            self.pieces.push((self.entries.len(), from as f64));
        }
        frames.iter().for_each(|frame| frame.push(self));
    }

    /// From when on, in milliseconds, there is an entry: until then there was none after the one before it.
    pub fn begins(&self, entry: usize) -> f64 {
        self.pieces.iter().rev().find(|(at, _)| *at == entry).map_or(f64::NEG_INFINITY, |(_, from)| *from)
    }

    /// The text of a version has so many bytes: what is played of it is less.
    pub fn weigh(&mut self, key: &ObjectKey, version: &ResourceVersion, bytes: u32) {
        self.sizes.insert((key.clone(), version.clone()), bytes);
    }

    /// How many bytes the text of an object has; 0 where that is not known.
    pub fn bytes_of(&self, object: &Object) -> u64 {
        self.sizes.get(&(object.key.clone(), object.resource_version.clone())).copied().map_or(0, u64::from)
    }

    /// When the last entry happened, in milliseconds; negative infinity where there is none.
    pub fn last_at(&self) -> f64 {
        self.entries.last().map_or(f64::NEG_INFINITY, |last| last.at)
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
        let kept = (count / EVERY).min(self.kept.len());
        let (mut version, mut items) = match kept.checked_sub(1) {
            Some(at) => self.kept[at].clone(),
            None => (self.initial_version.clone(), self.initial.clone()),
        };
        for entry in &self.entries[kept * EVERY..count.min(self.entries.len())] {
            match &entry.what {
                Sent::Change { delta_type, object, text } => {
                    let place = items.binary_search_by(|(own, _)| own.key.cmp(&object.key));
                    match (place, *delta_type) {
                        (Ok(at), DeltaType::Deleted) => drop(items.remove(at)),
                        (Err(_), DeltaType::Deleted) => {}
                        (Ok(at), _) => items[at] = (object.clone(), text.clone()),
                        (Err(at), _) => items.insert(at, (object.clone(), text.clone())),
                    }
                    raise(&mut version, &object.resource_version);
                }
                Sent::Bookmark(reached) => raise(&mut version, reached),
                Sent::Error(_) | Sent::Closed(_) => {}
            }
        }
        (version, items)
    }
}

fn raise(version: &mut ResourceVersion, other: &ResourceVersion) {
    if version.is_unset() || version.is_older_than(other) {
        version.clone_from(other);
    }
}
