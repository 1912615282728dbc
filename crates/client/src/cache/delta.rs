//! A change of an object on its way from the server to the store.

use std::sync::Arc;

use smallvec::SmallVec;

use crate::api::object::{Object, ObjectKey};

/// The kind of a change. The names are client-go's (`delta_fifo.go`, `DeltaType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DeltaType {
    /// The object is new.
    Added,
    /// The object has a newer version.
    Updated,
    /// The object is gone.
    Deleted,
    /// The object is in a complete list.
    Replaced,
    /// A resync repeats a known object.
    Sync,
}

impl DeltaType {
    /// Whether the object comes as it is, from a list or a resync, and not with a change of its own.
    pub fn is_of_list(self) -> bool {
        matches!(self, DeltaType::Replaced | DeltaType::Sync)
    }
}

/// The object of a delta.
#[derive(Clone, Debug, PartialEq)]
pub enum DeltaObject {
    /// As the server sent it; for a deletion, its last state.
    Known(Arc<Object>),
    /// A tombstone (client-go's `DeletedFinalStateUnknown`): a complete list did not hold the object, and this is its
    /// last known state.
    FinalStateUnknown(Arc<Object>),
}

impl DeltaObject {
    /// The object.
    pub fn object(&self) -> &Arc<Object> {
        match self {
            DeltaObject::Known(object) | DeltaObject::FinalStateUnknown(object) => object,
        }
    }

    /// The object, taken out.
    pub fn into_object(self) -> Arc<Object> {
        match self {
            DeltaObject::Known(object) | DeltaObject::FinalStateUnknown(object) => object,
        }
    }
}

/// One change of one object, and how many received changes it stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Delta {
    /// What happened.
    pub delta_type: DeltaType,
    /// The object to which it happened.
    pub object: DeltaObject,
    /// How many deltas this one stands for, itself included; at least 1.
    pub folded: u32,
    /// Whether the object came with a complete list. Set when the queue turns `Replaced` into `Added` or `Updated`.
    pub listed: bool,
}

impl Delta {
    /// A delta of an object as the server sent it.
    pub fn new(delta_type: DeltaType, object: Arc<Object>) -> Delta {
        Delta { delta_type, object: DeltaObject::Known(object), folded: 1, listed: false }
    }

    /// The deletion of an object that a complete list did not hold; `last` is its last known state.
    pub fn tombstone(last: Arc<Object>) -> Delta {
        Delta { delta_type: DeltaType::Deleted, object: DeltaObject::FinalStateUnknown(last), folded: 1, listed: false }
    }

    /// The key of the object.
    pub fn key(&self) -> &ObjectKey {
        &self.object.object().key
    }

    /// Whether the object exists after this change.
    pub fn is_present(&self) -> bool {
        self.delta_type != DeltaType::Deleted
    }

    /// Whether this is a deletion that no event brought.
    pub fn is_tombstone(&self) -> bool {
        matches!(self.object, DeltaObject::FinalStateUnknown(_))
    }
}

/// What waits for one key, oldest first. Nearly always that is one delta, which is stored in place.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Deltas {
    list: SmallVec<[Delta; 1]>,
}

/// The most deltas of one key. Beyond them, whole lives in the middle (an object that was created and deleted) are
/// folded into the deletion before them, so that a name that is created and deleted over and over while no one drains
/// the queue costs bounded memory.
const LONGEST: usize = 8;

