//! The state that an object is in, as a timeline writes it in a band: the word that the table has for it, and how alarming
//! the state is. It never has words of its own.

use kubechurn_client::api::cell::{CellRef, Tone};
use kubechurn_client::api::cells::Cells;
use kubechurn_client::api::time::Timestamp;

use crate::column::{Column, StatePart};

/// Writes the word for an object's state into `word`, in place of what was there, and returns how alarming the state is.
/// `cells` are those of the columns. The word is empty for a kind none of whose columns tells a state ([`StatePart`]).
///
/// The first cell that is a status tells how alarming the state is. Where there is none, the word `2/3` does: a part that
/// is less than the whole is still to come.
pub fn write_state(columns: &[Column], cells: &Cells, word: &mut String) -> Tone {
    word.clear();
    let (mut tone, mut ratio, mut part, mut whole) = (None, None, None, None);
    let told = columns.iter().map(|column| column.state).chain(std::iter::repeat(StatePart::None));
    for (cell, told) in cells.iter().zip(told) {
        if tone.is_none() && matches!(cell, CellRef::Status(..)) {
            tone = Some(cell.tone());
        }
        match (told, cell) {
            (StatePart::None, _) => {}
            (StatePart::Word, cell) => {
                // No state is an age, so that the time does not matter.
                cell.write(Timestamp(0), word);
                ratio = if let CellRef::Ratio(part, whole) = cell { Some((part, whole)) } else { None };
            }
            (StatePart::Part, CellRef::Number(number)) => part = Some(number),
            (StatePart::Whole, CellRef::Number(number)) => whole = Some(number),
            (StatePart::Part | StatePart::Whole, _) => {}
        }
    }
    if let (Some(part), Some(whole)) = (part, whole) {
        CellRef::Ratio(part, whole).write(Timestamp(0), word);
        ratio = Some((part, whole));
    }
    tone.or(ratio.map(tone_of)).unwrap_or_default()
}

/// How alarming it is that so many of so many are ready. Nothing that is wanted is neither good nor bad.
fn tone_of((part, whole): (i64, i64)) -> Tone {
    match () {
        () if part < whole => Tone::Wait,
        () if whole == 0 => Tone::Plain,
        () => Tone::Good,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kinds::{BEFORE, KINDS, kind};

    /// The state of an object of a kind, given as JSON without its metadata.
    fn state(name: &str, rest: &str) -> (String, Tone) {
        let kind = kind(name).unwrap();
        let text = format!(r#"{{"metadata":{{"name":"a","namespace":"n","uid":"u","resourceVersion":"1"}},{rest}}}"#);
        let object = (kind.decode.0)(&text).unwrap();
        let mut word = String::from("another word");
        let tone = write_state(kind.columns, &object.cells, &mut word);
        (word, tone)
    }

    #[test]
    fn each_kind_s_state_is_the_word_of_its_table() {
        let waiting = r#""status":{"phase":"Running","containerStatuses":[{"state":{"waiting":{"reason":"CrashLoopBackOff"}}}]},"spec":{"containers":[{"name":"c"}]}"#;
        let conditions = r#""status":{"conditions":[{"type":"Ready","status":"False"}]},"spec":{"unschedulable":true}"#;
        for (name, rest, word, tone) in [
            ("pods", waiting, "CrashLoopBackOff", Tone::Bad),
            ("deployments", r#""spec":{"replicas":3},"status":{"readyReplicas":2}"#, "2/3", Tone::Wait),
            ("deployments", r#""spec":{"replicas":3},"status":{"readyReplicas":3}"#, "3/3", Tone::Good),
            ("deployments", r#""spec":{"replicas":0},"status":{}"#, "0/0", Tone::Plain),
            ("replicasets", r#""spec":{"replicas":3},"status":{"readyReplicas":1}"#, "1/3", Tone::Wait),
            ("replicasets", r#""spec":{"replicas":2},"status":{"readyReplicas":3}"#, "3/2", Tone::Good),
            ("statefulsets", r#""spec":{"replicas":1},"status":{"readyReplicas":1}"#, "1/1", Tone::Good),
            ("nodes", conditions, "NotReady,SchedulingDisabled", Tone::Bad),
            ("jobs", r#""spec":{"completions":5},"status":{"succeeded":3}"#, "3/5", Tone::Good),
            ("persistentvolumeclaims", r#""status":{"phase":"Bound"}"#, "Bound", Tone::Good),
            ("namespaces", r#""status":{"phase":"Terminating"}"#, "Terminating", Tone::Wait),
            ("configmaps", r#""data":{"a":"b"}"#, "", Tone::Plain),
            ("events", r#""type":"Warning","reason":"BackOff""#, "", Tone::Bad),
        ] {
            assert_eq!(state(name, rest), (word.to_owned(), tone), "{name}: {rest}");
        }
    }

    #[test]
    fn a_kind_tells_its_state_in_one_way() {
        let mut with_state = Vec::new();
        for kind in KINDS.iter().chain(BEFORE.iter().map(|(_, before)| before)) {
            let count = |part| kind.columns.iter().filter(|column| column.state == part).count();
            let counts = [StatePart::Word, StatePart::Part, StatePart::Whole].map(count);
            assert!([[0, 0, 0], [1, 0, 0], [0, 1, 1]].contains(&counts), "{}: {counts:?}", kind.name);
            if counts != [0, 0, 0] {
                with_state.push(kind.resource.kind);
            }
        }
        let expected = "Pod Deployment ReplicaSet StatefulSet Job PersistentVolumeClaim Node Namespace Node Job";
        assert_eq!(with_state.join(" "), expected);
    }
}
