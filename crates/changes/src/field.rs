//! A field that changed, and how it is shown.

use std::fmt;

use smol_str::SmolStr;

use crate::lists;
use crate::part::{self, Part, PartKind};
use crate::paths;
use crate::short_path;
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

impl Field {
    /// What changed, in parts: the path in its short form for an object of this name, and of long values what differs.
    pub fn parts(&self, object: &str) -> Vec<Part> {
        self.parts_of(Some(object))
    }

    /// In parts; without an object's name with the whole path and with whole values.
    pub(crate) fn parts_of(&self, object: Option<&str>) -> Vec<Part> {
        let shown = |path: &str| match object {
            Some(object) => short_path::short(path, object),
            None => paths::shown(path).into(),
        };
        let path = |path: &str| Part::new(shown(path) + " ", PartKind::Path);
        let plain = |text: String| Part::new(text, PartKind::Plain);
        if self.path == paths::DELETION && self.old.is_none() {
            return vec![plain("marked for deletion".into())];
        }
        if self.reordered {
            return vec![path(&self.path), plain("reordered".into())];
        }
        let item = || self.path.strip_suffix(']')?.rsplit_once('[').filter(|(_, name)| !name.starts_with('"'));
        let is_data = self.path.starts_with("data") || self.path.starts_with("binaryData");
        match (&self.old, &self.new) {
            (Some(old), Some(new)) => {
                let [before, after] = match is_data && !(old.shown().1 && new.shown().1) {
                    true => [old.bytes.to_string(), format!("{} bytes", new.bytes)],
                    false => {
                        let mut words = part::words(&self.path, &[Some(old), Some(new)], object.is_some()).into_iter();
                        [(); 2].map(|()| words.next().unwrap_or_default())
                    }
                };
                vec![
                    path(&self.path),
                    Part::new(before, PartKind::Old),
                    Part::new(" → ", PartKind::Arrow),
                    Part::new(after, PartKind::New),
                ]
            }
            (old, new) => {
                let (sign, kind) = if new.is_some() { ("+ ", PartKind::New) } else { ("− ", PartKind::Old) };
                let value = old.as_ref().or(new.as_ref());
                let (of, word) = match (item(), value) {
                    (Some((list @ ("spec.taints" | "spec.tolerations"), name)), _) => (list, taint(name)),
                    (Some((list, name)), Some(value)) if value.kept().starts_with('{') => (list, name.into()),
                    (_, Some(value)) => (&*self.path, value.to_string()),
                    (_, None) => return vec![Part::new(shown(&self.path), PartKind::Path)],
                };
                vec![path(of), plain(sign.into()), Part::new(word, kind)]
            }
        }
    }
}

impl fmt::Display for Field {
    /// `spec.replicas 6 → 4`, `spec.taints + unreachable:NoExecute`.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&part::sentence(&self.parts_of(None)))
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
