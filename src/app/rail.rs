//! What the rail shows: each kind, how its watch is and what it costs, and which groups are open.

use kubechurn_model::page::rail::Groups;
use kubechurn_model::page::watched::Watched;
use kubechurn_model::table::kinds::Kind;
use kubechurn_model::timeline::mark::grouped;

use kubechurn_model::page::view::{RailItem, bytes, bytes_of, spark};

use crate::app::{Page, travel};
use crate::browser::clock;
use crate::ui::screen::put;

/// Where the browser keeps which groups are open.
const KEY: &str = "kubechurn.rail";

/// The groups as they were left on the last visit.
pub(super) fn stored() -> Groups {
    travel::kept(KEY).map_or_else(Groups::default, |text| Groups::parse(&text))
}

impl Page {
    pub(super) fn present_rail(&mut self, now: f64) {
        let mut items: Vec<RailItem> = self.catalog.kinds().map(|kind| self.rail_item(kind, now)).collect();
        // What the server has no longer is shown only to who waits for it.
        for name in self.route.pinned.iter().map(String::as_str).chain(self.route.names()) {
            let Some(kind) = self.catalog.gone(name).filter(|kind| items.iter().all(|item| item.name != kind.name))
            else {
                continue;
            };
            let note = String::from("this server has it no longer");
            let item = RailItem { state: "stopped", gone: true, note, ..self.rail_item(kind, now) };
            let last = items.iter().rposition(|other| other.heading == kind.heading);
            items.insert(last.map_or(items.len(), |last| last + 1), item);
        }
        let headings: Vec<&'static str> = items.iter().filter(|item| item.current).map(|item| item.heading).collect();
        if !headings.is_empty() && self.groups.arrive(&headings) {
            self.keep_groups();
        }
        let mut open: Vec<&'static str> = Vec::new();
        for item in &items {
            if !open.contains(&item.heading) && self.groups.is_open(item.heading) {
                open.push(item.heading);
            }
        }
        put(self.screen.rail_open, open);
        put(self.screen.rail, items);
        self.present_title();
    }

    fn rail_item(&self, kind: &'static Kind, now: f64) -> RailItem {
        let watched = self.watches.iter().find(|watched| watched.kind() == kind);
        let otherwise = if self.definitions.awaits(kind) { "connecting" } else { "" };
        let mut note = watched.map_or_else(String::new, |watched| self.cost(watched));
        if let Some(words) = self.definitions.note(kind) {
            note = format!("{note}\nNAME and AGE only, because its definition cannot be read: {words}");
        }
        RailItem {
            name: kind.name,
            heading: kind.heading,
            title: kind.title,
            current: self.route.shows(kind.name),
            pinned: self.route.pinned.iter().any(|pinned| pinned == kind.name),
            state: watched.map_or(otherwise, |watched| watched.health(&self.informers, now).word()),
            count: watched.map_or_else(String::new, |watched| grouped(watched.items(&self.informers) as u64)),
            spark: watched.map_or_else(String::new, |watched| spark(watched.marks(), now)),
            href: self.route.showing(kind.name).fragment(),
            gone: false,
            note,
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
        let so_far = watched.ledger(&self.informers).bytes as f64;
        format!("{watches}: {frames:.0} frames/s, {}, {} so far", bytes(rate), bytes_of(so_far))
    }

    /// The user opens or closes a group.
    pub(super) fn fold(&mut self, heading: &str, open: bool) {
        if self.groups.fold(heading, open) {
            self.keep_groups();
            self.present_rail(clock::now());
        }
    }

    fn keep_groups(&self) {
        travel::keep(KEY, Some(&self.groups.text()));
    }
}
