//! Lanes and the lives of their names.

use super::*;
use kubechurn_client::api::cell::Tone;

/// The mark as it is when it is evicted later, and what its `before` is until then.
fn touch_before(lanes: &mut Lanes, name: &str, uid: &str, mark_type: MarkType, seq: u64) -> (Evicted, u32) {
    let key = ObjectKey::new("shop", name);
    let touch = lanes.touch(Change { key: &key, uid: &uid.into(), mark_type }, seq, seq as f64);
    (Evicted { seq, mark_type, state: State::default(), owner: Some((touch.lane, touch.life)) }, touch.before)
}

fn touch(lanes: &mut Lanes, name: &str, uid: &str, mark_type: MarkType, seq: u64) -> Evicted {
    touch_before(lanes, name, uid, mark_type, seq).0
}

fn uid<'a>(lanes: &'a Lanes, mark: &Evicted) -> &'a Uid {
    let (lane, life) = mark.owner.expect("an object");
    lanes.get(lane).unwrap().uid_of(life)
}

#[test]
fn a_recreated_name_keeps_both_uids_until_the_marks_are_gone() {
    let mut lanes = Lanes::default();
    let added = touch(&mut lanes, "a", "one", MarkType::Added, 1);
    let again = touch(&mut lanes, "a", "two", MarkType::Added, 2);
    let late = touch(&mut lanes, "a", "one", MarkType::Deleted, 3);
    assert_eq!([uid(&lanes, &added), uid(&lanes, &again), uid(&lanes, &late)], ["one", "two", "one"]);
    let (_, lane) = lanes.newest_first().next().unwrap();
    assert!(lane.live, "late news of the first life do not end the second");
    lanes.release(&added);
    lanes.release(&late);
    assert!(lanes.get(LaneId(0)).unwrap().earlier.is_empty());
}

#[test]
fn an_unknown_uid_means_the_latest_life() {
    let mut lanes = Lanes::default();
    touch(&mut lanes, "a", "", MarkType::Updated, 1);
    touch(&mut lanes, "a", "two", MarkType::Added, 2);
    let deleted = touch(&mut lanes, "a", "", MarkType::Deleted, 3);
    assert_eq!(uid(&lanes, &deleted), "two");
    assert!(!lanes.get(LaneId(0)).unwrap().live);
}

#[test]
fn a_lane_is_freed_with_its_last_mark_and_used_again_by_another_name() {
    let mut lanes = Lanes::default();
    let added = touch(&mut lanes, "a", "one", MarkType::Added, 1);
    let (deleted, before) = touch_before(&mut lanes, "a", "one", MarkType::Deleted, 2);
    assert_eq!(before, 1);
    let generation = lanes.generation(LaneId(0));
    lanes.release(&added);
    assert_eq!(lanes.len(), 1);
    lanes.release(&deleted);
    assert_eq!((lanes.len(), lanes.charged()), (0, 0));
    assert!(lanes.find(&ObjectKey::new("shop", "a")).is_none());
    touch(&mut lanes, "b", "two", MarkType::Added, 3);
    assert_eq!(lanes.find(&ObjectKey::new("shop", "b")), Some(LaneId(0)));
    assert_ne!(lanes.generation(LaneId(0)), generation);
}

#[test]
fn a_live_object_s_lane_goes_too_and_is_recalled_with_its_state() {
    let mut lanes = Lanes::default();
    let added = touch(&mut lanes, "a", "one", MarkType::Added, 1);
    lanes.release(&added);
    assert_eq!((lanes.len(), lanes.charged()), (0, 0));
    let key = ObjectKey::new("shop", "a");
    let id = lanes.recall(&key, &"one".into(), Tone::Bad.into());
    let (_, before) = touch_before(&mut lanes, "a", "one", MarkType::Updated, 9);
    assert_eq!((before, lanes.get(id).unwrap().worn), (0, Some(Tone::Bad.into())));
}

/// Looks at an object that has no lane if nothing has happened to it.
fn attend(lanes: &mut Lanes, name: &str) {
    let key = ObjectKey::new("shop", name);
    if lanes.find(&key).is_none() {
        lanes.recall(&key, &"u".into(), State::default());
    }
    lanes.attend(&key);
}

#[test]
fn whoever_is_looked_at_keeps_a_lane_only_while_that_lasts() {
    let mut lanes = Lanes::default();
    for name in ["a", "b", "c", "c"] {
        attend(&mut lanes, name);
        assert_eq!(lanes.len(), 1, "{name}");
    }
    let marked = touch(&mut lanes, "c", "u", MarkType::Updated, 1);
    attend(&mut lanes, "d");
    assert_eq!(lanes.len(), 2, "what has a mark keeps its lane");
    lanes.release(&marked);
    assert_eq!(lanes.len(), 1);
}

#[test]
fn lanes_stand_in_the_order_of_their_last_change() {
    let mut lanes = Lanes::default();
    for (seq, name) in ["a", "b", "c", "a", "b"].into_iter().enumerate() {
        touch(&mut lanes, name, "u", MarkType::Updated, seq as u64 + 1);
    }
    let names: Vec<&str> = lanes.newest_first().map(|(_, lane)| &*lane.key.name).collect();
    assert_eq!(names, ["b", "a", "c"]);
}
