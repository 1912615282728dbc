//! Whether the sums are right: every frame that was sent was received, or was lost with its connection and came again in
//! another way; every frame that was received is counted in one place; and every change that was applied was shown.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value;

use crate::judge::ledger::{Connection, Sent};
use crate::judge::log::Entry;
use crate::judge::{Case, Verdict, some};

/// Adds up, and adds a complaint for every difference.
pub fn sums(case: &Case<'_>, verdict: &mut Verdict) {
    sent_and_received(case, verdict);
    received(case, verdict);
    applied_and_shown(case, verdict);
}

/// One watch of the page, and the frames that came on it.
struct Watch<'a> {
    url: &'a str,
    frames: Vec<&'a Entry>,
}

fn watches<'a>(case: &'a Case<'_>) -> Vec<Watch<'a>> {
    let mut watches: Vec<Watch<'_>> = Vec::new();
    for entry in case.log.entries.iter().filter(|entry| entry.resource == case.resource) {
        match entry.word.as_str() {
            "watch" => watches.push(Watch { url: entry.text(0), frames: Vec::new() }),
            "frame" if entry.text(4) != "ignored" => {
                if let Some(watch) = watches.last_mut() {
                    watch.frames.push(entry);
                }
            }
            _ => {}
        }
    }
    watches
}

/// Each watch must have received the first frames of what one connection sent. What was lost with a connection must have come
/// again, or be in a later list.
fn sent_and_received(case: &Case<'_>, verdict: &mut Verdict) {
    let mut there: BTreeMap<&str, Vec<&Connection>> = BTreeMap::new();
    for connection in case.ledger.connections.iter().filter(|connection| connection.transport == "websocket") {
        there.entry(&connection.path).or_default().push(connection);
    }
    let mut came = HashSet::new();
    let mut lost: Vec<&Sent> = Vec::new();
    let mut residual = 0;
    for Watch { url, frames } in watches(case) {
        // A watch that brought nothing may never have reached the cluster. If it did, its frames are among those that are left.
        if frames.is_empty() {
            continue;
        }
        came.extend(frames.iter().map(|frame| (frame.text(2), frame.version(3))));
        let fits = |sent: &Connection| {
            sent.frames.iter().zip(&frames).take_while(|(sent, frame)| is_same(sent, frame)).count()
        };
        // Two watches may have sent the same request, because the timeout that they ask for is one of a few random numbers.
        let asked = there.entry(url).or_default();
        let Some(at) = (0..asked.len()).rev().max_by_key(|at| fits(asked[*at])) else {
            residual += frames.len() as u64;
            let words = format!("{} frames on a watch that the cluster has not: {url}", frames.len());
            verdict.complain(case.resource, words);
            continue;
        };
        let sent = asked.remove(at);
        let same = fits(sent);
        if same < frames.len() {
            residual += (frames.len() - same) as u64;
            let words =
                format!("frame {same} is {:?}, and {:?} was sent, on {url}", frames[same].said, sent.frames.get(same));
            verdict.complain(case.resource, words);
        }
        lost.extend(&sent.frames[same.min(sent.frames.len())..]);
    }
    // These were sent to a socket of which the page never learned that it had opened.
    lost.extend(there.values().flatten().filter(|rest| path_is_of(rest, case)).flat_map(|rest| &rest.frames));
    let newest = case.log.of("replaced", case.resource).map(|entry| entry.version(1)).max().unwrap_or_default();
    let is_event = |sent: &&&Sent| matches!(sent.kind.as_str(), "ADDED" | "MODIFIED" | "DELETED");
    let never: Vec<&&Sent> = lost
        .iter()
        .filter(is_event)
        .filter(|sent| sent.version > newest && !came.contains(&(&*sent.uid, sent.version)))
        .collect();
    if !never.is_empty() {
        residual += never.len() as u64;
        let words =
            format!("{} frames were lost with their connections, and never made up for: {}", never.len(), some(&never));
        verdict.complain(case.resource, words);
    }
    verdict.residual += residual;
}

/// Whether a connection is of the case's resource. The watches that the page asked for name the path.
fn path_is_of(connection: &Connection, case: &Case<'_>) -> bool {
    let path = |url: &str| url.split('?').next().unwrap_or_default().to_owned();
    case.log.of("watch", case.resource).any(|entry| path(entry.text(0)) == path(&connection.path))
}

/// Whether the received frame is the one that was sent. For a frame that a fault changed, it is enough that one came.
fn is_same(sent: &Sent, frame: &Entry) -> bool {
    !sent.fault.is_empty()
        || (sent.kind == frame.text(0)
            && sent.uid == frame.text(2)
            && (sent.version == frame.version(3) || sent.kind == "ERROR"))
}

/// Compares what became of each frame and each delta by the log's entries with the page's own counters.
fn received(case: &Case<'_>, verdict: &mut Verdict) {
    let mut fates = BTreeMap::<&str, u64>::new();
    let mut all = 0;
    for entry in case.log.of("frame", case.resource).filter(|entry| entry.text(4) != "ignored") {
        *fates.entry(entry.text(4)).or_default() += 1;
        all += 1;
    }
    let counter = |name: &str| case.status["ledger"][name].as_u64().unwrap_or_default();
    let fate = |name: &str| fates.get(name).copied().unwrap_or_default();
    let items = case.log.of("item", case.resource).count() as u64;
    let mut sums = vec![
        ("frames", all, counter("frames")),
        ("bookmarks", fate("bookmark"), counter("bookmarks")),
        ("errors", fate("error"), counter("errors")),
        ("events that were queued", fate("queued"), counter("watched")),
        ("events of lists", fate("streamed"), counter("streamed")),
        ("late events", fate("late"), counter("late") + counter("former")),
        ("malformed frames", fate("malformed"), counter("malformed") + counter("oversized")),
        ("items of lists", items, counter("listed")),
        ("deltas", counter("deltas"), counter("applied") + counter("coalesced") + counter("queued")),
    ];
    if case.status["balanced"] != Value::Bool(true) {
        sums.push(("what the page itself adds up", 0, 1));
    }
    for (what, one, other) in sums.into_iter().filter(|(_, one, other)| one != other) {
        verdict.residual += one.abs_diff(other);
        verdict.complain(case.resource, format!("{what}: {one} by one account, {other} by the other"));
    }
}

/// Every change of the store must be a change of the table.
fn applied_and_shown(case: &Case<'_>, verdict: &mut Verdict) {
    let mut balance = BTreeMap::<(&str, &str, u64), i64>::new();
    for (word, sign) in [("applied", 1), ("shown", -1)] {
        for entry in case.log.of(word, case.resource) {
            let what = match entry.text(0) {
                // A resync changes nothing, and only handlers that asked for it are notified.
                "synced" => continue,
                "deleted" | "absent" => "gone",
                other => other,
            };
            *balance.entry((what, entry.text(2), entry.version(3))).or_default() += sign;
        }
    }
    balance.retain(|_, balance| *balance != 0);
    if !balance.is_empty() {
        verdict.residual += balance.values().map(|balance| balance.unsigned_abs()).sum::<u64>();
        let different: Vec<_> = balance.iter().collect();
        verdict.complain(case.resource, format!("the store's changes are not the table's: {}", some(&different)));
    }
}
