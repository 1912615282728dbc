//! The processor time of a browser's processes, as Linux counts it.

use std::collections::BTreeMap;
use std::fs;

use crate::browser::Browser;

/// How many clock ticks Linux counts in a second for programs, whatever its own clock does (`getconf CLK_TCK`).
const TICKS: f64 = 100.0;

/// Seconds of processor time so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProcessorTime {
    /// All processes that run pages.
    pub renderers: f64,
    /// The process that draws.
    pub gpu: f64,
    /// All processes of the browser, these included.
    pub all: f64,
}

impl ProcessorTime {
    /// Reads it.
    pub fn read(browser: &Browser) -> ProcessorTime {
        // The parent and the time of each process of the machine.
        let processes: BTreeMap<u32, (u32, f64)> = fs::read_dir("/proc")
            .into_iter()
            .flatten()
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
            .filter_map(|pid| Some((pid, status(pid)?)))
            .collect();
        let is_own = |pid: u32| {
            let mut parents = std::iter::successors(Some(pid), |pid| processes.get(pid).map(|(parent, _)| *parent));
            parents.any(|parent| parent == browser.pid())
        };
        let mut sum = ProcessorTime::default();
        for (pid, (_, time)) in processes.iter().filter(|(pid, _)| is_own(**pid)) {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let has = |word: &str| String::from_utf8_lossy(&line).contains(word);
            sum.all += time;
            match () {
                () if has("--type=renderer") => sum.renderers += time,
                () if has("--type=gpu-process") => sum.gpu += time,
                () => {}
            }
        }
        sum
    }

    /// The shares of one core that were used since then, within so many seconds.
    pub fn shares_since(self, before: ProcessorTime, seconds: f64) -> ProcessorTime {
        ProcessorTime {
            renderers: (self.renderers - before.renderers) / seconds,
            gpu: (self.gpu - before.gpu) / seconds,
            all: (self.all - before.all) / seconds,
        }
    }
}

/// A process's parent, and its seconds of processor time in the program and in the kernel (proc_pid_stat(5)).
fn status(pid: u32) -> Option<(u32, f64)> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The program's name stands in brackets, and may hold anything.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |at: usize| fields.get(at)?.parse::<f64>().ok();
    Some((fields.get(1)?.parse().ok()?, (ticks(11)? + ticks(12)?) / TICKS))
}
