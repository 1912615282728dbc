//! The index at the end of a file: where each block begins, and the time and the kinds that it covers.
//!
//! It may be missing, and what it says is never trusted: [`read`] takes only one that covers the file without a hole, and whoever
//! uses it looks at the blocks that it has chosen, which say themselves when they begin.

use kubechurn_client::json::{items, members, named, unescaped};

use crate::FORMAT;
use crate::edit::write_string;

/// The most blocks that are read from an index: those of a file of a hundred gigabytes.
const MOST: usize = 100_000;
/// The most kinds of a block that are read.
const MOST_KINDS: usize = 1_000;
/// The bytes of the line that says where the index begins.
pub const END: usize = 79;

/// A block, as the index has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    /// At which byte of the file it begins.
    pub at: u64,
    /// How many bytes it has.
    pub bytes: u64,
    /// The time of its first line, in milliseconds since 1970.
    pub from: f64,
    /// The latest time of a line.
    pub to: f64,
    /// The resources of which it has something, as `deployments.apps`.
    pub kinds: Vec<String>,
    /// Of a block with a state: at which byte the block begins before which all was so.
    pub state: Option<u64>,
}

impl Entry {
    /// At which byte the next one begins.
    pub fn end(&self) -> u64 {
        self.at.saturating_add(self.bytes)
    }
}

