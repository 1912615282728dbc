//! What the user can ask for: one vocabulary for clicks, keys, the palette and the address.

use kubechurn_client::api::object::ObjectKey;

use crate::feed::FeedCommand;
use crate::feed::alerts::AlertCommand;
use crate::feed::span::SpanCommand;
use crate::history::Budget;
use crate::inside::command::InsideCommand;
use crate::inspector::tab::Tab;
use crate::kept::KeepCommand;
use crate::logs::command::LogCommand;
use crate::navigation::route::Route;
use crate::recording::{NoteCommand, RecordingCommand};
use crate::rewind::banner::RewindCommand;
use crate::shell::panel::Panel;
use crate::table::cursor::Step;
use crate::table::export::Format;
use crate::table::layout::ColumnChange;
use crate::table::view::Retention;
use crate::timeline::lanes::{LaneOrder, LanesBy};
use crate::watches::resync::Resync;
use crate::why::WhyCommand;

/// The rows that the keys of rows go through: those in sight. What is hidden takes no key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rows {
    /// Those of the table.
    #[default]
    Table,
    /// Those of the feed.
    Feed,
    /// The lanes of the timeline.
    Lanes,
    /// None: the steps inside of an informer.
    Inside,
}

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
    /// Something about what the filter can be completed to.
    Completion(CompletionCommand),
    /// Have the server select objects by this label selector.
    Labels(String),
    /// Have the server select objects by this field selector.
    Fields(String),
    /// Add this namespace to the chosen ones, or remove it; several with commas.
    Namespace(String),
    /// Forget this namespace, whose name was typed.
    ForgetNamespace(String),
    /// Choose all namespaces.
    AllNamespaces,
    /// Show all kinds of this namespace in one table.
    Everything(String),
    /// Sort by the column of this title. The second time reverses the order, and the third time restores the default
    /// order.
    SortBy(&'static str),
    /// Sort by the column of the cell under the cursor, or, without such a cell, by the next one of the columns that
    /// are shown.
    SortNext,
    /// Go to the same place of another cluster, whose page has this address.
    Cluster(String),
    /// Open the recording beside the page that this fragment names.
    OpenBeside(String),
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
    /// Show the health of the watches, or no longer.
    Health(bool),
    /// Show who writes what, with the last writes of the one of this name; `None`: no longer.
    Writers(Option<String>),
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
    /// Do something with the moment that is shown.
    Rewind(RewindCommand),
    /// Do something with a recording.
    Recording(RecordingCommand),
    /// Do something with the filters that are watched.
    Alerts(AlertCommand),
    /// Do something inside of an informer.
    Inside(InsideCommand),
    /// Do something in the timeline.
    Timeline(TimelineCommand),
    /// Do something in the inspector.
    Inspector(InspectorCommand),
    /// Change the size of a panel.
    Panel(PanelCommand),
    /// Do something with an incident.
    Why(WhyCommand),
    /// Do something with logs.
    Logs(LogCommand),
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
    /// Keep what *What changed* shows watched in other views, or let it go.
    ToggleKept,
    /// Switch between the dark and the light theme.
    ToggleTheme,
    /// Show times by the next clock: the machine's, UTC, or the machine's with the name of its zone.
    ToggleZone,
    /// Move the focus into the filter.
    FocusFilter,
    /// Open the menu of namespaces.
    OpenNamespaces,
    /// Open the menu of columns.
    OpenColumns,
    /// Fetch the names of the namespaces.
    LoadNamespaces,
    /// Leave the innermost of these: palette, help, menu, the inside of an informer, a timeline that fills the page, cell, object, filter,
    /// chosen time, moment.
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
    /// Go to another lane by the keyboard.
    Lane(Step),
    /// Go down by this many times the number of lanes in sight, upwards if negative.
    LanePage(isize),
    /// Go to the next mark of the lane, or back if negative; from its label, open or close its group.
    Mark(isize),
    /// Open what the keyboard's cursor is on, as a click does.
    Open,
    /// The canvas has lost the focus, and with it the cursor.
    Blur,
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
    /// The YAML is scrolled down by so many pixels, and so many are in sight.
    Scroll {
        /// The first pixel.
        top: f64,
        /// How many.
        height: f64,
    },
    /// Copy the YAML to the clipboard.
    Copy,
    /// Copy this command line.
    CopyLine(String),
    /// Copy what differs between the marked version and the one before it.
    CopyDifference,
    /// Show at which change the field of this JSON pointer got the value that it has in the YAML, or close the answer.
    LastWrite(Option<String>),
    /// Show the version of this number among the changes, and mark it.
    Change(u64),
    /// Go so many changes of the object on, or back to older ones if negative.
    Step(isize),
    /// Do something with the comparison of two versions.
    Compare(Compare),
    /// Show the newest versions again.
    Newest,
    /// Show older versions as well.
    Older,
    /// Fetch the object from the server again.
    Refresh,
}

