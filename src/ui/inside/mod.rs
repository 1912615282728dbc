//! The inside of an informer: its parts after one step, the ways to other steps, and what can be broken.

pub mod embed;
mod parts;

use leptos::html;
use leptos::prelude::*;

use kubechurn_model::inside::command::{InsideCommand, SPEEDS};
use kubechurn_model::inside::{BreakKind, lessons};
use kubechurn_model::page::command::{Command, Copied};
use kubechurn_model::view::inside::{BreakModel, InsideModel, Line, StepModel};

use crate::ui::inside::parts::Parts;
use crate::ui::parts::places;
use crate::ui::screen::{Commands, Screen};
use crate::ui::values::Memo;

/// The id of what says which step is shown.
pub const STEP: &str = "inside-step";

/// What the parts read, and where clicks go.
#[derive(Clone, Copy)]
pub struct Reader {
    screen: Screen,
    commands: Commands,
}

impl Reader {
    /// Something of the model, which changes only when it differs.
    fn memo<T: Clone + Default + PartialEq + Send + Sync + 'static>(
        self,
        get: impl Fn(&InsideModel) -> T + Send + Sync + 'static,
    ) -> Memo<T> {
        let model = self.screen.header.inside;
        Memo::new(move |_| model.with(|model| model.as_deref().map(&get).unwrap_or_default()))
    }

    fn text(self, get: fn(&InsideModel) -> &str) -> Memo<String> {
        self.memo(move |model| get(model).to_owned())
    }

    fn send(self, command: InsideCommand) {
        self.commands.send(Command::Inside(command));
    }

    /// A choice among words, each with its title.
    fn choice(
        self,
        label: Memo<String>,
        choices: Memo<Vec<(String, String)>>,
        chosen: Memo<String>,
        choose: fn(String) -> InsideCommand,
    ) -> AnyView {
        view! {
            <label class="inside-choice" hidden=move || choices.with(Vec::is_empty)>
                <span>{move || label.get()}</span>
                <select on:change=move |event| self.send(choose(event_target_value(&event)))>
                    {move || choices.get().into_iter().map(|(word, title)| {
                        let value = word.clone();
                        view! { <option value=value prop:selected=move || chosen.with(|chosen| *chosen == word)>{title}</option> }
                    }).collect_view()}
                </select>
            </label>
        }
        .into_any()
    }
}

/// Lines, each with its sign.
fn lines(lines: &[Line]) -> AnyView {
    let line = |line: &Line| {
        let sign = (!line.glyph().is_empty()).then(|| view! { <i role="img" aria-label=line.delta>{line.glyph()}</i> });
        let right = (!line.right.is_empty()).then(|| view! { <em>{line.right.clone()}</em> });
        view! {
            <li class="inside-line" data-look=line.look data-delta=line.delta>
                <b>{line.left.clone()}</b> <span>{sign} {line.text.clone()}</span> {right}
            </li>
        }
    };
    lines.iter().map(line).collect_view().into_any()
}

/// Everything.
#[component]
pub fn Inside(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let reader = Reader { screen, commands };
    let waits = reader.text(|model| &model.waits);
    view! {
        <section class="inside" aria-label="Inside" data-testid="inside">
            <Bar reader />
            <Lessons reader />
            <Breaks reader />
            <Sentence reader />
            {move || Some(waits.get()).filter(|waits| !waits.is_empty()).map(|waits| view! {
                <p class="inside-waits" role="status" data-testid="inside-waits">{waits}</p>
            })}
            <Parts reader />
            <Steps reader />
            <footer class="inside-foot">
                <span data-testid="inside-notes">{let notes = reader.text(|model| &model.notes); move || notes.get()}</span>
                <span class="num" data-testid="inside-sums">{let sums = reader.text(|model| &model.sums); move || sums.get()}</span>
            </footer>
            <p class="hidden-text" role="status" data-testid="inside-spoken">
                {let spoken = reader.text(|model| &model.spoken); move || spoken.get()}
            </p>
        </section>
    }
}

