//! The page's program dies, in every way in which a program can die. The page says so at once, and nothing calls the
//! program again. A page that lives is never reported as dead.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::{INSTRUMENTS, Page, with_page, with_page_in};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::{started, with_live_page};

/// How long a page may take to say that its program died, in tenths of a second by the page's timers: on a busy machine they
/// are late, as the page is.
const AT_ONCE: u32 = 20;
/// How long that may take together with the browser's commands.
const SOON: Duration = Duration::from_secs(10);

/// Kills the program, and records when the veil appeared.
const KILL: &str = "
    window.__veiled = null;
    let tenths = 0;
    setInterval(() => tenths++, 100);
    new MutationObserver(() => {
        if (document.querySelector('[data-testid=dead]')) window.__veiled ??= tenths;
    }).observe(document.body, { childList: true });
    kubechurn.kill(arguments[0]);
    return true";

/// Lets a test stop the timers that the program has set and sets: those of the watchdog, which is outside the program, go on.
const TIMERS: &str = "
    window.__silent = false;
    window.__timers = 0;
    const set = window.setTimeout;
    window.setTimeout = (call, ...rest) => {
        const isProgram = !new Error().stack.split('\\n')[2].includes('/start-');
        window.__timers += isProgram;
        return set(() => isProgram && window.__silent ? undefined : call(), ...rest);
    };";

/// How long the veil took to appear, in tenths of a second.
async fn veiled(page: &Page) -> u32 {
    wait_until("the page says that it died", SOON, async || {
        let took: Option<u32> = page.read("return window.__veiled", vec![]).await;
        took.ok_or_else(|| "not yet".to_owned())
    })
    .await
}

/// The page says when the program died and at which version, says of nothing that it is live, and offers nothing else.
async fn says_so(page: &Page, version: &str) {
    let text = page.text("dead").await;
    assert!(text.contains("This page has stopped"), "{text}");
    let said = page.text("dead-versions").await;
    let at = said.strip_prefix("Pods at version ").and_then(|at| at.parse::<u64>().ok());
    assert!(at >= version.parse().ok() && at.is_some(), "{said}, and it was at {version}");
    let at = page.text("dead-at").await;
    let is_time = at.len() == 8 && at.split(':').all(|part| part.len() == 2 && part.parse::<u8>().is_ok());
    assert!(is_time, "{at}");
    assert_eq!(page.attribute("connection", "data-state").await.as_deref(), Some("stopped"));
    assert_eq!(page.text("connection").await, "stopped");
    let script = "return [...document.body.children].filter(one => !one.inert).map(one => one.className)";
    let reached: Vec<String> = page.read(script, vec![]).await;
    assert_eq!(reached, ["dead"], "only these can be clicked, or reached by the keyboard");
    let script =
        "return [[99, 9], [720, 450], [1400, 700]].every(([x, y]) => document.elementFromPoint(x, y).closest('.dead'))";
    assert!(page.read::<bool>(script, vec![]).await, "the note covers the whole page");
}

/// Nothing that the page does by itself, or that a user does to it, runs in the program again.
async fn stays_dead(page: &Page) {
    let script = "
        window.__before = document.querySelector('.shell').outerHTML;
        dispatchEvent(new KeyboardEvent('keydown', { key: '?', bubbles: true }));
        dispatchEvent(new Event('online'));
        dispatchEvent(new Event('resize'));
        document.dispatchEvent(new Event('visibilitychange'));
        history.replaceState(null, '', '#/nodes');
        dispatchEvent(new HashChangeEvent('hashchange'));
        return kubechurn.status() ?? null";
    assert_eq!(page.browser.run(script, vec![]).await, Value::Null, "no function of the page answers");
    page.painted().await;
    let same = "return window.__before === document.querySelector('.shell').outerHTML";
    assert!(page.read::<bool>(same, vec![]).await, "the page changed after its death");
}

async fn dies(way: &str, words: &str) {
    let (_turn, _cluster, proxy) = started(&Options { pods: 60, ..Options::default() }).await;
    let url = format!("{}?debug=1", proxy.url());
    with_page(&format!("dies_by_{way}"), &url, "#/pods?sort=-NAME", async |page| {
        let live = page.reaches("pods", "live", Duration::from_secs(20)).await;
        let address: String = page.read("return location.href", vec![]).await;
        page.browser.run(KILL, vec![way.into()]).await;
        let took = veiled(page).await;
        assert!(took < AT_ONCE, "{way}: the veil took {took} tenths of a second");
        says_so(page, &live.resource_version.expect("a version")).await;
        let text = page.text("dead").await;
        assert!(text.contains(words), "{text}");
        stays_dead(page).await;
        page.browser.run("history.replaceState(null, '', arguments[0])", vec![address.as_str().into()]).await;

        page.click("dead-reload").await;
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        assert_eq!(page.read::<String>("return location.href", vec![]).await, address, "the same view");
        assert_eq!(page.text("dead").await, "");
        // The console got the program's death as an error, which the test caused on purpose.
        page.browser.console().await;
    })
    .await;
}

