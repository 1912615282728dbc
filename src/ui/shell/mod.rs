//! The frame of the page, and its header.

pub mod edge;
pub mod filter;
pub mod footer;
pub mod help;
pub mod palette;
pub mod sidebar;
pub mod theme;

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use kubechurn_model::kept::KeepCommand;
use kubechurn_model::navigation::clusters::ClusterPage;
use kubechurn_model::page::command::{Command, Rows};
use kubechurn_model::recording::RecordingCommand;
use kubechurn_model::shell::panel::Panel;
use kubechurn_model::view::{Source, Theme};

use crate::ui::feed::Feed;
use crate::ui::feed::alerts::marked;
use crate::ui::focus;
use crate::ui::inside::Inside;
use crate::ui::inside::embed::Embed;
use crate::ui::inspector::Inspector;
use crate::ui::navigation::selectors::Selectors;
use crate::ui::parts::{Part, each, once, part};
use crate::ui::recording::{KeptList, NoteField, Save};
use crate::ui::rewind::Rewind;
use crate::ui::screen::{Commands, Screen};
use crate::ui::shell::filter::Filter;
use crate::ui::shell::footer::Footer;
use crate::ui::shell::help::Help;
use crate::ui::shell::palette::{Palette, PaletteButton, modal};
use crate::ui::shell::sidebar::Sidebar;
use crate::ui::table::Table;
use crate::ui::timeline::Timeline;
use crate::ui::values::Memo;
use crate::ui::watches::health::Health;
use crate::ui::why::Why;
use crate::ui::writers::Writers;

/// Where the lessons begin.
const LESSONS: &str = "#/inside?kind=pods&lesson=list";

