//! A Secret's value is looked for in all of the program's memory, also in what was freed.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

const SOON: Duration = Duration::from_secs(20);

/// Keeps hold of the memory that the program exports.
const HOLD: &str = "
    for (const name of ['instantiate', 'instantiateStreaming']) {
        const original = WebAssembly[name];
        WebAssembly[name] = async (...given) => {
            const made = await original.apply(WebAssembly, given);
            window.__memory = (made.instance ?? made).exports.memory;
            return made;
        };
    }";

/// What stands around each place in memory that has these letters, at most ten places; others than ASCII as dots.
const FIND: &str = "
    const bytes = new Uint8Array(window.__memory.buffer);
    const wanted = new TextEncoder().encode(arguments[0]);
    const found = [];
    for (let at = bytes.indexOf(wanted[0]); at >= 0 && found.length < 10; at = bytes.indexOf(wanted[0], at + 1)) {
        if (wanted.every((byte, place) => bytes[at + place] === byte)) {
            const around = bytes.subarray(Math.max(0, at - 80), at + wanted.length + 80);
            found.push(at + ': ' + [...around].map(byte => byte > 31 && byte < 127 ? String.fromCharCode(byte) : '.').join(''));
        }
    }
    return found";

async fn places(page: &Page, text: &str) -> Vec<String> {
    page.read(FIND, vec![text.into()]).await
}

/// Waits until an element has these words.
async fn says(page: &Page, id: &str, words: &str) {
    wait_until(&format!("{id} says {words}"), SOON, async || {
        let text = page.text(id).await;
        holds(text.contains(words), || text)
    })
    .await;
}

#[tokio::test]
async fn a_secret_s_value_is_nowhere_in_the_program_s_memory() {
    let (_turn, cluster, proxy) = started(&Options { pods: 20, ..Options::default() }).await;
    let secret = |data: &str| {
        json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
            "metadata": {"namespace": "default", "name": "canary"}, "data": {"song": data}})
    };
    // Each with its base64, in which it comes.
    let canaries = [
        ("first-canary-5f1d0c3e9b7a4286-sings", "Zmlyc3QtY2FuYXJ5LTVmMWQwYzNlOWI3YTQyODYtc2luZ3M="),
        ("second-canary-8d1e6c0f7a3b9d24-sings", "c2Vjb25kLWNhbmFyeS04ZDFlNmMwZjdhM2I5ZDI0LXNpbmdz"),
        ("third-canary-0b1f6f7e7c3a4d7e-sings", "dGhpcmQtY2FuYXJ5LTBiMWY2ZjdlN2MzYTRkN2Utc2luZ3M="),
    ];
    cluster.put(&secret(canaries[0].1)).await;
    let name = "a_secret_s_value_is_nowhere_in_the_program_s_memory";
    with_page(name, &proxy.url(), "#/secrets", async |page| {
        page.browser.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": HOLD })).await;
        page.reload().await;
        page.reaches("secrets", "live", SOON).await;
        let is_silent = async |when: &str| {
            assert!(!places(page, "default").await.is_empty(), "the memory is that of the page");
            for (plain, encoded) in canaries {
                for text in [plain, encoded.trim_end_matches('=')] {
                    let found = places(page, text).await;
                    assert!(found.is_empty(), "{when}: {text} is at {found:#?}");
                }
            }
        };
        is_silent("after the list").await;
        cluster.put(&secret(canaries[1].1)).await;
        cluster.put(&secret(canaries[2].1)).await;
        page.open("#/secrets?sel=default/canary&tab=changes").await;
        says(page, "inspector-versions", "value changed").await;
        is_silent("after updates").await;
        page.click("inspector-tab-yaml").await;
        says(page, "yaml", "•••• 35 bytes").await;
        is_silent("in the inspector").await;
    })
    .await;
}