#[tokio::test]
async fn a_panic_is_shown() {
    dies("panic", "asked for by kubechurn.kill").await;
}

#[tokio::test]
async fn a_trap_is_shown() {
    dies("trap", "unreachable").await;
}

#[tokio::test]
async fn a_failed_allocation_is_shown() {
    dies("memory", "RuntimeError").await;
}

#[tokio::test]
async fn a_program_that_falls_silent_is_shown() {
    let (_turn, _cluster, proxy) = started(&Options { pods: 60, ..Options::default() }).await;
    let browser = Browser::start(&format!("{INSTRUMENTS}{TIMERS}")).await;
    with_page_in(browser, "a_program_that_falls_silent_is_shown", &proxy.url(), "#/pods", async |page| {
        let status = page.reaches("pods", "live", Duration::from_secs(20)).await;
        let script = KILL.replace("kubechurn.kill(arguments[0])", "window.__silent = true");
        let timers: u32 = page.read("return window.__timers", vec![]).await;
        assert!(timers >= 1, "the program has a timer");
        page.browser.run(&script, vec![]).await;
        let took = veiled(page).await;
        assert!(took < AT_ONCE, "the veil took {took} tenths of a second");
        says_so(page, &status.resource_version.expect("a version")).await;
        stays_dead(page).await;
    })
    .await;
}

#[tokio::test]
async fn a_death_that_comes_again_and_again_says_what_to_do() {
    let (_turn, _cluster, proxy) = started(&Options { pods: 60, ..Options::default() }).await;
    let url = format!("{}?debug=1", proxy.url());
    let name = "a_death_that_comes_again_and_again_says_what_to_do";
    with_page(name, &url, "#/nodes?q=a", async |page| {
        for death in 1..=3 {
            page.reaches("nodes", "live", Duration::from_secs(20)).await;
            page.browser.run(KILL, vec!["trap".into()]).await;
            veiled(page).await;
            let advice = page.text("dead-often").await;
            assert_eq!(advice.contains("It has failed 3 times within a minute"), death == 3, "{death}: {advice}");
            if death < 3 {
                page.click("dead-reload").await;
            }
        }
        page.click("dead-anew").await;
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        assert_eq!(page.attribute("filter", "value").await, None);
        page.browser.console().await;
    })
    .await;
}

#[tokio::test]
async fn a_page_that_is_busy_or_hidden_lives() {
    with_live_page("a_page_that_is_busy_or_hidden_lives", "#/pods", async |page, _| {
        let beats = async || page.read::<u32>("return watchdog.beats()", vec![]).await;
        // The thread does nothing else for six seconds. If that counted as death, the page would say so soon after.
        let busy = "const end = performance.now() + 6000; while (performance.now() < end); return true";
        page.browser.run(busy, vec![]).await;
        let before = beats().await;
        wait_until("five more signs of life", Duration::from_secs(30), async || {
            let beats = beats().await;
            holds(beats > before + 5, || format!("{beats}"))
        })
        .await;
        // A hidden tab, whose timers the browser delays.
        page.browser.hide().await;
        page.becomes("hidden", "return document.visibilityState", json!("hidden")).await;
        let before = beats().await;
        wait_until("two more signs of life while hidden", Duration::from_secs(90), async || {
            let beats = beats().await;
            holds(beats > before + 2, || format!("{beats}"))
        })
        .await;
        page.browser.show().await;
        page.becomes("shown", "return document.visibilityState", json!("visible")).await;
        assert_eq!(page.text("dead").await, "");
        assert_eq!(page.status_of("pods").await.map(|status| status.state).as_deref(), Some("live"));
    })
    .await;
}

/// Neither the address's fragment nor anything except the right parameter lets a script of the page kill the program.
#[tokio::test]
async fn an_ordinary_page_cannot_be_killed() {
    with_live_page("an_ordinary_page_cannot_be_killed", "#/pods?debug=1", async |page, _| {
        assert_eq!(page.browser.run("return kubechurn.kill ?? null", vec![]).await, Value::Null);
    })
    .await;
}
