//! Small charts: of a minute of changes, and of any numbers.

use crate::timeline::mark::MarkType;
use crate::timeline::marks::Marks;

/// The path of a chart of a kind's changes in the last minute: 22 bars, 44 pixels wide and 14 high.
pub fn spark(marks: &Marks, now: f64) -> String {
    const BARS: usize = 22;
    let step = 60_000.0 / BARS as f64;
    // The end is aligned to whole steps, so that bars move on and do not flicker.
    let end = (now / step).floor() * step;
    let mut sums = [0_u64; BARS];
    // Objects that a list brings are not counted: they need not have changed.
    let churn = |since: f64| {
        let counts = marks.counts_since(since);
        counts.of(MarkType::Added) + counts.of(MarkType::Updated) + counts.of(MarkType::Deleted)
    };
    let mut later = churn(end);
    for (at, sum) in sums.iter_mut().enumerate().rev() {
        let since = churn(end - step * (BARS - at) as f64);
        *sum = since.saturating_sub(later);
        later = since;
    }
    chart(&sums)
}

/// The path of a chart, whose bars are two pixels apart, and the highest of them 14 pixels high.
pub fn chart(sums: &[u64]) -> String {
    let most = sums.iter().copied().max().unwrap_or(0).max(1) as f64;
    let bars = sums.iter().enumerate().filter(|(_, sum)| **sum > 0).map(|(at, sum)| {
        let height = (*sum as f64 / most).sqrt() * 13.0 + 1.0;
        format!("M{} 14v-{height:.1}h1.5V14z", at * 2)
    });
    bars.collect()
}

#[cfg(test)]
mod tests {
    use kubechurn_client::api::cell::Tone;
    use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
    use kubechurn_client::api::uid::Uid;

    use super::*;
    use crate::timeline::marks::NewMark;

    #[test]
    fn bars_are_as_high_as_there_was_churn_and_lists_are_none() {
        let mut marks = Marks::default();
        let mut push = |at: f64, mark_type| {
            let (key, uid, version) = (ObjectKey::new("shop", "web"), Uid::new("u"), ResourceVersion::new("1"));
            let mark =
                NewMark { key: &key, uid: &uid, mark_type, resource_version: &version, folded: 1, tone: Tone::Plain };
            marks.push(at, mark);
        };
        push(1_000.0, MarkType::Replaced);
        (0..4).for_each(|_| push(30_500.0, MarkType::Updated));
        push(58_000.0, MarkType::Deleted);
        let bars = spark(&marks, 60_000.0);
        assert_eq!(bars, "M22 14v-14.0h1.5V14zM42 14v-7.5h1.5V14z");
        assert_eq!(spark(&Marks::default(), 60_000.0), "");
    }
}
