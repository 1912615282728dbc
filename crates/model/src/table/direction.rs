//! Whether a number in a cell went up or down, from the old and the new text.

use kubechurn_client::api::cell::CellRef;

/// `up` or `down` for a cell that held another number before; `None` for words, and for a number that did not change.
/// For a ratio the first number decides, or, if that is the same, the second. For a count only the number decides,
/// whatever text follows.
pub fn direction(cell: CellRef<'_>, old: &str, new: &str) -> Option<&'static str> {
    if !matches!(cell, CellRef::Number(_) | CellRef::Ratio(..) | CellRef::Restarts(..)) {
        return None;
    }
    let (old, new) = (numbers(old)?, numbers(new)?);
    match new.cmp(&old) {
        std::cmp::Ordering::Greater => Some("up"),
        std::cmp::Ordering::Less => Some("down"),
        std::cmp::Ordering::Equal => None,
    }
}

/// The number at the beginning of a text, and the number after a slash, if any.
fn numbers(text: &str) -> Option<(i64, Option<i64>)> {
    let text = text.split_whitespace().next()?;
    let (first, second) = text.split_once('/').map_or((text, None), |(first, second)| (first, Some(second)));
    Some((first.parse().ok()?, second.and_then(|second| second.parse().ok())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use kubechurn_client::api::cell::Cell;

    #[test]
    fn numbers_go_up_and_down_and_words_do_not() {
        let (number, ratio, restarts) = (Cell::Number(0), Cell::Ratio(0, 0), Cell::Restarts(0, None));
        for (cell, old, new, expected) in [
            (&number, "1", "2", Some("up")),
            (&number, "10", "9", Some("down")),
            (&number, "-1", "-2", Some("down")),
            (&number, "1", "1", None),
            (&number, "<none>", "1", None),
            (&number, "", "1", None),
            (&ratio, "0/1", "1/1", Some("up")),
            (&ratio, "1/1", "1/2", Some("up")),
            (&ratio, "2/2", "1/2", Some("down")),
            (&restarts, "3 (5m ago)", "4 (1s ago)", Some("up")),
            (&restarts, "3 (5m ago)", "3 (6m ago)", None),
            (&restarts, "9223372036854775808", "1", None),
            (&Cell::Text("10.1.0.2".into()), "9", "10", None),
        ] {
            assert_eq!(direction(cell.as_ref(), old, new), expected, "{old} to {new}");
        }
    }
}