/// What is played, and the ways to other steps.
#[component]
fn Bar(reader: Reader) -> impl IntoView {
    let kinds = reader.memo(|model| {
        model.kinds.iter().map(|(name, title, _)| (name.to_string(), title.to_string())).collect::<Vec<_>>()
    });
    let kind =
        reader.memo(|model| model.kinds.iter().find(|kind| kind.2).map(|kind| kind.0.to_owned()).unwrap_or_default());
    let pauses = reader.memo(|model| model.pauses.clone());
    let speeds = Memo::new(|_| {
        let title =
            |speed: f64| if speed < 1.0 { format!("one in {:.0} s", 1.0 / speed) } else { format!("{speed} a second") };
        SPEEDS.iter().enumerate().map(|(at, speed)| (at.to_string(), title(*speed))).collect::<Vec<_>>()
    });
    let constant = |text: &'static str| Memo::new(move |_| text.to_owned());
    let speed = reader.memo(|model| model.speed.to_string());
    let (pause, newer) = (reader.text(|model| &model.pause), reader.text(|model| &model.newer));
    let grows = reader.memo(|model| model.grows);
    let (number, of) = (reader.memo(|model| model.number), reader.text(|model| &model.of));
    let plays = reader.memo(|model| model.plays);
    let is_end = reader.memo(|model| model.is_end);
    let step = NodeRef::<html::Input>::new();
    let go = move |_| {
        if let Some(step) = step.get_untracked().and_then(|step| step.value().trim().parse().ok()) {
            reader.send(InsideCommand::To(step));
        }
    };
    view! {
        <div class="inside-bar">
            <h1>"Inside"</h1>
            {reader.choice(constant("kind"), kinds, kind, InsideCommand::Kind)}
            <span class="inside-group">
                <button data-testid="inside-back" title="step back ([, ←)" aria-disabled=move || (number.get() == 0).then_some("true")
                    on:click=move |_| reader.send(InsideCommand::Step(-1))>
                    <span aria-hidden="true">"|◀"</span> " Back"
                </button>
                <button data-testid="inside-play" title="play, or stop (Space)" aria-pressed=move || plays.get().to_string()
                    on:click=move |_| reader.send(InsideCommand::Play)>
                    {move || if plays.get() { "❚❚ Stop" } else { "▶ Play" }}
                </button>
                <button class="inside-primary" data-testid="inside-forward" title="next step (], →)"
                    aria-disabled=move || is_end.get().then_some("true")
                    on:click=move |_| reader.send(InsideCommand::Step(1))>
                    "Step " <span aria-hidden="true">"▶|"</span>
                </button>
            </span>
            <label class="inside-number">
                "step "
                <input data-testid="inside-number" size="5" inputmode="numeric" autocomplete="off" aria-label="step"
                    node_ref=step prop:value=move || number.get().to_string() on:change=go />
                <span class="num">{move || of.get()}</span>
            </label>
            {reader.choice(constant("speed"), speeds, speed, |word| InsideCommand::Speed(word.parse().unwrap_or_default()))}
            {reader.choice(constant("pause"), pauses, pause, InsideCommand::Pause)}
            <button data-testid="inside-next" title="go on to where that happens" on:click=move |_| reader.send(InsideCommand::Next)>"Go to it"</button>
            <span class="grow"></span>
            {move || Some(newer.get()).filter(|newer| !newer.is_empty()).map(|newer| view! {
                <button
                    data-testid="inside-newer"
                    title=move || if grows.get() { "go to the first of them" } else { "begin anew with the newest events" }
                    on:click=move |_| reader.send(if grows.get_untracked() { InsideCommand::New } else { InsideCommand::Renew })
                >
                    {newer}
                </button>
            })}
            <button data-testid="inside-lessons" title="short streams with captions" on:click=move |_| reader.send(InsideCommand::Lesson(lessons()[0].id))>"Lessons"</button>
            <button data-testid="inside-link" title="copy the address of this step" on:click=move |_| reader.commands.send(Command::Copy(Copied::Link))>"Link"</button>
            <button data-testid="inside-close" title="leave (Esc, i)" on:click=move |_| reader.send(InsideCommand::Toggle)>"Close "<kbd class="kbd">"i"</kbd></button>
        </div>
    }
}

/// The lessons, while one is read.
#[component]
fn Lessons(reader: Reader) -> impl IntoView {
    let read = reader.memo(|model| model.caption.lesson);
    let lesson = move |at: usize| {
        let lesson = &lessons()[at];
        view! {
            <button
                data-testid=format!("lesson-{}", lesson.id)
                aria-current=move || (read.get() == lesson.id).then_some("true")
                on:click=move |_| reader.send(InsideCommand::Lesson(lesson.id))
            >
                {at + 1} ". " {lesson.title}
            </button>
        }
    };
    let all = move || (!read.with(|read| read.is_empty())).then(|| (0..lessons().len()).map(lesson).collect_view());
    view! { <nav class="inside-breaks inside-lessons" aria-label="Lessons" data-testid="inside-lesson-list">{all}</nav> }
}

