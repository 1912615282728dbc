//! Fills a scene with what is no longer kept: the time of which only marks remain, because the recorder dropped the texts of
//! its changes, and the time of which nothing remains. Both are drawn in the overview, too, where the counts of that time
//! still stand.

use crate::kind_id::KindId;
use crate::timeline::Chart;
use crate::timeline::mark::grouped;
use crate::timeline::marks::Marks;
use crate::timeline::scale::Scale;
use crate::timeline::scene::{GapArea, Kept, Scene};
use crate::timeline::stream::area;
use crate::timeline::ticks::{Label, Precision, Tick};

/// A time is told with its seconds up to so many milliseconds later, and with its day from [`DAYS`] on.
const RECENT: f64 = 600_000.0;
const DAYS: f64 = 20.0 * 3_600_000.0;

impl Chart {
    /// Since when the texts of all changes are kept, in milliseconds; `None` as long as none was dropped.
    pub(super) fn note_texts(&mut self, since: Option<f64>) {
        self.texts_since = since;
    }

    /// Adds the times of which less is kept than was received. `zone` is what must be added to a time to get the local one.
    pub(super) fn fill_kept(&self, marks: &[&Marks], (now, zone): (f64, f64), scene: &mut Scene) {
        scene.lost.clear();
        let (window, lanes, strip) = (scene.scale.window, scene.scale, scene.strip);
        let clock = |at: f64| {
            let precision = match now - at {
                ago if ago < RECENT => Precision::Second,
                ago if ago < DAYS => Precision::Minute,
                _ => Precision::Day,
            };
            Tick { x: 0.0, label: Label::Local((at + zone) as i64, precision) }.label()
        };
        for (kind, own) in (0..).map(KindId).zip(marks) {
            let evicted = own.ring.evicted().total();
            if evicted > 0
                && let Some(oldest) = own.ring.oldest().filter(|oldest| oldest.at > window.from)
            {
                let note =
                    format!("nothing is kept before {}, {} older marks dropped", clock(oldest.at), grouped(evicted));
                let gap = area(&lanes, window.from, oldest.at.min(window.to), &self.about(&[kind], &note));
                scene.gaps.push(GapArea { kept: Kept::Nothing, ..gap });
            }
        }
        let Some(first) = marks.iter().filter_map(|own| own.overview.first_at()).reduce(f64::min) else { return };
        let nothing = nothing_before(marks);
        if let Some(end) = nothing {
            let note = format!("nothing is kept before {}", clock(end));
            scene.lost.extend(part(&strip, (first, end), &note, Kept::Nothing));
        }
        if let Some(since) = self.texts_since {
            let (note, from) = (format!("only marks before {}", clock(since)), nothing.unwrap_or(first));
            scene.lost.extend(part(&strip, (from, since), &note, Kept::Marks));
            scene.gaps.extend(part(&lanes, (from, since), &note, Kept::Marks));
        }
    }

    /// What is no longer kept of the time at a point of the last scene, in words.
    pub(super) fn lost_at(&self, (x, y): (f64, f64)) -> Option<&str> {
        let layout = &self.scene.layout;
        let areas = match () {
            () if x < layout.left || y >= layout.bottom => return None,
            () if y >= layout.top => &self.scene.gaps,
            () if layout.strip_top <= y && y < layout.strip_bottom => &self.scene.lost,
            () => return None,
        };
        // A gap in which nothing is kept is told by itself in the lanes.
        let is_told = |area: &&GapArea| area.kept == Kept::Marks || (y < layout.top && area.kept == Kept::Nothing);
        areas.iter().filter(is_told).find(|area| area.x <= x && x < area.x + area.width).map(|area| &*area.note)
    }
}

/// The time before which no kind has marks any more; `None` if some kind has all of its marks.
fn nothing_before(marks: &[&Marks]) -> Option<f64> {
    let mut oldest = None;
    for own in marks.iter().filter(|own| own.made() > 0) {
        if own.ring.evicted().total() == 0 {
            return None;
        }
        let own = own.ring.oldest().map_or(own.ring.last_at(), |mark| mark.at);
        oldest = Some(oldest.map_or(own, |oldest: f64| oldest.min(own)));
    }
    oldest
}

/// The part of a time that is on the scale, if there is any.
fn part(scale: &Scale, (from, to): (f64, f64), note: &str, kept: Kept) -> Option<GapArea> {
    let (from, to) = (from.max(scale.window.from), to.min(scale.window.to));
    (from < to).then(|| GapArea { kept, ..area(scale, from, to, note) })
}

#[cfg(test)]
mod tests {
    use kubechurn_client::api::cell::Tone;
    use kubechurn_client::api::object::{ObjectKey, ResourceVersion};

    use super::*;
    use crate::timeline::mark::MarkType;
    use crate::timeline::marks::NewMark;
    use crate::timeline::scale::Window;
    use crate::timeline::scene::TimelineView;
    use crate::timeline::{KindName, Timeline};

    const MINUTE: f64 = 60_000.0;
    /// 13:00 on some day.
    const ONE: f64 = 1_000.0 * 24.0 * 60.0 * MINUTE + 13.0 * 60.0 * MINUTE;

