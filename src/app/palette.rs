//! The palette while it is open: what is typed, what was found, and what taking it does.

use std::collections::VecDeque;

use leptos::prelude::WithUntracked;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_model::page::palette::{Does, Found, Known};

use crate::app::Page;
use crate::ui::hands::{Hands, PaletteItem, PaletteModel};
use crate::ui::screen::{Command, put};

/// How many objects are kept that were looked at.
const RECENT: usize = 12;

/// The palette.
#[derive(Debug, Default)]
pub(super) struct State {
    /// What is typed, and which entry is chosen; `None` while it is closed.
    open: Option<(String, usize)>,
    found: Vec<Found>,
    /// What was looked at, newest first.
    recent: VecDeque<(&'static str, ObjectKey)>,
}

impl State {
    pub(super) fn is_open(&self) -> bool {
        self.open.is_some()
    }
}

impl Page {
    /// Opens the palette on a few letters. The namespaces are asked for, which may have changed.
    pub(super) fn open_palette(&mut self, query: &str) -> Option<Command> {
        self.hands.palette.open = Some((query.to_owned(), 0));
        self.present_palette();
        Some(Command::LoadNamespaces)
    }

    pub(super) fn close_palette(&mut self) {
        self.hands.palette.open = None;
        put(self.screen.hands.palette, None);
    }

    pub(super) fn obey_in_palette(&mut self, hands: Hands, now: f64) -> Option<Command> {
        let last = self.hands.palette.found.len().saturating_sub(1);
        let (query, at) = self.hands.palette.open.as_mut()?;
        match hands {
            Hands::Seek(letters) => (*query, *at) = (letters, 0),
            // From the last to the first, and back; by more than one, to the end and no further.
            Hands::Step(1) if *at >= last => *at = 0,
            Hands::Step(-1) if *at == 0 => *at = last,
            Hands::Step(by) => *at = at.saturating_add_signed(by).min(last),
            Hands::Take(place) => {
                let does = self.hands.palette.found.get(place.unwrap_or(*at)).map(|found| found.entry.does.clone())?;
                self.close_palette();
                return self.follow(does, now);
            }
            _ => {}
        }
        self.present_palette();
        None
    }

    fn follow(&mut self, does: Does, now: f64) -> Option<Command> {
        match does {
            Does::Go(route) => Some(Command::Go(route)),
            Does::Act(act) => self.act(act, now),
            Does::Look(kind, key) if self.route.shows(kind) => {
                (!self.has_selected(kind, &key)).then_some(Command::Select(Some((kind, key))))
            }
            Does::Look(kind, key) => {
                let mut route = self.route.showing(kind);
                if !route.namespaces.is_empty() && !key.namespace.is_empty() {
                    route.namespaces = vec![key.namespace.to_string()];
                }
                super::travel::push(&route);
                self.go(route);
                Some(Command::Select(Some((kind, key))))
            }
        }
    }

    /// Keeps in mind what is looked at.
    pub(super) fn remember(&mut self, kind: &'static str, key: &ObjectKey) {
        let recent = &mut self.hands.palette.recent;
        recent.retain(|(name, other)| (*name, other) != (kind, key));
        recent.push_front((kind, key.clone()));
        recent.truncate(RECENT);
    }

    /// Shows what goes by the letters that are typed, if the palette is open.
    pub(super) fn present_palette(&mut self) {
        let Some((query, at)) = self.hands.palette.open.clone() else { return };
        let recent = self.hands.palette.recent.make_contiguous();
        let (route, catalog) = (&self.route, &self.catalog);
        let found = self
            .screen
            .namespaces
            .with_untracked(|namespaces| Known { route, catalog, namespaces: &namespaces.names, recent }.find(&query));
        let items = found.iter().map(|found| PaletteItem {
            pieces: found.pieces(),
            group: found.entry.group.word(),
            detail: found.entry.detail.clone(),
        });
        let model =
            PaletteModel { query: query.clone(), items: items.collect(), at: at.min(found.len().saturating_sub(1)) };
        self.hands.palette.open = Some((query, model.at));
        self.hands.palette.found = found;
        put(self.screen.hands.palette, Some(model));
    }
}
