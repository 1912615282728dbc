//! What holds an object back that is to go, and what uses an object.

use leptos::prelude::*;

use kubechurn_model::view::holds::{HoldRow, HoldsModel};

use crate::ui::parts::link;
use crate::ui::values::Memo;

/// Both, of the object that is looked at; nothing where nothing is to be said.
#[component]
pub fn Holds(
    /// What to show.
    holds: Memo<Option<HoldsModel>>,
) -> impl IntoView {
    let is_held = Memo::new(move |_| {
        holds.with(|one| one.as_ref().is_some_and(|one| !one.held.is_empty() || !one.asked.is_empty()))
    });
    let is_used = Memo::new(move |_| holds.with(|one| one.as_ref().is_some_and(|one| !one.used.is_empty())));
    let model = Memo::new(move |_| holds.get().unwrap_or_default());
    let rows = |get: fn(&HoldsModel) -> &Vec<HoldRow>| {
        let rows = Memo::new(move |_| model.with(|model| get(model).clone()));
        move || rows.get().into_iter().map(row).collect_view()
    };
    let held = rows(|model| &model.held);
    let users = rows(|model| &model.users);
    let unknown = Memo::new(move |_| model.with(|model| model.unknown.clone()));
    let said =
        move || unknown.get().into_iter().map(|words| view! { <li class="holds-unknown">{words}</li> }).collect_view();
    view! {
        <section class="holds" aria-label="What holds it back" data-testid="holds" hidden=move || !is_held.get()>
            <h3>"What holds it back"</h3>
            <p data-testid="holds-asked">{move || model.with(|model| model.asked.clone())}</p>
            <ul data-testid="holds-held">{held}</ul>
        </section>
        <section class="holds" aria-label="Who uses it" data-testid="uses" hidden=move || !is_used.get()>
            <h3>"Who uses it"</h3>
            <p data-testid="uses-words">{move || model.with(|model| model.used.clone())}</p>
            <ul data-testid="uses-users">{users}</ul>
        </section>
        <ul class="holds" data-testid="holds-unknown" hidden=move || unknown.with(Vec::is_empty)>{said}</ul>
    }
}

fn row(row: HoldRow) -> AnyView {
    let HoldRow { name, href, words, tone } = row;
    let name = match (name.is_empty(), href.is_empty()) {
        (true, _) => ().into_any(),
        (false, true) => view! { <b>{name}</b> " " }.into_any(),
        (false, false) => view! { <a href=link(href)>{name}</a> " " }.into_any(),
    };
    view! { <li data-tone=tone>{name}<span>{words}</span></li> }.into_any()
}
