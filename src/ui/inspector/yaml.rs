//! The third tab: all of the object.

use leptos::prelude::*;

use kubechurn_model::page::inspector::yaml::Line;

use kubechurn_model::page::command::{Command, InspectorCommand};

use crate::ui::screen::{Commands, Inspector};

/// The tab.
#[component]
pub fn YamlView(signals: Inspector, commands: Commands) -> impl IntoView {
    let yaml = signals.yaml;
    let send = move |inspect: InspectorCommand| commands.send(Command::Inspector(inspect));
    let lines = Memo::new(move |_| yaml.with(|yaml| yaml.yaml.clone()));
    let entries = Memo::new(move |_| yaml.with(|yaml| yaml.entries));
    let managed = Memo::new(move |_| yaml.with(|yaml| yaml.managed));
    let managers = Memo::new(move |_| yaml.with(|yaml| yaml.managers));
    let more = Memo::new(move |_| yaml.with(|yaml| yaml.yaml.more));
    view! {
        <div class="yaml-bar">
            <button data-testid="yaml-copy" on:click=move |_| send(InspectorCommand::Copy)>"Copy"</button>
            <button
                data-testid="yaml-managers"
                aria-pressed=move || managers.get().to_string()
                title="who manages each field, from managedFields"
                on:click=move |_| send(InspectorCommand::Managers(!managers.get_untracked()))
            >"Managers"</button>
            <button
                data-testid="yaml-managed"
                aria-pressed=move || managed.get().to_string()
                title="metadata.managedFields, which kubectl leaves out too"
                on:click=move |_| send(InspectorCommand::Managed(!managed.get_untracked()))
            >"managedFields "<span class="num">{entries}</span></button>
            <span class="grow"></span>
            <span role="status" class="dim" data-testid="yaml-copied">{move || yaml.with(|yaml| yaml.copied)}</span>
        </div>
        <p class="inspector-note" data-testid="yaml-source" data-failed=move || yaml.with(|yaml| yaml.failed).to_string()>
            {move || yaml.with(|yaml| yaml.words.clone())}
            {move || yaml.with(|yaml| yaml.failed).then(|| view! {
                " " <button class="small" on:click=move |_| send(InspectorCommand::Refresh)>"Try again"</button>
            })}
        </p>
        <div class="yaml" data-testid="yaml" data-managers=move || managers.get().then_some("true")>
            {move || lines.with(|yaml| yaml.lines.iter().map(|line| line_view(line, signals, commands)).collect_view())}
        </div>
        {move || (more.get() > 0).then(|| view! {
            <p class="inspector-note">{format!("and {} more lines; a copy has them", more.get())}</p>
        })}
    }
}

fn line_view(line: &Line, signals: Inspector, commands: Commands) -> impl IntoView + use<> {
    let Line { lead, key, value, is_text, managers, secret } = line.clone();
    let after = match (key.is_empty(), value.is_empty()) {
        (true, _) => "",
        (false, true) => ":",
        (false, false) => ": ",
    };
    let value = match secret {
        Some(name) => masked(value, name, signals, commands).into_any(),
        None if is_text => view! { <span class="text">{value}</span> }.into_any(),
        None => view! { <span class="plain">{value}</span> }.into_any(),
    };
    view! {
        <div class="line">
            <span class="code">{lead}<span class="key">{key}</span>{after}{value}</span>
            {(!managers.is_empty()).then(|| view! { <span class="managers">{managers}</span> })}
        </div>
    }
}

/// A Secret's value: its length, until it is asked for.
fn masked(mask: String, name: String, signals: Inspector, commands: Commands) -> impl IntoView {
    let asked = name.clone();
    let shown = Memo::new(move |_| {
        signals.revealed.with(|one| one.as_ref().filter(|(other, _)| *other == name).map(|(_, value)| value.clone()))
    });
    let click = move |_| {
        let inspect = match shown.with_untracked(Option::is_some) {
            true => InspectorCommand::Conceal,
            false => InspectorCommand::Reveal(asked.clone()),
        };
        commands.send(Command::Inspector(inspect));
    };
    view! {
        <span class="masked" data-revealed=move || shown.with(Option::is_some).to_string()>
            {move || shown.get().unwrap_or_else(|| mask.clone())}
        </span>
        " "
        <button class="small reveal" on:click=click>
            {move || if shown.with(Option::is_some) { "hide" } else { "show" }}
        </button>
    }
}
