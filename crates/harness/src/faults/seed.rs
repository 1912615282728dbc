//! One seed from beginning to end: a world, a page, some faults one after the other, and the judge.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::browser::Browser;
use crate::faults::Dice;
use crate::faults::matrix::{Done, FAULTS, Fault, TWO_PAGES, make};
use crate::faults::watcher::{Seen, WATCHER, now, take};
use crate::faults::world::{RATE, World};
use crate::judge::honesty::{Outage, Sample, gaps, honesty};
use crate::judge::ledger::Ledger;
use crate::judge::log::PageLog;
use crate::judge::recording::Recording;
use crate::judge::{Case, Verdict, judge};
use crate::page::{GIVEN, INSTRUMENTS, Page, with_page_in};
use crate::truth::Truth;
use crate::wait::{holds, wait_until};

/// The resources that are watched: the page's name, the ledger's name, and the path in the API.
pub const KINDS: [(&str, &str, &str); 3] = [
    ("pods", "pods", "/api/v1/pods"),
    ("deployments", "deployments.apps", "/apis/apps/v1/deployments"),
    ("replicasets", "replicasets.apps", "/apis/apps/v1/replicasets"),
];

/// The route of the page that shows them.
pub const PLACE: &str = "#/pods?pin=deployments,replicasets";

/// The time within which a page must have recovered from a fault, in milliseconds.
const HEAL: f64 = 10_000.0;

/// The number of faults of one seed.
pub const EACH: usize = 3;

/// The stride at which seeds go through the matrix.
const STRIDE: usize = 7;

/// How long a page that has not recovered in time is waited for before it is given up.
const PATIENCE: Duration = Duration::from_secs(90);

