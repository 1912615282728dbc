//! The page's security policy: normal use of the page never violates it, and scripts that others put into the page do
//! not run. And the console stays empty while all is well.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::page::{INSTRUMENTS, Page, with_page_in};
use kubechurn_harness::proxy::{KubectlProxy, TrunkServe};
use kubechurn_harness::turn;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

const SOON: Duration = Duration::from_secs(20);

/// Counts what the browser refuses because of the policy, and records the names of saved files. The browser still saves
/// the files.
const VIOLATIONS: &str = "
    window.__violations = [];
    document.addEventListener('securitypolicyviolation', event =>
        window.__violations.push(`${event.effectiveDirective}: ${event.blockedURI}`));
    const click = HTMLAnchorElement.prototype.click;
    HTMLAnchorElement.prototype.click = function() {
        window.__file = this.download;
        return click.call(this);
    };";

async fn in_page(name: &str, url: &str, test: impl AsyncFnOnce(&Page)) {
    let browser = Browser::start(&format!("{INSTRUMENTS}{VIOLATIONS}")).await;
    with_page_in(browser, name, url, "#/pods", async |page| {
        page.reaches("pods", "live", SOON).await;
        page.has_rows().await;
        test(page).await;
    })
    .await;
}

async fn violations(page: &Page) -> Vec<String> {
    page.read("return window.__violations", vec![]).await
}

/// The console's messages, except for those of level info.
async fn said(page: &Page) -> Vec<String> {
    let console = page.browser.console().await.into_iter();
    console.filter(|entry| entry.level != "INFO" && entry.level != "DEBUG").map(|entry| entry.message).collect()
}

/// A page that is well says nothing, from its first request until its second round of discovery.
async fn starts_clean(page: &Page) {
    wait_until("discovery was requested again", Duration::from_secs(30), async || {
        let script = "return performance.getEntriesByType('resource').filter(one => one.name.endsWith('/apis')).length";
        let asked: u32 = page.read(script, vec![]).await;
        holds(asked > 1, || format!("{asked} times"))
    })
    .await;
    assert_eq!(said(page).await, Vec::<String>::new());
}

/// The table, the inspector, the palette, the menus, an export: everything that draws, sends requests or saves files.
async fn a_day(page: &Page) {
    for (keys, what, script) in [
        ("j\u{e007}", "the inspector", "return !!document.querySelector('[data-testid=inspector]')"),
        (":", "the palette", "return document.querySelector('[data-testid=palette]').open"),
        ("deploy,rs,po\u{e007}", "several kinds", "return location.hash.startsWith('#/deploy')"),
        ("?", "the keys", "return document.querySelector('[data-testid=help]').open"),
        ("\u{e00c}", "the keys closed", "return !document.querySelector('[data-testid=help]').open"),
        (":secrets\u{e007}", "Secrets", "return location.hash.startsWith('#/secrets')"),
        ("t", "the light theme", "return document.documentElement.dataset.theme === 'light'"),
        (":csv\u{e007}", "a file", "return /^secrets-.*csv$/.test(window.__file)"),
    ] {
        page.press(keys).await;
        page.becomes(what, script, json!(true)).await;
    }
    page.open("#/pods").await;
    page.reaches("pods", "live", SOON).await;
    let keys = page.has_rows().await;
    page.open(&format!("#/pods?sel={}&tab=yaml", keys[0])).await;
    wait_until("the object's YAML is shown", SOON, async || {
        let text = page.text("yaml").await;
        holds(text.contains("metadata"), || text)
    })
    .await;
    page.open(&format!("#/pods?sel={}&tab=events", keys[0])).await;
    page.click("namespaces").await;
    page.becomes(
        "the namespaces are listed",
        "return !!document.querySelector('[data-testid=namespace-all]')",
        json!(true),
    )
    .await;
    page.painted().await;
}

async fn through(name: &str, url: &str) {
    in_page(name, url, async |page| {
        starts_clean(page).await;
        a_day(page).await;
        assert_eq!(violations(page).await, Vec::<String>::new());
        assert_eq!(said(page).await, Vec::<String>::new());
    })
    .await;
}

