//! What is asked before a recording is saved: what it is called, what will be in it, and what of that is made unreadable.

mod kept;
mod note;

pub use kept::KeptList;
pub use note::NoteField;

use leptos::html;
use leptos::prelude::*;

use kubechurn_model::kept::KeepCommand;
use kubechurn_model::page::command::Command;
use kubechurn_model::recording::{RecordingCommand, Rules, SaveItem, SaveModel, SaveTime};

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
    let item = move |get: fn(&SaveModel) -> &[SaveItem], command: fn(usize) -> RecordingCommand, at: usize| {
        let item = Memo::new(move |_| model.with(|model| get(model).get(at).cloned().unwrap_or_default()));
        let part = move |get: fn(&SaveItem) -> &str| move || item.with(|item| get(item).to_owned());
        view! {
            <label>
                <input
                    type="checkbox"
                    data-testid=move || format!("save-{}", item.with(|item| item.title.clone()))
                    prop:checked=move || item.with(|item| item.is_chosen)
                    on:change=move |_| send(command(item.with_untracked(|item| item.place)))
                />
                <span>{part(|item| &item.title)}</span>
                <span class="num">{part(|item| &item.count)}</span>
            </label>
        }
        .into_any()
    };
    let kind = move |at: usize| item(|model| &model.kinds, RecordingCommand::Kind, at);
    let namespace = move |at: usize| item(|model| &model.namespaces, RecordingCommand::Namespace, at);
    let count = Memo::new(move |_| model.with(|model| model.kinds.len()));
    let namespaces = Memo::new(move |_| model.with(|model| model.namespaces.len()));
    let time = Memo::new(move |_| model.with(|model| std::mem::discriminant(&model.time)));
    let choice = move |testid: &'static str, choice: SaveTime, words: String| {
        let own = std::mem::discriminant(&choice);
        view! {
            <label>
                <input
                    type="radio"
                    name="save-time"
                    data-testid=testid
                    prop:checked=move || time.get() == own
                    on:change=move |_| send(RecordingCommand::Time(choice.clone()))
                />
                <span>{words}</span>
            </label>
        }
        .into_any()
    };
    let chosen = Memo::new(move |_| model.with(|model| model.chosen.clone()));
    let ends = Memo::new(move |_| model.with(|model| model.ends.clone()));
    let end = move |at: usize, testid: &'static str, label: &'static str, example: &'static str| {
        let typed = move |event| {
            let mut ends = ends.get_untracked();
            ends[at] = event_target_value(&event);
            if !ends[0].is_empty() {
                send(RecordingCommand::Time(SaveTime::Typed(ends)));
            }
        };
        view! {
            <input
                data-testid=testid
                aria-label=label
                title=label
                placeholder=example
                size="12"
                spellcheck="false"
                autocomplete="off"
                prop:value=move || ends.with(|ends| ends[at].clone())
                on:change=typed
            />
        }
    };
    let rules = Memo::new(move |_| model.with(|model| model.rules));
    let rule = move |testid: &'static str, words: &'static str, get: fn(&mut Rules) -> &mut bool| {
        view! {
            <label>
                <input
                    type="checkbox"
                    data-testid=testid
                    prop:checked=move || *get(&mut rules.get())
                    on:change=move |_| {
                        let mut rules = rules.get_untracked();
                        *get(&mut rules) ^= true;
                        send(RecordingCommand::Replace(rules));
                    }
                />
                <span>{words}</span>
            </label>
        }
        .into_any()
    };
    let replaced = move || model.with(|model| model.replaced.clone());
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
            <div class="save-parts">
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
                <fieldset class="save-times">
                    <legend>"Which time"</legend>
                    {choice("save-all", SaveTime::All, "all that is recorded".to_owned())}
                    {move || chosen.get().map(|words| {
                        choice("save-chosen", SaveTime::Chosen, format!("the chosen time, {words}"))
                    })}
                    {choice("save-lately", SaveTime::Lately, "the last 10 minutes".to_owned())}
                    <span class="save-ends">
                        "from "{end(0, "save-from", "the first time, as a time of day", "14:02:11")}
                        " to "{end(1, "save-to", "the second time, as a time of day, or “now”", "now")}
                    </span>
                </fieldset>
                <fieldset class="save-kinds">
                    <legend>"What will be in the file: versions of"</legend>
                    {places(count, kind)}
                </fieldset>
                <fieldset class="save-kinds save-namespaces" hidden=move || namespaces.get() == 0>
                    <legend>"in the namespaces"</legend>
                    <span class="save-every">
                        <button data-testid="save-every" on:click=move |_| send(RecordingCommand::Namespaces(true))>"All"</button>
                        <button data-testid="save-none" on:click=move |_| send(RecordingCommand::Namespaces(false))>"None"</button>
                    </span>
                    {places(namespaces, namespace)}
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
                    {rule("save-names", "Names of objects, namespaces and nodes: others in their place.", |rules| &mut rules.names)}
                    {rule("save-addresses", "IP addresses and host names: others in their place.", |rules| &mut rules.addresses)}
                    {rule("save-images", "Images: other repositories in their place. Tags stay.", |rules| &mut rules.images)}
                    <ul class="mono" data-testid="save-replaced">
                        {each(replaced, String::clone, |line| view! { <li>{line}</li> }.into_any())}
                    </ul>
                </fieldset>
            </div>
            <div class="buttons">
                <button class="apart" data-testid="save-kept" on:click=move |_| {
                    close();
                    send(RecordingCommand::Keep(KeepCommand::List));
                }>
                    "Kept in this browser…"
                </button>
                <button data-testid="save-close" on:click=move |_| close()>"Cancel"</button>
                <button class="primary" data-testid="save-write" on:click=move |_| send(RecordingCommand::Write)>"Save"</button>
            </div>
        </dialog>
    }
}
