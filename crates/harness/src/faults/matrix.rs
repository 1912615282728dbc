//! Every fault, and how it is made. A fault begins and ends within one call. A fault that lasts does so by the clock, for its
//! length is a part of the fault.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use crate::faults::Dice;
use crate::faults::watcher::now;
use crate::faults::world::{RATE, World};
use crate::judge::honesty::{API, Outage, SLACK};
use crate::page::Page;
use crate::relay::{Direction, Relay};
use crate::wait::{holds, wait_until};

/// What can go wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    /// The API server is halted (SIGSTOP), and continued.
    ServerStopped,
    /// The API server is killed; another one with other objects comes in its place.
    ServerKilled,
    /// `kubectl proxy` is killed, and comes back.
    ProxyKilled,
    /// `kubectl proxy` is halted (SIGSTOP), and continued.
    ProxyStopped,
    /// Nothing is forwarded between the proxy and the server.
    BlackholeBehind,
    /// Nothing is forwarded between the page and the proxy.
    BlackholeBefore,
    /// The server's data does not arrive.
    Silence,
    /// The page's data does not arrive.
    Deafness,
    /// One socket among live ones is dead.
    HalfOpen,
    /// Every connection behind the proxy is cut.
    CutBehind,
    /// Every connection before the proxy is cut.
    CutBefore,
    /// The network comes and goes.
    Flap,
    /// The history is compacted while the page is cut off, several times.
    Compaction,
    /// Watches and lists are answered with 429.
    TooMany,
    /// Watches and lists are answered with 500.
    ServerError,
    /// Frames that cannot be read.
    Malformed,
    /// A list breaks off in the middle.
    ListCut,
    /// A list ends in the middle as if it were complete.
    ListEnded,
    /// A list stands still in the middle for good.
    ListStalled,
    /// The history is compacted between two pages of a list.
    PageExpired,
    /// A list is answered with 429.
    ListTooMany,
    /// A list is answered with 500.
    ListError,
    /// Some bytes in the middle of a list are replaced.
    ListGarbled,
    /// New connections are accepted, and reach the server late.
    SlowDial,
    /// Everything comes late.
    Latency,
    /// The proxy's backend refuses connections.
    BackendGone,
    /// The tab is in the background for a while.
    TabHidden,
    /// The wall clock jumps by hours.
    WallClock,
    /// The monotonic clock jumps by hours.
    MonotonicClock,
    /// The machine slept: two hours on the wall, nothing on the monotonic clock, and dead connections.
    Sleep,
    /// The browser is offline, and online again.
    Offline,
}

/// All faults. Their number has no common divisor with the stride at which seeds go through them.
pub const FAULTS: [Fault; 31] = [
    Fault::ServerStopped,
    Fault::ServerKilled,
    Fault::ProxyKilled,
    Fault::ProxyStopped,
    Fault::BlackholeBehind,
    Fault::BlackholeBefore,
    Fault::Silence,
    Fault::Deafness,
    Fault::HalfOpen,
    Fault::CutBehind,
    Fault::CutBefore,
    Fault::Flap,
    Fault::Compaction,
    Fault::TooMany,
    Fault::ServerError,
    Fault::Malformed,
    Fault::ListCut,
    Fault::ListEnded,
    Fault::ListStalled,
    Fault::PageExpired,
    Fault::ListTooMany,
    Fault::ListError,
    Fault::ListGarbled,
    Fault::SlowDial,
    Fault::Latency,
    Fault::BackendGone,
    Fault::TabHidden,
    Fault::WallClock,
    Fault::MonotonicClock,
    Fault::Sleep,
    Fault::Offline,
];

/// The Pods of a world whose lists are to have more than one page.
pub const TWO_PAGES: u32 = 560;

/// The longest wait that the page may have begun in a flapping network, which lasts for less than twelve seconds: the fourth, with
/// its jitter (`kubechurn_client::cache::backoff`), in milliseconds.
const FLAPPED: f64 = 12_800.0;

/// How long a list may stand still before the page gives it up, in milliseconds; with the time to begin anew.
const STALLED: f64 = 35_000.0;

/// How many watches the page has open.
pub const WATCHES: f64 = 3.0;

