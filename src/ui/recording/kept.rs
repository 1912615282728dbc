//! What the browser keeps: the switch, and a list of the recordings that are there.

use leptos::html;
use leptos::prelude::*;

use kubechurn_model::kept::{KeepCommand, KeptItem, KeptModel};
use kubechurn_model::page::command::Command;
use kubechurn_model::recording::RecordingCommand;

use crate::ui::parts::places;
use crate::ui::screen::{Commands, Screen};
use crate::ui::shell::palette::{modal, outside};
use crate::ui::values::Memo;

/// The dialog.
#[component]
pub fn KeptList(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let is_open = Memo::new(move |_| screen.dialogs.kept.with(Option::is_some));
    modal(dialog, move || is_open.get());
    let send = move |command| commands.send(Command::Recording(RecordingCommand::Keep(command)));
    let model = Memo::new(move |_| screen.dialogs.kept.get().unwrap_or_default());
    let read = move |get: fn(&KeptModel) -> &str| move || model.with(|model| get(model).to_owned());
    let is_on = Memo::new(move |_| model.with(|model| model.is_on));
    let close = move || {
        if is_open.get_untracked() {
            send(KeepCommand::Close);
        }
    };
    // A place keeps its elements whatever comes to stand there, so that the focus stays.
    let item = move |at: usize| {
        let item = Memo::new(move |_| model.with(|model| model.items.get(at).cloned().unwrap_or_default()));
        let part = move |get: fn(&KeptItem) -> &str| move || item.with(|item| get(item).to_owned());
        let name = format!("kept-name-{at}");
        let button =
            |testid: &'static str, words: fn(&KeptItem) -> &'static str, command: fn(String) -> KeepCommand| {
                view! {
                    <button
                        data-testid=testid
                        aria-describedby=name.clone()
                        hidden=move || item.with(|item| words(item).is_empty())
                        on:click=move |_| send(command(item.with_untracked(|item| item.id.clone())))
                    >
                        {move || item.with(words)}
                    </button>
                }
                .into_any()
            };
        let delete = |item: &KeptItem| match (item.is_in_use, item.is_asked) {
            (true, _) => "",
            (false, true) => "Delete for ever",
            (false, false) => "Delete",
        };
        let in_use = move || item.with(|item| if item.is_in_use { "being written" } else { "" });
        view! {
            <li data-testid="kept-item" data-asked=move || item.with(|item| item.is_asked.then_some("yes"))>
                <b id=name.clone()>{part(|item| &item.title)}</b>
                <span class="num">{part(|item| &item.time)}</span>
                <span class="num">{part(|item| &item.size)}</span>
                <span class="buttons">
                    {button("kept-open", |_| "Open", KeepCommand::Open)}
                    {button("kept-download", |_| "Download", KeepCommand::Download)}
                    {button("kept-delete", delete, KeepCommand::Delete)}
                    <span class="kept-in-use">{in_use}</span>
                </span>
            </li>
        }
        .into_any()
    };
    let count = Memo::new(move |_| model.with(|model| model.items.len()));
    view! {
        <dialog
            class="dialog question save kept"
            aria-labelledby="kept-heading"
            data-testid="kept"
            node_ref=dialog
            on:close=move |_| close()
            on:keydown=move |event| event.stop_propagation()
            on:pointerdown=move |event| outside(&event, dialog, close)
        >
            <h2 id="kept-heading">"Kept in this browser"</h2>
            <div class="save-parts">
                <fieldset>
                    <legend>"What this page receives"</legend>
                    <label>
                        <input
                            type="checkbox"
                            data-testid="keep"
                            disabled=move || model.with(|model| model.is_recording)
                            prop:checked=move || is_on.get()
                            on:change=move |event| {
                                send(KeepCommand::Toggle);
                                // Where it was refused, the box is as it was.
                                event_target::<web_sys::HtmlInputElement>(&event).set_checked(is_on.get_untracked());
                            }
                        />
                        "Keep it in this browser, from now on, beginning with what the page has: without the values of Secrets, \
                         and with credentials made unreadable, as in a saved file."
                    </label>
                    <label>
                        <input
                            type="checkbox"
                            data-testid="keep-on"
                            disabled=move || !is_on.get()
                            prop:checked=move || model.with(|model| model.goes_on)
                            on:change=move |_| send(KeepCommand::GoOn)
                        />
                        "Go on after a reload of this tab."
                    </label>
                    <p data-testid="kept-state">{read(|model| &model.state)}</p>
                    <p role="status" data-testid="kept-said">{read(|model| &model.said)}</p>
                </fieldset>
                <p>"It is on this machine's disk, unencrypted, for pages of this host and port, until you delete it or the browser does."</p>
                <ul class="kept-items">{places(count, item)}</ul>
                <p data-testid="kept-total">{read(|model| &model.total)}</p>
            </div>
            <div class="buttons">
                <button data-testid="kept-close" on:click=move |_| close()>"Close"</button>
            </div>
        </dialog>
    }
}
