//! Packs endpoints into EndpointSlices with as few changes of existing slices as possible (`reconcileByPortMapping` and
//! `finalize` in `k8s.io/endpointslice`, `reconciler.go`).

use serde_json::{Map, Value, json};

use super::super::object;
use super::members::is_headless;
use super::trigger_time::LAST_CHANGE;

/// The label that names the Service.
pub const SERVICE_NAME: &str = "kubernetes.io/service-name";
/// The label that names the controller of an EndpointSlice.
pub const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
/// The value of the label [`MANAGED_BY`].
pub const MANAGER: &str = "endpointslice-controller.k8s.io";
/// The label of the slices of a headless Service.
pub const HEADLESS: &str = "service.kubernetes.io/headless";
/// The largest number of endpoints in an EndpointSlice (`--max-endpoints-per-slice`).
pub const MAX_ENDPOINTS_PER_SLICE: usize = 100;

/// What the EndpointSlices of a Service have in common.
#[derive(Debug)]
pub struct Shape<'a> {
    /// The Service.
    pub service: &'a Value,
    /// `IPv4` or `IPv6`.
    pub address_type: &'a str,
    /// The value of the annotation [`LAST_CHANGE`] in written slices; with `None` the annotation is removed.
    pub trigger_time: Option<String>,
    /// The number of endpoints that fit into a slice: [`MAX_ENDPOINTS_PER_SLICE`] except in tests.
    pub most: usize,
}

/// Endpoints with the same ports, which share slices.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Group {
    /// The `ports` of the slices.
    pub ports: Vec<Value>,
    /// The `endpoints` of all these slices together.
    pub endpoints: Vec<Value>,
}

/// The writes to make.
#[derive(Debug, Default)]
pub struct Plan {
    /// The slices to create, without names.
    pub create: Vec<Value>,
    /// The slices to update, with their new contents.
    pub update: Vec<Value>,
    /// The slices to delete.
    pub delete: Vec<Value>,
}

