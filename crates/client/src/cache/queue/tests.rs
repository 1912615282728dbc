//! What the queues promise.

use super::*;
use crate::cache::delta::tests::{object, write};
use crate::cache::delta_fifo::DeltaFifo;
use crate::cache::real_fifo::RealFifo;
use crate::cache::store::{Change, Store};

pub struct Reader<Q = DeltaFifo> {
    pub fifo: Q,
    pub store: Store,
    /// What was taken, and what that changed.
    pub taken: Vec<String>,
    pub changes: Vec<Change>,
}

/// A DeltaFIFO before a store that knows `known`.
fn reader(known: &str) -> Reader {
    reader_of(known)
}

/// A queue before a store that knows `known`.
pub fn reader_of<Q: Queue>(known: &str) -> Reader<Q> {
    let mut store = Store::default();
    words(known).for_each(|text| drop(store.apply(Delta::new(DeltaType::Added, object(text)))));
    Reader { fifo: Q::default(), store, taken: Vec::new(), changes: Vec::new() }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(' ').filter(|word| !word.is_empty())
}

impl<Q: Queue> Reader<Q> {
    /// `+` adds, `~` updates, `-` deletes, and each returns what came of it; `[a@1 b@2` replaces, and returns how many
    /// go; `.` resyncs, and returns how many are replayed.
    pub fn put(&mut self, text: &str) -> String {
        if let Some(items) = text.strip_prefix('[') {
            let items: Vec<_> = words(items).map(object).collect();
            return self.fifo.replace(items.into(), &self.store).len().to_string();
        }
        if text == "." {
            let before = self.fifo.made().resyncs;
            self.fifo.resync(&self.store);
            return (self.fifo.made().resyncs - before).to_string();
        }
        let (sign, rest) = text.split_at(1);
        let delta_type = match sign {
            "+" => DeltaType::Added,
            "~" => DeltaType::Updated,
            _ => DeltaType::Deleted,
        };
        format!("{:?}", self.fifo.event(delta_type, object(rest), &self.store))
    }

    pub fn put_all(&mut self, texts: &[&str]) {
        texts.iter().for_each(|text| drop(self.put(text)));
    }

    /// Takes once, and applies what was taken. Whether there was anything.
    pub fn take_some(&mut self) -> bool {
        let Some(deltas) = self.fifo.pop(&self.store) else { return false };
        for delta in deltas {
            self.taken.push(write(&delta));
            let (first, second) = self.store.apply(delta);
            self.changes.extend(first.into_iter().chain(second));
        }
        true
    }

    /// Takes everything, each delta applied before the next is taken.
    pub fn take(&mut self) -> String {
        while self.take_some() {}
        std::mem::take(&mut self.taken).join(" ")
    }
}

/// What comes out of a DeltaFIFO after `puts`.
fn check(known: &str, puts: &[&str], expected: &str) {
    check_of::<DeltaFifo>(known, puts, expected);
}

/// What comes out of a queue after `puts`.
pub fn check_of<Q: Queue>(known: &str, puts: &[&str], expected: &str) {
    let mut reader = reader_of::<Q>(known);
    reader.put_all(puts);
    assert_eq!(reader.take(), expected, "{puts:?}");
    assert_eq!((reader.fifo.queued(), reader.fifo.len()), (0, 0), "{puts:?}");
}

/// 53. TestDeltaFIFO_basic.
#[test]
fn the_deltas_of_a_key_come_in_the_order_of_their_arrival() {
    check("a@1", &["~a@2", "-a@3", "+a#2@4", "-a#2@5", "+a#3@6"], "~a@2 -a@3 +a#2@4 -a#2@5 +a#3@6");
}

/// 54. TestDeltaFIFO_detectLineJumpers.
#[test]
fn a_key_that_changes_again_does_not_jump_the_line() {
    check("", &["+a@1", "+b@2", "~a@3", "+c@4", "~b@5"], "+a@3 +b@5 +c@4");
    check("a@1", &["-a@2", "+b@3", "+a#2@4"], "-a@2 +a#2@4 +b@3");
    let mut reader = reader("");
    reader.put_all(&["+a@1", "+b@2"]);
    reader.take_some();
    reader.put_all(&["~a@3", "+c@4"]);
    assert_eq!(reader.take(), "+a@1 +b@2 ~a@3 +c@4", "one that was taken joins the tail");
}

