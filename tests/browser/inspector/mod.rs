//! The inspector: an object in full, how it changed, and what must not be shown.

mod canary;
mod comparison;
mod last_write;
mod panel;

use std::time::Duration;

use serde_json::{Value, json};
use thirtyfour::Key;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::kubectl::Kubectl;
use kubechurn_harness::page::{GIVEN, Page, with_page};
use kubechurn_harness::truth;
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

const PODS: &str = "/api/v1/pods";
const SOON: Duration = Duration::from_secs(10);

/// A live page on a quiet cluster.
async fn with_live_page(name: &str, hash: &str, test: impl AsyncFnOnce(&Page, &Cluster, &Kubectl)) {
    let (_turn, cluster, proxy) = started(&Options { pods: 20, ..Options::default() }).await;
    let kubectl = Kubectl::new(&format!("http://127.0.0.1:{}", cluster.port()));
    let secret = json!({"apiVersion": "v1", "kind": "Secret", "type": "Opaque",
        "metadata": {"namespace": "default", "name": "keys"}, "data": {"password": "aHVudGVyMg==", "user": "YWRtaW4="}});
    let body = secret.to_string();
    kubectl.run("apply -f -", &body).await;
    with_page(name, &proxy.url(), hash, async |page| test(page, &cluster, &kubectl).await).await;
}

/// Clicks a row as a user does, and waits for the inspector on it.
async fn select(page: &Page, key: &str) {
    wait_until(&format!("{key} has a row"), SOON, async || {
        let script = "
            const row = [...document.querySelectorAll('[role=row]')].find(row => row.dataset.key === arguments[0]);
            row?.click();
            return row != null";
        holds(page.read::<bool>(script, vec![key.into()]).await, || String::from("none"))
    })
    .await;
    is_open_on(page, key).await;
}

async fn is_open_on(page: &Page, key: &str) {
    wait_until("the inspector is open", SOON, async || {
        let open = page.attribute("inspector", "data-key").await;
        holds(open.as_deref() == Some(key), || format!("on {open:?}"))
    })
    .await;
}

async fn is_closed(page: &Page) {
    wait_until("the inspector is closed", SOON, async || {
        let open = page.attribute("inspector", "data-key").await;
        let hash = page.hash().await;
        holds(open.is_none() && !hash.contains("sel="), || format!("{open:?} at {hash}"))
    })
    .await;
}

/// Waits until the element contains these words.
async fn says(page: &Page, handle: &str, words: &str) {
    wait_until(&format!("{handle} says {words}"), SOON, async || {
        let text = page.text(handle).await;
        holds(text.contains(words), || text)
    })
    .await;
}

async fn yaml(page: &Page) -> Result<Value, String> {
    // Only the lines in sight are in the document: one comes after the other.
    let script = "return (async () => {
        const panel = document.getElementById('inspector-panel');
        const yaml = document.querySelector('[data-testid=yaml]');
        // Just after the tab was chosen, it is not there yet.
        if (!panel || !yaml) return '';
        const frame = () => new Promise(requestAnimationFrame);
        const lines = [];
        for (panel.scrollTop = 0; ; panel.scrollTop += 200) {
            for (let count = 0; count < 6; count++) await frame();
            for (const line of yaml.querySelectorAll('.line')) {
                lines[line.id.replace('yaml-line-', '')] = line.querySelector('.code').textContent;
            }
            if (panel.scrollTop + panel.clientHeight >= panel.scrollHeight - 1) break;
        }
        return lines.slice(0, yaml.dataset.lines).join('\\n');
    })()";
    let text: String = page.read(script, Vec::new()).await;
    serde_saphyr::from_str(&text).map_err(|error| format!("{error}: {text}"))
}

/// The whole document of the page.
async fn document(page: &Page) -> String {
    let script = "
        const values = [...document.querySelectorAll('input, textarea')].map(field => field.value);
        return document.documentElement.outerHTML + document.title + location.href + values.join(' ')";
    page.read(script, Vec::new()).await
}

