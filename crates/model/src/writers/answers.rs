//! Which change a write answers, as far as ownership and time say: the last one of the object itself, of its owner, of what it
//! owns, or of what has the same owner.

use kubechurn_changes::line::Line;
use kubechurn_changes::noise::Noise;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

/// How long after a change a write may answer it, in milliseconds. A controller that waits longer is not seen to answer.
pub const SOON: f64 = 10_000.0;
/// How many objects are remembered at least before those are forgotten of which nothing was received for so long.
const MANY: usize = 4_096;

/// What a write has to do with the change that it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tie {
    /// Somebody else changed the same object.
    Own,
    /// The owner of the object was changed.
    Owner,
    /// Something was changed that the object owns.
    Owned,
    /// Something was changed that has the same owner, and the object was made or deleted.
    Sibling,
}

impl Tie {
    /// What was changed, in words.
    pub fn words(self) -> &'static str {
        match self {
            Tie::Own => "a change of the object itself",
            Tie::Owner => "a change of its owner",
            Tie::Owned => "a change of what it owns",
            Tie::Sibling => "a change of another one of its owner",
        }
    }
}

/// The change that a write seems to answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The number of the change.
    pub seq: u64,
    /// When it came, in milliseconds.
    pub at: f64,
    /// What the write has to do with it.
    pub tie: Tie,
}

/// A change that may be answered.
#[derive(Clone, Debug)]
struct Recent {
    seq: u64,
    at: f64,
    writer: SmolStr,
}

/// What was changed lately: of an object or of what has an owner the last change, and the last one by somebody else.
type Last = [Option<Recent>; 2];

/// What was changed lately.
#[derive(Debug, Default)]
pub struct Lately {
    own: FxHashMap<Uid, Last>,
    owned: FxHashMap<Uid, Last>,
    /// How many were left when some were forgotten last.
    left: usize,
}

impl Lately {
    /// Which change a writer answers with this one.
    pub fn answered(&self, line: &Line, writer: &str) -> Option<Answer> {
        if is_person(writer) {
            return None;
        }
        let of = |known: &FxHashMap<Uid, Last>, uid: &Uid, tie: Tie, by_same: bool| {
            let last = known.get(uid)?.iter().flatten();
            let is_it = |recent: &&Recent| line.at - recent.at <= SOON && (by_same || recent.writer != *writer);
            last.filter(is_it).max_by_key(|recent| recent.seq).map(|recent| Answer {
                seq: recent.seq,
                at: recent.at,
                tie,
            })
        };
        let comes_or_goes =
            matches!(line.delta_type, DeltaType::Added | DeltaType::Deleted) || line.is_marked_for_deletion();
        let owners = line.owners.iter().take(2).flat_map(|owner| {
            let sibling = comes_or_goes.then(|| of(&self.owned, &owner.uid, Tie::Sibling, false)).flatten();
            [of(&self.own, &owner.uid, Tie::Owner, true), sibling]
        });
        let own = [of(&self.own, &line.uid, Tie::Own, false), of(&self.owned, &line.uid, Tie::Owned, true)];
        let all = own.into_iter().chain(owners).flatten();
        all.max_by(|one, other| one.seq.cmp(&other.seq).then(other.tie.cmp(&one.tie)))
    }

    /// Remembers a change, by this writer if one is known.
    pub fn add(&mut self, line: &Line, writer: SmolStr) {
        if line.noise.is_some() || is_of_events(line) {
            return;
        }
        let recent = Recent { seq: line.seq, at: line.at, writer };
        for owner in line.owners.iter().take(2) {
            put(self.owned.entry(owner.uid.clone()).or_default(), recent.clone());
        }
        put(self.own.entry(line.uid.clone()).or_default(), recent);
        // Not before they are twice as many: where much changes at once, nothing would be forgotten each time.
        if self.own.len() + self.owned.len() > MANY.max(2 * self.left) {
            let is_recent = |last: &Last| last.iter().flatten().any(|recent| line.at - recent.at <= SOON);
            self.own.retain(|_, last| is_recent(last));
            self.owned.retain(|_, last| is_recent(last));
            self.left = self.own.len() + self.owned.len();
        }
    }
}

fn put(last: &mut Last, recent: Recent) {
    let [newest, other] = last;
    if newest.as_ref().is_some_and(|newest| newest.writer != recent.writer) {
        *other = newest.take();
    }
    *newest = Some(recent);
}

/// Whether it is a Kubernetes Event: it says what was done, and answers nothing.
pub fn is_of_events(line: &Line) -> bool {
    line.reason.is_some() || &*line.kind == "Event"
}

/// Whether a writer is a tool in the hands of a person, whose writes answer nothing in the cluster.
fn is_person(writer: &str) -> bool {
    writer.starts_with("kubectl") || writer == "helm"
}

/// Whether a write changed nothing that anybody asked for or reported: only the version, or who owns which field.
pub fn changed_nothing(line: &Line) -> bool {
    matches!(line.noise, Some(Noise::Unchanged | Noise::Version | Noise::ManagedFields))
}
