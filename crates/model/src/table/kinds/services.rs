//! Services: the columns of `printService` (kubernetes `pkg/printers/internalversion/printers.go`).

use std::fmt::Write;

use serde::Deserialize;

use kubechurn_client::api::cell::{Cell, Tone};
use kubechurn_client::api::object::{Decode, DecodeError, Meta, Object};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort::sort;
use kubechurn_client::api::text::Text;
use kubechurn_client::api::time::Timestamp;

use super::Kind;
use super::parts::{First, Labels, NONE, or_default, parse, push_after_comma, structure, structures, text_or};
use crate::table::column::Column;

/// Services, in the sidebar under Network.
pub const KIND: Kind = Kind {
    resource: ApiResource { group: "", version: "v1", plural: "services", kind: "Service", namespaced: true },
    name: "services",
    short_names: &["svc"],
    heading: "Network",
    title: "Services",
    columns: &[
        Column::words("TYPE"),
        Column::words("CLUSTER-IP"),
        Column::words("EXTERNAL-IP"),
        Column::words("PORT(S)"),
        Column::figures("AGE"),
        Column::words("SELECTOR").on_demand(),
    ],
    decode: Decode(&decode),
};

#[derive(Default, Deserialize)]
#[serde(default)]
struct Service<'a> {
    #[serde(borrow, deserialize_with = "structure")]
    metadata: Meta<'a>,
    #[serde(borrow, deserialize_with = "structure")]
    spec: Spec<'a>,
    #[serde(borrow, deserialize_with = "structure")]
    status: Status<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Spec<'a> {
    #[serde(borrow, rename = "type")]
    kind: Text<'a>,
    #[serde(borrow, rename = "clusterIP")]
    cluster_ip: Text<'a>,
    #[serde(borrow, rename = "clusterIPs")]
    cluster_ips: First<Text<'a>>,
    #[serde(borrow, rename = "externalIPs", deserialize_with = "or_default")]
    external_ips: Vec<Text<'a>>,
    #[serde(borrow)]
    external_name: Text<'a>,
    #[serde(borrow, deserialize_with = "structures")]
    ports: Vec<Port<'a>>,
    #[serde(borrow)]
    selector: Labels<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Port<'a> {
    #[serde(deserialize_with = "or_default")]
    port: i64,
    #[serde(deserialize_with = "or_default")]
    node_port: i64,
    #[serde(borrow)]
    protocol: Text<'a>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Status<'a> {
    #[serde(borrow, deserialize_with = "structure")]
    load_balancer: LoadBalancer<'a>,
}

/// The addresses that a load balancer was given.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct LoadBalancer<'a> {
    #[serde(borrow, deserialize_with = "structures")]
    ingress: Vec<Ingress<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Ingress<'a> {
    #[serde(borrow)]
    ip: Text<'a>,
    #[serde(borrow)]
    hostname: Text<'a>,
}

impl Ingress<'_> {
    fn address(&self) -> &str {
        if self.ip.is_empty() { &self.hostname } else { &self.ip }
    }
}

impl LoadBalancer<'_> {
    /// The addresses, sorted, with commas between (`loadBalancerStatusStringer`, at full width).
    pub(super) fn addresses(&self) -> String {
        let mut addresses: Vec<&str> =
            self.ingress.iter().map(Ingress::address).filter(|address| !address.is_empty()).collect();
        sort(&mut addresses);
        addresses.dedup();
        addresses.join(",")
    }
}

impl Spec<'_> {
    /// CLUSTER-IP: the first of the addresses. Servers before 1.20 send only one.
    fn cluster_ip(&self) -> Cell {
        match &self.cluster_ips.0 {
            Some(first) => Cell::Text((&**first).into()),
            None => text_or(&self.cluster_ip, "<none>"),
        }
    }

    /// PORT(S): `port:nodePort/protocol` for each port.
    fn ports(&self) -> Cell {
        let mut joined = String::new();
        for Port { port, node_port, protocol } in &self.ports {
            if !joined.is_empty() {
                joined.push(',');
            }
            // Writing to a String cannot fail.
            let _ = match *node_port {
                ..=0 => write!(joined, "{port}/{}", &**protocol),
                node_port => write!(joined, "{port}:{node_port}/{}", &**protocol),
            };
        }
        if joined.is_empty() { NONE } else { Cell::Text(joined.into()) }
    }
}

/// EXTERNAL-IP (`getServiceExternalIP`, at full width, as the server's tables have it).
fn external_ip(spec: &Spec<'_>, balancer: &LoadBalancer<'_>) -> Cell {
    let mut joined = String::new();
    match &*spec.kind {
        "ClusterIP" | "NodePort" => {}
        "LoadBalancer" => joined = balancer.addresses(),
        "ExternalName" => return Cell::Text((&*spec.external_name).into()),
        _ => return Cell::Static("<unknown>"),
    }
    spec.external_ips.iter().for_each(|address| push_after_comma(&mut joined, address));
    if !joined.is_empty() {
        Cell::Text(joined.into())
    } else if &*spec.kind == "LoadBalancer" {
        Cell::Status("<pending>".into(), Tone::Wait)
    } else {
        NONE
    }
}

/// Reads a Service.
///
/// # Errors
///
/// When the text is not a Service's or has no name.
pub fn decode(text: &str) -> Result<Object, DecodeError> {
    let Service { metadata, spec, status } = parse(text)?;
    let cells = [
        Cell::Text((&*spec.kind).into()),
        spec.cluster_ip(),
        external_ip(&spec, &status.load_balancer),
        spec.ports(),
        Cell::Age(Timestamp::parse_set(&metadata.creation_timestamp)),
        spec.selector.into_cell(),
    ];
    metadata.into_object(&cells).ok_or(DecodeError::NoName)
}
