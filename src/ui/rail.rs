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
    let resources = Memo::new(move |_| {
        screen.rail.with(|rail| rail.iter().map(|item| (item.group, item.title, item.resource)).collect::<Vec<_>>())
    });
    view! {
        <nav class="rail" aria-label="Resources">
            {move || {
                let mut group = "";
                resources
                    .get()
                    .into_iter()
                    .map(|(heading, title, resource)| {
                        let first = heading != group;
                        group = heading;
                        view! {
                            {first.then(|| view! { <h2>{heading}</h2> })}
                            <Item resource title screen commands />
                        }
                    })
                    .collect_view()
            }}
        </nav>
    }
}

#[component]
fn Item(resource: &'static str, title: &'static str, screen: Screen, commands: Commands) -> impl IntoView {
    let item = Memo::new(move |_| screen.rail.with(|rail| rail.iter().find(|item| item.resource == resource).cloned()));
    let read =
        move |get: fn(&RailItem) -> String| move || item.with(|item| item.as_ref().map_or_else(String::new, get));
    let is = move |get: fn(&RailItem) -> bool| move || item.with(|item| item.as_ref().is_some_and(get));
    let glyph = move |item: &RailItem| match item.state {
        "" => "○",
        "live" => "●",
        "forbidden" | "stopped" => "◆",
        _ => "◐",
    };
    let pin = move |_| commands.send(Command::Go(screen.route.get_untracked().pinning(resource)));
    view! {
        <div class="rail-item" data-current=move || is(|item| item.current)().to_string()>
            <a
                href=read(|item| item.href.clone())
                data-testid=format!("kind-{resource}")
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
                data-testid=format!("pin-{resource}")
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
