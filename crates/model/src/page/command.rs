//! What the user can ask for: one vocabulary for clicks, keys, the palette and the address.

use kubechurn_client::api::object::ObjectKey;

use crate::feed::FeedCommand;
use crate::feed::alerts::AlertCommand;
use crate::feed::span::SpanCommand;
use crate::history::Budget;
use crate::inspector::tab::Tab;
use crate::navigation::route::Route;
use crate::shell::panel::Panel;
use crate::table::cursor::Step;
use crate::table::export::Format;
use crate::table::layout::ColumnChange;
use crate::table::view::Retention;
use crate::timeline::lanes::{LaneOrder, LanesBy};
use crate::watches::resync::Resync;

/// Something that the user asks for.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    // --- Places ---
    /// Go to another place, with an entry in the browser's history.
    Go(Box<Route>),
    /// The address has this fragment now: through a link, the browser's history, or the page itself.
    Arrive(String),
    /// Filter the rows by this text, while it is being typed.
    Filter(String),
    /// Have the server select objects by this label selector.
    Labels(String),
    /// Have the server select objects by this field selector.
    Fields(String),
    /// Add this namespace to the chosen ones, or remove it.
    Namespace(String),
    /// Choose all namespaces.
    AllNamespaces,
    /// Sort by the column of this title. The second time reverses the order, and the third time restores the default
    /// order.
    SortBy(&'static str),
    /// Sort by the column of the cell under the cursor, or, without such a cell, by the next one of the columns that
    /// are shown.
    SortNext,
    /// Go to the same place of another cluster, whose page has this address.
    Cluster(String),
    /// Show what changes in everything that matters.
    WhatChanged,
    /// Show what changes in the kinds in view, or their table again.
    ToggleChanges,
    /// Reverse the order.
    TurnOrder,
    /// Show all columns, or only those that kubectl shows by default.
    ToggleWide,
    /// Show a kind, by the page's name for it, in the table beside the kinds in view, or remove the kind from there.
    Join(&'static str),
    /// Keep a kind watched while other kinds are in view, or stop doing so.
    Pin(&'static str),
    /// Keep the kinds in view watched while other kinds are in view; where all of them are kept already, stop doing so.
    PinInView,
    /// Select an object of a kind, by the page's name for the kind, or select nothing. Selecting the selected object
    /// again closes the inspector.
    Select(Option<(&'static str, ObjectKey)>),
    /// Select an object, and show the table of its kind if that is not in view.
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
    /// Go down by this many times the visible height of the table, upwards if negative.
    RowPage(isize),
    /// Go to another cell of the row, this many columns to the right.
    Cell(isize),
    /// Select the object of the row under the cursor.
    OpenRow,
    /// Change the columns.
    Columns(ColumnChange),
    /// Keep deleted rows in the table this long.
    Retention(Retention),
    /// Remove deleted rows now.
    ClearDeleted,

    // --- Watches ---
    /// Stop draining the queues, or resume.
    TogglePause,
    /// Ask the server again at once.
    Retry,
    /// Compare what is shown with what the server has.
    Verify,
    /// Resync this often.
    Resync(Resync),
    /// Give the recorder this much memory.
    Recorder(Budget),
    /// Whether the page may connect to the API that its address names.
    Connect(bool),

    // --- What leaves the page ---
    /// Copy something.
    Copy(Copied),
    /// Save the table as a file.
    Export(Format),

    // --- Parts of the page ---
    /// Do something in the feed of changes.
    Feed(FeedCommand),
    /// Do something with the chosen stretch of time.
    Span(SpanCommand),
    /// Do something with the filters that are watched.
    Alerts(AlertCommand),
    /// Do something in the timeline.
    Timeline(TimelineCommand),
    /// Do something in the inspector.
    Inspector(InspectorCommand),
    /// Change the size of a panel.
    Panel(PanelCommand),
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
    /// Turn the shortcuts of a single letter off, or on.
    ToggleLetters,
    /// Switch between the dark and the light theme.
    ToggleTheme,
    /// Move the focus into the filter.
    FocusFilter,
    /// Open the menu of namespaces.
    OpenNamespaces,
    /// Open the menu of columns.
    OpenColumns,
    /// Fetch the names of the namespaces.
    LoadNamespaces,
    /// Leave the innermost of these: palette, help, menu, a timeline that fills the page, cell, object, filter,
    /// chosen time.
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

/// What the user asks of the timeline. Positions are in CSS pixels of its canvas.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimelineCommand {
    /// The canvas has this width and height.
    Resize(f64, f64),
    /// The pointer is at this position, or has left.
    Hover(Option<(f64, f64)>),
    /// The pointer was pressed at this position, with Shift or without.
    Press(f64, f64, bool),
    /// The pointer was moved to this position while it is pressed.
    Drag(f64, f64),
    /// The pointer was released at this position: a click, unless it was moved.
    Release(f64, f64),
    /// What is dragged stays as it was.
    GiveUp,
    /// A double click.
    DoubleClick(f64, f64),
    /// A click.
    Click(f64, f64),
    /// Scroll by this many lanes.
    Scroll(i32),
    /// Make the window this many times as long, around this position; around now while the window follows the time, and
    /// otherwise around its middle.
    Zoom(f64, Option<f64>),
    /// Move what is in the window by this many pixels, as if it was dragged.
    Pan(f64),
    /// Move the window by this many times its length, to the past if negative.
    Move(f64),
    /// Follow the current time again.
    Follow,
    /// Fill the page with the timeline, in place of the table, or show the table again.
    Fill(bool),
    /// Have lanes stand together.
    LanesBy(LanesBy),
    /// Have lanes stand in this order.
    Order(LaneOrder),
    /// Open all groups of lanes, or close them.
    TurnAll(bool),
    /// Open or close the group of the selected object, or the group that it is in.
    Turn,
    /// Keep the lane of the selected object on top, or let it go.
    Keep,
}

/// What the user asks of the sizes of panels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PanelCommand {
    /// Make the panel this many pixels wide or high, or as large as by default.
    Resize(Panel, Option<f64>),
    /// Keep the panel's size for the next visit.
    Keep(Panel),
    /// The browser's window has another size: fit all panels into the window.
    Fit,
}

/// What the user asks of the inspector.
#[derive(Clone, Debug, PartialEq)]
pub enum InspectorCommand {
    /// Show another tab.
    Tab(Tab),
    /// Show `managedFields`, or fold the field.
    Managed(bool),
    /// Show who manages each field, or stop doing so.
    Managers(bool),
    /// Fetch one value of the Secret, and show it.
    Reveal(String),
    /// Remove the shown value from the document.
    Conceal,
    /// Copy the YAML to the clipboard.
    Copy,
    /// Show at which change the field of this JSON pointer got the value that it has in the YAML, or close the answer.
    LastWrite(Option<String>),
    /// Show the version of this number among the changes, and mark it.
    Change(u64),
    /// Go so many changes of the object on, or back to older ones if negative.
    Step(isize),
    /// Show the newest versions again.
    Newest,
    /// Show older versions as well.
    Older,
    /// Fetch the object from the server again.
    Refresh,
}

/// What the user asks of the palette.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaletteCommand {
    /// Open it, or close it.
    Toggle,
    /// Open it with these letters typed.
    Open(&'static str),
    /// Search for these letters.
    Seek(String),
    /// Move the choice by this many entries.
    Step(isize),
    /// Carry out this entry, or, for `None`, the chosen one.
    Take(Option<usize>),
    /// Close it.
    Close,
}

/// The lists that open from the footer. The content of a list is written only while the list is open.
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
    /// What the command does, in the words of the help and the palette; empty for a command that neither offers.
    pub fn title(&self) -> &'static str {
        match self {
            Command::Filter(text) if text.is_empty() => "Clear the filter",
            Command::SortNext => "Sort by the next column, or the cell's",
            Command::TurnOrder => "Turn the order around",
            Command::ToggleWide => "Wide columns, on or off",
            Command::PinInView => "Pin or unpin this kind",
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
            Command::Cluster(_) => "Go to another cluster",
            Command::WhatChanged => "What changed",
            Command::Span(SpanCommand::AroundPointed) => "What else changed within 2 s of this?",
            Command::Span(SpanCommand::Clear) => "Clear the time range",
            Command::Alerts(AlertCommand::Watch) => "Notify me of what passes this filter",
            Command::Alerts(AlertCommand::EndAll) => "Stop all notifications",
            Command::ToggleChanges => "What changed in the kinds in view, or their table",
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
            Command::Recorder(budget) => match budget {
                Budget::Off => "Turn the recorder off",
                Budget::Small => "Record in 16 MB",
                Budget::Usual => "Record in 64 MB",
                Budget::Large => "Record in 256 MB",
                Budget::Largest => "Record in 512 MB",
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
            Command::Leave => "Close",
            Command::Timeline(command) => match command {
                TimelineCommand::Move(by) if *by < 0.0 => "Earlier on the timeline",
                TimelineCommand::Move(_) => "Later on the timeline",
                TimelineCommand::Zoom(factor, None) if *factor < 1.0 => "A shorter time on the timeline",
                TimelineCommand::Zoom(_, None) => "A longer time on the timeline",
                TimelineCommand::LanesBy(by) => match by {
                    LanesBy::Object => "Lanes by object",
                    LanesBy::Owner => "Lanes by owner",
                    LanesBy::Node => "Lanes by node",
                    LanesBy::Namespace => "Lanes by namespace",
                    LanesBy::Kind => "Lanes by kind",
                    LanesBy::Manager => "Lanes by manager",
                },
                TimelineCommand::Order(order) => match order {
                    LaneOrder::LastChange => "Lanes with the last change first",
                    LaneOrder::FirstChange => "Lanes with the first change first",
                    LaneOrder::Churn => "Lanes with the most changes first",
                    LaneOrder::Name => "Lanes in the order of their names",
                },
                TimelineCommand::TurnAll(true) => "Open all groups of lanes",
                TimelineCommand::TurnAll(false) => "Close all groups of lanes",
                TimelineCommand::Turn => "Open or close the object's group of lanes",
                TimelineCommand::Keep => "Pin or unpin the object's lane",
                _ => "",
            },
            Command::Inspector(InspectorCommand::Step(by)) if *by < 0 => "Change before of the object",
            Command::Inspector(InspectorCommand::Step(_)) => "Next change of the object",
            _ => "",
        }
    }

    /// Whether holding the key down repeats the command.
    pub fn repeats(&self) -> bool {
        match self {
            Command::Row(Step::By(_)) | Command::RowPage(_) | Command::Cell(_) => true,
            Command::Inspector(InspectorCommand::Step(_)) => true,
            Command::Timeline(command) => matches!(command, TimelineCommand::Move(_) | TimelineCommand::Zoom(..)),
            _ => false,
        }
    }
}
