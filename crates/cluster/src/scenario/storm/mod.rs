//! The storm: an invented history of a cluster at a given rate, which is the same for the same seed.

mod activity;
pub mod direct;
mod play;
mod play_pod;
pub mod recorder;

use std::sync::Arc;
use std::time::Duration;

use kubechurn_client::workqueue::delaying::DelayingQueue;
use kubechurn_client::workqueue::queue::Got;
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use crate::clock;
use crate::random::Random;
use crate::resources::builtin::DEPLOYMENTS;
use crate::scenario::population::Population;
use crate::store::Store;
use activity::{Activity, Home};
use direct::Direct;
use recorder::Recorder;

/// A command to the running storm.
#[derive(Debug)]
pub enum Order {
    /// Changes the rate.
    Rate {
        /// Writes per second; 0 for none.
        rate: f64,
        /// Notified once the new rate is in effect.
        done: oneshot::Sender<()>,
    },
}

/// The storm, with its model of the cluster.
#[derive(Debug)]
pub struct Storm {
    storage: Direct,
    random: Random,
    seed: u64,
    population: Population,
    recorder: Recorder,
    /// The activities by number: in the queue if they are due, and otherwise waiting for their time, in milliseconds
    /// since `began`.
    queue: DelayingQueue<u64>,
    began: Instant,
    activities: std::collections::HashMap<u64, Activity>,
    started: u64,
    /// The number of Pods that there are, and should be.
    pods: usize,
    pods_wanted: usize,
}

impl Storm {
    /// A storm over a cluster that has just been populated from `random`, and which continues with those numbers.
    pub fn new(store: Arc<Store>, population: Population, random: Random, seed: u64) -> Self {
        let pods = population.workloads.iter().map(|workload| workload.pods.len()).sum();
        Self {
            storage: Direct(store),
            random,
            seed,
            population,
            recorder: Recorder::new(seed),
            queue: DelayingQueue::default(),
            began: Instant::now(),
            activities: std::collections::HashMap::new(),
            started: 0,
            pods,
            pods_wanted: pods,
        }
    }

    /// Runs until all senders of orders are dropped.
    pub async fn run(mut self, mut orders: mpsc::Receiver<Order>, mut rate: f64) {
        // The first write is due at once, so that something happens soon even at a low rate.
        let mut due: f64 = 1.0;
        let mut last = Instant::now();
        loop {
            let pause = if rate > 0.0 { (1.0 / rate).clamp(0.005, 1.0) } else { 86_400.0 };
            tokio::select! {
                order = orders.recv() => match order {
                    Some(Order::Rate { rate: new, done }) => {
                        (rate, due, last) = (new, 1.0, Instant::now());
                        // The receiver may have been dropped.
                        let _ = done.send(());
                    }
                    None => return,
                },
                () = tokio::time::sleep(Duration::from_secs_f64(pause)) => {
                    let now = Instant::now();
                    // If the machine was busy, at most one second of writes is made up for.
                    due = (due + rate * (now - last).as_secs_f64()).min(rate + 1.0);
                    last = now;
                    // Some steps write nothing; the bound prevents an endless loop.
                    let mut idle = 0;
                    while due >= 1.0 && idle < 50 {
                        let before = self.storage.revision();
                        self.step(rate);
                        let written = self.storage.revision() - before;
                        idle = if written == 0 { idle + 1 } else { 0 };
                        due -= written as f64;
                    }
                }
            }
        }
    }

    /// Takes the next step: of an activity that is due, or of a new one, or else of the one that is due next.
    fn step(&mut self, rate: f64) {
        if self.recorder.expire(&self.storage, clock::now()) {
            return;
        }
        let now = self.began.elapsed().as_secs_f64() * 1000.0;
        self.queue.tick(now);
        let most = (rate / 2.0).clamp(1.0, 300.0) as usize;
        if self.queue.is_empty() {
            if self.activities.len() < most
                && let Some(activity) = self.new_activity()
            {
                self.start(activity);
                return;
            }
            // The rate asks for more writes than the activities make at their own pace, so the next one is taken early.
            if let Some(next) = self.queue.deadline() {
                self.queue.tick(next);
            }
        }
        let Got::Item(number) = self.queue.get() else { return };
        let Some(mut activity) = self.activities.remove(&number) else { return self.queue.done(&number) };
        if let Some(step) = activity.steps.pop_front() {
            self.play(&mut activity, step);
        }
        match activity.steps.front() {
            Some(next) => {
                self.queue.add_after(number, next.delay(&mut self.random) as f64, now);
                self.activities.insert(number, activity);
            }
            None => self.release(activity.home),
        }
        self.queue.done(&number);
    }

