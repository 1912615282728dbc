//! Fills a scene with the marks of whole kinds: relists, gaps and resyncs; and the words beside them.

use kubechurn_client::api::sort::{sort_by, sort_by_key};

use crate::kind_id::KindId;
use crate::timeline::scene::contents::{NoteLabel, Scene, StreamLine};
use crate::timeline::scene::fold::CHAR;
use crate::timeline::scene::lost::{area, fill_lost};
use crate::timeline::scene::row_gaps::KindGaps;
use crate::timeline::scene::scratch::Scratch;
use crate::timeline::scene::source::Source;
use crate::timeline::store::mark::{MarkType, SubjectRef};
use crate::timeline::store::marks::{NO_CONNECTION, NOT_WATCHED};
use crate::timeline::words::kinds::KindNames;

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

/// Adds relists, gaps, the times of which less is kept, and the words beside them; and finds the resyncs in the window.
pub(super) fn fill_stream(source: &Source<'_>, scene: &mut Scene, scratch: &mut Scratch) {
    let Scratch { resyncs, gaps: of_kinds, .. } = scratch;
    scene.gaps.clear();
    scene.lines.clear();
    scene.notes.clear();
    resyncs.iter_mut().for_each(Vec::clear);
    resyncs.resize_with(source.marks.len(), Vec::new);
    let scale = scene.scale;
    let window = scale.window;
    let mut gaps = Vec::new();
    fill_lost(source, scene);
    for (kind, resyncs) in (0..).map(KindId).zip(resyncs) {
        collect(source, kind, scene, &mut gaps, resyncs);
    }
    of_kinds.clear();
    of_kinds.extend((0..).map(KindId).take(source.marks.len()).map(|kind| {
        let unwatched = gaps.iter().filter(|gap| gap.kinds.contains(&kind)).map(|gap| [gap.from, gap.to]);
        KindGaps::of(kind, &scale, unwatched, &scene.gaps)
    }));
    if source.names.are_several() {
        gaps = together(gaps, |at| uncount(at, source.now, scene));
        sort_by(&mut scene.lines, |one, other| one.at.total_cmp(&other.at));
    }
    let in_window = gaps.iter().filter(|gap| gap.from <= window.to && gap.to >= window.from);
    scene
        .gaps
        .extend(in_window.map(|gap| area(&scale, (gap.from, gap.to), gap.words(source.names), gap.kinds.clone())));

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
fn collect<'a>(source: &Source<'a>, kind: KindId, scene: &mut Scene, gaps: &mut Vec<Gap<'a>>, resyncs: &mut Vec<u64>) {
    let Source { marks, names, now, .. } = *source;
    let Some(own) = marks.get(kind.index()) else { return };
    let scale = scene.scale;
    let window = scale.window;
    // A gap that several kinds have is counted once, also in the newest part of the strip, whose time reaches farther
    // back.
    let in_strip = scene.strip.window.from.max(now - COUNTED);
    let since = if names.are_several() { window.from.min(in_strip) } else { window.from };
    let first_line = scene.lines.len();
    let first_gap = gaps.len();
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
                gaps.push(Gap { kinds: vec![kind], from, to: mark.at, note, open: false, of_all });
            }
            SubjectRef::Stream { note, .. } if in_window => {
                let note = names.about(&[kind], note);
                scene.lines.push(StreamLine { x: scale.x(mark.at), at: mark.at, note, headed: true });
            }
            _ => {}
        }
        next = own.ring.before(&mark);
    }
    scene.lines[first_line..].reverse();
    gaps[first_gap..].reverse();
}

impl Gap<'_> {
    fn words(&self, names: &KindNames) -> String {
        match self.note {
            note if self.of_all || !names.are_several() || names.are_all(&self.kinds) => note.to_owned(),
            NO_CONNECTION => format!("{NO_CONNECTION}: {}", names.titles(&self.kinds)),
            note => names.about(&self.kinds, note),
        }
    }
}

/// Makes one gap of gaps that overlap and have one cause, from where the first begins to where the last ends: of those
/// of the page, of those without a connection, and of those without a watch. Calls `uncount` with the end of each gap that has ended and for
/// which another one stands.
fn together<'a>(mut gaps: Vec<Gap<'a>>, mut uncount: impl FnMut(f64)) -> Vec<Gap<'a>> {
    sort_by(&mut gaps, |one, other| one.from.total_cmp(&other.from));
    let mut all: Vec<Gap<'a>> = Vec::new();
    for gap in gaps {
        let has_cause = gap.of_all || [NO_CONNECTION, NOT_WATCHED].contains(&gap.note);
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
