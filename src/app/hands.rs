//! What the hands do: rows gone to, cells, what is copied, what Esc leaves.

use leptos::prelude::{GetUntracked, Set};
use wasm_bindgen_futures::spawn_local;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::secret;
use kubechurn_model::kind_id::KindId;
use kubechurn_model::page::command_line::{self, Listing};
use kubechurn_model::page::cursor::{Cursor, Step};
use kubechurn_model::page::export::{Format, tab_separated, write_source};
use kubechurn_model::page::keys::{Act, Layer, innermost};
use kubechurn_model::page::layout::{Rearrange, Source};
use kubechurn_model::page::route::Route;
use kubechurn_model::page::speech::{Seen, Speech};
use kubechurn_model::table::kinds::Kind;
use kubechurn_model::table::view::Row;

use crate::app::{Page, document, export, keys, travel};
use crate::browser::clock;
use crate::ui::hands::{Hands, cell_id, row_id};
use crate::ui::screen::{Command, Theme, put};
use crate::ui::table::HEAD;
use crate::ui::unplaced::ROW;

/// What the browser keeps it under whether keys of a single letter are off.
const LETTERS: &str = "kubechurn.letters";
/// How long what became of a wish is shown, in milliseconds.
const TOLD: f64 = 5_000.0;

/// What the hands are at.
#[derive(Debug)]
pub(super) struct AtHand {
    pub(super) cursor: Cursor,
    pub(super) palette: super::palette::State,
    pub(super) letters: bool,
    help: bool,
    speech: Speech,
    told_at: Option<f64>,
}

impl Default for AtHand {
    fn default() -> AtHand {
        AtHand {
            cursor: Cursor::default(),
            palette: super::palette::State::default(),
            letters: travel::kept(LETTERS).as_deref() != Some("off"),
            help: false,
            speech: Speech::default(),
            told_at: None,
        }
    }
}

impl AtHand {
    /// Whether a dialog is open, which has its own keys.
    pub(super) fn has_dialog(&self) -> bool {
        self.help || self.palette.is_open()
    }
}

impl Page {
    /// Does what the hands ask for. What someone else does better comes back, to be obeyed next.
    pub(super) fn take_in_hand(&mut self, hands: Hands, now: f64) -> Option<Command> {
        match hands {
            Hands::Act(act) => self.act(act, now),
            Hands::Columns(change) => {
                self.rearrange(change);
                None
            }
            // A dialog tells that it was closed a moment after: by then the other one may be open.
            Hands::Close(Layer::Help) => {
                self.show_help(false);
                None
            }
            Hands::Close(_) => {
                self.close_palette();
                None
            }
            hands => self.obey_in_palette(hands, now),
        }
    }

    /// What is seen before anything has come.
    pub(super) fn begin_hands(&mut self) {
        put(self.screen.hands.letters, self.hands.letters);
        self.present_linger();
        self.present_resync();
        self.fit_inspector();
        self.lay_out();
        self.present_shell();
    }

    /// Does one thing.
    pub(super) fn act(&mut self, act: Act, now: f64) -> Option<Command> {
        match act {
            Act::Palette if self.hands.palette.is_open() => self.close_palette(),
            Act::Palette => return self.open_palette(""),
            Act::Copy => return self.open_palette("copy "),
            Act::Help => self.show_help(!self.hands.help),
            Act::Filter => keys::focus_field("filter"),
            Act::Namespaces => keys::open_menu("namespaces"),
            Act::Columns => keys::open_menu("columns"),
            Act::Down => self.step(Step::By(1), now),
            Act::Up => self.step(Step::By(-1), now),
            Act::PageDown => self.step(Step::By(self.page_of_rows()), now),
            Act::PageUp => self.step(Step::By(-self.page_of_rows()), now),
            Act::First => self.step(Step::First, now),
            Act::Last => self.step(Step::Last, now),
            Act::Right | Act::Left => self.step_aside(if act == Act::Right { 1 } else { -1 }, now),
            Act::Open => {
                // A row that is looked at already stays so: only Esc leaves it.
                let (kind, row) = self.row_in_hand()?;
                let (kind, key) = (kind.name, row.object.key.clone());
                return (!self.has_selected(kind, &key)).then_some(Command::Select(Some((kind, key))));
            }
            Act::Leave => return self.leave_innermost(),
            Act::Wide => return Some(Command::Go(Route { wide: !self.route.wide, ..self.route.clone() })),
            Act::Pause => return Some(Command::Pause(!self.paused)),
            Act::Sort => return self.sort_next(),
            Act::Turn => return Some(Command::Go(self.route.turned(self.layout.schema()))),
            Act::Pin => return self.pin(),
            Act::ClearFilter => return Some(Command::Filter(String::new())),
            Act::Retry => return Some(Command::Retry),
            Act::Verify => self.verify_now(now),
            Act::Theme => {
                let other = if self.screen.theme.get_untracked() == Theme::Dark { Theme::Light } else { Theme::Dark };
                return Some(Command::Theme(other));
            }
            Act::ResetColumns => self.rearrange(Rearrange::Reset),
            Act::Letters => {
                self.hands.letters = !self.hands.letters;
                travel::keep(LETTERS, (!self.hands.letters).then_some("off"));
                put(self.screen.hands.letters, self.hands.letters);
                self.tell(
                    if self.hands.letters { "Keys of one letter are on." } else { "Keys of one letter are off." },
                    now,
                );
            }
            Act::Retention(linger) => self.linger(linger, now),
            Act::Resync(resync) => self.resync(resync, now),
            Act::ClearDeleted => self.clear_deleted(now),
            Act::ExportCsv => self.export(Format::Csv, now),
            Act::ExportJson => self.export(Format::Json, now),
            Act::CopyName
            | Act::CopyCell
            | Act::CopyRow
            | Act::CopyObjectCommand
            | Act::CopyCommand
            | Act::CopyLink => match self.copied(act) {
                Some((what, text)) => self.copy(what, text),
                None => self.tell("No row is chosen: j and k, or the arrows, go to one.", now),
            },
        }
        None
    }

