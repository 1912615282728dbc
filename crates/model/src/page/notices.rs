//! What the page has to say of itself: relists, gaps, staleness, refusals, overload. It is notice once, through a
//! Broadcaster, to the timelines, the list of notices and the console.

use std::collections::VecDeque;

use serde::Serialize;

use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::Notice;
use kubechurn_client::record::broadcaster::{Broadcaster, FullChannelBehavior, Next, WatcherId};

/// How many notices are kept for a subscription until they are received. It misses those beyond, which are counted.
const CAPACITY: usize = 1000;

/// How many notices the list keeps.
const KEPT: usize = 200;

/// Something that the page has to say of itself.
#[derive(Clone, Debug, PartialEq)]
pub struct PageNotice {
    /// The resource that it is about; empty if it is about all.
    pub resource: &'static str,
    /// The namespace; empty for all.
    pub namespace: String,
    /// What happened.
    pub kind: NoticeKind,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum NoticeKind {
    /// Something about the watch of one informer.
    Watch(InformerId, Notice),
    /// The page checked itself, and found that it was wrong.
    Difference {
        /// When.
        at: f64,
        /// What was wrong, and what comes next.
        words: String,
    },
    /// The program's memory has reached a mark, and something was given up.
    Memory {
        /// When.
        at: f64,
        /// How many bytes were taken.
        taken: usize,
        /// How many may be.
        budget: usize,
        /// What was given up, and what can be done about it.
        words: String,
    },
    /// The sums do not balance: something was lost, or counted twice, by the page itself.
    Unbalanced {
        /// When that was seen first.
        at: f64,
        /// The sums.
        words: String,
    },
    /// More came than the page could show; it is over.
    Overload {
        /// When the queues were last empty.
        from: f64,
        /// When they were empty again.
        to: f64,
        /// How many received changes waited at most.
        most: u64,
    },
}

impl PageNotice {
    /// When, in milliseconds.
    pub fn at(&self) -> f64 {
        match &self.kind {
            NoticeKind::Watch(_, notice) => notice.at(),
            NoticeKind::Difference { at, .. } => *at,
            NoticeKind::Overload { to, .. } => *to,
            NoticeKind::Memory { at, .. } | NoticeKind::Unbalanced { at, .. } => *at,
        }
    }

    /// One word for it.
    pub fn word(&self) -> &'static str {
        match &self.kind {
            NoticeKind::Watch(_, Notice::Relisted { .. }) => "relist",
            NoticeKind::Watch(_, Notice::Gap { .. }) => "gap",
            NoticeKind::Watch(_, Notice::Malformed { .. }) => "malformed",
            NoticeKind::Watch(_, Notice::Stale { .. }) => "stale",
            NoticeKind::Watch(_, Notice::Refused { .. }) => "refused",
            NoticeKind::Watch(_, Notice::Late { .. }) => "late",
            NoticeKind::Difference { .. } => "difference",
            NoticeKind::Overload { .. } => "overload",
            NoticeKind::Memory { .. } => "memory",
            NoticeKind::Unbalanced { .. } => "unbalanced",
        }
    }

    /// A sentence for the user.
    pub fn sentence(&self) -> String {
        match &self.kind {
            NoticeKind::Watch(_, notice) => notice.sentence(),
            NoticeKind::Difference { words, .. } => words.clone(),
            NoticeKind::Memory { taken, budget, words, .. } => {
                let megabytes = |bytes: &usize| *bytes as f64 / 1e6;
                format!("The page takes {:.0} of {:.0} MB of memory: {words}", megabytes(taken), megabytes(budget))
            }
            NoticeKind::Unbalanced { words, .. } => {
                format!("The page's own sums do not balance: something was lost or counted twice. {words}")
            }
            NoticeKind::Overload { from, to, most } => format!(
                "More came than could be shown at once: for {:.1} s the table was behind, by up to {most} changes. \
                 Each object is shown at its newest again.",
                (to - from) / 1000.0
            ),
        }
    }

    /// What it is about, in words: `pods in shop`.
    pub fn subject(&self) -> String {
        match (self.resource, &*self.namespace) {
            ("", _) => String::from("page"),
            (resource, "") => resource.to_owned(),
            (resource, namespace) => format!("{resource} in {namespace}"),
        }
    }

    /// One line for the console.
    pub fn line(&self) -> String {
        format!("{}: {}: {}", self.subject(), self.word(), self.sentence())
    }
}

/// Delivers notices to every subscription.
#[derive(Debug)]
pub struct Announcer(Broadcaster<PageNotice>);

/// A subscription to the notices.
#[derive(Clone, Copy, Debug)]
pub struct Subscription(Option<WatcherId>);

impl Default for Announcer {
    fn default() -> Announcer {
        Announcer(Broadcaster::new(FullChannelBehavior::DropIfChannelFull))
    }
}

impl Announcer {
    /// A new subscription, to which everything is delivered that is published from now on.
    pub fn subscribe(&mut self) -> Subscription {
        Subscription(self.0.watch(CAPACITY).ok())
    }

