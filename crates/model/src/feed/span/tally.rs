//! Counts the changes of two stretches of time by what they have in common, and says which counts are unusual.

use std::sync::Arc;

use kubechurn_changes::line::Line;
use kubechurn_changes::writer::{NamedWriter, brief};
use kubechurn_client::api::sort::sort_by;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use smol_str::SmolStr;

use crate::timeline::mark::grouped;
use crate::timeline::scene::fit;

/// How many names are counted at most. Those that come after are not.
const MOST_NAMES: usize = 20_000;
/// A count is unusual only if one so much larger than usual comes by chance in less than one of twenty cases: the quantile
/// of the chi-squared distribution with one degree of freedom, for the likelihood ratio of two Poisson counts.
const UNUSUAL: f64 = 3.84;
/// How many times as often as usual is worth a word.
const LEAST_RATIO: f64 = 1.5;
/// How many other names are looked at for one that contains a name.
const MOST_OTHERS: usize = 500;
/// The path under which the state of a Pod is shown.
const POD_STATUS: &str = "STATUS";
/// How many characters of a name there is room for.
const LABEL: usize = 24;
/// What Warnings are called among the kinds.
const WARNINGS: &str = "Event, Warning";

/// What changes are counted by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum By {
    Kind,
    Owner,
    Manager,
    Path,
    Reason,
}

impl By {
    const ALL: [By; 5] = [By::Kind, By::Manager, By::Path, By::Reason, By::Owner];

    /// The heading, the place of the feed's filter, and how many rows are shown.
    fn words(self) -> (&'static str, &'static str, usize) {
        match self {
            By::Kind => ("kind", "kind", 8),
            By::Owner => ("owner", "owner", 5),
            By::Manager => ("by, inferred", "by", 5),
            By::Path => ("field", "path", 7),
            By::Reason => ("reason of Events", "reason", 5),
        }
    }
}

/// A row of the table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpanRow {
    /// What was counted: a kind, an owner, a manager, a path or a reason.
    pub name: String,
    /// The name as far as there is room: its middle gives way.
    pub label: String,
    /// How many changes of the stretch have it.
    pub count: String,
    /// `× 9` or `new here` where that is unusual, and otherwise nothing.
    pub note: String,
    /// The filter of the feed that lets these changes through.
    pub filter: String,
    /// Whether it is of changes that are no difference in the end, and so are found among the changes alone.
    pub is_each: bool,
}

/// The rows of one sort.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SpanSection {
    /// What is counted by.
    pub title: &'static str,
    /// The rows, the most telling first.
    pub rows: Vec<SpanRow>,
    /// How many more there are.
    pub more: usize,
}

/// How often each name occurs in the stretch, and in the one before it.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    counts: FxHashMap<By, FxHashMap<Arc<str>, [u64; 2]>>,
    names: usize,
    /// Whether users were counted among the managers, and whether managers were.
    has_users: bool,
    has_managers: bool,
}

impl Tally {
    /// Counts a change of the stretch, or of the one before it.
    pub(crate) fn add(&mut self, line: &Line, is_own: bool) {
        let writers: SmallVec<[SmolStr; 2]> = line.named_writers().map(|writer| writer.name()).collect();
        for writer in line.named_writers() {
            match writer {
                NamedWriter::User(_) => self.has_users = true,
                NamedWriter::Manager(_) => self.has_managers = true,
            }
        }
        let owner = line.controller().map(|owner| format!("{}/{}", owner.kind, owner.name));
        let mut names: SmallVec<[(By, &str); 16]> = SmallVec::new();
        // A change counts once for each name, however often it has it.
        let mut name = |by: By, word| {
            if !names.contains(&(by, word)) {
                names.push((by, word));
            }
        };
        name(By::Kind, &line.kind);
        writers.iter().for_each(|writer| name(By::Manager, writer));
        match &line.reason {
            Some(reason) => {
                name(By::Reason, &reason.word);
                if reason.is_warning {
                    name(By::Kind, WARNINGS);
                }
            }
            None => {
                let paths =
                    line.fields.iter().map(|field| &*field.path).chain(line.other_paths.iter().map(|path| &**path));
                paths.for_each(|path| name(By::Path, field_of(path)));
            }
        }
        owner.iter().for_each(|owner| name(By::Owner, owner));
        for (by, word) in names {
            let known = self.counts.entry(by).or_default();
            if let Some(counts) = known.get_mut(word) {
                counts[usize::from(!is_own)] += 1;
            } else if self.names < MOST_NAMES {
                self.names += 1;
                known.insert(word.into(), if is_own { [1, 0] } else { [0, 1] });
            }
        }
    }

    /// The rows. The stretch is `length` milliseconds long, and `compared` of the time before are known.
    pub(crate) fn sections(&self, length: f64, compared: Option<f64>) -> Vec<SpanSection> {
        let sections = By::ALL.into_iter().filter_map(|by| {
            let names = self.counts.get(&by)?;
            let mut rows: Vec<(f64, u64, &str, String)> = Vec::new();
            for (name, [own, before]) in names.iter().filter(|(_, [own, _])| *own > 0) {
                let (score, note) = compared.map_or_else(Default::default, |before_length| {
                    compare([*own, *before], length / (length + before_length))
                });
                rows.push((score, *own, name, note));
            }
            sort_by(&mut rows, |one, other| {
                let by_score = other.0.total_cmp(&one.0).then(other.1.cmp(&one.1));
                by_score.then_with(|| one.2.cmp(other.2))
            });
            let (title, _, most) = by.words();
            let title = match (by, self.has_users, self.has_managers) {
                (By::Manager, true, false) => "by",
                (By::Manager, true, true) => "by, partly inferred",
                _ => title,
            };
            let more = rows.len().saturating_sub(most);
            let shown = rows.into_iter().take(most).map(|(_, count, name, note)| {
                // The feed writes it so, too.
                let written = if name == POD_STATUS { "status" } else { name };
                let (label, filter) = (fit(&label_of(by, written), LABEL), filter_of(by, name, names.keys()));
                SpanRow { name: written.to_owned(), label, count: grouped(count), note, filter, is_each: false }
            });
            Some(SpanSection { title, rows: shown.collect(), more }).filter(|section| !section.rows.is_empty())
        });
        sections.collect()
    }
}

