//! The third tab: all of the object.

use leptos::ev;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use kubechurn_model::inspector::yaml::{LINE, Line};
use kubechurn_model::page::command::{Command, InspectorCommand};

use crate::ui::inspector::last_write::LastWrite;
use crate::ui::screen::{Commands, Inspector};
use crate::ui::values::Memo;

/// What the ids of the lines begin with, before their places.
const ID: &str = "yaml-line-";
/// The room at the top of the panel that the bar takes, in pixels.
const BAR: f64 = 40.0;

/// The tab.
#[component]
pub fn YamlView(signals: Inspector, commands: Commands) -> impl IntoView {
    let yaml = signals.yaml;
    let send = move |inspect: InspectorCommand| commands.send(Command::Inspector(inspect));
    let lines = Memo::new(move |_| yaml.with(|yaml| yaml.yaml.clone()));
    let entries = Memo::new(move |_| yaml.with(|yaml| yaml.entries));
    let managed = Memo::new(move |_| yaml.with(|yaml| yaml.managed));
    let managers = Memo::new(move |_| yaml.with(|yaml| yaml.managers));
    // The line that the keyboard or a click chose, by its place.
    let current = RwSignal::new(None::<usize>);
    let count = move || lines.with(|yaml| yaml.total);
    // The tab has its place when this has run.
    request_animation_frame(move || scrolled(commands));
    let ask = move |at: usize| {
        let pointer = lines.with_untracked(|yaml| {
            at.checked_sub(yaml.first).and_then(|at| yaml.lines.get(at)).and_then(|line| line.pointer.clone())
        });
        if pointer.is_some() {
            send(InspectorCommand::LastWrite(pointer));
        }
    };
    // To mark a line costs the same however many lines there are: no line has an effect of its own.
    Effect::new(move |_| {
        lines.track();
        let at: Vec<usize> = current.get().into_iter().collect();
        request_animation_frame(move || mark("data-current", &at));
    });
    Effect::new(move |_| {
        let asked = signals.last_write.with(|one| one.as_ref().map(|answer| answer.pointer.clone()));
        let is_asked = |line: &Line| asked.is_some() && line.pointer == asked;
        let at: Vec<usize> = lines.with(|yaml| {
            (yaml.first..).zip(&yaml.lines).filter(|(_, line)| is_asked(line)).map(|(at, _)| at).collect()
        });
        request_animation_frame(move || mark("data-asked", &at));
    });
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
            >"managedFields "<span class="num">{move || entries.get()}</span></button>
            <span class="grow"></span>
            <span role="status" class="dim" data-testid="yaml-copied">{move || yaml.with(|yaml| yaml.copied)}</span>
        </div>
        <p class="inspector-note" data-testid="yaml-source" data-failed=move || yaml.with(|yaml| yaml.failed).to_string()>
            {move || yaml.with(|yaml| yaml.words.clone())}
            {move || yaml.with(|yaml| yaml.failed).then(|| view! {
                " " <button class="small" on:click=move |_| send(InspectorCommand::Refresh)>"Try again"</button>
            })}
        </p>
        <div
            class="yaml"
            data-testid="yaml"
            data-managers=move || managers.get().then_some("true")
            data-lines=move || count().to_string()
            style:height=move || format!("{}px", count() as f64 * LINE)
            style=("--yaml-line", format!("{LINE}px"))
            role="group"
            tabindex="0"
            aria-label="YAML. The arrows choose a line, and Enter shows the last write of its field."
            aria-activedescendant=move || current.get().filter(|at| *at < count()).map(line_id)
            on:click=move |event: ev::MouseEvent| {
                let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
                let closest = |selector: &str| target.as_ref().and_then(|target| target.closest(selector).ok().flatten());
                // The button of a Secret's value has a use of its own.
                if closest("button").is_none()
                    && let Some(at) = closest(".line").and_then(|line| line.id().strip_prefix(ID)?.parse().ok())
                {
                    current.set(Some(at));
                    ask(at);
                }
            }
            on:keydown=move |event: ev::KeyboardEvent| {
                let last = count().saturating_sub(1);
                let (at, is_plain) = (current.get_untracked(), event.target() == event.current_target());
                let at = match &*event.key() {
                    "ArrowDown" if is_plain => at.map_or(0, |at| at + 1),
                    "ArrowUp" if is_plain => at.map_or(0, |at| at.saturating_sub(1)),
                    "Enter" if is_plain => {
                        event.prevent_default();
                        return at.into_iter().for_each(ask);
                    }
                    _ => return,
                };
                event.prevent_default();
                current.set(Some(at.min(last)));
                show_line(at.min(last));
            }
        >
            <div class="yaml-lines" style:transform=move || format!("translateY({}px)", lines.with(|yaml| yaml.first as f64 * LINE))>
                {move || lines.with(|yaml| {
                    let line = |(at, line)| line_view((at, line), signals, commands);
                    (yaml.first..).zip(&yaml.lines).map(line).collect_view()
                })}
            </div>
        </div>
        <LastWrite signals commands />
    }
}

/// The panel that scrolls, the YAML in it, and how many pixels of the YAML are above the panel's upper edge.
fn places() -> Option<(web_sys::Element, f64)> {
    let document = document();
    let panel = document.get_element_by_id("inspector-panel")?;
    let yaml = document.query_selector("[data-testid=yaml]").ok()??;
    let top = panel.get_bounding_client_rect().top() - yaml.get_bounding_client_rect().top();
    Some((panel, top))
}

/// Asks for the lines that are in sight now.
pub fn scrolled(commands: Commands) {
    if let Some((panel, top)) = places() {
        let height = f64::from(panel.client_height());
        commands.send(Command::Inspector(InspectorCommand::Scroll { top, height }));
    }
}

/// Scrolls as little as is needed to see a line, which may not be in the document yet.
fn show_line(at: usize) {
    let Some((panel, top)) = places() else { return };
    let line = at as f64 * LINE - top;
    let height = f64::from(panel.client_height());
    let by = if line < BAR { line - BAR } else { (line + LINE - height).max(0.0) };
    panel.set_scroll_top(panel.scroll_top() + by as i32);
}

/// Gives an attribute to these lines, and takes it from all others.
fn mark(attribute: &str, at: &[usize]) {
    let selector = format!(".yaml [{attribute}]");
    while let Ok(Some(element)) = document().query_selector(&selector) {
        if element.remove_attribute(attribute).is_err() {
            return;
        }
    }
    for line in at.iter().filter_map(|at| document().get_element_by_id(&line_id(*at))) {
        let _ = line.set_attribute(attribute, "true");
    }
}

fn line_id(at: usize) -> String {
    format!("{ID}{at}")
}

fn line_view((at, line): (usize, &Line), signals: Inspector, commands: Commands) -> impl IntoView + use<> {
    let Line { lead, key, value, is_text, managers, secret, .. } = line.clone();
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
        <div class="line" id=line_id(at)>
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
