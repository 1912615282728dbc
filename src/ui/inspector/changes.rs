//! The second tab: every version that this session saw, and what it changed.

use std::sync::Arc;

use leptos::prelude::*;

use kubechurn_client::cache::delta::DeltaType;
use kubechurn_model::inspector::diff::{Change, FieldChange, Rewrite};
use kubechurn_model::inspector::versions::{Body, ShownVersion};
use kubechurn_model::timeline::mark::MarkType;

use kubechurn_model::feed::span::SpanCommand;
use kubechurn_model::page::command::{Command, Compare, InspectorCommand};
use kubechurn_model::rewind::banner::RewindCommand;

use crate::ui::inspector::comparison::Comparison;
use crate::ui::inspector::scroll_to;
use crate::ui::parts::each;
use crate::ui::screen::{Commands, Inspector, Screen};
use crate::ui::values::Memo;

/// The tab.
#[component]
pub fn Changes(screen: Screen, commands: Commands) -> impl IntoView {
    let is_compared = Memo::new(move |_| screen.inspector.comparison.with(Option::is_some));
    move || match is_compared.get() {
        true => view! { <Comparison screen commands /> }.into_any(),
        false => view! { <Versions signals=screen.inspector commands /> }.into_any(),
    }
}

/// The versions, the newest first.
#[component]
fn Versions(signals: Inspector, commands: Commands) -> impl IntoView {
    let versions = signals.versions;
    let let_go = Memo::new(move |_| versions.with(|versions| versions.let_go.clone()));
    let older = Memo::new(move |_| versions.with(|versions| versions.older));
    let newer = Memo::new(move |_| versions.with(|versions| versions.newer));
    let later = Memo::new(move |_| versions.with(|versions| versions.later));
    let marked = Memo::new(move |_| versions.with(|versions| versions.marked));
    let send = move |command: InspectorCommand| commands.send(Command::Inspector(command));
    Effect::new(move |_| {
        if marked.get().is_some() {
            // The version is in the document when the effects of this change have run.
            request_animation_frame(|| scroll_to("[data-testid=inspector-versions] > [aria-current]"));
        }
    });
    view! {
        <Show when=move || versions.with(|versions| versions.shown.is_empty())>
            <p class="inspector-note">"This session has not received a version of it that is kept."</p>
        </Show>
        {move || versions.with(|versions| versions.resynced.clone()).map(|(count, time, at)| view! {
            <p class="inspector-note" data-testid="inspector-resynced" data-at=at>{resynced(count, &time)}</p>
        })}
        {move || match later.get() {
            0 => None,
            1 => Some(String::from("1 later version is not shown.")),
            later => Some(format!("{later} later versions are not shown.")),
        }
        .map(|words| view! { <p class="inspector-note" data-testid="inspector-later">{words}</p> })}
        {move || (newer.get() > 0).then(|| view! {
            <button class="older" data-testid="inspector-newest" on:click=move |_| send(InspectorCommand::Newest)>
                {format!("{} newer", newer.get())}
            </button>
        })}
        <ol class="versions" data-testid="inspector-versions">
            {each(
                move || versions.with(|versions| versions.shown.clone()),
                |version| (version.sequence, version.time.clone()),
                move |version| version_view(&version, marked, commands).into_any(),
            )}
        </ol>
        {move || (older.get() > 0).then(|| view! {
            <button class="older" on:click=move |_| send(InspectorCommand::Older)>
                {format!("{} older", older.get())}
            </button>
        })}
        {move || (!let_go.with(String::is_empty)).then(|| view! {
            <p class="inspector-note" data-testid="inspector-let-go">{let_go.get()}</p>
        })}
    }
}

/// What resyncs did since the newest version.
fn resynced(count: u64, time: &str) -> String {
    let (sign, name) = (MarkType::Sync.glyph(), MarkType::Sync.name());
    match count {
        1 => format!("{sign} {name} {time}: replayed by a resync, unchanged."),
        count => format!("{sign} {name} {time}: replayed by {count} resyncs since, unchanged."),
    }
}

/// What is said of writers who are not certain.
pub const INFERRED: &str =
    "inferred from managedFields: whose entry changed with this version, or who owns what changed";

