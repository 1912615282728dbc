//! The fourth tab: the object's Kubernetes Events.

use leptos::prelude::*;

use kubechurn_model::inspector::events::Item;

use crate::ui::inspector::{age, tone_name};
use crate::ui::parts::each;
use crate::ui::screen::Inspector;
use crate::ui::values::Memo;

/// The tab.
#[component]
pub fn Events(signals: Inspector) -> impl IntoView {
    let events = signals.events;
    let more = Memo::new(move |_| events.with(|events| events.more));
    let words = Memo::new(move |_| events.with(|events| events.words.clone()));
    view! {
        {move || (!words.with(String::is_empty)).then(|| view! {
            <p class="inspector-note" data-testid="inspector-events-state">{words.get()}</p>
        })}
        <ol class="events" data-testid="inspector-events">
            {each(
                move || events.with(|events| events.items.clone()),
                |event| (event.key.clone(), event.count, event.last, event.message.clone()),
                move |event| item(event, signals).into_any(),
            )}
        </ol>
        {move || (more.get() > 0).then(|| view! { <p class="inspector-note">{format!("and {} older", more.get())}</p> })}
    }
}

fn item(event: Item, signals: Inspector) -> impl IntoView {
    let times =
        (event.count > 1).then(|| view! { <span class="num" title="how often it was seen">"×"{event.count}</span> });
    let reason = event.reason.clone();
    view! {
        <li data-reason=reason>
            <div class="event-head">
                <span class="type" data-tone=tone_name(event.tone)>{event.kind}</span>
                <b>{event.reason}</b>
                {times}
                <span class="grow"></span>
                <span class="num dim">{event.last.map(|last| age(signals, last))}</span>
            </div>
            <p>{event.message}</p>
            <p class="event-source">
                {event.source}
                {event.first.filter(|first| Some(*first) != event.last).map(|first| view! { ", first " {age(signals, first)} " ago" })}
            </p>
        </li>
    }
}
