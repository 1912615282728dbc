//! How much waits between a watch and its handlers, and when that is too much.

use crate::cache::ledger::Ledger;

/// How much a watch has brought since the handlers had last taken everything, or the most that this may be. What lists bring
/// is not counted, for a list is never longer than there are objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Backlog {
    /// How many events.
    pub changes: u64,
    /// How many bytes their frames have.
    pub bytes: u64,
}

/// Counts what the last input of a watch brought (the difference of the ledgers `before` and `now`), as long as some of the
/// `waiting` notifications are left. Returns what waits where that is more than `most`.
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
    // What the last input brought cannot have been taken yet. Where nothing else waits there is no backlog.
    let alone = waiting as u64 <= now.received - before.received;
    let so_far = if alone { Backlog::default() } else { *backlog };
    let (changes, bytes) = (now.watched - before.watched, now.bytes - before.bytes);
    *backlog = Backlog { changes: so_far.changes + changes, bytes: so_far.bytes + bytes };
    (backlog.changes > most.changes || backlog.bytes > most.bytes).then(|| std::mem::take(backlog))
}
