//! The answer to a click on a line of YAML: at which change the field got the value that it has now.

use leptos::prelude::*;

use kubechurn_model::inspector::last_write::{MOST, Outcome, Written};
use kubechurn_model::page::command::{Command, InspectorCommand};

use crate::ui::inspector::changes::{field_view, time_of};
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
                {outcome_view(answer.outcome, commands)}
            })}
        </div>
    }
}

fn outcome_view(outcome: Outcome, commands: Commands) -> AnyView {
    let words = match outcome {
        Outcome::Written(written) => return written_view(written, commands).into_any(),
        Outcome::Searching(0) => String::from("Searching …"),
        Outcome::Searching(compared) => format!("Searching: the same in {compared} older versions …"),
        Outcome::Before(at) => format!("before {}, since when its versions are kept", time(at)),
        Outcome::Further(at) => {
            format!(
                "before {}: the same in all of the newest {MOST} versions, and older ones were not searched",
                time(at)
            )
        }
        Outcome::Unknown => String::from(
            "Not known: the version that is shown is not among those that are kept, or one cannot be read.",
        ),
    };
    view! { <p data-outcome="unknown">{words}</p> }.into_any()
}

fn written_view(written: Written, commands: Commands) -> impl IntoView {
    let Written { sequence, at, since, is_listed, writers, changes } = written;
    let when = match since {
        None => format!("{}, when the object was created", time(at)),
        Some(since) if is_listed => {
            format!("between {} and {}, as a list brought it; perhaps more than once", time(since), time(at))
        }
        Some(_) => time(at),
    };
    let names: Vec<String> = writers.iter().map(|writer| writer.to_string()).collect();
    let more = changes.more;
    view! {
        <p data-outcome="written">
            <span class="num">{when}</span>
            " · "
            <span title="inferred from managedFields: whose entry changed with this version, or who owns what changed" data-writers="">
                {if names.is_empty() { String::from("managedFields tells no writer") } else { names.join("; ") }}
            </span>
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

fn time(at: f64) -> String {
    time_of(&js_sys::Date::new(&at.into()))
}
