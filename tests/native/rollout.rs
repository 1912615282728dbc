//! A rollout and the life of its Pods, on the demo cluster, by what the cluster itself says of them.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::kubectl::Kubectl;
use kubechurn_model::feed::{FeedCommand, FeedRow};
use kubechurn_model::page::command::Command;
use kubechurn_model::recording::Selected;
use kubechurn_model::view::life::LifeModel;
use kubechurn_model::view::rollout::RolloutModel;
use kubechurn_model::why::WhyCommand;
use kubechurn_recording::Header;

use crate::page::{Page, with_page};
use crate::recording::Opened;

const SOON: Duration = Duration::from_secs(90);

/// A Deployment of the cluster whose Pods are all ready, and the name of its container.
async fn deployment(cluster: &Cluster) -> (String, String, String) {
    let all = cluster.get("/apis/apps/v1/deployments").await;
    let is_ready = |one: &&Value| one["spec"]["replicas"].as_u64() > Some(1);
    let first = all["items"].as_array().and_then(|all| all.iter().find(is_ready)).expect("a Deployment");
    let [namespace, name] = ["namespace", "name"].map(|of| first["metadata"][of].as_str().expect("a name").to_owned());
    let container = &first["spec"]["template"]["spec"]["containers"][0]["name"];
    (namespace, name, container.as_str().expect("a name").to_owned())
}

async fn rollout(page: &Page, what: &str, is_it: impl Fn(&RolloutModel) -> bool) -> RolloutModel {
    page.in_time(what, SOON, async || {
        let rollout = page.view(|view| view.feed.why.as_ref().and_then(|why| why.rollout.clone()));
        rollout.clone().filter(&is_it).ok_or_else(|| format!("{rollout:#?}"))
    })
    .await
}

/// Where a row of the feed leads that began a rollout with such a value.
async fn href(page: &Page, value: &str) -> String {
    page.command(Command::Feed(FeedCommand::Scroll { top: 0.0, height: 1e6, width: 900.0 }));
    page.in_time("a row leads to the rollout", SOON, async || {
        let rows = page.view(|view| view.feed.window.rows.clone());
        let is_it =
            |row: &&FeedRow| !row.rollout.is_empty() && row.words.iter().any(|piece| piece.text.contains(value));
        rows.iter().find(is_it).map(|row| row.rollout.clone()).ok_or_else(|| format!("{rows:?}"))
    })
    .await
}

fn fact<'a>(rollout: &'a RolloutModel, name: &str) -> &'a str {
    rollout.facts.iter().find(|fact| fact.name == name).map_or("", |fact| &fact.words)
}

