//! The keys: one table that the page obeys, that the help shows, and that the palette takes its hints from.
//!
//! No key is taken while a field is typed in, none that a browser or a screen reader has a use for (nothing with Ctrl,
//! Alt or Shift but Ctrl-K, which every browser leaves to the page), and none from a control that knows it itself.
//! The keys of a single letter can be turned off, for those who speak to their machine (WCAG 2.1, 2.1.4).

use crate::page::resync::Resync;
use crate::table::view::Retention;

/// Something that the user does, by key or by the palette.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Act {
    /// Open the palette, or close it.
    Palette,
    /// Show the keys, or hide them.
    Help,
    /// Type into the filter.
    Filter,
    /// Choose namespaces.
    Namespaces,
    /// Go to the next row.
    Down,
    /// Go to the row before.
    Up,
    /// Go to the next cell of the row.
    Right,
    /// Go to the cell before, and then to the row.
    Left,
    /// Go down by what is seen of the table.
    PageDown,
    /// Go up by as much.
    PageUp,
    /// Go to the first row.
    First,
    /// Go to the last row.
    Last,
    /// Look at the object of the row.
    Open,
    /// Leave what is innermost: palette, help, menu, cell, object, filter.
    Leave,
    /// Show all columns, or the usual ones.
    Wide,
    /// Stop draining the queues, or go on.
    Pause,
    /// Sort by the cell's column, or by the next one.
    Sort,
    /// Turn the order around.
    Turn,
    /// Choose columns.
    Columns,
    /// Copy the name of the row's object.
    CopyName,
    /// Choose what to copy.
    Copy,
    /// Copy the text of the cell.
    CopyCell,
    /// Copy the cells of the row, with tabs between them.
    CopyRow,
    /// Copy a kubectl command line that gets the table.
    CopyCommand,
    /// Copy a kubectl command line that gets the object of the row.
    CopyObjectCommand,
    /// Copy the page's address.
    CopyLink,
    /// Keep the table as CSV.
    ExportCsv,
    /// Keep the table as JSON, a line for each row.
    ExportJson,
    /// Change between dark and light.
    Theme,
    /// Keep the kind in view watched, or no longer.
    Pin,
    /// Show every row again.
    ClearFilter,
    /// Ask the server again at once.
    Retry,
    /// Compare what is shown with what the server has.
    Verify,
    /// Have the columns as at first.
    ResetColumns,
    /// Turn the keys of a single letter off, or on.
    Letters,
    /// Have deleted rows stay so long.
    Retention(Retention),
    /// Have deleted rows go now.
    ClearDeleted,
    /// Have what is known told again so often.
    Resync(Resync),
}

impl Act {
    /// What it does, as the help and the palette say it.
    pub fn title(self) -> &'static str {
        match self {
            Act::Palette => "Open the palette",
            Act::Help => "Show the keys",
            Act::Filter => "Filter the rows",
            Act::Namespaces => "Choose namespaces",
            Act::Down => "Next row",
            Act::Up => "Row before",
            Act::Right => "Next cell",
            Act::Left => "Cell before",
            Act::PageDown => "Page down",
            Act::PageUp => "Page up",
            Act::First => "First row",
            Act::Last => "Last row",
            Act::Open => "Look at the object",
            Act::Leave => "Leave the innermost",
            Act::Wide => "Wide columns, on or off",
            Act::Pause => "Pause, or go live",
            Act::Sort => "Sort by the next column, or the cell's",
            Act::Turn => "Turn the order around",
            Act::Columns => "Choose columns",
            Act::CopyName => "Copy the name",
            Act::Copy => "Copy …",
            Act::CopyCell => "Copy the cell",
            Act::CopyRow => "Copy the row",
            Act::CopyCommand => "Copy kubectl get for the table",
            Act::CopyObjectCommand => "Copy kubectl get for the object",
            Act::CopyLink => "Copy the link",
            Act::ExportCsv => "Export the table as CSV",
            Act::ExportJson => "Export the table as NDJSON",
            Act::Theme => "Dark or light",
            Act::Pin => "Pin this kind, or let it go",
            Act::ClearFilter => "Clear the filter",
            Act::Retry => "Retry now",
            Act::Verify => "Verify against the server now",
            Act::ResetColumns => "Reset the columns",
            Act::Letters => "Keys of one letter, on or off",
            Act::Retention(Retention::AtOnce) => "Deleted rows go at once",
            Act::Retention(Retention::TwoSeconds) => "Deleted rows stay for 2 s",
            Act::Retention(Retention::TenSeconds) => "Deleted rows stay for 10 s",
            Act::Retention(Retention::Minute) => "Deleted rows stay for 1 min",
            Act::Retention(Retention::FiveMinutes) => "Deleted rows stay for 5 min",
            Act::Retention(Retention::UntilDismissed) => "Deleted rows stay until they are cleared",
            Act::ClearDeleted => "Clear deleted rows",
            Act::Resync(Resync::Automatic) => "Resync every 10 min, and not where there are very many objects",
            Act::Resync(Resync::Off) => "Never resync",
            Act::Resync(Resync::HalfMinute) => "Resync every 30 s",
            Act::Resync(Resync::Minute) => "Resync every 1 min",
            Act::Resync(Resync::TenMinutes) => "Resync every 10 min",
        }
    }

    /// Whether a key that is held down goes on doing it.
    fn repeats(self) -> bool {
        matches!(self, Act::Down | Act::Up | Act::Right | Act::Left | Act::PageDown | Act::PageUp)
    }
}

