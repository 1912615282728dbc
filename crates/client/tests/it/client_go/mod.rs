//! The queues against what client-go's own did.
//!
//! `tests/fixtures/client-go/queues.jsonl.gz` has runs of client-go 1.36: scripts of random operations, and after each
//! operation what came of it. Each run is played here, and compared step by step. `CLIENT_GO_RUNS` names another file with
//! such runs, packed by gzip or not.

use std::env;
use std::fmt::Debug;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use serde::Deserialize;

/// Queues of deltas.
mod deltas;
/// The queues that informers here have: where they go the same way, and where they do not.
mod ours;
/// The work queue.
mod work_queue;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const FIXTURE: &str = "tests/fixtures/client-go/queues.jsonl.gz";

/// The names of the queues in the file.
const QUEUES: [&str; 4] = ["DeltaFIFO", "RealFIFO", "RealFIFO atomic", "workqueue"];

/// A line of the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Run<S> {
    queue: String,
    seed: u64,
    steps: Vec<S>,
}

/// The queue of a line.
#[derive(Deserialize)]
struct Name {
    queue: String,
}

/// The file with the runs, and whether it is that of the project.
fn source() -> (PathBuf, bool) {
    let root = Path::new(ROOT);
    match env::var_os("CLIENT_GO_RUNS").map(PathBuf::from) {
        // cargo starts tests in the folder of their package, and whoever names a file may be elsewhere.
        Some(named) if !named.exists() && named.is_relative() => (root.join(named), false),
        Some(named) => (named, false),
        None => (root.join(FIXTURE), true),
    }
}

/// The runs of one queue.
fn runs<S: for<'a> Deserialize<'a>>(queue: &str) -> Vec<Run<S>> {
    let (path, is_own) = source();
    let bytes = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut text = String::new();
    match bytes.starts_with(&[0x1f, 0x8b]) {
        true => MultiGzDecoder::new(&*bytes).read_to_string(&mut text).unwrap(),
        false => (&*bytes).read_to_string(&mut text).unwrap(),
    };
    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let named = lines.map(|line| (serde_json::from_str::<Name>(line).unwrap().queue, line));
    let named: Vec<(String, &str)> = named.collect();
    assert!(!named.is_empty(), "{} has no runs", path.display());
    let strange = named.iter().find(|(name, _)| !QUEUES.contains(&&**name));
    assert!(strange.is_none(), "no queue of this name is known: {:?}", strange.map(|(name, _)| name));
    let own = named.into_iter().filter(|(name, _)| name == queue);
    let own: Vec<Run<S>> = own.map(|(_, line)| serde_json::from_str(line).unwrap()).collect();
    assert!(!is_own || !own.is_empty(), "{} has no runs of {queue}", path.display());
    own
}

/// Compares every run of a queue. `play` returns what came of each step here, for as many steps as it could play.
fn compare<S>(queue: &str, play: impl Fn(&[S]) -> Vec<S>)
where
    S: for<'a> Deserialize<'a> + Debug + PartialEq,
{
    let runs: Vec<Run<S>> = runs(queue);
    let (mut steps, mut different) = (0, Vec::new());
    for run in &runs {
        assert_eq!(run.queue, queue);
        let here = play(&run.steps);
        assert_eq!(here.len(), run.steps.len(), "{queue}, seed {}", run.seed);
        steps += run.steps.len();
        // After the first difference nothing can be said of the rest of a run.
        let first = here.into_iter().zip(&run.steps).enumerate().find(|(_, (here, there))| here != *there);
        different.extend(first.map(|(at, (here, there))| {
            format!("seed {}, step {at}:\n  here   {here:?}\n  there  {there:?}", run.seed)
        }));
    }
    println!("{queue}: {} runs, {steps} steps, {} runs with a difference", runs.len(), different.len());
    let shown = different.len().min(3);
    assert!(different.is_empty(), "{queue}: {} runs differ\n{}", different.len(), different[..shown].join("\n"));
}
