//! An incident: it opens from what is wrong, by its address and by a key, and says the same after a reload, at another moment and
//! in a recording.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::handles::Mark;
use kubechurn_harness::wait::{holds, wait_until};
use kubechurn_model::page::command::Command;
use kubechurn_model::page::environment::Environment;
use kubechurn_model::recording::Selected;
use kubechurn_model::rewind::banner::RewindCommand;
use kubechurn_model::view::why::{CauseRow, WhyModel};
use kubechurn_model::why::WhyCommand;
use kubechurn_recording::Header;

use crate::page::{Page, with_page};
use crate::recording::Opened;

const SOON: Duration = Duration::from_secs(30);
const IMAGE: &str = "example/web:1.4.2-typo";

fn template(image: &str) -> Value {
    json!({"metadata": {"labels": {"app": "web"}}, "spec": {"serviceAccountName": "web", "containers": [{"name": "web",
        "image": image, "envFrom": [{"configMapRef": {"name": "web-config"}}, {"secretRef": {"name": "web-key"}}]}]}})
}

fn deployment(image: &str, generation: u32, revision: &str) -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop", "uid": "d",
        "generation": generation, "annotations": {"deployment.kubernetes.io/revision": revision}},
        "spec": {"replicas": 3, "template": template(image)}, "status": {"observedGeneration": generation, "replicas": 3}})
}

fn set(name: &str, uid: &str, image: &str, revision: &str) -> Value {
    let owner = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "d", "controller": true}]);
    json!({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name, "namespace": "shop", "uid": uid,
        "ownerReferences": owner, "annotations": {"deployment.kubernetes.io/revision": revision}},
        "spec": {"replicas": 1, "template": template(image)}})
}

fn pod(state: Value) -> Value {
    let owner =
        json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web-2", "uid": "s2", "controller": true}]);
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "web-2-a", "namespace": "shop", "uid": "p",
        "ownerReferences": owner}, "spec": {"nodeName": "n1", "serviceAccountName": "web", "containers": [{"name": "web",
        "image": IMAGE, "envFrom": [{"configMapRef": {"name": "web-config"}}]}]},
        "status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "status": "True"}],
        "containerStatuses": [{"name": "web", "image": IMAGE, "ready": false, "restartCount": 0, "state": state}]}})
}

fn config(level: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web-config", "namespace": "shop", "uid": "c"},
        "data": {"LEVEL": level}})
}

/// A new image that cannot be pulled, after a change of a ConfigMap that does no harm.
async fn break_it(cluster: &Cluster, page: &Page) {
    for object in
        [deployment("example/web:1.4.1", 1, "1"), set("web-1", "s1", "example/web:1.4.1", "1"), config("info")]
    {
        cluster.put(&object).await;
    }
    page.reaches("deployments", "live", SOON).await;
    page.reaches("configmaps", "live", SOON).await;
    wait_until("the Deployment is there", SOON, async || {
        holds(page.rows("deployments").iter().any(|row| row.key == "shop/web"), || String::from("it is not"))
    })
    .await;
    for object in
        [config("debug"), deployment(IMAGE, 2, "1"), set("web-2", "s2", IMAGE, "2"), deployment(IMAGE, 2, "2")]
    {
        cluster.put(&object).await;
    }
    cluster.put(&pod(json!({"waiting": {"reason": "ContainerCreating"}}))).await;
    cluster.put(&pod(json!({"waiting": {"reason": "ErrImagePull", "message": "not found"}}))).await;
}

/// The incident, once its causes are known.
async fn shown(page: &Page) -> WhyModel {
    page.in_time("the incident is shown", SOON, async || {
        let why = page.view(|view| (*view.feed.why).clone());
        match why.filter(|why| !why.is_searching && !why.words.is_empty()) {
            Some(why) => Ok(why),
            None => Err(format!("{:?}", page.view(|view| (*view.feed.why).clone()))),
        }
    })
    .await
}

