//! At 200 % zoom of a usual window and on a phone nothing that is seen covers something else, and everything that can be
//! pressed is in the window, or where it can be scrolled to.

use std::time::Duration;

use serde_json::json;

use kubechurn_harness::page::Page;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::{viewport, with_live_page};

const SOON: Duration = Duration::from_secs(20);
/// 1440×900 at 200 %, and a phone.
const SIZES: [(u32, u32); 2] = [(720, 450), (390, 844)];

/// What covers something else, what is outside of the window, and which controls are cut, in words. Only what lies in the same
/// layer is compared: a menu or a dialog covers what is below it.
const WRONG: &str = "
    const CONTROLS = 'button, a, input, select, summary';
    
    const box = (left, top, right, bottom) => ({ left, top, right, bottom });
    const words = one => (one.textContent.trim() || one.ariaLabel || one.placeholder || one.tagName).slice(0, 40)
        + ' (' + (one.dataset.testid ?? (one.className || one.closest('[class]')?.className)) + ')';
    // The part of a rectangle that its ancestors let be seen, and whether the rest can be scrolled to.
    const seen = (one, rect) => {
        let all = box(rect.left, rect.top, rect.right, rect.bottom), scrolls = false;
        for (let up = one; up && up !== document.body; up = up.parentElement) {
            const style = getComputedStyle(up);
            if ((up !== one || !one.matches(CONTROLS)) && (style.overflowX !== 'visible' || style.overflowY !== 'visible')) {
                const edge = up.getBoundingClientRect();
                scrolls ||= /auto|scroll/.test(style.overflowX + style.overflowY);
                all = box(Math.max(all.left, edge.left), Math.max(all.top, edge.top), Math.min(all.right, edge.right), Math.min(all.bottom, edge.bottom));
            }
            if (style.position === 'fixed') break;
        }
        return [all, scrolls];
    };
    const layer = one => {
        for (let up = one; up; up = up.parentElement) {
            const style = getComputedStyle(up);
            if (up.tagName === 'DIALOG' || (style.position !== 'static' && style.zIndex !== 'auto' && !/, 0\\)$|transparent/.test(style.backgroundColor))) return up;
        }
        return null;
    };
    const isShown = one => one.checkVisibility({ opacityProperty: true, visibilityProperty: true, contentVisibilityAuto: true })
        && !one.closest('.hidden-text, .skip:not(:focus), [inert], svg, option');
    const wrong = [], items = [];
    for (const one of document.querySelectorAll('body *')) {
        const own = [...one.childNodes].filter(node => node.nodeType === 3 && node.data.trim() !== '');
        const isControl = one.matches(CONTROLS);
        if ((own.length === 0 && !isControl) || !isShown(one)) continue;
        // What is broken into lines has a rectangle for each.
        const range = document.createRange();
        const lines = isControl ? [...one.getClientRects()] : own.flatMap(node => (range.selectNodeContents(node), [...range.getClientRects()]));
        for (const rect of lines) {
            const [part, scrolls] = seen(one, rect);
            const isCut = part.left > rect.left + 2 || part.right < rect.right - 2 || part.top > rect.top + 2 || part.bottom < rect.bottom - 2;
            const isOut = part.left < -1 || part.top < -1 || part.right > innerWidth + 1 || part.bottom > innerHeight + 1;
            // A name that is a link may be shortened.
            if (isControl && isCut && !scrolls && one.tagName !== 'A') wrong.push(`cut: ${words(one)} ${JSON.stringify(rect)}`);
            if (part.right - part.left < 1 || part.bottom - part.top < 1) continue;
            if (isOut) wrong.push(`outside: ${words(one)} ${JSON.stringify(part)}`);
            items.push([one, part, layer(one)]);
        }
    }
    for (const [at, [one, a, below]] of items.entries()) {
        for (const [other, b, same] of items.slice(at + 1)) {
            const [width, height] = [Math.min(a.right, b.right) - Math.max(a.left, b.left), Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)];
            if (width > 2 && height > 3 && below === same && !one.contains(other) && !other.contains(one)) {
                wrong.push(`over each other: ${words(one)} | ${words(other)} ${JSON.stringify(a)} ${JSON.stringify(b)}`);
            }
        }
    }
    if (document.documentElement.scrollWidth > innerWidth) wrong.push('the page is wider than the window');
    return wrong.slice(0, 12)";

