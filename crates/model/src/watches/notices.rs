//! What the page reports about itself: relists, gaps, staleness, refusals, overload. Each notice is published once,
//! through a Broadcaster, to the timelines, the list of notices and the console.

use std::collections::VecDeque;

use serde::Serialize;

use kubechurn_client::api::resource::{ApiResource, intern};
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::Notice;
use kubechurn_client::record::broadcaster::{Broadcaster, FullChannelBehavior, Next, WatcherId};

use crate::kind_id::listed;

/// How many notices are kept for a subscription until it receives them. Further notices are not delivered to it, and
/// are counted.
const CAPACITY: usize = 1000;

/// How many notices the list keeps.
const KEPT: usize = 200;

/// Within which time the same befalls several watches from one cause, in milliseconds: each tries again in its own time.
const TOGETHER: f64 = 10_000.0;

/// So many watches are named to which the same happened.
const NAMED: usize = 3;

/// Something that the page reports about itself.
#[derive(Clone, Debug, PartialEq)]
pub struct PageNotice {
    /// The resource that the notice is about; empty if it is about all of them.
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
    /// The page compared itself with the server and found that it was wrong.
    Difference {
        /// When.
        at: f64,
        /// What was wrong, and what the page does about it.
        words: String,
    },
    /// The program's memory has reached a threshold, and the page gave something up.
    Memory {
        /// When.
        at: f64,
        /// How many bytes the program takes.
        taken: usize,
        /// How many bytes the program may take.
        budget: usize,
        /// What was given up, and what the user can do about it.
        words: String,
    },
    /// The sums of the ledger do not balance: the page itself lost something, or counted something twice.
    Unbalanced {
        /// When the page first noticed that.
        at: f64,
        /// The sums.
        words: String,
    },
    /// This machine's clock differs from a server's.
    Clock {
        /// When the page first noticed that.
        at: f64,
        /// By how much.
        words: String,
    },
    /// Something is not kept in the browser although the user wanted it.
    Kept {
        /// When.
        at: f64,
        /// What happened, and what the user can do about it.
        words: String,
    },
    /// More was received than the page could show. The overload is over.
    Overload {
        /// When the queues were last empty.
        from: f64,
        /// When they were empty again.
        to: f64,
        /// The greatest number of received changes that were waiting.
        most: u64,
    },
}

impl NoticeKind {
    /// How many words there are for what happened.
    const WORDS: usize = 13;
}

/// What a notice calls a resource: its plural, and its cluster unless it is the page's own.
pub fn subject(resource: &ApiResource) -> &'static str {
    match resource.cluster {
        "" => resource.plural,
        cluster => intern(&format!("{} of {cluster}", resource.plural)),
    }
}

impl PageNotice {
    /// When it happened, in milliseconds.
    pub fn at(&self) -> f64 {
        match &self.kind {
            NoticeKind::Watch(_, notice) => notice.at(),
            NoticeKind::Difference { at, .. } => *at,
            NoticeKind::Overload { to, .. } => *to,
            NoticeKind::Memory { at, .. }
            | NoticeKind::Unbalanced { at, .. }
            | NoticeKind::Clock { at, .. }
            | NoticeKind::Kept { at, .. } => *at,
        }
    }

