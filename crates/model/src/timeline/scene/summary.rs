//! A scene in words, for users who do not see the canvas.

use crate::timeline::lanes::choice::LanesBy;
use crate::timeline::scene::contents::{LaneRow, Scene};
use crate::timeline::store::mark::{MarkType, grouped};
use crate::timeline::words::text::{duration, fit, objects};

/// The most lanes of a summary.
const MOST_LANES: usize = 5;
/// The most characters of a lane's name and of its state.
const NAME: usize = 60;
/// The most rows of a summary where lanes stand in groups.
const MOST_GROUPS: usize = 24;
/// The most characters of a group's name.
const LONGEST: usize = 80;

/// The scene in words, for users who do not see the canvas: what changed, and the first lanes with their present
/// states: `Last 60 s: 14 added, 9 deleted; 1 relist. shop/cart-0 Running; shop/cart-1 deleted; and 12 more`.
pub fn summary(scene: &Scene) -> String {
    let span = duration(scene.scale.window.span());
    let mut text = if scene.following {
        format!("Last {span}: ")
    } else {
        format!("{span} until {} ago: ", duration(scene.now - scene.scale.window.to))
    };
    let list = |types: &[MarkType]| {
        let counted = types.iter().filter(|mark_type| scene.counts.of(**mark_type) > 0);
        counted.map(|mark_type| mark_type.phrase(scene.counts.of(*mark_type))).collect::<Vec<_>>().join(", ")
    };
    let objects = list(&MarkType::ALL[..4]);
    let stream = list(&[MarkType::Sync, MarkType::Relist, MarkType::Gap]);
    text.push_str(if objects.is_empty() { "nothing changed" } else { &objects });
    if !stream.is_empty() {
        text.push_str("; ");
        text.push_str(&stream);
    }
    // Where each object has a lane, the only groups are those of Events.
    let is_kept = |row: &LaneRow| row.group.as_ref().is_some_and(|group| group.kept);
    if scene.lanes_by == LanesBy::Object && !scene.lanes.iter().flatten().any(is_kept) {
        add_lanes(scene, &mut text);
    } else {
        let groups = groups(scene);
        if !groups.is_empty() {
            text.push_str("; ");
            text.push_str(&groups);
        }
    }
    text
}

/// Adds the first lanes and the present states of their objects.
fn add_lanes(scene: &Scene, text: &mut String) {
    let mut added = 0;
    for row in scene.lanes.iter().flatten().take(MOST_LANES) {
        text.push_str(if added == 0 { ". " } else { "; " });
        added += 1;
        if !row.kind_name.is_empty() {
            text.push_str(row.kind_name);
            text.push(' ');
        }
        text.push_str(&fit(&row.key.to_string(), NAME));
        let word = if row.live { &*row.word } else { "deleted" };
        if let Some(group) = row.group.as_ref().filter(|group| group.open.is_some()) {
            text.push_str(&format!(", {}", objects(group.members)));
        }
        if !word.is_empty() {
            text.push(' ');
            text.push_str(&fit(word, NAME));
        }
    }
    let more = scene.active.saturating_sub(added);
    if added > 0 && more > 0 {
        text.push_str(&format!("; and {} more", grouped(more as u64)));
    }
}

/// The rows that are groups, in words; empty where there are none: `lanes by owner: Deployment shop/web, closed, 3
/// objects, 12 updated`.
fn groups(scene: &Scene) -> String {
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
    let phrases = rows().map(|(row, group)| {
        let word = if group.word.is_empty() { group.long } else { &*group.word };
        let mut phrase = format!(
            "{}{}{}",
            fit(word, LONGEST),
            if word.is_empty() { "" } else { " " },
            fit(&row.key.to_string(), LONGEST)
        );
        if group.depth > 0 {
            phrase = format!("level {} {phrase}", group.depth + 1);
        }
        if group.kept {
            phrase.push_str(", kept");
        }
        if !row.live {
            phrase.push_str(", deleted");
        }
        if let Some(open) = group.open {
            phrase.push_str(if open { ", open, " } else { ", closed, " });
            phrase.push_str(&objects(group.members));
        }
        if group.counts.total() > 0 {
            phrase.push_str(", ");
            phrase.push_str(&group.counts.phrases());
        }
        phrase
    });
    text.push_str(": ");
    text.push_str(&phrases.take(MOST_GROUPS).collect::<Vec<_>>().join("; "));
    let more = rows().count().saturating_sub(MOST_GROUPS);
    if more > 0 {
        text.push_str(&format!("; and {more} more rows"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind_id::KindId;
    use crate::timeline::scale::Window;
    use crate::timeline::store::mark::LaneId;
    use kubechurn_client::api::object::ObjectKey;

    #[test]
    fn the_summary_says_what_the_canvas_shows() {
        let mut scene = Scene::default();
        scene.scale.window = Window { from: 0.0, to: 60_000.0 };
        assert_eq!(summary(&scene), "Last 60 s: nothing changed");
        for (mark_type, count) in [
            (MarkType::Added, 14),
            (MarkType::Updated, 203),
            (MarkType::Deleted, 9),
            (MarkType::Sync, 2),
            (MarkType::Relist, 1),
        ] {
            scene.counts.add(mark_type, count);
        }
        assert_eq!(summary(&scene), "Last 60 s: 14 added, 203 updated, 9 deleted; 2 resyncs, 1 relist");
        let row = |name: &str, word: &str, live| {
            let (lane, kind, key) = (LaneId(0), KindId(0), ObjectKey::new("shop", name));
            let (kind_name, word) = ("po", word.into());
            Some(LaneRow {
                y: 0.0,
                lane,
                kind,
                kind_name,
                key,
                word,
                live,
                selected: false,
                hovered: false,
                group: None,
            })
        };
        scene.lanes = vec![
            row("a", "Running", true),
            None,
            row("b", "CrashLoopBackOff", true),
            row("c", "Running", false),
            row("d", "", true),
            row("e\u{202e}", "<b>", true),
            row("f", "Running", true),
        ];
        scene.active = 1_206;
        let words = summary(&scene);
        let lanes =
            "po shop/a Running; po shop/b CrashLoopBackOff; po shop/c deleted; po shop/d; po shop/e\u{fffd} <b>";
        assert!(words.ends_with(&format!("2 resyncs, 1 relist. {lanes}; and 1,201 more")), "{words}");
        scene.lanes.truncate(1);
        scene.active = 1;
        assert!(summary(&scene).ends_with("1 relist. po shop/a Running"));
        (scene.following, scene.now) = (false, 90_000.0);
        assert!(summary(&scene).starts_with("60 s until 30 s ago: 14 added"));
    }
}
