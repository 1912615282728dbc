//! Plays the fault matrix in Chromium, or soaks a page in every fault, and prints Markdown for `docs/reliability.md`; fails
//! where the judge complains.
//!
//! `./dev faults`, `./dev soak page`; or `cargo bench --bench faults` with the page and the demo cluster built before.
//! Behind `--`: `--seeds N`, `--from N`, `--jobs N`; or `soak MINUTES`.

#[cfg(not(target_arch = "wasm32"))]
#[allow(dead_code, reason = "the tests use the same harness, and each uses another part")]
#[path = "../../tests/browser/harness/mod.rs"]
mod harness;

// Holds what a page wrote down against what the cluster wrote down.
#[cfg(not(target_arch = "wasm32"))]
#[allow(dead_code, reason = "the tests use it as well, and each uses another part")]
#[path = "../../tests/browser/judge/mod.rs"]
mod judge;

// The faults.
#[cfg(not(target_arch = "wasm32"))]
#[allow(dead_code, reason = "the tests use them as well, and each uses another part")]
#[path = "../../tests/browser/faults/mod.rs"]
mod faults;

// The command line.
#[cfg(not(target_arch = "wasm32"))]
mod command;

#[cfg(not(target_arch = "wasm32"))]
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

#[cfg(target_arch = "wasm32")]
fn main() {}
