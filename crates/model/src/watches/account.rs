//! Whether anything was lost on the way from a kind's informers to the page: sums from the changes of the stores to the
//! rows that are shown, and from what arrived to the marks.

use serde::Serialize;

use kubechurn_client::cache::factory::{Registration, SharedInformerFactory};
use kubechurn_client::cache::processor::HandlerLedger;

use crate::table::view::{ProvisionalSums, Sums, TableView};
use crate::timeline::marks::Marks;
use crate::watches::counters::Counters;

/// What became of everything that was meant for the handlers of one kind, or of several kinds together.
#[derive(Clone, Debug, Default)]
pub struct Account {
    /// The table's handlers, and the rows. `None` for one of several kinds that share a table.
    pub table: Option<(HandlerLedger, RowSums)>,
    /// The timeline's handlers, and the marks.
    pub timeline: (HandlerLedger, MarkSums),
    /// The counters' handlers, and the counters.
    pub counters: (HandlerLedger, Counters),
    /// How many objects the stores hold.
    pub objects: usize,
    /// How many objects the first lists have brought that are not complete: the ledgers count them as pending.
    pub listed: usize,
}

/// The sums of a table's rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowSums {
    /// How many rows there are, by what became of them.
    pub sums: Sums,
    /// Whether the rows that the table shows are those that the sums say.
    pub balanced: bool,
    /// Whether the table has taken in the first list of every informer, so that no row is provisional any more, unless it
    /// only waits to go.
    pub complete: bool,
}

/// The sums of marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkSums {
    /// How many marks of objects and of resyncs were made since the handlers were added.
    pub pushed: u64,
    /// How many marks were ever made, relists and gaps included.
    pub made: u64,
    /// How many marks are held.
    pub held: u64,
    /// How many marks were evicted, because there was no more room.
    pub dropped: u64,
    /// The memory that the marks take, with their lanes and counts, in bytes.
    pub bytes: u64,
}

impl RowSums {
    /// The sums of this table. `complete` says whether it has taken in the first list of every informer.
    pub fn of(view: &TableView, complete: bool) -> RowSums {
        RowSums { sums: view.sums(), balanced: view.is_balanced(), complete }
    }
}

impl MarkSums {
    /// The sums of these marks, of which `before` were of objects and resyncs when the handlers were added.
    pub fn of(marks: &Marks, before: u64) -> MarkSums {
        MarkSums {
            pushed: marks.pushed() - before,
            made: marks.made(),
            held: marks.len() as u64,
            dropped: marks.evicted().total(),
            bytes: marks.bytes() as u64,
        }
    }

    fn plus(self, other: MarkSums) -> MarkSums {
        MarkSums {
            pushed: self.pushed + other.pushed,
            made: self.made + other.made,
            held: self.held + other.held,
            dropped: self.dropped + other.dropped,
            bytes: self.bytes + other.bytes,
        }
    }
}

/// What became of everything that was meant for these handlers together.
pub(super) fn handled(
    handlers: impl Iterator<Item = Registration>,
    informers: &SharedInformerFactory,
) -> HandlerLedger {
    let ledgers = handlers.filter_map(|one| informers.get(one.informer)?.handler_ledger(one.handler));
    ledgers.fold(HandlerLedger::default(), HandlerLedger::plus)
}

impl Account {
    /// The account of two kinds together, without a table.
    #[must_use]
    pub(super) fn plus(self, other: Account) -> Account {
        let (timeline, other_timeline) = (self.timeline, other.timeline);
        let (counters, other_counters) = (self.counters, other.counters);
        Account {
            table: None,
            timeline: (timeline.0.plus(other_timeline.0), timeline.1.plus(other_timeline.1)),
            counters: (counters.0.plus(other_counters.0), counters.1.plus(other_counters.1)),
            objects: self.objects + other.objects,
            listed: self.listed + other.listed,
        }
    }

