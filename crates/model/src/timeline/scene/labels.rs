//! The labels beside the lanes: how wide their column is, and what stands where in it.

use crate::timeline::scene::contents::LaneRow;
use crate::timeline::scene::fold::CHAR;
use crate::timeline::store::mark::grouped;

/// The left edge of labels where lanes do not stand in groups.
pub const MARGIN: f64 = 14.0;
/// The room between a label and the time axis.
pub const END: f64 = 12.0;

/// Fewer characters than this are the name's alone, where it has a use for them.
const NARROW: usize = 20;
/// The most characters of a namespace then.
const NAMESPACE: usize = 12;
/// The most characters of a kind.
const KIND: usize = 7;
/// The same among groups, where the number of objects below stands behind the kind.
const GROUP_KIND: usize = 14;
/// The column follows names that are shorter only when they leave so much free, in pixels: a time axis that moves with each
/// name could not be read.
const FREE: f64 = 12.0 * CHAR;

/// How wide the columns of the labels are where lanes do not stand in groups, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Columns {
    pub kind: usize,
    pub namespace: usize,
    pub name: usize,
}

/// The room of a text and the space after it, in characters.
fn room(length: usize) -> usize {
    if length == 0 { 0 } else { length + 1 }
}

fn longest(lanes: &[Option<LaneRow>], text: fn(&LaneRow) -> &str) -> usize {
    lanes.iter().flatten().map(|row| text(row).chars().count()).max().unwrap_or(0)
}

impl Columns {
    /// The columns as wide as their texts are, in `all` characters. Where there is too little room, it is the name's.
    pub fn of(lanes: &[Option<LaneRow>], all: usize) -> Columns {
        let kind = longest(lanes, |row| row.kind_name).min(KIND).min(all / 3);
        let rest = all.saturating_sub(room(kind));
        let wanted = longest(lanes, |row| &row.key.name);
        let least = if rest < NARROW { 0 } else { NAMESPACE.min((all - kind) / 2) };
        let namespace = longest(lanes, |row| &row.key.namespace).min(least.max(rest.saturating_sub(wanted + 1)));
        Columns { kind, namespace, name: rest.saturating_sub(room(namespace)) }
    }

    /// Where namespaces and names begin, where a character is so wide.
    pub fn places(&self, char: f64) -> [f64; 2] {
        let namespace = MARGIN + room(self.kind) as f64 * char;
        [namespace, namespace + room(self.namespace) as f64 * char]
    }
}

/// How wide the column of labels must be so that each of them is whole, in pixels; `None` where there is none.
pub(in crate::timeline) fn labels_width(lanes: &[Option<LaneRow>]) -> Option<f64> {
    lanes.iter().flatten().next()?;
    let grouped = lanes.iter().flatten().filter(|row| row.group.is_some()).map(|row| {
        let kind = kind_words(row).chars().count().min(GROUP_KIND);
        let name = row.group.as_ref().map_or(0, |group| group.name.chars().count());
        row.name_x() + (name + if kind == 0 { 0 } else { kind + 2 }) as f64 * CHAR
    });
    let Columns { kind, namespace, .. } = Columns::of(lanes, 1_000);
    let name = longest(lanes, |row| &row.key.name);
    let plain = MARGIN + (room(kind) + room(namespace) + name) as f64 * CHAR;
    Some((grouped.reduce(f64::max).unwrap_or(plain) + END).ceil())
}

/// The kind of a row among groups, and how many objects are below it.
pub fn kind_words(row: &LaneRow) -> String {
    let Some(group) = &row.group else { return row.kind_name.to_owned() };
    let word = if group.word.is_empty() { row.kind_name } else { &*group.word };
    let count = group.open.map(|_| grouped(u64::from(group.members))).unwrap_or_default();
    format!("{word}{}{count}", if word.is_empty() || count.is_empty() { "" } else { " " })
}

/// How many characters the kind of a row among groups has, of `all` that its name and its kind have together.
pub fn kind_room(name: &str, all: usize) -> usize {
    let least = if all < NARROW { 0 } else { all / 3 };
    GROUP_KIND.min(all.saturating_sub(name.chars().count() + 2).max(least))
}

/// The next width of the column, which had this one and wants another one. `holds` says that nothing may move.
pub(in crate::timeline) fn next_width(width: f64, wanted: Option<f64>, holds: bool) -> f64 {
    match wanted {
        Some(wanted) if width == 0.0 || (!holds && (wanted > width || wanted < width - FREE)) => wanted,
        _ => width,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kind_id::KindId;
    use crate::timeline::store::mark::LaneId;
    use kubechurn_client::api::object::ObjectKey;

    fn lanes(names: &[(&'static str, &str, &str)]) -> Vec<Option<LaneRow>> {
        let row = |(kind_name, namespace, name): &(&'static str, &str, &str)| {
            let (lane, kind, key) = (LaneId(0), KindId(0), ObjectKey::new(namespace, name));
            let (y, word, live, selected, hovered, group) = (0.0, "".into(), true, false, false, None);
            Some(LaneRow { y, lane, kind, kind_name, key, word, live, selected, hovered, group })
        };
        names.iter().map(row).collect()
    }

    #[test]
    fn a_column_is_as_wide_as_its_names() {
        let lanes = lanes(&[("po", "monitoring-system", "prometheus-operated-0"), ("deploy", "shop", "web")]);
        let width = labels_width(&lanes).unwrap();
        let fit = |width: f64| Columns::of(&lanes, ((width - MARGIN - END) / CHAR).floor() as usize);
        assert_eq!(fit(width), Columns { kind: 6, namespace: 17, name: 21 }, "in {width}");
        // Of less room the name has most.
        assert_eq!(fit(width - 6.0 * CHAR), Columns { kind: 6, namespace: 12, name: 20 });
        assert_eq!(fit(150.0), Columns { kind: 6, namespace: 0, name: 11 });
        assert_eq!(labels_width(&[]), None);
    }

    #[test]
    fn a_name_comes_before_its_kind() {
        assert_eq!(kind_room("web", 40), 14);
        assert_eq!(kind_room("checkout-7c9d8f5b64", 30), 10, "the name is cut then");
        assert_eq!(kind_room("checkout-7c9d8f5b64", 15), 0);
    }

    #[test]
    fn the_column_grows_at_once_and_shrinks_seldom() {
        assert_eq!(next_width(0.0, Some(200.0), true), 200.0);
        assert_eq!(next_width(200.0, Some(210.0), false), 210.0);
        assert_eq!(next_width(200.0, Some(210.0), true), 200.0, "nothing moves under the pointer");
        assert_eq!(next_width(200.0, Some(150.0), false), 200.0);
        assert_eq!(next_width(200.0, Some(100.0), false), 100.0);
        assert_eq!(next_width(200.0, None, false), 200.0);
    }
}
