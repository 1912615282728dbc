//! Fills a scene with what concerns whole kinds: relists, gaps and resyncs; and the words beside
//! them.

use kubechurn_client::api::sort::{sort_by, sort_by_key};

use crate::kind_id::{KindId, listed};
use crate::timeline::Chart;
use crate::timeline::fold::CHAR;
use crate::timeline::mark::{MarkType, SubjectRef};
use crate::timeline::marks::{Marks, NO_CONNECTION};
use crate::timeline::scale::Scale;
use crate::timeline::scene::{GapArea, Kept, NoteLabel, Scene, StreamLine};

/// Gaps of so many milliseconds before now, and of the window, are looked at one by one.
const COUNTED: f64 = 600_000.0;

/// A gap is joined with one of so many that began before it: a connection that comes and goes for days makes very many.
const NEIGHBOURS: usize = 256;

/// A time without knowledge of some kinds.
#[derive(Clone, Debug)]
struct Gap<'a> {
    kinds: Vec<KindId>,
    from: f64,
    to: f64,
    note: &'a str,
    /// Whether the gap still lasts.
    open: bool,
    /// Whether the gap is of the page, and so of all kinds.
    of_all: bool,
}

impl Chart {
    /// Adds relists, gaps, what was evicted, and the words beside them; and finds the resyncs in the window.
    pub(super) fn fill_stream(
        &self,
        marks: &[&Marks],
        (now, zone): (f64, f64),
        scene: &mut Scene,
        resyncs: &mut Vec<Vec<u64>>,
    ) {
        scene.gaps.clear();
        scene.lines.clear();
        scene.notes.clear();
        resyncs.iter_mut().for_each(Vec::clear);
        resyncs.resize_with(marks.len(), Vec::new);
        let scale = scene.scale;
        let window = scale.window;
        let mut gaps = Vec::new();
        self.fill_kept(marks, (now, zone), scene);
        for ((kind, own), resyncs) in (0..).map(KindId).zip(marks).zip(resyncs) {
            self.collect(kind, own, now, (scene, &mut gaps, resyncs));
        }
        if !self.names.is_empty() {
            gaps = together(gaps, |at| uncount(at, now, scene));
            sort_by(&mut scene.lines, |one, other| one.at.total_cmp(&other.at));
        }
        let in_window = gaps.iter().filter(|gap| gap.from <= window.to && gap.to >= window.from);
        scene.gaps.extend(in_window.map(|gap| area(&scale, gap.from, gap.to, &self.words(gap))));

        let gaps = scene.gaps.iter().map(|gap| (gap.x, gap.note.as_str(), false));
        let lines = scene.lines.iter().map(|line| (line.x, line.note.as_str(), true));
        let mut words: Vec<(f64, &str, bool)> = lines.chain(gaps).collect();
        sort_by(&mut words, |one, other| one.0.total_cmp(&other.0));
        place(&words, (scale.left, scene.layout.right), &mut scene.notes);
        for line in &mut scene.lines {
            line.headed = !scene.notes.iter().any(|note| note.x + 1.0 < line.x && line.x < words_end(note));
        }
    }

    /// Adds a kind's relists in the window to the scene, its gaps to `gaps`, the oldest first, and the numbers of its
    /// resyncs in the window to `resyncs`, the newest first.
    fn collect<'a>(
        &self,
        kind: KindId,
        own: &'a Marks,
        now: f64,
        (scene, gaps, resyncs): (&mut Scene, &mut Vec<Gap<'a>>, &mut Vec<u64>),
    ) {
        let scale = scene.scale;
        let window = scale.window;
        // A gap that several kinds have is counted once, also in the newest part of the strip, whose time reaches farther back.
        let in_strip = scene.strip.window.from.max(now - COUNTED);
        let since = if self.names.is_empty() { window.from } else { window.from.min(in_strip) };
        let (first_line, first_gap) = (scene.lines.len(), gaps.len());
        if let Some((from, note)) = own.open.as_ref().filter(|_| now >= window.from) {
            gaps.push(Gap { kinds: vec![kind], from: *from, to: now, note, open: true, of_all: false });
        }
        let mut next = own.ring.get(own.last_stream);
        while let Some(mark) = next {
            // A gap is stamped when it ends, so that no gap before this mark reaches into the window.
            if mark.at < since {
                break;
            }
            let in_window = window.from <= mark.at && mark.at <= window.to;
            match mark.subject {
                SubjectRef::Resync(_) if in_window => resyncs.push(mark.seq),
                SubjectRef::Stream { from, note, of_all } if mark.mark_type == MarkType::Gap => {
                    let to = mark.at;
                    gaps.push(Gap { kinds: vec![kind], from, to, note, open: false, of_all });
                }
                SubjectRef::Stream { note, .. } if in_window => {
                    let (x, at, note) = (scale.x(mark.at), mark.at, self.about(&[kind], note));
                    scene.lines.push(StreamLine { x, at, note, headed: true });
                }
                _ => {}
            }
            next = own.ring.before(&mark);
        }
        scene.lines[first_line..].reverse();
        gaps[first_gap..].reverse();
    }

