//! What the sidebar shows: each kind with the state and the cost of its watches, and which groups are open.

use kubechurn_client::cache::shared_informer::SharedInformer;

use crate::page::environment::Environment;
use crate::page::sidebar::Groups;
use crate::page::state::Page;
use crate::page::view::{ChangesItem, SidebarItem, bytes, bytes_of, spark};
use crate::page::watched::Watched;
use crate::timeline::mark::grouped;
use kubechurn_columns::kinds::Kind;

/// The name under which the browser stores which groups are open.
const KEY: &str = "kubechurn.rail";

/// The groups as the user left them on the last visit.
pub(super) fn stored(env: &dyn Environment) -> Groups {
    env.stored(KEY).map_or_else(Groups::default, |text| Groups::parse(&text))
}

impl Page {
    pub(super) fn present_sidebar(&mut self, now: f64) {
        let place = &self.place;
        let mut items: Vec<SidebarItem> = place.catalog.kinds().map(|kind| self.sidebar_item(kind, now)).collect();
        // A kind that the server no longer has is shown only if the place asks for it.
        for name in place.route.pinned.iter().map(String::as_str).chain(place.route.names()) {
            let gone = place.catalog.gone(name);
            let Some(kind) = gone.filter(|kind| items.iter().all(|item| item.name != kind.name)) else { continue };
            let note = String::from("this server has it no longer");
            let item = SidebarItem { state: "stopped", gone: true, note, ..self.sidebar_item(kind, now) };
            let last = items.iter().rposition(|other| other.heading == kind.heading);
            items.insert(last.map_or(items.len(), |last| last + 1), item);
        }
        let headings: Vec<&'static str> = items.iter().filter(|item| item.current).map(|item| item.heading).collect();
        if !headings.is_empty() && self.place.groups.arrive(&headings) {
            self.keep_groups();
        }
        let mut open: Vec<&'static str> = Vec::new();
        for item in &items {
            if !open.contains(&item.heading) && self.place.groups.is_open(item.heading) {
                open.push(item.heading);
            }
        }
        let changes = ChangesItem {
            current: self.place.route.is_everything(),
            href: self.place.route.what_changed().fragment(),
            count: grouped(self.changes.feed.feed.counts().told),
        };
        let sidebar = &mut self.out.view.sidebar;
        sidebar.changes.put(changes);
        sidebar.open.put(open);
        sidebar.items.put(items);
        self.present_title();
    }

    fn sidebar_item(&self, kind: &'static Kind, now: f64) -> SidebarItem {
        let (place, informers) = (&self.place, &self.watching.informers);
        let watched = self.watching.watches.iter().find(|watched| watched.kind() == kind);
        let otherwise = if place.definitions.awaits(kind) { "connecting" } else { "" };
        let mut note = watched.map_or_else(String::new, |watched| self.cost(watched));
        if let Some(words) = place.definitions.note(kind) {
            note = format!("{note}\nNAME and AGE only, because its definition cannot be read: {words}");
        }
        SidebarItem {
            name: kind.name,
            heading: kind.heading,
            title: kind.title,
            current: place.route.shows(kind.name) && !place.route.is_everything(),
            pinned: place.route.pinned.iter().any(|pinned| pinned == kind.name),
            state: watched.map_or(otherwise, |watched| watched.health(informers, now).word()),
            count: watched.map_or_else(String::new, |watched| self.known_objects(watched)),
            spark: watched.map_or_else(String::new, |watched| spark(watched.marks(), now)),
            href: place.route.showing(kind.name).fragment(),
            gone: false,
            note,
        }
    }

    /// How many objects of a kind are known. While the first list is on its way that is not a number: a 0 would say that
    /// there are none.
    fn known_objects(&self, watched: &Watched) -> String {
        let informers = &self.watching.informers;
        match watched.items(informers) {
            0 if !watched.informers(informers).all(SharedInformer::has_synced) => String::from("…"),
            items => grouped(items as u64),
        }
    }

    /// What a kind's watches cost, in words.
    fn cost(&self, watched: &Watched) -> String {
        let rates = watched.scopes().iter().filter_map(|scope| self.share(&watched.kind().resource, scope));
        let (frames, rate) = rates.fold((0.0, 0.0), |(frames, rate), own| (frames + own.frames, rate + own.bytes));
        let watches = match watched.scopes().len() {
            1 => String::from("1 watch"),
            more => format!("{more} watches"),
        };
        let so_far = watched.ledger(&self.watching.informers).bytes as f64;
        format!("{watches}: {frames:.0} frames/s, {}, {} so far", bytes(rate), bytes_of(so_far))
    }

    /// Opens or closes a group for the user.
    pub(super) fn fold(&mut self, heading: &str, open: bool, now: f64) {
        if self.place.groups.fold(heading, open) {
            self.keep_groups();
            self.present_sidebar(now);
        }
    }

    fn keep_groups(&mut self) {
        let text = self.place.groups.text();
        self.store(KEY, Some(&text));
    }
}
