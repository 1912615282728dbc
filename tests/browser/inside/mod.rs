//! The inside of an informer in the page: by the keyboard alone, at an address, and with nothing over anything else.

/// A lesson within an article.
mod embed;
/// The lessons, caption by caption.
mod lessons;

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::page::Page;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::{viewport, with_live_page};
use crate::shell::accessibility::finds_nothing;

const SOON: Duration = Duration::from_secs(20);

/// What is shown of the machinery.
const SHOWN: &str = "
    const text = one => one?.innerText.replace(/\\s+/g, ' ').trim();
    return [...document.querySelectorAll('.inside-part'), document.querySelector('.inside-sentence')].map(text)";

/// Whether each row of the page ends where the next one begins, and holds what is in it.
const STACKED: &str = "
    const rows = [...document.querySelector('.inside').children].filter(one => one.offsetHeight > 1);
    const [bottoms, tops] = ['bottom', 'top'].map(side => rows.map(one => one.getBoundingClientRect()[side]));
    return tops.every((top, at) => at === 0 || top >= bottoms[at - 1] - 1)
        && rows.every(one => one.matches('.inside-parts, .inside-steps') || one.scrollHeight <= one.clientHeight + 1)";

/// The number of the step; -1 where none is shown.
const STEP: &str = "return Number(document.querySelector('[data-testid=inside-number]')?.value ?? -1)";

async fn shown(page: &Page) -> Value {
    page.read(SHOWN, Vec::new()).await
}

async fn is_at(page: &Page, step: i32) {
    page.becomes(&format!("step {step} is shown"), STEP, json!(step)).await;
}

#[tokio::test]
async fn a_key_opens_it_steps_lead_to_and_fro_and_the_same_address_opens_on_the_same_state() {
    let name = "a_key_opens_it_steps_lead_to_and_fro_and_the_same_address_opens_on_the_same_state";
    with_live_page(name, "#/pods", async |page, cluster| {
        cluster.rate(50).await;
        cluster.advance(40, 50).await;
        cluster.rate(0).await;
        let truth = cluster.quiet("/api/v1/pods").await;
        page.shows("pods", &truth, SOON).await;
        page.press("i").await;
        is_at(page, 0).await;
        page.press("]]]").await;
        is_at(page, 3).await;
        let there = shown(page).await;
        page.press("]]]]]]]]").await;
        is_at(page, 11).await;
        assert_ne!(shown(page).await, there);
        page.press("[[[[[[[[").await;
        is_at(page, 3).await;
        assert_eq!(shown(page).await, there);
        // A screen reader reads out the step.
        let spoken = page.text("inside-spoken").await;
        assert!(spoken.starts_with("Step 3. The list is compared"), "{spoken}");
        wait_until("the address has the step", SOON, async || {
            let hash = page.hash().await;
            holds(hash.contains("step=3"), || hash.clone())
        })
        .await;
        let address = page.hash().await;
        page.press("\u{e00c}").await;
        is_at(page, -1).await;
        assert_eq!(page.hash().await, "#/pods");
        page.has_rows().await;
        page.open(&address).await;
        is_at(page, 3).await;
        assert_eq!(shown(page).await, there);
    })
    .await;
}

#[tokio::test]
async fn a_break_is_explained_and_healed_and_nothing_covers_anything() {
    let name = "a_break_is_explained_and_healed_and_nothing_covers_anything";
    with_live_page(name, "#/inside?kind=pods", async |page, cluster| {
        cluster.rate(50).await;
        cluster.advance(40, 50).await;
        cluster.rate(0).await;
        let truth = cluster.quiet("/api/v1/pods").await;
        page.shows("pods", &truth, SOON).await;
        // It follows what comes until the first step.
        let events = "return /with [1-9]/.test(document.querySelector('[data-testid=inside-notes]')?.textContent ?? '')";
        page.becomes("the events have come", events, json!(true)).await;
        page.press("]]]").await;
        is_at(page, 3).await;
        page.click("break-1").await;
        let explained = page.text("inside-broken").await;
        assert!(explained.contains("only a new list heals this"), "{explained}");
        let pause = "
            const select = [...document.querySelectorAll('.inside-choice select')].find(one => [...one.options].some(option => option.value === 'replace'));
            select.value = 'replace';
            select.dispatchEvent(new Event('change', { bubbles: true }))";
        page.read::<Value>(pause, Vec::new()).await;
        page.click("inside-next").await;
        let sentence = "return document.querySelector('h2[data-testid=inside-sentence]').textContent.startsWith('The list is compared')";
        page.becomes("a new list is compared", sentence, json!(true)).await;
        let lit = "return document.querySelector('.inside-states [aria-current]')?.dataset.state";
        page.becomes("the Reflector replaces", lit, json!("replace")).await;
        finds_nothing(page, "inside").await;
        for (width, height) in [(1440, 900), (1024, 700)] {
            viewport(page, width, height).await;
            crate::shell::layout::is_in_order(page, &format!("inside at {width}×{height}")).await;
            // The parts have room beside the rest.
            let room = "return document.querySelector('[data-testid=inside-parts]').clientHeight > innerHeight * 0.4";
            page.becomes("the parts have room", room, json!(true)).await;
        }
        page.open("#/inside?kind=pods&lesson=tombstone").await;
        page.press("...").await;
        let place = "return document.querySelector('[data-testid=inside-caption-place]')?.textContent";
        page.becomes("the fourth caption is read", place, json!("4 of 5, Queue")).await;
        let caption = page.text("inside-caption").await;
        assert!(caption.contains("a tombstone"), "{caption}");
        finds_nothing(page, "a lesson").await;
        for (width, height) in [(1024, 700), (1440, 900)] {
            viewport(page, width, height).await;
            page.becomes("nothing of a lesson covers anything", STACKED, json!(true)).await;
        }
        page.click("lesson-410").await;
        page.becomes("another lesson is read", place, json!("1 of 7, API server")).await;
    })
    .await;
}
