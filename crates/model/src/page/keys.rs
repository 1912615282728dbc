//! The keys: one table, which says what each key does, what the help shows, and which keys the palette hints at.
//!
//! The page does not handle keys that are pressed while the user types into a field, keys that a browser or a screen
//! reader uses (anything with Ctrl, Alt or Shift except Ctrl-K, which every browser leaves to the page), and keys that
//! the focused control handles itself. The keys of a single letter can be turned off, for people who control their
//! machine by speech (WCAG 2.1, 2.1.4).

use crate::feed::span::SpanCommand;
use crate::page::command::{Command, Copied, InspectorCommand, PaletteCommand, TimelineCommand};
use crate::table::cursor::Step;

/// Keys with the same effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Binding {
    /// The browser's names (`KeyboardEvent.key`); `Mod+k` is k with Ctrl or Cmd.
    pub keys: &'static [&'static str],
    /// What they do.
    pub command: Command,
}

/// A heading of the help, and its keys.
pub type Section = (&'static str, &'static [Binding]);

const fn bind(keys: &'static [&'static str], command: Command) -> Binding {
    Binding { keys, command }
}

/// Every key, in the help's order.
pub const SECTIONS: &[Section] = &[
    (
        "Rows",
        &[
            bind(&["j", "ArrowDown"], Command::Row(Step::By(1))),
            bind(&["k", "ArrowUp"], Command::Row(Step::By(-1))),
            bind(&["l", "ArrowRight"], Command::Cell(1)),
            bind(&["h", "ArrowLeft"], Command::Cell(-1)),
            bind(&["PageDown"], Command::RowPage(1)),
            bind(&["PageUp"], Command::RowPage(-1)),
            bind(&["g", "Home"], Command::Row(Step::First)),
            bind(&["G", "End"], Command::Row(Step::Last)),
            bind(&["Enter"], Command::OpenRow),
        ],
    ),
    (
        "Finding",
        &[
            bind(&[":", "Mod+k"], Command::Palette(PaletteCommand::Toggle)),
            bind(&["/"], Command::FocusFilter),
            bind(&["n"], Command::OpenNamespaces),
            bind(&["s"], Command::SortNext),
            bind(&["S"], Command::TurnOrder),
            bind(&["Escape"], Command::Leave),
        ],
    ),
    (
        "Table",
        &[
            bind(&["p"], Command::TogglePause),
            bind(&["w"], Command::ToggleWide),
            bind(&["c"], Command::OpenColumns),
            bind(&["y"], Command::Copy(Copied::Name)),
            bind(&["Y"], Command::Palette(PaletteCommand::Open("copy "))),
            bind(&["r"], Command::Retry),
            bind(&["t"], Command::ToggleTheme),
            bind(&["?"], Command::ToggleHelp),
        ],
    ),
    (
        "Timeline",
        &[
            bind(&["a"], Command::Timeline(TimelineCommand::Move(-MOVED))),
            bind(&["d"], Command::Timeline(TimelineCommand::Move(MOVED))),
            bind(&["+", "="], Command::Timeline(TimelineCommand::Zoom(0.5, None))),
            bind(&["-"], Command::Timeline(TimelineCommand::Zoom(2.0, None))),
            bind(&["["], Command::Inspector(InspectorCommand::Step(-1))),
            bind(&["]"], Command::Inspector(InspectorCommand::Step(1))),
            bind(&["e"], Command::Span(SpanCommand::AroundPointed)),
        ],
    ),
];

/// By which part of its length a key moves the timeline's window.
const MOVED: f64 = 0.25;

/// A key press.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Press<'a> {
    /// The browser's name for the key (`KeyboardEvent.key`): the character that it types, or its name.
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

/// What has the focus when a key is pressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Focus {
    /// A field that takes text.
    Field,
    /// A button, a link, or any other control that uses Enter and the arrows.
    Control,
    /// A dialog, which has its own keys, whether a field of it has the focus or not.
    Dialog,
    /// The table, or nothing.
    Table,
}

/// What a key does; `None` for most keys. `letters` says whether keys of a single letter or sign do anything.
pub fn command(press: Press<'_>, focus: Focus, letters: bool) -> Option<Command> {
    let is_sign = press.key.chars().nth(1).is_none();
    let bound = if press.command {
        find("Mod+k").filter(|_| press.key.eq_ignore_ascii_case("k") && !press.alt && !press.shift)
    } else if press.alt || (press.shift && !is_sign) {
        None
    } else {
        find(press.key)
    };
    let command = bound.filter(|command| !press.repeated || command.repeats())?;
    let taken = match focus {
        Focus::Field => press.command,
        Focus::Dialog => press.command || *command == Command::Leave,
        Focus::Control => press.command || *command == Command::Leave || (is_sign && letters),
        Focus::Table => press.command || !is_sign || letters,
    };
    taken.then(|| command.clone())
}

fn find(key: &str) -> Option<&'static Command> {
    bindings().find(|binding| binding.keys.contains(&key)).map(|binding| &binding.command)
}

fn bindings() -> impl Iterator<Item = &'static Binding> {
    SECTIONS.iter().flat_map(|(_, bindings)| bindings.iter())
}

/// The keys for a command, as keyboards label them: `["j", "↓"]`.
pub fn keys_of(command: &Command) -> Vec<&'static str> {
    let keys = bindings().filter(|binding| binding.command == *command).flat_map(|binding| binding.keys);
    keys.map(|key| cap(key)).collect()
}

/// The label of a key.
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

/// What Esc can leave, from the innermost outwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The palette.
    Palette,
    /// The help.
    Help,
    /// A menu.
    Menu,
    /// A timeline that fills the page.
    Timeline,
    /// A cell of the row.
    Cell,
    /// The selected object.
    Object,
    /// The filter.
    Filter,
    /// The chosen stretch of time.
    Span,
}