/// What the user asks of the comparison of two versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// Compare the version of this number with the one that is marked, or else with the one before it.
    With(u64),
    /// Compare the version that is marked, or else the newest, with the one before it; or end the comparison.
    Toggle,
    /// Take the version of this number as the old one.
    Old(u64),
    /// Take the version of this number as the new one; `None` for the newest, whichever that is.
    New(Option<u64>),
    /// Have the two change their places.
    Swap,
    /// List the fields that differ, or show the YAML.
    Fields(bool),
    /// Open the folded part that begins with this line of the old version.
    Unfold(usize),
    /// End it.
    End,
}

/// What the user asks of the list of what the filter can be completed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionCommand {
    /// Offer what the word can be that is being typed.
    Offer,
    /// Move the choice by this many entries; beyond the last one nothing is chosen.
    Step(isize),
    /// Take this entry, or, for `None`, the chosen one; the first where none is chosen.
    Take(Option<usize>),
    /// Offer nothing.
    Hide,
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

/// A command that the help or the palette offers: everything that is said of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// What is offered. What comes of it, `Page` decides.
    pub command: Command,
    /// What it does, in the words of the help and the palette.
    pub title: &'static str,
    /// Other words that people use for it.
    pub names: &'static [&'static str],
    /// The keys with this effect, by the browser's names (`KeyboardEvent.key`); `Mod+k` is k with Ctrl or Cmd.
    pub keys: &'static [&'static str],
    /// The heading of the keys in the help.
    pub section: &'static str,
    /// Whether holding the key down repeats the command.
    pub repeats: bool,
    /// Whether the palette has it.
    pub is_in_palette: bool,
}

impl Offer {
    /// A command of the palette.
    const fn new(title: &'static str, command: Command) -> Offer {
        Offer { command, title, names: &[], keys: &[], section: "", repeats: false, is_in_palette: true }
    }

    const fn names(mut self, names: &'static [&'static str]) -> Offer {
        self.names = names;
        self
    }

    const fn keys(mut self, section: &'static str, keys: &'static [&'static str]) -> Offer {
        self.section = section;
        self.keys = keys;
        self
    }

    const fn repeating(mut self) -> Offer {
        self.repeats = true;
        self
    }

    const fn by_key_only(mut self) -> Offer {
        self.is_in_palette = false;
        self
    }
}

/// The headings of the help, in its order.
pub const SECTIONS: [&str; 4] = ["Rows", "Finding", "Table", "Timeline"];

/// By which part of its length a key moves the timeline's window.
const MOVED: f64 = 0.25;

