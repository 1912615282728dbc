//! The table: its title, its head, and the rows of the window.

pub mod columns_menu;
pub mod listing;
pub mod retention;
mod row;
pub mod unplaced;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use kubechurn_model::page::command::Command;
use kubechurn_model::table::layout::ColumnChange;
use kubechurn_model::view::{Head, ROW};

use crate::ui::parts::each;
use crate::ui::screen::{Commands, Screen};
use crate::ui::sized::on_size;
use crate::ui::table::columns_menu::{ColumnsMenu, Grip};
use crate::ui::table::listing::Listing;
use crate::ui::table::retention::ClearDeleted;
use crate::ui::table::row::{Pattern, Row};
use crate::ui::table::unplaced::{MAX_HEIGHT, Unplaced};

/// The id of what is scrolled, which has the focus when the keys go from row to row.
pub const OBJECTS: &str = "objects";

/// The table of the kind in view.
#[component]
pub fn Table(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let scroller = NodeRef::<html::Div>::new();
    let pattern = StoredValue::new_local(Pattern::default());
    let scrolled = move || {
        if let Some(scroller) = scroller.get_untracked() {
            let (top, height) = (f64::from(scroller.scroll_top()), f64::from(scroller.client_height()));
            commands.send(Command::Scroll { top, height });
        }
    };
    on_size(scroller, scrolled);
    // Another kind begins at its top, and the first look at the scroller is its size.
    Effect::new(move |last: Option<String>| {
        let resource = screen.header.route.with(|route| route.resource.clone());
        if let Some(scroller) = scroller.get().filter(|_| last.as_ref() != Some(&resource)) {
            // To set a place lays the page out, and a table that was just made is at its top.
            if last.is_some() {
                scroller.set_scroll_top(0);
            }
            scrolled();
        }
        resource
    });
    Effect::new(move |_| {
        let top = screen.rows.scroll.get();
        if let Some(scroller) = scroller.get_untracked().filter(|_| top > 0.0) {
            scroller.set_scroll_top(top as i32);
        }
    });
    let deep = move || f64::min(screen.rows.length.get() as f64 * ROW, MAX_HEIGHT);
    let offset = move || format!("translateY({}px)", screen.rows.window.with(|window| window.first) as f64 * ROW);
    view! {
        <TitleBar screen commands />
        <Trouble screen commands />
        <div class="table-frame">
        <div
            id=OBJECTS
            class="table-scroll"
            data-testid="table-scroll"
            tabindex="0"
            role="grid"
            aria-label=move || screen.header.subject.with(|subject| subject.title.clone())
            aria-rowcount=move || screen.rows.length.get() + 1
            aria-colcount=move || screen.table.heads.with(Vec::len)
            aria-activedescendant=move || screen.rows.cursor.get()
            node_ref=scroller
            on:scroll=move |_| scrolled()
            on:pointermove=move |_| commands.send(Command::PointerOverTable(true))
            on:pointerleave=move |_| commands.send(Command::PointerOverTable(false))
        >
            <div
                class="table"
                role="presentation"
                style=("--columns", move || screen.table.template.get())
            >
                <div class="table-head" role="row" aria-rowindex="1">
                    {each(
                        // Two columns may have one title: a CRD calls its own as it likes.
                        move || screen.table.heads.get().into_iter().enumerate().collect(),
                        |(at, head)| (*at, head.title, head.end, head.sort),
                        move |(_, head)| view! { <HeadCell head commands /> }.into_any(),
                    )}
                    <i id="hundred-characters" aria-hidden="true"></i>
                </div>
                <div class="table-body" role="rowgroup" style:height=move || format!("{}px", deep())>
                    <Unplaced screen />
                    <div class="table-rows" role="presentation" style:transform=offset>
                        {each(
                            move || screen.rows.window.with(|window| window.places.clone()),
                            |place| place.id,
                            move |place| view! {
                                <Row place heads=screen.table.heads.get_untracked() pattern commands />
                            }.into_any(),
                        )}
                    </div>
                </div>
            </div>
        </div>
        <Listing screen />
        {move || screen.rows.empty.get().map(|words| view! { <p class="empty" data-testid="empty">{words}</p> })}
        </div>
    }
}

