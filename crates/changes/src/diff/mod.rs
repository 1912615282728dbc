//! The fields in which two versions of an object differ, found in their texts.
//!
//! Both texts are walked side by side, and only where their bytes differ the walk goes down: of everything else it reads in one
//! of them where it ends. It builds no values. Feed, detectors and inspector name the changed fields by this comparison.

use std::borrow::Cow;

use smallvec::SmallVec;
use smol_str::{SmolStr, format_smolstr};

use kubechurn_client::json::{self, Members, Pair};

use crate::lists::{self, Places};

/// The most changes that are kept. The rest is counted.
pub const MOST: usize = 200;
/// How deep the walk goes. What differs below is one change at that depth.
pub const DEEPEST: usize = 40;
/// The longest path, in bytes. A longer one is cut, and ends in an ellipsis.
pub const LONGEST_PATH: usize = 500;

/// The name of a field that is compared as a whole, because nobody reads what is in it.
const WHOLE: &str = "managedFields";

/// A field that differs. The values are slices of the texts, as JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FieldChange<'a> {
    /// The path, such as `spec.template.spec.containers[web].image`.
    pub path: SmolStr,
    /// The value before; `None` if the field is new.
    pub old: Option<&'a str>,
    /// The value now; `None` if the field is gone.
    pub new: Option<&'a str>,
    /// Whether the items of this list are the same as before, and only in another order. The order of an object's members
    /// says nothing, and is no change.
    pub reordered: bool,
}

/// The differences between two texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diff<'a> {
    /// The first changes, in the order of the new text; what is gone from an object or a list comes before the rest.
    pub changes: Vec<FieldChange<'a>>,
    /// How many more there are.
    pub more: usize,
}

impl Diff<'_> {
    /// How many fields differ.
    pub fn len(&self) -> usize {
        self.changes.len() + self.more
    }

    /// Whether nothing differs.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A text has no structure that can be followed, or an object in it has two members of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotReadable;

impl std::fmt::Display for NotReadable {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("not readable")
    }
}

impl std::error::Error for NotReadable {}

/// Compares two versions of an object. Each text is one JSON value, with any space between its parts and with its
/// members in any order. Two spellings of one number are different (`1.0` is not `1`), two spellings of one string are
/// not.
///
/// # Errors
///
/// Where the texts differ and one of them cannot be followed. What is the same in both is not checked.
pub fn diff<'a>(old: &'a str, new: &'a str) -> Result<Diff<'a>, NotReadable> {
    diff_field("", old, new)
}

/// Compares two values of a field, with paths that begin at the field. Its name decides by which keys the items of a list are
/// matched.
///
/// # Errors
///
/// As for [`diff`].
pub fn diff_field<'a>(name: &str, old: &'a str, new: &'a str) -> Result<Diff<'a>, NotReadable> {
    let (old, new) = (old.trim_ascii(), new.trim_ascii());
    if old == new {
        return Ok(Diff::default());
    }
    // Two objects or two lists are followed by the walk itself.
    let is_followed = |first| old.starts_with(first) && new.starts_with(first);
    if !is_followed('{') && !is_followed('[') && !(json::is_value(old) && json::is_value(new)) {
        return Err(NotReadable);
    }
    let mut walk = Walk { path: String::with_capacity(100), depth: 0, diff: Diff::default() };
    walk.compare(name, old, new).ok_or(NotReadable)?;
    Ok(walk.diff)
}

struct Walk<'a> {
    path: String,
    depth: usize,
    diff: Diff<'a>,
}

impl<'a> Walk<'a> {
    fn add(&mut self, old: Option<&'a str>, new: Option<&'a str>, reordered: bool) {
        if self.diff.changes.len() >= MOST {
            self.diff.more += 1;
            return;
        }
        let path = if self.path.len() > LONGEST_PATH {
            format_smolstr!("{}…", &self.path[..self.path.floor_char_boundary(LONGEST_PATH)])
        } else {
            SmolStr::new(&self.path)
        };
        self.diff.changes.push(FieldChange { path, old, new, reordered });
    }

    /// Compares the values of a field, whose bytes differ. `None` if one cannot be followed.
    fn compare(&mut self, field: &str, old: &'a str, new: &'a str) -> Option<()> {
        let is_deep = self.depth >= DEEPEST || field == WHOLE;
        match (old.as_bytes().first()?, new.as_bytes().first()?) {
            (b'{', b'{') if !is_deep => {
                let mut pair = Pair::new(old, new);
                self.objects(&mut pair)?;
                (pair.old.is_at_end() && pair.new.is_at_end()).then_some(())
            }
            (b'[', b'[') if !is_deep => self.compare_lists(field, old, new),
            (b'"', b'"')
                if (old.contains('\\') || new.contains('\\')) && json::unescaped(old) == json::unescaped(new) =>
            {
                Some(())
            }
            _ => {
                self.add(Some(old), Some(new), false);
                Some(())
            }
        }
    }

    /// Compares the values of a field, or of an item of a field's list.
    fn one(&mut self, field: &str, old: Option<&'a str>, new: Option<&'a str>) -> Option<()> {
        match (old, new) {
            (Some(old), Some(new)) if old == new => Some(()),
            (Some(old), Some(new)) => {
                self.depth += 1;
                let compared = self.compare(field, old, new);
                self.depth -= 1;
                compared
            }
            _ => {
                self.add(old, new, false);
                Some(())
            }
        }
    }

