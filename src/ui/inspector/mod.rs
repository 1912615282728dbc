//! The inspector: a panel beside the table, with what is behind the selected row.

mod changes;
mod comparison;
mod events;
mod last_write;
mod summary;
mod yaml;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use kubechurn_client::api::cell::Tone;
use kubechurn_client::api::time::{Timestamp, write_human_duration};
use kubechurn_model::inspector::command_lines::CommandLine;
use kubechurn_model::inspector::relatives::Link;
use kubechurn_model::inspector::tab::Tab;
use kubechurn_model::page::command::{Command, InspectorCommand};
use kubechurn_model::shell::panel::Panel;
use kubechurn_model::view::inspector::Inspected;

use crate::ui::logs::LogTab;
use crate::ui::screen::{Commands, Inspector as Signals, Screen};
use crate::ui::shell::closing_menu;
use crate::ui::shell::edge::Edge;
use crate::ui::sized::on_size;
use crate::ui::values::Memo;

/// The panel; nothing while no row is selected.
#[component]
pub fn Inspector(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let signals = screen.inspector;
    // Whether the keyboard opened the panel. Then the focus moves into it, and back when it closes. After a click the focus
    // stays in the table, where the arrow keys go to the next row.
    let by_keyboard = StoredValue::new(false);
    let before = StoredValue::new_local(None::<web_sys::HtmlElement>);
    let keys = window_event_listener(ev::keydown, move |_| by_keyboard.set_value(true));
    let pointer = window_event_listener(ev::pointerdown, move |_| by_keyboard.set_value(false));
    on_cleanup(move || {
        keys.remove();
        pointer.remove();
    });
    let panel = NodeRef::<html::Div>::new();
    on_size(panel, move || yaml::scrolled(commands));
    let is_open = Memo::new(move |_| signals.inspected.with(Option::is_some));
    Effect::new(move |was: Option<bool>| {
        let open = is_open.get();
        let document = web_sys::window().and_then(|window| window.document());
        match (was.unwrap_or(false), open) {
            (false, true) if was.is_some() && by_keyboard.get_value() => {
                let active = document.and_then(|document| document.active_element());
                before.set_value(active.and_then(|element| element.dyn_into().ok()));
                focus(".inspector [role=tab][aria-selected=true]");
            }
            (true, false) => match before.try_update_value(Option::take).flatten() {
                Some(element) if element.is_connected() => drop(element.focus()),
                // The focus was in the panel, and closing the panel has left it nowhere.
                _ if has_no_focus() => focus("[data-testid=table-scroll]"),
                _ => {}
            },
            _ => {}
        }
        open
    });
    view! {
        <Show when=move || is_open.get()>
            <aside
                class="inspector"
                data-testid="inspector"
                data-kind=move || signals.inspected.with(|one| one.as_ref().map(|one| one.resource))
                data-key=move || signals.inspected.with(|one| one.as_ref().map(|one| one.key.clone()))
                data-state=move || signals.inspected.with(|one| one.as_ref().map(|one| one.state))
                aria-label="Inspector"
            >
                <Edge panel=Panel::Inspector screen commands />
                <Head signals commands />
                <Tabs signals commands />
                <div
                    class="inspector-body"
                    id="inspector-panel"
                    node_ref=panel
                    on:scroll=move |_| yaml::scrolled(commands)
                    role="tabpanel"
                    tabindex="0"
                    aria-labelledby=move || format!("inspector-{}", signals.tab.get().name())
                >
                    {move || match signals.tab.get() {
                        Tab::Summary => view! { <summary::Summary signals /> }.into_any(),
                        Tab::Changes => view! { <changes::Changes screen commands /> }.into_any(),
                        Tab::Yaml => view! { <yaml::YamlView signals commands /> }.into_any(),
                        Tab::Events => view! { <events::Events signals /> }.into_any(),
                        Tab::Logs => view! { <LogTab screen commands /> }.into_any(),
                    }}
                </div>
            </aside>
        </Show>
    }
}

/// Scrolls as little as is needed to see an element.
fn scroll_to(selector: &str) {
    let document = web_sys::window().and_then(|window| window.document());
    if let Some(element) = document.and_then(|document| document.query_selector(selector).ok().flatten()) {
        let options = web_sys::ScrollIntoViewOptions::new();
        options.set_block(web_sys::ScrollLogicalPosition::Nearest);
        element.scroll_into_view_with_scroll_into_view_options(&options);
    }
}

/// Whether the focus is nowhere, because what had it is gone.
fn has_no_focus() -> bool {
    let document = web_sys::window().and_then(|window| window.document());
    let active = document.and_then(|document| document.active_element());
    active.is_none_or(|element| element.tag_name() == "BODY")
}

fn focus(selector: &str) {
    let document = web_sys::window().and_then(|window| window.document());
    let element = document.and_then(|document| document.query_selector(selector).ok().flatten());
    if let Some(element) = element.and_then(|element| element.dyn_into::<web_sys::HtmlElement>().ok()) {
        let _ = element.focus();
    }
}