/// Keys that do the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// By the browser's names (`KeyboardEvent.key`); `Mod+k` is with Ctrl, or with Cmd.
    pub keys: &'static [&'static str],
    /// What they do.
    pub act: Act,
}

/// A heading of the help, and its keys.
pub type Section = (&'static str, &'static [Binding]);

const fn bind(keys: &'static [&'static str], act: Act) -> Binding {
    Binding { keys, act }
}

/// Every key, in the help's order.
pub const SECTIONS: &[Section] = &[
    (
        "Rows",
        &[
            bind(&["j", "ArrowDown"], Act::Down),
            bind(&["k", "ArrowUp"], Act::Up),
            bind(&["l", "ArrowRight"], Act::Right),
            bind(&["h", "ArrowLeft"], Act::Left),
            bind(&["PageDown"], Act::PageDown),
            bind(&["PageUp"], Act::PageUp),
            bind(&["g", "Home"], Act::First),
            bind(&["G", "End"], Act::Last),
            bind(&["Enter"], Act::Open),
        ],
    ),
    (
        "Finding",
        &[
            bind(&[":", "Mod+k"], Act::Palette),
            bind(&["/"], Act::Filter),
            bind(&["n"], Act::Namespaces),
            bind(&["s"], Act::Sort),
            bind(&["S"], Act::Turn),
            bind(&["Escape"], Act::Leave),
        ],
    ),
    (
        "Table",
        &[
            bind(&["p"], Act::Pause),
            bind(&["w"], Act::Wide),
            bind(&["c"], Act::Columns),
            bind(&["y"], Act::CopyName),
            bind(&["Y"], Act::Copy),
            bind(&["r"], Act::Retry),
            bind(&["t"], Act::Theme),
            bind(&["?"], Act::Help),
        ],
    ),
];

/// A key press.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Press<'a> {
    /// The browser's name for the key (`KeyboardEvent.key`): what it writes, or what it is called.
    pub key: &'a str,
    /// With Ctrl or Cmd.
    pub command: bool,
    /// With Alt.
    pub alt: bool,
    /// With Shift.
    pub shift: bool,
    /// Whether the key is being held down.
    pub repeated: bool,
}

/// Where a key is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// In a field that takes text.
    Field,
    /// On a button, a link, or whatever else has a use for Enter and the arrows.
    Control,
    /// In a dialog, which has its own keys, in a field or not.
    Dialog,
    /// On the table, or nowhere.
    Table,
}

/// What a key does where it is pressed; nothing for most. `letters` says whether keys of a single letter or sign do
/// anything.
pub fn act(press: Press<'_>, focus: Focus, letters: bool) -> Option<Act> {
    let is_sign = press.key.chars().nth(1).is_none();
    let bound = if press.command {
        find("Mod+k").filter(|_| press.key.eq_ignore_ascii_case("k") && !press.alt && !press.shift)
    } else if press.alt || (press.shift && !is_sign) {
        None
    } else {
        find(press.key)
    };
    let act = bound.filter(|act| !press.repeated || act.repeats())?;
    let taken = match focus {
        Focus::Field => press.command,
        Focus::Dialog => press.command || act == Act::Leave,
        Focus::Control => press.command || act == Act::Leave || (is_sign && letters),
        Focus::Table => press.command || !is_sign || letters,
    };
    taken.then_some(act)
}

fn find(key: &str) -> Option<Act> {
    bindings().find(|binding| binding.keys.contains(&key)).map(|binding| binding.act)
}

fn bindings() -> impl Iterator<Item = &'static Binding> {
    SECTIONS.iter().flat_map(|(_, bindings)| bindings.iter())
}

/// The keys that do something, as they are written on keyboards: `["j", "↓"]`.
pub fn keys_of(act: Act) -> Vec<&'static str> {
    let keys = bindings().filter(|binding| binding.act == act).flat_map(|binding| binding.keys);
    keys.map(|key| cap(key)).collect()
}

/// What is written on a key.
pub fn cap(key: &'static str) -> &'static str {
    match key {
        "ArrowDown" => "↓",
        "ArrowUp" => "↑",
        "ArrowRight" => "→",
        "ArrowLeft" => "←",
        "PageDown" => "Page ↓",
        "PageUp" => "Page ↑",
        "Escape" => "Esc",
        "Mod+k" => "Ctrl K",
        key => key,
    }
}

/// What can be left, from the innermost outwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The palette.
    Palette,
    /// The keys.
    Help,
    /// A menu.
    Menu,
    /// A cell of the row.
    Cell,
    /// The object that is looked at.
    Object,
    /// The filter.
    Filter,
}

