//! Services: the columns of `printService` (kubernetes `pkg/printers/internalversion/printers.go`).

use std::fmt::Write;

use serde_json::Result;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::Decode;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::sort::sort;
use kubechurn_client::json::Text;

use super::Kind;
use super::parts::{First, Labels, NONE, push_after_comma, text_or};
use super::printed::{AGE, Fields, Printed, columns, read, words};
use crate::state;

/// Services, in the sidebar under Network.
pub const KIND: Kind = Kind {
    resource: ApiResource {
        group: "",
        version: "v1",
        plural: "services",
        kind: "Service",
        namespaced: true,
        cluster: "",
    },
    name: "services",
    short_names: &["svc"],
    heading: "Network",
    title: "Services",
    columns: &columns(&SERVICE),
    decode: Decode(&|text| read(text, &SERVICE)),
};

const SERVICE: [Printed; 6] = [
    words("TYPE", &["spec type"], |fields| fields.words(0).map(|kind| Cell::Text((&*kind).into()))),
    // The first of the addresses. Servers before 1.20 send only one.
    words("CLUSTER-IP", &["spec clusterIPs", "spec clusterIP"], |fields| {
        let one = fields.words(1)?;
        Ok(match fields.value::<First<Text<'_>>>(0)? {
            First(Some(first)) => Cell::Text((&*first).into()),
            First(None) => text_or(&one, "<none>"),
        })
    }),
    words(
        "EXTERNAL-IP",
        &["spec type", "spec externalName", "spec externalIPs", "status loadBalancer ingress"],
        external_ip,
    ),
    words("PORT(S)", &["spec ports"], ports),
    AGE,
    words("SELECTOR", &["spec selector"], |fields| fields.value(0).map(Labels::into_cell)).on_demand(),
];

/// The addresses that a load balancer was given, sorted, with commas between (`loadBalancerStatusStringer`, at full
/// width).
pub(super) fn addresses(fields: &Fields<'_, '_>, at: usize) -> Result<String> {
    let mut addresses = Vec::new();
    fields.each(at, &["ip", "hostname"], &mut |ingress| {
        let [ip, hostname] = [ingress.words(0)?, ingress.words(1)?];
        addresses.extend([ip, hostname].into_iter().find(|address| !address.is_empty()));
        Ok(())
    })?;
    let mut addresses: Vec<&str> = addresses.iter().map(|address| &**address).collect();
    sort(&mut addresses);
    addresses.dedup();
    Ok(addresses.join(","))
}

/// PORT(S): `port:nodePort/protocol` for each port.
fn ports(fields: &Fields<'_, '_>) -> Result<Cell> {
    let mut joined = String::new();
    fields.each(0, &["port", "nodePort", "protocol"], &mut |one| {
        let (port, node_port, protocol) = (one.value::<i64>(0)?, one.value::<i64>(1)?, one.words(2)?);
        if !joined.is_empty() {
            joined.push(',');
        }
        // Writing to a String cannot fail.
        let _ = match node_port {
            ..=0 => write!(joined, "{port}/{}", &*protocol),
            node_port => write!(joined, "{port}:{node_port}/{}", &*protocol),
        };
        Ok(())
    })?;
    Ok(if joined.is_empty() { NONE } else { Cell::Text(joined.into()) })
}

/// EXTERNAL-IP (`getServiceExternalIP`, at full width, as the server's tables have it).
fn external_ip(fields: &Fields<'_, '_>) -> Result<Cell> {
    let [kind, name] = [fields.words(0)?, fields.words(1)?];
    let (external_ips, balancer) = (fields.value::<Vec<Text<'_>>>(2)?, addresses(fields, 3)?);
    let mut joined = String::new();
    match &*kind {
        "ClusterIP" | "NodePort" => {}
        "LoadBalancer" => joined = balancer,
        "ExternalName" => return Ok(Cell::Text((&*name).into())),
        _ => return Ok(Cell::Static("<unknown>")),
    }
    external_ips.iter().for_each(|address| push_after_comma(&mut joined, address));
    Ok(if !joined.is_empty() {
        Cell::Text(joined.into())
    } else if &*kind == "LoadBalancer" {
        Cell::Status("<pending>".into(), state::status("Service", "<pending>"))
    } else {
        NONE
    })
}
