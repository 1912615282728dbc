//! A hundred incidents of ten kinds, in a cluster in which much else happens: of what a user reads about one, the first line
//! names the object that was changed, with its new value, and it is on the first screen.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::time::Duration;

use axum::http::Method;
use futures::FutureExt;
use kubechurn_client::api::request::Scope;
use kubechurn_client::api::resource::ApiResource;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::findings::{Page, play};
use crate::client::resources::{CONFIG_MAPS, DEPLOYMENTS, JOBS, NODES};
use crate::client::rest::{Client, DeleteOptions, Patch};
use crate::random::Random;
use crate::scenario::Scenario;

const SERVICES: ApiResource =
    ApiResource { group: "", version: "v1", plural: "services", kind: "Service", namespaced: true, cluster: "" };

/// When a user looks after a change, in seconds.
const LOOKS: [u64; 2] = [2, 4];
/// How long after an incident the next one begins.
const REST: Duration = Duration::from_secs(2);
const SEEDS: [u64; 2] = [3, 11];

/// What happens to an object.
#[derive(Clone, Copy, Debug)]
enum Incident {
    /// An image that does not exist.
    Image,
    /// A version that ends at once.
    Command,
    /// A version that fits on no node.
    Selector,
    /// Nothing of a workload is left.
    Replicas,
    /// A workload is deleted.
    Deleted,
    /// A setting.
    Setting,
    /// A Service leads to nothing.
    Service,
    /// A Job that fails.
    Job,
    /// A node takes no new Pods.
    Cordon,
    /// A node is lost.
    Node,
}

impl Incident {
    const ALL: [Incident; 10] = [
        Incident::Image,
        Incident::Command,
        Incident::Selector,
        Incident::Replicas,
        Incident::Deleted,
        Incident::Setting,
        Incident::Service,
        Incident::Job,
        Incident::Cordon,
        Incident::Node,
    ];

    fn resource(self) -> &'static ApiResource {
        match self {
            Incident::Image | Incident::Command | Incident::Selector | Incident::Replicas | Incident::Deleted => {
                &DEPLOYMENTS
            }
            Incident::Setting => &CONFIG_MAPS,
            Incident::Service => &SERVICES,
            Incident::Job => &JOBS,
            Incident::Cordon | Incident::Node => &NODES,
        }
    }

    /// Makes it happen to this object; returns the words that must be read. `number` makes values that were not there before.
    async fn happen(self, client: &Client, object: &Value, number: usize) -> Result<[String; 2], Refused> {
        let [namespace, name] = ["namespace", "name"].map(|of| object["metadata"][of].as_str().unwrap_or_default());
        let container = &object["spec"]["template"]["spec"]["containers"][0];
        let template = |pod: Value| json!({"spec": {"template": {"spec": pod}}});
        let of_container =
            |member: &str, value: Value| template(json!({"containers": [{"name": container["name"], member: value}]}));
        let value = format!("v{number}-typo");
        let of = match self {
            // A Deployment may have the same name; but what came of a Deployment has names that begin with its own.
            Incident::Service => format!("Service {namespace}/{name}"),
            _ if namespace.is_empty() => name.to_owned(),
            _ => format!("{namespace}/{name}"),
        };
        let (patch, word) = match self {
            Incident::Image => {
                let image = container["image"].as_str().unwrap_or_default();
                let repository = image.rsplit_once(':').map_or(image, |(repository, _)| repository);
                (of_container("image", format!("{repository}:{value}").into()), value)
            }
            Incident::Command => (of_container("command", json!(["false", value])), "false".into()),
            Incident::Selector => (template(json!({"nodeSelector": {"disk": value}})), value),
            Incident::Replicas => (json!({"spec": {"replicas": 0}}), " 0".into()),
            Incident::Setting => (json!({"data": {"level": value}}), value),
            Incident::Service => (json!({"spec": {"selector": {"app": value}}}), value),
            Incident::Cordon => (json!({"spec": {"unschedulable": true}}), "unschedulable".into()),
            Incident::Deleted => {
                client.delete(&DEPLOYMENTS, namespace, name, DeleteOptions::default()).await.map_err(|_| Refused)?;
                return Ok([of, "deleted".into()]);
            }
            Incident::Job => {
                let name = format!("migrate-{number}");
                let pod = json!({"restartPolicy": "Never", "containers": [
                    {"name": "main", "image": "registry.example/migrate:1", "command": ["false"]}]});
                let spec = json!({"backoffLimit": 0, "template": {"spec": pod}});
                let job = json!({"metadata": {"name": name, "namespace": namespace}, "spec": spec});
                client.create(&JOBS, namespace, &job).await.map_err(|_| Refused)?;
                return Ok([name, "ailed".into()]);
            }
            Incident::Node => {
                let order = format!("/_control/node?name={name}&down=true");
                client.request(Method::POST, &order, "", String::new()).await.map_err(|_| Refused)?;
                return Ok([of, "not ready".into()]);
            }
        };
        client.patch(self.resource(), namespace, name, Patch::Strategic(&patch)).await.map_err(|_| Refused)?;
        Ok([of, word])
    }

    /// How long it lasts until the cluster shows it, in seconds: a node is missed only after a while.
    fn lasts(self) -> u64 {
        match self {
            Incident::Node => 45,
            Incident::Job => 12,
            _ => 0,
        }
    }
}

