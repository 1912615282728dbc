//! Lanes of the timeline in groups: by owner, by node and by manager, opened and closed, kept on top, and in the address.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use kubechurn_harness::cluster::Options;
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;
use crate::shell::accessibility::finds_nothing;

const SOON: Duration = Duration::from_secs(20);

/// Where the star of a row is, and where the triangle of a group is that is in no other one, in pixels from the left.
const STAR: f64 = 6.0;
const TRIANGLE: f64 = 21.0;

/// The rows in the words that describe the canvas; empty where lanes are in no groups.
async fn rows(page: &Page) -> Vec<String> {
    let words = page.attribute("timeline", "aria-label").await.unwrap_or_default();
    let rows = words.split_once("lanes by ").and_then(|(_, rest)| rest.split_once(": "));
    rows.map(|(_, rows)| rows.split("; ").map(str::to_owned).collect()).unwrap_or_default()
}

/// Waits until the rows are so, and returns what was looked for.
async fn until<T>(page: &Page, what: &str, find: impl Fn(&[String]) -> Option<T>) -> T {
    wait_until(what, SOON, async || {
        let rows = rows(page).await;
        find(&rows).ok_or_else(|| format!("{rows:#?}"))
    })
    .await
}

/// Moves the pointer to a row, so that rows stay where they are, and clicks there if that is wanted.
async fn point(page: &Page, row: usize, x: f64, clicks: bool) {
    let script = "const canvas = document.querySelector('[data-testid=timeline]').getBoundingClientRect();
        const count = Math.floor((canvas.height - 18 - 48) / 19);
        const height = (canvas.height - 18 - 48) / count;
        return [canvas.left + arguments[1], canvas.top + 48 + (arguments[0] + 0.5) * height].map(Math.round)";
    let (x, y): (i64, i64) = page.read(script, vec![json!(row), json!(x)]).await;
    let chain = page.browser.driver.action_chain().move_to(x, y);
    let chain = if clicks { chain.click() } else { chain };
    chain.perform().await.expect("the pointer moves");
}

fn is_deployment(row: &str) -> bool {
    row.starts_with("Deployment ")
}

