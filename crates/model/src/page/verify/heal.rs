//! How a comparison ends: what is remembered of it, what is told, and what is done about a difference.

use kubechurn_client::cache::consistency::Differences;
use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};

use crate::page::notices::{NoticeKind, PageNotice, subject};
use crate::page::verify::{EVERY, Run, Stage, Step, Verified, Verifier};

/// Something is wrong with what is held of an informer.
struct Finding {
    id: InformerId,
    /// How many lists the informer had had when the comparison began.
    lists: u64,
    /// What is wrong, in words.
    why: String,
    /// Whether the store is wrong, and not only the rows.
    in_store: bool,
}

impl Verifier {
    /// Ends a comparison that came to nothing.
    pub(super) fn fail(&mut self, now: f64, why: String, informers: &mut SharedInformerFactory, steps: &mut Vec<Step>) {
        let Some(id) = self.run.as_ref().map(|run| run.id) else { return };
        self.give_up(informers, steps);
        if let Some(record) = self.records.get_mut(&id) {
            record.trouble = Some((now, why));
            record.due = Some(now + EVERY);
        }
    }

    /// Ends a comparison in which the server contradicted what it had sent. Only a new list can tell what is true.
    pub(super) fn wrong(
        &mut self,
        now: f64,
        why: String,
        informers: &mut SharedInformerFactory,
        steps: &mut Vec<Step>,
    ) {
        let Some((id, lists)) = self.run.as_ref().map(|run| (run.id, run.lists)) else { return };
        self.fail(now, why.clone(), informers, steps);
        self.heal(now, Finding { id, lists, why, in_store: true }, informers, steps);
    }

    pub(super) fn finish(
        &mut self,
        now: f64,
        (drawn, drawn_differences): (u64, Differences),
        informers: &SharedInformerFactory,
        steps: &mut Vec<Step>,
    ) {
        let Some(Run { id, lists, stage: Stage::Rows(store, rows), .. }) = self.run.take() else { return };
        let Some(record) = self.records.get_mut(&id) else { return };
        let verified =
            Verified { at: now, store, rows: rows.same, row_differences: rows.differences, drawn, drawn_differences };
        record.checks += 1;
        record.trouble = None;
        record.due = Some(now + EVERY);
        record.last = Some(verified.clone());
        if verified.differences() == 0 {
            (record.relisted, record.rebuilt) = (None, false);
            return;
        }
        record.differed += 1;
        let in_store = verified.store.differences.total > 0;
        let why = verified.words();
        record.found = Some(verified);
        self.heal(now, Finding { id, lists, why, in_store }, informers, steps);
    }

    /// Announces what is wrong, and has it healed: by a new list, or, where only rows differ, by making the rows anew.
    /// Nothing more is done where the last attempt did not help, or where a list has come since.
    fn heal(&mut self, now: f64, finding: Finding, informers: &SharedInformerFactory, steps: &mut Vec<Step>) {
        let Finding { id, lists, why, in_store: by_list } = finding;
        let (Some(record), Some(informer)) = (self.records.get_mut(&id), informers.get(id)) else { return };
        let Some((resource, scope)) = informers.of(id) else { return };
        let listed = informer.ledger().lists > lists;
        let helped_not = if by_list { record.relisted.is_some_and(|asked| lists > asked) } else { record.rebuilt };
        let next = match (helped_not, listed, by_list) {
            (true, ..) => "that has not changed by having it anew, and is looked at again later",
            (_, true, _) => "a new list has come meanwhile",
            (_, _, true) => "everything is listed again",
            (_, _, false) => "the rows are made anew",
        };
        let kind = NoticeKind::Difference { at: now, words: format!("The page checked itself: {why}; {next}.") };
        steps.push(Step::Publish(PageNotice {
            resource: subject(&resource),
            namespace: scope.namespace.clone(),
            kind,
        }));
        match (helped_not, listed, by_list) {
            (true, ..) => {}
            (_, true, _) => self.queue.push_back((id, true)),
            (_, _, true) => {
                let lists = informer.ledger().lists;
                (record.awaits, record.relisted) = (Some(lists), Some(lists));
                steps.push(Step::Relist(id, format!("the page checked itself: {why}")));
            }
            (_, _, false) => {
                record.rebuilt = true;
                self.queue.push_back((id, true));
                steps.push(Step::Rebuild);
            }
        }
    }
}
