//! What the page has to say of itself: relists, gaps, staleness, refusals, overload. It is said once, through a
//! Broadcaster, to the timelines, the list of notices and the console.

use std::collections::VecDeque;

use serde::Serialize;

use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::Notice;
use kubechurn_client::record::broadcaster::{Broadcaster, FullChannelBehavior, Next, WatcherId};

/// What is kept for each who listens until it has looked; beyond that it misses some, and its misses are counted.
const CAPACITY: usize = 1000;

/// How many notices the list keeps.
const KEPT: usize = 200;

/// Something that the page has to say.
#[derive(Clone, Debug, PartialEq)]
pub struct Said {
    /// The resource that it is about; empty if it is about all.
    pub resource: &'static str,
    /// The namespace; empty for all.
    pub namespace: String,
    /// What happened.
    pub news: News,
}

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum News {
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

impl Said {
    /// When, in milliseconds.
    pub fn at(&self) -> f64 {
        match &self.news {
            News::Watch(_, notice) => notice.at(),
            News::Difference { at, .. } => *at,
            News::Overload { to, .. } => *to,
            News::Memory { at, .. } | News::Unbalanced { at, .. } => *at,
        }
    }

    /// One word for it.
    pub fn word(&self) -> &'static str {
        match &self.news {
            News::Watch(_, Notice::Relisted { .. }) => "relist",
            News::Watch(_, Notice::Gap { .. }) => "gap",
            News::Watch(_, Notice::Malformed { .. }) => "malformed",
            News::Watch(_, Notice::Stale { .. }) => "stale",
            News::Watch(_, Notice::Refused { .. }) => "refused",
            News::Watch(_, Notice::Late { .. }) => "late",
            News::Difference { .. } => "difference",
            News::Overload { .. } => "overload",
            News::Memory { .. } => "memory",
            News::Unbalanced { .. } => "unbalanced",
        }
    }

    /// A sentence for the user.
    pub fn sentence(&self) -> String {
        match &self.news {
            News::Watch(_, notice) => notice.sentence(),
            News::Difference { words, .. } => words.clone(),
            News::Memory { taken, budget, words, .. } => {
                let megabytes = |bytes: &usize| *bytes as f64 / 1e6;
                format!("The page takes {:.0} of {:.0} MB of memory: {words}", megabytes(taken), megabytes(budget))
            }
            News::Unbalanced { words, .. } => {
                format!("The page's own sums do not balance: something was lost or counted twice. {words}")
            }
            News::Overload { from, to, most } => format!(
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

/// Tells all who listen.
#[derive(Debug)]
pub struct Announcer(Broadcaster<Said>);

/// One who listens.
#[derive(Clone, Copy, Debug)]
pub struct Ear(Option<WatcherId>);

impl Default for Announcer {
    fn default() -> Announcer {
        Announcer(Broadcaster::new(FullChannelBehavior::DropIfChannelFull))
    }
}

impl Announcer {
    /// Someone listens from now on.
    pub fn listen(&mut self) -> Ear {
        Ear(self.0.watch(CAPACITY).ok())
    }

    /// Says something to all.
    pub fn say(&mut self, said: Said) {
        // It is refused only after a shutdown, and then no one listens.
        let _ = self.0.action(said);
    }

    /// What someone has not heard yet, oldest first.
    pub fn hear(&mut self, ear: Ear) -> Vec<Said> {
        let Some(id) = ear.0 else { return Vec::new() };
        std::iter::from_fn(|| match self.0.next(id) {
            Next::Event(said) => Some(said),
            Next::Empty | Next::Ended => None,
        })
        .collect()
    }

    /// Someone listens no longer.
    pub fn leave(&mut self, ear: Ear) {
        if let Some(id) = ear.0 {
            self.0.stop_watching(id);
        }
    }
}

/// The newest notices, and how many there were.
#[derive(Debug, Default)]
pub struct NoticeList {
    kept: VecDeque<Said>,
    total: u64,
}

impl NoticeList {
    /// Takes one in; the oldest of too many goes, and stays counted.
    pub fn push(&mut self, said: Said) {
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(said);
        self.total += 1;
    }

    /// Newest first.
    pub fn newest(&self) -> impl Iterator<Item = &Said> {
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
    let told = list.kept.iter().map(|said| Told {
        time: said.at(),
        word: said.word(),
        resource: said.resource,
        namespace: said.namespace.clone(),
        words: said.sentence(),
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
    pub fn look(&mut self, now: f64, left: u64) -> Option<Said> {
        if left > 0 {
            self.since.get_or_insert(now);
            self.most = self.most.max(left);
            return None;
        }
        let (from, most) = (self.since.take(), std::mem::take(&mut self.most));
        let from = from.filter(|from| now - from >= BEHIND)?;
        let news = News::Overload { from, to: now, most };
        Some(Said { resource: "", namespace: String::new(), news })
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
        let mut look = |now, left| overload.look(now, left).map(|said| said.sentence());
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
        let (first, second) = (announcer.listen(), announcer.listen());
        let said = |to| Said {
            resource: "pods",
            namespace: String::from("shop"),
            news: News::Overload { from: 0.0, to, most: 1 },
        };
        for at in 0..KEPT + 2 {
            announcer.say(said(at as f64));
        }
        announcer.hear(first).into_iter().for_each(|said| list.push(said));
        assert_eq!((list.total(), list.newest().count()), (KEPT as u64 + 2, KEPT));
        assert_eq!(list.newest().next().map(Said::at), Some(KEPT as f64 + 1.0));
        assert_eq!(announcer.hear(second).len(), KEPT + 2);
        announcer.leave(second);
        announcer.say(said(1.0));
        assert_eq!((announcer.hear(first).len(), announcer.hear(second).len()), (1, 0));
        assert_eq!(said(1.0).subject(), "pods in shop");
    }
}
