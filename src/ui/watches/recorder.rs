//! The choice in the table's menu of how much memory the recorder may take.

use leptos::prelude::*;

use kubechurn_model::history::Budget;
use kubechurn_model::kept::KeepCommand;
use kubechurn_model::page::command::Command;
use kubechurn_model::recording::RecordingCommand;

use crate::ui::screen::{Commands, Screen};

/// The choice.
#[component]
pub fn RecorderChoice(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let choice = move |budget: Budget| {
        view! {
            <label>
                <input
                    type="radio"
                    name="recorder"
                    data-testid=format!("recorder-{}", budget.name())
                    prop:checked=move || screen.table.recorder.get() == budget
                    on:change=move |_| commands.send(Command::Recorder(budget))
                />
                {budget.label()}
            </label>
        }
    };
    view! {
        <fieldset class="choice five" title="each version of an object costs the bytes in which it differs from the one before">
            <legend>"Recorder: memory for what changed"</legend>
            {Budget::ALL.map(choice).collect_view()}
        </fieldset>
        <div class="buttons">
            <button data-testid="recording-save" on:click=move |_| commands.send(Command::Recording(RecordingCommand::Save))>
                "Save the recording…"
            </button>
            <button data-testid="recording-open" on:click=move |_| commands.send(Command::Recording(RecordingCommand::Open))>
                "Open a recording…"
            </button>
            <button data-testid="recording-kept" on:click=move |_| commands.send(Command::Recording(RecordingCommand::Keep(KeepCommand::List)))>
                "Kept in this browser…"
            </button>
        </div>
    }
}
