//! The fields for label and field selectors, by which the server sends only what they select.

use leptos::ev;
use leptos::prelude::*;

use kubechurn_model::navigation::route::Route;
use kubechurn_model::navigation::selectors::{check_fields, check_labels};
use kubechurn_model::page::command::Command;

use crate::ui::screen::{Commands, Screen};

/// A selector's field: its name, what it may look like, where it stands in a route, how it is asked for, and what is
/// wrong with a text.
#[derive(Clone, Copy)]
struct Selector {
    name: &'static str,
    example: &'static str,
    get: fn(&Route) -> &String,
    command: fn(String) -> Command,
    check: fn(&str) -> Result<(), String>,
}

const LABELS: Selector = Selector {
    name: "labels",
    example: "app=web,tier!=db",
    get: |route| &route.labels,
    command: Command::Labels,
    check: check_labels,
};

const FIELDS: Selector = Selector {
    name: "fields",
    example: "status.phase!=Running",
    get: |route| &route.fields,
    command: Command::Fields,
    check: check_fields,
};

/// Both fields.
#[component]
pub fn Selectors(
    /// What to show.
    screen: Screen,
    /// Where a selector goes.
    commands: Commands,
) -> impl IntoView {
    view! {
        <Field selector=LABELS screen commands />
        <Field selector=FIELDS screen commands />
    }
}

/// One field. A text that is no selector is not sent to the server. It stays in its field, and what is wrong with it is
/// said below.
#[component]
fn Field(selector: Selector, screen: Screen, commands: Commands) -> impl IntoView {
    let trouble = RwSignal::new(None::<String>);
    let changed = move |event: ev::Event| {
        let text = event_target_value(&event).trim().to_owned();
        match (selector.check)(&text) {
            Ok(()) => {
                trouble.set(None);
                commands.send((selector.command)(text));
            }
            Err(words) => trouble.set(Some(words)),
        }
    };
    let keyed = move |event: ev::KeyboardEvent| {
        if event.key() == "Escape" {
            trouble.set(None);
        }
    };
    let words = format!("{}-trouble", selector.name);
    let described_by = words.clone();
    view! {
        <div class="field selector" data-invalid=move || trouble.with(Option::is_some).then_some("true")>
            <label for=selector.name>{selector.name}</label>
            <input
                id=selector.name
                data-testid=selector.name
                placeholder=selector.example
                autocomplete="off"
                spellcheck="false"
                prop:value=move || screen.header.route.with(|route| (selector.get)(route).clone())
                aria-invalid=move || trouble.with(Option::is_some).to_string()
                aria-describedby=move || trouble.with(Option::is_some).then(|| described_by.clone())
                on:change=changed
                on:keydown=keyed
            />
            {move || trouble.get().map(|text| view! {
                <p class="field-trouble" id=words.clone() data-testid=words.clone() role="alert">{text}</p>
            })}
        </div>
    }
}
