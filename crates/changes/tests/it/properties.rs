//! What holds for any two texts.

use std::sync::OnceLock;

use kubechurn_changes::diff::{MOST, diff};
use kubechurn_changes::line::{Line, Received};
use kubechurn_changes::noise::Marks;
use kubechurn_changes::writer::writers;
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use proptest::prelude::*;
use serde_json::Value;

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
    let received = Received {
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
    fn what_is_told_is_bounded(many in 0usize..600) {
        let text = |value: u8| format!("[{}]", vec![value.to_string(); many].join(","));
        let (old, new) = (text(1), text(2));
        let found = diff(&old, &new).unwrap();
        prop_assert_eq!((found.changes.len(), found.len()), (many.min(MOST), many));
    }

    #[test]
    fn garbage_is_no_reason_to_panic(old in r#"[\[\]{}",:\\a1né ]{0,40}"#, new in r#"[\[\]{}",:\\a1né ]{0,40}"#) {
        let _ = diff(&old, &new);
        let _ = writers(Some(&old), &new);
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
            let _ = writers(None, new);
        }
    }
}
