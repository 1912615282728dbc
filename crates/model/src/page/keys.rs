//! The keys: what a press does. Which keys there are stands in the table of [`OFFERS`].
//!
//! The page does not handle keys that are pressed while the user types into a field, keys that a browser or a screen
//! reader uses (anything with Ctrl, Alt or Shift except Ctrl-K, which every browser leaves to the page), and keys that
//! the focused control handles itself. The keys of a single letter can be turned off, for people who control their
//! machine by speech (WCAG 2.1, 2.1.4).

use crate::feed::FeedCommand;
use crate::inside::command::InsideCommand;
use crate::page::command::{Command, InspectorCommand, OFFERS, Offer, Rows, TimelineCommand};
use crate::rewind::banner::RewindCommand;
use crate::table::cursor::Step;

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
    /// A link or button of a row, which uses Enter alone.
    Link,
    /// The canvas of the timeline.
    Lanes,
    /// A dialog, which has its own keys, whether a field of it has the focus or not.
    Dialog,
    /// The rows, or nothing.
    Table,
}

impl Rows {
    /// What a command of the table means in these rows; `None` where it means nothing.
    fn take(self, command: Command) -> Option<Command> {
        Some(match (self, command) {
            (Rows::Table, Command::Feed(_)) => return None,
            (Rows::Table, command) => command,
            (Rows::Feed, Command::Row(step)) => Command::Feed(FeedCommand::Step(step)),
            (Rows::Feed, Command::RowPage(by)) => Command::Feed(FeedCommand::Page(by)),
            (Rows::Feed, Command::Cell(by)) => Command::Feed(FeedCommand::Aside(by)),
            (Rows::Feed, Command::OpenRow) => Command::Feed(FeedCommand::OpenRow),
            (Rows::Feed, command @ Command::Feed(_)) => command,
            (Rows::Lanes, Command::Row(step)) => Command::Timeline(TimelineCommand::Lane(step)),
            (Rows::Lanes, Command::RowPage(by)) => Command::Timeline(TimelineCommand::LanePage(by)),
            (Rows::Lanes, Command::Cell(by)) => Command::Timeline(TimelineCommand::Mark(by)),
            (Rows::Lanes, Command::OpenRow) => Command::Timeline(TimelineCommand::Open),
            (Rows::Lanes, Command::Feed(_)) => return None,
            // What moves among rows and moments elsewhere, moves among steps here.
            (Rows::Inside, Command::Cell(by) | Command::Row(Step::By(by))) => Command::Inside(InsideCommand::Step(by)),
            (Rows::Inside, Command::RowPage(by)) => Command::Inside(InsideCommand::Step(by * 10)),
            (Rows::Inside, Command::Row(Step::First)) => Command::Inside(InsideCommand::To(0)),
            (Rows::Inside, Command::Row(Step::Last)) => Command::Inside(InsideCommand::End),
            (Rows::Inside, Command::Inspector(InspectorCommand::Step(by))) => Command::Inside(InsideCommand::Step(by)),
            (Rows::Inside, Command::Rewind(RewindCommand::Step(by))) => Command::Inside(InsideCommand::Caption(by)),
            (Rows::Inside, Command::Rewind(RewindCommand::Play)) => Command::Inside(InsideCommand::Play),
            (
                Rows::Inside,
                command @ (Command::Palette(_)
                | Command::Inside(_)
                | Command::Health(_)
                | Command::Writers(_)
                | Command::ToggleHelp
                | Command::ToggleTheme
                | Command::ToggleZone
                | Command::Leave),
            ) => command,
            (Rows::Inside, _) => return None,
            (
                _,
                Command::ToggleWide | Command::OpenColumns | Command::SortNext | Command::TurnOrder | Command::Copy(_),
            ) => return None,
            (_, command) => command,
        })
    }
}

/// What a key does; `None` for most keys. `rows` are in sight, and `letters` says whether keys of a single letter or sign do
/// anything.
pub fn command(press: Press<'_>, focus: Focus, rows: Rows, letters: bool) -> Option<Command> {
    let is_sign = press.key.chars().nth(1).is_none();
    let bound = if press.command {
        find("Mod+k").filter(|_| press.key.eq_ignore_ascii_case("k") && !press.alt && !press.shift)
    } else if press.alt || (press.shift && !is_sign) {
        None
    } else {
        find(press.key)
    };
    // Buttons use the space bar.
    let is_letter = is_sign && press.key != " ";
    let command = &bound.filter(|offer| !press.repeated || offer.repeats)?.command;
    let taken = match focus {
        Focus::Field => press.command,
        Focus::Dialog => press.command || *command == Command::Leave,
        Focus::Control => press.command || *command == Command::Leave || (is_letter && letters),
        Focus::Link => press.command || if is_sign { is_letter && letters } else { press.key != "Enter" },
        Focus::Table | Focus::Lanes => press.command || !is_sign || letters,
    };
    let rows = if focus == Focus::Lanes { Rows::Lanes } else { rows };
    taken.then(|| command.clone()).and_then(|command| rows.take(command))
}

fn find(key: &str) -> Option<&'static Offer> {
    OFFERS.iter().find(|offer| offer.keys.contains(&key))
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
        " " => "Space",
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
    /// The inside of an informer.
    Inside,
    /// A timeline that fills the page.
    Timeline,
    /// A cell of the row.
    Cell,
    /// The comparison of two versions.
    Comparison,
    /// The selected object.
    Object,
    /// The incident.
    Why,
    /// The filter.
    Filter,
    /// The chosen stretch of time.
    Span,
    /// The moment that is shown.
    Moment,
}

