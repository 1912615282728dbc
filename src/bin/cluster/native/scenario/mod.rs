//! The scenario: a made-up cluster and what happens in it, at a given rate, the same for the same seed.

mod model;
mod names;
mod objects;
mod pod;
mod population;

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;

use super::args::Args;
use super::clock;
use super::random::Random;
use super::resource::PODS;
use super::storage::Storage;
use model::PodState;
use population::Population;

/// An order to the running scenario.
#[derive(Debug)]
pub enum Order {
    /// Writes a second from now on.
    Rate {
        /// How many; 0 is none.
        rate: f64,
        /// Answered once the rate holds.
        done: oneshot::Sender<()>,
    },
}

/// The scenario, with all that it knows of its cluster.
#[derive(Debug)]
pub struct Scenario {
    storage: Arc<Storage>,
    random: Random,
    population: Population,
}

impl Scenario {
    /// Makes up the cluster and writes it.
    pub fn populate(storage: Arc<Storage>, args: &Args) -> Self {
        let mut random = Random::new(args.seed);
        let population = population::populate(&storage, &mut random, args.seed, args.pods);
        Self { storage, random, population }
    }

    /// Lets things happen until nobody can send orders any more.
    pub async fn run(mut self, mut orders: mpsc::Receiver<Order>, mut rate: f64) {
        // The first write is due at once: however low the rate, something happens soon.
        let mut due: f64 = 1.0;
        let mut last = Instant::now();
        loop {
            let pause =
                if rate > 0.0 { Duration::from_secs_f64((1.0 / rate).clamp(0.005, 1.0)) } else { Duration::MAX };
            tokio::select! {
                order = orders.recv() => match order {
                    Some(Order::Rate { rate: new, done }) => {
                        (rate, due, last) = (new, 1.0, Instant::now());
                        // Whoever asked may have left.
                        let _ = done.send(());
                    }
                    None => return,
                },
                () = tokio::time::sleep(pause.min(Duration::from_secs(86_400))) => {
                    let now = Instant::now();
                    // What could not be done in a tenth of a second is not caught up: no bursts.
                    due = (due + rate * (now - last).as_secs_f64()).min(rate / 10.0 + 1.0);
                    last = now;
                    while due >= 1.0 && rate > 0.0 {
                        let before = self.storage.revision();
                        self.step();
                        due -= (self.storage.revision() - before).max(1) as f64;
                    }
                }
            }
        }
    }

    fn step(&mut self) {
        let index = self.random.below(self.population.workloads.len());
        let workload = &mut self.population.workloads[index];
        let which = self.random.below(workload.pods.len());
        let Some(one) = workload.pods.get_mut(which) else { return };
        one.state = if one.state == PodState::Ready { PodState::Unready } else { PodState::Ready };
        one.changed = clock::now();
        let status = pod::status(one, &self.population.nodes);
        let key = PODS.key(&workload.namespace, &one.name);
        let _ = self.storage.update(PODS, &key, |_, value| {
            value["status"] = status;
            Ok::<(), ()>(())
        });
    }
}
