//! The chosen stretch of time: a table of what changed in it, against the stretch before.

use leptos::prelude::*;

use kubechurn_model::feed::FeedCommand;
use kubechurn_model::feed::net::export::NetFormat;
use kubechurn_model::feed::span::{SpanCommand, SpanModel, SpanRow, SpanSection};
use kubechurn_model::page::command::Command;
use kubechurn_model::rewind::banner::RewindCommand;

use crate::ui::screen::{Commands, Screen};
use crate::ui::values::Memo;

/// The table. Nothing is shown while no stretch is chosen.
#[component]
pub fn Span(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let span = screen.feed.span;
    let is_chosen = Memo::new(move |_| span.with(Option::is_some));
    let is_net = Memo::new(move |_| span.with(|span| span.as_ref().is_some_and(|span| span.is_net)));
    let read = move |get: fn(&SpanModel) -> &String| {
        move || span.with(|span| span.as_ref().map(get).cloned().unwrap_or_default())
    };
    let sections = move || span.with(|span| span.as_ref().map(|span| span.sections.clone()).unwrap_or_default());
    let said = move |get: fn(&SpanModel) -> &String, testid: &'static str| {
        let words = read(get);
        move || Some(words()).filter(|words| !words.is_empty()).map(|words| view! { <p data-testid=testid>{words}</p> })
    };
    let row = move |row: SpanRow| {
        let (filter, wanted) = (row.filter.clone(), row.filter.clone());
        let is_on = move || screen.header.route.with(|route| route.changes && route.text == filter);
        view! {
            <li>
                <button
                    data-testid="span-row"
                    data-name=row.name.clone()
                    aria-pressed=move || is_on().to_string()
                    title=format!("{}\nshow these changes: {wanted}", row.name)
                    on:click=move |_| commands.send(Command::Span(match row.is_each {
                        true => SpanCommand::Each(row.filter.clone()),
                        false => SpanCommand::Filter(row.filter.clone()),
                    }))
                >
                    <span class="span-name">{row.label}</span>
                    <span class="num">{row.count}</span>
                    <span class="span-note">{row.note}</span>
                </button>
            </li>
        }
    };
    let section = move |SpanSection { title, rows, more }: SpanSection| {
        view! {
            <div class="span-section">
                <h3>{title}</h3>
                <ul aria-label=title>{rows.into_iter().map(row).collect_view()}</ul>
                {(more > 0).then(|| view! { <p class="span-more">{format!("and {more} more")}</p> })}
            </div>
        }
    };
    let title = move || {
        span.with(|span| match span {
            Some(span) if span.is_net => String::from("Two moments"),
            Some(span) => format!("Span {}", span.times),
            None => String::new(),
        })
    };
    move || {
        is_chosen.get().then(|| {
            view! {
                <section class="span-panel" aria-label="The chosen time" data-testid="span" data-net=move || is_net.get().to_string()>
                    <h2>
                        <span>{title}", " {read(|span| &span.against)}</span>
                        <button
                            data-testid="span-clear"
                            aria-label="give the chosen time up"
                            title="give the chosen time up (Esc)"
                            on:click=move |_| commands.send(Command::Span(SpanCommand::Clear))
                        >
                            "✕"
                        </button>
                    </h2>
                    <Ends screen commands is_net />
                    <p data-testid="span-words">{read(|span| &span.words)}</p>
                    {said(|span| &span.reading, "span-reading")}
                    {said(|span| &span.left_out, "span-left-out")}
                    {move || is_net.get().then(|| view! { <Exports commands /> })}
                    <div class="span-sections">{move || sections().into_iter().map(section).collect_view()}</div>
                </section>
            }
        })
    }
}

/// The ends of the stretch, which can be written over, and whether each change in it is shown or what is different in the end.
#[component]
fn Ends(screen: Screen, commands: Commands, is_net: Memo<bool>) -> impl IntoView {
    let ends = Memo::new(move |_| {
        screen.feed.span.with(|span| span.as_ref().map(|span| span.ends.clone()).unwrap_or_default())
    });
    let choice = move |net: bool, label: &'static str, testid: &'static str, title: &'static str| {
        view! {
            <button
                data-testid=testid
                title=title
                aria-pressed=move || (is_net.get() == net).to_string()
                on:click=move |_| commands.send(Command::Span(SpanCommand::Net(net)))
            >
                {label}
            </button>
        }
    };
    let end = move |at: usize, testid: &'static str, label: &'static str| {
        let typed = move |event| {
            let mut ends = ends.get_untracked();
            ends[at] = event_target_value(&event);
            commands.send(Command::Span(SpanCommand::Typed(ends)));
        };
        view! {
            <input
                data-testid=testid
                aria-label=label
                title=label
                spellcheck="false"
                autocomplete="off"
                prop:value=move || ends.with(|ends| ends[at].clone())
                on:change=typed
            />
        }
    };
    view! {
        <div class="span-ends">
            {end(0, "span-from", "the first time, as a time of day")}
            <span aria-hidden="true">"→"</span>
            {end(1, "span-to", "the second time, as a time of day, or “now”")}
            <span class="span-choice" role="group" aria-label="what is shown of this time">
                {choice(false, "each change", "span-each", "each change in this time (D)")}
                {choice(true, "net", "span-net", "what is different in the end, without what was taken back (D)")}
            </span>
        </div>
    }
}

/// What is different can leave the page.
#[component]
fn Exports(commands: Commands) -> impl IntoView {
    let formats = [
        ("Copy", NetFormat::Text, "span-copy", "copy what is different as text"),
        ("Copy Markdown", NetFormat::Markdown, "span-markdown", "copy it as Markdown, for a report or an issue"),
        ("Save JSON", NetFormat::JsonLines, "span-json", "save it as lines of JSON, for programs"),
    ];
    let button = move |(label, format, testid, title): (&'static str, NetFormat, &'static str, &'static str)| {
        let send = move |_| commands.send(Command::Feed(FeedCommand::Export(format)));
        view! { <button data-testid=testid title=title on:click=send>{label}</button> }
    };
    view! { <div class="span-exports">{formats.map(button).collect_view()}</div> }
}

/// Where a mark of the timeline was clicked, the ways to its moment and to what else changed then.
#[component]
pub fn Around(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    move || {
        screen.timeline.clicked.get().map(|at| {
            view! {
                <button
                    data-testid="timeline-then"
                    title="show the page as it was at the mark that was clicked (b)"
                    on:click=move |_| commands.send(Command::Rewind(RewindCommand::To(at)))
                >
                    "◀◀ to the mark"
                </button>
                <button
                    data-testid="timeline-around"
                    title="what else changed within 2 s of the mark that was clicked (e)"
                    on:click=move |_| commands.send(Command::Span(SpanCommand::Around(at)))
                >
                    "± 2 s"
                </button>
            }
        })
    }
}
