//! Storage: the columns of `printPersistentVolumeClaim`, `printPersistentVolume`, `printStorageClass`,
//! `printVolumeAttributesClass`, `printVolumeAttachment`, `printCSIDriver`, `printCSINode` and
//! `printCSIStorageCapacity` (kubernetes `pkg/printers/internalversion/printers.go`).

use serde_json::Result;

use kubechurn_client::api::cell::Cell;
use kubechurn_client::api::object::Decode;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::json::Text;

use super::Kind;
use super::parts::{Count, NONE, Scalar, join, text};
use super::printed::{AGE, Fields, Printed, columns, figures, read, words};
use crate::column::StatePart;
use crate::state;

/// PersistentVolumeClaims, in the sidebar under Storage.
pub const CLAIMS: Kind = Kind {
    resource: ApiResource {
        group: "",
        version: "v1",
        plural: "persistentvolumeclaims",
        kind: "PersistentVolumeClaim",
        namespaced: true,
        cluster: "",
    },
    name: "persistentvolumeclaims",
    short_names: &["pvc"],
    heading: "Storage",
    title: "PersistentVolumeClaims",
    columns: &columns(&CLAIM),
    decode: Decode(&|text| read(text, &CLAIM)),
};

const CLAIM: [Printed; 8] = [
    words("STATUS", &["status phase"], phase).of_state(StatePart::Word),
    words("VOLUME", &["spec volumeName"], |fields| fields.text("")),
    words("CAPACITY", &["spec volumeName", "status capacity storage"], |fields| {
        if fields.value::<Text<'_>>(0)?.is_empty() { Ok(Cell::Static("")) } else { quantity(fields, 1, "0") }
    }),
    words("ACCESS MODES", &["spec volumeName", "status accessModes"], |fields| {
        if fields.value::<Text<'_>>(0)?.is_empty() { Ok(Cell::Static("")) } else { modes(fields, 1) }
    }),
    words("STORAGECLASS", &["spec storageClassName", OLD_CLASS], class),
    words("VOLUMEATTRIBUTESCLASS", &["spec volumeAttributesClassName"], |fields| fields.text("<unset>")),
    AGE,
    words("VOLUMEMODE", &["spec volumeMode"], |fields| fields.text("<unset>")).on_demand(),
];

/// PersistentVolumes, in the sidebar under Storage.
pub const VOLUMES: Kind = Kind {
    resource: ApiResource {
        group: "",
        version: "v1",
        plural: "persistentvolumes",
        kind: "PersistentVolume",
        namespaced: false,
        cluster: "",
    },
    name: "persistentvolumes",
    short_names: &["pv"],
    heading: "Storage",
    title: "PersistentVolumes",
    columns: &columns(&VOLUME),
    decode: Decode(&|text| read(text, &VOLUME)),
};

