//! Reads the protobuf that `kubectl create` and `kubectl drain` send: their typed clients use protobuf, and do not fall
//! back to JSON. The tables here cover the kinds that they send, with the fields that their flags can set
//! (`generated.proto` in kubernetes/api). A field beyond these is refused, so that it is not lost silently.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

/// The first bytes of a body in Kubernetes' envelope.
pub const MAGIC: &[u8] = b"k8s\0";

/// A field of a message: its number, its name in JSON and its type.
struct Field(u64, &'static str, Type);

/// The type of a field.
#[derive(Clone, Copy)]
enum Type {
    Text,
    Texts,
    Number,
    Flag,
    One(&'static [Field]),
    Many(&'static [Field]),
    /// A map from strings to strings.
    Texted,
    /// A map from strings to bytes.
    Bytesed,
    /// A number or a string.
    Either,
    /// A field that only the server sets, so its contents do not matter.
    Ignored,
}

use Type::{Bytesed, Either, Flag, Ignored, Many, Number, One, Text, Texted, Texts};

/// Numbers and flags that are not pointers in Go: protobuf contains them even if they were not set, and JSON omits them
/// when they are zero (`omitempty`).
const OMITTED: [&str; 10] = [
    "generation",
    "globalDefault",
    "hostNetwork",
    "hostPort",
    "minReadySeconds",
    "nodePort",
    "paused",
    "stdin",
    "stdinOnce",
    "tty",
];

/// The fields of each kind, by apiVersion and kind.
const KINDS: &[(&str, &str, &[Field])] = &[
    (
        "v1",
        "ConfigMap",
        &[META, Field(2, "data", Texted), Field(3, "binaryData", Bytesed), Field(4, "immutable", Flag)],
    ),
    (
        "v1",
        "DeleteOptions",
        &[
            Field(1, "gracePeriodSeconds", Number),
            Field(2, "preconditions", One(&[Field(1, "uid", Text), Field(2, "resourceVersion", Text)])),
            Field(3, "orphanDependents", Flag),
            Field(4, "propagationPolicy", Text),
            Field(5, "dryRun", Texts),
        ],
    ),
    ("v1", "Namespace", &[META, Field(2, "spec", One(&[Field(1, "finalizers", Texts)])), STATUS]),
    ("v1", "Pod", &[META, Field(2, "spec", One(POD_SPEC)), STATUS]),
    (
        "v1",
        "Secret",
        &[
            META,
            Field(2, "data", Bytesed),
            Field(3, "type", Text),
            Field(4, "stringData", Texted),
            Field(5, "immutable", Flag),
        ],
    ),
    ("v1", "Service", &[META, Field(2, "spec", One(SERVICE_SPEC)), STATUS]),
    (
        "v1",
        "ServiceAccount",
        &[META, Field(3, "imagePullSecrets", Many(NAME)), Field(4, "automountServiceAccountToken", Flag)],
    ),
    ("apps/v1", "Deployment", &[META, Field(2, "spec", One(DEPLOYMENT_SPEC)), STATUS]),
    ("batch/v1", "Job", &[META, Field(2, "spec", One(JOB_SPEC)), STATUS]),
    ("batch/v1", "CronJob", &[META, Field(2, "spec", One(CRON_JOB_SPEC)), STATUS]),
    ("policy/v1", "PodDisruptionBudget", &[META, Field(2, "spec", One(BUDGET_SPEC)), STATUS]),
    ("rbac.authorization.k8s.io/v1", "Role", &[META, Field(2, "rules", Many(RULE))]),
    ("rbac.authorization.k8s.io/v1", "ClusterRole", &[META, Field(2, "rules", Many(RULE))]),
    (
        "rbac.authorization.k8s.io/v1",
        "RoleBinding",
        &[META, Field(2, "subjects", Many(SUBJECT)), Field(3, "roleRef", One(ROLE_REF))],
    ),
    (
        "rbac.authorization.k8s.io/v1",
        "ClusterRoleBinding",
        &[META, Field(2, "subjects", Many(SUBJECT)), Field(3, "roleRef", One(ROLE_REF))],
    ),
    (
        "scheduling.k8s.io/v1",
        "PriorityClass",
        &[
            META,
            Field(2, "value", Number),
            Field(3, "globalDefault", Flag),
            Field(4, "description", Text),
            Field(5, "preemptionPolicy", Text),
        ],
    ),
];

const META: Field = Field(1, "metadata", One(OBJECT_META));
const STATUS: Field = Field(3, "status", Ignored);

const OBJECT_META: &[Field] = &[
    Field(1, "name", Text),
    Field(2, "generateName", Text),
    Field(3, "namespace", Text),
    Field(5, "uid", Text),
    Field(6, "resourceVersion", Text),
    Field(7, "generation", Number),
    Field(8, "creationTimestamp", Ignored),
    Field(11, "labels", Texted),
    Field(12, "annotations", Texted),
    Field(
        13,
        "ownerReferences",
        Many(&[
            Field(1, "kind", Text),
            Field(3, "name", Text),
            Field(4, "uid", Text),
            Field(5, "apiVersion", Text),
            Field(6, "controller", Flag),
            Field(7, "blockOwnerDeletion", Flag),
        ]),
    ),
    Field(14, "finalizers", Texts),
    Field(17, "managedFields", Ignored),
];

const NAME: &[Field] = &[Field(1, "name", Text)];

const SELECTOR: &[Field] = &[
    Field(1, "matchLabels", Texted),
    Field(2, "matchExpressions", Many(&[Field(1, "key", Text), Field(2, "operator", Text), Field(3, "values", Texts)])),
];

const TEMPLATE: &[Field] = &[META, Field(2, "spec", One(POD_SPEC))];

const POD_SPEC: &[Field] = &[
    Field(2, "containers", Many(CONTAINER)),
    Field(3, "restartPolicy", Text),
    Field(4, "terminationGracePeriodSeconds", Number),
    Field(5, "activeDeadlineSeconds", Number),
    Field(6, "dnsPolicy", Text),
    Field(7, "nodeSelector", Texted),
    Field(8, "serviceAccountName", Text),
    Field(9, "serviceAccount", Text),
    Field(10, "nodeName", Text),
    Field(11, "hostNetwork", Flag),
    Field(15, "imagePullSecrets", Many(NAME)),
    Field(19, "schedulerName", Text),
    Field(20, "initContainers", Many(CONTAINER)),
];

const CONTAINER: &[Field] = &[
    Field(1, "name", Text),
    Field(2, "image", Text),
    Field(3, "command", Texts),
    Field(4, "args", Texts),
    Field(5, "workingDir", Text),
    Field(
        6,
        "ports",
        Many(&[
            Field(1, "name", Text),
            Field(2, "hostPort", Number),
            Field(3, "containerPort", Number),
            Field(4, "protocol", Text),
        ]),
    ),
    Field(7, "env", Many(&[Field(1, "name", Text), Field(2, "value", Text)])),
    Field(13, "terminationMessagePath", Text),
    Field(14, "imagePullPolicy", Text),
    Field(16, "stdin", Flag),
    Field(17, "stdinOnce", Flag),
    Field(18, "tty", Flag),
    Field(20, "terminationMessagePolicy", Text),
];

const SERVICE_SPEC: &[Field] = &[
    Field(
        1,
        "ports",
        Many(&[
            Field(1, "name", Text),
            Field(2, "protocol", Text),
            Field(3, "port", Number),
            Field(4, "targetPort", Either),
            Field(5, "nodePort", Number),
        ]),
    ),
    Field(2, "selector", Texted),
    Field(3, "clusterIP", Text),
    Field(4, "type", Text),
    Field(5, "externalIPs", Texts),
    Field(7, "sessionAffinity", Text),
    Field(10, "externalName", Text),
];

const DEPLOYMENT_SPEC: &[Field] = &[
    Field(1, "replicas", Number),
    Field(2, "selector", One(SELECTOR)),
    Field(3, "template", One(TEMPLATE)),
    Field(
        4,
        "strategy",
        One(&[
            Field(1, "type", Text),
            Field(2, "rollingUpdate", One(&[Field(1, "maxUnavailable", Either), Field(2, "maxSurge", Either)])),
        ]),
    ),
    Field(5, "minReadySeconds", Number),
    Field(6, "revisionHistoryLimit", Number),
    Field(7, "paused", Flag),
    Field(9, "progressDeadlineSeconds", Number),
];

const JOB_SPEC: &[Field] = &[
    Field(1, "parallelism", Number),
    Field(2, "completions", Number),
    Field(3, "activeDeadlineSeconds", Number),
    Field(4, "selector", One(SELECTOR)),
    Field(5, "manualSelector", Flag),
    Field(6, "template", One(TEMPLATE)),
    Field(7, "backoffLimit", Number),
    Field(8, "ttlSecondsAfterFinished", Number),
    Field(9, "completionMode", Text),
    Field(10, "suspend", Flag),
];

const CRON_JOB_SPEC: &[Field] = &[
    Field(1, "schedule", Text),
    Field(2, "startingDeadlineSeconds", Number),
    Field(3, "concurrencyPolicy", Text),
    Field(4, "suspend", Flag),
    Field(5, "jobTemplate", One(&[META, Field(2, "spec", One(JOB_SPEC))])),
    Field(6, "successfulJobsHistoryLimit", Number),
    Field(7, "failedJobsHistoryLimit", Number),
    Field(8, "timeZone", Text),
];

const BUDGET_SPEC: &[Field] =
    &[Field(1, "minAvailable", Either), Field(2, "selector", One(SELECTOR)), Field(3, "maxUnavailable", Either)];

const RULE: &[Field] = &[
    Field(1, "verbs", Texts),
    Field(2, "apiGroups", Texts),
    Field(3, "resources", Texts),
    Field(4, "resourceNames", Texts),
    Field(5, "nonResourceURLs", Texts),
];

const SUBJECT: &[Field] =
    &[Field(1, "kind", Text), Field(2, "apiGroup", Text), Field(3, "name", Text), Field(4, "namespace", Text)];

const ROLE_REF: &[Field] = &[Field(1, "apiGroup", Text), Field(2, "kind", Text), Field(3, "name", Text)];

/// Why a body cannot be read.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum ProtobufError {
    /// The body is cut off, or is not protobuf.
    #[error("the protobuf of the request's body is broken")]
    Broken,
    /// The kind is not known here.
    #[error("this server reads {0} as JSON only")]
    UnknownKind(String),
    /// A field is not known here.
    #[error("this server reads field {0} of the protobuf message as JSON only")]
    UnknownField(u64),
}

/// Parses a body in Kubernetes' envelope into the equivalent JSON.
pub fn parse(body: &[u8]) -> Result<Value, ProtobufError> {
    let mut envelope = body.strip_prefix(MAGIC).ok_or(ProtobufError::Broken)?;
    let (mut api_version, mut kind, mut raw) = (String::new(), String::new(), &[][..]);
    while let Some((number, value)) = next(&mut envelope)? {
        match (number, value) {
            (1, Wire::Bytes(mut names)) => {
                while let Some((number, value)) = next(&mut names)? {
                    match number {
                        1 => api_version = value.text()?,
                        2 => kind = value.text()?,
                        _ => {}
                    }
                }
            }
            (2, Wire::Bytes(bytes)) => raw = bytes,
            _ => {}
        }
    }
    let known = KINDS.iter().find(|(version, name, _)| *version == api_version && *name == kind);
    let (_, _, fields) = known.ok_or_else(|| ProtobufError::UnknownKind(format!("{api_version} {kind}")))?;
    let mut object = message(raw, fields)?;
    object.insert("apiVersion".to_owned(), api_version.into());
    object.insert("kind".to_owned(), kind.into());
    Ok(object.into())
}

/// A field's value as it stands on the wire.
enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

impl<'a> Wire<'a> {
    fn bytes(self) -> Result<&'a [u8], ProtobufError> {
        if let Self::Bytes(bytes) = self { Ok(bytes) } else { Err(ProtobufError::Broken) }
    }

    fn text(self) -> Result<String, ProtobufError> {
        String::from_utf8(self.bytes()?.to_vec()).map_err(|_| ProtobufError::Broken)
    }

    fn number(self) -> Result<u64, ProtobufError> {
        if let Self::Number(number) = self { Ok(number) } else { Err(ProtobufError::Broken) }
    }
}

/// Takes the next field off a message.
fn next<'a>(message: &mut &'a [u8]) -> Result<Option<(u64, Wire<'a>)>, ProtobufError> {
    if message.is_empty() {
        return Ok(None);
    }
    let tag = varint(message)?;
    let value = match tag & 7 {
        0 => Wire::Number(varint(message)?),
        2 => {
            let length = usize::try_from(varint(message)?).map_err(|_| ProtobufError::Broken)?;
            let (bytes, rest) = message.split_at_checked(length).ok_or(ProtobufError::Broken)?;
            *message = rest;
            Wire::Bytes(bytes)
        }
        // None of the messages has floating-point fields.
        _ => return Err(ProtobufError::Broken),
    };
    Ok(Some((tag >> 3, value)))
}

