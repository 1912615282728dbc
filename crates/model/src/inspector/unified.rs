//! The lines in which two texts differ, as `diff -u` writes them.

use std::ops::Range;

/// How many equal lines stand around each difference.
pub const CONTEXT: usize = 3;
/// The most lines that may be removed and added until no more is compared: then all between the first and the last difference
/// is written as replaced.
const MOST: usize = 500;

/// A difference: the lines that are removed, and those that stand in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Where the lines stand in the old text that are removed.
    pub old: Range<usize>,
    /// Where those stand in the new text that are added.
    pub new: Range<usize>,
}

/// What leads from the old text to the new one, with the names of both; empty if they are the same.
pub fn unified((old_name, old): (&str, &str), (new_name, new): (&str, &str)) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let edits = edits(&old, &new);
    if edits.is_empty() {
        return String::new();
    }
    let mut text = format!("--- {old_name}\n+++ {new_name}\n");
    let mut rest = &edits[..];
    while let Some(first) = rest.first() {
        // Differences whose surroundings touch stand together.
        let together =
            1 + rest.windows(2).take_while(|pair| pair[1].old.start - pair[0].old.end <= 2 * CONTEXT).count();
        let (hunk, after) = rest.split_at(together);
        rest = after;
        let last = &hunk[hunk.len() - 1];
        let before = first.old.start.min(CONTEXT);
        let behind = (old.len() - last.old.end).min(CONTEXT);
        let place = |from: usize, to: usize| {
            // An empty range is named by the line before it.
            format!("{},{}", if from == to { from } else { from + 1 }, to - from)
        };
        let (olds, news) = (
            place(first.old.start - before, last.old.end + behind),
            place(first.new.start - before, last.new.end + behind),
        );
        text.push_str(&format!("@@ -{olds} +{news} @@\n"));
        let mut write = |sign: char, lines: &[&str]| {
            for line in lines {
                text.push(sign);
                text.push_str(line);
                text.push('\n');
            }
        };
        let mut at = first.old.start - before;
        for edit in hunk {
            write(' ', &old[at..edit.old.start]);
            write('-', &old[edit.old.clone()]);
            write('+', &new[edit.new.clone()]);
            at = edit.old.end;
        }
        write(' ', &old[at..last.old.end + behind]);
    }
    text
}

/// The differences, by Myers' algorithm (An O(ND) Difference Algorithm, 1986) between the lines that both begin and end with.
pub fn edits(old: &[&str], new: &[&str]) -> Vec<Edit> {
    let start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let end = old[start..].iter().rev().zip(new[start..].iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[start..old.len() - end], &new[start..new.len() - end]);
    if old.is_empty() && new.is_empty() {
        return Vec::new();
    }
    let whole = vec![Edit { old: 0..old.len(), new: 0..new.len() }];
    let mut found = if old.is_empty() || new.is_empty() { whole } else { shortest(old, new).unwrap_or(whole) };
    for edit in &mut found {
        *edit = Edit {
            old: edit.old.start + start..edit.old.end + start,
            new: edit.new.start + start..edit.new.end + start,
        };
    }
    found
}

