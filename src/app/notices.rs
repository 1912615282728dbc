//! What the page has to say of itself reaches the timelines, the list of notices and the console.

use leptos::prelude::GetUntracked;

use kubechurn_model::page::view::{NoticeItem, Notices, seconds};

use crate::app::Page;
use crate::ui::screen::put;

impl Page {
    /// Has everyone hear what was said: the timelines, the list of notices, the console.
    pub(super) fn announce(&mut self) {
        self.watches.hear(&mut self.announcer);
        self.announcer.hear(self.list_ear).into_iter().for_each(|said| self.notices.push(said));
        for said in self.announcer.hear(self.console_ear) {
            web_sys::console::warn_1(&said.line().into());
        }
    }

    /// What the page had to say. Its words are written only while someone reads them.
    pub(super) fn present_notices(&self, now: f64) {
        let open = self.screen.notices_open.get_untracked();
        let items = self.notices.newest().take(if open { usize::MAX } else { 0 }).map(|said| NoticeItem {
            word: said.word(),
            subject: said.subject(),
            age: seconds((now - said.at()).max(0.0)),
            words: said.sentence(),
        });
        let behind = self.overload.behind(now).map(seconds).unwrap_or_default();
        put(self.screen.notices, Notices { total: self.notices.total(), behind, items: items.collect() });
    }
}