/// Every command that is offered, in the order of the palette and, below each heading, of the help.
pub const OFFERS: &[Offer] = &[
    Offer::new("Next row", Command::Row(Step::By(1))).keys("Rows", &["j", "ArrowDown"]).repeating().by_key_only(),
    Offer::new("Row before", Command::Row(Step::By(-1))).keys("Rows", &["k", "ArrowUp"]).repeating().by_key_only(),
    Offer::new("Next cell", Command::Cell(1)).keys("Rows", &["l", "ArrowRight"]).repeating().by_key_only(),
    Offer::new("Cell before", Command::Cell(-1)).keys("Rows", &["h", "ArrowLeft"]).repeating().by_key_only(),
    Offer::new("Page down", Command::RowPage(1)).keys("Rows", &["PageDown"]).repeating().by_key_only(),
    Offer::new("Page up", Command::RowPage(-1)).keys("Rows", &["PageUp"]).repeating().by_key_only(),
    Offer::new("First row", Command::Row(Step::First)).keys("Rows", &["g", "Home"]).by_key_only(),
    Offer::new("Last row", Command::Row(Step::Last)).keys("Rows", &["G", "End"]).by_key_only(),
    Offer::new("Look at the object", Command::OpenRow).keys("Rows", &["Enter"]).by_key_only(),
    Offer::new("Call a field of the row noise", Command::Feed(FeedCommand::OfferNoise(None)))
        .keys("Rows", &["m"])
        .by_key_only(),
    Offer::new("Open the palette", Command::Palette(PaletteCommand::Toggle))
        .keys("Finding", &[":", "Mod+k"])
        .by_key_only(),
    Offer::new("Filter the rows", Command::FocusFilter).keys("Finding", &["/"]),
    Offer::new("Choose namespaces", Command::OpenNamespaces).keys("Finding", &["n"]),
    Offer::new("Pause, or go live", Command::TogglePause).keys("Table", &["p"]),
    Offer::new("Wide columns, on or off", Command::ToggleWide).keys("Table", &["W"]),
    Offer::new("Why? What changed before this", Command::Why(WhyCommand::Ask))
        .names(&["incident", "cause", "reason", "before"])
        .keys("Finding", &["w"]),
    Offer::new("Logs of the Pod, or of the workload's Pods", Command::Logs(LogCommand::Show))
        .names(&["log", "output", "stdout", "tail", "follow"])
        .keys("Finding", &["o"]),
    Offer::new("Copy the incident as text", Command::Why(WhyCommand::Copy)).names(&["why", "share"]),
    Offer::new("Choose columns", Command::OpenColumns).keys("Table", &["c"]),
    Offer::new("Reset the columns", Command::Columns(ColumnChange::Reset)),
    Offer::new("Sort by the next column, or the cell's", Command::SortNext).keys("Finding", &["s"]),
    Offer::new("Turn the order around", Command::TurnOrder).keys("Finding", &["S"]),
    Offer::new("Pin or unpin this kind", Command::PinInView),
    Offer::new("Clear the filter", Command::Filter(String::new())).names(&["show all"]),
    Offer::new("Clear deleted rows", Command::ClearDeleted).names(&["dismiss"]),
    Offer::new("Deleted rows go at once", Command::Retention(Retention::AtOnce)).names(&["linger", "keep"]),
    Offer::new("Deleted rows stay for 2 s", Command::Retention(Retention::TwoSeconds)).names(&["linger", "keep"]),
    Offer::new("Deleted rows stay for 10 s", Command::Retention(Retention::TenSeconds)).names(&["linger", "keep"]),
    Offer::new("Deleted rows stay for 1 min", Command::Retention(Retention::Minute)).names(&["linger", "keep"]),
    Offer::new("Deleted rows stay for 5 min", Command::Retention(Retention::FiveMinutes)).names(&["linger", "keep"]),
    Offer::new("Deleted rows stay until they are cleared", Command::Retention(Retention::UntilDismissed))
        .names(&["linger", "keep"]),
    Offer::new("What changed", Command::WhatChanged).names(&["feed", "changes", "history"]),
    Offer::new("What changed in the kinds in view, or their table", Command::ToggleChanges)
        .names(&["feed", "changes", "history"]),
    Offer::new("Inside: list, watch and informers, step by step, or no longer", Command::Inside(InsideCommand::Toggle))
        .names(&["informer", "reflector", "deltafifo", "queue", "learn", "client-go", "machinery"])
        .keys("Finding", &["i"]),
    Offer::new("Earlier on the timeline", Command::Timeline(TimelineCommand::Move(-MOVED)))
        .keys("Timeline", &["a"])
        .repeating()
        .by_key_only(),
    Offer::new("Later on the timeline", Command::Timeline(TimelineCommand::Move(MOVED)))
        .keys("Timeline", &["d"])
        .repeating()
        .by_key_only(),
    Offer::new("A shorter time on the timeline", Command::Timeline(TimelineCommand::Zoom(0.5, None)))
        .keys("Timeline", &["+", "="])
        .repeating()
        .by_key_only(),
    Offer::new("A longer time on the timeline", Command::Timeline(TimelineCommand::Zoom(2.0, None)))
        .keys("Timeline", &["-"])
        .repeating()
        .by_key_only(),
    Offer::new("Change before of the object", Command::Inspector(InspectorCommand::Step(-1)))
        .keys("Timeline", &["["])
        .repeating()
        .by_key_only(),
    Offer::new("Next change of the object", Command::Inspector(InspectorCommand::Step(1)))
        .keys("Timeline", &["]"])
        .repeating()
        .by_key_only(),
    Offer::new("Rewind to the change before", Command::Rewind(RewindCommand::Step(-1)))
        .names(&["history", "past", "back"])
        .keys("Timeline", &[","])
        .repeating(),
    Offer::new("Go to the next change", Command::Rewind(RewindCommand::Step(1)))
        .names(&["history", "past", "forward"])
        .keys("Timeline", &["."])
        .repeating(),
    Offer::new("Rewind to this", Command::Rewind(RewindCommand::ToPointed))
        .names(&["history", "past", "then", "as it was"])
        .keys("Timeline", &["b"]),
    Offer::new("Play the recording, or stop", Command::Rewind(RewindCommand::Play))
        .names(&["history", "past", "replay"])
        .keys("Timeline", &[" "]),
    Offer::new("Rewind 1 min", Command::Rewind(RewindCommand::Back(60_000.0))).names(&["history", "past", "ago"]),
    Offer::new("Rewind 10 min", Command::Rewind(RewindCommand::Back(600_000.0))).names(&["history", "past", "ago"]),
    Offer::new("Go back to now", Command::Rewind(RewindCommand::Live))
        .names(&["live", "present"])
        .keys("Timeline", &["L"]),
    Offer::new(
        "Compare two versions of the object, or no longer",
        Command::Inspector(InspectorCommand::Compare(Compare::Toggle)),
    )
    .names(&["diff", "difference", "side by side", "versions"])
    .keys("Timeline", &["v"]),
    Offer::new("What else changed within 2 s of this?", Command::Span(SpanCommand::AroundPointed))
        .keys("Timeline", &["e"]),
    Offer::new("What is different in the end, or each change", Command::Span(SpanCommand::Difference))
        .names(&["compare", "diff", "net", "between", "since"])
        .keys("Timeline", &["D"]),
    Offer::new("Compare with 1 min ago", Command::Span(SpanCommand::Back(60_000.0))).names(&[
        "diff",
        "difference",
        "net",
        "since",
    ]),
    Offer::new("Compare with 10 min ago", Command::Span(SpanCommand::Back(600_000.0))).names(&[
        "diff",
        "difference",
        "net",
        "since",
    ]),
    Offer::new("Save the recording", Command::Recording(RecordingCommand::Save))
        .names(&["export", "file", "churn", "download", "share"]),
    Offer::new("Keep in this browser, or no longer", Command::Recording(RecordingCommand::Keep(KeepCommand::Toggle)))
        .names(&["record", "disk", "store", "persist", "opfs"]),
    Offer::new("Kept in this browser", Command::Recording(RecordingCommand::Keep(KeepCommand::List))).names(&[
        "recordings",
        "disk",
        "history",
        "delete",
        "opfs",
    ]),
    Offer::new("Note something at this moment", Command::Recording(RecordingCommand::Note(NoteCommand::Begin)))
        .names(&["comment", "annotate", "mark", "remark", "write"])
        .keys("Timeline", &["N"]),
    Offer::new("Open a recording", Command::Recording(RecordingCommand::Open))
        .names(&["import", "file", "churn", "load", "replay"]),
    Offer::new("Close the recording", Command::Recording(RecordingCommand::Close)).names(&["live", "cluster", "back"]),
    Offer::new("Clear the time range", Command::Span(SpanCommand::Clear)),
    Offer::new("Notify me of what passes this filter", Command::Alerts(AlertCommand::Watch)),
    Offer::new("Stop all notifications", Command::Alerts(AlertCommand::EndAll)),
    Offer::new("Resync every 10 min, and not where there are very many objects", Command::Resync(Resync::Automatic))
        .names(&["sync", "replay", "period"]),
    Offer::new("Never resync", Command::Resync(Resync::Off)).names(&["sync", "replay", "period"]),
    Offer::new("Resync every 30 s", Command::Resync(Resync::HalfMinute)).names(&["sync", "replay", "period"]),
    Offer::new("Resync every 1 min", Command::Resync(Resync::Minute)).names(&["sync", "replay", "period"]),
    Offer::new("Resync every 10 min", Command::Resync(Resync::TenMinutes)).names(&["sync", "replay", "period"]),
    Offer::new("Turn the recorder off", Command::Recorder(Budget::Off))
        .names(&["recorder", "history", "memory", "versions", "off"]),
    Offer::new("Record in 16 MB", Command::Recorder(Budget::Small))
        .names(&["recorder", "history", "memory", "versions", "off"]),
    Offer::new("Record in 64 MB", Command::Recorder(Budget::Usual))
        .names(&["recorder", "history", "memory", "versions", "off"]),
    Offer::new("Record in 256 MB", Command::Recorder(Budget::Large))
        .names(&["recorder", "history", "memory", "versions", "off"]),
    Offer::new("Record in 512 MB", Command::Recorder(Budget::Largest))
        .names(&["recorder", "history", "memory", "versions", "off"]),
    Offer::new("Retry now", Command::Retry).names(&["reconnect", "refresh"]).keys("Table", &["r"]),
    Offer::new("Watch health", Command::Health(true))
        .names(&["watches", "reflector", "relist", "410", "bookmark", "requests", "cost", "seats"])
        .keys("Table", &["H"]),
    Offer::new("Who writes what", Command::Writers(Some(String::new())))
        .names(&["writers", "managers", "controllers", "reconcile", "operator", "users", "conflicts"])
        .keys("Table", &["M"]),
    Offer::new("Verify against the server now", Command::Verify).names(&["check", "compare", "consistency"]),
    Offer::new("Copy the name", Command::Copy(Copied::Name)).keys("Table", &["y"]),
    Offer::new("Copy …", Command::Palette(PaletteCommand::Open("copy "))).keys("Table", &["Y"]).by_key_only(),
    Offer::new("Copy the cell", Command::Copy(Copied::Cell)),
    Offer::new("Copy the row", Command::Copy(Copied::Row)),
    Offer::new("Copy kubectl get for the object", Command::Copy(Copied::ObjectCommandLine)),
    Offer::new("Copy kubectl get for the table", Command::Copy(Copied::TableCommandLine)),
    Offer::new("Copy the link", Command::Copy(Copied::Link)).names(&["url", "share", "address"]),
    Offer::new("Export the table as CSV", Command::Export(Format::Csv)).names(&["download", "save", "spreadsheet"]),
    Offer::new("Export the table as NDJSON", Command::Export(Format::Json)).names(&["download", "save", "json"]),
    Offer::new("Lanes by object", Command::Timeline(TimelineCommand::LanesBy(LanesBy::Object)))
        .names(&["timeline", "group", "tree"]),
    Offer::new("Lanes by owner", Command::Timeline(TimelineCommand::LanesBy(LanesBy::Owner)))
        .names(&["timeline", "group", "tree"]),
    Offer::new("Lanes by node", Command::Timeline(TimelineCommand::LanesBy(LanesBy::Node)))
        .names(&["timeline", "group", "tree"]),
    Offer::new("Lanes by namespace", Command::Timeline(TimelineCommand::LanesBy(LanesBy::Namespace)))
        .names(&["timeline", "group", "tree"]),
    Offer::new("Lanes by kind", Command::Timeline(TimelineCommand::LanesBy(LanesBy::Kind)))
        .names(&["timeline", "group", "tree"]),
    Offer::new("Lanes by manager", Command::Timeline(TimelineCommand::LanesBy(LanesBy::Manager)))
        .names(&["timeline", "group", "tree"]),
    Offer::new("Lanes with the last change first", Command::Timeline(TimelineCommand::Order(LaneOrder::LastChange)))
        .names(&["timeline", "sort"]),
    Offer::new("Lanes with the first change first", Command::Timeline(TimelineCommand::Order(LaneOrder::FirstChange)))
        .names(&["timeline", "sort"]),
    Offer::new("Lanes with the most changes first", Command::Timeline(TimelineCommand::Order(LaneOrder::Churn)))
        .names(&["timeline", "sort"]),
    Offer::new("Lanes with what fails first", Command::Timeline(TimelineCommand::Order(LaneOrder::Worst)))
        .names(&["timeline", "worst"]),
    Offer::new("Lanes in the order of their names", Command::Timeline(TimelineCommand::Order(LaneOrder::Name)))
        .names(&["timeline", "sort"]),
    Offer::new("Open all groups of lanes", Command::Timeline(TimelineCommand::TurnAll(true)))
        .names(&["timeline", "expand"]),
    Offer::new("Close all groups of lanes", Command::Timeline(TimelineCommand::TurnAll(false)))
        .names(&["timeline", "collapse"]),
    Offer::new("Open or close the object's group of lanes", Command::Timeline(TimelineCommand::Turn))
        .names(&["timeline", "expand", "collapse"]),
    Offer::new("Pin or unpin the object's lane", Command::Timeline(TimelineCommand::Keep)).names(&["timeline", "pin"]),
    Offer::new("Dark or light", Command::ToggleTheme).names(&["theme", "colours"]).keys("Table", &["t"]),
    Offer::new("Times: local, UTC or by the name of the zone", Command::ToggleZone)
        .names(&["timezone", "clock", "utc"])
        .keys("Table", &["z"]),
    Offer::new("Keys of one letter, on or off", Command::ToggleLetters).names(&["shortcuts"]),
    Offer::new("Keep What changed watched in other views, or not", Command::ToggleKept)
        .names(&["background", "always"]),
    Offer::new("Show the keys", Command::ToggleHelp).names(&["help", "shortcuts"]).keys("Table", &["?"]),
    Offer::new("Close", Command::Leave).keys("Finding", &["Escape"]).by_key_only(),
];

impl Command {
    /// What the help and the palette say of the command, if they offer it.
    pub fn offer(&self) -> Option<&'static Offer> {
        OFFERS.iter().find(|offer| offer.command == *self)
    }

    /// What the command does, in the words of the help and the palette; empty for a command that neither offers.
    pub fn title(&self) -> &'static str {
        self.offer().map_or("", |offer| offer.title)
    }
}