    /// Whether every change and every arrival is in one place. Each was handled, has failed, or waits. Each that was
    /// handled is in the table, among the marks, and in the counters. Where nothing waits, there are as many rows as
    /// objects, and at least as many provisional rows as a first list has brought: those of a list that broke stay. Once
    /// the first list is complete there is no provisional row.
    pub fn is_balanced(&self) -> bool {
        let has_all = |handlers: &HandlerLedger| handlers.waiting == 0;
        let table = self.table.as_ref().is_none_or(|(handlers, rows)| {
            handlers.is_balanced()
                && rows.balanced
                && rows.sums.taken.total() == handlers.handled
                && (!has_all(handlers) || rows.sums.live == self.objects)
                && (!has_all(handlers) || rows.sums.provisional.rows >= self.listed)
                && (!rows.complete || rows.sums.provisional.rows == 0 || rows.sums.provisional.leaving)
        });
        let (handlers, Counters { added, updated, synced, deleted }) = &self.counters;
        let counters = handlers.is_balanced()
            && added + updated + synced + deleted == handlers.handled
            && (!has_all(handlers) || *added == deleted + self.objects as u64);
        let (handlers, marks) = &self.timeline;
        table
            && counters
            && handlers.is_balanced()
            && marks.pushed == handlers.handled
            && marks.made == marks.held + marks.dropped
    }

    /// The sums in words, a line for each.
    pub fn words(&self) -> String {
        let line = |name: &str, ledger: &HandlerLedger| {
            let HandlerLedger { handled, failed, waiting, passed_over, meant, complaint } = ledger;
            let complaint = complaint.as_ref().map_or_else(String::new, |words| format!(" ({words})"));
            format!(
                "{name}: changes {meant} = handled {handled} + failed {failed}{complaint} + waiting {waiting} + for others \
                 {passed_over}\n"
            )
        };
        let mut words = String::new();
        if let Some((handlers, RowSums { sums, .. })) = &self.table {
            let Sums { taken, live, deleted, provisional, shown, hidden, .. } = sums;
            words += &line("table", handlers);
            words += &format!(
                "handled {} = added {} + updated {} + synced {} + deleted {} + of first lists {}\n\
                 objects {} = rows {live} = added {} − deleted {} = shown {shown} + filtered out {hidden} (and {deleted} \
                 deleted ones that stay a while)\n",
                handlers.handled,
                taken.added,
                taken.updated,
                taken.synced,
                taken.deleted,
                taken.listed,
                self.objects,
                taken.added,
                taken.deleted,
            );
            let ProvisionalSums { made, confirmed, dropped, rows, .. } = provisional;
            words += &format!(
                "pending {} (of first lists) → provisional rows {rows} = shown {made} − confirmed {confirmed} − taken away \
                 {dropped}\n",
                self.listed,
            );
        }
        let (handlers, marks) = &self.timeline;
        words += &line("timeline", handlers);
        words += &format!("marks {} = held {} + dropped {}\n", marks.made, marks.held, marks.dropped);
        words += &line("counters", &self.counters.0);
        words
    }
}

/// What became of everything that was meant for some handlers, as `status()` reports it.
#[derive(Debug, Serialize)]
pub struct HandlerReport {
    meant: u64,
    handled: u64,
    failed: u64,
    waiting: u64,
    passed_over: u64,
}

/// The account of a kind, as `status()` reports it.
#[derive(Debug, Serialize)]
pub struct Report {
    /// `null` for one of several kinds that share a table.
    table: Option<HandlerReport>,
    timeline: HandlerReport,
    counters: HandlerReport,
    /// `null` for one of several kinds that share a table.
    rows: Option<RowsReport>,
    marks: MarksReport,
}

#[derive(Debug, Serialize)]
struct RowsReport {
    live: usize,
    shown: usize,
    filtered_out: usize,
    deleted: usize,
    provisional: usize,
    /// How many deltas of first lists the table has taken before these lists were complete.
    of_first_lists: u64,
}

#[derive(Debug, Serialize)]
struct MarksReport {
    made: u64,
    held: u64,
    dropped: u64,
    bytes: u64,
}

impl From<&HandlerLedger> for HandlerReport {
    fn from(ledger: &HandlerLedger) -> HandlerReport {
        let HandlerLedger { handled, failed, waiting, passed_over, meant, .. } = *ledger;
        HandlerReport { meant, handled, failed, waiting, passed_over }
    }
}

