//! What the page has to say of itself reaches the timelines, the list of notices and the console.

use crate::page::command::List;
use crate::page::effect::Effect;
use crate::page::notices::{Announcer, Ear, NoticeList, Overload, Said};
use crate::page::state::Page;
use crate::page::view::{NoticeItem, Notices, seconds};

/// What was said, and who is told.
#[derive(Debug)]
pub(super) struct NoticeBoard {
    pub(super) announcer: Announcer,
    pub(super) list: NoticeList,
    for_list: Ear,
    for_console: Ear,
    pub(super) overload: Overload,
}

impl Default for NoticeBoard {
    fn default() -> NoticeBoard {
        let mut announcer = Announcer::default();
        let (for_list, for_console) = (announcer.listen(), announcer.listen());
        let (list, overload) = (NoticeList::default(), Overload::default());
        NoticeBoard { announcer, list, for_list, for_console, overload }
    }
}

impl Page {
    /// Says something, which is written down where that is asked for.
    pub(super) fn say(&mut self, said: Said) {
        self.checks.audit.said(None, &said);
        self.publish(said);
    }

    /// Says something.
    pub(super) fn publish(&mut self, said: Said) {
        self.notices.announcer.say(said);
        self.announce();
    }

    /// Has everyone hear what was said.
    pub(super) fn announce(&mut self) {
        let NoticeBoard { announcer, list, for_list, for_console, .. } = &mut self.notices;
        self.watching.watches.hear(announcer);
        announcer.hear(*for_list).into_iter().for_each(|said| list.push(said));
        for said in announcer.hear(*for_console) {
            self.out.effects.push(Effect::Warn(said.line()));
        }
    }

    /// Shows what the page had to say. The words are written only while someone reads them.
    pub(super) fn present_notices(&mut self, now: f64) {
        let most = if self.has_list(List::Notices) { usize::MAX } else { 0 };
        let NoticeBoard { list, overload, .. } = &self.notices;
        let items = list.newest().take(most).map(|said| NoticeItem {
            word: said.word(),
            subject: said.subject(),
            age: seconds((now - said.at()).max(0.0)),
            words: said.sentence(),
        });
        let behind = overload.behind(now).map(seconds).unwrap_or_default();
        let notices = Notices { total: list.total(), behind, items: items.collect() };
        self.out.view.footer.notices.put(notices);
    }
}