    fn member(&mut self, name: &str, old: Option<&'a str>, new: Option<&'a str>) -> Option<()> {
        if old == new {
            return Some(());
        }
        let length = self.path.len();
        lists::push_member(&mut self.path, name);
        let compared = self.one(name, old, new);
        self.path.truncate(length);
        compared
    }

    /// Goes over the two objects that come next, and compares them.
    fn objects(&mut self, pair: &mut Pair<'a>) -> Option<()> {
        let start = *pair;
        let (kept, more) = (self.diff.changes.len(), self.diff.more);
        if self.side_by_side(pair)? {
            return Some(());
        }
        *pair = start;
        self.diff.changes.truncate(kept);
        self.diff.more = more;
        self.by_name(&pair.old.members()?, &pair.new.members()?)
    }

    /// Compares two objects member by member. `Some(false)` if their members have other names or another order.
    fn side_by_side(&mut self, pair: &mut Pair<'a>) -> Option<bool> {
        let mut names: SmallVec<[&str; 12]> = SmallVec::new();
        pair.old.pass(b'{')?;
        pair.new.pass(b'{')?;
        loop {
            let is_first = names.is_empty();
            let (old, new) = (pair.old.name(is_first)?, pair.new.name(is_first)?);
            let name = match (old, new) {
                (None, None) => break,
                (Some(Cow::Borrowed(old)), Some(Cow::Borrowed(new))) if old == new => new,
                // Names with escapes are seldom.
                _ => return Some(false),
            };
            if !pair.skip_same() {
                let length = self.path.len();
                lists::push_member(&mut self.path, name);
                let compared = self.values(name, pair);
                self.path.truncate(length);
                compared?;
            }
            names.push(name);
        }
        pair.old.pass(b'}')?;
        pair.new.pass(b'}')?;
        lists::are_different(&names).then_some(true)
    }

    /// Goes over the two values of a field that come next, and compares them.
    fn values(&mut self, field: &str, pair: &mut Pair<'a>) -> Option<()> {
        let are_objects = pair.old.first() == b'{' && pair.new.first() == b'{';
        if !are_objects || self.depth + 1 >= DEEPEST || field == WHOLE {
            return self.one(field, Some(pair.old.skimmed()?), Some(pair.new.skimmed()?));
        }
        self.depth += 1;
        let compared = self.objects(pair);
        self.depth -= 1;
        compared
    }

    fn by_name(&mut self, old: &Members<'a>, new: &Members<'a>) -> Option<()> {
        fn names<'m>(members: &'m Members<'_>) -> SmallVec<[&'m str; 12]> {
            members.iter().map(|member| &*member.name).collect()
        }
        let (before, now) = (names(old), names(new));
        let (mut places_before, mut places_now) = (Places::of(&before)?, Places::of(&now)?);
        for member in old {
            if places_now.find(&member.name).is_none() {
                self.member(&member.name, Some(member.value), None)?;
            }
        }
        for member in new {
            let was = places_before.find(&member.name).map(|at| old[at].value);
            self.member(&member.name, was, Some(member.value))?;
        }
        Some(())
    }

    fn compare_lists(&mut self, field: &str, old: &'a str, new: &'a str) -> Option<()> {
        let (whole_old, whole_new) = (old, new);
        let old = json::items(old)?;
        let new = json::items(new)?;
        let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
        let rest = (&old[start..], &new[start..]);
        let end = rest.0.iter().rev().zip(rest.1.iter().rev()).take_while(|(old, new)| old == new).count();
        let (range_old, range_new) = (start..old.len() - end, start..new.len() - end);
        if range_old.is_empty() && range_new.is_empty() {
            return Some(());
        }
        // Also what did not change may have the name of an item that did.
        let named = lists::names(field, &old, &new);
        let (old, new): (&[&'a str], &[&'a str]) = (&old[range_old.clone()], &new[range_new.clone()]);
        let Some((before, after)) = named else {
            for at in 0..old.len().max(new.len()) {
                let length = self.path.len();
                lists::push_item(&mut self.path, &(start + at).to_string());
                let compared = self.one(field, old.get(at).copied(), new.get(at).copied());
                self.path.truncate(length);
                compared?;
            }
            return Some(());
        };
        let (before, after) = (&before[range_old], &after[range_new]);
        let found = self.diff.len();
        let (mut places_before, mut places_after) = (Places::of(before)?, Places::of(after)?);
        for (name, value) in before.iter().zip(old) {
            if places_after.find(name).is_none() {
                self.item(field, name, Some(value), None)?;
            }
        }
        for (name, value) in after.iter().zip(new) {
            let old = places_before.find(name).and_then(|at| old.get(at).copied());
            self.item(field, name, old, Some(value))?;
        }
        if found == self.diff.len() && before != after {
            self.add(Some(whole_old), Some(whole_new), true);
        }
        Some(())
    }

    fn item(&mut self, field: &str, name: &str, old: Option<&'a str>, new: Option<&'a str>) -> Option<()> {
        let length = self.path.len();
        lists::push_item(&mut self.path, name);
        let compared = self.one(field, old, new);
        self.path.truncate(length);
        compared
    }
}

#[cfg(test)]
mod tests;