#[track_caller]
fn check(why: &WhyModel, secrets: &str) {
    assert_eq!(why.title(), format!("Deployment shop/web: 1 of 3 Pods cannot pull {IMAGE}"));
    let causes: Vec<(&str, &str)> = why.causes.iter().map(|cause| (&*cause.title, cause.proof)).collect();
    assert_eq!(causes[0], ("The image was changed", "proven"), "{causes:?}");
    assert!(causes[1..].iter().all(|(_, proof)| *proof != "proven"), "{causes:?}");
    assert!(causes.contains(&("ConfigMap web-config was changed", "time")), "{causes:?}");
    assert!(why.causes[0].checks.iter().all(|(holds, ..)| *holds), "{:?}", why.causes[0].checks);
    assert!(!why.causes[0].href.is_empty());
    let trail: Vec<(&str, bool)> = why.trail.iter().map(|step| (&*step.what, step.is_proven)).collect();
    let steps = ["Deployment shop/web", "ReplicaSet web-2", "Pod web-2-a"];
    assert!(steps.iter().all(|step| trail.contains(&(step, true))), "{trail:?}");
    assert!(why.unchanged.starts_with("No node n1") && !why.unchanged.contains("ConfigMap"), "{}", why.unchanged);
    // An account is among what the page watches by itself, and Secrets are not: they can be watched from here.
    assert!(why.unchanged.contains("ServiceAccount web"), "{}", why.unchanged);
    let unknown: Vec<(&str, &str)> = why.unknown.iter().map(|row| (&*row.words, row.watch.0)).collect();
    assert_eq!(unknown, [("Secret web-key: not watched", secrets)]);
    let text = why.text();
    assert!(text.contains("1. The image was changed (proven)") && text.contains("not watched"), "{text}");
}

#[tokio::test]
async fn an_incident_says_what_changed_before_it_wherever_one_comes_from() {
    let cluster = Cluster::start(&Options { pods: 10, ..Options::default() }).await;
    with_page(cluster.port(), "#/changes", async |page| {
        break_it(&cluster, page).await;
        let href = page
            .in_time("the entry leads to its incident", SOON, async || {
                let rows = page.view(|view| view.feed.wrong.rows.clone());
                let row = rows.iter().find(|row| row.name == "shop/web");
                row.map(|row| row.why_href.clone()).filter(|href| !href.is_empty()).ok_or_else(|| format!("{rows:?}"))
            })
            .await;
        assert!(href.starts_with("#/why?of=deployments/shop/web&since="), "{href}");
        page.open(&href);
        check(&shown(page).await, "secrets");
        // The text leaves the page.
        page.command(Command::Why(WhyCommand::Copy));
        // Esc goes back to where one came from.
        page.command(Command::Leave);
        wait_until("the feed is shown again", SOON, async || {
            holds(page.view(|view| view.feed.why.is_none()), || String::from("it is not"))
        })
        .await;
        // From the row of a table, by a key.
        page.open("#/deployments?sel=shop/web");
        page.reaches("deployments", "live", SOON).await;
        page.command(Command::Why(WhyCommand::Ask));
        check(&shown(page).await, "secrets");
        // At a moment after it began.
        let at = page.view(|view| view.feed.why.as_ref().map_or(0.0, |why| why.at));
        let then = kubechurn_model::navigation::range::moment_written(at + 200.0);
        page.open(&format!("{href}&at={then}"));
        check(&shown(page).await, "secrets");
        // In a recording that is opened at the same address.
        let blocks = page.look(|page, _| page.reports().recording(Header::default(), Selected::default()));
        let opened = Opened::of(&blocks, &href);
        let why = opened.look(|model, _| (*model.view().feed.why).clone()).expect("the incident is shown");
        assert_eq!(
            why.causes.first().map(|cause| (&*cause.title, cause.proof)),
            Some(("The image was changed", "proven"))
        );
        // What is not watched can be watched from there.
        page.command(Command::Rewind(RewindCommand::Live));
        page.open(&href);
        let unknown = shown(page).await.unknown;
        page.command(Command::Pin(unknown[0].watch.0));
        page.reaches("secrets", "live", SOON).await;
        page.in_time("nothing more is offered", SOON, async || {
            let unknown = page.view(|view| view.feed.why.as_ref().map(|why| why.unknown.clone())).unwrap_or_default();
            let is_offered = unknown.iter().any(|row| !row.watch.0.is_empty());
            if is_offered { Err(format!("{unknown:?}")) } else { Ok(()) }
        })
        .await;
    })
    .await;
}

