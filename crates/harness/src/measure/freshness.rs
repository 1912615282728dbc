//! How old a cell is when a user sees it. A test writes to the cluster directly, and a mutation observer in the page notes when
//! the cell shows the write. Both times are by the machine's clock.

use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::browser::Browser;
use crate::cluster::Cluster;
use crate::measure::quantile::Samples;
use crate::truth::pod;
use crate::wait::wait_until;

const PROBES: u32 = 20;

/// Notes the moment at which the page shows `arguments[1]` as the restarts of the Pod `arguments[0]`.
const OBSERVE: &str = "
    const [key, restarts] = arguments;
    window.__seen = null;
    const look = () => {
        for (const row of document.querySelectorAll('[role=row][data-key]')) {
            if (row.dataset.key !== key) continue;
            if (!row.querySelector('[data-col=RESTARTS]')?.textContent.includes(restarts)) continue;
            window.__seen = performance.timeOrigin + performance.now();
            observer.disconnect();
        }
    };
    const observer = new MutationObserver(look);
    observer.observe(document.body, { childList: true, characterData: true, subtree: true });";

/// Milliseconds from a write's acknowledgement to the cell that shows it, for some visible Pods.
pub async fn probe(browser: &Browser, cluster: &Cluster) -> Samples {
    let mut samples = Vec::new();
    for number in 0..PROBES {
        // The write is to a Pod whose containers have run. That Pod may be gone before it is patched; then the next one is
        // taken.
        let restarts = 770_000 + number;
        let pods = visible(browser).await;
        let Some((key, path, statuses)) = patchable(cluster, &pods, number).await else { continue };
        browser.run(OBSERVE, vec![key.into(), restarts.to_string().into()]).await;
        cluster.patch(&path, &json!({ "status": { "containerStatuses": restarted(statuses, restarts) } })).await;
        let acknowledged = SystemTime::UNIX_EPOCH.elapsed().expect("the clock is past 1970").as_secs_f64() * 1e3;
        let seen = wait_until("the page shows the write", Duration::from_secs(60), async || {
            browser.run("return window.__seen", Vec::new()).await.as_f64().ok_or_else(|| "not yet".to_owned())
        })
        .await;
        // A page may be faster than the acknowledgement.
        samples.push((seen - acknowledged).max(0.0));
    }
    Samples::new(samples)
}

async fn visible(browser: &Browser) -> Vec<String> {
    let script = "return [...document.querySelectorAll('[role=row][data-state=live]')]
        .filter(row => { const box = row.getBoundingClientRect(); return box.top > 150 && box.bottom < innerHeight / 2; })
        .map(row => row.dataset.key)";
    let keys = browser.run(script, Vec::new()).await;
    keys.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

async fn patchable(cluster: &Cluster, keys: &[String], number: u32) -> Option<(String, String, Value)> {
    for key in keys.iter().cycle().skip(number as usize).take(keys.len()) {
        let path = pod(key);
        let Some(pod) = cluster.find(&path).await else { continue };
        let statuses = pod["status"]["containerStatuses"].clone();
        if statuses.as_array().is_some_and(|statuses| !statuses.is_empty()) {
            return Some((key.clone(), path, statuses));
        }
    }
    None
}

/// All restarts are given to the first container, because the cell shows their sum.
fn restarted(mut statuses: Value, restarts: u32) -> Value {
    for (index, status) in statuses.as_array_mut().into_iter().flatten().enumerate() {
        status["restartCount"] = json!(if index == 0 { restarts } else { 0 });
    }
    statuses
}
