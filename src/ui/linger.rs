//! Deleted rows: how long they stay, and a button that lets them go.

use leptos::prelude::*;

use kubechurn_model::page::keys::Act;
use kubechurn_model::table::view::{MOST, Retention};
use kubechurn_model::timeline::mark::grouped;

use crate::ui::hands::Hands;
use crate::ui::screen::{Command, Commands, Screen};

/// The words on a choice.
fn words(linger: Retention) -> &'static str {
    match linger {
        Retention::AtOnce => "not at all",
        Retention::TwoSeconds => "2 s",
        Retention::TenSeconds => "10 s",
        Retention::Minute => "1 min",
        Retention::FiveMinutes => "5 min",
        Retention::UntilDismissed => "until cleared",
    }
}

fn clear(commands: Commands) {
    commands.send(Command::Hands(Hands::Act(Act::ClearDeleted)));
}

/// The choice, a part of the table's menu.
#[component]
pub fn LingerChoice(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let choice = move |linger: Retention| {
        view! {
            <label>
                <input
                    type="radio"
                    name="linger"
                    data-testid=format!("linger-{}", linger.name())
                    prop:checked=move || screen.linger.with(|model| model.chosen == linger)
                    on:change=move |_| commands.send(Command::Hands(Hands::Act(Act::Retention(linger))))
                />
                {words(linger)}
            </label>
        }
    };
    let count = move || screen.linger.with(|model| model.count);
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

/// The button beside the title, while deleted rows stay for long: where they pile up one wants to be rid of them.
#[component]
pub fn ClearDeleted(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let piling = Memo::new(move |_| {
        let model = screen.linger.get();
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
