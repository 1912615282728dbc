//! Lengths of time, names and numbers as text.

use crate::timeline::store::mark::grouped;

/// A length of time in words: `12 ms`, `1.2 s`, `60 s`, `5 min`, `3 h`, `2 d`.
pub fn duration(ms: f64) -> String {
    let seconds = (ms / 1_000.0).max(0.0);
    if 0.0 < seconds && seconds < 0.095 {
        return format!("{:.0} ms", ms.ceil());
    }
    let hours = (seconds / 360.0).round() / 10.0;
    if hours >= 48.0 {
        return format!("{} d", (hours / 2.4).round() / 10.0);
    }
    if hours >= 2.0 {
        return format!("{hours} h");
    }
    if seconds < 9.95 && seconds.fract() != 0.0 {
        format!("{seconds:.1} s")
    } else if seconds < 120.0 {
        format!("{seconds:.0} s")
    } else {
        format!("{:.0} min", seconds / 60.0)
    }
}

/// A text of at most `most` characters. An ellipsis stands for the middle, because names that belong together begin
/// alike and differ at their end. Control characters, and those that turn the writing direction, are replaced by a
/// visible one.
pub fn fit(text: &str, most: usize) -> String {
    let is_hidden = |c: char| {
        c.is_control()
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    let shown = |c: char| if is_hidden(c) { '\u{fffd}' } else { c };
    let length = text.chars().count();
    if length <= most {
        return text.chars().map(shown).collect();
    }
    let Some(room) = most.checked_sub(1) else {
        return String::new();
    };
    let head = room / 2;
    let tail = text.chars().skip(length - (room - head));
    text.chars().take(head).chain(['…']).chain(tail).map(shown).collect()
}

/// `1 object`, `12 objects`.
pub(crate) fn objects(count: u32) -> String {
    format!("{} object{}", grouped(u64::from(count)), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_length_of_time_has_the_unit_that_fits_it() {
        let lengths = [0.0, 0.3, 12.0, 94.0, 120.0, 1_234.0, 60_000.0, 300_000.0, 7_000_000.0];
        let words = ["0 s", "1 ms", "12 ms", "94 ms", "0.1 s", "1.2 s", "60 s", "5 min", "117 min"];
        assert_eq!(lengths.map(duration), words);
        let lengths = [7_200_000.0, 9_000_000.0, 86_400_000.0, 302_400_000.0, 604_800_000.0];
        assert_eq!(lengths.map(duration), ["2 h", "2.5 h", "24 h", "3.5 d", "7 d"]);
    }

    #[test]
    fn long_names_lose_their_middle_and_hostile_ones_stay_text() {
        assert_eq!(fit("cart-6d9f7c8b5-x2x7p", 20), "cart-6d9f7c8b5-x2x7p");
        assert_eq!(fit("cart-6d9f7c8b5-x2x7p", 13), "cart-6…-x2x7p");
        assert_eq!((fit("abc", 1), fit("abc", 0)), ("…".into(), String::new()));
        assert_eq!(fit("<img src=x>", 20), "<img src=x>");
        assert_eq!(fit("a\u{202e}b\nc", 20), "a\u{fffd}b\u{fffd}c");
        assert_eq!(fit("名前がとても長い", 5), "名前…長い");
    }
}
