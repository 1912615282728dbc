//! Joins the versions that are kept to the lines of an audit log, or to what a recording says of them.

use std::sync::Arc;

use kubechurn_changes::audit::{Request, Version};
use kubechurn_client::cache::delta::DeltaType;

use crate::history::History;
use crate::history::who::{BATCH, By, Who};

/// How long after the end of a log versions are still joined to it, in milliseconds: as long as a request may take, and as much
/// as the clocks may differ.
const AFTER: f64 = 120_000.0;

/// Joins versions to lines as long as `goes_on`. `to_server` is what is to be added to a time of the page for one of the server
/// of a cluster, in milliseconds. Returns whether something is left.
pub fn join(
    who: &mut Who,
    history: &History,
    to_server: &dyn Fn(&'static str) -> f64,
    goes_on: &mut dyn FnMut() -> bool,
) -> bool {
    if !who.requests.has_lines() {
        return false;
    }
    while who.next < history.received() {
        if !goes_on() {
            return true;
        }
        for id in (who.next..history.received()).take(BATCH) {
            let at = history.at(id).map(|at| at + to_server(""));
            if at.is_some_and(|at| at > who.requests.ends() + AFTER) {
                // These are for another log, which may follow.
                return who.settle(goes_on);
            }
            who.next = id + 1;
            let Some(change) = history.change(id) else { continue };
            let at = change.at + to_server(change.resource.cluster);
            let (delta_type, uid) = (change.delta_type, &change.uid);
            let (old, new) = (change.old.as_deref(), change.new.as_deref());
            who.requests.version(&change.resource, &change.key, Version { id, delta_type, uid, old, new, at });
        }
    }
    who.settle(goes_on)
}

/// Who made the request that led to a version, where it is certain: of a deletion, who asked for it.
pub fn request(history: &History, id: u64) -> Option<&Arc<Request>> {
    history.who.of(id, || {
        let record = history.record(id)?;
        let version = history.version_of_number(id).map(|version| version.to_string()).unwrap_or_default();
        Some((history.life(record.life)?.uid.clone(), version, record.delta_type == DeltaType::Deleted))
    })
}

/// The same as it is shown.
pub fn by(history: &History, id: u64) -> Option<By> {
    let (request, record) = (request(history, id)?, history.record(id)?);
    Some(By { who: request.who(), how: request.how(), is_asked: record.delta_type == DeltaType::Deleted })
}
