//! Measures the built page in Chromium on the demo cluster and prints Markdown tables; it judges nothing.
//!
//! `./dev bench` or `cargo bench --bench page`, with the page and the demo cluster built before. The figures are
//! those of this machine, its load and its software rasteriser: compare ratios, and runs of one day. Behind `--`
//! may stand which parts to run: `files`, `start`, `load`.

#[cfg(not(target_arch = "wasm32"))]
#[allow(dead_code, reason = "the tests use the same harness, and each uses another part")]
#[path = "../../tests/browser/harness/mod.rs"]
mod harness;

// What the page costs on the wire.
#[cfg(not(target_arch = "wasm32"))]
mod files;

// From navigation to the first row, and to all rows.
#[cfg(not(target_arch = "wasm32"))]
mod start;

// The main thread under load: its share of busy time, long tasks, frames.
#[cfg(not(target_arch = "wasm32"))]
mod load;

// From a write's acknowledgement to the cell that shows it.
#[cfg(not(target_arch = "wasm32"))]
mod freshness;

// What the browser says of a page.
#[cfg(not(target_arch = "wasm32"))]
mod metrics;

// Medians and worse.
#[cfg(not(target_arch = "wasm32"))]
mod quantile;

#[cfg(not(target_arch = "wasm32"))]
fn main() {
    // `cargo test --all-targets` runs a benchmark without this flag, to see that it starts.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let wanted: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with('-')).collect();
    let runs = |part: &str| wanted.is_empty() || wanted.iter().any(|name| name == part);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("the runtime starts").block_on(async {
        if runs("files") {
            files::report();
        }
        if runs("start") {
            start::report().await;
        }
        if runs("load") {
            load::report().await;
        }
    });
}

#[cfg(target_arch = "wasm32")]
fn main() {}