/// The whole page, or what another page embeds of it.
#[component]
pub fn Shell(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    if screen.header.embed.with_untracked(Option::is_some) {
        return view! { <Embed screen commands /> }.into_any();
    }
    Effect::new(move |_| document().set_title(&marked(&screen.header.title.get())));
    let shell = NodeRef::<html::Div>::new();
    // A lesson needs no cluster.
    let is_splash = move || {
        let stands_alone = screen.header.inside.with(|model| model.as_ref().is_some_and(|model| model.stands_alone));
        !stands_alone && screen.header.splash.with(Option::is_some)
    };
    let is_inside = Memo::new(move |_| screen.header.inside.with(Option::is_some));
    // Where the window is narrow, the kinds are behind a button, until one is chosen.
    let kinds = RwSignal::new(false);
    Effect::new(move |_| {
        screen.header.route.track();
        kinds.set(false);
    });
    // On the shell and not on the document, because narrow windows have defaults of their own on the shell.
    Effect::new(move |_| {
        let Some(shell) = shell.get() else { return };
        let style = web_sys::HtmlElement::style(&shell);
        for panel in Panel::ALL {
            let _ = match screen.header.sizes.with(|sizes| sizes.of(panel).chosen) {
                Some(size) => style.set_property(panel.css_variable(), &format!("{size}px")),
                None => style.remove_property(panel.css_variable()).map(drop),
            };
        }
    });
    let is_why = move || screen.feed.why.with(Option::is_some);
    view! {
        <div
            class="shell"
            node_ref=shell
            data-kinds=move || kinds.get().then_some("open")
            data-timeline=move || screen.timeline.fills.get().then_some("fills")
            inert=is_splash
            data-inside=move || is_inside.get().then_some("open")
            data-inspector=move || screen.inspector.inspected.with(|one| one.is_some().then_some("open"))
        >
            <SkipLinks screen />
            <Header kinds screen commands />
            <Rewind screen commands />
            <div class="backdrop" on:click=move |_| kinds.set(false)></div>
            {part(Part::Sidebar, screen, move || view! { <Sidebar screen commands /> })}
            <main class="main" data-view=move || match () {
                () if is_inside.get() => "inside",
                () if is_why() => "why",
                () if screen.feed.shown.get() => "changes",
                () => "table",
            }>
                {part(Part::Table, screen, move || view! { <Table screen commands /> })}
                {once(move || screen.feed.shown.get(), move || view! { <Feed screen commands /> })}
                {once(is_why, move || view! { <Why screen commands /> })}
                {move || is_inside.get().then(|| view! { <Inside screen commands /> })}
            </main>
            {part(Part::Timeline, screen, move || view! { <Timeline screen commands /> })}
            {part(Part::Footer, screen, move || view! { <Inspector screen commands /> <Footer screen commands /> })}
        </div>
        {once(move || screen.dialogs.palette.with(Option::is_some), move || view! { <Palette screen commands /> })}
        {once(move || screen.dialogs.help.get(), move || view! { <Help screen commands /> })}
        {once(move || screen.dialogs.health.with(Option::is_some), move || view! { <Health screen commands /> })}
        {once(move || screen.dialogs.writers.with(Option::is_some), move || view! { <Writers screen commands /> })}
        {once(move || screen.dialogs.save.with(Option::is_some), move || view! { <Save screen commands /> })}
        {once(move || screen.dialogs.kept.with(Option::is_some), move || view! { <KeptList screen commands /> })}
        {once(move || screen.dialogs.note.with(Option::is_some), move || view! { <NoteField screen commands /> })}
        {once(move || screen.header.question.with(Option::is_some), move || view! { <Question screen commands /> })}
        <p class="hidden-text" role="status" data-testid="said">{move || screen.dialogs.spoken.get()}</p>
        <p class="told" role="status" data-testid="told">{move || screen.dialogs.message.get()}</p>
        {move || screen.header.splash.get().filter(|_| is_splash()).map(|splash| view! {
            <div class="splash" data-testid="splash" role="alert">
                {(!splash.recordings.is_empty()).then(|| view! {
                    <h1>"Recordings beside this page"</h1>
                    <ul data-testid="splash-recordings">
                        {splash.recordings.into_iter()
                            .map(|(title, href)| view! { <li><a href=href>{title}</a></li> })
                            .collect_view()}
                    </ul>
                })}
                <h1>"No API server answers"</h1>
                <p>"kubechurn watches a cluster through a proxy on this machine. Tried:"</p>
                <ul>
                    {splash.tried.into_iter()
                        .map(|(address, words)| view! { <li><code>{address}</code> " " {words}</li> })
                        .collect_view()}
                </ul>
                <p>"Start one of these, and this page goes on by itself:"</p>
                <pre>{HELP}</pre>
                <p>
                    "Or look at a recording: "
                    <button data-testid="splash-open" on:click=move |_| commands.send(Command::Recording(RecordingCommand::Open))>
                        "Open a .churn file"
                    </button>
                    ", or drop it here; or at one that is "
                    <button data-testid="splash-kept" on:click=move |_| commands.send(Command::Recording(RecordingCommand::Keep(KeepCommand::List)))>
                        "kept in this browser"
                    </button>
                    "."
                </p>
                <p>
                    "Or read, without any cluster, "
                    <a data-testid="splash-lessons" href=LESSONS>"how list, watch and informers work, in eight lessons"</a>
                    "."
                </p>
                {clusters(screen, commands).map(|menu| view! { <p>"Or go to another cluster: " {menu}</p> })}
            </div>
        })}
    }
    .into_any()
}

/// What a keyboard comes to first: the ways past all controls to the rows in sight.
#[component]
fn SkipLinks(screen: Screen) -> impl IntoView {
    let link = |rows: Rows, words: &'static str, is_there: Signal<bool>| {
        let skip = move |_| focus::rows(rows);
        view! { <button class="skip" hidden=move || !is_there.get() on:click=skip>{words}</button> }
    };
    let is_inside = move || screen.header.inside.with(Option::is_some);
    let shown = move || screen.feed.shown.get();
    let fills = move || screen.timeline.fills.get() || is_inside();
    view! {
        <nav class="skips" aria-label="Skip" data-testid="skips">
            {link(Rows::Feed, "Skip to the changes", Signal::derive(move || shown() && !fills()))}
            {link(Rows::Table, "Skip to the table", Signal::derive(move || !shown() && !fills()))}
            {link(Rows::Lanes, "Skip to the timeline", Signal::derive(move || !is_inside()))}
            {link(Rows::Inside, "Skip to the step", Signal::derive(is_inside))}
        </nav>
    }
}

const HELP: &str = "./dev serve          # finds a cluster, or starts the demo cluster
kubectl proxy        # beside `trunk serve`: your kubectl's current context
./dev build          # builds the page, and says how kubectl serves page and API from one port";

