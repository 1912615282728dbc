//! Joins the versions that are kept to the lines of an audit log, or to what a recording says of them.

use std::sync::Arc;

use kubechurn_changes::audit::{Request, Version};
use kubechurn_changes::line::Line;
use kubechurn_changes::writer::{InferredWriter, brief};
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::cache::delta::DeltaType;
use smallvec::SmallVec;

use crate::history::who::{BATCH, By, Who};
use crate::history::{Entry, History};
use crate::timeline::mark::MarkType;
use crate::timeline::marks::MarkInfo;

/// How long after the end of a log versions are still joined to it, in milliseconds: as long as a request may take, and as much
/// as the clocks may differ.
const AFTER: f64 = 120_000.0;

/// Of how many versions whose request is not known it is looked who seems to have written them.
const MOST_OTHERS: usize = 64;

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
    Some(by_of(request, record.delta_type == DeltaType::Deleted))
}

/// Who made a request, as it is shown. Of a deletion it is who asked for it.
pub fn by_of(request: &Request, is_asked: bool) -> By {
    By { who: request.who(), how: request.how(), is_asked }
}

/// The writer of the version that a mark is about, as lanes have it, and whether that is the user who made the request: of a
/// deletion, who asked for it. Else it is the manager that seems to have written it.
pub fn writer_of_mark(history: &History, resource: ApiResource, mark: &MarkInfo<'_>) -> Option<(String, bool)> {
    let is_deletion = mark.mark_type == MarkType::Deleted;
    if !history.who.is_empty() {
        let found =
            if is_deletion { deletion(history, resource, mark) } else { history.version_of_mark(resource, mark) };
        if let Some(request) = found.and_then(|id| request(history, id)) {
            return Some((brief(&request.who()), true));
        }
    }
    history.writer(resource, mark).map(|manager| (manager, false))
}

/// The number of the deletion that a mark is about.
fn deletion(history: &History, resource: ApiResource, mark: &MarkInfo<'_>) -> Option<u64> {
    let entries = history.of(&resource, mark.key?);
    let is_it = |record: &&Entry| record.delta_type == DeltaType::Deleted && record.at == mark.at;
    entries.iter().rev().find(is_it).map(|record| record.sequence)
}

/// Has a line about several versions of an object, those with numbers from `first` up to `end`, name who made the requests that
/// led to them. Of the managers those are named beside them that seem to have written another one of these versions.
pub fn name_writers(line: &mut Line, of: (ApiResource, &ObjectKey), versions: (u64, u64), history: &History) {
    line.requests.clear();
    line.has_more_writers = false;
    if history.who.is_empty() {
        return;
    }
    let (first, end) = versions;
    let mut others: SmallVec<[(u64, DeltaType); 8]> = SmallVec::new();
    for record in history.of(&of.0, of.1).iter().filter(|record| (first..end).contains(&record.sequence)) {
        match request(history, record.sequence) {
            Some(known) if line.requests.iter().any(|other| other.is_of_same(known)) => {}
            Some(known) => line.requests.push(Arc::clone(known)),
            None => others.push((record.sequence, record.delta_type)),
        }
    }
    if others.len() <= MOST_OTHERS && !line.requests.is_empty() {
        let managers: Vec<String> = others.iter().filter_map(|(id, what)| history.writer_of(*id, *what)).collect();
        let is_other = |writer: &InferredWriter| managers.iter().any(|name| *name == *writer.manager);
        line.has_more_writers = line.writers.iter().any(is_other);
        if line.has_more_writers {
            line.writers.retain(|writer| is_other(writer));
        }
    } else {
        line.has_more_writers = true;
    }
}
