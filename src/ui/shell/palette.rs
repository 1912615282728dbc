//! The palette's dialog: a field, and a list of what was found. The focus stays in the field, which says to screen readers
//! what is chosen in the list.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use kubechurn_model::page::command::{Command, PaletteCommand};
use kubechurn_model::view::PaletteItem;

use crate::ui::screen::{Commands, Screen};
use crate::ui::values::Memo;

/// How many entries the keys Page Down and Page Up go.
const PAGE: isize = 8;

/// The palette. Its dialog stays in the document; a modal dialog gives the focus back when it is closed.
#[component]
pub fn Palette(
    /// What to show.
    screen: Screen,
    /// Where keys and clicks go.
    commands: Commands,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let palette = screen.dialogs.palette;
    let is_open = Memo::new(move |_| palette.with(Option::is_some));
    modal(dialog, move || is_open.get());
    let send = move |command| commands.send(Command::Palette(command));
    let at = Memo::new(move |_| palette.with(|palette| palette.as_ref().map_or(0, |palette| palette.at)));
    let items = Memo::new(move |_| {
        palette.with(|palette| palette.as_ref().map(|palette| palette.items.clone()).unwrap_or_default())
    });
    let typed = move |event: ev::KeyboardEvent| {
        let command = match &*event.key() {
            "ArrowDown" => PaletteCommand::Step(1),
            "ArrowUp" => PaletteCommand::Step(-1),
            "PageDown" => PaletteCommand::Step(PAGE),
            "PageUp" => PaletteCommand::Step(-PAGE),
            "Enter" if !event.is_composing() => PaletteCommand::Take(None),
            _ => return,
        };
        event.prevent_default();
        send(command);
    };
    // The list is scrolled to the chosen entry.
    Effect::new(move |_| {
        let (at, _) = (at.get(), items.with(Vec::len));
        request_animation_frame(move || {
            if let Some(option) = document().get_element_by_id(&option_id(at)) {
                let options = web_sys::ScrollIntoViewOptions::new();
                options.set_block(web_sys::ScrollLogicalPosition::Nearest);
                option.scroll_into_view_with_scroll_into_view_options(&options);
            }
        });
    });
    let active = move || items.with(|items| !items.is_empty()).then(|| option_id(at.get()));
    let count = move || match (palette.with(Option::is_some), items.with(Vec::len)) {
        (false, _) => String::new(),
        (true, 0) => String::from("Nothing is called so."),
        (true, 1) => String::from("1 entry"),
        (true, count) => format!("{count} entries"),
    };
    view! {
        <dialog
            class="dialog palette"
            role="dialog"
            aria-label="Palette"
            data-testid="palette"
            node_ref=dialog
            on:close=move |_| send(PaletteCommand::Close)
            on:pointerdown=move |event| outside(&event, dialog, move || send(PaletteCommand::Close))
        >
            <div class="palette-field">
                <span class="kbd" aria-hidden="true">":"</span>
                <input
                    id="palette-input"
                    data-testid="palette-input"
                    role="combobox"
                    aria-label="A kind, a namespace, an object, or something to do"
                    aria-expanded=move || is_open.get().to_string()
                    aria-controls="palette-list"
                    aria-autocomplete="list"
                    aria-activedescendant=active
                    autofocus
                    autocomplete="off"
                    autocapitalize="off"
                    spellcheck="false"
                    placeholder="a kind, a namespace, an object, something to do"
                    prop:value=move || palette.with(|palette| palette.as_ref().map(|palette| palette.query.clone()).unwrap_or_default())
                    on:input=move |event| send(PaletteCommand::Seek(event_target_value(&event)))
                    on:keydown=typed
                />
                <span class="num dim" role="status" data-testid="palette-count">{count}</span>
            </div>
            <ul id="palette-list" role="listbox" aria-label="Found" data-testid="palette-list">
                {move || items.get().into_iter().enumerate().map(|(place, item)| entry(place, item, at, commands)).collect_view()}
            </ul>
            <p class="palette-foot" aria-hidden="true">
                <span class="kbd">"↑ ↓"</span> "choose" <span class="kbd">"Enter"</span> "go" <span class="kbd">"Esc"</span> "leave"
                <span class="grow"></span>
                "pods shop" <span class="faint">"→ Pods in shop"</span> "all shop" <span class="faint">"→ everything in it"</span>
            </p>
        </dialog>
    }
}

fn option_id(place: usize) -> String {
    format!("palette-{place}")
}

fn entry(place: usize, item: PaletteItem, at: Memo<usize>, commands: Commands) -> impl IntoView {
    let pieces = item.pieces.into_iter().map(|(is_marked, text)| match is_marked {
        true => view! { <mark>{text}</mark> }.into_any(),
        false => view! { {text} }.into_any(),
    });
    view! {
        <li
            id=option_id(place)
            role="option"
            data-group=item.group
            aria-selected=move || (at.get() == place).to_string()
            on:click=move |_| commands.send(Command::Palette(PaletteCommand::Take(Some(place))))
        >
            <span class="title">{pieces.collect_view()}</span>
            <span class="detail">{item.detail}</span>
            <span class="group">{item.group}</span>
        </li>
    }
}

/// Has a dialog open as a modal one while this says so.
pub fn modal(dialog: NodeRef<html::Dialog>, is_open: impl Fn() -> bool + 'static) {
    Effect::new(move |_| {
        let (Some(dialog), is_open) = (dialog.get(), is_open()) else { return };
        if is_open && !dialog.open() {
            // It fails for a dialog that is open already, or not in the document.
            let _ = dialog.show_modal();
        } else if !is_open && dialog.open() {
            dialog.close();
        }
    });
}

/// Closes a dialog when its backdrop is clicked. To the browser such a click is one on the dialog's element, at a place
/// outside of its box.
pub fn outside(event: &ev::PointerEvent, dialog: NodeRef<html::Dialog>, close: impl FnOnce()) {
    let Some(dialog) = dialog.get_untracked() else { return };
    let is_dialog =
        event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok()).is_some_and(|target| {
            let dialog: &web_sys::Element = dialog.as_ref();
            target == *dialog
        });
    let rect = dialog.get_bounding_client_rect();
    let (x, y) = (f64::from(event.client_x()), f64::from(event.client_y()));
    let is_inside = (rect.left()..rect.right()).contains(&x) && (rect.top()..rect.bottom()).contains(&y);
    if is_dialog && !is_inside {
        close();
    }
}

/// A button that opens the palette, and names its key.
#[component]
pub fn PaletteButton(
    /// Where the click goes.
    commands: Commands,
) -> impl IntoView {
    view! {
        <button
            class="palette-button"
            data-testid="open-palette"
            aria-haspopup="dialog"
            aria-label="Ctrl K: open the palette"
            title="go to a kind or a namespace, or do something"
            on:click=move |_| commands.send(Command::Palette(PaletteCommand::Toggle))
        >
            <span class="kbd">"Ctrl K"</span>
        </button>
    }
}
