//! When what was known of each kind: which watches there were, when their lists were complete, and what broke them.
//!
//! A reflector's steps and notices are written down here as they come; the timelines make their marks of the same notices.
//! What was known at a moment is what these entries say up to the moment. Entries and versions are in one order, that of
//! reception: each entry has the number of versions that had been received before it.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::reflector::{Input, Notice};
use kubechurn_client::cache::shared_informer::SharedInformer;

/// How many entries are kept. Beyond it the oldest go, but for those of watches that go on.
const MOST: usize = 8_192;

/// A moment of the session: how far it was in what was received.
///
/// At a time `T` it is just behind the last that came when the clock said `T` or an earlier time. So it is where the clock was
/// set back, too: what came before that, though at a later time, belongs to the moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Moment {
    /// The time, in milliseconds.
    pub at: f64,
    /// How many versions had been received.
    pub received: u64,
    /// One more than the number of the last entry: the number of the first step of a watch that came after the moment.
    pub entries: u64,
}

/// How an informer was before it was handed an input.
#[derive(Clone, Copy, Debug)]
pub struct Before {
    is_start: bool,
    has_listed: bool,
    is_listing: bool,
    received: u64,
}

impl Before {
    /// How an informer is now, after so many versions were received.
    pub fn of(informer: &SharedInformer, input: &Input<'_>, received: u64) -> Before {
        let (is_start, reflector) = (matches!(input, Input::Start), informer.reflector());
        Before { is_start, has_listed: reflector.has_listed(), is_listing: reflector.listing().is_some(), received }
    }
}

/// What happened to a watch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// It began.
    Began,
    /// Its first list was complete.
    Listed,
    /// It has begun to list everything again. What that list brings counts when it is complete.
    Lists,
    /// That list was complete.
    Relisted,
    /// The server is not heard, since this time.
    Lost(f64),
    /// Nothing was heard since this time, and now the watch is whole again.
    Gap(f64),
    /// It ended.
    Ended,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    number: u64,
    at: f64,
    received: u64,
    /// The place of the watch among all.
    watch: usize,
    step: Step,
}

#[derive(Debug)]
struct Watch {
    id: InformerId,
    resource: ApiResource,
    /// What it selects.
    scope: Scope,
    is_listed: bool,
    is_over: bool,
    /// The numbers of the lives that its first list named in a version that was known from an earlier watch: a bit for each.
    named: Vec<u64>,
}

/// The entries.
#[derive(Debug, Default)]
pub struct Coverage {
    watches: Vec<Watch>,
    entries: Vec<Entry>,
    next: u64,
}

/// What was known of a kind at a moment.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Known {
    /// The watches whose first list was complete.
    pub parts: Vec<Part>,
    /// Whether there was a watch whose first list was not, so that some of it was not known yet.
    pub is_listing: bool,
}

impl Known {
    /// Whether nothing was known: there was no watch, or no list was complete.
    pub fn is_nothing(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether some of it was older than the moment, because a watch was broken.
    pub fn is_in_gap(&self) -> bool {
        self.parts.iter().any(|part| part.is_in_gap)
    }
}

/// How a watch was at a moment, at which it had begun and not ended.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpenAt {
    /// Its place among all.
    pub place: usize,
    /// How many versions had been received when it began.
    pub began: u64,
    /// Whether its first list was complete.
    pub is_listed: bool,
    /// Where everything was being listed again: how many versions had been received when that began, and the number of the step.
    pub lists: Option<(u64, u64)>,
    /// Where the server was not heard: since when, and when that was noticed; in milliseconds.
    pub lost: Option<(f64, f64)>,
    is_in_gap: bool,
}

/// What was known of the objects of one watch.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The place of the watch among all.
    pub watch: usize,
    /// How many versions had been received when the watch began.
    began: u64,
    /// After how many versions its objects were as they were known.
    pub received: u64,
    /// Whether the watch was broken.
    pub is_in_gap: bool,
    /// Whether it goes on, so that there is a store that has its objects.
    pub is_current: bool,
}

impl Part {
    /// Whether both are of one watch.
    pub fn is_same_watch(&self, other: &Part) -> bool {
        self.watch == other.watch && self.began == other.began
    }
}

