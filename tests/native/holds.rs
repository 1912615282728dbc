//! What holds an object back that is to go, and what uses an object: now, at another moment, and in a recording.

use std::time::Duration;

use serde_json::{Value, json};

use kubechurn_harness::cluster::{Cluster, Options};
use kubechurn_harness::wait::{holds, wait_until};
use kubechurn_model::history::Budget;
use kubechurn_model::page::command::Command;
use kubechurn_model::page::environment::Environment;
use kubechurn_model::recording::Selected;
use kubechurn_model::rewind::banner::RewindCommand;
use kubechurn_model::view::holds::{HoldRow, HoldsModel};
use kubechurn_recording::Header;

use crate::page::{Page, with_page};
use crate::recording::Opened;

const SOON: Duration = Duration::from_secs(30);

fn line(row: &HoldRow) -> String {
    format!("{} {}", row.name, row.words)
}

/// What is shown beside the object that is looked at, once this is so.
async fn shown(page: &Page, what: &str, is_so: impl Fn(&HoldsModel) -> bool) -> HoldsModel {
    page.in_time(what, SOON, async || {
        let model = page.view(|view| (*view.inspector.holds).clone());
        let found = model.clone().filter(|model| !model.is_searching && is_so(model));
        found.ok_or_else(|| format!("{model:#?}"))
    })
    .await
}

fn now(page: &Page) -> f64 {
    page.look(|_, place| place.now())
}

fn rewind(page: &Page, at: f64) {
    page.command(Command::Rewind(RewindCommand::To(at)));
}

fn deleting(mut object: Value, finalizers: &[&str]) -> Value {
    object["metadata"]["deletionTimestamp"] = json!("2026-11-20T10:00:00Z");
    object["metadata"]["deletionGracePeriodSeconds"] = json!(0);
    object["metadata"]["finalizers"] = json!(finalizers);
    object
}

fn config(name: &str, finalizers: &[&str]) -> Value {
    let entry = json!({"manager": "archiver", "operation": "Update", "apiVersion": "v1", "time": "2026-11-20T10:00:00Z",
        "fieldsType": "FieldsV1", "fieldsV1": {"f:metadata": {"f:finalizers": {}}}});
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop", "uid": name,
        "finalizers": finalizers, "managedFields": [entry]}, "data": {"LEVEL": "info"}})
}

#[tokio::test]
async fn a_finalizer_is_shown_with_who_takes_it_off_others() {
    let cluster = Cluster::start(&Options { pods: 10, ..Options::default() }).await;
    with_page(cluster.port(), "#/configmaps?sel=shop/held", async |page| {
        page.reaches("configmaps", "live", SOON).await;
        cluster.put(&config("other", &["example.com/archive"])).await;
        let mut off = config("other", &[]);
        off["metadata"]["managedFields"][0]["time"] = json!("2026-11-20T10:00:05Z");
        cluster.put(&off).await;
        let many: Vec<String> = (0..30).map(|number| format!("example.com/{number}")).collect();
        let all: Vec<&str> =
            ["example.com/archive", "foregroundDeletion"].into_iter().chain(many.iter().map(|one| &**one)).collect();
        cluster.put(&deleting(config("held", &[]), &all)).await;
        let model = shown(page, "the finalizer is shown", |model| model.held.len() > 8).await;
        assert!(model.asked.starts_with("Its deletion was asked for at "), "{}", model.asked);
        let lines: Vec<String> = model.held.iter().map(line).collect();
        assert!(
            lines[0].starts_with("Finalizer example.com/archive archiver took it off another object"),
            "{lines:#?}"
        );
        assert!(!model.held[0].href.is_empty());
        assert!(lines[1].contains("garbage collector") && lines[2].contains("archiver added it"), "{lines:#?}");
        assert!(lines[8].contains("and 24 more finalizers"), "{lines:#?}");
        // In a recording, too.
        let blocks = page.look(|page, _| page.reports().recording(Header::default(), Selected::default()));
        let opened = Opened::of(&blocks, "#/configmaps?sel=shop/held");
        let model = opened.look(|model, _| (*model.view().inspector.holds).clone()).expect("it is shown");
        assert_eq!(model.held.first().map(line), lines.first().cloned());
    })
    .await;
}

fn pod(name: &str, started: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop", "uid": name, "labels": {"app": "web"}},
        "spec": {"nodeName": "n1", "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}],
            "containers": [{"name": "web", "image": "web", "envFrom": [{"configMapRef": {"name": "settings"}}]}]},
        "status": {"phase": "Running", "containerStatuses": [{"name": "web", "state": {"running": {"startedAt": started}}}]}})
}

