//! What holds of the lines of an audit log and of the versions that they are joined to, whatever they are.

use kubechurn_changes::audit::{Request, Requests, Version};
use kubechurn_client::api::object::ObjectKey;
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::json::{member, unescaped, value_at};

const PODS: ApiResource =
    ApiResource { group: "", version: "v1", plural: "pods", kind: "Pod", namespaced: true, cluster: "" };
/// 2026-11-26T17:00:00Z, in milliseconds since 1970. The first version is received then, and each further one a second later.
const START: f64 = 1_795_712_400_000.0;
/// How many lines are joined at most: that takes time for each version and each line of an object.
const MOST: usize = 200;

/// In which order lines and versions come.
#[derive(Clone, Copy, PartialEq)]
enum Order {
    Versions,
    Lines,
    Mixed,
}

/// A version, as a line with a frame of a watch has it.
struct Received {
    delta_type: DeltaType,
    key: ObjectKey,
    uid: Uid,
    old: Option<String>,
    new: String,
}

fn received(line: &str, before: &[Received]) -> Option<Received> {
    let text = |path: &[&str]| value_at(line, path).and_then(unescaped).unwrap_or_default().into_owned();
    let delta_type = match &*text(&["type"]) {
        "ADDED" => DeltaType::Added,
        "MODIFIED" => DeltaType::Updated,
        "DELETED" => DeltaType::Deleted,
        "LISTED" => DeltaType::Replaced,
        _ => return None,
    };
    let of = |name| text(&["object", "metadata", name]);
    let (key, uid) = (ObjectKey::new(&of("namespace"), &of("name")), Uid::new(&of("uid")));
    let old = before.iter().rev().find(|other| other.uid == uid && other.key == key);
    let old = old.filter(|old| old.delta_type != DeltaType::Deleted).map(|old| old.new.clone());
    Some(Received { delta_type, key, uid, old, new: member(line, "object")?.to_owned() })
}

/// Joins versions, which are numbered from 0, to lines.
fn joined(versions: &[Received], lines: &[&str], order: Order) -> Requests {
    let mut requests = Requests::default();
    let take = |requests: &mut Requests, at: usize| {
        let Some(Received { delta_type, key, uid, old, new }) = versions.get(at) else { return };
        let (id, at) = (at as u64, START + at as f64 * 1_000.0);
        let version = Version { id, delta_type: *delta_type, uid, old: old.as_deref(), new: Some(new), at };
        requests.version(&PODS, key, version);
    };
    requests.begin_log();
    if order == Order::Lines {
        lines.iter().for_each(|line| requests.line(line));
    }
    for at in 0..versions.len().max(if order == Order::Mixed { lines.len() } else { 0 }) {
        take(&mut requests, at);
        if let Some(line) = lines.get(at).filter(|_| order == Order::Mixed) {
            requests.line(line);
            requests.settle(1);
        }
    }
    if order == Order::Versions {
        lines.iter().for_each(|line| requests.line(line));
    }
    while requests.settle(7) {}
    requests
}

/// Reads these bytes as lines, of which those that are frames of a watch are versions, and the others those of an audit log. Nothing
/// panics; each request ends in one place; the order in which things come makes no difference; and what is forgotten stays counted.
pub fn log(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (mut versions, mut lines) = (Vec::new(), Vec::new());
    for line in text.lines().take(MOST) {
        match received(line, &versions) {
            Some(version) => versions.push(version),
            None => lines.push(line),
        }
    }
    let found = |requests: &Requests| -> Vec<Option<Request>> {
        (0..versions.len()).map(|id| requests.of(id as u64).map(|request| Request::clone(request))).collect()
    };
    let mut requests = joined(&versions, &lines, Order::Versions);
    let known = found(&requests);
    for order in [Order::Lines, Order::Mixed] {
        assert_eq!(found(&joined(&versions, &lines, order)), known);
    }
    let counts = requests.counts();
    assert_eq!(counts.writes, counts.matched + counts.several + counts.none + counts.too_many, "{counts}");
    assert_eq!(counts.none_of.iter().map(|(_, count)| count).sum::<u64>(), counts.none, "{counts}");
    assert!(counts.matched > 0 || known.iter().all(Option::is_none), "{counts}");
    assert!(counts.lines as usize <= lines.len() && counts.unreadable <= counts.lines, "{counts}");
    let taken = requests.take_before(f64::INFINITY);
    assert!(taken.iter().all(|found| known[found.id as usize].as_ref() == Some(&found.request)));
    assert_eq!(taken.len(), known.iter().flatten().count());
    assert_eq!(requests.counts(), counts);
}