impl Coverage {
    /// An informer was handed an input, and these notices came of it. `at` is the time; so many versions have been received.
    pub fn handled(
        &mut self,
        id: InformerId,
        (resource, scope): (ApiResource, &Scope),
        (before, informer, notices): (Before, &SharedInformer, &[Notice]),
        (at, received): (f64, u64),
    ) {
        // A watch that was stopped and goes on is the same one.
        if before.is_start && self.open(id).is_none() {
            let scope = scope.clone();
            self.watches.push(Watch { id, resource, scope, is_listed: false, is_over: false, named: Vec::new() });
            self.write(self.watches.len() - 1, Step::Began, (at, before.received));
        }
        let reflector = informer.reflector();
        if before.has_listed && !before.is_listing && reflector.listing().is_some() {
            self.step(id, Step::Lists, (at, before.received));
        }
        if !before.has_listed && reflector.has_listed() {
            self.step(id, Step::Listed, (at, received));
        }
        for notice in notices {
            match *notice {
                Notice::Relisted { at, .. } => self.step(id, Step::Relisted, (at, received)),
                Notice::Gap { from, to, .. } => self.step(id, Step::Gap(from), (to, received)),
                // As on the timeline, the gap begins with what was heard last.
                Notice::Stale { at, .. } => {
                    let since = reflector.heard().map_or(at, |heard| heard.min(at));
                    self.step(id, Step::Lost(since), (at, received));
                }
                _ => {}
            }
        }
    }

    /// What happened to each watch, in order: when, after how many versions, and the place of the watch among all.
    pub fn steps(&self, from: u64) -> impl Iterator<Item = (u64, f64, u64, usize, Step)> {
        let after = self.entries.partition_point(|entry| entry.number < from);
        let entries = self.entries[after..].iter();
        entries.map(|entry| (entry.number, entry.at, entry.received, entry.watch, entry.step))
    }

    /// When the list was complete that began with a step of a watch; in milliseconds.
    pub fn relisted_at(&self, number: u64) -> Option<f64> {
        let mut after = self.entries.iter().skip_while(|entry| entry.number < number);
        let watch = after.next()?.watch;
        after.find(|entry| entry.watch == watch && entry.step == Step::Relisted).map(|entry| entry.at)
    }

    /// The resource and the scope of the watch at a place among all, and the numbers of the lives that its first list named in a
    /// version that was known before.
    pub fn watch(&self, place: usize) -> Option<(ApiResource, &Scope, impl Iterator<Item = u32>)> {
        let Watch { resource, scope, named, .. } = self.watches.get(place)?;
        let bits = named
            .iter()
            .zip(0_u32..)
            .flat_map(|(word, at)| (0..64_u32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit));
        Some((*resource, scope, bits))
    }

    /// A recording says that the server was not heard since a time, or is heard again.
    pub fn recorded(&mut self, id: InformerId, step: Step, (at, received): (f64, u64)) {
        self.step(id, step, (at, received));
    }

    /// A watch has ended.
    pub fn ended(&mut self, id: InformerId, (at, received): (f64, u64)) {
        self.step(id, Step::Ended, (at, received));
    }

    /// The place of a watch that goes on.
    fn open(&self, id: InformerId) -> Option<usize> {
        self.watches.iter().rposition(|watch| watch.id == id && !watch.is_over)
    }

    /// Writes down what happened to a watch. What is of no watch that has begun is nothing.
    fn step(&mut self, id: InformerId, step: Step, (at, received): (f64, u64)) {
        let Some(place) = self.open(id) else { return };
        let watch = &mut self.watches[place];
        watch.is_listed |= step == Step::Listed;
        watch.is_over |= step == Step::Ended;
        self.write(place, step, (at, received));
    }

    fn write(&mut self, watch: usize, step: Step, (at, received): (f64, u64)) {
        self.entries.push(Entry { number: self.next, at, received, watch, step });
        self.next += 1;
        if self.entries.len() > MOST {
            let (watches, mut old) = (&self.watches, MOST / 4);
            self.entries.retain(|entry| {
                old = old.saturating_sub(1);
                let begins = matches!(entry.step, Step::Began | Step::Listed) && !watches[entry.watch].is_over;
                old == 0 || begins
            });
        }
    }

    /// A first list has named an object in a version that was known.
    pub fn named(&mut self, resource: ApiResource, life: u32) {
        let (word, bit) = (life as usize / 64, life % 64);
        let new = self.watches.iter_mut().filter(|watch| !watch.is_listed && !watch.is_over);
        for watch in new.filter(|watch| watch.resource == resource) {
            if watch.named.len() <= word {
                watch.named.resize(word + 1, 0);
            }
            watch.named[word] |= 1 << bit;
        }
    }

