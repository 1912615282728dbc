//! The watchers of one cache, and how an event is dispatched to all of them without waiting for any.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::time::Instant;

use super::cache_watcher::CacheWatcher;
use super::event::{Delivery, Event};
use super::time_budget::TimeBudget;

/// The watchers.
///
/// The real cache waits for blocked watchers, in total no longer than its time budget, and every other watcher waits
/// with it. Here blocked watchers get the same time from the same budget, while the others go on.
#[derive(Debug)]
pub struct Watchers {
    /// The watchers that get every event.
    all: Vec<Arc<CacheWatcher>>,
    /// The watchers that asked for one value of the trigger.
    by_value: HashMap<Box<str>, Vec<Arc<CacheWatcher>>>,
    blocked: Vec<Arc<CacheWatcher>>,
    /// Until when blocked watchers may stay blocked.
    deadline: Option<Instant>,
    budget: TimeBudget,
}

impl Watchers {
    /// No watchers, with a full budget.
    pub fn new(now: Instant) -> Self {
        let (all, by_value, blocked) = (Vec::new(), HashMap::new(), Vec::new());
        Self { all, by_value, blocked, deadline: None, budget: TimeBudget::new(now) }
    }

    /// Adds a watcher, which gets every event that is dispatched from now on.
    pub fn add(&mut self, watcher: &Arc<CacheWatcher>) {
        let group = match &watcher.value {
            None => &mut self.all,
            Some(value) => self.by_value.entry(value.clone()).or_default(),
        };
        group.push(Arc::clone(watcher));
    }

    /// Removes a watcher.
    pub fn remove(&mut self, watcher: &Arc<CacheWatcher>) {
        let is_other = |other: &Arc<CacheWatcher>| !Arc::ptr_eq(other, watcher);
        match &watcher.value {
            None => self.all.retain(is_other),
            Some(value) => {
                if let Some(group) = self.by_value.get_mut(value) {
                    group.retain(is_other);
                    if group.is_empty() {
                        self.by_value.remove(value);
                    }
                }
            }
        }
        self.blocked.retain(is_other);
    }

    /// The number of watchers.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.all.len() + self.by_value.values().map(Vec::len).sum::<usize>()
    }

    /// Hands an event to every watcher that it concerns.
    pub fn dispatch(&mut self, event: Arc<Event>, now: Instant) {
        let [value, before] = event.values.clone();
        let delivery = Arc::new(Delivery::new(event));
        add_to(&self.all, &delivery, &mut self.blocked);
        if let Some(value) = &value {
            self.dispatch_to(value, &delivery);
        }
        if let Some(before) = before.filter(|before| value.as_ref() != Some(before)) {
            self.dispatch_to(&before, &delivery);
        }
        if !self.blocked.is_empty() {
            self.settle(now);
        }
    }

    fn dispatch_to(&mut self, value: &str, delivery: &Arc<Delivery>) {
        if let Some(group) = self.by_value.get(value) {
            add_to(group, delivery, &mut self.blocked);
        }
    }

    /// When [`Self::settle`] is due.
    pub fn deadline(&self) -> Option<Instant> {
        self.deadline
    }

    /// Checks the blocked watchers: those that are no longer blocked go on, and when the budget is used up the others
    /// are ended.
    pub fn settle(&mut self, now: Instant) {
        let deadline = match self.deadline {
            None if self.blocked.is_empty() => return,
            None => now + self.budget.take(now),
            Some(deadline) => deadline,
        };
        self.deadline = Some(deadline);
        let mut free_since = None;
        self.blocked.retain(|watcher| match watcher.is_blocked() {
            Ok(()) => true,
            Err(since) => {
                free_since = free_since.max(since);
                false
            }
        });
        if self.blocked.is_empty() {
            let unused = deadline.saturating_duration_since(free_since.unwrap_or(now));
            self.budget.return_unused(unused);
            self.deadline = None;
        } else if now >= deadline {
            for watcher in std::mem::take(&mut self.blocked) {
                watcher.terminate();
                self.remove(&watcher);
            }
            self.deadline = None;
        }
    }

    /// Ends all watchers once their queued events have been taken.
    pub fn close(&mut self) {
        let by_value = std::mem::take(&mut self.by_value);
        for watcher in std::mem::take(&mut self.all).into_iter().chain(by_value.into_values().flatten()) {
            watcher.drain();
        }
        self.blocked.clear();
        self.deadline = None;
    }
}

