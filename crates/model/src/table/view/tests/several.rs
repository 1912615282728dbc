//! The view of several kinds against a plain sorted and filtered vector: same names, other columns.

use std::cmp::Ordering;

use proptest::prelude::*;

use kubechurn_client::api::cell::{Cell, Tone};
use kubechurn_client::api::object::ResourceVersion;

use super::super::*;
use super::RETENTION;
use kubechurn_columns::column::Column;
use kubechurn_columns::kinds::{Kind, kind};

/// READY is a number for the first kind and a ratio for the second, which has STATUS too; the third kind has neither.
const COLUMNS: [&[Column]; 3] = [
    &[Column::figures("READY"), Column::figures("AGE")],
    &[Column::words("STATUS"), Column::words("READY")],
    &[Column::figures("DATA")],
];

fn schema() -> Arc<TableSchema> {
    let names = ["replicasets", "pods", "configmaps"];
    let kinds = names.into_iter().zip(COLUMNS).map(|(name, columns)| -> &'static Kind {
        Box::leak(Box::new(Kind { columns, ..*kind(name).expect("a built-in kind") }))
    });
    Arc::new(TableSchema::of(&kinds.collect::<Vec<_>>()))
}

/// An object: its kind, name and number, when it changed, and whether it lives.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Plain {
    kind: KindId,
    name: String,
    number: i64,
    at: u64,
    live: bool,
}

impl Plain {
    fn cells(&self) -> Vec<Cell> {
        match self.kind.0 {
            0 => vec![Cell::Number(self.number), Cell::Static("new")],
            1 => vec![Cell::Status(format!("S{}", self.number % 3).into(), Tone::Good), Cell::Ratio(self.number, 9)],
            _ => vec![Cell::Static("none")],
        }
    }

    fn object(&self) -> Arc<Object> {
        Arc::new(Object {
            key: ObjectKey::new("shop", &self.name),
            uid: format!("{}-{}", self.kind.0, self.name).into(),
            resource_version: ResourceVersion::new("1"),
            cells: (&self.cells()[..]).into(),
            flaw: None,
            owners: None,
            extra: None,
        })
    }

    /// The cell under a title, as it is printed.
    fn under(&self, title: &str) -> Option<Cell> {
        let at = COLUMNS[self.kind.index()].iter().position(|column| column.title == title)?;
        self.cells().into_iter().nth(at)
    }

    fn label(&self) -> &'static str {
        ["ReplicaSet", "Pod", "ConfigMap"][self.kind.index()]
    }

    fn is_shown(&self, filter: &str) -> bool {
        let ready = self.under("READY").map(|cell| match cell {
            Cell::Ratio(part, whole) => format!("{part}/{whole}"),
            Cell::Number(number) => number.to_string(),
            cell => cell.text().unwrap_or_default().to_owned(),
        });
        let has = |word: &str| {
            let texts = [self.name.clone(), "shop".into(), self.label().to_lowercase()];
            let cells = self.cells().into_iter().filter_map(|cell| cell.text().map(str::to_lowercase));
            texts.into_iter().chain(cells).chain(ready.clone()).any(|text| text.contains(word))
        };
        match filter {
            "KIND:pod" => self.kind == KindId(1),
            "!KIND:set" => self.kind != KindId(0),
            "KIND:/^(pod|configmap)$/" => self.kind != KindId(0),
            "READY:2" => ready.is_some_and(|ready| ready.contains('2')),
            "STATUS:s1" => self.kind == KindId(1) && self.number % 3 == 1,
            "!STATUS:s1" => !(self.kind == KindId(1) && self.number % 3 == 1),
            word => word.is_empty() || has(word),
        }
    }
}

const FILTERS: [&str; 9] =
    ["", "KIND:pod", "!KIND:set", "KIND:/^(pod|configmap)$/", "READY:2", "STATUS:s1", "!STATUS:s1", "pod", "s2"];
const SORTS: [&str; 6] = ["KEY", "NAME", "KIND", "READY", "STATUS", "CHANGED"];

