//! What the user takes out of the page: copies, and the table as a file.

use kubechurn_client::api::secret;

use crate::page::command::Copied;
use crate::page::command_line::{self, Listing};
use crate::page::effect::Request;
use crate::page::environment::Environment;
use crate::page::export::{Export, Format, RowCells, file_name, tab_separated};
use crate::page::layout::Source;
use crate::page::route::Route;
use crate::page::state::Page;
use crate::page::state::requests::Purpose;
use crate::table::view::Row;
use crate::timeline::mark::grouped;

impl Page {
    /// Copies something, or tells why nothing can be copied.
    pub(super) fn copy(&mut self, copied: Copied, env: &dyn Environment) {
        match self.text_of(copied, env) {
            Some((what, text)) => {
                self.request(Purpose::Copy(what, text.clone()), Request::Copy(text));
            }
            None => self.tell("No row is chosen: j and k, or the arrows, go to one.", env.now()),
        }
    }

    /// Tells the user whether a copy succeeded.
    pub(super) fn copied(&mut self, what: &str, text: &str, done: bool, now: f64) {
        let words = match done {
            true => format!("Copied {what}: {}", shortened(text)),
            false => format!("The browser lets this page copy nothing. To copy by hand: {text}"),
        };
        self.tell(&words, now);
    }

    /// What is copied, in words, and the text to copy.
    fn text_of(&self, copied: Copied, env: &dyn Environment) -> Option<(&'static str, String)> {
        let kinds = self.kinds();
        Some(match copied {
            Copied::Name => ("the name", self.row_under_cursor()?.1.object.key.name.to_string()),
            Copied::Cell => ("the cell", self.cell_text(self.row_under_cursor()?.1, env)),
            Copied::Row => {
                let (_, row) = self.row_under_cursor()?;
                ("the row", tab_separated(&self.columns.layout, row.kind, &row.object, env.wall()))
            }
            Copied::ObjectCommandLine => {
                let (kind, row) = self.row_under_cursor()?;
                ("the command line", command_line::object(kind, &row.object.key))
            }
            Copied::TableCommandLine if kinds.is_empty() => return None,
            Copied::TableCommandLine => {
                let Route { namespaces, labels, fields, wide, .. } = &self.place.route;
                let listing = Listing { kinds: &kinds, namespaces, labels, fields, wide: *wide };
                ("the command line", listing.command_line())
            }
            Copied::Link => {
                let url = env.url();
                let (text, is_whole) = secret::link(&url);
                let what = if is_whole { "the link" } else { "the link without the page's address, which is secret" };
                (what, text.to_owned())
            }
        })
    }

    /// The text of the cell under the cursor, or, if the cursor is on the whole row, the name.
    fn cell_text(&self, row: &Row, env: &dyn Environment) -> String {
        let mut text = String::new();
        let layout = &self.columns.layout;
        let source = self.rows.cursor.cell().and_then(|cell| layout.sources.get(cell)).copied();
        let cells = RowCells { schema: layout.schema(), kind: row.kind, object: &row.object, at: env.wall() };
        cells.write(source.unwrap_or(Source::Name), &mut text);
        text
    }

    /// Writes the table into a file: the rows as they are now, however they change while the file is written.
    pub(super) fn export(&mut self, format: Format, env: &dyn Environment) {
        let Some(view) = self.watching.watches.view() else { return };
        // Deleted rows that are still shown are left out, because their objects do not exist any more. Provisional rows
        // are left out, too: a file outlives the list, and whoever reads the file cannot see that the list was not
        // complete.
        let rows = view.window(0, view.len()).into_iter().filter_map(|id| view.row(id));
        let rows = rows.filter(|row| row.lives()).map(|row| (row.kind, row.object.clone()));
        let left_out = match view.sums().provisional.rows {
            0 => String::new(),
            count => format!(" {} provisional rows are left out: the list is not complete.", grouped(count as u64)),
        };
        let export = Box::new(Export::new(format, &self.columns.layout, rows.collect(), env.wall()));
        let Route { resource, namespaces, .. } = &self.place.route;
        let name = file_name(resource, namespaces, &env.date(), format);
        self.tell(&format!("Exporting {} rows …{left_out}", export.total()), env.now());
        self.request(Purpose::Save(name.clone()), Request::Save { name, format, export });
    }

    /// Tells the user whether a file was saved.
    pub(super) fn saved(&mut self, name: &str, rows: Option<usize>, now: f64) {
        let words = match rows {
            Some(rows) => format!("Exported {rows} rows: {name}"),
            None => String::from("The browser lets this page keep no file."),
        };
        self.tell(&words, now);
    }
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
