//! The words that the parts share.

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::cache::client_go::Call;
use kubechurn_client::cache::delta::DeltaObject;

use crate::inside::{Compared, Handled, Step, What, is_sync};
use crate::timeline::mark::MarkType;
use crate::view::inside::model::Line;

/// The type of a step's delta, where it has one.
pub(super) fn delta_of(step: &Step) -> &'static str {
    match &step.what {
        What::Event { delta_type, .. } => MarkType::from(*delta_type).name(),
        What::Replaced { rows, .. } if rows.iter().any(|row| row.compared() == Compared::Missing) => "tombstone",
        What::Replaced { .. } | What::Listed { .. } | What::Streamed(_) => "Replaced",
        What::Resynced { .. } => "Sync",
        What::Bookmark(_) => "Bookmark",
        What::Popped(taken) => taken.calls.first().map_or("", delta_of_call),
        What::Handler(_, Handled::Called(call) | Handled::Skipped(call)) => delta_of_call(call),
        _ => "",
    }
}

pub(super) fn delta_of_call(call: &Call) -> &'static str {
    match call {
        Call::OnAdd { .. } => "Added",
        call if is_sync(call) => "Sync",
        Call::OnUpdate { .. } => "Updated",
        Call::OnDelete { object: DeltaObject::Known(_) } => "Deleted",
        Call::OnDelete { object: DeltaObject::FinalStateUnknown(_) } => "tombstone",
    }
}

/// So many letters of a name have room.
const LETTERS: usize = 15;

/// The name of an object without its namespace. What is in the middle of a long one is left out: those of a workload's Pods begin
/// alike.
pub(super) fn name(key: &ObjectKey) -> String {
    let letters = key.name.chars().count();
    if letters <= LETTERS {
        return key.name.to_string();
    }
    let begin = key.name.chars().take(LETTERS - 8);
    begin.chain(std::iter::once('…')).chain(key.name.chars().skip(letters - 7)).collect()
}

pub(super) fn call_line(look: &'static str, call: &Call) -> Line {
    let (text, right) = match call {
        Call::OnAdd { new, is_in_initial_list } => {
            (if *is_in_initial_list { "OnAdd, initial" } else { "OnAdd" }, new.resource_version.to_string())
        }
        Call::OnUpdate { old, new } => ("OnUpdate", format!("{} → {}", old.resource_version, new.resource_version)),
        Call::OnDelete { object: DeltaObject::Known(last) } => ("OnDelete", last.resource_version.to_string()),
        Call::OnDelete { object: DeltaObject::FinalStateUnknown(last) } => {
            ("OnDelete, tombstone", last.resource_version.to_string())
        }
    };
    Line { look, delta: delta_of_call(call), left: name(call.key()), text: text.into(), right }
}
