//! What the sidebar shows: each kind with the state and the cost of its watches, and which groups are open.

use kubechurn_client::cache::shared_informer::SharedInformer;

use crate::history::coverage::Moment;
use crate::page::context::Context;
use crate::page::environment::Environment;
use crate::page::feed::Feed;
use crate::page::status::WatchRates;
use crate::rewind::is_chosen;
use crate::shell::sidebar::Groups;
use crate::timeline::mark::grouped;
use crate::view::{ChangesItem, EverythingItem, SidebarItem, bytes, bytes_of, spark};
use crate::watches::watched::Watched;
use kubechurn_columns::kinds::Kind;

/// The name under which the browser stores which groups are open.
const KEY: &str = "kubechurn.rail";

/// Of a kind that may not be listed, and for which nobody asked.
const DONE_WITHOUT: &str = "What changed would watch these, too: a change of theirs may be why something fails. They may not be \
                            listed. Pin them, and the page says which permission is missing.";

/// The sidebar.
#[derive(Debug, Default)]
pub(super) struct Sidebar {
    /// Which of its groups are open.
    groups: Groups,
}

impl Sidebar {
    /// A sidebar whose groups are as the user left them on the last visit.
    pub(super) fn stored(env: &dyn Environment) -> Sidebar {
        Sidebar { groups: env.stored(KEY).map_or_else(Groups::default, |text| Groups::parse(&text)) }
    }

    /// Shows the kinds, how many changes the feed has, and how many things are wrong now.
    pub(super) fn present(&mut self, feed: &Feed, rates: &WatchRates, cx: &mut Context<'_>) {
        let (wrong, fails) = feed.wrong().count();
        let place = &*cx.navigation;
        let mut items: Vec<SidebarItem> = place.catalog.kinds().map(|kind| sidebar_item(kind, rates, cx)).collect();
        // A kind that the server no longer has is shown only if the place asks for it.
        for name in place.route.pinned.iter().map(String::as_str).chain(place.route.names()) {
            let gone = place.catalog.gone(name);
            let Some(kind) = gone.filter(|kind| items.iter().all(|item| item.name != kind.name)) else { continue };
            let note = String::from("this server has it no longer");
            let item = SidebarItem { state: "stopped", gone: true, note, ..sidebar_item(kind, rates, cx) };
            let last = items.iter().rposition(|other| other.heading == kind.heading);
            items.insert(last.map_or(items.len(), |last| last + 1), item);
        }
        let headings: Vec<&'static str> = items.iter().filter(|item| item.current).map(|item| item.heading).collect();
        if !headings.is_empty() && self.groups.arrive(&headings) {
            self.store_groups(cx);
        }
        let mut open: Vec<&'static str> = Vec::new();
        for item in &items {
            if !open.contains(&item.heading) && self.groups.is_open(item.heading) {
                open.push(item.heading);
            }
        }
        let is_rewound = cx.watching.moment.is_some();
        let changes = ChangesItem {
            current: cx.navigation.route.is_everything(),
            href: cx.navigation.route.what_changed().fragment(),
            // Of another moment, only the feed itself knows how much had changed, and nobody what was wrong.
            count: if is_rewound && !cx.navigation.route.changes { String::new() } else { grouped(feed.total()) },
            wrong: if wrong == 0 || is_rewound { String::new() } else { format!("{} wrong", grouped(wrong as u64)) },
            fails,
        };
        let everything = match &cx.navigation.route.namespaces[..] {
            [namespace] => {
                let (route, catalog) = (&cx.navigation.route, &cx.navigation.catalog);
                let current = route.is_all_of_namespace(catalog);
                let href = route.everything_in(namespace, catalog).fragment();
                EverythingItem { namespace: namespace.clone(), current, href }
            }
            _ => EverythingItem::default(),
        };
        let kinds = cx.navigation.kinds();
        let usual = kinds.iter().find(|kind| kind.name == "pods").filter(|_| cx.navigation.route.changes);
        let inside = usual.or(kinds.first()).map_or("", |kind| kind.name);
        let inside = cx.navigation.route.inside_of(inside).fragment();
        let sidebar = &mut cx.view.sidebar;
        sidebar.changes.put(changes);
        sidebar.inside.put(inside);
        sidebar.everything.put(everything);
        sidebar.open.put(open);
        sidebar.items.put(items);
    }

