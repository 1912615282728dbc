//! What is wrong now: the section above the rows of the feed, which does not scroll with them.

use leptos::prelude::*;

use kubechurn_model::feed::FeedCommand;
use kubechurn_model::feed::wrong::row::{Words, WrongRow};
use kubechurn_model::page::command::Command;

use crate::ui::parts::{link, places};
use crate::ui::screen::{Commands, Screen};
use crate::ui::values::Memo;

/// The section. Nothing is shown while nothing is wrong.
#[component]
pub fn Wrong(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let wrong = screen.feed.wrong;
    let more = move || {
        wrong.with(|wrong| match (wrong.more, wrong.is_open) {
            (0, _) => None,
            (_, true) => Some(String::from("only the first")),
            (more, false) => Some(format!("+ {more} more")),
        })
    };
    let count = Memo::new(move |_| wrong.with(|wrong| wrong.rows.len()));
    let is_shown = Memo::new(move |_| wrong.with(|wrong| wrong.is_shown));
    move || {
        is_shown.get().then(|| {
            view! {
                <section class="wrong" aria-label="Wrong now" data-testid="wrong">
                    <h2>
                        {move || wrong.with(|wrong| wrong.title.clone())} " "
                        <b class="num" data-testid="wrong-count">{move || wrong.with(|wrong| wrong.count.to_string())}</b>
                        <span>{move || wrong.with(|wrong| wrong.note.clone())}</span>
                        <span class="grow"></span>
                        {move || more().map(|words| view! {
                            <button
                                data-testid="wrong-more"
                                aria-expanded=move || wrong.with(|wrong| wrong.is_open).to_string()
                                on:click=move |_| commands.send(Command::Feed(FeedCommand::Wrong))
                            >
                                {words}
                            </button>
                        })}
                    </h2>
                    <ul>
                        {places(count, move |place| view! { <Entry place screen /> }.into_any())}
                    </ul>
                </section>
            }
        })
    }
}

/// One entry, in two lines, whichever stands at this place.
#[component]
fn Entry(place: usize, screen: Screen) -> impl IntoView {
    let row = Memo::new(move |_| screen.feed.wrong.with(|wrong| wrong.rows.get(place).cloned().unwrap_or_default()));
    let read = move |get: fn(&WrongRow) -> &String| move || row.with(|row| get(row).clone());
    let link = move |get: fn(&WrongRow) -> &String| move || link(row.with(|row| get(row).clone()));
    let words = Memo::new(move |_| row.with(|row| row.words.clone()));
    let began = Memo::new(move |_| row.with(|row| row.began.clone()));
    let said = move |of: Memo<Words>| {
        move || of.with(|words| words.iter().map(|(words, _)| &**words).collect::<Vec<_>>().join(" "))
    };
    view! {
        <li
            class="wrong-entry"
            data-testid=move || if row.with(|row| row.is_card) { "card" } else { "wrong-entry" }
            data-tone=move || row.with(|row| row.tone)
            data-fails=move || row.with(|row| row.fails).to_string()
        >
            <span class="wrong-sign" role="img" aria-label=move || row.with(|row| row.tone)>{move || row.with(|row| row.sign)}</span>
            <p class="wrong-what">
                <span class="wrong-kind">{read(|row| &row.kind)}</span>
                <a href=link(|row| &row.href) title=read(|row| &row.name)>{read(|row| &row.name)}</a>
                <span class="wrong-words" title=said(words)>{move || parts(words.get())}</span>
                <a class="wrong-why" data-testid="wrong-why" hidden=move || row.with(|row| row.why_href.is_empty()) href=link(|row| &row.why_href) aria-label=move || row.with(|row| format!("Why: {}", row.name))>
                    "Why?"
                </a>
            </p>
            <span class="wrong-since num" data-at=move || row.with(|row| row.at)>{read(|row| &row.since)}</span>
            <p class="wrong-began">
                <a class="wrong-words" href=link(|row| &row.began_href) title=said(began)>{move || parts(began.get())}</a>
            </p>
            <span class="wrong-writer" title=read(|row| &row.writer)>{read(|row| &row.writer)}</span>
            <time data-at=move || row.with(|row| row.at)>{read(|row| &row.time)}</time>
        </li>
    }
}

fn parts(words: Words) -> impl IntoView {
    // The spaces between the parts are text, so that what is copied or read out is a sentence.
    words.into_iter().map(|(words, what)| view! { <span data-what=what>{words}</span>" " }).collect_view()
}
