//! The first tab: who the object is, its containers, its conditions and relatives, labels and annotations.

use leptos::prelude::*;

use kubechurn_model::inspector::containers::{Container, Ended};
use kubechurn_model::inspector::relatives::Link;
use kubechurn_model::inspector::summary::{Condition, FactValue};

use crate::ui::holds::Holds;
use crate::ui::inspector::{age, tone_name};
use crate::ui::life::Life;
use crate::ui::screen::Inspector;
use crate::ui::values::Memo;

/// The tab.
#[component]
pub fn Summary(signals: Inspector) -> impl IntoView {
    let facts = Memo::new(move |_| signals.summary.with(|summary| summary.as_ref().map(|one| one.facts.clone())));
    let containers = Memo::new(move |_| {
        signals.summary.with(|one| one.as_ref().map(|one| one.containers.clone()).unwrap_or_default())
    });
    let conditions = Memo::new(move |_| {
        signals.summary.with(|one| one.as_ref().map(|one| one.conditions.clone()).unwrap_or_default())
    });
    let labels =
        Memo::new(move |_| signals.summary.with(|one| one.as_ref().map(|one| one.labels.clone()).unwrap_or_default()));
    let annotations = Memo::new(move |_| {
        signals.summary.with(|one| one.as_ref().map(|one| one.annotations.clone()).unwrap_or_default())
    });
    let more = Memo::new(move |_| signals.summary.with(|one| one.as_ref().map_or(0, |one| one.more)));
    view! {
        <Show when=move || facts.with(Option::is_none)>
            <p class="inspector-note">{move || signals.yaml.with(|yaml| yaml.words.clone())}</p>
        </Show>
        <dl class="facts" data-testid="inspector-facts">
            {move || facts.get().unwrap_or_default().into_iter().map(|(label, value)| view! {
                <dt>{label}</dt>
                {match value {
                    FactValue::Words(words, tone) => view! { <dd data-fact=label data-tone=tone_name(tone)>{words}</dd> }.into_any(),
                    FactValue::SinceWith(at, words) => view! {
                        <dd data-fact=label data-tone="wait">{age(signals, at)}" ago"{(!words.is_empty()).then(|| format!(", {words}"))}</dd>
                    }.into_any(),
                    FactValue::Since(at) => view! { <dd data-fact=label>{age(signals, at)}</dd> }.into_any(),
                }}
            }).collect_view()}
        </dl>
        {move || containers.with(|list| (!list.is_empty()).then(|| view! {
            <h3>"Containers "<span class="num">{list.len()}</span></h3>
            <table class="conditions containers" data-testid="inspector-containers">
                <thead><tr><th>"Name"</th><th>"State"</th><th>"Restarts"</th><th>"Since"</th></tr></thead>
                {list.iter().cloned().map(|one| container(signals, one)).collect_view()}
            </table>
        }))}
        <Holds holds=Memo::new(move |_| signals.holds.get()) />
        <Life life=Memo::new(move |_| signals.life.get()) />
        {move || conditions.with(|list| (!list.is_empty()).then(|| view! {
            <h3>"Conditions"</h3>
            <table class="conditions" data-testid="inspector-conditions">
                <thead><tr><th>"Type"</th><th>"Status"</th><th>"Since"</th></tr></thead>
                <tbody>{list.iter().cloned().map(|one| condition(signals, one)).collect_view()}</tbody>
            </table>
        }))}
        <Relatives signals />
        {move || labels.with(|list| pairs("Labels", "inspector-labels", list))}
        {move || annotations.with(|list| pairs("Annotations", "inspector-annotations", list))}
        {move || (more.get() > 0).then(|| view! { <p class="inspector-note">{format!("and {} more, in the YAML", more.get())}</p> })}
    }
}

