//! Measures the way from a watch frame to its row in Chromium against `JSON.parse` of the same frames alone.
//!
//! Run it with `./dev bench frames`, or with `cargo bench --bench frames` after the page is built. It prints Markdown
//! tables. It fails if in any round the page's whole way was less than [`FLOOR`] times as fast, or if a row differs
//! from the last frame of its Pod. Arguments after `--` select the sizes: `3`, `14`, `50`.

// The page and its rounds.
mod rounds;

/// How many times as fast as `JSON.parse` the whole way must be, in every round.
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
