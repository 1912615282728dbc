//! The timeline: its title, its choices, its canvas, and the pointer's events there.

mod bands;
pub mod canvas;
mod labels;
mod lane_choices;
mod marks;
pub mod paint;

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use kubechurn_model::page::command::{Command, TimelineCommand};
use kubechurn_model::rewind::banner::RewindCommand;
use kubechurn_model::shell::beside::beside;
use kubechurn_model::shell::panel::Panel;

use crate::ui::feed::span::{Around, Span};
use crate::ui::screen::{Commands, Screen};
use crate::ui::shell::edge::Edge;
use crate::ui::sized::window_size;
use crate::ui::timeline::lane_choices::LaneChoices;
use crate::ui::values::Memo;

/// The canvas's id in the document.
pub const CANVAS: &str = "timeline-canvas";

/// The timeline of the kind in view.
#[component]
pub fn Timeline(
    /// The signals of the page's view.
    screen: Screen,
    /// Receives the commands of the pointer.
    commands: Commands,
) -> impl IntoView {
    let send = move |command| commands.send(Command::Timeline(command));
    let pressed = StoredValue::new(false);
    let place = |event: &ev::PointerEvent| (f64::from(event.offset_x()), f64::from(event.offset_y()));
    let at = RwSignal::new((0.0, 0.0));
    let hover = NodeRef::<leptos::html::Div>::new();
    Effect::new(move |_| {
        let Some(hover) = hover.get() else { return };
        let style = web_sys::HtmlElement::style(&hover);
        for (name, value) in beside(at.get(), window_size()) {
            let _ = style.set_property(name, &value);
        }
    });
    let canvas = NodeRef::<leptos::html::Canvas>::new();
    // What the keyboard's cursor is on is written beside it.
    Effect::new(move |_| {
        if let Some(((x, y), canvas)) = screen.timeline.hand.get().zip(canvas.get_untracked()) {
            let area = canvas.get_bounding_client_rect();
            at.set((area.left() + x, area.top() + y));
        }
    });
    let ring = move || {
        let (x, y) = screen.timeline.hand.get().unwrap_or_default();
        format!("translate({x}px, {y}px)")
    };
    let moved = move |event: ev::PointerEvent| {
        let (x, y) = place(&event);
        at.set((f64::from(event.client_x()), f64::from(event.client_y())));
        if pressed.get_value() {
            send(TimelineCommand::Drag(x, y));
        }
        send(TimelineCommand::Hover(Some((x, y))));
    };
    let press = move |event: ev::PointerEvent| {
        if event.button() != 0 {
            return;
        }
        pressed.set_value(true);
        // A drag may end beside the canvas.
        if let Some(target) = event.current_target().and_then(|target| target.dyn_into::<web_sys::Element>().ok()) {
            let _ = target.set_pointer_capture(event.pointer_id());
        }
        let (x, y) = place(&event);
        send(TimelineCommand::Press(x, y, event.shift_key()));
    };
    let released = move |event: ev::PointerEvent| {
        if pressed.get_value() {
            pressed.set_value(false);
            let (x, y) = place(&event);
            send(TimelineCommand::Release(x, y));
        }
    };
    let lost = move || {
        if pressed.get_value() {
            pressed.set_value(false);
            send(TimelineCommand::GiveUp);
        }
    };
    let wheel = move |event: ev::WheelEvent| {
        event.prevent_default();
        if event.ctrl_key() || event.meta_key() {
            let factor = if event.delta_y() > 0.0 { 1.25 } else { 0.8 };
            send(TimelineCommand::Zoom(factor, Some(f64::from(event.offset_x()))));
        } else if event.delta_x().abs() > event.delta_y().abs() {
            send(TimelineCommand::Pan(-event.delta_x()));
        } else {
            send(TimelineCommand::Scroll(if event.delta_y() > 0.0 { 1 } else { -1 }));
        }
    };
    let title = move || screen.header.subject.with(|subject| subject.title.clone());
    let fills = move || screen.timeline.fills.get();
    let is_live = Memo::new(move |_| screen.header.rewind.with(Option::is_none));
    view! {
        <section class="timeline" aria-label="Timeline">
            <Edge panel=Panel::Timeline screen commands />
            <div class="timeline-bar">
                <h2>"Timeline"</h2>
                <LaneChoices screen commands />
                <span class="dim subject" title=title>{title}</span>
                <span class="grow"></span>
                <Around screen commands />
                <span class="num dim">{move || screen.timeline.span.get()}</span>
                <button aria-label="look at a shorter time" on:click=move |_| send(TimelineCommand::Zoom(0.5, None))>"+"</button>
                <button aria-label="look at a longer time" on:click=move |_| send(TimelineCommand::Zoom(2.0, None))>"−"</button>
                {move || is_live.get().then(|| view! {
                    <button
                        data-testid="rewind-begin"
                        aria-label="rewind"
                        title="show the page as it was before the last change (,)"
                        on:click=move |_| commands.send(Command::Rewind(RewindCommand::Step(-1)))
                    >
                        "◀◀"
                    </button>
                })}
                {move || if screen.timeline.following.get() {
                    view! { <span class="following">"● following"</span> }.into_any()
                } else {
                    view! {
                        <button data-testid="follow" on:click=move |_| send(TimelineCommand::Follow)>"Go live"</button>
                    }
                    .into_any()
                }}
                <button
                    data-testid="timeline-fill"
                    aria-pressed=move || fills().to_string()
                    title=move || if fills() { "show the table again (Esc)" } else { "fill the page with the timeline" }
                    on:click=move |_| send(TimelineCommand::Fill(!screen.timeline.fills.get_untracked()))
                >
                    {move || if fills() { "⤡ Back" } else { "⤢ Fill" }}
                </button>
            </div>
            <div class="timeline-body">
                <canvas
                    id=CANVAS
                    node_ref=canvas
                    data-testid="timeline"
                    tabindex="0"
                    role="application"
                    aria-label=move || screen.timeline.summary.get()
                    aria-describedby="lanes-keys"
                    on:blur=move |_| send(TimelineCommand::Blur)
                    on:pointermove=moved
                    on:pointerdown=press
                    on:pointerup=released
                    on:pointercancel=move |_| lost()
                    on:pointerleave=move |_| {
                        lost();
                        send(TimelineCommand::Hover(None));
                    }
                    on:dblclick=move |event| {
                        send(TimelineCommand::DoubleClick(f64::from(event.offset_x()), f64::from(event.offset_y())));
                    }
                    on:wheel=wheel
                ></canvas>
                <div class="lane-labels" style:width=move || format!("{}px", screen.timeline.labels.get())>
                    <Edge panel=Panel::Labels screen commands />
                </div>
                <i class="lane-hand" hidden=move || screen.timeline.hand.with(Option::is_none) style:transform=ring></i>
                <Span screen commands />
            </div>
            <p class="hidden-text" id="lanes-keys">"The arrows go through the lanes and their marks, and Enter opens."</p>
            <p class="hidden-text" role="status" data-testid="lane-said">{move || screen.timeline.in_hand.get()}</p>
            <div class="lane-hover" role="tooltip" data-testid="timeline-hover" node_ref=hover>
                {move || screen.timeline.hover.get()}
            </div>
        </section>
    }
}
