//! The life of a Pod as a strip: one line for the Pod, and one for each container.

use leptos::prelude::*;

use kubechurn_model::view::life::{LifeLine, LifeModel, LifePoint, LifeStretch};

use crate::ui::parts::{link, places};
use crate::ui::values::Memo;

/// How many points of a line are written out: the last ones.
const POINTS: usize = 4;

/// The life of the Pod that is looked at; nothing for other objects.
#[component]
pub fn Life(
    /// What to show.
    life: Memo<Option<LifeModel>>,
) -> impl IntoView {
    let is_there = Memo::new(move |_| life.with(Option::is_some));
    move || is_there.get().then(|| section(life))
}

/// While the Pod lives its strip changes with time: each place keeps its elements, so that the focus stays.
fn section(life: Memo<Option<LifeModel>>) -> AnyView {
    let model = Memo::new(move |_| life.get().unwrap_or_default());
    let words = move |get: fn(&LifeModel) -> &String| move || model.with(|model| get(model).clone());
    let lines = places(Memo::new(move |_| model.with(|model| model.lines.len())), move |at| {
        line(Memo::new(move |_| model.with(|model| model.lines.get(at).cloned().unwrap_or_default())))
    });
    let said = Memo::new(move |_| model.with(|model| [&model.end[..], &model.unknown].concat()));
    view! {
        <section class="life" aria-label="The life of the Pod" data-testid="life">
            <h3>"Life "<span class="num">{words(|model| &model.from)}" – "{words(|model| &model.to)}</span></h3>
            <ul class="life-lines">{lines}</ul>
            <ul class="life-words" data-testid="life-words">
                {move || said.get().into_iter().map(|words| view! { <li>{words}</li> }).collect_view()}
            </ul>
        </section>
    }
    .into_any()
}

fn line(row: Memo<LifeLine>) -> AnyView {
    let last = move || row.with(|row| row.stretches.last().map(|one| one.words.clone()).unwrap_or_default());
    // Where a point lies on the strip changes with time, and what is written of it does not.
    let points = Memo::new(move |_| {
        row.with(|row| {
            let points = row.points.iter().rev().take(POINTS).rev();
            points.map(|point| LifePoint { left: None, ..point.clone() }).collect::<Vec<_>>()
        })
    });
    let left_out = Memo::new(move |_| row.with(|row| row.points.len().saturating_sub(POINTS)));
    let point = |point: LifePoint| {
        view! { <li data-tone=point.tone><a href=link(point.href)><span class="num" data-at=point.at>{point.time}</span>" "{point.words}</a></li> }
    };
    let kind = move || row.with(|row| row.kind);
    view! {
        <li class="life-line" data-testid="life-line" data-kind=kind>
            <p>
                <b>{move || row.with(|row| row.name.clone())}</b> <span>{kind}</span> <span class="life-now">{last}</span>
                <span>{move || row.with(|row| row.words.clone())}</span>
            </p>
            <ol class="life-strip">
                {move || row.with(|row| row.stretches.clone()).into_iter().map(stretch).collect_view()}
                {move || row.with(|row| row.points.clone()).into_iter().filter_map(mark).collect_view()}
            </ol>
            <ul class="life-points">
                {move || (left_out.get() > 0).then(|| view! { <li>{format!("{} more before", left_out.get())}</li> })}
                {move || points.get().into_iter().map(point).collect_view()}
            </ul>
        </li>
    }
    .into_any()
}

fn stretch(row: LifeStretch) -> AnyView {
    let source = if row.is_from_object { " (from the object)" } else { "" };
    let title = format!("{}: {}{source}", row.time, row.words);
    let (words, href) = (title.clone(), link(row.href));
    view! {
        <li
            data-what=row.what
            data-from-object=row.is_from_object.to_string()
            style:left=format!("{:.2}%", row.left)
            style:width=format!("{:.2}%", row.width)
            data-at=row.at
            data-words=title.clone()
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
        view! { <li class="life-mark" data-tone=row.tone style:left=format!("{left:.2}%") data-at=row.at data-words=title.clone() title=title aria-hidden="true"></li> }.into_any(),
    )
}
