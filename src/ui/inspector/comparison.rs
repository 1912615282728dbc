//! Two versions of the object: chosen above, and below line by line as YAML, or field by field. Where there is room they stand side
//! by side, and else one below the other.

use leptos::prelude::*;

use kubechurn_model::inspector::comparison::{MOST, Row, What};
use kubechurn_model::page::command::{Command, Compare, InspectorCommand, PanelCommand};
use kubechurn_model::shell::panel::Panel;
use kubechurn_model::view::inspector::ComparisonModel;

use crate::ui::inspector::changes::{field_view, sides};
use crate::ui::inspector::{focus, has_no_focus};
use crate::ui::parts::each;
use crate::ui::screen::{Commands, Screen};
use crate::ui::values::{Held, Memo};

/// Both versions.
#[component]
pub fn Comparison(screen: Screen, commands: Commands) -> impl IntoView {
    let model = screen.inspector.comparison;
    let send = move |command| commands.send(Command::Inspector(InspectorCommand::Compare(command)));
    // What had the focus, a button of a version, is gone.
    request_animation_frame(|| focus("[data-testid=compare-old]"));
    on_cleanup(|| {
        request_animation_frame(|| {
            if has_no_focus() {
                focus("#inspector-changes");
            }
        })
    });
    let words = Memo::new(move |_| read(model, |model| model.words.clone()));
    let is_made = Memo::new(move |_| read(model, |model| model.is_made));
    let as_fields = Memo::new(move |_| read(model, |model| model.as_fields));
    let fields = Memo::new(move |_| read(model, |model| model.fields.clone()));
    let rows = Memo::new(move |_| read(model, |model| model.rows.clone()));
    let form = move |label: &'static str, wanted: bool| {
        view! {
            <button
                data-testid=format!("compare-{}", label.to_lowercase())
                aria-pressed=move || (as_fields.get() == wanted).to_string()
                on:click=move |_| send(Compare::Fields(wanted))
            >
                {label}
            </button>
        }
    };
    view! {
        <section class="compare" data-testid="comparison" aria-label="Two versions">
            <div class="compare-head">
                <div class="compare-sides">
                    <Side screen commands is_old=true />
                    <Side screen commands is_old=false />
                </div>
                <p role="status" data-testid="compare-words">{move || words.get()}</p>
                <div class="compare-bar">
                    {form("YAML", false)}
                    {form("Fields", true)}
                    <span class="grow"></span>
                    <button data-testid="compare-swap" title="have the two change their places" on:click=move |_| send(Compare::Swap)>
                        "⇄ Swap"
                    </button>
                    <Wider screen commands />
                    <button data-testid="compare-end" title="all changes again (Esc)" on:click=move |_| send(Compare::End)>
                        "All changes"
                    </button>
                </div>
            </div>
            {move || (is_made.get() && as_fields.get()).then(|| {
                let fields = fields.get();
                let more = fields.more;
                view! {
                    <dl class="diff" data-testid="compare-field-list">
                        {fields.changes.iter().cloned().map(field_view).collect_view()}
                    </dl>
                    {(more > 0).then(|| view! { <p class="inspector-note">{format!("and {more} more fields")}</p> })}
                }
            })}
            {move || (is_made.get() && !as_fields.get()).then(|| {
                let rows = rows.get();
                let more = rows.more;
                view! {
                    <div class="compare-rows" data-testid="compare-rows">
                        {rows.rows.iter().cloned().map(|row| row_view(row, commands)).collect_view()}
                    </div>
                    {(more > 0).then(|| view! {
                        <p class="inspector-note">{format!("and {more} more lines: the first {MOST} are shown")}</p>
                    })}
                }
            })}
        </section>
    }
}

type Model = Held<Option<std::sync::Arc<ComparisonModel>>>;

fn read<T: Default>(model: Model, get: impl Fn(&ComparisonModel) -> T) -> T {
    model.with(|model| model.as_deref().map(get).unwrap_or_default())
}

