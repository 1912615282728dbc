//! The row of steps, and what went through.

use crate::inside::{Compared, Handled, Passed, Step, Walk, What, Worked, plural};
use crate::timeline::mark::{MarkType, grouped};
use crate::view::inside::model::{Line, StepModel};
use crate::view::inside::words::{call_line, delta_of, name};

/// So many steps stand before the present one in the row of steps, and so many after it.
const STEPS: (usize, usize) = (8, 5);

/// The steps around the present one.
pub(super) fn steps(walk: &Walk) -> Vec<StepModel> {
    let now = walk.steps().len();
    let first = now.saturating_sub(STEPS.0 + 1);
    let later = walk.ahead(STEPS.0 + STEPS.1 + 1 - now.min(STEPS.0 + 1));
    let shown = walk.steps()[first..].iter().chain(&later);
    let mut before = None;
    let model = |(at, step): (usize, &Step)| {
        let (number, part) = (first + at + 1, step.part());
        StepModel {
            number,
            part: part.title(),
            begins: before.replace(part) != Some(part),
            delta: delta_of(step),
            words: short(step),
            state: match number.cmp(&now) {
                std::cmp::Ordering::Less => "past",
                std::cmp::Ordering::Equal => "now",
                std::cmp::Ordering::Greater => "later",
            },
        }
    };
    shown.enumerate().map(model).collect()
}

/// What happens in a step, in few words.
fn short(step: &Step) -> String {
    match &step.what {
        What::Started => String::from("The informer starts"),
        What::Listed { items, version } => format!("List: {} at {version}", grouped(*items as u64)),
        What::Replaced { rows, .. } => {
            let count = |compared| rows.iter().filter(|row| row.compared() == compared).count();
            let counts = [(Compared::New, "new"), (Compared::Changed, "changed"), (Compared::Missing, "missing")];
            let counts =
                counts.map(|(compared, word)| (count(compared), word)).into_iter().filter(|(count, _)| *count > 0);
            let counts: Vec<String> = counts.map(|(count, word)| format!("{count} {word}")).collect();
            format!("Replace: {}", if counts.is_empty() { String::from("all the same") } else { counts.join(", ") })
        }
        What::Watches { streams: true, .. } => String::from("Watch, the list first"),
        What::Streamed(object) => format!("{} is in the list", name(&object.key)),
        What::Watches { from, .. } => format!("Watch from {from}"),
        What::Event { delta_type, object, .. } => {
            format!("{} {}", name(&object.key), MarkType::from(*delta_type).name().to_lowercase())
        }
        What::Bookmark(version) => format!("Bookmark: seen up to {version}"),
        What::Lost(key) => format!("Lost: {}", key.as_ref().map_or_else(|| String::from("a bookmark"), name)),
        What::Ended(reason) => format!("Ended: {reason}"),
        What::Silent => String::from("Silence"),
        What::TimeOver => String::from("A time limit is over"),
        What::Resynced { again, left_out } => format!("Resync: {again} again, {} left out", left_out.len()),
        What::Popped(taken) => {
            let of = taken.key.as_ref().map_or_else(|| String::from("all"), name);
            format!("Pop {of}: {} → {}", plural(taken.deltas, "delta"), plural(taken.calls.len(), "call"))
        }
        What::Handler(_, Handled::Joined(count)) => format!("A handler joins, with {count} to add"),
        What::Handler(_, Handled::Called(call)) => {
            let Line { left, text, .. } = call_line("", call);
            format!("{text} {left}")
        }
        What::Handler(_, Handled::Skipped(call)) => format!("Not called: {}", call_line("", call).left),
        What::Worked(Worked::Due(count)) => format!("{} due", plural(*count, "key")),
        What::Worked(Worked::Took(work)) => format!("Work on {}", name(&work.key)),
        What::Worked(Worked::Done { work, failed: false }) => format!("Done: {}", name(&work.key)),
        What::Worked(Worked::Done { work, failed: true }) => format!("Failed: {}", name(&work.key)),
    }
}

/// What went through from the server to the handlers.
pub(super) fn sums(walk: &Walk) -> String {
    let Passed { lists, events, bookmarks, .. } = walk.passed();
    let machine = walk.machine();
    let chosen = machine.settings().chosen;
    let counts = machine.queues().counts(chosen);
    let (added, attempts) = machine.work().counts();
    [
        format!("lists {}", grouped(lists)),
        format!("events {}", grouped(events)),
        format!("bookmarks {}", grouped(bookmarks)),
        format!("→ waits {}", grouped(machine.queues().len(chosen) as u64)),
        format!("→ pops {}", grouped(counts.pops)),
        format!("→ calls {}", grouped(counts.calls)),
        format!("→ adds {}", grouped(added)),
        format!("→ reconciles {}", grouped(attempts)),
    ]
    .join("  ")
}
