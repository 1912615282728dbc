//! Groups in words: for what is under the pointer, and for users who do not see the canvas.

use crate::timeline::KindName;
use crate::timeline::groups::LanesBy;
use crate::timeline::hit::phrases;
use crate::timeline::mark::grouped;
use crate::timeline::scene::{LaneRow, Scene, fit};

/// So many rows are told.
const MOST: usize = 24;
/// So many characters of a name are told.
const LONGEST: usize = 80;

/// `1 object`, `12 objects`.
pub(super) fn members(count: u32) -> String {
    format!("{} object{}", grouped(u64::from(count)), if count == 1 { "" } else { "s" })
}

/// What a row is: `Deployment shop/web`, `node node-4`.
pub(super) fn name(row: &LaneRow, names: &[KindName]) -> String {
    let word = row.group.as_ref().map_or("", |group| &*group.word);
    let word = if word.is_empty() { names.get(row.kind.index()).map_or("", |name| name.long) } else { word };
    format!("{}{}{}", fit(word, LONGEST), if word.is_empty() { "" } else { " " }, row.key)
}

/// The rows that are groups, in words; empty where there are none: `lanes by owner: Deployment shop/web, closed, 3
/// objects, 12 updated`.
pub(crate) fn summary(scene: &Scene) -> String {
    let rows = || scene.lanes.iter().flatten().filter_map(|row| Some((row, row.group.as_deref()?)));
    let mut text = String::new();
    if rows().next().is_none() {
        return text;
    }
    text.push_str(match scene.lanes_by {
        LanesBy::Object => "lanes",
        LanesBy::Owner => "lanes by owner",
        LanesBy::Node => "lanes by node",
        LanesBy::Namespace => "lanes by namespace",
        LanesBy::Kind => "lanes by kind",
        LanesBy::Manager => "lanes by manager (inferred)",
    });
    let told = rows().map(|(row, group)| {
        let word = if group.word.is_empty() { group.long } else { &*group.word };
        let mut told = format!(
            "{}{}{}",
            fit(word, LONGEST),
            if word.is_empty() { "" } else { " " },
            fit(&row.key.to_string(), LONGEST)
        );
        if group.depth > 0 {
            told = format!("level {} {told}", group.depth + 1);
        }
        if group.kept {
            told.push_str(", kept");
        }
        if !row.live {
            told.push_str(", deleted");
        }
        if let Some(open) = group.open {
            told.push_str(if open { ", open, " } else { ", closed, " });
            told.push_str(&members(group.members));
        }
        if group.counts.total() > 0 {
            told.push_str(", ");
            told.push_str(&phrases(&group.counts));
        }
        told
    });
    text.push_str(": ");
    text.push_str(&told.take(MOST).collect::<Vec<_>>().join("; "));
    let more = rows().count().saturating_sub(MOST);
    if more > 0 {
        text.push_str(&format!("; and {more} more rows"));
    }
    text
}