/// Waits until the incident that is shown has this title.
async fn titled(page: &Page, title: &str) {
    page.in_time(title, SOON, async || {
        let why = page.view(|view| (*view.feed.why).clone()).map(|why| why.title());
        if why.as_deref() == Some(title) { Ok(()) } else { Err(format!("{why:?}")) }
    })
    .await;
}

/// Where the entry of *Wrong now* with this kind and name leads.
async fn why_of(page: &Page, kind: &str, name: &str) -> String {
    page.in_time("the entry leads to its incident", SOON, async || {
        let rows = page.view(|view| view.feed.wrong.rows.clone());
        let row = rows.iter().find(|row| row.kind == kind && row.name == name);
        row.map(|row| row.why_href.clone()).filter(|href| !href.is_empty()).ok_or_else(|| format!("{rows:?}"))
    })
    .await
}

#[tokio::test]
async fn an_entry_opens_where_what_owns_the_pods_is_not_watched() {
    let cluster = Cluster::start(&Options { pods: 10, ..Options::default() }).await;
    let mut old = set("web-1", "s1", "example/web:1.4.1", "1");
    old["spec"]["replicas"] = json!(0);
    for object in [old, deployment(IMAGE, 2, "2"), set("web-2", "s2", IMAGE, "2")] {
        cluster.put(&object).await;
    }
    let failing = pod(json!({"waiting": {"reason": "ErrImagePull", "message": "not found"}}));
    let mut others = failing.clone();
    others["metadata"] = json!({"name": "rocket-a", "namespace": "shop", "uid": "r", "ownerReferences": [{"apiVersion": "example.com/v1",
        "kind": "Rocket", "name": "rocket", "uid": "o", "controller": true}]});
    for object in [&failing, &others] {
        cluster.put(object).await;
    }
    for kinds in ["pods", "pods,deployments"] {
        with_page(cluster.port(), &format!("#/{kinds}?view=changes"), async |page| {
            let href = why_of(page, "ReplicaSet", "shop/web-2").await;
            assert!(href.starts_with("#/why?of=replicasets/shop/web-2&since="), "{href}");
            page.open(&href);
            // There the ReplicaSet is watched, and its Deployment: the incident is of that then.
            titled(page, &format!("Deployment shop/web: 1 of 3 Pods cannot pull {IMAGE}")).await;
            // Nothing has changed since the page is there.
            let why = shown(page).await;
            assert!(why.causes.is_empty() && why.no_cause().contains("The rollout says what differs"), "{why:#?}");
            // An owner of a kind that this cluster does not have is known by its Pods alone.
            page.command(Command::Leave);
            let href = why_of(page, "Rocket", "shop/rocket").await;
            assert!(href.starts_with("#/why?of=pods/shop/rocket-a&since="), "{href}");
            page.open(&href);
            titled(page, &format!("Rocket shop/rocket: 1 Pod cannot pull {IMAGE}")).await;
        })
        .await;
    }
}

