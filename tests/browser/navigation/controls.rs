//! What a user does to the page: choose a kind and namespaces, sort, filter, pause, reload.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures::future::join;
use serde_json::json;
use thirtyfour::Key;

use kubechurn_harness::page::{AT_ONCE, Page};
use kubechurn_harness::truth::{Truth, pod};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::with_live_page;

const PODS: &str = "/api/v1/pods";

#[tokio::test]
async fn a_kind_is_watched_while_it_is_shown() {
    with_live_page("a_kind_is_watched_while_it_is_shown", "#/pods", async |page, cluster| {
        for (kind, path) in [("deployments", "/apis/apps/v1/deployments"), ("nodes", "/api/v1/nodes")] {
            page.click(&format!("kind-{kind}")).await;
            page.reaches(kind, "live", Duration::from_secs(10)).await;
            let truth = cluster.list(path).await;
            page.shows(kind, &truth, AT_ONCE).await;
            page.counts(truth.count(), truth.count()).await;
            assert!(page.hash().await.starts_with(&format!("#/{kind}")), "the address follows");
        }
        wait_until("a kind that is not in view is not watched", AT_ONCE, async || {
            let watched: Vec<_> = page.status().await.into_iter().map(|status| status.resource).collect();
            holds(watched == ["nodes"], || format!("{watched:?}"))
        })
        .await;
        page.browser.driver.back().await.expect("the browser goes back");
        page.reaches("deployments", "live", Duration::from_secs(10)).await;
    })
    .await;
}

#[tokio::test]
async fn a_namespace_narrows_the_watch() {
    with_live_page("a_namespace_narrows_the_watch", "#/pods", async |page, cluster| {
        let truth = cluster.list(PODS).await;
        let namespaces: Vec<String> = namespaces(&truth);
        assert!(namespaces.len() >= 2, "the cluster has only {namespaces:?}");
        for chosen in [&namespaces[..1], &namespaces[..2]] {
            page.open(&format!("#/pods?ns={}", chosen.join(","))).await;
            let is_in = |key: &str| chosen.iter().any(|namespace| key.starts_with(&format!("{namespace}/")));
            let expected: BTreeSet<&str> = truth.items.keys().map(String::as_str).filter(|key| is_in(key)).collect();
            page.shows_only("only those namespaces are shown", &expected, expected.len(), AT_ONCE).await;
        }
        page.open("#/pods").await;
        page.counts(truth.count(), truth.count()).await;
    })
    .await;
}

#[tokio::test]
async fn a_label_selector_narrows_the_watch() {
    with_live_page("a_label_selector_narrows_the_watch", "#/pods", async |page, cluster| {
        let pods = cluster.get(PODS).await;
        let labels = &pods["items"][0]["metadata"]["labels"];
        let (name, value) = labels.as_object().and_then(|labels| labels.iter().next()).expect("a Pod has labels");
        let value = value.as_str().expect("a label is text");
        let selector = format!("{name}%3D{value}").replace('/', "%2F");
        let truth = cluster.list(&format!("{PODS}?labelSelector={selector}")).await;
        page.open(&format!("#/pods?labels={selector}")).await;
        shows_selected(page, &truth).await;
    })
    .await;
}

#[tokio::test]
async fn a_field_selector_narrows_the_watch_and_what_is_none_is_not_sent() {
    with_live_page("a_field_selector_narrows_the_watch", "#/pods", async |page, cluster| {
        let pods = cluster.get(PODS).await;
        let node = pods["items"][0]["spec"]["nodeName"].as_str().expect("a Pod is bound");
        let truth = cluster.list(&format!("{PODS}?fieldSelector=spec.nodeName%3D{node}")).await;
        let field = page.element("fields").await;
        field.send_keys("spec.nodeName" + Key::Enter).await.expect("the field takes text");
        wait_until("the error is shown", AT_ONCE, async || {
            let words = page.text("fields-trouble").await;
            holds(words.contains("status.phase!=Running"), || words)
        })
        .await;
        assert!(!page.hash().await.contains("fields="), "the invalid filter is not sent");
        field.send_keys(format!("={node}")).await.expect("the field takes text");
        field.send_keys(Key::Enter + "").await.expect("the field takes a key");
        shows_selected(page, &truth).await;
        assert!(page.hash().await.contains("fields=spec.nodeName%3D"), "a link to the place shows the same");
    })
    .await;
}

#[tokio::test]
async fn a_header_sorts_and_the_address_keeps_it() {
    with_live_page("a_header_sorts_and_the_address_keeps_it", "#/pods", async |page, cluster| {
        let truth = cluster.list(PODS).await;
        let mut names: Vec<&str> = truth.items.keys().map(|key| name(key)).collect();
        names.sort_unstable();
        click_header(page, "NAME").await;
        rows_begin_with(page, &names[..5]).await;
        click_header(page, "NAME").await;
        names.reverse();
        rows_begin_with(page, &names[..5]).await;
        let hash = page.hash().await;
        assert!(hash.contains("sort="), "the address keeps the order: {hash}");

        page.reload().await;
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        rows_begin_with(page, &names[..5]).await;
        assert_eq!(page.hash().await, hash);
    })
    .await;
}

