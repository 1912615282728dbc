//! The choice in the table's menu of how often the informers resync: that they notify their handlers again of what they know.

use leptos::prelude::*;

use kubechurn_model::page::command::Command;
use kubechurn_model::watches::resync::Resync;

use crate::ui::screen::{Commands, Screen};

/// What stands beside the button of a choice.
fn words(resync: Resync) -> &'static str {
    match resync {
        Resync::Automatic => "auto",
        Resync::Off => "off",
        Resync::HalfMinute => "30 s",
        Resync::Minute => "1 min",
        Resync::TenMinutes => "10 min",
    }
}

/// The choice.
#[component]
pub fn ResyncChoice(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let choice = move |resync: Resync| {
        view! {
            <label title=(resync == Resync::Automatic).then_some("every 10 min up to 10,000 objects, and off above")>
                <input
                    type="radio"
                    name="resync"
                    data-testid=format!("resync-{}", resync.name())
                    prop:checked=move || screen.table.resync.with(|model| model.chosen == Some(resync))
                    on:change=move |_| commands.send(Command::Resync(resync))
                />
                {words(resync)}
            </label>
        }
    };
    view! {
        <fieldset class="choice five" title="the informers replay their cache to the handlers, as in a controller; nothing is asked of the server">
            <legend>"Resync: replay the cache"</legend>
            {Resync::ALL.map(choice).collect_view()}
            {move || screen.table.resync.with(|model| (!model.words.is_empty()).then(|| view! {
                <p data-testid="resync-words">{model.words.clone()}</p>
            }))}
        </fieldset>
    }
}
