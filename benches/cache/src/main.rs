//! Our queue and store against kube-runtime's store: the same events in one run, with criterion. Prints tables, and
//! exits with 1 if a ratio exceeds its limit; docs/measurements.md says more.

mod clock;
mod events;
mod gate;
mod kube;
mod pods;
mod relist;
mod stream;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use criterion::Criterion;

use crate::gate::Gates;

fn main() -> ExitCode {
    let results = Results(Path::new(env!("CARGO_TARGET_TMPDIR")).join("criterion"));
    // Results of an earlier run must not be taken for those of this run.
    let _ = std::fs::remove_dir_all(&results.0);
    let mut criterion = Criterion::default()
        .without_plots()
        .output_directory(&results.0)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(1))
        .configure_from_args();
    events::run(&mut criterion);
    relist::run(&mut criterion);
    criterion.final_summary();

    println!("\n## Events: ns per event, median\n");
    let names = ["kubechurn-256", "kubechurn-1", "bare", "kube-pod", "kube-metadata"];
    let event = |name: &str, size| results.median("events", name, size) / events::BATCH as f64;
    table(&names, &events::SIZES, event);
    println!("\n## Complete lists: ns per item or known object, median\n");
    let names = ["kubechurn-items", "kubechurn-known", "kubechurn", "kube-pod", "kube-metadata"];
    let item = |name: &str, size: usize| results.median("relist", name, size) / size as f64;
    table(&names, &relist::SIZES, item);

    println!();
    let mut gates = Gates::default();
    let ours = "kubechurn-256";
    gates.at_most("an event, ours / kube's typed Pod, 100,000", event(ours, 100_000) / event("kube-pod", 100_000), 0.2);
    // No store of 100,000 objects is in a near cache: what the distance to memory costs is measured by a bare hash map.
    let farther = |name: &str| event(name, 100_000) - event(name, 1_000);
    gates.at_most(
        "what an event takes longer at 100,000 than at 1,000, ours / a bare map",
        farther(ours) / farther("bare"),
        2.0,
    );
    for name in ["kubechurn-items", "kubechurn-known", "kubechurn"] {
        // Both sizes are beyond all caches: a list must not cost more for each item because it is longer.
        let what = format!("a complete list, {name}, 1,000,000 / 100,000");
        gates.at_most(&what, item(name, 1_000_000) / item(name, 100_000), 2.5);
    }
    gates.verdict()
}

/// The folder in which criterion writes its estimates.
struct Results(PathBuf);

impl Results {
    /// The median time of an iteration in nanoseconds; NaN where it was not measured.
    fn median(&self, group: &str, name: &str, size: usize) -> f64 {
        let path = self.0.join(group).join(name).join(size.to_string()).join("new/estimates.json");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let estimates: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        estimates["median"]["point_estimate"].as_f64().unwrap_or(f64::NAN)
    }
}

/// A Markdown table: a row for each size.
fn table(names: &[&str], sizes: &[usize], figure: impl Fn(&str, usize) -> f64) {
    println!("| Pods | {} |\n|---:|{}", names.join(" | "), "---:|".repeat(names.len()));
    for &size in sizes {
        let figures: Vec<String> = names.iter().map(|name| format!("{:.0}", figure(name, size))).collect();
        println!("| {size} | {} |", figures.join(" | "));
    }
}