#[tokio::test]
async fn a_pod_leads_to_the_incident_that_it_belongs_to() {
    let cluster = Cluster::start(&Options { pods: 10, ..Options::default() }).await;
    for object in [deployment(IMAGE, 2, "2"), set("web-2", "s2", IMAGE, "2")] {
        cluster.put(&object).await;
    }
    cluster.put(&pod(json!({"waiting": {"reason": "ErrImagePull", "message": "not found"}}))).await;
    with_page(cluster.port(), "#/changes", async |page| {
        why_of(page, "Deployment", "shop/web").await;
        let title = format!("Deployment shop/web: 1 of 3 Pods cannot pull {IMAGE}");
        for object in ["pods?sel=shop/web-2-a", "replicasets?sel=shop/web-2", "deployments?sel=shop/web"] {
            page.open(&format!("#/{object}"));
            page.command(Command::Why(WhyCommand::Ask));
            titled(page, &title).await;
        }
        // It stays when it is over, and a Pod still leads to it.
        page.open("#/pods?sel=shop/web-2-a");
        page.command(Command::Why(WhyCommand::Ask));
        titled(page, &title).await;
        let mut well = pod(json!({"running": {"startedAt": "2026-11-27T07:00:00Z"}}));
        (well["status"]["phase"], well["status"]["containerStatuses"][0]["ready"]) = (json!("Running"), json!(true));
        cluster.put(&well).await;
        page.in_time("it is over", SOON, async || {
            let why = page.view(|view| (*view.feed.why).clone());
            let is_over =
                why.as_ref().is_some_and(|why| why.tone == "over" && why.title().starts_with("Deployment shop/web"));
            if is_over { Ok(()) } else { Err(format!("{why:?}")) }
        })
        .await;
        assert!(page.place().url().contains("#/why?of=deployments/shop/web&"), "{}", page.place().url());
        // At a moment before that, too.
        let since = page.view(|view| view.feed.why.as_ref().map_or(0.0, |why| why.at));
        let [since, at] = [since, since + 100.0].map(kubechurn_model::navigation::range::moment_written);
        page.open(&format!("#/why?of=pods/shop/web-2-a&since={since}&at={at}"));
        titled(page, &title).await;
    })
    .await;
}

#[tokio::test]
async fn an_address_of_something_that_is_not_known_says_so() {
    let cluster = Cluster::start(&Options { pods: 10, ..Options::default() }).await;
    let place = "#/why?of=deployments/shop/nothing&since=2026-11-27T07:00:00.000Z";
    with_page(cluster.port(), place, async |page| {
        let why = page
            .in_time("nothing is found", SOON, async || {
                let why = page.view(|view| (*view.feed.why).clone());
                why.filter(|why| !why.is_searching).ok_or_else(|| String::from("it is searched"))
            })
            .await;
        assert_eq!((&*why.kind, &*why.name, why.causes.len()), ("Deployment", "shop/nothing", 0));
        assert!(why.facts[0].0.contains("nothing is known to be wrong"), "{:?}", why.facts);
    })
    .await;
}

/// The words of the API server where a Pod's account is gone.
const NO_ACCOUNT: &str =
    "pods \"web-1-\" is forbidden: error looking up service account shop/web: serviceaccount \"web\" not found";