/// The choice of one of the two.
#[component]
fn Side(screen: Screen, commands: Commands, is_old: bool) -> impl IntoView {
    let model = screen.inspector.comparison;
    let (letter, testid, label) =
        if is_old { ("A", "compare-old", "A, the old version") } else { ("B", "compare-new", "B, the new version") };
    let chosen = Memo::new(move |_| {
        read(model, |model| match is_old {
            true => (model.old, false),
            false => (model.new, model.follows),
        })
    });
    let choices = Memo::new(move |_| read(model, |model| model.choices.clone()));
    let older = Memo::new(move |_| read(model, |model| model.older));
    let choose = move |event| {
        let number = event_target_value(&event).parse().ok();
        let command = match (is_old, number) {
            (false, number) => Compare::New(number),
            (true, Some(number)) => Compare::Old(number),
            (true, None) => return,
        };
        commands.send(Command::Inspector(InspectorCommand::Compare(command)));
    };
    view! {
        <label class="compare-side" data-side=letter>
            <b aria-hidden="true">{letter}</b>
            <select
                data-testid=testid
                aria-label=label
                on:change=choose
                // Elsewhere a field keeps the key; here nothing is typed.
                on:keydown=move |event| if event.key() == "Escape" {
                    commands.send(Command::Inspector(InspectorCommand::Compare(Compare::End)));
                }
            >
                {move || (chosen.get().0.is_none()).then(|| view! { <option disabled value="lost" selected>"not kept"</option> })}
                {(!is_old).then(|| view! {
                    <option value="" prop:selected=move || chosen.get().1>"the newest, as it changes"</option>
                })}
                {each(move || choices.get(), Clone::clone, move |(number, words)| view! {
                    <option value=number.to_string() prop:selected=move || chosen.get() == (Some(number), false)>{words}</option>
                }.into_any())}
                {move || (older.get() > 0).then(|| view! { <option disabled value="older">{format!("and {} older", older.get())}</option> })}
            </select>
        </label>
    }
}

/// Gives the panel all the room that there is, and takes it back.
#[component]
fn Wider(screen: Screen, commands: Commands) -> impl IntoView {
    let size = move || screen.header.sizes.get().of(Panel::Inspector);
    let is_wide = move || size().chosen.is_some_and(|chosen| chosen >= size().most);
    let before = StoredValue::new(None::<f64>);
    let resize = move |wanted| commands.send(Command::Panel(PanelCommand::Resize(Panel::Inspector, wanted)));
    let turn = move |_| match untrack(is_wide) {
        true => resize(before.get_value()),
        false => {
            before.set_value(untrack(size).chosen);
            resize(Some(f64::from(u16::MAX)));
        }
    };
    view! {
        <button data-testid="compare-wide" aria-pressed=move || is_wide().to_string() title="side by side" on:click=turn>
            {move || if is_wide() { "⤡ Narrow" } else { "⤢ Wide" }}
        </button>
    }
}

fn row_view(row: Row, commands: Commands) -> AnyView {
    let Row { what, numbers: (old, new), words } = row;
    let line = words.before.clone();
    let number =
        |number: usize, side: &'static str| view! { <i class="num" data-side=side aria-hidden="true">{number}</i> };
    match what {
        What::Folded(lines) => view! {
            <button
                class="compare-fold"
                data-testid="compare-fold"
                title="show them"
                on:click=move |_| commands.send(Command::Inspector(InspectorCommand::Compare(Compare::Unfold(old))))
            >
                <span>{format!("⋯ {lines} lines the same")}</span>
                <code>{line}</code>
            </button>
        }
        .into_any(),
        What::Same => view! {
            <div class="pair" data-what="same">
                // There only where the two stand side by side, and read out once.
                {number(old, "A")}<span data-side="A" aria-hidden="true">{line.clone()}</span>
                {number(new, "B")}<span data-side="B">{line}</span>
            </div>
        }
        .into_any(),
        What::Removed => {
            view! { <div class="pair" data-what="removed">{number(old, "A")}<del>{words.old}</del></div> }.into_any()
        }
        What::Added => {
            view! { <div class="pair" data-what="added">{number(new, "B")}<ins>{words.new}</ins></div> }.into_any()
        }
        What::Changed => {
            let (before, now) = sides(words);
            view! { <div class="pair" data-what="changed">{number(old, "A")}{before}{number(new, "B")}{now}</div> }
                .into_any()
        }
    }
}
