//! Which parts of a row gaps cover: those in which nothing was watched of what the row stands for, and those of which less
//! is kept than was received. However many gaps there are of a time, it is covered once.

use kubechurn_client::api::sort::sort_by;

use crate::kind_id::KindId;
use crate::timeline::scale::Scale;
use crate::timeline::scene::contents::{GapArea, Kept, RowGap};

/// What may be missing, in the order in which it is drawn.
const KEPT: [Kept; 3] = [Kept::Nothing, Kept::Marks, Kept::All];

/// The parts of the rows of a kind, from left to right, by [`KEPT`].
#[derive(Clone, Debug)]
pub(super) struct KindGaps {
    kind: KindId,
    parts: [Vec<[f64; 2]>; 3],
}

impl KindGaps {
    /// The parts of a kind that was not watched in these times. `lost` are the times of which less is kept.
    pub(super) fn of(
        kind: KindId,
        scale: &Scale,
        unwatched: impl Iterator<Item = [f64; 2]>,
        lost: &[GapArea],
    ) -> KindGaps {
        let lost = |kept: Kept| {
            let own = lost.iter().filter(move |gap| gap.kept == kept && gap.kinds.contains(&kind));
            own.map(|gap| [gap.x, gap.x + gap.width]).collect()
        };
        let nothing = united(lost(Kept::Nothing));
        let mut marks = united(lost(Kept::Marks));
        if let Some([_, end]) = nothing.last() {
            marks.iter_mut().for_each(|part| part[0] = part[0].max(*end));
            marks.retain(|[from, to]| from < to);
        }
        let window = scale.window;
        let unwatched = unwatched.filter(|[from, to]| *from <= window.to && *to >= window.from);
        let unwatched = united(unwatched.map(|part| part.map(|at| scale.clamped(at))).collect());
        KindGaps { kind, parts: [nothing, marks, unwatched] }
    }
}

/// Adds the parts of a row of a kind, at this height; of a row that is of no kind, those that all kinds have.
pub(super) fn add_row_gaps(y: f64, kind: Option<KindId>, gaps: &[KindGaps], rows: &mut Vec<RowGap>) {
    for (at, kept) in KEPT.into_iter().enumerate() {
        let own = gaps.iter().filter(|own| kind.is_none_or(|kind| kind == own.kind)).map(|own| &own.parts[at]);
        let parts = own.cloned().reduce(|one, other| common(&one, &other)).unwrap_or_default();
        rows.extend(parts.into_iter().map(|[x, end]| RowGap { x, width: (end - x).max(1.0), y, kept }));
    }
}

/// The parts in which none meets another, from left to right.
fn united(mut parts: Vec<[f64; 2]>) -> Vec<[f64; 2]> {
    sort_by(&mut parts, |one, other| one[0].total_cmp(&other[0]));
    let mut all: Vec<[f64; 2]> = Vec::with_capacity(parts.len());
    for [from, to] in parts {
        match all.last_mut().filter(|last| from <= last[1]) {
            Some(last) => last[1] = last[1].max(to),
            None => all.push([from, to]),
        }
    }
    all
}

/// What is in both.
fn common(one: &[[f64; 2]], other: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let both = one.iter().flat_map(|one| other.iter().map(|other| [one[0].max(other[0]), one[1].min(other[1])]));
    united(both.filter(|[from, to]| from < to).collect())
}
