//! How traffic reaches Pods: the columns of `printEndpointSlice`, `printEndpoints`, `printIngress`,
//! `printIngressClass`, `printNetworkPolicy`, `printServiceCIDR` and `printIPAddress` (kubernetes
//! `pkg/printers/internalversion/printers.go`).

use std::fmt::Write;

use serde::Deserialize;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::Decode;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::text::Text;

use super::Kind;
use super::parts::{Count, List, NONE, join, or_default, some_of};
use super::printed::{AGE, Printed, columns, read, words};
use super::selector::{self, LabelSelector};
use super::services::LoadBalancer;
use super::storage::default_name;

const UNSET: Cell = Cell::Static("<unset>");

/// EndpointSlices, in the sidebar under Network.
pub const ENDPOINT_SLICES: Kind = Kind {
    resource: ApiResource {
        group: "discovery.k8s.io",
        version: "v1",
        plural: "endpointslices",
        kind: "EndpointSlice",
        namespaced: true,
    },
    name: "endpointslices",
    short_names: &[],
    heading: "Network",
    title: "EndpointSlices",
    columns: &columns(&ENDPOINT_SLICE),
    decode: Decode(&|text| read(text, &ENDPOINT_SLICE)),
};

const ENDPOINT_SLICE: [Printed; 4] = [
    words("ADDRESSTYPE", &["addressType"], |fields| fields.text("")),
    words("PORTS", &["ports"], |fields| {
        let List(ports) = fields.value::<List<Port<'_>>>(0)?;
        Ok(some_of(ports.iter().map(Port::printed)).unwrap_or(UNSET))
    }),
    words("ENDPOINTS", &["endpoints"], |fields| {
        let List(endpoints) = fields.value::<List<Endpoint<'_>>>(0)?;
        let addresses = endpoints.iter().flat_map(|endpoint| &endpoint.addresses);
        Ok(some_of(addresses.map(|address| &**address)).unwrap_or(UNSET))
    }),
    AGE,
];

/// A port of an EndpointSlice or of Endpoints.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Port<'a> {
    #[serde(borrow)]
    name: Option<Text<'a>>,
    port: Option<i64>,
}

impl Port<'_> {
    /// The port's number; without a number its name; without a name `*`, for all ports.
    fn printed(&self) -> String {
        match (self.port, &self.name) {
            (Some(port), _) => port.to_string(),
            (None, Some(name)) => String::from(&**name),
            (None, None) => String::from("*"),
        }
    }
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Endpoint<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    addresses: Vec<Text<'a>>,
}

/// Endpoints, in the sidebar under Network.
pub const ENDPOINTS: Kind = Kind {
    resource: ApiResource { group: "", version: "v1", plural: "endpoints", kind: "Endpoints", namespaced: true },
    name: "endpoints",
    short_names: &["ep"],
    heading: "Network",
    title: "Endpoints",
    columns: &columns(&ENDPOINT),
    decode: Decode(&|text| read(text, &ENDPOINT)),
};

const ENDPOINT: [Printed; 2] = [
    words("ENDPOINTS", &["subsets"], |fields| {
        let List(subsets) = fields.value::<List<Subset<'_>>>(0)?;
        match subsets.is_empty() {
            true => Ok(NONE),
            false => Ok(some_of(subsets.iter().flat_map(Subset::printed)).unwrap_or(Cell::Static(""))),
        }
    }),
    AGE,
];

#[derive(Default, Deserialize)]
#[serde(bound(deserialize = "'de: 'a"), default)]
struct Subset<'a> {
    addresses: List<Address<'a>>,
    ports: List<Port<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Address<'a> {
    #[serde(borrow)]
    ip: Text<'a>,
}

impl Subset<'_> {
    /// Each address with each port; only the addresses if there are no ports, as headless Services may have none
    /// (`formatEndpoints`).
    fn printed(&self) -> Vec<String> {
        let addresses = || self.addresses.0.iter().map(|address| &*address.ip);
        if self.ports.0.is_empty() {
            return addresses().map(str::to_owned).collect();
        }
        let with_port = |port: &Port<'_>| {
            let port = port.port.unwrap_or_default();
            addresses().map(move |ip| if ip.contains(':') { format!("[{ip}]:{port}") } else { format!("{ip}:{port}") })
        };
        self.ports.0.iter().flat_map(with_port).collect()
    }
}

/// Ingresses, in the sidebar under Network.
pub const INGRESSES: Kind = Kind {
    resource: networking("ingresses", "Ingress", true),
    name: "ingresses",
    short_names: &["ing"],
    heading: "Network",
    title: "Ingresses",
    columns: &columns(&INGRESS),
    decode: Decode(&|text| read(text, &INGRESS)),
};

const INGRESS: [Printed; 5] = [
    words("CLASS", &["spec ingressClassName"], |fields| fields.text("<none>")),
    words("HOSTS", &["spec rules"], |fields| fields.value(0).map(|List(rules)| hosts(&rules))),
    words("ADDRESS", &["status loadBalancer"], |fields| {
        fields.structure::<LoadBalancer<'_>>(0).map(|balancer| Cell::Text(balancer.addresses().into()))
    }),
    words("PORTS", &["spec tls"], |fields| {
        let Count(certificates) = fields.value(0)?;
        Ok(Cell::Static(if certificates > 0 { "80, 443" } else { "80" }))
    }),
    AGE,
];

#[derive(Default, Deserialize)]
#[serde(default)]
struct Rule<'a> {
    #[serde(borrow)]
    host: Text<'a>,
}