fn sort_key(schema: &TableSchema, title: &str) -> SortKey {
    match title {
        "KEY" => SortKey::Key,
        "NAME" => SortKey::Name,
        "KIND" => SortKey::Kind,
        "CHANGED" => SortKey::Changed,
        title => SortKey::Column(
            schema.columns().iter().position(|column| column.title == title).expect("a title of the schema"),
        ),
    }
}

fn compare(one: &Plain, two: &Plain, title: &str, descending: bool) -> Ordering {
    let by = match title {
        "KIND" => one.label().cmp(two.label()),
        "CHANGED" => two.at.cmp(&one.at),
        "READY" | "STATUS" => match (one.under(title), two.under(title)) {
            (Some(one), Some(two)) => one.compare(&two),
            (None, None) => Ordering::Equal,
            (one, _) => return if one.is_none() { Ordering::Greater } else { Ordering::Less },
        },
        _ => one.name.cmp(&two.name),
    };
    let by = if descending { by.reverse() } else { by };
    by.then_with(|| (&one.name, one.kind).cmp(&(&two.name, two.kind)))
}

fn shown(view: &TableView) -> Vec<Plain> {
    let rows = view.window(0, 10_000).into_iter().filter_map(|id| view.row(id)).map(|row| {
        let number = row.object.cells.iter().find_map(|cell| match cell {
            kubechurn_client::api::cell::CellRef::Number(number)
            | kubechurn_client::api::cell::CellRef::Ratio(number, _) => Some(number),
            _ => None,
        });
        let (at, live) = (row.changed_at as u64, row.deleted_at().is_none());
        Plain { kind: row.kind, name: row.object.key.name.to_string(), number: number.unwrap_or(0), at, live }
    });
    rows.collect()
}

#[derive(Clone, Debug)]
enum Step {
    Put(KindId, u8, i64),
    Delete(KindId, u8),
    Expire,
    Sort(usize, bool),
    Filter(usize),
    Work(u8),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (0..3_u8, 0..12_u8, 0..30_i64).prop_map(|(kind, name, number)| Step::Put(KindId(kind), name, number)),
        2 => (0..3_u8, 0..12_u8).prop_map(|(kind, name)| Step::Delete(KindId(kind), name)),
        1 => Just(Step::Expire),
        1 => (0..SORTS.len(), any::<bool>()).prop_map(|(key, descending)| Step::Sort(key, descending)),
        1 => (0..FILTERS.len()).prop_map(Step::Filter),
        3 => (1..6_u8).prop_map(Step::Work),
    ];
    proptest::collection::vec(step, 0..200)
}

