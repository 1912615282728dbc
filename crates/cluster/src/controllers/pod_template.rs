//! Compares the templates of Pods, and hashes them: the revisions of Deployments, StatefulSets and DaemonSets differ by
//! their templates.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::random::NAME_ALPHABET;

/// The label that tells the Pods of one template from those of another.
pub const POD_TEMPLATE_HASH: &str = "pod-template-hash";

/// Fields of a template whose zero Go does not write, and so tells from nothing no more.
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
/// The maps among them; other empty objects, such as `emptyDir`, say something.
const MAPS: [&str; 6] = ["annotations", "labels", "limits", "matchLabels", "nodeSelector", "requests"];

/// A template as it is compared and hashed: in the order of the fields' names, without its hash, and without what a
/// program in Go would leave out when it writes the template again, as `kubectl rollout undo` does.
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

/// Whether a field that says this says no more than one that is not there.
fn is_nothing(name: &str, field: &Value) -> bool {
    match field {
        Value::Null => true,
        Value::Bool(flag) => !flag && PLAIN.contains(&name),
        Value::Number(number) => number.as_i64() == Some(0) && PLAIN.contains(&name),
        // The one text that is a pointer: the empty class is no class, and none is the default one.
        Value::String(text) => text.is_empty() && name != "storageClassName",
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty() && MAPS.contains(&name),
    }
}

/// The hash of a template, in letters and digits that make no words. Kubernetes hashes how Go prints the template,
/// which nobody else can; here it is its JSON. Both write FNV-1a's number, digit by digit, with other letters
/// (`ComputeHash`, `SafeEncodeString`).
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