/// Asks whether the page may connect to an API on another machine. The page's address names that API, so whoever made the
/// link has chosen it. Nothing is sent there before the user agrees.
#[component]
fn Question(screen: Screen, commands: Commands) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    modal(dialog, move || screen.header.question.with(Option::is_some));
    let host = move || screen.header.question.get().unwrap_or_default();
    let answer = move |allowed: bool| commands.send(Command::Connect(allowed));
    // A dialog that is closed while the question is open counts as a No.
    let closed = move |_| {
        if screen.header.question.with_untracked(Option::is_some) {
            answer(false);
        }
    };
    view! {
        <dialog
            class="dialog question"
            role="alertdialog"
            aria-labelledby="question-title"
            aria-describedby="question-words"
            data-testid="ask-api"
            node_ref=dialog
            on:close=closed
            on:keydown=move |event| event.stop_propagation()
        >
            <h2 id="question-title">"Connect to another machine?"</h2>
            <div id="question-words">
                <p>"The address of this page names an API that is not on this machine:"</p>
                <p><code data-testid="ask-api-origin">{host}</code></p>
                <p>
                    "If you connect, the page sends there what it asks for: which kinds, namespaces and objects you \
                     look at, and your selectors. It sends no password or token. Whatever that server answers is \
                     shown as your cluster. If you do not know the address, do not connect."
                </p>
            </div>
            <div class="buttons">
                <button data-testid="ask-api-no" autofocus on:click=move |_| answer(false)>"Do not connect"</button>
                <button data-testid="ask-api-yes" on:click=move |_| answer(true)>"Connect"</button>
            </div>
        </dialog>
    }
}

#[component]
fn Header(kinds: RwSignal<bool>, screen: Screen, commands: Commands) -> impl IntoView {
    let pause = move |_| commands.send(Command::TogglePause);
    let theme = move |_| commands.send(Command::ToggleTheme);
    let detail = move || {
        screen.header.connection.with(|connection| match (connection.state, &*connection.detail) {
            ("rewound", now) => format!("· {now}"),
            (_, detail) => detail.to_owned(),
        })
    };
    let title = move || {
        let state = screen.header.connection.with(|connection| connection.state);
        let more = if state == "live" { ". Each watch heard from the server within this time." } else { "" };
        format!("{state} {}{more}", detail())
    };
    view! {
        <header class="header">
            <button
                class="kinds"
                data-testid="kinds"
                aria-label="kinds"
                aria-controls="kinds"
                aria-expanded=move || kinds.get().to_string()
                on:click=move |_| kinds.update(|open| *open = !*open)
            >
                "☰"
            </button>
            <div class="home">
                <div class="brand">
                    <svg viewBox="0 0 34 12" aria-hidden="true">
                        <path d="M1 11 6 1l5 10z" fill="var(--added)" />
                        <circle cx="17" cy="6.5" r="4" fill="var(--updated)" />
                        <path d="m25 2 8 9m0-9-8 9" stroke="var(--deleted)" stroke-width="2" fill="none" />
                    </svg>
                    "kubechurn"
                </div>
                <SourceLabel screen commands />
            </div>
            {move || beside(screen, commands)}
            <NamespaceMenu screen commands />
            <Filter screen commands />
            <Selectors screen commands />
            <div
                class="connection"
                data-testid="connection"
                data-state=move || screen.header.connection.with(|connection| connection.state)
                data-paused=move || screen.header.paused.get().to_string()
                title=title
            >
                <span class="dot" aria-hidden="true"></span>
                <span>{move || if screen.header.paused.get() { "paused" } else { screen.header.connection.with(|connection| connection.state) }}</span>
                <span class="num">{detail}</span>
            </div>
            <button data-testid="pause" aria-pressed=move || screen.header.paused.get().to_string() on:click=pause>
                {move || if screen.header.paused.get() { "Go live" } else { "Pause" }}
            </button>
            <button data-testid="theme" on:click=theme aria-label="dark or light">
                {move || if screen.header.theme.get() == Theme::Dark { "Light" } else { "Dark" }}
            </button>
            <PaletteButton commands />
        </header>
    }
}

