//! What *What changed* says at a glance, in the four jobs of whoever is called at night: what was changed is the first thing
//! that is read, with its value; what is wrong stands above it; and the reason is one click away.

use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::{Value, json};

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::page::{Page, with_page};
use kubechurn_harness::wait::{holds, wait_until};

use crate::page::live::{started, viewport};

const SOON: Duration = Duration::from_secs(20);
/// The demo cluster misses a node after 20 s.
const MISSED: Duration = Duration::from_secs(60);
const SIZES: [(u32, u32); 2] = [(1440, 900), (1024, 700)];
/// As long as a value may be at 1440 and at 1024 pixels without being cut.
const VALUES: [&str; 2] = ["3-typo-0123456789abcdefghijklmnopqrstuvw", "2-typo-0123456789abcdefg"];

/// A height, in CSS pixels, at which every row of the feed is drawn, however much else happens meanwhile.
const TALL: u32 = 6000;

/// The changes of the feed: of what, in words, since when, and how far indented; the words of *Wrong now*; and the values that
/// are cut in the feed.
const SEEN: &str = "
    const words = [...document.querySelectorAll('.feed-line:first-child > .feed-words')];
    const cut = words.flatMap(words => {
        const right = words.getBoundingClientRect().right;
        const values = [...words.querySelectorAll('[data-what=new], [data-what=old]')];
        return values.filter(one => one.getBoundingClientRect().right > right + 1).map(one => one.textContent);
    });
    const rows = [...document.querySelectorAll('[data-testid=feed-row][data-what=change]')].map(row => ({
        subject: row.querySelector('.feed-name').title,
        text: row.textContent,
        at: Number(row.querySelector('time').dataset.at),
        depth: Number(row.dataset.depth),
    }));
    const entries = [...document.querySelectorAll('.wrong-entry')];
    return [rows, entries.map(entry => entry.textContent), cut]";

/// Whether the first two rows of the feed are in sight.
const FITS: &str = "
    const second = document.querySelectorAll('.feed-rows > li')[1];
    return second?.getBoundingClientRect().bottom <= document.getElementById('feed').getBoundingClientRect().bottom";

/// A change in the feed.
#[derive(Debug, Deserialize)]
struct Row {
    /// Kind and name; of several objects, how many of which.
    subject: String,
    text: String,
    /// When it began, in milliseconds.
    at: f64,
    depth: u8,
}

/// What must be read of an incident.
struct Job<'a> {
    /// The object that was changed: kind and name.
    object: &'a str,
    /// What changes because of it, if it is a Deployment: its ReplicaSets.
    sets: Option<(&'a Cluster, &'a Value)>,
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
    let (_turn, cluster, proxy) = started(&Options { scenario: "calm", pods: 40, ..Options::default() }).await;
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

/// The names of a Deployment's ReplicaSets.
async fn sets_of(cluster: &Cluster, deployment: &Value) -> Vec<String> {
    let all = cluster.get("/apis/apps/v1/replicasets").await;
    let is_of = |set: &&Value| set["metadata"]["ownerReferences"][0]["uid"] == deployment["metadata"]["uid"];
    let sets = all["items"].as_array().into_iter().flatten().filter(is_of);
    sets.filter_map(|set| set["metadata"]["name"].as_str().map(str::to_owned)).collect()
}

/// The rows that must not stand above the row of a cause: blocks that began before it, and blocks about what it caused. What
/// began later, and has nothing to do with it, is rightly above, however much that is.
fn wrongly_above<'a>(rows: &'a [Row], cause: &Row, caused: &[String]) -> Vec<&'a Row> {
    let above = rows.iter().take_while(|row| !std::ptr::eq(*row, cause)).filter(|row| row.depth == 0);
    let is_caused = |row: &Row| {
        let is_about = caused.iter().any(|name| row.subject.contains(&**name));
        // A Pod may be deleted by somebody, and its row is a cause then.
        is_about && row.subject != cause.subject && !row.subject.starts_with("Pod ")
    };
    above.filter(|row| row.at < cause.at || is_caused(row)).collect()
}