#[component]
fn Head(signals: Signals, commands: Commands) -> impl IntoView {
    let read = move |get: fn(&Inspected) -> String| {
        move || signals.inspected.with(|one| one.as_ref().map(get).unwrap_or_default())
    };
    view! {
        <div class="inspector-head">
            <div class="inspector-title">
                <h2 data-testid="inspector-name">{read(|one| one.name.clone())}</h2>
                <CopyMenu signals commands />
                <button class="close" data-testid="inspector-close" title="close (Esc)" aria-label="close the inspector"
                    on:click=move |_| commands.send(Command::Select(None))>"✕"</button>
            </div>
            <p class="inspector-about">
                {read(|one| match &*one.namespace {
                    "" => one.kind.clone(),
                    namespace => format!("{} in {namespace}", one.kind),
                })}
                {move || {
                    let chain = signals.owners.get();
                    (!chain.is_empty()).then(|| view! { <span class="chain">" · "{links(chain, " › ")}</span> })
                }}
            </p>
            {move || {
                let said = signals.inspected.with(|one| one.as_ref().map(|one| (one.state, one.words.clone())));
                said.filter(|(_, words)| !words.is_empty()).map(|(state, words)| view! {
                    <p class="inspector-state" data-testid="inspector-state" data-state=state role="status">{words}</p>
                })
            }}
        </div>
    }
}

/// What can be copied about the object: command lines, which are never run here, and what a version changed.
#[component]
fn CopyMenu(signals: Signals, commands: Commands) -> impl IntoView {
    let (menu, close) = closing_menu();
    let lines = Memo::new(move |_| {
        signals.inspected.with(|one| one.as_ref().map(|one| one.command_lines.clone()).unwrap_or_default())
    });
    let copy = move |command: InspectorCommand| {
        commands.send(Command::Inspector(command));
        close();
    };
    let line = move |line: CommandLine| {
        let (text, shown) = (line.text.clone(), line.text);
        view! {
            <li>
                <button on:click=move |_| copy(InspectorCommand::CopyLine(text.clone()))>
                    <span>{line.title}</span>
                    <code>{shown}</code>
                </button>
            </li>
        }
    };
    view! {
        <details class="menu copy-menu" data-testid="inspector-copy" node_ref=menu>
            <summary class="button">"Copy ▾"</summary>
            <div class="menu-list">
                <p class="menu-head">"Command lines, to be run by you"</p>
                <ul>
                    {move || lines.get().into_iter().map(line).collect_view()}
                    <li>
                        <button data-testid="inspector-copy-diff" on:click=move |_| copy(InspectorCommand::CopyDifference)>
                            <span>"what the marked version, or the newest, changed, as a unified diff"</span>
                        </button>
                    </li>
                </ul>
            </div>
        </details>
    }
}

/// Objects one after the other, each a link where there is somewhere to go.
fn links(chain: Vec<Link>, between: &'static str) -> impl IntoView {
    let one = |(at, link): (usize, Link)| {
        let words = format!("{} {}", link.kind, link.name);
        let before = if at > 0 { between } else { "" };
        let note = (!link.words.is_empty()).then(|| format!(" ({})", link.words));
        match link.href {
            Some(href) => view! { {before} <a href=href>{words}</a> {note} }.into_any(),
            None => view! { {before} <span>{words}</span> {note} }.into_any(),
        }
    };
    chain.into_iter().enumerate().map(one).collect_view()
}

#[component]
fn Tabs(signals: Signals, commands: Commands) -> impl IntoView {
    let count = move |tab: Tab| match tab {
        Tab::Changes => Some(signals.versions.with(|versions| versions.shown.len() + versions.older + versions.newer)),
        Tab::Events => Some(signals.events.with(|events| events.items.len() + events.more)),
        _ => None,
    };
    // A kind without Pods has no logs.
    let kind =
        Memo::new(move |_| signals.inspected.with(|one| one.as_ref().map(|one| one.api_kind).unwrap_or_default()));
    let has = move |tab: &Tab| tab.is_of(kind.get_untracked());
    let step = move |event: ev::KeyboardEvent| {
        let by = match &*event.key() {
            "ArrowRight" => 1,
            "ArrowLeft" => Tab::ALL.len() - 1,
            _ => return,
        };
        event.prevent_default();
        let all: Vec<Tab> = Tab::ALL.into_iter().filter(has).collect();
        let at = all.iter().position(|tab| *tab == signals.tab.get_untracked()).unwrap_or(0);
        let tab = all[(at + by.min(all.len() - 1)) % all.len()];
        commands.send(Command::Inspector(InspectorCommand::Tab(tab)));
        focus(&format!("#inspector-{}", tab.name()));
    };
    let tab = move |tab: Tab| {
        let current = move || signals.tab.get() == tab;
        view! {
            <button
                class="tab"
                id=format!("inspector-{}", tab.name())
                data-testid=format!("inspector-tab-{}", tab.name())
                role="tab"
                aria-selected=move || current().to_string()
                aria-controls="inspector-panel"
                tabindex=move || if current() { "0" } else { "-1" }
                on:click=move |_| commands.send(Command::Inspector(InspectorCommand::Tab(tab)))
            >
                {tab.title()}
                // A number has its room before it is known: what stands behind it does not move under the pointer.
                {untrack(|| count(tab)).map(|_| view! {
                    <span class="num">{move || count(tab).filter(|count| *count > 0)}</span>
                })}
            </button>
        }
    };
    view! {
        <div class="inspector-tabs" role="tablist" aria-label="Inspector" on:keydown=step>
            {move || Tab::ALL.into_iter().filter(|tab| tab.is_of(kind.get())).map(tab).collect_view()}
        </div>
    }
}

/// The time since then as kubectl prints it, renewed as time passes.
fn age(signals: Signals, since: Timestamp) -> impl IntoView {
    let words = move || {
        let mut text = String::new();
        write_human_duration(signals.wall.get().seconds_since(since), &mut text);
        text
    };
    view! { <time data-at=since.0 as f64 * 1_000.0>{words}</time> }
}

fn tone_name(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Good => Some("good"),
        Tone::Wait => Some("wait"),
        Tone::Bad => Some("bad"),
    }
}