    /// Publishes a notice to all subscriptions.
    pub fn publish(&mut self, notice: PageNotice) {
        // It is refused only after a shutdown, and then no one listens.
        let _ = self.0.action(notice);
    }

    /// The notices that a subscription has not received yet, oldest first.
    pub fn receive(&mut self, subscription: Subscription) -> Vec<PageNotice> {
        let Some(id) = subscription.0 else { return Vec::new() };
        std::iter::from_fn(|| match self.0.next(id) {
            Next::Event(notice) => Some(notice),
            Next::Empty | Next::Ended => None,
        })
        .collect()
    }

    /// Ends a subscription.
    pub fn unsubscribe(&mut self, subscription: Subscription) {
        if let Some(id) = subscription.0 {
            self.0.stop_watching(id);
        }
    }
}

/// The newest notices, and how many there were.
#[derive(Debug, Default)]
pub struct NoticeList {
    kept: VecDeque<PageNotice>,
    total: u64,
}

impl NoticeList {
    /// Takes one in; the oldest of too many goes, and stays counted.
    pub fn push(&mut self, notice: PageNotice) {
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(notice);
        self.total += 1;
    }

    /// Newest first.
    pub fn newest(&self) -> impl Iterator<Item = &PageNotice> {
        self.kept.iter().rev()
    }

    /// How many there were, those that are no longer kept included.
    pub fn total(&self) -> u64 {
        self.total
    }
}

/// A notice, as `notices()` tells it.
#[derive(Debug, Serialize)]
pub struct Told {
    time: f64,
    #[serde(rename = "type")]
    word: &'static str,
    resource: &'static str,
    namespace: String,
    words: String,
}

/// What `notices()` says: those that are kept, oldest first.
pub fn told(list: &NoticeList) -> Vec<Told> {
    let told = list.kept.iter().map(|notice| Told {
        time: notice.at(),
        word: notice.word(),
        resource: notice.resource,
        namespace: notice.namespace.clone(),
        words: notice.sentence(),
    });
    told.collect()
}

/// How long the queues may hold something without a break before that is an overload, in milliseconds.
const BEHIND: f64 = 1000.0;

/// Notices when more comes than can be shown.
#[derive(Debug, Default)]
pub struct Overload {
    since: Option<f64>,
    most: u64,
}

impl Overload {
    /// After each drain: how many received changes are left. Says so when an overload is over.
    pub fn look(&mut self, now: f64, left: u64) -> Option<PageNotice> {
        if left > 0 {
            self.since.get_or_insert(now);
            self.most = self.most.max(left);
            return None;
        }
        let (from, most) = (self.since.take(), std::mem::take(&mut self.most));
        let from = from.filter(|from| now - from >= BEHIND)?;
        let kind = NoticeKind::Overload { from, to: now, most };
        Some(PageNotice { resource: "", namespace: String::new(), kind })
    }

    /// How long the table has been behind; `None` while it is not, or hardly.
    pub fn behind(&self, now: f64) -> Option<f64> {
        self.since.map(|since| now - since).filter(|behind| *behind >= BEHIND)
    }

    /// What waits waits because the user wants it to.
    pub fn forgive(&mut self) {
        *self = Overload::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overload_is_told_when_it_is_over_and_lasted() {
        let mut overload = Overload::default();
        let mut look = |now, left| overload.look(now, left).map(|notice| notice.sentence());
        assert_eq!((look(0.0, 9), look(900.0, 0), look(950.0, 5), look(1100.0, 700)), (None, None, None, None));
        assert_eq!(
            look(3450.0, 0).as_deref(),
            Some(
                "More came than could be shown at once: for 2.5 s the table was behind, by up to 700 changes. Each \
                 object is shown at its newest again."
            )
        );
        assert_eq!(look(3500.0, 0), None);
        overload.look(5000.0, 1);
        assert_eq!((overload.behind(5999.0), overload.behind(6000.0)), (None, Some(1000.0)));
        overload.forgive();
        assert_eq!(overload.look(9000.0, 0), None, "a pause is no overload");
    }

    #[test]
    fn everyone_hears_what_is_said_and_the_list_counts_what_it_forgets() {
        let (mut announcer, mut list) = (Announcer::default(), NoticeList::default());
        let (first, second) = (announcer.subscribe(), announcer.subscribe());
        let notice = |to| PageNotice {
            resource: "pods",
            namespace: String::from("shop"),
            kind: NoticeKind::Overload { from: 0.0, to, most: 1 },
        };
        for at in 0..KEPT + 2 {
            announcer.publish(notice(at as f64));
        }
        announcer.receive(first).into_iter().for_each(|notice| list.push(notice));
        assert_eq!((list.total(), list.newest().count()), (KEPT as u64 + 2, KEPT));
        assert_eq!(list.newest().next().map(PageNotice::at), Some(KEPT as f64 + 1.0));
        assert_eq!(announcer.receive(second).len(), KEPT + 2);
        announcer.unsubscribe(second);
        announcer.publish(notice(1.0));
        assert_eq!((announcer.receive(first).len(), announcer.receive(second).len()), (1, 0));
        assert_eq!(notice(1.0).subject(), "pods in shop");
    }
}
