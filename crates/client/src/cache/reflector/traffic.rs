//! What went between a reflector and its server, in a few counters: what was asked for, and how the watches ended.

use crate::cache::reflector::input::Action;

/// How a watch ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchEnd {
    /// It was closed with this code, whether it had opened or not. Over HTTP every answer ends so.
    Closed(u16),
    /// An ERROR event came, with this code.
    Error(u16),
    /// It was given up here: nothing came any more, something could not be read, or a list was wanted.
    GivenUp,
}

/// What was asked for, and what became of it.
#[derive(Clone, Debug, Default)]
pub struct Traffic {
    /// How many pages of lists were asked for.
    pub lists: u64,
    /// How many watches were asked for, streaming lists among them.
    pub watches: u64,
    /// How many requests asked why a watch was refused.
    pub probes: u64,
    /// When the last bookmark came, in milliseconds.
    pub bookmark: Option<f64>,
    /// The ways in which watches ended, and how often, in the order in which they first came.
    pub ends: Vec<(WatchEnd, u64)>,
}

impl Traffic {
    /// A watch ended.
    pub(super) fn ended(&mut self, end: WatchEnd) {
        match self.ends.iter_mut().find(|(known, _)| *known == end) {
            Some((_, count)) => *count += 1,
            None => self.ends.push((end, 1)),
        }
    }

    /// Something is asked for.
    pub(super) fn asked(&mut self, action: &Action) {
        match action {
            Action::List(_) => self.lists += 1,
            Action::Watch(_) | Action::WatchOverHttp(_) => self.watches += 1,
            Action::Probe(_) => self.probes += 1,
            Action::Wait => {}
        }
    }

    /// How many watches have ended.
    pub(super) fn count(&self) -> u64 {
        self.ends.iter().map(|(_, count)| count).sum()
    }
}