proptest! {
    #[test]
    fn a_view_of_several_kinds_ends_as_a_plain_sorted_and_filtered_vector(steps in steps()) {
        let schema = schema();
        let mut view = TableView::of(schema.clone());
        let mut rows: Vec<Plain> = Vec::new();
        let (mut now, mut sort, mut descending, mut words) = (0_u64, "KEY", false, "");
        for step in steps {
            now += 400;
            match step {
                Step::Put(kind, name, number) => {
                    let number = if kind == KindId(2) { 0 } else { number };
                    let new = Plain { kind, name: format!("n{name}"), number, at: now, live: true };
                    let object = new.object();
                    match rows.iter_mut().find(|row| (row.kind, &row.name, row.live) == (kind, &new.name, true)) {
                        Some(row) => {
                            let change = Change::Updated { old: row.object(), new: object, folded: 1 };
                            view.apply_of(kind, &change, now as f64);
                            *row = new;
                        }
                        None => {
                            view.apply_of(kind, &Change::Added { new: object, listed: false, folded: 1 }, now as f64);
                            rows.push(new);
                        }
                    }
                }
                Step::Delete(kind, name) => {
                    let name = format!("n{name}");
                    let known = rows.iter_mut().find(|row| (row.kind, &row.name, row.live) == (kind, &name, true));
                    let last = known.as_ref().map(|row| row.object());
                    // A deletion of what is not there changes nothing, also where another kind has the name.
                    let none = Plain { kind, name, number: 0, at: now, live: false };
                    let last = last.unwrap_or_else(|| none.object());
                    let change = Change::Deleted { last, folded: 1, final_state_unknown: false };
                    view.apply_of(kind, &change, now as f64);
                    if let Some(row) = known {
                        (row.at, row.live) = (now, false);
                    }
                }
                Step::Expire => {
                    view.expire(now as f64);
                    rows.retain(|row| row.live || ((now - row.at) as f64) < RETENTION);
                    let mut gone: Vec<u64> = rows.iter().filter(|row| !row.live).map(|row| row.at).collect();
                    gone.sort_unstable();
                    let oldest = gone.len().checked_sub(MOST).map_or(0, |first| gone[first]);
                    rows.retain(|row| row.live || row.at >= oldest);
                }
                Step::Sort(key, turned) => {
                    (sort, descending) = (SORTS[key], turned);
                    view.sort_by(Sort { key: sort_key(&schema, sort), descending });
                }
                Step::Filter(at) => {
                    words = FILTERS[at];
                    view.filter_by(Filter::over(words, &schema).expect("a filter"));
                }
                Step::Work(mut slices) => {
                    view.work(|| {
                        slices -= 1;
                        slices > 0
                    });
                }
            }
        }
        while view.work(|| true) {}
        let mut expected: Vec<Plain> = rows.iter().filter(|row| row.is_shown(words)).cloned().collect();
        expected.sort_by(|one, two| compare(one, two, sort, descending));
        let found = shown(&view);
        // Nothing decides which of two rows of one object comes first.
        let key = |row: &Plain| (row.kind, row.name.clone());
        prop_assert!(found.iter().map(key).eq(expected.iter().map(key)), "{:?}\n{:?}", found, expected);
        let (mut one, mut two) = (found.clone(), expected.clone());
        one.sort();
        two.sort();
        prop_assert_eq!(one, two);
        let live = |rows: &[Plain]| rows.iter().filter(|row| row.live).count();
        prop_assert_eq!(view.counts(), (live(&expected), live(&rows)));
        for row in rows.iter().filter(|row| row.live) {
            let id = view.find(row.kind, &ObjectKey::new("shop", &row.name));
            prop_assert_eq!(id.and_then(|id| view.row(id)).map(|row| row.kind), Some(row.kind));
        }
    }
}

#[test]
fn what_has_no_such_cell_stands_last_whichever_way() {
    let schema = schema();
    let mut view = TableView::of(schema.clone());
    for (kind, number) in [(2, 0), (0, 5), (1, 4), (1, 1), (0, 7)] {
        let new = Plain { kind: KindId(kind), name: format!("n{number}"), number, at: 0, live: true }.object();
        view.apply_of(KindId(kind), &Change::Added { new, listed: true, folded: 1 }, 0.0);
    }
    let names = |view: &TableView| {
        shown(view).iter().map(|row| format!("{}{}", row.kind.0, row.name)).collect::<Vec<_>>().join(" ")
    };
    for (title, descending, expected) in [
        ("READY", false, "0n5 0n7 1n1 1n4 2n0"),
        ("READY", true, "1n4 1n1 0n7 0n5 2n0"),
        ("STATUS", true, "1n1 1n4 2n0 0n5 0n7"),
        ("KIND", false, "2n0 1n1 1n4 0n5 0n7"),
        ("KIND", true, "0n5 0n7 1n1 1n4 2n0"),
    ] {
        view.sort_by(Sort { key: sort_key(&schema, title), descending });
        while view.work(|| true) {}
        assert_eq!(names(&view), expected, "{title} {descending}");
    }
}

#[test]
fn a_row_is_no_larger_for_its_kind() {
    // A pointer, a time, four numbers and four bytes.
    assert_eq!(size_of::<Row>(), if cfg!(target_pointer_width = "64") { 40 } else { 32 });
}