/// 60. TestDeltaFIFO_enqueueingNoLister, TestDeltaFIFO_enqueueingWithLister.
#[test]
fn deletion_of_the_unknown_is_dropped_and_of_the_known_or_queued_is_not() {
    let mut reader = reader("k@1");
    assert_eq!(reader.put("-z@1"), "Unknown");
    assert_eq!(reader.put("-k@2"), "Queued");
    assert_eq!(reader.put("+q@3"), "Queued");
    assert_eq!(reader.put("-q@4"), "Queued");
    assert_eq!(reader.take(), "-k@2 +q@3 -q@4");
}

#[test]
fn late_events_are_dropped() {
    check_late::<DeltaFifo>();
    check_late::<RealFifo>();
}

fn check_late<Q: Queue>() {
    let mut late = reader_of::<Q>("a@5 b#2@6");
    for text in ["~a@4", "+a@4", "-a@4", "~b#2@3"] {
        assert_eq!(late.put(text), "Late", "{text}");
    }
    for text in ["~b@3", "-b@3"] {
        assert_eq!(late.put(text), "Former", "{text}");
    }
    // A version seen twice is no step back; what does not compare is believed.
    for text in ["~a@5", "~b#2@x", "~b#3@4"] {
        assert_eq!(late.put(text), "Queued", "{text}");
    }
    let mut queued = reader_of::<Q>("a@5");
    queued.put_all(&["-a@9"]);
    assert_eq!(queued.put("~a@7"), "Late");
    assert_eq!(queued.put("+a#2@7"), "Queued", "the server may have been restored");
    // What a list that waits did not hold is gone, and a new life of it may have any version.
    let mut listed = reader_of::<Q>("a@50");
    listed.put_all(&["[b@9"]);
    assert_eq!((listed.put("+a#2@10"), listed.put("~b@8")), ("Queued".into(), "Late".into()));
}

/// 56. TestDeltaFIFOW_ReplaceMakesDeletionsForObjectsOnlyInQueue.
#[test]
fn replace_makes_one_tombstone_of_what_is_only_queued() {
    check("", &["+q@2", "[a@9"], "+q@2 !q@2 +a@9");
    check("", &["+q@2", "[a@9", "[a@9"], "+q@2 !q@2 +a@9");
    check("", &["["], "");
}

/// 57. TestDeltaFIFO_ReplaceMakesDeletions.
#[test]
fn replace_makes_tombstones_of_what_is_known() {
    check("k@1", &["[a@9"], "+a@9 !k@1");
    check("k@1", &["~k@3", "[a@9"], "~k@3 !k@3 +a@9");
    let mut reader = reader("j@1 k@1 l@1");
    assert_eq!((reader.put("[k@1"), reader.fifo.made().tombstones), ("2".into(), 2));
}

/// 55. TestDeltaFIFO_replaceWithDeleteDeltaIn.
#[test]
fn replace_after_a_deletion_keeps_both_and_says_a_deletion_once() {
    check("a@1", &["-a@2", "[a#2@3"], "-a@2 +a#2@3");
    check("a@1", &["-a@2", "["], "-a@2");
    check("a@1", &["[", "["], "!a@1");
    check("a@1", &["[", "[a@1"], "!a@1 +a@1");
}

/// 58. TestDeltaFIFO_ReplaceDeltaType.
#[test]
fn replaced_and_sync_become_what_they_are_to_the_reader() {
    check("a@1", &["[a@2 b@2"], "~a@2 +b@2");
    check("a@1", &["."], "~a@1");
    check("", &["[a@1", "~a@2"], "+a@2");
    check("a@1", &["[a@1", "~a@2"], "~a@2");
    // The two are told apart: what a list brought says so, what a resync did does not.
    for (put, listed) in [("[a@1", true), (".", false)] {
        let mut reader = reader("a@1");
        reader.put(put);
        assert_eq!(
            reader.fifo.pop(&reader.store).map(|deltas| deltas.iter().all(|delta| delta.listed)),
            Some(listed),
            "{put}"
        );
    }
}