/// What can be broken, each with what it breaks and what heals that.
#[component]
fn Breaks(reader: Reader) -> impl IntoView {
    let can = reader.memo(|model| model.can_break);
    let button = move |at: usize| {
        let kind = BreakKind::ALL[at];
        let is_used = reader.memo(move |model| model.breaks.get(at).is_some_and(|one| one.is_used));
        view! {
            <button
                data-testid=format!("break-{at}")
                title=kind.sentence()
                aria-pressed=move || is_used.get().to_string()
                aria-disabled=move || (!can.get()).then_some("true")
                on:click=move |_| reader.send(InsideCommand::Break(kind))
            >
                {kind.title()}
            </button>
        }
    };
    let all = move |()| {
        let row = |kind: BreakKind| {
            let (name, file) = kind.client_go();
            view! { <dt>{kind.title()}</dt> <dd>{kind.sentence()} " " <code>{name}</code> ", " <code>{file}</code></dd> }
        };
        BreakKind::ALL.map(row).collect_view()
    };
    view! {
        <div class="inside-breaks" role="group" aria-label="Break it">
            <span>"Break it:"</span>
            {(0..BreakKind::ALL.len()).map(button).collect_view()}
            <button data-testid="inside-mend" title="what has not broken yet does not break" on:click=move |_| reader.send(InsideCommand::Set("mend".into()))>"Mend"</button>
            <details class="menu inside-all">
                <summary class="field">"What heals it ▾"</summary>
                <dl class="menu-list">{all(())}</dl>
            </details>
        </div>
    }
}

/// What happened in the step, and beside it what the last break breaks.
#[component]
fn Sentence(reader: Reader) -> impl IntoView {
    let sentence = reader.text(|model| &model.sentence);
    let client_go = reader.text(|model| &model.client_go);
    let rules = reader.memo(|model| (model.rules, model.checklist.clone()));
    let number = reader.memo(|model| model.number);
    let time = reader.text(|model| &model.time);
    let caption = reader.memo(|model| model.caption.clone());
    let is_lesson = Memo::new(move |_| caption.with(|caption| !caption.lesson.is_empty()));
    let turn = move |by: isize, testid: &'static str, title: &'static str, words: &'static str| {
        view! {
            <button data-testid=testid title=title on:click=move |_| reader.send(InsideCommand::Caption(by))>{words}</button>
        }
    };
    let lesson = move || {
        view! {
            <div class="inside-caption">
                <p data-testid="inside-caption">{move || caption.with(|caption| caption.words)}</p>
                <p>
                    <span data-testid="inside-caption-place">{move || caption.with(|caption| caption.place.clone())}</span>
                    {turn(-1, "inside-caption-before", "the caption before (,)", "◀ Before")}
                    {turn(1, "inside-caption-next", "the next caption (.)", "Read on ▶")}
                </p>
            </div>
        }
    };
    let broken = reader.memo(|model| model.broken.and_then(|at| model.breaks.get(at).cloned()));
    let explained = |BreakModel { title, sentence, client_go: (name, file), .. }: BreakModel| {
        view! {
            <div class="inside-broken" data-testid="inside-broken"><b>{title} ": "</b> {sentence} " " <code title=file>{name}</code></div>
        }
    };
    view! {
        <div class="inside-sentence" id=STEP tabindex="-1" data-lesson=move || is_lesson.get().then_some("read")>
            <b class="inside-badge">{move || number.get()}</b>
            <div>
                <h2 data-testid="inside-sentence">{move || sentence.get()}</h2>
                <p>
                    <code data-testid="inside-client-go">{move || client_go.get()}</code>
                    <span>{move || format!(" at {}", time.get())}</span>
                    {move || rules.with(|(rules, checklist)| rules.iter().map(|one| rule(*one, checklist)).collect_view())}
                </p>
            </div>
            {move || is_lesson.get().then(lesson)}
            {move || broken.get().filter(|_| !is_lesson.get()).map(explained)}
        </div>
    }
}

/// A rule of the checklist, which leads to it where the book is beside the page.
fn rule((number, words): (u32, &'static str), checklist: &str) -> AnyView {
    let name = format!("rule {number}");
    if checklist.is_empty() {
        view! { ", " <span title=words>{name}": " {words}</span> }.into_any()
    } else {
        view! { ", " <a href=checklist.to_owned() title=words target="_blank" rel="noopener">{name}</a> ": " {words} }
            .into_any()
    }
}

/// The steps around the present one.
#[component]
fn Steps(reader: Reader) -> impl IntoView {
    let count = reader.memo(|model| model.steps.len());
    let step = move |place: usize| {
        let step: Memo<StepModel> = reader.memo(move |model| model.steps.get(place).cloned().unwrap_or_default());
        let line = move || step.with(|step| Line { delta: step.delta, ..Line::default() });
        view! {
            <li data-state=move || step.with(|step| step.state) data-begins=move || step.with(|step| step.begins.to_string())>
                <button
                    aria-current=move || step.with(|step| (step.state == "now").then_some("step"))
                    on:click=move |_| reader.send(InsideCommand::To(step.with_untracked(|step| step.number)))
                >
                    <b>
                        {move || step.with(|step| step.number)} " "
                        <i aria-hidden="true" data-delta=move || step.with(|step| step.delta)>{move || line().glyph()}</i> " "
                        <small>{move || step.with(|step| step.part)}</small>
                    </b>
                    <span>{move || step.with(|step| step.words.clone())}</span>
                </button>
            </li>
        }
        .into_any()
    };
    view! { <ol class="inside-steps" aria-label="steps" data-testid="inside-steps">{places(count, step)}</ol> }
}
