//! The field in which a note is written.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use kubechurn_model::page::command::Command;
use kubechurn_model::recording::{NoteCommand, NoteModel, RecordingCommand};

use crate::ui::screen::{Commands, Screen};
use crate::ui::shell::palette::{modal, outside};
use crate::ui::values::Memo;

/// The field, in a dialog.
#[component]
pub fn NoteField(
    /// What to show.
    screen: Screen,
    /// Where keys and clicks go.
    commands: Commands,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let field = NodeRef::<html::Input>::new();
    let is_open = Memo::new(move |_| screen.dialogs.note.with(Option::is_some));
    modal(dialog, move || is_open.get());
    let send = move |command| commands.send(Command::Recording(RecordingCommand::Note(command)));
    let model = Memo::new(move |_| screen.dialogs.note.get().unwrap_or_default());
    let text = Memo::new(move |_| model.with(|model: &NoteModel| model.text.clone()));
    // What was written and not kept is not there the next time.
    Effect::new(move |_| {
        if let Some(field) = field.get().filter(|_| is_open.get()) {
            field.set_value(&text.get());
        }
    });
    let keep = move || {
        if let Some(field) = field.get_untracked() {
            send(NoteCommand::Keep(field.value()));
        }
    };
    let leave = move || {
        if is_open.get_untracked() {
            send(NoteCommand::Leave);
        }
    };
    let pressed = move |event: ev::KeyboardEvent| {
        event.stop_propagation();
        if event.key() == "Enter" && !event.is_composing() {
            event.prevent_default();
            keep();
        }
    };
    let is_known = move || model.with(|model| model.id.is_some());
    view! {
        <dialog
            class="dialog question note"
            aria-labelledby="note-heading"
            data-testid="note"
            node_ref=dialog
            on:close=move |_| leave()
            on:pointerdown=move |event| outside(&event, dialog, leave)
        >
            <h2 id="note-heading">"Note at "{move || model.with(|model| model.time.clone())}</h2>
            <input
                data-testid="note-text"
                aria-labelledby="note-heading"
                maxlength="1000"
                autocomplete="off"
                autofocus
                node_ref=field
                on:keydown=pressed
            />
            <div class="buttons">
                {move || is_known().then(|| view! {
                    <button data-testid="note-remove" on:click=move |_| send(NoteCommand::Remove)>"Remove"</button>
                })}
                <button data-testid="note-close" on:click=move |_| leave()>"Cancel"</button>
                <button class="primary" data-testid="note-keep" on:click=move |_| keep()>"Keep"</button>
            </div>
        </dialog>
    }
}