/// How long "live" may go on over a single dead socket: 15 s, and 10 s for each watch that is silent.
pub const SOCKET: f64 = API + 10_000.0 * WATCHES;

impl Fault {
    /// The name of the fault in the table.
    pub fn name(self) -> &'static str {
        match self {
            Fault::ServerStopped => "API server stopped (SIGSTOP)",
            Fault::ServerKilled => "API server killed, another in its place",
            Fault::ProxyKilled => "kubectl proxy killed",
            Fault::ProxyStopped => "kubectl proxy stopped (SIGSTOP)",
            Fault::BlackholeBehind => "blackhole behind the proxy",
            Fault::BlackholeBefore => "blackhole before the proxy",
            Fault::Silence => "answers do not arrive",
            Fault::Deafness => "questions do not arrive",
            Fault::HalfOpen => "one socket dead among live ones",
            Fault::CutBehind => "connections cut behind the proxy",
            Fault::CutBefore => "connections cut before the proxy",
            Fault::Flap => "flapping network",
            Fault::Compaction => "history compacted, 410 storm",
            Fault::TooMany => "429",
            Fault::ServerError => "500",
            Fault::Malformed => "malformed frames",
            Fault::ListCut => "list cut in the middle",
            Fault::ListEnded => "list that ends in the middle",
            Fault::ListStalled => "list stalled in the middle",
            Fault::PageExpired => "410 on a page of a list",
            Fault::ListTooMany => "429 on a list",
            Fault::ListError => "500 on a list",
            Fault::ListGarbled => "garbage in the middle of a list",
            Fault::SlowDial => "slow dial",
            Fault::Latency => "latency",
            Fault::BackendGone => "proxy's backend gone",
            Fault::TabHidden => "tab hidden",
            Fault::WallClock => "wall clock jumps by hours",
            Fault::MonotonicClock => "monotonic clock jumps by hours",
            Fault::Sleep => "sleep of two hours",
            Fault::Offline => "offline and online",
        }
    }
}

/// When a fault was over, and what the page could not see in the meantime.
#[derive(Debug)]
pub struct Done {
    /// When the fault was over, by the machine's clock. For a dead socket, which only the page can end: when it began.
    pub over: f64,
    /// How long the page may take to notice the fault, in milliseconds, before it begins to recover.
    pub hidden: f64,
    /// The times in which nothing could come.
    pub outage: Option<Outage>,
}

/// How long a fault lasts: mostly a few seconds, and sometimes longer than "live" may last.
fn length(dice: &mut Dice) -> Duration {
    Duration::from_millis(if dice.below(6) == 0 { 19_000 + dice.below(3_000) } else { 1_000 + dice.below(4_000) })
}

/// Waits for as long as a fault is to last.
async fn lasts(length: Duration) {
    sleep(length).await;
}