#[tokio::test]
async fn typing_filters_and_a_reload_keeps_it() {
    with_live_page("typing_filters_and_a_reload_keeps_it", "#/pods", async |page, cluster| {
        let truth = cluster.list(PODS).await;
        let wanted = truth.last_key();
        let filter = page.element("filter").await;
        filter.send_keys(name(wanted)).await.expect("the filter takes text");
        page.shows_only("only the one is shown", &BTreeSet::from([wanted]), truth.count(), Duration::from_secs(5))
            .await;
        wait_until("the address keeps the filter", AT_ONCE, async || {
            let hash = page.hash().await;
            holds(hash.contains(&format!("q={}", name(wanted))), || hash)
        })
        .await;

        page.reload().await;
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        page.counts(1, truth.count()).await;
        let script = "return document.querySelector('[data-testid=filter]').value";
        assert_eq!(page.read::<String>(script, Vec::new()).await, name(wanted));

        let everything = Key::Control + "a";
        page.element("filter").await.send_keys(everything).await.expect("the filter takes keys");
        page.element("filter").await.send_keys(Key::Backspace + "").await.expect("the filter takes keys");
        page.counts(truth.count(), truth.count()).await;
    })
    .await;
}

#[tokio::test]
async fn pause_holds_the_picture_and_go_live_catches_up() {
    with_live_page("pause_holds_the_picture_and_go_live_catches_up", "#/pods", async |page, cluster| {
        let before = cluster.list(PODS).await;
        let gone = before.last_key();
        page.click("pause").await;
        cluster.delete(&pod(gone)).await;
        // The watch goes on while the picture stands still: the mark shows that the page received the deletion.
        wait_until("the deletion is received", AT_ONCE, async || {
            let marks = page.marks("pods").await;
            holds(marks.iter().any(|mark| mark.kind == "Deleted"), || format!("{} marks", marks.len()))
        })
        .await;
        page.painted().await;
        page.counts(before.count(), before.count()).await;
        let connection = page.text("connection").await;
        assert!(connection.contains("paused") && !connection.contains("live"), "{connection}");

        page.click("pause").await;
        let is_live = "return document.querySelector('[data-testid=connection]').textContent.includes('live')";
        page.becomes("it says that it is live", is_live, json!(true)).await;
        let truth = cluster.list(PODS).await;
        page.shows("pods", &truth, AT_ONCE).await;
        page.counts(truth.count(), truth.count()).await;
        page.is_balanced().await;
    })
    .await;
}

#[tokio::test]
async fn a_changed_cell_and_the_connection_s_age_are_shown() {
    with_live_page("a_changed_cell_and_the_connection_s_age_are_shown", "#/pods", async |page, cluster| {
        let key = page.has_rows().await.remove(0);
        let path = pod(&key);
        let mut statuses = cluster.get(&path).await["status"]["containerStatuses"].clone();
        for (restarts, way) in [(4_321, "up"), (4_001, "down")] {
            statuses[0]["restartCount"] = json!(restarts);
            cluster.patch(&path, &json!({ "status": { "containerStatuses": statuses } })).await;
            wait_until("the cell shows the restarts and which way they went", AT_ONCE, async || {
                let script = "
                    const row = [...document.querySelectorAll('[role=row]')].find(row => row.dataset.key === arguments[0]);
                    const cell = row?.querySelector('[data-col=RESTARTS]');
                    return [cell?.textContent ?? '', cell?.dataset.changed ?? '', row?.querySelector('[data-col=Δ]').title ?? '']";
                let cell: (String, String, String) = page.read(script, vec![key.as_str().into()]).await;
                let (text, went, delta) = &cell;
                holds(text.contains(&restarts.to_string()) && went == way && delta == "Updated", || format!("{cell:?}"))
            })
            .await;
        }

        let status = page.status_of("pods").await.expect("Pods are watched");
        assert!(status.age_ms.is_some_and(|age| age < 60_000.0), "{status:?}");
        let connection = page.text("connection").await;
        assert!(connection.contains("live"), "the state is shown in words, not by colour alone: {connection}");
        assert!(connection.chars().any(|character| character.is_ascii_digit()), "the age is shown: {connection}");
        // It is no time for which the connection was up.
        assert!(connection.contains("heard ") && connection.contains(" ago"), "{connection}");
    })
    .await;
}

/// The drawn rows and their positions.
const PLACES: &str = "
    return Object.fromEntries([...document.querySelectorAll('[role=row][data-key]')]
        .map(row => [row.dataset.uid, row.getBoundingClientRect().top]))";

/// How many rows wait, according to the button beside the title.
const WAITING: &str = "return Number((document.querySelector('.waiting')?.textContent.match(/\\d+/) ?? [0])[0])";

