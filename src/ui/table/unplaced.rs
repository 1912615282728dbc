//! One element that stands for all rows whose place is not known yet, because they are still being sorted.

use leptos::prelude::*;

use kubechurn_model::view::ROW;

use crate::ui::screen::Screen;

/// The tallest element that every browser can scroll, in pixels.
pub const MAX_HEIGHT: f64 = 16_000_000.0;

/// The element. It is hidden from screen readers, to which the table's status says the same.
#[component]
pub fn Unplaced(
    /// What to show.
    screen: Screen,
) -> impl IntoView {
    let top = move || f64::min(screen.rows.unplaced.get().unwrap_or(0) as f64 * ROW, MAX_HEIGHT);
    view! {
        <Show when=move || screen.rows.unplaced.with(Option::is_some)>
            <div
                class="unplaced"
                data-testid="unplaced"
                aria-hidden="true"
                style:top=move || format!("{}px", top())
            >
                <span>{move || screen.table.progress.get()} ": from here on rows have no place yet"</span>
            </div>
        </Show>
    }
}