/// The cluster did not do what it was asked.
struct Refused;

/// Makes incidents happen one after another; notes those that are not read, with what is read in their place.
async fn happen(client: Client, page: Rc<Page>, seed: u64, times: usize, log: Rc<Log>) {
    let mut random = Random::new(seed);
    sleep(Duration::from_secs(5)).await;
    for number in 0..times * Incident::ALL.len() {
        let incident = Incident::ALL[number % Incident::ALL.len()];
        let list = client.list(incident.resource(), &Scope::default()).await.expect("a list");
        let objects = list["items"].as_array().expect("items");
        let may = |object: &&Value| match incident {
            Incident::Replicas => object["spec"]["replicas"] != 0,
            Incident::Cordon | Incident::Node => object["spec"]["unschedulable"] != true,
            _ => object["metadata"]["deletionTimestamp"].is_null(),
        };
        // What is changed by others at that time has rows of theirs above.
        let seen = page.first_lines();
        let is_seen = |object: &Value| {
            let name = object["metadata"]["name"].as_str().unwrap_or_default();
            seen.iter().any(|line| line.contains(name))
        };
        let objects: Vec<&Value> = objects.iter().filter(may).filter(|object| !is_seen(object)).collect();
        let Some(object) = objects.get(random.below(objects.len().max(1))) else { continue };
        // Somebody may have deleted it in this moment.
        let Ok(words) = incident.happen(&client, object, 100 * seed as usize + number).await else { continue };
        log.count.set(log.count.get() + 1);
        let mut seen = Vec::new();
        let mut is_read = false;
        for tick in 0..10 * (LOOKS[1] + incident.lasts()) {
            sleep(Duration::from_millis(100)).await;
            seen = page.first_lines();
            let first = seen.iter().find(|line| line.contains(&words[0]));
            is_read = first.is_some_and(|line| line.contains(&words[1]));
            if is_read && tick >= 10 * LOOKS[0] {
                break;
            }
        }
        if !is_read {
            let about: Vec<_> = seen.iter().enumerate().filter(|(_, line)| line.contains(&words[0])).collect();
            log.missed.borrow_mut().push(format!("{incident:?} {words:?} of {}: {about:#?}", seen.len()));
        }
        sleep(REST).await;
        let name = object["metadata"]["name"].as_str().unwrap_or_default();
        // What is not mended goes on failing, and there is more of it with each incident.
        let namespace = object["metadata"]["namespace"].as_str().unwrap_or_default();
        let container = &object["spec"]["template"]["spec"]["containers"][0];
        let former = match incident {
            Incident::Image => json!({"containers": [{"name": container["name"], "image": container["image"]}]}),
            Incident::Command => json!({"containers": [{"name": container["name"], "command": null}]}),
            Incident::Selector => json!({"nodeSelector": null}),
            _ => Value::Null,
        };
        match incident {
            Incident::Image | Incident::Command | Incident::Selector => {
                let patch = json!({"spec": {"template": {"spec": former}}});
                let _ = client.patch(&DEPLOYMENTS, namespace, name, Patch::Strategic(&patch)).await;
            }
            Incident::Node => {
                let order = format!("/_control/node?name={name}&down=false");
                let _ = client.request(Method::POST, &order, "", String::new()).await;
            }
            Incident::Cordon => {
                let patch = json!({"spec": {"unschedulable": null}});
                let _ = client.patch(&NODES, "", name, Patch::Strategic(&patch)).await;
            }
            _ => {}
        }
    }
    page.is_over.set(true);
}

/// What happened, and what of it was not read.
#[derive(Default)]
struct Log {
    count: Cell<usize>,
    missed: RefCell<Vec<String>>,
}

/// Makes each kind of incident happen so many times with this seed; returns how many happened, and what is not read.
async fn not_read(seed: u64, times: usize) -> (usize, Vec<String>) {
    let log = Rc::<Log>::default();
    let own = Rc::clone(&log);
    let act = Box::new(move |client, page| happen(client, page, seed, times, own).boxed_local());
    play(&Scenario::MIXED, seed, Some(act), Duration::from_secs(1_200)).await;
    let count = log.count.get();
    assert!(count * 10 >= times * Incident::ALL.len() * 9, "{count} incidents happened");
    (count, log.missed.take())
}

// The order of what happens at one time is not the same in each run, and sometimes somebody else changes the same object at
// that moment: more may be missed here than the goal allows.

#[tokio::test(start_paused = true)]
async fn incidents_among_much_else_are_read_first() {
    let (_, missed) = not_read(SEEDS[0], 2).await;
    assert!(missed.len() <= 5, "{missed:#?}");
}

/// The goal: 95 of 100. It takes minutes: `cargo test -p kubechurn-cluster --lib incidents -- --ignored --nocapture`.
#[tokio::test(start_paused = true)]
#[ignore = "it takes minutes"]
async fn of_a_hundred_incidents_95_are_read_first() {
    let mut missed = Vec::new();
    for seed in SEEDS {
        let (count, not_read) = not_read(seed, 5).await;
        println!("seed {seed}: {} of {count} incidents are read first", count - not_read.len());
        missed.extend(not_read);
    }
    println!("{} of 100 are not read", missed.len());
    assert!(missed.len() <= 5, "{missed:#?}");
}
