//! A lesson, or one part of the machinery while it is read, within another page.

use leptos::prelude::*;

use kubechurn_model::inside::command::InsideCommand;
use kubechurn_model::inside::lesson;

use crate::ui::inside::parts::Parts;
use crate::ui::inside::{Reader, Sentence};
use crate::ui::screen::{Commands, Screen};

/// Everything that is shown within another page.
#[component]
pub fn Embed(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let reader = Reader { screen, commands };
    let one = screen.header.embed.with_untracked(|embed| embed.is_some_and(|embed| embed.part.is_some()));
    let read = reader.memo(|model| model.caption.lesson);
    let title = move || read.with(|id| lesson(id).map(|lesson| lesson.title).unwrap_or_default());
    let waits = reader.text(|model| &model.waits);
    let (number, is_end) = (reader.memo(|model| model.number), reader.memo(|model| model.is_end));
    let whole = reader.text(|model| &model.whole);
    let spoken = reader.text(|model| &model.spoken);
    let step = move |by: isize, testid: &'static str, title: &'static str, sign: &'static str, is_off: Signal<bool>| {
        view! {
            <button data-testid=testid title=title aria-label=title aria-disabled=move || is_off.get().then_some("true")
                on:click=move |_| reader.send(InsideCommand::Step(by))>{sign}</button>
        }
    };
    view! {
        // A file that is dropped here is not opened as a recording.
        <main
            class="inside embed"
            data-testid="embed"
            data-one=one.then_some("part")
            aria-label=title
            on:dragover=|event| event.stop_propagation()
            on:drop=|event| event.stop_propagation()
        >
            <Sentence reader />
            {move || Some(waits.get()).filter(|waits| !waits.is_empty()).map(|waits| view! {
                <p class="inside-waits" role="status" data-testid="inside-waits">{waits}</p>
            })}
            <Parts reader />
            <footer class="embed-foot">
                <h1 data-testid="embed-title">{title}</h1>
                <span class="inside-group">
                    {step(-1, "inside-back", "step back", "|◀", Signal::derive(move || number.get() == 0))}
                    {step(1, "inside-forward", "next step", "▶|", Signal::derive(move || is_end.get()))}
                </span>
                <span class="num">"step " <b data-testid="embed-number">{move || number.get()}</b></span>
                <a data-testid="embed-whole" href=move || whole.get() target="_blank" rel="noopener">"Open in kubechurn"</a>
            </footer>
            <p class="hidden-text" role="status" data-testid="inside-spoken">{move || spoken.get()}</p>
        </main>
    }
}