#[tokio::test]
async fn a_rollout_that_fails_stands_beside_the_one_that_went_well() {
    let cluster = Cluster::start(&Options { scenario: "calm", pods: 40, ..Options::default() }).await;
    with_page(cluster.port(), "#/changes", async |page| {
        for kind in ["pods", "deployments", "replicasets", "events"] {
            page.reaches(kind, "live", SOON).await;
        }
        let (namespace, name, container) = deployment(&cluster).await;
        let path = format!("/apis/apps/v1/namespaces/{namespace}/deployments/{name}");
        let with_image = |image: &str| {
            let containers = json!([{"name": container, "image": image}]);
            json!({"spec": {"template": {"spec": {"containers": containers}}}})
        };
        cluster.patch(&path, &with_image("registry.example/web:2")).await;
        page.open(&href(page, "web:2").await);
        let good =
            rollout(page, "the first rollout is done", |one| one.bars.first().is_some_and(|bar| bar.is_well)).await;
        // What its controller and its kubelets wrote.
        let own = cluster.get(&path).await;
        let revision =
            own["metadata"]["annotations"]["deployment.kubernetes.io/revision"].as_str().expect("a revision");
        assert!(good.summary.starts_with(&format!("revision {revision}: done in ")), "{}", good.summary);
        let words: Vec<&str> = good.bars[0].stretches.iter().map(|one| &*one.words).collect();
        let all = words.join(", ");
        for step in
            ["seen", "ReplicaSet ", "first Pod", "scheduled", "pulled", "started", "first ready", "all ready", "done"]
        {
            assert!(all.contains(step), "{step}: {all}");
        }
        let events = cluster.get(&format!("/api/v1/namespaces/{namespace}/events")).await;
        let events = events["items"].as_array().expect("Events");
        let pulls = events
            .iter()
            .filter_map(|event| event["message"].as_str())
            .filter(|message| message.contains("web:2\" in "));
        let times: Vec<&str> = pulls.filter_map(|message| message.split("\" in ").nth(1)?.split(' ').next()).collect();
        assert!(times.iter().any(|time| all.contains(&format!("pulled, {time}"))), "{times:?}: {all}");
        assert!(good.bars[0].stretches.iter().all(|one| !one.is_from_object && !one.href.is_empty()), "{good:#?}");
        assert!(fact(&good, "asked for").contains("→ web:2"), "{good:#?}");
        assert!(good.fields.contains("differs: ") || good.fields.contains("differ: "), "{}", good.fields);

        // The next one cannot pull.
        cluster.patch(&path, &with_image("registry.example/web:3-typo")).await;
        page.open("#/changes");
        href(page, "3-typo").await;
        page.open(&format!("#/deployments?sel={namespace}/{name}"));
        page.reaches("deployments", "live", SOON).await;
        page.command(Command::Why(WhyCommand::Ask));
        let bad = rollout(page, "the second rollout fails", |one| {
            one.bars.len() == 2 && one.parted.is_some() && one.bars[0].stretches.iter().any(|one| one.what == "bad")
        })
        .await;
        assert!(bad.against.starts_with("The same until +") && bad.against.contains("Image"), "{}", bad.against);
        assert!(bad.fields.contains(", 1 differs: ") && !bad.compare.is_empty(), "{bad:#?}");
        assert!(
            fact(&bad, "waits for").contains("pulls again") || fact(&bad, "waits for").contains("given up"),
            "{bad:#?}"
        );
        let waits =
            bad.facts.iter().filter(|fact| fact.name == "waits for").any(|fact| fact.words.contains("given up in"));
        assert!(waits && bad.bars[0].stretches.iter().any(|one| one.what == "left"), "{bad:#?}");
        assert!(bad.bars[1].is_well && bad.bars[1].outcome.starts_with("✓ done, "), "{bad:#?}");
        // In the feed it is one row, which leads here.
        let text = page.view(|view| view.feed.why.as_ref().map(|why| why.text()).unwrap_or_default());
        assert!(text.contains("The rollout, against the last good one:") && text.contains("✕ "), "{text}");
        let at = page.view(|view| view.feed.why.as_ref().map_or(0.0, |why| why.at));
        page.open("#/changes");
        let href = href(page, "3-typo").await;
        page.open(&href);
        rollout(page, "the row leads to a rollout", |one| !one.bars.is_empty()).await;
        // At another moment it is as it was then, and in a recording as it is in the page.
        let then = kubechurn_model::navigation::range::moment_written(at + 1.0);
        let place = format!("#/why?of=deployments/{namespace}/{name}&since={then}");
        page.open(&format!("{place}&at={then}"));
        let was = rollout(page, "it is known what was known then", |one| !one.bars.is_empty()).await;
        assert!(!was.bars[0].stretches.iter().any(|one| one.what == "bad") || was.parted.is_some(), "{was:#?}");
        page.open(&place);
        let now = rollout(page, "it is as it is now", |one| one.bars.len() == 2 && one.parted.is_some()).await;
        let blocks = page.look(|page, _| page.reports().recording(Header::default(), Selected::default()));
        let opened = Opened::of(&blocks, &place);
        let read = opened.look(|model, _| model.view().feed.why.as_ref().and_then(|why| why.rollout.clone()));
        let read = read.expect("the recording has the rollout");
        assert_eq!(read.fields, now.fields);
        assert_eq!(read.bars.len(), 2, "{read:#?}");
    })
    .await;
}

async fn life(page: &Page, what: &str, is_it: impl Fn(&LifeModel) -> bool) -> LifeModel {
    page.in_time(what, SOON, async || {
        let life = page.view(|view| (*view.inspector.life).clone());
        life.clone().filter(&is_it).ok_or_else(|| format!("{life:#?}"))
    })
    .await
}

#[tokio::test]
async fn a_pod_s_life_goes_from_its_creation_to_its_end() {
    let cluster = Cluster::start(&Options { scenario: "calm", pods: 20, ..Options::default() }).await;
    with_page(cluster.port(), "#/pods,events", async |page| {
        for kind in ["pods", "events"] {
            page.reaches(kind, "live", SOON).await;
        }
        let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "short", "namespace": "default", "uid": "short"},
            "spec": {"containers": [{"name": "main", "image": "registry.example/main:1"}]}});
        cluster.put(&pod).await;
        page.open("#/pods,events?sel=pods/default/short");
        let up = life(page, "the Pod is there", |life| !life.lines.is_empty()).await;
        assert!(up.to == "now" && up.end.is_empty(), "{up:#?}");
        cluster.delete("/api/v1/namespaces/default/pods/short").await;
        let over = life(page, "the Pod is gone", |life| life.to != "now").await;
        let all = over.end.join(" ");
        assert!(all.contains("by whom is not known") && all.contains("Gone at"), "{all}");
        assert!(over.lines.iter().all(|line| line.stretches.iter().all(|one| one.left + one.width <= 100.5)), "{over:#?}");
    })
    .await;
}

