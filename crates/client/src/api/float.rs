//! Numbers that are not whole, as Go writes them: `kubectl` prints them with Go's `%v`, and servers write Go's JSON.

use std::fmt::Write;

/// Writes a number as Go's `%v`: the shortest digits that name it, with an exponent from 10⁶ on and below 10⁻⁴
/// (strconv `FormatFloat(x, 'g', -1, 64)`).
pub fn write(number: f64, out: &mut String) {
    written(number, out, |exponent| !(-4..6).contains(&exponent), 2);
}

/// Writes a number as Go's JSON does: with an exponent from 10²¹ on and below 10⁻⁶ (encoding/json `floatEncoder`).
pub fn write_json(number: f64, out: &mut String) {
    written(number, out, |exponent| !(-6..21).contains(&exponent), 1);
}

fn written(number: f64, out: &mut String, is_large: impl Fn(i32) -> bool, digits: usize) {
    // Writing to a String cannot fail.
    let scientific = format!("{number:e}");
    let exponent = scientific.split_once('e').and_then(|(digits, exponent)| Some((digits, exponent.parse().ok()?)));
    match exponent {
        Some((mantissa, exponent)) if is_large(exponent) => {
            let sign = if exponent < 0 { '-' } else { '+' };
            let width = if exponent < 0 { digits } else { 2 };
            let _ = write!(out, "{mantissa}e{sign}{:0width$}", exponent.unsigned_abs());
        }
        _ => drop(write!(out, "{number}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `fmt.Println` and `json.Marshal` of Go 1.25 write.
    #[test]
    fn numbers_are_written_as_go_writes_them() {
        for (number, printed, json) in [
            (0.0, "0", "0"),
            (0.5, "0.5", "0.5"),
            (-2.25, "-2.25", "-2.25"),
            (100_000.0, "100000", "100000"),
            (123_456.7, "123456.7", "123456.7"),
            (1e6, "1e+06", "1000000"),
            (1_234_567.5, "1.2345675e+06", "1234567.5"),
            (0.0001, "0.0001", "0.0001"),
            (0.00001, "1e-05", "0.00001"),
            (1.5e-7, "1.5e-07", "1.5e-7"),
            (1e20, "1e+20", "100000000000000000000"),
            (1e21, "1e+21", "1e+21"),
            (1e100, "1e+100", "1e+100"),
            (2.5e-100, "2.5e-100", "2.5e-100"),
        ] {
            let written = |write: fn(f64, &mut String)| {
                let mut text = String::new();
                write(number, &mut text);
                text
            };
            assert_eq!((&*written(write), &*written(write_json)), (printed, json), "{number}");
        }
    }
}