    /// The moment of a time, by which at least and at most so many versions had been received.
    pub fn moment(&self, at: f64, (least, most): (u64, u64)) -> Moment {
        let entries = self.entries.iter().rposition(|entry| entry.at <= at || entry.received < least);
        let (before, after) = self.entries.split_at(entries.map_or(0, |last| last + 1));
        let most = after.first().map_or(most, |next| most.min(next.received));
        let least = before.last().map_or(least, |last| least.max(last.received));
        Moment { at, received: most.max(least), entries: before.last().map_or(0, |last| last.number + 1) }
    }

    /// When the first list of a kind was complete first, as far as that is kept; in milliseconds.
    pub fn listed_at(&self, resource: ApiResource) -> Option<f64> {
        let is_its = |entry: &&Entry| entry.step == Step::Listed && self.watches[entry.watch].resource == resource;
        self.entries.iter().find(is_its).map(|entry| entry.at)
    }

    /// What was known at a moment of the objects of a kind in these namespaces, or in all if there are none.
    pub fn known_in(&self, resource: ApiResource, namespaces: &[String], moment: Moment) -> Known {
        let mut known = self.known(resource, moment);
        let is_asked = |namespace: &String| namespace.is_empty() || namespaces.contains(namespace);
        known.parts.retain(|part| namespaces.is_empty() || is_asked(&self.scope(part).namespace));
        known
    }

    /// What was known of a kind at a moment.
    pub fn known(&self, resource: ApiResource, moment: Moment) -> Known {
        let mut known = Known::default();
        for open in self.open_at(moment).filter(|open| self.watches[open.place].resource == resource) {
            let OpenAt { place, began, is_listed, lists, is_in_gap, .. } = open;
            if is_listed {
                let received = lists.map_or(moment.received, |(lists, _)| lists.min(moment.received));
                let is_current = !self.watches[place].is_over;
                known.parts.push(Part { watch: place, began, received, is_in_gap, is_current });
            }
            known.is_listing |= !is_listed;
        }
        known
    }

    /// The watches that had begun at a moment and not ended, in the order in which they began.
    pub fn open_at(&self, moment: Moment) -> impl Iterator<Item = OpenAt> {
        (0..self.watches.len()).filter_map(move |place| self.watch_at(place, moment))
    }

    fn watch_at(&self, place: usize, moment: Moment) -> Option<OpenAt> {
        let (mut began, mut is_listed, mut lists, mut lost, mut is_in_gap) = (None, false, None, None, false);
        for entry in self.entries.iter().filter(|entry| entry.watch == place) {
            let Entry { number, at, received, step, .. } = *entry;
            // Only times show a gap, because it is noticed after it has begun.
            match step {
                Step::Lost(since) => is_in_gap |= since <= moment.at,
                Step::Gap(from) => is_in_gap = (is_in_gap && at > moment.at) || (from <= moment.at && moment.at < at),
                _ => {}
            }
            if number >= moment.entries {
                continue;
            }
            match step {
                Step::Began => began = Some(received),
                Step::Listed => is_listed = true,
                Step::Lists => lists = lists.or(Some((received, number))),
                Step::Relisted => lists = None,
                Step::Lost(since) => lost = Some((since, at)),
                Step::Gap(_) => lost = None,
                Step::Ended => began = None,
            }
        }
        Some(OpenAt { place, began: began?, is_listed, lists, lost, is_in_gap })
    }

    /// The part to which an object belongs, by its key.
    pub fn part_of<'a>(&self, known: &'a Known, key: &ObjectKey) -> Option<&'a Part> {
        let is_own = |part: &&Part| {
            let namespace = &*self.scope(part).namespace;
            namespace.is_empty() || *namespace == *key.namespace
        };
        known.parts.iter().find(is_own)
    }

    /// What the watch of a part selected.
    pub fn scope(&self, part: &Part) -> &Scope {
        &self.watches[part.watch].scope
    }

    /// Whether a part has had an object with this number, of which the version of number `sequence` was received: its watch has
    /// received it, or its list named it.
    pub fn has(&self, part: &Part, life: u32, sequence: u64) -> bool {
        let bits = || self.watches[part.watch].named.get(life as usize / 64).copied().unwrap_or_default();
        sequence >= part.began || bits() >> (life % 64) & 1 == 1
    }
}
