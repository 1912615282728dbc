//! Measures the built page in Chromium with 1,000, 10,000 and 150,000 Pods, prints Markdown tables, and fails if a goal
//! is missed.
//!
//! Run it with `./dev bench scale`, or with `cargo bench --bench scale` after the page and the demo cluster are built.
//! Arguments after `--` select the sizes: `1000`, `10000`, `150000`. The figures depend on this machine and its load;
//! the limits are ratios where possible.

// The least that a page with a watch could cost.
mod bare;

// A page on a cluster of one size, and its measurements.
mod session;

// The tables and the limits.
mod report;

fn main() -> std::process::ExitCode {
    // `cargo test --all-targets` runs a benchmark without this flag, to see that it starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return std::process::ExitCode::SUCCESS;
    }
    let wanted: Vec<u32> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    let sizes = [1_000, 10_000, 150_000].into_iter().filter(|size| wanted.is_empty() || wanted.contains(size));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("the runtime starts");
    match runtime.block_on(report::report(&sizes.collect::<Vec<u32>>())) {
        true => std::process::ExitCode::SUCCESS,
        false => std::process::ExitCode::FAILURE,
    }
}
