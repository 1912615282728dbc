//! Admission webhooks, which the API server asks before it stores an object: which of them an error names, and which change of one
//! can make it refuse. The words of the errors are those of `k8s.io/apiserver/pkg/admission/plugin/webhook/errors`.

use kubechurn_changes::field::Field;

use crate::why::references::{list, text};

/// The members of a webhook on which it depends of what it is asked, and what comes of that.
const ASKED_OF: [&str; 6] =
    ["failurePolicy", "clientConfig", "rules", "namespaceSelector", "objectSelector", "matchConditions"];

/// The names of the webhooks of a configuration that an error names.
pub(super) fn named(configuration: &str, said: &str) -> Vec<String> {
    let names = list(configuration, "webhooks").into_iter().filter_map(|webhook| text(webhook, &["name"]));
    names.filter(|name| said.contains(&format!("webhook \"{name}\""))).map(|name| name.into_owned()).collect()
}

/// Whether one of these webhooks, as its configuration is, can be what an error speaks of: without an answer of a webhook whose
/// `failurePolicy` is `Ignore` the server goes on.
pub(super) fn refuses(configuration: &str, webhooks: &[String], said: &str) -> bool {
    let is_its = |webhook: &&str| {
        text(webhook, &["name"]).is_some_and(|name| webhooks.iter().any(|named| **named == *name))
            && text(webhook, &["failurePolicy"]).is_none_or(|policy| policy != "Ignore")
    };
    !said.contains("failed calling webhook") || list(configuration, "webhooks").iter().any(is_its)
}

/// Whether after the change of a field one of these webhooks can refuse what was let through before.
pub(super) fn can_refuse(field: &Field, webhooks: &[String], said: &str) -> bool {
    let of_webhook =
        |name: &String| field.path.strip_prefix("webhooks[")?.strip_prefix(name.as_str())?.strip_prefix(']');
    webhooks.iter().filter_map(of_webhook).any(|member| match member.trim_start_matches('.') {
        // The webhook itself is new.
        "" => field.old.is_none(),
        "failurePolicy" => field.new.as_ref().is_some_and(|new| new.kept().trim_matches('"') == "Fail"),
        "timeoutSeconds" => {
            ["deadline exceeded", "timed out", "imeout exceeded"].iter().any(|words| said.contains(words))
        }
        member => ASKED_OF.iter().any(|name| member.starts_with(name)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_is_named_by_its_whole_name() {
        let configuration = r#"{"webhooks":[{"name":"pods.example.com"},{"name":"example.com"},{"name":7},3]}"#;
        let said = r#"Internal error occurred: failed calling webhook "pods.example.com": failed to call webhook: EOF"#;
        assert_eq!(named(configuration, said), ["pods.example.com"]);
        let said = r#"admission webhook "example.com" denied the request: no"#;
        assert_eq!(named(configuration, said), ["example.com"]);
        for odd in ["", "7", r#"{"webhooks":7}"#] {
            assert!(named(odd, said).is_empty());
        }
    }
}
