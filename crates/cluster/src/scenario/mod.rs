//! What happens in the cluster: scenarios, each the same for the same seed.
//!
//! Most are played by users ([`users`]): ordinary clients that roll out, scale, break and delete, and leave the rest to
//! the controllers and kubelets. Two are for load: [`storm`] makes up a history and writes it past the API, at any rate
//! and without controllers. All of them begin with the cluster that [`population`] makes up.

pub mod director;
pub mod population;
pub mod storm;
#[cfg(test)]
mod tests;
pub mod users;

/// What can happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scenario {
    /// Small things: a Pod is deleted, a ConfigMap edited, a Job runs, a Deployment grows by one.
    Calm,
    /// New versions roll out; now and then one whose image does not exist, which is rolled back.
    Rollout,
    /// A version whose container fails again and again, and its repair.
    CrashLoop,
    /// A node falls silent and comes back; another is drained.
    NodeFailure,
    /// An autoscaler that cannot make up its mind.
    AutoscalerFlap,
    /// Two controllers that fight over one field.
    HotLoop,
    /// Thousands of writes a second.
    Storm,
    /// 150,000 Pods.
    Scale,
}

impl Scenario {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Calm,
        Self::Rollout,
        Self::CrashLoop,
        Self::NodeFailure,
        Self::AutoscalerFlap,
        Self::HotLoop,
        Self::Storm,
        Self::Scale,
    ];

    /// What happens when nothing is asked for: something worth seeing within seconds, and never too much of it.
    pub const MIXED: [Self; 5] = [Self::Calm, Self::Rollout, Self::CrashLoop, Self::NodeFailure, Self::AutoscalerFlap];

    /// Its name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Calm => "calm",
            Self::Rollout => "rollout",
            Self::CrashLoop => "crashloop",
            Self::NodeFailure => "node-failure",
            Self::AutoscalerFlap => "autoscaler-flap",
            Self::HotLoop => "hot-loop",
            Self::Storm => "storm",
            Self::Scale => "scale",
        }
    }

    /// The scenario of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Whether it is written past the API, by an author who takes no other beside it: no controllers, no users.
    pub fn is_load(self) -> bool {
        matches!(self, Self::Storm | Self::Scale)
    }

    /// The scenarios of a list of names with commas between; `mixed` is [`Self::MIXED`]. `None` for a name that is
    /// none, and for load beside anything else.
    pub fn parse_list(text: &str) -> Option<Vec<Self>> {
        let mut all = Vec::new();
        for name in text.split(',').map(str::trim) {
            match name {
                "mixed" => all.extend(Self::MIXED),
                name => all.push(Self::named(name)?),
            }
        }
        all.sort();
        all.dedup();
        (all.len() == 1 || !all.iter().any(|one| one.is_load())).then_some(all)
    }
}

/// A rate of writes a second, as the command line and `/_control/rate` take it.
pub fn parse_rate(text: &str) -> Option<f64> {
    text.parse().ok().filter(|rate: &f64| (0.0..=100_000.0).contains(rate))
}