#[tokio::test]
async fn pods_that_use_an_object_are_counted_and_those_with_the_old_data() {
    let cluster = Cluster::start(&Options { pods: 10, ..Options::default() }).await;
    with_page(cluster.port(), "#/configmaps?sel=shop/settings&pin=pods,persistentvolumeclaims,deployments", async |page| {
        for kind in ["configmaps", "pods", "persistentvolumeclaims"] {
            page.reaches(kind, "live", SOON).await;
        }
        let settings = config("settings", &[]);
        cluster.put(&settings).await;
        cluster.put(&pod("old", "2020-01-01T00:00:00Z")).await;
        let model = shown(page, "the Pod is found", |model| model.users.len() == 1).await;
        assert!(model.used.contains("1 Pod refers to it. Its data has not changed since"), "{}", model.used);
        let (unchanged_at, unchanged) = (now(page), model);
        let mut changed = settings.clone();
        changed["data"]["LEVEL"] = json!("debug");
        cluster.put(&changed).await;
        cluster.put(&pod("new", "2999-01-01T00:00:00Z")).await;
        let model = shown(page, "both are found", |model| model.users.len() == 2).await;
        assert!(model.used.contains("1 of 2 Pods that take it when a container starts still runs with the old data"), "{}", model.used);
        let lines: Vec<String> = model.users.iter().map(line).collect();
        assert!(lines.iter().any(|line| line == "Pod shop/old runs with the old data"), "{lines:?}");
        assert!(lines.iter().any(|line| line == "Pod shop/new started after the last change"), "{lines:?}");
        let unwatched = "Not watched, so not looked at: ";
        assert!(model.unknown.iter().any(|words| words.starts_with(unwatched) && words.contains("CronJob") && !words.contains("Pod")), "{:?}", model.unknown);
        // At another moment it is what it was then.
        let (changed_at, changed) = (now(page), model);
        for (at, then) in [(unchanged_at, unchanged), (changed_at, changed)] {
            rewind(page, at);
            let model = shown(page, "what it was then", |model| model.users.len() == then.users.len()).await;
            let lines = |model: &HoldsModel| model.users.iter().map(line).collect::<Vec<_>>();
            assert_eq!((lines(&model), &model.unknown), (lines(&then), &then.unknown));
            let is_old = |model: &HoldsModel| model.used.contains("with the old data");
            assert_eq!(is_old(&model), is_old(&then), "{} {}", model.used, then.used);
        }
        page.command(Command::Rewind(RewindCommand::Live));
        // A claim that is to go, and that Pods use.
        let claim = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data", "namespace": "shop",
            "uid": "claim"}, "spec": {"storageClassName": "fast"}, "status": {"phase": "Bound"}});
        cluster.put(&deleting(claim, &["kubernetes.io/pvc-protection"])).await;
        page.open("#/persistentvolumeclaims?sel=shop/data&pin=pods,poddisruptionbudgets");
        let model = shown(page, "the claim is held", |model| model.held.len() == 1 && model.users.len() == 2).await;
        assert!(model.users.iter().all(|user| user.words.starts_with("still uses the claim")), "{:?}", model.users);
        // The StatefulSet that made a claim, though none of its Pods is there, and the class of such claims.
        page.open("#/persistentvolumeclaims?sel=shop/files-store-3&pin=statefulsets,storageclasses,poddisruptionbudgets");
        page.reaches("statefulsets", "live", SOON).await;
        let made = json!({"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "files-store-3",
            "namespace": "shop", "uid": "made"}, "spec": {"storageClassName": "fast"}, "status": {"phase": "Bound"}});
        let template = json!({"metadata": {"name": "files"}, "spec": {"storageClassName": "fast"}});
        let set = |name: &str| {
            json!({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": {"name": name, "namespace": "shop", "uid": name},
                "spec": {"replicas": 0, "template": {"spec": {}}, "volumeClaimTemplates": [template]}})
        };
        for object in [made, set("store"), set("store-3")] {
            cluster.put(&object).await;
        }
        let model = shown(page, "the StatefulSet is found", |model| !model.users.is_empty()).await;
        assert_eq!(model.users.iter().map(line).collect::<Vec<_>>(), ["StatefulSet shop/store names it"]);
        let class = json!({"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fast", "uid": "fast"},
            "provisioner": "example.com/fast"});
        cluster.put(&class).await;
        page.open("#/storageclasses?sel=fast&pin=statefulsets,persistentvolumeclaims,poddisruptionbudgets");
        let model = shown(page, "the claims and the StatefulSets are found", |model| model.users.len() > 3).await;
        let names: Vec<&str> = model.users.iter().map(|row| &*row.name).collect();
        for name in ["StatefulSet shop/store", "StatefulSet shop/store-3", "PersistentVolumeClaim shop/files-store-3"] {
            assert!(names.contains(&name), "{names:?}");
        }
        // A volume that is attached to a node.
        page.open("#/persistentvolumes?sel=disk&pin=volumeattachments,poddisruptionbudgets");
        page.reaches("persistentvolumes", "live", SOON).await;
        page.reaches("volumeattachments", "live", SOON).await;
        let volume = json!({"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "disk", "uid": "disk"},
            "spec": {"storageClassName": "fast"}, "status": {"phase": "Released"}});
        cluster.put(&deleting(volume, &["external-attacher/disks-example-com"])).await;
        let attachment = |name: &str, volume: &str| {
            json!({"apiVersion": "storage.k8s.io/v1", "kind": "VolumeAttachment", "metadata": {"name": name, "uid": name},
                "spec": {"attacher": "disks.example.com", "nodeName": "n7", "source": {"persistentVolumeName": volume}},
                "status": {"attached": true}})
        };
        cluster.put(&attachment("csi-1", "disk")).await;
        cluster.put(&attachment("csi-2", "other")).await;
        let model = shown(page, "the attachment is found", |model| model.held.len() > 1).await;
        let lines: Vec<String> = model.held.iter().map(line).collect();
        assert!(lines[0].starts_with("Finalizer external-attacher/disks-example-com the driver's attacher"), "{lines:?}");
        assert_eq!(lines[1..], ["VolumeAttachment csi-1 attaches it to the node n7"]);
        cluster.delete("/apis/storage.k8s.io/v1/volumeattachments/csi-1").await;
        shown(page, "it is attached no more", |model| model.held.len() == 1).await;
        // A budget that refuses.
        page.reaches("poddisruptionbudgets", "live", SOON).await;
        cluster
            .put(&json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "web", "namespace": "shop",
                "uid": "budget"}, "spec": {"selector": {"matchLabels": {"app": "web"}}},
                "status": {"disruptionsAllowed": 0, "currentHealthy": 2, "desiredHealthy": 2}}))
            .await;
        page.open("#/pods?sel=shop/old&pin=poddisruptionbudgets");
        let is_budget = |row: &HoldRow| row.name.starts_with("PodDisruptionBudget");
        let model = shown(page, "the budget refuses", |model| model.held.iter().any(is_budget)).await;
        assert_eq!(
            model.held.iter().map(line).collect::<Vec<_>>(),
            ["PodDisruptionBudget shop/web refuses to evict it now: 2 Pods are healthy, and 2 must be"]
        );
        // Where nothing is kept, nothing is known.
        page.open("#/configmaps?sel=shop/settings");
        page.command(Command::Recorder(Budget::Off));
        let words = "The recorder is off: who uses it, and what holds it back, is not known.";
        let model = shown(page, "the recorder is off", |model| model.unknown == [words]).await;
        assert_eq!((model.users.len(), model.held.len()), (0, 0));
    })
    .await;
}