impl Job<'_> {
    /// Waits until both are read: the change, whole, above all that is older and all that came of it; and the entry. Then two
    /// rows are in sight in a window of this height. Prints how long it took.
    async fn is_read(&self, page: &Page, (width, height): (u32, u32)) {
        let began = Instant::now();
        viewport(page, width, TALL).await;
        let all = |words: &[&str], text: &str| words.iter().all(|word| text.contains(word));
        let above = wait_until(&format!("{} is read at {width} pixels", self.object), self.within, async || {
            let caused = match self.sets {
                Some((cluster, deployment)) => sets_of(cluster, deployment).await,
                None => vec![self.object.rsplit(' ').next().unwrap_or_default().to_owned()],
            };
            let (rows, wrong, cut): (Vec<Row>, Vec<String>, Vec<String>) = page.read(SEEN, Vec::new()).await;
            let is_cause = |row: &Row| row.subject == self.object && row.depth == 0 && all(self.cause, &row.text);
            let at = rows.iter().position(is_cause);
            let above = at.map(|at| wrongly_above(&rows, &rows[at], &caused));
            let is_whole = !cut.iter().any(|value| value.contains(self.value));
            let is_named = self.wrong.is_empty() || wrong.iter().any(|entry| all(self.wrong, entry));
            match at.filter(|_| above.as_ref().is_some_and(Vec::is_empty) && is_whole && is_named) {
                Some(at) => Ok(rows.into_iter().take(at).map(|row| row.subject).collect::<Vec<_>>()),
                None => Err(format!("{at:?} below {above:#?}, of {caused:?}: {rows:#?} {wrong:#?} cut: {cut:#?}")),
            }
        })
        .await;
        println!("{} at {width}: after {:.1?}, below {above:?}", self.object, began.elapsed());
        viewport(page, width, height).await;
        page.becomes("two rows are in sight", FITS, json!(true)).await;
    }
}