    fn words(&self, gap: &Gap<'_>) -> String {
        match gap.note {
            note if gap.of_all || self.names.is_empty() => note.to_owned(),
            NO_CONNECTION => format!("{NO_CONNECTION}: {}", self.titles(&gap.kinds)),
            note => self.about(&gap.kinds, note),
        }
    }

    /// Words about some kinds. On a timeline of several kinds they begin with the kinds' titles.
    pub(super) fn about(&self, kinds: &[KindId], note: &str) -> String {
        if self.names.is_empty() { note.to_owned() } else { format!("{}: {note}", self.titles(kinds)) }
    }

    fn titles(&self, kinds: &[KindId]) -> String {
        let titles = kinds.iter().filter_map(|kind| self.names.get(kind.index())).map(|name| name.title);
        listed(&titles.collect::<Vec<_>>())
    }
}

/// Makes one gap of gaps that overlap and have one cause, from where the first begins to where the last ends: of those
/// of the page, and of those without a connection. Calls `uncount` with the end of each gap that has ended and for
/// which another one stands.
fn together<'a>(mut gaps: Vec<Gap<'a>>, mut uncount: impl FnMut(f64)) -> Vec<Gap<'a>> {
    sort_by(&mut gaps, |one, other| one.from.total_cmp(&other.from));
    let mut all: Vec<Gap<'a>> = Vec::new();
    for gap in gaps {
        let has_cause = gap.of_all || gap.note == NO_CONNECTION;
        let is_same = |other: &&mut Gap<'_>| {
            (other.of_all, other.note) == (gap.of_all, gap.note) && other.kinds != gap.kinds && gap.from <= other.to
        };
        let Some(other) = all.iter_mut().rev().take(NEIGHBOURS).find(is_same).filter(|_| has_cause) else {
            all.push(gap);
            continue;
        };
        match (other.open, gap.open) {
            (true, true) => {}
            (true, false) => uncount(gap.to),
            (false, true) => uncount(other.to),
            (false, false) => uncount(other.to.min(gap.to)),
        }
        other.to = other.to.max(gap.to);
        other.open |= gap.open;
        other.kinds.extend(gap.kinds);
        sort_by_key(&mut other.kinds, |kind| *kind);
        other.kinds.dedup();
    }
    sort_by(&mut all, |one, other| one.open.cmp(&other.open).then(one.to.total_cmp(&other.to)));
    all
}

/// Takes a gap that ended at this time out of the scene's counts, because another gap stands for it.
fn uncount(at: f64, now: f64, scene: &mut Scene) {
    let window = scene.scale.window;
    if window.from <= at && at <= window.to.min(now) {
        scene.counts.take_one(MarkType::Gap);
    }
    if let Some(column) = scene.columns.iter_mut().find(|column| column.from <= at && at < column.to) {
        column.counts.take_one(MarkType::Gap);
    }
}

/// An area of the lanes or of the strip.
pub(super) fn area(scale: &Scale, from: f64, to: f64, note: &str) -> GapArea {
    let x = scale.clamped(from);
    GapArea { x, width: (scale.clamped(to) - x).max(1.0), from, to, note: note.into(), kept: Kept::All }
}

/// The x coordinate where the words beside a line end, with some room after them.
fn words_end(note: &NoteLabel) -> f64 {
    note.x + (note.text.chars().count() as f64 + 3.0) * CHAR
}

