//! Joins the lines of an audit log to what was received, a share of each frame's time, and shows who wrote.

use crate::feed::FeedRow;
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

/// Has a row of these changes name the users who made the requests, in place of the managers that seem to have written.
/// `inferred` are the managers of the others.
pub(super) fn show(row: &mut FeedRow, changes: &[u64], inferred: &dyn Fn(u64) -> String, cx: &Context<'_>) {
    let history = &cx.watching.history;
    if history.who.is_empty() {
        return;
    }
    let (mut by, mut others): (Vec<By>, Vec<String>) = (Vec::new(), Vec::new());
    let mut is_all = true;
    for seq in changes {
        match joining::by(history, *seq) {
            Some(known) if by.contains(&known) => {}
            Some(known) => by.push(known),
            None => {
                is_all = false;
                let other = inferred(*seq);
                if !other.is_empty() && !others.contains(&other) {
                    others.push(other);
                }
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
    if is_all {
        row.unknown = "";
    }
}

/// The user as a row has room for it: `sa:deployment-controller` for a service account of the system. The name in full is under the
/// pointer.
fn brief(words: &str) -> String {
    let words = words.replace("system:serviceaccount:kube-system:", "sa:").replace("system:serviceaccount:", "sa:");
    words.replace("system:node:", "node:")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_short_enough_to_be_read_in_a_row() {
        for (user, words) in [
            ("system:serviceaccount:kube-system:deployment-controller", "sa:deployment-controller"),
            ("asked for by system:serviceaccount:shop:robot", "asked for by sa:shop:robot"),
            ("system:node:node-2", "node:node-2"),
            ("system:kube-scheduler", "system:kube-scheduler"),
            ("alice as bob", "alice as bob"),
        ] {
            assert_eq!(brief(user), words);
        }
    }
}