fn label_of(by: By, name: &str) -> String {
    if by == By::Manager { brief(name) } else { name.to_owned() }
}

/// The field that a path is counted as: of a status that of its list, whatever the item.
fn field_of(path: &str) -> &str {
    let end = if path.starts_with("status.") { path.find('[') } else { None };
    path.get(..end.unwrap_or(path.len())).unwrap_or(path)
}

/// How far the first of two counts is beyond what is usual, and what is said of that. `share` is the share of the first in
/// both, were they equally frequent. The score is the likelihood ratio of the two counts against one common rate.
fn compare([own, before]: [u64; 2], share: f64) -> (f64, String) {
    let (own, before) = (own as f64, before as f64);
    let expected = (own + before) * share;
    if before == 0.0 {
        return (2.0 * own * (1.0 / share).ln(), String::from("new here"));
    }
    let usual = before * share / (1.0 - share);
    let ratio = own / usual;
    let score = 2.0 * (own * (own / expected).ln() + before * (before / (own + before - expected)).ln());
    if ratio < LEAST_RATIO || score < UNUSUAL {
        return (0.0, String::new());
    }
    (score, if ratio < 3.0 { format!("× {ratio:.1}") } else { format!("× {}", grouped(ratio.round() as u64)) })
}

/// The filter that lets through what has this name, and nothing that has another one of these.
fn filter_of<'a>(by: By, name: &str, mut others: impl ExactSizeIterator<Item = &'a Arc<str>>) -> String {
    let (_, place, _) = by.words();
    if by == By::Kind && name == WARNINGS {
        return String::from("kind:/^Event$/ type:Warning");
    }
    let lower = name.to_lowercase();
    let is_begun = by == By::Path && name.starts_with("status.");
    let is_within = |other: &Arc<str>| **other != *name && other.to_lowercase().contains(&lower);
    let is_plain = !name.contains(char::is_whitespace) && !name.starts_with(['/', '!']) && name != POD_STATUS;
    // Owners are many, and their names alike.
    if by != By::Owner && is_plain && others.len() <= MOST_OTHERS && !others.any(is_within) {
        return format!("{place}:{name}");
    }
    let end = if is_begun { "($|\\[)" } else { "$" };
    exactly(place, name, end)
}

/// The filter that lets through what has exactly this word in this place, up to this end.
pub(crate) fn exactly(place: &str, name: &str, end: &str) -> String {
    let mut expression = String::new();
    for letter in name.chars() {
        match letter {
            letter if letter.is_whitespace() => expression.push_str("\\s"),
            letter if letter.is_ascii_punctuation() => expression.extend(['\\', letter]),
            letter => expression.push(letter),
        }
    }
    format!("{place}:/^{expression}{end}/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_compared_with_what_is_usual() {
        let check = |counts: [u64; 2], share: f64, expected: &str| {
            assert_eq!(compare(counts, share).1, expected, "{counts:?} {share}");
        };
        check([212, 24], 0.5, "× 9");
        check([1, 0], 0.5, "new here");
        check([198, 190], 0.5, "");
        check([2, 1], 0.5, "");
        check([20, 8], 0.5, "× 2.5");
        check([24, 212], 0.5, "");
        // Of the time before, a quarter is known.
        check([40, 10], 0.8, "");
        check([4_000, 10], 0.8, "× 100");
        assert!(
            compare([212, 24], 0.5).0 > compare([3, 0], 0.5).0,
            "many times as often says more than a few new ones"
        );
    }

    #[test]
    fn the_filter_of_a_row_finds_that_row_alone() {
        let check = |by, name: &str, others: &[&str], expected: &str| {
            let others: Vec<Arc<str>> = others.iter().map(|other| Arc::from(*other)).collect();
            let text = filter_of(by, name, others.iter());
            assert_eq!(text, expected);
            assert!(kubechurn_changes::filter::Filter::parse(&text).is_ok(), "{text}");
        };
        check(By::Kind, "Pod", &["Pod", "Node"], "kind:Pod");
        check(By::Kind, "Pod", &["PodDisruptionBudget", "Pod"], "kind:/^Pod$/");
        check(By::Kind, WARNINGS, &[], "kind:/^Event$/ type:Warning");
        check(By::Path, "spec.replicas", &[], "path:spec.replicas");
        check(By::Path, "STATUS", &[], "path:/^STATUS$/");
        check(By::Path, "status.conditions", &["status.conditionsOf"], r"path:/^status\.conditions($|\[)/");
        check(By::Path, "data[\"a b/c\"]", &[], r#"path:/^data\[\"a\sb\/c\"\]$/"#);
        check(By::Owner, "ReplicaSet/cart-1", &["ReplicaSet/cart-11"], r"owner:/^ReplicaSet\/cart\-1$/");
        check(By::Manager, "!x", &[], r"by:/^\!x$/");
    }
}
