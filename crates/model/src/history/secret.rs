//! A Secret without its values: the form in which the page keeps, compares, shows and copies Secrets.

use std::fmt::Write;

use serde_json::Value;
use sha2::{Digest, Sha256};

use kubechurn_client::api::resource::ApiResource;

/// The beginning of a masked value.
const MASK: &str = "•••• ";
/// Separates the visible part of a masked value from the part that differs between values.
const APART: char = '\u{1f}';
/// The annotation in which kubectl keeps a copy of the object that it applied, values included.
const APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// Whether the resource's objects hold secret values.
pub fn is_secret(resource: &ApiResource) -> bool {
    resource.group.is_empty() && resource.plural == "secrets"
}

/// The Secret's text with each value masked: by its length, and a mark that differs if the values differ. `salt` is
/// random, and neither the salt nor a mark leaves the session: without the salt, a mark shows nothing about its value.
/// `None` if the text is no JSON object.
pub fn redact(text: &str, salt: u64) -> Option<String> {
    let mut secret: Value = serde_json::from_str(text).ok()?;
    let object = secret.as_object_mut()?;
    for field in ["data", "stringData"] {
        let Some(values) = object.get_mut(field) else { continue };
        match values {
            Value::Object(values) => {
                for value in values.values_mut() {
                    *value = masked(value, field == "data", salt);
                }
            }
            Value::Null => {}
            // A server sends no such thing. It is masked all the same.
            other => *other = masked(other, false, salt),
        }
    }
    let annotations = object.get_mut("metadata").and_then(|metadata| metadata.get_mut("annotations"));
    if let Some(applied) = annotations.and_then(|annotations| annotations.get_mut(APPLIED)) {
        *applied = masked(applied, false, salt);
    }
    Some(secret.to_string())
}

fn masked(value: &Value, encoded: bool, salt: u64) -> Value {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    // A recording has masks in place of values.
    if mask(&text).is_some() {
        return value.clone();
    }
    let length = if encoded { decode(&text).map_or(text.len(), |bytes| bytes.len()) } else { text.len() };
    let mut hash = Sha256::new();
    hash.update(salt.to_le_bytes());
    hash.update(&text);
    let mut mark = format!("{MASK}{length} {}{APART}", if length == 1 { "byte" } else { "bytes" });
    for byte in hash.finalize().iter().take(8) {
        // Writing to a String cannot fail.
        let _ = write!(mark, "{byte:02x}");
    }
    Value::String(mark)
}

/// The visible part of a masked value; `None` if the text is no masked value.
pub fn mask(text: &str) -> Option<&str> {
    let (shown, mark) = text.split_once(APART)?;
    (shown.starts_with(MASK) && mark.len() == 16).then_some(shown)
}

/// One decoded value of a Secret; a value that is no UTF-8 text in hexadecimal digits. `None` if there is no such
/// value.
pub fn value(text: &str, field: &str) -> Option<String> {
    let secret: Value = serde_json::from_str(text).ok()?;
    if field == APPLIED {
        return Some(secret.get("metadata")?.get("annotations")?.get(APPLIED)?.as_str()?.to_owned());
    }
    if let Some(plain) = secret.get("stringData").and_then(|values| values.get(field)).and_then(Value::as_str) {
        return Some(plain.to_owned());
    }
    let encoded = secret.get("data")?.get(field)?.as_str()?;
    let Some(bytes) = decode(encoded) else { return Some(encoded.to_owned()) };
    Some(String::from_utf8(bytes).unwrap_or_else(|error| {
        error.as_bytes().iter().fold(String::from("0x"), |mut hex, byte| {
            let _ = write!(hex, "{byte:02x}");
            hex
        })
    }))
}

/// Decodes base64 (RFC 4648); `None` for any other text.
fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    let (mut buffer, mut bits) = (0_u32, 0);
    for letter in text.bytes() {
        let six = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        buffer = (buffer << 6 | u32::from(six)) & 0xff_ffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push((buffer >> bits) as u8);
        }
    }
    (text.len() % 4 != 1).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = r#"{"kind":"Secret","metadata":{"name":"s","annotations":{"a":"b",
        "kubectl.kubernetes.io/last-applied-configuration":"{\"data\":{\"p\":\"aHVudGVyMg==\"}}"}},
        "data":{"p":"aHVudGVyMg==","empty":"","odd":"%"},"stringData":{"q":"plain"},"type":"Opaque"}"#;

    #[test]
    fn values_are_masked_wherever_they_stand() {
        let redacted = redact(SECRET, 7).unwrap();
        assert!(!redacted.contains("aHVudGVyMg") && !redacted.contains("plain"), "{redacted}");
        let secret: Value = serde_json::from_str(&redacted).unwrap();
        let shown = |field: &str, name: &str| mask(secret[field][name].as_str().unwrap()).unwrap().to_owned();
        assert_eq!(shown("data", "p"), "•••• 7 bytes");
        assert_eq!(shown("data", "empty"), "•••• 0 bytes");
        assert_eq!(shown("data", "odd"), "•••• 1 byte");
        assert_eq!(shown("stringData", "q"), "•••• 5 bytes");
        assert_eq!((&secret["type"], &secret["metadata"]["annotations"]["a"]), (&"Opaque".into(), &"b".into()));
    }

    #[test]
    fn marks_differ_where_values_do_and_in_each_session() {
        let of = |value: &str, salt| redact(&format!(r#"{{"data":{{"p":"{value}"}}}}"#), salt);
        assert_eq!(of("YQ==", 1), of("YQ==", 1));
        assert_ne!(of("YQ==", 1), of("Yg==", 1));
        assert_ne!(of("YQ==", 1), of("YQ==", 2));
        for odd in ["", "7", "[]", "{"] {
            assert_eq!(redact(odd, 1), None);
        }
        for odd in [r#"{"data":["YQ=="]}"#, r#"{"data":{"p":{"q":"YQ=="}}}"#, r#"{"data":"YQ=="}"#] {
            assert!(!redact(odd, 1).unwrap().contains("YQ"), "{odd}");
        }
    }

    #[test]
    fn one_value_is_read_on_demand() {
        assert_eq!(value(SECRET, "p").as_deref(), Some("hunter2"));
        assert_eq!(value(SECRET, "q").as_deref(), Some("plain"));
        assert_eq!(value(SECRET, "odd").as_deref(), Some("%"));
        assert_eq!(value(SECRET, "empty").as_deref(), Some(""));
        assert_eq!(value(SECRET, "none"), None);
        assert_eq!(value(r#"{"data":{"b":"//8="}}"#, "b").as_deref(), Some("0xffff"));
        assert_eq!(mask("•••• 3 bytes"), None);
    }
}
