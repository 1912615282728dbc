//! What must be there before a Pod is created, as the admission plugins ServiceAccount, Priority and ResourceQuota ask for it, and
//! the webhooks that must be asked. Of a quota only the number of Pods counts.

use serde_json::Value;

use crate::api::Api;
use crate::resources::builtin::{NAMESPACES, PODS, SERVICES};
use crate::resources::label_selector::Selector;
use crate::resources::resource::Resource;
use crate::resources::selector::Filter;
use crate::status::Status;
use crate::store::{Freshness, ListQuery};

/// Refuses a Pod that the cluster has no place for.
pub async fn admit(api: &Api, resource: &Resource, object: &Value) -> Result<(), Status> {
    if *resource != **PODS {
        return Ok(());
    }
    let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (name, namespace) = (text("/metadata/name"), text("/metadata/namespace"));
    let refuse = |why: String| Err(Status::refused(resource, name, &why));
    let account = text("/spec/serviceAccountName");
    // The account that every namespace has is made a moment after it.
    if !["", "default"].contains(&account) && !exists(api, "serviceaccounts", namespace, account).await? {
        let why =
            format!("error looking up service account {namespace}/{account}: serviceaccount \"{account}\" not found");
        return refuse(why);
    }
    let class = text("/spec/priorityClassName");
    if !class.is_empty()
        && !class.starts_with("system-")
        && !exists(api, "priorityclasses.scheduling.k8s.io", "", class).await?
    {
        return refuse(format!("no PriorityClass with name {class} was found"));
    }
    ask_webhooks(api, object, namespace).await?;
    for quota in list(api, "resourcequotas", namespace).await? {
        let hard = &quota["spec"]["hard"];
        let hard =
            hard["pods"].as_str().or_else(|| hard["count/pods"].as_str()).and_then(|hard| hard.parse::<usize>().ok());
        let Some(hard) = hard else { continue };
        let is_over = |pod: &&Value| matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
        let used = list(api, "pods", namespace).await?.iter().filter(|pod| !is_over(pod)).count();
        if used >= hard {
            let quota = quota["metadata"]["name"].as_str().unwrap_or_default();
            let why = format!("exceeded quota: {quota}, requested: pods=1, used: pods={used}, limited: pods={hard}");
            return refuse(why);
        }
    }
    Ok(())
}

/// Refuses a Pod before whose creation a webhook must be asked: nothing in this cluster answers one. A webhook whose
/// `failurePolicy` is `Ignore` is done without, and one with `matchConditions` is never asked, as they are not read here.
async fn ask_webhooks(api: &Api, pod: &Value, namespace: &str) -> Result<(), Status> {
    for plural in ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"] {
        for configuration in list(api, &format!("{plural}.admissionregistration.k8s.io"), "").await? {
            for webhook in configuration["webhooks"].as_array().into_iter().flatten() {
                let must = webhook["failurePolicy"] != "Ignore" && webhook["matchConditions"].is_null();
                if must && concerns_pods(webhook) && selects(&webhook["objectSelector"], pod) {
                    let namespace = api.store.get(&NAMESPACES, &NAMESPACES.key("", namespace)).await?;
                    let namespace = namespace.map(|namespace| namespace.to_value()).unwrap_or_default();
                    if selects(&webhook["namespaceSelector"], &namespace) {
                        let name = webhook["name"].as_str().unwrap_or_default();
                        return Err(Status::webhook_failed(name, &unanswered(api, webhook).await?));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Whether one of a webhook's rules is about the creation of Pods.
fn concerns_pods(webhook: &Value) -> bool {
    let has = |rule: &Value, list: &str, words: &[&str]| {
        let mut found = rule[list].as_array().into_iter().flatten().filter_map(Value::as_str);
        found.any(|word| words.contains(&word))
    };
    let is_its = |rule: &&Value| {
        has(rule, "operations", &["CREATE", "*"])
            && has(rule, "apiGroups", &["", "*"])
            && has(rule, "apiVersions", &["v1", "*"])
            && has(rule, "resources", &["pods", "*", "*/*"])
            && rule["scope"] != "Cluster"
    };
    webhook["rules"].as_array().into_iter().flatten().any(|rule| is_its(&rule))
}

/// Whether a selector selects an object; without one every object is.
fn selects(selector: &Value, object: &Value) -> bool {
    selector.is_null() || Selector::parse(selector).is_ok_and(|selector| selector.matches(object))
}

/// Why a webhook does not answer, in the words of the real server.
async fn unanswered(api: &Api, webhook: &Value) -> Result<String, Status> {
    let client = &webhook["clientConfig"];
    let seconds = webhook["timeoutSeconds"].as_u64().unwrap_or(10);
    let text = |pointer: &str| client.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    if let Some(url) = client["url"].as_str() {
        return Ok(format!("Post \"{url}?timeout={seconds}s\": dial tcp: connect: connection refused"));
    }
    let (namespace, name, path) = (text("/service/namespace"), text("/service/name"), text("/service/path"));
    let port = client["service"]["port"].as_u64().unwrap_or(443);
    let url = format!("https://{name}.{namespace}.svc:{port}{path}?timeout={seconds}s");
    let service = api.store.get(&SERVICES, &SERVICES.key(namespace, name)).await?;
    Ok(match service {
        None => format!("Post \"{url}\": service \"{name}\" not found"),
        Some(_) => format!("Post \"{url}\": dial tcp: connect: connection refused"),
    })
}

async fn exists(api: &Api, plural: &str, namespace: &str, name: &str) -> Result<bool, Status> {
    let Some(resource) = api.registry.by_name(plural) else { return Ok(true) };
    Ok(api.store.get(&resource, &resource.key(namespace, name)).await?.is_some())
}

async fn list(api: &Api, plural: &str, namespace: &str) -> Result<Vec<Value>, Status> {
    let Some(resource) = api.registry.by_name(plural) else { return Ok(Vec::new()) };
    let namespace = Some(namespace).filter(|namespace| !namespace.is_empty()).map(str::to_owned);
    let filter = Filter { namespace, ..Filter::default() };
    // Whoever has just written a quota or a webhook, or a Pod that a quota counts, relies on it.
    let query = ListQuery { filter, freshness: Freshness::Consistent, after: None, limit: 0 };
    Ok(api.store.list(&resource, &query).await?.objects.iter().map(|object| object.to_value()).collect())
}