    /// Marks one object every second for some minutes after one o'clock.
    fn marks(minutes: f64) -> Marks {
        let mut marks = Marks::of_kind("Pod");
        let (key, uid) = (&ObjectKey::new("shop", "web"), &"u".into());
        for second in 0..(minutes * 60.0) as u32 {
            let (mark_type, resource_version) = (MarkType::Updated, &ResourceVersion::new(&second.to_string()));
            let new = NewMark { key, uid, mark_type, resource_version, folded: 1, tone: Tone::Good };
            marks.push(ONE + f64::from(second) * 1_000.0, new);
        }
        marks
    }

    /// Has the oldest marks go, up to a quarter of all.
    fn evict(marks: &mut Marks) {
        let wanted = marks.len() * 3 / 4;
        for budget in (0..marks.charged()).rev().step_by(500) {
            if marks.len() <= wanted {
                return;
            }
            marks.limit(budget);
        }
    }

    fn draw(chart: &mut Chart, marks: &[&Marks], window: (f64, f64), now: f64) {
        let view = TimelineView {
            width: 1_000.0,
            height: 220.0,
            window: Window { from: window.0, to: window.1 },
            zone: 2.0 * 60.0 * MINUTE,
            ..TimelineView::default()
        };
        chart.draw(marks, &view, now);
    }

    #[test]
    fn what_is_dropped_is_a_span_in_the_lanes_and_in_the_overview() {
        let (mut own, mut chart, now) = (marks(60.0), Chart::default(), ONE + 60.0 * MINUTE);
        let all = (ONE - 10.0 * MINUTE, now);
        draw(&mut chart, &[&own], all, now);
        assert!(chart.scene.gaps.is_empty() && chart.scene.lost.is_empty(), "all is kept");

        chart.note_texts(Some(ONE + 40.0 * MINUTE));
        draw(&mut chart, &[&own], all, now);
        let told = |areas: &[GapArea]| {
            let told = areas
                .iter()
                .map(|area| (((area.from - ONE) / MINUTE).round(), ((area.to - ONE) / MINUTE).round(), area.kept));
            told.collect::<Vec<_>>()
        };
        assert_eq!(told(&chart.scene.gaps), [(0.0, 40.0, Kept::Marks)]);
        assert_eq!(
            (told(&chart.scene.lost), &*chart.scene.gaps[0].note),
            (told(&chart.scene.gaps), "only marks before 15:40")
        );
        assert_eq!(chart.scene.notes[0].text, "only marks before 15:40");

        evict(&mut own);
        let oldest = own.iter().next().unwrap().at;
        let begin = ((oldest - ONE) / MINUTE).round();
        assert!((14.0..35.0).contains(&begin), "{begin}");
        draw(&mut chart, &[&own], all, now);
        let expected = [(-10.0, begin, Kept::Nothing), (begin, 40.0, Kept::Marks)];
        assert_eq!(told(&chart.scene.gaps), expected);
        assert_eq!(told(&chart.scene.lost), [(0.0, begin, Kept::Nothing), expected[1]]);
        let note = format!("nothing is kept before 15:{begin:02}, ");
        assert!(chart.scene.gaps[0].note.starts_with(&note), "{}", chart.scene.gaps[0].note);

        // The words are told wherever the pointer is in the span, beside what else is there.
        let (scene, y) = (chart.scene.clone(), chart.scene.layout.row_y(0));
        let x = |minute: f64| scene.scale.x(ONE + minute * MINUTE);
        assert_eq!(chart.lost_at((x(38.0), y)), Some("only marks before 15:40"));
        assert_eq!((chart.lost_at((x(45.0), y)), chart.lost_at((20.0, y))), (None, None));
        let hit = Timeline::new(vec![&own], &chart).hit(x(38.0), y).unwrap();
        assert!(hit.owner().is_some(), "the lane is there: {hit}");
        let hit = Timeline::new(vec![&own], &chart).hit(x(1.0), y).unwrap().to_string();
        assert!(hit.contains(&note), "{hit}");
        let strip = |minute: f64| chart.lost_at((scene.strip.x(ONE + minute * MINUTE), scene.layout.strip_top + 3.0));
        assert_eq!((strip(38.0), strip(50.0)), (Some("only marks before 15:40"), None));
        assert_eq!(strip(5.0).map(|note| note.contains("nothing is kept before 15:")), Some(true));
        // A window after it shows nothing of it.
        draw(&mut chart, &[&own], (now - MINUTE, now), now);
        assert_eq!((chart.scene.gaps.len(), chart.scene.lost.len()), (0, 2));
    }

    #[test]
    fn as_long_as_one_kind_has_all_its_marks_something_is_kept() {
        let [mut one, two, three] = [marks(60.0), marks(60.0), Marks::of_kind("Node")];
        let names = ["Pods", "Jobs", "Nodes"].map(|title| KindName { short: "x", long: "X", title });
        let (mut chart, now) = (Chart::of(names.to_vec()), ONE + 60.0 * MINUTE);
        evict(&mut one);
        draw(&mut chart, &[&one, &two, &three], (ONE, now), now);
        assert!(chart.scene.gaps[0].note.starts_with("Pods: nothing is kept before 15:"), "{:?}", chart.scene.gaps);
        assert_eq!((chart.scene.gaps.len(), chart.scene.lost.len()), (1, 0));
    }
}
