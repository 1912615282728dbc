//! Random histories, random faults, drains of any size: once the faults end, the store equals the server's map, and
//! everything that happened until then is accounted for.
//!
//! A play is a server, an informer and a list of steps. [`expected::Expected`] computes a second time what must become of each
//! frame and item, and is compared with the informer after every input and every key that is taken from the queue: the
//! ledger's counters, the arrivals of which handlers are notified, what waits, where a watch would resume, and what each
//! change stands for. So not only sums are compared, but what became of each single thing. Once the play has settled:
//!
//! - every revision of the server went to the queue, or lies between the version that was known before a complete list
//!   and the list's own; a notice reported each list but the first, and the gap that ended with it;
//! - every delta of the queue is one of the consecutive deltas that one change of the store stands for, so that a delta that
//!   was never shown by itself is counted in the change that shows it;
//! - every object (every life of a name) was shown to a handler, or all of its life lies under such lists;
//! - each handler received a part of each name's true history, in order, up to its end; a handler that was added later
//!   first received exactly what the store then held, and then all that the others received;
//! - an informer with a queue of another kind, which receives the same and is drained at other times, asks for the same, and
//!   ends in the same state by way of the same states.
//!
//! `PROPTEST_CASES` asks for another number of cases, and `./dev soak` for many. A failure prints how to repeat it.

use std::hash::{BuildHasher, RandomState};

use kubechurn_client::cache::delta_fifo::DeltaFifo;
use kubechurn_client::cache::queue::Queue;
use kubechurn_client::cache::real_fifo::RealFifo;
use kubechurn_client::cache::reflector::Options;
use kubechurn_client::cache::shared_informer::InformerOptions;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

mod server; // The server: one map, its history, and what it answers.

mod expected; // What must become of everything that is received.
mod handlers; // Handlers.
mod other; // An informer with another kind of queue.
mod play; // The server, the informer, and what lies between them.
mod steps; // What may happen.

use other::Other;
use play::Play;
use server::BASES;
use steps::Number;

/// The number of cases of all tests together.
const CASES: u32 = 10_240;
const TESTS: u32 = 3;
/// How many cases are made from one seed.
const SEEDED: u32 = 128;
/// The most steps of a case.
const LONGEST: usize = 180;

/// 52. Random sequences of writes and faults end equal to the server's state.
#[test]
fn any_history_with_any_faults_ends_in_the_servers_state() {
    let play = |base, options| Play::<DeltaFifo, DeltaFifo>::new(base, options, true, None);
    check("any_history_with_any_faults_ends_in_the_servers_state", play);
}

/// 52, beside an informer with a RealFIFO.
#[test]
fn a_real_fifo_beside_goes_the_same_way() {
    let play = |base, options| Play::<DeltaFifo, RealFifo>::new(base, options, true, Some(Other::new(options)));
    check("a_real_fifo_beside_goes_the_same_way", play);
}

/// 52, by way of a RealFIFO, beside an informer with another RealFIFO, which is drained at other times and reports the very
/// same.
#[test]
fn nothing_is_folded_by_a_real_fifo() {
    let play = |base, options| Play::<RealFifo, RealFifo>::new(base, options, false, Some(Other::new(options)));
    check("nothing_is_folded_by_a_real_fifo", play);
}

/// Plays a test's part of the cases.
fn check<Q: Queue, O: Queue>(test: &str, play: impl Fn(u128, InformerOptions) -> Play<Q, O>) {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let cases = number("PROPTEST_CASES").map_or(CASES, |cases: u64| cases as u32).div_ceil(TESTS);
    let first = number("PROPTEST_RNG_SEED").unwrap_or_else(|| RandomState::new().hash_one(test));
    let steps = prop::collection::vec(any::<u32>().prop_map(Number), LONGEST / 4..LONGEST);
    let reflector = any::<[bool; 2]>().prop_map(|[watch_list, resync]| Options {
        watch_list,
        resync: resync.then_some(5000.0),
        ..Options::default()
    });
    let strategy = (steps, reflector, prop::sample::select(&BASES[..]));
    for at in 0..cases.div_ceil(SEEDED) {
        let seed = first.wrapping_add(u64::from(at));
        let cases = SEEDED.min(cases - at * SEEDED);
        let config = Config {
            cases,
            failure_persistence: None,
            rng_seed: RngSeed::Fixed(seed),
            max_shrink_time: 20_000,
            max_shrink_iters: 16_384,
            ..Config::default()
        };
        let result = TestRunner::new(config).run(&strategy, |(steps, reflector, base)| {
            let mut play = play(base, InformerOptions { reflector, ..InformerOptions::default() });
            steps.iter().for_each(|number| play.step(number.step()));
            play.settle();
            play.check();
            Ok(())
        });
        let again = format!(
            "PROPTEST_RNG_SEED={seed} PROPTEST_CASES={} cargo test -p kubechurn-client --test it {test}",
            SEEDED * TESTS
        );
        if let Err(failure) = result {
            panic!("{failure}\nto repeat it: {again}");
        }
    }
}
