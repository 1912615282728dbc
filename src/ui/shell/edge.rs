//! The edge of a panel, which is dragged or moved by keys and so gives the panel another size.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use kubechurn_model::page::command::{Command, PanelCommand};
use kubechurn_model::shell::panel::Panel;

use crate::ui::screen::{Commands, Screen};

/// How many pixels an arrow key moves the edge.
const STEP: f64 = 24.0;

/// The edge, as a child of the panel's element. A double click gives the panel its default size.
#[component]
pub fn Edge(
    /// Whose edge it is.
    panel: Panel,
    /// The sizes.
    screen: Screen,
    /// Where the pointer's doings go.
    commands: Commands,
) -> impl IntoView {
    let edge = NodeRef::<html::Div>::new();
    let dragging = RwSignal::new(false);
    let send = move |command| commands.send(Command::Panel(command));
    let resize = move |size: f64| send(PanelCommand::Resize(panel, Some(size)));
    let keep = move || send(PanelCommand::Keep(panel));
    // Several events mean that a drag ended.
    let end = move || {
        if dragging.get_untracked() {
            dragging.set(false);
            keep();
        }
    };
    let owner = move |edge: Option<web_sys::HtmlDivElement>| edge.and_then(|edge| edge.parent_element());
    let bounds = move || owner(edge.get_untracked()).map(|owner| owner.get_bounding_client_rect());
    let length = move |bounds: web_sys::DomRect| match panel {
        Panel::Timeline => bounds.height(),
        Panel::Sidebar | Panel::Inspector | Panel::Labels => bounds.width(),
    };
    let now = move || bounds().map_or(panel.least(), length);
    let size = move || screen.header.sizes.with(|sizes| sizes.of(panel));
    // The panel is in the document before it can be measured.
    let shown = move || {
        let measured = || owner(edge.get()).map(|owner| length(owner.get_bounding_client_rect()));
        size().chosen.or_else(measured).unwrap_or(panel.least()).round()
    };
    let drag = move |event: ev::PointerEvent| {
        if !dragging.get_untracked() {
            return;
        }
        let Some(bounds) = bounds() else { return };
        resize(match panel {
            Panel::Sidebar | Panel::Labels => f64::from(event.client_x()) - bounds.left(),
            Panel::Timeline => bounds.bottom() - f64::from(event.client_y()),
            Panel::Inspector => bounds.right() - f64::from(event.client_x()),
        });
    };
    let (larger, smaller, orientation, what) = match panel {
        Panel::Sidebar | Panel::Labels => ("ArrowRight", "ArrowLeft", "vertical", "width"),
        Panel::Timeline => ("ArrowUp", "ArrowDown", "horizontal", "height"),
        Panel::Inspector => ("ArrowLeft", "ArrowRight", "vertical", "width"),
    };
    view! {
        <div
            class="edge"
            data-panel=panel.name()
            data-testid=format!("{}-edge", panel.name())
            role="separator"
            aria-orientation=orientation
            aria-label=format!("{what} of the {}", panel.name())
            aria-valuemin=panel.least()
            aria-valuenow=shown
            aria-valuemax=move || size().most
            title="drag, or press an arrow key; a double click sets it back"
            tabindex="0"
            node_ref=edge
            on:pointerdown=move |event: ev::PointerEvent| {
                if event.button() != 0 {
                    return;
                }
                event.prevent_default();
                dragging.set(true);
                if let Some(target) = event.current_target().and_then(|target| target.dyn_into::<web_sys::Element>().ok()) {
                    let _ = target.set_pointer_capture(event.pointer_id());
                }
            }
            on:pointermove=drag
            on:pointerup=move |_| end()
            on:pointercancel=move |_| end()
            on:lostpointercapture=move |_| end()
            on:dblclick=move |_| {
                send(PanelCommand::Resize(panel, None));
                keep();
            }
            on:keydown=move |event: ev::KeyboardEvent| {
                match &*event.key() {
                    key if key == larger => resize(now() + STEP),
                    key if key == smaller => resize(now() - STEP),
                    "Home" => resize(panel.least()),
                    "End" => resize(f64::INFINITY),
                    _ => return,
                }
                keep();
                event.prevent_default();
                // The sidebar has a use for the same keys.
                event.stop_propagation();
            }
        ></div>
    }
}