impl Shape<'_> {
    /// The writes that turn the existing slices, all of this address type, into slices that hold these groups with each
    /// endpoint once.
    pub fn plan(&self, existing: Vec<Value>, groups: Vec<Group>) -> Plan {
        let mut plan = Plan::default();
        let mut by_ports: Vec<(Group, Vec<Value>)> = groups.into_iter().map(|group| (group, Vec::new())).collect();
        let had = existing.len();
        for slice in existing {
            let ports = slice["ports"].as_array().map(Vec::as_slice).unwrap_or_default();
            match by_ports.iter_mut().find(|(group, _)| group.ports == ports) {
                Some((_, slices)) if !object::is_being_deleted(&slice) => slices.push(slice),
                // A slice that is being deleted disappears by itself.
                _ if object::is_being_deleted(&slice) => {}
                _ => plan.delete.push(slice),
            }
        }
        for (group, slices) in by_ports {
            self.pack(&mut plan, slices, group);
        }
        // A Service without endpoints has one empty slice.
        if had == plan.delete.len() && plan.create.is_empty() {
            match plan.delete.iter().position(|slice| self.is_placeholder(slice)) {
                Some(place) => drop(plan.delete.remove(place)),
                None => plan.create.push(self.filled(json!({}), &[], Vec::new())),
            }
        }
        // Instead of deleting one slice and creating another, one slice is updated.
        while !plan.create.is_empty()
            && let Some(old) = plan.delete.pop()
        {
            let mut new = plan.create.remove(0);
            new["metadata"]["name"] = old["metadata"]["name"].clone();
            for field in ["namespace", "uid", "resourceVersion", "creationTimestamp", "generateName", "generation"] {
                if let Some(value) = old["metadata"].get(field) {
                    new["metadata"][field] = value.clone();
                }
            }
            plan.update.push(new);
        }
        plan
    }

    fn pack(&self, plan: &mut Plan, slices: Vec<Value>, group: Group) {
        let Group { ports, endpoints } = group;
        let mut missing = endpoints;
        let (mut unchanged, mut changed) = (Vec::new(), Vec::new());
        // Endpoints stay in the slice that they are in.
        for slice in slices {
            let held = slice["endpoints"].as_array().map(Vec::as_slice).unwrap_or_default();
            let (mut kept, mut is_same) = (Vec::new(), true);
            for endpoint in held {
                let place = missing.iter().position(|wanted| is_same_endpoint(wanted, endpoint));
                let wanted = place.map(|place| missing.remove(place));
                is_same &= wanted.as_ref() == Some(endpoint);
                kept.extend(wanted);
            }
            if !is_same && kept.is_empty() {
                plan.delete.push(slice);
            } else if !is_same || !self.is_labelled(&slice) {
                changed.push((slice, kept));
            } else {
                unchanged.push((slice, kept));
            }
        }
        // New endpoints go first into slices that change anyway, the fullest first.
        changed.sort_by_key(|(_, kept)| std::cmp::Reverse(kept.len()));
        let mut missing = missing.into_iter();
        for (_, kept) in &mut changed {
            let room = self.most.saturating_sub(kept.len());
            kept.extend(missing.by_ref().take(room));
        }
        while missing.len() > 0 {
            // The rest goes into one slice that has room for all of it, the fullest of those.
            let fits = |kept: &Vec<Value>| kept.len() + missing.len() <= self.most;
            let places = unchanged.iter().enumerate().filter(|(_, (_, kept))| fits(kept));
            let place = places.max_by_key(|(_, (_, kept))| kept.len()).map(|(place, _)| place);
            match place {
                Some(place) => {
                    let (slice, mut kept) = unchanged.remove(place);
                    kept.extend(missing.by_ref());
                    changed.push((slice, kept));
                }
                None => {
                    let new = missing.by_ref().take(self.most.max(1)).collect();
                    plan.create.push(self.filled(json!({}), &ports, new));
                }
            }
        }
        plan.update.extend(changed.into_iter().map(|(slice, kept)| self.filled(slice, &ports, kept)));
    }

    /// A slice with these contents. An empty object becomes a new slice.
    fn filled(&self, mut slice: Value, ports: &[Value], endpoints: Vec<Value>) -> Value {
        // An empty list is written as null, because that is how a real server returns it from its storage.
        let list = |items: Vec<Value>| if items.is_empty() { Value::Null } else { items.into() };
        if slice["metadata"]["name"].is_null() {
            let name = object::name(self.service);
            object::set(&mut slice, &["metadata", "generateName"], format!("{name}-").into());
            object::set(&mut slice, &["metadata", "namespace"], object::namespace(self.service).into());
        }
        object::set(&mut slice, &["metadata", "labels"], self.labels().into());
        let owner = object::controller_reference(self.service);
        object::set(&mut slice, &["metadata", "ownerReferences"], json!([owner]));
        let mut annotations = slice["metadata"]["annotations"].as_object().cloned().unwrap_or_default();
        match &self.trigger_time {
            Some(time) => annotations.insert(LAST_CHANGE.to_owned(), time.as_str().into()),
            None => annotations.remove(LAST_CHANGE),
        };
        object::set(&mut slice, &["metadata", "annotations"], annotations.into());
        object::set(&mut slice, &["apiVersion"], "discovery.k8s.io/v1".into());
        object::set(&mut slice, &["kind"], "EndpointSlice".into());
        object::set(&mut slice, &["addressType"], self.address_type.into());
        object::set(&mut slice, &["ports"], list(ports.to_vec()));
        object::set(&mut slice, &["endpoints"], list(endpoints));
        slice
    }

    /// The labels of the Service, and those that identify the slice's Service and controller
    /// (`setEndpointSliceLabels`).
    fn labels(&self) -> Map<String, Value> {
        let mut labels = self.service["metadata"]["labels"].as_object().cloned().unwrap_or_default();
        labels.remove(HEADLESS);
        labels.insert(SERVICE_NAME.to_owned(), object::name(self.service).into());
        labels.insert(MANAGED_BY.to_owned(), MANAGER.into());
        if is_headless(self.service) {
            labels.insert(HEADLESS.to_owned(), "".into());
        }
        labels
    }

    fn is_labelled(&self, slice: &Value) -> bool {
        let owner = object::controller_reference(self.service);
        slice["metadata"]["labels"].as_object() == Some(&self.labels())
            && slice["metadata"]["ownerReferences"].as_array().is_some_and(|owners| owners == &[owner])
    }

    fn is_placeholder(&self, slice: &Value) -> bool {
        let is_empty = |field: &str| slice[field].as_array().is_none_or(Vec::is_empty);
        is_empty("ports") && is_empty("endpoints") && self.is_labelled(slice)
    }
}

