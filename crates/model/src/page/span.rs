//! The time range that the user chooses.

use crate::feed::span::{AROUND, SpanCommand};
use crate::navigation::range::between;
use crate::navigation::route::Route;
use crate::page::context::Context;
use crate::rewind::banner::{last_such, time_of_day};
use crate::timeline::scale::Window;

/// How far back the page compares with now where nothing is chosen, in milliseconds.
pub(super) const LATELY: f64 = 600_000.0;

/// What is asked of the user where a command is about a change, and none is pointed at.
pub(super) const POINT: &str = "Point at a mark of the timeline, or choose a change in the inspector.";

/// What is asked of the user who typed something else than two times.
pub(super) const TYPED: &str = "Write times of day: 14:02, 14:02:11 or 14:02:11.408; the second may be “now”.";

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
        SpanCommand::Each(text) => {
            let route = Route { text, changes: true, net: false, ..cx.navigation.route.clone() };
            cx.push(&route);
        }
        SpanCommand::Compare(from, to) => compare(from, to, cx),
        SpanCommand::Back(by) => {
            let to = cx.watching.moment.map_or(f64::INFINITY, |moment| moment.at);
            compare(known_since(cx.shown_at() - by, cx), to, cx);
        }
        SpanCommand::Since => compare(cx.shown_at(), f64::INFINITY, cx),
        SpanCommand::Difference => match (cx.watching.moment, cx.navigation.route.span) {
            (_, Some(_)) => show_net(!cx.navigation.route.net, cx),
            (Some(_), None) => handle(SpanCommand::Since, None, cx),
            (None, None) => handle(SpanCommand::Back(LATELY), None, cx),
        },
        SpanCommand::Net(is_net) => show_net(is_net, cx),
        SpanCommand::Typed(ends) => match typed(&ends, cx) {
            Some([from, to]) => compare(from, to, cx),
            None => cx.show_message(TYPED),
        },
        SpanCommand::Clear => choose(None, cx),
    }
}

/// Shows what is different between two times, of which the later one may be infinity. Where it is later than the moment that
/// is shown, what is now is shown again.
fn compare(one: f64, other: f64, cx: &mut Context<'_>) {
    let (from, to) = (one.min(other), one.max(other));
    let span =
        if to.is_infinite() { Window { from: from.max(0.0).ceil(), to } } else { between(from.ceil(), to.ceil()) };
    let at = cx.navigation.route.at.filter(|at| span.to <= *at);
    let route = Route { span: Some(span), net: true, changes: true, at, ..cx.navigation.route.clone() };
    cx.push(&route);
}

/// Shows what is different between the ends of the chosen time, or each change in it.
fn show_net(net: bool, cx: &mut Context<'_>) {
    let Some(Window { from, to }) = cx.navigation.route.span else { return };
    let to = if net { to } else { to.min(cx.shown_at().ceil()).max(from + 1.0) };
    let route = Route { span: Some(Window { from, to }), net, changes: true, ..cx.navigation.route.clone() };
    cx.push(&route);
}

/// A time, or that when the last of the kinds in view was listed first, if that was later: before it there is nothing to
/// compare with.
fn known_since(at: f64, cx: &Context<'_>) -> f64 {
    let kinds = cx.navigation.schema.kinds().iter();
    let listed = kinds.filter_map(|kind| cx.watching.history.coverage.listed_at(kind.resource));
    listed.fold(at, f64::max)
}

/// The times that the user typed: for each the last one that has been.
pub(super) fn typed(ends: &[String; 2], cx: &Context<'_>) -> Option<[f64; 2]> {
    let zone = cx.words().offset(cx.newest());
    let time = |text: &str| Some(last_such(time_of_day(text)?, cx.newest() + zone) - zone);
    let to = ends[1].trim();
    Some([time(&ends[0])?, if to.is_empty() || to == "now" { f64::INFINITY } else { time(to)? }])
}

/// Chooses the time around a change, and shows the feed of it.
fn choose_around(at: f64, cx: &mut Context<'_>) {
    if at.is_finite() {
        let span = Some(between(at - AROUND, at + AROUND));
        let route = Route { span, net: false, changes: true, text: String::new(), ..cx.navigation.route.clone() };
        cx.push(&route);
    }
}

/// Chooses a time range, or none.
pub(super) fn choose(span: Option<Window>, cx: &mut Context<'_>) {
    if span.is_some() || cx.navigation.route.span.is_some() {
        let net = cx.navigation.route.net && span.is_some();
        let route = Route { span, net, ..cx.navigation.route.clone() };
        cx.push(&route);
    }
}