#[tokio::test]
async fn lanes_by_owner_open_and_close_are_kept_and_survive_a_reload() {
    let (_turn, _cluster, proxy) = started(&Options { scenario: "rollout", pods: 60, ..Options::default() }).await;
    let name = "lanes_by_owner_open_and_close_are_kept_and_survive_a_reload";
    with_page(name, &proxy.url(), "#/changes", async |page| {
        for kind in ["pods", "replicasets", "deployments"] {
            page.reaches(kind, "live", SOON).await;
        }
        assert!(rows(page).await.is_empty(), "without a choice, no lane is in a group");
        let choose = "const menu = document.querySelector('[data-testid=lanes-by]');
            menu.value = arguments[0]; menu.dispatchEvent(new Event('change', { bubbles: true }))";
        page.browser.run(choose, vec!["owner".into()]).await;
        page.becomes("the address has the choice", "return location.hash.includes('lanes=owner')", json!(true)).await;
        until(page, "a Deployment is a closed group", |rows| rows.iter().position(|row| is_deployment(row))).await;
        // Under the pointer no row moves.
        point(page, 0, 300.0, false).await;
        page.painted().await;
        let whole = "const hover = document.querySelector('[data-testid=timeline-hover]');
            const box = hover.getBoundingClientRect();
            // The pointer is at the height of row 0, and the words are beside it.
            const canvas = document.querySelector('[data-testid=timeline]').getBoundingClientRect();
            const x = canvas.left + 300, away = Math.max(box.left - x, x - box.right, 0);
            return away <= 14 && box.width > 0 && box.left >= 0 && box.top >= 0 && box.right <= innerWidth && box.bottom <= innerHeight
                && hover.scrollWidth <= hover.clientWidth && hover.scrollHeight <= hover.clientHeight";
        page.becomes("what is under the pointer is whole, and in the window", whole, json!(true)).await;
        let is_closed = |row: &String| is_deployment(row) && row.contains(", closed, ");
        let at = until(page, "a Deployment is a closed group", |rows| rows.iter().position(is_closed)).await;
        let before = rows(page).await;
        let own = before[at].split(',').next().unwrap().to_owned();
        point(page, at, TRIANGLE, true).await;
        let is_open = |row: &String| row.starts_with(&format!("{own}, ")) && row.contains(", open, ");
        let set = until(page, "it opens", |rows| {
            let at = rows.iter().position(is_open)?;
            let is_set = |row: &&String| row.starts_with("level 2 ReplicaSet ") && row.contains(", closed, ");
            rows.get(at + 1).filter(is_set).map(|_| at + 1)
        })
        .await;
        assert_eq!(set, at + 1, "what is above it stays in its row: {before:#?}");
        point(page, set, TRIANGLE + 11.0, true).await;
        until(page, "Pods are below the ReplicaSet", |rows| {
            rows.get(set + 1).filter(|row| row.starts_with("level 3 Pod ")).map(drop)
        })
        .await;
        finds_nothing(page, "lanes by owner").await;
        point(page, at, TRIANGLE, true).await;
        until(page, "it closes", |rows| rows.get(at).filter(|row| row.starts_with(&own) && is_closed(row)).map(drop))
            .await;

        point(page, at, STAR, true).await;
        let key = own.trim_start_matches("Deployment ").to_owned();
        let kept = format!("keep=deployments/{key}");
        page.becomes(
            "the address has what is kept",
            &format!("return location.hash.includes({})", json!(kept)),
            json!(true),
        )
        .await;
        let is_on_top = |rows: &[String]| rows.first().filter(|row| row.starts_with(&format!("{own}, kept"))).map(drop);
        until(page, "what is kept is on top", is_on_top).await;
        point(page, 0, TRIANGLE, true).await;
        let opened = format!("deployments/{key}");
        let script = format!("return location.hash.split('open=')[1]?.includes({}) === true", json!(opened));
        page.becomes("the address has what is open", &script, json!(true)).await;
        page.reload().await;
        page.reaches("deployments", "live", SOON).await;
        until(page, "what is kept is on top again, and open", |rows| {
            let is_open = rows.first()?.contains(", open, ") && rows.get(1)?.starts_with("level 2 ReplicaSet ");
            is_on_top(rows).filter(|()| is_open)
        })
        .await;
        assert_eq!(
            page.read::<String>("return document.querySelector('[data-testid=lanes-by]').value", vec![]).await,
            "owner"
        );

        // The column of names has the width that the user gives it, until a double click.
        let width = "return Math.round(document.querySelector('.lane-labels').getBoundingClientRect().width)";
        let edge = "const edge = document.querySelector('[data-testid=labels-edge]'); edge.dispatchEvent(";
        let before: i64 = page.read(width, vec![]).await;
        let arrow = "new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true, cancelable: true }))";
        page.browser.run(&format!("{edge}{arrow}"), vec![]).await;
        page.becomes("the column is wider", width, json!(before + 24)).await;
        page.reload().await;
        page.reaches("deployments", "live", SOON).await;
        page.becomes("the column stays wide", width, json!(before + 24)).await;
        page.browser.run(&format!("{edge}new MouseEvent('dblclick', {{ bubbles: true }}))"), vec![]).await;
        let stored = "return localStorage.getItem('kubechurn.labels')";
        page.becomes("no width is stored", stored, json!(null)).await;
        // What fails can come first.
        let order = "const menu = document.querySelector('[data-testid=lanes-order]');
            menu.value = 'worst'; menu.dispatchEvent(new Event('change', { bubbles: true }))";
        page.browser.run(order, vec![]).await;
        page.becomes("the address has the order", "return location.hash.includes('order=worst')", json!(true)).await;

        // The keyboard opens all, too.
        page.press(":").await;
        page.press("open all groups").await;
        page.press("\u{e007}").await;
        until(page, "all groups are open", |rows| {
            let is_through = rows.iter().any(|row| row.starts_with("level 3 Pod "))
                && rows.iter().all(|row| !row.contains(", closed, "));
            is_through.then_some(())
        })
        .await;
        page.browser.run(choose, vec!["node".into()]).await;
        until(page, "nodes are groups", |rows| {
            let is_node = |row: &String| row.starts_with("node ") || row.starts_with("Node ");
            rows.iter().any(|row| is_node(row) && row.contains(" object")).then_some(())
        })
        .await;
        page.browser.run(choose, vec!["object".into()]).await;
        page.becomes("the address has no choice", "return location.hash.includes('lanes=')", json!(false)).await;
        wait_until("only what is kept has words of its own", SOON, async || {
            let words = page.attribute("timeline", "aria-label").await.unwrap_or_default();
            holds(!words.contains("lanes by ") && words.contains(&format!("{own}, kept")), || words)
        })
        .await;
        page.is_balanced().await;
    })
    .await;
}

