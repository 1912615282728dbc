//! What is wrong now: the section above the rows of the feed, which does not scroll with them.

use leptos::prelude::*;

use kubechurn_model::feed::FeedCommand;
use kubechurn_model::feed::wrong::row::{Words, WrongRow};
use kubechurn_model::page::command::Command;

use crate::ui::screen::{Commands, Screen};

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
    let is_shown = Memo::new(move |_| wrong.with(|wrong| !wrong.rows.is_empty()));
    move || {
        is_shown.get().then(|| {
            view! {
                <section class="wrong" aria-label="Wrong now" data-testid="wrong">
                    <h2>
                        "Wrong now "
                        <b class="num" data-testid="wrong-count">{move || wrong.with(|wrong| wrong.count.to_string())}</b>
                        <span>"from states; stays here until it is over"</span>
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
                    <ul>{move || wrong.with(|wrong| wrong.rows.clone()).into_iter().map(entry).collect_view()}</ul>
                </section>
            }
        })
    }
}

/// One entry, in two lines.
fn entry(row: WrongRow) -> impl IntoView {
    let testid = if row.is_card { "card" } else { "wrong-entry" };
    let said = |words: &Words| words.iter().map(|(words, _)| &**words).collect::<Vec<_>>().join(" ");
    let (whole, began) = (said(&row.words), said(&row.began));
    let name = match row.href.is_empty() {
        true => view! { <b>{row.name}</b> }.into_any(),
        false => view! { <a href=row.href>{row.name}</a> }.into_any(),
    };
    let began_words = parts(row.began);
    let began_words = match row.began_href.is_empty() {
        true => view! { <span class="wrong-words" title=began>{began_words}</span> }.into_any(),
        false => view! { <a class="wrong-words" href=row.began_href title=began>{began_words}</a> }.into_any(),
    };
    view! {
        <li class="wrong-entry" data-testid=testid data-tone=row.tone data-fails=row.fails.to_string()>
            <span class="wrong-sign" aria-label=row.tone>{row.sign}</span>
            <p class="wrong-what">
                <span class="wrong-kind">{row.kind}</span>
                {name}
                <span class="wrong-words" title=whole>{parts(row.words)}</span>
            </p>
            <span class="wrong-since num">{row.since}</span>
            <p class="wrong-began">{began_words}</p>
            <span class="wrong-writer" title=row.writer.clone()>{row.writer.clone()}</span>
            <time>{row.time}</time>
        </li>
    }
}

fn parts(words: Words) -> impl IntoView {
    // The spaces between the parts are text, so that what is copied or read out is a sentence.
    words.into_iter().map(|(words, what)| view! { <span data-what=what>{words}</span>" " }).collect_view()
}