#[tokio::test]
async fn the_cause_of_a_bad_rollout_is_read_first_with_its_value() {
    with_feed("the_cause_of_a_bad_rollout_is_read_first_with_its_value", async |page, cluster| {
        let deployments = deployments(cluster).await;
        assert!(deployments.len() >= SIZES.len(), "{} Deployments of a few Pods", deployments.len());
        // Each window has a Deployment of its own: a second change of the same one stands where its first one stands.
        for (deployment, (size, tag)) in deployments.iter().zip(SIZES.into_iter().zip(VALUES).rev()) {
            let (namespace, name) = named(deployment);
            let object = format!("Deployment {namespace}/{name}");
            let image = deployment["spec"]["template"]["spec"]["containers"][0]["image"].as_str().expect("an image");
            let repository = image.rsplit_once(':').map_or(image, |(repository, _)| repository);
            change(cluster, deployment, "image", json!(format!("{repository}:{tag}"))).await;
            let wrong = [name, "cannot pull", "began with", tag];
            let sets = Some((cluster, deployment));
            Job { object: &object, sets, cause: &[tag], wrong: &wrong, value: "typo", within: SOON }
                .is_read(page, size)
                .await;
        }
        // In a window that is as wide as most, no value of any row is cut.
        viewport(page, 1920, 1080).await;
        wait_until("no value is cut", SOON, async || {
            let (rows, _, cut): (Vec<Row>, Vec<String>, Vec<String>) = page.read(SEEN, Vec::new()).await;
            holds(rows.len() > 1 && cut.is_empty(), || format!("{cut:#?} of {}", rows.len()))
        })
        .await;
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
        for (deployment, size) in deployments(cluster).await.iter().zip(SIZES) {
            let (namespace, name) = named(deployment);
            let object = format!("Deployment {namespace}/{name}");
            change(cluster, deployment, "command", json!(["sh", "-c", "exit 1"])).await;
            let wrong = [name, "crash", "exit code 1", "began with", "command"];
            let sets = Some((cluster, deployment));
            Job { object: &object, sets, cause: &["command", "exit 1"], wrong: &wrong, value: "exit 1", within: SOON }
                .is_read(page, size)
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
        let object = format!("Node {name}");
        for size in SIZES {
            let cause = &["Ready", "Unknown"];
            Job { object: &object, sets: None, cause, wrong: &wrong, value: "Unknown", within: MISSED }
                .is_read(page, size)
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
        let key = format!("{namespace}/{name}");
        let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
        let scaled = deployment["spec"]["replicas"].as_u64().expect("a number");
        let scale = async |replicas: u64| {
            cluster.patch(&path, &json!({ "spec": { "replicas": replicas } })).await;
            // The page receives each change by itself.
            let status =
                "return kubechurn.rows('deployments').find(row => row.key === arguments[0])?.cells.READY ?? ''";
            let shown = format!("/{replicas}");
            wait_until(&format!("{replicas} replicas are shown"), SOON, async || {
                let ready: String = page.read(status, vec![json!(key)]).await;
                holds(ready.ends_with(&shown), || ready)
            })
            .await;
        };
        scale(9).await;
        let (object, first) = (format!("Deployment {key}"), format!("{scaled} → 9"));
        let sets = Some((cluster, deployment));
        Job { object: &object, sets, cause: &["replicas", &first], wrong: &[], value: "→", within: SOON }
            .is_read(page, SIZES[0])
            .await;
        for replicas in [scaled, 9, scaled, 9, scaled, 9] {
            scale(replicas).await;
        }
        // The words of each card, and where it leads.
        let cards = "return [...document.querySelectorAll('[data-testid=card]')]
            .map(card => [card.textContent, card.querySelector('a').getAttribute('href')])";
        let numbers = [format!("{scaled} ⇄ 9"), format!("9 ⇄ {scaled}")];
        for (width, height) in SIZES {
            viewport(page, width, height).await;
            let link = wait_until(&format!("a card says it at {width} pixels"), SOON, async || {
                let cards: Vec<(String, String)> = page.read(cards, Vec::new()).await;
                let is_said =
                    |card: &str| card.contains(name) && numbers.iter().any(|numbers| card.contains(&**numbers));
                let said = cards.iter().find(|(card, _)| is_said(card)).map(|(_, link)| link.clone());
                said.ok_or_else(|| format!("{cards:?}"))
            })
            .await;
            assert!(link.starts_with("#/") && link.contains("sel="), "{link}");
        }
    })
    .await;
}

#[test]
fn what_is_older_or_was_caused_is_wrongly_above_a_cause() {
    let row = |subject: &str, at: f64, depth: u8| Row { subject: subject.into(), text: String::new(), at, depth };
    let cause = || row("Deployment shop/cart", 10.0, 0);
    let caused = [String::from("cart-1")];
    for (above, is_wrong) in [
        (row("Job shop/later", 11.0, 0), false),
        (row("ReplicaSet shop/cart-1", 11.0, 1), false),
        (row("Deployment shop/cart", 12.0, 0), false),
        (row("Pod shop/cart-1-x", 12.0, 0), false),
        (row("Job shop/older", 9.0, 0), true),
        (row("ReplicaSet shop/cart-1", 11.0, 0), true),
        (row("Event of ReplicaSet cart-1", 11.0, 0), true),
        (row("2 Pods of ReplicaSet cart-1", 11.0, 0), true),
    ] {
        let rows = [above, cause(), row("Job shop/older", 9.0, 0)];
        assert_eq!(!wrongly_above(&rows, &rows[1], &caused).is_empty(), is_wrong, "{:?}", rows[0]);
    }
}
