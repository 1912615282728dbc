//! The footer: in words, whether what is shown is what the server has. The figures behind the words are one click away.

use leptos::html;
use leptos::prelude::*;

use kubechurn_model::kept::KeepCommand;
use kubechurn_model::page::command::{Command, List};
use kubechurn_model::recording::RecordingCommand;
use kubechurn_model::view::{NoticeItem, Pipeline};

use crate::ui::screen::{Commands, Screen};
use crate::ui::verification::VerifiedList;
use crate::ui::watches::WatchList;

/// What is shown is true, or this says what is not.
#[component]
pub fn Footer(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let balanced = move || screen.footer.pipeline.with(|pipeline| pipeline.balanced);
    view! {
        <footer class="footer" data-testid="pipeline">
            <VerifiedList screen commands />
            <span
                class="ledger"
                data-testid="ledger"
                data-balanced=move || balanced().to_string()
                title=move || screen.footer.pipeline.with(|pipeline| pipeline.ledger.clone())
            >
                {move || if balanced() { "nothing lost" } else { "the sums do not balance" }}
            </span>
            <span class="arrow">"·"</span>
            <NoticeList screen commands />
            <WatchList screen commands />
            {move || Some(screen.footer.drain.get()).filter(|words| !words.is_empty()).map(|words| view! {
                <span
                    class="drain"
                    data-testid="drain"
                    title="?drain= in the address says so; without it, a frame takes what there is time for"
                >
                    {words}
                </span>
            })}
            {move || Some(screen.footer.kept.get()).filter(|kept| !kept.is_empty()).map(|kept| view! {
                <button
                    class="keeps"
                    data-testid="keeps"
                    title="what this page receives is kept in this browser"
                    on:click=move |_| commands.send(Command::Recording(RecordingCommand::Keep(KeepCommand::List)))
                >
                    "keeps " {kept}
                </button>
            })}
            <button
                class="clock"
                data-testid="clock"
                title="the clock by which times are shown: local, UTC, or local with the name of its zone (z)"
                on:click=move |_| commands.send(Command::ToggleZone)
            >
                {move || screen.footer.clock.get()}
            </button>
            <Figures screen />
        </footer>
    }
}

/// What goes through the pipeline, and what it takes.
#[component]
fn Figures(screen: Screen) -> impl IntoView {
    let list = NodeRef::<html::Details>::new();
    let open = RwSignal::new(false);
    let toggled = move |_| open.set(list.get_untracked().is_some_and(|list| list.open()));
    let figures = move || {
        screen.footer.pipeline.with(|pipeline| {
            let Pipeline { listed, frames, keys, deltas, ratio, page, version, memory, .. } = pipeline;
            let version = if version.is_empty() { "each watch has its own" } else { version };
            let mut rows = vec![
                ("list", "listed", listed.clone(), "objects that complete lists brought"),
                ("watch", "received", format!("{frames} frames/s"), "events of all watches"),
                (
                    "queue",
                    "waiting",
                    format!("{keys} objects, {deltas} deltas"),
                    "what is received and not yet applied",
                ),
                ("pop", "folded", format!("{ratio} deltas into one"), "deltas received for each one that is applied"),
                ("page", "drawn", format!("{page} times/s"), "how often the rows are changed"),
                ("rv", "version", version.to_owned(), "the newest resourceVersion that was received"),
            ];
            rows.extend(memory.iter().map(|words| ("memory", "memory", words.clone(), "what is kept in this page")));
            rows
        })
    };
    let row = |(field, label, value, title): (&'static str, &'static str, String, &'static str)| {
        view! { <tr data-field=field title=title><th scope="row">{label}</th><td class="num">{value}</td><td>{title}</td></tr> }
    };
    view! {
        <details class="notices figures" data-testid="figures" node_ref=list on:toggle=toggled>
            <summary title="what goes through the pipeline, and what memory it takes">"figures ▴"</summary>
            <div>
                <table>
                    <tbody>{move || open.get().then(|| figures().into_iter().map(row).collect_view())}</tbody>
                </table>
            </div>
        </details>
    }
}

/// What the page had to say of itself, newest first.
#[component]
fn NoticeList(screen: Screen, commands: Commands) -> impl IntoView {
    let list = NodeRef::<html::Details>::new();
    let toggled = move |_| {
        let open = list.get_untracked().is_some_and(|list| list.open());
        commands.send(Command::List(List::Notices, open));
    };
    let summary = move || {
        screen.footer.notices.with(|notices| match (&*notices.behind, notices.total) {
            ("", 0) => String::from("no notices"),
            ("", 1) => String::from("1 notice"),
            ("", total) => format!("{total} notices"),
            (behind, _) => format!("behind by {behind}"),
        })
    };
    let item = |item: NoticeItem| {
        view! {
            <li data-type=item.word>
                <b>{item.word}</b>
                <span class="about">{item.subject}</span>
                <span class="age">{item.age} " ago"</span>
                <p>{item.words}</p>
            </li>
        }
    };
    view! {
        <details class="notices" data-testid="notices" node_ref=list on:toggle=toggled>
            <summary data-behind=move || screen.footer.notices.with(|notices| !notices.behind.is_empty()).to_string()>
                {summary} " ▴"
            </summary>
            <ol>
                {move || screen.footer.notices.with(|notices| match notices.total {
                    0 if !notices.behind.is_empty() => view! {
                        <li><p>"More comes than is shown at once. What remains is announced here when that is over."</p></li>
                    }.into_any(),
                    0 => view! { <li><p>"Nothing has gone wrong so far: no relist, no gap, nothing refused."</p></li> }.into_any(),
                    _ => notices.items.iter().cloned().map(item).collect_view().into_any(),
                })}
            </ol>
        </details>
        <span class="arrow">"·"</span>
    }
}
