//! What the filter finds, marks and hides, and what the page says about a text that is no filter; the same for
//! selectors.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use thirtyfour::Key;

use kubechurn_harness::handles::Row;
use kubechurn_harness::page::{AT_ONCE, Page};
use kubechurn_harness::truth::pod;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::with_live_page;

/// The columns with marked text, and the text.
const MARKS: &str = "
    const marks = [...document.querySelectorAll('[role=row] mark')];
    const unique = values => [...new Set(values)].sort();
    return [unique(marks.map(mark => mark.closest('[data-col]').dataset.col)), unique(marks.map(mark => mark.textContent))]";

/// Replaces the text in a field.
async fn write(page: &Page, field: &str, text: &str) {
    let field = page.element(field).await;
    field.send_keys(Key::Control + "a").await.expect("the field takes keys");
    field.send_keys(Key::Backspace + text).await.expect("the field takes text");
}

fn cell<'a>(row: &'a Row, column: &str) -> &'a str {
    row.cells[column].as_str().unwrap_or_default()
}

#[tokio::test]
async fn what_is_looked_for_is_found_and_marked() {
    with_live_page("what_is_looked_for_is_found_and_marked", "#/pods", async |page, cluster| {
        let truth = cluster.list("/api/v1/pods").await;
        for key in truth.items.keys().take(2) {
            let evicted = json!({ "status": { "phase": "Failed", "reason": "Evicted" } });
            cluster.patch(&pod(key), &evicted).await;
        }
        page.shows("pods", &cluster.list("/api/v1/pods").await, AT_ONCE).await;
        let rows = page.rows("pods").await;
        let those = |is_meant: &dyn Fn(&Row) -> bool| -> BTreeSet<&str> {
            rows.iter().filter(|row| is_meant(row)).map(|row| row.key.as_str()).collect()
        };
        let running = those(&|row| cell(row, "STATUS").contains("Running"));
        let others = those(&|row| !cell(row, "STATUS").contains("Running"));
        let first = cell(&rows[0], "NAME");
        let letter = &first[..1];
        let namespace = cell(&rows[0], "NAMESPACE");
        assert!(!running.is_empty() && !others.is_empty(), "the cluster has both");
        for (text, expected, marks) in [
            // Case does not matter, and only one column is searched.
            ("STATUS:running".to_owned(), running.clone(), json!([["STATUS"], ["Running"]])),
            ("!STATUS:running".to_owned(), others, json!([[], []])),
            (first.to_owned(), those(&|row| cell(row, "NAME") == first), json!([["NAME"], [first]])),
            (format!("!{first}"), those(&|row| cell(row, "NAME") != first), json!([[], []])),
            (
                format!("NAME:/^{letter}/"),
                those(&|row| cell(row, "NAME").starts_with(letter)),
                json!([["NAME"], [letter]]),
            ),
            // Every word must be found.
            (
                format!("NAMESPACE:{namespace} STATUS:running"),
                those(&|row| cell(row, "NAMESPACE") == namespace && cell(row, "STATUS").contains("Running")),
                json!([["NAMESPACE", "STATUS"], ["Running", namespace]]),
            ),
        ] {
            write(page, "filter", &text).await;
            page.shows_only(&format!("what {text} finds"), &expected, rows.len(), AT_ONCE).await;
            if !expected.is_empty() {
                let mut marks = marks;
                if let Some(words) = marks[1].as_array_mut() {
                    words.sort_by_key(Value::to_string);
                }
                page.becomes(&format!("what {text} marks"), MARKS, marks).await;
            }
        }
        write(page, "filter", "").await;
        page.counts(rows.len(), rows.len()).await;
        page.becomes("nothing is marked any more", MARKS, json!([[], []])).await;
    })
    .await;
}

