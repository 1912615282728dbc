//! The health of the watches: a table with small charts of the last minutes, and below each watch what else is to be said of it.

use leptos::html;
use leptos::prelude::*;

use kubechurn_model::page::command::Command;
use kubechurn_model::view::health::HealthRow;

use crate::ui::parts::places;
use crate::ui::screen::{Commands, Screen};
use crate::ui::shell::palette::{modal, outside};
use crate::ui::values::Memo;

/// The columns of the table, and what each of them has.
const COLUMNS: [(&str, &str); 8] = [
    ("watch", "the kind, and where it is watched"),
    ("state", "how much of what is held can be believed"),
    ("version", "the newest resourceVersion that came: the next watch begins there"),
    ("proven", "how long ago a frame or an answer proved that the watch is alive"),
    ("bookmark", "how long ago the last bookmark came; a server sends one about every minute"),
    (
        "events/s",
        "events in the last 15 to 30 seconds; the chart has ten minutes, and a relist is a high bar of another colour",
    ),
    ("bytes", "bytes in the last 15 to 30 seconds, and since the watch began, lists included"),
    ("lists", "complete lists, and how many of them were relists"),
];

/// The dialog.
#[component]
pub fn Health(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let is_open = Memo::new(move |_| screen.dialogs.health.with(Option::is_some));
    modal(dialog, move || is_open.get());
    let close = move || {
        if is_open.get_untracked() {
            commands.send(Command::Health(false));
        }
    };
    let model = Memo::new(move |_| screen.dialogs.health.get().unwrap_or_default());
    let count = Memo::new(move |_| model.with(|model| model.rows.len()));
    // A place keeps its elements, so that what is selected stays.
    let watch = move |at: usize| {
        let row = Memo::new(move |_| model.with(|model| model.rows.get(at).cloned().unwrap_or_default()));
        let part = move |get: fn(&HealthRow) -> &str| move || row.with(|row| get(row).to_owned());
        let chart = move |class: &'static str, at: usize| {
            view! { <path class=class d=move || row.with(|row| row.charts[at].clone()) /> }
        };
        view! {
            <tbody data-testid="health-watch">
                <tr>
                    <th scope="row">{part(|row| row.title)} <span class="where">{part(|row| &row.scope)}</span></th>
                    <td class="state" data-state=part(|row| row.state)>{part(|row| row.state)}</td>
                    <td class="num" data-field="version">{part(|row| &row.version)}</td>
                    <td class="num" data-field="proven">{part(|row| &row.heard)}</td>
                    <td class="num" data-field="bookmark">{part(|row| &row.bookmark)}</td>
                    <td class="num" data-field="events">
                        <svg viewBox="0 0 80 14" aria-hidden="true">{chart("bars", 0)} {chart("relists", 2)}</svg>
                        <span>{part(|row| &row.events)}</span>
                    </td>
                    <td class="num" data-field="bytes">
                        <svg viewBox="0 0 80 14" aria-hidden="true">{chart("bars", 1)}</svg>
                        <span>{part(|row| &row.bytes)}</span> <span class="so-far">{part(|row| &row.so_far)}</span>
                    </td>
                    <td class="num" data-field="lists">{part(|row| &row.lists)}</td>
                </tr>
                <tr class="said">
                    <td colspan="8">
                        {move || row.with(|row| row.words.clone()).into_iter().map(|words| view! { <p>{words}</p> }).collect_view()}
                    </td>
                </tr>
            </tbody>
        }
        .into_any()
    };
    let heads = COLUMNS.map(|(name, title)| view! { <th scope="col" title=title>{name}</th> });
    view! {
        <dialog
            class="dialog health"
            aria-labelledby="health-title"
            data-testid="health"
            node_ref=dialog
            on:close=move |_| close()
            on:keydown=move |event| event.stop_propagation()
            on:pointerdown=move |event| outside(&event, dialog, close)
        >
            <div class="help-head">
                <h2 id="health-title">"Watch health"</h2>
                <span class="grow"></span>
                <button data-testid="health-close" autofocus on:click=move |_| close()>"Close"</button>
            </div>
            <p data-testid="health-whose">{move || model.with(|model| model.whose.clone())}</p>
            <div class="health-body" tabindex="0" role="region" aria-label="The watches">
                <table>
                    <thead><tr>{heads.collect_view()}</tr></thead>
                    {places(count, watch)}
                </table>
            </div>
            <p data-testid="health-total">{move || model.with(|model| model.total.clone())}</p>
        </dialog>
    }
}
