//! What can happen in the cluster, as scripts of small steps; each step is a write or a few.

use std::collections::VecDeque;

use crate::random::Random;
use crate::scenario::population::model::PodState;

/// Something that is going on.
#[derive(Debug)]
pub struct Activity {
    /// Whose Pods it is about.
    pub home: Home,
    /// What is still to come.
    pub steps: VecDeque<Step>,
    /// The Pod that the steps act on, by name.
    pub target: Option<String>,
}

/// Who owns the Pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// The workload at this index.
    Workload(usize),
    /// The Job with this number.
    Job(usize),
    /// Nobody: it is about a node.
    Node(usize),
}

/// One step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The Deployment gets a new image, which may not exist.
    NewTemplate {
        /// Whether the image can be pulled.
        good: bool,
    },
    /// The Deployment goes back to the template before.
    Undo,
    /// The Deployment is scaled by the autoscaler.
    Resize(usize),
    /// Deployment and ReplicaSets, or the Job, say how far they are.
    Status,
    /// Old ReplicaSets beyond the history's limit go.
    Prune,
    /// A Pod is created and becomes the target.
    CreatePod,
    /// A Pod becomes the target.
    Choose(Choice),
    /// The target changes.
    Pod(Change),
    /// The Job is created.
    CreateJob,
    /// The Job goes, its Pods first.
    RemoveJob,
    /// The node is heard of.
    Heartbeat,
    /// The node takes no more Pods, or takes them again.
    Cordon(bool),
}

/// Which Pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// One that runs and is ready.
    Ready,
    /// One of an older template.
    Old,
    /// One in a crash loop; a ready one if there is none.
    Crashing,
    /// One that has nothing better to do: in trouble if there is such a one.
    Surplus,
}

/// What happens to a Pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It is scheduled to a node.
    Place,
    /// Its containers start and it is ready.
    Run,
    /// It comes to this state.
    Become(PodState),
    /// Its failed container starts again.
    Restart,
    /// Its deletion is asked for.
    Terminate,
    /// It is gone.
    Remove,
}

impl Activity {
    /// An activity with a script.
    pub fn new(home: Home, steps: impl IntoIterator<Item = Step>) -> Self {
        Self { home, steps: steps.into_iter().collect(), target: None }
    }
}

const START: [Step; 3] = [Step::CreatePod, Step::Pod(Change::Place), Step::Pod(Change::Run)];
const STOP: [Step; 2] = [Step::Pod(Change::Terminate), Step::Pod(Change::Remove)];

/// A new template, Pod after Pod.
pub fn rollout(replicas: usize) -> Vec<Step> {
    let mut steps = vec![Step::NewTemplate { good: true }];
    for _ in 0..replicas {
        steps.extend(START);
        steps.push(Step::Status);
        steps.push(Step::Choose(Choice::Old));
        steps.extend(STOP);
    }
    steps.extend([Step::Status, Step::Prune]);
    steps
}

/// A new template whose image does not exist, and the way back.
pub fn bad_rollout() -> Vec<Step> {
    let mut steps = vec![Step::NewTemplate { good: false }, Step::CreatePod, Step::Pod(Change::Place), Step::Status];
    for _ in 0..3 {
        steps.push(Step::Pod(Change::Become(PodState::ErrImagePull)));
        steps.push(Step::Pod(Change::Become(PodState::ImagePullBackOff)));
    }
    steps.push(Step::Undo);
    steps.extend(STOP);
    steps.extend([Step::Status, Step::Prune]);
    steps
}

/// A container that fails again and again, and recovers if `recovers`.
pub fn crash_loop(times: usize, recovers: bool) -> Vec<Step> {
    let failure = [
        Step::Pod(Change::Become(PodState::Failed)),
        Step::Pod(Change::Become(PodState::BackOff)),
        Step::Pod(Change::Restart),
    ];
    let mut steps = vec![Step::Choose(Choice::Crashing)];
    steps.extend(failure.iter().copied().cycle().take(failure.len() * times));
    if !recovers {
        steps.extend(&failure[..2]);
    }
    steps.push(Step::Status);
    steps
}

/// A readiness probe that fails for a while.
pub fn flap() -> Vec<Step> {
    let unready = Step::Pod(Change::Become(PodState::Unready));
    let ready = Step::Pod(Change::Become(PodState::Ready));
    vec![Step::Choose(Choice::Ready), unready, Step::Status, ready, Step::Status]
}

/// Another number of Pods.
pub fn resize(from: usize, to: usize) -> Vec<Step> {
    let mut steps = vec![Step::Resize(to)];
    for _ in from..to {
        steps.extend(START);
    }
    for _ in to..from {
        steps.push(Step::Choose(Choice::Surplus));
        steps.extend(STOP);
    }
    steps.push(Step::Status);
    steps
}

/// A Pod that is deleted and replaced.
pub fn eviction() -> Vec<Step> {
    let mut steps = vec![Step::Choose(Choice::Surplus)];
    steps.extend(STOP);
    steps.extend(START);
    steps.push(Step::Status);
    steps
}

/// Pods that are missing are created, as a ReplicaSet does.
pub fn replacement(missing: usize) -> Vec<Step> {
    let mut steps: Vec<Step> = START.into_iter().cycle().take(START.len() * missing).collect();
    steps.push(Step::Status);
    steps
}

/// A Job from its start to its end.
pub fn job(completions: usize) -> Vec<Step> {
    let mut steps = vec![Step::CreateJob];
    for _ in 0..completions {
        steps.extend(START);
    }
    steps.push(Step::Status);
    for _ in 0..completions {
        steps.extend([Step::Choose(Choice::Ready), Step::Pod(Change::Become(PodState::Succeeded)), Step::Status]);
    }
    steps.extend(std::iter::repeat_n(Step::RemoveJob, completions + 1));
    steps
}

/// A node that is cordoned for a while.
pub fn cordon() -> Vec<Step> {
    vec![Step::Cordon(true), Step::Heartbeat, Step::Heartbeat, Step::Cordon(false)]
}

impl Step {
    /// How long the step before lasts, in milliseconds, when the rate leaves the time.
    pub fn delay(self, random: &mut Random) -> u64 {
        let (low, high) = match self {
            Self::Choose(_) | Self::CreatePod | Self::Prune => (50, 200),
            Self::Pod(Change::Place) | Self::Status => (100, 400),
            Self::Pod(Change::Run | Change::Remove) => (700, 3000),
            Self::Pod(Change::Restart) => (3000, 9000),
            Self::Pod(Change::Become(PodState::Succeeded)) => (3000, 8000),
            Self::RemoveJob => (4000, 12_000),
            Self::Cordon(false) => (8000, 20_000),
            _ => (500, 2000),
        };
        random.between(low, high) as u64
    }
}
