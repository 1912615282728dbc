//! The rows of a table as they were at a moment.
//!
//! The rows are in a [`TableView`], as the present ones are. An object that has not changed since the moment has the object of
//! the store; any other is read from the recorder's text by its kind's decoder. A row of which neither is there has a name and
//! the words [`NOT_RECORDED`]. Rows come in this order: all names first, then the visible rows, then the rest in slices.

use std::sync::Arc;

use kubechurn_client::api::cells::Cells;
use kubechurn_client::api::extra::Keep;
use kubechurn_client::api::object::{Object, ObjectKey, ResourceVersion, decode_or_flag};
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::factory::SharedInformerFactory;
use kubechurn_columns::kinds::Kind;
use kubechurn_recorder::Record;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::history::coverage::{Known, Moment};
use crate::history::{AtMoment, History, Was};
use crate::kind_id::KindId;
use crate::table::filter::Filter;
use crate::table::order::{RowId, RowKey};
use crate::table::schema::TableSchema;
use crate::table::view::{Sort, TableView};
use crate::watches::Watches;

/// What stands beside a row whose version at the moment is not kept.
pub const NOT_RECORDED: &str = "not recorded";

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
    known: Vec<Known>,
    table: TableView,
    /// The rows that wait to be read, with the numbers of their versions.
    unread: FxHashMap<RowKey, u64>,
    /// The rows that waited to be read, the last one first.
    queue: Vec<(u64, RowKey)>,
    is_whole: bool,
}

impl Rewound {
    /// The table at a moment: every row with its name, and with all of it where the object has not changed since. The order is
    /// made as after a change of order: see [`TableView::seek`] and [`TableView::work`].
    pub fn at(
        moment: Moment,
        schema: Arc<TableSchema>,
        (sort, filter): (Sort, Filter),
        (history, present): (&History, &dyn Present),
    ) -> Rewound {
        let known: Vec<Known> =
            schema.kinds().iter().map(|kind| history.coverage.known(kind.resource, moment)).collect();
        let is_whole = known.iter().flat_map(|known| &known.parts).all(|part| history.is_whole(part, moment));
        let mut table = TableView::of(schema.clone());
        table.sort_by(sort);
        table.filter_by(filter);
        let (mut rows, mut sequences) = (Vec::new(), Vec::new());
        for (kind, number) in schema.kinds().iter().copied().zip((0..).map(KindId)) {
            let known = &known[number.index()];
            for past in history.past(kind.resource, known) {
                let (object, unread) = object_of(kind, &past, present);
                sequences.extend(unread.map(|sequence| (RowId(rows.len() as u32), sequence)));
                rows.push((number, object, past.last));
            }
            add_forgotten(&mut rows, (kind, number), (known, moment), (history, present));
        }
        table.fill(rows);
        let rows = sequences.into_iter().filter_map(|(id, sequence)| Some((sequence, table.rows().key_of(id)?)));
        let mut queue: Vec<(u64, RowKey)> = rows.collect();
        // What was received together lies together.
        queue.sort_unstable();
        let unread = queue.iter().map(|(sequence, row)| (*row, *sequence)).collect();
        Rewound { moment, known, table, unread, queue, is_whole }
    }

