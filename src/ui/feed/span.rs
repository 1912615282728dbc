//! The chosen stretch of time: a table of what changed in it, against the stretch before.

use leptos::prelude::*;

use kubechurn_model::feed::span::{SpanCommand, SpanModel, SpanRow, SpanSection};
use kubechurn_model::page::command::Command;

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
                    on:click=move |_| commands.send(Command::Span(SpanCommand::Filter(row.filter.clone())))
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
    move || {
        is_chosen.get().then(|| {
            view! {
                <section class="span-panel" aria-label="The chosen time" data-testid="span">
                    <h2>
                        <span>"Span " {read(|span| &span.times)} ", " {read(|span| &span.against)}</span>
                        <button
                            data-testid="span-clear"
                            aria-label="give the chosen time up"
                            title="give the chosen time up (Esc)"
                            on:click=move |_| commands.send(Command::Span(SpanCommand::Clear))
                        >
                            "✕"
                        </button>
                    </h2>
                    <p data-testid="span-words">{read(|span| &span.words)}</p>
                    {said(|span| &span.reading, "span-reading")}
                    {said(|span| &span.left_out, "span-left-out")}
                    <div class="span-sections">{move || sections().into_iter().map(section).collect_view()}</div>
                </section>
            }
        })
    }
}

/// Where a mark of the timeline was clicked, the way to what else changed then.
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
