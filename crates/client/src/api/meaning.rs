//! What a text in a cell means, as far as an order needs it: a duration, a quantity, a ratio, a version or an address. Texts
//! that mean nothing of these are ordered by their bytes.
//!
//! A text is looked at by itself, without its column, so that the order of two texts is the same everywhere and never changes.
//! `5m` alone can be five minutes or five thousandths. It counts as minutes, and durations stand before quantities: so `90s`
//! stands before `5m`, and `500m` before `1`. No server prints a thousand minutes, so that `1500m` is a quantity.

use std::cmp::Ordering;

/// The group of a text, in the order of the groups, and its number in there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Meaning {
    /// `5m`, `1h30m`, `2d`: seconds.
    Duration(f64),
    /// `100Mi`, `1.5`, `50%`.
    Quantity(f64),
    /// `1/3`: the first number, then the second.
    Ratio(f64, f64),
    /// What begins with a number, perhaps after a `v`: `v1.10`, `10.0.0.7`. Numbers within are ordered as such.
    Numbered,
    /// Anything else.
    Words,
}

impl Meaning {
    /// The meaning of a text.
    pub fn of(text: &str) -> Meaning {
        let first = text.strip_prefix(['+', '-']).unwrap_or(text).as_bytes().first();
        match first {
            Some(b'0'..=b'9') => {}
            Some(b'v') if text.as_bytes().get(1).is_some_and(u8::is_ascii_digit) => return Meaning::Numbered,
            _ => return Meaning::Words,
        }
        if let Some(seconds) = duration(text) {
            return Meaning::Duration(seconds);
        }
        if let Some(quantity) = quantity(text) {
            return Meaning::Quantity(quantity);
        }
        let ratio = text.split_once('/').and_then(|(part, whole)| Some((plain(part)?, plain(whole)?)));
        match ratio {
            Some((part, whole)) => Meaning::Ratio(part, whole),
            None if text.starts_with(|letter: char| letter.is_ascii_digit()) => Meaning::Numbered,
            None => Meaning::Words,
        }
    }

    /// The place of the group.
    pub(super) fn rank(self) -> u8 {
        match self {
            Meaning::Duration(_) => 0,
            Meaning::Quantity(_) => 1,
            Meaning::Ratio(..) => 2,
            Meaning::Numbered => 3,
            Meaning::Words => 4,
        }
    }

    /// The numbers by which texts of the same group are ordered first.
    pub(super) fn numbers(self) -> (f64, f64) {
        match self {
            Meaning::Duration(number) | Meaning::Quantity(number) => (number, 0.0),
            Meaning::Ratio(part, whole) => (part, whole),
            Meaning::Numbered | Meaning::Words => (0.0, 0.0),
        }
    }
}

/// The order of two texts by what they mean. It is total: texts that mean the same are ordered by their bytes.
pub fn compare(one: &str, other: &str) -> Ordering {
    let (first, second) = (Meaning::of(one), Meaning::of(other));
    let ((a, b), (c, d)) = (first.numbers(), second.numbers());
    let by_numbers = || a.total_cmp(&c).then_with(|| b.total_cmp(&d));
    let within = || if first == Meaning::Numbered { by_parts(one, other) } else { Ordering::Equal };
    first.rank().cmp(&second.rank()).then_with(by_numbers).then_with(within).then_with(|| one.cmp(other))
}

/// Compares texts part by part, numbers within them as numbers.
fn by_parts(one: &str, other: &str) -> Ordering {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    loop {
        let (first, second) = (take_digits(&mut one), take_digits(&mut other));
        // Without zeros in front, the longer number is the greater one.
        let by = first.len().cmp(&second.len()).then_with(|| first.cmp(second));
        if by != Ordering::Equal {
            return by;
        }
        match (one.split_first(), other.split_first()) {
            (Some((a, rest)), Some((b, other_rest))) if a == b => (one, other) = (rest, other_rest),
            (a, b) => return a.map(|(byte, _)| byte).cmp(&b.map(|(byte, _)| byte)),
        }
    }
}

/// Takes the digits with which a text begins, and leaves out zeros in front.
fn take_digits<'a>(text: &mut &'a [u8]) -> &'a [u8] {
    let count = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(count);
    *text = rest;
    let zeros = digits.iter().take_while(|byte| **byte == b'0').count();
    &digits[zeros..]
}

/// A number with nothing but digits and a point.
fn plain(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    text.parse().ok().filter(|_| is_plain)
}

