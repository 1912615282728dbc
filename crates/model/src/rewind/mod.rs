//! The rows of a table as they were at a moment.
//!
//! The rows are in a [`TableView`], as the present ones are. An object that has not changed since the moment has the object of
//! the store; any other is read from the recorder's text by its kind's decoder. A row of which neither is there has a name and
//! the words [`NOT_RECORDED`]. Rows come in this order: all names first, then the visible rows, then the rest in slices.

pub mod banner;

use std::sync::Arc;

use kubechurn_client::api::cells::Cells;
use kubechurn_client::api::extra::Keep;
use kubechurn_client::api::object::{Object, ObjectKey, ResourceVersion, decode_or_flag};
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::factory::SharedInformerFactory;
use kubechurn_columns::kinds::Kind;
use kubechurn_recorder::Record;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::history::coverage::{Known, Moment};
use crate::history::{AtMoment, History, Was};
use crate::kind_id::KindId;
use crate::table::order::{RowId, RowKey};
use crate::table::schema::TableSchema;
use crate::table::view::{Row, TableView};
use crate::watches::Watches;

/// What stands beside a row whose version at the moment is not kept.
pub const NOT_RECORDED: &str = "not recorded";

/// For so many rows that wait there is always space.
const FEW: usize = 256;

/// The objects as they are now.
pub trait Present {
    /// The object that has this name.
    fn find(&self, kind: &'static Kind, key: &ObjectKey) -> Option<&Arc<Object>>;
    /// Calls `each` with every object of a kind.
    fn each(&self, kind: &'static Kind, each: &mut dyn FnMut(&Arc<Object>));
}

/// The stores of what is watched.
#[derive(Debug)]
pub struct Stores<'a> {
    /// What is watched.
    pub watches: &'a Watches,
    /// Its informers.
    pub informers: &'a SharedInformerFactory,
}

impl Present for Stores<'_> {
    fn find(&self, kind: &'static Kind, key: &ObjectKey) -> Option<&Arc<Object>> {
        let watched = self.watches.iter().find(|watched| watched.kind() == kind)?;
        watched.informers(self.informers).find_map(|informer| informer.store().get(key))
    }

    fn each(&self, kind: &'static Kind, each: &mut dyn FnMut(&Arc<Object>)) {
        let watched = self.watches.iter().filter(|watched| watched.kind() == kind);
        watched.flat_map(|watched| watched.objects(self.informers)).for_each(each);
    }
}

/// A table at a moment.
#[derive(Debug)]
pub struct Rewound {
    moment: Moment,
    /// The namespaces whose objects are rows; empty for all.
    namespaces: Vec<String>,
    known: Vec<Known>,
    table: TableView,
    /// The rows that wait to be read.
    unread: FxHashMap<RowKey, Unread>,
    /// The rows that waited to be read, the last one first.
    queue: Vec<(u64, RowKey)>,
    is_whole: bool,
}

/// A version that is still to be read.
#[derive(Clone, Copy, Debug)]
struct Unread {
    /// Its number.
    sequence: u64,
    /// What happened to the object with it, and when.
    last: (DeltaType, f64),
}

