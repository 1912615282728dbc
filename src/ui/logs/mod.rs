//! A log: the lines of a Pod's containers, or of several Pods, among the changes. Only the rows in sight are in the document.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;

use kubechurn_model::logs::command::LogCommand;
use kubechurn_model::page::command::Command;
use kubechurn_model::rewind::banner::RewindCommand;
use kubechurn_model::view::logs::{LINE, LogModel, LogRow, LogSource};

use crate::ui::parts::each;
use crate::ui::screen::{Commands, Screen};
use crate::ui::sized::on_size;
use crate::ui::values::Memo;

/// The tab of the inspector.
#[component]
pub fn LogTab(screen: Screen, commands: Commands) -> impl IntoView {
    let is_shown = Memo::new(move |_| screen.inspector.log.with(|log| log.is_open && !log.is_of_incident));
    view! { <Show when=move || is_shown.get()><Log screen commands /></Show> }
}

/// The section of an incident. Nothing is read before the user asks for it.
#[component]
pub fn LogSection(screen: Screen, commands: Commands) -> impl IntoView {
    let is_shown = Memo::new(move |_| screen.inspector.log.with(|log| log.is_open && log.is_of_incident));
    view! {
        <section class="why-log" aria-label="Log, on the same clock" data-testid="why-log">
            <h2>"Log, on the same clock"
                <Show when=move || !is_shown.get()>
                    <button class="small" data-testid="why-log-open"
                        on:click=move |_| commands.send(Command::Logs(LogCommand::Open))>"Read the log"</button>
                </Show>
            </h2>
            <Show when=move || is_shown.get()><Log screen commands /></Show>
        </section>
    }
}

#[component]
fn Log(screen: Screen, commands: Commands) -> impl IntoView {
    let log = screen.inspector.log;
    let send = move |command: LogCommand| commands.send(Command::Logs(command));
    let of = move |get: fn(&LogModel) -> String| Memo::new(move |_| log.with(get));
    let is = move |get: fn(&LogModel) -> bool| Memo::new(move |_| log.with(get));
    let sources = Memo::new(move |_| log.with(|log| log.sources.clone()));
    let notes = Memo::new(move |_| log.with(|log| log.notes.clone()));
    let (kept, filter) = (of(|log| log.kept.clone()), of(|log| log.filter.clone()));
    let (keeps, can_ask, is_end) = (is(|log| log.keeps), is(|log| log.can_ask_again), is(|log| log.is_end_only));
    let place = NodeRef::<html::Div>::new();
    let scrolled = scrolling(screen, commands, place);
    on_size(place, scrolled);
    let row = move |(_, row): (u64, LogRow)| row_view(row, commands);
    view! {
        <div class="log" data-testid="log" data-total=move || log.with(|log| log.total)
            data-received=move || log.with(|log| log.counts.0) data-dropped=move || log.with(|log| log.counts.2)>
            <div class="log-bar">
                <input type="search" id="log-filter" data-testid="log-filter-field" aria-label="words that lines must have" placeholder="words of a line"
                    prop:value=move || filter.get()
                    on:input=move |event| send(LogCommand::Filter(event_target_value(&event))) />
                <button data-testid="log-keep" aria-pressed=move || keeps.get().to_string()
                    title="read on while the log is not in sight"
                    on:click=move |_| send(LogCommand::Keep(!keeps.get_untracked()))>"Keep following"</button>
                <Show when=move || is_end.get()>
                    <button data-testid="log-whole" title="only the last lines were asked for"
                        on:click=move |_| send(LogCommand::Whole)>"All of it"</button>
                </Show>
                <Show when=move || can_ask.get()>
                    <button data-testid="log-again" on:click=move |_| send(LogCommand::Again)>"Ask again"</button>
                </Show>
                <button data-testid="log-save" title="save the lines that are shown as a text file"
                    on:click=move |_| send(LogCommand::Save)>"Save"</button>
                <span class="log-kept num" data-testid="log-kept">{move || kept.get()}</span>
            </div>
            <div class="log-sources" role="group" aria-label="containers">
                {move || sources.get().into_iter().map(|source| source_view(source, commands)).collect_view()}
            </div>
            <ul class="log-notes" data-testid="log-notes">
                {move || notes.get().into_iter().map(|words| view! { <li>{words}</li> }).collect_view()}
            </ul>
            <div class="log-scroll" node_ref=place tabindex="0" role="group" aria-label="lines" data-testid="log-scroll"
                on:scroll=move |_| scrolled()>
                <div class="log-space" style:height=move || format!("{}px", log.with(|log| log.total) as f64 * LINE)
                    style=("--log-line", format!("{LINE}px"))>
                    <div class="log-rows" data-testid="log-rows"
                        style:transform=move || format!("translateY({}px)", log.with(|log| log.first) as f64 * LINE)>
                        {each(
                            move || log.with(|log| {
                                let from = log.gone + log.first as u64;
                                (from..).zip(log.rows.iter().cloned()).collect::<Vec<_>>()
                            }),
                            |(place, row)| (*place, row.is_later, row.time.clone(), row.text.clone()),
                            move |one| row(one).into_any(),
                        )}
                    </div>
                </div>
            </div>
        </div>
    }
}

