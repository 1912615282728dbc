//! How the cells of `printers/columns.rs` are made: what stands at a JSON pointer, as kubectl prints it.

use kubechurn::api::time::Timestamp;
use serde_json::Value;

/// How long ago a point in time was, as kubectl prints it.
pub fn age(object: &Value, pointer: &str, now: Timestamp) -> Value {
    let mut printed = String::new();
    kubechurn::api::cell::Cell::Age(Timestamp::parse_set(string(object, pointer))).write(now, &mut printed);
    printed.into()
}

pub fn string<'a>(object: &'a Value, pointer: &str) -> &'a str {
    object.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A text, or a number as one; what is given where there is none.
pub fn text(object: &Value, pointer: &str, otherwise: &str) -> Value {
    match object.pointer(pointer) {
        Some(Value::String(text)) if !text.is_empty() => text.as_str().into(),
        Some(Value::Number(number)) => number.to_string().into(),
        _ => otherwise.into(),
    }
}

/// A number; what is given where there is none.
pub fn number(object: &Value, pointer: &str, otherwise: i64) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(otherwise)
}

/// Whether something is true.
pub fn truth(object: &Value, pointer: &str) -> bool {
    object.pointer(pointer).and_then(Value::as_bool).unwrap_or_default()
}

/// How many members or elements something has.
pub fn count(object: &Value, pointer: &str) -> usize {
    match object.pointer(pointer) {
        Some(Value::Object(map)) => map.len(),
        Some(Value::Array(list)) => list.len(),
        _ => 0,
    }
}

/// A member of each element of a list, as texts.
pub fn strings(object: &Value, pointer: &str, member: &str) -> Vec<String> {
    let list = object.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    list.filter_map(|one| match one.get(member)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    })
    .collect()
}

/// A member of each element of a list, with commas between.
pub fn each(object: &Value, pointer: &str, member: &str) -> Value {
    strings(object, pointer, member).join(",").into()
}

/// Three of them, and how many more there are.
pub fn some_of(all: Vec<String>, none: &str) -> Value {
    some_of_text(all, none).into()
}

/// The same as a text.
pub fn some_of_text(all: Vec<String>, none: &str) -> String {
    match all.len() {
        0 => none.to_owned(),
        1..=3 => all.join(","),
        more => format!("{} + {} more...", all[..3].join(","), more - 3),
    }
}

/// Labels as `name=value`, sorted.
pub fn labels(object: &Value, pointer: &str) -> Value {
    let map = object.pointer(pointer).and_then(Value::as_object);
    let pairs = map.into_iter().flatten().filter_map(|(name, value)| Some(format!("{name}={}", value.as_str()?)));
    let mut pairs: Vec<String> = pairs.collect();
    pairs.sort();
    if pairs.is_empty() { "<none>".into() } else { pairs.join(",").into() }
}

/// A claim or volume that is being deleted says so.
pub fn phase(object: &Value, pointer: &str) -> Value {
    match object.pointer("/metadata/deletionTimestamp") {
        Some(_) => "Terminating".into(),
        None => text(object, pointer, ""),
    }
}

/// Access modes in their short forms.
pub fn modes(object: &Value, pointer: &str) -> Value {
    let short = |mode: &str| match mode {
        "ReadWriteOnce" => "RWO",
        "ReadOnlyMany" => "ROX",
        "ReadWriteMany" => "RWX",
        "ReadWriteOncePod" => "RWOP",
        _ => "",
    };
    let modes = object.pointer(pointer).and_then(Value::as_array).into_iter().flatten();
    modes.filter_map(Value::as_str).map(short).collect::<Vec<_>>().join(",").into()
}

/// The names of a binding's subjects of one kind.
pub fn subjects(object: &Value, kind: &str) -> Value {
    let all = object.pointer("/subjects").and_then(Value::as_array).into_iter().flatten();
    let named = all.filter(|subject| subject["kind"] == kind).map(|subject| {
        let (namespace, name) = (string(subject, "/namespace"), string(subject, "/name"));
        if kind == "ServiceAccount" { format!("{namespace}/{name}") } else { name.to_owned() }
    });
    named.collect::<Vec<_>>().join(", ").into()
}

/// The status of a condition; what is given where there is none of that type.
pub fn condition<'a>(object: &'a Value, condition: &str, otherwise: &'a str) -> &'a str {
    let all = object.pointer("/status/conditions").and_then(Value::as_array).into_iter().flatten();
    all.filter(|one| one["type"] == condition).find_map(|one| one["status"].as_str()).unwrap_or(otherwise)
}

/// The value itself; `<none>` where there is none.
pub fn value(object: &Value, pointer: &str) -> Value {
    object.pointer(pointer).cloned().unwrap_or_else(|| "<none>".into())
}

/// `ip:port` of each address, three of them, and how many more there are.
pub fn addresses(object: &Value) -> Value {
    let list = |value: &Value, field: &str| value[field].as_array().cloned().unwrap_or_default();
    let mut all = Vec::new();
    for subset in list(object, "subsets") {
        let ips: Vec<String> = list(&subset, "addresses").iter().map(|one| string(one, "/ip").to_owned()).collect();
        let ports = list(&subset, "ports");
        if ports.is_empty() {
            all.extend(ips.iter().cloned());
        }
        for port in &ports {
            all.extend(ips.iter().map(|ip| match ip.contains(':') {
                true => format!("[{ip}]:{}", number(port, "/port", 0)),
                false => format!("{ip}:{}", number(port, "/port", 0)),
            }));
        }
    }
    some_of(all, "<none>")
}

/// What is used of a quota: of its limits, or of the rest.
pub fn quota(object: &Value, limits: bool) -> Value {
    let hard = object.pointer("/status/hard").and_then(Value::as_object);
    let wanted = hard.into_iter().flatten().filter(|(name, _)| name.starts_with("limits.") == limits);
    let mut all: Vec<String> = wanted
        .map(|(name, hard)| {
            let used = object["status"]["used"][name.as_str()].as_str().unwrap_or("0");
            format!("{name}: {used}/{}", hard.as_str().unwrap_or_default())
        })
        .collect();
    all.sort();
    all.join(", ").into()
}

/// What an autoscaler looks at: two of its metrics, and how many more there are. Of metrics other than a
/// container's resources only the type is said.
pub fn targets(object: &Value) -> Value {
    let list = |pointer: &str| object.pointer(pointer).and_then(Value::as_array).cloned().unwrap_or_default();
    let current = list("/status/currentMetrics");
    let told = |(index, metric): (usize, &Value)| {
        if metric["type"] != "Resource" {
            return format!("<{}>", string(metric, "/type"));
        }
        let now = current.get(index).map(|one| &one["resource"]["current"]);
        let (field, unit) = if metric.pointer("/resource/target/averageUtilization").is_some() {
            ("averageUtilization", "%")
        } else {
            ("averageValue", "")
        };
        let printed = |value: Option<&Value>| match value {
            Some(Value::String(text)) => format!("{text}{unit}"),
            Some(Value::Number(number)) => format!("{number}{unit}"),
            _ => "<unknown>".to_owned(),
        };
        let now = printed(now.map(|now| &now[field]));
        let target = printed(metric.pointer(&format!("/resource/target/{field}")));
        format!("{}: {now}/{target}", string(metric, "/resource/name"))
    };
    let all: Vec<String> = list("/spec/metrics").iter().enumerate().map(told).collect();
    match all.len() {
        0 => "<none>".into(),
        1 | 2 => all.join(", ").into(),
        more => format!("{} + {} more...", all[..2].join(", "), more - 2).into(),
    }
}
