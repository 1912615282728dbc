//! The menus in the timeline's bar that group lanes and put them in order.

use leptos::prelude::*;

use kubechurn_model::page::command::{Command, TimelineCommand};
use kubechurn_model::timeline::lanes::{LaneOrder, LanesBy};

use crate::ui::screen::{Commands, Screen};
use crate::ui::values::Memo;

/// The two menus, and the buttons that open and close all groups.
#[component]
pub fn LaneChoices(
    /// The signals of the page's view.
    screen: Screen,
    /// Receives the choices.
    commands: Commands,
) -> impl IntoView {
    let send = move |command| commands.send(Command::Timeline(command));
    let by = Memo::new(move |_| screen.header.route.with(|route| route.lanes.by.name()));
    let order = Memo::new(move |_| screen.header.route.with(|route| route.lanes.order.name()));
    let option = |chosen: Memo<&'static str>, name: &'static str, title: String| {
        view! { <option value=name prop:selected=move || chosen.get() == name>{title}</option> }
    };
    view! {
        <select
            data-testid="lanes-by"
            aria-label="lanes stand together"
            title="what stands together in a group of lanes, which opens and closes by a click on its triangle; the manager of a change is inferred from managedFields"
            on:change=move |event| send(TimelineCommand::LanesBy(LanesBy::of(&event_target_value(&event))))
        >
            {LanesBy::ALL.map(|one| option(by, one.name(), format!("by {}", one.name()))).collect_view()}
        </select>
        <select
            data-testid="lanes-order"
            aria-label="order of the lanes"
            title="the order of lanes and groups; what stays in sight stays in its row"
            on:change=move |event| send(TimelineCommand::Order(LaneOrder::of(&event_target_value(&event))))
        >
            {LaneOrder::ALL.map(|one| option(order, one.name(), one.title().to_owned())).collect_view()}
        </select>
        {move || (by.get() != LanesBy::Object.name()).then(|| view! {
            <button
                data-testid="lanes-open"
                aria-label="open all groups of lanes"
                title="open all groups"
                on:click=move |_| send(TimelineCommand::TurnAll(true))
            >"▾"</button>
            <button
                data-testid="lanes-close"
                aria-label="close all groups of lanes"
                title="close all groups"
                on:click=move |_| send(TimelineCommand::TurnAll(false))
            >"▸"</button>
        })}
    }
}
