//! A field that changed, and how it is told.

use std::fmt;

use smol_str::SmolStr;

use crate::lists;
use crate::telling;
use crate::value::Value;
use kubechurn_client::json;

/// A field that changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// The path. `STATUS` of a Pod stands for what several fields say together, as the table's column does.
    pub path: SmolStr,
    /// The value before; `None` if the field is new.
    pub old: Option<Value>,
    /// The value now; `None` if the field is gone.
    pub new: Option<Value>,
    /// Whether the items are the same as before, in another order.
    pub reordered: bool,
}

impl fmt::Display for Field {
    /// `spec.replicas 6 → 4`, `spec.taints + unreachable:NoExecute`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.path == telling::DELETION && self.old.is_none() {
            return formatter.write_str("marked for deletion");
        }
        let path = telling::shown(&self.path);
        let item = || self.path.strip_suffix(']')?.rsplit_once('[').filter(|(_, name)| !name.starts_with('"'));
        let is_data = self.path.starts_with("data") || self.path.starts_with("binaryData");
        match (&self.old, &self.new) {
            _ if self.reordered => write!(formatter, "{path} reordered"),
            (Some(old), Some(new)) if is_data && !(old.shown().1 && new.shown().1) => {
                write!(formatter, "{path} {} → {} bytes", old.bytes, new.bytes)
            }
            (Some(old), Some(new)) => write!(formatter, "{path} {old} → {new}"),
            (old, new) => {
                let sign = if new.is_some() { '+' } else { '−' };
                let value = old.as_ref().or(new.as_ref());
                match (item(), value) {
                    (Some((list @ ("spec.taints" | "spec.tolerations"), name)), _) => {
                        write!(formatter, "{list} {sign} {}", taint(name))
                    }
                    (Some((list, name)), Some(value)) if value.kept().starts_with('{') => {
                        write!(formatter, "{list} {sign} {name}")
                    }
                    (_, Some(value)) => write!(formatter, "{path} {sign} {value}"),
                    (_, None) => formatter.write_str(path),
                }
            }
        }
    }
}

/// A whole list of taints, as people write them.
pub(crate) fn taints(json: &str) -> Value {
    let items = json::items(json).unwrap_or_default();
    match lists::names("taints", &[], &items) {
        Some((_, names)) => Value::plain(&names.iter().map(|name| taint(name)).collect::<Vec<_>>().join(", ")),
        None => Value::new(json),
    }
}

/// A taint as people write it: `unreachable:NoExecute` for `node.kubernetes.io/unreachable/NoExecute`.
fn taint(name: &str) -> String {
    match name.rsplit_once('/') {
        Some((key, effect)) if effect.starts_with(|letter: char| letter.is_ascii_uppercase()) => {
            format!("{}:{effect}", key.rsplit('/').next().unwrap_or(key))
        }
        _ => name.into(),
    }
}
