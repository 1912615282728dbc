//! An incident, as it is shown.

use crate::feed::wrong::row::Words;
use crate::view::holds::HoldsModel;
use crate::view::life::LifeModel;
use crate::view::rollout::RolloutModel;

/// A change that may be the cause.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CauseRow {
    /// What changed, in a few words.
    pub title: String,
    /// How sure it is: `proven`, `possible` or `time`.
    pub proof: &'static str,
    /// The same in words.
    pub proof_words: &'static str,
    /// The field and its values.
    pub words: Words,
    /// How long before the incident it was.
    pub before: String,
    /// The time of day at which it was received; the same in milliseconds.
    pub time: String,
    pub at: f64,
    /// Where the change is looked at.
    pub href: String,
    /// What speaks for it and against it: whether it does, the words, and where that is looked at.
    pub checks: Vec<(bool, String, String)>,
}

/// A step of the trail.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepRow {
    /// The time of day at which it was received; the same in milliseconds.
    pub time: String,
    pub at: f64,
    /// How long after the first step.
    pub after: String,
    /// The object.
    pub what: String,
    /// What happened to it.
    pub words: String,
    /// What leads to it from the step before.
    pub link: String,
    /// Whether that is proven.
    pub is_proven: bool,
    /// Where the version is looked at.
    pub href: String,
}

/// Something of which it is not known whether it changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct UnknownRow {
    /// What, and why that is not known.
    pub words: String,
    /// The kind that can be watched from now on, by the page's name and by its title; empty for none.
    pub watch: (&'static str, &'static str),
}

/// Who wrote a change.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WriterRow {
    /// What was written.
    pub what: String,
    /// The time of day; the same in milliseconds.
    pub time: String,
    pub at: f64,
    /// Who.
    pub who: String,
    /// From what it is known.
    pub how: String,
    /// Whether it is known from an audit line, and not inferred.
    pub is_certain: bool,
}

/// An incident.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WhyModel {
    /// What it means: `bad`, `wait`, `over` or nothing.
    pub tone: &'static str,
    /// The subject's kind.
    pub kind: String,
    /// The subject's namespace and name.
    pub name: String,
    /// Where the subject is looked at.
    pub href: String,
    /// What is wrong.
    pub words: Words,
    /// The time of day at which it began, and the same in milliseconds since 1970.
    pub time: String,
    pub at: f64,
    /// What more is to be said of it, each as a value and its words.
    pub facts: Vec<(String, String)>,
    /// Whether the search goes on.
    pub is_searching: bool,
    /// What changed before it, the most likely first.
    pub causes: Vec<CauseRow>,
    /// What else changed, in words.
    pub others: String,
    /// The way from the first of these to what is wrong.
    pub trail: Vec<StepRow>,
    /// What did not change, in a sentence.
    pub unchanged: String,
    /// What is not known.
    pub unknown: Vec<UnknownRow>,
    /// Who wrote what changed.
    pub writers: Vec<WriterRow>,
    /// The rollout of a workload, beside the last one that went well.
    pub rollout: Option<RolloutModel>,
    /// The life of a Pod.
    pub life: Option<LifeModel>,
    /// What holds the object back, and what uses it.
    pub holds: Option<HoldsModel>,
    /// Whether it is one of Pods, whose log can be read.
    pub has_pods: bool,
}

impl WhyModel {
    /// The incident as a text, to be sent to somebody.
    pub fn text(&self) -> String {
        let joined = |words: &Words| words.iter().map(|(words, _)| &**words).collect::<Vec<_>>().join(" ");
        let mut lines = vec![self.title() + &format!(", since {}", self.time)];
        lines.extend(self.facts.iter().map(|(value, words)| format!("{value} {words}").trim().to_owned()));
        lines.extend(self.rollout.iter().flat_map(RolloutModel::lines));
        lines.extend(self.life.iter().flat_map(LifeModel::text_lines));
        lines.extend(self.holds.iter().flat_map(HoldsModel::lines));
        lines.push(String::from("\nWhat changed before it:"));
        for (place, cause) in self.causes.iter().enumerate() {
            lines.push(format!(
                "{}. {} ({}), {}, {}",
                place + 1,
                cause.title,
                cause.proof_words,
                cause.time,
                cause.before
            ));
            lines.push(format!("   {}", joined(&cause.words)));
            let sign = |holds: bool| if holds { "✓" } else { "✗" };
            lines.extend(cause.checks.iter().map(|(holds, words, _)| format!("   {} {words}", sign(*holds))));
        }
        if self.causes.is_empty() {
            lines.push(self.no_cause().to_owned());
        }
        lines.push(self.others.clone());
        lines.push(String::from("\nThe trail:"));
        lines.extend(self.trail.iter().map(|step| {
            let link = if step.link.is_empty() { String::new() } else { format!(" [{}]", step.link) };
            format!("{} {} {}: {}{link}", step.time, step.after, step.what, step.words)
        }));
        lines.push(String::from("\nWhat did not change:"));
        lines.push(self.unchanged.clone());
        lines.extend(self.unknown.iter().map(|row| row.words.clone()));
        lines.push(String::from("\nWho wrote:"));
        lines.extend(self.writers.iter().map(|one| format!("{} {}: {} ({})", one.time, one.what, one.who, one.how)));
        lines.join("\n")
    }

    /// What is said where no change is known that may be the cause.
    pub fn no_cause(&self) -> &'static str {
        match &self.rollout {
            Some(rollout) if !rollout.fields.is_empty() => {
                "Nothing changed that has to do with it, as far as it is known. The rollout says what differs from the one before."
            }
            _ => "Nothing changed that has to do with it, as far as it is known.",
        }
    }

    /// What is wrong, in one sentence.
    pub fn title(&self) -> String {
        let words: Vec<&str> = self.words.iter().map(|(words, _)| &**words).collect();
        let colon = if words.is_empty() { "" } else { ": " };
        format!("{} {}{colon}{}", self.kind, self.name, words.join(" "))
    }
}