fn varint(message: &mut &[u8]) -> Result<u64, ProtobufError> {
    let mut number = 0;
    for place in 0..10 {
        let (byte, rest) = message.split_first().ok_or(ProtobufError::Broken)?;
        *message = rest;
        number |= u64::from(byte & 0x7f) << (7 * place);
        if byte & 0x80 == 0 {
            return Ok(number);
        }
    }
    Err(ProtobufError::Broken)
}

/// Parses a message. The recursion is no deeper than the tables above.
fn message(mut bytes: &[u8], fields: &[Field]) -> Result<Map<String, Value>, ProtobufError> {
    let mut object = Map::new();
    while let Some((number, value)) = next(&mut bytes)? {
        let Some(Field(_, name, holds)) = fields.iter().find(|field| field.0 == number) else {
            // Go writes members that are not pointers even if they are empty.
            match value {
                Wire::Bytes([]) | Wire::Number(0) => continue,
                _ => return Err(ProtobufError::UnknownField(number)),
            }
        };
        let mut push = |value: Value| match object.entry(*name).or_insert_with(|| json!([])) {
            Value::Array(all) => all.push(value),
            other => *other = value,
        };
        let one = match holds {
            Ignored => continue,
            Texts => {
                push(value.text()?.into());
                continue;
            }
            Many(fields) => {
                push(message(value.bytes()?, fields)?.into());
                continue;
            }
            Texted | Bytesed => {
                let (key, value) = entry(value.bytes()?, matches!(holds, Bytesed))?;
                if let Value::Object(all) = object.entry(*name).or_insert_with(|| json!({})) {
                    all.insert(key, value.into());
                }
                continue;
            }
            // Go writes an empty string for an absent one.
            Text => match value.text()? {
                empty if empty.is_empty() => continue,
                text => text.into(),
            },
            Number | Flag => match value.number()? {
                0 if OMITTED.contains(name) => continue,
                number if matches!(holds, Flag) => (number != 0).into(),
                number => (number as i64).into(),
            },
            One(fields) => message(value.bytes()?, fields)?.into(),
            Either => either(value.bytes()?)?,
        };
        object.insert((*name).to_owned(), one);
    }
    Ok(object)
}

