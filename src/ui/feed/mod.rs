//! The feed: what changed, newest first, with noise, repetitions and consequences folded.

pub mod alerts;
mod noise;
pub mod span;
pub mod wrong;

use leptos::html;
use leptos::prelude::*;

use kubechurn_model::feed::span::{SpanCommand, SpanModel};
use kubechurn_model::feed::{FeedCommand, FeedFrame, FeedRow, Piece};
use kubechurn_model::page::command::Command;
use kubechurn_model::recording::{NoteCommand, RecordingCommand};
use kubechurn_model::rewind::banner::RewindCommand;

use crate::ui::feed::alerts::NotifyMe;
use crate::ui::feed::noise::Noise;
use crate::ui::feed::span::Span;
use crate::ui::feed::wrong::Wrong;
use crate::ui::parts::places;
use crate::ui::screen::{Commands, Screen};
use crate::ui::shell::closing_menu;
use crate::ui::sized::on_size;
use crate::ui::table::Trouble;
use crate::ui::values::Memo;

/// The id of the rows in the document.
pub const FEED: &str = "feed";

/// Filters that are one click away: the words on the button, and the filter.
const FILTERS: [(&str, &str, &str); 4] = [
    ("all", "", "all changes"),
    ("asked for", "path:spec", "what was asked for: fields of the spec"),
    (
        "failing",
        "status:failing",
        "what brings a state that is bad, what is about something that is wrong now, and what it began with",
    ),
    ("deleted", "type:deleted", "what is gone"),
];

/// The feed of the kinds in view.
#[component]
pub fn Feed(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let send = move |command| commands.send(Command::Feed(command));
    let scroller = NodeRef::<html::Div>::new();
    let scrolled = move || {
        if let Some(scroller) = scroller.get_untracked() {
            let [top, height, width] =
                [scroller.scroll_top(), scroller.client_height(), scroller.client_width()].map(f64::from);
            send(FeedCommand::Scroll { top, height, width });
        }
    };
    on_size(scroller, scrolled);
    Effect::new(move |last: Option<u32>| {
        let newest = screen.feed.newest.get();
        if let Some(scroller) = scroller.get_untracked().filter(|_| last.is_some()) {
            scroller.set_scroll_top(0);
        }
        newest
    });
    let window = screen.feed.window;
    let count = Memo::new(move |_| window.with(|window| window.rows.len()));
    let height = move || format!("{}px", window.with(|window| window.height));
    let offset = move || format!("translateY({}px)", window.with(|window| window.offset));
    let in_hand = move || window.with(|window| window.hand.map(row_id));
    let newer = move || screen.feed.frame.with(|frame| frame.newer);
    let later = move || screen.feed.frame.with(|frame| frame.later.clone());
    let empty = move || screen.feed.frame.with(|frame| frame.empty.clone());
    view! {
        <section
            class="feed"
            aria-label="What changed"
            data-testid="feed"
            data-narrow=move || window.with(|window| window.is_narrow).to_string()
        >
            <Bar screen commands />
            <Trouble screen commands />
            <Wrong screen commands />
            <Noise screen commands />
            <div class="feed-body">
                <div
                    class="feed-scroll"
                    id=FEED
                    data-testid="feed-scroll"
                    tabindex="0"
                    role="group"
                    aria-label="changes, newest first"
                    aria-activedescendant=in_hand
                    node_ref=scroller
                    on:scroll=move |_| scrolled()
                    on:pointermove=move |_| send(FeedCommand::Pointer(true))
                    on:pointerleave=move |_| send(FeedCommand::Pointer(false))
                >
                    {move || (newer() > 0).then(|| view! {
                        <button class="newer" data-testid="feed-newer" on:click=move |_| send(FeedCommand::Newest)>
                            {move || format!("▲ {} newer", newer())}
                        </button>
                    })}
                    {move || Some(later()).filter(|words| !words.is_empty()).map(|words| view! {
                        <p class="feed-later" data-testid="feed-later">{words}", not shown here"</p>
                    })}
                    {move || Some(empty()).filter(|words| !words.is_empty()).map(|words| view! {
                        <p class="empty" data-testid="feed-empty">{words}</p>
                    })}
                    <div class="feed-length" style:height=height>
                        <ol class="feed-rows" style:transform=offset>
                            {places(count, move |place| view! { <Row place screen commands /> }.into_any())}
                        </ol>
                    </div>
                </div>
                <div class="feed-side">
                    <Span screen commands />
                </div>
            </div>
        </section>
    }
}

/// The id of the row at a place.
fn row_id(place: usize) -> String {
    format!("feed-row-{place}")
}