#[component]
fn TitleBar(screen: Screen, commands: Commands) -> impl IntoView {
    let what = move || {
        screen.header.route.with(|route| match &*route.namespaces {
            _ if !screen.header.subject.with(|subject| subject.namespaced) => String::from("of the cluster"),
            [] => String::from("in all namespaces"),
            namespaces => format!("in {}", namespaces.join(", ")),
        })
    };
    let title = move || screen.header.subject.with(|subject| subject.title.clone());
    let minute = move |at: usize| screen.table.minute.with(|minute| minute[at].to_string());
    let provisional = move || screen.table.provisional.with(|words| !words.is_empty());
    let wide = move || screen.header.route.with(|route| route.wide);
    let widen = move |_| commands.send(Command::ToggleWide);
    view! {
        <div class="title-bar">
            <h1 title=title>{title}</h1>
            // Provisional rows are not counted, and their number is written in place of a count that would say 0.
            <span class="num" data-testid="row-count" hidden=provisional>{move || screen.table.count.get()}</span>
            <span
                class="num provisional"
                data-testid="provisional"
                hidden=move || !provisional()
                title="The list is not complete: this is what it has brought so far, and none of it is certain."
            >
                {move || screen.table.provisional.get()}
            </span>
            <span class="what" title=what>{what}</span>
            <span class="what num" data-testid="progress" role="status" title=move || screen.table.progress.get()>{move || screen.table.progress.get()}</span>
            {move || {
                let waiting = screen.table.waiting.get();
                (waiting > 0)
                    .then(|| view! {
                        <button class="waiting" on:click=move |_| commands.send(Command::PointerOverTable(false))>
                            {format!("▲ {waiting} new {} held", if waiting == 1 { "row" } else { "rows" })}
                        </button>
                    })
            }}
            <ClearDeleted screen commands />
            <span class="grow"></span>
            <span class="minute num" aria-label="changes in the last minute">
                <b data-delta="Added" title="added in the last minute">"▲ " {move || minute(0)}</b>
                <b data-delta="Updated" title="updated in the last minute">"● " {move || minute(1)}</b>
                <b data-delta="Deleted" title="deleted in the last minute">"✕ " {move || minute(2)}</b>
                <span class="extra">"last minute"</span>
            </span>
            <button data-testid="wide" aria-pressed=move || wide().to_string() title="all columns, as kubectl get -o wide" on:click=widen>
                "Wide"
            </button>
            <ColumnsMenu screen commands />
        </div>
    }
}

/// What is wrong with a watch in view, and what the page does about it.
#[component]
pub fn Trouble(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    move || {
        let each = screen.table.trouble.get().into_iter().map(|trouble| {
            view! {
                <div class="notice" data-testid="notice" data-state=trouble.state>
                    <b>{trouble.what}</b>
                    <span class="words">{trouble.words}</span>
                    <span class="dim">{trouble.next.clone()}</span>
                    {(!trouble.next.is_empty()).then(|| view! {
                        <button on:click=move |_| commands.send(Command::Retry)>"Try now"</button>
                    })}
                </div>
            }
        });
        each.collect_view()
    }
}

#[component]
fn HeadCell(head: Head, commands: Commands) -> impl IntoView {
    let arrow = match head.sort {
        "ascending" => "↑",
        "descending" => "↓",
        _ => "",
    };
    let title = head.title;
    let sort = move |_| commands.send(Command::SortBy(title));
    let align = if head.end { "end" } else { "start" };
    if head.sort.is_empty() {
        let words = "what happens to it next, after the moment that is shown";
        return view! { <div role="columnheader" data-col=title data-align=align title=words>{title}</div> }.into_any();
    }
    view! {
        <div
            role="columnheader"
            data-col=title
            data-align=align
            aria-sort=head.sort
            on:dragover=|event| event.prevent_default()
            on:drop=move |event: ev::DragEvent| {
                event.prevent_default();
                let moved = event.data_transfer().and_then(|carried| carried.get_data("text/plain").ok());
                if let Some(moved) = moved {
                    commands.send(Command::Columns(ColumnChange::Onto(moved, title.to_owned())));
                }
            }
        >
            <button
                draggable="true"
                title="sort by this column; drag it to another place"
                on:click=sort
                on:dragstart=move |event: ev::DragEvent| {
                    if let Some(carried) = event.data_transfer() {
                        let _ = carried.set_data("text/plain", title);
                    }
                }
            >
                {title} <span aria-hidden="true">{arrow}</span>
            </button>
            <Grip title commands />
        </div>
    }
    .into_any()
}