const VOLUME: [Printed; 10] = [
    words("CAPACITY", &["spec capacity storage"], |fields| quantity(fields, 0, "0")),
    words("ACCESS MODES", &["spec accessModes"], |fields| modes(fields, 0)),
    words("RECLAIM POLICY", &["spec persistentVolumeReclaimPolicy"], |fields| fields.text("")),
    words("STATUS", &["status phase"], phase),
    words("CLAIM", &["spec claimRef", "spec claimRef namespace", "spec claimRef name"], |fields| {
        if !fields.is_set(0) {
            return Ok(Cell::Static(""));
        }
        let [namespace, name]: [Text<'_>; 2] = [fields.value(1)?, fields.value(2)?];
        Ok(Cell::Text([&namespace, "/", &name].concat().into()))
    }),
    words("STORAGECLASS", &["spec storageClassName", OLD_CLASS], class),
    words("VOLUMEATTRIBUTESCLASS", &["spec volumeAttributesClassName"], |fields| fields.text("<unset>")),
    words("REASON", &["status reason"], |fields| fields.text("")),
    AGE,
    words("VOLUMEMODE", &["spec volumeMode"], |fields| fields.text("<unset>")).on_demand(),
];

/// StorageClasses, in the sidebar under Storage. NAME is among the columns, because it also says which class is the
/// default.
pub const STORAGE_CLASSES: Kind = Kind {
    resource: storage("storageclasses", "StorageClass", false),
    name: "storageclasses",
    short_names: &["sc"],
    heading: "Storage",
    title: "StorageClasses",
    columns: &columns(&STORAGE_CLASS),
    decode: Decode(&|text| read(text, &STORAGE_CLASS)),
};

const STORAGE_CLASS: [Printed; 6] = [
    words(
        "NAME",
        &[
            "metadata annotations storageclass.kubernetes.io/is-default-class",
            "metadata annotations storageclass.beta.kubernetes.io/is-default-class",
        ],
        |fields| default_name(fields, 2),
    ),
    words("PROVISIONER", &["provisioner"], |fields| fields.text("")),
    words("RECLAIMPOLICY", &["reclaimPolicy"], |fields| fields.text("Delete")),
    words("VOLUMEBINDINGMODE", &["volumeBindingMode"], |fields| fields.text("Immediate")),
    words("ALLOWVOLUMEEXPANSION", &["allowVolumeExpansion"], |fields| fields.flag(false)),
    AGE,
];

/// VolumeAttributesClasses, in the sidebar under Storage. NAME is among the columns, as for StorageClasses.
pub const ATTRIBUTES_CLASSES: Kind = Kind {
    resource: storage("volumeattributesclasses", "VolumeAttributesClass", false),
    name: "volumeattributesclasses",
    short_names: &["vac"],
    heading: "Storage",
    title: "VolumeAttributesClasses",
    columns: &columns(&ATTRIBUTES_CLASS),
    decode: Decode(&|text| read(text, &ATTRIBUTES_CLASS)),
};

const ATTRIBUTES_CLASS: [Printed; 3] = [
    words("NAME", &["metadata annotations volumeattributesclass.alpha.kubernetes.io/is-default-class"], |fields| {
        default_name(fields, 1)
    }),
    words("DRIVERNAME", &["driverName"], |fields| fields.text("")),
    AGE,
];

/// VolumeAttachments, in the sidebar under Storage.
pub const ATTACHMENTS: Kind = Kind {
    resource: storage("volumeattachments", "VolumeAttachment", false),
    name: "volumeattachments",
    short_names: &[],
    heading: "Storage",
    title: "VolumeAttachments",
    columns: &columns(&ATTACHMENT),
    decode: Decode(&|text| read(text, &ATTACHMENT)),
};

const ATTACHMENT: [Printed; 5] = [
    words("ATTACHER", &["spec attacher"], |fields| fields.text("")),
    words("PV", &["spec source persistentVolumeName"], |fields| fields.text("")),
    words("NODE", &["spec nodeName"], |fields| fields.text("")),
    words("ATTACHED", &["status attached"], |fields| fields.flag(false)),
    AGE,
];

/// CSIDrivers, in the sidebar under Storage.
pub const DRIVERS: Kind = Kind {
    resource: storage("csidrivers", "CSIDriver", false),
    name: "csidrivers",
    short_names: &[],
    heading: "Storage",
    title: "CSIDrivers",
    columns: &columns(&DRIVER),
    decode: Decode(&|text| read(text, &DRIVER)),
};

const DRIVER: [Printed; 7] = [
    words("ATTACHREQUIRED", &["spec attachRequired"], |fields| fields.flag(true)),
    words("PODINFOONMOUNT", &["spec podInfoOnMount"], |fields| fields.flag(false)),
    words("STORAGECAPACITY", &["spec storageCapacity"], |fields| fields.flag(false)),
    words("TOKENREQUESTS", &["spec tokenRequests"], |fields| {
        if !fields.is_set(0) {
            return Ok(Cell::Static("<unset>"));
        }
        let mut audiences = Vec::new();
        fields.each(0, &["audience"], &mut |request| {
            audiences.push(request.words(0)?);
            Ok(())
        })?;
        Ok(join(audiences.iter().map(|audience| &**audience), ","))
    }),
    words("REQUIRESREPUBLISH", &["spec requiresRepublish"], |fields| fields.flag(false)),
    words("MODES", &["spec volumeLifecycleModes"], |fields| {
        let modes: Vec<Text<'_>> = fields.value(0)?;
        if modes.is_empty() { Ok(NONE) } else { Ok(join(modes.iter().map(|mode| &**mode), ",")) }
    }),
    AGE,
];

/// CSINodes, in the sidebar under Storage.
pub const DRIVER_NODES: Kind = Kind {
    resource: storage("csinodes", "CSINode", false),
    name: "csinodes",
    short_names: &[],
    heading: "Storage",
    title: "CSINodes",
    columns: &columns(&DRIVER_NODE),
    decode: Decode(&|text| read(text, &DRIVER_NODE)),
};

const DRIVER_NODE: [Printed; 2] =
    [figures("DRIVERS", &["spec drivers"], |fields| fields.value::<Count>(0).map(|count| Cell::Number(count.0))), AGE];

/// CSIStorageCapacities, in the sidebar under Storage.
pub const CAPACITIES: Kind = Kind {
    resource: storage("csistoragecapacities", "CSIStorageCapacity", true),
    name: "csistoragecapacities",
    short_names: &[],
    heading: "Storage",
    title: "CSIStorageCapacities",
    columns: &columns(&CAPACITY),
    decode: Decode(&|text| read(text, &CAPACITY)),
};

const CAPACITY: [Printed; 2] = [
    words("STORAGECLASSNAME", &["storageClassName"], |fields| fields.text("")),
    words("CAPACITY", &["capacity"], |fields| quantity(fields, 0, "<unset>")),
];

/// A kind of the group `storage.k8s.io`.
const fn storage(plural: &'static str, kind: &'static str, namespaced: bool) -> ApiResource {
    ApiResource { group: "storage.k8s.io", version: "v1", plural, kind, namespaced, cluster: "" }
}

/// Where the class was before there was a field for it. The annotation still goes before the field
/// (`GetPersistentVolumeClass`, kubernetes `pkg/apis/core/helper/helpers.go`).
const OLD_CLASS: &str = "metadata annotations volume.beta.kubernetes.io/storage-class";

fn class(fields: &Fields<'_, '_>) -> Result<Cell> {
    match fields.is_set(1) {
        true => fields.value::<Text<'_>>(1).map(|class| text(&class)),
        false => fields.text(""),
    }
}

/// NAME, marked if the class is the default (`IsDefaultAnnotation`, kubernetes `pkg/apis/storage/util/helpers.go`).
pub(super) fn default_name(fields: &Fields<'_, '_>, annotations: usize) -> Result<Cell> {
    let name = &*fields.meta.name;
    for at in 0..annotations {
        if &*fields.value::<Text<'_>>(at)? == "true" {
            return Ok(Cell::Text([name, " (default)"].concat().into()));
        }
    }
    Ok(text(name))
}

/// STATUS.
fn phase(fields: &Fields<'_, '_>) -> Result<Cell> {
    let phase: Text<'_> = fields.value(0)?;
    let phase = if fields.is_deleting() { "Terminating" } else { &phase };
    Ok(Cell::Status(phase.into(), state::status("PersistentVolumeClaim", phase)))
}

/// A quantity, printed as the server wrote it.
fn quantity(fields: &Fields<'_, '_>, at: usize, otherwise: &'static str) -> Result<Cell> {
    match fields.is_set(at) {
        true => fields.value(at).map(|Scalar(quantity)| Cell::Text(quantity.into())),
        false => Ok(Cell::Static(otherwise)),
    }
}

/// ACCESS MODES: each mode once, in a fixed order (`GetAccessModesAsString`).
fn modes(fields: &Fields<'_, '_>, at: usize) -> Result<Cell> {
    const MODES: [(&str, &str); 4] =
        [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")];
    let modes: Vec<Text<'_>> = fields.value(at)?;
    let has = |name: &str| modes.iter().any(|mode| &**mode == name);
    Ok(join(MODES.iter().filter(|(name, _)| has(name)).map(|(_, short)| short), ","))
}
