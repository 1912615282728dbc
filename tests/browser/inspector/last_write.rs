//! The last write of a field, and the way from change to change.

use std::time::Duration;

use serde_json::{Value, json};
use thirtyfour::Key;

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::started;

const SOON: Duration = Duration::from_secs(20);

/// Sets the image of the first container, as a manager of the same name, and returns the resourceVersion that this made.
async fn set_image(cluster: &Cluster, path: &str, deployment: &Value, image: &str) -> String {
    let mut containers = deployment["spec"]["template"]["spec"]["containers"].clone();
    containers[0]["image"] = image.into();
    let patch = json!({ "spec": { "template": { "spec": { "containers": containers } } } });
    let written = cluster.patch(&format!("{path}?fieldManager={image}"), &patch).await;
    written["metadata"]["resourceVersion"].as_str().expect("an object has a version").to_owned()
}

/// Clicks the line of YAML with these words, as soon as the line is there.
async fn click_line(page: &Page, words: &str) {
    let script = "
        const line = [...document.querySelectorAll('[data-testid=yaml] .line')].find(line => line.textContent.includes(arguments[0]));
        line?.click();
        return line != null";
    wait_until(&format!("a line has {words}"), SOON, async || {
        holds(page.read::<bool>(script, vec![words.into()]).await, || String::from("none"))
    })
    .await;
}

async fn answers(page: &Page, words: &[&str]) {
    wait_until(&format!("the last write has {words:?}"), SOON, async || {
        let answer = page.text("last-write").await;
        holds(words.iter().all(|words| answer.contains(words)), || answer)
    })
    .await;
}

/// Which version is marked, and whether it is in sight.
async fn is_marked(page: &Page, version: &str) {
    let script = "
        const marked = [...document.querySelectorAll('[data-testid=inspector-versions] > [aria-current=true]')];
        const panel = document.getElementById('inspector-panel').getBoundingClientRect();
        const isInSight = at => at.top < panel.bottom && at.bottom > panel.top;
        return marked.map(one => [one.dataset.version, isInSight(one.getBoundingClientRect())])";
    page.becomes(&format!("{version} is marked"), script, json!([[version, true]])).await;
}

#[tokio::test]
async fn a_line_of_yaml_names_who_wrote_it_last_and_leads_to_that_change() {
    let (_turn, cluster, proxy) = started(&Options { pods: 20, ..Options::default() }).await;
    let all = cluster.get("/apis/apps/v1/deployments").await;
    let deployment = all["items"][0].clone();
    let of = |field: &str| deployment["metadata"][field].as_str().expect("a Deployment has it").to_owned();
    let (namespace, name) = (of("namespace"), of("name"));
    let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
    let hash = format!("#/deployments?sel={namespace}/{name}&tab=yaml");
    let test = "a_line_of_yaml_names_who_wrote_it_last_and_leads_to_that_change";
    with_page(test, &proxy.url(), &hash, async |page| {
        page.reaches("deployments", "live", SOON).await;
        set_image(&cluster, &path, &deployment, "first").await;
        let version = set_image(&cluster, &path, &deployment, "second").await;
        let label = json!({ "metadata": { "labels": { "looked-at": "today" } } });
        cluster.patch(&format!("{path}?fieldManager=labeller"), &label).await;
        click_line(page, "looked-at: today").await;
        answers(page, &["metadata.labels.looked-at", "labeller, inferred"]).await;
        click_line(page, "image: second").await;
        answers(page, &["].image", "first → second", "second, inferred"]).await;
        let asked = "return [...document.querySelectorAll('[data-testid=yaml] [data-asked]')].map(line => line.textContent.trim())";
        // Lines are marked in the frame after the answer.
        wait_until("the line is marked", SOON, async || {
            let asked: Vec<String> = page.read(asked, Vec::new()).await;
            holds(asked.len() == 1 && asked[0].ends_with("image: second"), || format!("{asked:?}"))
        })
        .await;

        // What is older than what is kept is said to be so.
        click_line(page, "uid: ").await;
        answers(page, &["metadata.uid", "before ", "since when its versions are kept"]).await;

        // The keyboard asks as a click does.
        let down = Key::Down + "";
        page.browser.run("document.querySelector('[data-testid=yaml]').focus()", Vec::new()).await;
        page.press(down).await;
        let current = "return document.querySelector('[data-testid=yaml]').getAttribute('aria-activedescendant') != null";
        page.becomes("a line is chosen", current, json!(true)).await;
        page.press(Key::Enter + "").await;
        wait_until("the next line is asked about", SOON, async || {
            let path = page.text("last-write-path").await;
            holds(path != "metadata.uid" && !path.is_empty(), || path)
        })
        .await;

        // The answer leads to the change.
        click_line(page, "image: second").await;
        answers(page, &["first → second"]).await;
        page.click("last-write-show").await;
        is_marked(page, &version).await;

        // The keys go from change to change.
        let versions = "return [...document.querySelectorAll('[data-testid=inspector-versions] > li')].map(one => one.dataset.version)";
        let all: Vec<String> = page.read(versions, Vec::new()).await;
        let at = all.iter().position(|one| *one == version).expect("the version is listed");
        page.press("[").await;
        is_marked(page, &all[at + 1]).await;
        page.press("]").await;
        is_marked(page, &version).await;
        page.press("]").await;
        is_marked(page, &all[at - 1]).await;
    })
    .await;
}
