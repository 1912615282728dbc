//! Deleted rows: how long they stay, and a button that lets them go.

use leptos::prelude::*;

use kubechurn_model::page::command::Command;
use kubechurn_model::table::view::{MOST, Retention};
use kubechurn_model::timeline::mark::grouped;

use crate::ui::screen::{Commands, Screen};
use crate::ui::values::Memo;

/// What stands beside the button of a choice.
fn words(retention: Retention) -> &'static str {
    match retention {
        Retention::AtOnce => "not at all",
        Retention::TwoSeconds => "2 s",
        Retention::TenSeconds => "10 s",
        Retention::Minute => "1 min",
        Retention::FiveMinutes => "5 min",
        Retention::UntilDismissed => "until cleared",
    }
}

fn clear(commands: Commands) {
    commands.send(Command::ClearDeleted);
}

/// The choice of how long deleted rows stay, a part of the table's menu.
#[component]
pub fn RetentionChoice(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let choice = move |retention: Retention| {
        view! {
            <label>
                <input
                    type="radio"
                    name="linger"
                    data-testid=format!("linger-{}", retention.name())
                    prop:checked=move || screen.table.retention.with(|model| model.chosen == retention)
                    on:change=move |_| commands.send(Command::Retention(retention))
                />
                {words(retention)}
            </label>
        }
    };
    let count = move || screen.table.retention.with(|model| model.count);
    view! {
        <fieldset class="choice">
            <legend>"Deleted rows stay"</legend>
            {Retention::ALL.map(choice).collect_view()}
            <p>{format!("At most {} of them; the oldest go first.", grouped(MOST as u64))}</p>
        </fieldset>
        <button data-testid="clear-deleted" disabled=move || count() == 0 on:click=move |_| clear(commands)>
            {move || match count() {
                0 => String::from("No deleted rows to clear"),
                1 => String::from("Clear 1 deleted row"),
                count => format!("Clear {} deleted rows", grouped(count as u64)),
            }}
        </button>
    }
}

/// The button beside the title that clears deleted rows. It is there while they stay for long, and so pile up.
#[component]
pub fn ClearDeleted(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let piling = Memo::new(move |_| {
        let model = screen.table.retention.get();
        let long = model.chosen.milliseconds() > Retention::default().milliseconds();
        (model.count > 0 && (long || model.crowded_out > 0)).then_some((model.count, model.crowded_out))
    });
    move || {
        piling.get().map(|(count, crowded_out)| {
            let (words, title) = match crowded_out {
                0 => (format!("✕ {} deleted", grouped(count as u64)), String::from("clear the deleted rows")),
                more => (
                    format!("✕ {} deleted, {} more went", grouped(count as u64), grouped(more as u64)),
                    format!("clear the deleted rows; at most {} stay, the oldest went", grouped(MOST as u64)),
                ),
            };
            view! {
                <button class="deleted" data-testid="deleted" title=title on:click=move |_| clear(commands)>
                    {words} " " <span class="clear">"clear"</span>
                </button>
            }
        })
    }
}