/// Keeps the rows where they are while others come and go, and reports to the page which ones are in sight.
fn scrolling(screen: Screen, commands: Commands, place: NodeRef<html::Div>) -> impl Fn() + Copy + 'static {
    let log = screen.inspector.log;
    let (last, reported) = (StoredValue::new(0.0_f64), StoredValue::new(0.0_f64));
    let report = move || {
        let Some(element) = place.get_untracked() else { return };
        let (top, height) = (f64::from(element.scroll_top()), f64::from(element.client_height()));
        // What comes makes the rows longer, and never scrolls them up: only the user does.
        let went_up = top < last.get_value() - 1.0;
        let is_near = top + height >= f64::from(element.scroll_height()) - LINE;
        let is_at_end = is_near || (!went_up && log.with_untracked(|log| log.is_at_end));
        last.set_value(top);
        // At the end nothing is asked by each line that comes.
        let is_same = log.with_untracked(|log| log.is_at_end) && is_at_end && height == reported.get_value();
        reported.set_value(height);
        if is_same {
            return;
        }
        commands.send(Command::Logs(LogCommand::Scroll { top, height, is_at_end }));
    };
    let place_of = Memo::new(move |_| log.with(|log| (log.total, log.gone, log.is_at_end, log.scroll)));
    Effect::new(move |before: Option<(u64, u32)>| {
        let (_, gone, is_at_end, (times, top)) = place_of.get();
        request_animation_frame(move || {
            let Some(element) = place.get_untracked() else { return };
            let to = match before {
                Some((_, scrolled)) if scrolled != times => Some(top as i32),
                None if times > 0 && !is_at_end => Some(top as i32),
                _ if is_at_end => Some(element.scroll_height()),
                Some((was, _)) if gone > was => Some(element.scroll_top() - ((gone - was) as f64 * LINE) as i32),
                _ => None,
            };
            if let Some(to) = to {
                last.set_value(0.0);
                element.set_scroll_top(to);
                last.set_value(f64::from(element.scroll_top()));
            }
        });
        (gone, times)
    });
    report
}

fn source_view(source: LogSource, commands: Commands) -> impl IntoView {
    let (number, is_only) = (source.number, source.is_only);
    let choose = move |_: ev::MouseEvent| {
        commands.send(Command::Logs(LogCommand::Only((!is_only).then_some(number))));
    };
    view! {
        <button class="log-source" data-testid="log-source" data-state=source.state aria-pressed=is_only.to_string()
            title=source.words on:click=choose>{source.name}</button>
    }
}

fn row_view(row: LogRow, commands: Commands) -> impl IntoView {
    let at = row.at;
    let rewind = move |_: ev::MouseEvent| commands.send(Command::Rewind(RewindCommand::To(at)));
    let is_change = row.what == "change";
    view! {
        <div class="log-row" data-testid="log-row" data-what=row.what data-later=row.is_later.then_some("true")>
            {(!row.after.is_empty()).then(|| view! { <span class="log-after num">{row.after}</span> })}
            {(!row.time.is_empty()).then(|| view! {
                <button class="log-time num" data-testid="log-time" data-at=at title="show this moment" on:click=rewind>{row.time}</button>
            })}
            {is_change.then(|| view! { <span class="log-sign" role="img" aria-label="a change">"●"</span> })}
            {(!row.source.is_empty()).then(|| view! { <span class="log-of">{row.source}</span> })}
            {match row.href.is_empty() {
                false => view! { <a class="log-text" href=row.href>{row.text}</a> }.into_any(),
                true => view! { <span class="log-text">{row.text}</span> }.into_any(),
            }}
            {(!row.cut.is_empty()).then(|| view! { <span class="log-cut">{row.cut}</span> })}
        </div>
    }
}