impl Rewound {
    /// The table at a moment: every row with its name, and with all of it where the object has not changed since. The order is
    /// made as after a change of order: see [`TableView::seek`] and [`TableView::work`]. Of kinds with namespaces only objects in
    /// these `namespaces` are rows, unless there are none.
    pub fn at(
        moment: Moment,
        schema: Arc<TableSchema>,
        namespaces: &[String],
        (history, present): (&History, &dyn Present),
    ) -> Rewound {
        let namespaces = namespaces.to_vec();
        let known = known(&schema, &namespaces, moment, history);
        let is_whole = known.iter().flat_map(|known| &known.parts).all(|part| history.is_whole(part, moment));
        let mut table = TableView::of(schema.clone());
        let (mut rows, mut sequences) = (Vec::new(), Vec::new());
        for (kind, number) in schema.kinds().iter().copied().zip((0..).map(KindId)) {
            let known = &known[number.index()];
            for past in history.past(kind.resource, known).filter(|past| is_chosen(&namespaces, kind, past.key)) {
                let (object, unread) = object_of(kind, &past, present);
                let id = RowId(rows.len() as u32);
                sequences.extend(unread.map(|sequence| (id, Unread { sequence, last: past.last })));
                rows.push((number, object, past.last));
            }
            let is_wanted = |object: &Object| is_chosen(&namespaces, kind, &object.key);
            add_forgotten(&mut rows, (kind, number), (known, moment), (history, present), &is_wanted);
        }
        table.fill(rows);
        let rows = sequences.into_iter().filter_map(|(id, unread)| Some((table.rows().key_of(id)?, unread)));
        let unread: FxHashMap<RowKey, Unread> = rows.collect();
        let mut queue: Vec<(u64, RowKey)> = unread.iter().map(|(row, unread)| (unread.sequence, *row)).collect();
        // What was received together lies together.
        queue.sort_unstable();
        Rewound { moment, namespaces, known, table, unread, queue, is_whole }
    }

    /// Puts an object into the table. A row of the same object that is still to be read shows until then what it shows.
    fn put(&mut self, number: KindId, kind: &'static Kind, past: &AtMoment<'_>, present: &dyn Present) {
        let (object, unread) = object_of(kind, past, present);
        self.forget_unread(number, past.key);
        let is_known = || {
            let row = self.table.find(number, past.key).and_then(|id| self.table.row(id));
            row.is_some_and(|row| row.object.uid == *past.uid)
        };
        if unread.is_none() || !is_known() {
            self.table.put(number, &object, past.last);
        }
        if let Some(sequence) = unread
            && let Some(row) = self.row_of(number, past.key)
        {
            self.unread.insert(row, Unread { sequence, last: past.last });
            self.queue.push((sequence, row));
        }
    }

    fn row_of(&self, number: KindId, key: &ObjectKey) -> Option<RowKey> {
        self.table.rows().key_of(self.table.find(number, key)?)
    }

    fn forget_unread(&mut self, number: KindId, key: &ObjectKey) {
        if !self.unread.is_empty()
            && let Some(row) = self.row_of(number, key)
        {
            self.unread.remove(&row);
        }
    }

    /// Whether the rows are those of these kinds in these namespaces.
    pub fn is_of(&self, schema: &TableSchema, namespaces: &[String]) -> bool {
        **self.table.schema() == *schema && self.namespaces == namespaces
    }

    /// The moment.
    pub fn moment(&self) -> Moment {
        self.moment
    }

    /// What was known of each kind.
    pub fn known(&self) -> &[Known] {
        &self.known
    }

    /// Whether each object that was known is a row. Otherwise so much was dropped since that names were forgotten.
    pub fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The rows.
    pub fn table(&self) -> &TableView {
        &self.table
    }

    /// The rows, to be sorted and filtered.
    pub fn table_mut(&mut self) -> &mut TableView {
        &mut self.table
    }

    /// What happens next to the object of a row, and when, in milliseconds.
    pub fn next(&self, row: &Row, history: &History) -> Option<(DeltaType, f64)> {
        let kind = self.table.schema().kind(row.kind)?;
        history.next_of(kind.resource, &row.object.key, self.known.get(row.kind.index())?)
    }

    /// How many rows are not read yet. They have a name, and show nothing, or what they showed at the moment before.
    pub fn unread(&self) -> usize {
        self.unread.len()
    }

    /// Reads these rows.
    pub fn read(&mut self, rows: &[RowId], history: &History) {
        for id in rows {
            if let Some(row) = self.table.rows().key_of(*id)
                && let Some(unread) = self.unread.remove(&row)
            {
                self.read_one(row, unread, history);
            }
        }
    }