    // --- Rows and cells ---

    fn page_of_rows(&self) -> isize {
        ((self.shown.height() - HEAD) / ROW - 1.0).max(1.0) as isize
    }

    /// Goes to another row, and holds the table as a pointer would.
    fn step(&mut self, step: Step, now: f64) {
        let start = (self.shown.top() / ROW).ceil() as usize;
        let Some(view) = self.watches.view_mut() else { return };
        let (first, count) = self.shown.window();
        view.hold(first.min(view.len()), count);
        let Some(index) = self.hands.cursor.step(view, step, start) else { return };
        self.pointer.over_table(true, now);
        keys::focus_table();
        self.bring_into_sight(index);
    }

    /// Scrolls as little as it takes to see a row.
    fn bring_into_sight(&mut self, index: usize) {
        let (top, height) = (self.shown.top(), self.shown.height());
        let place = index as f64 * ROW;
        let lowest = place + ROW + HEAD - height;
        let wanted = if place < top { place } else { top.max(lowest.ceil()) };
        if wanted != top {
            keys::scroll_table(wanted);
            self.shown.scroll(wanted, height);
        }
    }

    fn step_aside(&mut self, by: isize, now: f64) {
        if self.hands.cursor.row().is_none() {
            return self.step(Step::By(1), now);
        }
        self.pointer.over_table(true, now);
        keys::focus_table();
        self.hands.cursor.step_aside(by, self.layout.sources.len());
    }

    /// The row under the hand, and its kind.
    fn row_in_hand(&self) -> Option<(&'static Kind, &Row)> {
        let row = self.watches.view()?.row_of(self.hands.cursor.row()?)?;
        Some((self.layout.schema().kind(row.kind)?, row))
    }

    /// The selected object, with its kind's number among those in view.
    pub(super) fn selected_number(&self) -> Option<(KindId, ObjectKey)> {
        let (kind, key) = self.selected.as_ref()?;
        Some((self.layout.schema().number(kind)?, key.clone()))
    }

    /// Pins the kinds in view, or, where all are pinned, lets them go with the view.
    fn pin(&self) -> Option<Command> {
        let names: Vec<&str> = self.kinds().iter().map(|kind| kind.name).collect();
        let is_pinned = |name: &&str| self.route.pinned.iter().any(|pinned| pinned == name);
        let all = names.iter().all(is_pinned);
        let turned = names.iter().filter(|name| all || !is_pinned(name));
        (!names.is_empty()).then(|| Command::Go(turned.fold(self.route.clone(), |route, name| route.pinning(name))))
    }

    /// The row that was chosen with the pointer is the one that the keys go on from.
    pub(super) fn put_hand_on_selected(&mut self) {
        let (Some((kind, key)), Some(view)) = (self.selected_number(), self.watches.view()) else { return };
        if let Some(id) = view.find(kind, &key) {
            self.hands.cursor.put(view, id);
        }
    }

    /// Sorts by the column of the cell under the hand, or by the next one of those that are shown.
    fn sort_next(&mut self) -> Option<Command> {
        let sources = &self.layout.sources;
        let title = match self.hands.cursor.cell() {
            Some(cell) => self.layout.title(*sources.get(cell)?),
            None => {
                let now = self.route.sort.trim_start_matches('-');
                let at = sources.iter().position(|source| self.layout.title(*source) == now);
                self.layout.title(*sources.get(at.map_or(0, |at| (at + 1) % sources.len()))?)
            }
        };
        let route = match self.hands.cursor.cell() {
            Some(_) => self.route.sorted_by(title),
            None => Route { sort: title.to_owned(), ..self.route.clone() },
        };
        Some(Command::Go(route))
    }

    // --- Leaving ---

    fn show_help(&mut self, help: bool) {
        self.hands.help = help;
        put(self.screen.hands.help, help);
    }

