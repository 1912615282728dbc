//! The list of open watches, which opens from their count in the footer, and says what each of them costs.

pub mod health;
pub mod recorder;
pub mod resync;

use leptos::html;
use leptos::prelude::*;

use kubechurn_model::page::command::{Command, List};
use kubechurn_model::view::WatchItem;

use crate::ui::screen::{Commands, Screen};

/// The number of open watches, and while the list is open each of them.
#[component]
pub fn WatchList(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let list = NodeRef::<html::Details>::new();
    let toggled = move |_| {
        let open = list.get_untracked().is_some_and(|list| list.open());
        commands.send(Command::List(List::Watches, open));
    };
    let row = |item: WatchItem| {
        let scope = if item.scope.is_empty() { String::from("all namespaces") } else { item.scope };
        view! {
            <tr>
                <th scope="row">{item.title}</th>
                <td>{scope}</td>
                <td class="state" data-state=item.state>{item.state}</td>
                <td class="num">{item.frames}</td>
                <td class="num">{item.rate}</td>
                <td class="num">{item.bytes}</td>
                <td class="num">{item.objects}</td>
            </tr>
        }
    };
    view! {
        <details class="watches" data-testid="watches" node_ref=list on:toggle=toggled>
            <summary title="the open watches, and what each costs">
                <b>{move || screen.footer.pipeline.with(|pipeline| pipeline.watches.clone())}</b> ", "
                <b>{move || screen.footer.pipeline.with(|pipeline| pipeline.rate.clone())}</b> " ▴"
            </summary>
            <div class="watches-list">
                <p>
                    "What changed stays watched in other views, so that nothing is missed; each watch costs what stands here. "
                    <button
                        data-testid="keep-changes"
                        aria-pressed=move || screen.footer.keeps_changes.get().to_string()
                        on:click=move |_| commands.send(Command::ToggleKept)
                    >
                        {move || if screen.footer.keeps_changes.get() { "on" } else { "off" }}
                    </button>
                    " "
                    <button data-testid="open-health" aria-haspopup="dialog" on:click=move |_| commands.send(Command::Health(true))>
                        "Watch health"
                    </button>
                </p>
                <table>
                    <caption>"Open watches: one for each kind in view or pinned, in each chosen namespace"</caption>
                    <thead>
                        <tr>
                            <th scope="col">"kind"</th>
                            <th scope="col">"where"</th>
                            <th scope="col">"state"</th>
                            <th scope="col" class="num">"frames/s"</th>
                            <th scope="col" class="num">"rate"</th>
                            <th scope="col" class="num">"so far"</th>
                            <th scope="col" class="num">"objects"</th>
                        </tr>
                    </thead>
                    <tbody>{move || screen.footer.watches.get().into_iter().map(row).collect_view()}</tbody>
                </table>
            </div>
        </details>
        <span class="arrow">"·"</span>
    }
}
