//! Which events each write of a controller answers: what the informers notified its queue of since the key was worked on last.
//!
//! It is a log for tests, which compare with it what the page says of causes. Everything is on the controllers' own thread.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Debug;

use kubechurn_client::cache::store::Change;
use serde_json::Value;

/// A version of an object: its uid and its resourceVersion.
pub type Version = (String, String);

thread_local! {
    /// The event of which handlers are being notified.
    static CURRENT: RefCell<Option<Version>> = const { RefCell::new(None) };
    /// The events that wait with each key of each queue.
    static WAITING: RefCell<HashMap<(usize, String), Vec<Version>>> = RefCell::default();
    /// What was written, and which events that answers.
    static WRITES: RefCell<BTreeMap<Version, Vec<Version>>> = const { RefCell::new(BTreeMap::new()) };
}

tokio::task_local! {
    /// The events that the sync in progress answers.
    static ANSWERED: Vec<Version>;
}

/// Calls `notify`, which notifies a handler of a change.
pub fn during(change: &Change, notify: impl FnOnce()) {
    let object = change.object();
    let version = (object.uid.to_string(), object.resource_version.to_string());
    CURRENT.replace(Some(version));
    notify();
    CURRENT.replace(None);
}

/// A key was added to a queue.
pub fn added(queue: usize, key: &dyn Debug) {
    let current = CURRENT.with_borrow(Clone::clone);
    let events = current.map_or_else(|| ANSWERED.try_with(Clone::clone).unwrap_or_default(), |event| vec![event]);
    WAITING.with_borrow_mut(|waiting| waiting.entry((queue, format!("{key:?}"))).or_default().extend(events));
}

/// Works on a key. After a failure its events wait again.
pub async fn work<E>(queue: usize, key: &dyn Debug, sync: impl Future<Output = Result<(), E>>) -> Result<(), E> {
    let key = (queue, format!("{key:?}"));
    let events = WAITING.with_borrow_mut(|waiting| waiting.remove(&key)).unwrap_or_default();
    let outcome = ANSWERED.scope(events.clone(), sync).await;
    if outcome.is_err() {
        WAITING.with_borrow_mut(|waiting| waiting.entry(key).or_default().extend(events));
    }
    outcome
}

/// The server has stored what was written, and answers with that.
pub fn wrote(answer: &Value) {
    let text = |name: &str| answer["metadata"][name].as_str().unwrap_or_default().to_owned();
    if let Ok(answered) = ANSWERED.try_with(Clone::clone) {
        WRITES.with_borrow_mut(|writes| writes.insert((text("uid"), text("resourceVersion")), answered));
    }
}

/// The events that the write of a version answers; `None` if no controller wrote it.
pub fn answers(version: &Version) -> Option<Vec<Version>> {
    WRITES.with_borrow(|writes| writes.get(version).cloned())
}

/// Whether a version was written because of one of the object with this uid that is newer than `after`, by way of any number of
/// writes.
pub fn follows(version: &Version, uid: &str, after: &str) -> bool {
    let number = |version: &str| version.parse::<u64>().unwrap_or(0);
    let (mut waiting, mut seen) = (vec![version.clone()], Vec::new());
    while let Some(next) = waiting.pop() {
        // What was written before cannot be a reason.
        let events = answers(&next).unwrap_or_default().into_iter().filter(|event| number(&event.1) > number(after));
        for event in events {
            if event.0 == uid {
                return true;
            }
            if !seen.contains(&event) {
                seen.push(event.clone());
                waiting.push(event);
            }
        }
    }
    false
}
