//! The time range that the user chooses.

use crate::feed::span::{AROUND, SpanCommand};
use crate::navigation::range::between;
use crate::navigation::route::Route;
use crate::page::context::Context;
use crate::timeline::scale::Window;

/// What is asked of the user where a command is about a change, and none is pointed at.
pub(super) const POINT: &str = "Point at a mark of the timeline, or choose a change in the inspector.";

/// Carries out a command. `pointed` is the time of the mark under the pointer, or of the change that the inspector shows.
pub(super) fn handle(command: SpanCommand, pointed: Option<f64>, cx: &mut Context<'_>) {
    match command {
        SpanCommand::Around(at) => choose_around(at, cx),
        SpanCommand::AroundPointed => match pointed {
            Some(at) => choose_around(at, cx),
            None => cx.show_message(POINT),
        },
        SpanCommand::Filter(text) => {
            let route = &cx.navigation.route;
            // The second click takes the filter back.
            let text = if route.changes && route.text == text { String::new() } else { text };
            let route = Route { text, changes: true, ..route.clone() };
            cx.push(&route);
        }
        SpanCommand::Clear => choose(None, cx),
    }
}

/// Chooses the time around a change, and shows the feed of it.
fn choose_around(at: f64, cx: &mut Context<'_>) {
    if at.is_finite() {
        let span = Some(between(at - AROUND, at + AROUND));
        let route = Route { span, changes: true, text: String::new(), ..cx.navigation.route.clone() };
        cx.push(&route);
    }
}

/// Chooses a time range, or none.
pub(super) fn choose(span: Option<Window>, cx: &mut Context<'_>) {
    if span.is_some() || cx.navigation.route.span.is_some() {
        let route = Route { span, ..cx.navigation.route.clone() };
        cx.push(&route);
    }
}
