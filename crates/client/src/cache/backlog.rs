//! How much waits between a watch and those who are told, and when that is too much.

use crate::cache::ledger::Ledger;

/// What a watch brought since the handlers had last taken all that there was: how much, or how much at most. What lists
/// bring is not counted, for that is as much as there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// Events.
    pub changes: u64,
    /// Bytes of their frames.
    pub bytes: u64,
}

/// Counts what a watch has brought, for as long as something waits. What waits by then, where that is too much.
pub(super) fn overrun(
    backlog: &mut Backlog,
    most: Option<Backlog>,
    before: Ledger,
    now: &Ledger,
    waiting: usize,
) -> Option<Backlog> {
    let most = most?;
    if waiting == 0 || now.watched == before.watched {
        if waiting == 0 {
            *backlog = Backlog::default();
        }
        return None;
    }
    // What the last input brought waits in any case: without anything else there is no backlog.
    let alone = waiting as u64 <= now.received - before.received;
    let so_far = if alone { Backlog::default() } else { *backlog };
    let (changes, bytes) = (now.watched - before.watched, now.bytes - before.bytes);
    *backlog = Backlog { changes: so_far.changes + changes, bytes: so_far.bytes + bytes };
    (backlog.changes > most.changes || backlog.bytes > most.bytes).then(|| std::mem::take(backlog))
}