/// Splits a text after the number with which it begins.
fn number(text: &str) -> Option<(f64, &str)> {
    let sign = usize::from(text.starts_with(['+', '-']));
    let digits = text[sign..].bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let (number, rest) = text.split_at(sign + digits);
    Some((number.parse().ok()?, rest))
}

/// A duration as Go, `kubectl` and Kubernetes write it.
fn duration(text: &str) -> Option<f64> {
    const UNITS: [(&str, f64); 9] = [
        ("ns", 1e-9),
        ("us", 1e-6),
        ("µs", 1e-6),
        ("ms", 1e-3),
        ("s", 1.0),
        ("m", 60.0),
        ("h", 3_600.0),
        ("d", 86_400.0),
        ("y", 31_536_000.0),
    ];
    let (mut seconds, mut rest, mut parts) = (0.0, text, 0);
    while !rest.is_empty() {
        let (count, after) = number(rest)?;
        let (unit, length) = UNITS.iter().find(|(unit, _)| {
            // `m` is the beginning of `ms`, too.
            after
                .strip_prefix(unit)
                .is_some_and(|next| next.is_empty() || next.starts_with(|one: char| one.is_ascii_digit()))
        })?;
        (seconds, rest, parts) = (seconds + count * length, &after[unit.len()..], parts + 1);
        if parts == 1 && rest.is_empty() && *unit == "m" && count >= 1_000.0 {
            return None;
        }
    }
    (parts > 0).then_some(seconds)
}

/// Reads a quantity (apimachinery `api/resource`, without exponents), or a share in percent; `None` for any other text.
pub fn quantity(text: &str) -> Option<f64> {
    let (number, suffix) = number(text)?;
    let binary = |power: i32| 1_024_f64.powi(power);
    let unit = match suffix {
        "" => 1.0,
        "%" => 0.01,
        "n" => 1e-9,
        "u" => 1e-6,
        "m" => 1e-3,
        "k" | "K" => 1e3,
        "M" => 1e6,
        "G" => 1e9,
        "T" => 1e12,
        "P" => 1e15,
        "E" => 1e18,
        "Ki" => binary(1),
        "Mi" => binary(2),
        "Gi" => binary(3),
        "Ti" => binary(4),
        "Pi" => binary(5),
        "Ei" => binary(6),
        _ => return None,
    };
    Some(number * unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each line is in its order.
    const ASCENDING: [&[&str]; 8] = [
        &["500Ki", "100Mi", "1G", "1Gi", "1.5Gi", "20Gi", "1Ti"],
        &["100m", "500m", "1", "1500m", "2", "10", "1k"],
        &["500ms", "5s", "90s", "5m", "5m30s", "1h", "1h30m", "2d", "2d1h", "1y"],
        &["0/3", "1/3", "2/2", "2/10", "10/10"],
        &["v1.9", "v1.9.1", "v1.10", "v1.10.1-gke.2", "v1.10.1-gke.10", "v2.0"],
        &["10.0.0.2", "10.0.0.10", "10.0.1.1", "192.168.0.1"],
        &["1.27.3", "1.28.0", "1.28.11"],
        &["Bound", "Lost", "Pending", "a", "node-10", "node-2"],
    ];

    #[test]
    fn texts_stand_in_the_order_of_what_they_mean() {
        for texts in ASCENDING {
            for (at, one) in texts.iter().enumerate() {
                for (other_at, other) in texts.iter().enumerate() {
                    assert_eq!(compare(one, other), at.cmp(&other_at), "{one} {other}");
                }
            }
        }
    }

    #[test]
    fn the_order_is_total() {
        let odd = [
            "", "-", "+", "v", "1.", ".5", "1..2", "-1", "1/", "/1", "1/2/3", "1e9", "5 m", "µs", "٣", "007", "7",
            "1m1m",
        ];
        let all: Vec<&str> = ASCENDING.iter().flat_map(|texts| texts.iter().copied()).chain(odd).collect();
        for a in &all {
            for b in &all {
                assert_eq!(compare(a, b), compare(b, a).reverse(), "{a} {b}");
                assert_eq!(compare(a, b) == Ordering::Equal, a == b, "{a} {b}");
                for c in &all {
                    if compare(a, b) == Ordering::Less && compare(b, c) == Ordering::Less {
                        assert_eq!(compare(a, c), Ordering::Less, "{a} {b} {c}");
                    }
                }
            }
        }
    }
}
