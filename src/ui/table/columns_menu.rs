//! The table's menu: it shows, hides, moves and widens columns without a pointer, and has the choices for deleted rows and
//! for resyncs. And the handles in the table's head by which a pointer widens columns.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use kubechurn_model::page::command::Command;
use kubechurn_model::table::layout::{Choice, ColumnChange};

use crate::ui::parts::{Part, part, places};
use crate::ui::screen::{Commands, Screen};
use crate::ui::table::retention::RetentionChoice;
use crate::ui::values::Memo;
use crate::ui::watches::recorder::RecorderChoice;
use crate::ui::watches::resync::ResyncChoice;

/// How many characters wider or narrower a click makes a column.
const STEP: i16 = 2;

/// The menu.
#[component]
pub fn ColumnsMenu(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let menu = NodeRef::<html::Details>::new();
    let pressed = window_event_listener(ev::pointerdown, move |event| {
        let Some(menu) = menu.get_untracked() else { return };
        let inside = event
            .target()
            .and_then(|target| target.dyn_into::<web_sys::Node>().ok())
            .is_some_and(|node| menu.contains(Some(&node)));
        if !inside {
            menu.set_open(false);
        }
    });
    on_cleanup(move || pressed.remove());
    let count = Memo::new(move |_| screen.table.columns.with(Vec::len));
    view! {
        <details class="menu columns" data-testid="columns" node_ref=menu>
            <summary class="button" title="columns: which, in which order, how wide; how long deleted rows stay; how often the cache is replayed; and how much is recorded">"Table ▾"</summary>
            <div class="menu-list" role="group" aria-label="Table">
                {part(Part::Menus, screen, move || view! {
                    <p class="menu-head">"Columns"</p>
                    <div class="column-list">
                        // By place and not by title: an element that is moved in the document loses the focus.
                        {places(count, move |place| view! { <Column place screen commands /> }.into_any())}
                    </div>
                    <button
                        data-testid="columns-reset"
                        on:click=move |_| commands.send(Command::Columns(ColumnChange::Reset))
                    >
                        "As kubectl has them"
                    </button>
                    <RetentionChoice screen commands />
                    <ResyncChoice screen commands />
                    <RecorderChoice screen commands />
                })}
            </div>
        </details>
    }
}

#[component]
fn Column(place: usize, screen: Screen, commands: Commands) -> impl IntoView {
    let choice = Memo::new(move |_| screen.table.columns.with(|columns| columns.get(place).cloned()));
    let title = move || choice.with(|choice| choice.as_ref().map_or("", |choice| choice.title));
    let is_shown = move || choice.with(|choice| choice.as_ref().is_some_and(|choice| choice.shown));
    let width = move || choice.with(|choice| choice.as_ref().and_then(|choice| choice.width));
    let width_words = move || width().map_or_else(|| String::from("auto"), |width| width.to_string());
    let send = move |change: ColumnChange| commands.send(Command::Columns(change));
    let owned =
        move || choice.with_untracked(|choice| choice.as_ref().map_or("", |choice: &Choice| choice.title).to_owned());
    // The focus follows the column to its new place, so that the button can be pressed again.
    let shift = move |by: isize, word: &'static str| {
        send(ColumnChange::Move(owned(), by));
        let there = place.saturating_add_signed(by);
        let button = document().get_element_by_id(&format!("column-{there}-{word}"));
        if let Some(button) = button.and_then(|button| button.dyn_into::<web_sys::HtmlElement>().ok()) {
            let _ = button.focus();
        }
    };
    view! {
        <div class="column-choice">
            <label>
                <input
                    type="checkbox"
                    data-testid=move || format!("column-{}", title())
                    prop:checked=is_shown
                    on:change=move |event| {
                        send(ColumnChange::Show(owned(), event_target_checked(&event)));
                    }
                />
                {title}
            </label>
            <button id=format!("column-{place}-up") aria-label=move || format!("move {} towards the start", title()) on:click=move |_| shift(-1, "up")>"↑"</button>
            <button id=format!("column-{place}-down") aria-label=move || format!("move {} towards the end", title()) on:click=move |_| shift(1, "down")>"↓"</button>
            <button aria-label=move || format!("make {} narrower", title()) on:click=move |_| send(ColumnChange::Widen(owned(), -STEP))>"−"</button>
            <button aria-label=move || format!("make {} wider", title()) on:click=move |_| send(ColumnChange::Widen(owned(), STEP))>"+"</button>
            <button
                class="fit"
                aria-label=move || format!("{}: width of {}, make it fit the values", width_words(), title())
                on:click=move |_| send(ColumnChange::Fit(owned()))
            >
                {width_words}
            </button>
        </div>
    }
}

/// The handle at the end of a column's head. Dragging it makes the column wider or narrower, and a double click makes it as
/// wide as its values. The menu does the same by keyboard.
#[component]
pub fn Grip(
    /// The column.
    title: &'static str,
    /// Where the changes go.
    commands: Commands,
) -> impl IntoView {
    let grip = NodeRef::<html::Span>::new();
    // While the handle is dragged: where the pointer began, and how wide the column was then, in pixels.
    let from = StoredValue::new(None::<(f64, f64)>);
    let send = move |change: ColumnChange| commands.send(Command::Columns(change));
    let pressed = move |event: ev::PointerEvent| {
        let Some(grip) = grip.get_untracked() else { return };
        event.prevent_default();
        let _ = grip.set_pointer_capture(event.pointer_id());
        let wide = grip.parent_element().map_or(0.0, |head| head.get_bounding_client_rect().width());
        from.set_value(Some((f64::from(event.client_x()), wide)));
    };
    let moved = move |event: ev::PointerEvent| {
        let Some((x, wide)) = from.get_value() else { return };
        let width = (wide + f64::from(event.client_x()) - x) / character_width();
        send(ColumnChange::Width(title.to_owned(), width.round().clamp(0.0, 999.0) as u16));
    };
    view! {
        <span
            class="grip"
            data-testid=format!("grip-{title}")
            aria-hidden="true"
            node_ref=grip
            on:pointerdown=pressed
            on:pointermove=moved
            on:pointerup=move |_| from.set_value(None)
            on:pointercancel=move |_| from.set_value(None)
            on:click=|event| event.stop_propagation()
            on:dblclick=move |_| send(ColumnChange::Fit(title.to_owned()))
        ></span>
    }
}

/// How wide a character of the table is, in pixels.
fn character_width() -> f64 {
    let probe = document().get_element_by_id("hundred-characters");
    let width = probe.map_or(0.0, |probe| probe.get_bounding_client_rect().width());
    if width > 0.0 { width / 100.0 } else { 7.2 }
}
