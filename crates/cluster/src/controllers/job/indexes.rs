//! Completion indexes: that of a Pod, and the list in a status, such as `1,3-5,7`
//! (`pkg/controller/job/indexed_job_utils.go`).

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::Value;

use super::super::object;

/// The label and annotation with a Pod's completion index.
pub const COMPLETION_INDEX: &str = "batch.kubernetes.io/job-completion-index";

/// The completion index of a Pod of an indexed Job.
pub fn index_of(pod: &Value) -> Option<usize> {
    object::annotation(pod, COMPLETION_INDEX)?.parse().ok()
}

/// Parses a list of indexes. Anything that is not an index below `completions` is left out.
pub fn parse(text: &str, completions: Option<usize>) -> BTreeSet<usize> {
    let end = completions.unwrap_or_default();
    let mut all = BTreeSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        if let (Ok(first), Ok(last)) = (first.parse::<usize>(), last.parse::<usize>()) {
            all.extend(first..last.saturating_add(1).min(end));
        }
    }
    all
}

/// Formats a list of indexes.
pub fn write(all: &BTreeSet<usize>) -> String {
    let mut text = String::new();
    let mut rest = all.iter().copied().peekable();
    while let Some(first) = rest.next() {
        let mut last = first;
        while let Some(next) = rest.next_if(|next| *next == last + 1) {
            last = next;
        }
        if !text.is_empty() {
            text.push(',');
        }
        // Writing to a String cannot fail. A run of two indexes is written as two numbers.
        let _ = match last - first {
            0 => write!(text, "{first}"),
            1 => write!(text, "{first},{last}"),
            _ => write!(text, "{first}-{last}"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[usize], written: &str) {
        let all = parse(text, Some(10));
        assert_eq!(all.iter().copied().collect::<Vec<usize>>(), expected, "{text}");
        assert_eq!(write(&all), written, "{text}");
    }

    #[test]
    fn runs_of_indexes_are_written_short() {
        check("", &[], "");
        check("1,3-5,7", &[1, 3, 4, 5, 7], "1,3-5,7");
        check("0-1", &[0, 1], "0,1");
        check("2,3,4", &[2, 3, 4], "2-4");
        check("8-99999999999", &[8, 9], "8,9");
        check("x,5-4,6", &[6], "6");
    }
}