/// Whether two endpoints are the same, regardless of their conditions (`hashEndpoint`).
fn is_same_endpoint(one: &Value, other: &Value) -> bool {
    ["addresses", "hostname", "targetRef"].iter().all(|field| one.get(field) == other.get(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Endpoints written as letters, where a capital letter is an endpoint that is not ready.
    fn endpoints(letters: &str) -> Vec<Value> {
        let endpoint = |letter: char| json!({"addresses": [letter.to_ascii_lowercase()], "conditions": {"ready": letter.is_lowercase()}});
        letters.chars().map(endpoint).collect()
    }

    fn letters(slice: &Value) -> String {
        let letter = |endpoint: &Value| {
            let letter = object::text(endpoint, "/addresses/0").to_owned();
            if endpoint["conditions"]["ready"] == true { letter } else { letter.to_uppercase() }
        };
        slice["endpoints"].as_array().into_iter().flatten().map(letter).collect()
    }

    /// Checks what becomes of slices with one port and at most four endpoints each: the updated slices by number, the
    /// created ones, and the deleted ones by number.
    fn check(
        existing: &[(u16, &str)],
        wanted: &[(u16, &str)],
        updated: &[(&str, &str)],
        created: &[&str],
        deleted: &[&str],
    ) {
        let service = json!({"apiVersion": "v1", "kind": "Service",
            "metadata": {"name": "web", "namespace": "shop", "uid": "1", "labels": {"app": "web"}}});
        let shape = Shape { service: &service, address_type: "IPv4", trigger_time: None, most: 4 };
        let ports = |port: u16| if port == 0 { Vec::new() } else { vec![json!({"port": port})] };
        let slice = |(place, (port, letters)): (usize, &(u16, &str))| {
            let named = json!({"metadata": {"name": place.to_string()}});
            shape.filled(named, &ports(*port), endpoints(letters))
        };
        let slices = existing.iter().enumerate().map(slice).collect();
        let group = |(port, letters): &(u16, &str)| Group { ports: ports(*port), endpoints: endpoints(letters) };
        let plan = shape.plan(slices, wanted.iter().map(group).collect());
        let told: Vec<(String, String)> =
            plan.update.iter().map(|slice| (object::name(slice).to_owned(), letters(slice))).collect();
        let told: Vec<(&str, &str)> = told.iter().map(|(name, letters)| (name.as_str(), letters.as_str())).collect();
        assert_eq!(told, updated, "updates of {existing:?} for {wanted:?}");
        assert_eq!(plan.create.iter().map(letters).collect::<Vec<String>>(), created, "{existing:?} for {wanted:?}");
        let gone: Vec<&str> = plan.delete.iter().map(object::name).collect();
        assert_eq!(gone, deleted, "deletions of {existing:?} for {wanted:?}");
        // A second run has nothing left to do.
        assert!(plan.create.iter().chain(&plan.update).all(|slice| shape.is_labelled(slice)));
    }

    #[test]
    fn slices_are_filled_and_changed_as_little_as_can_be() {
        check(&[], &[(80, "abc")], &[], &["abc"], &[]);
        check(&[], &[(80, "abcdef")], &[], &["abcd", "ef"], &[]);
        check(&[(80, "abc")], &[(80, "abc")], &[], &[], &[]);
        check(&[(80, "abc")], &[(80, "aBc")], &[("0", "aBc")], &[], &[]);
        check(&[(80, "abc")], &[(80, "abcd")], &[("0", "abcd")], &[], &[]);
        check(&[(80, "abcd"), (80, "e")], &[(80, "abcdef")], &[("1", "ef")], &[], &[]);
        // All go into the fullest slice with enough room.
        check(&[(80, "a"), (80, "bc")], &[(80, "abcde")], &[("1", "bcde")], &[], &[]);
        // No slice has room for all of them: one new slice is better than two changes.
        check(&[(80, "abc"), (80, "def")], &[(80, "abcdefgh")], &[], &["gh"], &[]);
        // A slice that changes anyway has room.
        check(&[(80, "abcd"), (80, "ef")], &[(80, "abcefg")], &[("0", "abcg")], &[], &[]);
        check(&[(80, "abcd"), (80, "ef")], &[(80, "abcd")], &[], &[], &["1"]);
    }

    #[test]
    fn ports_tell_slices_apart() {
        check(&[], &[(80, "a"), (81, "b")], &[], &["a", "b"], &[]);
        check(&[(80, "a")], &[(81, "a")], &[("0", "a")], &[], &[]);
        check(&[(80, "a"), (81, "b")], &[(80, "ab")], &[("0", "ab")], &[], &["1"]);
    }

    #[test]
    fn without_endpoints_one_empty_slice_stays() {
        check(&[], &[], &[], &[""], &[]);
        check(&[(0, "")], &[], &[], &[], &[]);
        check(&[(80, "a")], &[], &[("0", "")], &[], &[]);
        check(&[(80, "abcd"), (80, "e")], &[], &[("1", "")], &[], &["0"]);
        check(&[(0, "")], &[(80, "a")], &[("0", "a")], &[], &[]);
    }
}
