//! Measures the way from a watch frame to its row in Chromium against `JSON.parse` of the same frames alone.
//!
//! `./dev bench frames`, or `cargo bench --bench frames` with the page built before. It prints Markdown tables, and
//! fails where in any round the page's whole way was less than [`FLOOR`] times as fast, or where a row is not what the last
//! frame of its Pod says. Behind `--` may stand which sizes to measure: `3`, `14`, `50`.

// The page and its rounds.
mod rounds;

/// How many times as fast as `JSON.parse` the whole way has to be, in every round.
const FLOOR: f64 = 1.8;

fn main() {
    // `cargo test --all-targets` runs a benchmark without this flag, to see that it starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let named: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let wanted = |size: &str| named.is_empty() || named.iter().any(|name| size.split(' ').next() == Some(name));
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let worst = runtime.expect("the runtime starts").block_on(rounds::report(wanted));
    if worst < FLOOR {
        eprintln!("the worst round has a ratio of {worst:.2}; {FLOOR} is wanted");
        std::process::exit(1);
    }
}
