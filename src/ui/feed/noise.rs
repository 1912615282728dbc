//! What is called noise: a menu beside the row, with what is meant, and a notice that takes it back.

use leptos::ev;
use leptos::html;
use leptos::prelude::*;
use wasm_bindgen::JsCast;

use kubechurn_model::feed::FeedCommand;
use kubechurn_model::page::command::Command;
use kubechurn_model::shell::beside::beside;

use crate::ui::focus;
use crate::ui::screen::{Commands, Screen};
use crate::ui::sized::window_size;
use crate::ui::values::Memo;

/// The menu, while something is offered, and the notice, while it can be undone.
#[component]
pub fn Noise(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let send = move |command| commands.send(Command::Feed(command));
    let noise = screen.feed.noise;
    let offered = Memo::new(move |_| noise.with(|noise| (noise.path.clone(), noise.choices.clone())));
    let done = Memo::new(move |_| noise.with(|noise| noise.done.clone()));
    let menu = NodeRef::<html::Div>::new();
    // It stands beside the button that was pressed, or else beside the row in hand, and has the focus.
    Effect::new(move |_| {
        let Some(menu) = menu.get() else { return };
        let pressed = document().active_element().filter(|element| element.has_attribute("aria-haspopup"));
        let place = pressed.or_else(|| document().query_selector(".feed-row[data-hand] .feed-below").ok().flatten());
        if let Some(place) = place.map(|place| place.get_bounding_client_rect()) {
            for (name, value) in beside((place.left(), place.bottom()), window_size()) {
                let _ = web_sys::HtmlElement::style(&menu).set_property(name, &value);
            }
        }
        if let Ok(Some(first)) = menu.query_selector("button") {
            focus::give(&first);
        }
    });
    let outside = window_event_listener(ev::pointerdown, move |event| {
        let node = event.target().and_then(|target| target.dyn_into::<web_sys::Node>().ok());
        if menu.get_untracked().is_some_and(|menu| !node.is_some_and(|node| menu.contains(Some(&node)))) {
            send(FeedCommand::NoOffer);
        }
    });
    on_cleanup(move || outside.remove());
    // The keys of a menu. Esc is the page's.
    let pressed = move |event: ev::KeyboardEvent| {
        let Some(focused) = document().active_element() else { return };
        let next = match &*event.key() {
            "ArrowDown" => focused.next_element_sibling(),
            "ArrowUp" => focused.previous_element_sibling().filter(|before| before.tag_name() == "BUTTON"),
            "Tab" => {
                send(FeedCommand::NoOffer);
                None
            }
            _ => return,
        };
        event.prevent_default();
        next.iter().for_each(focus::give);
    };
    let choice = move |(number, words): (usize, String)| {
        let choose = move |_| send(FeedCommand::Noise(number));
        view! { <button role="menuitem" tabindex="-1" data-testid="noise-choice" on:click=choose>"of " {words}</button> }
    };
    view! {
        {move || Some(offered.get()).filter(|(_, choices)| !choices.is_empty()).map(|(path, choices)| view! {
            <div class="menu-list noise-offer" node_ref=menu data-testid="noise-offer" on:keydown=pressed>
                <p id="noise-offer-head">"Fold as noise: " <code>{path}</code></p>
                <div role="menu" aria-labelledby="noise-offer-head">
                    {choices.into_iter().enumerate().map(choice).collect_view()}
                </div>
            </div>
        })}
        <p class="noise-done" role="status" data-testid="noise-done">
            <span>{move || done.get()}</span>
            {move || done.with(|done| !done.is_empty()).then(|| view! {
                <button data-testid="noise-undo" on:click=move |_| send(FeedCommand::UndoNoise)>"Undo"</button>
            })}
        </p>
    }
}
