//! axe-core finds nothing that excludes people, in any state of the page, dark or light. And the page reads out only a
//! little.

use std::fs;
use std::time::Duration;

use serde_json::Value;

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::tools;
use kubechurn_harness::truth::pod;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

/// How long a page may take to reach a state.
const SOON: Duration = Duration::from_secs(20);

/// Runs axe-core on the page as it is, in both themes.
pub async fn finds_nothing(page: &Page, state: &str) {
    let axe = fs::read_to_string(tools::axe()).expect("axe-core is text");
    // A script that was sent before is not sent again, because it is large.
    if !page.read::<bool>("return window.axe != null", Vec::new()).await {
        page.browser.run(&format!("{axe}; window.axe = axe"), Vec::new()).await;
    }
    // Another theme has other colours, and is otherwise the same page.
    for (theme, options, least) in
        [("dark", "", 11), ("light", ", runOnly: ['color-contrast', 'link-in-text-block']", 1)]
    {
        page.browser.run("document.documentElement.dataset.theme = arguments[0]", vec![theme.into()]).await;
        let found = format!(
            "axe.run(document, {{ resultTypes: ['violations']{options} }}).then(result => ({{
                 ran: result.passes.length,
                 wrong: result.violations.flatMap(rule => rule.nodes.slice(0, 3).map(node =>
                     `${{rule.id}}: ${{node.target.join(' ')}}: ${{node.failureSummary.replace(/\\s+/g, ' ')}}: ${{node.html.slice(0, 160)}}`)),
             }}))"
        );
        let found: Value = page.browser.resolve(&found).await;
        assert!(found["ran"].as_u64().is_some_and(|ran| ran >= least), "axe-core looked at something: {found}");
        assert_eq!(found["wrong"], Value::Array(Vec::new()), "{state}, {theme}");
    }
}

#[tokio::test]
async fn a_busy_page_and_what_opens_over_it_keep_no_one_out() {
    let (_turn, _cluster, proxy) = started(&Options { pods: 120, rate: 40, ..Options::default() }).await;
    let name = "a_busy_page_and_what_opens_over_it_keep_no_one_out";
    with_page(name, &proxy.url(), "#/pods?wide=1&pin=deployments", async |page| {
        page.reaches("pods", "live", SOON).await;
        wait_until("a deleted row stays for a while", SOON, async || {
            let count: u64 = page.read("return document.querySelectorAll('[data-state=deleted]').length", vec![]).await;
            holds(count > 0, || format!("{count} deleted rows"))
        })
        .await;
        finds_nothing(page, "busy").await;
        page.press("jjl").await;
        is_there(page, "[data-testid=table-scroll] [role=gridcell][data-hand]").await;
        finds_nothing(page, "with a cell in hand").await;
        page.press(":").await;
        is_there(page, "[data-testid=palette][open]").await;
        finds_nothing(page, "palette").await;
        page.press("nothing at all").await;
        wait_until("the palette finds nothing", SOON, async || {
            let count = page.text("palette-count").await;
            holds(count == "Nothing is called so.", || count)
        })
        .await;
        finds_nothing(page, "palette without an entry").await;
        page.press("\u{e00c}").await;
        page.press("?").await;
        is_there(page, "[data-testid=help][open]").await;
        finds_nothing(page, "help").await;
        page.press("\u{e00c}").await;
        page.press("c").await;
        is_there(page, "[data-testid=columns][open]").await;
        finds_nothing(page, "columns").await;
        page.press("\u{e00c}").await;
        page.click("namespaces").await;
        is_there(page, "[data-testid=namespaces][open]").await;
        finds_nothing(page, "namespaces").await;
        page.press("\u{e00c}").await;
        page.click("notices").await;
        is_there(page, "[data-testid=notices][open]").await;
        finds_nothing(page, "notices").await;
        page.browser.run("document.querySelector('[data-testid=notices] summary').click()", Vec::new()).await;
        page.click("verified").await;
        page.click("verify").await;
        is_there(page, "[data-testid=verified][data-state=same] ol li[data-state=same]").await;
        finds_nothing(page, "what the page verified").await;
    })
    .await;
}

