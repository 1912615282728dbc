//! What the checks found, in words for the user, and as JSON for other programs.

use serde::Serialize;

use kubechurn_client::cache::consistency::Difference;
use kubechurn_client::cache::factory::InformerId;
use kubechurn_client::cache::journal::Identity;

use crate::timeline::mark::grouped;
use crate::verification::{Run, Stage, Verified, Verifier};
use crate::watches::watched::Watched;

/// What the footer shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary {
    /// `unknown`, `checking`, `same` or `differs`.
    pub state: &'static str,
    /// When the kinds in view were compared, in milliseconds: of several the longest ago. `None` while none was.
    pub at: Option<f64>,
    /// Words that stand beside the time.
    pub words: String,
}

/// What the list shows for one informer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Item {
    /// The kind's title, and the namespace.
    pub subject: String,
    /// One of the words of [`Summary`].
    pub state: &'static str,
    /// When the informer was compared last, in milliseconds.
    pub at: Option<f64>,
    /// The result in words.
    pub words: String,
    /// When a difference was last found, in milliseconds.
    pub found_at: Option<f64>,
    /// The first of the differences that were found then, a line for each.
    pub differences: Vec<String>,
}

/// What `status()` says of a kind's checks.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct VerifiedReport {
    /// When the kind was compared, in milliseconds since 1970; of several watches the longest ago. `null` before all
    /// were compared.
    at: Option<f64>,
    /// How many objects were the same in the store and at the server, at the same version.
    same: u64,
    /// How many objects the store or the server has.
    of: u64,
    /// How many rows were the same as in the store.
    rows: u64,
    /// How many of the rows on the screen were drawn as the table has them.
    drawn: u64,
    /// How many comparisons were finished, and how many of them found a difference.
    checks: u64,
    differed: u64,
    checking: bool,
    /// Why the newest comparison came to nothing.
    trouble: Option<String>,
    /// The differences of the last comparison that found any, at most 100 of each watch, healed or not.
    differences: Vec<ReportedDifference>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct ReportedDifference {
    /// `store`, compared with the server; `row`, compared with the store; or `screen`, compared with the row.
    #[serde(rename = "in")]
    place: &'static str,
    key: String,
    ours: Option<ReportedIdentity>,
    theirs: Option<ReportedIdentity>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
struct ReportedIdentity {
    uid: String,
    #[serde(rename = "resourceVersion")]
    resource_version: String,
}

impl From<&Identity> for ReportedIdentity {
    fn from(identity: &Identity) -> ReportedIdentity {
        ReportedIdentity { uid: identity.uid.to_string(), resource_version: identity.resource_version.to_string() }
    }
}

/// A difference in a line: what each side has.
fn line((place, difference): (&'static str, &Difference)) -> String {
    let Difference { key, ours, theirs } = difference;
    let lives = ours.as_ref().zip(theirs.as_ref()).is_some_and(|(ours, theirs)| ours.uid != theirs.uid);
    let write = |side: &Option<Identity>| match side {
        None => String::from("nothing"),
        Some(one) if lives => format!("version {} of {}", one.resource_version, one.uid),
        Some(one) => format!("version {}", one.resource_version),
    };
    match place {
        "screen" => format!("{key}: not drawn as it is"),
        "row" => format!("{key}: row {}, store {}", write(ours), write(theirs)),
        _ => format!("{key}: here {}, server {}", write(ours), write(theirs)),
    }
}

impl Run {
    fn words(&self) -> String {
        match (&self.stage, &self.comparison) {
            (Stage::Waiting { newer_than: Some(_), .. }, _) => String::from("waits for a newer version"),
            (Stage::Waiting { .. }, _) => String::from("waits for the server"),
            (_, Some(comparison)) => {
                let (named, of) = comparison.progress();
                format!("{} of {}", grouped(named as u64), grouped(of as u64))
            }
            _ => String::new(),
        }
    }
}

fn is_checking(verifier: &Verifier, id: InformerId) -> bool {
    verifier.run.as_ref().is_some_and(|run| run.id == id) || verifier.queue.iter().any(|(own, _)| *own == id)
}

/// What `status()` says of a kind.
pub fn report(verifier: &Verifier, watched: &Watched) -> VerifiedReport {
    let mut report = VerifiedReport::default();
    let mut all = true;
    for (id, _) in watched.sources() {
        report.checking |= is_checking(verifier, id);
        let record = verifier.records.get(&id);
        let last = record.and_then(|record| record.last.as_ref());
        all &= last.is_some();
        if let Some(last) = last {
            report.at = Some(report.at.map_or(last.at, |at| at.min(last.at)));
            report.same += last.store.same;
            report.of += last.store.of();
            report.rows += last.rows;
            report.drawn += last.drawn;
        }
        let Some(record) = record else { continue };
        report.checks += record.checks;
        report.differed += record.differed;
        if report.trouble.is_none() {
            report.trouble = record.trouble.as_ref().map(|(_, words)| words.clone());
        }
        report.differences.extend(record.found.iter().flat_map(reported));
    }
    report.at = report.at.filter(|_| all);
    report
}

/// What the footer shows for the kinds in view.
pub fn summary(verifier: &Verifier, members: &[Watched]) -> Summary {
    let ids = || members.iter().flat_map(Watched::sources).map(|(id, _)| id);
    let running = verifier.run.as_ref().filter(|run| run.by_user && ids().any(|id| id == run.id));
    let records = || ids().map(|id| verifier.records.get(&id));
    let last = || records().map(|record| record.and_then(|record| record.last.as_ref()));
    let differing: u64 = last().flatten().map(Verified::differences).sum();
    let at = last().map(|last| last.map(|last| last.at)).collect::<Option<Vec<f64>>>();
    let at = at.and_then(|at| at.into_iter().reduce(f64::min));
    let trouble = records().flatten().find_map(|record| record.trouble.as_ref());
    match (running, trouble) {
        (Some(run), _) => Summary { state: "checking", at: None, words: run.words() },
        (_, Some((at, words))) => Summary { state: "unknown", at: Some(*at), words: words.clone() },
        _ if differing > 0 => Summary { state: "differs", at, words: grouped(differing) },
        _ if at.is_some() => Summary { state: "same", at, words: String::new() },
        _ => Summary { state: "unknown", at: None, words: String::new() },
    }
}

/// What the list shows: an item for each watch.
pub fn items(verifier: &Verifier, watched: &[Watched]) -> Vec<Item> {
    let item = |watched: &Watched, id: InformerId, namespace: &str| {
        let title = watched.kind().title;
        let subject = if namespace.is_empty() { title.to_owned() } else { format!("{title} in {namespace}") };
        let run = verifier.run.as_ref().filter(|run| run.id == id);
        let Some(record) = verifier.records.get(&id) else {
            return Item { subject, state: "unknown", ..Item::default() };
        };
        let last = record.last.as_ref();
        let (state, at, words) = match (run, &record.trouble, last) {
            (Some(run), ..) => ("checking", None, format!("comparing: {} so far", run.words())),
            (_, Some((at, words)), _) => ("unknown", Some(*at), format!("not verified: {words}")),
            (_, _, Some(last)) => {
                let state = if last.differences() > 0 { "differs" } else { "same" };
                let (same, of, version) = (grouped(last.store.same), grouped(last.store.of()), &last.store.version);
                let rows = grouped(last.rows);
                (state, Some(last.at), format!("{same} of {of} the same at version {version}, and {rows} rows"))
            }
            _ => ("unknown", None, String::from("not compared yet")),
        };
        let found = record.found.as_ref();
        let differences = found.into_iter().flat_map(Verified::placed).map(line).collect();
        Item { subject, state, at, words, found_at: found.map(|found| found.at), differences }
    };
    let each = watched.iter().flat_map(|watched| watched.sources().map(move |source| (watched, source)));
    each.map(|(watched, (id, scope))| item(watched, id, &scope.namespace)).collect()
}

fn reported(verified: &Verified) -> impl Iterator<Item = ReportedDifference> {
    verified.placed().map(|(place, difference)| ReportedDifference {
        place,
        key: difference.key.to_string(),
        ours: difference.ours.as_ref().map(ReportedIdentity::from),
        theirs: difference.theirs.as_ref().map(ReportedIdentity::from),
    })
}