/// The shortest way from one to the other, if it has at most [`MOST`] lines.
fn shortest(old: &[&str], new: &[&str]) -> Option<Vec<Edit>> {
    // For each number of lines that are removed and added: how far one comes in the old text on each diagonal, which is how many
    // more lines of the old text than of the new one are behind.
    let mut ways: Vec<Vec<usize>> = Vec::new();
    let place = |steps: usize, diagonal: isize| (diagonal + steps as isize) as usize;
    'search: for steps in 0..=MOST.min(old.len() + new.len()) {
        let mut way = vec![0; 2 * steps + 1];
        for diagonal in (-(steps as isize)..=steps as isize).step_by(2) {
            let mut x = came_from(ways.last(), steps, diagonal).map_or(0, |(_, x)| x);
            let mut y = (x as isize - diagonal) as usize;
            while x < old.len() && y < new.len() && old[x] == new[y] {
                (x, y) = (x + 1, y + 1);
            }
            way[place(steps, diagonal)] = x;
            if x >= old.len() && y >= new.len() {
                ways.push(way);
                break 'search;
            }
        }
        ways.push(way);
        if steps == MOST.min(old.len() + new.len()) {
            return None;
        }
    }
    let (mut x, mut y) = (old.len(), new.len());
    let mut found: Vec<Edit> = Vec::new();
    for steps in (1..ways.len()).rev() {
        let (from, reached) = came_from(ways.get(steps - 1), steps, x as isize - y as isize)?;
        let x_before = ways[steps - 1][place(steps - 1, from)];
        let y_before = (x_before as isize - from) as usize;
        let y_reached = (reached as isize - (x as isize - y as isize)) as usize;
        let edit = Edit { old: x_before..reached, new: y_before..y_reached };
        match found.last_mut() {
            Some(next) if next.old.start == edit.old.end && next.new.start == edit.new.end => {
                *next = Edit { old: edit.old.start..next.old.end, new: edit.new.start..next.new.end };
            }
            _ => found.push(edit),
        }
        (x, y) = (x_before, y_before);
    }
    found.reverse();
    Some(found)
}

/// The diagonal from which one more step leads to this one, and how far in the old text that step ends.
fn came_from(before: Option<&Vec<usize>>, steps: usize, diagonal: isize) -> Option<(isize, usize)> {
    let before = before?;
    let reach = |from: isize| -> Option<usize> {
        let at = from + steps as isize - 1;
        if at < 0 { None } else { before.get(at as usize).copied() }
    };
    let (above, left) = (reach(diagonal + 1), reach(diagonal - 1));
    match (above, left) {
        (Some(above), Some(left)) if left < above => Some((diagonal + 1, above)),
        (Some(above), None) => Some((diagonal + 1, above)),
        (_, Some(left)) => Some((diagonal - 1, left + 1)),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn it_is_written_as_diff_writes_it() {
        let old: String = (1..=20).map(|at| format!("line {at}\n")).collect();
        let new = old.replace("line 3\n", "line three\n").replace("line 17\n", "");
        let expected = "--- a\n+++ b\n@@ -1,6 +1,6 @@\n line 1\n line 2\n-line 3\n+line three\n line 4\n line 5\n line 6\n\
                        @@ -14,7 +14,6 @@\n line 14\n line 15\n line 16\n-line 17\n line 18\n line 19\n line 20\n";
        assert_eq!(unified(("a", &old), ("b", &new)), expected);
        assert_eq!(unified(("a", &old), ("b", &old)), "");
        assert_eq!(unified(("a", ""), ("b", "x\n")), "--- a\n+++ b\n@@ -0,0 +1,1 @@\n+x\n");
    }

    #[test]
    fn what_differs_everywhere_is_replaced_in_bounded_time() {
        let lines = |word: &str| (0..20_000).map(|at| format!("{word}{at}\n")).collect::<String>();
        let text = unified(("a", &lines("x")), ("b", &lines("y")));
        assert_eq!(text.lines().count(), 3 + 40_000);
    }

    /// The new text, made from the old one and the differences.
    fn applied(old: &[&str], new: &[&str]) -> Vec<String> {
        let (mut made, mut at) = (Vec::new(), 0);
        for Edit { old: removed, new: added } in edits(old, new) {
            made.extend_from_slice(&old[at..removed.start]);
            made.extend_from_slice(&new[added]);
            at = removed.end;
        }
        made.extend_from_slice(&old[at..]);
        made.iter().map(ToString::to_string).collect()
    }

    proptest! {
        #[test]
        fn it_leads_from_the_one_to_the_other(old in "[ab]{0,12}", new in "[abc]{0,12}") {
            let letters = |text: &str| text.chars().map(String::from).collect::<Vec<_>>();
            let (old, new) = (letters(&old), letters(&new));
            let (old, new): (Vec<&str>, Vec<&str>) = (old.iter().map(|one| &**one).collect(), new.iter().map(|one| &**one).collect());
            prop_assert_eq!(applied(&old, &new), new.iter().map(ToString::to_string).collect::<Vec<_>>());
        }
    }
}
