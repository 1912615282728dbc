//! The open watches, listed at the footer's count of them: what each costs.

use leptos::html;
use leptos::prelude::*;

use kubechurn_model::page::view::WatchItem;

use crate::ui::screen::Screen;

/// How many watches are open, and on demand which.
#[component]
pub fn WatchList(
    /// What to show.
    screen: Screen,
) -> impl IntoView {
    let list = NodeRef::<html::Details>::new();
    let toggled = move |_| screen.watches_open.set(list.get_untracked().is_some_and(|list| list.open()));
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
                <b>{move || screen.pipeline.with(|pipeline| pipeline.watches.clone())}</b> ", "
                <b>{move || screen.pipeline.with(|pipeline| pipeline.rate.clone())}</b> " ▴"
            </summary>
            <div class="watches-list">
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
                    <tbody>{move || screen.watches.get().into_iter().map(row).collect_view()}</tbody>
                </table>
            </div>
        </details>
        <span class="arrow">"·"</span>
    }
}
