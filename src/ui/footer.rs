//! The footer: what went through the pipeline, and whether the sums balance.

use leptos::prelude::*;

use crate::ui::screen::{Pipeline, Screen};

/// The pipeline's counters.
#[component]
pub fn Footer(
    /// What to show.
    screen: Screen,
) -> impl IntoView {
    let read = move |get: fn(&Pipeline) -> &String| move || screen.pipeline.with(|pipeline| get(pipeline).clone());
    let balanced = move || screen.pipeline.with(|pipeline| pipeline.balanced);
    view! {
        <footer class="footer" data-testid="pipeline">
            <span title="objects that complete lists brought">"list " <b>{read(|pipeline| &pipeline.listed)}</b></span>
            <span class="arrow">"→"</span>
            <span title="text frames received">"watch " <b>{read(|pipeline| &pipeline.frames)}</b> " frames/s"</span>
            <span class="arrow">"→"</span>
            <span title="what waits for the next drain">
                "queue " <b>{read(|pipeline| &pipeline.keys)}</b> " keys, " <b>{read(|pipeline| &pipeline.deltas)}</b>
                " deltas"
            </span>
            <span class="arrow">"→"</span>
            <span title="deltas received for each one applied">"pop " <b>{read(|pipeline| &pipeline.ratio)}</b> " : 1"</span>
            <span class="arrow">"→"</span>
            <span title="drains that changed the page">"page " <b>{read(|pipeline| &pipeline.page)}</b> "/s"</span>
            <span class="grow"></span>
            <span class="extra">"rv " <b>{read(|pipeline| &pipeline.version)}</b> <span class="arrow">"·"</span></span>
            <span>
                <b>{read(|pipeline| &pipeline.watches)}</b> ", " <b>{read(|pipeline| &pipeline.rate)}</b>
                <span class="arrow">"·"</span>
            </span>
            <span class="extra">{read(|pipeline| &pipeline.memory)} <span class="arrow">"·"</span></span>
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
