//! The client and its informers against a running server.

use std::cell::RefCell;
use std::rc::Rc;

use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::cache::store::Change;
use serde_json::{Value, json};
use tokio::task::LocalSet;

use super::informers::Informers;
use super::resources::{CONFIG_MAPS, DEPLOYMENTS, NODES};
use super::rest::{Client, DeleteOptions, Patch};
use crate::server::router;
use crate::tests::{Server, quiet, serve, within};

async fn start() -> (Server, Client) {
    let server = serve(quiet()).await;
    let client = Client::new(router(server.app.clone()), "tester/1.0");
    (server, client)
}

fn map(name: &str) -> Value {
    json!({"metadata": {"name": name, "namespace": "default"}, "data": {"a": "b"}})
}

#[tokio::test]
async fn the_verbs_and_their_errors() {
    let (_server, client) = start().await;
    let created = client.create(&CONFIG_MAPS, "default", &map("one")).await.unwrap();
    assert_eq!(created["metadata"]["managedFields"][0]["manager"], "tester");
    assert!(client.create(&CONFIG_MAPS, "default", &map("one")).await.unwrap_err().is_already_exists());
    assert_eq!(client.get(&CONFIG_MAPS, "default", "one").await.unwrap(), created);
    assert!(client.get(&CONFIG_MAPS, "default", "two").await.unwrap_err().is_not_found());

    let mut newer = created.clone();
    newer["data"] = json!({"a": "c"});
    let updated = client.update(&CONFIG_MAPS, &newer).await.unwrap();
    assert_eq!(updated["data"], json!({"a": "c"}));
    newer["data"] = json!({"a": "d"});
    assert!(client.update(&CONFIG_MAPS, &newer).await.unwrap_err().is_conflict());

    let (merge, json) = (json!({"data": {"x": "1"}}), json!([{"op": "remove", "path": "/data/a"}]));
    for (patch, data) in [
        (Patch::Merge(&merge), json!({"a": "c", "x": "1"})),
        (Patch::Json(&json), json!({"x": "1"})),
        (Patch::Strategic(&json!({"data": {"y": "2"}})), json!({"x": "1", "y": "2"})),
    ] {
        let patched = client.patch(&CONFIG_MAPS, "default", "one", patch).await.unwrap();
        assert_eq!(patched["data"], data);
    }
    let another = DeleteOptions { uid: Some("another"), ..DeleteOptions::default() };
    assert!(client.delete(&CONFIG_MAPS, "default", "one", another).await.unwrap_err().is_conflict());
    let answer = client.delete(&CONFIG_MAPS, "default", "one", DeleteOptions::default()).await.unwrap();
    assert_eq!(answer["status"], "Success");

    let nodes = client.list(&NODES, &Default::default()).await.unwrap();
    assert!(!nodes["items"].as_array().unwrap().is_empty());
    let deployments = client.list(&DEPLOYMENTS, &Default::default()).await.unwrap();
    let mut deployment = deployments["items"][0].clone();
    deployment["status"] = json!({"replicas": 77});
    deployment["spec"]["replicas"] = 78.into();
    let updated = client.update_status(&DEPLOYMENTS, &deployment).await.unwrap();
    assert_eq!(updated["status"]["replicas"], 77);
    assert_ne!(updated["spec"]["replicas"], 78);
}

#[tokio::test]
async fn informers_follow_what_happens() {
    let (server, client) = start().await;
    server.config_map("before", "web").await;
    let check = async {
        let informers = Informers::new(client.clone(), 1);
        let lister = informers.lister(CONFIG_MAPS);
        let heard: Rc<RefCell<Vec<String>>> = Rc::default();
        let (hears, reads) = (Rc::clone(&heard), lister.clone());
        lister.on_change(move |change| {
            let word = match change {
                Change::Added { listed: true, .. } => "listed",
                Change::Added { .. } => "added",
                Change::Updated { .. } => "updated",
                Change::Synced { .. } => "synced",
                Change::Deleted { .. } => "deleted",
            };
            let object = change.object();
            if ["before", "one"].contains(&&*object.key.name) {
                // No informer may be borrowed while a handler is called, because the handler reads.
                assert!(!reads.list().is_empty());
                hears.borrow_mut().push(format!("{word} {}", object.key.name));
            }
        });
        informers.start();
        informers.wait_for_cache_sync().await;
        client.create(&CONFIG_MAPS, "default", &map("one")).await.unwrap();
        // Requests from inside are exempt from faults such as `cut`.
        server.control("cut").await;
        let patch = json!({"data": {"a": "c"}});
        client.patch(&CONFIG_MAPS, "default", "one", Patch::Merge(&patch)).await.unwrap();
        client.delete(&CONFIG_MAPS, "default", "one", DeleteOptions::default()).await.unwrap();
        while heard.borrow().len() < 4 {
            tokio::task::yield_now().await;
        }
        assert_eq!(*heard.borrow(), ["listed before", "added one", "updated one", "deleted one"]);
        let before = lister.value(&ObjectKey::new("default", "before")).unwrap();
        assert_eq!((&before["kind"], &before["apiVersion"]), (&json!("ConfigMap"), &json!("v1")));
        let found = lister.in_namespace("default").iter().any(|object| &*object.key.name == "before");
        assert!(found && lister.in_namespace("nowhere").is_empty());
        informers.shutdown();
        assert!(lister.get(&ObjectKey::new("default", "before")).is_none());
    };
    within(LocalSet::new().run_until(check)).await;
}