    /// Opens or closes a group for the user. Returns whether it was the other way before.
    pub(super) fn fold(&mut self, heading: &str, open: bool, cx: &mut Context<'_>) -> bool {
        let is_other = self.groups.fold(heading, open);
        if is_other {
            self.store_groups(cx);
        }
        is_other
    }

    fn store_groups(&self, cx: &mut Context<'_>) {
        let text = self.groups.text();
        cx.store(KEY, Some(&text));
    }
}

fn sidebar_item(kind: &'static Kind, rates: &WatchRates, cx: &Context<'_>) -> SidebarItem {
    let (place, informers) = (&*cx.navigation, &cx.watching.informers);
    let all = cx.watching.watches.iter().find(|watched| watched.kind() == kind);
    let watched = all.filter(|watched| !watched.is_done_without(informers, cx.now));
    let otherwise = if place.definitions.awaits(kind) { "connecting" } else { "" };
    let mut note = watched.map_or_else(String::new, |watched| cost(watched, rates, cx));
    if all.is_some() && watched.is_none() {
        note = String::from(DONE_WITHOUT);
    }
    if let Some(words) = place.definitions.note(kind) {
        note = format!("{note}\nNAME and AGE only, because its definition cannot be read: {words}");
    }
    SidebarItem {
        name: kind.name,
        heading: kind.heading,
        title: kind.title,
        current: place.route.shows(kind.name) && !place.route.is_everything(),
        pinned: place.route.pinned.iter().any(|pinned| pinned == kind.name),
        state: watched.map_or(otherwise, |watched| place.state(watched.health(informers, cx.now).word())),
        count: match cx.watching.moment {
            Some(moment) => objects_then(kind, moment, cx),
            None => watched.map_or_else(String::new, |watched| known_objects(watched, cx)),
        },
        spark: watched.map_or_else(String::new, |watched| spark(watched.marks(), cx.shown_at())),
        href: place.route.showing(kind.name).fragment(),
        gone: false,
        note,
    }
}

/// How many objects of a kind are known. While the first list is on its way that is not a number: a 0 would say that
/// there are none.
fn known_objects(watched: &Watched, cx: &Context<'_>) -> String {
    let informers = &cx.watching.informers;
    match watched.items(informers) {
        0 if !watched.informers(informers).all(SharedInformer::has_synced) => String::from("…"),
        items => grouped(items as u64),
    }
}

/// How many objects of a kind there were at a moment, as far as that was known; empty where the kind was not watched.
fn objects_then(kind: &'static Kind, moment: Moment, cx: &Context<'_>) -> String {
    let namespaces = &cx.navigation.route.namespaces;
    let known = cx.watching.history.coverage.known_in(kind.resource, namespaces, moment);
    if known.is_nothing() {
        return String::from(if known.is_listing { "…" } else { "" });
    }
    let alone = cx.watching.rewound.as_ref().filter(|rewound| *rewound.table().schema().kinds() == [kind]);
    let count = match alone {
        Some(rewound) => rewound.table().counts().1,
        None => {
            let mut count = 0;
            cx.watching.history.each_past(kind.resource, &known, &mut |past| {
                count += usize::from(is_chosen(namespaces, kind, past.key));
            });
            count
        }
    };
    grouped(count as u64)
}

/// What a kind's watches cost, in words.
fn cost(watched: &Watched, rates: &WatchRates, cx: &Context<'_>) -> String {
    let shares = watched.scopes().iter().filter_map(|scope| rates.of(&watched.kind().resource, scope, cx));
    let (frames, rate) = shares.fold((0.0, 0.0), |(frames, rate), own| (frames + own.frames, rate + own.bytes));
    let watches = match watched.scopes().len() {
        1 => String::from("1 watch"),
        more => format!("{more} watches"),
    };
    let so_far = watched.ledger(&cx.watching.informers).bytes as f64;
    format!("{watches}: {frames:.0} frames/s, {}, {} so far", bytes(rate), bytes_of(so_far))
}