fn version_view(version: &Arc<ShownVersion>, marked: Memo<Option<u64>>, commands: Commands) -> impl IntoView + use<> {
    let at = version.at;
    let (mark, sequence) = (MarkType::from(version.delta_type), version.sequence);
    let (name, glyph) = (mark.name(), mark.glyph());
    let (time, writers) = (version.time.clone(), version.writers.join(", "));
    view! {
        <li
            data-delta=name
            data-version=version.resource_version.clone()
            aria-current=move || (marked.get() == Some(sequence)).then_some("true")
        >
            <div class="version-head">
                <b><i aria-hidden="true">{glyph}</i>" "{name}</b>
                <time class="num" data-at=at>{time}</time>
                <span class="num faint" title="resourceVersion">{version.resource_version.clone()}</span>
                {match version.by.clone() {
                    Some(by) => view! {
                        <span class="writers" title=by.how.clone()>
                            <span data-writers="">{by.words()}</span>
                            {format!(", {}", by.how)}
                        </span>
                    }.into_any(),
                    None => view! {
                        <span class="writers" title=INFERRED>
                            {(!writers.is_empty()).then(|| view! { <span data-writers="">{writers.clone()}</span> ", inferred" })}
                        </span>
                    }.into_any(),
                }}
                <button
                    class="around"
                    data-testid="version-rewind"
                    title="show the page as it was then"
                    on:click=move |_| commands.send(Command::Rewind(RewindCommand::To(at)))
                >
                    "◀◀"
                </button>
                <button
                    class="around"
                    data-testid="inspector-compare"
                    title="beside the marked version, or else the one before it (v)"
                    on:click=move |_| commands.send(Command::Inspector(InspectorCommand::Compare(Compare::With(sequence))))
                >
                    "compare"
                </button>
                <button
                    class="around"
                    data-testid="inspector-around"
                    title="what else changed within 2 s of this?"
                    on:click=move |_| commands.send(Command::Span(SpanCommand::Around(at)))
                >
                    "± 2 s"
                </button>
            </div>
            {body(version)}
        </li>
    }
}

fn body(version: &ShownVersion) -> AnyView {
    let note = |words: &'static str| view! { <p class="inspector-note">{words}</p> }.into_any();
    match &version.body {
        Body::Created => note("Created: nothing was before it."),
        Body::Listed => note("As a list brought it: what was before it is not known."),
        Body::Alone => note("The version before it is not kept, so that what changed is not known."),
        Body::Unseen => {
            note("Known only by its absence from a list: no frame reported it, and its last state may be another.")
        }
        Body::Unreadable(words) => {
            view! { <p class="inspector-note">"It cannot be read: "{words.clone()}</p> }.into_any()
        }
        Body::Diff(_, diff)
            if diff.changes.is_empty() && diff.noise.is_empty() && version.delta_type == DeltaType::Deleted =>
        {
            note("Deleted unchanged.")
        }
        Body::Diff(_, diff) if diff.changes.is_empty() && diff.noise.is_empty() => {
            note("Nothing but resourceVersion and managedFields.")
        }
        Body::Diff(from, diff) => {
            let (changes, noise, more, from) = (diff.changes.clone(), diff.noise.clone(), diff.more, from.clone());
            let little = match noise.len() {
                1 => String::from("+ 1 field that says little"),
                count => format!("+ {count} fields that say little"),
            };
            view! {
                <dl class="diff" title=format!("against resourceVersion {from}")>
                    {changes.into_iter().map(field_view).collect_view()}
                </dl>
                {(!noise.is_empty()).then(|| view! {
                    <details class="little" data-testid="inspector-noise">
                        <summary>{little}</summary>
                        <dl class="diff">{noise.into_iter().map(field_view).collect_view()}</dl>
                    </details>
                })}
                {(more > 0).then(|| view! { <p class="inspector-note">{format!("and {more} more fields")}</p> })}
            }
            .into_any()
        }
    }
}

/// The old value and the new one, each with the part that differs marked.
pub fn sides(Rewrite { before, old, new, after }: Rewrite) -> (AnyView, AnyView) {
    let is_part = !before.is_empty() || !after.is_empty();
    let differs = move |part: String| match is_part && !part.is_empty() {
        true => view! { <mark>{part}</mark> }.into_any(),
        false => part.into_any(),
    };
    let is_now = view! { <ins>{before.clone()}{differs(new)}{after.clone()}</ins> }.into_any();
    (view! { <del>{before}{differs(old)}{after}</del> }.into_any(), is_now)
}

/// A field that differs: its path, and old → new.
pub fn field_view(change: FieldChange) -> impl IntoView {
    let path = change.path.clone();
    let values = match change.change {
        Change::Added(new) => view! { <ins>{new}</ins> }.into_any(),
        Change::Removed(old) => view! { <del>{old}</del> }.into_any(),
        Change::Changed(rewrite) => {
            let (old, new) = sides(rewrite);
            view! { {old}<span class="to">" → "</span>{new} }.into_any()
        }
        Change::Reordered => view! { <span class="dim">"in another order"</span> }.into_any(),
        Change::Secret(words) => view! { <span class="dim">{words}</span> }.into_any(),
    };
    view! { <div data-path=path><dt>{change.path}</dt><dd>{values}</dd></div> }
}