fn entry(mut bytes: &[u8], encode: bool) -> Result<(String, String), ProtobufError> {
    let (mut key, mut text) = (String::new(), String::new());
    while let Some((number, value)) = next(&mut bytes)? {
        match number {
            1 => key = value.text()?,
            2 if encode => text = STANDARD.encode(value.bytes()?),
            2 => text = value.text()?,
            _ => {}
        }
    }
    Ok((key, text))
}

fn either(mut bytes: &[u8]) -> Result<Value, ProtobufError> {
    let (mut is_text, mut number_value, mut text) = (false, 0, String::new());
    while let Some((number, value)) = next(&mut bytes)? {
        match number {
            1 => is_text = value.number()? == 1,
            2 => number_value = value.number()? as i64,
            3 => text = value.text()?,
            _ => {}
        }
    }
    Ok(if is_text { text.into() } else { number_value.into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodes a field that holds bytes.
    fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, bytes.len() as u8], bytes].concat()
    }

    fn envelope(api_version: &str, kind: &str, raw: &[u8]) -> Vec<u8> {
        let names = [field(1, api_version.as_bytes()), field(2, kind.as_bytes())].concat();
        [MAGIC.to_vec(), field(1, &names), field(2, raw), field(3, b""), field(4, b"")].concat()
    }

    #[test]
    fn messages_become_json() {
        let meta = field(1, &[field(1, b"one"), field(2, b""), field(8, b"")].concat());
        let data = |key: &[u8], value: &[u8]| field(2, &[field(1, key), field(2, value)].concat());
        let secret = [meta.clone(), data(b"a", b"foo"), data(b"b", b""), field(3, b"Opaque")].concat();
        let expected = json!({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "one"},
            "data": {"a": "Zm9v", "b": ""}, "type": "Opaque"});
        assert_eq!(parse(&envelope("v1", "Secret", &secret)), Ok(expected));
        let port = [&[0x18, 80, 0x28, 0][..], &field(4, &[8, 1, 0x10, 0, 0x1a, 1, b'x'])].concat();
        let service = [meta, field(2, &field(1, &port)), field(3, b"")].concat();
        let service = parse(&envelope("v1", "Service", &service)).unwrap();
        assert_eq!(service["spec"], json!({"ports": [{"port": 80, "targetPort": "x"}]}));
    }

    #[test]
    fn what_cannot_be_read_is_refused() {
        let kind = ProtobufError::UnknownKind("v1 Node".to_owned());
        assert_eq!(parse(&envelope("v1", "Node", b"")), Err(kind));
        assert_eq!(parse(&envelope("v1", "ConfigMap", &field(9, b"x"))), Err(ProtobufError::UnknownField(9)));
        let (raw, whole) = (field(1, &field(1, b"one")), |raw: &[u8]| envelope("v1", "ConfigMap", raw));
        assert!(parse(&whole(&raw)).is_ok());
        for length in 1..raw.len() {
            assert_eq!(parse(&whole(&raw[..length])), Err(ProtobufError::Broken), "{length}");
        }
        for broken in
            [&b"k8s\0\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"[..], b"k8s\0\x12\x7f", b"k8s\0\x0d\0\0\0\0"]
        {
            assert_eq!(parse(broken), Err(ProtobufError::Broken));
        }
    }
}