/// HOSTS: the first three hosts. The number of further ones counts all rules, also rules without a host
/// (`formatHosts`).
fn hosts(rules: &[Rule<'_>]) -> Cell {
    const SHOWN: usize = 3;
    let mut named = rules.iter().enumerate().filter(|(_, rule)| !rule.host.is_empty());
    let mut joined = String::new();
    let mut last = 0;
    for (at, (place, rule)) in named.by_ref().take(SHOWN).enumerate() {
        if at > 0 {
            joined.push(',');
        }
        joined.push_str(&rule.host);
        last = if at + 1 == SHOWN { place + 1 } else { rules.len() };
    }
    if joined.is_empty() {
        return Cell::Static("*");
    }
    if last < rules.len() {
        // Writing to a String cannot fail.
        let _ = write!(joined, " + {} more...", rules.len() - SHOWN);
    }
    Cell::Text(joined.into())
}

/// IngressClasses, in the sidebar under Network.
pub const INGRESS_CLASSES: Kind = Kind {
    resource: networking("ingressclasses", "IngressClass", false),
    name: "ingressclasses",
    short_names: &[],
    heading: "Network",
    title: "IngressClasses",
    columns: &columns(&INGRESS_CLASS),
    decode: Decode(&|text| read(text, &INGRESS_CLASS)),
};

/// IngressClasses before 1.36: nothing showed which one is the default.
pub const INGRESS_CLASSES_BEFORE_1_36: Kind = Kind {
    columns: &columns(&PLAIN_INGRESS_CLASS),
    decode: Decode(&|text| read(text, &PLAIN_INGRESS_CLASS)),
    ..INGRESS_CLASSES
};

const INGRESS_CLASS: [Printed; 4] = [
    words("NAME", &["metadata annotations ingressclass.kubernetes.io/is-default-class"], |fields| {
        default_name(fields, 1)
    }),
    CONTROLLER,
    PARAMETERS,
    AGE,
];

const PLAIN_INGRESS_CLASS: [Printed; 3] = [CONTROLLER, PARAMETERS, AGE];

const CONTROLLER: Printed = words("CONTROLLER", &["spec controller"], |fields| fields.text(""));

const PARAMETERS: Printed = words("PARAMETERS", &["spec parameters"], |fields| {
    if !fields.is_set(0) {
        return Ok(NONE);
    }
    let parameters: Parameters<'_> = fields.structure(0)?;
    let group = parameters.api_group.as_ref().map_or_else(String::new, |group| format!(".{}", &**group));
    Ok(Cell::Text([&parameters.kind, &*group, "/", &parameters.name].concat().into()))
});

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Parameters<'a> {
    #[serde(borrow)]
    api_group: Option<Text<'a>>,
    #[serde(borrow)]
    kind: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
}

/// NetworkPolicies, in the sidebar under Network.
pub const NETWORK_POLICIES: Kind = Kind {
    resource: networking("networkpolicies", "NetworkPolicy", true),
    name: "networkpolicies",
    short_names: &["netpol"],
    heading: "Network",
    title: "NetworkPolicies",
    columns: &columns(&NETWORK_POLICY),
    decode: Decode(&|text| read(text, &NETWORK_POLICY)),
};

const NETWORK_POLICY: [Printed; 2] = [
    words("POD-SELECTOR", &["spec podSelector"], |fields| {
        fields.structure::<LabelSelector<'_>>(0).map(|found| selector::cell(Some(&found)))
    }),
    AGE,
];

/// ServiceCIDRs, in the sidebar under Network.
pub const SERVICE_CIDRS: Kind = Kind {
    resource: networking("servicecidrs", "ServiceCIDR", false),
    name: "servicecidrs",
    short_names: &[],
    heading: "Network",
    title: "ServiceCIDRs",
    columns: &columns(&SERVICE_CIDR),
    decode: Decode(&|text| read(text, &SERVICE_CIDR)),
};

const SERVICE_CIDR: [Printed; 2] = [
    words("CIDRS", &["spec cidrs"], |fields| {
        fields.value::<Vec<Text<'_>>>(0).map(|ranges| join(ranges.iter().map(|range| &**range), ","))
    }),
    AGE,
];

/// IPAddresses, in the sidebar under Network. The server sends an age in each row, but its columns have none, and so
/// kubectl prints none.
pub const IP_ADDRESSES: Kind = Kind {
    resource: networking("ipaddresses", "IPAddress", false),
    name: "ipaddresses",
    short_names: &["ip"],
    heading: "Network",
    title: "IPAddresses",
    columns: &columns(&IP_ADDRESS),
    decode: Decode(&|text| read(text, &IP_ADDRESS)),
};

const IP_ADDRESS: [Printed; 1] = [words("PARENTREF", &["spec parentRef"], |fields| {
    if !fields.is_set(0) {
        return Ok(NONE);
    }
    let parent: Parent<'_> = fields.structure(0)?;
    let mut printed = parent.resource.to_lowercase();
    if !parent.group.is_empty() {
        printed.push('.');
        printed.push_str(&parent.group.to_lowercase());
    }
    if !parent.namespace.is_empty() {
        printed.push('/');
        printed.push_str(&parent.namespace);
    }
    printed.push('/');
    printed.push_str(&parent.name);
    Ok(Cell::Text(printed.into()))
})];

#[derive(Default, Deserialize)]
#[serde(default)]
struct Parent<'a> {
    #[serde(borrow)]
    group: Text<'a>,
    #[serde(borrow)]
    resource: Text<'a>,
    #[serde(borrow)]
    namespace: Text<'a>,
    #[serde(borrow)]
    name: Text<'a>,
}

/// A kind of the group `networking.k8s.io`.
const fn networking(plural: &'static str, kind: &'static str, namespaced: bool) -> ApiResource {
    ApiResource { group: "networking.k8s.io", version: "v1", plural, kind, namespaced }
}