#[tokio::test]
async fn nothing_moves_under_the_pointer_or_the_keyboard_while_all_around_it_changes() {
    let name = "nothing_moves_under_the_pointer_or_the_keyboard_while_all_around_it_changes";
    with_live_page(name, "#/pods", async |page, cluster| {
        let rows = page.browser.driver.find_all(thirtyfour::By::Css("[role=row][data-key]")).await;
        let row = rows.expect("the page can be asked").into_iter().nth(5).expect("rows are drawn");
        let mut back_and_forth = [3, -3].into_iter().cycle();
        for hand in ["pointer", "keyboard"] {
            // The action that keeps the pointer or the keyboard on the table. It is repeated again and again.
            let mut stays = async || match hand {
                "pointer" => {
                    let by = back_and_forth.next().unwrap_or_default();
                    let moved = page.browser.driver.action_chain().move_by_offset(by, 0).perform().await;
                    moved.expect("the pointer moves");
                }
                _ => page.press("jk").await,
            };
            if hand == "pointer" {
                let over = page.browser.driver.action_chain().move_to_element_center(&row).perform().await;
                over.expect("the pointer moves");
            }
            stays().await;
            let before: BTreeMap<String, f64> = page.read(PLACES, Vec::new()).await;
            cluster.rate(100).await;
            let mut waiting = 0;
            wait_until(&format!("rows wait because of the {hand}"), Duration::from_secs(30), async || {
                stays().await;
                let now: BTreeMap<String, f64> = page.read(PLACES, Vec::new()).await;
                let moved: Vec<_> = now.iter().filter(|(uid, top)| before.get(*uid) != Some(*top)).collect();
                assert!(moved.is_empty(), "{moved:?} appeared or moved in spite of the {hand}");
                waiting = page.read(WAITING, Vec::new()).await;
                holds(waiting >= 3, || format!("{waiting} wait"))
            })
            .await;
            let is_quiet = Cell::new(false);
            let becomes_quiet = async {
                let truth = cluster.quiet(PODS).await;
                is_quiet.set(true);
                truth
            };
            let stays_meanwhile = async {
                while !is_quiet.get() {
                    stays().await;
                }
            };
            let (truth, ()) = join(becomes_quiet, stays_meanwhile).await;
            wait_until("everything has come", AT_ONCE, async || {
                stays().await;
                holds(page.digest("pods").await == truth.digest(), || String::from("not yet"))
            })
            .await;
            assert!(page.read::<u32>(WAITING, Vec::new()).await > 0, "the rows still wait, and are counted");
            // The number of waiting rows is a button that shows them at once.
            page.browser.run("document.querySelector('.waiting').click()", Vec::new()).await;
            page.becomes("no row waits", WAITING, json!(0)).await;
            page.counts(truth.count(), truth.count()).await;
            page.browser.run("document.querySelector('[data-testid=table-scroll]').scrollTop = 0", Vec::new()).await;
        }
    })
    .await;
}

#[tokio::test]
async fn the_ledger_is_in_sight_however_narrow_the_window() {
    let name = "the_ledger_is_in_sight_however_narrow_the_window";
    with_live_page(name, "#/pods?pin=deployments,events", async |page, cluster| {
        cluster.rate(20).await;
        for width in [1024, 1190, 1440] {
            let metrics = json!({ "width": width, "height": 800, "deviceScaleFactor": 1, "mobile": false });
            page.browser.devtools("Emulation.setDeviceMetricsOverride", metrics).await;
            let inside = "
                const box = document.querySelector('[data-testid=ledger]').getBoundingClientRect();
                return box.width > 60 && box.right <= innerWidth";
            page.becomes(&format!("at {width} pixels"), inside, json!(true)).await;
        }
    })
    .await;
}

/// Waits until the table has the objects of a list with the same selector.
async fn shows_selected(page: &Page, truth: &Truth) {
    let keys: BTreeSet<&str> = truth.items.keys().map(String::as_str).collect();
    let what = "only what the selector selects is shown";
    page.shows_only(what, &keys, truth.count(), Duration::from_secs(10)).await;
}

fn name(key: &str) -> &str {
    key.rsplit('/').next().unwrap_or(key)
}

fn namespaces(truth: &Truth) -> Vec<String> {
    let all: BTreeSet<&str> = truth.items.keys().filter_map(|key| Some(key.split_once('/')?.0)).collect();
    all.into_iter().map(str::to_owned).collect()
}

async fn click_header(page: &Page, column: &str) {
    let script = "
        const header = [...document.querySelectorAll('[role=columnheader]')]
            .find(header => (header.dataset.col ?? header.textContent.trim()) === arguments[0]);
        (header?.querySelector('button') ?? header)?.click();
        return header != null";
    assert!(page.read::<bool>(script, vec![column.into()]).await, "the table has no header {column}");
}

async fn rows_begin_with(page: &Page, names: &[&str]) {
    wait_until("the rows are in order", AT_ONCE, async || {
        let drawn = page.drawn().await;
        let first: Vec<&str> = drawn.iter().take(names.len()).map(|key| name(key)).collect();
        holds(first == names, || format!("{first:?}, not {names:?}"))
    })
    .await;
}