    /// Reads rows until none is left or `more` says no. Returns whether some are left.
    pub fn work(&mut self, history: &History, mut more: impl FnMut() -> bool) -> bool {
        while more()
            && let Some((sequence, row)) = self.queue.pop()
        {
            if let Some(unread) = self.unread.get(&row).copied().filter(|unread| unread.sequence == sequence) {
                self.unread.remove(&row);
                self.read_one(row, unread, history);
            }
        }
        if self.queue.is_empty() {
            // What waited for all rows takes a seventh of a moment's memory, and playing on needs little of it.
            self.queue.shrink_to(FEW);
            self.unread.shrink_to(FEW);
        }
        !self.queue.is_empty()
    }

    fn read_one(&mut self, row: RowKey, Unread { sequence, last }: Unread, history: &History) {
        let Some(row) = self.table.rows().of_key(row) else { return };
        let number = row.kind;
        let Some(kind) = self.table.schema().kind(number) else { return };
        let keep = Keep { labels: self.table.schema().has_labels(), owners: true, ..Keep::default() };
        let object = history.text(sequence).and_then(|text| {
            let mut object = decode_or_flag(kind.decode, &text).ok()?;
            object.keep(&text, keep).ok()?;
            Some(object)
        });
        let object = match object {
            // The name is shared with all rows that this object ever had.
            Some(object) => Object { key: row.object.key.clone(), uid: row.object.uid.clone(), ..object },
            None => not_recorded(&row.object.key, &row.object.uid),
        };
        self.table.put(number, &Arc::new(object), last);
    }

    /// Goes to another moment. Only what was received between the two is looked at, where the watches were the same at both;
    /// otherwise all rows are made anew. Returns how many objects were looked at, or `None` if it was all of them.
    pub fn step(&mut self, moment: Moment, history: &History, present: &dyn Present) -> Option<usize> {
        let schema = self.table.schema().clone();
        let mut known = known(&schema, &self.namespaces, moment, history);
        let is_same = |one: &Known, other: &Known| {
            let mut parts = one.parts.iter().zip(&other.parts);
            one.parts.len() == other.parts.len() && parts.all(|(one, other)| one.is_same_watch(other))
        };
        let is_whole = |known: &[Known], moment| {
            known.iter().flat_map(|one| &one.parts).all(|part| history.is_whole(part, moment))
        };
        let is_whole = is_whole(&known, moment) && is_whole(&self.known, self.moment);
        if !is_whole || !known.iter().zip(&self.known).all(|(one, other)| is_same(one, other)) {
            let (sort, filter) = (self.table.arranged().sort(), self.table.arranged().filter().clone());
            *self = Rewound::at(moment, schema, &self.namespaces, (history, present));
            self.table.sort_by(sort);
            self.table.filter_by(filter);
            return None;
        }
        std::mem::swap(&mut self.known, &mut known);
        self.moment = moment;
        let mut looked = 0;
        for (kind, number) in schema.kinds().iter().copied().zip((0..).map(KindId)) {
            let (before, after) = (&known[number.index()], std::mem::take(&mut self.known[number.index()]));
            let mut seen = FxHashSet::default();
            for (part, earlier) in after.parts.iter().zip(&before.parts) {
                history.each_between(kind.resource, (earlier.received, part.received), &mut |key| {
                    if is_chosen(&self.namespaces, kind, key) && seen.insert(key.clone()) {
                        looked += 1;
                        match history.past_of(kind.resource, key, &after) {
                            Some(past) => self.put(number, kind, &past, present),
                            None => {
                                self.forget_unread(number, key);
                                self.table.take_out(number, key);
                            }
                        }
                    }
                });
            }
            self.known[number.index()] = after;
        }
        Some(looked)
    }
}

/// What was known of each kind in these namespaces at a moment.
fn known(schema: &TableSchema, namespaces: &[String], moment: Moment, history: &History) -> Vec<Known> {
    let kinds = schema.kinds().iter();
    kinds.map(|kind| history.coverage.known_in(kind.resource, namespaces, moment)).collect()
}

/// What is known of one object at a moment.
#[derive(Clone, Debug)]
pub enum Then {
    /// It was like this.
    Object(Arc<Object>),
    /// It existed, and its version is not kept.
    NotRecorded,
    /// It did not exist, as far as that is known.
    Absent,
}

