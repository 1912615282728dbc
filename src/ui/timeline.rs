//! The timeline's frame: its title, its canvas, and what the pointer does there.

use leptos::ev;
use leptos::prelude::*;

use crate::ui::screen::{Command, Commands, Screen};

/// The id of the canvas, for the painter.
pub const CANVAS: &str = "timeline-canvas";

/// The timeline of the kind in view.
#[component]
pub fn Timeline(
    /// What to show.
    screen: Screen,
    /// Where the pointer's doings go.
    commands: Commands,
) -> impl IntoView {
    let dragged = StoredValue::new(None::<(f64, bool)>);
    let place = |event: &ev::PointerEvent| (f64::from(event.offset_x()), f64::from(event.offset_y()));
    let moved = move |event: ev::PointerEvent| {
        let (x, y) = place(&event);
        if let Some((from, _)) = dragged.get_value().filter(|(from, _)| (x - from).abs() >= 2.0) {
            commands.send(Command::TimelinePan(x - from));
            dragged.set_value(Some((x, true)));
        }
        commands.send(Command::TimelineHover(Some((x, y))));
    };
    let released = move |event: ev::PointerEvent| {
        let (x, y) = place(&event);
        if let Some((_, false)) = dragged.get_value() {
            commands.send(Command::TimelineClick(x, y));
        }
        dragged.set_value(None);
    };
    let wheel = move |event: ev::WheelEvent| {
        event.prevent_default();
        if event.ctrl_key() || event.meta_key() {
            let factor = if event.delta_y() > 0.0 { 1.25 } else { 0.8 };
            commands.send(Command::TimelineZoom(factor, Some(f64::from(event.offset_x()))));
        } else if event.delta_x().abs() > event.delta_y().abs() {
            commands.send(Command::TimelinePan(-event.delta_x()));
        } else {
            commands.send(Command::TimelineScroll(if event.delta_y() > 0.0 { 1 } else { -1 }));
        }
    };
    view! {
        <section class="timeline" aria-label="Timeline">
            <div class="timeline-bar">
                <h2>"Timeline"</h2>
                <span class="dim">{move || screen.subject.with(|subject| subject.title.clone())}</span>
                <span class="hover" data-testid="timeline-hover">{move || screen.hover.get()}</span>
                <span class="grow"></span>
                <span class="num dim">{move || screen.span.get()}</span>
                <button aria-label="look at a shorter time" on:click=move |_| commands.send(Command::TimelineZoom(0.5, None))>"+"</button>
                <button aria-label="look at a longer time" on:click=move |_| commands.send(Command::TimelineZoom(2.0, None))>"−"</button>
                {move || if screen.following.get() {
                    view! { <span class="following">"● following"</span> }.into_any()
                } else {
                    view! {
                        <button data-testid="follow" on:click=move |_| commands.send(Command::TimelineFollow)>"Go live"</button>
                    }
                    .into_any()
                }}
            </div>
            <canvas
                id=CANVAS
                data-testid="timeline"
                role="img"
                aria-label=move || screen.summary.get()
                on:pointermove=moved
                on:pointerdown=move |event| dragged.set_value(Some((place(&event).0, false)))
                on:pointerup=released
                on:pointerleave=move |_| {
                    dragged.set_value(None);
                    commands.send(Command::TimelineHover(None));
                }
                on:wheel=wheel
            ></canvas>
        </section>
    }
}
