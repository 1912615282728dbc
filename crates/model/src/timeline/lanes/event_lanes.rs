//! The lanes on which the marks of Events are drawn: those of the objects that the Events are about.

use kubechurn_client::api::object::KeyRef;

use crate::kind_id::KindId;
use crate::timeline::store::mark::LaneOf;
use crate::timeline::store::marks::Marks;

/// The lane on which an Event's marks are drawn: that of its object, if the object has one among these marks. Any other
/// lane stands for itself.
pub(crate) fn drawn_on(marks: &[&Marks], lane: LaneOf) -> LaneOf {
    object_of(marks, lane).unwrap_or(lane)
}

fn object_of(marks: &[&Marks], LaneOf { kind, lane }: LaneOf) -> Option<LaneOf> {
    let own = marks.get(kind.index())?;
    let target = own.event_targets.of(lane)?;
    let (object_kind, name) = target.name.split_once('/')?;
    let namespace = &*own.lanes.get(lane)?.key.namespace;
    (0..).map(KindId).zip(marks).filter(|(_, other)| other.kind.eq_ignore_ascii_case(object_kind)).find_map(
        |(kind, other)| {
            let find = |namespace: &str| other.lanes.find(&KeyRef { namespace, name });
            let lane = find(namespace).or_else(|| find(""))?;
            other.lanes.get(lane).is_some_and(|lane| target.is_of(lane)).then_some(LaneOf { kind, lane })
        },
    )
}
