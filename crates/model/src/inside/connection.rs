//! The connection between the server and the Reflector: what it brings next, and how it breaks.

use std::collections::VecDeque;

use kubechurn_client::cache::reflector::Action;

use crate::inside::breaks::{Break, BreakKind};
use crate::inside::server::{Entry, Server};

/// What the Reflector asked for.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Request {
    /// Nothing yet.
    #[default]
    Idle,
    /// A list, of which the items may have come.
    List {
        /// Whether they have.
        has_items: bool,
    },
    /// A watch.
    Watch {
        /// Whether it is open.
        is_open: bool,
    },
    /// A watch that brings the list first.
    Stream {
        /// How many objects of the list it has brought; `None` until it is open.
        sent: Option<usize>,
    },
    /// Nothing: it waits.
    Wait,
    /// Why its watch was refused.
    Probe,
}

/// What the connection brings next.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Delivery {
    /// The Reflector starts.
    Start,
    /// The items of a list.
    Items,
    /// The end of a list.
    ListEnd,
    /// The watch opens.
    Open,
    /// An object of a list that a watch brings.
    Initial(usize),
    /// The bookmark that ends such a list.
    InitialEnd,
    /// An entry of the server's log; with what is broken about it.
    Entry(usize, Option<BreakKind>),
    /// An entry is lost on the way.
    Lost(usize),
    /// The connection is cut.
    Cut(BreakKind),
    /// The server does not remember the version that was asked for.
    Expired,
    /// From now on nothing comes.
    Silent,
    /// The server ends the watch, whose time is over.
    TimeOver,
    /// A deadline of the Reflector passes.
    Timer,
    /// The probe finds nothing wrong.
    ProbePassed,
}

/// The connection.
#[derive(Clone, Debug, Default)]
pub struct Connection {
    request: Request,
    /// The entry that comes next.
    cursor: usize,
    /// Entries that come before that one.
    before: VecDeque<(usize, BreakKind)>,
    /// The entries whose break has been.
    broken: Vec<usize>,
    is_silent: bool,
    /// The server does not remember what came before the next watch.
    is_gone: bool,
    /// Entries below this come with nothing in between.
    burst: usize,
    /// When the server ends the watch, in milliseconds.
    ends: f64,
}

impl Connection {
    /// What the Reflector asked for.
    pub fn request(&self) -> &Request {
        &self.request
    }

    /// The number of the server's entry that comes next.
    pub fn cursor(&self) -> usize {
        self.cursor
    }

    /// Whether the watch is open and nothing comes through it any more.
    pub fn is_silent(&self) -> bool {
        self.is_silent
    }

    /// Whether what comes next comes before anything else can happen.
    pub(super) fn is_bursting(&self) -> bool {
        self.cursor < self.burst && self.request == (Request::Watch { is_open: true })
    }

    /// The Reflector asks for something else.
    pub(super) fn ask(&mut self, action: &Action) {
        self.request = match action {
            Action::List(_) => Request::List { has_items: false },
            Action::Watch(request) | Action::WatchOverHttp(request) if request.initial_events => {
                Request::Stream { sent: None }
            }
            Action::Watch(_) | Action::WatchOverHttp(_) => Request::Watch { is_open: false },
            Action::Probe(_) => Request::Probe,
            Action::Wait => Request::Wait,
        };
        self.before.clear();
        (self.is_silent, self.burst) = (false, 0);
    }

    /// The items of the list have come. It shows what so many entries of the server's log did, and a watch brings the next.
    pub(super) fn items(&mut self, happened: usize) {
        self.request = Request::List { has_items: true };
        self.cursor = happened;
    }

    /// The watch opens. It brings what the server has since the last that came, until `ends`.
    pub(super) fn open(&mut self, ends: f64) {
        self.request = Request::Watch { is_open: true };
        self.ends = ends;
    }

    /// The watch opens, and brings the list first: what so many entries of the server's log did. It goes on until `ends`.
    pub(super) fn stream(&mut self, happened: usize, ends: f64) {
        self.request = Request::Stream { sent: Some(0) };
        (self.cursor, self.ends) = (happened, ends);
    }

