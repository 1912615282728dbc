//! Where rows will be that are still being sorted: one element for all of them, however many they are.

use leptos::prelude::*;

use crate::ui::screen::Screen;

/// The height of a row in pixels; `--row` in tokens.css.
pub const ROW: f64 = 25.0;
/// The tallest element that every browser can scroll, in pixels.
pub const MAX_HEIGHT: f64 = 16_000_000.0;

/// What stands for the rows without a place. To a screen reader the table's status says the same.
#[component]
pub fn Unplaced(
    /// What to show.
    screen: Screen,
) -> impl IntoView {
    let top = move || f64::min(screen.unplaced.get().unwrap_or(0) as f64 * ROW, MAX_HEIGHT);
    view! {
        <Show when=move || screen.unplaced.with(Option::is_some)>
            <div
                class="unplaced"
                data-testid="unplaced"
                aria-hidden="true"
                style:top=move || format!("{}px", top())
            >
                <span>{move || screen.progress.get()} ": from here on rows have no place yet"</span>
            </div>
        </Show>
    }
}
