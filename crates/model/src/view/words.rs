//! Numbers written for people.

use kubechurn_client::api::time::write_human_duration;

use crate::timeline::words::text::duration;

/// A duration in seconds: to a tenth below ten seconds, then as kubectl prints durations.
pub fn seconds(milliseconds: f64) -> String {
    if milliseconds < 9_950.0 {
        return format!("{:.1} s", milliseconds / 1000.0);
    }
    let mut text = String::new();
    write_human_duration((milliseconds / 1000.0) as i64, &mut text);
    text
}

/// A duration in whole seconds, then as kubectl prints durations.
pub fn whole_seconds(milliseconds: f64) -> String {
    if milliseconds < 10_000.0 { format!("{:.0} s", (milliseconds / 1000.0).floor()) } else { seconds(milliseconds) }
}

/// How long ago something was, in its greatest unit alone, so that what is a minute old changes seldom: `37 s`, `2 min`.
pub fn ago(milliseconds: f64) -> String {
    let seconds = (milliseconds / 1_000.0).max(0.0) as u64;
    match seconds {
        0 => String::from("now"),
        1..60 => format!("{seconds} s"),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// The steps in which the age of a live watch's last proof is shown, in milliseconds: what is shown all day must change
/// seldom. A proof comes every ten seconds at least.
const STEP: f64 = 5_000.0;

/// The age of a live watch's last proof, in whole steps of five seconds: `< 5 s`, `5 s`, `10 s`.
pub fn proof_age(milliseconds: f64) -> String {
    match (milliseconds / STEP).floor() {
        steps if steps < 1.0 => String::from("< 5 s"),
        steps => duration(steps * STEP),
    }
}

/// How long ago the server was heard, of several kinds the one that was not heard for longest, as words after *live*: an age alone
/// would be read as how long it has been so.
pub fn proof(milliseconds: f64, kinds: usize) -> String {
    match kinds {
        0 | 1 => format!("heard {} ago", proof_age(milliseconds)),
        _ => format!("all heard within {}", duration(milliseconds + until_next_proof_age(milliseconds))),
    }
}

/// In how many milliseconds [`proof_age`] says something else.
pub fn until_next_proof_age(milliseconds: f64) -> f64 {
    ((milliseconds / STEP).floor() + 1.0) * STEP - milliseconds
}

/// A rate in bytes per second.
pub fn bytes(per_second: f64) -> String {
    format!("{}/s", bytes_of(per_second))
}

/// A number of bytes.
pub fn bytes_of(bytes: f64) -> String {
    match bytes {
        bytes if bytes >= 1e9 => format!("{:.1} GB", bytes / 1e9),
        bytes if bytes >= 1e6 => format!("{:.1} MB", bytes / 1e6),
        bytes => format!("{:.0} kB", bytes / 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_of_several_kinds_is_not_newer_than_any_of_them() {
        let words = |milliseconds| (proof(milliseconds, 1), proof(milliseconds, 18));
        let both = |one: &str, all: &str| (one.to_owned(), all.to_owned());
        assert_eq!(words(0.0), both("heard < 5 s ago", "all heard within 5 s"));
        assert_eq!(words(5_200.0), both("heard 5 s ago", "all heard within 10 s"));
        assert_eq!(words(54_900.0), both("heard 50 s ago", "all heard within 55 s"));
        assert_eq!(words(71_000.0), both("heard 70 s ago", "all heard within 75 s"));
    }
}