#[component]
fn Bar(screen: Screen, commands: Commands) -> impl IntoView {
    let frame = screen.feed.frame;
    let filter = move |(label, text, title): (&'static str, &'static str, &'static str)| {
        let is_on = move || screen.header.route.with(|route| route.text == text);
        view! {
            <button
                title=title
                data-testid=format!("feed-{}", label.replace(' ', "-"))
                aria-pressed=move || is_on().to_string()
                on:click=move |_| commands.send(Command::Filter(text.to_owned()))
            >
                {label}
            </button>
        }
    };
    let title = move || {
        screen.header.route.with(|route| {
            let what = if route.net { "What is different" } else { "What changed" };
            match route.is_everything() {
                true => String::from(what),
                false => format!("{what}: {}", screen.header.subject.with(|subject| subject.title.clone())),
            }
        })
    };
    let counts = move || frame.with(|frame| frame.words.clone());
    let span = move || {
        let words = |span: &SpanModel| if span.is_net { span.times.clone() } else { format!("only {}", span.times) };
        screen.feed.span.with(|span| span.as_ref().map(words))
    };
    let noise = Memo::new(move |_| frame.with(|frame| frame.noise.clone()));
    let (menu, _) = closing_menu();
    let marked = move |(number, words): (usize, String)| {
        view! {
            <li>
                <code>{words.clone()}</code>
                <button
                    title="show it again"
                    aria-label=format!("show it again: {words}")
                    on:click=move |_| commands.send(Command::Feed(FeedCommand::NoNoise(number)))
                >
                    "✕"
                </button>
            </li>
        }
    };
    view! {
        <div class="title-bar feed-bar">
            <h1 title=title>{title}</h1>
            <span class="num dim" data-testid="feed-counts" title=counts>{counts}</span>
            <span class="feed-inferred" title=move || frame.with(writers_title)>
                {move || if frame.with(|frame| frame.is_known) { "writers from the audit log, else inferred" } else { "writers are inferred" }}
            </span>
            <span class="num waiting-words" data-testid="feed-waiting" role="status">{move || frame.with(|frame| frame.waiting.clone())}</span>
            {move || span().map(|times| view! {
                <span class="feed-span" data-testid="feed-span">
                    <time>{times}</time>
                    <button
                        title="the feed of all times (Esc)"
                        data-testid="feed-span-clear"
                        on:click=move |_| commands.send(Command::Span(SpanCommand::Clear))
                    >
                        "all times"
                    </button>
                </span>
            })}
            <span class="grow"></span>
            {FILTERS.map(filter).collect_view()}
            {move || Some(noise.get()).filter(|noise| !noise.is_empty()).map(|noise| view! {
                <details class="menu noise-menu" data-testid="feed-noise" node_ref=menu>
                    <summary class="button">{format!("noise: {} ▾", noise.len())}</summary>
                    <div class="menu-list">
                        <p class="menu-head">"Folded, because you called it noise"</p>
                        <ul>{noise.into_iter().enumerate().map(marked).collect_view()}</ul>
                    </div>
                </details>
            })}
            <NotifyMe screen commands />
            <button
                data-testid="feed-table"
                title="the table of these kinds"
                on:click=move |_| commands.send(Command::ToggleChanges)
            >
                "Table"
            </button>
        </div>
    }
}

/// Where it is known from who wrote.
fn writers_title(frame: &FeedFrame) -> String {
    match &*frame.log {
        "" => String::from("from the times and fields of metadata.managedFields"),
        log => format!("{log}; else from the times and fields of metadata.managedFields"),
    }
}

