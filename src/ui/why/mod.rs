//! An incident: what is wrong, what changed before it, the trail from the write to what it caused, and what did not change.

use leptos::prelude::*;

use kubechurn_model::feed::wrong::row::Words;
use kubechurn_model::page::command::Command;
use kubechurn_model::rewind::banner::RewindCommand;
use kubechurn_model::view::why::{CauseRow, StepRow, UnknownRow, WhyModel, WriterRow};
use kubechurn_model::why::WhyCommand;

use crate::ui::holds::Holds;
use crate::ui::life::Life;
use crate::ui::logs::LogSection;
use crate::ui::parts::link;
use crate::ui::rollout::Rollout;
use crate::ui::screen::{Commands, Screen};
use crate::ui::values::Memo;

/// The incident that the address names.
#[component]
pub fn Why(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let why = Memo::new(move |_| screen.feed.why.with(|why| why.clone().unwrap_or_default()));
    let of = move |get: fn(&WhyModel) -> &String| move || why.with(|why| get(why).clone());
    let rewind = move |_| commands.send(Command::Rewind(RewindCommand::To(why.with_untracked(|why| why.at))));
    // What goes on changes some words each second, and leaves these as they are.
    let causes = Memo::new(move |_| why.with(|why| why.causes.clone()));
    let trail = Memo::new(move |_| why.with(|why| why.trail.clone()));
    let writers = Memo::new(move |_| why.with(|why| why.writers.clone()));
    let has_pods = Memo::new(move |_| why.with(|why| why.has_pods));
    // Where nothing is wrong, the rollout or the life is what there is to be seen.
    let is_wrong = Memo::new(move |_| why.with(|why| !why.tone.is_empty()));
    let of_object = move || {
        view! {
            <Rollout rollout=Memo::new(move |_| why.with(|why| why.rollout.clone())) />
            <Holds holds=Memo::new(move |_| why.with(|why| why.holds.clone())) />
            <Life life=Memo::new(move |_| why.with(|why| why.life.clone())) />
        }
    };
    view! {
        <section class="why" aria-label="Why" data-testid="why" data-tone=move || why.with(|why| why.tone)>
            <header class="why-head">
                <h1 data-testid="why-title">
                    {of(|why| &why.kind)} " "
                    <a href=move || link(why.with(|why| why.href.clone()))>{of(|why| &why.name)}</a>
                    " " {move || words(why.with(|why| why.words.clone()))}
                </h1>
                <p class="why-facts" data-testid="why-facts">
                    <span>"since " <b class="num" data-at=move || why.with(|why| why.at)>{of(|why| &why.time)}</b></span>
                    {move || why.with(|why| why.facts.clone()).into_iter()
                        .map(|(value, words)| view! { <span><b class="num">{value}</b> " " {words}</span> })
                        .collect_view()}
                    <span class="why-buttons">
                        <button data-testid="why-rewind" on:click=rewind>"Rewind to then"</button>
                        <button data-testid="why-copy" on:click=move |_| commands.send(Command::Why(WhyCommand::Copy))>"Copy as text"</button>
                        <button data-testid="why-close" on:click=move |_| commands.send(Command::Why(WhyCommand::Leave))>"Back"</button>
                    </span>
                </p>
            </header>
            <div class="why-body" tabindex="0" role="group" aria-label="the incident">
                {move || (!is_wrong.get()).then(of_object)}
                <section class="why-causes" aria-label="What changed before it">
                    <h2>"What changed before it" <span>{move || if why.with(|why| why.is_searching) { "being searched" } else { "most likely first" }}</span></h2>
                    <ol data-testid="why-causes">{move || causes.get().into_iter().map(cause).collect_view()}</ol>
                    {move || why.with(|why| (why.causes.is_empty() && !why.is_searching).then(|| why.no_cause()))
                        .map(|words| view! { <p class="why-none" data-testid="why-none">{words}</p> })}
                    <p class="why-others" data-testid="why-others">{of(|why| &why.others)}</p>
                </section>
                <section class="why-trail" aria-label="The trail">
                    <h2>"The trail" <span>"—— proven: owner, generation, or named"</span> <span>"- - - inferred"</span></h2>
                    <ol data-testid="why-trail">{move || trail.get().into_iter().map(step).collect_view()}</ol>
                </section>
                {move || is_wrong.get().then(of_object)}
                <section class="why-same" aria-label="What did not change">
                    <h2>"What did not change"</h2>
                    <p data-testid="why-unchanged">{of(|why| &why.unchanged)}</p>
                    <ul data-testid="why-unknown">{move || why.with(|why| why.unknown.clone()).into_iter()
                        .map(|row| unknown(row, commands))
                        .collect_view()}</ul>
                </section>
                <section class="why-writers" aria-label="Who wrote">
                    <h2>"Who wrote"</h2>
                    <ul data-testid="why-writers">{move || writers.get().into_iter().map(writer).collect_view()}</ul>
                </section>
                {move || has_pods.get().then(|| view! { <LogSection screen commands /> })}
            </div>
        </section>
    }
}

fn words(words: Words) -> impl IntoView {
    // The spaces between the parts are text, so that what is copied or read out is a sentence.
    words.into_iter().map(|(words, what)| view! { <span data-what=what>{words}</span>" " }).collect_view()
}

fn cause(row: CauseRow) -> AnyView {
    let check = |(holds, words, href): (bool, String, String)| {
        let (sign, says) = if holds { ("✓", "speaks for it") } else { ("✗", "speaks against it") };
        view! {
            <li data-holds=holds.to_string()>
                <span role="img" aria-label=says>{sign}</span>
                <a href=link(href)>{words}</a>
            </li>
        }
    };
    view! {
        <li class="why-cause" data-testid="why-cause" data-proof=row.proof>
            <h3>
                <a href=link(row.href)>{row.title}</a>
                <span class="why-proof">{row.proof_words}</span>
            </h3>
            <p class="why-what">
                <span class="wrong-words">{words(row.words)}</span>
                <span class="num" data-at=row.at title=row.time>{row.before}</span>
            </p>
            <ul>{row.checks.into_iter().map(check).collect_view()}</ul>
        </li>
    }
    .into_any()
}

fn step(row: StepRow) -> AnyView {
    let is_first = row.link.is_empty();
    view! {
        <li class="why-step" data-testid="why-step" data-proven=row.is_proven.to_string()>
            {(!is_first).then(|| view! { <p class="why-link">{row.link}</p> })}
            <p class="why-box">
                <span class="why-when num" data-at=row.at>{row.time}</span>
                <span class="num">{row.after}</span>
                <b>{row.what}</b>
                <a href=link(row.href)>{row.words}</a>
            </p>
        </li>
    }
    .into_any()
}

fn unknown(row: UnknownRow, commands: Commands) -> AnyView {
    let (name, title) = row.watch;
    let button = (!name.is_empty()).then(|| {
        view! {
            <button data-testid="why-watch" on:click=move |_| commands.send(Command::Pin(name))>
                "Watch " {title}
            </button>
        }
    });
    view! { <li>{row.words} " " {button}</li> }.into_any()
}

fn writer(row: WriterRow) -> AnyView {
    view! {
        <li data-certain=row.is_certain.to_string()>
            <b>{row.who}</b> <span>{row.what}</span>
            <span class="num" data-at=row.at>{row.time}</span> <span>{row.how}</span>
        </li>
    }
    .into_any()
}
