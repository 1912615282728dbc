//! Numbers that may be percentages, such as `maxUnavailable` (`k8s.io/apimachinery/pkg/util/intstr`).

use serde_json::Value;

/// A number, or a percentage of `total`, which is rounded up or down; anything else is 0. The result is between 0 and
/// the largest `int32` (`GetScaledValueFromIntOrPercent`).
pub fn scaled(value: &Value, total: i64, round_up: bool) -> i64 {
    let most = i64::from(i32::MAX);
    if let Some(number) = value.as_i64() {
        return number.clamp(0, most);
    }
    let percent = value.as_str().and_then(|text| text.strip_suffix('%')?.parse::<i64>().ok());
    let hundredfold = percent.unwrap_or_default().max(0).saturating_mul(total);
    (if round_up { hundredfold.saturating_add(99) / 100 } else { hundredfold / 100 }).min(most)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn percentages_are_rounded_as_asked() {
        for (value, total, up, down) in [
            (json!(2), 5, 2, 2),
            (json!("50%"), 5, 3, 2),
            (json!("0%"), 5, 0, 0),
            (json!("100%"), 5, 5, 5),
            (json!("1%"), 1000, 10, 10),
            (json!(-1), 5, 0, 0),
            (json!("-5%"), 5, 0, 0),
            (json!("5"), 5, 0, 0),
            (json!("x"), 5, 0, 0),
            (Value::Null, 5, 0, 0),
            (json!(i64::MAX), 5, i64::from(i32::MAX), i64::from(i32::MAX)),
            (json!(format!("{}%", i64::MAX)), i64::MAX, i64::from(i32::MAX), i64::from(i32::MAX)),
        ] {
            assert_eq!((scaled(&value, total, true), scaled(&value, total, false)), (up, down), "{value} of {total}");
        }
    }
}