fn refused(message: &str) -> Value {
    let condition = json!({"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message});
    let mut refused = deployment("example/web:1.4.1", 1, "1");
    refused["status"]["conditions"] = json!([condition]);
    refused
}

/// Opens the incident of the Deployment.
async fn opened(page: &Page) -> WhyModel {
    let href = page
        .in_time("the entry leads to its incident", SOON, async || {
            let rows = page.view(|view| view.feed.wrong.rows.clone());
            let row = rows.iter().find(|row| row.name == "shop/web");
            row.map(|row| row.why_href.clone()).filter(|href| !href.is_empty()).ok_or_else(|| format!("{rows:?}"))
        })
        .await;
    page.open(&href);
    shown(page).await
}

/// A webhook that is asked before a Pod is created.
fn webhook(policy: &str, seconds: u32) -> Value {
    let webhook = json!({"name": "pods.rules.example.com", "failurePolicy": policy, "timeoutSeconds": seconds,
        "clientConfig": {"service": {"namespace": "shop", "name": "rules"}},
        "rules": [{"operations": ["CREATE"], "apiGroups": [""], "apiVersions": ["v1"], "resources": ["pods"]}]});
    json!({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": "guard", "uid": "guard"}, "webhooks": [webhook]})
}

/// Waits until the page has received a change of an object that it knew: what fails of it is put afterwards.
async fn received(page: &Page, kinds: &[&str], key: &str) {
    wait_until(&format!("a change of {key} is received"), SOON, async || {
        let marks: Vec<_> = kinds.iter().flat_map(|kind| page.marks(kind)).collect();
        let is_it = |mark: &&Mark| mark.key.as_deref() == Some(key) && ["Updated", "Deleted"].contains(&&*mark.kind);
        holds(marks.iter().any(|mark| is_it(&mark)), || format!("{marks:?}"))
    })
    .await;
}

#[tokio::test]
async fn a_webhook_that_must_be_asked_is_the_cause_and_a_harmless_change_of_it_is_not() {
    let message = "Internal error occurred: failed calling webhook \"pods.rules.example.com\": failed to call webhook: \
        Post \"https://rules.shop.svc:443/?timeout=5s\": service \"rules\" not found";
    let changes =
        [(webhook("Ignore", 5), webhook("Fail", 5), "proven"), (webhook("Fail", 5), webhook("Fail", 7), "time")];
    for (before, after, proof) in changes {
        let cluster = Cluster::start(&Options { pods: 10, ..Options::default() }).await;
        with_page(cluster.port(), "#/changes", async |page| {
            for object in
                [&before, &deployment("example/web:1.4.1", 1, "1"), &set("web-1", "s1", "example/web:1.4.1", "1")]
            {
                cluster.put(object).await;
            }
            page.reaches("validatingwebhookconfigurations", "live", SOON).await;
            cluster.put(&after).await;
            received(page, &["validatingwebhookconfigurations"], "guard").await;
            cluster.put(&refused(message)).await;
            let why = opened(page).await;
            let is_its = |cause: &&CauseRow| cause.title == "ValidatingWebhookConfiguration guard was changed";
            let found = why.causes.iter().find(is_its);
            assert_eq!(found.map(|cause| cause.proof), Some(proof), "{:#?}", why.causes);
            assert!(proof != "proven" || why.causes.first().is_some_and(|cause| is_its(&cause)), "{:#?}", why.causes);
        })
        .await;
    }
}

#[tokio::test]
async fn a_deleted_account_is_the_cause_without_a_pinned_kind() {
    let cluster = Cluster::start(&Options { pods: 10, ..Options::default() }).await;
    with_page(cluster.port(), "#/changes", async |page| {
        let account =
            json!({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "web", "namespace": "shop"}});
        for object in [account, deployment("example/web:1.4.1", 1, "1"), set("web-1", "s1", "example/web:1.4.1", "1")] {
            cluster.put(&object).await;
        }
        page.reaches("serviceaccounts", "live", SOON).await;
        wait_until("the account is there", SOON, async || {
            holds(page.rows("serviceaccounts").iter().any(|row| row.key == "shop/web"), || String::from("it is not"))
        })
        .await;
        cluster.delete("/api/v1/namespaces/shop/serviceaccounts/web").await;
        wait_until("the account is gone", SOON, async || {
            let there = page.rows("serviceaccounts").iter().any(|row| row.key == "shop/web");
            holds(!there, || String::from("it is not"))
        })
        .await;
        cluster.put(&refused(NO_ACCOUNT)).await;
        let why = opened(page).await;
        assert!(why.title().contains("serviceaccount \"web\" not found"), "{}", why.title());
        let first = why.causes.first().map(|cause| (&*cause.title, cause.proof));
        assert_eq!(first, Some(("ServiceAccount web was deleted", "proven")), "{:?}", why.causes);
    })
    .await;
}

#[tokio::test]
async fn kinds_of_causes_that_may_not_be_listed_are_said_where_they_count_and_nowhere_else() {
    let cluster = Cluster::start(&Options { pods: 10, ..Options::default() }).await;
    for verb in ["list", "watch"] {
        cluster.control(&format!("forbid?verb={verb}&resource=serviceaccounts")).await;
    }
    with_page(cluster.port(), "#/changes", async |page| {
        page.reaches("serviceaccounts", "forbidden", SOON).await;
        page.reaches("deployments", "live", SOON).await;
        cluster.put(&refused(NO_ACCOUNT)).await;
        let why = opened(page).await;
        let unknown: Vec<&str> = why.unknown.iter().map(|row| &*row.words).collect();
        assert!(unknown.contains(&"ServiceAccount web: reading is forbidden"), "{unknown:?}");
        wait_until("all that is needed is live", SOON, async || {
            let state = page.view(|view| view.header.connection.state);
            holds(state == "live", || state.to_owned())
        })
        .await;
        let of_accounts =
            || page.view(|view| view.sidebar.items.iter().find(|item| item.name == "serviceaccounts").cloned());
        assert_eq!(page.view(|view| (view.table.trouble.len(), view.footer.notices.total)), (0, 0));
        assert!(
            of_accounts().is_some_and(|item| item.state.is_empty() && item.count.is_empty()),
            "{:?}",
            of_accounts()
        );
        // Whoever asks for them is shown what is missing.
        page.command(Command::Pin("serviceaccounts"));
        wait_until("the sidebar says so", SOON, async || {
            holds(of_accounts().is_some_and(|item| item.state == "forbidden"), || format!("{:?}", of_accounts()))
        })
        .await;
    })
    .await;
}

/// What answers for a webhook, in another namespace than the Pods that it refuses.
fn guard(selector: &str, replicas: u32) -> [Value; 2] {
    let service = json!({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "rules", "namespace": "policy", "uid": "service"},
        "spec": {"selector": {"app": selector}, "ports": [{"port": 443}]}});
    let template = json!({"metadata": {"labels": {"app": "rules"}}, "spec": {"containers": [{"name": "rules", "image": "rules"}]}});
    let workload = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "rules", "namespace": "policy",
        "uid": "rules"}, "spec": {"replicas": replicas, "template": template}});
    [service, workload]
}