/// How many changes the words of a row say, by type: `Pods, closed, 60 objects, 1,204 updated`.
fn changes(row: &str) -> BTreeMap<&str, u64> {
    let counts = row.split(", ").filter_map(|part| part.rsplit_once(' '));
    let known = counts.filter(|(_, word)| ["added", "updated", "deleted", "replaced"].contains(word));
    known.filter_map(|(count, word)| Some((word, count.replace(',', "").parse().ok()?))).collect()
}

/// How many changes the closed row of a manager says.
fn of<'a>(rows: &'a [String], manager: &str) -> Option<BTreeMap<&'a str, u64>> {
    let row = rows.iter().find(|row| row.starts_with(&format!("manager {manager}, closed, ")))?;
    Some(changes(row))
}

/// How many changes all rows say together, by type.
fn all_changes(rows: &[String]) -> BTreeMap<&str, u64> {
    let mut all = BTreeMap::new();
    rows.iter().flat_map(|row| changes(row)).for_each(|(word, count)| *all.entry(word).or_default() += count);
    all
}

#[tokio::test]
async fn lanes_by_manager_have_every_mark_once() {
    let (_turn, _cluster, proxy) = started(&Options { scenario: "rollout", pods: 60, ..Options::default() }).await;
    let name = "lanes_by_manager_have_every_mark_once";
    with_page(name, &proxy.url(), "#/pods,replicasets,deployments?lanes=manager", async |page| {
        for kind in ["pods", "replicasets", "deployments"] {
            page.reaches(kind, "live", SOON).await;
        }
        until(
            page,
            "the kubelet and the controllers write, and nobody is known to have written what a list brought",
            |rows| {
                let wrote = |name: &str| of(rows, name).is_some_and(|counts| counts.contains_key("updated"));
                let listed = of(rows, "not known").is_some_and(|counts| counts.contains_key("replaced"));
                (wrote("kubelet") && wrote("kube-controller-manager") && listed).then_some(())
            },
        )
        .await;
        let words = page.attribute("timeline", "aria-label").await.unwrap_or_default();
        assert!(words.contains("lanes by manager (inferred): "), "{words}");
        // While the page stands still, the same marks are in every picture.
        page.press("p").await;
        finds_nothing(page, "lanes by manager").await;
        let choose = "const menu = document.querySelector('[data-testid=lanes-by]');
            menu.value = arguments[0]; menu.dispatchEvent(new Event('change', { bubbles: true }))";
        page.browser.run(choose, vec!["kind".into()]).await;
        let of_kinds = |rows: &[String]| {
            let titles = ["Pods, closed, ", "ReplicaSets, closed, ", "Deployments, closed, "];
            let is_kind = |row: &String| titles.iter().any(|title| row.starts_with(title));
            (rows.len() == 3 && rows.iter().all(is_kind)).then(|| rows.to_vec())
        };
        let kinds = until(page, "kinds are groups", of_kinds).await;
        let expected = all_changes(&kinds);
        assert!(expected.values().sum::<u64>() > 60, "{kinds:#?}");
        page.browser.run(choose, vec!["manager".into()]).await;
        let is_all = |rows: &[String]| {
            let are_managers = rows.iter().all(|row| row.starts_with("manager "));
            (are_managers && all_changes(rows) == expected).then(|| rows.to_vec())
        };
        let managers = until(page, "managers made what the kinds have", is_all).await;
        assert!(of(&managers, "kube-controller-manager").is_some(), "{managers:#?}");

        // A group opens to the objects, each with what this manager made of its marks.
        let at = managers.iter().position(|row| row.starts_with("manager kube-controller-manager, ")).expect("its row");
        let whole = changes(&managers[at]);
        point(page, at, TRIANGLE, true).await;
        until(page, "objects are below their manager", |rows| {
            let below = rows.iter().skip(at + 1).take_while(|row| row.starts_with("level 2 "));
            let own: Vec<BTreeMap<&str, u64>> = below.map(|row| changes(row)).collect();
            let is_part = |counts: &BTreeMap<&str, u64>| {
                !counts.is_empty() && counts.iter().all(|(word, count)| whole.get(word).is_some_and(|all| count <= all))
            };
            (!own.is_empty() && own.iter().all(is_part)).then_some(())
        })
        .await;
        page.press("p").await;
        page.is_balanced().await;
    })
    .await;
}
