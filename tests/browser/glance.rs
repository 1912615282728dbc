//! What *What changed* says at a glance, in the four jobs of whoever is called at night: what was changed is the first thing
//! that is read, with its value; what is wrong stands above it; and the reason is one click away.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::turn;
use kubechurn_harness::wait::{holds, wait_until};

use crate::live::viewport;

const SOON: Duration = Duration::from_secs(20);
/// The demo cluster misses a node after 20 s.
const MISSED: Duration = Duration::from_secs(60);
const SIZES: [(u32, u32); 2] = [(1440, 900), (1024, 700)];
/// As long as a value may be at 1440 and at 1024 pixels without being cut.
const VALUES: [&str; 2] = ["3-typo-0123456789abcdefghijklmnopqrstuvw", "2-typo-0123456789abcdefg"];

/// The words of the rows of the feed; of *Wrong now*; and the values that are cut in the feed.
const SEEN: &str = "
    const words = [...document.querySelectorAll('.feed-line:first-child > .feed-words')];
    const cut = words.flatMap(words => {
        const right = words.getBoundingClientRect().right;
        const values = [...words.querySelectorAll('[data-what=new], [data-what=old]')];
        return values.filter(one => one.getBoundingClientRect().right > right + 1).map(one => one.textContent);
    });
    const rows = [...document.querySelectorAll('[data-testid=feed-row]')].filter(row => row.dataset.what !== 'noise');
    const entries = [...document.querySelectorAll('.wrong-entry')];
    return [rows.map(row => row.textContent), entries.map(entry => entry.textContent), cut]";

/// What must be read of an incident.
struct Job<'a> {
    /// The object that was changed.
    object: &'a str,
    /// What its row says of the change.
    cause: &'a [&'a str],
    /// What *Wrong now* says, the object's name included; empty where nothing is wrong.
    wrong: &'a [&'a str],
    /// A word of the value, which is not cut.
    value: &'a str,
    /// How soon it is to be seen.
    within: Duration,
}

/// A cluster in which little else happens, and a page without an address, which begins with what changed.
async fn with_feed(name: &str, test: impl AsyncFnOnce(&Page, &Cluster)) {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { scenario: "calm", pods: 40, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    with_page(name, &proxy.url(), "", async |page| {
        for kind in ["pods", "deployments", "nodes"] {
            page.reaches(kind, "live", SOON).await;
        }
        test(page, &cluster).await;
    })
    .await;
}

/// Deployments of a few Pods.
async fn deployments(cluster: &Cluster) -> Vec<Value> {
    let all = cluster.get("/apis/apps/v1/deployments").await;
    let several = |one: &&Value| one["spec"]["replicas"].as_u64().is_some_and(|count| (2..=7).contains(&count));
    all["items"].as_array().into_iter().flatten().filter(several).cloned().collect()
}

/// Namespace and name.
fn named(object: &Value) -> (&str, &str) {
    let [namespace, name] = ["namespace", "name"].map(|of| object["metadata"][of].as_str().expect("a name"));
    (namespace, name)
}

/// Gives the first container of a Deployment another member.
async fn change(cluster: &Cluster, deployment: &Value, member: &str, value: Value) {
    let (namespace, name) = named(deployment);
    let mut containers = deployment["spec"]["template"]["spec"]["containers"].clone();
    containers[0][member] = value;
    let template = json!({ "spec": { "template": { "spec": { "containers": containers } } } });
    cluster.patch(&format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}"), &template).await;
}

impl Job<'_> {
    /// Waits until both were read: the change in one of the first two rows, whole wherever it stands, and the entry. Prints how
    /// long each took.
    async fn is_read(&self, page: &Page) {
        let began = Instant::now();
        let width: u32 = page.read("return innerWidth", Vec::new()).await;
        let all = |words: &[&str], text: &String| words.iter().all(|word| text.contains(word));
        let seen = async || page.read::<(Vec<String>, Vec<String>, Vec<String>)>(SEEN, Vec::new()).await;
        let is_whole = |cut: &[String]| !cut.iter().any(|value| value.contains(self.value));
        let (mut caused, mut named, mut was_whole) = (None, None, false);
        wait_until(&format!("{} is read at {width} pixels", self.object), self.within, async || {
            let (rows, wrong, cut) = seen().await;
            let is_cause = |row: &String| row.contains(self.object) && all(self.cause, row);
            let at = rows.iter().position(is_cause);
            was_whole |= at.is_some() && is_whole(&cut);
            caused = caused.or(at.filter(|at| *at < 2).map(|at| (at, began.elapsed())));
            let is_named = self.wrong.is_empty() || wrong.iter().any(|entry| all(self.wrong, entry));
            named = named.or(is_named.then(|| began.elapsed()));
            let is_read = caused.is_some() && was_whole && named.is_some();
            holds(is_read, || format!("{caused:?} {was_whole} {named:?}: {:#?} {wrong:#?} cut: {cut:#?}", rows.first()))
        })
        .await;
        let ((row, caused), named) = (caused.expect("a row"), named.expect("an entry"));
        println!("{} at {width}: row {} after {caused:.1?}, wrong now after {named:.1?}", self.object, row + 1);
    }
}