    /// Puts an object into the table.
    fn put(&mut self, number: KindId, kind: &'static Kind, past: &AtMoment<'_>, present: &dyn Present) {
        let (object, unread) = object_of(kind, past, present);
        self.forget_unread(number, past.key);
        self.table.put(number, &object, past.last);
        if let Some(sequence) = unread
            && let Some(row) = self.row_of(number, past.key)
        {
            self.unread.insert(row, sequence);
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

    /// How many rows are not read yet. They have a name and nothing else.
    pub fn unread(&self) -> usize {
        self.unread.len()
    }

    /// Reads these rows.
    pub fn read(&mut self, rows: &[RowId], history: &History) {
        for id in rows {
            if let Some(row) = self.table.rows().key_of(*id)
                && let Some(sequence) = self.unread.remove(&row)
            {
                self.read_one(row, sequence, history);
            }
        }
    }

    /// Reads rows until none is left or `more` says no. Returns whether some are left.
    pub fn work(&mut self, history: &History, mut more: impl FnMut() -> bool) -> bool {
        while more()
            && let Some((sequence, row)) = self.queue.pop()
        {
            if self.unread.get(&row) == Some(&sequence) {
                self.unread.remove(&row);
                self.read_one(row, sequence, history);
            }
        }
        !self.queue.is_empty()
    }

    fn read_one(&mut self, row: RowKey, sequence: u64, history: &History) {
        let Some(row) = self.table.rows().of_key(row) else { return };
        let (number, last) = (row.kind, (row.delta, row.changed_at));
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
            None => Object { flaw: Some(NOT_RECORDED.into()), ..Object::clone(&row.object) },
        };
        self.table.put(number, &Arc::new(object), last);
    }

    /// Goes to another moment. Only what was received between the two is looked at, where the watches were the same at both;
    /// otherwise all rows are made anew. Returns how many objects were looked at, or `None` if it was all of them.
    pub fn step(&mut self, moment: Moment, history: &History, present: &dyn Present) -> Option<usize> {
        let schema = self.table.schema().clone();
        let mut known: Vec<Known> =
            schema.kinds().iter().map(|kind| history.coverage.known(kind.resource, moment)).collect();
        let is_same = |one: &Known, other: &Known| {
            let mut parts = one.parts.iter().zip(&other.parts);
            one.parts.len() == other.parts.len() && parts.all(|(one, other)| one.is_same_watch(other))
        };
        let is_whole = |known: &[Known], moment| {
            known.iter().flat_map(|one| &one.parts).all(|part| history.is_whole(part, moment))
        };
        let is_whole = is_whole(&known, moment) && is_whole(&self.known, self.moment);
        if !is_whole || !known.iter().zip(&self.known).all(|(one, other)| is_same(one, other)) {
            let order = (self.table.arranged().sort(), self.table.arranged().filter().clone());
            *self = Rewound::at(moment, schema, order, (history, present));
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
                    if seen.insert(key.clone()) {
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

/// The rows of a table before they are in one.
type NewRows = Vec<(KindId, Arc<Object>, (DeltaType, f64))>;

/// Adds the present objects of which the recorder has forgotten even the name. They have not changed since that.
fn add_forgotten(
    rows: &mut NewRows,
    (kind, number): (&'static Kind, KindId),
    (known, moment): (&Known, Moment),
    (history, present): (&History, &dyn Present),
) {
    if !history.has_forgotten() || known.is_nothing() {
        return;
    }
    let named: FxHashSet<ObjectKey> = rows.iter().filter(|row| row.0 == number).map(|row| row.1.key.clone()).collect();
    present.each(kind, &mut |object| {
        let part = history.coverage.part_of(known, &object.key).filter(|part| part.is_current);
        let is_its = part.is_some_and(|part| history.is_whole(part, moment)) && !named.contains(&object.key);
        if is_its && !history.remembers(kind.resource, object) {
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
                (None, Some(record)) => (Arc::new(bare(past)), Some(record.sequence)),
                (None, None) => (not_recorded(past), None),
            }
        }
        Was::Version(record) => (Arc::new(bare(past)), Some(record.sequence)),
        Was::Evicted => (not_recorded(past), None),
    }
}

/// An object whose version is not kept.
fn not_recorded(past: &AtMoment<'_>) -> Arc<Object> {
    Arc::new(Object { flaw: Some(NOT_RECORDED.into()), ..bare(past) })
}

/// An object of which only the name is known.
fn bare(past: &AtMoment<'_>) -> Object {
    Object {
        key: past.key.clone(),
        uid: past.uid.clone(),
        resource_version: ResourceVersion::default(),
        cells: Cells::default(),
        flaw: None,
        owners: None,
        extra: None,
    }
}