/// Makes a fault, and takes it back.
pub async fn make(fault: Fault, world: &mut World, page: &Page, dice: &mut Dice) -> Done {
    let from = now();
    let mut length = length(dice);
    let (mut is_outage, mut hidden) = (false, 0.0);
    match fault {
        Fault::ServerStopped => {
            world.cluster.stop();
            lasts(length).await;
            world.cluster.go_on();
            is_outage = true;
        }
        Fault::ServerKilled => {
            world.far.hold(Direction::Both);
            world.kill_cluster().await;
            world.far.cut();
            world.far.pass().await;
            lasts(length).await;
            world.start_cluster().await;
            is_outage = true;
        }
        Fault::ProxyKilled => {
            world.proxy.kill().await;
            lasts(length).await;
            world.proxy.start_again().await;
            is_outage = true;
        }
        Fault::ProxyStopped => {
            world.proxy.process().stop();
            lasts(length).await;
            world.proxy.process().go_on();
            is_outage = true;
        }
        Fault::BlackholeBehind | Fault::BlackholeBefore | Fault::Silence | Fault::Deafness => {
            let behind = fault == Fault::BlackholeBehind || (fault != Fault::BlackholeBefore && dice.below(2) == 0);
            let relay = if behind { &mut world.far } else { &mut world.near };
            relay.hold(match fault {
                Fault::Silence => Direction::ToClient,
                Fault::Deafness => Direction::ToServer,
                _ => Direction::Both,
            });
            lasts(length).await;
            relay.pass().await;
            is_outage = fault != Fault::Deafness;
        }
        Fault::HalfOpen => {
            let is_it = |line: &str| line.contains("/pods?") && line.contains("watch=true");
            let relay = if dice.below(2) == 0 { &world.far } else { &world.near };
            relay.freeze_where(Direction::Both, is_it);
            // A write follows, for a dead socket shows only by a change that it does not bring.
            world.cluster.advance(60, RATE).await;
            // The fault is over when the page has another socket. The dead one stays dead.
            return Done {
                over: from,
                hidden: SOCKET,
                outage: Some(Outage {
                    fault: fault.name(),
                    from,
                    to: f64::INFINITY,
                    resource: "pods",
                    bound: SOCKET,
                    slack: SLACK,
                }),
            };
        }
        Fault::CutBehind => drop(world.far.cut()),
        Fault::CutBefore => drop(world.near.cut()),
        Fault::Flap => {
            for _ in 0..3 + dice.below(4) {
                let relay = if dice.below(2) == 0 { &mut world.far } else { &mut world.near };
                relay.refuse().await;
                relay.cut();
                world.cluster.advance(1 + dice.below(20), RATE).await;
                relay.pass().await;
                world.cluster.advance(1 + dice.below(40), RATE).await;
            }
            hidden = FLAPPED;
        }
        Fault::Compaction => {
            for _ in 0..1 + dice.below(3) {
                forget(world).await;
                world.far.pass().await;
                world.cluster.advance(1 + dice.below(30), RATE).await;
            }
        }
        Fault::TooMany | Fault::ServerError => {
            let status = if fault == Fault::TooMany { "429&retry-after=1" } else { "500" };
            for verb in ["watch", "list"] {
                let times = 1 + dice.below(3);
                world.cluster.control(&format!("fault?status={status}&verb={verb}&times={times}")).await;
            }
            world.far.cut();
            length = length.min(Duration::from_secs(4));
            lasts(length).await;
            world.cluster.control("clear").await;
        }
        Fault::Malformed => {
            let words = ["truncate", "not-json", "wrong-type", "unknown-type"];
            let word = words[dice.below(words.len() as u64) as usize];
            let times = 1 + dice.below(3);
            world.cluster.control(&format!("fault?frame={word}&times={times}&resource=pods")).await;
            world.cluster.advance(40, RATE).await;
            world.cluster.control("clear").await;
        }
        Fault::ListCut => {
            // A page that has its lists streamed has them fetched where the server does not stream.
            let streams = dice.below(2) == 0;
            world.cluster.control(&format!("watchlist?on={streams}")).await;
            list_slowly(world, 2_000).await;
            lasts(Duration::from_millis(dice.below(300))).await;
            world.far.cut();
            world.cluster.control("clear").await;
            world.cluster.control("watchlist?on=true").await;
        }
        Fault::ListEnded => {
            // A streaming list ends after some frames, and a fetched one after some pieces.
            world.cluster.control("fault?end=close&after=10&times=1&resource=pods").await;
            list_slowly(world, 2_000).await;
            lasts(Duration::from_millis(dice.below(300))).await;
            world.far.end_where(is_list);
            lasts(Duration::from_millis(300)).await;
            world.cluster.control("clear").await;
        }
        Fault::ListStalled => {
            list_slowly(world, 2_000).await;
            lasts(Duration::from_millis(dice.below(300))).await;
            world.far.freeze_where(Direction::ToClient, is_list);
            world.cluster.control("clear").await;
            // The page gives that list up, and asks for another one.
            hidden = STALLED;
        }
        Fault::PageExpired => {
            world.cluster.control("fault?status=410&verb=list&times=1&resource=pods").await;
            list_slowly(world, 20_000).await;
            world.cluster.advance(5, RATE).await;
            world.cluster.control("compact").await;
            world.cluster.control("clear").await;
        }
        Fault::ListTooMany | Fault::ListError => {
            let status = if fault == Fault::ListTooMany { "429&retry-after=1" } else { "500" };
            forget(world).await;
            for verb in ["watch", "list"] {
                let times = 1 + dice.below(2);
                world.cluster.control(&format!("fault?status={status}&verb={verb}&times={times}")).await;
            }
            world.far.pass().await;
            lasts(length.min(Duration::from_secs(4))).await;
            world.cluster.control("clear").await;
        }
        Fault::ListGarbled => {
            list_slowly(world, 2_000).await;
            world.far.garble_where(is_list);
            lasts(Duration::from_millis(dice.below(300))).await;
            world.cluster.control("clear").await;
        }
        Fault::SlowDial => {
            world.far.hold_dials();
            world.far.cut();
            lasts(length).await;
            world.far.pass().await;
            is_outage = true;
        }
        Fault::Latency => {
            world.far.delay(Duration::from_millis(100 + dice.below(500)));
            lasts(length).await;
            world.far.pass().await;
        }
        Fault::BackendGone => {
            world.far.refuse().await;
            world.far.cut();
            lasts(length).await;
            world.far.pass().await;
            is_outage = true;
        }
        Fault::TabHidden => {
            page.browser.hide().await;
            lasts(length).await;
            page.browser.show().await;
        }
        Fault::WallClock | Fault::MonotonicClock => {
            let hours = 1 + dice.below(5) as i64;
            let hours = if fault == Fault::WallClock && dice.below(2) == 0 { -hours } else { hours };
            let clock = if fault == Fault::WallClock { "__wall" } else { "__mono" };
            jump(page, clock, hours).await;
            lasts(length.min(Duration::from_secs(3))).await;
            // In the end both clocks agree again: a clock that was set back is set right, and time that has passed has passed
            // on the wall clock, too. A page whose clock is ahead of the wall clock could not notice a sleep.
            if clock == "__mono" || hours < 0 {
                jump(page, "__wall", hours.abs()).await;
            }
        }
        Fault::Sleep => {
            // When the page wakes, the clock has jumped, its sockets are silent for ever, and it has no other connections.
            let is_watch = |line: &str| line.contains("watch=true");
            world.near.freeze_where(Direction::Both, is_watch);
            world.near.cut_where(|line| !is_watch(line));
            jump(page, "__wall", 2).await;
        }
        Fault::Offline => {
            network(page, &world.near, true).await;
            lasts(length).await;
            network(page, &world.near, false).await;
        }
    }
    let over = now();
    let outage =
        is_outage.then(|| Outage { fault: fault.name(), from, to: over, resource: "", bound: API, slack: SLACK });
    Done { over, hidden, outage }
}

