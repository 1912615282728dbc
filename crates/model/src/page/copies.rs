//! What the user takes out of the page: copies, and the table as a file.

use kubechurn_client::api::secret;
use kubechurn_client::api::time::Timestamp;

use crate::navigation::route::Route;
use crate::page::columns::Columns;
use crate::page::command::Copied;
use crate::page::context::Context;
use crate::page::effect::{Request, Slices};
use crate::page::requests::Purpose;
use crate::page::table::Table;
use crate::rewind::NOT_RECORDED;
use crate::table::command_line::{self, Listing};
use crate::table::export::{Export, Format, RowCells, file_name, tab_separated};
use crate::table::layout::Source;
use crate::table::view::Row;
use crate::timeline::mark::grouped;

/// Copies something, or shows why nothing can be copied.
pub(super) fn copy(copied: Copied, table: &Table, cx: &mut Context<'_>) {
    match text_of(copied, table, cx) {
        Some((what, text)) => {
            cx.request(Purpose::Copy(what, text.clone()), Request::Copy(text));
        }
        None => cx.show_message("No row is chosen: j and k, or the arrows, go to one."),
    }
}

/// Shows the user whether a copy succeeded.
pub(super) fn copied(what: &str, text: &str, done: bool, cx: &mut Context<'_>) {
    let words = match done {
        true => format!("Copied {what}: {}", shortened(text)),
        false => format!("The browser lets this page copy nothing. To copy by hand: {text}"),
    };
    cx.show_message(&words);
}

/// What is copied, in words, and the text to copy.
fn text_of(copied: Copied, table: &Table, cx: &Context<'_>) -> Option<(&'static str, String)> {
    let kinds = cx.navigation.kinds();
    Some(match copied {
        Copied::Name => ("the name", table.row_under_cursor(cx)?.1.object.key.name.to_string()),
        Copied::Cell => ("the cell", cell_text(table, table.row_under_cursor(cx)?.1, cx)),
        Copied::Row => {
            let (_, row) = table.row_under_cursor(cx)?;
            ("the row", tab_separated(&table.columns.layout, row.kind, &row.object, time_of(row, table, cx)))
        }
        Copied::ObjectCommandLine => {
            let (kind, row) = table.row_under_cursor(cx)?;
            ("the command line", command_line::object(kind, &row.object.key))
        }
        Copied::TableCommandLine if kinds.is_empty() => return None,
        Copied::TableCommandLine => {
            let Route { namespaces, labels, fields, wide, .. } = &cx.navigation.route;
            let listing = Listing { kinds: &kinds, namespaces, labels, fields, wide: *wide };
            ("the command line", listing.command_line())
        }
        Copied::Link => {
            let url = cx.env.url();
            let (text, is_whole) = secret::link(&url);
            let what = if is_whole { "the link" } else { "the link without the page's address, which is secret" };
            (what, text.to_owned())
        }
    })
}

/// The text of the cell under the cursor, or, if the cursor is on the whole row, the name.
fn cell_text(table: &Table, row: &Row, cx: &Context<'_>) -> String {
    let mut text = String::new();
    let layout = &table.columns.layout;
    let source = table.rows.cursor.cell().and_then(|cell| layout.sources.get(cell)).copied();
    let at = time_of(row, table, cx);
    let cells = RowCells { schema: layout.schema(), kind: row.kind, object: &row.object, at };
    cells.write(source.unwrap_or(Source::Name), &mut text);
    text
}

/// The time by the clock of a row's server.
fn time_of(row: &Row, table: &Table, cx: &Context<'_>) -> Timestamp {
    cx.times(table.columns.layout.schema()).get(row.kind.index()).copied().unwrap_or_default()
}

/// Writes the table into a file: the rows as they are now, or at the moment that is shown, however they change while the file is
/// written.
pub(super) fn export(format: Format, columns: &Columns, cx: &mut Context<'_>) {
    if let Some(rewound) = &mut cx.watching.rewound {
        // The file has all rows, in their order.
        rewound.work(&cx.watching.history, || true);
        rewound.table_mut().work(|| true);
    }
    let Some(view) = cx.watching.view() else { return };
    // Deleted rows that are still shown are left out, because their objects do not exist any more. Provisional rows
    // are left out, too: a file outlives the list, and whoever reads the file cannot see that the list was not
    // complete.
    let rows = view.window(0, view.len()).into_iter().filter_map(|id| view.row(id));
    let rows = rows.filter(|row| row.lives()).map(|row| (row.kind, row.object.clone()));
    let rows: Vec<_> = rows.collect();
    let unrecorded = rows.iter().filter(|(_, object)| object.flaw.as_deref() == Some(NOT_RECORDED)).count();
    let left_out = match (view.sums().provisional.rows, unrecorded) {
        (0, 0) => String::new(),
        (0, count) => format!(" {} of them are not recorded, and have their names alone.", grouped(count as u64)),
        (count, _) => format!(" {} provisional rows are left out: the list is not complete.", grouped(count as u64)),
    };
    let times = cx.times(columns.layout.schema());
    let export = Export::new(format, &columns.layout, rows, times);
    let Route { resource, namespaces, .. } = &cx.navigation.route;
    let name = file_name(resource, namespaces, &cx.words().for_file(cx.shown_at()), format);
    cx.show_message(&format!("Exporting {} rows …{left_out}", export.total()));
    let (media_type, slices) = (format.media_type(), Box::new(Slices::Table(export)));
    cx.request(Purpose::Save(name.clone()), Request::Save { name, media_type, slices });
}

/// Shows the user whether a file was saved.
pub(super) fn saved(name: &str, rows: Option<usize>, cx: &mut Context<'_>) {
    let words = match rows {
        Some(rows) => format!("Exported {rows} rows: {name}"),
        None => String::from("The browser lets this page keep no file."),
    };
    cx.show_message(&words);
}

/// The beginning of a text, in one line.
fn shortened(text: &str) -> String {
    const MOST: usize = 80;
    let mut short: String =
        text.chars().take(MOST).map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}
