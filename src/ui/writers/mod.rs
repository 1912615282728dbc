//! The writers of the cluster: a table of them, the last writes of one, and how long it takes until what is asked for is there.

use leptos::html;
use leptos::prelude::*;

use kubechurn_model::page::command::Command;
use kubechurn_model::view::writers::{KindRow, WriteRow, WriterRow};

use crate::ui::parts::{link, places};
use crate::ui::screen::{Commands, Screen};
use crate::ui::shell::palette::{modal, outside};
use crate::ui::values::Memo;

/// The columns of the writers, and what each of them has.
const WRITERS: [(&str, &str); 8] = [
    ("writer", "a field manager, inferred from managedFields; or a user, where an audit log has the request"),
    ("writes", "versions that it wrote, Kubernetes Events aside"),
    ("a minute", "writes in a minute, on average"),
    ("objects", "how many objects it wrote to"),
    ("changed nothing", "writes after which only the version was another one"),
    ("conflicts", "requests that were refused because somebody else had written meanwhile; only an audit log has them"),
    ("busiest object", "the object that it wrote to most often, and how often in a minute"),
    ("answers after", "how long after the change that it seems to answer a write came: in the middle, and at most"),
];

/// The columns of the kinds.
const KINDS: [(&str, &str); 5] = [
    ("kind", ""),
    ("asked", "how often something else was asked for, where a controller says which generation it has seen"),
    ("seen after", "until status.observedGeneration was that generation: in the middle, and at most"),
    ("ready after", "until then a condition Ready, Available or Complete was true: in the middle, and at most"),
    ("waits", "objects of which something is asked for that is not there yet"),
];

/// What cannot be seen from outside.
const UNSEEN: &str = "What a write answers is inferred: the last change within 10 s of the object itself by somebody else, of its \
                      owner, or of what it owns. What writes nothing is not seen: a reconcile that finds nothing to do, and a \
                      write that the server finds to change nothing. Only kinds that are watched count.";

/// The dialog.
#[component]
pub fn Writers(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    let is_open = Memo::new(move |_| screen.dialogs.writers.with(Option::is_some));
    modal(dialog, move || is_open.get());
    let close = move || {
        if is_open.get_untracked() {
            commands.send(Command::Writers(None));
        }
    };
    let model = Memo::new(move |_| screen.dialogs.writers.get().unwrap_or_default());
    let chosen = Memo::new(move |_| model.with(|model| model.chosen.clone()));
    let count = Memo::new(move |_| model.with(|model| model.rows.len()));
    // A place keeps its elements, so that the focus stays.
    let writer = move |at: usize| {
        let row = Memo::new(move |_| model.with(|model| model.rows.get(at).cloned().unwrap_or_default()));
        let part = move |get: fn(&WriterRow) -> &str| move || row.with(|row| get(row).to_owned());
        let is_chosen = move || row.with(|row| chosen.with(|chosen| *chosen == row.name)).to_string();
        let choose = move |_| commands.send(Command::Writers(Some(row.with_untracked(|row| row.name.clone()))));
        let cells: [fn(&WriterRow) -> &str; 5] =
            [|row| &row.writes, |row| &row.a_minute, |row| &row.objects, |row| &row.nothing, |row| &row.conflicts];
        view! {
            <tr data-testid="writer" data-how=part(|row| row.how)>
                <th scope="row">
                    <button data-testid="writer-name" title=part(|row| &row.name) aria-pressed=is_chosen on:click=choose>{part(|row| &row.name)}</button>
                    <span class="writers-how">{part(|row| row.how)}</span>
                </th>
                {cells.map(|get| view! { <td title=part(get)>{part(get)}</td> }).collect_view()}
                <td data-gives-way title=part(|row| &row.busiest)>{part(|row| &row.busiest)}</td>
                <td>{part(|row| &row.after)}</td>
            </tr>
        }
        .into_any()
    };
    let writes = move || model.with(|model| model.writes.clone()).into_iter().map(write).collect_view();
    let kinds = move || model.with(|model| model.kinds.clone()).into_iter().map(kind).collect_view();
    let has_kinds = Memo::new(move |_| model.with(|model| !model.kinds.is_empty()));
    view! {
        <dialog
            class="dialog writers"
            aria-labelledby="writers-title"
            data-testid="writers"
            node_ref=dialog
            on:close=move |_| close()
            on:keydown=move |event| event.stop_propagation()
            on:pointerdown=move |event| outside(&event, dialog, close)
        >
            <div class="help-head">
                <h2 id="writers-title">"Who writes what"</h2>
                <span class="num" data-testid="writers-span">{move || model.with(|model| model.span.clone())}</span>
                <span class="grow"></span>
                <button data-testid="writers-close" autofocus on:click=move |_| close()>"Close"</button>
            </div>
            <div class="writers-body" tabindex="0" role="region" aria-label="The writers">
                <table>
                    <thead><tr>{heads(&WRITERS)}</tr></thead>
                    <tbody>{places(count, writer)}</tbody>
                </table>
                {move || (!chosen.with(String::is_empty)).then(|| view! {
                    <section aria-label="Its last writes">
                        <h3>"The last writes of " {move || chosen.get()}</h3>
                        <ol data-testid="writers-writes">{writes}</ol>
                    </section>
                })}
                {move || has_kinds.get().then(|| view! {
                    <section aria-label="From asked to ready">
                        <h3>"From what is asked for to what is there"</h3>
                        <table data-testid="writers-kinds">
                            <thead><tr>{heads(&KINDS)}</tr></thead>
                            <tbody>{kinds}</tbody>
                        </table>
                    </section>
                })}
            </div>
            <p>{UNSEEN}</p>
        </dialog>
    }
}

fn heads(columns: &'static [(&'static str, &'static str)]) -> impl IntoView {
    columns.iter().map(|(name, title)| view! { <th scope="col" title=*title>{*name}</th> }).collect_view()
}

fn write(row: WriteRow) -> AnyView {
    view! {
        <li data-testid="write">
            <span class="num" data-at=row.at>{row.time}</span>
            <b>{row.what}</b>
            <a href=link(row.href)>{row.words}</a>
            <span class="writers-answer">"answers " <a href=link(row.answer_href)>{row.answer}</a></span>
        </li>
    }
    .into_any()
}

fn kind(row: KindRow) -> AnyView {
    let cells = [row.asked, row.seen, row.ready, row.waits];
    view! {
        <tr data-testid="writers-kind">
            <th scope="row">{row.kind}</th>
            {cells.map(|cell| view! { <td>{cell}</td> }).collect_view()}
        </tr>
    }
    .into_any()
}