/// Cuts the page off while objects are written and the history is compacted. The page is still cut off afterwards.
async fn forget(world: &mut World) {
    world.far.hold(Direction::Both);
    world.cluster.advance(20, RATE).await;
    world.cluster.control("compact").await;
    world.far.cut();
}

/// Has the page list everything, slowly, so many bytes of an answer each 30 ms; ends while the first list of Pods is on its way.
async fn list_slowly(world: &mut World, bytes: usize) {
    world.cluster.control(&format!("fault?drip={bytes}&pause-ms=30&verb=list")).await;
    world.cluster.control("fault?frame=delay&delay-ms=20&event=ADDED&resource=pods").await;
    forget(world).await;
    world.far.pass().await;
    wait_until("a list is under way", Duration::from_secs(40), async || {
        let requests = world.far.requests();
        holds(requests.iter().any(|line| is_list(line)), || format!("{requests:?}"))
    })
    .await;
}

/// Whether this is the request for a list of Pods, fetched or streamed. The one that asks how many there are is none.
fn is_list(line: &str) -> bool {
    let is_whole = !line.contains("watch=true") && !line.contains("limit=1&") && !line.contains("limit=1 ");
    line.contains("/pods?") && (is_whole || line.contains("sendInitialEvents=true"))
}

/// Sets one of the page's clocks forward or back.
async fn jump(page: &Page, clock: &str, hours: i64) {
    let script = "window[arguments[0]] += arguments[1] * 3600000; return true";
    page.browser.run(script, vec![clock.into(), hours.into()]).await;
}

/// Sets the browser offline or online. Open sockets may stay open in the browser, so that the network is cut as well.
async fn network(page: &Page, near: &Relay, offline: bool) {
    page.browser.devtools("Network.enable", json!({})).await;
    let conditions = json!({ "offline": offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1 });
    page.browser.devtools("Network.emulateNetworkConditions", conditions).await;
    if offline {
        near.cut();
    }
}