/// The address of the API, once it was found, and the way to other clusters, where there are some.
#[component]
fn SourceLabel(screen: Screen, commands: Commands) -> impl IntoView {
    let found = move || Some(screen.header.source.get()).filter(|source| !source.address.is_empty());
    let label = |Source { cluster, address, unreadable }: Source| {
        let title = format!("The API that this page asks, at {address}. {cluster}");
        view! {
            <span class="source" data-testid="api" title=title.trim_end().to_owned()>
                {(!cluster.is_empty()).then(|| view! { <b data-testid="cluster">{cluster}</b> " " })}
                <span class="mono">{address}</span>
                {unreadable.then(|| view! { " " <span class="limits" data-testid="api-limits" title=STREAMS>"streams only"</span> })}
            </span>
        }
    };
    view! {
        <div class="origin">
            {move || clusters(screen, commands)}
            {move || found().map(label)}
        </div>
    }
}

/// The clusters to choose from, if there are several. Each has a page of its own, so the one that is chosen takes the place of
/// this one.
fn clusters(screen: Screen, commands: Commands) -> Option<impl IntoView> {
    let all = Some(screen.header.clusters.get()).filter(|clusters| clusters.len() > 1)?;
    let option = |ClusterPage { name, page, is_own, .. }: ClusterPage| view! { <option value=page selected=is_own>{name}</option> };
    Some(view! {
        <select
            class="clusters"
            data-testid="clusters"
            aria-label="cluster"
            title="go to the same place of another cluster"
            on:change=move |event| commands.send(Command::Cluster(event_target_value(&event)))
        >
            {all.into_iter().map(option).collect_view()}
        </select>
    })
}

/// The clusters whose objects can be shown beside those of this one, if there are some.
fn beside(screen: Screen, commands: Commands) -> Option<impl IntoView> {
    let all = screen.header.clusters.get().into_iter().filter(|cluster| cluster.api.is_some());
    let names: Vec<String> = all.map(|cluster| cluster.name).collect();
    let count = move || screen.header.route.with(|route| 1 + route.clusters.len());
    let chosen = move || match screen.header.route.with(|route| route.clusters.join(", ")) {
        none if none.is_empty() => String::from("show the objects of other clusters beside those of this one"),
        joined => format!("this cluster, {joined}"),
    };
    let choice = move |name: String| {
        let asked = name.clone();
        let is_chosen = move || screen.header.route.with(|route| route.clusters.contains(&asked));
        let (id, shown) = (format!("beside-{name}"), name.clone());
        let choose = move || {
            let route = screen.header.route.with_untracked(|route| route.beside(&name));
            commands.send(Command::Go(Box::new(route)));
        };
        choice_box(id, shown, is_chosen, choose)
    };
    let (menu, _) = closing_menu();
    (!names.is_empty()).then(|| {
        view! {
            <details class="menu" data-testid="beside" node_ref=menu>
                <summary class="field" title=chosen>
                    "clusters " <b class="mono">{count}</b> " ▾"
                </summary>
                <div class="menu-list">
                    <p>"Show beside this cluster, in one table:"</p>
                    {names.into_iter().map(choice).collect_view()}
                </div>
            </details>
        }
    })
}

/// A name in a menu, with a box before it that says whether it is chosen.
fn choice_box(
    id: String,
    name: String,
    is_chosen: impl Fn() -> bool + Send + 'static,
    choose: impl Fn() + 'static,
) -> impl IntoView {
    view! {
        <label>
            <input type="checkbox" data-testid=id prop:checked=is_chosen on:change=move |_| choose() />
            {name}
        </label>
    }
}

/// What makes the page forget a namespace whose name was typed.
fn forget_button(commands: Commands, name: String) -> impl IntoView {
    let title = format!("forget {name}, which you typed");
    let (handle, label) = (format!("forget-{name}"), title.clone());
    view! {
        <button
            data-testid=handle
            title=title
            aria-label=label
            on:click=move |_| commands.send(Command::ForgetNamespace(name.clone()))
        >
            "×"
        </button>
    }
}

/// A menu that closes when the user presses outside of it, and what closes it.
pub fn closing_menu() -> (NodeRef<html::Details>, impl Fn() + Copy + 'static) {
    let menu = NodeRef::<html::Details>::new();
    let close = move || {
        if let Some(menu) = menu.get_untracked() {
            menu.set_open(false);
        }
    };
    let outside = window_event_listener(ev::pointerdown, move |event| {
        let node = event.target().and_then(|target| target.dyn_into::<web_sys::Node>().ok());
        if !menu.get_untracked().is_some_and(|menu| node.is_some_and(|node| menu.contains(Some(&node)))) {
            close();
        }
    });
    on_cleanup(move || outside.remove());
    (menu, close)
}

