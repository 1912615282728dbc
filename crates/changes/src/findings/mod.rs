//! Loops and fights: what happens again and again, and what should happen and does not.
//!
//! Each detector is a machine over lines that keeps a bounded number of objects, those that changed last. A finding is kept
//! for a while after its last evidence, and its evidence is given as sequence numbers of changes.

mod field;
mod object;
mod recent;
mod rollout;

use std::sync::Arc;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::sort::sort_by;
use kubechurn_client::api::uid::Uid;

use crate::line::Line;

/// How long a finding is reported after its last evidence, in milliseconds.
pub const REPORTED_FOR: f64 = 120_000.0;
/// The most sequence numbers of a finding: the newest.
pub const MOST_SEQS: usize = 64;

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub enum Finding {
    /// A field comes back to values that it had: the values, as they are shown, and the manager if there is one.
    Flapping {
        /// The field.
        path: String,
        /// The two values that it had last.
        values: [String; 2],
        /// Who seems to write them; empty if that is not known.
        manager: String,
    },
    /// Two managers set a field to values of their own.
    Fight {
        /// The field.
        path: String,
        /// The values.
        values: [String; 2],
        /// Who seems to write each of them.
        managers: [String; 2],
    },
    /// A manager writes an object over and over, and what is asked for stays as it is.
    Rewriting {
        /// Who seems to write; empty if that is not known.
        manager: String,
    },
    /// An object is deleted and made again.
    Recreated,
    /// A rollout does not progress.
    Stuck {
        /// How many Pods are of the new version.
        updated: u64,
        /// How many there should be.
        desired: u64,
        /// The state in which the newest Pods are, if it is one in which something is wrong.
        trouble: Option<String>,
    },
}

/// A finding about an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Card {
    /// What was found.
    pub finding: Finding,
    /// The object's kind.
    pub kind: Arc<str>,
    /// The object's namespace and name.
    pub key: ObjectKey,
    /// The object's uid, the newest if there were several.
    pub uid: Uid,
    /// When it began, in milliseconds.
    pub since: f64,
    /// When the last evidence was received, in milliseconds.
    pub last_at: f64,
    /// How many changes show it.
    pub count: u64,
    /// The sequence numbers of the newest of these changes, in order.
    pub seqs: Vec<u64>,
}

impl Finding {
    /// Its place among the findings: what fails before what repeats itself, and a cause before what follows from it.
    fn place(&self) -> u8 {
        match self {
            Finding::Stuck { .. } => 0,
            Finding::Fight { .. } => 1,
            Finding::Recreated => 2,
            Finding::Flapping { .. } => 3,
            Finding::Rewriting { .. } => 4,
        }
    }
}

impl Card {
    /// The finding in a few words.
    pub fn title(&self) -> &'static str {
        match self.finding {
            Finding::Flapping { .. } => "A field flaps",
            Finding::Fight { .. } => "Two managers fight over a field",
            Finding::Rewriting { .. } => "An object is written over and over",
            Finding::Recreated => "An object is deleted and made again",
            Finding::Stuck { .. } => "A rollout does not progress",
        }
    }

    /// The finding in parts: the words, and which part of the sentence they are. How often is said with the time in which it
    /// happened: a rate would claim what was not seen.
    pub fn words(&self) -> Vec<(String, &'static str)> {
        let seconds = ((self.last_at - self.since) / 1_000.0).ceil().max(1.0);
        let so_often = format!("{} times in {seconds:.0} s", self.count);
        let by = |manager: &str| if manager.is_empty() { String::new() } else { format!(" by {manager}") };
        match &self.finding {
            Finding::Flapping { path, manager, .. } => vec![
                (path.clone(), "path"),
                (String::from("goes to and fro"), "wait"),
                (format!("{so_often}{}", by(manager)), ""),
            ],
            Finding::Fight { path, .. } => vec![
                (path.clone(), "path"),
                (String::from("is fought over"), "wait"),
                (format!("by two managers, {} writes in {seconds:.0} s", self.count), ""),
            ],
            Finding::Rewriting { manager } => vec![
                (String::from("is written over and over"), "wait"),
                (format!("without a change of what is asked for, {so_often}{}", by(manager)), ""),
            ],
            Finding::Recreated => {
                vec![(String::from("is deleted and made again"), "wait"), (so_often, "")]
            }
            Finding::Stuck { updated, desired, trouble } => {
                let pods = trouble.as_ref().map(|word| format!("; its newest Pods: {word}")).unwrap_or_default();
                vec![(String::from("does not progress"), "bad"), (format!("{updated} of {desired} updated{pods}"), "")]
            }
        }
    }

    /// The finding in one sentence.
    pub fn sentence(&self) -> String {
        let words: Vec<String> = self.words().into_iter().map(|(words, _)| words).collect();
        let values = match &self.finding {
            Finding::Flapping { values: [one, two], .. } => format!(": `{one}` ⇄ `{two}`"),
            Finding::Fight { values: [one, two], managers: [first, second], .. } => {
                format!(": `{one}` ⇄ `{two}`, {first} and {second}")
            }
            _ => String::new(),
        };
        format!("{} {}: {}{values}", self.kind, self.key, words.join(" "))
    }
}

/// All detectors.
#[derive(Debug, Default)]
pub struct Findings {
    fields: field::Fields,
    objects: object::Objects,
    rollouts: rollout::Rollouts,
}

impl Findings {
    /// Takes in a change, noise and what is listed included. Times never go back.
    pub fn push(&mut self, line: &Line) {
        self.rollouts.push(line);
        // What is not known is no evidence.
        if line.is_listed || line.unknown.is_some() {
            return;
        }
        self.fields.push(line);
        self.objects.push(line);
    }

    /// What is found at this time, in milliseconds, the gravest first, and of one kind what began last. The order is not that of
    /// the evidence, of which more comes all the time: a card stays in its place.
    pub fn cards(&self, now: f64) -> Vec<Card> {
        let mut cards = Vec::new();
        self.fields.report(now, &mut cards);
        self.objects.report(now, &mut cards);
        self.rollouts.report(now, &mut cards);
        let place = |card: &Card| card.finding.place();
        sort_by(&mut cards, |one, two| place(one).cmp(&place(two)).then(two.since.total_cmp(&one.since)));
        cards
    }
}
