//! What may happen next in a play. Each step is written as a number, so that many can be made fast, and proptest can look for
//! fewer and smaller ones.

use std::fmt;

/// What may happen.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    /// The server answers what it was asked for last, with a state of this many revisions ago where it may; or the time of the
    /// next attempt comes.
    Serve {
        lag: u64,
        /// Whether what happened since that state comes before the streaming list's end.
        end_last: bool,
        /// What is wrong with the page, where it is one.
        page: PageSent,
    },
    /// That many frames arrive.
    Frames(usize),
    /// An object is made, or changed if it is there; now and then without a version.
    Write(usize, bool),
    /// An object is deleted, if it is there.
    Delete(usize),
    /// Up to so many keys are taken from the queue.
    Drain(usize),
    /// Up to so many keys are taken from the other informer's queue.
    DrainOther(usize),
    /// Time passes, up to this many milliseconds, and the deadlines within it come.
    Time(f64),
    /// The server refuses what it was asked for last; 0 is no answer at all, 1 is a version beyond the server's.
    Refuse(u16),
    /// A frame arrives again.
    Again(usize),
    Bookmark,
    /// The next frame arrives in part.
    Cut,
    Garbage,
    /// An event of an unknown type.
    Unknown,
    /// An ERROR event.
    Error(u16),
    Close(u16),
    /// The server forgets its history.
    Compact,
    Woke,
    Reachable,
    /// The heartbeat asks for the open watch, and is answered truthfully, or with such a status; 0 is no answer.
    Ask(Option<u16>),
    Stop,
    Start,
    /// A handler is added.
    AddHandler,
    /// A handler is removed.
    RemoveHandler(usize),
    /// A handler takes what waits for it.
    Deliver(usize),
    /// The store and its index are checked.
    Look,
}

/// What is wrong with a page that the server sends.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageSent {
    /// Whether it has an item that cannot be read.
    pub flawed: bool,
    /// Whether it breaks off in the middle.
    pub broken: bool,
}

/// A step, which shrinks as its number does.
#[derive(Clone, Copy)]
pub struct Number(pub u32);

impl fmt::Debug for Number {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.step())
    }
}

/// Which key a change is of. One key has half of the changes, so that it is created and deleted often.
const KEY: [usize; 8] = [0, 1, 2, 3, 4, 3, 3, 3];

impl Number {
    pub fn step(self) -> Step {
        let (kind, rest) = (self.0 % 100, (self.0 / 100) as usize);
        match kind {
            0..20 => {
                let page = PageSent { flawed: rest / 8 % 16 == 15, broken: rest / 128 % 8 == 7 };
                Step::Serve { lag: [0, 0, 2, 4][rest % 4], end_last: rest / 4 % 2 == 1, page }
            }
            20..38 => Step::Frames(1 + rest % 8),
            38..54 => Step::Write(KEY[rest % KEY.len()], rest / KEY.len() % 10 != 9),
            54..62 => Step::Delete(KEY[rest % KEY.len()]),
            62..69 => Step::Drain(1 + rest % 4),
            69..72 => Step::DrainOther(1 + rest % 4),
            72..75 => Step::Time([10.0, 500.0, 3000.0, 20_000.0, 100_000.0][rest % 5]),
            75..78 => Step::Refuse([500, 410, 429, 503, 504, 422, 403, 0, 1][rest % 9]),
            78..82 => Step::Again(rest % 12),
            82 => Step::Bookmark,
            83 => Step::Cut,
            84 => [Step::Garbage, Step::Unknown][rest % 2],
            85 => Step::Error([410, 500, 504, 429, 1][rest % 5]),
            86 | 87 => Step::Close([1000, 1006][rest % 2]),
            88 => Step::Compact,
            89 => [Step::Woke, Step::Reachable][rest % 2],
            90 => [Step::Stop, Step::Start][rest % 2],
            91 | 92 => Step::AddHandler,
            93 => Step::RemoveHandler(rest % 4),
            94..97 => Step::Deliver(rest % 4),
            97 => Step::Ask([None, None, None, Some(0), Some(429), Some(410)][rest % 6]),
            _ => Step::Look,
        }
    }
}
