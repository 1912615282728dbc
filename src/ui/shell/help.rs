//! The dialog that shows the keys. It is made from the same table that says what the keys do.

use leptos::html;
use leptos::prelude::*;

use kubechurn_model::page::command::Command;
use kubechurn_model::page::command::{OFFERS, Offer, SECTIONS};
use kubechurn_model::page::keys::cap;

use crate::ui::screen::{Commands, Screen};
use crate::ui::shell::palette::{modal, outside};

/// The dialog.
#[component]
pub fn Help(
    /// What to show.
    screen: Screen,
    /// Where clicks go.
    commands: Commands,
) -> impl IntoView {
    let dialog = NodeRef::<html::Dialog>::new();
    modal(dialog, move || screen.dialogs.help.get());
    let close = move || commands.send(Command::CloseHelp);
    let letters = move |_| commands.send(Command::ToggleLetters);
    view! {
        <dialog
            class="dialog help"
            role="dialog"
            aria-labelledby="help-title"
            data-testid="help"
            node_ref=dialog
            on:close=move |_| close()
            on:pointerdown=move |event| outside(&event, dialog, close)
        >
            <div class="help-head">
                <h2 id="help-title">"Keys"</h2>
                <span class="grow"></span>
                <button data-testid="help-close" autofocus on:click=move |_| close()>"Close"</button>
            </div>
            <div class="help-body" tabindex="0" role="region" aria-label="The keys">{SECTIONS.map(section).collect_view()}</div>
            <label class="help-letters">
                <input
                    type="checkbox"
                    data-testid="letters"
                    prop:checked=move || screen.dialogs.letters.get()
                    on:change=letters
                />
                "Keys of a single letter or sign. Turn them off if something else types them, such as dictation; Ctrl K and \
                 the arrows stay."
            </label>
        </dialog>
    }
}

fn section(heading: &'static str) -> impl IntoView {
    let offers = OFFERS.iter().filter(|offer| offer.section == heading);
    view! {
        <section>
            <h3>{heading}</h3>
            <dl>{offers.map(line).collect_view()}</dl>
        </section>
    }
}

fn line(offer: &'static Offer) -> impl IntoView {
    let keys = offer.keys.iter().map(|key| view! { <kbd class="kbd">{cap(key)}</kbd> });
    view! {
        <div>
            <dt>{keys.collect_view()}</dt>
            <dd>{offer.title}</dd>
        </div>
    }
}