#[tokio::test]
async fn what_a_drain_of_a_node_waits_for_is_named() {
    let cluster = Cluster::start(&Options { pods: 10, ..Options::default() }).await;
    with_page(cluster.port(), "#/nodes?sel=mine&pin=pods,poddisruptionbudgets", async |page| {
        for kind in ["nodes", "pods", "poddisruptionbudgets"] {
            page.reaches(kind, "live", SOON).await;
        }
        let node = |unschedulable: bool| {
            json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "mine", "uid": "mine"},
                "spec": {"unschedulable": unschedulable}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}})
        };
        let pod = |name: &str, labels: Value, owner: &str, node: &str, phase: &str| {
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "namespace": "shop", "uid": name, "labels": labels,
                    "ownerReferences": [{"apiVersion": "apps/v1", "kind": owner, "name": "o", "uid": "o", "controller": true}]},
                "spec": {"nodeName": node, "containers": [{"name": "c"}]}, "status": {"phase": phase}})
        };
        let web = json!({"app": "web"});
        let all = [
            pod("web-1", web.clone(), "ReplicaSet", "mine", "Running"),
            pod("web-2", web.clone(), "ReplicaSet", "mine", "Running"),
            pod("web-3", web.clone(), "ReplicaSet", "mine", "Succeeded"),
            pod("web-4", web.clone(), "ReplicaSet", "other", "Running"),
            pod("db-1", json!({"app": "db"}), "StatefulSet", "mine", "Running"),
            pod("agent", json!({"app": "agent"}), "DaemonSet", "mine", "Running"),
        ];
        for one in &all {
            cluster.put(one).await;
        }
        let budget = |name: &str, namespace: &str, app: &str, allowed: u32| {
            json!({"apiVersion": "policy/v1", "kind": "PodDisruptionBudget",
                "metadata": {"name": name, "namespace": namespace, "uid": format!("{namespace}-{name}")},
                "spec": {"selector": {"matchLabels": {"app": app}}},
                "status": {"disruptionsAllowed": allowed, "currentHealthy": 3, "desiredHealthy": 3}})
        };
        let budgets = [("web", "shop", "web", 0), ("web", "elsewhere", "web", 0), ("db", "shop", "db", 1), ("agent", "shop", "agent", 0)];
        for (name, namespace, app, allowed) in budgets {
            cluster.put(&budget(name, namespace, app, allowed)).await;
        }
        cluster.put(&node(false)).await;
        // Nothing is said of a node that takes Pods.
        let is_there = |page: &Page| page.rows("nodes").iter().any(|row| row.key == "mine");
        page.in_time("the node is there", SOON, async || holds(is_there(page), || String::from("it is not"))).await;
        assert_eq!(page.view(|view| (*view.inspector.holds).clone()), None);
        cluster.put(&node(true)).await;
        let model = shown(page, "the budget refuses", |model| !model.held.is_empty()).await;
        let expected = "It takes no new Pods. 3 Pods that a drain takes are on it. 1 Pod of a DaemonSet or of the node itself stays.";
        assert_eq!((&*model.asked, &model.unknown), (expected, &Vec::new()));
        let lines: Vec<String> = model.held.iter().map(line).collect();
        let refuses = "PodDisruptionBudget shop/web refuses to evict web-1 and 1 more now: 3 Pods are healthy, and 3 must be";
        assert_eq!(lines, [refuses]);
        let at = now(page);
        // It allows one again, and the Pods go.
        cluster.put(&budget("web", "shop", "web", 1)).await;
        shown(page, "it refuses no more", |model| model.held.is_empty()).await;
        for name in ["web-1", "web-2", "db-1"] {
            cluster.delete(&format!("/api/v1/namespaces/shop/pods/{name}")).await;
        }
        shown(page, "the node is drained", |model| model.asked.contains("No Pod that a drain takes is left on it.")).await;
        rewind(page, at);
        let is_as_it_was = |then: &HoldsModel| then.asked == model.asked && then.held.iter().map(line).eq([refuses]);
        shown(page, "it is as it was", is_as_it_was).await;
    })
    .await;
}

