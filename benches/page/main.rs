//! Measures the built page in Chromium on the demo cluster and prints Markdown tables. Only `recorder` and `inside` have a limit,
//! and fail.
//!
//! Run it with `./dev bench`, or with `cargo bench --bench page` after the page and the demo cluster are built. The
//! figures depend on this machine, its load and its software rasteriser: compare ratios, and runs of one day. Arguments
//! after `--` select the parts: `files`, `start`, `list`, `load`, `recorder`, `idle`, `log`, `rewind`,
//! `inside`, `worker`, `builds`; numbers select the sizes of cluster of `list` and `rewind`, the minutes of `log`, and the events a
//! second of `builds`, which watches Pods `alone` where that is said.

// The sizes of the page's files as they are transferred.
mod files;

// The time from navigation to the first row, and to all rows.
mod start;

// The first list of large clusters, against a bare fetch of the same list.
mod list;

// The main thread under load: its share of busy time, long tasks, frames.
mod load;

// What recording and reading cost the main thread.
mod recorder;

// This build of the page against others.
mod builds;

// What a page costs on which nothing happens.
mod idle;

// A log that is followed.
mod log;

// Another moment than now.
mod rewind;

// The inside of an informer, step by step.
mod inside;

// Sockets on the main thread against sockets in a worker, in bare pages.
mod worker;

fn main() {
    // `cargo test --all-targets` runs a benchmark without this flag, to see that it starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let sizes: Vec<u32> = wanted.iter().filter_map(|argument| argument.parse().ok()).collect();
    let runs = |part: &str| wanted.is_empty() || wanted.iter().any(|name| name == part);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("the runtime starts").block_on(async {
        if runs("files") {
            files::report();
        }
        if runs("start") {
            start::report().await;
        }
        if runs("list") {
            list::report(&sizes).await;
        }
        if runs("load") {
            load::report().await;
        }
        if runs("recorder") {
            recorder::report().await;
        }
        if runs("idle") {
            idle::report().await;
        }
        if runs("log") {
            log::report(sizes.first().map_or(1, |minutes| u64::from(*minutes))).await;
        }
        if runs("rewind") {
            rewind::report(&sizes).await;
        }
        if runs("inside") {
            inside::report().await;
        }
        // Not of this page alone, so only where they are asked for.
        if wanted.iter().any(|name| name == "worker") {
            worker::report().await;
        }
        if wanted.iter().any(|name| name == "builds") {
            builds::report(&sizes, wanted.iter().any(|name| name == "alone")).await;
        }
    });
}