impl Deltas {
    /// Appends `delta`, or folds it into the newest delta where a reader loses nothing that it must see:
    ///
    /// - states of one object (one uid) fold into the newest state;
    /// - of two deletions in a row the older one stays, unless it is a tombstone;
    /// - a deletion between two objects of one name stays, as long as the key has few deltas.
    pub fn push(&mut self, delta: Delta) {
        let Some(newest) = self.list.last_mut() else {
            self.list.push(delta);
            return;
        };
        let same_life = newest.object.object().uid == delta.object.object().uid;
        match (newest.is_present(), delta.is_present()) {
            (true, true) if same_life => {
                newest.delta_type = match (newest.delta_type, delta.delta_type) {
                    // A reader has not seen the object yet: it is still new, whatever came later. Whether a reader has
                    // seen a Replaced one shows when that is popped.
                    (older @ (DeltaType::Added | DeltaType::Replaced), _) | (older, DeltaType::Sync) => older,
                    (_, newer) => newer,
                };
                newest.object = delta.object;
                newest.folded += delta.folded;
            }
            (false, false) if same_life || delta.is_tombstone() => {
                if newest.is_tombstone() {
                    newest.object = delta.object;
                }
                newest.folded += delta.folded;
            }
            _ => self.list.push(delta),
        }
        if self.list.len() > LONGEST {
            self.fold_a_life();
        }
    }

    /// Folds what lies between the first two deletions, and the second one, into the first. The first one keeps its
    /// object, for that is the one that a reader may know. Without two deletions, the deltas are objects whose ends
    /// were not seen: then one that stands between two others is folded into the next.
    fn fold_a_life(&mut self) {
        let mut gone = (0..self.list.len()).filter(|&at| !self.list[at].is_present());
        if let (Some(first), Some(second)) = (gone.next(), gone.next()) {
            let folded = self.list.drain(first + 1..=second).map(|delta| delta.folded).sum::<u32>();
            self.list[first].folded += folded;
        } else if let Some(at) = self.list.windows(3).position(|three| three.iter().all(Delta::is_present)) {
            let folded = self.list.remove(at + 1).folded;
            self.list[at + 1].folded += folded;
        }
    }

    /// The newest delta.
    pub fn newest(&self) -> Option<&Delta> {
        self.list.last()
    }

    /// How many received deltas these stand for.
    pub fn folded(&self) -> u64 {
        self.list.iter().map(|delta| u64::from(delta.folded)).sum()
    }

    /// How many deltas these are.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// The key of all of them; `None` if there are none.
    pub fn key(&self) -> Option<&ObjectKey> {
        self.list.first().map(Delta::key)
    }

    /// All deltas, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Delta> {
        self.list.iter()
    }

    /// All deltas, oldest first, to be changed.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Delta> {
        self.list.iter_mut()
    }
}

impl From<Delta> for Deltas {
    fn from(delta: Delta) -> Deltas {
        Deltas { list: SmallVec::from_buf([delta]) }
    }
}

impl IntoIterator for Deltas {
    type Item = Delta;
    type IntoIter = smallvec::IntoIter<[Delta; 1]>;

