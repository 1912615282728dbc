//! How a Pod becomes an endpoint (`pkg/api/v1/endpoints`, `podToEndpoint` in `k8s.io/endpointslice`).

use kubechurn_client::api::object::Object;
use kubechurn_client::api::time::Timestamp;
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::object;

/// The fields of a Pod that matter to Services.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct EndpointPod {
    metadata: Meta,
    spec: Spec,
    status: Status,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Meta {
    name: String,
    namespace: String,
    uid: String,
    deletion_timestamp: Option<String>,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec {
    node_name: Option<String>,
    hostname: Option<String>,
    subdomain: Option<String>,
    containers: Option<Vec<Container>>,
    init_containers: Option<Vec<Container>>,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Container {
    ports: Option<Vec<Port>>,
    restart_policy: Option<String>,
}

#[derive(Debug, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Port {
    name: Option<String>,
    container_port: i64,
    protocol: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Status {
    phase: Option<String>,
    #[serde(rename = "podIP")]
    pod_ip: Option<String>,
    #[serde(rename = "podIPs")]
    pod_ips: Option<Vec<Address>>,
    conditions: Option<Vec<Condition>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Address {
    ip: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Condition {
    #[serde(rename = "type")]
    kind: String,
    status: String,
    last_transition_time: Option<String>,
}

impl EndpointPod {
    /// Reads the Pod of an informer; all fields are empty if one of them has a wrong type.
    pub fn of(pod: &Object) -> Self {
        pod.text().and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    /// The Pod's name.
    pub fn name(&self) -> &str {
        &self.metadata.name
    }

    /// The node that the Pod is bound to; empty if there is none.
    pub fn node_name(&self) -> &str {
        self.spec.node_name.as_deref().unwrap_or_default()
    }

    /// The Pod's first address of a family, `IPv4` or `IPv6`; `None` for a Pod that has ended.
    pub fn address(&self, family: &str) -> Option<&str> {
        if matches!(self.status.phase.as_deref(), Some("Succeeded" | "Failed")) {
            return None;
        }
        self.addresses().find(|address| !address.is_empty() && address.contains(':') == (family == "IPv6"))
    }

    fn addresses(&self) -> impl Iterator<Item = &str> {
        let all = self.status.pod_ips.iter().flatten().map(|address| address.ip.as_str());
        all.chain(self.status.pod_ip.as_deref())
    }

    fn ready_condition(&self) -> Option<&Condition> {
        let mut conditions = self.status.conditions.iter().flatten();
        conditions.find(|condition| condition.kind == "Ready" && condition.status == "True")
    }

    /// Whether the condition Ready is True.
    pub fn is_ready(&self) -> bool {
        self.ready_condition().is_some()
    }

    /// Since when the Pod is ready, in seconds since 1970.
    pub fn ready_since(&self) -> Option<i64> {
        Timestamp::parse_set(self.ready_condition()?.last_transition_time.as_deref()?).map(|since| since.0)
    }

    /// Whether the Pod is being deleted.
    pub fn is_being_deleted(&self) -> bool {
        self.metadata.deletion_timestamp.is_some()
    }

    /// Whether the endpoints of the two Pods are the same (`podEndpointsChanged`).
    pub fn is_like(&self, other: &Self) -> bool {
        let state = |pod: &Self| {
            let phase = pod.status.phase.as_deref();
            (matches!(phase, Some("Succeeded" | "Failed")), pod.is_ready(), pod.is_being_deleted())
        };
        self.metadata.uid == other.metadata.uid
            && self.spec == other.spec
            && self.addresses().eq(other.addresses())
            && state(self) == state(other)
    }

    /// The object reference of an endpoint (`targetRef`).
    pub fn target(&self) -> Value {
        let Meta { name, namespace, uid, .. } = &self.metadata;
        json!({"kind": "Pod", "namespace": namespace, "name": name, "uid": uid})
    }

    /// The Pod's host name under a Service. It has one if the Service is its subdomain (`ShouldSetHostname`).
    pub fn hostname(&self, service: &Value) -> Option<&str> {
        let hostname = self.spec.hostname.as_deref().filter(|hostname| !hostname.is_empty())?;
        (self.spec.subdomain.as_deref() == Some(object::name(service))).then_some(hostname)
    }

    /// The ports of a Service on this Pod, as an EndpointSlice lists them: by number, or by the name that a container
    /// gives to a port of the same protocol. A port name that no container has is left out (`getEndpointPorts`,
    /// `FindPort`).
    pub fn ports(&self, service: &Value) -> Vec<Value> {
        let ports = service["spec"]["ports"].as_array().into_iter().flatten();
        let resolved = ports.filter_map(|port| {
            let protocol = port["protocol"].as_str().unwrap_or("TCP");
            let number = match &port["targetPort"] {
                Value::String(name) => self.named_port(name, protocol)?,
                Value::Null => port["port"].as_i64()?,
                number => number.as_i64()?,
            };
            let name = port["name"].as_str().unwrap_or_default();
            let mut resolved = json!({"name": name, "port": number, "protocol": protocol});
            if let Some(application) = port["appProtocol"].as_str() {
                resolved["appProtocol"] = application.into();
            }
            Some(resolved)
        });
        resolved.collect()
    }

    fn named_port(&self, name: &str, protocol: &str) -> Option<i64> {
        let sidecars = self.spec.init_containers.iter().flatten();
        let sidecars = sidecars.filter(|container| container.restart_policy.as_deref() == Some("Always"));
        let containers = self.spec.containers.iter().flatten().chain(sidecars);
        let found = containers
            .flat_map(|container| container.ports.iter().flatten())
            .find(|port| port.name.as_deref() == Some(name) && port.protocol.as_deref().unwrap_or("TCP") == protocol);
        found.map(|port| port.container_port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(port: Value, expected: &[i64]) {
        let pod: EndpointPod = serde_json::from_value(json!({"spec": {
            "containers": [{"ports": [{"name": "http", "containerPort": 8080}, {"name": "dns", "containerPort": 53, "protocol": "UDP"}]}, {"ports": null}],
            "initContainers": [{"ports": [{"name": "setup", "containerPort": 1}]},
                {"restartPolicy": "Always", "ports": [{"name": "proxy", "containerPort": 15001}]}]}}))
        .unwrap();
        let ports = pod.ports(&json!({"spec": {"ports": [port]}}));
        let numbers: Vec<i64> = ports.iter().filter_map(|port| port["port"].as_i64()).collect();
        assert_eq!(numbers, expected, "{port}");
    }

    #[test]
    fn ports_are_found_by_number_or_name_and_protocol() {
        check(json!({"port": 80, "targetPort": 9090}), &[9090]);
        check(json!({"port": 80}), &[80]);
        check(json!({"port": 80, "targetPort": "http"}), &[8080]);
        check(json!({"port": 80, "targetPort": "dns"}), &[]);
        check(json!({"port": 53, "targetPort": "dns", "protocol": "UDP"}), &[53]);
        check(json!({"port": 80, "targetPort": "proxy"}), &[15001]);
        check(json!({"port": 80, "targetPort": "setup"}), &[]);
        check(json!({"port": 80, "targetPort": "gone"}), &[]);
        check(json!({"port": "x"}), &[]);
        check(json!(7), &[]);
    }
}
