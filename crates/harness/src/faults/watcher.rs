//! A script that runs in the page before the page's own. It puts clocks that can be set in the place of the machine's, samples
//! what the page says of itself, with times by the machine's clock, and takes the page's audit log before it grows too long.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::Value;

use crate::judge::honesty::Sample;
use crate::page::Page;

/// The script. `__wall` and `__mono` are by how much the page's two clocks are wrong, in milliseconds.
pub const WATCHER: &str = "
    (() => {
        const now = Date.now.bind(Date), monotonic = performance.now.bind(performance);
        window.__wall = 0, window.__mono = 0;
        Date.now = () => now() + window.__wall;
        performance.now = () => monotonic() + window.__mono;
        window.__samples = [], window.__audits = [];
        // By how much a timer of ten a second was late at most, in sight: so late may be each timer of the page's own.
        window.__late = 0;
        let tick = null;
        setInterval(() => {
            const at = document.hidden ? null : monotonic();
            if (tick !== null && at !== null) window.__late = Math.max(window.__late, at - tick - 100);
            tick = at;
        }, 100);
        let last = '', offset = null;
        window.__look = () => {
            const page = window.kubechurn;
            if (!page) return;
            const states = Object.fromEntries(page.status().map(one => [one.resource, one.state]));
            const connection = document.querySelector('[data-testid=connection]');
            const header = document.hidden ? null : connection?.dataset.state ?? null;
            const said = JSON.stringify([header, states]);
            if (said !== last) window.__samples.push([now(), header, states]), last = said;
            const audit = page.audit?.();
            if (!audit) return;
            audit.real = now();
            if (audit.entries.length || offset === null || Math.abs(audit.now - audit.real - offset) > 20)
                window.__audits.push(audit);
            offset = audit.now - audit.real;
        };
        setInterval(window.__look, 100);
    })();";

/// What the watcher saw since the last time, and the page's state and digest of each resource at the same moment.
#[derive(Debug, Default)]
pub struct Seen {
    /// The samples of what the page said of itself.
    pub samples: Vec<Sample>,
    /// The page's audit log since the last time.
    pub audits: Vec<Value>,
    /// `status()`.
    pub status: Vec<Value>,
    /// `digest()`, by the page's names.
    pub digests: Vec<String>,
    /// By how much a timer of the page was late at most since the last time, in milliseconds.
    pub late: f64,
}

/// Takes all of that in one turn of the page's event loop, so that it is of one moment.
pub async fn take(page: &Page, names: &[&str]) -> Seen {
    let script = "
        window.__look?.();
        const late = window.__late;
        window.__late = 0;
        return [late, window.__samples.splice(0), window.__audits.splice(0), window.kubechurn?.status?.() ?? [],
            arguments[0].map(name => window.kubechurn?.digest?.(name) ?? '')]";
    let names = Value::from(names.to_vec());
    let (late, samples, audits, status, digests): (f64, Vec<Value>, _, _, Vec<Value>) =
        page.read(script, vec![names]).await;
    let digests = digests.iter().map(|digest| digest.as_str().unwrap_or_default().to_owned()).collect();
    Seen { samples: samples.iter().filter_map(Sample::read).collect(), audits, status, digests, late }
}

/// The machine's clock, in milliseconds, as the watcher has it.
pub fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs_f64() * 1000.0
}
