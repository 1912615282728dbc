//! The parts of the machinery, side by side in the order in which an event goes through them.

use leptos::prelude::*;

use kubechurn_model::inside::command::InsideCommand;
use kubechurn_model::inside::{Part, Which};
use kubechurn_model::view::inside::{PartModel, QueueModel, SETTINGS, SlotModel};

use crate::ui::inside::{Reader, lines};
use crate::ui::parts::places;
use crate::ui::values::Memo;

/// Where client-go's files are.
const SOURCE: &str = "https://github.com/kubernetes/client-go/blob/master/";

/// All parts.
#[component]
pub fn Parts(
    /// Where they are read.
    reader: Reader,
) -> impl IntoView {
    view! {
        <div class="inside-parts" data-testid="inside-parts">
            {column(reader, &[Part::Server])}
            {column(reader, &[Part::Reflector])}
            {column(reader, &[Part::Queue])}
            {column(reader, &[Part::Pop, Part::Store])}
            {column(reader, &[Part::Handlers, Part::WorkQueue])}
        </div>
    }
}

/// Parts, one above the other. What has no room is scrolled to.
fn column(reader: Reader, parts: &'static [Part]) -> AnyView {
    let name = parts.iter().map(|part| part.title()).collect::<Vec<_>>().join(", ");
    view! {
        <div class="inside-column" role="group" aria-label=name tabindex="0">
            {parts.iter().map(|part| one(reader, *part)).collect_view()}
        </div>
    }
    .into_any()
}

/// A part: what it is, what is in it, and what of it can be set.
fn one(reader: Reader, part: Part) -> AnyView {
    let at = Part::ALL.iter().position(|own| *own == part).unwrap_or_default();
    let model: Memo<PartModel> = reader.memo(move |model| model.parts.get(at).cloned().unwrap_or_default());
    let is_lit = move || model.with(|model| model.is_lit);
    let shown = Memo::new(move |_| model.with(|model| model.lines.clone()));
    let about = reader.memo(|model| model.about);
    let (name, file) = part.client_go();
    let body = match part {
        Part::Reflector => states(reader),
        Part::Queue => queues(reader),
        _ => ().into_any(),
    };
    view! {
        <section class="inside-part" data-part=at.to_string() data-lit=move || is_lit().to_string() data-about=move || (about.get() == Some(part)).then_some("true") aria-labelledby=format!("inside-part-{at}")>
            <h3 id=format!("inside-part-{at}")>
                <b aria-hidden="true">{at + 1}</b> {part.title()}
                {move || is_lit().then(|| view! { <small>"now"</small> })}
            </h3>
            <a class="inside-file" href=format!("{SOURCE}{file}") target="_blank" rel="noreferrer" title=format!("{file} in client-go")>{name}</a>
            <p>{part.sentence()}</p>
            {body}
            {move || facts(&model.with(|model| model.facts.clone()))}
            {move || shown.with(|shown| (!shown.is_empty()).then(|| view! { <ul class="inside-lines">{lines(shown)}</ul> }))}
            {move || model.with(|model| (!model.note.is_empty()).then(|| view! { <p class="inside-note">{model.note.clone()}</p> }))}
            {(part != Part::Queue).then(|| settings(reader, part))}
        </section>
    }
    .into_any()
}

