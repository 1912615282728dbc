//! How far a list has come, and of about how many objects. A streaming list tells no total, and neither does a list
//! that comes whole, before it is there: of one that lasts the server is asked the number, once. It is an estimate, and
//! nothing depends on it.

use rustc_hash::FxHashMap;

use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::reflector::Health;

use crate::page::watched::Watched;
use crate::timeline::mark::grouped;

/// A first list that lasts longer than this is worth the question, in milliseconds.
pub const LASTS: f64 = 500.0;

/// What is known of one informer's first list.
#[derive(Debug, Default)]
struct Count {
    /// Since when it is on its way.
    since: Option<f64>,
    /// Whether the server was asked while it was.
    asked: bool,
    /// What it answered.
    total: Option<u64>,
}

/// The numbers that were asked for.
#[derive(Debug, Default)]
pub struct Counts(FxHashMap<InformerId, Count>);

/// How far the lists of a table have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// So many objects have come.
    pub listed: u64,
    /// Of about so many, where that is known: never less than have come.
    pub about: Option<u64>,
}

impl Progress {
    /// In words; empty while there is nothing to say.
    pub fn words(self) -> String {
        match (self.listed, self.about) {
            (0, None) => String::new(),
            (listed, None) => format!("{} so far", grouped(listed)),
            (listed, Some(about)) => format!("{} of about {}", grouped(listed), grouped(about)),
        }
    }
}

impl Counts {
    /// Looks at the first lists of a table, a few times a second, and says of which of its informers the server is to be
    /// asked the number of objects now.
    pub fn look(&mut self, now: f64, watched: &[Watched], informers: &SharedInformerFactory) -> Vec<InformerId> {
        self.0.retain(|id, _| informers.get(*id).is_some());
        let mut asks = Vec::new();
        for (id, scope) in watched.iter().flat_map(Watched::sources) {
            let Some(informer) = informers.get(id) else { continue };
            let count = self.0.entry(id).or_default();
            if informer.health(now) != Health::Listing {
                (count.since, count.asked) = (None, false);
                continue;
            }
            let since = *count.since.get_or_insert(now);
            // Of a selection the server does not count what is left.
            let is_told = scope.label_selector.is_empty() && scope.field_selector.is_empty();
            let is_known = count.total.is_some() || informer.reflector().remaining().is_some();
            if is_told && !is_known && !count.asked && now - since >= LASTS {
                count.asked = true;
                asks.push(id);
            }
        }
        asks
    }

    /// The server said how many objects there are of an informer, or would not.
    pub fn answered(&mut self, id: InformerId, total: Option<u64>) {
        if let Some(count) = self.0.get_mut(&id) {
            count.total = total.or(count.total);
        }
    }

    /// How far the lists of a table have come; `None` while none is on its way. Of a list that is made anew the last one
    /// tells how many objects to expect.
    pub fn progress(&self, watched: &[Watched], informers: &SharedInformerFactory) -> Option<Progress> {
        let lists = watched.iter().flat_map(Watched::sources).filter_map(|(id, _)| {
            let informer = informers.get(id)?;
            let reflector = informer.reflector();
            let listed = reflector.listing()? as u64;
            let known = match (reflector.remaining(), reflector.has_listed()) {
                (Some(remaining), _) => Some(listed.saturating_add(remaining)),
                (None, true) => Some(informer.store().len() as u64),
                (None, false) => self.0.get(&id).and_then(|count| count.total),
            };
            Some(Progress { listed, about: known.map(|known| known.max(listed)) })
        });
        lists.reduce(|one, two| Progress {
            listed: one.listed + two.listed,
            about: one.about.zip(two.about).map(|(one, two)| one.saturating_add(two)),
        })
    }
}