#[tokio::test]
async fn what_should_answer_for_a_webhook_is_the_cause_where_nobody_answers() {
    let failed = |why: &str| {
        format!(
            "Internal error occurred: failed calling webhook \"pods.rules.example.com\": failed to call webhook: \
             Post \"https://rules.policy.svc:443/?timeout=5s\": {why}"
        )
    };
    let gone = failed("service \"rules\" not found");
    let nobody = failed("no endpoints available for service \"rules\"");
    let refused_it = failed("dial tcp: connect: connection refused");
    let mut call = webhook("Fail", 5);
    call["webhooks"][0]["clientConfig"]["service"]["namespace"] = json!("policy");
    type Change<'a> = (Option<[Value; 2]>, &'a str, Option<(&'a str, &'a str)>);
    let changes: [Change<'_>; 5] = [
        (None, &gone, Some(("Service rules was deleted", "proven"))),
        (Some(guard("rules", 0)), &nobody, Some(("Deployment rules was scaled", "proven"))),
        (Some(guard("others", 1)), &nobody, Some(("Service rules was changed", "proven"))),
        (Some(guard("rules", 3)), &refused_it, None),
        (Some(guard("rules", 0)), &refused_it, None),
    ];
    for (change, said, expected) in changes {
        let cluster = Cluster::start(&Options { pods: 10, ..Options::default() }).await;
        // All of it was there before the page: what is created under its eyes may be a cause.
        for object in guard("rules", 1).iter().chain([
            &call,
            &deployment("example/web:1.4.1", 1, "1"),
            &set("web-1", "s1", "example/web:1.4.1", "1"),
        ]) {
            cluster.put(object).await;
        }
        with_page(cluster.port(), "#/changes?pin=services", async |page| {
            for kind in ["services", "deployments", "validatingwebhookconfigurations"] {
                page.reaches(kind, "live", SOON).await;
            }
            wait_until("all is there", SOON, async || {
                let has = |kind: &str, key: &str| page.rows(kind).iter().any(|row| row.key == key);
                holds(has("services", "policy/rules") && has("deployments", "shop/web"), || String::from("it is not"))
            })
            .await;
            match &change {
                Some(objects) => {
                    for object in objects {
                        cluster.put(object).await;
                    }
                }
                None => cluster.delete("/api/v1/namespaces/policy/services/rules").await,
            }
            received(page, &["services", "deployments"], "policy/rules").await;
            cluster.put(&refused(said)).await;
            let why = opened(page).await;
            let proven: Vec<(&str, &str)> = why
                .causes
                .iter()
                .filter(|cause| cause.proof == "proven")
                .map(|cause| (&*cause.title, cause.proof))
                .collect();
            assert_eq!(proven.first().copied(), expected, "{said}: {:#?}", why.causes);
            assert!(expected.is_none() || why.causes[0].proof == "proven", "{said}: {:#?}", why.causes);
        })
        .await;
    }
}
