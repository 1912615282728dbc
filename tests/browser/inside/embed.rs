//! A lesson within an article: it is read there step by step, nothing is asked of anybody, and the whole page is not shown so.

use std::fs;

use serde_json::{Value, json};

use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::process::{Process, TemporaryFolder};
use kubechurn_harness::{tools, turn};

use crate::shell::accessibility::finds_nothing;

/// What was asked for beside the files of the page, and what is stored.
const ELSEWHERE: &str = "
    const own = new URL('.', location.href).href;
    const asked = performance.getEntriesByType('resource').map(one => one.name);
    const files = /^[\\w-]+\\.(js|css|wasm)$/;
    return [...asked.filter(name => !name.startsWith(own) || !files.test(name.slice(own.length))), ...Object.keys(localStorage)]";

const PLACE: &str = "return document.querySelector('[data-testid=inside-caption-place]')?.textContent";

/// The titles of the parts that are in sight.
const PARTS: &str = "return [...document.querySelectorAll('.inside-part')].filter(one => one.offsetHeight > 0)
    .map(one => [...one.querySelector('h3').childNodes].filter(node => node.nodeType === 3).map(node => node.data.trim()).join(''))";

/// Whether all that is shown is within the frame, and nothing covers the caption or the line below.
const ROOM: &str = "
    const boxes = ['.inside-sentence', '.inside-parts', '.embed-foot'].map(one => document.querySelector(one).getBoundingClientRect());
    const holds = ['.inside-sentence', '.embed-foot'].every(one => {
        const element = document.querySelector(one);
        return element.scrollHeight <= element.clientHeight + 1 && element.scrollWidth <= element.clientWidth + 1;
    });
    return holds && boxes.every((box, at) => box.height > 20 && (at === 0 || box.top >= boxes[at - 1].bottom - 1))
        && boxes[1].height > innerHeight * 0.3 && boxes[2].bottom <= innerHeight + 1";

async fn enter(page: &Page, frame: u16) {
    page.browser.driver.enter_default_frame().await.expect("there is an article");
    page.browser.driver.enter_frame(frame).await.expect("there is a frame");
}

async fn click(page: &Page, handle: &str) {
    let script = format!("document.querySelector('[data-testid={handle}]').click()");
    page.browser.run(&script, Vec::new()).await;
}

#[tokio::test]
async fn an_article_shows_a_lesson_and_nothing_is_asked_of_others() {
    let _turn = turn::shared().await;
    let (files, article) = (TemporaryFolder::new("files"), TemporaryFolder::new("article"));
    for entry in fs::read_dir(tools::dist()).expect("the page is built").flatten() {
        if entry.path().is_file() {
            fs::copy(entry.path(), files.path().join(entry.file_name())).expect("a file can be copied");
        }
    }
    let (_files, own) = Process::web_server(files.path()).await;
    let frame = |query: &str, hash: &str| {
        format!(r#"<iframe src="{own}{query}{hash}" width="640" height="400" title="a lesson"></iframe>"#)
    };
    let lesson = "#/inside?kind=pods&amp;lesson=tombstone";
    let frames =
        [frame("?embed=1", lesson), frame("?embed=1&amp;part=queue&amp;theme=light", lesson), frame("", "#/pods")];
    let text = format!("<!doctype html><html lang=en><title>Article</title><h1>Tombstones</h1>{}", frames.concat());
    fs::write(article.path().join("index.html"), text).expect("a file can be written");
    let (_article, url) = Process::web_server(article.path()).await;
    let name = "an_article_shows_a_lesson_and_nothing_is_asked_of_others";
    with_page(name, &url, "", async |page| {
        enter(page, 0).await;
        for at in 1..=5 {
            if at > 1 {
                click(page, "inside-caption-next").await;
            }
            let begin = format!("return document.querySelector('[data-testid=inside-caption-place]')?.textContent.startsWith('{at} of 5')");
            page.becomes(&format!("caption {at}"), &begin, json!(true)).await;
            page.becomes("all has room", ROOM, json!(true)).await;
            let parts = page.read::<Vec<String>>(PARTS, Vec::new()).await;
            let place = page.read::<String>(PLACE, Vec::new()).await;
            assert!(parts.len() == 1 && place.ends_with(&parts[0]), "{parts:?} at {place}");
        }
        finds_nothing(page, "an embedded lesson").await;
        // The link leads to the whole page at this step.
        let link = "return document.querySelector('[data-testid=embed-whole]').href";
        page.becomes("the link", link, json!(format!("{own}#/inside?kind=pods&lesson=tombstone&caption=5"))).await;
        click(page, "inside-back").await;
        page.becomes("a step before", &format!("{link}.includes('&step=')"), json!(true)).await;
        page.becomes("nothing is asked of others", ELSEWHERE, json!([])).await;
        let policies = "return [...document.querySelectorAll('meta[http-equiv=Content-Security-Policy]')].some(one => one.content.includes(\"connect-src 'none'\"))";
        page.becomes("the browser is to refuse what would be asked", policies, json!(true)).await;
        enter(page, 1).await;
        page.becomes("one part is shown", PARTS, json!(["Queue"])).await;
        page.becomes("in light", "return document.documentElement.dataset.theme", json!("light")).await;
        page.becomes("all has room", ROOM, json!(true)).await;
        // The whole page does not start in a frame of another origin.
        enter(page, 2).await;
        let framed = "return document.querySelector('[data-testid=boot-framed] a')?.href";
        page.becomes("it says so", framed, json!(format!("{own}#/pods"))).await;
        let started = "return [document.querySelector('.shell'), window.kubechurn ?? null]";
        assert_eq!(page.read::<Value>(started, Vec::new()).await, json!([null, null]));
        let asked = "return performance.getEntriesByType('resource').map(one => one.name).filter(name => /k8s|version/.test(name))";
        page.becomes("it asks for nothing", asked, json!([])).await;
        page.browser.driver.enter_default_frame().await.expect("there is an article");
    })
    .await;
}
