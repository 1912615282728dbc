//! What happens in the cluster. Each scenario is the same for the same seed.
//!
//! Most scenarios are played by users ([`users`]): ordinary clients that roll out, scale, break and delete objects, and
//! leave the rest to the controllers and kubelets. Two scenarios are for load: [`storm`] invents a history and writes
//! it to the storage directly, at any rate and without controllers. All begin with the cluster that [`population`]
//! creates.

pub mod population;
pub mod runner;
pub mod storm;
#[cfg(test)]
mod tests;
pub mod users;

/// A scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scenario {
    /// Small changes: a Pod is deleted, a ConfigMap edited, a Job runs, a Deployment is scaled by one.
    Calm,
    /// New versions are rolled out; sometimes one whose image does not exist, which is rolled back.
    Rollout,
    /// A version whose container crashes repeatedly, and its repair.
    CrashLoop,
    /// A node fails and recovers; another is drained.
    NodeFailure,
    /// An autoscaler that scales up and down without end.
    AutoscalerFlap,
    /// Two controllers that set one field in turn.
    HotLoop,
    /// A release with a ConfigMap that its Pods crash over, and its rollback.
    BadConfig,
    /// A node that fails, is drained, and comes back.
    NodeRepair,
    /// Thousands of writes per second.
    Storm,
    /// 150,000 Pods.
    Scale,
}

impl Scenario {
    /// All scenarios.
    pub const ALL: [Self; 10] = [
        Self::Calm,
        Self::Rollout,
        Self::CrashLoop,
        Self::NodeFailure,
        Self::AutoscalerFlap,
        Self::HotLoop,
        Self::BadConfig,
        Self::NodeRepair,
        Self::Storm,
        Self::Scale,
    ];

    /// The default: something to see within seconds, but never too much at once.
    pub const MIXED: [Self; 5] = [Self::Calm, Self::Rollout, Self::CrashLoop, Self::NodeFailure, Self::AutoscalerFlap];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Calm => "calm",
            Self::Rollout => "rollout",
            Self::CrashLoop => "crashloop",
            Self::NodeFailure => "node-failure",
            Self::AutoscalerFlap => "autoscaler-flap",
            Self::HotLoop => "hot-loop",
            Self::BadConfig => "bad-config",
            Self::NodeRepair => "node-repair",
            Self::Storm => "storm",
            Self::Scale => "scale",
        }
    }

    /// The scenario with a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|one| one.name() == name)
    }

    /// Whether the scenario writes to the storage directly, so that there must be no controllers or users.
    pub fn is_load(self) -> bool {
        matches!(self, Self::Storm | Self::Scale)
    }

    /// Parses a list of names that are separated by commas; `mixed` stands for [`Self::MIXED`]. `None` for an unknown
    /// name, and for load together with anything else.
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

/// Parses a rate in writes per second, for the command line and `/_control/rate`.
pub fn parse_rate(text: &str) -> Option<f64> {
    text.parse().ok().filter(|rate: &f64| (0.0..=100_000.0).contains(rate))
}
