//! Keeps a flood of Events from the API server: an Event that comes again is counted, many similar Events are combined, and
//! what still comes too often is left out.

use std::collections::VecDeque;

use crate::record::event::{Event, EventPatch, event_name};
use crate::record::lru::Lru;
use crate::record::time::Time;
use crate::workqueue::token_bucket::TokenBucket;

/// The numbers of a correlator.
#[derive(Clone, Copy, Debug)]
pub struct CorrelatorOptions {
    /// How many entries each of the three parts remembers.
    pub lru_cache_size: usize,
    /// How many Events of one source about one object may come at once.
    pub burst: u32,
    /// How long it takes until one more may come, in milliseconds.
    pub refill: f64,
    /// The number of different messages from which on Events are combined that are otherwise the same.
    pub max_events: usize,
    /// After this time without such an Event, in milliseconds, the next one is not combined with those before.
    pub max_interval: f64,
    /// What two Events have in common that count against the same burst.
    pub spam_key: fn(&Event) -> String,
}

/// The numbers of client-go (`events_cache.go`).
impl Default for CorrelatorOptions {
    fn default() -> Self {
        CorrelatorOptions {
            lru_cache_size: 4096,
            burst: 25,
            refill: 300_000.0,
            max_events: 10,
            max_interval: 600_000.0,
            spam_key,
        }
    }
}

/// What is to be done with an Event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Correlated {
    /// The Event is new, and is to be created.
    Create(Event),
    /// The Event was recorded before, under the name that it has here, and is to be changed. If it no longer exists it is to
    /// be created.
    Update(Event),
    /// There were too many Events of this source about this object: this one is to be left out.
    Skip,
}

impl Correlated {
    /// What to change in an Event that was recorded before.
    pub fn patch(event: &Event) -> EventPatch {
        EventPatch {
            namespace: event.namespace.clone(),
            name: event.name.clone(),
            count: event.count,
            last_timestamp: event.last_timestamp,
            message: event.message.clone(),
        }
    }
}

/// The three parts in a row: combine, count, leave out (client-go `events_cache.go`, `EventCorrelator`). An Event that is left
/// out has been counted: the next one that is not left out has the true count.
#[derive(Clone, Debug)]
pub struct EventCorrelator {
    aggregator: EventAggregator,
    logger: EventLogger,
    filter: EventSourceObjectSpamFilter,
}

impl EventCorrelator {
    /// A correlator that remembers nothing yet.
    pub fn new(options: CorrelatorOptions) -> EventCorrelator {
        EventCorrelator {
            aggregator: EventAggregator::new(options),
            logger: EventLogger { seen: Lru::new(options.lru_cache_size) },
            filter: EventSourceObjectSpamFilter::new(options),
        }
    }

    /// Says what to do with an Event that comes at `now`.
    pub fn correlate(&mut self, event: Event, now: f64) -> Correlated {
        let (event, key) = self.aggregator.aggregate(event, now);
        let event = self.logger.observe(event, &key);
        if self.filter.filter(&event, now) {
            Correlated::Skip
        } else if event.count > 1 {
            Correlated::Update(event)
        } else {
            Correlated::Create(event)
        }
    }

    /// Takes the Event that was created or changed at the server.
    pub fn update_state(&mut self, event: &Event) {
        self.logger.remember(&event_key(event), event);
    }
}

/// Combines Events that differ in nothing but their message (client-go `EventAggregator`).
#[derive(Clone, Debug)]
pub struct EventAggregator {
    groups: Lru<Group>,
    max_events: usize,
    max_interval: f64,
}

#[derive(Clone, Debug)]
struct Group {
    /// The newest different messages, fewer than [`CorrelatorOptions::max_events`].
    messages: VecDeque<String>,
    last: f64,
}

impl EventAggregator {
    /// An aggregator that knows no group yet.
    pub fn new(options: CorrelatorOptions) -> EventAggregator {
        let groups = Lru::new(options.lru_cache_size);
        EventAggregator { groups, max_events: options.max_events, max_interval: options.max_interval }
    }

    /// Returns the Event and its key. If there were too many similar ones, returns an Event that combines them and the key of
    /// the group.
    pub fn aggregate(&mut self, event: Event, now: f64) -> (Event, String) {
        let key = aggregate_key(&event);
        let group = self.groups.entry(&key, || Group { messages: VecDeque::new(), last: now });
        if now - group.last > self.max_interval {
            group.messages.clear();
        }
        group.last = now;
        if !group.messages.contains(&event.message) {
            group.messages.push_back(event.message.clone());
        }
        if group.messages.len() < self.max_events {
            let own = event_key(&event);
            return (event, own);
        }
        // client-go forgets a message in no order; to forget the oldest gives the same result in every run.
        group.messages.pop_front();
        let time = event.last_timestamp;
        let combined = Event {
            name: event_name(&event.involved_object.name, time),
            message: format!("(combined from similar events): {}", event.message),
            count: 1,
            first_timestamp: time,
            reporting_controller: String::new(),
            reporting_instance: String::new(),
            ..event
        };
        (combined, key)
    }
}

