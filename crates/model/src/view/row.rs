//! What the screen shows of a row of the view.

use crate::rewind::NOT_RECORDED;
use crate::table::direction::direction;
use crate::table::filter::{Part, searched};
use crate::table::layout::{Layout, Source};
use crate::table::order::{RowId, RowKey};
use crate::table::view::{Progress, Row, TableView};
use crate::timeline::mark::{MarkType, grouped};
use crate::timeline::words::text::duration;
use crate::view::{CellModel, RowModel};
use kubechurn_client::api::cell::{CellRef, Tone};
use kubechurn_client::api::object::Object;
use kubechurn_client::api::time::{Timestamp, write_human_duration};
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::record::time::Time;
use kubechurn_columns::state::tone_of_cell;
use std::fmt::Write as _;

/// What is shown of a row beside its object.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Look {
    /// Whether the row's object is the one that the inspector shows.
    pub selected: bool,
    /// Whether the cursor is on the row (0), or on one of its cells (from 1).
    pub cursor: Option<usize>,
    /// Whether another moment than now is shown, and the object does not exist any more.
    pub gone: bool,
    /// Whether the object is not followed any more, so that it may be another by now.
    pub stale: bool,
    /// At another moment than now, what happens to it next.
    pub next: Option<Upcoming>,
}

/// What happens next to an object.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Upcoming {
    what: DeltaType,
    /// When, in milliseconds.
    at: f64,
    /// In how many tenths of a second, as it is shown.
    tenths: u32,
}

impl Upcoming {
    /// What happens at `at`, seen from `now`: with tenths of a second where it is soon.
    pub fn seen(what: DeltaType, at: f64, now: f64) -> Upcoming {
        let tenths = ((at - now) / 100.0).max(0.0) as u32;
        Upcoming { what, at, tenths: if tenths < 100 { tenths } else { tenths / 10 * 10 } }
    }
}

/// What a row showed last.
#[derive(Clone, Copy, Debug)]
pub struct Seen<'a> {
    /// What the row showed.
    pub model: &'a RowModel,
    /// Which of the kind's columns a change since then has touched, as bits; `None` where nothing has changed.
    pub changed: Option<u32>,
}

/// A row, and everything that decides what the screen shows of it.
#[derive(Clone, Copy, Debug)]
pub struct ShownRow<'a> {
    /// The rows.
    pub view: &'a TableView,
    /// The row's number in the view.
    pub id: RowId,
    /// The row.
    pub row: &'a Row,
    /// The position in the whole table, from 1.
    pub rank: usize,
    /// The selection, the cursor, and what became of it.
    pub look: Look,
    /// What the row showed last, if the row was in the document.
    pub before: Option<Seen<'a>>,
    /// The time by the server's clock, which ages are computed from.
    pub wall: Timestamp,
    /// The time, in milliseconds.
    pub now: f64,
}

/// How long a changed cell stays marked, in seconds of the wall clock.
const MARKED: i64 = 2;
/// How long a row counts as fresh after its object was added, in milliseconds.
const FRESH: f64 = 2_000.0;