/// One row, whichever stands at this place.
#[component]
fn Row(place: usize, screen: Screen, commands: Commands) -> impl IntoView {
    let row = Memo::new(move |_| screen.feed.window.with(|window| window.rows.get(place).cloned().unwrap_or_default()));
    let read = move |get: fn(&FeedRow) -> String| move || row.with(get);
    let height = move || screen.feed.window.with(|window| window.heights.get(place).copied().unwrap_or_default());
    // Each second a row is as much older, and only its age is written anew.
    let words = Memo::new(move |_| row.with(|row| row.words.clone()));
    let below = Memo::new(move |_| row.with(|row| row.below.clone()));
    let subject =
        Memo::new(move |_| row.with(|row| [&row.kind, &row.name, &row.name_end, &row.href].map(String::clone)));
    let opens = Memo::new(move |_| row.with(|row| (row.opens, row.is_open, row.repetition.clone(), row.more.clone())));
    let noise = Memo::new(move |_| row.with(|row| row.noise.clone()));
    let note = Memo::new(move |_| row.with(|row| row.note));
    let rollout = Memo::new(move |_| row.with(|row| [row.rollout.clone(), format!("{}{}", row.name, row.name_end)]));
    let pieces = |pieces: Memo<Vec<Piece>>| {
        let piece = |piece: Piece| view! { <span data-what=piece.what data-tone=piece.tone.name()>{piece.text}</span> };
        move || pieces.get().into_iter().map(piece).collect_view()
    };
    let send = move |command| commands.send(command);
    let open = move |_| send(Command::Feed(FeedCommand::Open(row.with_untracked(|row| row.id))));
    let mark = move |_| send(Command::Feed(FeedCommand::OfferNoise(Some(row.with_untracked(|row| row.id)))));
    let is_in_hand = move || screen.feed.window.with(|window| window.hand == Some(place));
    let rewind = move |_| send(Command::Rewind(RewindCommand::To(row.with_untracked(|row| row.at))));
    let around = move |_| send(Command::Span(SpanCommand::Around(row.with_untracked(|row| row.at))));
    view! {
        <li
            class="feed-row"
            id=row_id(place)
            data-hand=move || is_in_hand().then_some("true")
            data-testid=move || row.with(|row| if row.what.starts_with("past") { "feed-past" } else { "feed-row" })
            data-what=move || row.with(|row| row.what)
            data-depth=move || row.with(|row| row.depth).to_string()
            data-ordinary=move || row.with(|row| row.is_ordinary).to_string()
            style:height=move || format!("{}px", height())
            style:padding-left=move || format!("{}px", 14 + 18 * u32::from(row.with(|row| row.depth)))
        >
            <div class="feed-line">
                <span
                    class="feed-sign"
                    data-delta=move || row.with(|row| row.delta.0)
                    data-tone=move || row.with(|row| row.tone).name()
                    title=move || row.with(|row| row.delta.0)
                >
                    {move || row.with(|row| row.delta.1)}
                </span>
                <span class="feed-subject" data-long=move || subject.with(|[kind, name, end, _]| kind.len() + name.len() + end.len() > 16).to_string()>
                    {move || {
                        let [kind, name, end, href] = subject.get();
                        let title = format!("{kind} {name}{end}");
                        let name = view! { <span class="name-head">{name}</span><span class="name-end">{end}</span> };
                        let name = match href.is_empty() {
                            true => view! { <b>{name}</b> }.into_any(),
                            false => view! { <a href=href>{name}</a> }.into_any(),
                        };
                        view! { <span class="feed-kind">{kind}</span> <span class="feed-name" title=title>{name}</span> }
                    }}
                </span>
                <span class="feed-words" title=read(|row| row.whole.clone())>{pieces(words)}</span>
                <span class="grow"></span>
                <span class="feed-writers" title=read(|row| if row.how.is_empty() { row.writers.clone() } else { row.how.clone() })>{read(|row| row.writers.clone())}</span>
                <span class="feed-age" data-at=move || row.with(|row| row.at)>{read(|row| row.age.clone())}</span>
            </div>
            <div class="feed-line feed-below">
                <span class="feed-words" title=read(|row| row.whole.clone())>{pieces(below)}</span>
                <span class="grow"></span>
                <span class="feed-hover">
                    {move || note.get().map(|id| view! {
                        <button
                            class="on-hover"
                            data-testid="feed-note"
                            title="change the note, or remove it"
                            on:click=move |_| send(Command::Recording(RecordingCommand::Note(NoteCommand::Change(id))))
                        >
                            "change"
                        </button>
                    })}
                    <button class="on-hover" data-testid="feed-rewind" title="show the page as it was then" on:click=rewind>
                        "◀◀ rewind"
                    </button>
                    <button class="on-hover" data-testid="feed-around" title="what else changed within 2 s of this?" on:click=around>
                        "± 2 s"
                    </button>
                    {move || Some(noise.get()).filter(|path| !path.is_empty()).map(|path| view! {
                        <button
                            class="on-hover"
                            data-testid="feed-as-noise"
                            aria-haspopup="menu"
                            title=format!("fold {path} as noise: of this object, or of its kind")
                            on:click=mark
                        >
                            "noise"
                        </button>
                    })}
                </span>
                {move || Some(opens.get()).filter(|(opens, ..)| *opens).map(|(_, is_open, repetition, more)| view! {
                    <button
                        class="repetition"
                        data-testid="feed-open"
                        aria-expanded=is_open.to_string()
                        title="all that this row says in short"
                        on:click=open
                    >
                        {[repetition, more].into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(", ")}
                        {if is_open { " ▾" } else { " ▸" }}
                    </button>
                })}
                {move || Some(rollout.get()).filter(|[href, _]| !href.is_empty()).map(|[href, name]| view! {
                    <a class="feed-rollout" data-testid="feed-rollout" href=href aria-label=format!("the rollout of {name}")>"rollout"</a>
                })}
                <span class="feed-unknown">{move || row.with(|row| row.unknown)}</span>
                <time data-at=move || row.with(|row| row.at)>{read(|row| row.time.clone())}</time>
            </div>
        </li>
    }
}