/// What is not to be had at an API of another origin without CORS.
const STREAMS: &str = "This API is of another origin, and does not let the page read its answers (CORS): only its WebSockets are of use. \
Lists are streamed. What has to be fetched is missing: kinds that the page does not know by itself, objects that no watch \
brings, the namespaces to choose from, the comparison with the server, and why the server refuses something.";

/// Choosing namespaces: the server's list, and a field for those who may not ask for it.
#[component]
fn NamespaceMenu(screen: Screen, commands: Commands) -> impl IntoView {
    let (menu, close) = closing_menu();
    let chosen = move || {
        screen.header.route.with(|route| match &*route.namespaces {
            [] => String::from("all"),
            namespaces => namespaces.join(", "),
        })
    };
    let letters = RwSignal::new(String::new());
    let toggled = move |_| {
        if let Some(menu) = menu.get_untracked().filter(|menu| menu.open()) {
            commands.send(Command::LoadNamespaces);
            if let Ok(Some(field)) = menu.query_selector("input") {
                focus::give(&field);
            }
        }
    };
    let typed = move |event: ev::KeyboardEvent| match &*event.key() {
        "Enter" => {
            let name = event_target_value(&event).trim().to_owned();
            if !name.is_empty() {
                commands.send(Command::Namespace(name));
                letters.set(String::new());
            }
        }
        "Escape" => {
            event.prevent_default();
            close();
            let summary = menu.get_untracked().and_then(|menu| menu.query_selector("summary").ok().flatten());
            if let Some(summary) = summary.and_then(|summary| summary.dyn_into::<web_sys::HtmlElement>().ok()) {
                let _ = summary.focus();
            }
        }
        _ => {}
    };
    let names = move || {
        let offered = |chosen: &[String]| {
            screen.header.namespaces.with(|known| letters.with(|letters| known.offered(chosen, letters)))
        };
        screen.header.route.with(|route| offered(&route.namespaces))
    };
    view! {
        <details class="menu" data-testid="namespaces" node_ref=menu on:toggle=toggled>
            <summary class="field" title=chosen>"namespaces " <b class="mono">{chosen}</b> " ▾"</summary>
            <div class="menu-list">
                <div class="field">
                    <input aria-label="add a namespace by name" placeholder="name, then Enter" on:keydown=typed
                        prop:value=letters on:input=move |event| letters.set(event_target_value(&event)) />
                </div>
                <label>
                    <input
                        type="checkbox"
                        data-testid="namespace-all"
                        prop:checked=move || screen.header.route.with(|route| route.namespaces.is_empty())
                        on:change=move |_| commands.send(Command::AllNamespaces)
                    />
                    "all namespaces"
                </label>
                {each(names, String::clone, move |name| {
                    let asked = name.clone();
                    let is_chosen = move || screen.header.route.with(|route| route.namespaces.contains(&asked));
                    let (id, shown) = (format!("namespace-{name}"), name.clone());
                    let (all, title) = (name.clone(), format!("everything in {name}: all kinds in one table"));
                    let (handle, label) = (format!("everything-{name}"), title.clone());
                    let (typed, forgotten) = (name.clone(), name.clone());
                    let is_typed = move || screen.header.namespaces.with(|known| known.typed.contains(&typed));
                    view! {
                        <div class="namespace">
                            {choice_box(id, shown, is_chosen, move || commands.send(Command::Namespace(name.clone())))}
                            <button
                                data-testid=handle
                                title=title
                                aria-label=label
                                on:click=move |_| {
                                    close();
                                    commands.send(Command::Everything(all.clone()));
                                }
                            >
                                "all kinds"
                            </button>
                            <Show when=is_typed>
                                {forget_button(commands, forgotten.clone())}
                            </Show>
                        </div>
                    }.into_any()
                })}
                {move || screen.header.namespaces.with(|known| known.trouble.clone()).map(|words| view! { <p>{words}</p> })}
            </div>
        </details>
    }
}