#[tokio::test]
async fn the_cause_of_a_bad_rollout_is_read_first_with_its_value() {
    with_feed("the_cause_of_a_bad_rollout_is_read_first_with_its_value", async |page, cluster| {
        let deployments = deployments(cluster).await;
        assert!(deployments.len() >= SIZES.len(), "{} Deployments of a few Pods", deployments.len());
        // Each window has a Deployment of its own: a second change of the same one stands where its first one stands.
        for (deployment, ((width, height), tag)) in deployments.iter().zip(SIZES.into_iter().zip(VALUES).rev()) {
            let (namespace, name) = named(deployment);
            let object = format!("{namespace}/{name}");
            let image = deployment["spec"]["template"]["spec"]["containers"][0]["image"].as_str().expect("an image");
            let repository = image.rsplit_once(':').map_or(image, |(repository, _)| repository);
            viewport(page, width, height).await;
            change(cluster, deployment, "image", json!(format!("{repository}:{tag}"))).await;
            let wrong = [name, "cannot pull", "began with", tag];
            Job { object: &object, cause: &[tag], wrong: &wrong, value: "typo", within: SOON }.is_read(page).await;
        }
        page.click("feed-failing").await;
        wait_until("the Event says why", SOON, async || {
            let words = page.text("feed").await;
            holds(words.contains("Failed to pull image"), || words)
        })
        .await;
    })
    .await;
}

#[tokio::test]
async fn the_cause_of_a_crash_loop_is_read_first_with_its_exit_code() {
    with_feed("the_cause_of_a_crash_loop_is_read_first_with_its_exit_code", async |page, cluster| {
        for (deployment, (width, height)) in deployments(cluster).await.iter().zip(SIZES) {
            let (namespace, name) = named(deployment);
            let object = format!("{namespace}/{name}");
            viewport(page, width, height).await;
            change(cluster, deployment, "command", json!(["sh", "-c", "exit 1"])).await;
            let wrong = [name, "crash", "exit code 1", "began with", "command"];
            Job { object: &object, cause: &["command", "exit 1"], wrong: &wrong, value: "exit 1", within: SOON }
                .is_read(page)
                .await;
        }
    })
    .await;
}

#[tokio::test]
async fn a_node_that_is_lost_is_read_first_with_its_pods() {
    with_feed("a_node_that_is_lost_is_read_first_with_its_pods", async |page, cluster| {
        let nodes = cluster.get("/api/v1/nodes").await;
        let name = nodes["items"][0]["metadata"]["name"].as_str().expect("a name").to_owned();
        cluster.control(&format!("node?name={name}&down=true")).await;
        let wrong = [name.as_str(), "not ready", "on it"];
        for (width, height) in SIZES {
            viewport(page, width, height).await;
            Job { object: &name, cause: &["Ready", "Unknown"], wrong: &wrong, value: "Unknown", within: MISSED }
                .is_read(page)
                .await;
        }
    })
    .await;
}

#[tokio::test]
async fn an_autoscaler_that_goes_to_and_fro_is_read_first_with_both_numbers() {
    with_feed("an_autoscaler_that_goes_to_and_fro_is_read_first_with_both_numbers", async |page, cluster| {
        let deployments = deployments(cluster).await;
        let deployment = deployments.first().expect("a Deployment of a few Pods");
        let (namespace, name) = named(deployment);
        let object = format!("{namespace}/{name}");
        let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
        let scaled = deployment["spec"]["replicas"].as_u64().expect("a number");
        let scale = async |replicas: u64| {
            cluster.patch(&path, &json!({ "spec": { "replicas": replicas } })).await;
            // The page receives each change by itself.
            let status =
                "return kubechurn.rows('deployments').find(row => row.key === arguments[0])?.cells.READY ?? ''";
            let shown = format!("/{replicas}");
            wait_until(&format!("{replicas} replicas are shown"), SOON, async || {
                let ready: String = page.read(status, vec![json!(object)]).await;
                holds(ready.ends_with(&shown), || ready)
            })
            .await;
        };
        viewport(page, SIZES[0].0, SIZES[0].1).await;
        scale(9).await;
        let first = format!("{scaled} → 9");
        Job { object: &object, cause: &["replicas", &first], wrong: &[], value: "→", within: SOON }.is_read(page).await;
        for replicas in [scaled, 9, scaled, 9, scaled, 9] {
            scale(replicas).await;
        }
        let card = "return document.querySelector('[data-testid=card]')?.textContent ?? ''";
        for (width, height) in SIZES {
            viewport(page, width, height).await;
            wait_until(&format!("a card says it at {width} pixels"), SOON, async || {
                let card: String = page.read(card, Vec::new()).await;
                let numbers = [format!("{scaled} ⇄ 9"), format!("9 ⇄ {scaled}")];
                let is_said = card.contains(name) && numbers.iter().any(|numbers| card.contains(numbers));
                holds(is_said, || card)
            })
            .await;
        }
        let link = "return document.querySelector('[data-testid=card] a').getAttribute('href')";
        let link: String = page.read(link, Vec::new()).await;
        assert!(link.starts_with("#/") && link.contains("sel="), "{link}");
    })
    .await;
}
