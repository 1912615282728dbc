//! How far a first list has come: in the middle of an empty table, or along the head of the rows that have come.

use leptos::prelude::*;

use kubechurn_model::view::ListingModel;

use crate::ui::screen::Screen;

/// A bar, with its words below it where there are no rows yet; nothing where no number is known.
#[component]
pub fn Listing(
    /// What to show.
    screen: Screen,
) -> impl IntoView {
    let model = move || screen.table.listing.get().unwrap_or_default();
    let width = move || {
        let ListingModel { listed, about, .. } = model();
        format!("{:.2}%", 100.0 * listed as f64 / about.max(1) as f64)
    };
    view! {
        <Show when=move || screen.table.listing.with(Option::is_some)>
            <div class="listing" data-rows=move || (screen.rows.length.get() > 0).then_some("true")>
                <div
                    class="bar"
                    role="progressbar"
                    data-testid="listing"
                    aria-label=move || format!("listing {}", model().title)
                    aria-valuemin="0"
                    aria-valuenow=move || model().listed
                    aria-valuemax=move || model().about
                    aria-valuetext=move || model().words
                >
                    <span style:width=width></span>
                </div>
                <p class="num">{move || model().words}</p>
            </div>
        </Show>
    }
}