/// Which of these layers Esc leaves.
pub fn innermost(there: &[Layer]) -> Option<Layer> {
    there.iter().min().copied()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::feed::span::SpanCommand;
    use crate::page::command::{Copied, PaletteCommand, SECTIONS};

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
            (PLAIN, " ", Focus::Table, Some(Command::Rewind(RewindCommand::Play))),
            (PLAIN, " ", Focus::Control, None),
            (PLAIN, " ", Focus::Link, None),
            (PLAIN, " ", Focus::Field, None),
            (PLAIN, "F5", Focus::Table, None),
            (PLAIN, "", Focus::Table, None),
            (PLAIN, "Dead", Focus::Table, None),
        ] {
            let found = super::command(Press { key, ..press }, focus, Rows::Table, true);
            assert_eq!(found, expected, "{press:?} {key} {focus:?}");
        }
    }

    #[test]
    fn keys_of_rows_go_through_the_rows_in_sight() {
        let feed = |command| Some(Command::Feed(command));
        let lanes = |command| Some(Command::Timeline(command));
        for (key, in_table, in_feed, in_lanes) in [
            (
                "j",
                Some(Command::Row(Step::By(1))),
                feed(FeedCommand::Step(Step::By(1))),
                lanes(TimelineCommand::Lane(Step::By(1))),
            ),
            (
                "End",
                Some(Command::Row(Step::Last)),
                feed(FeedCommand::Step(Step::Last)),
                lanes(TimelineCommand::Lane(Step::Last)),
            ),
            ("PageUp", Some(Command::RowPage(-1)), feed(FeedCommand::Page(-1)), lanes(TimelineCommand::LanePage(-1))),
            ("ArrowLeft", Some(Command::Cell(-1)), feed(FeedCommand::Aside(-1)), lanes(TimelineCommand::Mark(-1))),
            ("Enter", Some(Command::OpenRow), feed(FeedCommand::OpenRow), lanes(TimelineCommand::Open)),
            ("m", None, feed(FeedCommand::OfferNoise(None)), None),
            ("W", Some(Command::ToggleWide), None, None),
            ("c", Some(Command::OpenColumns), None, None),
            ("s", Some(Command::SortNext), None, None),
            ("y", Some(Command::Copy(Copied::Name)), None, None),
            ("p", Some(Command::TogglePause), Some(Command::TogglePause), Some(Command::TogglePause)),
        ] {
            let press = Press { key, ..PLAIN };
            let found = [Rows::Table, Rows::Feed, Rows::Lanes].map(|rows| command(press, Focus::Table, rows, true));
            assert_eq!(found, [in_table, in_feed, in_lanes.clone()], "{key}");
            // On the canvas they are the lanes', whatever is above it.
            assert_eq!(command(press, Focus::Lanes, Rows::Feed, true), in_lanes, "{key}");
        }
        // A link of a row keeps its Enter.
        let on_link = |key| command(Press { key, ..PLAIN }, Focus::Link, Rows::Feed, true);
        assert_eq!((on_link("Enter"), on_link("ArrowDown")), (None, feed(FeedCommand::Step(Step::By(1)))));
        // Inside of an informer there are no rows, and what opens over the page opens there, too.
        let inside = |key| command(Press { key, ..PLAIN }, Focus::Table, Rows::Inside, true);
        assert_eq!(inside("H"), Some(Command::Health(true)));
        assert_eq!(inside("M"), Some(Command::Writers(Some(String::new()))));
        assert_eq!((inside("Enter"), inside("p"), inside("w")), (None, None, None));
    }

    #[test]
    fn without_letters_only_named_keys_act() {
        for offer in OFFERS {
            for key in offer.keys.iter().filter(|key| !key.starts_with("Mod")) {
                let expected = (key.chars().count() > 1).then(|| offer.command.clone());
                let press = Press { key, ..PLAIN };
                assert_eq!(command(press, Focus::Table, Rows::Table, false), expected, "{key}");
            }
        }
    }

    #[test]
    fn no_key_has_two_meanings_and_no_command_two_lines() {
        let keys: Vec<&str> = OFFERS.iter().flat_map(|offer| offer.keys.iter().copied()).collect();
        for (at, key) in keys.iter().enumerate() {
            assert!(!keys[..at].contains(key), "{key} is bound twice");
            // Keys that the browser and the screen reader use.
            assert!(!["Tab", "F5", "F6", "Insert", "CapsLock", "'", "Backspace", "Delete"].contains(key), "{key}");
        }
        for (at, offer) in OFFERS.iter().enumerate() {
            assert!(
                OFFERS[..at].iter().all(|other| other.command != offer.command),
                "{:?} has two lines",
                offer.command
            );
            assert!(!offer.title.is_empty() && (offer.is_in_palette || !offer.keys.is_empty()), "{:?}", offer.command);
            assert_eq!(SECTIONS.contains(&offer.section), !offer.keys.is_empty(), "{:?}", offer.command);
        }
        let keys_of = |command: &Command| command.offer().map(|offer| offer.keys);
        assert_eq!(keys_of(&Command::Palette(PaletteCommand::Toggle)), Some(&[":", "Mod+k"][..]));
        assert_eq!(keys_of(&Command::Export(crate::table::export::Format::Csv)), Some(&[][..]));
        assert_eq!(keys_of(&Command::Span(SpanCommand::AroundPointed)), Some(&["e"][..]));
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
