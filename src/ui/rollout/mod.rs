//! A rollout beside the last one that went well: two bars on one axis, and what is to be said of them in words.

use leptos::prelude::*;

use kubechurn_model::view::rollout::{BarRow, FactRow, RolloutModel, StretchRow};

use crate::ui::parts::{link, places};
use crate::ui::values::Memo;

/// The rollout of the workload that is looked at; nothing where it has none.
#[component]
pub fn Rollout(
    /// What to show.
    rollout: Memo<Option<RolloutModel>>,
) -> impl IntoView {
    let is_there = Memo::new(move |_| rollout.with(Option::is_some));
    move || is_there.get().then(|| section(rollout))
}

/// While a rollout goes on its words change each second: each place keeps its elements, so that the focus stays.
fn section(rollout: Memo<Option<RolloutModel>>) -> AnyView {
    let model = Memo::new(move |_| rollout.get().unwrap_or_default());
    let words = move |get: fn(&RolloutModel) -> &String| move || model.with(|model| get(model).clone());
    let axis = Memo::new(move |_| model.with(|model| (model.ticks.clone(), model.parted)));
    let compare = Memo::new(move |_| model.with(|model| model.compare.clone()));
    let bars = places(Memo::new(move |_| model.with(|model| model.bars.len())), move |at| {
        bar(Memo::new(move |_| model.with(|model| model.bars.get(at).cloned().unwrap_or_default())))
    });
    let facts = places(Memo::new(move |_| model.with(|model| model.facts.len())), move |at| {
        fact(Memo::new(move |_| model.with(|model| model.facts.get(at).cloned().unwrap_or_default())))
    });
    view! {
        <section class="rollout" aria-label="The rollout, against the last good one" data-testid="rollout">
            <h2>
                "The rollout, against the last good one"
                <span data-testid="rollout-summary">{words(|model| &model.summary)}</span>
                {move || link(compare.get()).map(|href| view! {
                    <a class="button" data-testid="rollout-compare" href=href>"Compare field by field"</a>
                })}
            </h2>
            <p class="rollout-words" data-testid="rollout-against">{words(|model| &model.against)}" "{words(|model| &model.fields)}</p>
            <div class="rollout-bars">
                <div class="rollout-axis" aria-hidden="true">{move || axis_view(axis.get())}</div>
                {bars}
            </div>
            <dl class="rollout-facts" data-testid="rollout-facts">{facts}</dl>
        </section>
    }
    .into_any()
}

fn axis_view((ticks, parted): (Vec<(f64, &'static str)>, Option<f64>)) -> AnyView {
    let tick = |(left, words): (f64, &'static str)| view! { <span style:left=format!("{left:.2}%")>{words}</span> };
    let parted = parted.map(|left| {
        view! { <b class="rollout-parted" style:left=format!("{left:.2}%")>"here they part"</b> }
    });
    view! { {ticks.into_iter().map(tick).collect_view()}{parted} }.into_any()
}

fn bar(row: Memo<BarRow>) -> AnyView {
    let words = move |get: fn(&BarRow) -> &String| move || row.with(|row| get(row).clone());
    let stretches = places(Memo::new(move |_| row.with(|row| row.stretches.len())), move |at| {
        stretch(Memo::new(move |_| row.with(|row| row.stretches.get(at).cloned().unwrap_or_default())))
    });
    view! {
        <div class="rollout-bar" data-testid="rollout-bar">
            <p class="rollout-name"><b>{words(|row| &row.name)}</b> <span class="num" data-at=move || row.with(|row| row.at)>{words(|row| &row.when)}</span></p>
            <ol>{stretches}</ol>
            <p class="rollout-outcome" data-well=move || row.with(|row| row.is_well).to_string()>{words(|row| &row.outcome)}</p>
        </div>
    }
    .into_any()
}

fn stretch(row: Memo<StretchRow>) -> AnyView {
    let words = move |get: fn(&StretchRow) -> &String| move || row.with(|row| get(row).clone());
    view! {
        <li
            data-what=move || row.with(|row| row.what)
            data-from-object=move || row.with(|row| row.is_from_object).to_string()
            style:left=move || format!("{:.2}%", row.with(|row| row.left))
            style:width=move || format!("{:.2}%", row.with(|row| row.width))
            data-at=move || row.with(|row| row.at)
            data-words=move || row.with(StretchRow::sentence)
            title=move || row.with(StretchRow::sentence)
        >
            <a href=move || link(row.with(|row| row.href.clone()))>{words(|row| &row.words)}</a>
            <span class="num">{words(|row| &row.after)}</span>
        </li>
    }
    .into_any()
}

fn fact(row: Memo<FactRow>) -> AnyView {
    view! {
        <div>
            <dt>{move || row.with(|row| row.name)}</dt>
            <dd><a href=move || link(row.with(|row| row.href.clone()))>{move || row.with(|row| row.words.clone())}</a></dd>
        </div>
    }
    .into_any()
}
