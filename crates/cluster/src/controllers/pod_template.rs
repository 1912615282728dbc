//! Compares and hashes the templates of Pods. Each revision of a Deployment, StatefulSet or DaemonSet has a template of
//! its own.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::random::NAME_ALPHABET;

/// The label that distinguishes the Pods of one template from those of another.
pub const POD_TEMPLATE_HASH: &str = "pod-template-hash";

/// Fields of a template that Go omits when they have their zero value, so that zero and absent mean the same.
const PLAIN: [&str; 10] = [
    "generation",
    "hostIPC",
    "hostNetwork",
    "hostPID",
    "hostPort",
    "readOnly",
    "setHostnameAsFQDN",
    "stdin",
    "stdinOnce",
    "tty",
];
/// The maps among the fields that are omitted when empty. Other empty objects, such as `emptyDir`, have a meaning.
const MAPS: [&str; 6] = ["annotations", "labels", "limits", "matchLabels", "nodeSelector", "requests"];

/// The normal form of a template, which is compared and hashed: fields in alphabetical order, without the hash label,
/// and without the fields that a program in Go would omit when it writes the template again, as `kubectl rollout undo`
/// does.
pub fn normal(template: &Value) -> Value {
    let mut template = without_nothing(template);
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove(POD_TEMPLATE_HASH);
    }
    template
}

fn without_nothing(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let said = fields.iter().filter(|(name, field)| !is_nothing(name, field));
            let said: BTreeMap<&String, Value> = said.map(|(name, field)| (name, without_nothing(field))).collect();
            Value::Object(said.into_iter().map(|(name, field)| (name.clone(), field)).collect())
        }
        Value::Array(list) => list.iter().map(without_nothing).collect(),
        other => other.clone(),
    }
}

/// Whether a field with this value means the same as an absent field.
fn is_nothing(name: &str, field: &Value) -> bool {
    match field {
        Value::Null => true,
        Value::Bool(flag) => !flag && PLAIN.contains(&name),
        Value::Number(number) => number.as_i64() == Some(0) && PLAIN.contains(&name),
        // This field is a pointer in Go: an empty class means no class, while an absent one means the default class.
        Value::String(text) => text.is_empty() && name != "storageClassName",
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty() && MAPS.contains(&name),
    }
}

/// The hash of a template, in letters and digits that form no words. Kubernetes hashes the way Go prints the template;
/// here the JSON is hashed. In both cases the number is an FNV-1a hash, whose decimal digits are encoded with other
/// characters (`ComputeHash`, `SafeEncodeString`).
pub fn hash(template: &Value, collisions: i64) -> String {
    let template = normal(template).to_string();
    let collisions = if collisions > 0 { collisions.to_string() } else { String::new() };
    let bytes = template.bytes().chain(collisions.bytes());
    let hash = bytes.fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    hash.to_string().bytes().map(|digit| char::from(NAME_ALPHABET[usize::from(digit) % NAME_ALPHABET.len()])).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn templates_that_mean_the_same_are_the_same() {
        let one = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "a"}]}});
        let same = json!({"spec": {"containers": [{"name": "a", "env": [], "tty": false, "image": ""}],
            "hostNetwork": false},
            "metadata": {"creationTimestamp": null, "generation": 0, "annotations": {},
            "labels": {"app": "web", POD_TEMPLATE_HASH: "x"}}});
        let other = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "b"}]}});
        let grace = json!({"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "a"}],
            "terminationGracePeriodSeconds": 0}});
        assert_eq!((normal(&one), hash(&one, 0)), (normal(&same), hash(&same, 0)));
        assert_ne!(hash(&one, 0), hash(&other, 0));
        assert_ne!(normal(&one), normal(&grace), "a zero that was said");
        assert_ne!(hash(&one, 0), hash(&one, 1));
        assert!(hash(&one, 0).bytes().all(|byte| NAME_ALPHABET.contains(&byte)));
    }
}