/// 59. TestDeltaFIFO_UpdateResyncRace, TestDeltaFIFO_ResyncNonExisting.
#[test]
fn resync_never_overtakes_what_waits() {
    check("a@1 b@1", &["~a@2", "-b@2", "."], "~a@2 -b@2");
    let mut idle = reader("");
    assert_eq!(idle.put("."), "0");
    assert!(!idle.fifo.has_synced(), "no list has come");
}

#[test]
fn what_a_resync_delivers_again_keeps_its_place_and_takes_in_what_comes_since() {
    // What waits comes first, what comes later joins the tail.
    check("a@1", &["+b@2", ".", "+c@3"], "+b@2 ~a@1 +c@3");
    check("a@1", &["+b@2", ".", "~b@4", "+c@3"], "+b@4 ~a@1 +c@3");
    // It is one of the deltas of its key, and folds as any.
    check("a@1", &[".", "+c@3", "~a@4"], "~a@4 +c@3");
    check("a@1", &[".", "-a@4", "+a#2@5"], "~a@1 -a@4 +a#2@5");
    check("a@1", &[".", "[a@1 b@2"], "~a@1 +b@2");
    check("a@1", &["+b@2", ".", "[c@3"], "+b@2 !b@2 ~a@1 !a@1 +c@3");
    // What waits is not replayed, whatever it waits for.
    check("a@1", &[".", ".", "~a@4", "."], "~a@4");
    let mut reader = reader("a@9");
    reader.put(".");
    assert_eq!(reader.fifo.newest(&object("a@9").key), Some((&object("a@9"), true)));
    assert_eq!((reader.put("~a@8"), reader.fifo.queued()), ("Late".into(), 1));
    assert_eq!((reader.put("."), reader.fifo.made().resyncs), ("0".into(), 1));
}

/// A second resync while many objects of the first one wait: those that were taken meanwhile are replayed after them.
#[test]
fn resyncs_follow_each_other_in_the_queue() {
    const ALL: usize = 10_000;
    let names: Vec<String> = (0..ALL).map(|at| format!("n{at}@1")).collect();
    let mut reader = reader(&names.join(" "));
    let mut times = vec![0; ALL];
    let mut take = |reader: &mut Reader, count: usize| {
        for _ in 0..count {
            let deltas = reader.fifo.pop(&reader.store).unwrap();
            let name = deltas.key().unwrap().name[1..].parse::<usize>().unwrap();
            times[name] += 1;
        }
        (*times.iter().min().unwrap(), *times.iter().max().unwrap())
    };
    assert_eq!(reader.put("."), ALL.to_string());
    assert_eq!(take(&mut reader, 6000), (0, 1));
    // Too many to be queued one by one, and then few enough.
    assert_eq!(reader.put("."), "6000");
    reader.put("+new@2");
    assert_eq!(take(&mut reader, 4000), (1, 1));
    assert_eq!(reader.put("."), "4000");
    assert_eq!((reader.fifo.len(), reader.fifo.queued(), reader.fifo.resyncing()), (10_001, 10_001, 6_000));
    let mut seen = vec![reader.put("~n0@3")];
    assert_eq!(take(&mut reader, 6000), (1, 2));
    seen.push(write(reader.fifo.pop(&reader.store).unwrap().newest().unwrap()));
    assert_eq!((take(&mut reader, 4000), reader.fifo.is_empty(), reader.fifo.queued()), ((2, 2), true, 0));
    assert_eq!(seen, ["Queued", "+new@2"]);
    assert_eq!(reader.fifo.made().resyncs, 20_000);
}

