//! The answer to a click on a line of YAML: at which change the field got the value that it has now.

use leptos::prelude::*;

use kubechurn_model::history::who::By;
use kubechurn_model::inspector::last_write::{Outcome, Written};
use kubechurn_model::page::command::{Command, InspectorCommand};

use crate::ui::inspector::changes::{INFERRED, field_view};
use crate::ui::screen::{Commands, Inspector};

/// The answer; nothing while no field was asked about.
#[component]
pub fn LastWrite(signals: Inspector, commands: Commands) -> impl IntoView {
    let send = move |command: InspectorCommand| commands.send(Command::Inspector(command));
    view! {
        // A region that is read out has to be there before its text.
        <div class="last-write" role="status" data-testid="last-write">
            {move || signals.last_write.get().map(|answer| view! {
                <div class="last-write-head">
                    <b data-testid="last-write-path">{answer.path}</b>
                    <button class="small" aria-label="close the last write"
                        on:click=move |_| send(InspectorCommand::LastWrite(None))>"✕"</button>
                </div>
                {match answer.outcome {
                    Outcome::Written(written) => written_view(written, (answer.when, answer.at), answer.by, commands).into_any(),
                    _ => view! { <p data-outcome="unknown" data-at=answer.at>{answer.when}</p> }.into_any(),
                }}
            })}
        </div>
    }
}

fn written_view(
    written: Written,
    (when, at): (String, Option<f64>),
    by: Option<By>,
    commands: Commands,
) -> impl IntoView {
    let Written { sequence, writers, changes, .. } = written;
    let names = match &by {
        Some(by) => format!("{}, {}", by.words(), by.how),
        None if writers.is_empty() => String::from("managedFields names no writer"),
        None => writers.iter().map(|writer| writer.to_string()).collect::<Vec<_>>().join("; "),
    };
    let more = changes.more;
    view! {
        <p data-outcome="written">
            <span class="num" data-at=at>{when}</span>
            " · "
            <span title=if by.is_some() { "from the audit log" } else { INFERRED } data-writers="">{names}</span>
        </p>
        <dl class="diff">{changes.changes.into_iter().map(field_view).collect_view()}</dl>
        {(more > 0).then(|| view! { <p>{format!("and {more} more fields")}</p> })}
        <button
            class="small"
            data-testid="last-write-show"
            on:click=move |_| commands.send(Command::Inspector(InspectorCommand::Change(sequence)))
        >"Show this version"</button>
    }
}