    fn leave_innermost(&mut self) -> Option<Command> {
        let there = [
            (Layer::Palette, self.hands.palette.is_open()),
            (Layer::Help, self.hands.help),
            (Layer::Menu, keys::has_menu()),
            (Layer::Cell, self.hands.cursor.cell().is_some()),
            (Layer::Object, self.selected.is_some()),
            (Layer::Filter, !self.route.text.is_empty()),
        ];
        let there: Vec<Layer> = there.into_iter().filter(|(_, is_there)| *is_there).map(|(layer, _)| layer).collect();
        match innermost(&there)? {
            Layer::Palette => self.close_palette(),
            Layer::Help => self.show_help(false),
            Layer::Menu => keys::close_menu(),
            Layer::Cell => drop(self.hands.cursor.leave_cell()),
            Layer::Object => return Some(Command::Select(None)),
            Layer::Filter => return Some(Command::Filter(String::new())),
        }
        None
    }

    // --- What is said ---

    /// Says what became of a wish, for a moment.
    pub(super) fn tell(&mut self, words: &str, now: f64) {
        put(self.screen.hands.told, words.to_owned());
        self.hands.told_at = Some(now);
    }

    /// What the hands see anew, a few times a second.
    pub(super) fn present_hands(&mut self, now: f64) {
        if self.hands.told_at.is_some_and(|at| now - at > TOLD) {
            self.hands.told_at = None;
            put(self.screen.hands.told, String::new());
        }
        self.present_palette();
        let (Some(view), Some(health)) = (self.watches.view(), self.health(now)) else { return };
        let title = self.layout.schema().title();
        let seen = Seen {
            title: &title,
            state: health.word(),
            counts: view.counts(),
            filter: &self.route.text,
            paused: self.paused,
        };
        let mut speech = std::mem::take(&mut self.hands.speech);
        if let Some(sentence) = speech.look(now, seen) {
            self.screen.hands.said.set(sentence);
        }
        self.hands.speech = speech;
    }

    /// Tells which row or cell is under the hand, if it is in the document: one that is not cannot be spoken of.
    pub(super) fn present_hand(&self) {
        let there = self.hands.cursor.row().filter(|row| self.shown.shows(*row));
        let at = there.map(|id| match self.hands.cursor.cell() {
            Some(cell) => cell_id(id, cell),
            None => row_id(id),
        });
        put(self.screen.hands.at, at);
    }

    // --- Copies ---

    /// What is copied, in words, and its text.
    fn copied(&self, act: Act) -> Option<(&'static str, String)> {
        let kinds = self.kinds();
        let at = clock::wall();
        let row = || self.row_in_hand();
        Some(match act {
            Act::CopyName => ("the name", row()?.1.object.key.name.to_string()),
            Act::CopyCell => ("the cell", self.cell_text(row()?.1)),
            Act::CopyRow => {
                let row = row()?.1;
                ("the row", tab_separated(&self.layout, row.kind, &row.object, at))
            }
            Act::CopyObjectCommand => {
                let (kind, row) = row()?;
                ("the command line", command_line::object(kind, &row.object.key))
            }
            Act::CopyCommand if kinds.is_empty() => return None,
            Act::CopyCommand => {
                let Route { namespaces, labels, fields, wide, .. } = &self.route;
                let listing = Listing { kinds: &kinds, namespaces, labels, fields, wide: *wide };
                ("the command line", listing.command_line())
            }
            _ => {
                let url = document().and_then(|document| document.url().ok())?;
                let (text, is_whole) = secret::link(&url);
                let what = if is_whole { "the link" } else { "the link without the page's address, which is secret" };
                (what, text.to_owned())
            }
        })
    }

    /// The text of the cell under the hand; the name, where the hand is on the row.
    fn cell_text(&self, row: &Row) -> String {
        let mut text = String::new();
        let source = self.hands.cursor.cell().and_then(|cell| self.layout.sources.get(cell)).copied();
        let (schema, source) = (self.layout.schema(), source.unwrap_or(Source::Name));
        write_source(schema, source, row.kind, &row.object, clock::wall(), &mut text);
        text
    }

    fn copy(&self, what: &'static str, text: String) {
        let page = self.this.clone();
        spawn_local(async move {
            let copied = export::copy(&text).await;
            let Some(page) = page.upgrade() else { return };
            let mut page = page.borrow_mut();
            let words = match copied {
                true => format!("Copied {what}: {}", shortened(&text)),
                false => format!("The browser lets this page copy nothing. To copy by hand: {text}"),
            };
            page.tell(&words, clock::now());
        });
    }

    fn export(&mut self, format: Format, now: f64) {
        let Some(view) = self.watches.view() else { return };
        // Deleted rows that linger are no part of what there is.
        let rows = view.window(0, view.len()).into_iter().filter_map(|id| view.row(id));
        let rows: Vec<_> =
            rows.filter(|row| row.deleted_at().is_none()).map(|row| (row.kind, row.object.clone())).collect();
        let total = rows.len();
        export::begin(self, format, rows);
        self.tell(&format!("Exporting {total} rows …"), now);
    }
}

/// The beginning of a text, on one line.
fn shortened(text: &str) -> String {
    const MOST: usize = 80;
    let mut short: String =
        text.chars().take(MOST).map(|letter| if letter.is_control() { ' ' } else { letter }).collect();
    if text.chars().nth(MOST).is_some() {
        short.push('…');
    }
    short
}