    fn into_iter(self) -> Self::IntoIter {
        self.list.into_iter()
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::api::object::ResourceVersion;

    /// The object `name@version`, or `name#life@version`.
    pub fn object(text: &str) -> Arc<Object> {
        let (who, version) = text.split_once('@').unwrap();
        let (name, life) = who.split_once('#').unwrap_or((who, "1"));
        Arc::new(Object {
            key: ObjectKey::new("n", name),
            uid: format!("{name}#{life}").into(),
            resource_version: ResourceVersion::new(version),
            owners: None,
            cells: crate::api::cells::Cells::default(),
            flaw: None,
            extra: None,
        })
    }

    /// `+` adds, `~` updates, `-` deletes, `!` is a tombstone, `=` replaces, `.` syncs.
    pub fn delta(text: &str) -> Delta {
        let (sign, text) = text.split_at(1);
        let delta_type = match sign {
            "+" => DeltaType::Added,
            "~" => DeltaType::Updated,
            "-" => DeltaType::Deleted,
            "=" => DeltaType::Replaced,
            "." => DeltaType::Sync,
            _ => return Delta::tombstone(object(text)),
        };
        Delta::new(delta_type, object(text))
    }

    pub fn write(delta: &Delta) -> String {
        let sign = match (delta.delta_type, &delta.object) {
            (_, DeltaObject::FinalStateUnknown(_)) => "!",
            (DeltaType::Added, _) => "+",
            (DeltaType::Updated, _) => "~",
            (DeltaType::Deleted, _) => "-",
            (DeltaType::Replaced, _) => "=",
            (DeltaType::Sync, _) => ".",
        };
        let object = delta.object.object();
        let uid = object.uid.text();
        let uid = uid.strip_suffix("#1").unwrap_or(&uid);
        format!("{sign}{uid}@{}", object.resource_version)
    }

    fn fold(pushed: &str) -> Deltas {
        let mut deltas = Deltas::default();
        pushed.split(' ').for_each(|text| deltas.push(delta(text)));
        deltas
    }

    fn check(pushed: &str, expected: &str) {
        let deltas = fold(pushed);
        assert_eq!(deltas.folded(), pushed.split(' ').count() as u64, "{pushed}: every delta is counted");
        let folded: Vec<String> = deltas.into_iter().map(|delta| write(&delta)).collect();
        assert_eq!(folded.join(" "), expected, "{pushed}");
    }

    #[test]
    fn states_of_one_life_fold_into_the_newest() {
        check("~a@1 ~a@2 ~a@3", "~a@3");
        check("+a@1 ~a@2", "+a@2");
        check("+a@1 =a@2", "+a@2");
        check(".a@1 ~a@2", "~a@2");
        check("~a@1 =a@2", "=a@2");
        // Whether the reader knows it is found out when it is taken.
        check("=a@1 ~a@2", "=a@2");
    }

    #[test]
    fn a_deletion_between_two_lives_stays() {
        check("~a@1 -a@2 +a#2@3 ~a#2@4", "~a@1 -a@2 +a#2@4");
        check("~a@1 +a#2@3", "~a@1 +a#2@3");
        check("-a@2 =a@3", "-a@2 =a@3");
    }

    #[test]
    fn of_two_deletions_the_older_stays_unless_it_is_a_tombstone() {
        check("-a@2 -a@3", "-a@2");
        check("-a@2 !a@1", "-a@2");
        // A tombstone gives way to what the server said.
        let deltas = fold("!a@1 -a@2");
        assert_eq!((deltas.len(), deltas.folded()), (1, 2));
        assert_eq!(deltas.newest().map(write).as_deref(), Some("-a@2"));
        check("-a@2 -a#2@4", "-a@2 -a#2@4");
        check("!a@1 -a#2@4", "!a@1 -a#2@4");
    }

    #[test]
    fn lives_without_end_cost_bounded_memory_and_are_counted() {
        let mut deltas = fold("~a@1 -a@2");
        for life in 2..1000 {
            deltas.push(delta(&format!("+a#{life}@{}", life * 2)));
            deltas.push(delta(&format!("-a#{life}@{}", life * 2 + 1)));
            assert!(deltas.len() <= LONGEST);
        }
        deltas.push(delta("+a#1000@5000"));
        assert_eq!(deltas.folded(), 2 + 2 * 998 + 1);
        // Lives of which only the ends, or only the beginnings, are heard.
        for life in 2000..3000 {
            let sign = if (life / 7) % 2 == 0 { '+' } else { '-' };
            deltas.push(delta(&format!("{sign}a#{life}@{}", life * 6)));
            assert!(deltas.len() <= LONGEST);
        }
        for life in 3000..4000 {
            deltas.push(delta(&format!("+a#{life}@{}", life * 6)));
            assert!(deltas.len() <= LONGEST);
        }
        assert_eq!(deltas.folded(), 2 + 2 * 998 + 1 + 2000);
        deltas.push(delta("+a#1000@5000"));
        let ends: Vec<String> = deltas.into_iter().map(|delta| write(&delta)).collect();
        assert_eq!((&*ends[0], &*ends[1], &*ends[ends.len() - 1]), ("~a@1", "-a@2", "+a#1000@5000"));
    }
}