#[tokio::test]
async fn the_feed_keeps_no_one_out() {
    let (_turn, _cluster, proxy) = started(&Options { scenario: "hot-loop", pods: 40, ..Options::default() }).await;
    with_page("the_feed_keeps_no_one_out", &proxy.url(), "#/changes", async |page| {
        is_there(page, "[data-testid=card]").await;
        is_there(page, "[data-testid=feed-open]").await;
        finds_nothing(page, "the feed").await;
        page.browser.run("document.querySelector('[data-testid=feed-open]').click()", Vec::new()).await;
        is_there(page, "[data-testid=feed-row][data-what=line]").await;
        page.browser.run("document.querySelector('[data-testid=feed-as-noise]').click()", Vec::new()).await;
        is_there(page, "[data-testid=noise-offer]").await;
        finds_nothing(page, "the menu of what is noise").await;
        page.click("noise-choice").await;
        is_there(page, "[data-testid=feed-noise]").await;
        finds_nothing(page, "the feed with an open row, and something that is noise").await;
        for button in ["tell-me", "feed-around"] {
            let click = format!("document.querySelector('[data-testid={button}]').click()");
            page.browser.run(&click, Vec::new()).await;
        }
        is_there(page, "[data-testid=tell-me-menu]").await;
        page.browser.run("document.querySelector('[data-testid=tell-me-menu]').open = true", Vec::new()).await;
        is_there(page, "[data-testid=tell-me-item]").await;
        is_there(page, "[data-testid=span-row]").await;
        finds_nothing(page, "the counts of a chosen time, and a filter that is watched").await;
        page.browser.run("document.querySelector('[data-testid=timeline]').focus()", Vec::new()).await;
        page.press("jl").await;
        is_there(page, ".lane-hand").await;
        finds_nothing(page, "a mark in hand").await;
        page.browser.run("document.querySelector('[data-testid=feed-scroll]').focus()", Vec::new()).await;
        page.press("j").await;
        is_there(page, "[data-testid=feed-row][data-hand]").await;
        finds_nothing(page, "a row of the feed in hand").await;
        page.browser.run("document.querySelector('.skip').focus()", Vec::new()).await;
        finds_nothing(page, "the ways past all else").await;
    })
    .await;
}

#[tokio::test]
async fn the_inspector_and_the_menus_keep_no_one_out() {
    let (_turn, cluster, proxy) = started(&Options { pods: 30, ..Options::default() }).await;
    let key = cluster.list("/api/v1/pods").await.last_key().to_owned();
    let path = pod(&key);
    cluster
        .put(&serde_json::json!({ "apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": { "namespace": "default", "name": "keys" }, "data": { "password": "aHVudGVyMg==" } }))
        .await;
    let hash = format!("#/pods?sel={key}");
    with_page("the_inspector_and_the_menus_keep_no_one_out", &proxy.url(), &hash, async |page| {
        page.reaches("pods", "live", SOON).await;
        let labels = |value: &str| serde_json::json!({ "metadata": { "labels": { "looked-at": value } } });
        cluster.patch(&path, &labels("yes")).await;
        cluster.patch(&path, &labels("no")).await;
        for (tab, shown) in [
            ("summary", "[data-testid=inspector-conditions] tr"),
            ("changes", "[data-testid=inspector-versions] [data-path]"),
            ("yaml", "[data-testid=yaml] .line"),
            ("events", "[data-testid=inspector-events-state]"),
        ] {
            page.click(&format!("inspector-tab-{tab}")).await;
            is_there(page, shown).await;
            finds_nothing(page, &format!("the inspector's {tab}")).await;
        }
        page.click("inspector-tab-yaml").await;
        page.click("yaml-managers").await;
        is_there(page, "[data-testid=yaml] .managers").await;
        finds_nothing(page, "the managers of fields").await;
        page.browser.run("document.querySelector('[data-testid=yaml] .line').click()", Vec::new()).await;
        is_there(page, "[data-testid=last-write] [data-outcome]").await;
        is_there(page, "[data-testid=yaml] [data-asked]").await;
        finds_nothing(page, "the last write of a field").await;
        page.press("[").await;
        is_there(page, "[data-testid=inspector-versions] > [aria-current]").await;
        finds_nothing(page, "a change that is marked").await;
        page.click("inspector-tab-yaml").await;
        cluster.delete(&path).await;
        is_there(page, "[data-testid=inspector-state][data-state=deleted]").await;
        finds_nothing(page, "an object that is gone").await;

        page.open("#/secrets?sel=default/keys&tab=yaml").await;
        is_there(page, "[data-testid=yaml] .masked").await;
        finds_nothing(page, "a Secret").await;
        page.browser.run("document.querySelector('[data-testid=yaml] .reveal').click()", Vec::new()).await;
        is_there(page, "[data-testid=yaml] .masked[data-revealed=true]").await;
        finds_nothing(page, "a Secret's value").await;
        for (menu, field) in [("columns", "input"), ("namespaces", "[data-testid=namespace-default]")] {
            page.browser
                .run("document.querySelector(`[data-testid=${arguments[0]}] summary`).click()", vec![menu.into()])
                .await;
            is_there(page, &format!("[data-testid={menu}][open] {field}")).await;
            finds_nothing(page, &format!("the menu {menu}, beside the inspector")).await;
            page.press("\u{e00c}").await;
        }
        page.browser.run("document.querySelector('[data-testid=watches] summary').click()", Vec::new()).await;
        is_there(page, "[data-testid=watches][open]").await;
        finds_nothing(page, "the list of watches").await;
    })
    .await;
}