/// What Esc leaves, of what is there.
pub fn innermost(there: &[Layer]) -> Option<Layer> {
    there.iter().min().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Press<'_> = Press { key: "", command: false, alt: false, shift: false, repeated: false };

    #[test]
    fn keys_do_what_the_table_says_where_it_may() {
        let command = Press { command: true, ..PLAIN };
        let (alt, shift, held) =
            (Press { alt: true, ..PLAIN }, Press { shift: true, ..PLAIN }, Press { repeated: true, ..PLAIN });
        for (press, key, focus, expected) in [
            (PLAIN, "j", Focus::Table, Some(Act::Down)),
            (PLAIN, "ArrowDown", Focus::Table, Some(Act::Down)),
            (held, "j", Focus::Table, Some(Act::Down)),
            (held, "p", Focus::Table, None),
            (shift, "G", Focus::Table, Some(Act::Last)),
            (shift, "?", Focus::Table, Some(Act::Help)),
            (shift, "ArrowDown", Focus::Table, None),
            (alt, "ArrowLeft", Focus::Table, None),
            (alt, "j", Focus::Table, None),
            (command, "j", Focus::Table, None),
            (command, "k", Focus::Table, Some(Act::Palette)),
            (command, "K", Focus::Table, Some(Act::Palette)),
            (Press { shift: true, ..command }, "k", Focus::Table, None),
            (command, "c", Focus::Table, None),
            (PLAIN, "Mod+k", Focus::Field, None),
            (PLAIN, "j", Focus::Field, None),
            (PLAIN, "/", Focus::Field, None),
            (PLAIN, "Enter", Focus::Field, None),
            (PLAIN, "Escape", Focus::Field, None),
            (command, "k", Focus::Field, Some(Act::Palette)),
            (PLAIN, "j", Focus::Control, Some(Act::Down)),
            (PLAIN, "Enter", Focus::Control, None),
            (PLAIN, "ArrowDown", Focus::Control, None),
            (PLAIN, "Home", Focus::Control, None),
            (PLAIN, "Escape", Focus::Control, Some(Act::Leave)),
            (PLAIN, "j", Focus::Dialog, None),
            (PLAIN, "?", Focus::Dialog, None),
            (PLAIN, "Escape", Focus::Dialog, Some(Act::Leave)),
            (command, "k", Focus::Dialog, Some(Act::Palette)),
            (PLAIN, "Tab", Focus::Table, None),
            (PLAIN, " ", Focus::Table, None),
            (PLAIN, "F5", Focus::Table, None),
            (PLAIN, "", Focus::Table, None),
            (PLAIN, "Dead", Focus::Table, None),
        ] {
            assert_eq!(act(Press { key, ..press }, focus, true), expected, "{press:?} {key} {focus:?}");
        }
    }

    #[test]
    fn without_letters_only_named_keys_act() {
        for (_, bindings) in SECTIONS {
            for binding in *bindings {
                for key in binding.keys.iter().filter(|key| !key.starts_with("Mod")) {
                    let expected = (key.chars().count() > 1).then_some(binding.act);
                    assert_eq!(act(Press { key, ..PLAIN }, Focus::Table, false), expected, "{key}");
                }
            }
        }
    }

    #[test]
    fn no_key_has_two_meanings_and_no_act_two_lines() {
        let keys: Vec<&str> = bindings().flat_map(|binding| binding.keys.iter().copied()).collect();
        let acts: Vec<Act> = bindings().map(|binding| binding.act).collect();
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{key} is bound twice");
            // The browser's and the screen reader's own.
            assert!(!["Tab", " ", "F5", "F6", "Insert", "CapsLock", "'", "Backspace", "Delete"].contains(key), "{key}");
        }
        for (at, act) in acts.iter().enumerate() {
            assert!(!acts[..at].contains(act), "{act:?} has two lines");
            assert!(!act.title().is_empty() && !keys_of(*act).is_empty());
        }
        assert_eq!(keys_of(Act::Palette), [":", "Ctrl K"]);
        assert_eq!(keys_of(Act::ExportCsv), [""; 0]);
    }

    #[test]
    fn esc_leaves_the_innermost() {
        for (there, expected) in [
            (&[Layer::Filter, Layer::Object, Layer::Palette][..], Some(Layer::Palette)),
            (&[Layer::Object, Layer::Help], Some(Layer::Help)),
            (&[Layer::Object, Layer::Cell, Layer::Menu], Some(Layer::Menu)),
            (&[Layer::Filter, Layer::Cell], Some(Layer::Cell)),
            (&[Layer::Filter, Layer::Object], Some(Layer::Object)),
            (&[Layer::Filter], Some(Layer::Filter)),
            (&[], None),
        ] {
            assert_eq!(innermost(there), expected);
        }
    }
}