/// Everything that the page has elsewhere: its functions for tests, its storage, its messages to the console, and its
/// exports.
async fn elsewhere(page: &Page) -> String {
    let script = "return JSON.stringify([kubechurn.status(), kubechurn.notices(), kubechurn.rows('secrets'),
        kubechurn.marks('secrets'), { ...localStorage }, { ...sessionStorage }, document.cookie, window.__said, history.state])";
    let mut all: String = page.read(script, Vec::new()).await;
    for (format, ending) in [("csv", ".csv"), ("ndjson", ".ndjson")] {
        page.browser.run("document.querySelector('[data-testid=table-scroll]').focus()", Vec::new()).await;
        page.press(format!(":{format}\u{e007}").as_str()).await;
        let text = page.gives(|file| file.ends_with(ending), SOON).await;
        assert!(text.contains("keys"), "the Secret is exported: {text}");
        all.push_str(&text);
    }
    all
}

/// Records what the page says to the console.
const LISTEN: &str = "
    window.__said = [];
    for (const level of ['log', 'info', 'warn', 'error', 'debug']) {
        const original = console[level];
        console[level] = (...words) => { __said.push(words.map(String).join(' ')); original.apply(console, words) };
    }";

#[tokio::test]
async fn a_row_shows_what_is_behind_it_and_what_changed() {
    let name = "a_row_shows_what_is_behind_it_and_what_changed";
    with_live_page(name, "#/pods?pin=replicasets,deployments", async |page, cluster, kubectl| {
        page.reaches("pods", "live", Duration::from_secs(20)).await;
        page.reaches("replicasets", "live", Duration::from_secs(20)).await;
        let pods = cluster.get(PODS).await;
        let owned = |pod: &&Value| pod["metadata"]["ownerReferences"][0]["kind"] == "ReplicaSet";
        let pod = pods["items"].as_array().and_then(|pods| pods.iter().find(owned)).expect("a Pod of a ReplicaSet");
        let text = |field: &str| pod["metadata"][field].as_str().expect("a Pod has it").to_owned();
        let (namespace, pod_name, key) =
            (text("namespace"), text("name"), format!("{}/{}", text("namespace"), text("name")));

        select(page, &key).await;
        says(page, "inspector-facts", pod["metadata"]["uid"].as_str().expect("a Pod has a uid")).await;
        says(page, "inspector-conditions", "Ready").await;
        for member in ["name", "image"] {
            let words = pod["spec"]["containers"][0][member].as_str().expect("a container has it");
            says(page, "inspector-containers", words).await;
        }
        // Image and reasons have the width of the table, whatever other subjects call their parts.
        let is_wide = "
            const table = document.querySelector('[data-testid=inspector-containers]');
            return [...table.querySelectorAll('.why td')].every(cell => cell.getBoundingClientRect().width > 0.9 * table.getBoundingClientRect().width)";
        page.becomes("the image has the whole width", is_wide, json!(true)).await;
        let label =
            pod["metadata"]["labels"].as_object().and_then(|labels| labels.keys().next()).expect("a Pod has labels");
        says(page, "inspector-labels", label).await;
        let owner = pod["metadata"]["ownerReferences"][0]["name"].as_str().expect("an owner has a name");
        says(page, "inspector-owners", owner).await;
        assert!(page.hash().await.contains(&format!("sel={key}")), "the address follows: {}", page.hash().await);

        page.click("inspector-tab-yaml").await;
        let printed = kubectl.run(&format!("get pod {pod_name} -n {namespace} -o yaml"), "").await;
        let printed: Value = serde_saphyr::from_str(&printed).expect("kubectl prints YAML");
        wait_until("the YAML is what kubectl prints", SOON, async || {
            // Also kind and apiVersion, which the items of a list have not.
            let shown = yaml(page).await?;
            holds(shown == printed, || format!("{shown}\nnot\n{printed}"))
        })
        .await;

        kubectl.run(&format!("label pod {pod_name} -n {namespace} looked-at=yes"), "").await;
        page.click("inspector-tab-changes").await;
        let change = "return [...document.querySelectorAll('[data-testid=inspector-versions] > li')].map(version => [
            version.querySelector('[data-writers]')?.textContent ?? '',
            ...[...version.querySelectorAll('[data-path]')].map(field => field.textContent)])";
        wait_until("the edit is a difference", SOON, async || {
            let versions: Vec<Vec<String>> = page.read(change, Vec::new()).await;
            let found = versions.iter().any(|one| {
                one[0].contains("kubectl-label")
                    && one.iter().any(|field| {
                        field.starts_with("metadata.labels[looked-at]")
                            || field.starts_with("metadata.labels.looked-at")
                    })
            });
            holds(found, || format!("{versions:?}"))
        })
        .await;
        kubectl.run(&format!("label pod {pod_name} -n {namespace} looked-at=no --overwrite"), "").await;
        wait_until("the second edit has old and new", SOON, async || {
            let versions: Vec<Vec<String>> = page.read(change, Vec::new()).await;
            let found = versions.first().is_some_and(|one| one.iter().any(|field| field.contains("yes → no")));
            holds(found, || format!("{versions:?}"))
        })
        .await;

        // A reload keeps the place, and a deletion keeps what was received.
        page.reload().await;
        is_open_on(page, &key).await;
        cluster.delete(&truth::pod(&key)).await;
        says(page, "inspector-state", "Deleted").await;
        page.click("inspector-tab-yaml").await;
        wait_until("the last state is shown", SOON, async || {
            let shown = yaml(page).await?;
            holds(shown["metadata"]["labels"]["looked-at"] == "no", || shown.to_string())
        })
        .await;
        page.click("inspector-tab-changes").await;
        says(page, "inspector-versions", "Deleted").await;
    })
    .await;
}

