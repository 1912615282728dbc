//! A rollout beside the last one that went well: two bars on one axis, and what is to be said of them in words.

use leptos::prelude::*;

use kubechurn_model::view::rollout::{BarRow, FactRow, RolloutModel, StretchRow};

use crate::ui::values::Memo;

/// The rollout of the workload that is looked at; nothing where it has none.
#[component]
pub fn Rollout(
    /// What to show.
    rollout: Memo<Option<RolloutModel>>,
) -> impl IntoView {
    move || rollout.get().map(section)
}

fn section(model: RolloutModel) -> AnyView {
    let tick = |(left, words): (f64, &'static str)| view! { <span style:left=format!("{left:.2}%")>{words}</span> };
    let parted = model.parted.map(|left| {
        view! { <b class="rollout-parted" style:left=format!("{left:.2}%")>"here they part"</b> }
    });
    let compare = (!model.compare.is_empty()).then(|| {
        view! { <a class="button" data-testid="rollout-compare" href=model.compare.clone()>"Compare field by field"</a> }
    });
    view! {
        <section class="rollout" aria-label="The rollout, against the last good one" data-testid="rollout">
            <h2>
                "The rollout, against the last good one"
                <span data-testid="rollout-summary">{model.summary}</span>
                {compare}
            </h2>
            <p class="rollout-words" data-testid="rollout-against">{model.against}" "{model.fields}</p>
            <div class="rollout-bars">
                <div class="rollout-axis" aria-hidden="true">{model.ticks.into_iter().map(tick).collect_view()}{parted}</div>
                {model.bars.into_iter().map(bar).collect_view()}
            </div>
            <dl class="rollout-facts" data-testid="rollout-facts">{model.facts.into_iter().map(fact).collect_view()}</dl>
        </section>
    }
    .into_any()
}

fn bar(row: BarRow) -> AnyView {
    let outcome = row.outcome.clone();
    view! {
        <div class="rollout-bar" data-testid="rollout-bar">
            <p class="rollout-name"><b>{row.name}</b> <span class="num">{row.when}</span></p>
            <ol>{row.stretches.into_iter().map(stretch).collect_view()}</ol>
            <p class="rollout-outcome" data-well=row.is_well.to_string()>{outcome}</p>
        </div>
    }
    .into_any()
}

fn stretch(row: StretchRow) -> AnyView {
    let title = row.sentence();
    let href = Some(row.href).filter(|href| !href.is_empty());
    view! {
        <li
            data-what=row.what
            data-from-object=row.is_from_object.to_string()
            style:left=format!("{:.2}%", row.left)
            style:width=format!("{:.2}%", row.width)
            title=title
        >
            <a href=href>{row.words}</a>
            <span class="num">{row.after}</span>
        </li>
    }
    .into_any()
}

fn fact(row: FactRow) -> AnyView {
    let href = Some(row.href).filter(|href| !href.is_empty());
    view! { <div><dt>{row.name}</dt><dd><a href=href>{row.words}</a></dd></div> }.into_any()
}
