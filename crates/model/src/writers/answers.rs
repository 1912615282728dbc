//! Which change a write answers, as far as ownership and time say: the last one of the object itself, of its owner, of what it
//! owns, or of what has the same owner and went. The demo cluster's own log of which event each write answers judges it
//! (`crates/cluster/src/scenario/tests/why.rs`).

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
    /// Something else was asked of the owner of the object.
    Owner,
    /// Something was changed that the object owns.
    Owned,
    /// Something went that has the same owner, and the object was made or deleted.
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
    role: Role,
}

/// Who wrote, and whether as whoever reports: the controllers of one program have one name, and one of them writes what another
/// one then reports.
#[derive(Clone, Debug, PartialEq)]
struct Role {
    writer: SmolStr,
    reports: bool,
}

impl Role {
    fn of(line: &Line, writer: &str) -> Role {
        let reports = !line.asks && line.writers.iter().any(|own| own.subresource == "status");
        Role { writer: writer.into(), reports }
    }
}

/// What was changed lately: the last change, and the last one in another role.
type Last = [Option<Recent>; 2];

/// What was changed lately.
#[derive(Debug, Default)]
pub struct Lately {
    /// Of each object.
    own: FxHashMap<Uid, Last>,
    /// The last change by which something else was asked of an object.
    asked: FxHashMap<Uid, Recent>,
    /// Of what has an owner, by that: the last change, and the last time that one of it went or was to go.
    owned: FxHashMap<Uid, Last>,
    gone: FxHashMap<Uid, Recent>,
    /// How many were left when some were forgotten last.
    left: usize,
}

impl Lately {
    /// Which change a writer answers with this one. Whoever reports looks at the object and at what that owns, and at nothing above
    /// it; a controller answers what others write into the objects that it makes, and not that it made them.
    pub fn answered(&self, line: &Line, writer: &str) -> Option<Answer> {
        if is_person(writer) {
            return None;
        }
        let role = Role::of(line, writer);
        let is_soon = |recent: &&Recent| line.at - recent.at <= SOON;
        let answer = |recent: &Recent, tie: Tie| Answer { seq: recent.seq, at: recent.at, tie };
        let of = |known: &FxHashMap<Uid, Last>, tie: Tie, is_it: &dyn Fn(&Recent) -> bool| {
            let last = known.get(&line.uid)?.iter().flatten().filter(|recent| is_it(recent));
            last.filter(is_soon).max_by_key(|recent| recent.seq).map(|recent| answer(recent, tie))
        };
        let own = of(&self.own, Tie::Own, &|recent| recent.role != role);
        let owned = of(&self.owned, Tie::Owned, &|recent| recent.role.reports || recent.role.writer != role.writer);
        let comes_or_goes =
            matches!(line.delta_type, DeltaType::Added | DeltaType::Deleted) || line.is_marked_for_deletion();
        let above = line.owners.iter().take(2).filter(|_| !role.reports).flat_map(|owner| {
            let sibling = self.gone.get(&owner.uid).filter(|_| comes_or_goes);
            let all = [(self.asked.get(&owner.uid), Tie::Owner), (sibling, Tie::Sibling)];
            all.map(|(recent, tie)| recent.filter(is_soon).map(|recent| answer(recent, tie)))
        });
        let all = [own, owned].into_iter().chain(above).flatten();
        all.max_by(|one, other| one.seq.cmp(&other.seq).then(other.tie.cmp(&one.tie)))
    }

    /// Remembers a change, by this writer if one is known.
    pub fn add(&mut self, line: &Line, writer: SmolStr) {
        if line.noise.is_some() || is_of_events(line) {
            return;
        }
        let recent = Recent { seq: line.seq, at: line.at, role: Role::of(line, &writer) };
        let goes = line.delta_type == DeltaType::Deleted || line.is_marked_for_deletion();
        for owner in line.owners.iter().take(2) {
            put(self.owned.entry(owner.uid.clone()).or_default(), recent.clone());
            if goes {
                self.gone.insert(owner.uid.clone(), recent.clone());
            }
        }
        if line.asks {
            self.asked.insert(line.uid.clone(), recent.clone());
        }
        put(self.own.entry(line.uid.clone()).or_default(), recent);
        // Not before they are twice as many: where much changes at once, nothing would be forgotten each time.
        if self.own.len() + self.owned.len() > MANY.max(2 * self.left) {
            let is_recent = |recent: &Recent| line.at - recent.at <= SOON;
            let is_any = |last: &Last| last.iter().flatten().any(is_recent);
            self.own.retain(|_, last| is_any(last));
            self.owned.retain(|_, last| is_any(last));
            self.asked.retain(|_, recent| is_recent(recent));
            self.gone.retain(|_, recent| is_recent(recent));
            self.left = self.own.len() + self.owned.len();
        }
    }
}

fn put(last: &mut Last, recent: Recent) {
    let [newest, other] = last;
    if newest.as_ref().is_some_and(|newest| newest.role != recent.role) {
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
