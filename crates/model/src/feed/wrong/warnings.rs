//! What Events say of objects whose own state does not say why it is not as it should be.

use kubechurn_changes::value::KEPT;
use kubechurn_client::api::object::Object;
use kubechurn_client::api::time::Timestamp;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_columns::kinds::events::{Said, said};
use rustc_hash::FxHashMap;

use super::fault::{CREATE, HANG, NOT_READY_POD, trouble};

/// How long an Event may be of use, in milliseconds: a controller tries again at the latest after this time.
pub const OF_USE: f64 = 1_000_000.0;
/// How many objects may have Events before those are dropped that are of no use any more.
const MOST: usize = 4_000;

/// What was said last of an object.
#[derive(Debug)]
pub struct Warning {
    /// When it was said first and last, in milliseconds.
    pub first_at: f64,
    pub at: f64,
    /// The Event's message.
    pub message: String,
    /// The part of the object.
    pub part: String,
}

/// The last Warning of each object and kind of trouble, and when it was last said that there is no such trouble.
#[derive(Debug, Default)]
pub struct Warnings {
    said: FxHashMap<(Uid, u8), Warning>,
    /// When a workload created something, in milliseconds.
    created: FxHashMap<Uid, f64>,
}

impl Warnings {
    /// Notes an Event that was received at this time, which the server calls `wall`. Returns whether it is of use.
    pub fn received(&mut self, delta_type: DeltaType, object: &Object, now: f64, wall: Timestamp) -> bool {
        let Some(uid) = object.regarding().filter(|_| delta_type != DeltaType::Deleted) else { return false };
        let Said { is_warning, reason, part, message, seen } = said(&object.cells);
        let trouble = match (is_warning, reason) {
            (true, reason) => trouble(reason),
            (false, "SuccessfulCreate") => Some(CREATE),
            _ => None,
        };
        let Some(trouble) = trouble else { return false };
        let [first_at, at] =
            seen.map(|seen| now - seen.map_or(0.0, |Timestamp(at)| ((wall.0 - at).max(0) * 1_000) as f64));
        if now - at > OF_USE {
            return false;
        }
        if self.said.len() + self.created.len() > MOST {
            self.said.retain(|_, said| now - said.at < OF_USE);
            self.created.retain(|_, created| now - *created < OF_USE);
            if self.said.len() + self.created.len() > MOST {
                *self = Warnings::default();
            }
        }
        if !is_warning {
            // Lists are in no order of time; what is not complained of yet needs no word otherwise.
            if !delta_type.is_of_list() && !self.said.contains_key(&(uid.clone(), CREATE)) {
                return false;
            }
            let created = self.created.entry(uid.clone()).or_insert(at);
            *created = created.max(at);
            return true;
        }
        let of = (uid.clone(), trouble);
        if self.said.get(&of).is_none_or(|known| known.at <= at) {
            let message = message.chars().take(KEPT).collect();
            self.said.insert(of, Warning { first_at, at, message, part: part.to_owned() });
        }
        true
    }

    /// What was said last of such a trouble of an object, if it was not well after that.
    pub fn of(&self, uid: &Uid, trouble: u8) -> Option<&Warning> {
        if self.said.is_empty() {
            return None;
        }
        let said = self.said.get(&(uid.clone(), trouble))?;
        // Events have whole seconds, and of what is tried at once some may succeed.
        let is_over = trouble == CREATE && self.created.get(uid).is_some_and(|created| *created > said.at + 1_000.0);
        (!is_over).then_some(said)
    }

    /// Forgets what was said of an object that is gone.
    pub fn forget(&mut self, uid: &Uid) {
        if self.said.is_empty() && self.created.is_empty() {
            return;
        }
        for trouble in [CREATE, HANG, NOT_READY_POD] {
            self.said.remove(&(uid.clone(), trouble));
        }
        self.created.remove(uid);
    }
}