#[tokio::test]
async fn the_console_is_clean_through_kubectl_proxy() {
    let (_turn, _cluster, proxy) = started(&Options { pods: 60, rate: 5, ..Options::default() }).await;
    through("the_console_is_clean_through_kubectl_proxy", &proxy.url()).await;
}

#[tokio::test]
async fn the_console_is_clean_through_trunk() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { pods: 60, rate: 5, ..Options::default() }).await;
    let proxy = KubectlProxy::start_plain(cluster.port()).await;
    let trunk = TrunkServe::start(proxy.port()).await;
    through("the_console_is_clean_through_trunk", &trunk.url()).await;
}

/// Below a secret path, as `./dev serve` and `./dev build` use it: there too, the page finds everything at the first
/// attempt.
#[tokio::test]
async fn the_console_is_clean_below_a_secret_path() {
    let _turn = turn::shared().await;
    let (secret, inner) = ("5f1d0c3e9b7a42868d1e6c0f7a3b9d24", "c0ffee00c0ffee00c0ffee00c0ffee00");
    let cluster = Cluster::start(&Options { pods: 60, rate: 5, ..Options::default() }).await;
    let proxy = KubectlProxy::start_below(cluster.port(), secret).await;
    let plain = KubectlProxy::start_plain_below(cluster.port(), inner).await;
    let trunk = TrunkServe::start_below(plain.port(), inner, secret).await;
    for (url, port) in [(proxy.url(), proxy.port()), (trunk.url(), trunk.port())] {
        in_page("the_console_is_clean_below_a_secret_path", &url, async |page| {
            starts_clean(page).await;
            assert_eq!(page.text("api").await, format!("127.0.0.1:{port}"));
            assert_eq!(violations(page).await, Vec::<String>::new());
        })
        .await;
    }
}

/// Scripts that are put into the page do not run, and a script that runs can connect only to this machine.
#[tokio::test]
async fn what_others_put_into_the_page_does_nothing() {
    let (_turn, _cluster, proxy) = started(&Options { pods: 60, ..Options::default() }).await;
    in_page("what_others_put_into_the_page_does_nothing", &proxy.url(), async |page| {
        let script = "
            const script = document.createElement('script');
            script.textContent = 'window.__ran = 1';
            document.head.append(script);
            const image = document.createElement('div');
            document.body.append(image);
            image.innerHTML = '<img src=data:x onerror=\"window.__ran = 2\">';
            const foreign = document.createElement('script');
            foreign.src = 'https://cluster.example/x.js';
            document.head.append(foreign);
            const frame = document.createElement('iframe');
            frame.src = 'https://cluster.example/';
            document.body.append(frame);
            return true";
        page.browser.run(script, vec![]).await;
        for directive in
            ["script-src-elem: inline", "script-src-attr: inline", "script-src-elem: https", "frame-src: https"]
        {
            wait_until(directive, SOON, async || {
                let violations = violations(page).await;
                holds(violations.iter().any(|one| one.starts_with(directive)), || format!("{violations:?}"))
            })
            .await;
        }
        assert_eq!(page.browser.run("return window.__ran ?? null", vec![]).await, Value::Null);
        for (address, allowed) in [
            ("http://cluster.example/", false),
            ("https://cluster.example/", false),
            ("http://128.0.0.1:8001/", false),
            ("http://127.0.0.1:1/", true),
            ("http://localhost:1/", true),
        ] {
            let asked = format!("fetch('{address}').then(() => 1, () => 1)");
            page.browser.resolve(&asked).await;
            let refused = format!("connect-src: {address}");
            assert_eq!(!violations(page).await.contains(&refused), allowed, "{address}");
        }
        let socket =
            "new Promise(done => { try { new WebSocket('ws://cluster.example/').onerror = done } catch { done() } })";
        page.browser.resolve(&format!("{socket}.then(() => 1)")).await;
        assert!(violations(page).await.iter().any(|one| one.starts_with("connect-src: ws://cluster.example")));
        page.browser.console().await;
    })
    .await;
}
