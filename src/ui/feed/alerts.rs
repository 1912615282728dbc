//! Watched filters: the button that watches one, the list of those that are watched, and what the browser shows of a
//! change that passes.

use std::cell::RefCell;

use leptos::prelude::*;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{AudioContext, HtmlLinkElement, Notification, NotificationOptions, NotificationPermission};

use kubechurn_model::feed::alerts::{Alert, AlertCommand, AlertItem};
use kubechurn_model::page::command::Command;

use crate::ui::screen::{Commands, Screen};
use crate::ui::values::Memo;

/// How long a tone is, in seconds, and how high, in hertz.
const TONE: (f64, f32) = (0.18, 740.0);

thread_local! {
    /// What makes the tone. A browser lets it sound if it was made when the user clicked.
    static AUDIO: RefCell<Option<AudioContext>> = const { RefCell::new(None) };
    /// The icon without its mark, once it was marked.
    static ICON: RefCell<Option<String>> = const { RefCell::new(None) };
    /// What stands before the tab's title.
    static MARK: RefCell<String> = const { RefCell::new(String::new()) };
}

/// The button that watches the present filter, and the list of the watched ones.
#[component]
pub fn NotifyMe(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let alerts = screen.dialogs.alerts;
    let send = move |command| commands.send(Command::Alerts(command));
    let is_watching = Memo::new(move |_| alerts.with(|alerts| !alerts.items.is_empty()));
    let item = move |AlertItem { id, filter, count }: AlertItem| {
        view! {
            <li data-testid="tell-me-item">
                <code>{filter}</code>
                <span class="num dim">{count}</span>
                <button
                    title="stop notifying me"
                    aria-label="stop notifying me"
                    data-testid="tell-me-end"
                    on:click=move |_| send(AlertCommand::End(id))
                >
                    "✕"
                </button>
            </li>
        }
    };
    let sound = move |event: leptos::ev::Event| {
        let wanted = event_target_checked(&event);
        if wanted {
            AUDIO.with_borrow_mut(|audio| *audio = audio.take().or_else(|| AudioContext::new().ok()));
        }
        send(AlertCommand::Sound(wanted));
    };
    view! {
        <button
            data-testid="tell-me"
            title="notify me, by a notification of the browser, of each change from now on that passes the filter"
            on:click=move |_| send(AlertCommand::Watch)
        >
            "notify me"
        </button>
        {move || is_watching.get().then(|| view! {
            <details class="menu tell-me-menu" data-testid="tell-me-menu">
                <summary class="button">{move || format!("notify: {} ▾", alerts.with(|alerts| alerts.items.len()))}</summary>
                <div class="menu-list">
                    <p class="menu-head">"You are notified of what passes, until the page is closed"</p>
                    <ul>{move || alerts.with(|alerts| alerts.items.clone()).into_iter().map(item).collect_view()}</ul>
                    <label>
                        <input
                            type="checkbox"
                            data-testid="tell-me-sound"
                            prop:checked=move || alerts.with(|alerts| alerts.sound)
                            on:change=sound
                        />
                        "with a short tone"
                    </label>
                    // What the browser allows is asked each time that the list changes.
                    {move || alerts.with(|_| is_refused()).then(|| view! {
                        <p>"The browser shows no notifications of this page: only the tab's title and icon change."</p>
                    })}
                </div>
            </details>
        })}
    }
}

fn has_notifications() -> bool {
    js_sys::Reflect::has(&js_sys::global(), &"Notification".into()).unwrap_or(false)
}

fn is_refused() -> bool {
    !has_notifications() || Notification::permission() == NotificationPermission::Denied
}

/// Does what the page wants the user to notice.
pub fn perform(alert: Alert) {
    match alert {
        Alert::Ask => {
            if has_notifications() && Notification::permission() == NotificationPermission::Default {
                // The answer is asked again when there is something to notify.
                let _ = Notification::request_permission();
            }
        }
        Alert::Notify(notification) => {
            if has_notifications() && Notification::permission() == NotificationPermission::Granted {
                notify(&notification.title, &notification.body);
            }
            if notification.sound {
                // Without a tone, the rest notifies.
                let _ = AUDIO.with_borrow(|audio| audio.as_ref().map(sound));
            }
        }
        Alert::Mark(count) => mark(count),
    }
}

fn notify(title: &str, body: &str) {
    let options = NotificationOptions::new();
    options.set_body(body);
    // A new one takes the place of the last one.
    options.set_tag("kubechurn");
    let Ok(shown) = Notification::new_with_options(title, &options) else { return };
    let clicked = Closure::once_into_js(|| {
        let _ = web_sys::window().map(|window| window.focus());
    });
    shown.set_onclick(clicked.dyn_ref());
}

fn sound(audio: &AudioContext) -> Option<()> {
    let (length, pitch) = TONE;
    let _ = audio.resume().ok()?;
    let (tone, volume) = (audio.create_oscillator().ok()?, audio.create_gain().ok()?);
    let now = audio.current_time();
    tone.frequency().set_value(pitch);
    volume.gain().set_value_at_time(0.12, now).ok()?;
    volume.gain().exponential_ramp_to_value_at_time(0.001, now + length).ok()?;
    tone.connect_with_audio_node(&volume).ok()?;
    volume.connect_with_audio_node(&audio.destination()).ok()?;
    tone.start().ok()?;
    tone.stop_with_when(now + length).ok()
}

/// The tab's title with its mark.
pub fn marked(title: &str) -> String {
    MARK.with_borrow(|mark| format!("{mark}{title}"))
}

/// Marks the tab's title and its icon, or takes the marks off.
fn mark(count: u64) {
    let Some(document) = web_sys::window().and_then(|window| window.document()) else { return };
    let title = document.title();
    let mark = if count == 0 { String::new() } else { format!("({count}) ") };
    let before = MARK.replace(mark);
    document.set_title(&marked(title.strip_prefix(&*before).unwrap_or(&title)));
    let icon = document.query_selector("link[rel=icon]").ok().flatten();
    let Some(icon) = icon.and_then(|icon| icon.dyn_into::<HtmlLinkElement>().ok()) else { return };
    let plain = ICON.with_borrow_mut(|known| known.get_or_insert_with(|| icon.href()).clone());
    let dot = "%3Ccircle cx='12' cy='4' r='4' fill='%23ff6b63'/%3E%3C/svg%3E";
    let shown = if count == 0 { plain } else { plain.replace("%3C/svg%3E", dot) };
    if icon.href() != shown {
        icon.set_href(&shown);
    }
}
