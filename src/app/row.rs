//! From a row of the view to what the screen shows of it.

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::time::{Timestamp, write_human_duration};
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_model::page::direction::direction;
use kubechurn_model::page::layout::{Layout, Source};
use kubechurn_model::table::filter::{Place, searched};
use kubechurn_model::table::order::RowId;
use kubechurn_model::table::view::{Progress, Row, TableView};
use kubechurn_model::timeline::mark::{MarkType, grouped};

use crate::ui::screen::{CellModel, RowModel};

/// Whether the user looks at a row's object, and whether the keyboard's hand is on the row (0) or on one of its cells
/// (from 1).
pub(super) type Look = (bool, Option<usize>);

/// How long a changed cell stays marked, in seconds of the wall clock.
const MARKED: i64 = 2;
/// How long a row counts as just come.
const FRESH: f64 = 2_000.0;

/// What a row shows. `before` is what it showed last, and which columns a change since then touched.
#[expect(clippy::too_many_arguments, reason = "a row is made of these parts, in one place")]
pub(super) fn row_model(
    layout: &mut Layout,
    view: &TableView,
    (id, row): (RowId, &Row),
    rank: usize,
    (selected, hand): Look,
    before: Option<(&RowModel, Option<u32>)>,
    wall: Timestamp,
    now: f64,
) -> RowModel {
    let (object, filter) = (&row.object, view.filter());
    let (sources, face) = (layout.sources.clone(), layout.face().clone());
    let cells = sources.into_iter().enumerate().map(|(at, source)| {
        let mut text = String::new();
        let mut tone = Tone::Plain;
        let mut flashes = false;
        let mut marks = Vec::new();
        let last = before.and_then(|(model, _)| model.cells.get(at));
        let mut went = None;
        match source {
            Source::Kind => {
                text.push_str(face.label(row.kind));
                marks = filter.marks(Place::Kind, &text);
            }
            Source::Namespace => {
                text.push_str(&object.key.namespace);
                marks = filter.marks(Place::Namespace, &text);
            }
            Source::Name => {
                text.push_str(&object.key.name);
                marks = filter.marks(Place::Name, &text);
            }
            Source::Cell(column) => {
                let Some(cell) = face.cell(row.kind, column) else { return CellModel::default() };
                if let Some(value) = object.cells.get(cell) {
                    if !filter.is_empty() {
                        // The words of a cell begin with what of them is searched.
                        searched(value, &mut text);
                        marks = filter.marks(Place::Cell(column), &text);
                        text.clear();
                    }
                    value.write(wall, &mut text);
                    tone = value.tone();
                }
                let changed = before.and_then(|(_, changed)| changed).unwrap_or(0);
                flashes = cell < 32 && changed & (1 << cell) != 0;
                if let Some((value, last)) = object.cells.get(cell).zip(last).filter(|_| flashes) {
                    went = direction(value, &last.text, &text);
                }
            }
            Source::Changed => {
                if row.deleted_at().is_some() {
                    text.push_str("deleted ");
                }
                write_human_duration(((now - row.changed_at) / 1000.0).max(0.0) as i64, &mut text);
            }
        }
        let fits = layout.make_room(at, &text);
        let since = last.and_then(|cell| cell.marked_at);
        let marked_at = if flashes { Some(wall.0) } else { since.filter(|since| wall.0 - since < MARKED) };
        // While the mark stays, so does the arrow.
        let went = if flashes { went } else { last.and_then(|cell| cell.went).filter(|_| marked_at.is_some()) };
        CellModel { whole: (!fits).then(|| text.clone()), text, marks, tone: tone_name(tone), marked_at, went }
    });
    let (cells, mark) = (cells.collect(), MarkType::from(row.delta));
    RowModel {
        id: (id.0, row.born),
        rank,
        kind: face.kind(row.kind).map_or("", |kind| kind.name),
        key: object.key.clone(),
        uid: object.uid.clone(),
        state: if row.deleted_at().is_some() { "deleted" } else { "live" },
        fresh: row.delta == DeltaType::Added && now - row.changed_at < FRESH,
        fading: row.deleted_at().map_or(0, |deleted_at| view.linger().fading(now - deleted_at)),
        selected,
        hand,
        flaw: object.flaw.clone(),
        delta: (mark.name(), mark.glyph()),
        cells,
    }
}

/// How far a new order or filter has come.
pub(super) fn progress(progress: Progress) -> String {
    let word = if progress.sorting { "sorting" } else { "still filtering" };
    format!("{word}, {} of {}", grouped(progress.done as u64), grouped(progress.of as u64))
}

fn tone_name(tone: Tone) -> &'static str {
    match tone {
        Tone::Plain => "",
        Tone::Good => "good",
        Tone::Wait => "wait",
        Tone::Bad => "bad",
    }
}
