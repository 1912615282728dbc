//! The activities of a storm, as scripts of small steps. Each step makes one write or a few.

use std::collections::VecDeque;

use crate::random::Random;
use crate::scenario::population::model::PodState;

/// An activity in progress.
#[derive(Debug)]
pub struct Activity {
    /// The owner of the Pods that it affects.
    pub home: Home,
    /// The remaining steps.
    pub steps: VecDeque<Step>,
    /// The name of the Pod that the steps act on.
    pub target: Option<String>,
}

/// The owner of the Pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Home {
    /// The workload at this index.
    Workload(usize),
    /// The Job with this number.
    Job(usize),
    /// No owner: the activity is about a node.
    Node(usize),
}

/// One step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// The Deployment gets a new image.
    NewTemplate {
        /// Whether the image can be pulled.
        good: bool,
    },
    /// The Deployment returns to the previous template.
    Undo,
    /// The Deployment is scaled by the autoscaler.
    Resize(usize),
    /// The status of the Deployment and its ReplicaSets, or of the Job, is written.
    Status,
    /// Old ReplicaSets beyond the history limit are deleted.
    Prune,
    /// A Pod is created and becomes the target.
    CreatePod,
    /// A Pod becomes the target.
    Choose(Choice),
    /// The target changes.
    Pod(Change),
    /// The Job is created.
    CreateJob,
    /// The Job is deleted after its Pods.
    RemoveJob,
    /// The node reports.
    Heartbeat,
    /// The node is cordoned or uncordoned.
    Cordon(bool),
}

/// Which Pod to choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// A running and ready Pod.
    Ready,
    /// A Pod of an older template.
    Old,
    /// A Pod in a crash loop, or a ready one if there is none.
    Crashing,
    /// A Pod that is not needed, preferably one with a problem.
    Surplus,
}

/// The change of a Pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The Pod is scheduled to a node.
    Place,
    /// The containers start, and the Pod becomes ready.
    Run,
    /// The Pod gets this state.
    Become(PodState),
    /// The failed container starts again.
    Restart,
    /// The deletion is requested.
    Terminate,
    /// The Pod is deleted.
    Remove,
}

impl Activity {
    /// An activity with these steps.
    pub fn new(home: Home, steps: impl IntoIterator<Item = Step>) -> Self {
        Self { home, steps: steps.into_iter().collect(), target: None }
    }
}

const START: [Step; 3] = [Step::CreatePod, Step::Pod(Change::Place), Step::Pod(Change::Run)];
const STOP: [Step; 2] = [Step::Pod(Change::Terminate), Step::Pod(Change::Remove)];

/// A new template is rolled out, one Pod after another.
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

/// A new template whose image does not exist, and the rollback.
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

/// A container that crashes repeatedly, and recovers if `recovers`.
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

/// Scaling to another number of Pods.
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

/// A Pod is deleted and replaced.
pub fn eviction() -> Vec<Step> {
    let mut steps = vec![Step::Choose(Choice::Surplus)];
    steps.extend(STOP);
    steps.extend(START);
    steps.push(Step::Status);
    steps
}

/// Missing Pods are created, as by a ReplicaSet.
pub fn replacement(missing: usize) -> Vec<Step> {
    let mut steps: Vec<Step> = START.into_iter().cycle().take(START.len() * missing).collect();
    steps.push(Step::Status);
    steps
}

/// A Job from its creation to its end.
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

/// A node that is cordoned for some time.
pub fn cordon() -> Vec<Step> {
    vec![Step::Cordon(true), Step::Heartbeat, Step::Heartbeat, Step::Cordon(false)]
}

impl Step {
    /// How long this step lasts before the next one, in milliseconds, if the rate allows it.
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