fn add_to(group: &[Arc<CacheWatcher>], delivery: &Arc<Delivery>, blocked: &mut Vec<Arc<CacheWatcher>>) {
    blocked.extend(group.iter().filter(|watcher| watcher.add(delivery)).cloned());
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::cache_watcher::Taken;
    use super::super::event::EventType;
    use super::*;
    use crate::cacher::tests::pod;

    /// Watchers without a trigger value that have room for twenty events each, and the current time.
    fn watchers<const N: usize>() -> (Watchers, [Arc<CacheWatcher>; N], Instant) {
        let now = Instant::now();
        let mut watchers = Watchers::new(now);
        let own = [(); N].map(|()| CacheWatcher::new(None, 10, false));
        own.iter().for_each(|watcher| watchers.add(watcher));
        (watchers, own, now)
    }

    fn event(node: &str, before: Option<&str>) -> Arc<Event> {
        let values = [Some(node.into()), before.map(Arc::from)];
        let event_type = EventType::Modified;
        Arc::new(Event { event_type, object: pod("web", node, 9), previous: None, values, at: Instant::now() })
    }

    fn flood(watchers: &mut Watchers, events: usize, now: Instant) {
        (0..events).for_each(|_| watchers.dispatch(event("n", None), now));
    }

    fn taken(watcher: &CacheWatcher) -> Option<usize> {
        match watcher.take(usize::MAX) {
            Taken::Events(events) => Some(events.len()),
            Taken::Nothing => Some(0),
            Taken::End => None,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_blocked_watcher_is_ended_after_the_budget_and_delays_nobody() {
        let (mut watchers, [slow, quick], now) = watchers();
        flood(&mut watchers, 20, now);
        assert_eq!((watchers.deadline(), taken(&quick)), (None, Some(20)));
        flood(&mut watchers, 15, now);
        let deadline = now + Duration::from_millis(100);
        assert_eq!((watchers.deadline(), taken(&quick)), (Some(deadline), Some(15)), "who reads has it at once");
        watchers.settle(deadline - Duration::from_millis(1));
        assert_eq!(watchers.len(), 2);
        watchers.settle(deadline);
        assert_eq!((watchers.len(), watchers.deadline(), taken(&slow)), (1, None, None));
        flood(&mut watchers, 5, deadline);
        assert_eq!(taken(&quick), Some(5));
    }

    #[tokio::test(start_paused = true)]
    async fn a_watcher_that_comes_round_in_time_goes_on_and_gives_the_rest_back() {
        let (mut watchers, [slow], now) = watchers();
        flood(&mut watchers, 21, now);
        tokio::time::advance(Duration::from_millis(30)).await;
        assert_eq!(taken(&slow), Some(21));
        watchers.settle(now + Duration::from_millis(90));
        assert_eq!((watchers.len(), watchers.deadline()), (1, None));
        // 70 ms are left, and little has been refilled since.
        let later = now + Duration::from_millis(100);
        flood(&mut watchers, 21, later);
        let left = watchers.deadline().expect("blocked again") - later;
        assert!((70..76).contains(&left.as_millis()), "{left:?}");
    }

    #[tokio::test(start_paused = true)]
    async fn an_event_goes_to_the_watchers_of_its_value_alone() {
        let (mut watchers, [all], now) = watchers();
        let of_node = |node: &str| CacheWatcher::new(Some(node.into()), 10, false);
        let own = ["n1", "n2", "n3"].map(of_node);
        own.iter().for_each(|watcher| watchers.add(watcher));
        watchers.dispatch(event("n1", None), now);
        watchers.dispatch(event("n2", Some("n2")), now);
        watchers.dispatch(event("n2", Some("n1")), now);
        assert_eq!((taken(&all), own.each_ref().map(|one| taken(one))), (Some(3), [Some(2), Some(2), Some(0)]));
        watchers.remove(&own[0]);
        watchers.close();
        assert_eq!((watchers.len(), own.each_ref().map(|one| taken(one))), (0, [Some(0), None, None]));
    }
}