impl From<&Account> for Report {
    fn from(account: &Account) -> Report {
        let (timeline, marks) = &account.timeline;
        let rows = account.table.as_ref().map(|(_, rows)| RowsReport {
            live: rows.sums.live,
            shown: rows.sums.shown,
            filtered_out: rows.sums.hidden,
            deleted: rows.sums.deleted,
            provisional: rows.sums.provisional.rows,
            of_first_lists: rows.sums.taken.listed,
        });
        Report {
            table: account.table.as_ref().map(|(handlers, _)| handlers.into()),
            timeline: timeline.into(),
            counters: (&account.counters.0).into(),
            rows,
            marks: MarksReport { made: marks.made, held: marks.held, dropped: marks.dropped, bytes: marks.bytes },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(meant: u64, handled: u64, failed: u64, waiting: u64) -> HandlerLedger {
        HandlerLedger { meant, handled, failed, waiting, ..HandlerLedger::default() }
    }

    /// Three objects, one of which is gone again, and nothing waits.
    fn whole() -> Account {
        let mut rows = RowSums { balanced: true, ..RowSums::default() };
        rows.sums.taken.added = 3;
        rows.sums.taken.deleted = 1;
        rows.sums.live = 2;
        Account {
            table: Some((ledger(4, 4, 0, 0), rows)),
            timeline: (ledger(5, 5, 0, 0), MarkSums { pushed: 5, made: 7, held: 4, dropped: 3, bytes: 0 }),
            counters: (ledger(4, 4, 0, 0), Counters { added: 3, deleted: 1, ..Counters::default() }),
            objects: 2,
            listed: 0,
        }
    }

    #[track_caller]
    fn check(change: impl FnOnce(&mut Account), balanced: bool) {
        let mut account = whole();
        change(&mut account);
        assert_eq!(account.is_balanced(), balanced, "{}", account.words());
    }

    #[test]
    fn what_is_nowhere_is_noticed_wherever_it_was_lost() {
        let table = |account: &mut Account, change: fn(&mut HandlerLedger, &mut RowSums)| {
            if let Some((handlers, rows)) = &mut account.table {
                change(handlers, rows);
            }
        };
        check(|_| {}, true);
        // A change that waits has no row yet.
        check(
            |account| {
                table(account, |handlers, _| *handlers = ledger(5, 4, 0, 1));
                account.counters.0.waiting = 1;
                account.counters.0.meant += 1;
                account.objects = 3;
            },
            true,
        );
        // A change at which a handler failed leaves a row too few.
        check(
            |account| {
                table(account, |handlers, _| *handlers = ledger(5, 4, 1, 0));
                account.counters.0.waiting = 1;
                account.counters.0.meant += 1;
                account.objects = 3;
            },
            false,
        );
        check(|account| table(account, |handlers, _| handlers.meant += 1), false);
        check(|account| table(account, |_, rows| rows.sums.taken.updated += 1), false);
        check(|account| table(account, |_, rows| rows.sums.live += 1), false);
        check(|account| table(account, |_, rows| rows.balanced = false), false);
        check(|account| account.objects = 1, false);
        // Of five rows that were provisional, one is left.
        let listing = |handlers: &mut HandlerLedger, rows: &mut RowSums| {
            *handlers = ledger(9, 9, 0, 0);
            rows.sums.taken.listed = 5;
            rows.sums.provisional = ProvisionalSums { made: 5, confirmed: 3, dropped: 1, rows: 1, leaving: false };
        };
        check(|account| table(account, listing), true);
        check(
            |account| {
                table(account, listing);
                account.listed = 2;
            },
            false,
        );
        for complete in [false, true] {
            let end = |account: &mut Account| {
                table(account, listing);
                if let Some((_, rows)) = &mut account.table {
                    rows.complete = complete;
                }
            };
            check(end, !complete);
        }
        check(|account| account.timeline.1.pushed -= 1, false);
        check(|account| account.timeline.1.dropped -= 1, false);
        check(|account| account.timeline.0.failed += 1, false);
        check(|account| account.counters.1 = Counters::default(), false);
    }
}
