//! The sidebar: the kinds, which of them are watched, and how much happens in each.

use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use kubechurn_model::page::command::Command;
use kubechurn_model::shell::panel::Panel;
use kubechurn_model::view::SidebarItem;

use crate::ui::parts::each;
use crate::ui::screen::{Commands, Screen};
use crate::ui::shell::edge::Edge;
use crate::ui::values::Memo;

/// The kinds, under their headings.
#[component]
pub fn Sidebar(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    // The headings, each with the names and titles of its kinds. This changes only when kinds come or go.
    let groups = Memo::new(move |_| {
        let mut groups: Vec<(&'static str, Vec<(&'static str, &'static str)>)> = Vec::new();
        screen.sidebar.items.with(|items| {
            for item in items {
                let kind = (item.name, item.title);
                match groups.iter_mut().find(|(heading, _)| *heading == item.heading) {
                    Some((_, kinds)) => kinds.push(kind),
                    None => groups.push((item.heading, vec![kind])),
                }
            }
        });
        groups
    });
    let sidebar = NodeRef::<html::Div>::new();
    let walk = move |event: leptos::ev::KeyboardEvent| {
        if let Some(sidebar) = sidebar.get_untracked()
            && !event.ctrl_key()
            && !event.alt_key()
            && !event.meta_key()
            && walk(&sidebar, &event.key())
        {
            event.prevent_default();
        }
    };
    view! {
        <nav id="kinds" class="sidebar" aria-label="Resources" on:keydown=walk>
            <div class="sidebar-list" node_ref=sidebar>
            <div class="sidebar-item everything" data-current=move || screen.sidebar.changes.with(|item| item.current).to_string()>
                <a
                    href=move || screen.sidebar.changes.with(|item| item.href.clone())
                    title="what changes in workloads, Pods, Nodes and Events, as it happens"
                    data-testid="what-changed"
                    aria-current=move || screen.sidebar.changes.with(|item| item.current.then_some("page"))
                >
                    <span class="state" aria-hidden="true">"≡"</span>
                    <span>"What changed"</span>
                    {move || Some(screen.sidebar.changes.with(|item| item.wrong.clone())).filter(|wrong| !wrong.is_empty()).map(|wrong| view! {
                        <span
                            class="wrong-badge"
                            data-testid="what-is-wrong"
                            data-fails=move || screen.sidebar.changes.with(|item| item.fails).to_string()
                        >
                            {wrong}
                        </span>
                    })}
                    <span class="num">{move || screen.sidebar.changes.with(|item| item.count.clone())}</span>
                </a>
            </div>
            <div class="sidebar-item">
                <a
                    href=move || screen.sidebar.inside.get()
                    title="list, watch and informers, one step at a time, over what was recorded of the kind in view (i)"
                    data-testid="way-inside"
                >
                    <span class="state" aria-hidden="true">"⚙"</span>
                    <span>"Inside"</span>
                </a>
            </div>
            {move || Some(screen.sidebar.everything.get()).filter(|item| !item.namespace.is_empty()).map(|item| view! {
                <div class="sidebar-item" data-current=item.current.to_string()>
                    <a
                        href=item.href
                        title="all kinds of this namespace in one table"
                        data-testid="everything"
                        aria-current=item.current.then_some("page")
                    >
                        <span class="state" aria-hidden="true">"≡"</span>
                        <span>"Everything in " {item.namespace}</span>
                    </a>
                </div>
            })}
            {each(move || groups.get(), |(heading, _)| *heading, move |(heading, _)| view! {
                <Group heading groups screen commands />
            }.into_any())}
            {move || screen.sidebar.trouble.get().map(|words| view! {
                <p class="sidebar-trouble" role="status" data-testid="rail-trouble">"Kinds may be missing: " {words}</p>
            })}
            </div>
            <Edge panel=Panel::Sidebar screen commands />
        </nav>
    }
}

/// Moves the focus among headings and kinds by an arrow key. Whether the key moved it.
fn walk(sidebar: &web_sys::Element, key: &str) -> bool {
    let Some(focused) = sidebar.owner_document().and_then(|document| document.active_element()) else { return false };
    let places = places(sidebar);
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

/// The headings and the kinds of open groups, from the top down. The focus cannot go to a kind of a closed group.
fn places(sidebar: &web_sys::Element) -> Vec<web_sys::HtmlElement> {
    let mut places = Vec::new();
    let children = |parent: &web_sys::Element| {
        std::iter::successors(parent.first_element_child(), web_sys::Element::next_element_sibling)
    };
    for group in children(sidebar).filter(|child| child.has_attribute("data-testid")) {
        let open = group.has_attribute("open");
        for place in children(&group).filter(|child| open || child.tag_name() == "SUMMARY") {
            let link = place.query_selector("a").ok().flatten();
            places.extend(link.unwrap_or(place).dyn_into().ok());
        }
    }
    places
}

type Groups = Memo<Vec<(&'static str, Vec<(&'static str, &'static str)>)>>;

/// A group that opens and closes: a heading and its kinds.
#[component]
fn Group(heading: &'static str, groups: Groups, screen: Screen, commands: Commands) -> impl IntoView {
    let kinds = Memo::new(move |_| {
        groups.with(|groups| {
            groups.iter().find(|(other, _)| *other == heading).map(|(_, kinds)| kinds.clone()).unwrap_or_default()
        })
    });
    let open = move || screen.sidebar.open.with(|open| open.contains(&heading));
    let group = NodeRef::<html::Details>::new();
    let toggled = move |_| {
        if let Some(group) = group.get_untracked() {
            commands.send(Command::Fold(heading, group.open()));
        }
    };
    view! {
        <details class="sidebar-group" data-testid=format!("group-{heading}") open=open node_ref=group on:toggle=toggled>
            <summary>
                <h2 title=heading>{heading}</h2>
                <span class="num">{move || kinds.with(Vec::len)}</span>
            </summary>
            {each(move || kinds.get(), |(name, _)| *name, move |(name, title)| view! {
                <Item name title screen commands />
            }.into_any())}
        </details>
    }
}

/// How many letters of a kind's name have room in the usual size.
const LONG: usize = 27;

#[component]
fn Item(name: &'static str, title: &'static str, screen: Screen, commands: Commands) -> impl IntoView {
    let item =
        Memo::new(move |_| screen.sidebar.items.with(|items| items.iter().find(|item| item.name == name).cloned()));
    let read =
        move |get: fn(&SidebarItem) -> String| move || item.with(|item| item.as_ref().map_or_else(String::new, get));
    let is = move |get: fn(&SidebarItem) -> bool| move || item.with(|item| item.as_ref().is_some_and(get));
    let glyph = move |item: &SidebarItem| match item.state {
        "" => "○",
        "live" => "●",
        "unauthorized" | "forbidden" | "stopped" => "◆",
        _ => "◐",
    };
    let pin = move |_| commands.send(Command::Pin(name));
    let join = move |_| commands.send(Command::Join(name));
    let joined = is(|item| item.current);
    // The only kind in view can neither join a table nor leave it.
    let is_only = move || joined() && screen.header.route.with(|route| !route.is_several());
    view! {
        <div
            class="sidebar-item"
            data-gone=move || is(|item| item.gone)().to_string()
            data-current=move || is(|item| item.current)().to_string()>
            <a
                href=read(|item| item.href.clone())
                title=read(|item| match &*item.note {
                    "" => item.title.to_owned(),
                    note => format!("{}\n{note}", item.title),
                })
                data-testid=format!("kind-{name}")
                aria-current=move || joined().then(|| if is_only() { "page" } else { "true" })
            >
                <span class="state" data-state=move || item.with(|item| item.as_ref().map_or("", |item| item.state))>
                    {move || item.with(|item| item.as_ref().map_or("○", glyph))}
                </span>
                <span data-long=(title.len() > LONG).to_string()>{title}</span>
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
