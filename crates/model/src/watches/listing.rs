//! How far a list has come, and of about how many objects. A list that comes as a stream does not say their number,
//! and a list that comes as a whole says it only at its end. For a list that takes long the server is asked for the
//! number, once. The number is an estimate, and nothing depends on it.

use rustc_hash::FxHashMap;

use kubechurn_client::cache::factory::{InformerId, SharedInformerFactory};
use kubechurn_client::cache::reflector::Health;

use crate::timeline::mark::grouped;
use crate::watches::watched::Watched;

/// If a first list takes longer than this, the server is asked for the number of objects. In milliseconds.
pub const LASTS: f64 = 500.0;

/// What is known of one informer's first list.
#[derive(Debug, Default)]
struct Count {
    /// Since when the list is on its way, in milliseconds; `None` while none is.
    since: Option<f64>,
    /// Whether the server was asked during this list.
    asked: bool,
    /// The number that the server answered.
    total: Option<u64>,
}

/// What is known of the first lists of all informers.
#[derive(Debug, Default)]
pub struct Counts(FxHashMap<InformerId, Count>);

/// How far the lists of a table have come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How many objects have come.
    pub listed: u64,
    /// How many objects there are, as far as that is known; at least as many as have come.
    pub about: Option<u64>,
}

impl Progress {
    /// The progress in words; empty while nothing is known.
    pub fn words(self) -> String {
        match (self.listed, self.about) {
            (0, None) => String::new(),
            (listed, None) => format!("{} so far", grouped(listed)),
            (listed, Some(about)) => format!("{} of about {}", grouped(listed), grouped(about)),
        }
    }
}

impl Counts {
    /// Looks at the first lists of some kinds: to be called a few times a second. Returns the informers for which the
    /// server is to be asked for the number of objects now.
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
            // For a list with a selector, the server does not count the remaining objects.
            let is_counted = scope.label_selector.is_empty() && scope.field_selector.is_empty();
            let is_known = count.total.is_some() || informer.reflector().remaining().is_some();
            // Beside a request that may cost the server a minute, none of the same kind is made.
            let has_begun = informer.reflector().has_begun_to_list();
            if is_counted && has_begun && !is_known && !count.asked && now - since >= LASTS {
                count.asked = true;
                asks.push(id);
            }
        }
        asks
    }

    /// Takes the server's answer for an informer: the number of objects, or `None` where the server did not report it.
    pub fn answered(&mut self, id: InformerId, total: Option<u64>) {
        if let Some(count) = self.0.get_mut(&id) {
            count.total = total.or(count.total);
        }
    }

    /// How far the lists of some kinds have come together; `None` while none is on its way. While a kind is listed
    /// anew, the last list says how many objects to expect.
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
