//! What is asked before a recording is saved: what it is called, what will be in it, and what of that is made unreadable.

mod note;

pub use note::NoteField;

use leptos::html;
use leptos::prelude::*;

use kubechurn_model::page::command::Command;
use kubechurn_model::recording::{RecordingCommand, SaveKind, SaveModel};

use crate::ui::parts::{each, places};
use crate::ui::screen::{Commands, Screen};
use crate::ui::shell::palette::{modal, outside};
use crate::ui::values::Memo;

/// The dialog.
#[component]
pub fn Save(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let is_open = Memo::new(move |_| screen.dialogs.save.with(Option::is_some));
    modal(dialog, move || is_open.get());
    let send = move |command| commands.send(Command::Recording(command));
    let model = Memo::new(move |_| screen.dialogs.save.get().unwrap_or_default());
    let read = move |get: fn(&SaveModel) -> &str| move || model.with(|model| get(model).to_owned());
    let close = move || {
        if is_open.get_untracked() {
            send(RecordingCommand::CloseSave);
        }
    };
    let kind = move |at: usize| {
        let kind = Memo::new(move |_| model.with(|model| model.kinds.get(at).cloned().unwrap_or_default()));
        let part = move |get: fn(&SaveKind) -> &str| move || kind.with(|kind| get(kind).to_owned());
        view! {
            <label>
                <input
                    type="checkbox"
                    data-testid=move || format!("save-{}", kind.with(|kind| kind.title))
                    prop:checked=move || kind.with(|kind| kind.is_chosen)
                    on:change=move |_| send(RecordingCommand::Kind(at))
                />
                {part(|kind| kind.title)}
                <span class="num">{part(|kind| &kind.count)}</span>
            </label>
        }
        .into_any()
    };
    let count = Memo::new(move |_| model.with(|model| model.kinds.len()));
    let examples = move || model.with(|model| model.examples.clone());
    view! {
        <dialog
            class="dialog question save"
            aria-labelledby="save-heading"
            data-testid="save"
            node_ref=dialog
            on:close=move |_| close()
            on:keydown=move |event| event.stop_propagation()
            on:pointerdown=move |event| outside(&event, dialog, close)
        >
            <h2 id="save-heading">"Save the recording"</h2>
            <label class="save-title">
                "Title"
                <input
                    data-testid="save-title"
                    maxlength="200"
                    placeholder="what happened"
                    autofocus
                    prop:value=read(|model| &model.title)
                    on:input=move |event| send(RecordingCommand::Title(event_target_value(&event)))
                />
            </label>
            <fieldset class="save-kinds">
                <legend>"What will be in the file: versions of"</legend>
                {places(count, kind)}
            </fieldset>
            <p data-testid="save-total">{read(|model| &model.total)}</p>
            <fieldset class="save-rules">
                <legend>"What will not be in it"</legend>
                <p>"The values of Secrets. The recorder never has them."</p>
                <label>
                    <input
                        type="checkbox"
                        data-testid="save-redact"
                        prop:checked=move || model.with(|model| model.redacts)
                        on:change=move |_| send(RecordingCommand::Redact)
                    />
                    "Values whose names have password, token, secret, credential, api-key or the like in them: in \
                     annotations, environment variables and anywhere else."
                </label>
                <p data-testid="save-hits">{read(|model| &model.hits)}</p>
                <ul class="mono">{each(examples, String::clone, |hit| view! { <li>{hit}</li> }.into_any())}</ul>
            </fieldset>
            <div class="buttons">
                <button data-testid="save-close" on:click=move |_| close()>"Cancel"</button>
                <button class="primary" data-testid="save-write" on:click=move |_| send(RecordingCommand::Write)>"Save"</button>
            </div>
        </dialog>
    }
}
