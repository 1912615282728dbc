//! A row of the table. Rows are redrawn often: each new order brings other rows into the window, and ages change every
//! second. So an element is copied from a pattern once and then reused by one row after the other, and a single effect
//! for each row writes only those attributes and texts that have changed.

use std::sync::Arc;

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use web_sys::{Document, Element, Node, Text};

use kubechurn_model::page::command::Command;
use kubechurn_model::table::layout::CHANGED;
use kubechurn_model::table::order::RowKey;

use kubechurn_model::view::{CellModel, Head, RowModel, cell_id, row_id};

use crate::ui::screen::{Commands, ElementRow};

/// What slanted words mean.
const STALE: &str = "It is not followed any more, and may be another by now.";
/// What the words beside a name mean.
const GONE: &str = "It does not exist any more. It is here because another moment than now is shown.";

/// The cells of a new row. They are made once for each set of columns, and copied for each row.
#[derive(Clone, Default)]
pub struct Pattern(Vec<Column>, Vec<Element>);

/// What a column's cells have in common.
type Column = (&'static str, bool);

impl Pattern {
    /// Copies of the cells of these columns.
    fn cells(&mut self, document: &Document, heads: &[Head]) -> Vec<DrawnCell> {
        let columns = heads.iter().map(|head| (head.title, head.end));
        if !columns.clone().eq(self.0.iter().copied()) {
            self.0 = columns.collect();
            self.1 = self.0.iter().filter_map(|column| pattern(document, *column)).collect();
        }
        self.1.iter().zip(&self.0).filter_map(|(cell, (title, _))| DrawnCell::copy(cell, title)).collect()
    }
}

/// A cell without words.
fn pattern(document: &Document, (title, end): Column) -> Option<Element> {
    let cell = document.create_element("span").ok()?;
    let align = if end { "end" } else { "start" };
    for (name, value) in [("class", "cell"), ("role", "gridcell"), ("data-col", title), ("data-align", align)] {
        cell.set_attribute(name, value).ok()?;
    }
    if title == CHANGED {
        let glyph = document.create_element("i").ok()?;
        glyph.set_attribute("aria-hidden", "true").ok()?;
        glyph.append_child(&document.create_text_node("")).ok()?;
        cell.append_child(&glyph).ok()?;
    }
    cell.append_child(&document.create_text_node("")).ok()?;
    Some(cell)
}

/// One row. Its signal is set when something in it changed, or when another row takes its element over.
#[component]
pub fn Row(
    /// Where it is, and what it shows.
    place: ElementRow,
    /// The columns.
    heads: Vec<Head>,
    /// What its cells are copied from.
    pattern: StoredValue<Pattern, LocalStorage>,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let row = place.row;
    let clicked = {
        let row = row.clone();
        move |_| commands.send(Command::Select(Some(row.with_untracked(|row| (row.kind, row.key.clone())))))
    };
    let draw = move |element: Element, row: ArcRwSignal<Arc<RowModel>>| {
        let Some(document) = element.owner_document() else { return };
        let cells = pattern.try_update_value(|pattern| pattern.cells(&document, &heads)).unwrap_or_default();
        for cell in &cells {
            let _ = element.append_child(&cell.element);
        }
        let mut drawn = Drawn { element, cells, shown: None };
        Effect::new(move || drawn.show(row.get(), &document));
    };
    view! { <div class="row" role="row" on:click=clicked use:draw=row></div> }
}

/// A row in the document.
struct Drawn {
    element: Element,
    cells: Vec<DrawnCell>,
    /// What it shows; nothing at first.
    shown: Option<Arc<RowModel>>,
}

impl Drawn {
    fn show(&mut self, row: Arc<RowModel>, document: &Document) {
        let shown = self.shown.replace(Arc::clone(&row));
        let (was, is) = (shown.as_deref(), &*row);
        let element = &self.element;
        if was.is_none_or(|was| was.id != is.id) {
            set(element, "id", Some(&row_id(is.id)));
            set(element, "data-key", Some(&is.key.to_string()));
            set(element, "data-uid", Some(&is.uid.to_string()));
        }
        put(element, "data-kind", was, is, |row| Some(row.kind));
        if was.is_none_or(|was| was.rank != is.rank) {
            // Row 1 is the head.
            set(element, "aria-rowindex", Some(&(is.rank + 1).to_string()));
        }
        put(element, "aria-selected", was, is, |row| Some(if row.selected { "true" } else { "false" }));
        put(element, "data-selected", was, is, |row| row.selected.then_some("true"));
        put(element, "data-state", was, is, |row| Some(row.state));
        put(element, "data-provisional", was, is, |row| (row.state == "provisional").then_some("true"));
        put(element, "data-delta", was, is, |row| Some(row.delta.0));
        put(element, "data-fresh", was, is, |row| row.fresh.then_some("true"));
        put(element, "data-flaw", was, is, |row| row.flaw.as_ref().map(|_| "true"));
        put(element, "data-deleting", was, is, |row| row.deletion.as_ref().map(|_| "true"));
        put(element, "data-gone", was, is, |row| row.gone.then_some("true"));
        put(element, "title", was, is, |row| {
            let stale = (row.state == "stale").then_some(STALE);
            row.flaw.as_deref().or(row.deletion.as_deref()).or(row.gone.then_some(GONE)).or(stale)
        });
        put(element, "data-hand", was, is, |row| row.cursor.map(|cell| if cell == 0 { "row" } else { "cell" }));
        if was.map_or(0, |was| was.fading) != is.fading {
            set(element, "data-fading", (is.fading > 0).then(|| is.fading.to_string()).as_deref());
        }
        for (at, (cell, model)) in self.cells.iter().zip(&is.cells).enumerate() {
            cell.show(was.and_then(|was| was.cells.get(at)), model, document);
            if let Some(glyph) = cell.glyph.as_ref().filter(|_| was.is_none_or(|was| was.delta != is.delta)) {
                glyph.set_node_value(Some(is.delta.1));
                set(&cell.element, "title", Some(is.delta.0));
                set(&cell.element, "data-words", Some(is.delta.0));
            }
        }
        let cursor = |row: &RowModel| row.cursor.map(|cell| (row.id, cell));
        self.cursor(was.and_then(cursor), cursor(is));
    }

    /// Gives the cell under the cursor an id, by which screen readers find it; no other cell has one.
    fn cursor(&self, was: Option<(RowKey, usize)>, is: Option<(RowKey, usize)>) {
        if was == is {
            return;
        }
        let cell = |hand: Option<(_, usize)>| Some(&self.cells.get(hand?.1.checked_sub(1)?)?.element);
        if let Some(cell) = cell(was) {
            set(cell, "id", None);
            set(cell, "data-hand", None);
        }
        if let (Some(cell), Some((row, hand))) = (cell(is), is) {
            set(cell, "id", Some(&cell_id(row, hand - 1)));
            set(cell, "data-hand", Some("true"));
        }
    }
}

/// A cell in the document.
struct DrawnCell {
    element: Element,
    /// Where its words are, unless the filter marked some of them.
    words: Text,
    /// Where the last change's glyph is, in the cell that shows it.
    glyph: Option<Node>,
}

impl DrawnCell {
    fn copy(pattern: &Element, title: &str) -> Option<DrawnCell> {
        let element: Element = pattern.clone_node_with_deep(true).ok()?.dyn_into().ok()?;
        let words = element.last_child()?.dyn_into().ok()?;
        let glyph = if title == CHANGED { element.first_child()?.first_child() } else { None };
        Some(DrawnCell { element, words, glyph })
    }

    fn show(&self, was: Option<&CellModel>, is: &CellModel, document: &Document) {
        if self.glyph.is_none() {
            put(&self.element, "title", was, is, |cell| cell.whole.as_deref());
            // A full time takes the title's place, and what the cell cuts off follows it.
            put(&self.element, "data-words", was, is, |cell| cell.whole.as_deref().filter(|_| cell.at.is_some()));
        }
        if was.and_then(|was| was.at) != is.at {
            set(&self.element, "data-at", is.at.map(|at| at.to_string()).as_deref());
        }
        put(&self.element, "data-tone", was, is, |cell| (!cell.tone.is_empty()).then_some(cell.tone));
        put(&self.element, "data-changed", was, is, |cell| cell.marked_at.map(|_| cell.went.unwrap_or("true")));
        if was.is_none_or(|was| was.text != is.text || was.marks != is.marks) {
            self.say(is, was.is_some_and(|was| !was.marks.is_empty()), document);
        }
    }

    /// The words, with what the filter found in them marked.
    fn say(&self, cell: &CellModel, was_marked: bool, document: &Document) {
        if was_marked {
            self.element.set_text_content(None);
            let _ = self.element.append_child(&self.words);
        }
        if cell.marks.is_empty() {
            return self.words.set_data(&cell.text);
        }
        self.element.set_text_content(None);
        let part = |from: usize, to: usize| document.create_text_node(cell.text.get(from..to).unwrap_or_default());
        let mut end = 0;
        for mark in &cell.marks {
            let _ = self.element.append_child(&part(end, mark.start));
            if let Ok(marked) = document.create_element("mark") {
                let _ = marked.append_child(&part(mark.start, mark.end));
                let _ = self.element.append_child(&marked);
            }
            end = mark.end;
        }
        let _ = self.element.append_child(&part(end, cell.text.len()));
    }
}

/// Sets an attribute where it is not as it was.
fn put<M>(element: &Element, name: &str, was: Option<&M>, is: &M, value: impl Fn(&M) -> Option<&str>) {
    let (was, is) = (was.and_then(&value), value(is));
    if was != is {
        set(element, name, is);
    }
}

/// Sets an attribute, or takes it away. Only a name that is none can fail, and ours are names.
fn set(element: &Element, name: &str, value: Option<&str>) {
    let _ = match value {
        Some(value) => element.set_attribute(name, value),
        None => element.remove_attribute(name),
    };
}