async fn is_there(page: &Page, selector: &str) {
    wait_until(&format!("{selector} is there"), SOON, async || {
        let script = "return document.querySelector(arguments[0])?.checkVisibility() ?? false";
        holds(page.read::<bool>(script, vec![selector.into()]).await, || String::from("it is not"))
    })
    .await;
}

#[tokio::test]
async fn a_page_without_rows_or_connection_keeps_no_one_out() {
    let (_turn, mut cluster, proxy) = started(&Options { pods: 20, ..Options::default() }).await;
    cluster.control("forbid?verb=list&resource=services").await;
    cluster.control("forbid?verb=watch&resource=services").await;
    let name = "a_page_without_rows_or_connection_keeps_no_one_out";
    with_page(name, &proxy.url(), "#/pods?q=no-such-word", async |page| {
        page.reaches("pods", "live", SOON).await;
        page.element("empty").await;
        finds_nothing(page, "empty").await;
        page.open("#/services").await;
        page.reaches("services", "forbidden", SOON).await;
        page.element("notice").await;
        finds_nothing(page, "forbidden").await;
        page.open("#/nosuchthings").await;
        page.element("empty").await;
        finds_nothing(page, "no such kind").await;
        page.open("#/pods").await;
        page.reaches("pods", "live", SOON).await;
        cluster.kill().await;
        page.reaches("pods", "stale", SOON).await;
        page.element("notice").await;
        finds_nothing(page, "stale").await;
        page.open("?api=http%3A%2F%2F127.0.0.1%3A1#/pods").await;
        page.element("splash").await;
        finds_nothing(page, "splash").await;
        page.open("?api=http%3A%2F%2Fcluster.example#/pods").await;
        is_there(page, "[data-testid=ask-api][open]").await;
        finds_nothing(page, "the question whether another machine may be asked").await;
        page.open("?debug=1#/pods").await;
        wait_until("the page can be killed", SOON, async || {
            let can: bool = page.read("return 'kill' in (window.kubechurn ?? {})", vec![]).await;
            holds(can, || String::from("not yet"))
        })
        .await;
        page.browser.run("kubechurn.kill('trap')", vec![]).await;
        page.element("dead").await;
        finds_nothing(page, "died").await;
        page.browser.console().await;
    })
    .await;
}

#[tokio::test]
async fn states_are_said_aloud_and_events_are_not() {
    let (_turn, mut cluster, proxy) = started(&Options { pods: 50, rate: 0, ..Options::default() }).await;
    with_page("states_are_said_aloud_and_events_are_not", &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", SOON).await;
        let total = cluster.list("/api/v1/pods").await.count();
        wait_until("the end of the list is read out", SOON, async || {
            let said = page.text("said").await;
            holds(said == format!("Listing finished: {total} Pods."), || said)
        })
        .await;
        // Records everything that a live region says from now on.
        let script = "
            window.__said = [];
            for (const region of document.querySelectorAll('[role=status], [role=alert], [aria-live]')) {
                new MutationObserver(() => window.__said.push(region.textContent))
                    .observe(region, { subtree: true, childList: true, characterData: true });
            }";
        page.browser.run(script, Vec::new()).await;
        cluster.rate(100).await;
        cluster.advance(200, 100).await;
        page.shows("pods", &cluster.quiet("/api/v1/pods").await, SOON).await;
        assert_eq!(
            page.read::<Vec<String>>("return window.__said", Vec::new()).await,
            [""; 0],
            "200 events are not read out"
        );
        cluster.kill().await;
        wait_until("the loss of the connection is read out", SOON, async || {
            let said: Vec<String> = page.read("return window.__said", Vec::new()).await;
            holds(said == ["Pods are stale: the connection is lost."], || format!("{said:?}"))
        })
        .await;
    })
    .await;
}