/// Counts how often the same Event was recorded (client-go `eventLogger`).
#[derive(Clone, Debug)]
struct EventLogger {
    seen: Lru<Seen>,
}

#[derive(Clone, Debug, Default)]
struct Seen {
    /// How often the Event was recorded; 0 if it was not.
    count: u32,
    first_timestamp: Time,
    name: String,
}

impl EventLogger {
    /// Gives an Event that was recorded before its old name and first time, and the next count.
    fn observe(&mut self, mut event: Event, key: &str) -> Event {
        let seen = self.seen.entry(key, Seen::default);
        if seen.count > 0 {
            event.name.clone_from(&seen.name);
            event.first_timestamp = seen.first_timestamp;
            event.count = seen.count.saturating_add(1);
        }
        self.remember(key, &event);
        event
    }

    fn remember(&mut self, key: &str, event: &Event) {
        let Event { count, first_timestamp, name, .. } = event;
        let seen = Seen { count: *count, first_timestamp: *first_timestamp, name: name.clone() };
        *self.seen.entry(key, Seen::default) = seen;
    }
}

/// Limits how many Events one source may record about one object (client-go `EventSourceObjectSpamFilter`).
#[derive(Clone, Debug)]
pub struct EventSourceObjectSpamFilter {
    buckets: Lru<TokenBucket>,
    burst: u32,
    refill: f64,
    spam_key: fn(&Event) -> String,
}

impl EventSourceObjectSpamFilter {
    /// A filter that has let nothing through yet.
    pub fn new(options: CorrelatorOptions) -> EventSourceObjectSpamFilter {
        let CorrelatorOptions { lru_cache_size, burst, refill, spam_key, .. } = options;
        EventSourceObjectSpamFilter { buckets: Lru::new(lru_cache_size), burst, refill, spam_key }
    }

    /// Whether an Event that comes at `now` is one too many.
    pub fn filter(&mut self, event: &Event, now: f64) -> bool {
        let bucket = self.buckets.entry(&(self.spam_key)(event), || TokenBucket::new(self.refill, self.burst));
        !bucket.try_accept(now)
    }
}

/// The key of an Event: Events with the same key are one Event that came again.
fn event_key(event: &Event) -> String {
    let parts = [event.involved_object.field_path.as_str(), &event.reason, &event.message];
    join(&source_and_object(event), &parts)
}

/// The key of a group: what Events have in common that may be combined.
fn aggregate_key(event: &Event) -> String {
    let parts = [event.reason.as_str(), &event.reporting_controller, &event.reporting_instance];
    join(&source_and_object(event), &parts)
}

/// What Events have in common that count against the same burst: source, object and type.
pub fn spam_key(event: &Event) -> String {
    join(&source_and_object(event), &[])
}

fn source_and_object(event: &Event) -> [&str; 8] {
    let object = &event.involved_object;
    [
        &event.source.component,
        &event.source.host,
        &object.kind,
        &object.namespace,
        &object.name,
        &object.uid,
        &object.api_version,
        event.event_type.as_str(),
    ]
}

