//! Brings the page's notices to the timelines, the list of notices and the console.

use crate::page::command::List;
use crate::page::effect::Effect;
use crate::page::notices::{Announcer, NoticeList, Overload, PageNotice, Subscription};
use crate::page::state::Page;
use crate::page::view::{NoticeItem, Notices, seconds};

/// The notices, and their subscribers.
#[derive(Debug)]
pub(super) struct NoticeState {
    pub(super) announcer: Announcer,
    pub(super) list: NoticeList,
    for_list: Subscription,
    for_console: Subscription,
    pub(super) overload: Overload,
}

impl Default for NoticeState {
    fn default() -> NoticeState {
        let mut announcer = Announcer::default();
        let (for_list, for_console) = (announcer.subscribe(), announcer.subscribe());
        let (list, overload) = (NoticeList::default(), Overload::default());
        NoticeState { announcer, list, for_list, for_console, overload }
    }
}

impl Page {
    /// Publishes a notice, and writes it into the audit log if the address asks for one.
    pub(super) fn publish_audited(&mut self, notice: PageNotice) {
        self.checks.audit.notice(None, &notice);
        self.publish(notice);
    }

    /// Publishes a notice.
    pub(super) fn publish(&mut self, notice: PageNotice) {
        self.notices.announcer.publish(notice);
        self.deliver_notices();
    }

    /// Delivers published notices to the timelines, the list and the console.
    pub(super) fn deliver_notices(&mut self) {
        let NoticeState { announcer, list, for_list, for_console, .. } = &mut self.notices;
        self.watching.watches.receive_notices(announcer);
        announcer.receive(*for_list).into_iter().for_each(|notice| list.push(notice));
        for notice in announcer.receive(*for_console) {
            self.out.effects.push(Effect::Warn(notice.line()));
        }
    }

    /// Shows the notices. Their words are written only while the list is open.
    pub(super) fn present_notices(&mut self, now: f64) {
        let most = if self.has_list(List::Notices) { usize::MAX } else { 0 };
        let NoticeState { list, overload, .. } = &self.notices;
        let items = list.newest().take(most).map(|notice| NoticeItem {
            word: notice.word(),
            subject: notice.subject(),
            age: seconds((now - notice.at()).max(0.0)),
            words: notice.sentence(),
        });
        let behind = overload.behind(now).map(seconds).unwrap_or_default();
        let notices = Notices { total: list.total(), behind, items: items.collect() };
        self.out.view.footer.notices.put(notices);
    }
}
