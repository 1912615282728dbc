//! What this session received: the texts of objects, the newest within a budget of bytes.
//!
//! An event costs one copy of its text. A text is parsed only when the user looks at it. Versions that are dropped are
//! counted.

use std::collections::VecDeque;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::shared_informer::Received;

use crate::page::inspector::secret;

/// How many bytes of texts are kept by default.
pub const BUDGET: usize = 16_000_000;

/// The memory that a version takes in addition to its text, in bytes: an upper estimate.
const OVERHEAD: usize = 160;

/// For how many objects the number of dropped versions is remembered.
const REMEMBERED: usize = 4096;

/// One version of one object, as it was received.
#[derive(Clone, Debug)]
pub struct Version {
    /// The sequence number, counting everything that was received from 0.
    pub sequence: u64,
    /// When the version was received, in milliseconds.
    pub at: f64,
    /// What happened to the object. A version that a list brought has [`DeltaType::Replaced`].
    pub delta_type: DeltaType,
    /// The resource of the object.
    pub resource: ApiResource,
    /// The key of the object.
    pub key: ObjectKey,
    /// The uid, which tells apart objects that had the name one after the other.
    pub uid: Uid,
    /// The version that the server gave it.
    pub resource_version: ResourceVersion,
    /// The object's JSON, for a Secret with masked values; `None` for a deletion that no frame reported.
    pub text: Option<Box<str>>,
}

impl Version {
    fn cost(&self) -> usize {
        OVERHEAD + self.text.as_ref().map_or(0, |text| text.len())
    }
}

/// The versions, the oldest first.
#[derive(Debug)]
pub struct History {
    versions: VecDeque<Version>,
    budget: usize,
    bytes: usize,
    received: u64,
    /// How many versions of each object were dropped, by uid.
    let_go: HashMap<Uid, u64, FxBuildHasher>,
    /// Whether some of these numbers were forgotten.
    forgot: bool,
    /// The salt that keeps the masks of a Secret's values from telling anything about the values. Random in each
    /// session.
    salt: u64,
}

impl History {
    /// An empty history. `salt` is a random number.
    pub fn new(budget: usize, salt: u64) -> History {
        History {
            versions: VecDeque::new(),
            budget,
            bytes: 0,
            received: 0,
            let_go: HashMap::default(),
            forgot: false,
            salt,
        }
    }

    /// Keeps what was received. Versions from lists get at most half of the budget, and replace nothing: of the 150,000
    /// Pods of a list, the few that fit would help little, and would replace versions that tell what changed.
    pub fn push(&mut self, resource: ApiResource, received: Received<'_>) {
        let Received { now, delta_type, object, text } = received;
        let length = text.map_or(0, str::len);
        let listed = delta_type == DeltaType::Replaced;
        self.received += 1;
        if length + OVERHEAD > self.budget || (listed && self.bytes + length + OVERHEAD > self.budget / 2) {
            self.count(object.uid.clone());
            return;
        }
        let text: Option<Box<str>> = match text {
            Some(text) if secret::is_secret(&resource) => secret::redact(text, self.salt).map(Into::into),
            text => text.map(Into::into),
        };
        let version = Version {
            sequence: self.received - 1,
            at: now,
            delta_type,
            resource,
            key: object.key.clone(),
            uid: object.uid.clone(),
            resource_version: object.resource_version.clone(),
            text,
        };
        self.bytes += version.cost();
        self.versions.push_back(version);
        self.let_go_beyond();
    }

    /// Limits the texts to this many bytes from now on. The oldest versions are dropped, and counted.
    pub fn limit(&mut self, budget: usize) {
        self.budget = self.budget.min(budget);
        self.let_go_beyond();
        self.versions.shrink_to_fit();
    }

    fn let_go_beyond(&mut self) {
        while self.bytes > self.budget
            && let Some(oldest) = self.versions.pop_front()
        {
            self.bytes -= oldest.cost();
            self.count(oldest.uid);
        }
    }

    fn count(&mut self, uid: Uid) {
        if self.let_go.len() >= REMEMBERED && !self.let_go.contains_key(&uid) {
            self.let_go.clear();
            self.forgot = true;
        }
        *self.let_go.entry(uid).or_default() += 1;
    }

    /// The versions of an object that are kept, the oldest first. A version that several watches received comes once.
    pub fn of(&self, resource: &ApiResource, key: &ObjectKey) -> Vec<&Version> {
        let own = self.versions.iter().filter(|version| version.key == *key && version.resource == *resource);
        let mut versions: Vec<&Version> = Vec::new();
        for version in own {
            // Two watches receive the same version at nearly the same time.
            let again = versions.iter().rev().take(8).any(|known| {
                known.resource_version == version.resource_version
                    && known.uid == version.uid
                    && (known.delta_type == DeltaType::Deleted) == (version.delta_type == DeltaType::Deleted)
            });
            if !again {
                versions.push(version);
            }
        }
        versions
    }

    /// How many versions of an object were dropped, and whether there may have been more.
    pub fn let_go(&self, uid: &Uid) -> (u64, bool) {
        (self.let_go.get(uid).copied().unwrap_or(0), self.forgot)
    }

