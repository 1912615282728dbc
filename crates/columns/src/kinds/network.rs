//! How traffic reaches Pods: the columns of `printEndpointSlice`, `printEndpoints`, `printIngress`,
//! `printIngressClass`, `printNetworkPolicy`, `printServiceCIDR` and `printIPAddress` (kubernetes
//! `pkg/printers/internalversion/printers.go`).

use std::fmt::Write;

use serde_json::Result;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::Decode;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::json::Text;

use super::Kind;
use super::parts::{Count, FirstThree, NONE, join};
use super::printed::{AGE, Fields, Printed, columns, read, words};
use super::selector;
use super::services::addresses;
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
        cluster: "",
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
        let mut ports = FirstThree::default();
        fields.each(0, &["name", "port"], &mut |port| {
            // The port's number; without a number its name; without a name `*`, for all ports.
            match (port.value::<Option<i64>>(1)?, port.is_set(0)) {
                (Some(number), _) => ports.add(&number.to_string()),
                (None, true) => ports.add(&port.words(0)?),
                (None, false) => ports.add("*"),
            }
            Ok(())
        })?;
        Ok(ports.into_cell().unwrap_or(UNSET))
    }),
    words("ENDPOINTS", &["endpoints"], |fields| {
        let mut endpoints = FirstThree::default();
        fields.each(0, &["addresses"], &mut |endpoint| {
            endpoint.value::<Vec<Text<'_>>>(0)?.iter().for_each(|address| endpoints.add(address));
            Ok(())
        })?;
        Ok(endpoints.into_cell().unwrap_or(UNSET))
    }),
    AGE,
];

/// Endpoints, in the sidebar under Network.
pub const ENDPOINTS: Kind = Kind {
    resource: ApiResource {
        group: "",
        version: "v1",
        plural: "endpoints",
        kind: "Endpoints",
        namespaced: true,
        cluster: "",
    },
    name: "endpoints",
    short_names: &["ep"],
    heading: "Network",
    title: "Endpoints",
    columns: &columns(&ENDPOINT),
    decode: Decode(&|text| read(text, &ENDPOINT)),
};

const ENDPOINT: [Printed; 2] = [
    words("ENDPOINTS", &["subsets"], |fields| {
        let (mut endpoints, mut is_empty) = (FirstThree::default(), true);
        fields.each(0, &["addresses", "ports"], &mut |subset| {
            is_empty = false;
            add_subset(&mut endpoints, subset)
        })?;
        Ok(if is_empty { NONE } else { endpoints.into_cell().unwrap_or(Cell::Static("")) })
    }),
    AGE,
];

/// Each address with each port; only the addresses if there are no ports, as headless Services may have none
/// (`formatEndpoints`).
fn add_subset(endpoints: &mut FirstThree, subset: &Fields<'_, '_>) -> Result<()> {
    let (mut addresses, mut ports) = (Vec::new(), Vec::new());
    subset.each(0, &["ip"], &mut |address| {
        addresses.push(address.words(0)?);
        Ok(())
    })?;
    subset.each(1, &["port"], &mut |port| {
        ports.push(port.value::<i64>(0)?);
        Ok(())
    })?;
    if ports.is_empty() {
        addresses.iter().for_each(|ip| endpoints.add(ip));
    }
    for port in ports {
        for ip in &addresses {
            endpoints.add(&if ip.contains(':') { format!("[{}]:{port}", &**ip) } else { format!("{}:{port}", &**ip) });
        }
    }
    Ok(())
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
    words("HOSTS", &["spec rules"], |fields| {
        let mut rules = Vec::new();
        fields.each(0, &["host"], &mut |rule| {
            rules.push(rule.words(0)?);
            Ok(())
        })?;
        Ok(hosts(&rules))
    }),
    words("ADDRESS", &["status loadBalancer ingress"], |fields| {
        addresses(fields, 0).map(|addresses| Cell::Text(addresses.into()))
    }),
    words("PORTS", &["spec tls"], |fields| {
        let Count(certificates) = fields.value(0)?;
        Ok(Cell::Static(if certificates > 0 { "80, 443" } else { "80" }))
    }),
    AGE,
];

/// HOSTS: the first three hosts. The number of further ones counts all rules, also rules without a host
/// (`formatHosts`).
fn hosts(rules: &[Text<'_>]) -> Cell {
    const SHOWN: usize = 3;
    let mut named = rules.iter().enumerate().filter(|(_, host)| !host.is_empty());
    let mut joined = String::new();
    let mut last = 0;
    for (at, (place, host)) in named.by_ref().take(SHOWN).enumerate() {
        if at > 0 {
            joined.push(',');
        }
        joined.push_str(host);
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

const PARAMETERS: Printed = words(
    "PARAMETERS",
    &["spec parameters", "spec parameters kind", "spec parameters apiGroup", "spec parameters name"],
    |fields| {
        if !fields.is_set(0) {
            return Ok(NONE);
        }
        let dot = if fields.is_set(2) { "." } else { "" };
        let [kind, group, name] = [fields.words(1)?, fields.words(2)?, fields.words(3)?];
        Ok(Cell::Text([&*kind, dot, &*group, "/", &*name].concat().into()))
    },
);

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

const NETWORK_POLICY: [Printed; 2] = [words("POD-SELECTOR", &["spec podSelector"], selector::cell), AGE];

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

const IP_ADDRESS: [Printed; 1] = [words(
    "PARENTREF",
    &[
        "spec parentRef",
        "spec parentRef resource",
        "spec parentRef group",
        "spec parentRef namespace",
        "spec parentRef name",
    ],
    |fields| {
        if !fields.is_set(0) {
            return Ok(NONE);
        }
        let [group, namespace] = [fields.words(2)?, fields.words(3)?];
        let mut printed = fields.words(1)?.to_lowercase();
        if !group.is_empty() {
            printed.push('.');
            printed.push_str(&group.to_lowercase());
        }
        if !namespace.is_empty() {
            printed.push('/');
            printed.push_str(&namespace);
        }
        printed.push('/');
        printed.push_str(&fields.words(4)?);
        Ok(Cell::Text(printed.into()))
    },
)];

/// A kind of the group `networking.k8s.io`.
const fn networking(plural: &'static str, kind: &'static str, namespaced: bool) -> ApiResource {
    ApiResource { group: "networking.k8s.io", version: "v1", plural, kind, namespaced, cluster: "" }
}
