//! What the user can ask for: one vocabulary for clicks, keys, the palette and the address.

use kubechurn_client::api::object::ObjectKey;

use crate::page::cursor::Step;
use crate::page::export::Format;
use crate::page::inspector::tab::Tab;
use crate::page::layout::ColumnChange;
use crate::page::resync::Resync;
use crate::page::route::Route;
use crate::table::view::Retention;

/// Something that the user asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    // --- Where to be ---
    /// Be at another place, which the browser's history remembers.
    Go(Route),
    /// The address has this fragment now, by a link, by the browser's history, or by the page itself.
    Arrive(String),
    /// Filter the rows by this text, while it is being typed.
    Filter(String),
    /// Ask the server for what this label selector selects.
    Labels(String),
    /// Ask the server for what this field selector selects.
    Fields(String),
    /// Choose a namespace, or no longer.
    Namespace(String),
    /// Choose all namespaces.
    AllNamespaces,
    /// Sort by the column of this title; once more turns the order around, and a third time ends it.
    SortBy(&'static str),
    /// Sort by the column of the cell under the cursor, or by the next one of those that are shown.
    SortNext,
    /// Turn the order around.
    TurnOrder,
    /// Show all columns, or the usual ones.
    ToggleWide,
    /// Have a kind, by the page's name for it, in the table beside those in view, or no longer.
    Join(&'static str),
    /// Keep a kind watched while others are in view, or no longer.
    Pin(&'static str),
    /// Keep the kinds in view watched, or, where they all are, no longer.
    PinInView,
    /// Look at an object of a kind, by the page's name for it, or at none; at the same once more: no longer.
    Select(Option<(&'static str, ObjectKey)>),
    /// Look at an object, and at the table of its kind where that is not in view.
    Visit(&'static str, ObjectKey),

    // --- Rows and columns ---
    /// The table was scrolled.
    Scroll {
        /// Its upper edge, in pixels.
        top: f64,
        /// The height of what is seen, in pixels.
        height: f64,
    },
    /// The pointer moves over the table, or left it.
    PointerOverTable(bool),
    /// Go to another row.
    Row(Step),
    /// Go down by so many times what is seen of the table, upwards if negative.
    RowPage(isize),
    /// Go to another cell of the row, by so many to the right.
    Cell(isize),
    /// Look at the object of the row under the cursor.
    OpenRow,
    /// Change the columns.
    Columns(ColumnChange),
    /// Have deleted rows stay so long.
    Retention(Retention),
    /// Have deleted rows go now.
    ClearDeleted,

    // --- Watches ---
    /// Stop draining the queues, or go on.
    TogglePause,
    /// Ask the server again at once.
    Retry,
    /// Compare what is shown with what the server has.
    Verify,
    /// Have what is known told again so often.
    Resync(Resync),
    /// Whether the page may connect to the API that its address names.
    Connect(bool),

    // --- What leaves the page ---
    /// Copy something.
    Copy(Copied),
    /// Keep the table as a file.
    Export(Format),

    // --- Parts of the page ---
    /// Do something in the timeline.
    Timeline(TimelineCommand),
    /// Do something in the inspector.
    Inspector(InspectorCommand),
    /// Do something in the palette.
    Palette(PaletteCommand),
    /// Open or close a group of the sidebar, by its heading.
    Fold(&'static str, bool),
    /// Open or close one of the footer's lists.
    List(List, bool),
    /// Show the keys, or hide them.
    ToggleHelp,
    /// Hide the keys.
    CloseHelp,
    /// Turn the keys of a single letter off, or on.
    ToggleLetters,
    /// Change between dark and light.
    ToggleTheme,
    /// Type into the filter.
    FocusFilter,
    /// Open the menu of namespaces.
    OpenNamespaces,
    /// Open the menu of columns.
    OpenColumns,
    /// Learn which namespaces there are.
    LoadNamespaces,
    /// Leave what is innermost: palette, help, menu, cell, object, filter.
    Leave,
}

/// What can be copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copied {
    /// The name of the row's object.
    Name,
    /// The text of the cell under the cursor.
    Cell,
    /// The cells of the row, with tabs between them.
    Row,
    /// A kubectl command line that gets the table.
    TableCommandLine,
    /// A kubectl command line that gets the object of the row.
    ObjectCommandLine,
    /// The page's address.
    Link,
}

/// What the user asks of the timeline. Places are in CSS pixels of its canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimelineCommand {
    /// The canvas has this width and height.
    Resize(f64, f64),
    /// The pointer is there, or left.
    Hover(Option<(f64, f64)>),
    /// A click.
    Click(f64, f64),
    /// Scroll the lanes by so many.
    Scroll(i32),
    /// Make the window so many times as long, around this place or its end.
    Zoom(f64, Option<f64>),
    /// Move the window by so many pixels.
    Pan(f64),
    /// Follow the time again.
    Follow,
}

/// What the user asks of the inspector.
#[derive(Clone, Debug, PartialEq)]
pub enum InspectorCommand {
    /// Another tab.
    Tab(Tab),
    /// Show `managedFields`, or fold them.
    Managed(bool),
    /// Say who manages each field, or no longer.
    Managers(bool),
    /// Fetch one value of the Secret, and show it.
    Reveal(String),
    /// Take the value out of the document again.
    Conceal,
    /// Put the YAML on the clipboard.
    Copy,
    /// Show older versions as well.
    Older,
    /// Ask the server for the object again.
    Refresh,
    /// Make the panel so many pixels wide, or as wide as at first.
    Widen(Option<f64>),
    /// Keep the width for the next visit.
    KeepWidth,
    /// The browser's window has another width: fit the panel into it.
    Fit,
}

/// What the user asks of the palette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaletteCommand {
    /// Open it, or close it.
    Toggle,
    /// Open it on these letters.
    Open(&'static str),
    /// Look for these letters.
    Seek(String),
    /// Go by so many entries.
    Step(isize),
    /// Take this entry; `None` for the one that is chosen.
    Take(Option<usize>),
    /// Close it.
    Close,
}

/// The lists that open from the footer. What is in them is written only while they are open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// The open watches.
    Watches,
    /// What the page had to say of itself.
    Notices,
    /// What the page's checks of itself found.
    Verified,
}

impl Command {
    /// What it does, as the help and the palette say it; nothing for what neither of them offers.
    pub fn title(&self) -> &'static str {
        match self {
            Command::Filter(text) if text.is_empty() => "Clear the filter",
            Command::SortNext => "Sort by the next column, or the cell's",
            Command::TurnOrder => "Turn the order around",
            Command::ToggleWide => "Wide columns, on or off",
            Command::PinInView => "Pin this kind, or let it go",
            Command::Row(step) => match step {
                Step::By(by) if *by < 0 => "Row before",
                Step::By(_) => "Next row",
                Step::First => "First row",
                Step::Last => "Last row",
            },
            Command::RowPage(by) if *by < 0 => "Page up",
            Command::RowPage(_) => "Page down",
            Command::Cell(by) if *by < 0 => "Cell before",
            Command::Cell(_) => "Next cell",
            Command::OpenRow => "Look at the object",
            Command::Columns(ColumnChange::Reset) => "Reset the columns",
            Command::Retention(retention) => match retention {
                Retention::AtOnce => "Deleted rows go at once",
                Retention::TwoSeconds => "Deleted rows stay for 2 s",
                Retention::TenSeconds => "Deleted rows stay for 10 s",
                Retention::Minute => "Deleted rows stay for 1 min",
                Retention::FiveMinutes => "Deleted rows stay for 5 min",
                Retention::UntilDismissed => "Deleted rows stay until they are cleared",
            },
            Command::ClearDeleted => "Clear deleted rows",
            Command::TogglePause => "Pause, or go live",
            Command::Retry => "Retry now",
            Command::Verify => "Verify against the server now",
            Command::Resync(resync) => match resync {
                Resync::Automatic => "Resync every 10 min, and not where there are very many objects",
                Resync::Off => "Never resync",
                Resync::HalfMinute => "Resync every 30 s",
                Resync::Minute => "Resync every 1 min",
                Resync::TenMinutes => "Resync every 10 min",
            },
            Command::Copy(copied) => match copied {
                Copied::Name => "Copy the name",
                Copied::Cell => "Copy the cell",
                Copied::Row => "Copy the row",
                Copied::TableCommandLine => "Copy kubectl get for the table",
                Copied::ObjectCommandLine => "Copy kubectl get for the object",
                Copied::Link => "Copy the link",
            },
            Command::Export(Format::Csv) => "Export the table as CSV",
            Command::Export(Format::Json) => "Export the table as NDJSON",
            Command::Palette(PaletteCommand::Toggle) => "Open the palette",
            Command::Palette(PaletteCommand::Open(_)) => "Copy …",
            Command::ToggleHelp => "Show the keys",
            Command::ToggleLetters => "Keys of one letter, on or off",
            Command::ToggleTheme => "Dark or light",
            Command::FocusFilter => "Filter the rows",
            Command::OpenNamespaces => "Choose namespaces",
            Command::OpenColumns => "Choose columns",
            Command::Leave => "Leave the innermost",
            _ => "",
        }
    }

    /// Whether a key that is held down goes on doing it.
    pub fn repeats(&self) -> bool {
        matches!(self, Command::Row(Step::By(_)) | Command::RowPage(_) | Command::Cell(_))
    }
}
