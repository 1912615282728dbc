//! What the page's checks of itself found: a word and a time in the footer, and a list that says more about each watch.

use leptos::html;
use leptos::prelude::*;

use kubechurn_model::page::command::{Command, List};
use kubechurn_model::view::VerifiedItem;

use crate::ui::screen::{Commands, Screen};

/// Whether and when what is shown was found to be what the server has; while the list is open, more about each watch.
#[component]
pub fn VerifiedList(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let list = NodeRef::<html::Details>::new();
    let toggled = move |_| {
        let open = list.get_untracked().is_some_and(|list| list.open());
        commands.send(Command::List(List::Verified, open));
    };
    let verify = move |_| commands.send(Command::Verify);
    let state = move || screen.footer.verified.with(|verified| verified.state);
    let item = |item: VerifiedItem| {
        let differences = (!item.differences.is_empty()).then(|| {
            let lines = item.differences.into_iter().map(|line| view! { <li>{line}</li> }).collect_view();
            view! {
                <p>"Not the same at " {item.found_at} ":"</p>
                <ul>{lines}</ul>
            }
        });
        view! {
            <li data-state=item.state>
                <b>{item.subject}</b>
                <span class="age">{item.at}</span>
                <p>{item.words}</p>
                {differences}
            </li>
        }
    };
    view! {
        <details class="notices verified" data-testid="verified" data-state=state node_ref=list on:toggle=toggled>
            <summary title="whether what is shown is what the server has, by its own word">
                {move || screen.footer.verified.with(|verified| verified.label.clone())} " ▴"
            </summary>
            <div>
                {move || if state() == "recording" {
                    view! { <p class="lead">"This is a recording: there is no server to compare it with."</p> }.into_any()
                } else {
                    view! {
                        <p class="lead">
                            <button data-testid="verify" on:click=verify>"Verify now"</button>
                            "The server is asked who exists, at the very version that is shown; store and rows are compared with that."
                        </p>
                    }.into_any()
                }}
                <ol>{move || screen.footer.verified.with(|verified| verified.items.clone()).into_iter().map(item).collect_view()}</ol>
            </div>
        </details>
        <span class="arrow">"·"</span>
    }
}
