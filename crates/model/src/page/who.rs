//! Joins the lines of an audit log to what was received, a share of each frame's time, and shows who wrote.

use kubechurn_changes::feed::{DELETER_UNKNOWN, Feed, OTHERS_UNKNOWN};
use kubechurn_changes::line::Line;
use kubechurn_changes::writer::brief;
use kubechurn_client::cache::delta::DeltaType;

use crate::feed::FeedRow;
use crate::history::History;
use crate::history::who::{By, Who, joining};
use crate::page::context::Context;

/// How long a frame may join lines, in milliseconds.
const SHARE: f64 = 6.0;
/// How many users of a row are named.
const NAMED: usize = 2;

/// Joins what is to be joined, within a share of this frame's time. Returns whether something is left.
pub(super) fn read(cx: &mut Context<'_>) -> bool {
    let mut who: Who = std::mem::take(&mut cx.watching.history.who);
    let env = cx.env;
    let to_server = |cluster| env.wall() - env.now() + env.server_clock(cluster).ahead();
    let end = env.work_clock() + SHARE;
    let is_left = joining::join(&mut who, &cx.watching.history, &to_server, &mut || env.work_clock() < end);
    let counts = if is_left { None } else { who.take_counts() };
    cx.watching.history.who = who;
    if let Some(counts) = counts {
        cx.show_message(&format!("{counts}."));
    }
    is_left
}

/// Has a row of these changes name the users who made the requests, in place of the managers that seem to have written. The changes
/// are those of a feed, with their numbers in the history, if they have any there.
pub(super) fn show(row: &mut FeedRow, changes: &[u64], feed: &Feed, history: Option<&History>) {
    let (mut by, mut others): (Vec<By>, Vec<String>) = (Vec::new(), Vec::new());
    let (mut is_all, mut is_deleter_known, mut has_unnamed) = (true, false, false);
    for seq in changes {
        let line = feed.line(*seq);
        let known = history.and_then(|history| joining::by(history, *seq));
        let of_line = line.filter(|_| history.is_none()).into_iter().flat_map(|line| {
            line.requests.iter().map(|request| joining::by_of(request, line.delta_type == DeltaType::Deleted))
        });
        let mut is_known = false;
        for known in known.into_iter().chain(of_line) {
            is_known = true;
            if !by.contains(&known) {
                by.push(known);
            }
        }
        let is_deletion = |line: &Line| line.delta_type == DeltaType::Deleted || line.is_marked_for_deletion();
        is_deleter_known |= is_known && line.is_some_and(is_deletion);
        has_unnamed |= !is_known && line.is_some_and(|line| line.writers.is_empty());
        let is_more = line.is_some_and(|line| line.has_more_writers);
        if is_known && !is_more {
            continue;
        }
        is_all = false;
        let inferred = line.into_iter().flat_map(|line| &line.writers).take(if is_more { usize::MAX } else { 1 });
        for other in inferred.map(|writer| writer.name().to_string()) {
            if !others.contains(&other) {
                others.push(other);
            }
        }
    }
    if by.is_empty() {
        return;
    }
    let mut words: Vec<String> = by.iter().take(NAMED).map(|by| brief(&by.words())).collect();
    words.dedup();
    if by.len() > NAMED {
        words.push(format!("+{}", by.len() - NAMED));
    }
    row.writers = words.join(", ");
    if !others.is_empty() {
        row.writers += &format!(", {} inferred", others.join(", "));
    }
    row.how = by.iter().map(|by| format!("{}: {}", by.words(), by.how)).collect::<Vec<_>>().join("\n");
    if is_all || (is_deleter_known && row.unknown == DELETER_UNKNOWN) {
        row.unknown = if has_unnamed { OTHERS_UNKNOWN } else { "" };
    }
}

/// Who made the request that led to a change, as a row names that user; `None` where it is not certain.
pub(super) fn name(change: u64, cx: &Context<'_>) -> Option<String> {
    joining::request(&cx.watching.history, change).map(|request| brief(&request.who()))
}
