//! A text as the edits that make it of another text, the base.
//!
//! As JSON it is one list: a number that is not negative keeps so many bytes of the base, a negative one leaves so many out, a text
//! is put in, and a number in a list of its own goes on at that byte of the base. What is left of the base follows at the end.
//! All of it keeps characters whole. It is what [`difference`] finds, written so that any program can read it.

use kubechurn_client::json::{Cursor, first, items, unescaped};

use kubechurn_recorder::difference::{self, Index, Part};

/// Memory that is used for each text, and kept from one to the next.
#[derive(Debug, Default)]
pub struct Scratch {
    index: Index,
    bytes: Vec<u8>,
    new: Vec<u8>,
}

/// Appends the edits that make `text` of `base` to `out`, as a list in JSON.
pub fn write(base: &str, text: &str, scratch: &mut Scratch, out: &mut Vec<u8>) {
    let Scratch { index, bytes, new } = scratch;
    bytes.clear();
    new.clear();
    difference::encode(base.as_bytes(), text.as_bytes(), index, bytes);
    let mut list = List { out, is_empty: true, kept: 0 };
    list.out.push(b'[');
    let mut at = 0;
    // The parts were made for this base just now.
    let _ = difference::parts(bytes, &mut |part| match part {
        Part::New(bytes) => new.extend_from_slice(bytes),
        Part::Base { mut from, mut to } => {
            while from < to && !base.is_char_boundary(from) {
                new.push(base.as_bytes()[from]);
                from += 1;
            }
            let end = to;
            while from < to && !base.is_char_boundary(to) {
                to -= 1;
            }
            if from < to {
                list.put_in(new);
                list.go(at, from);
                list.kept = to - from;
                at = to;
            }
            new.extend_from_slice(&base.as_bytes()[to..end]);
        }
    });
    list.put_in(new);
    list.end(at, base.len());
    list.out.push(b']');
}

/// A list of edits that is being written.
struct List<'a> {
    out: &'a mut Vec<u8>,
    is_empty: bool,
    /// How many bytes of the base are kept, which is not written yet: what is kept up to its end follows by itself.
    kept: usize,
}

impl List<'_> {
    fn keep(&mut self) {
        if self.kept > 0 {
            let kept = std::mem::take(&mut self.kept);
            self.number(kept as i64);
        }
    }

    fn number(&mut self, number: i64) {
        self.separate();
        self.out.extend_from_slice(number.to_string().as_bytes());
    }

    fn separate(&mut self) {
        if !std::mem::replace(&mut self.is_empty, false) {
            self.out.push(b',');
        }
    }

    /// Puts in what is new, if anything is.
    fn put_in(&mut self, new: &mut Vec<u8>) {
        if !new.is_empty() {
            self.keep();
            self.separate();
            write_string(&String::from_utf8_lossy(new), self.out);
            new.clear();
        }
    }

    /// Goes on at another place of the base.
    fn go(&mut self, at: usize, to: usize) {
        self.keep();
        if to > at {
            self.number(-((to - at) as i64));
        } else if to < at {
            self.separate();
            self.out.extend_from_slice(format!("[{to}]").as_bytes());
        }
    }

    /// Nothing more is taken from the base.
    fn end(&mut self, at: usize, length: usize) {
        if at < length {
            self.keep();
            self.number(-((length - at) as i64));
        }
    }
}

/// Appends a text as a string of JSON.
pub(crate) fn write_string(text: &str, out: &mut Vec<u8>) {
    // Writing to memory cannot fail.
    let _ = serde_json::to_writer(out, text);
}

/// Appends the text that these edits, a list in JSON, make of `base` to `out`, which gets at most so many bytes. `None` if they
/// are none, or were not made for this base; `out` may then hold a part of the text.
pub fn read(base: &str, edits: &str, most: usize, out: &mut String) -> Option<()> {
    let mut at = 0;
    for item in items(edits)? {
        match first(item) {
            b'"' => out.push_str(&unescaped(item)?),
            b'[' => at = Cursor::new(items(item)?.first()?).text().parse().ok()?,
            b'-' => at = usize::try_from(item[1..].parse::<u32>().ok()?).ok()?.checked_add(at)?,
            _ => {
                let end = usize::try_from(item.parse::<u32>().ok()?).ok()?.checked_add(at)?;
                out.push_str(base.get(at..end)?);
                at = end;
            }
        }
        if out.len() > most {
            return None;
        }
    }
    out.push_str(base.get(at..)?);
    (out.len() <= most).then_some(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edits(base: &str, text: &str) -> String {
        let mut out = Vec::new();
        write(base, text, &mut Scratch::default(), &mut out);
        String::from_utf8(out).expect("edits are text")
    }

    fn made(base: &str, edits: &str) -> Option<String> {
        let mut out = String::new();
        read(base, edits, usize::MAX, &mut out).map(|()| out)
    }

    #[test]
    fn what_is_replaced_at_its_place_is_short_and_can_be_read_by_eye() {
        let base = r#"{"name":"web-1","resourceVersion":"1200","phase":"Pending","node":"worker-12"}"#;
        let text = base.replace("1200", "1201").replace("Pending", "Running");
        assert_eq!(edits(base, &text), r#"[38,"1",-1,11,"Runn",-4]"#);
        assert_eq!(edits(base, base), "[]");
        assert_eq!(made(base, "[]").as_deref(), Some(base));
        assert_eq!(edits("", "new"), r#"["new"]"#);
        assert_eq!(made(base, &edits(base, "")).as_deref(), Some(""));
    }

    #[test]
    fn edits_that_do_not_fit_are_none() {
        for bad in [
            "",
            "{}",
            "[5]",
            "[-5]",
            "[[9]]",
            "[[]]",
            r#"["a]"#,
            "[1.5]",
            "[1e9]",
            "[99999999999999999999]",
            "[1",
            "[null]",
        ] {
            assert_eq!(made("abc", bad), None, "{bad}");
        }
        // A place within a character.
        assert_eq!(made("äb", "[1]"), None);
        let mut out = String::new();
        assert_eq!(read("abcdef", "[6,[0],6]", 10, &mut out), None, "more than there may be");
    }

    proptest! {
        #[test]
        fn any_text_is_made_of_any_other(
            words in prop::collection::vec(prop::sample::select(vec![
                "ein wenig Text, der lang genug ist", "Größe ≥ 7 µs", "\u{1F980}\u{1F980}", "\"\\\n", "0123456789abcdef",
            ]), 0..12),
            order in prop::collection::vec(0..12_usize, 0..14),
            new in "[a-zäß€🦀\"]{0,12}",
        ) {
            let base = words.concat();
            let mut text: String = order.iter().filter_map(|at| words.get(*at)).copied().collect();
            text.push_str(&new);
            let edits = edits(&base, &text);
            prop_assert_eq!(made(&base, &edits), Some(text), "{}", edits);
        }
    }
}
