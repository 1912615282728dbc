//! The life of a Pod as a strip: one line for the Pod, and one for each container.

use leptos::prelude::*;

use kubechurn_model::view::life::{LifeLine, LifeModel, LifePoint, LifeStretch};

use crate::ui::values::Memo;

/// The life of the Pod that is looked at; nothing for other objects.
#[component]
pub fn Life(
    /// What to show.
    life: Memo<Option<LifeModel>>,
) -> impl IntoView {
    move || life.get().map(section)
}

fn section(model: LifeModel) -> AnyView {
    let said = |words: String| view! { <li>{words}</li> };
    view! {
        <section class="life" aria-label="The life of the Pod" data-testid="life">
            <h3>"Life "<span class="num">{model.from}" – "{model.to}</span></h3>
            <ul class="life-lines">{model.lines.into_iter().map(line).collect_view()}</ul>
            <ul class="life-words" data-testid="life-words">
                {model.end.into_iter().chain(model.unknown).map(said).collect_view()}
            </ul>
        </section>
    }
    .into_any()
}

fn line(row: LifeLine) -> AnyView {
    let last = row.stretches.last().map(|one| one.words.clone()).unwrap_or_default();
    let points: Vec<LifePoint> = row.points.iter().rev().take(4).rev().cloned().collect();
    let left_out = row.points.len() - points.len();
    let at = |point: LifePoint| {
        let href = Some(point.href).filter(|href| !href.is_empty());
        view! { <li data-tone=point.tone><a href=href><span class="num">{point.time}</span>" "{point.words}</a></li> }
    };
    view! {
        <li class="life-line" data-testid="life-line" data-kind=row.kind>
            <p><b>{row.name}</b> <span>{row.kind}</span> <span class="life-now">{last}</span> <span>{row.words}</span></p>
            <ol class="life-strip">
                {row.stretches.into_iter().map(stretch).collect_view()}
                {row.points.into_iter().filter_map(mark).collect_view()}
            </ol>
            <ul class="life-points">
                {(left_out > 0).then(|| view! { <li>{format!("{left_out} more before")}</li> })}
                {points.into_iter().map(at).collect_view()}
            </ul>
        </li>
    }
    .into_any()
}

fn stretch(row: LifeStretch) -> AnyView {
    let source = if row.is_from_object { " (from the object)" } else { "" };
    let title = format!("{}: {}{source}", row.time, row.words);
    let words = title.clone();
    let href = Some(row.href).filter(|href| !href.is_empty());
    view! {
        <li
            data-what=row.what
            data-from-object=row.is_from_object.to_string()
            style:left=format!("{:.2}%", row.left)
            style:width=format!("{:.2}%", row.width)
            title=title
        >
            <a href=href tabindex="-1"><span class="hidden-text">{words}</span></a>
        </li>
    }
    .into_any()
}

fn mark(row: LifePoint) -> Option<AnyView> {
    let left = row.left?;
    let title = format!("{}: {}", row.time, row.words);
    Some(
        view! { <li class="life-mark" data-tone=row.tone style:left=format!("{left:.2}%") title=title aria-hidden="true"></li> }.into_any(),
    )
}
