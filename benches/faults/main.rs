//! Plays the fault matrix in Chromium, or soaks a page in every fault, and prints Markdown for `docs/reliability.md`;
//! fails if the judge finds an error.
//!
//! Run it with `./dev faults` or `./dev soak page`, or with `cargo bench --bench faults` after the page and the demo
//! cluster are built. Arguments after `--`: `--seeds N`, `--from N`, `--jobs N`; or `soak MINUTES`.

// The command line.
mod command;

fn main() -> std::process::ExitCode {
    // `cargo test --all-targets` runs a benchmark without this flag, to see that it starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return std::process::ExitCode::SUCCESS;
    }
    let words: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime starts");
    if runtime.block_on(command::run(&words)) {
        std::process::ExitCode::SUCCESS
    } else {
        std::process::ExitCode::FAILURE
    }
}