#[tokio::test]
async fn what_is_left_in_a_namespace_and_what_blocks_an_owner_is_listed() {
    let cluster = Cluster::start(&Options { pods: 10, ..Options::default() }).await;
    with_page(cluster.port(), "#/namespaces?sel=shop&pin=configmaps,pods", async |page| {
        for kind in ["namespaces", "configmaps", "pods"] {
            page.reaches(kind, "live", SOON).await;
        }
        let said = json!([{"type": "NamespaceContentRemaining", "status": "True", "message": "Some resources are remaining: configmaps. has 2 resource instances"}]);
        let mut namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop", "uid": "shop",
            "deletionTimestamp": "2026-11-20T10:00:00Z"}, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Terminating"}});
        namespace["status"]["conditions"] = said;
        cluster.put(&config("a", &[])).await;
        let mut owned = config("b", &[]);
        owned["metadata"]["ownerReferences"] = json!([{"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": "owner",
            "blockOwnerDeletion": true}]);
        cluster.put(&owned).await;
        cluster.put(&namespace).await;
        let model = shown(page, "what is left is listed", |model| model.held.len() >= 3).await;
        let lines: Vec<String> = model.held.iter().map(line).collect();
        assert!(lines[0].starts_with("Finalizer kubernetes the namespace controller"), "{lines:?}");
        assert!(lines[1].starts_with("NamespaceContentRemaining Some resources are remaining"), "{lines:?}");
        assert!(lines.iter().any(|line| line.starts_with("ConfigMap a and ")), "{lines:?}");
        assert!(model.unknown.iter().any(|words| words.contains("not watched")), "{:?}", model.unknown);
        page.open("#/configmaps?sel=shop/owner");
        cluster.put(&deleting(config("owner", &[]), &["foregroundDeletion"])).await;
        let model = shown(page, "what blocks it is named", |model| model.held.len() == 2).await;
        assert_eq!(line(&model.held[1]), "ConfigMap shop/b is still there, and blocks it");
        let blocked_at = now(page);
        cluster.delete("/api/v1/namespaces/shop/configmaps/b").await;
        let model = shown(page, "nothing blocks it", |model| model.held.len() == 1).await;
        assert!(model.unknown.iter().any(|words| words.starts_with("Of what is watched nothing is left")), "{:?}", model.unknown);
        rewind(page, blocked_at);
        let model = shown(page, "what blocked it then", |model| model.held.len() == 2).await;
        assert_eq!(line(&model.held[1]), "ConfigMap shop/b is still there, and blocks it");
        page.command(Command::Rewind(RewindCommand::Live));
        wait_until("the page is in order", SOON, async || {
            holds(page.view(|view| view.footer.pipeline.balanced), || String::from("it is not"))
        })
        .await;
    })
    .await;
}
