//! The quality-of-service class of a Pod (`pkg/apis/core/v1/helper/qos/qos.go`).

use serde_json::Value;

/// `Guaranteed` if the requests for cpu and memory equal the limits in every container, `BestEffort` if no container
/// has any, and `Burstable` otherwise. `spec` is the Pod's spec with its defaults.
pub fn class(spec: &Value) -> &'static str {
    let containers = ["containers", "initContainers"].into_iter();
    let containers = containers.flat_map(|list| spec[list].as_array().into_iter().flatten());
    let (mut some, mut every) = (false, true);
    for container in containers {
        for name in ["cpu", "memory"] {
            let amount = |kind: &str| container["resources"][kind].get(name).filter(|amount| !is_zero(amount));
            let (request, limit) = (amount("requests"), amount("limits"));
            some |= request.is_some() || limit.is_some();
            every &= limit.is_some() && request == limit;
        }
    }
    match (some, every) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}

fn is_zero(amount: &Value) -> bool {
    amount == "0" || amount == 0
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(resources: &[Value], expected: &str) {
        let containers: Vec<Value> = resources.iter().map(|resources| json!({"resources": resources})).collect();
        assert_eq!(class(&json!({"containers": containers})), expected, "{resources:?}");
    }

    #[test]
    fn classes() {
        let all = json!({"cpu": "1", "memory": "1Gi"});
        check(&[json!({})], "BestEffort");
        check(&[json!({"requests": {"cpu": "0"}})], "BestEffort");
        check(&[json!({"requests": {"cpu": "1"}})], "Burstable");
        check(&[json!({"requests": all, "limits": all})], "Guaranteed");
        check(&[json!({"requests": all, "limits": all}), json!({})], "Burstable");
        check(&[json!({"requests": {"cpu": "1"}, "limits": all})], "Burstable");
    }
}
