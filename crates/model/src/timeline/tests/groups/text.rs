//! A row of lanes as text.

use crate::timeline::scene::contents::LaneRow;

/// Depth, star, triangle, kind or word, name, and what was counted.
pub(super) fn text(row: &LaneRow) -> String {
    let group = row.group.as_deref().expect("a row among groups");
    let sign = match group.open {
        Some(true) => "▾ ",
        Some(false) => "▸ ",
        None => "",
    };
    let word = if group.word.is_empty() { row.kind_name } else { &group.word };
    let counts: Vec<String> = group.counts.iter().map(|(mark_type, count)| mark_type.phrase(count)).collect();
    let (star, indent) = (if group.kept { "★ " } else { "" }, "  ".repeat(group.depth.into()));
    let space = if word.is_empty() { "" } else { " " };
    let deleted = if row.live { "" } else { " deleted" };
    format!("{indent}{star}{sign}{word}{space}{}{deleted} {}", group.name, counts.join(", ")).trim_end().to_owned()
}
