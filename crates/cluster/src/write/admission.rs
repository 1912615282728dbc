//! What must be there before a Pod is created, as the admission plugins ServiceAccount, Priority and ResourceQuota ask for it.
//! Of a quota only the number of Pods counts.

use serde_json::Value;

use crate::api::Api;
use crate::resources::builtin::PODS;
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

async fn exists(api: &Api, plural: &str, namespace: &str, name: &str) -> Result<bool, Status> {
    let Some(resource) = api.registry.by_name(plural) else { return Ok(true) };
    Ok(api.store.get(&resource, &resource.key(namespace, name)).await?.is_some())
}

async fn list(api: &Api, plural: &str, namespace: &str) -> Result<Vec<Value>, Status> {
    let Some(resource) = api.registry.by_name(plural) else { return Ok(Vec::new()) };
    let filter = Filter { namespace: Some(namespace.to_owned()), ..Filter::default() };
    let query = ListQuery { filter, freshness: Freshness::NotOlderThan(0), after: None, limit: 0 };
    Ok(api.store.list(&resource, &query).await?.objects.iter().map(|object| object.to_value()).collect())
}
