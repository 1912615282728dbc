//! Versions to be measured with: a real rollout, and Pods that are made of one.

use std::collections::HashMap;

use kubechurn_client::api::object::{Object, decode_metadata};
use kubechurn_client::api::resource::ApiResource;
use serde_json::Value;

const RECORDING: &str = include_str!("../../../../tests/fixtures/rollout.jsonl");

/// A version of an object.
#[derive(Clone)]
pub struct Version {
    pub resource: ApiResource,
    pub object: Object,
    pub text: String,
}

/// The texts of the Pod of which most versions were recorded.
pub fn longest_life(rollout: &[Version]) -> Vec<String> {
    let mut lives: HashMap<String, Vec<String>> = HashMap::new();
    for version in rollout.iter().filter(|version| version.resource.plural == "pods") {
        lives.entry(version.object.uid.to_string()).or_default().push(version.text.clone());
    }
    lives.into_values().max_by_key(|life| (life.len(), life[0].clone())).expect("the recording has Pods")
}

/// What is missing for a Pod of 5,000 bytes: simulated kubelets write less than real ones.
pub fn filling(length: usize) -> String {
    (0..5_000_usize.saturating_sub(length + 14)).map(|at| char::from(b'a' + (at * at % 23) as u8)).collect()
}

/// A Pod that others are made of. It is read once: the allocator would clean up after that while a version is written.
pub struct Template {
    text: String,
    name: String,
    uid: String,
    version: String,
}

impl Template {
    pub fn new(text: String) -> Template {
        let value: Value = serde_json::from_str(&text).expect("the recording is JSON");
        let of = |name: &str| value["metadata"][name].as_str().unwrap_or_default().to_owned();
        let version = format!("\"{}\"", of("resourceVersion"));
        Template { name: of("name"), uid: of("uid"), version, text }
    }

    /// One of the things that a kubelet writes, to one Pod after the other.
    pub fn update(&self, at: u64, pods: u64) -> Version {
        let (pod, round) = (at.wrapping_mul(7919) % pods, at / pods);
        let mut text = self.text.clone();
        let put = |text: &mut String, old: &str, new: &str| *text = text.replace(old, new);
        put(&mut text, &self.name, &format!("web-{pod:05}"));
        put(&mut text, &self.uid, &format!("{:08x}-f75c-4c98-a521-31d23bec73db", pod.wrapping_mul(0x9E37_79B9)));
        put(&mut text, &self.version, &format!("\"{}\"", 1_000_000 + at));
        let minute = |of: u64| format!("T{:02}:{:02}:{:02}Z", of / 3600 % 24, of / 60 % 60, of % 60);
        put(&mut text, "T08:13:27Z", &minute(29_607 + pod));
        put(&mut text, "T08:13:28Z", &minute(29_608 + round));
        put(&mut text, r#""ready":true"#, if round.is_multiple_of(3) { r#""ready":false"# } else { r#""ready":true"# });
        put(&mut text, r#""restartCount":0"#, &format!("\"restartCount\":{}", round / 3));
        let object = decode_metadata(&text).expect("a Pod");
        Version { resource: PODS, object, text }
    }
}

const PODS: ApiResource =
    ApiResource { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true, cluster: "" };

/// A real rollout.
pub fn recorded() -> Vec<Version> {
    let mut resources: HashMap<String, ApiResource> = HashMap::new();
    let lines = RECORDING.lines().map(|line| serde_json::from_str::<Value>(line).expect("the recording is JSON"));
    let versions = lines.filter_map(|line| {
        let event: HashMap<String, Box<serde_json::value::RawValue>> =
            serde_json::from_str(line.get("frame")?.as_str()?).ok()?;
        if matches!(event.get("type")?.get(), "\"BOOKMARK\"" | "\"ERROR\"") {
            return None;
        }
        let name = line["resource"].as_str()?;
        let resource = *resources.entry(name.to_owned()).or_insert_with(|| {
            let plural: &'static str = name.to_owned().leak();
            ApiResource { group: "", version: "v1", plural, kind: plural, namespaced: true, cluster: "" }
        });
        let text = event.get("object")?.get().to_owned();
        Some(Version { resource, object: decode_metadata(&text).ok()?, text })
    });
    versions.collect()
}
