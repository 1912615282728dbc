//! Measures the demo cluster under load and prints Markdown tables: memory, lists, and the time from a write to its
//! frame.
//!
//! Run it with `./dev bench cluster`, or with `cargo bench --bench cluster` while `KUBECHURN_CLUSTER` names the built
//! demo cluster. The watchers share two cores with the server, so compare ratios, and runs of one day. It fails if a
//! watcher misses a write, or if a blocked watcher delays the others.

// A demo cluster as a process, with its processor time and memory.
mod server;

// Clients that read watches as fast as they can, or not at all.
mod watchers;

// The tables.
mod report;

fn main() -> std::process::ExitCode {
    // `cargo test --all-targets` runs a benchmark without this flag, to see that it starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return std::process::ExitCode::SUCCESS;
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let runs = |part: &str| wanted.is_empty() || wanted.iter().any(|name| name == part);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime starts");
    runtime.block_on(async {
        let mut good = true;
        if runs("lists") {
            report::lists().await;
        }
        if runs("load") {
            good &= report::load().await;
        }
        if good { std::process::ExitCode::SUCCESS } else { std::process::ExitCode::FAILURE }
    })
}
