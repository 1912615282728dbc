//! Admission webhooks, which the API server asks before it stores an object: which of them an error names, and which change of one
//! can make it refuse. The words of the errors are those of `k8s.io/apiserver/pkg/admission/plugin/webhook/errors`.

use std::borrow::Cow;

use kubechurn_changes::field::Field;
use kubechurn_client::api::object::ObjectKey;

use crate::why::references::{list, text};

/// The members of a webhook on which it depends of what it is asked, and what comes of that.
const ASKED_OF: [&str; 5] = ["clientConfig", "rules", "namespaceSelector", "objectSelector", "matchConditions"];

/// The webhooks of a configuration that an error names.
#[derive(Debug)]
pub(super) struct Named<'a> {
    said: &'a str,
    names: Vec<Cow<'a, str>>,
    /// Whether one of them must be asked. Without the answer of any other the server goes on.
    must_be_asked: bool,
}

impl<'a> Named<'a> {
    /// Those of a configuration that an error names by their whole names.
    pub fn of(configuration: &'a str, said: &'a str) -> Named<'a> {
        let mut named = Named { said, names: Vec::new(), must_be_asked: false };
        for webhook in list(configuration, "webhooks") {
            if let Some(name) = text(webhook, &["name"])
                && said.contains(&format!("webhook \"{name}\""))
            {
                named.names.push(name);
                named.must_be_asked |= text(webhook, &["failurePolicy"]).is_none_or(|policy| policy != "Ignore");
            }
        }
        named
    }

    /// The first name.
    pub fn first(&self) -> Option<&str> {
        self.names.first().map(|name| &**name)
    }

    /// Whether one of them, as it is now, can be what the error speaks of.
    pub fn refuses(&self) -> bool {
        !self.names.is_empty() && (self.must_be_asked || !self.said.contains("failed calling webhook"))
    }

    /// Whether after the change of a field one of them can refuse what it let through before.
    pub fn refuses_since(&self, field: &Field) -> bool {
        let of_webhook =
            |name: &Cow<'_, str>| field.path.strip_prefix("webhooks[")?.strip_prefix(&**name)?.strip_prefix(']');
        let can_refuse = |member: &str| match member.trim_start_matches('.') {
            // The webhook itself is new.
            "" => field.old.is_none(),
            "failurePolicy" => field.new.as_ref().is_some_and(|new| new.kept().trim_matches('"') == "Fail"),
            "timeoutSeconds" => {
                ["deadline exceeded", "timed out", "imeout exceeded"].iter().any(|words| self.said.contains(words))
            }
            member => ASKED_OF.iter().any(|name| member.starts_with(name)),
        };
        self.refuses() && self.names.iter().filter_map(of_webhook).any(can_refuse)
    }
}

/// The Service that a webhook which does not answer is called at: the server calls it `https://NAME.NAMESPACE.svc`.
pub(super) fn service(said: &str) -> Option<ObjectKey> {
    let (_, rest) = said.split_once("failed calling webhook")?;
    let (_, rest) = rest.split_once("https://")?;
    let host = rest.split([':', '/', '"', '?']).next()?.strip_suffix(".svc")?;
    let (name, namespace) = host.split_once('.')?;
    Some(ObjectKey::new(namespace, name))
}

/// Whether the labels of the Pods that a workload makes are those that a Service selects.
pub(super) fn is_selected(workload: &str, selector: &[(String, String)]) -> bool {
    let label = |name: &str| text(workload, &["spec", "template", "metadata", "labels", name]);
    !selector.is_empty() && selector.iter().all(|(name, value)| label(name).is_some_and(|own| *own == **value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_webhook_is_named_by_its_whole_name() {
        let configuration = r#"{"webhooks":[{"name":"pods.example.com"},
            {"name":"example.com","failurePolicy":"Ignore"},{"name":7},3]}"#;
        let failed = |name: &str| format!("failed calling webhook \"{name}\": failed to call webhook: EOF");
        let said = failed("pods.example.com");
        let named = Named::of(configuration, &said);
        assert_eq!((named.names.len(), named.first(), named.refuses()), (1, Some("pods.example.com"), true));
        let said = failed("example.com");
        let named = Named::of(configuration, &said);
        assert_eq!((named.first(), named.refuses()), (Some("example.com"), false), "the server goes on without it");
        let said = r#"admission webhook "example.com" denied the request: no"#;
        assert!(Named::of(configuration, said).refuses());
        for odd in ["", "7", r#"{"webhooks":7}"#] {
            assert!(Named::of(odd, said).first().is_none());
        }
    }

    #[test]
    fn the_service_of_a_webhook_is_in_the_address_that_the_server_calls() {
        let failed = |why: &str| format!("failed calling webhook \"pods.example.com\": failed to call webhook: {why}");
        for (why, expected) in [
            (r#"Post "https://rules.shop.svc:443/?timeout=5s": service "rules" not found"#, Some(("shop", "rules"))),
            (r#"Post "https://a.b.svc/validate?timeout=5s": EOF"#, Some(("b", "a"))),
            (r#"Post "https://rules.example.com/?timeout=5s": EOF"#, None),
            (r#"Post "https://rules.svc:443": EOF"#, None),
            ("context deadline exceeded", None),
        ] {
            let expected = expected.map(|(namespace, name)| ObjectKey::new(namespace, name));
            assert_eq!(service(&failed(why)), expected, "{why}");
        }
        assert_eq!(service("Get https://rules.shop.svc:443: EOF"), None, "no webhook is named");
    }

    #[test]
    fn a_workload_is_behind_a_service_that_selects_its_pods() {
        let workload = r#"{"spec":{"template":{"metadata":{"labels":{"app":"rules","tier":"back"}}}}}"#;
        let selector = |all: &[(&str, &str)]| -> Vec<(String, String)> {
            all.iter().map(|(name, value)| (String::from(*name), String::from(*value))).collect()
        };
        assert!(is_selected(workload, &selector(&[("app", "rules")])));
        assert!(!is_selected(workload, &selector(&[("app", "rules"), ("tier", "front")])));
        assert!(!is_selected(workload, &[]), "a Service without a selector has its endpoints from elsewhere");
    }
}
