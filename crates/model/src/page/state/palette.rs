//! The dialogs: the palette with what it has found, the help, and messages to the user.

use kubechurn_client::api::object::ObjectKey;

use crate::page::command::{Command, List, PaletteCommand};
use crate::page::environment::Environment;
use crate::page::palette::Found;
use crate::page::speech::{Seen, Speech};
use crate::page::state::Page;
use crate::page::state::commands::LETTERS;
use crate::page::view::{PaletteItem, PaletteModel};

/// How many of the objects that were looked at are kept.
const RECENT: usize = 12;
/// How long a message about the outcome of a command is shown, in milliseconds.
const TOLD: f64 = 5_000.0;

/// What is open beside the table, and the last message.
#[derive(Debug, Default)]
pub(super) struct Dialogs {
    /// What is typed in the palette, and the index of the chosen entry; `None` while the palette is closed.
    palette: Option<(String, usize)>,
    found: Vec<Found>,
    /// The objects that were looked at, newest first.
    pub(super) recent: Vec<(&'static str, ObjectKey)>,
    /// Whether the help is shown.
    pub(super) help: bool,
    /// Whether keys of a single letter do anything.
    pub(super) letters: bool,
    /// The footer's lists that are open.
    pub(super) lists: Vec<List>,
    speech: Speech,
    /// When the last message was shown.
    pub(super) told_at: Option<f64>,
}

impl Dialogs {
    /// Dialogs that are closed. Keys of a single letter do something, unless the user has turned them off.
    pub(super) fn stored(env: &dyn Environment) -> Dialogs {
        Dialogs { letters: env.stored(LETTERS).as_deref() != Some("off"), ..Dialogs::default() }
    }

    pub(super) fn has_palette(&self) -> bool {
        self.palette.is_some()
    }

    /// When the message about the outcome of a command goes, in milliseconds, if there is one.
    pub(super) fn told_until(&self) -> Option<f64> {
        self.told_at.map(|at| at + TOLD)
    }

    /// Adds an object to those that were looked at.
    pub(super) fn remember(&mut self, kind: &'static str, key: &ObjectKey) {
        self.recent.retain(|(name, other)| (*name, other) != (kind, key));
        self.recent.insert(0, (kind, key.clone()));
        self.recent.truncate(RECENT);
    }
}

impl Page {
    /// Whether a dialog is open. A dialog has its own keys.
    pub fn has_dialog(&self) -> bool {
        self.dialogs.help || self.dialogs.has_palette()
    }

    /// Whether keys of a single letter do anything.
    pub fn has_letters(&self) -> bool {
        self.dialogs.letters
    }

    /// Carries out a command for the palette. Returns the command of the entry that the user took.
    pub(super) fn command_palette(&mut self, command: PaletteCommand) -> Option<Command> {
        let last = self.dialogs.found.len().saturating_sub(1);
        match (command, &mut self.dialogs.palette) {
            (PaletteCommand::Close, _) | (PaletteCommand::Toggle, Some(_)) => {
                self.close_palette();
                return None;
            }
            (PaletteCommand::Toggle, None) => self.open_palette(""),
            (PaletteCommand::Open(letters), _) => self.open_palette(letters),
            (PaletteCommand::Seek(letters), Some(palette)) => *palette = (letters, 0),
            // A single step goes from the last entry to the first, and back. A longer step stops at the end.
            (PaletteCommand::Step(1), Some((_, at))) if *at >= last => *at = 0,
            (PaletteCommand::Step(-1), Some((_, at))) if *at == 0 => *at = last,
            (PaletteCommand::Step(by), Some((_, at))) => *at = at.saturating_add_signed(by).min(last),
            (PaletteCommand::Take(place), Some((_, at))) => {
                let taken = self.dialogs.found.get(place.unwrap_or(*at)).map(|found| found.entry.command.clone())?;
                self.close_palette();
                return Some(taken);
            }
            (_, None) => return None,
        }
        self.present_palette();
        None
    }

    /// Opens the palette with a few letters typed. Fetches the namespaces, which may have changed.
    fn open_palette(&mut self, letters: &str) {
        self.dialogs.palette = Some((letters.to_owned(), 0));
        self.load_namespaces();
    }

    pub(super) fn close_palette(&mut self) {
        self.dialogs.palette = None;
        self.out.view.dialogs.palette.put(None);
    }

    /// Shows the entries that match the typed letters, if the palette is open.
    fn present_palette(&mut self) {
        let Some((query, at)) = self.dialogs.palette.clone() else { return };
        let found = self.known().find(&query);
        let items = found.iter().map(|found| PaletteItem {
            pieces: found.pieces(),
            group: found.entry.group.word(),
            detail: found.entry.detail.clone(),
        });
        let at = at.min(found.len().saturating_sub(1));
        let model = PaletteModel { query: query.clone(), items: items.collect(), at };
        self.dialogs.palette = Some((query, at));
        self.dialogs.found = found;
        self.out.view.dialogs.palette.put(Some(model));
    }

    /// Opens or closes one of the footer's lists.
    pub(super) fn open_list(&mut self, list: List, open: bool, now: f64, env: &dyn Environment) {
        self.dialogs.lists.retain(|other| *other != list);
        if open {
            self.dialogs.lists.push(list);
        }
        self.present_lists(now, env);
    }

    pub(super) fn has_list(&self, list: List) -> bool {
        self.dialogs.lists.contains(&list)
    }

    /// Renews messages and sentences for screen readers, a few times a second.
    pub(super) fn present_dialogs(&mut self, now: f64) {
        if self.dialogs.told_at.is_some_and(|at| now - at >= TOLD) {
            self.dialogs.told_at = None;
            self.out.view.dialogs.told.put(String::new());
        }
        self.present_palette();
        let (Some(view), Some(health)) = (self.watching.watches.view(), self.health(now)) else { return };
        let title = self.columns.layout.schema().title();
        let seen = Seen {
            title: &title,
            state: health.word(),
            counts: view.counts(),
            provisional: view.sums().provisional.rows > 0,
            filter: &self.place.route.text,
            paused: self.watching.paused,
        };
        if let Some(sentence) = self.dialogs.speech.look(now, seen) {
            self.out.view.dialogs.spoken.put(sentence);
        }
    }
}
