//! What *What changed* says at a glance: the cause of a bad rollout is the first thing that is read, with its value.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::page::with_page;
use kubechurn_harness::proxy::KubectlProxy;
use kubechurn_harness::turn;
use kubechurn_harness::wait::{holds, wait_until};

use crate::live::viewport;

const SOON: Duration = Duration::from_secs(20);
/// As long as a value may be at 1024 and at 1440 pixels without being cut.
const VALUES: [(u32, u32, &str); 2] =
    [(1024, 700, "2-typo-0123456789abcdefg"), (1440, 900, "3-typo-0123456789abcdefghijklmnopqrstuvw")];

/// The words of the first rows of the feed; of *Wrong now*; and the values that are cut in the feed.
const SEEN: &str = "
    const cut = [...document.querySelectorAll('.feed-line:first-child > .feed-words')].flatMap(words => {
        const right = words.getBoundingClientRect().right;
        const values = [...words.querySelectorAll('[data-what=new], [data-what=old]')];
        return values.filter(one => one.getBoundingClientRect().right > right + 1).map(one => one.textContent);
    });
    const rows = [...document.querySelectorAll('[data-testid=feed-row]')].filter(row => row.dataset.what !== 'noise');
    return [rows.slice(0, 2).map(row => row.textContent),
        [...document.querySelectorAll('[data-testid=wrong-entry]')].map(entry => entry.textContent), cut]";

#[tokio::test]
async fn the_cause_of_a_bad_rollout_is_read_first_with_its_value() {
    let _turn = turn::shared().await;
    let cluster = Cluster::start(&Options { scenario: "calm", pods: 40, ..Options::default() }).await;
    let proxy = KubectlProxy::start(cluster.port()).await;
    let name = "the_cause_of_a_bad_rollout_is_read_first_with_its_value";
    // Without an address the page begins with what changed.
    with_page(name, &proxy.url(), "", async |page| {
        page.reaches("pods", "live", SOON).await;
        page.reaches("deployments", "live", SOON).await;
        let all = cluster.get("/apis/apps/v1/deployments").await;
        let several = |one: &&Value| one["spec"]["replicas"].as_u64().is_some_and(|count| (2..=7).contains(&count));
        // Each window has a Deployment of its own: a second change of the same one stands where its first one stands.
        let deployments: Vec<&Value> = all["items"].as_array().into_iter().flatten().filter(several).collect();
        assert!(deployments.len() >= VALUES.len(), "{} Deployments of a few Pods", deployments.len());
        for (deployment, (width, height, tag)) in deployments.into_iter().zip(VALUES) {
            let (namespace, own) = (&deployment["metadata"]["namespace"], &deployment["metadata"]["name"]);
            let (namespace, own) = (namespace.as_str().unwrap(), own.as_str().unwrap());
            let image = deployment["spec"]["template"]["spec"]["containers"][0]["image"].as_str().unwrap();
            let repository = image.rsplit_once(':').map_or(image, |(repository, _)| repository);
            viewport(page, width, height).await;
            let mut containers = deployment["spec"]["template"]["spec"]["containers"].clone();
            containers[0]["image"] = json!(format!("{repository}:{tag}"));
            let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/{own}");
            let template = json!({ "spec": { "template": { "spec": { "containers": containers } } } });
            cluster.patch(&path, &template).await;
            let seen = async || page.read::<(Vec<String>, Vec<String>, Vec<String>)>(SEEN, Vec::new()).await;
            let is_whole = |cut: &[String]| !cut.iter().any(|value| value.contains("typo"));
            wait_until(&format!("the cause is among the first rows at {width} pixels"), SOON, async || {
                let (rows, _, cut) = seen().await;
                let is_cause = |row: &String| row.contains(&format!("{namespace}/{own}")) && row.contains(tag);
                holds(rows.iter().any(is_cause) && is_whole(&cut), || format!("{rows:#?} cut: {cut:#?}"))
            })
            .await;
            wait_until(&format!("it is wrong now, and began with {tag}"), SOON, async || {
                let (_, wrong, cut) = seen().await;
                let entry = wrong.iter().find(|entry| entry.contains(own) && entry.contains("cannot pull"));
                let is_begun = entry.is_some_and(|entry| entry.contains("began with") && entry.contains(tag));
                holds(is_begun && is_whole(&cut), || format!("{wrong:#?} cut: {cut:#?}"))
            })
            .await;
        }
    })
    .await;
}