/// Which of these layers Esc leaves.
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
            (PLAIN, "j", Focus::Table, Some(Command::Row(Step::By(1)))),
            (PLAIN, "ArrowDown", Focus::Table, Some(Command::Row(Step::By(1)))),
            (held, "j", Focus::Table, Some(Command::Row(Step::By(1)))),
            (held, "p", Focus::Table, None),
            (shift, "G", Focus::Table, Some(Command::Row(Step::Last))),
            (shift, "?", Focus::Table, Some(Command::ToggleHelp)),
            (shift, "ArrowDown", Focus::Table, None),
            (alt, "ArrowLeft", Focus::Table, None),
            (alt, "j", Focus::Table, None),
            (command, "j", Focus::Table, None),
            (command, "k", Focus::Table, Some(Command::Palette(PaletteCommand::Toggle))),
            (command, "K", Focus::Table, Some(Command::Palette(PaletteCommand::Toggle))),
            (Press { shift: true, ..command }, "k", Focus::Table, None),
            (command, "c", Focus::Table, None),
            (PLAIN, "Mod+k", Focus::Field, None),
            (PLAIN, "j", Focus::Field, None),
            (PLAIN, "/", Focus::Field, None),
            (PLAIN, "Enter", Focus::Field, None),
            (PLAIN, "Escape", Focus::Field, None),
            (command, "k", Focus::Field, Some(Command::Palette(PaletteCommand::Toggle))),
            (PLAIN, "j", Focus::Control, Some(Command::Row(Step::By(1)))),
            (PLAIN, "Enter", Focus::Control, None),
            (PLAIN, "ArrowDown", Focus::Control, None),
            (PLAIN, "Home", Focus::Control, None),
            (PLAIN, "Escape", Focus::Control, Some(Command::Leave)),
            (PLAIN, "j", Focus::Dialog, None),
            (PLAIN, "?", Focus::Dialog, None),
            (PLAIN, "Escape", Focus::Dialog, Some(Command::Leave)),
            (command, "k", Focus::Dialog, Some(Command::Palette(PaletteCommand::Toggle))),
            (PLAIN, "a", Focus::Table, Some(Command::Timeline(TimelineCommand::Move(-0.25)))),
            (held, "d", Focus::Table, Some(Command::Timeline(TimelineCommand::Move(0.25)))),
            (shift, "+", Focus::Table, Some(Command::Timeline(TimelineCommand::Zoom(0.5, None)))),
            (held, "-", Focus::Table, Some(Command::Timeline(TimelineCommand::Zoom(2.0, None)))),
            (command, "+", Focus::Table, None),
            (held, "[", Focus::Table, Some(Command::Inspector(InspectorCommand::Step(-1)))),
            (PLAIN, "]", Focus::Control, Some(Command::Inspector(InspectorCommand::Step(1)))),
            (alt, "[", Focus::Table, None),
            (PLAIN, "[", Focus::Field, None),
            (PLAIN, "a", Focus::Field, None),
            (PLAIN, "Tab", Focus::Table, None),
            (PLAIN, " ", Focus::Table, None),
            (PLAIN, "F5", Focus::Table, None),
            (PLAIN, "", Focus::Table, None),
            (PLAIN, "Dead", Focus::Table, None),
        ] {
            assert_eq!(super::command(Press { key, ..press }, focus, true), expected, "{press:?} {key} {focus:?}");
        }
    }

    #[test]
    fn without_letters_only_named_keys_act() {
        for (_, bindings) in SECTIONS {
            for binding in *bindings {
                for key in binding.keys.iter().filter(|key| !key.starts_with("Mod")) {
                    let expected = (key.chars().count() > 1).then(|| binding.command.clone());
                    assert_eq!(command(Press { key, ..PLAIN }, Focus::Table, false), expected, "{key}");
                }
            }
        }
    }

    #[test]
    fn no_key_has_two_meanings_and_no_command_two_lines() {
        let keys: Vec<&str> = bindings().flat_map(|binding| binding.keys.iter().copied()).collect();
        let commands: Vec<&Command> = bindings().map(|binding| &binding.command).collect();
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{key} is bound twice");
            // Keys that the browser and the screen reader use.
            assert!(!["Tab", " ", "F5", "F6", "Insert", "CapsLock", "'", "Backspace", "Delete"].contains(key), "{key}");
        }
        for (at, command) in commands.iter().enumerate() {
            assert!(!commands[..at].contains(command), "{command:?} has two lines");
            assert!(!command.title().is_empty() && !keys_of(command).is_empty());
        }
        assert_eq!(keys_of(&Command::Palette(PaletteCommand::Toggle)), [":", "Ctrl K"]);
        assert_eq!(keys_of(&Command::Export(crate::table::export::Format::Csv)), [""; 0]);
    }

    #[test]
    fn esc_leaves_the_innermost() {
        for (there, expected) in [
            (&[Layer::Filter, Layer::Object, Layer::Palette][..], Some(Layer::Palette)),
            (&[Layer::Object, Layer::Help], Some(Layer::Help)),
            (&[Layer::Object, Layer::Cell, Layer::Menu], Some(Layer::Menu)),
            (&[Layer::Object, Layer::Cell, Layer::Timeline], Some(Layer::Timeline)),
            (&[Layer::Timeline, Layer::Menu], Some(Layer::Menu)),
            (&[Layer::Filter, Layer::Cell], Some(Layer::Cell)),
            (&[Layer::Filter, Layer::Object], Some(Layer::Object)),
            (&[Layer::Filter], Some(Layer::Filter)),
            (&[], None),
        ] {
            assert_eq!(innermost(there), expected);
        }
    }
}