/// What a row shows. Columns of the layout become wider where the row's texts need the room.
pub fn row_model(layout: &mut Layout, shown: ShownRow<'_>) -> RowModel {
    let ShownRow { view, id, row, rank, look, before, wall, now } = shown;
    let (object, filter) = (&row.object, view.arranged().filter());
    let (sources, schema) = (layout.sources.clone(), layout.schema().clone());
    let cells = sources.into_iter().enumerate().map(|(at, source)| {
        let mut text = String::new();
        let mut tone = Tone::Plain;
        let mut flashes = false;
        let mut marks = Vec::new();
        let last = before.and_then(|seen| seen.model.cells.get(at));
        let mut went = None;
        let mut about = None;
        match source {
            Source::Cluster => {
                text.push_str(schema.cluster(row.kind));
                marks = filter.marks(Part::Cluster, &text);
            }
            Source::Kind => {
                text.push_str(schema.label(row.kind));
                marks = filter.marks(Part::Kind, &text);
            }
            Source::Namespace => {
                text.push_str(&object.key.namespace);
                marks = filter.marks(Part::Namespace, &text);
            }
            Source::Name => {
                text.push_str(&object.key.name);
                marks = filter.marks(Part::Name, &text);
            }
            Source::Cell(column) => {
                let Some(cell) = schema.cell(row.kind, column) else { return CellModel::default() };
                if let Some(value) = object.cells.get(cell) {
                    if !filter.is_empty() {
                        // The text of a cell begins with the part that the filter searches.
                        searched(value, &mut text);
                        marks = filter.marks(Part::Column(column), &text);
                        text.clear();
                    }
                    value.write(wall, &mut text);
                    about = value.since().map(|Timestamp(since)| since as f64 * 1_000.0);
                    tone = schema
                        .kind(row.kind)
                        .map_or(value.tone(), |kind| tone_of_cell(kind.columns, &object.cells, cell));
                }
                let changed = before.and_then(|seen| seen.changed).unwrap_or(0);
                flashes = cell < 32 && changed & (1 << cell) != 0;
                if let Some((value, last)) = object.cells.get(cell).zip(last).filter(|_| flashes) {
                    went = direction(value, &last.text, &text);
                }
            }
            Source::Changed => {
                if row.deleted_at().is_some() {
                    text.push_str("deleted ");
                }
                // Of what was dropped it is not known when it came.
                if row.changed_at.is_finite() {
                    about = Some(row.changed_at);
                    write_human_duration(((now - row.changed_at) / 1000.0).max(0.0) as i64, &mut text);
                }
            }
            Source::Next => match look.next {
                Some(Upcoming { what, at, tenths }) => {
                    about = Some(at);
                    let _ = write!(text, "{} +{}", MarkType::from(what).glyph(), duration(f64::from(tenths) * 100.0));
                }
                None => text.push('–'),
            },
        }
        let fits = layout.make_room(at, &text);
        let since = last.and_then(|cell| cell.marked_at);
        let marked_at = if flashes { Some(wall.0) } else { since.filter(|since| wall.0 - since < MARKED) };
        // The arrow stays for as long as the mark.
        let went = if flashes { went } else { last.and_then(|cell| cell.went).filter(|_| marked_at.is_some()) };
        CellModel { whole: (!fits).then(|| text.clone()), text, marks, at: about, tone: tone.name(), marked_at, went }
    });
    let (cells, mark) = (cells.collect(), MarkType::from(row.delta));
    // Only a complete list has a mark: until then an ellipsis stands in its place.
    let delta = if row.provisional { ("provisional", "…") } else { (mark.name(), mark.glyph()) };
    RowModel {
        id: RowKey { id, born: row.born },
        rank,
        kind: schema.kind(row.kind).map_or("", |kind| kind.name),
        key: object.key.clone(),
        uid: object.uid.clone(),
        state: match () {
            () if row.provisional => "provisional",
            () if object.flaw.as_deref() == Some(NOT_RECORDED) => "unrecorded",
            () if row.deleted_at().is_some() => "deleted",
            () if look.stale => "stale",
            () => "live",
        },
        fresh: row.delta == DeltaType::Added && now - row.changed_at < FRESH,
        fading: row.deleted_at().map_or(0, |deleted_at| view.deleted().retention().fading(now - deleted_at)),
        selected: look.selected,
        cursor: look.cursor,
        gone: look.gone,
        flaw: object.flaw.clone(),
        deletion: object
            .deletion()
            .filter(|_| row.deleted_at().is_none() && !says_deletion(object))
            .map(|Timestamp(at)| format!("being deleted, and to be gone at {}", Time::from_seconds(at))),
        delta,
        cells,
    }
}

/// Whether a cell says that the object is being deleted.
fn says_deletion(object: &Object) -> bool {
    object.cells.iter().any(|cell| matches!(cell, CellRef::Status("Terminating", _)))
}