fn container(signals: Inspector, container: Container) -> impl IntoView {
    let Container { name, kind, state: (state, tone), code, since, restarts, image, last, message } = container;
    let handle = name.clone();
    let ended = last.map(|Ended { reason, code, at }| {
        let words: Vec<String> = [reason, code].into_iter().filter(|words| !words.is_empty()).collect();
        let ago = at.map(|at| view! { ", " {age(signals, at)} " ago" });
        view! { <tr class="why"><td colspan="4">"ended before: "{words.join(", ")}{ago}</td></tr> }
    });
    let why = |words: String| (!words.is_empty()).then(|| view! { <tr class="why"><td colspan="4">{words}</td></tr> });
    view! {
        <tbody>
            <tr data-container=handle data-kind=kind>
                <td>{name}<span class="dim">" "{kind}</span></td>
                <td data-tone=tone_name(tone)>{state}{(!code.is_empty()).then(|| format!(", {code}"))}</td>
                <td class="num">{restarts}</td>
                <td class="num">{since.map(|since| age(signals, since))}</td>
            </tr>
            {why(image)}
            {ended}
            {why(message)}
        </tbody>
    }
}

fn condition(signals: Inspector, condition: Condition) -> impl IntoView {
    let Condition { name, status, tone, reason, message, since } = condition;
    let why = match (reason.is_empty(), message.is_empty()) {
        (true, true) => None,
        (false, true) => Some(reason),
        (true, false) => Some(message),
        (false, false) => Some(format!("{reason}: {message}")),
    };
    let handle = name.clone();
    view! {
        <tr data-condition=handle>
            <td>{name}</td>
            <td data-tone=tone_name(tone)>{status}</td>
            <td class="num">{since.map(|since| age(signals, since))}</td>
        </tr>
        {why.map(|why| view! { <tr class="why"><td colspan="3">{why}</td></tr> })}
    }
}

fn pairs(title: &'static str, handle: &'static str, list: &[(String, String)]) -> Option<impl IntoView + use<>> {
    let items = list.to_vec();
    (!items.is_empty()).then(|| view! {
        <h3>{title}" "<span class="num">{items.len()}</span></h3>
        <dl class="pairs" data-testid=handle>
            {items.into_iter().map(|(name, value)| view! { <div><dt>{name}</dt><dd>{value}</dd></div> }).collect_view()}
        </dl>
    })
}

/// Owners above, and what belongs to it below.
#[component]
fn Relatives(signals: Inspector) -> impl IntoView {
    let row = |link: Link, up: bool| {
        let name = match link.href {
            Some(href) => view! { <a href=href>{link.name}</a> }.into_any(),
            None => view! { <span>{link.name}</span> }.into_any(),
        };
        let (status, tone) = link.status;
        view! {
            <li style:padding-left=format!("{}px", 14 * link.depth) data-relation=if up { "owner" } else { "dependent" }>
                <span class="kind">{link.kind}</span>
                {name}
                <span class="status" data-tone=tone_name(tone)>{status}{link.words}</span>
            </li>
        }
    };
    let dependents = signals.dependents;
    view! {
        {move || signals.owners.with(|list| (!list.is_empty()).then(|| view! {
            <h3>"Belongs to"</h3>
            <ul class="relatives" data-testid="inspector-owners">
                {list.iter().cloned().map(|link| row(link, true)).collect_view()}
            </ul>
        }))}
        {move || dependents.with(|found| (!found.links.is_empty()).then(|| view! {
            <h3>"Owns "<span class="num">{found.links.len() + found.more}</span></h3>
            <ul class="relatives" data-testid="inspector-dependents">
                {found.links.iter().cloned().map(|link| row(link, false)).collect_view()}
            </ul>
            {(found.more > 0).then(|| view! { <p class="inspector-note">{format!("and {} more", found.more)}</p> })}
        }))}
        <p class="inspector-note" title="pin a kind in the sidebar to have it watched">
            {move || dependents.with(|found| match &*found.kinds {
                [] => String::new(),
                kinds => format!("Looked for what belongs to it among the watched: {}.", kinds.join(", ")),
            })}
        </p>
    }
}