pub async fn is_in_order(page: &Page, state: &str) {
    wait_until(state, SOON, async || {
        let wrong: Vec<String> = page.read(WRONG, Vec::new()).await;
        holds(wrong.is_empty(), || format!("{wrong:#?}"))
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

/// Opens what a selector names, sees that all is in order, and leaves it by Esc.
async fn opens(page: &Page, state: &str, key: &str, shown: &str) {
    page.press(key).await;
    is_there(page, shown).await;
    is_in_order(page, state).await;
    page.press("\u{e00c}").await;
}

#[tokio::test]
async fn nothing_covers_anything_at_twice_the_size_and_on_a_phone() {
    let name = "nothing_covers_anything_at_twice_the_size_and_on_a_phone";
    with_live_page(name, "#/pods", async |page, cluster| {
        // Something is wrong now, and has changed.
        let all = cluster.get("/apis/apps/v1/deployments").await;
        let several = |one: &&serde_json::Value| one["spec"]["replicas"].as_u64().is_some_and(|count| count >= 2);
        let broken = all["items"].as_array().into_iter().flatten().find(several).expect("a Deployment");
        let (namespace, own) = (broken["metadata"]["namespace"].as_str(), broken["metadata"]["name"].as_str());
        let path = format!("/apis/apps/v1/namespaces/{}/deployments/{}", namespace.unwrap(), own.unwrap());
        let mut containers = broken["spec"]["template"]["spec"]["containers"].clone();
        let image = containers[0]["image"].as_str().unwrap().to_owned();
        let repository = image.rsplit_once(':').map_or(&*image, |(repository, _)| repository);

        for (number, (width, height)) in SIZES.into_iter().enumerate() {
            let at = format!("at {width}×{height}");
            viewport(page, width, height).await;
            page.open("#/pods").await;
            page.reaches("pods", "live", SOON).await;
            page.has_rows().await;
            is_in_order(page, &format!("the table {at}")).await;
            let status = "
                const cell = document.querySelector('.row .cell[data-col=STATUS]'), box = cell.getBoundingClientRect();
                return box.left >= 0 && box.right <= innerWidth && box.width > 40 && cell.contains(document.elementFromPoint(box.left + 8, box.top + 8))";
            page.becomes(&format!("STATUS is in sight {at}"), status, json!(true)).await;
            opens(page, &format!("the columns {at}"), "c", "[data-testid=columns][open]").await;
            opens(page, &format!("the namespaces {at}"), "n", "[data-testid=namespaces][open]").await;
            opens(page, &format!("the palette {at}"), ":", "[data-testid=palette][open]").await;
            opens(page, &format!("the keys {at}"), "?", "[data-testid=help][open]").await;
            page.press("gj\u{e007}").await; // Enter
            is_there(page, "aside.inspector h2").await;
            for tab in ["summary", "changes", "yaml", "events"] {
                page.click(&format!("inspector-tab-{tab}")).await;
                is_in_order(page, &format!("the inspector's {tab} {at}")).await;
            }
            page.press("\u{e00c}").await;
            page.becomes("the inspector is closed", "return document.querySelector('aside.inspector h2') === null", json!(true)).await;

            page.open("#/changes").await;
            page.reaches("deployments", "live", SOON).await;
            containers[0]["image"] = json!(format!("{repository}:{}", ["2-typo-0123456789abcd", "3-typo"][number]));
            let template = json!({ "spec": { "template": { "spec": { "containers": containers } } } });
            cluster.patch(&path, &template).await;
            is_there(page, "[data-testid=wrong-entry]").await;
            is_in_order(page, &format!("what changed {at}")).await;
            let names = "
                const rows = [...document.querySelectorAll('[data-testid=feed-row][data-what=change]')];
                const isCut = row => row.querySelector('.feed-subject').getBoundingClientRect().top < row.getBoundingClientRect().top;
                return rows.length > 0 && !rows.some(isCut)";
            page.becomes(&format!("each row has its name in sight {at}"), names, json!(true)).await;
            let values = "
                const rows = [...document.querySelectorAll('.feed-line > .feed-words [data-what=new], .feed-line > .feed-words [data-what=old]')];
                const cut = one => one.textContent.includes('typo') && one.getBoundingClientRect().right > one.parentElement.getBoundingClientRect().right + 1;
                return rows.filter(one => one.closest('.feed-line').matches(':first-child') && cut(one)).map(one => one.textContent)";
            page.becomes(&format!("the value of the cause is not cut {at}"), values, json!([])).await;
            page.browser.run("document.querySelector('[data-testid=feed-scroll]').focus()", Vec::new()).await;
            page.press("g").await;
            let kinds = ["[data-testid=feed-row][data-hand]", "[data-testid=noise-offer]"];
            is_there(page, kinds[0]).await;
            opens(page, &format!("what can be called noise {at}"), "m", kinds[1]).await;
            page.browser.run("document.querySelector('[data-testid=timeline]').focus()", Vec::new()).await;
            page.press("jl").await;
            is_there(page, ".lane-hand").await;
            is_in_order(page, &format!("a mark in hand {at}")).await;
            page.click("timeline-fill").await;
            is_in_order(page, &format!("the lanes alone {at}")).await;
            page.click("timeline-fill").await;
            if width >= 700 {
                for list in ["watches", "notices", "verified"] {
                    page.browser.run("document.querySelector(`[data-testid=${arguments[0]}] summary`).click()", vec![list.into()]).await;
                    is_there(page, &format!("[data-testid={list}][open]")).await;
                    is_in_order(page, &format!("the footer's {list} {at}")).await;
                    page.press("\u{e00c}").await;
                }
            } else {
                page.click("kinds").await;
                is_in_order(page, &format!("the kinds {at}")).await;
            }
        }
    })
    .await;
}