/// The result of one seed.
#[derive(Debug, Default)]
pub struct Outcome {
    /// The seed.
    pub seed: u64,
    /// Whether Trunk was between the page and the proxy.
    pub trunk: bool,
    /// Whether lists were streamed, and not fetched.
    pub streams: bool,
    /// Each fault, and in how many milliseconds the page was whole again.
    pub faults: Vec<(Option<Fault>, f64)>,
    /// The longest false "live", in milliseconds, of each outage.
    pub live: Vec<(&'static str, f64)>,
    /// The judge's verdict.
    pub verdict: Verdict,
    /// Each fault after which the page was whole again too late. `./dev faults` judges by it; a test does not, for a busy machine
    /// makes a page late, too.
    pub slow: Vec<String>,
    /// How many writes of the watched resources there were.
    pub writes: usize,
    /// How long all of it took.
    pub took: Duration,
}

/// What is collected during the faults.
#[derive(Debug, Default)]
pub struct Gathered {
    /// Everything that the watcher saw.
    pub seen: Seen,
    /// The outages.
    pub outages: Vec<Outage>,
    /// Each fault, and in how many milliseconds the page was whole again.
    pub healed: Vec<(Fault, f64)>,
    /// Each fault after which the page was whole again too late.
    pub slow: Vec<String>,
    /// How long a page may take to be whole again after a fault, in milliseconds.
    pub heal: f64,
}

impl Outcome {
    /// Everything that is wrong, the times of a machine that is not busy included.
    pub fn complaints(&self) -> impl Iterator<Item = &String> {
        self.verdict.complaints.iter().chain(&self.slow)
    }
}

/// Whether a seed has lists streamed: two seeds have them fetched, and the next two streamed, once through each proxy.
pub fn streams(seed: u64) -> bool {
    seed % 4 >= 2
}

/// The faults of a seed: every 31 seeds make each of them three times.
pub fn faults(seed: u64) -> Vec<Fault> {
    let first = seed as usize % FAULTS.len() * EACH;
    (first..first + EACH).map(|at| FAULTS[at * STRIDE % FAULTS.len()]).collect()
}

/// Plays a seed.
pub async fn play(seed: u64) -> Outcome {
    let began = Instant::now();
    let mut dice = Dice::new(seed);
    let trunk = seed % 2 == 1;
    let (faults, streams) = (faults(seed), streams(seed));
    let pods = if faults.contains(&Fault::PageExpired) { TWO_PAGES } else { 60 };
    let mut world = World::start(seed, (pods, RATE), trunk, true).await;
    let mut outcome = Outcome { seed, trunk, streams, ..Outcome::default() };
    let url = format!("{}{}", world.url(), if streams { "&list=stream" } else { "" });
    let browser = Browser::start(&format!("{INSTRUMENTS}{WATCHER}")).await;
    with_page_in(browser, &format!("faults-{seed}"), &url, PLACE, async |page| {
        let mut gathered = Gathered { heal: HEAL, ..Gathered::default() };
        for (name, ..) in KINDS {
            page.reaches(name, "live", Duration::from_secs(30)).await;
        }
        for fault in faults {
            world.cluster.advance(10, RATE).await;
            strike(fault, &mut world, page, &mut dice, &mut gathered).await;
            world.cluster.rate(RATE).await;
        }
        outcome.faults = gathered.healed.iter().map(|(fault, heal)| (Some(*fault), *heal)).collect();
        sentence(&world, page, gathered, &mut outcome).await;
    })
    .await;
    outcome.took = began.elapsed();
    outcome
}

/// Makes a fault, and waits until the page is whole again; nothing is written then.
pub async fn strike(fault: Fault, world: &mut World, page: &Page, dice: &mut Dice, gathered: &mut Gathered) {
    let Done { over, hidden, outage } = make(fault, world, page, dice).await;
    let healed = whole(world, page).await;
    let heal = (healed - over).max(0.0);
    gathered.healed.push((fault, heal));
    if heal > gathered.heal + hidden {
        gathered.slow.push(format!("{}: whole again {:.1} s after it was over", fault.name(), heal / 1000.0));
    }
    let late = gather(page, gathered).await;
    // The fault of a dead socket lasts for as long as the page keeps the socket.
    let outage = outage.map(|outage| Outage { to: outage.to.min(healed), slack: outage.slack + late, ..outage });
    gathered.outages.extend(outage);
}

/// Collects what the watcher saw since the last time, and returns by how much the page's timers were late, in milliseconds.
pub async fn gather(page: &Page, gathered: &mut Gathered) -> f64 {
    let names = KINDS.map(|(name, ..)| name);
    let Seen { samples, audits, status, digests, late } = take(page, &names).await;
    gathered.seen.samples.extend(samples);
    gathered.seen.audits.extend(audits);
    (gathered.seen.status, gathered.seen.digests) = (status, digests);
    late
}

/// Lets the writes rest, and waits until every kind is live and equals an independent list; says when that was.
pub async fn whole(world: &World, page: &Page) -> f64 {
    world.cluster.rate(0).await;
    let truths = truths(world).await;
    let names = KINDS.map(|(name, ..)| name);
    let script = "const status = window.kubechurn?.status?.() ?? [];
        return arguments[0].map(name => [status.find(one => one.resource === name)?.state ?? '',
            window.kubechurn?.digest?.(name) ?? ''])";
    wait_until("the page is whole again", PATIENCE, async || {
        let said: Vec<(String, Value)> = page.read(script, vec![Value::from(names.to_vec())]).await;
        let wrong: Vec<String> = (said.iter().zip(&truths).zip(names))
            .filter(|(((state, digest), truth), _)| state != "live" || *digest != truth.digest())
            .map(|(((state, digest), truth), name)| format!("{name}: {state}, equal: {}", *digest == truth.digest()))
            .collect();
        holds(wrong.is_empty(), || format!("{wrong:?}"))
    })
    .await;
    now()
}

async fn truths(world: &World) -> Vec<Truth> {
    let mut truths = Vec::new();
    for (.., path) in KINDS {
        truths.push(world.cluster.list(path).await);
    }
    truths
}

/// Reads the page's audit log and the cluster's ledger to the end, and has them judged.
pub async fn sentence(world: &World, page: &Page, mut gathered: Gathered, outcome: &mut Outcome) {
    whole(world, page).await;
    page.is_balanced().await;
    let truths = truths(world).await;
    // The page's log is read first, so that what is sent afterwards does not count as lost.
    gather(page, &mut gathered).await;
    world.ledger_is_written(truths.iter().map(|truth| truth.revision).max().unwrap_or_default()).await;
    let ledger = Ledger::read(&world.files());
    let recording = Recording::read(&saved(page).await);
    let Gathered { seen, outages, slow, .. } = gathered;
    let log = PageLog::read(&seen.audits);
    outcome.slow = slow;
    for (((name, resource, _), truth), digest) in KINDS.into_iter().zip(&truths).zip(&seen.digests) {
        let status = seen.status.iter().find(|one| one["resource"] == name).unwrap_or(&Value::Null);
        outcome.verdict.add(judge(&Case {
            ledger: &ledger,
            log: &log,
            recording: &recording,
            resource,
            truth,
            digest,
            status,
        }));
        outcome.verdict.complaints.extend(gaps(&log, &seen.samples, (name, resource), &outages));
        outcome.writes += ledger.of(resource, u64::MAX).count();
    }
    honest(&seen.samples, &outages, outcome);
}

/// The file in which the page saves its recording, as a user has it do.
async fn saved(page: &Page) -> Vec<u8> {
    page.browser.run(GIVEN, Vec::new()).await;
    page.press(":save the recording\u{e007}").await;
    page.click("save-write").await;
    wait_until("the recording is saved", PATIENCE, async || {
        let name: Option<String> = page.read("return window.__file ?? null", Vec::new()).await;
        holds(name.is_some(), || "no file".to_owned())
    })
    .await;
    let bytes = page.browser.resolve("window.__blob.arrayBuffer().then(bytes => [...new Uint8Array(bytes)])").await;
    serde_json::from_value(bytes).expect("the bytes of a file")
}

/// Compares what the page said of itself with the outages.
pub fn honest(samples: &[Sample], outages: &[Outage], outcome: &mut Outcome) {
    let names = KINDS.map(|(name, ..)| name);
    for outage in outages {
        let (longest, complaints) = honesty(samples, &names, std::slice::from_ref(outage));
        outcome.live.push((outage.fault, longest));
        outcome.verdict.complaints.extend(complaints);
    }
}
