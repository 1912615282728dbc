//! Makes values unreadable that look like credentials, before they are written.
//!
//! What the name of a value says is all there is to go by: a name with `token`, `password` or the like in it. Names are those of
//! annotations, of environment variables and other pairs of `name` and `value`, and of any text in an object. The values of
//! Secrets are masked before anything is recorded.

use std::ops::Range;

use kubechurn_client::api::sort;
use kubechurn_client::json::{first, items, members, named, unescaped};

/// What the name of a value has in it that is not to be read.
const WORDS: [&str; 12] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "api-key",
    "credential",
    "authorization",
    "privatekey",
    "private-key",
    "access-key",
];
/// The annotation in which kubectl keeps a copy of the object that it applied.
const APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// The members of a Secret whose values are masked.
const MASKED: [&str; 2] = ["data", "stringData"];
/// What is made unreadable, in words for the header of a file.
pub const RULE: &str = "values whose names look like those of credentials";

/// A text without what is not to be read, and the names of what was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Redacted {
    /// The text.
    pub text: String,
    /// The names of the values.
    pub names: Vec<String>,
}

/// An object's text without what looks like a credential; `None` where nothing does. Of a Secret whose values are masked, they stay
/// as they are.
pub fn redact(text: &str, is_masked: bool) -> Option<Redacted> {
    let mut found = Found { text, is_masked, values: Vec::new() };
    found.look(text, "");
    sort::sort_by_key(&mut found.values, |(range, ..)| range.start);
    if found.values.is_empty() {
        return None;
    }
    let (mut redacted, mut at) = (Redacted::default(), 0);
    for (range, new, name) in found.values {
        // A value within another one that is replaced is gone with it.
        let Some(before) = text.get(at..range.start) else { continue };
        redacted.text.push_str(before);
        redacted.text.push_str(&new);
        redacted.names.extend(name);
        at = range.end;
    }
    redacted.text.push_str(&text[at..]);
    Some(redacted)
}

/// Whether the value of this name is not to be read. A name of another object is no credential.
fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase().replace('_', "-");
    WORDS.iter().any(|word| name.contains(word)) && !name.ends_with("name")
}

/// What is to be replaced, by what, and what it is called.
type Value = (Range<usize>, String, Vec<String>);

struct Found<'a> {
    text: &'a str,
    is_masked: bool,
    values: Vec<Value>,
}

impl<'a> Found<'a> {
    /// Looks through a value that has this name.
    fn look(&mut self, value: &'a str, name: &str) {
        match first(value) {
            b'{' => {
                let Some(all) = members(value) else { return };
                let pair = named(&all, "name").and_then(unescaped).filter(|name| is_secret(name));
                for member in &all {
                    match &pair {
                        Some(pair) if member.name == "value" => self.hide(member.value, pair),
                        // Names of fields, and who wrote them.
                        _ if member.name == "managedFields" => {}
                        _ if self.is_masked && name.is_empty() && MASKED.contains(&&*member.name) => {}
                        _ => self.look(member.value, &member.name),
                    }
                }
            }
            b'[' => items(value).unwrap_or_default().into_iter().for_each(|item| self.look(item, name)),
            b'"' if name == APPLIED => self.look_into(value),
            b'"' if is_secret(name) => self.hide(value, name),
            _ => {}
        }
    }

    /// Looks through an object that stands in a text.
    fn look_into(&mut self, value: &'a str) {
        if let Some(inner) = unescaped(value)
            && let Some(redacted) = redact(&inner, self.is_masked)
            && let Ok(new) = serde_json::to_string(&redacted.text)
        {
            self.values.push((self.range(value), new, redacted.names));
        }
    }

    fn hide(&mut self, value: &'a str, name: &str) {
        if let Some(text) = unescaped(value).filter(|text| !text.is_empty()) {
            let new = format!("\"redacted, {} bytes\"", text.len());
            self.values.push((self.range(value), new, vec![name.to_owned()]));
        }
    }

    fn range(&self, value: &str) -> Range<usize> {
        let start = value.as_ptr() as usize - self.text.as_ptr() as usize;
        start..start + value.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_are_made_unreadable_wherever_they_stand_and_all_else_stays_to_the_byte() {
        let applied = r#"{"spec":{"env":[{"name":"DB_PASSWORD","value":"hunter2"}]}}"#;
        let applied = serde_json::to_string(applied).unwrap();
        let text = format!(
            r#"{{ "metadata":{{"name":"token-service","annotations":{{"a":"b","ci/api_key":"hunter2","{APPLIED}":{applied}}},
            "managedFields":[{{"manager":"password-setter"}}]}},"spec":{{"secretName":"db","serviceAccountToken":{{"path":"token"}},
            "env":[{{"name":"LOG","value":"info"}},{{"name":"AUTH_TOKEN","value":"hunter2ä"}},{{"name":"TOKEN","valueFrom":{{"secretKeyRef":{{"name":"s","key":"k"}}}}}}]}}}}"#
        );
        let redacted = redact(&text, false).unwrap();
        assert!(!redacted.text.contains("hunter2"), "{}", redacted.text);
        assert_eq!(redacted.names, ["ci/api_key", "DB_PASSWORD", "AUTH_TOKEN"]);
        let expected = text
            .replace(r#""ci/api_key":"hunter2""#, r#""ci/api_key":"redacted, 7 bytes""#)
            .replace(r#"\"value\":\"hunter2\""#, r#"\"value\":\"redacted, 7 bytes\""#)
            .replace(r#""value":"hunter2ä""#, r#""value":"redacted, 9 bytes""#);
        assert_eq!(redacted.text, expected);
    }

    #[test]
    fn what_is_no_credential_and_what_is_no_object_is_left_alone() {
        for text in [
            "",
            "[",
            "null",
            r#"{"metadata":{"name":"a"}}"#,
            r#"{"spec":{"secretName":"db","imagePullSecrets":[{"name":"registry"}],"token":"","tokens":5}}"#,
            r#"{"env":[{"name":"PASSWORD"},{"name":7,"value":"x"},{"value":"x"}]}"#,
            r#"{"password":{"#,
        ] {
            assert_eq!(redact(text, false), None, "{text}");
        }
        // The masked values of a Secret say whether they change; its annotations are like any other's.
        let secret =
            r#"{"metadata":{"annotations":{"token":"x"}},"data":{"token":"mask"},"stringData":{"password":"mask"}}"#;
        let redacted = redact(secret, true).unwrap();
        assert_eq!(redacted.names, ["token"]);
        assert_eq!(redacted.text, secret.replace(r#""x""#, r#""redacted, 1 bytes""#));
    }
}