/// An object as it was at a moment. It is read, unless it is the one that was read `last`.
pub fn object_then(
    kind: &'static Kind,
    key: &ObjectKey,
    moment: Moment,
    (history, present): (&History, &dyn Present),
    last: Option<&Arc<Object>>,
) -> Then {
    let known = history.coverage.known(kind.resource, moment);
    let Some(past) = history.past_of(kind.resource, key, &known) else { return Then::Absent };
    let (object, unread) = object_of(kind, &past, present);
    let Some(sequence) = unread else {
        return if object.flaw.as_deref() == Some(NOT_RECORDED) { Then::NotRecorded } else { Then::Object(object) };
    };
    let version = history.version_of_number(sequence);
    let is_it = |last: &&Arc<Object>| last.uid == *past.uid && Some(&last.resource_version) == version.as_ref();
    let read = || {
        let text = history.text(sequence)?;
        let mut object = decode_or_flag(kind.decode, &text).ok()?;
        object.keep(&text, Keep { labels: true, owners: true, ..Keep::default() }).ok()?;
        Some(Arc::new(object))
    };
    last.filter(is_it).cloned().or_else(read).map_or(Then::NotRecorded, Then::Object)
}

/// Whether an object is in one of the chosen namespaces, or its kind has none.
pub fn is_chosen(namespaces: &[String], kind: &Kind, key: &ObjectKey) -> bool {
    namespaces.is_empty() || !kind.resource.namespaced || namespaces.iter().any(|name| *name == *key.namespace)
}

/// The rows of a table before they are in one.
type NewRows = Vec<(KindId, Arc<Object>, (DeltaType, f64))>;

/// Adds the present objects of which the recorder has forgotten even the name. They have not changed since that.
fn add_forgotten(
    rows: &mut NewRows,
    (kind, number): (&'static Kind, KindId),
    (known, moment): (&Known, Moment),
    (history, present): (&History, &dyn Present),
    is_wanted: &dyn Fn(&Object) -> bool,
) {
    if !history.has_forgotten() || known.is_nothing() {
        return;
    }
    let named: FxHashSet<ObjectKey> = rows.iter().filter(|row| row.0 == number).map(|row| row.1.key.clone()).collect();
    present.each(kind, &mut |object| {
        let part = history.coverage.part_of(known, &object.key).filter(|part| part.is_current);
        let is_its = part.is_some_and(|part| history.is_whole(part, moment)) && !named.contains(&object.key);
        if is_its && is_wanted(object) && !history.remembers(kind.resource, object) {
            rows.push((number, object.clone(), (DeltaType::Replaced, f64::NEG_INFINITY)));
        }
    });
}

/// An object as it was, and the number of the version that is to be read if it is not the present one.
fn object_of(kind: &'static Kind, past: &AtMoment<'_>, present: &dyn Present) -> (Arc<Object>, Option<u64>) {
    match past.was {
        Was::Newest(record) => {
            // The store may be behind what was received.
            let same = present.find(kind, past.key).filter(|object| {
                let is_of = |record: &Record| record.is_of(&object.resource_version);
                object.uid == *past.uid && record.is_none_or(is_of)
            });
            match (same, record) {
                (Some(object), _) => (object.clone(), None),
                (None, Some(record)) => (Arc::new(bare(past.key, past.uid)), Some(record.sequence)),
                (None, None) => (Arc::new(not_recorded(past.key, past.uid)), None),
            }
        }
        Was::Version(record) => (Arc::new(bare(past.key, past.uid)), Some(record.sequence)),
        Was::Evicted => (Arc::new(not_recorded(past.key, past.uid)), None),
    }
}

/// An object whose version is not kept.
fn not_recorded(key: &ObjectKey, uid: &Uid) -> Object {
    Object { flaw: Some(NOT_RECORDED.into()), ..bare(key, uid) }
}

/// An object of which only the name is known.
pub fn bare(key: &ObjectKey, uid: &Uid) -> Object {
    Object {
        key: key.clone(),
        uid: uid.clone(),
        resource_version: ResourceVersion::default(),
        cells: Cells::default(),
        flaw: None,
        owners: None,
        extra: None,
    }
}
