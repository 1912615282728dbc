//! The filter's field, what is said beside it, and the list of what it can be completed to. The focus stays in the field, which
//! says to screen readers what is chosen in the list.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use kubechurn_model::page::command::{Command, CompletionCommand};
use kubechurn_model::table::cursor::Step;
use kubechurn_model::view::CompletionItem;

use crate::ui::screen::{Commands, Screen};
use crate::ui::values::Memo;

/// The field.
#[component]
pub fn Filter(
    /// What to show.
    screen: Screen,
    /// Where keys and clicks go.
    commands: Commands,
) -> impl IntoView {
    let filter = NodeRef::<html::Input>::new();
    let header = screen.header;
    let complete = move |command| commands.send(Command::Completion(command));
    let at = Memo::new(move |_| header.completion.with(|model| model.as_ref().and_then(|model| model.at)));
    let is_open = Memo::new(move |_| header.completion.with(Option::is_some));
    let items = Memo::new(move |_| {
        header.completion.with(|model| model.as_ref().map(|model| model.items.clone()).unwrap_or_default())
    });
    let typed = move |event: ev::KeyboardEvent| {
        let command = match (&*event.key(), is_open.get_untracked()) {
            ("ArrowDown", true) => Some(CompletionCommand::Step(1)),
            ("ArrowUp", true) => Some(CompletionCommand::Step(-1)),
            ("Tab", true) if !event.shift_key() => Some(CompletionCommand::Take(None)),
            ("Enter", true) if at.get_untracked().is_some() => Some(CompletionCommand::Take(None)),
            ("Escape", true) => Some(CompletionCommand::Hide),
            // Enter keeps the filter and Esc clears it; both give the focus to the table.
            ("Escape", false) => {
                commands.send(Command::Filter(String::new()));
                None
            }
            ("Enter" | "ArrowDown", _) if !event.is_composing() => None,
            _ => return,
        };
        event.prevent_default();
        match command {
            Some(command) => complete(command),
            None => {
                if let Some(filter) = filter.get_untracked() {
                    let _ = filter.blur();
                }
                commands.send(Command::Row(Step::First));
            }
        }
    };
    let text = move || header.route.with(|route| route.text.clone());
    let invalid = move || header.filter_error.with(Option::is_some).then_some("true");
    view! {
        <div class="field filter" role="search" data-invalid=invalid>
            <label for="filter">"filter"</label>
            <input
                id="filter"
                data-testid="filter"
                node_ref=filter
                role="combobox"
                title=text
                placeholder="words, STATUS:word, !word, /regex/"
                aria-invalid=invalid
                aria-describedby=move || if header.filter_note.with(Option::is_some) { "filter-note" } else { "filter-error" }
                aria-expanded=move || is_open.get().to_string()
                aria-controls="filter-list"
                aria-autocomplete="list"
                aria-activedescendant=move || at.get().map(option_id)
                autocomplete="off"
                spellcheck="false"
                prop:value=text
                on:input=move |event| {
                    commands.send(Command::Filter(event_target_value(&event)));
                    complete(CompletionCommand::Offer);
                }
                on:blur=move |_| {
                    if is_open.get_untracked() {
                        complete(CompletionCommand::Hide);
                    }
                }
                on:keydown=typed
            />
            <span class="kbd" aria-hidden="true">"/"</span>
            {move || header.filter_error.get().map(|words| view! {
                <p class="field-trouble" id="filter-error" data-testid="filter-error" role="alert">
                    {format!("not filtered: {words}")}
                </p>
            })}
            {move || header.filter_note.get().map(|words| view! {
                <p class="field-trouble note" id="filter-note" data-testid="filter-note" role="status">{words}</p>
            })}
            <ul id="filter-list" class="completion" role="listbox" aria-label="words of the filter" data-testid="filter-list" hidden=move || !is_open.get()>
                {move || items.get().into_iter().enumerate().map(|(place, item)| option(place, item, at, commands)).collect_view()}
            </ul>
        </div>
    }
}

fn option_id(place: usize) -> String {
    format!("filter-{place}")
}

fn option(place: usize, item: CompletionItem, at: Memo<Option<usize>>, commands: Commands) -> impl IntoView {
    view! {
        <li
            id=option_id(place)
            role="option"
            aria-selected=move || (at.get() == Some(place)).to_string()
            // The field keeps the focus.
            on:pointerdown=move |event| event.prevent_default()
            on:mousedown=move |event| event.prevent_default()
            on:click=move |_| commands.send(Command::Completion(CompletionCommand::Take(Some(place))))
        >
            <span class="mono">{item.text}</span>
            <span class="faint">{item.detail}</span>
        </li>
    }
}