    /// What comes next, and when in milliseconds; `None` if nothing more will come. `deadline` is that of the Reflector.
    pub(super) fn due(
        &self,
        server: &Server,
        breaks: &[Break],
        deadline: Option<f64>,
        now: f64,
    ) -> Option<(f64, Delivery)> {
        let timer = deadline.map(|at| (at.max(now), Delivery::Timer));
        match &self.request {
            Request::Idle => Some((now, Delivery::Start)),
            Request::List { has_items: false } => Some((now, Delivery::Items)),
            Request::List { has_items: true } => Some((now, Delivery::ListEnd)),
            Request::Probe => Some((now, Delivery::ProbePassed)),
            Request::Wait => timer,
            Request::Watch { is_open: false } | Request::Stream { sent: None } => Some((now, Delivery::Open)),
            Request::Stream { sent: Some(sent) } => {
                let is_more = *sent < server.list_after(self.cursor).1.len();
                Some((now, if is_more { Delivery::Initial(*sent) } else { Delivery::InitialEnd }))
            }
            Request::Watch { is_open: true } if self.is_gone => Some((now, Delivery::Expired)),
            Request::Watch { is_open: true } => {
                if let Some(&(entry, kind)) = self.before.front() {
                    return Some((now, Delivery::Entry(entry, Some(kind))));
                }
                // A watch that has brought everything goes on, and nothing is to be seen of that.
                let entry = server.entry(self.cursor)?;
                let next = (!self.is_silent).then(|| self.next(entry, server, breaks));
                // Until what came later is there, nothing came from an open watch.
                let now = now.max(server.begins(self.cursor));
                let timer = timer.map(|(at, delivery)| (at.max(now), delivery));
                let next = next.map(|(at, delivery)| (at.max(now), delivery));
                let over = (!self.is_silent).then_some((self.ends.max(now), Delivery::TimeOver));
                next.into_iter().chain(over).chain(timer).min_by(|a, b| a.0.total_cmp(&b.0))
            }
        }
    }

    fn next(&self, entry: &Entry, server: &Server, breaks: &[Break]) -> (f64, Delivery) {
        let at = self.cursor;
        let later = |count: usize| server.entry((at + count).min(server.len() - 1)).map_or(entry.at, |last| last.at);
        let is_broken = self.broken.contains(&at);
        let kind = breaks.iter().find(|broken| broken.entry == at && !is_broken).map(|broken| broken.kind);
        match kind {
            None => (entry.at, Delivery::Entry(at, None)),
            Some(kind @ BreakKind::Delay(wait)) => (entry.at + wait.max(0.0), Delivery::Entry(at, Some(kind))),
            Some(kind @ BreakKind::Duplicate) => (entry.at, Delivery::Entry(at, Some(kind))),
            Some(kind @ BreakKind::Reorder) => (later(1), Delivery::Entry(at, Some(kind))),
            Some(kind @ BreakKind::Burst(count)) => (later(count.saturating_sub(1)), Delivery::Entry(at, Some(kind))),
            Some(BreakKind::Drop) => (entry.at, Delivery::Lost(at)),
            Some(BreakKind::Silence) => (entry.at, Delivery::Silent),
            Some(kind @ (BreakKind::Cut | BreakKind::Gone)) => (entry.at, Delivery::Cut(kind)),
        }
    }

    /// What is brought now moves the connection on. Returns the entry that the Reflector gets, if any.
    pub(super) fn brought(&mut self, delivery: &Delivery, server: &Server) -> Option<usize> {
        match delivery {
            Delivery::Entry(entry, kind) => {
                if self.before.pop_front().is_some() {
                    return Some(*entry);
                }
                let kind = kind.inspect(|_| self.broken.push(*entry));
                let has_next = entry + 1 < server.len();
                match kind {
                    Some(kind @ BreakKind::Duplicate) => self.before.push_back((*entry, kind)),
                    Some(BreakKind::Burst(count)) => self.burst = entry.saturating_add(count).min(server.len()),
                    Some(kind @ BreakKind::Reorder) if has_next => {
                        self.before.push_back((*entry, kind));
                        self.cursor = entry + 2;
                        return Some(entry + 1);
                    }
                    _ => {}
                }
                self.cursor = entry + 1;
                Some(*entry)
            }
            Delivery::Lost(entry) => {
                self.broken.push(*entry);
                self.cursor = entry + 1;
                None
            }
            Delivery::Silent => {
                self.broken.push(self.cursor);
                self.is_silent = true;
                None
            }
            Delivery::Cut(kind) => {
                self.broken.push(self.cursor);
                self.is_gone = *kind == BreakKind::Gone;
                None
            }
            Delivery::Expired => {
                self.is_gone = false;
                None
            }
            Delivery::Initial(at) => {
                self.request = Request::Stream { sent: Some(at + 1) };
                None
            }
            Delivery::InitialEnd => {
                self.request = Request::Watch { is_open: true };
                None
            }
            _ => None,
        }
    }
}