#[tokio::test]
async fn a_secret_is_shown_on_demand_and_nowhere_else() {
    with_live_page("a_secret_is_shown_on_demand_and_nowhere_else", "#/secrets?sel=default/keys", async |page, _, kubectl| {
        let source = [LISTEN, GIVEN].concat();
        page.browser.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": source })).await;
        page.reload().await;
        page.reaches("secrets", "live", Duration::from_secs(20)).await;
        // A shared link opens the inspector.
        is_open_on(page, "default/keys").await;
        says(page, "inspector-facts", "age").await;
        let secrets = ["hunter2", "aHVudGVyMg", "correct", "Y29ycmVjdA", "YWRtaW4"];
        let is_silent = async |when: &str| {
            let all = [document(page).await, elsewhere(page).await].concat();
            let held: Vec<_> = secrets.iter().filter(|secret| all.contains(**secret)).collect();
            assert!(held.is_empty(), "{when}: the page holds {held:?}");
        };
        for tab in ["summary", "changes", "yaml", "events"] {
            page.click(&format!("inspector-tab-{tab}")).await;
            is_silent(tab).await;
        }
        page.click("inspector-tab-yaml").await;
        says(page, "yaml", "•••• 7 bytes").await;
        is_silent("the YAML, masked").await;
        kubectl.run(r#"patch secret keys -n default -p {"data":{"password":"Y29ycmVjdA=="}}"#, "").await;
        page.click("inspector-tab-changes").await;
        says(page, "inspector-versions", "value changed").await;
        is_silent("the difference").await;

        page.click("inspector-tab-yaml").await;
        let show = "
            const line = [...document.querySelectorAll('[data-testid=yaml] .line')].find(line => line.textContent.includes('password:'));
            line?.querySelector('button')?.click();
            return line != null";
        wait_until("the value has a button", SOON, async || {
            holds(page.read::<bool>(show, Vec::new()).await, || String::from("no line"))
        })
        .await;
        says(page, "yaml", "correct").await;
        let shown = document(page).await;
        let others = ["admin", "YWRtaW4", "hunter2", "aHVudGVyMg"];
        assert!(others.iter().all(|other| !shown.contains(other)), "only the value that was asked for is shown");
        let kept = elsewhere(page).await;
        let mut values = secrets.into_iter().chain(["admin"]);
        assert_eq!(values.find(|value| kept.contains(value)), None, "the shown value is nowhere else");
        page.click("inspector-tab-summary").await;
        wait_until("the value is gone", SOON, async || {
            holds(!document(page).await.contains("correct"), || String::from("it is still there"))
        })
        .await;
        is_silent("after another tab").await;
    })
    .await;
}

#[tokio::test]
async fn the_keyboard_closes_it_and_back_opens_it() {
    with_live_page("the_keyboard_closes_it_and_back_opens_it", "#/nodes", async |page, _, _| {
        page.reaches("nodes", "live", Duration::from_secs(20)).await;
        let rows = page.has_rows().await;
        select(page, &rows[0]).await;
        says(page, "inspector-conditions", "MemoryPressure").await;
        let roles = "const panel = document.querySelector('aside.inspector');
            return [panel.ariaLabel ?? panel.getAttribute('aria-label'), panel.querySelectorAll('[role=tablist] [role=tab]').length,
                panel.querySelectorAll('[role=tab][aria-selected=true]').length, panel.querySelectorAll('[role=tabpanel]').length]";
        let roles: Value = page.read(roles, Vec::new()).await;
        assert_eq!(roles, json!(["Inspector", 4, 1, 1]));
        page.element("inspector-tab-summary").await.send_keys(Key::Right + "").await.expect("the tab takes keys");
        let tab = "return document.activeElement.id";
        page.becomes("the next tab has the focus", tab, json!("inspector-changes")).await;
        page.element("inspector-tab-changes").await.send_keys(Key::Escape + "").await.expect("the tab takes keys");
        is_closed(page).await;
        page.browser.driver.back().await.expect("the browser goes back");
        is_open_on(page, &rows[0]).await;
        page.click("inspector-close").await;
        is_closed(page).await;
    })
    .await;
}

#[tokio::test]
async fn a_lane_is_chosen_as_a_row_is() {
    with_live_page("a_lane_is_chosen_as_a_row_is", "#/nodes", async |page, cluster, _| {
        page.reaches("nodes", "live", Duration::from_secs(20)).await;
        let nodes = cluster.get("/api/v1/nodes").await;
        let name = nodes["items"][0]["metadata"]["name"].as_str().expect("a Node has a name");
        let body = json!({ "metadata": { "labels": { "kubechurn.test/lane": "yes" } } });
        cluster.patch(&format!("/api/v1/nodes/{name}"), &body).await;
        wait_until("the Node has a mark", SOON, async || {
            let marks = page.marks("nodes").await;
            holds(marks.iter().any(|mark| mark.key.as_deref() == Some(name)), || format!("{} marks", marks.len()))
        })
        .await;
        // Lanes change their places when something happens, unless the page is paused.
        page.click("pause").await;
        let edges = "const box = document.querySelector('[data-testid=timeline]').getBoundingClientRect();
            return [box.left + 20, box.top, box.bottom]";
        let (x, top, bottom): (f64, f64, f64) = page.read(edges, Vec::new()).await;
        let mut y = top + 4.0;
        wait_until("the pointer is on a mark that names its object", SOON, async || {
            page.browser.devtools("Input.dispatchMouseEvent", json!({ "type": "mouseMoved", "x": x, "y": y })).await;
            page.painted().await;
            let words = page.text("timeline-hover").await;
            let found = words.starts_with(&format!("{name} "));
            if !found {
                y = if y + 8.0 < bottom { y + 8.0 } else { top + 4.0 };
            }
            holds(found, || words)
        })
        .await;
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            page.browser.devtools("Input.dispatchMouseEvent", event).await;
        }
        is_open_on(page, name).await;
        assert!(page.hash().await.contains(&format!("sel={name}")), "the address follows: {}", page.hash().await);
        page.press(Key::Escape + "").await;
        is_closed(page).await;
    })
    .await;
}