/// Places words. Those that would run into each other are joined; from the fourth on they are only counted.
fn place(words: &[(f64, &str, bool)], (left, right): (f64, f64), notes: &mut Vec<NoteLabel>) {
    let (mut joined, mut more, mut after_gap) = (1, 0, false);
    for (x, text, is_line) in words {
        match notes.last_mut() {
            Some(last) if *x < words_end(last) => {
                joined += 1;
                if joined == 2 && *is_line && after_gap {
                    // A gap mostly ends with a relist: the words of both begin beside the relist's sign.
                    last.text = format!("{text}, {}", last.text);
                    last.x = *x;
                } else if joined <= 3 {
                    last.text.push_str(", ");
                    last.text.push_str(text);
                } else {
                    let kept = last.text.rfind(" +").filter(|_| more > 0).unwrap_or(last.text.len());
                    last.text.truncate(kept);
                    more += 1;
                    last.text.push_str(&format!(" +{more}"));
                }
            }
            _ => {
                (joined, more, after_gap) = (1, 0, !is_line);
                notes.push(NoteLabel { x: *x, text: (*text).to_owned() });
            }
        }
    }
    // The newest words often begin near the right edge. Then they end where they would begin.
    let Some(mut last) = notes.pop() else {
        return;
    };
    if words_end(&last) > right {
        last.x = (last.x - (last.text.chars().count() as f64 + 2.5) * CHAR).max(left);
    }
    match notes.last_mut().filter(|note| words_end(note) > last.x) {
        Some(note) => note.text.push_str(&format!(", {}", last.text)),
        None => notes.push(last),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::timeline::KindName;
    use crate::timeline::scale::Window;
    use crate::timeline::scene::TimelineView;

    const NAMES: [KindName; 3] = [
        KindName { short: "po", long: "Pod", title: "Pods" },
        KindName { short: "no", long: "Node", title: "Nodes" },
        KindName { short: "svc", long: "Service", title: "Services" },
    ];

    /// The gaps of a minute, each with its begin, its end and its words; and how many were counted.
    fn gaps(marks: &[Marks; 3], now: f64) -> (Vec<(f64, f64, String)>, u64) {
        let mut chart = Chart::of(NAMES.to_vec());
        let view = TimelineView {
            width: 1_000.0,
            height: 220.0,
            window: Window { from: now - 60_000.0, to: now },
            ..TimelineView::default()
        };
        let marks: Vec<&Marks> = marks.iter().collect();
        chart.draw(&marks, &view, now);
        let scene = &chart.scene;
        let gaps = scene.gaps.iter().map(|gap| (gap.from, gap.to, gap.note.clone()));
        (gaps.collect(), scene.counts.of(MarkType::Gap))
    }

    fn lost(marks: &mut Marks, from: f64, to: f64) {
        marks.open_gap(from, NO_CONNECTION);
        marks.close_gap(to);
    }

    #[test]
    fn a_connection_that_several_kinds_lost_is_one_gap() {
        let mut marks: [Marks; 3] = Default::default();
        lost(&mut marks[0], 1_000.0, 5_000.0);
        lost(&mut marks[1], 4_000.0, 9_000.0);
        lost(&mut marks[0], 8_000.0, 12_000.0);
        lost(&mut marks[2], 20_000.0, 21_000.0);
        let words = |kinds: &str| format!("no connection: {kinds}");
        let expected = vec![(1_000.0, 12_000.0, words("Pods and Nodes")), (20_000.0, 21_000.0, words("Services"))];
        let (found, counted) = gaps(&marks, 60_000.0);
        assert_eq!((found, counted), (expected.clone(), 2));
        // A gap that still lasts takes in those that have ended. It is not counted before it ends.
        marks[1].open_gap(20_500.0, NO_CONNECTION);
        let (found, counted) = gaps(&marks, 60_000.0);
        assert_eq!((&found[1], counted), (&(20_000.0, 60_000.0, words("Nodes and Services")), 1));
    }

    #[test]
    fn gaps_that_have_causes_of_their_own_stay_apart() {
        let mut marks: [Marks; 3] = Default::default();
        for at in [0, 1] {
            marks[at].gap(1_000.0, 2_000.0, "gap of 1 s");
        }
        marks[0].gap(1_500.0, 2_000.0, "gap of 1 s");
        for own in &mut marks {
            own.gap_of_all(1_000.0, 3_000.0, "overload");
        }
        let (found, counted) = gaps(&marks, 60_000.0);
        let words: Vec<&str> = found.iter().map(|(.., note)| &**note).collect();
        assert_eq!(words, ["Pods: gap of 1 s", "Nodes: gap of 1 s", "Pods: gap of 1 s", "overload"]);
        assert_eq!(counted, 4);
    }
}