#[tokio::test]
async fn a_broken_expression_is_said_and_takes_no_row_away() {
    with_live_page("a_broken_expression_is_said_and_takes_no_row_away", "#/pods", async |page, _| {
        let rows = page.rows("pods").await;
        let said = "
            const field = document.querySelector('[data-testid=filter]');
            const words = document.getElementById(field.getAttribute('aria-describedby'));
            const box = words?.getBoundingClientRect(), beside = field.getBoundingClientRect();
            return [field.getAttribute('aria-invalid') === 'true', words?.role ?? words?.getAttribute('role') ?? null,
                words ? box.width > 0 && Math.abs(box.top - beside.bottom) < 40 : null]";
        for (text, words) in [("NAME:/[a-c", "has no end"), ("/[/", "is no regular expression")] {
            write(page, "filter", text).await;
            wait_until(&format!("the error of {text} is shown"), AT_ONCE, async || {
                let error = page.text("filter-error").await;
                holds(error.starts_with("not filtered: ") && error.contains(words), || error)
            })
            .await;
            page.becomes("the error is beside the field, and read out", said, json!([true, "alert", true])).await;
            page.counts(rows.len(), rows.len()).await;
            assert!(!page.drawn().await.is_empty(), "the rows stay");
        }
        // The missing end makes the text a regular expression.
        write(page, "filter", "NAME:/[a-c").await;
        page.element("filter").await.send_keys("]/").await.expect("the field takes text");
        page.becomes("the error is gone", said, json!([false, null, null])).await;
        let expected = rows.iter().filter(|row| cell(row, "NAME").contains(['a', 'b', 'c'])).count();
        page.counts(expected, rows.len()).await;
    })
    .await;
}

#[tokio::test]
async fn a_label_selector_that_is_none_is_named_and_not_sent() {
    with_live_page("a_label_selector_that_is_none_is_named_and_not_sent", "#/pods", async |page, cluster| {
        // Records every address that the page requests from now on.
        let script = "
            window.__asked = [];
            const fetched = window.fetch;
            window.fetch = (...asked) => { __asked.push(String(asked[0].url ?? asked[0])); return fetched(...asked) };
            const Socket = window.WebSocket;
            window.WebSocket = new Proxy(Socket, { construct(target, given) { __asked.push(String(given[0])); return new target(...given) } })";
        page.browser.run(script, Vec::new()).await;
        let asked = "return __asked.filter(address => address.includes('/pods') && address.includes('elector'))";
        let before = page.hash().await;
        for text in ["app in a", "a=b=c", "="] {
            write(page, "labels", text).await;
            page.press("\u{e007}").await;
            wait_until(&format!("the error of {text} is shown"), AT_ONCE, async || {
                let words = page.text("labels-trouble").await;
                holds(words.contains("app=web"), || words)
            })
            .await;
            let value = "return document.querySelector('[data-testid=labels]').value";
            assert_eq!(page.read::<String>(value, Vec::new()).await, text, "the text stays in its field");
        }
        assert_eq!(page.hash().await, before, "the address has none of the invalid selectors");
        let truth = cluster.list("/api/v1/pods").await;
        cluster.delete(&pod(truth.last_key())).await;
        // The present watch goes on, and there is no other.
        page.shows("pods", &cluster.list("/api/v1/pods").await, AT_ONCE).await;
        let connections: BTreeSet<u64> = cluster.frames("pods").await.iter().map(|frame| frame.connection).collect();
        assert_eq!(connections.len(), 1, "{connections:?}");
        assert_eq!(page.browser.run(asked, Vec::new()).await, json!([]));
        // A valid selector is sent: the test would have seen the invalid one too.
        write(page, "labels", "app=nothing").await;
        page.press("\u{e007}").await;
        page.becomes("the error is gone", "return document.querySelector('[data-testid=labels-trouble]')", Value::Null)
            .await;
        wait_until("the selector is sent", AT_ONCE, async || {
            let asked = page.browser.run(asked, Vec::new()).await;
            holds(asked.to_string().contains("app%3Dnothing"), || asked.to_string())
        })
        .await;
    })
    .await;
}