/// The words of the steps that a rollout has reached.
fn steps(rollout: &RolloutModel) -> String {
    let words: Vec<&str> = rollout.bars[0].stretches.iter().map(|one| &*one.words).collect();
    words.join(", ")
}

#[tokio::test]
async fn rollouts_of_daemon_sets_stateful_sets_and_jobs_have_their_steps() {
    let cluster = Cluster::start(&Options { scenario: "calm", pods: 20, ..Options::default() }).await;
    let kubectl = Kubectl::new(&format!("http://127.0.0.1:{}", cluster.port()));
    let kinds = "daemonsets,statefulsets,jobs,controllerrevisions";
    with_page(cluster.port(), &format!("#/changes?pin={kinds}"), async |page| {
        for kind in kinds.split(',').chain(["pods", "events"]) {
            page.reaches(kind, "live", SOON).await;
        }
        let template = |policy: &str| {
            json!({"metadata": {"labels": {"app": "agent"}}, "spec": {"restartPolicy": policy,
                "terminationGracePeriodSeconds": 0, "containers": [{"name": "agent", "image": "registry.example/agent:1"}]}})
        };
        let workloads = [
            ("DaemonSet", "agents", json!({"selector": {"matchLabels": {"app": "agent"}}, "template": template("Always")})),
            (
                "StatefulSet",
                "store",
                json!({"replicas": 1, "serviceName": "store", "selector": {"matchLabels": {"app": "agent"}},
                    "template": template("Always")}),
            ),
            ("Job", "once", json!({"template": template("Never")})),
        ];
        let plural = |kind: &str| format!("{}s", kind.to_lowercase());
        for (kind, name, spec) in &workloads {
            let group = if *kind == "Job" { "batch/v1" } else { "apps/v1" };
            let object = json!({"apiVersion": group, "kind": kind, "metadata": {"name": name, "namespace": "default"}, "spec": spec});
            kubectl.run("create -f -", &object.to_string()).await;
        }
        for (kind, name, _) in &workloads {
            page.open(&format!("#/{}?sel=default/{name}&pin={kinds}", plural(kind)));
            page.command(Command::Why(WhyCommand::Ask));
            let is_done = |one: &RolloutModel| one.bars.first().is_some_and(|bar| bar.is_well);
            let done = rollout(page, "the first rollout is done", is_done).await;
            let steps = steps(&done);
            let expected = match *kind {
                "Job" => &["first Pod", "scheduled", "pulled", "started", "done"][..],
                _ => &["seen", "ControllerRevision ", "first Pod", "scheduled", "pulled", "started", "all ready", "done"],
            };
            assert!(expected.iter().all(|step| steps.contains(step)), "{kind}: {steps}");
            assert_eq!(fact(&done, "asked for"), "the workload was created", "{kind}: {done:#?}");
            assert!(fact(&done, "by").starts_with("kubectl-create"), "{kind}: {done:#?}");
        }
        // Another version, whose rollout a row of the feed leads to.
        for (kind, name, _) in &workloads[..2] {
            let image = format!("registry.example/{name}:2");
            let patch = json!({"spec": {"template": {"spec": {"containers": [{"name": "agent", "image": image}]}}}});
            cluster.patch(&format!("/apis/apps/v1/namespaces/default/{}/{name}", plural(kind)), &patch).await;
            page.open(&format!("#/changes?pin={kinds}"));
            let href = href(page, &format!("{name}:2")).await;
            assert!(href.contains(&format!("{}/default/{name}", plural(kind))), "{href}");
            page.open(&format!("{href}&pin={kinds}"));
            let has_both = |one: &RolloutModel| {
                let steps = steps(one);
                one.bars.len() == 2 && ["ControllerRevision ", "first Pod"].iter().all(|step| steps.contains(step))
            };
            let second = rollout(page, "the second rollout has a revision and a Pod", has_both).await;
            assert!(fact(&second, "asked for").contains(&format!("→ {name}:2")), "{kind}: {second:#?}");
            assert!(second.fields.contains("1 differs: "), "{kind}: {}", second.fields);
            assert!(second.bars[1].is_well, "{kind}: {second:#?}");
        }
    })
    .await;
}
