//! Packs endpoints into EndpointSlices, and changes as few of those that are there as it can (`reconcileByPortMapping`
//! and `finalize` in `k8s.io/endpointslice`, `reconciler.go`).

use serde_json::{Map, Value, json};

use super::super::object;
use super::members::is_headless;
use super::trigger_time::LAST_CHANGE;

/// The label that names the Service.
pub const SERVICE_NAME: &str = "kubernetes.io/service-name";
/// The label that names who writes an EndpointSlice.
pub const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
/// Its value.
pub const MANAGER: &str = "endpointslice-controller.k8s.io";
/// The label of the slices of a Service without an address of its own.
pub const HEADLESS: &str = "service.kubernetes.io/headless";
/// An EndpointSlice has no more endpoints than this (`--max-endpoints-per-slice`).
pub const MOST: usize = 100;

/// What the EndpointSlices of a Service have in common.
#[derive(Debug)]
pub struct Shape<'a> {
    /// The Service.
    pub service: &'a Value,
    /// `IPv4` or `IPv6`.
    pub address_type: &'a str,
    /// The value of [`LAST_CHANGE`] in what is written; without one the annotation goes.
    pub trigger_time: Option<String>,
    /// How many endpoints fit a slice, [`MOST`] but for tests.
    pub most: usize,
}

/// Endpoints that have the same ports, and so share slices.
#[derive(Debug, Default, Clone, PartialEq)]
pub struct Group {
    /// The slices' `ports`.
    pub ports: Vec<Value>,
    /// The slices' `endpoints`, those of all slices together.
    pub endpoints: Vec<Value>,
}

/// What is to be written.
#[derive(Debug, Default)]
pub struct Plan {
    /// New slices, without names.
    pub create: Vec<Value>,
    /// Slices that are there, with other contents.
    pub update: Vec<Value>,
    /// Slices that are too many.
    pub delete: Vec<Value>,
}

impl Shape<'_> {
    /// What makes of these slices, all of this address type, ones that hold these groups, each endpoint once.
    pub fn plan(&self, existing: Vec<Value>, groups: Vec<Group>) -> Plan {
        let mut plan = Plan::default();
        let mut by_ports: Vec<(Group, Vec<Value>)> = groups.into_iter().map(|group| (group, Vec::new())).collect();
        let had = existing.len();
        for slice in existing {
            let ports = slice["ports"].as_array().map(Vec::as_slice).unwrap_or_default();
            match by_ports.iter_mut().find(|(group, _)| group.ports == ports) {
                Some((_, slices)) if !object::is_leaving(&slice) => slices.push(slice),
                // What is on its way out goes by itself.
                _ if object::is_leaving(&slice) => {}
                _ => plan.delete.push(slice),
            }
        }
        for (group, slices) in by_ports {
            self.pack(&mut plan, slices, group);
        }
        // A Service without endpoints has one slice that says so.
        if had == plan.delete.len() && plan.create.is_empty() {
            match plan.delete.iter().position(|slice| self.is_placeholder(slice)) {
                Some(place) => drop(plan.delete.remove(place)),
                None => plan.create.push(self.filled(json!({}), &[], Vec::new())),
            }
        }
        // Of a slice that would go and one that would come, one is changed.
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
        // What a slice holds stays in it.
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
        // What comes goes first to where something changes anyway, the fullest first.
        changed.sort_by_key(|(_, kept)| std::cmp::Reverse(kept.len()));
        let mut missing = missing.into_iter();
        for (_, kept) in &mut changed {
            let room = self.most.saturating_sub(kept.len());
            kept.extend(missing.by_ref().take(room));
        }
        while missing.len() > 0 {
            // Then to one slice that has room for all of it, the fullest of those.
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

    /// A slice with these contents; an empty object becomes a new one.
    fn filled(&self, mut slice: Value, ports: &[Value], endpoints: Vec<Value>) -> Value {
        // Nothing is written as nothing, as a real server shows what it has read from its storage.
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

    /// The Service's labels, and those that say whose slice it is (`setEndpointSliceLabels`).
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

/// Whether two endpoints are the same one, whatever its conditions (`hashEndpoint`).
fn is_same_endpoint(one: &Value, other: &Value) -> bool {
    ["addresses", "hostname", "targetRef"].iter().all(|field| one.get(field) == other.get(field))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A slice or a group in short: its endpoints as letters, of which a capital one is not ready.
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

    /// What becomes of slices of a port, at most four endpoints each: those updated by number, those created, those
    /// deleted by number.
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
        // And after it there is nothing left to do.
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
        // The fullest slice that has room for all.
        check(&[(80, "a"), (80, "bc")], &[(80, "abcde")], &[("1", "bcde")], &[], &[]);
        // None has room for all: a new one rather than two changes.
        check(&[(80, "abc"), (80, "def")], &[(80, "abcdefgh")], &[], &["gh"], &[]);
        // Where something changes anyway there is room.
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