/// client-go puts the parts side by side. Here a line break stands between them, so that `ab`, `c` is not the same as `a`,
/// `bc`.
fn join(first: &[&str], rest: &[&str]) -> String {
    [first, rest].concat().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::event::tests::event;

    const SECOND: f64 = 1000.0;

    /// Events that come one after the other, `interval` milliseconds apart, and what the last one became: its count
    /// and message, `-` if it was left out.
    fn check(events: Vec<Event>, interval: f64, expected: (u32, &str)) {
        let mut correlator = EventCorrelator::new(CorrelatorOptions::default());
        let mut last = Correlated::Skip;
        for (at, mut event) in events.into_iter().enumerate() {
            let time = Time(at as i64 + 1);
            (event.first_timestamp, event.last_timestamp) = (time, time);
            last = correlator.correlate(event, at as f64 * interval);
            match &last {
                Correlated::Create(event) => {
                    assert_eq!((event.count, event.first_timestamp, event.last_timestamp), (1, time, time));
                    correlator.update_state(event);
                }
                Correlated::Update(event) => {
                    assert!(event.count > 1 && event.first_timestamp < time && event.last_timestamp == time);
                    correlator.update_state(event);
                }
                Correlated::Skip => {}
            }
        }
        let got = match &last {
            Correlated::Create(event) | Correlated::Update(event) => (event.count, event.message.as_str()),
            Correlated::Skip => (0, "-"),
        };
        assert_eq!(got, expected);
    }

    fn same(count: usize) -> Vec<Event> {
        vec![event("Duplicate", "me again", Time(0)); count]
    }

    /// Events that differ in their message, the last of which says `similar`.
    fn similar(count: usize) -> Vec<Event> {
        let numbered = (1..count).map(|number| format!("{number} similar"));
        numbered.chain([String::from("similar")]).map(|message| event("Similar", &message, Time(0))).collect()
    }

    #[test]
    fn identical_events_count() {
        check(same(1), 5.0 * SECOND, (1, "me again"));
        check(same(2), 5.0 * SECOND, (2, "me again"));
        // However many there are: they are one message.
        check(same(11), 30.0 * SECOND, (11, "me again"));
    }

    #[test]
    fn similar_events_aggregate_from_the_tenth_message_on() {
        check(similar(9), 5.0 * SECOND, (1, "similar"));
        check(similar(10), 5.0 * SECOND, (1, "(combined from similar events): similar"));
        check(similar(11), 5.0 * SECOND, (2, "(combined from similar events): similar"));
        // The interval runs from the last one, not from the first.
        check(similar(10), 600.0 * SECOND, (1, "(combined from similar events): similar"));
        check(similar(10), 600.0 * SECOND + 1.0, (1, "similar"));
    }

    /// 75. TestEventCorrelator, TestEventSpamFilter.
    #[test]
    fn a_flood_is_throttled_to_one_in_300_seconds_and_its_count_stays_true() {
        check(same(25), SECOND, (25, "me again"));
        check(same(26), SECOND, (0, "-"));
        check(same(27), SECOND, (0, "-"));
        let mut correlator = EventCorrelator::new(CorrelatorOptions::default());
        let mut counts = Vec::new();
        for (times, now) in
            [(30, 0.0), (1, 299.0 * SECOND), (2, 300.0 * SECOND), (1, 599.0 * SECOND), (1, 600.0 * SECOND)]
        {
            for one in same(times) {
                if let Correlated::Update(event) = correlator.correlate(one, now) {
                    counts.push(event.count);
                }
            }
        }
        assert_eq!(counts, (2..=25).chain([32, 35]).collect::<Vec<u32>>());
    }

    #[test]
    fn unique_events_and_other_containers_are_their_own() {
        let with = |number: usize, change: fn(&mut Event, String)| {
            let mut one = event("Same", "same", Time(0));
            change(&mut one, number.to_string());
            one
        };
        // Another object has another burst; another container shares the burst, but is no other message.
        for (change, times) in [
            ((|event, text| event.involved_object.name = text) as fn(&mut Event, String), 40),
            (|event, text| event.involved_object.uid = text, 40),
            (|event, text| event.source.host = text, 40),
            (|event, text| event.involved_object.field_path = text, 25),
            (|event, text| event.reason = text, 25),
        ] {
            check((0..times).map(|number| with(number, change)).collect(), SECOND, (1, "same"));
        }
    }

    #[test]
    fn event_spam_filter() {
        let by_reason: fn(&Event) -> String = |event| join(&source_and_object(event), &[&event.reason]);
        for (spam_key, reason, is_spam) in
            [(spam_key as fn(&Event) -> String, "Other", true), (by_reason, "Other", false), (by_reason, "First", true)]
        {
            let options = CorrelatorOptions { burst: 1, spam_key, ..CorrelatorOptions::default() };
            let mut correlator = EventCorrelator::new(options);
            assert_ne!(correlator.correlate(event("First", "i am first", Time(0)), 0.0), Correlated::Skip);
            let second = correlator.correlate(event(reason, "me again", Time(0)), SECOND);
            assert_eq!(second == Correlated::Skip, is_spam, "{reason}");
        }
    }

    #[test]
    fn what_the_caches_have_forgotten_is_new() {
        let options = CorrelatorOptions { lru_cache_size: 2, ..CorrelatorOptions::default() };
        let mut correlator = EventCorrelator::new(options);
        let mut count = |message| match correlator.correlate(event("Same", message, Time(0)), 0.0) {
            Correlated::Create(event) | Correlated::Update(event) => event.count,
            Correlated::Skip => 0,
        };
        assert_eq!(["a", "b", "a", "c", "a", "b"].map(&mut count), [1, 1, 2, 1, 3, 1]);
    }
}
