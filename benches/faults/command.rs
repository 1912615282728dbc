//! Plays several seeds at a time, or soaks a page.

use std::panic::AssertUnwindSafe;

use futures::{FutureExt, StreamExt, stream};

use kubechurn_harness::faults::seed::{Outcome, faults, play, streams};
use kubechurn_harness::faults::{soak, table};

/// How many seeds are played at a time by default: each mostly waits.
const JOBS: usize = 2;

/// Runs the command; returns whether there was no fault.
pub async fn run(words: &[String]) -> bool {
    let after = |word: &str| words.iter().position(|one| one == word).and_then(|at| words.get(at + 1)?.parse().ok());
    if words.first().is_some_and(|word| word == "soak") {
        return soak::soak(words.get(1).and_then(|word| word.parse().ok()).unwrap_or(60), 1).await;
    }
    let (from, seeds) = (after("--from").unwrap_or(0), after("--seeds").unwrap_or(200));
    let jobs = after("--jobs").map_or(JOBS, |jobs: u64| jobs as usize);
    let playing = stream::iter(from..from + seeds).map(one).buffer_unordered(jobs.max(1));
    let mut outcomes: Vec<Outcome> = playing.collect().await;
    outcomes.sort_by_key(|outcome| outcome.seed);
    table::print(&outcomes);
    outcomes.iter().all(|outcome| outcome.complaints().next().is_none())
}

/// Plays one seed and prints the outcome. After a failure the other seeds go on.
async fn one(seed: u64) -> Outcome {
    let outcome = AssertUnwindSafe(play(seed)).catch_unwind().await.unwrap_or_else(|panic| {
        let words = panic.downcast_ref::<String>().cloned().unwrap_or_else(|| "it broke off".to_owned());
        let mut outcome = Outcome { seed, trunk: seed % 2 == 1, streams: streams(seed), ..Outcome::default() };
        outcome.verdict.complaints.push(format!("broke off: {words}"));
        outcome
    });
    let names: Vec<&str> = faults(seed).into_iter().map(|fault| fault.name()).collect();
    let through = if outcome.trunk { "Trunk" } else { "kubectl proxy" };
    let lists = if outcome.streams { "streamed" } else { "fetched" };
    let took = outcome.took.as_secs();
    if outcome.complaints().next().is_none() {
        println!("seed {seed}, {through}, lists {lists}, {took} s: {}: good", names.join("; "));
    } else {
        println!(
            "seed {seed}, {through}, lists {lists}, {took} s: {}: again with ./dev faults --from {seed} --seeds 1",
            names.join("; ")
        );
        outcome.complaints().for_each(|complaint| println!("    {complaint}"));
    }
    outcome
}