    /// Queues an activity, due at once, and reserves its workload.
    fn start(&mut self, activity: Activity) {
        if let Home::Workload(index) = activity.home {
            self.population.workloads[index].busy = true;
        }
        self.started += 1;
        self.queue.add(self.started);
        self.activities.insert(self.started, activity);
    }

    fn release(&mut self, home: Home) {
        match home {
            Home::Workload(index) if !self.is_there(index) => {}
            Home::Workload(index) => self.population.workloads[index].busy = false,
            Home::Job(number) => {
                self.population.jobs.remove(&number);
            }
            Home::Node(_) => {}
        }
    }

    /// Invents the next activity; `None` if all workloads are reserved.
    fn new_activity(&mut self) -> Option<Activity> {
        let node = Home::Node(self.random.below(self.population.nodes.len()));
        let Some(index) = self.free_workload() else {
            return self.activities.is_empty().then(|| Activity::new(node, [activity::Step::Heartbeat]));
        };
        let workload = &self.population.workloads[index];
        let home = Home::Workload(index);
        let alive = workload.pods.iter().filter(|pod| pod.deleting.is_none()).count();
        if alive < workload.replicas {
            return Some(Activity::new(home, activity::replacement(workload.replicas - alive)));
        }
        if alive > workload.replicas {
            return Some(Activity::new(home, activity::resize(alive, workload.replicas)));
        }
        // The first activity is one that shows in every view of Pods.
        let dice = if self.started == 0 { 45 } else { self.random.below(100) };
        Some(match dice {
            0..30 => Activity::new(home, activity::rollout(workload.replicas)),
            30..45 => {
                let times = self.random.between(1, 4);
                let recovers = self.random.chance(90);
                Activity::new(home, activity::crash_loop(times, recovers))
            }
            45..55 => Activity::new(home, activity::eviction()),
            55..67 => Activity::new(home, activity::flap()),
            67..79 => Activity::new(home, activity::resize(workload.replicas, self.new_size(index))),
            79..84 => Activity::new(home, activity::bad_rollout()),
            84..92 => {
                let number = self.new_job();
                Activity::new(Home::Job(number), activity::job(self.population.jobs[&number].completions))
            }
            92..98 => Activity::new(node, [activity::Step::Heartbeat]),
            _ => Activity::new(node, activity::cordon()),
        })
    }

    /// A workload without an activity; `None` if a few tries find none.
    fn free_workload(&mut self) -> Option<usize> {
        let all = self.population.workloads.len();
        let tries: Vec<usize> = (0..8).map(|_| self.random.below(all)).collect();
        tries.into_iter().find(|index| {
            self.population.workloads.get(*index).is_some_and(|workload| !workload.busy) && self.is_there(*index)
        })
    }

    /// Whether the Deployment of a workload still exists. A workload whose Deployment was deleted stays reserved.
    fn is_there(&mut self, index: usize) -> bool {
        let Some(workload) = self.population.workloads.get_mut(index) else { return false };
        let key = DEPLOYMENTS.key(&workload.namespace, &workload.name);
        let found = self.storage.get(&DEPLOYMENTS, &key);
        let is_there = found.is_some_and(|found| *found.uid == *workload.uid && !found.is_being_deleted());
        if !is_there {
            self.pods = self.pods.saturating_sub(workload.pods.len());
            workload.pods.clear();
            workload.busy = true;
        }
        is_there
    }

    /// A new size for a workload, such that the total number of Pods stays about the same.
    fn new_size(&mut self, index: usize) -> usize {
        let workload = &self.population.workloads[index];
        let step = self.random.between(1, workload.replicas.div_ceil(3).min(4));
        if self.pods > self.pods_wanted {
            workload.replicas.saturating_sub(step).max(1)
        } else {
            (workload.replicas + step).min(workload.usual_replicas * 2 + 1)
        }
    }
}