/// 61. TestDeltaFIFO_HasSynced, TestDeltaFIFO_HasSyncedCorrectOnDeletion.
#[test]
fn synced_when_something_came_first_or_the_first_list_is_drained() {
    // What is put, and after how many keys are taken it has synced.
    for (puts, after) in [
        (&[][..], None),
        (&["+a@1"][..], Some(0)),
        (&["~a@1"], Some(0)),
        (&["-a@1"], Some(0)),
        (&["["], Some(0)),
        (&["[a@1"], Some(1)),
        (&["[a@1 b@1"], Some(2)),
        (&["[a@1 a@2"], Some(1)),
        (&["[a@1", "~a@2"], Some(1)),
        (&["[a@1", "[a@1 b@2"], Some(1)),
        (&["[a@1", "[b@2"], Some(1)),
        (&["+c@1", "[a@1"], Some(0)),
    ] {
        let mut reader = reader("");
        reader.put_all(puts);
        let keys = reader.fifo.len();
        let mut synced = None;
        for taken in 0..=keys {
            if reader.fifo.has_synced() {
                synced = Some(taken);
                break;
            }
            reader.fifo.pop(&reader.store);
        }
        assert_eq!(synced, after, "{puts:?}");
    }
    // The tombstones of a first list count too.
    let mut known = reader("k@1");
    known.put("[");
    assert!(!known.fifo.has_synced());
    known.take();
    assert!(known.fifo.has_synced());
}

/// 62. TestDeltaFIFO_PopShouldUnblockWhenClosed.
///
/// No reader waits here: an empty queue answers at once, and takes in what comes after.
#[test]
fn an_empty_queue_answers_at_once() {
    check_empty::<DeltaFifo>();
    check_empty::<RealFifo>();
}

fn check_empty<Q: Queue>() {
    let mut reader = reader_of::<Q>("");
    for put in ["+a@1", "[a@1", "~a@2"] {
        assert!(reader.fifo.is_empty() && reader.fifo.pop(&reader.store).is_none());
        reader.put(put);
        assert!(!reader.fifo.is_empty() && reader.take_some());
    }
    assert!(reader.fifo.is_empty() && !reader.take_some());
}

/// A burst leaves nothing behind: the queue is as large as the keys that wait.
#[test]
fn size_follows_the_keys_that_wait() {
    let mut reader = reader("");
    for round in 0..1000 {
        reader.put(&format!("~a@{}", round + 1));
    }
    assert_eq!((reader.fifo.len(), reader.fifo.queued()), (1, 1000));
    assert_eq!(reader.fifo.pop(&reader.store).map(|deltas| (deltas.len(), deltas.folded())), Some((1, 1000)));
}

/// The slots are what the pops bring, in the same order.
#[test]
fn the_slots_are_what_will_be_popped() {
    for puts in [
        &["+a@2", "~a@3", "-k@4", "."][..],
        &["[a@2 b@3 k@4", "~b@5", ".", "+z@6"],
        &[".", "~k@2", "+a@3", "[a@4 b@5"],
        &["+a@2", ".", "~l@3", "+b@4"],
    ] {
        let mut reader = reader("k@1 l@1");
        reader.put_all(puts);
        let slots: Vec<(Vec<Arc<Object>>, u64)> = reader.fifo.waiting_slots().iter().map(seen).collect();
        assert_eq!(slots.len(), reader.fifo.len(), "{puts:?}");
        let mut popped = Vec::new();
        while let Some(deltas) = reader.fifo.pop(&reader.store) {
            popped.push(seen(&deltas));
        }
        assert_eq!(slots, popped, "{puts:?}");
    }
}

/// The objects of a slot, and how many deltas they stand for.
fn seen(deltas: &Deltas) -> (Vec<Arc<Object>>, u64) {
    (deltas.iter().map(|delta| delta.object.object().clone()).collect(), deltas.folded())
}

/// A put of a random queue: what, of which name, in which life.
pub fn written(at: usize, (what, name, life): (usize, usize, u32)) -> String {
    let object = format!("{}#{life}@{}", ["a", "b", "c"][name], at + 10);
    match what {
        0 => format!("[{object}"),
        1 => String::from("."),
        2 | 3 => format!("-{object}"),
        4 | 5 => format!("+{object}"),
        _ => format!("~{object}"),
    }
}
