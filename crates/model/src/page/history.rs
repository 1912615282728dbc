//! What this session saw: the texts of received objects, the newest within a budget of bytes.
//!
//! An event costs one copy of its text; nothing is read before someone looks. What is let go is counted.

use std::collections::VecDeque;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use kubechurn_client::api::object::{ObjectKey, ResourceVersion};
use kubechurn_client::api::resource::ApiResource;
use kubechurn_client::api::uid::Uid;
use kubechurn_client::cache::delta::DeltaType;
use kubechurn_client::cache::shared_informer::Received;

use crate::page::inspector::secret;

/// How many bytes of texts are kept where no one says otherwise.
pub const BUDGET: usize = 16_000_000;

/// What a version takes beside its text, in bytes; rather too much than too little.
const OVERHEAD: usize = 160;

/// Of so many objects it is remembered how many versions were let go.
const REMEMBERED: usize = 4096;

/// One version of one object, as it was received.
#[derive(Clone, Debug)]
pub struct Version {
    /// Counts what was received, from 0.
    pub sequence: u64,
    /// When it came, in milliseconds.
    pub at: f64,
    /// What happened; what a list brought is [`DeltaType::Replaced`].
    pub delta_type: DeltaType,
    /// Of which resource.
    pub resource: ApiResource,
    /// Which object.
    pub key: ObjectKey,
    /// Which life of the name.
    pub uid: Uid,
    /// The version.
    pub resource_version: ResourceVersion,
    /// The object's JSON, a Secret's without its values; `None` for a deletion that no frame told of.
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
    /// How many versions of an object were let go, by uid.
    let_go: HashMap<Uid, u64, FxBuildHasher>,
    /// Whether that is no longer known of all.
    forgot: bool,
    /// What tells a Secret's values apart: drawn anew for each session.
    salt: u64,
}

impl History {
    /// Nothing yet. `salt` is a random number.
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

    /// Keeps what was received. Lists get no more than half of the budget, and push nothing out: of 150,000 Pods
    /// that a list brings, some are as good as none, and they would take the place of what changed.
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

    /// From now on keeps no more than so many bytes: the oldest go, and are counted.
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

    /// The versions of an object that are kept, the oldest first; each once, however many watches brought it.
    pub fn of(&self, resource: &ApiResource, key: &ObjectKey) -> Vec<&Version> {
        let own = self.versions.iter().filter(|version| version.key == *key && version.resource == *resource);
        let mut versions: Vec<&Version> = Vec::new();
        for version in own {
            // What two watches bring comes at nearly the same time.
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

    /// How many versions of an object were let go, and whether there may have been more.
    pub fn let_go(&self, uid: &Uid) -> (u64, bool) {
        (self.let_go.get(uid).copied().unwrap_or(0), self.forgot)
    }

    /// How many versions were received: grows with each.
    pub fn received(&self) -> u64 {
        self.received
    }

    /// How many bytes are kept, and how many may be.
    pub fn bytes(&self) -> (usize, usize) {
        (self.bytes, self.budget)
    }

    /// What tells a Secret's values apart in this session.
    pub fn salt(&self) -> u64 {
        self.salt
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::table::kinds::pods;
    use kubechurn_client::api::object::decode_metadata;

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
        // Larger than everything.
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