/// How far a new order or filter has come.
pub fn progress(progress: Progress) -> String {
    let word = if progress.sorting { "sorting" } else { "still filtering" };
    format!("{word}, {} of {}", grouped(progress.done as u64), grouped(progress.of as u64))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use kubechurn_client::cache::store::Change;

    use super::*;
    use crate::table::filter::Filter;
    use crate::table::layout::Arrangement;
    use crate::table::schema::TableSchema;
    use kubechurn_columns::kinds::pods;

    const MINUTE: f64 = 60_000.0;

    fn pod(version: u32, restarts: u32) -> Arc<Object> {
        let text = format!(
            r#"{{"metadata":{{"namespace":"shop","name":"web","uid":"u","resourceVersion":"{version}",
                "creationTimestamp":"1970-01-01T00:00:20Z"}},
                "spec":{{"containers":[{{}}]}},"status":{{"phase":"Running","containerStatuses":
                [{{"name":"a","ready":true,"restartCount":{restarts},"state":{{"running":{{}}}}}}]}}}}"#
        );
        Arc::new(pods::decode(&text).expect("a Pod"))
    }

    /// The row of the only Pod, as `TITLE=text`. Marked text stands in square brackets, with an arrow after it.
    fn shown(view: &TableView, layout: &mut Layout, before: Option<Seen<'_>>, at: f64) -> (RowModel, String) {
        let id = view.window(0, 1)[0];
        let row = view.row(id).expect("a row");
        let (rank, look, wall) = (1, Look::default(), Timestamp((at / 1000.0) as i64));
        let model = row_model(layout, ShownRow { view, id, row, rank, look, before, wall, now: at });
        let titles: Vec<&str> = layout.sources.iter().map(|source| layout.title(*source)).collect();
        let cells = titles.iter().zip(&model.cells).map(|(title, cell)| {
            let text = if cell.marked_at.is_some() { format!("[{}]", cell.text) } else { cell.text.clone() };
            format!("{title}={text}{}", cell.went.map_or("", |went| if went == "up" { "↑" } else { "↓" }))
        });
        let cells = cells.collect::<Vec<_>>().join(" ");
        (model, cells)
    }

    #[test]
    fn a_row_says_what_changed_for_a_while_and_when_it_was_deleted() {
        let mut layout = Layout::of(Arc::new(TableSchema::of(&[&pods::KIND])), false, &Arrangement::default());
        let mut view = TableView::default();
        view.apply(&Change::Added { new: pod(1, 3), listed: true, folded: 1 }, 0.0);
        let (first, cells) = shown(&view, &mut layout, None, MINUTE);
        assert_eq!(cells, "NAMESPACE=shop NAME=web READY=1/1 STATUS=Running RESTARTS=3 AGE=40s Δ=60s");
        assert_eq!((first.state, first.kind, first.fresh, first.delta.0), ("live", "pods", false, "Replaced"));
        // Whoever points at an age sees since when.
        let times = |row: &RowModel| row.cells.iter().map(|cell| cell.at).collect::<Vec<_>>();
        assert_eq!(times(&first), [None, None, None, None, None, Some(20_000.0), Some(0.0)]);

        view.apply(&Change::Updated { old: pod(1, 3), new: pod(2, 4), folded: 1 }, MINUTE);
        let changed = view.row(view.window(0, 1)[0]).expect("a row").changed;
        let before = Some(Seen { model: &first, changed: Some(changed) });
        let (second, cells) = shown(&view, &mut layout, before, MINUTE + 1_000.0);
        assert!(cells.contains("STATUS=Running RESTARTS=[4]↑ "), "{cells}");
        let again = |at| {
            let mut layout = Layout::of(layout.schema().clone(), false, &Arrangement::default());
            shown(&view, &mut layout, Some(Seen { model: &second, changed: None }), at).1
        };
        assert!(again(MINUTE + 2_000.0).contains("RESTARTS=[4]↑ "), "the mark stays for two seconds");
        assert!(again(MINUTE + 3_000.0).contains("RESTARTS=4 "), "and goes then");

        view.apply(&Change::Deleted { last: pod(3, 4), folded: 1, final_state_unknown: false }, 2.0 * MINUTE);
        let (gone, cells) = shown(&view, &mut layout, None, 2.0 * MINUTE + 5_000.0);
        assert!(gone.state == "deleted" && cells.ends_with("Δ=deleted 5s"), "{cells}");
    }

    #[test]
    fn a_row_says_where_the_filter_matched() {
        let schema = Arc::new(TableSchema::of(&[&pods::KIND]));
        let mut layout = Layout::of(schema.clone(), false, &Arrangement::default());
        let mut view = TableView::default();
        view.apply(&Change::Added { new: pod(1, 0), listed: false, folded: 1 }, 0.0);
        view.filter_by(Filter::over("eb run", &schema).expect("a filter"));
        while view.progress().is_some() {
            view.work(|| true);
        }
        let (model, _) = shown(&view, &mut layout, None, 500.0);
        let marks: Vec<_> = model.cells.iter().map(|cell| cell.marks.clone()).collect();
        assert_eq!(format!("{marks:?}"), "[[], [1..3], [], [0..3], [], [], []]");
        assert!(model.fresh, "it has just come");
    }
}
