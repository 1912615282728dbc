//! What the page asks first is asked before the program is there, once, and nowhere else.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::browser::Browser;
use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::{INSTRUMENTS, Page, with_page_in};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

/// Notes every request: its address, whether the program was there, and whether it was aborted.
const FETCHES: &str = "
    window.__fetches = [];
    window.__instantiated = false;
    const fetched = window.fetch;
    window.fetch = (...given) => {
        const [what, options] = given;
        const fetch = { url: String(what.url ?? what), early: !window.__instantiated, aborted: false };
        (what.signal ?? options?.signal)?.addEventListener('abort', () => fetch.aborted = true);
        window.__fetches.push(fetch);
        return fetched.apply(window, given);
    };
    for (const name of ['instantiate', 'instantiateStreaming']) {
        const original = WebAssembly[name];
        WebAssembly[name] = (...given) =>
            original.apply(WebAssembly, given).then(made => (window.__instantiated = true, made));
    }";

const SOON: Duration = Duration::from_secs(20);
const SERVICES: &str = "api/v1/services?pretty=false&limit=500&resourceVersion=0";

async fn with_fetches(name: &str, test: impl AsyncFnOnce(&Page)) {
    let (_turn, _cluster, proxy) = started(&Options { pods: 60, ..Options::default() }).await;
    let browser = Browser::start(&format!("{INSTRUMENTS}{FETCHES}")).await;
    with_page_in(browser, name, &proxy.url(), "#/pods", async |page| {
        page.reaches("pods", "live", SOON).await;
        test(page).await;
    })
    .await;
}

/// The requests whose address holds this.
async fn fetches(page: &Page, part: &str) -> Vec<Value> {
    page.read("return __fetches.filter(fetch => fetch.url.includes(arguments[0]))", vec![json!(part)]).await
}

/// Writes down which list the page asked first at a place, and loads the page there.
async fn visits(page: &Page, place: &str, list: &str) {
    let script = "localStorage.setItem('kubechurn.first', arguments[0]); return true";
    page.browser.run(script, vec![json!(format!("{place}\t{list}"))]).await;
    page.reload().await;
    page.reaches("pods", "live", SOON).await;
}

#[tokio::test]
async fn the_version_is_asked_before_the_program_is_there_and_once() {
    with_fetches("the_version_is_asked_before_the_program_is_there_and_once", async |page| {
        let asked = fetches(page, "version").await;
        let below = page.read::<String>("return new URL('./k8s/version', location.href).href", vec![]).await;
        assert_eq!(asked.len(), 1, "{asked:?}");
        assert_eq!((&asked[0]["url"], &asked[0]["early"]), (&json!(below), &json!(true)), "{asked:?}");
        let all: Vec<Value> = fetches(page, "").await;
        assert!(all.iter().all(|fetch| !fetch["url"].as_str().is_some_and(|url| url.contains("k8s-ws"))), "{all:?}");

        // An API that the address names is asked by the program, which may have to ask the user first.
        let base = below.trim_end_matches("version");
        let url =
            format!("{}?api={base}#/pods", page.read::<String>("return location.href.split('#')[0]", vec![]).await);
        page.browser.driver.goto(&url).await.expect("the page loads");
        page.reaches("pods", "live", SOON).await;
        let asked = fetches(page, "version").await;
        assert!(asked.len() == 1 && asked[0]["early"] == false, "{asked:?}");
    })
    .await;
}

#[tokio::test]
async fn a_list_that_was_asked_first_is_asked_early_and_its_answer_taken() {
    with_fetches("a_list_that_was_asked_first_is_asked_early_and_its_answer_taken", async |page| {
        // The list of another kind is one that the page asks when the user wants it.
        visits(page, "pods", SERVICES).await;
        let asked = fetches(page, SERVICES).await;
        assert!(asked.len() == 1 && asked[0]["early"] == true, "{asked:?}");
        page.click("kind-services").await;
        page.reaches("services", "live", SOON).await;
        let asked = fetches(page, SERVICES).await;
        assert_eq!(asked.len(), 1, "the answer that is there is taken: {asked:?}");
        // Each answer is taken once.
        page.click("kind-pods").await;
        page.reaches("pods", "live", SOON).await;
        page.click("kind-services").await;
        wait_until("the list is asked again", SOON, async || {
            let asked = fetches(page, SERVICES).await;
            holds(asked.len() == 2 && asked[1]["early"] == false, || format!("{asked:?}"))
        })
        .await;
        page.click("kind-pods").await;
        page.reaches("pods", "live", SOON).await;

        // At another place, another list comes first.
        visits(page, "nodes", SERVICES).await;
        assert_eq!(fetches(page, SERVICES).await, Vec::<Value>::new());
        // What was written down for a selection of Pods is not asked for another, and an answer that nobody takes is given up.
        visits(page, "pods", "api/v1/services?pretty=false").await;
        let aborted = wait_until("what nobody takes is given up", Duration::from_secs(40), async || {
            let asked = fetches(page, "services").await;
            let is_so = asked.first().is_some_and(|fetch| fetch["aborted"] == true);
            if is_so { Ok(asked) } else { Err(format!("{asked:?}")) }
        })
        .await;
        assert_eq!(aborted.len(), 1, "{aborted:?}");
    })
    .await;
}