    /// How many versions were received so far.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// How many bytes are kept, and how many may be kept.
    pub fn bytes(&self) -> (usize, usize) {
        (self.bytes, self.budget)
    }

    /// The session's salt for the masks of Secrets.
    pub fn salt(&self) -> u64 {
        self.salt
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use kubechurn_client::api::object::decode_metadata;
    use kubechurn_columns::kinds::pods;

    const SECRETS: ApiResource =
        ApiResource { group: "", version: "v1", plural: "secrets", kind: "Secret", namespaced: true };

    fn text(name: &str, version: u64, padding: usize) -> String {
        let padding = "x".repeat(padding);
        format!(
            r#"{{"metadata":{{"name":"{name}","uid":"u-{name}","resourceVersion":"{version}"}},"spec":"{padding}"}}"#
        )
    }

    fn push(history: &mut History, resource: ApiResource, delta_type: DeltaType, text: &str) {
        let object = Arc::new(decode_metadata(text).unwrap());
        history.push(resource, Received { now: 0.0, delta_type, object: &object, text: Some(text) });
    }

    fn versions(history: &History, name: &str) -> Vec<String> {
        let kept = history.of(&pods::KIND.resource, &ObjectKey::new("", name));
        kept.iter().map(|version| version.resource_version.to_string()).collect()
    }

    #[test]
    fn the_oldest_are_let_go_first_and_counted() {
        let mut history = History::new(10_000, 0);
        for version in 1..=20 {
            push(&mut history, pods::KIND.resource, DeltaType::Updated, &text("a", version, 800));
            assert!(history.bytes().0 <= 10_000);
        }
        let kept = versions(&history, "a");
        assert_eq!((kept.len() as u64 + history.let_go(&"u-a".into()).0, &*kept[kept.len() - 1]), (20, "20"));
        assert_eq!((history.let_go(&"u-b".into()), history.received()), ((0, false), 20));
        // Larger than the whole budget.
        push(&mut history, pods::KIND.resource, DeltaType::Updated, &text("b", 1, 20_000));
        assert_eq!((versions(&history, "b").len(), history.let_go(&"u-b".into()).0), (0, 1));
        assert_eq!(versions(&history, "a"), kept);
    }

    #[test]
    fn a_smaller_budget_is_kept_at_once_and_what_goes_is_counted() {
        let mut history = History::new(10_000, 0);
        for version in 1..=10 {
            push(&mut history, pods::KIND.resource, DeltaType::Updated, &text("a", version, 500));
        }
        history.limit(2_000);
        history.limit(1 << 30);
        assert_eq!(history.bytes().1, 2_000, "it is never raised again");
        let kept = versions(&history, "a");
        assert!(history.bytes().0 <= 2_000 && kept.last().is_some_and(|last| last == "10"), "{kept:?}");
        assert_eq!(kept.len() as u64 + history.let_go(&"u-a".into()).0, 10);
    }

    #[test]
    fn a_long_list_takes_no_one_s_place() {
        let mut history = History::new(10_000, 0);
        push(&mut history, pods::KIND.resource, DeltaType::Added, &text("a", 1, 100));
        for at in 0..100 {
            push(&mut history, pods::KIND.resource, DeltaType::Replaced, &text(&format!("n{at}"), 2, 100));
        }
        assert!(history.bytes().0 <= 5_000 && versions(&history, "a") == ["1"] && versions(&history, "n1") == ["2"]);
        assert_eq!((versions(&history, "n99").len(), history.let_go(&"u-n99".into()).0), (0, 1));
    }

    #[test]
    fn what_two_watches_bring_is_one_version() {
        let mut history = History::new(10_000, 0);
        for delta_type in [DeltaType::Replaced, DeltaType::Updated, DeltaType::Deleted] {
            push(&mut history, pods::KIND.resource, delta_type, &text("a", 1, 0));
        }
        let kept = history.of(&pods::KIND.resource, &ObjectKey::new("", "a")).len();
        assert_eq!(kept, 2);
        assert!(versions(&history, "b").is_empty());
    }

    #[test]
    fn what_is_remembered_is_bounded_and_says_so() {
        let mut history = History::new(100, 0);
        for at in 0..REMEMBERED + 10 {
            push(&mut history, pods::KIND.resource, DeltaType::Added, &text(&format!("n{at}"), 1, 100));
        }
        assert!(history.let_go.len() <= REMEMBERED && history.let_go(&"u-n0".into()) == (0, true));
    }

    #[test]
    fn a_secret_s_values_are_never_kept() {
        let mut history = History::new(10_000, 7);
        let text = r#"{"metadata":{"name":"s","uid":"u","resourceVersion":"1"},"data":{"password":"aHVudGVyMg=="}}"#;
        push(&mut history, SECRETS, DeltaType::Added, text);
        let kept = format!("{history:?}");
        assert!(!kept.contains("aHVudGVyMg") && !kept.contains("hunter2") && kept.contains("password"), "{kept}");
    }
}