fn facts(facts: &[(&'static str, String)]) -> Option<AnyView> {
    let fact = |(name, value): &(&'static str, String)| view! { <div><dt>{*name}</dt> <dd>{value.clone()}</dd></div> };
    (!facts.is_empty())
        .then(|| view! { <dl class="inside-facts">{facts.iter().map(fact).collect_view()}</dl> }.into_any())
}

/// What can be set of a part.
fn settings(reader: Reader, part: Part) -> AnyView {
    let own = SETTINGS.iter().enumerate().filter(|(_, of)| **of == part);
    let setting = |(at, _): (usize, &Part)| {
        let label =
            reader.memo(move |model| model.settings.get(at).map(|one| one.title.to_owned()).unwrap_or_default());
        let choices =
            reader.memo(move |model| model.settings.get(at).map(|one| one.choices.clone()).unwrap_or_default());
        let chosen = reader.memo(move |model| model.settings.get(at).map(|one| one.chosen.clone()).unwrap_or_default());
        reader.choice(label, choices, chosen, InsideCommand::Set)
    };
    let late = (part == Part::Handlers).then(|| view! {
        <button data-testid="inside-late" title="it gets an addition for each object that is in the store" on:click=move |_| reader.send(InsideCommand::Set("late".into()))>
            "One more handler joins"
        </button>
    });
    view! { <div class="inside-settings">{own.map(setting).collect_view()} {late}</div> }.into_any()
}

/// The states of the Reflector. The present one is lit.
fn states(reader: Reader) -> AnyView {
    let state = reader.memo(|model| model.state.to_owned());
    let one = move |name: &'static str, title: &'static str, words: &'static str| {
        view! {
            <li data-state=name aria-current=move || state.with(|state| (state == name).then_some("true"))>
                <b>{title}</b> <span>{words}</span>
            </li>
        }
    };
    view! {
        <ol class="inside-states" data-testid="inside-states" data-now=move || state.get()>
            {one("list", "List", "asks for all")}
            {one("replace", "Replace", "compares")}
            {one("watch", "Watch", "hears changes")}
            {one("wait", "Wait", "backs off")}
        </ol>
        <p class="inside-ways"><span>"↻ resume: watch again from the last version"</span> <span>"↺ 410, too old: list again"</span></p>
    }
    .into_any()
}

/// The queues beside each other, over the same stream.
fn queues(reader: Reader) -> AnyView {
    let queue = move |(at, which): (usize, Which)| {
        let model: Memo<QueueModel> = reader.memo(move |model| model.queues.get(at).cloned().unwrap_or_default());
        let is_chosen = move || model.with(|model| model.is_chosen);
        let count = Memo::new(move |_| model.with(|model| model.slots.len()));
        let slot = move |place: usize| {
            slot(Memo::new(move |_| model.with(|model| model.slots.get(place).cloned().unwrap_or_default())))
        };
        view! {
            <div class="inside-queue" data-queue=which.word() data-chosen=move || is_chosen().to_string()>
                <label title=which.sentence()>
                    <input
                        type="radio"
                        name="inside-queue"
                        prop:checked=is_chosen
                        on:change=move |_| reader.send(InsideCommand::Set(format!("queue.{}", which.word())))
                    />
                    <b>{which.title()}</b>
                </label>
                <small>{which.release()}</small>
                <p class="num">{move || model.with(|model| model.waits.clone())}</p>
                <p class="num" data-testid=format!("inside-holds-{}", which.word())>"holds " {move || model.with(|model| model.holds.clone())}</p>
                <p class="num inside-done">
                    <span>{move || model.with(|model| model.done.clone())}</span>
                    <span>{move || model.with(|model| model.most.clone())}</span>
                </p>
                <ol>{places(count, slot)}</ol>
                <p class="num">{move || model.with(|model| model.more.clone())}</p>
                {(which == Which::RealFifo).then(|| settings(reader, Part::Queue))}
                <p class="inside-about">{which.sentence()}</p>
            </div>
        }
    };
    view! { <div class="inside-queues">{Which::ALL.into_iter().enumerate().map(queue).collect_view()}</div> }.into_any()
}

/// Its age differs in each step, and the rest seldom.
fn slot(slot: Memo<SlotModel>) -> AnyView {
    let shown = Memo::new(move |_| slot.with(|slot| slot.lines.clone()));
    view! {
        <li class="inside-slot">
            <b>{move || slot.with(|slot| slot.key.clone())}</b> <span class="inside-age">{move || slot.with(|slot| slot.age.clone())}</span>
            <ul class="inside-lines">{move || shown.with(|shown| lines(shown))}</ul>
        </li>
    }
    .into_any()
}
