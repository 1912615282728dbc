//! The footer: what went through the pipeline, and whether the sums balance.

use leptos::html;
use leptos::prelude::*;

use kubechurn_model::page::command::{Command, List};
use kubechurn_model::view::{NoticeItem, Pipeline};

use crate::ui::screen::{Commands, Screen};
use crate::ui::verification::VerifiedList;
use crate::ui::watches::WatchList;

/// The pipeline's counters.
#[component]
pub fn Footer(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let read =
        move |get: fn(&Pipeline) -> &String| move || screen.footer.pipeline.with(|pipeline| get(pipeline).clone());
    let balanced = move || screen.footer.pipeline.with(|pipeline| pipeline.balanced);
    let memory = move || screen.footer.pipeline.with(|pipeline| pipeline.memory.join(" · "));
    // What a narrow window leaves out is here.
    let all = move || {
        let drain = screen.footer.drain.get();
        screen.footer.pipeline.with(|pipeline| {
            let Pipeline { listed, frames, keys, deltas, ratio, page, version, .. } = pipeline;
            let counted = format!("list {listed} → watch {frames} frames/s → queue {keys} keys, {deltas} deltas");
            let drained = if drain.is_empty() { drain } else { format!(" → {drain}") };
            format!(
                "{counted}{drained} → pop {ratio} : 1 → page {page}/s\nrv {version}\n{}",
                pipeline.memory.join("\n")
            )
        })
    };
    view! {
        <footer class="footer" data-testid="pipeline" title=all>
            // Each field is shown whole or not at all. A group leaves out its last fields first.
            <span class="fields counted">
                <span data-field="list" title="objects that complete lists brought">
                    "list " <b>{read(|pipeline| &pipeline.listed)}</b>
                </span>
                <span data-field="watch" title="text frames received">
                    <span class="arrow">"→"</span> "watch " <b>{read(|pipeline| &pipeline.frames)}</b> " frames/s"
                </span>
                <span data-field="queue" title="what waits for the next drain">
                    <span class="arrow">"→"</span> "queue " <b>{read(|pipeline| &pipeline.keys)}</b> " keys, "
                    <b>{read(|pipeline| &pipeline.deltas)}</b> " deltas"
                </span>
                {move || Some(screen.footer.drain.get()).filter(|words| !words.is_empty()).map(|words| view! {
                    <span
                        class="drain"
                        data-testid="drain"
                        data-field="drain"
                        title="?drain= in the address says so; without it, a frame takes what there is time for"
                    >
                        {words}
                    </span>
                })}
                <span data-field="pop" title="deltas received for each one applied">
                    <span class="arrow">"→"</span> "pop " <b>{read(|pipeline| &pipeline.ratio)}</b> " : 1"
                </span>
            </span>
            <span class="fields pages">
                <span data-field="page" title="drains that changed the page">
                    <span class="arrow">"→"</span> "page " <b>{read(|pipeline| &pipeline.page)}</b> "/s"
                </span>
            </span>
            <span class="grow"></span>
            <span class="fields version">
                <span data-field="rv" title="the newest resource version seen">
                    "rv " <b>{read(|pipeline| &pipeline.version)}</b> <span class="arrow">"·"</span>
                </span>
            </span>
            <span class="fields memory" title=memory>
                {move || screen.footer.pipeline.with(|pipeline| pipeline.memory.clone()).into_iter()
                    .map(|field| view! { <span data-field="memory">{field} <span class="arrow">"·"</span></span> })
                    .collect_view()}
            </span>
            <WatchList screen commands />
            <NoticeList screen commands />
            <VerifiedList screen commands />
            <span
                class="ledger"
                data-testid="ledger"
                data-balanced=move || balanced().to_string()
                title=read(|pipeline| &pipeline.ledger)
            >
                {move || if balanced() { "ledger balanced" } else { "ledger does not balance" }}
            </span>
        </footer>
    }
}

/// What the page had to say of itself, newest first.
#[component]
fn NoticeList(screen: Screen, commands: Commands) -> impl IntoView {
    let list = NodeRef::<html::Details>::new();
    let toggled = move |_| {
        let open = list.get_untracked().is_some_and(|list| list.open());
        commands.send(Command::List(List::Notices, open));
    };
    let summary = move || {
        screen.footer.notices.with(|notices| match (&*notices.behind, notices.total) {
            ("", 1) => String::from("1 notice"),
            ("", total) => format!("{total} notices"),
            (behind, _) => format!("behind by {behind}"),
        })
    };
    let item = |item: NoticeItem| {
        view! {
            <li data-type=item.word>
                <b>{item.word}</b>
                <span class="about">{item.subject}</span>
                <span class="age">{item.age} " ago"</span>
                <p>{item.words}</p>
            </li>
        }
    };
    view! {
        <details class="notices" data-testid="notices" node_ref=list on:toggle=toggled>
            <summary data-behind=move || screen.footer.notices.with(|notices| !notices.behind.is_empty()).to_string()>
                {summary} " ▴"
            </summary>
            <ol>
                {move || screen.footer.notices.with(|notices| match notices.total {
                    0 if !notices.behind.is_empty() => view! {
                        <li><p>"More comes than is shown at once. What remains is announced here when that is over."</p></li>
                    }.into_any(),
                    0 => view! { <li><p>"Nothing has gone wrong so far: no relist, no gap, nothing refused."</p></li> }.into_any(),
                    _ => notices.items.iter().cloned().map(item).collect_view().into_any(),
                })}
            </ol>
        </details>
        <span class="arrow">"·"</span>
    }
}
