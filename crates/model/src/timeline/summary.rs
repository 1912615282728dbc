//! A scene in words, for users who do not see the canvas.

use crate::timeline::groups::words;
use crate::timeline::mark::{MarkType, grouped};
use crate::timeline::scene::{Scene, duration, fit};

/// How many lanes are told in words.
const TOLD: usize = 5;
/// The most characters of a name and of a state in words.
const NAME: usize = 60;

impl Scene {
    /// The scene in words, for users who do not see the canvas: what changed, and the first lanes with their present states:
    /// `Last 60 s: 14 added, 9 deleted; 1 relist. shop/cart-0 Running; shop/cart-1 deleted; and 12 more`.
    pub fn summary(&self) -> String {
        let span = duration(self.scale.window.span());
        let mut text = if self.following {
            format!("Last {span}: ")
        } else {
            format!("{span} until {} ago: ", duration(self.now - self.scale.window.to))
        };
        let list = |types: &[MarkType]| {
            let counted = types.iter().filter(|mark_type| self.counts.of(**mark_type) > 0);
            counted.map(|mark_type| mark_type.phrase(self.counts.of(*mark_type))).collect::<Vec<_>>().join(", ")
        };
        let objects = list(&MarkType::ALL[..4]);
        let stream = list(&[MarkType::Sync, MarkType::Relist, MarkType::Gap]);
        text.push_str(if objects.is_empty() { "nothing changed" } else { &objects });
        if !stream.is_empty() {
            text.push_str("; ");
            text.push_str(&stream);
        }
        let groups = words::summary(self);
        if groups.is_empty() {
            self.tell_lanes(&mut text);
        } else {
            text.push_str("; ");
            text.push_str(&groups);
        }
        text
    }

    /// Adds the first lanes and the present states of their objects.
    fn tell_lanes(&self, text: &mut String) {
        let mut told = 0;
        for row in self.lanes.iter().flatten().take(TOLD) {
            text.push_str(if told == 0 { ". " } else { "; " });
            told += 1;
            if !row.kind_name.is_empty() {
                text.push_str(row.kind_name);
                text.push(' ');
            }
            text.push_str(&fit(&row.key.to_string(), NAME));
            let word = if row.live { &*row.word } else { "deleted" };
            if !word.is_empty() {
                text.push(' ');
                text.push_str(&fit(word, NAME));
            }
        }
        let more = self.active.saturating_sub(told);
        if told > 0 && more > 0 {
            text.push_str(&format!("; and {} more", grouped(more as u64)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind_id::KindId;
    use crate::timeline::mark::LaneId;
    use crate::timeline::scale::Window;
    use crate::timeline::scene::LaneRow;
    use kubechurn_client::api::object::ObjectKey;

    #[test]
    fn the_summary_says_what_the_canvas_shows() {
        let mut scene = Scene::default();
        scene.scale.window = Window { from: 0.0, to: 60_000.0 };
        assert_eq!(scene.summary(), "Last 60 s: nothing changed");
        for (mark_type, count) in [
            (MarkType::Added, 14),
            (MarkType::Updated, 203),
            (MarkType::Deleted, 9),
            (MarkType::Sync, 2),
            (MarkType::Relist, 1),
        ] {
            scene.counts.add(mark_type, count);
        }
        assert_eq!(scene.summary(), "Last 60 s: 14 added, 203 updated, 9 deleted; 2 resyncs, 1 relist");
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
        let told = scene.summary();
        let lanes =
            "po shop/a Running; po shop/b CrashLoopBackOff; po shop/c deleted; po shop/d; po shop/e\u{fffd} <b>";
        assert!(told.ends_with(&format!("2 resyncs, 1 relist. {lanes}; and 1,201 more")), "{told}");
        scene.lanes.truncate(1);
        scene.active = 1;
        assert!(scene.summary().ends_with("1 relist. po shop/a Running"));
        (scene.following, scene.now) = (false, 90_000.0);
        assert!(scene.summary().starts_with("60 s until 30 s ago: 14 added"));
    }
}
