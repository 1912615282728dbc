//! The parts of the page, which are made one after the other at the start.
//!
//! To make the whole page at once takes longer than a frame. So each part is made in a task of its own, what is looked at first
//! comes first, and the browser draws between them. Each has its place from the beginning: nothing moves when it comes.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use leptos::prelude::*;

use crate::ui::screen::Screen;
use crate::ui::values::Memo;

/// A part of the page that is made after its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The table.
    Table,
    /// The sidebar.
    Sidebar,
    /// The timeline.
    Timeline,
    /// The inspector, which is mostly closed, and the footer.
    Footer,
    /// What is in the menus.
    Menus,
}

impl Part {
    /// All parts, in the order in which they are made.
    pub const ALL: [Part; 5] = [Part::Table, Part::Sidebar, Part::Timeline, Part::Footer, Part::Menus];
}

/// Makes one part after the other, and waits in between with `pause`.
pub async fn make(screen: Screen, pause: impl AsyncFn()) {
    for part in Part::ALL {
        pause().await;
        screen.made.set(Some(part));
    }
}

/// Does something once, when a part is in the document.
pub fn after(part: Part, screen: Screen, act: impl Fn() + 'static) {
    let is_made = Memo::new(move |_| screen.made.get() >= Some(part));
    // Effects run after what they look at was drawn.
    Effect::new(move |_| {
        if is_made.get() {
            act();
        }
    });
}

/// A part of the page, which stays once it is made.
pub fn part<V: IntoView + 'static>(part: Part, screen: Screen, make: impl Fn() -> V + Send + 'static) -> impl IntoView {
    once(move || screen.made.get() >= Some(part), make)
}

/// Something that is made when it is wanted for the first time, and stays: the start need not wait for it.
pub fn once<V: IntoView + 'static>(
    is_wanted: impl Fn() -> bool + Send + Sync + 'static,
    make: impl Fn() -> V + Send + 'static,
) -> impl IntoView {
    let was_wanted = Memo::new(move |was: Option<&bool>| was == Some(&true) || is_wanted());
    move || was_wanted.get().then(|| untrack(&make))
}

/// One element for each of so many places, from 0. A place keeps its element whatever comes to stand there, so that only what
/// differs is written, and the focus stays.
pub fn places(count: Memo<usize>, make: impl Fn(usize) -> AnyView + Send + Sync + 'static) -> AnyView {
    list(Arc::new(move || (0..count.get()).map(|place| (place as u64, place)).collect()), Arc::new(make))
}

/// One element for each of these items, which stays while there is an item of its key.
pub fn each<T: Send + 'static, K: Hash + 'static>(
    items: impl Fn() -> Vec<T> + Send + Sync + 'static,
    key: fn(&T) -> K,
    make: impl Fn(T) -> AnyView + Send + Sync + 'static,
) -> AnyView {
    let new = Arc::new(Mutex::new(Vec::new()));
    let taken = new.clone();
    let keys = move || {
        let items = items();
        let keys = items.iter().enumerate().map(|(place, item)| (hash(&key(item)), place)).collect();
        *new.lock().unwrap_or_else(PoisonError::into_inner) = items.into_iter().map(Some).collect();
        keys
    };
    let make = move |place: usize| {
        let item = taken.lock().unwrap_or_else(PoisonError::into_inner).get_mut(place).and_then(Option::take);
        item.map(&make).into_any()
    };
    list(Arc::new(keys), Arc::new(make))
}

fn hash(key: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}

type Keys = Arc<dyn Fn() -> Vec<(u64, usize)> + Send + Sync>;

/// The list of keys, each with its place. It is not generic, so that it is compiled once, and not for each caller.
fn list(keys: Keys, make: Arc<dyn Fn(usize) -> AnyView + Send + Sync>) -> AnyView {
    view! { <For each=move || keys() key=|(key, _)| *key children=move |(_, place)| make(place) /> }.into_any()
}

/// Where a link leads; nothing where it leads nowhere, so that it is no link.
pub fn link(href: String) -> Option<String> {
    Some(href).filter(|href| !href.is_empty())
}
