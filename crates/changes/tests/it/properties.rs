//! What holds for any two texts.

use std::sync::OnceLock;

use kubechurn_changes::diff::{MOST, diff};
use kubechurn_changes::feed::{Feed, Limits, Subject};
use kubechurn_changes::findings::{Card, Findings};
use kubechurn_changes::line::{Line, ReceivedChange};
use kubechurn_changes::noise::Marks;
use kubechurn_changes::writer::of_change;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::play::Objects;
use crate::recording::{Step, steps};

static STEPS: OnceLock<Vec<Step>> = OnceLock::new();

/// Any JSON value, with names and words that lists and paths treat in their own ways.
fn json() -> impl Strategy<Value = Value> {
    let word = prop::sample::select(vec!["a", "b", "name", "type", "conditions", "ports", "x.y/z", "é\"]", ""]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (0i64..4).prop_map(Value::from),
        word.clone().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((word.clone().prop_map(str::to_owned), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// The text with its members in the reverse order, and spaces.
fn reversed(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            let members: Vec<String> = members
                .iter()
                .rev()
                .map(|(name, value)| format!("{} : {}", Value::from(name.clone()), reversed(value)))
                .collect();
            format!("{{ {} }}", members.join(" , "))
        }
        Value::Array(items) => format!("[{}\n]", items.iter().map(reversed).collect::<Vec<_>>().join(",")),
        plain => plain.to_string(),
    }
}

/// How many places there are in a value.
fn places(value: &Value) -> usize {
    1 + match value {
        Value::Object(members) => members.values().map(places).sum(),
        Value::Array(items) => items.iter().map(places).sum(),
        _ => 0,
    }
}

/// Puts something else at the place with this number.
fn change(value: &mut Value, at: &mut usize) {
    if *at == 0 {
        *value = Value::from("something else");
    }
    *at = at.wrapping_sub(1);
    match value {
        Value::Object(members) => members.values_mut().for_each(|value| change(value, at)),
        Value::Array(items) => items.iter_mut().for_each(|value| change(value, at)),
        _ => {}
    }
}

fn line(old: &str, new: &str) -> Line {
    let received = ReceivedChange {
        seq: 0,
        at: 0.0,
        kind: "Pod".into(),
        key: ObjectKey::new("", ""),
        uid: Uid::new(""),
        delta_type: DeltaType::Updated,
        old: Some(old),
        new: Some(new),
    };
    Line::new(received, &Marks::default())
}

proptest! {
    #[test]
    fn nothing_differs_exactly_if_the_values_are_equal(one in json(), two in json()) {
        let (old, new) = (one.to_string(), two.to_string());
        prop_assert_eq!(diff(&old, &new).unwrap().is_empty(), one == two);
        prop_assert!(diff(&old, &reversed(&one)).unwrap().is_empty());
        prop_assert_eq!(diff(&reversed(&one), &new).unwrap().is_empty(), one == two);
    }

    #[test]
    fn a_change_in_any_place_is_found(value in json(), at in any::<prop::sample::Index>()) {
        let mut other = value.clone();
        change(&mut other, &mut at.index(places(&value)));
        if other != value {
            let (old, new) = (value.to_string(), other.to_string());
            let found = diff(&old, &new).unwrap();
            // A name within an item is what the item is matched by: the item is gone, and another is new.
            prop_assert!((1..=2).contains(&found.len()), "{:?}", found);
            prop_assert_eq!(diff(&new, &old).unwrap().len(), found.len());
        }
    }

    #[test]
    fn what_is_shown_is_bounded(many in 0usize..600) {
        let text = |value: u8| format!("[{}]", vec![value.to_string(); many].join(","));
        let (old, new) = (text(1), text(2));
        let found = diff(&old, &new).unwrap();
        prop_assert_eq!((found.changes.len(), found.len()), (many.min(MOST), many));
    }

    #[test]
    fn garbage_is_no_reason_to_panic(old in r#"[\[\]{}",:\\a1né ]{0,40}"#, new in r#"[\[\]{}",:\\a1né ]{0,40}"#) {
        let _ = diff(&old, &new);
        let _ = of_change(DeltaType::Updated, Some(&old), Some(&new));
        let _ = line(&old, &new).to_string();
    }

    #[test]
    fn a_broken_object_is_no_reason_to_panic(
        which in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), by in prop::sample::select(vec!["", "\"", "{", "]", "\\", "é"]),
    ) {
        let steps = STEPS.get_or_init(steps);
        let step = &steps[which.index(steps.len())];
        let cut = step.new.floor_char_boundary(at.index(step.new.len()));
        let broken = format!("{}{by}{}", &step.new[..cut], step.new.get(cut + 1..).unwrap_or_default());
        let old = step.old.as_ref().unwrap_or(&step.new);
        for (old, new) in [(old, &broken), (&broken, old), (&broken, &broken)] {
            let _ = line(old, new).to_string();
            let _ = of_change(DeltaType::Added, None, Some(new));
        }
    }

    #[test]
    fn every_row_stands_under_its_cause(changes in prop::collection::vec(change_of_one(), 0..120), most in 1usize..40) {
        check_feed(changes, most)?;
    }
}

/// What happens to one of a few objects: its number, the number of its owner, what, and after how long.
type Change = (u8, Option<u8>, u8, u8);

fn check_feed(changes: Vec<Change>, most: usize) -> Result<(), TestCaseError> {
    let mut feed = Feed::new(Limits { rows: most, lines: 50, bytes: 1 << 30 });
    let (mut objects, mut findings, mut at) = (Objects::default(), Findings::default(), 1.0);
    for (object, owner, what, wait) in changes {
        at += f64::from(wait) * f64::from(wait);
        let kind = ["Deployment", "ReplicaSet", "Pod", "Event"][usize::from(object % 4)];
        let (name, owner) = (object.to_string(), owner.map(|owner| owner.to_string()).unwrap_or_default());
        let line = match what {
            0 => objects.delete(at, kind, &name),
            1 => objects.set(at, (kind, &name, &owner), json!({"generation": wait, "spec": {"size": wait}})),
            2 => objects.set(
                at,
                (kind, &name, &owner),
                json!({"status": {"phase": "Failed"}, "involvedObject": {"uid": owner}}),
            ),
            _ => {
                objects.set(at, (kind, &name, &owner), json!({"generation": 1, "status": {"phase": what.to_string()}}))
            }
        };
        findings.push(&line);
        let seq = line.seq;
        let id = feed.push(line);
        let counts = feed.counts();
        let rows: Vec<_> = feed.rows().collect();
        prop_assert!(rows.len() == feed.len() && rows.len() <= most);
        prop_assert_eq!(
            counts.received,
            counts.listed + counts.evicted + rows.iter().map(|row| row.count).sum::<u64>()
        );
        let entry = id.and_then(|id| feed.entry(id));
        prop_assert!(entry.is_none_or(|entry| matches!(entry.subject, Subject::Noise(_)) || entry.seqs.contains(&seq)));
        for (place, row) in rows.iter().enumerate() {
            let Some(parent) = row.parent else {
                prop_assert_eq!(row.depth, 0);
                continue;
            };
            // Between a row and its cause there are only rows of the same block.
            let cause = rows[..place].iter().rposition(|other| other.id == parent).unwrap();
            prop_assert!(row.depth > 0 && rows[cause + 1..=place].iter().all(|other| other.depth > 0));
            let _ = (row.to_string(), row.name(), row.repetition(), row.parts(), feed.outcome(row), row.is_ordinary());
        }
        // Blocks stand by the times of their first rows.
        let times: Vec<f64> = rows.iter().filter(|row| row.depth == 0).map(|row| row.first_at).collect();
        prop_assert!(times.is_sorted_by(|one, two| one >= two));
    }
    findings.cards(at).iter().for_each(check_card);
    Ok(())
}

/// Nothing can stand under Events, which stand last in their block.
#[test]
fn what_an_event_owns_stands_alone() {
    let owned = vec![
        (0, None, 0, 0),
        (0, None, 0, 0),
        (3, Some(0), 1, 0),
        (7, Some(6), 1, 0),
        (1, Some(7), 1, 0),
        (6, Some(0), 1, 0),
    ];
    check_feed(owned, 4).unwrap();
}

/// An object, its owner, what happens to it, and after how long.
fn change_of_one() -> impl Strategy<Value = Change> {
    (0u8..12, prop::option::of(0u8..12), 0u8..6, 0u8..200)
}

fn check_card(card: &Card) {
    assert!(card.seqs.is_sorted() && card.since <= card.last_at && !card.sentence().is_empty());
}