    /// One word for what happened.
    pub fn word(&self) -> &'static str {
        match &self.kind {
            NoticeKind::Watch(_, Notice::Relisted { .. }) => "relist",
            NoticeKind::Watch(_, Notice::Gap { .. }) => "gap",
            NoticeKind::Watch(_, Notice::Malformed { .. }) => "malformed",
            NoticeKind::Watch(_, Notice::Stale { .. }) => "stale",
            NoticeKind::Watch(_, Notice::Refused { .. }) => "refused",
            NoticeKind::Watch(_, Notice::Late { .. }) => "late",
            NoticeKind::Watch(_, Notice::OverHttp { .. }) => "http",
            NoticeKind::Difference { .. } => "difference",
            NoticeKind::Overload { .. } => "overload",
            NoticeKind::Memory { .. } => "memory",
            NoticeKind::Unbalanced { .. } => "unbalanced",
            NoticeKind::Clock { .. } => "clock",
            NoticeKind::Kept { .. } => "kept",
        }
    }

    /// A sentence for the user.
    pub fn sentence(&self) -> String {
        match &self.kind {
            NoticeKind::Watch(_, notice) => notice.sentence(),
            NoticeKind::Difference { words, .. } | NoticeKind::Clock { words, .. } | NoticeKind::Kept { words, .. } => {
                words.clone()
            }
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

    /// The resource that the notice is about, in words: `pods in shop`.
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
    /// A new subscription, which receives everything that is published from now on.
    pub fn subscribe(&mut self) -> Subscription {
        Subscription(self.0.watch(CAPACITY).ok())
    }

    /// Publishes a notice to all subscriptions.
    pub fn publish(&mut self, notice: PageNotice) {
        // Publishing fails only after a shutdown, and then nobody is subscribed.
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

/// What happened to one watch, or from one cause to several.
#[derive(Debug)]
pub struct Cause {
    /// The notice; of several, what they say together.
    pub notice: PageNotice,
    /// What it is about.
    subjects: Vec<String>,
    /// When the last of several happened, in milliseconds.
    last_at: f64,
}

impl Cause {
    /// What it is about, in words: `pods in shop`, and `pods, nodes, events and 10 others`.
    pub fn subject(&self) -> String {
        let mut names: Vec<&str> = self.subjects.iter().map(String::as_str).collect();
        let others = format!("{} others", names.len().saturating_sub(NAMED));
        if names.len() > NAMED + 1 {
            names.truncate(NAMED);
            names.push(&others);
        }
        listed(&names)
    }

    /// Takes in a notice that has the same cause. Returns whether it has.
    fn takes(&mut self, other: &PageNotice, subject: &str) -> bool {
        let (NoticeKind::Watch(_, own), NoticeKind::Watch(_, new)) = (&mut self.notice.kind, &other.kind) else {
            return false;
        };
        let is_soon = new.at() - self.last_at <= TOGETHER;
        let is_known = self.subjects.iter().any(|known| known == subject);
        match (own, new) {
            // Who is late is so until the list ends.
            (Notice::Late { waited, .. }, Notice::Late { waited: longer, .. }) if is_soon => {
                *waited = waited.max(*longer)
            }
            _ if is_known => return false,
            (Notice::Gap { from, to, .. }, Notice::Gap { from: began, to: ended, .. })
                if *began < *to && *from < *ended =>
            {
                (*from, *to) = (from.min(*began), to.max(*ended));
            }
            (Notice::Relisted { items, reason, .. }, Notice::Relisted { items: more, reason: why, .. })
                if is_soon && reason == why =>
            {
                *items += more;
            }
            // The server's words name the resource, after what was asked and its status.
            (Notice::Refused { reason, .. }, Notice::Refused { reason: why, .. })
                if is_soon && reason.split(':').next() == why.split(':').next() => {}
            (Notice::Stale { .. }, Notice::Stale { .. }) | (Notice::OverHttp { .. }, Notice::OverHttp { .. })
                if is_soon => {}
            _ => return false,
        }
        self.last_at = self.last_at.max(new.at());
        if !is_known {
            self.subjects.push(subject.to_owned());
        }
        true
    }
}

/// The newest notices, and how many causes there were in all.
#[derive(Debug, Default)]
pub struct NoticeList {
    kept: VecDeque<PageNotice>,
    causes: VecDeque<Cause>,
    total: u64,
}

impl NoticeList {
    /// Adds a notice. Beyond the limit the oldest is dropped, but stays counted.
    pub fn push(&mut self, notice: PageNotice) {
        let subject = notice.subject();
        if !self.causes.iter_mut().rev().take(NoticeKind::WORDS).any(|cause| cause.takes(&notice, &subject)) {
            if self.causes.len() == KEPT {
                self.causes.pop_front();
            }
            self.causes.push_back(Cause { notice: notice.clone(), subjects: vec![subject], last_at: notice.at() });
            self.total += 1;
        }
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(notice);
    }

    /// Why something happened to the watches of a resource at a time; empty where that is not in the list any more.
    pub fn reason(&self, resource: &ApiResource, at: f64) -> String {
        let subject = subject(resource);
        let reason =
            self.kept.iter().filter(|notice| notice.resource == subject).find_map(|notice| match &notice.kind {
                NoticeKind::Watch(_, notice) if notice.at() == at => notice.reason(),
                _ => None,
            });
        reason.unwrap_or_default().to_owned()
    }

    /// Newest first, those of one cause together.
    pub fn newest(&self) -> impl Iterator<Item = &Cause> {
        self.causes.iter().rev()
    }

    /// How many causes there were, dropped ones included.
    pub fn total(&self) -> u64 {
        self.total
    }
}

/// A notice, as the function `notices()` of the page returns it.
#[derive(Debug, Serialize)]
pub struct ReportedNotice {
    time: f64,
    #[serde(rename = "type")]
    word: &'static str,
    resource: &'static str,
    namespace: String,
    words: String,
}

/// The result of `notices()`: the notices that are kept, oldest first.
pub fn report(list: &NoticeList) -> Vec<ReportedNotice> {
    let notices = list.kept.iter().map(|notice| ReportedNotice {
        time: notice.at(),
        word: notice.word(),
        resource: notice.resource,
        namespace: notice.namespace.clone(),
        words: notice.sentence(),
    });
    notices.collect()
}

/// The published notices, and their subscribers.
#[derive(Debug)]
pub struct Notices {
    /// Delivers the notices.
    pub announcer: Announcer,
    /// The newest notices.
    pub list: NoticeList,
    for_list: Subscription,
    for_console: Subscription,
    /// Whether the table is behind what is received.
    pub overload: Overload,
}

impl Default for Notices {
    fn default() -> Notices {
        let mut announcer = Announcer::default();
        let for_list = announcer.subscribe();
        let for_console = announcer.subscribe();
        Notices { announcer, list: NoticeList::default(), for_list, for_console, overload: Overload::default() }
    }
}

impl Notices {
    /// Adds what was published since the last call to the list. Returns the lines for the console.
    pub fn deliver(&mut self) -> Vec<String> {
        self.announcer.receive(self.for_list).into_iter().for_each(|notice| self.list.push(notice));
        self.announcer.receive(self.for_console).iter().map(PageNotice::line).collect()
    }
}

/// How long the queues must have been non-empty without a break to count as an overload, in milliseconds.
const BEHIND: f64 = 1000.0;

/// Notices when more is received than the page can show.
#[derive(Debug, Default)]
pub struct Overload {
    since: Option<f64>,
    most: u64,
}

impl Overload {
    /// Must be called after each drain with the number of received changes that are left. Returns a notice when an
    /// overload is over.
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

    /// How long the table has been behind; `None` if that is less than an overload.
    pub fn behind(&self, now: f64) -> Option<f64> {
        self.since.map(|since| now - since).filter(|behind| *behind >= BEHIND)
    }

    /// Forgets what is waiting, because the user has paused the page.
    pub fn forgive(&mut self) {
        *self = Overload::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overload_is_reported_when_it_is_over_and_lasted() {
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
        assert_eq!(list.newest().next().map(|cause| cause.notice.at()), Some(KEPT as f64 + 1.0));
        assert_eq!(announcer.receive(second).len(), KEPT + 2);
        announcer.unsubscribe(second);
        announcer.publish(notice(1.0));
        assert_eq!((announcer.receive(first).len(), announcer.receive(second).len()), (1, 0));
        assert_eq!(notice(1.0).subject(), "pods in shop");
    }

    #[test]
    fn what_befalls_several_watches_at_once_is_one_notice() {
        let mut list = NoticeList::default();
        let say = |list: &mut NoticeList, resource: &'static str, notice: Notice| {
            let kind = NoticeKind::Watch(InformerId::default(), notice);
            list.push(PageNotice { resource, namespace: String::new(), kind });
        };
        let kinds = ["pods", "nodes", "events", "jobs", "deployments"];
        let why = || String::from("why");
        // An outage: each watch is lost, tried again, listed again and whole in its own time.
        for (at, kind) in kinds.into_iter().enumerate() {
            let at = 1_000.0 * at as f64;
            say(&mut list, kind, Notice::Stale { at, reason: format!("why of {kind}") });
        }
        for (at, kind) in kinds.into_iter().enumerate() {
            let at = 20_000.0 + 3_000.0 * at as f64;
            say(&mut list, kind, Notice::Relisted { at, reason: why(), items: 10 });
            say(&mut list, kind, Notice::Gap { from: at / 1e6, to: at, reason: why() });
        }
        let lines = |list: &NoticeList| -> Vec<String> {
            list.newest().map(|cause| format!("{}: {}", cause.subject(), cause.notice.sentence())).collect()
        };
        let all = "pods, nodes, events and 2 others";
        assert_eq!(
            lines(&list),
            [
                format!("{all}: Nothing was heard for 32 s (why); the watch is whole again."),
                format!("{all}: Everything was listed again, 50 objects (why); the watch goes on from that list."),
                format!(
                    "{all}: The watch was lost (why of pods); what is shown may be old until it is back, which is tried \
                     again and again."
                ),
            ]
        );
        assert_eq!((list.total(), list.kept.len()), (3, 15), "each is reported to programs");
        // The next outage is another one, and so is what befalls one watch later.
        say(&mut list, "pods", Notice::Stale { at: 33_000.0, reason: why() });
        say(&mut list, "nodes", Notice::Stale { at: 90_000.0, reason: why() });
        assert_eq!(list.total(), 5);
        // Of refusals the same answer to the same question is one; each thing that could not be read is for itself.
        for kind in ["pods", "nodes"] {
            say(
                &mut list,
                kind,
                Notice::Refused { at: 91_000.0, reason: format!("list (403): {kind} is forbidden"), retried: true },
            );
            say(&mut list, kind, Notice::Malformed { at: 92_000.0, reason: why() });
        }
        say(
            &mut list,
            "jobs",
            Notice::Refused { at: 93_000.0, reason: String::from("watch (403): no"), retried: true },
        );
        assert_eq!(list.total(), 9);
        assert!(lines(&list)[3].starts_with("pods and nodes: The server refused: list (403)"), "{:#?}", lines(&list));
        for waited in [10_000.0, 20_000.0] {
            say(&mut list, "pods", Notice::Late { at: 95_000.0 + waited, waited });
        }
        assert_eq!(
            (list.total(), &*lines(&list)[0]),
            (10, "pods: The end of the list has not come, and nothing else for 20 s; it is still waited for.")
        );
    }
}
