//! The rail: the kinds, which of them are watched, and how much happens in each.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use kubechurn_model::page::view::RailItem;

use crate::ui::screen::{Command, Commands, Screen};

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
    let rail = NodeRef::<html::Nav>::new();
    let walk = move |event: leptos::ev::KeyboardEvent| {
        if let Some(rail) = rail.get_untracked()
            && !event.ctrl_key()
            && !event.alt_key()
            && !event.meta_key()
            && walk(&rail, &event.key())
        {
            event.prevent_default();
        }
    };
    view! {
        <nav class="rail" aria-label="Resources" node_ref=rail on:keydown=walk>
            <For
                each=move || groups.get()
                key=|(heading, _)| *heading
                children=move |(heading, _)| view! { <Group heading groups screen commands /> }
            />
            {move || screen.rail_trouble.get().map(|words| view! {
                <p class="rail-trouble" role="status" data-testid="rail-trouble">"Kinds may be missing: " {words}</p>
            })}
        </nav>
    }
}

/// Moves the focus from heading to kind to heading, as the arrows say. Whether they did.
fn walk(rail: &web_sys::Element, key: &str) -> bool {
    let Some(focused) = rail.owner_document().and_then(|document| document.active_element()) else { return false };
    let places = places(rail);
    let Some(now) = places.iter().position(|place| **place == focused) else { return false };
    let to = match key {
        "ArrowDown" => now + 1,
        "ArrowUp" => now.saturating_sub(1),
        "Home" => 0,
        "End" => places.len() - 1,
        _ => return false,
    };
    places.get(to).is_some_and(|place| place.focus().is_ok())
}

/// The headings, and the kinds of the open ones, from the top down: what is in a closed group is no place to go to.
fn places(rail: &web_sys::Element) -> Vec<web_sys::HtmlElement> {
    let mut places = Vec::new();
    let children = |parent: &web_sys::Element| {
        std::iter::successors(parent.first_element_child(), web_sys::Element::next_element_sibling)
    };
    for group in children(rail).filter(|child| child.has_attribute("data-testid")) {
        let open = group.has_attribute("open");
        for place in children(&group).filter(|child| open || child.tag_name() == "SUMMARY") {
            let link = place.query_selector("a").ok().flatten();
            places.extend(link.unwrap_or(place).dyn_into().ok());
        }
    }
    places
}

type Groups = Memo<Vec<(&'static str, Vec<(&'static str, &'static str)>)>>;

/// A heading and its kinds, to be opened and closed.
#[component]
fn Group(heading: &'static str, groups: Groups, screen: Screen, commands: Commands) -> impl IntoView {
    let kinds = Memo::new(move |_| {
        groups.with(|groups| {
            groups.iter().find(|(other, _)| *other == heading).map(|(_, kinds)| kinds.clone()).unwrap_or_default()
        })
    });
    let open = move || screen.rail_open.with(|open| open.contains(&heading));
    let group = NodeRef::<html::Details>::new();
    let toggled = move |_| {
        if let Some(group) = group.get_untracked() {
            commands.send(Command::Fold(heading, group.open()));
        }
    };
    view! {
        <details class="rail-group" data-testid=format!("group-{heading}") open=open node_ref=group on:toggle=toggled>
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
    let join = move |_| commands.send(Command::Go(screen.route.get_untracked().joining(name)));
    let joined = is(|item| item.current);
    // The only one in view has nothing to join, and nothing to leave.
    let is_only = move || joined() && screen.route.with(|route| !route.is_several());
    view! {
        <div
            class="rail-item"
            data-gone=move || is(|item| item.gone)().to_string()
            data-current=move || is(|item| item.current)().to_string()>
            <a
                href=read(|item| item.href.clone())
                title=read(|item| item.note.clone())
                data-testid=format!("kind-{name}")
                aria-current=move || joined().then(|| if is_only() { "page" } else { "true" })
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
                class="join"
                data-testid=format!("join-{name}")
                disabled=is_only
                aria-pressed=move || joined().to_string()
                aria-label=format!("{title} in the table in view")
                title=move || if joined() { "take out of the table in view" } else { "add to the table in view" }
                on:click=join
            >
                {move || if joined() { "−" } else { "+" }}
            </button>
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
