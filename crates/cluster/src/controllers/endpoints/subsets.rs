//! The `subsets` of Endpoints: addresses grouped by their ports (`RepackSubsets` in `pkg/api/v1/endpoints/util.go`).

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::super::endpoint_slice::endpoint_pod::EndpointPod;
use super::super::endpoint_slice::members::is_headless;

/// The addresses of Pods with whether they are ready, in the order of their keys.
type Addresses = BTreeMap<(String, String), (Value, bool)>;

/// The subsets for the Pods of a Service. Left out are Pods of another address family than the Service's first one, and
/// Pods that are being deleted, unless the Service publishes addresses that are not ready.
pub fn of(service: &Value, pods: &[EndpointPod]) -> Value {
    let publishes_all = service["spec"]["publishNotReadyAddresses"] == true;
    let family = service["spec"]["ipFamilies"][0].as_str().unwrap_or("IPv4");
    // By the text of the port: a named port that only some Pods have gets fewer addresses than the other ports.
    let mut by_port: BTreeMap<String, (Value, Addresses)> = BTreeMap::new();
    for pod in pods.iter().filter(|pod| publishes_all || !pod.is_being_deleted()) {
        let Some(ip) = pod.address(family) else { continue };
        let mut address = json!({"ip": ip, "targetRef": pod.target()});
        if !pod.node_name().is_empty() {
            address["nodeName"] = pod.node_name().into();
        }
        if let Some(hostname) = pod.hostname(service) {
            address["hostname"] = hostname.into();
        }
        let mut ports: Vec<Value> = pod.ports(service).into_iter().map(port).collect();
        let has_none = service["spec"]["ports"].as_array().is_none_or(Vec::is_empty);
        if has_none && is_headless(service) {
            ports.push(Value::Null);
        }
        for port in ports {
            let (_, addresses) = by_port.entry(port.to_string()).or_insert_with(|| (port, Addresses::new()));
            let place = (ip.to_owned(), pod.name().to_owned());
            addresses.insert(place, (address.clone(), publishes_all || pod.is_ready()));
        }
    }
    let mut subsets: Vec<(Addresses, Vec<Value>)> = Vec::new();
    for (port, addresses) in by_port.into_values() {
        match subsets.iter_mut().find(|(known, _)| *known == addresses) {
            Some((_, ports)) => ports.push(port),
            None => subsets.push((addresses, vec![port])),
        }
    }
    subsets.into_iter().map(|(addresses, ports)| subset(addresses, ports)).collect()
}

/// A port as it stands in Endpoints: an empty name is left out.
fn port(mut port: Value) -> Value {
    if let Some(fields) = port.as_object_mut() {
        fields.retain(|field, value| field != "name" || *value != "");
    }
    port
}

fn subset(addresses: Addresses, mut ports: Vec<Value>) -> Value {
    ports.retain(|port| !port.is_null());
    let (ready, not_ready): (Vec<_>, Vec<_>) = addresses.into_values().partition(|(_, is_ready)| *is_ready);
    let mut subset = Map::new();
    let list = |pairs: Vec<(Value, bool)>| pairs.into_iter().map(|(address, _)| address).collect::<Vec<Value>>();
    for (field, items) in [("addresses", list(ready)), ("notReadyAddresses", list(not_ready)), ("ports", ports)] {
        if !items.is_empty() {
            subset.insert(field.to_owned(), items.into());
        }
    }
    subset.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the subsets of Pods `a` and so on, each with the name of its one port and whether it is ready. Subsets
    /// are written as `addresses/notReadyAddresses:ports`.
    fn check(service: Value, pods: &[(&str, &str, bool)], expected: &str) {
        let pod = |(name, port, ready): &(&str, &str, bool)| -> EndpointPod {
            let ready = json!([{"type": "Ready", "status": if *ready { "True" } else { "False" }}]);
            let container = json!({"ports": [{"name": port, "containerPort": 8080}]});
            let ip = format!("10.0.0.{}", name.len());
            serde_json::from_value(json!({"metadata": {"name": name}, "spec": {"containers": [container]},
                "status": {"podIP": ip, "conditions": ready}}))
            .unwrap()
        };
        let pods: Vec<EndpointPod> = pods.iter().map(pod).collect();
        let subsets = of(&json!({"spec": service}), &pods);
        let names = |subset: &Value, field: &str, pointer: &str| {
            let items = subset[field].as_array().into_iter().flatten();
            let text = |item: &Value| item.pointer(pointer).map(|text| text.to_string().replace('"', ""));
            items.filter_map(text).collect::<Vec<String>>().join(",")
        };
        let told: Vec<String> = subsets
            .as_array()
            .unwrap()
            .iter()
            .map(|subset| {
                let [ready, not] =
                    ["addresses", "notReadyAddresses"].map(|field| names(subset, field, "/targetRef/name"));
                format!("{ready}/{not}:{}", names(subset, "ports", "/port"))
            })
            .collect();
        assert_eq!(told.join(" "), expected, "{service}");
    }

    #[test]
    fn addresses_with_the_same_ports_are_together() {
        let numbers = json!([{"port": 80}, {"port": 443, "name": "tls"}]);
        check(json!({"ports": numbers}), &[("a", "x", true), ("bb", "x", false)], "a/bb:443,80");
        check(json!({"ports": numbers, "publishNotReadyAddresses": true}), &[("a", "x", false)], "a/:443,80");
        let named = json!([{"port": 80}, {"port": 81, "targetPort": "http"}]);
        check(json!({"ports": named}), &[("a", "http", true), ("bb", "x", true)], "a,bb/:80 a/:8080");
        check(json!({"ports": []}), &[("a", "x", true)], "");
        check(json!({"clusterIP": "None"}), &[("a", "x", true), ("bb", "x", true)], "a,bb/:");
    }
}
