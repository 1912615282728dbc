//! The banner over a page that shows another moment than now: which it is, how it moves, and the way back.

use leptos::prelude::*;

use kubechurn_model::feed::span::SpanCommand;
use kubechurn_model::page::command::Command;
use kubechurn_model::recording::{NoteCommand, RecordingCommand};
use kubechurn_model::rewind::banner::{RewindCommand, RewindModel, SPEEDS};

use crate::ui::parts::once;
use crate::ui::screen::{Commands, Screen};
use crate::ui::values::Memo;

/// The banner. Nothing is shown while the page shows what is now.
#[component]
pub fn Rewind(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let is_rewound = Memo::new(move |_| screen.header.rewind.with(Option::is_some));
    once(move || is_rewound.get(), move || view! { <Banner is_rewound screen commands /> })
}

#[component]
fn Banner(is_rewound: Memo<bool>, screen: Screen, commands: Commands) -> impl IntoView {
    let send = move |command| commands.send(Command::Rewind(command));
    let model = Memo::new(move |_| screen.header.rewind.get().unwrap_or_default());
    let read = move |get: fn(&RewindModel) -> &str| move || model.with(|model| get(model).to_owned());
    let recording = Memo::new(move |_| model.with(|model| model.recording.clone()));
    let back = move || {
        if recording.with(Option::is_some) { "the cluster, in place of the recording (L)" } else { "what is now (L)" }
    };
    let compare = move || if recording.with(Option::is_some) { " Compare with the end" } else { " Compare with now" };
    let plays = Memo::new(move |_| model.with(|model| model.plays));
    let speed = Memo::new(move |_| model.with(|model| model.speed));
    let skips = Memo::new(move |_| model.with(|model| model.skips_quiet));
    // What the user types stays until it is entered, while nothing else has the field show another time.
    let time = Memo::new(move |_| model.with(|model| model.time.clone()));
    let speeds = SPEEDS.into_iter().enumerate().map(|(at, times)| {
        view! { <option value=at.to_string() prop:selected=move || speed.get() == at>{format!("{times}×")}</option> }
    });
    view! {
        <section class="rewind" aria-label="Rewound" data-testid="rewind" hidden=move || !is_rewound.get()>
            <b class="rewind-sign" data-testid="rewind-sign" title=move || recording.get().unwrap_or_default()>
                {move || match recording.get() {
                    Some(title) => view! { <span aria-hidden="true">"▣"</span> " " {title} }.into_any(),
                    None => view! { <span aria-hidden="true">"◀◀"</span> " Rewound" }.into_any(),
                }}
            </b>
            <label class="rewind-time">
                <span>"as of"</span>
                <input
                    data-testid="rewind-time"
                    aria-label="the moment that is shown, as a time of day"
                    title=read(|model| &model.whole)
                    size="12"
                    spellcheck="false"
                    autocomplete="off"
                    prop:value=move || time.get()
                    on:change=move |event| send(RewindCommand::Typed(event_target_value(&event)))
                />
            </label>
            <span class="num rewind-ago" data-testid="rewind-ago">{read(|model| &model.ago)}</span>
            <span class="num rewind-since" data-testid="rewind-since">{read(|model| &model.since)}</span>
            <span class="rewind-steps">
                <button
                    data-testid="rewind-before"
                    title="the change before, of the selected object or else of what is in view (,)"
                    on:click=move |_| send(RewindCommand::Step(-1))
                >
                    <span aria-hidden="true">"|◀"</span><span class="hidden-text">"change before "</span><span class="num">{read(|model| &model.steps[0])}</span>
                </button>
                <button
                    class="rewind-play"
                    data-testid="rewind-play"
                    title="play the recording, or stop (Space)"
                    aria-pressed=move || plays.get().to_string()
                    on:click=move |_| send(RewindCommand::Play)
                >
                    {move || if plays.get() { "❚❚ Stop" } else { "▶ Play" }}
                </button>
                <button
                    data-testid="rewind-next"
                    title="the next change, of the selected object or else of what is in view (.)"
                    on:click=move |_| send(RewindCommand::Step(1))
                >
                    <span class="hidden-text">"next change "</span><span class="num">{read(|model| &model.steps[1])}</span><span aria-hidden="true">"▶|"</span>
                </button>
            </span>
            <select
                class="rewind-speed"
                data-testid="rewind-speed"
                aria-label="speed"
                title="how many times as fast as it happened"
                on:change=move |event| {
                    if let Ok(at) = event_target_value(&event).parse() {
                        send(RewindCommand::Speed(at));
                    }
                }
            >
                {speeds.collect_view()}
            </select>
            <label class="rewind-quiet">
                <input
                    type="checkbox"
                    data-testid="rewind-quiet"
                    prop:checked=move || skips.get()
                    on:change=move |_| send(RewindCommand::SkipQuiet)
                />
                "skip quiet"
            </label>
            <span class="grow"></span>
            <button
                class="rewind-compare"
                data-testid="rewind-compare"
                title="what is different in the end from this moment (D)"
                aria-label=move || compare().trim().to_lowercase()
                on:click=move |_| commands.send(Command::Span(SpanCommand::Since))
            >
                <span aria-hidden="true">"⇄"</span><span class="rewind-words">{compare}</span>
            </button>
            <button
                class="rewind-note"
                data-testid="rewind-note"
                aria-label="note something at this moment"
                title="note something at this moment (N)"
                on:click=move |_| commands.send(Command::Recording(RecordingCommand::Note(NoteCommand::Begin)))
            >
                <span aria-hidden="true">"✎"</span><span class="rewind-words">" Note"</span>
            </button>
            <button class="rewind-live" data-testid="rewind-live" title=back on:click=move |_| send(RewindCommand::Live)>
                <span aria-hidden="true">"●"</span>" Live "<kbd class="kbd">"L"</kbd>
            </button>
        </section>
    }
}