/// The lines of the index, which is a block of its own after these.
pub fn write(entries: &[Entry]) -> Vec<u8> {
    let last = entries.iter().map(|entry| entry.to).fold(f64::NEG_INFINITY, f64::max);
    let last = if last.is_finite() { last } else { 0.0 };
    let mut out = format!("{{\"churn\":{FORMAT},\"from\":{last},\"index\":{}}}\n", entries.len()).into_bytes();
    for (number, Entry { at, bytes, from, to, kinds, state }) in entries.iter().enumerate() {
        let text = format!(r#"{{"index":{number},"at":{at},"bytes":{bytes},"from":{from},"to":{to}"#);
        out.extend_from_slice(text.as_bytes());
        if let Some(state) = state {
            out.extend_from_slice(format!(r#","state":{state}"#).as_bytes());
        }
        out.extend_from_slice(br#","kinds":["#);
        for (at, kind) in kinds.iter().enumerate() {
            if at > 0 {
                out.push(b',');
            }
            write_string(kind, &mut out);
        }
        out.extend_from_slice(b"]}\n");
    }
    out
}

/// The last line of a file, which says at which byte the index begins. It has always [`END`] bytes.
pub fn end(at: u64, last: f64) -> String {
    // No time that can be written has more digits.
    let last = if last.abs() < 1e15 { last.round() } else { 0.0 };
    format!("{{\"churn\":{FORMAT},\"from\":{last:>16},\"index\":\"begins\",\"at\":{at:>20}}}\n")
}

/// Where the index begins, if this is the last line of a file.
pub fn begins(line: &[u8]) -> Option<u64> {
    let all = members(str::from_utf8(line).ok()?.trim_ascii())?;
    (named(&all, "index") == Some("\"begins\"")).then_some(())?;
    named(&all, "at")?.parse().ok()
}

/// Reads the lines of the index of a file in which it begins at this byte.
///
/// # Errors
///
/// With the reason, when it is none, or does not cover all that is before it, block by block.
pub fn read(text: &str, begins: u64) -> Result<Vec<Entry>, &'static str> {
    let mut lines = text.lines();
    let first = lines.next().and_then(members).ok_or("it is no index")?;
    if named(&first, "churn").is_none_or(|format| format.parse() != Ok(FORMAT)) || named(&first, "index").is_none() {
        return Err("it is no index");
    }
    let (mut entries, mut end): (Vec<Entry>, u64) = (Vec::new(), 0);
    for line in lines {
        if entries.len() == MOST {
            return Err("it has too many blocks");
        }
        let entry = read_line(line).ok_or("one of its lines is none of an index")?;
        if entry.at != end || entry.bytes == 0 {
            return Err("its blocks do not follow one another");
        }
        end = entry.end();
        if end > begins {
            return Err("one of its blocks is not in the file");
        }
        entries.push(entry);
    }
    let is_whole = end == begins && named(&first, "index").and_then(|count| count.parse().ok()) == Some(entries.len());
    if !is_whole || entries.is_empty() {
        return Err("it does not have all blocks");
    }
    let begins = |at: u64| entries.binary_search_by_key(&at, |entry| entry.at).is_ok();
    if entries.iter().any(|entry| entry.state.is_some_and(|state| state > entry.at || !begins(state))) {
        return Err("a state of it is that of no block");
    }
    Ok(entries)
}

fn read_line(line: &str) -> Option<Entry> {
    let all = members(line)?;
    named(&all, "index")?;
    let whole = |name: &str| named(&all, name)?.parse::<u64>().ok();
    let time = |name: &str| named(&all, name)?.parse::<f64>().ok().filter(|time| time.abs() < 1e15);
    let kinds = named(&all, "kinds").and_then(items).unwrap_or_default();
    let state = named(&all, "state");
    Some(Entry {
        at: whole("at")?,
        bytes: whole("bytes")?,
        from: time("from")?,
        to: time("to")?,
        kinds: kinds.iter().take(MOST_KINDS).filter_map(|kind| Some(unescaped(kind)?.into_owned())).collect(),
        state: state.map(|state| state.parse().ok()).map_or(Some(None), |state| state.map(Some))?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry> {
        let entry = |at, bytes, from, state| Entry {
            at,
            bytes,
            from,
            to: from + 9.5,
            kinds: vec!["pods".into(), "deployments.apps".into()],
            state,
        };
        vec![entry(0, 100, 1e12, None), entry(100, 50, 1e12 + 10.0, Some(100)), entry(150, 7, 1e12 + 12.5, None)]
    }

    #[test]
    fn an_index_is_read_as_it_was_written() {
        let text = String::from_utf8(write(&entries())).expect("it is text");
        assert_eq!(read(&text, 157), Ok(entries()));
        for (at, last) in [(0, 0.0), (157, 1_795_714_696_682.5), (u64::MAX, -1e14), (1, f64::INFINITY)] {
            let line = end(at, last);
            assert_eq!((line.len(), begins(line.as_bytes())), (END, Some(at)), "{line}");
        }
        assert_eq!(begins(b"{\"index\":\"begins\"}"), None);
    }

    #[test]
    fn one_that_does_not_fit_its_file_is_none() {
        let text = String::from_utf8(write(&entries())).expect("it is text");
        let check = |text: &str, begins: u64, reason: &str| assert_eq!(read(text, begins), Err(reason), "{text}");
        check("", 157, "it is no index");
        check("{\"churn\":1,\"from\":1}\n", 157, "it is no index");
        check(&text.replace("churn\":1", "churn\":2"), 157, "it is no index");
        check(&text, 158, "it does not have all blocks");
        check(&text, 156, "one of its blocks is not in the file");
        check(text.lines().next().expect("a line"), 0, "it does not have all blocks");
        check(&text.replace("\"index\":3", "\"index\":4"), 157, "it does not have all blocks");
        for (old, new) in [
            ("\"at\":100", "\"at\":99"),
            ("\"at\":100", "\"at\":101"),
            ("\"at\":150", "\"at\":100"),
            ("\"bytes\":50", "\"bytes\":0"),
            ("\"bytes\":50", "\"bytes\":18446744073709551615"),
        ] {
            let bad = text.replace(old, new);
            assert!(read(&bad, 157).is_err(), "{bad}");
        }
        for (old, new) in [("\"at\":100", "\"at\":-1"), ("\"to\":", "\"t\":"), ("\"from\":", "\"from\":1e99,\"f\":")] {
            check(&text.replace(old, new).replacen("1e99,\"f\":", "", 1), 157, "one of its lines is none of an index");
        }
        for state in ["\"state\":101", "\"state\":150"] {
            check(&text.replace("\"state\":100", state), 157, "a state of it is that of no block");
        }
        check(&text.replace("\"state\":100", "\"state\":null"), 157, "one of its lines is none of an index");
    }
}
