//! The rail: the kinds, which of them are watched, and how much happens in each.

use leptos::prelude::*;

use crate::ui::screen::{Command, Commands, RailItem, Screen};

/// The kinds, under their headings.
#[component]
pub fn Rail(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    // Headings, each with the names and titles of its kinds: they change only when kinds come or go.
    let groups = Memo::new(move |_| {
        let mut groups: Vec<(&'static str, Vec<(&'static str, &'static str)>)> = Vec::new();
        screen.rail.with(|rail| {
            for item in rail {
                let kind = (item.name, item.title);
                match groups.iter_mut().find(|(heading, _)| *heading == item.heading) {
                    Some((_, kinds)) => kinds.push(kind),
                    None => groups.push((item.heading, vec![kind])),
                }
            }
        });
        groups
    });
    view! {
        <nav class="rail" aria-label="Resources">
            <For
                each=move || groups.get()
                key=|(heading, _)| *heading
                children=move |(heading, _)| view! { <Group heading groups screen commands /> }
            />
            {move || screen.rail_trouble.get().map(|words| view! {
                <p class="rail-trouble" role="status">"Kinds may be missing: " {words}</p>
            })}
        </nav>
    }
}

type Groups = Memo<Vec<(&'static str, Vec<(&'static str, &'static str)>)>>;

/// A heading and its kinds. Those of the usual headings are open; the others open when one of theirs is in view.
#[component]
fn Group(heading: &'static str, groups: Groups, screen: Screen, commands: Commands) -> impl IntoView {
    let kinds = Memo::new(move |_| {
        groups.with(|groups| {
            groups.iter().find(|(other, _)| *other == heading).map(|(_, kinds)| kinds.clone()).unwrap_or_default()
        })
    });
    let is_busy = Memo::new(move |_| {
        screen.rail.with(|rail| rail.iter().any(|item| item.heading == heading && (item.current || item.pinned)))
    });
    let open = move || is_busy.get() || USUAL.contains(&heading);
    view! {
        <details class="rail-group" open=open>
            <summary>
                <h2>{heading}</h2>
                <span class="num">{move || kinds.with(Vec::len)}</span>
            </summary>
            <For
                each=move || kinds.get()
                key=|(name, _)| *name
                children=move |(name, title)| view! { <Item name title screen commands /> }
            />
        </details>
    }
}

/// The headings that are open at first.
const USUAL: [&str; 3] = ["Workloads", "Network", "Cluster"];

#[component]
fn Item(name: &'static str, title: &'static str, screen: Screen, commands: Commands) -> impl IntoView {
    let item = Memo::new(move |_| screen.rail.with(|rail| rail.iter().find(|item| item.name == name).cloned()));
    let read =
        move |get: fn(&RailItem) -> String| move || item.with(|item| item.as_ref().map_or_else(String::new, get));
    let is = move |get: fn(&RailItem) -> bool| move || item.with(|item| item.as_ref().is_some_and(get));
    let glyph = move |item: &RailItem| match item.state {
        "" => "○",
        "live" => "●",
        "forbidden" | "stopped" => "◆",
        _ => "◐",
    };
    let pin = move |_| commands.send(Command::Go(screen.route.get_untracked().pinning(name)));
    view! {
        <div class="rail-item" data-current=move || is(|item| item.current)().to_string()>
            <a
                href=read(|item| item.href.clone())
                data-testid=format!("kind-{name}")
                aria-current=move || is(|item| item.current)().then_some("page")
            >
                <span class="state" data-state=move || item.with(|item| item.as_ref().map_or("", |item| item.state))>
                    {move || item.with(|item| item.as_ref().map_or("○", glyph))}
                </span>
                <span>{title}</span>
                <span class="num">{read(|item| item.count.clone())}</span>
                <svg viewBox="0 0 44 14" aria-hidden="true" preserveAspectRatio="none">
                    <path d=read(|item| item.spark.clone()) />
                </svg>
            </a>
            <button
                class="pin"
                data-testid=format!("pin-{name}")
                aria-pressed=move || is(|item| item.pinned)().to_string()
                aria-label=format!("keep {title} watched")
                title="keep watching while another kind is in view"
                on:click=pin
            >
                "⚲"
            </button>
        </div>
    }
}
