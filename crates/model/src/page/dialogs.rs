//! The dialogs: the palette with what it has found, the help, and messages to the user.

use crate::navigation::recorded::offered;
use crate::page::command::{Command, PaletteCommand};
use crate::page::connection::load_namespaces;
use crate::page::context::Context;
use crate::page::health;
use crate::page::palette::objects::ObjectSearch;
use crate::page::palette::{FoundEntry, Known};
use crate::page::writers::Writers;
use crate::shell::speech::{Seen, Speech};
use crate::view::{PaletteItem, PaletteModel};

/// How long a frame may look for objects, in milliseconds.
const SHARE: f64 = 6.0;

/// What is open beside the table, and what a screen reader reads out.
#[derive(Debug, Default)]
pub(super) struct Dialogs {
    /// What is typed in the palette, and the index of the chosen entry; `None` while the palette is closed.
    palette: Option<(String, usize)>,
    found: Vec<FoundEntry>,
    objects: ObjectSearch,
    /// Whether objects are still to be looked at.
    is_seeking: bool,
    /// Whether the help is shown.
    help: bool,
    speech: Speech,
    writers: Writers,
}

impl Dialogs {
    pub(super) fn has_palette(&self) -> bool {
        self.palette.is_some()
    }

    pub(super) fn has_help(&self) -> bool {
        self.help
    }

    pub(super) fn show_help(&mut self, help: bool, cx: &mut Context<'_>) {
        self.help = help;
        cx.view.dialogs.help.put(help);
    }

    /// Carries out a command for the palette. Returns the command of the entry that the user took.
    pub(super) fn handle(&mut self, command: PaletteCommand, cx: &mut Context<'_>) -> Option<Command> {
        let last = self.found.len().saturating_sub(1);
        match (command, &mut self.palette) {
            (PaletteCommand::Close, _) | (PaletteCommand::Toggle, Some(_)) => {
                self.close_palette(cx);
                return None;
            }
            (PaletteCommand::Toggle, None) => self.open_palette("", cx),
            (PaletteCommand::Open(letters), _) => self.open_palette(letters, cx),
            (PaletteCommand::Seek(letters), Some(palette)) => *palette = (letters, 0),
            // A single step goes from the last entry to the first, and back. A longer step stops at the end.
            (PaletteCommand::Step(1), Some((_, at))) if *at >= last => *at = 0,
            (PaletteCommand::Step(-1), Some((_, at))) if *at == 0 => *at = last,
            (PaletteCommand::Step(by), Some((_, at))) => *at = at.saturating_add_signed(by).min(last),
            (PaletteCommand::Take(place), Some((_, at))) => {
                let taken = self.found.get(place.unwrap_or(*at)).map(|found| found.entry.command.clone())?;
                self.close_palette(cx);
                return Some(taken);
            }
            (_, None) => return None,
        }
        self.present_palette(cx);
        None
    }

    /// Opens the palette with a few letters typed. Fetches the namespaces, which may have changed.
    fn open_palette(&mut self, letters: &str, cx: &mut Context<'_>) {
        self.palette = Some((letters.to_owned(), 0));
        load_namespaces(cx);
    }

    pub(super) fn close_palette(&mut self, cx: &mut Context<'_>) {
        self.palette = None;
        self.is_seeking = false;
        // What is looked for next is looked for among what there is then.
        self.objects = ObjectSearch::default();
        cx.view.dialogs.palette.put(None);
    }

    /// Shows the entries that match the typed letters, if the palette is open.
    fn present_palette(&mut self, cx: &mut Context<'_>) {
        let Some((query, at)) = self.palette.clone() else { return };
        self.objects.seek(&query);
        let end = cx.env.work_clock() + SHARE;
        self.is_seeking = self.objects.work(&cx.watching.watches, || cx.env.work_clock() < end);
        if self.is_seeking {
            cx.hurry();
        }
        let namespaces: Vec<String> = cx.view.header.namespaces.known().cloned().collect();
        let recordings = offered(&cx.env.named("recordings").unwrap_or_default());
        let objects = self.objects.found();
        let found = Known { objects, namespaces: &namespaces, recordings: &recordings, ..known(cx) }.find(&query);
        let items = found.iter().map(|found| PaletteItem {
            pieces: found.pieces(),
            group: found.entry.group.word(),
            detail: found.entry.detail.clone(),
        });
        let at = at.min(found.len().saturating_sub(1));
        let model = PaletteModel { query: query.clone(), items: items.collect(), at };
        self.palette = Some((query, at));
        self.found = found;
        cx.view.dialogs.palette.put(Some(model));
    }

    /// Goes on with what takes several frames: `is_due` is whether it is time to show anew what changes with time.
    pub(super) fn go_on(&mut self, is_due: bool, cx: &mut Context<'_>) {
        health::present(is_due, cx);
        self.writers.work(is_due, cx);
        if self.is_seeking {
            self.present_palette(cx);
        }
    }

    /// Renews messages and sentences for screen readers, a few times a second.
    pub(super) fn present(&mut self, cx: &mut Context<'_>) {
        cx.end_message();
        self.present_palette(cx);
        let (Some(view), Some(health)) = (cx.watching.watches.view(), cx.health()) else { return };
        let title = cx.navigation.schema.title();
        let seen = Seen {
            title: &title,
            state: health.word(),
            counts: view.counts(),
            provisional: view.sums().provisional.rows > 0,
            filter: &cx.navigation.route.text,
            paused: cx.watching.paused,
        };
        if let Some(sentence) = self.speech.look(cx.now, seen) {
            cx.view.dialogs.spoken.put(sentence);
        }
    }
}

/// What the palette searches.
fn known<'a>(cx: &'a Context<'_>) -> Known<'a> {
    Known {
        route: &cx.navigation.route,
        catalog: &cx.navigation.catalog,
        namespaces: &[],
        recent: &cx.navigation.recent,
        objects: &[],
        clusters: &cx.navigation.clusters,
        recordings: &[],
    }
}
