//! The lessons as a learner reads them: from a page without an API, in two clicks, and then caption by caption.
//!
//! What must stand beside each caption is in `tests/fixtures/lessons.txt`. A native test, `page::inside`, holds that file to the
//! machinery, and `inside::lessons` holds the captions to it.

use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::process::Process;
use kubechurn_harness::wait::{holds, wait_until};
use kubechurn_harness::{tools, turn};
use serde_json::json;

use crate::inside::SOON;

const LESSONS: &str = include_str!("../../fixtures/lessons.txt");

/// What is read, line by line: the caption, the step, and what is in each part and each queue.
const SEEN: &str = "
    const text = one => one?.textContent.replace(/\\s+/g, ' ').trim() ?? '';
    const all = (from, what) => [...from?.querySelectorAll(`:scope > ${what}`) ?? []];
    const handle = name => text(document.querySelector(`[data-testid=${name}]`));
    const words = one => [...one.childNodes].map(text).filter(part => part !== '').join(' ');
    const line = one => all(one, ':is(b, span, em)').map(words).filter(part => part !== '');
    const lines = (from, indent) => all(from, 'ul.inside-lines').flatMap(list => all(list, '.inside-line'))
        .map(one => indent + line(one).join(' | '));
    const title = part => [...part.querySelector('h3').childNodes].filter(node => node.nodeType === 3).map(node => node.data.trim()).join('');
    // A resync queues what the store has in an order that is the machine's.
    const slot = one => one.querySelector('[data-delta=Sync]') && one.closest('[data-queue=folding]')
        ? ['        of a resync'] : [`        ${text(one.querySelector('b')) || 'all'}`, ...lines(one, '            ')];
    const queue = one => {
        const slots = all(one, 'ol').flatMap(list => all(list, '.inside-slot')).flatMap(slot);
        const chosen = one.dataset.chosen === 'true' ? ', chosen' : '';
        return [`    ${text(one.querySelector('label'))}${chosen}: ${text(one.querySelector('p'))}`, ...slots];
    };
    const part = one => [
        title(one) + (one.dataset.lit === 'true' ? ', now' : ''),
        ...all(one.querySelector(':scope > .inside-facts'), 'div').map(fact => '    ' + [...fact.children].map(text).join(': ')),
        ...[...one.querySelectorAll('.inside-queue')].flatMap(queue),
        ...lines(one, '    '),
        ...all(one, '.inside-note').map(note => '    ' + text(note)),
    ];
    const state = document.querySelector('.inside-states').dataset.now;
    return [`Caption ${handle('inside-caption-place')}: ${handle('inside-caption')}`, `Step: ${handle('inside-sentence')}`,
        `Reflector: ${state}`, ...[...document.querySelectorAll('.inside-part')].flatMap(part)].join('\\n')";

/// Reads a lesson from its first caption to its last.
async fn is_read(page: &Page, id: &str, captions: &[&str]) {
    page.click(&format!("lesson-{id}")).await;
    for (at, expected) in captions.iter().enumerate() {
        if at > 0 {
            page.click("inside-caption-next").await;
        }
        wait_until(&format!("caption {} of {id} is read beside its state", at + 1), SOON, async || {
            let seen: String = page.read(SEEN, Vec::new()).await;
            holds(seen == *expected, || format!("\n{seen}\nwhere this was expected:\n{expected}"))
        })
        .await;
    }
}

#[tokio::test]
async fn two_clicks_lead_to_a_lesson_and_each_caption_of_all_is_read_beside_its_state() {
    let _turn = turn::shared().await;
    let (_server, url) = Process::web_server(&tools::dist()).await;
    let name = "two_clicks_lead_to_a_lesson_and_each_caption_of_all_is_read_beside_its_state";
    with_page(name, &url, "", async |page| {
        page.click("splash-lessons").await;
        page.click("lesson-tombstone").await;
        let current = "return document.querySelector('[data-testid=lesson-tombstone]').getAttribute('aria-current')";
        page.becomes("the lesson is read", current, json!("true")).await;
        let lessons = LESSONS.trim().split("\n\n# ").filter_map(|lesson| lesson.split_once("\n\n"));
        let mut read = 0;
        for (id, captions) in lessons {
            is_read(page, id.trim_start_matches("# "), &captions.split("\n\n").collect::<Vec<_>>()).await;
            read += 1;
        }
        assert_eq!(read, 8);
    })
    .await;
}
