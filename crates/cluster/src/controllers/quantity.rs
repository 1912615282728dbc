//! Quantities of resources as they stand in objects: `100m`, `1.5`, `128Mi` (`resource.Quantity`).

use serde_json::Value;

/// The suffixes, each with its factor.
const SUFFIXES: &[(&str, f64)] = &[
    ("Ki", 1024.0),
    ("Mi", 1_048_576.0),
    ("Gi", 1_073_741_824.0),
    ("Ti", 1_099_511_627_776.0),
    ("Pi", 1_125_899_906_842_624.0),
    ("m", 0.001),
    ("k", 1e3),
    ("M", 1e6),
    ("G", 1e9),
    ("T", 1e12),
    ("P", 1e15),
];

/// A quantity as a number, such as cores or bytes; `None` if it is not valid.
pub fn parse(amount: &str) -> Option<f64> {
    let (number, factor) = SUFFIXES
        .iter()
        .find_map(|(suffix, factor)| Some((amount.strip_suffix(suffix)?, *factor)))
        .unwrap_or((amount, 1.0));
    let number: f64 = number.parse().ok()?;
    number.is_finite().then_some(number * factor)
}

/// A quantity in thousandths, rounded up, as cores are counted; 0 if it is missing.
pub fn milli(amount: &Value) -> i64 {
    // A value that is too large for the type becomes its largest one.
    (of(amount) * 1000.0 - 1e-6).ceil() as i64
}

/// A quantity in whole units, rounded up, as bytes and Pods are counted; 0 if it is missing.
pub fn whole(amount: &Value) -> i64 {
    (of(amount) - 1e-6).ceil() as i64
}

fn of(amount: &Value) -> f64 {
    match amount {
        Value::String(text) => parse(text).unwrap_or_default(),
        other => other.as_f64().unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn amounts() {
        let check = |amount: Value, in_milli: i64, in_whole: i64| {
            assert_eq!((milli(&amount), whole(&amount)), (in_milli, in_whole), "{amount}");
        };
        check(json!("100m"), 100, 1);
        check(json!("1.5"), 1500, 2);
        check(json!("2"), 2000, 2);
        check(json!(2), 2000, 2);
        check(json!("128Mi"), 134_217_728_000, 134_217_728);
        check(json!("1G"), 1_000_000_000_000, 1_000_000_000);
        check(json!("1e3"), 1_000_000, 1000);
        check(json!("much"), 0, 0);
        check(Value::Null, 0, 0);
    }
}
